/* SPDX-License-Identifier: Apache-2.0 */
/* Listers, one rule a test. Each list is also read as a walk, which must give the same. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <kinformer/index.h>
#include <kinformer/label_selector.h>
#include <kinformer/lister.h>
#include <kinformer/lister_iter.h>
#include <kinformer/parts/store_write.h>
#include <kinformer/status.h>

#include "support/by_value.h"
#include "support/objects.h"
#include "support/test.h"

static const ki_index by_group = {.name = "group", .values = test_group_values};

/* A store with the index by group, and by namespace if that is wanted. */
static ki_store *new_store(bool by_namespace)
{
    const ki_index indexes[] = {by_group, test_index_by_namespace()};
    const ki_store_options options = {.size = sizeof(options),
                                      .indexes = (const ki_index *[]){&indexes[0], &indexes[1]},
                                      .index_count = by_namespace ? 2 : 1};
    ki_store *store = NULL;
    assert_int_equal(ki_store_new(&options, &store, NULL), 0);
    return store;
}

static void add(ki_store *store, const char *name_space, const char *name, const char *group)
{
    ki_object *object = test_pod(NULL, name_space, name, 1, group);
    assert_int_equal(ki_store_add(store, object, NULL), 0);
    ki_object_unref(object);
}

/* Two namespaces and an object without one. */
static ki_store *filled_store(bool by_namespace)
{
    ki_store *store = new_store(by_namespace);
    add(store, "shop", "web", "front");
    add(store, "shop", "db", "back");
    add(store, "shop", "cache", "back");
    add(store, "blog", "web", "front");
    add(store, "", "node", "back");
    return store;
}

static ki_selector *select(const char *text)
{
    ki_selector *selector = NULL;
    assert_int_equal(ki_selector_parse(text, NULL, &selector, NULL), 0);
    return selector;
}

/* The keys of a list, sorted, with blanks between; the list is freed. */
static const char *keys_of(ki_list *list)
{
    static char text[256];
    size_t len = 0;
    text[0] = '\0';
    ki_list_sort(list);
    for (size_t i = 0; i < ki_list_count(list); i++) {
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s", i != 0 ? " " : "",
                                ki_object_key(ki_list_at(list, i)));
        assert_true(len < sizeof(text));
    }
    ki_list_unref(list);
    return text;
}

/* A walk gives the objects of the list, in the order that it had. */
static void check_walk(const ki_lister *lister, const char *name_space, const ki_selector *selector)
{
    ki_list *list;
    assert_int_equal(ki_lister_list(lister, name_space, selector, &list), 0);
    ki_lister_iter iter = ki_lister_iter_begin(lister, name_space, selector);
    const ki_object *object;
    for (size_t i = 0; i < ki_list_count(list); i++) {
        assert_int_equal(ki_lister_iter_next(&iter, &object), 1);
        assert_ptr_equal(object, ki_list_at(list, i));
    }
    assert_int_equal(ki_lister_iter_next(&iter, &object), 0);
    assert_int_equal(ki_lister_iter_next(&iter, &object), 0);
    ki_lister_iter_end(&iter);
    ki_list_unref(list);
}

static void check_list(const ki_lister *lister, const char *name_space, const ki_selector *selector,
                       const char *keys)
{
    ki_list *list;
    assert_int_equal(ki_lister_list(lister, name_space, selector, &list), 0);
    assert_string_equal(keys_of(list), keys);
    check_walk(lister, name_space, selector);
}

static void get_gives_a_reference_of_the_callers(void **state)
{
    (void)state;
    ki_store *store = filled_store(true);
    ki_lister pods = ki_lister_of(store, KI_CORE_V1_PODS);
    ki_object *web = NULL;
    ki_object *node = NULL;
    assert_int_equal(ki_lister_get(&pods, "shop", "web", &web, NULL), 0);
    assert_int_equal(ki_lister_get(&pods, NULL, "node", &node, NULL), 0);
    ki_object_unref(node);
    assert_int_equal(ki_lister_get(&pods, "", "node", &node, NULL), 0);
    ki_store_unref(store);
    assert_string_equal(ki_object_key(web), "shop/web");
    assert_string_equal(ki_object_key(node), "node");
    ki_object_unref(web);
    ki_object_unref(node);
}

