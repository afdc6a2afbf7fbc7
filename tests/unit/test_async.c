/* SPDX-License-Identifier: Apache-2.0 */
/* Asynchronous reconciles: completed from inside, later, from other threads, too late, never.
 * threads: yes */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <kinformer/async.h>
#include <kinformer/controller.h>
#include <kinformer/worker.h>

#include "support/fake_clock.h"
#include "support/test.h"
#include "support/workqueue.h"

enum { CALLS_MAX = 64 };

typedef struct world {
    fake_clock clock;
    ki_workqueue *queue;
    ki_controller *controller;
    ki_reconcile *calls[CALLS_MAX]; /* pending, in the order of their start */
    size_t call_count;
    bool complete_at_once;
    bool complete_in_cancel;
    int canceled;
    int late; /* what complete returned inside cancel */
    int errors;
    ki_error last;
    char last_key[32];
    int wakes;
    int destroyed;
} world;

static void start(ki_reconcile *call, void *user)
{
    world *w = user;
    if (w->complete_at_once) {
        assert_int_equal(ki_reconcile_complete(call, 0, 0, NULL), 0);
        return;
    }
    assert_true(w->call_count < CALLS_MAX);
    w->calls[w->call_count++] = call;
}

static void cancel(ki_reconcile *call, void *user)
{
    world *w = user;
    w->canceled++;
    assert_non_null(ki_reconcile_key(call));
    if (w->complete_in_cancel) {
        w->late = ki_reconcile_complete(call, 0, 0, NULL);
    }
}

static void on_error(const char *key, const ki_error *error, uint32_t failures, bool given_up,
                     void *user)
{
    world *w = user;
    (void)failures;
    (void)given_up;
    w->errors++;
    w->last = *error;
    (void)snprintf(w->last_key, sizeof(w->last_key), "%s", key);
}

static void on_wake(void *user)
{
    ((world *)user)->wakes++;
}

static void on_destroy(void *user)
{
    ((world *)user)->destroyed++;
}

static void open_world(world *w, ki_async_options async)
{
    *w = (world){.queue = NULL};
    fake_clock_init(&w->clock);
    assert_int_equal(ki_workqueue_new(KI_OPTIONS(ki_workqueue_options, .clock = &w->clock.table,
                                                 .wake = on_wake, .wake_user = w),
                                      &w->queue, NULL),
                     0);
    async.start = start;
    async.cancel = cancel;
    assert_int_equal(
        ki_controller_new(KI_OPTIONS(ki_controller_options, .queue = w->queue, .async = &async,
                                     .on_error = on_error, .user = w, .destroy = on_destroy),
                          &w->controller, NULL),
        0);
}

static void close_world(world *w)
{
    assert_null(ki_workqueue_unref(w->queue));
    assert_null(ki_controller_close(w->controller));
    assert_int_equal(w->destroyed, 1);
}

/* Starts as many as possible. */
static int work(world *w)
{
    int count = 0;
    int r;
    while ((r = ki_controller_work_one(w->controller)) == 1) {
        count++;
    }
    assert_int_equal(r, 0);
    wq_check(w->queue);
    return count;
}

static void many_are_pending_and_complete_in_any_order(void **state)
{
    (void)state;
    world w;
    open_world(&w, KI_OPTIONS_INIT(ki_async_options));
    assert_int_equal(ki_controller_timeout(w.controller), -1);
    (void)wq_add(w.queue, "a");
    (void)wq_add(w.queue, "b");
    (void)wq_add(w.queue, "c");
    assert_int_equal(ki_controller_timeout(w.controller), 0);
    assert_int_equal(work(&w), 3);
    assert_int_equal(ki_controller_timeout(w.controller), 60000);
    assert_string_equal(ki_reconcile_key(w.calls[1]), "b");
    (void)wq_add(w.queue, "b"); /* its key is held: it comes again when this is completed */
    assert_int_equal(work(&w), 0);
    assert_int_equal(ki_reconcile_complete(w.calls[2], 0, 0, NULL), 0);
    assert_int_equal(ki_reconcile_complete(w.calls[1], 0, 0, NULL), 0);
    assert_int_equal(work(&w), 1);
    assert_string_equal(ki_reconcile_key(w.calls[3]), "b");
    assert_int_equal(ki_reconcile_complete(w.calls[3], 5, 0, NULL), 0);
    assert_int_equal(ki_reconcile_complete(w.calls[0], 0, 0, NULL), 0);
    assert_int_equal(work(&w), 0);
    assert_int_equal(ki_controller_timeout(w.controller), -1);
    assert_int_equal(wq_stats(w.queue).processing, 0);
    assert_int_equal(w.canceled, 0);
    close_world(&w);
}

