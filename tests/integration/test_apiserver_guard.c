/* SPDX-License-Identifier: Apache-2.0 */
/* Web pages and the embedded API server: what a browser sends for a page of another site is
 * refused, what kubectl, client-go and curl send is not. Over sockets, as nothing else would let
 * such heads through.
 * threads: yes */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/serving.h"

#define MAPS "/api/v1/namespaces/default/configmaps"
#define BODY "{\"metadata\":{\"generateName\":\"m\"}}"
#define FAULTS "/kinformer/faults"
#define RULE "status=500,verb=deletecollection"
#define JSON "Content-Type: application/json\r\n"

enum { HEAD_MAX = 1024 };

/* The status of the answer to one request; "PORT" in `headers` becomes that of the server. */
static int ask(const serving *s, const char *method, const char *path, const char *headers,
               const char *body)
{
    char text[HEAD_MAX];
    char filled[HEAD_MAX];
    const char *port = strrchr(ki_apiserver_url(s->server), ':') + 1;
    const char *hole = strstr(headers, "PORT");
    bool closed;
    if (hole != NULL) {
        snprintf(filled, sizeof(filled), "%.*s%s%s", (int)(hole - headers), headers, port,
                 hole + 4);
    } else {
        snprintf(filled, sizeof(filled), "%s", headers);
    }
    int len = snprintf(text, sizeof(text),
                       "%s %s HTTP/1.1\r\n%sConnection: close\r\nContent-Length: %zu\r\n\r\n%s",
                       method, path, filled, strlen(body), body);
    assert_true(len > 0 && (size_t)len < sizeof(text));
    int fd = serving_connect(s);
    const char *got = serving_raw(fd, text, (size_t)len, 20000, &closed);
    close(fd);
    assert_true(closed);
    assert_int_equal(strncmp(got, "HTTP/1.1 ", 9), 0);
    return (int)strtol(got + 9, NULL, 10);
}

typedef struct request {
    const char *method;
    const char *path;
    const char *headers;
    const char *body;
    int status;
} request;

static void check(const serving *s, const request *requests, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const request *q = &requests[i];
        int status = ask(s, q->method, q->path, q->headers, q->body);
        if (status != q->status) {
            fail_msg("request %zu: %s %s with %s: %d instead of %d", i, q->method, q->path,
                     q->headers, status, q->status);
        }
    }
}

#define CHECK(s, requests) check((s), (requests), sizeof(requests) / sizeof((requests)[0]))

/* A page at http://evil.example, without rebinding: what needs no preflight. */
static void pages_of_others_neither_write_nor_control(void **state)
{
    (void)state;
    static const request requests[] = {
        /* sendBeacon and fetch without CORS, of a Blob without a type. */
        {"POST", MAPS, "Host: localhost:PORT\r\nOrigin: http://evil.example\r\n", BODY, 403},
        {"POST", MAPS, "Host: localhost:PORT\r\nOrigin: null\r\n" JSON, BODY, 403},
        {"POST", MAPS, "Host: localhost:PORT\r\nSec-Fetch-Site: cross-site\r\n" JSON, BODY, 403},
        {"POST", MAPS, "Host: localhost:PORT\r\nSec-Fetch-Site: same-site\r\n" JSON, BODY, 403},
        /* A server on another port is another origin. */
        {"POST", MAPS, "Host: localhost:PORT\r\nOrigin: http://localhost:3000\r\n" JSON, BODY, 403},
        {"POST", MAPS, "Host: localhost:PORT\r\nOrigin: https://localhost:PORT\r\n" JSON, BODY,
         403},
        /* A browser that says nothing of where it comes from. */
        {"POST", MAPS, "Host: localhost:PORT\r\n", BODY, 415},
        {"POST", MAPS, "Host: localhost:PORT\r\nContent-Type: text/plain\r\n", BODY, 415},
        {"DELETE", MAPS "/m", "Host: localhost:PORT\r\n", "{}", 415},
        {"POST", FAULTS, "Host: localhost:PORT\r\nOrigin: http://evil.example\r\n", RULE, 403},
        {"POST", FAULTS,
         "Host: localhost:PORT\r\nOrigin: http://evil.example\r\nContent-Type: text/plain\r\n",
         RULE, 403},
        {"POST", FAULTS, "Host: localhost:PORT\r\n", RULE, 415},
        {"POST", "/kinformer/cut", "Host: localhost:PORT\r\nOrigin: http://evil.example\r\n", "",
         403},
        {"POST", "/kinformer/expire", "Host: localhost:PORT\r\nSec-Fetch-Site: cross-site\r\n", "",
         403},
        {"POST", "/kinformer/drop-watches", "Host: localhost:PORT\r\nOrigin: null\r\n", "", 403},
        {"OPTIONS", MAPS, "Host: localhost:PORT\r\nOrigin: http://evil.example\r\n", "", 403},
        {"GET", MAPS, "Host: localhost:PORT\r\nSec-Fetch-Site: cross-site\r\n", "", 403},
    };
    serving s;
    serving_begin(&s, NULL);
    CHECK(&s, requests);
    assert_int_equal(serving_ask(&s, "GET", MAPS, "", ""), 200);
    assert_true(serving_has(&s, "\"items\":[]"));
    assert_int_equal(serving_ask(&s, "GET", FAULTS, "", ""), 200);
    assert_true(serving_has(&s, "{\"faults\":\"\"}"));
    serving_end(&s);
}

