/* SPDX-License-Identifier: Apache-2.0 */
/* ki_delta_fifo: deltas grouped by key; the counterpart of client-go's delta_fifo.go.
 *
 * client-go holds its lock while deltas are processed, so that they are either queued or known.
 * Here the lock is free meanwhile, and deltas in flight count as queued where it matters: a list
 * does not miss a key whose Added is in flight, and a resync does not restore the state that an
 * update in flight is about to replace.
 *
 * Invariant: the deltas of an entry never contain two consecutive deletions. This also holds when
 * deltas in flight are put back before newer ones: while the last in flight is a deletion, none is
 * queued as the first.
 *
 * Deltas are popped by key, and the newest version among them is that of the store, unless a list
 * goes back in time. Then it is the last version that was added, once the queue is empty. */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"
#include "base/options.h"
#include "cache/queue/delta_queue.h"
#include "cache/queue/delta_table.h"
#include "cache/store/keyset.h"
#include "cache/store/version.h"
#include "object/key.h"
#include "object/object.h"
#include "wire/pages.h"

/* State after a list that went back in time, until all of it is processed. */
typedef struct set_back {
    char last[KI__VERSION_MAX + 1];  /* last version added */
    char batch[KI__VERSION_MAX + 1]; /* the same, when the deltas in flight were popped */
    bool renewed;                    /* another list has gone back since then */
} set_back;

typedef struct delta_fifo {
    ki_queue base;
    ki_store *known; /* or NULL */
    ki__delta_table table;
    set_back *set_back; /* or NULL */
} delta_fifo;

static delta_fifo *delta_fifo_of(ki_queue *queue)
{
    return (delta_fifo *)queue; /* base is the first member */
}

static const ki_delta *newest(const ki__delta_entry *entry)
{
    return entry != NULL ? &entry->last->delta : NULL;
}

static bool is_deletion(const ki_delta *delta)
{
    return delta != NULL && delta->type == KI_DELTA_DELETED;
}

/* Lists that go back in time */

static bool has_newer(const ki__delta_line *line, const char *version)
{
    for (const ki__delta_entry *entry = line->first; entry != NULL; entry = entry->next) {
        for (const ki__delta_node *node = entry->first; node != NULL; node = node->next) {
            if (ki__version_is_older(version, ki_object_resource_version(node->delta.object))) {
                return true;
            }
        }
    }
    return false;
}

/* Whether a list of this version is older than what is queued, in flight, or in the store. */
static bool goes_back(const delta_fifo *f, const ki_snapshot *known, const char *version)
{
    return version != NULL &&
           ((known != NULL && ki__version_is_older(version, ki_snapshot_resource_version(known))) ||
            has_newer(&f->table.in_flight, version) || has_newer(&f->table.queued, version));
}

static int begin_set_back(delta_fifo *f)
{
    if (f->set_back == NULL) {
        f->set_back = ki__alloc_zero(f->base.alloc, sizeof(*f->set_back));
    }
    if (f->set_back == NULL) {
        return -ENOMEM;
    }
    f->set_back->renewed = true;
    return 0;
}

/* Records the version of an added delta. */
static void note_version(delta_fifo *f, const char *version)
{
    size_t len = strlen(version);
    if (f->set_back != NULL && len != 0 && len <= KI__VERSION_MAX) {
        memcpy(f->set_back->last, version, len + 1);
    }
}

/* Call when the last queued delta is popped. */
static void take_set_back(delta_fifo *f)
{
    if (f->set_back != NULL) {
        memcpy(f->set_back->batch, f->set_back->last, sizeof(f->set_back->batch));
        f->set_back->renewed = false;
        f->base.batch_set_back = f->set_back->batch;
    }
}

static void finish_set_back(delta_fifo *f, bool again)
{
    if (f->base.batch_set_back != NULL && !again && !f->set_back->renewed) {
        ki__free(f->base.alloc, f->set_back);
        f->set_back = NULL;
    }
    f->base.batch_set_back = NULL;
}

/* Adding */

/* Adds a delta for which space was reserved. Of two consecutive deletions the older is kept, unless
 * its final state is unknown; true if ownership of the delta was taken, false if the older one is
 * kept. */
