/* SPDX-License-Identifier: Apache-2.0 */
/* Watching: changes, event by event. Invariant: the version advances only after the target has
 * received everything up to it, so that a resumed watch misses nothing; and it never goes back.
 *
 * A watch that ends is resumed from that version: immediately if it lived, after a delay if it did
 * not or the server requests one. Only errors about the version, and invalid events, lead to a
 * relist. */
#include <errno.h>
#include <string.h>

#include <kinformer/key.h>

#include "base/error.h"
#include "base/probe.h"
#include "cache/queue/transform.h"
#include "cache/reflector/reflector.h"
#include "object/object.h"

#define LIMIT_SLACK_NS (30 * KI__SECOND_NS) /* tolerance for servers that end a watch late */

static bool has_version(const ki_reflector *r)
{
    return r->version[0] != '\0' && strcmp(r->version, "0") != 0;
}

/* Without a version it cannot be resumed. */
static ki__then way_back(const ki_reflector *r)
{
    return has_version(r) ? KI__THEN_WATCH : KI__THEN_LIST;
}

/* ---- the end ---- */

/* Resumes the watch. Many short watches in a row are spread out. `error` is NULL if the watch ended
 * normally. */
static void resume(ki_reflector *r, const ki_error *error)
{
    bool quick = ki__engine_now(r->engine) - r->began < KI__WATCH_SHORT_NS;
    if (has_version(r) && !(quick && r->watches == KI__WATCHES_QUICK)) {
        if (error != NULL) {
            ki__reflector_log_routine(r, "watch broke; resuming", error);
            ki__reflector_note_reason(r, error);
        }
        r->watches = quick ? KI__WATCHES_QUICK : KI__WATCHES_LIVED;
        ki__reflector_go(r, KI_REFLECTOR_WATCHING);
    } else if (error != NULL) {
        ki__reflector_fail(r, way_back(r), error, NULL);
    } else {
        ki__reflector_back_off(r, way_back(r), NULL);
    }
}

static void wait_and_resume(ki_reflector *r, const ki_error *error, const ki_object *status)
{
    ki__reflector_fail(r, way_back(r), error, status);
}

static void ended_with(ki_reflector *r, const ki_error *error, const ki_object *status,
                       bool in_stream, bool lived)
{
    switch (ki__reflector_classify(error, status)) {
    case KI__TROUBLE_NETWORK:
        if (lived) {
            resume(r, error);
        } else {
            wait_and_resume(r, error, status);
        }
        break;
    case KI__TROUBLE_REFUSED:
    case KI__TROUBLE_BUSY:
    case KI__TROUBLE_MEMORY:
        wait_and_resume(r, error, status);
        break;
    case KI__TROUBLE_INTERNAL:
        if (in_stream && ki__reflector_may_retry_internal(r)) {
            resume(r, error);
        } else {
            ki__reflector_fail(r, KI__THEN_LIST, error, status);
        }
        break;
    case KI__TROUBLE_EXPIRED:
    case KI__TROUBLE_TOO_LARGE:
    case KI__TROUBLE_FINAL:
    case KI__TROUBLE_OTHER:
        ki__reflector_fail(r, KI__THEN_LIST, error, status);
        break;
    }
}

void ki__reflector_watch_ended(ki_reflector *r, const ki_error *error, const ki_object *status,
                               bool in_stream)
{
    if (error != NULL && has_version(r) && ki__reflector_reencode(r, error)) {
        return;
    }
    uint64_t lived = ki__engine_now(r->engine) - r->began;
    bool empty = r->events == 0 && lived < KI__WATCH_SHORT_NS;
    if (error != NULL) {
        /* A watch that was never accepted has not worked, regardless of its duration. */
        bool worked =
            r->events != 0 || (r->attempt == KI__ATTEMPT_ACCEPTED && lived >= KI__WATCH_SHORT_NS);
        ended_with(r, error, status, in_stream, worked);
    } else if (empty) {
        ki_error nothing;
        ki__error_init(&nothing);
        (void)ki__error_set(&nothing, KI_ERR_UNSUPPORTED, "watch ended immediately without events");
        ki__reflector_fail(r, KI__THEN_LIST, &nothing, NULL);
    } else {
        resume(r, NULL);
    }
}