/* The same page after its name was made to lead to 127.0.0.1. */
static void names_of_others_are_refused(void **state)
{
    (void)state;
    static const request requests[] = {
        {"GET", "/api/v1/secrets", "Host: evil.example\r\n", "", 403},
        {"GET", "/api/v1/secrets", "Host: evil.example:PORT\r\n", "", 403},
        {"GET", "/api/v1/secrets",
         "Host: evil.example:PORT\r\nOrigin: http://evil.example:PORT\r\n"
         "Sec-Fetch-Site: same-origin\r\n",
         "", 403},
        {"GET", "/api/v1/secrets", "Host: 127.0.0.1.evil.example:PORT\r\n", "", 403},
        {"GET", "/api/v1/secrets", "Host: localhost.evil.example\r\n", "", 403},
        {"GET", "/api/v1/secrets", "Host: notlocalhost\r\n", "", 403},
        {"GET", "/api/v1/secrets", "Host: .localhost\r\n", "", 403},
        {"GET", "/api/v1/secrets", "Host: 10.1.2.3:PORT\r\n", "", 403},
        {"GET", "/api/v1/secrets", "Host: [2001:db8::1]:PORT\r\n", "", 403},
        {"GET", "/api/v1/secrets", "Host: [::1\r\n", "", 403},
        {"GET", "/api/v1/secrets", "Host: \r\n", "", 403},
        {"GET", "/version", "Host: evil.example\r\n", "", 403},
        {"GET", FAULTS, "Host: evil.example\r\n", "", 403},
        {"POST", "/kinformer/cut", "Host: evil.example\r\n", "", 403},
    };
    serving s;
    serving_begin(&s, NULL);
    CHECK(&s, requests);
    serving_end(&s);
}

static void clients_are_served_by_any_name_of_the_machine(void **state)
{
    (void)state;
    static const request requests[] = {
        {"GET", MAPS, "Host: 127.0.0.1:PORT\r\n", "", 200},
        {"GET", MAPS, "Host: 127.0.0.1\r\n", "", 200},
        {"GET", MAPS, "Host: 127.8.9.1:80\r\n", "", 200},
        {"GET", MAPS, "Host: [::1]:PORT\r\n", "", 200},
        {"GET", MAPS, "Host: localhost:PORT\r\n", "", 200},
        {"GET", MAPS, "Host: LocalHost.\r\n", "", 200},
        {"GET", MAPS, "Host: api.localhost:PORT\r\n", "", 200},
        {"GET", MAPS, "Host: kubernetes\r\n", "", 200},
        {"POST", MAPS, "Host: localhost:PORT\r\n" JSON, BODY, 201},
        /* A person who types the address. */
        {"GET", MAPS, "Host: localhost:PORT\r\nSec-Fetch-Site: none\r\n", "", 200},
        /* curl --data, as the pages have it. */
        {"POST", FAULTS,
         "Host: localhost:PORT\r\nContent-Type: application/x-www-form-urlencoded\r\n", RULE, 200},
        {"DELETE", FAULTS, "Host: localhost:PORT\r\n", "", 200},
    };
    serving s;
    char headers[256];
    serving_begin(&s, NULL);
    CHECK(&s, requests);
    const char *address = strstr(ki_apiserver_url(s.server), "//") + 2;
    snprintf(headers, sizeof(headers),
             "Host: %s\r\nOrigin: http://%s\r\nSec-Fetch-Site: same-origin\r\n" JSON, address,
             address);
    assert_int_equal(ask(&s, "POST", MAPS, headers, BODY), 201);
    serving_end(&s);
}

static void more_names_can_be_allowed(void **state)
{
    (void)state;
    static const char *const hosts[] = {"api.example", "10.1.2.3", "2001:db8::1", NULL};
    static const request requests[] = {
        {"GET", MAPS, "Host: api.example:PORT\r\n", "", 200},
        {"GET", MAPS, "Host: API.example\r\n", "", 200},
        {"GET", MAPS, "Host: 10.1.2.3:PORT\r\n", "", 200},
        {"GET", MAPS, "Host: [2001:db8::1]:PORT\r\n", "", 200},
        {"GET", MAPS, "Host: other.example:PORT\r\n", "", 403},
        {"GET", MAPS, "Host: x.api.example:PORT\r\n", "", 403},
        {"GET", MAPS, "Host: api.example:PORT\r\nOrigin: http://evil.example\r\n", "", 403},
    };
    serving s;
    ki_apiserver_options options = KI_OPTIONS_INIT(ki_apiserver_options);
    options.allowed_hosts = hosts;
    serving_begin(&s, &options);
    CHECK(&s, requests);
    serving_end(&s);
}

