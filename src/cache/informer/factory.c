/* SPDX-License-Identifier: Apache-2.0 */
/* The factory. Its lock protects the list of informers and is never held during calls that may call
 * back: informers are created before they are added to the list, and removed from it before they
 * are stopped. */
#include "cache/informer/factory.h"

#include <errno.h>
#include <string.h>

#include <kinformer/parts/shared_informer.h>
#include <kinformer/projection.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "cache/informer/tweaked_source.h"
#include "wire/source_options.h"

/* ---- creation and destruction ---- */

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
    if ((unsigned)o.at_limit >= KI_AT_LIMIT_MAX) {
        return ki__error_set(error, -EINVAL, "at_limit: unknown value");
    }
    if (ki_str_from(o.name_space).len > KI__NAMESPACE_MAX) {
        return ki__error_set(error, -EINVAL, "name_space: longer than %d bytes", KI__NAMESPACE_MAX);
    }
    *ret_options = o;
    return o.transport != NULL ? KI__TAKE(ki_transport, ret_transport, o.transport, error) : 0;
}

/* Checks keep and drop, and replaces them by copies in a block. */
static int copy_lists(ki_factory_options *o, const ki_alloc *alloc, char **ret_block,
                      ki_error *error)
{
    if (o->keep == NULL && o->drop == NULL) {
        return 0;
    }
    ki_projection *projection = NULL;
    int r = ki_projection_new(o->keep, o->drop, alloc, &projection, error);
    (void)ki_projection_unref(projection); /* each informer compiles its own */
    const char **const texts[] = {&o->keep, &o->drop};
    return r < 0 ? r : ki__texts_copy(alloc, texts, 2, ret_block, error);
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
    r = copy_lists(&o, alloc, &factory->text, error);
    if (r < 0) {
        ki__free(alloc, factory);
        return r;
    }
    r = o.max_bytes != 0 ? ki__limit_group_new(alloc, o.max_bytes, &factory->limit) : 0;
    r = r < 0 ? r : ki__mutex_init(&factory->lock);
    if (r < 0) {
        ki__limit_group_unref(factory->limit);
        ki__free(alloc, factory->text);
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

static void free_entry(ki_factory *factory, ki__factory_entry *e)
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
        free_entry(factory, ki__factory_entry_at(link));
    }
    ki_engine *engine = factory->engine;
    ki_transport transport = factory->transport;
    ki__mutex_done(&factory->lock);
    ki__limit_group_unref(factory->limit);
    ki__free(factory->alloc, factory->text);
    ki__free(factory->alloc, factory);
    if (transport.unref != NULL) {
        transport.unref(transport.user);
    }
    (void)ki_engine_unref(engine);
    return NULL;
}

/* ---- informers ---- */

/* Whether two resources are the same one of the server. */
static bool is_same(const ki_resource *a, const ki_resource *b)
{
    return a == b || (strcmp(ki_resource_name(a), ki_resource_name(b)) == 0 &&
                      strcmp(ki_resource_api_version(a), ki_resource_api_version(b)) == 0);
}

/* Requires the lock. */
static ki__factory_entry *find(ki_factory *factory, const ki_resource *resource)
{
    KI__LIST_FOR_EACH (link, &factory->entries) {
        ki__factory_entry *e = ki__factory_entry_at(link);
        if (!e->is_own && is_same(e->resource, resource)) {
            return e;
        }
    }
    return NULL;
}

