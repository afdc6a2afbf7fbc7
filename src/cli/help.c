/* SPDX-License-Identifier: Apache-2.0 */
/* `kinformer help`, and --help of every command, generated from the tables. */
#include <string.h>

#include "cli/command.h"
#include "cli/report_failure.h"
#include "cli/term.h"
#include "cli/text.h"

enum { OPTION_COLUMN = 34, COMMAND_COLUMN = 17 };

static void put_exit_codes(ki_buf *out)
{
    static const struct {
        int code;
        const char *text;
    } rows[] = {
#define ROW(name, code, text) {name, text},
        CLI_EXIT_CODES(ROW)
#undef ROW
    };
    cli_put(out, "\nExit codes:\n");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        cli_putf(out, "  %d  %s\n", rows[i].code, rows[i].text);
    }
}

static void put_spaces(ki_buf *out, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        cli_put_char(out, ' ');
    }
}

static void put_option(ki_buf *out, const cli_option *option)
{
    size_t begin = out->len;
    cli_put(out, "  ");
    if (option->letter != 0) {
        cli_putf(out, "-%c, ", option->letter);
    } else {
        cli_put(out, "    ");
    }
    cli_putf(out, "--%s", option->name);
    if (option->value != NULL && option->type == CLI_ARG_OPTIONAL) {
        cli_putf(out, "[=%s]", option->value);
    } else if (option->value != NULL) {
        cli_putf(out, option->type == CLI_ARG_REST ? " %s" : "=%s", option->value);
    }
    size_t width = out->len - begin;
    if (width + 2 > OPTION_COLUMN) {
        cli_put_char(out, '\n');
        width = 0;
    }
    put_spaces(out, width, OPTION_COLUMN);
    cli_put(out, option->help);
    cli_put_char(out, '\n');
}

static void put_options(ki_buf *out, const char *title, const cli_option *options, size_t count)
{
    if (count == 0) {
        return;
    }
    cli_putf(out, "\n%s:\n", title);
    for (size_t i = 0; i < count; i++) {
        put_option(out, &options[i]);
    }
}

static void put_command(ki_buf *out, const cli_command *command)
{
    cli_putf(out, "Usage: kinformer %s%s%s [options]\n\n", command->name,
             command->operands[0] != '\0' ? " " : "", command->operands);
    cli_putf(out, "%s\n", command->about);
    cli_put(out, "\nExamples:\n");
    cli_put(out, command->examples);
    put_options(out, "Options", command->options, command->option_count);
    if (command->connects) {
        put_options(out, "Server and selection", cli_flags_connect, cli_flags_connect_count);
    }
    put_options(out, "Global options", cli_flags_general, cli_flags_general_count);
    put_exit_codes(out);
}

static void put_all(ki_buf *out)
{
    cli_put(out, "kinformer: watch, query and process Kubernetes objects from live "
                 "caches\n\nUsage: kinformer COMMAND [options]\n\nCommands:\n");
    for (const cli_command *const *command = cli_commands; *command != NULL; command++) {
        size_t begin = out->len;
        cli_putf(out, "  %s", (*command)->name);
        put_spaces(out, out->len - begin, COMMAND_COLUMN);
        cli_putf(out, "%s\n", (*command)->summary);
    }
    cli_put(out, "\nExamples:\n  kinformer watch pods -A              every change of every pod, "
                 "field by field\n  kinformer get deploy -n shop         once, from a synced "
                 "cache\n  kinformer run cm --exec ./sync.sh    a controller in any "
                 "language\n\n`kinformer help COMMAND` describes a command.\n");
    put_exit_codes(out);
}

void cli_help_print(const cli_command *command)
{
    ki_buf out;
    cli_text_init(&out);
    if (command != NULL) {
        put_command(&out, command);
    } else {
        put_all(&out);
    }
    cli_term_out(ki_buf_str(&out));
    ki_buf_done(&out);
}

int cli_usage_error(const cli_command *command, const ki_error *error)
{
    if (command == NULL) {
        cli_say("%s\nTry 'kinformer help'.", cli_error_text(error));
        return CLI_USAGE;
    }
    cli_report_error(error);
    cli_say("try 'kinformer %s --help'", command->name);
    return CLI_USAGE;
}

static int run_help(cli_call *call)
{
    if (call->operands.count == 0) {
        cli_help_print(NULL);
        return CLI_OK;
    }
    const cli_command *command = cli_command_find(call->operands.items[0]);
    if (command == NULL) {
        cli_say("unknown command %s", call->operands.items[0]);
        return CLI_USAGE;
    }
    cli_help_print(command);
    return CLI_OK;
}

const cli_command cli_command_help = {
    .name = "help",
    .operands = "[COMMAND]",
    .summary = "describe a command, with examples",
    .about = "Lists the commands, or describes one of them.",
    .examples = "  kinformer help\n  kinformer help watch\n",
    .operands_max = 1,
    .run = run_help,
};
