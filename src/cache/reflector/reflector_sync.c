/* SPDX-License-Identifier: Apache-2.0 */
/* Passes a complete list to the target, after some checks. Invariant: the version of the target
 * never goes back, except when the server's latest state itself is older, for example after a
 * restored backup, which is reported. Also the timers that follow a list: resync, and releasing
 * memory. */
#include <errno.h>
#include <string.h>

#include <kinformer/projection.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/probe.h"
#include "cache/queue/transform.h"
#include "cache/reflector/reflector.h"
#include "object/key.h"
#include "object/object.h"
#include "object/pack/packer.h"
#include "wire/intake.h"

enum { AHEAD_EVERY = 64 << 10, TRIM_BYTES = 1 << 20 };
#define TRIM_AFTER_NS KI__SECOND_NS /* handlers have released most replaced objects by then */

static void fill_stale(const ki_reflector *r, const char *version, const char *what,
                       ki_error *error)
{
    (void)ki__error_set(error, KI_ERR_STALE, "%s: resourceVersion ", what);
    ki__error_add(error, ki_str_from(version));
    ki__error_add(error, ki_str_from("; already seen "));
    ki__error_add(error, ki_str_from(r->version));
}

static int check_age(ki_reflector *r, const char *version, ki_error *error)
{
    if (!ki__version_is_older(version, r->version)) {
        return 0;
    }
    if (r->requested[0] == '\0') {
        ki_error report = KI_ERROR_INIT;
        fill_stale(r, version, "the server's state went back", &report);
        ki__reflector_count(r, &r->shared.health.epoch_changes);
        ki__engine_report(r->engine, "reflector", r->options.name, ki_str_from(""), &report);
        return 0;
    }
    /* A list of the latest shows whether the server has anything newer. */
    r->list_version = KI__LIST_VERSION_LATEST;
    ki__reflector_count(r, &r->shared.health.anomalies);
    fill_stale(r, version, "stale list", error);
    return KI_ERR_STALE;
}

static void note_sync(ki_reflector *r, size_t count)
{
    uint64_t now = ki__engine_now(r->engine);
    ki__mutex_lock(&r->shared.lock);
    ki_health *health = &r->shared.health;
    if (health->syncs != 0) {
        KI__PROBE(relist, r->options.name, ki_failure_class_name(r->relist_reason), count);
        health->relists++;
        r->shared.relists[r->relist_reason]++;
    }
    health->syncs++;
    health->synced = true;
    r->shared.times.sync = now;
    health->listed = count;
    ki__mutex_unlock(&r->shared.lock);
    ki__reflector_recovered(r);
}

/* Counts objects that only the list holds. */
static void recount(ki_reflector *r)
{
    size_t bytes = 0;
    for (size_t i = 0; i < r->found.count; i++) {
        const ki_object *object = r->found.objects[i];
        ki_object *known = object != NULL && r->target.find != NULL
                               ? r->target.find(ki_object_key(object), r->target.user)
                               : NULL;
        bytes += object != NULL && known != object
                     ? ki__object_footprint(object) + KI__REFLECTOR_ENTRY_BYTES
                     : 0;
        (void)ki_object_unref(known);
    }
    r->found.bytes = bytes;
    r->found.replaced = 0;
}

int ki__reflector_reserve(ki_reflector *r, size_t bytes, ki_error *error)
{
    if (r->target.reserve == NULL) {
        return 0;
    }
    r->reserved = true;
    int code = r->target.reserve(r->found.bytes + bytes, r->target.user, error);
    if (code < 0 && r->found.replaced != 0) {
        recount(r); /* replaced objects were not subtracted */
        code = r->target.reserve(r->found.bytes + bytes, r->target.user, error);
    }
    if (code == KI_ERR_OVER_LIMIT) {
        r->reduced = r->may_reduce && !r->reduced;
    }
    return code < 0 ? code : 0;
}

void ki__reflector_unreserve(ki_reflector *r)
{
    if (r->reserved) {
        r->reserved = false;
        (void)r->target.reserve(0, r->target.user, NULL);
    }
}

/* Collects the key only: the target keeps its state of the object, if it has one. */
static int gather_key(ki_reflector *r, const char *key, ki_error *error)
{
    size_t more = strlen(key) + KI__REFLECTOR_ENTRY_BYTES;
    int code = ki__reflector_reserve(r, more, error);
    if (code < 0) {
        return code;
    }
    r->found.bytes += more;
    code = ki__collect_add_unread(&r->found, key);
    return code < 0 ? ki__error_code(error, code) : 0;
}

