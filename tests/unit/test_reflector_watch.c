/* SPDX-License-Identifier: Apache-2.0 */
/* The reflector while it watches: what the target hears, how the version moves, how a watch ends
 * and is resumed, and the resync timer. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include <kinformer/status.h>

#include "support/objects.h"
#include "support/reflecting.h"
#include "support/wire.h"

static const fake_request *last(reflecting *r)
{
    reflecting_settle(r);
    return fake_last(&r->source);
}

/* ---- events ---- */

static void events_are_delivered_in_order_and_move_the_version(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_sync(&r);
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("b", 11));
    reflecting_expect(&r, "+b@11");
    reflecting_expect_state(&r, KI_REFLECTOR_WATCHING, "11");
    fake_event(&r.source, KI_WATCH_EVENT_MODIFIED, fake_pod("b", 12));
    fake_event(&r.source, KI_WATCH_EVENT_DELETED, fake_pod("a", 15));
    reflecting_expect(&r, "~b@12 -a@15");
    reflecting_expect_state(&r, KI_REFLECTOR_WATCHING, "15");
    ki_health health = reflecting_health(&r);
    assert_int_equal(health.events, 3);
    assert_int_equal(health.since_event_ms, 0);
    reflecting_done(&r);
}

static void a_bookmark_moves_the_version_and_is_delivered_as_such(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_sync(&r);
    fake_bookmark(&r.source, "30", false);
    reflecting_expect(&r, "B30");
    reflecting_expect_state(&r, KI_REFLECTOR_WATCHING, "30");
    assert_int_equal(reflecting_health(&r).bookmarks, 1);
    assert_int_equal(reflecting_health(&r).events, 0);
    fake_bookmark(&r.source, "30", false); /* the same again is valid */
    reflecting_expect(&r, "B30");
    assert_int_equal(reflecting_health(&r).anomalies, 0);
    reflecting_done(&r);
}

static void a_target_without_bookmarks_moves_on_all_the_same(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    r.target.bookmark = NULL;
    reflecting_sync(&r);
    fake_bookmark(&r.source, "30", false);
    reflecting_expect_state(&r, KI_REFLECTOR_WATCHING, "30");
    reflecting_done(&r);
}

static void events_of_another_kind_are_skipped_and_do_not_move_the_version(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    r.options.expected_kind = "Pod";
    r.options.expected_api_version = "v1";
    reflecting_sync(&r);
    fake_event(&r.source, KI_WATCH_EVENT_ADDED,
               test_object(NULL, "{'kind':'Node','apiVersion':'v1',"
                                 "'metadata':{'name':'n','resourceVersion':'11'}}"));
    fake_event(&r.source, KI_WATCH_EVENT_ADDED,
               test_object(NULL, "{'kind':'Pod','apiVersion':'v1beta1',"
                                 "'metadata':{'name':'n','resourceVersion':'12'}}"));
    fake_event(&r.source, KI_WATCH_EVENT_ADDED,
               test_object(NULL, "{'kind':'Pod','apiVersion':'v1',"
                                 "'metadata':{'resourceVersion':'13'}}"));
    reflecting_expect(&r, "");
    reflecting_expect_state(&r, KI_REFLECTOR_WATCHING, "10");
    assert_int_equal(r.reports, 3);
    assert_int_equal(reflecting_health(&r).skipped, 3);
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("b", 14));
    reflecting_expect(&r, "+b@14");
    reflecting_done(&r);
}

static void a_table_is_no_object(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_sync(&r);
    fake_event(&r.source, KI_WATCH_EVENT_ADDED,
               test_object(NULL, "{'kind':'Table','apiVersion':'meta.k8s.io/v1',"
                                 "'metadata':{'name':'n','resourceVersion':'11'}}"));
    reflecting_expect(&r, "");
    assert_int_equal(r.report_code, KI_ERR_UNSUPPORTED);
    reflecting_done(&r);
}

static void an_unknown_type_is_reported(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_sync(&r);
    fake_event(&r.source, KI_WATCH_EVENT_MAX, fake_pod("a", 11));
    reflecting_expect(&r, "");
    assert_int_equal(r.reports, 1);
    reflecting_expect_state(&r, KI_REFLECTOR_WATCHING, "10");
    reflecting_done(&r);
}

