/* SPDX-License-Identifier: Apache-2.0 */
/* The objects of the demo: that they are what they are in every encoding, and no two are one. */
#include <stdlib.h>

#include <kinformer/encoding.h>
#include <kinformer/object.h>

#include "cli/demo/demo_world.h"
#include "cli/diff.h"
#include "cli/text.h"
#include "support/test.h"

static void complain(const ki_diff_change *change, void *user)
{
    (void)user;
    print_error("differs: %s\n", change->path);
    fail();
}

/* The comparison is between protobuf in caches and JSON of the server. */
static void check_both_encodings(const ki_buf *json)
{
    ki_object *object = NULL;
    ki_object *copy = NULL;
    ki_buf bytes;
    ki_error error = KI_ERROR_INIT;
    cli_text_init(&bytes);
    assert_int_equal(ki_object_from_json(json->data, json->len, NULL, &object, &error), 0);
    assert_int_equal(ki_object_write_protobuf(object, &bytes, &error), 0);
    assert_int_equal(ki_object_from_protobuf(bytes.data, bytes.len, NULL, &copy, &error), 0);
    assert_true(cli_diff(object, copy, complain, NULL));
    (void)ki_object_unref(object);
    (void)ki_object_unref(copy);
    ki_buf_done(&bytes);
}

static void objects_are_the_same_in_both_encodings(void **state)
{
    (void)state;
    demo_world world;
    ki_buf json;
    cli_text_init(&json);
    demo_world_init(&world, 500, 7, 1700000000);
    demo_world_put_namespace(&world, 3, &json);
    check_both_encodings(&json);
    demo_world_put_node(&world, 3, &json);
    check_both_encodings(&json);
    demo_world_put_deployment(&world, 3, &json);
    check_both_encodings(&json);
    demo_world_put_map(&world, &world.maps[3], &json);
    check_both_encodings(&json);
    world.pods[3].ready = false;
    world.pods[3].restarts = 5;
    demo_world_put_pod(&world, &world.pods[3], &json);
    check_both_encodings(&json);
    demo_world_done(&world);
    ki_buf_done(&json);
}

static void a_world_is_as_large_as_it_should_be(void **state)
{
    (void)state;
    for (size_t objects = DEMO_OBJECTS_MIN; objects <= 100000; objects *= 10) {
        demo_world world;
        demo_world_init(&world, objects, 1, 0);
        size_t count = DEMO_NAMESPACES * 2 + world.node_count + world.deployment_count +
                       world.map_count + world.pod_count;
        assert_int_equal(count, objects);
        assert_true(world.pod_count > objects / 4);
        demo_world_done(&world);
    }
}

static int compare_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void no_two_pods_have_one_name(void **state)
{
    (void)state;
    enum { MANY = 50000 };
    char(*names)[DEMO_NAME_MAX] = calloc(MANY, DEMO_NAME_MAX);
    assert_non_null(names);
    for (size_t i = 0; i < MANY; i++) { /* all of one deployment, which is the hard case */
        demo_pod pod = {.number = i + 1};
        demo_world_name_pod(&pod, names[i]);
    }
    qsort(names, MANY, DEMO_NAME_MAX, compare_text);
    for (size_t i = 1; i < MANY; i++) {
        assert_string_not_equal(names[i - 1], names[i]);
    }
    free(names);
}

static void the_same_seed_gives_the_same_world(void **state)
{
    (void)state;
    demo_world a;
    demo_world b;
    demo_world_init(&a, 1000, 5, 0);
    demo_world_init(&b, 1000, 5, 0);
    assert_int_equal(a.pod_count, b.pod_count);
    assert_memory_equal(a.pods, b.pods, a.pod_count * sizeof(*a.pods));
    demo_world_done(&b);
    demo_world_init(&b, 1000, 6, 0);
    assert_memory_not_equal(a.pods, b.pods, a.pod_count * sizeof(*a.pods));
    demo_world_done(&a);
    demo_world_done(&b);
}

static void pods_never_run_out_and_never_pile_up(void **state)
{
    (void)state;
    demo_world world;
    demo_world_init(&world, DEMO_OBJECTS_MIN, 1, 0);
    for (int i = 0; i < 200000; i++) {
        if (demo_world_needs_pod(&world)) {
            (void)demo_world_add_pod(&world);
        } else {
            demo_world_drop_pod(&world, demo_world_random(&world, world.pod_count));
        }
        assert_in_range(world.pod_count, world.first_pods / 2, 2 * world.first_pods);
    }
    demo_world_done(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_are_the_same_in_both_encodings),
        cmocka_unit_test(a_world_is_as_large_as_it_should_be),
        cmocka_unit_test(no_two_pods_have_one_name),
        cmocka_unit_test(the_same_seed_gives_the_same_world),
        cmocka_unit_test(pods_never_run_out_and_never_pile_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
