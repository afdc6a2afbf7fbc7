/* SPDX-License-Identifier: Apache-2.0 */
/* Applies deltas to a store; the counterpart of processDeltas in client-go's controller.go, with
 * these differences:
 *   - A deletion of an object that is not in the store creates no notification: handlers receive
 *     deletions only of objects that they received.
 *   - An object with another uid than the stored one is a new object: a deletion (final state
 *     unknown) and an addition. A deletion with another uid is delivered for the stored object.
 *   - Updates with an unchanged version create no notification, unless requested.
 *   - An object that the store rejects does not affect the rest of the batch or list.
 *
 * Invariant: either the whole batch is in the store with all its notifications, or nothing is. Old
 * objects are kept alive by the previous version, or by the batch itself. */
#include "cache/informer/apply_deltas.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "cache/store/listed_ids.h"
#include "cache/store/prefetch.h"
#include "cache/store/txn.h"
#include "object/key.h"
#include "object/object.h"

enum { NOTES_KEPT = 1 << 12 }; /* capacity kept from batch to batch */

/* A batch being applied. */
typedef struct work {
    ki__applier *applier;
    ki_txn *txn;
    const char *resource_version; /* of the store afterwards; NULL: unchanged */
    bool is_initial;
    bool listed; /* a complete list, or a reset: only then the version may decrease */
    bool changed;
    const uint32_t *hashes; /* for a list: hashes of its keys */
} work;

int ki__applier_init(ki__applier *applier, ki_store *store, const ki_alloc *alloc, ki_error *error)
{
    if (store->transform != NULL) {
        return ki__error_set(error, -EINVAL,
                             "store: must have no transform; set the informer's transform instead");
    }
    *applier = (ki__applier){.store = ki_store_ref(store), .alloc = alloc};
    return 0;
}

void ki__applier_done(ki__applier *applier)
{
    ki__apply_end(applier);
    ki__free(applier->alloc, applier->notes);
    (void)ki_store_unref(applier->store);
}

/* Notifications */

static int add_note(work *w, const ki__note *note)
{
    ki__applier *a = w->applier;
    if (a->silent) {
        return 0;
    }
    int r = ki__array_reserve(a->alloc, (void **)&a->notes, &a->note_cap, a->note_count + 1,
                              sizeof(*note));
    if (r >= 0) {
        a->notes[a->note_count] = *note;
        a->notes[a->note_count++].time_ms = a->time_ms;
        a->same_count += note->same_version;
        a->sync_count += note->type == KI__NOTE_SYNC && note->object != NULL;
        a->sync_all_count += note->object == NULL;
    }
    return r;
}

static int note_addition(work *w, const ki_object *object)
{
    return add_note(w, &(ki__note){
                           .type = KI__NOTE_ADD,
                           .object = object,
                           .is_initial = w->is_initial,
                           .apart = w->txn->apart,
                       });
}

static int note_unseen_deletion(work *w, const ki_object *old)
{
    return add_note(w, &(ki__note){
                           .type = KI__NOTE_DELETE,
                           .old = old,
                           .object = old,
                           .final_state_unknown = true,
                       });
}

/* Whether two objects with the same name are known to be different objects. */
static bool is_another(const ki_object *a, const ki_object *b)
{
    const char *uid = ki_object_uid(a);
    const char *other = ki_object_uid(b);
    return uid[0] != '\0' && other[0] != '\0' && strcmp(uid, other) != 0;
}

static int note_update(work *w, const ki_object *old, const ki_object *object)
{
    if (is_another(old, object)) {
        int r = note_unseen_deletion(w, old);
        return r < 0 ? r : note_addition(w, object);
    }
    int kept = w->applier->suppress ? ki__object_is_same_kept(old, object) : 0;
    if (kept > 0) {
        w->applier->unkept_count++;
        return 0;
    }
    int same = ki__object_is_same_state(old, object);
    if (same > 0 && !w->applier->keep_same_version) {
        return 0;
    }
    if (kept == -ENOMEM || same == -ENOMEM) {
        return -ENOMEM; /* they could not be decompressed */
    }
    return add_note(w, &(ki__note){
                           .type = KI__NOTE_UPDATE,
                           .old = old,
                           .object = object,
                           .same_version = same > 0,
                           .apart = w->txn->apart,
                       });
}

