/* SPDX-License-Identifier: Apache-2.0 */
/* The waits that limiters give, up to the largest numbers there are. */
#include <errno.h>
#include <math.h>

#include <kinformer/rate_limiter.h>

#include "support/fake_clock.h"
#include "support/test.h"
#include "workqueue/workqueue_state.h"

static uint64_t when(const ki_rate_limiter *limiter, const char *key, uint64_t now_ns)
{
    return limiter->when(ki_str_from(key), now_ns, limiter->user);
}

static uint32_t requeues(const ki_rate_limiter *limiter, const char *key)
{
    return limiter->requeues(ki_str_from(key), limiter->user);
}

static void forget(const ki_rate_limiter *limiter, const char *key)
{
    limiter->forget(ki_str_from(key), limiter->user);
}

static void exponential_doubles_by_key_up_to_its_most(void **state)
{
    (void)state;
    ki_rate_limiter limiter = {0};
    assert_int_equal(ki_rate_limiter_exponential(1, 1000, NULL, &limiter), 0);
    for (uint32_t i = 0; i < 10; i++) {
        assert_int_equal(requeues(&limiter, "one"), i);
        assert_int_equal(when(&limiter, "one", 0), UINT64_C(1) << i);
    }
    for (uint32_t i = 0; i < 100; i++) { /* past all bits of the number */
        assert_int_equal(when(&limiter, "one", 0), 1000);
    }
    assert_int_equal(requeues(&limiter, "one"), 110);
    assert_int_equal(requeues(&limiter, "two"), 0);
    assert_int_equal(when(&limiter, "two", 0), 1);
    forget(&limiter, "one");
    forget(&limiter, "never seen");
    assert_int_equal(requeues(&limiter, "one"), 0);
    assert_int_equal(when(&limiter, "one", 0), 1);
    assert_int_equal(requeues(&limiter, "two"), 1);
    ki_rate_limiter_done(&limiter);
    ki_rate_limiter_done(&limiter);
}

static void exponential_never_overflows(void **state)
{
    (void)state;
    const struct {
        uint64_t base_ms, max_ms;
    } cases[] = {
        {1, UINT64_MAX},          {3, UINT64_MAX}, {UINT64_MAX, UINT64_MAX},
        {UINT64_MAX / 2 + 1, 10}, {1, 0},          {UINT64_C(1) << 63, UINT64_MAX},
    };
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        ki_rate_limiter limiter = {0};
        assert_int_equal(
            ki_rate_limiter_exponential(cases[c].base_ms, cases[c].max_ms, NULL, &limiter), 0);
        uint64_t before_ms = 0;
        for (size_t i = 0; i < 200; i++) {
            uint64_t wait_ms = when(&limiter, "a", 0);
            assert_true(wait_ms >= before_ms && wait_ms <= cases[c].max_ms);
            before_ms = wait_ms;
        }
        assert_int_equal(before_ms, cases[c].max_ms);
        ki_rate_limiter_done(&limiter);
    }
    ki_rate_limiter none = {0};
    assert_int_equal(ki_rate_limiter_exponential(0, 1000, NULL, &none), 0);
    for (size_t i = 0; i < 100; i++) { /* twice nothing is nothing */
        assert_int_equal(when(&none, "a", 0), 0);
    }
    ki_rate_limiter_done(&none);
}

static void fast_slow_is_fast_for_the_first_failures(void **state)
{
    (void)state;
    ki_rate_limiter limiter = {0};
    assert_int_equal(ki_rate_limiter_fast_slow(5, 10000, 3, NULL, &limiter), 0);
    const uint64_t expected[] = {5, 5, 5, 10000, 10000};
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(when(&limiter, "one", 0), expected[i]);
    }
    assert_int_equal(requeues(&limiter, "one"), 5);
    assert_int_equal(when(&limiter, "two", 0), 5);
    forget(&limiter, "one");
    assert_int_equal(when(&limiter, "one", 0), 5);
    ki_rate_limiter_done(&limiter);
    assert_int_equal(ki_rate_limiter_fast_slow(1, 2, 0, NULL, &limiter), 0);
    assert_int_equal(when(&limiter, "one", 0), 2);
    ki_rate_limiter_done(&limiter);
}