static void wrong_names_are_not_taken(void **state)
{
    (void)state;
    static const char *const wrong[] = {"", "a b", "http://a", "a:80", "[::1]", "*"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        const char *const hosts[] = {"fine", wrong[i], NULL};
        ki_apiserver_options options = KI_OPTIONS_INIT(ki_apiserver_options);
        ki_apiserver *server = NULL;
        ki_error error = KI_ERROR_INIT;
        options.allowed_hosts = hosts;
        assert_int_equal(ki_apiserver_new(&options, &server, &error), KI_ERR_INVALID);
        assert_non_null(strstr(error.message, "allowed_hosts"));
    }
}

/* Who listens on every address may be called by any of them, but by no other name. */
static void a_server_on_all_addresses_takes_every_address(void **state)
{
    (void)state;
    static const request requests[] = {
        {"GET", MAPS, "Host: 10.1.2.3:PORT\r\n", "", 200},
        {"GET", MAPS, "Host: [2001:db8::1]\r\n", "", 200},
        {"GET", MAPS, "Host: evil.example:PORT\r\n", "", 403},
    };
    serving s;
    ki_apiserver_options options = KI_OPTIONS_INIT(ki_apiserver_options);
    options.listen = "0.0.0.0:0";
    serving_begin(&s, &options);
    CHECK(&s, requests);
    serving_end(&s);
}

/* No page has the token, so that with it nothing else is asked. */
static void a_token_is_enough(void **state)
{
    (void)state;
    static const request requests[] = {
        {"GET", MAPS, "Host: evil.example\r\n", "", 401},
        {"POST", "/kinformer/cut", "Host: localhost\r\nOrigin: http://evil.example\r\n", "", 401},
        {"GET", MAPS, "Host: any.example\r\nAuthorization: Bearer t\r\n", "", 200},
        {"POST", MAPS, "Host: localhost\r\nAuthorization: Bearer t\r\n", BODY, 201},
        {"POST", MAPS,
         "Host: localhost\r\nAuthorization: Bearer t\r\nOrigin: http://a.example\r\n" JSON, BODY,
         201},
    };
    serving s;
    ki_apiserver_options options = KI_OPTIONS_INIT(ki_apiserver_options);
    options.token = "t";
    serving_begin(&s, &options);
    CHECK(&s, requests);
    serving_end(&s);
}

/* ---- heads that say enough ---- */

static const char *answer_to(const serving *s, const char *text, size_t len)
{
    static char line[64];
    bool closed;
    int fd = serving_connect(s);
    const char *got = serving_raw(fd, text, len, 20000, &closed);
    snprintf(line, sizeof(line), "%.*s", (int)strcspn(got, "\r\n"), got);
    close(fd);
    return closed ? line : "open";
}

/* Neither for the body nor for its time limit is waited. */
static void a_length_that_is_too_large_is_answered_at_once(void **state)
{
    (void)state;
    static const char text[] = "POST " MAPS " HTTP/1.1\r\nHost: localhost\r\n" JSON
                               "Content-Length: 99999999999999\r\n\r\n{";
    serving s;
    ki_apiserver_options options = KI_OPTIONS_INIT(ki_apiserver_options);
    options.request_timeout_ms = 600000;
    serving_begin(&s, &options);
    assert_string_equal(answer_to(&s, text, sizeof(text) - 1), "HTTP/1.1 413 Content Too Large");
    assert_int_equal(serving_open(&s, 0), 0);
    assert_int_equal(serving_ask(&s, "GET", MAPS, "", ""), 200);
    serving_end(&s);
}

static void a_target_does_not_end_at_a_nul(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t len;
        const char *line;
    } cases[] = {
#define HEAD(target) "GET " target " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
#define CASE(target, line) {HEAD(target), sizeof(HEAD(target)) - 1, "HTTP/1.1 " line}
        CASE("/api\0/v1", "400 Bad Request"),
        CASE("/api\0", "400 Bad Request"),
        CASE("\0", "400 Bad Request"),
        CASE("/api?a=\0b", "400 Bad Request"),
        CASE("/api", "200 OK"),
        CASE("/api?a=b", "200 OK"),
    };
    serving s;
    serving_begin(&s, NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_string_equal(answer_to(&s, cases[i].text, cases[i].len), cases[i].line);
    }
    serving_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_of_others_neither_write_nor_control),
        cmocka_unit_test(names_of_others_are_refused),
        cmocka_unit_test(clients_are_served_by_any_name_of_the_machine),
        cmocka_unit_test(more_names_can_be_allowed),
        cmocka_unit_test(wrong_names_are_not_taken),
        cmocka_unit_test(a_server_on_all_addresses_takes_every_address),
        cmocka_unit_test(a_token_is_enough),
        cmocka_unit_test(a_length_that_is_too_large_is_answered_at_once),
        cmocka_unit_test(a_target_does_not_end_at_a_nul),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
