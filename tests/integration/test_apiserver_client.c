/* SPDX-License-Identifier: Apache-2.0 */
/* Informers of the client on the embedded API server, by the kubeconfig that it writes: through
 * churn, faults, cut connections and expired histories the caches come to be what the server has.
 * threads: yes */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <kinformer/apiserver.h>
#include <kinformer/client.h>
#include <kinformer/config.h>
#include <kinformer/encoding.h>
#include <kinformer/factory.h>
#include <kinformer/health.h>
#include <kinformer/request.h>
#include <kinformer/status.h>
#include <kinformer/store.h>

#include "support/test.h"

enum { PODS = 60, ROUNDS = 12, WAIT_MS = 30000 };

typedef struct world {
    ki_apiserver *server;
    ki_client *client;
    ki_factory *factory;
    ki_informer *pods;
    ki_informer *widgets;
    const ki_resource *widget;
    bool whole; /* with json_if_incomplete */
} world;

static const char definition[] = "apiVersion: apiextensions.k8s.io/v1\n"
                                 "kind: CustomResourceDefinition\n"
                                 "metadata: {name: widgets.example.com}\n"
                                 "spec:\n"
                                 "  group: example.com\n"
                                 "  scope: Namespaced\n"
                                 "  names: {plural: widgets, kind: Widget}\n"
                                 "  versions:\n"
                                 "  - {name: v1, served: true, storage: true, schema: {\n"
                                 "      openAPIV3Schema: {type: object,\n"
                                 "        x-kubernetes-preserve-unknown-fields: true}}}\n"
                                 "  - {name: v2, served: true, storage: false, schema: {\n"
                                 "      openAPIV3Schema: {type: object,\n"
                                 "        x-kubernetes-preserve-unknown-fields: true}}}\n";

static void must(int r, const ki_error *error)
{
    if (r < 0) {
        fail_msg("%s: %s", ki_error_name(r), error->message);
    }
}

static void write_one(world *w, const char *kind, const char *api_version, int name, int value)
{
    char text[256];
    ki_error error = KI_ERROR_INIT;
    int len = snprintf(text, sizeof(text),
                       "{\"kind\":\"%s\",\"apiVersion\":\"%s\",\"metadata\":{\"name\":\"o%d\","
                       "\"namespace\":\"default\",\"labels\":{\"v\":\"%d\"}}}",
                       kind, api_version, name, value);
    must(ki_apiserver_load(w->server, ki_str_make(text, (size_t)len), NULL, &error), &error);
}

static void begin_with(world *w, const ki_apiserver_options *options, ki_client_options *with)
{
    ki_error error = KI_ERROR_INIT;
    ki_resource *widget;
    must(ki_apiserver_new(options, &w->server, &error), &error);
    must(ki_apiserver_load(w->server, ki_str_from(definition), NULL, &error), &error);
    must(ki_apiserver_client(w->server, with, &w->client, &error), &error);
    must(ki_resource_new(KI_OPTIONS(ki_resource_options, .group = "example.com", .version = "v1",
                                    .resource = "widgets", .kind = "Widget"),
                         &widget, &error),
         &error);
    w->widget = widget;
    must(ki_client_factory(w->client,
                           KI_OPTIONS(ki_factory_options, .json_if_incomplete = w->whole),
                           &w->factory, &error),
         &error);
    must(ki_factory_informer(w->factory, KI_CORE_V1_PODS, NULL, &w->pods, &error), &error);
    must(ki_factory_informer(w->factory, w->widget, NULL, &w->widgets, &error), &error);
}

static void begin(world *w, const ki_apiserver_options *options)
{
    ki_client_options with = KI_OPTIONS_INIT(ki_client_options);
    begin_with(w, options, &with);
}

static void end(world *w)
{
    ki_factory_stop(w->factory);
    ki_factory_unref(w->factory);
    (void)ki_client_close(w->client);
    ki_apiserver_unref(w->server);
    (void)ki_resource_unref(w->widget);
}

static void start(world *w)
{
    ki_error error = KI_ERROR_INIT;
    must(ki_factory_start(w->factory, &error), &error);
    must(ki_factory_wait_for_sync(w->factory, WAIT_MS, &error), &error);
}

