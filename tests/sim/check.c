/* SPDX-License-Identifier: Apache-2.0 */
/* What must hold after every step, and what must come to hold when faults are over. */
#include <stdio.h>
#include <string.h>

#include <kinformer/index.h>

#include "cache/informer/informer.h"
#include "object/object.h"
#include "sim/sim.h"
#include "support/by_value.h"

#define STOP_NS SIM_SECOND
enum { DELETION_BYTES = 512, BATCH_BYTES = 4096 };

/* Nobody can read it, so nobody has it. */
static bool is_poison(const sim *s, int key)
{
    return key == 0 && s->faults[SIM_POISON];
}

static bool is_same(const ki_object *a, const ki_object *b)
{
    return a != NULL && b != NULL &&
           strcmp(ki_object_resource_version(a), ki_object_resource_version(b)) == 0 &&
           strcmp(ki_object_uid(a), ki_object_uid(b)) == 0;
}

/* The first key in which a snapshot is not as the servers were at a version; -1 if there is none.
 */
static int find_difference(const sim_informer *informer, const ki_snapshot *snapshot, uint64_t rv)
{
    const sim *s = informer->s;
    for (int key = 0; key < SIM_KEYS; key++) {
        char text[16];
        sim_key_text(key, text);
        const ki_object *has = ki_snapshot_get(snapshot, text);
        const ki_object *must = sim_record_at(s, informer->type, key, rv);
        if (must != NULL && (!sim_in_scope(informer, must) || is_poison(s, key))) {
            must = NULL;
        }
        if (has != must && (!is_same(has, must) || !sim_is_same_kept(informer, has, must) ||
                            !sim_is_projected(informer, has))) {
            return key;
        }
    }
    return -1;
}

/* ---- the store ---- */

/* I2: the store never shows an older moment than before. */
static void check_i2_no_time_travel(sim_informer *informer, uint64_t store_rv)
{
    sim *s = informer->s;
    if (store_rv < informer->store_rv) {
        sim_violation(s, "I2", "the store of informer %d goes from version %llu to %llu",
                      informer->id, (unsigned long long)informer->store_rv,
                      (unsigned long long)store_rv);
    }
}

/* I10, I13, and most of I3 and I4: a snapshot is the state of the servers at its version, neither
 * more nor less. A ki_delta_fifo, which goes by keys, is so when it is empty. */
static void check_i10_exact(sim_informer *informer, const ki_snapshot *snapshot, uint64_t rv,
                            const char *what)
{
    if (rv == 0) {
        return; /* nothing was listed yet */
    }
    int key = find_difference(informer, snapshot, rv);
    if (key >= 0) {
        char text[16];
        sim_key_text(key, text);
        const ki_object *has = ki_snapshot_get(snapshot, text);
        const ki_object *must = sim_record_at(informer->s, informer->type, key, rv);
        sim_violation(informer->s, "I10",
                      "%s of informer %d at version %llu: %s is at %s, on the servers at %s", what,
                      informer->id, (unsigned long long)rv, text,
                      has != NULL ? ki_object_resource_version(has) : "none",
                      must != NULL ? ki_object_resource_version(must) : "none");
    }
}

static bool is_value_of(const char *index, const ki_object *object, ki_str value)
{
    if (strcmp(index, "app") == 0) {
        return ki_object_has_label(object, "app") &&
               ki_str_eq(ki_object_label(object, "app"), value);
    }
    return ki_str_eq_text(value, ki_object_namespace(object));
}

/* I9: each index is what the objects say, and has no empty values. */
static void check_i9_index(sim_informer *informer, const ki_snapshot *snapshot)
{
    const char *name;
    for (size_t i = 0; (name = ki_snapshot_index_name_at(snapshot, i)) != NULL; i++) {
        ki_index_iter values;
        size_t total = 0;
        ki_str value;
        size_t count;
        int r = ki_index_iter_begin(snapshot, name, &values);
        while (r == 0 && ki_index_iter_next(&values, &value, &count) > 0) {
            ki_snapshot_iter iter;
            size_t found = 0;
            const ki_object *object;
            if (count == 0 || ki_snapshot_iter_by_index(snapshot, name, value, &iter) < 0) {
                sim_violation(informer->s, "I9", "index %s has a value without objects", name);
            }
            while (ki_snapshot_iter_next(&iter, &object) > 0) {
                const ki_object *stored = ki_snapshot_get(snapshot, ki_object_key(object));
                if (stored != object || !is_value_of(name, object, value)) {
                    sim_violation(informer->s, "I9", "index %s has %s, which is not so", name,
                                  ki_object_key(object));
                }
                found++;
            }
            if (found != count) {
                sim_violation(informer->s, "I9", "index %s counts wrongly", name);
            }
            total += count;
        }
        if (total != ki_snapshot_count(snapshot)) { /* every object has one value in both */
            sim_violation(informer->s, "I9", "index %s lacks objects", name);
        }
    }
}

