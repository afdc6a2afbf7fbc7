/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of the dependents of objects that are deleted. */
#include <stdio.h>
#include <string.h>

#include "apiserver/verbs/garbage.h"
#include "support/api.h"

#define MAPS "/api/v1/namespaces/ns/configmaps"
#define NODES "/api/v1/nodes"

typedef struct owner {
    const char *name;
    const char *kind;
    char uid[64];
} owner;

static const ki__api_model_options collecting = {.collects_garbage = true};

static void start(test_api *api, const ki_alloc *alloc)
{
    test_api_init(api, alloc, &collecting, NULL);
}

/* Makes a map that up to two others own; NULL: none. `more` is further metadata. */
static owner make(test_api *api, const char *name, const owner *a, const owner *b, const char *more)
{
    char body[1024];
    char references[600] = "";
    const owner *owners[] = {a, b};
    for (size_t i = 0; i < 2; i++) {
        if (owners[i] != NULL) {
            size_t len = strlen(references);
            (void)snprintf(references + len, sizeof(references) - len,
                           "%s{'apiVersion':'v1','kind':'%s','name':'%s','uid':'%s',"
                           "'blockOwnerDeletion':true}",
                           len != 0 ? "," : "", owners[i]->kind, owners[i]->name, owners[i]->uid);
        }
    }
    (void)snprintf(body, sizeof(body), "{'metadata':{'name':'%s','ownerReferences':[%s]%s}}", name,
                   references, more);
    owner made = {name, "ConfigMap", ""};
    test_api_call(api, "POST", MAPS, body);
    if (api->failed == 0) {
        assert_status(api, 201);
        (void)snprintf(made.uid, sizeof(made.uid), "%s", test_api_at(api, ".metadata.uid"));
    }
    return made;
}

static void remove_map(test_api *api, const char *name, const char *query)
{
    char target[256];
    (void)snprintf(target, sizeof(target), MAPS "/%s%s", name, query);
    test_api_call(api, "DELETE", target, "");
    if (api->failed == 0) {
        assert_status(api, 200);
    }
}

/* The names of the maps that are there. */
static const char *maps(test_api *api)
{
    static char names[512];
    test_api_get(api, MAPS);
    names[0] = '\0';
    const char *items = test_api_items(api);
    for (const char *p = items; *p != '\0';) { /* without the versions */
        size_t len = strcspn(p, "@");
        (void)snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%.*s",
                       names[0] != '\0' ? " " : "", (int)len, p);
        p += len + strcspn(p + len, " ");
        p += *p == ' ' ? 1 : 0;
    }
    return names;
}

static void dependents_follow_in_the_background(void **state)
{
    (void)state;
    test_api api;
    start(&api, NULL);
    owner a = make(&api, "a", NULL, NULL, "");
    owner b = make(&api, "b", &a, NULL, "");
    owner c = make(&api, "c", &b, NULL, "");
    owner d = make(&api, "d", NULL, NULL, "");
    make(&api, "e", &a, &d, "");
    make(&api, "f", &c, NULL, ",'finalizers':['x/y']");
    ki__api_exchange *x = test_api_open(&api, "GET", MAPS "?watch=1&resourceVersion=7", "");
    remove_map(&api, "a", "");
    assert_string_equal(test_api_at(&api, ".status"), "Success");
    /* Each in a write of its own; the one with another owner stays, and so does, for a while, the
     * one with a finalizer. */
    assert_string_equal(test_api_events(&api, x), "DELETED ns/a@8 MODIFIED ns/e@9 DELETED ns/b@10 "
                                                  "DELETED ns/c@11 MODIFIED ns/f@12");
    ki__api_exchange_free(x);
    assert_string_equal(maps(&api), "d e f");
    test_api_get(&api, MAPS "/e");
    assert_string_equal(test_api_at(&api, ".metadata.ownerReferences[0].uid"), d.uid);
    assert_string_equal(test_api_at(&api, ".metadata.ownerReferences[1].uid"), "");
    test_api_call(&api, "PATCH", MAPS "/f", "{'metadata':{'finalizers':null}}");
    remove_map(&api, "d", "?propagationPolicy=Background");
    assert_string_equal(maps(&api), "");
    test_api_done(&api);
}