static void what_the_target_refuses_is_reported_and_the_version_moves_on(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_sync(&r);
    r.fail = KI_ERR_INDEX_FUNCTION;
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("b", 11));
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("c", 12));
    reflecting_expect(&r, "+c@12");
    reflecting_expect_state(&r, KI_REFLECTOR_WATCHING, "12");
    assert_int_equal(r.report_code, KI_ERR_INDEX_FUNCTION);
    assert_string_equal(r.report_key, "default/b");
    assert_int_equal(reflecting_health(&r).target_errors, 1);
    reflecting_done(&r);
}

/* client-go logs it and loses the event. */
static void what_the_target_has_no_memory_for_comes_again(void **state)
{
    (void)state;
    const ki_watch_event_type types[] = {KI_WATCH_EVENT_ADDED, KI_WATCH_EVENT_MODIFIED,
                                         KI_WATCH_EVENT_DELETED};
    const char *const texts[] = {"+b@11", "~b@11", "-b@11"};
    for (size_t i = 0; i < 3; i++) {
        reflecting r;
        reflecting_init(&r);
        reflecting_sync(&r);
        r.fail = i == 1 ? KI_ERR_BUSY : -ENOMEM;
        fake_event(&r.source, types[i], fake_pod("b", 11));
        reflecting_expect_state(&r, KI_REFLECTOR_BACKOFF, "10");
        reflecting_advance(&r, 2 * TEST_SECOND);
        assert_true(last(&r)->watch && !last(&r)->initial);
        assert_string_equal(last(&r)->version, "10");
        fake_event(&r.source, types[i], fake_pod("b", 11));
        reflecting_expect(&r, texts[i]);
        assert_int_equal(reflecting_health(&r).relists, 0);
        reflecting_done(&r);
    }
}

/* ---- order ---- */

static void an_event_from_the_past_is_refused_and_leads_to_a_list(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_sync(&r);
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("b", 12));
    fake_event(&r.source, KI_WATCH_EVENT_MODIFIED, fake_pod("a", 11));
    reflecting_expect(&r, "+b@12");
    reflecting_expect_state(&r, KI_REFLECTOR_BACKOFF, "12");
    assert_int_equal(reflecting_health(&r).anomalies, 1);
    assert_int_equal(r.report_code, KI_ERR_STALE);
    reflecting_advance(&r, 2 * TEST_SECOND);
    assert_true(last(&r)->initial);
    assert_string_equal(last(&r)->version, "12");
    reflecting_done(&r);
}

static void a_bookmark_from_the_past_is_left_out(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_sync(&r);
    fake_bookmark(&r.source, "9", false);
    fake_bookmark(&r.source, "", false);
    reflecting_expect(&r, "");
    reflecting_expect_state(&r, KI_REFLECTOR_WATCHING, "10");
    assert_int_equal(reflecting_health(&r).anomalies, 1);
    reflecting_done(&r);
}

/* A lease that runs out takes all its objects with it, in one revision of etcd. */
static void several_objects_may_go_at_one_version(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_sync(&r);
    fake_event(&r.source, KI_WATCH_EVENT_DELETED, fake_pod("x", 11));
    fake_event(&r.source, KI_WATCH_EVENT_DELETED, fake_pod("y", 11));
    fake_event(&r.source, KI_WATCH_EVENT_DELETED, fake_pod("z", 11));
    reflecting_expect(&r, "-x@11 -y@11 -z@11");
    assert_int_equal(reflecting_health(&r).anomalies, 0);
    reflecting_done(&r);
}

static void the_same_event_twice_is_delivered_once(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_sync(&r);
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("b", 11));
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("b", 11));
    fake_event(&r.source, KI_WATCH_EVENT_DELETED,
               fake_pod("b", 11)); /* of a server that counts so */
    reflecting_expect(&r, "+b@11 -b@11");
    assert_int_equal(reflecting_health(&r).anomalies, 1);
    reflecting_done(&r);
}

static void an_event_at_the_version_of_the_list_is_delivered_and_counted(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_sync(&r);
    fake_event(&r.source, KI_WATCH_EVENT_MODIFIED, fake_pod("a", 10));
    reflecting_expect(&r, "~a@10");
    assert_int_equal(reflecting_health(&r).anomalies, 1);
    reflecting_expect_state(&r, KI_REFLECTOR_WATCHING, "10");
    reflecting_done(&r);
}

static void versions_without_an_order_are_delivered_as_they_come(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_sync(&r);
    fake_event(&r.source, KI_WATCH_EVENT_MODIFIED, fake_pod_text("a", "z"));
    fake_event(&r.source, KI_WATCH_EVENT_MODIFIED, fake_pod_text("a", "b"));
    fake_event(&r.source, KI_WATCH_EVENT_MODIFIED, fake_pod_text("a", ""));
    reflecting_expect(&r, "~a@z ~a@b ~a@");
    reflecting_expect_state(&r, KI_REFLECTOR_WATCHING, "b"); /* none does not move it */
    reflecting_done(&r);
}

