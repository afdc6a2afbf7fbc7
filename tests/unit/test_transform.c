/* SPDX-License-Identifier: Apache-2.0 */
/* The transform function on its way through a reflector and an informer: each object passes once,
 * as soon as it is decoded, so that a list never takes the memory of its objects as they came. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <kinformer/informer.h>
#include <kinformer/parts/shared_informer.h>

#include "cache/queue/transform.h"
#include "support/fake_transport.h"
#include "support/objects.h"
#include "support/reflecting.h"

typedef struct transformer {
    unsigned calls;
    int fail;            /* for objects named "bad" */
    bool stop;           /* stops the reflector in there */
    const char *renames; /* all objects become this one */
    bool nothing;        /* gives no object */
    reflecting *r;
} transformer;

static transformer the; /* of the test that runs; targets have a user of their own */

/* Keeps name, namespace and version. */
static int keep_little(const ki_object *object, ki_object **ret_object, void *user)
{
    (void)user;
    the.calls++;
    if (the.stop) {
        ki_reflector_stop(the.r->reflector);
    }
    if (the.nothing) {
        return 0;
    }
    if (strcmp(ki_object_name(object), "bad") == 0 && the.fail != 0) {
        return the.fail;
    }
    char json[256];
    int len = snprintf(json, sizeof(json),
                       "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s\","
                       "\"namespace\":\"default\",\"resourceVersion\":\"%s\"},\"small\":1}",
                       the.renames != NULL ? the.renames : ki_object_name(object),
                       ki_object_resource_version(object));
    assert_true(len > 0 && (size_t)len < sizeof(json));
    return ki_object_from_json(json, (size_t)len, NULL, ret_object, NULL);
}

static void begin(reflecting *r, bool stream)
{
    reflecting_init(r);
    the = (transformer){.r = r};
    r->target.transform = keep_little;
    r->options.no_streaming = !stream;
}

static void end_list(reflecting *r, bool stream, const char *version)
{
    if (stream) {
        fake_bookmark(&r->source, version, true);
    } else {
        fake_end_list(&r->source, version, "");
    }
    reflecting_settle(r);
}

static bool is_small(const ki_object *object)
{
    ki_value root = ki_object_root(object);
    ki_value value;
    return ki_value_member(&root, ki_str_from("small"), &value) >= 0;
}

/* ---- the function ---- */

static void what_it_gives_is_checked(void **state)
{
    (void)state;
    ki_object *pod = fake_pod("a", 1);
    ki_object *made = NULL;
    ki_error error = KI_ERROR_INIT;
    the = (transformer){0};
    assert_int_equal(ki__transform(keep_little, NULL, pod, &made, &error), 0);
    assert_true(is_small(made));
    made = ki_object_unref(made);
    the.renames = "b";
    assert_int_equal(ki__transform(keep_little, NULL, pod, &made, &error), KI_ERR_KEY);
    assert_string_equal(error.message,
                        "transform changed the key of object default/a to default/b");
    the.nothing = true;
    assert_int_equal(ki__transform(keep_little, NULL, pod, &made, &error), KI_ERR_INVALID);
    assert_string_equal(error.message, "transform returned no object for default/a");
    assert_null(made);
    (void)ki_object_unref(pod);
}

/* ---- lists ---- */

static void each_object_of_a_list_passes_once(void **state)
{
    (void)state;
    for (int stream = 0; stream < 2; stream++) {
        reflecting r;
        begin(&r, stream);
        reflecting_start(&r);
        fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("a", 1));
        fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("b", 2));
        reflecting_settle(&r);
        assert_int_equal(the.calls, 2); /* before the list is complete */
        end_list(&r, stream, "7");
        reflecting_expect(&r, "=(a@1,b@2)@7");
        assert_int_equal(the.calls, 2);
        reflecting_done(&r);
    }
}

static void untransformable_objects_are_left_out_and_reported(void **state)
{
    (void)state;
    static const int codes[] = {KI_ERR_TYPE, KI_ERR_KEY, KI_ERR_INVALID};
    for (int i = 0; i < 6; i++) {
        bool stream = i >= 3;
        reflecting r;
        begin(&r, stream);
        the.fail = codes[i % 3];
        reflecting_start(&r);
        fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("bad", 1));
        fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("b", 2));
        end_list(&r, stream, "7");
        reflecting_expect(&r, "=(b@2?default/bad)@7"); /* it counts as unread */
        assert_int_equal(r.reports, 1);
        assert_int_equal(r.report_code, codes[i % 3]);
        assert_string_equal(r.report_key, "default/bad");
        assert_int_equal(reflecting_health(&r).skipped, 1);
        reflecting_done(&r);
    }
}

