/* SPDX-License-Identifier: Apache-2.0 */
/* Informers with keep and drop, over a source that gives whole objects: what is stored, what is
 * delivered, and what is not. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <kinformer/factory.h>
#include <kinformer/health.h>
#include <kinformer/index.h>
#include <kinformer/informer.h>
#include <kinformer/parts/local_source.h>
#include <kinformer/parts/shared_informer.h>
#include <kinformer/projection.h>

#include "support/objects.h"
#include "support/test.h"
#include "support/world.h"

typedef struct fixture {
    test_alloc alloc;
    test_world world;
    ki_engine *engine;
    ki_local_source *source;
    ki_informer *informer;
    char changes[512];
} fixture;

static ki_object *pod(fixture *f, unsigned version, const char *node, const char *image)
{
    char json[512];
    (void)snprintf(json, sizeof(json),
                   "{'data':'%s','metadata':{'name':'web','namespace':'shop','uid':'u',"
                   "'resourceVersion':'%u','labels':{'group':'g'}},"
                   "'spec':{'nodeName':'%s','image':'%s'}}",
                   strcmp(image, "data") == 0 ? "x" : "y", version, node, image);
    return test_object(&f->alloc.table, json);
}

static void put(fixture *f, unsigned version, const char *node, const char *image)
{
    ki_object *object = pod(f, version, node, image);
    assert_int_equal(ki_local_source_put(f->source, object, NULL), 0);
    (void)ki_object_unref(object);
    test_world_settle(f->engine);
}

static void log_change(const ki_change *change, void *user)
{
    fixture *f = user;
    char node[16];
    size_t len = strlen(f->changes);
    assert_true(ki_object_is_partial(change->object));
    (void)snprintf(f->changes + len, sizeof(f->changes) - len, "%s %s %s, ", ki_change_name(change),
                   ki_object_resource_version(change->object),
                   ki_object_string_or(change->object, "spec.nodeName", "-", node, sizeof(node)));
}

static int by_node(const ki_object *object, ki_index_values *values, void *user)
{
    char node[16];
    (void)user;
    assert_true(ki_object_is_partial(object));
    return ki_index_values_add(
        values, ki_str_from(ki_object_string_or(object, "spec.nodeName", "", node, sizeof(node))));
}

static int see_partial(const ki_object *object, ki_object **ret_object, void *user)
{
    (void)user;
    assert_true(ki_object_is_partial(object));
    *ret_object = ki_object_ref(object);
    return 0;
}

static void begin(fixture *f, ki_informer_options *options)
{
    *f = (fixture){0};
    test_alloc_init(&f->alloc);
    test_world_init(&f->world);
    ki_engine_options engine = test_world_engine_options(&f->world, &f->alloc.table);
    assert_int_equal(ki_engine_new(&engine, &f->engine, NULL), 0);
    assert_int_equal(ki_local_source_new(KI_OPTIONS(ki_local_source_options, .engine = f->engine),
                                         &f->source, NULL),
                     0);
    ki_source table = {0};
    assert_int_equal(ki_local_source_table(f->source, &table), 0);
    const ki_index index = {.size = sizeof(index), .name = "node", .values = by_node};
    const ki_index *const indexes[] = {&index};
    options->engine = f->engine;
    options->source = &table;
    options->indexes = indexes;
    options->index_count = 1;
    assert_int_equal(ki_informer_new(options, &f->informer, NULL), 0);
    assert_int_equal(ki_informer_on_change(f->informer, log_change, f, NULL, NULL), 0);
    put(f, 1, "n1", "i1");
    assert_int_equal(ki_informer_start(f->informer, NULL), 0);
    test_world_settle(f->engine);
    assert_true(ki_informer_has_synced(f->informer));
}

static void end(fixture *f)
{
    ki_informer_stop(f->informer);
    test_world_settle(f->engine);
    f->informer = ki_informer_unref(f->informer);
    f->source = ki_local_source_unref(f->source);
    test_world_settle(f->engine);
    (void)ki_engine_unref(f->engine);
    test_alloc_done(&f->alloc);
}

static void stored_is(fixture *f, const char *version, const char *node)
{
    ki_object *object = ki_informer_get(f->informer, "shop", "web");
    ki_value value = ki_object_at(object, "spec.image");
    ki_str text;
    assert_true(ki_object_is_partial(object));
    assert_string_equal(ki_object_resource_version(object), version);
    assert_true(ki_object_equals(object, "spec.nodeName", node));
    assert_int_equal(ki_value_string(&value, &text), KI_ERR_NOT_KEPT);
    (void)ki_object_unref(object);
    ki_snapshot *snapshot = ki_store_snapshot(ki_informer_store(f->informer));
    const char *stored = ki_snapshot_resource_version(snapshot);
    assert_string_equal(stored[0] != '\0' ? stored : "1", version); /* its list has none */
    (void)ki_snapshot_unref(snapshot);
}

static void selectors_read_kept_labels(void **state)
{
    (void)state;
    fixture f;
    ki_informer_options options = KI_OPTIONS_INIT(ki_informer_options);
    options.keep = ".spec.nodeName, .metadata.labels['group']";
    begin(&f, &options);
    ki_list *list = NULL;
    ki_error error = KI_ERROR_INIT;
    assert_int_equal(ki_informer_list(f.informer, NULL, "group=g", &list, &error), 0);
    assert_int_equal(ki_list_count(list), 1);
    list = ki_list_unref(list);
    assert_int_equal(ki_informer_list(f.informer, "shop", "other!=x", &list, &error),
                     KI_ERR_NOT_KEPT);
    assert_null(list);
    end(&f);
}