static void get_allocates_nothing(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki_store *store = NULL;
    assert_int_equal(
        ki_store_new(KI_OPTIONS(ki_store_options, .alloc = &alloc.table), &store, NULL), 0);
    add(store, "shop", "web", "front");
    ki_lister pods = ki_lister_of(store, KI_CORE_V1_PODS);
    alloc.fail_at = alloc.calls + 1;
    alloc.fail_onwards = true;
    ki_object *object = NULL;
    ki_error error = KI_ERROR_INIT;
    assert_int_equal(ki_lister_get(&pods, "shop", "web", &object, &error), 0);
    ki_object_unref(object);
    assert_int_equal(ki_lister_get_key(&pods, "shop/web", &object, &error), 0);
    ki_object_unref(object);
    assert_int_equal(ki_lister_get(&pods, "shop", "db", &object, &error), KI_ERR_NOT_FOUND);
    ki_lister_iter iter = ki_lister_iter_begin(&pods, "shop", NULL);
    const ki_object *pod;
    assert_int_equal(ki_lister_iter_next(&iter, &pod), 1);
    ki_lister_iter_end(&iter);
    assert_int_equal(alloc.failures, 0);
    ki_store_unref(store);
    test_alloc_done(&alloc);
}

/* What `r` and `error` must be for an object that is not there. */
static void check_not_found(int r, const ki_error *error, const char *message)
{
    assert_int_equal(r, KI_ERR_NOT_FOUND);
    assert_int_equal(error->code, KI_ERR_NOT_FOUND);
    assert_int_equal(error->http_code, 404);
    assert_int_equal(error->reason, KI_REASON_NOT_FOUND);
    assert_true(ki_error_is_not_found(error));
    assert_string_equal(error->message, message);
}

static void what_is_not_there_is_not_found_by_resource_and_name(void **state)
{
    (void)state;
    ki_store *store = filled_store(true);
    ki_lister pods = ki_lister_of(store, KI_CORE_V1_PODS);
    ki_lister sets = ki_lister_of(store, KI_APPS_V1_DEPLOYMENTS);
    ki_lister any = ki_lister_of(store, NULL);
    ki_object *object = (ki_object *)&object;
    ki_error error = {.line = 7};
    int r = ki_lister_get(&pods, "shop", "x", &object, &error);
    check_not_found(r, &error, "pods \"x\" not found in namespace \"shop\"");
    assert_int_equal(error.line, 0);
    r = ki_lister_get(&sets, NULL, "x", &object, &error);
    check_not_found(r, &error, "deployments.apps \"x\" not found");
    r = ki_lister_get(&any, NULL, "x", &object, &error);
    check_not_found(r, &error, "\"x\" not found");
    r = ki_lister_get_key(&pods, "blog/db", &object, &error);
    check_not_found(r, &error, "pods \"db\" not found in namespace \"blog\"");
    r = ki_lister_get_key(&pods, "web", &object, &error);
    check_not_found(r, &error, "pods \"web\" not found");
    assert_int_equal(ki_lister_get(&pods, "shop", "x", &object, NULL), KI_ERR_NOT_FOUND);
    assert_ptr_equal(object, &object); /* untouched */
    ki_store_unref(store);
}

static void names_that_no_object_has_are_not_found(void **state)
{
    (void)state;
    ki_store *store = filled_store(true);
    ki_lister pods = ki_lister_of(store, KI_CORE_V1_PODS);
    ki_object *object = NULL;
    ki_error error = KI_ERROR_INIT;
    int r = ki_lister_get(&pods, NULL, "shop/web", &object, &error); /* no name, but a key */
    check_not_found(r, &error, "pods \"shop/web\" not found");
    r = ki_lister_get(&pods, "shop", "", &object, &error);
    check_not_found(r, &error, "pods \"\" not found in namespace \"shop\"");
    assert_int_equal(ki_lister_get(&pods, "shop", NULL, &object, &error), -EINVAL);
    r = ki_lister_get(&pods, NULL, "a\nb\x01", &object, &error);
    check_not_found(r, &error, "pods \"a b?\" not found");
    r = ki_lister_get_key(&pods, "a/b/c", &object, &error);
    check_not_found(r, &error, "pods \"a/b/c\" not found");
    r = ki_lister_get_key(&pods, "", &object, &error);
    check_not_found(r, &error, "pods \"\" not found");
    char name[4096];
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    assert_int_equal(ki_lister_get(&pods, "shop", name, &object, &error), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_lister_get(&pods, name, "web", &object, &error), KI_ERR_NOT_FOUND);
    assert_true(ki_error_is_not_found(&error));
    assert_int_equal(strncmp(error.message, "pods \"web\" not found in", 23), 0);
    ki_store_unref(store);
}

