/* SPDX-License-Identifier: Apache-2.0 */
/* Combined rate limiters: the maximum of several delays, and a bounded delay; and the default of
 * controllers. */
#include <errno.h>

#include <kinformer/rate_limiter.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "workqueue/workqueue_state.h"

enum { LIMITERS_MAX = 64 };

typedef struct group {
    const ki_alloc *alloc;
    uint64_t max_ms;
    size_t count;
    ki_rate_limiter limiters[];
} group;

static uint64_t group_when(ki_str key, uint64_t now_ns, void *user)
{
    const group *g = user;
    uint64_t longest_ms = 0;
    for (size_t i = 0; i < g->count; i++) {
        uint64_t wait_ms = g->limiters[i].when(key, now_ns, g->limiters[i].user);
        longest_ms = wait_ms > longest_ms ? wait_ms : longest_ms;
    }
    return longest_ms < g->max_ms ? longest_ms : g->max_ms;
}

static void group_forget(ki_str key, void *user)
{
    const group *g = user;
    for (size_t i = 0; i < g->count; i++) {
        g->limiters[i].forget(key, g->limiters[i].user);
    }
}

static uint32_t group_requeues(ki_str key, void *user)
{
    const group *g = user;
    uint32_t most = 0;
    for (size_t i = 0; i < g->count; i++) {
        uint32_t requeues = g->limiters[i].requeues(key, g->limiters[i].user);
        most = requeues > most ? requeues : most;
    }
    return most;
}

static void group_unused(ki_str key, void *user)
{
    const group *g = user;
    for (size_t i = 0; i < g->count; i++) {
        if (g->limiters[i].unused != NULL) {
            g->limiters[i].unused(key, g->limiters[i].user);
        }
    }
}

static void group_destroy(void *user)
{
    group *g = user;
    for (size_t i = 0; i < g->count; i++) {
        ki_rate_limiter_done(&g->limiters[i]);
    }
    ki__free(g->alloc, g);
}

static int group_new(const ki_rate_limiter *const *limiters, size_t count, uint64_t max_ms,
                     const ki_rate_limiter_options *options, ki_rate_limiter *ret_limiter)
{
    ki_rate_limiter_options o;
    int r = ki__rate_limiter_options(options, &o);
    if (r < 0) {
        return r;
    }
    if (count == 0 || count > LIMITERS_MAX) {
        return -EINVAL;
    }
    group *g = ki__alloc(o.alloc, sizeof(*g) + count * sizeof(g->limiters[0]));
    if (g == NULL) {
        return -ENOMEM;
    }
    *g = (group){.alloc = o.alloc, .max_ms = max_ms, .count = count};
    for (size_t i = 0; r >= 0 && i < count; i++) {
        r = ki__rate_limiter_take(&g->limiters[i], limiters[i], NULL);
    }
    if (r < 0) {
        ki__free(o.alloc, g);
        return r;
    }
    const ki_rate_limiter limiter = {
        .size = sizeof(limiter),
        .when = group_when,
        .forget = group_forget,
        .requeues = group_requeues,
        .unused = group_unused,
        .destroy = group_destroy,
        .user = g,
    };
    return KI__GIVE(ki_rate_limiter, ret_limiter, &limiter);
}

int ki_rate_limiter_max_of(const ki_rate_limiter *const *limiters, size_t count,
                           const ki_rate_limiter_options *options, ki_rate_limiter *ret_limiter)
{
    KI__REQUIRE(limiters, NULL);
    KI__REQUIRE_SIZED(ki_rate_limiter, ret_limiter, NULL);
    return group_new(limiters, count, UINT64_MAX, options, ret_limiter);
}

int ki_rate_limiter_with_max_wait(const ki_rate_limiter *limiter, uint64_t max_ms,
                                  const ki_rate_limiter_options *options,
                                  ki_rate_limiter *ret_limiter)
{
    KI__REQUIRE(limiter, NULL);
    KI__REQUIRE_SIZED(ki_rate_limiter, ret_limiter, NULL);
    return group_new(&limiter, 1, max_ms, options, ret_limiter);
}

int ki_rate_limiter_default(const ki_rate_limiter_options *options, ki_rate_limiter *ret_limiter)
{
    KI__REQUIRE_SIZED(ki_rate_limiter, ret_limiter, NULL);
    ki_rate_limiter both[2] = {KI_OPTIONS_INIT(ki_rate_limiter), KI_OPTIONS_INIT(ki_rate_limiter)};
    const ki_rate_limiter *const limiters[] = {&both[0], &both[1]};
    int r = ki_rate_limiter_exponential(5, 1000000, options, &both[0]);
    if (r >= 0) {
        r = ki_rate_limiter_bucket(10, 100, options, &both[1]);
    }
    if (r >= 0) {
        r = ki_rate_limiter_max_of(limiters, 2, options, ret_limiter);
    }
    if (r < 0) {
        ki_rate_limiter_done(&both[0]);
        ki_rate_limiter_done(&both[1]);
    }
    return r;
}
