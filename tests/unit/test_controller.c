/* SPDX-License-Identifier: Apache-2.0 */
/* What a controller does with what the reconcile function says, and several workers at once.
 * threads: yes */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <kinformer/controller.h>
#include <kinformer/worker.h>

#include "support/fake_clock.h"
#include "support/test.h"
#include "support/workqueue.h"

typedef struct world {
    fake_clock clock;
    ki_workqueue *queue;
    ki_controller *controller;
    int result;              /* what reconcile is to say */
    uint64_t retry_after_ms; /* likewise */
    const char *details;     /* likewise */
    int reconciled;
    int errors;
    int given_up;
    uint32_t failures;
    ki_error last;
    int destroyed;
} world;

static int reconcile(const char *key, uint64_t *retry_after_ms, ki_error *error, void *user)
{
    world *w = user;
    assert_non_null(key);
    assert_int_equal(*retry_after_ms, 0);
    w->reconciled++;
    *retry_after_ms = w->retry_after_ms;
    if (w->details != NULL) {
        error->code = w->result;
        (void)snprintf(error->message, sizeof(error->message), "%s", w->details);
    }
    return w->result;
}

static void on_error(const char *key, const ki_error *error, uint32_t failures, bool given_up,
                     void *user)
{
    world *w = user;
    assert_string_equal(key, "a");
    w->errors++;
    w->given_up += given_up;
    w->failures = failures;
    w->last = *error;
}

static void destroy(void *user)
{
    ((world *)user)->destroyed++;
}

static void open_world(world *w, uint32_t max_retries)
{
    *w = (world){.queue = NULL};
    fake_clock_init(&w->clock);
    assert_int_equal(ki_workqueue_new(KI_OPTIONS(ki_workqueue_options, .clock = &w->clock.table),
                                      &w->queue, NULL),
                     0);
    assert_int_equal(
        ki_controller_new(KI_OPTIONS(ki_controller_options, .queue = w->queue,
                                     .reconcile = reconcile, .on_error = on_error, .user = w,
                                     .destroy = destroy, .max_retries = max_retries),
                          &w->controller, NULL),
        0);
}

static void close_world(world *w)
{
    assert_ptr_equal(ki_controller_ref(w->controller), w->controller);
    assert_null(ki_controller_unref(w->controller));
    assert_null(ki_workqueue_unref(w->queue)); /* the controller has one */
    assert_int_equal(w->destroyed, 0);
    assert_null(ki_controller_unref(w->controller));
    assert_int_equal(w->destroyed, 1);
    assert_null(ki_controller_unref(NULL));
    assert_null(ki_controller_ref(NULL));
}

static void success_forgets_the_failures(void **state)
{
    (void)state;
    world w;
    open_world(&w, 0);
    assert_int_equal(ki_controller_work_one(w.controller), 0);
    w.result = -EIO;
    (void)wq_add(w.queue, "a");
    assert_int_equal(ki_controller_work_one(w.controller), 1);
    assert_int_equal(ki_workqueue_requeues(w.queue, "a"), 1);
    fake_clock_advance(&w.clock, 5 * MS_NS);
    w.result = 7; /* anything from 0 on */
    assert_int_equal(ki_controller_work_one(w.controller), 1);
    assert_int_equal(ki_workqueue_requeues(w.queue, "a"), 0);
    fake_clock_advance(&w.clock, 3600 * S_NS);
    assert_int_equal(ki_controller_work_one(w.controller), 0);
    assert_int_equal(w.reconciled, 2);
    assert_int_equal(w.errors, 1);
    close_world(&w);
}

static void a_key_keeps_its_priority_when_it_comes_again(void **state)
{
    (void)state;
    world w;
    open_world(&w, 0);
    w.result = -EIO;
    assert_int_equal(
        ki_workqueue_add_with(w.queue, "a", KI_OPTIONS(ki_add_options, .priority = -20)), 1);
    assert_int_equal(ki_controller_work_one(w.controller), 1);
    fake_clock_advance(&w.clock, 5 * MS_NS);
    w.result = 0;
    w.retry_after_ms = 1;
    assert_int_equal(ki_controller_work_one(w.controller), 1);
    fake_clock_advance(&w.clock, MS_NS);
    ki_work work = wq_take(w.queue, "a");
    assert_int_equal(ki_work_priority(&work), -20);
    ki_workqueue_done(w.queue, &work);
    close_world(&w);
}