static void a_bucket_gives_its_burst_and_then_one_each_interval(void **state)
{
    (void)state;
    ki_rate_limiter limiter = {0};
    assert_int_equal(ki_rate_limiter_bucket(10, 3, NULL, &limiter), 0);
    uint64_t now_ns = 77 * S_NS;
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(when(&limiter, "any", now_ns), 0);
    }
    for (uint64_t i = 1; i <= 5; i++) { /* reserved ahead, ever longer */
        assert_int_equal(when(&limiter, "any", now_ns), i * 100);
    }
    now_ns += 500 * MS_NS; /* all that were reserved have come */
    assert_int_equal(when(&limiter, "any", now_ns), 100);
    now_ns += 150 * MS_NS; /* half a token is there */
    assert_int_equal(when(&limiter, "any", now_ns), 50);
    now_ns += 1000 * S_NS; /* full, and no more than full */
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(when(&limiter, "any", now_ns), 0);
    }
    assert_int_equal(when(&limiter, "any", now_ns), 100);
    assert_int_equal(requeues(&limiter, "any"), 0);
    forget(&limiter, "any");
    assert_int_equal(when(&limiter, "any", now_ns), 200);
    limiter.unused(ki_str_from("any"), limiter.user);
    assert_int_equal(when(&limiter, "any", now_ns), 200);
    assert_int_equal(when(&limiter, "any", now_ns - 50 * MS_NS), 350); /* clock behind */
    ki_rate_limiter_done(&limiter);
}

static void a_bucket_never_overflows(void **state)
{
    (void)state;
    const struct {
        uint64_t interval_ns;
        uint32_t burst;
        uint64_t now_ns;
    } cases[] = {
        {UINT64_MAX, UINT32_MAX, 5}, {UINT64_MAX, 1, 5},        {UINT64_MAX / 4, 1, UINT64_MAX},
        {1, UINT32_MAX, UINT64_MAX}, {UINT64_MAX / 2, 2, S_NS},
    };
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        ki_rate_limiter limiter = {0};
        assert_int_equal(
            ki__rate_limiter_bucket(cases[c].interval_ns, cases[c].burst, NULL, &limiter), 0);
        uint64_t before_ms = 0;
        for (size_t i = 0; i < 20; i++) {
            uint64_t wait_ms = when(&limiter, "a", cases[c].now_ns);
            assert_true(wait_ms >= before_ms);
            before_ms = wait_ms;
        }
        limiter.unused(ki_str_from("a"), limiter.user);
        ki_rate_limiter_done(&limiter);
    }
    ki_rate_limiter limiter = {0};
    static const double refused[] = {0, -1, 0.0009, 1e10, (double)NAN, (double)INFINITY};
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        assert_int_equal(ki_rate_limiter_bucket(refused[i], 1, NULL, &limiter), -EINVAL);
    }
    assert_int_equal(ki_rate_limiter_bucket(1, 0, NULL, &limiter), -EINVAL);
    assert_int_equal(ki_rate_limiter_bucket(150, 1, NULL, &limiter), 0); /* rounded up to ms */
    limiter.unused(ki_str_from("a"), limiter.user); /* more than was taken: still one at a time */
    assert_int_equal(when(&limiter, "a", 0), 0);
    assert_int_equal(when(&limiter, "a", 0), 7);
    ki_rate_limiter_done(&limiter);
}

static void max_of_asks_all_and_takes_the_longest(void **state)
{
    (void)state;
    ki_rate_limiter parts[2] = {{0}};
    ki_rate_limiter limiter = {0};
    assert_int_equal(ki_rate_limiter_fast_slow(5, 3000, 3, NULL, &parts[0]), 0);
    assert_int_equal(ki_rate_limiter_exponential(1, 1000, NULL, &parts[1]), 0);
    assert_int_equal(ki_rate_limiter_max_of((const ki_rate_limiter *[]){&parts[0], &parts[1]}, 2,
                                            NULL, &limiter),
                     0);
    const uint64_t expected[] = {5, 5, 5, 3000, 3000};
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(when(&limiter, "one", 0), expected[i]);
    }
    assert_int_equal(requeues(&limiter, "one"), 5);
    forget(&limiter, "one");
    assert_int_equal(requeues(&limiter, "one"), 0);
    assert_int_equal(when(&limiter, "one", 0), 5);
    limiter.unused(ki_str_from("one"), limiter.user); /* neither cares */
    ki_rate_limiter_done(&limiter);
}

static void with_max_wait_bounds_the_wait_and_nothing_else(void **state)
{
    (void)state;
    ki_rate_limiter part = {0};
    ki_rate_limiter limiter = {0};
    assert_int_equal(ki_rate_limiter_exponential(1, 1000, NULL, &part), 0);
    assert_int_equal(ki_rate_limiter_with_max_wait(&part, 5, NULL, &limiter), 0);
    const uint64_t expected[] = {1, 2, 4, 5, 5};
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(when(&limiter, "one", 0), expected[i]);
    }
    assert_int_equal(requeues(&limiter, "one"), 5);
    forget(&limiter, "one");
    assert_int_equal(when(&limiter, "one", 0), 1);
    ki_rate_limiter_done(&limiter);
}