/* Whether a cache has exactly the objects whose number is in `there`, each with its value. */
static bool is_current(ki_informer *informer, const int *values)
{
    ki_snapshot *snapshot = ki_store_snapshot(ki_informer_store(informer));
    size_t expected = 0;
    bool same = true;
    for (int i = 0; i < PODS && same; i++) {
        char key[32];
        char label[16] = "";
        snprintf(key, sizeof(key), "default/o%d", i);
        const ki_object *object = ki_snapshot_get(snapshot, key);
        same = (object != NULL) == (values[i] != 0);
        if (same && object != NULL) {
            expected++;
            same = ki_object_string_or(object, "metadata.labels.v", NULL, label, sizeof(label)) &&
                   strtol(label, NULL, 10) == values[i];
        }
    }
    same = same && ki_snapshot_count(snapshot) == expected;
    ki_snapshot_unref(snapshot);
    return same;
}

static void wait_for(ki_informer *informer, const int *values)
{
    for (int i = 0; i < WAIT_MS / 10; i++) {
        if (is_current(informer, values)) {
            return;
        }
        (void)usleep(10000);
    }
    fail_msg("the cache of %s did not become what the server has", ki_informer_name(informer));
}

/* Creates, changes and deletes, and does harm in between. */
static void churn(world *w, int *pods, int *widgets, bool harm)
{
    uint64_t seed = 42;
    for (int round = 1; round <= ROUNDS; round++) {
        for (int i = 0; i < PODS; i++) {
            uint64_t what = test_random(&seed) % 4;
            if (what == 0 && pods[i] != 0) {
                ki_error error = KI_ERROR_INIT;
                char name[16];
                snprintf(name, sizeof(name), "o%d", i);
                must(ki_apiserver_delete(w->server, KI_CORE_V1_PODS, "default", name, &error),
                     &error);
                pods[i] = 0;
            } else if (what == 1) {
                write_one(w, "Pod", "v1", i, round);
                pods[i] = round;
            } else if (what == 2) {
                write_one(w, "Widget", "example.com/v1", i, round);
                widgets[i] = round;
            }
        }
        if (harm && round % 3 == 0) {
            ki_apiserver_break_connections(w->server);
        } else if (harm && round % 3 == 1) {
            ki_apiserver_expire_history(w->server);
            ki_apiserver_drop_watches(w->server);
        }
        (void)usleep(20000);
    }
}

static void follow(ki_apiserver_options *options, bool harm)
{
    world w = {0};
    int pods[PODS] = {0};
    int widgets[PODS] = {0};
    begin(&w, options);
    for (int i = 0; i < PODS / 2; i++) {
        write_one(&w, "Pod", "v1", i, 1000);
        pods[i] = 1000;
    }
    start(&w);
    wait_for(w.pods, pods);
    churn(&w, pods, widgets, harm);
    wait_for(w.pods, pods);
    wait_for(w.widgets, widgets);
    end(&w);
}

static void caches_follow_the_server(void **state)
{
    (void)state;
    ki_apiserver_options options = KI_OPTIONS_INIT(ki_apiserver_options);
    follow(&options, false);
}

static void caches_follow_it_over_tls_with_a_token(void **state)
{
    (void)state;
    ki_apiserver_options options = KI_OPTIONS_INIT(ki_apiserver_options);
    options.tls = true;
    options.token = "a-token";
    follow(&options, false);
}

static void caches_survive_what_goes_wrong(void **state)
{
    (void)state;
    ki_apiserver_options options = KI_OPTIONS_INIT(ki_apiserver_options);
    options.seed = 7;
    options.faults =
        "status=500,rate=10%; status=429,retry-after=1,rate=5%,times=3; refuse,rate=5%;"
        "cut=3000,rate=20%; latency=20ms,rate=30%; drop=300ms,rate=30%;"
        "expire,verb=watch,rate=10%; no-end-bookmark,rate=5%,times=1";
    follow(&options, true);
}

/* ---- what tests need ---- */

