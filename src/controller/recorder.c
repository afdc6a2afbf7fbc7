/* SPDX-License-Identifier: Apache-2.0 */
/* The event recorder: creation, references, and the queue that any thread adds to. What happens to
 * queued events is in recorder_send.c. */
#include "controller/recorder.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "base/process.h"
#include "base/time_units.h"

enum { QUEUED_DEFAULT = 1000, FLUSH_DEFAULT_MS = 5000 };

/* ---- creation ---- */

static int check_options(const ki_recorder_options *o, ki_error *error)
{
    if (o->controller == NULL || o->controller[0] == '\0') {
        return ki__error_set(error, -EINVAL, "controller: must be set");
    }
    if (strlen(o->controller) > KI__EVENT_TEXT_MAX || strlen(o->instance) > KI__EVENT_TEXT_MAX) {
        return ki__error_set(error, KI_ERR_LIMIT, "controller, instance: longer than %d bytes",
                             KI__EVENT_TEXT_MAX);
    }
    return 0;
}

static void run_task(ki__task *task)
{
    ki_recorder *recorder = KI__CONTAINER_OF(task, ki_recorder, task);
    ki__recorder_run(recorder);
    ki__recorder_release(recorder); /* of the post */
}

static int init_parts(ki_recorder *recorder, ki_engine *engine)
{
    int r = ki__mutex_init(&recorder->lock);
    if (r < 0) {
        return r;
    }
    r = ki__timer_init(&recorder->retry, engine, ki__recorder_on_retry);
    r = r < 0 ? r : ki__timer_init(&recorder->deadline, engine, ki__recorder_on_deadline);
    if (r < 0) {
        ki__timer_done(&recorder->retry);
        ki__mutex_done(&recorder->lock);
    }
    return r;
}