static void the_longest_names_are_found(void **state)
{
    (void)state;
    ki_store *store = new_store(true);
    char text[2][1025];
    memset(text, 'n', sizeof(text));
    text[0][1024] = text[1][1024] = '\0';
    static char json[4096];
    int len = snprintf(json, sizeof(json), "{\"metadata\":{\"namespace\":\"%s\",\"name\":\"%s\"}}",
                       text[0], text[1]);
    assert_true(len > 0 && (size_t)len < sizeof(json));
    ki_object *object = test_json(json);
    assert_int_equal(ki_store_add(store, object, NULL), 0);
    ki_object_unref(object);
    ki_lister pods = ki_lister_of(store, KI_CORE_V1_PODS);
    assert_int_equal(ki_lister_get(&pods, text[0], text[1], &object, NULL), 0);
    ki_object_unref(object);
    ki_store_unref(store);
}

/* The same rules with the index by namespace and, by a search, without. */
static void check_lists(bool by_namespace)
{
    ki_store *store = filled_store(by_namespace);
    ki_lister pods = ki_lister_of(store, KI_CORE_V1_PODS);
    ki_selector *back = select("group=back");
    ki_selector *none = select("group=none");
    const char *all = "blog/web node shop/cache shop/db shop/web";
    check_list(&pods, NULL, NULL, all);
    check_list(&pods, "", NULL, all); /* as client-go's NamespaceAll */
    check_list(&pods, NULL, ki_selector_everything(), all);
    check_list(&pods, "shop", NULL, "shop/cache shop/db shop/web");
    check_list(&pods, "shop", ki_selector_everything(), "shop/cache shop/db shop/web");
    check_list(&pods, "sho", NULL, "");
    check_list(&pods, "shops", NULL, "");
    check_list(&pods, NULL, back, "node shop/cache shop/db");
    check_list(&pods, "shop", back, "shop/cache shop/db");
    check_list(&pods, "blog", back, "");
    check_list(&pods, NULL, none, "");
    check_list(&pods, NULL, ki_selector_nothing(), "");
    check_list(&pods, "shop", ki_selector_nothing(), "");
    ki_selector_unref(back);
    ki_selector_unref(none);
    ki_store_unref(store);
}

static void lists_are_by_namespace_and_selector(void **state)
{
    (void)state;
    check_lists(true);
}

static void without_an_index_by_namespace_the_store_is_searched(void **state)
{
    (void)state;
    check_lists(false);
}

/* An index of that name with values of its own shows who was asked. */
static int odd_values(const ki_object *object, ki_index_values *values, void *user)
{
    (void)user;
    return ki_index_values_add(values, ki_str_from(ki_object_name(object)));
}

static void a_namespace_is_looked_up_in_its_index(void **state)
{
    (void)state;
    const ki_index odd = {.name = KI_INDEX_NAMESPACE, .values = odd_values};
    ki_store *store = NULL;
    assert_int_equal(
        ki_store_new(
            KI_OPTIONS(ki_store_options, .indexes = (const ki_index *[]){&odd}, .index_count = 1),
            &store, NULL),
        0);
    add(store, "shop", "web", "front");
    add(store, "web", "db", "front");
    ki_lister pods = ki_lister_of(store, KI_CORE_V1_PODS);
    check_list(&pods, "web", NULL, "shop/web");
    ki_store_unref(store);
}

