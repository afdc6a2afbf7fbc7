/* SPDX-License-Identifier: Apache-2.0 */
/* The state machine of leader election. Constants and requests are those of client-go's
 * leaderelection; it differs where that is slow or unsafe:
 * - A replica that waits is called when the Lease changes (if its API can watch) and knows when the
 *   Lease expires, so it takes over at that time instead of up to two retry periods later.
 * - A Lease with our identity that this election has not written is another replica's: a restarted
 *   program, or two with one identity, wait for its expiry.
 * - A deleted Lease counts as held until it would have expired.
 * - Leadership is counted from when the last renewal was sent, and checked against the clock. */
#include <errno.h>
#include <string.h>

#include <kinformer/key.h>
#include <kinformer/status.h>
#include <kinformer/time.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/histogram.h"
#include "base/log.h"
#include "base/time_units.h"
#include "controller/leader.h"

#define A(name) (1U << KI__LEADER_##name)

static const struct {
    const char *name;
    unsigned int next;
} states[] = {
    [KI__LEADER_NEW] = {"new", A(WAITING) | A(ENDED)},
    [KI__LEADER_WAITING] = {"waiting", A(LEADING) | A(RELEASING) | A(ENDED)},
    [KI__LEADER_LEADING] = {"leading", A(WAITING) | A(RELEASING) | A(ENDED)},
    [KI__LEADER_RELEASING] = {"releasing", A(ENDED)},
    [KI__LEADER_ENDED] = {"ended", 0},
};
_Static_assert(sizeof(states) / sizeof(states[0]) == KI__LEADER_STATE_MAX, "a row for each");

/* Waits are drawn from 1 to 2.2 retry periods, as in client-go. */
#define JITTER_TENTHS 12
/* After a conflict, and when a Lease has expired, replicas do not all write at the same moment. */
#define SPREAD_NS (250 * KI__MS_NS)
#define REPORT_EVERY_NS (60 * KI__SECOND_NS)

static uint64_t now_of(const ki_leader *l)
{
    return ki__engine_now(l->engine);
}

static void log_state(const ki_leader *l, ki_log_level level, const char *message)
{
    KI__LOG(ki__engine_log(l->engine), level, "leader", message, {"lease", ki_str_from(l->name)},
            {"identity", ki_str_from(l->identity)}, {"holder", ki_str_from(l->lease.holder)});
}

static void set_state(ki_leader *l, ki__leader_state state)
{
    ki_assert((states[l->state].next & (1U << state)) != 0);
    KI__LOG(ki__engine_log(l->engine), KI_LOG_DEBUG, "leader", "state changed",
            {"lease", ki_str_from(l->name)}, {"from", ki_str_from(states[l->state].name)},
            {"to", ki_str_from(states[state].name)});
    l->state = state;
}

static void retry_in(ki_leader *l, uint64_t delay_ns)
{
    ki__timer_set_after(&l->next, delay_ns);
}

static uint64_t spread(ki_leader *l)
{
    return ki__engine_random(l->engine, SPREAD_NS);
}

static uint64_t jittered(ki_leader *l)
{
    return l->retry_ns + ki__engine_random(l->engine, l->retry_ns / 10 * JITTER_TENTHS + 1);
}

/* ---- the Lease ---- */

/* Whether this election wrote it, even if the response was lost. */
static bool is_ours(const ki_leader *l)
{
    return l->lease.seen && strcmp(l->lease.holder, l->identity) == 0 && l->written[0] != '\0' &&
           strcmp(l->lease.acquired, l->written) == 0;
}

static bool may_take(const ki_leader *l, uint64_t now)
{
    return is_ours(l) || now >= ki__lease_expires_at(&l->lease);
}

/* `holder` is that of the Lease before. */
static void announce(ki_leader *l, const char *before)
{
    const char *holder = l->lease.holder;
    if (strcmp(before, holder) == 0) {
        return;
    }
    ki__mutex_lock(&l->lock);
    memcpy(l->holder, holder, strlen(holder) + 1);
    ki__mutex_unlock(&l->lock);
    if (holder[0] != '\0') {
        log_state(l, KI_LOG_INFO, "new leader");
        if (l->options.on_new_leader != NULL) {
            l->options.on_new_leader(holder, l->options.user);
        }
    }
}

