/* SPDX-License-Identifier: Apache-2.0 */
/* Counts forks in the child. The process id would not do: it may be the same in a child (in another
 * namespace, or after reuse), and reading it costs a system call. */
#include "base/process.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Atomic uint64_t forks;
static bool counted; /* written once */

static void count_fork(void)
{
    atomic_fetch_add_explicit(&forks, 1, memory_order_relaxed);
}

static void count_forks(void)
{
    counted = pthread_atfork(NULL, NULL, count_fork) == 0;
}

uint64_t ki__process(void)
{
    (void)pthread_once(&once, count_forks); /* cannot fail */
    return counted ? atomic_load_explicit(&forks, memory_order_relaxed) : (uint64_t)getpid();
}
