/* SPDX-License-Identifier: Apache-2.0 */
/* The throttle, on a clock of the test's own, with a transport that notes when it may begin a
 * request. That of libcurl with it: tests/integration/test_transport_calls.c. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/engine.h"
#include "rest/throttle.h"
#include "support/test.h"
#include "support/world.h"

enum { CALLS = 40 };

typedef struct fixture fixture;

typedef struct one {
    fixture *f;
    ki__throttle_waiter turn;
    char path[4];
    uint64_t at; /* when it began */
    bool sent;
    void (*in_go)(struct one *one);
} one;

struct fixture {
    test_alloc alloc;
    test_world world;
    ki_engine *engine;
    ki__throttle *throttle;
    one ones[CALLS];
    char logged[512];
    int logs;
    ki_log log;
};

/* ---- the transport ---- */

static void send(one *o)
{
    assert_false(o->sent);
    assert_false(ki__throttle_is_waiting(&o->turn));
    o->sent = true;
    o->at = ki__engine_now(o->f->engine);
}

static void go(ki__throttle_waiter *turn)
{
    one *o = KI__CONTAINER_OF(turn, one, turn);
    send(o);
    if (o->in_go != NULL) {
        o->in_go(o);
    }
}

static void write_log(const ki_log_record *record, void *user)
{
    fixture *f = user;
    f->logs++;
    for (size_t i = 0, len = 0; i < record->field_count; i++) {
        len += (size_t)snprintf(f->logged + len, sizeof(f->logged) - len, "%.*s ",
                                (int)record->fields[i].value.len, record->fields[i].value.ptr);
    }
}

static void begin(fixture *f, double qps, uint32_t burst)
{
    memset(f, 0, sizeof(*f));
    test_alloc_init(&f->alloc);
    test_world_init(&f->world);
    f->log = (ki_log){.write = write_log, .level = KI_LOG_INFO, .user = f};
    ki_engine_options options = test_world_engine_options(&f->world, &f->alloc.table);
    options.log = &f->log;
    assert_int_equal(ki_engine_new(&options, &f->engine, NULL), 0);
    assert_int_equal(ki__throttle_new(f->engine, qps, burst, &f->throttle, NULL), 0);
}

static void end(fixture *f)
{
    ki__throttle_free(f->throttle);
    test_world_settle(f->engine);
    (void)ki_engine_unref(f->engine);
    test_alloc_done(&f->alloc);
}

static int ask_for(fixture *f, size_t number, bool stream, bool later_page)
{
    one *o = &f->ones[number];
    const ki_http_request request = {.stream = stream, .later_page = later_page};
    o->f = f;
    o->sent = false;
    o->path[0] = '/';
    o->path[1] = (char)('A' + number);
    o->turn.go = go;
    o->turn.method = ki_str_from("PUT");
    o->turn.path = ki_str_from(o->path);
    int r = ki__throttle_enter(f->throttle, &request, &o->turn, NULL);
    assert_int_equal(ki__throttle_is_waiting(&o->turn), r == 1);
    if (r == 0) {
        send(o);
    }
    return r < 0 ? r : 0;
}

static int ask(fixture *f, size_t number, bool stream)
{
    return ask_for(f, number, stream, false);
}

static size_t sent(const fixture *f)
{
    size_t count = 0;
    for (size_t i = 0; i < CALLS; i++) {
        count += f->ones[i].sent;
    }
    return count;
}

/* ---- tests ---- */

static void a_burst_and_then_the_rate(void **state)
{
    (void)state;
    fixture f;
    begin(&f, 0, 0); /* 5 and 10 */
    for (size_t i = 0; i < 20; i++) {
        assert_int_equal(ask(&f, i, false), 0);
    }
    assert_int_equal(sent(&f), 10);
    for (size_t i = 10; i < 20; i++) {
        test_world_advance(&f.world, f.engine, TEST_SECOND / 5 - 1);
        assert_int_equal(sent(&f), i);
        test_world_advance(&f.world, f.engine, 1);
        assert_int_equal(sent(&f), i + 1);
        assert_true(f.ones[i].sent); /* in order */
    }
    /* The bucket fills up to its burst, and no further. */
    test_world_advance(&f.world, f.engine, 1000 * TEST_SECOND);
    for (size_t i = 20; i < 40; i++) {
        assert_int_equal(ask(&f, i, false), 0);
    }
    assert_int_equal(sent(&f), 30);
    assert_true(ki__throttle_is_waiting(&f.ones[39].turn));
    end(&f); /* the others are dropped */
    assert_false(ki__throttle_is_waiting(&f.ones[39].turn) || f.ones[39].sent);
    ki__throttle_leave(&f.ones[39].turn); /* is allowed also then */
}

