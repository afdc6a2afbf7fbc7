/* SPDX-License-Identifier: Apache-2.0 */
/* Creation and destruction of a shared informer. */
#include "cache/informer/informer.h"

#include <errno.h>

#include <kinformer/index.h>
#include <kinformer/parts/shared_informer.h>
#include <kinformer/projection.h>
#include <kinformer/selection.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"

/* ---- references ---- */

void ki__informer_hold(ki_informer *informer)
{
    ki__refs_take(&informer->parts);
}

void ki__informer_free_source(ki_informer *informer)
{
    bool has = informer->has_source;
    informer->has_source = false;
    if (has && informer->source.destroy != NULL) {
        informer->source.destroy(informer->source.user);
    }
}

/* Also frees a partially created one. */
static void free_informer(ki_informer *informer)
{
    ki_engine *engine = informer->engine;
    ki__members_leave(&informer->member);
    ki__timer_done(&informer->version_timer);
    ki__informer_leave_group(informer);
    ki__informer_end_limit(informer);
    ki__timer_done(&informer->retry);
    ki__mutations_done(&informer->mutations);
    if (informer->applier.store != NULL) {
        ki__applier_done(&informer->applier);
    }
    (void)ki_reflector_unref(informer->reflector);
    (void)ki_queue_unref(informer->queue);
    (void)ki_store_unref(informer->store);
    (void)ki_resource_unref(informer->options.resource);
    (void)ki_projection_unref(informer->projection);
    ki__free(ki__engine_alloc(engine), informer->selection);
    ki__informer_free_source(informer);
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
        ki_informer_stop(informer); /* if it never ran; otherwise the run has a reference */
        ki__informer_release(informer);
    }
    return NULL;
}

/* ---- creation ---- */

/* Copies the strings of the options into one block. */
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
    int r = KI__TAKE(ki_informer_options, &o, options, error);
    if (r < 0) {
        return r;
    }
    if (o.engine == NULL || o.source == NULL || o.source->list == NULL || o.source->watch == NULL ||
        o.source->cancel == NULL) {
        return ki__error_set(error, -EINVAL,
                             "informer: engine and source (list, watch, cancel) must be set");
    }
    if (o.name_space != NULL) {
        return ki__error_set(error, -EINVAL, "name_space: must be NULL with a source");
    }
    if ((unsigned)o.queue >= KI_QUEUE_KIND_MAX) {
        return ki__error_set(error, -EINVAL, "queue: unknown kind of queue");
    }
    if ((unsigned)o.at_limit >= KI_AT_LIMIT_MAX) {
        return ki__error_set(error, -EINVAL, "at_limit: unknown value");
    }
    if (o.name == NULL) {
        o.name = o.resource != NULL ? ki_resource_name(o.resource) : "informer";
    }
    *ret_options = o;
    return 0;
}

static int allocate(const ki_informer_options *o, ki_informer **ret_informer)
{
    size_t len = ki_str_from(o->name).len + 1;
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
    informer->options.label_selector = NULL;
    informer->options.field_selector = NULL;
    informer->options.shard_selector = NULL;
    informer->options.resource = ki_resource_ref(o->resource);
    informer->resync_ms = o->resync_ms;
    ki__list_init(&informer->handlers);
    ki__wake_list_init(&informer->wakes);
    ki__list_init(&informer->limit.link);
    ki__error_init(&informer->limit.reason);
    ki__task_init(&informer->task, ki__informer_run_task);
    ki__task_init(&informer->close_opened, ki__informer_close_opened);
    ki__task_init(&informer->version_task, ki__informer_version_task);
    ki__list_init(&informer->version_waits);
    ki__mutations_init(&informer->mutations, alloc, ki__engine_hash_key(o->engine));
    *ret_informer = informer;
    return 0;
}

/* Indexes of the program are added last: the store takes ownership, which a later failure could not
 * undo. */
static int make_store(ki_informer *informer, const ki_informer_options *o, ki_error *error)
{
    ki_index namespace_index = KI_OPTIONS_INIT(ki_index);
    (void)ki_index_by_namespace(&namespace_index);
    const ki_index *const indexes[] = {&namespace_index};
    ki_store_options options = KI_OPTIONS_INIT(ki_store_options);
    options.alloc = ki__engine_alloc(informer->engine);
    options.random = ki__engine_entropy(informer->engine);
    options.indexes = indexes;
    options.index_count = o->no_namespace_index ? 0 : 1;
    options.storage = o->storage;
    options.reader_clock = o->track_readers ? ki__engine_clock(informer->engine) : NULL;
    return ki_store_new(&options, &informer->store, error);
}