/* ---- a watch from no version ---- */

static void start_without_version(reflecting *r, const char *version)
{
    r->options.no_streaming = true;
    reflecting_start(r);
    fake_end_list(&r->source, version, "");
    reflecting_settle(r);
    assert_string_equal(fake_last(&r->source)->version, version);
    r->heard[0] = '\0';
}

static void from_no_version_it_moves_with_the_first_event_that_is_not_added(void **state)
{
    (void)state;
    const char *const none[] = {"", "0"};
    for (size_t i = 0; i < 2; i++) {
        reflecting r;
        reflecting_init(&r);
        start_without_version(&r, none[i]);
        fake_event(&r.source, KI_WATCH_EVENT_ADDED,
                   fake_pod("b", 7)); /* initial ones, in no order */
        fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("a", 3));
        reflecting_expect(&r, "+b@7 +a@3");
        reflecting_expect_state(&r, KI_REFLECTOR_WATCHING, none[i]);
        fake_event(&r.source, KI_WATCH_EVENT_MODIFIED, fake_pod("a", 9));
        reflecting_expect_state(&r, KI_REFLECTOR_WATCHING, "9");
        fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("c", 10));
        reflecting_expect_state(&r, KI_REFLECTOR_WATCHING, "10");
        reflecting_done(&r);
    }
}

/* There would be no telling what was deleted meanwhile. */
static void from_no_version_no_watch_is_resumed(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    start_without_version(&r, "");
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("b", 7));
    reflecting_advance(&r, 2 * TEST_SECOND);
    fake_end_watch(&r.source);
    reflecting_expect_state(&r, KI_REFLECTOR_BACKOFF, "");
    assert_int_equal(reflecting_health(&r).next, KI_REFLECTOR_LISTING);
    reflecting_done(&r);
}

/* ---- how it ends ---- */

static void a_watch_that_ends_is_resumed_at_once_from_the_last_version(void **state)
{
    (void)state;
    const int codes[] = {0,       -ECONNRESET,     -EPIPE, -ETIMEDOUT, -ECONNABORTED,
                         -EPROTO, KI_ERR_TRUNCATED};
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        for (int with_event = 0; with_event <= 1; with_event++) {
            reflecting r;
            reflecting_init(&r);
            reflecting_sync_by_list(&r);
            if (with_event != 0) {
                fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("b", 11));
            } else {
                fake_alive(&r.source, 0);
                reflecting_advance(&r, TEST_SECOND); /* long enough */
            }
            if (codes[i] == 0) {
                fake_end_watch(&r.source);
            } else {
                fake_end_error(&r.source, codes[i]);
            }
            assert_string_equal(last(&r)->version, with_event != 0 ? "11" : "10");
            assert_true(last(&r)->watch && !last(&r)->initial && last(&r)->bookmarks);
            assert_int_equal(r.source.count, 3);
            ki_health health = reflecting_health(&r);
            assert_int_equal(health.relists, 0);
            assert_int_equal(health.reconnects, 1);
            assert_int_equal(health.backoffs, 0);
            assert_int_equal(r.errors, 0);
            reflecting_done(&r);
        }
    }
}

static void the_stream_that_became_the_watch_is_resumed_too(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_sync(&r);
    fake_end_watch(&r.source);
    reflecting_settle(&r);
    assert_string_equal(last(&r)->version, "10");
    assert_false(last(&r)->initial);
    assert_int_equal(reflecting_health(&r).reconnects, 1);
    reflecting_done(&r);
}

static void a_very_short_watch_waits_and_lists_again(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_sync_by_list(&r);
    reflecting_advance(&r, 999 * TEST_MS);
    fake_end_watch(&r.source);
    reflecting_expect_state(&r, KI_REFLECTOR_BACKOFF, "10");
    assert_int_equal(reflecting_health(&r).next, KI_REFLECTOR_LISTING);
    assert_int_equal(r.errors, 1);
    assert_int_equal(r.error.code, KI_ERR_UNSUPPORTED);
    reflecting_advance(&r, 2 * TEST_SECOND);
    assert_false(last(&r)->watch);
    assert_string_equal(last(&r)->version, "10");
    reflecting_done(&r);
}

