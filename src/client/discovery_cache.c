/* SPDX-License-Identifier: Apache-2.0 */
/* One reading at a time. Those who ask are put in line by any thread; all else happens in a task
 * inside the loop. A reading answers those who asked before it began, or who take something older;
 * for the others the next one begins. */
#include "client/discovery_cache.h"

#include <errno.h>

#include "base/alloc.h"
#include "base/error.h"

typedef struct waiter {
    ki__list link;
    uint64_t since;
    ki__discovery_told told;
    void *user;
} waiter;

static void work(ki__task *task);

int ki__discovery_cache_init(ki__discovery_cache *cache, ki_engine *engine,
                             const ki__discovery_asker *asker)
{
    int r = ki__mutex_init(&cache->lock);
    if (r < 0) {
        return r;
    }
    cache->asker = *asker;
    cache->engine = engine; /* tells that all this is here */
    ki__task_init(&cache->task, work);
    ki__list_init(&cache->waiting);
    ki__list_init(&cache->serving);
    return 0;
}

void ki__discovery_cache_done(ki__discovery_cache *cache)
{
    if (cache->engine != NULL) {
        (void)ki__engine_unpost(cache->engine, &cache->task);
        ki__discovery_fetch_end(cache->fetch);
        cache->known = ki_discovery_unref(cache->known);
        ki__mutex_done(&cache->lock);
        cache->engine = NULL;
    }
}

const ki_discovery *ki__discovery_cache_known(ki__discovery_cache *cache, uint64_t since)
{
    ki__mutex_lock(&cache->lock);
    const ki_discovery *known = NULL;
    if (cache->known != NULL && cache->known_since >= since) {
        known = ki_discovery_ref(cache->known);
    }
    ki__mutex_unlock(&cache->lock);
    return known;
}

/* ---- waiting ---- */

int ki__discovery_cache_ask(ki__discovery_cache *cache, uint64_t since, ki__discovery_told told,
                            void *user)
{
    waiter *w = ki__alloc_zero(ki__engine_alloc(cache->engine), sizeof(*w));
    if (w == NULL) {
        return -ENOMEM;
    }
    w->since = since;
    w->told = told;
    w->user = user;
    cache->asker.ref(cache->asker.user);
    ki__mutex_lock(&cache->lock);
    ki__list_push_back(&cache->waiting, &w->link);
    ki__mutex_unlock(&cache->lock);
    (void)ki__engine_post(cache->engine, &cache->task);
    return 0;
}

/* Whether somebody waits for more than what is known; for the others the task is posted. */
static bool is_reading_needed(ki__discovery_cache *cache)
{
    bool needed = false;
    ki__mutex_lock(&cache->lock);
    KI__LIST_FOR_EACH (link, &cache->waiting) {
        needed |= cache->known == NULL ||
                  KI__CONTAINER_OF(link, waiter, link)->since > cache->known_since;
    }
    ki__mutex_unlock(&cache->lock);
    return needed;
}

static void take_of(ki__list *from, const void *user, ki__list *taken)
{
    KI__LIST_FOR_EACH (link, from) {
        if (KI__CONTAINER_OF(link, waiter, link)->user == user) {
            ki__list_remove(link);
            ki__list_push_back(taken, link);
        }
    }
}

void ki__discovery_cache_withdraw(ki__discovery_cache *cache, const void *user)
{
    ki__list taken;
    ki__list *link;
    ki__discovery_asker asker = cache->asker;
    const ki_alloc *alloc = ki__engine_alloc(cache->engine);
    ki__list_init(&taken);
    take_of(&cache->serving, user, &taken);
    ki__mutex_lock(&cache->lock);
    take_of(&cache->waiting, user, &taken);
    bool last = ki__list_is_empty(&cache->waiting);
    ki__mutex_unlock(&cache->lock);
    if (last) {
        ki__discovery_fetch_end(cache->fetch);
        cache->fetch = NULL;
    }
    while ((link = ki__list_pop_front(&taken)) != NULL) {
        ki__free(alloc, KI__CONTAINER_OF(link, waiter, link));
        asker.unref(asker.user);
    }
}

/* ---- inside the loop ---- */

/* Takes those out of line whom a reading of that time serves. Who comes while they are told waits
 * for the next turn, so that nobody can keep the loop here. */
static void take_served(ki__discovery_cache *cache, uint64_t time)
{
    ki__mutex_lock(&cache->lock);
    KI__LIST_FOR_EACH (link, &cache->waiting) {
        if (KI__CONTAINER_OF(link, waiter, link)->since <= time) {
            ki__list_remove(link);
            ki__list_push_back(&cache->serving, link);
        }
    }
    ki__mutex_unlock(&cache->lock);
}

/* The caller holds the asker, and so the cache. */
static void tell(ki__discovery_cache *cache, uint64_t time, const ki_discovery *discovery,
                 const ki_error *error)
{
    ki__list *link;
    take_served(cache, time);
    while ((link = ki__list_pop_front(&cache->serving)) != NULL) {
        waiter w = *KI__CONTAINER_OF(link, waiter, link);
        ki__free(ki__engine_alloc(cache->engine), KI__CONTAINER_OF(link, waiter, link));
        w.told(discovery, error, w.user);
        cache->asker.unref(cache->asker.user);
    }
}

static void on_fetched(const ki_discovery *discovery, const ki_error *error, void *user)
{
    ki__discovery_cache *cache = user;
    ki__discovery_asker asker = cache->asker;
    asker.ref(asker.user);
    cache->fetch = NULL;
    if (discovery != NULL) {
        ki__mutex_lock(&cache->lock);
        const ki_discovery *old = cache->known;
        cache->known = ki_discovery_ref(discovery);
        cache->known_since = cache->began;
        ki__mutex_unlock(&cache->lock);
        (void)ki_discovery_unref(old);
    }
    tell(cache, cache->began, discovery, error);
    if (is_reading_needed(cache)) {
        (void)ki__engine_post(cache->engine, &cache->task);
    }
    asker.unref(asker.user);
}

static void fetch(ki__discovery_cache *cache)
{
    ki_error error = KI_ERROR_INIT;
    cache->began = ki__engine_now(cache->engine);
    int r =
        ki__discovery_fetch_start(ki__engine_alloc(cache->engine), ki__engine_log(cache->engine),
                                  &cache->asker, on_fetched, cache, &cache->fetch, &error);
    if (r < 0) {
        if (error.code == 0) {
            (void)ki__error_code(&error, r);
        }
        tell(cache, cache->began, NULL, &error);
    }
}

static void work(ki__task *task)
{
    ki__discovery_cache *cache = KI__CONTAINER_OF(task, ki__discovery_cache, task);
    ki__discovery_asker asker = cache->asker;
    asker.ref(asker.user);
    const ki_discovery *known = ki__discovery_cache_known(cache, 0);
    if (known != NULL) {
        tell(cache, cache->known_since, known, NULL); /* which only this thread changes */
    }
    (void)ki_discovery_unref(known);
    if (cache->fetch == NULL && is_reading_needed(cache)) {
        fetch(cache);
    }
    asker.unref(asker.user);
}
