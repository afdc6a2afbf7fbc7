/* SPDX-License-Identifier: Apache-2.0 */
/* Quantities as numbers. Those that are not negative were computed with apimachinery, as were
 * another 20,000 at random when this was written; it rounds negative fractions in another way. */
#include <kinformer/error.h>

#include "object/text/quantity.h"
#include "support/test.h"

typedef struct sample {
    const char *text;
    int r;
    int64_t whole;
    int milli_r;
    int64_t milli;
    double real;
} sample;

static const sample samples[] = {
    {"0", 0, 0, 0, 0, 0},
    {"100m", 0, 1, 0, 100, 0.1},
    {"250m", 0, 1, 0, 250, 0.25},
    {"1.5", 0, 2, 0, 1500, 1.5},
    {".5", 0, 1, 0, 500, 0.5},
    {"1.", 0, 1, 0, 1000, 1},
    {"+5", 0, 5, 0, 5000, 5},
    {"-1500m", 0, -2, 0, -1500, -1.5},
    {"1Gi", 0, 1073741824, 0, INT64_C(1073741824000), 1073741824},
    {"1.5Gi", 0, 1610612736, 0, INT64_C(1610612736000), 1610612736},
    {"0.3Ki", 0, 308, 0, 307200, 307.2},
    {"0.0001Ki", 0, 1, 0, 103, 0.1024},
    {"1e3", 0, 1000, 0, 1000000, 1000},
    {"12E-1", 0, 2, 0, 1200, 1.2},
    {"1n", 0, 1, 0, 1, 1e-9},
    {"772044116491.750306203e3", 0, INT64_C(772044116491751), 0, INT64_C(772044116491750307),
     772044116491750.306203},
    {"12345678901234567890m", 0, INT64_C(12345678901234568), KI_ERR_RANGE, 0,
     12345678901234567.890},
    {"9223372036854775807", 0, INT64_MAX, KI_ERR_RANGE, 0, 9223372036854775807.0},
    {"9223372036854775808", KI_ERR_RANGE, 0, KI_ERR_RANGE, 0, 9223372036854775808.0},
    {"-9223372036854775808", 0, INT64_MIN, KI_ERR_RANGE, 0, -9223372036854775808.0},
    {"-8Ei", 0, INT64_MIN, KI_ERR_RANGE, 0, -9223372036854775808.0},
    {"8Ei", KI_ERR_RANGE, 0, KI_ERR_RANGE, 0, 9223372036854775808.0},
    {"15.999999999999999999Ei", KI_ERR_RANGE, 0, KI_ERR_RANGE, 0, 18446744073709551615.0},
    {"0.0000000000000000001Ki", KI_ERR_RANGE, 0, 0, 1, 1024e-19},
    {"0e999999999999999999", 0, 0, 0, 0, 0},
    {"0000000000000000000000000007", 0, 7, 0, 7000, 7},
};

static void samples_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
        const sample *s = &samples[i];
        ki_str text = ki_str_from(s->text);
        int64_t whole = 0;
        int64_t milli = 0;
        double real = 0;
        int r = ki__quantity_int64(text, 0, &whole);
        int milli_r = ki__quantity_int64(text, 3, &milli);
        if (r != s->r || whole != s->whole || milli_r != s->milli_r || milli != s->milli) {
            fail_msg("%s: %d %lld, %d %lld", s->text, r, (long long)whole, milli_r,
                     (long long)milli);
        }
        assert_int_equal(ki__quantity_double(text, &real), 0);
        double difference = real - s->real;
        double allowed = (s->real < 0 ? -s->real : s->real) * 1e-15;
        if (difference > allowed || -difference > allowed) {
            fail_msg("%s: %.17g", s->text, real);
        }
    }
}

static void others_are_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "x", "1x", "-", "+e-3", "1e", "1Kii"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        int64_t number;
        double real;
        assert_int_equal(ki__quantity_int64(ki_str_from(texts[i]), 0, &number), KI_ERR_INVALID);
        assert_int_equal(ki__quantity_double(ki_str_from(texts[i]), &real), KI_ERR_INVALID);
    }
    double real;
    assert_int_equal(ki__quantity_double(ki_str_from("1e999"), &real), KI_ERR_RANGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_read),
        cmocka_unit_test(others_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