/* client-go lists again here, which is what a rolling restart of servers does not need. */
static void a_connection_that_breaks_at_once_waits_and_is_resumed(void **state)
{
    (void)state;
    const int codes[] = {-ECONNREFUSED, -ECONNRESET, -EPIPE, -ETIMEDOUT, -EHOSTUNREACH, -ENOMEM};
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        reflecting r;
        reflecting_init(&r);
        reflecting_sync_by_list(&r);
        fake_end_error(&r.source, codes[i]);
        reflecting_expect_state(&r, KI_REFLECTOR_BACKOFF, "10");
        assert_int_equal(reflecting_health(&r).next, KI_REFLECTOR_WATCHING);
        assert_int_equal(r.errors, 1);
        r.source.refuse = codes[i]; /* and once more, known at once */
        reflecting_advance(&r, 1600 * TEST_MS);
        reflecting_expect_state(&r, KI_REFLECTOR_BACKOFF, "10");
        assert_int_equal(r.errors, 2);
        assert_int_equal(r.failure.operation, KI_OPERATION_WATCH);
        assert_int_equal(r.failure.attempt, 2);
        reflecting_advance(&r, 3200 * TEST_MS);
        assert_true(last(&r)->watch);
        assert_int_equal(r.source.count, 4);
        assert_int_equal(reflecting_health(&r).relists, 0);
        reflecting_done(&r);
    }
}

static void watches_that_are_cut_but_bring_something_never_wait_for_long(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_sync_by_list(&r);
    for (unsigned i = 0; i < 20; i++) {
        fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("b", 11 + i));
        fake_end_error(&r.source, -ECONNRESET);
        reflecting_settle(&r);
        size_t count = r.source.count;
        if (i > 0) { /* and yet never as fast as it can */
            assert_true(last(&r)->watch);
            assert_int_equal(reflecting_health(&r).state, KI_REFLECTOR_BACKOFF);
            reflecting_advance(&r, 800 * TEST_MS - 1);
            assert_int_equal(r.source.count, count);
            reflecting_advance(&r, 800 * TEST_MS);
            assert_int_equal(r.source.count, count + 1);
        }
    }
    assert_int_equal(reflecting_health(&r).relists, 0);
    reflecting_done(&r);
}

/* Nothing is gained by asking soon for what came before. */
static void watches_that_bring_the_same_again_wait_ever_longer(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_sync_by_list(&r);
    for (unsigned i = 0; i < 20; i++) {
        fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("b", 11));
        fake_end_error(&r.source, -ECONNRESET);
        reflecting_advance(&r, 60 * TEST_SECOND);
    }
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("b", 11));
    fake_end_error(&r.source, -ECONNRESET);
    reflecting_settle(&r);
    size_t count = r.source.count;
    reflecting_advance(&r, 29 * TEST_SECOND);
    assert_int_equal(r.source.count, count);
    reflecting_done(&r);
}

typedef struct failure_case {
    int code;
    const char *reason;
    bool resumes; /* or lists again */
} failure_case;

static const failure_case failures[] = {
    {400, "BadRequest", false},
    {401, "Unauthorized", false},
    {403, "Forbidden", false},
    {404, "NotFound", false},
    {410, "Expired", false},
    {410, "Gone", false},
    {410, "", false},
    {422, "Invalid", false},
    {429, "TooManyRequests", true},
    {429, "", true},
    {500, "InternalError", false},
    {503, "ServiceUnavailable", false},
    {504, "Timeout", false},
};

/* The same transition for both. */
static void one_failure(const failure_case *c, bool in_stream)
{
    reflecting r;
    reflecting_init(&r);
    reflecting_sync_by_list(&r);
    if (in_stream) {
        fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("b", 11));
        fake_error_event(&r.source, c->code, c->reason, "it failed");
    } else {
        fake_end_status(&r.source, c->code, c->reason, "it failed");
    }
    const char *version = in_stream ? "11" : "10";
    reflecting_expect_state(&r, KI_REFLECTOR_BACKOFF, version);
    assert_int_equal(r.errors, 1);
    assert_int_equal(r.failure.operation, KI_OPERATION_WATCH);
    assert_int_equal(reflecting_reason(&r).http_code, c->code);
    reflecting_advance(&r, 2 * TEST_SECOND);
    assert_int_equal(r.source.count, 3);
    assert_int_equal(last(&r)->watch, c->resumes);
    assert_string_equal(last(&r)->version,
                        version); /* also after a 410: that list may 410 itself */
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

