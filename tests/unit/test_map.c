/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <kinformer/error.h>

#include "base/map.h"
#include "support/test.h"

/* Fixed, so that a run that fails can be run again. */
static const ki__hash_key hash_key = {UINT64_C(0x5ca1ab1e), UINT64_C(0xdecade)};

enum { ENTRIES = 400 };

/* The values, which also hold the bytes of their keys, and the model: what the map should hold. */
struct entry {
    char name[24];
    bool present;
    bool seen;
};

static ki_str key_of(const struct entry *e)
{
    return ki_str_from(e->name);
}

static void name_entries(struct entry *entries, size_t count)
{
    memset(entries, 0, count * sizeof(*entries));
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(entries[i].name, sizeof(entries[i].name), "ns-%zu/pod-%zu", i % 7, i);
    }
}

/* Names the entries so that in a table of 16 slots the homes of all are among the last two: long
 * runs that go around the end. */
static void name_entries_to_collide(struct entry *entries, size_t count)
{
    memset(entries, 0, count * sizeof(*entries));
    unsigned number = 0;
    for (size_t i = 0; i < count; i++) {
        do {
            (void)snprintf(entries[i].name, sizeof(entries[i].name), "%u", number++);
        } while ((ki__hash_str(hash_key, key_of(&entries[i])) & 15) < 14);
    }
}

/* The map holds what the model does: by looking up, by counting and by walking. */
static void check(const ki__map *map, struct entry *entries, size_t count)
{
    size_t present = 0;
    for (size_t i = 0; i < count; i++) {
        void *expected = entries[i].present ? &entries[i] : NULL;
        if (ki__map_get(map, key_of(&entries[i])) != expected) {
            fail_msg("%s should%s be there", entries[i].name, expected != NULL ? "" : " not");
        }
        present += entries[i].present;
        entries[i].seen = false;
    }
    assert_int_equal(map->count, present);
    assert_true(map->count <= map->cap / 4 * 3);
    size_t position = 0;
    size_t walked = 0;
    for (struct entry *e; (e = ki__map_next(map, &position)) != NULL; walked++) {
        assert_true(e->present && !e->seen);
        e->seen = true;
    }
    assert_int_equal(walked, present);
    assert_null(ki__map_next(map, &position));
}

static void add_or_replace(ki__map *map, struct entry *e)
{
    void *old = map;
    assert_int_equal(ki__map_set(map, key_of(e), e, &old), 0);
    assert_ptr_equal(old, e->present ? e : NULL);
    e->present = true;
}

static void remove_if_there(ki__map *map, struct entry *e)
{
    assert_ptr_equal(ki__map_remove(map, key_of(e)), e->present ? e : NULL);
    e->present = false;
}

static void new_map_is_empty_and_owns_nothing(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki__map map;
    ki__map_init(&map, &alloc.table, hash_key, 1);
    size_t position = 0;
    assert_null(ki__map_get(&map, ki_str_from("a")));
    assert_null(ki__map_remove(&map, ki_str_from("a")));
    assert_null(ki__map_next(&map, &position));
    ki__map_done(&map);
    assert_int_equal(alloc.calls, 0);
    test_alloc_done(&alloc);
}

static void keys_are_bytes_and_the_empty_one_is_a_key(void **state)
{
    (void)state;
    ki__map map;
    ki__map_init(&map, NULL, hash_key, 10);
    int empty, nul, nul_nul;
    assert_int_equal(ki__map_set(&map, ki_str_from(NULL), &empty, NULL), 0);
    assert_int_equal(ki__map_set(&map, ki_str_make("\0", 1), &nul, NULL), 0);
    assert_int_equal(ki__map_set(&map, ki_str_make("\0\0", 2), &nul_nul, NULL), 0);
    assert_ptr_equal(ki__map_get(&map, ki_str_from("")), &empty);
    assert_ptr_equal(ki__map_get(&map, ki_str_make("\0", 1)), &nul);
    assert_ptr_equal(ki__map_get(&map, ki_str_make("\0\0", 2)), &nul_nul);
    assert_null(ki__map_get(&map, ki_str_make("\0\0\0", 3)));
    ki__map_done(&map);
}

