/* SPDX-License-Identifier: Apache-2.0 */
#include "rest/request_stats.h"

#define MS(n) (UINT64_C(1000000) * (n))
const uint64_t ki__request_bounds_ns[KI__REQUEST_BOUNDS] = {
    MS(5),    MS(25),   MS(100),  MS(250),   MS(500),   MS(1000),
    MS(2000), MS(4000), MS(8000), MS(15000), MS(30000), MS(60000),
};

const char *const ki__http_method_names[KI__METHOD_MAX] = {
    [KI__METHOD_GET] = "GET",     [KI__METHOD_POST] = "POST",     [KI__METHOD_PUT] = "PUT",
    [KI__METHOD_PATCH] = "PATCH", [KI__METHOD_DELETE] = "DELETE", [KI__METHOD_OTHER] = "OTHER",
};

static ki__http_method method_of(ki_str method)
{
    size_t i = 0;
    while (i < KI__METHOD_OTHER && !ki_str_eq(method, ki_str_from(ki__http_method_names[i]))) {
        i++;
    }
    return (ki__http_method)i;
}

/* There is only one writer, so an unused slot stays unused until this function takes it. */
static void count(ki__request_count *slots, size_t slot_count, ki_str method, int status)
{
    uint32_t wanted =
        1 + (status > 0 ? (uint32_t)status : 0) * KI__METHOD_MAX + (uint32_t)method_of(method);
    size_t i = 0;
    uint32_t key;
    while ((key = atomic_load_explicit(&slots[i].key, memory_order_relaxed)) != 0 &&
           key != wanted && i < slot_count - 1) {
        i++;
    }
    if (key == 0) {
        atomic_store_explicit(&slots[i].key, wanted, memory_order_relaxed);
    }
    ki__counter_add(&slots[i].count, 1);
}

void ki__request_stats_result(ki__request_stats *stats, ki_str method, int status)
{
    count(stats->results, KI__REQUEST_RESULTS, method, status);
}

void ki__request_stats_retry(ki__request_stats *stats, ki_str method, int status)
{
    count(stats->retries, KI__REQUEST_RETRIES, method, status);
}

void ki__request_stats_duration(ki__request_stats *stats, ki_str method, uint64_t ns)
{
    ki__histogram_observe(stats->durations[method_of(method)], ki__request_bounds_ns,
                          KI__REQUEST_BOUNDS, ns);
}

void ki__request_stats_wait(ki__request_stats *stats, ki_str method, uint64_t ns)
{
    ki__histogram_observe(stats->waits[method_of(method)], ki__request_bounds_ns,
                          KI__REQUEST_BOUNDS, ns);
}
