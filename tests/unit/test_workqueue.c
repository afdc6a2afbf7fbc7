/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of the base queue, one test each: adding, getting, being done, shutting down. Where
 * threads matter, see test_workqueue_threads.c. */
#include <errno.h>
#include <stdio.h>

#include <kinformer/worker.h>

#include "support/fake_clock.h"
#include "support/test.h"
#include "support/workqueue.h"

static ki_workqueue *new_queue(void)
{
    ki_workqueue *queue = NULL;
    assert_int_equal(ki_workqueue_new(NULL, &queue, NULL), 0);
    return queue;
}

static void keys_come_in_the_order_in_which_they_were_added(void **state)
{
    (void)state;
    ki_workqueue *queue = new_queue();
    assert_int_equal(wq_add(queue, "b"), 1);
    assert_int_equal(wq_add(queue, "a"), 1);
    assert_int_equal(wq_add(queue, "c"), 1);
    assert_int_equal(ki_workqueue_count(queue), 3);
    const char *order[] = {"b", "a", "c"};
    for (size_t i = 0; i < 3; i++) {
        ki_work work = wq_take(queue, order[i]);
        ki_workqueue_done(queue, &work);
    }
    wq_take_none(queue);
    ki_workqueue_unref(queue);
}

static void a_key_that_waits_is_there_once_and_keeps_its_place(void **state)
{
    (void)state;
    ki_workqueue *queue = new_queue();
    assert_int_equal(wq_add(queue, "a"), 1);
    assert_int_equal(wq_add(queue, "b"), 1);
    assert_int_equal(wq_add(queue, "a"), 0);
    assert_int_equal(ki_workqueue_count(queue), 2);
    assert_int_equal(wq_stats(queue).adds, 2);
    ki_work a = wq_take(queue, "a");
    ki_work b = wq_take(queue, "b");
    wq_take_none(queue);
    ki_workqueue_done(queue, &a);
    ki_workqueue_done(queue, &b);
    ki_workqueue_unref(queue);
}

static void a_key_added_while_worked_on_comes_again_after_done(void **state)
{
    (void)state;
    ki_workqueue *queue = new_queue();
    (void)wq_add(queue, "a");
    ki_work work = wq_take(queue, "a");
    assert_int_equal(wq_add(queue, "a"), 1);
    assert_int_equal(wq_add(queue, "a"), 0); /* once is enough */
    assert_int_equal(ki_workqueue_count(queue), 0);
    wq_take_none(queue); /* never two workers on one key */
    ki_workqueue_done(queue, &work);
    assert_int_equal(ki_workqueue_count(queue), 1);
    work = wq_take(queue, "a");
    ki_workqueue_done(queue, &work);
    wq_take_none(queue);
    ki_workqueue_unref(queue);
}

static void a_key_that_comes_again_goes_behind_those_that_wait(void **state)
{
    (void)state;
    ki_workqueue *queue = new_queue();
    (void)wq_add(queue, "a");
    ki_work a = wq_take(queue, "a");
    (void)wq_add(queue, "a");
    (void)wq_add(queue, "b");
    ki_workqueue_done(queue, &a);
    ki_work b = wq_take(queue, "b");
    a = wq_take(queue, "a");
    ki_workqueue_done(queue, &a);
    ki_workqueue_done(queue, &b);
    ki_workqueue_unref(queue);
}

static void done_twice_does_nothing(void **state)
{
    (void)state;
    ki_workqueue *queue = new_queue();
    (void)wq_add(queue, "a");
    ki_work work = wq_take(queue, "a");
    ki_workqueue_done(queue, &work);
    assert_null(work.entry);
    (void)wq_add(queue, "a");
    ki_workqueue_done(queue, &work); /* would put a dirty key twice in line */
    assert_int_equal(ki_workqueue_count(queue), 1);
    wq_check(queue);
    ki_workqueue_unref(queue);
}

