/* SPDX-License-Identifier: Apache-2.0 */
/* Notes stand in a ring and are known by number, which only rises; so the index over the keys can
 * name a note wherever the ring moves to. The index is there only while more wait than the limit
 * allows, and without memory for it nothing is merged: it is a means to save, not to be right. */
#include "cache/handler_queue.h"

#include <errno.h>

#include <kinformer/error.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/mutant.h"
#include "object/object.h"

enum { RING_MIN = 16, RING_KEPT = 1024 };
#define KEYS_MAX ((size_t)1 << 31)

void ki__handler_queue_init(ki__handler_queue *queue, const ki_alloc *alloc, ki__hash_key hash_key,
                            size_t limit)
{
    *queue = (ki__handler_queue){.alloc = alloc, .limit = limit, .index_at = limit};
    ki__map_init(&queue->last, alloc, hash_key, KEYS_MAX);
}

static ki__note *at(const ki__handler_queue *queue, size_t number)
{
    return &queue->ring[number & (queue->cap - 1)];
}

void ki__note_unref(ki__note *note)
{
    (void)ki_object_unref(note->old);
    (void)ki_object_unref(note->object);
    note->old = NULL;
    note->object = NULL;
}

/* ---- the index ---- */

static void drop_index(ki__handler_queue *queue)
{
    ki__map_done(&queue->last);
    queue->indexed = false;
}

/* Map values are pointers, and NULL is none. */
static int note_last(ki__handler_queue *queue, const ki_object *object, size_t number)
{
    void *value = (void *)(uintptr_t)(number + 1);
    if (value == NULL) {
        return KI_ERR_LIMIT; /* after so many that numbers begin anew */
    }
    return ki__map_set(&queue->last, ki__object_key(object), value, NULL);
}

static void make_index(ki__handler_queue *queue)
{
    if (queue->indexed || queue->count < queue->index_at || KI__MUTANT(31)) {
        return;
    }
    int r = 0;
    for (size_t i = queue->head; r == 0 && i != queue->head + queue->count; i++) {
        const ki__note *note = at(queue, i);
        r = note->object != NULL ? note_last(queue, note->object, i) : 0;
    }
    if (r < 0) {
        drop_index(queue);
        queue->index_at = queue->count * 2; /* try again, but not each time */
        return;
    }
    queue->indexed = true;
}

/* Whether the last waiting note of the object's key is known, and which it is. */
static bool find_last(const ki__handler_queue *queue, const ki_object *object, size_t *ret_number)
{
    if (!queue->indexed) {
        return false;
    }
    const void *value = ki__map_get(&queue->last, ki__object_key(object));
    *ret_number = (size_t)(uintptr_t)value - 1;
    return value != NULL;
}

static void forget_last(ki__handler_queue *queue, const ki__note *note, size_t number)
{
    size_t last;
    if (find_last(queue, note->object, &last) && last == number) {
        (void)ki__map_remove(&queue->last, ki__object_key(note->object));
    }
}

/* ---- room ---- */

static bool is_before_resync(const ki__handler_queue *queue, size_t number)
{
    return queue->resync != NULL && number - queue->head < queue->resync_at - queue->head;
}

/* Moves what waits into a ring of `cap` places, without what was left out. */
static int move_ring(ki__handler_queue *queue, size_t cap)
{
    ki__note *ring = ki__alloc_array(queue->alloc, cap, sizeof(*ring));
    if (ring == NULL) {
        return -ENOMEM;
    }
    drop_index(queue); /* numbers change */
    size_t live = 0;
    size_t before_resync = 0;
    for (size_t i = queue->head; i != queue->head + queue->count; i++) {
        if (at(queue, i)->object != NULL) {
            ring[live++] = *at(queue, i);
            before_resync += is_before_resync(queue, i);
        }
    }
    ki__free(queue->alloc, queue->ring);
    queue->ring = ring;
    queue->cap = cap;
    queue->head = 0;
    queue->count = live;
    queue->dead = 0;
    queue->resync_at = before_resync;
    return 0;
}

