/* SPDX-License-Identifier: Apache-2.0 */
/* Creating, starting, stopping and querying a reflector; the counterpart of client-go's
 * tools/cache/reflector.go. Other threads set a flag and post the task, which does all the work. */
#include "cache/reflector/reflector.h"

#include <errno.h>
#include <string.h>

#include <kinformer/encoding.h>
#include <kinformer/projection.h>
#include <kinformer/selection.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"
#include "base/log.h"
#include "base/options.h"
#include "base/probe.h"
#include "wire/source_options.h"

#define MINUTE_NS (60 * KI__SECOND_NS)
#define WATCH_TIMEOUT_NS (5 * MINUTE_NS)
#define WATCH_TIMEOUT_MAX_NS (24 * 60 * MINUTE_NS)

/* ---- the task ---- */

/* A posted task holds a reference. */
void ki__reflector_post(ki_reflector *r)
{
    (void)ki_reflector_ref(r);
    if (!ki__engine_post(r->engine, &r->task)) {
        (void)ki_reflector_unref(r);
    }
}

/* Withdraws a task posted during or after the stop: it must not hold the reflector, as the engine
 * may not be run any more. The caller has a reference. */
static void take_back(ki_reflector *r)
{
    if (ki__engine_unpost(r->engine, &r->task)) {
        (void)ki_reflector_unref(r);
    }
}

/* The source has no calls and gets no further ones. Released early, since it may hold more: a
 * client waits for its release. */
static void release_source(ki_reflector *r)
{
    ki_source source = r->source;
    r->source = (ki_source){0};
    if (source.destroy != NULL) {
        source.destroy(source.user);
    }
}

static void finish(ki_reflector *r)
{
    ki__reflector_drop_call(r);
    ki__timer_cancel(&r->reminder);
    ki__timer_cancel(&r->trim);
    r->last_object = ki_object_unref(r->last_object);
    ki__reflector_set_state(r, KI_REFLECTOR_STOPPED);
    ki__reflector_check(r);
    take_back(r); /* a later one sees the state: see ki_reflector_stop() */
    release_source(r);
    if (r->options.on_stopped != NULL) {
        r->options.on_stopped(r, r->options.user);
    }
    ki__mutex_lock(&r->shared.lock);
    bool started = r->shared.started;
    ki__mutex_unlock(&r->shared.lock);
    if (started) {
        (void)ki_reflector_unref(r); /* its own; the task has another */
    }
}

static void begin_phase(ki_reflector *r)
{
    ki__reflector_set_attempt(r, KI__ATTEMPT_SENT);
    switch (r->state) {
    case KI_REFLECTOR_STREAMING:
        ki__reflector_stream_begin(r);
        break;
    case KI_REFLECTOR_LISTING:
        ki__reflector_list_begin(r);
        break;
    case KI_REFLECTOR_WATCHING:
        ki__reflector_watch_begin(r);
        break;
    case KI_REFLECTOR_NEW:
    case KI_REFLECTOR_BACKOFF:
    case KI_REFLECTOR_STOPPED:
    case KI_REFLECTOR_STATE_MAX:
        ki_assert(false);
    }
}

/* The list with the new selection replaces the objects of the old one. */
static void change_selection(ki_reflector *r, ki__selection *selection)
{
    ki__free(r->alloc, r->selection);
    r->selection = selection;
    if (r->state != KI_REFLECTOR_NEW) {
        r->relist_reason = KI_FAILURE_NONE;
        ki__reflector_go_sync(r);
    }
}

static void step(ki_reflector *r)
{
    ki__mutex_lock(&r->shared.lock);
    bool started = r->shared.started;
    bool paused = r->shared.paused;
    ki__selection *selection = r->shared.selection;
    r->shared.selection = NULL;
    ki__mutex_unlock(&r->shared.lock);
    if (selection != NULL) {
        change_selection(r, selection);
    }
    if (r->state == KI_REFLECTOR_NEW && started) {
        ki__reflector_go_sync(r);
    }
    if (r->paused != paused) {
        r->paused = paused;
        ki__reflector_apply_pause(r);
    }
    if (r->attempt == KI__ATTEMPT_DUE) {
        begin_phase(r);
    }
    ki__reflector_check(r);
}

