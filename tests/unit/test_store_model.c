/* SPDX-License-Identifier: Apache-2.0 */
/* The store against a simple model, an array of what each key should hold, under random operations
 * with snapshots held across them. Each snapshot keeps the model as it was when it was taken, and
 * is compared with that when it is released. More than a million operations in all. */
#include <stdio.h>
#include <string.h>

#include <kinformer/parts/store_write.h>
#include <kinformer/store.h>

#include "support/by_value.h"
#include "support/objects.h"
#include "support/test.h"

enum { VARIANTS = 8, SLOTS = 8, GONE = -1 };

struct held {
    ki_snapshot *snapshot;
    signed char *model;
    unsigned version;
};

struct model {
    uint64_t random;
    unsigned keys;
    unsigned groups; /* of the labels; the last one means no label */
    ki_store *store;
    ki_object **objects; /* of each key its variants */
    signed char *model;  /* of each key the variant that is stored, or GONE */
    unsigned version;    /* counts the resource versions */
    struct held held[SLOTS];
    uint64_t operations;
    test_alloc alloc;
};

static unsigned pick(struct model *m, unsigned below)
{
    return (unsigned)(test_random(&m->random) % below);
}

static ki_object *object_of(const struct model *m, unsigned key, int variant)
{
    return m->objects[key * VARIANTS + (unsigned)variant];
}

static ki_object *make_object(struct model *m, unsigned key)
{
    char json[256];
    unsigned group = pick(m, m->groups + 1);
    char labels[32] = "";
    if (group != m->groups) {
        (void)snprintf(labels, sizeof(labels), "'group':'g%u'", group);
    }
    (void)snprintf(json, sizeof(json),
                   "{'metadata':{'name':'name-%u','namespace':'ns%u','labels':{%s}}}", key, key % 3,
                   labels);
    ki_object *object = test_object(&m->alloc.table, json);
    assert_non_null(object);
    return object;
}

static void start(struct model *m, uint64_t seed, unsigned keys, unsigned groups)
{
    *m = (struct model){.random = seed, .keys = keys, .groups = groups};
    test_alloc_init(&m->alloc);
    m->objects = test_calloc(keys * VARIANTS, sizeof(*m->objects));
    m->model = test_malloc(keys);
    memset(m->model, GONE, keys);
    for (unsigned i = 0; i < keys * VARIANTS; i++) {
        m->objects[i] = make_object(m, i / VARIANTS);
    }
    const ki_index indexes[] = {{.name = "group", .values = test_group_values},
                                test_index_by_namespace()};
    const ki_store_options options = {.size = sizeof(options),
                                      .alloc = &m->alloc.table,
                                      .indexes = (const ki_index *[]){&indexes[0], &indexes[1]},
                                      .index_count = 2};
    assert_int_equal(ki_store_new(&options, &m->store, NULL), 0);
}

/* Compares a snapshot with the model. */
static void check(const struct model *m, const ki_snapshot *snapshot, const signed char *model,
                  unsigned version)
{
    size_t count = 0;
    size_t in_namespace = 0;
    for (unsigned key = 0; key < m->keys; key++) {
        const char *name = ki_object_key(object_of(m, key, 0));
        const ki_object *expected = model[key] != GONE ? object_of(m, key, model[key]) : NULL;
        assert_ptr_equal(ki_snapshot_get(snapshot, name), expected);
        count += expected != NULL;
        in_namespace += expected != NULL && key % 3 == 1;
    }
    assert_int_equal(ki_snapshot_count(snapshot), count);
    size_t found;
    assert_int_equal(
        ki_snapshot_count_by_index(snapshot, KI_INDEX_NAMESPACE, ki_str_from("ns1"), &found), 0);
    assert_int_equal(found, in_namespace);
    char text[16];
    (void)snprintf(text, sizeof(text), "%u", version);
    assert_string_equal(ki_snapshot_resource_version(snapshot), version != 0 ? text : "");
    test_check_snapshot(snapshot, "group");
}

static void release_held(struct model *m, struct held *held)
{
    if (held->snapshot != NULL) {
        check(m, held->snapshot, held->model, held->version);
        ki_snapshot_unref(held->snapshot);
        test_free(held->model);
        held->snapshot = NULL;
    }
}

static void hold(struct model *m)
{
    struct held *held = &m->held[pick(m, SLOTS)];
    release_held(m, held);
    held->snapshot = ki_store_snapshot(m->store);
    held->model = test_malloc(m->keys);
    memcpy(held->model, m->model, m->keys);
    held->version = m->version;
}

