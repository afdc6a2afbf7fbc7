/* SPDX-License-Identifier: Apache-2.0 */
/* Locks on top of pthreads. */
#include "base/sync.h"

#include <errno.h>

#include "base/time_units.h"

int ki__mutex_init(ki__mutex *mutex)
{
    return -pthread_mutex_init(&mutex->handle, NULL);
}

void ki__mutex_done(ki__mutex *mutex)
{
    ki_assert(pthread_mutex_destroy(&mutex->handle) == 0);
}

int ki__cond_init(ki__cond *cond)
{
    pthread_condattr_t attributes;
    int r = pthread_condattr_init(&attributes);
    if (r != 0) {
        return -r;
    }
    r = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    if (r == 0) {
        r = pthread_cond_init(&cond->handle, &attributes);
    }
    (void)pthread_condattr_destroy(&attributes); /* cannot fail for a valid object */
    return -r;
}

void ki__cond_done(ki__cond *cond)
{
    ki_assert(pthread_cond_destroy(&cond->handle) == 0);
}

void ki__cond_wait(ki__cond *cond, ki__mutex *mutex)
{
    ki_assert(pthread_cond_wait(&cond->handle, &mutex->handle) == 0);
}

bool ki__cond_wait_until(ki__cond *cond, ki__mutex *mutex, uint64_t deadline_ns)
{
    if (deadline_ns > (uint64_t)INT64_MAX) { /* 292 years: not every system can represent it */
        ki__cond_wait(cond, mutex);
        return true;
    }
    struct timespec deadline = {
        .tv_sec = (time_t)(deadline_ns / KI__SECOND_NS),
        .tv_nsec = (long)(deadline_ns % KI__SECOND_NS),
    };
    int r = pthread_cond_timedwait(&cond->handle, &mutex->handle, &deadline);
    ki_assert(r == 0 || r == ETIMEDOUT);
    return r == 0;
}

void ki__cond_wake_one(ki__cond *cond)
{
    ki_assert(pthread_cond_signal(&cond->handle) == 0);
}

void ki__cond_wake_all(ki__cond *cond)
{
    ki_assert(pthread_cond_broadcast(&cond->handle) == 0);
}
