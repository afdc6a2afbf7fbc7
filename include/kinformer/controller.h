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

/** Parts of an object, for `changed` of ki_enqueue_options. */
enum {
    KI_CHANGED_GENERATION = 1, /* metadata.generation: the server increments it with each change of
                                  the spec, and when a deletion begins. Some built-in resources,
                                  such as ConfigMaps, have none */
    KI_CHANGED_LABELS = 2,
    KI_CHANGED_ANNOTATIONS = 4
};

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
    void *user; /* for map and predicate */

    /** Priorities of the keys, see ki_workqueue_add_with(): of changes, and of initial additions
     *  and resyncs, for which KI_PRIORITY_LOW lets changes overtake the objects that a program
     *  finds when it starts. 0, the default: as other adds. A map function sets its own. */
    int32_t priority;
    int32_t initial_priority;

    /** Ignores updates in which none of these parts has changed, such as KI_CHANGED_GENERATION |
     *  KI_CHANGED_LABELS, and all resyncs. Additions and deletions are never ignored. 0: none is.
     *  As Or() of controller-runtime's predicates of these names. */
    uint32_t changed;

    /** Ignores changes for which it returns false, in addition to `changed`. `change->old` is the
     *  state before, as delivered to this handler. Runs as a handler with the default delivery.
     *  NULL: none. */
    bool (*predicate)(const ki_change *change, void *user);
} ki_enqueue_options;

/** Adds the key of the object to a work queue for every change of an informer, including initial
 *  additions and resyncs. `options` may be NULL. A key that cannot be added, because memory is
 *  exhausted or the queue has too many keys, is reported (see on_report of ki_loop_options) and
 *  retried with the next change. Changes after the queue was shut down are ignored.
 *  Owner:  it holds a reference to the queue until the informer has stopped.
 *  Thread: any.  Blocks: no.
 *  Errors: -EINVAL  both owner and map are set, a priority is out of range, or `changed` has
 *                   unknown bits;
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
    /** The controller takes a reference. NULL: a queue of its own, with the default options. */
    ki_workqueue *queue;

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

    /** Workers process keys only while this replica leads; meanwhile keys wait in the queue. Writes
     *  of `reconcile`, by requests on its thread, are sent only if the replica still leads in the
     *  term in which the call began; otherwise they fail with KI_ERR_NOT_LEADER. The controller
     *  takes a reference. NULL: always. Close the controller before the leader. */
    ki_leader *leader;

    /** A key is not reconciled before the caches are past its recorded writes; until then it is
     *  added to the queue again after delays from 5 ms to 1.3 s, which is not counted as a failure.
     *  Writes of `reconcile` are recorded: see ki_controller_watch(). The controller takes a
     *  reference. NULL: no check. */
    ki_consistency *consistency;

    /** Functions that start a reconcile, instead of `reconcile`; it is completed later. Copied. */
    const ki_async_options *async;

    /** Time limit of a call of `reconcile`. A function cannot be interrupted, so this limits what
     *  it waits for: requests that it makes on its thread end with -ETIMEDOUT when the time is
     *  over, and those that it makes later fail at once. Other code can check
     *  ki_reconcile_left_ms(). Calls that take longer nevertheless are counted as timeouts. 0: no
     *  limit. Asynchronous reconciles have `timeout_ms` of their own. */
    uint32_t reconcile_timeout_ms;
} ki_controller_options;

/** Creates a controller.
 *  Owner:  caller; release with ki_controller_unref(). On success only, it owns `user`.
 *  Blocks: no.
 *  Errors: -EINVAL  not exactly one of reconcile and async is set;
 *          KI_ERR_LIMIT  the name is too long;
 *          -ENOMEM, -E2BIG.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_controller_new(const ki_controller_options *options,
                                          ki_controller **ret_controller, ki_error *error);

/** Takes and releases references. ki_controller_unref() always returns NULL; both accept NULL.
 *  Blocks: no.  Since: 0.1 */
KI_API ki_controller *ki_controller_ref(ki_controller *controller);
KI_API ki_controller *ki_controller_unref(ki_controller *controller);

/** Returns the queue of a controller.  Owner: borrowed.  Blocks: no.  Since: 0.1 */
KI_API ki_workqueue *ki_controller_queue(const ki_controller *controller);

/** Adds the keys of changed objects to the queue of the controller: ki_informer_enqueue(). If the
 *  controller has a ki_consistency, the informer is added to it, and `reconcile` then need not
 *  record writes of this resource: those by ki_client_do() and its short forms, on the thread of
 *  `reconcile`, are recorded for the key that it reconciles. Deletions are not. An informer with
 *  KI_QUEUE_DELTA_FIFO is watched without this.
 *  Owner:  the controller takes a reference to the informer.  Blocks: no.
 *  Errors: as ki_informer_enqueue() and ki_consistency_add_informer();  -ENOMEM.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_controller_watch(ki_controller *controller, ki_informer *informer,
                                            const ki_enqueue_options *options, ki_error *error);

/** Inside `reconcile`, on its thread: returns how much of its time is left, in milliseconds; 0 if
 *  it is over or the controller was stopped. UINT32_MAX if there is no limit, and anywhere else.
 *  Blocks: no.  Since: 0.1 */
KI_API uint32_t ki_reconcile_left_ms(void);

typedef struct ki_controller_stats {
    size_t size;        /* see KI_OPTIONS_INIT */
    uint64_t succeeded; /* calls of `reconcile` that returned 0 or more, */
    uint64_t requeued;  /* those that also set *retry_after_ms, */
    uint64_t failed;    /* and those that failed, for any reason */
    uint64_t given_up;  /* keys, after max_retries */
    uint64_t timeouts;  /* calls that took longer than reconcile_timeout_ms */
    uint64_t active;    /* calls that run now */
    uint64_t workers;   /* threads that process keys */
} ki_controller_stats;

/** Fills *ret_stats.  Blocks: no.  Errors: -EINVAL.  Since: 0.1 */
KI_API int ki_controller_get_stats(const ki_controller *controller, ki_controller_stats *ret_stats);

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

/** Stops the controller: shuts the queue down, drops queued and delayed keys, and waits until no
 *  call of `reconcile` is running, at most `drain_ms`. Requests of running calls end after that
 *  time, as after a timeout. Returns 1, or 0 if a call is still running: then
 *  ki_controller_close() would wait for it. May be called again.
 *  Blocks: yes; inside `reconcile` it does not wait, and returns 0.  Since: 0.1 */
KI_API KI_NODISCARD int ki_controller_stop(ki_controller *controller, uint32_t drain_ms);

/** Shuts the queue down, waits until the threads of ki_controller_start() have exited, and releases
 *  the controller as ki_controller_unref() does. Queued keys are processed first, unless it was
 *  stopped, and delayed keys are dropped. Inside `reconcile` it does not wait. Always returns NULL;
 *  accepts NULL.
 *  Blocks: yes.  Since: 0.1 */
KI_API ki_controller *ki_controller_close(ki_controller *controller);

KI_AUTO_DEFINE(ki_controller, ki_controller_close)

KI_END_DECLS

#endif