static void failure_comes_again_after_ever_longer_waits(void **state)
{
    (void)state;
    world w;
    open_world(&w, 0);
    w.result = -EIO;
    (void)wq_add(w.queue, "a");
    for (uint32_t i = 0; i < 12; i++) {
        assert_int_equal(ki_controller_work_one(w.controller), 1);
        assert_int_equal(w.failures, i + 1);
        assert_int_equal(w.last.code, -EIO);
        assert_true(w.last.message[0] != '\0');
        uint64_t wait_ns = 5 * MS_NS << i;
        fake_clock_advance(&w.clock, wait_ns - 1);
        assert_int_equal(ki_controller_work_one(w.controller), 0);
        fake_clock_advance(&w.clock, 1);
    }
    assert_int_equal(w.given_up, 0);
    close_world(&w);
}

static void the_details_of_a_failure_reach_the_error_function(void **state)
{
    (void)state;
    world w;
    open_world(&w, 0);
    w.result = KI_ERR_INVALID;
    w.details = "replicas is negative";
    (void)wq_add(w.queue, "a");
    assert_int_equal(ki_controller_work_one(w.controller), 1);
    assert_int_equal(w.last.code, KI_ERR_INVALID);
    assert_string_equal(w.last.message, "replicas is negative");
    close_world(&w);
}

static void retry_after_forgets_and_comes_at_that_time(void **state)
{
    (void)state;
    world w;
    open_world(&w, 0);
    w.result = -EIO;
    w.retry_after_ms = 1; /* a failure does not look at it */
    (void)wq_add(w.queue, "a");
    assert_int_equal(ki_controller_work_one(w.controller), 1);
    fake_clock_advance(&w.clock, 1);
    assert_int_equal(ki_controller_work_one(w.controller), 0);
    fake_clock_advance(&w.clock, 5 * MS_NS);
    w.result = 0;
    w.retry_after_ms = 90000;
    assert_int_equal(ki_controller_work_one(w.controller), 1);
    assert_int_equal(ki_workqueue_requeues(w.queue, "a"), 0);
    fake_clock_advance(&w.clock, 90 * S_NS - 1);
    assert_int_equal(ki_controller_work_one(w.controller), 0);
    fake_clock_advance(&w.clock, 1);
    assert_int_equal(ki_controller_work_one(w.controller), 1);
    close_world(&w);
}

static void after_its_last_retry_a_key_is_given_up(void **state)
{
    (void)state;
    world w;
    open_world(&w, 2);
    w.result = -EIO;
    (void)wq_add(w.queue, "a");
    for (int i = 0; i < 3; i++) { /* once and two retries */
        assert_int_equal(w.given_up, 0);
        assert_int_equal(ki_controller_work_one(w.controller), 1);
        fake_clock_advance(&w.clock, S_NS);
    }
    assert_int_equal(w.given_up, 1);
    assert_int_equal(w.failures, 3);
    assert_int_equal(ki_controller_work_one(w.controller), 0);
    (void)wq_add(w.queue, "a"); /* starts over */
    assert_int_equal(ki_controller_work_one(w.controller), 1);
    assert_int_equal(w.failures, 1);
    close_world(&w);
}

static void a_worker_ends_when_the_queue_is_shut_down_and_empty(void **state)
{
    (void)state;
    world w;
    open_world(&w, 0);
    w.result = -EIO;
    (void)wq_add(w.queue, "a");
    ki_workqueue_shut_down(w.queue);
    assert_int_equal(ki_controller_run_worker(w.controller), 0);
    assert_int_equal(w.reconciled, 1); /* what waited; a retry is too late */
    assert_int_equal(ki_controller_work_one(w.controller), KI_ERR_STOPPED);
    w.retry_after_ms = 5;
    close_world(&w);
}

static void a_controller_without_what_it_needs_is_refused(void **state)
{
    (void)state;
    ki_workqueue *queue = NULL;
    assert_int_equal(ki_workqueue_new(NULL, &queue, NULL), 0);
    ki_controller *controller = NULL;
    ki_error error = KI_ERROR_INIT;
    assert_int_equal(ki_controller_new(NULL, &controller, &error), -EINVAL);
    assert_int_equal(
        ki_controller_new(KI_OPTIONS(ki_controller_options, .queue = queue), &controller, &error),
        -EINVAL);
    ki_controller_options absurd = {.size = 3};
    assert_int_equal(ki_controller_new(&absurd, &controller, &error), -EINVAL);
    ki_workqueue_unref(queue);
}

