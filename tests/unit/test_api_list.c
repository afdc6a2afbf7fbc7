/* SPDX-License-Identifier: Apache-2.0 */
/* GET and LIST: which version is read, as the API concepts of Kubernetes have it in a table; pages
 * and their tokens; selectors. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/api.h"

/* A server that lags: the head is at 6, the server at 4, compacted up to 3.
 * Versions: a@2 b@3 c@4 a@5 d@6. */
static void five_writes(test_api *api, const ki_alloc *alloc, const ki__api_server_options *options)
{
    ki__api_server_options lags = options != NULL ? *options : (ki__api_server_options){0};
    lags.lags = true;
    test_api_init(api, alloc, NULL, &lags);
    test_api_pod(api, "ns", "a", "'x':'1'");
    test_api_pod(api, "ns", "b", "'x':'2'");
    test_api_pod(api, "ns", "c", "'x':'1'");
    if (api->failed == 0) {
        ki__api_server_advance(api->server, 4);
    }
    test_api_call(api, "PATCH", PODS "/a", "{'spec':{'v':2}}");
    test_api_pod(api, "ns", "d", "'x':'2'");
    if (api->failed == 0) {
        ki__api_model_compact(api->model, 3);
    }
}

#define NEWEST "6: a@5 b@3 c@4 d@6"
#define ANY "4: a@2 b@3 c@4"
#define EXACT_3 "3: a@2 b@3"
#define INVALID "422 Invalid"

/* The table of the API concepts: resourceVersion across, limit and match down. Compacted is up to
 * 3, the server has got to 4, the newest is 6. */
static void versions_by_the_table(void **state)
{
    (void)state;
    static const struct {
        const char *query;
        const char *expected;
    } cases[] = {
        /* limit unset */
        {"", NEWEST},
        {"resourceVersion=0", ANY},
        {"resourceVersion=3", ANY},
        {"resourceVersion=4", ANY},
        {"resourceVersionMatch=Exact", INVALID},
        {"resourceVersionMatch=Exact&resourceVersion=0", INVALID},
        {"resourceVersionMatch=Exact&resourceVersion=3", EXACT_3},
        {"resourceVersionMatch=Exact&resourceVersion=6", NEWEST},
        {"resourceVersionMatch=Exact&resourceVersion=2", "410 Expired"},
        {"resourceVersionMatch=Exact&resourceVersion=7", "504 Timeout"},
        {"resourceVersionMatch=NotOlderThan", INVALID},
        {"resourceVersionMatch=NotOlderThan&resourceVersion=0", ANY},
        {"resourceVersionMatch=NotOlderThan&resourceVersion=1", ANY},
        {"resourceVersionMatch=NotOlderThan&resourceVersion=4", ANY},
        /* limit set, large enough for all */
        {"limit=9", NEWEST},
        {"limit=9&resourceVersion=0", ANY},
        {"limit=9&resourceVersion=3", EXACT_3},
        {"limit=9&resourceVersion=2", "410 Expired"},
        {"limit=9&resourceVersion=99", "504 Timeout"},
        {"limit=9&resourceVersionMatch=Exact", INVALID},
        {"limit=9&resourceVersionMatch=Exact&resourceVersion=0", INVALID},
        {"limit=9&resourceVersionMatch=Exact&resourceVersion=3", EXACT_3},
        {"limit=9&resourceVersionMatch=NotOlderThan", INVALID},
        {"limit=9&resourceVersionMatch=NotOlderThan&resourceVersion=0", ANY},
        {"limit=9&resourceVersionMatch=NotOlderThan&resourceVersion=3", ANY},
        /* neither */
        {"resourceVersionMatch=exact&resourceVersion=3", INVALID},
        {"sendInitialEvents=true", INVALID},
        {"resourceVersion=x", "400 BadRequest"},
        {"resourceVersion=-1", "400 BadRequest"},
        {"continue=x", "400 BadRequest"},
        {"continue=x&resourceVersion=5", "400 BadRequest"},
        {"labelSelector=%21%21", "400 BadRequest"},
        {"fieldSelector=%21%21", "400 BadRequest"},
    };
    test_api api;
    five_writes(&api, NULL, NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char target[256];
        char got[256];
        (void)snprintf(target, sizeof(target), ALL_PODS "?%s", cases[i].query);
        test_api_get(&api, target);
        if (api.status == 200) {
            (void)snprintf(got, sizeof(got), "%s: %s",
                           test_api_at(&api, ".metadata.resourceVersion"), test_api_items(&api));
        } else {
            (void)snprintf(got, sizeof(got), "%d %s", api.status, test_api_at(&api, ".reason"));
        }
        if (strcmp(got, cases[i].expected) != 0) {
            fail_msg("%s: %s instead of %s", cases[i].query, got, cases[i].expected);
        }
    }
    test_api_done(&api);
}

