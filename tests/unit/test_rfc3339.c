/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <kinformer/error.h>

#include "object/text/rfc3339.h"
#include "support/test.h"

static void times_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t seconds;
    } cases[] = {
        {"1970-01-01T00:00:00Z", 0},
        {"1970-01-01T00:00:01Z", 1},
        {"1969-12-31T23:59:59Z", -1},
        {"2024-02-29T12:30:00Z", 1709209800},
        {"2000-02-29T00:00:00Z", 951782400},
        {"2024-05-01T10:00:00.999999999Z", 1714557600},
        {"2024-05-01T10:00:00.1Z", 1714557600},
        {"2024-05-01T12:00:00+02:00", 1714557600},
        {"2024-05-01T04:30:00-05:30", 1714557600},
        {"2024-05-01T10:00:00+00:00", 1714557600},
        {"2024-05-01T10:00:00-00:00", 1714557600},
        {"0001-01-01T00:00:00Z", -62135596800},
        {"0000-01-01T00:00:00Z", -62167219200},
        {"9999-12-31T23:59:59Z", 253402300799},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t seconds = 7;
        if (ki__rfc3339_read(ki_str_from(cases[i].text), &seconds) != 0 ||
            seconds != cases[i].seconds) {
            fail_msg("%s gave %lld", cases[i].text, (long long)seconds);
        }
    }
}

static void fractions_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t seconds;
        int32_t nanos;
    } cases[] = {
        {"1970-01-01T00:00:00Z", 0, 0},
        {"1970-01-01T00:00:00.5Z", 0, 500000000},
        {"1969-12-31T23:59:59.000001Z", -1, 1000},
        {"2024-05-01T12:00:00.123456789+02:00", 1714557600, 123456789},
        {"2024-05-01T10:00:00.1234567899Z", 1714557600, 123456789},
        {"2024-05-01T10:00:00.00000000000000000001Z", 1714557600, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t seconds = 7;
        int32_t nanos = 7;
        assert_int_equal(ki__rfc3339_read_nanos(ki_str_from(cases[i].text), &seconds, &nanos), 0);
        assert_int_equal(seconds, cases[i].seconds);
        assert_int_equal(nanos, cases[i].nanos);
    }
}

static void what_is_no_time_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "2024",
        "2024-05-01",
        "2024-05-01T10:00:00",
        "2024-05-01T10:00Z",
        "2024-05-01t10:00:00Z",
        "2024-05-01T10:00:00z",
        "2024-05-01 10:00:00Z",
        "2024-5-01T10:00:00Z",
        "24-05-01T10:00:00Z",
        "2024-00-01T10:00:00Z",
        "2024-13-01T10:00:00Z",
        "2024-05-00T10:00:00Z",
        "2024-05-32T10:00:00Z",
        "2024-04-31T10:00:00Z",
        "2023-02-29T10:00:00Z",
        "1900-02-29T10:00:00Z",
        "2024-05-01T24:00:00Z",
        "2024-05-01T10:60:00Z",
        "2024-05-01T10:00:60Z",
        "2024-05-01T10:00:00.Z",
        "2024-05-01T10:00:00,5Z",
        "2024-05-01T10:00:00.5",
        "2024-05-01T10:00:00+2:00",
        "2024-05-01T10:00:00+0200",
        "2024-05-01T10:00:00+24:00",
        "2024-05-01T10:00:00+02:60",
        "2024-05-01T10:00:00Zx",
        " 2024-05-01T10:00:00Z",
        "2024-05-01T10:00:00Z ",
        "-024-05-01T10:00:00Z",
        "+2024-05-01T10:00:00Z",
        "2024-05-01T10:00:0:Z",
        "2024-05-01T1/:00:00Z",
        "12024-05-01T10:00:00Z",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        int64_t seconds = 7;
        if (ki__rfc3339_read(ki_str_from(texts[i]), &seconds) != KI_ERR_INVALID || seconds != 7) {
            fail_msg("%s gave %lld", texts[i], (long long)seconds);
        }
    }
}

/* Every fifth day of all years that can be written, against the C library. */
static void days_agree_with_the_c_library(void **state)
{
    (void)state;
    int64_t first = -719528;
    int64_t last = 2932896;
    for (int64_t day = first; day <= last; day += 5) {
        time_t expected = (time_t)(day * 86400 + 3723);
        struct tm tm;
        assert_non_null(gmtime_r(&expected, &tm));
        char text[64];
        int64_t seconds;
        int len = snprintf(text, sizeof(text), "%04d-%02d-%02dT%02d:%02d:%02dZ", tm.tm_year + 1900,
                           tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
        if (ki__rfc3339_read(ki_str_make(text, (size_t)len), &seconds) != 0 ||
            seconds != expected) {
            fail_msg("%s", text);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_read),
        cmocka_unit_test(fractions_are_read),
        cmocka_unit_test(what_is_no_time_is_refused),
        cmocka_unit_test(days_agree_with_the_c_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
