/* SPDX-License-Identifier: Apache-2.0 */
/* The list of who owns what. Text is written with ' for ". */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "apiserver/patch/managed_fields.h"
#include "support/objects.h"
#include "support/test.h"

#define ENTRY(name, operation, time, fields)                                            \
    "{'manager':'" name "','operation':'" operation "','apiVersion':'v1','time':'" time \
    "','fieldsType':'FieldsV1','fieldsV1':" fields "}"
#define OLD "2020-01-01T00:00:00Z"
#define NEW "2026-01-01T00:00:00Z"

static ki_value list_of(const ki_object *object)
{
    ki_value root = ki_object_root(object);
    ki_value list = {0};
    return ki_value_member(&root, ki_str_from("x"), &list) == 0 ? list : (ki_value){0};
}

static int read_list(const char *list, const ki_alloc *alloc, ki__managers *managers)
{
    ki_buf json;
    ki_buf_init(&json, NULL, 1 << 20);
    test_add(&json, "{'x':", 1);
    test_add(&json, list, 1);
    test_add(&json, "}", 1);
    ki_object *object = test_object(alloc, json.data);
    ki_buf_done(&json);
    if (object == NULL) {
        return -ENOMEM;
    }
    ki_value value = list_of(object);
    int r = ki__managers_read(managers, &value);
    ki_object_unref(object);
    return r;
}

static void check_list(ki__managers *managers, const char *expected)
{
    ki_buf out;
    ki_buf_init(&out, NULL, 1 << 20);
    assert_int_equal(ki__managers_write(managers, &out), 0);
    for (char *p = out.data; p != NULL && (p = strchr(p, '"')) != NULL; p++) {
        *p = '\'';
    }
    assert_string_equal(ki_buf_text(&out), expected);
    ki_buf_done(&out);
}

static void check(const char *list, const char *expected)
{
    ki__managers managers;
    ki__managers_init(&managers, NULL);
    assert_int_equal(read_list(list, NULL, &managers), 0);
    check_list(&managers, expected);
    ki__managers_done(&managers);
}

static void lists_are_read_and_written_in_order(void **state)
{
    (void)state;
    check("[]", "");
    check("null", "");
    check("5", "");
    check("[" ENTRY("u", "Update", OLD, "{'f:a':{}}") "," ENTRY(
              "b", "Apply", NEW, "{'f:a':{}}") "," ENTRY("a", "Apply", NEW,
                                                         "{'f:a':{}}") "," ENTRY("c", "Apply", OLD,
                                                                                 "{'f:a':{}}") "]",
          "[" ENTRY("c", "Apply", OLD, "{'f:a':{}}") "," ENTRY(
              "a", "Apply", NEW, "{'f:a':{}}") "," ENTRY("b", "Apply", NEW,
                                                         "{'f:a':{}}") "," ENTRY("u", "Update", OLD,
                                                                                 "{'f:a':{}}") "]");
    check("[{'manager':'m','operation':'Update','apiVersion':'v1','fieldsType':'FieldsV1',"
          "'fieldsV1':{'f:a':{}},'subresource':'status'}]",
          "[{'manager':'m','operation':'Update','apiVersion':'v1','fieldsType':'FieldsV1',"
          "'fieldsV1':{'f:a':{}},'subresource':'status'}]");
}

static void of_two_that_are_the_same_the_last_counts(void **state)
{
    (void)state;
    check("[" ENTRY("a", "Apply", OLD, "{'f:a':{}}") "," ENTRY("a", "Apply", NEW, "{'f:b':{}}") "]",
          "[" ENTRY("a", "Apply", NEW, "{'f:b':{}}") "]");
}

static void wrong_entries_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "[{}]",
        "[5]",
        "[" ENTRY("a", "Nope", OLD, "{}") "]",
        "[" ENTRY("a", "Apply", "yesterday", "{}") "]",
        "[" ENTRY("a", "Apply", OLD, "{'a':{}}") "]",
        "[" ENTRY("a", "Apply", OLD, "[]") "]",
        "[{'manager':5,'operation':'Apply','apiVersion':'v1','fieldsType':'FieldsV1'}]",
        "[{'manager':'a','operation':'Apply','fieldsType':'FieldsV1'}]",
        "[{'manager':'a','operation':'Apply','apiVersion':'v1'}]",
        "[{'manager':'a','operation':'Apply','apiVersion':'v1','fieldsType':'FieldsV2'}]",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ki__managers managers;
        ki__managers_init(&managers, NULL);
        if (read_list(bad[i], NULL, &managers) != KI_ERR_INVALID) {
            fail_msg("%s", bad[i]);
        }
        ki__managers_done(&managers);
    }
}

