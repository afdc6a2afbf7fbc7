/* SPDX-License-Identifier: Apache-2.0 */
#include "support/monitoring.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { RESPONSE_MAX = 64 << 20, REQUEST_MAX = 8192, WAIT_MS = 30000 };

static void must(int r, const ki_error *error)
{
    if (r < 0) {
        fail_msg("%s: %s", ki_error_name(r), error->message);
    }
}

static void start_informers(monitoring *m)
{
    const ki_resource *const resources[] = {KI_CORE_V1_PODS, KI_CORE_V1_CONFIGMAPS,
                                            KI_CORE_V1_SECRETS};
    ki_error error = KI_ERROR_INIT;
    for (size_t i = 0; i < 3; i++) {
        ki_informer *informer = NULL;
        must(ki_client_informer(m->client, resources[i], NULL, &informer, &error), &error);
        ki_informer_unref(informer);
    }
    must(ki_client_start(m->client, &error), &error);
    must(ki_client_wait_for_sync(m->client, WAIT_MS, &error), &error);
}

void monitoring_load(monitoring *m, const char *yaml)
{
    ki_error error = KI_ERROR_INIT;
    must(ki_apiserver_load(m->server, ki_str_from(yaml), NULL, &error), &error);
}

void monitoring_begin(monitoring *m, const ki_monitor_server_options *options)
{
    ki_error error = KI_ERROR_INIT;
    ki_client_options client = KI_OPTIONS_INIT(ki_client_options);
    ki_monitor_server_options own = KI_OPTIONS_INIT(ki_monitor_server_options);
    *m = (monitoring){0};
    test_alloc_init(&m->alloc);
    ki_buf_init(&m->response, NULL, RESPONSE_MAX);
    must(ki_apiserver_new(NULL, &m->server, &error), &error);
    monitoring_load(m, "apiVersion: v1\nkind: Pod\n"
                       "metadata: {name: web, namespace: default, labels: {app: web}}\n---\n"
                       "apiVersion: v1\nkind: Pod\n"
                       "metadata: {name: db, namespace: default, labels: {app: db}}\n---\n"
                       "apiVersion: v1\nkind: Secret\n"
                       "metadata: {name: vault-key, namespace: default}\n"
                       "stringData: {password: correct-horse}\n");
    client.alloc = &m->alloc.table;
    must(ki_apiserver_client(m->server, &client, &m->client, &error), &error);
    own = options != NULL ? *options : own;
    own.alloc = &m->alloc.table;
    must(ki_monitor_server_new(m->client, &own, &m->monitor, &error), &error);
    start_informers(m);
}

void monitoring_end(monitoring *m)
{
    m->monitor = ki_monitor_server_unref(m->monitor);
    m->client = ki_client_close(m->client);
    m->server = ki_apiserver_unref(m->server);
    ki_buf_done(&m->response);
    test_alloc_done(&m->alloc);
}

int monitoring_connect(const monitoring *m)
{
    const char *url = ki_monitor_server_url(m->monitor);
    struct sockaddr_un path = {.sun_family = AF_UNIX};
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    bool is_unix = strncmp(url, "unix:", 5) == 0;
    int fd = socket(is_unix ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    if (is_unix) {
        memcpy(path.sun_path, url + 5, strlen(url + 5) + 1);
        assert_int_equal(connect(fd, (struct sockaddr *)&path, sizeof(path)), 0);
    } else {
        at.sin_port = htons((uint16_t)strtoul(strrchr(url, ':') + 1, NULL, 10));
        assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
    }
    return fd;
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Until the end, or for that long. Whether it was the end. */
static bool read_all(monitoring *m, int fd, int ms)
{
    char bytes[16384];
    int64_t end = now_ms() + ms;
    for (;;) {
        struct pollfd poller = {.fd = fd, .events = POLLIN};
        int64_t left = end - now_ms();
        if (left <= 0 || poll(&poller, 1, (int)left) <= 0) {
            return false;
        }
        ssize_t len = read(fd, bytes, sizeof(bytes));
        if (len <= 0) {
            return true;
        }
        assert_int_equal(ki_buf_add(&m->response, bytes, (size_t)len), 0);
    }
}

bool monitoring_raw(monitoring *m, const char *text, size_t len, int ms)
{
    int fd = monitoring_connect(m);
    ki_buf_clear(&m->response);
    for (size_t sent = 0; sent < len;) {
        ssize_t done = send(fd, text + sent, len - sent, MSG_NOSIGNAL);
        if (done <= 0) {
            break; /* it may close before it has read everything */
        }
        sent += (size_t)done;
    }
    bool closed = read_all(m, fd, ms);
    close(fd);
    const char *got = ki_buf_text(&m->response);
    m->status = strncmp(got, "HTTP/1.1 ", 9) == 0 ? (int)strtol(got + 9, NULL, 10) : 0;
    return closed;
}

int monitoring_get(monitoring *m, const char *target, const char *headers)
{
    char text[REQUEST_MAX];
    const char *host = strstr(headers, "Host:") != NULL ? "" : "Host: localhost\r\n";
    int len = snprintf(text, sizeof(text), "GET %s HTTP/1.1\r\n%s%sConnection: close\r\n\r\n",
                       target, host, headers);
    assert_true(len > 0 && (size_t)len < sizeof(text));
    if (!monitoring_raw(m, text, (size_t)len, WAIT_MS)) {
        fail_msg("%s: no end of the response:\n%.2000s", target, ki_buf_text(&m->response));
    }
    return m->status;
}

const char *monitoring_body(const monitoring *m)
{
    const char *text = ki_buf_text(&m->response);
    const char *end = strstr(text, "\r\n\r\n");
    return end != NULL ? end + 4 : text;
}

void monitoring_has(const monitoring *m, const char *text)
{
    if (strstr(ki_buf_text(&m->response), text) == NULL) {
        fail_msg("'%s' is not in:\n%.20000s", text, ki_buf_text(&m->response));
    }
}

void monitoring_lacks(const monitoring *m, const char *text)
{
    if (strstr(ki_buf_text(&m->response), text) != NULL) {
        fail_msg("'%s' is in:\n%.20000s", text, ki_buf_text(&m->response));
    }
}

void monitoring_until(monitoring *m, const char *target, const char *headers, const char *text)
{
    for (int64_t end = now_ms() + WAIT_MS; now_ms() < end;) {
        (void)monitoring_get(m, target, headers);
        if (strstr(ki_buf_text(&m->response), text) != NULL) {
            return;
        }
        usleep(20000);
    }
    monitoring_has(m, text);
}
