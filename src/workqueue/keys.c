/* SPDX-License-Identifier: Apache-2.0 */
/* The entries of a work queue and their states.
 * Invariant: there is room in `delayed` for all entries, so a known key can always be delayed. */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "workqueue/queue.h"

enum {
    IDLE_MAX = 256, /* entries that are kept */
    ROOM_STEP = 32, /* so that one entry can be used again for another key */
    ROOM_KEPT = 256,
};

ki__work_entry *ki__workqueue_find(const ki_workqueue *queue, uint64_t hash, ki_str key)
{
    return ki__map_get_hashed(&queue->keys, hash, key);
}

/* Takes the entry that is idle longest out of the map: nobody knows it any more. */
static ki__work_entry *evict(ki_workqueue *queue)
{
    ki__work_entry *entry = KI__CONTAINER_OF(queue->idle.next, ki__work_entry, link);
    ki__workqueue_rouse(queue, entry);
    ki__map_remove_hashed(&queue->keys, entry->hash, entry);
    return entry;
}

/* An entry with room for `room` bytes: one that is kept, if there are enough of those, or a new
 * one. */
static ki__work_entry *entry_make(ki_workqueue *queue, size_t room)
{
    if (queue->idle_len == IDLE_MAX ||
        (queue->idle_len != 0 && queue->keys.count == queue->keys.max)) {
        ki__work_entry *entry = evict(queue);
        if (entry->room >= room) {
            return entry;
        }
        ki__free(queue->alloc, entry);
    }
    room = (room + ROOM_STEP - 1) / ROOM_STEP * ROOM_STEP;
    ki__work_entry *entry = ki__alloc(queue->alloc, sizeof(*entry) + room);
    if (entry != NULL) {
        entry->room = (uint32_t)room;
    }
    return entry;
}

int ki__workqueue_learn(ki_workqueue *queue, uint64_t hash, ki_str key, ki__work_entry **ret_entry)
{
    if (queue->clock != NULL) {
        int r = ki__deadlines_reserve(&queue->delayed, queue->keys.count + 1);
        if (r < 0) {
            return r;
        }
    }
    ki__work_entry *entry = entry_make(queue, key.len + 1);
    if (entry == NULL) {
        return -ENOMEM;
    }
    ki__list_init(&entry->link);
    entry->delay.position = 0;
    entry->hash = hash;
    entry->len = (uint16_t)key.len;
    entry->state = WORK_IDLE;
    if (key.len != 0) {
        memcpy(entry->bytes, key.ptr, key.len);
    }
    entry->bytes[key.len] = '\0';
    int r = ki__map_add_hashed(&queue->keys, hash, ki_str_make(entry->bytes, key.len), entry);
    if (r < 0) {
        ki__free(queue->alloc, entry);
        return r;
    }
    *ret_entry = entry;
    return 0;
}

void ki__workqueue_rest(ki_workqueue *queue, ki__work_entry *entry)
{
    ki_assert(entry->state == WORK_IDLE && !ki__deadline_is_set(&entry->delay));
    if (queue->idle_len < IDLE_MAX && entry->room <= ROOM_KEPT) {
        ki__list_push_back(&queue->idle, &entry->link);
        queue->idle_len++;
        return;
    }
    ki__map_remove_hashed(&queue->keys, entry->hash, entry);
    ki__deadlines_trim(&queue->delayed, queue->keys.count);
    ki__free(queue->alloc, entry);
}

void ki__workqueue_unlearn_all(ki_workqueue *queue)
{
    size_t position = 0;
    ki__work_entry *entry;
    while ((entry = ki__map_next(&queue->keys, &position)) != NULL) {
        ki__free(queue->alloc, entry);
    }
    ki__map_done(&queue->keys);
}

const uint8_t ki__work_next[WORK_STATE_MAX][WORK_EVENT_MAX] = {
    [WORK_IDLE] = {WORK_QUEUED, WORK_STATE_MAX, WORK_STATE_MAX},
    [WORK_QUEUED] = {WORK_QUEUED, WORK_PROCESSING, WORK_STATE_MAX},
    [WORK_PROCESSING] = {WORK_DIRTY, WORK_STATE_MAX, WORK_IDLE},
    [WORK_DIRTY] = {WORK_DIRTY, WORK_STATE_MAX, WORK_QUEUED},
};
