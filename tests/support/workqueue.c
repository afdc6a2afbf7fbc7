/* SPDX-License-Identifier: Apache-2.0 */
#include "support/workqueue.h"

#include <kinformer/error.h>
#include <kinformer/worker.h>

#include "support/test.h"
#include "workqueue/workqueue_state.h"

/* How many entries are in a list; all must be of one of two states. */
static size_t count_list(const ki__list *head, uint8_t state, uint8_t or_state)
{
    size_t count = 0;
    for (const ki__list *link = head->next; link != head; link = link->next) {
        const ki__work_entry *entry = KI__CONTAINER_OF(link, const ki__work_entry, link);
        assert_true(entry->state == state || entry->state == or_state);
        assert_ptr_equal(link->next->prev, link);
        count++;
    }
    return count;
}

/* An entry of the heap comes after its parent, and its neighbours know it. */
static void check_heap(ki_workqueue *queue, const ki__work_entry *entry)
{
    const ki__work_entry *prev = entry->heap.prev;
    assert_int_equal(entry->state, WORK_QUEUED);
    assert_true(queue->is_ordered);
    assert_true((prev == NULL) == (queue->heap == entry));
    assert_true(prev == NULL || prev->child == entry || prev->heap.next == entry);
    assert_true(prev == NULL || prev->in_heap);
    assert_true(entry->heap.next == NULL || entry->heap.next->heap.prev == entry);
    for (const ki__work_entry *child = entry->child; child != NULL; child = child->heap.next) {
        assert_true(child->in_heap && child->rank >= entry->rank);
    }
}

/* The entry is found by its key, and is in a list exactly if its state says so. */
static void check_entry(ki_workqueue *queue, const ki__work_entry *entry)
{
    ki_str key = {entry->bytes, entry->len};
    assert_true(entry->state < WORK_STATE_MAX);
    assert_int_equal(entry->bytes[entry->len], 0);
    assert_true(entry->room > entry->len);
    assert_int_equal(entry->hash, ki__workqueue_hash(queue, key));
    assert_ptr_equal(ki__workqueue_find(queue, entry->hash, key), entry);
    bool listed = entry->link.next != &entry->link;
    bool delayed = ki__deadline_is_set(&entry->delay);
    if (entry->in_heap) {
        check_heap(queue, entry);
    }
    if (entry->state == WORK_IDLE) {
        assert_true(listed != delayed);
    } else {
        assert_true(listed);
    }
    if (delayed) {
        assert_ptr_equal(queue->delayed.slots[entry->delay.position - 1].deadline, &entry->delay);
    }
}

/* With priorities, the list is in the order of ranks. */
static void check_sorted(const ki_workqueue *queue)
{
    int64_t rank = INT64_MIN;
    for (const ki__list *link = queue->line.next; queue->is_ordered && link != &queue->line;
         link = link->next) {
        const ki__work_entry *entry = KI__CONTAINER_OF(link, const ki__work_entry, link);
        assert_true(entry->rank >= rank && entry->priority == 0);
        rank = entry->rank;
    }
}

void wq_check(ki_workqueue *queue)
{
    ki__lock_take(&queue->lock);
    size_t of_state[WORK_STATE_MAX] = {0};
    size_t delayed = 0;
    size_t resting = 0;
    size_t count = 0;
    size_t in_heap = 0;
    for (size_t i = 0; i < queue->bucket_count; i++) {
        for (const ki__work_entry *entry = queue->buckets[i]; entry != NULL;
             entry = entry->next_in_bucket) {
            check_entry(queue, entry);
            of_state[entry->state]++;
            delayed += ki__deadline_is_set(&entry->delay);
            resting += entry->state == WORK_IDLE && !ki__deadline_is_set(&entry->delay);
            in_heap += entry->in_heap;
            count++;
        }
    }
    assert_int_equal(queue->key_count, count);
    assert_true(count * 4 <= queue->bucket_count * 3 && count <= queue->max_keys);
    size_t processing = of_state[WORK_PROCESSING] + of_state[WORK_DIRTY];
    assert_int_equal(queue->line_len, of_state[WORK_QUEUED]);
    assert_int_equal(queue->processing_len, processing);
    assert_int_equal(queue->dirty_len, of_state[WORK_DIRTY]);
    assert_int_equal(queue->delayed.count, delayed);
    assert_int_equal(queue->idle_len, resting);
    assert_int_equal(count_list(&queue->line, WORK_QUEUED, WORK_QUEUED) + in_heap, queue->line_len);
    check_sorted(queue);
    assert_int_equal(count_list(&queue->processing, WORK_PROCESSING, WORK_DIRTY), processing);
    assert_int_equal(count_list(&queue->idle, WORK_IDLE, WORK_IDLE), queue->idle_len);
    if (queue->clock != NULL && !queue->shutting_down) {
        assert_true(queue->delayed.cap >= queue->key_count);
    }
    if (queue->shutting_down) {
        assert_int_equal(delayed, 0);
    }
    ki__lock_release(&queue->lock);
}

ki_workqueue_stats wq_stats(ki_workqueue *queue)
{
    ki_workqueue_stats stats = KI_OPTIONS_INIT(ki_workqueue_stats);
    ki_workqueue_get_stats(queue, &stats);
    return stats;
}

static int checked(ki_workqueue *queue, int r)
{
    if (r < 0) {
        fail_msg("%s", ki_error_name(r));
    }
    wq_check(queue);
    return r;
}

int wq_add(ki_workqueue *queue, const char *key)
{
    return checked(queue, ki_workqueue_add(queue, key));
}

int wq_add_after(ki_workqueue *queue, const char *key, uint64_t delay_ns)
{
    return checked(queue, ki__workqueue_add_after(queue, key, delay_ns));
}

int wq_add_rate_limited(ki_workqueue *queue, const char *key)
{
    return checked(queue, ki_workqueue_add_rate_limited(queue, key));
}

ki_work wq_take(ki_workqueue *queue, const char *key)
{
    ki_work work = {NULL, NULL};
    assert_int_equal(ki_workqueue_try_get(queue, &work), 1);
    assert_string_equal(work.key, key);
    wq_check(queue);
    return work;
}

void wq_take_none(ki_workqueue *queue)
{
    ki_work work;
    assert_int_equal(ki_workqueue_try_get(queue, &work), 0);
    wq_check(queue);
}
