/* SPDX-License-Identifier: Apache-2.0 */
/* Delayed keys: by a duration, or by the rate limiter. client-go: delaying_queue.go,
 * rate_limiting_queue.go. There is no timer: every call that looks for keys first adds those that
 * are due. */
#include <errno.h>

#include <kinformer/worker.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/options.h"
#include "base/process.h"
#include "base/time_units.h"
#include "workqueue/workqueue_state.h"

size_t ki__workqueue_release_due(ki_workqueue *queue, uint64_t *now_ns)
{
    if (queue->delayed.count == 0) {
        return 0;
    }
    *now_ns = ki__workqueue_now(queue);
    size_t released = 0;
    ki__deadline *delay;
    while ((delay = ki__deadlines_pop_due(&queue->delayed, *now_ns)) != NULL) {
        ki__work_entry *entry = KI__CONTAINER_OF(delay, ki__work_entry, delay);
        int added = ki__workqueue_add_entry(queue, entry, *now_ns, entry->delay_priority);
        released += added != 0 && entry->state == WORK_QUEUED ? 1 : 0;
    }
    return released;
}

void ki__workqueue_drop_delayed(ki_workqueue *queue)
{
    ki__deadline *delay;
    while ((delay = ki__deadlines_pop_any(&queue->delayed)) != NULL) {
        ki__work_entry *entry = KI__CONTAINER_OF(delay, ki__work_entry, delay);
        if (entry->state == WORK_IDLE) {
            ki__workqueue_rest(queue, entry);
        }
    }
    ki__deadlines_done(&queue->delayed);
}

/* Sets the time of an entry, or keeps an earlier one; likewise a higher priority. 1 if the time is
 * new, otherwise 0. */
static int delay_entry(ki_workqueue *queue, ki__work_entry *entry, uint64_t when_ns, int priority)
{
    bool is_delayed = ki__deadline_is_set(&entry->delay);
    if (!is_delayed || priority > entry->delay_priority) {
        entry->delay_priority = (int16_t)priority;
    }
    if (is_delayed && ki__deadlines_when(&queue->delayed, &entry->delay) <= when_ns) {
        return 0;
    }
    uint64_t before_ns = ki__deadlines_next(&queue->delayed);
    ki__workqueue_wake_entry(queue, entry);
    ki__deadlines_put(&queue->delayed, &entry->delay, when_ns);
    if (when_ns < before_ns && queue->waiters != 0) {
        ki__workqueue_wake_waiters(queue, 1); /* it must wake up earlier now */
    }
    return 1;
}

/* Delays the key until `now_ns` + `delay_ns`. */
static int add_later(ki_workqueue *queue, ki_str key, uint64_t now_ns, uint64_t delay_ns,
                     int priority)
{
    uint64_t when_ns;
    if (__builtin_add_overflow(now_ns, delay_ns, &when_ns) || when_ns == UINT64_MAX) {
        when_ns = UINT64_MAX - 1; /* UINT64_MAX means never, and a key is never lost */
    }
    uint64_t hash = ki__workqueue_hash(queue, key);
    ki__lock_take(&queue->lock);
    int r = KI_ERR_STOPPED;
    if (queue->shutting_down) {
        goto out;
    }
    ki__work_entry *entry = ki__workqueue_find(queue, hash, key);
    if (entry == NULL) {
        r = ki__workqueue_learn(queue, hash, key, &entry);
        if (r < 0) {
            goto out;
        }
    }
    queue->retries++;
    uint64_t before_ns = ki__deadlines_next(&queue->delayed);
    r = delay_entry(queue, entry, when_ns, priority);
    if (ki__deadlines_next(&queue->delayed) != before_ns) {
        ki__workqueue_unlock_and_wake(queue);
        return r;
    }
out:
    ki__lock_release(&queue->lock);
    return r;
}

static int add_after(ki_workqueue *queue, ki_str key, uint64_t delay_ns, int priority)
{
    if (delay_ns == 0) {
        return ki__workqueue_add(queue, key, priority, true);
    }
    if (key.len > queue->max_key_bytes) {
        return KI_ERR_LIMIT;
    }
    return add_later(queue, key, ki__workqueue_now(queue), delay_ns, priority);
}

