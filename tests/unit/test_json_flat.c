/* SPDX-License-Identifier: Apache-2.0 */
/* Flat maps, and that labels read the same through them as by the long way. */
#include <stdio.h>
#include <stdlib.h>

#include <kinformer/object.h>

#include "object/json/json_flat.h"
#include "object/object.h"
#include "support/test.h"

/* An object with the same map as labels, where the short way is tried, and as annotations. */
static ki_object *object_with(const char *map)
{
    size_t size = 2 * strlen(map) + 64;
    char *json = malloc(size);
    assert_non_null(json);
    int len = snprintf(json, size, "{\"metadata\":{\"annotations\":%s,\"labels\":%s}}", map, map);
    ki_object *object = NULL;
    assert_int_equal(ki_object_from_json(json, (size_t)len, NULL, &object, NULL), 0);
    free(json);
    return object;
}

static bool same_string(const ki_value *a, const ki_value *b)
{
    char x[256];
    char y[256];
    int n = ki_value_get_string(a, x, sizeof(x));
    return n >= 0 && n == ki_value_get_string(b, y, sizeof(y)) && memcmp(x, y, (size_t)n) == 0;
}

/* What both ways say of a name must be the same. */
static void check_name(const ki_object *object, ki_str name)
{
    ki_value labels = ki_object_labels(object);
    ki_value annotations = ki_object_annotations(object);
    ki_value shortly = {0};
    ki_value slowly = {0};
    int r = ki_value_member(&labels, name, &shortly);
    assert_int_equal(r, ki_value_member(&annotations, name, &slowly));
    if (r == 0 && ki_value_type(&slowly) == KI_TYPE_STRING) {
        assert_true(same_string(&shortly, &slowly));
    }
}

static void only_maps_of_plain_strings_are_flat(void **state)
{
    (void)state;
    static const struct {
        const char *map;
        bool flat;
    } cases[] = {
        {"{}", true},
        {" { } ", true},
        {"{\"a\":\"b\"}", true},
        {"{ \"a\" : \"b\" , \"c\" : \"\" }", true},
        {"{\"a\":\"}\",\"{\":\"]\"}", true},
        {"{\"\xc3\xa9\":\"\xc3\xa9\"}", true},
        {"{\"a\":\"b\",\"a\":\"c\"}", true},
        {"{\"a\":null}", false},
        {"{\"a\":1}", false},
        {"{\"a\":true,\"b\":\"c\"}", false},
        {"{\"a\":{}}", false},
        {"{\"a\":[\"b\"]}", false},
        {"{\"a\":\"\\u0062\"}", false},
        {"{\"\\u0061\":\"b\"}", false},
        {"{\"a\":\"b\",\"c\":\"d\\\\\"}", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_object *object = object_with(cases[i].map);
        const char *end = strrchr(cases[i].map, '}');
        const char *start = strchr(cases[i].map, '{');
        size_t len = cases[i].flat ? (size_t)(end - start) + 1 : 0;
        assert_int_equal(object->labels_flat, len);
        ki_object_unref(object);
    }
}

static void names_that_look_like_others_are_distinguished(void **state)
{
    (void)state;
    static const char *const maps[] = {
        "{}",
        "{\"\":\"\"}",
        "{\"a\":\"b\"}",
        "{\"b\":\"a\",\"a\":\"b\"}",
        "{\"x\":\":y\",\"y\":\",x\"}",
        "{\"a\":\"a\",\"aa\":\"aaa\",\"aaa\":\"a\"}",
        "{\"key\":\"name\",\"name\":\"key\"}",
        "{ \"key\" : \"name\" , \"name\" :\n\"key\"\t}",
        "{\"a\":\"1\",\"a\":\"2\"}",
        "{\"b\":\"a\",\"c\":\"a\",\"a\":\"\"}",
        "{\"a b\":\"c d\",\" a\":\" b\",\":\":\":\",\",\":\",\",\"}\":\"}\"}",
        "{\"a\":\"x\\\"a\",\"y\\\"a\":\"z\"}",
        "{\"n\":{\"a\":\"inner\"},\"a\":\"outer\"}",
    };
    static const char *const names[] = {
        "",      "a",
        "b",     "x",
        "y",     "aa",
        "aaa",   "key",
        "name",  ":",
        ",",     ":y",
        ",x",    "}",
        "{",     "a\":\"b",
        "a b",   " a",
        "c d",   "n",
        "\"",    "\\",
        "x\"a",  "y\"a",
        "a\"",   "x\":\":y\",\"y",
        "inner", "ke",
        "keyy",  "1",
    };
    for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
        ki_object *object = object_with(maps[i]);
        for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
            check_name(object, ki_str_from(names[k]));
        }
        ki_object_unref(object);
    }
}

