/* SPDX-License-Identifier: Apache-2.0 */
/* The work queue: keys that wait to be worked on, each of them once.
 *
 * A key that is added again while it waits is still there once. One that is added while it is being
 * worked on waits until that is done, and then comes again. So no two workers ever have the same
 * key, and no change is lost: the last add is always followed by a get.
 *
 * Keys can be added after a delay, or as a rate limiter says; one type serves for all of it. Of two
 * delays for one key the earlier counts. A delay stands beside the rest: adding the key at once, or
 * working on it, does not take the delay away.
 *
 * Nothing here starts a thread or reads a clock of its own. A worker that waits in
 * ki_workqueue_get() is the timer as well. An event loop polls instead: ki_workqueue_try_get(), the
 * wake function of the options, and ki_workqueue_next_deadline(). Both ways can be mixed.
 *
 * Delays and measured times need a clock (options). Without one everything else works;
 * ki_workqueue_add_after() and ki_workqueue_add_rate_limited() give KI_ERR_UNSUPPORTED.
 *
 * Memory: a known key takes about 80 bytes and its own. Keys that neither wait nor are worked on
 * are not known.  Thread: any, for every function here. */
#ifndef KINFORMER_WORKQUEUE_H
#define KINFORMER_WORKQUEUE_H

#include <kinformer/alloc.h>
#include <kinformer/clock.h>
#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/rate_limiter.h>
#include <kinformer/str.h>

KI_BEGIN_DECLS

typedef struct ki_workqueue ki_workqueue;

typedef struct ki_workqueue_options {
    size_t size;             /* see KI_OPTIONS_INIT */
    const ki_alloc *alloc;   /* NULL: the default; must outlive the queue */
    const ki_random *random; /* seeds the hash; NULL: from addresses, which an attacker may guess */

    /** For delays and times; must outlive the queue. For ki_workqueue_get() to wake at the right
     *  time, monotonic_ns must be CLOCK_MONOTONIC; with try_get any clock will do. NULL: no delays.
     */
    const ki_clock *clock;

    /** For ki_workqueue_add_rate_limited(); copied, and taken over on success. NULL: with a clock
     *  ki_rate_limiter_default(), without one none. */
    const ki_rate_limiter *limiter;

    /** Called when a ki_workqueue_try_get() that found nothing may find something now, or is to be
     *  called earlier than ki_workqueue_next_deadline() said: once, until another try_get finds
     *  nothing. It runs on the thread that adds, shuts down or is done, with no lock held; it must
     *  not block, and may call anything here. NULL: none. */
    void (*wake)(void *user);
    void *wake_user;

    size_t max_keys;      /* known at a time; 0: 2^24; most: 2^30 */
    size_t max_key_bytes; /* 0: 1024; most: 65535 */
    bool measure_times; /* latency, work and the running, in the stats: reads the clock each time */
} ki_workqueue_options;

/** An empty queue. `options` may be NULL.
 *  Owner:  release with ki_workqueue_unref(), when nobody waits in it.  Blocks: no.
 *  Errors: -EINVAL  a limiter or measure_times without a clock, a limiter with a function missing,
 *                   or a limit above its most;  -ENOMEM, -E2BIG.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_workqueue_new(const ki_workqueue_options *options,
                                         ki_workqueue **ret_queue, ki_error *error);

/** References. The last one ends the queue whatever is in it; what was got and is not done is
 *  invalid then. ki_workqueue_unref() always returns NULL; NULL is fine for both.
 *  Blocks: no.  Since: 0.1 */
KI_API ki_workqueue *ki_workqueue_ref(ki_workqueue *queue);
KI_API ki_workqueue *ki_workqueue_unref(ki_workqueue *queue);

/* Adding. The bytes of the key are copied; any bytes will do.
 * Blocks: no.
 * Errors: KI_ERR_STOPPED  the queue is shut down; the key is not taken;
 *         KI_ERR_LIMIT    max_keys or max_key_bytes;  -ENOMEM.
 * For a key that is known, so above all for one that is being worked on, only KI_ERR_STOPPED is
 * possible: what failed can always be put back.
 * Since:  0.1 */

/** Adds a key. 1, or 0 if it was waiting already. */
KI_API KI_NODISCARD int ki_workqueue_add(ki_workqueue *queue, ki_str key);

/** Adds a key when `delay_ns` have passed, or earlier if it is delayed to an earlier time already;
 *  0 adds at once. 1 if this changed anything, else 0. Counts as a retry. */
KI_API KI_NODISCARD int ki_workqueue_add_after(ki_workqueue *queue, ki_str key, uint64_t delay_ns);

/** Adds a key after the time that the limiter says. The limiter counts this as a failure of the
 *  key, so it is for retries: see ki_rate_limiter_bucket() for what happens else. */
KI_API KI_NODISCARD int ki_workqueue_add_rate_limited(ki_workqueue *queue, ki_str key);

/** Tells the limiter that the key is done with: the next retry begins with a short wait again. It
 *  has nothing to do with ki_workqueue_done().  Blocks: no.  Since: 0.1 */
KI_API void ki_workqueue_forget(ki_workqueue *queue, ki_str key);

/** How often the key was added rate limited since it was forgotten; 0 without a limiter.
 *  Blocks: no.  Since: 0.1 */
KI_API uint32_t ki_workqueue_requeues(ki_workqueue *queue, ki_str key);

/* Working */

/** A key to work on, from get to done. */
typedef struct ki_work {
    ki_str key;  /* followed by a zero byte; valid until it is done */
    void *entry; /* the queue's own; NULL when it is done */
} ki_work;

