/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include <kinformer/encoding.h>
#include <kinformer/object.h>
#include <kinformer/value.h>

#include "support/test.h"
#include "support/test_json.h"

static ki_object *make(const char *json)
{
    ki_object *object = NULL;
    ki_error error = KI_ERROR_INIT;
    if (ki_object_from_json(json, strlen(json), NULL, &object, &error) < 0) {
        fail_msg("refused: %s (at %zu)", error.message, error.offset);
    }
    return object;
}

/* The member `name` of the object's root. */
static ki_value at(const ki_object *object, const char *name)
{
    ki_value root = ki_object_root(object);
    ki_value value;
    if (ki_value_member(&root, ki_str_from(name), &value) != 0) {
        fail_msg("no member %s", name);
    }
    return value;
}

static void types_are_named(void **state)
{
    (void)state;
    ki_object *object = make("{\"n\":null,\"t\":true,\"f\":false,\"i\":-1,\"s\":\"\",\"l\":[],"
                             "\"m\":{}}");
    static const struct {
        const char *name;
        ki_type type;
        const char *type_name;
    } cases[] = {
        {"n", KI_TYPE_NULL, "null"},     {"t", KI_TYPE_BOOL, "bool"},
        {"f", KI_TYPE_BOOL, "bool"},     {"i", KI_TYPE_NUMBER, "number"},
        {"s", KI_TYPE_STRING, "string"}, {"l", KI_TYPE_LIST, "list"},
        {"m", KI_TYPE_MAP, "map"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_value value = at(object, cases[i].name);
        assert_int_equal(ki_value_type(&value), cases[i].type);
        assert_string_equal(ki_type_name(ki_value_type(&value)), cases[i].type_name);
    }
    ki_object_unref(object);
    assert_string_equal(ki_type_name(KI_TYPE_NONE), "none");
    assert_string_equal(ki_type_name(KI_TYPE_MAX), "unknown");
}

/* Every reader on a value of every other type: refused, with nothing written. */
static void a_wrong_type_is_refused(void **state)
{
    (void)state;
    ki_object *object =
        make("{\"n\":null,\"b\":true,\"i\":1,\"s\":\"x\",\"l\":[1],\"m\":{\"a\":1}}");
    static const char *const names[] = {NULL, "n", "b", "i", "s", "l", "m"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        ki_value value = {0};
        if (names[i] != NULL) {
            value = at(object, names[i]);
        }
        ki_type type = ki_value_type(&value);
        ki_str text = {(const char *)state, 99};
        char out[4] = "###";
        int64_t integer = 77;
        double real = 77;
        bool flag;
        ki_value inner = {.len = 77};
        ki_value_iter iter;
        ki_buf buf;
        ki_buf_init(&buf, NULL, 100);
        assert_int_equal(ki_value_string(&value, &text), type == KI_TYPE_STRING ? 0 : KI_ERR_TYPE);
        assert_int_equal(ki_value_copy_string(&value, &buf),
                         type == KI_TYPE_STRING ? 0 : KI_ERR_TYPE);
        assert_int_equal(ki_value_get_string(&value, out, sizeof(out)),
                         type == KI_TYPE_STRING ? 1 : KI_ERR_TYPE);
        assert_string_equal(out, type == KI_TYPE_STRING ? "x" : "###");
        assert_int_equal(ki_value_equals(&value, ki_str_from("x")), type == KI_TYPE_STRING);
        assert_int_equal(ki_value_int64(&value, &integer),
                         type == KI_TYPE_NUMBER ? 0 : KI_ERR_TYPE);
        assert_int_equal(integer, type == KI_TYPE_NUMBER ? 1 : 77);
        assert_int_equal(ki_value_double(&value, &real), type == KI_TYPE_NUMBER ? 0 : KI_ERR_TYPE);
        assert_int_equal(ki_value_number_text(&value, &text),
                         type == KI_TYPE_NUMBER ? 0 : KI_ERR_TYPE);
        assert_int_equal(ki_value_bool(&value, &flag), type == KI_TYPE_BOOL ? 0 : KI_ERR_TYPE);
        assert_int_equal(ki_value_member(&value, ki_str_from("a"), &inner),
                         type == KI_TYPE_MAP ? 0 : KI_ERR_TYPE);
        assert_int_equal(ki_value_element(&value, 0, &inner),
                         type == KI_TYPE_LIST ? 0 : KI_ERR_TYPE);
        bool container = type == KI_TYPE_LIST || type == KI_TYPE_MAP;
        assert_int_equal(ki_value_count(&value), container ? 1 : 0);
        assert_int_equal(ki_value_iter_begin(&value, &iter), container ? 0 : KI_ERR_TYPE);
        assert_int_equal(ki_value_write_json(&value, &buf), names[i] != NULL ? 0 : KI_ERR_TYPE);
        ki_buf_done(&buf);
    }
    ki_object_unref(object);
}

static void plain_strings_are_views(void **state)
{
    (void)state;
    ki_object *object = make("{\"a\":\"plain \xc3\xa9\",\"b\":\"\",\"c\":\"x\\ny\"}");
    ki_str bytes = ki_object_bytes(object);
    ki_value value = at(object, "a");
    ki_str text;
    assert_int_equal(ki_value_string(&value, &text), 0);
    assert_str(text, "plain \xc3\xa9");
    assert_true(text.ptr > bytes.ptr && text.ptr < bytes.ptr + bytes.len);
    value = at(object, "b");
    assert_int_equal(ki_value_string(&value, &text), 0);
    assert_int_equal(text.len, 0);
    value = at(object, "c");
    assert_int_equal(ki_value_string(&value, &text), KI_ERR_NOT_PLAIN);
    assert_true(ki_value_equals(&value, ki_str_from("x\ny")));
    assert_false(ki_value_equals(&value, ki_str_from("x\\ny")));
    ki_object_unref(object);
}

/* The bytes of a string must never be taken for its text when they are encoded. */
static void encoded_strings_equal_only_their_text(void **state)
{
    (void)state;
    ki_object *object = make("{\"a\":\"\\\"x\",\"b\":\"\\\\\",\"c\":\"\\u0041\"}");
    ki_value a = at(object, "a");
    ki_value b = at(object, "b");
    ki_value c = at(object, "c");
    assert_true(ki_value_equals(&a, ki_str_from("\"x")));
    assert_false(ki_value_equals(&a, ki_str_from("\\")));
    assert_false(ki_value_equals(&a, ki_str_from("")));
    assert_true(ki_value_equals(&b, ki_str_from("\\")));
    assert_false(ki_value_equals(&b, ki_str_from("\\\\")));
    assert_true(ki_value_equals(&c, ki_str_from("A")));
    assert_false(ki_value_equals(&c, ki_str_from("\\u0041")));
    assert_false(ki_value_equals(&c, ki_str_from("AA")));
    ki_object_unref(object);
}

static void copies_are_decoded_and_all_or_nothing(void **state)
{
    (void)state;
    ki_object *object = make("{\"a\":\"x\\u00e9\\ny\",\"p\":\"plain\"}");
    ki_value value = at(object, "a");
    ki_value plain = at(object, "p");
    ki_buf buf;
    ki_buf_init(&buf, NULL, 10);
    assert_int_equal(ki_buf_add_text(&buf, "12345"), 0);
    assert_int_equal(ki_value_copy_string(&value, &buf), 0);
    assert_string_equal(ki_buf_text(&buf), "12345x\xc3\xa9\ny");
    assert_int_equal(buf.len, 10);
    assert_int_equal(ki_value_copy_string(&value, &buf), KI_ERR_LIMIT);
    assert_int_equal(ki_value_copy_string(&plain, &buf), KI_ERR_LIMIT);
    assert_string_equal(ki_buf_text(&buf), "12345x\xc3\xa9\ny");
    ki_buf_done(&buf);

    char text[6];
    memset(text, '#', sizeof(text));
    assert_int_equal(ki_value_get_string(&value, text, 5), KI_ERR_LIMIT);
    assert_int_equal(ki_value_get_string(&plain, text, 5), KI_ERR_LIMIT);
    assert_memory_equal(text, "######", 6);
    assert_int_equal(ki_value_get_string(&value, text, 6), 5);
    assert_string_equal(text, "x\xc3\xa9\ny");
    assert_int_equal(ki_value_get_string(&plain, text, 6), 5);
    assert_string_equal(text, "plain");
    ki_object_unref(object);
}

static void a_nul_in_a_value_is_kept(void **state)
{
    (void)state;
    ki_object *object = make("{\"a\":\"x\\u0000y\"}");
    ki_value value = at(object, "a");
    char text[8];
    assert_int_equal(ki_value_get_string(&value, text, sizeof(text)), 3);
    assert_memory_equal(text, "x\0y", 4);
    assert_true(ki_value_equals(&value, ki_str_make("x\0y", 3)));
    ki_object_unref(object);
}

static void numbers_are_read_with_their_checks(void **state)
{
    (void)state;
    ki_object *object =
        make("{\"i\":-42,\"e\":1e3,\"h\":2.5,\"big\":1e400,\"m\":9223372036854775808}");
    int64_t integer = 77;
    double real = 77;
    ki_str text;
    ki_value value = at(object, "i");
    assert_int_equal(ki_value_int64(&value, &integer), 0);
    assert_int_equal(integer, -42);
    assert_int_equal(ki_value_number_text(&value, &text), 0);
    assert_str(text, "-42");
    value = at(object, "e");
    assert_int_equal(ki_value_int64(&value, &integer), 0);
    assert_int_equal(integer, 1000);
    value = at(object, "h");
    assert_int_equal(ki_value_int64(&value, &integer), KI_ERR_RANGE);
    assert_int_equal(ki_value_double(&value, &real), 0);
    assert_true(real == 2.5);
    value = at(object, "big");
    assert_int_equal(ki_value_double(&value, &real), KI_ERR_RANGE);
    assert_true(real == 2.5);
    assert_int_equal(ki_value_number_text(&value, &text), 0);
    assert_str(text, "1e400");
    value = at(object, "m");
    assert_int_equal(ki_value_int64(&value, &integer), KI_ERR_RANGE);
    assert_int_equal(integer, 1000);
    assert_int_equal(ki_value_double(&value, &real), 0);
    assert_true(real == 9223372036854775808.0);
    bool flag;
    ki_object_unref(object);
    object = make("{\"t\":true,\"f\":false}");
    value = at(object, "t");
    assert_int_equal(ki_value_bool(&value, &flag), 0);
    assert_true(flag);
    value = at(object, "f");
    assert_int_equal(ki_value_bool(&value, &flag), 0);
    assert_false(flag);
    ki_object_unref(object);
}

static void of_members_with_one_name_the_first_counts(void **state)
{
    (void)state;
    ki_object *object = make("{\"m\":{\"b\":0,\"a\":1,\"\\u0061\":2,\"a\":3,\"\":4}}");
    ki_value map = at(object, "m");
    ki_value value;
    int64_t number;
    assert_int_equal(ki_value_member(&map, ki_str_from("a"), &value), 0);
    assert_int_equal(ki_value_int64(&value, &number), 0);
    assert_int_equal(number, 1);
    assert_int_equal(ki_value_member(&map, ki_str_from(""), &value), 0);
    assert_int_equal(ki_value_int64(&value, &number), 0);
    assert_int_equal(number, 4);
    assert_int_equal(ki_value_member(&map, ki_str_from("c"), &value), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_value_count(&map), 5);
    ki_object_unref(object);
}

static void encoded_names_are_found_by_their_text(void **state)
{
    (void)state;
    ki_object *object = make("{\"m\":{\"\\u0061\\/b\":1,\"x\\\"\":2}}");
    ki_value map = at(object, "m");
    ki_value value;
    assert_int_equal(ki_value_member(&map, ki_str_from("a/b"), &value), 0);
    assert_int_equal(ki_value_member(&map, ki_str_from("x\""), &value), 0);
    assert_int_equal(ki_value_member(&map, ki_str_from("x\\\""), &value), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_value_member(&map, ki_str_from("x"), &value), KI_ERR_NOT_FOUND);
    ki_object_unref(object);
}

static void elements_count_from_both_ends(void **state)
{
    (void)state;
    ki_object *object = make("{\"l\":[10, [\"]\"] ,30],\"e\":[ ]}");
    ki_value list = at(object, "l");
    static const struct {
        int64_t index;
        const char *json; /* NULL: not found */
    } cases[] = {
        {0, "10"},  {1, "[\"]\"]"}, {2, "30"},         {3, NULL},         {-1, "30"},
        {-3, "10"}, {-4, NULL},     {INT64_MAX, NULL}, {INT64_MIN, NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_value value;
        int r = ki_value_element(&list, cases[i].index, &value);
        assert_int_equal(r, cases[i].json != NULL ? 0 : KI_ERR_NOT_FOUND);
        if (r == 0) {
            ki_buf buf;
            ki_buf_init(&buf, NULL, 100);
            assert_int_equal(ki_value_write_json(&value, &buf), 0);
            assert_string_equal(ki_buf_text(&buf), cases[i].json);
            ki_buf_done(&buf);
        }
    }
    ki_value empty = at(object, "e");
    assert_int_equal(ki_value_element(&empty, 0, &list), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_value_element(&empty, -1, &list), KI_ERR_NOT_FOUND);
    ki_object_unref(object);
}

static void walks_see_everything_in_order(void **state)
{
    (void)state;
    ki_object *object =
        make(" { \"m\" : { \"a\" : [ 1 , { } ] , \"b\" : \"}\" , \"c\" : null } } ");
    ki_value map = at(object, "m");
    static const char *const names[] = {"a", "b", "c"};
    static const char *const values[] = {"[ 1 , { } ]", "\"}\"", "null"};
    ki_value_iter iter;
    ki_value key;
    ki_value value;
    assert_int_equal(ki_value_iter_begin(&map, &iter), 0);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(ki_value_iter_next(&iter, &key, &value), 1);
        assert_true(ki_value_equals(&key, ki_str_from(names[i])));
        ki_buf buf;
        ki_buf_init(&buf, NULL, 100);
        assert_int_equal(ki_value_write_json(&value, &buf), 0);
        assert_string_equal(ki_buf_text(&buf), values[i]);
        ki_buf_done(&buf);
    }
    assert_int_equal(ki_value_iter_next(&iter, &key, &value), 0);
    assert_int_equal(ki_value_iter_next(&iter, &key, &value), 0);
    ki_value list;
    assert_int_equal(ki_value_member(&map, ki_str_from("a"), &list), 0);
    assert_int_equal(ki_value_iter_begin(&list, &iter), 0);
    assert_int_equal(ki_value_iter_next(&iter, &key, &value), 1);
    assert_int_equal(ki_value_type(&key), KI_TYPE_NONE);
    assert_int_equal(ki_value_iter_next(&iter, NULL, &value), 1);
    assert_int_equal(ki_value_type(&value), KI_TYPE_MAP);
    assert_int_equal(ki_value_iter_next(&iter, NULL, &value), 0);
    ki_object_unref(object);
    ki_value_iter zero;
    memset(&zero, 0, sizeof(zero));
    assert_int_equal(ki_value_iter_next(&zero, NULL, &value), 0);
}

static void roots_know_their_members_with_and_without_shortcuts(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{\"metadata\":{\"x\":1},\"spec\":2,\"status\":\"s\",\"data\":true}",
        "\n\t "
        "{\"data\":true,\"\\u0073pec\":2,\"statu\\u0073\":\"s\",\"metad\\u0061ta\":{\"x\":1}}"};
    for (size_t i = 0; i < 2; i++) {
        ki_object *object = make(texts[i]);
        ki_value value = at(object, "metadata");
        assert_int_equal(ki_value_type(&value), KI_TYPE_MAP);
        assert_int_equal(ki_value_member(&value, ki_str_from("spec"), &value), KI_ERR_NOT_FOUND);
        value = at(object, "spec");
        assert_int_equal(ki_value_type(&value), KI_TYPE_NUMBER);
        value = at(object, "status");
        assert_true(ki_value_equals(&value, ki_str_from("s")));
        value = at(object, "data");
        assert_int_equal(ki_value_type(&value), KI_TYPE_BOOL);
        ki_object_unref(object);
    }
    ki_object *object = make("{\"metadata\":null}");
    ki_value root = ki_object_root(object);
    ki_value value;
    assert_int_equal(ki_value_member(&root, ki_str_from("spec"), &value), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_value_member(&root, ki_str_from("metadata"), &value), 0);
    assert_int_equal(ki_value_type(&value), KI_TYPE_NULL);
    ki_object_unref(object);
}

/* Random objects: reading by name and by walking, and writing each value, agree with each other. */
static void walking_finding_and_writing_agree(void **state)
{
    (void)state;
    uint64_t random = 31;
    ki_buf text;
    ki_buf json;
    ki_buf_init(&text, NULL, SIZE_MAX);
    ki_buf_init(&json, NULL, SIZE_MAX);
    for (int round = 0; round < 500; round++) {
        ki_buf_clear(&text);
        assert_int_equal(ki_buf_add_text(&text, "{\"v\":"), 0);
        test_json_random(&text, &random, 80);
        assert_int_equal(ki_buf_add_text(&text, "}"), 0);
        ki_object *object = make(text.data);
        ki_value value = at(object, "v");
        ki_value_iter iter;
        ki_value key;
        ki_value item;
        size_t count = 0;
        for (int r = ki_value_iter_begin(&value, &iter);
             r == 0 && ki_value_iter_next(&iter, &key, &item) == 1; count++) {
            ki_value found;
            ki_buf_clear(&json);
            if (ki_value_type(&value) == KI_TYPE_LIST) {
                assert_int_equal(ki_value_element(&value, (int64_t)count, &found), 0);
                assert_ptr_equal(found.bytes, item.bytes);
            } else {
                assert_int_equal(ki_value_copy_string(&key, &json), 0);
                assert_int_equal(ki_value_member(&value, ki_buf_str(&json), &found), 0);
                assert_true(found.bytes <= item.bytes); /* the first of that name */
            }
            ki_buf_clear(&json);
            assert_int_equal(ki_value_write_json(&item, &json), 0);
            assert_memory_equal(json.data, item.bytes, json.len);
        }
        assert_int_equal(ki_value_count(&value), count);
        ki_object_unref(object);
    }
    ki_buf_done(&text);
    ki_buf_done(&json);
}

static int scenario_copy(const ki_alloc *alloc, void *user)
{
    const ki_object *object = user;
    ki_buf buf;
    ki_buf_init(&buf, alloc, 10000);
    ki_value root = ki_object_root(object);
    ki_value a = at(object, "a");
    ki_value b = at(object, "b");
    int r = ki_value_copy_string(&a, &buf);
    assert_true(r == 0 || buf.len == 0);
    if (r == 0) {
        r = ki_value_copy_string(&b, &buf);
        assert_true(r == 0 || buf.len == 4);
    }
    if (r == 0) {
        r = ki_value_write_json(&root, &buf);
        assert_true(r == 0 || buf.len == 10);
    }
    ki_buf_done(&buf);
    return r;
}

static void reading_survives_failing_allocations(void **state)
{
    (void)state;
    ki_object *object =
        make("{\"a\":\"1\\n23\",\"b\":\"456789\",\"long\":\"--------------------------"
             "-------------------------------------------------------------\"}");
    test_alloc_sweep(scenario_copy, object);
    ki_object_unref(object);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_are_named),
        cmocka_unit_test(a_wrong_type_is_refused),
        cmocka_unit_test(plain_strings_are_views),
        cmocka_unit_test(encoded_strings_equal_only_their_text),
        cmocka_unit_test(copies_are_decoded_and_all_or_nothing),
        cmocka_unit_test(a_nul_in_a_value_is_kept),
        cmocka_unit_test(numbers_are_read_with_their_checks),
        cmocka_unit_test(of_members_with_one_name_the_first_counts),
        cmocka_unit_test(encoded_names_are_found_by_their_text),
        cmocka_unit_test(elements_count_from_both_ends),
        cmocka_unit_test(walks_see_everything_in_order),
        cmocka_unit_test(roots_know_their_members_with_and_without_shortcuts),
        cmocka_unit_test(walking_finding_and_writing_agree),
        cmocka_unit_test(reading_survives_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
