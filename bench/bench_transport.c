/* SPDX-License-Identifier: Apache-2.0 */
/* A list of 1,000 pods over TLS, from a server on this machine: received, decompressed, decoded,
 * and dropped. Rows are "<encoding>_<http>_<plain or gzip>"; bench/transport starts the server.
 * What counts is `cpu_ns`, the processor time of this process: the server has its own. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kinformer/builtin_resources.h>
#include <kinformer/loop.h>
#include <kinformer/parts/source.h>

#include "client/curl/curl_transport.h"
#include "support/bench.h"

enum { ROUNDS_MAX = BENCH_SAMPLES_MAX, PODS = 1000 };

typedef struct way {
    const char *row;
    bool json;
    ki__curl_http http;
    bool gzip;
    ki_loop *loop;
    ki__curl *curl;
    ki_source source;
    ki_engine_task *task;
    size_t objects;
    bool ended;
    bench_samples samples;
} way;

static void on_event(ki_watch_event_type type, const ki_object *object, const ki_error *error,
                     void *user)
{
    way *w = user;
    (void)type;
    (void)error;
    bench_use(object);
    w->objects++;
}

static void on_skipped(ki_watch_event_type type, const char *key, const char *resource_version,
                       const ki_error *error, void *user)
{
    (void)type;
    (void)key;
    (void)resource_version;
    (void)user;
    bench_fail("a pod: %s", error->message);
}

static void on_alive(size_t bytes, void *user)
{
    (void)bytes;
    (void)user;
}

static void on_end(const ki_list_meta *meta, const ki_error *error, const ki_object *status,
                   void *user)
{
    way *w = user;
    (void)meta;
    (void)status;
    if (error != NULL) {
        bench_fail("%s: %s", w->row, error->message);
    }
    w->ended = true;
}

static void start(void *user)
{
    way *w = user;
    const ki_source_sink sink = {.on_event = on_event,
                                 .on_skipped = on_skipped,
                                 .on_alive = on_alive,
                                 .on_end = on_end,
                                 .user = w};
    ki_list_options options = {0};
    void *call = NULL;
    ki_error error = KI_ERROR_INIT;
    if (w->source.list(&options, &sink, w->source.user, &call, &error) < 0) {
        bench_fail("%s: %s", w->row, error.message);
    }
}

static void open_way(way *w, const char *url, const char *ca_file)
{
    ki_error error = KI_ERROR_INIT;
    ki_loop_options loop_options = KI_OPTIONS_INIT(ki_loop_options);
    int r = ki_loop_new(&loop_options, &w->loop, &error);
    const ki__curl_options options = {.loop = w->loop,
                                      .url = url,
                                      .tls = {.ca_file = ca_file},
                                      .http = w->http,
                                      .no_compression = !w->gzip};
    r = r < 0 ? r : ki__curl_new(&options, &w->curl, &error);
    if (r < 0) {
        bench_fail("%s", error.message);
    }
    ki_transport transport = ki__curl_table(w->curl);
    ki_source_http_options source_options = KI_OPTIONS_INIT(ki_source_http_options);
    source_options.engine = ki_loop_engine(w->loop);
    source_options.transport = &transport;
    source_options.resource = KI_CORE_V1_PODS;
    source_options.json_only = w->json;
    r = ki_source_http_new(&source_options, &w->source, &error);
    r = r < 0 ? r : ki_engine_task_new(ki_loop_engine(w->loop), start, w, &w->task, &error);
    if (r < 0) {
        bench_fail("%s", error.message);
    }
}

static void list_once(way *w)
{
    w->ended = false;
    w->objects = 0;
    ki_engine_task_post(w->task);
    while (!w->ended) {
        struct pollfd in = {.fd = ki_loop_fd(w->loop), .events = POLLIN};
        if (ki_loop_dispatch(w->loop) < 0) {
            bench_fail("the loop failed");
        }
        if (!w->ended) {
            (void)poll(&in, 1, 1000);
        }
    }
    if (w->objects != PODS) {
        bench_fail("%s: %zu pods", w->row, w->objects);
    }
}

static void close_way(way *w)
{
    w->task = ki_engine_task_unref(w->task);
    w->source.destroy(w->source.user);
    ki__curl_free(w->curl);
    w->loop = ki_loop_unref(w->loop);
}

int main(int argc, char **argv)
{
    bench_option options[] = {
        {"rounds", "lists of each row", "50"},
        {"url", "the server, as bench/transport starts it", ""},
        {"ca", "the file with its CA", ""},
        {NULL, NULL, NULL},
    };
    static way ways[] = {
        {.row = "json_http1_plain", .json = true, .http = KI__CURL_HTTP_1_1},
        {.row = "json_http1_gzip", .json = true, .http = KI__CURL_HTTP_1_1, .gzip = true},
        {.row = "json_http2_plain", .json = true, .http = KI__CURL_HTTP_2},
        {.row = "json_http2_gzip", .json = true, .http = KI__CURL_HTTP_2, .gzip = true},
        {.row = "proto_http1_plain", .http = KI__CURL_HTTP_1_1},
        {.row = "proto_http1_gzip", .http = KI__CURL_HTTP_1_1, .gzip = true},
        {.row = "proto_http2_plain", .http = KI__CURL_HTTP_2},
        {.row = "proto_http2_gzip", .http = KI__CURL_HTTP_2, .gzip = true},
    };
    enum { WAYS = sizeof(ways) / sizeof(ways[0]) };
    bench_options(argc, argv, options);
    uint64_t rounds = bench_option_number(&options[0]);
    rounds = rounds < ROUNDS_MAX ? rounds : ROUNDS_MAX;
    for (size_t i = 0; i < WAYS; i++) {
        open_way(&ways[i], options[1].value, options[2].value);
        list_once(&ways[i]); /* connects */
    }
    for (uint64_t round = 0; round < rounds; round++) {
        for (size_t i = 0; i < WAYS; i++) {
            bench_samples_begin(&ways[i].samples);
            list_once(&ways[i]);
            bench_samples_end(&ways[i].samples, 1);
        }
    }
    for (size_t i = 0; i < WAYS; i++) {
        bench_line_begin("transport", "kinformer", ways[i].row);
        bench_samples_print(&ways[i].samples, 0);
        bench_line_end();
        close_way(&ways[i]);
    }
    return 0;
}