static void undecodable_frames_wait_and_list_again(void **state)
{
    (void)state;
    const int codes[] = {KI_ERR_SYNTAX, KI_ERR_LIMIT, KI_ERR_UNSUPPORTED};
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        reflecting r;
        reflecting_init(&r);
        reflecting_sync_by_list(&r);
        fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("b", 11));
        fake_end_error(&r.source, codes[i]);
        reflecting_advance(&r, 2 * TEST_SECOND);
        assert_false(last(&r)->watch);
        reflecting_done(&r);
    }
}

static void retry_after_in_an_event_is_waited_for(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_sync(&r);
    fake_error_event_json(&r.source, "{'kind':'Status','apiVersion':'v1','code':429,"
                                     "'details':{'retryAfterSeconds':30}}");
    reflecting_advance(&r, 30 * TEST_SECOND - 1);
    assert_int_equal(r.source.count, 1);
    reflecting_advance(&r, 30 * TEST_SECOND / 4);
    assert_int_equal(r.source.count, 2);
    reflecting_done(&r);
}

static void internal_errors_are_retried_only_by_option(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    r.options.internal_error_retry_ms = 10 * 1000;
    reflecting_sync_by_list(&r);
    for (int i = 0; i < 5; i++) { /* at 2, 4, 6, 8 and 10 s; the window opens with the first */
        reflecting_advance(&r, 2 * TEST_SECOND);
        fake_error_event(&r.source, 500, "InternalError", "no");
        reflecting_expect_state(&r, KI_REFLECTOR_WATCHING, "10");
    }
    reflecting_advance(&r, 2 * TEST_SECOND + 1);
    fake_error_event(&r.source, 500, "InternalError", "no");
    reflecting_settle(&r);
    reflecting_expect_state(&r, KI_REFLECTOR_BACKOFF, "10");
    assert_int_equal(reflecting_health(&r).next, KI_REFLECTOR_LISTING);
    reflecting_advance(&r, 2 * TEST_SECOND);
    fake_end_list(&r.source, "20", "");
    reflecting_advance(&r, 2 * TEST_SECOND);
    fake_error_event(&r.source, 500, "InternalError", "no"); /* a new window */
    reflecting_expect_state(&r, KI_REFLECTOR_WATCHING, "20");
    reflecting_advance(&r, 60 * TEST_SECOND);
    fake_error_event(&r.source, 500, "InternalError", "no"); /* a minute without: another */
    reflecting_expect_state(&r, KI_REFLECTOR_WATCHING, "20");
    fake_end_status(&r.source, 500, "InternalError", "no"); /* as an answer it never is */
    reflecting_expect_state(&r, KI_REFLECTOR_BACKOFF, "20");
    assert_int_equal(reflecting_health(&r).next, KI_REFLECTOR_LISTING);
    reflecting_done(&r);
}

static void an_error_event_without_a_status_is_an_error(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_sync(&r);
    fake_event(&r.source, KI_WATCH_EVENT_ERROR, NULL);
    reflecting_expect_state(&r, KI_REFLECTOR_BACKOFF, "10");
    reflecting_done(&r);
}

/* A search that starts over for each cause takes minutes. */
static void a_status_of_very_many_causes_is_read_in_no_time(void **state)
{
    (void)state;
    enum { CAUSES = 100000 };
    reflecting r;
    ki_object *status;
    ki_error error = KI_ERROR_INIT;
    ki_buf text;
    ki_buf_init(&text, NULL, 1 << 20);
    test_quote(&text, "{'kind':'Status','apiVersion':'v1','code':504,'reason':'Timeout',"
                      "'details':{'causes':[");
    test_add(&text, "{},", CAUSES);
    test_add(&text, "{}]}}", 1);
    assert_int_equal(ki_object_from_json(text.data, text.len, NULL, &status, NULL), 0);
    assert_int_equal(ki_status_to_error(status, &error), KI_ERR_STATUS);
    reflecting_init(&r);
    reflecting_sync(&r);
    clock_t start = clock();
    r.source.sink.on_event(KI_WATCH_EVENT_ERROR, status, &error, r.source.sink.user);
    assert_true(clock() - start < 10 * CLOCKS_PER_SEC);
    reflecting_expect_state(&r, KI_REFLECTOR_BACKOFF, "10");
    reflecting_done(&r);
    ki_object_unref(status);
    ki_buf_done(&text);
}

/* ---- silence ---- */

