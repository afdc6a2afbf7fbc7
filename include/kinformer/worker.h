/* SPDX-License-Identifier: Apache-2.0 */
/* Workers of a program: on its own threads, or in its event loop. Programs that let
 * ki_controller_start() start the threads do not need this header.
 *
 * A thread processes the keys of a controller with ki_controller_run_worker(), or takes keys of a
 * queue itself:
 *
 *   ki_work work = {0};
 *   while (ki_workqueue_next(queue, &work) > 0) {
 *       process(work.key);
 *   }
 *
 * An event loop polls a work queue with ki_workqueue_try_get(), the wake function of its options,
 * and ki_workqueue_timeout(); or a controller with ki_controller_work_one() and
 * ki_controller_timeout() in place of the first and the last.
 *
 * Thread: any, for every function here. */
#ifndef KINFORMER_WORKER_H
#define KINFORMER_WORKER_H

#include <kinformer/defs.h>
#include <kinformer/workqueue.h>

KI_BEGIN_DECLS

typedef struct ki_controller ki_controller; /* <kinformer/controller.h> */

/** Processes keys until the queue is shut down and empty.
 *  Blocks: until then.
 *  Errors: KI_ERR_UNSUPPORTED  as ki_workqueue_get(). Returns 0 at the normal end.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_controller_run_worker(ki_controller *controller);

/** Processes one key if one is available: returns 1, or 0 if there was none. With asynchronous
 *  reconciles (async.h) it starts one, or ends one whose deadline has passed.
 *  Blocks: only as long as the reconcile function.
 *  Errors: KI_ERR_STOPPED  the queue is shut down and empty, and no reconcile is pending.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_controller_work_one(ki_controller *controller);

/** Returns the number of milliseconds until ki_controller_work_one() should be called again at the
 *  latest: 0 if it has something to do, -1 if it waits for a wake-up only. Unlike
 *  ki_workqueue_timeout(), it considers the deadlines and the number of pending reconciles.
 *  Blocks: no.  Since: 0.1 */
KI_API int ki_controller_timeout(ki_controller *controller);

/* Taking keys */

/** A key to process, from get to done. */
typedef struct ki_work {
    const char *key; /* valid until done */
    void *entry;     /* private; NULL after done */
} ki_work;

/** Returns the priority with which a key was taken, without its waiting time, so that it can be
 *  added again with the same; 0 if `work` is empty.
 *  Blocks: no.  Since: 0.1 */
KI_API int32_t ki_work_priority(const ki_work *work);

/** Waits for a key and takes it: returns 1. Keys are taken in the order in which they were queued,
 *  unless they have priorities.
 *  Owner:  caller; release *ret_work with ki_workqueue_done().
 *  Blocks: until there is a key, or the queue is shut down and empty.
 *  Errors: KI_ERR_STOPPED      shut down and empty: the worker should exit;
 *          KI_ERR_UNSUPPORTED  a key is delayed and the clock is not CLOCK_MONOTONIC: after a timed
 *                              wait, it was more than a second before the deadline.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_workqueue_get(ki_workqueue *queue, ki_work *ret_work);

/** Marks a key as done. If it was added meanwhile, it is queued again, also in a queue that is shut
 *  down. Clears `work`; a second call has no effect.
 *  Blocks: no.  Since: 0.1 */
KI_API void ki_workqueue_done(ki_workqueue *queue, ki_work *work);

/** Marks the key in `work`, if any, as done and waits for the next one, in one step, for the loop
 *  of a worker. Zero `work` before the first call. After an error it is empty.
 *  Owner, Blocks, Errors: as ki_workqueue_get().  Since: 0.1 */
KI_API KI_NODISCARD int ki_workqueue_next(ki_workqueue *queue, ki_work *work);

/** Takes a key without waiting: returns 1, or 0 if there is none now.
 *  Blocks: no.  Errors: KI_ERR_STOPPED  as ki_workqueue_get().  Since: 0.1 */
KI_API KI_NODISCARD int ki_workqueue_try_get(ki_workqueue *queue, ki_work *ret_work);

/** Returns the number of milliseconds until ki_workqueue_try_get() should be called again at the
 *  latest: 0 if a key is available or the queue is shut down and empty, -1 if no key is delayed.
 *  Blocks: no.  Since: 0.1 */
KI_API int ki_workqueue_timeout(ki_workqueue *queue);

/** Returns how often the key was added with rate limit since it was forgotten.
 *  Blocks: no.  Since: 0.1 */
KI_API uint32_t ki_workqueue_requeues(ki_workqueue *queue, const char *key);

/* Shutting down */

/** When a queue that is shut down counts as drained. */
typedef enum ki_drain {
    /** No key is queued or being processed: all accepted keys are done. Workers must continue until
     *  they get KI_ERR_STOPPED. */
    KI_DRAIN_EMPTY,
    /** No key is being processed, but keys may be queued: as ShutDownWithDrain of client-go. */
    KI_DRAIN_IDLE,
    KI_DRAIN_MAX
} ki_drain;

/** Shuts the queue down and waits until it is drained. A worker must not call it while it has a
 *  key: it would wait for itself.
 *  Blocks: until it is drained, or ki_workqueue_shut_down() is called meanwhile.
 *  Errors: KI_ERR_STOPPED  the latter;  -EINVAL  unknown `until`.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_workqueue_shut_down_with_drain(ki_workqueue *queue, ki_drain until);

/** Returns whether the queue is shut down.  Blocks: no.  Since: 0.1 */
KI_API bool ki_workqueue_is_shutting_down(ki_workqueue *queue);

/** Returns whether the queue is shut down and drained, for callers that must not block. The wake
 *  function is called when this may have changed.  Blocks: no.  Since: 0.1 */
KI_API bool ki_workqueue_is_drained(ki_workqueue *queue, ki_drain until);

KI_END_DECLS

#endif
