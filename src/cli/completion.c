/* SPDX-License-Identifier: Apache-2.0 */
/* `kinformer completion`: shell scripts generated from the tables of the help. */
#include <string.h>

#include "cli/command.h"
#include "cli/report_failure.h"
#include "cli/term.h"
#include "cli/text.h"

/* Completions for resources: names that are known without a server. */
#define RESOURCES                                                                               \
    "all pods nodes services configmaps secrets events namespaces endpoints serviceaccounts "   \
    "persistentvolumes persistentvolumeclaims deployments replicasets statefulsets daemonsets " \
    "jobs cronjobs ingresses leases customresourcedefinitions"

typedef void (*option_sink)(const cli_command *command, const cli_option *option, ki_buf *out);

static void each_option(const cli_command *command, option_sink sink, ki_buf *out)
{
    for (size_t i = 0; i < command->option_count; i++) {
        sink(command, &command->options[i], out);
    }
    for (size_t i = 0; command->connects && i < cli_flags_connect_count; i++) {
        sink(command, &cli_flags_connect[i], out);
    }
    for (size_t i = 0; i < cli_flags_general_count; i++) {
        sink(command, &cli_flags_general[i], out);
    }
}

static bool takes_word(const cli_option *option)
{
    return option->value != NULL && option->type != CLI_ARG_OPTIONAL;
}

static bool takes_file(const cli_option *option)
{
    return takes_word(option) && strncmp(option->value, "FILE", strlen("FILE")) == 0;
}

/* Whether the value is one of a few words, such as auto|always|never. */
static bool takes_choice(const cli_option *option)
{
    return takes_word(option) && option->value[0] >= 'a' && option->value[0] <= 'z';
}

static void put_choices(const cli_option *option, ki_buf *out)
{
    for (const char *at = option->value; *at != '\0'; at++) {
        cli_put_char(out, (char)(*at == '|' ? ' ' : *at));
    }
}

static void put_commands(ki_buf *out)
{
    for (const cli_command *const *command = cli_commands; *command != NULL; command++) {
        cli_putf(out, "%s%s", command != cli_commands ? " " : "", (*command)->name);
    }
}

/* Completions for the operands of a command; nothing: the shell's default. */
static void put_operands(const cli_command *command, ki_buf *out)
{
    if (command->names_resources) {
        cli_put(out, RESOURCES);
    } else if (command == &cli_command_completion) {
        cli_put(out, "bash zsh fish");
    } else if (command == &cli_command_help) {
        put_commands(out);
    }
}

static bool has_operands(const cli_command *command)
{
    return command->names_resources || command == &cli_command_completion ||
           command == &cli_command_help;
}

/* The common options whose value is the next word, joined by `between` for a `case`: they may
 * precede the command. */
static void put_leading(ki_buf *out, const char *between)
{
    const char *bar = "";
    for (size_t i = 0; i < cli_flags_connect_count + cli_flags_general_count; i++) {
        bool connects = i < cli_flags_connect_count;
        const cli_option *option =
            connects ? &cli_flags_connect[i] : &cli_flags_general[i - cli_flags_connect_count];
        if (takes_word(option)) {
            cli_putf(out, "%s--%s", bar, option->name);
            bar = between;
        }
        if (takes_word(option) && option->letter != 0) {
            cli_putf(out, "%s-%c", between, option->letter);
        }
    }
}

/* ---- bash ---- */

static void put_bash_option(const cli_command *command, const cli_option *option, ki_buf *out)
{
    (void)command;
    if (option->letter != 0) {
        cli_putf(out, " -%c", option->letter);
    }
    cli_putf(out, " --%s%s", option->name, takes_word(option) ? "=" : "");
}

