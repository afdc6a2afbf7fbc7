/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of ids against a plain bitmap, over versions that are all kept, on both sides of the size at
 * which an array becomes a bitmap. */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "cache/store/posting.h"
#include "support/edits.h"
#include "support/test.h"

/* An array holds at most 4096 ids; the last three ids represent the largest possible ones. */
enum { IDS = 6000, ARRAY_MAX = 4096, VERSIONS = 60 };

struct version {
    test_copy_on_write edit; /* that made it */
    ki__posting *posting;
    bool model[IDS];
};

static uint32_t id_of(size_t i)
{
    if (i >= IDS - 3) {
        return UINT32_MAX - (uint32_t)(IDS - 1 - i);
    }
    return i < 2000 ? (uint32_t)i : (uint32_t)i * 37; /* dense, then thin */
}

static void check(const struct version *v)
{
    uint64_t block = 0;
    uint64_t bits = 0;
    uint32_t count = 0;
    for (size_t i = 0; i < IDS; i++) { /* the walk gives exactly the ids of the model, in order */
        if (!v->model[i]) {
            continue;
        }
        if (bits == 0) {
            bits = ki__posting_next_block(v->posting, &block);
            assert_true(bits != 0);
            block++;
        }
        assert_int_equal((block - 1) * 64 + (uint64_t)__builtin_ctzll(bits), id_of(i));
        bits &= bits - 1;
        count++;
    }
    assert_true(bits == 0);
    assert_true(ki__posting_next_block(v->posting, &block) == 0);
    assert_int_equal(v->posting->count, count);
    assert_int_equal(v->posting->hash, 1234);
    assert_str(ki__posting_value(v->posting), "the value");
}

static void check_blocks(const struct version *v)
{
    for (size_t i = 0; i < IDS; i += 61) { /* a walk may begin at any block */
        uint64_t block = id_of(i) / 64;
        uint64_t bits = ki__posting_next_block(v->posting, &block);
        bool found = bits != 0 && block == id_of(i) / 64 && (bits >> (id_of(i) % 64) & 1) != 0;
        assert_int_equal(found, v->model[i]);
    }
    uint64_t behind = UINT64_MAX;
    assert_true(ki__posting_next_block(v->posting, &behind) == 0);
    behind = UINT32_MAX / 64 + UINT64_C(1);
    assert_true(ki__posting_next_block(v->posting, &behind) == 0);
}

static void put(struct version *v, size_t i)
{
    assert_int_equal(ki__posting_add(&v->edit.edit, &v->posting, id_of(i)), v->model[i] ? 0 : 1);
    v->model[i] = true;
}

static void take(struct version *v, size_t i)
{
    assert_int_equal(ki__posting_touch(&v->edit.edit, &v->posting, id_of(i)), 0);
    ki__posting_remove(&v->edit.edit, v->posting, id_of(i));
    v->model[i] = false;
}

static void first_version(struct version *v, const ki_alloc *alloc)
{
    test_edit_begin(&v->edit, alloc, 1);
    v->posting = ki__posting_new(&v->edit.edit, ki_str_from("the value"), 1234);
    assert_non_null(v->posting);
}

static void next_version(struct version *v, const struct version *base, uint64_t number)
{
    test_edit_begin(&v->edit, base->edit.edit.alloc, number);
    v->posting = base->posting;
    memcpy(v->model, base->model, sizeof(v->model));
}

static void change(struct version *v, uint64_t *random, bool filling)
{
    for (uint64_t n = test_random(random) % 900; n > 0; n--) {
        size_t i = test_random(random) % IDS;
        if ((test_random(random) % 16 != 0) == filling) {
            put(v, i);
        } else {
            take(v, i); /* also what is not there */
        }
    }
}