static void report(const char *component, ki_str key, const ki_error *error, void *user)
{
    const ki_informer *informer = user;
    ki__engine_report(informer->engine, component, informer->options.name, key, error);
}

static ki_error_hook hook_of(ki_informer *informer)
{
    return (ki_error_hook){.size = sizeof(ki_error_hook), .report = report, .user = informer};
}

static int make_queue(ki_informer *informer, ki_error *error)
{
    bool deltas = informer->options.queue == KI_QUEUE_DELTA_FIFO;
    ki_queue_options options = KI_OPTIONS_INIT(ki_queue_options);
    options.alloc = ki__engine_alloc(informer->engine);
    options.random = ki__engine_entropy(informer->engine);
    options.known = deltas ? informer->store : NULL;
    const ki_error_hook hook = hook_of(informer);
    options.on_error = &hook;
    int r = deltas ? ki_delta_fifo_new(&options, &informer->queue, error)
                   : ki_fifo_new(&options, &informer->queue, error);
    if (r == 0) {
        informer->queue->consumer_engine = informer->engine;
        informer->queue->consumer = &informer->task;
    }
    return r;
}

static int make_parts(ki_informer *informer, const ki_informer_options *o, ki_error *error)
{
    int r = o->keep != NULL || o->drop != NULL
                ? ki_projection_new(o->keep, o->drop, ki__engine_alloc(informer->engine),
                                    &informer->projection, error)
                : 0;
    r = r < 0 ? r : make_store(informer, o, error);
    if (r < 0) {
        return r;
    }
    r = ki__informer_init_limit(informer, o, error);
    r = r < 0 ? r : make_queue(informer, error);
    if (r < 0) {
        return r;
    }
    r = ki__applier_init(&informer->applier, informer->store, ki__engine_alloc(informer->engine),
                         error);
    if (r < 0) {
        return r;
    }
    informer->applier.suppress = informer->projection != NULL && !o->deliver_unkept;
    informer->applier.keep_same_version = true; /* each handler selects whether it receives them */
    informer->applier.on_error = hook_of(informer);
    informer->applier.note_bytes = &informer->limit.note_bytes;
    r = ki__timer_init(&informer->retry, informer->engine, ki__informer_retry);
    r = r < 0 ? r
              : ki__timer_init(&informer->version_timer, informer->engine,
                               ki__informer_version_timeout);
    if (r < 0) {
        return ki__error_code(error, r);
    }
    return o->index_count != 0
               ? ki_store_add_indexes(informer->store, o->indexes, o->index_count, error)
               : 0;
}

static int make_selection(ki_informer *informer, const ki_informer_options *o, ki_error *error)
{
    const ki_selection selection = {.size = sizeof(selection),
                                    .label_selector = o->label_selector,
                                    .field_selector = o->field_selector,
                                    .shard_selector = o->shard_selector};
    const ki_alloc *alloc = ki__engine_alloc(informer->engine);
    return ki__selection_new(alloc, &selection, &informer->selection, error);
}

int ki_informer_new(const ki_informer_options *options, ki_informer **ret_informer, ki_error *error)
{
    KI__REQUIRE(options, error);
    KI__REQUIRE(ret_informer, error);
    ki_informer_options o = {0};
    ki_informer *informer = NULL;
    ki_source source = {0};
    int r = check_options(options, &o, error);
    if (r >= 0) {
        r = KI__TAKE(ki_source, &source, o.source, error);
    }
    if (r < 0) {
        return r;
    }
    r = allocate(&o, &informer);
    if (r < 0) {
        return ki__error_code(error, r);
    }
    r = make_selection(informer, &o, error);
    r = r < 0 ? r : make_parts(informer, &o, error);
    if (r < 0) {
        free_informer(informer);
        return r;
    }
    informer->source = source;
    informer->has_source = true;
    informer->options.source = NULL;
    informer->options.indexes = NULL;
    informer->options.keep = NULL;
    informer->options.drop = NULL;
    (void)ki__members_join(ki__engine_members(informer->engine), &informer->member,
                           KI__MEMBER_INFORMER, NULL);
    *ret_informer = informer;
    return 0;
}