static void work(ki__task *task)
{
    ki_reflector *r = KI__CONTAINER_OF(task, ki_reflector, task);
    if (r->state == KI_REFLECTOR_STOPPED) {
        /* A late call. */
    } else if (ki__reflector_is_stopping(r)) {
        finish(r);
    } else {
        step(r);
    }
    (void)ki_reflector_unref(r); /* of the posted task */
}

/* ---- from any thread ---- */

int ki_reflector_start(ki_reflector *reflector)
{
    KI__REQUIRE(reflector, NULL);
    KI__REQUIRE_OWN_ENGINE(reflector->engine, NULL);
    ki__mutex_lock(&reflector->shared.lock);
    int r = 0;
    if (ki__reflector_is_stopping(reflector)) {
        r = KI_ERR_STOPPED;
    } else if (reflector->shared.started) {
        r = KI_ERR_EXISTS;
    } else {
        reflector->shared.started = true;
        (void)ki_reflector_ref(reflector); /* its own, until it has stopped */
    }
    ki__mutex_unlock(&reflector->shared.lock);
    if (r == 0) {
        ki__reflector_post(reflector);
    }
    return r;
}

void ki_reflector_stop(ki_reflector *reflector)
{
    if (reflector == NULL || ki__engine_is_inherited(reflector->engine)) {
        return;
    }
    ki__mutex_lock(
        &reflector->shared.lock); /* so that it is started either before the stop or never */
    atomic_store(&reflector->stopping, true);
    ki__mutex_unlock(&reflector->shared.lock);
    ki__reflector_post(reflector);
    ki__mutex_lock(&reflector->shared.lock);
    bool stopped = reflector->shared.health.state == KI_REFLECTOR_STOPPED;
    ki__mutex_unlock(&reflector->shared.lock);
    if (stopped) { /* by an earlier task that saw the stop flag */
        take_back(reflector);
    }
}

void ki_reflector_pause(ki_reflector *reflector, bool paused)
{
    if (reflector == NULL || ki__engine_is_inherited(reflector->engine)) {
        return;
    }
    ki__mutex_lock(&reflector->shared.lock);
    bool changed = reflector->shared.paused != paused;
    reflector->shared.paused = paused;
    reflector->shared.health.paused = paused;
    ki__mutex_unlock(&reflector->shared.lock);
    if (changed) {
        ki__reflector_post(reflector);
    }
}

int ki_reflector_select(ki_reflector *reflector, const ki_selection *selection, ki_error *error)
{
    KI__REQUIRE(reflector, error);
    KI__REQUIRE(selection, error);
    KI__REQUIRE_OWN_ENGINE(reflector->engine, error);
    ki__selection *next = NULL;
    int r = ki__selection_new(reflector->alloc, selection, &next, error);
    if (r < 0) {
        return r;
    }
    ki__mutex_lock(&reflector->shared.lock);
    bool stopping = ki__reflector_is_stopping(reflector);
    ki__selection *unused = stopping ? next : reflector->shared.selection;
    if (!stopping) {
        reflector->shared.selection = next;
    }
    ki__mutex_unlock(&reflector->shared.lock);
    ki__free(reflector->alloc, unused);
    if (stopping) {
        return ki__error_code(error, KI_ERR_STOPPED);
    }
    ki__reflector_post(reflector);
    return 0;
}

const char *ki_reflector_name(const ki_reflector *reflector)
{
    return reflector->options.name;
}

const char *ki_reflector_description(const ki_reflector *reflector)
{
    return reflector->options.description;
}

int ki_reflector_last_sync_resource_version(ki_reflector *reflector, char *text, size_t size)
{
    KI__REQUIRE(reflector, NULL);
    KI__REQUIRE(text, NULL);
    ki__mutex_lock(&reflector->shared.lock);
    size_t len = strlen(reflector->shared.version);
    bool fits = len < size;
    if (fits) {
        memcpy(text, reflector->shared.version, len + 1);
    }
    ki__mutex_unlock(&reflector->shared.lock);
    return fits ? (int)len : KI_ERR_LIMIT;
}

