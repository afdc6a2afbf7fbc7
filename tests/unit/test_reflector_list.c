/* SPDX-License-Identifier: Apache-2.0 */
/* The reflector while it lists in pages: which version and page size it asks for, what it does when
 * that fails, and that it never goes back in time. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "support/objects.h"
#include "support/reflecting.h"

static const fake_request *last(reflecting *r)
{
    reflecting_settle(r);
    return fake_last(&r->source);
}

/* From WATCHING to the next list: a 410 in the watch, and the wait. */
static void expire(reflecting *r)
{
    fake_error_event(&r->source, 410, "Expired", "too old");
    reflecting_advance(r, 60 * TEST_SECOND);
    assert_false(last(r)->watch);
}

static void the_first_list_asks_for_the_latest_in_pages_of_500(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    r.options.no_streaming = true;
    r.options.label_selector = "app=web";
    r.options.field_selector = "spec.nodeName=n1";
    reflecting_start(&r);
    assert_int_equal(r.source.count, 1);
    const fake_request *request = fake_last(&r.source);
    assert_false(request->watch);
    assert_string_equal(request->version, ""); /* client-go: "0", which may be any past */
    assert_string_equal(request->match, "");   /* the server refuses one without a version */
    assert_int_equal(request->limit, 500);
    assert_string_equal(request->labels, "app=web");
    assert_string_equal(request->fields, "spec.nodeName=n1");
    assert_false(request->initial);
    reflecting_done(&r);
}

static void a_stale_start_must_be_requested(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    r.options.no_streaming = true;
    r.options.allow_stale_start = true;
    reflecting_start(&r);
    assert_string_equal(fake_last(&r.source)->version, "0");
    assert_string_equal(fake_last(&r.source)->match, "NotOlderThan");
    assert_int_equal(fake_last(&r.source)->limit, 500);
    reflecting_done(&r);
}

static void a_source_without_streaming_is_listed(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    r.source.table.no_streaming_list = true;
    reflecting_start(&r);
    reflecting_expect_state(&r, KI_REFLECTOR_LISTING, "");
    reflecting_done(&r);
}

static void a_list_is_handed_over_at_its_version_and_then_watched(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    r.options.no_streaming = true;
    reflecting_start(&r);
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("b", 3));
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("a", 2));
    fake_end_list(&r.source, "7", "");
    reflecting_expect(&r, "=(b@3,a@2)@7");
    const fake_request *request = fake_last(&r.source);
    assert_true(request->watch);
    assert_string_equal(request->version, "7");
    assert_string_equal(request->match, "");
    assert_true(request->bookmarks);
    assert_false(request->initial);
    assert_int_equal(request->limit, 0);
    assert_in_range(request->timeout, 300, 599);
    reflecting_expect_state(&r, KI_REFLECTOR_WATCHING, "7");
    reflecting_done(&r);
}

static void pages_are_put_together_and_later_ones_carry_only_the_token(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    r.options.no_streaming = true;
    r.options.allow_stale_start = true;
    r.options.label_selector = "x=y";
    reflecting_start(&r);
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("a", 1));
    fake_end_list(&r.source, "7", "t1");
    assert_string_equal(last(&r)->token, "t1");
    assert_string_equal(last(&r)->version, "");
    assert_string_equal(last(&r)->match, "");
    assert_string_equal(last(&r)->labels, "x=y");
    assert_int_equal(last(&r)->limit, 500);
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("b", 2));
    fake_end_list(&r.source, "7", "t2");
    assert_string_equal(last(&r)->token, "t2");
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("c", 3));
    reflecting_expect(&r, "");
    fake_end_list(&r.source, "7", "");
    reflecting_expect(&r, "=(a@1,b@2,c@3)@7");
    reflecting_done(&r);
}

static void a_relist_asks_for_not_older_than_what_is_known_all_at_once(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_sync_by_list(&r);
    fake_event(&r.source, KI_WATCH_EVENT_MODIFIED, fake_pod("a", 12));
    reflecting_settle(&r);
    expire(&r);
    assert_string_equal(last(&r)->version, "12");
    assert_string_equal(last(&r)->match, "NotOlderThan"); /* without it, a limit means "exactly" */
    assert_int_equal(last(&r)->limit, 0);                 /* so that the server's cache answers */
    reflecting_done(&r);
}

