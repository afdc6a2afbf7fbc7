/* SPDX-License-Identifier: Apache-2.0 */
/* Failure messages and exit codes. */
#ifndef KI_CLI_REPORT_FAILURE_H
#define KI_CLI_REPORT_FAILURE_H

#include <kinformer/defs.h>
#include <kinformer/error.h>

/** Exit codes, for the enum and for the help. The manual page and docs/cli.md have the same table,
 *  which a test compares. */
#define CLI_EXIT_CODES(X)                                           \
    X(CLI_OK, 0, "success; also after SIGINT or SIGTERM")           \
    X(CLI_FAILED, 1, "failure other than those below")              \
    X(CLI_USAGE, 2, "invalid command line")                         \
    X(CLI_NOT_FOUND, 3, "no such resource or object")               \
    X(CLI_FORBIDDEN, 4, "authentication or authorization failed")   \
    X(CLI_NO_CONNECTION, 5, "no connection, or not synced in time") \
    X(CLI_SKIPPED, 6, "objects that could not be decoded were skipped")

enum cli_exit {
#define CLI_EXIT_MEMBER(name, code, text) name = (code),
    CLI_EXIT_CODES(CLI_EXIT_MEMBER)
#undef CLI_EXIT_MEMBER
};

/** Fills `error` and returns `code`. */
int cli_fail(ki_error *error, int code, const char *format, ...) KI_PRINTF(3, 4);

_Noreturn void cli_fail_memory(void);

/** The exit code for an error of a request or of an informer. */
int cli_exit_code(const ki_error *error);

/** Prints a line to standard error, escaped: "kinformer: ..." */
void cli_say(const char *format, ...) KI_PRINTF(1, 2);
void cli_report_error(const ki_error *error);

/** The message of an error. */
const char *cli_error_text(const ki_error *error);

#endif
