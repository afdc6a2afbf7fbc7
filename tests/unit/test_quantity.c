/* SPDX-License-Identifier: Apache-2.0 */
#include "object/text/quantity.h"
#include "support/test.h"

static void quantities(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "0",    "1",     "100m",  "-5",   "+5",   "0.5",
        "1.",   ".5",    "1.5Gi", "2Ki",  "3Mi",  "4Ti",
        "5Pi",  "6Ei",   "1n",    "1u",   "1k",   "1M",
        "1G",   "1T",    "1P",    "1E",   "1e3",  "1E3",
        "1e-3", "1E+30", "007",   "-.5m", "1.e3", "12345678901234567890",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (!ki__quantity_valid(ki_str_from(texts[i]))) {
            fail_msg("%s", texts[i]);
        }
    }
}

static void what_is_no_quantity(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "x",
        "-",
        "+",
        ".",
        "-.",
        "m",
        "Gi",
        "1x",
        "1Kii",
        "1ki",
        "1mi",
        "1K",
        "1g",
        " 1",
        "1 ",
        "--1",
        "1-",
        "1..5",
        "1.5.5",
        "1e",
        "1e+",
        "1e3m",
        "1e1.5",
        "1,5",
        "0x1",
        "1em",
        "true",
        "1e1234567890123456789",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (ki__quantity_valid(ki_str_from(texts[i]))) {
            fail_msg("%s", texts[i]);
        }
    }
    assert_false(ki__quantity_valid(ki_str_make(NULL, 0)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantities),
        cmocka_unit_test(what_is_no_quantity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
