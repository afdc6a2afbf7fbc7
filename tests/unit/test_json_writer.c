/* SPDX-License-Identifier: Apache-2.0 */
/* ki_json: every function, what misuse is answered with, limits, failing allocations, and that
 * copies of any object read as the object does. */
#include <errno.h>
#include <float.h>

#include <kinformer/clock.h>
#include <kinformer/encoding.h>
#include <kinformer/error.h>
#include <kinformer/json.h>
#include <kinformer/loop.h>
#include <kinformer/time.h>

#include "support/golden.h"
#include "support/objects.h"
#include "support/same_value.h"
#include "support/test.h"
#include "support/test_json.h"

static ki_json *new_json(void)
{
    ki_json *json = NULL;
    assert_int_equal(ki_json_new(NULL, &json, NULL), 0);
    return json;
}

static const char *text_of(ki_json *json)
{
    ki_error error = KI_ERROR_INIT;
    ki_str text = {NULL, 0};
    if (ki_json_text(json, &text, &error) < 0) {
        fail_msg("%s", error.message);
    }
    assert_int_equal(text.ptr[text.len], '\0');
    return text.ptr;
}

static void check_failure(ki_json *json, int code, const char *message)
{
    ki_error error = KI_ERROR_INIT;
    ki_str text = {"untouched", 9};
    ki_object *object = NULL;
    assert_int_equal(ki_json_text(json, &text, &error), code);
    assert_int_equal(error.code, code);
    assert_string_equal(error.message, message);
    assert_str(text, "untouched");
    assert_int_equal(ki_json_text(json, &text, NULL), code);
    assert_int_equal(ki_json_object(json, &object, NULL), code);
    assert_null(object);
}

/* ---- what is written ---- */

static void every_kind_of_value_is_written(void **state)
{
    (void)state;
    ki_json *json = new_json();
    ki_json_begin_map(json, NULL);
    ki_json_string(json, "s", "a\"\\\n\x01\xc3\xa9");
    ki_json_str(json, "n", ki_str_make("a\0b", 3));
    ki_json_str(json, "e", ki_str_make(NULL, 0));
    ki_json_base64(json, "b", ki_str_make("\xff\0\x01", 3));
    ki_json_int64(json, "i", INT64_MIN);
    ki_json_uint64(json, "u", UINT64_MAX);
    ki_json_double(json, "d", 0.1);
    ki_json_bool(json, "t", true);
    ki_json_bool(json, "f", false);
    ki_json_null(json, "z");
    ki_json_raw(json, "r", " \n[1, {\"a\": null}]\t");
    ki_json_begin_list(json, "l");
    ki_json_begin_list(json, NULL);
    ki_json_end(json);
    ki_json_begin_map(json, NULL);
    ki_json_end(json);
    ki_json_string(json, NULL, "");
    ki_json_raw(json, NULL, "7 ");
    ki_json_double(json, NULL, 1e300);
    ki_json_end(json);
    ki_json_name(json, ki_str_make("a/\"b.c", 6));
    ki_json_int64(json, NULL, 1);
    ki_json_time(json, "time", INT64_C(1769860800999999999));
    ki_json_micro_time(json, "micro", INT64_C(1769860800999999999));
    ki_json_end(json);
    assert_string_equal(text_of(json),
                        "{\"s\":\"a\\\"\\\\\\n\\u0001\xc3\xa9\",\"n\":\"a\\u0000b\",\"e\":\"\","
                        "\"b\":\"/wAB\",\"i\":-9223372036854775808,\"u\":18446744073709551615,"
                        "\"d\":0.1,\"t\":true,\"f\":false,\"z\":null,\"r\":[1, {\"a\": null}],"
                        "\"l\":[[],{},\"\",7,1e+300],\"a/\\\"b.c\":1,"
                        "\"time\":\"2026-01-31T12:00:00Z\","
                        "\"micro\":\"2026-01-31T12:00:00.999999Z\"}");
    assert_null(ki_json_unref(json));
}

static void scalars_are_documents(void **state)
{
    (void)state;
    ki_json *json = new_json();
    ki_json_double(json, NULL, -0.0);
    assert_string_equal(text_of(json), "-0");
    ki_json_reset(json);
    ki_json_null(json, NULL);
    assert_string_equal(text_of(json), "null");
    ki_json_reset(json);
    ki_json_string(json, NULL, "x:");
    assert_string_equal(text_of(json), "\"x:\"");
    ki_json_reset(json);
    ki_json_begin_list(json, NULL);
    ki_json_end(json);
    assert_string_equal(text_of(json), "[]");
    ki_json_unref(json);
}

