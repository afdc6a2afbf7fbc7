/* SPDX-License-Identifier: Apache-2.0 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kinformer/error.h>

#include "object/json/json_decimal.h"
#include "object/json/json_number.h"
#include "support/test.h"

/* ---- int64 ---- */

static void integral_numbers_are_exact(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
    } cases[] = {
        {"0", 0},
        {"-0", 0},
        {"0.0", 0},
        {"0e99999999999999999999", 0},
        {"-0.000e5", 0},
        {"1", 1},
        {"-1", -1},
        {"42", 42},
        {"9223372036854775807", INT64_MAX},
        {"-9223372036854775808", INT64_MIN},
        {"9223372036854775807.0", INT64_MAX},
        {"9223372036854775807000e-3", INT64_MAX},
        {"922337203685477580.7e1", INT64_MAX},
        {"-0.9223372036854775808E+19", INT64_MIN},
        {"1e3", 1000},
        {"2.0", 2},
        {"1.5e1", 15},
        {"100e-2", 1},
        {"1e18", 1000000000000000000},
        {"0.00000000000000000001e20", 1},
        {"1000000000000000000000000000000e-30", 1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t value = 77;
        if (ki__json_int64(ki_str_from(cases[i].text), &value) != 0 || value != cases[i].value) {
            fail_msg("%s gave %lld", cases[i].text, (long long)value);
        }
    }
}

static void other_numbers_are_not_integral(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "0.5",
        "2.5",
        "-1e-1",
        "1e-400",
        "9223372036854775808",
        "-9223372036854775809",
        "1e19",
        "-1e19",
        "18446744073709551616",
        "99999999999999999999",
        "1e99999999999999999999",
        "1e-99999999999999999999",
        "9223372036854775807.1",
        "92233720368547758070000000000000001e-1",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        int64_t value = 77;
        if (ki__json_int64(ki_str_from(texts[i]), &value) != KI_ERR_RANGE || value != 77) {
            fail_msg("%s gave %lld", texts[i], (long long)value);
        }
    }
}

static void long_texts_are_read_exactly(void **state)
{
    (void)state;
    static char text[3000];
    int64_t value;
    /* 1 and 2000 zeros, divided by as much. */
    memset(text, '0', sizeof(text));
    text[0] = '1';
    memcpy(text + 2001, "e-2000", sizeof("e-2000"));
    assert_int_equal(ki__json_int64(ki_str_from(text), &value), 0);
    assert_int_equal(value, 1);
    /* The same with a 7 as the last digit is no integer: the digit is beyond those kept. */
    text[2000] = '7';
    assert_int_equal(ki__json_int64(ki_str_from(text), &value), KI_ERR_RANGE);
}

/* ---- double, against strtod (the locale of this program is "C") ---- */

static unsigned long compared;

static void compare(const char *text)
{
    double expected = strtod(text, NULL);
    double got = 77;
    int r = ki__json_double(ki_str_from(text), &got);
    compared++;
    if (isinf(expected)) {
        if (r != KI_ERR_RANGE || got != 77) {
            fail_msg("%s must be out of range, not %a", text, got);
        }
    } else if (r != 0 || memcmp(&got, &expected, sizeof(got)) != 0) {
        fail_msg("%s gave %a (%d), not %a", text, got, r, expected);
    }
    /* And whatever the fast way can do, the exact way must do the same. */
    ki__decimal number;
    double fast;
    double exact;
    ki__decimal_read(&number, ki_str_from(text));
    if (ki__decimal_to_double_fast(&number, &fast)) {
        assert_int_equal(ki__decimal_to_double_exact(&number, &exact), 0);
        assert_memory_equal(&fast, &exact, sizeof(fast));
    }
}

static void known_hard_numbers_are_rounded_right(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "0",
        "-0",
        "0.0",
        "1",
        "-1",
        "0.1",
        "0.2",
        "0.3",
        "1e0",
        "1e1",
        "1e22",
        "1e23",
        "1e-22",
        "1e-23",
        "123456789012345",
        "1234567890123456",
        "9007199254740991",
        "9007199254740992",
        "9007199254740993",
        "9007199254740994",
        "9007199254740995",
        "9007199254740993.0000000001",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "1.8e308",
        "179769313486231580793728971405301e276",
        "1e308",
        "1e309",
        "-1e309",
        "1e400",
        "1e999999999999999999999",
        "1e-999999999999999999999",
        "4.9e-324",
        "5e-324",
        "2.5e-324",
        "2.4e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "7.4e-324",
        "1e-323",
        "2.2250738585072011e-308",
        "2.2250738585072012e-308",
        "2.2250738585072014e-308",
        "2.225073858507201e-308",
        "1e-400",
        "6.02214076e23",
        "3.141592653589793238462643383279",
        "8.98846567431158e307",
        "1090544144181609348835077142190",
        "1448997445238699",
        "9355950000000000000."
        "00000000000000000000000000000000001844674407370955161600000184467440737"
        "09551616000001844674407370955161600000",
        "0.000000000000000000000000000000000000000000000000000000000000000000000000000000000001",
        "100000000000000000000000000000000000000000000000000000000000000000000000000000000000",
        "0.500000000000000166533453693773481063544750213623046875",
        "3.518437208883201171875e13",
        "62.5364939768271845828",
        "8.10109172351e-10",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        compare(texts[i]);
    }
}

