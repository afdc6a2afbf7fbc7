/* SPDX-License-Identifier: Apache-2.0 */
/* Making, starting and stopping a shared informer. */
#include "cache/informer/informer.h"

#include <errno.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"
#include "base/options.h"

#define MS_NS UINT64_C(1000000)

/* ---- references ---- */

void ki__informer_hold(ki_informer *informer)
{
    ki__refs_take(&informer->parts);
}

static void free_source(ki_informer *informer)
{
    if (informer->has_source && informer->source.destroy != NULL) {
        informer->source.destroy(informer->source.user);
    }
}

/* Frees what there is of one, also if making it failed in the middle. */
static void free_informer(ki_informer *informer)
{
    ki_engine *engine = informer->engine;
    ki__timer_done(&informer->retry);
    ki__mutations_done(&informer->mutations);
    if (informer->applier.store != NULL) {
        ki__applier_done(&informer->applier);
    }
    (void)ki_reflector_unref(informer->reflector);
    (void)ki_queue_unref(informer->queue);
    (void)ki_store_unref(informer->store);
    (void)ki_resource_unref(informer->options.resource);
    free_source(informer);
    ki__cond_done(&informer->changed);
    ki__mutex_done(&informer->lock);
    ki__free(ki__engine_alloc(engine), informer);
    (void)ki_engine_unref(engine);
}

void ki__informer_release(ki_informer *informer)
{
    if (ki__refs_drop(&informer->parts) && !ki__engine_is_inherited(informer->engine)) {
        free_informer(informer);
    }
}

ki_informer *ki_informer_ref(ki_informer *informer)
{
    if (informer != NULL) {
        ki__refs_take(&informer->users);
    }
    return informer;
}

ki_informer *ki_informer_unref(ki_informer *informer)
{
    if (informer != NULL && ki__refs_drop(&informer->users) &&
        !ki__engine_is_inherited(informer->engine)) {
        ki_informer_stop(informer); /* if it never ran; else the run has a reference */
        ki__informer_release(informer);
    }
    return NULL;
}

/* ---- making ---- */

/* Copies of the text in the options, one behind the other. */
static const char *keep_text(char **place, const char *text)
{
    ki_str str = ki_str_from(text);
    char *kept = *place;
    if (str.len != 0) {
        memcpy(kept, str.ptr, str.len);
    }
    kept[str.len] = '\0';
    *place = kept + str.len + 1;
    return kept;
}

static int check_options(const ki_informer_options *options, ki_informer_options *ret_options,
                         ki_error *error)
{
    ki_informer_options o = {0};
    int r = ki__options_take(&o, sizeof(o), options, error);
    if (r < 0) {
        return r;
    }
    if (o.engine == NULL || o.source == NULL || o.source->list == NULL || o.source->watch == NULL ||
        o.source->cancel == NULL) {
        return ki__error_set(error, -EINVAL, "an informer needs an engine and a source");
    }
    if ((unsigned)o.queue >= KI_QUEUE_KIND_MAX) {
        return ki__error_set(error, -EINVAL, "there is no such kind of queue");
    }
    if (o.name == NULL) {
        o.name = o.resource != NULL ? ki_resource_name(o.resource) : "informer";
    }
    *ret_options = o;
    return 0;
}

static int allocate(const ki_informer_options *o, ki_informer **ret_informer)
{
    size_t len = ki_str_from(o->name).len + ki_str_from(o->label_selector).len +
                 ki_str_from(o->field_selector).len + 3;
    const ki_alloc *alloc = ki__engine_alloc(o->engine);
    ki_informer *informer = ki__alloc_zero(alloc, sizeof(*informer) + len);
    if (informer == NULL) {
        return -ENOMEM;
    }
    int r = ki__mutex_init(&informer->lock);
    if (r == 0) {
        r = ki__cond_init(&informer->changed);
        if (r < 0) {
            ki__mutex_done(&informer->lock);
        }
    }
    if (r < 0) {
        ki__free(alloc, informer);
        return r;
    }
    ki__refs_init(&informer->users);
    ki__refs_init(&informer->parts);
    informer->engine = ki_engine_ref(o->engine);
    informer->options = *o;
    char *place = informer->text;
    informer->options.name = keep_text(&place, o->name);
    informer->options.label_selector = keep_text(&place, o->label_selector);
    informer->options.field_selector = keep_text(&place, o->field_selector);
    informer->options.resource = ki_resource_ref(o->resource);
    informer->resync_ms = o->resync_ms;
    ki__list_init(&informer->handlers);
    ki__list_init(&informer->to_wake);
    ki__list_init(&informer->sleepers);
    ki__task_init(&informer->task, ki__informer_run_task);
    ki__mutations_init(&informer->mutations, alloc, ki__engine_hash_key(o->engine));
    *ret_informer = informer;
    return 0;
}

