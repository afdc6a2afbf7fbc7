/* SPDX-License-Identifier: Apache-2.0 */
/* One discovery at a time. Any thread queues callers; everything else happens inside the loop. A
 * discovery serves callers that were queued before it started, or that accept an older result; for
 * the others the next one starts.
 *
 * Invariant: callers are notified only by the task, or once the loop was stopped; never from the
 * completion of a request, and the last one as the last action. So a waiter on another thread finds
 * nothing in progress here when it continues, and may release the client. */
#include "client/discovery/discovery_cache.h"

#include <errno.h>

#include "base/alloc.h"
#include "base/error.h"

typedef struct waiter {
    ki__list link;
    uint64_t since;
    ki__discovery_done on_done;
    void *user;
    bool holds;              /* has a reference to the requester */
    ki_discovery *discovery; /* the result to deliver: this, or the error */
    ki_error error;
} waiter;

static void work(ki__task *task);

int ki__discovery_cache_init(ki__discovery_cache *cache, ki_engine *engine,
                             const ki__discovery_requester *requester)
{
    int r = ki__mutex_init(&cache->lock);
    if (r < 0) {
        return r;
    }
    cache->requester = *requester;
    cache->engine = engine; /* marks it as initialized */
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

ki_discovery *ki__discovery_cache_known(ki__discovery_cache *cache, uint64_t since)
{
    ki__mutex_lock(&cache->lock);
    ki_discovery *known = NULL;
    if (cache->known != NULL && cache->known_since >= since) {
        known = ki_discovery_ref(cache->known);
    }
    ki__mutex_unlock(&cache->lock);
    return known;
}

/* ---- waiting ---- */

/* Releasing the waiter's reference may free the owner of the cache. */
static void free_waiter(const ki_alloc *alloc, const ki__discovery_requester *requester, waiter *w)
{
    bool holds = w->holds;
    (void)ki_discovery_unref(w->discovery);
    ki__free(alloc, w);
    if (holds) {
        requester->unref(requester->user);
    }
}

int ki__discovery_cache_request(ki__discovery_cache *cache, uint64_t since, bool hold,
                                ki__discovery_done on_done, void *user)
{
    waiter *w = ki__alloc_zero(ki__engine_alloc(cache->engine), sizeof(*w));
    if (w == NULL) {
        return -ENOMEM;
    }
    w->since = since;
    w->on_done = on_done;
    w->user = user;
    w->holds = hold;
    if (hold) {
        cache->requester.ref(cache->requester.user);
    }
    ki__mutex_lock(&cache->lock);
    bool stopped = cache->stopped;
    if (!stopped) {
        ki__list_push_back(&cache->waiting, &w->link);
    }
    ki__mutex_unlock(&cache->lock);
    if (stopped) {
        free_waiter(ki__engine_alloc(cache->engine), &cache->requester, w);
        return KI_ERR_STOPPED;
    }
    (void)ki__engine_post(cache->engine, &cache->task);
    return 0;
}

/* Whether a waiter needs a new discovery; for the others the task is posted. */
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
    const ki__discovery_requester requester = cache->requester;
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
        free_waiter(alloc, &requester, KI__CONTAINER_OF(link, waiter, link));
    }
}

/* ---- inside the loop ---- */

/* Marks the waiters that a discovery of that time serves, to be notified by the next run of the
 * task. */
static void serve(ki__discovery_cache *cache, uint64_t time, const ki_discovery *discovery,
                  const ki_error *error)
{
    ki__mutex_lock(&cache->lock);
    KI__LIST_FOR_EACH (link, &cache->waiting) {
        waiter *w = KI__CONTAINER_OF(link, waiter, link);
        if (w->since <= time) {
            w->discovery = ki_discovery_ref(discovery);
            ki__error_clear(&w->error);
            if (error != NULL) {
                ki__error_copy(&w->error, error);
            }
            ki__list_remove(link);
            ki__list_push_back(&cache->serving, link);
        }
    }
    ki__mutex_unlock(&cache->lock);
}

static void on_fetched(const ki_discovery *discovery, const ki_error *error, void *user)
{
    ki__discovery_cache *cache = user;
    cache->fetch = NULL;
    if (discovery != NULL) {
        ki__mutex_lock(&cache->lock);
        const ki_discovery *old = cache->known;
        cache->known = ki_discovery_ref(discovery);
        cache->known_since = cache->began;
        ki__mutex_unlock(&cache->lock);
        (void)ki_discovery_unref(old);
    } else {
        serve(cache, cache->began, NULL, error);
    }
    (void)ki__engine_post(cache->engine, &cache->task);
}

static void fetch(ki__discovery_cache *cache)
{
    ki_error error = KI_ERROR_INIT;
    cache->began = ki__engine_now(cache->engine);
    int r =
        ki__discovery_fetch_start(ki__engine_alloc(cache->engine), ki__engine_log(cache->engine),
                                  &cache->requester, on_fetched, cache, &cache->fetch, &error);
    if (r < 0) {
        if (error.code == 0) {
            (void)ki__error_code(&error, r);
        }
        serve(cache, cache->began, NULL, &error);
    }
}

/* Notifies the first served waiter. Whether there are more; if not, the cache may be gone. */
static bool notify_one(ki__discovery_cache *cache)
{
    const ki__discovery_requester requester = cache->requester;
    const ki_alloc *alloc = ki__engine_alloc(cache->engine);
    ki__list *link = ki__list_pop_front(&cache->serving);
    if (link == NULL) {
        return false;
    }
    waiter *w = KI__CONTAINER_OF(link, waiter, link);
    /* A caller without a reference here has its own, and may drop it once notified. */
    bool more = !ki__list_is_empty(&cache->serving);
    w->on_done(w->discovery, w->discovery != NULL ? NULL : &w->error, w->user);
    if (w->holds) {
        more = !ki__list_is_empty(&cache->serving); /* the callback may have withdrawn others */
    }
    free_waiter(alloc, &requester, w);
    return more;
}

/* Waiters added during notification wait for the next run, so that the loop is not blocked. */
static void work(ki__task *task)
{
    ki__discovery_cache *cache = KI__CONTAINER_OF(task, ki__discovery_cache, task);
    if (cache->known != NULL) { /* only changed by this thread */
        serve(cache, cache->known_since, cache->known, NULL);
    }
    if (cache->fetch == NULL && is_reading_needed(cache)) {
        fetch(cache);
    }
    ki__discovery_cache_notify(cache);
}

/* ---- stopping ---- */

bool ki__discovery_cache_close(ki__discovery_cache *cache, const ki_error *error)
{
    ki__mutex_lock(&cache->lock);
    cache->stopped = true;
    ki__mutex_unlock(&cache->lock);
    ki__discovery_fetch_end(cache->fetch);
    cache->fetch = NULL;
    serve(cache, UINT64_MAX, NULL, error);
    return !ki__list_is_empty(&cache->serving);
}

void ki__discovery_cache_notify(ki__discovery_cache *cache)
{
    while (notify_one(cache)) {
    }
}
