/* SPDX-License-Identifier: Apache-2.0 */
/* The embedded API server over sockets: requests, watches, faults, limits, hostile clients.
 * threads: yes */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "support/serving.h"

#define MAPS "/api/v1/namespaces/default/configmaps"
#define ALL_MAPS "/api/v1/configmaps"
#define MS UINT64_C(1000000)

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static size_t count(const char *text, const char *what)
{
    size_t found = 0;
    for (; (text = strstr(text, what)) != NULL; text++) {
        found++;
    }
    return found;
}

static void set_faults(serving *s, const char *faults)
{
    ki_error error = KI_ERROR_INIT;
    if (ki_apiserver_set_faults(s->server, faults, &error) < 0) {
        fail_msg("%s", error.message);
    }
}

/* Begins a watch and runs until its answer began. */
static void watch(serving *s, exchange *e, const char *query)
{
    exchange_init(e, &s->t, ALL_MAPS, query);
    e->request.stream = true;
    exchange_start(e);
    for (int i = 0; i < 2000 && e->status == 0 && !e->ended; i++) {
        transporting_for(&s->t, 5);
    }
    assert_int_equal(e->status, 200);
}

static void until(serving *s, exchange *e, const char *what, size_t times)
{
    for (int i = 0; i < 2000 && !e->ended && count(ki_buf_text(&e->body), what) < times; i++) {
        transporting_for(&s->t, 5);
    }
    if (count(ki_buf_text(&e->body), what) < times) {
        fail_msg("no \"%s\" %zu times in: %s", what, times, ki_buf_text(&e->body));
    }
}

static void leave(exchange *e)
{
    if (!e->ended) {
        exchange_cancel(e);
    }
    exchange_done(e);
}

/* ---- requests ---- */

static void objects_are_written_and_read(void **state)
{
    (void)state;
    serving s;
    serving_begin(&s, NULL);
    serving_put(&s, "a");
    serving_put(&s, "b");
    assert_int_equal(serving_ask(&s, "GET", MAPS, "", ""), 200);
    assert_int_equal(count(serving_text(&s), "\"uid\""), 2);
    assert_true(serving_has(&s, "Content-Type: application/json\n"));
    assert_true(serving_has(&s, "Content-Length: "));
    assert_int_equal(serving_ask(&s, "PATCH", MAPS "/a", "", "{'data':{'k':'w'}}"), 200);
    assert_int_equal(serving_ask(&s, "GET", MAPS "/a", "", ""), 200);
    assert_true(serving_has(&s, "\"k\":\"w\""));
    assert_int_equal(serving_ask(&s, "DELETE", MAPS "/a", "", ""), 200);
    assert_int_equal(serving_ask(&s, "GET", MAPS "/a", "", ""), 404);
    assert_true(serving_has(&s, "\"reason\":\"NotFound\""));
    assert_int_equal(serving_ask(&s, "PROPFIND", MAPS, "", ""), 405);
    assert_int_equal(serving_ask(&s, "GET", "/nothing/here", "", ""), 404);
    serving_end(&s);
}

static void requests_share_a_connection(void **state)
{
    (void)state;
    serving s;
    ki_apiserver_stats stats = {0};
    serving_begin(&s, NULL);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(serving_ask(&s, "GET", MAPS, "", ""), 200);
    }
    ki_apiserver_get_stats(s.server, &stats);
    assert_int_equal(stats.connections, 1);
    assert_int_equal(stats.requests, 20);
    assert_int_equal(stats.open_connections, 1);
    serving_end(&s);
}

static void targets_are_taken_as_they_are_sent(void **state)
{
    (void)state;
    serving s;
    serving_begin(&s, NULL);
    serving_put(&s, "a");
    assert_int_equal(serving_ask(&s, "GET", ALL_MAPS,
                                 "fieldSelector=metadata.name%3Da%2cmetadata.name%21%3Db", ""),
                     200);
    assert_int_equal(count(serving_text(&s), "\"uid\""), 1);
    assert_int_equal(serving_ask(&s, "GET", MAPS "/%61", "", ""), 200);
    assert_int_equal(serving_ask(&s, "GET", MAPS "/a%2Fb", "", ""), 400);
    serving_end(&s);
}

