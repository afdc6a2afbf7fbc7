/* SPDX-License-Identifier: Apache-2.0 */
/* What must hold when a handler is called. Each function is one of the invariants; what a server
 * that lies makes impossible is required only where servers are sound. */
#include <string.h>

#include "object/object.h"
#include "sim/sim.h"
#include "support/by_value.h"

static const char *const callback_names[] = {
    [SIM_ADD] = "add", [SIM_UPDATE] = "update", [SIM_DELETE] = "delete", [SIM_SYNC] = "sync"};

/* One call. */
typedef struct delivery {
    sim *s;
    sim_handler *handler;
    sim_informer *informer;
    sim_callback callback;
    const ki_object *old; /* as given */
    const ki_object *object;
    const ki_object *before; /* what the handler received last */
    int key;
    uint64_t rv;
    bool flag; /* initial, or final state unknown */
} delivery;

static _Noreturn void violated(const delivery *t, const char *invariant, const char *why)
{
    sim_violation(t->s, invariant, "informer %d, handler %d, %s of %s at %s: %s", t->informer->id,
                  t->handler->id, callback_names[t->callback], ki_object_key(t->object),
                  ki_object_resource_version(t->object), why);
}

/* A resync, or a list that brought nothing new: the object as it is, delivered as such. */
static bool is_resync(const delivery *t)
{
    return t->callback == SIM_SYNC || (t->callback == SIM_UPDATE && t->old == t->object);
}

/* What was reduced to metadata because of max_bytes is whole again. */
static bool is_restored(const delivery *t)
{
    return t->callback == SIM_UPDATE && ki__object_is_reduced(t->old) &&
           !ki__object_is_reduced(t->object);
}

/* I1: versions of a key rise. */
static void check_i1_ordered(const delivery *t)
{
    uint64_t last = t->handler->last_rv[t->key];
    bool same_is_allowed =
        is_resync(t) || t->handler->unchanged || t->callback == SIM_DELETE || is_restored(t);
    if (t->rv < last || (t->rv == last && !same_is_allowed)) {
        violated(t, "I1", "that version, or a newer one, was delivered before");
    }
    if (t->callback == SIM_DELETE && t->rv == last && !t->flag && !t->handler->filtered) {
        violated(t, "I1", "a deletion that was seen has the version of the object before");
    }
}

static bool is_visible(const delivery *t, const ki_object *object)
{
    return object != NULL && sim_in_scope(t->informer, object) &&
           sim_handler_wants(t->handler, object);
}

static bool same_label(const ki_object *a, const ki_object *b, const char *label)
{
    return ki_object_has_label(a, label) && ki_object_has_label(b, label) &&
           ki_str_eq(ki_object_label(a, label), ki_object_label(b, label));
}

/* I3: what is delivered was so on the server, */
static void check_i3_true(const delivery *t)
{
    if (t->callback == SIM_DELETE) {
        return; /* its object is the one before, with the version of the deletion */
    }
    const ki_object *recorded = sim_record_at(t->s, t->informer->type, t->key, t->rv);
    if (recorded == NULL || sim_rv(recorded) != t->rv ||
        strcmp(ki_object_uid(recorded), ki_object_uid(t->object)) != 0 ||
        !same_label(recorded, t->object, "app") ||
        !sim_is_same_kept(t->informer, recorded, t->object)) {
        violated(t, "I3", "the server never had this");
    }
    if (!t->informer->transforms && !sim_is_projected(t->informer, t->object)) {
        violated(t, "I17", "it has other fields than those that are kept");
    }
    if (!is_visible(t, t->object)) {
        violated(t, "I3", "it does not match the selection");
    }
}

