/* SPDX-License-Identifier: Apache-2.0 */
/* The table of commands, used by dispatch, help and completion. */
#ifndef KI_CLI_COMMAND_H
#define KI_CLI_COMMAND_H

#include "cli/args.h"
#include "cli/flags.h"

typedef struct cli_command cli_command;

/** One invocation of a command. */
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
    const char *about;    /* longer description */
    const char *examples; /* lines */
    const cli_option *options;
    size_t option_count;
    size_t options_size;                 /* size of the options struct */
    void (*options_done)(void *options); /* NULL: nothing to release */
    bool connects;                       /* accepts the connection options */
    bool names_resources;                /* its operands are resources */
    size_t operands_min;
    size_t operands_max;
    /** Runs the command; returns the exit code. */
    int (*run)(cli_call *call);
};

/** All commands; NULL-terminated. */
extern const cli_command *const cli_commands[];

const cli_command *cli_command_find(const char *name);

/** Prints the help of a command; NULL: the general help. */
void cli_help_print(const cli_command *command);

/** Reports a usage error and how to get help. Returns CLI_USAGE. */
int cli_usage_error(const cli_command *command, const ki_error *error);

extern const cli_command cli_command_version;
extern const cli_command cli_command_help;
extern const cli_command cli_command_watch;
extern const cli_command cli_command_get;
extern const cli_command cli_command_run;
extern const cli_command cli_command_top;
extern const cli_command cli_command_api_resources;
extern const cli_command cli_command_gen_views;
extern const cli_command cli_command_completion;
extern const cli_command cli_command_apiserver; /* these two are optional in the build */
extern const cli_command cli_command_demo;

#endif