/* Larger than any buffer on the way. */
static void a_long_list_comes_in_chunks(void **state)
{
    (void)state;
    serving s;
    char name[32];
    ki_buf body;
    serving_begin(&s, NULL);
    ki_buf_init(&body, NULL, 1 << 20);
    for (int i = 0; i < 300; i++) {
        ki_buf_clear(&body);
        snprintf(name, sizeof(name), "m%03d", i);
        test_add(&body, "{'metadata':{'name':'", 1);
        test_add(&body, name, 1);
        test_add(&body, "'},'data':{'k':'", 1);
        test_add(&body, "0123456789abcdef", 512);
        test_add(&body, "'}}", 1);
        assert_int_equal(serving_ask(&s, "POST", MAPS, "", body.data), 201);
    }
    assert_int_equal(serving_ask(&s, "GET", ALL_MAPS, "", ""), 200);
    assert_true(s.e.complete);
    assert_true(s.e.body.len > 300 * 8192);
    assert_int_equal(count(serving_text(&s), "\"uid\""), 300);
    assert_true(serving_has(&s, "Transfer-Encoding: chunked\n"));
    assert_int_equal(serving_ask(&s, "GET", ALL_MAPS, "limit=7", ""), 200);
    assert_int_equal(count(serving_text(&s), "\"uid\""), 7);
    assert_true(serving_has(&s, "\"continue\":\""));
    ki_buf_done(&body);
    serving_end(&s);
}

/* ---- watches ---- */

static void a_watch_is_woken_by_writes(void **state)
{
    (void)state;
    serving s;
    exchange e;
    ki_apiserver_stats stats = {0};
    serving_begin(&s, NULL);
    serving_put(&s, "a");
    watch(&s, &e, "watch=1");
    until(&s, &e, "ADDED", 1);
    transporting_for(&s.t, 50);
    ki_apiserver_get_stats(s.server, &stats);
    assert_int_equal(stats.open_watches, 1);
    int64_t before = now_ms();
    serving_put(&s, "b");
    until(&s, &e, "ADDED", 2);
    assert_true(now_ms() - before < 8000);
    assert_false(e.ended);
    leave(&e);
    serving_end(&s);
}

static void many_watches_see_every_write(void **state)
{
    (void)state;
    enum { WATCHES = 60, WRITES = 20 };
    serving s;
    static exchange e[WATCHES];
    serving_begin(&s, NULL);
    for (size_t i = 0; i < WATCHES; i++) {
        watch(&s, &e[i], "watch=1");
    }
    for (int i = 0; i < WRITES; i++) {
        char name[16];
        snprintf(name, sizeof(name), "m%d", i);
        serving_put(&s, name);
    }
    for (size_t i = 0; i < WATCHES; i++) {
        until(&s, &e[i], "ADDED", WRITES);
        leave(&e[i]);
    }
    serving_end(&s);
}

static void a_watch_ends_at_its_timeout_with_a_bookmark(void **state)
{
    (void)state;
    serving s;
    exchange e;
    ki_apiserver_options options = KI_OPTIONS_INIT(ki_apiserver_options);
    options.bookmark_ms = 200;
    serving_begin(&s, &options);
    watch(&s, &e, "watch=1&timeoutSeconds=1&allowWatchBookmarks=true&resourceVersion=1");
    transporting_until(&s.t, &e.ended);
    assert_true(e.complete);
    assert_true(count(ki_buf_text(&e.body), "BOOKMARK") >= 2);
    leave(&e);
    serving_end(&s);
}

