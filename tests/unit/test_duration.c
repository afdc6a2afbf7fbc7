/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include <kinformer/error.h>

#include "object/text/duration.h"
#include "object/text/text_format.h"
#include "support/test.h"

static void durations_are_written_as_go_writes_them(void **state)
{
    (void)state;
    static const struct {
        int64_t nanoseconds;
        const char *text;
    } cases[] = {
        {0, "0s"},
        {1, "1ns"},
        {999, "999ns"},
        {1000, "1\xc2\xb5s"},
        {1100, "1.1\xc2\xb5s"},
        {999999, "999.999\xc2\xb5s"},
        {2200000, "2.2ms"},
        {1000000000, "1s"},
        {3300000000, "3.3s"},
        {59999999999, "59.999999999s"},
        {60000000000, "1m0s"},
        {3600000000000, "1h0m0s"},
        {3661001000000, "1h1m1.001s"},
        {360000000000000, "100h0m0s"},
        {-1, "-1ns"},
        {-90000000000, "-1m30s"},
        {INT64_MAX, "2562047h47m16.854775807s"},
        {INT64_MIN, "-2562047h47m16.854775808s"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char out[KI__DURATION_TEXT_MAX];
        size_t len = ki__format_duration(cases[i].nanoseconds, out);
        int64_t back;
        if (len != strlen(cases[i].text) || memcmp(out, cases[i].text, len) != 0) {
            fail_msg("%s gave %.*s", cases[i].text, (int)len, out);
        }
        assert_int_equal(ki__duration_read(ki_str_make(out, len), &back), 0);
        assert_true(back == cases[i].nanoseconds);
    }
}

static void durations_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t nanoseconds;
    } cases[] = {
        {"0", 0},
        {"-0", 0},
        {"+0", 0},
        {"0s", 0},
        {"5s", INT64_C(5000000000)},
        {"+5s", INT64_C(5000000000)},
        {"-5s", INT64_C(-5000000000)},
        {"30s1m", INT64_C(90000000000)},
        {"5.0s", INT64_C(5000000000)},
        {"5.6s", INT64_C(5600000000)},
        {"5.s", INT64_C(5000000000)},
        {".5s", INT64_C(500000000)},
        {"1.004s", INT64_C(1004000000)},
        {"100.00100s", INT64_C(100001000000)},
        {"10ns", 10},
        {"11us", 11000},
        {"12\xc2\xb5s", 12000},
        {"12\xce\xbcs", 12000},
        {"13ms", 13000000},
        {"16h", INT64_C(57600000000000)},
        {"-1.5h", INT64_C(-5400000000000)},
        {"1h2m3s4ms5us6ns", INT64_C(3723004005006)},
        {"0.9999999999ns", 0},
        {"0.3333333333333333333h", INT64_C(1200000000000)},
        {"9007199254740993ns", INT64_C(9007199254740993)},
        {"9223372036854775807ns", INT64_MAX},
        {"-9223372036854775808ns", INT64_MIN},
        {"0.830103483285477580700h", INT64_C(2988372539827)},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t nanoseconds = 7;
        if (ki__duration_read(ki_str_from(cases[i].text), &nanoseconds) != 0 ||
            nanoseconds != cases[i].nanoseconds) {
            fail_msg("%s gave %lld", cases[i].text, (long long)nanoseconds);
        }
    }
}

static void what_is_no_duration_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int code;
    } cases[] = {
        {"", KI_ERR_INVALID},
        {"-", KI_ERR_INVALID},
        {"+", KI_ERR_INVALID},
        {"3", KI_ERR_INVALID},
        {"00", KI_ERR_INVALID},
        {"s", KI_ERR_INVALID},
        {".", KI_ERR_INVALID},
        {".s", KI_ERR_INVALID},
        {"-.s", KI_ERR_INVALID},
        {"1d", KI_ERR_INVALID},
        {"1S", KI_ERR_INVALID},
        {"1 s", KI_ERR_INVALID},
        {" 1s", KI_ERR_INVALID},
        {"1s ", KI_ERR_INVALID},
        {"--1s", KI_ERR_INVALID},
        {"1s-1s", KI_ERR_INVALID},
        {"1.2.3s", KI_ERR_INVALID},
        {"1e3s", KI_ERR_INVALID},
        {"9223372036854775808ns", KI_ERR_RANGE},
        {"-9223372036854775809ns", KI_ERR_RANGE},
        {"9223372036854775.808us", KI_ERR_RANGE},
        {"3000000h", KI_ERR_RANGE},
        {"9223372036854775807ns1ns", KI_ERR_RANGE},
        {"99999999999999999999s", KI_ERR_RANGE},
        {"-9223372036854775808ns9223372036854775808ns", KI_ERR_RANGE},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t nanoseconds = 7;
        int r = ki__duration_read(ki_str_from(cases[i].text), &nanoseconds);
        if (r != cases[i].code || nanoseconds != 7) {
            fail_msg("%s gave %d, %lld", cases[i].text, r, (long long)nanoseconds);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations_are_written_as_go_writes_them),
        cmocka_unit_test(durations_are_read),
        cmocka_unit_test(what_is_no_duration_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
