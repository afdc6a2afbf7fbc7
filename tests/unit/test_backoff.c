/* SPDX-License-Identifier: Apache-2.0 */
/* Backoff: how long each wait is, and when they get short again. */
#include "base/backoff.h"
#include "support/test.h"
#include "support/world.h"

typedef struct fixture {
    test_world world;
    ki_engine *engine;
    ki__backoff backoff;
} fixture;

static void begin(fixture *f)
{
    test_world_init(&f->world);
    ki_engine_options options = test_world_engine_options(&f->world, NULL);
    assert_int_equal(ki_engine_new(&options, &f->engine, NULL), 0);
    ki__backoff_init(&f->backoff, 0, 0, 0);
}

static void end(fixture *f)
{
    (void)ki_engine_unref(f->engine);
}

static void expect_step(fixture *f, uint64_t ms)
{
    uint64_t wait = ki__backoff_next(&f->backoff, f->engine);
    assert_in_range(wait, ms * TEST_MS, 2 * ms * TEST_MS - 1);
}

static void waits_double_from_800_ms_to_30_s(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    const uint64_t steps[] = {800, 1600, 3200, 6400, 12800, 25600, 30000, 30000, 30000};
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        expect_step(&f, steps[i]);
    }
    end(&f);
}

static void jitter_reaches_from_once_to_twice_the_step(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    uint64_t least = UINT64_MAX;
    uint64_t most = 0;
    for (int i = 0; i < 1000; i++) {
        ki__backoff_init(&f.backoff, 0, 0, 0);
        uint64_t wait = ki__backoff_next(&f.backoff, f.engine);
        least = wait < least ? wait : least;
        most = wait > most ? wait : most;
    }
    assert_in_range(least, 800 * TEST_MS, 820 * TEST_MS);
    assert_in_range(most, 1580 * TEST_MS, 1600 * TEST_MS - 1);
    end(&f);
}

static void two_minutes_without_a_wait_reset(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    expect_step(&f, 800);
    expect_step(&f, 1600);
    f.world.now += 120 * TEST_SECOND; /* not yet more than that */
    expect_step(&f, 3200);
    f.world.now += 120 * TEST_SECOND + 1;
    expect_step(&f, 800);
    end(&f);
}

/* client-go since 0.36 would start over here. */
static void failing_all_the_time_never_resets(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    for (int i = 0; i < 6; i++) {
        (void)ki__backoff_next(&f.backoff, f.engine);
    }
    for (int i = 0; i < 100; i++) {
        f.world.now += 45 * TEST_SECOND;
        expect_step(&f, 30000);
    }
    end(&f);
}

static void times_can_be_chosen(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    ki__backoff_init(&f.backoff, 10 * TEST_MS, 35 * TEST_MS, TEST_SECOND);
    expect_step(&f, 10);
    expect_step(&f, 20);
    expect_step(&f, 35);
    f.world.now += TEST_SECOND + 1;
    expect_step(&f, 10);
    ki__backoff_init(&f.backoff, 50 * TEST_MS, 10 * TEST_MS, 0); /* less than the first */
    expect_step(&f, 50);
    expect_step(&f, 50);
    ki__backoff_init(&f.backoff, UINT64_MAX, UINT64_MAX, UINT64_MAX); /* nothing wraps around */
    assert_true(ki__backoff_next(&f.backoff, f.engine) >= UINT64_C(1) << 60);
    assert_true(ki__backoff_next(&f.backoff, f.engine) < UINT64_C(1) << 61);
    end(&f);
}

static void after_a_reset_the_waits_start_over(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    expect_step(&f, 800);
    expect_step(&f, 1600);
    ki__backoff_reset(&f.backoff);
    expect_step(&f, 800);
    end(&f);
}

static void a_server_that_asks_for_a_time_gets_it_and_up_to_a_quarter(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    const uint32_t asked[] = {1000, 7500, 60000, 60001, 86400000, UINT32_MAX};
    for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
        uint64_t ns = (asked[i] < 60000 ? asked[i] : 60000) * TEST_MS;
        uint64_t least = UINT64_MAX;
        uint64_t most = 0;
        for (int n = 0; n < 1000; n++) {
            uint64_t wait = ki__backoff_requested(f.engine, asked[i]);
            least = wait < least ? wait : least;
            most = wait > most ? wait : most;
        }
        assert_in_range(least, ns, ns + ns / 100);
        assert_in_range(most, ns + ns / 4 - ns / 100, ns + ns / 4);
    }
    assert_int_equal(ki__backoff_requested(f.engine, 0), 0);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_double_from_800_ms_to_30_s),
        cmocka_unit_test(jitter_reaches_from_once_to_twice_the_step),
        cmocka_unit_test(two_minutes_without_a_wait_reset),
        cmocka_unit_test(failing_all_the_time_never_resets),
        cmocka_unit_test(times_can_be_chosen),
        cmocka_unit_test(after_a_reset_the_waits_start_over),
        cmocka_unit_test(a_server_that_asks_for_a_time_gets_it_and_up_to_a_quarter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
