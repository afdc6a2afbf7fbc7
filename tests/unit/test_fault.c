/* SPDX-License-Identifier: Apache-2.0 */
/* Faults: what each entry of a plan does to an answer, and the rules that make plans. */
#include <stdio.h>
#include <string.h>

#include "apiserver/fault.h"
#include "support/api.h"

#define SECOND UINT64_C(1000000000)
#define STREAM                                                               \
    PODS "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan" \
         "&allowWatchBookmarks=true"

static void decide(const ki__api_point *point, ki__api_plan *plan, void *user)
{
    if (point->verb == KI__API_LIST || point->verb == KI__API_WATCH) {
        *plan = *(const ki__api_plan *)user;
    }
}

static ki__api_plan plan;
static const ki__api_faults faults = {decide, &plan};

static void start(test_api *api, ki__api_plan first)
{
    const ki__api_server_options options = {.faults = &faults, .bookmark_ms = 1000, .lags = true};
    plan = first;
    test_api_init(api, NULL, NULL, &options);
    test_api_pod(api, "ns", "a", "");
    test_api_pod(api, "ns", "b", "");
    ki__api_server_advance(api->server, 3);
}

static const char *events(test_api *api, const char *target)
{
    ki__api_exchange *x = test_api_open(api, "GET", target, "");
    const char *text = test_api_events(api, x);
    ki__api_exchange_free(x);
    return text;
}

static void a_connection_can_be_refused(void **state)
{
    (void)state;
    test_api api;
    start(&api, (ki__api_plan){.refuse = true});
    assert_int_equal(test_api_get(&api, PODS), -2);
    assert_int_equal(api.body.len, 0);
    test_api_done(&api);
}

static void latency_holds_the_answer_back(void **state)
{
    (void)state;
    test_api api;
    start(&api, (ki__api_plan){.latency_ms = 1500});
    ki__api_exchange *x = test_api_open(&api, "GET", PODS, "");
    ki_buf_clear(&api.body);
    assert_int_equal(test_api_pull(&api, x, 100, &api.body), KI__API_WAIT);
    assert_int_equal(ki__api_exchange_status(x), 0);
    assert_int_equal(ki__api_exchange_deadline(x), 1500000000);
    api.now_ns += 1500000000;
    assert_int_equal(test_api_pull(&api, x, 100, &api.body), KI__API_END);
    assert_string_equal(test_api_items(&api), "a@2 b@3");
    ki__api_exchange_free(x);
    test_api_done(&api);
}

