/* SPDX-License-Identifier: Apache-2.0 */
/* The store where it is easily wrong: limits that are only just kept, objects that vanish under a
 * call, and functions of the user that do what they should not. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kinformer/index.h>
#include <kinformer/store.h>

#include "base/hash.h"
#include "cache/store/version.h"
#include "support/by_value.h"
#include "support/objects.h"
#include "support/test.h"

static ki_object *pod(const char *name, unsigned version)
{
    return test_pod(NULL, "a", name, version, "g");
}

static ki_object *numbered(unsigned number, unsigned version)
{
    char name[16];
    (void)snprintf(name, sizeof(name), "n%u", number);
    return pod(name, version);
}

static ki_store *new_store(const ki_store_options *options)
{
    ki_store *store = NULL;
    assert_int_equal(ki_store_new(options, &store, NULL), 0);
    return store;
}

static size_t count(ki_store *store)
{
    ki_snapshot *snapshot = ki_store_snapshot(store);
    size_t found = ki_snapshot_count(snapshot);
    test_check_snapshot(snapshot, NULL);
    ki_snapshot_unref(snapshot);
    return found;
}

/* Limits */

static void a_full_store_can_be_replaced(void **state)
{
    (void)state;
    const ki_store_options options = {.size = sizeof(options), .max_objects = 3};
    ki_store *store = new_store(&options);
    ki_object *objects[12];
    for (unsigned i = 0; i < 12; i++) {
        objects[i] = numbered(i / 2, i + 1); /* two of each key */
    }
    const ki_object *const *list = (const ki_object *const *)objects;
    assert_int_equal(ki_store_replace(store, list, 6, "1", NULL), 0);
    assert_int_equal(ki_store_replace(store, list + 6, 6, "2", NULL), 0); /* all others */
    assert_int_equal(count(store), 3);
    assert_int_equal(ki_store_replace(store, list + 5, 6, "3", NULL), KI_ERR_LIMIT); /* four keys */
    assert_int_equal(count(store), 3);
    ki_object *there = ki_store_get(store, "a/n5");
    assert_ptr_equal(there, objects[11]);
    ki_object_unref(there);
    assert_int_equal(ki_store_add(store, objects[0], NULL),
                     KI_ERR_LIMIT); /* is full all the same */
    for (unsigned i = 0; i < 12; i++) {
        ki_object_unref(objects[i]);
    }
    ki_store_unref(store);
}

static void a_transaction_may_make_room_in_a_full_store(void **state)
{
    (void)state;
    const ki_store_options options = {.size = sizeof(options), .max_objects = 1};
    ki_store *store = new_store(&options);
    ki_object *one = pod("one", 1);
    ki_object *two = pod("two", 2);
    assert_int_equal(ki_store_add(store, one, NULL), 0);
    ki_txn *txn;
    assert_int_equal(ki_store_begin(store, &txn, NULL), 0);
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(ki_txn_add(txn, two, NULL), KI_ERR_LIMIT);
        assert_int_equal(ki_txn_delete(txn, ki_str_from("a/one"), NULL, NULL), 1);
        assert_int_equal(ki_txn_add(txn, two, NULL), 0);
        assert_int_equal(ki_txn_add(txn, one, NULL), KI_ERR_LIMIT);
        assert_int_equal(ki_txn_delete(txn, ki_str_from("a/two"), NULL, NULL), 1);
        assert_int_equal(ki_txn_add(txn, one, NULL), 0);
    }
    ki_txn_commit(txn);
    assert_int_equal(count(store), 1);
    ki_object_unref(one);
    ki_object_unref(two);
    ki_store_unref(store);
}

static void a_limit_of_objects_may_be_any_number(void **state)
{
    (void)state;
    static const size_t limits[] = {1, (size_t)1 << 30, UINT32_MAX, SIZE_MAX, SIZE_MAX / 2 + 1};
    ki_object *object = pod("one", 1);
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        const ki_store_options options = {.size = sizeof(options), .max_objects = limits[i]};
        ki_store *store = new_store(&options);
        assert_int_equal(ki_store_add(store, object, NULL), 0);
        ki_store_unref(store);
    }
    ki_object_unref(object);
}

