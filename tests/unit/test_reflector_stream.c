/* SPDX-License-Identifier: Apache-2.0 */
/* The reflector while it streams: all objects as the first events of a watch. */
#include <errno.h>
#include <string.h>

#include "support/objects.h"
#include "support/reflecting.h"

static void the_request_of_a_streaming_list(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    r.options.label_selector = "app=web";
    r.options.field_selector = "spec.nodeName=n1";
    reflecting_start(&r);
    assert_int_equal(r.source.count, 1);
    const fake_request *request = fake_last(&r.source);
    assert_true(request->watch);
    assert_true(request->initial);
    assert_true(request->bookmarks);
    assert_string_equal(request->version, ""); /* consistent the first time, not "0" */
    assert_string_equal(request->match, "NotOlderThan");
    assert_string_equal(request->labels, "app=web");
    assert_string_equal(request->fields, "spec.nodeName=n1");
    assert_int_equal(request->limit, 0);
    assert_in_range(request->timeout, 300, 599);
    reflecting_expect_state(&r, KI_REFLECTOR_STREAMING, "");
    reflecting_done(&r);
}

static void the_end_bookmark_hands_all_objects_over_at_its_version(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_start(&r);
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("b", 7));
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("a", 3));
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("c", 5));
    reflecting_expect(&r, "");
    fake_bookmark(&r.source, "12", true);
    reflecting_expect(&r, "=(b@7,a@3,c@5)@12");
    reflecting_expect_state(&r, KI_REFLECTOR_WATCHING, "12");
    ki_health health = reflecting_health(&r);
    assert_true(health.synced);
    assert_int_equal(health.streams, 1);
    assert_int_equal(health.syncs, 1);
    assert_int_equal(health.relists, 0);
    assert_int_equal(health.listed, 3);
    reflecting_done(&r);
}

static void the_same_stream_continues_as_the_watch(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_sync(&r);
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("b", 11));
    reflecting_expect(&r, "+b@11");
    reflecting_expect_state(&r, KI_REFLECTOR_WATCHING, "11");
    assert_int_equal(r.source.count, 1);
    assert_int_equal(r.source.cancels, 0);
    reflecting_done(&r);
}

static void health_shows_progress_of_a_list_and_whether_a_watch_is_open(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_start(&r);
    assert_false(reflecting_health(&r).accepted);
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("a", 1));
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("b", 2));
    fake_alive(&r.source, 100);
    reflecting_settle(&r);
    assert_true(reflecting_health(&r).accepted);
    assert_int_equal(reflecting_health(&r).arrived, 2);
    fake_bookmark(&r.source, "10", true);
    reflecting_expect(&r, "=(a@1,b@2)@10");
    assert_true(reflecting_health(&r).accepted); /* the same stream continues */
    assert_int_equal(reflecting_health(&r).arrived, 0);
    reflecting_advance(&r, UINT64_C(5000000000));
    fake_end_watch(&r.source);
    reflecting_settle(&r);
    assert_int_equal(reflecting_health(&r).state, KI_REFLECTOR_WATCHING);
    assert_false(reflecting_health(&r).accepted); /* it was requested again */
    fake_alive(&r.source, 0);
    reflecting_settle(&r);
    assert_true(reflecting_health(&r).accepted);
    reflecting_done(&r);
}

static void changes_before_the_end_bookmark_are_part_of_the_list(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_start(&r);
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("a", 1));
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("b", 2));
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("c", 3));
    fake_event(&r.source, KI_WATCH_EVENT_MODIFIED, fake_pod("a", 4));
    fake_event(&r.source, KI_WATCH_EVENT_DELETED, fake_pod("b", 5));
    fake_event(&r.source, KI_WATCH_EVENT_DELETED, fake_pod("never-there", 6));
    fake_event(&r.source, KI_WATCH_EVENT_MODIFIED, fake_pod("d", 7)); /* not seen before: added */
    fake_event(&r.source, KI_WATCH_EVENT_DELETED, fake_pod("c", 8));
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("c", 9)); /* recreated */
    fake_bookmark(&r.source, "9", true);
    reflecting_expect(&r, "=(a@4,d@7,c@9)@9");
    reflecting_done(&r);
}

