/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for secrets: whatever is freed was wiped before. */
#include <string.h>

#include "base/secret.h"
#include "support/test.h"
#include "support/watched_alloc.h"

static void wiping_leaves_zeros_and_nothing_beside(void **state)
{
    (void)state;
    char bytes[8] = "abcdefg";
    ki__wipe(bytes + 2, 3);
    assert_memory_equal(bytes, "ab\0\0\0fg", 8);
    ki__wipe(NULL, 0);
}

static void what_is_taken_is_zero_and_aligned(void **state)
{
    (void)state;
    ki__secrets secrets;
    ki__secrets_init(&secrets, NULL);
    for (size_t size = 0; size < 9000; size += 37) {
        char *bytes = ki__secrets_take(&secrets, size);
        assert_non_null(bytes);
        assert_int_equal((uintptr_t)bytes % _Alignof(max_align_t), 0);
        for (size_t i = 0; i < size; i++) {
            assert_int_equal(bytes[i], 0);
        }
        memset(bytes, 0x5a, size); /* what comes next must not see this */
    }
    ki__secrets_done(&secrets);
    assert_null(secrets.last);
}

static void sizes_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    ki__secrets secrets;
    ki__secrets_init(&secrets, NULL);
    assert_null(ki__secrets_take(&secrets, SIZE_MAX));
    assert_null(ki__secrets_take(&secrets, SIZE_MAX - 20));
    assert_null(ki__secrets_take_array(&secrets, SIZE_MAX / 2, 3));
    assert_null(ki__secrets_copy(&secrets, ki_str_make("", SIZE_MAX)));
    ki__secrets_done(&secrets);
}

static void nothing_of_a_secret_is_in_freed_memory(void **state)
{
    (void)state;
    watched_alloc watched;
    watched_alloc_init(&watched, (const char *const[]){"CANARY", NULL});
    ki__secrets secrets;
    ki__secrets_init(&secrets, &watched.table);
    for (int i = 0; i < 2000; i++) {
        const char *copy = ki__secrets_copy(&secrets, ki_str_from("the CANARY sings"));
        assert_string_equal(copy, "the CANARY sings");
    }
    ki__secrets_done(&secrets);
    assert_int_equal(watched.found, 0);
    assert_true(watched.freed > 1);
}

/* The watch itself can say no. */
static void the_watch_finds_what_was_not_wiped(void **state)
{
    (void)state;
    watched_alloc watched;
    watched_alloc_init(&watched, (const char *const[]){"CANARY", NULL});
    ki_buf buf;
    ki_buf_init(&buf, &watched.table, 1000);
    test_add(&buf, "x CANARY y", 1);
    ki_buf_done(&buf);
    assert_int_equal(watched.found, 1);
}

static int scenario(const ki_alloc *alloc, void *user)
{
    (void)user;
    ki__secrets secrets;
    ki__secrets_init(&secrets, alloc);
    int r = 0;
    for (int i = 0; r == 0 && i < 3; i++) {
        r = ki__secrets_take_array(&secrets, 1000, 4) != NULL &&
                    ki__secrets_copy(&secrets, ki_str_from("text")) != NULL
                ? 0
                : -12; /* ENOMEM */
    }
    ki__secrets_done(&secrets);
    return r;
}

static void out_of_memory_is_reported(void **state)
{
    (void)state;
    test_alloc_sweep(scenario, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wiping_leaves_zeros_and_nothing_beside),
        cmocka_unit_test(what_is_taken_is_zero_and_aligned),
        cmocka_unit_test(sizes_that_do_not_fit_are_refused),
        cmocka_unit_test(nothing_of_a_secret_is_in_freed_memory),
        cmocka_unit_test(the_watch_finds_what_was_not_wiped),
        cmocka_unit_test(out_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