static void an_error_that_may_pass_fails_the_list(void **state)
{
    (void)state;
    for (int stream = 0; stream < 2; stream++) {
        reflecting r;
        begin(&r, stream);
        the.fail = -ENOMEM;
        reflecting_start(&r);
        fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("bad", 1));
        reflecting_settle(&r);
        reflecting_expect_state(&r, KI_REFLECTOR_BACKOFF, "");
        the.fail = 0;
        reflecting_advance(&r, 5 * TEST_SECOND);
        fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("bad", 1));
        end_list(&r, stream, "7");
        reflecting_expect(&r, "=(bad@1)@7");
        reflecting_done(&r);
    }
}

static void a_relist_compares_what_was_transformed(void **state)
{
    (void)state;
    reflecting r;
    begin(&r, false);
    ki_object *pod = fake_pod("a", 1);
    assert_int_equal(keep_little(pod, &r.known, NULL), 0); /* what the target has */
    (void)ki_object_unref(pod);
    reflecting_start(&r);
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("a", 1));
    end_list(&r, false, "10");
    r.heard[0] = '\0';
    fake_error_event(&r.source, 410, "Expired", "too old");
    reflecting_settle(&r);
    reflecting_advance(&r, 5 * TEST_SECOND);
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("a", 1));
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("b", 3));
    end_list(&r, false, "20");
    reflecting_expect(&r, "=(a@1!,b@3)@20"); /* the same object */
    reflecting_done(&r);
    (void)ki_object_unref(r.known);
}

static void it_may_stop_the_reflector(void **state)
{
    (void)state;
    static const int codes[] = {0, KI_ERR_TYPE, -ENOMEM};
    for (int i = 0; i < 9; i++) {
        reflecting r;
        begin(&r, i / 3 != 0);
        if (i / 3 == 2) {
            reflecting_sync(&r);
            r.heard[0] = '\0';
        } else {
            reflecting_start(&r);
        }
        the.fail = codes[i % 3];
        the.stop = true;
        fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("bad", 11));
        fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("b", 12));
        reflecting_settle(&r);
        reflecting_expect(&r, "");
        assert_int_equal(r.stopped, 1);
        reflecting_done(&r);
    }
}

/* ---- events ---- */

static void each_event_passes_once(void **state)
{
    (void)state;
    reflecting r;
    begin(&r, true);
    reflecting_sync(&r);
    the.calls = 0;
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("b", 11));
    fake_event(&r.source, KI_WATCH_EVENT_MODIFIED, fake_pod("b", 12));
    fake_event(&r.source, KI_WATCH_EVENT_DELETED, fake_pod("b", 13));
    fake_bookmark(&r.source, "14", false);
    reflecting_expect(&r, "+b@11 ~b@12 -b@13 B14");
    assert_int_equal(the.calls, 3);
    reflecting_done(&r);
}

static void an_event_that_cannot_be_transformed_is_reported(void **state)
{
    (void)state;
    reflecting r;
    begin(&r, true);
    reflecting_sync(&r);
    the.fail = KI_ERR_TYPE;
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("bad", 11));
    fake_event(&r.source, KI_WATCH_EVENT_MODIFIED, fake_pod("bad", 12));
    reflecting_expect(&r, "");
    assert_int_equal(r.reports, 2);
    assert_string_equal(r.report_key, "default/bad");
    assert_int_equal(reflecting_health(&r).target_errors, 2);
    fake_event(&r.source, KI_WATCH_EVENT_DELETED, fake_pod("bad", 13)); /* must not be lost */
    reflecting_expect(&r, "-bad@13");
    assert_int_equal(r.reports, 2);
    reflecting_expect_state(&r, KI_REFLECTOR_WATCHING, "13");
    reflecting_done(&r);
}

static void an_event_for_which_there_is_no_memory_comes_again(void **state)
{
    (void)state;
    reflecting r;
    begin(&r, true);
    reflecting_sync(&r);
    the.fail = -ENOMEM;
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("bad", 11));
    reflecting_settle(&r);
    reflecting_expect_state(&r, KI_REFLECTOR_BACKOFF, "10"); /* before that event */
    reflecting_done(&r);
}

/* ---- a queue that transforms ---- */