/* A response has this state of the Lease; NULL: there is none. */
static void see(ki_leader *l, const ki_object *object)
{
    char before[KI__HOLDER_MAX + 1];
    memcpy(before, l->lease.holder, strlen(l->lease.holder) + 1);
    ki__lease_see(&l->lease, object, now_of(l));
    announce(l, before);
    if (object != NULL && l->api.watch != NULL) {
        l->api.watch(ki_object_resource_version(object), l->api.user);
    }
}

/* ---- requests ---- */

/* Failures last, and there is an attempt every few seconds: each kind is reported once a minute. */
static void report(ki_leader *l, const ki_error *error)
{
    uint64_t now = now_of(l);
    if (error->code == l->reported && now - l->reported_at < REPORT_EVERY_NS) {
        return;
    }
    l->reported = error->code;
    l->reported_at = now;
    ki__engine_report(l->engine, "leader", l->name, ki_str_from(l->name), error);
}

static void on_failure(ki_leader *l, const ki_error *error);

static void send(ki_leader *l, ki__lease_verb verb, const ki_object *lease)
{
    ki_assert(l->request == KI__LEASE_NONE);
    ki_error error = KI_ERROR_INIT;
    l->sent_at = now_of(l);
    int r = l->api.send(verb, lease, l->api.user, &error);
    if (r < 0) {
        on_failure(l, &error);
        return;
    }
    l->request = verb;
}

static void cancel(ki_leader *l)
{
    if (l->request != KI__LEASE_NONE) {
        l->request = KI__LEASE_NONE;
        l->api.cancel(l->api.user);
    }
}

static void send_lease(ki_leader *l, const ki__lease_write *write)
{
    ki_error error = KI_ERROR_INIT;
    ki_object *lease = NULL;
    int r = ki__lease_make(l->alloc, l->lease.object, write, &lease, &error);
    if (r < 0) {
        on_failure(l, &error);
        return;
    }
    send(l, l->lease.object != NULL ? KI__LEASE_UPDATE : KI__LEASE_CREATE, lease);
    (void)ki_object_unref(lease);
}

static ki__lease_write prepare(const ki_leader *l)
{
    const ki_clock *clock = ki__engine_clock(l->engine);
    return (ki__lease_write){.name_space = l->name_space,
                             .name = l->name,
                             .holder = l->identity,
                             .acquired = l->written,
                             .duration_s = (int64_t)(l->lease_ns / KI__SECOND_NS),
                             .now_ns = clock->realtime_ns(clock->user)};
}

/* Takes the Lease, or renews it. */
static void send_ours(ki_leader *l)
{
    ki__lease_write write = prepare(l);
    bool again = is_ours(l) || l->state == KI__LEADER_LEADING; /* which may have been deleted */
    if (!again) {
        char text[KI_TIME_TEXT_SIZE];
        const char *acquired = ki_time_micro_text(write.now_ns, text);
        memcpy(l->written, acquired, strlen(acquired) + 1);
    }
    int64_t term = l->state == KI__LEADER_LEADING ? atomic_load(&l->term) : l->lease.transitions;
    write.transitions = again ? term : l->lease.seen ? term + 1 : 0;
    l->writing_term = write.transitions;
    send_lease(l, &write);
}

static void send_release(ki_leader *l)
{
    ki__lease_write write = prepare(l);
    write.holder = "";
    write.duration_s = 1;
    write.transitions = l->lease.transitions;
    send_lease(l, &write);
}

/* ---- leadership ---- */

static void lead(ki_leader *l)
{
    ki__mutex_lock(&l->lock);
    bool stopped = l->wish == KI__LEADER_WISH_STOP;
    if (!stopped) {
        atomic_store(&l->term, l->writing_term);
        ki__cond_wake_all(&l->turn);
    }
    ki__mutex_unlock(&l->lock);
    if (stopped) {
        return; /* ki__leader_run() is about to release the Lease */
    }
    set_state(l, KI__LEADER_LEADING);
    log_state(l, KI_LOG_INFO, "leading");
    if (l->options.on_started != NULL) {
        l->options.on_started(l->writing_term, l->options.user);
    }
}

/* Leadership ends. The caller sets the next state. */
static void resign(ki_leader *l, const char *why)
{
    atomic_store(&l->term, -1);
    ki__timer_cancel(&l->deadline);
    log_state(l, KI_LOG_INFO, why);
    if (l->options.on_stopped != NULL) {
        l->options.on_stopped(l->options.user);
    }
}

static void lose(ki_leader *l, const char *why)
{
    set_state(l, KI__LEADER_WAITING);
    l->must_get = true;
    retry_in(l, spread(l));
    resign(l, why);
}

