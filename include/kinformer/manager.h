/* SPDX-License-Identifier: Apache-2.0 */
/* The manager: a client, leader election, an event recorder and controllers in one object, started
 * together, and stopped in the right order.
 *
 *   r = ki_manager_new(KI_OPTIONS(ki_manager_options, .name = "website-controller",
 *                                 .signals = true), &manager, &error);
 *   r = ki_client_informer(ki_manager_client(manager), websites, NULL, &informer, &error);
 *   r = ki_manager_controller(manager, KI_OPTIONS(ki_controller_options, .name = "website",
 *                                                 .reconcile = reconcile), 4, &controller, &error);
 *   r = ki_controller_watch(controller, informer, NULL, &error);
 *   r = ki_manager_run(manager, &error);
 *
 * Start: informers; when they have synced, the election; workers process keys once both allow it.
 * With several replicas, all have synced caches and full queues, and one of them works.
 *
 * Stop, for any ki_stop_reason:
 *   1. controllers take no more keys; running calls of `reconcile` may end, at most `drain_ms`;
 *   2. the recorder sends queued events, at most `flush_ms` of ki_recorder_options: 5 s;
 *   3. the Lease is released, at most one renew deadline: 10 s. Not if a call of `reconcile` is
 *      still running: then the Lease expires by itself;
 *   4. ki_manager_close() calls the functions of ki_manager_on_close(), and closes the client,
 *      which stops the informers. What uses the client, such as controllers, is released before.
 *
 * Health and metrics are those of the client: see checks.h and metrics.h; over HTTP:
 * ki_manager_serve() of monitor_server.h. docs/manager.md describes all of it. */
#ifndef KINFORMER_MANAGER_H
#define KINFORMER_MANAGER_H

#include <kinformer/client.h>
#include <kinformer/controller.h>
#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/leader.h>
#include <kinformer/recorder.h>

KI_BEGIN_DECLS

typedef struct ki_manager ki_manager;

/** Why a manager stops or has stopped. */
typedef enum ki_stop_reason {
    KI_STOP_NONE,       /* it has not */
    KI_STOP_REQUESTED,  /* ki_manager_stop() or ki_manager_close() */
    KI_STOP_SIGNAL,     /* SIGTERM or SIGINT, with `signals` */
    KI_STOP_LEADERSHIP, /* another replica leads, or the Lease could not be renewed in time */
    KI_STOP_SYNC,       /* informers have not synced within sync_timeout_ms */
    KI_STOP_LOOP,       /* the loop of the client was stopped */
    KI_STOP_REASON_MAX
} ki_stop_reason;

/** Returns the name of a reason, such as "signal"; "unknown" for any other number.
 *  Owner: static text.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const char *ki_stop_reason_name(ki_stop_reason reason);

/** What happens when this replica no longer leads. */
typedef enum ki_on_lost {
    KI_ON_LOST_STOP, /* the manager stops, as in controller-runtime: the program should exit */
    /** Controllers wait until the replica leads again. A call of `reconcile` that is running may
     *  continue, but its requests that write fail: see `leader` of ki_controller_options. */
    KI_ON_LOST_WAIT,
    KI_ON_LOST_MAX
} ki_on_lost;

typedef struct ki_manager_options {
    size_t size; /* see KI_OPTIONS_INIT */

    /** Name of the program, such as "website-controller": of events, of the Lease and in the
     *  User-Agent of requests, unless other options set these; required; up to 128 bytes. */
    const char *name;

    /** Kept by reference, and not closed. NULL: a new one with `client_options`, which may be NULL
     *  too. */
    ki_client *client;
    const ki_client_options *client_options;

    /** Leader election: `name` in it is by default that of the manager. NULL: none, every replica
     *  works. */
    const ki_leader_options *election;
    ki_on_lost on_lost;

    /** Stop at SIGTERM or SIGINT. Blocks both in the calling thread, so in all threads that are
     *  started afterwards, permanently, and reads them from a descriptor (signalfd). If a thread
     *  that was started before does not block them, the system may end the process as usual: so
     *  create the manager first. A second signal ends the wait for running calls of `reconcile`.
     *  Without this option no process-wide state is changed. */
    bool signals;

    uint32_t sync_timeout_ms; /* for the initial lists of all informers; 0: no limit */
    uint32_t drain_ms;        /* for running calls of `reconcile` when it stops; 0: 15 s */

    /** Called once, when the manager begins to stop, on a thread of the manager; must not block.
     *  NULL: none. */
    void (*on_stop)(ki_stop_reason reason, void *user);
    void *user;
} ki_manager_options;

