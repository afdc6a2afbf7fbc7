/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of delays and of rate limiting in the queue, the wake function, and what was counted.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <kinformer/worker.h>

#include "support/fake_clock.h"
#include "support/test.h"
#include "support/workqueue.h"

typedef struct fixture {
    fake_clock clock;
    ki_workqueue *queue;
    int wakes;
} fixture;

static void count_wake(void *user)
{
    fixture *f = user;
    f->wakes++;
    wq_check(f->queue); /* no lock is held */
}

static void open_with(fixture *f, ki_workqueue_options *options)
{
    fake_clock_init(&f->clock);
    f->wakes = 0;
    options->size = sizeof(*options);
    options->clock = &f->clock.table;
    options->wake = count_wake;
    options->wake_user = f;
    assert_int_equal(ki_workqueue_new(options, &f->queue, NULL), 0);
}

static void open_queue(fixture *f)
{
    open_with(f, &(ki_workqueue_options){0});
}

static void take_and_be_done(fixture *f, const char *key)
{
    ki_work work = wq_take(f->queue, key);
    ki_workqueue_done(f->queue, &work);
}

static void a_delayed_key_comes_at_its_time_and_not_before(void **state)
{
    (void)state;
    fixture f;
    open_queue(&f);
    assert_int_equal(wq_add_after(f.queue, "a", 50 * MS_NS), 1);
    assert_int_equal(ki_workqueue_count(f.queue), 0);
    fake_clock_advance(&f.clock, 50 * MS_NS - 1);
    wq_take_none(f.queue);
    fake_clock_advance(&f.clock, 1);
    assert_int_equal(ki_workqueue_count(f.queue), 1);
    take_and_be_done(&f, "a");
    fake_clock_advance(&f.clock, 1000 * S_NS);
    wq_take_none(f.queue); /* once */
    ki_workqueue_unref(f.queue);
}

static void no_delay_adds_at_once(void **state)
{
    (void)state;
    fixture f;
    open_queue(&f);
    assert_int_equal(wq_add_after(f.queue, "a", 0), 1);
    assert_int_equal(wq_add_after(f.queue, "a", 0), 0);
    take_and_be_done(&f, "a");
    assert_int_equal(wq_stats(f.queue).retries, 2);
    ki_workqueue_unref(f.queue);
}

static void of_two_delays_the_earlier_counts(void **state)
{
    (void)state;
    fixture f;
    open_queue(&f);
    assert_int_equal(wq_add_after(f.queue, "a", 50 * MS_NS), 1);
    assert_int_equal(wq_add_after(f.queue, "a", 60 * MS_NS), 0);
    assert_int_equal(wq_add_after(f.queue, "a", 50 * MS_NS), 0);
    assert_int_equal(wq_add_after(f.queue, "a", 30 * MS_NS), 1);
    assert_int_equal(wq_stats(f.queue).delayed, 1);
    fake_clock_advance(&f.clock, 30 * MS_NS);
    take_and_be_done(&f, "a");
    fake_clock_advance(&f.clock, 100 * MS_NS);
    wq_take_none(f.queue);
    ki_workqueue_unref(f.queue);
}

static void delayed_keys_come_in_the_order_of_their_times(void **state)
{
    (void)state;
    fixture f;
    open_queue(&f);
    (void)wq_add_after(f.queue, "c", 30);
    (void)wq_add_after(f.queue, "a", 10);
    (void)wq_add_after(f.queue, "b", 20);
    fake_clock_advance(&f.clock, 30);
    take_and_be_done(&f, "a");
    take_and_be_done(&f, "b");
    take_and_be_done(&f, "c");
    ki_workqueue_unref(f.queue);
}