static void a_client_keeps_to_its_options(void **state)
{
    (void)state;
    ki_error error = KI_ERROR_INIT;
    ki_apiserver *server;
    ki_client *client = NULL;
    ki_loop *loop;
    ki_list *list;
    must(ki_apiserver_new(NULL, &server, &error), &error);
    must(ki_loop_new(NULL, &loop, &error), &error);
    ki_client_options with = KI_OPTIONS_INIT(ki_client_options);
    with.loop = loop;
    must(ki_apiserver_client(server, &with, &client, &error), &error);
    assert_ptr_equal(ki_client_loop(client), loop);
    time_t before = time(NULL);
    for (int i = 0; i < 150; i++) { /* the usual limit would make this last 28 seconds and more */
        must(ki_client_list(client, KI_CORE_V1_NAMESPACES, "", NULL, &list, NULL, &error), &error);
        ki_list_unref(list);
    }
    assert_true(time(NULL) - before < 25);
    with.config = ki_client_config(client);
    ki_client *other = NULL;
    assert_int_equal(ki_apiserver_client(server, &with, &other, &error), -EINVAL);
    assert_null(other);
    ki_client_unref(client);
    ki_loop_unref(loop);
    ki_apiserver_unref(server);
}

static void expect_names(ki_apiserver *server, const ki_resource *resource, const char *name_space,
                         const char *labels, const char *names)
{
    char found[256] = "";
    ki_error error = KI_ERROR_INIT;
    ki_list *list;
    must(ki_apiserver_list(server, resource, name_space, labels, &list, &error), &error);
    for (size_t i = 0; i < ki_list_count(list); i++) {
        const ki_object *object = ki_list_at(list, i);
        assert_string_equal(ki_object_kind(object), ki_resource_kind(resource));
        assert_string_equal(ki_object_api_version(object), ki_resource_api_version(resource));
        size_t len = strlen(found);
        snprintf(found + len, sizeof(found) - len, "%s ", ki_object_key(object));
    }
    assert_string_equal(found, names);
    ki_list_unref(list);
}

static const char some[] = "{apiVersion: v1, kind: Pod, metadata: {name: b, namespace: x, "
                           "labels: {l: '1'}}}\n---\n"
                           "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: y}}\n---\n"
                           "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: x}}\n---\n"
                           "{apiVersion: example.com/v1, kind: Widget, metadata: {name: w}}\n";

/* Whatever goes wrong for clients, and however far behind the server is for them. */
static void reads_are_of_the_present_and_without_faults(void **state)
{
    (void)state;
    ki_error error = KI_ERROR_INIT;
    ki_apiserver *server;
    ki_object *object;
    ki_list *list;
    ki_resource *widget;
    must(ki_apiserver_new(KI_OPTIONS(ki_apiserver_options,
                                     .faults = "status=500; lag=1h; unknown-field; expire"),
                          &server, &error),
         &error);
    must(ki_apiserver_load(server, ki_str_from(definition), NULL, &error), &error);
    must(ki_apiserver_load(server, ki_str_from(some), NULL, &error), &error);
    expect_names(server, KI_CORE_V1_PODS, "", NULL, "x/a x/b y/a ");
    expect_names(server, KI_CORE_V1_PODS, "x", "", "x/a x/b ");
    expect_names(server, KI_CORE_V1_PODS, "", "l in (1, 2)", "x/b ");
    expect_names(server, KI_CORE_V1_PODS, "none", NULL, "");
    must(ki_apiserver_get(server, KI_CORE_V1_PODS, "x", "b", &object, &error), &error);
    assert_string_equal(ki_object_key(object), "x/b");
    assert_string_equal(ki_object_kind(object), "Pod");
    ki_object_unref(object);
    must(ki_apiserver_delete(server, KI_CORE_V1_PODS, "x", "b", &error), &error);
    assert_int_equal(ki_apiserver_get(server, KI_CORE_V1_PODS, "x", "b", &object, &error),
                     KI_ERR_NOT_FOUND);
    assert_true(ki_error_is_not_found(&error));
    assert_int_equal(ki_apiserver_get(server, KI_CORE_V1_PODS, "x", "", &object, &error), -EINVAL);
    assert_int_equal(ki_apiserver_list(server, KI_CORE_V1_PODS, "", "a b", &list, &error),
                     KI_ERR_STATUS);
    assert_int_equal(error.http_code, 400);
    /* In the requested version, which is not the one that is stored. */
    must(ki_resource_new(KI_OPTIONS(ki_resource_options, .group = "example.com", .version = "v2",
                                    .resource = "widgets", .kind = "Widget"),
                         &widget, &error),
         &error);
    expect_names(server, widget, "", NULL, "default/w ");
    must(ki_apiserver_get(server, widget, "default", "w", &object, &error), &error);
    assert_string_equal(ki_object_api_version(object), "example.com/v2");
    ki_object_unref(object);
    ki_resource_unref(widget);
    ki_apiserver_unref(server);
}