static void a_reset_is_an_empty_list_or_entry(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        bool reset;
    } cases[] = {{"{'x':[]}", true},  {"{'x':[{}]}", true},      {"{'x':[{},{}]}", false},
                 {"{}", false},       {"{'x':null}", false},     {"{'x':[5]}", false},
                 {"{'x':{}}", false}, {"{'x':[{'a':1}]}", false}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_object *object = test_object(NULL, cases[i].json);
        ki_value list = list_of(object);
        assert_int_equal(ki__managers_is_reset(&list), cases[i].reset);
        ki_object_unref(object);
    }
}

static int add_many(ki__managers *managers, int count, bool applies, ki_str path)
{
    int r = 0;
    for (int i = 0; i < count && r == 0; i++) {
        ki__manager like = {.applies = applies, .has_time = true, .time = i};
        ki__manager *made;
        snprintf(like.name, sizeof(like.name), "m%d", i);
        snprintf(like.api_version, sizeof(like.api_version), "v%d", i == 0 ? 2 : 1);
        r = ki__managers_add(managers, &like, &made);
        r = r < 0 ? r : ki__field_set_add(&made->fields, path);
    }
    return r;
}

static void the_oldest_that_update_become_one(void **state)
{
    (void)state;
    ki__managers managers;
    ki__managers_init(&managers, NULL);
    assert_int_equal(add_many(&managers, KI__MANAGERS_UPDATING_MAX, false, ki_str_from("f:a")), 0);
    assert_int_equal(add_many(&managers, 50, true, ki_str_from("f:a")), 0);
    assert_int_equal(ki__managers_limit(&managers), 0);
    assert_int_equal(managers.count, 50 + KI__MANAGERS_UPDATING_MAX);
    assert_int_equal(add_many(&managers, 13, false, ki_str_from("f:b")), 0);
    assert_int_equal(ki__managers_limit(&managers), 0);
    assert_int_equal(managers.count, 50 + KI__MANAGERS_UPDATING_MAX);
    const ki__manager like = {.name = "ancient-changes", .api_version = "v1"};
    ki__manager *ancient = ki__managers_find(&managers, &like);
    assert_non_null(ancient);
    assert_int_equal(ancient->fields.count, 2);
    ki__managers_done(&managers);
}

static void there_can_be_too_many(void **state)
{
    (void)state;
    ki__managers managers;
    ki__managers_init(&managers, NULL);
    assert_int_equal(add_many(&managers, KI__MANAGERS_MAX, true, ki_str_from("f:a")), 0);
    ki__manager like = {.name = "x"};
    ki__manager *made;
    assert_int_equal(ki__managers_add(&managers, &like, &made), KI_ERR_LIMIT);
    ki__managers_done(&managers);
}

static void names_are_cut_and_cleaned(void **state)
{
    (void)state;
    ki__manager m;
    char text[300];
    ki__manager_set_name(&m, ki_str_from("a\x01"
                                         "b\x7f\xff"
                                         "c \xc3\xa9"));
    assert_string_equal(m.name, "abc \xc3\xa9");
    ki__manager_set_name(&m, ki_str_from("\x01"));
    assert_string_equal(m.name, "unknown");
    memset(text, 'x', sizeof(text));
    memcpy(text + KI__MANAGER_NAME_MAX - 1, "\xc3\xa9", 2); /* which does not fit wholly */
    ki__manager_set_name(&m, ki_str_make(text, sizeof(text)));
    assert_int_equal(strlen(m.name), KI__MANAGER_NAME_MAX - 1);
}

static int scenario(const ki_alloc *alloc, void *user)
{
    (void)user;
    ki__managers managers;
    ki_buf out;
    ki_buf_init(&out, alloc, 1 << 20);
    ki__managers_init(&managers, alloc);
    int r = read_list("[" ENTRY("a", "Apply", OLD, "{'f:a':{}}") "," ENTRY(
                          "b", "Update", NEW, "{'f:b':{'f:c':{}}}") "]",
                      alloc, &managers);
    r = r < 0 ? r : add_many(&managers, 12, false, ki_str_from("f:a"));
    r = r < 0 ? r : ki__managers_limit(&managers);
    r = r < 0 ? r : ki__managers_write(&managers, &out);
    ki__managers_done(&managers);
    ki_buf_done(&out);
    return r;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    test_alloc_sweep(scenario, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_read_and_written_in_order),
        cmocka_unit_test(of_two_that_are_the_same_the_last_counts),
        cmocka_unit_test(wrong_entries_are_refused),
        cmocka_unit_test(a_reset_is_an_empty_list_or_entry),
        cmocka_unit_test(the_oldest_that_update_become_one),
        cmocka_unit_test(there_can_be_too_many),
        cmocka_unit_test(names_are_cut_and_cleaned),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
