/* SPDX-License-Identifier: Apache-2.0 */
/* A handler and its queue. One lock keeps both; it is never held while something is called. At most
 * one thread is inside deliver() at a time (`delivering`), which is what makes calls of one handler
 * sequential. It takes some notes out at a time, its hand, and gives them without the lock. Before
 * each call it looks at `removed`, without the lock: so when another thread sets that, the one call
 * which was decided on before may still begin, and no other. The handler is destroyed by whoever
 * finds it removed with nobody delivering and nobody waking. */
#include <errno.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/engine.h"
#include "base/error.h"
#include "base/log.h"
#include "base/options.h"
#include "cache/informer/handler.h"
#include "cache/informer/registration_state.h"

enum { LIMIT_DEFAULT = 1024, NAME_MAX_BYTES = 256, STEP_EVENTS = KI__HAND_MAX };

/* The calls that are under way on this thread, the innermost first. */
typedef struct call {
    const ki_registration *registration;
    const struct call *outer;
} call;
static _Thread_local const call *calls;

static void enter(call *here, const ki_registration *registration)
{
    *here = (call){.registration = registration, .outer = calls};
    calls = here;
}

static void leave(const call *here)
{
    calls = here->outer;
}

static bool is_inside(const ki_registration *registration)
{
    const call *c = calls;
    while (c != NULL && c->registration != registration) {
        c = c->outer;
    }
    return c != NULL;
}

bool ki__registration_is_calling(const void *user)
{
    const call *c = calls;
    while (c != NULL && c->registration->owner.user != user) {
        c = c->outer;
    }
    return c != NULL;
}

/* ---- making and freeing ---- */

static void run_task(ki__task *task);
static void run_job(ki__job *job);

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
    int r = ki__options_take(&o, sizeof(o), options, error);
    if (r < 0) {
        return r;
    }
    if ((unsigned)o.delivery > KI_DELIVERY_THREAD) {
        return ki__error_set(error, -EINVAL, "there is no such delivery");
    }
    bool threads = ki__engine_pool(engine) != NULL;
    if (o.delivery == KI_DELIVERY_THREAD && !threads) {
        return ki__error_set(error, KI_ERR_UNSUPPORTED, "the engine has no way to start threads");
    }
    if (o.delivery == KI_DELIVERY_DEFAULT) {
        o.delivery = threads ? KI_DELIVERY_THREAD : KI_DELIVERY_ENGINE;
    }
    if (ki_str_from(o.name).len > NAME_MAX_BYTES) {
        return ki__error_set(error, KI_ERR_LIMIT, "the name of a handler has at most %d bytes",
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
    reg->handler = *handler;
    reg->options = o;
    reg->owner = *owner;
    reg->seat.wanted_ms = o.resync_ms;
    ki__list_init(&reg->seat.link);
    ki__list_init(&reg->seat.wake_link);
    ki__task_init(&reg->task, run_task);
    ki__job_init(&reg->job, run_job);
    ki__handler_queue_init(&reg->queue, alloc, ki__engine_hash_key(engine), o.queue_limit);
    if (name.len != 0) {
        memcpy(reg->name, name.ptr, name.len);
    }
    *ret_registration = reg;
    return 0;
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
    ki_assert(reg->over); /* its owner held it until then */
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
    if (reg->entered) {
        ki__pool_leave(ki__engine_pool(reg->engine));
    }
}

void ki__registration_abandon(ki_registration *registration)
{
    ki__mutex_lock(&registration->lock);
    registration->removed = true;
    registration->destroying = true;
    registration->over = true;
    ki__mutex_unlock(&registration->lock);
    leave_pool(registration);
    (void)ki_registration_unref(registration);
}

ki__registration_seat *ki__registration_seat_of(ki_registration *registration)
{
    return &registration->seat;
}

ki_registration *ki__registration_of_seat(ki__registration_seat *seat)
{
    return KI__CONTAINER_OF(seat, ki_registration, seat);
}

/* ---- calling the handler ---- */

static void report_failure(const char *component, ki_str key, const ki_error *error, void *user)
{
    ki_registration *reg = user;
    ki__engine_report(reg->engine, component, reg->name, key, error);
}

/* For a counter with one writer. */
static void count_one(_Atomic uint64_t *counter)
{
    uint64_t before = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, before + 1, memory_order_relaxed);
}

static bool on_thread(const ki_registration *reg)
{
    return reg->options.delivery == KI_DELIVERY_THREAD;
}

