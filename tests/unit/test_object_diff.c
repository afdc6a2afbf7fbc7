/* SPDX-License-Identifier: Apache-2.0 */
/* Differences between objects, as changes and as merge patches. Text is written with ' for ". The
 * order of changes and the matching of elements is tested with the command (test_cli_diff.c). */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <kinformer/diff.h>
#include <kinformer/encoding.h>
#include <kinformer/merge.h>
#include <kinformer/path.h>

#include "object/edit/json_edit.h"
#include "support/golden.h"
#include "support/objects.h"
#include "support/random_json.h"
#include "support/same_value.h"
#include "support/test.h"

static bool same(const ki_object *a, const ki_object *b)
{
    ki_value left = ki_object_root(a);
    ki_value right = ki_object_root(b);
    return same_value(&left, &right, NULL);
}

static ki_diff *diff(const ki_object *before, const ki_object *after)
{
    ki_diff *made = NULL;
    assert_int_equal(ki_object_diff(before, after, NULL, &made, NULL), 0);
    return made;
}

static void changes_have_type_path_and_values(void **state)
{
    (void)state;
    ki_object *before = test_object(NULL, "{'metadata':{'labels':{'a.b/c':'1','d':'2'}}}");
    ki_object *after = test_object(NULL, "{'metadata':{'labels':{'a.b/c':'3','e':'4'}}}");
    ki_diff *d = diff(before, after);
    assert_int_equal(ki_diff_count(d), 3);
    assert_true(ki_diff_is_complete(d));
    const ki_diff_change *c = ki_diff_at(d, 0);
    assert_int_equal(c->type, KI_DIFF_CHANGED);
    assert_string_equal(c->path, "metadata.labels['a.b/c']");
    assert_true(ki_value_equals(&c->before, ki_str_from("1")));
    assert_true(ki_value_equals(&c->after, ki_str_from("3")));
    c = ki_diff_at(d, 1);
    assert_int_equal(c->type, KI_DIFF_ADDED);
    assert_string_equal(c->path, "metadata.labels.e");
    assert_int_equal(ki_value_type(&c->before), KI_TYPE_NONE);
    c = ki_diff_at(d, 2);
    assert_int_equal(c->type, KI_DIFF_REMOVED);
    assert_string_equal(c->path, "metadata.labels.d");
    assert_int_equal(ki_value_type(&c->after), KI_TYPE_NONE);
    assert_null(ki_diff_at(d, 3));
    ki_object_unref(before); /* the diff keeps both */
    ki_object_unref(after);
    assert_true(ki_value_equals(&c->before, ki_str_from("2")));
    assert_null(ki_diff_unref(d));
    assert_null(ki_diff_unref(NULL));
    assert_int_equal(ki_diff_count(NULL), 0);
    assert_false(ki_diff_is_complete(NULL));
}

/* Two elements with one name: nothing is overlooked. */
static void a_key_must_be_unique(void **state)
{
    (void)state;
    ki_object *before = test_object(
        NULL, "{'ports':[{'name':'dns','type':'t','n':1},{'name':'dns','type':'u','n':2}]}");
    ki_object *after = test_object(
        NULL, "{'ports':[{'name':'dns','type':'t','n':1},{'name':'dns','type':'u','n':3}]}");
    ki_diff *d = diff(before, after);
    assert_int_equal(ki_diff_count(d), 1);
    assert_string_equal(ki_diff_at(d, 0)->path, "ports[type=u].n");
    ki_diff_unref(d);
    ki_object_unref(before);
    ki_object_unref(after);
    before = test_object(NULL, "{'l':[{'name':'a b'},{'name':'a b','x':1}]}");
    after = test_object(NULL, "{'l':[{'name':'a b'},{'name':'a b','x':2}]}");
    d = diff(before, after);
    assert_int_equal(ki_diff_count(d), 1);
    assert_string_equal(ki_diff_at(d, 0)->path, "l[1].x");
    ki_diff_unref(d);
    ki_object_unref(before);
    ki_object_unref(after);
    before = test_object(NULL, "{'l':[{'name':'a b'}]}");
    after = test_object(NULL, "{'l':[{'name':'a b','x':2}]}");
    d = diff(before, after);
    assert_string_equal(ki_diff_at(d, 0)->path, "l[name='a b'].x");
    ki_diff_unref(d);
    ki_object_unref(before);
    ki_object_unref(after);
}