static void other_bookmarks_do_not_end_the_initial_events(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_start(&r);
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("a", 1));
    fake_bookmark(&r.source, "5", false);
    fake_event(&r.source, KI_WATCH_EVENT_BOOKMARK,
               test_object(NULL, "{'metadata':{'resourceVersion':'6',"
                                 "'annotations':{'k8s.io/initial-events-end':'false'}}}"));
    reflecting_expect(&r, "");
    reflecting_expect_state(&r, KI_REFLECTOR_STREAMING, "");
    fake_bookmark(&r.source, "7", true);
    reflecting_expect(&r, "=(a@1)@7");
    reflecting_done(&r);
}

/* ---- failures ---- */

typedef struct failure_case {
    int code;
    const char *reason;
    ki_reflector_state next;
} failure_case;

/* Each as an answer and as an event of the stream: both must lead to the same. */
static const failure_case failures[] = {
    {400, "BadRequest", KI_REFLECTOR_LISTING},
    {401, "Unauthorized", KI_REFLECTOR_BACKOFF}, /* a list would get the same, so in the next */
    {403, "Forbidden", KI_REFLECTOR_LISTING},
    {404, "NotFound", KI_REFLECTOR_BACKOFF},
    {410, "Expired", KI_REFLECTOR_STREAMING},
    {410, "Gone", KI_REFLECTOR_STREAMING},
    {410, "", KI_REFLECTOR_STREAMING},
    {422, "Invalid", KI_REFLECTOR_LISTING},
    {429, "TooManyRequests", KI_REFLECTOR_BACKOFF},
    {429, "", KI_REFLECTOR_BACKOFF},
    {500, "InternalError", KI_REFLECTOR_LISTING},
    {503, "ServiceUnavailable", KI_REFLECTOR_LISTING},
    {504, "Timeout", KI_REFLECTOR_LISTING},
};

static void one_failure(const failure_case *c, bool in_stream)
{
    reflecting r;
    reflecting_init(&r);
    reflecting_start(&r);
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("a", 1));
    if (in_stream) {
        fake_error_event(&r.source, c->code, c->reason, "it failed");
    } else {
        fake_end_status(&r.source, c->code, c->reason, "it failed");
    }
    reflecting_expect_state(&r, c->next, "");
    ki_health health = reflecting_health(&r);
    bool failed = c->next == KI_REFLECTOR_BACKOFF; /* else it only leads to another request */
    assert_int_equal(reflecting_reason(&r).http_code, failed ? c->code : 0);
    assert_int_equal(r.errors, failed ? 1 : 0);
    assert_int_equal(health.fallbacks, c->next == KI_REFLECTOR_LISTING);
    assert_int_equal(r.source.count, c->next == KI_REFLECTOR_BACKOFF ? 1 : 2);
    if (c->next == KI_REFLECTOR_LISTING) {
        assert_false(fake_last(&r.source)->watch);
        fake_end_list(&r.source, "9", "");
        reflecting_expect(&r, "=()@9"); /* nothing is left of the broken stream */
    } else {
        reflecting_advance(&r, 2 * TEST_SECOND);
        assert_true(fake_last(&r.source)->initial);
        fake_bookmark(&r.source, "9", true);
        reflecting_expect(&r, "=()@9");
    }
    assert_int_equal(r.errors, failed ? 1 : 0);
    reflecting_done(&r);
}

static void every_status_leads_to_the_same_as_answer_and_as_event(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++) {
        one_failure(&failures[i], false);
        one_failure(&failures[i], true);
    }
}