static void end(ki_leader *l)
{
    set_state(l, KI__LEADER_ENDED);
    ki__timer_cancel(&l->next);
    ki__timer_cancel(&l->deadline);
    ki__mutex_lock(&l->lock);
    bool started = l->wish != KI__LEADER_WISH_NONE;
    atomic_store(&l->ended, true); /* from here on, the task is not posted */
    ki__cond_wake_all(&l->turn);
    ki__mutex_unlock(&l->lock);
    if (ki__engine_unpost(l->engine, &l->task)) {
        ki__leader_release(l);
    }
    if (l->api.ended != NULL) {
        l->api.ended(l->api.user);
    }
    if (started) {
        ki__leader_release(l); /* never the last: callers hold one */
    }
}

/* ---- decisions ---- */

/* Waiting, with the Lease as last seen: takes it, or sets the time of the next attempt. */
static void consider(ki_leader *l)
{
    uint64_t now = now_of(l);
    if (may_take(l, now)) {
        send_ours(l);
        return;
    }
    l->reported = 0;
    uint64_t left = ki__lease_expires_at(&l->lease) - now;
    uint64_t wait = jittered(l);
    retry_in(l, left < wait ? left + spread(l) : wait);
}

/* The Lease is not ours any more; or it is, and was changed or deleted by another client. */
static void consider_leading(ki_leader *l)
{
    if (l->lease.object != NULL && !is_ours(l)) {
        lose(l, "lost the lease to another replica");
    } else {
        send_ours(l);
    }
}

static void decide(ki_leader *l)
{
    switch (l->state) {
    case KI__LEADER_WAITING:
        consider(l);
        break;
    case KI__LEADER_LEADING:
        consider_leading(l);
        break;
    case KI__LEADER_RELEASING:
        if (l->lease.object != NULL && is_ours(l)) {
            send_release(l);
        } else {
            end(l);
        }
        break;
    case KI__LEADER_NEW:
    case KI__LEADER_ENDED:
    case KI__LEADER_STATE_MAX:
        break;
    }
}

static void next(ki_leader *l)
{
    if (l->request != KI__LEASE_NONE) {
        return; /* its response sets the timer */
    }
    bool waiting = l->state == KI__LEADER_WAITING;
    if (l->must_get || (waiting && (!l->lease.seen || !may_take(l, now_of(l))))) {
        send(l, KI__LEASE_GET, NULL);
    } else {
        decide(l);
    }
}

static void pass_deadline(ki_leader *l)
{
    if (l->state == KI__LEADER_LEADING) {
        cancel(l);
        lose(l, "the lease could not be renewed in time");
    }
}

/* ---- responses ---- */

static void on_failure(ki_leader *l, const ki_error *error)
{
    if (l->state == KI__LEADER_RELEASING) {
        report(l, error); /* it expires by itself */
        end(l);
        return;
    }
    l->must_get = true; /* the server may have processed it */
    report(l, error);
    retry_in(l, l->state == KI__LEADER_LEADING ? l->retry_ns : jittered(l));
}

/* The Lease is ours as of `sent_at`. */
static void on_written(ki_leader *l, const ki_object *lease)
{
    see(l, lease);
    uint64_t until = l->sent_at + l->renew_ns;
    uint64_t now = now_of(l);
    if (l->state == KI__LEADER_RELEASING) {
        decide(l);
        return;
    }
    if (now >= until) { /* the response took too long to rely on */
        retry_in(l, 0);
        return;
    }
    l->reported = 0;
    atomic_store(&l->valid_until, until);
    ki__timer_set(&l->deadline, until);
    ki__timer_set(&l->next, l->sent_at + l->retry_ns);
    if (l->state == KI__LEADER_WAITING) {
        lead(l);
    }
}

/* A write failed because the Lease is not as it was last seen, or does not exist. */
static void on_conflict(ki_leader *l)
{
    if (l->state == KI__LEADER_RELEASING) {
        end(l); /* another client has changed it: it expires by itself */
        return;
    }
    l->must_get = true;
    retry_in(l, spread(l));
}

static void on_read(ki_leader *l, const ki_object *lease)
{
    bool leading = l->state == KI__LEADER_LEADING;
    l->must_get = false;
    see(l, lease);
    decide(l);
    ki__counter_add(&l->slow_renewals, leading && l->state == KI__LEADER_LEADING);
}