static void put_bash(ki_buf *out)
{
    cli_put(out, "# bash completion for kinformer; to be read by bash:\n"
                 "#   source <(kinformer completion bash)\n"
                 "_kinformer()\n{\n"
                 "    local word=${COMP_WORDS[COMP_CWORD]} options= words= command= i\n"
                 "    COMPREPLY=()\n"
                 "    for ((i = 1; i < COMP_CWORD; i++)); do # '=' is a word of its own\n"
                 "        case ${COMP_WORDS[i]} in\n        ");
    put_leading(out, "|");
    cli_put(out, ")\n            ((i++))\n"
                 "            if [ \"${COMP_WORDS[i]}\" = '=' ]; then ((i++)); fi\n"
                 "            ;;\n"
                 "        -*) ;;\n"
                 "        *)\n            command=${COMP_WORDS[i]}\n            break\n"
                 "            ;;\n"
                 "        esac\n    done\n"
                 "    if [ -z \"$command\" ]; then\n"
                 "        COMPREPLY=($(compgen -W '");
    put_commands(out);
    cli_put(out, "' -- \"$word\"))\n        return\n    fi\n"
                 "    case $command in\n");
    for (const cli_command *const *command = cli_commands; *command != NULL; command++) {
        cli_putf(out, "    %s)\n        options='", (*command)->name);
        each_option(*command, put_bash_option, out);
        cli_put(out, "'\n");
        if (has_operands(*command)) {
            cli_put(out, "        words='");
            put_operands(*command, out);
            cli_put(out, "'\n");
        }
        cli_put(out, "        ;;\n");
    }
    cli_put(out, "    esac\n"
                 "    case $word in\n"
                 "    -*)\n"
                 "        COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
                 "        case ${COMPREPLY[0]} in *=) compopt -o nospace ;; esac\n"
                 "        ;;\n"
                 "    *)\n"
                 "        COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
                 "        ;;\n"
                 "    esac\n}\n"
                 "complete -o default -F _kinformer kinformer\n");
}

/* ---- zsh ---- */

/* In single quotes, escaping characters that zsh interprets in descriptions. */
static void put_zsh_text(ki_buf *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            cli_put(out, "'\\''");
        } else {
            cli_put(out, strchr("[]:\\", *text) != NULL ? "\\" : "");
            cli_put_char(out, *text);
        }
    }
}

/* The part after the name of an option that takes a value. */
static void put_zsh_value(const cli_option *option, ki_buf *out)
{
    cli_put(out, option->type == CLI_ARG_REST ? ":*::" : ":");
    put_zsh_text(out, option->value);
    if (option->type == CLI_ARG_REST) {
        cli_put(out, ":_normal"); /* a command and its arguments */
    } else if (takes_choice(option)) {
        cli_put(out, ":(");
        put_choices(option, out);
        cli_put_char(out, ')');
    } else {
        cli_put(out, takes_file(option) ? ":_files" : ": ");
    }
}

static void put_zsh_option(const cli_command *command, const cli_option *option, ki_buf *out)
{
    (void)command;
    const char *many = option->type == CLI_ARG_LIST || option->type == CLI_ARG_COUNT ? "*" : "";
    bool attached = takes_word(option) && option->type != CLI_ARG_REST;
    for (int form = option->letter != 0 ? 0 : 1; form < 2; form++) {
        cli_putf(out, " \\\n            '%s", many);
        if (form == 0) {
            cli_putf(out, "-%c%s", option->letter, attached ? "+" : "");
        } else {
            cli_putf(out, "--%s%s", option->name, attached ? "=" : "");
        }
        cli_put_char(out, '[');
        put_zsh_text(out, option->help);
        cli_put_char(out, ']');
        if (takes_word(option)) {
            put_zsh_value(option, out);
        }
        cli_put_char(out, '\'');
    }
}

static void put_zsh(ki_buf *out)
{
    cli_put(out, "#compdef kinformer\n"
                 "# zsh completion for kinformer; put it into a file _kinformer in $fpath, or:\n"
                 "#   source <(kinformer completion zsh)\n"
                 "_kinformer()\n{\n"
                 "    local i place=0\n"
                 "    for ((i = 2; i < CURRENT; i++)); do\n"
                 "        case $words[i] in\n        ");
    put_leading(out, "|");
    cli_put(out, ") ((i++)) ;;\n"
                 "        -*) ;;\n"
                 "        *)\n            place=$i\n            break\n            ;;\n"
                 "        esac\n    done\n"
                 "    if ((place == 0)); then\n"
                 "        local -a commands=(");
    for (const cli_command *const *command = cli_commands; *command != NULL; command++) {
        cli_putf(out, "\n            '%s:", (*command)->name);
        put_zsh_text(out, (*command)->summary);
        cli_put_char(out, '\'');
    }
    cli_put(out, ")\n        _describe command commands\n        return\n    fi\n"
                 "    shift $((place - 1)) words\n    ((CURRENT -= place - 1))\n"
                 "    case $words[1] in\n");
    for (const cli_command *const *command = cli_commands; *command != NULL; command++) {
        cli_putf(out, "    %s)\n        _arguments -s", (*command)->name);
        each_option(*command, put_zsh_option, out);
        if (has_operands(*command)) {
            cli_putf(out, " \\\n            '*:%s:(",
                     (*command)->names_resources ? "resource" : (*command)->operands);
            put_operands(*command, out);
            cli_put(out, ")'");
        }
        cli_put(out, "\n        ;;\n");
    }
    cli_put(out, "    esac\n}\n"
                 "if [ \"$funcstack[1]\" = _kinformer ]; then # loaded on demand\n"
                 "    _kinformer \"$@\"\n"
                 "else\n    compdef _kinformer kinformer\nfi\n");
}