static int run_with(const ki_alloc *alloc, void *user)
{
    (void)user;
    world w = {.result = -EIO};
    fake_clock_init(&w.clock);
    int r = ki_workqueue_new(
        KI_OPTIONS(ki_workqueue_options, .alloc = alloc, .clock = &w.clock.table), &w.queue, NULL);
    if (r >= 0) {
        r = ki_controller_new(KI_OPTIONS(ki_controller_options, .alloc = alloc, .queue = w.queue,
                                         .reconcile = reconcile, .user = &w, .destroy = destroy),
                              &w.controller, NULL);
    }
    if (r >= 0) {
        r = ki_workqueue_add(w.queue, "a");
    }
    if (r >= 0) { /* from here on memory or not, the key is not lost */
        for (int i = 0; i < 3; i++) {
            assert_int_equal(ki_controller_work_one(w.controller), 1);
            fake_clock_advance(&w.clock, 1000 * S_NS);
        }
        r = 0;
    }
    bool made = w.controller != NULL;
    ki_controller_unref(w.controller);
    ki_workqueue_unref(w.queue);
    assert_int_equal(w.destroyed, made);
    return r;
}

static void a_failed_allocation_loses_no_retry(void **state)
{
    (void)state;
    test_alloc_sweep(run_with, NULL);
}

/* Several workers: each key fails a few times first */

enum { WORKERS = 4, KEYS = 40, FAILURES = 3 };

typedef struct team {
    ki_controller *controller;
    atomic_bool busy[KEYS];
    _Atomic int tries[KEYS];
    _Atomic int left;
    ki_workqueue *queue;
} team;

static int team_reconcile(const char *key, uint64_t *retry_after_ms, ki_error *error, void *user)
{
    (void)error;
    team *t = user;
    size_t number = (size_t)(key[0] - '0') * 10 + (size_t)(key[1] - '0');
    assert_false(atomic_exchange(&t->busy[number], true));
    int tries = atomic_fetch_add(&t->tries[number], 1) + 1;
    *retry_after_ms = tries == FAILURES ? 1 : 0; /* the last retry is a requested one */
    if (tries == FAILURES + 1 && atomic_fetch_sub(&t->left, 1) == 1) {
        ki_workqueue_shut_down(t->queue); /* from inside */
    }
    atomic_store(&t->busy[number], false);
    return tries < FAILURES ? -EAGAIN : 0;
}

static uint64_t real_ns(void *user)
{
    (void)user;
    struct timespec now;
    assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &now), 0);
    return (uint64_t)now.tv_sec * S_NS + (uint64_t)now.tv_nsec;
}

static void *team_work(void *user)
{
    team *t = user;
    assert_int_equal(ki_controller_run_worker(t->controller), 0);
    return NULL;
}

static void workers_share_the_keys_and_never_one_key(void **state)
{
    (void)state;
    static team t;
    const ki_clock clock = {.monotonic_ns = real_ns};
    ki_rate_limiter quick = {0};
    assert_int_equal(ki_rate_limiter_exponential(1, 4, NULL, &quick), 0);
    assert_int_equal(
        ki_workqueue_new(KI_OPTIONS(ki_workqueue_options, .clock = &clock, .limiter = &quick),
                         &t.queue, NULL),
        0);
    assert_int_equal(ki_controller_new(KI_OPTIONS(ki_controller_options, .queue = t.queue,
                                                  .reconcile = team_reconcile, .user = &t),
                                       &t.controller, NULL),
                     0);
    atomic_store(&t.left, KEYS);
    pthread_t threads[WORKERS];
    for (size_t i = 0; i < WORKERS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, team_work, &t), 0);
    }
    for (int i = 0; i < KEYS; i++) {
        char key[4];
        (void)snprintf(key, sizeof(key), "%02d", i);
        (void)wq_add(t.queue, key);
    }
    for (size_t i = 0; i < WORKERS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    for (size_t i = 0; i < KEYS; i++) {
        assert_int_equal(atomic_load(&t.tries[i]), FAILURES + 1);
    }
    ki_controller_unref(t.controller);
    ki_workqueue_unref(t.queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(success_forgets_the_failures),
        cmocka_unit_test(a_key_keeps_its_priority_when_it_comes_again),
        cmocka_unit_test(failure_comes_again_after_ever_longer_waits),
        cmocka_unit_test(the_details_of_a_failure_reach_the_error_function),
        cmocka_unit_test(retry_after_forgets_and_comes_at_that_time),
        cmocka_unit_test(after_its_last_retry_a_key_is_given_up),
        cmocka_unit_test(a_worker_ends_when_the_queue_is_shut_down_and_empty),
        cmocka_unit_test(a_controller_without_what_it_needs_is_refused),
        cmocka_unit_test(a_failed_allocation_loses_no_retry),
        cmocka_unit_test(workers_share_the_keys_and_never_one_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
