/* SPDX-License-Identifier: Apache-2.0 */
/* Mutexes and condition variables. The sans-IO layers use these, those of base/lock.h, and no other
 * thread functions: nothing here starts a thread or reads a clock. In a single-threaded program no
 * lock blocks; only condition waits do. */
#ifndef KI_BASE_SYNC_H
#define KI_BASE_SYNC_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/assert.h"
#include "base/shared.h"

/* The hot functions are inline. Errors other than at creation can only be bugs of the library. */

typedef struct ki__mutex {
    pthread_mutex_t handle;
} ki__mutex;

/** Creates a non-recursive lock. 0 or -errno. */
KI__SHARED int ki__mutex_init(ki__mutex *mutex);
/** Must not be locked. */
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
/** Must have no waiters. */
void ki__cond_done(ki__cond *cond);
/** Releases the locked mutex until woken; spurious wake-ups are possible. */
void ki__cond_wait(ki__cond *cond, ki__mutex *mutex);
/** Like ki__cond_wait(), with an absolute CLOCK_MONOTONIC deadline; UINT64_MAX: none. Returns true
 *  if woken, also spuriously; false if the deadline has passed. */
bool ki__cond_wait_until(ki__cond *cond, ki__mutex *mutex, uint64_t deadline_ns);
void ki__cond_wake_one(ki__cond *cond);
void ki__cond_wake_all(ki__cond *cond);

#endif