/* ---- events ---- */

/* Relation of an event's version to the current one. */
typedef enum age { NEW, AGAIN, OLD } age;

static bool was_last(const ki_reflector *r, ki_watch_event_type type, const ki_object *object)
{
    return r->last_object != NULL && r->last_type == type &&
           strcmp(ki_object_key(r->last_object), ki_object_key(object)) == 0;
}

/* Several events may share a version: etcd deletes all objects of a lease at once. */
static age age_of(ki_reflector *r, ki_watch_event_type type, const ki_object *object)
{
    int order;
    ki_str version = ki_str_from(ki_object_resource_version(object));
    if (r->origin == KI__ORIGIN_UNORDERED ||
        ki_resource_version_compare(version, ki_str_from(r->version), &order) < 0 || order > 0) {
        return NEW;
    }
    bool from_event = r->origin == KI__ORIGIN_EVENT;
    bool known = order < 0 || !from_event || was_last(r, type, object);
    if (known) {
        ki__reflector_count(r, &r->shared.health.anomalies);
    }
    if (order < 0) {
        return OLD;
    }
    return from_event && known ? AGAIN : NEW;
}

/* A lagging server, or a bookmark that was too high: relist. */
static void refuse_old(ki_reflector *r, const ki_object *object)
{
    ki_error error;
    ki__error_init(&error);
    (void)ki__error_set(&error, KI_ERR_STALE, "stale watch event: resourceVersion ");
    ki__error_add(&error, ki_str_from(ki_object_resource_version(object)));
    ki__error_add(&error, ki_str_from("; already seen "));
    ki__error_add(&error, ki_str_from(r->version));
    ki__engine_report(r->engine, "reflector", r->options.name, ki_str_from(ki_object_key(object)),
                      &error);
    if (!ki__reflector_is_stopping(r)) {
        ki__reflector_back_off(r, KI__THEN_LIST, &error);
    }
}

/* Initial events of a watch without a version are unordered: their versions mean nothing. */
static void advance(ki_reflector *r, ki_watch_event_type type, const char *version,
                    ki__origin origin)
{
    if (r->origin == KI__ORIGIN_UNORDERED && type == KI_WATCH_EVENT_ADDED) {
        return;
    }
    if (r->origin == KI__ORIGIN_UNORDERED) {
        r->origin = KI__ORIGIN_LIST;
    }
    if (version[0] == '\0') {
        return;
    }
    if (strcmp(version, r->version) != 0) {
        ki__backoff_reset(&r->rewatch); /* watches with progress are resumed soon */
    }
    ki__reflector_set_version(r, version, origin);
}

static int deliver_to_target(ki_reflector *r, ki_watch_event_type type, const ki_object *object,
                             ki_error *error)
{
    const ki_reflector_target *target = &r->target;
    switch (type) {
    case KI_WATCH_EVENT_ADDED:
        return target->add(object, target->user, error);
    case KI_WATCH_EVENT_MODIFIED:
        return target->update(object, target->user, error);
    case KI_WATCH_EVENT_DELETED:
        return target->remove(object, target->user, error);
    case KI_WATCH_EVENT_BOOKMARK:
    case KI_WATCH_EVENT_ERROR:
    case KI_WATCH_EVENT_MAX:
        break;
    }
    return 0;
}

/* Passes an event to the target, if it has the memory. */
static int pass(ki_reflector *r, ki_watch_event_type type, const ki_object *object, ki_error *error)
{
    ki_object *reduced = NULL;
    int code = ki__reflector_reduce(r, object, &reduced, error);
    if (code < 0) {
        return code;
    }
    object = reduced != NULL ? reduced : object;
    r->removes = type == KI_WATCH_EVENT_DELETED;
    code = ki__reflector_reserve(r, ki__object_footprint(object), error);
    r->removes = false;
    code = code < 0 ? code : deliver_to_target(r, type, object, error);
    ki__reflector_unreserve(r);
    (void)ki_object_unref(reduced);
    return code;
}