static void take_answer(ki_leader *l, const ki_object *lease, const ki_error *error)
{
    ki__lease_verb verb = l->request;
    ki_assert(verb != KI__LEASE_NONE);
    l->request = KI__LEASE_NONE;
    bool missing = error != NULL && error->code == KI_ERR_NOT_FOUND;
    bool conflict = error != NULL && verb != KI__LEASE_GET &&
                    (missing || error->code == KI_ERR_EXISTS || ki_error_is_conflict(error));
    if (conflict) {
        on_conflict(l);
    } else if (missing) {
        on_read(l, NULL);
    } else if (error != NULL) {
        on_failure(l, error);
    } else if (verb == KI__LEASE_GET) {
        on_read(l, lease);
    } else {
        on_written(l, lease);
    }
}

/* Whether `lease` is older than what was seen: watches may lag behind. */
static bool is_older(const ki_leader *l, const ki_object *lease)
{
    int order = 0;
    return l->lease.object != NULL &&
           ki_resource_version_compare(ki_str_from(ki_object_resource_version(lease)),
                                       ki_str_from(ki_object_resource_version(l->lease.object)),
                                       &order) == 0 &&
           order <= 0;
}

static void take_event(ki_leader *l, const ki_object *lease)
{
    bool active = l->state == KI__LEADER_WAITING || l->state == KI__LEADER_LEADING;
    if (!active || (lease != NULL && is_older(l, lease)) ||
        (lease == NULL && l->lease.object == NULL)) {
        return;
    }
    if (l->state == KI__LEADER_WAITING && lease != NULL && l->request == KI__LEASE_NONE) {
        see(l, lease);
        decide(l); /* it may have been released */
    } else {
        l->must_get = true; /* a watch alone does not decide about our own Lease */
        if (l->request == KI__LEASE_NONE) {
            retry_in(l, 0);
        }
    }
}

/* ---- the program's wish ---- */

/* Ends without releasing the Lease. */
static void abandon(ki_leader *l)
{
    if (l->state == KI__LEADER_ENDED) {
        return;
    }
    cancel(l);
    bool leading = l->state == KI__LEADER_LEADING;
    end(l);
    if (leading) {
        resign(l, "stopped");
    }
}

static void stop(ki_leader *l)
{
    bool leading = l->state == KI__LEADER_LEADING;
    bool writing = l->request == KI__LEASE_CREATE || l->request == KI__LEASE_UPDATE;
    if (l->options.keep_on_stop || !(leading || writing || is_ours(l))) {
        abandon(l);
        return;
    }
    ki__timer_cancel(&l->next);
    set_state(l, KI__LEADER_RELEASING);
    if (leading) {
        resign(l, "stopped");
    }
    if (l->request == KI__LEASE_NONE) {
        decide(l);
    } else if (!writing) {
        cancel(l);
        decide(l);
    }
}

static void act(ki_leader *l)
{
    ki__mutex_lock(&l->lock);
    ki__leader_wish wish = l->wish;
    ki__mutex_unlock(&l->lock);
    if (wish == KI__LEADER_WISH_START && l->state == KI__LEADER_NEW) {
        set_state(l, KI__LEADER_WAITING);
        send(l, KI__LEASE_GET, NULL);
    } else if (wish == KI__LEADER_WISH_STOP && l->state < KI__LEADER_RELEASING) {
        stop(l);
    }
}

/* ---- entries: each keeps the election alive, which may end in it ---- */

void ki__leader_run(ki_leader *leader)
{
    ki__leader_hold(leader);
    act(leader);
    ki__leader_release(leader);
}

void ki__leader_on_next(ki__timer *timer)
{
    ki_leader *leader = KI__CONTAINER_OF(timer, ki_leader, next);
    ki__leader_hold(leader);
    next(leader);
    ki__leader_release(leader);
}

void ki__leader_on_deadline(ki__timer *timer)
{
    ki_leader *leader = KI__CONTAINER_OF(timer, ki_leader, deadline);
    ki__leader_hold(leader);
    pass_deadline(leader);
    ki__leader_release(leader);
}

void ki__leader_on_answer(ki_leader *leader, const ki_object *lease, const ki_error *error)
{
    ki__leader_hold(leader);
    take_answer(leader, lease, error);
    ki__leader_release(leader);
}

void ki__leader_on_lease(ki_leader *leader, const ki_object *lease)
{
    ki__leader_hold(leader);
    take_event(leader, lease);
    ki__leader_release(leader);
}

void ki__leader_abort(ki_leader *leader)
{
    ki__leader_hold(leader);
    abandon(leader);
    ki__leader_release(leader);
}