static void a_delay_stands_beside_adding_and_working(void **state)
{
    (void)state;
    fixture f;
    open_queue(&f);
    (void)wq_add_after(f.queue, "a", 10);
    assert_int_equal(wq_add(f.queue, "a"), 1);
    ki_work work = wq_take(f.queue, "a");
    fake_clock_advance(&f.clock, 10);
    wq_take_none(f.queue); /* due, but still worked on */
    assert_int_equal(wq_stats(f.queue).depth, 1);
    ki_workqueue_done(f.queue, &work);
    take_and_be_done(&f, "a");

    (void)wq_add_after(f.queue, "a", 10); /* due while it waits: still once */
    (void)wq_add(f.queue, "a");
    fake_clock_advance(&f.clock, 10);
    take_and_be_done(&f, "a");
    wq_take_none(f.queue);

    (void)wq_add(f.queue, "a"); /* delayed by its worker, as retries are */
    work = wq_take(f.queue, "a");
    (void)wq_add_after(f.queue, "a", 10);
    ki_workqueue_done(f.queue, &work);
    wq_take_none(f.queue);
    fake_clock_advance(&f.clock, 10);
    take_and_be_done(&f, "a");
    ki_workqueue_unref(f.queue);
}

static void shutting_down_drops_delayed_keys_but_not_those_that_are_due(void **state)
{
    (void)state;
    fixture f;
    open_queue(&f);
    (void)wq_add_after(f.queue, "late", 20);
    (void)wq_add_after(f.queue, "due", 10);
    (void)wq_add(f.queue, "busy");
    ki_work work = wq_take(f.queue, "busy");
    (void)wq_add_after(f.queue, "busy", 20);
    fake_clock_advance(&f.clock, 10);
    ki_workqueue_shut_down(f.queue);
    wq_check(f.queue);
    assert_int_equal(ki__workqueue_add_after(f.queue, "x", 1), KI_ERR_STOPPED);
    assert_int_equal(ki__workqueue_add_after(f.queue, "x", 0), KI_ERR_STOPPED);
    assert_int_equal(ki_workqueue_add_rate_limited(f.queue, "x"), KI_ERR_STOPPED);
    assert_int_equal(wq_stats(f.queue).retries, 3);
    ki_workqueue_done(f.queue, &work);
    take_and_be_done(&f, "due");
    fake_clock_advance(&f.clock, S_NS);
    assert_int_equal(ki_workqueue_try_get(f.queue, &work), KI_ERR_STOPPED);
    ki_workqueue_unref(f.queue);
}

/* client-go made a timer for each; the delay also must not wrap around and come at once. */
static void a_key_of_the_far_future_costs_nothing_and_does_not_come(void **state)
{
    (void)state;
    fixture f;
    open_queue(&f);
    const uint64_t delays[] = {UINT64_MAX, UINT64_MAX - 5 * S_NS, UINT64_MAX / 2, UINT64_MAX - 1};
    for (size_t i = 0; i < 4; i++) {
        char key[2] = {(char)('a' + (char)i), '\0'};
        assert_int_equal(wq_add_after(f.queue, key, delays[i]), 1);
    }
    assert_int_equal(wq_add_after(f.queue, "a", UINT64_MAX), 0);
    assert_int_equal(wq_stats(f.queue).delayed, 4);
    fake_clock_advance(&f.clock, UINT64_MAX / 4);
    wq_take_none(f.queue);
    assert_true(ki__workqueue_next_deadline(f.queue) > UINT64_MAX / 2);
    assert_true(ki__workqueue_next_deadline(f.queue) < UINT64_MAX); /* it is not lost */
    ki_workqueue_shut_down(f.queue);
    assert_int_equal(wq_stats(f.queue).delayed, 0);
    ki_workqueue_unref(f.queue);

    open_queue(&f);
    (void)wq_add_after(f.queue, "a", UINT64_MAX - atomic_load(&f.clock.now_ns));
    assert_int_equal(ki__workqueue_next_deadline(f.queue), UINT64_MAX - 1);
    ki_workqueue_unref(f.queue);
}

