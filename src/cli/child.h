/* SPDX-License-Identifier: Apache-2.0 */
/* A command that runs beside the loop: it gets text on its standard input, and what it prints is
 * kept until it ends. It has a process group of its own, so that it can be ended with its children.
 */
#ifndef KI_CLI_CHILD_H
#define KI_CLI_CHILD_H

#include <sys/types.h>

#include <kinformer/buf.h>
#include <kinformer/error.h>

#include "cli/loop.h"

typedef struct cli_child {
    cli_loop *loop;
    pid_t pid; /* 0: it does not run */
    cli_fd input;
    cli_fd output;
    ki_buf text;  /* for its input */
    size_t given; /* of it */
    ki_buf printed;
    bool cut; /* it printed more than is kept */
} cli_child;

/** Nothing runs yet. To be called once; then cli_child_done(). */
void cli_child_init(cli_child *child, cli_loop *loop);
/** Kills it, if it runs. */
void cli_child_done(cli_child *child);

/** Runs a command with what is in `text` as its input. `argv` and `environment` end with NULL.
 *  Errors: -ENOENT and so on  it cannot be run. */
KI_NODISCARD int cli_child_start(cli_child *child, const char *const *argv,
                                 const char *const *environment, ki_error *error);

bool cli_child_runs(const cli_child *child);

/** Whether it has ended since it was asked last; then *ret_status is that of waitpid(). To be
 *  called when the loop says that a child has ended. */
bool cli_child_has_ended(cli_child *child, int *ret_status);

/** Sends a signal to it and its children. */
void cli_child_signal(const cli_child *child, int number);

#endif
