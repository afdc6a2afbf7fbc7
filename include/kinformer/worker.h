/* SPDX-License-Identifier: Apache-2.0 */
/* Workers of a program: on its own threads, or in its event loop. Programs that let
 * ki_controller_start() start the threads do not need this header.
 *
 * An event loop polls a work queue with ki_workqueue_try_get(), the wake function of its options,
 * and ki_workqueue_timeout(); or a controller with ki_controller_work_one() in place of the first.
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

/** Processes one key if one is available: returns 1, or 0 if there was none.
 *  Blocks: only as long as the reconcile function.
 *  Errors: KI_ERR_STOPPED  the queue is shut down and empty.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_controller_work_one(ki_controller *controller);

/** Takes a key without waiting: returns 1, or 0 if there is none now.
 *  Blocks: no.  Errors: KI_ERR_STOPPED  as ki_workqueue_get().  Since: 0.1 */
KI_API KI_NODISCARD int ki_workqueue_try_get(ki_workqueue *queue, ki_work *ret_work);

/** Returns the number of milliseconds until ki_workqueue_try_get() should be called again at the
 *  latest: 0 if a key is available or the queue is shut down and empty, -1 if no key is delayed.
 *  Blocks: no.  Since: 0.1 */
KI_API int ki_workqueue_timeout(ki_workqueue *queue);

/** Returns whether the queue is shut down and drained, for callers that must not block. The wake
 *  function is called when this may have changed.  Blocks: no.  Since: 0.1 */
KI_API bool ki_workqueue_is_drained(ki_workqueue *queue, ki_drain until);

KI_END_DECLS

#endif
