/* SPDX-License-Identifier: Apache-2.0 */
/* The controller: what a worker does with a key. A key is marked done only after it was added
 * again, so no other worker has it meanwhile; and adding a key that is being processed cannot fail,
 * so none is lost. */
#include "controller/controller.h"

#include <errno.h>
#include <string.h>

#include <kinformer/worker.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"
#include "base/options.h"
#include "base/process.h"
#include "controller/consistency.h"
#include "controller/leader.h"
#include "controller/scope.h"
#include "workqueue/workqueue_state.h"

/* The queue of the options, or a new one. */
static int take_queue(ki_controller_options *o, ki_error *error)
{
    ki_workqueue_options options = KI_OPTIONS_INIT(ki_workqueue_options);
    options.alloc = o->alloc;
    options.name = o->name;
    if (o->queue == NULL) {
        return ki_workqueue_new(&options, &o->queue, error);
    }
    (void)ki_workqueue_ref(o->queue);
    return 0;
}

int ki_controller_new(const ki_controller_options *options, ki_controller **ret_controller,
                      ki_error *error)
{
    KI__REQUIRE(options, error);
    KI__REQUIRE(ret_controller, error);
    ki_controller_options o;
    int r = KI__TAKE(ki_controller_options, &o, options, error);
    if (r < 0) {
        return r;
    }
    if ((o.reconcile == NULL) == (o.async == NULL)) {
        return ki__error_set(error, -EINVAL, "controller: either reconcile or async must be set");
    }
    ki_str name = ki_str_from(o.name);
    if (name.len > KI__CONTROLLER_NAME_MAX) {
        return ki__error_set(error, KI_ERR_LIMIT, "name: longer than %d bytes",
                             KI__CONTROLLER_NAME_MAX);
    }
    o.alloc = ki__alloc_or_default(o.alloc);
    ki_controller *controller = ki__alloc_zero(o.alloc, sizeof(*controller) + name.len + 1);
    if (controller == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    controller->options = o;
    r = ki__async_take(controller, error);
    if (r < 0) {
        ki__free(o.alloc, controller);
        return r;
    }
    r = ki__mutex_init(&controller->lock);
    if (r < 0) {
        ki__free(o.alloc, controller);
        return ki__error_code(error, r);
    }
    r = take_queue(&o, error);
    if (r < 0) {
        ki__mutex_done(&controller->lock);
        ki__free(o.alloc, controller);
        return r;
    }
    ki__refs_init(&controller->refs);
    controller->process = ki__process();
    controller->options.queue = o.queue;
    controller->options.name = controller->name;
    if (name.len != 0) {
        memcpy(controller->name, name.ptr, name.len);
    }
    (void)ki_leader_ref(o.leader);
    (void)ki_consistency_ref(o.consistency);
    *ret_controller = controller;
    return 0;
}

ki_controller *ki_controller_ref(ki_controller *controller)
{
    if (controller != NULL) {
        ki__refs_take(&controller->refs);
    }
    return controller;
}

ki_controller *ki_controller_unref(ki_controller *controller)
{
    if (controller == NULL || !ki__refs_drop(&controller->refs) ||
        ki__is_inherited(controller->process)) {
        return NULL;
    }
    const ki_controller_options o = controller->options;
    ki__members_leave(&controller->member);
    if (controller->workers != NULL) {
        controller->free_workers(controller->workers);
    }
    ki__controller_unwatch(controller);
    ki__mutex_done(&controller->lock);
    ki__free(o.alloc, controller);
    (void)ki_workqueue_unref(o.queue);
    (void)ki_leader_unref(o.leader);
    (void)ki_consistency_unref(o.consistency);
    if (o.destroy != NULL) {
        o.destroy(o.user); /* last: the program may free the allocator in it */
    }
    return NULL;
}

bool ki__controller_join(ki_controller *controller, ki__list *members, const void *owner)
{
    if (!ki__members_join(members, &controller->member, KI__MEMBER_CONTROLLER, owner)) {
        return false;
    }
    ki__workqueue_measure(controller->options.queue);
    return true;
}

/* ---- a key ---- */

#define MS(n) (UINT64_C(1000000) * (n))
const uint64_t ki__reconcile_bounds_ns[KI__RECONCILE_BOUNDS] = {
    MS(5),     MS(10),    MS(25),    MS(50),    MS(100),   MS(150),   MS(200),   MS(250),
    MS(300),   MS(350),   MS(400),   MS(450),   MS(500),   MS(600),   MS(700),   MS(800),
    MS(900),   MS(1000),  MS(1250),  MS(1500),  MS(1750),  MS(2000),  MS(2500),  MS(3000),
    MS(3500),  MS(4000),  MS(4500),  MS(5000),  MS(6000),  MS(7000),  MS(8000),  MS(9000),
    MS(10000), MS(15000), MS(20000), MS(25000), MS(30000), MS(40000), MS(50000), MS(60000),
};

static void retry(ki_controller *controller, const ki_work *work, int r, ki_error *error)
{
    const char *key = work->key;
    const ki_controller_options *o = &controller->options;
    uint32_t failures = ki_workqueue_requeues(o->queue, key);
    failures += failures != UINT32_MAX; /* including this one */
    bool give_up = o->max_retries != 0 && failures > o->max_retries;
    ki__counter_add(&controller->stats.given_up, give_up);
    if (o->on_error != NULL) {
        if (error->code != r) {
            (void)ki__error_code(error, r);
        }
        o->on_error(key, error, failures, give_up, o->user);
    }
    if (give_up) {
        ki_workqueue_forget(o->queue, key);
        return;
    }
    r = ki_workqueue_add_with(
        o->queue, key,
        KI_OPTIONS(ki_add_options, .priority = ki_work_priority(work), .rate_limited = true));
    ki_assert(r >= 0 || r == KI_ERR_STOPPED); /* shut down: no retries */
}

static void requeue(ki_workqueue *queue, const ki_work *work, uint64_t after_ms)
{
    int r = ki_workqueue_add_with(
        queue, work->key,
        KI_OPTIONS(ki_add_options, .priority = ki_work_priority(work), .delay_ms = after_ms));
    ki_assert(r >= 0 || r == KI_ERR_STOPPED);
}

void ki__controller_finish(ki_controller *controller, const ki_work *work, uint64_t began_ns, int r,
                           uint64_t retry_after_ms, ki_error *error)
{
    const ki_controller_options *o = &controller->options;
    ki__controller_stats *stats = &controller->stats;
    ki__counter_add(&stats->active, UINT64_MAX); /* one less */
    if (began_ns != 0) {
        ki__histogram_observe(stats->times, ki__reconcile_bounds_ns, KI__RECONCILE_BOUNDS,
                              ki__workqueue_now(o->queue) - began_ns);
    }
    ki__reconcile_result result = r < 0                 ? KI__RECONCILE_ERROR
                                  : retry_after_ms != 0 ? KI__RECONCILE_REQUEUE_AFTER
                                                        : KI__RECONCILE_SUCCESS;
    ki__counter_add(&stats->results[result], 1);
    if (r < 0) {
        retry(controller, work, r, error);
        return;
    }
    ki_workqueue_forget(o->queue, work->key);
    if (retry_after_ms != 0) {
        requeue(o->queue, work, retry_after_ms);
    }
}

/* Reconciles a key, or starts to, and requeues it if necessary. The caller marks it as done. */
static void work_on(ki_controller *controller, ki_work *work)
{
    const ki_controller_options *o = &controller->options;
    uint64_t retry_after_ms = 0;
    if (!ki__consistency_check(o->consistency, work->key, &retry_after_ms)) {
        ki__counter_add(&controller->stats.behind, 1);
        requeue(o->queue, work, retry_after_ms);
        return;
    }
    uint64_t began_ns = ki__workqueue_measures(o->queue) ? ki__workqueue_now(o->queue) : 0;
    ki__counter_add(&controller->stats.active, 1);
    ki_error error = KI_ERROR_INIT;
    int r;
    if (o->reconcile == NULL) {
        r = ki__async_start(controller, work);
        if (r == 0) {
            return;
        }
    } else {
        ki__scope scope;
        ki__scope_enter(&scope, controller, work->key);
        r = o->reconcile(work->key, &retry_after_ms, &error, o->user);
        ki__scope_leave(&scope);
    }
    ki__controller_finish(controller, work, began_ns, r, retry_after_ms, &error);
}

/* ---- leader election ---- */

static bool may_work(const ki_controller *controller)
{
    return controller->options.leader == NULL || ki_leader_is(controller->options.leader);
}

static bool is_shutting_down(const void *queue)
{
    return ki_workqueue_is_shutting_down((ki_workqueue *)(uintptr_t)queue);
}

/* Returns the key to the queue, and waits until this replica leads or the queue is shut down. */
static void wait_for_turn(ki_controller *controller, ki_work *work)
{
    ki_workqueue *queue = controller->options.queue;
    requeue(queue, work, 0); /* unless it is shut down: then others process it */
    ki_workqueue_done(queue, work);
    ki__leader_wait(controller->options.leader, is_shutting_down, queue);
}

void ki__controller_stop(ki_controller *controller, uint64_t drain_ns)
{
    ki_workqueue *queue = controller->options.queue;
    uint64_t stop_at = ki__workqueue_now(queue) + drain_ns;
    atomic_store(&controller->stop_at_ns, stop_at != 0 ? stop_at : 1);
    atomic_store(&controller->stopping, true);
    ki_workqueue_shut_down(queue);
    if (controller->options.leader != NULL) {
        ki__leader_wake(controller->options.leader);
    }
}

/* ---- workers ---- */

static int next(ki_controller *controller, ki_work *work)
{
    return controller->options.reconcile == NULL
               ? ki__async_next(controller, work)
               : ki_workqueue_next(controller->options.queue, work);
}

int ki_controller_run_worker(ki_controller *controller)
{
    KI__REQUIRE(controller, NULL);
    ki_work work = {NULL, NULL};
    int r;
    ki__counter_add(&controller->stats.workers, 1);
    while ((r = next(controller, &work)) >= 0) {
        if (atomic_load(&controller->stopping)) {
            continue; /* the key is dropped */
        }
        if (may_work(controller)) {
            work_on(controller, &work);
        } else {
            wait_for_turn(controller, &work);
        }
    }
    ki__counter_add(&controller->stats.workers, UINT64_MAX); /* one less */
    return r == KI_ERR_STOPPED ? 0 : r;
}

int ki_controller_work_one(ki_controller *controller)
{
    KI__REQUIRE(controller, NULL);
    ki_work work = {NULL, NULL};
    if (!may_work(controller)) {
        return 0;
    }
    int r = controller->options.reconcile == NULL
                ? ki__async_try_get(controller, &work)
                : ki_workqueue_try_get(controller->options.queue, &work);
    if (work.entry != NULL) {
        if (!atomic_load(&controller->stopping)) {
            work_on(controller, &work);
        }
        ki_workqueue_done(controller->options.queue, &work);
    }
    return r;
}

int ki_controller_timeout(ki_controller *controller)
{
    KI__REQUIRE(controller, NULL);
    ki_workqueue *queue = controller->options.queue;
    size_t max = controller->options.reconcile == NULL ? controller->async.max_pending : SIZE_MAX;
    return may_work(controller)
               ? ki__workqueue_timeout_until(queue, ki__hold_next_deadline(queue, max))
               : -1;
}
