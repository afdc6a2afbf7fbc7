/* SPDX-License-Identifier: Apache-2.0 */
/* kinformer inside a plain epoll loop: one more descriptor, and no thread. */
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "demo.h"

static void finished(demo *d)
{
    *(bool *)d->user = true;
}

static int run(demo *d, int epoll, int timer, bool *done)
{
    struct epoll_event own = {.events = EPOLLIN, .data.fd = timer};
    struct epoll_event theirs = {.events = EPOLLIN, .data.fd = ki_loop_fd(d->loop)};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, timer, &own) < 0 ||
        epoll_ctl(epoll, EPOLL_CTL_ADD, ki_loop_fd(d->loop), &theirs) < 0) {
        return -1;
    }
    while (!*done) {
        struct epoll_event event;
        if (epoll_wait(epoll, &event, 1, -1) != 1) {
            continue;
        }
        if (event.data.fd == timer) { /* the program's own business */
            uint64_t count;
            if (read(timer, &count, sizeof(count)) > 0) {
                demo_change(d);
            }
        } else if (ki_loop_dispatch(d->loop) < 0) {
            return -1;
        }
    }
    return 0;
}

int main(void)
{
    bool done = false;
    demo d = {.finished = finished, .user = &done};
    ki_error error = KI_ERROR_INIT;
    int r = demo_begin(&d, &error);
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    struct itimerspec soon = {.it_value.tv_nsec = 50000000};
    if (r == 0 && timerfd_settime(timer, 0, &soon, NULL) == 0) {
        r = run(&d, epoll, timer, &done);
    }
    close(timer);
    close(epoll);
    return demo_end(&d, r, &error);
}
