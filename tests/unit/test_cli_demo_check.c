/* SPDX-License-Identifier: Apache-2.0 */
/* The demo's word that caches equal the server: that it sees every way in which they do not. */
#include <kinformer/object.h>
#include <kinformer/parts/store_write.h>
#include <kinformer/store.h>

#include "cli/demo/demo_check.h"
#include "support/objects.h"
#include "support/test.h"

#define WEB "{'metadata':{'name':'web','namespace':'shop','uid':'u1','resourceVersion':'5'},'a':1}"
#define SQL "{'metadata':{'name':'sql','namespace':'shop','uid':'u2','resourceVersion':'6'}}"

static ki_store *store_of(const char *const *objects)
{
    ki_store *store = NULL;
    assert_int_equal(ki_store_new(NULL, &store, NULL), 0);
    for (; *objects != NULL; objects++) {
        ki_object *object = test_object(NULL, *objects);
        assert_int_equal(ki_store_add(store, object, NULL), 0);
        (void)ki_object_unref(object);
    }
    return store;
}

/* Compares; both end with NULL. */
static demo_check compare(const char *const *server, const char *const *cache)
{
    demo_check check = {0};
    ki_list *list = NULL;
    ki_store *theirs = store_of(server);
    ki_store *mine = store_of(cache);
    ki_snapshot *snapshot = ki_store_snapshot(mine);
    assert_int_equal(ki_store_list(theirs, &list), 0);
    demo_check_compare("pods", list, snapshot, &check);
    (void)ki_list_unref(list);
    (void)ki_snapshot_unref(snapshot);
    (void)ki_store_unref(theirs);
    (void)ki_store_unref(mine);
    return check;
}

static void what_is_equal_is_equal(void **state)
{
    (void)state;
    const char *const both[] = {WEB, SQL, NULL};
    const char *const turned[] = {SQL, WEB, NULL};
    const char *const none[] = {NULL};
    demo_check check = compare(both, turned);
    assert_true(demo_check_is_equal(&check));
    assert_int_equal(check.objects, 2);
    assert_string_equal(check.first, "");
    check = compare(none, none);
    assert_true(demo_check_is_equal(&check));
}

static void what_is_missing_is_seen(void **state)
{
    (void)state;
    const char *const both[] = {WEB, SQL, NULL};
    const char *const one[] = {SQL, NULL};
    demo_check check = compare(both, one);
    assert_false(demo_check_is_equal(&check));
    assert_int_equal(check.missing, 1);
    assert_string_equal(check.first, "pods shop/web: missing in the cache");
}

static void what_is_too_many_is_seen(void **state)
{
    (void)state;
    const char *const both[] = {WEB, SQL, NULL};
    const char *const one[] = {WEB, NULL};
    const char *const none[] = {NULL};
    demo_check check = compare(one, both);
    assert_false(demo_check_is_equal(&check));
    assert_int_equal(check.extra, 1);
    assert_string_equal(check.first, "pods shop/sql: not on the server");
    check = compare(none, both);
    assert_int_equal(check.extra, 2);
}

static void another_object_of_the_name_is_seen(void **state)
{
    (void)state;
    const char *const server[] = {WEB, NULL};
    const char *const cache[] = {
        "{'metadata':{'name':'web','namespace':'shop','uid':'u9','resourceVersion':'5'},'a':1}",
        NULL};
    demo_check check = compare(server, cache);
    assert_false(demo_check_is_equal(&check));
    assert_int_equal(check.replaced, 1);
}

static void another_version_is_seen(void **state)
{
    (void)state;
    const char *const server[] = {WEB, NULL};
    const char *const cache[] = {
        "{'metadata':{'name':'web','namespace':'shop','uid':'u1','resourceVersion':'4'},'a':1}",
        NULL};
    demo_check check = compare(server, cache);
    assert_false(demo_check_is_equal(&check));
    assert_int_equal(check.stale, 1);
}

static void another_content_is_seen_and_named(void **state)
{
    (void)state;
    const char *const server[] = {WEB, NULL};
    const char *const cache[] = {
        "{'metadata':{'name':'web','namespace':'shop','uid':'u1','resourceVersion':'5'},'a':2}",
        NULL};
    demo_check check = compare(server, cache);
    assert_false(demo_check_is_equal(&check));
    assert_int_equal(check.different, 1);
    assert_string_equal(check.first, "pods shop/web: the content differs: a");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_equal_is_equal),
        cmocka_unit_test(what_is_missing_is_seen),
        cmocka_unit_test(what_is_too_many_is_seen),
        cmocka_unit_test(another_object_of_the_name_is_seen),
        cmocka_unit_test(another_version_is_seen),
        cmocka_unit_test(another_content_is_seen_and_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