static void what_a_list_brings_unchanged_is_the_object_that_the_target_has(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    r.known = fake_pod("a", 1);
    reflecting_sync_by_list(&r); /* the first list asks for nothing */
    expire(&r);
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("a", 1));
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("b", 2));
    fake_end_list(&r.source, "20", "");
    reflecting_expect(&r, "=(a@1!,b@2)@20");
    expire(&r);
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("a", 21));
    fake_end_list(&r.source, "30", "");
    reflecting_expect(&r, "=(a@21)@30");
    reflecting_done(&r);
    (void)ki_object_unref(r.known);
}

static void the_version_alone_does_not_make_an_object_the_same(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    r.known = test_object(NULL, "{'metadata':{'name':'a','namespace':'default',"
                                "'resourceVersion':'1'},'spec':{}}");
    reflecting_sync_by_list(&r);
    expire(&r);
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("a", 1));
    fake_end_list(&r.source, "20", "");
    reflecting_expect(&r, "=(a@1)@20");
    reflecting_done(&r);
    (void)ki_object_unref(r.known);
}

static void a_server_that_pages_version_0_has_no_cache_and_is_paged_on(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    r.options.no_streaming = true;
    r.options.allow_stale_start = true;
    reflecting_start(&r);
    fake_end_list(&r.source, "7", "t1");
    reflecting_settle(&r);
    fake_end_list(&r.source, "7", "");
    reflecting_expect_state(&r, KI_REFLECTOR_WATCHING, "7");
    expire(&r);
    assert_string_equal(last(&r)->version, "7");
    assert_int_equal(last(&r)->limit, 500);
    reflecting_done(&r);
}

/* Only a list of version "0" tells: without a version the answer is never from the cache. */
static void pages_of_the_latest_say_nothing_about_the_cache(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    r.options.no_streaming = true;
    reflecting_start(&r);
    fake_end_list(&r.source, "7", "t1");
    reflecting_settle(&r);
    fake_end_list(&r.source, "7", "");
    reflecting_settle(&r);
    expire(&r);
    assert_int_equal(last(&r)->limit, 0);
    reflecting_done(&r);
}

static void a_page_size_that_was_chosen_is_kept(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    r.options.page_size = 50;
    reflecting_sync_by_list(&r);
    assert_int_equal(r.source.requests[0].limit, 50);
    expire(&r);
    assert_int_equal(last(&r)->limit, 50);
    assert_string_equal(last(&r)->match, "NotOlderThan");
    reflecting_done(&r);
}

/* ---- versions that the server does not have ---- */

/* Every way in which servers of all ages say "too large", and both ways of "too old". */
static const char *const no_such_version[] = {
    "{'kind':'Status','apiVersion':'v1','status':'Failure','code':410,'reason':'Expired'}",
    "{'kind':'Status','apiVersion':'v1','status':'Failure','code':410,'reason':'Gone'}",
    "{'kind':'Status','apiVersion':'v1','status':'Failure','code':410}",
    "{'kind':'Status','apiVersion':'v1','status':'Failure','code':504,'reason':'Timeout',"
    "'message':'x','details':{'causes':[{'reason':'ResourceVersionTooLarge','message':'y'}]}}",
    "{'kind':'Status','apiVersion':'v1','status':'Failure','code':504,'reason':'Timeout',"
    "'message':'x','details':{'causes':[{'message':'Too large resource version'}]}}",
    "{'kind':'Status','apiVersion':'v1','status':'Failure','code':504,'reason':'Timeout',"
    "'message':'Timeout: Too large resource version: 10, current: 9'}",
    "{'kind':'Status','apiVersion':'v1','status':'Failure','code':504,"
    "'message':'Too large resource version'}",
    "{'kind':'Status','apiVersion':'v1','status':'Failure','code':500,'reason':'InternalError',"
    "'message':'Too large resource version: 10, current: 9'}",
};

