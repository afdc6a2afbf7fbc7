/* SPDX-License-Identifier: Apache-2.0 */
#include "support/serving.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

void serving_begin(serving *s, ki_apiserver_options *options)
{
    ki_apiserver_options none = KI_OPTIONS_INIT(ki_apiserver_options);
    ki_error error = KI_ERROR_INIT;
    *s = (serving){.fds = test_descriptors()};
    test_alloc_init(&s->alloc);
    options = options != NULL ? options : &none;
    options->alloc = &s->alloc.table;
    if (ki_apiserver_new(options, &s->server, &error) < 0) {
        fail_msg("%s", error.message);
    }
    ki__curl_options curl = {.url = ki_apiserver_url(s->server)};
    curl.tls.ca = ki_str_from(ki_apiserver_ca(s->server));
    transporting_begin(&s->t);
    transporting_open(&s->t, &curl, "http", 0);
}

static void forget(serving *s)
{
    if (s->asked) {
        exchange_done(&s->e);
    }
    s->asked = false;
}

void serving_leave(serving *s)
{
    forget(s);
    transporting_close(&s->t);
    s->t.loop = ki_loop_unref(s->t.loop);
    ki_buf_done(&s->t.logged);
    test_alloc_done(&s->t.alloc);
    s->left = true;
}

void serving_end(serving *s)
{
    if (!s->left) {
        serving_leave(s);
    }
    if (s->server != NULL) {
        assert_int_equal(serving_open(s, 0), 0);
    }
    s->server = ki_apiserver_unref(s->server);
    test_alloc_done(&s->alloc);
    assert_int_equal(test_descriptors(), s->fds);
}

int serving_ask(serving *s, const char *method, const char *path, const char *query,
                const char *body)
{
    forget(s);
    char *json = strdup(body);
    for (char *p = json; (p = strchr(p, '\'')) != NULL; p++) {
        *p = '"';
    }
    bool patch = strcmp(method, "PATCH") == 0;
    const ki_http_header type = {
        ki_str_from("Content-Type"),
        ki_str_from(patch ? "application/merge-patch+json" : "application/json")};
    exchange_init(&s->e, &s->t, path, query);
    s->asked = true;
    s->e.request.method = method;
    s->e.request.headers = &type;
    s->e.request.header_count = body[0] != '\0' ? 1 : 0;
    s->e.request.body = ki_str_from(json);
    exchange_run(&s->e);
    free(json);
    return s->e.status;
}

const char *serving_text(const serving *s)
{
    return ki_buf_text(&s->e.body);
}

bool serving_has(const serving *s, const char *text)
{
    return strstr(ki_buf_text(&s->e.body), text) != NULL ||
           strstr(ki_buf_text(&s->e.headers), text) != NULL;
}

void serving_put(serving *s, const char *name)
{
    char body[200];
    snprintf(body, sizeof(body), "{'metadata':{'name':'%s'},'data':{'k':'v'}}", name);
    (void)serving_ask(s, "POST", "/api/v1/namespaces/default/configmaps", "", body);
    assert_answer(s, 201);
}

/* ---- raw ---- */

int serving_connect(const serving *s)
{
    const char *port = strrchr(ki_apiserver_url(s->server), ':') + 1;
    struct sockaddr_in at = {.sin_family = AF_INET};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    at.sin_port = htons((uint16_t)strtoul(port, NULL, 10));
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
    return fd;
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static const char *talk(int fd, const char *text, size_t len, const char *until, int ms,
                        bool *ret_closed)
{
    static char got[1 << 20];
    size_t have = 0;
    got[0] = '\0';
    int64_t end = now_ms() + ms;
    *ret_closed = false;
    while (len != 0) {
        ssize_t sent = send(fd, text, len, MSG_NOSIGNAL);
        if (sent < 0) {
            break; /* it was closed already; there may be an answer nevertheless */
        }
        text += sent;
        len -= (size_t)sent;
    }
    while (have < sizeof(got) - 1 && now_ms() < end && !*ret_closed &&
           (until == NULL || strstr(got, until) == NULL)) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (poll(&p, 1, (int)(end - now_ms())) <= 0) {
            continue;
        }
        ssize_t n = recv(fd, got + have, sizeof(got) - 1 - have, 0);
        have += n > 0 ? (size_t)n : 0;
        *ret_closed = n <= 0;
        got[have] = '\0';
    }
    return got;
}

const char *serving_raw(int fd, const char *text, size_t len, int ms, bool *ret_closed)
{
    return talk(fd, text, len, NULL, ms, ret_closed);
}

const char *serving_until(int fd, const char *text, const char *until, bool *ret_closed)
{
    return talk(fd, text, strlen(text), until, 10000, ret_closed);
}

size_t serving_open(const serving *s, size_t want)
{
    ki_apiserver_stats stats = {0};
    int64_t end = now_ms() + 10000;
    do {
        ki_apiserver_get_stats(s->server, &stats);
        if (stats.open_connections > want) {
            (void)usleep(2000);
        }
    } while (stats.open_connections > want && now_ms() < end);
    return stats.open_connections;
}
