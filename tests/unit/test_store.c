/* SPDX-License-Identifier: Apache-2.0 */
/* The store, one property a test. The random test is test_store_model.c, the one with threads
 * test_store_threads.c. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <kinformer/index.h>
#include <kinformer/parts/store_write.h>
#include <kinformer/path.h>
#include <kinformer/store.h>

#include "cache/store/version.h"
#include "support/by_value.h"
#include "support/objects.h"
#include "support/test.h"

static const ki_index by_group = {.name = "group", .values = test_group_values};

static ki_store *new_store(const ki_alloc *alloc)
{
    const ki_index indexes[] = {by_group, test_index_by_namespace()};
    ki_store *store = NULL;
    ki_error error = KI_ERROR_INIT;
    const ki_store_options options = {.size = sizeof(options),
                                      .alloc = alloc,
                                      .indexes = (const ki_index *[]){&indexes[0], &indexes[1]},
                                      .index_count = 2};
    assert_int_equal(ki_store_new(&options, &store, &error), 0);
    return store;
}

static void add(ki_store *store, const char *name_space, const char *name, unsigned version,
                const char *group)
{
    ki_object *object = test_pod(NULL, name_space, name, version, group);
    ki_error error = KI_ERROR_INIT;
    assert_int_equal(ki_store_add(store, object, &error), 0);
    ki_object_unref(object);
}

static size_t count_of(ki_store *store, const char *index, const char *value)
{
    ki_list *list;
    assert_int_equal(ki_store_by_index(store, index, value, &list), 0);
    size_t count = ki_list_count(list);
    ki_list_unref(list);
    return count;
}

static void check_version(ki_store *store, const char *resource_version, size_t count)
{
    ki_snapshot *snapshot = ki_store_snapshot(store);
    assert_string_equal(ki_snapshot_resource_version(snapshot), resource_version);
    assert_int_equal(ki_snapshot_count(snapshot), count);
    test_check_snapshot(snapshot, "group");
    ki_snapshot_unref(snapshot);
}

static void an_empty_store_has_nothing(void **state)
{
    (void)state;
    ki_store *store = NULL;
    assert_int_equal(ki_store_new(NULL, &store, NULL), 0);
    assert_null(ki_store_get(store, "a"));
    ki_list *list;
    assert_int_equal(ki_store_list(store, &list), 0);
    assert_int_equal(ki_list_count(list), 0);
    assert_null(ki_list_at(list, 0));
    ki_list_unref(list);
    assert_int_equal(ki_store_by_index(store, "x", "", &list), KI_ERR_UNKNOWN_INDEX);
    assert_int_equal(ki_store_delete(store, ki_str_from("a"), NULL, NULL), 0);
    ki_store_unref(store);
}

static void adding_again_updates(void **state)
{
    (void)state;
    ki_store *store = new_store(NULL);
    add(store, "shop", "web", 5, "a");
    add(store, "shop", "web", 6, "b");
    ki_object *object = ki_store_get(store, "shop/web");
    assert_string_equal(ki_object_resource_version(object), "6");
    ki_object_unref(object);
    assert_int_equal(count_of(store, "group", "a"), 0);
    assert_int_equal(count_of(store, "group", "b"), 1);
    check_version(store, "6", 1);
    ki_store_unref(store);
}

static void deleting_removes_from_every_index(void **state)
{
    (void)state;
    ki_store *store = new_store(NULL);
    add(store, "shop", "web", 5, "a");
    add(store, "shop", "db", 6, "a");
    assert_int_equal(ki_store_delete(store, ki_str_from("shop/web"), "9", NULL), 1);
    assert_int_equal(ki_store_delete(store, ki_str_from("shop/web"), NULL, NULL), 0);
    assert_null(ki_store_get(store, "shop/web"));
    assert_int_equal(count_of(store, "group", "a"), 1);
    assert_int_equal(count_of(store, KI_INDEX_NAMESPACE, "shop"), 1);
    check_version(store, "9", 1);
    assert_int_equal(ki_store_delete(store, ki_str_from("shop/db"), NULL, NULL), 1);
    ki_snapshot *snapshot = ki_store_snapshot(store);
    ki_index_iter iter;
    assert_int_equal(ki_index_iter_begin(snapshot, "no such", &iter), KI_ERR_UNKNOWN_INDEX);
    assert_int_equal(ki_index_iter_begin(snapshot, "group", &iter), 0);
    assert_int_equal(ki_index_iter_next(&iter, NULL, NULL), 0);
    assert_int_equal(ki_index_iter_next(&iter, NULL, NULL), 0);
    ki_snapshot_unref(snapshot);
    check_version(store, "9", 0);
    ki_store_unref(store);
}

static void keys_with_a_nul_are_not_mistaken(void **state)
{
    (void)state;
    ki_store *store = new_store(NULL);
    add(store, "", "web", 5, "a");
    assert_null(ki__store_get(store, ki_str_make("web\0x", 5)));
    assert_null(ki__store_get(store, ki_str_make("web", 2)));
    ki_store_unref(store);
}

static void objects_without_a_usable_key_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "{}",
        "{'metadata':{'namespace':'a'}}",
        "{'metadata':{'name':'a/b'}}",
        "{'metadata':{'name':'a','namespace':'b/c'}}",
    };
    ki_store *store = new_store(NULL);
    add(store, "shop", "web", 5, "a");
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ki_object *object = test_object(NULL, bad[i]);
        ki_error error = KI_ERROR_INIT;
        assert_int_equal(ki_store_add(store, object, &error), KI_ERR_KEY);
        assert_int_equal(error.code, KI_ERR_KEY);
        assert_true(error.message[0] != '\0');
        const ki_object *list[] = {object};
        assert_int_equal(ki_store_replace(store, list, 1, "7", &error), KI_ERR_KEY);
        ki_object_unref(object);
    }
    check_version(store, "5", 1);
    ki_store_unref(store);
}

static void replace_is_one_version(void **state)
{
    (void)state;
    ki_store *store = new_store(NULL);
    add(store, "shop", "stays", 1, "a");
    add(store, "shop", "goes", 2, "a");
    ki_snapshot *before = ki_store_snapshot(store);
    ki_object *stays = test_pod(NULL, "shop", "stays", 8, "b");
    ki_object *comes = test_pod(NULL, "shop", "comes", 7, "c");
    ki_object *twice = test_pod(NULL, "shop", "comes", 9, "d");
    const ki_object *list[] = {stays, comes, twice};
    assert_int_equal(ki_store_replace(store, list, 3, "20", NULL), 0);
    ki_snapshot *after = ki_store_snapshot(store);
    assert_int_equal(ki_snapshot_version(after), ki_snapshot_version(before) + 1);
    assert_ptr_equal(ki_snapshot_get(after, "shop/comes"), twice);
    assert_null(ki_snapshot_get(after, "shop/goes"));
    assert_int_equal(count_of(store, "group", "a"), 0);
    assert_int_equal(count_of(store, "group", "c"), 0);
    assert_int_equal(count_of(store, "group", "d"), 1);
    check_version(store, "20", 2);
    /* The version before is as it was. */
    assert_int_equal(ki_snapshot_count(before), 2);
    assert_string_equal(ki_snapshot_resource_version(before), "2");
    assert_non_null(ki_snapshot_get(before, "shop/goes"));
    test_check_snapshot(before, "group");
    ki_snapshot_unref(before);
    ki_snapshot_unref(after);
    assert_int_equal(ki_store_replace(store, NULL, 0, "21", NULL), 0);
    check_version(store, "21", 0);
    ki_object_unref(stays);
    ki_object_unref(comes);
    ki_object_unref(twice);
    ki_store_unref(store);
}

