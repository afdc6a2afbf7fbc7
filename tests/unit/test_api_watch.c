/* SPDX-License-Identifier: Apache-2.0 */
/* WATCH: where it begins, what selectors make of changes, bookmarks, timeouts, streaming lists and
 * the ways it fails. */
#include <stdio.h>
#include <string.h>

#include "support/api.h"

#define SECOND UINT64_C(1000000000)
#define STREAM "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"

static ki__api_exchange *watch(test_api *api, const char *query)
{
    char target[512];
    (void)snprintf(target, sizeof(target), PODS "?watch=1%s", query);
    return test_api_open(api, "GET", target, "");
}

static void check(test_api *api, const char *query, const char *events)
{
    ki__api_exchange *x = watch(api, query);
    assert_string_equal(test_api_events(api, x), events);
    assert_int_equal(ki__api_exchange_status(x), 200);
    ki__api_exchange_free(x);
}

/* ---- where it begins ---- */

static void a_watch_sends_the_changes_after_its_version(void **state)
{
    (void)state;
    test_api api;
    test_api_init(&api, NULL, NULL, NULL);
    test_api_pod(&api, "ns", "a", "");
    ki__api_exchange *x = watch(&api, "&resourceVersion=2");
    assert_string_equal(test_api_events(&api, x), "");
    test_api_pod(&api, "ns", "b", "");
    test_api_pod(&api, "other", "c", "");
    test_api_call(&api, "PATCH", PODS "/a", "{'spec':{'v':1}}");
    test_api_call(&api, "DELETE", PODS "/a", "");
    assert_string_equal(test_api_events(&api, x), "ADDED ns/b@3 MODIFIED ns/a@5 DELETED ns/a@6");
    assert_string_equal(test_api_events(&api, x), "");
    ki__api_exchange_free(x);
    check(&api, "&resourceVersion=4", "MODIFIED ns/a@5 DELETED ns/a@6");
    check(&api, "&resourceVersion=6", "");
    test_api_done(&api);
}

static void without_a_version_a_watch_begins_with_what_there_is(void **state)
{
    (void)state;
    test_api api;
    const ki__api_server_options options = {.lags = true};
    test_api_init(&api, NULL, NULL, &options);
    test_api_pod(&api, "ns", "b", "");
    test_api_pod(&api, "ns", "a", "");
    ki__api_server_advance(api.server, 3);
    test_api_pod(&api, "ns", "c", "");
    check(&api, "", "ADDED ns/a@3 ADDED ns/b@2 ADDED ns/c@4");      /* the newest */
    check(&api, "&resourceVersion=0", "ADDED ns/a@3 ADDED ns/b@2"); /* what the server has */
    const char *none = "&sendInitialEvents=false&resourceVersionMatch=NotOlderThan";
    char query[256];
    check(&api, none, "");
    (void)snprintf(query, sizeof(query), "%s&resourceVersion=2", none);
    check(&api, query, "ADDED ns/a@3");
    test_api_done(&api);
}

/* A client that was at a newer server gets nothing that it has seen already. */
static void a_version_ahead_of_the_server_is_no_error(void **state)
{
    (void)state;
    test_api api;
    const ki__api_server_options options = {.lags = true, .bookmark_ms = 1000};
    test_api_init(&api, NULL, NULL, &options);
    test_api_pod(&api, "ns", "a", "");
    test_api_pod(&api, "ns", "b", "");
    test_api_pod(&api, "ns", "c", "");
    ki__api_exchange *x = watch(&api, "&resourceVersion=3&allowWatchBookmarks=1");
    ki__api_exchange *future = watch(&api, "&resourceVersion=100");
    ki__api_server_advance(api.server, 2);
    api.now_ns += SECOND;
    assert_string_equal(test_api_events(&api, x), ""); /* nor a bookmark that leads back */
    ki__api_server_advance(api.server, 4);
    api.now_ns += SECOND;
    assert_string_equal(test_api_events(&api, x), "ADDED ns/c@4 BOOKMARK @4");
    assert_string_equal(test_api_events(&api, future), "");
    ki__api_exchange_free(x);
    ki__api_exchange_free(future);
    test_api_done(&api);
}

