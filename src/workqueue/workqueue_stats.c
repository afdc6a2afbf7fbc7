/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of a work queue. client-go: metrics.go, which updates running times with a thread;
 * here they are computed on request. */
#include <string.h>

#include "base/error.h"
#include "base/options.h"
#include "base/time_units.h"
#include "workqueue/workqueue_state.h"

static double to_ms(uint64_t ns)
{
    return (double)ns / (double)KI__MS_NS;
}

void ki__durations_observe(ki_durations *durations, uint64_t from_ns, uint64_t to_ns)
{
    if (from_ns == 0 || to_ns == 0) {
        return; /* times were not measured at one end */
    }
    uint64_t took_ns = to_ns > from_ns ? to_ns - from_ns : 0;
    uint64_t bound_ns = 10;
    size_t i = 0;
    for (; i < KI_DURATION_BUCKETS - 1 && took_ns > bound_ns; i++) {
        bound_ns *= 10;
    }
    durations->buckets[i]++;
    durations->count++;
    double took_ms = to_ms(took_ns);
    durations->sum_ms += took_ms;
    durations->max_ms = took_ms > durations->max_ms ? took_ms : durations->max_ms;
}

static void running(const ki_workqueue *queue, uint64_t now_ns, ki_workqueue_stats *stats)
{
    const ki__list *first = queue->processing.next;
    if (first == &queue->processing) {
        return;
    }
    const ki__work_entry *oldest = KI__CONTAINER_OF(first, const ki__work_entry, link);
    stats->unfinished_ms = to_ms(queue->processing_len * now_ns - queue->started_sum_ns);
    stats->longest_running_ms =
        to_ms(now_ns > oldest->started_ns ? now_ns - oldest->started_ns : 0);
}

void ki__workqueue_longest_running(ki_workqueue *queue, char *text, size_t size)
{
    size_t len = 0;
    ki__lock_take(&queue->lock);
    const ki__list *first = queue->processing.next;
    if (first != &queue->processing) {
        const ki__work_entry *entry = KI__CONTAINER_OF(first, const ki__work_entry, link);
        len = entry->len < size ? entry->len : size - 1;
        memcpy(text, entry->bytes, len);
    }
    ki__lock_release(&queue->lock);
    text[len] = '\0';
}

void ki__workqueue_measure(ki_workqueue *queue)
{
    ki__lock_take(&queue->lock);
    if (!ki__workqueue_measures(queue)) {
        uint64_t now_ns = ki__workqueue_now(queue);
        if (!queue->is_ordered) { /* otherwise the times are known */
            KI__LIST_FOR_EACH (link, &queue->line) {
                KI__CONTAINER_OF(link, ki__work_entry, link)->rank = (int64_t)now_ns;
            }
        }
        KI__LIST_FOR_EACH (link, &queue->processing) {
            KI__CONTAINER_OF(link, ki__work_entry, link)->started_ns = now_ns;
            queue->started_sum_ns += now_ns;
        }
        atomic_store_explicit(&queue->measure_times, true, memory_order_relaxed);
        atomic_store_explicit(&queue->time_adds, true, memory_order_relaxed);
    }
    ki__lock_release(&queue->lock);
}

int ki_workqueue_get_stats(ki_workqueue *queue, ki_workqueue_stats *ret_stats)
{
    KI__REQUIRE(queue, NULL);
    KI__REQUIRE_SIZED(ki_workqueue_stats, ret_stats, NULL);
    ki_workqueue_stats all = KI_OPTIONS_INIT(ki_workqueue_stats);
    uint64_t now_ns = 0;
    ki__lock_take(&queue->lock);
    ki__workqueue_wake_waiters(queue, ki__workqueue_release_due(queue, &now_ns));
    all.depth = queue->line_len + queue->dirty_len;
    all.queued = queue->line_len;
    all.processing = queue->processing_len;
    all.delayed = queue->delayed.count;
    all.adds = queue->adds;
    all.retries = queue->retries;
    all.latency = queue->latency;
    all.work = queue->work;
    if (ki__workqueue_measures(queue)) {
        running(queue, ki__workqueue_now(queue), &all);
    }
    ki__lock_release(&queue->lock);
    return KI__GIVE(ki_workqueue_stats, ret_stats, &all);
}
