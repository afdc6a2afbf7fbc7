/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions of indexes, the values of one object, and the state of an index against a plain table
 * of who has which value, over versions that are all kept. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <kinformer/index.h>

#include "base/alloc.h"
#include "cache/store/index.h"
#include "support/edits.h"
#include "support/objects.h"
#include "support/test.h"

static const ki__hash_key seed = {1, 2};

/* Definitions */

static void count_call(void *user)
{
    ++*(int *)user;
}

static int no_values(const ki_object *object, ki_index_values *values, void *user)
{
    (void)object;
    (void)values;
    (void)user;
    return 0;
}

static void the_last_reference_destroys_only_what_was_adopted(void **state)
{
    (void)state;
    for (int adopted = 0; adopted <= 1; adopted++) {
        test_alloc alloc;
        test_alloc_init(&alloc);
        int destroyed = 0;
        char name[] = "name";
        const ki_index index = {0, name, no_values, &destroyed, count_call};
        ki__index_def *def = ki__index_def_new(&alloc.table, &index);
        name[0] = 'x';
        assert_string_equal(def->index.name, "name"); /* a copy */
        assert_ptr_equal(ki__index_def_ref(def), def);
        if (adopted != 0) {
            ki__index_def_adopt(def, &index);
        }
        ki__index_def_unref(def);
        assert_int_equal(destroyed, 0);
        ki__index_def_unref(def);
        assert_int_equal(destroyed, adopted);
        ki__index_def_unref(NULL);
        test_alloc_done(&alloc);
    }
}

/* Values of one object */

struct given {
    ki_str values[8];
    size_t count;
    int result; /* what the function returns at the end */
    int added;  /* what the last addition returned */
};

static int give_values(const ki_object *object, ki_index_values *values, void *user)
{
    (void)object;
    struct given *given = user;
    for (size_t i = 0; i < given->count; i++) {
        given->added = ki_index_values_add(values, given->values[i]);
    }
    return given->result;
}

/* The values that a function gives, computed with `alloc`; the caller ends them. */
static int values_of(ki_index_values *values, const ki_alloc *alloc, struct given *given,
                     ki_error *error)
{
    ki_object *object = test_object(NULL, "{'metadata':{'name':'n','namespace':'s'}}");
    const ki_index index = {.name = "the-index", .values = give_values, .user = given};
    ki__index_def *def = ki__index_def_new(ki_alloc_default(), &index);
    ki__index_values_init(values, alloc, seed);
    int r = ki__index_values_of(values, def, object, error);
    ki__index_def_unref(def);
    ki_object_unref(object);
    return r;
}

static void values_come_sorted_and_once_each(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki_index_values values;
    struct given given = {
        .values = {ki_str_from("b"), ki_str_from("a"), ki_str_from(""), ki_str_from("b"),
                   ki_str_make("a\0c", 3), ki_str_from("a"), ki_str_make(NULL, 0)},
        .count = 7,
    };
    assert_int_equal(values_of(&values, &alloc.table, &given, NULL), 0);
    assert_int_equal(values.count, 4);
    bool found[4] = {0};
    for (size_t i = 0; i < 4; i++) {
        const ki__index_value *value = &values.values[i];
        assert_int_equal(value->hash, (uint32_t)ki__hash_str(seed, value->text));
        found[0] = found[0] || ki_str_eq(value->text, ki_str_from("a"));
        found[1] = found[1] || ki_str_eq(value->text, ki_str_from("b"));
        found[2] = found[2] || ki_str_eq(value->text, ki_str_from(""));
        found[3] = found[3] || ki_str_eq(value->text, ki_str_make("a\0c", 3));
        assert_true(i == 0 || ki__index_value_compare(value - 1, value) < 0);
        assert_true(i == 0 || ki__index_value_compare(value, value - 1) > 0);
    }
    assert_true(found[0] && found[1] && found[2] && found[3]);
    ki__index_values_done(&values);
    test_alloc_done(&alloc);
}

static void values_of_one_hash_are_ordered_by_their_bytes(void **state)
{
    (void)state;
    const ki__index_value a = {.hash = 7, .text = ki_str_from("a")};
    const ki__index_value b = {.hash = 7, .text = ki_str_from("b")};
    const ki__index_value c = {.hash = 8, .text = ki_str_from("a")};
    assert_int_equal(ki__index_value_compare(&a, &a), 0);
    assert_true(ki__index_value_compare(&a, &b) < 0);
    assert_true(ki__index_value_compare(&b, &a) > 0);
    assert_true(ki__index_value_compare(&b, &c) < 0);
    assert_true(ki__index_value_compare(&c, &b) > 0);
}