static void without_a_clock_the_systems_is_used(void **state)
{
    (void)state;
    ki_workqueue *queue = NULL;
    ki_work work;
    assert_int_equal(ki_workqueue_new(NULL, &queue, NULL), 0);
    const char *key = "a";
    const ki_clock *clock = ki_clock_system();
    uint64_t before = clock->monotonic_ns(clock->user);
    assert_int_equal(ki__workqueue_add_after(queue, key, 20 * MS_NS), 1);
    assert_int_equal(ki_workqueue_try_get(queue, &work), 0);
    assert_int_equal(ki_workqueue_get(queue, &work), 1);
    assert_true(clock->monotonic_ns(clock->user) - before >= 20 * MS_NS);
    assert_int_equal(ki_workqueue_add_rate_limited(queue, key), 1);
    assert_int_equal(ki_workqueue_requeues(queue, key), 1);
    ki_workqueue_done(queue, &work);
    ki_workqueue_unref(queue);
}

static void a_queue_without_delayed_keys_reads_no_clock(void **state)
{
    (void)state;
    fixture f;
    open_queue(&f);
    for (int i = 0; i < 10; i++) {
        (void)wq_add(f.queue, "a");
        take_and_be_done(&f, "a");
    }
    assert_int_equal(atomic_load(&f.clock.reads), 0);
    ki_workqueue_unref(f.queue);
}

static void the_next_deadline_says_when_to_look_again(void **state)
{
    (void)state;
    fixture f;
    open_queue(&f);
    uint64_t now_ns = atomic_load(&f.clock.now_ns);
    assert_int_equal(ki__workqueue_next_deadline(f.queue), UINT64_MAX);
    (void)wq_add_after(f.queue, "a", 20);
    assert_int_equal(ki__workqueue_next_deadline(f.queue), now_ns + 20);
    (void)wq_add_after(f.queue, "b", 10);
    assert_int_equal(ki__workqueue_next_deadline(f.queue), now_ns + 10);
    fake_clock_advance(&f.clock, 10);
    assert_int_equal(ki__workqueue_next_deadline(f.queue), 0);
    take_and_be_done(&f, "b");
    assert_int_equal(ki__workqueue_next_deadline(f.queue), now_ns + 20);
    ki_workqueue_shut_down(f.queue);
    assert_int_equal(ki__workqueue_next_deadline(f.queue), 0); /* to receive KI_ERR_STOPPED */
    ki_workqueue_unref(f.queue);
}

static void a_poller_is_woken_once_for_each_time_it_found_nothing(void **state)
{
    (void)state;
    fixture f;
    open_queue(&f);
    (void)wq_add(f.queue, "a");
    assert_int_equal(f.wakes, 1); /* nobody has looked yet */
    (void)wq_add(f.queue, "b");
    assert_int_equal(f.wakes, 1);
    ki_work a = wq_take(f.queue, "a");
    ki_work b = wq_take(f.queue, "b");
    wq_take_none(f.queue);
    (void)wq_add(f.queue, "a"); /* worked on: nothing to get yet */
    assert_int_equal(f.wakes, 1);
    ki_workqueue_done(f.queue, &a);
    assert_int_equal(f.wakes, 2);
    ki_workqueue_done(f.queue, &b);
    take_and_be_done(&f, "a");
    wq_take_none(f.queue);
    (void)wq_add_after(f.queue, "c", 20);
    assert_int_equal(f.wakes, 3); /* it slept without a deadline */
    wq_take_none(f.queue);
    (void)wq_add_after(f.queue, "d", 30);
    assert_int_equal(f.wakes, 3); /* not earlier than what it knows */
    (void)wq_add_after(f.queue, "d", 10);
    assert_int_equal(f.wakes, 4);
    wq_take_none(f.queue);
    ki_workqueue_shut_down(f.queue);
    assert_int_equal(f.wakes, 5);
    ki_workqueue_unref(f.queue);
}

