/* SPDX-License-Identifier: Apache-2.0 */
/* The work queue: add, get, done. client-go: util/workqueue/queue.go.
 *
 * Wake-ups: queueing a key wakes one waiter, unless all have been signaled and are about to look
 * for keys: one signal may serve many adds. A waiter sleeps until the first delayed key is due,
 * unless another waiter already does (timer_ns); when that one leaves with a key while others
 * sleep, it wakes one of them to take over the deadline. Signals are sent with the lock held, so
 * that a waiter for the drain may free the queue right after. */
#include <errno.h>
#include <string.h>

#include <kinformer/worker.h>
#include <kinformer/workqueue.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"
#include "base/options.h"
#include "base/process.h"
#include "base/time_units.h"
#include "workqueue/workqueue_state.h"

enum { KEY_BYTES_DEFAULT = 1024, KEY_BYTES_MAX = 65535, AGE_MS = 1000, AGE_MS_MAX = 3600000 };
static const size_t keys_default = (size_t)1 << 24;
static const size_t keys_max = (size_t)1 << 30;

/* Functions of a few ns: those they call here are inlined. */
#define HOT __attribute__((flatten))

/* If the clock is this far behind after a timed wait, it is not the required clock. */
static const uint64_t clock_slack_ns = KI__SECOND_NS;

static int check_options(const ki_workqueue_options *o, ki_rate_limiter *ret_limiter,
                         ki_error *error)
{
    if (o->max_keys > keys_max || o->max_key_bytes > KEY_BYTES_MAX) {
        return ki__error_set(error, -EINVAL, "max_keys or max_key_bytes is too large");
    }
    if (o->age_ms > AGE_MS_MAX) {
        return ki__error_set(error, -EINVAL, "age_ms: more than %d", AGE_MS_MAX);
    }
    if (ki_str_from(o->name).len > KI__QUEUE_NAME_MAX) {
        return ki__error_set(error, KI_ERR_LIMIT, "name: longer than %d bytes", KI__QUEUE_NAME_MAX);
    }
    return o->limiter != NULL ? ki__rate_limiter_take(ret_limiter, o->limiter, error) : 0;
}

static void queue_init(ki_workqueue *queue, const ki_workqueue_options *o)
{
    ki__refs_init(&queue->refs);
    queue->process = ki__process();
    queue->alloc = ki__alloc_or_default(o->alloc);
    queue->clock = o->clock;
    queue->wake = o->wake;
    queue->wake_user = o->wake_user;
    queue->wake_needed = true;
    queue->max_key_bytes = o->max_key_bytes != 0 ? o->max_key_bytes : KEY_BYTES_DEFAULT;
    atomic_init(&queue->measure_times, o->measure_times);
    atomic_init(&queue->time_adds, o->measure_times);
    queue->age_ns = (int64_t)ki__ms_to_ns(o->age_ms != 0 ? o->age_ms : AGE_MS);
    queue->timer_ns = UINT64_MAX;
    queue->hash_key = ki__hash_key_make(o->random, queue);
    queue->max_keys = o->max_keys != 0 ? o->max_keys : keys_default;
    ki__deadlines_init(&queue->delayed, queue->alloc);
    ki__deadlines_init(&queue->holds, queue->alloc);
    ki__list_init(&queue->line);
    ki__list_init(&queue->processing);
    ki__list_init(&queue->idle);
    queue->idle_max = KI__IDLE_MIN;
    ki_str name = ki_str_from(o->name);
    if (name.len != 0) {
        memcpy(queue->name, name.ptr, name.len);
    }
}

