/* SPDX-License-Identifier: Apache-2.0 */
/* Changes of an informer as keys in a work queue: of the object, of its owner, of a function; and
 * keys for which there was no memory.  threads: yes */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <kinformer/controller.h>
#include <kinformer/parts/local_source.h>
#include <kinformer/parts/shared_informer.h>
#include <kinformer/worker.h>

#include "support/objects.h"
#include "support/test.h"
#include "support/world.h"

typedef struct fixture {
    test_alloc alloc;
    test_alloc queue_alloc;
    test_world world;
    ki_engine *engine;
    ki_local_source *source;
    ki_informer *informer;
    ki_workqueue *queue;
    int reports;
    char reported[128];
} fixture;

static void on_report(const ki_report *report, void *user)
{
    fixture *f = user;
    f->reports++;
    (void)snprintf(f->reported, sizeof(f->reported), "%s %.*s %s", report->component,
                   KI_STR_ARG(report->key), ki_error_name(report->error->code));
}

static void begin_with(fixture *f, ki_workqueue_options queue)
{
    *f = (fixture){0};
    test_alloc_init(&f->alloc);
    test_alloc_init(&f->queue_alloc);
    test_world_init(&f->world);
    ki_engine_options options = test_world_engine_options(&f->world, &f->alloc.table);
    options.on_report = on_report;
    options.report_user = f;
    options.reports_per_second = 1000;
    assert_int_equal(ki_engine_new(&options, &f->engine, NULL), 0);
    assert_int_equal(ki_local_source_new(KI_OPTIONS(ki_local_source_options, .engine = f->engine),
                                         &f->source, NULL),
                     0);
    ki_source table = {0};
    assert_int_equal(ki_local_source_table(f->source, &table), 0);
    assert_int_equal(ki_informer_new(KI_OPTIONS(ki_informer_options, .engine = f->engine,
                                                .source = &table, .resync_ms = 60000),
                                     &f->informer, NULL),
                     0);
    queue.alloc = &f->queue_alloc.table;
    queue.clock = &f->world.clock;
    assert_int_equal(ki_workqueue_new(&queue, &f->queue, NULL), 0);
}

static void begin(fixture *f)
{
    begin_with(f, KI_OPTIONS_INIT(ki_workqueue_options));
}

static void enqueue(fixture *f, const ki_enqueue_options *options)
{
    assert_int_equal(ki_informer_enqueue(f->informer, f->queue, options, NULL), 0);
    assert_int_equal(ki_informer_start(f->informer, NULL), 0);
    test_world_settle(f->engine);
}

static void end(fixture *f)
{
    ki_informer_stop(f->informer);
    test_world_settle(f->engine);
    f->informer = ki_informer_unref(f->informer);
    f->source = ki_local_source_unref(f->source);
    test_world_settle(f->engine);
    (void)ki_engine_unref(f->engine);
    f->queue = ki_workqueue_unref(f->queue);
    test_alloc_done(&f->alloc);
    test_alloc_done(&f->queue_alloc);
}

/* A pod of namespace "shop", with an owner "kind:name" of the apps group unless it is NULL. */
static ki_object *pod_of(fixture *f, const char *name, unsigned version, const char *owner)
{
    char text[512];
    char owners[256] = "";
    if (owner != NULL) {
        size_t kind = strcspn(owner, ":");
        (void)snprintf(owners, sizeof(owners),
                       ",'ownerReferences':[{'apiVersion':'v1','kind':'Node','name':'n','uid':'1'},"
                       "{'apiVersion':'apps/v1','kind':'%.*s','name':'%s','uid':'2',"
                       "'controller':true}]",
                       (int)kind, owner, owner + kind + 1);
    }
    (void)snprintf(text, sizeof(text),
                   "{'metadata':{'namespace':'shop','name':'%s','resourceVersion':'%u'%s}}", name,
                   version, owners);
    return test_object(&f->alloc.table, text);
}

static void put(fixture *f, const char *name, unsigned version, const char *owner)
{
    ki_object *pod = pod_of(f, name, version, owner);
    assert_int_equal(ki_local_source_put(f->source, pod, NULL), 0);
    (void)ki_object_unref(pod);
    test_world_settle(f->engine);
}

static void take_out(fixture *f, const char *name, unsigned version, const char *owner)
{
    ki_object *pod = pod_of(f, name, version, owner);
    assert_int_equal(ki_local_source_remove(f->source, pod, NULL), 0);
    (void)ki_object_unref(pod);
    test_world_settle(f->engine);
}