static void bookmarks_move_the_resource_version_alone(void **state)
{
    (void)state;
    char longer[201];
    char too_long[1026];
    memset(longer, '7', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    memset(too_long, '7', sizeof(too_long) - 1);
    too_long[sizeof(too_long) - 1] = '\0';
    ki_store *store = new_store(NULL);
    add(store, "shop", "web", 5, "a");
    assert_int_equal(ki_store_bookmark(store, "50", NULL), 0);
    check_version(store, "50", 1);
    assert_int_equal(ki_store_bookmark(store, longer, NULL), 0);
    check_version(store, longer, 1);
    ki_object *nameless = test_object(NULL, "{'metadata':{'name':'x'}}");
    assert_int_equal(ki_store_add(store, nameless, NULL), 0);
    check_version(store, longer, 2); /* an object without a version does not move it */
    ki_object_unref(nameless);
    assert_int_equal(ki_store_bookmark(store, too_long, NULL), KI_ERR_LIMIT);
    check_version(store, longer, 2);
    assert_int_equal(ki_store_bookmark(store, NULL, NULL), 0); /* no version does not, either */
    check_version(store, longer, 2);
    assert_int_equal(ki_store_replace(store, NULL, 0, NULL, NULL), 0);
    check_version(store, longer, 0);
    ki_store_unref(store);
}

static void references_to_nothing_are_allowed(void **state)
{
    (void)state;
    assert_null(ki_store_ref(NULL));
    assert_null(ki_store_unref(NULL));
    assert_null(ki_snapshot_ref(NULL));
    assert_null(ki_snapshot_unref(NULL));
    assert_null(ki_list_unref(NULL));
}

static void transactions_are_one_version_or_none(void **state)
{
    (void)state;
    ki_store *store = new_store(NULL);
    add(store, "shop", "old", 1, "a");
    ki_object *one = test_pod(NULL, "shop", "one", 2, "a");
    ki_object *nameless = test_object(NULL, "{}");
    for (int end = 0; end <= 1; end++) {
        ki_txn *txn;
        ki_snapshot *before = ki_store_snapshot(store);
        assert_int_equal(ki_store_begin(store, &txn, NULL), 0);
        assert_int_equal(ki_txn_add(txn, one, NULL), 0);
        assert_int_equal(ki_txn_add(txn, nameless, NULL), KI_ERR_KEY); /* and continues */
        assert_int_equal(ki_txn_delete(txn, ki_str_from("shop/old"), "30", NULL), 1);
        assert_ptr_equal(ki_txn_get(txn, ki_str_from("shop/one")), one);
        assert_null(ki_txn_get(txn, ki_str_from("shop/old")));
        assert_null(ki_store_get(store, "shop/one")); /* nobody sees it yet */
        if (end == 0) {
            ki_txn_abort(txn);
            check_version(store, "1", 1);
        } else {
            ki_txn_commit(txn);
            check_version(store, "30", 1);
        }
        ki_snapshot *after = ki_store_snapshot(store);
        assert_int_equal(ki_snapshot_version(after), ki_snapshot_version(before) + (uint64_t)end);
        ki_snapshot_unref(before);
        ki_snapshot_unref(after);
    }
    ki_txn_abort(NULL);
    ki_object_unref(one);
    ki_object_unref(nameless);
    ki_store_unref(store);
}

static void a_transaction_may_put_back_what_it_changed(void **state)
{
    (void)state;
    ki_store *store = new_store(NULL);
    ki_object *first = test_pod(NULL, "shop", "web", 1, "a");
    ki_object *second = test_pod(NULL, "shop", "web", 2, "b");
    assert_int_equal(ki_store_add(store, first, NULL), 0);
    for (int end = 0; end <= 1; end++) {
        ki_txn *txn;
        assert_int_equal(ki_store_begin(store, &txn, NULL), 0);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(ki_txn_add(txn, second, NULL), 0);
            assert_int_equal(ki_txn_add(txn, first, NULL), 0);
            assert_int_equal(ki_txn_delete(txn, ki_str_from("shop/web"), NULL, NULL), 1);
            assert_int_equal(ki_txn_add(txn, first, NULL), 0);
        }
        if (end == 0) {
            ki_txn_abort(txn);
        } else {
            ki_txn_commit(txn);
        }
        check_version(store, "1", 1);
        assert_int_equal(count_of(store, "group", "a"), 1);
        assert_int_equal(count_of(store, "group", "b"), 0);
    }
    ki_object_unref(first);
    ki_object_unref(second);
    ki_store_unref(store);
}