static void an_owner_in_the_foreground_waits(void **state)
{
    (void)state;
    test_api api;
    start(&api, NULL);
    owner a = make(&api, "a", NULL, NULL, "");
    owner b = make(&api, "b", &a, NULL, "");
    make(&api, "c", &b, NULL, ",'finalizers':['x/y']");
    make(&api, "d", &a, NULL, "");
    remove_map(&api, "a", "?propagationPolicy=Foreground");
    assert_string_equal(test_api_at(&api, ".metadata.finalizers[0]"), "foregroundDeletion");
    assert_string_equal(test_api_at(&api, ".metadata.deletionTimestamp"), "2023-11-14T22:13:20Z");
    assert_string_equal(maps(&api), "a b c");
    test_api_get(&api, MAPS "/b");
    assert_string_equal(test_api_at(&api, ".metadata.finalizers[0]"), "foregroundDeletion");
    ki__api_exchange *x = test_api_open(&api, "GET", MAPS "?watch=1", "");
    test_api_events(&api, x);
    test_api_call(&api, "PATCH", MAPS "/c", "{'metadata':{'finalizers':null}}");
    /* From the bottom to the top. */
    assert_non_null(strstr(test_api_events(&api, x), "DELETED ns/c@"));
    ki__api_exchange_free(x);
    assert_string_equal(maps(&api), "");
    test_api_done(&api);
}

static void circles_end(void **state)
{
    (void)state;
    test_api api;
    char patch[512];
    start(&api, NULL);
    owner a = make(&api, "a", NULL, NULL, "");
    owner b = make(&api, "b", &a, NULL, "");
    (void)snprintf(patch, sizeof(patch),
                   "{'metadata':{'ownerReferences':[{'apiVersion':'v1','kind':'ConfigMap','name':"
                   "'b','uid':'%s','blockOwnerDeletion':true}]}}",
                   b.uid);
    test_api_call(&api, "PATCH", MAPS "/a", patch);
    remove_map(&api, "a", "?propagationPolicy=Foreground");
    assert_string_equal(maps(&api), "");
    test_api_done(&api);
}

static void orphans_stay(void **state)
{
    static const char *const queries[] = {"?propagationPolicy=Orphan", "?orphanDependents=true"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        test_api api;
        start(&api, NULL);
        owner a = make(&api, "a", NULL, NULL, "");
        make(&api, "b", &a, NULL, "");
        make(&api, "c", &a, NULL, "");
        remove_map(&api, "a", queries[i]);
        assert_string_equal(test_api_at(&api, ".metadata.finalizers[0]"), "orphan");
        assert_string_equal(maps(&api), "b c");
        test_api_get(&api, MAPS "/b");
        assert_string_equal(test_api_at(&api, ".metadata.ownerReferences"), "");
        test_api_done(&api);
    }
}

