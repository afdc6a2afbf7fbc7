/* SPDX-License-Identifier: Apache-2.0 */
/* A registration: creation, queries, removal and destruction. The handler is destroyed by the
 * thread that finds it removed, while no thread delivers or is inside the program's wake(). */
#include <errno.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"
#include "base/options.h"
#include "base/time_units.h"
#include "cache/informer/registration_state.h"

enum { LIMIT_DEFAULT = 1024, NAME_MAX_BYTES = 256 };

/* ---- creation and destruction ---- */

static int init_locks(ki_registration *reg)
{
    int r = ki__mutex_init(&reg->lock);
    if (r < 0) {
        return r;
    }
    r = ki__cond_init(&reg->changed);
    if (r < 0) {
        ki__mutex_done(&reg->lock);
    }
    return r;
}

static int check_options(const ki_engine *engine, const ki_handler_options *options,
                         ki_handler_options *ret_options, ki_error *error)
{
    ki_handler_options o = {0};
    int r = KI__TAKE(ki_handler_options, &o, options, error);
    if (r < 0) {
        return r;
    }
    if ((unsigned)o.delivery > KI_DELIVERY_THREAD) {
        return ki__error_set(error, -EINVAL, "delivery: unknown value");
    }
    bool threads = ki__engine_pool(engine) != NULL;
    if (o.delivery == KI_DELIVERY_THREAD && !threads) {
        return ki__error_set(error, KI_ERR_UNSUPPORTED,
                             "delivery: KI_DELIVERY_THREAD requires a loop without no_threads");
    }
    if (o.delivery == KI_DELIVERY_DEFAULT) {
        o.delivery = threads ? KI_DELIVERY_THREAD : KI_DELIVERY_LOOP;
    }
    if (ki_str_from(o.name).len > NAME_MAX_BYTES) {
        return ki__error_set(error, KI_ERR_LIMIT, "handler name: longer than %d bytes",
                             NAME_MAX_BYTES);
    }
    o.queue_limit = o.queue_limit != 0 ? o.queue_limit : LIMIT_DEFAULT;
    *ret_options = o;
    return 0;
}