static void a_version_the_server_does_not_have_is_listed_without_one_at_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(no_such_version) / sizeof(no_such_version[0]); i++) {
        reflecting r;
        reflecting_init(&r);
        reflecting_sync_by_list(&r);
        expire(&r);
        size_t before = r.source.count;
        size_t errors = r.errors; /* that of the watch */
        fake_end_status_json(&r.source, no_such_version[i]);
        assert_string_equal(last(&r)->version, "");
        assert_int_equal(r.source.count, before + 1); /* at once */
        assert_int_equal(last(&r)->limit, 500);
        assert_int_equal(r.errors, errors);
        fake_end_list(&r.source, "20", "");
        reflecting_expect(&r, "=()@20");
        expire(&r);
        assert_string_equal(last(&r)->version, "20"); /* success clears the mark */
        reflecting_done(&r);
    }
}

static void only_once(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_sync_by_list(&r);
    expire(&r);
    fake_end_status(&r.source, 410, "Expired", "too old");
    reflecting_settle(&r);
    fake_end_status(&r.source, 410, "Expired", "still");
    reflecting_expect_state(&r, KI_REFLECTOR_BACKOFF, "10");
    assert_int_equal(r.errors, 2); /* with that of the watch */
    assert_string_equal(r.error.message, "still");
    reflecting_advance(&r, 60 * TEST_SECOND);
    assert_string_equal(last(&r)->version, ""); /* the mark stays until a list came */
    reflecting_done(&r);
}

static void other_timeouts_are_plain_errors(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_sync_by_list(&r);
    expire(&r);
    fake_end_status(&r.source, 504, "Timeout", "the request took too long");
    reflecting_expect_state(&r, KI_REFLECTOR_BACKOFF, "10");
    assert_int_equal(r.errors, 2);
    reflecting_advance(&r, 60 * TEST_SECOND);
    assert_string_equal(last(&r)->version, "10");
    reflecting_done(&r);
}

/* ---- failures ---- */

static void every_other_failure_is_reported_and_waited_out(void **state)
{
    (void)state;
    const int codes[] = {400, 401, 403, 404, 422, 429, 500, 503};
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        reflecting r;
        reflecting_init(&r);
        r.options.no_streaming = true;
        reflecting_start(&r);
        fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("a", 1));
        fake_end_status(&r.source, codes[i], "", "no");
        reflecting_expect_state(&r, KI_REFLECTOR_BACKOFF, "");
        assert_int_equal(r.errors, 1);
        assert_int_equal(r.error.http_code, codes[i]);
        assert_int_equal(reflecting_reason(&r).http_code, codes[i]);
        reflecting_advance(&r, 2 * TEST_SECOND);
        assert_int_equal(r.source.count, 2);
        fake_end_list(&r.source, "7", "");
        reflecting_expect(&r, "=()@7");
        assert_int_equal(reflecting_reason(&r).code, 0);
        reflecting_done(&r);
    }
}

static void broken_connections_are_reported_and_waited_out(void **state)
{
    (void)state;
    const int codes[] = {-ECONNREFUSED, -ECONNRESET, -EPIPE, -ETIMEDOUT, -ENOMEM, KI_ERR_SYNTAX};
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        reflecting r;
        reflecting_init(&r);
        r.options.no_streaming = true;
        r.source.refuse = i % 2 == 0 ? codes[i] : 0; /* at once, or later */
        reflecting_start(&r);
        if (i % 2 != 0) {
            fake_end_error(&r.source, codes[i]);
        }
        reflecting_expect_state(&r, KI_REFLECTOR_BACKOFF, "");
        assert_int_equal(r.errors, 1);
        assert_int_equal(r.error.code, codes[i]);
        assert_int_equal(reflecting_health(&r).next, KI_REFLECTOR_LISTING);
        reflecting_done(&r);
    }
}