/* and nothing between is left out, but for what came before a list, or was merged. */
static void check_i3_contiguous(const delivery *t)
{
    const sim_record *record = &t->s->records[t->informer->type][t->key];
    const sim_handler *handler = t->handler;
    uint64_t excused =
        handler->base_rv > t->informer->listed_rv ? handler->base_rv : t->informer->listed_rv;
    /* While objects are reduced, updates that change no metadata are suppressed. */
    bool reduces = t->informer->at_limit == KI_AT_LIMIT_METADATA && sim_suppresses(t->informer);
    if (handler->merged != 0 || handler->filtered || t->flag || reduces) {
        return;
    }
    for (size_t i = record->count; i > 0; i--) {
        const sim_version *version = &record->versions[i - 1];
        if (version->rv <= excused || version->rv <= handler->last_rv[t->key]) {
            break;
        }
        const ki_object *before = i > 1 ? record->versions[i - 2].object : NULL;
        if (sim_suppresses(t->informer) && before != NULL && version->object != NULL &&
            sim_is_same_kept(t->informer, before, version->object)) {
            continue; /* I17 */
        }
        if (version->rv < t->rv && (is_visible(t, before) || is_visible(t, version->object))) {
            sim_trace(t->s, "version %llu was not delivered", (unsigned long long)version->rv);
            violated(t, "I3", "a change before it was not delivered");
        }
    }
}

/* I5, I7: each object comes, changes and goes; changes are from what was delivered last. */
static void check_i7_chain(const delivery *t)
{
    if (t->callback == SIM_ADD) {
        if (t->before != NULL) {
            violated(t, "I5", "it was delivered as added before");
        }
        return;
    }
    if (t->before == NULL) {
        violated(t, t->callback == SIM_DELETE ? "I4" : "I5", "it was not there");
    }
    bool same_uid = strcmp(ki_object_uid(t->before), ki_object_uid(t->object)) == 0;
    if (!same_uid) {
        violated(t, "I3", "it is another object than the one that was delivered before");
    }
    /* What was stored meanwhile without an event has the same kept fields. */
    bool suppresses = sim_suppresses(t->informer);
    if (t->callback != SIM_DELETE &&
        strcmp(ki_object_resource_version(t->old), ki_object_resource_version(t->before)) != 0 &&
        !(suppresses && sim_is_same_kept(t->informer, t->old, t->before))) {
        violated(t, "I7", "the old object is not the one that was delivered last");
    }
    if (t->callback == SIM_DELETE && t->flag && t->handler->merged == 0 &&
        sim_rv(t->before) != t->rv &&
        !(suppresses && sim_is_same_kept(t->informer, t->before, t->object))) {
        violated(t, "I7", "the last known state is not the one that was delivered last");
    }
}

/* I17: an update that changes no kept field is not delivered, unless others were merged into it. */
static void check_i17_suppressed(const delivery *t)
{
    if (t->callback == SIM_UPDATE && !is_resync(t) && sim_suppresses(t->informer) &&
        ki__object_is_reduced(t->old) == ki__object_is_reduced(t->object) &&
        t->handler->merged == 0 && t->old != NULL && sim_rv(t->old) != t->rv &&
        sim_is_same_kept(t->informer, t->old, t->object)) {
        violated(t, "I17", "no kept field has changed");
    }
}

/* I5: unchanged objects are delivered only to handlers that requested resyncs. */
static void check_i5_resync(const delivery *t)
{
    if (t->handler->never && !t->handler->unchanged && is_resync(t)) {
        violated(t, "I5", "this handler requested no resync");
    }
}

/* I6: the store is never behind. */
static void check_i6_store_first(const delivery *t)
{
    ki_object *stored =
        ki_store_get(ki_informer_store(t->informer->informer), ki_object_key(t->object));
    uint64_t stored_rv = stored != NULL ? sim_rv(stored) : 0;
    size_t waiting = t->handler->registration != NULL
                         ? test_registration_stats(t->handler->registration).waiting
                         : 1;
    (void)ki_object_unref(stored);
    if (t->callback == SIM_DELETE) {
        bool newer = stored_rv > t->rv;
        if (stored != NULL && !(newer && (waiting != 0 || t->handler->filtered))) {
            violated(t, "I6", "the store still has it");
        }
    } else if (stored == NULL ? waiting == 0 : stored_rv < t->rv) {
        violated(t, "I6", "the store does not have it yet");
    }
}

/* I2: the store does not call itself older than what it has. */
static void check_i2_store_version(const delivery *t)
{
    bool unseen = t->callback == SIM_DELETE && t->flag;
    if (is_resync(t) || unseen || t->rv <= t->informer->listed_rv || t->rv <= t->handler->base_rv) {
        return; /* it may have come by a list, which a ki_delta_fifo has no version of */
    }
    ki_snapshot *snapshot = ki_store_snapshot(ki_informer_store(t->informer->informer));
    bool older = sim_rv_text(ki_snapshot_resource_version(snapshot)) < t->rv;
    (void)ki_snapshot_unref(snapshot);
    if (older) {
        violated(t, "I2", "the store calls itself older");
    }
}