/* Collects an object that the target does not have, packed if the target packs objects. */
static int gather_new(ki_reflector *r, const ki_object *object, ki__collector collect,
                      ki_error *error)
{
    ki_object *packed = NULL;
    int code = r->packer != NULL ? ki__packer_pack(r->packer, object, &packed, error) : 0;
    if (code < 0) {
        return code;
    }
    const ki_object *stored = packed != NULL ? packed : object;
    size_t more = ki__object_footprint(stored) + KI__REFLECTOR_ENTRY_BYTES;
    code = ki__reflector_reserve(r, more, error);
    if (code >= 0) {
        code = collect(&r->found, stored);
        (void)(code < 0 ? ki__error_code(error, code) : 0);
    }
    if (code >= 0) {
        r->found.bytes += more;
        r->collected += ki__object_footprint(stored);
        r->released += stored != object ? ki__object_footprint(object) : 0;
    }
    (void)ki_object_unref(packed);
    return code;
}

static int keep_known(ki_reflector *r, const ki_object *known, ki__collector collect,
                      ki_error *error)
{
    int code = collect(&r->found, known);
    return code < 0 ? ki__error_code(error, code) : code;
}

/* Collects an object for the target. Counts memory freed between blocks that stay: objects before
 * the transformation, and those replaced by a list.
 *
 * New objects may not fit beside those that the target still has, although they would alone. So a
 * list that was refused is followed by a reduced one, which has only keys of objects that are new
 * or changed: what it does not have is removed from the target. */
static int gather(ki_reflector *r, const ki_object *object, ki__collector collect, ki_error *error)
{
    ki_object *known = NULL;
    if (r->version[0] != '\0' && r->target.find != NULL) {
        known = r->target.find(ki_object_key(object), r->target.user);
    }
    int same = known != NULL ? ki__object_is_same_state(known, object) : 0;
    if (r->reduced && same <= 0 && same != -ENOMEM) {
        (void)ki_object_unref(known);
        return gather_key(r, ki_object_key(object), error);
    }
    int code = same == -ENOMEM ? ki__error_code(error, same)
               : same > 0      ? keep_known(r, known, collect, error)
                               : gather_new(r, object, collect, error);
    r->released += code >= 0 && same <= 0 && known != NULL ? ki__object_footprint(known) : 0;
    (void)ki_object_unref(known);
    if (r->collected >= AHEAD_EVERY) {
        r->collected = 0;
        ki__alloc_ahead(r->alloc);
    }
    return code;
}

int ki__reflector_project(const ki_reflector *r, const ki_object *object, ki_object **ret_object,
                          ki_error *error)
{
    const ki_projection *projection = ki__reflector_requested(r);
    return projection != NULL && !ki_object_is_partial(object)
               ? ki_object_project(object, projection, ret_object, error)
               : 0;
}

int ki__reflector_reduce(const ki_reflector *r, const ki_object *object, ki_object **ret_object,
                         ki_error *error)
{
    return r->projection != r->options.projection && ki__object_projection(object) != r->projection
               ? ki__object_reduce(object, r->projection, ret_object, error)
               : 0;
}

/* Collects an object in its final form. */
static int gather_reduced(ki_reflector *r, const ki_object *object, ki__collector collect,
                          ki_error *error)
{
    ki_object *reduced = NULL;
    int code = ki__reflector_reduce(r, object, &reduced, error);
    if (code < 0) {
        return code;
    }
    code = gather(r, reduced != NULL ? reduced : object, collect, error);
    (void)ki_object_unref(reduced);
    return code;
}

int ki__reflector_collect(ki_reflector *r, const ki_object *object, ki__collector collect,
                          ki_error *error)
{
    ki_object *made = NULL;
    ki_object *kept = NULL;
    int code = ki__reflector_project(r, object, &kept, error);
    if (code < 0) {
        return code;
    }
    object = kept != NULL ? kept : object;
    if (r->target.transform != NULL) {
        code = ki__transform(r->target.transform, r->target.user, object, &made, error);
    }
    if (code >= 0) {
        r->released += made != NULL && made != object ? ki__object_footprint(object) : 0;
        code = gather_reduced(r, made != NULL ? made : object, collect, error);
        (void)ki_object_unref(made);
    } else if (!ki_error_is_retriable(code)) {
        ki__reflector_skipped(r, ki_object_key(object), error);
        code = ki__collect_add_unread(&r->found, ki_object_key(object));
        (void)(code < 0 ? ki__error_code(error, code) : 0);
    }
    (void)ki_object_unref(kept);
    return code < 0 ? code : 0;
}