static int deliver(ki_reflector *r, ki_watch_event_type type, const ki_object *object,
                   ki_error *error)
{
    const ki_reflector_target *target = &r->target;
    ki_object *kept = NULL;
    int code = ki__reflector_project(r, object, &kept, error);
    if (code < 0) {
        return code; /* and comes again, as the object can be projected */
    }
    object = kept != NULL ? kept : object;
    if (target->transform == NULL) {
        code = pass(r, type, object, error);
        (void)ki_object_unref(kept);
        return code;
    }
    ki_object *made = NULL;
    code = ki__transform(target->transform, target->user, object, &made, error);
    if (code >= 0 || type == KI_WATCH_EVENT_DELETED) { /* a deletion must not be lost */
        code =
            ki__reflector_is_stopping(r) ? 0 : pass(r, type, made != NULL ? made : object, error);
    }
    (void)ki_object_unref(made);
    (void)ki_object_unref(kept);
    return code;
}

/* An event that the target rejected is delivered again later, if that can help; otherwise it is
 * reported. Whether the watch continues. */
static bool continues_after(ki_reflector *r, int code, const char *key, ki_error *error)
{
    if (code >= 0) {
        return true;
    }
    if (error->code == 0) {
        (void)ki__error_code(error, code);
    }
    if (ki_error_is_retriable(code) || code == KI_ERR_OVER_LIMIT) {
        if (!ki__reflector_is_stopping(r)) {
            ki__reflector_fail(r, code == KI_ERR_OVER_LIMIT ? KI__THEN_LIST : way_back(r), error,
                               NULL);
        }
        return false;
    }
    ki__reflector_count(r, &r->shared.health.target_errors);
    ki__engine_report(r->engine, "reflector", r->options.name, ki_str_from(key), error);
    return true;
}

static void on_bookmark(ki_reflector *r, const ki_object *object)
{
    const char *version = ki_object_resource_version(object);
    int order;
    ki__reflector_note(r, &r->shared.times.bookmark, &r->shared.health.bookmarks);
    if (version[0] == '\0' || ki__reflector_is_stopping(r)) {
        return;
    }
    if (ki_resource_version_compare(ki_str_from(version), ki_str_from(r->version), &order) == 0 &&
        order < 0) {
        ki__reflector_count(r, &r->shared.health.anomalies);
        return;
    }
    ki_error error = KI_ERROR_INIT;
    int code = 0;
    if (r->target.bookmark != NULL) {
        code = r->target.bookmark(version, r->target.user, &error);
    }
    if (continues_after(r, code, "", &error)) {
        advance(r, KI_WATCH_EVENT_BOOKMARK, version, KI__ORIGIN_LIST);
    }
}

static void watch_event(ki_reflector *r, ki_watch_event_type type, const ki_object *object)
{
    if (type == KI_WATCH_EVENT_BOOKMARK) {
        on_bookmark(r, object);
        return;
    }
    ki__reflector_note(r, &r->shared.times.event, &r->shared.health.events);
    if (ki__reflector_is_stopping(r)) {
        return; /* stopped by the log callback */
    }
    if (!ki__reflector_is_usable(r, type, object)) {
        bool lost = type == KI_WATCH_EVENT_DELETED && ki_object_key(object)[0] == '\0';
        if (lost && !ki__reflector_is_stopping(r)) {
            ki__reflector_back_off(r, KI__THEN_LIST,
                                   NULL); /* a relist resolves a possible deletion */
        }
        return;
    }
    age is = age_of(r, type, object);
    if (is == OLD) {
        refuse_old(r, object);
        return;
    }
    ki_error error;
    ki__error_init(&error);
    bool due = is == NEW && ki__reflector_selects(r, object);
    int code = due ? deliver(r, type, object, &error) : 0;
    if (continues_after(r, code, ki_object_key(object), &error)) {
        advance(r, type, ki_object_resource_version(object), KI__ORIGIN_EVENT);
        (void)ki_object_unref(r->last_object);
        r->last_object = ki_object_ref(object);
        r->last_type = type;
    }
}

