/* SPDX-License-Identifier: Apache-2.0 */
/* The work queue: keys to process, each queued once.
 *
 * A key that is added again while it is queued remains queued once. A key that is added while a
 * worker processes it is queued again when the worker is done. So no two workers ever have the same
 * key, and no change is lost: every add is followed by a get.
 *
 * Keys can be added after a delay, or with the delay of a rate limiter. Of two delays for one key,
 * the earlier applies. A delay is independent of the rest: adding the key at once, or processing
 * it, does not cancel the delay.
 *
 * Keys may have priorities: those of a higher one are taken first, but waiting keys rise by one
 * level per age_ms, so that none waits forever: see ki_workqueue_add_with().
 *
 * The queue starts no threads. A controller takes the keys (controller.h), or workers of the
 * program do (worker.h): a worker that waits in ki_workqueue_get() also serves the timers, an event
 * loop polls instead, and both can be combined. Statistics are in workqueue_stats.h.
 *
 * Memory: a known key takes about 90 bytes in addition to its text. Keys that are neither queued,
 * delayed nor processed are not known.  Thread: any, for every function here. */
#ifndef KINFORMER_WORKQUEUE_H
#define KINFORMER_WORKQUEUE_H

#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/str.h>

KI_BEGIN_DECLS

typedef struct ki_workqueue ki_workqueue;
typedef struct ki_rate_limiter ki_rate_limiter; /* <kinformer/rate_limiter.h> */

typedef struct ki_workqueue_options {
    size_t size;             /* see KI_OPTIONS_INIT */
    const ki_alloc *alloc;   /* NULL: the default; must outlive the queue */
    const ki_random *random; /* hash seed; NULL: that of the system */

    /** For delays and measured times; must outlive the queue. Timed waits in ki_workqueue_get()
     *  require that monotonic_ns is CLOCK_MONOTONIC; ki_workqueue_try_get() works with any clock.
     *  NULL: that of the system. */
    const ki_clock *clock;

    /** For ki_workqueue_add_rate_limited(); copied, and owned by the queue on success. NULL:
     *  ki_rate_limiter_default(). */
    const ki_rate_limiter *limiter;

    /** Called when ki_workqueue_try_get(), which found nothing before, may now find a key, or must
     *  be called earlier than ki_workqueue_timeout() returned: once, until try_get finds
     *  nothing again. Called on the thread that calls add, done or shut_down, with no lock held; it
     *  must not block, and may call any function here. NULL: none. */
    void (*wake)(void *user);
    void *wake_user;

    const char *name;     /* in metrics, up to 255 bytes; copied; NULL: that of the controller */
    size_t max_keys;      /* limit of known keys; 0: 2^24; maximum: 2^30 */
    size_t max_key_bytes; /* 0: 1024; maximum: 65535 */
    bool measure_times;   /* latency, work and running times in the statistics: reads the clock each
                             time. Queues in the metrics of a client always do: see metrics.h */
    uint32_t age_ms;      /* waiting time that equals one level of priority; 0: 1000; maximum:
                             3,600,000 */
} ki_workqueue_options;

/** Creates an empty queue. `options` may be NULL.
 *  Owner:  caller; release with ki_workqueue_unref() when no thread waits in it.  Blocks: no.
 *  Errors: -EINVAL  a limiter with a missing function, or a limit above its maximum;
 *          KI_ERR_LIMIT  the name is too long;
 *          -ENOMEM, -E2BIG.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_workqueue_new(const ki_workqueue_options *options,
                                         ki_workqueue **ret_queue, ki_error *error);

/** Takes and releases references. Releasing the last one frees the queue with its content; keys
 *  that were taken and are not done become invalid. ki_workqueue_unref() always returns NULL; both
 *  accept NULL.
 *  Blocks: no.  Since: 0.1 */
KI_API ki_workqueue *ki_workqueue_ref(ki_workqueue *queue);
KI_API ki_workqueue *ki_workqueue_unref(ki_workqueue *queue);

