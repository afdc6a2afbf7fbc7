/* SPDX-License-Identifier: Apache-2.0 */
/* Samples, changes and sizes of informers. Everything here has a fixed size for each informer,
 * except for the objects of changes, of which there are at most 2 * KI__CHANGES. */
#include "monitor_server/monitor_slots.h"

#include <errno.h>
#include <string.h>

#include <kinformer/clock.h>
#include <kinformer/field_sizes.h>
#include <kinformer/resource.h>
#include <kinformer/store.h>

#include "base/alloc.h"
#include "base/time_units.h"

enum { USED_MS = 600000, MEASURE_MS = 60000, MEASURED_MAX = 32 };

/* ---- changes ---- */

static void drop_change(ki__recorded_change *change)
{
    (void)ki_object_unref(change->object);
    (void)ki_object_unref(change->old);
    if (change->held != NULL) {
        ki__informer_release(change->held);
    }
    *change = (ki__recorded_change){.number = 0};
}

/* On the loop. */
static void on_change(const ki_change *change, void *user)
{
    ki__slot *slot = user;
    ki__monitor_slots *slots = slot->owner;
    if (change->type == KI_CHANGE_SYNC || change->initial) {
        return;
    }
    ki__recorded_change *place = &slots->changes[slots->change_count++ % KI__CHANGES];
    drop_change(place);
    ki__informer_hold(slot->informer);
    *place = (ki__recorded_change){
        .number = slots->change_count,
        .time_s = ki_clock_now_ns(ki__engine_clock(slots->engine)) / (int64_t)KI__SECOND_NS,
        .type = change->type,
        .object = ki_object_ref(change->object),
        .old = change->old != NULL && change->type == KI_CHANGE_UPDATED ? ki_object_ref(change->old)
                                                                        : NULL,
        .name = ki_informer_name(slot->informer),
        .held = slot->informer,
        .secret = slot->secret,
    };
}

/* Best effort: without memory, the changes of this informer are missing. */
static void observe(ki__slot *slot)
{
    const ki_handler handler = {.size = sizeof(handler), .on_change = on_change, .user = slot};
    const ki_handler_options options = {
        .size = sizeof(options),
        .name = "monitor",
        .delivery = KI_DELIVERY_LOOP,
        .resync_ms = KI_RESYNC_NEVER,
    };
    if (slot->observer == NULL) {
        (void)ki__informer_add_observer(slot->informer, &handler, &options, &slot->observer, NULL);
    }
}

static void stop_observing(ki__slot *slot)
{
    if (slot->observer != NULL) {
        ki_registration_remove(slot->observer);
        slot->observer = ki_registration_unref(slot->observer);
    }
}

/* ---- slots ---- */

static ki__slot *slot_at(ki__list *link)
{
    return KI__CONTAINER_OF(link, ki__slot, link);
}

ki__slot *ki__slots_find(const ki__monitor_slots *slots, const ki_informer *informer)
{
    for (ki__list *link = slots->list.next; link != &slots->list; link = link->next) {
        if (slot_at(link)->informer == informer) {
            return slot_at(link);
        }
    }
    return NULL;
}

static void free_slot(ki__slot *slot)
{
    stop_observing(slot);
    ki__list_remove(&slot->link);
    ki__informer_release(slot->informer);
    ki__free(slot->owner->alloc, slot);
}

static bool is_secret(const ki_informer *informer)
{
    const ki_resource *resource = ki_informer_resource(informer);
    return resource == NULL || (strcmp(ki_resource_name(resource), "secrets") == 0 &&
                                ki_resource_group(resource)[0] == '\0');
}

static ki__slot *add_slot(ki__monitor_slots *slots, const ki__informer_row *row)
{
    ki__slot *slot = ki__alloc_zero(slots->alloc, sizeof(*slot));
    if (slot == NULL) {
        return NULL;
    }
    slot->owner = slots;
    slot->informer = row->informer;
    slot->secret = is_secret(row->informer);
    slot->events_before = row->health.events;
    ki__informer_hold(slot->informer);
    ki__list_push_back(&slots->list, &slot->link);
    return slot;
}