static uint64_t ms_since(uint64_t then, uint64_t now)
{
    return then == 0 ? UINT64_MAX : now > then ? (now - then) / KI__MS_NS : 0;
}

/* Requires the lock. */
static ki_health health_at(const ki_reflector *r, uint64_t now)
{
    ki_health health = r->shared.health;
    uint64_t until = r->shared.times.backoff_until;
    uint64_t failing = r->shared.times.failing;
    health.failing_ms = failing != 0 ? ms_since(failing, now) : 0;
    health.state_ms = ms_since(r->shared.times.state, now);
    health.retry_delay_ms = until > now ? ki__ns_to_ms(until - now) : 0;
    health.since_sync_ms = ms_since(r->shared.times.sync, now);
    health.since_event_ms = ms_since(r->shared.times.event, now);
    health.since_bookmark_ms = ms_since(r->shared.times.bookmark, now);
    health.since_byte_ms = ms_since(r->shared.times.byte, now);
    return health;
}

void ki__reflector_get_relists(ki_reflector *r, uint64_t relists[static KI_FAILURE_CLASS_MAX])
{
    ki__mutex_lock(&r->shared.lock);
    memcpy(relists, r->shared.relists, sizeof(r->shared.relists));
    ki__mutex_unlock(&r->shared.lock);
}

int ki_reflector_get_health(ki_reflector *reflector, ki_health *health, ki_error *ret_reason)
{
    KI__REQUIRE(reflector, NULL);
    KI__REQUIRE(health, NULL);
    uint64_t now = ki__engine_now(reflector->engine);
    ki__mutex_lock(&reflector->shared.lock);
    const ki_health current = health_at(reflector, now);
    int r = KI__GIVE(ki_health, health, &current);
    if (r >= 0 && ret_reason != NULL) {
        ki__error_copy(ret_reason, &reflector->shared.reason);
    }
    ki__mutex_unlock(&reflector->shared.lock);
    return r;
}

/* ---- recording by the phases ---- */

void ki__reflector_count(ki_reflector *r, uint64_t *counter)
{
    ki__mutex_lock(&r->shared.lock);
    (*counter)++;
    ki__mutex_unlock(&r->shared.lock);
}

void ki__reflector_note(ki_reflector *r, uint64_t *time, uint64_t *counter)
{
    uint64_t now = ki__engine_now(r->engine);
    ki__mutex_lock(&r->shared.lock);
    *time = now;
    (*counter)++;
    bool troubled = r->shared.reason.code != 0;
    ki__mutex_unlock(&r->shared.lock);
    if (troubled) {
        ki__reflector_recovered(r);
    }
}

void ki__reflector_note_bytes(ki_reflector *r, size_t bytes)
{
    ki__mutex_lock(&r->shared.lock);
    r->shared.times.byte = r->alive;
    r->shared.health.bytes += bytes;
    r->shared.health.arrived = r->found.count - r->found.gaps;
    ki__mutex_unlock(&r->shared.lock);
    KI__PROBE(bytes_received, r->options.name, bytes);
}

void ki__reflector_set_version(ki_reflector *r, const char *version, ki__origin origin)
{
    size_t len = strlen(version);
    ki_assert(len <= KI__VERSION_MAX); /* objects and pages ensure it */
    memcpy(r->version, version, len + 1);
    r->origin = origin;
    ki__mutex_lock(&r->shared.lock);
    memcpy(r->shared.version, version, len + 1);
    ki__mutex_unlock(&r->shared.lock);
}

void ki__reflector_skipped(ki_reflector *r, const char *key, const ki_error *error)
{
    ki__reflector_count(r, &r->shared.health.skipped);
    ki__engine_report(r->engine, "reflector", r->options.name, ki_str_from(key), error);
}

void ki__reflector_note_object(ki_reflector *r, const ki_object *object)
{
    if (ki_object_is_complete(object)) {
        return;
    }
    ki__mutex_lock(&r->shared.lock);
    bool first = r->shared.health.incomplete++ == 0;
    ki__mutex_unlock(&r->shared.lock);
    if (first) {
        KI__LOG(ki__engine_log(r->engine), KI_LOG_WARNING, "reflector",
                "the server sends fields without a schema in this version of kinformer; paths and "
                "JSON output omit them; set json_only or upgrade kinformer",
                {"name", ki_str_from(r->options.name)},
                {"key", ki_str_from(ki_object_key(object))});
    }
}

