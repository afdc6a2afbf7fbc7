/* SPDX-License-Identifier: Apache-2.0 */
/* What a queue counts, by the rules of client-go's metrics. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include <kinformer/worker.h>

#include "support/fake_clock.h"
#include "support/test.h"
#include "support/workqueue.h"

/* Times are measured in nanoseconds, and reported in milliseconds. */
#define assert_ms(ms, ns) assert_true(fabs((ms)*1e6 - (double)(ns)) < 1e-3)

static ki_workqueue *measuring_queue(fake_clock *clock)
{
    fake_clock_init(clock);
    ki_workqueue *queue = NULL;
    assert_int_equal(ki_workqueue_new(KI_OPTIONS(ki_workqueue_options, .clock = &clock->table,
                                                 .measure_times = true),
                                      &queue, NULL),
                     0);
    return queue;
}

static void adds_and_depth_count_what_was_not_waiting_already(void **state)
{
    (void)state;
    fake_clock clock;
    ki_workqueue *queue = measuring_queue(&clock);
    (void)wq_add(queue, "a");
    (void)wq_add(queue, "a");
    ki_workqueue_stats stats = wq_stats(queue);
    assert_int_equal(stats.adds, 1);
    assert_int_equal(stats.depth, 1);
    ki_work work = wq_take(queue, "a");
    assert_int_equal(wq_stats(queue).depth, 0);
    assert_int_equal(wq_stats(queue).processing, 1);
    (void)wq_add(queue, "a"); /* behind its own work: waits, but cannot be got */
    stats = wq_stats(queue);
    assert_int_equal(stats.adds, 2);
    assert_int_equal(stats.depth, 1);
    assert_int_equal(stats.queued, 0);
    ki_workqueue_done(queue, &work);
    stats = wq_stats(queue);
    assert_int_equal(stats.adds, 2);
    assert_int_equal(stats.depth, 1);
    assert_int_equal(stats.queued, 1);
    assert_int_equal(stats.processing, 0);
    ki_workqueue_unref(queue);
}

static void latency_is_from_add_to_get_and_work_from_get_to_done(void **state)
{
    (void)state;
    fake_clock clock;
    ki_workqueue *queue = measuring_queue(&clock);
    (void)wq_add(queue, "a");
    fake_clock_advance(&clock, 50);
    (void)wq_add(queue, "a"); /* the first add counts */
    fake_clock_advance(&clock, 50);
    ki_work work = wq_take(queue, "a");
    fake_clock_advance(&clock, 7);
    (void)wq_add(queue, "a");
    fake_clock_advance(&clock, 13);
    ki_workqueue_done(queue, &work);
    ki_workqueue_stats stats = wq_stats(queue);
    assert_int_equal(stats.latency.count, 1);
    assert_ms(stats.latency.sum_ms, 100);
    assert_int_equal(stats.work.count, 1);
    assert_ms(stats.work.sum_ms, 20);
    fake_clock_advance(&clock, 1000);
    work = wq_take(queue, "a");
    stats = wq_stats(queue);
    assert_int_equal(stats.latency.count, 2);
    assert_ms(stats.latency.sum_ms, 100 + 1013); /* also while its own work continued */
    assert_ms(stats.latency.max_ms, 1013);
    assert_int_equal(stats.latency.buckets[1], 1); /* up to 100 ns */
    assert_int_equal(stats.latency.buckets[3], 1); /* up to 10,000 ns */
    ki_workqueue_done(queue, &work);
    ki_workqueue_unref(queue);
}

static void a_delayed_key_begins_to_wait_when_it_is_due(void **state)
{
    (void)state;
    fake_clock clock;
    ki_workqueue *queue = measuring_queue(&clock);
    (void)wq_add_after(queue, "a", S_NS);
    ki_workqueue_stats stats = wq_stats(queue);
    assert_int_equal(stats.adds, 0);
    assert_int_equal(stats.delayed, 1);
    assert_int_equal(stats.retries, 1);
    fake_clock_advance(&clock, S_NS);
    stats = wq_stats(queue);
    assert_int_equal(stats.adds, 1);
    assert_int_equal(stats.delayed, 0);
    assert_int_equal(stats.depth, 1);
    fake_clock_advance(&clock, 30);
    (void)wq_take(queue, "a");
    assert_ms(wq_stats(queue).latency.sum_ms, 30);
    ki_workqueue_unref(queue);
}

