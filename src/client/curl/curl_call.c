/* SPDX-License-Identifier: Apache-2.0 */
/* One request from start to end. Except for copying the request, everything is done by the task,
 * one step at a time: credentials, passing it to libcurl, pausing, reporting the end, freeing. */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"
#include "base/options.h"
#include "base/probe.h"
#include "base/time_units.h"
#include "client/curl/curl_state.h"

enum { URL_MAX = 4 << 20, METHOD_MAX = 32, BODY_MAX = 64 << 20 };

#define A(name) (1U << KI__CURL_##name)

static const unsigned next_states[] = {
    [KI__CURL_NEW] = A(WAITING) | A(RUNNING) | A(CLOSED),
    [KI__CURL_WAITING] = A(WAITING) | A(RUNNING) | A(CLOSED),
    [KI__CURL_CONNECTING] = A(RUNNING) | A(CLOSED),
    [KI__CURL_RUNNING] = A(DONE) | A(CLOSED),
    [KI__CURL_DONE] = A(CONNECTING) | A(CLOSED),
    [KI__CURL_CLOSED] = 0,
};
_Static_assert(sizeof(next_states) / sizeof(next_states[0]) == KI__CURL_CALL_STATES, "for each");

void ki__curl_call_set_state(ki__curl_call *call, ki__curl_call_state state)
{
    ki_assert((next_states[call->state] & (1U << state)) != 0);
    call->state = state;
}

void ki__curl_call_end(ki__curl_call *call)
{
    if (call->state == KI__CURL_RUNNING) {
        ki__curl_call_set_state(call, KI__CURL_DONE);
    }
}

void ki__curl_call_todo(ki__curl_call *call)
{
    ki__list_remove(&call->todo_link);
    ki__list_push_back(&call->curl->todo, &call->todo_link);
    ki_engine_task_post(call->curl->task);
}

void ki__curl_call_fail(ki__curl_call *call, int code, const char *text)
{
    if (call->state < KI__CURL_DONE && call->failure.code == 0) {
        (void)ki__error_set(&call->failure, code, "%s", text);
        ki__curl_call_todo(call);
    }
}

void ki__curl_call_count(ki__curl_call *call)
{
    ki__request_stats *stats = call->curl->options.stats;
    if (stats == NULL || call->counted || call->kind == KI__CURL_PROBE) {
        return;
    }
    call->counted = true;
    ki_str method = ki_buf_str(&call->method);
    ki__request_stats_result(stats, method, call->responded ? call->status : 0);
    if (call->kind == KI__CURL_PLAIN) {
        ki__request_stats_duration(stats, method, ki__engine_now(call->curl->engine) - call->began);
    }
}

static void trace_end(const ki__curl_call *call)
{
    KI__PROBE(request_end, call, call->method.data, call->url.data,
              call->responded ? call->status : 0, ki__engine_now(call->curl->engine) - call->began);
}

void ki__curl_call_free(ki__curl_call *call)
{
    ki__curl *curl = call->curl;
    ki__throttle_leave(&call->turn);
    if (call->added) {
        CURLMcode code = curl_multi_remove_handle(curl->multi, call->easy);
        ki_assert(code == CURLM_OK); /* it was added, and this is not a libcurl callback */
    }
    curl_easy_cleanup(call->easy); /* NULL is allowed */
    ki__curl_dial_free(call);
    ki__curl_headers_free(call->headers);
    curl_slist_free_all(call->connect_to);
    ki__curl_certs_unref(call->certs);
    ki__timer_done(&call->idle);
    ki_buf_done(&call->url);
    ki_buf_done(&call->method);
    ki__curl_wipe(&call->body); /* it may be a Secret */
    ki_buf_done(&call->head);
    ki__free(curl->alloc, call->fields);
    ki__gzip_free(call->gzip);
    ki__list_remove(&call->link);
    ki__list_remove(&call->todo_link);
    ki__free(curl->alloc, call);
}

/* ---- deadlines ---- */

