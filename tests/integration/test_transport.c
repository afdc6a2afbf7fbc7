/* SPDX-License-Identifier: Apache-2.0 */
/* The transport over plain sockets: what it sends, what it makes of answers, good and bad. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "support/transporting.h"

#define MS UINT64_C(1000000)

static test_server server;

static int start_server(void **state)
{
    (void)state;
    test_server_start(&server, "http_server.py", TEST_SCRATCH_DIR "/transport");
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

#define assert_has(buf, text)                                         \
    do {                                                              \
        if (!has((buf), (text))) {                                    \
            fail_msg("no \"%s\" in: %s", (text), ki_buf_text((buf))); \
        }                                                             \
    } while (0)

/* One request to a fresh transport. */
static void ask(transporting *t, exchange *e, const char *path, const char *query)
{
    ki__curl_options options = {0};
    open_plain(t, &options);
    exchange_init(e, t, path, query);
    exchange_run(e);
}

static void leave(transporting *t, exchange *e)
{
    exchange_done(e);
    transporting_end(t);
}

/* ---- what is sent ---- */

static void a_response_is_delivered_in_order(void **state)
{
    (void)state;
    transporting t;
    exchange e;
    ask(&t, &e, "/api/v1/pods", "limit=500&watch=1");
    assert_true(e.complete);
    assert_int_equal(e.status, 200);
    assert_has(&e.headers, "Content-Type: text/plain\n");
    assert_has(&e.body, "GET /api/v1/pods?limit=500&watch=1 HTTP/1.1\n");
    assert_has(&e.body, "Accept-Encoding: gzip\n");
    assert_has(&e.body, "User-Agent: kinformer/");
    assert_has(&e.body, "Host: 127.0.0.1:");
    assert_false(has(&e.body, "Authorization"));
    assert_false(has(&e.body, "Content-Type"));
    leave(&t, &e);
}

static void a_stream_is_not_packed(void **state)
{
    (void)state;
    transporting t;
    exchange e;
    ki__curl_options options = {.user_agent = "agent/1.2"};
    open_plain(&t, &options);
    exchange_init(&e, &t, "/echo", "");
    e.request.stream = true;
    exchange_run(&e);
    assert_true(e.complete);
    assert_false(has(&e.body, "Accept-Encoding"));
    assert_has(&e.body, "User-Agent: agent/1.2 kinformer/");
    leave(&t, &e);
}

static void the_path_is_sent_as_it_is(void **state)
{
    (void)state;
    transporting t;
    exchange e;
    ki__curl_options options = {0};
    transporting_begin(&t);
    char url[64];
    snprintf(url, sizeof(url), "http://127.0.0.1:%d/prefix/", test_server_port(&server, "plain"));
    options.url = url;
    transporting_open(&t, &options, "http", 0);
    exchange_init(&e, &t, "/a/../b/%2F%20/./c", "x=%3d+&y");
    exchange_run(&e);
    assert_has(&e.body, "GET /prefix/a/../b/%2F%20/./c?x=%3d+&y HTTP/1.1\n");
    leave(&t, &e);
}

static void a_body_and_its_headers_are_sent(void **state)
{
    (void)state;
    static const char *const methods[] = {"POST", "PUT", "PATCH", "DELETE"};
    transporting t;
    ki__curl_options options = {0};
    open_plain(&t, &options);
    const ki_http_header headers[] = {
        {ki_str_from("Content-Type"), ki_str_from("application/merge-patch+json")},
        {ki_str_from("X-Empty"), ki_str_from("")}};
    for (size_t i = 0; i < 4; i++) {
        exchange e;
        exchange_init(&e, &t, "/echo", "");
        e.request.method = methods[i];
        e.request.headers = headers;
        e.request.header_count = 2;
        e.request.body = ki_str_from("{\"a\": 1}");
        exchange_run(&e);
        assert_true(e.complete);
        char line[64];
        snprintf(line, sizeof(line), "%s /echo HTTP/1.1\n", methods[i]);
        assert_has(&e.body, line);
        assert_has(&e.body, "Content-Type: application/merge-patch+json\n");
        assert_has(&e.body, "X-Empty:");
        assert_has(&e.body, "\n\n{\"a\": 1}");
        assert_false(has(&e.body, "Expect"));
        exchange_done(&e);
    }
    transporting_end(&t);
}

