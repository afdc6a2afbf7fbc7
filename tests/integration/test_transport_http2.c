/* SPDX-License-Identifier: Apache-2.0 */
/* The transport over HTTP/2: several streams on one connection, each for itself. The server answers
 * a stream with its place among those of its connection: "1 1 1 ...". */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "support/transporting.h"

#define MS UINT64_C(1000000)

enum { STREAMS = 5 };

static test_server server;
static ki_buf ca;

static int start_server(void **state)
{
    (void)state;
    test_server_start(&server, "http_server.py", TEST_SCRATCH_DIR "/transport_http2");
    test_server_file(&server, "ca.crt", &ca);
    return 0;
}

static int stop_server(void **state)
{
    (void)state;
    ki_buf_done(&ca);
    test_server_stop(&server);
    return 0;
}

static void open_tls(transporting *t, const char *name, ki__curl_http http)
{
    ki__curl_options options = {.tls = {.ca = ki_buf_str(&ca)}, .http = http};
    transporting_begin(t);
    transporting_open(t, &options, "https", test_server_port(&server, name));
}

static void start_watch(exchange *e, transporting *t)
{
    exchange_init(e, t, "/echo", "");
    e->request.stream = true;
    exchange_start(e);
}

/* Until all of them have got something. */
static void wait_for_bytes(transporting *t, const exchange *all, size_t count, size_t bytes)
{
    for (int i = 0; i < 6000; i++) {
        size_t have = 0;
        for (size_t k = 0; k < count; k++) {
            have += all[k].body.len >= bytes ? 1 : 0;
        }
        if (have == count) {
            return;
        }
        transporting_for(t, 10);
    }
    fail_msg("the streams are not served");
}

static void finish(transporting *t, exchange *all, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        exchange_done(&all[i]);
    }
    transporting_end(t);
}

/* A list by HTTP/1.1, whose connection stays open. */
static void list(transporting *t)
{
    exchange e;
    exchange_init(&e, t, "/echo", "");
    exchange_start(&e);
    wait_for_bytes(t, &e, 1, 2);
    assert_non_null(strstr(ki_buf_text(&e.body), "HTTP/1.1"));
    while (!e.ended) {
        transporting_for(t, 10);
    }
    exchange_done(&e);
}

/* Each watch is answered with its place on its connection: they are all another. A list comes
 * before watch number `list_before`. */
static void share_one_connection(size_t list_before)
{
    transporting t;
    exchange all[STREAMS];
    open_tls(&t, "h2", KI__CURL_HTTP_AUTO);
    for (size_t i = 0; i < STREAMS; i++) {
        if (i == list_before) {
            list(&t);
        }
        start_watch(&all[i], &t);
    }
    wait_for_bytes(&t, all, STREAMS, 6);
    unsigned seen = 0;
    for (size_t i = 0; i < STREAMS; i++) {
        char first = all[i].body.data[0];
        assert_in_range(first, '1', '0' + STREAMS);
        seen |= 1U << (first - '0');
        char text[8];
        snprintf(text, sizeof(text), "%c %c %c ", first, first, first);
        assert_memory_equal(all[i].body.data, text, 6);
        assert_non_null(strstr(ki_buf_text(&all[i].headers), "x-order: "));
    }
    assert_int_equal(seen, 0x3e);
    finish(&t, all, STREAMS);
}

static void watches_share_one_connection(void **state)
{
    (void)state;
    share_one_connection(STREAMS);
}

static void watches_share_one_connection_whatever_lists_use(void **state)
{
    (void)state;
    share_one_connection(0);
    share_one_connection(2);
}

static void a_cancelled_stream_leaves_the_others(void **state)
{
    (void)state;
    transporting t;
    exchange all[STREAMS];
    open_tls(&t, "h2", KI__CURL_HTTP_AUTO);
    for (size_t i = 0; i < STREAMS; i++) {
        start_watch(&all[i], &t);
    }
    wait_for_bytes(&t, all, STREAMS, 6);
    exchange_cancel(&all[0]);
    exchange_cancel(&all[1]);
    size_t before = all[0].body.len;
    wait_for_bytes(&t, &all[2], 3, before + 40);
    assert_int_equal(all[0].body.len, before);
    for (size_t i = 0; i < STREAMS; i++) {
        assert_false(all[i].ended);
    }
    finish(&t, all, STREAMS);
}

static void a_server_with_few_streams_gets_more_connections(void **state)
{
    (void)state;
    transporting t;
    exchange all[STREAMS];
    open_tls(&t, "h2-one", KI__CURL_HTTP_AUTO);
    for (size_t i = 0; i < STREAMS; i++) {
        start_watch(&all[i], &t);
        if (i == 0) {
            wait_for_bytes(&t, all, 1, 2); /* so that the limit is known */
        }
    }
    wait_for_bytes(&t, all, STREAMS, 6);
    finish(&t, all, STREAMS);
}