static void the_wait_is_as_long_as_the_server_asks_for(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    r.options.no_streaming = true;
    reflecting_start(&r);
    fake_end_status_json(&r.source, "{'kind':'Status','apiVersion':'v1','code':429,"
                                    "'details':{'retryAfterSeconds':17}}");
    reflecting_settle(&r);
    reflecting_advance(&r, 17 * TEST_SECOND - 1);
    assert_int_equal(r.source.count, 1);
    reflecting_advance(&r, 17 * TEST_SECOND / 4); /* and a little, so that not all come at once */
    assert_int_equal(r.source.count, 2);
    fake_end_status_json(&r.source, "{'kind':'Status','apiVersion':'v1','code':429,"
                                    "'details':{'retryAfterSeconds':2000000000}}");
    reflecting_settle(&r);
    reflecting_advance(&r, 75 * TEST_SECOND); /* but never longer than this */
    assert_int_equal(r.source.count, 3);
    reflecting_done(&r);
}

static void a_target_that_refuses_a_list_gets_it_again(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    r.options.no_streaming = true;
    reflecting_start(&r);
    r.fail = -ENOMEM;
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("a", 1));
    fake_end_list(&r.source, "7", "");
    reflecting_expect_state(&r, KI_REFLECTOR_BACKOFF, "");
    assert_int_equal(r.error.code, -ENOMEM);
    assert_false(reflecting_health(&r).synced);
    reflecting_advance(&r, 2 * TEST_SECOND);
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("a", 1));
    fake_end_list(&r.source, "7", "");
    reflecting_expect(&r, "=(a@1)@7");
    reflecting_done(&r);
}

static void a_list_without_a_byte_for_three_minutes_is_given_up(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    r.options.no_streaming = true;
    reflecting_start(&r);
    reflecting_advance(&r, 100 * TEST_SECOND);
    fake_alive(&r.source, 10);
    reflecting_advance(&r, 180 * TEST_SECOND - 1);
    reflecting_expect_state(&r, KI_REFLECTOR_LISTING, "");
    reflecting_advance(&r, 1);
    reflecting_expect_state(&r, KI_REFLECTOR_BACKOFF, "");
    assert_int_equal(r.error.code, -ETIMEDOUT);
    assert_int_equal(r.source.cancels, 1);
    reflecting_done(&r);
}

static void a_list_without_metadata_is_no_list(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    r.options.no_streaming = true;
    reflecting_start(&r);
    fake_end_watch(&r.source); /* ends with nothing at all */
    reflecting_expect_state(&r, KI_REFLECTOR_BACKOFF, "");
    assert_int_equal(r.error.code, KI_ERR_INVALID);
    reflecting_done(&r);
}

static void skipped_objects_are_named_to_the_target(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    r.options.no_streaming = true;
    reflecting_start(&r);
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("a", 1));
    fake_skipped(&r.source, KI_WATCH_EVENT_ADDED, "default/poison", "2", KI_ERR_SYNTAX);
    assert_int_equal(r.reports, 0);
    reflecting_settle(&r);
    assert_string_equal(r.report_key, "default/poison");
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("b", 3));
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, test_object(NULL, "{'metadata':{}}")); /* no name */
    fake_end_list(&r.source, "7", "");
    reflecting_expect(&r, "=(a@1,b@3?default/poison)@7");
    assert_int_equal(reflecting_health(&r).skipped, 2);
    assert_int_equal(r.report_code, KI_ERR_KEY);
    reflecting_done(&r);
}

/* ---- never back in time ---- */

static void a_stale_relist_is_rejected_and_repeated(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_sync_by_list(&r);
    expire(&r);
    fake_end_list(&r.source, "9", ""); /* of a server that lags, although 10 was requested */
    reflecting_expect(&r, "");
    reflecting_expect_state(&r, KI_REFLECTOR_BACKOFF, "10");
    assert_int_equal(reflecting_health(&r).anomalies, 1);
    assert_int_equal(r.error.code, KI_ERR_STALE);
    reflecting_advance(&r, 60 * TEST_SECOND);
    assert_string_equal(last(&r)->version, ""); /* the latest there is, by quorum */
    fake_end_list(&r.source, "11", "");
    reflecting_expect(&r, "=()@11");
    reflecting_done(&r);
}

