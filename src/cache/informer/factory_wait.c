/* SPDX-License-Identifier: Apache-2.0 */
/* Waits until the informers of a factory have synced, and finds the one that is furthest behind. */
#include <errno.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/time_units.h"
#include "cache/informer/factory.h"

/* References to the started informers. */
static int started_ones(ki_factory *factory, ki_informer ***ret_informers, size_t *ret_count)
{
    size_t count = 0;
    ki__mutex_lock(&factory->lock);
    ki_informer **informers =
        ki__alloc_array(factory->alloc, factory->count, sizeof(ki_informer *));
    KI__LIST_FOR_EACH (link, &factory->entries) {
        ki__factory_entry *e = ki__factory_entry_at(link);
        if (informers != NULL && (e->marks & KI__FACTORY_STARTED) != 0) {
            informers[count++] = ki_informer_ref(e->informer);
        }
    }
    ki__mutex_unlock(&factory->lock);
    if (informers == NULL) {
        return -ENOMEM;
    }
    *ret_informers = informers;
    *ret_count = count;
    return 0;
}

/* Remaining time for the next one. */
static uint32_t time_left(const ki_factory *factory, uint64_t deadline)
{
    uint64_t now = ki__engine_now(factory->engine);
    uint64_t left = now < deadline ? deadline - now : 0;
    uint64_t left_ms = left / KI__MS_NS + (left % KI__MS_NS != 0);
    return left_ms < UINT32_MAX ? (uint32_t)left_ms : UINT32_MAX;
}

/* Whether `a` is further behind than `b`: those without a list first, then the one that has failed
 * longest. */
static bool is_further_behind(const ki__informer_lag *a, const ki__informer_lag *b)
{
    if (a->synced || b->synced) {
        return !a->synced;
    }
    if (a->has_list != b->has_list) {
        return !a->has_list;
    }
    if ((a->failed_attempts != 0) != (b->failed_attempts != 0)) {
        return a->failed_attempts != 0;
    }
    return a->failing_ms > b->failing_ms;
}

static int explain_timeout(ki_informer *const *informers, size_t count, ki_error *error)
{
    ki_informer *furthest = informers[0];
    ki__informer_lag lag = ki__informer_lag_of(furthest);
    size_t behind = lag.synced ? 0 : 1;
    for (size_t i = 1; i < count; i++) {
        ki__informer_lag next = ki__informer_lag_of(informers[i]);
        behind += next.synced ? 0 : 1;
        if (is_further_behind(&next, &lag)) {
            furthest = informers[i];
            lag = next;
        }
    }
    (void)ki__informer_explain_wait(furthest, -ETIMEDOUT, error);
    if (behind > 1 && error != NULL) {
        ki_error all;
        ki__error_init(&all);
        (void)ki__error_set(&all, -ETIMEDOUT, "%zu of %zu informers not synced; ", behind, count);
        ki__error_add(&all, ki_str_from(error->message));
        all.http_code = error->http_code;
        all.reason = error->reason;
        ki__error_copy(error, &all);
    }
    return -ETIMEDOUT;
}

static int wait_for_all(ki_factory *factory, ki_informer *const *informers, size_t count,
                        uint32_t timeout_ms, ki_error *error)
{
    uint64_t now = ki__engine_now(factory->engine);
    uint64_t deadline = timeout_ms == UINT32_MAX ? UINT64_MAX : now + timeout_ms * KI__MS_NS;
    for (size_t i = 0; i < count; i++) {
        int r = ki_informer_wait_for_sync(informers[i], time_left(factory, deadline), error);
        if (r < 0) {
            return r == -ETIMEDOUT ? explain_timeout(informers, count, error) : r;
        }
    }
    return 0;
}

int ki_factory_wait_for_sync(ki_factory *factory, uint32_t timeout_ms, ki_error *error)
{
    KI__REQUIRE(factory, error);
    ki_informer **informers;
    size_t count;
    if (ki__engine_is_inherited(factory->engine)) {
        return ki__error_code(error, KI_ERR_STOPPED);
    }
    ki__factory_drop_stopped(factory);
    int r = started_ones(factory, &informers, &count);
    if (r < 0) {
        return ki__error_code(error, r);
    }
    r = wait_for_all(factory, informers, count, timeout_ms, error);
    for (size_t i = 0; i < count; i++) {
        (void)ki_informer_unref(informers[i]);
    }
    ki__free(factory->alloc, informers);
    return r;
}