/* Calls the handler for each note, as long as it is not removed. The number of calls. */
static size_t tell(ki_registration *reg, const ki__hand *hand)
{
    ki_error_hook hook = {.report = report_failure, .user = reg};
    size_t told = 0;
    if (!ki__registration_is_removed(reg)) {
        ki__handler_tell_left_out(&reg->handler, hand->left_out);
    }
    while (told < hand->count && !ki__registration_is_removed(reg)) {
        const ki__note *note = &hand->notes[told++];
        atomic_store_explicit(&reg->in_hand, hand->count - told, memory_order_relaxed);
        if (ki__handler_tell(&reg->handler, note, &hook) < 0) {
            count_one(&reg->failed);
        }
        count_one(&reg->delivered);
    }
    return told;
}

/* ---- delivering ---- */

/* With the lock held. */
static void look_whether_synced(ki_registration *reg)
{
    if (!reg->synced && reg->upstream_synced && !reg->removed && !reg->calling_initial &&
        ki__handler_queue_initial(&reg->queue) == 0) {
        reg->synced = true;
    }
}

/* Whether the handler is still to be told that it has synced. With the lock held. */
static bool must_tell_synced(ki_registration *reg)
{
    if (reg->told_synced || reg->options.on_synced == NULL) {
        return false;
    }
    look_whether_synced(reg);
    return reg->synced;
}

static bool has_something(ki_registration *reg)
{
    return !ki__registration_is_removed(reg) &&
           (ki__handler_queue_len(&reg->queue) != 0 || must_tell_synced(reg));
}

/* Some callbacks, up to `max`, of one that is not removed. The number of them; 0 if there is
 * nothing to tell. The lock is held before and after it. */
static size_t deliver_some(ki_registration *reg, size_t max)
{
    ki__hand hand;
    bool synced = must_tell_synced(reg);
    if (!synced && !ki__handler_queue_take(&reg->queue, max, &hand)) {
        return 0;
    }
    reg->told_synced = reg->told_synced || synced;
    if (!synced) {
        reg->calling_initial = hand.notes[0].is_initial;
        atomic_store_explicit(&reg->in_hand, hand.count, memory_order_relaxed);
    }
    ki__mutex_unlock(&reg->lock);
    size_t told = 1;
    call here;
    enter(&here, reg);
    if (synced) {
        reg->options.on_synced(reg->options.user);
    } else {
        told = tell(reg, &hand);
        ki__hand_done(&hand);
    }
    leave(&here);
    ki__mutex_lock(&reg->lock);
    atomic_store_explicit(&reg->in_hand, 0, memory_order_relaxed);
    reg->calling_initial = false;
    look_whether_synced(reg);
    return told;
}

/* Takes back the posting, and its reference, if it has not run. The caller has another. */
static void withdraw(ki_registration *reg)
{
    bool was_posted = on_thread(reg) ? ki__pool_unpost(ki__engine_pool(reg->engine), &reg->job)
                                     : ki__engine_unpost(reg->engine, &reg->task);
    if (was_posted) {
        (void)ki_registration_unref(reg);
    }
}

/* After posting: whoever removed it may have come too early to find the posting. */
static void withdraw_if_removed(ki_registration *reg)
{
    if (ki__registration_is_removed(reg)) {
        withdraw(reg);
    }
}

/* Destroys the handler once it is removed and nobody calls it. */
static void finish(ki_registration *reg)
{
    ki__mutex_lock(&reg->lock);
    bool mine = reg->removed && !reg->delivering && reg->waking == 0 && !reg->destroying;
    if (mine) {
        reg->destroying = true;
        reg->merged = reg->queue.merged;
        ki__handler_queue_done(&reg->queue);
    }
    ki__mutex_unlock(&reg->lock);
    if (!mine) {
        return;
    }
    call here;
    enter(&here, reg);
    if (reg->handler.destroy != NULL) {
        reg->handler.destroy(reg->handler.user);
    }
    leave(&here);
    withdraw(reg);
    leave_pool(reg);
    ki__mutex_lock(&reg->lock);
    reg->over = true;
    ki__cond_wake_all(&reg->changed);
    ki__mutex_unlock(&reg->lock);
    reg->owner.over(reg->owner.user);
}

/* Whether the owner is still to be told that it has synced: the caller does. With the lock held. */
static bool must_tell_owner(ki_registration *reg)
{
    if (reg->owner_knows) {
        return false;
    }
    look_whether_synced(reg);
    reg->owner_knows = reg->synced;
    return reg->synced;
}

/* With the lock held, but for the time of telling. Whether there was something to tell. */
static bool tell_owner(ki_registration *reg)
{
    if (!must_tell_owner(reg)) {
        return false;
    }
    ki__mutex_unlock(&reg->lock);
    reg->owner.synced(reg->owner.user);
    ki__mutex_lock(&reg->lock);
    return true;
}

/* When deliver() ends: after so many calls; when nothing is left, or enough was delivered and other
 * handlers wait for the thread; when the handler is removed. */
typedef enum stay { STAY_FOR_SOME, STAY_WHILE_UNDISTURBED, STAY_FOR_EVER } stay;

