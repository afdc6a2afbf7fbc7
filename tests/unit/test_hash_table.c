/* SPDX-License-Identifier: Apache-2.0 */
/* The persistent hash table against a plain array, over versions that are all kept. A key is the
 * bytes of its id, so that equality can be checked; what its hash is, the test decides. */
#include <errno.h>
#include <string.h>

#include "cache/store/hash_table.h"
#include "support/edits.h"
#include "support/test.h"

enum { KEYS = 700, VERSIONS = 120 };

struct version {
    test_copy_on_write edit; /* that made it */
    ki__table table;
    bool model[KEYS]; /* which ids are in it */
};

typedef uint32_t (*hash_function)(uint32_t id);

static uint32_t scattered(uint32_t id)
{
    uint64_t random = id;
    return (uint32_t)test_random(&random);
}

static uint32_t in_one_bucket(uint32_t id)
{
    return id << 24 | 5; /* alike in the low bits for as long as the table is small */
}

static uint32_t all_alike(uint32_t id)
{
    (void)id;
    return 0x80000001;
}

static uint32_t counted(uint32_t id)
{
    return id;
}

static int the_context; /* counts the comparisons */

static bool has_key(const void *context, uint32_t id, ki_str key)
{
    the_context++;
    uint32_t wanted;
    assert_int_equal(key.len, sizeof(wanted));
    memcpy(&wanted, key.ptr, sizeof(wanted));
    assert_true(id < KEYS);
    assert_ptr_equal(context, &the_context);
    return wanted == id;
}

static uint32_t find(const ki__table *table, uint32_t id, hash_function hash)
{
    ki_str key = ki_str_make((const char *)&id, sizeof(id));
    return ki__table_find(table, hash(id), key, has_key, &the_context);
}

static void check(const struct version *v, hash_function hash)
{
    uint32_t count = 0;
    for (uint32_t id = 0; id < KEYS; id++) {
        assert_int_equal(find(&v->table, id, hash), v->model[id] ? id : KI__TABLE_NONE);
        count += v->model[id];
    }
    assert_int_equal(v->table.count, count);
}

static void flip(struct version *v, uint32_t id, hash_function hash)
{
    if (v->model[id]) {
        assert_int_equal(ki__table_touch(&v->edit.edit, &v->table, hash(id)), 0);
        ki__table_remove(&v->edit.edit, &v->table, hash(id), id);
    } else {
        assert_int_equal(ki__table_insert(&v->edit.edit, &v->table, hash(id), id), 0);
    }
    v->model[id] = !v->model[id];
    assert_int_equal(find(&v->table, id, hash), v->model[id] ? id : KI__TABLE_NONE);
}

/* Changes some entries, preferring to insert or to remove. */
static void change(struct version *v, uint64_t *random, hash_function hash, bool filling)
{
    for (uint64_t n = test_random(random) % 60; n > 0; n--) {
        uint32_t id = (uint32_t)(test_random(random) % KEYS);
        if (v->model[id] != filling || test_random(random) % 4 == 0) {
            flip(v, id, hash);
        }
    }
}

static void build(struct version *v, const struct version *base, const ki_alloc *alloc,
                  uint64_t number, uint64_t *random, hash_function hash)
{
    test_edit_begin(&v->edit, alloc, number);
    for (int attempt = test_random(random) % 3 == 0 ? 0 : 1; attempt < 2; attempt++) {
        v->table = base->table;
        memcpy(v->model, base->model, sizeof(v->model));
        change(v, random, hash, number / 30 % 2 == 0);
        check(v, hash);
        if (attempt == 0) { /* is taken back */
            ki__table_free(alloc, &v->table, number);
            test_edit_forget(&v->edit);
            check(base, hash);
        }
    }
}

static void run_versions(hash_function hash)
{
    test_alloc alloc;
    test_alloc_init(&alloc);
    struct version *versions = test_calloc(VERSIONS, sizeof(*versions));
    uint64_t random = 5;
    for (size_t n = 1; n < VERSIONS; n++) {
        build(&versions[n], &versions[n - 1], &alloc.table, n, &random, hash);
    }
    for (size_t n = 1; n < VERSIONS; n++) {
        check(&versions[n - 1], hash);
        test_edit_collect(&versions[n].edit);
    }
    check(&versions[VERSIONS - 1], hash);
    ki__table_free(&alloc.table, &versions[VERSIONS - 1].table, 0);
    test_free(versions);
    test_alloc_done(&alloc);
}

static void every_version_stays_as_it_was(void **state)
{
    (void)state;
    run_versions(scattered);
    run_versions(counted);
    run_versions(in_one_bucket);
    run_versions(all_alike);
}