static void the_timeout_is_drawn_for_each_watch(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_sync(&r);
    uint32_t least = UINT32_MAX;
    uint32_t most = 0;
    for (int i = 0; i < 500; i++) {
        reflecting_advance(&r, TEST_SECOND);
        fake_end_watch(&r.source);
        uint32_t timeout = last(&r)->timeout;
        least = timeout < least ? timeout : least;
        most = timeout > most ? timeout : most;
    }
    assert_in_range(least, 300, 305);
    assert_in_range(most, 594, 599);
    reflecting_done(&r);
}

static void a_longer_timeout_doubles_and_a_shorter_does_not_count(void **state)
{
    (void)state;
    const uint64_t minutes[] = {1, 20};
    for (size_t i = 0; i < 2; i++) {
        reflecting r;
        reflecting_init(&r);
        r.options.min_watch_timeout_ms = minutes[i] * 60 * 1000;
        reflecting_start(&r);
        uint32_t least = i == 0 ? 300 : 1200;
        assert_in_range(last(&r)->timeout, least, 2 * least - 1);
        reflecting_done(&r);
    }
}

static void a_watch_without_a_byte_for_three_minutes_is_replaced(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_sync(&r);
    reflecting_advance(&r, 100 * TEST_SECOND);
    fake_alive(&r.source, 5);
    reflecting_advance(&r, 180 * TEST_SECOND - 1);
    assert_int_equal(r.source.count, 1);
    reflecting_advance(&r, 1);
    assert_int_equal(r.source.count, 2);
    assert_int_equal(r.source.cancels, 1);
    reflecting_expect_state(&r, KI_REFLECTOR_WATCHING, "10");
    assert_int_equal(reflecting_health(&r).relists, 0);
    assert_int_equal(reflecting_health(&r).bytes, 5);
    reflecting_done(&r);
}

static void a_watch_that_outlives_its_timeout_is_replaced(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_sync_by_list(&r);
    uint64_t limit = (last(&r)->timeout + 30) * TEST_SECOND;
    uint64_t began = r.world.now;
    while (r.source.count == 2) {
        reflecting_advance(&r, TEST_SECOND);
        fake_alive(&r.source, 1); /* it lives, but the server was to end it */
        reflecting_settle(&r);
    }
    assert_int_equal(r.world.now - began, limit);
    assert_int_equal(r.source.cancels, 1);
    reflecting_done(&r);
}

/* ---- undecodable events ---- */

static void a_changed_object_that_cannot_be_read_is_passed_over(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_sync(&r);
    fake_skipped(&r.source, KI_WATCH_EVENT_MODIFIED, "default/a", "11", KI_ERR_SYNTAX);
    fake_skipped(&r.source, KI_WATCH_EVENT_ADDED, "default/z", "", KI_ERR_SYNTAX);
    fake_skipped(&r.source, KI_WATCH_EVENT_ADDED, "default/y", "3", KI_ERR_SYNTAX);
    reflecting_expect(&r, "");
    reflecting_expect_state(&r, KI_REFLECTOR_WATCHING, "11"); /* or it would come for ever */
    assert_int_equal(r.reports, 3);
    assert_int_equal(reflecting_health(&r).skipped, 3);
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("b", 12));
    reflecting_expect(&r, "+b@12");
    reflecting_done(&r);
}

static void a_deletion_that_cannot_be_read_is_done_by_key(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_sync(&r);
    fake_skipped(&r.source, KI_WATCH_EVENT_DELETED, "default/a", "11", KI_ERR_SYNTAX);
    reflecting_expect(&r, "-(default/a)");
    reflecting_expect_state(&r, KI_REFLECTOR_WATCHING, "11");
    reflecting_done(&r);
}

static void a_deletion_without_a_key_or_type_leads_to_a_list(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        reflecting r;
        reflecting_init(&r);
        if (i == 3) {
            r.target.remove_key = NULL;
        }
        reflecting_sync(&r);
        if (i == 0) {
            fake_skipped(&r.source, KI_WATCH_EVENT_DELETED, "", "", KI_ERR_SYNTAX);
        } else if (i == 1) {
            fake_skipped(&r.source, KI_WATCH_EVENT_MAX, "", "", KI_ERR_SYNTAX);
        } else if (i == 2) {
            fake_event(&r.source, KI_WATCH_EVENT_DELETED,
                       test_object(NULL, "{'kind':'Pod','apiVersion':'v1','metadata':{}}"));
        } else {
            fake_skipped(&r.source, KI_WATCH_EVENT_DELETED, "default/a", "11", KI_ERR_SYNTAX);
        }
        reflecting_expect_state(&r, KI_REFLECTOR_BACKOFF, "10");
        reflecting_advance(&r, 2 * TEST_SECOND);
        assert_true(last(&r)->initial);
        reflecting_done(&r);
    }
}

