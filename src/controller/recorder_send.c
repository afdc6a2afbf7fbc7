/* SPDX-License-Identifier: Apache-2.0 */
/* Sending of events, one after the other, inside the engine. A failed request is repeated as
 * client-go does: up to 12 attempts, 10 s apart, the second after a random part of that. A patch of
 * an event that the server has deleted since becomes a new event. */
#include <errno.h>
#include <string.h>

#include <kinformer/json.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/log.h"
#include "base/time_units.h"
#include "controller/recorder.h"

enum { TRIES_MAX = 12, HTTP_NOT_FOUND = 404, HTTP_CONFLICT = 409, HTTP_TOO_MANY = 429 };
#define RETRY_NS (10 * KI__SECOND_NS)

#define A(name) (1U << KI__RECORDER_##name)
static const unsigned int next_states[] = {
    [KI__RECORDER_IDLE] = A(IDLE) | A(SENDING) | A(WAITING) | A(ENDED),
    [KI__RECORDER_SENDING] = A(IDLE) | A(SENDING) | A(WAITING) | A(ENDED),
    [KI__RECORDER_WAITING] = A(IDLE) | A(SENDING) | A(WAITING) | A(ENDED),
    [KI__RECORDER_ENDED] = 0,
};
_Static_assert(sizeof(next_states) / sizeof(next_states[0]) == KI__RECORDER_STATE_MAX, "each");

static void set_state(ki_recorder *recorder, ki__recorder_state state)
{
    ki_assert((next_states[recorder->state] & (1U << state)) != 0);
    recorder->state = state;
}

/* ---- the end ---- */

static void drop_event(ki_recorder *recorder)
{
    if (recorder->event != NULL) {
        ki__event_free(recorder, recorder->event);
        recorder->event = NULL;
    }
}

static ki__event *take_event(ki_recorder *recorder, bool *ret_stopping)
{
    ki__mutex_lock(&recorder->lock);
    ki__list *link = ki__list_pop_front(&recorder->queue);
    recorder->stats.queued -= link != NULL;
    *ret_stopping = recorder->stopping;
    ki__mutex_unlock(&recorder->lock);
    return link != NULL ? KI__CONTAINER_OF(link, ki__event, link) : NULL;
}

static void end(ki_recorder *recorder)
{
    bool stopping;
    if (recorder->state == KI__RECORDER_ENDED) {
        return;
    }
    uint64_t dropped = recorder->event != NULL;
    if (recorder->state == KI__RECORDER_SENDING) {
        recorder->api.cancel(recorder->api.user);
    }
    set_state(recorder, KI__RECORDER_ENDED);
    ki__timer_cancel(&recorder->retry);
    ki__timer_cancel(&recorder->deadline);
    drop_event(recorder);
    ki__mutex_lock(&recorder->lock);
    recorder->stopping = true; /* from here on, nothing is queued, and the task is not posted */
    atomic_store(&recorder->ended, true);
    ki__mutex_unlock(&recorder->lock);
    if (ki__engine_unpost(recorder->engine, &recorder->task)) {
        ki__recorder_release(recorder); /* of the post */
    }
    ki__event *event;
    while ((event = take_event(recorder, &stopping)) != NULL) {
        ki__event_free(recorder, event);
        dropped++;
    }
    ki__recorder_count(recorder, &recorder->stats.dropped, dropped);
    recorder->api.ended(recorder->api.user);
    ki__recorder_release(recorder); /* of the creation */
}

void ki__recorder_abort(ki_recorder *recorder)
{
    end(recorder);
}

void ki__recorder_on_deadline(ki__timer *timer)
{
    end(KI__CONTAINER_OF(timer, ki_recorder, deadline));
}

/* ---- requests ---- */

static int send_patch(ki_recorder *recorder, ki_error *error)
{
    ki_json_options options = KI_OPTIONS_INIT(ki_json_options);
    ki_json *json = NULL;
    ki_str patch = {0};
    options.alloc = recorder->alloc;
    options.replace_invalid_utf8 = true;
    int r = ki_json_new(&options, &json, error);
    r = r < 0 ? r : ki__event_patch_make(&recorder->message, json, &patch, error);
    r = r < 0 ? r : recorder->api.send(&recorder->message, NULL, patch, recorder->api.user, error);
    (void)ki_json_unref(json);
    return r;
}

static int send_object(ki_recorder *recorder, ki_error *error)
{
    ki_object *object = NULL;
    int r = ki__event_object_make(&recorder->message, recorder->alloc, &object, error);
    r = r < 0 ? r
              : recorder->api.send(&recorder->message, object, ki_str_make("", 0),
                                   recorder->api.user, error);
    (void)ki_object_unref(object);
    return r;
}

static bool is_retriable(const ki_error *error)
{
    if (error->http_code != 0) {
        return error->http_code == HTTP_TOO_MANY || error->http_code >= 500;
    }
    return ki_error_is_retriable(error->code);
}

static void finish(ki_recorder *recorder, uint64_t *counter)
{
    ki__recorder_count(recorder, counter, 1);
    drop_event(recorder);
    set_state(recorder, KI__RECORDER_IDLE);
}

