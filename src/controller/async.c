/* SPDX-License-Identifier: Apache-2.0 */
/* Asynchronous reconciles: each is a hold of its key, see workqueue/hold.c, which decides whether
 * it is completed, expires or is canceled. */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"
#include "base/options.h"
#include "base/process.h"
#include "base/time_units.h"
#include "controller/controller.h"
#include "workqueue/workqueue_state.h"

enum { TIMEOUT_MS = 60000, PENDING = 100 };

struct ki_reconcile {
    ki__refs refs;             /* of the program, and of the controller until the hold has ended */
    ki_controller *controller; /* with a reference */
    ki__hold hold;
    uint64_t began_ns;
    char key[]; /* a copy: that of the queue is invalid after the end of the hold */
};

int ki__async_take(ki_controller *controller, ki_error *error)
{
    const ki_async_options *theirs = controller->options.async;
    controller->options.async = NULL;
    if (theirs == NULL) {
        return 0;
    }
    ki_async_options *o = &controller->async;
    int r = KI__TAKE(ki_async_options, o, theirs, error);
    if (r < 0) {
        return r;
    }
    if (o->start == NULL) {
        return ki__error_set(error, -EINVAL, "async: start must be set");
    }
    o->timeout_ms = o->timeout_ms != 0 ? o->timeout_ms : TIMEOUT_MS;
    o->max_pending = o->max_pending != 0 ? o->max_pending : PENDING;
    return 0;
}

static void release(ki_reconcile *call)
{
    if (ki__refs_drop(&call->refs)) {
        ki_controller *controller = call->controller;
        ki__free(controller->options.alloc, call);
        (void)ki_controller_unref(controller);
    }
}

/* UINT64_MAX means never in the heap of deadlines, so it is not used. */
static uint64_t deadline_of(const ki_controller *controller)
{
    uint64_t now_ns = ki__workqueue_now(controller->options.queue);
    uint64_t when_ns;
    if (controller->async.timeout_ms == UINT32_MAX ||
        __builtin_add_overflow(now_ns, ki__ms_to_ns(controller->async.timeout_ms), &when_ns)) {
        return UINT64_MAX - 1;
    }
    return when_ns;
}

int ki__async_start(ki_controller *controller, ki_work *work)
{
    ki_workqueue *queue = controller->options.queue;
    size_t len = strlen(work->key);
    ki_reconcile *call = ki__alloc_zero(controller->options.alloc, sizeof(*call) + len + 1);
    if (call == NULL) {
        return -ENOMEM;
    }
    memcpy(call->key, work->key, len);
    ki__refs_init(&call->refs);
    ki__refs_take(&call->refs);
    call->controller = controller;
    call->hold.owner = controller;
    call->began_ns = ki__workqueue_measures(queue) ? ki__workqueue_now(queue) : 0;
    int r = ki__hold_begin(queue, &call->hold, work, deadline_of(controller));
    if (r < 0) {
        ki__free(controller->options.alloc, call);
        return r;
    }
    (void)ki_controller_ref(controller);
    controller->async.start(call, controller->options.user);
    return 0;
}

/* Ends a call whose deadline has passed, or which is canceled because the controller is closed. */
static void end(ki__hold *hold, int why)
{
    ki_reconcile *call = KI__CONTAINER_OF(hold, ki_reconcile, hold);
    ki_controller *controller = call->controller;
    if (controller->async.cancel != NULL) {
        controller->async.cancel(call, controller->options.user);
    }
    if (why == -ETIMEDOUT) {
        ki_error error = KI_ERROR_INIT;
        (void)ki__error_set(&error, why, "reconcile: not completed within %u ms",
                            controller->async.timeout_ms);
        ki__controller_finish(controller, &hold->work, call->began_ns, why, 0, &error);
    } else {
        ki__counter_add(&controller->stats.active, UINT64_MAX); /* one less */
    }
    ki__hold_done(controller->options.queue, hold);
    release(call);
}

int ki__async_next(ki_controller *controller, ki_work *work)
{
    ki__hold_taker taker = {.max = controller->async.max_pending};
    int r;
    while ((r = ki__hold_next(controller->options.queue, work, &taker)) == KI__HOLD_EXPIRED) {
        end(taker.expired, -ETIMEDOUT);
    }
    return r;
}

int ki__async_try_get(ki_controller *controller, ki_work *ret_work)
{
    ki__hold_taker taker = {.max = controller->async.max_pending};
    int r = ki__hold_try_get(controller->options.queue, ret_work, &taker);
    if (r == KI__HOLD_EXPIRED) {
        end(taker.expired, -ETIMEDOUT);
        return 1;
    }
    return r;
}

void ki__async_cancel(ki_controller *controller)
{
    ki__hold *hold;
    while ((hold = ki__hold_cancel(controller->options.queue, controller)) != NULL) {
        end(hold, -ECANCELED);
    }
}

const char *ki_reconcile_key(const ki_reconcile *call)
{
    return call->key;
}

int ki_reconcile_complete(ki_reconcile *call, int result, uint64_t retry_after_ms,
                          const ki_error *error)
{
    KI__REQUIRE(call, NULL);
    ki_controller *controller = call->controller;
    KI__REQUIRE_OWN(controller->process, NULL);
    int r = ki__hold_claim(controller->options.queue, &call->hold);
    if (r == 0) {
        ki_error details = KI_ERROR_INIT;
        if (error != NULL && result < 0) {
            ki__error_copy(&details, error);
        }
        ki__controller_finish(controller, &call->hold.work, call->began_ns, result, retry_after_ms,
                              &details);
        ki__hold_done(controller->options.queue, &call->hold);
        release(call);
    }
    release(call);
    return r;
}
