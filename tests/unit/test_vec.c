/* SPDX-License-Identifier: Apache-2.0 */
/* The persistent array against a plain one, over many versions that are all kept. */
#include <errno.h>
#include <string.h>

#include "cache/store/vec.h"
#include "support/edits.h"
#include "support/test.h"

/* The ids under test: where a level, a node or the whole range begins or ends. */
static const uint32_t ids[] = {
    0,
    1,
    62,
    63,
    64,
    65,
    127,
    4095,
    4096,
    4097,
    262143,
    262144,
    16777215,
    16777216,
    (UINT32_C(1) << 30) - 1,
    UINT32_C(1) << 30,
    (UINT32_C(1) << 30) + 63,
    UINT32_C(1) << 31,
    UINT32_MAX - 64,
    UINT32_MAX - 63,
    UINT32_MAX - 1,
    UINT32_MAX,
};

enum { IDS = sizeof(ids) / sizeof(ids[0]), VERSIONS = 400 };

struct version {
    test_copy_on_write edit; /* that made it */
    ki__vec vec;
    uint64_t model[IDS]; /* what each id holds; 0: nothing */
};

static void check_walk(const ki__vec *vec, const uint64_t *model)
{
    uint64_t at = 0;
    uint64_t last = 0;
    size_t found = 0;
    size_t expected = 0;
    const ki__vec_node *leaf;
    while ((leaf = ki__vec_next_leaf(vec, &at)) != NULL) {
        assert_int_equal(at % KI__VEC_WIDTH, 0);
        assert_true(at <= UINT32_MAX);
        assert_true(at >= last);
        assert_ptr_equal(ki__vec_leaf(vec, (uint32_t)at + 5), leaf);
        for (size_t i = 0; i < KI__VEC_WIDTH; i++) {
            found += leaf->slots[i].bits != 0;
        }
        at += KI__VEC_WIDTH;
        last = at;
    }
    for (size_t i = 0; i < IDS; i++) {
        expected += model[i] != 0;
    }
    assert_int_equal(found, expected);
}

static void check(const ki__vec *vec, const uint64_t *model)
{
    for (size_t i = 0; i < IDS; i++) {
        assert_true(ki__vec_get(vec, ids[i]).bits == model[i]);
        uint64_t at = ids[i];
        const ki__vec_node *leaf = ki__vec_next_leaf(vec, &at);
        if (model[i] != 0) {
            assert_non_null(leaf);
            assert_int_equal(at, ids[i] / KI__VEC_WIDTH * KI__VEC_WIDTH);
        }
    }
    assert_true(ki__vec_get(vec, 100).bits == 0); /* never set, some neighbours were */
    assert_true(ki__vec_get(vec, UINT32_MAX - 5).bits == 0);
    check_walk(vec, model);
}

static void set(struct version *v, size_t i, uint64_t value)
{
    ki__slot *slot;
    assert_int_equal(ki__vec_touch(&v->edit.edit, &v->vec, ids[i], &slot), 0);
    assert_true(slot->bits == v->model[i]);
    assert_ptr_equal(ki__vec_touched(&v->edit.edit, &v->vec, ids[i]), slot);
    slot->bits = value;
    v->model[i] = value;
    if (value == 0) {
        ki__vec_prune(&v->edit.edit, &v->vec, ids[i]);
    }
}

static void change(struct version *v, uint64_t *random, unsigned fill)
{
    for (uint64_t n = test_random(random) % 6; n > 0; n--) {
        size_t i = test_random(random) % IDS;
        set(v, i, test_random(random) % 8 < fill ? test_random(random) | 1 : 0);
    }
}

/* Builds version `number` after `base`, perhaps after an attempt that is taken back. */
static void build(struct version *v, const struct version *base, const ki_alloc *alloc,
                  uint64_t number, uint64_t *random)
{
    unsigned fill = number / 50 % 2 != 0 ? 1 : 7; /* fills up and empties by turns */
    test_edit_begin(&v->edit, alloc, number);
    for (int attempt = test_random(random) % 3 == 0 ? 0 : 1; attempt < 2; attempt++) {
        v->vec = base->vec;
        memcpy(v->model, base->model, sizeof(v->model));
        change(v, random, fill);
        check(&v->vec, v->model);
        if (attempt == 0) {
            ki__vec_free(alloc, &v->vec, number, NULL, NULL);
            test_edit_forget(&v->edit);
            check(&base->vec, base->model);
        }
    }
}

static void every_version_stays_as_it_was(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        test_alloc alloc;
        test_alloc_init(&alloc);
        struct version *versions = test_calloc(VERSIONS, sizeof(*versions));
        uint64_t random = seed;
        for (size_t n = 1; n < VERSIONS; n++) {
            build(&versions[n], &versions[n - 1], &alloc.table, n, &random);
        }
        for (size_t n = 1; n < VERSIONS; n++) { /* and gone from the oldest on */
            check(&versions[n - 1].vec, versions[n - 1].model);
            test_edit_collect(&versions[n].edit);
            check(&versions[n].vec, versions[n].model);
        }
        ki__vec_free(&alloc.table, &versions[VERSIONS - 1].vec, 0, NULL, NULL);
        test_free(versions);
        test_alloc_done(&alloc);
    }
}

