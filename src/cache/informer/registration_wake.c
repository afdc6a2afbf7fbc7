/* SPDX-License-Identifier: Apache-2.0 */
/* Waking the thread that delivers to a handler, after an event was queued:
 *
 * 1. The thread that queues claims the wake-up, with the lock of the registration held. There is
 *    one if something is queued, no wake-up is pending, and no thread delivers, which would check
 *    the queue again before it ends. So there is at most one claim until delivery starts.
 * 2. With no lock held the claim is executed, immediately or after a few more batches:
 *    ki__registration_wake() posts the registration to the threads or to the engine; with
 *    KI_DELIVERY_CALLER it wakes the thread in ki_registration_run(), and calls the program's
 *    wake().
 * 3. Delivery first sets the state to asleep, and checks the queue after that, both with the lock
 *    held: events that are queued later make a new claim. A second thread that tries to deliver
 *    is turned away and its wake-up wasted: if something is left at the end, it is claimed again.
 */
#include "cache/informer/registration_wake.h"

#include "cache/informer/registration_state.h"

/* Limits for delaying wake-ups: number of deltas, or of batches. */
enum { HOLD_DELTAS_MAX = 256, HOLD_BATCHES_MAX = 8 };

/* ---- one registration ---- */

static bool has_wake_hook(const ki_registration *reg)
{
    return reg->options.delivery == KI_DELIVERY_CALLER && reg->options.wake != NULL;
}

static bool has_work(ki_registration *reg)
{
    return !ki__registration_is_removed(reg) &&
           (ki__handler_queue_len(&reg->queue) != 0 || ki__registration_must_call_on_synced(reg));
}

bool ki__registration_claim_wake(ki_registration *registration)
{
    ki_registration *reg = registration;
    bool looks_again = ki__registration_on_thread(reg) && reg->turn != KI__REG_IDLE;
    if (reg->wake != KI__REG_ASLEEP || looks_again || !has_work(reg)) {
        return false;
    }
    ki__registration_set_wake(reg, KI__REG_WOKEN);
    reg->in_wake_hook += has_wake_hook(reg);
    return true;
}

/* Posts delivery to the engine or a thread. A posted task holds a reference. */
static void post(ki_registration *reg)
{
    ki__refs_take(&reg->refs);
    bool posted = ki__registration_on_thread(reg)
                      ? ki__pool_post(ki__engine_pool(reg->engine), &reg->job)
                      : ki__engine_post(reg->engine, &reg->task);
    if (!posted) {
        (void)ki_registration_unref(reg); /* already posted, with its own reference */
    }
}

void ki__registration_withdraw(ki_registration *registration)
{
    ki_registration *reg = registration;
    bool was_posted = ki__registration_on_thread(reg)
                          ? ki__pool_unpost(ki__engine_pool(reg->engine), &reg->job)
                          : ki__engine_unpost(reg->engine, &reg->task);
    if (was_posted) {
        (void)ki_registration_unref(reg);
    }
}

/* The claim has counted it, so the handler is not destroyed meanwhile. */
static void call_wake_hook(ki_registration *reg)
{
    ki__handler_call call;
    ki__handler_call_begin(&call, reg);
    reg->options.wake(reg->options.user);
    ki__handler_call_end(&call);
    ki__mutex_lock(&reg->lock);
    reg->in_wake_hook--;
    ki__mutex_unlock(&reg->lock);
    ki__registration_finish(reg); /* it may have been removed meanwhile */
}

void ki__registration_wake(ki_registration *registration)
{
    ki_registration *reg = registration;
    if (reg->options.delivery != KI_DELIVERY_CALLER) {
        post(reg);
        if (ki__registration_is_removed(reg)) { /* by a thread that came before it was posted */
            ki__registration_withdraw(reg);
        }
        return;
    }
    ki__cond_wake_all(&reg->changed); /* after unlocking, so that the woken thread can lock */
    if (has_wake_hook(reg)) {
        call_wake_hook(reg);
    }
}

/* ---- registrations of an informer ---- */

void ki__wake_list_init(ki__wake_list *list)
{
    ki__list_init(&list->now);
    ki__list_init(&list->later);
    list->deltas = 0;
    list->batches = 0;
}

/* Delivery on the engine is posted immediately, so that it runs before the next batch; a hook of
 * the program is called immediately, since its purpose is unknown. */
static bool may_sleep_on(const ki_registration *reg)
{
    return reg->options.delivery != KI_DELIVERY_LOOP && !has_wake_hook(reg);
}

void ki__wake_list_add(ki__wake_list *list, ki_registration *registration)
{
    ki__registration_entry *entry = ki__registration_entry_of(registration);
    if (ki__list_is_empty(&entry->wake_link)) { /* a caller may dispatch before it is woken */
        ki__refs_take(&registration->refs);
        ki__list_push_back(may_sleep_on(registration) ? &list->later : &list->now,
                           &entry->wake_link);
    }
}

static void send(ki__list *links)
{
    ki__list *link;
    while ((link = ki__list_pop_front(links)) != NULL) {
        ki_registration *registration =
            ki__registration_of_entry(KI__CONTAINER_OF(link, ki__registration_entry, wake_link));
        ki__registration_wake(registration);
        (void)ki_registration_unref(registration);
    }
}

void ki__wake_list_send(ki__wake_list *list)
{
    send(&list->now);
}

void ki__wake_list_send_all(ki__wake_list *list)
{
    list->deltas = 0;
    list->batches = 0;
    send(&list->later);
    send(&list->now);
}

bool ki__wake_list_hold(ki__wake_list *list, size_t deltas)
{
    if (ki__list_is_empty(&list->later)) {
        return false;
    }
    list->deltas += deltas;
    list->batches++;
    bool hold = deltas != 0 && list->deltas < HOLD_DELTAS_MAX && list->batches < HOLD_BATCHES_MAX;
    if (!hold) {
        ki__wake_list_send_all(list);
    }
    return hold;
}
