/* SPDX-License-Identifier: Apache-2.0 */
/* The loop for the rest of the library: polling descriptors, running functions inside it, and
 * waiting for something that happens there. */
#ifndef KI_LOOP_LOOP_H
#define KI_LOOP_LOOP_H

#include <kinformer/loop.h>

#include "base/list.h"
#include "base/shared.h"

/* Part of the thing that uses it. All of this is for the thread that runs the loop, or while nobody
 * does. */
typedef struct ki__watch {
    ki_loop *loop;
    int fd;
    uint32_t events; /* of epoll */
    bool owned;      /* `fd` is a duplicate, closed by ki__watch_remove() */
    void (*ready)(struct ki__watch *watch, uint32_t events);
} ki__watch;

/** Watches a descriptor for epoll's events, EPOLLIN and so on. -errno. */
KI__SHARED int ki__watch_add(ki__watch *watch, ki_loop *loop, int fd, uint32_t events,
                             void (*ready)(ki__watch *watch, uint32_t events));
/** The same for a descriptor that somebody else may close first: a duplicate is watched. */
int ki__watch_add_dup(ki__watch *watch, ki_loop *loop, int fd, uint32_t events,
                      void (*ready)(ki__watch *watch, uint32_t events));
/** Watches for others. -errno. */
int ki__watch_change(ki__watch *watch, uint32_t events);
/** Ends it, also from inside `ready` of this or any other: it is not called any more. Fine for one
 *  that was never added. The descriptor must still be open, unless a duplicate is watched. */
KI__SHARED void ki__watch_remove(ki__watch *watch);

/** Calls `run` as if inside the loop, where nothing else on it runs meanwhile, and returns when
 *  that has: here and now if this is the thread that runs it, or if nobody does, also if it was
 *  stopped; else on that thread. Any thread; the caller holds the loop, and no lock that something
 *  on it may want. In a child of fork() it does nothing. */
void ki__loop_call(ki_loop *loop, void (*run)(void *arg), void *arg);
/** The same if nobody runs the loop at the moment; otherwise it does nothing. Whether it did;
 *  true in a child of fork(), where there is nothing to do. `run` must not call callbacks of the
 *  program, and must not wait: ki_loop_stop() waits for it. */
bool ki__loop_try_call(ki_loop *loop, void (*run)(void *arg), void *arg);

/** Waits until `is_done`, which is called with a lock held and must not block. If no thread runs
 *  the loop, this does. Code that changes the result calls ki__loop_changed() after it.
 *  Errors: KI_ERR_BUSY  called inside the loop;  KI_ERR_STOPPED  it was, so it may never be done.
 */
int ki__loop_wait(ki_loop *loop, bool (*is_done)(const void *arg), const void *arg);
void ki__loop_changed(ki_loop *loop);

/** Whether it was stopped. Any thread. */
bool ki__loop_is_stopped(ki_loop *loop);

/* Part of the thing that uses it, which initializes `link` with ki__list_init(). */
typedef struct ki__stop_hook {
    ki__list link;
    void (*run)(struct ki__stop_hook *hook);
} ki__stop_hook;

/** Has `run` called once when the loop was stopped, inside the loop but not inside a callback
 *  of anything on it, with no lock held: on the thread that runs the loop, after its last dispatch;
 *  if nobody runs it, inside ki_loop_stop(). `run` may free the hook, and release any reference.
 *  Does nothing on a loop that was stopped before. Any thread. */
void ki__loop_add_stop_hook(ki_loop *loop, ki__stop_hook *hook);
/** Has it not called any more. Inside the loop only, where it cannot be running. Fine for one that
 *  was never added. */
void ki__loop_remove_stop_hook(ki_loop *loop, ki__stop_hook *hook);

#endif
