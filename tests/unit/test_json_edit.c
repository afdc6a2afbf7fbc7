/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "object/edit/json_edit.h"
#include "support/objects.h"
#include "support/test.h"
#include "support/test_json.h"

static void check_set(const char *json, const char *const *path, size_t steps, const char *value,
                      const char *expected)
{
    ki_object *object = test_json(json);
    ki_buf out;
    ki_buf_init(&out, NULL, SIZE_MAX);
    int r = ki__json_set(object, path, steps, ki_str_from(value), &out);
    if (expected == NULL) {
        assert_int_equal(r, KI_ERR_TYPE);
    } else {
        assert_int_equal(r, 0);
        assert_string_equal(ki_buf_text(&out), expected);
    }
    ki_buf_done(&out);
    ki_object_unref(object);
}

static void set_replaces_adds_and_makes_maps_on_the_way(void **state)
{
    (void)state;
    const char *const a[] = {"a"};
    const char *const ab[] = {"a", "b"};
    const char *const abc[] = {"a", "b", "c\"d"};
    check_set("{\"a\" : 1 }", a, 1, "[2]", "{\"a\" : [2] }");
    check_set("{ }", a, 1, "1", "{ \"a\":1}");
    check_set("{\"x\":1}", a, 1, "2", "{\"x\":1,\"a\":2}");
    check_set("{\"a\":{\"b\":{}},\"x\":1}", ab, 2, "null", "{\"a\":{\"b\":null},\"x\":1}");
    check_set("{\"a\":{\"x\":1}}", abc, 3, "2", "{\"a\":{\"x\":1,\"b\":{\"c\\\"d\":2}}}");
    check_set("{\"a\":[]}", ab, 2, "1", NULL);
    check_set("{\"a\":3}", ab, 2, "1", NULL);
}

static void check_remove(const char *json, const char *const *path, size_t steps,
                         const char *expected)
{
    ki_object *object = test_json(json);
    ki_buf out;
    ki_buf_init(&out, NULL, SIZE_MAX);
    assert_int_equal(ki__json_remove(object, path, steps, &out), 0);
    assert_string_equal(ki_buf_text(&out), expected);
    ki_buf_done(&out);
    ki_object_unref(object);
}

static void remove_takes_one_comma_with_it(void **state)
{
    (void)state;
    const char *const a[] = {"a"};
    const char *const mb[] = {"m", "b"};
    check_remove("{\"a\":1}", a, 1, "{}");
    check_remove("{\"a\":1, \"b\":2}", a, 1, "{ \"b\":2}");
    check_remove("{\"b\":2 ,\"a\":{\"a\":1}}", a, 1, "{\"b\":2}");
    check_remove("{\"b\":2,\"a\":1,\"c\":3}", a, 1, "{\"b\":2,\"c\":3}");
    check_remove("{\"m\":{\"a\":1,\"b\":[1,2]}}", mb, 2, "{\"m\":{\"a\":1}}");
    check_remove("{\"m\":{\"a\":1}}", mb, 2, "{\"m\":{\"a\":1}}");
    check_remove("{\"x\":1}", mb, 2, "{\"x\":1}");
    check_remove("{\"\\u0061\":1}", a, 1, "{}");
}

/* ---- merge patch ---- */

static int merged(const char *target, const char *patch, const ki_alloc *alloc, ki_buf *out)
{
    ki_object *left = test_json(target);
    ki_object *right = test_json(patch);
    ki_value a = ki_object_root(left);
    ki_value b = ki_object_root(right);
    int r = ki__json_merge(&a, &b, alloc, out);
    ki_object_unref(left);
    ki_object_unref(right);
    return r;
}

