/* SPDX-License-Identifier: Apache-2.0 */
/* The index functions that are ready made, each called by itself. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kinformer/path.h>

#include "cache/store/index.h"
#include "support/by_value.h"
#include "support/objects.h"
#include "support/test.h"

enum { LARGE = 70 * 1024 };

/* What `index` gives for an object, as text: the values in byte order, each followed by '|'. */
static int values_text(const ki_index *index, const ki_object *object, const ki_alloc *alloc,
                       char *text, size_t size)
{
    ki_index_values values;
    ki__index_values_init(&values, alloc, (ki__hash_key){1, 2});
    ki__index_def *def = ki__index_def_new(ki_alloc_default(), index);
    int r = ki__index_values_of(&values, def, object, NULL);
    text[0] = '\0';
    const char *last = NULL;
    for (size_t n = 0; r >= 0 && n < values.count; n++) { /* the smallest above the last one */
        const ki__index_value *next = NULL;
        for (size_t i = 0; i < values.count; i++) {
            const ki__index_value *value = &values.values[i];
            bool above = last == NULL || ki_str_cmp(value->text, ki_str_from(last)) > 0;
            if (above && (next == NULL || ki_str_cmp(value->text, next->text) < 0)) {
                next = value;
            }
        }
        assert_non_null(next);
        size_t len = strlen(text);
        assert_true(len + next->len + 2 < size);
        static char copy[LARGE];
        memcpy(copy, next->text.ptr, next->len);
        copy[next->len] = '\0';
        last = copy;
        (void)snprintf(text + len, size - len, "%s|", copy);
    }
    ki__index_def_unref(def);
    ki__index_values_done(&values);
    return r;
}

/* Checks what an index gives for an object written with ' for ". */
static void check(const ki_index *index, const char *json, const char *expected)
{
    char text[512];
    ki_object *object = test_object(NULL, json);
    assert_int_equal(values_text(index, object, ki_alloc_default(), text, sizeof(text)), 0);
    assert_string_equal(text, expected);
    ki_object_unref(object);
}

static void by_namespace_each_object_has_one_value(void **state)
{
    (void)state;
    ki_index index = test_index_by_namespace();
    assert_string_equal(index.name, "namespace");
    check(&index, "{'metadata':{'name':'a','namespace':'shop'}}", "shop|");
    check(&index, "{'metadata':{'name':'a'}}", "|");
    ki_index_done(&index);
}

static void by_label_only_strings_count(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki_index index = {0};
    char label[] = "example.com/app";
    assert_int_equal(ki_index_by_label("app", label, &alloc.table, &index), 0);
    assert_string_equal(index.name, "app");
    label[0] = 'x'; /* a copy was taken */
    check(&index, "{'metadata':{'name':'a','labels':{'example.com/app':'web'}}}", "web|");
    check(&index, "{'metadata':{'name':'a','labels':{'example.com/app':''}}}", "|");
    check(&index, "{'metadata':{'name':'a','labels':{'example.com/app':'w\\u0065b\\n'}}}",
          "web\n|");
    check(&index, "{'metadata':{'name':'a','labels':{'example.com\\/app':'web'}}}", "web|");
    check(&index, "{'metadata':{'name':'a','labels':{'app':'web'}}}", "");
    check(&index, "{'metadata':{'name':'a','labels':{'example.com/app':5}}}", "");
    check(&index, "{'metadata':{'name':'a','labels':null}}", "");
    check(&index, "{'metadata':{'name':'a'}}", "");
    ki_index_done(&index);
    test_alloc_done(&alloc);
}

static ki_index by_path(const char *text, const ki_alloc *alloc)
{
    ki_index index = {0};
    ki_path *path;
    assert_int_equal(ki_path_compile(text, alloc, &path, NULL), 0);
    assert_int_equal(ki_index_by_path("path", path, alloc, &index), 0);
    ki_path_unref(path); /* the index has its own reference */
    return index;
}

