/* SPDX-License-Identifier: Apache-2.0 */
/* The controller: gets keys from a work queue and has them reconciled, one worker or many.
 *
 * It starts no thread. Each thread that is to be a worker calls ki_controller_run_worker(); an
 * event loop calls ki_controller_work_one(). The queue sees to it that no two workers have the same
 * key.
 *
 * Thread: any, for every function here. */
#ifndef KINFORMER_CONTROLLER_H
#define KINFORMER_CONTROLLER_H

#include <kinformer/alloc.h>
#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/str.h>
#include <kinformer/workqueue.h>

KI_BEGIN_DECLS

typedef struct ki_controller ki_controller;

typedef struct ki_controller_options {
    size_t size;           /* see KI_OPTIONS_INIT */
    const ki_alloc *alloc; /* NULL: the default; must outlive the controller */
    ki_workqueue *queue;   /* with a limiter, so with a clock; the controller takes a reference */

    /** Brings the world of `key` (borrowed; followed by a zero byte) to where it should be. Then:
     *    0 or more                     done: the failures of the key are forgotten;
     *    the same, *retry_after_ns set the same, and the key comes again after that time;
     *    less than 0                   failed: the key comes again when the limiter says.
     *  A failure may put its details into `error`. Called by as many threads as there are workers,
     *  never for the same key at once; with no lock held. */
    int (*reconcile)(ki_str key, uint64_t *retry_after_ns, ki_error *error, void *user);

    /** Told of every failure, on the worker's thread, while the key is still the worker's:
     *  `failures` of the key, this one counted, and whether the controller gives up on it. NULL:
     *  nobody. */
    void (*on_error)(ki_str key, const ki_error *error, uint32_t failures, bool given_up,
                     void *user);

    void *user;
    void (*destroy)(void *user); /* runs once, at the end of the controller; may be NULL */
    uint32_t max_retries; /* then the key is forgotten until it is added again; 0: no such limit */
} ki_controller_options;

/** A controller.
 *  Owner:  release with ki_controller_unref(). `user` becomes the controller's on success only.
 *  Blocks: no.
 *  Errors: -EINVAL  no options, no queue, a queue without limiter, or no reconcile function;
 *          -ENOMEM, -E2BIG.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_controller_new(const ki_controller_options *options,
                                          ki_controller **ret_controller, ki_error *error);

/** References. ki_controller_unref() always returns NULL; NULL is fine for both.
 *  Blocks: no.  Since: 0.1 */
KI_API ki_controller *ki_controller_ref(ki_controller *controller);
KI_API ki_controller *ki_controller_unref(ki_controller *controller);

/** Works on keys until the queue is shut down and nothing waits in it.
 *  Blocks: as long as that.
 *  Errors: KI_ERR_UNSUPPORTED  as ki_workqueue_get(). An orderly end is 0.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_controller_run_worker(ki_controller *controller);

/** Works on one key if there is one now: 1, or 0 if there was none.
 *  Blocks: as the reconcile function does, no more.
 *  Errors: KI_ERR_STOPPED  the queue is shut down and nothing waits in it.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_controller_work_one(ki_controller *controller);

KI_END_DECLS

#endif