static void options_are_checked(void **state)
{
    (void)state;
    ki_object *before = test_object(NULL, "{'a':{'b':1,'c':1}}");
    ki_object *after = test_object(NULL, "{'a':{'b':2,'c':2}}");
    ki_diff *d = NULL;
    const char *const skip[] = {"a.b"};
    ki_diff_options options = {.size = sizeof(options), .max_changes = 1};
    assert_int_equal(ki_object_diff(before, after, &options, &d, NULL), 0);
    assert_int_equal(ki_diff_count(d), 1);
    assert_false(ki_diff_is_complete(d));
    ki_diff_unref(d);
    options = (ki_diff_options){.size = sizeof(options), .max_depth = 1};
    assert_int_equal(ki_object_diff(before, after, &options, &d, NULL), 0);
    assert_string_equal(ki_diff_at(d, 0)->path, "a");
    ki_diff_unref(d);
    options = (ki_diff_options){.size = sizeof(options), .skip = skip, .skip_count = 1};
    assert_int_equal(ki_object_diff(before, after, &options, &d, NULL), 0);
    assert_int_equal(ki_diff_count(d), 1);
    assert_string_equal(ki_diff_at(d, 0)->path, "a.c");
    ki_diff_unref(d);
    options = (ki_diff_options){.size = sizeof(options), .skip_count = 1};
    assert_int_equal(ki_object_diff(before, after, &options, &d, NULL), -EINVAL);
    options = (ki_diff_options){.size = sizeof(options), .max_changes = 1000001};
    assert_int_equal(ki_object_diff(before, after, &options, &d, NULL), -EINVAL);
    options = (ki_diff_options){.size = sizeof(options), .max_depth = 1025};
    assert_int_equal(ki_object_diff(before, after, &options, &d, NULL), -EINVAL);
    ki_object_unref(before);
    ki_object_unref(after);
}

/* ---- merge patches ---- */

static void check_patch(const char *from, const char *to, const char *expected)
{
    ki_object *before = test_object(NULL, from);
    ki_object *after = test_object(NULL, to);
    ki_buf out;
    ki_buf_init(&out, NULL, 4096);
    test_add(&out, "x", 1);
    int r = ki_object_merge_patch(before, after, &out, NULL);
    for (size_t i = 0; i < out.len; i++) {
        out.data[i] = (char)(out.data[i] == '"' ? '\'' : out.data[i]);
    }
    assert_string_equal(out.data + 1, expected);
    assert_int_equal(r, strcmp(expected, "{}") != 0);
    ki_object_unref(before);
    ki_object_unref(after);
    ki_buf_done(&out);
}

static void a_patch_has_what_differs_alone(void **state)
{
    (void)state;
    check_patch("{'a':1,'b':{'c':2,'d':3}}", "{'b':{'c':2,'d':4},'a':1}", "{'b':{'d':4}}");
    check_patch("{'a':{'b':{'c':1}},'x':1}", "{'a':{'b':{'c':1}},'x':2}", "{'x':2}");
    check_patch("{'a':1,'b':2}", "{'a':1.0}", "{'b':null}");
    check_patch("{'a':[1,2]}", "{'a':[1,2,3]}", "{'a':[1,2,3]}");
    check_patch("{'a':[{'b':1}]}", "{'a':[{'b':1}]}", "{}");
    check_patch("{'a':1}", "{'a':{'b':{}}}", "{'a':{'b':{}}}");
    check_patch("{'a':{'b':1}}", "{'a':{}}", "{'a':{'b':null}}");
    check_patch("{'a':{'b':1}}", "{'a':'x'}", "{'a':'x'}");
    check_patch("{}", "{}", "{}");
    check_patch("{'a':null}", "{}", "{}");
    check_patch("{}", "{'a':null}", "{}");
    check_patch("{'a':1}", "{'a':null}", "{'a':null}");
    check_patch("{'a':null}", "{'a':{}}", "{'a':{}}");
}

/* Applies the patch between two objects to the first. */
static ki_object *follow(const ki_object *before, const ki_object *after)
{
    ki_buf patch;
    ki_object *made = NULL;
    ki_error error = KI_ERROR_INIT;
    ki_buf_init(&patch, NULL, 1 << 24);
    int r = ki_object_merge_patch(before, after, &patch, &error);
    r = r < 0 ? r
              : ki_object_merge(before, KI_PATCH_MERGE, ki_buf_str(&patch), NULL, &made, &error);
    if (r < 0) {
        fail_msg("%s: %s", error.message, ki_buf_text(&patch));
    }
    ki_buf_done(&patch);
    return made;
}