static void a_version_before_the_history_is_expired(void **state)
{
    (void)state;
    for (int as_answer = 0; as_answer <= 1; as_answer++) {
        test_api api;
        const ki__api_server_options options = {.expired_as_response = as_answer != 0};
        test_api_init(&api, NULL, NULL, &options);
        test_api_pod(&api, "ns", "a", "");
        test_api_pod(&api, "ns", "b", "");
        ki__api_model_compact(api.model, 2);
        check(&api, "&resourceVersion=2", "ADDED ns/b@3");
        if (as_answer == 0) {
            check(&api, "&resourceVersion=1", "ERROR 410 end");
        } else {
            test_api_get(&api, PODS "?watch=1&resourceVersion=1");
            assert_status(&api, 410);
            assert_string_equal(test_api_at(&api, ".reason"), "Expired");
        }
        test_api_done(&api);
    }
}

static void a_server_has_a_window_of_its_own(void **state)
{
    (void)state;
    test_api api;
    const ki__api_server_options options = {.window = 2};
    test_api_init(&api, NULL, NULL, &options);
    test_api_pod(&api, "ns", "a", "");
    test_api_pod(&api, "ns", "b", "");
    check(&api, "&resourceVersion=1", "ADDED ns/a@2 ADDED ns/b@3");
    test_api_pod(&api, "ns", "c", "");
    check(&api, "&resourceVersion=1", "ERROR 410 end");
    check(&api, "&resourceVersion=2", "ADDED ns/b@3 ADDED ns/c@4");
    ki__api_server_expire(api.server);
    check(&api, "&resourceVersion=3", "ERROR 410 end");
    check(&api, "&resourceVersion=4", "");
    test_api_done(&api);
}

static void bad_combinations_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *query;
        int status;
        const char *field;
    } cases[] = {
        {"&resourceVersionMatch=NotOlderThan&resourceVersion=1", 422, "resourceVersionMatch"},
        {"&resourceVersionMatch=Exact&resourceVersion=1", 422, "resourceVersionMatch"},
        {"&sendInitialEvents=true", 422, "resourceVersionMatch"},
        {"&sendInitialEvents=true&resourceVersionMatch=Exact&resourceVersion=1", 422,
         "resourceVersionMatch"},
        {"&sendInitialEvents=1&resourceVersionMatch=NotOlderThan&continue=x", 422,
         "resourceVersionMatch"},
        {"&resourceVersion=x", 500, ""},
        {"&labelSelector=%21", 400, ""},
        {"&timeoutSeconds=x", 400, ""},
    };
    test_api api;
    test_api_init(&api, NULL, NULL, NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char target[256];
        (void)snprintf(target, sizeof(target), PODS "?watch=1%s", cases[i].query);
        test_api_get(&api, target);
        assert_status(&api, cases[i].status);
        assert_string_equal(test_api_at(&api, ".details.causes[0].field"), cases[i].field);
    }
    assert_int_equal(api.server->watch_count, 0);
    test_api_done(&api);
}

/* ---- selectors ---- */

static void what_ceases_to_match_is_deleted_and_what_begins_to_is_added(void **state)
{
    (void)state;
    test_api api;
    test_api_init(&api, NULL, NULL, NULL);
    test_api_pod(&api, "ns", "a", "'x':'1'");
    ki__api_exchange *x = watch(&api, "&resourceVersion=1&labelSelector=x%3D1");
    ki__api_exchange *y = watch(&api, "&resourceVersion=1&fieldSelector=spec.nodeName%3Dn2");
    test_api_call(&api, "PATCH", PODS "/a", "{'spec':{'nodeName':'n2'}}");
    test_api_call(&api, "PATCH", PODS "/a", "{'metadata':{'labels':{'x':'2'}}}");
    test_api_call(&api, "PATCH", PODS "/a", "{'spec':{'nodeName':'n3'}}");
    test_api_call(&api, "PATCH", PODS "/a", "{'metadata':{'labels':{'x':'1'}}}");
    test_api_call(&api, "DELETE", PODS "/a", "");
    assert_string_equal(test_api_events(&api, x),
                        "ADDED ns/a@2 MODIFIED ns/a@3 DELETED ns/a@4 ADDED ns/a@6 DELETED ns/a@7");
    assert_string_equal(test_api_events(&api, y), "ADDED ns/a@3 MODIFIED ns/a@4 DELETED ns/a@5");
    ki__api_exchange_free(x);
    ki__api_exchange_free(y);
    test_api_done(&api);
}