/* ---- fish ---- */

static void put_fish_text(ki_buf *out, const char *text)
{
    for (; *text != '\0'; text++) {
        cli_put(out, *text == '\'' || *text == '\\' ? "\\" : "");
        cli_put_char(out, *text);
    }
}

static void put_fish_option(const cli_command *command, const cli_option *option, ki_buf *out)
{
    cli_putf(out, "complete -c kinformer -n 'contains %s (__kinformer_command)'", command->name);
    if (option->letter != 0) {
        cli_putf(out, " -s %c", option->letter);
    }
    cli_putf(out, " -l %s", option->name);
    if (takes_file(option) || option->type == CLI_ARG_REST) {
        cli_put(out, " -r -F");
    } else if (takes_choice(option)) {
        cli_put(out, " -x -a '");
        put_choices(option, out);
        cli_put_char(out, '\'');
    } else if (takes_word(option)) {
        cli_put(out, " -x");
    }
    cli_put(out, " -d '");
    put_fish_text(out, option->help);
    cli_put(out, "'\n");
}

static void put_fish(ki_buf *out)
{
    cli_put(out, "# fish completion for kinformer; to be read by fish:\n"
                 "#   kinformer completion fish | source\n"
                 "function __kinformer_command\n"
                 "    set -l words (commandline -opc)[2..]\n"
                 "    while set -q words[1]\n"
                 "        switch $words[1]\n            case ");
    put_leading(out, " ");
    cli_put(out, "\n                set words $words[2..]\n"
                 "            case '-*'\n"
                 "            case '*'\n                echo $words[1]\n                return\n"
                 "        end\n"
                 "        set words $words[2..]\n"
                 "    end\n    return 1\nend\n"
                 "complete -c kinformer -f\n");
    for (const cli_command *const *command = cli_commands; *command != NULL; command++) {
        cli_putf(out, "complete -c kinformer -n 'not __kinformer_command >/dev/null' -a %s -d '",
                 (*command)->name);
        put_fish_text(out, (*command)->summary);
        cli_put(out, "'\n");
        each_option(*command, put_fish_option, out);
        if (has_operands(*command)) {
            cli_putf(out, "complete -c kinformer -n 'contains %s (__kinformer_command)' -a '",
                     (*command)->name);
            put_operands(*command, out);
            cli_put(out, "'\n");
        }
    }
}

static int run(cli_call *call)
{
    static const struct {
        const char *shell;
        void (*put)(ki_buf *out);
    } shells[] = {{"bash", put_bash}, {"zsh", put_zsh}, {"fish", put_fish}};
    ki_buf out;
    for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++) {
        if (strcmp(shells[i].shell, call->operands.items[0]) == 0) {
            cli_text_init(&out);
            shells[i].put(&out);
            cli_term_out(ki_buf_str(&out));
            ki_buf_done(&out);
            return CLI_OK;
        }
    }
    ki_error error = KI_ERROR_INIT;
    (void)cli_fail(&error, KI_ERR_INVALID,
                   "no completion script for %s; supported: bash, zsh, fish",
                   call->operands.items[0]);
    return cli_usage_error(call->command, &error);
}

const cli_command cli_command_completion = {
    .name = "completion",
    .operands = "bash|zsh|fish",
    .summary = "print a shell completion script",
    .about = "Prints a completion script for commands, options and resources.",
    .examples = "  source <(kinformer completion bash)\n"
                "  kinformer completion zsh >\"${fpath[1]}/_kinformer\"\n"
                "  kinformer completion fish | source\n",
    .operands_min = 1,
    .operands_max = 1,
    .run = run,
};