static void requests_that_are_not_encoded_are_refused(void **state)
{
    (void)state;
    static const char *const paths[] = {"a", "/a b", "/a\r\nX: y", "/a?b", "/a#b", "/\xc3\xa4"};
    transporting t;
    ki__curl_options options = {0};
    open_plain(&t, &options);
    for (size_t i = 0; i < 6; i++) {
        exchange e;
        exchange_init(&e, &t, paths[i], "");
        exchange_run(&e);
        assert_int_equal(e.code, -EINVAL);
        exchange_done(&e);
    }
    exchange e;
    exchange_init(&e, &t, "/a", "");
    const ki_http_header evil = {ki_str_from("X"), ki_str_from("a\r\nEvil: yes")};
    e.request.headers = &evil;
    e.request.header_count = 1;
    exchange_run(&e);
    assert_int_equal(e.code, -EINVAL);
    leave(&t, &e);
}

static void connections_are_used_again(void **state)
{
    (void)state;
    transporting t;
    ki__curl_options options = {0};
    open_plain(&t, &options);
    char first[32] = "";
    for (int i = 0; i < 10; i++) {
        exchange e;
        exchange_init(&e, &t, "/count", "");
        exchange_run(&e);
        assert_true(e.complete);
        if (i == 0) {
            snprintf(first, sizeof(first), "%s", ki_buf_text(&e.body));
        }
        assert_string_equal(ki_buf_text(&e.body), first);
        exchange_done(&e);
    }
    transporting_end(&t);
}

/* ---- options ---- */

static void bad_options_are_refused_without_secrets(void **state)
{
    (void)state;
    static const char *const urls[] = {"",
                                       "https://",
                                       "ftp://host/",
                                       "https://user:hunter2@host/",
                                       "https://hunter2@host/",
                                       "https://host/?token=hunter2",
                                       "https://host/#hunter2",
                                       "https://host:port-hunter2/",
                                       "http://a b/hunter2"};
    transporting t;
    transporting_begin(&t);
    for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
        ki_error error = KI_ERROR_INIT;
        ki__curl_options options = {.loop = t.loop, .url = urls[i]};
        assert_int_equal(ki__curl_new(&options, &t.curl, &error), KI_ERR_INVALID);
        assert_null(strstr(error.message, "hunter2"));
    }
    static const char *const proxies[] = {"ftp://hunter2@proxy/",
                                          "http://hunter2:hunter2@:::", "gopher://proxy:1"};
    for (size_t i = 0; i < 3; i++) {
        ki_error error = KI_ERROR_INIT;
        ki__curl_options options = {.loop = t.loop, .url = "https://host", .proxy = proxies[i]};
        assert_int_equal(ki__curl_new(&options, &t.curl, &error), KI_ERR_INVALID);
        assert_null(strstr(error.message, "hunter2"));
    }
    ki__curl_options options = {.loop = t.loop};
    assert_int_equal(ki__curl_new(&options, &t.curl, NULL), -EINVAL);
    options.url = "https://host";
    options.user_agent = "a\r\nb";
    assert_int_equal(ki__curl_new(&options, &t.curl, NULL), -EINVAL);
    transporting_end(&t);
}

static void sockets_are_tuned_and_not_inherited(void **state)
{
    (void)state;
    transporting t;
    exchange e;
    ki__curl_options options = {.dead_after_ns = 12000 * MS};
    open_plain(&t, &options);
    exchange_init(&e, &t, "/stream", "hang=1");
    e.request.stream = true;
    exchange_start(&e);
    while (e.status == 0) {
        transporting_for(&t, 10);
    }
    int found = 0;
    for (int fd = 3; fd < 256; fd++) {
        struct sockaddr_in peer = {0};
        socklen_t len = sizeof(peer);
        if (getpeername(fd, (struct sockaddr *)&peer, &len) == 0 && peer.sin_family == AF_INET) {
            int value = 0;
            len = sizeof(value);
            assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &value, &len), 0);
            assert_int_equal(value, 12000);
            assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &value, &len), 0);
            assert_int_equal(value, 1);
            assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &value, &len), 0);
            assert_int_equal(value, 6);
            assert_true((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
            found++;
        }
    }
    assert_int_equal(found, 2); /* libcurl's, and the duplicate that is watched */
    leave(&t, &e);              /* with the call alive */
}

