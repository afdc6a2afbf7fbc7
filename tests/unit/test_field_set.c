/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of fields. Text is written with ' for ". */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "object/edit/field_set.h"
#include "support/objects.h"
#include "support/test.h"

static int read_set(const char *json, const ki_alloc *alloc, ki__field_text *text,
                    ki__field_set *set)
{
    ki_object *object = test_object(alloc, json);
    if (object == NULL) {
        return -ENOMEM;
    }
    ki_value root = ki_object_root(object);
    ki_value fields;
    assert_int_equal(ki_value_member(&root, ki_str_from("x"), &fields), 0);
    int r = ki__field_set_read(set, &fields, text);
    ki_object_unref(object);
    return r;
}

/* One set, or two with an operation between them, as FieldsV1. */
typedef struct sets {
    ki__field_text text;
    ki__field_set a;
    ki__field_set b;
} sets;

static void open_sets(sets *s, const char *a, const char *b)
{
    ki__field_text_init(&s->text, NULL);
    ki__field_set_init(&s->a, NULL);
    ki__field_set_init(&s->b, NULL);
    assert_int_equal(read_set(a, NULL, &s->text, &s->a), 0);
    assert_int_equal(read_set(b, NULL, &s->text, &s->b), 0);
}

static void close_sets(sets *s)
{
    ki__field_set_done(&s->a);
    ki__field_set_done(&s->b);
    ki__field_text_done(&s->text);
}

static void check_set(const ki__field_set *set, const char *expected)
{
    ki_buf out;
    ki_buf_init(&out, NULL, 1 << 20);
    ki__out writer = ki__out_to(&out);
    ki__field_set_write(set, &writer);
    assert_int_equal(writer.error, 0);
    for (char *p = out.data; (p = strchr(p, '"')) != NULL; p++) {
        *p = '\'';
    }
    assert_string_equal(out.data, expected);
    ki_buf_done(&out);
}

static void check_written(const char *json, const char *expected)
{
    sets s;
    open_sets(&s, json, "{'x':{}}");
    check_set(&s.a, expected);
    close_sets(&s);
}

static void sets_are_read_and_written(void **state)
{
    (void)state;
    check_written("{'x':{}}", "{}");
    check_written("{'x':{'f:a':{}}}", "{'f:a':{}}");
    check_written("{'x':{'f:b':{},'f:a':{'f:c':{},'.':{}}}}", "{'f:a':{'.':{},'f:c':{}},'f:b':{}}");
    check_written("{'x':{'f:a':{'f:b':{'f:c':{}},'f:bc':{}},'f:ab':{}}}",
                  "{'f:a':{'f:b':{'f:c':{}},'f:bc':{}},'f:ab':{}}");
    check_written("{'x':{'i:3':{},'v:5':{},'v:\\\"s\\\"':{}}}",
                  "{'i:3':{},'v:\\'s\\'':{},'v:5':{}}");
    check_written("{'x':{'.':{},'f:a':{}}}", "{'f:a':{}}"); /* nobody owns the whole object */
    check_written("{'x':{'f:a':{},'f:a':{}}}", "{'f:a':{}}");
}

static void keys_are_spelt_in_one_way(void **state)
{
    (void)state;
    check_written("{'x':{'k:{ \\\"b\\\" : 1, \\\"a\\\":\\\"x\\\"}':{'f:n':{}}}}",
                  "{'k:{\\'a\\':\\'x\\',\\'b\\':1}':{'f:n':{}}}");
    check_written("{'x':{'k:{}':{}}}", "{'k:{}':{}}");
}

static void unknown_kinds_of_elements_are_left_out(void **state)
{
    (void)state;
    check_written("{'x':{'z:a':{'f:b':{}},'f:c':{}}}", "{'f:c':{}}");
}

static void what_is_no_set_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "{'x':5}",
        "{'x':[]}",
        "{'x':{'f:a':5}}",
        "{'x':{'a':{}}}",
        "{'x':{'':{}}}",
        "{'x':{'k:x':{}}}",
        "{'x':{'k:[]':{}}}",
        "{'x':{'k:{\\\"a\\\"}':{}}}",
        "{'x':{'k:{} {}':{}}}",
        "{'x':{'v:':{}}}",
        "{'x':{'v:a':{}}}",
        "{'x':{'i:x':{}}}",
        "{'x':{'k:{\\\"a\\\":1,\\\"b\\\":1,\\\"c\\\":1,\\\"d\\\":1,\\\"e\\\":1,\\\"f\\\":1,"
        "\\\"g\\\":1,\\\"h\\\":1,\\\"i\\\":1,\\\"j\\\":1,\\\"k\\\":1,\\\"l\\\":1,\\\"m\\\":1,"
        "\\\"n\\\":1,\\\"o\\\":1,\\\"p\\\":1,\\\"q\\\":1}':{}}}",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ki__field_text text;
        ki__field_set set;
        ki__field_text_init(&text, NULL);
        ki__field_set_init(&set, NULL);
        if (read_set(bad[i], NULL, &text, &set) != KI_ERR_INVALID) {
            fail_msg("%s", bad[i]);
        }
        ki__field_set_done(&set);
        ki__field_text_done(&text);
    }
}

#define AB "{'x':{'f:a':{'.':{},'f:b':{}},'f:c':{}}}"

