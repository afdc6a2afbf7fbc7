/* SPDX-License-Identifier: Apache-2.0 */
/* A lock of one word for sections of a few instructions that many threads compete for, and a signal
 * to wait for with it. Faster than a mutex of the C library, as the code is inline, and cheaper
 * under contention, as the thread that has just released the lock may take it again before a
 * sleeping one wakes up: so there is no fairness. Needs neither initialization nor release. */
#ifndef KI_BASE_LOCK_H
#define KI_BASE_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#if defined(__has_include)
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define KI__SINGLE_THREADED __libc_single_threaded
#endif
#endif
#ifndef KI__SINGLE_THREADED
#define KI__SINGLE_THREADED 0
#endif

typedef struct ki__lock {
    _Atomic uint32_t state; /* 0: free, 1: locked, 2: locked, and others may be asleep */
} ki__lock;

typedef struct ki__signal {
    _Atomic uint32_t count; /* of signals */
} ki__signal;

/* The slow halves of the next two. */
void ki__lock_wait(ki__lock *lock);
void ki__lock_wake(ki__lock *lock);

static inline void ki__lock_take(ki__lock *lock)
{
    uint32_t state = 0;
    if (KI__SINGLE_THREADED) { /* nobody can have it, and atomic instructions are expensive */
        atomic_store_explicit(&lock->state, 1, memory_order_relaxed);
        return;
    }
    if (!atomic_compare_exchange_strong_explicit(&lock->state, &state, 1, memory_order_acquire,
                                                 memory_order_relaxed)) {
        ki__lock_wait(lock);
    }
}

static inline void ki__lock_release(ki__lock *lock)
{
    if (KI__SINGLE_THREADED) {
        atomic_store_explicit(&lock->state, 0, memory_order_relaxed);
        return;
    }
    if (atomic_exchange_explicit(&lock->state, 0, memory_order_release) == 2) {
        ki__lock_wake(lock);
    }
}

/** Releases the lock, which the caller has, until a signal or the deadline, in CLOCK_MONOTONIC
 *  (UINT64_MAX: none), and takes it again. Spurious returns are possible. Returns false if the
 *  deadline has passed. */
bool ki__signal_wait(ki__signal *signal, ki__lock *lock, uint64_t deadline_ns);
/** Wakes one waiter, or all. The caller has the lock. */
void ki__signal_one(ki__signal *signal);
void ki__signal_all(ki__signal *signal);

#endif