int ki__registration_new(ki_engine *engine, const ki_handler *handler,
                         const ki_handler_options *options, const ki__registration_owner *owner,
                         ki_registration **ret_registration, ki_error *error)
{
    ki_handler_options o = {0};
    int r = check_options(engine, options, &o, error);
    if (r < 0) {
        return r;
    }
    ki_handler taken;
    r = KI__TAKE(ki_handler, &taken, handler, error);
    if (r < 0) {
        return r;
    }
    const ki_alloc *alloc = ki__engine_alloc(engine);
    ki_str name = ki_str_from(o.name);
    ki_registration *reg = ki__alloc_zero(alloc, sizeof(*reg) + name.len + 1);
    if (reg == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    r = init_locks(reg);
    if (r < 0) {
        ki__free(alloc, reg);
        return ki__error_code(error, r);
    }
    ki__refs_init(&reg->refs);
    reg->engine = ki_engine_ref(engine);
    reg->handler = taken;
    reg->options = o;
    reg->owner = *owner;
    reg->entry.requested_ms = o.resync_ms;
    ki__list_init(&reg->entry.link);
    ki__list_init(&reg->entry.wake_link);
    ki__task_init(&reg->task, ki__registration_run_task);
    ki__job_init(&reg->job, ki__registration_run_job);
    ki__handler_queue_init(&reg->queue, alloc, ki__engine_hash_key(engine), o.queue_limit);
    reg->queue.note_bytes = owner->note_bytes;
    if (name.len != 0) {
        memcpy(reg->name, name.ptr, name.len);
    }
    *ret_registration = reg;
    return 0;
}

int ki__registration_start(ki_registration *registration)
{
    return ki__registration_on_thread(registration)
               ? ki__pool_enter(ki__engine_pool(registration->engine))
               : 0;
}

ki_registration *ki_registration_ref(ki_registration *registration)
{
    if (registration != NULL) {
        ki__refs_take(&registration->refs);
    }
    return registration;
}

ki_registration *ki_registration_unref(ki_registration *registration)
{
    if (registration == NULL || !ki__refs_drop(&registration->refs) ||
        ki__engine_is_inherited(registration->engine)) {
        return NULL;
    }
    ki_registration *reg = registration;
    ki_engine *engine = reg->engine;
    ki_assert(reg->life == KI__REG_OVER); /* its owner held it until then */
    ki__handler_queue_done(&reg->queue);
    ki__cond_done(&reg->changed);
    ki__mutex_done(&reg->lock);
    reg->owner.release(reg->owner.user);
    ki__free(ki__engine_alloc(engine), reg);
    (void)ki_engine_unref(engine);
    return NULL;
}

static void leave_pool(ki_registration *reg)
{
    if (ki__registration_on_thread(reg)) {
        ki__pool_leave(ki__engine_pool(reg->engine));
    }
}

void ki__registration_abandon(ki_registration *registration, bool started)
{
    ki__mutex_lock(&registration->lock);
    ki__registration_set_life(registration, KI__REG_OVER);
    ki__mutex_unlock(&registration->lock);
    if (started) {
        leave_pool(registration);
    }
    (void)ki_registration_unref(registration);
}

ki__registration_entry *ki__registration_entry_of(ki_registration *registration)
{
    return &registration->entry;
}

ki_registration *ki__registration_of_entry(ki__registration_entry *entry)
{
    return KI__CONTAINER_OF(entry, ki_registration, entry);
}

/* ---- queries ---- */

bool ki_registration_has_synced(ki_registration *registration)
{
    ki__mutex_lock(&registration->lock);
    bool synced = ki__registration_look_at_sync(registration);
    ki__mutex_unlock(&registration->lock);
    return synced;
}

ki_registration_stats ki__registration_stats(ki_registration *registration)
{
    ki_registration_stats stats = {
        .size = sizeof(stats),
        .delivered = atomic_load_explicit(&registration->delivered, memory_order_relaxed),
    };
    ki__mutex_lock(&registration->lock);
    stats.merged = registration->merged;
    if (registration->life < KI__REG_DESTROYING) {
        stats.merged = registration->queue.merged;
        stats.waiting = ki__handler_queue_len(&registration->queue) +
                        atomic_load_explicit(&registration->in_hand, memory_order_relaxed);
    }
    ki__mutex_unlock(&registration->lock);
    return stats;
}

/* The clock is not read for each callback: it is still the same one if none has returned since the
 * last call. With the lock held. */
static uint64_t running_for(ki_registration *reg, uint64_t delivered, uint64_t now_ns)
{
    bool calling = reg->has_hand;
    if (!calling || reg->seen.since_ns == 0 || reg->seen.delivered != delivered) {
        reg->seen.since_ns = calling ? now_ns : 0;
        reg->seen.delivered = delivered;
    }
    return calling ? now_ns - reg->seen.since_ns : 0;
}

ki__registration_lag ki__registration_get_lag(ki_registration *registration)
{
    ki_registration *reg = registration;
    ki__registration_lag lag = {
        .name = reg->name,
        .stats = ki__registration_stats(reg),
        .synced = ki_registration_has_synced(reg),
    };
    uint64_t now_ns = ki__engine_now(reg->engine);
    uint32_t time_ms;
    ki__mutex_lock(&reg->lock);
    bool waits = reg->life < KI__REG_DESTROYING && ki__handler_queue_oldest(&reg->queue, &time_ms);
    if (reg->has_hand) {
        time_ms = reg->hand_ms;
        waits = true;
    }
    if (waits) { /* negative: set after the clock was read */
        int32_t age_ms = (int32_t)((uint32_t)(now_ns / KI__MS_NS) - time_ms);
        lag.oldest_ns = age_ms > 0 ? (uint64_t)age_ms * KI__MS_NS : 0;
    }
    lag.running_ns = running_for(reg, lag.stats.delivered, now_ns);
    ki__mutex_unlock(&reg->lock);
    return lag;
}

int ki_registration_get_stats(ki_registration *registration, ki_registration_stats *ret_stats)
{
    KI__REQUIRE(registration, NULL);
    KI__REQUIRE_SIZED(ki_registration_stats, ret_stats, NULL);
    const ki_registration_stats stats = ki__registration_stats(registration);
    return KI__GIVE(ki_registration_stats, ret_stats, &stats);
}

/* ---- removing and destroying ---- */

void ki__registration_finish(ki_registration *registration)
{
    ki_registration *reg = registration;
    ki__mutex_lock(&reg->lock);
    bool mine = reg->life == KI__REG_REMOVED && reg->turn == KI__REG_IDLE && reg->in_wake_hook == 0;
    if (mine) {
        ki__registration_set_life(reg, KI__REG_DESTROYING);
        reg->merged = reg->queue.merged;
        ki__handler_queue_done(&reg->queue);
    }
    ki__mutex_unlock(&reg->lock);
    if (!mine) {
        return;
    }
    ki__handler_call call;
    ki__handler_call_begin(&call, reg);
    if (reg->handler.destroy != NULL) {
        reg->handler.destroy(reg->handler.user);
    }
    ki__handler_call_end(&call);
    ki__registration_withdraw(reg);
    leave_pool(reg);
    ki__mutex_lock(&reg->lock);
    ki__registration_set_life(reg, KI__REG_OVER);
    ki__cond_wake_all(&reg->changed);
    ki__mutex_unlock(&reg->lock);
    reg->owner.over(reg->owner.user);
}

/* Whether this call removed it; never in a child of fork(), which only has a copy. */
static bool set_removed(ki_registration *reg)
{
    if (ki__engine_is_inherited(reg->engine)) {
        return false;
    }
    ki__mutex_lock(&reg->lock);
    bool first = !ki__registration_is_removed(reg);
    if (first) {
        (void)ki__registration_look_at_sync(reg); /* for the last time */
        ki__registration_set_life(reg, KI__REG_REMOVED);
        ki__cond_wake_all(&reg->changed);
    }
    ki__mutex_unlock(&reg->lock);
    return first;
}

void ki_registration_remove(ki_registration *registration)
{
    if (registration == NULL) {
        return;
    }
    (void)ki_registration_ref(registration); /* the owner may drop the last one */
    if (set_removed(registration)) {
        ki__registration_finish(registration);
        registration->owner.removed(registration, registration->owner.user);
    }
    (void)ki_registration_unref(registration);
}

int ki_registration_remove_wait(ki_registration *registration)
{
    KI__REQUIRE(registration, NULL);
    ki_registration_remove(registration);
    if (ki__registration_is_inside(registration)) {
        return KI_ERR_BUSY;
    }
    if (ki__engine_is_inherited(registration->engine)) {
        return 0; /* its threads do not exist here */
    }
    ki__mutex_lock(&registration->lock);
    while (registration->life != KI__REG_OVER) {
        ki__cond_wait(&registration->changed, &registration->lock);
    }
    ki__mutex_unlock(&registration->lock);
    return 0;
}

void ki__registration_stop(ki_registration *registration)
{
    if (set_removed(registration)) {
        ki__registration_finish(registration);
    }
}
