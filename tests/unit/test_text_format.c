/* SPDX-License-Identifier: Apache-2.0 */
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "object/text/rfc3339.h"
#include "object/text/text_format.h"
#include "support/test.h"

static void integers(void **state)
{
    (void)state;
    static const struct {
        int64_t number;
        const char *text;
    } cases[] = {
        {0, "0"},
        {7, "7"},
        {-1, "-1"},
        {1000, "1000"},
        {INT64_MAX, "9223372036854775807"},
        {INT64_MIN, "-9223372036854775808"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char out[KI__INT64_TEXT_MAX];
        assert_str(ki_str_make(out, ki__format_int64(cases[i].number, out)), cases[i].text);
    }
}

/* What Go's encoding/json writes. */
static void doubles(void **state)
{
    (void)state;
    static const struct {
        double number;
        const char *text;
    } cases[] = {
        {0, "0"},
        {-0.0, "-0"},
        {1, "1"},
        {-42, "-42"},
        {0.1, "0.1"},
        {0.5, "0.5"},
        {-2.75, "-2.75"},
        {100, "100"},
        {123.456, "123.456"},
        {0.3, "0.3"},
        {0.1 + 0.2, "0.30000000000000004"},
        {1.0 / 3, "0.3333333333333333"},
        {1e-6, "0.000001"},
        {1.5e-6, "0.0000015"},
        {9.99e-7, "9.99e-7"},
        {1e-7, "1e-7"},
        {1e-10, "1e-10"},
        {1e20, "100000000000000000000"},
        {123456789012345680.0, "123456789012345680"},
        {1e21, "1e+21"},
        {1.5e21, "1.5e+21"},
        {9007199254740991, "9007199254740991"},
        {9007199254740992, "9007199254740992"},
        {9007199254740994, "9007199254740994"},
        {9223372036854775808.0, "9223372036854776000"},
        {5e-324, "5e-324"},
        {2.2250738585072014e-308, "2.2250738585072014e-308"},
        {2.225073858507201e-308, "2.225073858507201e-308"},
        {DBL_MAX, "1.7976931348623157e+308"},
        {1e23, "1e+23"},
        {5.684341886080802e-14, "5.684341886080802e-14"}, /* 2^-44: a tie */
        {9.5367431640625e-07, "9.5367431640625e-7"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char out[KI__DOUBLE_TEXT_MAX];
        size_t len = ki__format_double(cases[i].number, out);
        const char *text = cases[i].text;
        if (len != strlen(text) || memcmp(out, text, len) != 0) {
            fail_msg("%s gave %.*s", text, (int)len, out);
        }
    }
}

static void what_json_has_no_number_for_is_null(void **state)
{
    (void)state;
    char out[KI__DOUBLE_TEXT_MAX];
    assert_str(ki_str_make(out, ki__format_double((double)INFINITY, out)), "null");
    assert_str(ki_str_make(out, ki__format_double(-(double)INFINITY, out)), "null");
    assert_str(ki_str_make(out, ki__format_double((double)NAN, out)), "null");
}

/* Reads back the same, and nothing shorter does. */
static void doubles_are_the_shortest_that_read_back(void **state)
{
    (void)state;
    uint64_t random = 5;
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = test_random(&random);
        double number;
        memcpy(&number, &bits, sizeof(number));
        if (!isfinite(number)) {
            continue;
        }
        char out[KI__DOUBLE_TEXT_MAX + 1];
        out[ki__format_double(number, out)] = '\0';
        double back = strtod(out, NULL);
        assert_memory_equal(&back, &number, sizeof(back));
        size_t digits = 0;
        for (const char *p = out; *p != '\0' && *p != 'e'; p++) {
            digits += *p >= '0' && *p <= '9';
        }
        if (digits > 1 && strchr(out, 'e') != NULL) {
            char shorter[64];
            (void)snprintf(shorter, sizeof(shorter), "%.*e", (int)digits - 2, number);
            assert_true(strtod(shorter, NULL) != number);
        }
    }
}

static void times(void **state)
{
    (void)state;
    static const struct {
        int64_t seconds;
        const char *text;
    } cases[] = {
        {0, "1970-01-01T00:00:00Z"},
        {-1, "1969-12-31T23:59:59Z"},
        {951782400, "2000-02-29T00:00:00Z"},
        {951868799, "2000-02-29T23:59:59Z"},
        {951868800, "2000-03-01T00:00:00Z"},
        {1709209800, "2024-02-29T12:30:00Z"},
        {1735689599, "2024-12-31T23:59:59Z"},
        {-2203891200, "1900-03-01T00:00:00Z"},
        {-2203891201, "1900-02-28T23:59:59Z"},
        {-62135596800, "0001-01-01T00:00:00Z"},
        {-62167219200, "0000-01-01T00:00:00Z"},
        {-62167219201, "-0001-12-31T23:59:59Z"},
        {253402300799, "9999-12-31T23:59:59Z"},
        {253402300800, "10000-01-01T00:00:00Z"},
        {INT64_MAX, "292277026596-12-04T15:30:07Z"},
        {INT64_MIN, "292277026596-12-04T15:30:08Z"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char out[KI__TIME_TEXT_MAX];
        size_t len = ki__format_time(cases[i].seconds, out);
        if (len != strlen(cases[i].text) || memcmp(out, cases[i].text, len) != 0) {
            fail_msg("%s gave %.*s", cases[i].text, (int)len, out);
        }
    }
}

static void times_with_microseconds(void **state)
{
    (void)state;
    static const struct {
        int64_t seconds;
        int32_t nanos;
        const char *text;
    } cases[] = {
        {0, 0, "1970-01-01T00:00:00.000000Z"},
        {0, 999, "1970-01-01T00:00:00.000000Z"},
        {0, 1000, "1970-01-01T00:00:00.000001Z"},
        {1714557600, 123456789, "2024-05-01T10:00:00.123456Z"},
        {1714557600, 999999999, "2024-05-01T10:00:00.999999Z"},
        {0, 1000000000, "1970-01-01T00:00:01.000000Z"},
        {0, INT32_MAX, "1970-01-01T00:00:02.147483Z"},
        {0, -1, "1970-01-01T00:00:00.000000Z"},
        {0, -1000, "1969-12-31T23:59:59.999999Z"},
        {0, -1000000000, "1969-12-31T23:59:59.000000Z"},
        {0, INT32_MIN, "1969-12-31T23:59:57.852517Z"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char out[KI__TIME_TEXT_MAX];
        size_t len = ki__format_micro_time(cases[i].seconds, cases[i].nanos, out);
        if (len != strlen(cases[i].text) || memcmp(out, cases[i].text, len) != 0) {
            fail_msg("%s gave %.*s", cases[i].text, (int)len, out);
        }
    }
}

static void times_read_back_as_they_were(void **state)
{
    (void)state;
    uint64_t random = 11;
    for (int i = 0; i < 50000; i++) {
        int64_t span = INT64_C(253402300800) + INT64_C(62167219200);
        int64_t seconds = (int64_t)(test_random(&random) % (uint64_t)span) - INT64_C(62167219200);
        int32_t nanos = (int32_t)(test_random(&random) % 1000000) * 1000;
        char out[KI__TIME_TEXT_MAX];
        int64_t read;
        int32_t read_nanos;
        size_t len = ki__format_micro_time(seconds, nanos, out);
        assert_int_equal(ki__rfc3339_read_nanos(ki_str_make(out, len), &read, &read_nanos), 0);
        assert_true(read == seconds && read_nanos == nanos);
        len = ki__format_time(seconds, out);
        assert_int_equal(ki__rfc3339_read_nanos(ki_str_make(out, len), &read, &read_nanos), 0);
        assert_true(read == seconds && read_nanos == 0);
    }
}

static void text_is_the_same_in_every_locale(void **state)
{
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "C.UTF-8"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (setlocale(LC_ALL, names[i]) == NULL) {
            continue; /* not installed */
        }
        char out[KI__DOUBLE_TEXT_MAX];
        assert_str(ki_str_make(out, ki__format_double(1234.5, out)), "1234.5");
    }
    (void)setlocale(LC_ALL, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers),
        cmocka_unit_test(doubles),
        cmocka_unit_test(what_json_has_no_number_for_is_null),
        cmocka_unit_test(doubles_are_the_shortest_that_read_back),
        cmocka_unit_test(times),
        cmocka_unit_test(times_with_microseconds),
        cmocka_unit_test(times_read_back_as_they_were),
        cmocka_unit_test(text_is_the_same_in_every_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