/* ---- handlers ---- */

/* I4, I11: a handler for which nothing waits has received all that the store has. */
static const char *compare_view(const sim_handler *handler, const ki_snapshot *snapshot)
{
    for (int key = 0; key < SIM_KEYS; key++) {
        char text[16];
        sim_key_text(key, text);
        const ki_object *has = ki_snapshot_get(snapshot, text);
        const ki_object *view = handler->view[key];
        if (has != NULL && !sim_handler_wants(handler, has)) {
            has = NULL;
        }
        bool kept = has != NULL && view != NULL && sim_suppresses(handler->owner) &&
                    sim_is_same_kept(handler->owner, has, view);
        if (has != view && !is_same(has, view) && !kept) {
            static char why[96];
            (void)snprintf(why, sizeof(why), "%s: received %s, but the store has %s", text,
                           view != NULL ? ki_object_resource_version(view) : "none",
                           has != NULL ? ki_object_resource_version(has) : "none");
            return why;
        }
    }
    return NULL;
}

static void check_i8_synced(sim_handler *handler, bool synced)
{
    sim *s = handler->owner->s;
    if (handler->synced && !synced) {
        sim_violation(s, "I8", "handler %d has synced no more", handler->id);
    }
    if (!synced || handler->synced) {
        return;
    }
    handler->synced = true;
    if (!ki_informer_has_synced(handler->owner->informer)) {
        sim_violation(s, "I8", "handler %d has synced before its informer", handler->id);
    }
    for (int key = 0; key < SIM_KEYS; key++) {
        if (handler->initial[key] && !handler->delivered[key] && handler->merged == 0) {
            sim_violation(s, "I8",
                          "handler %d of informer %d has synced and did not receive number %d",
                          handler->id, handler->owner->id, key);
        }
    }
}

/* A queue that has no memory for its index merges nothing, and tries again a little later; several
 * times, it may be. */
static size_t most_waiting(const sim_handler *handler)
{
    size_t factor = handler->owner->s->faults[SIM_MEMORY] ? 2 : 1;
    return factor * handler->limit + 5 * SIM_KEYS;
}

static void check_handler(sim_handler *handler, const ki_snapshot *snapshot, bool changed)
{
    sim *s = handler->owner->s;
    ki_registration_stats stats = test_registration_stats(handler->registration);
    s->counts[SIM_COUNT_MERGED] += stats.merged - handler->counted_merged;
    handler->counted_merged = stats.merged;
    handler->merged = stats.merged;
    if (stats.waiting > most_waiting(handler)) {
        sim_violation(s, "I16", "%zu events wait for a handler with a limit of %zu", stats.waiting,
                      handler->limit);
    }
    check_i8_synced(handler, ki_registration_has_synced(handler->registration));
    if (stats.waiting == 0 && (changed || handler->dirty)) {
        const char *why = compare_view(handler, snapshot);
        if (why != NULL) {
            sim_violation(s, "I4", "handler %d of informer %d: %s", handler->id, handler->owner->id,
                          why);
        }
    }
    handler->dirty = false;
}

static void check_handlers(sim_informer *informer, const ki_snapshot *snapshot, bool changed)
{
    bool now_synced = !informer->synced && ki_informer_has_synced(informer->informer);
    for (int i = 0; i < informer->handler_count; i++) {
        sim_handler *handler = &informer->handlers[i];
        if (now_synced && !handler->has_initial) {
            handler->base_rv = sim_rv_text(ki_snapshot_resource_version(snapshot));
            sim_handler_note_initial(handler, snapshot);
        }
        if (sim_handler_is_active(handler)) {
            check_handler(handler, snapshot, changed);
        }
    }
    informer->synced = informer->synced || now_synced;
}

/* ---- informers ---- */

