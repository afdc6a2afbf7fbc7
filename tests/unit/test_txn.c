/* SPDX-License-Identifier: Apache-2.0 */
/* Transactions large enough that their garbage, their numbers and their tables grow on the way, and
 * what each change leaves behind when it fails in the middle. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <kinformer/index.h>
#include <kinformer/store.h>

#include "cache/store/version.h"
#include "support/objects.h"
#include "support/test.h"

enum { OBJECTS = 1000 };

/* As test_group_values(), but objects without a group are refused. */
static int must_have_group(const ki_object *object, ki_index_values *values, void *user)
{
    bool has = ki_object_has_label(object, "group");
    return has ? test_group_values(object, values, user) : KI_ERR_NOT_FOUND;
}

/* An object shares its group with two others in variant 0, with none in 1, with all in 2. */
static ki_object *make(unsigned number, unsigned variant)
{
    static const unsigned share[] = {3, 1, OBJECTS};
    char name[16];
    char group[24];
    (void)snprintf(name, sizeof(name), "n%u", number);
    (void)snprintf(group, sizeof(group), "g%u-%u", number / share[variant], variant);
    return test_pod(NULL, "a", name, number + 1, group);
}

struct objects {
    ki_object *variants[3][OBJECTS];
};

static struct objects *make_objects(void)
{
    struct objects *objects = test_calloc(1, sizeof(*objects));
    for (unsigned i = 0; i < OBJECTS; i++) {
        for (unsigned variant = 0; variant < 3; variant++) {
            objects->variants[variant][i] = make(i, variant);
        }
    }
    return objects;
}

static void free_objects(struct objects *objects)
{
    for (unsigned i = 0; i < OBJECTS; i++) {
        for (unsigned variant = 0; variant < 3; variant++) {
            ki_object_unref(objects->variants[variant][i]);
        }
    }
    test_free(objects);
}

static int new_store(const ki_alloc *alloc, ki_store **ret_store)
{
    const ki_index index = {.name = "group", .values = must_have_group};
    const ki_store_options options = {.size = sizeof(options),
                                      .alloc = alloc,
                                      .indexes = (const ki_index *[]){&index},
                                      .index_count = 1};
    return ki_store_new(&options, ret_store, NULL);
}

static int fill(ki_store *store, ki_object *const *objects, size_t count)
{
    return ki_store_replace(store, (const ki_object *const *)objects, count, "1", NULL);
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
        assert_ptr_equal(ki__snapshot_get(snapshot, key_of(objects, i)), model[i]);
        count += model[i] != NULL;
    }
    assert_int_equal(ki_snapshot_count(snapshot), count);
    test_check_snapshot(snapshot, "group");
    assert_int_equal(store->ids.next - store->ids.free_count, count);
    const ki__ids *ids = &store->writers[0].ids;
    assert_int_equal(ids->next - ids->free_count, snapshot->indexes[0].state.values.count);
    ki_snapshot_unref(snapshot);
}

/* Changes `count` objects in one transaction, continuing after failures, and commits. */
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
    unsigned variant; /* that is stored before; updates are to number 1 */
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
    ki_object *const *before_all = plan->objects->variants[plan->variant];
    r = fill(store, before_all, plan->stored);
    if (r >= 0) {
        memcpy(model, before_all, plan->stored * sizeof(model[0]));
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
        {objects, 20, 20, false, 0}, /* updates */
        {objects, 20, 20, false, 2}, /* only the objects become garbage, but for the first */
        {objects, 20, 20, true, 0},  /* deletes */
        {objects, 20, 20, true, 2},  {objects, 5, 40, false, 0}, /* mostly additions */
        {objects, 0, 20, false, 0},
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
    for (unsigned stored = 100; stored <= 300; stored += 50) {
        for (unsigned changed = 1; changed <= 300; changed += changed / 8 + 1) {
            for (int removing = 0; removing <= 1; removing++) {
                struct plan plan = {objects, stored, changed, removing != 0, 0};
                assert_int_equal(plan_scenario(ki_alloc_default(), &plan), 0);
            }
        }
    }
    free_objects(objects);
}

static void tables_may_shrink_all_through_a_transaction(void **state)
{
    (void)state;
    struct objects *objects = make_objects();
    for (unsigned left = 200; left <= 260; left++) {
        ki_store *store = NULL;
        ki_object *model[OBJECTS] = {0};
        assert_int_equal(new_store(NULL, &store), 0);
        /* From here on each delete merges a bucket, which makes garbage of its own. */
        assert_int_equal(fill(store, objects->variants[1], OBJECTS), 0);
        assert_int_equal(fill(store, objects->variants[1], left), 0);
        memcpy(model, objects->variants[1], left * sizeof(model[0]));
        assert_int_equal(change(store, objects, model, left, true), 0);
        check(store, objects, model);
        ki_store_unref(store);
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
        assert_int_equal(fill(store, objects->variants[0], OBJECTS), 0);
        for (unsigned i = 0; round != 1 && i < OBJECTS; i++) {
            unsigned number = round == 0 ? i : OBJECTS - 1 - i;
            assert_int_equal(ki_store_delete(store, key_of(objects, number), NULL, NULL), 1);
        }
        assert_int_equal(fill(store, NULL, 0), 0);
        /* The numbers of the objects and of the values, and the buffers for two objects' values. */
        assert_in_range(alloc.live_blocks, blocks, blocks + 6);
    }
    ki_store_unref(store);
    free_objects(objects);
    test_alloc_done(&alloc);
}

