/* SPDX-License-Identifier: Apache-2.0 */
/* The retry policy: which failures, how often, when. */
#include <errno.h>

#include "rest/retry.h"
#include "support/test.h"
#include "support/world.h"

typedef struct fixture {
    test_world world;
    ki_engine *engine;
    ki__retry retry;
    uint64_t delay;
} fixture;

static void begin(fixture *f, ki__retry_kind kind)
{
    test_world_init(&f->world);
    ki_engine_options options = test_world_engine_options(&f->world, ki_alloc_default());
    assert_int_equal(ki_engine_new(&options, &f->engine, NULL), 0);
    f->retry = (ki__retry){.kind = kind, .deadline = UINT64_MAX};
    f->delay = 0;
}

static void end(fixture *f)
{
    (void)ki_engine_unref(f->engine);
}

static bool after_response(fixture *f, int status, bool has_retry_after, uint32_t seconds)
{
    const ki__http_head head = {
        .status = status, .has_retry_after = has_retry_after, .retry_after_s = seconds};
    return ki__retry_response(&f->retry, f->engine, &head, &f->delay);
}

static bool after_failure(fixture *f, int code)
{
    return ki__retry_failure(&f->retry, f->engine, code, &f->delay);
}

static void assert_delay(const fixture *f, uint64_t seconds)
{
    assert_in_range(f->delay, seconds * TEST_SECOND, seconds * TEST_SECOND * 5 / 4);
}

static void responses_that_name_a_time(void **state)
{
    (void)state;
    static const struct {
        int status;
        bool retried;
    } rows[] = {{200, false}, {404, false}, {409, false}, {429, true},
                {499, false}, {500, true},  {503, true},  {599, true}};
    fixture f;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        begin(&f, KI__RETRY_WRITE);
        assert_int_equal(after_response(&f, rows[i].status, true, 3), rows[i].retried);
        assert_int_equal(f.retry.count, rows[i].retried);
        assert_int_equal(ki__retry_of(&f.retry), rows[i].retried ? rows[i].status : 0);
        if (rows[i].retried) {
            assert_delay(&f, 3);
        }
        assert_false(after_response(&f, rows[i].status, false, 0));
        end(&f);
    }
}

static void connections_that_broke(void **state)
{
    (void)state;
    static const struct {
        int code;
        bool read;
        bool watch;
    } rows[] = {{-EPIPE, true, true},          {-ECONNRESET, true, false},
                {-ECONNABORTED, true, false},  {-ETIMEDOUT, false, true},
                {-ECONNREFUSED, false, false}, {KI_ERR_TLS, false, false}};
    fixture f;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        begin(&f, KI__RETRY_READ);
        assert_int_equal(after_failure(&f, rows[i].code), rows[i].read);
        assert_int_equal(ki__retry_of(&f.retry), rows[i].read ? -1 : 0);
        if (rows[i].read) {
            assert_delay(&f, 1);
        }
        f.retry.kind = KI__RETRY_WATCH;
        assert_int_equal(after_failure(&f, rows[i].code), rows[i].watch);
        f.retry.kind = KI__RETRY_WRITE;
        assert_false(after_failure(&f, rows[i].code));
        end(&f);
    }
}

static void ten_times_and_no_more(void **state)
{
    (void)state;
    fixture f;
    begin(&f, KI__RETRY_READ);
    for (int i = 0; i < 10; i++) {
        assert_true(i % 2 == 0 ? after_response(&f, 503, true, 1) : after_failure(&f, -EPIPE));
    }
    assert_false(after_response(&f, 503, true, 1));
    assert_false(after_failure(&f, -EPIPE));
    end(&f);
    begin(&f, KI__RETRY_NEVER);
    assert_false(after_response(&f, 503, true, 1));
    assert_false(after_failure(&f, -EPIPE));
    end(&f);
}

static void a_second_at_least_a_minute_at_most(void **state)
{
    (void)state;
    fixture f;
    begin(&f, KI__RETRY_READ);
    assert_true(after_response(&f, 429, true, 0));
    assert_delay(&f, 1);
    assert_true(after_response(&f, 429, true, UINT32_MAX));
    assert_delay(&f, 60);
    f.retry.longest_s = 10;
    assert_true(after_response(&f, 429, true, 10));
    assert_false(after_response(&f, 429, true, 11));
    end(&f);
}

static void no_wait_beyond_the_deadline(void **state)
{
    (void)state;
    fixture f;
    begin(&f, KI__RETRY_READ);
    f.retry.deadline = f.world.now + 20 * TEST_SECOND;
    assert_true(after_response(&f, 429, true, 10));
    assert_false(after_response(&f, 429, true, 20));
    assert_int_equal(f.retry.count, 1);
    test_world_advance(&f.world, f.engine, 20 * TEST_SECOND);
    assert_false(after_failure(&f, -EPIPE));
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(responses_that_name_a_time),
        cmocka_unit_test(connections_that_broke),
        cmocka_unit_test(ten_times_and_no_more),
        cmocka_unit_test(a_second_at_least_a_minute_at_most),
        cmocka_unit_test(no_wait_beyond_the_deadline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