static int writes_back(const ki_object *object, ki_index_values *values, void *user)
{
    (void)values;
    ki_store **store = user;
    if (*store != NULL) {
        assert_int_equal(ki_store_add(*store, object, NULL), KI_ERR_BUSY);
        assert_int_equal(ki_store_bookmark(*store, "1", NULL), KI_ERR_BUSY);
    }
    return 0;
}

static void a_second_writer_is_turned_away(void **state)
{
    (void)state;
    ki_store *inside = NULL;
    const ki_index index = {.name = "busy", .values = writes_back, .user = &inside};
    ki_store *store = NULL;
    const ki_store_options options = {
        .size = sizeof(options), .indexes = (const ki_index *[]){&index}, .index_count = 1};
    assert_int_equal(ki_store_new(&options, &store, NULL), 0);
    inside = store;
    add(store, "shop", "web", 1, "a");
    ki_txn *txn;
    ki_txn *other;
    ki_error error = KI_ERROR_INIT;
    assert_int_equal(ki_store_begin(store, &txn, NULL), 0);
    assert_int_equal(ki_store_begin(store, &other, &error), KI_ERR_BUSY);
    assert_true(ki_error_is_retriable(error.code));
    assert_int_equal(ki_store_replace(store, NULL, 0, "2", NULL), KI_ERR_BUSY);
    ki_txn_commit(txn);
    add(store, "shop", "db", 2, "a");
    inside = NULL;
    ki_store_unref(store);
}

/* An index function that fails for objects named "bad", after it has given a value. */
static int picky_values(const ki_object *object, ki_index_values *values, void *user)
{
    const bool *armed = user;
    int r = ki_index_values_add(values, ki_str_from("all"));
    if (*armed && strcmp(ki_object_name(object), "bad") == 0) {
        return -EPROTO;
    }
    return r;
}