static int process(const ki_deltas *deltas, void *user)
{
    for (size_t i = 0; i < deltas->count; i++) {
        const ki_delta *delta = ki_deltas_at(deltas, i);
        if (delta->type == KI_DELTA_REPLACED_ALL) {
            assert_true(is_small(delta->replaced->objects[0]));
        } else {
            assert_true(is_small(delta->object));
        }
        (*(unsigned *)user)++;
    }
    return KI_POP_DONE;
}

static void a_queue_as_target_transforms_once(void **state)
{
    (void)state;
    reflecting r;
    begin(&r, true);
    ki_queue *queue = NULL;
    assert_int_equal(
        ki_fifo_new(KI_OPTIONS(ki_queue_options, .transform = keep_little), &queue, NULL), 0);
    r.target = (ki_reflector_target){0};
    assert_int_equal(ki_reflector_target_queue(queue, &r.target), 0);
    reflecting_start(&r);
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("a", 1));
    reflecting_settle(&r);
    assert_int_equal(the.calls, 1);
    end_list(&r, true, "7");
    fake_event(&r.source, KI_WATCH_EVENT_MODIFIED, fake_pod("a", 8));
    fake_event(&r.source, KI_WATCH_EVENT_DELETED, fake_pod("a", 9));
    reflecting_settle(&r);
    assert_int_equal(the.calls, 3);
    unsigned popped = 0;
    assert_true(ki_queue_poll(queue, 0, process, &popped) > 0);
    while (ki_queue_poll(queue, 0, process, &popped) > 0) {
    }
    assert_int_equal(popped, 3);
    ki_reflector_stop(r.reflector);
    reflecting_settle(&r);
    r.destroyed = 1; /* by the target's own function */
    reflecting_done(&r);
    (void)ki_queue_unref(queue);
}

/* ---- memory ---- */

enum { PODS = 300, PAD = 4096 };

/* A list or a stream of pods of over 4 KiB each. */
static void add_pod(ki_buf *out, int i, bool stream)
{
    static char pad[PAD + 1];
    memset(pad, 'x', PAD);
    char head[256];
    (void)snprintf(head, sizeof(head),
                   "%s{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p%d\","
                   "\"namespace\":\"default\",\"resourceVersion\":\"%d\"},\"pad\":\"",
                   stream   ? "{\"type\":\"ADDED\",\"object\":"
                   : i != 0 ? ","
                            : "",
                   i, i + 1);
    assert_int_equal(ki_buf_add_text(out, head), 0);
    assert_int_equal(ki_buf_add_text(out, pad), 0);
    assert_int_equal(ki_buf_add_text(out, stream ? "\"}}\n" : "\"}"), 0);
}

static void respond(fake_transport *transport, const fake_asked *request, void *user)
{
    const bool *stream = user;
    bool initial = strstr(request->query, "sendInitialEvents") != NULL;
    if (!initial && strstr(request->query, "watch=true") != NULL) {
        fake_head(transport, 200, "application/json", "");
        return;
    }
    assert_int_equal(initial, *stream);
    ki_buf body;
    ki_buf_init(&body, NULL, 1 << 24);
    int r = initial ? 0
                    : ki_buf_add_text(&body, "{\"kind\":\"PodList\",\"apiVersion\":\"v1\","
                                             "\"metadata\":{\"resourceVersion\":\"999\"},"
                                             "\"items\":[");
    assert_int_equal(r, 0);
    for (int i = 0; i < PODS; i++) {
        add_pod(&body, i, initial);
    }
    r = ki_buf_add_text(
        &body, initial
                   ? "{\"type\":\"BOOKMARK\",\"object\":{\"apiVersion\":\"v1\",\"kind\":\"Pod\","
                     "\"metadata\":{\"resourceVersion\":\"999\",\"annotations\":{"
                     "\"k8s.io/initial-events-end\":\"true\"}}}}\n"
                   : "]}");
    assert_int_equal(r, 0);
    fake_head(transport, 200, "application/json", "");
    fake_body(transport, ki_buf_str(&body));
    if (!initial) {
        fake_over(transport, 0);
    }
    ki_buf_done(&body);
}

typedef struct chain {
    test_alloc alloc;
    test_world world;
    ki_engine *engine;
    fake_transport transport;
    ki_informer *informer;
    bool stream;
} chain;

