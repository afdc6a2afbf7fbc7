/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "apiserver/route.h"
#include "support/test.h"

static ki__api_failure failure;

/* The route of a valid target. */
static ki__api_route good(const char *target)
{
    ki__api_route route;
    ki__api_failure_init(&failure, NULL);
    assert_int_equal(ki__api_route_init(&route, ki_str_from(target), ki_alloc_default(), &failure),
                     0);
    if (failure.code != 0) {
        fail_msg("%s: %d: %s", target, failure.code, ki_buf_text(&failure.message));
    }
    ki__api_failure_done(&failure);
    return route;
}

static int bad_view(ki_str target)
{
    ki__api_route route;
    ki__api_failure_init(&failure, NULL);
    assert_int_equal(ki__api_route_init(&route, target, ki_alloc_default(), &failure), 0);
    ki__api_route_done(&route);
    ki__api_failure_done(&failure);
    return failure.code;
}

static int bad(const char *target)
{
    return bad_view(ki_str_from(target));
}

static void paths_of_resources_are_taken_apart(void **state)
{
    (void)state;
    static const struct {
        const char *target;
        const char *group, *version, *name_space, *resource, *name, *subresource;
    } cases[] = {
        {"/api/v1/pods", "", "v1", "", "pods", "", ""},
        {"/api/v1/namespaces/a/pods", "", "v1", "a", "pods", "", ""},
        {"/api/v1/namespaces/a/pods/b", "", "v1", "a", "pods", "b", ""},
        {"/api/v1/namespaces/a/pods/b/status", "", "v1", "a", "pods", "b", "status"},
        {"/api/v1/namespaces", "", "v1", "", "namespaces", "", ""},
        {"/api/v1/namespaces/a", "", "v1", "", "namespaces", "a", ""},
        {"/api/v1/namespaces/a/status", "", "v1", "", "namespaces", "a", "status"},
        {"/api/v1/nodes/n%2d1", "", "v1", "", "nodes", "n-1", ""},
        {"/apis/apps/v1/deployments", "apps", "v1", "", "deployments", "", ""},
        {"/apis/a.b/v1/namespaces/x/ws/y/scale", "a.b", "v1", "x", "ws", "y", "scale"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki__api_route route = good(cases[i].target);
        assert_true(route.is_resource);
        assert_string_equal(route.group, cases[i].group);
        assert_string_equal(route.version, cases[i].version);
        assert_string_equal(route.name_space, cases[i].name_space);
        assert_string_equal(route.resource, cases[i].resource);
        assert_string_equal(route.name, cases[i].name);
        assert_string_equal(route.subresource, cases[i].subresource);
        ki__api_route_done(&route);
    }
}

static void other_paths_are_left_to_others(void **state)
{
    (void)state;
    static const char *const targets[] = {
        "/",
        "/api",
        "/api/v1",
        "/apis/apps/v1",
        "/version",
        "/api/v1/",
        "/healthz?",
        "//api/v1/pods",
        "/api/v1//pods",
        "nothing",
        "/apis/apps",
        "/api/v1/namespaces/a/pods/b/status/x",
    };
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
        ki__api_route route = good(targets[i]);
        assert_false(route.is_resource);
        assert_int_equal(strncmp(route.path, targets[i], strlen(route.path)), 0);
        ki__api_route_done(&route);
    }
}

static void the_query_is_decoded(void **state)
{
    (void)state;
    ki__api_route route =
        good("/api/v1/pods?watch=1&labelSelector=app%3Dweb%2Ctier+in+%28a%29&fieldSelector=a%3db"
             "&resourceVersion=5&resourceVersionMatch=Exact&limit=10&continue=abc&unknown=%20"
             "&timeoutSeconds=-3&allowWatchBookmarks=TRUE&sendInitialEvents=false&dryRun=All&&x");
    assert_true(route.watch && route.bookmarks);
    assert_int_equal(route.send_initial, KI__API_FALSE);
    assert_string_equal(route.labels, "app=web,tier in (a)");
    assert_string_equal(route.fields, "a=b");
    assert_string_equal(route.rv, "5");
    assert_string_equal(route.rv_match, "Exact");
    assert_string_equal(route.token, "abc");
    assert_string_equal(route.dry_run, "All");
    assert_int_equal(route.limit, 10);
    assert_int_equal(route.timeout_s, -3);
    ki__api_route_done(&route);
}

