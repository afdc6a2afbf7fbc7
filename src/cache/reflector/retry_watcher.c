/* SPDX-License-Identifier: Apache-2.0 */
/* The retry watcher, as in client-go's tools/watch. One difference: there a 410 response to the
 * request itself is retried forever, although it can never succeed; here it ends the watcher like
 * the same 410 inside the stream. */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include <kinformer/parts/retry_watcher.h>
#include <kinformer/status.h>

#include "base/alloc.h"
#include "base/backoff.h"
#include "base/engine.h"
#include "base/error.h"
#include "base/options.h"
#include "base/refs.h"
#include "base/time_units.h"
#include "wire/pages.h"
#include "wire/source_options.h"

struct ki_retry_watcher {
    ki__refs refs;
    ki_engine *engine;
    const ki_alloc *alloc;
    ki_source source;
    ki_retry_watcher_options options; /* its pointers to other options are no longer valid */
    char *text;                       /* backing store of the next */
    ki_list_options list;
    ki__task task;
    atomic_bool stopping;
    /* Inside ki_engine_run() only. */
    ki__timer again;
    void *call;
    uint64_t began; /* start of the last watch */
    bool begun;
    bool ended; /* its own reference has been dropped */
    char version[KI__VERSION_MAX + 1];
};

ki_retry_watcher *ki_retry_watcher_ref(ki_retry_watcher *watcher)
{
    if (watcher != NULL) {
        ki__refs_take(&watcher->refs);
    }
    return watcher;
}

ki_retry_watcher *ki_retry_watcher_unref(ki_retry_watcher *watcher)
{
    if (watcher == NULL || !ki__refs_drop(&watcher->refs) ||
        ki__engine_is_inherited(watcher->engine)) {
        return NULL;
    }
    ki_engine *engine = watcher->engine;
    ki__timer_done(&watcher->again);
    ki__free(watcher->alloc, watcher->text);
    ki__free(watcher->alloc, watcher);
    (void)ki_engine_unref(engine);
    return NULL;
}

static void drop_call(ki_retry_watcher *w)
{
    void *call = w->call;
    w->call = NULL;
    if (call != NULL) {
        w->source.cancel(call, w->source.user);
    }
}

/* The caller must not access the watcher afterwards. */
static void finish(ki_retry_watcher *w)
{
    drop_call(w);
    ki__timer_cancel(&w->again);
    w->ended = true;
    if (w->options.on_end != NULL) {
        w->options.on_end(w, w->options.user);
    }
    (void)ki_retry_watcher_unref(w);
}

static bool is_stopping(const ki_retry_watcher *w)
{
    return atomic_load(&w->stopping);
}

/* ---- retrying or ending ---- */

static void end_with(ki_retry_watcher *w, const ki_error *error, const ki_object *status)
{
    drop_call(w);
    w->options.on_event(w, KI_WATCH_EVENT_ERROR, status, error, w->options.user);
    finish(w);
}

static void end_with_internal(ki_retry_watcher *w, const char *why)
{
    ki_error error;
    ki__error_init(&error);
    (void)ki__error_set(&error, KI_ERR_STATUS, "%s", why);
    error.http_code = 500;
    error.reason = KI_REASON_INTERNAL_ERROR;
    end_with(w, &error, NULL);
}

/* A second after the last one began, and not before the requested delay. */
static void watch_again(ki_retry_watcher *w, uint32_t delay_ms)
{
    drop_call(w);
    uint64_t now = ki__engine_now(w->engine);
    uint64_t delay = ki__backoff_requested(w->engine, delay_ms);
    uint64_t soonest = w->began + KI__SECOND_NS;
    ki__timer_set(&w->again, now + delay > soonest ? now + delay : soonest);
}

static void failed(ki_retry_watcher *w, const ki_error *error, const ki_object *status)
{
    bool refused = ki_error_is_unauthorized(error) || ki_error_is_forbidden(error);
    bool too_old = ki_error_is_gone(error) || ki_error_is_resource_expired(error);
    if (refused || too_old) {
        end_with(w, error, status);
    } else {
        watch_again(w, error->retry_after_ms);
    }
}

/* ---- callbacks of the source ---- */

static void on_event(ki_watch_event_type type, const ki_object *object, const ki_error *error,
                     void *user)
{
    ki_retry_watcher *w = user;
    if (is_stopping(w)) {
        return; /* the task that ends it is posted */
    }
    if (type == KI_WATCH_EVENT_ERROR) {
        ki_error unknown;
        ki__error_init(&unknown);
        (void)ki__error_set(&unknown, KI_ERR_STATUS, "retry watcher: ERROR event without a reason");
        error = error != NULL ? error : &unknown;
        /* As in client-go: inside the stream only an expired version is final. */
        if (ki_error_is_gone(error) || ki_error_is_resource_expired(error)) {
            end_with(w, error, object);
        } else {
            watch_again(w, error->retry_after_ms);
        }
        return;
    }
    if ((size_t)type > KI_WATCH_EVENT_BOOKMARK || object == NULL) {
        end_with_internal(w, "retry watcher: event of an unknown type");
        return;
    }
    const char *version = ki_object_resource_version(object);
    if (version[0] == '\0') {
        end_with_internal(w, "retry watcher: event with an object without resourceVersion");
        return;
    }
    /* Set first, since the watcher may end during the callback; the event counts as delivered. */
    memcpy(w->version, version, strlen(version) + 1);
    if (type != KI_WATCH_EVENT_BOOKMARK) {
        w->options.on_event(w, type, object, NULL, w->options.user);
    }
}

