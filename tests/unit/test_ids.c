/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include <kinformer/error.h>

#include "cache/store/ids.h"
#include "support/test.h"

enum { MAX = 50 };

/* Which numbers are out, as the last commit left it and as it is now, and which were released
 * since. */
struct model {
    bool before[MAX];
    bool now[MAX];
    bool given[MAX];
};

static uint32_t take(ki__ids *ids)
{
    uint32_t id = UINT32_MAX;
    assert_int_equal(ki__ids_take(ids, &id), 0);
    return id;
}

static void give(ki__ids *ids, uint32_t id)
{
    assert_int_equal(ki__ids_reserve(ids, 1), 0);
    ki__ids_release(ids, id);
}

static void numbers_come_from_zero_on_and_end(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki__ids ids;
    ki__ids_init(&ids, &alloc.table, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(take(&ids), i);
    }
    uint32_t id = 77;
    assert_int_equal(ki__ids_take(&ids, &id), KI_ERR_LIMIT);
    assert_int_equal(id, 77);
    assert_int_equal(alloc.calls, 0); /* nothing was released: nothing to remember */
    ki__ids_done(&ids);
    test_alloc_done(&alloc);
}

static void the_largest_number_can_be_given_out(void **state)
{
    (void)state;
    ki__ids ids;
    ki__ids_init(&ids, NULL, UINT32_MAX);
    ids.next = UINT32_MAX - 1;
    ki__ids_commit(&ids);
    uint32_t id;
    assert_int_equal(take(&ids), UINT32_MAX - 1);
    assert_int_equal(ki__ids_take(&ids, &id), KI_ERR_LIMIT);
    ki__ids_abort(&ids);
    assert_int_equal(take(&ids), UINT32_MAX - 1);
}

static void released_numbers_wait_for_the_commit(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki__ids ids;
    ki__ids_init(&ids, &alloc.table, 10);
    assert_int_equal(take(&ids), 0);
    assert_int_equal(take(&ids), 1);
    ki__ids_commit(&ids);
    give(&ids, 0);
    assert_int_equal(take(&ids), 2); /* not 0 */
    ki__ids_commit(&ids);
    assert_int_equal(take(&ids), 0);
    assert_int_equal(take(&ids), 3);
    ki__ids_done(&ids);
    test_alloc_done(&alloc);
}

static void an_abort_is_as_if_nothing_had_been(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki__ids ids;
    ki__ids_init(&ids, &alloc.table, 10);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(take(&ids), i);
    }
    give(&ids, 1);
    give(&ids, 2);
    ki__ids_commit(&ids);
    for (int i = 0; i < 3; i++) { /* the same each time */
        assert_int_equal(take(&ids), 2);
        assert_int_equal(take(&ids), 1);
        assert_int_equal(take(&ids), 4);
        give(&ids, 3);
        give(&ids, 2);
        ki__ids_abort(&ids);
    }
    ki__ids_done(&ids);
    test_alloc_done(&alloc);
}

static void the_last_take_can_be_taken_back(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki__ids ids;
    ki__ids_init(&ids, &alloc.table, 10);
    assert_int_equal(take(&ids), 0);
    ki__ids_untake(&ids, 0);
    assert_int_equal(take(&ids), 0);
    assert_int_equal(take(&ids), 1);
    give(&ids, 0);
    ki__ids_commit(&ids);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(take(&ids), 0); /* from the released ones */
        assert_int_equal(take(&ids), 2); /* a new one */
        ki__ids_untake(&ids, 2);
        ki__ids_untake(&ids, 0);
    }
    ki__ids_done(&ids);
    test_alloc_done(&alloc);
}

static void random_take(ki__ids *ids, struct model *m, uint64_t *random)
{
    uint32_t id;
    int r = ki__ids_take(ids, &id);
    if (r < 0) { /* only if each number is out or waits for the commit */
        assert_int_equal(r, KI_ERR_LIMIT);
        for (size_t i = 0; i < MAX; i++) {
            assert_true(m->now[i] || m->given[i]);
        }
        return;
    }
    assert_true(id < MAX);
    assert_false(m->now[id]);
    assert_false(m->given[id]);
    if (test_random(random) % 5 == 0) {
        ki__ids_untake(ids, id);
    } else {
        m->now[id] = true;
    }
}

static void no_number_is_out_twice(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki__ids ids;
    struct model m = {0};
    uint64_t random = 9;
    ki__ids_init(&ids, &alloc.table, MAX);
    for (unsigned n = 0; n < 200000; n++) {
        uint64_t what = test_random(&random) % 100;
        uint32_t id = (uint32_t)(test_random(&random) % MAX);
        if (what < 50) {
            random_take(&ids, &m, &random);
        } else if (what < 90) {
            if (m.now[id]) {
                give(&ids, id);
                m.now[id] = false;
                m.given[id] = true;
            }
        } else if (what < 95) {
            ki__ids_commit(&ids);
            memcpy(m.before, m.now, sizeof(m.before));
            memset(m.given, 0, sizeof(m.given));
        } else {
            ki__ids_abort(&ids);
            memcpy(m.now, m.before, sizeof(m.now));
            memset(m.given, 0, sizeof(m.given));
        }
    }
    ki__ids_done(&ids);
    test_alloc_done(&alloc);
}

static void released_numbers_are_used_before_new_ones(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki__ids ids;
    ki__ids_init(&ids, &alloc.table, 1000);
    for (uint32_t i = 0; i < 100; i++) {
        assert_int_equal(take(&ids), i);
    }
    for (unsigned round = 0; round < 50; round++) {
        for (uint32_t i = 0; i < 100; i += 2) {
            give(&ids, i);
        }
        ki__ids_commit(&ids);
        bool out[100] = {0};
        for (uint32_t i = 0; i < 50; i++) {
            uint32_t id = take(&ids);
            assert_true(id < 100 && id % 2 == 0 && !out[id]);
            out[id] = true;
        }
        ki__ids_commit(&ids);
    }
    assert_int_equal(ids.next, 100);
    ki__ids_done(&ids);
    test_alloc_done(&alloc);
}

static int ids_scenario(const ki_alloc *alloc, void *user)
{
    (void)user;
    ki__ids ids;
    ki__ids_init(&ids, alloc, MAX);
    int r = 0;
    for (uint32_t i = 0; i < MAX; i++) {
        (void)take(&ids);
    }
    for (uint32_t i = 0; r >= 0 && i < MAX; i++) {
        r = ki__ids_reserve(&ids, 1);
        if (r >= 0) {
            ki__ids_release(&ids, i);
        }
    }
    if (r < 0) {
        ki__ids_abort(&ids);
        assert_int_equal(take(&ids), 0);
    }
    ki__ids_done(&ids);
    return r;
}

static void room_that_cannot_be_had_changes_nothing(void **state)
{
    (void)state;
    test_alloc_sweep(ids_scenario, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_come_from_zero_on_and_end),
        cmocka_unit_test(the_largest_number_can_be_given_out),
        cmocka_unit_test(released_numbers_wait_for_the_commit),
        cmocka_unit_test(an_abort_is_as_if_nothing_had_been),
        cmocka_unit_test(the_last_take_can_be_taken_back),
        cmocka_unit_test(no_number_is_out_twice),
        cmocka_unit_test(released_numbers_are_used_before_new_ones),
        cmocka_unit_test(room_that_cannot_be_had_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