static void a_client_that_leaves_its_watch_is_noticed(void **state)
{
    (void)state;
    serving s;
    exchange e;
    serving_begin(&s, NULL);
    for (int i = 0; i < 20; i++) {
        int fd = serving_connect(&s);
        bool closed;
        static const char request[] =
            "GET " ALL_MAPS "?watch=1 HTTP/1.1\r\nHost: localhost\r\n\r\n";
        assert_non_null(strstr(serving_until(fd, request, "200 OK", &closed), "200 OK"));
        assert_false(closed);
        close(fd);
    }
    assert_int_equal(serving_open(&s, 0), 0);
    watch(&s, &e, "watch=1");
    assert_int_equal(serving_open(&s, 1), 1);
    exchange_cancel(&e);
    exchange_done(&e);
    transporting_for(&s.t, 50);
    assert_int_equal(serving_open(&s, 0), 0);
    ki_apiserver_stats stats = {0};
    ki_apiserver_get_stats(s.server, &stats);
    assert_int_equal(stats.open_watches, 0);
    serving_end(&s);
}

static void a_streaming_list_receives_its_end(void **state)
{
    (void)state;
    serving s;
    exchange e;
    serving_begin(&s, NULL);
    serving_put(&s, "a");
    watch(&s, &e,
          "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
          "&allowWatchBookmarks=true");
    until(&s, &e, "k8s.io/initial-events-end", 1);
    leave(&e);
    serving_end(&s);
}

/* ---- faults ---- */

static void latency_delays_an_answer(void **state)
{
    (void)state;
    serving s;
    serving_begin(&s, NULL);
    set_faults(&s, "latency=300ms,verb=list");
    int64_t before = now_ms();
    assert_int_equal(serving_ask(&s, "GET", MAPS, "", ""), 200);
    assert_true(now_ms() - before >= 295);
    assert_int_equal(serving_ask(&s, "GET", MAPS "/x", "", ""), 404);
    serving_end(&s);
}

static void an_answer_is_cut_after_some_bytes(void **state)
{
    (void)state;
    static const char *const faults[] = {"cut=0", "cut=1", "cut=40"};
    static const size_t lengths[] = {0, 1, 40};
    serving s;
    serving_begin(&s, NULL);
    serving_put(&s, "a");
    for (size_t i = 0; i < 3; i++) {
        set_faults(&s, faults[i]);
        assert_int_equal(serving_ask(&s, "GET", MAPS, "", ""), 200);
        assert_true(s.e.ended);
        assert_false(s.e.complete);
        assert_int_equal(s.e.body.len, lengths[i]);
    }
    set_faults(&s, NULL);
    assert_int_equal(serving_ask(&s, "GET", MAPS, "", ""), 200);
    assert_true(s.e.complete);
    serving_end(&s);
}

static void a_connection_is_refused(void **state)
{
    (void)state;
    serving s;
    serving_begin(&s, NULL);
    set_faults(&s, "refuse,times=1");
    assert_int_equal(serving_ask(&s, "GET", MAPS, "", ""), 0);
    assert_false(s.e.complete);
    assert_int_equal(serving_ask(&s, "GET", MAPS, "", ""), 200);
    serving_end(&s);
}

static void failures_come_at_their_rate(void **state)
{
    (void)state;
    serving s;
    ki_apiserver_options options = KI_OPTIONS_INIT(ki_apiserver_options);
    options.faults = "status=429,retry-after=7,verb=list,rate=50%";
    options.seed = 1;
    serving_begin(&s, &options);
    size_t failed = 0;
    for (int i = 0; i < 100; i++) {
        failed += serving_ask(&s, "GET", MAPS, "", "") == 429 ? 1 : 0;
        if (s.e.status == 429) {
            assert_true(serving_has(&s, "Retry-After: 7\n"));
            assert_true(serving_has(&s, "TooManyRequests"));
        }
    }
    assert_in_range(failed, 30, 70);
    serving_end(&s);
}