int ki__slots_update(ki__monitor_slots *slots, const ki__gathered *gathered)
{
    KI__LIST_FOR_EACH (link, &slots->list) {
        slot_at(link)->seen = false;
    }
    int r = 0;
    for (size_t i = 0; i < gathered->informer_count; i++) {
        ki__slot *slot = ki__slots_find(slots, gathered->informers[i].informer);
        slot = slot != NULL ? slot : add_slot(slots, &gathered->informers[i]);
        r = slot != NULL ? r : -ENOMEM;
        if (slot != NULL) {
            slot->seen = true;
        }
    }
    KI__LIST_FOR_EACH (link, &slots->list) {
        if (!slot_at(link)->seen) {
            free_slot(slot_at(link));
        }
    }
    return r;
}

int ki__slots_use(ki__monitor_slots *slots, const ki__gathered *gathered)
{
    int r = ki__slots_update(slots, gathered);
    slots->used_ns = ki__engine_now(slots->engine);
    KI__LIST_FOR_EACH (link, &slots->list) {
        observe(slot_at(link));
    }
    return r;
}

/* ---- samples ---- */

static uint32_t limited(uint64_t number)
{
    return number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
}

static void sample(ki__monitor_slots *slots, const ki__gathered *gathered)
{
    uint32_t at = slots->position;
    for (size_t i = 0; i < gathered->informer_count; i++) {
        const ki__informer_row *row = &gathered->informers[i];
        ki__slot *slot = ki__slots_find(slots, row->informer);
        if (slot != NULL) {
            slot->events[at] = limited(row->health.events - slot->events_before);
            slot->events_before = row->health.events;
            slot->lag_ms[at] = 0;
            slot->samples += slot->samples < KI__SAMPLES;
        }
    }
    for (size_t i = 0; i < gathered->handler_count; i++) {
        const ki__handler_row *row = &gathered->handlers[i];
        ki__slot *slot = ki__slots_find(slots, row->informer->informer);
        uint32_t ms = limited(row->lag.oldest_ns / KI__MS_NS);
        if (slot != NULL && slot->lag_ms[at] < ms) {
            slot->lag_ms[at] = ms;
        }
    }
    slots->position = (at + 1) % KI__SAMPLES;
}

static void forget_changes(ki__monitor_slots *slots)
{
    for (size_t i = 0; i < KI__CHANGES; i++) {
        drop_change(&slots->changes[i]);
    }
    for (size_t i = 0; i < KI__OPENED; i++) {
        (void)ki_object_unref(slots->opened[i].object);
        slots->opened[i] = (ki__opened_object){.number = 0};
    }
}

static void expire(ki__monitor_slots *slots)
{
    if (slots->used_ns == 0 ||
        ki__engine_now(slots->engine) - slots->used_ns < USED_MS * KI__MS_NS) {
        return;
    }
    slots->used_ns = 0;
    KI__LIST_FOR_EACH (link, &slots->list) {
        stop_observing(slot_at(link));
    }
    forget_changes(slots);
}

static void on_timer(ki__timer *timer)
{
    ki__monitor_slots *slots = KI__CONTAINER_OF(timer, ki__monitor_slots, timer);
    ki__gathered gathered;
    expire(slots);
    if (ki__gather(slots->client, &gathered) == 0) { /* without memory, the sample is missing */
        (void)ki__slots_update(slots, &gathered);
        sample(slots, &gathered);
        ki__gathered_done(&gathered);
    }
    ki__timer_set_after(&slots->timer, KI__SAMPLE_MS * KI__MS_NS);
}

/* ---- memory by field ---- */

static void add_size(ki__slot *slot, const char *name, size_t len, uint64_t bytes)
{
    size_t i = 0;
    slot->field_bytes += bytes;
    while (i < slot->field_count &&
           (strncmp(slot->fields[i].name, name, len) != 0 || slot->fields[i].name[len] != '\0')) {
        i++;
    }
    if (i == slot->field_count && i < KI__FIELDS) {
        slot->fields[slot->field_count++] = (ki__field_size){.bytes = 0};
        memcpy(slot->fields[i].name, name, len);
    }
    if (i < KI__FIELDS) {
        slot->fields[i].bytes += bytes;
    }
}