/* An undecodable event. Deletions, or possible ones, must not be lost. */
static void watch_skipped(ki_reflector *r, ki_watch_event_type type, const char *key,
                          const char *version)
{
    ki_error error = KI_ERROR_INIT;
    int code = 0;
    bool may_be_deletion = type == KI_WATCH_EVENT_DELETED || (size_t)type >= KI_WATCH_EVENT_MAX;
    ki__reflector_note(r, &r->shared.times.event, &r->shared.health.events);
    if (ki__reflector_is_stopping(r)) {
        return;
    }
    if (type == KI_WATCH_EVENT_DELETED && key[0] != '\0' && r->target.remove_key != NULL) {
        code = r->target.remove_key(key, r->target.user, &error);
    } else if (may_be_deletion) {
        ki__reflector_back_off(r, KI__THEN_LIST, NULL);
        return;
    }
    int order;
    bool older =
        ki_resource_version_compare(ki_str_from(version), ki_str_from(r->version), &order) == 0 &&
        order < 0;
    bool fits =
        strnlen(version, KI__VERSION_MAX + 1) <= KI__VERSION_MAX; /* no object has a longer one */
    if (continues_after(r, code, key, &error) && !older && fits) {
        advance(r, type, version, KI__ORIGIN_EVENT);
    }
}

/* ---- callbacks of the source, for streams and watches ---- */

static void on_error_event(ki_reflector *r, const ki_error *error, const ki_object *status)
{
    ki_error unknown;
    ki__error_init(&unknown);
    if (error == NULL) {
        (void)ki__error_set(&unknown, KI_ERR_STATUS, "watch: ERROR event without a reason");
        error = &unknown;
    }
    if (r->state == KI_REFLECTOR_STREAMING) {
        ki__reflector_stream_ended(r, error, status);
    } else {
        ki__reflector_watch_ended(r, error, status, true);
    }
}

/* From the first byte on, a stream has a shorter time limit for progress. */
static void note_accepted(ki_reflector *r)
{
    if (r->attempt == KI__ATTEMPT_SENT) {
        ki__reflector_set_attempt(r, KI__ATTEMPT_ACCEPTED);
        ki__mutex_lock(&r->shared.lock);
        r->shared.health.accepted = true;
        ki__mutex_unlock(&r->shared.lock);
        ki__reflector_watch_over(r);
        if (r->state == KI_REFLECTOR_WATCHING) {
            ki__reflector_await_proof(r);
        }
    }
}

static void on_event(ki_watch_event_type type, const ki_object *object, const ki_error *error,
                     void *user)
{
    ki_reflector *r = user;
    if (ki__reflector_is_stopping(r)) {
        return;
    }
    note_accepted(r);
    if (type == KI_WATCH_EVENT_ERROR) {
        on_error_event(r, error, object);
    } else if (object != NULL) {
        r->events++;
        if (KI__PROBE_IS_TRACED(event_decoded)) {
            KI__PROBE(event_decoded, r->options.name, (int)type, ki_object_key(object));
        }
        if (type != KI_WATCH_EVENT_BOOKMARK) {
            ki__reflector_note_object(r, object);
        }
        if (r->state == KI_REFLECTOR_STREAMING) {
            ki__reflector_stream_event(r, type, object);
        } else {
            watch_event(r, type, object);
        }
    }
    ki__reflector_check(r);
}

