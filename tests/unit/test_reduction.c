/* SPDX-License-Identifier: Apache-2.0 */
/* What informers do at max_bytes by option: metadata only, or packed objects; that it is reported;
 * and that whole objects come back. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <kinformer/factory.h>
#include <kinformer/index.h>
#include <kinformer/memory.h>
#include <kinformer/packed.h>
#include <kinformer/parts/shared_informer.h>
#include <kinformer/path.h>
#include <kinformer/projection.h>

#include "cache/informer/informer.h"
#include "cache/store/shrink.h"
#include "object/object.h"
#include "object/pack/codec.h"
#include "support/limiting.h"
#include "support/objects.h"

enum { MANY = 60 }; /* do not fit whole */

static ki_informer_options options_for(ki_at_limit at_limit)
{
    ki_informer_options options = KI_OPTIONS_INIT(ki_informer_options);
    options.at_limit = at_limit;
    return options;
}

static ki_object *get(limited *f, int number)
{
    char name[16];
    (void)snprintf(name, sizeof(name), "p%d", number);
    ki_object *object = ki_informer_get(f->informer, "shop", name);
    assert_non_null(object);
    return object;
}

/* All of the store is whole, or all of it metadata; and as current as the source. */
static void check_objects(limited *f, int count, bool reduced)
{
    assert_int_equal(limited_health(f->informer, NULL).objects, count);
    ki_snapshot *snapshot = ki_store_snapshot(ki_informer_store(f->informer));
    ki_snapshot_iter iter = ki_snapshot_iter_begin(snapshot);
    const ki_object *object;
    while (ki_snapshot_iter_next(&iter, &object) > 0) {
        ki_object *plain = NULL;
        char odd[8];
        assert_int_equal(ki_object_unpack(object, &plain, NULL), 0);
        ki_value root = ki_object_root(plain);
        ki_value data;
        ki_str text = {0};
        int r = ki_value_member(&root, ki_str_from("data"), &data);
        r = r > 0 || r == 0 ? ki_value_string(&data, &text) : r;
        assert_int_equal(r < 0 ? r : 0, reduced ? KI_ERR_NOT_KEPT : 0);
        assert_int_equal(text.len, reduced ? 0 : LIMITED_BODY);
        assert_int_equal(ki_object_is_partial(object), reduced);
        const char *name = ki_object_name(object);
        (void)snprintf(odd, sizeof(odd), "%d", name[strlen(name) - 1] % 2);
        assert_true(ki_object_label_is(object, "odd", odd));
        (void)ki_object_unref(plain);
    }
    (void)ki_snapshot_unref(snapshot);
    assert_int_equal(ki__store_has_reduced(f->informer->store), reduced);
}

static void is_in(limited *f, ki_reduction reduction, bool over)
{
    ki_memory memory = KI_OPTIONS_INIT(ki_memory);
    ki_health health = limited_health(f->informer, NULL);
    assert_string_equal(ki_reduction_name(health.reduction), ki_reduction_name(reduction));
    assert_int_equal(health.reduced, reduction == KI_REDUCTION_METADATA);
    assert_int_equal(health.over_limit, over);
    assert_int_equal(ki_informer_get_memory(f->informer, &memory), 0);
    assert_int_equal(memory.reduction, reduction);
    assert_true(memory.total <= memory.max_bytes);
}

static void metadata_is_kept_and_whole_objects_come_back(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2 * KI_QUEUE_KIND_MAX; kind++) {
        limited f;
        ki_informer_options options = options_for(KI_AT_LIMIT_METADATA);
        options.queue = (ki_queue_kind)(kind / 2);
        options.no_streaming = kind % 2 != 0;
        limited_begin(&f, &options, 10);
        assert_int_equal(ki_informer_on_change(f.informer, limited_on_change, &f, NULL, NULL), 0);
        test_world_settle(f.engine);
        is_in(&f, KI_REDUCTION_NONE, false);
        limited_put_many(&f, 10, MANY);
        test_world_settle(f.engine);
        assert_int_equal(f.reports, 1);
        assert_non_null(strstr(f.report.message, "max_bytes"));
        assert_non_null(strstr(f.report.message, "keeping metadata only"));
        limited_wait(&f);
        is_in(&f, KI_REDUCTION_METADATA, false);
        check_objects(&f, MANY, true);
        /* Events deliver what the store has. */
        unsigned updates = f.changes[KI_CHANGE_UPDATED];
        limited_put(&f, 3, LIMITED_BODY);
        test_world_settle(f.engine);
        assert_int_equal(f.changes[KI_CHANGE_UPDATED], updates + 1);
        check_objects(&f, MANY, true);
        /* 20 would fit, but not with a quarter of the limit left. */
        limited_take_many(&f, 20, MANY);
        limited_wait(&f);
        is_in(&f, KI_REDUCTION_METADATA, false);
        check_objects(&f, 20, true);
        limited_take_many(&f, 10, 20);
        updates = f.changes[KI_CHANGE_UPDATED];
        limited_wait(&f);
        is_in(&f, KI_REDUCTION_NONE, false);
        check_objects(&f, 10, false);
        assert_int_equal(f.changes[KI_CHANGE_UPDATED], updates + 10);
        assert_int_equal(f.changes[KI_CHANGE_ADDED] - f.changes[KI_CHANGE_DELETED], 10);
        assert_int_equal(f.reports, 1);
        limited_put_many(&f, 10, MANY); /* and again */
        limited_wait(&f);
        check_objects(&f, MANY, true);
        is_in(&f, KI_REDUCTION_METADATA, false);
        assert_int_equal(f.reports, 2);
        limited_end(&f);
    }
}