bool ki__reflector_selects(ki_reflector *r, const ki_object *object)
{
    if (ki__selection_has(r->selection, object)) {
        return true;
    }
    ki__mutex_lock(&r->shared.lock);
    bool first = r->shared.health.outside_shard++ == 0;
    ki__mutex_unlock(&r->shared.lock);
    if (first) {
        KI__LOG(ki__engine_log(r->engine), KI_LOG_INFO, "reflector",
                "the server ignores shard_selector: objects of other shards are received and "
                "dropped",
                {"name", ki_str_from(r->options.name)});
    }
    return false;
}

/* ---- creation and destruction ---- */

static int check_options(const ki_reflector_options *o, ki_error *error)
{
    if (o->engine == NULL) {
        return ki__error_set(error, -EINVAL, "reflector: engine must not be NULL");
    }
    const ki_source *source = o->source;
    if (source == NULL || source->list == NULL || source->watch == NULL || source->cancel == NULL) {
        return ki__error_set(error, -EINVAL, "reflector: source needs list, watch and cancel");
    }
    const ki_reflector_target *target = o->target;
    if (target == NULL || target->add == NULL || target->update == NULL || target->remove == NULL ||
        target->replace == NULL) {
        return ki__error_set(error, -EINVAL,
                             "reflector: target needs add, update, remove and replace");
    }
    return 0;
}

static uint64_t ns_or(uint64_t ms, uint64_t otherwise_ns)
{
    return ms != 0 ? ki__ms_to_ns(ms) : otherwise_ns;
}

static void set_times(ki__reflector_times *times, const ki_reflector_options *o)
{
    uint64_t timeout = ki__ms_to_ns(o->min_watch_timeout_ms);
    timeout = timeout > WATCH_TIMEOUT_NS ? timeout : WATCH_TIMEOUT_NS;
    *times = (ki__reflector_times){
        .resync_period_ns = ns_or(o->resync_period_ms, UINT64_MAX),
        .min_watch_timeout_ns = timeout < WATCH_TIMEOUT_MAX_NS ? timeout : WATCH_TIMEOUT_MAX_NS,
        .initial_idle_ns = ns_or(o->initial_idle_ms, 15 * KI__SECOND_NS),
        .initial_max_ns = ns_or(o->initial_max_ms, 5 * MINUTE_NS),
        .no_streaming_ns = ns_or(o->no_streaming_ms, 10 * MINUTE_NS),
        .silence_ns = ns_or(o->silence_ms, 3 * MINUTE_NS),
        .internal_error_retry_ns = ki__ms_to_ns(o->internal_error_retry_ms),
    };
}

static void set_defaults(ki_reflector_options *o)
{
    o->name = o->name != NULL ? o->name : "reflector";
    if (o->description == NULL) {
        o->description = o->expected_kind;
    }
}

static int copy_text(ki_reflector *r, ki_error *error)
{
    ki_reflector_options *o = &r->options;
    const char **const texts[] = {&o->name, &o->description, &o->expected_kind,
                                  &o->expected_api_version};
    ki_selection selection = {.size = sizeof(selection),
                              .label_selector = o->label_selector,
                              .field_selector = o->field_selector,
                              .shard_selector = o->shard_selector};
    o->label_selector = NULL; /* `selection` has the copies */
    o->field_selector = NULL;
    o->shard_selector = NULL;
    int code = ki__texts_copy(r->alloc, texts, sizeof(texts) / sizeof(texts[0]), &r->text, error);
    return code < 0 ? code : ki__selection_new(r->alloc, &selection, &r->selection, error);
}

static void free_parts(ki_reflector *r)
{
    ki__timer_done(&r->wait);
    ki__timer_done(&r->watchdog);
    ki__timer_done(&r->resync);
    ki__timer_done(&r->proof);
    ki__timer_done(&r->reminder);
    ki__timer_done(&r->trim);
    ki__pages_done(&r->pages);
    ki__collect_clear(&r->found);
    ki__free(r->alloc, r->text);
    ki__free(r->alloc, r->selection);
    ki__free(r->alloc, r->shared.selection);
    (void)ki_projection_unref(r->options.projection);
}

