/* SPDX-License-Identifier: Apache-2.0 */
/* The states of a reflector. Every change goes through set_state(), which has the table; check()
 * asserts the invariants between two steps. */
#include <errno.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/log.h"
#include "cache/reflector/reflector.h"

#define A(name) (1U << KI_REFLECTOR_##name)

/* From the first list on it is in one of the middle four until it stops. A watch that can be
 * resumed stays in WATCHING; a relist always goes through BACKOFF. */
static const struct {
    const char *name;
    unsigned int next;
} states[] = {
    [KI_REFLECTOR_NEW] = {"new", A(STREAMING) | A(LISTING) | A(STOPPED)},
    [KI_REFLECTOR_STREAMING] = {"streaming",
                                A(STREAMING) | A(LISTING) | A(WATCHING) | A(BACKOFF) | A(STOPPED)},
    [KI_REFLECTOR_LISTING] = {"listing",
                              A(STREAMING) | A(LISTING) | A(WATCHING) | A(BACKOFF) | A(STOPPED)},
    [KI_REFLECTOR_WATCHING] = {"watching",
                               A(STREAMING) | A(LISTING) | A(WATCHING) | A(BACKOFF) | A(STOPPED)},
    [KI_REFLECTOR_BACKOFF] = {"backoff", A(STREAMING) | A(LISTING) | A(WATCHING) | A(STOPPED)},
    [KI_REFLECTOR_STOPPED] = {"stopped", 0},
};
_Static_assert(sizeof(states) / sizeof(states[0]) == KI_REFLECTOR_STATE_MAX, "a row for each");

/* The next state of a request; NONE may follow any of them. */
static const ki__attempt next_attempt[] = {
    [KI__ATTEMPT_NONE] = KI__ATTEMPT_DUE,
    [KI__ATTEMPT_DUE] = KI__ATTEMPT_SENT,
    [KI__ATTEMPT_SENT] = KI__ATTEMPT_ACCEPTED,
    [KI__ATTEMPT_ACCEPTED] = KI__ATTEMPT_NONE,
};
_Static_assert(sizeof(next_attempt) / sizeof(next_attempt[0]) == KI__ATTEMPT_MAX, "for each");

const char *ki_reflector_state_name(ki_reflector_state state)
{
    return (size_t)state < KI_REFLECTOR_STATE_MAX ? states[state].name : "unknown";
}

/* `a` + `b`, saturating. */
static uint64_t later(uint64_t a, uint64_t b)
{
    return b < UINT64_MAX - a ? a + b : UINT64_MAX;
}

static bool may_stream(const ki_reflector *r)
{
    return !r->options.no_streaming && !r->source.no_streaming_list &&
           (r->streaming != KI__STREAMING_OFF ||
            ki__engine_now(r->engine) >= r->no_streaming_until);
}

static ki_reflector_state way_to_list(const ki_reflector *r)
{
    return may_stream(r) ? KI_REFLECTOR_STREAMING : KI_REFLECTOR_LISTING;
}

/* Whether a watch is in progress, or will be resumed. */
static bool is_synced_in(const ki_reflector *r, ki_reflector_state state)
{
    return state == KI_REFLECTOR_WATCHING ||
           (state == KI_REFLECTOR_BACKOFF && r->then == KI__THEN_WATCH);
}

static void publish(ki_reflector *r)
{
    ki_reflector_state next = r->state;
    if (r->state == KI_REFLECTOR_BACKOFF) {
        next = r->then == KI__THEN_WATCH ? KI_REFLECTOR_WATCHING : way_to_list(r);
    }
    uint64_t now = ki__engine_now(r->engine);
    ki__mutex_lock(&r->shared.lock);
    ki_health *health = &r->shared.health;
    if (health->state != r->state) {
        r->shared.times.state = now;
    }
    health->state = r->state;
    health->next = next;
    r->shared.times.backoff_until = 0;
    health->arrived = 0;                             /* it was just cleared */
    health->accepted = ki__reflector_is_accepted(r); /* a stream that continues as a watch */
    ki__mutex_unlock(&r->shared.lock);
}