static bool add(delta_fifo *f, const ki_delta *delta)
{
    ki__delta_entry *entry = NULL;
    if (delta->type == KI_DELTA_DELETED) {
        entry = ki__delta_table_find(&f->table, ki__object_key(delta->object), false);
    }
    if (!is_deletion(newest(entry))) {
        ki__delta_table_add(&f->table, delta);
        ki__queue_count(&f->base, delta);
        return true;
    }
    ki_delta *older = &entry->last->delta;
    if (!older->final_state_unknown) {
        return false;
    }
    ki__queue_uncount(&f->base, older);
    ki__delta_release(&f->base, older);
    *older = *delta;
    ki__queue_count(&f->base, delta);
    return true;
}

/* The last known object of a key: the newest queued or in flight, otherwise the one in the store,
 * referenced by *ret_held. NULL if it is unknown or deleted. */
static const ki_object *last_known(delta_fifo *f, ki_str key, ki_object **ret_held)
{
    *ret_held = NULL;
    const ki_delta *delta = newest(ki__delta_table_find(&f->table, key, false));
    if (delta == NULL) {
        delta = newest(ki__delta_table_find(&f->table, key, true));
    }
    if (delta != NULL) {
        return is_deletion(delta) ? NULL : delta->object;
    }
    *ret_held = f->known != NULL ? ki__store_get(f->known, key) : NULL;
    return *ret_held;
}

/* Whether a deletion has an effect: the key is queued, in flight or known. */
static bool is_worth_deleting(delta_fifo *f, ki_str key)
{
    ki_object *held;
    if (ki__delta_table_find(&f->table, key, false) != NULL) {
        return true;
    }
    bool known = last_known(f, key, &held) != NULL;
    (void)ki_object_unref(held);
    return known;
}

static int delta_fifo_push(ki_queue *queue, const ki_delta *delta)
{
    delta_fifo *f = delta_fifo_of(queue);
    if (delta->type == KI_DELTA_BOOKMARK) {
        return 0;
    }
    if (delta->type == KI_DELTA_DELETED && !is_worth_deleting(f, ki__object_key(delta->object))) {
        return 0;
    }
    int r = ki__delta_table_reserve(&f->table, 1);
    if (r < 0) {
        return r;
    }
    note_version(f, ki_object_resource_version(delta->object));
    return add(f, delta);
}

static int delta_fifo_push_key(ki_queue *queue, char *copy)
{
    delta_fifo *f = delta_fifo_of(queue);
    ki_object *held;
    const ki_object *object = last_known(f, ki_str_from(copy), &held);
    int r = object != NULL ? ki__delta_table_reserve(&f->table, 1) : 0;
    if (r >= 0 && object != NULL) {
        bool added = add(f, &(ki_delta){.type = KI_DELTA_DELETED,
                                        .final_state_unknown = true,
                                        .object = ki_object_ref(object)});
        ki_assert(added); /* the last known state is not a deletion */
    }
    (void)ki_object_unref(held);
    return r < 0 ? r : 0; /* the copy is not needed */
}

/* Lists and resyncs */

/* Objects for the deltas of a list or a resync, found in the queue and in the store. */
typedef struct found {
    const ki_alloc *alloc;
    const ki_object **objects; /* borrowed from the queue and the snapshot */
    size_t count;
    size_t cap;
    ki_snapshot *known; /* or NULL */
} found;

static void found_init(found *list, delta_fifo *f)
{
    *list = (found){.alloc = f->base.alloc};
    list->known = f->known != NULL ? ki_store_snapshot(f->known) : NULL;
}

static void found_done(found *list)
{
    ki__free(list->alloc, (void *)list->objects);
    (void)ki_snapshot_unref(list->known);
}

static int found_add(found *list, const ki_object *object)
{
    int r = ki__array_reserve(list->alloc, (void **)&list->objects, &list->cap, list->count + 1,
                              sizeof(list->objects[0]));
    if (r >= 0) {
        list->objects[list->count++] = object;
    }
    return r;
}

/* Adds the known objects that are neither queued nor in flight nor, if `listed` is not NULL, in the
 * list. */
static int find_known(delta_fifo *f, const ki__keyset *listed, found *list)
{
    if (list->known == NULL) {
        return 0;
    }
    ki_snapshot_iter iter = ki_snapshot_iter_begin(list->known);
    const ki_object *object;
    int r = 0;
    while (r >= 0 && ki_snapshot_iter_next(&iter, &object) > 0) {
        ki_str key = ki__object_key(object);
        if ((listed == NULL || !ki__keyset_has(listed, key)) &&
            ki__delta_table_find(&f->table, key, false) == NULL &&
            ki__delta_table_find(&f->table, key, true) == NULL) {
            r = found_add(list, object);
        }
    }
    return r;
}

