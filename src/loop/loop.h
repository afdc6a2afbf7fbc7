/* SPDX-License-Identifier: Apache-2.0 */
/* Internal interface of the loop: watching descriptors, calling functions inside the loop, and
 * waiting for something that happens there. */
#ifndef KI_LOOP_LOOP_H
#define KI_LOOP_LOOP_H

#include <kinformer/loop.h>

#include "base/list.h"
#include "base/shared.h"

/* Embedded in the struct that uses it. All of this is for the thread that runs the loop, or while
 * no thread does. */
typedef struct ki__watch {
    ki_loop *loop;
    int fd;
    uint32_t events; /* epoll events */
    bool owned;      /* `fd` is a duplicate, closed by ki__watch_remove() */
    void (*ready)(struct ki__watch *watch, uint32_t events);
} ki__watch;

/** Watches a descriptor for epoll events (EPOLLIN and so on). -errno. */
KI__SHARED int ki__watch_add(ki__watch *watch, ki_loop *loop, int fd, uint32_t events,
                             void (*ready)(ki__watch *watch, uint32_t events));
/** Like ki__watch_add(), for a descriptor that others may close first: watches a duplicate. */
int ki__watch_add_dup(ki__watch *watch, ki_loop *loop, int fd, uint32_t events,
                      void (*ready)(ki__watch *watch, uint32_t events));
/** Replaces the set of events. -errno. */
int ki__watch_change(ki__watch *watch, uint32_t events);
/** Stops watching, also from inside `ready` of this or any other watch: `ready` is not called
 *  again. Allowed for a watch that was never added. The descriptor must still be open, unless a
 *  duplicate is watched. */
KI__SHARED void ki__watch_remove(ki__watch *watch);

/** Calls `run` as if inside the loop, with nothing else running on it, and returns afterwards:
 *  directly if this thread runs the loop or no thread does, also if the loop was stopped; otherwise
 *  on the thread that runs it. Any thread; the caller holds a reference to the loop, and no lock
 *  that anything on the loop may take. No effect in a child of fork(). */
KI__SHARED void ki__loop_call(ki_loop *loop, void (*run)(void *arg), void *arg);
/** Like ki__loop_call() if no thread runs the loop at the moment; otherwise does nothing and
 *  returns false. Returns true in a child of fork(), where there is nothing to do. `run` must not
 *  call callbacks of the program and must not block: ki_loop_stop() waits for it. */
bool ki__loop_try_call(ki_loop *loop, void (*run)(void *arg), void *arg);

/** Waits until `is_done` returns true; it is called with a lock held and must not block. If no
 *  thread runs the loop, this call does. Code that changes the result calls ki__loop_changed()
 *  afterwards.
 *  Errors: KI_ERR_BUSY  called inside the loop;  KI_ERR_STOPPED  the loop was stopped, so
 *          `is_done` may never become true. */
int ki__loop_wait(ki_loop *loop, bool (*is_done)(const void *arg), const void *arg);
void ki__loop_changed(ki_loop *loop);

/** Thread: any. */
bool ki__loop_is_stopped(ki_loop *loop);

/* Embedded in the struct that uses it, which initializes `link` with ki__list_init(). */
typedef struct ki__stop_hook {
    ki__list link;
    void (*run)(struct ki__stop_hook *hook);
} ki__stop_hook;

/** Calls `run` once after the loop is stopped, inside the loop but not inside a callback of
 *  anything on it, with no lock held: on the thread that runs the loop, after its last dispatch; if
 *  no thread runs it, inside ki_loop_stop(). `run` may free the hook and release any reference. No
 *  effect on a stopped loop. Any thread. */
void ki__loop_add_stop_hook(ki_loop *loop, ki__stop_hook *hook);
/** Inside the loop only, where the hook cannot be running. No effect if it was never added. */
void ki__loop_remove_stop_hook(ki_loop *loop, ki__stop_hook *hook);

#endif