/* A pod with more metadata: "'generation':2". */
static void put_with(fixture *f, const char *name, unsigned version, const char *more)
{
    char text[512];
    (void)snprintf(text, sizeof(text),
                   "{'metadata':{'namespace':'shop','name':'%s','resourceVersion':'%u',%s}}", name,
                   version, more);
    ki_object *pod = test_object(&f->alloc.table, text);
    assert_int_equal(ki_local_source_put(f->source, pod, NULL), 0);
    (void)ki_object_unref(pod);
    test_world_settle(f->engine);
}

/* The keys that wait, taken out. */
static void expect(fixture *f, const char *want)
{
    char keys[256] = "";
    ki_work work;
    while (ki_workqueue_try_get(f->queue, &work) == 1) {
        size_t len = strlen(keys);
        (void)snprintf(keys + len, sizeof(keys) - len, "%s ", work.key);
        ki_workqueue_done(f->queue, &work);
    }
    assert_string_equal(keys, want);
}

static void every_change_adds_the_key_of_the_object(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    put(&f, "a", 1, NULL);
    enqueue(&f, NULL);
    expect(&f, "shop/a ");
    put(&f, "b", 2, NULL);
    put(&f, "b", 3, NULL);
    expect(&f, "shop/b ");
    take_out(&f, "b", 4, NULL);
    expect(&f, "shop/b ");
    test_world_advance(&f.world, f.engine, 61 * TEST_SECOND);
    expect(&f, "shop/a ");
    ki_workqueue_shut_down(f.queue);
    put(&f, "c", 5, NULL);
    assert_int_equal(f.reports, 0);
    end(&f);
}

static void initial_objects_and_resyncs_may_have_a_low_priority(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    put(&f, "a", 1, NULL);
    put(&f, "b", 2, NULL);
    put(&f, "c", 3, NULL);
    enqueue(&f, KI_OPTIONS(ki_enqueue_options, .initial_priority = KI_PRIORITY_LOW));
    put(&f, "d", 4, NULL); /* overtakes them, */
    put(&f, "c", 5, NULL); /* and raises this one */
    expect(&f, "shop/c shop/d shop/a shop/b ");
    test_world_advance(&f.world, f.engine, 61 * TEST_SECOND); /* resync of four */
    put(&f, "e", 6, NULL);
    ki_work work;
    assert_int_equal(ki_workqueue_count(f.queue), 5);
    assert_int_equal(ki_workqueue_try_get(f.queue, &work), 1);
    assert_string_equal(work.key, "shop/e");
    assert_int_equal(ki_work_priority(&work), 0);
    ki_workqueue_done(f.queue, &work);
    assert_int_equal(ki_workqueue_try_get(f.queue, &work), 1);
    assert_int_equal(ki_work_priority(&work), KI_PRIORITY_LOW);
    ki_workqueue_done(f.queue, &work);
    end(&f);
}

static void changes_may_have_a_priority(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    enqueue(&f, KI_OPTIONS(ki_enqueue_options, .owner = KI_APPS_V1_REPLICASETS, .priority = 9));
    assert_int_equal(ki_workqueue_add(f.queue, "first"), 1);
    put(&f, "a", 1, "ReplicaSet:web");
    expect(&f, "shop/web first ");
    assert_int_equal(ki_informer_enqueue(f.informer, f.queue,
                                         KI_OPTIONS(ki_enqueue_options, .priority = 10001), NULL),
                     -EINVAL);
    assert_int_equal(ki_informer_enqueue(f.informer, f.queue,
                                         KI_OPTIONS(ki_enqueue_options, .initial_priority = -10001),
                                         NULL),
                     -EINVAL);
    end(&f);
}

static void an_owner_gets_the_changes_of_its_objects(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    put(&f, "a", 1, "ReplicaSet:web");
    enqueue(&f, KI_OPTIONS(ki_enqueue_options, .owner = KI_APPS_V1_REPLICASETS));
    expect(&f, "shop/web ");
    put(&f, "b", 2, NULL);
    put(&f, "c", 3, "StatefulSet:web");
    expect(&f, "");
    put(&f, "a", 4, "ReplicaSet:db"); /* both have to know */
    expect(&f, "shop/db shop/web ");
    take_out(&f, "a", 5, "ReplicaSet:db");
    expect(&f, "shop/db ");
    end(&f);
}

static void owners_are_known_by_their_group_and_scope(void **state)
{
    (void)state;
    fixture f;
    ki_resource *others = NULL;
    begin(&f);
    assert_int_equal(
        ki_resource_new(KI_OPTIONS(ki_resource_options, .group = "example.com", .version = "v1",
                                   .resource = "replicasets", .kind = "ReplicaSet"),
                        &others, NULL),
        0);
    enqueue(&f, KI_OPTIONS(ki_enqueue_options, .owner = others));
    (void)ki_resource_unref(others);
    put(&f, "a", 1, "ReplicaSet:web");
    expect(&f, "");
    assert_int_equal(ki_resource_new(KI_OPTIONS(ki_resource_options, .group = "apps",
                                                .version = "v7", .resource = "replicasets",
                                                .kind = "ReplicaSet", .cluster_scoped = true),
                                     &others, NULL),
                     0);
    assert_int_equal(ki_informer_enqueue(f.informer, f.queue,
                                         KI_OPTIONS(ki_enqueue_options, .owner = others), NULL),
                     0);
    (void)ki_resource_unref(others);
    test_world_settle(f.engine);
    expect(&f, "web ");
    end(&f);
}