/* ---- a newer server ---- */

static void count_warnings(const ki_log_record *record, void *user)
{
    atomic_int *count = user;
    bool is_it = strstr(record->message, "fields without a schema") != NULL;
    if (record->level == KI_LOG_WARNING && is_it) {
        atomic_fetch_add(count, 1);
    }
}

static ki_health health_of(ki_informer *informer)
{
    ki_health health = KI_OPTIONS_INIT(ki_health);
    assert_int_equal(ki_informer_get_health(informer, &health, NULL), 0);
    return health;
}

/* Objects are kept with the field, say that they are not complete, and show JSON without it. */
static void expect_incomplete(ki_informer *informer, const char *key)
{
    ki_snapshot *snapshot = ki_store_snapshot(ki_informer_store(informer));
    const ki_object *object = ki_snapshot_get(snapshot, key);
    ki_buf json;
    ki_buf_init(&json, NULL, 65536);
    assert_non_null(object);
    assert_false(ki_object_is_complete(object));
    assert_int_equal(ki_object_write_json(object, &json), 0);
    assert_null(strstr(json.data, "unknownField"));
    assert_null(strstr(json.data, "of a newer API"));
    ki_str bytes = ki_object_bytes(object);
    assert_non_null(memmem(bytes.ptr, bytes.len, "of a newer API", strlen("of a newer API")));
    ki_buf_done(&json);
    ki_snapshot_unref(snapshot);
}

/* Two objects of the first list, by streaming or in pages, and one of the watch. */
static void follow_a_newer_server(bool no_streaming)
{
    atomic_int warnings = 0;
    const ki_log log = {.write = count_warnings, .level = KI_LOG_WARNING, .user = &warnings};
    ki_apiserver_options options = KI_OPTIONS_INIT(ki_apiserver_options);
    ki_client_options with = KI_OPTIONS_INIT(ki_client_options);
    ki_error error = KI_ERROR_INIT;
    int pods[PODS] = {1, 2, 3};
    world w = {0};
    options.faults =
        no_streaming ? "unknown-field,resource=pods; status=422,verb=watch,resource=pods,times=1"
                     : "unknown-field,resource=pods";
    with.log = &log;
    begin_with(&w, &options, &with);
    write_one(&w, "Pod", "v1", 0, 1);
    write_one(&w, "Pod", "v1", 1, 2);
    write_one(&w, "Widget", "example.com/v1", 0, 1);
    start(&w);
    write_one(&w, "Pod", "v1", 2, 3);
    wait_for(w.pods, pods);
    assert_int_equal(health_of(w.pods).incomplete, 3);
    assert_int_equal(health_of(w.pods).lists, no_streaming ? 1 : 0);
    assert_int_equal(health_of(w.widgets).incomplete, 0);
    expect_incomplete(w.pods, "default/o0");
    expect_incomplete(w.pods, "default/o2");
    assert_int_equal(atomic_load(&warnings), 1);
    /* JSON responses have it, by its name. */
    ki_response answer = {0};
    ki_value value;
    must(ki_client_do(w.client,
                      KI_OPTIONS(ki_request, .verb = KI_VERB_GET, .resource = KI_CORE_V1_PODS,
                                 .name_space = "default", .name = "o0", .json = true),
                      &answer, &error),
         &error);
    ki_value root = ki_object_root(answer.object);
    assert_true(ki_object_is_complete(answer.object));
    assert_int_equal(ki_value_member(&root, ki_str_from("unknownField"), &value), 0);
    assert_true(ki_value_equals(&value, ki_str_from("of a newer API")));
    ki_response_done(&answer);
    end(&w);
}

static void expect_whole(ki_informer *informer, const char *key)
{
    ki_snapshot *snapshot = ki_store_snapshot(ki_informer_store(informer));
    const ki_object *object = ki_snapshot_get(snapshot, key);
    ki_value value;
    assert_non_null(object);
    assert_true(ki_object_is_complete(object));
    ki_value root = ki_object_root(object);
    assert_int_equal(ki_value_member(&root, ki_str_from("unknownField"), &value), 0);
    assert_true(ki_value_equals(&value, ki_str_from("of a newer API")));
    ki_snapshot_unref(snapshot);
}