static int make_source(ki_factory *factory, const ki_resource *resource, const char *name_space,
                       ki_source *ret_source, ki_error *error)
{
    const ki_factory_options *o = &factory->options;
    ki_source given = KI_OPTIONS_INIT(ki_source); /* the program may set its own size */
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

/* With these options, except for those that the factory determines. */
static int make_informer(ki_factory *factory, const ki_resource *resource,
                         ki_informer_options *options, ki_informer **ret_informer, ki_error *error)
{
    const char *name_space = options->name_space;
    ki_source source;
    if (name_space == NULL || name_space[0] == '\0') {
        name_space = ki_resource_is_namespaced(resource) ? factory->name_space : "";
    }
    int r = make_source(factory, resource, name_space, &source, error);
    if (r < 0) {
        return r;
    }
    options->engine = factory->engine;
    options->resource = resource;
    options->source = &source;
    options->name_space = NULL; /* the source has it */
    if (options->at_limit == KI_AT_LIMIT_REFUSE) {
        options->at_limit = factory->options.at_limit;
    }
    r = ki_informer_new(options, ret_informer, error);
    if (r >= 0 && factory->limit != NULL) {
        ki__informer_join_group(*ret_informer, factory->limit);
    }
    if (r >= 0) {
        ki__members_set_owner(&(*ret_informer)->member, factory->transport.user);
    }
    if (r < 0 && source.destroy != NULL) {
        source.destroy(source.user);
    }
    return r;
}

static int make_shared(ki_factory *factory, const ki_resource *resource,
                       ki__factory_entry *ret_entry, ki_error *error)
{
    const ki_factory_options *o = &factory->options;
    ki_informer_options options = KI_OPTIONS_INIT(ki_informer_options);
    options.resync_ms = o->resync_ms;
    options.transform = o->transform;
    options.transform_user = o->transform_user;
    options.keep = o->keep;
    options.drop = o->drop;
    options.storage = o->storage;
    if (o->configure != NULL) {
        o->configure(resource, &options, o->user);
    }
    return make_informer(factory, resource, &options, &ret_entry->informer, error);
}

static int make_own(ki_factory *factory, const ki_resource *resource,
                    const ki_informer_options *given, ki__factory_entry *ret_entry, ki_error *error)
{
    ki_informer_options o = {0};
    int r = KI__TAKE(ki_informer_options, &o, given, error);
    if (r < 0) {
        return r;
    }
    if (o.engine != NULL || o.source != NULL) {
        return ki__error_set(error, -EINVAL, "%s: must be NULL: the factory has its own",
                             o.engine != NULL ? "engine" : "source");
    }
    if (o.resource != NULL && !is_same(o.resource, resource)) {
        return ki__error_set(error, -EINVAL,
                             "resource: must be NULL, or the resource of the informer");
    }
    bool has_namespace = o.name_space != NULL && o.name_space[0] != '\0';
    if (has_namespace && !ki_resource_is_namespaced(resource)) {
        return ki__error_set(error, -EINVAL, "name_space: %s are not namespaced",
                             ki_resource_name(resource));
    }
    o.resync_ms = o.resync_ms != 0 ? o.resync_ms : factory->options.resync_ms;
    if (o.transform == NULL) {
        o.transform = factory->options.transform;
        o.transform_user = factory->options.transform_user;
    }
    if (o.keep == NULL && o.drop == NULL) {
        o.keep = factory->options.keep;
        o.drop = factory->options.drop;
    }
    if (o.storage == KI_STORAGE_DEFAULT) {
        o.storage = factory->options.storage;
    }
    ret_entry->is_own = true;
    return make_informer(factory, resource, &o, &ret_entry->informer, error);
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

/* The existing informer, for one more user; NULL if there is none. */
static ki_informer *use_existing(ki_factory *factory, const ki_resource *resource)
{
    ki_informer *informer = NULL;
    ki__mutex_lock(&factory->lock);
    ki__factory_entry *e = find(factory, resource);
    if (e != NULL && !factory->stopped) {
        e->users++;
        informer = e->informer;
    }
    ki__mutex_unlock(&factory->lock);
    return informer;
}

/* Removes a private informer that was stopped individually from the factory; NULL if there is
 * none. */
static ki__factory_entry *take_stopped(ki_factory *factory)
{
    ki__factory_entry *stopped = NULL;
    ki__mutex_lock(&factory->lock);
    KI__LIST_FOR_EACH (link, &factory->entries) {
        ki__factory_entry *e = ki__factory_entry_at(link);
        if (stopped == NULL && e->is_own && ki__informer_was_stopped(e->informer)) {
            stopped = e;
        }
    }
    stopped = factory->stopped ? NULL : stopped; /* otherwise the others were stopped as well */
    if (stopped != NULL) {
        ki__list_remove(&stopped->link);
        factory->count--;
    }
    ki__mutex_unlock(&factory->lock);
    return stopped;
}

void ki__factory_drop_stopped(ki_factory *factory)
{
    ki__factory_entry *e;
    while ((e = take_stopped(factory)) != NULL) {
        free_entry(factory, e);
    }
}

/* Adds a new informer, unless another thread was faster; returns the one in the list. */
static ki_informer *enter(ki_factory *factory, ki__factory_entry *e)
{
    ki__mutex_lock(&factory->lock);
    ki__factory_entry *there = e->is_own ? NULL : find(factory, e->resource);
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

/* Creates an informer, private with its own options, or shared; NULL if the factory was stopped. */
static int add_informer(ki_factory *factory, const ki_resource *resource,
                        const ki_informer_options *options, ki_informer **ret_informer,
                        ki_error *error)
{
    ki__factory_drop_stopped(factory); /* so that they do not accumulate */
    ki__factory_entry *e = ki__alloc_zero(factory->alloc, sizeof(*e));
    if (e == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    int r = options != NULL ? make_own(factory, resource, options, e, error)
                            : make_shared(factory, resource, e, error);
    if (r < 0) {
        ki__free(factory->alloc, e);
        return r;
    }
    e->resource = ki_resource_ref(resource);
    *ret_informer = enter(factory, e);
    return 0;
}

int ki_factory_informer(ki_factory *factory, const ki_resource *resource,
                        const ki_informer_options *options, ki_informer **ret_informer,
                        ki_error *error)
{
    KI__REQUIRE(factory, error);
    KI__REQUIRE(resource, error);
    KI__REQUIRE(ret_informer, error);
    bool stopped = was_stopped(factory);
    ki_informer *informer = options == NULL && !stopped ? use_existing(factory, resource) : NULL;
    if (informer == NULL && !stopped) {
        int r = add_informer(factory, resource, options, &informer, error);
        if (r < 0) {
            return r;
        }
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
    ki__factory_entry *unused = NULL;
    if (ki__engine_is_inherited(factory->engine)) {
        return;
    }
    ki__mutex_lock(&factory->lock);
    KI__LIST_FOR_EACH (link, &factory->entries) {
        ki__factory_entry *e = ki__factory_entry_at(link);
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

/* A reference to the next informer without this mark, and sets the mark; or NULL. */
static ki_informer *next_without(ki_factory *factory, unsigned mark)
{
    ki_informer *informer = NULL;
    ki__mutex_lock(&factory->lock);
    KI__LIST_FOR_EACH (link, &factory->entries) {
        ki__factory_entry *e = ki__factory_entry_at(link);
        if (informer == NULL && (e->marks & mark) == 0) {
            e->marks |= mark;
            informer = ki_informer_ref(e->informer);
        }
    }
    ki__mutex_unlock(&factory->lock);
    return informer;
}

/* Whether it still belongs to the factory: one that was released meanwhile has not failed. */
static bool mark_failed(ki_factory *factory, const ki_informer *informer)
{
    bool found = false;
    ki__mutex_lock(&factory->lock);
    KI__LIST_FOR_EACH (link, &factory->entries) {
        ki__factory_entry *e = ki__factory_entry_at(link);
        if (e->informer == informer) {
            e->marks |= KI__FACTORY_FAILED;
            found = true;
        }
    }
    ki__mutex_unlock(&factory->lock);
    return found;
}

/* Allows the next call to retry failed informers. */
static void forget_failures(ki_factory *factory)
{
    ki__mutex_lock(&factory->lock);
    KI__LIST_FOR_EACH (link, &factory->entries) {
        ki__factory_entry *e = ki__factory_entry_at(link);
        if ((e->marks & KI__FACTORY_FAILED) != 0) {
            e->marks &= ~(unsigned)(KI__FACTORY_STARTED | KI__FACTORY_FAILED);
        }
    }
    ki__mutex_unlock(&factory->lock);
}

int ki_factory_start(ki_factory *factory, ki_error *error)
{
    KI__REQUIRE(factory, error);
    int result = 0;
    if (was_stopped(factory)) {
        return ki__error_set(error, KI_ERR_STOPPED, "the factory is stopped");
    }
    ki__factory_drop_stopped(factory);
    ki_informer *informer;
    while ((informer = next_without(factory, KI__FACTORY_STARTED)) != NULL) {
        ki_error problem = KI_ERROR_INIT;
        int r = ki_informer_start(informer, &problem);
        bool failed = r < 0 && r != KI_ERR_EXISTS; /* it may have been started directly */
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
    factory->stopped = true; /* no entries are added from here on */
    ki__mutex_unlock(&factory->lock);
    ki_informer *informer;
    while ((informer = next_without(factory, KI__FACTORY_STOPPED)) != NULL) {
        ki_informer_stop(informer);
        (void)ki_informer_unref(informer);
    }
}

bool ki_factory_is_stopped(ki_factory *factory)
{
    ki__mutex_lock(&factory->lock);
    bool stopped = factory->stopped;
    KI__LIST_FOR_EACH (link, &factory->entries) {
        stopped = stopped && ki_informer_is_stopped(ki__factory_entry_at(link)->informer);
    }
    ki__mutex_unlock(&factory->lock);
    return stopped;
}
