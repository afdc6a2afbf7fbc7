/* SPDX-License-Identifier: Apache-2.0 */
/* Merging of notifications in the queue of a handler: which two of one key become one, and the
 * index of the last one of each key. Notifications have increasing numbers, so the index stays
 * valid when the ring moves. The index exists only while the queue exceeds the limit. Without
 * memory for it nothing is merged: merging saves memory, and is not needed for correctness. */
#include "cache/informer/handler_queue_merge.h"

#include <kinformer/error.h>

#include "base/assert.h"
#include "object/object.h"

/* ---- the index ---- */

void ki__merge_index_drop(ki__handler_queue *queue)
{
    ki__map_done(&queue->last);
    queue->indexed = false;
}

/* Map values are pointers; NULL means absent. */
static int index_note(ki__handler_queue *queue, const ki_object *object, size_t number)
{
    void *value = (void *)(uintptr_t)(number + 1);
    if (value == NULL) {
        return KI_ERR_LIMIT; /* numbers have wrapped around */
    }
    return ki__map_set(&queue->last, ki__object_key(object), value, NULL);
}

/* Retries later, but not each time: building an index is linear in the queue length. */
static void put_off_index(ki__handler_queue *queue)
{
    ki__merge_index_drop(queue);
    queue->index_at = queue->count + queue->count / 8 + 1;
}

void ki__merge_index_make(ki__handler_queue *queue)
{
    if (queue->indexed || queue->count < queue->index_at) {
        return;
    }
    int r = 0;
    for (size_t i = queue->head; r == 0 && i != queue->head + queue->count; i++) {
        const ki__note *note = ki__handler_queue_at(queue, i);
        r = note->object != NULL ? index_note(queue, note->object, i) : 0;
    }
    if (r < 0) {
        put_off_index(queue);
        return;
    }
    queue->indexed = true;
}

void ki__merge_index_add(ki__handler_queue *queue, size_t number)
{
    if (queue->indexed &&
        index_note(queue, ki__handler_queue_at(queue, number)->object, number) < 0) {
        put_off_index(queue);
    }
}

/* Whether the last pending notification of the object's key is known, and its number. */
static bool find_last(const ki__handler_queue *queue, const ki_object *object, size_t *ret_number)
{
    if (!queue->indexed) {
        return false;
    }
    const void *value = ki__map_get(&queue->last, ki__object_key(object));
    *ret_number = (size_t)(uintptr_t)value - 1;
    return value != NULL;
}

void ki__merge_index_forget(ki__handler_queue *queue, const ki__note *note, size_t number)
{
    size_t last;
    if (find_last(queue, note->object, &last) && last == number) {
        (void)ki__map_remove(&queue->last, ki__object_key(note->object));
    }
}

/* ---- merging ---- */

/* Drops a pending notification in the middle of the ring. */
static void leave_out(ki__handler_queue *queue, size_t number)
{
    ki__note *waiting = ki__handler_queue_at(queue, number);
    ki__merge_index_forget(queue, waiting, number);
    queue->initial_count -= waiting->is_initial;
    queue->merged += 2; /* it and the delete that cancels it */
    queue->left_out += 2 + (uint64_t)waiting->merged;
    ki__note_bytes_add(queue->note_bytes, 0 - ki__note_bytes(waiting));
    ki__note_unref(waiting);
    *waiting = (ki__note){.time_ms = waiting->time_ms};
    queue->dead++;
}

/* Replaces the object of a pending notification by that of `note`; it is one of `type` from here
 * on. Its key is equal, but the index must borrow it from the object that stays; replacing an
 * existing key cannot fail. */
static void renew(ki__handler_queue *queue, size_t number, const ki__note *note, ki__note_type type)
{
    ki__note *waiting = ki__handler_queue_at(queue, number);
    const ki_object *before = waiting->object;
    ki__note_bytes_add(queue->note_bytes, 0 - ki__note_bytes(waiting));
    waiting->object = ki_object_ref(note->object);
    waiting->apart = note->apart;
    waiting->type = type;
    ki__note_bytes_add(queue->note_bytes, ki__note_bytes(waiting));
    int r = index_note(queue, waiting->object, number);
    ki_assert(r == 0);
    waiting->merged++;
    queue->merged++;
    (void)ki_object_unref(before);
}

/* Whether the notification was merged into a pending one. */
bool ki__merge(ki__handler_queue *queue, const ki__note *note)
{
    size_t number;
    if (queue->count - queue->dead < queue->limit || !find_last(queue, note->object, &number) ||
        ki__handler_queue_is_before_resync(queue, number)) {
        return false;
    }
    ki__note *waiting = ki__handler_queue_at(queue, number);
    bool pending = waiting->type == KI__NOTE_ADD || waiting->type == KI__NOTE_UPDATE;
    switch (note->type) {
    case KI__NOTE_UPDATE:
        if (!pending) {
            return false;
        }
        renew(queue, number, note, waiting->type);
        waiting->same_version = waiting->same_version && note->same_version;
        return true;
    case KI__NOTE_SYNC: /* there is a pending notification anyway */
        if (!pending && waiting->type != KI__NOTE_SYNC) {
            return false;
        }
        renew(queue, number, note, waiting->type);
        return true;
    case KI__NOTE_DELETE:
        if (waiting->type == KI__NOTE_ADD) {
            leave_out(queue, number);
            return true;
        }
        if (waiting->type != KI__NOTE_UPDATE) {
            return false;
        }
        renew(queue, number, note, KI__NOTE_DELETE);
        waiting->final_state_unknown = note->final_state_unknown;
        waiting->same_version = false;
        return true;
    default:
        return false;
    }
}
