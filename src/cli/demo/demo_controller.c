/* SPDX-License-Identifier: Apache-2.0 */
/* The controller of the demo: maintains a custom resource object in each namespace with its number
 * of pods. Its keys are namespaces, so that many events result in few reconciles. It reads the
 * caches and writes to the server, which may refuse, be unreachable, or be ahead of the caches:
 * then the key is retried. */
#include <string.h>

#include <kinformer/call.h>
#include <kinformer/index.h>
#include <kinformer/rate_limiter.h>
#include <kinformer/worker.h>

#include "cli/command_loop.h"
#include "cli/demo/demo.h"
#include "cli/report_failure.h"
#include "cli/text.h"

/* Delay that merges changes of one namespace. */
#define GATHER_MS 200

int demo_controller_open(demo *d, ki_error *error)
{
    demo_controller *c = &d->controller;
    ki_workqueue_options wanted = KI_OPTIONS_INIT(ki_workqueue_options);
    wanted.name = "podcounts";
    wanted.clock = ki_clock_system();
    wanted.random = ki_random_system();
    int r = ki_workqueue_new(&wanted, &c->queue, error);
    if (r == 0) {
        r = ki_path_compile(".status.phase", NULL, &c->phase, error);
    }
    return r;
}

void demo_controller_close(demo *d)
{
    demo_controller *c = &d->controller;
    for (size_t i = 0; i < DEMO_CALLS; i++) {
        if (c->calls[i].call != NULL) {
            ki_call_cancel(c->calls[i].call);
            c->calls[i].call = ki_call_unref(c->calls[i].call);
        }
    }
    c->queue = ki_workqueue_unref(c->queue);
    c->phase = ki_path_unref(c->phase);
}

void demo_controller_note(demo *d, const ki_object *pod)
{
    demo_controller *c = &d->controller;
    c->events++;
    (void)!ki_workqueue_add_after(c->queue, ki_object_namespace(pod), GATHER_MS);
}

/* Number of pods in a namespace and how many of them run, from the cache. */
static void count_pods(demo *d, const char *name_space, uint64_t *ret_pods, uint64_t *ret_running)
{
    ki_snapshot *pods =
        ki_store_snapshot(ki_informer_store(d->session.targets[DEMO_PODS].informer));
    ki_snapshot_iter iter;
    const ki_object *pod;
    *ret_pods = 0;
    *ret_running = 0;
    if (ki_snapshot_iter_by_index(pods, KI_INDEX_NAMESPACE, ki_str_from(name_space), &iter) == 0) {
        while (ki_snapshot_iter_next(&iter, &pod) > 0) {
            ki_value phase;
            ++*ret_pods;
            *ret_running += ki_object_get(pod, d->controller.phase, &phase) == 0 &&
                            ki_value_equals(&phase, ki_str_from("Running"));
        }
    }
    (void)ki_snapshot_unref(pods);
}

/* ---- reconcile ---- */

/* The PodCount of a namespace in the cache; NULL: none. */
static ki_object *find_count(demo *d, const char *name_space)
{
    return ki_informer_get(d->session.targets[DEMO_PODCOUNTS].informer, name_space,
                           DEMO_COUNT_NAME);
}

static bool says(const ki_object *count, const char *member, uint64_t number)
{
    ki_value value = ki_object_root(count);
    int64_t said = 0;
    return ki_value_member(&value, ki_str_from("status"), &value) == 0 &&
           ki_value_member(&value, ki_str_from(member), &value) == 0 &&
           ki_value_int64(&value, &said) == 0 && said == (int64_t)number;
}

/* Marks the key as done, and requeues it on failure. */
static void finish(demo_call *call, int result)
{
    demo_controller *c = &call->demo->controller;
    if (result < 0) {
        c->failures++;
        (void)!ki_workqueue_add_rate_limited(c->queue,
                                             call->work.key); /* fails only during shutdown */
    } else {
        ki_workqueue_forget(c->queue, call->work.key);
    }
    ki_workqueue_done(c->queue, &call->work);
}

static void on_response(ki_call *handle, const ki_response *response, const ki_error *error,
                        void *user)
{
    demo_call *call = user;
    (void)handle;
    (void)response;
    call->call = ki_call_unref(call->call);
    call->demo->controller.writes += error == NULL;
    finish(call, error != NULL ? error->code : 0);
}

static int write_count(demo_call *call, const ki_object *known, uint64_t pods, uint64_t running)
{
    demo *d = call->demo;
    ki_request request = KI_OPTIONS_INIT(ki_request);
    ki_object *object = NULL;
    ki_buf json;
    cli_text_init(&json);
    cli_putf(&json,
             "{\"apiVersion\":\"example.com/v1\",\"kind\":\"PodCount\",\"metadata\":{\"name\":"
             "\"" DEMO_COUNT_NAME "\",\"namespace\":\"%s\",\"resourceVersion\":\"%s\"},"
             "\"status\":{\"pods\":%llu,\"running\":%llu}}",
             call->work.key, known != NULL ? ki_object_resource_version(known) : "",
             (unsigned long long)pods, (unsigned long long)running);
    int r = ki_object_from_json(json.data, json.len, NULL, &object, NULL);
    request.verb = known != NULL ? KI_VERB_UPDATE : KI_VERB_CREATE;
    request.resource = d->session.targets[DEMO_PODCOUNTS].resource;
    request.object = object;
    request.timeout_ms = 5000;
    if (r == 0) {
        r = ki_client_call(d->session.client, &request, on_response, call, &call->call, NULL);
    }
    (void)ki_object_unref(object);
    ki_buf_done(&json);
    return r;
}

static void reconcile(demo_call *call)
{
    demo *d = call->demo;
    uint64_t pods;
    uint64_t running;
    count_pods(d, call->work.key, &pods, &running);
    ki_object *known = find_count(d, call->work.key);
    d->controller.runs++;
    if (known != NULL && says(known, "pods", pods) && says(known, "running", running)) {
        finish(call, 0); /* up to date */
    } else {
        int r = write_count(call, known, pods, running);
        if (r < 0) {
            finish(call, r);
        }
    }
    (void)ki_object_unref(known);
}

void demo_controller_run(demo *d)
{
    demo_controller *c = &d->controller;
    if (!cli_session_is_synced(&d->session)) {
        return; /* caches that are behind would lead to a wrong count */
    }
    for (size_t i = 0; i < DEMO_CALLS; i++) {
        demo_call *call = &c->calls[i];
        call->demo = d;
        while (call->call == NULL && ki_workqueue_try_get(c->queue, &call->work) > 0) {
            reconcile(call);
        }
    }
}

/* ---- verification ---- */

size_t demo_controller_wrong(const ki_list *pods, const ki_list *counts)
{
    size_t wrong = 0;
    for (size_t i = 0; i < DEMO_NAMESPACES; i++) {
        const char *name_space = demo_world_namespace(i);
        const ki_object *object;
        uint64_t number = 0;
        bool right = false;
        for (size_t j = 0; (object = ki_list_at(pods, j)) != NULL; j++) {
            number += strcmp(ki_object_namespace(object), name_space) == 0;
        }
        for (size_t j = 0; (object = ki_list_at(counts, j)) != NULL; j++) {
            right = right || (strcmp(ki_object_namespace(object), name_space) == 0 &&
                              says(object, "pods", number));
        }
        wrong += !right && number != 0;
    }
    return wrong;
}