/* One change inside a transaction, to the store and to `model`. */
static void change(struct model *m, ki_txn *txn, signed char *model)
{
    unsigned key = pick(m, m->keys);
    ki_str name = ki_str_from(ki_object_key(object_of(m, key, 0)));
    m->operations++;
    if (pick(m, 3) != 0) {
        int variant = (int)pick(m, VARIANTS);
        assert_int_equal(ki_txn_add(txn, object_of(m, key, variant), NULL), 0);
        model[key] = (signed char)variant;
    } else {
        assert_int_equal(ki_txn_delete(txn, name, NULL, NULL), model[key] != GONE);
        model[key] = GONE;
    }
    assert_ptr_equal(ki_txn_get(txn, name),
                     model[key] != GONE ? object_of(m, key, model[key]) : NULL);
}

static void transaction(struct model *m)
{
    signed char *changed = test_malloc(m->keys);
    memcpy(changed, m->model, m->keys);
    ki_txn *txn;
    assert_int_equal(ki_store_begin(m->store, &txn, NULL), 0);
    for (unsigned i = pick(m, 60); i > 0; i--) {
        change(m, txn, changed);
    }
    if (pick(m, 3) == 0) {
        ki_txn_abort(txn);
    } else {
        ki_txn_commit(txn);
        memcpy(m->model, changed, m->keys);
    }
    test_free(changed);
}

static void replace(struct model *m)
{
    const ki_object **list = test_calloc(m->keys, sizeof(*list));
    unsigned share = pick(m, 5); /* from none to all */
    size_t count = 0;
    for (unsigned key = 0; key < m->keys; key++) {
        m->model[key] = GONE;
        if (pick(m, 4) < share) {
            m->model[key] = (signed char)pick(m, VARIANTS);
            list[count++] = object_of(m, key, m->model[key]);
        }
    }
    char text[16];
    (void)snprintf(text, sizeof(text), "%u", ++m->version);
    assert_int_equal(ki_store_replace(m->store, list, count, text, NULL), 0);
    m->operations += count;
    test_free((void *)list);
}

static void single(struct model *m)
{
    unsigned key = pick(m, m->keys);
    m->operations++;
    if (pick(m, 5) < 3) {
        int variant = (int)pick(m, VARIANTS);
        assert_int_equal(ki_store_add(m->store, object_of(m, key, variant), NULL), 0);
        m->model[key] = (signed char)variant;
        return;
    }
    char text[16];
    (void)snprintf(text, sizeof(text), "%u", ++m->version);
    ki_str name = ki_str_from(ki_object_key(object_of(m, key, 0)));
    assert_int_equal(ki_store_delete(m->store, name, text, NULL), m->model[key] != GONE);
    m->model[key] = GONE;
}

static void step(struct model *m, unsigned rare)
{
    unsigned what = pick(m, 1000);
    if (what < 40) {
        transaction(m);
    } else if (what < 50) {
        char text[16];
        (void)snprintf(text, sizeof(text), "%u", ++m->version);
        assert_int_equal(ki_store_bookmark(m->store, text, NULL), 0);
    } else if (pick(m, rare) == 0) {
        if (pick(m, 4) == 0) {
            replace(m);
        } else {
            hold(m);
        }
    } else {
        single(m);
    }
}

static void run(uint64_t seed, unsigned keys, unsigned groups, uint64_t operations, unsigned rare)
{
    struct model m;
    start(&m, seed, keys, groups);
    while (m.operations < operations) {
        step(&m, rare);
    }
    for (unsigned i = 0; i < SLOTS; i += 2) {
        release_held(&m, &m.held[i]);
    }
    ki_store_unref(m.store); /* the rest outlives it */
    for (unsigned i = 1; i < SLOTS; i += 2) {
        release_held(&m, &m.held[i]);
    }
    for (unsigned i = 0; i < keys * VARIANTS; i++) {
        ki_object_unref(m.objects[i]);
    }
    test_free(m.objects);
    test_free(m.model);
    test_alloc_done(&m.alloc);
}

static void a_handful_of_keys(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        run(seed, 1 + (unsigned)seed % 9, 2, 1000, 5);
    }
}

static void some_hundred_keys(void **state)
{
    (void)state;
    run(7, 500, 10, 700000, 300);
}

static void sets_that_become_bitmaps(void **state)
{
    (void)state;
    run(11, 15000, 1, 300000, 20000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_handful_of_keys),
        cmocka_unit_test(some_hundred_keys),
        cmocka_unit_test(sets_that_become_bitmaps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
