/* SPDX-License-Identifier: Apache-2.0 */
/* The command's event loop, on its only thread: the library's loop, signals, a clock tick and the
 * command's own descriptors. */
#ifndef KI_CLI_COMMAND_LOOP_H
#define KI_CLI_COMMAND_LOOP_H

#include <signal.h>

#include <kinformer/error.h>
#include <kinformer/loop.h>

typedef struct cli_loop {
    ki_loop *loop;
    int epoll_fd;
    int signal_fd;
    sigset_t before; /* original signal mask, for children */
    bool stopping;
    int signal;       /* received termination signal; 0: none */
    uint32_t signals; /* number of them */
    uint32_t tick_ms;
    uint64_t wake_ns; /* latest time of the next round; UINT64_MAX: no limit */

    /* Callbacks; each may be NULL. */
    void (*on_round)(void *user); /* after each round */
    void (*on_tick)(void *user);
    void (*on_child)(void *user);  /* one or more children exited */
    void (*on_signal)(void *user); /* SIGINT or SIGTERM; NULL: the loop ends */
    void *user;
} cli_loop;

/** A watched descriptor. Must not move while it is watched. */
typedef struct cli_fd {
    int fd;
    void (*ready)(void *user);
    void *user;
} cli_fd;

/** Blocks termination signals from here on; the loop receives them. Resets SIGCHLD to its default
 *  action: with SIGCHLD ignored, the exit of children could not be detected. */
KI_NODISCARD int cli_loop_open(cli_loop *loop, ki_loop *library, ki_error *error);
void cli_loop_close(cli_loop *loop);

/** Runs until cli_loop_stop(), a signal or `timeout_ms` (0: none).
 *  Errors: -ETIMEDOUT;  -EINTR  a signal;  -EPIPE etc.  standard output was closed. */
KI_NODISCARD int cli_loop_run(cli_loop *loop, uint32_t timeout_ms);
void cli_loop_stop(cli_loop *loop);

/** `events` of epoll. */
KI_NODISCARD int cli_loop_watch(cli_loop *loop, cli_fd *fd, uint32_t events);
void cli_loop_unwatch(cli_loop *loop, cli_fd *fd);

/** Monotonic time in nanoseconds, as used by the library's loops. */
uint64_t cli_now_ns(void);

#define CLI_MS_NS UINT64_C(1000000)
#define CLI_SECOND_NS UINT64_C(1000000000)

#endif
