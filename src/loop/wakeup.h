/* SPDX-License-Identifier: Apache-2.0 */
/* Wake-ups and threads for an engine on a loop: an eventfd that interrupts epoll_wait(), and the
 * threads of the pool. Lives as long as the engine, the loop or a thread needs it. */
#ifndef KI_LOOP_WAKEUP_H
#define KI_LOOP_WAKEUP_H

#include <kinformer/alloc.h>
#include <kinformer/parts/engine.h>

typedef struct ki__wakeup ki__wakeup;

/** With one reference. -ENOMEM, -errno. */
int ki__wakeup_new(const ki_alloc *alloc, ki__wakeup **ret_wakeup);
void ki__wakeup_ref(ki__wakeup *wakeup);
void ki__wakeup_unref(ki__wakeup *wakeup);

/** An eventfd that ki__wakeup_send() makes readable. */
int ki__wakeup_fd(const ki__wakeup *wakeup);
/** Has the eventfd become readable, if it is not. Whatever this is to draw attention to must be in
 *  place before the call. Any thread; never fails. */
void ki__wakeup_send(ki__wakeup *wakeup);
/** The eventfd was read until it was empty. To be called right after that, and before looking for
 *  whatever there is to do. */
void ki__wakeup_drained(ki__wakeup *wakeup);

/** The table for an engine. */
const ki_threads *ki__wakeup_threads(const ki__wakeup *wakeup);

/** Waits until all threads that it started have ended. */
void ki__wakeup_wait_for_threads(ki__wakeup *wakeup);

/** Starts a thread with all signals blocked: they are the program's. -errno. */
int ki__thread_start(void *(*run)(void *arg), void *arg, bool detached, void *ret_thread);
/** Names the thread that calls it, for ps, top and debuggers. At most 15 bytes. */
void ki__thread_name(const char *name);

#endif
