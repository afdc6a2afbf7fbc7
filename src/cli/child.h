/* SPDX-License-Identifier: Apache-2.0 */
/* A child process alongside the loop, with text on its standard input. Its output is kept until it
 * exits; beyond CLI_CHILD_KEPT_MAX it is passed on while the command runs. It has its own process
 * group, so that it can be killed with its children. */
#ifndef KI_CLI_CHILD_H
#define KI_CLI_CHILD_H

#include <sys/types.h>

#include <kinformer/buf.h>
#include <kinformer/error.h>

#include "cli/command_loop.h"

enum { CLI_CHILD_KEPT_MAX = 1 << 20, CLI_CHILD_LOST = -1 };

typedef struct cli_child {
    cli_loop *loop;
    pid_t pid; /* 0: not running */
    cli_fd input;
    cli_fd output;
    ki_buf text;    /* for its input */
    size_t given;   /* bytes written so far */
    ki_buf printed; /* output that has not been passed on */
    bool passing;   /* its output exceeded the limit */
    void (*pass)(void *user);
    void *user; /* of `pass` */
} cli_child;

/** Call once; then cli_child_done(). Starts nothing. `pass` is called with `user` for further
 *  output once the limit was exceeded; it must remove some of `printed`. */
void cli_child_init(cli_child *child, cli_loop *loop, void (*pass)(void *user), void *user);

/** Removes the first `len` bytes of `printed`. */
void cli_child_drop(cli_child *child, size_t len);
/** Kills the command if it is running. */
void cli_child_done(cli_child *child);

/** Runs a command with `text` as its input. `argv` and `environment` are NULL-terminated.
 *  Errors: -ENOENT etc.  the command cannot be run; see cli_child_is_shortage(). */
KI_NODISCARD int cli_child_start(cli_child *child, const char *const *argv,
                                 const char *const *environment, ki_error *error);

/** Whether an error of cli_child_start() is transient: out of processes, descriptors or memory. */
bool cli_child_is_shortage(int code);

bool cli_child_runs(const cli_child *child);

/** Whether it has exited since the last call; then *ret_status is that of waitpid(), or
 *  CLI_CHILD_LOST if unavailable. Call when the loop reports a child's exit. */
bool cli_child_has_ended(cli_child *child, int *ret_status);

/** Sends a signal to it and its children. */
void cli_child_signal(const cli_child *child, int number);

#endif
