/* SPDX-License-Identifier: Apache-2.0 */
/* KI_AUTO: handles are released at the end of the block. What takes an allocator is created with
 * one that knows what is left; the rest is for the sanitizer. test_references.c has all types. */
#include <string.h>

#include <kinformer/apiserver.h>
#include <kinformer/clock.h>
#include <kinformer/config.h>
#include <kinformer/consistency.h>
#include <kinformer/diff.h>
#include <kinformer/field_selector.h>
#include <kinformer/kinformer.h>
#include <kinformer/leader.h>
#include <kinformer/monitor_server.h>
#include <kinformer/parts/engine.h>
#include <kinformer/parts/local_source.h>
#include <kinformer/parts/queue.h>
#include <kinformer/parts/shared_informer.h>
#include <kinformer/parts/simple_informer.h>
#include <kinformer/parts/store_write.h>
#include <kinformer/path.h>
#include <kinformer/projection.h>
#include <kinformer/recorder.h>

#include "support/objects.h"
#include "support/test.h"
#include "support/world.h"

static int read_store(const ki_alloc *alloc)
{
    KI_AUTO(ki_store) store = NULL;
    KI_AUTO(ki_list) list = NULL;
    KI_AUTO(ki_object) pod = test_pod(alloc, "shop", "web", 1, "g");
    int r = ki_store_new(KI_OPTIONS(ki_store_options, .alloc = alloc), &store, NULL);
    if (r < 0) {
        return r;
    }
    assert_int_equal(ki_store_add(store, pod, NULL), 0);
    KI_AUTO(ki_snapshot) snapshot = ki_store_snapshot(store);
    assert_int_equal(ki_snapshot_count(snapshot), 1);
    r = ki_store_list(store, &list);
    return r < 0 ? r : (int)ki_list_count(list);
}

static void what_is_read_is_released(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    assert_int_equal(read_store(&alloc.table), 1);
    test_alloc_done(&alloc);
}

static void what_is_parsed_is_released(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    {
        KI_AUTO(ki_selector) labels = NULL;
        KI_AUTO(ki_field_selector) fields = NULL;
        KI_AUTO(ki_path) path = NULL;
        KI_AUTO(ki_path_iter) iter = NULL;
        KI_AUTO(ki_resource) widgets = NULL;
        KI_AUTO(ki_config) config = NULL;
        assert_int_equal(ki_selector_parse("a=b", &alloc.table, &labels, NULL), 0);
        assert_int_equal(ki_field_selector_parse("a=b", &alloc.table, &fields, NULL), 0);
        assert_int_equal(ki_path_compile("spec.a", &alloc.table, &path, NULL), 0);
        ki_value none = {0};
        assert_int_equal(ki_path_iter_begin(path, &none, &iter), 0);
        ki_resource_options resource = KI_OPTIONS_INIT(ki_resource_options);
        resource.version = "v1";
        resource.resource = "widgets";
        resource.kind = "Widget";
        resource.alloc = &alloc.table;
        assert_int_equal(ki_resource_new(&resource, &widgets, NULL), 0);
        ki_config_options options = KI_OPTIONS_INIT(ki_config_options);
        options.text = ki_str_from("{clusters: [{name: c, cluster: {server: 'http://a'}}],"
                                   " contexts: [{name: x, context: {cluster: c, user: u}}],"
                                   " users: [{name: u, user: {}}], current-context: x}");
        options.alloc = &alloc.table;
        assert_int_equal(ki_config_load(&options, &config, NULL), 0);
        assert_true(alloc.live_blocks >= 5);
    }
    test_alloc_done(&alloc);
}

static void what_is_written_is_released(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    {
        KI_AUTO(ki_object) before = test_pod(&alloc.table, "shop", "web", 1, "g");
        KI_AUTO(ki_object) after = test_pod(&alloc.table, "shop", "web", 2, "h");
        KI_AUTO(ki_json) json = NULL;
        KI_AUTO(ki_edit) edit = NULL;
        KI_AUTO(ki_diff) diff = NULL;
        assert_int_equal(
            ki_json_new(KI_OPTIONS(ki_json_options, .alloc = &alloc.table), &json, NULL), 0);
        assert_int_equal(
            ki_edit_new(before, KI_OPTIONS(ki_edit_options, .alloc = &alloc.table), &edit, NULL),
            0);
        assert_int_equal(ki_object_diff(before, after,
                                        KI_OPTIONS(ki_diff_options, .alloc = &alloc.table), &diff,
                                        NULL),
                         0);
        assert_true(alloc.live_blocks >= 5);
    }
    test_alloc_done(&alloc);
}