int ki__workqueue_add_after(ki_workqueue *queue, const char *key, uint64_t delay_ns)
{
    return add_after(queue, ki_str_from(key), delay_ns, 0);
}

int ki_workqueue_add_after(ki_workqueue *queue, const char *key, uint64_t delay_ms)
{
    KI__REQUIRE(queue, NULL);
    KI__REQUIRE(key, NULL);
    KI__REQUIRE_OWN(queue->process, NULL);
    return ki__workqueue_add_after(queue, key, ki__ms_to_ns(delay_ms));
}

static int add_rate_limited(ki_workqueue *queue, ki_str key, int priority)
{
    const ki_rate_limiter *limiter = &queue->limiter;
    if (key.len > queue->max_key_bytes) {
        return KI_ERR_LIMIT;
    }
    uint64_t now_ns = ki__workqueue_now(queue);
    uint64_t delay_ns = ki__ms_to_ns(limiter->when(key, now_ns, limiter->user));
    int r = delay_ns == 0 ? ki__workqueue_add(queue, key, priority, true)
                          : add_later(queue, key, now_ns, delay_ns, priority);
    if (r <= 0 && limiter->unused != NULL) {
        limiter->unused(key, limiter->user);
    }
    return r;
}

int ki_workqueue_add_rate_limited(ki_workqueue *queue, const char *key)
{
    KI__REQUIRE(queue, NULL);
    KI__REQUIRE(key, NULL);
    KI__REQUIRE_OWN(queue->process, NULL);
    return add_rate_limited(queue, ki_str_from(key), 0);
}

int ki_workqueue_add_with(ki_workqueue *queue, const char *key, const ki_add_options *options)
{
    KI__REQUIRE(queue, NULL);
    KI__REQUIRE(key, NULL);
    KI__REQUIRE_OWN(queue->process, NULL);
    ki_add_options o;
    int r = KI__TAKE(ki_add_options, &o, options, NULL);
    if (r < 0) {
        return r;
    }
    if (!ki__priority_is_valid(o.priority) || (o.rate_limited && o.delay_ms != 0)) {
        return -EINVAL;
    }
    ki_str text = ki_str_from(key);
    if (o.rate_limited) {
        return add_rate_limited(queue, text, o.priority);
    }
    return o.delay_ms != 0 ? add_after(queue, text, ki__ms_to_ns(o.delay_ms), o.priority)
                           : ki__workqueue_add(queue, text, o.priority, false);
}

void ki_workqueue_forget(ki_workqueue *queue, const char *key)
{
    if (queue == NULL || key == NULL || ki__is_inherited(queue->process)) {
        return;
    }
    if (queue->limiter.forget != NULL) {
        queue->limiter.forget(ki_str_from(key), queue->limiter.user);
    }
}

uint32_t ki_workqueue_requeues(ki_workqueue *queue, const char *key)
{
    const ki_rate_limiter *limiter = &queue->limiter;
    return limiter->requeues != NULL ? limiter->requeues(ki_str_from(key), limiter->user) : 0;
}

uint64_t ki__workqueue_next_deadline(ki_workqueue *queue)
{
    uint64_t now_ns = 0;
    ki__lock_take(&queue->lock);
    ki__workqueue_wake_waiters(queue, ki__workqueue_release_due(queue, &now_ns));
    uint64_t next_ns = ki__deadlines_next(&queue->delayed);
    if (queue->line_len != 0 || (queue->shutting_down && queue->processing_len == 0)) {
        next_ns = 0;
    }
    ki__lock_release(&queue->lock);
    return next_ns;
}

int ki__workqueue_timeout_until(ki_workqueue *queue, uint64_t next_ns)
{
    if (next_ns == 0 || next_ns == UINT64_MAX) {
        return next_ns == 0 ? 0 : -1;
    }
    uint64_t now_ns = ki__workqueue_now(queue);
    uint64_t left_ms = next_ns > now_ns ? ki__ns_to_ms(next_ns - now_ns) : 0;
    return left_ms < INT32_MAX ? (int)left_ms : INT32_MAX;
}

int ki_workqueue_timeout(ki_workqueue *queue)
{
    KI__REQUIRE(queue, NULL);
    return ki__workqueue_timeout_until(queue, ki__workqueue_next_deadline(queue));
}
