/* SPDX-License-Identifier: Apache-2.0 */
/* Reads CustomResourceDefinitions from files and from a cluster. */
#ifndef KI_CLI_GENVIEWS_DEFINITIONS_H
#define KI_CLI_GENVIEWS_DEFINITIONS_H

#include "cli/command.h"
#include "cli/genviews/view_model.h"

enum { CLI_DEFINITIONS_BYTES_MAX = 64 << 20 };

/** Adds all definitions of a text, YAML or JSON, which may have other objects too. `from` names it
 *  in messages.
 *  Errors: those of cli_view_model_add() and of the parsers;  KI_ERR_NOT_FOUND  there is none. */
KI_NODISCARD int cli_definitions_parse(cli_view_model *model, ki_str text, const char *from,
                                       ki_error *error);

/** The same for a file; "-" is standard input. */
KI_NODISCARD int cli_definitions_read(cli_view_model *model, const char *path, ki_error *error);

/** Gets definitions by name from the server of the flags. Reports failures; returns an exit
 *  code. */
int cli_definitions_fetch(cli_view_model *model, const cli_flags *flags, const cli_words *names);

#endif
