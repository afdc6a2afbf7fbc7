/* SPDX-License-Identifier: Apache-2.0 */
/* The entries of a work queue and their states. Entries of short keys are of one size, and a few
 * are kept when they end, so that a queue in steady use asks for no memory.
 * Invariant: there is room in `delayed` for all that are known, so a known key can always be
 * delayed. */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "workqueue/queue.h"

enum {
    SHORT_BYTES = 64, /* of a key and its zero byte, in entries that are kept */
    SPARE_MAX = 64,
};

ki__work_entry *ki__workqueue_find(const ki_workqueue *queue, uint64_t hash, ki_str key)
{
    return ki__map_get_hashed(&queue->keys, hash, key);
}

static ki__work_entry *entry_alloc(ki_workqueue *queue, size_t len)
{
    if (len < SHORT_BYTES && queue->spare != NULL) {
        ki__list *link = queue->spare;
        queue->spare = link->next;
        queue->spare_len--;
        return KI__CONTAINER_OF(link, ki__work_entry, link);
    }
    size_t room = len < SHORT_BYTES ? SHORT_BYTES : len + 1;
    return ki__alloc(queue->alloc, sizeof(ki__work_entry) + room);
}

static void entry_free(ki_workqueue *queue, ki__work_entry *entry)
{
    if (entry->len < SHORT_BYTES && queue->spare_len < SPARE_MAX) {
        entry->link.next = queue->spare;
        queue->spare = &entry->link;
        queue->spare_len++;
    } else {
        ki__free(queue->alloc, entry);
    }
}

int ki__workqueue_learn(ki_workqueue *queue, uint64_t hash, ki_str key, ki__work_entry **ret_entry)
{
    if (queue->clock != NULL) {
        int r = ki__deadlines_reserve(&queue->delayed, queue->keys.count + 1);
        if (r < 0) {
            return r;
        }
    }
    ki__work_entry *entry = entry_alloc(queue, key.len);
    if (entry == NULL) {
        return -ENOMEM;
    }
    entry->delay.position = 0;
    entry->hash = hash;
    entry->len = (uint32_t)key.len;
    entry->state = WORK_IDLE;
    if (key.len != 0) {
        memcpy(entry->bytes, key.ptr, key.len);
    }
    entry->bytes[key.len] = '\0';
    int r = ki__map_add_hashed(&queue->keys, hash, ki_str_make(entry->bytes, key.len), entry);
    if (r < 0) {
        entry_free(queue, entry);
        return r;
    }
    *ret_entry = entry;
    return 0;
}

void ki__workqueue_unlearn(ki_workqueue *queue, ki__work_entry *entry)
{
    ki_assert(entry->state == WORK_IDLE && !ki__deadline_is_set(&entry->delay));
    ki__map_remove_hashed(&queue->keys, entry->hash, entry);
    ki__deadlines_trim(&queue->delayed, queue->keys.count);
    entry_free(queue, entry);
}

void ki__workqueue_unlearn_all(ki_workqueue *queue)
{
    size_t position = 0;
    ki__work_entry *entry;
    while ((entry = ki__map_next(&queue->keys, &position)) != NULL) {
        ki__free(queue->alloc, entry);
    }
    while (queue->spare != NULL) {
        ki__list *link = queue->spare;
        queue->spare = link->next;
        ki__free(queue->alloc, KI__CONTAINER_OF(link, ki__work_entry, link));
    }
    ki__map_done(&queue->keys);
}

/* The table of queue.h; WORK_STATE_MAX stands for what cannot be. */
static const unsigned char next_state[WORK_STATE_MAX][WORK_EVENT_MAX] = {
    [WORK_IDLE] = {WORK_QUEUED, WORK_STATE_MAX, WORK_STATE_MAX},
    [WORK_QUEUED] = {WORK_QUEUED, WORK_PROCESSING, WORK_STATE_MAX},
    [WORK_PROCESSING] = {WORK_DIRTY, WORK_STATE_MAX, WORK_IDLE},
    [WORK_DIRTY] = {WORK_DIRTY, WORK_STATE_MAX, WORK_QUEUED},
};

static void leave_state(ki_workqueue *queue, ki__work_entry *entry)
{
    switch (entry->state) {
    case WORK_QUEUED:
        ki__list_remove(&entry->link);
        queue->line_len--;
        break;
    case WORK_DIRTY:
        queue->dirty_len--;
        break;
    case WORK_IDLE:
    case WORK_PROCESSING:
    case WORK_STATE_MAX:
        break;
    }
}

static void enter_state(ki_workqueue *queue, ki__work_entry *entry)
{
    switch (entry->state) {
    case WORK_QUEUED:
        ki__list_push_back(&queue->line, &entry->link);
        queue->line_len++;
        break;
    case WORK_DIRTY:
        queue->dirty_len++;
        break;
    case WORK_IDLE:
    case WORK_PROCESSING:
    case WORK_STATE_MAX:
        break;
    }
}

bool ki__workqueue_step(ki_workqueue *queue, ki__work_entry *entry, ki__work_event event)
{
    ki__work_state next = (ki__work_state)next_state[entry->state][event];
    ki_assert(next != WORK_STATE_MAX);
    if (next == entry->state) {
        return false;
    }
    leave_state(queue, entry);
    if (event == WORK_GET) {
        ki__list_push_back(&queue->processing, &entry->link);
        queue->processing_len++;
    } else if (event == WORK_DONE) {
        ki__list_remove(&entry->link);
        queue->processing_len--;
    }
    entry->state = next;
    enter_state(queue, entry);
    return next == WORK_QUEUED;
}
