/* SPDX-License-Identifier: Apache-2.0 */
/* File descriptors watched by a loop. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/engine.h"
#include "base/error.h"
#include "base/log.h"
#include "loop/state.h"

int ki__watch_add(ki__watch *watch, ki_loop *loop, int fd, uint32_t events,
                  void (*ready)(ki__watch *watch, uint32_t events_ready))
{
    struct epoll_event event = {.events = events, .data.ptr = watch};
    if (epoll_ctl(loop->epoll, EPOLL_CTL_ADD, fd, &event) < 0) {
        return -errno;
    }
    *watch = (ki__watch){.loop = loop, .fd = fd, .events = events, .ready = ready};
    return 0;
}

int ki__watch_add_dup(ki__watch *watch, ki_loop *loop, int fd, uint32_t events,
                      void (*ready)(ki__watch *watch, uint32_t events_ready))
{
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 3); /* 0 to 2 are the program's, even if closed */
    if (own < 0) {
        return -errno;
    }
    int r = ki__watch_add(watch, loop, own, events, ready);
    if (r < 0) {
        (void)close(own);
        return r;
    }
    watch->owned = true;
    return 0;
}

int ki__watch_change(ki__watch *watch, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = watch};
    if (events == watch->events) {
        return 0;
    }
    if (epoll_ctl(watch->loop->epoll, EPOLL_CTL_MOD, watch->fd, &event) < 0) {
        return -errno;
    }
    watch->events = events;
    return 0;
}

/* epoll registers open file descriptions, not descriptors: once the descriptor is closed, a
 * registration whose description is still open elsewhere, as in a child of fork(), can never be
 * removed, and keeps reporting a pointer to freed memory. So a failure to remove one is fatal. In
 * the child itself the epoll set belongs to the parent. */
static void unregister(const ki_loop *loop, int fd)
{
    if (ki__engine_is_inherited(loop->engine) ||
        epoll_ctl(loop->epoll, EPOLL_CTL_DEL, fd, NULL) == 0) {
        return;
    }
    ki_error error = KI_ERROR_INIT;
    (void)ki__error_set(&error, -errno, "descriptor %d: %s", fd, ki_error_text(-errno));
    KI__LOG(ki__engine_log(loop->engine), KI_LOG_ERROR, "loop",
            "cannot remove a descriptor from epoll: closed while registered",
            {"error", ki_str_from(error.message)});
    ki_assert(false);
}

void ki__watch_remove(ki__watch *watch)
{
    ki_loop *loop = watch->loop;
    if (loop == NULL) {
        return;
    }
    watch->loop = NULL;
    unregister(loop, watch->fd);
    if (watch->owned) {
        (void)close(watch->fd);
    }
    for (int i = loop->event_next; i < loop->event_count; i++) {
        if (loop->events[i].data.ptr == watch) {
            loop->events[i].data.ptr = NULL;
        }
    }
}
