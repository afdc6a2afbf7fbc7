/* SPDX-License-Identifier: Apache-2.0 */
/* The command's event loop. epoll waits for the library's descriptor, which covers all of its
 * sockets and timers, for signals, and for pipes of child processes. */
#include "cli/command_loop.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "cli/report_failure.h"
#include "cli/term.h"

enum { EVENTS = 16 };

/* epoll tags of the two permanent descriptors. */
static int library_tag;
static int signal_tag;

uint64_t cli_now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail */
    return (uint64_t)now.tv_sec * CLI_SECOND_NS + (uint64_t)now.tv_nsec;
}

static int add(const cli_loop *loop, int fd, uint32_t events, void *tag)
{
    struct epoll_event event = {.events = events, .data.ptr = tag};
    return epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

int cli_loop_open(cli_loop *loop, ki_loop *library, ki_error *error)
{
    sigset_t signals;
    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGINT);
    (void)sigaddset(&signals, SIGTERM);
    (void)sigaddset(&signals, SIGHUP);
    (void)sigaddset(&signals, SIGCHLD);
    *loop = (cli_loop){.loop = library, .epoll_fd = -1, .signal_fd = -1, .wake_ns = UINT64_MAX};
    (void)signal(SIGCHLD, SIG_DFL);
    (void)sigprocmask(SIG_BLOCK, &signals, &loop->before);
    loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    loop->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    int r = loop->epoll_fd < 0 || loop->signal_fd < 0 ? -errno : 0;
    if (r == 0) {
        r = add(loop, ki_loop_fd(library), EPOLLIN, &library_tag);
    }
    if (r == 0) {
        r = add(loop, loop->signal_fd, EPOLLIN, &signal_tag);
    }
    if (r < 0) {
        cli_loop_close(loop);
        return cli_fail(error, r, "cannot create an event loop: %s", strerror(-r));
    }
    return 0;
}

void cli_loop_close(cli_loop *loop)
{
    if (loop->epoll_fd >= 0) {
        (void)close(loop->epoll_fd);
    }
    if (loop->signal_fd >= 0) {
        (void)close(loop->signal_fd);
    }
    loop->epoll_fd = -1;
    loop->signal_fd = -1;
}

void cli_loop_stop(cli_loop *loop)
{
    loop->stopping = true;
}

int cli_loop_watch(cli_loop *loop, cli_fd *fd, uint32_t events)
{
    return add(loop, fd->fd, events, fd);
}

void cli_loop_unwatch(cli_loop *loop, cli_fd *fd)
{
    (void)epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, fd->fd, NULL);
}

static void take_signals(cli_loop *loop)
{
    struct signalfd_siginfo info;
    while (read(loop->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        if ((int)info.ssi_signo == SIGCHLD) {
            if (loop->on_child != NULL) {
                loop->on_child(loop->user);
            }
            continue;
        }
        bool again = loop->signal != 0;
        loop->signal = (int)info.ssi_signo;
        loop->signals++;
        if (loop->on_signal == NULL || again) {
            cli_loop_stop(loop);
        } else {
            loop->on_signal(loop->user);
        }
    }
}

/* An event may remove a descriptor of ours that has another event in the same round; so only one of
 * ours is dispatched per round. */
static void dispatch(cli_loop *loop, const struct epoll_event *events, int count)
{
    bool ours = false;
    for (int i = 0; i < count; i++) {
        void *tag = events[i].data.ptr;
        if (tag == &library_tag) {
            (void)!ki_loop_dispatch(loop->loop);
        } else if (tag == &signal_tag) {
            take_signals(loop);
            ours = true;
        } else if (!ours) {
            cli_fd *fd = tag;
            fd->ready(fd->user);
            ours = true;
        }
    }
}

static uint64_t earliest(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t first = a < b ? a : b;
    return first < c ? first : c;
}

static int wait_ms(uint64_t until, uint64_t now)
{
    if (until == UINT64_MAX) {
        return -1;
    }
    uint64_t ms = until > now ? (until - now + CLI_MS_NS - 1) / CLI_MS_NS : 0;
    return ms < INT32_MAX ? (int)ms : INT32_MAX;
}

int cli_loop_run(cli_loop *loop, uint32_t timeout_ms)
{
    struct epoll_event events[EVENTS];
    uint64_t now = cli_now_ns();
    uint64_t deadline = timeout_ms != 0 ? now + timeout_ms * CLI_MS_NS : UINT64_MAX;
    uint64_t tick = loop->tick_ms != 0 ? now + loop->tick_ms * CLI_MS_NS : UINT64_MAX;
    loop->stopping = false;
    while (!loop->stopping) {
        int count = epoll_wait(loop->epoll_fd, events, EVENTS,
                               wait_ms(earliest(tick, deadline, loop->wake_ns), now));
        dispatch(loop, events, count > 0 ? count : 0);
        now = cli_now_ns();
        if (now >= tick && !loop->stopping) {
            tick = now + loop->tick_ms * CLI_MS_NS;
            if (loop->on_tick != NULL) {
                loop->on_tick(loop->user);
            }
        }
        if (loop->on_round != NULL) {
            loop->on_round(loop->user);
        }
        int r = cli_term_flush();
        if (r < 0) {
            return r;
        }
        if (now >= deadline && !loop->stopping) {
            return -ETIMEDOUT;
        }
    }
    return loop->signal != 0 ? -EINTR : 0;
}