static void a_first_list_may_be_reduced(void **state)
{
    (void)state;
    limited f;
    ki_informer_options options = options_for(KI_AT_LIMIT_METADATA);
    limited_begin(&f, &options, MANY);
    limited_wait(&f);
    assert_int_equal(f.reports, 1);
    assert_true(ki_informer_has_synced(f.informer));
    is_in(&f, KI_REDUCTION_METADATA, false);
    check_objects(&f, MANY, true);
    limited_end(&f);
}

static void metadata_may_not_fit_either(void **state)
{
    (void)state;
    limited f;
    ki_informer_options options = options_for(KI_AT_LIMIT_METADATA);
    limited_begin(&f, &options, 2000);
    limited_wait(&f);
    assert_false(ki_informer_has_synced(f.informer));
    is_in(&f, KI_REDUCTION_METADATA, true);
    limited_take_many(&f, 100, 2000);
    limited_wait(&f);
    is_in(&f, KI_REDUCTION_METADATA, false);
    check_objects(&f, 100, true);
    limited_take_many(&f, 5, 100);
    limited_wait(&f);
    is_in(&f, KI_REDUCTION_NONE, false);
    check_objects(&f, 5, false);
    limited_end(&f);
}

/* Sizes that have grown since: whole objects are tried less and less often. */
static void whole_objects_that_do_not_fit_are_reduced_again(void **state)
{
    (void)state;
    limited f;
    ki_informer_options options = options_for(KI_AT_LIMIT_METADATA);
    limited_begin(&f, &options, 0);
    for (int i = 0; i < 150; i++) {
        limited_put(&f, i, 100);
    }
    test_world_settle(f.engine);
    limited_put_many(&f, 400, 430);
    limited_wait(&f);
    is_in(&f, KI_REDUCTION_METADATA, false);
    limited_take_many(&f, 0, 150); /* the average was low: now all are large, and too many */
    test_world_advance(&f.world, f.engine, 3600 * TEST_SECOND);
    is_in(&f, KI_REDUCTION_METADATA, false);
    check_objects(&f, 30, true);
    uint64_t refusals = limited_health(f.informer, NULL).refusals;
    assert_in_range(refusals, 2, 4);
    limited_take_many(&f, 400, 420);
    test_world_advance(&f.world, f.engine, 3600 * TEST_SECOND);
    is_in(&f, KI_REDUCTION_NONE, false);
    check_objects(&f, 10, false);
    assert_int_equal(limited_health(f.informer, NULL).refusals, refusals);
    limited_end(&f);
}

static void keep_and_drop_still_count(void **state)
{
    (void)state;
    limited f;
    ki_value value;
    ki_informer_options options = options_for(KI_AT_LIMIT_METADATA);
    options.keep = ".data, .metadata.labels['odd'], .metadata.annotations.x";
    options.drop = ".metadata.ownerReferences";
    limited_begin(&f, &options, MANY);
    limited_wait(&f);
    is_in(&f, KI_REDUCTION_METADATA, false);
    ki_object *object = get(&f, 7);
    ki_value labels = ki_object_labels(object);
    assert_true(ki_object_label_is(object, "odd", "1"));
    assert_int_equal(ki_value_member(&labels, ki_str_from("app"), &value), KI_ERR_NOT_KEPT);
    ki_value owners = ki_object_owner_references(object);
    assert_int_equal(ki_value_element(&owners, 0, &value), KI_ERR_NOT_KEPT);
    (void)ki_object_unref(object);
    limited_take_many(&f, 5, MANY);
    limited_wait(&f);
    is_in(&f, KI_REDUCTION_NONE, false);
    object = get(&f, 3);
    assert_true(ki_object_is_partial(object));
    ki_value root = ki_object_root(object);
    assert_true(ki_value_member(&root, ki_str_from("data"), &value) >= 0);
    (void)ki_object_unref(object);
    limited_end(&f);
}