/* Single objects */

/* Transient errors fail the batch, others skip the object. */
static int skip(work *w, ki_str key, const ki_error *problem, ki_error *error)
{
    ki__applier *applier = w->applier;
    if (ki_error_is_retriable(problem->code)) {
        if (error != NULL) {
            ki__error_copy(error, problem);
        }
        return problem->code;
    }
    applier->skipped_now_count++;
    int r = ki__skipped_objects_add(&applier->skipped_now, applier->alloc, key, problem);
    return r < 0 ? ki__error_code(error, r) : 0;
}

/* Packed objects that were stored and replaced in the same batch are held by their notes alone. */
static int reserve_held(ki__applier *a)
{
    if (a->store->packer == NULL) {
        return 0; /* the batch holds what is stored */
    }
    return ki__array_reserve(a->alloc, (void **)&a->held, &a->held_cap, a->held_count + 1,
                             sizeof(ki_object *));
}

static void hold_dropped(work *w)
{
    ki_object *dropped = ki__txn_take_dropped(w->txn);
    if (w->applier->store->packer == NULL) {
        (void)ki_object_unref(dropped);
    } else if (dropped != NULL) {
        w->applier->held[w->applier->held_count++] = dropped;
    }
}

static void release_held(ki__applier *a)
{
    while (a->held_count != 0) {
        (void)ki_object_unref(a->held[--a->held_count]);
    }
    ki__free(a->alloc, (void *)a->held);
    a->held = NULL;
    a->held_cap = 0;
}

/* `hash` is that of its key. */
static int put(work *w, const ki_object *object, uint32_t hash, ki_error *error)
{
    ki_error problem;
    ki__error_init(&problem);
    const ki_object *old = NULL;
    int r = reserve_held(w->applier);
    if (r < 0) {
        return ki__error_code(error, r);
    }
    r = ki__txn_exchange(w->txn, object, hash, &old, &problem);
    hold_dropped(w);
    if (r < 0) {
        return skip(w, ki__object_key(object), &problem, error);
    }
    w->changed = true;
    r = old != NULL ? note_update(w, old, object) : note_addition(w, object);
    return r < 0 ? ki__error_code(error, r) : 0;
}

/* Removes a key. `object` is the final state, or NULL if that is unknown. */
static int take(work *w, ki_str key, const ki_object *object, ki_error *error)
{
    ki_error problem;
    ki__error_init(&problem);
    const ki_object *old = NULL;
    int r = reserve_held(w->applier);
    if (r < 0) {
        return ki__error_code(error, r);
    }
    r = ki__txn_take(w->txn, key, &old, &problem);
    hold_dropped(w);
    if (r < 0) {
        return skip(w, key, &problem, error);
    }
    if (r == 0) {
        return 0;
    }
    w->changed = true;
    if (object == NULL || is_another(old, object)) {
        r = note_unseen_deletion(w, old);
    } else {
        r = add_note(w, &(ki__note){.type = KI__NOTE_DELETE, .old = old, .object = object});
    }
    return r < 0 ? ki__error_code(error, r) : 0;
}

/* Records that an object is unchanged. The stored object counts: it may be newer than the delta. */
static int sync_one(work *w, const ki_object *object, uint32_t hash, ki_error *error)
{
    const ki_object *stored = ki_txn_get(w->txn, ki__object_key(object));
    if (stored == NULL) {
        return put(w, object, hash, error);
    }
    int r = add_note(w, &(ki__note){.type = KI__NOTE_SYNC, .old = stored, .object = stored});
    return r < 0 ? ki__error_code(error, r) : 0;
}

/* Lists */

/* Removes the objects that are in the store and not in the list. */
static int take_missing(work *w, ki__listed *listed, ki_error *error)
{
    const ki_object *object;
    int r = 0;
    while (r >= 0 && (object = ki__listed_next_missing(listed)) != NULL) {
        r = take(w, ki__object_key(object), NULL, error);
    }
    return r;
}

/* Prefetches data for the list object at `i`. */
static void look_ahead(work *w, ki__warmer *warmer, const ki_replacement *all, size_t i)
{
    if (i < all->object_count) {
        ki__warmer_add(warmer, all->objects[i], w->hashes[i]);
    }
}

