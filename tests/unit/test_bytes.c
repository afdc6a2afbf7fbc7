/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes as numbers, and the comparing of short keys. */
#include <string.h>

#include "base/bytes.h"
#include "support/test.h"

static void a_difference_is_found_wherever_it_stands(void **state)
{
    (void)state;
    for (size_t len = 0; len <= 40; len++) {
        char a[40];
        char b[40];
        memset(a, 'k', len);
        memset(b, 'k', len);
        assert_true(ki__bytes_eq(a, b, len));
        for (size_t at = 0; at < len; at++) {
            b[at] = 'l';
            assert_false(ki__bytes_eq(a, b, len));
            b[at] = 'k';
        }
    }
    assert_true(ki__bytes_eq(NULL, NULL, 0));
}

static void numbers_are_read_from_any_place(void **state)
{
    (void)state;
    const unsigned char bytes[] = {0xff, 1, 2, 3, 4, 5, 6, 7, 8};
    assert_true(ki__load_le64(bytes + 1) == UINT64_C(0x0807060504030201));
    assert_true(ki__load_le32(bytes + 1) == UINT32_C(0x04030201));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_difference_is_found_wherever_it_stands),
        cmocka_unit_test(numbers_are_read_from_any_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