static void connection_refused_waits_and_streams_again(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_start(&r);
    fake_end_error(&r.source, -ECONNREFUSED);
    reflecting_expect_state(&r, KI_REFLECTOR_BACKOFF, "");
    assert_int_equal(reflecting_health(&r).next, KI_REFLECTOR_STREAMING);
    reflecting_advance(&r, 799 * TEST_MS);
    assert_int_equal(r.source.count, 1);
    reflecting_advance(&r, 801 * TEST_MS);
    assert_int_equal(r.source.count, 2);
    assert_true(fake_last(&r.source)->initial);
    reflecting_done(&r);
}

static void a_source_that_refuses_at_once_is_a_failed_request(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    r.source.refuse = -ECONNREFUSED;
    reflecting_start(&r);
    reflecting_expect_state(&r, KI_REFLECTOR_BACKOFF, "");
    r.source.refuse = KI_ERR_UNSUPPORTED;
    reflecting_advance(&r, 2 * TEST_SECOND);
    reflecting_expect_state(&r, KI_REFLECTOR_LISTING, "");
    reflecting_done(&r);
}

static void what_a_stream_brings_unchanged_is_the_object_that_the_target_has(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    r.known = fake_pod("a", 1);
    reflecting_sync(&r);
    fake_error_event(&r.source, 410, "Expired", "too old");
    reflecting_advance(&r, 2 * TEST_SECOND);
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("a", 1));
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("b", 2));
    fake_event(&r.source, KI_WATCH_EVENT_MODIFIED, fake_pod("b", 3));
    fake_bookmark(&r.source, "20", true);
    reflecting_expect(&r, "=(a@1!,b@3)@20");
    reflecting_done(&r);
    (void)ki_object_unref(r.known);
}

static void an_expired_version_is_tried_once_more_without_one(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_sync(&r);
    fake_error_event(&r.source, 410, "Expired", "too old"); /* of the watch */
    reflecting_advance(&r, 2 * TEST_SECOND);
    assert_true(fake_last(&r.source)->initial);
    assert_string_equal(fake_last(&r.source)->version, "10");
    fake_end_status(&r.source, 410, "Expired", "too old"); /* of the stream */
    reflecting_settle(&r);
    assert_int_equal(r.source.count, 3);
    assert_true(fake_last(&r.source)->initial);
    assert_string_equal(fake_last(&r.source)->version, "");
    fake_bookmark(&r.source, "20", true);
    reflecting_expect(&r, "=()@20");
    fake_error_event(&r.source, 410, "Expired", "too old");
    reflecting_advance(&r, 8 * TEST_SECOND);
    assert_string_equal(fake_last(&r.source)->version, "20"); /* a list that came clears the mark */
    reflecting_done(&r);
}

static void a_version_too_large_is_tried_once_more_without_one(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_sync(&r);
    fake_error_event(&r.source, 410, "Expired", "too old");
    reflecting_advance(&r, 2 * TEST_SECOND);
    fake_end_status(&r.source, 504, "Timeout", "Too large resource version: 10, current: 9");
    reflecting_settle(&r);
    assert_true(fake_last(&r.source)->initial);
    assert_string_equal(fake_last(&r.source)->version, "");
    reflecting_done(&r);
}