/* On average a bucket has two to eight entries, but for what a split or a merge leaves over. */
static void check_load(const ki__table *table)
{
    if (table->count > 16) {
        assert_in_range(table->bucket_count, table->count / 9, table->count / 2 + 1);
    }
}

static void it_grows_and_shrinks_with_its_entries(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    struct version v = {0};
    test_edit_begin(&v.edit, &alloc.table, 1);
    for (uint32_t id = 0; id < KEYS; id++) {
        flip(&v, id, scattered);
        check_load(&v.table);
        check(&v, scattered);
    }
    assert_true(v.table.bucket_count > 64); /* more than one leaf */
    for (uint32_t id = 0; id < KEYS; id++) {
        flip(&v, id, scattered);
        check_load(&v.table);
        check(&v, scattered);
    }
    assert_int_equal(v.table.bucket_count, 1);
    assert_int_equal(alloc.live_blocks, 0); /* nothing in it, nothing kept */
    assert_null(v.table.buckets.root);
    test_alloc_done(&alloc);
}

static void growing_and_shrinking_copies_older_buckets(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    struct version *versions = test_calloc(2 * KEYS + 1, sizeof(*versions));
    /* One change a version, so that every split and every merge meets older buckets. */
    for (size_t n = 1; n <= 2 * KEYS; n++) {
        test_edit_begin(&versions[n].edit, &alloc.table, n);
        versions[n].table = versions[n - 1].table;
        memcpy(versions[n].model, versions[n - 1].model, sizeof(versions[n].model));
        flip(&versions[n], (uint32_t)(n - 1) % KEYS, scattered);
    }
    for (size_t n = 1; n <= 2 * KEYS; n++) {
        check(&versions[n - 1], scattered);
        test_edit_collect(&versions[n].edit);
    }
    assert_int_equal(alloc.live_blocks, 0);
    test_free(versions);
    test_alloc_done(&alloc);
}

static void only_keys_of_the_same_hash_are_compared(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    struct version v = {0};
    test_edit_begin(&v.edit, &alloc.table, 1);
    for (uint32_t id = 0; id < KEYS; id += 2) {
        flip(&v, id, counted);
    }
    for (uint32_t id = 0; id < KEYS; id++) {
        the_context = 0;
        assert_int_equal(find(&v.table, id, counted), id % 2 == 0 ? id : KI__TABLE_NONE);
        assert_int_equal(the_context, id % 2 == 0);
    }
    ki__table_free(&alloc.table, &v.table, 1);
    test_alloc_done(&alloc);
}

static void an_empty_table_finds_nothing(void **state)
{
    (void)state;
    struct version v = {0};
    check(&v, scattered);
    ki__table_free(NULL, &v.table, 0);
}

/* Inserts over two versions, then removes; what fails must have changed nothing. */
static int table_scenario(const ki_alloc *alloc, void *user)
{
    (void)user;
    enum { COUNT = 60 };
    struct version versions[3] = {0};
    int first_error = 0;
    for (size_t n = 1; n <= 2; n++) {
        struct version *v = &versions[n];
        test_edit_begin(&v->edit, alloc, n);
        v->table = versions[n - 1].table;
        memcpy(v->model, versions[n - 1].model, sizeof(v->model));
        for (uint32_t id = 0; id < COUNT; id++) {
            int r;
            if (!v->model[id]) {
                r = ki__table_insert(&v->edit.edit, &v->table, scattered(id), id);
                v->model[id] = r >= 0;
            } else {
                r = ki__table_touch(&v->edit.edit, &v->table, scattered(id));
                if (r >= 0) {
                    ki__table_remove(&v->edit.edit, &v->table, scattered(id), id);
                    v->model[id] = false;
                }
            }
            first_error = first_error < 0 ? first_error : r;
        }
        check(v, scattered);
    }
    check(&versions[1], scattered);
    test_edit_collect(&versions[2].edit);
    ki__table_free(alloc, &versions[2].table, 0);
    test_edit_collect(&versions[1].edit);
    return first_error;
}

static void a_failed_change_changes_nothing(void **state)
{
    (void)state;
    test_alloc_sweep(table_scenario, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_table_finds_nothing),
        cmocka_unit_test(every_version_stays_as_it_was),
        cmocka_unit_test(it_grows_and_shrinks_with_its_entries),
        cmocka_unit_test(only_keys_of_the_same_hash_are_compared),
        cmocka_unit_test(growing_and_shrinking_copies_older_buckets),
        cmocka_unit_test(a_failed_change_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
