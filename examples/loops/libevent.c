/* SPDX-License-Identifier: Apache-2.0 */
/* kinformer inside a libevent loop: one event, and no thread. */
#include <event2/event.h>

#include "demo.h"

static void on_readable(evutil_socket_t fd, short what, void *user)
{
    (void)fd;
    (void)what;
    demo *d = user;
    if (ki_loop_dispatch(d->loop) < 0) {
        event_base_loopbreak(d->user);
    }
}

static void on_timer(evutil_socket_t fd, short what, void *user)
{
    (void)fd;
    (void)what;
    demo_change(user); /* the program's own business */
}

static void finished(demo *d)
{
    event_base_loopbreak(d->user);
}

int main(void)
{
    struct event_base *base = event_base_new();
    demo d = {.finished = finished, .user = base};
    ki_error error = KI_ERROR_INIT;
    int r = demo_begin(&d, &error);
    if (r == 0) {
        struct timeval soon = {.tv_usec = 50000};
        struct event *poll =
            event_new(base, ki_loop_fd(d.loop), EV_READ | EV_PERSIST, on_readable, &d);
        struct event *timer = evtimer_new(base, on_timer, &d);
        event_add(poll, NULL);
        event_add(timer, &soon);

        event_base_dispatch(base);

        event_free(timer);
        event_free(poll);
    }
    event_base_free(base);
    return demo_end(&d, r, &error);
}
