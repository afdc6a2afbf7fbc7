/* SPDX-License-Identifier: Apache-2.0 */
/* ki_json_format(): what each conversion and each liberty of the syntax gives, and what is refused.
 */
#include <sys/types.h>

#include <kinformer/error.h>
#include <kinformer/json.h>

#include "support/test.h"

static ki_json *new_json(void)
{
    ki_json *json = NULL;
    assert_int_equal(ki_json_new(NULL, &json, NULL), 0);
    return json;
}

/* Checks the text and begins the next one. */
static void check_text(ki_json *json, const char *expected)
{
    ki_error error = KI_ERROR_INIT;
    ki_str text = {NULL, 0};
    if (ki_json_text(json, &text, &error) < 0) {
        fail_msg("%s", error.message);
    }
    assert_str(text, expected);
    ki_json_reset(json);
}

static void numbers(void **state)
{
    (void)state;
    ki_json *json = new_json();
    ki_json_format(json, NULL, "[%d, %i, %u, %ld, %li, %lu, %lld, %lli, %llu]", -1, 2, 3U, -4L, 5L,
                   6UL, -7LL, 8LL, 9ULL);
    check_text(json, "[-1,2,3,-4,5,6,-7,8,9]");
    ki_json_format(json, NULL, "[%jd,%ji,%ju,%zd,%zi,%zu]", INTMAX_MIN, (intmax_t)1, UINTMAX_MAX,
                   (ssize_t)-2, (ssize_t)3, SIZE_MAX);
    check_text(json, "[-9223372036854775808,1,18446744073709551615,-2,3,18446744073709551615]");
    ki_json_format(json, NULL, " [ %f , %g,-1.5e+3 ,\n2E-7\t, 0 ] ", 0.5, 1e100);
    check_text(json, "[0.5,1e+100,-1.5e+3,2E-7,0]");
    ki_json_unref(json);
}

static void strings(void **state)
{
    (void)state;
    ki_str view = ki_str_make("viewed", 4);
    ki_json *json = new_json();
    ki_json_format(json, NULL, "[%s,%.*s,%.*s,%.*s]", "a\"b", KI_STR_ARG(view), 3, "x", 0, "");
    check_text(json, "[\"a\\\"b\",\"view\",\"x\",\"\"]");
    ki_json_format(json, NULL, "'%s %d%% %hhd %g %u %zu: \"%.*s\"'", "a\\b\n", -5, true, 0.25, 7U,
                   (size_t)8, KI_STR_ARG(view));
    check_text(json, "\"a\\\\b\\n -5% true 0.25 7 8: \\\"view\\\"\"");
    ki_json_format(json, NULL, "[\"it's\", 'it\\'s', '\\u00e9\\n', \"\\\"%s\\\\\", '', \"\"]", "x");
    check_text(json, "[\"it's\",\"it's\",\"\\u00e9\\n\",\"\\\"x\\\\\",\"\",\"\"]");
    ki_json_format(json, NULL, "'tab\there, \xc3\xa9'");
    check_text(json, "\"tab\\there, \xc3\xa9\"");
    ki_json_unref(json);
}

static void booleans_and_null(void **state)
{
    (void)state;
    bool yes = true;
    ki_json *json = new_json();
    ki_json_format(json, NULL, "[true, false, null, %hhd, %hhd]", yes, !yes);
    check_text(json, "[true,false,null,true,false]");
    ki_json_unref(json);
}

static void names(void **state)
{
    (void)state;
    ki_json *json = new_json();
    ki_json_format(json, NULL,
                   "{%s: 1, '%s-%d': 2, \"c\": 3, app.kubernetes.io/name : 4, $ref_-1: 5, %d: 6,"
                   " '': {}, true: []}",
                   "n'\"", "m", 7, 8);
    check_text(json, "{\"n'\\\"\":1,\"m-7\":2,\"c\":3,\"app.kubernetes.io/name\":4,\"$ref_-1\":5,"
                     "\"8\":6,\"\":{},\"true\":[]}");
    ki_json_unref(json);
}

static void formats_are_values_like_others(void **state)
{
    (void)state;
    ki_json *json = new_json();
    ki_json_begin_map(json, NULL);
    ki_json_string(json, "kind", "Pod");
    ki_json_format(json, "metadata", "{name: %s}", "a");
    ki_json_begin_list(json, "list");
    ki_json_format(json, NULL, "[[%d],{}]", 1);
    ki_json_format(json, NULL, "%s", "b");
    ki_json_end(json);
    ki_json_name(json, ki_str_from("last"));
    ki_json_format(json, NULL, "null");
    ki_json_end(json);
    check_text(json, "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"},\"list\":[[[1],{}],\"b\"],"
                     "\"last\":null}");
    ki_json_unref(json);
}