int ki__recorder_new(ki_engine *engine, const ki_recorder_options *options,
                     const ki__event_api *api, ki_recorder **ret_recorder, ki_error *error)
{
    int r = check_options(options, error);
    if (r < 0) {
        return r;
    }
    const ki_alloc *alloc = ki__engine_alloc(engine);
    size_t controller = strlen(options->controller) + 1;
    size_t instance = strlen(options->instance) + 1;
    ki_recorder *recorder = ki__alloc_zero(alloc, sizeof(*recorder) + controller + instance);
    if (recorder == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    r = init_parts(recorder, engine);
    if (r < 0) {
        ki__free(alloc, recorder);
        return ki__error_code(error, r);
    }
    ki__refs_init(&recorder->users);
    ki__refs_init(&recorder->parts);
    ki__recorder_hold(recorder); /* until it has ended */
    recorder->process = ki__process();
    recorder->engine = ki_engine_ref(engine);
    recorder->alloc = alloc;
    recorder->api = *api;
    recorder->max_queued = options->max_queued != 0 ? options->max_queued : QUEUED_DEFAULT;
    recorder->flush_ns =
        ki__ms_to_ns(options->flush_ms != 0 ? options->flush_ms : FLUSH_DEFAULT_MS);
    recorder->controller = memcpy(recorder + 1, options->controller, controller);
    recorder->instance = memcpy(recorder->controller + controller, options->instance, instance);
    recorder->stats.size = sizeof(recorder->stats);
    ki__list_init(&recorder->queue);
    ki__task_init(&recorder->task, run_task);
    ki__correlator_init(&recorder->correlator, alloc, ki__engine_hash_key(engine),
                        ki__engine_hash_key(engine), KI__CORRELATOR_ENTRIES);
    (void)ki__members_join(ki__engine_members(engine), &recorder->member, KI__MEMBER_RECORDER,
                           NULL);
    *ret_recorder = recorder;
    return 0;
}

/* ---- references ---- */

void ki__recorder_hold(ki_recorder *recorder)
{
    ki__refs_take(&recorder->parts);
}

void ki__recorder_release(ki_recorder *recorder)
{
    if (!ki__refs_drop(&recorder->parts) || ki__is_inherited(recorder->process)) {
        return;
    }
    ki__members_leave(&recorder->member);
    const ki__event_api api = recorder->api;
    ki_engine *engine = recorder->engine;
    ki__correlator_done(&recorder->correlator);
    ki__timer_done(&recorder->deadline);
    ki__timer_done(&recorder->retry);
    ki__mutex_done(&recorder->lock);
    ki__free(recorder->alloc, recorder);
    if (api.destroy != NULL) {
        api.destroy(api.user);
    }
    (void)ki_engine_unref(engine);
}

ki_recorder *ki_recorder_ref(ki_recorder *recorder)
{
    if (recorder != NULL) {
        ki__refs_take(&recorder->users);
    }
    return recorder;
}

ki_recorder *ki_recorder_unref(ki_recorder *recorder)
{
    if (recorder != NULL && ki__refs_drop(&recorder->users)) {
        ki_recorder_stop(recorder);
        ki__recorder_release(recorder);
    }
    return NULL;
}

/* Requires the lock. */
static void post_locked(ki_recorder *recorder)
{
    if (!atomic_load(&recorder->ended) && ki__engine_post(recorder->engine, &recorder->task)) {
        ki__recorder_hold(recorder);
    }
}

void ki_recorder_stop(ki_recorder *recorder)
{
    if (recorder == NULL || ki__is_inherited(recorder->process)) {
        return;
    }
    ki__mutex_lock(&recorder->lock);
    if (!recorder->stopping) {
        recorder->stopping = true;
        post_locked(recorder);
    }
    ki__mutex_unlock(&recorder->lock);
}

/* ---- recording ---- */

void ki__event_free(ki_recorder *recorder, ki__event *event)
{
    ki__free(recorder->alloc, event);
}

void ki__recorder_count(ki_recorder *recorder, uint64_t *counter, uint64_t number)
{
    ki__mutex_lock(&recorder->lock);
    *counter += number;
    ki__mutex_unlock(&recorder->lock);
}

static ki__event_object object_of(const ki_object *object)
{
    if (object == NULL) {
        return (ki__event_object){"", "", "", "", "", ""};
    }
    return (ki__event_object){
        .api_version = ki_object_api_version(object),
        .kind = ki_object_kind(object),
        .name_space = ki_object_namespace(object),
        .name = ki_object_name(object),
        .uid = ki_object_uid(object),
        .resource_version = ki_object_resource_version(object),
    };
}

static size_t size_of(const ki__event_object *o)
{
    return strlen(o->api_version) + strlen(o->kind) + strlen(o->name_space) + strlen(o->name) +
           strlen(o->uid) + strlen(o->resource_version) + 6;
}

/* Copies a string to *place, which it advances; the copy is what `text` is from then on. */
static void keep(char **place, const char **text)
{
    size_t size = strlen(*text) + 1;
    *text = memcpy(*place, *text, size);
    *place += size;
}

/* The identity of an object comes first and in one piece, as the correlator needs it. */
static void keep_object(char **place, ki__event_object *o)
{
    keep(place, &o->api_version);
    keep(place, &o->kind);
    keep(place, &o->name_space);
    keep(place, &o->name);
    keep(place, &o->uid);
    keep(place, &o->resource_version);
}

static int check_event(const ki_event *e)
{
    if (e->reason == NULL || e->reason[0] == '\0' || (unsigned)e->type >= KI_EVENT_TYPE_MAX) {
        return -EINVAL;
    }
    if (strlen(e->reason) > KI__EVENT_TEXT_MAX || strlen(e->action) > KI__EVENT_TEXT_MAX) {
        return KI_ERR_LIMIT;
    }
    return 0;
}

static ki__event *make_event(const ki_recorder *recorder, const ki_event *e)
{
    ki__event made = {.type = e->type,
                      .regarding = object_of(e->regarding),
                      .related = object_of(e->related),
                      .reason = e->reason,
                      .action = e->action,
                      .note = e->note};
    size_t size = size_of(&made.regarding) + size_of(&made.related) + strlen(e->reason) +
                  strlen(e->action) + 2;
    size_t note = strnlen(e->note, KI__EVENT_NOTE_MAX + 4); /* what is sent is shorter */
    ki__event *event = ki__alloc_zero(recorder->alloc, sizeof(*event) + size + note + 1);
    if (event == NULL) {
        return NULL;
    }
    *event = made;
    char *place = event->text;
    keep_object(&place, &event->regarding);
    keep_object(&place, &event->related);
    keep(&place, &event->reason);
    keep(&place, &event->action);
    event->note = memcpy(place, e->note, note); /* the memory is zeroed */
    const ki_clock *clock = ki__engine_clock(recorder->engine);
    event->time_ns = clock->realtime_ns(clock->user);
    return event;
}

static int add(ki_recorder *recorder, ki__event *event)
{
    int r = event == NULL ? -ENOMEM : 0;
    ki__mutex_lock(&recorder->lock);
    if (r == 0 && (recorder->stopping || atomic_load(&recorder->ended))) {
        r = KI_ERR_STOPPED;
    } else if (r == 0 && recorder->stats.queued >= recorder->max_queued) {
        r = KI_ERR_LIMIT;
    }
    if (r == 0) {
        ki__list_push_back(&recorder->queue, &event->link);
        recorder->stats.queued++;
        recorder->stats.recorded++;
        post_locked(recorder);
    } else {
        recorder->stats.dropped++;
    }
    ki__mutex_unlock(&recorder->lock);
    return r;
}

int ki_recorder_record(ki_recorder *recorder, const ki_event *event)
{
    KI__REQUIRE(recorder, NULL);
    KI__REQUIRE(event, NULL);
    KI__REQUIRE_OWN(recorder->process, NULL);
    ki_event e;
    int r = KI__TAKE(ki_event, &e, event, NULL);
    if (r < 0) {
        return r;
    }
    KI__REQUIRE(e.regarding, NULL);
    e.action = e.action != NULL ? e.action : e.reason != NULL ? e.reason : "";
    e.note = e.note != NULL ? e.note : "";
    r = check_event(&e);
    if (r < 0) {
        return r;
    }
    ki__event *made = make_event(recorder, &e);
    r = add(recorder, made);
    if (r < 0) {
        ki__event_free(recorder, made);
    }
    return r;
}

int ki_recorder_event(ki_recorder *recorder, const ki_object *regarding, ki_event_type type,
                      const char *reason, const char *action, const char *note)
{
    KI__REQUIRE(recorder, NULL);
    KI__REQUIRE(regarding, NULL);
    KI__REQUIRE(reason, NULL);
    ki_event event = KI_OPTIONS_INIT(ki_event);
    event.regarding = regarding;
    event.type = type;
    event.reason = reason;
    event.action = action;
    event.note = note;
    return ki_recorder_record(recorder, &event);
}

int ki_recorder_get_stats(ki_recorder *recorder, ki_recorder_stats *ret_stats)
{
    KI__REQUIRE(recorder, NULL);
    KI__REQUIRE_SIZED(ki_recorder_stats, ret_stats, NULL);
    KI__REQUIRE_OWN(recorder->process, NULL);
    ki__mutex_lock(&recorder->lock);
    const ki_recorder_stats stats = recorder->stats;
    ki__mutex_unlock(&recorder->lock);
    return KI__GIVE(ki_recorder_stats, ret_stats, &stats);
}
