/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "support/test.h"

static void zero_size_gives_a_block(void **state)
{
    (void)state;
    void *block = ki__alloc(ki_alloc_default(), 0);
    assert_non_null(block);
    ki__free(ki_alloc_default(), block);
    ki__free(ki_alloc_default(), NULL);
}

static void products_that_overflow_are_refused(void **state)
{
    (void)state;
    assert_null(ki__alloc_array(ki_alloc_default(), SIZE_MAX / 2, 3));
    assert_null(ki__realloc_array(ki_alloc_default(), NULL, SIZE_MAX, 2));
}

static void reserve_doubles_and_keeps_the_content(void **state)
{
    (void)state;
    void *block = NULL;
    size_t cap = 0;
    assert_int_equal(ki__array_reserve(ki_alloc_default(), &block, &cap, 3, sizeof(int)), 0);
    assert_int_equal(cap, 8);
    ((int *)block)[7] = 42;
    assert_int_equal(ki__array_reserve(ki_alloc_default(), &block, &cap, 9, sizeof(int)), 0);
    assert_int_equal(cap, 16);
    assert_int_equal(((int *)block)[7], 42);
    assert_int_equal(ki__array_reserve(ki_alloc_default(), &block, &cap, SIZE_MAX, 8), -ENOMEM);
    assert_int_equal(cap, 16);
    ki__free(ki_alloc_default(), block);
}

static void zeroed_block_is_zero_all_over(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    static const unsigned char zeros[100];
    void *block = ki__alloc_zero(&alloc.table, sizeof(zeros)); /* the allocator gave other bytes */
    assert_non_null(block);
    assert_memory_equal(block, zeros, sizeof(zeros));
    ki__free(&alloc.table, block);
    alloc.fail_at = alloc.calls + 1;
    assert_null(ki__alloc_zero(&alloc.table, sizeof(zeros)));
    test_alloc_done(&alloc);
}

/* Appends numbers one by one; on failure those before must still be there. */
static int grow_array(const ki_alloc *alloc, void *user)
{
    (void)user;
    void *block = NULL;
    size_t cap = 0;
    size_t count = 0;
    int r = 0;
    while (count < 100) {
        r = ki__array_reserve(alloc, &block, &cap, count + 1, sizeof(size_t));
        if (r < 0) {
            break;
        }
        ((size_t *)block)[count] = count;
        count++;
    }
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(((size_t *)block)[i], i);
    }
    assert_true(cap >= count);
    ki__free(alloc, block);
    return r;
}

static void failed_reserve_leaves_the_array(void **state)
{
    (void)state;
    test_alloc_sweep(grow_array, NULL);
}

/* A table that is never given a size of 0 or a NULL block, as <kinformer/alloc.h> promises. */
static void tables_need_not_know_zero_and_null(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    void *block = ki__alloc_array(&alloc.table, 0, 8);
    assert_non_null(block);
    assert_int_equal(alloc.live_bytes, 1);
    block = ki__realloc_array(&alloc.table, block, 0, 8);
    assert_non_null(block);
    assert_int_equal(alloc.live_bytes, 1);
    ki__free(&alloc.table, NULL);
    ki__free(&alloc.table, block);
    block = ki__realloc_array(&alloc.table, NULL, 0, 8);
    assert_non_null(block);
    ki__free(&alloc.table, block);
    assert_ptr_equal(ki__alloc_or_default(NULL), ki_alloc_default());
    assert_ptr_equal(ki__alloc_or_default(&alloc.table), &alloc.table);
    test_alloc_done(&alloc);
}

static void test_allocator_limits_and_counts(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    alloc.limit_bytes = 100;
    void *a = ki__alloc(&alloc.table, 60);
    assert_non_null(a);
    assert_null(ki__alloc(&alloc.table, 41));
    a = ki__realloc_array(&alloc.table, a, 100, 1);
    assert_non_null(a);
    assert_int_equal(alloc.live_bytes, 100);
    assert_int_equal(alloc.peak_bytes, 100);
    assert_int_equal(alloc.failures, 1);
    ki__free(&alloc.table, a);
    assert_int_equal(alloc.live_bytes, 0);
    test_alloc_done(&alloc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zero_size_gives_a_block),
        cmocka_unit_test(products_that_overflow_are_refused),
        cmocka_unit_test(reserve_doubles_and_keeps_the_content),
        cmocka_unit_test(zeroed_block_is_zero_all_over),
        cmocka_unit_test(failed_reserve_leaves_the_array),
        cmocka_unit_test(tables_need_not_know_zero_and_null),
        cmocka_unit_test(test_allocator_limits_and_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
