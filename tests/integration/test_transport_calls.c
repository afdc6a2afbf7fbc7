/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of the transport: cancelled, paused and begun from anywhere; credentials; proxies; and that
 * nothing is left behind. */
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/transporting.h"

#define MS UINT64_C(1000000)

static test_server server;

static int start_server(void **state)
{
    (void)state;
    test_server_start(&server, "http_server.py", TEST_SCRATCH_DIR "/transport_calls");
    return 0;
}

static int stop_server(void **state)
{
    (void)state;
    test_server_stop(&server);
    return 0;
}

static void open_plain(transporting *t, ki__curl_options *options)
{
    transporting_begin(t);
    transporting_open(t, options, "http", test_server_port(&server, "plain"));
}

static bool has(const ki_buf *buf, const char *text)
{
    return strstr(ki_buf_text(buf), text) != NULL;
}

static void leave(transporting *t, exchange *e)
{
    exchange_done(e);
    transporting_end(t);
}

/* ---- cancelling ---- */

static void cancel_here(exchange *e)
{
    exchange_cancel(e);
    exchange_cancel(e); /* once more does nothing */
}

static void a_call_may_be_cancelled_inside_its_sink(void **state)
{
    (void)state;
    transporting t;
    ki__curl_options options = {0};
    open_plain(&t, &options);
    for (int where = 0; where < 3; where++) {
        exchange e;
        exchange other;
        exchange_init(&e, &t, "/stream", "count=20&size=800&ms=1");
        e.in_response = where == 0 ? cancel_here : NULL;
        e.in_body = where == 1 ? cancel_here : NULL;
        e.in_end = where == 2 ? cancel_here : NULL;
        exchange_start(&e);
        exchange_init(&other, &t, "/stream", "count=20&size=800&ms=1");
        exchange_run(&other);
        assert_true(other.complete);
        assert_int_equal(other.body.len, 16000);
        while (e.status == 0 || (where == 1 && e.bodies == 0) || (where == 2 && !e.ended)) {
            transporting_for(&t, 10);
        }
        transporting_for(&t, 20);
        assert_int_equal(e.bodies, where == 0 ? 0 : where == 1 ? 1 : e.bodies);
        assert_int_equal(e.ended, where == 2);
        exchange_done(&e);
        exchange_done(&other);
    }
    transporting_end(&t);
}

static void a_call_may_be_cancelled_at_any_moment(void **state)
{
    (void)state;
    transporting t;
    ki__curl_options options = {0};
    open_plain(&t, &options);
    for (int dispatches = 1; dispatches < 30; dispatches++) {
        exchange e;
        exchange_init(&e, &t, "/echo", "");
        exchange_start(&e);
        for (int i = 0; i < dispatches && !e.ended; i++) {
            assert_true(ki_loop_dispatch(t.loop) >= 0);
        }
        bool ended = e.ended;
        if (!ended) {
            exchange_cancel(&e);
        }
        transporting_for(&t, 2);
        assert_int_equal(e.ended, ended);
        exchange_done(&e);
    }
    transporting_end(&t);
}

static void free_here(exchange *e)
{
    transporting_close(e->t);
}

static void the_transport_may_be_freed_inside_a_sink(void **state)
{
    (void)state;
    for (int where = 0; where < 3; where++) {
        transporting t;
        exchange e;
        exchange other;
        ki__curl_options options = {0};
        open_plain(&t, &options);
        exchange_init(&other, &t, "/hang", "");
        exchange_start(&other);
        exchange_init(&e, &t, "/stream", "count=20&size=800");
        e.in_response = where == 0 ? free_here : NULL;
        e.in_body = where == 1 ? free_here : NULL;
        e.in_end = where == 2 ? free_here : NULL;
        exchange_start(&e);
        while (t.curl != NULL) {
            transporting_for(&t, 10);
        }
        transporting_for(&t, 20);
        assert_false(other.ended);
        exchange_done(&other);
        leave(&t, &e);
    }
}

/* ---- beginning inside callbacks ---- */

static void start_other(exchange *e)
{
    exchange *other = e->user;
    if (other != NULL && other->task == NULL) {
        exchange_start(other);
    }
}

