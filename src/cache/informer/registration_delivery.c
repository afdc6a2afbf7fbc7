/* SPDX-License-Identifier: Apache-2.0 */
/* Delivery: calls a handler for its queued notifications. At most one thread at a time is inside
 * deliver(), which makes callbacks of a handler sequential. It takes some notifications at a time,
 * its hand, and delivers them without the lock. Before each callback it checks, without the lock,
 * whether the handler was removed: when another thread removes it, the one callback that was
 * already decided on may still start, and no other. */
#include <errno.h>

#include "base/error.h"
#include "base/log.h"
#include "base/probe.h"
#include "base/time_units.h"
#include "cache/informer/handler.h"
#include "cache/informer/registration_state.h"

enum { STEP_EVENTS = KI__HAND_MAX };

/* ---- callbacks on this thread ---- */

static _Thread_local const ki__handler_call *calls;

void ki__handler_call_begin(ki__handler_call *call, const ki_registration *registration)
{
    *call = (ki__handler_call){.registration = registration, .outer = calls};
    calls = call;
}

void ki__handler_call_end(const ki__handler_call *call)
{
    calls = call->outer;
}

bool ki__registration_is_inside(const ki_registration *registration)
{
    const ki__handler_call *call = calls;
    while (call != NULL && call->registration != registration) {
        call = call->outer;
    }
    return call != NULL;
}

bool ki__registration_is_calling(const void *user)
{
    const ki__handler_call *call = calls;
    while (call != NULL && call->registration->owner.user != user) {
        call = call->outer;
    }
    return call != NULL;
}

/* ---- calling the handler ---- */

/* For a counter with a single writer. */
static void count_one(_Atomic uint64_t *counter)
{
    uint64_t before = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, before + 1, memory_order_relaxed);
}

static void trace_delivery(const ki_registration *reg, const ki__note *note)
{
    uint32_t now_ms = (uint32_t)(ki__engine_now(reg->engine) / KI__MS_NS);
    KI__PROBE(event_delivered, &reg->name[0], (int)note->type, ki_object_key(note->object),
              now_ms - note->time_ms);
}

/* Calls the handler for each notification, until it is removed. Returns the number of calls. */
static size_t call_for_each(ki_registration *reg, const ki__hand *hand)
{
    size_t count = 0;
    reg->left_out += hand->left_out;
    if (!ki__registration_is_removed(reg)) {
        ki__handler_notify_left_out(&reg->handler, &reg->left_out);
    }
    while (count < hand->count && !ki__registration_is_removed(reg)) {
        const ki__note *note = &hand->notes[count++];
        atomic_store_explicit(&reg->in_hand, hand->count - count, memory_order_relaxed);
        if (KI__PROBE_IS_TRACED(event_delivered)) {
            trace_delivery(reg, note);
        }
        ki__handler_notify(&reg->handler, note, reg->options.as_stored, &reg->left_out);
        count_one(&reg->delivered);
    }
    return count;
}

/* Requires the lock, which is released during the call. */
static size_t call_on_synced(ki_registration *reg)
{
    ki__handler_call call;
    ki__registration_set_sync(reg, KI__REG_HANDLER_KNOWS);
    ki__mutex_unlock(&reg->lock);
    ki__handler_call_begin(&call, reg);
    reg->options.on_synced(reg->options.user);
    ki__handler_call_end(&call);
    ki__mutex_lock(&reg->lock);
    return 1;
}

/* The same for up to `max` events. */
static size_t call_for_some(ki_registration *reg, size_t max)
{
    ki__hand hand;
    if (!ki__handler_queue_take(&reg->queue, max, &hand)) {
        return 0; /* all pending ones were dropped */
    }
    bool initial = hand.notes[0].is_initial;
    if (initial) {
        ki__registration_set_turn(reg, KI__REG_DELIVERING_INITIAL);
    }
    reg->has_hand = true;
    reg->hand_ms = hand.notes[0].time_ms;
    atomic_store_explicit(&reg->in_hand, hand.count, memory_order_relaxed);
    ki__mutex_unlock(&reg->lock);
    ki__handler_call call;
    ki__handler_call_begin(&call, reg);
    size_t count = call_for_each(reg, &hand);
    ki__hand_done(&hand);
    ki__handler_call_end(&call);
    ki__mutex_lock(&reg->lock);
    reg->has_hand = false;
    atomic_store_explicit(&reg->in_hand, 0, memory_order_relaxed);
    if (initial) {
        ki__registration_set_turn(reg, KI__REG_DELIVERING);
    }
    return count;
}

/* ---- delivering ---- */

/* Notifies the owner if the registration has synced and the owner was not notified yet. Requires
 * the lock, which is released during the call. */
static void notify_owner(ki_registration *reg)
{
    bool soon = reg->sync == KI__REG_CATCHING_UP || reg->sync == KI__REG_SYNCED;
    if (soon && ki__registration_look_at_sync(reg)) {
        ki__registration_set_sync(reg, KI__REG_OWNER_KNOWS);
        ki__mutex_unlock(&reg->lock);
        reg->owner.synced(reg->owner.user);
        ki__mutex_lock(&reg->lock);
    }
}

/* When deliver() ends: after a number of calls; when the queue is empty, or enough was delivered
 * and other handlers wait for the thread; when the handler is removed. */
typedef enum stay { STAY_FOR_SOME, STAY_WHILE_UNDISTURBED, STAY_FOR_EVER } stay;