static void streams_need_no_token(void **state)
{
    (void)state;
    fixture f;
    begin(&f, 1, 1);
    assert_int_equal(ask(&f, 0, false), 0);
    assert_int_equal(ask(&f, 1, false), 0);
    assert_int_equal(ask(&f, 2, true), 0);
    assert_int_equal(ask(&f, 3, true), 0);
    assert_true(f.ones[2].sent && f.ones[3].sent);
    assert_false(f.ones[1].sent);
    test_world_advance(&f.world, f.engine, TEST_SECOND);
    assert_true(f.ones[1].sent); /* whose token they did not take */
    end(&f);
}

/* 40 pages: the first waits for its turn, the others for nothing, and cost nobody a token. */
static void later_pages_of_a_list_need_no_token(void **state)
{
    (void)state;
    fixture f;
    begin(&f, 1, 1);
    assert_int_equal(ask(&f, 0, false), 0);
    assert_int_equal(ask(&f, 1, false), 0); /* the first page waits */
    assert_int_equal(ask_for(&f, 2, false, true), 0);
    assert_true(f.ones[0].sent && f.ones[2].sent);
    assert_false(f.ones[1].sent);
    test_world_advance(&f.world, f.engine, TEST_SECOND);
    assert_true(f.ones[1].sent);
    for (size_t i = 3; i < CALLS; i++) {
        assert_int_equal(ask_for(&f, i, false, true), 0);
        assert_true(f.ones[i].sent);
    }
    test_world_advance(&f.world, f.engine, TEST_SECOND);
    assert_int_equal(ask(&f, 0, false), 0);
    assert_int_equal(f.ones[0].at, ki__engine_now(f.engine)); /* there is a token left */
    end(&f);
}

static void without_a_limit_nobody_waits(void **state)
{
    (void)state;
    fixture f;
    begin(&f, -1, 0);
    for (size_t i = 0; i < CALLS; i++) {
        assert_int_equal(ask(&f, i, false), 0);
    }
    assert_int_equal(sent(&f), CALLS);
    end(&f);
}

static void one_that_waits_may_leave(void **state)
{
    (void)state;
    fixture f;
    begin(&f, 1, 1);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(ask(&f, i, false), 0);
    }
    ki__throttle_leave(&f.ones[0].turn); /* it does not wait; its token is spent */
    ki__throttle_leave(&f.ones[1].turn);
    ki__throttle_leave(&f.ones[3].turn);
    ki__throttle_leave(&f.ones[3].turn); /* once more does nothing */
    test_world_advance(&f.world, f.engine, TEST_SECOND);
    assert_true(f.ones[2].sent);
    assert_false(f.ones[1].sent || f.ones[3].sent);
    assert_true(ki_engine_deadline(f.engine) == UINT64_MAX);
    end(&f);
}

static void let_others_leave_and_come(one *o)
{
    ki__throttle_leave(&o->f->ones[2].turn);
    assert_int_equal(ask(o->f, 4, false), 0);
}

/* With two tokens at once: the second belongs to the one next in line by then. */
static void the_line_may_change_from_inside_go(void **state)
{
    (void)state;
    fixture f;
    begin(&f, 1, 2);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(ask(&f, i, false), 0);
    }
    f.world.now += 5 * TEST_SECOND; /* the timer is late */
    ki__throttle_leave(&f.ones[3].turn);
    f.ones[3] = (one){0};
    assert_int_equal(ask(&f, 3, false), 0);
    assert_false(f.ones[3].sent); /* there is a line, and no passing by */
    assert_int_equal(sent(&f), 2);
    end(&f);

    begin(&f, 1, 2);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(ask(&f, i, false), 0);
    }
    assert_int_equal(sent(&f), 2);
    ki__throttle_leave(&f.ones[2].turn);
    assert_int_equal(ask(&f, 2, false), 0); /* now behind 3 */
    f.ones[3].in_go = let_others_leave_and_come;
    f.world.now += 5 * TEST_SECOND;
    test_world_settle(f.engine);
    assert_true(f.ones[3].sent && f.ones[4].sent);
    assert_false(f.ones[2].sent);
    assert_true(ki_engine_deadline(f.engine) == UINT64_MAX);
    end(&f);
}

