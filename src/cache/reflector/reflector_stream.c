/* SPDX-License-Identifier: Apache-2.0 */
/* A streaming list: all objects as the first events of a watch. They have no order, so nothing is
 * used until the bookmark that ends them: it has the version of the whole list, and the watch
 * continues after it.
 *
 * client-go waits for that bookmark as long as the server keeps the watch open. Here a server that
 * never sends it is detected, by a timeout or because the stream ended twice without it, and the
 * reflector falls back to a paginated list. */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "cache/reflector/reflector.h"

#define END_ANNOTATION "k8s.io/initial-events-end"

void ki__reflector_stream_begin(ki_reflector *r)
{
    const char *version = r->list_version == KI__LIST_VERSION_LATEST ? "" : r->version;
    memcpy(r->requested, version, strlen(version) + 1);
    ki_list_options options = {
        .size = sizeof(options),
        .resource_version = r->requested,
        .resource_version_match = "NotOlderThan",
        .send_initial_events = true,
    };
    if (r->streaming == KI__STREAMING_OFF) { /* the pause has expired */
        r->streaming = KI__STREAMING_ON;
    }
    ki__reflector_count(r, &r->shared.health.streams);
    ki_error error = KI_ERROR_INIT;
    if (ki__reflector_open_watch(r, &options, &error) < 0) {
        ki__reflector_stream_ended(r, &error, NULL);
    } else {
        ki__reflector_begin_call(r, r->times.initial_max_ns);
    }
}

/* ---- events ---- */

static bool ends_initial_events(const ki_object *bookmark)
{
    ki_value value = ki_object_annotation(bookmark, END_ANNOTATION);
    return ki_value_equals_text(&value, "true");
}

static void complete(ki_reflector *r, const ki_object *bookmark)
{
    ki_error error;
    ki__error_init(&error);
    int code = ki__reflector_complete(r, ki_object_resource_version(bookmark), &error);
    if (ki__reflector_is_stopping(r)) {
        return;
    }
    if (code < 0) {
        ki__reflector_fail(r, KI__THEN_LIST, &error, NULL);
        return;
    }
    ki__reflector_set_state(r, KI_REFLECTOR_WATCHING); /* on the same call */
    ki__reflector_follow_watch(r);
}

/* Only events that may be initial ones count as progress. */
static void note_progress(ki_reflector *r, ki_watch_event_type type)
{
    if (type == KI_WATCH_EVENT_ADDED) {
        r->progress = ki__engine_now(r->engine);
    }
    r->alive = r->progress; /* bytes since then belong to this event */
}

void ki__reflector_stream_event(ki_reflector *r, ki_watch_event_type type, const ki_object *object)
{
    note_progress(r, type);
    if (type == KI_WATCH_EVENT_BOOKMARK) {
        if (ends_initial_events(object)) {
            complete(r, object);
        }
        return;
    }
    bool nameless = ki_object_key(object)[0] == '\0';
    if (!ki__reflector_is_usable(r, type, object)) {
        if (type == KI_WATCH_EVENT_DELETED && nameless && !ki__reflector_is_stopping(r)) {
            ki__reflector_back_off(r, KI__THEN_LIST, NULL);
        }
        return;
    }
    if (!ki__reflector_selects(r, object)) {
        return;
    }
    ki_error error;
    ki__error_init(&error);
    int code;
    if (type == KI_WATCH_EVENT_DELETED) {
        code = ki__collect_remove(&r->found, ki_object_key(object));
        code = code < 0 ? ki__error_code(&error, code) : 0;
    } else {
        code = ki__reflector_collect(
            r, object, type == KI_WATCH_EVENT_ADDED ? ki__collect_add : ki__collect_put, &error);
    }
    if (code < 0 && !ki__reflector_is_stopping(r)) {
        ki__reflector_stream_ended(r, &error, NULL);
    }
}

/* A possible deletion of an unknown object: any of the objects so far may be gone, and only another
 * list can resolve that. */
void ki__reflector_stream_skipped(ki_reflector *r, ki_watch_event_type type, const char *key)
{
    note_progress(r, KI_WATCH_EVENT_ADDED);
    int code = 0;
    if ((type == KI_WATCH_EVENT_DELETED && key[0] == '\0') || (size_t)type >= KI_WATCH_EVENT_MAX) {
        ki__reflector_back_off(r, KI__THEN_LIST, NULL);
        return;
    }
    if (type == KI_WATCH_EVENT_DELETED) {
        code = ki__collect_remove(&r->found, key);
    } else {
        code = ki__collect_add_unread(&r->found, key);
    }
    if (code < 0) {
        ki_error error;
        ki__error_init(&error);
        (void)ki__error_code(&error, code);
        ki__reflector_stream_ended(r, &error, NULL);
    }
}