static void a_call_may_be_completed_in_start(void **state)
{
    (void)state;
    world w;
    open_world(&w, KI_OPTIONS_INIT(ki_async_options));
    w.complete_at_once = true;
    (void)wq_add(w.queue, "a");
    (void)wq_add(w.queue, "b");
    assert_int_equal(work(&w), 2);
    assert_int_equal(wq_stats(w.queue).processing, 0);
    close_world(&w);
}

static void results_have_their_usual_effect(void **state)
{
    (void)state;
    world w;
    open_world(&w, KI_OPTIONS_INIT(ki_async_options));
    assert_int_equal(
        ki_workqueue_add_with(w.queue, "a", KI_OPTIONS(ki_add_options, .priority = -7)), 1);
    (void)work(&w);
    ki_error error = KI_ERROR_INIT;
    error.code = -EIO;
    (void)snprintf(error.message, sizeof(error.message), "the disk is on fire");
    assert_int_equal(ki_reconcile_complete(w.calls[0], -EIO, 0, &error), 0);
    assert_int_equal(w.errors, 1);
    assert_string_equal(w.last.message, "the disk is on fire");
    assert_string_equal(w.last_key, "a");
    assert_int_equal(ki_workqueue_requeues(w.queue, "a"), 1);
    assert_int_equal(ki_controller_timeout(w.controller), 5);
    fake_clock_advance(&w.clock, 5 * MS_NS);
    assert_int_equal(work(&w), 1);
    assert_int_equal(ki_reconcile_complete(w.calls[1], -EPERM, 0, NULL), 0);
    assert_int_equal(w.last.code, -EPERM);
    fake_clock_advance(&w.clock, 10 * MS_NS);
    assert_int_equal(work(&w), 1);
    assert_int_equal(ki_reconcile_complete(w.calls[2], 0, 77, NULL), 0);
    assert_int_equal(ki_workqueue_requeues(w.queue, "a"), 0);
    assert_int_equal(ki_controller_timeout(w.controller), 77);
    fake_clock_advance(&w.clock, 77 * MS_NS);
    ki_work work_item;
    assert_int_equal(ki_workqueue_try_get(w.queue, &work_item), 1);
    assert_int_equal(ki_work_priority(&work_item), -7); /* through all of this */
    ki_workqueue_done(w.queue, &work_item);
    close_world(&w);
}

static void after_its_deadline_a_call_has_failed_once(void **state)
{
    (void)state;
    for (int in_cancel = 0; in_cancel < 2; in_cancel++) {
        world w;
        ki_async_options async = KI_OPTIONS_INIT(ki_async_options);
        async.timeout_ms = 100;
        open_world(&w, async);
        w.complete_in_cancel = in_cancel != 0;
        (void)wq_add(w.queue, "a");
        assert_int_equal(work(&w), 1);
        assert_int_equal(ki_controller_timeout(w.controller), 100);
        fake_clock_advance(&w.clock, 100 * MS_NS - 1);
        assert_int_equal(work(&w), 0);
        fake_clock_advance(&w.clock, 1);
        assert_int_equal(ki_controller_timeout(w.controller), 0);
        assert_int_equal(work(&w), 1); /* the end of it */
        assert_int_equal(w.canceled, 1);
        assert_int_equal(w.errors, 1);
        assert_int_equal(w.last.code, -ETIMEDOUT);
        assert_string_equal(w.last.message, "reconcile: not completed within 100 ms");
        fake_clock_advance(&w.clock, 5 * MS_NS);
        assert_int_equal(work(&w), 1); /* again */
        assert_int_equal(w.call_count, 2);
        if (in_cancel != 0) {
            assert_int_equal(w.late, -ETIMEDOUT);
        } else { /* too late, while the key is reconciled again: without effect on that */
            assert_int_equal(ki_reconcile_complete(w.calls[0], 0, 0, NULL), -ETIMEDOUT);
        }
        assert_int_equal(wq_stats(w.queue).processing, 1);
        assert_int_equal(ki_workqueue_requeues(w.queue, "a"), 1);
        assert_int_equal(ki_reconcile_complete(w.calls[1], 0, 0, NULL), 0);
        assert_int_equal(ki_workqueue_requeues(w.queue, "a"), 0);
        assert_int_equal(w.errors, 1);
        close_world(&w);
    }
}