static void a_stream_from_the_past_is_refused_too(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_sync(&r);
    fake_error_event(&r.source, 410, "Expired", "too old");
    reflecting_advance(&r, 2 * TEST_SECOND);
    fake_bookmark(&r.source, "9", true);
    reflecting_expect(&r, "");
    reflecting_expect_state(&r, KI_REFLECTOR_BACKOFF, "10");
    assert_int_equal(reflecting_health(&r).anomalies, 1);
    reflecting_advance(&r, 60 * TEST_SECOND);
    assert_string_equal(last(&r)->version, "");
    reflecting_done(&r);
}

static void versions_compare_as_numbers_of_any_length(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    r.options.no_streaming = true;
    reflecting_start(&r);
    fake_end_list(&r.source, "99999999999999999999999999", "");
    reflecting_settle(&r);
    expire(&r);
    fake_end_list(&r.source, "100000000000000000000000000", "");
    reflecting_expect_state(&r, KI_REFLECTOR_WATCHING, "100000000000000000000000000");
    expire(&r);
    fake_end_list(&r.source, "99999999999999999999999999", "");
    reflecting_expect_state(&r, KI_REFLECTOR_BACKOFF, "100000000000000000000000000");
    reflecting_done(&r);
}

static void versions_without_an_order_are_taken_as_they_come(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    r.options.no_streaming = true;
    reflecting_start(&r);
    fake_end_list(&r.source, "b-7", "");
    reflecting_settle(&r);
    expire(&r);
    fake_end_list(&r.source, "a-3", "");
    reflecting_expect_state(&r, KI_REFLECTOR_WATCHING, "a-3");
    assert_int_equal(reflecting_health(&r).anomalies, 0);
    reflecting_done(&r);
}

static void a_restored_backup_is_reported_as_an_epoch_change(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_sync_by_list(&r);
    expire(&r);
    fake_end_status(&r.source, 504, "Timeout", "Too large resource version: 10, current: 4");
    reflecting_settle(&r);
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("a", 2));
    fake_end_list(&r.source, "4", ""); /* its very latest */
    reflecting_expect(&r, "=(a@2)@4");
    reflecting_expect_state(&r, KI_REFLECTOR_WATCHING, "4");
    assert_int_equal(reflecting_health(&r).epoch_changes, 1);
    assert_int_equal(r.reports, 1);
    assert_int_equal(r.report_code, KI_ERR_STALE);
    fake_event(&r.source, KI_WATCH_EVENT_MODIFIED,
               fake_pod("a", 5)); /* and it continues from there */
    reflecting_expect(&r, "~a@5");
    reflecting_done(&r);
}

/* ---- pages of two moments ---- */

static void expect_one_full_list(reflecting *r, const char *version)
{
    assert_string_equal(last(r)->token, "");
    assert_string_equal(last(r)->version, version);
    assert_int_equal(last(r)->limit, 0);
}

static void a_410_on_a_later_page_restarts_with_one_full_list(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    r.options.no_streaming = true;
    r.options.allow_stale_start = true;
    reflecting_start(&r);
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("a", 1));
    fake_end_list(&r.source, "7", "t1");
    reflecting_settle(&r);
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("b", 2));
    fake_end_status(&r.source, 410, "Expired", "the token is too old");
    expect_one_full_list(&r, "0"); /* with the original version */
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("c", 8));
    fake_end_list(&r.source, "9", "");
    reflecting_expect(&r, "=(c@8)@9"); /* nothing of the first moment */
    expire(&r);
    assert_int_equal(last(&r)->limit, 500); /* the server pages: it has no cache */
    reflecting_done(&r);
}

/* New continue tokens, and always the same object. */
static void a_list_without_a_new_key_is_given_up(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    r.options.no_streaming = true;
    reflecting_start(&r);
    for (int i = 0; i < 1000 && r.source.open; i++) {
        char token[16];
        (void)snprintf(token, sizeof(token), "t%d", i);
        fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("a", 1));
        fake_end_list(&r.source, "7", token);
        reflecting_settle(&r);
    }
    assert_true(r.source.count <= 105);
    assert_int_equal(r.errors, 1);
    assert_int_equal(r.error.code, KI_ERR_LIMIT);
    reflecting_expect_state(&r, KI_REFLECTOR_BACKOFF, "");
    reflecting_done(&r);
}