static void next_is_done_and_get_in_one(void **state)
{
    (void)state;
    ki_workqueue *queue = new_queue();
    (void)wq_add(queue, "a");
    (void)wq_add(queue, "b");
    ki_work work = {NULL, NULL};
    assert_int_equal(ki_workqueue_next(queue, &work), 1);
    assert_string_equal(work.key, "a");
    (void)wq_add(queue, "a");
    assert_int_equal(ki_workqueue_next(queue, &work), 1);
    assert_string_equal(work.key, "b");
    assert_int_equal(ki_workqueue_next(queue, &work), 1);
    assert_string_equal(work.key, "a");
    ki_workqueue_shut_down(queue);
    assert_int_equal(ki_workqueue_next(queue, &work), KI_ERR_STOPPED);
    assert_null(work.entry);
    assert_int_equal(wq_stats(queue).processing, 0);
    wq_check(queue);
    ki_workqueue_unref(queue);
}

static void keys_are_text_up_to_a_limit(void **state)
{
    (void)state;
    ki_workqueue *queue = NULL;
    assert_int_equal(
        ki_workqueue_new(KI_OPTIONS(ki_workqueue_options, .max_key_bytes = 300), &queue, NULL), 0);
    for (size_t len = 0; len <= 300; len += len < 3 ? 1 : 99) {
        char key[301] = {0};
        memset(key, '\xff', len);
        assert_int_equal(ki_workqueue_add(queue, key), 1);
        ki_work work;
        assert_int_equal(ki_workqueue_get(queue, &work), 1);
        assert_string_equal(work.key, key);
        wq_check(queue);
        ki_workqueue_done(queue, &work);
        wq_check(queue);
    }
    char long_key[302] = {0};
    memset(long_key, 'a', 301);
    assert_int_equal(ki_workqueue_add(queue, long_key), KI_ERR_LIMIT);
    assert_int_equal(ki_workqueue_count(queue), 0);
    ki_workqueue_unref(queue);
}

static void max_keys_counts_what_waits_and_is_worked_on(void **state)
{
    (void)state;
    ki_workqueue *queue = NULL;
    assert_int_equal(
        ki_workqueue_new(KI_OPTIONS(ki_workqueue_options, .max_keys = 2), &queue, NULL), 0);
    (void)wq_add(queue, "a");
    (void)wq_add(queue, "b");
    assert_int_equal(ki_workqueue_add(queue, "c"), KI_ERR_LIMIT);
    ki_work work = wq_take(queue, "a");
    assert_int_equal(ki_workqueue_add(queue, "c"), KI_ERR_LIMIT);
    assert_int_equal(wq_add(queue, "a"), 1); /* known: always possible */
    ki_workqueue_done(queue, &work);
    assert_int_equal(ki_workqueue_add(queue, "c"), KI_ERR_LIMIT);
    work = wq_take(queue, "b");
    ki_workqueue_done(queue, &work);
    assert_int_equal(wq_add(queue, "c"), 1); /* in the place of b, which is kept but idle */
    ki_workqueue_unref(queue);
}

static void a_queue_that_is_shut_down_takes_nothing_and_hands_out_the_rest(void **state)
{
    (void)state;
    ki_workqueue *queue = new_queue();
    (void)wq_add(queue, "a");
    (void)wq_add(queue, "b");
    ki_work work = wq_take(queue, "a");
    (void)wq_add(queue, "a");
    assert_false(ki_workqueue_is_shutting_down(queue));
    ki_workqueue_shut_down(queue);
    assert_true(ki_workqueue_is_shutting_down(queue));
    assert_int_equal(ki_workqueue_add(queue, "c"), KI_ERR_STOPPED);
    assert_int_equal(ki_workqueue_add(queue, "a"), KI_ERR_STOPPED);
    ki_work b = wq_take(queue, "b");
    ki_work none;
    assert_int_equal(ki_workqueue_try_get(queue, &none), KI_ERR_STOPPED);
    ki_workqueue_done(queue, &work); /* was added again before: put back even now */
    assert_int_equal(ki_workqueue_get(queue, &work), 1);
    assert_string_equal(work.key, "a");
    ki_workqueue_done(queue, &work);
    ki_workqueue_done(queue, &b);
    assert_int_equal(ki_workqueue_get(queue, &none), KI_ERR_STOPPED);
    assert_int_equal(ki_workqueue_get(queue, &none), KI_ERR_STOPPED);
    ki_workqueue_shut_down(queue);
    wq_check(queue);
    ki_workqueue_unref(queue);
}

