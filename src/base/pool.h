/* SPDX-License-Identifier: Apache-2.0 */
/* A thread pool for jobs that may block. Jobs are embedded in the struct that posts them, so
 * posting never fails; they start in FIFO order.
 *
 * A thread is added only while all threads are busy and a job has been queued for some
 * milliseconds: many short jobs share a few threads, and a blocking job delays the others by no
 * more than that. At the limit jobs stay queued until another ends, which is counted and logged. A
 * thread that is idle for some seconds ends; one stays while the pool has users, so that the
 * delivery of an event never depends on starting a thread. */
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
    uint64_t number; /* sequence number of the post */
    void (*run)(struct ki__job *job);
} ki__job;

typedef struct ki__pool_options {
    const ki_alloc *alloc;
    const ki_clock *clock; /* its monotonic time must be CLOCK_MONOTONIC */
    const ki_log *log;     /* or NULL */
    const ki_threads *threads;
    size_t limit; /* concurrent jobs; 0: KI__POOL_LIMIT; the watcher is one more thread */
} ki__pool_options;

enum { KI__POOL_LIMIT = 256 };

typedef struct ki__pool_stats {
    size_t threads; /* current number, including idle ones */
    uint64_t full;  /* how often jobs stayed queued because of the limit */
} ki__pool_stats;

/** Creates a pool with one reference. -ENOMEM, -errno. */
int ki__pool_new(const ki__pool_options *options, ki__pool **ret_pool);
/** NULL is allowed. Threads hold references too, so this never waits for them. */
void ki__pool_unref(ki__pool *pool);

/** Adds a user; call before the first post. Starts a thread if there is none, or returns -errno. */
int ki__pool_enter(ki__pool *pool);
/** Removes a user. After the last one, threads end as soon as they are idle. */
void ki__pool_leave(ki__pool *pool);

void ki__job_init(ki__job *job, void (*run)(ki__job *job));

/** Queues the job to run once, on some thread. No effect while it is already queued. Returns true
 *  if this call queued it. Any thread. */
bool ki__pool_post(ki__pool *pool, ki__job *job);

/** Removes a job from the queue. Returns true if it was queued and will not run. */
bool ki__pool_unpost(ki__pool *pool, ki__job *job);

/** Whether jobs are queued, so that a long-running one should yield. Takes no lock. */
bool ki__pool_has_waiting(const ki__pool *pool);

ki__pool_stats ki__pool_get_stats(ki__pool *pool);

#endif
