/* SPDX-License-Identifier: Apache-2.0 */
/* What an engine on a loop has of the outside: a way to wake the loop, and threads. It lives as
 * long as the engine, the loop or a thread needs it, whichever ends last. */
#ifndef KI_LOOP_WAKEUP_H
#define KI_LOOP_WAKEUP_H

#include <kinformer/alloc.h>
#include <kinformer/engine.h>

typedef struct ki__outside ki__outside;

/** With one reference. -ENOMEM, -errno. */
int ki__outside_new(const ki_alloc *alloc, ki__outside **ret_outside);
void ki__outside_ref(ki__outside *outside);
void ki__outside_unref(ki__outside *outside);

/** An eventfd that ki__outside_wake() makes readable. */
int ki__outside_fd(const ki__outside *outside);
/** Has the eventfd become readable, if it is not. Whatever this is to draw attention to must be in
 *  place before the call. Any thread; never fails. */
void ki__outside_wake(ki__outside *outside);
/** The eventfd was read until it was empty. To be called right after that, and before looking for
 *  whatever there is to do. */
void ki__outside_drained(ki__outside *outside);

/** The table for an engine. */
const ki_threads *ki__outside_threads(const ki__outside *outside);

/** Waits until all threads that it started have ended. */
void ki__outside_wait(ki__outside *outside);

/** Starts a thread with all signals blocked: they are the program's. -errno. */
int ki__thread_start(void *(*run)(void *arg), void *arg, bool detached, void *ret_thread);
/** Names the thread that calls it, for ps, top and debuggers. At most 15 bytes. */
void ki__thread_name(const char *name);

#endif
