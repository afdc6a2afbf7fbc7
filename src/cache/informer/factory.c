/* SPDX-License-Identifier: Apache-2.0 */
/* The factory. Its lock keeps the list of informers and is never held while something is called
 * that may call back: informers are made before they are entered, and taken out before they are
 * stopped. */
#include <errno.h>
#include <string.h>

#include <kinformer/factory.h>

#include "base/alloc.h"
#include "base/engine.h"
#include "base/error.h"
#include "base/list.h"
#include "base/options.h"
#include "base/refs.h"
#include "base/sync.h"
#include "base/time_units.h"
#include "cache/informer/informer.h"
#include "cache/informer/tweaked_source.h"

enum { NAMESPACE_MAX = 253 };

/* What was done with an informer. */
enum { STARTED = 1, FAILED = 2, STOPPED = 4 };

typedef struct entry {
    ki__list link;
    ki_informer *informer;
    const ki_resource *resource;
    size_t users;   /* those who asked and did not release */
    unsigned marks; /* of the above */
} entry;

struct ki_factory {
    ki__refs refs;
    ki_engine *engine;
    const ki_alloc *alloc;
    ki_factory_options options;
    ki_transport transport;
    ki__mutex lock;
    ki__list entries;
    size_t count;
    bool stopped;
    char name_space[NAMESPACE_MAX + 1];
};

/* ---- making and freeing ---- */

static int check_options(const ki_factory_options *options, ki_factory_options *ret_options,
                         ki_transport *ret_transport, ki_error *error)
{
    ki_factory_options o = {0};
    int r = KI__TAKE(ki_factory_options, &o, options, error);
    if (r < 0) {
        return r;
    }
    if (o.engine == NULL) {
        return ki__error_set(error, -EINVAL, "factory: engine must not be NULL");
    }
    if ((o.transport == NULL) == (o.make_source == NULL)) {
        return ki__error_set(error, -EINVAL,
                             "factory: exactly one of transport and make_source must be set");
    }
    if (ki_str_from(o.name_space).len > NAMESPACE_MAX) {
        return ki__error_set(error, -EINVAL, "name_space: longer than %d bytes", NAMESPACE_MAX);
    }
    *ret_options = o;
    return o.transport != NULL ? KI__TAKE(ki_transport, ret_transport, o.transport, error) : 0;
}

