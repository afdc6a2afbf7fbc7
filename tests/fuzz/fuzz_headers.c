/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as the head of an answer, line by line as libcurl gives them, up to the source of a
 * list or watch that reads Retry-After and Content-Type. The first byte selects the request. A
 * head that is refused must be with a reason; what gets through must be within the limits, and what
 * is logged must be fit for a log. */
#include <stdlib.h>
#include <string.h>

#include <kinformer/builtin_resources.h>
#include <kinformer/parts/source.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "client/curl/curl_state.h"

enum { HEADERS_MAX = 20, BYTES_MAX = 4096 };

static void must(bool condition)
{
    if (!condition) {
        __builtin_trap();
    }
}

/* ---- what listens ---- */

static void check_log(const ki_log_record *record, void *user)
{
    (void)user;
    for (size_t i = 0; i < record->field_count; i++) {
        ki_str value = record->fields[i].value;
        must(ki__utf8_valid(value));
        for (size_t k = 0; k < value.len; k++) {
            must((unsigned char)value.ptr[k] >= ' ' && value.ptr[k] != 0x7f);
        }
    }
}

typedef struct listening {
    ki_engine_task *task;
    ki_source source;
    ki_http_sink sink; /* the source's; valid while it has a request */
    bool asked;
    bool watch;
    bool ended;
    void *call;
    ki__curl_call head;
    ki__curl curl;
    const uint8_t *data;
    size_t size;
} listening;

static listening all;

static int start(const ki_http_request *request, const ki_http_sink *sink, void *user,
                 void **ret_call, ki_error *error)
{
    (void)user;
    (void)error;
    must(request->method != NULL);
    all.sink = *sink;
    all.asked = true;
    *ret_call = &all;
    return 0;
}

static void cancel(void *call, void *user)
{
    (void)call;
    (void)user;
    all.asked = false;
}

static void on_event(ki_watch_event_type type, const ki_object *object, const ki_error *error,
                     void *user)
{
    (void)type;
    (void)object;
    (void)error;
    (void)user;
    must(false); /* there is no body */
}

static void on_skipped(ki_watch_event_type type, const char *key, const char *resource_version,
                       const ki_error *error, void *user)
{
    (void)key;
    (void)resource_version;
    on_event(type, NULL, error, user);
}

static void on_alive(size_t bytes, void *user)
{
    (void)user;
    must(bytes == 0);
}

static void on_end(const ki_list_meta *meta, const ki_error *error, const ki_object *status,
                   void *user)
{
    (void)user;
    (void)status;
    must(!all.ended);
    must(meta == NULL);
    must(error == NULL || (error->code < 0 && error->message[0] != '\0'));
    must(all.watch || error != NULL); /* a list without a body is none */
    all.ended = true;
}

/* ---- one head ---- */

static void on_response(int status, const ki_http_header *headers, size_t count, void *user)
{
    (void)user;
    must(status >= 200 && status <= 599);
    must(count <= HEADERS_MAX);
    for (size_t i = 0; i < count; i++) {
        must(headers[i].name.len != 0 && headers[i].name.len + headers[i].value.len <= BYTES_MAX);
        must(memchr(headers[i].value.ptr, '\0', headers[i].value.len) == NULL);
    }
    if (all.asked) {
        all.sink.on_response(status, headers, count, all.sink.user);
    }
}

static void feed(void)
{
    const uint8_t *at = all.data;
    const uint8_t *end = all.data + all.size;
    while (at < end && all.head.failure.code == 0 && !all.head.responded) {
        const uint8_t *stop = memchr(at, '\n', (size_t)(end - at));
        size_t len = (size_t)((stop != NULL ? stop + 1 : end) - at);
        char *line = malloc(len); /* of its own, so that nobody reads beyond it */
        must(line != NULL);
        memcpy(line, at, len);
        size_t taken = ki__curl_on_header(line, 1, len, &all.head);
        free(line);
        must(taken == len || all.head.failure.code < 0);
        must(taken == len || all.head.failure.message[0] != '\0');
        at += len;
    }
}

static void begin_head(uint8_t flags)
{
    ki_engine *engine = all.curl.engine;
    all.curl.options.no_compression = (flags & 1) == 0;
    all.head = (ki__curl_call){.curl = &all.curl,
                               .sink = {.on_response = on_response},
                               .kind = (flags & 4) != 0   ? KI__CURL_PROBE
                                       : (flags & 2) != 0 ? KI__CURL_STREAM
                                                          : KI__CURL_PLAIN};
    ki_buf_init(&all.head.head, ki__engine_alloc(engine), BYTES_MAX * 2);
}

static void end_head(void)
{
    ki_buf_done(&all.head.head);
    ki__free(all.curl.alloc, all.head.fields);
    ki__gzip_free(all.head.gzip);
}

/* Inside the engine, as everything is. */
static void run(void *user)
{
    (void)user;
    const ki_source_sink sink = {
        .on_event = on_event, .on_skipped = on_skipped, .on_alive = on_alive, .on_end = on_end};
    ki_list_options options = {0};
    uint8_t flags = all.data[0];
    all.data++;
    all.size--;
    all.watch = (flags & 8) != 0;
    all.ended = false;
    must((all.watch ? all.source.watch : all.source.list)(&options, &sink, all.source.user,
                                                          &all.call, NULL) == 0);
    begin_head(flags);
    feed();
    if (all.asked && all.head.responded) {
        all.asked = false;
        all.sink.on_end(NULL, all.sink.user);
    }
    if (!all.ended) {
        all.source.cancel(all.call, all.source.user); /* perhaps while it waits to ask again */
    }
    end_head();
}

static void set_up(void)
{
    static const ki_transport transport = {.start = start, .cancel = cancel};
    static ki_log log = {.write = check_log, .level = KI_LOG_DEBUG};
    ki_loop *loop = NULL;
    ki_loop_options options = KI_OPTIONS_INIT(ki_loop_options);
    options.log = &log;
    must(ki_loop_new(&options, &loop, NULL) == 0);
    all.curl.loop = loop;
    all.curl.engine = ki_loop_engine(loop);
    all.curl.alloc = ki__engine_alloc(all.curl.engine);
    all.curl.log = ki__engine_log(all.curl.engine);
    all.curl.options.max_headers = HEADERS_MAX;
    all.curl.options.max_header_bytes = BYTES_MAX;
    ki_source_http_options source_options = KI_OPTIONS_INIT(ki_source_http_options);
    source_options.engine = all.curl.engine;
    source_options.transport = &transport;
    source_options.resource = KI_CORE_V1_PODS;
    must(ki_source_http_new(&source_options, &all.source, NULL) == 0);
    must(ki_engine_task_new(all.curl.engine, run, NULL, &all.task, NULL) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    if (all.task == NULL) {
        set_up();
    }
    all.data = data;
    all.size = size;
    memset(&all.curl.warnings, 0, sizeof(all.curl.warnings)); /* each is new again */
    ki_engine_task_post(all.task);
    (void)ki_engine_run(all.curl.engine, 0);
    return 0;
}