static int check_whole(const ki_object *object, ki_object **ret_object, void *user)
{
    int *calls = user;
    assert_false(ki_object_is_partial(object));
    (*calls)++;
    *ret_object = ki_object_ref(object);
    return 0;
}

static void transform_functions_receive_whole_objects(void **state)
{
    (void)state;
    limited f;
    int calls = 0;
    ki_informer_options options = options_for(KI_AT_LIMIT_METADATA);
    options.transform = check_whole;
    options.transform_user = &calls;
    limited_begin(&f, &options, 10);
    limited_put_many(&f, 10, MANY);
    limited_wait(&f);
    is_in(&f, KI_REDUCTION_METADATA, false);
    check_objects(&f, MANY, true);
    int before = calls;
    limited_put(&f, 3, LIMITED_BODY);
    test_world_settle(f.engine);
    assert_int_equal(calls, before + 1);
    check_objects(&f, MANY, true);
    limited_end(&f);
}

static size_t count_by(limited *f, const char *index, const char *value)
{
    ki_list *list = NULL;
    assert_int_equal(ki_store_by_index(ki_informer_store(f->informer), index, value, &list), 0);
    size_t count = ki_list_count(list);
    (void)ki_list_unref(list);
    return count;
}

/* Fails in a way of its own for objects without data. */
static int by_size(const ki_object *object, ki_index_values *values, void *user)
{
    (void)user;
    ki_value root = ki_object_root(object);
    ki_value data;
    ki_str text;
    int r = ki_index_values_add(values, ki_str_from("any"));
    if (r >= 0 && (ki_value_member(&root, ki_str_from("data"), &data) < 0 ||
                   ki_value_string(&data, &text) < 0)) {
        return KI_ERR_INVALID;
    }
    return r < 0 ? r : ki_index_values_add(values, ki_str_from(text.len > 10 ? "large" : "small"));
}

static void indexes_follow(void **state)
{
    (void)state;
    limited f;
    ki_index by_odd = KI_OPTIONS_INIT(ki_index);
    const ki_index sizes = {.size = sizeof(sizes), .name = "size", .values = by_size};
    ki_informer_options options = options_for(KI_AT_LIMIT_METADATA);
    assert_int_equal(ki_index_by_label("odd", "odd", NULL, &by_odd), 0);
    const ki_index *const indexes[] = {&by_odd, &sizes};
    options.indexes = indexes;
    options.index_count = 2;
    limited_begin(&f, &options, 10);
    assert_int_equal(count_by(&f, "size", "large"), 10);
    limited_put_many(&f, 10, MANY);
    limited_wait(&f);
    check_objects(&f, MANY, true);
    assert_int_equal(count_by(&f, "odd", "1"), MANY / 2);
    assert_int_equal(count_by(&f, "size", "large"), 0);
    assert_int_equal(count_by(&f, "size", "any"), 0); /* all of its values, or none */
    assert_int_equal(limited_health(f.informer, NULL).rejected, 0);
    limited_take_many(&f, 10, MANY);
    limited_wait(&f);
    check_objects(&f, 10, false);
    assert_int_equal(count_by(&f, "size", "large"), 10);
    assert_int_equal(count_by(&f, "size", "any"), 10);
    limited_end(&f);
}