int ki_factory_new(const ki_factory_options *options, ki_factory **ret_factory, ki_error *error)
{
    KI__REQUIRE(options, error);
    KI__REQUIRE(ret_factory, error);
    ki_factory_options o = {0};
    ki_transport transport;
    int r = check_options(options, &o, &transport, error);
    if (r < 0) {
        return r;
    }
    const ki_alloc *alloc = ki__engine_alloc(o.engine);
    ki_factory *factory = ki__alloc_zero(alloc, sizeof(*factory));
    if (factory == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    r = ki__mutex_init(&factory->lock);
    if (r < 0) {
        ki__free(alloc, factory);
        return ki__error_code(error, r);
    }
    ki__refs_init(&factory->refs);
    factory->engine = ki_engine_ref(o.engine);
    factory->alloc = alloc;
    factory->options = o;
    if (o.transport != NULL) {
        factory->transport = transport;
        factory->options.transport = &factory->transport;
        if (factory->transport.ref != NULL) {
            factory->transport.ref(factory->transport.user);
        }
    }
    ki_str name_space = ki_str_from(o.name_space);
    if (name_space.len != 0) {
        memcpy(factory->name_space, name_space.ptr, name_space.len);
    }
    ki__list_init(&factory->entries);
    *ret_factory = factory;
    return 0;
}

ki_factory *ki_factory_ref(ki_factory *factory)
{
    if (factory != NULL) {
        ki__refs_take(&factory->refs);
    }
    return factory;
}

static entry *entry_at(ki__list *link)
{
    return KI__CONTAINER_OF(link, entry, link);
}

static void free_entry(ki_factory *factory, entry *e)
{
    (void)ki_informer_unref(e->informer);
    (void)ki_resource_unref(e->resource);
    ki__free(factory->alloc, e);
}

ki_factory *ki_factory_unref(ki_factory *factory)
{
    if (factory == NULL || !ki__refs_drop(&factory->refs) ||
        ki__engine_is_inherited(factory->engine)) {
        return NULL;
    }
    ki_factory_stop(factory);
    ki__list *link;
    while ((link = ki__list_pop_front(&factory->entries)) != NULL) {
        free_entry(factory, entry_at(link));
    }
    ki_engine *engine = factory->engine;
    ki_transport transport = factory->transport;
    ki__mutex_done(&factory->lock);
    ki__free(factory->alloc, factory);
    if (transport.unref != NULL) {
        transport.unref(transport.user);
    }
    (void)ki_engine_unref(engine);
    return NULL;
}

/* ---- informers ---- */

static bool is_same(const ki_resource *a, const ki_resource *b)
{
    return a == b || (strcmp(ki_resource_name(a), ki_resource_name(b)) == 0 &&
                      strcmp(ki_resource_api_version(a), ki_resource_api_version(b)) == 0);
}

/* With the lock held. */
static entry *find(ki_factory *factory, const ki_resource *resource)
{
    KI__LIST_FOR_EACH (link, &factory->entries) {
        entry *e = entry_at(link);
        if (is_same(e->resource, resource)) {
            return e;
        }
    }
    return NULL;
}

static int make_source(ki_factory *factory, const ki_resource *resource, ki_source *ret_source,
                       ki_error *error)
{
    const ki_factory_options *o = &factory->options;
    const char *name_space = ki_resource_is_namespaced(resource) ? factory->name_space : "";
    ki_source given = KI_OPTIONS_INIT(ki_source); /* the program may write its own size into it */
    ki_source source;
    int r;
    if (o->make_source != NULL) {
        r = o->make_source(resource, name_space, o->user, &given, error);
    } else {
        ki_source_http_options http = KI_OPTIONS_INIT(ki_source_http_options);
        http.engine = factory->engine;
        http.transport = o->transport;
        http.resource = resource;
        http.name_space = name_space;
        http.json_only = o->json_only;
        http.json_if_incomplete = o->json_if_incomplete;
        http.metadata_only = o->metadata_only;
        r = ki_source_http_new(&http, &given, error);
    }
    if (r >= 0) {
        r = KI__TAKE(ki_source, &source, &given, error);
    }
    if (r < 0) {
        return r;
    }
    if (o->tweak != NULL) {
        r = ki__tweak_source(&source, factory->alloc, resource, o->tweak, o->user);
        if (r < 0) {
            if (source.destroy != NULL) {
                source.destroy(source.user);
            }
            return ki__error_code(error, r);
        }
    }
    *ret_source = source;
    return 0;
}

static int make_informer(ki_factory *factory, const ki_resource *resource,
                         ki_informer **ret_informer, ki_error *error)
{
    const ki_factory_options *o = &factory->options;
    ki_source source;
    int r = make_source(factory, resource, &source, error);
    if (r < 0) {
        return r;
    }
    ki_informer_options options = KI_OPTIONS_INIT(ki_informer_options);
    options.resync_ms = o->resync_ms;
    options.transform = o->transform;
    options.transform_user = o->transform_user;
    if (o->configure != NULL) {
        o->configure(resource, &options, o->user);
    }
    options.engine = factory->engine;
    options.resource = resource;
    options.source = &source;
    r = ki_informer_new(&options, ret_informer, error);
    if (r < 0 && source.destroy != NULL) {
        source.destroy(source.user);
    }
    return r;
}

/* A reference to the informer for one more user; NULL if there is none. */
static ki_informer *use_existing(ki_factory *factory, const ki_resource *resource,
                                 bool *ret_stopped)
{
    ki_informer *informer = NULL;
    *ret_stopped = ki__engine_is_inherited(factory->engine);
    if (*ret_stopped) {
        return NULL;
    }
    ki__mutex_lock(&factory->lock);
    entry *e = find(factory, resource);
    if (e != NULL && !factory->stopped) {
        e->users++;
        informer = e->informer;
    }
    *ret_stopped = factory->stopped;
    ki__mutex_unlock(&factory->lock);
    return informer;
}

/* Enters a new informer, unless somebody else was faster; what is entered then. */
static ki_informer *enter(ki_factory *factory, entry *e)
{
    ki__mutex_lock(&factory->lock);
    entry *there = find(factory, e->resource);
    if (factory->stopped) {
        there = NULL;
    } else if (there == NULL) {
        there = e;
        ki__list_push_back(&factory->entries, &e->link);
        factory->count++;
    }
    ki_informer *informer = there != NULL ? there->informer : NULL;
    if (there != NULL) {
        there->users++;
    }
    ki__mutex_unlock(&factory->lock);
    if (there != e) {
        free_entry(factory, e);
    }
    return informer;
}

int ki_factory_informer(ki_factory *factory, const ki_resource *resource,
                        ki_informer **ret_informer, ki_error *error)
{
    KI__REQUIRE(factory, error);
    KI__REQUIRE(resource, error);
    KI__REQUIRE(ret_informer, error);
    bool stopped;
    ki_informer *informer = use_existing(factory, resource, &stopped);
    if (informer == NULL && !stopped) {
        entry *e = ki__alloc_zero(factory->alloc, sizeof(*e));
        if (e == NULL) {
            return ki__error_code(error, -ENOMEM);
        }
        int r = make_informer(factory, resource, &e->informer, error);
        if (r < 0) {
            ki__free(factory->alloc, e);
            return r;
        }
        e->resource = ki_resource_ref(resource);
        informer = enter(factory, e);
    }
    if (informer == NULL) {
        return ki__error_set(error, KI_ERR_STOPPED, "the factory is stopped");
    }
    *ret_informer = informer;
    return 0;
}

void ki_factory_release(ki_factory *factory, ki_informer *informer)
{
    if (factory == NULL) {
        return;
    }
    entry *unused = NULL;
    if (ki__engine_is_inherited(factory->engine)) {
        return;
    }
    ki__mutex_lock(&factory->lock);
    KI__LIST_FOR_EACH (link, &factory->entries) {
        entry *e = entry_at(link);
        if (e->informer == informer && --e->users == 0) {
            ki__list_remove(&e->link);
            factory->count--;
            unused = e;
        }
    }
    ki__mutex_unlock(&factory->lock);
    if (unused != NULL) {
        ki_informer_stop(unused->informer);
        free_entry(factory, unused);
    }
}

/* ---- starting and stopping ---- */

/* A reference to the next informer without this mark, which it has from here on; or NULL. */
static ki_informer *next_without(ki_factory *factory, unsigned mark)
{
    ki_informer *informer = NULL;
    ki__mutex_lock(&factory->lock);
    KI__LIST_FOR_EACH (link, &factory->entries) {
        entry *e = entry_at(link);
        if (informer == NULL && (e->marks & mark) == 0) {
            e->marks |= mark;
            informer = ki_informer_ref(e->informer);
        }
    }
    ki__mutex_unlock(&factory->lock);
    return informer;
}

/* Whether it is one of the factory's still: one that was released meanwhile has not failed. */
static bool mark_failed(ki_factory *factory, const ki_informer *informer)
{
    bool found = false;
    ki__mutex_lock(&factory->lock);
    KI__LIST_FOR_EACH (link, &factory->entries) {
        entry *e = entry_at(link);
        if (e->informer == informer) {
            e->marks |= FAILED;
            found = true;
        }
    }
    ki__mutex_unlock(&factory->lock);
    return found;
}

/* Those that failed may be tried again by the next call. */
static void forget_failures(ki_factory *factory)
{
    ki__mutex_lock(&factory->lock);
    KI__LIST_FOR_EACH (link, &factory->entries) {
        entry *e = entry_at(link);
        if ((e->marks & FAILED) != 0) {
            e->marks &= ~(unsigned)(STARTED | FAILED);
        }
    }
    ki__mutex_unlock(&factory->lock);
}

static bool was_stopped(ki_factory *factory)
{
    if (ki__engine_is_inherited(factory->engine)) {
        return true;
    }
    ki__mutex_lock(&factory->lock);
    bool stopped = factory->stopped;
    ki__mutex_unlock(&factory->lock);
    return stopped;
}

int ki_factory_start(ki_factory *factory, ki_error *error)
{
    KI__REQUIRE(factory, error);
    int result = 0;
    if (was_stopped(factory)) {
        return ki__error_set(error, KI_ERR_STOPPED, "the factory is stopped");
    }
    ki_informer *informer;
    while ((informer = next_without(factory, STARTED)) != NULL) {
        ki_error problem = KI_ERROR_INIT;
        int r = ki_informer_start(informer, &problem);
        bool failed = r < 0 && r != KI_ERR_EXISTS; /* someone may have started it directly */
        if (failed && mark_failed(factory, informer)) {
            if (result == 0 && error != NULL) {
                ki__error_copy(error, &problem);
            }
            result = result == 0 ? r : result;
        }
        (void)ki_informer_unref(informer);
    }
    forget_failures(factory);
    return result;
}

void ki_factory_stop(ki_factory *factory)
{
    if (factory == NULL || ki__engine_is_inherited(factory->engine)) {
        return;
    }
    ki__mutex_lock(&factory->lock);
    factory->stopped = true; /* no entry comes any more */
    ki__mutex_unlock(&factory->lock);
    ki_informer *informer;
    while ((informer = next_without(factory, STOPPED)) != NULL) {
        ki_informer_stop(informer);
        (void)ki_informer_unref(informer);
    }
}

bool ki_factory_is_stopped(ki_factory *factory)
{
    ki__mutex_lock(&factory->lock);
    bool stopped = factory->stopped;
    KI__LIST_FOR_EACH (link, &factory->entries) {
        stopped = stopped && ki_informer_is_stopped(entry_at(link)->informer);
    }
    ki__mutex_unlock(&factory->lock);
    return stopped;
}

/* ---- waiting ---- */

/* References to the informers that were started; of one resource, or of all if it is NULL. */
static int started_ones(ki_factory *factory, const ki_resource *resource,
                        ki_informer ***ret_informers, size_t *ret_count)
{
    size_t count = 0;
    ki__mutex_lock(&factory->lock);
    ki_informer **informers =
        ki__alloc_array(factory->alloc, factory->count, sizeof(ki_informer *));
    KI__LIST_FOR_EACH (link, &factory->entries) {
        entry *e = entry_at(link);
        bool wanted = resource == NULL || is_same(e->resource, resource);
        if (informers != NULL && wanted && (e->marks & STARTED) != 0) {
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

/* What is left of the time, for the next that is waited for. */
static uint32_t time_left(const ki_factory *factory, uint64_t deadline)
{
    uint64_t now = ki__engine_now(factory->engine);
    uint64_t left = now < deadline ? deadline - now : 0;
    uint64_t left_ms = left / KI__MS_NS + (left % KI__MS_NS != 0);
    return left_ms < UINT32_MAX ? (uint32_t)left_ms : UINT32_MAX;
}

/* Whether `a` is further behind than `b`: without a list rather than with one, and of those the one
 * that has failed for longest. */
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
    return a->failing_since < b->failing_since;
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

static int wait_for(ki_factory *factory, const ki_resource *resource, uint32_t timeout_ms,
                    ki_error *error)
{
    ki_informer **informers;
    size_t count;
    if (ki__engine_is_inherited(factory->engine)) {
        return ki__error_code(error, KI_ERR_STOPPED);
    }
    int r = started_ones(factory, resource, &informers, &count);
    if (r < 0) {
        return ki__error_code(error, r);
    }
    if (resource != NULL && count == 0) {
        r = ki__error_set(error, KI_ERR_NOT_FOUND, "no informer for %s was started",
                          ki_resource_name(resource));
    } else {
        r = wait_for_all(factory, informers, count, timeout_ms, error);
    }
    for (size_t i = 0; i < count; i++) {
        (void)ki_informer_unref(informers[i]);
    }
    ki__free(factory->alloc, informers);
    return r;
}

int ki_factory_wait_for_sync(ki_factory *factory, uint32_t timeout_ms, ki_error *error)
{
    KI__REQUIRE(factory, error);
    return wait_for(factory, NULL, timeout_ms, error);
}

int ki_factory_wait_for_sync_of(ki_factory *factory, const ki_resource *resource,
                                uint32_t timeout_ms, ki_error *error)
{
    KI__REQUIRE(factory, error);
    KI__REQUIRE(resource, error);
    return wait_for(factory, resource, timeout_ms, error);
}
