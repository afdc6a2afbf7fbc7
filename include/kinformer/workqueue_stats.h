/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of a work queue.  Thread: any. */
#ifndef KINFORMER_WORKQUEUE_STATS_H
#define KINFORMER_WORKQUEUE_STATS_H

#include <kinformer/defs.h>
#include <kinformer/workqueue.h>

KI_BEGIN_DECLS

#define KI_DURATION_BUCKETS 11

/** A histogram of durations. Bucket 0 counts durations of up to 10 ns, each further one those of up
 *  to ten times more, the last one all longer ones: the bounds of client-go's metrics. */
typedef struct ki_durations {
    uint64_t count;
    double sum_ms;
    double max_ms;
    uint64_t buckets[KI_DURATION_BUCKETS];
} ki_durations;

/** Statistics of a queue; in brackets the metric of client-go. Times are 0 without
 *  measure_times. */
typedef struct ki_workqueue_stats {
    size_t size;               /* see KI_OPTIONS_INIT */
    uint64_t depth;            /* queued keys, including those added while processed [depth] */
    uint64_t queued;           /* keys that can be taken now: ki_workqueue_count() */
    uint64_t processing;       /* taken and not done */
    uint64_t delayed;          /* keys whose delay has not elapsed */
    uint64_t adds;             /* adds that queued a key [adds_total] */
    uint64_t retries;          /* calls of add_after and add_rate_limited [retries_total] */
    ki_durations latency;      /* from add to get [queue_duration_seconds] */
    ki_durations work;         /* from get to done [work_duration_seconds] */
    double unfinished_ms;      /* sum over the keys being processed [unfinished_work_seconds] */
    double longest_running_ms; /* maximum of these [longest_running_processor_seconds] */
} ki_workqueue_stats;

/** Fills the statistics, up to `size` bytes (0: the struct of version 0.1).
 *  Blocks: no.  Since: 0.1 */
KI_API int ki_workqueue_get_stats(ki_workqueue *queue, ki_workqueue_stats *ret_stats);

KI_END_DECLS

#endif