/* It comes as it last matched, with the version of the change that took it away. */
static void what_ceases_to_match_comes_as_it_was(void **state)
{
    (void)state;
    test_api api;
    test_api_init(&api, NULL, NULL, NULL);
    test_api_pod(&api, "ns", "a", "'x':'1'");
    test_api_call(&api, "PATCH", PODS "/a", "{'metadata':{'labels':{'x':'2'}}}");
    ki__api_exchange *x = watch(&api, "&resourceVersion=2&labelSelector=x%3D1");
    ki_buf_clear(&api.body);
    assert_int_equal(test_api_pull(&api, x, 4096, &api.body), KI__API_WAIT);
    assert_string_equal(test_api_at(&api, ".type"), "DELETED");
    assert_string_equal(test_api_at(&api, ".object.metadata.labels.x"), "1");
    assert_string_equal(test_api_at(&api, ".object.metadata.resourceVersion"), "3");
    assert_string_equal(test_api_at(&api, ".object.kind"), "Pod");
    ki__api_exchange_free(x);
    test_api_done(&api);
}

/* ---- bookmarks and time ---- */

static void bookmarks_come_by_the_clock_if_allowed(void **state)
{
    (void)state;
    test_api api;
    test_api_init(&api, NULL, NULL, NULL);
    test_api_pod(&api, "ns", "a", "");
    ki__api_exchange *x = watch(&api, "&resourceVersion=2&allowWatchBookmarks=true");
    ki__api_exchange *without = watch(&api, "&resourceVersion=2");
    assert_int_equal(ki__api_exchange_deadline(x), 60 * SECOND);
    assert_int_equal(ki__api_exchange_deadline(without), 1800 * SECOND);
    test_api_pod(&api, "other", "b", "");
    api.now_ns = 60 * SECOND;
    assert_string_equal(test_api_events(&api, x), "BOOKMARK @3");
    assert_string_equal(test_api_events(&api, x), "");
    assert_string_equal(test_api_events(&api, without), "");
    api.now_ns = 119 * SECOND;
    assert_string_equal(test_api_events(&api, x), "");
    api.now_ns = 120 * SECOND;
    test_api_pod(&api, "ns", "c", "");
    assert_string_equal(test_api_events(&api, x), "ADDED ns/c@4 BOOKMARK @4");
    ki__api_exchange_free(x);
    ki__api_exchange_free(without);
    test_api_done(&api);
}

static void a_watch_ends_in_time_with_a_bookmark_before(void **state)
{
    (void)state;
    test_api api;
    test_api_init(&api, NULL, NULL, NULL);
    ki__api_exchange *x =
        watch(&api, "&resourceVersion=1&allowWatchBookmarks=true&timeoutSeconds=10");
    assert_int_equal(ki__api_exchange_deadline(x), 8 * SECOND);
    api.now_ns = 8 * SECOND;
    assert_string_equal(test_api_events(&api, x), "BOOKMARK @1");
    assert_int_equal(ki__api_exchange_deadline(x), 10 * SECOND);
    api.now_ns = 10 * SECOND;
    assert_string_equal(test_api_events(&api, x), "end");
    assert_string_equal(test_api_events(&api, x), "end");
    assert_int_equal(api.server->watch_count, 0);
    ki__api_exchange_free(x);
    test_api_done(&api);
}