static void unix_sockets_and_ipv6_are_reached(void **state)
{
    (void)state;
    transporting t;
    exchange e;
    char path[SERVER_FOLDER + 16];
    snprintf(path, sizeof(path), "%s/socket", server.folder);
    ki__curl_options options = {.url = "http://api.internal/prefix", .unix_socket = path};
    transporting_begin(&t);
    transporting_open(&t, &options, "http", 0);
    exchange_init(&e, &t, "/echo", "");
    exchange_run(&e);
    assert_true(e.complete);
    assert_has(&e.body, "Host: api.internal\n");
    leave(&t, &e);
    int port = test_server_port(&server, "plain6");
    if (port != 0) { /* else this machine has no IPv6 */
        char url[64];
        snprintf(url, sizeof(url), "http://[::1]:%d", port);
        ki__curl_options six = {.url = url};
        transporting_begin(&t);
        transporting_open(&t, &six, "http", 0);
        exchange_init(&e, &t, "/echo", "");
        exchange_run(&e);
        assert_true(e.complete);
        assert_has(&e.body, "Host: [::1]:");
        leave(&t, &e);
    }
}

/* ---- connections that fail ---- */

static int closed_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, len), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    close(fd);
    return ntohs(address.sin_port);
}

static void a_refused_connection_is_reported_as_such(void **state)
{
    (void)state;
    transporting t;
    exchange e;
    ki__curl_options options = {0};
    transporting_begin(&t);
    transporting_open(&t, &options, "http", closed_port());
    exchange_init(&e, &t, "/echo", "");
    exchange_run(&e);
    assert_false(e.complete);
    assert_int_equal(e.error.code, -ECONNREFUSED);
    assert_non_null(strstr(e.error.message, "cannot connect to 127.0.0.1:"));
    leave(&t, &e);
    ki__curl_options none = {.url = "http://x", .unix_socket = TEST_SCRATCH_DIR "/no-such"};
    transporting_begin(&t);
    transporting_open(&t, &none, "http", 0);
    exchange_init(&e, &t, "/echo", "");
    exchange_run(&e);
    assert_int_equal(e.error.code, -ENOENT);
    assert_non_null(strstr(e.error.message, "no-such"));
    leave(&t, &e);
}

/* A socket whose queue is full: who connects hears nothing. */
static void a_connection_that_does_not_come_ends_in_time(void **state)
{
    (void)state;
    transporting t;
    exchange e;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int fillers[8];
    assert_int_equal(bind(listener, (struct sockaddr *)&address, len), 0);
    assert_int_equal(listen(listener, 0), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &len), 0);
    for (size_t i = 0; i < 8; i++) {
        fillers[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        (void)connect(fillers[i], (struct sockaddr *)&address, len);
    }
    ki__curl_options options = {.connect_timeout_ns = 300 * MS};
    transporting_begin(&t);
    transporting_open(&t, &options, "http", ntohs(address.sin_port));
    exchange_init(&e, &t, "/echo", "");
    exchange_run(&e);
    assert_int_equal(e.error.code, -ETIMEDOUT);
    leave(&t, &e);
    for (size_t i = 0; i < 8; i++) {
        close(fillers[i]);
    }
    close(listener);
}

static void a_reset_is_reported_as_such(void **state)
{
    (void)state;
    static const char *const queries[] = {"after=0", "after=17", "after=80"};
    for (size_t i = 0; i < 3; i++) {
        transporting t;
        exchange e;
        ask(&t, &e, "/reset", queries[i]);
        assert_false(e.complete);
        assert_int_equal(e.error.code, -ECONNRESET);
        leave(&t, &e);
    }
}