static void get_reads_the_newest_any_or_not_older(void **state)
{
    (void)state;
    test_api api;
    five_writes(&api, NULL, NULL);
    test_api_get(&api, PODS "/a");
    assert_string_equal(test_api_at(&api, ".metadata.resourceVersion"), "5");
    test_api_get(&api, PODS "/a?resourceVersion=0");
    assert_string_equal(test_api_at(&api, ".metadata.resourceVersion"), "2");
    test_api_get(&api, PODS "/a?resourceVersion=4");
    assert_string_equal(test_api_at(&api, ".metadata.resourceVersion"), "2");
    test_api_get(&api, PODS "/d?resourceVersion=0");
    assert_status(&api, 404);
    test_api_get(&api, PODS "/d?resourceVersion=x");
    assert_status(&api, 500);
    test_api_done(&api);
}

/* A version that the server has not got to is waited for, three seconds by default. */
static void a_version_to_come_is_waited_for(void **state)
{
    (void)state;
    test_api api;
    five_writes(&api, NULL, NULL);
    ki__api_exchange *x = test_api_open(&api, "GET", PODS "?resourceVersion=5", "");
    ki_buf out;
    ki_buf_init(&out, NULL, SIZE_MAX);
    assert_int_equal(test_api_pull(&api, x, 4096, &out), KI__API_WAIT);
    assert_int_equal(ki__api_exchange_status(x), 0);
    assert_int_equal(ki__api_exchange_deadline(x), UINT64_C(3000000000));
    ki__api_server_advance(api.server, 5);
    assert_int_equal(test_api_pull(&api, x, 4096, &out), KI__API_END);
    assert_int_equal(ki__api_exchange_status(x), 200);
    assert_non_null(strstr(out.data, "\"resourceVersion\":\"5\""));
    ki_buf_done(&out);
    ki__api_exchange_free(x);
    test_api_done(&api);
}

static void a_version_that_does_not_come_is_too_large(void **state)
{
    (void)state;
    static const char *const targets[] = {PODS "?resourceVersion=6", PODS "/a?resourceVersion=6"};
    for (size_t i = 0; i < 2; i++) {
        test_api api;
        five_writes(&api, NULL, NULL);
        ki__api_exchange *x = test_api_open(&api, "GET", targets[i], "");
        assert_int_equal(test_api_pull(&api, x, 4096, &api.body), KI__API_WAIT);
        api.now_ns += UINT64_C(2999999999);
        assert_int_equal(test_api_pull(&api, x, 4096, &api.body), KI__API_WAIT);
        api.now_ns += 1;
        ki_buf_clear(&api.body);
        assert_int_equal(test_api_pull(&api, x, 4096, &api.body), KI__API_END);
        assert_int_equal(ki__api_exchange_status(x), 504);
        assert_int_equal(ki__api_exchange_retry_after(x), 1);
        assert_string_equal(test_api_at(&api, ".reason"), "Timeout");
        assert_string_equal(test_api_at(&api, ".details.causes[0].reason"),
                            "ResourceVersionTooLarge");
        assert_string_equal(test_api_at(&api, ".details.retryAfterSeconds"), "1");
        assert_string_equal(test_api_at(&api, ".message"),
                            "Too large resource version: 6, current: 4");
        ki__api_exchange_free(x);
        test_api_done(&api);
    }
}

/* ---- pages ---- */

static void pages_are_of_one_version(void **state)
{
    (void)state;
    test_api api;
    char target[512];
    test_api_init(&api, NULL, NULL, NULL);
    test_api_pod(&api, "ns", "a", "");
    test_api_pod(&api, "ns", "b", "");
    test_api_pod(&api, "ns", "c", "");
    test_api_get(&api, PODS "?limit=2");
    assert_string_equal(test_api_items(&api), "a@2 b@3");
    assert_string_equal(test_api_at(&api, ".metadata.remainingItemCount"), "1");
    (void)snprintf(target, sizeof(target), PODS "?limit=2&continue=%s",
                   test_api_at(&api, ".metadata.continue"));
    test_api_call(&api, "DELETE", PODS "/c", "");
    test_api_pod(&api, "ns", "d", "");
    test_api_get(&api, target);
    assert_string_equal(test_api_items(&api), "c@4");
    assert_string_equal(test_api_at(&api, ".metadata.resourceVersion"), "4");
    assert_string_equal(test_api_at(&api, ".metadata.continue"), "");
    assert_string_equal(test_api_at(&api, ".metadata.remainingItemCount"), "");
    test_api_done(&api);
}