static void policies_come_in_the_body_too(void **state)
{
    static const struct {
        const char *query;
        const char *body;
        int status;
        const char *left;
    } cases[] = {
        {"", "{'propagationPolicy':'Orphan'}", 200, "b"},
        {"", "{'orphanDependents':true}", 200, "b"},
        {"", "{'orphanDependents':false}", 200, ""},
        {"", "{'propagationPolicy':'Background'}", 200, ""},
        {"?propagationPolicy=Orphan", "{'propagationPolicy':'Background'}", 200, ""},
        {"", "{'propagationPolicy':'Upwards'}", 422, "a b"},
        {"?propagationPolicy=Upwards", "", 422, "a b"},
        {"", "{'propagationPolicy':'Orphan','orphanDependents':true}", 422, "a b"},
        {"?dryRun=All", "", 200, "a b"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        test_api api;
        char target[256];
        start(&api, NULL);
        owner a = make(&api, "a", NULL, NULL, "");
        make(&api, "b", &a, NULL, "");
        (void)snprintf(target, sizeof(target), MAPS "/a%s", cases[i].query);
        test_api_call(&api, "DELETE", target, cases[i].body);
        assert_status(&api, cases[i].status);
        assert_string_equal(maps(&api), cases[i].left);
        test_api_done(&api);
    }
}

static void cluster_scoped_owners_count(void **state)
{
    (void)state;
    test_api api;
    start(&api, NULL);
    test_api_call(&api, "POST", NODES, "{'metadata':{'name':'n'}}");
    owner node = {"n", "Node", ""};
    (void)snprintf(node.uid, sizeof(node.uid), "%s", test_api_at(&api, ".metadata.uid"));
    make(&api, "a", &node, NULL, "");
    test_api_call(&api, "DELETE", NODES "/n", "");
    assert_string_equal(maps(&api), "");
    test_api_done(&api);
}

static void owners_are_known_by_their_uid(void **state)
{
    (void)state;
    test_api api;
    start(&api, NULL);
    owner never = {"never", "ConfigMap", "11111111-2222-3333-4444-555555555555"};
    make(&api, "kept", &never, NULL, ""); /* its owner was never here */
    owner a = make(&api, "a", NULL, NULL, "");
    remove_map(&api, "a", "");
    make(&api, "a", NULL, NULL, "");
    make(&api, "late", &a, NULL, ""); /* its owner was, and is another one now */
    assert_string_equal(maps(&api), "a kept");
    test_api_done(&api);
}

static void without_it_nothing_happens(void **state)
{
    (void)state;
    test_api api;
    test_api_init(&api, NULL, NULL, NULL);
    owner a = make(&api, "a", NULL, NULL, "");
    make(&api, "b", &a, NULL, "");
    remove_map(&api, "a", "?propagationPolicy=Foreground");
    assert_string_equal(maps(&api), "a b");
    remove_map(&api, "a", "?propagationPolicy=Background");
    assert_string_equal(maps(&api), "b");
    test_api_done(&api);
}

static void a_large_family_goes_step_by_step(void **state)
{
    enum { CHILDREN = 2500 };
    (void)state;
    test_api api;
    char name[32];
    start(&api, NULL);
    owner a = make(&api, "a", NULL, NULL, "");
    for (int i = 0; i < CHILDREN; i++) {
        (void)snprintf(name, sizeof(name), "child-%d", i);
        make(&api, name, &a, NULL, "");
    }
    remove_map(&api, "a", "");
    assert_true(api.model->objects > 0 && api.model->objects <= CHILDREN - 999);
    for (int i = 0; i < 5 && api.model->objects != 0; i++) {
        test_api_get(&api, MAPS "?limit=1");
    }
    assert_int_equal(api.model->objects, 0);
    assert_false(ki__garbage_is_pending(api.model->garbage));
    test_api_done(&api);
}

static void a_restored_past_has_its_owners(void **state)
{
    (void)state;
    test_api api;
    start(&api, NULL);
    owner a = make(&api, "a", NULL, NULL, "");
    make(&api, "b", &a, NULL, "");
    uint64_t past = api.model->head;
    remove_map(&api, "a", "");
    assert_int_equal(ki__api_model_restore(api.model, past), 0);
    assert_string_equal(maps(&api), "a b");
    remove_map(&api, "a", "");
    assert_string_equal(maps(&api), "");
    test_api_done(&api);
}

static int scenario(const ki_alloc *alloc, void *user)
{
    test_api api;
    (void)user;
    start(&api, alloc);
    if (api.failed == 0) {
        owner a = make(&api, "a", NULL, NULL, "");
        owner b = make(&api, "b", &a, NULL, "");
        owner c = make(&api, "c", NULL, NULL, "");
        make(&api, "d", &b, &c, "");
        make(&api, "e", &b, NULL, "");
        remove_map(&api, "a", "?propagationPolicy=Foreground");
        remove_map(&api, "c", "?propagationPolicy=Orphan");
        test_api_get(&api, MAPS);
    }
    int r = api.failed;
    test_api_done(&api);
    return r;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    test_alloc_sweep(scenario, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dependents_follow_in_the_background),
        cmocka_unit_test(an_owner_in_the_foreground_waits),
        cmocka_unit_test(circles_end),
        cmocka_unit_test(orphans_stay),
        cmocka_unit_test(policies_come_in_the_body_too),
        cmocka_unit_test(cluster_scoped_owners_count),
        cmocka_unit_test(owners_are_known_by_their_uid),
        cmocka_unit_test(without_it_nothing_happens),
        cmocka_unit_test(a_large_family_goes_step_by_step),
        cmocka_unit_test(a_restored_past_has_its_owners),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