/* The program's indexes last: what is given to a store is only given back by it, not by a failure
 * that comes later. */
static int make_store(ki_informer *informer, const ki_informer_options *o, ki_error *error)
{
    ki_index namespace_index = ki_index_by_namespace();
    ki_store_options options = KI_OPTIONS_INIT(ki_store_options);
    options.alloc = ki__engine_alloc(informer->engine);
    options.random = ki__engine_entropy(informer->engine);
    options.indexes = &namespace_index;
    options.index_count = o->no_namespace_index ? 0 : 1;
    return ki_store_new(&options, &informer->store, error);
}

static void report(const char *component, ki_str key, const ki_error *error, void *user)
{
    const ki_informer *informer = user;
    ki__engine_report(informer->engine, component, informer->options.name, key, error);
}

static int make_queue(ki_informer *informer, ki_error *error)
{
    bool deltas = informer->options.queue == KI_QUEUE_DELTA_FIFO;
    ki_queue_options options = KI_OPTIONS_INIT(ki_queue_options);
    options.alloc = ki__engine_alloc(informer->engine);
    options.random = ki__engine_entropy(informer->engine);
    options.known = deltas ? informer->store : NULL;
    options.on_error = (ki_error_hook){.report = report, .user = informer};
    return deltas ? ki_delta_fifo_new(&options, &informer->queue, error)
                  : ki_fifo_new(&options, &informer->queue, error);
}

static int make_parts(ki_informer *informer, const ki_informer_options *o, ki_error *error)
{
    int r = make_store(informer, o, error);
    if (r < 0) {
        return r;
    }
    r = make_queue(informer, error);
    if (r < 0) {
        return r;
    }
    r = ki__applier_init(&informer->applier, informer->store, ki__engine_alloc(informer->engine),
                         error);
    if (r < 0) {
        return r;
    }
    informer->applier.keep_same_version = true; /* each handler says whether it wants them */
    informer->applier.on_error = (ki_error_hook){.report = report, .user = informer};
    r = ki__timer_init(&informer->retry, informer->engine, ki__informer_retry);
    if (r < 0) {
        return ki__error_code(error, r);
    }
    return o->index_count != 0
               ? ki_store_add_indexes(informer->store, o->indexes, o->index_count, error)
               : 0;
}