static void what_is_empty_takes_no_memory(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    struct version v = {0};
    struct version next = {0};
    test_edit_begin(&v.edit, &alloc.table, 1);
    set(&v, 0, 5);
    assert_int_equal(v.vec.height, 1);
    assert_int_equal(alloc.live_blocks, 1);
    size_t one = alloc.live_blocks;
    for (size_t i = 1; i < IDS; i++) {
        set(&v, i, 5);
    }
    next.vec = v.vec;
    memcpy(next.model, v.model, sizeof(next.model));
    test_edit_begin(&next.edit, &alloc.table, 2);
    for (size_t i = IDS; i-- > 1;) {
        set(&next, i, 0);
    }
    check(&v.vec, v.model);
    test_edit_collect(&next.edit);
    assert_in_range(alloc.live_blocks, one, 6); /* one path */
    set(&next, 0, 0);
    assert_int_equal(alloc.live_blocks, 0);
    assert_null(next.vec.root);
    assert_int_equal(next.vec.height, 0);
    test_alloc_done(&alloc);
}

static void pruning_leaves_what_is_not_empty(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    struct version v = {0};
    test_edit_begin(&v.edit, &alloc.table, 1);
    set(&v, 3, 1); /* 63 */
    set(&v, 4, 1); /* 64 */
    size_t blocks = alloc.live_blocks;
    ki__vec_prune(&v.edit.edit, &v.vec, 63);
    check(&v.vec, v.model);
    assert_int_equal(alloc.live_blocks, blocks);
    set(&v, 3, 0);
    assert_int_equal(alloc.live_blocks, blocks - 1);
    check(&v.vec, v.model);
    ki__vec_free(&alloc.table, &v.vec, 1, NULL, NULL);
    test_alloc_done(&alloc);
}

struct released {
    uint64_t model[IDS];
};

static void release(ki__slot slot, uint32_t id, void *user)
{
    struct released *released = user;
    for (size_t i = 0; i < IDS; i++) {
        if (ids[i] == id) {
            assert_true(released->model[i] == 0);
            released->model[i] = slot.bits;
            return;
        }
    }
    fail_msg("id %u was never set", id);
}

static void freeing_hands_out_each_slot_with_its_id(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    struct version v = {0};
    struct released released = {0};
    test_edit_begin(&v.edit, &alloc.table, 1);
    ki__vec_free(&alloc.table, &v.vec, 0, release, &released); /* an empty one is allowed */
    for (size_t i = 0; i < IDS; i++) {
        set(&v, i, i + 1);
    }
    ki__vec_free(&alloc.table, &v.vec, 1, release, &released);
    assert_memory_equal(released.model, v.model, sizeof(v.model));
    test_alloc_done(&alloc);
}

static void freeing_a_version_spares_what_is_older(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    struct version v = {0};
    struct version next = {0};
    struct released released = {0};
    test_edit_begin(&v.edit, &alloc.table, 1);
    for (size_t i = 0; i < IDS; i++) {
        set(&v, i, i + 1);
    }
    size_t blocks = alloc.live_blocks;
    next.vec = v.vec;
    memcpy(next.model, v.model, sizeof(next.model));
    test_edit_begin(&next.edit, &alloc.table, 2);
    set(&next, 14, 77);                                           /* 2^30 - 1, alone in its leaf */
    ki__vec_free(&alloc.table, &next.vec, 3, release, &released); /* nothing is that young */
    assert_int_equal(released.model[14], 0);
    ki__vec_free(&alloc.table, &next.vec, 2, release, &released);
    for (size_t i = 0; i < IDS; i++) {
        assert_int_equal(released.model[i], i == 14 ? 77 : 0);
    }
    test_edit_forget(&next.edit);
    assert_int_equal(alloc.live_blocks, blocks);
    check(&v.vec, v.model);
    ki__vec_free(&alloc.table, &v.vec, 0, NULL, NULL);
    test_alloc_done(&alloc);
}

/* Two versions; a slot that cannot be touched leaves both as they were. */
static int touch_scenario(const ki_alloc *alloc, void *user)
{
    (void)user;
    struct version versions[3] = {0};
    int first_error = 0;
    for (size_t n = 1; n <= 2; n++) {
        struct version *v = &versions[n];
        test_edit_begin(&v->edit, alloc, n);
        v->vec = versions[n - 1].vec;
        memcpy(v->model, versions[n - 1].model, sizeof(v->model));
        for (size_t k = 0; k < IDS; k++) {
            size_t i = n == 1 ? k : k * 5 % IDS;
            ki__slot *slot;
            int r = ki__vec_touch(&v->edit.edit, &v->vec, ids[i], &slot);
            if (r >= 0) {
                slot->bits = n * 100 + i;
                v->model[i] = slot->bits;
            }
            first_error = first_error < 0 ? first_error : r;
            check(&v->vec, v->model);
        }
    }
    check(&versions[1].vec, versions[1].model);
    test_edit_collect(&versions[2].edit);
    ki__vec_free(alloc, &versions[2].vec, 0, NULL, NULL);
    test_edit_collect(&versions[1].edit);
    return first_error;
}

static void a_failed_touch_changes_nothing(void **state)
{
    (void)state;
    test_alloc_sweep(touch_scenario, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_version_stays_as_it_was),
        cmocka_unit_test(what_is_empty_takes_no_memory),
        cmocka_unit_test(pruning_leaves_what_is_not_empty),
        cmocka_unit_test(freeing_hands_out_each_slot_with_its_id),
        cmocka_unit_test(freeing_a_version_spares_what_is_older),
        cmocka_unit_test(a_failed_touch_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
