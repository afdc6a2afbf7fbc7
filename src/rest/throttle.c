/* SPDX-License-Identifier: Apache-2.0 */
/* The bucket is represented by a time: when it would be full if no more tokens were taken. A token
 * costs one interval; one is available if the bucket is full no later than `burst` intervals from
 * now. */
#include "rest/throttle.h"

#include <errno.h>

#include "base/alloc.h"
#include "base/digits.h"
#include "base/engine.h"
#include "base/error.h"
#include "base/log.h"
#include "base/time_units.h"

enum { WAITING_MAX = 1 << 16, BURST_DEFAULT = 10, QPS_DEFAULT = 5 };
#define LOG_AFTER_NS KI__SECOND_NS        /* a noticeable wait */
#define LOG_EVERY_NS (10 * KI__SECOND_NS) /* log rate limit */
#define FILL_MAX_NS (UINT64_C(1) << 61)   /* about seventy years */

struct ki__throttle {
    const ki_alloc *alloc;
    ki_engine *engine;
    uint64_t interval; /* nanoseconds per token; 0: no limit */
    uint64_t most;     /* of a full bucket */
    uint64_t full_at;
    ki__timer timer; /* when the first waiter may start */
    ki__list line;
    size_t line_count;
    uint64_t quiet_until; /* no log messages before */
};

/* ---- the bucket ---- */

/* The time of the next token; in the past if one is available. */
static uint64_t next_token(const ki__throttle *throttle)
{
    uint64_t room = throttle->most - throttle->interval;
    return throttle->full_at > room ? throttle->full_at - room : 0;
}

static bool take_token(ki__throttle *throttle)
{
    uint64_t now = ki__engine_now(throttle->engine);
    if (throttle->interval == 0) {
        return true;
    }
    if (next_token(throttle) > now) {
        return false;
    }
    throttle->full_at = (throttle->full_at > now ? throttle->full_at : now) + throttle->interval;
    return true;
}

/* ---- the queue ---- */

static void wait_for_first(ki__throttle *throttle)
{
    ki__timer_set(&throttle->timer,
                  ki__list_is_empty(&throttle->line) ? UINT64_MAX : next_token(throttle));
}

int ki__throttle_enter(ki__throttle *throttle, const ki_http_request *request,
                       ki__throttle_waiter *waiter, ki_error *error)
{
    if (ki__throttle_is_exempt(request) ||
        (ki__list_is_empty(&throttle->line) && take_token(throttle))) {
        return 0;
    }
    if (throttle->line_count >= WAITING_MAX) {
        return ki__error_set(error, KI_ERR_LIMIT,
                             "client-side rate limit: %d requests already queued", WAITING_MAX);
    }
    waiter->throttle = throttle;
    waiter->since = ki__engine_now(throttle->engine);
    ki__list_push_back(&throttle->line, &waiter->link);
    throttle->line_count++;
    wait_for_first(throttle);
    return 1;
}

static void take_out(ki__throttle_waiter *waiter)
{
    waiter->throttle->line_count--;
    waiter->throttle = NULL;
    ki__list_remove(&waiter->link);
}

void ki__throttle_leave(ki__throttle_waiter *waiter)
{
    ki__throttle *throttle = waiter->throttle;
    if (throttle != NULL) {
        take_out(waiter);
        wait_for_first(throttle);
    }
}

static void log_wait(ki__throttle *throttle, const ki__throttle_waiter *waiter)
{
    uint64_t now = ki__engine_now(throttle->engine);
    uint64_t waited = now - waiter->since;
    if (waited < LOG_AFTER_NS || now < throttle->quiet_until) {
        return;
    }
    throttle->quiet_until = now + LOG_EVERY_NS;
    char room[KI__DIGITS_SIZE];
    KI__LOG(ki__engine_log(throttle->engine), KI_LOG_INFO, "client",
            "request delayed by client-side rate limit",
            {"waited_ms", ki__digits(waited / KI__MS_NS, room)}, {"method", waiter->method},
            {"path", waiter->path});
}

static ki__throttle_waiter *first(const ki__throttle *throttle)
{
    return KI__CONTAINER_OF(throttle->line.next, ki__throttle_waiter, link);
}

static void on_timer(ki__timer *timer)
{
    ki__throttle *throttle = KI__CONTAINER_OF(timer, ki__throttle, timer);
    while (!ki__list_is_empty(&throttle->line) && take_token(throttle)) {
        ki__throttle_waiter *waiter = first(throttle);
        log_wait(throttle, waiter);
        take_out(waiter);
        waiter->go(waiter);
    }
    wait_for_first(throttle);
}

/* ---- creation ---- */

static int set_rate(ki__throttle *throttle, double qps, uint32_t burst, ki_error *error)
{
    burst = burst != 0 ? burst : BURST_DEFAULT;
    if (qps == 0) {
        qps = QPS_DEFAULT;
    }
    if (qps < 0) {
        return 0;
    }
    double interval = (double)KI__SECOND_NS / qps;
    if (!(interval * burst < (double)FILL_MAX_NS)) { /* also if NaN */
        return ki__error_set(error, -EINVAL, "qps: too small for this burst");
    }
    throttle->interval = (uint64_t)interval;
    throttle->most = throttle->interval * burst;
    return 0;
}

int ki__throttle_new(ki_engine *engine, double qps, uint32_t burst, ki__throttle **ret_throttle,
                     ki_error *error)
{
    const ki_alloc *alloc = ki__engine_alloc(engine);
    ki__throttle *throttle = ki__alloc_zero(alloc, sizeof(*throttle));
    if (throttle == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    throttle->alloc = alloc;
    throttle->engine = ki_engine_ref(engine);
    ki__list_init(&throttle->line);
    int r = set_rate(throttle, qps, burst, error);
    if (r == 0) {
        r = ki__timer_init(&throttle->timer, engine, on_timer);
        r = r < 0 ? ki__error_code(error, r) : 0;
    }
    if (r < 0) {
        ki__throttle_free(throttle);
        return r;
    }
    *ret_throttle = throttle;
    return 0;
}

void ki__throttle_free(ki__throttle *throttle)
{
    if (throttle == NULL) {
        return;
    }
    ki_engine *engine = throttle->engine;
    while (!ki__list_is_empty(&throttle->line)) {
        take_out(first(throttle));
    }
    ki__timer_done(&throttle->timer);
    ki__free(throttle->alloc, throttle);
    (void)ki_engine_unref(engine);
}