static int put_all(work *w, const ki_replacement *all, ki_error *error)
{
    int r = 0;
    ki__warmer warmer;
    ki__warmer_init(&warmer, w->applier->before);
    for (size_t i = 0; i < KI__WARM_AHEAD; i++) {
        look_ahead(w, &warmer, all, i);
    }
    for (size_t i = 0; r >= 0 && i < all->object_count; i++) {
        look_ahead(w, &warmer, all, i + KI__WARM_AHEAD);
        r = put(w, all->objects[i], w->hashes[i], error);
    }
    return r;
}

static int replace_all(work *w, const ki_replacement *all, ki_error *error)
{
    ki__listed listed;
    int r = ki__listed_init(&listed, w->applier->alloc, w->applier->before, all);
    if (r < 0) {
        (void)ki__error_code(error, r);
    } else {
        r = take_missing(w, &listed, error);
    }
    if (r >= 0) {
        w->hashes = listed.hashes;
        r = put_all(w, all, error);
    }
    ki__listed_done(&listed);
    return r;
}

/* Batches */

/* The newest version wins: a ki_delta_fifo returns deltas by key. */
static void note_version(work *w, const char *version)
{
    if (version != NULL && version[0] != '\0' &&
        (w->resource_version == NULL || !ki__version_is_older(version, w->resource_version))) {
        w->resource_version = version;
    }
}

static int set_version(work *w, ki_error *error)
{
    const char *version = w->resource_version;
    if (version == NULL ||
        (!w->listed &&
         ki__version_is_older(version, ki_snapshot_resource_version(w->applier->before)))) {
        return 0;
    }
    w->changed = true;
    return ki_txn_set_resource_version(w->txn, version, error);
}

/* `hash` is that of its object's key. */
static int apply_one(work *w, const ki_delta *delta, uint32_t hash, ki_error *error)
{
    switch (delta->type) {
    case KI_DELTA_ADDED:
    case KI_DELTA_UPDATED:
        note_version(w, ki_object_resource_version(delta->object));
        return put(w, delta->object, hash, error);
    case KI_DELTA_REPLACED: /* in list order, not version order; and updates may have been queued
                               since */
        return put(w, delta->object, hash, error);
    case KI_DELTA_DELETED:
        if (delta->final_state_unknown) {
            return take(w, ki_delta_key(delta), NULL, error);
        }
        note_version(w, ki_object_resource_version(delta->object));
        return take(w, ki_delta_key(delta), delta->object, error);
    case KI_DELTA_SYNC:
        return sync_one(w, delta->object, hash, error);
    case KI_DELTA_REPLACED_ALL:
        w->listed = true;
        note_version(w, delta->replaced->resource_version);
        return replace_all(w, delta->replaced, error);
    case KI_DELTA_SYNC_ALL: { /* a notification without an object: expanded by ki__apply_next() */
        int r = add_note(w, &(ki__note){.type = KI__NOTE_SYNC});
        return r < 0 ? ki__error_code(error, r) : 0;
    }
    case KI_DELTA_BOOKMARK:
        note_version(w, delta->resource_version);
        return 0;
    case KI_DELTA_MAX:
        break;
    }
    return ki__error_code(error, -EINVAL);
}

/* 0 for deltas without an object, which do not need it. */
static uint32_t hash_of(const work *w, const ki_delta *delta)
{
    return delta->object != NULL ? ki__key_hash(w->applier->store, ki__object_key(delta->object))
                                 : 0;
}

/* The hash for the delta at `i`; prefetches data for later ones. */
static uint32_t hash_ahead(const work *w, ki__warmer *warmer, const ki_deltas *deltas, size_t i)
{
    if (i >= deltas->count) {
        return 0;
    }
    uint32_t hash = hash_of(w, ki_deltas_at(deltas, i));
    ki__warmer_add(warmer, ki_deltas_at(deltas, i)->object, hash);
    return hash;
}