static void by_index_is_by_value_and_selector(void **state)
{
    (void)state;
    ki_store *store = filled_store(true);
    ki_lister pods = ki_lister_of(store, KI_CORE_V1_PODS);
    ki_selector *front = select("group in (front)");
    const struct {
        const char *index;
        const char *value;
        const ki_selector *selector;
        const char *keys;
    } cases[] = {
        {"group", "back", NULL, "node shop/cache shop/db"},
        {"group", "back", ki_selector_everything(), "node shop/cache shop/db"},
        {"group", "back", front, ""},
        {"group", "front", front, "blog/web shop/web"},
        {"group", "front", ki_selector_nothing(), ""},
        {"group", "x", NULL, ""},
        {KI_INDEX_NAMESPACE, "shop", front, "shop/web"},
    };
    ki_list *list = NULL;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(
            ki_lister_by_index(&pods, cases[i].index, cases[i].value, cases[i].selector, &list), 0);
        assert_string_equal(keys_of(list), cases[i].keys);
    }
    list = NULL;
    assert_int_equal(ki_lister_by_index(&pods, "x", "a", NULL, &list), KI_ERR_UNKNOWN_INDEX);
    assert_int_equal(ki_lister_by_index(&pods, "x", "a", ki_selector_nothing(), &list),
                     KI_ERR_UNKNOWN_INDEX);
    assert_null(list);
    ki_selector_unref(front);
    ki_store_unref(store);
}

static void a_lister_of_a_store_reads_the_present(void **state)
{
    (void)state;
    ki_store *store = new_store(true);
    ki_lister pods = ki_lister_of(store, KI_CORE_V1_PODS);
    check_list(&pods, "shop", NULL, "");
    add(store, "shop", "web", "front");
    check_list(&pods, "shop", NULL, "shop/web");
    assert_int_equal(ki_store_delete(store, ki_str_from("shop/web"), NULL, NULL), 1);
    check_list(&pods, "shop", NULL, "");
    ki_store_unref(store);
}

static void a_lister_of_a_snapshot_reads_one_state(void **state)
{
    (void)state;
    ki_store *store = filled_store(true);
    ki_snapshot *snapshot = ki_store_snapshot(store);
    assert_int_equal(ki_store_replace(store, NULL, 0, "9", NULL), 0);
    ki_lister then = ki_lister_at(snapshot, KI_CORE_V1_PODS);
    ki_object *object = NULL;
    assert_int_equal(ki_lister_get(&then, "shop", "web", &object, NULL), 0);
    ki_object_unref(object);
    assert_int_equal(ki_lister_get_key(&then, "node", &object, NULL), 0);
    ki_object_unref(object);
    check_list(&then, "shop", NULL, "shop/cache shop/db shop/web");
    ki_error error = KI_ERROR_INIT;
    int r = ki_lister_get(&then, "shop", "x", &object, &error);
    check_not_found(r, &error, "pods \"x\" not found in namespace \"shop\"");
    ki_lister now = ki_lister_of(store, KI_CORE_V1_PODS);
    check_list(&now, NULL, NULL, "");
    ki_snapshot_unref(snapshot);
    ki_store_unref(store);
}

static void a_walk_stays_in_one_state_and_may_end_early(void **state)
{
    (void)state;
    ki_store *store = filled_store(true);
    ki_lister pods = ki_lister_of(store, KI_CORE_V1_PODS);
    ki_lister_iter iter = ki_lister_iter_begin(&pods, "shop", NULL);
    assert_int_equal(ki_store_replace(store, NULL, 0, "9", NULL), 0);
    ki_store_unref(store);
    const ki_object *first;
    const ki_object *second;
    assert_int_equal(ki_lister_iter_next(&iter, &first), 1);
    assert_string_equal(ki_object_namespace(first), "shop");
    assert_int_equal(ki_lister_iter_next(&iter, &second), 1);
    assert_string_equal(ki_object_namespace(second), "shop");
    assert_string_equal(ki_object_namespace(first), "shop"); /* still there */
    ki_lister_iter_end(&iter);
    assert_int_equal(ki_lister_iter_next(&iter, &second), 0);
    ki_lister_iter_end(&iter);
}

/* Objects over several blocks of the store, of which a selector takes one in `every`. */
static void check_many(unsigned every)
{
    enum { COUNT = 1000 };
    ki_store *store = new_store(true);
    ki_selector *selected = select("group=in");
    for (unsigned i = 0; i < COUNT; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "p%u", i);
        add(store, i % 2 != 0 ? "odd" : "even", name, i % every == 0 ? "in" : "out");
    }
    ki_lister pods = ki_lister_of(store, KI_CORE_V1_PODS);
    ki_list *list;
    assert_int_equal(ki_lister_list(&pods, NULL, selected, &list), 0);
    assert_int_equal(ki_list_count(list), (COUNT + every - 1) / every);
    for (size_t i = 0; i < ki_list_count(list); i++) {
        assert_true(ki_selector_matches(selected, ki_list_at(list, i)));
    }
    assert_null(ki_list_at(list, ki_list_count(list)));
    ki_list_unref(list);
    check_walk(&pods, NULL, selected);
    check_walk(&pods, "odd", selected);
    ki_selector_unref(selected);
    ki_store_unref(store);
}

