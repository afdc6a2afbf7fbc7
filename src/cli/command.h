/* SPDX-License-Identifier: Apache-2.0 */
/* Commands: what each of them is, in one table that dispatch, help and completion read. */
#ifndef KI_CLI_COMMAND_H
#define KI_CLI_COMMAND_H

#include "cli/args.h"
#include "cli/flags.h"

typedef struct cli_command cli_command;

/** One call of a command, as the command line says. */
typedef struct cli_call {
    const cli_command *command;
    cli_flags flags;
    void *options; /* the command's own */
    cli_words operands;
} cli_call;

struct cli_command {
    const char *name;
    const char *operands; /* as in the help: "RESOURCE..." */
    const char *summary;  /* one line */
    const char *about;    /* some more */
    const char *examples; /* lines */
    const cli_option *options;
    size_t option_count;
    size_t options_size;                 /* of the struct that they are in */
    void (*options_done)(void *options); /* NULL: it holds nothing */
    bool connects;                       /* takes the options that choose a server */
    bool names_resources;                /* its operands are resources */
    size_t operands_min;
    size_t operands_max;
    /** Does it; gives the exit code. */
    int (*run)(cli_call *call);
};

/** All of them; ends with NULL. */
extern const cli_command *const cli_commands[];

const cli_command *cli_command_find(const char *name);

/** The help of a command; of all, for NULL. */
void cli_help_print(const cli_command *command);

/** A complaint about the command line, with where to find help. Gives CLI_USAGE. */
int cli_usage_error(const cli_command *command, const ki_error *error);

extern const cli_command cli_command_version;
extern const cli_command cli_command_help;
extern const cli_command cli_command_watch;
extern const cli_command cli_command_get;
extern const cli_command cli_command_run;
extern const cli_command cli_command_top;
extern const cli_command cli_command_api_resources;
extern const cli_command cli_command_completion;
extern const cli_command cli_command_apiserver; /* these two if it was built */
extern const cli_command cli_command_demo;

#endif
