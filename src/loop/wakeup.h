/* SPDX-License-Identifier: Apache-2.0 */
/* Wake-ups and threads for an engine on a loop: an eventfd that interrupts epoll_wait(), and the
 * pool's threads. Lives as long as the engine, the loop or a thread needs it. */
#ifndef KI_LOOP_WAKEUP_H
#define KI_LOOP_WAKEUP_H

#include <kinformer/alloc.h>
#include <kinformer/parts/engine.h>

typedef struct ki__wakeup ki__wakeup;

/** Creates one with one reference. -ENOMEM, -errno. */
int ki__wakeup_new(const ki_alloc *alloc, ki__wakeup **ret_wakeup);
void ki__wakeup_ref(ki__wakeup *wakeup);
void ki__wakeup_unref(ki__wakeup *wakeup);

/** The eventfd that ki__wakeup_send() makes readable. */
int ki__wakeup_fd(const ki__wakeup *wakeup);
/** Makes the eventfd readable, if it is not. The work to be noticed must be stored before the call.
 *  Any thread; never fails. */
void ki__wakeup_send(ki__wakeup *wakeup);
/** Call right after the eventfd was read until empty, and before looking for work. */
void ki__wakeup_drained(ki__wakeup *wakeup);

/** The thread table for an engine. */
const ki_threads *ki__wakeup_threads(const ki__wakeup *wakeup);

/** Waits until all threads started through it have ended. */
void ki__wakeup_wait_for_threads(ki__wakeup *wakeup);

/** Starts a thread with all signals blocked: they belong to the program. -errno. */
int ki__thread_start(void *(*run)(void *arg), void *arg, bool detached, void *ret_thread);
/** Names the calling thread, for ps, top and debuggers. At most 15 bytes. */
void ki__thread_name(const char *name);

#endif
