/* SPDX-License-Identifier: Apache-2.0 */
/* The order of queued keys. Without priorities it is a list, and this file is not used: the first
 * priority other than 0 sets is_ordered.
 *
 * A key of priority p that was queued at time t has, at time now, the priority p + (now - t) /
 * age_ns. Which of two keys has more does not depend on now: it is the one with the lower rank,
 * t - p x age_ns. So waiting keys rise although nothing is moved.
 *
 * Invariants: the list is sorted by rank and has only keys of priority 0, which are appended in
 * order of time, so that most adds cost no more than without priorities. All other keys are in a
 * pairing heap: its links are in the entries, so that a known key can always be added, and raised,
 * without memory. Times differ by 1 ns at least, so that keys of one priority keep their order. */
#include "workqueue/workqueue_state.h"

/* ---- the heap; prev is the parent of a first child ---- */

static bool is_before(const ki__work_entry *a, const ki__work_entry *b)
{
    return a->rank != b->rank ? a->rank < b->rank : a->priority > b->priority;
}

/* Joins two heaps, each of which may be empty. */
static ki__work_entry *join(ki__work_entry *a, ki__work_entry *b)
{
    if (a == NULL || b == NULL) {
        return a != NULL ? a : b;
    }
    ki__work_entry *first = is_before(b, a) ? b : a;
    ki__work_entry *second = first == a ? b : a;
    second->heap.prev = first;
    second->heap.next = first->child;
    if (first->child != NULL) {
        first->child->heap.prev = second;
    }
    first->child = second;
    first->heap.prev = NULL;
    first->heap.next = NULL;
    return first;
}

/* Joins siblings: in pairs from left to right, and the pairs from right to left. */
static ki__work_entry *join_siblings(ki__work_entry *next)
{
    ki__work_entry *pairs = NULL; /* the last one first, linked by prev */
    while (next != NULL) {
        ki__work_entry *a = next;
        ki__work_entry *b = a->heap.next;
        next = b != NULL ? b->heap.next : NULL;
        ki__work_entry *pair = join(a, b);
        pair->heap.prev = pairs;
        pairs = pair;
    }
    ki__work_entry *all = NULL;
    while (pairs != NULL) {
        ki__work_entry *pair = pairs;
        pairs = pair->heap.prev;
        all = join(all, pair);
    }
    return all;
}

static void heap_add(ki_workqueue *queue, ki__work_entry *entry)
{
    entry->in_heap = true;
    entry->child = NULL;
    entry->heap.prev = NULL;
    entry->heap.next = NULL;
    queue->heap = join(queue->heap, entry);
}

static void heap_remove(ki_workqueue *queue, ki__work_entry *entry)
{
    ki__work_entry *prev = entry->heap.prev;
    ki__work_entry *next = entry->heap.next;
    if (prev == NULL) {
        ki_assert(queue->heap == entry);
        queue->heap = NULL;
    } else if (prev->child == entry) {
        prev->child = next;
    } else {
        prev->heap.next = next;
    }
    if (next != NULL) {
        next->heap.prev = prev;
    }
    queue->heap = join(queue->heap, join_siblings(entry->child));
    entry->in_heap = false;
    ki__list_init(&entry->link);
}

/* ---- the line ---- */

static ki__work_entry *entry_of(ki__list *link)
{
    return KI__CONTAINER_OF(link, ki__work_entry, link);
}

void ki__line_add(ki_workqueue *queue, ki__work_entry *entry)
{
    ki__list *last = queue->line.prev;
    if (entry->priority == 0 && (last == &queue->line || entry_of(last)->rank <= entry->rank)) {
        ki__list_push_back(&queue->line, &entry->link);
    } else {
        heap_add(queue, entry);
    }
}

void ki__line_remove(ki_workqueue *queue, ki__work_entry *entry)
{
    if (entry->in_heap) {
        heap_remove(queue, entry);
    } else {
        ki__list_remove(&entry->link);
    }
}

ki__work_entry *ki__line_first(const ki_workqueue *queue)
{
    ki__work_entry *heap = queue->heap;
    if (ki__list_is_empty(&queue->line)) {
        return heap;
    }
    ki__work_entry *listed = entry_of(queue->line.next);
    return heap != NULL && is_before(heap, listed) ? heap : listed;
}

static int64_t time_of(ki_workqueue *queue, uint64_t now_ns)
{
    now_ns = now_ns != 0 ? now_ns : ki__workqueue_now(queue);
    return now_ns < (uint64_t)INT64_MAX / 2 ? (int64_t)now_ns : INT64_MAX / 2;
}

/* Gives ranks, in their order, to keys that were queued without. */
static void start_ordering(ki_workqueue *queue, uint64_t now_ns)
{
    queue->is_ordered = true;
    atomic_store_explicit(&queue->time_adds, true, memory_order_relaxed);
    bool timed = ki__workqueue_measures(queue);
    int64_t now = time_of(queue, now_ns);
    int64_t rank = timed ? 0 : now;
    KI__LIST_FOR_EACH (link, &queue->line) {
        ki__work_entry *entry = entry_of(link);
        rank = timed && entry->rank > rank ? entry->rank : rank;
        entry->rank = rank;
    }
    KI__LIST_FOR_EACH (link, &queue->processing) {
        ki__work_entry *entry = entry_of(link);
        entry->rank = timed ? entry->rank : now;
    }
    queue->last_ns = rank > now ? rank : now;
}

void ki__line_rank(ki_workqueue *queue, ki__work_entry *entry, uint64_t now_ns, int priority)
{
    if (priority != 0 && !queue->is_ordered) {
        start_ordering(queue, now_ns);
    }
    entry->priority = (int16_t)priority;
    int64_t now = time_of(queue, now_ns);
    queue->last_ns = now > queue->last_ns ? now : queue->last_ns + 1;
    entry->rank = queue->last_ns - priority * queue->age_ns;
}

void ki__line_raise(ki_workqueue *queue, ki__work_entry *entry, int priority)
{
    if (priority <= entry->priority) {
        return;
    }
    if (!queue->is_ordered) {
        start_ordering(queue, 0);
    }
    bool queued = entry->state == WORK_QUEUED;
    if (queued) {
        ki__line_remove(queue, entry);
    }
    entry->rank -= (priority - entry->priority) * queue->age_ns;
    entry->priority = (int16_t)priority;
    if (queued) {
        ki__line_add(queue, entry);
    }
}

uint64_t ki__line_since(const ki_workqueue *queue, const ki__work_entry *entry)
{
    return (uint64_t)(entry->rank + entry->priority * queue->age_ns);
}
