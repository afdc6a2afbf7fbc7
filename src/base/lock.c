/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting, with futexes. A lock that was taken after a sleep remains marked as contended, since
 * others may sleep too: its release wakes one of them, for nothing if there is none.
 *
 * Nothing spins: a thread that takes the lock from another one that uses it all the time also
 * fetches the data under the lock from the cache of the other core, which takes longer than the
 * section. With two threads that do nothing else, spinning before the sleep took 1.4 to 5 times as
 * much processor time.
 *
 * A wake-up may hit a word that was freed meanwhile: the kernel only compares addresses, and all
 * waiters expect spurious wake-ups. */
#include "base/lock.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/time_units.h"

#if defined(__LP64__) || !defined(SYS_futex_time64)
#define FUTEX SYS_futex
#else
#define FUTEX SYS_futex_time64
#endif

typedef struct futex_time { /* struct timespec of the kernel, with 64 bits */
    int64_t seconds;
    int64_t ns;
} futex_time;

/* Sleeps while the word has this value. False: the deadline has passed. */
static bool sleep_while(_Atomic uint32_t *word, uint32_t value, uint64_t deadline_ns)
{
    int saved = errno;
    futex_time deadline = {
        .seconds = (int64_t)(deadline_ns / KI__SECOND_NS),
        .ns = (int64_t)(deadline_ns % KI__SECOND_NS),
    };
    long r = syscall(FUTEX, word, FUTEX_WAIT_BITSET_PRIVATE, value,
                     deadline_ns <= (uint64_t)INT64_MAX ? &deadline : NULL, NULL,
                     FUTEX_BITSET_MATCH_ANY);
    bool woken = r == 0 || errno != ETIMEDOUT;
    errno = saved;
    return woken;
}

static void wake(_Atomic uint32_t *word, int count)
{
    int saved = errno;
    (void)syscall(FUTEX, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0); /* cannot fail */
    errno = saved;
}

void ki__lock_wait(ki__lock *lock)
{
    while (atomic_exchange_explicit(&lock->state, 2, memory_order_acquire) != 0) {
        (void)sleep_while(&lock->state, 2, UINT64_MAX);
    }
}

void ki__lock_wake(ki__lock *lock)
{
    wake(&lock->state, 1);
}

/* The count is read with the lock held, so a signal after its release changes it, and the kernel
 * does not begin to sleep. */
bool ki__signal_wait(ki__signal *signal, ki__lock *lock, uint64_t deadline_ns)
{
    uint32_t count = atomic_load_explicit(&signal->count, memory_order_relaxed);
    ki__lock_release(lock);
    bool woken = sleep_while(&signal->count, count, deadline_ns);
    ki__lock_take(lock);
    return woken;
}

void ki__signal_one(ki__signal *signal)
{
    (void)atomic_fetch_add_explicit(&signal->count, 1, memory_order_relaxed);
    wake(&signal->count, 1);
}

void ki__signal_all(ki__signal *signal)
{
    (void)atomic_fetch_add_explicit(&signal->count, 1, memory_order_relaxed);
    wake(&signal->count, INT_MAX);
}