static const char *version_used(const char *name, ki__curl_http http, bool stream)
{
    transporting t;
    exchange e;
    open_tls(&t, name, http);
    exchange_init(&e, &t, "/echo", "");
    e.request.stream = stream;
    exchange_start(&e);
    wait_for_bytes(&t, &e, 1, 2);
    bool one = strstr(ki_buf_text(&e.body), "HTTP/1.1") != NULL;
    finish(&t, &e, 1);
    return one ? "1.1" : "2";
}

static void the_version_is_as_requested_and_offered(void **state)
{
    (void)state;
    assert_string_equal(version_used("h2", KI__CURL_HTTP_AUTO, true), "2");
    assert_string_equal(version_used("h2", KI__CURL_HTTP_AUTO, false), "1.1");
    assert_string_equal(version_used("h2", KI__CURL_HTTP_1_1, true), "1.1");
    assert_string_equal(version_used("h2", KI__CURL_HTTP_2, false), "2");
    assert_string_equal(version_used("good", KI__CURL_HTTP_2, true), "1.1");
}

static void pause_here(exchange *e)
{
    exchange_pause(e, true);
}

/* The first stream of the connection gets all it can take. */
static void a_paused_stream_does_not_stop_the_others(void **state)
{
    (void)state;
    transporting t;
    exchange all[2];
    open_tls(&t, "h2-window", KI__CURL_HTTP_AUTO);
    start_watch(&all[0], &t);
    all[0].in_body = pause_here;
    wait_for_bytes(&t, all, 1, 1);
    start_watch(&all[1], &t);
    wait_for_bytes(&t, &all[1], 1, 20);
    assert_int_equal(all[1].body.data[0], '2'); /* on the same connection */
    size_t before = all[0].body.len;
    size_t other = all[1].body.len;
    transporting_for(&t, 300);
    assert_int_equal(all[0].body.len, before);
    assert_true(all[1].body.len > other + 10);
    all[0].in_body = NULL;
    exchange_pause(&all[0], false);
    transporting_until(&t, &all[0].ended);
    assert_true(all[0].complete);
    assert_int_equal(all[0].body.len, 64 << 20);
    for (size_t i = 0; i < 1024; i += 100) {
        char text[16];
        snprintf(text, sizeof(text), "%08zu", i);
        assert_memory_equal(all[0].body.data + i * 65536, text, 8);
    }
    other = all[1].body.len;
    wait_for_bytes(&t, &all[1], 1, other + 10);
    finish(&t, all, 2);
}

/* A server that is stopped still acknowledges at TCP's level: only the deadline can tell. */
static void a_silent_connection_is_left_by_all(void **state)
{
    (void)state;
    transporting t;
    exchange all[3];
    open_tls(&t, "h2", KI__CURL_HTTP_AUTO);
    for (size_t i = 0; i < 3; i++) {
        exchange_init(&all[i], &t, "/echo", "");
        all[i].request.stream = true;
        all[i].request.idle_timeout_ms = i == 0 ? 400 : 0; /* the others have no limit */
        exchange_start(&all[i]);
    }
    wait_for_bytes(&t, all, 3, 6);
    assert_int_equal(kill(server.pid, SIGSTOP), 0);
    transporting_until(&t, &all[0].ended);
    transporting_until(&t, &all[1].ended);
    transporting_until(&t, &all[2].ended);
    assert_int_equal(kill(server.pid, SIGCONT), 0);
    assert_int_equal(all[0].error.code, -ETIMEDOUT);
    assert_true(all[1].error.code == -EPIPE || all[1].error.code == -ECONNRESET);
    assert_true(all[2].error.code == -EPIPE || all[2].error.code == -ECONNRESET);
    exchange again;
    start_watch(&again, &t);
    wait_for_bytes(&t, &again, 1, 2);
    assert_int_equal(again.body.data[0], '1'); /* the first on a new connection */
    exchange_done(&again);
    finish(&t, all, 3);
}

/* The streams have a connection each, and none of them can carry another request. */
static void all_connections_of_a_silent_server_are_left(void **state)
{
    (void)state;
    transporting t;
    exchange all[STREAMS];
    transporting_begin(&t);
    transporting_open(
        &t, &(ki__curl_options){.tls = {.ca = ki_buf_str(&ca)}, .dead_after_ns = 1600 * MS},
        "https", test_server_port(&server, "h2-one"));
    for (size_t i = 0; i < STREAMS; i++) {
        start_watch(&all[i], &t);
        wait_for_bytes(&t, &all[i], 1, 2);
    }
    struct timespec begun;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    assert_int_equal(kill(server.pid, SIGSTOP), 0);
    for (size_t i = 0; i < STREAMS; i++) {
        transporting_until(&t, &all[i].ended);
    }
    struct timespec ended;
    clock_gettime(CLOCK_MONOTONIC, &ended);
    assert_int_equal(kill(server.pid, SIGCONT), 0);
    assert_in_range(ended.tv_sec - begun.tv_sec, 1, 5); /* not one after the other */
    finish(&t, all, STREAMS);
}