static void doubles_read_back(void **state)
{
    (void)state;
    uint64_t random = 5;
    ki_json *json = new_json();
    for (int i = 0; i < 5000; i++) {
        uint64_t bits = i == 0 ? 1 : test_random(&random); /* the smallest first */
        double number = i == 1 ? DBL_MAX : 0;
        double again = 0;
        ki_value value;
        ki_object *object = NULL;
        if (i != 1) {
            memcpy(&number, &bits, sizeof(number));
        }
        if (!__builtin_isfinite(number)) {
            continue;
        }
        ki_json_reset(json);
        ki_json_begin_map(json, NULL);
        ki_json_double(json, "d", number);
        ki_json_end(json);
        assert_int_equal(ki_json_object(json, &object, NULL), 0);
        ki_value root = ki_object_root(object);
        assert_int_equal(ki_value_member(&root, ki_str_from("d"), &value), 0);
        assert_int_equal(ki_value_double(&value, &again), 0);
        assert_memory_equal(&number, &again, sizeof(number));
        ki_object_unref(object);
    }
    ki_json_unref(json);
}

static void copies_of_values(void **state)
{
    (void)state;
    ki_object *object = test_json("{\"metadata\":{\"name\":\"a\",\"labels\":{\"x\":\"1\"}},"
                                  "\"list\":[1, 2],\"\\u0061\\n\":{\"k\\u00e9y\":[null]}}");
    ki_value labels = ki_object_labels(object);
    ki_value absent = ki_object_annotations(object);
    ki_value root = ki_object_root(object);
    ki_value name;
    ki_value value;
    ki_value_iter iter;
    ki_json *json = new_json();
    ki_json_begin_map(json, NULL);
    ki_json_value(json, "annotations", &absent); /* the first member, omitted */
    ki_json_value(json, "labels", &labels);
    ki_json_value(json, "annotations", &absent);
    ki_json_name(json, ki_str_from("annotations"));
    ki_json_value(json, NULL, &absent);
    assert_int_equal(ki_value_iter_begin(&root, &iter), 0);
    while (ki_value_iter_next(&iter, &name, &value) > 0) {
        ki_json_member(json, &name, &value);
        ki_json_member(json, &name, &absent);
    }
    ki_json_begin_list(json, "all");
    ki_json_value(json, NULL, &root);
    ki_json_end(json);
    ki_json_end(json);
    assert_string_equal(text_of(json),
                        "{\"labels\":{\"x\":\"1\"},"
                        "\"metadata\":{\"name\":\"a\",\"labels\":{\"x\":\"1\"}},\"list\":[1, 2],"
                        "\"\\u0061\\n\":{\"k\\u00e9y\":[null]},\"all\":[{\"metadata\":{\"name\":"
                        "\"a\",\"labels\":{\"x\":\"1\"}},\"list\":[1, 2],"
                        "\"\\u0061\\n\":{\"k\\u00e9y\":[null]}}]}");
    ki_json_unref(json);
    ki_object_unref(object);
}

static void owner_references(void **state)
{
    (void)state;
    ki_object *owner = test_json("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{"
                                 "\"name\":\"p\",\"uid\":\"u-1\"}}");
    ki_object *fresh = test_json("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{"
                                 "\"name\":\"p\"}}");
    ki_json *json = new_json();
    ki_json_begin_list(json, NULL);
    ki_json_owner_reference(json, owner, true);
    ki_json_owner_reference(json, owner, false);
    ki_json_end(json);
    assert_string_equal(text_of(json),
                        "[{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"p\",\"uid\":\"u-1\","
                        "\"controller\":true,\"blockOwnerDeletion\":true},"
                        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"p\",\"uid\":\"u-1\"}]");
    ki_json_reset(json);
    ki_json_begin_list(json, NULL);
    ki_json_owner_reference(json, fresh, true);
    check_failure(json, KI_ERR_INVALID, "[0].uid: the owner has none");
    ki_json_reset(json);
    ki_json_owner_reference(json, NULL, true);
    check_failure(json, KI_ERR_INVALID, "an owner must not be NULL");
    ki_json_unref(json);
    ki_object_unref(owner);
    ki_object_unref(fresh);
}

