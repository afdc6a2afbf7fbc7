/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of failures by key, and their bound. */
#include "support/test.h"
#include "workqueue/failures.h"

static const ki_alloc *no_table;

static void failures_are_counted_by_key(void **state)
{
    (void)state;
    ki__failures failures;
    assert_int_equal(ki__failures_init(&failures, no_table, NULL, 10), 0);
    ki_str keys[] = {ki_str_from("a"), ki_str_from(""), ki_str_make("a\0b", 3)};
    for (uint32_t i = 0; i < 5; i++) {
        for (size_t k = 0; k < 3; k++) {
            assert_int_equal(ki__failures_get(&failures, keys[k]), i);
            assert_int_equal(ki__failures_add(&failures, keys[k]), i);
        }
    }
    ki__failures_forget(&failures, keys[1]);
    ki__failures_forget(&failures, keys[1]);
    assert_int_equal(ki__failures_get(&failures, keys[1]), 0);
    assert_int_equal(ki__failures_get(&failures, keys[2]), 5);
    assert_int_equal(ki__failures_add(&failures, keys[1]), 0);
    ki__failures_done(&failures);
}

static ki_str letter(const char *text, size_t i)
{
    return ki_str_make(text + i, 1);
}

static void beyond_the_limit_the_key_that_failed_longest_ago_is_forgotten(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki__failures failures;
    assert_int_equal(ki__failures_init(&failures, &alloc.table, NULL, 3), 0);
    const char *text = "abcd";
    for (size_t i = 0; i < 3; i++) {
        (void)ki__failures_add(&failures, letter(text, i));
    }
    (void)ki__failures_add(&failures, letter(text, 0)); /* so b is the oldest now */
    size_t bytes = alloc.live_bytes;
    assert_int_equal(ki__failures_add(&failures, letter(text, 3)), 0);
    assert_int_equal(alloc.live_bytes, bytes);
    assert_int_equal(ki__failures_get(&failures, letter(text, 0)), 2);
    assert_int_equal(ki__failures_get(&failures, letter(text, 1)), 0);
    assert_int_equal(ki__failures_get(&failures, letter(text, 2)), 1);
    assert_int_equal(ki__failures_get(&failures, letter(text, 3)), 1);
    ki__failures_done(&failures);
    test_alloc_done(&alloc);
}

static void without_memory_the_answer_is_the_most_and_nothing_is_kept(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki__failures failures;
    assert_int_equal(ki__failures_init(&failures, &alloc.table, NULL, 3), 0);
    for (uint64_t at = 1; at <= 2; at++) { /* the entry, and the table */
        alloc.fail_at = alloc.calls + at;
        assert_int_equal(ki__failures_add(&failures, ki_str_from("a")), UINT32_MAX);
        assert_int_equal(ki__failures_get(&failures, ki_str_from("a")), 0);
        assert_int_equal(alloc.live_blocks, 0);
    }
    assert_int_equal(ki__failures_add(&failures, ki_str_from("a")), 0);
    ki__failures_done(&failures);
    test_alloc_done(&alloc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failures_are_counted_by_key),
        cmocka_unit_test(beyond_the_limit_the_key_that_failed_longest_ago_is_forgotten),
        cmocka_unit_test(without_memory_the_answer_is_the_most_and_nothing_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