/* The examples of RFC 7386, appendix A, that have maps on both sides, and more. */
static void merge_patch_as_rfc_7386_says(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"{\"a\":\"b\"}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
        {"{\"a\":\"b\"}", "{\"b\":\"c\"}", "{\"a\":\"b\",\"b\":\"c\"}"},
        {"{\"a\":\"b\"}", "{\"a\":null}", "{}"},
        {"{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}", "{\"b\":\"c\"}"},
        {"{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
        {"{\"a\":\"c\"}", "{\"a\":[\"b\"]}", "{\"a\":[\"b\"]}"},
        {"{\"a\":{\"b\":\"c\"}}", "{\"a\":{\"b\":\"d\",\"c\":null}}", "{\"a\":{\"b\":\"d\"}}"},
        {"{\"a\":[{\"b\":\"c\"}]}", "{\"a\":[1]}", "{\"a\":[1]}"},
        {"{\"e\":null}", "{\"a\":1}", "{\"e\":null,\"a\":1}"},
        {"{\"a\":\"foo\"}", "{\"a\":{\"b\":{\"c\":null}}}", "{\"a\":{\"b\":{}}}"},
        {"{}", "{\"a\":{\"bb\":{\"ccc\":null}}}", "{\"a\":{\"bb\":{}}}"},
        {"{\"a\":1}", "{}", "{\"a\":1}"},
        {"{\"\\u0061\":1}", "{\"a\":2,\"x\":{\"y\":[null]}}",
         "{\"\\u0061\":2,\"x\":{\"y\":[null]}}"},
        {"{\"m\":{\"a\":1}}", "{\"m\":{\"b\":{\"k\":1,\"k\":2}}}",
         "{\"m\":{\"a\":1,\"b\":{\"k\":1}}}"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_buf out;
        ki_buf_init(&out, NULL, SIZE_MAX);
        assert_int_equal(merged(cases[i][0], cases[i][1], NULL, &out), 0);
        assert_string_equal(ki_buf_text(&out), cases[i][2]);
        ki_buf_done(&out);
    }
}

static void merge_depth_costs_memory_not_stack(void **state)
{
    (void)state;
    ki_buf patch;
    ki_buf out;
    ki_buf_init(&patch, NULL, SIZE_MAX);
    ki_buf_init(&out, NULL, SIZE_MAX);
    test_add(&patch, "{\"a\":", 127);
    test_add(&patch, "{}", 1);
    test_add(&patch, "}", 127);
    assert_int_equal(merged("{}", patch.data, NULL, &out), 0);
    assert_string_equal(out.data, patch.data);
    ki_buf_done(&patch);
    ki_buf_done(&out);
}

/* ---- comparing ---- */

static bool same(const char *left, const char *right)
{
    ki_object *a = test_json(left);
    ki_object *b = test_json(right);
    ki_value x = ki_object_root(a);
    ki_value y = ki_object_root(b);
    bool result = false;
    bool reverse = false;
    assert_int_equal(ki__json_same(&x, &y, NULL, &result), 0);
    assert_int_equal(ki__json_same(&y, &x, NULL, &reverse), 0);
    assert_int_equal(result, reverse);
    ki_object_unref(a);
    ki_object_unref(b);
    return result;
}

/* A map of `count` members l0, l1, ... with `len` times `letter` as value; names are escaped
 * if `escaped`, and come backwards. */
static void add_large(ki_buf *text, int count, char letter, size_t len, bool escaped)
{
    const char one[] = {letter, '\0'};
    test_add(text, "{\"data\":{", 1);
    for (int i = count - 1; i >= 0; i--) {
        char name[32];
        snprintf(name, sizeof(name), escaped ? "\"\\u006c%d\":" : "\"l%d\":", i);
        test_add(text, name, 1);
        test_add(text, letter != '\0' ? "\"" : "null", 1);
        test_add(text, one, len);
        test_add(text, letter != '\0' ? "\"" : "", 1);
        test_add(text, i != 0 ? "," : "}}", 1);
    }
}

/* Ordinary large ones: all members of a ConfigMap of 1 MB, or thousands of small ones. */
static void large_maps_are_merged_and_compared(void **state)
{
    (void)state;
    static const struct {
        int count;
        size_t len;
    } cases[] = {{50, 20000}, {500, 2000}, {2000, 1}, {3000, 200}, {100000, 10}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_buf text[5];
        for (size_t j = 0; j < 5; j++) {
            ki_buf_init(&text[j], NULL, (size_t)64 << 20);
        }
        int count = cases[i].count;
        add_large(&text[0], count, 'v', cases[i].len, false);
        add_large(&text[1], count, 'w', cases[i].len, true);
        add_large(&text[2], count, '\0', 0, false); /* removes all */
        /* In the order and the spelling of what was there, with the values of the patch. */
        add_large(&text[3], count, 'w', cases[i].len, false);
        assert_int_equal(merged(text[0].data, text[1].data, NULL, &text[4]), 0);
        assert_string_equal(text[4].data, text[3].data);
        ki_buf_clear(&text[4]);
        assert_int_equal(merged(text[0].data, text[2].data, NULL, &text[4]), 0);
        assert_string_equal(text[4].data, "{\"data\":{}}");
        ki_buf_clear(&text[4]);
        assert_int_equal(merged("{}", text[3].data, NULL, &text[4]), 0);
        assert_string_equal(text[4].data, text[3].data);
        assert_true(same(text[1].data, text[3].data));
        assert_false(same(text[0].data, text[3].data));
        for (size_t j = 0; j < 5; j++) {
            ki_buf_done(&text[j]);
        }
    }
}

static void same_is_by_meaning(void **state)
{
    (void)state;
    assert_true(same("{}", " { } "));
    assert_true(same("{\"a\":1,\"b\":[true,null]}", "{\"b\":[true, null],\"\\u0061\":1.0}"));
    assert_true(same("{\"a\":\"x\\u0041\"}", "{\"a\":\"xA\"}"));
    assert_true(same("{\"a\":{\"b\":{\"c\":[[],{}]}}}", "{\"a\":{\"b\":{\"c\":[[],{}]}}}"));
    assert_false(same("{\"a\":1}", "{\"a\":2}"));
    assert_false(same("{\"a\":1}", "{\"b\":1}"));
    assert_false(same("{\"a\":[1,2]}", "{\"a\":[2,1]}"));
    assert_false(same("{\"a\":[1]}", "{\"a\":[1,1]}"));
    assert_false(same("{\"a\":null}", "{}"));
    assert_false(same("{\"a\":\"1\"}", "{\"a\":1}"));
    assert_false(same("{\"a\":true}", "{\"a\":false}"));
}

static void a_random_value_is_the_same_as_itself(void **state)
{
    (void)state;
    uint64_t random = 7;
    for (int i = 0; i < 500; i++) {
        ki_buf text;
        ki_buf_init(&text, NULL, SIZE_MAX);
        test_add(&text, "{\"x\":", 1);
        test_json_random_map(&text, &random, 40);
        test_add(&text, "}", 1);
        ki_object *object = NULL;
        if (ki_object_from_json(text.data, text.len, NULL, &object, NULL) == 0) {
            ki_buf out;
            ki_buf_init(&out, NULL, SIZE_MAX);
            ki_value root = ki_object_root(object);
            ki_value none = {0};
            bool result = false;
            assert_int_equal(ki__json_same(&root, &root, NULL, &result), 0);
            /* What a patch without nulls makes of nothing is the patch. */
            assert_int_equal(ki__json_merge(&none, &root, NULL, &out), 0);
            ki_object_unref(object);
            ki_buf_done(&out);
        }
        ki_buf_done(&text);
    }
}

static int edits(const ki_alloc *alloc, void *user)
{
    (void)user;
    ki_buf out;
    ki_buf_init(&out, alloc, SIZE_MAX);
    int r = merged("{\"a\":{\"\\u0062\":{\"c\":1}},\"d\":1}",
                   "{\"a\":{\"\\u0062\":{\"c\":2,\"x\":{}}},\"e\":{\"f\":{}}}", alloc, &out);
    if (r == 0) {
        assert_string_equal(out.data, "{\"a\":{\"\\u0062\":{\"c\":2,\"x\":{}}},\"d\":1,"
                                      "\"e\":{\"f\":{}}}");
        ki_object *object = test_json("{\"a\":{\"b\\n\":[1,{\"x\":\"\\n\"}]}}");
        ki_value root = ki_object_root(object);
        bool result = false;
        r = ki__json_same(&root, &root, alloc, &result);
        assert_true(r < 0 || result);
        ki_object_unref(object);
    }
    ki_buf_done(&out);
    return r;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    test_alloc_sweep(edits, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(set_replaces_adds_and_makes_maps_on_the_way),
        cmocka_unit_test(remove_takes_one_comma_with_it),
        cmocka_unit_test(merge_patch_as_rfc_7386_says),
        cmocka_unit_test(merge_depth_costs_memory_not_stack),
        cmocka_unit_test(large_maps_are_merged_and_compared),
        cmocka_unit_test(same_is_by_meaning),
        cmocka_unit_test(a_random_value_is_the_same_as_itself),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
