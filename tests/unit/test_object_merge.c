/* SPDX-License-Identifier: Apache-2.0 */
/* ki_object_merge(): patches of all three types, on objects of both encodings. Text is written with
 * ' for ". What the patches themselves do is tested with the functions in src/object/edit. */
#include <errno.h>
#include <string.h>

#include <kinformer/encoding.h>
#include <kinformer/merge.h>

#include "support/golden.h"
#include "support/objects.h"
#include "support/same_value.h"
#include "support/test.h"

#define POD                                                                          \
    "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'a','resourceVersion':'5'}," \
    "'spec':{'containers':[{'name':'x','image':'1'},{'name':'y','image':'2'}]}}"
#define WITH(containers)                                                             \
    "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'a','resourceVersion':'5'}," \
    "'spec':{'containers':[" containers "]}}"

static size_t quote(const char *text, char *out, size_t size)
{
    size_t len = strlen(text);
    assert_true(len < size);
    for (size_t i = 0; i <= len; i++) {
        out[i] = (char)(text[i] == '\'' ? '"' : text[i]);
    }
    return len;
}

static int merge(const ki_object *object, ki_patch_type type, const char *patch,
                 const ki_alloc *alloc, ki_object **ret_object, ki_error *error)
{
    char text[2048];
    size_t len = quote(patch, text, sizeof(text));
    const ki_object_options options = {.size = sizeof(options), .alloc = alloc};
    return ki_object_merge(object, type, ki_str_make(text, len), &options, ret_object, error);
}

static void check(const char *target, ki_patch_type type, const char *patch, const char *expected)
{
    char wanted[2048];
    ki_error error = KI_ERROR_INIT;
    ki_object *object = test_object(NULL, target);
    ki_object *merged = NULL;
    quote(expected, wanted, sizeof(wanted));
    if (merge(object, type, patch, NULL, &merged, &error) < 0) {
        fail_msg("%s: %s", patch, error.message);
    }
    assert_str(ki_object_bytes(merged), wanted);
    ki_object_unref(object);
    ki_object_unref(merged);
}

static void check_error(const char *target, ki_patch_type type, const char *patch, int code,
                        const char *message)
{
    ki_error error = KI_ERROR_INIT;
    ki_object *object = test_object(NULL, target);
    ki_object *merged = NULL;
    char wanted[512];
    quote(message, wanted, sizeof(wanted));
    assert_int_equal(merge(object, type, patch, NULL, &merged, &error), code);
    assert_string_equal(error.message, wanted);
    assert_int_equal(error.code, code);
    assert_null(merged);
    ki_object_unref(object);
}

static void patches_make_new_objects(void **state)
{
    (void)state;
    check(POD, KI_PATCH_MERGE, "{'spec':{'containers':[]}}", WITH(""));
    check(POD, KI_PATCH_STRATEGIC, "{'spec':{'containers':[{'name':'y','image':'3'}]}}",
          WITH("{'name':'x','image':'1'},{'name':'y','image':'3'}"));
    check(POD, KI_PATCH_JSON,
          "[{'op':'test','path':'/metadata/resourceVersion','value':'5'},"
          "{'op':'remove','path':'/spec/containers/0'}]",
          WITH("{'name':'y','image':'2'}"));
    check("{'kind':'Pod','a':1}", KI_PATCH_MERGE, "{'kind':null}", "{'a':1}");
    check("{}", KI_PATCH_MERGE, " { 'metadata' : {'name':'b'} } ", "{'metadata':{'name':'b'}}");
}

/* Kubernetes allows 317 bytes for the key of a label. */
static void names_may_be_long(void **state)
{
    (void)state;
    ki_buf patch;
    ki_object *object = test_object(NULL, POD);
    ki_object *merged = NULL;
    ki_buf_init(&patch, NULL, 4096);
    test_add(&patch, "{\"metadata\":{\"labels\":{\"", 1);
    test_add(&patch, "k", 317);
    test_add(&patch, "\":\"v\"}}}", 1);
    assert_int_equal(
        ki_object_merge(object, KI_PATCH_STRATEGIC, ki_buf_str(&patch), NULL, &merged, NULL), 0);
    ki_object_unref(object);
    ki_object_unref(merged);
    ki_buf_done(&patch);
}

static void accessors_show_the_result(void **state)
{
    (void)state;
    ki_object *object = test_object(NULL, POD);
    ki_object *merged = NULL;
    assert_int_equal(merge(object, KI_PATCH_MERGE, "{'metadata':{'name':'b','namespace':'c'}}",
                           NULL, &merged, NULL),
                     0);
    assert_string_equal(ki_object_key(merged), "c/b");
    assert_string_equal(ki_object_key(object), "a");
    ki_object_unref(object);
    ki_object_unref(merged);
}