static void watches_are_dropped_and_histories_expire(void **state)
{
    (void)state;
    serving s;
    exchange e;
    serving_begin(&s, NULL);
    serving_put(&s, "a");
    set_faults(&s, "drop=100ms");
    watch(&s, &e, "watch=1");
    transporting_until(&s.t, &e.ended);
    assert_true(e.complete);
    leave(&e);
    set_faults(&s, "expire,verb=watch");
    watch(&s, &e, "watch=1&resourceVersion=5");
    until(&s, &e, "410", 1);
    leave(&e);
    set_faults(&s, "");
    watch(&s, &e, "watch=1");
    ki_apiserver_drop_watches(s.server);
    transporting_until(&s.t, &e.ended);
    assert_true(e.complete);
    leave(&e);
    serving_put(&s, "b");
    ki_apiserver_expire_history(s.server);
    watch(&s, &e, "watch=1&resourceVersion=5");
    until(&s, &e, "410", 1);
    leave(&e);
    serving_end(&s);
}

static void every_connection_can_be_cut(void **state)
{
    (void)state;
    serving s;
    exchange e[3];
    serving_begin(&s, NULL);
    for (size_t i = 0; i < 3; i++) {
        watch(&s, &e[i], "watch=1");
    }
    ki_apiserver_break_connections(s.server);
    for (size_t i = 0; i < 3; i++) {
        transporting_until(&s.t, &e[i].ended);
        assert_false(e[i].complete);
        leave(&e[i]);
    }
    assert_int_equal(serving_open(&s, 0), 0);
    assert_int_equal(serving_ask(&s, "GET", MAPS, "", ""), 200);
    serving_end(&s);
}

static void the_end_of_initial_events_is_not_sent(void **state)
{
    (void)state;
    serving s;
    exchange e;
    serving_begin(&s, NULL);
    serving_put(&s, "a");
    set_faults(&s, "no-end-bookmark");
    watch(&s, &e,
          "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
          "&allowWatchBookmarks=true&timeoutSeconds=1");
    transporting_until(&s.t, &e.ended);
    assert_int_equal(count(ki_buf_text(&e.body), "ADDED"), 1);
    assert_null(strstr(ki_buf_text(&e.body), "initial-events-end"));
    leave(&e);
    serving_end(&s);
}

static void reads_are_stale_by_the_lag(void **state)
{
    (void)state;
    serving s;
    exchange e;
    serving_begin(&s, NULL);
    serving_put(&s, "a");
    set_faults(&s, "lag=400ms; stale");
    watch(&s, &e, "watch=1");
    until(&s, &e, "ADDED", 1);
    int64_t before = now_ms();
    serving_put(&s, "b");
    assert_int_equal(serving_ask(&s, "GET", MAPS, "", ""), 200);
    assert_int_equal(count(serving_text(&s), "\"uid\""), 1);
    until(&s, &e, "ADDED", 2);
    assert_true(now_ms() - before >= 395);
    assert_int_equal(serving_ask(&s, "GET", MAPS, "", ""), 200);
    assert_int_equal(count(serving_text(&s), "\"uid\""), 2);
    leave(&e);
    serving_end(&s);
}

static void faults_change_by_requests(void **state)
{
    (void)state;
    serving s;
    exchange e;
    serving_begin(&s, NULL);
    assert_int_equal(
        serving_ask(&s, "POST", "/kinformer/faults", "", "{'faults':['status=500,verb=list']}"),
        200);
    assert_int_equal(serving_ask(&s, "GET", MAPS, "", ""), 500);
    assert_int_equal(serving_ask(&s, "GET", "/kinformer/faults", "", ""), 200);
    assert_true(serving_has(&s, "status=500"));
    assert_int_equal(serving_ask(&s, "POST", "/kinformer/faults", "", "{'faults':'status=99'}"),
                     400);
    assert_int_equal(serving_ask(&s, "POST", "/kinformer/faults", "", "{'fault':1}"), 400);
    assert_int_equal(serving_ask(&s, "DELETE", "/kinformer/faults", "", ""), 200);
    assert_int_equal(serving_ask(&s, "GET", MAPS, "", ""), 200);
    assert_int_equal(serving_ask(&s, "PATCH", "/kinformer/faults", "", "{}"), 405);
    assert_int_equal(serving_ask(&s, "POST", "/kinformer/nothing", "", ""), 404);
    assert_int_equal(serving_ask(&s, "GET", "/kinformer/cut", "", ""), 405);
    watch(&s, &e, "watch=1");
    assert_int_equal(serving_ask(&s, "POST", "/kinformer/cut", "", ""), 200);
    transporting_until(&s.t, &e.ended);
    assert_false(e.complete);
    leave(&e);
    watch(&s, &e, "watch=1");
    assert_int_equal(serving_ask(&s, "POST", "/kinformer/drop-watches", "", ""), 200);
    transporting_until(&s.t, &e.ended);
    assert_true(e.complete);
    leave(&e);
    serving_put(&s, "a");
    assert_int_equal(serving_ask(&s, "POST", "/kinformer/expire", "", ""), 200);
    watch(&s, &e, "watch=1&resourceVersion=3");
    until(&s, &e, "410", 1);
    leave(&e);
    serving_end(&s);
}