/* A connection that breaks is no reason to list again: the watch is resumed where it was. */
static void check_resumes(const sim_informer *informer, const ki_health *health)
{
    static const sim_fault harmless[] = {SIM_LAG,    SIM_MOVE, SIM_RESET,     SIM_STALL, SIM_SPLIT,
                                         SIM_REFUSE, SIM_CUT,  SIM_DELAY,     SIM_LATE,  SIM_REMOVE,
                                         SIM_SLOW,   SIM_JUMP, SIM_REENTRANT, SIM_RENEW};
    const sim *s = informer->s;
    uint64_t restorations = informer->restorations + informer->informer->limit.restoring;
    uint64_t set = 0;
    for (int i = 0; i < SIM_FAULT_MAX; i++) {
        set |= (uint64_t)s->faults[i] << i;
    }
    for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++) {
        set &= ~(UINT64_C(1) << harmless[i]);
    }
    /* A refusal is followed by a list, which may be reduced, and then by a whole one; and objects
     * that were reduced by another. */
    if (set == 0 && health->relists > 2 * health->refusals + restorations) {
        sim_violation(s, "I16", "informer %d lists again without need", informer->id);
    }
}

/* I2 once more, of what the reflector says, and how it got there. */
static void check_reflector(sim_informer *informer, const ki_health *health)
{
    sim *s = informer->s;
    char text[1025];
    if (ki_informer_last_sync_resource_version(informer->informer, text, sizeof(text)) < 0) {
        sim_violation(s, "I2", "informer %d has no version", informer->id);
    }
    uint64_t rv = sim_rv_text(text);
    if (!s->byzantine) {
        if (rv < informer->sync_rv) {
            sim_violation(s, "I2", "informer %d goes from version %llu to %llu", informer->id,
                          (unsigned long long)informer->sync_rv, (unsigned long long)rv);
        }
        if (health->epoch_changes != 0) {
            sim_violation(s, "I2", "informer %d thinks that the servers were set back",
                          informer->id);
        }
        /* What a new client shows is not older than what any client could know by then. */
        if (informer->syncs == 0 && health->syncs != 0 && !informer->stale_start &&
            rv < informer->head_at_start) {
            sim_violation(s, "I2", "informer %d starts in the past, at %llu instead of %llu",
                          informer->id, (unsigned long long)rv,
                          (unsigned long long)informer->head_at_start);
        }
    }
    if (health->syncs != informer->syncs) {
        informer->listed_rv = rv;
        informer->refused = false;
    }
    informer->sync_rv = rv;
    check_resumes(informer, health);
    informer->syncs = health->syncs;
}

static void count_health(sim_informer *informer, const ki_health *h)
{
    sim *s = informer->s;
    const ki_health *last = &informer->health;
    s->counts[SIM_COUNT_STREAMS] += h->streams - last->streams;
    s->counts[SIM_COUNT_LISTS] += h->lists - last->lists;
    s->counts[SIM_COUNT_WATCHES] += h->watches - last->watches;
    s->counts[SIM_COUNT_RELISTS] += h->relists - last->relists;
    s->counts[SIM_COUNT_RECONNECTS] += h->reconnects - last->reconnects;
    s->counts[SIM_COUNT_FALLBACKS] += h->fallbacks - last->fallbacks;
    s->counts[SIM_COUNT_BACKOFFS] += h->backoffs - last->backoffs;
    s->counts[SIM_COUNT_BOOKMARKS] += h->bookmarks - last->bookmarks;
    s->counts[SIM_COUNT_SKIPPED] += h->skipped - last->skipped;
    s->counts[SIM_COUNT_ANOMALIES] += h->anomalies - last->anomalies;
    s->counts[SIM_COUNT_EPOCHS] += h->epoch_changes - last->epoch_changes;
    informer->health = *h;
}

/* I18: an informer with a limit of its memory keeps it, except that a deletion may copy parts of
 * the index while a reader holds an old version; and that each handler that is behind counts the
 * old objects of a batch once more. And it does not become synced while it has refused
 * something. */