static void an_answer_may_be_cut_at_any_byte(void **state)
{
    (void)state;
    transporting t;
    ki__curl_options options = {0};
    open_plain(&t, &options);
    for (int chunked = 0; chunked < 2; chunked++) {
        bool complete = false;
        for (int after = 0; !complete && after < 200; after++) {
            exchange e;
            char query[32];
            snprintf(query, sizeof(query), "after=%d%s", after, chunked != 0 ? "&chunked=1" : "");
            exchange_init(&e, &t, "/cut", query);
            exchange_run(&e);
            complete = e.complete;
            if (!complete) {
                assert_true(e.error.code == -EPIPE || e.error.code == -EPROTO);
                assert_true(e.body.len <= 40);
            }
            assert_memory_equal(ki_buf_text(&e.body), "0123456789012345678901234567890123456789",
                                e.body.len);
            assert_true(!complete || (e.status == 200 && e.body.len == 40));
            exchange_done(&e);
        }
        assert_true(complete);
    }
    transporting_end(&t);
}

static void an_answer_may_come_byte_by_byte(void **state)
{
    (void)state;
    transporting t;
    exchange e;
    ask(&t, &e, "/pieces", "");
    assert_true(e.complete);
    assert_int_equal(e.body.len, 40);
    assert_true(e.bodies > 1);
    leave(&t, &e);
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 * MS + (uint64_t)now.tv_nsec;
}

static void a_silent_server_is_noticed_in_time(void **state)
{
    (void)state;
    static const char *const queries[] = {"after=0", "after=30", "after=70"};
    transporting t;
    ki__curl_options options = {0};
    open_plain(&t, &options);
    for (size_t i = 0; i < 3; i++) {
        exchange e;
        exchange_init(&e, &t, "/hang", queries[i]);
        e.request.stream = true;
        e.request.idle_timeout_ms = 300;
        uint64_t begun = now_ns();
        exchange_run(&e);
        assert_int_equal(e.error.code, -ETIMEDOUT);
        assert_in_range(now_ns() - begun, 290 * MS, 5000 * MS);
        exchange_done(&e);
    }
    transporting_close(&t);
    ki__curl_options brief = {.idle_timeout_ns = 100 * MS};
    transporting_open(&t, &brief, "http", test_server_port(&server, "plain"));
    exchange e;
    exchange_init(&e, &t, "/hang", "after=0");
    exchange_run(&e);
    assert_int_equal(e.error.code, -ETIMEDOUT);
    leave(&t, &e);
}

static void bytes_put_the_deadline_off(void **state)
{
    (void)state;
    transporting t;
    exchange e;
    ki__curl_options options = {0};
    open_plain(&t, &options);
    exchange_init(&e, &t, "/stream", "count=8&ms=100");
    e.request.stream = true;
    e.request.idle_timeout_ms = 600;
    exchange_run(&e);
    assert_true(e.complete);
    leave(&t, &e);
}

/* ---- answers that are not as they should be ---- */

static void nonsense_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *query;
        int code;
    } cases[] = {{"what=garbage", -EPROTO}, {"what=old", -EPROTO},      {"what=status", -EPROTO},
                 {"what=folded", -EPROTO},  {"what=nameless", -EPROTO}, {"what=colonless", -EPROTO},
                 {"what=chunks", -EPIPE},   {"what=nothing", -EPIPE}};
    transporting t;
    ki__curl_options options = {0};
    open_plain(&t, &options);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        exchange e;
        exchange_init(&e, &t, "/raw", cases[i].query);
        exchange_run(&e);
        assert_false(e.complete);
        if (e.error.code != cases[i].code) {
            fail_msg("%s: %d %s", cases[i].query, e.error.code, e.error.message);
        }
        exchange_done(&e);
    }
    transporting_end(&t);
}

/* Where our sentence says it all, libcurl's is not repeated. */
static void a_truncated_response_has_one_sentence(void **state)
{
    (void)state;
    static const char *const cases[][2] = {{"/cut", " is truncated"},
                                           {"/raw", " without a response"}};
    transporting t;
    ki__curl_options options = {0};
    open_plain(&t, &options);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        exchange e;
        exchange_init(&e, &t, cases[i][0], "what=nothing&after=90");
        exchange_run(&e);
        size_t len = strlen(e.error.message);
        size_t end = strlen(cases[i][1]);
        assert_true(len > end);
        assert_string_equal(e.error.message + len - end, cases[i][1]);
        exchange_done(&e);
    }
    transporting_end(&t);
}