static void results_can_be_objects(void **state)
{
    (void)state;
    ki_error error = KI_ERROR_INIT;
    ki_object *object = NULL;
    ki_json *json = new_json();
    ki_json_format(json, NULL, "{kind: 'Pod', metadata: {namespace: 'a', name: %s}}", "b");
    assert_int_equal(ki_json_object(json, &object, &error), 0);
    ki_json_reset(json); /* the object does not depend on the writer */
    assert_string_equal(ki_object_key(object), "a/b");
    ki_object_unref(object);
    object = NULL;
    ki_json_format(json, NULL, "{metadata: {name: 1}}");
    assert_int_equal(ki_json_object(json, &object, &error), KI_ERR_INVALID);
    assert_null(object);
    assert_string_equal(text_of(json), "{\"metadata\":{\"name\":1}}"); /* it is valid JSON */
    ki_json_unref(json);
}

static void times_are_rfc_3339(void **state)
{
    (void)state;
    static const struct {
        int64_t ns;
        const char *text;
        const char *micro;
    } cases[] = {
        {0, "1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000000Z"},
        {-1, "1969-12-31T23:59:59Z", "1969-12-31T23:59:59.999999Z"},
        {INT64_C(1709209800000001999), "2024-02-29T12:30:00Z", "2024-02-29T12:30:00.000001Z"},
        {INT64_MAX, "2262-04-11T23:47:16Z", "2262-04-11T23:47:16.854775Z"},
        {INT64_MIN, "1677-09-21T00:12:43Z", "1677-09-21T00:12:43.145224Z"},
    };
    char text[KI_TIME_TEXT_SIZE];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_string_equal(ki_time_text(cases[i].ns, text), cases[i].text);
        assert_string_equal(ki_time_micro_text(cases[i].ns, text), cases[i].micro);
    }
}

static int64_t fixed_time(void *user)
{
    return *(const int64_t *)user;
}

static void the_current_time_comes_from_a_clock(void **state)
{
    (void)state;
    int64_t fixed = 42;
    ki_clock clock = {.realtime_ns = fixed_time, .user = &fixed};
    assert_int_equal(ki_clock_now_ns(&clock), 42);
    int64_t before = ki_clock_system()->realtime_ns(NULL);
    assert_true(ki_clock_now_ns(NULL) - before < INT64_C(3600000000000));
}

/* ---- misuse ---- */

static void a_second_value(ki_json *json)
{
    ki_json_int64(json, NULL, 1);
    ki_json_int64(json, NULL, 2);
}

static void a_second_map(ki_json *json)
{
    ki_json_begin_map(json, NULL);
    ki_json_end(json);
    ki_json_begin_map(json, NULL);
    ki_json_end(json);
}

static void a_named_top(ki_json *json)
{
    ki_json_begin_map(json, "spec");
}

static void a_member_without_name(ki_json *json)
{
    ki_json_begin_map(json, NULL);
    ki_json_begin_map(json, "metadata");
    ki_json_string(json, NULL, "x");
    ki_json_end(json); /* nothing after the first failure counts */
    ki_json_int64(json, "x", 1);
}

static void a_map_without_name(ki_json *json)
{
    ki_json_begin_map(json, NULL);
    ki_json_int64(json, "a", 1);
    ki_json_begin_map(json, NULL);
}

static void an_element_with_a_name(ki_json *json)
{
    ki_json_begin_map(json, NULL);
    ki_json_begin_list(json, "finalizers");
    ki_json_string(json, NULL, "a");
    ki_json_string(json, "b", "b");
}

static void two_names(ki_json *json)
{
    ki_json_begin_map(json, NULL);
    ki_json_name(json, ki_str_from("a"));
    ki_json_string(json, "b", "c");
}

static void a_name_without_value(ki_json *json)
{
    ki_json_begin_map(json, NULL);
    ki_json_name(json, ki_str_from("a.b"));
    ki_json_end(json);
}

static void a_last_name_without_value(ki_json *json)
{
    ki_json_begin_map(json, NULL);
    ki_json_name(json, ki_str_from("a"));
}

static void too_many_ends(ki_json *json)
{
    ki_json_begin_map(json, NULL);
    ki_json_end(json);
    ki_json_end(json);
}

static void an_end_alone(ki_json *json)
{
    ki_json_end(json);
}

static void nothing(ki_json *json)
{
    (void)json;
}

static void a_map_not_ended(ki_json *json)
{
    ki_json_begin_map(json, NULL);
    ki_json_begin_list(json, "spec");
    ki_json_begin_map(json, NULL);
    ki_json_end(json);
    ki_json_begin_map(json, NULL);
    ki_json_begin_map(json, "labels");
    ki_json_string(json, "a", "b");
}