static void without_timeout_a_call_waits_for_ever(void **state)
{
    (void)state;
    world w;
    ki_async_options async = KI_OPTIONS_INIT(ki_async_options);
    async.timeout_ms = UINT32_MAX;
    open_world(&w, async);
    (void)wq_add(w.queue, "a");
    (void)work(&w);
    fake_clock_advance(&w.clock, UINT64_C(100) * 365 * 24 * 3600 * S_NS);
    assert_int_equal(work(&w), 0);
    assert_int_equal(ki_reconcile_complete(w.calls[0], 0, 0, NULL), 0);
    close_world(&w);
}

static void no_more_than_max_pending_are_started(void **state)
{
    (void)state;
    world w;
    ki_async_options async = KI_OPTIONS_INIT(ki_async_options);
    async.max_pending = 2;
    open_world(&w, async);
    (void)wq_add(w.queue, "a");
    (void)wq_add(w.queue, "b");
    (void)wq_add(w.queue, "c");
    assert_int_equal(work(&w), 2);
    assert_int_equal(ki_controller_timeout(w.controller), 60000); /* does not spin */
    int wakes = w.wakes;
    assert_int_equal(ki_reconcile_complete(w.calls[0], 0, 0, NULL), 0);
    assert_int_equal(w.wakes, wakes + 1);
    assert_int_equal(ki_controller_timeout(w.controller), 0);
    assert_int_equal(work(&w), 1);
    assert_int_equal(ki_reconcile_complete(w.calls[1], 0, 0, NULL), 0);
    assert_int_equal(ki_reconcile_complete(w.calls[2], 0, 0, NULL), 0);
    close_world(&w);
}

static void a_queue_is_drained_when_nothing_is_pending(void **state)
{
    (void)state;
    world w;
    open_world(&w, KI_OPTIONS_INIT(ki_async_options));
    (void)wq_add(w.queue, "a");
    (void)wq_add(w.queue, "b");
    assert_int_equal(ki_controller_work_one(w.controller), 1);
    (void)wq_add(w.queue, "a");
    ki_workqueue_shut_down(w.queue);
    assert_int_equal(work(&w), 1); /* b, which was queued */
    assert_int_equal(ki_controller_timeout(w.controller), 60000);
    assert_int_equal(ki_reconcile_complete(w.calls[1], -EIO, 0, NULL), 0); /* not retried */
    assert_int_equal(ki_controller_work_one(w.controller), 0);
    int wakes = w.wakes;
    assert_int_equal(ki_reconcile_complete(w.calls[0], 0, 0, NULL), 0);
    assert_int_equal(w.wakes, wakes + 1);
    assert_int_equal(ki_controller_work_one(w.controller), 1); /* "a" again */
    assert_false(ki_workqueue_is_drained(w.queue, KI_DRAIN_EMPTY));
    assert_int_equal(ki_reconcile_complete(w.calls[2], 0, 0, NULL), 0);
    assert_true(ki_workqueue_is_drained(w.queue, KI_DRAIN_EMPTY));
    assert_int_equal(ki_controller_timeout(w.controller), 0);
    assert_int_equal(ki_controller_work_one(w.controller), KI_ERR_STOPPED);
    close_world(&w);
}

static void closing_cancels_what_is_pending(void **state)
{
    (void)state;
    world w;
    open_world(&w, KI_OPTIONS_INIT(ki_async_options));
    (void)wq_add(w.queue, "a");
    (void)wq_add(w.queue, "b");
    (void)wq_add(w.queue, "c");
    assert_int_equal(work(&w), 3);
    assert_int_equal(ki_reconcile_complete(w.calls[1], 0, 0, NULL), 0);
    (void)ki_workqueue_unref(w.queue);
    assert_null(ki_controller_close(w.controller));
    assert_int_equal(w.canceled, 2);
    assert_int_equal(w.errors, 0);
    assert_int_equal(w.destroyed, 0); /* the calls hold it */
    assert_string_equal(ki_reconcile_key(w.calls[2]), "c");
    assert_int_equal(ki_reconcile_complete(w.calls[2], -EIO, 0, NULL), -ECANCELED);
    assert_int_equal(w.destroyed, 0);
    assert_int_equal(ki_reconcile_complete(w.calls[0], 0, 5, NULL), -ECANCELED);
    assert_int_equal(w.destroyed, 1);
    assert_int_equal(w.errors, 0);
}

static int reconcile(const char *key, uint64_t *retry_after_ms, ki_error *error, void *user)
{
    (void)key;
    (void)retry_after_ms;
    (void)error;
    (void)user;
    return 0;
}