int ki__handler_queue_reserve(ki__handler_queue *queue, size_t count)
{
    if (count <= queue->cap - queue->count) {
        return 0;
    }
    size_t live = queue->count - queue->dead;
    if (count > SIZE_MAX / 4 - live) {
        return -ENOMEM;
    }
    size_t cap = queue->cap != 0 ? queue->cap : RING_MIN;
    while (cap < live || cap - live < count + live / 2) { /* moving must pay */
        cap *= 2;
    }
    return move_ring(queue, cap);
}

/* Gives memory back after a flood. */
static void after_pop(ki__handler_queue *queue)
{
    if (queue->indexed && queue->count <= queue->limit / 2) {
        drop_index(queue);
    }
    if (queue->count != 0) {
        return;
    }
    queue->index_at = queue->limit;
    if (queue->cap > RING_KEPT) {
        ki__free(queue->alloc, queue->ring);
        queue->ring = NULL;
        queue->cap = 0;
    }
}

/* ---- merging ---- */

/* Takes a waiting note out from between others. */
static void leave_out(ki__handler_queue *queue, size_t number)
{
    ki__note *waiting = at(queue, number);
    forget_last(queue, waiting, number);
    queue->initial_count -= waiting->is_initial;
    queue->merged += 2; /* it, and the delete that it goes with */
    ki__note_unref(waiting);
    *waiting = (ki__note){0};
    queue->dead++;
}

/* Puts a newer object into a waiting note. Its key is the same, but the index must borrow it from
 * the object that stays; putting a key anew cannot fail. */
static void renew(ki__handler_queue *queue, size_t number, const ki_object *object)
{
    ki__note *waiting = at(queue, number);
    const ki_object *before = waiting->object;
    waiting->object = ki_object_ref(object);
    int r = note_last(queue, waiting->object, number);
    ki_assert(r == 0);
    waiting->merged++;
    queue->merged++;
    (void)ki_object_unref(before);
}

/* Whether the note went into one that waits. */
static bool merge(ki__handler_queue *queue, const ki__note *note)
{
    size_t number;
    if (queue->count - queue->dead < queue->limit || !find_last(queue, note->object, &number) ||
        is_before_resync(queue, number)) {
        return false;
    }
    ki__note *waiting = at(queue, number);
    bool pending = waiting->type == KI__NOTE_ADD || waiting->type == KI__NOTE_UPDATE;
    switch (note->type) {
    case KI__NOTE_UPDATE:
        if (!pending) {
            return false;
        }
        if (KI__MUTANT(22) && waiting->old != NULL) { /* from what the store had, not the handler */
            (void)ki_object_unref(waiting->old);
            waiting->old = ki_object_ref(note->old);
        }
        renew(queue, number, note->object);
        waiting->same_version = waiting->same_version && note->same_version;
        return true;
    case KI__NOTE_SYNC: /* there is news of the object anyway */
        if (!pending && waiting->type != KI__NOTE_SYNC) {
            return false;
        }
        renew(queue, number, note->object);
        return true;
    case KI__NOTE_DELETE:
        if (waiting->type == KI__NOTE_ADD || (KI__MUTANT(21) && pending)) {
            leave_out(queue, number);
            return true;
        }
        if (waiting->type != KI__NOTE_UPDATE) {
            return false;
        }
        renew(queue, number, note->object);
        waiting->type = KI__NOTE_DELETE;
        waiting->final_state_unknown = note->final_state_unknown;
        waiting->same_version = false;
        return true;
    default:
        return false;
    }
}

/* ---- the queue ---- */

static void begin_walk(ki__handler_queue *queue, ki_snapshot *snapshot, bool is_initial)
{
    queue->snapshot = snapshot;
    queue->walk = ki_snapshot_all(snapshot);
    queue->walk_left = ki_snapshot_count(snapshot);
    queue->walk_is_initial = is_initial;
}