static void a_top_list_not_ended(ki_json *json)
{
    ki_json_begin_list(json, NULL);
    ki_json_int64(json, NULL, 1);
}

static void a_string_that_is_null(ki_json *json)
{
    ki_json_begin_map(json, NULL);
    ki_json_string(json, "name", NULL);
}

static void a_value_that_is_null(ki_json *json)
{
    ki_json_begin_map(json, NULL);
    ki_json_value(json, "name", NULL);
}

static void raw_that_is_null(ki_json *json)
{
    ki_json_raw(json, NULL, NULL);
}

static void raw_that_is_not_json(ki_json *json)
{
    ki_json_begin_list(json, NULL);
    ki_json_raw(json, NULL, "1");
    ki_json_raw(json, NULL, "\n {\"a\" 1}");
}

static void raw_of_two_values(ki_json *json)
{
    ki_json_begin_list(json, NULL);
    ki_json_raw(json, NULL, "1,2");
}

static void an_absent_element(ki_json *json)
{
    ki_value none = {0};
    ki_json_begin_list(json, NULL);
    ki_json_value(json, NULL, &none);
}

static void an_absent_name(ki_json *json)
{
    ki_value none = {0};
    ki_json_begin_map(json, NULL);
    ki_json_member(json, &none, &none);
}

static void not_a_number(ki_json *json)
{
    ki_json_begin_list(json, NULL);
    ki_json_double(json, NULL, 1);
    ki_json_double(json, NULL, __builtin_nan(""));
}

static void infinity(ki_json *json)
{
    ki_json_begin_map(json, NULL);
    ki_json_double(json, "ratio", -__builtin_inf());
}

static void not_utf8(ki_json *json)
{
    ki_json_begin_map(json, NULL);
    ki_json_begin_list(json, "args");
    ki_json_string(json, NULL, "ok");
    ki_json_string(json, NULL, "a:\xff");
}

static void a_name_not_utf8(ki_json *json)
{
    ki_json_begin_map(json, NULL);
    ki_json_begin_map(json, "data");
    ki_json_string(json, "a\xc3", "x");
}

static void odd_names(ki_json *json)
{
    ki_json_begin_map(json, NULL);
    ki_json_begin_map(json, "a.b/\"c");
    ki_json_begin_map(json, "");
    ki_json_begin_list(json, "x\n");
    ki_json_begin_list(json, NULL);
    ki_json_int64(json, NULL, 1);
    ki_json_int64(json, "c", 1);
}

static void misuse_is_reported_with_its_place(void **state)
{
    (void)state;
    static const struct {
        void (*write)(ki_json *json);
        int code;
        const char *message;
    } cases[] = {
        {a_second_value, KI_ERR_INVALID, "a second top-level value"},
        {a_second_map, KI_ERR_INVALID, "a second top-level value"},
        {a_named_top, KI_ERR_INVALID, "the top-level value has no name"},
        {a_member_without_name, KI_ERR_INVALID, "metadata: a member of a map needs a name"},
        {a_map_without_name, KI_ERR_INVALID, "a member of a map needs a name"},
        {an_element_with_a_name, KI_ERR_INVALID, "finalizers[1]: an element of a list has no name"},
        {two_names, KI_ERR_INVALID, "a: two names without a value between them"},
        {a_name_without_value, KI_ERR_INVALID, "[\"a.b\"]: a name without a value"},
        {a_last_name_without_value, KI_ERR_INVALID, "a: a name without a value"},
        {too_many_ends, KI_ERR_INVALID, "an end without a beginning"},
        {an_end_alone, KI_ERR_INVALID, "an end without a beginning"},
        {nothing, KI_ERR_INVALID, "no JSON was written"},
        {a_map_not_ended, KI_ERR_INVALID, "spec[1].labels: the map was not ended"},
        {a_top_list_not_ended, KI_ERR_INVALID, "the list was not ended"},
        {a_string_that_is_null, KI_ERR_INVALID, "name: a string must not be NULL"},
        {a_value_that_is_null, KI_ERR_INVALID, "name: a value must not be NULL"},
        {raw_that_is_null, KI_ERR_INVALID, "raw JSON must not be NULL"},
        {raw_of_two_values, KI_ERR_SYNTAX, NULL},
        {raw_that_is_not_json, KI_ERR_SYNTAX, NULL},
        {an_absent_element, KI_ERR_TYPE, "[0]: no value"},
        {an_absent_name, KI_ERR_TYPE, "the name of a member must be a string"},
        {not_a_number, KI_ERR_RANGE, "[1]: the number is not finite"},
        {infinity, KI_ERR_RANGE, "ratio: the number is not finite"},
        {not_utf8, KI_ERR_ENCODING, "args[1]: not valid UTF-8"},
        {a_name_not_utf8, KI_ERR_ENCODING, "data: not valid UTF-8"},
        {odd_names, KI_ERR_INVALID,
         "[\"a.b/\\\"c\"][\"\"][\"x\\n\"][0][1]: an element of a list has no name"},
    };
    ki_json *json = new_json();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cases[i].write(json);
        if (cases[i].message != NULL) {
            check_failure(json, cases[i].code, cases[i].message);
        } else {
            ki_str text;
            assert_int_equal(ki_json_text(json, &text, NULL), cases[i].code);
        }
        ki_json_reset(json);
        ki_json_null(json, NULL);
        assert_string_equal(text_of(json), "null"); /* nothing is left of the failure */
        ki_json_reset(json);
    }
    ki_json_unref(json);
}

