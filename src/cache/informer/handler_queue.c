/* SPDX-License-Identifier: Apache-2.0 */
/* The queue of a handler: a snapshot being iterated, shared batches, and a ring for the rest.
 * Merging is in handler_queue_merge.c. */
#include "cache/informer/handler_queue.h"

#include <errno.h>

#include <kinformer/error.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "cache/informer/handler_queue_merge.h"

enum { RING_MIN = 16, RING_KEPT = 1024, SHARED_MIN = 8 };
#define KEYS_MAX ((size_t)1 << 31)

void ki__handler_queue_init(ki__handler_queue *queue, const ki_alloc *alloc, ki__hash_key hash_key,
                            size_t limit)
{
    *queue = (ki__handler_queue){.alloc = alloc, .limit = limit, .index_at = limit};
    ki__map_init(&queue->last, alloc, hash_key, KEYS_MAX);
}

/* ---- shared batches ---- */

static ki__notes **shared_at(const ki__handler_queue *queue, size_t position)
{
    return &queue->shared[(queue->shared_head + position) & (queue->shared_cap - 1)];
}

static int grow_shared(ki__handler_queue *queue)
{
    size_t cap = queue->shared_cap != 0 ? queue->shared_cap * 2 : SHARED_MIN;
    ki__notes **shared = ki__alloc_array(queue->alloc, cap, sizeof(ki__notes *));
    if (shared == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < queue->shared_count; i++) {
        shared[i] = *shared_at(queue, i);
    }
    ki__free(queue->alloc, queue->shared);
    queue->shared = shared;
    queue->shared_cap = cap;
    queue->shared_head = 0;
    return 0;
}

/* Takes up to `max` notifications from the first batch, and drops the batch with its last one. */
static const ki__note *take_shared(ki__handler_queue *queue, size_t max, size_t *ret_count,
                                   ki__notes **ret_notes)
{
    ki__notes *notes = *shared_at(queue, 0);
    size_t at = queue->shared_at;
    size_t count = notes->count - at < max ? notes->count - at : max;
    queue->shared_at += count;
    queue->shared_left -= count;
    queue->shared_initial -= notes->is_initial ? count : 0;
    if (queue->shared_at == notes->count) {
        queue->shared_head++;
        queue->shared_count--;
        queue->shared_at = 0;
        *ret_notes = notes;
    } else {
        *ret_notes = ki__notes_ref(notes);
    }
    *ret_count = count;
    return &notes->notes[at];
}

void ki__handler_queue_share(ki__handler_queue *queue, ki__notes *notes)
{
    ki_assert(queue->count == 0 && queue->resync == NULL);
    ki_assert(queue->shared_count < queue->shared_cap);
    *shared_at(queue, queue->shared_count++) = ki__notes_ref(notes);
    queue->shared_left += notes->count;
    queue->shared_initial += notes->is_initial ? notes->count : 0;
}

static void append(ki__handler_queue *queue, const ki__note *note);

/* Converts all shared notifications to own ones; space was reserved. They precede a queued resync,
 * since nothing is shared while one is queued. */
static void unshare(ki__handler_queue *queue)
{
    queue->resync_at += queue->shared_left;
    while (queue->shared_count != 0) {
        ki__notes *notes;
        size_t count;
        const ki__note *first = take_shared(queue, SIZE_MAX, &count, &notes);
        for (size_t i = 0; i < count; i++) {
            append(queue, &first[i]);
        }
        (void)ki__notes_unref(notes);
    }
}

void ki__handler_queue_shareable(const ki__handler_queue *queue, size_t *ret_notes,
                                 size_t *ret_batches)
{
    bool keeps_up =
        queue->count == 0 && queue->resync == NULL && queue->shared_left <= queue->limit;
    *ret_notes = keeps_up ? queue->limit - queue->shared_left : 0;
    *ret_batches = queue->shared_cap - queue->shared_count;
}

int ki__handler_queue_reserve_shared(ki__handler_queue *queue, size_t count)
{
    size_t notes;
    size_t batches;
    ki__handler_queue_shareable(queue, &notes, &batches);
    if (count > notes) {
        return ki__handler_queue_reserve(queue, count);
    }
    int r = batches == 0 ? grow_shared(queue) : 0;
    return r < 0 ? r : 1;
}

/* ---- capacity ---- */

