/* SPDX-License-Identifier: Apache-2.0 */
/* Informers with max_bytes: what happens when the limit is reached by lists, events, indexes, old
 * versions and handlers; that it is reported; and the way back. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <kinformer/factory.h>
#include <kinformer/index.h>
#include <kinformer/informer.h>
#include <kinformer/json.h>
#include <kinformer/memory.h>
#include <kinformer/parts/shared_informer.h>

#include "support/limiting.h"
#include "support/objects.h"

static void is_over(limited *f, size_t objects, bool synced)
{
    ki_error reason = KI_ERROR_INIT;
    ki_memory memory = KI_OPTIONS_INIT(ki_memory);
    ki_health health = limited_health(f->informer, &reason);
    assert_true(health.over_limit);
    assert_true(health.refusals > 0);
    assert_int_equal(health.objects, objects);
    assert_int_equal(health.synced, synced);
    assert_int_equal(ki_informer_has_synced(f->informer), synced);
    assert_int_equal(reason.code, KI_ERR_OVER_LIMIT);
    assert_non_null(strstr(reason.message, "max_bytes"));
    assert_true(f->failures > 0);
    assert_int_equal(f->reports, 1);
    assert_int_equal(ki_informer_get_memory(f->informer, &memory), 0);
    assert_true(memory.over_limit);
    assert_true(memory.total <= memory.max_bytes);
}

static void is_within(limited *f, size_t objects)
{
    ki_health health = limited_health(f->informer, NULL);
    assert_false(health.over_limit);
    assert_int_equal(health.objects, objects);
    assert_true(health.synced);
    assert_true(health.memory <= LIMITED_MAX);
    f->reports = 0;
    f->failures = 0;
}

static void a_list_that_does_not_fit_is_not_synced(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2 * KI_QUEUE_KIND_MAX; kind++) {
        limited f;
        ki_informer_options options = KI_OPTIONS_INIT(ki_informer_options);
        options.queue = (ki_queue_kind)(kind / 2);
        options.no_streaming = kind % 2 != 0;
        limited_begin(&f, &options, 40);
        is_over(&f, 0, false);
        limited_wait(&f);
        is_over(&f, 0, false);
        ki_error error = KI_ERROR_INIT;
        assert_int_equal(ki_informer_wait_for_sync(f.informer, 0, &error), -ETIMEDOUT);
        assert_non_null(strstr(error.message, "max_bytes"));
        limited_take_many(&f, 0, 25);
        limited_wait(&f);
        is_within(&f, 15);
        limited_put_many(&f, 0, 5); /* and it continues */
        test_world_settle(f.engine);
        is_within(&f, 20);
        limited_end(&f);
    }
}

static void an_event_that_does_not_fit_leaves_the_store(void **state)
{
    (void)state;
    for (int kind = 0; kind < KI_QUEUE_KIND_MAX; kind++) {
        limited f;
        ki_informer_options options = KI_OPTIONS_INIT(ki_informer_options);
        options.queue = (ki_queue_kind)kind;
        limited_begin(&f, &options, 10);
        assert_int_equal(ki_informer_on_change(f.informer, limited_on_change, &f, NULL, NULL), 0);
        test_world_settle(f.engine);
        is_within(&f, 10);
        limited_put_many(&f, 10, 40);
        test_world_settle(f.engine);
        size_t stored = limited_health(f.informer, NULL).objects;
        assert_in_range(stored, 15, 24);
        is_over(&f, stored, true);
        ki_object *object = ki_informer_get(f.informer, "shop", "p3"); /* remains readable */
        assert_non_null(object);
        (void)ki_object_unref(object);
        limited_wait(&f);
        is_over(&f, stored, true);
        limited_take_many(&f, 0, 30);
        limited_wait(&f);
        is_within(&f, 10);
        assert_int_equal(f.changes[KI_CHANGE_ADDED] - f.changes[KI_CHANGE_DELETED], 10);
        limited_end(&f);
    }
}

