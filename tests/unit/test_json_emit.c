/* SPDX-License-Identifier: Apache-2.0 */
#include <kinformer/error.h>

#include "object/edit/json_emit.h"
#include "object/text/rfc3339.h"
#include "support/test.h"

static void numbers_are_decimal(void **state)
{
    (void)state;
    ki_buf out;
    ki_buf_init(&out, NULL, 100);
    assert_int_equal(ki__emit_u64(&out, 0), 0);
    assert_int_equal(ki__emit_text(&out, " ", "", "x ", NULL), 0);
    assert_int_equal(ki__emit_u64(&out, UINT64_MAX), 0);
    assert_int_equal(ki__emit_i64(&out, INT64_MIN), 0);
    assert_string_equal(out.data, "0 x 18446744073709551615-9223372036854775808");
    ki_buf_done(&out);
}

static void strings_are_valid_json_whatever_they_hold(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"", "\"\""},
        {"a\"b\\c\nd\te\x7f", "\"a\\\"b\\\\c\\nd\\te\x7f\""},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\""},
        {"\xff\xc3", "\"\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xc0\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xe0\x80\x80x", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdx\""},
        {"\xf4\x90\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_buf out;
        ki_buf_init(&out, NULL, 100);
        assert_int_equal(ki__emit_string(&out, ki_str_from(cases[i][0])), 0);
        assert_string_equal(out.data, cases[i][1]);
        ki_buf_done(&out);
    }
}

static void check_time(int64_t seconds, const char *expected)
{
    ki_buf out;
    ki_buf_init(&out, NULL, 100);
    assert_int_equal(ki__emit_time(&out, seconds), 0);
    assert_string_equal(out.data, expected);
    ki_buf_done(&out);
}

static void times_are_rfc_3339(void **state)
{
    (void)state;
    check_time(0, "1970-01-01T00:00:00Z");
    check_time(-1, "1969-12-31T23:59:59Z");
    check_time(1709209800, "2024-02-29T12:30:00Z");
    check_time(INT64_C(253402300799), "9999-12-31T23:59:59Z");
    check_time(INT64_MAX, "9999-12-31T23:59:59Z");
    check_time(INT64_MIN, "0000-03-01T00:00:00Z");
}

static void times_read_back_as_they_were(void **state)
{
    (void)state;
    uint64_t random = 3;
    for (int i = 0; i < 20000; i++) {
        int64_t seconds =
            (int64_t)(test_random(&random) % UINT64_C(315000000000)) - INT64_C(62000000000);
        ki_buf out;
        int64_t again = 0;
        ki_buf_init(&out, NULL, 100);
        assert_int_equal(ki__emit_time(&out, seconds), 0);
        assert_int_equal(ki__rfc3339_read(ki_buf_str(&out), &again), 0);
        assert_int_equal(again, seconds < INT64_C(253402300799) ? seconds : INT64_C(253402300799));
        ki_buf_done(&out);
    }
}

static void base64url_goes_both_ways(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"", ""},        {"f", "Zg"},        {"fo", "Zm8"},
        {"foo", "Zm9v"}, {"foob", "Zm9vYg"}, {"\xff\xff\xfe", "___-"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_buf out;
        ki_buf_init(&out, NULL, 100);
        assert_int_equal(ki__emit_base64url(&out, ki_str_from(cases[i][0])), 0);
        assert_string_equal(ki_buf_text(&out), cases[i][1]);
        ki_buf_clear(&out);
        assert_int_equal(ki__read_base64url(ki_str_from(cases[i][1]), &out), 0);
        assert_string_equal(ki_buf_text(&out), cases[i][0]);
        ki_buf_done(&out);
    }
    static const char *const wrong[] = {"Z", "Zg==", "Zm9vY", "Zh", "Zm9", "Z g", "Z+8v"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        ki_buf out;
        ki_buf_init(&out, NULL, 100);
        assert_int_equal(ki__read_base64url(ki_str_from(wrong[i]), &out), KI_ERR_SYNTAX);
        ki_buf_done(&out);
    }
}

static void numbers_are_read_strictly(void **state)
{
    (void)state;
    uint64_t number = 7;
    assert_true(ki__read_u64(ki_str_from("18446744073709551615"), &number));
    assert_true(number == UINT64_MAX);
    assert_true(ki__read_u64(ki_str_from("007"), &number));
    assert_int_equal(number, 7);
    static const char *const wrong[] = {"", "18446744073709551616", "-1", "+1", " 1", "1x", "a"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_false(ki__read_u64(ki_str_from(wrong[i]), &number));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_decimal),
        cmocka_unit_test(strings_are_valid_json_whatever_they_hold),
        cmocka_unit_test(times_are_rfc_3339),
        cmocka_unit_test(times_read_back_as_they_were),
        cmocka_unit_test(base64url_goes_both_ways),
        cmocka_unit_test(numbers_are_read_strictly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
