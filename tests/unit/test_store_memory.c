/* SPDX-License-Identifier: Apache-2.0 */
/* The counters of a store's memory equal what its allocator gave out: after any writes, with old
 * versions held, and after failures. threads: yes */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

#include <kinformer/memory.h>
#include <kinformer/parts/store_write.h>

#include "cache/store/version.h"
#include "object/object.h"
#include "support/by_value.h"
#include "support/objects.h"
#include "support/test.h"

enum { NAMES = 6000, HELD = 4 };

static const ki_index by_group = {.name = "group", .values = test_group_values};

static ki_store *new_store(const ki_alloc *alloc)
{
    const ki_index namespaces = test_index_by_namespace();
    const ki_index *indexes[] = {&by_group, &namespaces};
    const ki_store_options options = {
        .size = sizeof(options), .alloc = alloc, .indexes = indexes, .index_count = 2};
    ki_store *store = NULL;
    assert_int_equal(ki_store_new(&options, &store, NULL), 0);
    return store;
}

static ki_memory memory_of(ki_store *store)
{
    ki_memory memory = KI_OPTIONS_INIT(ki_memory);
    assert_int_equal(ki_store_get_memory(store, &memory), 0);
    assert_int_equal(memory.total, memory.objects + memory.indexes + memory.versions);
    return memory;
}

/* Buffers of the writer, which belong to no version. */
static size_t scratch(const ki_store *store)
{
    size_t bytes = 0;
    for (size_t i = 0; i < store->writer_count; i++) {
        const ki_index_values *all[] = {&store->writers[i].old_values,
                                        &store->writers[i].new_values};
        for (size_t n = 0; n < 2; n++) {
            bytes += all[n]->cap * sizeof(all[n]->values[0]) + all[n]->bytes.cap;
        }
    }
    return bytes;
}

/* Objects have another allocator. `empty` is the memory of the empty store. Old versions count
 * their objects as well. */
static void check(ki_store *store, const test_alloc *alloc, size_t empty, uint64_t held_objects)
{
    ki_memory memory = memory_of(store);
    assert_int_equal(memory.indexes + memory.versions - held_objects,
                     alloc->live_bytes - empty - scratch(store));
}

static void put(ki_store *store, uint64_t *random)
{
    char name[16];
    char group[16];
    (void)snprintf(name, sizeof(name), "p%u", (unsigned)(test_random(random) % NAMES));
    (void)snprintf(group, sizeof(group), "g%u", (unsigned)(test_random(random) % 3));
    const char *name_space = test_random(random) % 8 == 0 ? "few" : "many";
    ki_object *object = test_pod(NULL, name_space, name, 1, group);
    int r = ki_store_add(store, object, NULL);
    assert_true(r == 0 || r == -ENOMEM);
    ki_object_unref(object);
}

static void take(ki_store *store, uint64_t *random)
{
    char key[32];
    (void)snprintf(key, sizeof(key), "many/p%u", (unsigned)(test_random(random) % NAMES));
    int r = ki_store_delete(store, ki_str_from(key), NULL, NULL);
    assert_true(r >= 0 || r == -ENOMEM);
}

static void counters_equal_the_allocator(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    uint64_t random = 7;
    ki_store *store = new_store(&alloc.table);
    size_t empty = alloc.live_bytes - memory_of(store).indexes - memory_of(store).versions;
    for (int i = 0; i < 30000; i++) { /* enough for bitmaps in an index */
        alloc.fail_at = test_random(&random) % 4 == 0 ? alloc.calls + test_random(&random) % 24 : 0;
        if (test_random(&random) % 4 != 0) {
            put(store, &random);
        } else {
            take(store, &random);
        }
        if (i % 16 == 0) {
            check(store, &alloc, empty, 0);
        }
    }
    assert_true(memory_of(store).objects > 0);
    ki_store_unref(store);
    test_alloc_done(&alloc);
}