static void selectors_take_few_or_many_of_many(void **state)
{
    (void)state;
    check_many(1);
    check_many(2);
    check_many(3);
    check_many(999);
}

static void a_list_keeps_no_memory_for_unselected_objects(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki_store *store = NULL;
    assert_int_equal(
        ki_store_new(KI_OPTIONS(ki_store_options, .alloc = &alloc.table), &store, NULL), 0);
    for (unsigned i = 0; i < 500; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "p%u", i);
        add(store, "", name, i == 0 ? "in" : "out");
    }
    ki_selector *one = select("group=in");
    ki_lister pods = ki_lister_of(store, KI_CORE_V1_PODS);
    size_t before = alloc.live_bytes;
    ki_list *list;
    assert_int_equal(ki_lister_list(&pods, NULL, one, &list), 0);
    assert_int_equal(ki_list_count(list), 1);
    assert_true(alloc.live_bytes - before < 100);
    ki_list_unref(list);
    alloc.peak_bytes = before; /* nothing needs no room at all: objects are not even collected */
    assert_int_equal(ki_lister_list(&pods, NULL, ki_selector_nothing(), &list), 0);
    assert_true(alloc.peak_bytes - before < 100);
    ki_list_unref(list);
    ki_selector_unref(one);
    ki_store_unref(store);
    test_alloc_done(&alloc);
}

/* Everything that allocates; shared objects and selector, so that only lists can fail. */
static int list_all_ways(const ki_alloc *alloc, void *user)
{
    const ki_selector *back = user;
    ki_store *store = NULL;
    int r = ki_store_new(KI_OPTIONS(ki_store_options, .alloc = alloc,
                                    .indexes = (const ki_index *[]){&by_group}, .index_count = 1),
                         &store, NULL);
    for (unsigned i = 0; r >= 0 && i < 8; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "p%u", i);
        ki_object *object = test_pod(alloc, "shop", name, i, i % 4 == 0 ? "back" : "front");
        r = object != NULL ? ki_store_add(store, object, NULL) : -ENOMEM;
        ki_object_unref(object);
    }
    ki_lister pods = ki_lister_of(store, KI_CORE_V1_PODS);
    ki_list *lists[3] = {NULL, NULL, NULL};
    if (r >= 0) {
        r = ki_lister_list(&pods, NULL, NULL, &lists[0]);
    }
    if (r >= 0) {
        r = ki_lister_list(&pods, "shop", back, &lists[1]);
    }
    if (r >= 0) {
        r = ki_lister_by_index(&pods, "group", "back", back, &lists[2]);
    }
    for (size_t i = 0; i < 3; i++) {
        assert_true(lists[i] == NULL || ki_list_count(lists[i]) == (i == 0 ? 8 : 2));
        ki_list_unref(lists[i]);
    }
    ki_store_unref(store);
    return r;
}

static void memory_may_fail_anywhere(void **state)
{
    (void)state;
    ki_selector *back = select("group=back");
    test_alloc_sweep(list_all_ways, back);
    ki_selector_unref(back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(get_gives_a_reference_of_the_callers),
        cmocka_unit_test(get_allocates_nothing),
        cmocka_unit_test(what_is_not_there_is_not_found_by_resource_and_name),
        cmocka_unit_test(names_that_no_object_has_are_not_found),
        cmocka_unit_test(the_longest_names_are_found),
        cmocka_unit_test(lists_are_by_namespace_and_selector),
        cmocka_unit_test(without_an_index_by_namespace_the_store_is_searched),
        cmocka_unit_test(a_namespace_is_looked_up_in_its_index),
        cmocka_unit_test(by_index_is_by_value_and_selector),
        cmocka_unit_test(a_lister_of_a_store_reads_the_present),
        cmocka_unit_test(a_lister_of_a_snapshot_reads_one_state),
        cmocka_unit_test(a_walk_stays_in_one_state_and_may_end_early),
        cmocka_unit_test(selectors_take_few_or_many_of_many),
        cmocka_unit_test(a_list_keeps_no_memory_for_unselected_objects),
        cmocka_unit_test(memory_may_fail_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