static void held_snapshots_count(void **state)
{
    (void)state;
    limited f;
    ki_informer_options options = KI_OPTIONS_INIT(ki_informer_options);
    limited_begin(&f, &options, 6);
    is_within(&f, 6);
    ki_snapshot *held = ki_store_snapshot(ki_informer_store(f.informer));
    for (int i = 0; i < 3; i++) {
        limited_put_many(&f, 0, 6); /* the same objects, changed */
        test_world_settle(f.engine);
    }
    is_within(&f, 6);
    assert_true(limited_health(f.informer, NULL).version_bytes > 6 * LIMITED_BODY);
    limited_put_many(&f, 6, 22);
    test_world_settle(f.engine);
    is_over(&f, limited_health(f.informer, NULL).objects, true);
    held = ki_snapshot_unref(held);
    limited_wait(&f);
    is_within(&f, 22);
    assert_int_equal(limited_health(f.informer, NULL).version_bytes, 0);
    limited_end(&f);
}

static void queues_of_handlers_count(void **state)
{
    (void)state;
    limited f;
    ki_informer_options options = KI_OPTIONS_INIT(ki_informer_options);
    limited_begin(&f, &options, 2);
    ki_registration *registration = NULL;
    const ki_handler handler = {.on_change = limited_on_change, .user = &f};
    ki_handler_options manual = KI_OPTIONS_INIT(ki_handler_options);
    manual.delivery = KI_DELIVERY_CALLER;
    assert_int_equal(ki_informer_add_handler(f.informer, &handler, &manual, &registration, NULL),
                     0);
    for (int i = 0; i < 60; i++) { /* each leaves an old object in the queue */
        limited_put(&f, 0, LIMITED_BODY);
        test_world_settle(f.engine);
    }
    assert_true(limited_health(f.informer, NULL).queue_bytes > 10 * LIMITED_BODY);
    is_over(&f, 2, true);
    while (ki_registration_dispatch(registration, 100) > 0) {
    }
    limited_wait(&f);
    while (ki_registration_dispatch(registration, 100) > 0) {
    }
    is_within(&f, 2);
    assert_int_equal(limited_health(f.informer, NULL).queue_bytes, 0);
    (void)ki_registration_unref(registration);
    limited_end(&f);
}

static int many_values(const ki_object *object, ki_index_values *values, void *user)
{
    (void)user;
    int r = 0;
    for (int i = 0; r == 0 && i < 400; i++) {
        char text[64];
        (void)snprintf(text, sizeof(text), "%s %d", ki_object_key(object), i);
        r = ki_index_values_add(values, ki_str_from(text));
    }
    return r;
}

/* Known only once the version is prepared. */
static void indexes_count(void **state)
{
    (void)state;
    for (int kind = 0; kind < KI_QUEUE_KIND_MAX; kind++) {
        limited f;
        ki_informer_options options = KI_OPTIONS_INIT(ki_informer_options);
        const ki_index index = {.size = sizeof(index), .name = "many", .values = many_values};
        const ki_index *const indexes[] = {&index};
        options.queue = (ki_queue_kind)kind;
        options.indexes = indexes;
        options.index_count = 1;
        limited_begin(&f, &options, 10);
        ki_health health = limited_health(f.informer, NULL);
        assert_true(health.over_limit);
        assert_false(health.synced);
        limited_wait(&f);
        assert_int_equal(f.reports, 1);
        assert_false(ki_informer_has_synced(f.informer));
        limited_take_many(&f, 0, 8);
        limited_wait(&f);
        is_within(&f, 2);
        assert_true(limited_health(f.informer, NULL).index_bytes > 2 * 400 * 40);
        limited_put_many(&f, 20, 24); /* by events, too */
        test_world_settle(f.engine);
        health = limited_health(f.informer, NULL);
        assert_true(health.over_limit && health.memory <= LIMITED_MAX);
        limited_take_many(&f, 20, 24);
        limited_wait(&f);
        is_within(&f, 2);
        limited_end(&f);
    }
}

static int make_source(const ki_resource *resource, const char *name_space, void *user,
                       ki_source *ret_source, ki_error *error)
{
    (void)resource;
    (void)name_space;
    (void)error;
    limited *f = user;
    return ki_local_source_table(f->source, ret_source);
}