/** Creates a manager. Nothing runs before ki_manager_start().
 *  Owner:  caller; release with ki_manager_close().
 *  Thread: any.  Blocks: as ki_client_new().
 *  Errors: -EINVAL  no name, both client and client_options, or an unknown on_lost;
 *          KI_ERR_LIMIT  the name is too long;
 *          as ki_client_new(), ki_leader_new() and ki_recorder_new();  -EMFILE, -ENOMEM, -E2BIG.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_manager_new(const ki_manager_options *options, ki_manager **ret_manager,
                                       ki_error *error);

/** Parts of the manager, valid until it is closed. ki_manager_leader() returns NULL without
 *  election.
 *  Owner: borrowed.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API ki_client *ki_manager_client(const ki_manager *manager);
KI_API ki_recorder *ki_manager_recorder(const ki_manager *manager);
KI_API ki_leader *ki_manager_leader(const ki_manager *manager);

/** Creates a controller that the manager starts with `workers` threads, and stops. Two options have
 *  other defaults than with ki_controller_new(): `leader` is that of the manager, and `consistency`
 *  is a new one, so that no key is reconciled with a cache older than its own writes. With 0
 *  workers no thread is started: the program's own threads or event loop process keys (worker.h).
 *  Owner:  the manager; *ret_controller is valid until it is closed, and may be NULL if it is not
 *          needed. The controller owns `user` of the options on success only.
 *  Thread: any.  Blocks: no.
 *  Errors: as ki_controller_new();  -EINVAL  workers above 10,000;
 *          KI_ERR_BUSY  the manager was started;  -ENOMEM.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_manager_controller(ki_manager *manager,
                                              const ki_controller_options *options,
                                              uint32_t workers, ki_controller **ret_controller,
                                              ki_error *error);

/** Registers a function that ki_manager_close() calls before it closes the client, last one first:
 *  for what uses the client. Not called if a call of `reconcile` never returned.
 *  Thread: any, until ki_manager_close().  Blocks: no.  Errors: -EINVAL, -ENOMEM.  Since: 0.1 */
KI_API KI_NODISCARD int ki_manager_on_close(ki_manager *manager, void (*fn)(void *user), void *user,
                                            ki_error *error);

/** Starts everything, on threads of the client and one of the manager, "ki-manager".
 *  Thread: any.  Blocks: no.
 *  Errors: KI_ERR_EXISTS  it was started before;  as ki_controller_start();
 *          -EAGAIN  too many threads. After an error only ki_manager_close() is useful.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_manager_start(ki_manager *manager, ki_error *error);

/** Requests the stop. Accepts NULL.
 *  Thread: any, including callbacks and `reconcile`.  Blocks: no.  Since: 0.1 */
KI_API void ki_manager_stop(ki_manager *manager);

/** Waits until a started manager has stopped: steps 1 to 3 above are done. Returns 0 if it was
 *  requested or a signal arrived, and all calls of `reconcile` have ended.
 *  Thread: any except those of `reconcile` and callbacks.  Blocks: yes.
 *  Errors: KI_ERR_NOT_LEADER  KI_STOP_LEADERSHIP;
 *          -ETIMEDOUT         KI_STOP_SYNC: the message names the informer and its failure; or a
 *                             call of `reconcile` has not returned within drain_ms;
 *          KI_ERR_STOPPED     KI_STOP_LOOP; or the manager was not started;
 *          KI_ERR_BUSY        called inside `reconcile` or the loop.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_manager_wait(ki_manager *manager, ki_error *error);

/** ki_manager_start() and ki_manager_wait().
 *  Thread, Blocks, Errors: as both.  Since: 0.1 */
KI_API KI_NODISCARD int ki_manager_run(ki_manager *manager, ki_error *error);

/** Returns why the manager stops or has stopped.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API ki_stop_reason ki_manager_reason(const ki_manager *manager);

/** Stops the manager, waits until it has stopped, and frees it: see above. If a call of `reconcile`
 *  has not returned within drain_ms, nothing that it may use is freed: the program should exit.
 *  Always returns NULL; accepts NULL.
 *  Thread: any except those of `reconcile` and callbacks.  Blocks: yes.  Since: 0.1 */
KI_API ki_manager *ki_manager_close(ki_manager *manager);

KI_AUTO_DEFINE(ki_manager, ki_manager_close)

KI_END_DECLS

#endif