static void drained_is_when_nothing_waits_or_for_idle_when_nothing_is_worked_on(void **state)
{
    (void)state;
    ki_workqueue *queue = new_queue();
    assert_false(ki_workqueue_is_drained(queue, KI_DRAIN_EMPTY)); /* not shut down */
    (void)wq_add(queue, "a");
    (void)wq_add(queue, "b");
    ki_work work = wq_take(queue, "a");
    ki_workqueue_shut_down(queue);
    assert_false(ki_workqueue_is_drained(queue, KI_DRAIN_IDLE));
    ki_workqueue_done(queue, &work);
    assert_true(ki_workqueue_is_drained(queue, KI_DRAIN_IDLE));
    assert_false(ki_workqueue_is_drained(queue, KI_DRAIN_EMPTY));
    assert_int_equal(ki_workqueue_shut_down_with_drain(queue, KI_DRAIN_IDLE), 0);
    work = wq_take(queue, "b");
    assert_false(ki_workqueue_is_drained(queue, KI_DRAIN_IDLE));
    ki_workqueue_done(queue, &work);
    assert_true(ki_workqueue_is_drained(queue, KI_DRAIN_EMPTY));
    assert_int_equal(ki_workqueue_shut_down_with_drain(queue, KI_DRAIN_EMPTY), 0);
    assert_int_equal(ki_workqueue_shut_down_with_drain(queue, KI_DRAIN_MAX), -EINVAL);
    ki_workqueue_unref(queue);
}

static void a_queue_ends_whatever_is_in_it(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    fake_clock clock;
    fake_clock_init(&clock);
    ki_workqueue *queue = NULL;
    assert_int_equal(ki_workqueue_new(KI_OPTIONS(ki_workqueue_options, .alloc = &alloc.table,
                                                 .clock = &clock.table),
                                      &queue, NULL),
                     0);
    (void)wq_add(queue, "a");
    (void)wq_add(queue, "b");
    (void)wq_add_after(queue, "c", S_NS);
    (void)wq_take(queue, "a");
    (void)wq_add_rate_limited(queue, "a");
    assert_ptr_equal(ki_workqueue_ref(queue), queue);
    assert_null(ki_workqueue_unref(queue));
    assert_null(ki_workqueue_unref(queue));
    assert_null(ki_workqueue_unref(NULL));
    assert_null(ki_workqueue_ref(NULL));
    test_alloc_done(&alloc);
}

/* 100,000 keys come and go; what stays is a little for those that may come again. */
static void memory_is_bounded_and_released(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    fake_clock clock;
    fake_clock_init(&clock);
    ki_workqueue *queue = NULL;
    assert_int_equal(ki_workqueue_new(KI_OPTIONS(ki_workqueue_options, .alloc = &alloc.table,
                                                 .clock = &clock.table),
                                      &queue, NULL),
                     0);
    enum { KEYS = 100000 };
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < KEYS; i++) {
            char key[32];
            (void)snprintf(key, sizeof(key), "namespace-%d/pod-%d", i % 10, i);
            int r = i % 2 == 0 ? ki_workqueue_add(queue, key)
                               : ki__workqueue_add_after(queue, key, (uint64_t)i);
            assert_int_equal(r, 1);
        }
        assert_true(alloc.live_bytes < (size_t)KEYS * 240);
        fake_clock_advance(&clock, S_NS);
        ki_work work;
        while (ki_workqueue_try_get(queue, &work) == 1) {
            ki_workqueue_done(queue, &work);
        }
        wq_check(queue);
        assert_true(queue->idle_len <= KI__IDLE_MAX);
        assert_true(alloc.live_bytes < (size_t)KI__IDLE_MAX * 240);
    }
    for (int i = 0; i < 300000; i++) { /* the rest is released by steady use */
        ki_work work;
        assert_int_equal(ki_workqueue_add(queue, "a"), 1);
        assert_int_equal(ki_workqueue_get(queue, &work), 1);
        ki_workqueue_done(queue, &work);
    }
    wq_check(queue);
    assert_int_equal(queue->idle_len, KI__IDLE_MIN);
    assert_true(alloc.live_bytes < 100000);
    uint64_t calls = alloc.calls;
    for (int i = 0; i < 1000; i++) { /* steady use asks for nothing */
        (void)wq_add(queue, i % 2 == 0 ? "a" : "namespace-3/pod-of-steady-use");
        ki_work work;
        assert_int_equal(ki_workqueue_get(queue, &work), 1);
        ki_workqueue_done(queue, &work);
    }
    assert_true(alloc.calls <= calls + 2);
    ki_workqueue_unref(queue);
    test_alloc_done(&alloc);
}

