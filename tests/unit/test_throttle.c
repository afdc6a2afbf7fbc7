/* SPDX-License-Identifier: Apache-2.0 */
/* The throttle, in front of a transport that answers at once, on a clock of the test's own. */
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
    void *call;
    uint64_t at; /* when it went through */
    bool sent;
    bool ended;
    int code; /* of its end */
    char text[128];
    ki_response_sink sink;
    bool paused;
    bool cancelled;
    void (*in_end)(struct one *one);
} one;

struct fixture {
    test_alloc alloc;
    test_world world;
    ki_engine *engine;
    ki__throttle *throttle;
    ki_transport table;
    one ones[CALLS]; /* the letter of a path says which */
    int refuse;
    char logged[512];
    int logs;
    ki_log log;
};

/* ---- the transport behind it ---- */

static int inner_start(const ki_request *request, const ki_response_sink *sink, void *user,
                       void **ret_call, ki_error *error)
{
    (void)error;
    fixture *f = user;
    one *o = &f->ones[request->path[1] - 'A'];
    if (f->refuse < 0) {
        return f->refuse;
    }
    o->sent = true;
    o->at = ki__engine_now(f->engine);
    o->sink = *sink;
    snprintf(o->text, sizeof(o->text), "%s %s?%s %.*s:%.*s %.*s%s", request->method, request->path,
             request->query, (int)request->headers[0].name.len, request->headers[0].name.ptr,
             (int)request->headers[0].value.len, request->headers[0].value.ptr,
             (int)request->body.len, request->body.ptr, request->stream ? " stream" : "");
    *ret_call = o;
    return 0;
}

static void inner_cancel(void *call, void *user)
{
    (void)user;
    ((one *)call)->cancelled = true;
}

static void inner_pause(void *call, bool paused, void *user)
{
    (void)user;
    ((one *)call)->paused = paused;
}

/* ---- who asks ---- */

static void on_response(int status, const ki_http_header *headers, size_t header_count, void *user)
{
    (void)headers;
    (void)header_count;
    assert_int_equal(status, 200);
    (void)user;
}

static void on_body(ki_str bytes, void *user)
{
    (void)user;
    assert_int_equal(bytes.len, 3);
}

static void on_end(const ki_error *error, void *user)
{
    one *o = user;
    assert_false(o->ended);
    o->ended = true;
    o->call = NULL;
    o->code = error != NULL ? error->code : 0;
    if (o->in_end != NULL) {
        o->in_end(o);
    }
}

static void write_log(const ki_log_record *record, void *user)
{
    fixture *f = user;
    f->logs++;
    snprintf(f->logged, sizeof(f->logged), "%.*s", (int)record->fields[0].value.len,
             record->fields[0].value.ptr);
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
    const ki_transport inner = {
        .start = inner_start, .cancel = inner_cancel, .pause = inner_pause, .user = f};
    assert_int_equal(ki__throttle_new(f->engine, &inner, qps, burst, &f->throttle, NULL), 0);
    f->table = ki__throttle_table(f->throttle);
}

static void end(fixture *f)
{
    ki__throttle_free(f->throttle);
    test_world_settle(f->engine);
    (void)ki_engine_unref(f->engine);
    test_alloc_done(&f->alloc);
}

/* Text of the request is gone as soon as it was taken. */
static int ask_for(fixture *f, size_t number, bool stream, bool later_page)
{
    one *o = &f->ones[number];
    char path[8] = {'/', (char)('A' + number), '\0'};
    char body[4] = "abc";
    char value[4] = "val";
    char method[8] = "PUT";
    o->f = f;
    ki_http_header header = {ki_str_from("Name"), ki_str_make(value, 3)};
    ki_request request = {.method = method,
                          .path = path,
                          .query = "q=1",
                          .headers = &header,
                          .header_count = 1,
                          .body = ki_str_make(body, 3),
                          .stream = stream,
                          .later_page = later_page};
    const ki_response_sink sink = {
        .on_response = on_response, .on_body = on_body, .on_end = on_end, .user = o};
    int r = f->table.start(&request, &sink, f->table.user, &o->call, NULL);
    memset(path, 'x', sizeof(path) - 1);
    memset(body, 'x', sizeof(body));
    memset(value, 'x', sizeof(value));
    memset(method, 'x', sizeof(method) - 1);
    return r;
}

static int ask(fixture *f, size_t number, bool stream)
{
    return ask_for(f, number, stream, false);
}

static void answer(fixture *f, size_t number)
{
    one *o = &f->ones[number];
    assert_true(o->sent);
    o->sink.on_response(200, NULL, 0, o->sink.user);
    o->sink.on_body(ki_str_from("abc"), o->sink.user);
    o->sink.on_end(NULL, o->sink.user);
}