static void a_server_may_send_no_bookmarks(void **state)
{
    (void)state;
    test_api api;
    const ki__api_server_options options = {.bookmark_ms = KI__API_NEVER,
                                            .last_bookmark_ms = KI__API_NEVER};
    test_api_init(&api, NULL, NULL, &options);
    ki__api_exchange *x = watch(&api, "&resourceVersion=1&allowWatchBookmarks=true");
    assert_int_equal(ki__api_exchange_deadline(x), 1800 * SECOND);
    api.now_ns = 1799 * SECOND;
    assert_string_equal(test_api_events(&api, x), "");
    ki__api_exchange_free(x);
    test_api_done(&api);
}

/* ---- streaming lists ---- */

static void a_streaming_list_marks_its_end(void **state)
{
    (void)state;
    test_api api;
    test_api_init(&api, NULL, NULL, NULL);
    test_api_pod(&api, "ns", "b", "");
    test_api_pod(&api, "ns", "a", "");
    test_api_pod(&api, "other", "c", "");
    check(&api, STREAM, "ADDED ns/a@3 ADDED ns/b@2 BOOKMARK @4!");
    check(&api, STREAM "&resourceVersion=0", "ADDED ns/a@3 ADDED ns/b@2 BOOKMARK @4!");
    check(&api, STREAM "&resourceVersion=3", "ADDED ns/a@3 ADDED ns/b@2 BOOKMARK @4!");
    check(&api, STREAM "&labelSelector=none", "BOOKMARK @4!");
    /* Without bookmarks there is none at the end either. */
    check(&api, "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
          "ADDED ns/a@3 ADDED ns/b@2");
    ki__api_exchange *x = watch(&api, STREAM);
    assert_string_equal(test_api_events(&api, x), "ADDED ns/a@3 ADDED ns/b@2 BOOKMARK @4!");
    test_api_call(&api, "DELETE", PODS "/a", "");
    assert_string_equal(test_api_events(&api, x), "DELETED ns/a@5");
    ki__api_exchange_free(x);
    test_api_done(&api);
}

/* A consistent streaming list of a server that lags continues with changes, and marks its end
 * when it has reached what was newest when it began. */
static void the_end_waits_for_the_newest(void **state)
{
    (void)state;
    test_api api;
    const ki__api_server_options options = {.lags = true, .bookmark_ms = 1000};
    test_api_init(&api, NULL, NULL, &options);
    test_api_pod(&api, "ns", "a", "");
    test_api_pod(&api, "ns", "b", "");
    ki__api_server_advance(api.server, 2);
    ki__api_exchange *x = watch(&api, STREAM);
    assert_string_equal(test_api_events(&api, x), "ADDED ns/a@2");
    api.now_ns += 2 * SECOND;
    assert_string_equal(test_api_events(&api, x), ""); /* no bookmark before the end */
    test_api_pod(&api, "ns", "c", "");
    ki__api_server_advance(api.server, 4);
    assert_string_equal(test_api_events(&api, x), "ADDED ns/b@3 BOOKMARK @3! ADDED ns/c@4");
    ki__api_exchange_free(x);
    /* Versions without changes count as well. */
    ki__api_model_skip(api.model, 10);
    x = watch(&api, STREAM);
    assert_string_equal(test_api_events(&api, x), "ADDED ns/a@2 ADDED ns/b@3 ADDED ns/c@4");
    test_api_pod(&api, "ns", "d", "");
    ki__api_server_advance(api.server, 15);
    assert_string_equal(test_api_events(&api, x), "BOOKMARK @14! ADDED ns/d@15");
    ki__api_exchange_free(x);
    test_api_done(&api);
}