static void set_idle(ki__curl_call *call)
{
    if (call->idle_ns == UINT64_MAX || call->paused || ki__throttle_is_waiting(&call->turn)) {
        ki__timer_cancel(&call->idle);
        return;
    }
    uint64_t deadline = call->last_byte + call->idle_ns;
    ki__timer_set(&call->idle, deadline >= call->last_byte ? deadline : UINT64_MAX);
}

/* The timer is not rearmed for every byte; if it fires too early, it is set again. */
static void on_idle(ki__timer *timer)
{
    ki__curl_call *call = KI__CONTAINER_OF(timer, ki__curl_call, idle);
    uint64_t now = ki__engine_now(call->curl->engine);
    if (call->state == KI__CURL_CLOSED || call->paused) {
        return;
    }
    if (now - call->last_byte < call->idle_ns) {
        set_idle(call);
        return;
    }
    if (call->state == KI__CURL_WAITING) {
        ki__curl_call_fail(call, -ETIMEDOUT, "timeout waiting for credentials");
        return;
    }
    (void)ki__curl_shut_silent(call, now - call->idle_ns / 2);
    ki__curl_call_fail(call, -ETIMEDOUT, "timeout: no data from the server");
}

/* ---- starting ---- */

/* Characters allowed in a request line. */
static bool is_url_text(const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text <= ' ' || *text >= 0x7f || *text == '#') {
            return false;
        }
    }
    return true;
}

static int check_request(const ki_http_request *request, ki_error *error)
{
    const char *method = request->method;
    size_t len = method != NULL ? strlen(method) : 0;
    bool good = len != 0 && len <= METHOD_MAX;
    for (size_t i = 0; good && i < len; i++) {
        good = method[i] >= 'A' && method[i] <= 'Z';
    }
    if (!good) {
        return ki__error_set(error, -EINVAL, "method: invalid HTTP method");
    }
    if (request->path == NULL || request->path[0] != '/' || !is_url_text(request->path) ||
        strchr(request->path, '?') != NULL ||
        (request->query != NULL && !is_url_text(request->query))) {
        return ki__error_set(error, -EINVAL, "path or query: not percent-encoded");
    }
    return 0;
}

/* The name to verify is the host of the URL; see set_connect_to(). */
static int make_url(ki__curl_call *call, const ki_http_request *request)
{
    const ki__curl_target *target = &call->curl->target;
    const ki_buf *name = &call->certs->server_name;
    bool other = name->len != 0 && target->https;
    bool bracket = other && memchr(name->data, ':', name->len) != NULL;
    bool query = request->query != NULL && request->query[0] != '\0';
    const char *const parts[] = {
        ki_buf_text(&target->scheme),
        "://",
        bracket ? "[" : "",
        ki_buf_text(other ? name : &target->host),
        bracket ? "]:" : ":",
        ki_buf_text(&target->port),
        ki_buf_text(&target->prefix),
        request->path,
        query ? "?" : "",
        query ? request->query : "",
    };
    int r = 0;
    for (size_t i = 0; r == 0 && i < sizeof(parts) / sizeof(parts[0]); i++) {
        r = ki_buf_add_text(&call->url, parts[i]);
    }
    return r;
}

static int fill(ki__curl_call *call, const ki_http_request *request, ki_error *error)
{
    int r = ki__timer_init(&call->idle, call->curl->engine, on_idle);
    if (r == 0) {
        r = make_url(call, request);
    }
    if (r == 0) {
        r = ki_buf_add_text(&call->method, request->method);
    }
    if (r == 0) {
        r = ki_buf_add_str(&call->body, request->body);
    }
    if (r < 0) {
        return ki__error_set(error, r, "cannot store the request: %s", ki_error_text(r));
    }
    return ki__curl_request_headers(call, request, error);
}

