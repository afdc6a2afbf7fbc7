/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "cache/store/copy_on_write.h"
#include "support/edits.h"
#include "support/test.h"

typedef struct block {
    uint64_t birth;
    unsigned char bytes[100];
} block;

static bool is_filled(const block *b, size_t from, size_t to, unsigned char with)
{
    for (size_t i = from; i < to; i++) {
        if (b->bytes[i] != with) {
            return false;
        }
    }
    return true;
}

static void a_new_block_is_clear_and_the_edits_own(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    test_copy_on_write of7;
    test_copy_on_write of8;
    test_edit_begin(&of7, &alloc.table, 7);
    test_edit_begin(&of8, &alloc.table, 8);
    block *b = ki__edit_new(&of7.edit, sizeof(*b));
    assert_int_equal(b->birth, 7);
    assert_true(is_filled(b, 0, sizeof(b->bytes), 0));
    assert_true(ki__edit_owns(&of7.edit, b));
    assert_false(ki__edit_owns(&of8.edit, b));
    ki__free(&alloc.table, b);
    test_alloc_done(&alloc);
}

static void copying_an_own_block_frees_it(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    test_copy_on_write e;
    test_edit_begin(&e, &alloc.table, 7);
    block *b = ki__edit_new(&e.edit, offsetof(block, bytes) + 10);
    memset(b->bytes, 'x', 10);
    block *copy =
        ki__edit_copy(&e.edit, b, offsetof(block, bytes) + 6, sizeof(block), sizeof(block));
    assert_non_null(copy);
    assert_int_equal(alloc.live_blocks, 1);
    assert_int_equal(test_edit_garbage(&e), 0);
    assert_int_equal(copy->birth, 7);
    assert_true(is_filled(copy, 0, 6, 'x'));
    assert_true(is_filled(copy, 6, sizeof(copy->bytes), 0));
    ki__free(&alloc.table, copy);
    test_alloc_done(&alloc);
}

static void copying_an_older_block_makes_it_garbage(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    test_copy_on_write before;
    test_copy_on_write e;
    test_edit_begin(&before, &alloc.table, 7);
    test_edit_begin(&e, &alloc.table, 8);
    block *b = ki__edit_new(&before.edit, sizeof(*b));
    memset(b->bytes, 'x', sizeof(b->bytes));
    block *copy = ki__edit_copy(&e.edit, b, sizeof(*b), sizeof(*b), sizeof(*b));
    assert_non_null(copy);
    assert_int_equal(copy->birth, 8);
    assert_true(is_filled(copy, 0, sizeof(copy->bytes), 'x'));
    assert_int_equal(b->birth, 7); /* readers of the version before still have it as it was */
    assert_true(is_filled(b, 0, sizeof(b->bytes), 'x'));
    assert_int_equal(test_edit_garbage(&e), 1);
    assert_ptr_equal(e.first.items[0].ptr, b);
    assert_int_equal(e.first.items[0].id, KI__GARBAGE_BLOCK);
    test_edit_collect(&e);
    ki__free(&alloc.table, copy);
    test_alloc_done(&alloc);
}

static bool has_item(const test_copy_on_write *e, const void *ptr, uint32_t id)
{
    for (const ki__garbage_chunk *chunk = e->edit.garbage; chunk != NULL; chunk = chunk->next) {
        for (uint32_t i = 0; i < chunk->count; i++) {
            if (chunk->items[i].ptr == ptr && chunk->items[i].id == id) {
                return true;
            }
        }
    }
    return false;
}

static void garbage_is_kept_over_any_number_of_chunks(void **state)
{
    (void)state;
    enum { COUNT = 1000 };
    test_alloc alloc;
    test_alloc_init(&alloc);
    test_copy_on_write e;
    char things[COUNT];
    test_edit_begin(&e, &alloc.table, 2);
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_int_equal(ki__edit_reserve(&e.edit), 0);
        assert_int_equal(ki__edit_reserve(&e.edit), 0); /* twice is once */
        ki__edit_discard(&e.edit, &things[i], i, 3);
    }
    assert_int_equal(test_edit_garbage(&e), COUNT);
    assert_in_range(alloc.live_blocks, 2, COUNT / 100);
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_true(has_item(&e, &things[i], i));
    }
    test_edit_forget(&e);
    test_alloc_done(&alloc);
}

static void what_was_noted_can_be_taken_back_in_any_order(void **state)
{
    (void)state;
    enum { COUNT = 600 };
    test_alloc alloc;
    test_alloc_init(&alloc);
    test_copy_on_write e;
    char things[COUNT];
    test_edit_begin(&e, &alloc.table, 2);
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_int_equal(ki__edit_reserve(&e.edit), 0);
        ki__edit_discard(&e.edit, &things[i / 2], i % 2, 3); /* the same object under two ids */
    }
    for (uint32_t n = 0; n < COUNT; n++) {
        uint32_t i = n * 7 % COUNT; /* 7 and COUNT share no factor: each comes once */
        ki__edit_restore(&e.edit, &things[i / 2], i % 2);
        assert_false(has_item(&e, &things[i / 2], i % 2));
        assert_int_equal(test_edit_garbage(&e), COUNT - n - 1);
    }
    test_edit_forget(&e);
    test_alloc_done(&alloc);
}

/* Copies blocks of an older version; one that cannot be copied must stay as it was. */
static int copy_scenario(const ki_alloc *alloc, void *user)
{
    (void)user;
    enum { COUNT = 300 };
    block *blocks[COUNT] = {0};
    test_copy_on_write before;
    test_copy_on_write e;
    test_edit_begin(&before, alloc, 1);
    test_edit_begin(&e, alloc, 2);
    int r = 0;
    for (size_t i = 0; i < COUNT; i++) {
        blocks[i] = ki__edit_new(&before.edit, sizeof(block));
        if (blocks[i] == NULL) {
            r = -ENOMEM;
            continue;
        }
        blocks[i]->bytes[0] = (unsigned char)i;
        size_t garbage = test_edit_garbage(&e);
        block *copy =
            ki__edit_copy(&e.edit, blocks[i], sizeof(block), sizeof(block), sizeof(block));
        assert_int_equal(blocks[i]->birth, 1);
        assert_int_equal(blocks[i]->bytes[0], (unsigned char)i);
        assert_int_equal(test_edit_garbage(&e), garbage + (copy != NULL));
        if (copy == NULL) {
            r = -ENOMEM;
        } else {
            blocks[i] = copy;
        }
    }
    for (size_t i = 0; i < COUNT; i++) {
        ki__free(alloc, blocks[i]);
    }
    test_edit_collect(&e);
    return r;
}

static void a_failed_copy_changes_nothing(void **state)
{
    (void)state;
    test_alloc_sweep(copy_scenario, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_block_is_clear_and_the_edits_own),
        cmocka_unit_test(copying_an_own_block_frees_it),
        cmocka_unit_test(copying_an_older_block_makes_it_garbage),
        cmocka_unit_test(garbage_is_kept_over_any_number_of_chunks),
        cmocka_unit_test(what_was_noted_can_be_taken_back_in_any_order),
        cmocka_unit_test(a_failed_copy_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
