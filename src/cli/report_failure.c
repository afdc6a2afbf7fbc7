/* SPDX-License-Identifier: Apache-2.0 */
/* Failure messages and exit codes. */
#include "cli/report_failure.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <kinformer/status.h>

#include "cli/term.h"
#include "cli/text.h"

int cli_fail(ki_error *error, int code, const char *format, ...)
{
    va_list args;
    *error = KI_ERROR_INIT;
    error->code = code;
    va_start(args, format);
    (void)vsnprintf(error->message, sizeof(error->message), format, args);
    va_end(args);
    return code;
}

_Noreturn void cli_fail_memory(void)
{
    (void)fputs("kinformer: out of memory\n", stderr);
    exit(CLI_FAILED);
}

static int code_of_status(const ki_error *error)
{
    if (ki_error_is_not_found(error)) {
        return CLI_NOT_FOUND;
    }
    if (ki_error_is_forbidden(error) || ki_error_is_unauthorized(error)) {
        return CLI_FORBIDDEN;
    }
    bool away = ki_error_is_timeout(error) || ki_error_is_server_timeout(error) ||
                ki_error_is_service_unavailable(error);
    return away ? CLI_NO_CONNECTION : CLI_FAILED;
}

int cli_exit_code(const ki_error *error)
{
    switch (error->code) {
    case KI_ERR_STATUS:
        return code_of_status(error);
    case KI_ERR_NOT_FOUND:
        return CLI_NOT_FOUND;
    case KI_ERR_TLS:
    case -ECONNREFUSED:
    case -ECONNRESET:
    case -ECONNABORTED:
    case -ETIMEDOUT:
    case -EHOSTUNREACH:
    case -ENETUNREACH:
    case -ENETDOWN:
    case -EPIPE:
    case -EPROTO:
        return CLI_NO_CONNECTION;
    default:
        return CLI_FAILED;
    }
}

const char *cli_error_text(const ki_error *error)
{
    return error->message[0] != '\0' ? error->message : ki_error_text(error->code);
}

void cli_say(const char *format, ...)
{
    char *text = NULL;
    ki_buf line;
    va_list args;
    va_start(args, format);
    int len = vasprintf(&text, format, args);
    va_end(args);
    if (len < 0) {
        cli_fail_memory();
    }
    cli_text_init(&line);
    cli_put(&line, "kinformer: ");
    cli_put_escaped(&line, ki_str_make(text, (size_t)len));
    cli_put_char(&line, '\n');
    cli_term_note(ki_buf_str(&line));
    ki_buf_done(&line);
    free(text);
}

void cli_report_error(const ki_error *error)
{
    cli_say("%s", cli_error_text(error));
}
