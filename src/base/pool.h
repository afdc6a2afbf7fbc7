/* SPDX-License-Identifier: Apache-2.0 */
/* A pool of threads for work that may block. Jobs are part of the thing that posts them, so posting
 * never fails, and start in the order of posting.
 *
 * The pool starts a thread only while all that it has are busy and a job has waited for some
 * milliseconds, so that many short jobs share a few threads and a job that blocks delays the others
 * for no longer than that. Up to a limit: then jobs wait until another ends, which is counted and
 * logged. A thread that finds nothing to do for some seconds ends; one stays for as long as the
 * pool has users, so that an event never depends on a thread that cannot be started. */
#ifndef KI_BASE_POOL_H
#define KI_BASE_POOL_H

#include <kinformer/alloc.h>
#include <kinformer/clock.h>
#include <kinformer/log.h>
#include <kinformer/parts/engine.h>

#include "base/list.h"

typedef struct ki__pool ki__pool;

typedef struct ki__job {
    ki__list link;
    bool posted;
    uint64_t number; /* of the post */
    void (*run)(struct ki__job *job);
} ki__job;

typedef struct ki__pool_options {
    const ki_alloc *alloc;
    const ki_clock *clock; /* whose monotonic time is CLOCK_MONOTONIC's */
    const ki_log *log;     /* or NULL */
    const ki_threads *threads;
    size_t limit; /* most jobs at once; 0: KI__POOL_LIMIT; a thread more watches them */
} ki__pool_options;

enum { KI__POOL_LIMIT = 256 };

typedef struct ki__pool_stats {
    size_t threads; /* that there are, idle ones included */
    uint64_t full;  /* how often jobs had to wait because the limit was reached */
} ki__pool_stats;

/** With one reference. -ENOMEM, -errno. */
int ki__pool_new(const ki__pool_options *options, ki__pool **ret_pool);
/** NULL is allowed. Threads hold the pool as well, so this never waits for them. */
void ki__pool_unref(ki__pool *pool);

/** Before the first post: one more user. Starts a thread if there is none; -errno if it cannot. */
int ki__pool_enter(ki__pool *pool);
/** One user less. Threads end after the last, as soon as they have nothing to do. */
void ki__pool_leave(ki__pool *pool);

void ki__job_init(ki__job *job, void (*run)(ki__job *job));

/** Has the job run once, on some thread. While it waits, posting it again does nothing. Whether it
 *  was posted by this call. Any thread. */
bool ki__pool_post(ki__pool *pool, ki__job *job);

/** Has it not run after all. Whether it was posted and will not run now. */
bool ki__pool_unpost(ki__pool *pool, ki__job *job);

/** Whether jobs wait, so that a long-running one should yield to others. Takes no lock.
 */
bool ki__pool_is_wanted(const ki__pool *pool);

ki__pool_stats ki__pool_get_stats(ki__pool *pool);

#endif