static void on_skipped(ki_watch_event_type type, const char *key, const char *resource_version,
                       const ki_error *error, void *user)
{
    (void)type;
    ki_retry_watcher *w = user;
    if (is_stopping(w)) {
        return;
    }
    if (error->code == -ENOMEM) {
        watch_again(w, 0); /* it will be sent again */
        return;
    }
    size_t len = strlen(resource_version);
    if (len != 0 && len <= KI__VERSION_MAX) {
        memcpy(w->version, resource_version, len + 1);
    }
    ki__engine_report(w->engine, "retry watcher", "", ki_str_from(key), error);
}

static void on_alive(size_t bytes, void *user)
{
    (void)bytes;
    (void)user;
}

static void on_end(const ki_list_meta *meta, const ki_error *error, const ki_object *status,
                   void *user)
{
    (void)meta;
    ki_retry_watcher *w = user;
    w->call = NULL;
    if (is_stopping(w)) {
        return;
    }
    if (error != NULL) {
        failed(w, error, status);
    } else {
        watch_again(w, 0);
    }
}

static void begin(ki_retry_watcher *w)
{
    const ki_source_sink sink = {
        .size = sizeof(sink),
        .on_event = on_event,
        .on_skipped = on_skipped,
        .on_alive = on_alive,
        .on_end = on_end,
        .user = w,
    };
    ki_list_options list = w->list;
    list.resource_version = w->version;
    list.allow_bookmarks = true;
    ki_error error = KI_ERROR_INIT;
    w->began = ki__engine_now(w->engine);
    if (w->source.watch(&list, &sink, w->source.user, &w->call, &error) < 0) {
        w->call = NULL;
        failed(w, &error, NULL);
    }
}

/* ---- the task and the timer ---- */

static void on_again(ki__timer *timer)
{
    ki_retry_watcher *w = KI__CONTAINER_OF(timer, ki_retry_watcher, again);
    if (!is_stopping(w)) {
        begin(w);
    }
}

static void work(ki__task *task)
{
    ki_retry_watcher *w = KI__CONTAINER_OF(task, ki_retry_watcher, task);
    if (w->ended) {
        /* A late call. */
    } else if (is_stopping(w)) {
        finish(w);
    } else if (!w->begun) {
        w->begun = true;
        begin(w);
    }
    (void)ki_retry_watcher_unref(w); /* of the posted task */
}

/* A posted task holds a reference. */
static void post(ki_retry_watcher *w)
{
    (void)ki_retry_watcher_ref(w);
    if (!ki__engine_post(w->engine, &w->task)) {
        (void)ki_retry_watcher_unref(w);
    }
}

void ki_retry_watcher_stop(ki_retry_watcher *watcher)
{
    if (watcher == NULL) {
        return;
    }
    atomic_store(&watcher->stopping, true);
    post(watcher);
}

/* ---- creation ---- */

static int check_options(const ki_retry_watcher_options *o, ki_error *error)
{
    if (o->engine == NULL || o->source == NULL || o->source->watch == NULL ||
        o->source->cancel == NULL) {
        return ki__error_set(error, -EINVAL,
                             "retry watcher: engine and source (watch, cancel) must be set");
    }
    if (o->on_event == NULL) {
        return ki__error_set(error, -EINVAL, "on_event: must not be NULL");
    }
    return 0;
}

static int take_version(ki_retry_watcher *w, ki_error *error)
{
    const char *version = w->list.resource_version;
    size_t len = strlen(version);
    if (len == 0 || strcmp(version, "0") == 0) {
        return ki__error_set(error, KI_ERR_INVALID,
                             "resource_version: must be a version to start after, not \"%s\"",
                             version);
    }
    if (len > KI__VERSION_MAX) {
        return ki__error_set(error, KI_ERR_LIMIT, "resource_version: longer than %d bytes",
                             KI__VERSION_MAX);
    }
    memcpy(w->version, version, len + 1);
    return 0;
}

static int init_parts(ki_retry_watcher *w, ki_error *error)
{
    ki__task_init(&w->task, work);
    int r = ki__texts_copy_list_options(w->alloc, w->options.list, &w->list, &w->text, error);
    if (r == 0) {
        r = take_version(w, error);
    }
    if (r < 0) {
        return r;
    }
    r = ki__timer_init(&w->again, w->engine, on_again);
    return r < 0 ? ki__error_code(error, r) : 0;
}

int ki_retry_watcher_start(const ki_retry_watcher_options *options, ki_retry_watcher **ret_watcher,
                           ki_error *error)
{
    KI__REQUIRE(options, error);
    KI__REQUIRE(ret_watcher, error);
    ki_retry_watcher_options o = {0};
    int r = KI__TAKE(ki_retry_watcher_options, &o, options, error);
    if (r < 0) {
        return r;
    }
    r = check_options(&o, error);
    ki_source source;
    if (r >= 0) {
        r = KI__TAKE(ki_source, &source, o.source, error);
    }
    if (r < 0) {
        return r;
    }
    KI__REQUIRE_OWN_ENGINE(o.engine, error);
    const ki_alloc *alloc = ki__engine_alloc(o.engine);
    ki_retry_watcher *w = ki__alloc_zero(alloc, sizeof(*w));
    if (w == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    ki__refs_init(&w->refs);
    w->engine = ki_engine_ref(o.engine);
    w->alloc = alloc;
    w->source = source;
    w->options = o;
    r = init_parts(w, error);
    if (r < 0) {
        (void)ki_retry_watcher_unref(w);
        return r;
    }
    (void)ki_retry_watcher_ref(w); /* its own, until it ends */
    post(w);
    *ret_watcher = w;
    return 0;
}