static void a_failing_index_function_changes_nothing(void **state)
{
    (void)state;
    bool armed = true;
    ki_store *store = new_store(NULL);
    const ki_index picky = {.name = "picky", .values = picky_values, .user = &armed};
    assert_int_equal(ki_store_add_indexes(store, (const ki_index *[]){&picky}, 1, NULL), 0);
    add(store, "shop", "web", 1, "a");
    ki_object *bad = test_pod(NULL, "shop", "bad", 2, "b");
    ki_object *good = test_pod(NULL, "shop", "good", 3, "c");
    ki_error error = KI_ERROR_INIT;
    assert_int_equal(ki_store_add(store, bad, &error), KI_ERR_INDEX_FUNCTION);
    assert_non_null(strstr(error.message, "picky"));
    assert_non_null(strstr(error.message, "shop/bad"));
    const ki_object *list[] = {good, bad};
    assert_int_equal(ki_store_replace(store, list, 2, "9", NULL), KI_ERR_INDEX_FUNCTION);
    check_version(store, "1", 1);
    /* One that fails for what is stored already: neither update nor delete go through. */
    armed = false;
    assert_int_equal(ki_store_add(store, bad, NULL), 0);
    armed = true;
    ki_object *newer = test_pod(NULL, "shop", "bad", 5, "c");
    assert_int_equal(ki_store_update(store, newer, NULL), KI_ERR_INDEX_FUNCTION);
    assert_int_equal(ki_store_delete(store, ki_str_from("shop/bad"), "6", NULL),
                     KI_ERR_INDEX_FUNCTION);
    check_version(store, "2", 2);
    assert_int_equal(count_of(store, "picky", "all"), 2);
    ki_object_unref(newer);
    ki_object_unref(bad);
    ki_object_unref(good);
    ki_store_unref(store);
}

static int stubborn_values(const ki_object *object, ki_index_values *values, void *user)
{
    (void)object;
    (void)user;
    static char large[64 * 1024 + 1];
    int r = ki_index_values_add(values, ki_str_make(large, sizeof(large)));
    (void)r; /* continues as if nothing had happened */
    return 0;
}

static void a_value_over_the_limit_is_an_error_even_if_ignored(void **state)
{
    (void)state;
    ki_store *store = NULL;
    const ki_index index = {.name = "large", .values = stubborn_values};
    const ki_store_options options = {
        .size = sizeof(options), .indexes = (const ki_index *[]){&index}, .index_count = 1};
    assert_int_equal(ki_store_new(&options, &store, NULL), 0);
    ki_object *object = test_pod(NULL, "a", "b", 1, "c");
    assert_int_equal(ki_store_add(store, object, NULL), KI_ERR_LIMIT);
    ki_object_unref(object);
    ki_store_unref(store);
}

/* Changes its mind from call to call: wrong, but it must do no harm. */
static int fickle_values(const ki_object *object, ki_index_values *values, void *user)
{
    (void)object;
    unsigned *calls = user;
    char text[16];
    int len = snprintf(text, sizeof(text), "%u", (*calls)++ % 7);
    return ki_index_values_add(values, ki_str_make(text, (size_t)len));
}

static void a_fickle_index_function_does_no_harm(void **state)
{
    (void)state;
    unsigned calls = 0;
    ki_store *store = NULL;
    const ki_index index = {.name = "fickle", .values = fickle_values, .user = &calls};
    const ki_store_options options = {
        .size = sizeof(options), .indexes = (const ki_index *[]){&index}, .index_count = 1};
    assert_int_equal(ki_store_new(&options, &store, NULL), 0);
    for (unsigned i = 0; i < 500; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "n%u", i * 7 % 13);
        add(store, "a", name, i + 1, "g");
        if (i % 3 == 0) {
            (void)snprintf(name, sizeof(name), "a/n%u", i * 5 % 13);
            assert_true(ki_store_delete(store, ki_str_from(name), NULL, NULL) >= 0);
        }
        for (unsigned v = 0; v < 7; v++) {
            (void)snprintf(name, sizeof(name), "%u", v);
            ki_list *list;
            assert_int_equal(ki_store_by_index(store, "fickle", name, &list), 0);
            ki_list_unref(list);
        }
    }
    ki_store_unref(store);
}

static int many_values(const ki_object *object, ki_index_values *values, void *user)
{
    (void)user;
    ki_str group = ki_object_label(object, "group");
    int r = ki_object_has_label(object, "group") ? 0 : KI_ERR_NOT_FOUND;
    for (size_t i = 0; r >= 0 && i < group.len; i++) {
        r = ki_index_values_add(values, ki_str_make(group.ptr + i, 1));
    }
    return r;
}

static void an_object_may_have_many_values(void **state)
{
    (void)state;
    ki_store *store = NULL;
    const ki_index index = {.name = "letters", .values = many_values};
    const ki_store_options options = {
        .size = sizeof(options), .indexes = (const ki_index *[]){&index}, .index_count = 1};
    assert_int_equal(ki_store_new(&options, &store, NULL), 0);
    add(store, "a", "one", 1, "xyzzy");
    add(store, "a", "two", 2, "zebra");
    assert_int_equal(count_of(store, "letters", "z"), 2);
    assert_int_equal(count_of(store, "letters", "y"), 1);
    add(store, "a", "one", 3, "eel");
    assert_int_equal(count_of(store, "letters", "z"), 1);
    assert_int_equal(count_of(store, "letters", "y"), 0);
    assert_int_equal(count_of(store, "letters", "e"), 2);
    ki_snapshot *snapshot = ki_store_snapshot(store);
    ki_object *like = test_pod(NULL, "other", "like", 9, "brl");
    ki_list *list;
    assert_int_equal(ki_snapshot_list_like(snapshot, "letters", like, &list, NULL), 0);
    assert_int_equal(ki_list_count(list), 2); /* each once, although "two" shares b and r */
    ki_list_sort(list);
    assert_string_equal(ki_object_key(ki_list_at(list, 0)), "a/one");
    assert_string_equal(ki_object_key(ki_list_at(list, 1)), "a/two");
    ki_list_unref(list);
    size_t count;
    assert_int_equal(ki_snapshot_count_by_index(snapshot, "letters", ki_str_from("e"), &count), 0);
    assert_int_equal(count, 2);
    assert_int_equal(ki_snapshot_list_like(snapshot, "x", like, &list, NULL), KI_ERR_UNKNOWN_INDEX);
    ki_object_unref(like);
    ki_snapshot_unref(snapshot);
    ki_store_unref(store);
}