/* A server whose cache lags behind for ever, as when it cannot convert what is stored. */
static void a_stream_of_the_latest_that_cannot_be_falls_back_to_the_list(void **state)
{
    (void)state;
    static const struct {
        int http;
        const char *reason;
        const char *message;
    } cases[] = {
        {504, "Timeout", "Too large resource version: 10, current: 0"},
        {410, "Expired", "too old"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        reflecting r;
        reflecting_init(&r);
        reflecting_start(&r);
        for (int stream = 0; stream < 2; stream++) {
            assert_true(fake_last(&r.source)->initial);
            fake_error_event(&r.source, cases[i].http, cases[i].reason, cases[i].message);
            reflecting_settle(&r);
        }
        reflecting_expect_state(&r, KI_REFLECTOR_LISTING, "");
        assert_false(fake_last(&r.source)->watch);
        assert_int_equal(reflecting_health(&r).fallbacks, 1);
        assert_int_equal(r.errors, 0);
        fake_end_status(&r.source, 500, "InternalError", "conversion failed");
        reflecting_expect_state(&r, KI_REFLECTOR_BACKOFF, "");
        assert_int_equal(r.errors, 1); /* now it is reported */
        reflecting_done(&r);
    }
}

static void a_stream_closed_before_its_end_is_opened_again_at_once(void **state)
{
    (void)state;
    const int codes[] = {0, -ECONNRESET, -EPIPE, -ETIMEDOUT};
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        reflecting r;
        reflecting_init(&r);
        reflecting_start(&r);
        fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("a", 1));
        if (codes[i] == 0) {
            fake_end_watch(&r.source);
        } else {
            fake_end_error(&r.source, codes[i]);
        }
        reflecting_expect_state(&r, KI_REFLECTOR_STREAMING, "");
        assert_int_equal(r.source.count, 2);
        fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("b", 2));
        fake_bookmark(&r.source, "4", true);
        reflecting_expect(&r, "=(b@2)@4"); /* nothing of the first */
        reflecting_done(&r);
    }
}

static void a_stream_that_lived_a_second_without_event_is_opened_again(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_start(&r);
    fake_alive(&r.source, 0);
    reflecting_advance(&r, TEST_SECOND);
    fake_end_watch(&r.source);
    reflecting_expect_state(&r, KI_REFLECTOR_STREAMING, "");
    assert_int_equal(r.source.count, 2);
    assert_int_equal(r.errors, 1);
    assert_int_equal(r.error.code, KI_ERR_TRUNCATED);
    reflecting_done(&r);
}

static void a_very_short_stream_falls_back_to_the_list(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_start(&r);
    reflecting_advance(&r, 999 * TEST_MS);
    fake_end_watch(&r.source);
    reflecting_expect_state(&r, KI_REFLECTOR_LISTING, "");
    reflecting_done(&r);
}

static void a_connection_that_breaks_at_once_is_waited_for(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_start(&r);
    fake_end_error(&r.source, -ECONNRESET);
    reflecting_expect_state(&r, KI_REFLECTOR_BACKOFF, "");
    assert_int_equal(reflecting_health(&r).next, KI_REFLECTOR_STREAMING);
    reflecting_done(&r);
}

static void streaming_is_tried_first_each_time(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_start(&r);
    fake_end_status(&r.source, 422, "Invalid", "no");
    fake_end_list(&r.source, "5", "");
    reflecting_settle(&r);
    fake_end_list(&r.source, "5", "");
    reflecting_settle(&r);
    reflecting_expect_state(&r, KI_REFLECTOR_WATCHING, "5");
    fake_error_event(&r.source, 410, "Expired", "too old");
    reflecting_advance(&r, 2 * TEST_SECOND);
    assert_true(fake_last(&r.source)->initial);
    reflecting_done(&r);
}

static void a_target_that_rejects_the_list_is_reported_and_retried(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_start(&r);
    r.fail = KI_ERR_INDEX_FUNCTION;
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("a", 1));
    fake_bookmark(&r.source, "5", true);
    reflecting_expect(&r, "");
    reflecting_expect_state(&r, KI_REFLECTOR_BACKOFF, "");
    assert_int_equal(r.errors, 1);
    assert_int_equal(r.error.code, KI_ERR_INDEX_FUNCTION);
    reflecting_advance(&r, 2 * TEST_SECOND);
    fake_bookmark(&r.source, "6", true);
    reflecting_expect(&r, "=()@6");
    reflecting_done(&r);
}

/* ---- a server that never ends the initial events ---- */

