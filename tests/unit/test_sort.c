/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "support/test.h"

enum { COUNT_MAX = 300 };

/* Longer than the piece that the sort swaps at once. */
typedef struct wide {
    int key;
    char padding[150];
    int copy;
} wide;

static int compare_ints(const void *a, const void *b)
{
    int x = *(const int *)a;
    int y = *(const int *)b;
    return (x > y) - (x < y);
}

/* Against the C library's sort. */
static void check(const int *numbers, size_t count)
{
    int expected[COUNT_MAX];
    int sorted[COUNT_MAX + 1];
    memcpy(expected, numbers, count * sizeof(int));
    memcpy(sorted, numbers, count * sizeof(int));
    sorted[count] = -7;
    qsort(expected, count, sizeof(int), compare_ints);
    ki__sort(sorted, count, sizeof(int), compare_ints);
    assert_memory_equal(sorted, expected, count * sizeof(int));
    assert_int_equal(sorted[count], -7);
}

static void any_numbers_come_out_in_order(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (size_t count = 0; count <= COUNT_MAX; count++) {
        for (int range = 1; range <= 1000; range *= 10) {
            int numbers[COUNT_MAX] = {0};
            for (size_t i = 0; i < count; i++) {
                numbers[i] = (int)(test_random(&seed) % (uint64_t)range) - range / 2;
            }
            check(numbers, count);
        }
    }
}

static void sorted_and_reversed_numbers_come_out_in_order(void **state)
{
    (void)state;
    for (size_t count = 0; count <= 70; count++) {
        int up[COUNT_MAX] = {0};
        int down[COUNT_MAX] = {0};
        for (size_t i = 0; i < count; i++) {
            up[i] = (int)i;
            down[i] = (int)(count - i);
        }
        check(up, count);
        check(down, count);
    }
}

static void every_order_of_six_comes_out_in_order(void **state)
{
    (void)state;
    for (int code = 0; code < 46656; code++) { /* 6 to the 6: all orders, and with repeats */
        int numbers[6];
        int rest = code;
        for (size_t i = 0; i < 6; i++) {
            numbers[i] = rest % 6;
            rest /= 6;
        }
        check(numbers, 6);
    }
}

static void wide_elements_move_as_a_whole(void **state)
{
    (void)state;
    static wide elements[COUNT_MAX];
    uint64_t seed = 2;
    for (size_t i = 0; i < COUNT_MAX; i++) {
        elements[i].key = (int)(test_random(&seed) % 1000);
        elements[i].copy = elements[i].key;
        memset(elements[i].padding, elements[i].key % 100, sizeof(elements[i].padding));
    }
    ki__sort(elements, COUNT_MAX, sizeof(elements[0]), compare_ints);
    for (size_t i = 0; i < COUNT_MAX; i++) {
        assert_true(i == 0 || elements[i - 1].key <= elements[i].key);
        assert_int_equal(elements[i].copy, elements[i].key);
        for (size_t k = 0; k < sizeof(elements[i].padding); k++) {
            assert_int_equal(elements[i].padding[k], elements[i].key % 100);
        }
    }
}

static size_t comparisons;

static int compare_counted(const void *a, const void *b)
{
    comparisons++;
    return compare_ints(a, b);
}

static void no_input_makes_it_slow(void **state)
{
    (void)state;
    enum { COUNT = 32768, LOG = 15 };
    int *numbers = malloc(COUNT * sizeof(int));
    assert_non_null(numbers);
    for (int shape = 0; shape < 4; shape++) {
        for (int i = 0; i < COUNT; i++) {
            int shapes[] = {i, COUNT - i, 5, i % 2 == 0 ? i : COUNT - i};
            numbers[i] = shapes[shape];
        }
        comparisons = 0;
        ki__sort(numbers, COUNT, sizeof(int), compare_counted);
        assert_true(comparisons <= (size_t)COUNT * LOG * 2);
    }
    free(numbers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_numbers_come_out_in_order),
        cmocka_unit_test(sorted_and_reversed_numbers_come_out_in_order),
        cmocka_unit_test(every_order_of_six_comes_out_in_order),
        cmocka_unit_test(wide_elements_move_as_a_whole),
        cmocka_unit_test(no_input_makes_it_slow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