static void values_of_no_object_are_none(void **state)
{
    (void)state;
    ki_index_values values;
    struct given given = {.values = {ki_str_from("a")}, .count = 1};
    assert_int_equal(values_of(&values, ki_alloc_default(), &given, NULL), 0);
    assert_int_equal(values.count, 1);
    assert_int_equal(ki__index_values_of(&values, NULL, NULL, NULL), 0);
    assert_int_equal(values.count, 0);
    ki__index_values_done(&values);
}

static void one_value_may_have_64_kib(void **state)
{
    (void)state;
    enum { MOST = 64 * 1024 };
    char *text = test_malloc(MOST + 1);
    memset(text, 'x', MOST + 1);
    struct given given = {.values = {ki_str_make(text, MOST)}, .count = 1};
    ki_index_values values;
    ki_error error = KI_ERROR_INIT;
    assert_int_equal(values_of(&values, ki_alloc_default(), &given, NULL), 0);
    assert_int_equal(values.values[0].len, MOST);
    ki__index_values_done(&values);
    given.values[0].len++;
    assert_int_equal(values_of(&values, ki_alloc_default(), &given, &error), KI_ERR_LIMIT);
    assert_int_equal(given.added, KI_ERR_LIMIT);
    assert_non_null(strstr(error.message, "the-index"));
    assert_non_null(strstr(error.message, "s/n"));
    ki__index_values_done(&values);
    test_free(text);
}

static int fill_up(const ki_object *object, ki_index_values *values, void *user)
{
    (void)object;
    static char text[64 * 1024];
    const size_t *total = user;
    for (size_t left = *total; left > 0;) {
        size_t len = left < sizeof(text) ? left : sizeof(text);
        int r = ki_index_values_add(values, ki_str_make(text, len));
        if (r < 0) {
            return -EIO; /* it is the limit that is reported, not this */
        }
        left -= len;
    }
    return 0;
}

static void all_values_may_have_one_mib_together(void **state)
{
    (void)state;
    size_t total = 1024 * 1024;
    const ki_index index = {.name = "i", .values = fill_up, .user = &total};
    ki_object *object = test_object(NULL, "{'metadata':{'name':'n'}}");
    ki__index_def *def = ki__index_def_new(ki_alloc_default(), &index);
    ki_index_values values;
    ki__index_values_init(&values, ki_alloc_default(), seed);
    for (int i = 0; i < 2; i++) { /* the limit applies to each object */
        assert_int_equal(ki__index_values_of(&values, def, object, NULL), 0);
        assert_int_equal(values.count, 1);
    }
    total++;
    assert_int_equal(ki__index_values_of(&values, def, object, NULL), KI_ERR_LIMIT);
    total = 10; /* an error is forgotten with the next object */
    assert_int_equal(ki__index_values_of(&values, def, object, NULL), 0);
    ki__index_values_done(&values);
    ki__index_def_unref(def);
    ki_object_unref(object);
}

static void a_function_that_fails_is_named(void **state)
{
    (void)state;
    struct given given = {.values = {ki_str_from("a")}, .count = 1, .result = -EPROTO};
    ki_index_values values;
    ki_error error = KI_ERROR_INIT;
    assert_int_equal(values_of(&values, ki_alloc_default(), &given, &error), KI_ERR_INDEX_FUNCTION);
    assert_non_null(strstr(error.message, "the-index"));
    ki__index_values_done(&values);
    given.result = -ENOMEM; /* stays what it is: trying again may help */
    assert_int_equal(values_of(&values, ki_alloc_default(), &given, &error), -ENOMEM);
    ki__index_values_done(&values);
    given.result = 3; /* more than 0 is no error */
    assert_int_equal(values_of(&values, ki_alloc_default(), &given, &error), 0);
    ki__index_values_done(&values);
}

static int values_scenario(const ki_alloc *alloc, void *user)
{
    (void)user;
    ki_index_values values;
    struct given given = {.values = {ki_str_from("a"), ki_str_from("b")}, .count = 2};
    int r = values_of(&values, alloc, &given, NULL);
    assert_true(r < 0 || values.count == 2);
    ki__index_values_done(&values);
    return r;
}