/* ---- limits and hostile clients ---- */

static void a_body_that_is_too_large_is_refused(void **state)
{
    (void)state;
    serving s;
    ki_buf body;
    ki_apiserver_options options = KI_OPTIONS_INIT(ki_apiserver_options);
    options.max_body_bytes = 10000;
    serving_begin(&s, &options);
    ki_buf_init(&body, NULL, 64 << 20);
    test_add(&body, "{'metadata':{'name':'a'},'data':{'k':'", 1);
    test_add(&body, "0123456789abcdef", 1000);
    test_add(&body, "'}}", 1);
    assert_int_equal(serving_ask(&s, "POST", MAPS, "", body.data), 413);
    assert_true(serving_has(&s, "RequestEntityTooLarge"));
    serving_put(&s, "b");
    /* Far too large: the server does not read it to its end. */
    test_add(&body, "0123456789abcdef", 2 << 20);
    assert_int_not_equal(serving_ask(&s, "POST", MAPS, "", body.data), 201);
    serving_put(&s, "c");
    ki_buf_done(&body);
    serving_end(&s);
}

static void connections_beyond_the_limit_wait(void **state)
{
    (void)state;
    enum { LIMIT = 4 };
    serving s;
    int fds[LIMIT];
    bool closed;
    ki_apiserver_options options = KI_OPTIONS_INIT(ki_apiserver_options);
    options.max_connections = LIMIT;
    serving_begin(&s, &options);
    for (size_t i = 0; i < LIMIT; i++) {
        fds[i] = serving_connect(&s);
        static const char request[] = "GET " MAPS " HTTP/1.1\r\nHost: localhost\r\n\r\n";
        (void)serving_until(fds[i], request, "200 OK", &closed);
    }
    static const char last[] =
        "GET " MAPS " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    int fd = serving_connect(&s);
    assert_string_equal(serving_raw(fd, last, sizeof(last) - 1, 200, &closed), "");
    assert_false(closed);
    close(fds[0]);
    assert_non_null(strstr(serving_raw(fd, "", 0, 5000, &closed), "200 OK"));
    close(fd);
    for (size_t i = 1; i < LIMIT; i++) {
        close(fds[i]);
    }
    serving_end(&s);
}

/* What a raw request gets: the first line, or "" if nothing but the end comes. */
static const char *first_line(serving *s, const char *text, size_t len, bool *ret_closed)
{
    static char line[64];
    int fd = serving_connect(s);
    const char *got = serving_raw(fd, text, len, 3000, ret_closed);
    size_t end = strcspn(got, "\r\n");
    snprintf(line, sizeof(line), "%.*s", (int)end, got);
    close(fd);
    return line;
}