static void a_token_is_bound_to_its_scope(void **state)
{
    (void)state;
    test_api api;
    char target[512];
    test_api_init(&api, NULL, NULL, NULL);
    test_api_pod(&api, "ns", "a", "");
    test_api_pod(&api, "ns", "b", "");
    test_api_get(&api, PODS "?limit=1");
    (void)snprintf(target, sizeof(target), "/api/v1/namespaces/other/pods?limit=1&continue=%s",
                   test_api_at(&api, ".metadata.continue"));
    test_api_get(&api, target);
    assert_status(&api, 400);
    (void)snprintf(target, sizeof(target), PODS "?limit=1&resourceVersionMatch=Exact&continue=%s",
                   "abc");
    test_api_get(&api, target);
    assert_status(&api, 422);
    test_api_done(&api);
}

static void an_expired_token_says_how_to_continue(void **state)
{
    (void)state;
    test_api api;
    char target[512];
    test_api_init(&api, NULL, NULL, NULL);
    test_api_pod(&api, "ns", "a", "");
    test_api_pod(&api, "ns", "b", "");
    test_api_pod(&api, "ns", "c", "");
    test_api_get(&api, PODS "?limit=1");
    (void)snprintf(target, sizeof(target), PODS "?limit=1&continue=%s",
                   test_api_at(&api, ".metadata.continue"));
    test_api_call(&api, "DELETE", PODS "/b", "");
    ki__api_model_compact(api.model, api.model->head);
    test_api_get(&api, target);
    assert_status(&api, 410);
    assert_string_equal(test_api_at(&api, ".reason"), "Expired");
    (void)snprintf(target, sizeof(target), PODS "?limit=1&continue=%s",
                   test_api_at(&api, ".metadata.continue"));
    test_api_get(&api, target); /* the rest, at another version */
    assert_string_equal(test_api_items(&api), "c@4");
    assert_string_equal(test_api_at(&api, ".metadata.resourceVersion"), "5");
    test_api_done(&api);
}

static void a_server_may_have_no_way_to_continue(void **state)
{
    (void)state;
    test_api api;
    char target[512];
    const ki__api_server_options options = {.no_inconsistent_token = true};
    test_api_init(&api, NULL, NULL, &options);
    test_api_pod(&api, "ns", "a", "");
    test_api_pod(&api, "ns", "b", "");
    test_api_get(&api, PODS "?limit=1");
    (void)snprintf(target, sizeof(target), PODS "?limit=1&continue=%s",
                   test_api_at(&api, ".metadata.continue"));
    test_api_pod(&api, "ns", "c", "");
    ki__api_model_compact(api.model, api.model->head);
    test_api_get(&api, target);
    assert_status(&api, 410);
    assert_string_equal(test_api_at(&api, ".metadata.continue"), "");
    test_api_done(&api);
}

/* The watch cache answers "0" with all it has; without a cache it comes in pages. */
static void any_version_ignores_the_limit_unless_there_is_no_cache(void **state)
{
    (void)state;
    for (int no_cache = 0; no_cache <= 1; no_cache++) {
        test_api api;
        const ki__api_server_options options = {.no_cache = no_cache != 0};
        test_api_init(&api, NULL, NULL, &options);
        test_api_pod(&api, "ns", "a", "");
        test_api_pod(&api, "ns", "b", "");
        test_api_get(&api, PODS "?limit=1&resourceVersion=0");
        assert_string_equal(test_api_items(&api), no_cache != 0 ? "a@2" : "a@2 b@3");
        test_api_done(&api);
    }
}

static void the_order_is_by_bytes_of_the_key(void **state)
{
    (void)state;
    test_api api;
    test_api_init(&api, NULL, NULL, NULL);
    test_api_pod(&api, "a", "z", "");
    test_api_pod(&api, "a-b", "y", "");
    test_api_pod(&api, "a", "b", "");
    test_api_get(&api, ALL_PODS);
    assert_string_equal(test_api_items(&api), "y@3 b@4 z@2");
    test_api_get(&api, "/api/v1/namespaces/a/pods");
    assert_string_equal(test_api_items(&api), "b@4 z@2");
    test_api_done(&api);
}