static void a_value_that_finds_no_memory_is_an_error(void **state)
{
    (void)state;
    test_alloc_sweep(values_scenario, NULL); /* the function itself ignores it */
}

/* The state */

enum { VALUES = 40, IDS = 30, VERSIONS = 150, PLENTY = VALUES * IDS };

struct version {
    test_copy_on_write edit; /* that made it */
    ki__index_state state;
    bool model[VALUES][IDS];
};

/* Some values share a hash, all of them with one other at least. */
static ki__index_value value_of(char *text, size_t v)
{
    int len = snprintf(text, 16, "value-%zu", v);
    uint32_t hash = (uint32_t)(v / 2) * 0x10001;
    return (ki__index_value){.hash = hash, .text = ki_str_make(text, (size_t)len)};
}

static void check(const struct version *version)
{
    uint32_t used = 0;
    for (size_t v = 0; v < VALUES; v++) {
        char text[16];
        ki__index_value value = value_of(text, v);
        const ki__posting *posting = ki__index_find(&version->state, value.hash, value.text);
        uint64_t expected = 0;
        for (size_t id = 0; id < IDS; id++) {
            expected |= (uint64_t)version->model[v][id] << id;
        }
        assert_int_equal(posting != NULL, expected != 0); /* no value without objects */
        used += posting != NULL;
        if (posting != NULL) {
            uint64_t block = 0;
            assert_true(ki__posting_next_block(posting, &block) == expected);
            assert_true(ki_str_eq(ki__posting_value(posting), value.text));
        }
    }
    assert_int_equal(version->state.values.count, used);
}

/* Ends a version: every number that was taken is that of a value, or was released. */
static void commit(const struct version *version, ki__ids *ids)
{
    ki__ids_commit(ids);
    assert_int_equal(ids->next - ids->free_count, version->state.values.count);
}

/* Adds or removes; the error of what can fail, after which all must be as it was. */
static int flip(struct version *version, ki__ids *ids, size_t v, uint32_t id)
{
    char text[16];
    ki__index_value value = value_of(text, v);
    ki__edit *edit = &version->edit.edit;
    bool *there = &version->model[v][id];
    int r = ki__ids_reserve(ids, 1);
    if (r < 0) {
        return r;
    }
    if (!*there) {
        r = ki__index_add(edit, &version->state, ids, &value, id);
        assert_true(r != 0);
        *there = r > 0;
        return r;
    }
    r = ki__index_touch(edit, &version->state, &value, id);
    if (r >= 0) {
        ki__index_remove(edit, &version->state, ids, &value, id);
        *there = false;
    }
    return r;
}

static void change(struct version *version, ki__ids *ids, uint64_t *random, bool filling)
{
    for (uint64_t n = test_random(random) % 40; n > 0; n--) {
        size_t v = test_random(random) % VALUES;
        uint32_t id = (uint32_t)(test_random(random) % IDS);
        if (version->model[v][id] != filling || test_random(random) % 8 == 0) {
            assert_true(flip(version, ids, v, id) >= 0);
        }
    }
}

static void build(struct version *version, const struct version *base, const ki_alloc *alloc,
                  uint64_t number, ki__ids *ids, uint64_t *random)
{
    test_edit_begin(&version->edit, alloc, number);
    for (int attempt = number % 4 == 0 ? 0 : 1; attempt < 2; attempt++) {
        version->state = base->state;
        memcpy(version->model, base->model, sizeof(version->model));
        change(version, ids, random, number / 50 % 2 == 0);
        check(version);
        if (attempt == 0) { /* is taken back */
            ki__index_free(alloc, &version->state, number);
            test_edit_forget(&version->edit);
            ki__ids_abort(ids);
            check(base);
        }
    }
    commit(version, ids);
}

static void every_version_stays_as_it_was(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    uint64_t random = 4;
    ki__ids ids;
    ki__ids_init(&ids, &alloc.table, PLENTY);
    struct version *versions = test_calloc(VERSIONS, sizeof(*versions));
    for (size_t n = 1; n < VERSIONS; n++) {
        build(&versions[n], &versions[n - 1], &alloc.table, n, &ids, &random);
    }
    for (size_t n = 1; n < VERSIONS; n++) {
        check(&versions[n - 1]);
        test_edit_collect(&versions[n].edit);
        check(&versions[n]);
    }
    ki__index_free(&alloc.table, &versions[VERSIONS - 1].state, 0);
    ki__ids_done(&ids);
    test_free(versions);
    test_alloc_done(&alloc);
}