static void a_streaming_list_of_a_version_to_come_waits_and_fails_inside(void **state)
{
    (void)state;
    test_api api;
    const ki__api_server_options options = {.lags = true};
    test_api_init(&api, NULL, NULL, &options);
    test_api_pod(&api, "ns", "a", "");
    ki__api_exchange *x = watch(&api, STREAM "&resourceVersion=2");
    ki__api_exchange *y = watch(&api, STREAM "&resourceVersion=9");
    assert_string_equal(test_api_events(&api, x), "");
    ki__api_server_advance(api.server, 2);
    assert_string_equal(test_api_events(&api, x), "ADDED ns/a@2 BOOKMARK @2!");
    assert_string_equal(test_api_events(&api, y), "");
    api.now_ns += 3 * SECOND;
    assert_string_equal(test_api_events(&api, y), "ERROR 504 end");
    assert_int_equal(ki__api_exchange_status(y), 200);
    ki__api_exchange_free(x);
    ki__api_exchange_free(y);
    test_api_done(&api);
}

static void servers_without_streaming_lists_refuse_or_ignore_them(void **state)
{
    (void)state;
    test_api api;
    ki__api_server_options options = {.watch_list = KI__API_WATCH_LIST_OFF};
    test_api_init(&api, NULL, NULL, &options);
    test_api_get(&api, PODS "?watch=1" STREAM);
    assert_status(&api, 422);
    assert_string_equal(test_api_at(&api, ".details.causes[0].field"), "sendInitialEvents");
    test_api_done(&api);
    options.watch_list = KI__API_WATCH_LIST_IGNORED;
    test_api_init(&api, NULL, NULL, &options);
    test_api_pod(&api, "ns", "a", "");
    check(&api, STREAM, "ADDED ns/a@2"); /* and never an end */
    check(&api, STREAM "&resourceVersion=1", "ADDED ns/a@2");
    test_api_done(&api);
}

/* ---- the end of it ---- */

static void watches_can_be_dropped(void **state)
{
    (void)state;
    test_api api;
    test_api_init(&api, NULL, NULL, NULL);
    ki__api_exchange *x = watch(&api, "&resourceVersion=1");
    assert_string_equal(test_api_events(&api, x), "");
    test_api_pod(&api, "ns", "a", "");
    ki__api_server_drop_watches(api.server, false);
    assert_string_equal(test_api_events(&api, x), "end");
    ki__api_exchange_free(x);
    x = watch(&api, "&resourceVersion=1");
    ki__api_server_drop_watches(api.server, true);
    assert_string_equal(test_api_events(&api, x), "cut");
    ki__api_exchange_free(x);
    test_api_done(&api);
}

static void too_many_watches_are_refused(void **state)
{
    (void)state;
    test_api api;
    const ki__api_server_options options = {.watches_max = 1};
    test_api_init(&api, NULL, NULL, &options);
    ki__api_exchange *x = watch(&api, "&resourceVersion=1");
    test_api_get(&api, PODS "?watch=1&resourceVersion=1");
    assert_status(&api, 429);
    assert_int_equal(api.retry_after, 1);
    ki__api_exchange_free(x);
    check(&api, "&resourceVersion=1", "");
    test_api_done(&api);
}

/* A watch keeps the changes it has yet to send from compaction, but not beyond the limit of the
 * history: then it ends. */
static void a_watch_that_is_too_slow_ends(void **state)
{
    (void)state;
    test_api api;
    const ki__api_model_options options = {.history_max = 3};
    test_api_init(&api, NULL, &options, NULL);
    ki__api_exchange *x = watch(&api, "&resourceVersion=1");
    test_api_pod(&api, "ns", "a", "");
    test_api_pod(&api, "ns", "b", "");
    ki__api_model_compact(api.model, 3);
    assert_string_equal(test_api_events(&api, x), "ADDED ns/a@2 ADDED ns/b@3");
    for (int i = 0; i < 4; i++) {
        char name[8] = {'c', (char)('0' + i)};
        test_api_pod(&api, "ns", name, "");
    }
    assert_true(api.model->count <= 3);
    assert_string_equal(test_api_events(&api, x), "end");
    ki__api_exchange_free(x);
    test_api_done(&api);
}

/* ---- memory ---- */

