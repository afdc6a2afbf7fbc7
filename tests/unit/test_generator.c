/* SPDX-License-Identifier: Apache-2.0 */
/* The source of bench/scale: pods that are always the same, and an informer that follows it. */
#include <stdio.h>
#include <string.h>

#include <kinformer/encoding.h>
#include <kinformer/informer.h>
#include <kinformer/parts/shared_informer.h>
#include <kinformer/projection.h>

#include "support/generator.h"
#include "support/test.h"
#include "support/world.h"

enum { PODS = 1500 };

static bench_template *new_template(bool json, uint64_t seed)
{
    const bench_template_options options = {
        .kind = BENCH_POD_NETWORK, .json = json, .seed = seed, .objects = PODS};
    return bench_template_new(&options);
}

static ki_object *pod_of(const bench_template *template, bool json, uint64_t number, uint64_t state)
{
    static char bytes[BENCH_POD_MAX];
    ki_object *object = NULL;
    size_t size = bench_template_size(template);
    assert_true(size < sizeof(bytes));
    bench_template_write(template, number, state, bytes);
    assert_int_equal(json ? ki_object_from_json(bytes, size, NULL, &object, NULL)
                          : ki_object_from_protobuf(bytes, size, NULL, &object, NULL),
                     0);
    return object;
}

static void pods_have_the_size_of_real_ones(void **state)
{
    (void)state;
    bench_template *protobuf = new_template(false, 1);
    bench_template *json = new_template(true, 1);
    assert_in_range(bench_template_size(protobuf), 8400, 8800);
    assert_in_range(bench_template_size(json), 11800, 12600);
    bench_template_free(protobuf);
    bench_template_free(json);
}

/* A mark that was not found again, or found where it is not, makes them differ. */
static void both_encodings_are_the_same_pods(void **state)
{
    (void)state;
    static const uint64_t states[] = {0, 2000, 123456789};
    bench_template *protobuf = new_template(false, 7);
    bench_template *json = new_template(true, 7);
    for (uint64_t i = 0; i < 60; i++) {
        uint64_t number = i * 25;
        uint64_t at = states[i % 3];
        ki_object *object = pod_of(json, true, number, at);
        ki_buf made;
        char bytes[BENCH_POD_MAX];
        ki_buf_init(&made, NULL, BENCH_POD_MAX);
        assert_int_equal(ki_object_write_protobuf(object, &made, NULL), 0);
        bench_template_write(protobuf, number, at, bytes);
        assert_int_equal(made.len, bench_template_size(protobuf));
        assert_memory_equal(made.data, bytes, made.len);
        bench_template_write(json, number, at, bytes);
        assert_null(memchr(bytes, '~', bench_template_size(json)));
        assert_null(memmem(bytes, bench_template_size(json), "2026-10-31", 10));
        ki_buf_done(&made);
        (void)ki_object_unref(object);
    }
    bench_template_free(protobuf);
    bench_template_free(json);
}

static void the_seed_and_the_state_choose_the_pod(void **state)
{
    (void)state;
    bench_template *one = new_template(true, 1);
    bench_template *other = new_template(true, 2);
    ki_object *a = pod_of(one, true, 3, 0);
    ki_object *again = pod_of(one, true, 3, 0);
    ki_object *later = pod_of(one, true, 3, 5000);
    ki_object *b = pod_of(other, true, 3, 0);
    assert_string_equal(ki_object_key(a), ki_object_key(again));
    assert_string_equal(ki_object_key(a), ki_object_key(later));
    assert_string_equal(ki_object_uid(a), ki_object_uid(later));
    assert_string_equal(ki_object_resource_version(a), "1000000003");
    assert_string_equal(ki_object_resource_version(later), "1000005000");
    assert_string_not_equal(ki_object_key(a), ki_object_key(b));
    assert_string_not_equal(ki_object_uid(a), ki_object_uid(b));
    (void)ki_object_unref(a);
    (void)ki_object_unref(again);
    (void)ki_object_unref(later);
    (void)ki_object_unref(b);
    bench_template_free(one);
    bench_template_free(other);
}

/* ---- the source ---- */

typedef struct fixture {
    test_alloc alloc;
    test_world world;
    ki_engine *engine;
    bench_generator *generator;
    ki_informer *informer;
    unsigned added;
    unsigned updated;
} fixture;

static void count_change(const ki_change *change, void *user)
{
    fixture *f = user;
    f->added += change->type == KI_CHANGE_ADDED;
    f->updated += change->type == KI_CHANGE_UPDATED;
}