/* Adds queued objects that are not in the list, in queue order: first those in flight, unless the
 * key is queued as well, then the queued ones. Keys whose last delta is a deletion are skipped. */
static int find_queued(delta_fifo *f, const ki__keyset *listed, found *list)
{
    const ki__delta_line *lines[] = {&f->table.in_flight, &f->table.queued};
    for (size_t i = 0; i < 2; i++) {
        for (ki__delta_entry *entry = lines[i]->first; entry != NULL; entry = entry->next) {
            ki_str key = ki__object_key(newest(entry)->object);
            bool skip = is_deletion(newest(entry)) || ki__keyset_has(listed, key) ||
                        (i == 0 && ki__delta_table_find(&f->table, key, false) != NULL);
            int r = skip ? 0 : found_add(list, newest(entry)->object);
            if (r < 0) {
                return r;
            }
        }
    }
    return 0;
}

/* Finds all queued or known objects that are missing in the list. */
static int find_missing(delta_fifo *f, const ki_replacement *all, found *list)
{
    ki__keyset listed;
    ki__keyset_init(&listed, f->base.alloc, f->base.hash_key);
    int r = ki__keyset_reset(&listed, all->object_count + all->unread_count);
    if (r >= 0) {
        for (size_t i = 0; i < all->object_count; i++) {
            (void)ki__keyset_add(&listed, ki__object_key(all->objects[i]));
        }
        for (size_t i = 0; i < all->unread_count; i++) {
            (void)ki__keyset_add(&listed, all->unread[i]);
        }
        r = find_queued(f, &listed, list);
    }
    if (r >= 0) {
        r = find_known(f, &listed, list);
    }
    ki__keyset_done(&listed);
    return r;
}

static int reserve(delta_fifo *f, size_t count)
{
    int r = ki__queue_check_room(&f->base, count);
    if (r >= 0) {
        r = ki__delta_table_reserve(&f->table, count);
    }
    if (r < 0) {
        ki__delta_table_trim(&f->table);
    }
    return r;
}

static void add_found(delta_fifo *f, const found *list, ki_delta_type type)
{
    for (size_t i = 0; i < list->count; i++) {
        bool added = add(f, &(ki_delta){.type = type,
                                        .final_state_unknown = type == KI_DELTA_DELETED,
                                        .object = ki_object_ref(list->objects[i])});
        ki_assert(added); /* keys that end with a deletion were not found */
    }
}

static int delta_fifo_replace(ki_queue *queue, ki__list_block **block)
{
    delta_fifo *f = delta_fifo_of(queue);
    const ki_replacement *all = &(*block)->view;
    found missing;
    found_init(&missing, f);
    int r = find_missing(f, all, &missing);
    if (r >= 0) {
        r = reserve(f, all->object_count + missing.count);
    }
    if (r >= 0 && goes_back(f, missing.known, all->resource_version)) {
        r = begin_set_back(f);
    }
    if (r >= 0) {
        note_version(f, all->resource_version != NULL ? all->resource_version : "");
        for (size_t i = 0; i < all->object_count; i++) {
            (void)add(f, &(ki_delta){.type = KI_DELTA_REPLACED,
                                     .object = ki_object_ref(all->objects[i])});
        }
        add_found(f, &missing, KI_DELTA_DELETED);
        ki__delta_table_trim(&f->table);
    }
    found_done(&missing);
    return r;
}

static int delta_fifo_resync(ki_queue *queue)
{
    delta_fifo *f = delta_fifo_of(queue);
    found known;
    found_init(&known, f);
    int r = find_known(f, NULL, &known);
    if (r >= 0) {
        r = reserve(f, known.count);
    }
    if (r >= 0) {
        add_found(f, &known, KI_DELTA_SYNC);
        ki__delta_table_trim(&f->table);
    }
    found_done(&known);
    return r;
}

/* Popping */

static size_t delta_fifo_count_initial(ki_queue *queue)
{
    delta_fifo *f = delta_fifo_of(queue);
    for (ki__delta_entry *entry = f->table.queued.first; entry != NULL; entry = entry->next) {
        entry->initial = true;
    }
    return f->table.queued.count;
}