static void options_are_checked(void **state)
{
    (void)state;
    ki_workqueue *queue = NULL;
    assert_int_equal(ki_workqueue_new(NULL, &queue, NULL), 0);
    const ki_async_options none = KI_OPTIONS_INIT(ki_async_options);
    ki_async_options some = KI_OPTIONS_INIT(ki_async_options);
    some.start = start;
    ki_controller_options o = KI_OPTIONS_INIT(ki_controller_options);
    ki_controller *controller = NULL;
    ki_error error = KI_ERROR_INIT;
    o.queue = queue;
    assert_int_equal(ki_controller_new(&o, &controller, &error), -EINVAL);
    o.async = &none;
    assert_int_equal(ki_controller_new(&o, &controller, &error), -EINVAL);
    assert_string_equal(error.message, "async: start must be set");
    o.async = &some;
    o.reconcile = reconcile;
    assert_int_equal(ki_controller_new(&o, &controller, &error), -EINVAL);
    assert_string_equal(error.message, "controller: either reconcile or async must be set");
    assert_int_equal(ki_reconcile_complete(NULL, 0, 0, NULL), -EINVAL);
    (void)ki_workqueue_unref(queue);
}

/* ---- threads: workers start calls, other threads complete them ---- */

enum { COMPLETERS = 3, WORKERS = 2, KEYS = 40 };

typedef struct shop {
    ki_workqueue *queue;
    ki_controller *controller;
    bool may_be_late;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    ki_reconcile *calls[KEYS * 64]; /* to complete; protected by the lock, as the next two */
    size_t call_count;
    bool is_over;
    _Atomic int running[KEYS]; /* calls per key */
    _Atomic int started;
    _Atomic int completed;
    _Atomic int late;
    _Atomic int canceled;
} shop;

static size_t number_of(const ki_reconcile *call)
{
    return (size_t)strtoul(ki_reconcile_key(call) + strlen("key-"), NULL, 10);
}

