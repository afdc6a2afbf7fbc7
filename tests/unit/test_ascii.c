/* SPDX-License-Identifier: Apache-2.0 */
#include "base/ascii.h"
#include "support/test.h"

static void classes_contain_ascii_only(void **state)
{
    (void)state;
    for (int i = -128; i < 128; i++) {
        char c = (char)i;
        bool lower = i >= 'a' && i <= 'z';
        bool upper = i >= 'A' && i <= 'Z';
        assert_int_equal(ki__is_digit(c), i > 0 && strchr("0123456789", i) != NULL);
        assert_int_equal(ki__is_hex(c), i > 0 && strchr("0123456789abcdefABCDEF", i) != NULL);
        assert_int_equal(ki__hex_value(c), !ki__is_hex(c)    ? -1
                                           : ki__is_digit(c) ? i - '0'
                                           : lower           ? i - 'a' + 10
                                                             : i - 'A' + 10);
        assert_int_equal(ki__is_space(c), i > 0 && strchr(" \t\r\n", i) != NULL);
        assert_int_equal(ki__is_letter(c), lower || upper);
        assert_int_equal(ki__to_lower(c), upper ? i + 'a' - 'A' : i);
    }
}

static void case_does_not_matter(void **state)
{
    (void)state;
    assert_true(ki__str_eq_nocase(ki_str_from("Content-Type"), ki_str_from("content-TYPE")));
    assert_true(ki__str_eq_nocase(ki_str_make(NULL, 0), ki_str_from("")));
    assert_false(ki__str_eq_nocase(ki_str_from("ab"), ki_str_from("abc")));
    assert_false(ki__str_eq_nocase(ki_str_from("a["), ki_str_from("a{"))); /* 0x20 apart */
    assert_false(ki__str_eq_nocase(ki_str_from("\xc3\x84"), ki_str_from("\xc3\xa4")));
}

static void only_ends_are_trimmed(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"", ""}, {" \t ", ""}, {"a", "a"}, {"\ta b ", "a b"}, {"a\n", "a\n"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_true(ki_str_eq_text(ki__trim(ki_str_from(cases[i][0]), " \t"), cases[i][1]));
    }
    assert_int_equal(ki__trim(ki_str_make(" \0 ", 3), " \t").len, 1);
    assert_int_equal(ki__trim(ki_str_make(NULL, 0), " ").len, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_contain_ascii_only),
        cmocka_unit_test(case_does_not_matter),
        cmocka_unit_test(only_ends_are_trimmed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