/* Number of keys for a batch of up to `max`, and their number of deltas. */
static size_t measure_batch(const delta_fifo *f, size_t max, size_t *ret_deltas)
{
    const ki__delta_entry *first = f->table.queued.first;
    size_t keys = 0;
    size_t deltas = 0;
    for (const ki__delta_entry *entry = first; entry != NULL && keys < max; entry = entry->next) {
        if (entry->initial != first->initial || (keys > 0 && deltas + entry->count > max)) {
            break;
        }
        keys++;
        deltas += entry->count;
    }
    *ret_deltas = deltas;
    return keys;
}

static int delta_fifo_take(ki_queue *queue, size_t max_keys)
{
    delta_fifo *f = delta_fifo_of(queue);
    size_t deltas;
    size_t keys = measure_batch(f, max_keys, &deltas);
    int r = ki__queue_reserve_batch(queue, deltas);
    if (r < 0 && keys > 1) { /* out of memory for more: one by one */
        keys = measure_batch(f, 1, &deltas);
        r = ki__queue_reserve_batch(queue, deltas);
    }
    if (r < 0) {
        return r;
    }
    size_t count = 0;
    for (; keys > 0; keys--) {
        const ki__delta_entry *entry = ki__delta_table_take(&f->table);
        for (const ki__delta_node *node = entry->first; node != NULL; node = node->next) {
            queue->batch[count++] = node->delta;
            ki__queue_uncount(queue, &node->delta);
        }
    }
    queue->batch_count = count;
    if (f->table.queued.count == 0) {
        take_set_back(f);
    }
    return 0;
}

static void put_back(delta_fifo *f)
{
    for (size_t i = 0; i < f->base.batch_count; i++) {
        ki__queue_count(&f->base, &f->base.batch[i]);
    }
    ki__delta_table_put_back(&f->table);
}

static size_t delta_fifo_finish(ki_queue *queue, bool again)
{
    delta_fifo *f = delta_fifo_of(queue);
    finish_set_back(f, again);
    if (again) {
        put_back(f);
        return 0;
    }
    size_t initial = 0;
    for (ki__delta_entry *entry = f->table.in_flight.first; entry != NULL; entry = entry->next) {
        initial += entry->initial;
    }
    ki__delta_table_drop(&f->table);
    ki__delta_table_trim(&f->table);
    return initial;
}

static void delta_fifo_clear(ki_queue *queue)
{
    delta_fifo *f = delta_fifo_of(queue);
    while (f->table.queued.count != 0) {
        const ki__delta_entry *entry = ki__delta_table_take(&f->table);
        for (const ki__delta_node *node = entry->first; node != NULL; node = node->next) {
            ki__queue_uncount(queue, &node->delta);
            ki__delta_release(queue, &node->delta);
        }
        ki__delta_table_drop(&f->table);
    }
    ki__delta_table_trim(&f->table);
    ki__free(queue->alloc, f->set_back); /* the next list decides again */
    f->set_back = NULL;
}

static void delta_fifo_done(ki_queue *queue)
{
    delta_fifo *f = delta_fifo_of(queue);
    ki__delta_table_done(&f->table);
    ki__free(f->base.alloc, f->set_back);
    (void)ki_store_unref(f->known);
}

static const ki__queue_kind delta_fifo_kind = {
    .push = delta_fifo_push,
    .push_key = delta_fifo_push_key,
    .replace = delta_fifo_replace,
    .resync = delta_fifo_resync,
    .count_initial = delta_fifo_count_initial,
    .take = delta_fifo_take,
    .finish = delta_fifo_finish,
    .clear = delta_fifo_clear,
    .done = delta_fifo_done,
};

int ki_delta_fifo_new(const ki_queue_options *options, ki_queue **ret_queue, ki_error *error)
{
    KI__REQUIRE(ret_queue, error);
    ki_queue_options o;
    int r = KI__TAKE(ki_queue_options, &o, options, error);
    if (r < 0) {
        return r;
    }
    r = ki__queue_new(&delta_fifo_kind, sizeof(delta_fifo), &o, ret_queue, error);
    if (r >= 0) {
        delta_fifo *f = delta_fifo_of(*ret_queue);
        f->known = ki_store_ref(o.known);
        ki__delta_table_init(&f->table, (*ret_queue)->alloc, (*ret_queue)->hash_key);
    }
    return r;
}