static void count_destroy(void *user)
{
    ++*(int *)user;
}

static void indexes_can_be_added_over_objects(void **state)
{
    (void)state;
    int destroyed = 0;
    ki_store *store = NULL;
    assert_int_equal(ki_store_new(NULL, &store, NULL), 0);
    for (unsigned i = 0; i < 200; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "pod-%u", i);
        add(store, "a", name, i + 1, i % 2 != 0 ? "odd" : "even");
    }
    ki_snapshot *before = ki_store_snapshot(store);
    ki_index index = {0, "group", test_group_values, &destroyed, count_destroy};
    assert_int_equal(ki_store_add_indexes(store, (const ki_index *[]){&index}, 1, NULL), 0);
    assert_int_equal(count_of(store, "group", "odd"), 100);
    ki_error error = KI_ERROR_INIT;
    assert_int_equal(ki_store_add_indexes(store, (const ki_index *[]){&index}, 1, &error),
                     KI_ERR_EXISTS);
    const ki_index twins[] = {{0, "t", test_group_values, &destroyed, count_destroy},
                              {0, "t", test_group_values, &destroyed, count_destroy}};
    assert_int_equal(
        ki_store_add_indexes(store, (const ki_index *[]){&twins[0], &twins[1]}, 2, &error),
        KI_ERR_EXISTS);
    assert_int_equal(
        ki_store_add_indexes(store, (const ki_index *[]){&index}, SIZE_MAX / 16, &error), -ENOMEM);
    const ki_index nameless = {.values = test_group_values};
    assert_int_equal(ki_store_add_indexes(store, (const ki_index *[]){&nameless}, 1, &error),
                     -EINVAL);
    ki_snapshot *after = ki_store_snapshot(store);
    assert_string_equal(ki_snapshot_index_name_at(after, 0), "group");
    assert_null(ki_snapshot_index_name_at(after, 1));
    assert_null(ki_snapshot_index_name_at(before, 0)); /* older versions do not have it */
    test_check_snapshot(after, "group");
    ki_snapshot_unref(before);
    ki_store_unref(store);
    assert_int_equal(destroyed, 0); /* a snapshot still has it */
    ki_snapshot_unref(after);
    assert_int_equal(destroyed, 1);
}

static void ready_made_indexes_find_labels_and_paths(void **state)
{
    (void)state;
    ki_store *store = NULL;
    ki_path *path = NULL;
    assert_int_equal(ki_store_new(NULL, &store, NULL), 0);
    assert_int_equal(ki_path_compile(".spec.ports[*].n", NULL, &path, NULL), 0);
    ki_index indexes[2] = {{0}};
    assert_int_equal(ki_index_by_label("app", "app", NULL, &indexes[0]), 0);
    assert_int_equal(ki_index_by_path("port", path, NULL, &indexes[1]), 0);
    ki_path_unref(path);
    assert_int_equal(
        ki_store_add_indexes(store, (const ki_index *[]){&indexes[0], &indexes[1]}, 2, NULL), 0);
    ki_object *object = test_object(NULL, "{'metadata':{'name':'a','labels':{'app':'w\\u0065b'}},"
                                          "'spec':{'ports':[{'n':80},{'n':'http'},{'n':true},"
                                          "{'n':null},{'n':[1]}]}}");
    assert_int_equal(ki_store_add(store, object, NULL), 0);
    ki_object_unref(object);
    object = test_object(NULL, "{'metadata':{'name':'b'}}");
    assert_int_equal(ki_store_add(store, object, NULL), 0);
    ki_object_unref(object);
    assert_int_equal(count_of(store, "app", "web"), 1);
    assert_int_equal(count_of(store, "app", ""), 0);
    assert_int_equal(count_of(store, "port", "80"), 1);
    assert_int_equal(count_of(store, "port", "http"), 1);
    assert_int_equal(count_of(store, "port", "true"), 1);
    ki_snapshot *snapshot = ki_store_snapshot(store);
    ki_index_iter iter;
    size_t values = 0;
    assert_int_equal(ki_index_iter_begin(snapshot, "port", &iter), 0);
    while (ki_index_iter_next(&iter, NULL, NULL) > 0) {
        values++;
    }
    assert_int_equal(values, 3);
    ki_snapshot_unref(snapshot);
    ki_store_unref(store);
}