static void options_that_make_no_sense_are_refused_with_a_reason(void **state)
{
    (void)state;
    fake_clock clock;
    fake_clock_init(&clock);
    ki_rate_limiter empty = {0};
    ki_workqueue_options cases[] = {
        {.limiter = &empty},
        {.clock = &clock.table, .limiter = &empty},
        {.max_keys = ((size_t)1 << 30) + 1},
        {.max_key_bytes = 65536},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_workqueue *queue = NULL;
        ki_error error = KI_ERROR_INIT;
        cases[i].size = sizeof(cases[i]);
        assert_int_equal(ki_workqueue_new(&cases[i], &queue, &error), -EINVAL);
        assert_int_equal(error.code, -EINVAL);
        assert_true(error.message[0] != '\0');
        assert_null(queue);
    }
    ki_workqueue *queue = NULL;
    ki_workqueue_options absurd = {.size = 1};
    assert_int_equal(ki_workqueue_new(&absurd, &queue, NULL), -EINVAL);
}

/* Everything that allocates. A failed add leaves the queue as it was; a key that is known can be
 * added and delayed whatever happens. */
static int use_all(const ki_alloc *alloc, void *user)
{
    (void)user;
    fake_clock clock;
    fake_clock_init(&clock);
    ki_workqueue *queue = NULL;
    ki_error error = KI_ERROR_INIT;
    int r = ki_workqueue_new(
        KI_OPTIONS(ki_workqueue_options, .alloc = alloc, .clock = &clock.table), &queue, &error);
    if (r < 0) {
        assert_int_equal(error.code, r);
        assert_null(queue);
        return r;
    }
    size_t added = 0;
    for (int i = 0; i < 40 && r >= 0; i++) {
        char key[80];
        (void)snprintf(key, sizeof(key), "%0*d", 1 + i * 2 % 70, i);
        r = ki_workqueue_add(queue, key);
        added += r == 1;
        wq_check(queue);
    }
    ki_work work;
    while (added != 0) {
        assert_int_equal(ki_workqueue_try_get(queue, &work), 1);
        assert_true(ki__workqueue_add_after(queue, work.key, S_NS) >= 0);
        assert_true(ki_workqueue_add_rate_limited(queue, work.key) >= 0);
        assert_true(ki_workqueue_add(queue, work.key) >= 0);
        ki_workqueue_done(queue, &work);
        assert_int_equal(ki_workqueue_try_get(queue, &work), 1);
        ki_workqueue_done(queue, &work);
        wq_check(queue);
        added--;
    }
    if (r >= 0) {
        r = ki__workqueue_add_after(queue, "later", 1);
    }
    ki_workqueue_shut_down(queue);
    wq_check(queue);
    ki_workqueue_unref(queue);
    return r < 0 ? r : 0;
}

static void a_failed_allocation_loses_no_key(void **state)
{
    (void)state;
    test_alloc_sweep(use_all, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_come_in_the_order_in_which_they_were_added),
        cmocka_unit_test(a_key_that_waits_is_there_once_and_keeps_its_place),
        cmocka_unit_test(a_key_added_while_worked_on_comes_again_after_done),
        cmocka_unit_test(a_key_that_comes_again_goes_behind_those_that_wait),
        cmocka_unit_test(done_twice_does_nothing),
        cmocka_unit_test(next_is_done_and_get_in_one),
        cmocka_unit_test(keys_are_text_up_to_a_limit),
        cmocka_unit_test(max_keys_counts_what_waits_and_is_worked_on),
        cmocka_unit_test(a_queue_that_is_shut_down_takes_nothing_and_hands_out_the_rest),
        cmocka_unit_test(drained_is_when_nothing_waits_or_for_idle_when_nothing_is_worked_on),
        cmocka_unit_test(a_queue_ends_whatever_is_in_it),
        cmocka_unit_test(memory_is_bounded_and_released),
        cmocka_unit_test(options_that_make_no_sense_are_refused_with_a_reason),
        cmocka_unit_test(a_failed_allocation_loses_no_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