static void the_default_is_5_ms_to_1000_s_and_10_per_second_from_100(void **state)
{
    (void)state;
    ki_rate_limiter limiter = {0};
    assert_int_equal(ki_rate_limiter_default(NULL, &limiter), 0);
    for (unsigned i = 0; i < 18; i++) {
        uint64_t wait_ms = UINT64_C(5) << i;
        assert_int_equal(when(&limiter, "one", 0), wait_ms < 1000000 ? wait_ms : 1000000);
    }
    for (unsigned i = 18; i < 100; i++) {
        assert_int_equal(when(&limiter, "one", 0), 1000000);
    }
    assert_int_equal(when(&limiter, "two", 0), 100); /* the bucket is empty */
    assert_int_equal(when(&limiter, "three", 0), 200);
    assert_int_equal(requeues(&limiter, "one"), 100);
    ki_rate_limiter_done(&limiter);
}

static void invalid_options_are_rejected_and_nothing_is_taken(void **state)
{
    (void)state;
    ki_rate_limiter part = {0};
    ki_rate_limiter limiter = {0};
    ki_rate_limiter empty = {0};
    const ki_rate_limiter *const parts[] = {&part};
    ki_rate_limiter_options many = {.size = sizeof(many), .max_keys = ((size_t)1 << 30) + 1};
    assert_int_equal(ki_rate_limiter_exponential(1, 1, &many, &part), -EINVAL);
    assert_int_equal(ki_rate_limiter_fast_slow(1, 1, 1, &many, &part), -EINVAL);
    assert_int_equal(ki_rate_limiter_bucket(1, 1, &many, &part), -EINVAL);
    assert_int_equal(ki_rate_limiter_default(&many, &part), -EINVAL);
    assert_int_equal(ki_rate_limiter_exponential(1, 1, NULL, &part), 0);
    assert_int_equal(ki_rate_limiter_max_of(parts, 0, NULL, &limiter), -EINVAL);
    assert_int_equal(ki_rate_limiter_max_of(parts, 65, NULL, &limiter), -EINVAL);
    assert_int_equal(ki_rate_limiter_max_of(parts, 1, &many, &limiter), -EINVAL);
    assert_int_equal(ki_rate_limiter_with_max_wait(&empty, 1, NULL, &limiter), -EINVAL);
    assert_int_equal(when(&part, "still ours", 0), 1);
    ki_rate_limiter_done(&part);
    ki_rate_limiter_done(&empty);
}

static int make_and_ask(const ki_alloc *alloc, void *user)
{
    (void)user;
    ki_rate_limiter_options options = {.size = sizeof(options), .alloc = alloc};
    ki_rate_limiter limiter = {0};
    ki_rate_limiter bounded = {0};
    ki_rate_limiter slow = {0};
    int r = ki_rate_limiter_default(&options, &limiter);
    if (r >= 0) {
        r = ki_rate_limiter_with_max_wait(&limiter, 10000, &options, &bounded);
    }
    if (r >= 0) {
        limiter = (ki_rate_limiter){0};
        r = ki_rate_limiter_fast_slow(1, 2, 1, &options, &slow);
    }
    int counted = 0;
    if (r >= 0) {
        /* Without memory a key waits the longest time there is; it is never refused. */
        for (size_t i = 0; i < 30; i++) {
            char key[2] = {(char)('a' + (char)i), '\0'};
            uint64_t wait_ms = when(&bounded, key, 0);
            assert_true(wait_ms == 5 || wait_ms == 10000);
            counted += wait_ms == 5;
            wait_ms = when(&slow, key, 0);
            assert_true(wait_ms == 1 || wait_ms == 2);
            counted += wait_ms == 1;
        }
        r = counted == 60 ? 0 : -ENOMEM;
    }
    ki_rate_limiter_done(&slow);
    ki_rate_limiter_done(&bounded);
    ki_rate_limiter_done(&limiter);
    return r;
}

static void without_memory_a_key_waits_longest(void **state)
{
    (void)state;
    test_alloc_sweep(make_and_ask, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exponential_doubles_by_key_up_to_its_most),
        cmocka_unit_test(exponential_never_overflows),
        cmocka_unit_test(fast_slow_is_fast_for_the_first_failures),
        cmocka_unit_test(a_bucket_gives_its_burst_and_then_one_each_interval),
        cmocka_unit_test(a_bucket_never_overflows),
        cmocka_unit_test(max_of_asks_all_and_takes_the_longest),
        cmocka_unit_test(with_max_wait_bounds_the_wait_and_nothing_else),
        cmocka_unit_test(the_default_is_5_ms_to_1000_s_and_10_per_second_from_100),
        cmocka_unit_test(invalid_options_are_rejected_and_nothing_is_taken),
        cmocka_unit_test(without_memory_a_key_waits_longest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