/* json_if_incomplete: nothing incomplete is kept, whether it comes in a list or, late, in a watch,
 * and the change to JSON costs one more request. */
static void follow_whole(bool no_streaming, bool late)
{
    ki_apiserver_options options = KI_OPTIONS_INIT(ki_apiserver_options);
    ki_client_options with = KI_OPTIONS_INIT(ki_client_options);
    ki_error error = KI_ERROR_INIT;
    int pods[PODS] = {1, 2, 3};
    const char *refusal = no_streaming ? "status=422,verb=watch,resource=pods,times=1" : "";
    const char *newer = "unknown-field,resource=pods";
    char faults[256];
    world w = {.whole = true};
    (void)snprintf(faults, sizeof(faults), "%s%s%s", late ? "" : newer,
                   no_streaming && !late ? ";" : "", refusal);
    options.faults = faults;
    begin_with(&w, &options, &with);
    write_one(&w, "Pod", "v1", 0, 1);
    write_one(&w, "Pod", "v1", 1, 2);
    start(&w);
    if (late) {
        must(ki_apiserver_set_faults(w.server, newer, &error), &error);
        ki_apiserver_break_connections(w.server); /* it counts for new requests only */
    }
    write_one(&w, "Pod", "v1", 2, 3);
    wait_for(w.pods, pods);
    ki_health health = health_of(w.pods);
    assert_int_equal(health.incomplete, 0);
    assert_int_equal(health.relists, 0);
    assert_true(health.failures == 0 || late); /* the cut */
    assert_int_equal(health.streams, no_streaming || late ? 1 : 2);
    assert_int_equal(health.lists, !no_streaming ? 0 : late ? 1 : 2);
    if (!late) {
        expect_whole(w.pods, "default/o0");
    }
    expect_whole(w.pods, "default/o2");
    end(&w);
}

static void fields_of_a_newer_server_are_read_as_json(void **state)
{
    (void)state;
    follow_whole(false, false);
    follow_whole(true, false);
    follow_whole(false, true);
    follow_whole(true, true);
}

static void fields_of_a_newer_server_are_counted(void **state)
{
    (void)state;
    follow_a_newer_server(false);
    follow_a_newer_server(true);
}

/* A callback that returns when the test allows it. */
static void wait_for_gate(const ki_object *object, bool is_initial, void *user)
{
    atomic_bool *open = user;
    (void)object;
    (void)is_initial;
    while (!atomic_load(open)) {
        usleep(1000);
    }
}

static void threads_of_handlers_are_limited_by_the_client(void **state)
{
    (void)state;
    world w = {0};
    ki_error error = KI_ERROR_INIT;
    atomic_bool open = false;
    ki_client_options with = KI_OPTIONS_INIT(ki_client_options);
    with.handler_threads = 1;
    begin_with(&w, NULL, &with);
    write_one(&w, "Pod", "v1", 1, 1);
    ki_handler handler = {.on_add = wait_for_gate, .user = &open};
    for (int i = 0; i < 2; i++) {
        must(ki_informer_add_handler(w.pods, &handler, NULL, NULL, &error), &error);
    }
    must(ki_factory_start(w.factory, &error), &error);
    ki_health health = KI_OPTIONS_INIT(ki_health);
    while (health.handler_threads_full == 0) { /* one callback waits for the other's thread */
        usleep(1000);
        must(ki_informer_get_health(w.pods, &health, NULL), &error);
    }
    atomic_store(&open, true);
    must(ki_factory_wait_for_sync(w.factory, WAIT_MS, &error), &error);
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_of_handlers_are_limited_by_the_client),
        cmocka_unit_test(caches_follow_the_server),
        cmocka_unit_test(a_client_keeps_to_its_options),
        cmocka_unit_test(reads_are_of_the_present_and_without_faults),
        cmocka_unit_test(fields_of_a_newer_server_are_counted),
        cmocka_unit_test(fields_of_a_newer_server_are_read_as_json),
        cmocka_unit_test(caches_follow_it_over_tls_with_a_token),
        cmocka_unit_test(caches_survive_what_goes_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