static int apply_many(work *w, const ki_deltas *deltas, ki_error *error)
{
    int r = 0;
    ki__warmer warmer;
    uint32_t hashes[KI__WARM_AHEAD]; /* of the next deltas */
    ki__warmer_init(&warmer, w->applier->before);
    for (size_t i = 0; i < KI__WARM_AHEAD; i++) {
        hashes[i] = hash_ahead(w, &warmer, deltas, i);
    }
    for (size_t i = 0; r >= 0 && i < deltas->count; i++) {
        uint32_t hash = hashes[i % KI__WARM_AHEAD];
        hashes[i % KI__WARM_AHEAD] = hash_ahead(w, &warmer, deltas, i + KI__WARM_AHEAD);
        r = apply_one(w, ki_deltas_at(deltas, i), hash, error);
    }
    return r;
}

static int apply_all(work *w, const ki_deltas *deltas, ki_error *error)
{
    int r = deltas->count == 1
                ? apply_one(w, ki_deltas_at(deltas, 0), hash_of(w, ki_deltas_at(deltas, 0)), error)
                : apply_many(w, deltas, error);
    if (deltas->set_back != NULL) { /* some deltas have earlier versions */
        w->resource_version = deltas->set_back;
        w->listed = true;
    }
    return r < 0 ? r : set_version(w, error);
}

int ki__apply_prepare(ki__applier *applier, const ki_deltas *deltas, ki_error *error)
{
    work w = {.applier = applier, .is_initial = deltas->is_initial};
    ki__apply_end(applier);
    applier->committed = false;
    applier->skipped_now_count = 0;
    applier->unkept_count = 0;
    int r = ki_store_begin(applier->store, &w.txn, error);
    if (r < 0) {
        return r;
    }
    applier->before = ki__version_acquire(applier->store);
    r = apply_all(&w, deltas, error);
    if (r >= 0 && w.changed) {
        applier->txn = w.txn;
    } else {
        ki_txn_abort(w.txn);
    }
    if (r < 0) {
        ki__apply_end(applier);
    }
    return r < 0 ? r : 0;
}

void ki__apply_commit(ki__applier *applier)
{
    if (applier->txn != NULL) {
        ki_txn_commit(applier->txn);
        applier->txn = NULL;
    }
    applier->committed = true;
    applier->skipped += applier->skipped_now_count;
    applier->suppressed += applier->unkept_count;
}

int ki__apply(ki__applier *applier, const ki_deltas *deltas, ki_error *error)
{
    int r = ki__apply_prepare(applier, deltas, error);
    if (r == 0) {
        ki__apply_commit(applier);
    }
    return r;
}

size_t ki__apply_count(const ki__applier *applier, bool same_version, bool sync)
{
    return applier->note_count - applier->sync_all_count -
           (same_version ? 0 : applier->same_count) - (sync ? 0 : applier->sync_count);
}

bool ki__apply_next_whole(ki__applier *applier, ki__note *ret_note)
{
    if (applier->next == applier->note_count) {
        return false;
    }
    *ret_note = applier->notes[applier->next++];
    return true;
}

bool ki__apply_next(ki__applier *applier, ki__note *ret_note)
{
    while (applier->next < applier->note_count) {
        const ki__note *note = &applier->notes[applier->next];
        if (note->object != NULL) {
            *ret_note = *note;
            applier->next++;
            return true;
        }
        if (!applier->syncing) {
            applier->iter = ki_snapshot_iter_begin(applier->before);
            applier->syncing = true;
        }
        const ki_object *object;
        if (ki_snapshot_iter_next(&applier->iter, &object) > 0) {
            *ret_note = (ki__note){.type = KI__NOTE_SYNC, .old = object, .object = object};
            return true;
        }
        applier->syncing = false;
        applier->next++;
    }
    return false;
}

void ki__apply_rewind(ki__applier *applier)
{
    applier->next = 0;
    applier->syncing = false;
}

void ki__apply_end(ki__applier *applier)
{
    ki__skipped_objects_end(&applier->skipped_now, applier->alloc,
                            applier->committed ? &applier->on_error : NULL);
    ki_txn_abort(applier->txn);
    applier->txn = NULL;
    applier->before = ki_snapshot_unref(applier->before);
    release_held(applier);
    applier->note_count = 0;
    applier->same_count = 0;
    applier->sync_count = 0;
    applier->sync_all_count = 0;
    ki__apply_rewind(applier);
    if (applier->note_cap > NOTES_KEPT) {
        ki__free(applier->alloc, applier->notes);
        applier->notes = NULL;
        applier->note_cap = 0;
    }
}