static size_t sent(const fixture *f)
{
    size_t count = 0;
    for (size_t i = 0; i < CALLS; i++) {
        count += f->ones[i].sent;
    }
    return count;
}

static void cancel(fixture *f, size_t number)
{
    f->table.cancel(f->ones[number].call, f->table.user);
    f->ones[number].call = NULL;
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
        assert_string_equal(strchr(f.ones[i].text, '?'), "?q=1 Name:val abc");
    }
    for (size_t i = 0; i < 20; i++) {
        answer(&f, i);
        assert_true(f.ones[i].ended);
    }
    /* The bucket fills up to its burst, and no further. */
    test_world_advance(&f.world, f.engine, 1000 * TEST_SECOND);
    for (size_t i = 20; i < 40; i++) {
        assert_int_equal(ask(&f, i, false), 0);
    }
    assert_int_equal(sent(&f), 30);
    end(&f); /* the others are dropped */
    assert_false(f.ones[39].ended);
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
        answer(&f, i);
    }
    answer(&f, 0);
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

static void one_that_waits_is_cancelled(void **state)
{
    (void)state;
    fixture f;
    begin(&f, 1, 1);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(ask(&f, i, false), 0);
    }
    cancel(&f, 0); /* under way: that costs its token */
    assert_true(f.ones[0].cancelled);
    cancel(&f, 1);
    cancel(&f, 3);
    test_world_advance(&f.world, f.engine, TEST_SECOND);
    assert_true(f.ones[2].sent);
    assert_false(f.ones[1].sent || f.ones[3].sent || f.ones[1].ended);
    assert_true(ki_engine_deadline(f.engine) == UINT64_MAX);
    end(&f);
}

static void one_that_waits_is_paused(void **state)
{
    (void)state;
    fixture f;
    begin(&f, 1, 1);
    assert_int_equal(ask(&f, 0, false), 0);
    assert_int_equal(ask(&f, 1, false), 0);
    f.table.pause(f.ones[1].call, true, f.table.user);
    f.table.pause(f.ones[0].call, true, f.table.user);
    assert_true(f.ones[0].paused);
    test_world_advance(&f.world, f.engine, TEST_SECOND);
    assert_true(f.ones[1].sent && f.ones[1].paused);
    f.table.pause(f.ones[1].call, false, f.table.user);
    assert_false(f.ones[1].paused);
    end(&f);
}

static void what_the_transport_refuses_is_told(void **state)
{
    (void)state;
    fixture f;
    begin(&f, 1, 1);
    assert_int_equal(ask(&f, 0, false), 0);
    assert_int_equal(ask(&f, 1, false), 0);
    f.refuse = -ENETDOWN;
    assert_int_equal(ask(&f, 2, true), -ENETDOWN); /* at once */
    test_world_advance(&f.world, f.engine, TEST_SECOND);
    assert_true(f.ones[1].ended);
    assert_int_equal(f.ones[1].code, -ENETDOWN);
    end(&f);
}

static void free_it(one *o)
{
    ki__throttle_free(o->f->throttle);
    o->f->throttle = NULL;
}

static void it_may_be_freed_inside_a_sink(void **state)
{
    (void)state;
    fixture f;
    begin(&f, 1, 1);
    assert_int_equal(ask(&f, 0, false), 0);
    f.ones[0].in_end = free_it;
    answer(&f, 0);
    end(&f);

    begin(&f, 1, 1);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(ask(&f, i, false), 0);
    }
    f.ones[1].in_end = free_it;
    f.refuse = -ENETDOWN;
    test_world_advance(&f.world, f.engine, 5 * TEST_SECOND); /* inside the timer */
    assert_true(f.ones[1].ended);
    assert_false(f.ones[2].ended);
    end(&f);
}

static void long_waits_are_logged_now_and_then(void **state)
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
    assert_string_equal(f.logged, "1000");
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
        assert_int_equal(ki__throttle_new(f.engine, &f.table, rates[i], 1, &throttle, NULL),
                         -EINVAL);
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
    const ki_transport inner = {.start = inner_start, .cancel = inner_cancel, .user = &f};
    r = ki__throttle_new(f.engine, &inner, 1, 1, &f.throttle, NULL);
    f.table = r == 0 ? ki__throttle_table(f.throttle) : f.table;
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
        cmocka_unit_test(one_that_waits_is_cancelled),
        cmocka_unit_test(one_that_waits_is_paused),
        cmocka_unit_test(what_the_transport_refuses_is_told),
        cmocka_unit_test(it_may_be_freed_inside_a_sink),
        cmocka_unit_test(long_waits_are_logged_now_and_then),
        cmocka_unit_test(rates_that_cannot_be),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