/* Moves pending notifications to a ring of `cap` slots, without dropped ones. */
static int move_ring(ki__handler_queue *queue, size_t cap)
{
    ki__note *ring = ki__alloc_array(queue->alloc, cap, sizeof(*ring));
    if (ring == NULL) {
        return -ENOMEM;
    }
    ki__merge_index_drop(queue); /* numbers change */
    size_t live = 0;
    size_t before_resync = 0;
    for (size_t i = queue->head; i != queue->head + queue->count; i++) {
        if (ki__handler_queue_at(queue, i)->object != NULL) {
            ring[live++] = *ki__handler_queue_at(queue, i);
            before_resync += ki__handler_queue_is_before_resync(queue, i);
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

static int make_room(ki__handler_queue *queue, size_t count)
{
    if (count <= queue->cap - queue->count) {
        return 0;
    }
    size_t live = queue->count - queue->dead;
    if (count > SIZE_MAX / 4 - live) {
        return -ENOMEM;
    }
    size_t cap = queue->cap != 0 ? queue->cap : RING_MIN;
    while (cap < live || cap - live < count + live / 2) { /* only if moving pays off */
        cap *= 2;
    }
    return move_ring(queue, cap);
}

int ki__handler_queue_reserve(ki__handler_queue *queue, size_t count)
{
    if (count > SIZE_MAX / 4) {
        return -ENOMEM;
    }
    int r = count != 0 ? make_room(queue, queue->shared_left + count) : 0;
    if (r == 0 && count != 0) {
        unshare(queue);
    }
    queue->reserved = r == 0 ? count : 0;
    return r;
}

/* Frees memory after a burst. */
static void after_pop(ki__handler_queue *queue)
{
    if (queue->indexed && queue->count <= queue->limit / 2) {
        ki__merge_index_drop(queue);
    }
    if (queue->count != 0) {
        return;
    }
    queue->index_at = queue->limit;
    if (queue->cap > RING_KEPT && queue->reserved == 0) {
        ki__free(queue->alloc, queue->ring);
        queue->ring = NULL;
        queue->cap = 0;
    }
}

/* ---- the queue ---- */

static void begin_walk(ki__handler_queue *queue, ki_snapshot *snapshot, bool is_initial,
                       uint32_t time_ms)
{
    queue->walk_ms = time_ms;
    queue->snapshot = snapshot;
    queue->walk = ki_snapshot_iter_begin(snapshot);
    queue->walk_left = ki_snapshot_count(snapshot);
    queue->walk_is_initial = is_initial;
}

void ki__handler_queue_begin(ki__handler_queue *queue, ki_snapshot *snapshot)
{
    ki_assert(queue->count == 0 && queue->shared_count == 0);
    ki_assert(queue->snapshot == NULL && queue->resync == NULL);
    if (ki_snapshot_count(snapshot) != 0) {
        begin_walk(queue, snapshot, true, queue->time_ms);
    } else {
        (void)ki_snapshot_unref(snapshot);
    }
}

void ki__handler_queue_resync(ki__handler_queue *queue, ki_snapshot *snapshot)
{
    size_t count = ki_snapshot_count(snapshot);
    if (queue->resync != NULL || count == 0) {
        queue->merged += count;
        queue->left_out += count;
        (void)ki_snapshot_unref(snapshot);
        return;
    }
    queue->resync = snapshot;
    queue->resync_ms = queue->time_ms;
    queue->resync_at = queue->head + queue->count;
}

static void append(ki__handler_queue *queue, const ki__note *note)
{
    ki_assert(queue->count < queue->cap);
    ki__note *place = ki__handler_queue_at(queue, queue->head + queue->count++);
    *place = *note;
    (void)ki_object_ref(place->old);
    (void)ki_object_ref(place->object);
    queue->initial_count += note->is_initial;
    ki__note_bytes_add(queue->note_bytes, ki__note_bytes(note));
}

void ki__handler_queue_unreserve(ki__handler_queue *queue)
{
    queue->reserved = 0;
    after_pop(queue);
}

void ki__handler_queue_push(ki__handler_queue *queue, const ki__note *note)
{
    ki_assert(queue->reserved != 0 && queue->shared_count == 0);
    queue->reserved--;
    ki__merge_index_make(queue);
    if (ki__merge(queue, note)) {
        return;
    }
    append(queue, note);
    ki__merge_index_add(queue, queue->head + queue->count - 1);
}

/* Objects of the iteration are borrowed from the snapshot, which the hand holds. */
static size_t take_from_walk(ki__handler_queue *queue, size_t max, ki__hand *hand)
{
    size_t count = 0;
    for (; count < max && count < KI__HAND_OWN && queue->walk_left != 0; queue->walk_left--) {
        const ki_object *object = NULL;
        (void)ki_snapshot_iter_next(&queue->walk, &object);
        ki_assert(object != NULL);
        hand->own[count++] = (ki__note){
            .type = queue->walk_is_initial ? KI__NOTE_ADD : KI__NOTE_SYNC,
            .is_initial = queue->walk_is_initial,
            .object = object,
            .time_ms = queue->walk_ms,
        };
    }
    hand->snapshot = queue->walk_left != 0 ? ki_snapshot_ref(queue->snapshot) : queue->snapshot;
    if (queue->walk_left == 0) {
        queue->snapshot = NULL; /* not left to the next take, which may never come */
    }
    return count;
}

/* Takes the first slot of the ring; 0 if it was dropped. */
static size_t take_from_ring(ki__handler_queue *queue, ki__hand *hand)
{
    size_t number = queue->head;
    ki__note *first = ki__handler_queue_at(queue, number);
    hand->owns = first->object != NULL;
    if (hand->owns) {
        ki__merge_index_forget(queue, first, number);
        queue->initial_count -= first->is_initial;
        ki__note_bytes_add(queue->note_bytes, 0 - ki__note_bytes(first));
        hand->own[0] = *first;
    } else {
        queue->dead--;
    }
    queue->head++;
    queue->count--;
    after_pop(queue);
    return hand->owns;
}

bool ki__handler_queue_take(ki__handler_queue *queue, size_t max, ki__hand *ret_hand)
{
    ki__hand *hand = ret_hand;
    hand->notes = hand->own;
    hand->count = 0;
    hand->owns = false;
    hand->shared = NULL;
    hand->snapshot = NULL;
    max = max < KI__HAND_MAX ? max : KI__HAND_MAX;
    while (hand->count == 0) {
        if (queue->snapshot != NULL) {
            hand->count = take_from_walk(queue, max, hand);
        } else if (queue->shared_count != 0) {
            hand->notes = take_shared(queue, max, &hand->count, &hand->shared);
        } else if (queue->resync != NULL && queue->head == queue->resync_at) {
            begin_walk(queue, queue->resync, false, queue->resync_ms);
            queue->resync = NULL;
        } else if (queue->count != 0) {
            hand->count = take_from_ring(queue, hand);
        } else {
            return false;
        }
    }
    hand->left_out = queue->left_out;
    queue->left_out = 0;
    return true;
}

void ki__hand_done(ki__hand *hand)
{
    if (hand->owns) {
        ki__note_unref(&hand->own[0]);
    }
    (void)ki__notes_unref(hand->shared);
    (void)ki_snapshot_unref(hand->snapshot);
}

void ki__handler_queue_done(ki__handler_queue *queue)
{
    queue->snapshot = ki_snapshot_unref(queue->snapshot);
    queue->walk_left = 0;
    queue->resync = ki_snapshot_unref(queue->resync);
    ki__merge_index_drop(queue);
    for (size_t i = queue->head; i != queue->head + queue->count; i++) {
        ki__note *note = ki__handler_queue_at(queue, i);
        ki__note_bytes_add(queue->note_bytes, note->object != NULL ? 0 - ki__note_bytes(note) : 0);
        ki__note_unref(note);
    }
    while (queue->shared_count != 0) {
        (void)ki__notes_unref(*shared_at(queue, --queue->shared_count));
    }
    ki__free(queue->alloc, queue->shared);
    queue->shared = NULL;
    queue->shared_cap = 0;
    queue->shared_head = 0;
    queue->shared_at = 0;
    queue->shared_left = 0;
    queue->shared_initial = 0;
    queue->reserved = 0;
    ki__free(queue->alloc, queue->ring);
    queue->ring = NULL;
    queue->cap = 0;
    queue->count = 0;
    queue->dead = 0;
    queue->initial_count = 0;
    queue->left_out = 0;
    queue->index_at = queue->limit;
}

bool ki__handler_queue_oldest(const ki__handler_queue *queue, uint32_t *ret_time_ms)
{
    if (queue->snapshot != NULL) {
        *ret_time_ms = queue->walk_ms;
    } else if (queue->shared_count != 0) {
        *ret_time_ms = (*shared_at(queue, 0))->notes[queue->shared_at].time_ms;
    } else if (queue->resync != NULL && queue->head == queue->resync_at) {
        *ret_time_ms = queue->resync_ms;
    } else if (queue->count != 0) {
        *ret_time_ms =
            ki__handler_queue_at(queue, queue->head)->time_ms; /* also if it was dropped */
    } else {
        return false;
    }
    return true;
}

size_t ki__handler_queue_initial(const ki__handler_queue *queue)
{
    size_t walk = queue->walk_is_initial ? queue->walk_left : 0;
    return walk + queue->shared_initial + queue->initial_count;
}