static void hostile_requests_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *begins; /* the answer with this; "": whatever, but it ends */
    } cases[] = {
        {"\r\n\r\n\r\n", ""},
        {"GET\r\n\r\n", ""},
        {"GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 400"},
        {"GET / HTTP/9.9\r\nHost: localhost\r\nConnection: close\r\n\r\n", ""},
        {"BREW " MAPS " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", "HTTP/1.1 405"},
        {"GET /%zz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", "HTTP/1.1 400"},
        {"GET /%00 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", "HTTP/1.1 400"},
        {"POST " MAPS " HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n", ""},
        {"POST " MAPS
         " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999999\r\n\r\n",
         ""},
        {"POST " MAPS " HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
         ""},
        {"POST " MAPS " HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
         "ffffffffffffffff1\r\n",
         ""},
        {"POST " MAPS " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
         "Connection: close\r\nContent-Length: 3\r\n\r\n{}}",
         "HTTP/1.1 400"},
        {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", ""},
    };
    serving s;
    ki_apiserver_options options = KI_OPTIONS_INIT(ki_apiserver_options);
    options.request_timeout_ms = 400;
    serving_begin(&s, &options);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        bool closed;
        const char *line = first_line(&s, cases[i].text, strlen(cases[i].text), &closed);
        if (!closed || strncmp(line, cases[i].begins, strlen(cases[i].begins)) != 0) {
            fail_msg("case %zu: %s, \"%s\"", i, closed ? "closed" : "open", line);
        }
    }
    assert_int_equal(serving_open(&s, 0), 0);
    assert_int_equal(serving_ask(&s, "GET", MAPS, "", ""), 200);
    serving_end(&s);
}

