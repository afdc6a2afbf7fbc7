/* SPDX-License-Identifier: Apache-2.0 */
/* `kinformer top --advise`. */
#ifndef KI_CLI_ADVISE_H
#define KI_CLI_ADVISE_H

#include "cli/command.h"

/** Reads the resources of a call once, and prints which fields their memory is used for and what
 *  the options for memory would leave. Returns the exit code. */
int cli_advise(cli_call *call, bool json);

#endif
