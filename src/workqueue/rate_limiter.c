/* SPDX-License-Identifier: Apache-2.0 */
/* Basic rate limiters: exponential, fast and slow, bucket. client-go: default_rate_limiters.go.
 * Overflows saturate. */
#include <errno.h>

#include <kinformer/rate_limiter.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "base/process.h"
#include "base/time_units.h"
#include "workqueue/failures.h"
#include "workqueue/workqueue_state.h"

static const double qps_min = 0.001;
static const double qps_max = 1e9;
static const size_t keys_default = (size_t)1 << 20;
static const size_t keys_max = (size_t)1 << 30;

int ki__rate_limiter_options(const ki_rate_limiter_options *theirs, ki_rate_limiter_options *ours)
{
    int r = KI__TAKE(ki_rate_limiter_options, ours, theirs, NULL);
    if (r < 0) {
        return r;
    }
    ours->alloc = ki__alloc_or_default(ours->alloc);
    ours->max_keys = ours->max_keys != 0 ? ours->max_keys : keys_default;
    return ours->max_keys <= keys_max ? 0 : -EINVAL;
}

int ki__rate_limiter_take(ki_rate_limiter *ours, const ki_rate_limiter *theirs, ki_error *error)
{
    if (theirs == NULL) {
        return ki__error_null(error, "limiter");
    }
    int r = KI__TAKE(ki_rate_limiter, ours, theirs, error);
    if (r < 0) {
        return r;
    }
    if (ours->when == NULL || ours->forget == NULL || ours->requeues == NULL) {
        return ki__error_set(error, -EINVAL, "limiter: when, forget and requeues must be set");
    }
    return 0;
}

void ki_rate_limiter_done(ki_rate_limiter *limiter)
{
    if (limiter == NULL) {
        return;
    }
    if (limiter->destroy != NULL) {
        limiter->destroy(limiter->user);
    }
    (void)KI__GIVE(ki_rate_limiter, limiter, &(ki_rate_limiter){0});
}

/* By failures of the key */

typedef struct counter {
    const ki_alloc *alloc;
    uint64_t process; /* creating process */
    ki__failures failures;
    uint64_t first_ms; /* base, or fast */
    uint64_t last_ms;  /* max, or slow */
    uint32_t fast_count;
} counter;

static uint64_t exponential_when(ki_str key, uint64_t now_ns, void *user)
{
    (void)now_ns;
    counter *c = user;
    uint32_t before = ki__failures_add(&c->failures, key);
    if (c->first_ms == 0 && before != UINT32_MAX) {
        return 0;
    }
    if (before >= 64 || c->first_ms > c->last_ms >> before) {
        return c->last_ms;
    }
    return c->first_ms << before;
}

static uint64_t fast_slow_when(ki_str key, uint64_t now_ns, void *user)
{
    (void)now_ns;
    counter *c = user;
    return ki__failures_add(&c->failures, key) < c->fast_count ? c->first_ms : c->last_ms;
}

static void counter_forget(ki_str key, void *user)
{
    counter *c = user;
    ki__failures_forget(&c->failures, key);
}

static uint32_t counter_requeues(ki_str key, void *user)
{
    counter *c = user;
    return ki__failures_get(&c->failures, key);
}

static void counter_destroy(void *user)
{
    counter *c = user;
    if (ki__is_inherited(c->process)) {
        return;
    }
    ki__failures_done(&c->failures);
    ki__free(c->alloc, c);
}

/* Creates a failure counting limiter, without its durations. */
static int counter_new(const ki_rate_limiter_options *options, counter **ret_counter)
{
    ki_rate_limiter_options o;
    int r = ki__rate_limiter_options(options, &o);
    if (r < 0) {
        return r;
    }
    counter *c = ki__alloc_zero(o.alloc, sizeof(*c));
    if (c == NULL) {
        return -ENOMEM;
    }
    c->alloc = o.alloc;
    c->process = ki__process();
    r = ki__failures_init(&c->failures, o.alloc, o.random, o.max_keys);
    if (r < 0) {
        ki__free(o.alloc, c);
        return r;
    }
    *ret_counter = c;
    return 0;
}

int ki_rate_limiter_exponential(uint64_t base_ms, uint64_t max_ms,
                                const ki_rate_limiter_options *options,
                                ki_rate_limiter *ret_limiter)
{
    KI__REQUIRE_SIZED(ki_rate_limiter, ret_limiter, NULL);
    counter *c;
    int r = counter_new(options, &c);
    if (r < 0) {
        return r;
    }
    c->first_ms = base_ms;
    c->last_ms = max_ms;
    const ki_rate_limiter limiter = {
        .size = sizeof(limiter),
        .when = exponential_when,
        .forget = counter_forget,
        .requeues = counter_requeues,
        .destroy = counter_destroy,
        .user = c,
    };
    return KI__GIVE(ki_rate_limiter, ret_limiter, &limiter);
}