static void factories_limit_the_sum(void **state)
{
    (void)state;
    limited f;
    limited_begin_world(&f);
    limited_put_many(&f, 0, 15);
    ki_factory *factory = NULL;
    ki_factory_options options = KI_OPTIONS_INIT(ki_factory_options);
    options.engine = f.engine;
    options.make_source = make_source;
    options.user = &f;
    options.at_limit = KI_AT_LIMIT_MAX;
    assert_int_equal(ki_factory_new(&options, &factory, NULL), -EINVAL);
    options.at_limit = KI_AT_LIMIT_REFUSE;
    options.max_bytes = LIMITED_MAX;
    assert_int_equal(ki_factory_new(&options, &factory, NULL), 0);
    ki_informer *first = NULL;
    ki_informer *second = NULL;
    assert_int_equal(ki_factory_informer(factory, KI_CORE_V1_PODS, NULL, &first, NULL), 0);
    assert_int_equal(ki_factory_informer(factory, KI_CORE_V1_NODES, NULL, &second, NULL), 0);
    assert_int_equal(ki_factory_start(factory, NULL), 0);
    test_world_settle(f.engine);
    ki_error reason = KI_ERROR_INIT;
    assert_int_not_equal(ki_informer_has_synced(first), ki_informer_has_synced(second));
    ki_informer *over = ki_informer_has_synced(first) ? second : first;
    assert_true(limited_health(over, &reason).over_limit);
    assert_non_null(strstr(reason.message, "of the factory"));
    assert_true(limited_health(first, NULL).memory + limited_health(second, NULL).memory <=
                LIMITED_MAX);
    ki_factory_release(factory, over == first ? second : first);
    limited_wait(&f);
    assert_true(ki_informer_has_synced(over));
    assert_false(limited_health(over, NULL).over_limit);
    ki_factory_stop(factory);
    test_world_settle(f.engine);
    (void)ki_factory_unref(factory);
    f.source = ki_local_source_unref(f.source);
    test_world_settle(f.engine);
    (void)ki_engine_unref(f.engine);
    test_alloc_done(&f.alloc);
}

static void arguments_are_checked(void **state)
{
    (void)state;
    limited f;
    limited_begin_world(&f);
    ki_source table = {0};
    assert_int_equal(ki_local_source_table(f.source, &table), 0);
    ki_informer_options options = KI_OPTIONS_INIT(ki_informer_options);
    options.engine = f.engine;
    options.source = &table;
    options.at_limit = KI_AT_LIMIT_MAX;
    ki_error error = KI_ERROR_INIT;
    assert_int_equal(ki_informer_new(&options, &f.informer, &error), -EINVAL);
    assert_string_equal(error.message, "at_limit: unknown value");
    table.destroy(table.user);
    f.source = ki_local_source_unref(f.source);
    test_world_settle(f.engine);
    (void)ki_engine_unref(f.engine);
    test_alloc_done(&f.alloc);
}

/* Each limit, from too small for anything: never more than the limit, never synced with less than
 * everything, and the same end. */
static void any_limit_is_kept(void **state)
{
    (void)state;
    for (uint64_t max = 4000; max < 150000; max += 3001) {
        limited f;
        ki_informer_options options = KI_OPTIONS_INIT(ki_informer_options);
        options.max_bytes = max;
        options.no_streaming = max % 2 != 0;
        limited_begin(&f, &options, 8);
        for (int round = 0; round < 12; round++) {
            ki_health health = limited_health(f.informer, NULL);
            assert_true(health.memory <= max);
            assert_int_equal(health.synced || round > 1, !health.over_limit || round > 1);
            assert_true(!health.synced || round > 1 || health.objects == 8);
            if (round == 1) {
                limited_put_many(&f, 8, 14);
            } else if (round == 5) {
                limited_take_many(&f, 0, 14);
            }
            test_world_advance(&f.world, f.engine, 70 * TEST_SECOND);
        }
        ki_health health = limited_health(f.informer, NULL);
        assert_true(health.synced && !health.over_limit);
        assert_int_equal(health.objects, 0);
        limited_end(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_that_does_not_fit_is_not_synced),
        cmocka_unit_test(an_event_that_does_not_fit_leaves_the_store),
        cmocka_unit_test(held_snapshots_count),
        cmocka_unit_test(queues_of_handlers_count),
        cmocka_unit_test(indexes_count),
        cmocka_unit_test(factories_limit_the_sum),
        cmocka_unit_test(arguments_are_checked),
        cmocka_unit_test(any_limit_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