static int upper_transform(const ki_object *object, ki_object **ret_object, void *user)
{
    const int *fail_with = user;
    if (*fail_with != 0) {
        return *fail_with < 0 ? *fail_with
                              : 0; /* more than 0: says it is well, and gives nothing */
    }
    *ret_object = strcmp(ki_object_name(object), "web") == 0 ? test_pod(NULL, "x", "made", 77, "t")
                                                             : ki_object_ref(object);
    return 0;
}

static void the_transform_function_decides_what_is_stored(void **state)
{
    (void)state;
    int fail_with = 0;
    ki_store *store = NULL;
    const ki_store_options options = {
        .size = sizeof(options), .transform = upper_transform, .transform_user = &fail_with};
    assert_int_equal(ki_store_new(&options, &store, NULL), 0);
    add(store, "shop", "web", 4, "a");
    add(store, "shop", "db", 5, "a");
    assert_null(ki_store_get(store, "shop/web"));
    ki_object *made = ki_store_get(store, "x/made");
    assert_non_null(made);
    fail_with = -EPROTO;
    assert_int_equal(ki_store_add(store, made, NULL), -EPROTO);
    fail_with = 1;
    assert_int_equal(ki_store_add(store, made, NULL), KI_ERR_INVALID);
    ki_object_unref(made);
    ki_snapshot *snapshot = ki_store_snapshot(store);
    assert_string_equal(ki_snapshot_resource_version(snapshot), "5");
    assert_int_equal(ki_snapshot_count(snapshot), 2);
    ki_snapshot_unref(snapshot);
    ki_store_unref(store);
}

static void a_full_store_says_so(void **state)
{
    (void)state;
    ki_store *store = NULL;
    const ki_store_options options = {.size = sizeof(options), .max_objects = 2};
    assert_int_equal(ki_store_new(&options, &store, NULL), 0);
    add(store, "a", "1", 1, "g");
    add(store, "a", "2", 2, "g");
    ki_object *third = test_pod(NULL, "a", "3", 3, "g");
    assert_int_equal(ki_store_add(store, third, NULL), KI_ERR_LIMIT);
    assert_int_equal(ki_store_delete(store, ki_str_from("a/1"), NULL, NULL), 1);
    assert_int_equal(ki_store_add(store, third, NULL), 0);
    ki_object_unref(third);
    ki_store_unref(store);
}

static void old_versions_give_their_memory_back(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki_store *store = new_store(&alloc.table);
    for (unsigned i = 0; i < 300; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "pod-%u", i);
        add(store, "shop", name, i + 1, "a");
    }
    size_t settled = alloc.live_bytes;
    /* With an old snapshot held, thousands of updates must not pile up. */
    ki_snapshot *held = ki_store_snapshot(store);
    size_t most = 0;
    for (unsigned i = 0; i < 20000; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "pod-%u", i * 7 % 300);
        add(store, "shop", name, i + 1000, i % 2 != 0 ? "a" : "b");
        most = alloc.live_bytes > most ? alloc.live_bytes : most;
    }
    assert_true(most < settled * 3);
    test_check_snapshot(held, "group");
    ki_snapshot_unref(held);
    assert_true(alloc.live_bytes < settled * 5 / 4);
    ki_store_unref(store);
    test_alloc_done(&alloc);
}

struct dropping {
    test_alloc alloc;
    ki_snapshot *held;
    size_t blocks; /* right after it was dropped */
};

static int drops_snapshot(const ki_object *object, ki_index_values *values, void *user)
{
    (void)object;
    (void)values;
    struct dropping *d = user;
    if (d->held != NULL) {
        size_t before = d->alloc.live_blocks;
        d->held = ki_snapshot_unref(d->held);
        d->blocks = d->alloc.live_blocks;
        assert_int_equal(d->blocks, before);
    }
    return 0;
}

/* A reader that freed versions while a writer makes more could be kept at it for ever. So it leaves
 * them to a writer at work, but not to a transaction that may stay open for long. */
static void readers_leave_dead_versions_to_a_writer_at_work(void **state)
{
    (void)state;
    struct dropping d = {0};
    test_alloc_init(&d.alloc);
    ki_store *store = NULL;
    const ki_index index = {.name = "drops", .values = drops_snapshot, .user = &d};
    const ki_store_options options = {.size = sizeof(options),
                                      .alloc = &d.alloc.table,
                                      .indexes = (const ki_index *[]){&index},
                                      .index_count = 1};
    assert_int_equal(ki_store_new(&options, &store, NULL), 0);
    add(store, "shop", "web", 1, "a");
    ki_snapshot *held = ki_store_snapshot(store);
    add(store, "shop", "web", 2, "a");
    size_t settled = d.alloc.live_blocks;
    d.held = held;
    add(store, "shop", "web", 3, "a");
    assert_null(d.held);
    assert_true(d.alloc.live_blocks < settled); /* the writer has freed it when it was done */

    held = ki_store_snapshot(store);
    add(store, "shop", "web", 4, "a");
    ki_txn *txn;
    assert_int_equal(ki_store_begin(store, &txn, NULL), 0);
    settled = d.alloc.live_blocks;
    ki_snapshot_unref(held);
    assert_true(d.alloc.live_blocks < settled);
    ki_txn_abort(txn);
    ki_store_unref(store);
    test_alloc_done(&d.alloc);
}