int ki_workqueue_new(const ki_workqueue_options *options, ki_workqueue **ret_queue, ki_error *error)
{
    KI__REQUIRE(ret_queue, error);
    ki_workqueue_options o;
    int r = KI__TAKE(ki_workqueue_options, &o, options, error);
    if (r < 0) {
        return r;
    }
    ki_rate_limiter limiter;
    r = check_options(&o, &limiter, error);
    if (r < 0) {
        return r;
    }
    o.clock = o.clock != NULL ? o.clock : ki_clock_system();
    o.random = o.random != NULL ? o.random : ki_random_system();
    ki_workqueue *queue =
        ki__alloc_zero(ki__alloc_or_default(o.alloc), sizeof(*queue) + ki_str_from(o.name).len + 1);
    if (queue == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    queue_init(queue, &o);
    if (o.limiter != NULL) {
        queue->limiter = limiter;
    } else {
        ki_rate_limiter_options limits = KI_OPTIONS_INIT(ki_rate_limiter_options);
        limits.alloc = o.alloc;
        limits.random = o.random;
        r = ki_rate_limiter_default(&limits, &queue->limiter);
        if (r < 0) {
            ki__free(queue->alloc, queue);
            return ki__error_code(error, r);
        }
    }
    *ret_queue = queue;
    return 0;
}

ki_workqueue *ki_workqueue_ref(ki_workqueue *queue)
{
    if (queue != NULL) {
        ki__refs_take(&queue->refs);
    }
    return queue;
}

ki_workqueue *ki_workqueue_unref(ki_workqueue *queue)
{
    if (queue == NULL || !ki__refs_drop(&queue->refs) || ki__is_inherited(queue->process)) {
        return NULL;
    }
    ki_assert(queue->waiters == 0 && queue->drainers == 0 && queue->hold_len == 0);
    ki__members_leave(&queue->member);
    ki__deadlines_done(&queue->delayed);
    ki__deadlines_done(&queue->holds);
    ki__workqueue_drop_all(queue);
    ki_rate_limiter_done(&queue->limiter);
    ki__free(queue->alloc, queue);
    return NULL;
}

/* Waking */

void ki__workqueue_wake_waiters(ki_workqueue *queue, size_t count)
{
    size_t asleep = queue->waiters - queue->woken;
    if (asleep == 0) {
        return;
    }
    count = count < asleep ? count : asleep;
    queue->woken += count;
    if (count > 1 && count == asleep) {
        ki__signal_all(&queue->ready);
        return;
    }
    for (; count != 0; count--) {
        ki__signal_one(&queue->ready);
    }
}

/* A waiter is awake. It may be another one than was signaled: then that one counts as asleep until
 * it runs, and may be signaled in vain. */
static void leave_wait(ki_workqueue *queue)
{
    queue->waiters--;
    queue->woken -= queue->woken != 0;
}

void ki__workqueue_unlock_to_wake(ki_workqueue *queue)
{
    void (*wake)(void *user) = queue->wake;
    void *wake_user = queue->wake_user;
    queue->wake_needed = false;
    ki__lock_release(&queue->lock);
    if (wake != NULL) {
        wake(wake_user);
    }
}

/* Adding */

int ki__workqueue_add_entry(ki_workqueue *queue, ki__work_entry *entry, uint64_t now_ns,
                            int priority)
{
    if (entry->state == WORK_QUEUED || entry->state == WORK_DIRTY) {
        ki__line_raise(queue, entry, priority);
        return 0;
    }
    queue->adds++;
    if (priority != 0 || queue->is_ordered) {
        ki__line_rank(queue, entry, now_ns, priority);
    } else {
        entry->priority = 0;
        entry->rank = (int64_t)now_ns;
    }
    (void)ki__workqueue_step(queue, entry, WORK_ADD);
    return 1;
}

HOT int ki__workqueue_add(ki_workqueue *queue, ki_str key, int priority, bool is_retry)
{
    if (key.len > queue->max_key_bytes) {
        return KI_ERR_LIMIT;
    }
    uint64_t hash = ki__workqueue_hash(queue, key);
    uint64_t now_ns = ki__workqueue_times_adds(queue) ? ki__workqueue_now(queue) : 0;
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
    queue->retries += is_retry;
    r = ki__workqueue_add_entry(queue, entry, now_ns, priority);
    if (r != 0 && entry->state == WORK_QUEUED) {
        ki__workqueue_wake_waiters(queue, 1);
        ki__workqueue_unlock_and_wake(queue);
        return r;
    }
out:
    ki__lock_release(&queue->lock);
    return r;
}

int ki_workqueue_add(ki_workqueue *queue, const char *key)
{
    KI__REQUIRE(queue, NULL);
    KI__REQUIRE(key, NULL);
    KI__REQUIRE_OWN(queue->process, NULL);
    return ki__workqueue_add(queue, ki_str_from(key), 0, false);
}

uint64_t ki__workqueue_failed_adds(ki_workqueue *queue)
{
    ki__lock_take(&queue->lock);
    uint64_t failed = queue->failed_adds;
    ki__lock_release(&queue->lock);
    return failed;
}

/* Working */

/* Takes the first queued key. `now_ns` is the time if known, otherwise 0. */
static void take(ki_workqueue *queue, uint64_t now_ns, ki_work *ret_work)
{
    ki__work_entry *entry = queue->is_ordered
                                ? ki__line_first(queue)
                                : KI__CONTAINER_OF(queue->line.next, ki__work_entry, link);
    __builtin_prefetch(entry->link.next, 1); /* most often the next one, out of the cache */
    (void)ki__workqueue_step(queue, entry, WORK_GET);
    entry->work_priority = entry->priority;
    entry->started_ns = 0;
    if (ki__workqueue_measures(queue)) {
        entry->started_ns = now_ns != 0 ? now_ns : ki__workqueue_now(queue);
        queue->started_sum_ns += entry->started_ns;
        ki__durations_observe(&queue->latency, ki__line_since(queue, entry), entry->started_ns);
    }
    *ret_work = (ki_work){entry->bytes, entry};
}

/* Common part of get and try_get: 1, 0 if nothing is available, or KI_ERR_STOPPED. `taker` is NULL
 * if the caller ignores holds. */
static int take_if_any(ki_workqueue *queue, ki_work *ret_work, ki__hold_taker *taker)
{
    uint64_t now_ns = 0;
    size_t released = ki__workqueue_release_due(queue, &now_ns);
    if (taker != NULL && queue->hold_len != 0) {
        taker->expired = ki__hold_pop_expired(queue, &now_ns);
        if (taker->expired != NULL || queue->line_len == 0 || queue->hold_len >= taker->max) {
            ki__workqueue_wake_waiters(queue, released);
            return taker->expired != NULL ? KI__HOLD_EXPIRED : 0;
        }
    }
    if (queue->line_len == 0) {
        return queue->shutting_down ? KI_ERR_STOPPED : 0;
    }
    take(queue, now_ns, ret_work);
    if (released > 1) {
        ki__workqueue_wake_waiters(queue, released - 1);
    }
    return 1;
}

/* Sleeps until there may be work. *slack_ns is added to the wake-up time; it is set after waking up
 * too early, for clocks with coarse steps. */
static int wait_for_work(ki_workqueue *queue, bool for_holds, uint64_t *slack_ns)
{
    uint64_t next_ns = ki__deadlines_next(&queue->delayed);
    uint64_t expires_ns = for_holds ? ki__deadlines_next(&queue->holds) : UINT64_MAX;
    next_ns = expires_ns < next_ns ? expires_ns : next_ns;
    queue->waiters++;
    if (next_ns >= queue->timer_ns) {
        /* Another waiter has the deadline, or there is none. */
        (void)ki__signal_wait(&queue->ready, &queue->lock, UINT64_MAX);
        leave_wait(queue);
        return 0;
    }
    queue->timer_ns = next_ns;
    uint64_t deadline_ns;
    if (__builtin_add_overflow(next_ns, *slack_ns, &deadline_ns)) {
        deadline_ns = UINT64_MAX;
    }
    bool woken = ki__signal_wait(&queue->ready, &queue->lock, deadline_ns);
    leave_wait(queue);
    if (queue->timer_ns == next_ns) {
        queue->timer_ns = UINT64_MAX;
    }
    *slack_ns = 0;
    if (!woken) {
        uint64_t now_ns = ki__workqueue_now(queue);
        *slack_ns = now_ns < next_ns ? next_ns - now_ns : 0;
    }
    return *slack_ns > clock_slack_ns ? KI_ERR_UNSUPPORTED : 0;
}

/* Gets a key with the lock held, waiting if necessary. */
static int get_locked(ki_workqueue *queue, ki_work *ret_work, ki__hold_taker *taker)
{
    uint64_t slack_ns = 0;
    int r = take_if_any(queue, ret_work, taker);
    while (r == 0) {
        r = wait_for_work(queue, taker != NULL, &slack_ns);
        if (r == 0) {
            r = take_if_any(queue, ret_work, taker);
        }
    }
    if (queue->waiters != 0 && (ki__deadlines_next(&queue->delayed) < queue->timer_ns ||
                                ki__deadlines_next(&queue->holds) < queue->timer_ns)) {
        ki__workqueue_wake_waiters(queue, 1); /* to take over the deadline */
    }
    return r;
}

HOT int ki_workqueue_get(ki_workqueue *queue, ki_work *ret_work)
{
    KI__REQUIRE(queue, NULL);
    KI__REQUIRE(ret_work, NULL);
    KI__REQUIRE_OWN(queue->process, NULL);
    ki__lock_take(&queue->lock);
    int r = get_locked(queue, ret_work, NULL);
    ki__lock_release(&queue->lock);
    return r;
}

int ki_workqueue_try_get(ki_workqueue *queue, ki_work *ret_work)
{
    KI__REQUIRE(queue, NULL);
    KI__REQUIRE(ret_work, NULL);
    return ki__hold_try_get(queue, ret_work, NULL);
}

int ki__hold_try_get(ki_workqueue *queue, ki_work *ret_work, ki__hold_taker *taker)
{
    KI__REQUIRE_OWN(queue->process, NULL);
    ki__lock_take(&queue->lock);
    int r = take_if_any(queue, ret_work, taker);
    if (r == 0) {
        queue->wake_needed = true;
    }
    ki__lock_release(&queue->lock);
    return r;
}

static bool is_drained(const ki_workqueue *queue, ki_drain until)
{
    return queue->shutting_down && queue->processing_len == 0 &&
           (until == KI_DRAIN_IDLE || queue->line_len == 0);
}

bool ki__workqueue_done_entry(ki_workqueue *queue, ki__work_entry *entry, uint64_t now_ns)
{
    if (entry->started_ns != 0) {
        queue->started_sum_ns -= entry->started_ns;
        ki__durations_observe(&queue->work, entry->started_ns, now_ns);
    }
    bool again = ki__workqueue_step(queue, entry, WORK_DONE);
    if (again) {
        ki__workqueue_wake_waiters(queue, 1);
    } else if (!ki__deadline_is_set(&entry->delay)) {
        ki__workqueue_rest(queue, entry);
    }
    bool drained =
        is_drained(queue, KI_DRAIN_IDLE); /* if not idle, not drained in the other sense either */
    if (drained) {
        queue->wake_needed = true;
        ki__signal_all(&queue->drained);
    }
    return again || drained;
}

/* Locks the queue, and ends the work if there is one. */
static void lock_and_be_done(ki_workqueue *queue, ki_work *work)
{
    ki__work_entry *entry = work->entry;
    uint64_t now_ns = ki__workqueue_measures(queue) ? ki__workqueue_now(queue) : 0;
    *work = (ki_work){NULL, NULL};
    ki__lock_take(&queue->lock);
    if (entry != NULL && ki__workqueue_done_entry(queue, entry, now_ns) && queue->wake != NULL) {
        ki__workqueue_unlock_and_wake(queue);
        ki__lock_take(&queue->lock);
    }
}

HOT void ki_workqueue_done(ki_workqueue *queue, ki_work *work)
{
    if (queue == NULL || work == NULL || ki__is_inherited(queue->process)) {
        return;
    }
    ki__work_entry *entry = work->entry;
    if (entry == NULL) {
        return;
    }
    uint64_t now_ns = ki__workqueue_measures(queue) ? ki__workqueue_now(queue) : 0;
    *work = (ki_work){NULL, NULL};
    ki__lock_take(&queue->lock);
    if (ki__workqueue_done_entry(queue, entry, now_ns)) {
        ki__workqueue_unlock_and_wake(queue);
    } else {
        ki__lock_release(&queue->lock);
    }
}

int ki_workqueue_next(ki_workqueue *queue, ki_work *work)
{
    KI__REQUIRE(queue, NULL);
    KI__REQUIRE(work, NULL);
    return ki__hold_next(queue, work, NULL);
}

int ki__hold_next(ki_workqueue *queue, ki_work *work, ki__hold_taker *taker)
{
    KI__REQUIRE_OWN(queue->process, NULL);
    lock_and_be_done(queue, work);
    int r = get_locked(queue, work, taker);
    ki__lock_release(&queue->lock);
    return r;
}

int32_t ki_work_priority(const ki_work *work)
{
    const ki__work_entry *entry = work != NULL ? work->entry : NULL;
    return entry != NULL ? entry->work_priority : 0;
}

size_t ki_workqueue_count(ki_workqueue *queue)
{
    uint64_t now_ns = 0;
    ki__lock_take(&queue->lock);
    ki__workqueue_wake_waiters(queue, ki__workqueue_release_due(queue, &now_ns));
    size_t len = queue->line_len;
    ki__lock_release(&queue->lock);
    return len;
}

/* Shutdown */

static void begin_shut_down(ki_workqueue *queue)
{
    if (queue->shutting_down) {
        return;
    }
    uint64_t now_ns = 0;
    (void)ki__workqueue_release_due(queue, &now_ns); /* keys due before this call count as added */
    queue->shutting_down = true;
    ki__workqueue_drop_delayed(queue);
    ki__workqueue_wake_waiters(queue, SIZE_MAX);
}

void ki_workqueue_shut_down(ki_workqueue *queue)
{
    if (queue == NULL || ki__is_inherited(queue->process)) {
        return;
    }
    ki__lock_take(&queue->lock);
    begin_shut_down(queue);
    queue->shut_downs++;
    ki__signal_all(&queue->drained);
    ki__workqueue_unlock_and_wake(queue);
}

/* Counts calls instead of keeping a flag: a drain that begins after a shut_down cannot make an
 * earlier one, which that call has released, wait again. */
int ki_workqueue_shut_down_with_drain(ki_workqueue *queue, ki_drain until)
{
    KI__REQUIRE(queue, NULL);
    if ((unsigned)until >= KI_DRAIN_MAX) {
        return -EINVAL;
    }
    KI__REQUIRE_OWN(queue->process, NULL);
    ki__lock_take(&queue->lock);
    begin_shut_down(queue);
    uint64_t shut_downs = queue->shut_downs;
    ki__workqueue_unlock_and_wake(queue); /* notifies pollers */
    ki__lock_take(&queue->lock);
    queue->drainers++;
    while (!is_drained(queue, until) && queue->shut_downs == shut_downs) {
        (void)ki__signal_wait(&queue->drained, &queue->lock, UINT64_MAX);
    }
    queue->drainers--;
    int r = is_drained(queue, until) ? 0 : KI_ERR_STOPPED;
    ki__lock_release(&queue->lock);
    return r;
}

bool ki_workqueue_is_shutting_down(ki_workqueue *queue)
{
    ki__lock_take(&queue->lock);
    bool shutting_down = queue->shutting_down;
    ki__lock_release(&queue->lock);
    return shutting_down;
}

bool ki_workqueue_is_drained(ki_workqueue *queue, ki_drain until)
{
    ki__lock_take(&queue->lock);
    bool drained = is_drained(queue, until);
    ki__lock_release(&queue->lock);
    return drained;
}