static int init_timers(ki_reflector *r)
{
    const struct {
        ki__timer *timer;
        void (*fire)(ki__timer *timer);
    } timers[] = {
        {&r->wait, ki__reflector_on_wait},         {&r->watchdog, ki__reflector_on_watchdog},
        {&r->resync, ki__reflector_on_resync},     {&r->proof, ki__reflector_on_proof},
        {&r->reminder, ki__reflector_on_reminder}, {&r->trim, ki__reflector_on_trim},
    };
    int code = 0;
    for (size_t i = 0; code == 0 && i < sizeof(timers) / sizeof(timers[0]); i++) {
        code = ki__timer_init(timers[i].timer, r->engine, timers[i].fire);
    }
    return code;
}

static int init_parts(ki_reflector *r, ki_error *error)
{
    ki__task_init(&r->task, work);
    ki__pages_init(&r->pages, &r->source, &ki__reflector_pages_sink, r, r->alloc,
                   ki__engine_hash_key(r->engine));
    ki__collect_init(&r->found, r->alloc, ki__engine_hash_key(r->engine), r->options.max_objects);
    ki__backoff_init(&r->backoff, ki__ms_to_ns(r->options.backoff_initial_ms),
                     ki__ms_to_ns(r->options.backoff_max_ms),
                     ki__ms_to_ns(r->options.backoff_reset_ms));
    r->rewatch = r->backoff;
    int code = copy_text(r, error);
    if (code < 0) {
        return code;
    }
    code = init_timers(r);
    return code < 0 ? ki__error_code(error, code) : 0;
}

int ki_reflector_new(const ki_reflector_options *options, ki_reflector **ret_reflector,
                     ki_error *error)
{
    KI__REQUIRE(options, error);
    KI__REQUIRE(ret_reflector, error);
    ki_reflector_options o = {0};
    int code = KI__TAKE(ki_reflector_options, &o, options, error);
    if (code < 0) {
        return code;
    }
    code = check_options(&o, error);
    ki_source source;
    ki_reflector_target target;
    if (code >= 0) {
        code = KI__TAKE(ki_source, &source, o.source, error);
    }
    if (code >= 0) {
        code = KI__TAKE(ki_reflector_target, &target, o.target, error);
    }
    if (code < 0) {
        return code;
    }
    set_defaults(&o);
    const ki_alloc *alloc = ki__engine_alloc(o.engine);
    ki_reflector *r = ki__alloc_zero(alloc, sizeof(*r));
    if (r == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    ki__refs_init(&r->refs);
    r->engine = o.engine;
    r->alloc = alloc;
    r->source = source;
    r->target = target;
    r->options = o;
    r->projection = o.projection;
    set_times(&r->times, &o);
    (void)ki_projection_ref(o.projection);
    code = init_parts(r, error);
    if (code == 0) {
        code = ki__mutex_init(&r->shared.lock);
        if (code < 0) {
            (void)ki__error_code(error, code);
        }
    }
    if (code < 0) {
        free_parts(r);
        ki__free(alloc, r);
        return code;
    }
    (void)ki_engine_ref(r->engine);
    *ret_reflector = r;
    return 0;
}

ki_reflector *ki_reflector_ref(ki_reflector *reflector)
{
    if (reflector != NULL) {
        ki__refs_take(&reflector->refs);
    }
    return reflector;
}

ki_reflector *ki_reflector_unref(ki_reflector *reflector)
{
    if (reflector == NULL || !ki__refs_drop(&reflector->refs) ||
        ki__engine_is_inherited(reflector->engine)) {
        return NULL;
    }
    ki_engine *engine = reflector->engine;
    ki_source source = reflector->source; /* of one that never ran */
    ki_reflector_target target = reflector->target;
    free_parts(reflector);
    ki__mutex_done(&reflector->shared.lock);
    ki__free(reflector->alloc, reflector);
    if (source.destroy != NULL) {
        source.destroy(source.user);
    }
    if (target.destroy != NULL) {
        target.destroy(target.user);
    }
    (void)ki_engine_unref(engine);
    return NULL;
}