int ki_informer_new(const ki_informer_options *options, ki_informer **ret_informer, ki_error *error)
{
    KI__REQUIRE(options, error);
    KI__REQUIRE(ret_informer, error);
    ki_informer_options o = {0};
    ki_informer *informer = NULL;
    int r = check_options(options, &o, error);
    if (r < 0) {
        return r;
    }
    r = allocate(&o, &informer);
    if (r < 0) {
        return ki__error_code(error, r);
    }
    r = make_parts(informer, &o, error);
    if (r < 0) {
        free_informer(informer);
        return r;
    }
    informer->source = *o.source;
    informer->has_source = true;
    informer->options.source = NULL;
    informer->options.indexes = NULL;
    *ret_informer = informer;
    return 0;
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

/* The reflector has ended; nothing comes into the queue any more. */
static void on_stopped(ki_reflector *reflector, void *user)
{
    ki_informer *informer = user;
    (void)reflector;
    ki_queue_close(informer->queue);
    ki__timer_cancel(&informer->retry);
    if (ki__engine_unpost(informer->engine, &informer->task)) {
        informer->posted = false;
        ki__informer_release(informer); /* that of the posting; the run has another */
    }
    ki__informer_wake_sleepers(informer); /* for which the task was posted, perhaps */
    ki__mutex_lock(&informer->lock);
    informer->state = KI__INFORMER_STOPPED;
    ki__cond_wake_all(&informer->changed);
    ki__mutex_unlock(&informer->lock);
    (void)ki_informer_unref(informer); /* that of the run */
}

/* Which kind events must be of: that of the resource, unless the source cuts all to metadata. */
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

static int make_reflector(ki_informer *informer, ki_reflector **ret_reflector, ki_error *error)
{
    const ki_informer_options *o = &informer->options;
    ki_reflector_target target = ki__informer_target;
    target.user = informer;
    target.transform = o->transform != NULL ? ki__informer_transform : NULL;
    ki_reflector_options options = KI_OPTIONS_INIT(ki_reflector_options);
    options.engine = informer->engine;
    options.source = &informer->source;
    options.target = &target;
    options.name = o->name;
    options.label_selector = o->label_selector;
    options.field_selector = o->field_selector;
    set_expected(informer, &options);
    options.resync_period_ns = informer->resync_ms * MS_NS;
    options.should_resync = should_resync;
    options.on_watch_error = o->on_watch_error != NULL ? on_watch_error : NULL;
    options.on_stopped = on_stopped;
    options.user = informer;
    options.no_streaming = o->no_streaming;
    options.allow_stale_start = o->allow_stale_start;
    options.page_size = o->page_size;
    options.min_watch_timeout_ns = o->min_watch_timeout_ns;
    return ki_reflector_new(&options, ret_reflector, error);
}

/* With the lock held. */
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
    (void)ki_informer_ref(informer); /* of the run, until on_stopped() */
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
        ki_assert(r == 0 || r == KI_ERR_STOPPED); /* someone else has stopped it already */
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
        ki_queue_close(informer->queue);
    }
    ki__informer_stop_handlers(informer);
}

bool ki_informer_is_stopped(ki_informer *informer)
{
    ki__mutex_lock(&informer->lock);
    bool stopped = informer->state == KI__INFORMER_STOPPED && informer->unfinished == 0;
    ki__mutex_unlock(&informer->lock);
    return stopped;
}

/* ---- asking ---- */

bool ki_informer_has_synced(ki_informer *informer)
{
    ki__mutex_lock(&informer->lock);
    bool synced = informer->synced;
    ki__mutex_unlock(&informer->lock);
    return synced;
}

/* With the lock held. */
static bool all_have_synced(ki_informer *informer)
{
    bool synced = informer->synced;
    KI__LIST_FOR_EACH (link, &informer->handlers) {
        ki__registration_seat *seat = KI__CONTAINER_OF(link, ki__registration_seat, link);
        synced = synced && ki_registration_has_synced(ki__registration_of_seat(seat));
    }
    return synced;
}

