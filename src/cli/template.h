/* SPDX-License-Identifier: Apache-2.0 */
/* kubectl's JSONPath templates: text, {.paths}, {"text"} and {range .path}...{end}. */
#ifndef KI_CLI_TEMPLATE_H
#define KI_CLI_TEMPLATE_H

#include <kinformer/buf.h>
#include <kinformer/error.h>
#include <kinformer/value.h>

typedef struct cli_template cli_template;

/** Text without any brace is a single path.
 *  Owner: cli_template_free().  Errors: KI_ERR_SYNTAX and those of ki_path_compile(). */
KI_NODISCARD int cli_template_parse(const char *text, cli_template **ret_template, ki_error *error);
void cli_template_free(cli_template *template);

/** Appends the evaluated template. Multiple values of one path are separated by spaces; they are
 *  escaped, unless `raw`. */
void cli_template_put(const cli_template *template, const ki_value *root, bool raw, ki_buf *out);

#endif
