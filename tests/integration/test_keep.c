/* SPDX-License-Identifier: Apache-2.0 */
/* Informers with keep over HTTP, in both encodings: objects are projected while they are decoded,
 * streaming lists end, and partial objects are not written.  threads: yes */
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <kinformer/apiserver.h>
#include <kinformer/client.h>
#include <kinformer/edit.h>
#include <kinformer/encoding.h>
#include <kinformer/factory.h>
#include <kinformer/health.h>
#include <kinformer/projection.h>
#include <kinformer/write.h>

#include "support/test.h"

enum { WAIT_MS = 30000 };

typedef struct fixture {
    ki_apiserver *server;
    ki_client *client;
    ki_factory *factory;
    ki_informer *pods;
    atomic_int changes;
} fixture;

static void must(int r, const ki_error *error)
{
    if (r < 0) {
        fail_msg("%s: %s", ki_error_name(r), error->message);
    }
}

static void count_change(const ki_change *change, void *user)
{
    fixture *f = user;
    assert_true(ki_object_is_partial(change->object));
    atomic_fetch_add(&f->changes, 1);
}

static void begin(fixture *f, bool json, bool no_streaming)
{
    ki_error error = KI_ERROR_INIT;
    *f = (fixture){0};
    must(ki_apiserver_new(NULL, &f->server, &error), &error);
    must(
        ki_apiserver_load(f->server,
                          ki_str_from("apiVersion: v1\nkind: Pod\n"
                                      "metadata: {name: web, namespace: default, labels: {app: web,"
                                      " tier: x}, annotations: {a: b}}\n"
                                      "spec: {nodeName: n1, containers: [{name: c, image: i}]}\n"),
                          NULL, &error),
        &error);
    ki_client_options options = KI_OPTIONS_INIT(ki_client_options);
    must(ki_apiserver_client(f->server, &options, &f->client, &error), &error);
    ki_informer_options informer = KI_OPTIONS_INIT(ki_informer_options);
    informer.keep = ".spec.nodeName, .metadata.labels['app']";
    informer.no_streaming = no_streaming;
    ki_factory_options factory = KI_OPTIONS_INIT(ki_factory_options);
    factory.json_only = json;
    must(ki_client_factory(f->client, &factory, &f->factory, &error), &error);
    must(ki_factory_informer(f->factory, KI_CORE_V1_PODS, &informer, &f->pods, &error), &error);
    must(ki_informer_on_change(f->pods, count_change, f, NULL, &error), &error);
    must(ki_factory_start(f->factory, &error), &error);
    must(ki_client_start(f->client, &error), &error);
    must(ki_factory_wait_for_sync(f->factory, WAIT_MS, &error), &error);
}

static void end(fixture *f)
{
    f->factory = ki_factory_unref(f->factory);
    f->client = ki_client_close(f->client);
    f->server = ki_apiserver_unref(f->server);
}

static ki_object *wait_for(fixture *f, const char *version)
{
    for (int i = 0; i < WAIT_MS; i++) {
        ki_object *pod = ki_informer_get(f->pods, "default", "web");
        if (pod != NULL &&
            (version == NULL || strcmp(ki_object_resource_version(pod), version) == 0)) {
            return pod;
        }
        ki_object_unref(pod);
        (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    fail_msg("no version %s", version);
    return NULL;
}

static void patch(fixture *f, const char *text, ki_object **ret_object)
{
    ki_error error = KI_ERROR_INIT;
    must(ki_client_patch(f->client, KI_CORE_V1_PODS, "default", "web", KI_PATCH_MERGE,
                         ki_str_from(text), ret_object, NULL, &error),
         &error);
}

static void annotate(ki_edit *edit, void *user)
{
    (void)user;
    ki_edit_set_string(edit, "metadata.annotations.c", "d");
}

static void one_run(bool json, bool no_streaming)
{
    fixture f;
    ki_error error = KI_ERROR_INIT;
    begin(&f, json, no_streaming);
    ki_object *pod = wait_for(&f, NULL);
    ki_value value;
    assert_true(ki_object_is_partial(pod));
    assert_int_equal(ki_object_encoding(pod), json ? KI_ENCODING_JSON : KI_ENCODING_PROTOBUF);
    assert_true(ki_object_equals(pod, "spec.nodeName", "n1"));
    assert_true(ki_object_label_is(pod, "app", "web"));
    assert_int_equal(ki_object_memory(pod) < 600, 1);
    value = ki_object_at(pod, "spec.containers");
    assert_int_equal(ki_value_element(&value, 0, &value), KI_ERR_NOT_KEPT);
    assert_int_equal(ki_client_update(f.client, KI_CORE_V1_PODS, pod, NULL, NULL, &error),
                     KI_ERR_NOT_KEPT);
    assert_int_equal(
        ki_client_apply(f.client, KI_CORE_V1_PODS, pod, "me", true, NULL, NULL, &error),
        KI_ERR_NOT_KEPT);

    /* An update of something else changes the stored version, and nothing else. */
    ki_object *now = NULL;
    patch(&f, "{\"metadata\":{\"annotations\":{\"a\":\"c\"}}}", &now);
    ki_object *seen = wait_for(&f, ki_object_resource_version(now));
    ki_object_unref(seen);
    now = ki_object_unref(now);
    assert_int_equal(atomic_load(&f.changes), 1);

    /* The object of the cache is not enough to change: the whole one is fetched. */
    must(ki_client_create_or_patch(f.client, KI_CORE_V1_PODS, "default", "web", pod, annotate, NULL,
                                   &now, &error),
         &error);
    assert_true(ki_object_has_annotation(now, "c"));
    assert_true(ki_object_has_label(now, "tier"));
    now = ki_object_unref(now);
    patch(&f, "{\"metadata\":{\"labels\":{\"app\":\"db\"}}}", &now);
    seen = wait_for(&f, ki_object_resource_version(now));
    assert_true(ki_object_label_is(seen, "app", "db"));
    ki_object_unref(seen);
    ki_object_unref(now);
    ki_object_unref(pod);
    for (int i = 0; i < WAIT_MS && atomic_load(&f.changes) < 2; i++) {
        (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    assert_int_equal(atomic_load(&f.changes), 2);
    ki_health health = KI_OPTIONS_INIT(ki_health);
    assert_int_equal(ki_informer_get_health(f.pods, &health, NULL), 0);
    assert_int_equal(health.suppressed, 2);
    end(&f);
}

static void a_streaming_list(void **state)
{
    (void)state;
    one_run(false, false);
    one_run(true, false);
}

static void a_list_in_pages(void **state)
{
    (void)state;
    one_run(false, true);
    one_run(true, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_streaming_list),
        cmocka_unit_test(a_list_in_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