static void errors_of_raw_json_have_their_place(void **state)
{
    (void)state;
    ki_error error = KI_ERROR_INIT;
    ki_str text;
    ki_json *json = new_json();
    ki_json_begin_map(json, NULL);
    ki_json_raw(json, "spec", "{\"a\":\n x}");
    assert_int_equal(ki_json_text(json, &text, &error), KI_ERR_SYNTAX);
    assert_int_equal(error.line, 2);
    assert_int_equal(error.column, 2);
    assert_memory_equal(error.message, "spec: ", 6);
    ki_json_unref(json);
}

static void an_incomplete_text_can_be_completed(void **state)
{
    (void)state;
    ki_str text;
    ki_json *json = new_json();
    ki_json_begin_map(json, NULL);
    assert_int_equal(ki_json_text(json, &text, NULL), KI_ERR_INVALID);
    ki_json_name(json, ki_str_from("a"));
    assert_int_equal(ki_json_text(json, &text, NULL), KI_ERR_INVALID);
    ki_json_bool(json, NULL, true);
    ki_json_end(json);
    assert_string_equal(text_of(json), "{\"a\":true}");
    ki_json_unref(json);
}

static void invalid_utf8_can_be_replaced(void **state)
{
    (void)state;
    ki_json *json = NULL;
    const ki_json_options *options = KI_OPTIONS(ki_json_options, .replace_invalid_utf8 = true);
    assert_int_equal(ki_json_new(options, &json, NULL), 0);
    ki_json_begin_map(json, NULL);
    ki_json_string(json, "a\xff", "\xc3(");
    ki_json_format(json, "f", "{'\xff%s': '%s\xff'}", "\xfe", "\xfd");
    ki_json_end(json);
#define R "\xef\xbf\xbd"
    assert_string_equal(text_of(json), "{\"a" R "\":\"" R "(\",\"f\":{\"" R R "\":\"" R R "\"}}");
    ki_json_unref(json);
}

static void options_are_checked(void **state)
{
    (void)state;
    ki_error error = KI_ERROR_INIT;
    ki_json *json = NULL;
    const ki_json_options *large = KI_OPTIONS(ki_json_options, .max_bytes = ((size_t)1 << 30) + 1);
    ki_json_options odd = {.size = 3};
    assert_int_equal(ki_json_new(large, &json, &error), -EINVAL);
    assert_string_equal(error.message, "max_bytes: must not be more than 1 GiB");
    assert_int_equal(ki_json_new(&odd, &json, &error), -EINVAL);
    assert_null(json);
    assert_null(ki_json_unref(NULL));
}

/* ---- limits ---- */