/* The table of a source may be the program's own: its texts have no limit. */
static void a_skipped_version_of_any_length_is_passed_over(void **state)
{
    (void)state;
    reflecting r;
    char version[2000];
    memset(version, '9', sizeof(version) - 1);
    version[sizeof(version) - 1] = '\0';
    reflecting_init(&r);
    reflecting_sync(&r);
    const ki_error error = {.code = KI_ERR_SYNTAX, .message = "bad"};
    r.source.sink.on_skipped(KI_WATCH_EVENT_MODIFIED, "default/a", version, &error,
                             r.source.sink.user);
    reflecting_expect_state(&r, KI_REFLECTOR_WATCHING, "10");
    assert_int_equal(reflecting_health(&r).skipped, 1);
    reflecting_done(&r);
}

static void an_event_there_was_no_memory_for_comes_again(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_sync(&r);
    fake_skipped(&r.source, KI_WATCH_EVENT_MODIFIED, "default/a", "11", -ENOMEM);
    reflecting_expect_state(&r, KI_REFLECTOR_BACKOFF, "10");
    assert_int_equal(reflecting_health(&r).next, KI_REFLECTOR_WATCHING);
    assert_int_equal(reflecting_health(&r).skipped, 0);
    reflecting_done(&r);
}

/* ---- resync ---- */

static void resync_comes_each_period_while_watching(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    r.options.resync_period_ms = 30 * 1000;
    reflecting_start(&r);
    reflecting_advance(&r, 10 * TEST_SECOND); /* not while it lists */
    fake_bookmark(&r.source, "10", true);
    reflecting_expect(&r, "=()@10");
    reflecting_advance(&r, 30 * TEST_SECOND - 1);
    reflecting_expect(&r, "");
    reflecting_advance(&r, 1);
    reflecting_expect(&r, "S");
    reflecting_advance(&r, 90 * TEST_SECOND);
    reflecting_expect(&r, "S S S");
    fake_end_watch(&r.source); /* resuming a watch does not restart the period */
    reflecting_advance(&r, 30 * TEST_SECOND);
    reflecting_expect(&r, "S");
    assert_int_equal(reflecting_health(&r).resyncs, 5);
    fake_error_event(&r.source, 410, "Expired", "too old");
    reflecting_advance(&r, 2 * TEST_SECOND);
    reflecting_expect_state(&r, KI_REFLECTOR_STREAMING, "10");
    fake_alive(&r.source, 1);
    reflecting_advance(&r, 14 * TEST_SECOND);
    fake_alive(&r.source, 1);
    reflecting_advance(&r, 14 * TEST_SECOND + 500 * TEST_MS);
    reflecting_expect(&r, ""); /* not while it lists again */
    reflecting_done(&r);
}

static void without_a_period_there_is_no_resync(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_sync(&r);
    for (int i = 0; i < 1000; i++) {
        reflecting_advance(&r, 100 * TEST_SECOND);
        fake_alive(&r.source, 1);
    }
    reflecting_expect(&r, "");
    reflecting_done(&r);
}

static void should_resync_has_a_say(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    r.options.resync_period_ms = 10 * 1000;
    r.may_resync = false;
    reflecting_sync(&r);
    reflecting_advance(&r, 35 * TEST_SECOND);
    reflecting_expect(&r, "");
    r.may_resync = true;
    reflecting_advance(&r, 5 * TEST_SECOND);
    reflecting_expect(&r, "S");
    reflecting_done(&r);
}

static void without_should_resync_the_answer_is_yes(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    r.options.resync_period_ms = 10 * 1000;
    r.options.should_resync = NULL;
    reflecting_sync(&r);
    reflecting_advance(&r, 10 * TEST_SECOND);
    reflecting_expect(&r, "S");
    reflecting_done(&r);
}

static void a_target_without_resync_is_not_asked(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    r.options.resync_period_ms = 10 * 1000;
    r.target.resync = NULL;
    reflecting_sync(&r);
    reflecting_advance(&r, 60 * TEST_SECOND);
    reflecting_expect(&r, "");
    reflecting_done(&r);
}

