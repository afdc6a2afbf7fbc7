/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include <kinformer/version.h>

#include "support/test.h"

static void text_and_number_say_the_same(void **state)
{
    (void)state;
    int major, minor, patch;
    char text[32];
    assert_int_equal(sscanf(ki_version(), "%d.%d.%d", &major, &minor, &patch), 3);
    (void)snprintf(text, sizeof(text), "%d.%d.%d", major, minor, patch);
    assert_string_equal(text, ki_version()); /* and nothing more */
    assert_int_equal(ki_version_num(), major * 10000 + minor * 100 + patch);
}

static void library_is_the_one_of_the_headers(void **state)
{
    (void)state;
    assert_int_equal(ki_version_num(), KI_VERSION_NUM);
}

/* Or a later version could have a smaller number. */
static void parts_fit_their_two_digits(void **state)
{
    (void)state;
    assert_in_range(KI_VERSION_MINOR, 0, 99);
    assert_in_range(KI_VERSION_PATCH, 0, 99);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_and_number_say_the_same),
        cmocka_unit_test(library_is_the_one_of_the_headers),
        cmocka_unit_test(parts_fit_their_two_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
