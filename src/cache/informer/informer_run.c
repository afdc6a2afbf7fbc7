/* SPDX-License-Identifier: Apache-2.0 */
/* Starting and stopping a shared informer, and its settings. */
#include <kinformer/index.h>
#include <kinformer/selection.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"
#include "base/time_units.h"
#include "cache/informer/informer.h"
#include "cache/reflector/reflector.h"
#include "cache/store/version.h"

/* ---- settings ---- */

static bool is_over(const ki_informer *informer)
{
    return informer->state >= KI__INFORMER_STOPPING;
}

int ki_informer_add_indexes(ki_informer *informer, const ki_index *const *indexes, size_t count,
                            ki_error *error)
{
    KI__REQUIRE(informer, error);
    if (count != 0) {
        KI__REQUIRE(indexes, error);
    }
    ki__mutex_lock(&informer->lock);
    bool stopped = is_over(informer);
    ki__mutex_unlock(&informer->lock);
    if (stopped) {
        return ki__error_code(error, KI_ERR_STOPPED);
    }
    return ki_store_add_indexes(informer->store, indexes, count, error);
}

int ki_informer_select(ki_informer *informer, const ki_selection *selection, ki_error *error)
{
    KI__REQUIRE(informer, error);
    KI__REQUIRE(selection, error);
    KI__REQUIRE_OWN_ENGINE(informer->engine, error);
    const ki_alloc *alloc = ki__engine_alloc(informer->engine);
    ki__selection *next = NULL;
    int r = ki__selection_new(alloc, selection, &next, error);
    if (r < 0) {
        return r;
    }
    ki__mutex_lock(&informer->lock); /* so that the reflector has the same one */
    if (is_over(informer)) {
        r = ki__error_code(error, KI_ERR_STOPPED);
    } else if (informer->reflector != NULL) {
        r = ki_reflector_select(informer->reflector, selection, error);
    }
    ki__selection *unused = r < 0 ? next : informer->selection;
    informer->selection = r < 0 ? informer->selection : next;
    ki__mutex_unlock(&informer->lock);
    ki__free(alloc, unused);
    return r;
}

void ki__informer_with_selection(ki_informer *informer,
                                 void (*put)(const ki__selection *selection, void *user),
                                 void *user)
{
    ki__mutex_lock(&informer->lock);
    put(informer->selection, user);
    ki__mutex_unlock(&informer->lock);
}

/* ---- starting ---- */

static bool should_resync(void *user)
{
    return ki__informer_should_resync(user);
}

static void on_watch_error(ki_reflector *reflector, const ki_watch_failure *failure, void *user)
{
    ki_informer *informer = user;
    (void)reflector;
    informer->options.on_watch_error(informer, failure, informer->options.watch_error_user);
}

/* The reflector has stopped; nothing is queued from here on. */
static void on_stopped(ki_reflector *reflector, void *user)
{
    ki_informer *informer = user;
    (void)reflector;
    ki_queue_stop(informer->queue);
    ki__timer_cancel(&informer->retry);
    ki__timer_cancel(&informer->limit.timer);
    (void)ki__engine_unpost(informer->engine, &informer->task);
    ki__informer_listen_for_opened(informer, NULL);
    (void)ki__engine_unpost(informer->engine, &informer->close_opened);
    ki__wake_list_send_all(&informer->wakes); /* the task may have been posted for these */
    ki__mutex_lock(&informer->lock);
    informer->state = KI__INFORMER_STOPPED;
    ki__cond_wake_all(&informer->changed);
    ki__mutex_unlock(&informer->lock);
    (void)ki__engine_unpost(informer->engine, &informer->version_task);
    ki__informer_end_version_waits(informer);
    (void)ki_informer_unref(informer); /* the run's */
}

/* The expected kind of events: that of the resource, unless the source reduces objects to
 * metadata. */
static void set_expected(const ki_informer *informer, ki_reflector_options *options)
{
    const ki_resource *resource = informer->options.resource;
    if (resource != NULL && informer->source.metadata_only) {
        options->expected_kind = "PartialObjectMetadata";
        options->expected_api_version = "meta.k8s.io/v1";
    } else if (resource != NULL) {
        options->expected_kind = ki_resource_kind(resource);
        options->expected_api_version = ki_resource_api_version(resource);
    }
}

static ki_informer *informer_of(const ki_queue *queue)
{
    return KI__CONTAINER_OF(queue->consumer, ki_informer, task);
}

static ki_object *find(const char *key, void *user)
{
    return ki_store_get(informer_of(user)->store, key);
}

static int reserve(size_t bytes, void *user, ki_error *error)
{
    return ki__informer_reserve(informer_of(user), bytes, error);
}

