/* SPDX-License-Identifier: Apache-2.0 */
/* <kinformer/str.h> has no source file: all of it is inline. */
#include <stdio.h>
#include <string.h>

#include <kinformer/str.h>

#include "support/test.h"

static int sign(int n)
{
    return n < 0 ? -1 : n > 0;
}

static void from_takes_a_c_string_or_null(void **state)
{
    (void)state;
    assert_str(ki_str_from("pod"), "pod");
    assert_int_equal(ki_str_from("").len, 0);
    assert_int_equal(ki_str_from(NULL).len, 0);
    assert_null(ki_str_from(NULL).ptr);
}

static void make_views_bytes_with_nul_among_them(void **state)
{
    (void)state;
    ki_str s = ki_str_make("a\0b", 3);
    assert_int_equal(s.len, 3);
    assert_true(ki_str_eq(s, ki_str_make("a\0b", 3)));
    assert_false(ki_str_eq(s, ki_str_make("a\0c", 3)));
    assert_false(ki_str_eq_text(s, "a"));
}

/* In rising order; none equals another. */
static const ki_str ordered[] = {
    {NULL, 0}, {"\0", 1},  {"\0\0", 2}, {"A", 1},    {"a", 1},    {"a\0", 2},      {"a-b", 3},
    {"ab", 2}, {"abc", 3}, {"b", 1},    {"\x7f", 1}, {"\x80", 1}, {"\xc3\xa4", 2}, {"\xff", 1},
};
enum { ORDERED = sizeof(ordered) / sizeof(ordered[0]) };

static void order_is_by_unsigned_bytes_and_prefixes_come_first(void **state)
{
    (void)state;
    for (int i = 0; i < ORDERED; i++) {
        for (int j = 0; j < ORDERED; j++) {
            assert_int_equal(sign(ki_str_cmp(ordered[i], ordered[j])), sign(i - j));
            assert_int_equal(ki_str_eq(ordered[i], ordered[j]), i == j);
        }
    }
}

static void empty_views_are_equal_wherever_they_point(void **state)
{
    (void)state;
    ki_str null = {NULL, 0};
    ki_str empty = {"x", 0};
    assert_true(ki_str_eq(null, empty));
    assert_int_equal(ki_str_cmp(null, empty), 0);
    assert_true(ki_str_eq_text(null, ""));
    assert_true(ki_str_eq_text(empty, NULL));
}

static void printf_takes_a_view_that_is_not_terminated(void **state)
{
    (void)state;
    const char unterminated[3] = {'a', 'b', 'c'};
    char text[32];
    (void)snprintf(text, sizeof(text), "[%.*s]", KI_STR_ARG(ki_str_make(unterminated, 3)));
    assert_string_equal(text, "[abc]");
    (void)snprintf(text, sizeof(text), "[%.*s]", KI_STR_ARG(ki_str_from(NULL)));
    assert_string_equal(text, "[]");
}

static int precision_of(int precision, const char *text)
{
    (void)text;
    return precision;
}

static void printf_precision_of_a_huge_view_stays_positive(void **state)
{
    (void)state;
    assert_int_equal(precision_of(KI_STR_ARG(ki_str_make("", SIZE_MAX))), INT32_MAX);
    assert_int_equal(precision_of(KI_STR_ARG(ki_str_make("", (size_t)INT32_MAX + 1))), INT32_MAX);
    assert_int_equal(precision_of(KI_STR_ARG(ki_str_make("", 7))), 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_takes_a_c_string_or_null),
        cmocka_unit_test(make_views_bytes_with_nul_among_them),
        cmocka_unit_test(order_is_by_unsigned_bytes_and_prefixes_come_first),
        cmocka_unit_test(empty_views_are_equal_wherever_they_point),
        cmocka_unit_test(printf_takes_a_view_that_is_not_terminated),
        cmocka_unit_test(printf_precision_of_a_huge_view_stays_positive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