static ki__curl_call *make(ki__curl *curl, const ki_http_request *request, const ki_http_sink *sink)
{
    ki__curl_call *call = ki__alloc_zero(curl->alloc, sizeof(*call));
    if (call == NULL) {
        return NULL;
    }
    call->curl = curl;
    call->socket = -1;
    call->certs = ki__curl_certs_ref(curl->certs);
    call->sink = *sink;
    call->kind = request->stream ? KI__CURL_STREAM : KI__CURL_PLAIN;
    call->began = ki__engine_now(curl->engine);
    ki_buf_init(&call->url, curl->alloc, URL_MAX);
    ki_buf_init(&call->method, curl->alloc, METHOD_MAX);
    call->may_send = request->may_send;
    call->may_send_user = request->may_send_user;
    ki_buf_init(&call->body, curl->alloc, BODY_MAX);
    ki_buf_init(&call->head, curl->alloc, curl->options.max_header_bytes * 2);
    ki__list_init(&call->todo_link);
    ki__list_push_back(&curl->calls, &call->link);
    call->idle_ns = request->idle_timeout_ms != 0 ? ki__ms_to_ns(request->idle_timeout_ms)
                    : request->stream             ? UINT64_MAX
                                                  : curl->options.idle_timeout_ns;
    return call;
}

/* The rate limiter lets it start. */
static void go(ki__curl_call *call)
{
    call->last_byte = ki__engine_now(call->curl->engine);
    if (call->limited && call->curl->options.stats != NULL) {
        ki__request_stats_wait(call->curl->options.stats, ki_buf_str(&call->method),
                               call->last_byte - call->began);
    }
    KI__PROBE(request_start, call, call->method.data, call->url.data,
              call->last_byte - call->began);
    set_idle(call);
    ki__curl_call_todo(call);
}

static void on_turn(ki__throttle_waiter *turn)
{
    go(KI__CONTAINER_OF(turn, ki__curl_call, turn));
}

/* The path is without the prefix of the server's URL and without the query. */
static int wait_for_turn(ki__curl_call *call, ki__throttle *throttle,
                         const ki_http_request *request, ki_error *error)
{
    size_t len = strlen(request->path);
    size_t query = request->query != NULL ? strlen(request->query) : 0;
    size_t behind = query != 0 ? query + 1 : 0; /* including '?' */
    call->limited = !ki__throttle_is_exempt(request);
    call->turn.go = on_turn;
    call->turn.method = ki_buf_str(&call->method);
    call->turn.path = ki_str_make(call->url.data + call->url.len - behind - len, len);
    return ki__throttle_enter(throttle, request, &call->turn, error);
}

