/* SPDX-License-Identifier: Apache-2.0 */
/* State and health of a shared informer, and waiting for its sync. */
#include <errno.h>

#include "base/digits.h"
#include "base/error.h"
#include "base/options.h"
#include "base/time_units.h"
#include "cache/informer/informer.h"
#include "cache/reflector/reflector.h"
#include "cache/store/readers.h"
#include "cache/store/version.h"

/* ---- sync ---- */

bool ki_informer_has_synced(ki_informer *informer)
{
    ki__mutex_lock(&informer->lock);
    bool synced = informer->synced;
    ki__mutex_unlock(&informer->lock);
    return synced;
}

/* Requires the lock. */
static bool all_have_synced(ki_informer *informer)
{
    bool synced = informer->synced;
    KI__LIST_FOR_EACH (link, &informer->handlers) {
        ki__registration_entry *entry = KI__CONTAINER_OF(link, ki__registration_entry, link);
        synced = synced && ki_registration_has_synced(ki__registration_of_entry(entry));
    }
    return synced;
}

static int wait_for_sync(ki_informer *informer, uint32_t timeout_ms)
{
    uint64_t now = ki__engine_now(informer->engine);
    uint64_t deadline = timeout_ms == UINT32_MAX ? UINT64_MAX : now + timeout_ms * KI__MS_NS;
    bool inside = ki__engine_is_inside(informer->engine) || ki__registration_is_calling(informer);
    int r = 0;
    bool in_time = true;
    ki__mutex_lock(&informer->lock);
    while (r == 0 && !all_have_synced(informer)) {
        if (informer->state >= KI__INFORMER_STOPPING) {
            r = KI_ERR_STOPPED;
        } else if (timeout_ms == 0 || !in_time) {
            r = -ETIMEDOUT;
        } else if (inside) {
            r = KI_ERR_BUSY;
        } else {
            in_time = ki__cond_wait_until(&informer->changed, &informer->lock, deadline);
        }
    }
    ki__mutex_unlock(&informer->lock);
    return r;
}

static ki_health reflector_health(ki_informer *informer, ki_error *ret_reason)
{
    ki_health health = KI_OPTIONS_INIT(ki_health);
    ki__mutex_lock(&informer->lock);
    ki_reflector *reflector = ki_reflector_ref(informer->reflector);
    ki__mutex_unlock(&informer->lock);
    if (reflector != NULL) {
        (void)ki_reflector_get_health(reflector, &health, ret_reason);
        (void)ki_reflector_unref(reflector);
    }
    return health;
}

ki__informer_lag ki__informer_lag_of(ki_informer *informer)
{
    const ki_health health = reflector_health(informer, NULL);
    ki__mutex_lock(&informer->lock);
    ki__informer_lag lag = {
        .has_list = informer->synced,
        .synced = all_have_synced(informer),
        .failed_attempts = health.failed_attempts,
        .failing_ms = health.failing_ms,
    };
    ki__mutex_unlock(&informer->lock);
    return lag;
}

int ki__informer_explain_wait(ki_informer *informer, int code, ki_error *error)
{
    if (error == NULL) {
        return code;
    }
    ki_error reason = KI_ERROR_INIT;
    const ki_error *why = &reason;
    const ki_health health = reflector_health(informer, &reason);
    (void)ki__error_set(error, code, "%s not synced: %s", informer->options.name,
                        ki_error_text(code));
    if (!ki_informer_has_synced(informer)) {
        if (why->code != 0) {
            (void)ki__error_set(error, code, "%s: %s %s: ", error->message,
                                ki_watch_operation_name(health.reason_operation),
                                health.failed_attempts > 1 ? "keeps failing" : "failed");
            ki__error_add(error, ki_str_from(why->message));
        }
        error->http_code = why->http_code;
        error->reason = why->reason;
    } else if (code == -ETIMEDOUT) {
        ki__error_add(error, ki_str_from(": a handler has not processed the initial list"));
    }
    return code;
}

int ki_informer_wait_for_sync(ki_informer *informer, uint32_t timeout_ms, ki_error *error)
{
    KI__REQUIRE(informer, error);
    if (ki__engine_is_inherited(informer->engine)) {
        return ki__error_code(error, KI_ERR_STOPPED);
    }
    int r = wait_for_sync(informer, timeout_ms);
    return r < 0 ? ki__informer_explain_wait(informer, r, error) : r;
}

/* ---- accessors and health ---- */

ki_store *ki_informer_store(const ki_informer *informer)
{
    return informer->store;
}

ki_lister ki_informer_lister(const ki_informer *informer)
{
    return ki_lister_of(informer->store, informer->options.resource);
}

/* ---- reading ---- */

ki_object *ki_informer_get(const ki_informer *informer, const char *name_space, const char *name)
{
    ki_object *object = NULL;
    if (informer == NULL || name == NULL) {
        return NULL;
    }
    const ki_lister lister = ki_informer_lister(informer);
    int r = ki_lister_get(&lister, name_space, name, &object, NULL);
    return r < 0 ? NULL : object;
}

int ki_informer_list(const ki_informer *informer, const char *name_space, const char *selector,
                     ki_list **ret_list, ki_error *error)
{
    KI__REQUIRE(informer, error);
    KI__REQUIRE(ret_list, error);
    ki_selector *parsed = NULL;
    int r = 0;
    if (selector != NULL && selector[0] != '\0') {
        r = ki_selector_parse(selector, ki__engine_alloc(informer->engine), &parsed, error);
    }
    if (r < 0) {
        return r;
    }
    const ki_lister lister = ki_informer_lister(informer);
    r = ki__lister_list(&lister, name_space, parsed, __builtin_return_address(0), ret_list);
    (void)ki_selector_unref(parsed);
    return r < 0 ? ki__error_code(error, r) : 0;
}