void ki__reflector_set_state(ki_reflector *r, ki_reflector_state state)
{
    ki_assert((states[r->state].next & (1U << state)) != 0);
    KI__LOG(ki__engine_log(r->engine), KI_LOG_DEBUG, "reflector", "state changed",
            {"name", ki_str_from(r->options.name)}, {"from", ki_str_from(states[r->state].name)},
            {"to", ki_str_from(states[state].name)}, {"resource_version", ki_str_from(r->version)});
    r->state = state;
    ki__collect_clear(&r->found);
    ki__reflector_unreserve(r);
    if (!is_synced_in(r, state)) {
        ki__timer_cancel(&r->resync);
    } else if (!ki__timer_is_set(&r->resync)) {
        ki__timer_set_after(&r->resync, r->times.resync_period_ns);
    }
    publish(r);
}

void ki__reflector_set_attempt(ki_reflector *r, ki__attempt attempt)
{
    ki_assert(attempt == KI__ATTEMPT_NONE || attempt == next_attempt[r->attempt]);
    r->attempt = attempt;
}

/* ---- invariants ---- */

static void check_call(const ki_reflector *r)
{
    bool streams = r->state == KI_REFLECTOR_STREAMING || r->state == KI_REFLECTOR_WATCHING;
    bool lists = r->state == KI_REFLECTOR_LISTING;
    bool has_call = r->call != NULL || r->pages.active;
    ki_assert(r->call == NULL || streams);
    ki_assert(!r->pages.active || lists);
    ki_assert(!has_call || r->attempt >= KI__ATTEMPT_SENT);
    if (!ki__reflector_is_stopping(r)) { /* otherwise intermediate states are allowed */
        ki_assert((streams || lists) == (has_call || r->attempt == KI__ATTEMPT_DUE));
        ki_assert(ki__timer_is_set(&r->wait) == (r->state == KI_REFLECTOR_BACKOFF));
    }
    ki_assert(!ki__timer_is_set(&r->watchdog) || streams || lists);
    ki_assert(!ki__timer_is_set(&r->proof) || r->state == KI_REFLECTOR_WATCHING);
    ki_assert(!ki__timer_is_set(&r->reminder) || r->failing.logged != KI_FAILURE_NONE);
}

void ki__reflector_check(const ki_reflector *r)
{
    check_call(r);
    bool gathers = r->state == KI_REFLECTOR_STREAMING || r->state == KI_REFLECTOR_LISTING;
    ki_assert(gathers || (r->found.count == 0 && r->found.unread_count == 0));
    ki_assert(!ki__timer_is_set(&r->resync) || is_synced_in(r, r->state));
    if (r->state == KI_REFLECTOR_NEW || r->state == KI_REFLECTOR_STOPPED) {
        ki_assert(!ki__timer_is_set(&r->wait) && r->attempt == KI__ATTEMPT_NONE);
        ki_assert(r->last_object == NULL);
    }
}

/* ---- transitions ---- */

void ki__reflector_drop_call(ki_reflector *r)
{
    void *call = r->call;
    r->call = NULL;
    ki__reflector_set_attempt(r, KI__ATTEMPT_NONE);
    ki__timer_cancel(&r->watchdog);
    ki__timer_cancel(&r->wait);
    ki__timer_cancel(&r->proof);
    ki__pages_cancel(&r->pages);
    if (call != NULL) {
        r->source.cancel(call, r->source.user);
    }
}

void ki__reflector_go(ki_reflector *r, ki_reflector_state state)
{
    ki__reflector_drop_call(r);
    ki__reflector_set_state(r, state);
    ki__reflector_set_attempt(r, KI__ATTEMPT_DUE);
    ki__reflector_post(r);
}

void ki__reflector_go_sync(ki_reflector *r)
{
    ki__reflector_go(r, way_to_list(r));
}