static void packing_leaves_nothing_out(void **state)
{
    (void)state;
    for (int kind = 0; kind < KI_QUEUE_KIND_MAX && ki__codec_is_built(); kind++) {
        limited f;
        ki_informer_options options = options_for(KI_AT_LIMIT_PACK);
        options.queue = (ki_queue_kind)kind;
        limited_begin(&f, &options, 10);
        assert_int_equal(ki_informer_on_change(f.informer, limited_on_change, &f, NULL, NULL), 0);
        test_world_settle(f.engine);
        ki_object *held = get(&f, 3); /* stays readable */
        assert_false(ki_object_is_packed(held));
        limited_put_many(&f, 10, 35);
        limited_wait(&f);
        is_in(&f, KI_REDUCTION_PACKED, false);
        check_objects(&f, 35, false);
        assert_non_null(strstr(f.report.message, "packing objects"));
        ki_object *packed = get(&f, 3);
        assert_true(ki_object_is_packed(packed));
        assert_int_equal(ki__object_is_same_state(held, packed), 1);
        (void)ki_object_unref(packed);
        (void)ki_object_unref(held);
        assert_int_equal(f.changes[KI_CHANGE_ADDED], 35); /* no event is due to packing */
        assert_int_equal(f.changes[KI_CHANGE_UPDATED], 0);
        limited_put_many(&f, 35, 80); /* too much even so */
        limited_wait(&f);
        is_in(&f, KI_REDUCTION_PACKED, true);
        limited_take_many(&f, 20, 80);
        limited_wait(&f);
        is_in(&f, KI_REDUCTION_PACKED, false);
        check_objects(&f, 20, false);
        limited_end(&f);
    }
}

/* Packed storage to begin with, and metadata when that is not enough. */
static void packed_objects_become_metadata(void **state)
{
    (void)state;
    limited f;
    ki_informer_options options = options_for(KI_AT_LIMIT_METADATA);
    options.storage = ki__codec_is_built() ? KI_STORAGE_PACKED : KI_STORAGE_DEFAULT;
    limited_begin(&f, &options, 10);
    limited_put_many(&f, 10, MANY);
    limited_wait(&f);
    is_in(&f, KI_REDUCTION_METADATA, false);
    check_objects(&f, MANY, true);
    limited_take_many(&f, 10, MANY);
    limited_wait(&f);
    is_in(&f, KI_REDUCTION_NONE, false);
    check_objects(&f, 10, false);
    limited_end(&f);
}