static int replace(const ki_replacement *list, void *user, ki_error *error)
{
    ki_informer *informer = informer_of(user);
    int r = informer->queue_replace(list, user, error);
    if (r >= 0) {
        ki__informer_list_queued(informer);
    }
    return r;
}

static int make_reflector(ki_informer *informer, ki_reflector **ret_reflector, ki_error *error)
{
    const ki_informer_options *o = &informer->options;
    informer->queue->transform = o->transform;
    informer->queue->transform_user = o->transform_user;
    ki_reflector_target target = KI_OPTIONS_INIT(ki_reflector_target);
    (void)ki_reflector_target_queue(informer->queue, &target);
    target.find = find;
    target.reserve = reserve;
    informer->queue_replace = target.replace;
    target.replace = replace;
    ki_reflector_options options = KI_OPTIONS_INIT(ki_reflector_options);
    options.engine = informer->engine;
    options.source = &informer->source;
    options.target = &target;
    options.name = o->name;
    options.label_selector = informer->selection->labels;
    options.field_selector = informer->selection->fields;
    options.shard_selector = informer->selection->shard_text;
    options.projection = informer->projection;
    set_expected(informer, &options);
    options.resync_period_ms = informer->resync_ms;
    options.should_resync = should_resync;
    options.on_watch_error = o->on_watch_error != NULL ? on_watch_error : NULL;
    options.on_stopped = on_stopped;
    options.user = informer;
    options.no_streaming = o->no_streaming;
    options.allow_stale_start = o->allow_stale_start;
    options.page_size = o->page_size;
    options.min_watch_timeout_ms = o->min_watch_timeout_ms;
    int r = ki_reflector_new(&options, ret_reflector, error);
    if (r < 0) {
        target.destroy(target.user);
        return r;
    }
    (*ret_reflector)->packer = informer->store->packer;
    ki__informer_listen_for_opened(informer, ki__informer_on_many_opened);
    return 0;
}

/* Requires the lock. */
static int start_locked(ki_informer *informer, ki_error *error)
{
    if (informer->state != KI__INFORMER_NEW) {
        bool runs = informer->state == KI__INFORMER_STARTED;
        return ki__error_code(error, runs ? KI_ERR_EXISTS : KI_ERR_STOPPED);
    }
    int r = make_reflector(informer, &informer->reflector, error);
    if (r < 0) {
        return r;
    }
    informer->has_source = false;
    informer->state = KI__INFORMER_STARTED;
    (void)ki_informer_ref(informer); /* the run's, until on_stopped() */
    return 0;
}

int ki_informer_start(ki_informer *informer, ki_error *error)
{
    KI__REQUIRE(informer, error);
    if (ki__engine_is_inherited(informer->engine)) {
        return ki__error_code(error, KI_ERR_STOPPED);
    }
    ki__mutex_lock(&informer->lock);
    int r = start_locked(informer, error);
    ki__mutex_unlock(&informer->lock);
    if (r == 0) {
        r = ki_reflector_start(informer->reflector);
        ki_assert(r == 0 || r == KI_ERR_STOPPED); /* stopped by another thread */
        r = r < 0 ? ki__error_code(error, r) : 0;
    }
    return r;
}

/* ---- stopping ---- */

void ki_informer_stop(ki_informer *informer)
{
    if (informer == NULL || ki__engine_is_inherited(informer->engine)) {
        return;
    }
    ki__mutex_lock(&informer->lock);
    ki__informer_state before = informer->state;
    if (before == KI__INFORMER_STARTED) {
        informer->state = KI__INFORMER_STOPPING;
    } else if (before == KI__INFORMER_NEW) {
        informer->state = KI__INFORMER_STOPPED;
    }
    ki__cond_wake_all(&informer->changed);
    ki__mutex_unlock(&informer->lock);
    if (before == KI__INFORMER_STARTED) {
        ki_reflector_stop(informer->reflector);
    } else if (before == KI__INFORMER_NEW) {
        ki_queue_stop(informer->queue);
        ki__informer_free_source(informer); /* it may hold more: a client waits for its release */
    }
    ki__informer_stop_handlers(informer);
}

bool ki__informer_was_stopped(ki_informer *informer)
{
    ki__mutex_lock(&informer->lock);
    bool stopped = informer->state >= KI__INFORMER_STOPPING;
    ki__mutex_unlock(&informer->lock);
    return stopped;
}

bool ki_informer_is_stopped(ki_informer *informer)
{
    ki__mutex_lock(&informer->lock);
    bool stopped = informer->state == KI__INFORMER_STOPPED && informer->unfinished == 0;
    ki__mutex_unlock(&informer->lock);
    return stopped;
}