static int countless_values(const ki_object *object, ki_index_values *values, void *user)
{
    (void)object;
    unsigned *given = user;
    for (*given = 0; *given < 3000000; ++*given) {
        int r = ki_index_values_add(values, ki_str_from(""));
        if (r < 0) {
            return r;
        }
    }
    return 0;
}

static void values_without_bytes_are_limited_too(void **state)
{
    (void)state;
    unsigned given;
    const ki_index index = {.name = "countless", .values = countless_values, .user = &given};
    const ki_store_options options = {
        .size = sizeof(options), .indexes = (const ki_index *[]){&index}, .index_count = 1};
    ki_store *store = new_store(&options);
    ki_object *object = pod("one", 1);
    assert_int_equal(ki_store_add(store, object, NULL), KI_ERR_LIMIT);
    assert_int_equal(given, 1024 * 1024);
    assert_int_equal(count(store), 0);
    ki_object_unref(object);
    ki_store_unref(store);
}

/* Hashes that collide */

static int fixed_bytes(void *bytes, size_t len, void *user)
{
    (void)user;
    memset(bytes, 7, len);
    return 0;
}

static const ki_random fixed_random = {0, fixed_bytes, NULL};

struct hashed {
    uint32_t hash;
    uint32_t number;
};

static int compare_hashes(const void *a, const void *b)
{
    const struct hashed *x = a;
    const struct hashed *y = b;
    return x->hash != y->hash ? (x->hash < y->hash ? -1 : 1) : 0;
}

static int name_of(char *text, size_t size, uint32_t number)
{
    return snprintf(text, size, "n%u", number);
}

/* Two numbers whose names have the same hash in a store with that random source. Of 200,000 names
 * about four pairs do. */
static void find_pair(uint32_t *ret_first, uint32_t *ret_second)
{
    enum { COUNT = 200000 };
    ki__hash_key key = ki__hash_key_make(&fixed_random, NULL);
    struct hashed *all = test_calloc(COUNT, sizeof(*all));
    for (uint32_t i = 0; i < COUNT; i++) {
        char name[16];
        int len = name_of(name, sizeof(name), i);
        all[i] = (struct hashed){(uint32_t)ki__hash(key, name, (size_t)len), i};
    }
    qsort(all, COUNT, sizeof(*all), compare_hashes);
    size_t i = 1;
    while (i < COUNT && all[i].hash != all[i - 1].hash) {
        i++;
    }
    assert_true(i < COUNT);
    *ret_first = all[i - 1].number;
    *ret_second = all[i].number;
    test_free(all);
}

/* Under its label and under its name, which the test makes differ or not. */
static int both_values(const ki_object *object, ki_index_values *values, void *user)
{
    (void)user;
    int r = ki_index_values_add(values, ki_str_from(ki_object_name(object)));
    if (r >= 0 && !ki_object_has_label(object, "group")) {
        r = KI_ERR_NOT_FOUND;
    }
    return r < 0 ? r : ki_index_values_add(values, ki_object_label(object, "group"));
}

static void check_both(ki_store *store, const char *value, size_t expected)
{
    ki_snapshot *snapshot = ki_store_snapshot(store);
    size_t found = 0;
    assert_int_equal(ki_snapshot_count_by_index(snapshot, "both", ki_str_from(value), &found), 0);
    assert_int_equal(found, expected);
    ki_snapshot_unref(snapshot);
}