/* Whether to make another call, if anything is pending. */
static bool continues(ki_registration *reg, stay how, size_t count, size_t max)
{
    if (ki__registration_is_removed(reg)) {
        return false;
    }
    return count < max ||
           (how == STAY_WHILE_UNDISTURBED && !ki__pool_has_waiting(ki__engine_pool(reg->engine)));
}

/* Delivery is not possible: another thread or an outer callback of this one delivers, or the
 * handler is removed. Requires the lock, and releases it. */
static int refuse_delivery(ki_registration *reg, ki__place here)
{
    bool left = !reg->left_logged && ki__place_is_left(reg->delivers_at, here);
    reg->left_logged = reg->left_logged || left;
    if (reg->wake == KI__REG_WOKEN) {
        ki__registration_set_wake(reg, KI__REG_WASTED);
    }
    ki__mutex_unlock(&reg->lock);
    if (left) {
        KI__LOG(
            ki__engine_log(reg->engine), KI_LOG_ERROR, "handler",
            "a callback exited by an exception or longjmp(); the handler receives no more events",
            {"name", ki_str_from(reg->name)});
    }
    return KI_ERR_BUSY;
}

/* Requires the lock, which is released during the calls. Returns their number. */
static size_t deliver_locked(ki_registration *reg, size_t max, stay how)
{
    size_t count = 0;
    for (notify_owner(reg); continues(reg, how, count, max); notify_owner(reg)) {
        if (ki__registration_must_call_on_synced(reg)) {
            count += call_on_synced(reg);
        } else if (ki__handler_queue_len(&reg->queue) != 0) {
            count += call_for_some(reg, how == STAY_FOR_SOME ? max - count : KI__HAND_MAX);
        } else if (how == STAY_FOR_EVER) {
            ki__registration_set_wake(reg, KI__REG_ASLEEP);
            ki__cond_wait(&reg->changed, &reg->lock);
        } else {
            break;
        }
    }
    return count;
}

/* Makes up to `max` callbacks, or more depending on `how`; 0: those pending now. Returns their
 * number, or KI_ERR_BUSY. *ret_wake: something is left, and ki__registration_wake() must be
 * called. */
static int deliver(ki_registration *reg, size_t max, stay how, bool *ret_wake)
{
    ki__place place = KI__PLACE_HERE(calls);
    ki__mutex_lock(&reg->lock);
    if (reg->turn != KI__REG_IDLE) {
        return refuse_delivery(reg, place);
    }
    ki__registration_set_turn(reg, KI__REG_DELIVERING);
    ki__registration_set_wake(reg, KI__REG_ASLEEP);
    reg->delivers_at = place;
    if (max == 0) {
        size_t all = ki__handler_queue_len(&reg->queue) + 1; /* plus on_synced() */
        max = all < INT32_MAX ? all : INT32_MAX;
    }
    size_t count = deliver_locked(reg, max, how);
    ki__registration_set_turn(reg, KI__REG_IDLE);
    if (reg->wake == KI__REG_WASTED) {
        ki__registration_set_wake(reg, KI__REG_ASLEEP);
    }
    bool removed = ki__registration_is_removed(reg);
    *ret_wake = ki__registration_claim_wake(reg);
    ki__mutex_unlock(&reg->lock);
    if (removed) {
        ki__registration_finish(reg);
    }
    return (int)(count < INT32_MAX ? count : INT32_MAX);
}

/* Releases the reference of the posted task. */
static void run_posted(ki_registration *reg, stay how)
{
    bool wake = false;
    (void)deliver(reg, STEP_EVENTS, how, &wake);
    if (wake) {
        ki__registration_wake(reg);
    }
    (void)ki_registration_unref(reg);
}

void ki__registration_run_task(ki__task *task)
{
    run_posted(KI__CONTAINER_OF(task, ki_registration, task), STAY_FOR_SOME);
}

void ki__registration_run_job(ki__job *job)
{
    run_posted(KI__CONTAINER_OF(job, ki_registration, job), STAY_WHILE_UNDISTURBED);
}

/* Common part of the functions for callers. */
static int deliver_for_caller(ki_registration *reg, size_t max, stay how)
{
    if (reg->options.delivery != KI_DELIVERY_CALLER) {
        return KI_ERR_UNSUPPORTED;
    }
    if (ki__engine_is_inherited(reg->engine)) {
        return KI_ERR_STOPPED;
    }
    (void)ki_registration_ref(reg); /* a callback may drop the caller's */
    bool wake = false;
    int r = deliver(reg, max, how, &wake);
    bool stopped = r == 0 && ki__registration_is_removed(reg);
    if (wake) {
        ki__registration_wake(reg);
    }
    (void)ki_registration_unref(reg);
    return stopped ? KI_ERR_STOPPED : r;
}

int ki_registration_dispatch(ki_registration *registration, size_t max)
{
    KI__REQUIRE(registration, NULL);
    return deliver_for_caller(registration, max < INT32_MAX ? max : INT32_MAX, STAY_FOR_SOME);
}

int ki_registration_run(ki_registration *registration)
{
    KI__REQUIRE(registration, NULL);
    int r = deliver_for_caller(registration, SIZE_MAX, STAY_FOR_EVER);
    return r < 0 ? r : KI_ERR_STOPPED; /* the only reason it ends */
}