static void by_path_scalars_count_as_text(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki_index index = by_path(".spec.x[*]", &alloc.table);
    check(&index, "{'metadata':{'name':'a'},'spec':{'x':['b','a','b']}}", "a|b|");
    check(&index, "{'metadata':{'name':'a'},'spec':{'x':[80, 1.50, -2e3, true, false]}}",
          "-2e3|1.50|80|false|true|");
    check(&index, "{'metadata':{'name':'a'},'spec':{'x':[null,{},[],{'y':1},[2],'']}}", "|");
    check(&index, "{'metadata':{'name':'a'},'spec':{'x':['\\u00e4\\ud83d\\ude00','80',80]}}",
          "80|\xc3\xa4\xf0\x9f\x98\x80|");
    check(&index, "{'metadata':{'name':'a'},'spec':{}}", "");
    check(&index, "{'metadata':{'name':'a'}}", "");
    ki_index_done(&index);
    test_alloc_done(&alloc);
}

/* An object whose .x is a string of `len` bytes, written with an escape or not. */
static ki_object *large_object(size_t len, bool escaped)
{
    static char json[LARGE + 100];
    int at = snprintf(json, sizeof(json), "{\"metadata\":{\"name\":\"a\"},\"x\":\"%s",
                      escaped ? "\\u0079" : "y");
    memset(json + at, 'y', len - 1);
    memcpy(json + at + len - 1, "\"}", 3);
    return test_json(json);
}

static void values_over_64_kib_are_refused_however_they_are_written(void **state)
{
    (void)state;
    static char text[LARGE];
    ki_index index = by_path(".x", ki_alloc_default());
    for (int escaped = 0; escaped <= 1; escaped++) {
        ki_object *object = large_object(64 * 1024, escaped != 0);
        assert_int_equal(values_text(&index, object, ki_alloc_default(), text, sizeof(text)), 0);
        assert_int_equal(strlen(text), 64 * 1024 + 1);
        ki_object_unref(object);
        object = large_object(64 * 1024 + 1, escaped != 0);
        assert_int_equal(values_text(&index, object, ki_alloc_default(), text, sizeof(text)),
                         KI_ERR_LIMIT);
        ki_object_unref(object);
    }
    ki_index_done(&index);
}

static int functions_scenario(const ki_alloc *alloc, void *user)
{
    (void)user;
    ki_index indexes[2] = {{0}};
    ki_path *path;
    char text[64];
    int r = ki_index_by_label("l", "l", alloc, &indexes[0]);
    if (r < 0) {
        return r;
    }
    r = ki_path_compile(".x[*]", alloc, &path, NULL);
    if (r >= 0) {
        r = ki_index_by_path("p", path, alloc, &indexes[1]);
        ki_path_unref(path);
    }
    if (r >= 0) {
        ki_object *object = test_object(NULL, "{'metadata':{'name':'a','labels':{'l':'\\u0065'}},"
                                              "'x':['\\u0065',true]}");
        r = values_text(&indexes[0], object, alloc, text, sizeof(text));
        assert_string_equal(text, r < 0 ? "" : "e|");
        if (r >= 0) {
            r = values_text(&indexes[1], object, alloc, text, sizeof(text));
            assert_string_equal(text, r < 0 ? "" : "e|true|");
        }
        ki_object_unref(object);
        ki_index_done(&indexes[1]);
    }
    ki_index_done(&indexes[0]);
    return r;
}

static void no_memory_is_reported_as_such(void **state)
{
    (void)state;
    test_alloc_sweep(functions_scenario, NULL);
}

static void one_that_nobody_took_is_released_once(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki_index index = {0};
    ki_index_done(&index); /* none was made */
    assert_int_equal(ki_index_by_label("app", "app", &alloc.table, &index), 0);
    ki_index_done(&index);
    assert_null(index.destroy);
    ki_index_done(&index);
    test_alloc_done(&alloc); /* checks that all was released */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_namespace_each_object_has_one_value),
        cmocka_unit_test(by_label_only_strings_count),
        cmocka_unit_test(by_path_scalars_count_as_text),
        cmocka_unit_test(values_over_64_kib_are_refused_however_they_are_written),
        cmocka_unit_test(one_that_nobody_took_is_released_once),
        cmocka_unit_test(no_memory_is_reported_as_such),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