/* ---- selectors ---- */

static void selectors_choose_items(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"labelSelector=x%3D1", "a@2 c@4"},
        {"labelSelector=x+notin+%281%29", "b@3"},
        {"fieldSelector=metadata.name%3Db", "b@3"},
        {"fieldSelector=metadata.namespace%21%3Dns", ""},
        {"fieldSelector=spec.nodeName%3Dn1,metadata.name%21%3Da", "b@3 c@4"},
        {"labelSelector=x%3D1&fieldSelector=metadata.name%3Dc", "c@4"},
        {"labelSelector=&fieldSelector=", "a@2 b@3 c@4"},
    };
    test_api api;
    test_api_init(&api, NULL, NULL, NULL);
    test_api_pod(&api, "ns", "a", "'x':'1'");
    test_api_pod(&api, "ns", "b", "'x':'2'");
    test_api_pod(&api, "ns", "c", "'x':'1'");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char target[256];
        (void)snprintf(target, sizeof(target), PODS "?%s", cases[i][0]);
        test_api_get(&api, target);
        assert_status(&api, 200);
        assert_string_equal(test_api_items(&api), cases[i][1]);
    }
    /* With a selector nobody counts what remains, and a page may have nothing after it. */
    test_api_get(&api, PODS "?labelSelector=x%3D2&limit=1");
    assert_string_equal(test_api_items(&api), "b@3");
    assert_string_equal(test_api_at(&api, ".metadata.remainingItemCount"), "");
    assert_true(test_api_at(&api, ".metadata.continue")[0] != '\0');
    test_api_done(&api);
}

/* ---- bytes ---- */

static void a_list_is_what_a_server_sends(void **state)
{
    (void)state;
    test_api api;
    test_api_init(&api, NULL, NULL, NULL);
    test_api_get(&api, PODS);
    assert_string_equal(ki_buf_text(&api.body),
                        "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":"
                        "{\"resourceVersion\":\"1\"},\"items\":[]}\n");
    test_api_pod(&api, "ns", "a", "");
    test_api_get(&api, PODS); /* items of built-in resources come without their kind */
    assert_string_equal(test_api_at(&api, ".items[0].kind"), "");
    assert_string_equal(test_api_at(&api, ".items[0].metadata.name"), "a");
    test_api_done(&api);
}

static void pieces_of_any_size_make_the_same_list(void **state)
{
    (void)state;
    test_api api;
    test_api_init(&api, NULL, NULL, NULL);
    for (int i = 0; i < 200; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "p%03d", i);
        test_api_pod(&api, "ns", name, "");
    }
    test_api_get(&api, PODS);
    for (size_t piece = 1; piece < 70000; piece = piece * 3 + 1) {
        ki_buf out;
        ki_buf_init(&out, NULL, SIZE_MAX);
        ki__api_exchange *x = test_api_open(&api, "GET", PODS, "");
        assert_int_equal(test_api_pull(&api, x, piece, &out), KI__API_END);
        ki_str bytes;
        assert_int_equal(ki__api_exchange_next(x, 1, &bytes), KI__API_END); /* and stays so */
        assert_true(ki_str_eq(ki_buf_str(&out), ki_buf_str(&api.body)));
        ki__api_exchange_free(x);
        ki_buf_done(&out);
    }
    test_api_done(&api);
}

static void a_list_does_not_change_while_it_is_pulled(void **state)
{
    (void)state;
    test_api api;
    ki_str bytes;
    test_api_init(&api, NULL, NULL, NULL);
    test_api_pod(&api, "ns", "a", "");
    test_api_pod(&api, "ns", "b", "");
    ki__api_exchange *x = test_api_open(&api, "GET", PODS, "");
    ki_buf out;
    ki_buf_init(&out, NULL, SIZE_MAX);
    assert_int_equal(ki__api_exchange_next(x, 1, &bytes), KI__API_DATA);
    assert_int_equal(ki_buf_add_str(&out, bytes), 0);
    test_api_call(&api, "DELETE", PODS "/b", "");
    ki__api_model_compact(api.model, api.model->head);
    assert_int_equal(test_api_pull(&api, x, 100, &out), KI__API_END);
    ki_buf_clear(&api.body);
    assert_int_equal(ki_buf_add_str(&api.body, ki_buf_str(&out)), 0);
    assert_string_equal(test_api_items(&api), "a@2 b@3");
    ki_buf_done(&out);
    ki__api_exchange_free(x);
    test_api_done(&api);
}

