/* SPDX-License-Identifier: Apache-2.0 */
/* A source that the program fills. Objects are in a store, so a list is an iteration over a
 * snapshot; recent changes are in a ring, from which watches are served. Invariant: the ring holds
 * every change since version `floor`, in order; watches from older versions are expired.
 *
 * Calls exist only inside ki_engine_run(). The task serves one of them at a time, at most a batch
 * of events, and is posted again while there is more to send. Members under the lock may be changed
 * by any thread; it is not held while a sink is called. */
#include <errno.h>
#include <string.h>

#include <kinformer/key.h>
#include <kinformer/parts/local_source.h>
#include <kinformer/parts/store_write.h>
#include <kinformer/store.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/engine.h"
#include "base/error.h"
#include "base/options.h"
#include "base/refs.h"
#include "base/sync.h"
#include "wire/pages.h"

enum { BATCH = 256, HISTORY = 1024, HISTORY_MAX = 1 << 24, OBJECTS_MAX = 1 << 20 };

typedef struct change {
    ki_watch_event_type type;
    ki_object *object;
} change;

struct ki_local_source {
    ki__refs refs;
    ki_engine *engine;
    const ki_alloc *alloc;
    size_t max_objects;
    size_t history_max;
    ki__task task;
    ki__list calls; /* inside ki_engine_run() only */

    ki__mutex lock; /* protects the rest */
    ki_store *store;
    size_t count;
    bool listed;                       /* after the first list versions must increase */
    ki_error failure;                  /* ends every call; code 0: none */
    change *history;                   /* change n is at n % history_max */
    uint64_t first;                    /* number of the oldest retained change */
    uint64_t next;                     /* number of the next change */
    char version[KI__VERSION_MAX + 1]; /* of the last change; "" initially */
    char floor[KI__VERSION_MAX + 1];   /* of the last change that is not in the history */
    char url[];
};

typedef struct call {
    ki__list link;
    ki_local_source *source;
    ki_source_sink sink;
    bool accepted; /* acceptance was reported */
    bool paused;
    bool busy;             /* inside a callback of its sink: freed when that returns */
    bool closed;           /* ended or cancelled */
    ki_snapshot *snapshot; /* of a list; NULL: it is a watch */
    ki_snapshot_iter iter;
    uint64_t next;                     /* of a watch: next change to send */
    char version[KI__VERSION_MAX + 1]; /* of a list */
} call;

/* As ki_resource_version_compare(); "" and "0" sort first. */
static int compare(const char *a, const char *b, int *ret_order)
{
    bool a_none = a[0] == '\0' || strcmp(a, "0") == 0;
    bool b_none = b[0] == '\0' || strcmp(b, "0") == 0;
    if (!a_none && !b_none) {
        return ki_resource_version_compare(ki_str_from(a), ki_str_from(b), ret_order);
    }
    const char *other = a_none ? b : a;
    int r = 0;
    if (!a_none || !b_none) {
        r = ki_resource_version_compare(ki_str_from(other), ki_str_from(other), ret_order);
    }
    *ret_order = (a_none ? 0 : 1) - (b_none ? 0 : 1);
    return r;
}

/* ---- references ---- */

ki_local_source *ki_local_source_ref(ki_local_source *source)
{
    if (source != NULL) {
        ki__refs_take(&source->refs);
    }
    return source;
}

ki_local_source *ki_local_source_unref(ki_local_source *source)
{
    if (source == NULL || !ki__refs_drop(&source->refs) ||
        ki__engine_is_inherited(source->engine)) {
        return NULL;
    }
    ki_engine *engine = source->engine;
    ki_assert(ki__list_is_empty(&source->calls));
    for (uint64_t n = source->first; n < source->next; n++) {
        (void)ki_object_unref(source->history[n % source->history_max].object);
    }
    ki__free(source->alloc, source->history);
    (void)ki_store_unref(source->store);
    ki__mutex_done(&source->lock);
    ki__free(source->alloc, source);
    (void)ki_engine_unref(engine);
    return NULL;
}