static void keys_and_values_of_one_hash_are_distinguished(void **state)
{
    (void)state;
    char names[2][16];
    uint32_t numbers[2];
    find_pair(&numbers[0], &numbers[1]);
    (void)name_of(names[0], sizeof(names[0]), numbers[0]);
    (void)name_of(names[1], sizeof(names[1]), numbers[1]);
    const ki_index index = {.name = "both", .values = both_values};
    const ki_store_options options = {.size = sizeof(options),
                                      .random = &fixed_random,
                                      .indexes = (const ki_index *[]){&index},
                                      .index_count = 1};
    ki_store *store = new_store(&options);
    for (unsigned round = 0; round < 2; round++) { /* without a namespace the name is the key */
        ki_object *first = test_pod(NULL, "", names[0], 1, names[1]);
        assert_int_equal(ki_store_add(store, first, NULL), 0);
        check_both(store, names[0], 1);
        check_both(store, names[1], 1);
        assert_null(ki_store_get(store, names[1]));
        assert_int_equal(ki_store_delete(store, ki_str_from(names[1]), NULL, NULL), 0);
        ki_object *second = test_pod(NULL, "", names[1], 2, names[1]);
        assert_int_equal(ki_store_add(store, second, NULL), 0);
        assert_int_equal(count(store), 2);
        check_both(store, names[1], 2);
        ki_object *changed = test_pod(NULL, "", names[0], 3, names[0]);
        assert_int_equal(ki_store_add(store, changed, NULL), 0);
        check_both(store, names[0], 1);
        check_both(store, names[1], 1);
        assert_int_equal(ki_store_delete(store, ki_str_from(names[round]), NULL, NULL), 1);
        ki_object *there = ki_store_get(store, names[1 - round]);
        assert_ptr_equal(there, round == 0 ? second : changed);
        ki_object_unref(there);
        assert_null(ki_store_get(store, names[round]));
        check_both(store, names[round], 0);
        check_both(store, names[1 - round], 1);
        assert_int_equal(ki_store_replace(store, NULL, 0, "9", NULL), 0);
        check_both(store, names[0], 0);
        check_both(store, names[1], 0);
        ki_object_unref(first);
        ki_object_unref(second);
        ki_object_unref(changed);
    }
    ki_store_unref(store);
}

/* Objects that vanish under a call */

static void an_object_may_name_the_version_of_its_own_end(void **state)
{
    (void)state;
    ki_store *store = new_store(NULL);
    ki_txn *txn;
    assert_int_equal(ki_store_begin(store, &txn, NULL), 0);
    ki_object *object = pod("one", 77);
    assert_int_equal(ki_txn_add(txn, object, NULL), 0);
    ki_object_unref(object);
    /* Key and version lie in the object, which only the transaction still holds. */
    const ki_object *there = ki_txn_get(txn, ki_str_from("a/one"));
    assert_int_equal(ki_txn_set_resource_version(txn, "1", NULL), 0);
    assert_int_equal(ki_txn_delete(txn, ki_str_from(ki_object_key(there)),
                                   ki_object_resource_version(there), NULL),
                     1);
    ki_txn_commit(txn);
    ki_snapshot *snapshot = ki_store_snapshot(store);
    assert_string_equal(ki_snapshot_resource_version(snapshot), "77");
    ki_snapshot_unref(snapshot);
    ki_store_unref(store);
}

static int always_new(const ki_object *object, ki_object **ret_object, void *user)
{
    (void)object;
    (void)user;
    *ret_object = pod("one", 77);
    return 0;
}

static void an_object_may_be_added_over_itself(void **state)
{
    (void)state;
    const ki_store_options options = {.size = sizeof(options), .transform = always_new};
    ki_store *store = new_store(&options);
    ki_txn *txn;
    assert_int_equal(ki_store_begin(store, &txn, NULL), 0);
    ki_object *object = pod("one", 5);
    assert_int_equal(ki_txn_add(txn, object, NULL), 0);
    ki_object_unref(object);
    assert_int_equal(ki_txn_add(txn, ki_txn_get(txn, ki_str_from("a/one")), NULL), 0);
    ki_txn_commit(txn);
    ki_snapshot *snapshot = ki_store_snapshot(store);
    assert_string_equal(ki_snapshot_resource_version(snapshot), "77");
    ki_snapshot_unref(snapshot);
    ki_store_unref(store);
}

/* An allocator that gives a snapshot back, or writes to a store, from inside the next free: as
 * another thread would while this one is collecting. */
struct intruder {
    ki_alloc table;
    test_alloc *inner;
    ki_snapshot *snapshot;
    ki_store *store;
};

static void *intruder_alloc(size_t size, void *user)
{
    const struct intruder *i = user;
    return i->inner->table.alloc(size, i->inner->table.user);
}

static void *intruder_realloc(void *data, size_t size, void *user)
{
    const struct intruder *i = user;
    return i->inner->table.realloc(data, size, i->inner->table.user);
}