static void an_index_without_objects_takes_no_memory(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki__ids ids;
    ki__ids_init(&ids, &alloc.table, PLENTY);
    struct version *versions = test_calloc(3, sizeof(*versions));
    for (size_t n = 1; n <= 2; n++) { /* all in, all out */
        test_edit_begin(&versions[n].edit, &alloc.table, n);
        versions[n].state = versions[n - 1].state;
        memcpy(versions[n].model, versions[n - 1].model, sizeof(versions[n].model));
        for (size_t v = 0; v < VALUES; v++) {
            for (uint32_t id = 0; id < IDS; id++) {
                assert_true(flip(&versions[n], &ids, v, id) >= 0);
            }
        }
        commit(&versions[n], &ids);
    }
    check(&versions[1]);
    check(&versions[2]);
    test_edit_collect(&versions[2].edit);
    ki__ids_done(&ids);
    assert_int_equal(alloc.live_blocks, 0);
    test_free(versions);
    test_alloc_done(&alloc);
}

static void present_and_absent_are_distinguished(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki__ids ids;
    ki__ids_init(&ids, &alloc.table, 1);
    struct version *version = test_calloc(1, sizeof(*version));
    test_edit_begin(&version->edit, &alloc.table, 1);
    char text[16];
    char other_text[16];
    ki__index_value value = value_of(text, 0);
    ki__index_value other = value_of(other_text, 1); /* of the same hash */
    assert_int_equal(ki__index_add(&version->edit.edit, &version->state, &ids, &value, 3), 1);
    assert_int_equal(ki__index_add(&version->edit.edit, &version->state, &ids, &value, 3), 0);
    assert_int_equal(ki__index_add(&version->edit.edit, &version->state, &ids, &other, 3),
                     KI_ERR_LIMIT); /* there is one number only */
    version->model[0][3] = true;
    check(version);
    /* Removing from a value that is not there, or an object that is not under it, does nothing. */
    assert_int_equal(ki__index_touch(&version->edit.edit, &version->state, &other, 3), 0);
    ki__index_remove(&version->edit.edit, &version->state, &ids, &other, 3);
    assert_int_equal(ki__index_touch(&version->edit.edit, &version->state, &value, 4), 0);
    ki__index_remove(&version->edit.edit, &version->state, &ids, &value, 4);
    check(version);
    ki__index_free(&alloc.table, &version->state, 1);
    test_free(version);
    test_alloc_done(&alloc);
}

static int state_scenario(const ki_alloc *alloc, void *user)
{
    (void)user;
    ki__ids ids;
    int first_error = 0;
    ki__ids_init(&ids, alloc, PLENTY);
    struct version *versions = test_calloc(3, sizeof(*versions));
    for (size_t n = 1; n <= 2; n++) {
        struct version *version = &versions[n];
        test_edit_begin(&version->edit, alloc, n);
        version->state = versions[n - 1].state;
        memcpy(version->model, versions[n - 1].model, sizeof(version->model));
        for (size_t i = 0; i < 30; i++) {
            int r = flip(version, &ids, i % (n == 1 ? 20 : 30), (uint32_t)(i % 3));
            first_error = first_error < 0 ? first_error : r < 0 ? r : 0;
            check(version);
        }
        commit(version, &ids);
    }
    check(&versions[1]);
    test_edit_collect(&versions[2].edit);
    ki__index_free(alloc, &versions[2].state, 0);
    test_edit_collect(&versions[1].edit);
    ki__ids_done(&ids);
    test_free(versions);
    return first_error;
}

static void a_failed_change_changes_nothing(void **state)
{
    (void)state;
    test_alloc_sweep(state_scenario, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_reference_destroys_only_what_was_adopted),
        cmocka_unit_test(values_come_sorted_and_once_each),
        cmocka_unit_test(values_of_one_hash_are_ordered_by_their_bytes),
        cmocka_unit_test(values_of_no_object_are_none),
        cmocka_unit_test(one_value_may_have_64_kib),
        cmocka_unit_test(all_values_may_have_one_mib_together),
        cmocka_unit_test(a_function_that_fails_is_named),
        cmocka_unit_test(a_value_that_finds_no_memory_is_an_error),
        cmocka_unit_test(every_version_stays_as_it_was),
        cmocka_unit_test(an_index_without_objects_takes_no_memory),
        cmocka_unit_test(present_and_absent_are_distinguished),
        cmocka_unit_test(a_failed_change_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
