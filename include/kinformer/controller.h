/* SPDX-License-Identifier: Apache-2.0 */
/* The controller: takes keys from a work queue and reconciles them, with one worker or many.
 *
 * ki_controller_start() starts threads for the workers. Programs with their own threads or event
 * loop run workers there (worker.h). The queue ensures that no two workers have the same key.
 *
 * Thread: any, for every function here. */
#ifndef KINFORMER_CONTROLLER_H
#define KINFORMER_CONTROLLER_H

#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/handler.h>
#include <kinformer/informer.h>
#include <kinformer/resource.h>
#include <kinformer/str.h>
#include <kinformer/workqueue.h>

KI_BEGIN_DECLS

/* From changes to keys */

typedef struct ki_enqueue_options {
    size_t size; /* see KI_OPTIONS_INIT */

    /** Add the key of the object's owner instead of its own: of the owner reference with
     *  `controller: true`, if it has the group and kind of this resource. If the owner has changed,
     *  both keys are added. */
    const ki_resource *owner;

    /** Alternatively, adds any keys itself. If an add fails because memory is exhausted, the change
     *  is reported (see on_report of ki_loop_options); a map function that must not miss a key has
     *  to check the results of ki_workqueue_add(). Runs as a handler with the default delivery. */
    void (*map)(const ki_change *change, ki_workqueue *queue, void *user);
    void *user;

    /** Priorities of the keys, see ki_workqueue_add_with(): of changes, and of initial additions
     *  and resyncs, for which KI_PRIORITY_LOW lets changes overtake the objects that a program
     *  finds when it starts. 0, the default: as other adds. A map function sets its own. */
    int32_t priority;
    int32_t initial_priority;
} ki_enqueue_options;

/** Adds the key of the object to a work queue for every change of an informer, including initial
 *  additions and resyncs. `options` may be NULL. A key that cannot be added, because memory is
 *  exhausted or the queue has too many keys, is reported (see on_report of ki_loop_options) and
 *  retried with the next change. Changes after the queue was shut down are ignored.
 *  Owner:  it holds a reference to the queue until the informer has stopped.
 *  Thread: any.  Blocks: no.
 *  Errors: -EINVAL  both owner and map are set, or a priority is out of range;
 *          as ki_informer_add_handler().
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_informer_enqueue(ki_informer *informer, ki_workqueue *queue,
                                            const ki_enqueue_options *options, ki_error *error);

/* Controllers */

typedef struct ki_controller ki_controller;
typedef struct ki_client ki_client;               /* <kinformer/client.h> */
typedef struct ki_leader ki_leader;               /* <kinformer/leader.h> */
typedef struct ki_consistency ki_consistency;     /* <kinformer/consistency.h> */
typedef struct ki_async_options ki_async_options; /* <kinformer/async.h> */

typedef struct ki_controller_options {
    size_t size;           /* see KI_OPTIONS_INIT */
    const ki_alloc *alloc; /* NULL: the default; must outlive the controller */
    ki_workqueue *queue;   /* required; the controller takes a reference */

    /** Reconciles `key` (borrowed; NUL-terminated). Result:
     *    0 or more                     success: the failure count of the key is reset;
     *    the same, *retry_after_ms set  success, and the key is processed again after that time;
     *    negative                      failure: the key is retried after the delay of the limiter.
     *  Keys that are processed again keep their priority.
     *  A failure may store its details in `error`. Called concurrently by all workers, but never
     *  twice at the same time for one key, and with no lock held. */
    int (*reconcile)(const char *key, uint64_t *retry_after_ms, ki_error *error, void *user);

    /** Called for every failure, on the worker's thread, while the worker still has the key.
     *  `failures` is the failure count of the key, including this one; `given_up` is whether the
     *  controller gives up on it. NULL: none. */
    void (*on_error)(const char *key, const ki_error *error, uint32_t failures, bool given_up,
                     void *user);

    void *user;
    void (*destroy)(void *user); /* called once, when the controller is freed; may be NULL */
    const char *name;            /* in metrics, up to 255 bytes; copied; NULL: that of the queue, or
                                    "controller" */
    uint32_t max_retries;        /* then the key is dropped until it is added again; 0: no limit */

    /** Workers process keys only while this replica leads; meanwhile keys wait in the queue. The
     *  controller takes a reference. NULL: always. Close the controller before the leader. */
    ki_leader *leader;

    /** A key is not reconciled before the caches are past its recorded writes; until then it is
     *  added to the queue again after delays from 5 ms to 1.3 s, which is not counted as a failure.
     *  The controller takes a reference. NULL: no check. */
    ki_consistency *consistency;

    /** Functions that start a reconcile, instead of `reconcile`; it is completed later. Copied. */
    const ki_async_options *async;
} ki_controller_options;

/** Creates a controller.
 *  Owner:  caller; release with ki_controller_unref(). On success only, it owns `user`.
 *  Blocks: no.
 *  Errors: -EINVAL  no queue, or not exactly one of reconcile and async;
 *          KI_ERR_LIMIT  the name is too long;
 *          -ENOMEM, -E2BIG.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_controller_new(const ki_controller_options *options,
                                          ki_controller **ret_controller, ki_error *error);

/** Takes and releases references. ki_controller_unref() always returns NULL; both accept NULL.
 *  Blocks: no.  Since: 0.1 */
KI_API ki_controller *ki_controller_ref(ki_controller *controller);
KI_API ki_controller *ki_controller_unref(ki_controller *controller);

/** Starts worker threads and the client's informers that are not started. The threads, named
 *  "ki-worker-1" and so on, begin to process keys when these informers have synced; at once if
 *  `client` is NULL. The client must remain valid until the controller is closed. End the threads
 *  with ki_controller_close().
 *  Blocks: no.
 *  Errors: -EINVAL  workers is 0 or above 10,000;  KI_ERR_EXISTS  already started;
 *          KI_ERR_STOPPED  the queue is shut down;  -EAGAIN  too many threads;
 *          as ki_client_start();  -ENOMEM. After an error no worker runs.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_controller_start(ki_controller *controller, ki_client *client,
                                            uint32_t workers, ki_error *error);

/** Shuts the queue down, waits until the threads of ki_controller_start() have exited, and releases
 *  the controller as ki_controller_unref() does. Queued keys are processed first, delayed keys are
 *  dropped. Inside `reconcile` it does not wait. Always returns NULL; accepts NULL.
 *  Blocks: yes.  Since: 0.1 */
KI_API ki_controller *ki_controller_close(ki_controller *controller);

KI_AUTO_DEFINE(ki_controller, ki_controller_close)

KI_END_DECLS

#endif