static void set_up(fixture *f, bool json, bool pages, const char *keep)
{
    memset(f, 0, sizeof(*f));
    test_alloc_init(&f->alloc);
    test_world_init(&f->world);
    ki_engine_options engine = test_world_engine_options(&f->world, &f->alloc.table);
    assert_int_equal(ki_engine_new(&engine, &f->engine, NULL), 0);
    const bench_template_options options = {
        .kind = BENCH_POD_SMALL, .json = json, .seed = 1, .objects = PODS};
    f->generator = bench_generator_new(f->engine, &options);
    ki_source source = bench_generator_source(f->generator);
    source.no_streaming_list = pages;
    assert_int_equal(
        ki_informer_new(KI_OPTIONS(ki_informer_options, .engine = f->engine, .source = &source,
                                   .resource = KI_CORE_V1_PODS, .keep = keep),
                        &f->informer, NULL),
        0);
    assert_int_equal(
        ki_informer_on_change(f->informer, count_change, f,
                              KI_OPTIONS(ki_handler_options, .delivery = KI_DELIVERY_LOOP), NULL),
        0);
    assert_int_equal(ki_informer_start(f->informer, NULL), 0);
    test_world_settle(f->engine);
}

static void tear_down(fixture *f)
{
    ki_informer_stop(f->informer);
    test_world_settle(f->engine);
    f->informer = ki_informer_unref(f->informer);
    test_world_settle(f->engine);
    bench_generator_free(f->generator);
    (void)ki_engine_unref(f->engine);
    test_alloc_done(&f->alloc);
}

static void check_store(const fixture *f)
{
    ki_list *list = NULL;
    assert_int_equal(ki_informer_list(f->informer, "team-000001", NULL, &list, NULL), 0);
    assert_int_equal(ki_list_count(list), BENCH_PODS_IN_NAMESPACE);
    (void)ki_list_unref(list);
    ki_snapshot *snapshot = ki_store_snapshot(ki_informer_store(f->informer));
    assert_int_equal(ki_snapshot_count(snapshot), PODS);
    (void)ki_snapshot_unref(snapshot);
}

static void follow(bool json, bool pages, const char *keep)
{
    static const uint64_t changed[] = {0, 700, PODS - 1, 700};
    fixture f;
    set_up(&f, json, pages, keep);
    assert_true(ki_informer_has_synced(f.informer));
    assert_int_equal(f.added, PODS);
    check_store(&f);
    bench_generator_change(f.generator, changed, 4);
    test_world_settle(f.engine);
    assert_int_equal(f.updated, 0);
    bench_generator_give(f.generator, 1);
    test_world_settle(f.engine);
    assert_int_equal(f.updated, 1);
    bench_generator_give(f.generator, 99); /* as many as there are */
    test_world_settle(f.engine);
    assert_int_equal(f.updated, 4);
    bench_generator_miss(f.generator, 5);
    bench_generator_miss(f.generator, 6);
    test_world_settle(f.engine);
    assert_int_equal(f.updated, 4);
    bench_generator_expire(f.generator);
    test_world_settle(f.engine);
    test_world_advance(&f.world, f.engine, 120 * TEST_SECOND);
    assert_int_equal(bench_generator_lists(f.generator), 2);
    assert_int_equal(f.updated, 6);
    assert_int_equal(f.added, PODS);
    check_store(&f);
    tear_down(&f);
}

static void an_informer_lists_watches_and_lists_again(void **state)
{
    (void)state;
    follow(false, false, NULL);
    follow(true, false, NULL);
    follow(false, true, NULL);
    follow(false, false, ".spec.nodeName,.status.podIP");
}

/* Neither a map of keys nor notifications: handlers get a snapshot. */
static void a_first_list_takes_little_besides_its_objects(void **state)
{
    (void)state;
    fixture f;
    set_up(&f, false, false, NULL);
    assert_int_equal(f.added, PODS);
    assert_true(f.alloc.peak_bytes - f.alloc.live_bytes < PODS * 16);
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pods_have_the_size_of_real_ones),
        cmocka_unit_test(both_encodings_are_the_same_pods),
        cmocka_unit_test(the_seed_and_the_state_choose_the_pod),
        cmocka_unit_test(an_informer_lists_watches_and_lists_again),
        cmocka_unit_test(a_first_list_takes_little_besides_its_objects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