static void replacing_gives_the_old_value_and_borrows_the_new_key(void **state)
{
    (void)state;
    ki__map map;
    ki__map_init(&map, NULL, hash_key, 1);
    int one, two;
    char first[] = "pod";
    char second[] = "pod";
    void *old = &map;
    assert_int_equal(ki__map_set(&map, ki_str_from(first), &one, &old), 0);
    assert_null(old);
    assert_int_equal(ki__map_set(&map, ki_str_from(second), &two, &old), 0); /* though full */
    assert_ptr_equal(old, &one);
    memset(first, 'x', 3); /* the bytes of the replaced key may go */
    assert_ptr_equal(ki__map_get(&map, ki_str_from("pod")), &two);
    assert_int_equal(map.count, 1);
    assert_ptr_equal(ki__map_remove(&map, ki_str_from("pod")), &two);
    ki__map_done(&map);
}

static void limit_is_exact_and_room_comes_back(void **state)
{
    (void)state;
    static struct entry entries[40];
    name_entries(entries, 40);
    ki__map map;
    ki__map_init(&map, NULL, hash_key, 37);
    for (size_t i = 0; i < 37; i++) {
        add_or_replace(&map, &entries[i]);
    }
    void *old = &map;
    assert_int_equal(ki__map_set(&map, key_of(&entries[37]), &entries[37], &old), KI_ERR_LIMIT);
    assert_ptr_equal(old, &map);
    add_or_replace(&map, &entries[5]);
    check(&map, entries, 40);
    remove_if_there(&map, &entries[5]);
    add_or_replace(&map, &entries[37]);
    check(&map, entries, 40);
    ki__map_done(&map);
}

static void random_operations_agree_with_the_model(void **state)
{
    (void)state;
    static struct entry entries[ENTRIES];
    name_entries(entries, ENTRIES);
    uint64_t random = 1;
    ki__map map;
    ki__map_init(&map, NULL, hash_key, ENTRIES);
    for (int i = 0; i < 200000; i++) {
        struct entry *e = &entries[test_random(&random) % ENTRIES];
        /* Phases that fill it and phases that empty it. */
        if (test_random(&random) % 4 < (i / 5000 % 2 == 0 ? 3 : 1)) {
            add_or_replace(&map, e);
        } else {
            remove_if_there(&map, e);
        }
        if (i % 512 == 0) {
            check(&map, entries, ENTRIES);
        }
    }
    check(&map, entries, ENTRIES);
    ki__map_done(&map);
}

/* Twelve entries are what 16 slots hold without growing. */
static void removal_from_a_run_around_the_end_hides_no_entry(void **state)
{
    (void)state;
    struct entry entries[12];
    name_entries_to_collide(entries, 12);
    ki__map map;
    ki__map_init(&map, NULL, hash_key, 12);
    uint64_t random = 2;
    for (int i = 0; i < 20000; i++) {
        struct entry *e = &entries[test_random(&random) % 12];
        if (test_random(&random) % 2 == 0) {
            add_or_replace(&map, e);
        } else {
            remove_if_there(&map, e);
        }
        assert_true(map.cap <= 16);
        check(&map, entries, 12);
    }
    ki__map_done(&map);
}

/* What an attacker who knew the key could reach: equal hashes, distinguished by the bytes. */
static void equal_hashes_are_distinguished_by_the_bytes(void **state)
{
    (void)state;
    ki__map map;
    ki__map_init(&map, NULL, hash_key, 12);
    int one, two;
    ki_str a = ki_str_from("a");
    assert_int_equal(ki__map_set(&map, a, &one, NULL), 0);
    for (size_t i = 0; i < map.cap; i++) {
        if (map.slots[i].value != NULL) {
            map.slots[i].key = ki_str_from("b"); /* "b" is now there with the hash of "a" */
        }
    }
    assert_null(ki__map_get(&map, a));
    assert_int_equal(ki__map_set(&map, a, &two, NULL), 0);
    assert_int_equal(map.count, 2);
    assert_ptr_equal(ki__map_get(&map, a), &two);
    assert_ptr_equal(ki__map_remove(&map, a), &two);
    assert_int_equal(map.count, 1);
    ki__map_done(&map);
}

/* Fills, empties and fills again; on failure the map must be what it was before the failing call.
 */
static int fill(const ki_alloc *alloc, void *user)
{
    struct entry *entries = user;
    name_entries(entries, ENTRIES);
    int r = 0;
    ki__map map;
    ki__map_init(&map, alloc, hash_key, ENTRIES);
    for (size_t i = 0; r == 0 && i < ENTRIES; i++) {
        void *old = &map;
        r = ki__map_set(&map, key_of(&entries[i]), &entries[i], &old);
        assert_ptr_equal(old, r == 0 ? NULL : &map);
        entries[i].present = r == 0;
    }
    check(&map, entries, ENTRIES);
    /* Short of memory or not, what is there can be replaced and removed. */
    for (size_t i = 0; i < ENTRIES; i += 3) {
        if (entries[i].present) {
            add_or_replace(&map, &entries[i]);
        }
        remove_if_there(&map, &entries[i]);
    }
    check(&map, entries, ENTRIES);
    ki__map_done(&map);
    return r;
}