/* A posted task holds a reference. */
static void post(ki_local_source *source)
{
    (void)ki_local_source_ref(source);
    if (!ki__engine_post(source->engine, &source->task)) {
        (void)ki_local_source_unref(source);
    }
}

/* ---- calls ---- */

static void free_call(call *c)
{
    ki_local_source *source = c->source;
    (void)ki_snapshot_unref(c->snapshot);
    ki__free(source->alloc, c);
}

static void close_call(call *c)
{
    c->closed = true;
    ki__list_remove(&c->link);
}

static void end_call(call *c, const ki_list_meta *meta, const ki_error *error)
{
    close_call(c);
    c->sink.on_end(meta, error, NULL, c->sink.user);
}

static void fill_expired(ki_error *error)
{
    (void)ki__error_set(error, KI_ERR_STATUS, "too old resource version");
    error->http_code = 410;
    error->reason = KI_REASON_EXPIRED;
}

/* Sends a batch of the list, and its end. */
static void serve_list(call *c)
{
    bool at_end = false;
    for (int i = 0; i < BATCH && !c->closed; i++) {
        const ki_object *object;
        at_end = ki_snapshot_iter_next(&c->iter, &object) == 0;
        if (at_end) {
            break;
        }
        c->sink.on_event(KI_WATCH_EVENT_ADDED, object, NULL, c->sink.user);
    }
    if (at_end && !c->closed) {
        const ki_list_meta meta = {.size = sizeof(meta),
                                   .resource_version = c->version,
                                   .continue_token = "",
                                   .remaining = -1};
        end_call(c, &meta, NULL);
    }
}

/* 1 with the next change of a watch, 0 if there is none, KI_ERR_STATUS if it has expired. */
static int take_change(call *c, change *ret_change)
{
    ki_local_source *source = c->source;
    int r = 0;
    ki__mutex_lock(&source->lock);
    if (c->next < source->first) {
        r = KI_ERR_STATUS;
    } else if (c->next < source->next) {
        const change *there = &source->history[c->next++ % source->history_max];
        *ret_change = (change){.type = there->type, .object = ki_object_ref(there->object)};
        r = 1;
    }
    ki__mutex_unlock(&source->lock);
    return r;
}

static void serve_watch(call *c)
{
    change one;
    int r = 1;
    for (int i = 0; i < BATCH && !c->closed && r > 0; i++) {
        r = take_change(c, &one);
        if (r > 0) {
            c->sink.on_event(one.type, one.object, NULL, c->sink.user);
            (void)ki_object_unref(one.object);
        }
    }
    if (r < 0 && !c->closed) {
        ki_error error;
        ki__error_init(&error);
        fill_expired(&error);
        end_call(c, NULL, &error);
    }
}

static void get_failure(ki_local_source *source, ki_error *ret_failure)
{
    ki__mutex_lock(&source->lock);
    ki__error_copy(ret_failure, &source->failure);
    ki__mutex_unlock(&source->lock);
}

static void serve(call *c)
{
    ki_error failure = KI_ERROR_INIT;
    get_failure(c->source, &failure);
    c->busy = true;
    if (failure.code != 0) {
        end_call(c, NULL, &failure);
    } else if (!c->accepted) {
        c->accepted = true;
        c->sink.on_alive(0, c->sink.user);
    }
    if (!c->closed && c->snapshot != NULL) {
        serve_list(c);
    } else if (!c->closed) {
        serve_watch(c);
    }
    c->busy = false;
    if (c->closed) {
        free_call(c);
    }
}

/* The next call with something to send; moves it to the end of the list. */
static call *next_call(ki_local_source *source)
{
    call *found = NULL;
    ki__mutex_lock(&source->lock);
    KI__LIST_FOR_EACH (link, &source->calls) {
        call *c = KI__CONTAINER_OF(link, call, link);
        bool more = !c->accepted || c->snapshot != NULL || c->next < source->next;
        if (found == NULL && (source->failure.code != 0 || (more && !c->paused))) {
            found = c;
        }
    }
    ki__mutex_unlock(&source->lock);
    if (found != NULL) {
        ki__list_remove(&found->link);
        ki__list_push_back(&source->calls, &found->link);
    }
    return found;
}