static void a_page_of_another_version_restarts_as_well(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    r.options.no_streaming = true;
    reflecting_start(&r);
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("a", 1));
    fake_end_list(&r.source, "7", "t1");
    reflecting_settle(&r);
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("b", 8));
    fake_end_list(&r.source, "9", ""); /* an inconsistent token would do this */
    expect_one_full_list(&r, "");
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("c", 8));
    fake_end_list(&r.source, "10", "");
    reflecting_expect(&r, "=(c@8)@10");
    reflecting_done(&r);
}

static void and_only_once(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    r.options.no_streaming = true;
    r.options.allow_stale_start = true;
    reflecting_start(&r);
    fake_end_list(&r.source, "7", "t1");
    reflecting_settle(&r);
    fake_end_status(&r.source, 410, "Expired", "the token is too old");
    reflecting_settle(&r);
    fake_end_list(&r.source, "8", "t2"); /* a server that pages in spite of it */
    reflecting_settle(&r);
    fake_end_status(&r.source, 410, "Expired", "again");
    assert_string_equal(last(&r)->version, ""); /* as any expired list: once more without version */
    fake_end_list(&r.source, "8", "t3");
    reflecting_settle(&r);
    fake_end_status(&r.source, 410, "Expired", "and again");
    reflecting_settle(&r);
    expect_one_full_list(&r, "");
    fake_end_status(&r.source, 410, "Expired", "enough");
    reflecting_expect_state(&r, KI_REFLECTOR_BACKOFF, "");
    assert_int_equal(r.source.count, 7);
    reflecting_done(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_list_asks_for_the_latest_in_pages_of_500),
        cmocka_unit_test(a_stale_start_must_be_requested),
        cmocka_unit_test(a_source_without_streaming_is_listed),
        cmocka_unit_test(a_list_is_handed_over_at_its_version_and_then_watched),
        cmocka_unit_test(pages_are_put_together_and_later_ones_carry_only_the_token),
        cmocka_unit_test(a_relist_asks_for_not_older_than_what_is_known_all_at_once),
        cmocka_unit_test(what_a_list_brings_unchanged_is_the_object_that_the_target_has),
        cmocka_unit_test(the_version_alone_does_not_make_an_object_the_same),
        cmocka_unit_test(a_server_that_pages_version_0_has_no_cache_and_is_paged_on),
        cmocka_unit_test(pages_of_the_latest_say_nothing_about_the_cache),
        cmocka_unit_test(a_page_size_that_was_chosen_is_kept),
        cmocka_unit_test(a_version_the_server_does_not_have_is_listed_without_one_at_once),
        cmocka_unit_test(only_once),
        cmocka_unit_test(other_timeouts_are_plain_errors),
        cmocka_unit_test(every_other_failure_is_reported_and_waited_out),
        cmocka_unit_test(broken_connections_are_reported_and_waited_out),
        cmocka_unit_test(the_wait_is_as_long_as_the_server_asks_for),
        cmocka_unit_test(a_target_that_refuses_a_list_gets_it_again),
        cmocka_unit_test(a_list_without_a_byte_for_three_minutes_is_given_up),
        cmocka_unit_test(a_list_without_metadata_is_no_list),
        cmocka_unit_test(skipped_objects_are_named_to_the_target),
        cmocka_unit_test(a_stale_relist_is_rejected_and_repeated),
        cmocka_unit_test(a_stream_from_the_past_is_refused_too),
        cmocka_unit_test(versions_compare_as_numbers_of_any_length),
        cmocka_unit_test(versions_without_an_order_are_taken_as_they_come),
        cmocka_unit_test(a_restored_backup_is_reported_as_an_epoch_change),
        cmocka_unit_test(a_410_on_a_later_page_restarts_with_one_full_list),
        cmocka_unit_test(a_list_without_a_new_key_is_given_up),
        cmocka_unit_test(a_page_of_another_version_restarts_as_well),
        cmocka_unit_test(and_only_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
