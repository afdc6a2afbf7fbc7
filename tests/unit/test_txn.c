/* SPDX-License-Identifier: Apache-2.0 */
/* Transactions large enough that their garbage, their numbers and their tables grow on the way, and
 * what each change leaves behind when it fails in the middle. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <kinformer/store.h>

#include "cache/version.h"
#include "support/objects.h"
#include "support/test.h"

enum { OBJECTS = 300 };

static int group_values(const ki_object *object, ki_index_values *values, void *user)
{
    (void)user;
    ki_value value;
    ki_str text;
    int r = ki_object_label(object, ki_str_from("group"), &value);
    if (r >= 0) {
        r = ki_value_string(&value, &text);
    }
    return r < 0 ? r : ki_index_values_add(values, text);
}

/* Variant `variant` of object number `number`; each variant has a group of its own. */
static ki_object *make(unsigned number, unsigned variant)
{
    char name[16];
    char group[24];
    (void)snprintf(name, sizeof(name), "n%u", number);
    (void)snprintf(group, sizeof(group), "g%u-%u", number / 3, variant);
    return test_pod(NULL, "a", name, number + 1, group);
}

struct objects {
    ki_object *variants[2][OBJECTS];
};

static struct objects *make_objects(void)
{
    struct objects *objects = test_calloc(1, sizeof(*objects));
    for (unsigned i = 0; i < OBJECTS; i++) {
        objects->variants[0][i] = make(i, 0);
        objects->variants[1][i] = make(i, 1);
    }
    return objects;
}

static void free_objects(struct objects *objects)
{
    for (unsigned i = 0; i < OBJECTS; i++) {
        ki_object_unref(objects->variants[0][i]);
        ki_object_unref(objects->variants[1][i]);
    }
    test_free(objects);
}

static int new_store(const ki_alloc *alloc, ki_store **ret_store)
{
    const ki_index index = {.name = "group", .values = group_values};
    const ki_store_options options = {
        .size = sizeof(options), .alloc = alloc, .indexes = &index, .index_count = 1};
    return ki_store_new(&options, ret_store, NULL);
}

static int fill(ki_store *store, const struct objects *objects, size_t count)
{
    return ki_store_replace(store, (const ki_object *const *)objects->variants[0], count, "1",
                            NULL);
}

static ki_str key_of(const struct objects *objects, unsigned number)
{
    return ki_str_from(ki_object_key(objects->variants[0][number]));
}

/* Compares the store with `model`: the object at each place, or NULL; and its numbers: each is that
 * of an object or a value, or waits to be used again. */
static void check(ki_store *store, const struct objects *objects, ki_object *const *model)
{
    size_t count = 0;
    ki_snapshot *snapshot = ki_store_snapshot(store);
    for (unsigned i = 0; i < OBJECTS; i++) {
        assert_ptr_equal(ki_snapshot_get(snapshot, key_of(objects, i)), model[i]);
        count += model[i] != NULL;
    }
    assert_int_equal(ki_snapshot_count(snapshot), count);
    test_check_snapshot(snapshot, "group");
    assert_int_equal(store->ids.next - store->ids.free_count, count);
    const ki__ids *ids = &store->writers[0].ids;
    assert_int_equal(ids->next - ids->free_count, snapshot->indexes[0].state.values.count);
    ki_snapshot_unref(snapshot);
}

/* Changes `count` objects in one transaction, going on after failures, and commits. */
static int change(ki_store *store, const struct objects *objects, ki_object **model, unsigned count,
                  bool removing)
{
    ki_txn *txn;
    int r = ki_store_begin(store, &txn, NULL);
    if (r < 0) {
        return r;
    }
    int first_error = 0;
    for (unsigned i = 0; i < count; i++) {
        r = removing ? ki_txn_delete(txn, key_of(objects, i), NULL, NULL)
                     : ki_txn_add(txn, objects->variants[1][i], NULL);
        if (r >= 0) {
            model[i] = removing ? NULL : objects->variants[1][i];
        }
        assert_ptr_equal(ki_txn_get(txn, key_of(objects, i)), model[i]);
        first_error = first_error < 0 ? first_error : r < 0 ? r : 0;
    }
    ki_txn_commit(txn);
    return first_error;
}

struct plan {
    const struct objects *objects;
    unsigned stored; /* before the transaction */
    unsigned changed;
    bool removing;
};

static int plan_scenario(const ki_alloc *alloc, void *user)
{
    const struct plan *plan = user;
    ki_store *store = NULL;
    ki_object *model[OBJECTS] = {0};
    int r = new_store(alloc, &store);
    if (r < 0) {
        return r;
    }
    r = fill(store, plan->objects, plan->stored);
    if (r >= 0) {
        memcpy(model, plan->objects->variants[0], plan->stored * sizeof(model[0]));
        ki_snapshot *before = ki_store_snapshot(store);
        r = change(store, plan->objects, model, plan->changed, plan->removing);
        check(store, plan->objects, model);
        assert_int_equal(ki_snapshot_count(before), plan->stored);
        test_check_snapshot(before, "group");
        ki_snapshot_unref(before);
    }
    ki_store_unref(store);
    return r;
}

