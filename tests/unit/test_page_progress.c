/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "support/test.h"
#include "wire/page_progress.h"

static int next_page(ki__progress *progress, unsigned number)
{
    char token[16];
    (void)snprintf(token, sizeof(token), "t%u", number);
    return ki__progress_next_page(progress, ki_str_from(token), NULL);
}

static void note(ki__progress *progress, unsigned number)
{
    char key[16];
    (void)snprintf(key, sizeof(key), "default/%u", number);
    ki__progress_note_key(progress, ki_str_from(key));
}

static void pages_with_new_keys_lead_on(void **state)
{
    (void)state;
    ki__progress progress;
    ki__progress_init(&progress, ki_alloc_default(), (ki__hash_key){1, 2});
    for (unsigned page = 0; page < 1000; page++) {
        for (unsigned i = 0; i < 20; i++) {
            note(&progress, page * 20 + i);
        }
        assert_int_equal(next_page(&progress, page), 0);
    }
    assert_int_equal(progress.seen_count, 999 * 20); /* the first page is not kept */
    ki__progress_reset(&progress);
    assert_null(progress.seen);
}

static void one_page_takes_no_memory(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki__progress progress;
    ki__progress_init(&progress, &alloc.table, (ki__hash_key){1, 2});
    for (unsigned i = 0; i < 1000; i++) {
        note(&progress, i);
    }
    assert_null(progress.seen);
    assert_int_equal(next_page(&progress, 0), 0);
    note(&progress, 1);
    assert_non_null(progress.seen);
    ki__progress_reset(&progress);
    test_alloc_done(&alloc);
}

static void keys_that_are_known_or_missing_are_no_progress(void **state)
{
    (void)state;
    ki__progress progress;
    ki_error error = KI_ERROR_INIT;
    ki__progress_init(&progress, ki_alloc_default(), (ki__hash_key){1, 2});
    unsigned page = 0;
    int r = 0;
    for (; r == 0 && page < 1000; page++) {
        note(&progress, 1);
        note(&progress, 2);
        ki__progress_note_key(&progress, ki_str_from(""));
        char token[16];
        (void)snprintf(token, sizeof(token), "t%u", page);
        r = ki__progress_next_page(&progress, ki_str_from(token), &error);
    }
    assert_int_equal(r, KI_ERR_LIMIT);
    assert_int_equal(page, 102); /* the keys of the first page were new twice */
    assert_string_equal(error.message, "pagination loop: 100 pages in a row without a new object");
    ki__progress_reset(&progress);
}

static void a_new_key_begins_the_count_again(void **state)
{
    (void)state;
    ki__progress progress;
    ki__progress_init(&progress, ki_alloc_default(), (ki__hash_key){1, 2});
    for (unsigned page = 0; page < 990; page++) {
        note(&progress, page / 99);
        assert_int_equal(next_page(&progress, page), 0);
    }
    ki__progress_reset(&progress);
}

/* Refuses all. */
static void *no_memory(size_t size, void *user)
{
    (void)size;
    (void)user;
    return NULL;
}

static void without_memory_every_key_counts_as_new(void **state)
{
    (void)state;
    ki_alloc table = *ki_alloc_default();
    table.alloc = no_memory;
    ki__progress progress;
    ki__progress_init(&progress, &table, (ki__hash_key){1, 2});
    for (unsigned page = 0; page < 300; page++) {
        note(&progress, 1);
        assert_int_equal(next_page(&progress, page), 0);
    }
    ki__progress_reset(&progress);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_with_new_keys_lead_on),
        cmocka_unit_test(one_page_takes_no_memory),
        cmocka_unit_test(keys_that_are_known_or_missing_are_no_progress),
        cmocka_unit_test(a_new_key_begins_the_count_again),
        cmocka_unit_test(without_memory_every_key_counts_as_new),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