/* The next attempt, or the end of this event. */
static void fail(ki_recorder *recorder, const ki_error *error)
{
    if (is_retriable(error) && ++recorder->tries < TRIES_MAX) {
        uint64_t delay =
            recorder->tries == 1 ? ki__engine_random(recorder->engine, RETRY_NS) : RETRY_NS;
        set_state(recorder, KI__RECORDER_WAITING);
        ki__timer_set_after(&recorder->retry, delay);
        return;
    }
    if (error->code == KI_ERR_STOPPED) { /* the loop has stopped */
        finish(recorder, &recorder->stats.dropped);
        return;
    }
    ki__engine_report(recorder->engine, "recorder", recorder->controller,
                      ki_str_from(recorder->event->regarding.name), error);
    finish(recorder, &recorder->stats.failed);
}

static void send(ki_recorder *recorder)
{
    ki_error error = KI_ERROR_INIT;
    set_state(recorder, KI__RECORDER_SENDING);
    int r = recorder->patching ? send_patch(recorder, &error) : send_object(recorder, &error);
    if (r < 0) {
        if (error.code == 0) {
            (void)ki__error_code(&error, r);
        }
        fail(recorder, &error);
    }
}

void ki__recorder_on_retry(ki__timer *timer)
{
    ki_recorder *recorder = KI__CONTAINER_OF(timer, ki_recorder, retry);
    send(recorder);
    ki__recorder_run(recorder);
}

/* Whether the same event is sent in another way. */
static bool send_otherwise(ki_recorder *recorder, const ki_error *error)
{
    if (error->http_code != HTTP_NOT_FOUND) {
        return false;
    }
    if (recorder->patching) { /* it was deleted: events live for an hour */
        recorder->patching = false;
    } else if (!recorder->message.legacy) { /* or the namespace does not exist */
        recorder->message.legacy = true;
    } else {
        return false;
    }
    send(recorder);
    return true;
}

void ki__recorder_on_answer(ki_recorder *recorder, const ki_error *error)
{
    if (recorder->state != KI__RECORDER_SENDING) {
        return;
    }
    if (error != NULL && !recorder->patching && error->http_code == HTTP_CONFLICT) {
        error = NULL; /* an earlier attempt has created it */
    }
    if (error == NULL) {
        recorder->legacy = recorder->message.legacy;
        finish(recorder, recorder->patching ? &recorder->stats.patched : &recorder->stats.created);
    } else if (!send_otherwise(recorder, error)) {
        fail(recorder, error);
    }
    ki__recorder_run(recorder);
}

/* ---- events ---- */

/* "object.18b2c4f6a1e3d507": the time makes it unique. */
static void make_name(ki_recorder *recorder, const char *object, char name[])
{
    static const char hex[] = "0123456789abcdef";
    enum { DIGITS = 16 };
    size_t len = strnlen(object, KI__EVENT_NAME_MAX - DIGITS - 1);
    uint64_t now = (uint64_t)recorder->event->time_ns;
    if (now <= recorder->last_name) {
        now = recorder->last_name + 1;
    }
    recorder->last_name = now;
    memcpy(name, object, len);
    name[len++] = '.';
    for (int shift = 64 - 4; shift >= 0; shift -= 4) {
        name[len++] = hex[now >> shift & 15];
    }
    name[len] = '\0';
}

static ki_str span(const char *first, const char *last)
{
    return ki_str_make(first, (size_t)(last - first) + strlen(last));
}

/* Whether it is to be sent. */
static bool correlate(ki_recorder *recorder)
{
    const ki__event *event = recorder->event;
    char name[KI__EVENT_NAME_MAX + 1];
    make_name(recorder, event->regarding.name, name);
    const ki__correlated correlated = {
        .type = (uint64_t)event->type,
        .object = span(event->regarding.api_version, event->regarding.uid),
        .reason = span(event->reason, event->action),
        .note = ki_str_from(event->note),
        .now_ns = ki__engine_now(recorder->engine),
        .realtime_ns = event->time_ns,
        .name = name,
    };
    ki__correlation result;
    ki__correlate(&recorder->correlator, &correlated, &result);
    recorder->message = (ki__event_message){
        .event = event,
        .controller = recorder->controller,
        .instance = recorder->instance,
        .combined = result.combined,
        .legacy = recorder->legacy,
        .count = result.count,
        .first_ns = result.first_ns,
        .name_space =
            event->regarding.name_space[0] != '\0' ? event->regarding.name_space : "default",
    };
    memcpy(recorder->message.name, result.name, strlen(result.name) + 1);
    recorder->patching = result.count > 1;
    recorder->tries = 0;
    return !result.skip;
}

static void begin_flush(ki_recorder *recorder)
{
    if (!recorder->flushing) {
        recorder->flushing = true;
        ki__timer_set_after(&recorder->deadline, recorder->flush_ns);
    }
}

void ki__recorder_run(ki_recorder *recorder)
{
    bool stopping = false;
    ki__mutex_lock(&recorder->lock);
    stopping = recorder->stopping;
    ki__mutex_unlock(&recorder->lock);
    if (stopping && recorder->state != KI__RECORDER_ENDED) {
        begin_flush(recorder);
    }
    while (recorder->state == KI__RECORDER_IDLE) {
        recorder->event = take_event(recorder, &stopping);
        if (recorder->event == NULL) {
            break;
        }
        if (correlate(recorder)) {
            send(recorder);
        } else {
            finish(recorder, &recorder->stats.filtered);
        }
    }
    if (recorder->state == KI__RECORDER_IDLE && stopping) {
        end(recorder);
    }
}