static void a_held_snapshot_is_refreshed_only_when_something_changed(void **state)
{
    (void)state;
    ki_store *store = new_store(NULL);
    add(store, "shop", "web", 1, "a");
    ki_snapshot *held = ki_store_refresh(store, NULL);
    assert_ptr_equal(ki_store_refresh(store, held), held);
    uint64_t version = ki_snapshot_version(held);
    ki_snapshot *kept = ki_snapshot_ref(held);
    add(store, "shop", "web", 2, "a");
    held = ki_store_refresh(store, held);
    assert_int_equal(ki_snapshot_version(held), version + 1);
    assert_string_equal(ki_snapshot_resource_version(held), "2");
    assert_string_equal(ki_snapshot_resource_version(kept), "1");
    ki_snapshot_unref(kept);
    ki_store_unref(store);
    ki_snapshot_unref(held);
}

static void snapshots_outlive_the_store(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki_store *store = new_store(&alloc.table);
    ki_snapshot *held[4];
    ki_list *list;
    for (unsigned i = 0; i < 4; i++) {
        add(store, "shop", i % 2 != 0 ? "odd" : "even", i + 1, "a");
        held[i] = ki_store_snapshot(store);
    }
    assert_int_equal(ki_store_list(store, &list), 0);
    assert_ptr_equal(ki_store_ref(store), store);
    ki_store_unref(store);
    ki_store_unref(store);
    static const unsigned order[] = {2, 0, 3, 1};
    for (unsigned i = 0; i < 4; i++) {
        test_check_snapshot(held[order[i]], "group");
        ki_snapshot_unref(held[order[i]]);
    }
    assert_int_equal(ki_list_count(list), 2);
    assert_string_equal(ki_object_resource_version(ki_list_at(list, 0)), "3");
    ki_list_unref(list);
    test_alloc_done(&alloc);
}

static void large_values_of_an_index_stay_exact(void **state)
{
    (void)state;
    enum { COUNT = 9000 }; /* past the size where a set becomes a bitmap */
    ki_store *store = new_store(NULL);
    const ki_object **objects = test_calloc(COUNT, sizeof(*objects));
    for (unsigned i = 0; i < COUNT; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "pod-%u", i);
        objects[i] = test_pod(NULL, "shop", name, i + 1, "all");
    }
    assert_int_equal(ki_store_replace(store, objects, COUNT, "1", NULL), 0);
    check_version(store, "1", COUNT);
    assert_int_equal(count_of(store, "group", "all"), COUNT);
    for (unsigned i = 0; i < COUNT; i += 2) {
        ki_str key = ki_str_from(ki_object_key(objects[i]));
        assert_int_equal(ki_store_delete(store, key, NULL, NULL), 1);
    }
    check_version(store, "1", COUNT / 2);
    ki_snapshot *half = ki_store_snapshot(store);
    assert_int_equal(ki_store_replace(store, objects, 1, "2", NULL), 0);
    check_version(store, "2", 1);
    test_check_snapshot(half, "group");
    ki_snapshot_unref(half);
    for (unsigned i = 0; i < COUNT; i++) {
        ki_object_unref(objects[i]);
    }
    test_free((void *)objects);
    ki_store_unref(store);
}

/* Failing allocations: after each step the store must be complete or as it was. */

struct sweep {
    ki_store *store;
    ki_snapshot *held;
    ki_object *objects[40];
};

static int sweep_objects(struct sweep *s, const ki_alloc *alloc)
{
    for (unsigned i = 0; i < 40; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "pod-%u", i % 25);
        s->objects[i] =
            test_pod(alloc, i % 3 != 0 ? "a" : "b", name, i + 1, i % 4 != 0 ? "x" : "y");
        if (s->objects[i] == NULL) {
            return -ENOMEM;
        }
    }
    return 0;
}