static int wait_for_sync(ki_informer *informer, uint32_t timeout_ms)
{
    uint64_t now = ki__engine_now(informer->engine);
    uint64_t deadline = timeout_ms == UINT32_MAX ? UINT64_MAX : now + timeout_ms * MS_NS;
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

static ki_reflector_health reflector_health(ki_informer *informer)
{
    ki_reflector_health health = KI_OPTIONS_INIT(ki_reflector_health);
    ki__mutex_lock(&informer->lock);
    ki_reflector *reflector = ki_reflector_ref(informer->reflector);
    ki__mutex_unlock(&informer->lock);
    if (reflector != NULL) {
        (void)ki_reflector_read_health(reflector, &health);
        (void)ki_reflector_unref(reflector);
    }
    return health;
}

ki__informer_lag ki__informer_lag_of(ki_informer *informer)
{
    const ki_reflector_health health = reflector_health(informer);
    ki__mutex_lock(&informer->lock);
    ki__informer_lag lag = {
        .has_list = informer->synced,
        .synced = all_have_synced(informer),
        .failed_attempts = health.failed_attempts,
        .failing_since = health.failing_since,
    };
    ki__mutex_unlock(&informer->lock);
    return lag;
}

int ki__informer_explain_wait(ki_informer *informer, int code, ki_error *error)
{
    if (error == NULL) {
        return code;
    }
    const ki_reflector_health health = reflector_health(informer);
    const ki_error *why = &health.reason;
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

ki_store *ki_informer_store(const ki_informer *informer)
{
    return informer->store;
}

ki_lister ki_informer_lister(const ki_informer *informer)
{
    return ki_lister_of(informer->store, informer->options.resource);
}

const ki_resource *ki_informer_resource(const ki_informer *informer)
{
    return informer->options.resource;
}

const char *ki_informer_name(const ki_informer *informer)
{
    return informer->options.name;
}

int ki_informer_add_indexes(ki_informer *informer, const ki_index *indexes, size_t count,
                            ki_error *error)
{
    KI__REQUIRE(informer, error);
    if (count != 0) {
        KI__REQUIRE(indexes, error);
    }
    ki__mutex_lock(&informer->lock);
    bool stopped = informer->state >= KI__INFORMER_STOPPING;
    ki__mutex_unlock(&informer->lock);
    if (stopped) {
        return ki__error_code(error, KI_ERR_STOPPED);
    }
    return ki_store_add_indexes(informer->store, indexes, count, error);
}

int ki_informer_set_transform(ki_informer *informer, ki_transform set, void *user)
{
    KI__REQUIRE(informer, NULL);
    ki__mutex_lock(&informer->lock);
    bool is_new = informer->state == KI__INFORMER_NEW;
    if (is_new) {
        informer->options.transform = set;
        informer->options.transform_user = user;
    }
    ki__mutex_unlock(&informer->lock);
    return is_new ? 0 : KI_ERR_EXISTS;
}

int ki_informer_set_watch_error_handler(ki_informer *informer, ki_watch_error_handler set,
                                        void *user)
{
    KI__REQUIRE(informer, NULL);
    ki__mutex_lock(&informer->lock);
    bool is_new = informer->state == KI__INFORMER_NEW;
    if (is_new) {
        informer->options.on_watch_error = set;
        informer->options.watch_error_user = user;
    }
    ki__mutex_unlock(&informer->lock);
    return is_new ? 0 : KI_ERR_EXISTS;
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

/* With the lock held. */
static void count_handlers(ki_informer *informer, ki_informer_health *h)
{
    h->handlers = informer->handler_count;
    h->merged = informer->merged_before;
    KI__LIST_FOR_EACH (link, &informer->handlers) {
        ki__registration_seat *seat = KI__CONTAINER_OF(link, ki__registration_seat, link);
        ki_registration_stats stats = ki_registration_get_stats(ki__registration_of_seat(seat));
        h->merged += stats.merged;
        h->handlers_waiting =
            stats.waiting > h->handlers_waiting ? stats.waiting : h->handlers_waiting;
    }
}

static void count_threads(const ki_informer *informer, ki_informer_health *h)
{
    ki__pool *pool = ki__engine_pool(informer->engine);
    if (pool != NULL) {
        ki__pool_stats stats = ki__pool_get_stats(pool);
        h->handler_threads = stats.threads;
        h->handler_threads_full = stats.full;
    }
}

int ki_informer_read_health(ki_informer *informer, ki_informer_health *health)
{
    KI__REQUIRE(informer, NULL);
    KI__REQUIRE(health, NULL);
    ki_informer_health h = {.reflector = KI_OPTIONS_INIT(ki_reflector_health)};
    if (health->size < sizeof(health->size) || health->size > sizeof(h)) {
        return -EINVAL;
    }
    ki__mutex_lock(&informer->lock);
    ki_reflector *reflector = ki_reflector_ref(informer->reflector);
    h.size = health->size;
    h.synced = informer->synced;
    h.stopped = informer->state == KI__INFORMER_STOPPED && informer->unfinished == 0;
    h.applied = informer->applied;
    h.set_aside = informer->set_aside;
    h.mutations = informer->mutation_count;
    count_handlers(informer, &h);
    ki__mutex_unlock(&informer->lock);
    if (reflector != NULL) {
        (void)ki_reflector_read_health(reflector, &h.reflector);
        (void)ki_reflector_unref(reflector);
    }
    ki_snapshot *snapshot = ki_store_snapshot(informer->store);
    h.objects = ki_snapshot_count(snapshot);
    (void)ki_snapshot_unref(snapshot);
    h.queued = ki_queue_length(informer->queue);
    h.queued_bytes = ki_queue_bytes(informer->queue);
    count_threads(informer, &h);
    memcpy(health, &h, health->size);
    return 0;
}