static uint64_t suppressed(fixture *f)
{
    ki_health health = KI_OPTIONS_INIT(ki_health);
    assert_int_equal(ki_informer_get_health(f->informer, &health, NULL), 0);
    return health.suppressed;
}

static void changes_of_kept_fields_are_delivered(void **state)
{
    (void)state;
    for (int kind = 0; kind < KI_QUEUE_KIND_MAX; kind++) {
        fixture f;
        ki_informer_options options = KI_OPTIONS_INIT(ki_informer_options);
        options.keep = ".spec.nodeName, .data";
        options.queue = (ki_queue_kind)kind;
        options.transform = see_partial;
        begin(&f, &options);
        stored_is(&f, "1", "n1");
        put(&f, 2, "n1", "i2");
        stored_is(&f, "2", "n1");
        assert_int_equal(suppressed(&f), 1);
        put(&f, 3, "n2", "i2");
        put(&f, 9, "n2", "i3");
        put(&f, 10, "n2", "i4"); /* a version of another length */
        stored_is(&f, "10", "n2");
        assert_int_equal(suppressed(&f), 3);
        put(&f, 11, "n2", "data"); /* a kept field before metadata */
        assert_string_equal(f.changes, "added 1 n1, updated 3 n2, updated 11 n2, ");
        assert_int_equal(suppressed(&f), 3);
        end(&f);
    }
}

static void an_option_delivers_all(void **state)
{
    (void)state;
    fixture f;
    ki_informer_options options = KI_OPTIONS_INIT(ki_informer_options);
    options.drop = ".spec.image";
    options.deliver_unkept = true;
    begin(&f, &options);
    put(&f, 2, "n1", "i2");
    assert_string_equal(f.changes, "added 1 n1, updated 2 n1, ");
    assert_int_equal(suppressed(&f), 0);
    end(&f);
}

/* ---- factories ---- */

static int make_source(const ki_resource *resource, const char *name_space, void *user,
                       ki_source *ret_source, ki_error *error)
{
    (void)resource;
    (void)name_space;
    (void)error;
    fixture *f = user;
    return ki_local_source_table(f->source, ret_source);
}

static int spec_code(ki_informer *informer, const char *path)
{
    ki_object *object = ki_informer_get(informer, "shop", "web");
    ki_value value = ki_object_at(object, path);
    ki_str text;
    int r = ki_value_string(&value, &text);
    (void)ki_object_unref(object);
    return r;
}

static void factories_have_defaults(void **state)
{
    (void)state;
    fixture f = {0};
    char keep[] = ".spec.nodeName";
    test_alloc_init(&f.alloc);
    test_world_init(&f.world);
    ki_engine_options engine = test_world_engine_options(&f.world, &f.alloc.table);
    assert_int_equal(ki_engine_new(&engine, &f.engine, NULL), 0);
    assert_int_equal(ki_local_source_new(KI_OPTIONS(ki_local_source_options, .engine = f.engine),
                                         &f.source, NULL),
                     0);
    put(&f, 1, "n1", "i1");
    ki_factory *factory = NULL;
    ki_factory_options options = KI_OPTIONS_INIT(ki_factory_options);
    ki_error error = KI_ERROR_INIT;
    options.engine = f.engine;
    options.make_source = make_source;
    options.user = &f;
    options.keep = ".a[0]";
    assert_int_equal(ki_factory_new(&options, &factory, &error), KI_ERR_SYNTAX);
    options.keep = keep;
    assert_int_equal(ki_factory_new(&options, &factory, &error), 0);
    memset(keep, 'x', sizeof(keep) - 1); /* it was copied */
    ki_informer *shared = NULL;
    ki_informer *own = NULL;
    ki_informer *other = NULL;
    ki_informer_options informer = KI_OPTIONS_INIT(ki_informer_options);
    assert_int_equal(ki_factory_informer(factory, KI_CORE_V1_PODS, NULL, &shared, &error), 0);
    assert_int_equal(ki_factory_informer(factory, KI_CORE_V1_PODS, &informer, &other, &error), 0);
    informer.keep = ".a..b";
    assert_int_equal(ki_factory_informer(factory, KI_CORE_V1_PODS, &informer, &own, &error),
                     KI_ERR_SYNTAX);
    informer.keep = NULL;
    informer.drop = ".spec.nodeName";
    assert_int_equal(ki_factory_informer(factory, KI_CORE_V1_PODS, &informer, &own, &error), 0);
    assert_int_equal(ki_factory_start(factory, &error), 0);
    test_world_settle(f.engine);
    assert_int_equal(spec_code(shared, "spec.nodeName"), 0);
    assert_int_equal(spec_code(shared, "spec.image"), KI_ERR_NOT_KEPT);
    assert_int_equal(spec_code(other, "spec.image"), KI_ERR_NOT_KEPT);
    assert_int_equal(spec_code(own, "spec.image"), 0);
    assert_int_equal(spec_code(own, "spec.nodeName"), KI_ERR_NOT_KEPT);
    ki_factory_stop(factory);
    test_world_settle(f.engine);
    (void)ki_factory_unref(factory);
    f.source = ki_local_source_unref(f.source);
    test_world_settle(f.engine);
    (void)ki_engine_unref(f.engine);
    test_alloc_done(&f.alloc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_of_kept_fields_are_delivered),
        cmocka_unit_test(selectors_read_kept_labels),
        cmocka_unit_test(an_option_delivers_all),
        cmocka_unit_test(factories_have_defaults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
