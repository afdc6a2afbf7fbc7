/* SPDX-License-Identifier: Apache-2.0 */
/* The heap of deadlines against a plain array, and its memory. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/deadlines.h"
#include "base/list.h"
#include "support/test.h"

enum { ELEMENTS = 300 };

typedef struct element {
    uint64_t when_ns; /* UINT64_MAX: not in the heap */
    ki__deadline deadline;
} element;

static void check_heap(const ki__deadlines *d)
{
    for (size_t i = 0; i < d->count; i++) {
        assert_int_equal(d->slots[i].deadline->position, i + 1);
        if (i != 0) {
            assert_true(d->slots[(i - 1) / 4].when_ns <= d->slots[i].when_ns);
        }
    }
}

static element *of(ki__deadline *deadline)
{
    return KI__CONTAINER_OF(deadline, element, deadline);
}

static uint64_t least(const element *elements)
{
    uint64_t least_ns = UINT64_MAX;
    for (size_t i = 0; i < ELEMENTS; i++) {
        least_ns = elements[i].when_ns < least_ns ? elements[i].when_ns : least_ns;
    }
    return least_ns;
}

static void the_earliest_comes_first_whatever_was_put_and_changed(void **state)
{
    (void)state;
    element elements[ELEMENTS];
    memset(elements, 0, sizeof(elements));
    for (size_t i = 0; i < ELEMENTS; i++) {
        elements[i].when_ns = UINT64_MAX;
    }
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki__deadlines d;
    ki__deadlines_init(&d, &alloc.table);
    assert_int_equal(ki__deadlines_reserve(&d, ELEMENTS), 0);
    uint64_t random = 7;
    for (size_t step = 0; step < 20000; step++) {
        element *e = &elements[test_random(&random) % ELEMENTS];
        if (test_random(&random) % 5 < 3) {
            e->when_ns = test_random(&random) % 1000;
            ki__deadlines_put(&d, &e->deadline, e->when_ns);
            assert_true(ki__deadline_is_set(&e->deadline));
            assert_int_equal(ki__deadlines_when(&d, &e->deadline), e->when_ns);
        } else {
            uint64_t now_ns = test_random(&random) % 1000;
            ki__deadline *due = ki__deadlines_pop_due(&d, now_ns);
            if (due == NULL) {
                assert_true(least(elements) > now_ns);
            } else {
                assert_int_equal(of(due)->when_ns, least(elements));
                assert_true(of(due)->when_ns <= now_ns);
                assert_false(ki__deadline_is_set(due));
                of(due)->when_ns = UINT64_MAX;
            }
        }
        assert_int_equal(ki__deadlines_next(&d), least(elements));
        check_heap(&d);
    }
    ki__deadlines_done(&d);
    for (size_t i = 0; i < ELEMENTS; i++) {
        assert_false(ki__deadline_is_set(&elements[i].deadline));
    }
    test_alloc_done(&alloc);
}

static void an_empty_heap_has_nothing(void **state)
{
    (void)state;
    ki__deadlines d;
    ki__deadlines_init(&d, NULL);
    assert_int_equal(ki__deadlines_next(&d), UINT64_MAX);
    assert_null(ki__deadlines_pop_due(&d, UINT64_MAX));
    assert_null(ki__deadlines_pop_any(&d));
    ki__deadlines_done(&d);
}

static void pop_any_gives_every_element_once(void **state)
{
    (void)state;
    element elements[ELEMENTS];
    memset(elements, 0, sizeof(elements));
    ki__deadlines d;
    ki__deadlines_init(&d, NULL);
    assert_int_equal(ki__deadlines_reserve(&d, ELEMENTS), 0);
    for (size_t i = 0; i < ELEMENTS; i++) {
        ki__deadlines_put(&d, &elements[i].deadline, i * 7919 % 100);
    }
    size_t count = 0;
    ki__deadline *deadline;
    while ((deadline = ki__deadlines_pop_any(&d)) != NULL) {
        assert_int_equal(of(deadline)->when_ns, 0);
        of(deadline)->when_ns = 1;
        check_heap(&d);
        count++;
    }
    assert_int_equal(count, ELEMENTS);
    ki__deadlines_done(&d);
}

static void memory_is_released_and_capacity_is_kept(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki__deadlines d;
    ki__deadlines_init(&d, &alloc.table);
    assert_int_equal(ki__deadlines_reserve(&d, 100000), 0);
    for (size_t count = 100000; count != 0; count--) {
        ki__deadlines_trim(&d, count);
        assert_true(d.cap >= count);
    }
    assert_true(alloc.live_bytes <= 128 * sizeof(ki__deadline_slot));
    assert_int_equal(ki__deadlines_reserve(&d, 100000), 0);
    alloc.fail_at = alloc.calls + 1;
    size_t before = d.cap;
    ki__deadlines_trim(&d, 1); /* cannot, and does no harm */
    assert_int_equal(d.cap, before);
    alloc.fail_at = alloc.calls + 1;
    assert_int_equal(ki__deadlines_reserve(&d, before + 1), -ENOMEM);
    assert_int_equal(d.cap, before);
    ki__deadlines_done(&d);
    test_alloc_done(&alloc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_earliest_comes_first_whatever_was_put_and_changed),
        cmocka_unit_test(an_empty_heap_has_nothing),
        cmocka_unit_test(pop_any_gives_every_element_once),
        cmocka_unit_test(memory_is_released_and_capacity_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