static void add_two(const ki_change *change, ki_workqueue *queue, void *user)
{
    char key[64];
    (void)snprintf(key, sizeof(key), "%s %s", ki_change_name(change),
                   ki_object_name(change->object));
    int *failed = user;
    *failed += ki_workqueue_add(queue, key) < 0;
    *failed += ki_workqueue_add(queue, "all") < 0;
}

static void a_function_adds_what_it_likes(void **state)
{
    (void)state;
    fixture f;
    int failed = 0;
    begin(&f);
    enqueue(&f, KI_OPTIONS(ki_enqueue_options, .map = add_two, .user = &failed));
    put(&f, "a", 1, NULL);
    expect(&f, "added a all ");
    assert_int_equal(failed, 0);
    f.queue_alloc.fail_at = f.queue_alloc.calls + 1;
    f.queue_alloc.fail_onwards = true;
    put(&f, "b", 2, NULL);
    f.queue_alloc.fail_at = 0;
    f.queue_alloc.fail_onwards = false;
    assert_int_equal(failed, 1); /* "all" is known */
    assert_string_equal(f.reported, "enqueue shop/b ENOMEM");
    end(&f);
}

static void a_key_without_memory_is_reported_and_tried_again(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    enqueue(&f, NULL);
    put(&f, "a", 1, NULL);
    expect(&f, "shop/a ");
    f.queue_alloc.fail_at = f.queue_alloc.calls + 1;
    f.queue_alloc.fail_onwards = true;
    put(&f, "b", 2, NULL);
    assert_string_equal(f.reported, "enqueue shop/b ENOMEM");
    take_out(&f, "b", 3, NULL);
    put(&f, "c", 4, NULL);
    assert_int_equal(f.reports, 3);
    f.queue_alloc.fail_at = 0;
    f.queue_alloc.fail_onwards = false;
    expect(&f, "");
    put(&f, "a", 5, NULL);
    expect(&f, "shop/b shop/c shop/a "); /* also that of the object that is gone */
    put(&f, "a", 6, NULL);
    expect(&f, "shop/a ");
    assert_int_equal(f.reports, 3);
    end(&f);
}

static void a_full_queue_gets_the_rest_later(void **state)
{
    (void)state;
    fixture f;
    ki_workqueue_options options = KI_OPTIONS_INIT(ki_workqueue_options);
    options.max_keys = 2;
    begin_with(&f, options);
    enqueue(&f, NULL);
    for (unsigned i = 0; i < 80; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "p%u", i);
        put(&f, name, i + 1, NULL);
    }
    assert_int_equal(f.reports, 78);
    assert_string_equal(f.reported, "enqueue shop/p79 KI_ERR_LIMIT");
    expect(&f, "shop/p0 shop/p1 ");
    put(&f, "p0", 100, NULL);
    expect(&f, "shop/p2 shop/p3 ");
    end(&f);
}

static void keys_that_are_too_long_are_reported(void **state)
{
    (void)state;
    fixture f;
    ki_workqueue_options options = KI_OPTIONS_INIT(ki_workqueue_options);
    options.max_key_bytes = 6;
    begin_with(&f, options);
    enqueue(&f, NULL);
    put(&f, "long", 1, NULL);
    assert_string_equal(f.reported, "enqueue shop/long KI_ERR_LIMIT");
    put(&f, "a", 2, NULL);
    expect(&f, "shop/a ");
    assert_int_equal(f.reports, 1); /* it cannot be tried again */
    end(&f);
}

static void bad_options_are_refused(void **state)
{
    (void)state;
    fixture f;
    ki_error error = KI_ERROR_INIT;
    begin(&f);
    assert_int_equal(ki_informer_enqueue(f.informer, f.queue,
                                         KI_OPTIONS(ki_enqueue_options, .map = add_two,
                                                    .owner = KI_APPS_V1_REPLICASETS),
                                         &error),
                     -EINVAL);
    assert_string_equal(error.message, "owner and map are mutually exclusive");
    assert_int_equal(ki_informer_enqueue(f.informer, f.queue,
                                         KI_OPTIONS(ki_enqueue_options, .changed = 8), &error),
                     -EINVAL);
    assert_string_equal(error.message, "changed: unknown bits");
    f.alloc.fail_at = f.alloc.calls + 1;
    assert_int_equal(ki_informer_enqueue(f.informer, f.queue, NULL, &error), -ENOMEM);
    f.alloc.fail_at = f.alloc.calls + 2;
    assert_int_equal(ki_informer_enqueue(f.informer, f.queue, NULL, &error), -ENOMEM);
    f.alloc.fail_at = 0;
    ki_informer_stop(f.informer);
    assert_int_equal(ki_informer_enqueue(f.informer, f.queue, NULL, &error), KI_ERR_STOPPED);
    end(&f);
}

