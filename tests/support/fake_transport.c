/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fake_transport.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

static void forget(fake_transport *t)
{
    for (; t->first != t->last; t->first++) {
        ki_buf_done(&t->answers[t->first % FAKE_ANSWERS].body);
    }
}

static void say_head(fake_transport *t, const fake_answer *answer)
{
    const ki_http_header headers[] = {
        {ki_str_from("X-Other"), ki_str_from("1")},
        {ki_str_from("Content-Type"), ki_str_from(answer->type)},
        {ki_str_from("Retry-After"), ki_str_from(answer->retry_after)},
    };
    size_t count = answer->retry_after[0] != '\0' ? 3 : answer->type[0] != '\0' ? 2 : 1;
    t->sink.on_response(answer->status, headers, count, t->sink.user);
}

/* Each piece in memory of its own, so that a tool sees who reads beyond it. */
static void say_body(fake_transport *t, ki_str bytes)
{
    size_t requests = t->count;
    while (bytes.len != 0 && t->open && t->count == requests) {
        size_t len = t->piece != 0 && t->piece < bytes.len ? t->piece : bytes.len;
        char *copy = malloc(len);
        assert_non_null(copy);
        memcpy(copy, bytes.ptr, len);
        t->sink.on_body(ki_str_make(copy, len), t->sink.user);
        free(copy);
        bytes = ki_str_make(bytes.ptr + len, bytes.len - len);
    }
}

static void run(ki__task *task)
{
    fake_transport *t = KI__CONTAINER_OF(task, fake_transport, task);
    if (t->first == t->last || !t->open) {
        return;
    }
    fake_answer answer = t->answers[t->first++ % FAKE_ANSWERS];
    if (t->first != t->last) {
        (void)ki__engine_post(t->engine, &t->task);
    }
    ki_error error = {.code = answer.error, .message = "the connection broke"};
    switch (answer.what) {
    case FAKE_HEAD:
        say_head(t, &answer);
        break;
    case FAKE_BODY:
        say_body(t, ki_buf_str(&answer.body));
        break;
    case FAKE_OVER:
        t->open = false;
        t->sink.on_end(answer.error != 0 ? &error : NULL, t->sink.user);
        break;
    }
    ki_buf_done(&answer.body);
}

static int start(const ki_http_request *request, const ki_http_sink *sink, void *user,
                 void **ret_call, ki_error *error)
{
    fake_transport *t = user;
    assert_false(t->open);
    assert_true(t->count < FAKE_ASKED);
    if (!t->takes_writes) {
        assert_string_equal(request->method, "GET");
        assert_int_equal(request->body.len, 0);
    }
    fake_asked *asked = &t->asked[t->count++];
    *asked = (fake_asked){
        .at = t->world->now,
        .idle_timeout_ms = request->idle_timeout_ms,
        .stream = request->stream,
        .later_page = request->later_page,
    };
    ki_str accept = ki_http_header_find(request->headers, request->header_count, "accept");
    (void)snprintf(asked->path, sizeof(asked->path), "%s", request->path);
    (void)snprintf(asked->query, sizeof(asked->query), "%s", request->query);
    (void)snprintf(asked->accept, sizeof(asked->accept), "%.*s", KI_STR_ARG(accept));
    if (t->refuse != 0) {
        int r = t->refuse;
        t->refuse = 0;
        *error = (ki_error){.code = r, .message = "refused at once"};
        return r;
    }
    forget(t);
    t->sink = *sink;
    t->open = true;
    t->paused = false;
    *ret_call = t;
    if (t->respond != NULL) {
        t->respond(t, asked, t->respond_user);
    }
    return 0;
}

static void cancel(void *call, void *user)
{
    fake_transport *t = user;
    assert_ptr_equal(call, t);
    assert_true(t->open);
    t->open = false;
    t->cancels++;
    forget(t);
}

static void hold(void *call, bool paused, void *user)
{
    fake_transport *t = user;
    assert_ptr_equal(call, t);
    assert_true(t->open);
    t->paused = paused;
}

static void take(void *user)
{
    fake_transport *t = user;
    t->users++;
}

static void give(void *user)
{
    fake_transport *t = user;
    assert_int_not_equal(t->users, 0);
    t->users--;
}

void fake_transport_init(fake_transport *t, ki_engine *engine, const test_world *world)
{
    memset(t, 0, sizeof(*t));
    t->world = world;
    t->engine = engine;
    t->table = (ki_transport){0, start, cancel, hold, take, give, "http://test", t};
    ki__task_init(&t->task, run);
}

void fake_transport_done(fake_transport *t)
{
    assert_int_equal(t->users, 0);
    forget(t);
}

const fake_asked *fake_transport_last(const fake_transport *t)
{
    assert_true(t->count > 0);
    return &t->asked[t->count - 1];
}

static fake_answer *push(fake_transport *t)
{
    assert_true(t->last - t->first < FAKE_ANSWERS);
    fake_answer *answer = &t->answers[t->last++ % FAKE_ANSWERS];
    *answer = (fake_answer){0};
    ki_buf_init(&answer->body, NULL, 1 << 24);
    (void)ki__engine_post(t->engine, &t->task);
    return answer;
}

void fake_head(fake_transport *t, int status, const char *type, const char *retry_after)
{
    fake_answer *answer = push(t);
    answer->what = FAKE_HEAD;
    answer->status = status;
    (void)snprintf(answer->type, sizeof(answer->type), "%s", type);
    (void)snprintf(answer->retry_after, sizeof(answer->retry_after), "%s", retry_after);
}

void fake_body(fake_transport *t, ki_str bytes)
{
    fake_answer *answer = push(t);
    answer->what = FAKE_BODY;
    assert_int_equal(ki_buf_add_str(&answer->body, bytes), 0);
}

void fake_body_text(fake_transport *t, const char *text)
{
    fake_answer *answer = push(t);
    answer->what = FAKE_BODY;
    for (; *text != '\0'; text++) {
        assert_int_equal(ki_buf_add_char(&answer->body, *text == '\'' ? '"' : *text), 0);
    }
}

void fake_over(fake_transport *t, int error)
{
    fake_answer *answer = push(t);
    answer->what = FAKE_OVER;
    answer->error = error;
}

void fake_answer_json(fake_transport *t, int status, const char *text)
{
    fake_head(t, status, "application/json", "");
    fake_body_text(t, text);
    fake_over(t, 0);
}
