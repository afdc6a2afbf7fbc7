/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the examples of this folder, so that each shows only its own loop: an informer of two
 * pods whose source is a few lines of text, and a handler that prints. */
#ifndef EXAMPLES_LOOPS_DEMO_H
#define EXAMPLES_LOOPS_DEMO_H

#include <stdio.h>
#include <string.h>

#include <kinformer/kinformer.h>
#include <kinformer/loop.h>
#include <kinformer/parts/engine.h>
#include <kinformer/parts/shared_informer.h>
#include <kinformer/parts/source.h>
#include <kinformer/parts/watch_event.h>

typedef struct demo {
    ki_loop *loop;
    ki_informer *informer;
    ki_engine_task *task; /* lets the source speak, inside the engine */
    ki_source_sink sink;
    bool listing;
    int changes; /* still to deliver */
    void (*finished)(struct demo *demo);
    void *user; /* of finished */
} demo;

#define DEMO_POD(name, version)                                            \
    "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"namespace\":" \
    "\"shop\",\"name\":\"" name "\",\"resourceVersion\":\"" version "\"}}"

static void demo_report(demo *d, ki_watch_event_type type, const char *json)
{
    ki_object *object = NULL;
    if (ki_object_from_json(json, strlen(json), NULL, &object, NULL) == 0) {
        d->sink.on_event(type, object, NULL, d->sink.user);
        ki_object_unref(object);
    }
}

static void demo_speak(void *user)
{
    demo *d = user;
    if (d->listing) {
        d->listing = false;
        demo_report(d, KI_WATCH_EVENT_ADDED, DEMO_POD("web", "1"));
        demo_report(d, KI_WATCH_EVENT_ADDED, DEMO_POD("db", "2"));
        d->sink.on_end(&(ki_list_meta){.resource_version = "3", .continue_token = ""}, NULL, NULL,
                       d->sink.user);
    } else if (d->changes > 0) {
        d->changes--;
        demo_report(d, KI_WATCH_EVENT_MODIFIED, DEMO_POD("web", "4"));
    }
}

static int demo_list(const ki_list_options *options, const ki_source_sink *sink, void *user,
                     void **ret_call, ki_error *error)
{
    (void)options;
    (void)error;
    demo *d = user;
    d->sink = *sink;
    d->listing = true;
    *ret_call = d;
    ki_engine_task_post(d->task); /* answers later, never from inside this call */
    return 0;
}

static int demo_watch(const ki_list_options *options, const ki_source_sink *sink, void *user,
                      void **ret_call, ki_error *error)
{
    (void)options;
    (void)error;
    demo *d = user;
    d->sink = *sink;
    *ret_call = d;
    return 0;
}

static void demo_cancel(void *call, void *user)
{
    (void)call;
    ((demo *)user)->listing = false;
}

static void demo_on_add(const ki_object *pod, bool is_initial, void *user)
{
    (void)is_initial;
    (void)user;
    printf("+ %s\n", ki_object_key(pod));
}

static void demo_on_update(const ki_object *old_pod, const ki_object *pod, void *user)
{
    demo *d = user;
    printf("~ %s %s -> %s\n", ki_object_key(pod), ki_object_resource_version(old_pod),
           ki_object_resource_version(pod));
    d->finished(d);
}

/* Something happens at the source: web changes. */
static void demo_change(demo *d)
{
    d->changes++;
    ki_engine_task_post(d->task);
}

/* A loop without threads, and an informer that is started on it. */
static int demo_begin(demo *d, ki_error *error)
{
    ki_source source = {.list = demo_list,
                        .watch = demo_watch,
                        .cancel = demo_cancel,
                        .no_streaming_list = true,
                        .user = d};
    ki_handler handler = {.on_add = demo_on_add, .on_update = demo_on_update, .user = d};
    int r = ki_loop_new(KI_OPTIONS(ki_loop_options, .no_threads = true), &d->loop, error);
    if (r == 0) {
        r = ki_engine_task_new(ki_loop_engine(d->loop), demo_speak, d, &d->task, error);
    }
    if (r == 0) {
        r = ki_informer_new(KI_OPTIONS(ki_informer_options, .engine = ki_loop_engine(d->loop),
                                       .source = &source, .resource = KI_CORE_V1_PODS),
                            &d->informer, error);
    }
    if (r == 0) {
        r = ki_informer_add_handler(d->informer, &handler, NULL, NULL, error);
    }
    return r == 0 ? ki_informer_start(d->informer, error) : r;
}

static int demo_end(demo *d, int r, const ki_error *error)
{
    if (r < 0) {
        fprintf(stderr, "%s: %s\n", ki_error_name(r), error->message);
    }
    if (d->informer != NULL) {
        ki_informer_stop(d->informer);
        while (!ki_informer_is_stopped(d->informer) && ki_loop_dispatch(d->loop) >= 0) {
        }
        printf("stopped\n");
    }
    ki_informer_unref(d->informer);
    ki_engine_task_unref(d->task);
    ki_loop_unref(d->loop);
    return r < 0 ? 1 : 0;
}

#endif