static void a_failed_resync_leads_to_a_list(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    r.options.resync_period_ms = 10 * 1000;
    reflecting_sync(&r);
    r.fail = -ENOMEM;
    reflecting_advance(&r, 10 * TEST_SECOND);
    reflecting_expect_state(&r, KI_REFLECTOR_BACKOFF, "10");
    assert_int_equal(reflecting_health(&r).next, KI_REFLECTOR_STREAMING);
    assert_int_equal(r.report_code, -ENOMEM);
    assert_int_equal(r.errors, 0);
    reflecting_done(&r);
}

static void no_resync_while_it_waits_to_take_the_watch_up(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    r.options.resync_period_ms = 10 * 1000;
    reflecting_sync(&r);
    fake_error_event_json(&r.source, "{'kind':'Status','apiVersion':'v1','code':429,"
                                     "'details':{'retryAfterSeconds':15}}");
    reflecting_advance(&r, 14 * TEST_SECOND);
    reflecting_expect(&r, "");
    reflecting_advance(&r, 6 * TEST_SECOND);
    reflecting_expect(&r, "S"); /* the period continues all the while */
    reflecting_done(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_delivered_in_order_and_move_the_version),
        cmocka_unit_test(a_bookmark_moves_the_version_and_is_delivered_as_such),
        cmocka_unit_test(a_target_without_bookmarks_moves_on_all_the_same),
        cmocka_unit_test(events_of_another_kind_are_skipped_and_do_not_move_the_version),
        cmocka_unit_test(a_table_is_no_object),
        cmocka_unit_test(an_unknown_type_is_reported),
        cmocka_unit_test(what_the_target_refuses_is_reported_and_the_version_moves_on),
        cmocka_unit_test(what_the_target_has_no_memory_for_comes_again),
        cmocka_unit_test(an_event_from_the_past_is_refused_and_leads_to_a_list),
        cmocka_unit_test(a_bookmark_from_the_past_is_left_out),
        cmocka_unit_test(several_objects_may_go_at_one_version),
        cmocka_unit_test(the_same_event_twice_is_delivered_once),
        cmocka_unit_test(an_event_at_the_version_of_the_list_is_delivered_and_counted),
        cmocka_unit_test(versions_without_an_order_are_delivered_as_they_come),
        cmocka_unit_test(from_no_version_it_moves_with_the_first_event_that_is_not_added),
        cmocka_unit_test(from_no_version_no_watch_is_resumed),
        cmocka_unit_test(a_watch_that_ends_is_resumed_at_once_from_the_last_version),
        cmocka_unit_test(the_stream_that_became_the_watch_is_resumed_too),
        cmocka_unit_test(a_very_short_watch_waits_and_lists_again),
        cmocka_unit_test(a_connection_that_breaks_at_once_waits_and_is_resumed),
        cmocka_unit_test(watches_that_are_cut_but_bring_something_never_wait_for_long),
        cmocka_unit_test(watches_that_bring_the_same_again_wait_ever_longer),
        cmocka_unit_test(every_status_leads_to_the_same_as_answer_and_as_event),
        cmocka_unit_test(undecodable_frames_wait_and_list_again),
        cmocka_unit_test(retry_after_in_an_event_is_waited_for),
        cmocka_unit_test(internal_errors_are_retried_only_by_option),
        cmocka_unit_test(an_error_event_without_a_status_is_an_error),
        cmocka_unit_test(a_status_of_very_many_causes_is_read_in_no_time),
        cmocka_unit_test(the_timeout_is_drawn_for_each_watch),
        cmocka_unit_test(a_longer_timeout_doubles_and_a_shorter_does_not_count),
        cmocka_unit_test(a_watch_without_a_byte_for_three_minutes_is_replaced),
        cmocka_unit_test(a_watch_that_outlives_its_timeout_is_replaced),
        cmocka_unit_test(a_changed_object_that_cannot_be_read_is_passed_over),
        cmocka_unit_test(a_deletion_that_cannot_be_read_is_done_by_key),
        cmocka_unit_test(a_deletion_without_a_key_or_type_leads_to_a_list),
        cmocka_unit_test(a_skipped_version_of_any_length_is_passed_over),
        cmocka_unit_test(an_event_there_was_no_memory_for_comes_again),
        cmocka_unit_test(resync_comes_each_period_while_watching),
        cmocka_unit_test(without_a_period_there_is_no_resync),
        cmocka_unit_test(should_resync_has_a_say),
        cmocka_unit_test(without_should_resync_the_answer_is_yes),
        cmocka_unit_test(a_target_without_resync_is_not_asked),
        cmocka_unit_test(a_failed_resync_leads_to_a_list),
        cmocka_unit_test(no_resync_while_it_waits_to_take_the_watch_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