static void depth_is_limited(void **state)
{
    (void)state;
    ki_object *deep =
        test_json("{\"a\":[[[{\"b\":1}]]],\"c\":1}"); /* the list is 4 deep, all of it 5 */
    ki_value root = ki_object_root(deep);
    ki_value scalar;
    ki_json *json = new_json();
    ki_error error = KI_ERROR_INIT;
    ki_str text;
    assert_int_equal(ki_value_member(&root, ki_str_from("c"), &scalar), 0);
    for (int extra = 0; extra < 2; extra++) { /* copies, raw text and formats count */
        for (int form = 0; form < 3; form++) {
            for (int i = 0; i < 123 + extra; i++) {
                ki_json_begin_list(json, NULL);
            }
            if (form == 0) {
                ki_json_value(json, NULL, &root);
            } else if (form == 1) {
                ki_json_raw(json, NULL, "[[[[[]]]]]");
            } else {
                ki_json_format(json, NULL, "[[[[[]]]]]");
            }
            for (int i = 0; i < 123 + extra; i++) {
                ki_json_end(json);
            }
            assert_int_equal(ki_json_text(json, &text, &error), extra != 0 ? KI_ERR_DEPTH : 0);
            ki_json_reset(json);
        }
    }
    for (int i = 0; i < 128; i++) {
        ki_json_begin_list(json, NULL);
    }
    ki_json_value(json, NULL, &scalar);
    ki_json_raw(json, NULL, "1");
    ki_json_begin_list(json, NULL);
    assert_int_equal(ki_json_text(json, &text, &error), KI_ERR_DEPTH);
    assert_non_null(strstr(error.message, "[0][0][2]: maps and lists are nested deeper than 128"));
    ki_json_unref(json);
    ki_object_unref(deep);
}

static void long_names_are_cut_in_messages(void **state)
{
    (void)state;
    ki_error error = KI_ERROR_INIT;
    ki_str text;
    ki_json *json = new_json();
    char name[1001];
    memset(name, 'n', sizeof(name) - 1);
    name[1000] = '\0';
    ki_json_begin_map(json, NULL);
    ki_json_begin_map(json, name);
    ki_json_string(json, "a", NULL);
    assert_int_equal(ki_json_text(json, &text, &error), KI_ERR_INVALID);
    assert_non_null(strstr(error.message, "nnn...\"].a: a string must not be NULL"));
    ki_json_reset(json);
    ki_json_begin_map(json, NULL);
    for (int i = 0; i < 10; i++) {
        ki_json_begin_map(json, name);
    }
    ki_json_string(json, "a", NULL);
    assert_int_equal(ki_json_text(json, &text, &error), KI_ERR_INVALID);
    assert_memory_equal(error.message, "...[\"nnn", 8); /* of a long path the end is shown */
    assert_non_null(strstr(error.message, "nnn...\"].a: a string must not be NULL"));
    ki_json_unref(json);
}

/* A text of 34 bytes. */
static void write_small(ki_json *json)
{
    ki_json_begin_map(json, NULL);
    ki_json_string(json, "a:", "b:\n");
    ki_json_begin_list(json, "c");
    ki_json_int64(json, NULL, 1);
    ki_json_string(json, NULL, "d:\"e:");
    ki_json_end(json);
    ki_json_end(json);
}

static void size_is_limited(void **state)
{
    (void)state;
    ki_json *json = new_json();
    write_small(json);
    size_t whole = strlen(text_of(json));
    ki_json_unref(json);
    for (size_t max = 1; max <= whole; max++) {
        ki_error error = KI_ERROR_INIT;
        ki_str text;
        assert_int_equal(ki_json_new(KI_OPTIONS(ki_json_options, .max_bytes = max), &json, NULL),
                         0);
        write_small(json);
        int r = ki_json_text(json, &text, &error);
        assert_int_equal(r, max < whole ? KI_ERR_LIMIT : 0);
        if (max < whole) {
            assert_non_null(strstr(error.message, "the text is larger than max_bytes"));
        }
        ki_json_unref(json);
    }
}

/* ---- failing allocations ---- */

static int make_and_read(const ki_alloc *alloc, void *user)
{
    const ki_object *source = user;
    ki_value root = ki_object_root(source);
    ki_object *object = NULL;
    ki_json *json = NULL;
    ki_error error = KI_ERROR_INIT;
    int r = ki_json_new(KI_OPTIONS(ki_json_options, .alloc = alloc), &json, &error);
    if (r < 0) {
        assert_null(json);
        return r;
    }
    ki_json_begin_map(json, NULL);
    ki_json_format(json, "metadata", "{name: %s, labels: {'a-%d': 'x-%g'}}", "made", 1, 0.5);
    ki_json_value(json, "copy", &root);
    ki_json_base64(json, "data", ki_object_bytes(source));
    ki_json_begin_list(json, "owners");
    ki_json_owner_reference(json, source, true);
    ki_json_end(json);
    ki_json_end(json);
    r = ki_json_object(json, &object, &error);
    assert_true(r == 0 ? object != NULL : error.code == r && object == NULL);
    if (r == 0) {
        assert_string_equal(ki_object_key(object), "made");
    }
    ki_object_unref(object);
    ki_json_unref(json);
    return r;
}