static void headers_have_limits(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        const char *query;
        int code;
    } cases[] = {{"/headers", "count=150&bytes=100", 0},
                 {"/headers", "count=250", KI_ERR_LIMIT},
                 {"/headers", "count=20&bytes=4000", KI_ERR_LIMIT},
                 {"/headers", "count=1&bytes=70000", KI_ERR_LIMIT},
                 {"/trailers", "bytes=5", 0},
                 {"/trailers", "bytes=80000", -EPIPE},
                 {"/interim", "count=3", 0},
                 {"/interim", "count=4", -EPROTO}};
    transporting t;
    ki__curl_options options = {0};
    open_plain(&t, &options);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        exchange e;
        exchange_init(&e, &t, cases[i].path, cases[i].query);
        exchange_run(&e);
        if (e.error.code != cases[i].code) {
            fail_msg("%s: %d %s", cases[i].query, e.error.code, e.error.message);
        }
        assert_int_equal(e.complete, cases[i].code == 0);
        exchange_done(&e);
    }
    transporting_end(&t);
}

static void redirects_are_answers(void **state)
{
    (void)state;
    static const char *const queries[] = {"status=301", "status=302", "status=303", "status=307",
                                          "status=308"};
    transporting t;
    ki__curl_options options = {0};
    open_plain(&t, &options);
    for (size_t i = 0; i < 5; i++) {
        exchange e;
        exchange_init(&e, &t, "/redirect", queries[i]);
        exchange_run(&e);
        assert_true(e.complete);
        assert_int_equal(e.status, strtol(queries[i] + 7, NULL, 10));
        assert_string_equal(ki_buf_text(&e.body), "moved");
        exchange_done(&e);
    }
    transporting_end(&t);
}

static void compressed_responses_are_decompressed_once(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        const char *query;
        bool stream;
        int code;
        const char *text; /* part of the message */
    } cases[] = {
        {"/packed", "", false, 0, ""},
        {"/packed", "as=GZip", false, 0, ""},
        {"/packed", "members=1", false, 0, ""},
        {"/packed", "members=2", false, 0, ""},
        {"/packed", "members=1000", false, 0, ""},
        {"/packed", "", true, KI_ERR_UNSUPPORTED, "\"gzip\", which was not requested"},
        {"/packed", "as=br", false, KI_ERR_UNSUPPORTED, "\"br\", only gzip was requested"},
        {"/packed", "as=zstd", false, KI_ERR_UNSUPPORTED, "Content-Encoding \"zstd\""},
        {"/packed", "as=deflate", false, KI_ERR_UNSUPPORTED, "Content-Encoding \"deflate\""},
        {"/packed", "as=gzip,%20gzip&layers=2", false, KI_ERR_UNSUPPORTED, "\"gzip, gzip\""},
        {"/packed", "broken=1", false, -EBADMSG, "gzip: damaged data before byte"},
        {"/packed", "cut=1", false, -EBADMSG, "gzip: truncated after"},
        {"/packed", "members=4&cut=30", false, -EBADMSG, "gzip: truncated after"},
        {"/packed", "trailing=1", false, -EBADMSG, "gzip: trailing garbage"},
        {"/echo", "", false, 0, ""},
        {"/transfer-packed", "", false, KI_ERR_UNSUPPORTED, "Transfer-Encoding \"gzip, chunked\""},
    };
    transporting t;
    ki__curl_options options = {0};
    open_plain(&t, &options);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        exchange e;
        exchange_init(&e, &t, cases[i].path, cases[i].query);
        e.request.stream = cases[i].stream;
        exchange_run(&e);
        if (e.error.code != cases[i].code) {
            fail_msg("%s: %d %s", cases[i].query, e.error.code, e.error.message);
        }
        assert_int_equal(e.complete, cases[i].code == 0);
        if (strstr(e.error.message, cases[i].text) == NULL) {
            fail_msg("%s: %s", cases[i].query, e.error.message);
        }
        bool whole = cases[i].code == 0 && strcmp(cases[i].path, "/packed") == 0;
        assert_int_equal(e.body.len, whole ? 10000 : e.body.len);
        for (size_t k = 0; whole && k < e.body.len; k++) {
            assert_int_equal(e.body.data[k], '0' + (int)(k % 10));
        }
        exchange_done(&e);
    }
    transporting_end(&t);
}