static void too_many_that_wait_are_refused(void **state)
{
    (void)state;
    enum { LIMIT = 1 << 16 };
    fixture f;
    const ki_http_request request = {0};
    ki_error error = KI_ERROR_INIT;
    ki__throttle_waiter *many = test_malloc((LIMIT + 1) * sizeof(*many));
    begin(&f, 1, 1);
    assert_int_equal(ask(&f, 0, false), 0);
    for (size_t i = 0; i < LIMIT; i++) {
        many[i] = (ki__throttle_waiter){.go = go};
        assert_int_equal(ki__throttle_enter(f.throttle, &request, &many[i], NULL), 1);
    }
    many[LIMIT] = (ki__throttle_waiter){.go = go};
    assert_int_equal(ki__throttle_enter(f.throttle, &request, &many[LIMIT], &error), KI_ERR_LIMIT);
    assert_false(ki__throttle_is_waiting(&many[LIMIT]));
    assert_int_equal(ask(&f, 1, true), 0); /* streams pass */
    ki__throttle_leave(&many[7]);
    assert_int_equal(ki__throttle_enter(f.throttle, &request, &many[LIMIT], &error), 1);
    end(&f);
    test_free(many);
}

static void long_waits_are_logged_occasionally(void **state)
{
    (void)state;
    fixture f;
    begin(&f, 2, 1);
    for (size_t i = 0; i < 40; i++) {
        assert_int_equal(ask(&f, i, false), 0);
    }
    test_world_advance(&f.world, f.engine, 900 * (TEST_SECOND / 1000));
    assert_int_equal(f.logs, 0);
    test_world_advance(&f.world, f.engine, 8 * TEST_SECOND);
    assert_int_equal(f.logs, 1);
    assert_string_equal(f.logged, "1000 PUT /C ");
    test_world_advance(&f.world, f.engine, 8 * TEST_SECOND);
    assert_int_equal(f.logs, 2);
    end(&f);
}

static void rates_that_cannot_be(void **state)
{
    (void)state;
    static const double rates[] = {1e-300, 1e-12, 0.0 / 0.0};
    fixture f;
    begin(&f, 1e300, 1); /* so many that there is no limit */
    assert_int_equal(ask(&f, 0, false), 0);
    assert_int_equal(ask(&f, 1, false), 0);
    assert_int_equal(sent(&f), 2);
    for (size_t i = 0; i < 3; i++) {
        ki__throttle *throttle = NULL;
        assert_int_equal(ki__throttle_new(f.engine, rates[i], 1, &throttle, NULL), -EINVAL);
    }
    end(&f);
}

static int scenario(const ki_alloc *alloc, void *user)
{
    (void)user;
    fixture f;
    memset(&f, 0, sizeof(f));
    test_world_init(&f.world);
    ki_engine_options options = test_world_engine_options(&f.world, alloc);
    int r = ki_engine_new(&options, &f.engine, NULL);
    if (r < 0) {
        return r;
    }
    r = ki__throttle_new(f.engine, 1, 1, &f.throttle, NULL);
    for (size_t i = 0; r == 0 && i < 3; i++) {
        r = ask(&f, i, false);
    }
    test_world_advance(&f.world, f.engine, 5 * TEST_SECOND);
    ki__throttle_free(f.throttle);
    (void)ki_engine_unref(f.engine);
    return r;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    test_alloc_sweep(scenario, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_burst_and_then_the_rate),
        cmocka_unit_test(streams_need_no_token),
        cmocka_unit_test(later_pages_of_a_list_need_no_token),
        cmocka_unit_test(without_a_limit_nobody_waits),
        cmocka_unit_test(one_that_waits_may_leave),
        cmocka_unit_test(the_line_may_change_from_inside_go),
        cmocka_unit_test(too_many_that_wait_are_refused),
        cmocka_unit_test(long_waits_are_logged_occasionally),
        cmocka_unit_test(rates_that_cannot_be),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