/* An informer on the HTTP source, which has its memory from an allocator that counts. */
static void sync_informer(chain *c, bool stream, ki_transform transform)
{
    test_alloc_init(&c->alloc);
    test_world_init(&c->world);
    ki_engine_options options = test_world_engine_options(&c->world, &c->alloc.table);
    assert_int_equal(ki_engine_new(&options, &c->engine, NULL), 0);
    fake_transport_init(&c->transport, c->engine, &c->world);
    c->stream = stream;
    c->transport.piece = 16 << 10;
    c->transport.respond = respond;
    c->transport.respond_user = &c->stream;
    ki_source source = {0};
    assert_int_equal(ki_source_http_new(KI_OPTIONS(ki_source_http_options, .engine = c->engine,
                                                   .transport = &c->transport.table,
                                                   .resource = KI_CORE_V1_PODS),
                                        &source, NULL),
                     0);
    ki_informer_options io = KI_OPTIONS_INIT(ki_informer_options);
    io.engine = c->engine;
    io.source = &source;
    io.resource = KI_CORE_V1_PODS;
    io.no_streaming = !stream;
    io.transform = transform;
    assert_int_equal(ki_informer_new(&io, &c->informer, NULL), 0);
    assert_int_equal(ki_informer_start(c->informer, NULL), 0);
    test_world_settle(c->engine);
    assert_true(ki_informer_has_synced(c->informer));
    ki_snapshot *snapshot = ki_store_snapshot(ki_informer_store(c->informer));
    assert_int_equal(ki_snapshot_count(snapshot), PODS);
    (void)ki_snapshot_unref(snapshot);
}

static void stop_informer(chain *c)
{
    ki_informer_stop(c->informer);
    test_world_settle(c->engine);
    (void)ki_informer_unref(c->informer);
    fake_transport_done(&c->transport);
    (void)ki_engine_unref(c->engine);
    test_alloc_done(&c->alloc);
}

static void a_list_never_takes_the_memory_of_its_objects_as_they_came(void **state)
{
    (void)state;
    for (int stream = 0; stream < 2; stream++) {
        chain *c = test_calloc(1, sizeof(*c));
        the = (transformer){0};
        sync_informer(c, stream, keep_little);
        assert_int_equal(the.calls, PODS);
        assert_true(c->alloc.peak_bytes < PODS * PAD / 4); /* the decoder and all else included */
        stop_informer(c);
        test_free(c);
    }
}

/* Once, some time after the list; and only if much was freed between blocks that stay. */
static void memory_is_released_after_a_transformed_list(void **state)
{
    (void)state;
    for (int stream = 0; stream < 2; stream++) {
        for (int transformed = 0; transformed < 2; transformed++) {
            chain *c = test_calloc(1, sizeof(*c));
            the = (transformer){0};
            sync_informer(c, stream, transformed != 0 ? keep_little : NULL);
            assert_int_equal(c->alloc.trims, 0);
            test_world_advance(&c->world, c->engine, TEST_SECOND);
            assert_int_equal(c->alloc.trims, transformed);
            test_world_advance(&c->world, c->engine, 60 * TEST_SECOND);
            assert_int_equal(c->alloc.trims, transformed);
            stop_informer(c);
            test_free(c);
        }
    }
}

static void an_allocator_needs_no_trim(void **state)
{
    (void)state;
    chain *c = test_calloc(1, sizeof(*c));
    the = (transformer){0};
    sync_informer(c, true, keep_little);
    c->alloc.table.trim = NULL;
    test_world_advance(&c->world, c->engine, 2 * TEST_SECOND);
    stop_informer(c);
    test_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_it_gives_is_checked),
        cmocka_unit_test(each_object_of_a_list_passes_once),
        cmocka_unit_test(untransformable_objects_are_left_out_and_reported),
        cmocka_unit_test(an_error_that_may_pass_fails_the_list),
        cmocka_unit_test(a_relist_compares_what_was_transformed),
        cmocka_unit_test(it_may_stop_the_reflector),
        cmocka_unit_test(each_event_passes_once),
        cmocka_unit_test(an_event_that_cannot_be_transformed_is_reported),
        cmocka_unit_test(an_event_for_which_there_is_no_memory_comes_again),
        cmocka_unit_test(a_queue_as_target_transforms_once),
        cmocka_unit_test(a_list_never_takes_the_memory_of_its_objects_as_they_came),
        cmocka_unit_test(memory_is_released_after_a_transformed_list),
        cmocka_unit_test(an_allocator_needs_no_trim),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