/* Members of objects and of their metadata. Names below these may be data, such as keys of
 * ConfigMaps, and are not shown. */
static void add_field(const ki_field_size *field, void *user)
{
    static const char metadata[] = ".metadata";
    static const char small[] = "metadata (names, times)";
    const char *path = field->path;
    size_t first = strlen(metadata);
    bool within =
        strncmp(path, metadata, first) == 0 && (path[first] == '\0' || path[first] == '.');
    size_t len = (within ? first : 0) + 1;
    if (path[0] != '.') {
        return; /* punctuation, or the envelope of protobuf */
    }
    if (path[len - 1] != '\0') {
        len += strcspn(path + len, ".[");
    }
    if (within && (len <= first + 1 || (path[len] == '\0' && !field->rest))) {
        add_size(user, small, strlen(small), field->bytes);
    } else if (len <= KI__FIELD_NAME) { /* no name of a field of ours is longer */
        add_size(user, path + 1, len - 1, field->bytes);
    }
}

bool ki__slot_measure(ki__slot *slot)
{
    uint64_t now = ki__engine_now(slot->owner->engine);
    ki_field_sizes *sizes = NULL;
    const ki_object *object;
    if (slot->measured_ns != 0 && now - slot->measured_ns < MEASURE_MS * KI__MS_NS) {
        return false;
    }
    slot->measured_ns = now;
    slot->measured = slot->field_count = 0;
    slot->field_bytes = 0;
    int r = ki_field_sizes_new(slot->owner->alloc, &sizes, NULL);
    ki_snapshot *snapshot = ki_store_snapshot(ki_informer_store(slot->informer));
    ki_snapshot_iter iter = ki_snapshot_iter_begin(snapshot);
    while (r == 0 && slot->measured < MEASURED_MAX && ki_snapshot_iter_next(&iter, &object) > 0) {
        r = ki_field_sizes_add(sizes, object, NULL);
        slot->measured++;
    }
    if (r == 0) { /* without memory, it is missing */
        (void)!ki_field_sizes_visit(sizes, 1, add_field, slot);
    }
    (void)ki_snapshot_unref(snapshot);
    (void)ki_field_sizes_unref(sizes);
    return true;
}

/* ---- opened objects ---- */

uint64_t ki__slots_open(ki__monitor_slots *slots, const ki_informer *informer,
                        const ki_object *object)
{
    ki__opened_object *place = &slots->opened[slots->opened_count++ % KI__OPENED];
    (void)ki_object_unref(place->object);
    *place = (ki__opened_object){
        .number = slots->opened_count,
        .after = slots->change_count,
        .informer = informer,
        .object = ki_object_ref(object),
        .time_s = ki_clock_now_ns(ki__engine_clock(slots->engine)) / (int64_t)KI__SECOND_NS,
    };
    return place->number;
}

const ki__opened_object *ki__slots_opened(const ki__monitor_slots *slots, uint64_t number)
{
    const ki__opened_object *place = &slots->opened[(number - 1) % KI__OPENED];
    return number != 0 && place->number == number ? place : NULL;
}

/* ---- life cycle ---- */

int ki__slots_init(ki__monitor_slots *slots, const ki_alloc *alloc, ki_client *client,
                   ki_engine *engine)
{
    *slots = (ki__monitor_slots){.alloc = alloc, .client = client, .engine = engine};
    ki__list_init(&slots->list);
    int r = ki__timer_init(&slots->timer, engine, on_timer);
    if (r == 0) {
        on_timer(&slots->timer);
    }
    return r;
}

void ki__slots_done(ki__monitor_slots *slots)
{
    if (slots->engine == NULL) {
        return;
    }
    ki__timer_done(&slots->timer);
    KI__LIST_FOR_EACH (link, &slots->list) {
        free_slot(slot_at(link));
    }
    forget_changes(slots);
}