/* While a reader holds the version with whole objects, reducing them frees nothing. */
static void held_versions_delay_it(void **state)
{
    (void)state;
    for (int action = KI_AT_LIMIT_METADATA; action <= KI_AT_LIMIT_PACK; action++) {
        limited f;
        if (action == KI_AT_LIMIT_PACK && !ki__codec_is_built()) {
            continue;
        }
        ki_informer_options options = options_for((ki_at_limit)action);
        limited_begin(&f, &options, 22);
        ki_snapshot *held = ki_store_snapshot(ki_informer_store(f.informer));
        limited_put_many(&f, 22, 35);
        limited_wait(&f);
        ki_memory memory = KI_OPTIONS_INIT(ki_memory);
        assert_int_equal(ki_informer_get_memory(f.informer, &memory), 0);
        assert_true(memory.over_limit);
        assert_true(memory.total <= memory.max_bytes + memory.max_bytes / 32);
        held = ki_snapshot_unref(held);
        limited_wait(&f);
        is_in(&f, action == KI_AT_LIMIT_PACK ? KI_REDUCTION_PACKED : KI_REDUCTION_METADATA, false);
        check_objects(&f, 35, action == KI_AT_LIMIT_METADATA);
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

/* The second informer does not fit beside the first; when that is gone, it has room. */
static void factories_reduce_their_informers(void **state)
{
    (void)state;
    limited f;
    limited_begin_world(&f);
    limited_put_many(&f, 0, 14);
    ki_factory *factory = NULL;
    ki_factory_options options = KI_OPTIONS_INIT(ki_factory_options);
    options.engine = f.engine;
    options.make_source = make_source;
    options.user = &f;
    options.at_limit = KI_AT_LIMIT_METADATA;
    options.max_bytes = LIMITED_MAX;
    assert_int_equal(ki_factory_new(&options, &factory, NULL), 0);
    ki_informer *first = NULL;
    ki_informer *second = NULL;
    assert_int_equal(ki_factory_informer(factory, KI_CORE_V1_PODS, NULL, &first, NULL), 0);
    assert_int_equal(ki_factory_informer(factory, KI_CORE_V1_NODES, NULL, &second, NULL), 0);
    assert_int_equal(ki_factory_start(factory, NULL), 0);
    limited_wait(&f);
    assert_true(ki_informer_has_synced(first) && ki_informer_has_synced(second));
    ki_reduction reductions[] = {limited_health(first, NULL).reduction,
                                 limited_health(second, NULL).reduction};
    assert_int_equal(reductions[0] + reductions[1], KI_REDUCTION_METADATA);
    ki_informer *reduced = reductions[0] != 0 ? first : second;
    ki_factory_release(factory, reduced == first ? second : first);
    limited_wait(&f);
    assert_int_equal(limited_health(reduced, NULL).reduction, KI_REDUCTION_NONE);
    assert_int_equal(limited_health(reduced, NULL).objects, 14);
    ki_factory_stop(factory);
    test_world_settle(f.engine);
    (void)ki_factory_unref(factory);
    f.source = ki_local_source_unref(f.source);
    test_world_settle(f.engine);
    (void)ki_engine_unref(f.engine);
    test_alloc_done(&f.alloc);
}

/* One allocation fails, or many in a row: the end is the same. */
static void lack_of_memory_only_delays_it(void **state)
{
    (void)state;
    bool failed = true;
    for (uint64_t at = 1; failed; at += 1 + at / 16) {
        for (int action = KI_AT_LIMIT_METADATA; action <= KI_AT_LIMIT_PACK; action++) {
            bool packs = action == KI_AT_LIMIT_PACK;
            if (packs && !ki__codec_is_built()) {
                continue;
            }
            limited f;
            ki_informer_options options = options_for((ki_at_limit)action);
            options.queue = at % 2 == 0 ? KI_QUEUE_FIFO : KI_QUEUE_DELTA_FIFO;
            limited_begin(&f, &options, 10);
            limited_put_many(&f, 10, 35);
            f.alloc.fail_at = f.alloc.calls + at;
            f.alloc.fail_onwards = at % 3 == 0;
            test_world_settle(f.engine);
            test_world_advance(&f.world, f.engine, 2 * TEST_SECOND);
            failed = f.alloc.failures != 0;
            f.alloc.fail_at = 0;
            limited_wait(&f);
            is_in(&f, packs ? KI_REDUCTION_PACKED : KI_REDUCTION_METADATA, false);
            check_objects(&f, 35, !packs);
            limited_take_many(&f, 5, 35);
            f.alloc.fail_at = f.alloc.calls + at;
            f.alloc.failures = 0;
            test_world_advance(&f.world, f.engine, 100 * TEST_SECOND);
            failed = failed || f.alloc.failures != 0;
            f.alloc.fail_at = 0;
            limited_wait(&f);
            is_in(&f, packs ? KI_REDUCTION_PACKED : KI_REDUCTION_NONE, false);
            check_objects(&f, 5, false);
            limited_end(&f);
        }
    }
}

static void reductions_have_names(void **state)
{
    (void)state;
    assert_string_equal(ki_reduction_name(KI_REDUCTION_NONE), "none");
    assert_string_equal(ki_reduction_name(KI_REDUCTION_PACKED), "packed");
    assert_string_equal(ki_reduction_name(KI_REDUCTION_METADATA), "metadata only");
    assert_string_equal(ki_reduction_name(KI_REDUCTION_MAX), "unknown");
}

static void packing_needs_libzstd(void **state)
{
    (void)state;
    limited f;
    limited_begin_world(&f);
    ki_source table = {0};
    assert_int_equal(ki_local_source_table(f.source, &table), 0);
    ki_informer_options options = options_for(KI_AT_LIMIT_PACK);
    options.engine = f.engine;
    options.source = &table;
    ki_error error = KI_ERROR_INIT;
    int r = ki_informer_new(&options, &f.informer, &error);
    assert_int_equal(r, ki__codec_is_built() ? 0 : KI_ERR_UNSUPPORTED);
    if (r < 0) {
        assert_non_null(strstr(error.message, "at_limit"));
        table.destroy(table.user);
    }
    f.informer = ki_informer_unref(f.informer);
    f.source = ki_local_source_unref(f.source);
    test_world_settle(f.engine);
    (void)ki_engine_unref(f.engine);
    test_alloc_done(&f.alloc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metadata_is_kept_and_whole_objects_come_back),
        cmocka_unit_test(a_first_list_may_be_reduced),
        cmocka_unit_test(metadata_may_not_fit_either),
        cmocka_unit_test(whole_objects_that_do_not_fit_are_reduced_again),
        cmocka_unit_test(keep_and_drop_still_count),
        cmocka_unit_test(transform_functions_receive_whole_objects),
        cmocka_unit_test(indexes_follow),
        cmocka_unit_test(packing_leaves_nothing_out),
        cmocka_unit_test(packed_objects_become_metadata),
        cmocka_unit_test(held_versions_delay_it),
        cmocka_unit_test(factories_reduce_their_informers),
        cmocka_unit_test(lack_of_memory_only_delays_it),
        cmocka_unit_test(reductions_have_names),
        cmocka_unit_test(packing_needs_libzstd),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
