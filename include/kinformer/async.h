/* SPDX-License-Identifier: Apache-2.0 */
/* Asynchronous reconciles: a controller starts them, and the program completes them later, from any
 * thread. For programs with one event loop, which must not block in a reconcile function: a loop
 * that calls ki_controller_work_one() has many reconciles pending at once.
 *
 * A pending reconcile holds its key: no other is started for it. Each one has a deadline. When that
 * has passed, the reconcile counts as failed (-ETIMEDOUT) and its key is retried, so that a lost
 * completion blocks no key; a completion after that has no effect. Deadlines are served by the
 * workers, ki_controller_work_one() and ki_controller_run_worker(), which should be the only users
 * of the queue that take keys.
 *
 * A queue that is shut down is drained when no reconcile is pending; workers run until then.
 * ki_controller_close() waits for that only if ki_controller_start() has started threads; otherwise
 * it cancels what is pending.
 *
 * Thread: any, for every function here. */
#ifndef KINFORMER_ASYNC_H
#define KINFORMER_ASYNC_H

#include <kinformer/controller.h>
#include <kinformer/defs.h>
#include <kinformer/error.h>

KI_BEGIN_DECLS

/** A reconcile that was started and is not completed. */
typedef struct ki_reconcile ki_reconcile;

/** The functions are called with `user` of ki_controller_options, and with no lock held. */
typedef struct ki_async_options {
    size_t size; /* see KI_OPTIONS_INIT */

    /** Starts to reconcile a key: see ki_reconcile_key(). Must not block. The program must call
     *  ki_reconcile_complete() exactly once for each call, in here or later. Required. */
    void (*start)(ki_reconcile *call, void *user);

    /** The controller waits no longer for this call: its deadline has passed, or the controller is
     *  closed. Called at most once, before the key is retried. The program should abort the
     *  operation, so that it does not write while the key is reconciled again, and must still
     *  complete the call, in here or later. NULL: none. */
    void (*cancel)(ki_reconcile *call, void *user);

    uint32_t timeout_ms;  /* until the deadline; 0: 60,000; UINT32_MAX: none */
    uint32_t max_pending; /* while so many are pending, none is started; 0: 100 */
} ki_async_options;

/** Returns the key to reconcile.
 *  Owner: valid until the call is completed.  Blocks: no.  Since: 0.1 */
KI_API const char *ki_reconcile_key(const ki_reconcile *call);

/** Completes a reconcile. `result` and `retry_after_ms` have the meaning that they have for
 *  `reconcile` of ki_controller_options; `error` has the details of a failure, or is NULL. A
 *  failure is reported to on_error on this thread.
 *  Owner:  `call` is released, also on error.
 *  Blocks: no.
 *  Errors: -ETIMEDOUT  the deadline had passed;  -ECANCELED  the controller was closed;
 *          KI_ERR_STOPPED  in a child process. The result has no effect then.
 *  Since:  0.1 */
KI_API int ki_reconcile_complete(ki_reconcile *call, int result, uint64_t retry_after_ms,
                                 const ki_error *error);

KI_END_DECLS

#endif