static void check_i18_limit(sim_informer *informer, const ki_health *h)
{
    sim *s = informer->s;
    const ki_health *last = &informer->health;
    if (informer->max_bytes == 0) {
        return;
    }
    s->counts[SIM_COUNT_REFUSALS] += h->refusals - last->refusals;
    s->counts[SIM_COUNT_RECOVERIES] += last->over_limit && !h->over_limit;
    uint64_t slack = DELETION_BYTES + (uint64_t)informer->handler_count * BATCH_BYTES;
    if (h->memory - h->version_bytes > informer->max_bytes + slack) {
        sim_violation(s, "I18",
                      "informer %d has %llu bytes, limit %llu: objects %llu, indexes %llu, "
                      "versions %llu, queues %llu, decoding %llu",
                      informer->id, (unsigned long long)h->memory,
                      (unsigned long long)informer->max_bytes, (unsigned long long)h->object_bytes,
                      (unsigned long long)h->index_bytes, (unsigned long long)h->version_bytes,
                      (unsigned long long)h->queue_bytes, (unsigned long long)h->decoding_bytes);
    }
    if (h->over_limit && h->synced && !last->synced) {
        sim_violation(s, "I18", "informer %d becomes synced over its limit", informer->id);
    }
}

/* Whether everything would fit so many times. */
static bool fits(const sim_informer *informer, uint64_t times)
{
    const sim *s = informer->s;
    size_t count = 0;
    for (int key = 0; key < SIM_KEYS; key++) {
        const ki_object *object = sim_record_at(s, informer->type, key, UINT64_MAX);
        count += object != NULL && sim_in_scope(informer, object);
    }
    const ki_health *h = &informer->health;
    uint64_t others = h->index_bytes + h->version_bytes + h->queue_bytes + 2048;
    return times * (count * 1024 + others) < informer->max_bytes;
}

/* I19: an informer with objects that were reduced says so. */
static void check_i19_reduced(sim_informer *informer, const ki_snapshot *snapshot)
{
    ki_snapshot_iter iter = ki_snapshot_iter_begin(snapshot);
    const ki_object *object;
    while (ki_snapshot_iter_next(&iter, &object) > 0) {
        if (ki__object_is_reduced(object) && informer->health.reduction != KI_REDUCTION_METADATA) {
            sim_violation(informer->s, "I19", "informer %d has %s without its fields, unreported",
                          informer->id, ki_object_key(object));
        }
    }
}

/* L6: what fits twice is not refused for long. L7: what fits four times is not reduced for long,
 * after the wait between attempts. */
static const char *check_l6_l7(const sim_informer *informer)
{
    const ki_health *h = &informer->health;
    bool due = informer->s->now > informer->informer->limit.restore_at + SIM_MINUTE;
    if (h->over_limit) {
        return fits(informer, 2) ? "L6: it refuses a list that fits" : NULL;
    }
    return h->reduced && due && fits(informer, 4) ? "L7: it reduces objects that fit" : NULL;
}

static void note_reduction(sim_informer *informer, const ki_health *h)
{
    sim *s = informer->s;
    const ki_health *last = &informer->health;
    if (h->reduction == KI_REDUCTION_PACKED) {
        sim_informer_tune_packer(informer);
    }
    informer->restorations += last->reduced && !h->reduced;
    s->counts[SIM_COUNT_RESTORED] += last->reduced && !h->reduced;
    s->counts[SIM_COUNT_REDUCED] += !last->reduced && h->reduced;
    s->counts[SIM_COUNT_PACKED] += h->reduction == KI_REDUCTION_PACKED && last->reduction == 0;
}

static void check_store(sim_informer *informer, const ki_snapshot *snapshot, size_t queued)
{
    sim *s = informer->s;
    bool over = informer->health.over_limit; /* then lists are not applied, or only deletions */
    uint64_t rv = sim_rv_text(ki_snapshot_resource_version(snapshot));
    sim_count_up(s, SIM_COUNT_VERSIONS);
    check_i9_index(informer, snapshot);
    check_i19_reduced(informer, snapshot);
    if (!s->byzantine) {
        check_i2_no_time_travel(informer, rv);
        if (!informer->deltas && !over) {
            check_i10_exact(informer, snapshot, rv, "the store");
        }
        if (queued == 0 && !over) {
            check_i10_exact(informer, snapshot, informer->sync_rv, "all that came");
        }
    }
    informer->store_rv = rv;
    /* A list that goes back shows in a ki_delta_fifo when it is through, if it has anything. */
    bool through = queued == 0 && ki_snapshot_count(snapshot) != 0;
    if ((!informer->deltas || through) && rv > informer->sync_rv && !over) {
        sim_violation(s, "I13", "informer %d: the store is at %llu, the reflector only at %llu",
                      informer->id, (unsigned long long)rv, (unsigned long long)informer->sync_rv);
    }
}