const ki_resource *ki_informer_resource(const ki_informer *informer)
{
    return informer->options.resource;
}

const char *ki_informer_name(const ki_informer *informer)
{
    return informer->options.name;
}

int ki_informer_last_sync_resource_version(ki_informer *informer, char *text, size_t size)
{
    KI__REQUIRE(informer, NULL);
    KI__REQUIRE(text, NULL);
    ki__mutex_lock(&informer->lock);
    ki_reflector *reflector = ki_reflector_ref(informer->reflector);
    ki__mutex_unlock(&informer->lock);
    if (reflector == NULL) {
        if (size == 0) {
            return KI_ERR_LIMIT;
        }
        text[0] = '\0';
        return 0;
    }
    int r = ki_reflector_last_sync_resource_version(reflector, text, size);
    (void)ki_reflector_unref(reflector);
    return r;
}

/* Requires the lock. */
static void count_handlers(ki_informer *informer, ki_health *h)
{
    h->handlers = informer->handler_count;
    h->merged = informer->merged_before;
    KI__LIST_FOR_EACH (link, &informer->handlers) {
        ki__registration_entry *entry = KI__CONTAINER_OF(link, ki__registration_entry, link);
        if (entry->observes) {
            continue;
        }
        ki_registration_stats stats = ki__registration_stats(ki__registration_of_entry(entry));
        h->merged += stats.merged;
        h->handlers_waiting =
            stats.waiting > h->handlers_waiting ? stats.waiting : h->handlers_waiting;
    }
}

static void count_threads(const ki_informer *informer, ki_health *h)
{
    ki__pool *pool = ki__engine_pool(informer->engine);
    if (pool != NULL) {
        ki__pool_stats stats = ki__pool_get_stats(pool);
        h->handler_threads = stats.threads;
        h->handler_threads_full = stats.full;
    }
}

static void count_memory(const ki_informer *informer, ki_health *h)
{
    const ki_memory memory = ki__informer_memory(informer);
    h->over_limit = memory.over_limit;
    h->reduction = memory.reduction;
    h->reduced = memory.reduction == KI_REDUCTION_METADATA;
    h->refusals = atomic_load_explicit(&informer->limit.refusals, memory_order_relaxed);
    h->max_bytes = memory.max_bytes;
    h->memory = memory.total;
    h->object_bytes = memory.objects;
    h->index_bytes = memory.indexes;
    h->version_bytes = memory.versions;
    h->queue_bytes = memory.queues;
    h->decoding_bytes = memory.decoding;
    h->oldest_snapshot_ms = ki__store_oldest_ns(informer->store) / KI__MS_NS;
}

int ki_informer_get_health(ki_informer *informer, ki_health *health, ki_error *ret_reason)
{
    KI__REQUIRE(informer, NULL);
    KI__REQUIRE(health, NULL);
    if (ret_reason != NULL) {
        ki__error_clear(ret_reason);
    }
    ki_health h = reflector_health(informer, ret_reason);
    ki__mutex_lock(&informer->lock);
    h.synced = informer->synced;
    h.stopped = informer->state == KI__INFORMER_STOPPED && informer->unfinished == 0;
    h.applied = informer->applied;
    h.rejected = informer->skipped;
    h.suppressed = informer->suppressed;
    h.mutations = informer->mutation_count;
    count_handlers(informer, &h);
    ki__mutex_unlock(&informer->lock);
    ki_snapshot *snapshot = ki__version_acquire(informer->store);
    h.objects = ki_snapshot_count(snapshot);
    (void)ki_snapshot_unref(snapshot);
    h.queued = ki_queue_count(informer->queue);
    h.queued_bytes = ki_queue_bytes(informer->queue);
    count_threads(informer, &h);
    count_memory(informer, &h);
    return KI__GIVE(ki_health, health, &h);
}

static uint64_t low_digits(const char *version)
{
    enum { DIGITS = 15 };
    ki_str text = ki_str_from(version);
    uint64_t number = 0;
    if (text.len > DIGITS) {
        text = ki_str_make(text.ptr + text.len - DIGITS, DIGITS);
    }
    return ki__digits_read(text, &number) ? number : 0;
}

void ki__informer_get_stats(ki_informer *informer, ki__informer_stats *ret_stats)
{
    ki__informer_stats *stats = ret_stats;
    *stats = (ki__informer_stats){.versions = ki__store_versions(informer->store)};
    ki_snapshot *snapshot = ki__version_acquire(informer->store);
    stats->version_low = low_digits(snapshot->resource_version);
    (void)ki_snapshot_unref(snapshot);
    for (size_t i = 0; i < KI__HISTOGRAM_CELLS(KI__PROCESSING_BOUNDS); i++) {
        stats->processing[i] = ki__counter_read(&informer->processing[i]);
    }
    ki__mutex_lock(&informer->lock);
    stats->unchanged = informer->unchanged;
    ki_reflector *reflector = ki_reflector_ref(informer->reflector);
    ki__mutex_unlock(&informer->lock);
    if (reflector != NULL) {
        ki__reflector_get_relists(reflector, stats->relists);
        (void)ki_reflector_unref(reflector);
    }
}
