/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fake_source.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <kinformer/status.h>

#include "support/objects.h"
#include "support/test.h"

static void forget(fake_source *f)
{
    for (; f->first != f->last; f->first++) {
        (void)ki_object_unref(f->actions[f->first % FAKE_ACTIONS].object);
    }
}

static void say(fake_source *f, const fake_action *a)
{
    const ki_source_sink sink = f->sink;
    const ki_error *error = a->failed ? &a->error : NULL;
    const ki_list_meta meta = {.resource_version = a->version, .continue_token = a->token};
    switch (a->what) {
    case FAKE_EVENT:
        sink.on_event(a->type, a->object, error, sink.user);
        break;
    case FAKE_SKIPPED:
        sink.on_skipped(a->type, a->key, a->version, &a->error, sink.user);
        break;
    case FAKE_ALIVE:
        sink.on_alive(a->bytes, sink.user);
        break;
    case FAKE_END:
        f->open = false;
        sink.on_end(a->listed ? &meta : NULL, error, a->object, sink.user);
        break;
    }
}

/* One thing at a time: what is said may lead to the next request. */
static void run(ki__task *task)
{
    fake_source *f = KI__CONTAINER_OF(task, fake_source, task);
    if (f->first == f->last || !f->open) {
        return;
    }
    fake_action action = f->actions[f->first++ % FAKE_ACTIONS];
    if (f->first != f->last) {
        (void)ki__engine_post(f->engine, &f->task);
    }
    say(f, &action);
    (void)ki_object_unref(action.object);
}

static void copy(char *to, size_t size, const char *from)
{
    int len = snprintf(to, size, "%s", from != NULL ? from : "");
    assert_true(len >= 0 && (size_t)len < size);
}

static int begin(fake_source *f, bool watch, const ki_list_options *o, const ki_source_sink *sink,
                 void **ret_call, ki_error *error)
{
    assert_false(f->open); /* one at a time */
    assert_true(f->count < FAKE_REQUESTS);
    fake_request *request = &f->requests[f->count++];
    *request = (fake_request){
        .at = f->world->now,
        .watch = watch,
        .bookmarks = o->allow_bookmarks,
        .initial = o->send_initial_events,
        .limit = o->limit,
        .timeout = o->timeout_ms / 1000,
    };
    copy(request->version, sizeof(request->version), o->resource_version);
    copy(request->match, sizeof(request->match), o->resource_version_match);
    copy(request->token, sizeof(request->token), o->continue_token);
    copy(request->labels, sizeof(request->labels), o->label_selector);
    copy(request->fields, sizeof(request->fields), o->field_selector);
    if (f->refuse != 0) {
        int r = f->refuse;
        f->refuse = 0;
        *error = (ki_error){.code = r};
        copy(error->message, sizeof(error->message), "refused at once");
        return r;
    }
    forget(f);
    f->sink = *sink;
    f->open = true;
    f->paused = false;
    *ret_call = f;
    if (f->respond != NULL) {
        f->respond(f, request, f->respond_user);
    }
    return 0;
}

static int list(const ki_list_options *options, const ki_source_sink *sink, void *user,
                void **ret_call, ki_error *error)
{
    return begin(user, false, options, sink, ret_call, error);
}

static int watch(const ki_list_options *options, const ki_source_sink *sink, void *user,
                 void **ret_call, ki_error *error)
{
    return begin(user, true, options, sink, ret_call, error);
}

static void cancel(void *call, void *user)
{
    fake_source *f = user;
    assert_ptr_equal(call, f);
    assert_true(f->open);
    f->open = false;
    f->cancels++;
    forget(f);
}

static void hold(void *call, bool paused, void *user)
{
    fake_source *f = user;
    assert_ptr_equal(call, f);
    assert_true(f->open);
    f->paused = paused;
}

static void destroy(void *user)
{
    ((fake_source *)user)->destroyed++;
}

void fake_source_init(fake_source *f, ki_engine *engine, const test_world *world)
{
    *f = (fake_source){.world = world, .engine = engine};
    f->table = (ki_source){
        .list = list,
        .watch = watch,
        .cancel = cancel,
        .pause = hold,
        .user = f,
        .destroy = destroy,
    };
    ki__task_init(&f->task, run);
}

void fake_source_done(fake_source *f)
{
    forget(f);
}