/* Most of a relist. */
static void objects_that_are_stored_already_take_nothing(void **state)
{
    (void)state;
    test_alloc alloc;
    ki_store *store = NULL;
    ki_txn *txn = NULL;
    struct objects *objects = make_objects();
    test_alloc_init(&alloc);
    assert_int_equal(new_store(&alloc.table, &store), 0);
    assert_int_equal(fill(store, objects->variants[0], OBJECTS), 0);
    assert_int_equal(ki_store_begin(store, &txn, NULL), 0);
    uint64_t calls = alloc.calls;
    for (unsigned i = 0; i < OBJECTS; i++) {
        assert_int_equal(ki_txn_add(txn, objects->variants[0][i], NULL), 0);
    }
    assert_int_equal(alloc.calls, calls);
    ki_txn_commit(txn);
    check(store, objects, objects->variants[0]);
    (void)ki_store_unref(store);
    test_alloc_done(&alloc);
    free_objects(objects);
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
    assert_int_equal(fill(store, objects->variants[0], OBJECTS / 2), 0);
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

static void resource_versions_may_have_any_length_up_to_1024(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki_store *store = NULL;
    assert_int_equal(new_store(&alloc.table, &store), 0);
    for (size_t len = 0; len <= 1025; len += len == 100 ? 900 : 1) {
        char text[1026];
        memset(text, '1' + (int)(len % 9), len);
        text[len] = '\0';
        if (len > 1024) {
            assert_int_equal(ki_store_bookmark(store, text, NULL), KI_ERR_LIMIT);
            continue;
        }
        assert_int_equal(ki_store_bookmark(store, text, NULL), 0);
        assert_int_equal(ki_store_delete(store, ki_str_from("x"), NULL, NULL), 0); /* keeps it */
        ki_snapshot *snapshot = ki_store_snapshot(store);
        assert_string_equal(ki_snapshot_resource_version(snapshot), text);
        ki_snapshot_unref(snapshot);
    }
    ki_store_unref(store);
    test_alloc_done(&alloc);
}

/* Objects with many values: one for each letter of their group. */

enum { KEYS = 6, LETTERS = 12 };

static int letter_values(const ki_object *object, ki_index_values *values, void *user)
{
    (void)user;
    ki_str text = ki_object_label(object, "group");
    int r = ki_object_has_label(object, "group") ? 0 : KI_ERR_NOT_FOUND;
    for (size_t i = 0; r >= 0 && i < text.len; i++) {
        r = ki_index_values_add(values, ki_str_make(text.ptr + i, 1));
    }
    return r;
}

/* Comes after the letters, and fails on request. */
static int gate_values(const ki_object *object, ki_index_values *values, void *user)
{
    (void)object;
    (void)values;
    const bool *closed = user;
    return *closed ? -EPERM : 0;
}

static ki_object *letter_object(const ki_alloc *alloc, unsigned key, unsigned letters)
{
    char name[16];
    char group[LETTERS + 1];
    size_t len = 0;
    for (unsigned i = 0; i < LETTERS; i++) {
        if ((letters >> i & 1) != 0) {
            group[len++] = (char)('a' + i);
        }
    }
    group[len] = '\0';
    (void)snprintf(name, sizeof(name), "k%u", key);
    return test_pod(alloc, "", name, 1, group);
}

/* Compares the index with the model: the letters of each key, or 0 if it is not there. */
static void check_letters(const ki_snapshot *snapshot, const unsigned *model)
{
    for (unsigned i = 0; i < LETTERS; i++) {
        char letter = (char)('a' + i);
        ki_snapshot_iter iter;
        assert_int_equal(
            ki_snapshot_iter_by_index(snapshot, "letters", ki_str_make(&letter, 1), &iter), 0);
        unsigned found = 0;
        const ki_object *object;
        while (ki_snapshot_iter_next(&iter, &object) > 0) {
            found |= 1U << (ki_object_name(object)[1] - '0');
        }
        for (unsigned key = 0; key < KEYS; key++) {
            assert_int_equal(found >> key & 1, model[key] >> i & 1);
        }
    }
}

static int new_letter_store(const ki_alloc *alloc, bool *closed, ki_store **ret_store)
{
    const ki_index indexes[] = {{.name = "letters", .values = letter_values},
                                {.name = "gate", .values = gate_values, .user = closed}};
    const ki_store_options options = {.size = sizeof(options),
                                      .alloc = alloc,
                                      .indexes = (const ki_index *[]){&indexes[0], &indexes[1]},
                                      .index_count = 2};
    return ki_store_new(&options, ret_store, NULL);
}

static void a_refused_change_leaves_all_values_as_they_were(void **state)
{
    (void)state;
    bool closed = false;
    uint64_t random = 8;
    unsigned model[KEYS] = {0};
    ki_store *store = NULL;
    assert_int_equal(new_letter_store(NULL, &closed, &store), 0);
    for (unsigned round = 0; round < 300; round++) {
        ki_txn *txn;
        assert_int_equal(ki_store_begin(store, &txn, NULL), 0);
        for (unsigned i = 0; i < 8; i++) {
            unsigned key = (unsigned)(test_random(&random) % KEYS);
            unsigned letters = (unsigned)(test_random(&random) % ((1U << LETTERS) - 1)) + 1;
            letters = test_random(&random) % 4 == 0 ? 0 : letters;
            closed = test_random(&random) % 2 == 0;
            ki_object *object = letter_object(NULL, key, letters);
            int r = letters != 0
                        ? ki_txn_add(txn, object, NULL)
                        : ki_txn_delete(txn, ki_str_from(ki_object_key(object)), NULL, NULL);
            bool called = letters != 0 || model[key] != 0;
            assert_int_equal(r < 0 ? r : 0, closed && called ? KI_ERR_INDEX_FUNCTION : 0);
            model[key] = closed ? model[key] : letters;
            ki_object_unref(object);
        }
        ki_txn_commit(txn);
        ki_snapshot *snapshot = ki_store_snapshot(store);
        check_letters(snapshot, model);
        ki_snapshot_unref(snapshot);
    }
    ki_store_unref(store);
}

static void a_long_resource_version_is_freed_with_the_change(void **state)
{
    (void)state;
    static const char version[] = "0123456789012345678901234567890123456789012345678901234567890";
    char json[256];
    (void)snprintf(json, sizeof(json),
                   "{'metadata':{'name':'k1','resourceVersion':'%s','labels':{'group':'a'}}}",
                   version);
    bool closed = true;
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki_store *store = NULL;
    ki_object *object = test_object(NULL, json);
    assert_int_equal(new_letter_store(&alloc.table, &closed, &store), 0);
    assert_int_equal(ki_store_add(store, object, NULL), KI_ERR_INDEX_FUNCTION);
    closed = false;
    assert_int_equal(ki_store_add(store, object, NULL), 0);
    closed = true;
    assert_int_equal(ki_store_delete(store, ki_str_from("k1"), version, NULL),
                     KI_ERR_INDEX_FUNCTION);
    ki_object_unref(object);
    ki_store_unref(store);
    test_alloc_done(&alloc);
}

static int letters_scenario(const ki_alloc *alloc, void *user)
{
    (void)user;
    static const unsigned steps[][2] = {{0, 0x0f},  {1, 0xf3}, {0, 0x3c}, {1, 0xaaa},
                                        {2, 0xfff}, {0, 0},    {2, 0x111}};
    bool closed = false;
    unsigned model[KEYS] = {0};
    ki_store *store = NULL;
    int r = new_letter_store(alloc, &closed, &store);
    if (r < 0) {
        return r;
    }
    int first_error = 0;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        unsigned key = steps[i][0];
        ki_object *object = letter_object(NULL, key, steps[i][1]);
        r = steps[i][1] != 0
                ? ki_store_add(store, object, NULL)
                : ki_store_delete(store, ki_str_from(ki_object_key(object)), NULL, NULL);
        assert_true(r >= 0 || r == -ENOMEM); /* and continues after that */
        model[key] = r < 0 ? model[key] : steps[i][1];
        first_error = first_error < 0 ? first_error : r < 0 ? r : 0;
        ki_object_unref(object);
        ki_snapshot *snapshot = ki_store_snapshot(store);
        check_letters(snapshot, model);
        ki_snapshot_unref(snapshot);
    }
    ki_store_unref(store);
    return first_error;
}

static void changes_of_many_values_are_done_or_not_done(void **state)
{
    (void)state;
    test_alloc_sweep(letters_scenario, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_that_fail_leave_nothing_behind),
        cmocka_unit_test(a_transaction_of_any_size_is_exact),
        cmocka_unit_test(tables_may_shrink_all_through_a_transaction),
        cmocka_unit_test(an_emptied_store_takes_no_more_than_before),
        cmocka_unit_test(objects_that_are_stored_already_take_nothing),
        cmocka_unit_test(an_aborted_transaction_takes_nothing),
        cmocka_unit_test(a_refused_object_leaves_no_memory),
        cmocka_unit_test(resource_versions_may_have_any_length_up_to_1024),
        cmocka_unit_test(a_refused_change_leaves_all_values_as_they_were),
        cmocka_unit_test(a_long_resource_version_is_freed_with_the_change),
        cmocka_unit_test(changes_of_many_values_are_done_or_not_done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