static void shop_start(ki_reconcile *call, void *user)
{
    shop *s = user;
    atomic_fetch_add(&s->started, 1);
    int before = atomic_fetch_add(&s->running[number_of(call)], 1);
    assert_true(before == 0 || s->may_be_late);
    pthread_mutex_lock(&s->lock);
    assert_true(s->call_count < sizeof(s->calls) / sizeof(s->calls[0]));
    s->calls[s->call_count++] = call;
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

static void shop_cancel(ki_reconcile *call, void *user)
{
    shop *s = user;
    (void)call;
    atomic_fetch_add(&s->canceled, 1);
}

static void *shop_complete(void *user)
{
    shop *s = user;
    uint64_t random = (uint64_t)(uintptr_t)&random;
    pthread_mutex_lock(&s->lock);
    for (;;) {
        while (s->call_count == 0 && !s->is_over) {
            pthread_cond_wait(&s->changed, &s->lock);
        }
        if (s->call_count == 0) {
            break;
        }
        ki_reconcile *call = s->calls[--s->call_count];
        pthread_mutex_unlock(&s->lock);
        if (s->may_be_late && test_random(&random) % 8 == 0) {
            struct timespec time = {0, 3000000};
            (void)nanosleep(&time, NULL);
        }
        uint64_t again_ms = test_random(&random) % 4 == 0;
        atomic_fetch_sub(&s->running[number_of(call)], 1);
        int r = ki_reconcile_complete(call, 0, again_ms, NULL);
        assert_true(r == 0 || (s->may_be_late && r == -ETIMEDOUT));
        atomic_fetch_add(r == 0 ? &s->completed : &s->late, 1);
        pthread_mutex_lock(&s->lock);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static void *shop_work(void *user)
{
    shop *s = user;
    assert_int_equal(ki_controller_run_worker(s->controller), 0);
    return NULL;
}

static void run_shop(shop *s, uint32_t timeout_ms, int rounds)
{
    pthread_t threads[WORKERS + COMPLETERS];
    ki_async_options async = KI_OPTIONS_INIT(ki_async_options);
    async.start = shop_start;
    async.cancel = shop_cancel;
    async.timeout_ms = timeout_ms;
    async.max_pending = KEYS / 2;
    *s = (shop){.may_be_late = timeout_ms < 1000};
    (void)pthread_mutex_init(&s->lock, NULL);
    (void)pthread_cond_init(&s->changed, NULL);
    assert_int_equal(ki_workqueue_new(NULL, &s->queue, NULL), 0);
    assert_int_equal(ki_controller_new(KI_OPTIONS(ki_controller_options, .queue = s->queue,
                                                  .async = &async, .user = s),
                                       &s->controller, NULL),
                     0);
    for (size_t i = 0; i < WORKERS + COMPLETERS; i++) {
        assert_int_equal(
            pthread_create(&threads[i], NULL, i < WORKERS ? shop_work : shop_complete, s), 0);
    }
    for (int i = 0; i < rounds * KEYS; i++) {
        char key[16];
        (void)snprintf(key, sizeof(key), "key-%d", i % KEYS);
        assert_true(ki_workqueue_add(s->queue, key) >= 0);
        if (i % KEYS == 0) {
            struct timespec time = {0, 200000};
            (void)nanosleep(&time, NULL);
        }
    }
    assert_int_equal(ki_workqueue_shut_down_with_drain(s->queue, KI_DRAIN_EMPTY), 0);
    for (size_t i = 0; i < WORKERS; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    pthread_mutex_lock(&s->lock);
    s->is_over = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    for (size_t i = WORKERS; i < WORKERS + COMPLETERS; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    assert_int_equal(wq_stats(s->queue).processing, 0);
    (void)ki_controller_unref(s->controller);
    (void)ki_workqueue_unref(s->queue);
    (void)pthread_cond_destroy(&s->changed);
    (void)pthread_mutex_destroy(&s->lock);
    assert_true(s->started >= KEYS);
    assert_int_equal(s->started, s->completed + s->late);
    assert_int_equal(s->late, s->canceled);
}

static void no_key_is_pending_twice(void **state)
{
    (void)state;
    static shop s;
    run_shop(&s, 60000, 200);
    assert_int_equal(s.late, 0);
}

static void every_call_ends_once_on_time_or_not(void **state)
{
    (void)state;
    static shop s;
    run_shop(&s, 1, 40);
    assert_true(s.late > 0 && s.completed > 0);
}

/* ---- a failing allocator ---- */

static int use_all(const ki_alloc *alloc, void *user)
{
    (void)user;
    world w = {.queue = NULL};
    fake_clock_init(&w.clock);
    int r = ki_workqueue_new(
        KI_OPTIONS(ki_workqueue_options, .alloc = alloc, .clock = &w.clock.table), &w.queue, NULL);
    if (r < 0) {
        return r;
    }
    ki_async_options async = KI_OPTIONS_INIT(ki_async_options);
    async.start = start;
    r = ki_controller_new(KI_OPTIONS(ki_controller_options, .alloc = alloc, .queue = w.queue,
                                     .async = &async, .on_error = on_error, .user = &w),
                          &w.controller, NULL);
    if (r < 0) {
        (void)ki_workqueue_unref(w.queue);
        return r;
    }
    r = ki_workqueue_add(w.queue, "a");
    size_t pending = 0;
    if (r == 1) {
        assert_int_equal(ki_controller_work_one(w.controller), 1);
        pending = w.call_count;
        /* A call that cannot be started is a failure, and its key is retried. */
        assert_int_equal(w.errors, pending == 0);
        assert_int_equal(w.errors == 0 ? -ENOMEM : w.last.code, -ENOMEM);
        r = w.errors == 0 ? 0 : -ENOMEM;
        fake_clock_advance(&w.clock, 2000 * S_NS);
        /* Expires, or is retried, if it is not lost with the queue that has no memory for it. */
        assert_int_equal(ki_controller_work_one(w.controller), 1);
    }
    for (size_t i = 0; i < w.call_count; i++) {
        int completed = ki_reconcile_complete(w.calls[i], 0, 0, NULL);
        assert_int_equal(completed, i < pending ? -ETIMEDOUT : 0);
    }
    (void)ki_controller_close(w.controller);
    (void)ki_workqueue_unref(w.queue);
    return r;
}

static void a_failed_allocation_is_a_failed_reconcile(void **state)
{
    (void)state;
    test_alloc_sweep(use_all, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_are_pending_and_complete_in_any_order),
        cmocka_unit_test(a_call_may_be_completed_in_start),
        cmocka_unit_test(results_have_their_usual_effect),
        cmocka_unit_test(after_its_deadline_a_call_has_failed_once),
        cmocka_unit_test(without_timeout_a_call_waits_for_ever),
        cmocka_unit_test(no_more_than_max_pending_are_started),
        cmocka_unit_test(a_queue_is_drained_when_nothing_is_pending),
        cmocka_unit_test(closing_cancels_what_is_pending),
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(no_key_is_pending_twice),
        cmocka_unit_test(every_call_ends_once_on_time_or_not),
        cmocka_unit_test(a_failed_allocation_is_a_failed_reconcile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