static void a_poller_is_woken_when_the_queue_is_drained(void **state)
{
    (void)state;
    fixture f;
    open_queue(&f);
    (void)wq_add(f.queue, "a");
    ki_work work = wq_take(f.queue, "a");
    ki_workqueue_shut_down(f.queue);
    int before = f.wakes;
    ki_workqueue_done(f.queue, &work);
    assert_int_equal(f.wakes, before + 1);
    assert_true(ki_workqueue_is_drained(f.queue, KI_DRAIN_EMPTY));
    ki_workqueue_unref(f.queue);
}

static void programs_count_in_milliseconds(void **state)
{
    (void)state;
    fixture f;
    open_queue(&f);
    uint64_t now_ns = atomic_load(&f.clock.now_ns);
    assert_int_equal(ki_workqueue_timeout(f.queue), -1);
    assert_int_equal(ki_workqueue_add_after(f.queue, "a", 20), 1);
    assert_int_equal(ki__workqueue_next_deadline(f.queue), now_ns + 20 * MS_NS);
    assert_int_equal(ki_workqueue_timeout(f.queue), 20);
    fake_clock_advance(&f.clock, 20 * MS_NS - 1);
    assert_int_equal(ki_workqueue_timeout(f.queue), 1); /* rounded up: never too early */
    fake_clock_advance(&f.clock, 1);
    assert_int_equal(ki_workqueue_timeout(f.queue), 0);
    take_and_be_done(&f, "a");
    assert_int_equal(ki_workqueue_add_after(f.queue, "b", UINT64_MAX), 1);
    assert_int_equal(ki_workqueue_timeout(f.queue), INT32_MAX);
    ki_workqueue_shut_down(f.queue);
    assert_int_equal(ki_workqueue_timeout(f.queue), 0); /* to get KI_ERR_STOPPED */
    assert_int_equal(ki_workqueue_timeout(NULL), -EINVAL);
    ki_workqueue_unref(f.queue);
}

/* Rate limiting */

static void rate_limited_keys_wait_longer_each_time_until_forgotten(void **state)
{
    (void)state;
    fixture f;
    ki_rate_limiter limiter = {0};
    assert_int_equal(ki_rate_limiter_exponential(1, 1000, NULL, &limiter), 0);
    open_with(&f, &(ki_workqueue_options){.limiter = &limiter});
    uint64_t now_ns = atomic_load(&f.clock.now_ns);
    /* As client-go's TestRateLimitingQueue has it: the second add asks the limiter, too. */
    assert_int_equal(wq_add_rate_limited(f.queue, "one"), 1);
    assert_int_equal(ki__workqueue_next_deadline(f.queue), now_ns + MS_NS);
    assert_int_equal(wq_add_rate_limited(f.queue, "one"), 0);
    assert_int_equal(ki_workqueue_requeues(f.queue, "one"), 2);
    assert_int_equal(wq_add_rate_limited(f.queue, "two"), 1);
    assert_int_equal(ki_workqueue_requeues(f.queue, "two"), 1);
    fake_clock_advance(&f.clock, MS_NS);
    take_and_be_done(&f, "one");
    take_and_be_done(&f, "two");
    (void)wq_add_rate_limited(f.queue, "one");
    assert_int_equal(ki__workqueue_next_deadline(f.queue), now_ns + MS_NS + 4 * MS_NS);
    ki_workqueue_forget(f.queue, "two");
    assert_int_equal(ki_workqueue_requeues(f.queue, "two"), 0);
    (void)wq_add_rate_limited(f.queue, "two");
    assert_int_equal(ki__workqueue_next_deadline(f.queue), now_ns + 2 * MS_NS);
    assert_int_equal(wq_stats(f.queue).retries, 5);
    ki_workqueue_unref(f.queue);
}