static void unfinished_is_the_sum_and_longest_the_most_of_what_runs(void **state)
{
    (void)state;
    fake_clock clock;
    ki_workqueue *queue = measuring_queue(&clock);
    const char *keys[] = {"a", "b", "c"};
    ki_work works[3];
    for (size_t i = 0; i < 3; i++) {
        (void)wq_add(queue, keys[i]);
        works[i] = wq_take(queue, keys[i]);
        fake_clock_advance(&clock, 10);
    }
    ki_workqueue_stats stats = wq_stats(queue);
    assert_ms(stats.unfinished_ms, 30 + 20 + 10);
    assert_ms(stats.longest_running_ms, 30);
    ki_workqueue_done(queue, &works[0]);
    stats = wq_stats(queue);
    assert_ms(stats.unfinished_ms, 20 + 10);
    assert_ms(stats.longest_running_ms, 20);
    ki_workqueue_done(queue, &works[2]);
    fake_clock_advance(&clock, 5);
    stats = wq_stats(queue);
    assert_ms(stats.unfinished_ms, 25);
    assert_ms(stats.longest_running_ms, 25);
    ki_workqueue_done(queue, &works[1]);
    stats = wq_stats(queue);
    assert_ms(stats.unfinished_ms, 0);
    assert_ms(stats.longest_running_ms, 0);
    ki_workqueue_unref(queue);
}

static void buckets_are_bounded_by_powers_of_ten(void **state)
{
    (void)state;
    fake_clock clock;
    ki_workqueue *queue = measuring_queue(&clock);
    uint64_t bound_ns = 10;
    for (size_t i = 0; i < KI_DURATION_BUCKETS; i++, bound_ns *= 10) {
        uint64_t took_ns[2] = {bound_ns / 10 + 1, bound_ns}; /* the ends of bucket i */
        for (size_t k = 0; k < 2; k++) {
            (void)wq_add(queue, "a");
            ki_work work = wq_take(queue, "a");
            fake_clock_advance(&clock, took_ns[k]);
            ki_workqueue_done(queue, &work);
        }
        ki_workqueue_stats stats = wq_stats(queue);
        assert_int_equal(stats.work.buckets[i], 2);
        assert_int_equal(stats.latency.buckets[0], 2 * (i + 1)); /* it took no time */
    }
    ki_workqueue_unref(queue);
}

static void without_measuring_times_are_zero(void **state)
{
    (void)state;
    fake_clock clock;
    fake_clock_init(&clock);
    ki_workqueue *queue = NULL;
    assert_int_equal(
        ki_workqueue_new(KI_OPTIONS(ki_workqueue_options, .clock = &clock.table), &queue, NULL), 0);
    (void)wq_add(queue, "a");
    fake_clock_advance(&clock, 10);
    ki_work work = wq_take(queue, "a");
    fake_clock_advance(&clock, 10);
    ki_workqueue_stats stats = wq_stats(queue);
    assert_ms(stats.unfinished_ms, 0);
    assert_ms(stats.longest_running_ms, 0);
    assert_int_equal(stats.latency.count, 0);
    assert_int_equal(stats.adds, 1);
    ki_workqueue_done(queue, &work);
    assert_int_equal(wq_stats(queue).work.count, 0);
    ki_workqueue_unref(queue);
}

static void stats_fit_the_struct_of_the_program(void **state)
{
    (void)state;
    ki_workqueue *queue = NULL;
    assert_int_equal(ki_workqueue_new(NULL, &queue, NULL), 0);
    (void)wq_add(queue, "a");
    struct {
        ki_workqueue_stats stats;
        uint64_t later;
    } theirs;
    memset(&theirs, 0xee, sizeof(theirs));
    theirs.stats.size = 0;
    assert_int_equal(ki_workqueue_get_stats(queue, &theirs.stats), 0);
    assert_int_equal(theirs.stats.size, 0);
    assert_int_equal(theirs.stats.queued, 1);
    assert_int_equal(theirs.later, UINT64_C(0xeeeeeeeeeeeeeeee));
    theirs.stats.size = sizeof(theirs);
    assert_int_equal(ki_workqueue_get_stats(queue, &theirs.stats), 0);
    assert_int_equal(theirs.later, 0); /* of a version that the library does not know */
    theirs.stats.size = sizeof(theirs.stats) - 1;
    assert_int_equal(ki_workqueue_get_stats(queue, &theirs.stats), -EINVAL);
    ki_workqueue_unref(queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adds_and_depth_count_what_was_not_waiting_already),
        cmocka_unit_test(latency_is_from_add_to_get_and_work_from_get_to_done),
        cmocka_unit_test(a_delayed_key_begins_to_wait_when_it_is_due),
        cmocka_unit_test(unfinished_is_the_sum_and_longest_the_most_of_what_runs),
        cmocka_unit_test(buckets_are_bounded_by_powers_of_ten),
        cmocka_unit_test(without_measuring_times_are_zero),
        cmocka_unit_test(stats_fit_the_struct_of_the_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
