/* SPDX-License-Identifier: Apache-2.0 */
/* The program `kinformer`: selects a command, parses its options and runs it. */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/report_failure.h"
#include "cli/term.h"

const cli_command *const cli_commands[] = {
    &cli_command_watch,         &cli_command_get,       &cli_command_run,  &cli_command_top,
    &cli_command_api_resources, &cli_command_gen_views,
#ifdef CLI_WITH_APISERVER
    &cli_command_apiserver,     &cli_command_demo,
#endif
    &cli_command_completion,    &cli_command_version,   &cli_command_help, NULL,
};

enum { COMMANDS_MAX = 32, SETS = 3 };

const cli_command *cli_command_find(const char *name)
{
    for (const cli_command *const *command = cli_commands; *command != NULL; command++) {
        if (strcmp((*command)->name, name) == 0) {
            return *command;
        }
    }
    return NULL;
}

static int unknown_command(const char *name)
{
    const char *names[COMMANDS_MAX + 1];
    size_t count = 0;
    for (; cli_commands[count] != NULL && count < COMMANDS_MAX; count++) {
        names[count] = cli_commands[count]->name;
    }
    names[count] = NULL;
    const char *nearest = cli_args_nearest(name, names);
    if (nearest != NULL) {
        cli_say("unknown command \"%s\"; did you mean \"%s\"?", name, nearest);
    } else {
        cli_say("unknown command \"%s\"", name);
    }
    cli_say("try 'kinformer help'");
    return CLI_USAGE;
}

static int check_operands(const cli_call *call, ki_error *error)
{
    const cli_command *command = call->command;
    if (call->operands.count < command->operands_min) {
        return cli_fail(error, KI_ERR_INVALID, "'%s': argument missing: %s %s", command->name,
                        command->name, command->operands);
    }
    if (call->operands.count > command->operands_max) {
        return cli_fail(error, KI_ERR_INVALID, "'%s': unexpected argument \"%s\"", command->name,
                        call->operands.items[command->operands_max]);
    }
    return 0;
}

static int read_options(cli_call *call, const char *const *words, ki_error *error)
{
    const cli_command *command = call->command;
    cli_option_set sets[SETS] = {
        {command->options, command->option_count, call->options},
        {cli_flags_general, cli_flags_general_count, &call->flags},
        {cli_flags_connect, cli_flags_connect_count, &call->flags},
    };
    int r =
        cli_args_parse(sets, command->connects ? SETS : SETS - 1, words, &call->operands, error);
    if (r == 0 && cli_term_init(call->flags.color) < 0) {
        r = cli_fail(error, KI_ERR_INVALID, "--color: must be auto, always or never");
    }
    if (r == 0 && !call->flags.help) {
        r = check_operands(call, error);
    }
    return r;
}

static int run_command(const cli_command *command, const char *const *words)
{
    cli_call call = {.command = command};
    ki_error error = KI_ERROR_INIT;
    int code;
    call.options = calloc(1, command->options_size + 1);
    if (call.options == NULL) {
        cli_fail_memory();
    }
    if (read_options(&call, words, &error) < 0) {
        code = cli_usage_error(command, &error);
    } else if (call.flags.help) {
        cli_help_print(command);
        code = CLI_OK;
    } else {
        code = command->run(&call);
    }
    if (command->options_done != NULL) {
        command->options_done(call.options);
    }
    free(call.options);
    cli_words_done(&call.operands);
    cli_flags_done(&call.flags);
    return code;
}

/* Output must have been written; a closed pipe is not a failure. */
static int finish(int code)
{
    int r = cli_term_flush();
    if (r < 0 && r != -EPIPE && code == CLI_OK) {
        cli_say("cannot write: %s", strerror(-r));
        return CLI_FAILED;
    }
    return code;
}

/* Closed standard streams become /dev/null: otherwise the library's descriptors could get their
 * numbers, and our output would be written to them. */
static void open_standard_streams(void)
{
    int fd = 0;
    while (fd >= 0 && fd <= STDERR_FILENO) {
        fd = open("/dev/null", O_RDWR); /* the lowest free number */
    }
    if (fd < 0) {
        exit(CLI_FAILED);
    }
    (void)close(fd);
}

/* The command name: the first operand. Options may precede it. */
static int find_command(const char *const *words, size_t *ret_place)
{
    cli_flags flags = {0};
    ki_error error = KI_ERROR_INIT;
    const cli_option_set sets[] = {
        {cli_flags_general, cli_flags_general_count, &flags},
        {cli_flags_connect, cli_flags_connect_count, &flags},
    };
    int r = cli_args_leading(sets, sizeof(sets) / sizeof(sets[0]), words, ret_place, &error);
    bool help = flags.help;
    cli_flags_done(&flags);
    if (r < 0) {
        cli_say("%s", cli_error_text(&error));
        cli_say("options must follow the command; try 'kinformer help'");
        return CLI_USAGE;
    }
    if (words[*ret_place] == NULL) {
        cli_help_print(NULL);
        return help ? CLI_OK : CLI_USAGE;
    }
    return -1;
}

static int dispatch(const char *const *words)
{
    size_t place = 0;
    cli_words others = {0};
    if (strcmp(words[0], "--version") == 0) {
        return run_command(&cli_command_version, words + 1);
    }
    int code = find_command(words, &place);
    if (code >= 0) {
        return code;
    }
    const cli_command *command = cli_command_find(words[place]);
    if (command == NULL) {
        return unknown_command(words[place]);
    }
    for (size_t i = 0; words[i] != NULL; i++) {
        if (i != place) {
            cli_words_add(&others, words[i]);
        }
    }
    static const char *const none[] = {NULL};
    code = run_command(command, others.count != 0 ? others.items : none);
    cli_words_done(&others);
    return code;
}

int main(int argc, char **argv)
{
    open_standard_streams();
    (void)setlocale(LC_CTYPE, "C.UTF-8"); /* for the width of characters */
    (void)signal(SIGPIPE, SIG_IGN);
    (void)cli_term_init(NULL);
    if (argc < 2) {
        cli_help_print(NULL);
        return finish(CLI_USAGE);
    }
    return finish(dispatch((const char *const *)argv + 1));
}