/* I8: initial objects are delivered as such, and before the handler has synced. */
static void check_i8_initial(const delivery *t)
{
    if (t->callback == SIM_ADD && t->flag && (t->handler->on_synced_called || t->handler->synced)) {
        violated(t, "I8", "an initial object comes after the handler has synced");
    }
}

/* I12: not after the end, and not in the middle of another call. */
static void check_i12_calls(const delivery *t)
{
    const sim_handler *handler = t->handler;
    if (handler->removed || handler->removing) {
        violated(t, "I12", "the handler was removed");
    }
    if (t->informer->stopping) {
        violated(t, "I12", "the informer was stopped");
    }
    if (handler->destroyed != 0) {
        violated(t, "I12", "the handler was destroyed");
    }
    if (handler->inside) {
        violated(t, "I12", "another call of the same handler is running");
    }
}

/* I16: merged events are reported right before the event that replaces them. */
static void check_i16_merged(const delivery *t)
{
    const ki_object *merged = t->handler->merged_now;
    t->handler->merged_now = NULL;
    if (merged != NULL && merged != t->object) {
        violated(t, "I16", "events of another object were reported as merged into this one");
    }
    if (t->handler->merged_received > t->handler->merged && t->handler->registration != NULL) {
        violated(t, "I16", "more events were reported as merged than were");
    }
}

void sim_check_merged(sim_handler *handler, const ki_object *object, uint64_t merged)
{
    if (handler->removed || handler->inside || handler->merged_now != NULL || merged == 0) {
        sim_violation(handler->owner->s, "I16",
                      "handler %d receives a count of %u merged events out of turn", handler->id,
                      (unsigned)merged);
    }
    handler->merged_now = object;
    handler->merged_received += merged;
}

static void count(const delivery *t)
{
    static const sim_count counts[] = {
        [SIM_ADD] = SIM_COUNT_ADDS,
        [SIM_UPDATE] = SIM_COUNT_UPDATES,
        [SIM_DELETE] = SIM_COUNT_DELETES,
        [SIM_SYNC] = SIM_COUNT_SYNCS,
    };
    sim_count_up(t->s, is_resync(t) ? SIM_COUNT_SYNCS : counts[t->callback]);
    t->s->counts[SIM_COUNT_INITIAL_ADDS] += t->callback == SIM_ADD && t->flag;
    t->s->counts[SIM_COUNT_UNSEEN_DELETES] += t->callback == SIM_DELETE && t->flag;
}

void sim_check_callback(sim_handler *handler, sim_callback callback, const ki_object *old,
                        const ki_object *object, bool flag)
{
    delivery t = {
        .s = handler->owner->s,
        .handler = handler,
        .informer = handler->owner,
        .callback = callback,
        .old = old,
        .object = object,
        .key = sim_key_of(ki_object_key(object)),
        .rv = sim_rv(object),
        .flag = flag,
    };
    sim_trace(t.s, "informer %d: handler %d: %s %s at %s%s", t.informer->id, handler->id,
              callback_names[callback], ki_object_key(object), ki_object_resource_version(object),
              flag ? " (initial or unseen)" : "");
    if (t.key < 0) {
        violated(&t, "I3", "unknown key");
    }
    t.before = handler->view[t.key];
    if (handler->registration != NULL) {
        handler->merged = test_registration_stats(handler->registration).merged;
    }
    check_i12_calls(&t);
    check_i7_chain(&t);
    check_i8_initial(&t);
    check_i5_resync(&t);
    check_i17_suppressed(&t);
    check_i16_merged(&t);
    if (!t.s->byzantine) {
        check_i1_ordered(&t);
        check_i3_true(&t);
        check_i3_contiguous(&t);
        check_i6_store_first(&t);
        check_i2_store_version(&t);
    }
    count(&t);
    if (callback != SIM_DELETE) {
        handler->view[t.key] = ki_object_ref(object);
    } else {
        handler->view[t.key] = NULL;
    }
    (void)ki_object_unref(t.before);
    handler->last_rv[t.key] = t.rv;
    handler->delivered[t.key] = true;
    handler->dirty = true;
}