int ki_rate_limiter_fast_slow(uint64_t fast_ms, uint64_t slow_ms, uint32_t fast_count,
                              const ki_rate_limiter_options *options, ki_rate_limiter *ret_limiter)
{
    KI__REQUIRE_SIZED(ki_rate_limiter, ret_limiter, NULL);
    counter *c;
    int r = counter_new(options, &c);
    if (r < 0) {
        return r;
    }
    c->first_ms = fast_ms;
    c->last_ms = slow_ms;
    c->fast_count = fast_count;
    const ki_rate_limiter limiter = {
        .size = sizeof(limiter),
        .when = fast_slow_when,
        .forget = counter_forget,
        .requeues = counter_requeues,
        .destroy = counter_destroy,
        .user = c,
    };
    return KI__GIVE(ki_rate_limiter, ret_limiter, &limiter);
}

/* The bucket, represented by the time at which it is full again: a token costs one interval, and if
 * this time is more than a whole bucket ahead, the caller waits for the difference. */

typedef struct bucket {
    const ki_alloc *alloc;
    uint64_t process; /* creating process */
    ki__mutex lock;
    uint64_t interval_ns;
    uint64_t whole_ns; /* time to fill a whole bucket */
    uint64_t full_ns;  /* protected by lock */
} bucket;

static uint64_t add_up(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static uint64_t bucket_when(ki_str key, uint64_t now_ns, void *user)
{
    (void)key;
    bucket *b = user;
    ki__mutex_lock(&b->lock);
    b->full_ns = add_up(b->full_ns > now_ns ? b->full_ns : now_ns, b->interval_ns);
    uint64_t fill_ns = b->full_ns - now_ns;
    ki__mutex_unlock(&b->lock);
    return fill_ns > b->whole_ns ? ki__ns_to_ms(fill_ns - b->whole_ns) : 0;
}

static void bucket_unused(ki_str key, void *user)
{
    (void)key;
    bucket *b = user;
    ki__mutex_lock(&b->lock);
    b->full_ns = b->full_ns > b->interval_ns ? b->full_ns - b->interval_ns : 0;
    ki__mutex_unlock(&b->lock);
}

static void bucket_forget(ki_str key, void *user)
{
    (void)key;
    (void)user;
}

static uint32_t bucket_requeues(ki_str key, void *user)
{
    (void)key;
    (void)user;
    return 0;
}

static void bucket_destroy(void *user)
{
    bucket *b = user;
    if (ki__is_inherited(b->process)) {
        return;
    }
    ki__mutex_done(&b->lock);
    ki__free(b->alloc, b);
}

int ki__rate_limiter_bucket(uint64_t interval_ns, uint32_t burst,
                            const ki_rate_limiter_options *options, ki_rate_limiter *ret_limiter)
{
    ki_rate_limiter_options o;
    int r = ki__rate_limiter_options(options, &o);
    if (r < 0) {
        return r;
    }
    if (interval_ns == 0 || burst == 0) {
        return -EINVAL;
    }
    bucket *b = ki__alloc_zero(o.alloc, sizeof(*b));
    if (b == NULL) {
        return -ENOMEM;
    }
    b->alloc = o.alloc;
    b->process = ki__process();
    b->interval_ns = interval_ns;
    if (__builtin_mul_overflow(interval_ns, (uint64_t)burst, &b->whole_ns)) {
        b->whole_ns = UINT64_MAX;
    }
    r = ki__mutex_init(&b->lock);
    if (r < 0) {
        ki__free(o.alloc, b);
        return r;
    }
    const ki_rate_limiter limiter = {
        .size = sizeof(limiter),
        .when = bucket_when,
        .forget = bucket_forget,
        .requeues = bucket_requeues,
        .unused = bucket_unused,
        .destroy = bucket_destroy,
        .user = b,
    };
    return KI__GIVE(ki_rate_limiter, ret_limiter, &limiter);
}

int ki_rate_limiter_bucket(double qps, uint32_t burst, const ki_rate_limiter_options *options,
                           ki_rate_limiter *ret_limiter)
{
    KI__REQUIRE_SIZED(ki_rate_limiter, ret_limiter, NULL);
    if (!(qps >= qps_min && qps <= qps_max)) { /* also if NaN */
        return -EINVAL;
    }
    uint64_t interval_ns = (uint64_t)((double)KI__SECOND_NS / qps);
    return ki__rate_limiter_bucket(interval_ns, burst, options, ret_limiter);
}