static int start(ki__curl *curl, ki__throttle *throttle, const ki_http_request *their_request,
                 const ki_http_sink *their_sink, void **ret_call, ki_error *error)
{
    ki_http_request taken;
    const ki_http_request *request = &taken;
    ki_http_sink sink;
    int r = KI__TAKE(ki_http_request, &taken, their_request, error);
    if (r >= 0) {
        r = KI__TAKE(ki_http_sink, &sink, their_sink, error);
    }
    if (r >= 0) {
        r = check_request(request, error);
    }
    if (r < 0) {
        return r;
    }
    if (curl->freed) {
        return ki__error_code(error, KI_ERR_STOPPED);
    }
    ki__curl_call *call = make(curl, request, &sink);
    if (call == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    r = fill(call, request, error);
    if (r == 0 && throttle != NULL) {
        r = wait_for_turn(call, throttle, request, error);
    }
    if (r < 0) {
        ki__curl_call_free(call);
        return r;
    }
    if (r == 0) {
        go(call);
    }
    if (request->retry_of != 0 && curl->options.stats != NULL) {
        ki__request_stats_retry(curl->options.stats, ki_buf_str(&call->method), request->retry_of);
    }
    *ret_call = call;
    return 0;
}

int ki__curl_call_start(const ki_http_request *request, const ki_http_sink *sink, void *user,
                        void **ret_call, ki_error *error)
{
    return start(user, NULL, request, sink, ret_call, error);
}

int ki__curl_start_throttled(ki__curl *curl, ki__throttle *throttle, const ki_http_request *request,
                             const ki_http_sink *sink, void **ret_call, ki_error *error)
{
    return start(curl, throttle, request, sink, ret_call, error);
}

void ki__curl_call_cancel(void *opaque, void *user)
{
    (void)user;
    ki__curl_call *call = opaque;
    if (call->state != KI__CURL_CLOSED) {
        if (call->added) {
            ki__curl_call_count(call);
        }
        if (!ki__throttle_is_waiting(&call->turn)) {
            trace_end(call);
        }
        ki__curl_call_set_state(call, KI__CURL_CLOSED);
        ki__throttle_leave(&call->turn);
        ki__timer_cancel(&call->idle);
        ki__curl_call_todo(call);
    }
}

void ki__curl_call_pause(void *opaque, bool paused, void *user)
{
    (void)user;
    ki__curl_call *call = opaque;
    if (call->state == KI__CURL_CLOSED || call->paused == paused) {
        return;
    }
    call->paused = paused;
    call->last_byte =
        ki__engine_now(call->curl->engine); /* the idle time does not include the pause */
    set_idle(call);
    if (!paused && call->kind == KI__CURL_STREAM) {
        ki__curl_probe_later(call->curl);
    }
    ki__curl_call_todo(call);
}

/* ---- steps, by the task ---- */

/* Reports the end, and frees the call. */
static void finish(ki__curl_call *call)
{
    ki_error error = KI_ERROR_INIT;
    if (call->failure.code == 0 && call->result == CURLE_OK && call->gzip != NULL) {
        (void)ki__gzip_finish(call->gzip, &call->failure);
    }
    bool failed = call->failure.code != 0 || call->result != CURLE_OK || !call->responded;
    if (failed) {
        ki__curl_failure(call, &error);
    }
    ki__curl_call_count(call);
    trace_end(call);
    ki__curl_call_set_state(call, KI__CURL_CLOSED);
    ki__timer_cancel(&call->idle);
    call->sink.on_end(failed ? &error : NULL, call->sink.user);
    ki__curl_call_free(call);
}

static void give_to_libcurl(ki__curl_call *call)
{
    CURLMcode code = curl_multi_add_handle(call->curl->multi, call->easy);
    if (code != CURLM_OK) {
        (void)ki__error_set(&call->failure, -ENOMEM, "libcurl rejected the request: %s",
                            curl_multi_strerror(code));
        return;
    }
    call->added = true;
    ki__curl_call_set_state(call, KI__CURL_RUNNING);
    ki__curl_dial_added(call);
    if (call->kind == KI__CURL_STREAM) {
        ki__curl_probe_later(call->curl);
    }
}

static void hand_over(ki__curl_call *call)
{
    if (call->state == KI__CURL_CONNECTING) {
        if (ki__curl_dial_step(call)) {
            give_to_libcurl(call);
        }
        return;
    }
    int r = ki__curl_request_setup(call, &call->failure);
    if (r == -EAGAIN) {
        ki__curl_call_set_state(call, KI__CURL_WAITING);
        ki__error_clear(&call->failure);
    } else if (r == 0) {
        give_to_libcurl(call);
    }
}

/* Before a response libcurl has nothing to pause; the body is paused when it arrives. */
static void hold_or_continue(ki__curl_call *call)
{
    if (!call->responded || call->paused == call->held) {
        return;
    }
    call->held = call->paused;
    ki__curl_begin_turn(call->curl);
    CURLcode code = curl_easy_pause(call->easy, call->paused ? CURLPAUSE_RECV : CURLPAUSE_CONT);
    if (code != CURLE_OK && call->failure.code == 0) {
        call->result =
            code; /* the data delivered on resuming was rejected or could not be stored */
        ki__curl_call_end(call);
    }
}

void ki__curl_call_step(ki__curl_call *call)
{
    if (ki__throttle_is_waiting(&call->turn)) {
        return; /* it was paused or resumed */
    }
    bool good = call->failure.code == 0;
    if (good && call->state == KI__CURL_DONE && ki__curl_dial_is_needed(call)) {
        ki__curl_dial_begin(call);
    }
    if (good && call->state < KI__CURL_RUNNING) {
        hand_over(call);
    }
    if (call->state == KI__CURL_RUNNING && call->failure.code == 0) {
        ki__curl_dial_next(call);
        hold_or_continue(call);
    }
    if (call->state == KI__CURL_CLOSED) {
        ki__curl_call_free(call);
    } else if (call->state == KI__CURL_DONE || call->failure.code != 0) {
        finish(call);
    }
}