static void expect_fallback(reflecting *r)
{
    reflecting_expect_state(r, KI_REFLECTOR_LISTING, "");
    assert_false(fake_last(&r->source)->watch);
    assert_int_equal(reflecting_health(r).fallbacks, 1);
    assert_int_equal(r->failure.operation, KI_OPERATION_STREAMING_LIST); /* and it is reported */
    assert_int_equal(r->failure.retry_delay_ms, 0);
    assert_int_equal(r->reports, 0);
}

static void no_end_bookmark_falls_back_after_15_s(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_start(&r);
    reflecting_advance(&r, 10 * TEST_SECOND);
    fake_alive(&r.source, 100);
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("a", 1));
    reflecting_advance(&r, 15 * TEST_SECOND - 1);
    reflecting_expect_state(&r, KI_REFLECTOR_STREAMING, "");
    reflecting_advance(&r, 1);
    expect_fallback(&r);
    reflecting_done(&r);
}

/* Connecting may take its time, and says nothing about what the server can do. */
static void a_stream_that_is_not_accepted_has_three_minutes(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_start(&r);
    for (size_t i = 1; i <= 2; i++) {
        reflecting_advance(&r, 180 * TEST_SECOND - TEST_MS);
        reflecting_expect_state(&r, KI_REFLECTOR_STREAMING, "");
        assert_int_equal(r.source.count, i);
        reflecting_advance(&r, TEST_MS);
        assert_int_equal(r.errors, i);
        assert_int_equal(r.error.code, -ETIMEDOUT);
        if (i == 1) { /* the wait after the first time */
            reflecting_expect_state(&r, KI_REFLECTOR_BACKOFF, "");
            reflecting_advance(&r, r.failure.retry_delay_ms * TEST_MS);
        }
    }
    expect_fallback(&r); /* after the second time */
    reflecting_done(&r);
}

static void bytes_without_an_event_yet_are_progress(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_start(&r);
    for (int i = 0; i < 10; i++) {
        reflecting_advance(&r, 14 * TEST_SECOND);
        fake_alive(&r.source, 1000); /* of one very large object on a slow line */
    }
    reflecting_expect_state(&r, KI_REFLECTOR_STREAMING, "");
    reflecting_done(&r);
}

static void an_unannotated_bookmark_is_no_progress(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_start(&r);
    fake_alive(&r.source, 100);
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("a", 1));
    for (int i = 0; i < 2; i++) {
        reflecting_advance(&r, 6 * TEST_SECOND);
        fake_alive(&r.source, 100);
        fake_bookmark(&r.source, "5", false);
    }
    reflecting_expect_state(&r, KI_REFLECTOR_STREAMING, "");
    reflecting_advance(&r, 3 * TEST_SECOND);
    expect_fallback(&r);
    reflecting_done(&r);
}

static void live_changes_without_an_end_are_no_progress(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_start(&r);
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("a", 1));
    for (unsigned i = 0; i < 5; i++) {
        reflecting_advance(&r, 3 * TEST_SECOND - 1);
        fake_alive(&r.source, 100);
        fake_event(&r.source, KI_WATCH_EVENT_MODIFIED, fake_pod("a", 2 + i));
    }
    reflecting_advance(&r, 5);
    expect_fallback(&r);
    reflecting_done(&r);
}

static void objects_that_keep_coming_for_five_minutes_are_given_up(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_start(&r);
    for (unsigned i = 0; i < 30; i++) {
        fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("a", 1 + i));
        reflecting_advance(&r, 10 * TEST_SECOND - (i == 29));
    }
    reflecting_expect_state(&r, KI_REFLECTOR_STREAMING, "");
    reflecting_advance(&r, 1);
    expect_fallback(&r);
    reflecting_done(&r);
}

static void closed_twice_before_the_end_falls_back(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_start(&r);
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("a", 1));
    fake_end_watch(&r.source);
    reflecting_settle(&r);
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("a", 1));
    fake_end_watch(&r.source);
    expect_fallback(&r);
    reflecting_done(&r);
}