static void intruder_free(void *data, void *user)
{
    struct intruder *i = user;
    ki_snapshot *snapshot = i->snapshot;
    ki_store *store = i->store;
    i->snapshot = NULL;
    i->store = NULL;
    ki_snapshot_unref(snapshot);
    if (store != NULL) {
        assert_int_equal(ki_store_bookmark(store, "9", NULL), 0);
        assert_non_null(atomic_load(&store->dead)); /* left to the one that is at it */
    }
    i->inner->table.free(data, i->inner->table.user);
}

static void what_dies_during_a_collection_is_collected_too(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    struct intruder intruder = {.inner = &alloc};
    intruder.table =
        (ki_alloc){0, intruder_alloc, intruder_realloc, intruder_free, &intruder, NULL};
    const ki_store_options options = {.size = sizeof(options), .alloc = &intruder.table};
    ki_store *store = new_store(&options);
    ki_snapshot *held[3];
    size_t blocks = 0;
    for (unsigned i = 0; i < 3; i++) {
        blocks = alloc.live_blocks;
        ki_object *object = pod("one", i + 1);
        assert_int_equal(ki_store_add(store, object, NULL), 0);
        ki_object_unref(object);
        held[i] = ki_store_snapshot(store);
    }
    blocks = alloc.live_blocks - blocks; /* what an old version costs that is held */
    size_t all = alloc.live_blocks;
    intruder.snapshot = held[0];
    ki_snapshot_unref(held[1]);
    assert_null(intruder.snapshot);
    assert_int_equal(alloc.live_blocks, all - 2 * blocks);
    ki_snapshot_unref(held[2]);
    ki_store_unref(store);
    test_alloc_done(&alloc);
}

static void a_transaction_keeps_the_store(void **state)
{
    (void)state;
    for (int commit = 0; commit <= 1; commit++) {
        test_alloc alloc;
        test_alloc_init(&alloc);
        const ki_store_options options = {.size = sizeof(options), .alloc = &alloc.table};
        ki_store *store = new_store(&options);
        ki_object *object = pod("one", 1);
        ki_txn *txn;
        assert_int_equal(ki_store_begin(store, &txn, NULL), 0);
        ki_store_unref(store);
        assert_int_equal(ki_txn_add(txn, object, NULL), 0);
        if (commit != 0) {
            ki_txn_commit(txn);
        } else {
            ki_txn_abort(txn);
        }
        ki_object_unref(object);
        test_alloc_done(&alloc);
    }
}

static void a_list_of_nothing_takes_next_to_nothing(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    const ki_index index = test_index_by_namespace();
    const ki_store_options options = {.size = sizeof(options),
                                      .alloc = &alloc.table,
                                      .indexes = (const ki_index *[]){&index},
                                      .index_count = 1};
    ki_store *store = new_store(&options);
    for (unsigned i = 0; i < 200; i++) {
        ki_object *object = numbered(i, i + 1);
        assert_int_equal(ki_store_add(store, object, NULL), 0);
        ki_object_unref(object);
    }
    size_t bytes = alloc.live_bytes;
    ki_list *list;
    assert_int_equal(ki_store_by_index(store, KI_INDEX_NAMESPACE, "none", &list), 0);
    assert_int_equal(ki_list_count(list), 0);
    assert_true(alloc.live_bytes < bytes + 100);
    ki_list_unref(list);
    ki_store_unref(store);
    test_alloc_done(&alloc);
}

static void a_write_during_a_collection_leaves_its_old_version_to_it(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    struct intruder intruder = {.inner = &alloc};
    intruder.table =
        (ki_alloc){0, intruder_alloc, intruder_realloc, intruder_free, &intruder, NULL};
    const ki_store_options options = {.size = sizeof(options), .alloc = &intruder.table};
    ki_store *store = new_store(&options);
    ki_snapshot *old = ki_store_snapshot(store);
    size_t blocks = alloc.live_blocks;
    assert_int_equal(ki_store_bookmark(store, "8", NULL), 0);
    intruder.store = store;
    ki_snapshot_unref(old);
    assert_null(intruder.store);
    assert_int_equal(alloc.live_blocks, blocks);
    ki_store_unref(store);
    test_alloc_done(&alloc);
}

/* Functions of the user */