static void the_limiter_by_default_is_that_of_controllers(void **state)
{
    (void)state;
    fixture f;
    open_queue(&f);
    uint64_t now_ns = atomic_load(&f.clock.now_ns);
    (void)wq_add_rate_limited(f.queue, "a");
    assert_int_equal(ki__workqueue_next_deadline(f.queue), now_ns + 5 * MS_NS);
    ki_workqueue_unref(f.queue);
}

/* One key is added rate limited twice as often as tokens come. In client-go each wait is twice as
 * long as the one before, and soon the key is not worked on for hours. */
static void one_key_added_at_twice_the_rate_of_a_bucket_is_served_at_its_rate(void **state)
{
    (void)state;
    fixture f;
    ki_rate_limiter bucket = {0};
    assert_int_equal(ki_rate_limiter_bucket(5, 1, NULL, &bucket), 0);
    open_with(&f, &(ki_workqueue_options){.limiter = &bucket});
    uint64_t last_ns = atomic_load(&f.clock.now_ns);
    size_t served = 0;
    for (size_t step = 0; step < 10000; step++) {
        (void)wq_add_rate_limited(f.queue, "a");
        for (size_t i = 0; i < 10; i++) { /* a worker that looks every 10 ms */
            ki_work work;
            uint64_t now_ns = atomic_load(&f.clock.now_ns);
            if (ki_workqueue_try_get(f.queue, &work) == 1) {
                ki_workqueue_done(f.queue, &work);
                served++;
                last_ns = now_ns;
            }
            assert_true(now_ns - last_ns <= 300 * MS_NS);
            fake_clock_advance(&f.clock, 10 * MS_NS);
        }
    }
    assert_true(served >= 4900 && served <= 5001);
    ki_workqueue_unref(f.queue);
}

/* Many keys at twice the rate: then the waits do grow, as the header says, but not beyond a bound
 * that was set, and every key is served in it. */
static void with_a_longest_wait_every_key_is_served_within_it(void **state)
{
    (void)state;
    fixture f;
    ki_rate_limiter bucket = {0};
    ki_rate_limiter bounded = {0};
    assert_int_equal(ki_rate_limiter_bucket(10, 1, NULL, &bucket), 0);
    assert_int_equal(ki_rate_limiter_with_max_wait(&bucket, 2000, NULL, &bounded), 0);
    open_with(&f, &(ki_workqueue_options){.limiter = &bounded});
    enum { KEYS = 500 };
    static uint64_t added_ns[KEYS];
    size_t served = 0;
    for (size_t step = 0; served < KEYS; step++) {
        uint64_t now_ns = atomic_load(&f.clock.now_ns);
        char key[16];
        if (step < KEYS) {
            (void)snprintf(key, sizeof(key), "%zu", step);
            (void)wq_add_rate_limited(f.queue, key);
            added_ns[step] = now_ns;
        }
        ki_work work;
        while (ki_workqueue_try_get(f.queue, &work) == 1) {
            size_t number = (size_t)strtoul(work.key, NULL, 10);
            assert_true(now_ns - added_ns[number] <= 2 * S_NS + 50 * MS_NS);
            ki_workqueue_done(f.queue, &work);
            served++;
        }
        assert_true(step < 10000);
        fake_clock_advance(&f.clock, 50 * MS_NS);
    }
    ki_workqueue_unref(f.queue);
}

/* A limiter of the program's own. */
typedef struct own_limiter {
    int asked;
    int forgotten;
    int unused;
    int destroyed;
} own_limiter;

static uint64_t own_when(ki_str key, uint64_t now_ns, void *user)
{
    (void)key;
    (void)now_ns;
    ((own_limiter *)user)->asked++;
    return 7;
}

static void own_forget(ki_str key, void *user)
{
    (void)key;
    ((own_limiter *)user)->forgotten++;
}

static uint32_t own_requeues(ki_str key, void *user)
{
    return (uint32_t)(key.len + (size_t)((own_limiter *)user)->asked);
}