static void accept_chooses_or_refuses(void **state)
{
    (void)state;
    static const struct {
        const char *accept;
        int status;
    } cases[] = {
        {"application/json", 200},
        {"*/*", 200},
        {"text/html, application/json;q=0.9", 200},
        {"application/json;as=Table;v=v1;g=meta.k8s.io, application/json", 200},
        {"application/json;as=Table;v=v1;g=meta.k8s.io", 200},
        {"application/json;as=Chair;v=v1;g=meta.k8s.io", 406},
        {"application/json;as=Table;v=v1alpha1;g=meta.k8s.io", 406},
        {"application/json;q=0", 406},
        {"application/yaml", 406},
        {" ", 200},
        {",;,=;", 406},
    };
    test_api api;
    test_api_init(&api, NULL, NULL, NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        api.accept = cases[i].accept;
        test_api_get(&api, PODS);
        assert_status(&api, cases[i].status);
    }
    test_api_done(&api);
}

/* ---- memory ---- */

static int some_lists(const ki_alloc *alloc, void *user)
{
    (void)user;
    test_api api;
    five_writes(&api, alloc, NULL);
    test_api_get(&api, PODS "?labelSelector=x%3D1&fieldSelector=metadata.name%3Da");
    test_api_get(&api, PODS "?limit=1");
    char target[1024];
    (void)snprintf(target, sizeof(target), PODS "?limit=1&continue=%s",
                   test_api_at(&api, ".metadata.continue"));
    test_api_get(&api, target);
    if (api.failed == 0) {
        ki__api_model_compact(api.model, api.model->head);
        ki__api_model_skip(api.model, 1);
        ki__api_model_compact(api.model, api.model->head);
    }
    test_api_get(&api, target);
    ki__api_exchange *x = test_api_open(&api, "GET", PODS "?resourceVersion=6", "");
    if (x != NULL) {
        (void)test_api_pull(&api, x, 100, &api.body);
        api.now_ns += UINT64_C(9000000000);
        (void)test_api_pull(&api, x, 100, &api.body);
    }
    ki__api_exchange_free(x);
    int r = api.failed;
    test_api_done(&api);
    return r;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    test_alloc_sweep(some_lists, NULL);
}

/* A pull that failed because memory ran out resumes where it was. */
static void a_failed_pull_resumes(void **state)
{
    (void)state;
    for (uint64_t n = 1; n < 30; n++) {
        test_alloc alloc;
        test_api api;
        test_alloc_init(&alloc);
        test_api_init(&api, &alloc.table, NULL, NULL);
        for (int i = 0; i < 100; i++) {
            char name[16];
            (void)snprintf(name, sizeof(name), "p%03d", i);
            test_api_pod(&api, "ns", name, "");
        }
        test_api_get(&api, PODS);
        ki_buf out;
        ki_buf_init(&out, NULL, SIZE_MAX);
        ki__api_exchange *x = test_api_open(&api, "GET", PODS, "");
        alloc.fail_at = alloc.calls + n;
        int r = test_api_pull(&api, x, 4096, &out);
        alloc.fail_at = 0;
        if (r < 0) {
            r = test_api_pull(&api, x, 4096, &out);
        }
        assert_int_equal(r, KI__API_END);
        assert_true(ki_str_eq(ki_buf_str(&out), ki_buf_str(&api.body)));
        ki__api_exchange_free(x);
        ki_buf_done(&out);
        test_api_done(&api);
        test_alloc_done(&alloc);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_by_the_table),
        cmocka_unit_test(get_reads_the_newest_any_or_not_older),
        cmocka_unit_test(a_version_to_come_is_waited_for),
        cmocka_unit_test(a_version_that_does_not_come_is_too_large),
        cmocka_unit_test(pages_are_of_one_version),
        cmocka_unit_test(a_token_is_bound_to_its_scope),
        cmocka_unit_test(an_expired_token_says_how_to_continue),
        cmocka_unit_test(a_server_may_have_no_way_to_continue),
        cmocka_unit_test(any_version_ignores_the_limit_unless_there_is_no_cache),
        cmocka_unit_test(the_order_is_by_bytes_of_the_key),
        cmocka_unit_test(selectors_choose_items),
        cmocka_unit_test(a_list_is_what_a_server_sends),
        cmocka_unit_test(pieces_of_any_size_make_the_same_list),
        cmocka_unit_test(a_list_does_not_change_while_it_is_pulled),
        cmocka_unit_test(accept_chooses_or_refuses),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_failed_pull_resumes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