static void values_are_patches_too(void **state)
{
    (void)state;
    ki_object *object = test_object(NULL, POD);
    ki_object *patch = test_object(NULL, "{'metadata':{'labels':{'a':'b'}}}");
    ki_object *merged = NULL;
    ki_value root = ki_object_root(patch);
    ki_value none = {0};
    assert_int_equal(ki_object_merge_value(object, KI_PATCH_MERGE, &root, NULL, &merged, NULL), 0);
    assert_true(ki_object_label_is(merged, "a", "b"));
    ki_object_unref(merged);
    assert_int_equal(ki_object_merge_value(object, KI_PATCH_MERGE, &none, NULL, &merged, NULL),
                     KI_ERR_TYPE);
    ki_object_unref(object);
    ki_object_unref(patch);
}

static void errors_name_the_operation_or_the_path(void **state)
{
    (void)state;
    const char *missing = "JSON patch: operation 2, remove '/spec/x': nothing to remove";
    check_error(POD, KI_PATCH_JSON,
                "[{'op':'add','path':'/spec/a','value':1},"
                "{'op':'remove','path':'/spec/x'}]",
                KI_ERR_INVALID, missing);
    check_error(POD, KI_PATCH_JSON,
                "[{'op':'test','path':'/metadata/resourceVersion','value':'4'}]", KI_ERR_INVALID,
                "JSON patch: operation 1, test '/metadata/resourceVersion': test failed");
    check_error(POD, KI_PATCH_JSON, "[{}]", KI_ERR_INVALID,
                "JSON patch: operation 1: 'op' is missing");
    check_error(POD, KI_PATCH_JSON, "{}", KI_ERR_INVALID, "JSON patch: must be a list, found map");
    check_error(POD, KI_PATCH_MERGE, "[]", KI_ERR_INVALID,
                "merge patch: must be a map, found list");
    check_error(POD, KI_PATCH_STRATEGIC, "{'spec':{'containers':[{'name':'y'},{'image':'3'}]}}",
                KI_ERR_INVALID,
                "strategic merge patch: spec.containers[1]: element without its merge key name");
    check_error(POD, KI_PATCH_STRATEGIC, "{'spec':{'$patch':'burn'}}", KI_ERR_INVALID,
                "strategic merge patch: spec.$patch: unknown directive");
    check_error(POD, KI_PATCH_MERGE, "{'metadata':{'name':7}}", KI_ERR_INVALID,
                "patched object: metadata.name must be a string, not a number");
    check_error("{'apiVersion':'example.com/v1','kind':'Website'}", KI_PATCH_STRATEGIC, "{}",
                KI_ERR_NO_SCHEMA,
                "strategic merge patch: example.com/v1 Website is not a built-in kind");
}

static void malformed_patches_have_a_place(void **state)
{
    (void)state;
    ki_object *object = test_object(NULL, POD);
    ki_object *merged = NULL;
    ki_error error = KI_ERROR_INIT;
    assert_int_equal(merge(object, KI_PATCH_MERGE, "{'a':\n x}", NULL, &merged, &error),
                     KI_ERR_SYNTAX);
    assert_int_equal(error.line, 2);
    assert_int_equal(error.column, 2);
    assert_memory_equal(error.message, "merge patch: ", 13);
    assert_int_equal(
        ki_object_merge(object, KI_PATCH_MERGE, ki_str_make(NULL, 0), NULL, &merged, NULL),
        KI_ERR_SYNTAX);
    assert_int_equal(ki_object_merge(object, KI_PATCH_MAX, ki_str_from("{}"), NULL, &merged, NULL),
                     -EINVAL);
    ki_object_unref(object);
}

static void limits_hold(void **state)
{
    (void)state;
    ki_object *object = test_object(NULL, POD);
    ki_object *merged = NULL;
    ki_object_options options = {.size = sizeof(options), .max_bytes = 64};
    assert_int_equal(
        ki_object_merge(object, KI_PATCH_MERGE, ki_str_from("{}"), &options, &merged, NULL),
        KI_ERR_LIMIT);
    options = (ki_object_options){.size = sizeof(options), .max_depth = 3};
    assert_int_equal(ki_object_merge(object, KI_PATCH_MERGE, ki_str_from("{\"a\":[[[]]]}"),
                                     &options, &merged, NULL),
                     KI_ERR_DEPTH);
    ki_object_unref(object);
}

/* ---- both encodings ---- */