/* Each value of a change must be where its path leads. */
static void check_paths(const ki_object *before, const ki_object *after, const ki_diff *d)
{
    for (size_t i = 0; i < ki_diff_count(d); i++) {
        const ki_diff_change *c = ki_diff_at(d, i);
        const ki_object *sides[2] = {before, after};
        const ki_value *values[2] = {&c->before, &c->after};
        ki_path *path = NULL;
        ki_error error = KI_ERROR_INIT;
        if (ki_path_compile(c->path, NULL, &path, &error) < 0) {
            fail_msg("%s: %s", c->path, error.message);
        }
        for (size_t side = 0; side < 2; side++) {
            ki_value value = {0};
            int r = ki_object_get(sides[side], path, &value);
            bool absent = ki_value_type(values[side]) == KI_TYPE_NONE;
            assert_int_equal(r, absent ? KI_ERR_NOT_FOUND : 0);
            assert_ptr_equal(value.bytes, values[side]->bytes);
        }
        ki_path_unref(path);
    }
}

static void patches_lead_from_any_state_to_any_other(void **state)
{
    (void)state;
    size_t different = 0;
    for (uint64_t seed = 1; seed <= 1500; seed++) {
        bool nulls = seed % 4 == 0;
        ki_object *before = random_json_object(seed, 0, nulls);
        ki_object *after = random_json_object(seed, seed % 10 != 0 ? seed * 31 : 0, nulls);
        ki_object *made = follow(before, after);
        ki_diff *d = diff(before, after);
        check_paths(before, after, d);
        bool equal = same(before, after);
        if (equal) {
            assert_int_equal(ki_diff_count(d), 0);
        }
        different += ki_diff_count(d) != 0;
        if (!nulls) {
            assert_true(same(made, after));
        }
        ki_buf rest; /* but for nulls, nothing is left to do */
        ki_buf_init(&rest, NULL, 1 << 24);
        assert_int_equal(ki_object_merge_patch(made, after, &rest, NULL), 0);
        ki_buf_done(&rest);
        ki_diff_unref(d);
        ki_object_unref(before);
        ki_object_unref(after);
        ki_object_unref(made);
    }
    assert_true(different > 500);
}

/* ---- both encodings ---- */

static void check_record(const golden_record *record, void *user)
{
    ki_object **previous = user; /* of the same kind, if its kind is */
    ki_object *protobuf = NULL;
    ki_object *json = NULL;
    ki_buf patch;
    ki_buf_init(&patch, NULL, 1 << 24);
    assert_int_equal(
        ki_object_from_protobuf(record->protobuf.ptr, record->protobuf.len, NULL, &protobuf, NULL),
        0);
    assert_int_equal(ki_object_from_json(record->json.ptr, record->json.len, NULL, &json, NULL), 0);
    ki_diff *d = diff(protobuf, json);
    if (ki_diff_count(d) != 0) {
        fail_msg("%s: %s", ki_object_kind(json), ki_diff_at(d, 0)->path);
    }
    ki_diff_unref(d);
    assert_int_equal(ki_object_merge_patch(json, protobuf, &patch, NULL), 0);
    if (*previous != NULL) {
        ki_object *made = follow(*previous, protobuf);
        ki_buf_clear(&patch);
        assert_int_equal(ki_object_merge_patch(made, json, &patch, NULL), 0);
        ki_object_unref(made);
    }
    ki_object_unref(*previous);
    *previous = protobuf;
    ki_object_unref(json);
    ki_buf_done(&patch);
}

static void encodings_do_not_matter(void **state)
{
    (void)state;
    ki_object *previous = NULL;
    assert_true(golden_each(TEST_DATA_DIR "/protobuf", check_record, &previous) > 2000);
    ki_object_unref(previous);
}

/* ---- memory ---- */

static int scenario(const ki_alloc *alloc, void *user)
{
    const ki_object **objects = user;
    ki_diff_options options = {.size = sizeof(options), .alloc = alloc};
    ki_diff *d = NULL;
    ki_buf patch;
    ki_buf_init(&patch, alloc, 4096);
    int r = ki_object_diff(objects[0], objects[1], &options, &d, NULL);
    if (r == 0) {
        assert_int_equal(ki_diff_count(d), 3);
        r = ki_object_merge_patch(objects[0], objects[1], &patch, NULL);
        assert_true(r == 1 || (r < 0 && patch.len == 0));
    }
    ki_diff_unref(d);
    ki_buf_done(&patch);
    return r < 0 ? r : 0;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    ki_object *before = test_object(NULL, "{'a':{'\\u0062':[{'name':'x','i':1}]},'c':'\\u0064'}");
    ki_object *after =
        test_object(NULL, "{'a':{'b':[{'name':'y'},{'name':'x','i':2}]},'c':'\\u0065'}");
    const ki_object *objects[2] = {before, after};
    test_alloc_sweep(scenario, objects);
    ki_object_unref(before);
    ki_object_unref(after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_have_type_path_and_values),
        cmocka_unit_test(a_key_must_be_unique),
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(a_patch_has_what_differs_alone),
        cmocka_unit_test(patches_lead_from_any_state_to_any_other),
        cmocka_unit_test(encodings_do_not_matter),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