/* Whether to make another call, if there is one to make. */
static bool goes_on(ki_registration *reg, stay how, size_t count, size_t max)
{
    if (ki__registration_is_removed(reg)) {
        return false;
    }
    return count < max ||
           (how == STAY_WHILE_UNDISTURBED && !ki__pool_is_wanted(ki__engine_pool(reg->engine)));
}

/* Somebody delivers already: another thread, a callback of this one, or nobody any more. With the
 * lock held, which it gives up. */
static int refuse_delivery(ki_registration *reg, ki__place here)
{
    bool left = !reg->left && ki__place_is_left(reg->delivers_at, here);
    reg->left = reg->left || left;
    reg->refused = true;
    ki__mutex_unlock(&reg->lock);
    if (left) {
        KI__LOG(ki__engine_log(reg->engine), KI_LOG_ERROR, "handler",
                "a callback was left by an exception or longjmp(): it receives no more events",
                {"name", ki_str_from(reg->name)});
    }
    return KI_ERR_BUSY;
}

/* Up to `max` callbacks, or more as `how` says; 0: those that wait now. The number of them, or
 * KI_ERR_BUSY. *ret_more: something is left. */
static int deliver(ki_registration *reg, size_t max, stay how, bool *ret_more)
{
    ki__place place = KI__PLACE_HERE(calls);
    ki__mutex_lock(&reg->lock);
    if (reg->delivering) {
        return refuse_delivery(reg, place);
    }
    reg->delivering = true;
    reg->delivers_at = place;
    reg->woken = false;
    size_t count = 0;
    if (max == 0) {
        size_t all = ki__handler_queue_len(&reg->queue) + 1; /* the one more is on_synced() */
        max = all < INT32_MAX ? all : INT32_MAX;
    }
    while (goes_on(reg, how, count, max)) {
        if (has_something(reg)) {
            size_t told = deliver_some(reg, how == STAY_FOR_SOME ? max - count : KI__HAND_MAX);
            count += how != STAY_FOR_EVER ? told : 0;
            (void)tell_owner(reg); /* and not only when nothing more comes */
        } else if (tell_owner(reg)) {
            continue; /* something may have come meanwhile */
        } else if (how == STAY_FOR_EVER && !ki__registration_is_removed(reg)) {
            reg->woken = false;
            ki__cond_wait(&reg->changed, &reg->lock);
        } else {
            break;
        }
    }
    reg->delivering = false;
    bool removed = ki__registration_is_removed(reg);
    bool more = has_something(reg);
    /* On a thread, what is left is posted; else it wakes somebody again if one was refused. */
    reg->woken = how == STAY_WHILE_UNDISTURBED ? more : reg->woken && !reg->refused;
    reg->refused = false;
    ki__mutex_unlock(&reg->lock);
    *ret_more = more;
    if (removed) {
        finish(reg);
    }
    return (int)(count < INT32_MAX ? count : INT32_MAX);
}

/* Has the engine, or a thread, deliver. A posted registration holds a reference to itself. */
static void post(ki_registration *reg)
{
    (void)ki_registration_ref(reg);
    bool posted = on_thread(reg) ? ki__pool_post(ki__engine_pool(reg->engine), &reg->job)
                                 : ki__engine_post(reg->engine, &reg->task);
    if (!posted) {
        (void)ki_registration_unref(reg); /* the one that is posted has a reference */
    }
}

static void run_task(ki__task *task)
{
    ki_registration *reg = KI__CONTAINER_OF(task, ki_registration, task);
    bool more = false;
    (void)deliver(reg, STEP_EVENTS, STAY_FOR_SOME, &more);
    if (more) {
        post(reg);
    }
    (void)ki_registration_unref(reg);
}

static void run_job(ki__job *job)
{
    ki_registration *reg = KI__CONTAINER_OF(job, ki_registration, job);
    bool more = false;
    (void)deliver(reg, STEP_EVENTS, STAY_WHILE_UNDISTURBED, &more);
    if (more) {
        post(reg);
        withdraw_if_removed(reg);
    }
    (void)ki_registration_unref(reg);
}

int ki__registration_start(ki_registration *registration)
{
    int r = on_thread(registration) ? ki__pool_enter(ki__engine_pool(registration->engine)) : 0;
    registration->entered = on_thread(registration) && r == 0;
    return r;
}

/* ---- waking who delivers ---- */

static bool has_wake_hook(const ki_registration *reg)
{
    return reg->options.delivery == KI_DELIVERY_CALLER && reg->options.wake != NULL;
}

bool ki__registration_may_sleep(const ki_registration *registration)
{
    return registration->options.delivery != KI_DELIVERY_ENGINE && !has_wake_hook(registration);
}