static void every_version_stays_as_it_was(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    uint64_t random = 3;
    struct version *versions = test_calloc(VERSIONS + 1, sizeof(*versions));
    first_version(&versions[1], &alloc.table);
    for (uint64_t n = 2; n <= VERSIONS; n++) {
        for (int attempt = n % 5 == 0 ? 0 : 1; attempt < 2; attempt++) {
            next_version(&versions[n], &versions[n - 1], n);
            change(&versions[n], &random, n / 25 % 2 == 0);
            check(&versions[n]);
            check_blocks(&versions[n]);
            if (attempt == 0) { /* is taken back */
                ki__posting_free(&alloc.table, versions[n].posting, n);
                test_edit_forget(&versions[n].edit);
                check(&versions[n - 1]);
            }
        }
    }
    assert_int_equal(versions[VERSIONS].posting->cap, 0); /* it has become a bitmap */
    assert_true(versions[4].posting->cap != 0);
    for (uint64_t n = 2; n <= VERSIONS; n++) {
        check(&versions[n - 1]);
        test_edit_collect(&versions[n].edit);
        check(&versions[n]);
    }
    ki__posting_free(&alloc.table, versions[VERSIONS].posting, 0);
    test_free(versions);
    test_alloc_done(&alloc);
}

static void an_array_becomes_a_bitmap_without_losing_any(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    struct version *v = test_calloc(3, sizeof(*v));
    first_version(&v[1], &alloc.table);
    for (size_t i = 0; i < ARRAY_MAX; i++) {
        put(&v[1], IDS - 1 - i); /* the largest first: always in front of the others */
    }
    assert_int_equal(v[1].posting->cap, ARRAY_MAX);
    check(&v[1]);
    next_version(&v[2], &v[1], 2);
    put(&v[2], 5);
    assert_int_equal(v[2].posting->cap, 0);
    check(&v[2]);
    check_blocks(&v[2]);
    check(&v[1]);
    ki__posting_free(&alloc.table, v[2].posting, 3); /* not as young as that */
    check(&v[2]);
    ki__posting_free(&alloc.table, v[2].posting, 2);
    test_edit_collect(&v[2].edit);
    test_free(v);
    test_alloc_done(&alloc);
}

static void a_bitmap_without_ids_takes_no_memory(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    struct version *v = test_calloc(1, sizeof(*v));
    first_version(v, &alloc.table);
    for (size_t i = 0; i < IDS; i++) {
        put(v, i);
    }
    assert_int_equal(v->posting->cap, 0);
    for (size_t i = 0; i < IDS; i++) {
        take(v, i);
    }
    check(v);
    assert_int_equal(alloc.live_blocks, 1); /* the posting itself */
    ki__posting_free(&alloc.table, v->posting, 1);
    test_free(v);
    test_alloc_done(&alloc);
}

/* A node that was created for an id that then could not be added, or for one that is not there,
 * belongs to an older version when the last id is removed: nobody would free it. */
static void nothing_is_left_of_ids_that_were_not_added(void **state)
{
    (void)state;
    for (uint64_t fail = 1;; fail++) {
        test_alloc alloc;
        test_alloc_init(&alloc);
        struct version *v = test_calloc(4, sizeof(*v));
        first_version(&v[1], &alloc.table);
        for (size_t i = 0; i < ARRAY_MAX + 1; i++) {
            put(&v[1], i % (IDS - 3));
        }
        assert_int_equal(v[1].posting->cap, 0);
        next_version(&v[2], &v[1], 2);
        alloc.fail_at = alloc.calls + fail;
        int r = ki__posting_add(&v[2].edit.edit, &v[2].posting, UINT32_MAX);
        alloc.fail_at = 0;
        assert_int_equal(ki__posting_touch(&v[2].edit.edit, &v[2].posting, UINT32_MAX / 2), 0);
        check(&v[1]);
        v[2].model[IDS - 1] = r > 0;
        next_version(&v[3], &v[2], 3);
        for (size_t i = 0; i < IDS; i++) {
            take(&v[3], i);
        }
        check(&v[3]);
        ki__posting_drop(&v[3].edit.edit, v[3].posting);
        test_edit_collect(&v[2].edit);
        test_edit_collect(&v[3].edit);
        test_free(v);
        test_alloc_done(&alloc);
        if (r > 0) {
            assert_true(fail > 3);
            return;
        }
        assert_int_equal(r, -ENOMEM);
    }
}

