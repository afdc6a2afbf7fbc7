/* SPDX-License-Identifier: Apache-2.0 */
/* A command that runs beside the loop: it gets text on its standard input. Its output is kept until
 * it ends; beyond CLI_CHILD_KEPT_MAX it is passed on while the command runs. It has a process group
 * of its own, so that it can be ended with its children. */
#ifndef KI_CLI_CHILD_H
#define KI_CLI_CHILD_H

#include <sys/types.h>

#include <kinformer/buf.h>
#include <kinformer/error.h>

#include "cli/command_loop.h"

enum { CLI_CHILD_KEPT_MAX = 1 << 20, CLI_CHILD_LOST = -1 };

typedef struct cli_child {
    cli_loop *loop;
    pid_t pid; /* 0: it does not run */
    cli_fd input;
    cli_fd output;
    ki_buf text;    /* for its input */
    size_t given;   /* of it */
    ki_buf printed; /* its output that was not passed on yet */
    bool passing;   /* it printed more than is kept */
    void (*pass)(void *user);
    void *user; /* of `pass` */
} cli_child;

/** Nothing runs yet. To be called once; then cli_child_done(). `pass` is called with `user`
 * whenever there is more output, once there was more than is kept; it must leave less in `printed`.
 */
void cli_child_init(cli_child *child, cli_loop *loop, void (*pass)(void *user), void *user);

/** Removes the first `len` bytes of `printed`. */
void cli_child_drop(cli_child *child, size_t len);
/** Kills it, if it runs. */
void cli_child_done(cli_child *child);

/** Runs a command with what is in `text` as its input. `argv` and `environment` end with NULL.
 *  Errors: -ENOENT and so on  it cannot be run, and nothing runs; see cli_child_is_shortage(). */
KI_NODISCARD int cli_child_start(cli_child *child, const char *const *argv,
                                 const char *const *environment, ki_error *error);

/** Whether an error of cli_child_start() may pass: no process, descriptor or memory left. */
bool cli_child_is_shortage(int code);

bool cli_child_runs(const cli_child *child);

/** Whether it has ended since the last call; then *ret_status is that of waitpid(), or
 *  CLI_CHILD_LOST if the system does not tell. To be called when the loop says that a child has
 *  ended. */
bool cli_child_has_ended(cli_child *child, int *ret_status);

/** Sends a signal to it and its children. */
void cli_child_signal(const cli_child *child, int number);

#endif