static void failed_growth_leaves_the_map(void **state)
{
    (void)state;
    static struct entry entries[ENTRIES];
    test_alloc_sweep(fill, entries);
}

static void done_map_may_be_used_again(void **state)
{
    (void)state;
    struct entry entries[3];
    name_entries(entries, 3);
    ki__map map;
    ki__map_init(&map, NULL, hash_key, 3);
    add_or_replace(&map, &entries[0]);
    ki__map_done(&map);
    entries[0].present = false;
    check(&map, entries, 3);
    add_or_replace(&map, &entries[1]);
    check(&map, entries, 3);
    ki__map_done(&map);
    ki__map_done(&map);
}

static void hashed_calls_are_the_same_with_the_hash_given(void **state)
{
    (void)state;
    struct entry entries[ENTRIES];
    name_entries(entries, ENTRIES);
    ki__map map;
    ki__map_init(&map, NULL, hash_key, ENTRIES - 1);
    assert_null(ki__map_get_hashed(&map, 1, ki_str_from("none")));
    for (size_t i = 0; i < ENTRIES - 1; i++) {
        ki_str key = key_of(&entries[i]);
        assert_int_equal(ki__map_add_hashed(&map, ki__map_hash(&map, key), key, &entries[i]), 0);
        entries[i].present = true;
    }
    ki_str last = key_of(&entries[ENTRIES - 1]);
    assert_int_equal(ki__map_add_hashed(&map, ki__map_hash(&map, last), last, entries),
                     KI_ERR_LIMIT);
    check(&map, entries, ENTRIES);
    for (size_t i = 0; i < ENTRIES - 1; i += 2) {
        uint64_t hash = ki__map_hash(&map, key_of(&entries[i]));
        assert_ptr_equal(ki__map_get_hashed(&map, hash, key_of(&entries[i])), &entries[i]);
        ki__map_remove_hashed(&map, hash, &entries[i]);
        entries[i].present = false;
    }
    check(&map, entries, ENTRIES);
    ki__map_done(&map);
}

static void a_map_that_empties_gives_memory_back(void **state)
{
    (void)state;
    struct entry entries[ENTRIES];
    name_entries(entries, ENTRIES);
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki__map map;
    ki__map_init(&map, &alloc.table, hash_key, ENTRIES);
    for (size_t i = 0; i < ENTRIES; i++) {
        add_or_replace(&map, &entries[i]);
    }
    for (size_t i = 0; i < ENTRIES; i++) {
        alloc.fail_at = i < 100 ? 0 : i < 390 ? alloc.calls + 1 : 0; /* sometimes it cannot */
        assert_ptr_equal(ki__map_remove(&map, key_of(&entries[i])), &entries[i]);
        entries[i].present = false;
        check(&map, entries, ENTRIES);
    }
    assert_true(alloc.failures > 0);
    assert_int_equal(map.cap, 16);
    uint64_t calls = alloc.calls;
    for (size_t i = 0; i < 1000; i++) { /* up and down near one count does not move the table */
        add_or_replace(&map, &entries[0]);
        assert_ptr_equal(ki__map_remove(&map, key_of(&entries[0])), &entries[0]);
        entries[0].present = false;
    }
    assert_int_equal(alloc.calls, calls);
    ki__map_done(&map);
    test_alloc_done(&alloc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_map_is_empty_and_owns_nothing),
        cmocka_unit_test(keys_are_bytes_and_the_empty_one_is_a_key),
        cmocka_unit_test(replacing_gives_the_old_value_and_borrows_the_new_key),
        cmocka_unit_test(limit_is_exact_and_room_comes_back),
        cmocka_unit_test(random_operations_agree_with_the_model),
        cmocka_unit_test(removal_from_a_run_around_the_end_hides_no_entry),
        cmocka_unit_test(equal_hashes_are_distinguished_by_the_bytes),
        cmocka_unit_test(failed_growth_leaves_the_map),
        cmocka_unit_test(done_map_may_be_used_again),
        cmocka_unit_test(hashed_calls_are_the_same_with_the_hash_given),
        cmocka_unit_test(a_map_that_empties_gives_memory_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