/* Names, versions and metadata of updates, and which of them pass. */
static void updates_pass_if_a_named_part_has_changed(void **state)
{
    (void)state;
    static const struct {
        uint32_t changed;
        const char *first;
        const char *second;
        bool passes;
    } cases[] = {
        {KI_CHANGED_GENERATION, "'generation':1", "'generation':2", true},
        {KI_CHANGED_GENERATION, "'generation':1,'labels':{'a':'b'}", "'generation':1", false},
        {KI_CHANGED_GENERATION, "'labels':{'a':'b'}", "'labels':{'a':'c'}", false},
        {KI_CHANGED_LABELS, "'labels':{'a':'b','c':'d'}", "'labels':{'c':'d','a':'b'}", false},
        {KI_CHANGED_LABELS, "'labels':{'a':'b'}", "'labels':{'a':'b','c':'d'}", true},
        {KI_CHANGED_LABELS, "'labels':{'a':'b'}", "'generation':1", true},
        {KI_CHANGED_LABELS, "'annotations':{'a':'b'}", "'annotations':{'a':'c'}", false},
        {KI_CHANGED_ANNOTATIONS, "'annotations':{'a':'b'}", "'annotations':{'a':'c'}", true},
        {KI_CHANGED_ANNOTATIONS, "'annotations':{'a':'x\\ny'}", "'annotations':{'a':'x\\u000ay'}",
         false},
        {KI_CHANGED_GENERATION | KI_CHANGED_LABELS, "'generation':1", "'labels':{'a':'b'}", true},
        {KI_CHANGED_LABELS | KI_CHANGED_ANNOTATIONS, "'generation':1", "'generation':2", false},
        {0, "'generation':1", "'generation':1", true},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        fixture f;
        begin(&f);
        enqueue(&f, KI_OPTIONS(ki_enqueue_options, .changed = cases[i].changed));
        put_with(&f, "a", 1, cases[i].first);
        expect(&f, "shop/a "); /* an addition always passes */
        put_with(&f, "a", 2, cases[i].second);
        expect(&f, cases[i].passes ? "shop/a " : "");
        test_world_advance(&f.world, f.engine, 61 * TEST_SECOND);
        expect(&f, cases[i].changed == 0 ? "shop/a " : ""); /* a resync */
        take_out(&f, "a", 3, NULL);
        expect(&f, "shop/a ");
        end(&f);
    }
}

static bool is_not_the_second(const ki_change *change, void *user)
{
    ++*(int *)user;
    return strcmp(ki_object_resource_version(change->object), "2") != 0;
}

static void a_function_of_the_program_decides_as_well(void **state)
{
    (void)state;
    fixture f;
    int calls = 0;
    begin(&f);
    enqueue(&f, KI_OPTIONS(ki_enqueue_options, .changed = KI_CHANGED_GENERATION,
                           .predicate = is_not_the_second, .user = &calls));
    put_with(&f, "a", 1, "'generation':1");
    expect(&f, "shop/a ");
    put_with(&f, "a", 2, "'generation':2");
    expect(&f, "");
    put_with(&f, "a", 3, "'generation':2");
    expect(&f, "");
    assert_int_equal(calls, 2); /* not for what `changed` ignores */
    put_with(&f, "a", 4, "'generation':3");
    expect(&f, "shop/a ");
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_change_adds_the_key_of_the_object),
        cmocka_unit_test(initial_objects_and_resyncs_may_have_a_low_priority),
        cmocka_unit_test(changes_may_have_a_priority),
        cmocka_unit_test(an_owner_gets_the_changes_of_its_objects),
        cmocka_unit_test(owners_are_known_by_their_group_and_scope),
        cmocka_unit_test(a_function_adds_what_it_likes),
        cmocka_unit_test(a_key_without_memory_is_reported_and_tried_again),
        cmocka_unit_test(a_full_queue_gets_the_rest_later),
        cmocka_unit_test(keys_that_are_too_long_are_reported),
        cmocka_unit_test(bad_options_are_refused),
        cmocka_unit_test(updates_pass_if_a_named_part_has_changed),
        cmocka_unit_test(a_function_of_the_program_decides_as_well),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