/* The objects that are only in older versions, counted by comparing all of them. */
static uint64_t only_in_old(ki_snapshot *held[HELD], ki_snapshot *current)
{
    uint64_t bytes = 0;
    for (int i = 0; i < HELD; i++) {
        ki_snapshot_iter iter = {0};
        const ki_object *object;
        if (held[i] != NULL) {
            iter = ki_snapshot_iter_begin(held[i]);
        }
        while (held[i] != NULL && ki_snapshot_iter_next(&iter, &object) > 0) {
            const char *key = ki_object_key(object);
            bool counted = ki_snapshot_get(current, key) == object;
            for (int n = 0; n < i && !counted; n++) {
                counted = held[n] != NULL && ki_snapshot_get(held[n], key) == object;
            }
            bytes += counted ? 0 : ki__object_footprint(object);
        }
    }
    return bytes;
}

static void old_versions_count_as_long_as_they_are_held(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    uint64_t random = 11;
    ki_snapshot *held[HELD] = {NULL};
    ki_store *store = new_store(&alloc.table);
    size_t empty = alloc.live_bytes - memory_of(store).indexes - memory_of(store).versions;
    for (int i = 0; i < 4000; i++) {
        if (test_random(&random) % 3 != 0) {
            put(store, &random);
        } else {
            take(store, &random);
        }
        if (i % 20 == 0) {
            int n = (int)(test_random(&random) % HELD);
            held[n] = held[n] != NULL ? ki_snapshot_unref(held[n]) : ki_store_snapshot(store);
        }
        if (i % 50 == 0) {
            ki_snapshot *current = ki_store_snapshot(store);
            check(store, &alloc, empty, only_in_old(held, current));
            ki_snapshot_unref(current);
        }
    }
    held[0] = ki_store_refresh(store, held[0]);
    put(store, &random);
    assert_true(memory_of(store).older_versions > 0);
    assert_true(memory_of(store).versions > 0);
    for (int i = 0; i < HELD; i++) {
        held[i] = ki_snapshot_unref(held[i]);
    }
    assert_int_equal(memory_of(store).versions, 0);
    assert_int_equal(memory_of(store).older_versions, 0);
    check(store, &alloc, empty, 0);
    ki_store_unref(store);
    test_alloc_done(&alloc);
}

static void removing_all_returns_to_zero(void **state)
{
    (void)state;
    ki_store *store = new_store(NULL);
    uint64_t random = 3;
    for (int i = 0; i < 3000; i++) {
        put(store, &random);
    }
    assert_true(memory_of(store).indexes > 3000);
    assert_int_equal(ki_store_replace(store, NULL, 0, "9", NULL), 0);
    assert_int_equal(memory_of(store).objects, 0);
    assert_int_equal(memory_of(store).versions, 0);
    /* Ids to reuse remain. */
    assert_true(memory_of(store).indexes <= 3 * 8192 * sizeof(uint32_t));
    ki_store_unref(store);
}

static void *read_for_a_while(void *user)
{
    ki_store *store = user;
    for (int i = 0; i < 3000; i++) {
        ki_snapshot *snapshot = ki_store_snapshot(store);
        (void)memory_of(store);
        ki_snapshot_unref(snapshot);
    }
    return NULL;
}

static void counters_are_exact_with_threads(void **state)
{
    (void)state;
    enum { READERS = 3 };
    ki_store *store = new_store(NULL);
    pthread_t readers[READERS];
    uint64_t random = 5;
    for (int i = 0; i < READERS; i++) {
        assert_int_equal(pthread_create(&readers[i], NULL, read_for_a_while, store), 0);
    }
    for (int i = 0; i < 3000; i++) {
        put(store, &random);
    }
    for (int i = 0; i < READERS; i++) {
        assert_int_equal(pthread_join(readers[i], NULL), 0);
    }
    assert_int_equal(memory_of(store).versions, 0);
    ki_store_unref(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_equal_the_allocator),
        cmocka_unit_test(old_versions_count_as_long_as_they_are_held),
        cmocka_unit_test(removing_all_returns_to_zero),
        cmocka_unit_test(counters_are_exact_with_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