static void own_unused(ki_str key, void *user)
{
    (void)key;
    ((own_limiter *)user)->unused++;
}

static void own_destroy(void *user)
{
    ((own_limiter *)user)->destroyed++;
}

static void a_program_can_give_its_own_limiter(void **state)
{
    (void)state;
    own_limiter own = {0};
    ki_rate_limiter limiter = {0,          own_when,    own_forget, own_requeues,
                               own_unused, own_destroy, &own};
    fixture f;
    open_with(&f, &(ki_workqueue_options){.limiter = &limiter, .max_key_bytes = 3});
    (void)wq_add_rate_limited(f.queue, "abc");
    assert_int_equal(ki__workqueue_next_deadline(f.queue),
                     atomic_load(&f.clock.now_ns) + 7 * MS_NS);
    assert_int_equal(own.unused, 0);
    (void)wq_add_rate_limited(f.queue, "abc");
    assert_int_equal(own.unused, 1);
    ki_workqueue_forget(f.queue, "abc");
    assert_int_equal(ki_workqueue_requeues(f.queue, "abc"), 5);
    assert_int_equal(ki_workqueue_add_rate_limited(f.queue, "long"), KI_ERR_LIMIT);
    assert_int_equal(ki__workqueue_add_after(f.queue, "long", 1), KI_ERR_LIMIT);
    assert_int_equal(own.asked, 2);
    assert_int_equal(own.forgotten, 1);
    assert_int_equal(own.destroyed, 0);
    ki_workqueue_unref(f.queue);
    assert_int_equal(own.destroyed, 1);
}

static void a_limiter_stays_the_callers_when_there_is_no_queue(void **state)
{
    (void)state;
    own_limiter own = {0};
    ki_rate_limiter limiter = {0,          own_when,    own_forget, own_requeues,
                               own_unused, own_destroy, &own};
    ki_workqueue *queue = NULL;
    assert_int_equal(ki_workqueue_new(KI_OPTIONS(ki_workqueue_options, .limiter = &limiter,
                                                 .max_key_bytes = 65536),
                                      &queue, NULL),
                     -EINVAL);
    assert_int_equal(own.destroyed, 0);
    ki_rate_limiter_done(&limiter);
    assert_int_equal(own.destroyed, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_delayed_key_comes_at_its_time_and_not_before),
        cmocka_unit_test(no_delay_adds_at_once),
        cmocka_unit_test(of_two_delays_the_earlier_counts),
        cmocka_unit_test(delayed_keys_come_in_the_order_of_their_times),
        cmocka_unit_test(a_delay_stands_beside_adding_and_working),
        cmocka_unit_test(shutting_down_drops_delayed_keys_but_not_those_that_are_due),
        cmocka_unit_test(a_key_of_the_far_future_costs_nothing_and_does_not_come),
        cmocka_unit_test(without_a_clock_the_systems_is_used),
        cmocka_unit_test(a_queue_without_delayed_keys_reads_no_clock),
        cmocka_unit_test(the_next_deadline_says_when_to_look_again),
        cmocka_unit_test(a_poller_is_woken_once_for_each_time_it_found_nothing),
        cmocka_unit_test(a_poller_is_woken_when_the_queue_is_drained),
        cmocka_unit_test(programs_count_in_milliseconds),
        cmocka_unit_test(rate_limited_keys_wait_longer_each_time_until_forgotten),
        cmocka_unit_test(the_limiter_by_default_is_that_of_controllers),
        cmocka_unit_test(one_key_added_at_twice_the_rate_of_a_bucket_is_served_at_its_rate),
        cmocka_unit_test(with_a_longest_wait_every_key_is_served_within_it),
        cmocka_unit_test(a_program_can_give_its_own_limiter),
        cmocka_unit_test(a_limiter_stays_the_callers_when_there_is_no_queue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