static const char annotate[] = "{\"metadata\":{\"annotations\":{\"example.com/merged\":\"yes\"}}}";

static ki_object *annotated(const ki_object *object, ki_patch_type type)
{
    ki_object *merged = NULL;
    ki_error error = KI_ERROR_INIT;
    int r = ki_object_merge(object, type, ki_str_from(annotate), NULL, &merged, &error);
    if (r < 0) {
        fail_msg("%s: %s", ki_object_kind(object), error.message);
    }
    assert_true(ki_object_has_annotation(merged, "example.com/merged"));
    assert_int_equal(ki_object_encoding(merged), KI_ENCODING_JSON);
    return merged;
}

static void check_record(const golden_record *record, void *user)
{
    (void)user;
    ki_object *objects[2] = {NULL, NULL};
    assert_int_equal(ki_object_from_protobuf(record->protobuf.ptr, record->protobuf.len, NULL,
                                             &objects[0], NULL),
                     0);
    assert_int_equal(
        ki_object_from_json(record->json.ptr, record->json.len, NULL, &objects[1], NULL), 0);
    for (ki_patch_type type = KI_PATCH_MERGE; type <= KI_PATCH_STRATEGIC; type++) {
        ki_object *from_protobuf = annotated(objects[0], type);
        ki_object *from_json = annotated(objects[1], type);
        ki_value left = ki_object_root(from_protobuf);
        ki_value right = ki_object_root(from_json);
        assert_true(same_value(&left, &right, NULL));
        ki_object_unref(from_protobuf);
        ki_object_unref(from_json);
    }
    ki_object_unref(objects[0]);
    ki_object_unref(objects[1]);
}

static void both_encodings_give_the_same(void **state)
{
    (void)state;
    assert_true(golden_each(TEST_DATA_DIR "/protobuf", check_record, NULL) > 2000);
}

static void unknown_fields_are_not_lost(void **state)
{
    (void)state;
    static const char bytes[] = "\x0a\x03\x0a\x01m\xa2\x1f\x01x"; /* field 500 is unknown */
    const ki_object_options options = {
        .size = sizeof(options), .default_kind = "ConfigMap", .default_api_version = "v1"};
    ki_object *object = NULL;
    ki_object *merged = NULL;
    assert_int_equal(ki_object_from_protobuf(bytes, sizeof(bytes) - 1, &options, &object, NULL), 0);
    assert_false(ki_object_is_complete(object));
    assert_int_equal(
        ki_object_merge(object, KI_PATCH_MERGE, ki_str_from("{}"), NULL, &merged, NULL),
        KI_ERR_NO_SCHEMA);
    ki_object_unref(object);
}

/* ---- memory ---- */

static int scenario(const ki_alloc *alloc, void *user)
{
    static const struct {
        ki_patch_type type;
        const char *patch;
    } cases[] = {
        {KI_PATCH_MERGE, "{'data':{'a':null,'b':'2'}}"},
        {KI_PATCH_STRATEGIC, "{'metadata':{'finalizers':['x']}}"},
        {KI_PATCH_JSON, "[{'op':'add','path':'/data/c','value':'3'}]"},
    };
    const ki_object *object = user;
    int r = 0;
    for (size_t i = 0; i < 3 && r == 0; i++) {
        ki_object *merged = NULL;
        ki_error error = KI_ERROR_INIT;
        r = merge(object, cases[i].type, cases[i].patch, alloc, &merged, &error);
        assert_true((r == 0) == (merged != NULL) && error.code == r);
        ki_object_unref(merged);
    }
    return r;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    ki_buf bytes;
    ki_object *json = test_object(NULL, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':"
                                        "'m'},'data':{'a':'1'}}");
    ki_object *protobuf = NULL;
    ki_buf_init(&bytes, NULL, 4096);
    assert_int_equal(ki_object_write_protobuf(json, &bytes, NULL), 0);
    assert_int_equal(ki_object_from_protobuf(bytes.data, bytes.len, NULL, &protobuf, NULL), 0);
    test_alloc_sweep(scenario, json);
    test_alloc_sweep(scenario, protobuf);
    ki_object_unref(json);
    ki_object_unref(protobuf);
    ki_buf_done(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patches_make_new_objects),
        cmocka_unit_test(names_may_be_long),
        cmocka_unit_test(accessors_show_the_result),
        cmocka_unit_test(values_are_patches_too),
        cmocka_unit_test(errors_name_the_operation_or_the_path),
        cmocka_unit_test(malformed_patches_have_a_place),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(both_encodings_give_the_same),
        cmocka_unit_test(unknown_fields_are_not_lost),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