static void adding_what_is_there_copies_nothing(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    struct version *v = test_calloc(3, sizeof(*v));
    first_version(&v[1], &alloc.table);
    put(&v[1], 1);
    next_version(&v[2], &v[1], 2);
    uint64_t calls = alloc.calls;
    put(&v[2], 1);
    assert_int_equal(alloc.calls, calls);
    assert_ptr_equal(v[1].posting, v[2].posting);
    ki__posting_free(&alloc.table, v[1].posting, 0);
    test_free(v);
    test_alloc_done(&alloc);
}

static void a_value_may_be_empty(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    test_copy_on_write e;
    test_edit_begin(&e, &alloc.table, 1);
    ki__posting *posting = ki__posting_new(&e.edit, ki_str_make(NULL, 0), 1);
    for (uint32_t id = 0; id < 5; id++) {
        assert_int_equal(ki__posting_add(&e.edit, &posting, id), 1);
    }
    assert_int_equal(ki__posting_value(posting).len, 0);
    ki__posting_free(&alloc.table, posting, 1);
    test_alloc_done(&alloc);
}

/* Adds and removes over two versions, around the size where the array becomes a bitmap if there are
 * `user` ids to begin with; what fails must have changed nothing. */
static int posting_scenario(const ki_alloc *alloc, void *user)
{
    size_t before = *(const size_t *)user;
    struct version *v = test_calloc(3, sizeof(*v));
    int r = 0;
    test_edit_begin(&v[1].edit, alloc, 1);
    v[1].posting = ki__posting_new(&v[1].edit.edit, ki_str_from("the value"), 1234);
    for (size_t i = 0; v[1].posting != NULL && r >= 0 && i < before; i++) {
        r = ki__posting_add(&v[1].edit.edit, &v[1].posting, id_of(i));
        v[1].model[i] = r > 0;
    }
    if (v[1].posting == NULL || r < 0) {
        if (v[1].posting != NULL) {
            check(&v[1]);
            ki__posting_free(alloc, v[1].posting, 0);
        }
        test_free(v);
        return -ENOMEM;
    }
    int first_error = 0;
    next_version(&v[2], &v[1], 2);
    for (size_t i = before; i < before + 9; i++) {
        r = ki__posting_add(&v[2].edit.edit, &v[2].posting, id_of(i * 600 % IDS));
        v[2].model[i * 600 % IDS] = r > 0 || v[2].model[i * 600 % IDS];
        first_error = first_error < 0 ? first_error : r < 0 ? r : 0;
        r = ki__posting_touch(&v[2].edit.edit, &v[2].posting, id_of(i - before));
        if (r >= 0) {
            ki__posting_remove(&v[2].edit.edit, v[2].posting, id_of(i - before));
            v[2].model[i - before] = false;
        }
        first_error = first_error < 0 ? first_error : r < 0 ? r : 0;
        check(&v[2]);
    }
    check(&v[1]);
    test_edit_collect(&v[2].edit);
    ki__posting_free(alloc, v[2].posting, 0);
    test_free(v);
    return first_error;
}

static void a_failed_change_changes_nothing(void **state)
{
    (void)state;
    static const size_t before[] = {0, 1, 7, ARRAY_MAX - 1, ARRAY_MAX + 1};
    for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
        size_t count = before[i];
        test_alloc_sweep(posting_scenario, &count);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_version_stays_as_it_was),
        cmocka_unit_test(an_array_becomes_a_bitmap_without_losing_any),
        cmocka_unit_test(a_bitmap_without_ids_takes_no_memory),
        cmocka_unit_test(nothing_is_left_of_ids_that_were_not_added),
        cmocka_unit_test(adding_what_is_there_copies_nothing),
        cmocka_unit_test(a_value_may_be_empty),
        cmocka_unit_test(a_failed_change_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