/* One stream is silent, the connection is not. */
static void a_silent_stream_ends_alone(void **state)
{
    (void)state;
    transporting t;
    exchange all[2];
    open_tls(&t, "h2-silent", KI__CURL_HTTP_AUTO);
    start_watch(&all[0], &t);
    wait_for_bytes(&t, all, 1, 6);
    exchange_init(&all[1], &t, "/echo", "");
    all[1].request.stream = true;
    all[1].request.idle_timeout_ms = 600;
    exchange_start(&all[1]);
    transporting_until(&t, &all[1].ended);
    assert_int_equal(all[1].error.code, -ETIMEDOUT);
    size_t before = all[0].body.len;
    wait_for_bytes(&t, all, 1, before + 10);
    assert_false(all[0].ended);
    finish(&t, all, 2);
}

static void a_server_that_goes_away_is_reported(void **state)
{
    (void)state;
    transporting t;
    exchange all[3];
    test_server own;
    test_server_start(&own, "http_server.py", TEST_SCRATCH_DIR "/transport_http2_own");
    ki_buf own_ca;
    test_server_file(&own, "ca.crt", &own_ca);
    ki__curl_options options = {.tls = {.ca = ki_buf_str(&own_ca)}};
    transporting_begin(&t);
    transporting_open(&t, &options, "https", test_server_port(&own, "h2"));
    for (size_t i = 0; i < 3; i++) {
        start_watch(&all[i], &t);
    }
    wait_for_bytes(&t, all, 3, 6);
    test_server_stop(&own);
    for (size_t i = 0; i < 3; i++) {
        transporting_until(&t, &all[i].ended);
        assert_true(all[i].error.code == -EPIPE || all[i].error.code == -ECONNRESET);
    }
    ki_buf_done(&own_ca);
    for (size_t i = 0; i < 3; i++) {
        exchange_done(&all[i]);
    }
    transporting_close(&t);
    t.fds = test_descriptors() - 3; /* those of the server are gone, and the loop's are to go */
    transporting_end(&t);
}

/* What the server has not begun is for another connection; what it has begun it ends in peace. */
static void a_server_that_goes_away_loses_nothing(void **state)
{
    (void)state;
    transporting t;
    exchange all[3];
    open_tls(&t, "h2-goaway", KI__CURL_HTTP_AUTO);
    start_watch(&all[0], &t);
    wait_for_bytes(&t, all, 1, 2);
    start_watch(&all[1], &t);
    start_watch(&all[2], &t);
    wait_for_bytes(&t, all, 3, 2);
    size_t before = all[0].body.len;
    wait_for_bytes(&t, all, 1, before + 6);
    for (size_t i = 0; i < 3; i++) {
        assert_false(all[i].ended);
    }
    finish(&t, all, 3);
}

static void take_time(exchange *e)
{
    (void)e;
    nanosleep(&(struct timespec){.tv_nsec = 300000}, NULL);
}

/* Who sends faster than it is taken does not have the loop to itself. */
static void a_fast_server_takes_turns(void **state)
{
    (void)state;
    transporting t;
    exchange e;
    open_tls(&t, "h2-window", KI__CURL_HTTP_AUTO);
    start_watch(&e, &t);
    e.in_body = take_time;
    transporting_until(&t, &e.ended);
    assert_true(e.complete);
    assert_int_equal(e.body.len, 64 << 20);
    assert_true(e.bodies >= 1000); /* so it took a second at least */
    assert_in_range(t.longest_ms, 0, 500);
    finish(&t, &e, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(watches_share_one_connection),
        cmocka_unit_test(watches_share_one_connection_whatever_lists_use),
        cmocka_unit_test(a_cancelled_stream_leaves_the_others),
        cmocka_unit_test(a_server_with_few_streams_gets_more_connections),
        cmocka_unit_test(the_version_is_as_requested_and_offered),
        cmocka_unit_test(a_paused_stream_does_not_stop_the_others),
        cmocka_unit_test(a_silent_connection_is_left_by_all),
        cmocka_unit_test(all_connections_of_a_silent_server_are_left),
        cmocka_unit_test(a_silent_stream_ends_alone),
        cmocka_unit_test(a_server_that_goes_away_is_reported),
        cmocka_unit_test(a_server_that_goes_away_loses_nothing),
        cmocka_unit_test(a_fast_server_takes_turns),
    };
    return cmocka_run_group_tests(tests, start_server, stop_server);
}
