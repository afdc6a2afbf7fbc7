/* SPDX-License-Identifier: Apache-2.0 */
#include <kinformer/error.h>

#include "base/digits.h"
#include "object/edit/json_out.h"
#include "object/text/base64.h"
#include "object/text/rfc3339.h"
#include "support/test.h"

static void numbers_are_decimal(void **state)
{
    (void)state;
    ki_buf buf;
    ki_buf_init(&buf, NULL, 100);
    ki__out out = ki__out_to(&buf);
    ki__out_u64(&out, 0);
    ki__out_texts(&out, " ", "", "x ", NULL);
    ki__out_u64(&out, UINT64_MAX);
    ki__out_i64(&out, INT64_MIN);
    assert_int_equal(out.error, 0);
    assert_string_equal(buf.data, "0 x 18446744073709551615-9223372036854775808");
    ki_buf_done(&buf);
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
        ki_buf buf;
        ki_buf_init(&buf, NULL, 100);
        ki__out out = ki__out_to(&buf);
        ki__put_string(&out, ki_str_from(cases[i][0]));
        assert_int_equal(out.error, 0);
        assert_string_equal(buf.data, cases[i][1]);
        ki_buf_done(&buf);
    }
}

static void check_time(int64_t seconds, const char *expected)
{
    ki_buf buf;
    ki_buf_init(&buf, NULL, 100);
    ki__out out = ki__out_to(&buf);
    ki__out_time(&out, seconds);
    assert_int_equal(out.error, 0);
    assert_string_equal(buf.data, expected);
    ki_buf_done(&buf);
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
        ki_buf buf;
        int64_t again = 0;
        ki_buf_init(&buf, NULL, 100);
        ki__out out = ki__out_to(&buf);
        ki__out_time(&out, seconds);
        assert_int_equal(out.error, 0);
        assert_int_equal(ki__rfc3339_read(ki_buf_str(&buf), &again), 0);
        assert_int_equal(again, seconds < INT64_C(253402300799) ? seconds : INT64_C(253402300799));
        ki_buf_done(&buf);
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
        assert_int_equal(ki__base64url_encode(ki_str_from(cases[i][0]), &out), 0);
        assert_string_equal(ki_buf_text(&out), cases[i][1]);
        ki_buf_clear(&out);
        assert_int_equal(ki__base64url_decode(ki_str_from(cases[i][1]), &out), 0);
        assert_string_equal(ki_buf_text(&out), cases[i][0]);
        ki_buf_done(&out);
    }
    static const char *const wrong[] = {"Z", "Zg==", "Zm9vY", "Zh", "Zm9", "Z g", "Z+8v"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        ki_buf out;
        ki_buf_init(&out, NULL, 100);
        assert_int_equal(ki__base64url_decode(ki_str_from(wrong[i]), &out), KI_ERR_SYNTAX);
        ki_buf_done(&out);
    }
}

static void numbers_are_read_strictly(void **state)
{
    (void)state;
    uint64_t number = 7;
    assert_true(ki__digits_read(ki_str_from("18446744073709551615"), &number));
    assert_true(number == UINT64_MAX);
    assert_true(ki__digits_read(ki_str_from("007"), &number));
    assert_int_equal(number, 7);
    static const char *const wrong[] = {"", "18446744073709551616", "-1", "+1", " 1", "1x", "a"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_false(ki__digits_read(ki_str_from(wrong[i]), &number));
    }
}

static void nothing_is_appended_after_a_failure(void **state)
{
    (void)state;
    ki_buf buf;
    ki_buf_init(&buf, NULL, 10);
    ki__out out = ki__out_to(&buf);
    ki__out_text(&out, "12345678");
    ki__out_text(&out, "9ab");
    ki__out_char(&out, 'c');
    ki__put_u64(&out, 1);
    ki__put_map(&out);
    ki__put_end(&out);
    assert_int_equal(out.error, KI_ERR_LIMIT);
    assert_string_equal(buf.data, "12345678");
    ki__out_fail(&out, KI_ERR_TYPE);
    assert_int_equal(out.error, KI_ERR_LIMIT);
    ki_buf_done(&buf);
}

static void commas_stand_where_json_requires_them(void **state)
{
    (void)state;
    ki_buf buf;
    ki_buf_init(&buf, NULL, 1000);
    assert_int_equal(ki_buf_add_text(&buf, "{}"), 0); /* another text */
    ki__out out = ki__out_to(&buf);
    ki__put_map(&out);
    ki__put_member(&out, "a", "x");
    ki__put_name_str(&out, ki_str_from("b\""));
    ki__put_list(&out);
    ki__put_u64(&out, 1);
    ki__put_i64(&out, -2);
    ki__put_time(&out, 0);
    ki__put_bool(&out, true);
    ki__put_bool(&out, false);
    ki__put_json(&out, ki_str_from("true,null"));
    ki__put_json(&out, ki_str_make(NULL, 0));
    ki__put_map(&out);
    ki__put_end(&out);
    ki__put_list(&out);
    ki__put_end(&out);
    ki__put_end(&out);
    ki__out_text(&out, ",\"c\":{");
    ki__put_member_str(&out, "d", ki_str_from(":"));
    ki__put_member(&out, "e", "");
    ki__out_char(&out, '}');
    ki__put_end(&out);
    assert_int_equal(out.error, 0);
    assert_int_equal(out.depth, 0);
    assert_string_equal(
        buf.data, "{}{\"a\":\"x\",\"b\\\"\":[1,-2,\"1970-01-01T00:00:00Z\",true,false,true,null,"
                  "{},[]],\"c\":{\"d\":\":\",\"e\":\"\"}}");
    ki_buf_done(&buf);
}

