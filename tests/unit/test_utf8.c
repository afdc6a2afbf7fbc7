/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/utf8.h"
#include "support/test.h"

#define BAD "\xef\xbf\xbd"

static void characters_and_what_is_none(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t length;
    } cases[] = {
        {"a", 1},
        {"\x7f", 1},
        {"\xc2\x80", 2},
        {"\xdf\xbf", 2},
        {"\xe0\xa0\x80", 3},
        {"\xed\x9f\xbf", 3},
        {"\xee\x80\x80", 3},
        {BAD, 3},
        {"\xf0\x90\x80\x80", 4},
        {"\xf4\x8f\xbf\xbf", 4},
        {"\x80", 0},
        {"\xbf", 0},
        {"\xc0\x80", 0},         /* overlong */
        {"\xc1\xbf", 0},         /* overlong */
        {"\xe0\x9f\xbf", 0},     /* overlong */
        {"\xf0\x8f\xbf\xbf", 0}, /* overlong */
        {"\xed\xa0\x80", 0},     /* a surrogate */
        {"\xed\xbf\xbf", 0},     /* a surrogate */
        {"\xf4\x90\x80\x80", 0}, /* beyond U+10FFFF */
        {"\xf5\x80\x80\x80", 0},
        {"\xff", 0},
        {"\xc3", 0},
        {"\xe2\x82", 0},
        {"\xf0\x9f\x98", 0},
        {"\xc3(", 0},
        {"\xe2\x82(", 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_str text = ki_str_from(cases[i].text);
        assert_int_equal(ki__utf8_length(text), cases[i].length);
        assert_int_equal(ki__utf8_valid(text), cases[i].length != 0);
    }
}

static void a_bad_byte_is_found_wherever_it_is(void **state)
{
    (void)state;
    for (size_t len = 0; len < 40; len++) {
        char text[40];
        memset(text, 'x', sizeof(text));
        assert_true(ki__utf8_valid(ki_str_make(text, len)));
        for (size_t i = 0; i < len; i++) {
            text[i] = '\xff';
            assert_false(ki__utf8_valid(ki_str_make(text, len)));
            text[i] = 'x';
        }
    }
    assert_true(ki__utf8_valid(ki_str_make(NULL, 0)));
}

static void bad_bytes_are_replaced_one_by_one(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *repaired;
    } cases[] = {
        {"", ""},
        {"plain text, longer than a word", "plain text, longer than a word"},
        {"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
        {"\xff", BAD},
        {"a\xff"
         "b\xfe",
         "a" BAD "b" BAD},
        {"\xe2\x82", BAD BAD},
        {"\xf0\x9f\x98x", BAD BAD BAD "x"},
        {"\xed\xa0\x80", BAD BAD BAD},
        {"\xc3\xc3\xbc", BAD "\xc3\xbc"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_str text = ki_str_from(cases[i].text);
        size_t all = strlen(cases[i].repaired);
        for (size_t size = 0; size <= all + 1; size++) {
            char out[64];
            memset(out, '#', sizeof(out));
            assert_int_equal(ki__utf8_repair(text, out, size), all);
            size_t written = size < all ? size : all;
            assert_memory_equal(out, cases[i].repaired, written);
            assert_int_equal(out[written], '#');
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(characters_and_what_is_none),
        cmocka_unit_test(a_bad_byte_is_found_wherever_it_is),
        cmocka_unit_test(bad_bytes_are_replaced_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
