/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include <kinformer/object.h>

#include "support/test.h"

static const char pod[] =
    "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"web-0\","
    "\"namespace\":\"shop\",\"uid\":\"0f3c\",\"resourceVersion\":\"12345\",\"generation\":7,"
    "\"creationTimestamp\":\"2024-02-29T12:30:00Z\",\"deletionTimestamp\":null,"
    "\"labels\":{\"app\":\"web\",\"n\":1},\"annotations\":{\"note\":\"a\\nb\"},"
    "\"ownerReferences\":[{\"kind\":\"Node\",\"name\":\"x\"},{\"apiVersion\":\"apps/v1\","
    "\"kind\":\"ReplicaSet\",\"name\":\"web\",\"uid\":\"77\",\"controller\":true}],"
    "\"finalizers\":[\"a/b\"]},\"spec\":{\"nodeName\":\"n1\"},\"status\":{\"phase\":\"Running\"}}";

static ki_object *make(const char *json)
{
    ki_object *object = NULL;
    ki_error error = KI_ERROR_INIT;
    if (ki_object_from_json(json, strlen(json), NULL, &object, &error) < 0) {
        fail_msg("refused: %s (at %zu)", error.message, error.offset);
    }
    return object;
}

static void accessors_give_the_metadata(void **state)
{
    (void)state;
    ki_object *object = make(pod);
    assert_string_equal(ki_object_key(object), "shop/web-0");
    assert_string_equal(ki_object_name(object), "web-0");
    assert_string_equal(ki_object_namespace(object), "shop");
    assert_string_equal(ki_object_uid(object), "0f3c");
    assert_string_equal(ki_object_resource_version(object), "12345");
    assert_string_equal(ki_object_kind(object), "Pod");
    assert_string_equal(ki_object_api_version(object), "v1");
    assert_int_equal(ki_object_generation(object), 7);
    assert_int_equal(ki_object_creation_time(object), 1709209800);
    assert_int_equal(ki_object_deletion_time(object), 0);
    assert_false(ki_object_is_deleting(object));
    ki_value value;
    assert_int_equal(ki_object_label(object, ki_str_from("app"), &value), 0);
    assert_true(ki_value_equals(&value, ki_str_from("web")));
    assert_int_equal(ki_object_label(object, ki_str_from("n"), &value), KI_ERR_TYPE);
    assert_int_equal(ki_object_label(object, ki_str_from("x"), &value), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_object_annotation(object, ki_str_from("note"), &value), 0);
    assert_true(ki_value_equals(&value, ki_str_from("a\nb")));
    ki_owner owner;
    assert_int_equal(ki_object_controller(object, &owner), 0);
    assert_str(owner.name, "web");
    assert_str(owner.api_version, "apps/v1");
    assert_str(owner.kind, "ReplicaSet");
    assert_str(owner.uid, "77");
    value = ki_object_finalizers(object);
    assert_int_equal(ki_value_type(&value), KI_TYPE_LIST);
    assert_str(ki_object_bytes(object), pod);
    ki_object_unref(object);
}

static void what_is_absent_is_empty(void **state)
{
    (void)state;
    static const char *const texts[] = {"{}", " {\"metadata\":null} ",
                                        "{\"metadata\":{\"name\":null,\"labels\":null}}"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        ki_object *object = make(texts[i]);
        assert_string_equal(ki_object_key(object), "");
        assert_string_equal(ki_object_name(object), "");
        assert_string_equal(ki_object_uid(object), "");
        assert_string_equal(ki_object_kind(object), "");
        ki_value labels = ki_object_labels(object);
        assert_int_equal(ki_value_type(&labels), KI_TYPE_NONE);
        ki_owner owner;
        assert_int_equal(ki_object_controller(object, &owner), KI_ERR_NOT_FOUND);
        assert_int_equal(ki_object_generation(object), 0);
        ki_object_unref(object);
    }
}

static void values_are_read_in_place(void **state)
{
    (void)state;
    ki_object *object = make(pod);
    ki_value root = ki_object_root(object);
    ki_value spec;
    ki_value node;
    ki_str text;
    assert_int_equal(ki_value_member(&root, ki_str_from("spec"), &spec), 0);
    assert_int_equal(ki_value_member(&spec, ki_str_from("nodeName"), &node), 0);
    assert_int_equal(ki_value_string(&node, &text), 0);
    assert_str(text, "n1");
    size_t count;
    assert_int_equal(ki_value_count(&root, &count), 0);
    assert_int_equal(count, 5);
    ki_object_unref(object);
}

static int scenario_make(const ki_alloc *alloc, void *user)
{
    (void)user;
    ki_object *object = NULL;
    int r = ki_object_from_json(pod, strlen(pod), KI_OPTIONS(ki_object_options, .alloc = alloc),
                                &object, NULL);
    if (r < 0) {
        assert_null(object);
        return r;
    }
    ki_object_unref(ki_object_ref(object));
    ki_object_unref(object);
    return 0;
}

static void making_survives_failing_allocations(void **state)
{
    (void)state;
    test_alloc_sweep(scenario_make, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accessors_give_the_metadata),
        cmocka_unit_test(what_is_absent_is_empty),
        cmocka_unit_test(values_are_read_in_place),
        cmocka_unit_test(making_survives_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