static void on_skipped(ki_watch_event_type type, const char *key, const char *resource_version,
                       const ki_error *error, void *user)
{
    ki_reflector *r = user;
    if (ki__reflector_is_stopping(r)) {
        return;
    }
    note_accepted(r);
    if (error->code == -ENOMEM) {
        on_error_event(r, error, NULL); /* not its own fault: retried */
        ki__reflector_check(r);
        return;
    }
    r->events++;
    ki__reflector_skipped(r, key, error);
    if (ki__reflector_is_stopping(r)) {
        return;
    }
    if (r->state == KI_REFLECTOR_STREAMING) {
        ki__reflector_stream_skipped(r, type, key);
    } else {
        watch_skipped(r, type, key, resource_version);
    }
    ki__reflector_check(r);
}

static void on_alive(size_t bytes, void *user)
{
    ki_reflector *r = user;
    r->alive = ki__engine_now(r->engine);
    ki__reflector_note_bytes(r, bytes);
    note_accepted(r);
}

static void on_retry(const ki_error *error, const ki_object *status, uint64_t delay_ms, void *user)
{
    ki_reflector *r = user;
    if (!ki__reflector_is_stopping(r)) {
        ki__reflector_report(r, ki__reflector_operation(r), error, status, ki__ms_to_ns(delay_ms));
    }
}

static void on_end(const ki_list_meta *meta, const ki_error *error, const ki_object *status,
                   void *user)
{
    (void)meta;
    ki_reflector *r = user;
    r->call = NULL;
    ki__timer_cancel(&r->watchdog);
    if (ki__reflector_is_stopping(r)) {
        return;
    }
    if (r->state == KI_REFLECTOR_STREAMING) {
        ki__reflector_stream_ended(r, error, status);
    } else {
        ki__reflector_watch_ended(r, error, status, false);
    }
    ki__reflector_check(r);
}

/* ---- the start ---- */

int ki__reflector_open_watch(ki_reflector *r, ki_list_options *options, ki_error *error)
{
    const ki_source_sink sink = {
        .size = sizeof(sink),
        .on_event = on_event,
        .on_skipped = on_skipped,
        .on_alive = on_alive,
        .on_retry = on_retry,
        .on_end = on_end,
        .user = r,
    };
    uint64_t shortest = r->times.min_watch_timeout_ns / KI__SECOND_NS;
    uint64_t seconds = shortest + ki__engine_random(r->engine, shortest);
    r->limit = seconds * KI__SECOND_NS + LIMIT_SLACK_NS;
    options->label_selector = r->selection->labels;
    options->field_selector = r->selection->fields;
    options->shard_selector = r->selection->shard_text;
    options->timeout_ms = ki__seconds_to_ms(seconds);
    options->allow_bookmarks = true;
    options->projection = ki__reflector_requested(r);
    int code = r->source.watch(options, &sink, r->source.user, &r->call, error);
    if (code < 0) {
        r->call = NULL;
        r->began = ki__engine_now(r->engine);
        r->events = 0;
        if (error->code == 0) {
            (void)ki__error_code(error, code);
        }
    }
    return code;
}

void ki__reflector_watch_begin(ki_reflector *r)
{
    ki_list_options options = {.size = sizeof(options), .resource_version = r->version};
    ki_error error = KI_ERROR_INIT;
    if (!has_version(r)) {
        r->origin = KI__ORIGIN_UNORDERED;
    }
    ki__mutex_lock(&r->shared.lock);
    r->shared.health.watches++;
    r->shared.health.reconnects += r->watches != KI__WATCHES_NONE;
    ki__mutex_unlock(&r->shared.lock);
    if (r->watches == KI__WATCHES_NONE) {
        r->watches = KI__WATCHES_LIVED;
    }
    if (ki__reflector_open_watch(r, &options, &error) < 0) {
        ki__reflector_watch_ended(r, &error, NULL, false);
    } else {
        ki__reflector_begin_call(r, r->limit);
    }
}

void ki__reflector_follow_watch(ki_reflector *r)
{
    uint64_t limit = r->limit;
    r->deadline = limit < UINT64_MAX - r->began ? r->began + limit : UINT64_MAX;
    r->alive = ki__engine_now(r->engine);
    r->watches = KI__WATCHES_LIVED;
    ki__reflector_await_proof(r);
}