static double from_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static void random_doubles_come_back(void **state)
{
    (void)state;
    uint64_t random = 11;
    for (int i = 0; i < 30000; i++) {
        double value = from_bits(test_random(&random));
        if (!isfinite(value)) {
            continue;
        }
        char text[400];
        int digits = 1 + (int)(test_random(&random) % 40);
        (void)snprintf(text, sizeof(text), "%.*e", digits, value);
        compare(text);
        (void)snprintf(text, sizeof(text), "%.17g", value);
        compare(text);
        double again;
        assert_int_equal(ki__json_double(ki_str_from(text), &again), 0);
        assert_memory_equal(&again, &value, sizeof(value));
    }
}

static void random_texts_agree(void **state)
{
    (void)state;
    uint64_t random = 12;
    for (int i = 0; i < 60000; i++) {
        char text[128];
        size_t len = 0;
        size_t whole = 1 + test_random(&random) % 20;
        size_t fraction = test_random(&random) % 25;
        text[len++] = (char)('1' + test_random(&random) % 9);
        for (size_t k = 1; k < whole; k++) {
            text[len++] = (char)('0' + test_random(&random) % 10);
        }
        if (fraction != 0) {
            text[len++] = '.';
        }
        for (size_t k = 0; k < fraction; k++) {
            text[len++] = (char)('0' + test_random(&random) % 10);
        }
        int power = (int)(test_random(&random) % 700) - 350;
        if (i % 3 == 0) {
            power %= 25;
        }
        (void)snprintf(text + len, sizeof(text) - len, "e%d", power);
        compare(text);
    }
}

/* Exactly half-way between two doubles, and a hair above and below: written out in full, which may
 * take more than 760 digits. long double holds the middle exactly on x86; elsewhere it is close. */
static void halfway_cases_are_rounded_to_even(void **state)
{
    (void)state;
    uint64_t random = 13;
    for (int i = 0; i < 6000; i++) {
        uint64_t bits = test_random(&random) & INT64_MAX;
        if (i % 4 == 0) {
            bits &= (UINT64_C(1) << 53) - 1; /* denormals and the smallest normals */
        }
        double low = from_bits(bits);
        double high = from_bits(bits + 1);
        if (!isfinite(low) || !isfinite(high)) {
            continue;
        }
        static char text[1600];
        long double middle = ((long double)low + (long double)high) / 2;
        int len = snprintf(text, 1400, "%.*Le", 850, middle);
        assert_true(len > 0 && len < 1400);
        compare(text);
        char *e = strchr(text, 'e');
        char last = e[-1];
        e[-1] = '1'; /* the last of 850 digits: more than half by the least */
        compare(text);
        e[-1] = last;
        /* Less by the least: the last digit that is not 0 goes down and 9s follow. */
        char *p = e - 1;
        while (p > text && (*p == '0' || *p == '.')) {
            *p = *p == '0' ? '9' : *p;
            p--;
        }
        if (*p != '0') {
            (*p)--;
            compare(text);
        }
    }
    assert_true(compared > 100000);
}

static void digits_beyond_those_kept_still_count(void **state)
{
    (void)state;
    static char text[3000];
    /* 2^53 + 1 is half-way and goes down to even; any digit behind it, however far, lifts it. */
    for (size_t zeros = 0; zeros < 2000; zeros += 97) {
        size_t len = (size_t)snprintf(text, sizeof(text), "9007199254740993.");
        memset(text + len, '0', zeros + 1);
        memcpy(text + len + zeros + 1, "1", sizeof("1"));
        double value;
        assert_int_equal(ki__json_double(ki_str_from(text), &value), 0);
        assert_true(value == 9007199254740994.0);
        text[len + zeros + 1] = '0';
        assert_int_equal(ki__json_double(ki_str_from(text), &value), 0);
        assert_true(value == 9007199254740992.0);
    }
}

static void powers_of_ten_and_two_agree(void **state)
{
    (void)state;
    char text[1200];
    for (int power = -400; power <= 330; power++) {
        (void)snprintf(text, sizeof(text), "1e%d", power);
        compare(text);
        (void)snprintf(text, sizeof(text), "-9.999999999999999999999e%d", power);
        compare(text);
    }
    for (int power = -1074; power <= 1023; power++) {
        (void)snprintf(text, sizeof(text), "%.1100g", ldexp(1, power));
        compare(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integral_numbers_are_exact),
        cmocka_unit_test(other_numbers_are_not_integral),
        cmocka_unit_test(long_texts_are_read_exactly),
        cmocka_unit_test(known_hard_numbers_are_rounded_right),
        cmocka_unit_test(random_doubles_come_back),
        cmocka_unit_test(random_texts_agree),
        cmocka_unit_test(halfway_cases_are_rounded_to_even),
        cmocka_unit_test(digits_beyond_those_kept_still_count),
        cmocka_unit_test(powers_of_ten_and_two_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