static void sets_are_united_and_subtracted(void **state)
{
    (void)state;
    sets s;
    open_sets(&s, AB, "{'x':{'f:a':{'f:a':{},'f:b':{}},'f:d':{}}}");
    assert_int_equal(ki__field_set_unite(&s.a, &s.b), 0);
    check_set(&s.a, "{'f:a':{'.':{},'f:a':{},'f:b':{}},'f:c':{},'f:d':{}}");
    ki__field_set_subtract(&s.a, &s.b);
    check_set(&s.a, "{'f:a':{},'f:c':{}}");
    ki__field_set_subtract(&s.b, &s.a);
    check_set(&s.b, "{'f:a':{'f:a':{},'f:b':{}},'f:d':{}}");
    close_sets(&s);
}

static void paths_are_found(void **state)
{
    (void)state;
    sets s;
    open_sets(&s, AB, "{'x':{}}");
    assert_true(ki__field_set_has(&s.a, ki_str_from("f:a")));
    assert_true(ki__field_set_has(&s.a, ki_str_from("f:a\xff"
                                                    "f:b")));
    assert_false(ki__field_set_has(&s.a, ki_str_from("f:a\xff"
                                                     "f:")));
    assert_true(ki__field_set_has_below(&s.a, ki_str_from("f:a")));
    assert_false(ki__field_set_has_below(&s.a, ki_str_from("f:c")));
    assert_false(ki__field_set_has_below(&s.a, ki_str_from("f:")));
    assert_int_equal(ki__field_set_add(&s.a, ki_str_from("f:b")), 0);
    assert_int_equal(ki__field_set_add(&s.a, ki_str_from("f:b")), 0);
    check_set(&s.a, "{'f:a':{'.':{},'f:b':{}},'f:b':{},'f:c':{}}");
    close_sets(&s);
}

/* A path comes before what is below it, and nothing else comes between. */
static void paths_have_an_order(void **state)
{
    (void)state;
    static const char *const sorted[] = {"f:a",
                                         "f:a\xff"
                                         "f:z",
                                         "f:a\xff"
                                         "f:z\xff"
                                         "f:a",
                                         "f:a.b",
                                         "f:ab",
                                         "f:b",
                                         "k:{}"};
    for (size_t i = 0; i < 7; i++) {
        for (size_t j = 0; j < 7; j++) {
            int order = ki__field_path_compare(ki_str_from(sorted[i]), ki_str_from(sorted[j]));
            assert_int_equal(order, i < j ? -1 : i > j ? 1 : 0);
        }
    }
}

static void paths_are_shown_to_people(void **state)
{
    (void)state;
    ki_buf out;
    ki_buf_init(&out, NULL, 1000);
    ki__out writer = ki__out_to(&out);
    ki__field_path_write(ki_str_from("f:spec\xff"
                                     "f:containers\xff"
                                     "k:{\"containerPort\":80,\"protocol\":\"TCP\"}\xff"
                                     "v:\"x\"\xff"
                                     "i:3\xff"
                                     "f:a.b/c\xff"
                                     "k:{}"),
                         &writer);
    assert_int_equal(writer.error, 0);
    assert_string_equal(out.data, ".spec.containers[containerPort=80,protocol=\"TCP\"][=\"x\"][3]"
                                  ".a.b/c[]");
    ki_buf_done(&out);
}

static void depth_has_a_limit(void **state)
{
    (void)state;
    sets s;
    for (size_t depth = 90; depth <= 900; depth += 810) {
        ki_buf json;
        ki_object *object;
        ki_object_options options = {.size = sizeof(options), .max_depth = 1000};
        ki_buf_init(&json, NULL, 1 << 20);
        test_add(&json, "{\"f:a\":", depth);
        test_add(&json, "{}", 1);
        test_add(&json, "}", depth);
        int r = ki_object_from_json(json.data, json.len, &options, &object, NULL);
        assert_int_equal(r, 0);
        ki_value root = ki_object_root(object);
        open_sets(&s, "{'x':{}}", "{'x':{}}");
        assert_int_equal(ki__field_set_read(&s.a, &root, &s.text),
                         depth < KI__FIELD_DEPTH_MAX ? 0 : KI_ERR_LIMIT);
        close_sets(&s);
        ki_object_unref(object);
        ki_buf_done(&json);
    }
}

static int scenario(const ki_alloc *alloc, void *user)
{
    (void)user;
    ki__field_text text;
    ki__field_set a;
    ki__field_set b;
    ki_buf out;
    ki__field_text_init(&text, alloc);
    ki__field_set_init(&a, alloc);
    ki__field_set_init(&b, alloc);
    ki_buf_init(&out, alloc, 1 << 20);
    int r = read_set(AB, alloc, &text, &a);
    r = r < 0 ? r : read_set("{'x':{'k:{\\\"n\\\":1}':{'.':{},'f:n':{}}}}", alloc, &text, &b);
    r = r < 0 ? r : ki__field_set_unite(&a, &b);
    r = r < 0 ? r : ki__field_set_add(&a, ki_str_from("f:b"));
    if (r == 0) {
        ki__out writer = ki__out_to(&out);
        ki__field_set_write(&a, &writer);
        r = writer.error;
    }
    ki_buf_done(&out);
    ki__field_set_done(&a);
    ki__field_set_done(&b);
    ki__field_text_done(&text);
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
        cmocka_unit_test(sets_are_read_and_written),
        cmocka_unit_test(keys_are_spelt_in_one_way),
        cmocka_unit_test(unknown_kinds_of_elements_are_left_out),
        cmocka_unit_test(what_is_no_set_is_refused),
        cmocka_unit_test(sets_are_united_and_subtracted),
        cmocka_unit_test(paths_are_found),
        cmocka_unit_test(paths_have_an_order),
        cmocka_unit_test(paths_are_shown_to_people),
        cmocka_unit_test(depth_has_a_limit),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