static void heads_that_are_too_large_are_refused(void **state)
{
    (void)state;
    serving s;
    bool closed;
    ki_buf text;
    serving_begin(&s, NULL);
    ki_buf_init(&text, NULL, 4 << 20);
    test_add(&text, "GET /api/v1/pods?x=", 1);
    test_add(&text, "a", 60000);
    test_add(&text, " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 1);
    assert_string_equal(first_line(&s, text.data, text.len, &closed), "HTTP/1.1 200 OK");
    ki_buf_clear(&text);
    test_add(&text, "GET /api/v1/pods?x=", 1);
    test_add(&text, "a", 66000);
    test_add(&text, " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 1);
    assert_true(strncmp(first_line(&s, text.data, text.len, &closed), "HTTP/1.1 414", 12) == 0);
    ki_buf_clear(&text);
    test_add(&text, "GET /api/v1/pods?x=", 1);
    test_add(&text, "a", 1 << 20);
    test_add(&text, " HTTP/1.1\r\nHost: localhost\r\n\r\n", 1);
    (void)first_line(&s, text.data, text.len, &closed);
    assert_true(closed);
    ki_buf_clear(&text);
    test_add(&text, "GET /api/v1/pods HTTP/1.1\r\nHost: localhost\r\n", 1);
    test_add(&text, "X-Much: 0123456789\r\n", 50000);
    test_add(&text, "\r\n", 1);
    (void)first_line(&s, text.data, text.len, &closed);
    assert_true(closed);
    ki_buf_clear(&text);
    test_add(&text, "GET /api/v1/pods HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n", 1);
    test_add(&text, "X-Many: 1\r\n", 200);
    test_add(&text, "\r\n", 1);
    assert_true(strncmp(first_line(&s, text.data, text.len, &closed), "HTTP/1.1 431", 12) == 0);
    ki_buf_done(&text);
    assert_int_equal(serving_ask(&s, "GET", MAPS, "", ""), 200);
    serving_end(&s);
}

/* One byte occasionally does not keep a connection. */
static void slow_clients_are_cut_off(void **state)
{
    (void)state;
    static const char *const begins[] = {
        "",
        "GET /api/v1/po",
        "POST " MAPS " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n",
    };
    serving s;
    ki_apiserver_options options = KI_OPTIONS_INIT(ki_apiserver_options);
    options.request_timeout_ms = 500;
    serving_begin(&s, &options);
    for (size_t i = 0; i < 3; i++) {
        int fd = serving_connect(&s);
        bool closed = false;
        int64_t start = now_ms();
        (void)serving_raw(fd, begins[i], strlen(begins[i]), 50, &closed);
        while (!closed && now_ms() - start < 5000) {
            (void)serving_raw(fd, "x", 1, 50, &closed);
        }
        assert_true(closed);
        assert_true(now_ms() - start >= 450);
        close(fd);
    }
    serving_end(&s);
}

static void clients_that_read_nothing_are_cut_off(void **state)
{
    (void)state;
    serving s;
    ki_buf body;
    ki_apiserver_options options = KI_OPTIONS_INIT(ki_apiserver_options);
    options.idle_timeout_ms = 500;
    serving_begin(&s, &options);
    ki_buf_init(&body, NULL, 8 << 20);
    test_add(&body, "{'data':{'k':'", 1);
    test_add(&body, "0123456789abcdef", 60000);
    test_add(&body, "'},'metadata':{'generateName':'a'}}", 1);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(serving_ask(&s, "POST", MAPS, "", body.data), 201);
    }
    int fd = serving_connect(&s);
    static const char request[] = "GET " MAPS " HTTP/1.1\r\nHost: localhost\r\n\r\n";
    assert_int_equal(send(fd, request, sizeof(request) - 1, 0), (ssize_t)sizeof(request) - 1);
    int64_t start = now_ms();
    while (now_ms() - start < 100) {
    }
    assert_int_equal(serving_open(&s, 0), 0); /* the one of the client was idle for long, too */
    close(fd);
    ki_buf_done(&body);
    serving_end(&s);
}

static void a_token_is_required(void **state)
{
    (void)state;
    serving s;
    bool closed;
    static const char *const requests[] = {
        "GET " MAPS " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        "GET " MAPS " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        "Authorization: Bearer secreT\r\n\r\n",
        "GET " MAPS " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        "Authorization: Bearer secret1\r\n\r\n",
        "POST /kinformer/cut HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    };
    ki_apiserver_options options = KI_OPTIONS_INIT(ki_apiserver_options);
    options.token = "secret";
    serving_begin(&s, &options);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(first_line(&s, requests[i], strlen(requests[i]), &closed),
                            "HTTP/1.1 401 Unauthorized");
    }
    static const char good[] = "GET " MAPS " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                               "authorization: bearer secret\r\n\r\n";
    assert_string_equal(first_line(&s, good, sizeof(good) - 1, &closed), "HTTP/1.1 200 OK");
    serving_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_are_written_and_read),
        cmocka_unit_test(requests_share_a_connection),
        cmocka_unit_test(targets_are_taken_as_they_are_sent),
        cmocka_unit_test(a_long_list_comes_in_chunks),
        cmocka_unit_test(a_watch_is_woken_by_writes),
        cmocka_unit_test(many_watches_see_every_write),
        cmocka_unit_test(a_watch_ends_at_its_timeout_with_a_bookmark),
        cmocka_unit_test(a_client_that_leaves_its_watch_is_noticed),
        cmocka_unit_test(a_streaming_list_receives_its_end),
        cmocka_unit_test(latency_delays_an_answer),
        cmocka_unit_test(an_answer_is_cut_after_some_bytes),
        cmocka_unit_test(a_connection_is_refused),
        cmocka_unit_test(failures_come_at_their_rate),
        cmocka_unit_test(watches_are_dropped_and_histories_expire),
        cmocka_unit_test(every_connection_can_be_cut),
        cmocka_unit_test(the_end_of_initial_events_is_not_sent),
        cmocka_unit_test(reads_are_stale_by_the_lag),
        cmocka_unit_test(faults_change_by_requests),
        cmocka_unit_test(a_body_that_is_too_large_is_refused),
        cmocka_unit_test(connections_beyond_the_limit_wait),
        cmocka_unit_test(hostile_requests_are_refused),
        cmocka_unit_test(heads_that_are_too_large_are_refused),
        cmocka_unit_test(slow_clients_are_cut_off),
        cmocka_unit_test(clients_that_read_nothing_are_cut_off),
        cmocka_unit_test(a_token_is_required),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