/* Adding. The key is copied; it may be any text.
 * Blocks: no.
 * Errors: KI_ERR_STOPPED  the queue is shut down; the key is not added;
 *         KI_ERR_LIMIT    max_keys or max_key_bytes;  -ENOMEM.
 * For known keys, in particular those being processed, only KI_ERR_STOPPED is possible: a failed
 * key can always be added again.
 * Since:  0.1 */

/** Adds a key. Returns 1, or 0 if it was already queued. */
KI_API KI_NODISCARD int ki_workqueue_add(ki_workqueue *queue, const char *key);

/** Adds a key after `delay_ms`, or earlier if it already has an earlier delay; 0 adds it at once.
 *  Returns 1 if this changed anything, otherwise 0. Counts as a retry. */
KI_API KI_NODISCARD int ki_workqueue_add_after(ki_workqueue *queue, const char *key,
                                               uint64_t delay_ms);

/** Adds a key after the delay of the limiter. The limiter counts this as a failure of the key, so
 *  use it for retries only: see ki_rate_limiter_bucket(). */
KI_API KI_NODISCARD int ki_workqueue_add_rate_limited(ki_workqueue *queue, const char *key);

/* Priorities. KI_PRIORITY_LOW is for keys that can wait, such as those of resyncs: the same value
 * as in controller-runtime. */
#define KI_PRIORITY_MIN (-10000)
#define KI_PRIORITY_LOW (-100)
#define KI_PRIORITY_MAX 10000

typedef struct ki_add_options {
    size_t size;       /* see KI_OPTIONS_INIT */
    int32_t priority;  /* KI_PRIORITY_MIN to KI_PRIORITY_MAX; 0, the default: as other adds */
    bool rate_limited; /* as ki_workqueue_add_rate_limited(); excludes delay_ms */
    uint64_t delay_ms; /* as ki_workqueue_add_after(); 0: at once */
} ki_add_options;

/** Adds a key with a priority. `options` may be NULL.
 *
 *  Of the queued keys, the one with the highest priority is taken first, counting one level more
 *  for every age_ms that it has waited since it was added or its delay elapsed; at equal priority,
 *  the one added first. So a key of priority p waits only for keys of a priority q above p that are
 *  added less than (q - p) x age_ms after it.
 *
 *  A key that is already queued, delayed, or to be queued again when its worker is done, is raised
 *  to a higher priority, and keeps its waiting time; it is never lowered. Returns 1, or 0 if the
 *  key was already queued, or already has an earlier delay: also if it was raised.
 *
 *  From the first priority other than 0, a queue reads the clock in every add.
 *  Blocks: no.
 *  Errors: -EINVAL  the priority is out of range, or both rate_limited and delay_ms are set;
 *          -E2BIG;  as ki_workqueue_add().
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_workqueue_add_with(ki_workqueue *queue, const char *key,
                                              const ki_add_options *options);

/** Resets the failure count of a key in the limiter: the next retry has a short delay again.
 *  Independent of ki_workqueue_done().  Blocks: no.  Since: 0.1 */
KI_API void ki_workqueue_forget(ki_workqueue *queue, const char *key);

/** Returns the number of keys that can be taken now. Keys that are delayed, or were added while
 *  being processed, do not count. The result may be outdated at once.
 *  Blocks: no.  Since: 0.1 */
KI_API size_t ki_workqueue_count(ki_workqueue *queue);

/* Shutting down */

/** Shuts the queue down: no key can be added any more, and delayed keys are dropped. Queued keys
 *  can still be taken; then get returns KI_ERR_STOPPED. Ends the wait of
 *  ki_workqueue_shut_down_with_drain(). May be called again.
 *  Blocks: no.  Since: 0.1 */
KI_API void ki_workqueue_shut_down(ki_workqueue *queue);

KI_AUTO_DEFINE(ki_workqueue, ki_workqueue_unref)

KI_END_DECLS

#endif
