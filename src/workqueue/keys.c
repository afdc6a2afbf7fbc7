/* SPDX-License-Identifier: Apache-2.0 */
/* The entries of a work queue and their states. Invariant: `delayed` has capacity for all entries,
 * so a known key can always be delayed. */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/bytes.h"
#include "workqueue/workqueue_state.h"

enum {
    IDLE_TURNS = 16, /* the number of idle entries kept shrinks by one in so many uses */
    ROOM_STEP = 32,  /* so that entries can be reused for other keys */
    ROOM_KEPT = 256,
    BUCKETS_MIN = 64,
};

/* ---- the hash table: chained entries, load factor at most 3/4 ---- */

static int resize(ki_workqueue *queue, size_t count)
{
    ki__work_entry **buckets = ki__alloc_array(queue->alloc, count, sizeof(ki__work_entry *));
    if (buckets == NULL) {
        return -ENOMEM;
    }
    memset(buckets, 0, count * sizeof(ki__work_entry *));
    for (size_t i = 0; i < queue->bucket_count; i++) {
        ki__work_entry *entry = queue->buckets[i];
        while (entry != NULL) {
            ki__work_entry *next = entry->next_in_bucket;
            ki__work_entry **bucket = &buckets[entry->hash & (count - 1)];
            entry->next_in_bucket = *bucket;
            *bucket = entry;
            entry = next;
        }
    }
    ki__free(queue->alloc, queue->buckets);
    queue->buckets = buckets;
    queue->bucket_count = count;
    return 0;
}

/* Reserves capacity for one more. KI_ERR_LIMIT or -ENOMEM. */
static int reserve_key(ki_workqueue *queue)
{
    if (queue->key_count >= queue->max_keys) {
        return KI_ERR_LIMIT;
    }
    if (queue->key_count < queue->bucket_count * 3 / 4) {
        return 0;
    }
    return resize(queue, queue->bucket_count != 0 ? queue->bucket_count * 2 : BUCKETS_MIN);
}

static void add_key(ki_workqueue *queue, ki__work_entry *entry)
{
    ki__work_entry **bucket = &queue->buckets[entry->hash & (queue->bucket_count - 1)];
    entry->next_in_bucket = *bucket;
    *bucket = entry;
    queue->key_count++;
}

/* Shrinks a table that has become far too large, if there is memory for the smaller one. */
static void remove_key(ki_workqueue *queue, const ki__work_entry *entry)
{
    ki__work_entry **at = &queue->buckets[entry->hash & (queue->bucket_count - 1)];
    while (*at != entry) {
        ki_assert(*at != NULL);
        at = &(*at)->next_in_bucket;
    }
    *at = entry->next_in_bucket;
    queue->key_count--;
    if (queue->bucket_count > BUCKETS_MIN && queue->key_count < queue->bucket_count / 16) {
        (void)resize(queue, queue->bucket_count / 4);
    }
}

/* ---- entries ---- */

/* Removes the least recently used idle entry from the table. */
static ki__work_entry *evict(ki_workqueue *queue)
{
    ki__work_entry *entry = KI__CONTAINER_OF(queue->idle.next, ki__work_entry, link);
    ki__workqueue_wake_entry(queue, entry);
    remove_key(queue, entry);
    return entry;
}

/* An entry with space for `room` bytes: a kept one, if there are enough, or a new one. */
static ki__work_entry *entry_make(ki_workqueue *queue, size_t room)
{
    if (queue->idle_len >= queue->idle_max ||
        (queue->idle_len != 0 && queue->key_count == queue->max_keys)) {
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

static int learn(ki_workqueue *queue, uint64_t hash, ki_str key, ki__work_entry **ret_entry)
{
    int r = ki__deadlines_reserve(&queue->delayed, queue->key_count + 1);
    if (r < 0) {
        return r;
    }
    ki__work_entry *entry = entry_make(queue, key.len + 1);
    if (entry == NULL) {
        return -ENOMEM;
    }
    r = reserve_key(queue);
    if (r < 0) {
        ki__free(queue->alloc, entry);
        return r;
    }
    ki__list_init(&entry->link);
    entry->delay.position = 0;
    entry->hash = hash;
    entry->len = (uint16_t)key.len;
    entry->state = WORK_IDLE;
    entry->in_heap = false;
    entry->priority = 0;
    if (key.len != 0) {
        memcpy(entry->bytes, key.ptr, key.len);
    }
    entry->bytes[key.len] = '\0';
    add_key(queue, entry);
    ki__workqueue_note_active(queue);
    *ret_entry = entry;
    return 0;
}

int ki__workqueue_learn(ki_workqueue *queue, uint64_t hash, ki_str key, ki__work_entry **ret_entry)
{
    int r = learn(queue, hash, key, ret_entry);
    queue->failed_adds += r < 0;
    return r;
}

static void drop(ki_workqueue *queue, ki__work_entry *entry)
{
    ki__deadlines_trim(&queue->delayed, queue->key_count);
    ki__free(queue->alloc, entry);
}

void ki__workqueue_rest(ki_workqueue *queue, ki__work_entry *entry)
{
    ki_assert(entry->state == WORK_IDLE && !ki__deadline_is_set(&entry->delay));
    if (++queue->rests % IDLE_TURNS == 0 && queue->idle_max > KI__IDLE_MIN) {
        queue->idle_max--;
    }
    if (entry->room > ROOM_KEPT) {
        remove_key(queue, entry);
        drop(queue, entry);
        return;
    }
    ki__list_push_back(&queue->idle, &entry->link);
    queue->idle_len++;
    if (queue->idle_len > queue->idle_max) {
        drop(queue, evict(queue));
    }
}

void ki__workqueue_drop_all(ki_workqueue *queue)
{
    for (size_t i = 0; i < queue->bucket_count; i++) {
        ki__work_entry *entry = queue->buckets[i];
        while (entry != NULL) {
            ki__work_entry *next = entry->next_in_bucket;
            ki__free(queue->alloc, entry);
            entry = next;
        }
    }
    ki__free(queue->alloc, queue->buckets);
    queue->buckets = NULL;
    queue->bucket_count = 0;
    queue->key_count = 0;
}

const uint8_t ki__work_next[WORK_STATE_MAX][WORK_EVENT_MAX] = {
    [WORK_IDLE] = {WORK_QUEUED, WORK_STATE_MAX, WORK_STATE_MAX},
    [WORK_QUEUED] = {WORK_QUEUED, WORK_PROCESSING, WORK_STATE_MAX},
    [WORK_PROCESSING] = {WORK_DIRTY, WORK_STATE_MAX, WORK_IDLE},
    [WORK_DIRTY] = {WORK_DIRTY, WORK_STATE_MAX, WORK_QUEUED},
};