static uint64_t wait_for(ki_reflector *r, ki__then then, const ki_error *error)
{
    bool at_once = r->list_at_once;
    r->list_at_once = false;
    if (at_once) {
        return 0;
    }
    uint64_t delay =
        ki__backoff_next(then == KI__THEN_WATCH ? &r->rewatch : &r->backoff, r->engine);
    uint64_t requested =
        ki__backoff_requested(r->engine, error != NULL ? error->retry_after_ms : 0);
    return delay > requested ? delay : requested;
}

static void wait_until(ki_reflector *r, ki__then then, uint64_t until)
{
    ki__reflector_drop_call(r);
    r->then = then;
    ki__reflector_set_state(r, KI_REFLECTOR_BACKOFF);
    ki__timer_set(&r->wait, until);
    ki__mutex_lock(&r->shared.lock);
    r->shared.times.backoff_until = until;
    r->shared.health.backoffs++;
    ki__mutex_unlock(&r->shared.lock);
}

/* Records why a watch ends that is followed by a list. Without an error, an event could not be
 * applied, and only a list recovers from it. */
static void note_relist(ki_reflector *r, ki__then then, const ki_error *error)
{
    if (then == KI__THEN_LIST && r->state == KI_REFLECTOR_WATCHING) {
        r->relist_reason = error != NULL ? ki_failure_classify(error) : KI_FAILURE_RESPONSE;
    }
}

void ki__reflector_back_off(ki_reflector *r, ki__then then, const ki_error *error)
{
    uint64_t until = later(ki__engine_now(r->engine), wait_for(r, then, error));
    note_relist(r, then, error);
    if (error != NULL) {
        ki__reflector_note_reason(r, error);
    }
    wait_until(r, then, until);
}

/* The program is notified last, so that the health visible in its callback is that of the backoff.
 * Data that dropping the call may free is kept until then. */
void ki__reflector_fail(ki_reflector *r, ki__then then, const ki_error *error,
                        const ki_object *status)
{
    ki_watch_operation operation = ki__reflector_operation(r);
    uint64_t delay = wait_for(r, then, error);
    note_relist(r, then, error);
    ki_error kept = KI_ERROR_INIT;
    ki__error_copy(&kept, error);
    ki_object *kept_status = ki_object_ref(status);
    wait_until(r, then, later(ki__engine_now(r->engine), delay));
    ki__reflector_report(r, operation, &kept, kept_status, delay);
    (void)ki_object_unref(kept_status);
}

void ki__reflector_reject(ki_reflector *r, const ki_error *error)
{
    if (ki__reflector_is_stopping(r) || r->state == KI_REFLECTOR_NEW) {
        return;
    }
    r->reduced = r->may_reduce;
    if (r->state == KI_REFLECTOR_BACKOFF) {
        r->then = KI__THEN_LIST;
        ki__timer_cancel(&r->resync);
        ki__reflector_note_reason(r, error);
        ki__mutex_lock(&r->shared.lock);
        r->shared.health.next = way_to_list(r);
        ki__mutex_unlock(&r->shared.lock);
    } else {
        ki__reflector_fail(r, KI__THEN_LIST, error, NULL);
    }
    ki__reflector_check(r);
}

void ki__reflector_relist(ki_reflector *r)
{
    if (ki__reflector_is_stopping(r)) {
        return;
    }
    if (r->state == KI_REFLECTOR_BACKOFF && r->then == KI__THEN_LIST) {
        ki__timer_set(&r->wait, ki__engine_now(r->engine));
    } else if (r->state == KI_REFLECTOR_WATCHING || r->state == KI_REFLECTOR_BACKOFF) {
        r->relist_reason = KI_FAILURE_LOCAL;
        ki__reflector_go_sync(r);
    }
    ki__reflector_check(r);
}

void ki__reflector_fail_at_once(ki_reflector *r, ki_reflector_state next, const ki_error *error)
{
    ki_watch_operation operation = ki__reflector_operation(r);
    ki_error kept = KI_ERROR_INIT;
    ki__error_copy(&kept, error);
    ki__reflector_go(r, next);
    ki__reflector_report(r, operation, &kept, NULL, 0);
}