static void codes_come_with_their_reason_and_retry_after(void **state)
{
    (void)state;
    static const struct {
        int code;
        const char *reason;
    } cases[] = {{429, "TooManyRequests"}, {500, "InternalError"}, {503, "ServiceUnavailable"},
                 {504, "Timeout"},         {403, "Forbidden"},     {401, "Unauthorized"},
                 {409, "Conflict"},        {404, "NotFound"},      {410, "Expired"},
                 {507, "InternalError"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        test_api api;
        start(&api, (ki__api_plan){.http_code = cases[i].code, .retry_after_s = 7});
        test_api_get(&api, PODS);
        assert_status(&api, cases[i].code);
        assert_string_equal(test_api_at(&api, ".reason"), cases[i].reason);
        assert_string_equal(test_api_at(&api, ".details.retryAfterSeconds"), "7");
        assert_int_equal(api.retry_after, 7);
        test_api_done(&api);
    }
}

static void a_watch_can_fail_inside(void **state)
{
    (void)state;
    test_api api;
    start(&api, (ki__api_plan){.http_code = 500, .in_stream = true});
    assert_string_equal(events(&api, PODS "?watch=1&resourceVersion=1"), "ERROR 500 end");
    plan.in_stream = false;
    test_api_get(&api, PODS "?watch=1&resourceVersion=1");
    assert_status(&api, 500);
    test_api_done(&api);
}

/* At each byte: what comes before the cut is what would have come. */
static void an_answer_can_be_cut_at_any_byte(void **state)
{
    (void)state;
    test_api api;
    start(&api, (ki__api_plan){0});
    test_api_get(&api, PODS);
    ki_buf whole;
    ki_buf_init(&whole, NULL, SIZE_MAX);
    assert_int_equal(ki_buf_add_str(&whole, ki_buf_str(&api.body)), 0);
    for (uint64_t at = 0; at <= whole.len; at++) {
        plan = (ki__api_plan){.cut = true, .cut_after = at};
        assert_int_equal(test_api_get(&api, PODS), -1);
        assert_int_equal(api.body.len, at);
        assert_memory_equal(ki_buf_text(&api.body), whole.data, at);
    }
    plan.cut_after = 0; /* a watch breaks though it has nothing to say */
    assert_string_equal(events(&api, PODS "?watch=1&resourceVersion=3"), "cut");
    plan.cut_after = whole.len + 1; /* too late to matter, but it does break off */
    assert_int_equal(test_api_get(&api, PODS), -1);
    assert_int_equal(api.body.len, whole.len);
    ki_buf_done(&whole);
    test_api_done(&api);
}

static void a_watch_can_be_dropped_after_a_time(void **state)
{
    (void)state;
    test_api api;
    start(&api, (ki__api_plan){.drop_after_ms = 500});
    ki__api_exchange *x = test_api_open(&api, "GET", PODS "?watch=1&resourceVersion=2", "");
    assert_string_equal(test_api_events(&api, x), "ADDED ns/b@3");
    assert_int_equal(ki__api_exchange_deadline(x), 500000000);
    api.now_ns += 500000000;
    assert_string_equal(test_api_events(&api, x), "end");
    ki__api_exchange_free(x);
    test_api_done(&api);
}

static void history_can_be_gone(void **state)
{
    (void)state;
    test_api api;
    start(&api, (ki__api_plan){.expire = true});
    assert_string_equal(events(&api, PODS "?watch=1&resourceVersion=3"), "ERROR 410 end");
    test_api_get(&api, PODS "?resourceVersion=3&resourceVersionMatch=Exact");
    assert_status(&api, 410);
    test_api_get(&api, PODS);
    assert_status(&api, 200);
    test_api_done(&api);
}

static void the_end_of_a_streaming_list_can_be_withheld(void **state)
{
    (void)state;
    test_api api;
    start(&api, (ki__api_plan){.no_end_bookmark = true});
    ki__api_exchange *x = test_api_open(&api, "GET", STREAM, "");
    assert_string_equal(test_api_events(&api, x), "ADDED ns/a@2 ADDED ns/b@3");
    api.now_ns += 2 * SECOND; /* others come */
    assert_string_equal(test_api_events(&api, x), "BOOKMARK @3");
    ki__api_exchange_free(x);
    plan = (ki__api_plan){.plain_end_bookmark = true};
    assert_string_equal(events(&api, STREAM), "ADDED ns/a@2 ADDED ns/b@3 BOOKMARK @3");
    test_api_done(&api);
}

static void reads_that_must_be_current_can_be_stale(void **state)
{
    (void)state;
    test_api api;
    start(&api, (ki__api_plan){.stale = true});
    test_api_pod(&api, "ns", "c", ""); /* which the server has not got to */
    test_api_get(&api, PODS);
    assert_string_equal(test_api_items(&api), "a@2 b@3");
    assert_string_equal(events(&api, STREAM), "ADDED ns/a@2 ADDED ns/b@3 BOOKMARK @3!");
    test_api_done(&api);
}

static void unsound_servers_can_be_had(void **state)
{
    (void)state;
    test_api api;
    start(&api, (ki__api_plan){.skip_event = 1});
    assert_string_equal(events(&api, PODS "?watch=1&resourceVersion=1"), "ADDED ns/b@3");
    plan = (ki__api_plan){.rewind = 5};
    assert_string_equal(events(&api, PODS "?watch=1&resourceVersion=3"),
                        "ADDED ns/a@2 ADDED ns/b@3");
    plan = (ki__api_plan){.bookmark_ahead = 10};
    assert_string_equal(events(&api, STREAM), "ADDED ns/a@2 ADDED ns/b@3 BOOKMARK @13!");
    test_api_call(&api, "DELETE", PODS "/a", "");
    ki__api_server_advance(api.server, 4);
    plan = (ki__api_plan){.bare_deletes = true};
    assert_string_equal(events(&api, PODS "?watch=1&resourceVersion=3"), "DELETED @");
    test_api_done(&api);
}

static void initial_events_can_come_in_any_order(void **state)
{
    (void)state;
    test_api api;
    bool reversed = false;
    start(&api, (ki__api_plan){0});
    for (uint64_t seed = 1; seed < 20; seed++) {
        plan.shuffle = seed;
        const char *text = events(&api, STREAM);
        bool same = strcmp(text, "ADDED ns/a@2 ADDED ns/b@3 BOOKMARK @3!") == 0;
        assert_true(same || strcmp(text, "ADDED ns/b@3 ADDED ns/a@2 BOOKMARK @3!") == 0);
        reversed = reversed || !same;
    }
    assert_true(reversed);
    test_api_done(&api);
}

/* ---- rules ---- */

static const ki__api_point list_pods = {.verb = KI__API_LIST, .resource = "pods"};
static const ki__api_point watch_pods = {.verb = KI__API_WATCH, .resource = "pods"};
static const ki__api_point list_nodes = {.verb = KI__API_LIST, .resource = "nodes"};

static int code_of(ki__api_rules *rules, const ki__api_point *point)
{
    ki__api_plan made = {0};
    ki__api_rules_decide(point, &made, rules);
    return made.http_code;
}

static void rules_look_at_verb_and_resource(void **state)
{
    (void)state;
    ki__api_rule rule = {.verbs = 1u << KI__API_LIST,
                         .resource = "pods",
                         .rate = 1000000,
                         .plan = {.http_code = 500}};
    ki__api_rules rules = {&rule, 1, 1};
    assert_int_equal(code_of(&rules, &list_pods), 500);
    assert_int_equal(code_of(&rules, &watch_pods), 0);
    assert_int_equal(code_of(&rules, &list_nodes), 0);
}

static void rules_skip_and_end(void **state)
{
    (void)state;
    ki__api_rule rule = {
        .rate = 1000000, .skip = 2, .times = 3, .plan = {.http_code = 429, .retry_after_s = 1}};
    ki__api_rules rules = {&rule, 1, 1};
    static const int expected[] = {0, 0, 429, 429, 429, 0, 0};
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        assert_int_equal(code_of(&rules, &list_pods), expected[i]);
    }
}

