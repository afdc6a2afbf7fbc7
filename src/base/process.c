/* SPDX-License-Identifier: Apache-2.0 */
/* Counts forks in the child. The process id would not do: it may be the same in a child (in another
 * namespace, or after reuse), and reading it costs a system call. */
#include "base/process.h"

#include <pthread.h>
#include <unistd.h>

#include "base/members.h"

_Atomic uint64_t ki__process_number;

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void count_fork(void)
{
    atomic_fetch_add_explicit(&ki__process_number, 1, memory_order_relaxed);
    ki__members_reset_lock();
}

static void count_forks(void)
{
    if (pthread_atfork(NULL, NULL, count_fork) == 0) {
        atomic_store_explicit(&ki__process_number, 1, memory_order_relaxed);
    }
}

void ki__thread_identify(uint64_t *ret_id, char *name, size_t size)
{
    *ret_id = (uint64_t)gettid();
    if (pthread_getname_np(pthread_self(), name, size) != 0) {
        name[0] = '\0';
    }
}

uint64_t ki__process(void)
{
    (void)pthread_once(&once, count_forks); /* cannot fail */
    uint64_t number = atomic_load_explicit(&ki__process_number, memory_order_relaxed);
    return number != 0 ? number : (uint64_t)getpid();
}