static void allocations_may_fail(void **state)
{
    (void)state;
    ki_object *source =
        test_json("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\","
                  "\"uid\":\"u\"},\"long\":\"0123456789012345678901234567890123456789\"}");
    test_alloc_sweep(make_and_read, source);
    ki_object_unref(source);
}

static void a_reset_keeps_the_memory(void **state)
{
    (void)state;
    test_alloc alloc;
    ki_json *json = NULL;
    test_alloc_init(&alloc);
    assert_int_equal(ki_json_new(KI_OPTIONS(ki_json_options, .alloc = &alloc.table), &json, NULL),
                     0);
    write_small(json);
    uint64_t calls = alloc.calls;
    for (int i = 0; i < 3; i++) {
        ki_json_reset(json);
        write_small(json);
        (void)text_of(json);
    }
    assert_int_equal(alloc.calls, calls);
    ki_json_unref(json);
    test_alloc_done(&alloc);
}

/* ---- copies of any document ---- */

static void rebuild(ki_json *json, const ki_value *value);

static void rebuild_number(ki_json *json, const ki_value *value)
{
    int64_t integer;
    double real;
    ki_str text;
    if (ki_value_int64(value, &integer) == 0 && integer != 0) { /* it may be -0.0 */
        ki_json_int64(json, NULL, integer);
    } else if (ki_value_double(value, &real) == 0) {
        ki_json_double(json, NULL, real);
    } else {
        char room[4096];
        assert_int_equal(ki_value_number_text(value, &text), 0);
        assert_true(text.len < sizeof(room));
        memcpy(room, text.ptr, text.len);
        room[text.len] = '\0';
        ki_json_raw(json, NULL, room);
    }
}

static void rebuild_container(ki_json *json, const ki_value *value)
{
    ki_buf name;
    ki_value_iter iter;
    ki_value key;
    ki_value child;
    bool is_map = ki_value_type(value) == KI_TYPE_MAP;
    (is_map ? ki_json_begin_map : ki_json_begin_list)(json, NULL);
    assert_int_equal(ki_value_iter_begin(value, &iter), 0);
    ki_buf_init(&name, NULL, SAME_TEXT_MAX);
    while (ki_value_iter_next(&iter, &key, &child) > 0) {
        if (is_map) {
            ki_buf_clear(&name);
            assert_int_equal(ki_value_copy_string(&key, &name), 0);
            ki_json_name(json, ki_buf_str(&name));
        }
        rebuild(json, &child);
    }
    ki_buf_done(&name);
    ki_json_end(json);
}

/* Writes a value again from what the reader returns. */
static void rebuild(ki_json *json, const ki_value *value)
{
    ki_buf text;
    bool flag;
    switch (ki_value_type(value)) {
    case KI_TYPE_NULL:
        ki_json_null(json, NULL);
        break;
    case KI_TYPE_BOOL:
        assert_int_equal(ki_value_bool(value, &flag), 0);
        ki_json_bool(json, NULL, flag);
        break;
    case KI_TYPE_NUMBER:
        rebuild_number(json, value);
        break;
    case KI_TYPE_STRING:
        ki_buf_init(&text, NULL, SAME_TEXT_MAX);
        assert_int_equal(ki_value_copy_string(value, &text), 0);
        ki_json_str(json, NULL, ki_buf_str(&text));
        ki_buf_done(&text);
        break;
    case KI_TYPE_LIST:
    case KI_TYPE_MAP:
        rebuild_container(json, value);
        break;
    case KI_TYPE_NONE:
    case KI_TYPE_MAX:
        fail();
    }
}

/* Whether both read the same, in the same order: names may be there twice. */
static bool same_in_order(const ki_value *a, const ki_value *b)
{
    ki_type type = ki_value_type(a);
    if (type != ki_value_type(b) || (type != KI_TYPE_LIST && type != KI_TYPE_MAP)) {
        return type == ki_value_type(b) && same_scalar(a, b);
    }
    ki_value_iter left;
    ki_value_iter right;
    ki_value keys[2];
    ki_value values[2];
    assert_int_equal(ki_value_iter_begin(a, &left), 0);
    assert_int_equal(ki_value_iter_begin(b, &right), 0);
    for (;;) {
        int more = ki_value_iter_next(&left, &keys[0], &values[0]);
        if (more != ki_value_iter_next(&right, &keys[1], &values[1])) {
            return false;
        }
        if (more == 0) {
            return true;
        }
        if ((type == KI_TYPE_MAP && !same_string(&keys[0], &keys[1])) ||
            !same_in_order(&values[0], &values[1])) {
            return false;
        }
    }
}