void ki__reflector_on_wait(ki__timer *timer)
{
    ki_reflector *r = KI__CONTAINER_OF(timer, ki_reflector, wait);
    if (ki__reflector_is_stopping(r)) {
        return; /* the task that ends it is posted; likewise in all external callbacks */
    }
    if (r->then == KI__THEN_WATCH) {
        ki__reflector_go(r, KI_REFLECTOR_WATCHING);
    } else {
        ki__reflector_go_sync(r);
    }
    ki__reflector_check(r);
}

/* ---- timing of a call ---- */

static uint64_t watchdog_time(const ki_reflector *r)
{
    uint64_t last = r->alive;
    uint64_t limit = r->times.silence_ns;
    if (r->state == KI_REFLECTOR_STREAMING && r->attempt == KI__ATTEMPT_ACCEPTED) {
        last = r->progress > r->alive ? r->progress : r->alive;
        limit = r->times.initial_idle_ns;
    }
    uint64_t time = later(last, limit);
    return time < r->deadline ? time : r->deadline;
}

void ki__reflector_watch_over(ki_reflector *r)
{
    if (!r->paused) {
        ki__timer_set(&r->watchdog, watchdog_time(r));
    }
}

void ki__reflector_begin_call(ki_reflector *r, uint64_t limit_ns)
{
    uint64_t now = ki__engine_now(r->engine);
    r->began = now;
    r->alive = now;
    r->progress = now;
    r->deadline = later(now, limit_ns);
    r->events = 0;
    ki__reflector_watch_over(r);
    if (r->paused && r->call != NULL && r->source.pause != NULL) {
        r->source.pause(r->call, true, r->source.user);
    }
}

void ki__reflector_apply_pause(ki_reflector *r)
{
    bool has_call = r->call != NULL || r->pages.active;
    if (r->call != NULL && r->source.pause != NULL) {
        r->source.pause(r->call, r->paused, r->source.user);
    }
    ki__pages_pause(&r->pages, r->paused);
    if (r->paused) {
        ki__timer_cancel(&r->watchdog);
    } else if (has_call) {
        uint64_t now = ki__engine_now(r->engine);
        uint64_t soon = later(now, r->times.initial_idle_ns);
        r->alive = now;
        r->deadline = r->deadline > soon ? r->deadline : soon;
        ki__reflector_watch_over(r);
    }
}

static void give_up(ki_reflector *r, bool overdue)
{
    ki_error error;
    ki__error_init(&error);
    (void)ki__error_set(&error, -ETIMEDOUT, "timeout: no data from the source");
    switch (r->state) {
    case KI_REFLECTOR_STREAMING:
        if (r->attempt != KI__ATTEMPT_ACCEPTED) {
            ki__reflector_stream_ended(r, &error, NULL);
            break;
        }
        ki__reflector_stream_idle(r, overdue
                                         ? "streaming list: initial events did not complete in time"
                                         : "streaming list: initial events stalled");
        break;
    case KI_REFLECTOR_LISTING:
        ki__reflector_list_failed(r, &error, NULL);
        break;
    case KI_REFLECTOR_WATCHING:
        ki__reflector_watch_ended(r, overdue ? NULL : &error, NULL, false);
        break;
    case KI_REFLECTOR_NEW:
    case KI_REFLECTOR_BACKOFF:
    case KI_REFLECTOR_STOPPED:
    case KI_REFLECTOR_STATE_MAX:
        ki_assert(false);
    }
}

/* Not rearmed with each byte: when it fires, it checks whether one was received. */
void ki__reflector_on_watchdog(ki__timer *timer)
{
    ki_reflector *r = KI__CONTAINER_OF(timer, ki_reflector, watchdog);
    if (ki__reflector_is_stopping(r)) {
        return;
    }
    uint64_t now = ki__engine_now(r->engine);
    uint64_t time = watchdog_time(r);
    if (now < time) {
        ki__timer_set(&r->watchdog, time);
    } else {
        give_up(r, now >= r->deadline);
    }
    ki__reflector_check(r);
}
