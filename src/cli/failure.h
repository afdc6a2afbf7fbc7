/* SPDX-License-Identifier: Apache-2.0 */
/* What the command says and returns when something fails. */
#ifndef KI_CLI_FAILURE_H
#define KI_CLI_FAILURE_H

#include <kinformer/defs.h>
#include <kinformer/error.h>

/** What the process returns. The manual page and the help tell the same. */
enum {
    CLI_OK = 0,
    CLI_FAILED = 1,
    CLI_USAGE = 2,
    CLI_NOT_FOUND = 3,
    CLI_FORBIDDEN = 4,
    CLI_NO_CONNECTION = 5,
};

/** Fills `error` and returns `code`. */
int cli_fail(ki_error *error, int code, const char *format, ...) KI_PRINTF(3, 4);

_Noreturn void cli_fail_memory(void);

/** What the process returns for an error of a request or of an informer. */
int cli_exit_code(const ki_error *error);

/** Says on standard error what failed, escaped, in one line: "kinformer: ..." */
void cli_say(const char *format, ...) KI_PRINTF(1, 2);
void cli_say_error(const ki_error *error);

/** What there is to say of an error. */
const char *cli_error_text(const ki_error *error);

#endif