static int some_watches(const ki_alloc *alloc, void *user)
{
    (void)user;
    test_api api;
    test_api_init(&api, alloc, NULL, NULL);
    test_api_pod(&api, "ns", "a", "'x':'1'");
    ki__api_exchange *x = watch(&api, STREAM "&labelSelector=x%3D1");
    ki__api_exchange *y = watch(&api, "&resourceVersion=1&allowWatchBookmarks=1");
    test_api_call(&api, "PATCH", PODS "/a", "{'metadata':{'labels':{'x':'2'}}}");
    (void)test_api_events(&api, x);
    api.now_ns += 61 * SECOND;
    (void)test_api_events(&api, y);
    ki__api_exchange *z = NULL;
    if (api.failed == 0) {
        ki__api_server_expire(api.server);
        z = watch(&api, "&resourceVersion=1");
        (void)test_api_events(&api, z);
    }
    ki__api_exchange_free(x);
    ki__api_exchange_free(y);
    ki__api_exchange_free(z);
    int r = api.failed;
    test_api_done(&api);
    return r;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    test_alloc_sweep(some_watches, NULL);
}

/* No event is lost or sent twice when making one fails for lack of memory. */
static void a_failed_event_is_made_again(void **state)
{
    (void)state;
    for (uint64_t n = 1; n < 25; n++) {
        test_alloc alloc;
        test_api api;
        test_alloc_init(&alloc);
        test_api_init(&api, &alloc.table, NULL, NULL);
        test_api_pod(&api, "ns", "a", "'x':'1'");
        ki__api_exchange *x = watch(&api, STREAM "&labelSelector=x%3D1");
        test_api_call(&api, "PATCH", PODS "/a", "{'metadata':{'labels':{'x':'2'}}}");
        test_api_call(&api, "PATCH", PODS "/a", "{'metadata':{'labels':{'x':'1'}}}");
        ki_buf out;
        ki_buf_init(&out, NULL, SIZE_MAX);
        alloc.fail_at = alloc.calls + n;
        (void)test_api_pull(&api, x, 100, &out);
        alloc.fail_at = 0;
        assert_int_equal(test_api_pull(&api, x, 100, &out), KI__API_WAIT);
        size_t lines = 0;
        for (const char *p = out.data; (p = strchr(p, '\n')) != NULL; p++) {
            lines++;
        }
        assert_int_equal(lines, 4); /* ADDED, the end, DELETED, ADDED */
        assert_non_null(strstr(out.data, "DELETED"));
        ki_buf_done(&out);
        ki__api_exchange_free(x);
        test_api_done(&api);
        test_alloc_done(&alloc);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_watch_sends_the_changes_after_its_version),
        cmocka_unit_test(without_a_version_a_watch_begins_with_what_there_is),
        cmocka_unit_test(a_version_ahead_of_the_server_is_no_error),
        cmocka_unit_test(a_version_before_the_history_is_expired),
        cmocka_unit_test(a_server_has_a_window_of_its_own),
        cmocka_unit_test(bad_combinations_are_refused),
        cmocka_unit_test(what_ceases_to_match_is_deleted_and_what_begins_to_is_added),
        cmocka_unit_test(what_ceases_to_match_comes_as_it_was),
        cmocka_unit_test(bookmarks_come_by_the_clock_if_allowed),
        cmocka_unit_test(a_watch_ends_in_time_with_a_bookmark_before),
        cmocka_unit_test(a_server_may_send_no_bookmarks),
        cmocka_unit_test(a_streaming_list_marks_its_end),
        cmocka_unit_test(the_end_waits_for_the_newest),
        cmocka_unit_test(a_streaming_list_of_a_version_to_come_waits_and_fails_inside),
        cmocka_unit_test(servers_without_streaming_lists_refuse_or_ignore_them),
        cmocka_unit_test(watches_can_be_dropped),
        cmocka_unit_test(too_many_watches_are_refused),
        cmocka_unit_test(a_watch_that_is_too_slow_ends),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_failed_event_is_made_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