/* As servers convert them: only "false" and "0" are false. */
static void booleans_are_true_unless_they_say_no(void **state)
{
    (void)state;
    static const struct {
        const char *query;
        bool watch;
    } cases[] = {
        {"?watch", true},
        {"?watch=", true},
        {"?watch=yes", true},
        {"?watch=0", false},
        {"?watch=False", false},
        {"?watch=falsex", true},
        {"?watch=0&watch=1", false},
        {"?x=1", false},
        {"", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char target[64];
        (void)snprintf(target, sizeof(target), "/api/v1/pods%s", cases[i].query);
        ki__api_route route = good(target);
        assert_int_equal(route.watch, cases[i].watch);
        assert_int_equal(route.send_initial, KI__API_UNSET);
        ki__api_route_done(&route);
    }
}

static void bad_targets_get_an_answer(void **state)
{
    (void)state;
    static const char *const targets[] = {
        "",
        "/api/v1/pods/%",
        "/api/v1/pods/%2",
        "/api/v1/pods/%zz",
        "/api/v1/pods/a%00b",
        "/api/v1/pods/a%2fb",
        "/api/v1/namespaces/a%2Fb/pods",
        "/api/v1/pods?watch=%",
        "/api/v1/pods?a=%00",
        "/api/v1/pods?limit=ten",
        "/api/v1/pods?limit=9223372036854775808",
        "/api/v1/pods?timeoutSeconds=1.5",
    };
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
        assert_int_equal(bad(targets[i]), 400);
    }
    assert_int_equal(bad_view(ki_str_make("/api\0/x", 7)), 400);
}

static void long_targets_are_refused(void **state)
{
    (void)state;
    ki_buf target;
    ki_buf_init(&target, NULL, SIZE_MAX);
    test_add(&target, "/api/v1/pods?", 1);
    test_add(&target, "a=b&", KI__API_PARAMETERS_MAX - 1);
    test_add(&target, "a=b", 1);
    ki__api_route route = good(target.data);
    ki__api_route_done(&route);
    test_add(&target, "&a", 1);
    assert_int_equal(bad(target.data), 400);
    test_add(&target, "a", KI__API_TARGET_MAX);
    assert_int_equal(bad(target.data), 414);
    ki_buf_done(&target);
}

/* Whatever comes, it ends, and nothing is read beyond the target. */
static void random_targets_do_no_harm(void **state)
{
    (void)state;
    static const char letters[] = "/?&=%+a0namespaces.v1api\xff";
    uint64_t random = 11;
    size_t resources = 0;
    for (int i = 0; i < 20000; i++) {
        char target[64] = "/api/v1/";
        size_t len = 8 * (test_random(&random) % 2);
        size_t end = len + test_random(&random) % 40;
        for (; len < end; len++) {
            target[len] = letters[test_random(&random) % (sizeof(letters) - 1)];
        }
        ki__api_route route;
        ki__api_failure_init(&failure, NULL);
        assert_int_equal(
            ki__api_route_init(&route, ki_str_make(target, len), ki_alloc_default(), &failure), 0);
        resources += failure.code == 0 && route.is_resource ? 1 : 0;
        ki__api_route_done(&route);
        ki__api_failure_done(&failure);
    }
    assert_true(resources > 100);
}

static int one_route(const ki_alloc *alloc, void *user)
{
    ki__api_route route;
    ki__api_failure own;
    ki__api_failure_init(&own, alloc);
    int r = ki__api_route_init(&route, ki_str_from(user), alloc, &own);
    ki__api_route_done(&route);
    ki__api_failure_done(&own);
    return r;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    char fine[] = "/api/v1/pods?limit=5";
    char wrong[] = "/api/v1/pods?limit=x";
    test_alloc_sweep(one_route, fine);
    test_alloc_sweep(one_route, wrong);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_of_resources_are_taken_apart),
        cmocka_unit_test(other_paths_are_left_to_others),
        cmocka_unit_test(the_query_is_decoded),
        cmocka_unit_test(booleans_are_true_unless_they_say_no),
        cmocka_unit_test(bad_targets_get_an_answer),
        cmocka_unit_test(long_targets_are_refused),
        cmocka_unit_test(random_targets_do_no_harm),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