static void calls_may_begin_inside_a_sink(void **state)
{
    (void)state;
    transporting t;
    exchange all[10];
    ki__curl_options options = {0};
    open_plain(&t, &options);
    for (size_t i = 0; i < 10; i++) {
        exchange_init(&all[i], &t, "/echo", "");
        all[i].user = i < 9 ? &all[i + 1] : NULL;
        all[i].in_response = i % 3 == 0 ? start_other : NULL;
        all[i].in_body = i % 3 == 1 ? start_other : NULL;
        all[i].in_end = i % 3 == 2 ? start_other : NULL;
    }
    exchange_start(&all[0]);
    transporting_until(&t, &all[9].ended);
    for (size_t i = 0; i < 10; i++) {
        assert_true(all[i].complete);
        exchange_done(&all[i]);
    }
    transporting_end(&t);
}

/* ---- pausing ---- */

/* In use; large blocks are mapped. */
static size_t heap_bytes(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static void pause_here(exchange *e)
{
    exchange_pause(e, true);
}

static void a_paused_call_gets_nothing_and_loses_nothing(void **state)
{
    (void)state;
    transporting t;
    ki__curl_options options = {0};
    open_plain(&t, &options);
    for (int packed = 0; packed < 2; packed++) {
        exchange e;
        const char *query = packed != 0 ? "bytes=20000000" : "count=2000&size=8000";
        exchange_init(&e, &t, packed != 0 ? "/bomb" : "/stream", query);
        e.in_body = pause_here;
        e.request.idle_timeout_ms = packed != 0 ? 0 : 3000;
        exchange_start(&e);
        for (size_t round = 0; round < 3; round++) {
            while (e.bodies <= round) {
                transporting_for(&t, 10);
            }
            /* Once longer than its deadline, which does not run while it is paused. */
            transporting_for(&t, packed == 0 && round == 0 ? 3200 : 100);
            size_t bodies = e.bodies;
            assert_int_equal(bodies, round + 1);
            exchange other;
            exchange_init(&other, &t, "/echo", "");
            exchange_run(&other);
            assert_true(other.complete);
            exchange_done(&other);
            assert_int_equal(e.bodies, bodies);
            exchange_pause(&e, false);
        }
        while (e.bodies <= 3) {
            transporting_for(&t, 10);
        }
        e.in_body = NULL;
        exchange_pause(&e, false);
        transporting_until(&t, &e.ended);
        assert_true(e.complete);
        assert_int_equal(e.body.len, packed != 0 ? 20000000 : 16000000);
        for (size_t i = 0; packed == 0 && i < 2000; i += 100) {
            char text[16];
            snprintf(text, sizeof(text), "%08zu", i);
            assert_memory_equal(e.body.data + i * 8000, text, 8);
        }
        exchange_done(&e);
    }
    transporting_end(&t);
}

/* A sink that has paused is not inflated for: 200 MB of blanks are 200 kB as they come. */
static void a_paused_call_inflates_nothing_ahead(void **state)
{
    (void)state;
    transporting t;
    exchange e;
    ki__curl_options options = {0};
    open_plain(&t, &options);
    exchange_init(&e, &t, "/bomb", "bytes=200000000");
    e.in_body = pause_here;
    size_t before = heap_bytes();
    exchange_start(&e);
    for (size_t round = 0; round < 5; round++) {
        while (e.bodies <= round && !e.ended) {
            transporting_for(&t, 10);
        }
        transporting_for(&t, 50);
        assert_int_equal(e.bodies, round + 1);
#ifndef __SANITIZE_ADDRESS__ /* whose heap mallinfo2() does not know */
        assert_true(heap_bytes() < before + (1 << 20));
#endif
        exchange_pause(&e, false);
    }
    (void)before;
    leave(&t, &e); /* with the call alive */
}

static void a_paused_call_may_be_cancelled(void **state)
{
    (void)state;
    transporting t;
    exchange e;
    ki__curl_options options = {0};
    open_plain(&t, &options);
    exchange_init(&e, &t, "/stream", "count=2000&size=8000");
    e.in_response = pause_here;
    exchange_start(&e);
    while (e.status == 0) {
        transporting_for(&t, 10);
    }
    transporting_for(&t, 50);
    assert_int_equal(e.bodies, 0);
    exchange_cancel(&e);
    transporting_for(&t, 20);
    assert_false(e.ended);
    leave(&t, &e);
}

/* ---- the rate limit ---- */

enum { WAITING = 4 };

/* The first begins at once; the others wait for `ms` each. */
static void open_throttled(transporting *t, exchange *all, int ms)
{
    ki__curl_options options = {0};
    open_plain(t, &options);
    assert_int_equal(ki__throttle_new(ki_loop_engine(t->loop), 1000.0 / ms, 1, &t->throttle, NULL),
                     0);
    for (size_t i = 0; i < WAITING; i++) {
        exchange_init(&all[i], t, "/echo", i % 2 == 0 ? "q=1" : "");
        exchange_start(&all[i]);
    }
    transporting_until(t, &all[0].ended);
    assert_true(all[0].complete && all[WAITING - 1].started);
}

static void leave_all(transporting *t, exchange *all)
{
    for (size_t i = 0; i < WAITING; i++) {
        exchange_done(&all[i]);
    }
    transporting_end(t);
}

/* That it waits is no silence of the server. */
static void a_throttled_call_waits_for_its_turn(void **state)
{
    (void)state;
    transporting t;
    exchange all[WAITING];
    open_throttled(&t, all, 1200);
    exchange silent;
    exchange_init(&silent, &t, "/echo", "");
    silent.request.idle_timeout_ms = 1000;
    for (size_t i = 1; i < WAITING; i++) {
        exchange_cancel(&all[i]);
    }
    exchange_start(&silent);
    transporting_for(&t, 100);
    assert_false(silent.ended || all[1].ended);
    transporting_until(&t, &silent.ended);
    assert_true(silent.complete);
    assert_true(has(&t.logged, "GET /echo")); /* without the query */
    exchange_done(&silent);
    leave_all(&t, all);
}

static void a_throttled_call_may_be_cancelled(void **state)
{
    (void)state;
    transporting t;
    exchange all[WAITING];
    open_throttled(&t, all, 50);
    exchange_cancel(&all[1]); /* while it waits */
    exchange_cancel(&all[1]);
    all[2].in_response = cancel_here; /* when it is under way */
    transporting_until(&t, &all[3].ended);
    assert_true(all[3].complete);
    assert_int_equal(all[1].status, 0);
    assert_int_equal(all[2].status, 200);
    transporting_for(&t, 20);
    assert_false(all[1].ended || all[2].ended);
    leave_all(&t, all);
}

static void a_throttled_call_may_be_paused(void **state)
{
    (void)state;
    transporting t;
    exchange all[WAITING];
    open_throttled(&t, all, 50);
    exchange_pause(&all[1], true);
    exchange_pause(&all[2], true);
    exchange_pause(&all[2], false);
    transporting_until(&t, &all[3].ended);
    assert_true(all[2].complete && all[3].complete);
    assert_int_equal(all[1].bodies, 0);
    assert_false(all[1].ended);
    exchange_pause(&all[1], false);
    transporting_until(&t, &all[1].ended);
    assert_true(all[1].complete);
    leave_all(&t, all);
}

static void the_transport_may_be_freed_while_calls_wait(void **state)
{
    (void)state;
    for (int inside = 0; inside <= 1; inside++) {
        transporting t;
        exchange all[WAITING];
        open_throttled(&t, all, 50);
        if (inside != 0) { /* of a sink: freed later than the throttle */
            all[1].in_end = free_here;
            transporting_until(&t, &all[1].ended);
        } else {
            transporting_close(&t);
        }
        transporting_for(&t, 120);
        assert_false(all[2].ended || all[3].ended);
        leave_all(&t, all);
    }
}

/* ---- credentials ---- */

typedef struct credentials {
    int code; /* of `headers` */
    const char *value;
    uint64_t generation;
    int asked;
    uint64_t refused; /* the generation that was */
} credentials;

static int give_headers(ki__curl_headers *headers, uint64_t *ret_generation, void *user,
                        ki_error *error)
{
    credentials *c = user;
    (void)error;
    c->asked++;
    if (c->code < 0) {
        return c->code;
    }
    *ret_generation = c->generation;
    return ki__curl_header_add(headers, "Authorization", ki_str_from(c->value));
}

static void note_refused(uint64_t generation, void *user)
{
    credentials *c = user;
    c->refused = generation;
}

static ki__curl_auth auth_of(credentials *c)
{
    return (ki__curl_auth){.headers = give_headers, .refused = note_refused, .user = c};
}

static void credentials_are_fetched_for_each_request(void **state)
{
    (void)state;
    transporting t;
    credentials c = {.value = "Bearer s3cret", .generation = 7};
    ki__curl_options options = {.auth = auth_of(&c)};
    open_plain(&t, &options);
    for (int i = 1; i <= 2; i++) {
        exchange e;
        exchange_init(&e, &t, i == 1 ? "/echo" : "/status", i == 1 ? "" : "code=401");
        exchange_run(&e);
        assert_true(e.complete);
        assert_true(i == 2 || has(&e.body, "Authorization: Bearer s3cret\n"));
        assert_int_equal(c.asked, i);
        assert_int_equal(c.refused, i == 2 ? 7 : 0);
        exchange_done(&e);
    }
    transporting_end(&t);
}

/* Two of them would be for the server to choose from. */
static void credentials_of_a_request_override_others(void **state)
{
    (void)state;
    transporting t;
    credentials c = {.value = "Bearer s3cret", .generation = 7};
    ki__curl_options options = {.auth = auth_of(&c)};
    const ki_http_header header = {ki_str_from("authorization"), ki_str_from("Bearer mine")};
    open_plain(&t, &options);
    for (int i = 1; i <= 2; i++) {
        exchange e;
        exchange_init(&e, &t, i == 1 ? "/echo" : "/status", i == 1 ? "" : "code=401");
        e.request.headers = &header;
        e.request.header_count = 1;
        exchange_run(&e);
        assert_true(e.complete);
        assert_true(i == 2 || has(&e.body, "authorization: Bearer mine\n"));
        assert_false(has(&e.body, "s3cret"));
        assert_int_equal(c.refused, 0); /* it was not ours that was */
        exchange_done(&e);
    }
    transporting_end(&t);
}

static void requests_wait_for_credentials(void **state)
{
    (void)state;
    transporting t;
    exchange e;
    exchange late;
    credentials c = {.code = -EAGAIN, .value = "Bearer x"};
    ki__curl_options options = {.auth = auth_of(&c)};
    open_plain(&t, &options);
    exchange_init(&e, &t, "/echo", "");
    exchange_init(&late, &t, "/echo", "");
    late.request.idle_timeout_ms = 50;
    exchange_start(&e);
    exchange_start(&late);
    transporting_until(&t, &late.ended);
    assert_int_equal(late.error.code, -ETIMEDOUT);
    assert_false(e.ended);
    ki__curl_auth_ready(t.curl); /* a false alarm */
    transporting_for(&t, 20);
    assert_false(e.ended);
    c.code = 0;
    ki__curl_auth_ready(t.curl);
    transporting_until(&t, &e.ended);
    assert_true(e.complete);
    assert_true(has(&e.body, "Authorization: Bearer x\n"));
    exchange_done(&late);
    leave(&t, &e);
}

static void failing_credentials_fail_the_request(void **state)
{
    (void)state;
    transporting t;
    exchange e;
    credentials c = {.code = -EACCES};
    ki__curl_options options = {.auth = auth_of(&c)};
    open_plain(&t, &options);
    exchange_init(&e, &t, "/echo", "");
    exchange_run(&e);
    assert_int_equal(e.error.code, -EACCES);
    exchange_done(&e);
    c = (credentials){.value = "Bearer s3cret\r\nX: y"};
    exchange_init(&e, &t, "/echo", "");
    exchange_run(&e);
    assert_int_equal(e.error.code, -EINVAL);
    assert_null(strstr(e.error.message, "s3cret"));
    leave(&t, &e);
}

static void credentials_are_not_sent_in_the_clear(void **state)
{
    (void)state;
    transporting t;
    exchange e;
    credentials c = {.value = "Bearer s3cret"};
    char proxy[64];
    snprintf(proxy, sizeof(proxy), "http://127.0.0.1:%d", test_server_port(&server, "plain"));
    const ki__curl_options cases[] = {
        {.url = "http://192.0.2.1:80", .auth = auth_of(&c)},
        {.url = "http://api.test", .auth = auth_of(&c)},
        {.url = "http://127.0.0.1:1", .proxy = proxy, .auth = auth_of(&c)}};
    for (size_t i = 0; i < 3; i++) {
        transporting_begin(&t);
        ki__curl_options options = cases[i];
        transporting_open(&t, &options, "http", 0);
        exchange_init(&e, &t, "/echo", "");
        exchange_run(&e);
        assert_int_equal(e.error.code, KI_ERR_INVALID);
        assert_null(strstr(e.error.message, "s3cret"));
        leave(&t, &e);
    }
    transporting_begin(&t); /* the same for a header that comes with the request */
    ki__curl_options options = {.url = "http://192.0.2.1:80"};
    transporting_open(&t, &options, "http", 0);
    exchange_init(&e, &t, "/echo", "");
    const ki_http_header header = {ki_str_from("aUTHORIZATION"), ki_str_from("Bearer s3cret")};
    e.request.headers = &header;
    e.request.header_count = 1;
    exchange_run(&e);
    assert_int_equal(e.error.code, KI_ERR_INVALID);
    leave(&t, &e);
}

/* ---- proxies ---- */

static void set_environment(const char *proxy, const char *none)
{
    assert_int_equal(setenv("HTTP_PROXY", proxy, 1), 0);
    assert_int_equal(setenv("NO_PROXY", none, 1), 0);
}

static bool is_proxied(const char *url, bool environment)
{
    transporting t;
    exchange e;
    ki__curl_options options = {
        .url = url, .environment = environment, .connect_timeout_ns = 100 * MS};
    transporting_begin(&t);
    transporting_open(&t, &options, "http", 0);
    exchange_init(&e, &t, "/api", "");
    exchange_run(&e);
    bool proxied = e.complete && has(&e.body, "GET http://");
    leave(&t, &e);
    return proxied;
}

static void proxies_of_the_environment_are_used_by_option(void **state)
{
    (void)state;
    char proxy[64];
    snprintf(proxy, sizeof(proxy), "http://127.0.0.1:%d", test_server_port(&server, "plain"));
    set_environment(proxy, "");
    assert_true(is_proxied("http://192.0.2.1:80/x", true));
    assert_false(is_proxied("http://192.0.2.1:80/x", false));
    assert_false(is_proxied("http://127.0.0.1:1/x", true));
    assert_false(is_proxied("http://[::1]:1/x", true));
    set_environment(proxy, "192.0.2.0/24");
    assert_false(is_proxied("http://192.0.2.1:80/x", true));
    set_environment(proxy, "192.0.3.0/24");
    assert_true(is_proxied("http://192.0.2.1:80/x", true));
    assert_int_equal(setenv("REQUEST_METHOD", "GET", 1), 0);
    assert_false(is_proxied("http://192.0.2.1:80/x", true));
    unsetenv("REQUEST_METHOD");
    unsetenv("HTTP_PROXY");
    unsetenv("NO_PROXY");
}

static void a_tunnel_does_not_see_credentials(void **state)
{
    (void)state;
    transporting t;
    exchange e;
    credentials c = {.value = "Bearer s3cret"};
    char proxy[64];
    char url[64];
    ki_buf ca;
    test_server_file(&server, "ca.crt", &ca);
    snprintf(proxy, sizeof(proxy), "http://us%%65r:pass@127.0.0.1:%d",
             test_server_port(&server, "plain"));
    snprintf(url, sizeof(url), "https://127.0.0.1:%d", test_server_port(&server, "good"));
    ki__curl_options options = {
        .url = url, .proxy = proxy, .tls = {.ca = ki_buf_str(&ca)}, .auth = auth_of(&c)};
    transporting_begin(&t);
    transporting_open(&t, &options, "https", 0);
    exchange_init(&e, &t, "/echo", "");
    exchange_run(&e);
    assert_true(e.complete);
    assert_true(has(&e.body, "Authorization: Bearer s3cret"));
    assert_false(has(&e.body, "Proxy-Authorization"));
    exchange_done(&e);
    exchange_init(&e, &t, "/proxied", "");
    exchange_run(&e);
    assert_true(has(&e.body, "CONNECT 127.0.0.1:"));
    assert_true(has(&e.body, "Proxy-Authorization: Basic dXNlcjpwYXNz"));
    assert_false(has(&e.body, "s3cret"));
    leave(&t, &e);
    options.url = "https://127.0.0.1:1"; /* the proxy says no */
    transporting_begin(&t);
    transporting_open(&t, &options, "https", 0);
    exchange_init(&e, &t, "/echo", "");
    exchange_run(&e);
    assert_false(e.complete);
    assert_int_equal(e.status, 0);
    assert_null(strstr(e.error.message, "pass@"));
    leave(&t, &e);
    ki_buf_done(&ca);
}

/* ---- memory and descriptors ---- */

static int one_request(const ki_alloc *alloc, void *user)
{
    (void)user;
    transporting t = {.alloc = {.table = *alloc}};
    exchange e = {.t = &t};
    ki_loop_options loop_options = KI_OPTIONS_INIT(ki_loop_options);
    loop_options.alloc = alloc;
    int r = ki_loop_new(&loop_options, &t.loop, NULL);
    if (r < 0) {
        return r;
    }
    char url[64];
    snprintf(url, sizeof(url), "http://127.0.0.1:%d/prefix", test_server_port(&server, "plain"));
    const ki__curl_options options = {.loop = t.loop, .url = url, .user_agent = "agent/1"};
    r = ki__curl_new(&options, &t.curl, NULL);
    if (r == 0) {
        exchange_init(&e, &t, "/echo", "a=b");
        exchange_run(&e);
        r = e.complete ? 0 : e.error.code;
        exchange_done(&e);
    }
    ki__curl_free(t.curl);
    (void)ki_loop_unref(t.loop);
    return r;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    test_alloc_sweep(one_request, NULL);
}

static void run_many(transporting *t, const char *path, const char *query, int count)
{
    for (int i = 0; i < count; i++) {
        exchange e;
        exchange_init(&e, t, path, query);
        e.request.stream = i % 2 == 0;
        exchange_run(&e);
        exchange_done(&e);
    }
}

static void nothing_grows(void **state)
{
    (void)state;
    transporting t;
    ki__curl_options options = {0};
    open_plain(&t, &options);
    run_many(&t, "/echo", "", 50);
    run_many(&t, "/cut", "after=70", 20);
    run_many(&t, "/echo", "", 2);
    size_t descriptors = test_descriptors();
    size_t blocks = t.alloc.live_blocks;
    size_t bytes = heap_bytes();
    run_many(&t, "/echo", "", 1000);
    run_many(&t, "/cut", "after=70", 200);
    run_many(&t, "/echo", "", 2);
    assert_int_equal(test_descriptors(), descriptors);
    assert_int_equal(t.alloc.live_blocks, blocks);
#ifndef __SANITIZE_ADDRESS__
    assert_true(heap_bytes() < bytes + 65536);
#else
    (void)bytes;
#endif
    transporting_end(&t);
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
    ki__curl_options options = {0};
    open_plain(&t, &options);
    exchange_init(&e, &t, "/stream", "count=1024&size=65536");
    exchange_start(&e);
    e.in_body = take_time;
    transporting_until(&t, &e.ended);
    assert_true(e.complete);
    assert_int_equal(e.body.len, 64 << 20);
    assert_true(e.bodies >= 1000); /* so it took a second at least */
    assert_in_range(t.longest_ms, 0, 500);
    exchange_done(&e);
    transporting_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_may_be_cancelled_inside_its_sink),
        cmocka_unit_test(a_call_may_be_cancelled_at_any_moment),
        cmocka_unit_test(the_transport_may_be_freed_inside_a_sink),
        cmocka_unit_test(calls_may_begin_inside_a_sink),
        cmocka_unit_test(a_paused_call_gets_nothing_and_loses_nothing),
        cmocka_unit_test(a_paused_call_inflates_nothing_ahead),
        cmocka_unit_test(a_paused_call_may_be_cancelled),
        cmocka_unit_test(a_throttled_call_waits_for_its_turn),
        cmocka_unit_test(a_throttled_call_may_be_cancelled),
        cmocka_unit_test(a_throttled_call_may_be_paused),
        cmocka_unit_test(the_transport_may_be_freed_while_calls_wait),
        cmocka_unit_test(credentials_are_fetched_for_each_request),
        cmocka_unit_test(credentials_of_a_request_override_others),
        cmocka_unit_test(requests_wait_for_credentials),
        cmocka_unit_test(failing_credentials_fail_the_request),
        cmocka_unit_test(credentials_are_not_sent_in_the_clear),
        cmocka_unit_test(proxies_of_the_environment_are_used_by_option),
        cmocka_unit_test(a_tunnel_does_not_see_credentials),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(nothing_grows),
        cmocka_unit_test(a_fast_server_takes_turns),
    };
    return cmocka_run_group_tests(tests, start_server, stop_server);
}