static void a_rate_is_kept_and_a_seed_repeats_it(void **state)
{
    (void)state;
    int first[10000];
    for (int round = 0; round < 2; round++) {
        ki__api_rule rule = {.rate = 100000, .plan = {.http_code = 500}};
        ki__api_rules rules = {&rule, 1, 42};
        int hits = 0;
        for (size_t i = 0; i < 10000; i++) {
            int code = code_of(&rules, &list_pods);
            assert_true(round == 0 || code == first[i]);
            first[i] = code;
            hits += code != 0 ? 1 : 0;
        }
        assert_in_range(hits, 900, 1100);
    }
}

static void rules_add_up(void **state)
{
    (void)state;
    ki__api_rule two[] = {
        {.rate = 1000000, .plan = {.latency_ms = 10, .cut = true, .cut_after = 5}},
        {.rate = 1000000, .plan = {.latency_ms = 5, .stale = true, .bookmark_ahead = 2}},
    };
    ki__api_rules rules = {two, 2, 1};
    ki__api_plan made = {0};
    ki__api_rules_decide(&list_pods, &made, &rules);
    assert_int_equal(made.latency_ms, 15);
    assert_true(made.cut && made.stale);
    assert_int_equal(made.cut_after, 5);
    assert_int_equal(made.bookmark_ahead, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_connection_can_be_refused),
        cmocka_unit_test(latency_holds_the_answer_back),
        cmocka_unit_test(codes_come_with_their_reason_and_retry_after),
        cmocka_unit_test(a_watch_can_fail_inside),
        cmocka_unit_test(an_answer_can_be_cut_at_any_byte),
        cmocka_unit_test(a_watch_can_be_dropped_after_a_time),
        cmocka_unit_test(history_can_be_gone),
        cmocka_unit_test(the_end_of_a_streaming_list_can_be_withheld),
        cmocka_unit_test(reads_that_must_be_current_can_be_stale),
        cmocka_unit_test(unsound_servers_can_be_had),
        cmocka_unit_test(initial_events_can_come_in_any_order),
        cmocka_unit_test(rules_look_at_verb_and_resource),
        cmocka_unit_test(rules_skip_and_end),
        cmocka_unit_test(a_rate_is_kept_and_a_seed_repeats_it),
        cmocka_unit_test(rules_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