static void what_runs_on_an_engine_is_released(void **state)
{
    (void)state;
    test_alloc alloc;
    test_world world;
    test_alloc_init(&alloc);
    test_world_init(&world);
    {
        KI_AUTO(ki_engine) engine = NULL;
        KI_AUTO(ki_local_source) source = NULL;
        KI_AUTO(ki_informer) informer = NULL;
        KI_AUTO(ki_queue) queue = NULL;
        KI_AUTO(ki_simple_informer) simple = NULL;
        ki_engine_options options = test_world_engine_options(&world, &alloc.table);
        assert_int_equal(ki_engine_new(&options, &engine, NULL), 0);
        assert_int_equal(ki_local_source_new(KI_OPTIONS(ki_local_source_options, .engine = engine),
                                             &source, NULL),
                         0);
        ki_source table = {0};
        assert_int_equal(ki_local_source_table(source, &table), 0);
        assert_int_equal(
            ki_informer_new(KI_OPTIONS(ki_informer_options, .engine = engine, .source = &table),
                            &informer, NULL),
            0);
        assert_int_equal(
            ki_fifo_new(KI_OPTIONS(ki_queue_options, .alloc = &alloc.table), &queue, NULL), 0);
        assert_int_equal(
            ki_simple_informer_new(KI_OPTIONS(ki_simple_informer_options, .alloc = &alloc.table),
                                   &simple, NULL),
            0);
    }
    test_alloc_done(&alloc);
}

static int do_nothing(const char *key, uint64_t *retry_after_ms, ki_error *error, void *user)
{
    (void)key;
    (void)retry_after_ms;
    (void)error;
    (void)user;
    return 0;
}

static void what_works_is_released(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    {
        KI_AUTO(ki_workqueue) queue = NULL;
        KI_AUTO(ki_controller) controller = NULL;
        assert_int_equal(ki_workqueue_new(KI_OPTIONS(ki_workqueue_options, .alloc = &alloc.table,
                                                     .clock = ki_clock_system()),
                                          &queue, NULL),
                         0);
        assert_int_equal(ki_controller_new(KI_OPTIONS(ki_controller_options, .alloc = &alloc.table,
                                                      .queue = queue, .reconcile = do_nothing),
                                           &controller, NULL),
                         0);
    }
    test_alloc_done(&alloc);
}

/* The client is closed: its thread has ended, else something would still be allocated. */
static void a_client_is_closed(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    {
        KI_AUTO(ki_apiserver) server = NULL;
        assert_int_equal(ki_apiserver_new(NULL, &server, NULL), 0);
        KI_AUTO(ki_client) client = NULL;
        KI_AUTO(ki_factory) factory = NULL;
        ki_client_options options = KI_OPTIONS_INIT(ki_client_options);
        options.alloc = &alloc.table;
        assert_int_equal(ki_apiserver_client(server, &options, &client, NULL), 0);
        assert_int_equal(ki_client_factory(client, NULL, &factory, NULL), 0);
    }
    test_alloc_done(&alloc);
}

/* In the order of a program: they are released before the client. */
static void what_uses_a_client_is_closed_before_it(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    {
        KI_AUTO(ki_apiserver) server = NULL;
        assert_int_equal(ki_apiserver_new(NULL, &server, NULL), 0);
        KI_AUTO(ki_client) client = NULL;
        KI_AUTO(ki_leader) leader = NULL;
        KI_AUTO(ki_recorder) recorder = NULL;
        KI_AUTO(ki_consistency) consistency = NULL;
        KI_AUTO(ki_monitor_server) monitor = NULL;
        KI_AUTO(ki_projection) projection = NULL;
        ki_client_options options = KI_OPTIONS_INIT(ki_client_options);
        options.alloc = &alloc.table;
        assert_int_equal(ki_apiserver_client(server, &options, &client, NULL), 0);
        assert_int_equal(
            ki_leader_new(client,
                          KI_OPTIONS(ki_leader_options, .name = "a", .name_space = "default"),
                          &leader, NULL),
            0);
        assert_int_equal(ki_leader_start(leader, NULL), 0);
        assert_int_equal(ki_recorder_new(client, KI_OPTIONS(ki_recorder_options, .controller = "a"),
                                         &recorder, NULL),
                         0);
        assert_int_equal(
            ki_consistency_new(KI_OPTIONS(ki_consistency_options, .alloc = &alloc.table),
                               &consistency, NULL),
            0);
        assert_int_equal(ki_monitor_server_new(client, NULL, &monitor, NULL), 0);
        assert_int_equal(ki_projection_new("spec", NULL, &alloc.table, &projection, NULL), 0);
    }
    test_alloc_done(&alloc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_read_is_released),
        cmocka_unit_test(what_is_parsed_is_released),
        cmocka_unit_test(what_is_written_is_released),
        cmocka_unit_test(what_runs_on_an_engine_is_released),
        cmocka_unit_test(what_works_is_released),
        cmocka_unit_test(a_client_is_closed),
        cmocka_unit_test(what_uses_a_client_is_closed_before_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