static void bombs_are_bounded(void **state)
{
    (void)state;
    transporting t;
    exchange e;
    ki__curl_options options = {.max_body_bytes = 1 << 20};
    open_plain(&t, &options);
    exchange_init(&e, &t, "/bomb", "bytes=50000000");
    exchange_run(&e);
    assert_int_equal(e.error.code, KI_ERR_LIMIT);
    assert_true(e.body.len <= 1 << 20);
    exchange_done(&e);
    exchange_init(&e, &t, "/stream", "count=300&size=8000"); /* not packed, but too much */
    exchange_run(&e);
    assert_int_equal(e.error.code, KI_ERR_LIMIT);
    leave(&t, &e);
}

static void warnings_are_logged(void **state)
{
    (void)state;
    transporting t;
    exchange e;
    ask(&t, &e, "/status", "code=404");
    assert_true(e.complete);
    assert_int_equal(e.status, 404);
    assert_string_equal(ki_buf_text(&t.logged),
                        "API server warning old APIAPI server warning say \"no\"[2J");
    ki_buf_clear(&t.logged);
    exchange_done(&e);
    exchange_init(&e, &t, "/status", "code=200");
    exchange_run(&e);
    assert_true(e.complete);
    assert_int_equal(t.logged.len, 0); /* once is enough */
    leave(&t, &e);
}

static void warnings_do_not_flood_the_log(void **state)
{
    (void)state;
    transporting t;
    exchange e;
    ask(&t, &e, "/warn", "from=0");
    for (int i = 1; i < 10; i++) {
        char query[32];
        exchange_done(&e);
        snprintf(query, sizeof(query), "from=%d", i * 100);
        exchange_init(&e, &t, "/warn", query);
        exchange_run(&e);
        assert_true(e.complete);
    }
    assert_has(&t.logged, "number 0");
    assert_has(&t.logged, "number 60");
    assert_has(&t.logged, "some are suppressed");
    assert_null(strstr(ki_buf_text(&t.logged), "number 70"));
    assert_true(t.logged.len < 8192);
    leave(&t, &e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_response_is_delivered_in_order),
        cmocka_unit_test(a_stream_is_not_packed),
        cmocka_unit_test(the_path_is_sent_as_it_is),
        cmocka_unit_test(a_body_and_its_headers_are_sent),
        cmocka_unit_test(requests_that_are_not_encoded_are_refused),
        cmocka_unit_test(connections_are_used_again),
        cmocka_unit_test(bad_options_are_refused_without_secrets),
        cmocka_unit_test(sockets_are_tuned_and_not_inherited),
        cmocka_unit_test(unix_sockets_and_ipv6_are_reached),
        cmocka_unit_test(a_refused_connection_is_reported_as_such),
        cmocka_unit_test(a_connection_that_does_not_come_ends_in_time),
        cmocka_unit_test(a_reset_is_reported_as_such),
        cmocka_unit_test(an_answer_may_be_cut_at_any_byte),
        cmocka_unit_test(an_answer_may_come_byte_by_byte),
        cmocka_unit_test(a_silent_server_is_noticed_in_time),
        cmocka_unit_test(bytes_put_the_deadline_off),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(a_truncated_response_has_one_sentence),
        cmocka_unit_test(headers_have_limits),
        cmocka_unit_test(redirects_are_answers),
        cmocka_unit_test(compressed_responses_are_decompressed_once),
        cmocka_unit_test(bombs_are_bounded),
        cmocka_unit_test(warnings_are_logged),
        cmocka_unit_test(warnings_do_not_flood_the_log),
    };
    return cmocka_run_group_tests(tests, start_server, stop_server);
}