static void arguments_cannot_change_the_structure(void **state)
{
    (void)state;
    static const char evil[] = "x\", \"admin\": true, 'y': '%s%n\\";
    ki_json *json = new_json();
    ki_json_format(json, NULL, "{name: %s, 'a%s': 'b%s', %s: 1}", evil, evil, evil, evil);
#define EVIL "x\\\", \\\"admin\\\": true, 'y': '%s%n\\\\"
    check_text(json, "{\"name\":\"" EVIL "\",\"a" EVIL "\":\"b" EVIL "\",\"" EVIL "\":1}");
    ki_json_unref(json);
}

/* Formats that compilers would refuse are passed where they cannot see them. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"

static void refused_formats(void **state)
{
    (void)state;
    static const struct {
        const char *format;
        size_t offset;
        int code;
    } cases[] = {
        {"", 0, KI_ERR_SYNTAX},          {"  ", 2, KI_ERR_SYNTAX},
        {"{", 1, KI_ERR_SYNTAX},         {"[1", 2, KI_ERR_SYNTAX},
        {"[1,]", 3, KI_ERR_SYNTAX},      {"[,1]", 1, KI_ERR_SYNTAX},
        {"[1 2]", 3, KI_ERR_SYNTAX},     {"[1}", 2, KI_ERR_SYNTAX},
        {"{a: 1]", 5, KI_ERR_SYNTAX},    {"{a: 1,}", 6, KI_ERR_SYNTAX},
        {"{,}", 1, KI_ERR_SYNTAX},       {"{a}", 2, KI_ERR_SYNTAX},
        {"{a 1}", 3, KI_ERR_SYNTAX},     {"{a:}", 3, KI_ERR_SYNTAX},
        {"{a::1}", 3, KI_ERR_SYNTAX},    {"{'a: 1}", 1, KI_ERR_SYNTAX},
        {"{[]: 1}", 1, KI_ERR_SYNTAX},   {"[']", 1, KI_ERR_SYNTAX},
        {"\"\\", 0, KI_ERR_SYNTAX},      {"'\\", 0, KI_ERR_SYNTAX},
        {"word", 0, KI_ERR_SYNTAX},      {"nul", 0, KI_ERR_SYNTAX},
        {"01", 0, KI_ERR_SYNTAX},        {"1.", 0, KI_ERR_SYNTAX},
        {"+1", 0, KI_ERR_SYNTAX},        {"1 2", 2, KI_ERR_SYNTAX},
        {"{} {}", 3, KI_ERR_SYNTAX},     {"]", 0, KI_ERR_SYNTAX},
        {"}", 0, KI_ERR_SYNTAX},         {"'\\x'", 0, KI_ERR_SYNTAX},
        {"'\\u12'", 0, KI_ERR_SYNTAX},   {"{'\\q': 1}", 1, KI_ERR_SYNTAX},
        {"%", 0, KI_ERR_SYNTAX},         {"%%", 0, KI_ERR_SYNTAX},
        {"%5d", 0, KI_ERR_SYNTAX},       {"%-s", 0, KI_ERR_SYNTAX},
        {"%.2f", 0, KI_ERR_SYNTAX},      {"%x", 0, KI_ERR_SYNTAX},
        {"%c", 0, KI_ERR_SYNTAX},        {"%n", 0, KI_ERR_SYNTAX},
        {"%p", 0, KI_ERR_SYNTAX},        {"%Lf", 0, KI_ERR_SYNTAX},
        {"%hd", 0, KI_ERR_SYNTAX},       {"%ls", 0, KI_ERR_SYNTAX},
        {"'%'", 1, KI_ERR_SYNTAX},       {"'a%q'", 2, KI_ERR_SYNTAX},
        {"'\xff'", 1, KI_ERR_ENCODING},  {"\n[\n  x]", 5, KI_ERR_SYNTAX},
        {"'a\\%s%d'", 2, KI_ERR_SYNTAX},
    };
    ki_json *json = new_json();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_error error = KI_ERROR_INIT;
        ki_str text;
        ki_json_format(json, NULL, cases[i].format);
        int r = ki_json_text(json, &text, &error);
        if (r != cases[i].code || error.offset != cases[i].offset) {
            fail_msg("%s: %d at %zu: %s", cases[i].format, r, error.offset, error.message);
        }
        ki_json_reset(json);
    }
    ki_json_format(json, NULL, NULL);
    ki_str text;
    assert_int_equal(ki_json_text(json, &text, NULL), KI_ERR_INVALID);
    ki_json_unref(json);
}

static void nesting_is_limited(void **state)
{
    (void)state;
    char deep[300] = {0};
    ki_str text;
    ki_json *json = new_json();
    memset(deep, '[', 128);
    memset(deep + 128, ']', 128);
    ki_json_format(json, NULL, deep);
    check_text(json, deep);
    memset(deep, '[', 129);
    memset(deep + 129, ']', 129);
    ki_json_format(json, NULL, deep);
    assert_int_equal(ki_json_text(json, &text, NULL), KI_ERR_DEPTH);
    ki_json_unref(json);
}

#pragma GCC diagnostic pop

static void check_failure(ki_json *json, int code, const char *message)
{
    ki_error error = KI_ERROR_INIT;
    ki_str text;
    assert_int_equal(ki_json_text(json, &text, &error), code);
    assert_string_equal(error.message, message);
    assert_int_equal(error.line, 1);
    ki_json_reset(json);
}

static void errors_have_both_places(void **state)
{
    (void)state;
    const char *volatile missing = NULL;
    ki_json *json = new_json();
    ki_json_begin_map(json, NULL);
    ki_json_format(json, "spec", "{list: [1, {name: %s}]}", missing);
    check_failure(json, KI_ERR_INVALID,
                  "spec.list[1].name: a string must not be NULL (at offset 18 of the format)");
    ki_json_begin_map(json, NULL);
    ki_json_format(json, "spec", "{a: 'x-%s'}", missing);
    check_failure(json, KI_ERR_INVALID,
                  "spec.a: a string must not be NULL (at offset 7 of the format)");
    ki_json_format(json, NULL, "{a: '%.*s'}", -1, "x");
    check_failure(json, KI_ERR_INVALID, "a: a negative length (at offset 5 of the format)");
    ki_json_format(json, NULL, "[%g]", __builtin_inf());
    check_failure(json, KI_ERR_RANGE, "[0]: the number is not finite (at offset 1 of the format)");
    ki_json_format(json, NULL, "{a: ['%g:']}", __builtin_inf());
    check_failure(json, KI_ERR_RANGE, "a[0]: the number is not finite (at offset 6 of the format)");
    ki_json_format(json, NULL, "{a: {'x:%s': 1}}", "\xff");
    check_failure(json, KI_ERR_ENCODING, "a: not valid UTF-8 (at offset 8 of the format)");
    ki_json_format(json, NULL, "{a: yes}");
    check_failure(json, KI_ERR_SYNTAX,
                  "a: expected a value; strings need quotes (at offset 4 of the format)");
    ki_json_null(json, NULL);
    ki_json_format(json, NULL, "'x'");
    check_failure(json, KI_ERR_INVALID, "a second top-level value (at offset 0 of the format)");
    ki_json_begin_map(json, NULL);
    ki_json_format(json, NULL, "{a: 1}");
    check_failure(json, KI_ERR_INVALID,
                  "a member of a map needs a name (at offset 0 of the format)");
    ki_json_unref(json);
}

static void formats_do_nothing_after_a_failure(void **state)
{
    (void)state;
    ki_error error = KI_ERROR_INIT;
    ki_str text;
    ki_json *json = new_json();
    ki_json_format(NULL, NULL, "%d", 1);
    ki_json_end(json);
    ki_json_format(json, NULL, "%d", 1);
    assert_int_equal(ki_json_text(json, &text, &error), KI_ERR_INVALID);
    assert_string_equal(error.message, "an end without a beginning");
    ki_json_unref(json);
}

static void size_is_limited_at_every_byte(void **state)
{
    (void)state;
    static const char whole[] = "{\"a:\":\"b:\\n\",\"c-1\":[1,\"d\\\"e:\",0.5,true]}";
    for (size_t max = 1; max < sizeof(whole); max++) {
        ki_json *json = NULL;
        ki_str text;
        assert_int_equal(ki_json_new(KI_OPTIONS(ki_json_options, .max_bytes = max), &json, NULL),
                         0);
        ki_json_format(json, NULL, "{%s: 'b:\\n', 'c-%d': [1, '%s:', %g, %hhd]}", "a:", 1, "d\"e",
                       0.5, true);
        int r = ki_json_text(json, &text, NULL);
        assert_int_equal(r, max == sizeof(whole) - 1 ? 0 : KI_ERR_LIMIT);
        ki_json_unref(json);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),
        cmocka_unit_test(strings),
        cmocka_unit_test(booleans_and_null),
        cmocka_unit_test(names),
        cmocka_unit_test(formats_are_values_like_others),
        cmocka_unit_test(arguments_cannot_change_the_structure),
        cmocka_unit_test(refused_formats),
        cmocka_unit_test(nesting_is_limited),
        cmocka_unit_test(errors_have_both_places),
        cmocka_unit_test(formats_do_nothing_after_a_failure),
        cmocka_unit_test(size_is_limited_at_every_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
