/* SPDX-License-Identifier: Apache-2.0 */
/* Locks. The pure layers use these and no thread call: nothing here starts a thread or reads a
 * clock. With a single thread no lock ever waits; only the waits on conditions do, for another
 * thread or for a time that the caller names. */
#ifndef KI_BASE_SYNC_H
#define KI_BASE_SYNC_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/assert.h"
#include "base/shared.h"

/* What is called most is inline. Errors other than at creation can only mean misuse of ours. */

typedef struct ki__mutex {
    pthread_mutex_t handle;
} ki__mutex;

/** A lock that is not recursive. 0 or -errno. */
KI__SHARED int ki__mutex_init(ki__mutex *mutex);
/** The same for a lock that several threads want all the time, for a moment each: whoever finds it
 *  taken looks again for a while before going to sleep, where the C library can do that. It costs
 *  a little more when nobody else wants it. */
int ki__mutex_init_sought(ki__mutex *mutex);
/** Nobody may hold it. */
KI__SHARED void ki__mutex_done(ki__mutex *mutex);

static inline void ki__mutex_lock(ki__mutex *mutex)
{
    ki_assert(pthread_mutex_lock(&mutex->handle) == 0);
}

static inline void ki__mutex_unlock(ki__mutex *mutex)
{
    ki_assert(pthread_mutex_unlock(&mutex->handle) == 0);
}

typedef struct ki__cond {
    pthread_cond_t handle;
} ki__cond;

/** 0 or -errno. */
int ki__cond_init(ki__cond *cond);
/** Nobody may wait on it. */
void ki__cond_done(ki__cond *cond);
/** Gives the locked mutex up until woken, which may also happen for no reason. */
void ki__cond_wait(ki__cond *cond, ki__mutex *mutex);
/** The same, but until `deadline_ns` of CLOCK_MONOTONIC at most; UINT64_MAX: no deadline. Whether
 *  it was woken, for a reason or none; false: the deadline is past. */
bool ki__cond_wait_until(ki__cond *cond, ki__mutex *mutex, uint64_t deadline_ns);
void ki__cond_wake_one(ki__cond *cond);
void ki__cond_wake_all(ki__cond *cond);

#endif
