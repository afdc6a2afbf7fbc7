/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of a controller, for code that starts its threads: this module starts none. */
#ifndef KI_CONTROLLER_CONTROLLER_H
#define KI_CONTROLLER_CONTROLLER_H

#include <kinformer/async.h>
#include <kinformer/controller.h>
#include <kinformer/worker.h>

#include "base/histogram.h"
#include "base/members.h"
#include "base/refs.h"
#include "base/sync.h"

/* An informer of ki_controller_watch(); the list only grows. */
typedef struct ki__watched {
    struct ki__watched *next;
    ki_informer *informer; /* a reference */
} ki__watched;

/* Labels of controller_runtime_reconcile_total. */
typedef enum ki__reconcile_result {
    KI__RECONCILE_SUCCESS,
    KI__RECONCILE_ERROR,
    KI__RECONCILE_REQUEUE_AFTER,
    KI__RECONCILE_RESULTS
} ki__reconcile_result;

enum { KI__RECONCILE_BOUNDS = 40, KI__CONTROLLER_NAME_MAX = 255 };
extern const uint64_t ki__reconcile_bounds_ns[KI__RECONCILE_BOUNDS];

/* Updated by all workers without a lock; times only if the queue measures them. */
typedef struct ki__controller_stats {
    _Atomic uint64_t results[KI__RECONCILE_RESULTS];
    _Atomic uint64_t given_up;
    _Atomic uint64_t behind; /* keys requeued because a cache was older than own writes */
    _Atomic uint64_t timeouts;
    _Atomic uint64_t active;  /* reconcile functions that run now */
    _Atomic uint64_t started; /* threads of ki_controller_start() */
    _Atomic uint64_t workers; /* threads in ki_controller_run_worker() */
    _Atomic uint64_t times[KI__HISTOGRAM_CELLS(KI__RECONCILE_BOUNDS)];
} ki__controller_stats;

struct ki_controller {
    ki__refs refs;                 /* of the program and of each thread */
    uint64_t process;              /* creating process */
    ki_controller_options options; /* with a reference to the queue */
    ki_async_options async;        /* start is NULL if it is synchronous */
    ki__mutex lock;                /* held while threads are started or joined */
    void *workers;                 /* the threads, or NULL */
    void (*free_workers)(void *workers);
    ki__member member; /* for metrics */
    _Atomic(ki__watched *) watched;
    _Atomic bool stopping;       /* queued keys are dropped */
    _Atomic uint64_t stop_at_ns; /* requests of `reconcile` end, by the queue's clock; 0: none */
    ki__controller_stats stats;
    char name[]; /* in metrics; "" if it has none */
};

/** Ends a reconcile: counts the result, reports a failure, and adds the key again if necessary. The
 *  caller marks it as done. `began_ns` is 0 if times were not measured. */
void ki__controller_finish(ki_controller *controller, const ki_work *work, uint64_t began_ns, int r,
                           uint64_t retry_after_ms, ki_error *error);

/* async.c */

/** Checks and copies the options. */
int ki__async_take(ki_controller *controller, ki_error *error);
/** Starts to reconcile a key, and clears `work`. -ENOMEM: neither. */
int ki__async_start(ki_controller *controller, ki_work *work);
/** As ki_workqueue_next(), for asynchronous reconciles. */
int ki__async_next(ki_controller *controller, ki_work *work);
/** As ki_workqueue_try_get(). If a reconcile has expired, `work` remains empty. */
int ki__async_try_get(ki_controller *controller, ki_work *ret_work);
/** Cancels all pending reconciles. */
void ki__async_cancel(ki_controller *controller);

/** Includes it in the metrics of `owner` and enables measuring of times in its queue. Returns false
 *  if it is already in a list. */
bool ki__controller_join(ki_controller *controller, ki__list *members, const void *owner);

/** Shuts the queue down. Keys are dropped from now on, and requests of running calls of `reconcile`
 *  end after `drain_ns`. */
void ki__controller_stop(ki_controller *controller, uint64_t drain_ns);

/** Releases the informers of ki_controller_watch(); for the end of the controller. */
void ki__controller_unwatch(ki_controller *controller);

#endif