static void run(ki__task *task)
{
    ki_local_source *source = KI__CONTAINER_OF(task, ki_local_source, task);
    call *c = next_call(source);
    if (c != NULL) {
        serve(c);
        post(source); /* until no call is left */
    }
    (void)ki_local_source_unref(source); /* of the posted task */
}

/* ---- the table ---- */

static int make_call(ki_local_source *source, const ki_list_options *options,
                     const ki_source_sink *sink, call **ret_call, ki_error *error)
{
    if (ki_str_from(options->label_selector).len != 0 ||
        ki_str_from(options->field_selector).len != 0) {
        return ki__error_set(error, KI_ERR_UNSUPPORTED,
                             "local source: selectors are not supported");
    }
    ki_source_sink taken;
    int r = KI__TAKE(ki_source_sink, &taken, sink, error);
    if (r < 0) {
        return r;
    }
    call *c = ki__alloc_zero(source->alloc, sizeof(*c));
    if (c == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    c->source = source;
    c->sink = taken;
    *ret_call = c;
    return 0;
}

static void enter(call *c, void **ret_call)
{
    ki__list_push_back(&c->source->calls, &c->link);
    post(c->source);
    *ret_call = c;
}

static int begin_list(const ki_list_options *options, const ki_source_sink *sink, void *user,
                      void **ret_call, ki_error *error)
{
    ki_local_source *source = user;
    call *c = NULL;
    int r = make_call(source, options, sink, &c, error);
    if (r < 0) {
        return r;
    }
    ki__mutex_lock(&source->lock);
    source->listed = true;
    c->snapshot = ki_store_snapshot(source->store);
    memcpy(c->version, source->version, sizeof(c->version));
    ki__mutex_unlock(&source->lock);
    c->iter = ki_snapshot_iter_begin(c->snapshot);
    enter(c, ret_call);
    return 0;
}

/* Requires the lock. The number of the first change after a version. */
static int find_change(const ki_local_source *source, const char *version, uint64_t *ret_number,
                       ki_error *error)
{
    int order = 0;
    if (compare(version, source->floor, &order) < 0) {
        return ki__error_set(error, KI_ERR_INVALID, "watch: resourceVersion is not a number");
    }
    if (order < 0) {
        fill_expired(error);
        return KI_ERR_STATUS;
    }
    uint64_t number = source->next;
    while (number > source->first) {
        const ki_object *object = source->history[(number - 1) % source->history_max].object;
        if (compare(ki_object_resource_version(object), version, &order) < 0 || order <= 0) {
            break;
        }
        number--;
    }
    *ret_number = number;
    return 0;
}

static int begin_watch(const ki_list_options *options, const ki_source_sink *sink, void *user,
                       void **ret_call, ki_error *error)
{
    ki_local_source *source = user;
    ki_error own = KI_ERROR_INIT;
    call *c = NULL;
    int r = make_call(source, options, sink, &c, error);
    if (r < 0) {
        return r;
    }
    const char *version = options->resource_version != NULL ? options->resource_version : "";
    ki__mutex_lock(&source->lock);
    r = find_change(source, version, &c->next, &own);
    ki__mutex_unlock(&source->lock);
    if (r < 0) {
        free_call(c);
        if (error != NULL) {
            ki__error_copy(error, &own);
        }
        return r;
    }
    enter(c, ret_call);
    return 0;
}

static void cancel(void *opaque, void *user)
{
    call *c = opaque;
    (void)user;
    if (c->closed) {
        return;
    }
    close_call(c);
    if (!c->busy) {
        free_call(c);
    }
}

static void hold(void *opaque, bool paused, void *user)
{
    call *c = opaque;
    c->paused = paused;
    if (!paused) {
        post(user);
    }
}

static void destroy(void *user)
{
    (void)ki_local_source_unref(user);
}

int ki_local_source_table(ki_local_source *source, ki_source *ret_source)
{
    KI__REQUIRE(source, NULL);
    KI__REQUIRE_SIZED(ki_source, ret_source, NULL);
    const ki_source table = {
        .size = sizeof(table),
        .list = begin_list,
        .watch = begin_watch,
        .cancel = cancel,
        .pause = hold,
        .no_streaming_list = true,
        .url = source->url[0] != '\0' ? source->url : NULL,
        .user = ki_local_source_ref(source),
        .destroy = destroy,
    };
    return KI__GIVE(ki_source, ret_source, &table);
}

/* ---- changes ---- */

/* Requires the lock. Whether a change of this object is allowed now, and its version. */
static int check_change(const ki_local_source *source, const ki_object *object, bool *ret_newer,
                        ki_error *error)
{
    const char *version = ki_object_resource_version(object);
    int order = 0;
    int own = 0;
    if (ki_object_key(object)[0] == '\0') {
        return ki__error_set(error, KI_ERR_KEY, "object: metadata.name is missing");
    }
    if (compare(version, source->version, &order) < 0 || compare(version, "", &own) < 0 ||
        own <= 0) {
        return ki__error_set(error, KI_ERR_INVALID, "object: resourceVersion is not a number");
    }
    if (source->listed && order <= 0) {
        (void)ki__error_set(error, KI_ERR_STALE, "local source: resourceVersion ");
        ki__error_add(error, ki_str_from(version));
        ki__error_add(error, ki_str_from(" is not newer than "));
        ki__error_add(error, ki_str_from(source->version));
        return KI_ERR_STALE;
    }
    *ret_newer = order > 0;
    return 0;
}

static void copy_version(char *to, const ki_object *object)
{
    const char *version = ki_object_resource_version(object);
    memcpy(to, version, strlen(version) + 1); /* objects limit its length */
}

/* Requires the lock. Cannot fail. Before the first list no history is needed. */
static void note_change(ki_local_source *source, ki_watch_event_type type, const ki_object *object,
                        bool newer)
{
    if (newer) {
        copy_version(source->version, object);
    }
    if (!source->listed) {
        memcpy(source->floor, source->version, sizeof(source->floor));
        return;
    }
    change *place = &source->history[source->next % source->history_max];
    if (source->next - source->first == source->history_max) {
        copy_version(source->floor, place->object);
        (void)ki_object_unref(place->object);
        source->first++;
    }
    *place = (change){.type = type, .object = ki_object_ref(object)};
    source->next++;
}

static int put_locked(ki_local_source *source, const ki_object *object, ki_error *error)
{
    bool newer = false;
    int r = check_change(source, object, &newer, error);
    if (r < 0) {
        return r;
    }
    ki_object *before = ki_store_get(source->store, ki_object_key(object));
    bool known = before != NULL;
    (void)ki_object_unref(before);
    if (!known && source->count >= source->max_objects) {
        return ki__error_set(error, KI_ERR_LIMIT, "local source full: %zu objects", source->count);
    }
    r = ki_store_add(source->store, object, error);
    if (r < 0) {
        return r;
    }
    source->count += known ? 0 : 1;
    note_change(source, known ? KI_WATCH_EVENT_MODIFIED : KI_WATCH_EVENT_ADDED, object, newer);
    return 0;
}

static int remove_locked(ki_local_source *source, const ki_object *object, ki_error *error)
{
    bool newer = false;
    int r = check_change(source, object, &newer, error);
    if (r < 0) {
        return r;
    }
    r = ki_store_delete(source->store, ki_str_from(ki_object_key(object)),
                        ki_object_resource_version(object), error);
    if (r <= 0) {
        return r < 0 ? r : ki__error_code(error, KI_ERR_NOT_FOUND);
    }
    source->count--;
    note_change(source, KI_WATCH_EVENT_DELETED, object, newer);
    return 0;
}

int ki_local_source_put(ki_local_source *source, const ki_object *object, ki_error *error)
{
    KI__REQUIRE(source, error);
    KI__REQUIRE(object, error);
    KI__REQUIRE_OWN_ENGINE(source->engine, error);
    ki__mutex_lock(&source->lock);
    int r = put_locked(source, object, error);
    ki__mutex_unlock(&source->lock);
    if (r == 0) {
        post(source);
    }
    return r;
}

int ki_local_source_remove(ki_local_source *source, const ki_object *object, ki_error *error)
{
    KI__REQUIRE(source, error);
    KI__REQUIRE(object, error);
    KI__REQUIRE_OWN_ENGINE(source->engine, error);
    ki__mutex_lock(&source->lock);
    int r = remove_locked(source, object, error);
    ki__mutex_unlock(&source->lock);
    if (r == 0) {
        post(source);
    }
    return r;
}

int ki_local_source_fail(ki_local_source *source, const ki_error *error)
{
    KI__REQUIRE(source, NULL);
    KI__REQUIRE_OWN_ENGINE(source->engine, NULL);
    if (error != NULL && error->code >= 0) {
        return -EINVAL;
    }
    ki__mutex_lock(&source->lock);
    if (error != NULL) {
        ki__error_copy(&source->failure, error);
    } else {
        ki__error_clear(&source->failure);
    }
    ki__mutex_unlock(&source->lock);
    post(source);
    return 0;
}

/* ---- creation ---- */

static int make_store(ki_local_source *source, ki_error *error)
{
    ki_store_options options = KI_OPTIONS_INIT(ki_store_options);
    options.alloc = source->alloc;
    options.random = ki__engine_entropy(source->engine);
    return ki_store_new(&options, &source->store, error);
}

static int check_options(const ki_local_source_options *options, ki_local_source_options *ret_o,
                         ki_error *error)
{
    int r = KI__TAKE(ki_local_source_options, ret_o, options, error);
    if (r < 0) {
        return r;
    }
    if (ret_o->engine == NULL) {
        return ki__error_set(error, -EINVAL, "engine: must not be NULL");
    }
    ret_o->max_objects = ret_o->max_objects != 0 ? ret_o->max_objects : OBJECTS_MAX;
    ret_o->history = ret_o->history != 0 ? ret_o->history : HISTORY;
    if (ret_o->history > HISTORY_MAX) {
        return ki__error_set(error, -EINVAL, "history: more than %d changes", HISTORY_MAX);
    }
    return 0;
}

int ki_local_source_new(const ki_local_source_options *options, ki_local_source **ret_source,
                        ki_error *error)
{
    KI__REQUIRE(options, error);
    KI__REQUIRE(ret_source, error);
    ki_local_source_options o = {0};
    int r = check_options(options, &o, error);
    if (r < 0) {
        return r;
    }
    const ki_alloc *alloc = ki__engine_alloc(o.engine);
    ki_str url = ki_str_from(o.url);
    ki_local_source *source = ki__alloc_zero(alloc, sizeof(*source) + url.len + 1);
    if (source == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    r = ki__mutex_init(&source->lock);
    if (r < 0) {
        ki__free(alloc, source);
        return ki__error_code(error, r);
    }
    ki__refs_init(&source->refs);
    source->engine = ki_engine_ref(o.engine);
    source->alloc = alloc;
    source->max_objects = o.max_objects;
    source->history_max = o.history;
    ki__task_init(&source->task, run);
    ki__list_init(&source->calls);
    if (url.len != 0) {
        memcpy(source->url, url.ptr, url.len);
    }
    source->history = ki__alloc_array(alloc, o.history, sizeof(change));
    r = source->history != NULL ? make_store(source, error) : ki__error_code(error, -ENOMEM);
    if (r < 0) {
        (void)ki_local_source_unref(source);
        return r;
    }
    *ret_source = source;
    return 0;
}