void ki__reflector_on_trim(ki__timer *timer)
{
    ki_reflector *r = KI__CONTAINER_OF(timer, ki_reflector, trim);
    r->released = 0;
    ki__alloc_trim(r->alloc);
}

int ki__reflector_complete(ki_reflector *r, const char *version, ki_error *error)
{
    int code = check_age(r, version, error);
    if (code < 0) {
        return code;
    }
    ki__collect_pack(&r->found);
    bool reduced = r->reduced;
    const ki_replacement list = {
        .size = sizeof(list),
        .objects = r->found.objects,
        .object_count = r->found.count,
        .unread = r->found.unread,
        .unread_count = r->found.unread_count,
        .resource_version = reduced ? NULL : version,
    };
    ki__error_clear(error);
    code = r->target.replace(&list, r->target.user, error);
    if (code < 0) {
        if (error->code == 0) {
            (void)ki__error_set(error, code, "the target rejected the list: %s",
                                ki_error_text(code));
        }
        return code;
    }
    r->reduced = false;
    r->list_at_once = reduced;
    if (reduced) { /* the next list must not be older: removed objects would come back */
        ki__reflector_set_version(r, version, KI__ORIGIN_LIST);
        return ki__error_set(
            error, KI_ERR_OVER_LIMIT,
            "max_bytes: removed objects that are not in the list; the rest follows");
    }
    r->list_version = KI__LIST_VERSION_KNOWN;
    r->watches = KI__WATCHES_NONE;
    ki__reflector_trust_streaming(r);
    r->last_object = ki_object_unref(r->last_object);
    ki__reflector_set_version(r, version, KI__ORIGIN_LIST);
    note_sync(r, r->found.count);
    if (r->released >= TRIM_BYTES) {
        ki__timer_set_after(&r->trim, TRIM_AFTER_NS);
    }
    return 0;
}

static bool is_expected(const char *expected, const char *found)
{
    return expected[0] == '\0' || strcmp(expected, found) == 0;
}

bool ki__reflector_is_usable(ki_reflector *r, ki_watch_event_type type, const ki_object *object)
{
    ki_error error;
    ki__error_init(&error);
    const char *key = ki_object_key(object);
    if (ki__wire_is_table(ki_object_api_version(object), ki_object_kind(object))) {
        (void)ki__error_set(&error, KI_ERR_UNSUPPORTED,
                            "watch event with a Table instead of an object");
    } else if (!is_expected(r->options.expected_kind, ki_object_kind(object)) ||
               !is_expected(r->options.expected_api_version, ki_object_api_version(object))) {
        (void)ki__error_set(&error, KI_ERR_TYPE, "watch event with an unexpected kind: ");
        ki__error_add(&error, ki_str_from(ki_object_api_version(object)));
        ki__error_add(&error, ki_str_from(" "));
        ki__error_add(&error, ki_str_from(ki_object_kind(object)));
    } else if (key[0] == '\0') {
        (void)ki__error_set(&error, KI_ERR_KEY, "watch event with an object without metadata.name");
    } else if ((size_t)type >= KI_WATCH_EVENT_BOOKMARK) {
        (void)ki__error_set(&error, KI_ERR_INVALID, "watch event of an unknown type");
    } else {
        return true;
    }
    ki__reflector_skipped(r, key, &error);
    return false;
}

/* Delivers the content of the target again; a queue that cannot do that gets a relist. */
void ki__reflector_on_resync(ki__timer *timer)
{
    ki_reflector *r = KI__CONTAINER_OF(timer, ki_reflector, resync);
    if (ki__reflector_is_stopping(r)) {
        return;
    }
    ki_error error = KI_ERROR_INIT;
    int code = 0;
    bool wanted = r->state == KI_REFLECTOR_WATCHING && r->target.resync != NULL &&
                  (r->options.should_resync == NULL || r->options.should_resync(r->options.user));
    if (wanted && !ki__reflector_is_stopping(r)) {
        ki__reflector_count(r, &r->shared.health.resyncs);
        code = r->target.resync(r->target.user, &error);
    }
    if (ki__reflector_is_stopping(r)) {
        return;
    }
    if (code < 0) {
        if (error.code == 0) {
            (void)ki__error_code(&error, code);
        }
        ki__engine_report(r->engine, "reflector", r->options.name, ki_str_from(""), &error);
        if (!ki__reflector_is_stopping(r)) {
            ki__reflector_back_off(r, KI__THEN_LIST, &error);
        }
    } else {
        ki__timer_set_after(timer, r->times.resync_period_ns);
    }
    ki__reflector_check(r);
}