void ki__handler_queue_begin(ki__handler_queue *queue, ki_snapshot *snapshot)
{
    ki_assert(queue->count == 0 && queue->snapshot == NULL && queue->resync == NULL);
    begin_walk(queue, snapshot, true);
}

void ki__handler_queue_resync(ki__handler_queue *queue, ki_snapshot *snapshot)
{
    size_t count = ki_snapshot_count(snapshot);
    if (queue->resync != NULL || count == 0) {
        queue->merged += count;
        (void)ki_snapshot_unref(snapshot);
        return;
    }
    queue->resync = snapshot;
    queue->resync_at = queue->head + queue->count;
}

static void end_walk(ki__handler_queue *queue)
{
    queue->snapshot = ki_snapshot_unref(queue->snapshot);
    queue->walk_left = 0;
}

void ki__handler_queue_push(ki__handler_queue *queue, const ki__note *note)
{
    make_index(queue);
    if (merge(queue, note)) {
        return;
    }
    ki_assert(queue->count < queue->cap);
    size_t number = queue->head + queue->count++;
    ki__note *place = at(queue, number);
    *place = *note;
    place->old = ki_object_ref(note->old);
    place->object = ki_object_ref(note->object);
    queue->initial_count += note->is_initial;
    if (queue->indexed && note_last(queue, place->object, number) < 0) {
        drop_index(queue);
        queue->index_at = queue->count * 2;
    }
}

static bool pop_from_walk(ki__handler_queue *queue, ki__note *ret_note)
{
    const ki_object *object = ki_snapshot_next(&queue->walk);
    if (object == NULL) {
        end_walk(queue);
        return false;
    }
    queue->walk_left--;
    *ret_note = (ki__note){
        .type = queue->walk_is_initial ? KI__NOTE_ADD : KI__NOTE_SYNC,
        .is_initial = queue->walk_is_initial,
        .object = ki_object_ref(object),
    };
    if (queue->walk_left == 0) {
        end_walk(queue); /* nobody may come for what is not there */
    }
    return true;
}

/* Takes the first place of the ring; false if it was left out. */
static bool pop_from_ring(ki__handler_queue *queue, ki__note *ret_note)
{
    size_t number = queue->head;
    ki__note *first = at(queue, number);
    bool live = first->object != NULL;
    if (live) {
        forget_last(queue, first, number);
        queue->initial_count -= first->is_initial;
        *ret_note = *first;
    } else {
        queue->dead--;
    }
    queue->head++;
    queue->count--;
    after_pop(queue);
    return live;
}

bool ki__handler_queue_pop(ki__handler_queue *queue, ki__note *ret_note)
{
    for (;;) {
        if (queue->snapshot != NULL && pop_from_walk(queue, ret_note)) {
            return true;
        }
        if (queue->resync != NULL && queue->head == queue->resync_at) {
            begin_walk(queue, queue->resync, false);
            queue->resync = NULL;
        } else if (queue->count == 0) {
            return false;
        } else if (pop_from_ring(queue, ret_note)) {
            return true;
        }
    }
}

void ki__handler_queue_done(ki__handler_queue *queue)
{
    if (queue->snapshot != NULL) {
        end_walk(queue);
    }
    queue->resync = ki_snapshot_unref(queue->resync);
    drop_index(queue);
    for (size_t i = queue->head; i != queue->head + queue->count; i++) {
        ki__note_unref(at(queue, i));
    }
    ki__free(queue->alloc, queue->ring);
    queue->ring = NULL;
    queue->cap = 0;
    queue->count = 0;
    queue->dead = 0;
    queue->initial_count = 0;
    queue->index_at = queue->limit;
}

size_t ki__handler_queue_len(const ki__handler_queue *queue)
{
    size_t resync = queue->resync != NULL ? ki_snapshot_count(queue->resync) : 0;
    return queue->walk_left + queue->count - queue->dead + resync;
}

size_t ki__handler_queue_initial(const ki__handler_queue *queue)
{
    return (queue->walk_is_initial ? queue->walk_left : 0) + queue->initial_count;
}