typedef struct copies {
    ki_json *whole;   /* copies values whole */
    ki_json *members; /* the members of the top one by one */
    ki_json *rebuilt; /* everything one by one */
} copies;

static void check_copy(ki_json *json, const ki_value *value)
{
    ki_object *copy = NULL;
    ki_error error = KI_ERROR_INIT;
    if (ki_json_object(json, &copy, &error) < 0) {
        fail_msg("%s", error.message);
    }
    ki_value root = ki_object_root(copy);
    assert_true(same_in_order(value, &root));
    ki_object_unref(copy);
    ki_json_reset(json);
}

static void check_copies(const copies *c, const ki_object *object)
{
    ki_value root = ki_object_root(object);
    ki_value key;
    ki_value child;
    ki_value_iter iter;
    ki_json_value(c->whole, NULL, &root);
    check_copy(c->whole, &root);
    ki_json_begin_map(c->members, NULL);
    assert_int_equal(ki_value_iter_begin(&root, &iter), 0);
    while (ki_value_iter_next(&iter, &key, &child) > 0) {
        ki_json_member(c->members, &key, &child);
    }
    ki_json_end(c->members);
    check_copy(c->members, &root);
    rebuild(c->rebuilt, &root);
    check_copy(c->rebuilt, &root);
}

static copies new_copies(void)
{
    return (copies){.whole = new_json(), .members = new_json(), .rebuilt = new_json()};
}

static void free_copies(copies c)
{
    ki_json_unref(c.whole);
    ki_json_unref(c.members);
    ki_json_unref(c.rebuilt);
}

static void copies_of_random_json_read_the_same(void **state)
{
    (void)state;
    uint64_t random = 11;
    copies c = new_copies();
    ki_buf text;
    ki_buf_init(&text, NULL, 1 << 20);
    for (int i = 0; i < 2000; i++) {
        ki_object *object = NULL;
        ki_buf_clear(&text);
        test_add(&text, "{\"any\":", 1);
        test_json_random(&text, &random, 60);
        test_add(&text, "}", 1);
        assert_int_equal(ki_object_from_json(text.data, text.len, NULL, &object, NULL), 0);
        check_copies(&c, object);
        ki_object_unref(object);
    }
    ki_buf_done(&text);
    free_copies(c);
}

static void check_golden(const golden_record *record, void *user)
{
    const copies *c = user;
    ki_object *proto = NULL;
    ki_object *json = NULL;
    assert_int_equal(
        ki_object_from_protobuf(record->protobuf.ptr, record->protobuf.len, NULL, &proto, NULL), 0);
    if (ki_object_from_json(record->json.ptr, record->json.len, NULL, &json, NULL) == 0) {
        check_copies(c, json);
        check_copies(c, proto);
    }
    ki_object_unref(proto);
    ki_object_unref(json);
}

static void copies_of_golden_objects_read_the_same(void **state)
{
    (void)state;
    copies c = new_copies();
    assert_true(golden_each(TEST_DATA_DIR "/protobuf", check_golden, &c) > 2000);
    free_copies(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_value_is_written),
        cmocka_unit_test(scalars_are_documents),
        cmocka_unit_test(doubles_read_back),
        cmocka_unit_test(copies_of_values),
        cmocka_unit_test(owner_references),
        cmocka_unit_test(results_can_be_objects),
        cmocka_unit_test(times_are_rfc_3339),
        cmocka_unit_test(the_current_time_comes_from_a_clock),
        cmocka_unit_test(misuse_is_reported_with_its_place),
        cmocka_unit_test(errors_of_raw_json_have_their_place),
        cmocka_unit_test(an_incomplete_text_can_be_completed),
        cmocka_unit_test(invalid_utf8_can_be_replaced),
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(depth_is_limited),
        cmocka_unit_test(long_names_are_cut_in_messages),
        cmocka_unit_test(size_is_limited),
        cmocka_unit_test(allocations_may_fail),
        cmocka_unit_test(a_reset_keeps_the_memory),
        cmocka_unit_test(copies_of_random_json_read_the_same),
        cmocka_unit_test(copies_of_golden_objects_read_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