static void after_that_streaming_is_not_tried_for_ten_minutes(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_start(&r);
    fake_alive(&r.source, 0);
    reflecting_advance(&r, 15 * TEST_SECOND);
    uint64_t gave_up = r.world.now;
    fake_end_list(&r.source, "5", "");
    reflecting_settle(&r);
    fake_error_event(&r.source, 410, "Expired", "too old");
    reflecting_advance(&r, 2 * TEST_SECOND);
    reflecting_expect_state(&r, KI_REFLECTOR_LISTING, "5");
    fake_end_list(&r.source, "6", "");
    reflecting_settle(&r);
    while (r.world.now < gave_up + 600 * TEST_SECOND) {
        reflecting_advance(&r, 60 * TEST_SECOND);
        fake_alive(&r.source, 1);
        reflecting_settle(&r);
    }
    fake_error_event(&r.source, 410, "Expired", "too old");
    reflecting_advance(&r, 2 * TEST_SECOND);
    reflecting_expect_state(&r, KI_REFLECTOR_STREAMING, "6");
    reflecting_done(&r);
}

static void the_times_of_the_fallback_can_be_chosen(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    r.options.initial_idle_ms = 1000;
    r.options.no_streaming_ms = UINT64_MAX;
    reflecting_start(&r);
    fake_alive(&r.source, 0);
    reflecting_advance(&r, TEST_SECOND);
    expect_fallback(&r);
    fake_end_list(&r.source, "5", "");
    reflecting_settle(&r);
    reflecting_advance(&r, 3600 * TEST_SECOND);
    fake_error_event(&r.source, 410, "Expired", "too old");
    reflecting_advance(&r, 2 * TEST_SECOND);
    reflecting_expect_state(&r, KI_REFLECTOR_LISTING, "5");
    reflecting_done(&r);
}

/* ---- undecodable events ---- */

static void a_skipped_object_does_not_stop_the_others(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_start(&r);
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("a", 1));
    fake_skipped(&r.source, KI_WATCH_EVENT_ADDED, "default/poison", "2", KI_ERR_SYNTAX);
    fake_skipped(&r.source, KI_WATCH_EVENT_ADDED, "", "", KI_ERR_SYNTAX);
    fake_skipped(&r.source, KI_WATCH_EVENT_MODIFIED, "default/a", "3", KI_ERR_SYNTAX);
    fake_skipped(&r.source, KI_WATCH_EVENT_ADDED, "default/gone", "4", KI_ERR_SYNTAX);
    fake_skipped(&r.source, KI_WATCH_EVENT_DELETED, "default/gone", "5", KI_ERR_SYNTAX);
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("b", 6));
    fake_bookmark(&r.source, "7", true);
    reflecting_expect(&r, "=(a@1,b@6?default/poison)@7");
    assert_int_equal(reflecting_health(&r).skipped, 5);
    assert_int_equal(r.reports, 5);
    assert_string_equal(r.report_key, "default/gone");
    reflecting_done(&r);
}

static void a_deletion_of_nobody_knows_what_spoils_the_list(void **state)
{
    (void)state;
    static const ki_watch_event_type types[] = {KI_WATCH_EVENT_DELETED, KI_WATCH_EVENT_MAX};
    for (size_t i = 0; i < 2; i++) {
        reflecting r;
        reflecting_init(&r);
        reflecting_start(&r);
        fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("a", 1));
        fake_skipped(&r.source, types[i], "", "", KI_ERR_SYNTAX);
        reflecting_expect(&r, "");
        reflecting_expect_state(&r, KI_REFLECTOR_BACKOFF, "");
        reflecting_done(&r);
    }
}

