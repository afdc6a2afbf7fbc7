/* SPDX-License-Identifier: Apache-2.0 */
/* Holds: keys that are processed asynchronously, until a deadline.
 *
 * A hold ends once: it is claimed, expires, or is canceled, whichever first removes it from the
 * heap of deadlines. It counts until its key is done, so that workers that wait for the end of a
 * queue are there if the key is queued again. The workers serve the deadlines, as they serve
 * delays. There are at most as many holds as keys. */
#include <errno.h>

#include "base/assert.h"
#include "workqueue/workqueue_state.h"

int ki__hold_begin(ki_workqueue *queue, ki__hold *hold, ki_work *work, uint64_t when_ns)
{
    ki__lock_take(&queue->lock);
    int r = ki__deadlines_reserve(&queue->holds, queue->holds.count + 1);
    if (r == 0) {
        hold->work = *work;
        hold->ended = 0;
        ki__deadlines_put(&queue->holds, &hold->deadline, when_ns);
        queue->hold_len++;
        *work = (ki_work){NULL, NULL};
    }
    ki__lock_release(&queue->lock);
    return r;
}

/* Takes a hold out of the heap. */
static void end(ki_workqueue *queue, ki__hold *hold, int why)
{
    ki__deadlines_put(&queue->holds, &hold->deadline, 0);
    ki__deadline *first = ki__deadlines_pop_due(&queue->holds, 0);
    ki_assert(first == &hold->deadline);
    hold->ended = why;
}

int ki__hold_claim(ki_workqueue *queue, ki__hold *hold)
{
    ki__lock_take(&queue->lock);
    int ended = hold->ended;
    if (ended == 0) {
        ki_assert(ki__deadline_is_set(&hold->deadline));
        end(queue, hold, -EALREADY);
    }
    ki__lock_release(&queue->lock);
    return ended;
}

ki__hold *ki__hold_pop_expired(ki_workqueue *queue, uint64_t *now_ns)
{
    if (queue->holds.count == 0) {
        return NULL;
    }
    *now_ns = *now_ns != 0 ? *now_ns : ki__workqueue_now(queue);
    ki__deadline *first = ki__deadlines_pop_due(&queue->holds, *now_ns);
    if (first == NULL) {
        return NULL;
    }
    ki__hold *hold = KI__CONTAINER_OF(first, ki__hold, deadline);
    hold->ended = -ETIMEDOUT;
    return hold;
}

ki__hold *ki__hold_cancel(ki_workqueue *queue, const void *owner)
{
    ki__hold *canceled = NULL;
    ki__lock_take(&queue->lock);
    for (size_t i = 0; i < queue->holds.count && canceled == NULL; i++) {
        ki__hold *hold = KI__CONTAINER_OF(queue->holds.slots[i].deadline, ki__hold, deadline);
        canceled = hold->owner == owner ? hold : NULL;
    }
    if (canceled != NULL) {
        end(queue, canceled, -ECANCELED);
    }
    ki__lock_release(&queue->lock);
    return canceled;
}

void ki__hold_done(ki_workqueue *queue, ki__hold *hold)
{
    ki__work_entry *entry = hold->work.entry;
    uint64_t now_ns = ki__workqueue_measures(queue) ? ki__workqueue_now(queue) : 0;
    ki__lock_take(&queue->lock);
    queue->hold_len--;
    bool notify = ki__workqueue_done_entry(queue, entry, now_ns);
    if (queue->shutting_down && queue->hold_len == 0) {
        ki__workqueue_wake_waiters(queue, SIZE_MAX); /* they may be waiting for this only */
        notify = true;
    } else if (queue->line_len != 0) {
        ki__workqueue_wake_waiters(queue, 1); /* there may have been too many holds */
        notify = true;
    }
    if (notify) {
        ki__workqueue_unlock_and_wake(queue);
    } else {
        ki__lock_release(&queue->lock);
    }
}

uint64_t ki__hold_next_deadline(ki_workqueue *queue, size_t max)
{
    uint64_t now_ns = 0;
    ki__lock_take(&queue->lock);
    ki__workqueue_wake_waiters(queue, ki__workqueue_release_due(queue, &now_ns));
    uint64_t next_ns = ki__deadlines_next(&queue->delayed);
    uint64_t expires_ns = ki__deadlines_next(&queue->holds);
    next_ns = expires_ns < next_ns ? expires_ns : next_ns;
    bool may_take = queue->line_len != 0 && queue->hold_len < max;
    bool is_over = queue->shutting_down && queue->line_len == 0 && queue->hold_len == 0;
    if (may_take || is_over) {
        next_ns = 0;
    }
    ki__lock_release(&queue->lock);
    return next_ns;
}