/* One letter for each call: { [ . (end) n (name) 1 (number). */
static int run_calls(const char *calls)
{
    ki_buf buf;
    ki_buf_init(&buf, NULL, 1000);
    ki__out out = ki__out_to(&buf);
    for (const char *p = calls; *p != '\0'; p++) {
        switch (*p) {
        case '{':
            ki__put_map(&out);
            break;
        case '[':
            ki__put_list(&out);
            break;
        case '.':
            ki__put_end(&out);
            break;
        case 'n':
            ki__put_name(&out, "n");
            break;
        default:
            ki__put_u64(&out, 1);
            break;
        }
    }
    ki_buf_done(&buf);
    return out.error;
}

static void misuse_is_an_error(void **state)
{
    (void)state;
    static const char *const good[] = {"1", "{.", "[.", "{n1n1.", "[11.", "{n{n[{...n1."};
    static const char *const wrong[] = {".",   "{1",  "{n11", "{nn",   "[n",
                                        "[1n", "{n.", "{..",  "{n[.1", "[{.n"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_int_equal(run_calls(good[i]), 0);
    }
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(run_calls(wrong[i]), KI_ERR_INVALID);
    }
}

static void nesting_has_a_limit(void **state)
{
    (void)state;
    ki_buf buf;
    ki_buf_init(&buf, NULL, 1000);
    ki__out out = ki__out_to(&buf);
    for (int i = 0; i < KI__OUT_DEPTH_MAX; i++) {
        ki__put_list(&out);
    }
    for (int i = 0; i < KI__OUT_DEPTH_MAX / 2; i++) {
        ki__put_end(&out);
    }
    assert_int_equal(out.error, 0);
    for (int i = 0; i < KI__OUT_DEPTH_MAX / 2; i++) {
        ki__put_map(&out);
        ki__put_name(&out, "n");
    }
    assert_int_equal(out.error, 0);
    ki__put_map(&out);
    assert_int_equal(out.error, KI_ERR_DEPTH);
    ki_buf_done(&buf);
}

static void check_document(const char *script, int code, const char *expected)
{
    ki_buf buf;
    ki_buf_init(&buf, NULL, 100);
    ki__out out = ki__out_document(&buf);
    assert_false(ki__out_is_complete(&out));
    for (; *script != '\0'; script++) {
        switch (*script) {
        case '{':
            ki__put_map(&out);
            break;
        case '[':
            ki__put_list(&out);
            break;
        case '.':
            ki__put_end(&out);
            break;
        case 'n':
            ki__put_name(&out, "n");
            break;
        case '0':
            ki__put_null(&out);
            break;
        case 'd':
            ki__put_double(&out, 1.5);
            break;
        default:
            ki__put_double(&out, __builtin_inf());
        }
    }
    assert_int_equal(out.error, code);
    if (code == 0) {
        assert_string_equal(ki_buf_text(&buf), expected);
        assert_true(ki__out_is_complete(&out));
    }
    ki_buf_done(&buf);
}

static void documents_are_one_value(void **state)
{
    (void)state;
    check_document("0", 0, "null");
    check_document("d", 0, "1.5");
    check_document("{nd.", 0, "{\"n\":1.5}");
    check_document("[0d[..", 0, "[null,1.5,[]]");
    check_document("00", KI_ERR_INVALID, NULL);
    check_document("{.[", KI_ERR_INVALID, NULL);
    check_document("n0", KI_ERR_INVALID, NULL);
    check_document("{.n", KI_ERR_INVALID, NULL);
    check_document("[x.", KI_ERR_RANGE, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_appended_after_a_failure),
        cmocka_unit_test(commas_stand_where_json_requires_them),
        cmocka_unit_test(misuse_is_an_error),
        cmocka_unit_test(nesting_has_a_limit),
        cmocka_unit_test(numbers_are_decimal),
        cmocka_unit_test(strings_are_valid_json_whatever_they_hold),
        cmocka_unit_test(times_are_rfc_3339),
        cmocka_unit_test(times_read_back_as_they_were),
        cmocka_unit_test(base64url_goes_both_ways),
        cmocka_unit_test(numbers_are_read_strictly),
        cmocka_unit_test(documents_are_one_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