static void changes_that_fail_leave_nothing_behind(void **state)
{
    (void)state;
    struct objects *objects = make_objects();
    struct plan plans[] = {
        {objects, 20, 20, false}, /* updates */
        {objects, 20, 20, true},  /* deletes */
        {objects, 5, 40, false},  /* mostly additions */
        {objects, 0, 20, false},
    };
    for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
        test_alloc_sweep(plan_scenario, &plans[i]);
    }
    free_objects(objects);
}

static void a_transaction_of_any_size_is_exact(void **state)
{
    (void)state;
    struct objects *objects = make_objects();
    for (unsigned stored = 100; stored <= OBJECTS; stored += 25) {
        for (unsigned changed = 1; changed <= OBJECTS; changed += changed / 8 + 1) {
            for (int removing = 0; removing <= 1; removing++) {
                struct plan plan = {objects, stored, changed, removing != 0};
                assert_int_equal(plan_scenario(ki_alloc_default(), &plan), 0);
            }
        }
    }
    free_objects(objects);
}

static void an_emptied_store_takes_no_more_than_before(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    struct objects *objects = make_objects();
    ki_store *store = NULL;
    assert_int_equal(new_store(&alloc.table, &store), 0);
    size_t blocks = alloc.live_blocks;
    for (unsigned round = 0; round < 3; round++) {
        assert_int_equal(fill(store, objects, OBJECTS), 0);
        for (unsigned i = 0; round != 1 && i < OBJECTS; i++) {
            unsigned number = round == 0 ? i : OBJECTS - 1 - i;
            assert_int_equal(ki_store_delete(store, key_of(objects, number), NULL, NULL), 1);
        }
        assert_int_equal(fill(store, objects, 0), 0);
        /* The numbers of the objects and of the values, and the buffers for two objects' values. */
        assert_in_range(alloc.live_blocks, blocks, blocks + 6);
    }
    ki_store_unref(store);
    free_objects(objects);
    test_alloc_done(&alloc);
}

static void an_aborted_transaction_takes_nothing(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    struct objects *objects = make_objects();
    ki_object *model[OBJECTS] = {0};
    ki_store *store = NULL;
    assert_int_equal(new_store(&alloc.table, &store), 0);
    assert_int_equal(fill(store, objects, OBJECTS / 2), 0);
    memcpy(model, objects->variants[0], OBJECTS / 2 * sizeof(model[0]));
    size_t blocks = 0;
    for (unsigned round = 0; round < 4; round++) {
        ki_txn *txn;
        assert_int_equal(ki_store_begin(store, &txn, NULL), 0);
        for (unsigned i = 0; i < OBJECTS; i++) {
            assert_int_equal(ki_txn_add(txn, objects->variants[1][i], NULL), 0);
            if (i % 3 == 0) {
                assert_int_equal(ki_txn_delete(txn, key_of(objects, i), "7", NULL), 1);
            }
        }
        ki_txn_abort(txn);
        check(store, objects, model);
        blocks = round == 0 ? alloc.live_blocks : blocks; /* the first leaves buffers */
        assert_int_equal(alloc.live_blocks, blocks);
    }
    ki_store_unref(store);
    free_objects(objects);
    test_alloc_done(&alloc);
}

static void a_refused_object_leaves_no_memory(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki_store *store = NULL;
    assert_int_equal(new_store(&alloc.table, &store), 0);
    ki_object *bad = test_object(NULL, "{'metadata':{'name':'no-group'}}");
    size_t blocks = 0;
    for (int commit = 0; commit <= 1; commit++) { /* the first round leaves buffers */
        ki_txn *txn;
        assert_int_equal(ki_store_begin(store, &txn, NULL), 0);
        assert_int_equal(ki_txn_add(txn, bad, NULL), KI_ERR_INDEX_FUNCTION);
        if (commit == 0) {
            ki_txn_abort(txn);
            blocks = alloc.live_blocks;
        } else {
            ki_txn_commit(txn);
        }
    }
    assert_int_equal(alloc.live_blocks, blocks);
    ki_object_unref(bad);
    ki_store_unref(store);
    test_alloc_done(&alloc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_that_fail_leave_nothing_behind),
        cmocka_unit_test(a_transaction_of_any_size_is_exact),
        cmocka_unit_test(an_emptied_store_takes_no_more_than_before),
        cmocka_unit_test(an_aborted_transaction_takes_nothing),
        cmocka_unit_test(a_refused_object_leaves_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