/** Waits for a key and takes it: 1. In the order in which they came to wait.
 *  Owner:  *ret_work is to be given back with ki_workqueue_done().
 *  Blocks: until there is a key, or the queue is shut down and nothing waits in it any more.
 *  Errors: KI_ERR_STOPPED      the latter: the worker should end;
 *          KI_ERR_UNSUPPORTED  a key is delayed and the clock is not CLOCK_MONOTONIC: it was asked
 *                              to wake then, and it is earlier than then by more than a second.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_workqueue_get(ki_workqueue *queue, ki_work *ret_work);

/** The same without waiting: 0 if there is no key now.
 *  Blocks: no.  Errors: KI_ERR_STOPPED as above.  Since: 0.1 */
KI_API KI_NODISCARD int ki_workqueue_try_get(ki_workqueue *queue, ki_work *ret_work);

/** Says that a key is worked on no more; if it was added meanwhile it waits again, also in a queue
 *  that is shut down. Clears `work`; a second call does nothing.
 *  Blocks: no.  Since: 0.1 */
KI_API void ki_workqueue_done(ki_workqueue *queue, ki_work *work);

/** ki_workqueue_done() with what is in `work`, if anything is, and ki_workqueue_get() into it, in
 * one step: what a worker does in its loop. Begin with all zeros. After an error nothing is in it.
 *  Owner, Blocks, Errors: as ki_workqueue_get().  Since: 0.1 */
KI_API KI_NODISCARD int ki_workqueue_next(ki_workqueue *queue, ki_work *work);

/** How many keys can be got now. Those that are delayed, or were added while they are worked on, do
 *  not count. It may be another number as soon as you have it.
 *  Blocks: no.  Since: 0.1 */
KI_API size_t ki_workqueue_count(ki_workqueue *queue);

/** The time at which to call ki_workqueue_try_get() again, by the clock of the options: 0 if there
 *  is a key to get now or the queue is shut down and empty, UINT64_MAX if nothing is delayed.
 *  Blocks: no.  Since: 0.1 */
KI_API uint64_t ki_workqueue_next_deadline(ki_workqueue *queue);

/* Ending */

/** Shuts the queue down: nothing can be added any more, delayed keys are dropped; those that wait
 *  are still handed out, and when there are none, get gives KI_ERR_STOPPED. Ends the wait of
 *  ki_workqueue_shut_down_with_drain(). May be called again.
 *  Blocks: no.  Since: 0.1 */
KI_API void ki_workqueue_shut_down(ki_workqueue *queue);

/** When a queue that is shut down counts as drained. */
typedef enum ki_drain {
    /** Nothing waits and nothing is worked on: every key that was taken is done. Workers must go on
     *  until they get KI_ERR_STOPPED. */
    KI_DRAIN_EMPTY,
    /** Nothing is worked on, though keys may wait: what client-go's ShutDownWithDrain does. */
    KI_DRAIN_IDLE,
    KI_DRAIN_MAX
} ki_drain;

/** Shuts the queue down and waits until it is drained. A worker must not call it while it has a
 *  key: it would wait for itself.
 *  Blocks: until it is drained, or ki_workqueue_shut_down() is called meanwhile.
 *  Errors: KI_ERR_STOPPED  the latter;  -EINVAL  no such `until`.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_workqueue_shut_down_with_drain(ki_workqueue *queue, ki_drain until);

/** Whether the queue is shut down.  Blocks: no.  Since: 0.1 */
KI_API bool ki_workqueue_is_shutting_down(ki_workqueue *queue);

/** Whether the queue is shut down and drained: for those who may not block. The wake function is
 *  called when this may have become so.  Blocks: no.  Since: 0.1 */
KI_API bool ki_workqueue_is_drained(ki_workqueue *queue, ki_drain until);

/* Counting */

#define KI_DURATION_BUCKETS 11

/** How long something took, each time. Bucket i counts what took up to 10^(i+1) ns and more than
 *  the bucket before, the last one all that took longer: the bounds of client-go's metrics. */
typedef struct ki_durations {
    uint64_t count;
    uint64_t sum_ns;
    uint64_t max_ns;
    uint64_t buckets[KI_DURATION_BUCKETS];
} ki_durations;

/** In brackets the metric of client-go. The times are 0 without measure_times. */
typedef struct ki_workqueue_stats {
    size_t size;                 /* see KI_OPTIONS_INIT */
    uint64_t depth;              /* keys that wait, also behind their own work [depth] */
    uint64_t queued;             /* those that can be got now: ki_workqueue_count() */
    uint64_t processing;         /* got and not done */
    uint64_t delayed;            /* with a time still to come */
    uint64_t adds;               /* that made a key wait that did not [adds_total] */
    uint64_t retries;            /* calls of add_after and add_rate_limited [retries_total] */
    ki_durations latency;        /* from add to get [queue_duration_seconds] */
    ki_durations work;           /* from get to done [work_duration_seconds] */
    uint64_t unfinished_ns;      /* sum over what is worked on now [unfinished_work_seconds] */
    uint64_t longest_running_ns; /* most of those [longest_running_processor_seconds] */
} ki_workqueue_stats;

/** Fills the struct, as much of it as its `size` says (0: as it was in 0.1).
 *  Blocks: no.  Since: 0.1 */
KI_API void ki_workqueue_get_stats(ki_workqueue *queue, ki_workqueue_stats *stats);

KI_END_DECLS

#endif