/* One step; what is in the store is compared before and after. */
static int sweep_step(struct sweep *s, unsigned step)
{
    ki_snapshot *before = ki_store_snapshot(s->store);
    int r;
    if (step < 30) {
        r = ki_store_add(s->store, s->objects[step], NULL);
    } else if (step < 35) {
        r = ki_store_delete(s->store, ki_str_from(ki_object_key(s->objects[step])), "9", NULL);
    } else if (step == 35) {
        r = ki_store_add_indexes(
            s->store, (const ki_index *[]){&(ki_index){.name = "more", .values = many_values}}, 1,
            NULL);
    } else {
        r = ki_store_replace(s->store, (const ki_object *const *)s->objects + step - 36, 20,
                             "resource_version that is longer than what fits into a version", NULL);
    }
    ki_snapshot *after = ki_store_snapshot(s->store);
    if (r < 0) {
        assert_ptr_equal(before, after);
    }
    test_check_snapshot(after, "group");
    ki_snapshot_unref(after);
    ki_snapshot_unref(before);
    return r < 0 ? r : 0;
}

static int sweep_txn(struct sweep *s)
{
    ki_txn *txn;
    int r = ki_store_begin(s->store, &txn, NULL);
    if (r < 0) {
        return r;
    }
    int first_error = 0;
    for (unsigned i = 0; i < 40; i++) { /* continues after a failure, as it may */
        r = ki_txn_add(txn, s->objects[i], NULL);
        if (r >= 0 && i % 5 == 0) {
            r = ki_txn_delete(txn, ki_str_from(ki_object_key(s->objects[i])), "3", NULL);
        }
        first_error = first_error < 0 ? first_error : r < 0 ? r : 0;
    }
    ki_txn_commit(txn);
    ki_snapshot *after = ki_store_snapshot(s->store);
    test_check_snapshot(after, "group");
    ki_snapshot_unref(after);
    return first_error;
}

static int sweep_lists(struct sweep *s)
{
    ki_list *list = NULL;
    ki_snapshot *snapshot = ki_store_snapshot(s->store);
    int r = ki_store_list(s->store, &list);
    if (r >= 0) {
        ki_list_unref(list);
        r = ki_snapshot_list_like(snapshot, "group", s->objects[0], &list, NULL);
    }
    if (r >= 0) {
        ki_list_unref(list);
    }
    ki_snapshot_unref(snapshot);
    return r;
}

static int store_scenario(const ki_alloc *alloc, void *user)
{
    (void)user;
    struct sweep s = {0};
    const ki_index indexes[] = {by_group, test_index_by_namespace()};
    const ki_store_options options = {.size = sizeof(options),
                                      .alloc = alloc,
                                      .indexes = (const ki_index *[]){&indexes[0], &indexes[1]},
                                      .index_count = 2};
    int r = sweep_objects(&s, alloc);
    if (r >= 0) {
        r = ki_store_new(&options, &s.store, NULL);
    }
    for (unsigned step = 0; r >= 0 && step < 40; step++) {
        r = sweep_step(&s, step);
        if (r >= 0 && step == 10) {
            s.held = ki_store_snapshot(s.store);
        }
    }
    if (r >= 0) {
        r = sweep_txn(&s);
    }
    if (r >= 0) {
        r = sweep_lists(&s);
    }
    ki_store_unref(s.store);
    if (s.held != NULL) {
        test_check_snapshot(s.held, "group");
        ki_snapshot_unref(s.held);
    }
    for (unsigned i = 0; i < 40; i++) {
        ki_object_unref(s.objects[i]);
    }
    return r;
}

static void every_failing_allocation_leaves_it_whole(void **state)
{
    (void)state;
    test_alloc_sweep(store_scenario, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_store_has_nothing),
        cmocka_unit_test(adding_again_updates),
        cmocka_unit_test(deleting_removes_from_every_index),
        cmocka_unit_test(keys_with_a_nul_are_not_mistaken),
        cmocka_unit_test(objects_without_a_usable_key_are_refused),
        cmocka_unit_test(replace_is_one_version),
        cmocka_unit_test(bookmarks_move_the_resource_version_alone),
        cmocka_unit_test(references_to_nothing_are_allowed),
        cmocka_unit_test(transactions_are_one_version_or_none),
        cmocka_unit_test(a_transaction_may_put_back_what_it_changed),
        cmocka_unit_test(a_second_writer_is_turned_away),
        cmocka_unit_test(a_failing_index_function_changes_nothing),
        cmocka_unit_test(a_value_over_the_limit_is_an_error_even_if_ignored),
        cmocka_unit_test(a_fickle_index_function_does_no_harm),
        cmocka_unit_test(an_object_may_have_many_values),
        cmocka_unit_test(indexes_can_be_added_over_objects),
        cmocka_unit_test(ready_made_indexes_find_labels_and_paths),
        cmocka_unit_test(the_transform_function_decides_what_is_stored),
        cmocka_unit_test(a_full_store_says_so),
        cmocka_unit_test(old_versions_give_their_memory_back),
        cmocka_unit_test(readers_leave_dead_versions_to_a_writer_at_work),
        cmocka_unit_test(a_held_snapshot_is_refreshed_only_when_something_changed),
        cmocka_unit_test(snapshots_outlive_the_store),
        cmocka_unit_test(large_values_of_an_index_stay_exact),
        cmocka_unit_test(every_failing_allocation_leaves_it_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