static void check_informer(sim_informer *informer)
{
    ki_health health = KI_OPTIONS_INIT(ki_health);
    if (ki_informer_get_health(informer->informer, &health, NULL) < 0) {
        sim_violation(informer->s, "setup", "no health");
    }
    bool other_form = health.reduction != informer->health.reduction;
    note_reduction(informer, &health);
    check_reflector(informer, &health);
    check_i18_limit(informer, &health);
    count_health(informer, &health);
    if (health.mutations != 0) {
        sim_violation(informer->s, "I10", "an object was changed in its place");
    }
    ki_snapshot *snapshot = ki_store_snapshot(ki_informer_store(informer->informer));
    uint64_t version = ki_snapshot_version(snapshot);
    bool changed = version != informer->version;
    informer->version = version;
    if (changed) {
        check_store(informer, snapshot, health.queued);
    } else if (other_form) {
        check_i19_reduced(informer, snapshot);
    }
    check_handlers(informer, snapshot, changed);
    (void)ki_snapshot_unref(snapshot);
}

/* L3: a stop is soon over, whatever was under way. */
static void check_l3_stops(sim_informer *informer)
{
    sim *s = informer->s;
    if (informer->informer == NULL || ki_informer_is_stopped(informer->informer)) {
        informer->over = true;
    } else if (s->now > informer->stopped_at + STOP_NS && ki_engine_deadline(s->engine) > s->now) {
        sim_violation(s, "L3", "informer %d does not stop", informer->id);
    }
}

void sim_check_step(sim *s)
{
    for (int i = 0; i < s->informer_count; i++) {
        sim_informer *informer = &s->informers[i];
        if (sim_client_is_running(informer)) {
            check_informer(informer);
        } else if (informer->stopping && !informer->over) {
            check_l3_stops(informer);
        }
    }
    const char *overdue = sim_net_overdue(s);
    if (overdue != NULL && ki_engine_deadline(s->engine) > s->now) {
        sim_violation(s, "L4", "a silent stream is not given up: %s", overdue);
    }
    if (s->live_bytes > (size_t)4 << 20) {
        sim_violation(s, "I16", "%zu bytes are in use", s->live_bytes);
    }
}

/* ---- in the end ---- */

static const char *check_l1_l2(sim_informer *informer, bool sleepers_too)
{
    static char why[160];
    const char *wrong = NULL;
    ki_snapshot *snapshot = ki_store_snapshot(ki_informer_store(informer->informer));
    int key = find_difference(informer, snapshot, UINT64_MAX);
    if (informer->health.over_limit) {
        (void)ki_snapshot_unref(snapshot);
        return sleepers_too ? NULL : check_l6_l7(informer); /* these have just released a lot */
    }
    if (!ki_informer_has_synced(informer->informer)) {
        wrong = "L1: it has not synced";
    } else if (key >= 0) {
        wrong = "L1: its store is not as the servers are";
    } else if (!sleepers_too) {
        wrong = check_l6_l7(informer);
    }
    for (int i = 0; wrong == NULL && i < informer->handler_count; i++) {
        sim_handler *handler = &informer->handlers[i];
        if (!sim_handler_is_active(handler) || (handler->sleeps && !sleepers_too)) {
            continue;
        }
        if (!ki_registration_has_synced(handler->registration) || !handler->on_synced_called) {
            wrong = "L2: a handler has not synced";
        } else if (test_registration_stats(handler->registration).waiting != 0) {
            wrong = "L2: events wait for a handler";
        } else {
            wrong = compare_view(handler, snapshot);
        }
        if (wrong == NULL && handler->feeds) {
            wrong = sim_work_check(&informer->work, handler);
        }
    }
    (void)ki_snapshot_unref(snapshot);
    if (wrong != NULL) {
        (void)snprintf(why, sizeof(why), "informer %d: %s", informer->id, wrong);
        return why;
    }
    return NULL;
}

const char *sim_check_converged(sim *s, bool sleepers_too)
{
    for (int i = 0; i < s->informer_count; i++) {
        sim_informer *informer = &s->informers[i];
        if (sim_client_is_running(informer)) {
            const char *wrong = check_l1_l2(informer, sleepers_too);
            if (wrong != NULL) {
                return wrong;
            }
        } else if (!informer->stopping) {
            return "L1: an informer was never made";
        }
    }
    return NULL;
}