static int name_values(const ki_object *object, ki_index_values *values, void *user)
{
    const char *refused = user;
    if (refused != NULL && strcmp(ki_object_name(object), refused) == 0) {
        return -EPERM;
    }
    return ki_index_values_add(values, ki_str_from(ki_object_name(object)));
}

static void several_indexes_are_added_together_or_not_at_all(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    const ki_store_options options = {.size = sizeof(options), .alloc = &alloc.table};
    ki_store *store = new_store(&options);
    for (unsigned i = 0; i < 100; i++) {
        ki_object *object = numbered(i, i + 1);
        assert_int_equal(ki_store_add(store, object, NULL), 0);
        ki_object_unref(object);
    }
    char refused[] = "n70";
    ki_index indexes[] = {{.name = "one", .values = name_values},
                          {.name = "two", .values = name_values, .user = refused}};
    const ki_index *const list[] = {&indexes[0], &indexes[1]};
    size_t bytes = 0;
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(ki_store_add_indexes(store, list, 2, NULL), KI_ERR_INDEX_FUNCTION);
        bytes = i == 0 ? alloc.live_bytes : bytes;
        assert_int_equal(alloc.live_bytes, bytes); /* trying again costs nothing */
    }
    indexes[1].user = NULL;
    assert_int_equal(ki_store_add_indexes(store, list, 2, NULL), 0);
    ki_snapshot *snapshot = ki_store_snapshot(store);
    for (unsigned i = 0; i < 100; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "n%u", i);
        for (unsigned n = 0; n < 2; n++) {
            size_t found = 0;
            assert_int_equal(
                ki_snapshot_count_by_index(snapshot, indexes[n].name, ki_str_from(name), &found),
                0);
            assert_int_equal(found, 1);
        }
    }
    ki_snapshot_unref(snapshot);
    ki_store_unref(store);
    test_alloc_done(&alloc);
}

struct meddler {
    ki_txn *txn;
    ki_object *other;
    unsigned calls;
};

static int meddling_values(const ki_object *object, ki_index_values *values, void *user)
{
    struct meddler *m = user;
    if (m->txn != NULL) {
        m->calls++;
        ki_str key = ki_str_from(ki_object_key(object));
        (void)ki_txn_get(m->txn, key);
        assert_int_equal(ki_txn_add(m->txn, m->other, NULL), KI_ERR_BUSY);
        assert_int_equal(ki_txn_delete(m->txn, key, "9", NULL), KI_ERR_BUSY);
    }
    return ki_index_values_add(values, ki_str_from(ki_object_name(object)));
}

static void an_index_function_cannot_change_its_transaction(void **state)
{
    (void)state;
    struct meddler m = {.other = pod("other", 4)};
    const ki_index index = {.name = "meddler", .values = meddling_values, .user = &m};
    const ki_store_options options = {
        .size = sizeof(options), .indexes = (const ki_index *[]){&index}, .index_count = 1};
    ki_store *store = new_store(&options);
    ki_object *one = pod("one", 1);
    ki_object *two = pod("one", 2);
    assert_int_equal(ki_store_begin(store, &m.txn, NULL), 0);
    assert_int_equal(ki_txn_add(m.txn, one, NULL), 0);
    assert_int_equal(ki_txn_add(m.txn, two, NULL), 0);
    assert_int_equal(ki_txn_delete(m.txn, ki_str_from("a/one"), NULL, NULL), 1);
    assert_int_equal(ki_txn_add(m.txn, one, NULL), 0);
    assert_int_equal(m.calls, 5);
    ki_txn *txn = m.txn;
    m.txn = NULL;
    ki_txn_commit(txn);
    assert_int_equal(count(store), 1);
    ki_object_unref(one);
    ki_object_unref(two);
    ki_object_unref(m.other);
    ki_store_unref(store);
}

/* Releases a snapshot and fails, if there is one to release. */
static int releasing_values(const ki_object *object, ki_index_values *values, void *user)
{
    (void)object;
    (void)values;
    ki_snapshot **held = user;
    bool fail = *held != NULL;
    *held = ki_snapshot_unref(*held);
    return fail ? -EPERM : 0;
}