/* ---- the end ---- */

void ki__reflector_trust_streaming(ki_reflector *r)
{
    if (r->streaming == KI__STREAMING_CUT) {
        r->streaming = KI__STREAMING_ON;
    }
}

static void note_fallback(ki_reflector *r, const ki_error *error)
{
    ki__reflector_log_routine(r, "falling back from streaming list to list", error);
    ki__reflector_count(r, &r->shared.health.fallbacks);
}

/* The server rejects streaming, which is not a failure: a list follows immediately, and if that
 * fails too, its error is reported. */
static void fall_back(ki_reflector *r, const ki_error *error)
{
    note_fallback(r, error);
    r->streaming = KI__STREAMING_ON;
    ki__reflector_go(r, KI_REFLECTOR_LISTING);
}

/* Streams never complete here: a failed attempt, followed by a list. */
static void give_up_streaming(ki_reflector *r, const ki_error *error)
{
    uint64_t now = ki__engine_now(r->engine);
    uint64_t pause = r->times.no_streaming_ns;
    r->streaming = KI__STREAMING_OFF;
    r->no_streaming_until = pause < UINT64_MAX - now ? now + pause : UINT64_MAX;
    note_fallback(r, error);
    ki__reflector_fail_at_once(r, KI_REFLECTOR_LISTING, error);
}

void ki__reflector_stream_idle(ki_reflector *r, const char *why)
{
    ki_error error;
    ki__error_init(&error);
    (void)ki__error_set(&error, KI_ERR_UNSUPPORTED, "%s", why);
    give_up_streaming(r, &error);
}

/* The stream ended too early. The first time it is retried: immediately if the server had accepted
 * it, otherwise after a backoff, since the server may be unreachable. */
static void cut_short(ki_reflector *r, const ki_error *error)
{
    if (r->streaming == KI__STREAMING_CUT) {
        give_up_streaming(r, error);
        return;
    }
    r->streaming = KI__STREAMING_CUT;
    if (r->attempt == KI__ATTEMPT_ACCEPTED) {
        ki__reflector_fail_at_once(r, KI_REFLECTOR_STREAMING, error);
    } else {
        ki__reflector_fail(r, KI__THEN_LIST, error, NULL);
    }
}

/* It was truncated, or ended normally, before the bookmark; `error` may be NULL. */
static void closed(ki_reflector *r, const ki_error *error)
{
    ki_error ended;
    ki__error_init(&ended);
    uint64_t lived = ki__engine_now(r->engine) - r->began;
    if (r->events != 0 || lived >= KI__WATCH_SHORT_NS) {
        if (error == NULL) {
            (void)ki__error_set(&ended, KI_ERR_TRUNCATED,
                                "streaming list ended before the initial events were complete");
        }
        cut_short(r, error != NULL ? error : &ended);
    } else if (error != NULL) {
        ki__reflector_fail(r, KI__THEN_LIST, error, NULL);
    } else {
        (void)ki__error_set(&ended, KI_ERR_UNSUPPORTED,
                            "streaming list ended immediately without events");
        fall_back(r, &ended);
    }
}

void ki__reflector_stream_ended(ki_reflector *r, const ki_error *error, const ki_object *status)
{
    if (error == NULL) {
        closed(r, NULL);
        return;
    }
    if (ki__reflector_reencode(r, error)) {
        return;
    }
    switch (ki__reflector_classify(error, status)) {
    case KI__TROUBLE_NETWORK:
        closed(r, error);
        break;
    case KI__TROUBLE_BUSY:
    case KI__TROUBLE_REFUSED:
    case KI__TROUBLE_MEMORY:
    case KI__TROUBLE_FINAL:
        ki__reflector_fail(r, KI__THEN_LIST, error, status);
        break;
    case KI__TROUBLE_EXPIRED:
    case KI__TROUBLE_TOO_LARGE:
        if (r->list_version == KI__LIST_VERSION_LATEST) {
            /* The latest was requested. A server whose watch cache lags, or is not ready, may still
             * list; if not, its response has the reason. */
            fall_back(r, error);
        } else {
            r->list_version = KI__LIST_VERSION_LATEST;
            ki__reflector_log_routine(r, "resource version not available; listing the latest",
                                      error);
            ki__reflector_go(r, KI_REFLECTOR_STREAMING);
        }
        break;
    case KI__TROUBLE_INTERNAL:
    case KI__TROUBLE_OTHER:
        fall_back(r, error);
        break;
    }
}