static void events_of_another_kind_are_left_out_of_the_list(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    r.options.expected_kind = "Pod";
    r.options.expected_api_version = "v1";
    reflecting_start(&r);
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("a", 1));
    fake_event(&r.source, KI_WATCH_EVENT_ADDED,
               test_object(NULL, "{'kind':'Node','apiVersion':'v1','metadata':{'name':'n'}}"));
    fake_event(&r.source, KI_WATCH_EVENT_ADDED,
               test_object(NULL, "{'kind':'Pod','apiVersion':'v2','metadata':{'name':'n'}}"));
    fake_event(&r.source, KI_WATCH_EVENT_ADDED,
               test_object(NULL, "{'kind':'Pod','apiVersion':'v1','metadata':{}}"));
    fake_bookmark(&r.source, "7", true);
    reflecting_expect(&r, "=(a@1)@7");
    assert_int_equal(reflecting_health(&r).skipped, 3);
    reflecting_done(&r);
}

static void too_many_objects_are_a_failed_stream(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    r.options.max_objects = 2;
    reflecting_start(&r);
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("a", 1));
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("b", 2));
    fake_event(&r.source, KI_WATCH_EVENT_MODIFIED, fake_pod("b", 3));
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("c", 4));
    reflecting_expect_state(&r, KI_REFLECTOR_LISTING, "");
    reflecting_done(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_request_of_a_streaming_list),
        cmocka_unit_test(the_end_bookmark_hands_all_objects_over_at_its_version),
        cmocka_unit_test(the_same_stream_continues_as_the_watch),
        cmocka_unit_test(health_shows_progress_of_a_list_and_whether_a_watch_is_open),
        cmocka_unit_test(changes_before_the_end_bookmark_are_part_of_the_list),
        cmocka_unit_test(other_bookmarks_do_not_end_the_initial_events),
        cmocka_unit_test(every_status_leads_to_the_same_as_answer_and_as_event),
        cmocka_unit_test(connection_refused_waits_and_streams_again),
        cmocka_unit_test(a_source_that_refuses_at_once_is_a_failed_request),
        cmocka_unit_test(what_a_stream_brings_unchanged_is_the_object_that_the_target_has),
        cmocka_unit_test(an_expired_version_is_tried_once_more_without_one),
        cmocka_unit_test(a_version_too_large_is_tried_once_more_without_one),
        cmocka_unit_test(a_stream_of_the_latest_that_cannot_be_falls_back_to_the_list),
        cmocka_unit_test(a_stream_closed_before_its_end_is_opened_again_at_once),
        cmocka_unit_test(a_stream_that_lived_a_second_without_event_is_opened_again),
        cmocka_unit_test(a_very_short_stream_falls_back_to_the_list),
        cmocka_unit_test(a_connection_that_breaks_at_once_is_waited_for),
        cmocka_unit_test(streaming_is_tried_first_each_time),
        cmocka_unit_test(a_target_that_rejects_the_list_is_reported_and_retried),
        cmocka_unit_test(no_end_bookmark_falls_back_after_15_s),
        cmocka_unit_test(a_stream_that_is_not_accepted_has_three_minutes),
        cmocka_unit_test(bytes_without_an_event_yet_are_progress),
        cmocka_unit_test(an_unannotated_bookmark_is_no_progress),
        cmocka_unit_test(live_changes_without_an_end_are_no_progress),
        cmocka_unit_test(objects_that_keep_coming_for_five_minutes_are_given_up),
        cmocka_unit_test(closed_twice_before_the_end_falls_back),
        cmocka_unit_test(after_that_streaming_is_not_tried_for_ten_minutes),
        cmocka_unit_test(the_times_of_the_fallback_can_be_chosen),
        cmocka_unit_test(a_skipped_object_does_not_stop_the_others),
        cmocka_unit_test(a_deletion_of_nobody_knows_what_spoils_the_list),
        cmocka_unit_test(events_of_another_kind_are_left_out_of_the_list),
        cmocka_unit_test(too_many_objects_are_a_failed_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
