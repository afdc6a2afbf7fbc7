/* SPDX-License-Identifier: Apache-2.0 */
/* The controller: what a worker does with a key. A key is marked done only after it was added
 * again, so no other worker has it meanwhile; and adding a key that is being processed cannot fail,
 * so none is lost. */
#include "controller/controller.h"

#include <errno.h>

#include <kinformer/worker.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"
#include "base/options.h"
#include "base/process.h"

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
    if (o.queue == NULL || o.reconcile == NULL) {
        return ki__error_set(error, -EINVAL, "controller: queue and reconcile must be set");
    }
    o.alloc = ki__alloc_or_default(o.alloc);
    ki_controller *controller = ki__alloc_zero(o.alloc, sizeof(*controller));
    if (controller == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    r = ki__mutex_init(&controller->lock);
    if (r < 0) {
        ki__free(o.alloc, controller);
        return ki__error_code(error, r);
    }
    ki__refs_init(&controller->refs);
    controller->process = ki__process();
    controller->options = o;
    (void)ki_workqueue_ref(o.queue);
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
    if (controller->workers != NULL) {
        controller->free_workers(controller->workers);
    }
    ki__mutex_done(&controller->lock);
    ki__free(o.alloc, controller);
    (void)ki_workqueue_unref(o.queue);
    if (o.destroy != NULL) {
        o.destroy(o.user); /* last: the program may free the allocator in it */
    }
    return NULL;
}

static void retry(const ki_controller_options *o, const char *key, int r, ki_error *error)
{
    uint32_t failures = ki_workqueue_requeues(o->queue, key);
    failures += failures != UINT32_MAX; /* including this one */
    bool give_up = o->max_retries != 0 && failures > o->max_retries;
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
    r = ki_workqueue_add_rate_limited(o->queue, key);
    ki_assert(r >= 0 || r == KI_ERR_STOPPED); /* shut down: no retries */
}

/* Reconciles a key and requeues it if necessary. The caller marks it as done. */
static void work_on(const ki_controller_options *o, const ki_work *work)
{
    uint64_t retry_after_ms = 0;
    ki_error error = KI_ERROR_INIT;
    int r = o->reconcile(work->key, &retry_after_ms, &error, o->user);
    if (r < 0) {
        retry(o, work->key, r, &error);
    } else {
        ki_workqueue_forget(o->queue, work->key);
        if (retry_after_ms != 0) {
            r = ki_workqueue_add_after(o->queue, work->key, retry_after_ms);
            ki_assert(r >= 0 || r == KI_ERR_STOPPED);
        }
    }
}

int ki_controller_run_worker(ki_controller *controller)
{
    KI__REQUIRE(controller, NULL);
    ki_work work = {NULL, NULL};
    int r;
    while ((r = ki_workqueue_next(controller->options.queue, &work)) >= 0) {
        work_on(&controller->options, &work);
    }
    return r == KI_ERR_STOPPED ? 0 : r;
}

int ki_controller_work_one(ki_controller *controller)
{
    KI__REQUIRE(controller, NULL);
    ki_work work;
    int r = ki_workqueue_try_get(controller->options.queue, &work);
    if (r == 1) {
        work_on(&controller->options, &work);
        ki_workqueue_done(controller->options.queue, &work);
    }
    return r;
}