static void what_dies_during_a_write_is_collected_after_it(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki_snapshot *held = NULL;
    const ki_index index = {.name = "releasing", .values = releasing_values, .user = &held};
    const ki_store_options options = {.size = sizeof(options),
                                      .alloc = &alloc.table,
                                      .indexes = (const ki_index *[]){&index},
                                      .index_count = 1};
    ki_store *store = new_store(&options);
    ki_object *one = pod("one", 1);
    ki_object *two = pod("two", 2);
    assert_int_equal(ki_store_add(store, one, NULL), 0);
    ki_snapshot *old = ki_store_snapshot(store);
    assert_int_equal(ki_store_delete(store, ki_str_from("a/one"), NULL, NULL), 1);
    ki_snapshot *current = ki_store_snapshot(store); /* so that the write itself retires none */
    size_t blocks = alloc.live_blocks;
    held = old;
    assert_int_equal(ki_store_add(store, two, NULL), KI_ERR_INDEX_FUNCTION);
    assert_null(held);
    assert_true(alloc.live_blocks < blocks);
    ki_snapshot_unref(current);
    ki_object_unref(one);
    ki_object_unref(two);
    ki_store_unref(store);
    test_alloc_done(&alloc);
}

static int moody_values(const ki_object *object, ki_index_values *values, void *user)
{
    (void)object;
    const char *const *value = user;
    return ki_index_values_add(values, ki_str_from(*value));
}

static void what_a_fickle_index_function_left_behind_does_no_harm(void **state)
{
    (void)state;
    const char *value = "old";
    const ki_index index = {.name = "moody", .values = moody_values, .user = &value};
    const ki_store_options options = {
        .size = sizeof(options), .indexes = (const ki_index *[]){&index}, .index_count = 1};
    ki_store *store = new_store(&options);
    ki_object *objects[5000];
    for (unsigned i = 0; i < 5000; i++) {
        objects[i] = numbered(i, i + 1);
    }
    assert_int_equal(ki_store_replace(store, (const ki_object *const *)objects, 5000, "1", NULL),
                     0);
    const ki_object *kept[70]; /* from both ends: whole blocks between them are empty */
    for (unsigned i = 0; i < 70; i++) {
        kept[i] = objects[i < 35 ? i : 5000 - 70 + i];
    }
    value = "new"; /* so that the objects which go now stay under "old" */
    assert_int_equal(ki_store_replace(store, kept, 70, "2", NULL), 0);
    value = "old";
    ki_snapshot *snapshot = ki_store_snapshot(store);
    ki_list *list;
    assert_int_equal(ki_snapshot_list_like(snapshot, "moody", objects[0], &list, NULL), 0);
    assert_int_equal(ki_list_count(list), 70);
    for (size_t i = 0; i < ki_list_count(list); i++) {
        assert_non_null(ki_list_at(list, i));
    }
    ki_list_unref(list);
    assert_int_equal(ki_store_by_index(store, "moody", "old", &list), 0);
    assert_int_equal(ki_list_count(list), 70);
    ki_list_unref(list);
    ki_snapshot_unref(snapshot);
    for (unsigned i = 0; i < 5000; i++) {
        ki_object_unref(objects[i]);
    }
    ki_store_unref(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_store_can_be_replaced),
        cmocka_unit_test(a_transaction_may_make_room_in_a_full_store),
        cmocka_unit_test(a_limit_of_objects_may_be_any_number),
        cmocka_unit_test(values_without_bytes_are_limited_too),
        cmocka_unit_test(keys_and_values_of_one_hash_are_distinguished),
        cmocka_unit_test(an_object_may_name_the_version_of_its_own_end),
        cmocka_unit_test(an_object_may_be_added_over_itself),
        cmocka_unit_test(what_dies_during_a_collection_is_collected_too),
        cmocka_unit_test(a_write_during_a_collection_leaves_its_old_version_to_it),
        cmocka_unit_test(a_transaction_keeps_the_store),
        cmocka_unit_test(a_list_of_nothing_takes_next_to_nothing),
        cmocka_unit_test(several_indexes_are_added_together_or_not_at_all),
        cmocka_unit_test(an_index_function_cannot_change_its_transaction),
        cmocka_unit_test(what_dies_during_a_write_is_collected_after_it),
        cmocka_unit_test(what_a_fickle_index_function_left_behind_does_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
