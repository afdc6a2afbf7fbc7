/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "object/json/json_string.h"
#include "support/test.h"

static void decodes(const char *raw, const char *expected, size_t len)
{
    char out[64];
    memset(out, '#', sizeof(out));
    assert_int_equal(ki__json_decode(ki_str_from(raw), out, sizeof(out)), len);
    assert_memory_equal(out, expected, len);
    assert_int_equal(out[len], '#');
    assert_true(ki__json_raw_equals(ki_str_from(raw), ki_str_make(expected, len)));
    assert_false(ki__json_raw_equals(ki_str_from(raw), ki_str_make("???", 3)));
    if (len != 0) {
        assert_false(ki__json_raw_equals(ki_str_from(raw), ki_str_make(expected, len - 1)));
    }
}

static void escapes_decode(void **state)
{
    (void)state;
    decodes("", "", 0);
    decodes("plain", "plain", 5);
    decodes("\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t", 8);
    decodes("a\\nb", "a\nb", 3);
    decodes("\\u0041\\u00e9\\u20AC", "A\xc3\xa9\xe2\x82\xac", 6);
    decodes("x\\u0000y", "x\0y", 3);
    decodes("\\u007f\\u0080\\u07ff\\u0800\\uffff", "\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf",
            11);
    decodes("\xc3\xa9\\n\xf0\x9f\x98\x80", "\xc3\xa9\n\xf0\x9f\x98\x80", 7);
}

static void surrogates_pair_up_or_become_the_replacement(void **state)
{
    (void)state;
    decodes("\\ud834\\udd1e", "\xf0\x9d\x84\x9e", 4);
    decodes("\\uD800\\uDC00", "\xf0\x90\x80\x80", 4);
    decodes("\\udbff\\udfff", "\xf4\x8f\xbf\xbf", 4);
    decodes("\\ud800", "\xef\xbf\xbd", 3);
    decodes("\\udc00", "\xef\xbf\xbd", 3);
    decodes("\\ud800x", "\xef\xbf\xbdx", 4);
    decodes("\\ud800\\n", "\xef\xbf\xbd\n", 4);
    decodes("\\ud800\\u0041",
            "\xef\xbf\xbd"
            "A",
            4);
    decodes("\\udc00\\ud800", "\xef\xbf\xbd\xef\xbf\xbd", 6);
    decodes("\\ud800\\ud800\\udc00", "\xef\xbf\xbd\xf0\x90\x80\x80", 7);
    decodes("\\ud800udc00", "\xef\xbf\xbdudc00", 8);
}

/* Every code point, as an escape or a pair of them, against a plain encoder. */
static void every_code_point_decodes(void **state)
{
    (void)state;
    for (uint32_t point = 0; point <= 0x10ffff; point++) {
        char raw[16];
        unsigned char expected[4];
        size_t len = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
        uint32_t shown = point >= 0xd800 && point <= 0xdfff ? 0xfffd : point;
        static const unsigned char marks[] = {0, 0, 0xc0, 0xe0, 0xf0};
        for (size_t i = len; i-- > 1;) {
            expected[i] = (unsigned char)(0x80 | (shown & 0x3f));
            shown >>= 6;
        }
        expected[0] = (unsigned char)(marks[len] | shown);
        if (point < 0x10000) {
            (void)snprintf(raw, sizeof(raw), "\\u%04x", point);
        } else {
            (void)snprintf(raw, sizeof(raw), "\\u%04X\\u%04x", 0xd800 + ((point - 0x10000) >> 10),
                           0xdc00 + (point & 0x3ff));
        }
        char out[8];
        size_t got = ki__json_decode(ki_str_from(raw), out, sizeof(out));
        if (got != len || memcmp(out, expected, len) != 0) {
            fail_msg("U+%04X", point);
        }
    }
}

static void no_more_is_written_than_fits(void **state)
{
    (void)state;
    char out[4] = "....";
    assert_int_equal(ki__json_decode(ki_str_from("xy\\ncd"), out, 2), 5);
    assert_memory_equal(out, "xy..", 4);
    assert_int_equal(ki__json_decode(ki_str_from("ab\\n"), out, 3), 3);
    assert_memory_equal(out, "ab\n.", 4);
    assert_int_equal(ki__json_decode(ki_str_from("abc"), NULL, 0), 3);
}

static void names_are_compared_decoded(void **state)
{
    (void)state;
    static const struct {
        const char *a;
        const char *b;
        bool same;
    } cases[] = {
        {"", "", true},
        {"a", "a", true},
        {"a", "", false},
        {"name", "n\\u0061me", true},
        {"\\u006eame", "nam\\u0065", true},
        {"name", "n\\u0061m", false},
        {"a\\/b", "a/b", true},
        {"a\\nb", "a\\u000ab", true},
        {"\\ud83d\\ude00", "\xf0\x9f\x98\x80", true},
        {"\\ud83d", "\\ud83e", true}, /* both read as U+FFFD */
        {"\\\\u0061", "a", false},
        {"abc", "abd", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_str a = ki_str_from(cases[i].a);
        ki_str b = ki_str_from(cases[i].b);
        if (ki__json_raw_same(a, b) != cases[i].same || ki__json_raw_same(b, a) != cases[i].same) {
            fail_msg("%s and %s", cases[i].a, cases[i].b);
        }
    }
}

static void names_have_the_order_of_what_they_read_as(void **state)
{
    (void)state;
    static const char *const ordered[] = {
        "", "\\u0001", "A", "a", "a\\u0062", "abc", "b", "\xc3\xa9", "\\uffff", "\\ud83d\\ude00",
    };
    size_t count = sizeof(ordered) / sizeof(ordered[0]);
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < count; k++) {
            int order = ki__json_raw_compare(ki_str_from(ordered[i]), ki_str_from(ordered[k]));
            assert_int_equal((order > 0) - (order < 0), (i > k) - (i < k));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(escapes_decode),
        cmocka_unit_test(surrogates_pair_up_or_become_the_replacement),
        cmocka_unit_test(every_code_point_decodes),
        cmocka_unit_test(no_more_is_written_than_fits),
        cmocka_unit_test(names_are_compared_decoded),
        cmocka_unit_test(names_have_the_order_of_what_they_read_as),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