const fake_request *fake_last(const fake_source *f)
{
    assert_true(f->count > 0);
    return &f->requests[f->count - 1];
}

static fake_action *push(fake_source *f)
{
    assert_true(f->last - f->first < FAKE_ACTIONS);
    fake_action *action = &f->actions[f->last++ % FAKE_ACTIONS];
    *action = (fake_action){0};
    (void)ki__engine_post(f->engine, &f->task);
    return action;
}

void fake_event(fake_source *f, ki_watch_event_type type, ki_object *object)
{
    fake_action *action = push(f);
    action->what = FAKE_EVENT;
    action->type = type;
    action->object = object;
}

void fake_bookmark(fake_source *f, const char *version, bool ends_initial_events)
{
    char json[256];
    const char *end = ends_initial_events ? "'k8s.io/initial-events-end':'true'" : "";
    (void)snprintf(json, sizeof(json),
                   "{'kind':'Pod','apiVersion':'v1','metadata':{'resourceVersion':'%s',"
                   "'annotations':{%s}}}",
                   version, end);
    fake_event(f, KI_WATCH_EVENT_BOOKMARK, test_object(NULL, json));
}

static void add_status(fake_action *action, ki_object *status)
{
    action->object = status;
    action->failed = true;
    assert_true(ki_status_to_error(status, &action->error) < 0);
}

static ki_object *make_status(int code, const char *reason, const char *message)
{
    char json[512];
    (void)snprintf(json, sizeof(json),
                   "{'kind':'Status','apiVersion':'v1','status':'Failure','code':%d,"
                   "'reason':'%s','message':'%s'}",
                   code, reason, message);
    return test_object(NULL, json);
}

static void error_event(fake_source *f, ki_object *status)
{
    fake_action *action = push(f);
    action->what = FAKE_EVENT;
    action->type = KI_WATCH_EVENT_ERROR;
    add_status(action, status);
}

static void end_status(fake_source *f, ki_object *status)
{
    fake_action *action = push(f);
    action->what = FAKE_END;
    add_status(action, status);
}

void fake_error_event(fake_source *f, int code, const char *reason, const char *message)
{
    error_event(f, make_status(code, reason, message));
}

void fake_end_status(fake_source *f, int code, const char *reason, const char *message)
{
    end_status(f, make_status(code, reason, message));
}

void fake_error_event_json(fake_source *f, const char *status)
{
    error_event(f, test_object(NULL, status));
}

void fake_end_status_json(fake_source *f, const char *status)
{
    end_status(f, test_object(NULL, status));
}

void fake_skipped(fake_source *f, ki_watch_event_type type, const char *key, const char *version,
                  int code)
{
    fake_action *action = push(f);
    action->what = FAKE_SKIPPED;
    action->type = type;
    action->error.code = code;
    copy(action->error.message, sizeof(action->error.message), ki_error_text(code));
    copy(action->key, sizeof(action->key), key);
    copy(action->version, sizeof(action->version), version);
}

void fake_alive(fake_source *f, size_t bytes)
{
    fake_action *action = push(f);
    action->what = FAKE_ALIVE;
    action->bytes = bytes;
}

void fake_end_list(fake_source *f, const char *version, const char *token)
{
    fake_action *action = push(f);
    action->what = FAKE_END;
    action->listed = true;
    copy(action->version, sizeof(action->version), version);
    copy(action->token, sizeof(action->token), token);
}

void fake_end_watch(fake_source *f)
{
    push(f)->what = FAKE_END;
}

void fake_end_error(fake_source *f, int code)
{
    fake_action *action = push(f);
    action->what = FAKE_END;
    action->failed = true;
    action->error.code = code;
    copy(action->error.message, sizeof(action->error.message), ki_error_text(code));
}

ki_object *fake_pod_text(const char *name, const char *version)
{
    char json[256];
    (void)snprintf(json, sizeof(json),
                   "{'kind':'Pod','apiVersion':'v1','metadata':{'name':'%s','namespace':'default',"
                   "'resourceVersion':'%s'}}",
                   name, version);
    return test_object(NULL, json);
}

ki_object *fake_pod(const char *name, unsigned version)
{
    char text[16];
    (void)snprintf(text, sizeof(text), "%u", version);
    return fake_pod_text(name, text);
}