/* Whatever block of bytes a name begins in or crosses. */
static void names_are_found_at_any_place_and_of_any_length(void **state)
{
    (void)state;
    for (size_t before = 0; before < 70; before++) {
        for (size_t len = 1; len < 70; len += 3) {
            char map[256];
            char name[70];
            memset(name, 'k', len);
            name[len] = '\0';
            (void)snprintf(
                map, sizeof(map), "{\"p\":\"%.*s\",\"%s\":\"v\"}", (int)before,
                "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", name);
            ki_object *object = object_with(map);
            assert_true(object->labels_flat != 0);
            ki_str text;
            assert_int_equal(ki__object_label_text(object, ki_str_make(name, len), &text), 1);
            assert_str(text, "v");
            assert_int_equal(ki__object_label_text(object, ki_str_make(name, len - 1), &text), 0);
            name[len - 1] = 'K';
            assert_int_equal(ki__object_label_text(object, ki_str_make(name, len), &text), 0);
            ki_object_unref(object);
        }
    }
}

static void texts_are_compared_whole(void **state)
{
    (void)state;
    for (size_t len = 0; len < 64; len++) {
        char map[128];
        char text[72];
        memset(text, 'v', sizeof(text));
        (void)snprintf(map, sizeof(map), "{\"a\":\"%.*s\"}", (int)len, text);
        ki_object *object = object_with(map);
        ki_str name = ki_str_from("a");
        for (size_t other = 0; other < 72; other++) {
            assert_int_equal(ki__object_label_is(object, name, ki_str_make(text, other)),
                             other == len);
        }
        for (size_t i = 0; i < len; i++) {
            text[i] = 'w';
            assert_int_equal(ki__object_label_is(object, name, ki_str_make(text, len)), 0);
            text[i] = 'v';
        }
        assert_int_equal(ki__object_label_is(object, ki_str_from("b"), ki_str_make(text, len)), 0);
        ki_object_unref(object);
    }
}

static void what_follows_the_map_is_not_in_it(void **state)
{
    (void)state;
    const char *json = "{\"metadata\":{\"labels\":{\"b\":\"c\"},\"uid\":\"u\",\"name\":\"n\"}}";
    ki_object *object = NULL;
    assert_int_equal(ki_object_from_json(json, strlen(json), NULL, &object, NULL), 0);
    ki_str text;
    assert_int_equal(ki__object_label_text(object, ki_str_from("b"), &text), 1);
    assert_int_equal(ki__object_label_text(object, ki_str_from("uid"), &text), 0);
    assert_int_equal(ki__object_label_text(object, ki_str_from("name"), &text), 0);
    assert_int_equal(ki__object_label_is(object, ki_str_from("b"), ki_str_from("c")), 1);
    assert_int_equal(ki__object_label_is(object, ki_str_from("uid"), ki_str_from("u")), 0);
    ki_object_unref(object);
}

static void labels_without_a_short_way_say_so(void **state)
{
    (void)state;
    ki_str a = ki_str_from("a");
    ki_str text;
    ki_object *object = object_with("{\"a\":\"\\u0062\"}");
    assert_int_equal(ki__object_label_text(object, a, &text), KI_ERR_NOT_PLAIN);
    assert_int_equal(ki__object_label_is(object, a, ki_str_from("b")), KI_ERR_NOT_PLAIN);
    ki_object_unref(object);
    object = object_with("null");
    assert_int_equal(ki__object_label_text(object, a, &text), 0);
    assert_int_equal(ki__object_label_is(object, a, ki_str_from("b")), 0);
    ki_object_unref(object);
}

static char random_char(uint64_t *seed)
{
    static const char chars[] = "aaabc:,} {1";
    return chars[test_random(seed) % (sizeof(chars) - 1)];
}

static void add_random_string(char *map, size_t *len, uint64_t *seed)
{
    map[(*len)++] = '"';
    for (uint64_t i = test_random(seed) % 5; i > 0; i--) {
        map[(*len)++] = random_char(seed);
    }
    map[(*len)++] = '"';
}

static void random_maps_read_the_same_both_ways(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int round = 0; round < 3000; round++) {
        char map[512];
        size_t len = 0;
        map[len++] = '{';
        uint64_t count = test_random(&seed) % 12;
        for (uint64_t i = 0; i < count; i++) {
            if (i != 0) {
                map[len++] = ',';
            }
            add_random_string(map, &len, &seed);
            map[len++] = ':';
            if (test_random(&seed) % 4 == 0) {
                map[len++] = ' ';
            }
            add_random_string(map, &len, &seed);
        }
        map[len++] = '}';
        map[len] = '\0';
        ki_object *object = object_with(map);
        assert_int_equal(object->labels_flat, len);
        for (int i = 0; i < 40; i++) {
            char name[8];
            size_t name_len = test_random(&seed) % 6;
            for (size_t k = 0; k < name_len; k++) {
                name[k] = test_random(&seed) % 10 == 0 ? '"' : random_char(&seed);
            }
            check_name(object, ki_str_make(name, name_len));
        }
        ki_object_unref(object);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_maps_of_plain_strings_are_flat),
        cmocka_unit_test(names_that_look_like_others_are_distinguished),
        cmocka_unit_test(names_are_found_at_any_place_and_of_any_length),
        cmocka_unit_test(texts_are_compared_whole),
        cmocka_unit_test(what_follows_the_map_is_not_in_it),
        cmocka_unit_test(labels_without_a_short_way_say_so),
        cmocka_unit_test(random_maps_read_the_same_both_ways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
