/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of a controller, for code that starts its threads: this module starts none. */
#ifndef KI_CONTROLLER_CONTROLLER_H
#define KI_CONTROLLER_CONTROLLER_H

#include <kinformer/controller.h>

#include "base/histogram.h"
#include "base/members.h"
#include "base/refs.h"
#include "base/sync.h"

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
    _Atomic uint64_t active;  /* reconcile functions that run now */
    _Atomic uint64_t started; /* threads of ki_controller_start() */
    _Atomic uint64_t workers; /* threads in ki_controller_run_worker() */
    _Atomic uint64_t times[KI__HISTOGRAM_CELLS(KI__RECONCILE_BOUNDS)];
} ki__controller_stats;

struct ki_controller {
    ki__refs refs;                 /* of the program and of each thread */
    uint64_t process;              /* creating process */
    ki_controller_options options; /* with a reference to the queue */
    ki__mutex lock;                /* held while threads are started or joined */
    void *workers;                 /* the threads, or NULL */
    void (*free_workers)(void *workers);
    ki__member member; /* for metrics */
    ki__controller_stats stats;
    char name[]; /* in metrics; "" if it has none */
};

/** Includes it in the metrics of `owner` and enables measuring of times in its queue. Returns false
 *  if it is already in a list. */
bool ki__controller_join(ki_controller *controller, ki__list *members, const void *owner);

#endif
