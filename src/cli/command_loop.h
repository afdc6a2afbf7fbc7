/* SPDX-License-Identifier: Apache-2.0 */
/* The one loop of the command, on its only thread: the library's, with signals, a clock tick and
 * descriptors of our own beside it. */
#ifndef KI_CLI_COMMAND_LOOP_H
#define KI_CLI_COMMAND_LOOP_H

#include <signal.h>

#include <kinformer/error.h>
#include <kinformer/loop.h>

typedef struct cli_loop {
    ki_loop *loop;
    int epoll_fd;
    int signal_fd;
    sigset_t before; /* what was blocked before; for children */
    bool stopping;
    int signal;       /* that asked us to end; 0: none */
    uint32_t signals; /* how many have */
    uint32_t tick_ms;
    uint64_t wake_ns; /* there is a round then at the latest; UINT64_MAX: need not be */

    /* What happens on it; each may be NULL. */
    void (*on_round)(void *user); /* after anything happened */
    void (*on_tick)(void *user);
    void (*on_child)(void *user);  /* a child has ended, perhaps several */
    void (*on_signal)(void *user); /* SIGINT or SIGTERM; NULL: the loop ends */
    void *user;
} cli_loop;

/** A descriptor to watch. Must stay where it is while it is watched. */
typedef struct cli_fd {
    int fd;
    void (*ready)(void *user);
    void *user;
} cli_fd;

/** Signals that end us are blocked from here on, and wait for the loop. SIGCHLD gets its default
 *  action: a process that was started with SIGCHLD ignored would never learn that a child ended. */
KI_NODISCARD int cli_loop_open(cli_loop *loop, ki_loop *library, ki_error *error);
void cli_loop_close(cli_loop *loop);

/** Runs until cli_loop_stop(), a signal or `timeout_ms` (0: none).
 *  Errors: -ETIMEDOUT;  -EINTR  a signal;  -EPIPE and so on  nobody reads what we write. */
KI_NODISCARD int cli_loop_run(cli_loop *loop, uint32_t timeout_ms);
void cli_loop_stop(cli_loop *loop);

/** `events` of epoll. */
KI_NODISCARD int cli_loop_watch(cli_loop *loop, cli_fd *fd, uint32_t events);
void cli_loop_unwatch(cli_loop *loop, cli_fd *fd);

/** Monotonic nanoseconds, those of the library's loops. */
uint64_t cli_now_ns(void);

#define CLI_MS_NS UINT64_C(1000000)
#define CLI_SECOND_NS UINT64_C(1000000000)

#endif