bool ki__registration_must_poke_locked(ki_registration *reg)
{
    bool seen = reg->woken || (on_thread(reg) && reg->delivering); /* the thread looks again */
    bool poke = !seen && has_something(reg);
    reg->woken = reg->woken || poke;
    reg->waking += poke && has_wake_hook(reg);
    return poke;
}

bool ki__registration_must_poke(ki_registration *registration)
{
    ki__mutex_lock(&registration->lock);
    bool poke = ki__registration_must_poke_locked(registration);
    ki__mutex_unlock(&registration->lock);
    return poke;
}

/* `waking` counts it. */
static void call_wake_hook(ki_registration *reg)
{
    call here;
    enter(&here, reg);
    reg->options.wake(reg->options.user);
    leave(&here);
    ki__mutex_lock(&reg->lock);
    reg->waking--;
    ki__mutex_unlock(&reg->lock);
    finish(reg); /* it may have been removed meanwhile */
}

void ki__registration_poke(ki_registration *registration)
{
    ki_registration *reg = registration;
    if (reg->options.delivery != KI_DELIVERY_CALLER) {
        post(reg);
        withdraw_if_removed(reg);
        return;
    }
    ki__cond_wake_all(&reg->changed); /* without the lock, so that who is woken can have it */
    if (has_wake_hook(reg)) {
        call_wake_hook(reg);
    }
}

void ki__registration_wake(ki_registration *registration)
{
    ki__mutex_lock(&registration->lock);
    bool poke = ki__registration_must_poke_locked(registration);
    bool tell_it = must_tell_owner(registration);
    ki__mutex_unlock(&registration->lock);
    if (poke) {
        ki__registration_poke(registration);
    }
    if (tell_it) {
        registration->owner.synced(registration->owner.user);
    }
}

/* What the functions for callers have in common. */
static int deliver_for_caller(ki_registration *reg, size_t max, stay how)
{
    if (reg->options.delivery != KI_DELIVERY_CALLER) {
        return KI_ERR_UNSUPPORTED;
    }
    if (ki__engine_is_inherited(reg->engine)) {
        return KI_ERR_STOPPED;
    }
    (void)ki_registration_ref(reg); /* a callback may give the caller's away */
    bool more = false;
    int r = deliver(reg, max, how, &more);
    ki__mutex_lock(&reg->lock);
    bool stopped = reg->removed && r == 0;
    ki__mutex_unlock(&reg->lock);
    if (r >= 0 && more) {
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
    return deliver_for_caller(registration, 1, STAY_FOR_EVER);
}

/* ---- asking and removing ---- */

bool ki_registration_has_synced(ki_registration *registration)
{
    ki__mutex_lock(&registration->lock);
    look_whether_synced(registration);
    bool synced = registration->synced;
    ki__mutex_unlock(&registration->lock);
    return synced;
}

ki_registration_stats ki_registration_get_stats(ki_registration *registration)
{
    ki_registration_stats stats = {
        .delivered = atomic_load_explicit(&registration->delivered, memory_order_relaxed),
        .failed = atomic_load_explicit(&registration->failed, memory_order_relaxed),
    };
    ki__mutex_lock(&registration->lock);
    stats.merged = registration->merged;
    if (!registration->destroying) {
        stats.merged = registration->queue.merged;
        stats.waiting = ki__handler_queue_len(&registration->queue) +
                        atomic_load_explicit(&registration->in_hand, memory_order_relaxed);
    }
    ki__mutex_unlock(&registration->lock);
    return stats;
}

/* Whether it was this call that removed it; never in a child of fork(), which only has a copy. */
static bool set_removed(ki_registration *reg)
{
    if (ki__engine_is_inherited(reg->engine)) {
        return false;
    }
    ki__mutex_lock(&reg->lock);
    bool first = !reg->removed;
    if (first) {
        look_whether_synced(reg); /* for the last time */
        reg->removed = true;
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
    (void)ki_registration_ref(registration); /* the owner may have the last */
    if (set_removed(registration)) {
        finish(registration);
        registration->owner.removed(registration, registration->owner.user);
    }
    (void)ki_registration_unref(registration);
}

int ki_registration_remove_wait(ki_registration *registration)
{
    KI__REQUIRE(registration, NULL);
    ki_registration_remove(registration);
    if (is_inside(registration)) {
        return KI_ERR_BUSY;
    }
    if (ki__engine_is_inherited(registration->engine)) {
        return 0; /* its threads are not here */
    }
    ki__mutex_lock(&registration->lock);
    while (!registration->over) {
        ki__cond_wait(&registration->changed, &registration->lock);
    }
    ki__mutex_unlock(&registration->lock);
    return 0;
}

void ki__registration_stop(ki_registration *registration)
{
    if (set_removed(registration)) {
        finish(registration);
    }
}
