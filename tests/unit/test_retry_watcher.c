/* SPDX-License-Identifier: Apache-2.0 */
/* The retry watcher: what it forwards, when it restarts, and what ends it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <kinformer/parts/retry_watcher.h>

#include "support/fake_source.h"
#include "support/objects.h"
#include "support/test.h"
#include "support/world.h"

typedef struct fixture {
    test_alloc alloc;
    test_world world;
    ki_engine *engine;
    fake_source source;
    ki_retry_watcher_options options;
    ki_list_options list;
    ki_retry_watcher *watcher;
    char heard[512];
    ki_error error; /* of the last ERROR */
    size_t ends;
    size_t reports;
    void (*hook)(struct fixture *f); /* called in on_event and on_end */
} fixture;

static void on_event(ki_retry_watcher *watcher, ki_watch_event_type type, const ki_object *object,
                     const ki_error *error, void *user)
{
    fixture *f = user;
    assert_ptr_equal(watcher, f->watcher);
    assert_int_equal(f->ends, 0);
    size_t len = strlen(f->heard);
    int added =
        snprintf(f->heard + len, sizeof(f->heard) - len, "%s:%s ", ki_watch_event_type_name(type),
                 type != KI_WATCH_EVENT_ERROR ? ki_object_name(object) : "");
    assert_true(added > 0 && (size_t)added < sizeof(f->heard) - len);
    if (type == KI_WATCH_EVENT_ERROR) {
        f->error = *error;
    } else {
        assert_null(error);
    }
    if (f->hook != NULL) {
        f->hook(f);
    }
}

static void on_end(ki_retry_watcher *watcher, void *user)
{
    fixture *f = user;
    assert_ptr_equal(watcher, f->watcher);
    f->ends++;
    if (f->hook != NULL) {
        f->hook(f);
    }
}

static void on_report(const ki_report *report, void *user)
{
    (void)report;
    ((fixture *)user)->reports++;
}

static void begin_with(fixture *f, const ki_alloc *alloc)
{
    test_world_init(&f->world);
    ki_engine_options options = test_world_engine_options(&f->world, alloc);
    options.on_report = on_report;
    options.report_user = f;
    if (ki_engine_new(&options, &f->engine, NULL) < 0) {
        return;
    }
    fake_source_init(&f->source, f->engine, &f->world);
    f->list = KI_OPTIONS_INIT(ki_list_options);
    f->list.resource_version = "10";
    f->list.label_selector = "app=web";
    f->options = KI_OPTIONS_INIT(ki_retry_watcher_options);
    f->options.engine = f->engine;
    f->options.source = &f->source.table;
    f->options.list = &f->list;
    f->options.on_event = on_event;
    f->options.on_end = on_end;
    f->options.user = f;
}

static void begin(fixture *f)
{
    memset(f, 0, sizeof(*f));
    test_alloc_init(&f->alloc);
    begin_with(f, &f->alloc.table);
}

static void start(fixture *f)
{
    assert_int_equal(ki_retry_watcher_start(&f->options, &f->watcher, NULL), 0);
    test_world_settle(f->engine);
}

static void expect(fixture *f, const char *heard)
{
    test_world_settle(f->engine);
    assert_string_equal(f->heard, heard);
    f->heard[0] = '\0';
}

static void end(fixture *f)
{
    if (f->watcher != NULL) {
        ki_retry_watcher_stop(f->watcher);
        test_world_settle(f->engine);
        assert_int_equal(f->ends, 1);
        f->watcher = ki_retry_watcher_unref(f->watcher);
    }
    assert_false(f->source.open);
    assert_true(ki_engine_deadline(f->engine) == UINT64_MAX);
    fake_source_done(&f->source);
    (void)ki_engine_unref(f->engine);
    test_alloc_done(&f->alloc);
}

static void it_needs_a_version_to_begin_after(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    const char *const versions[] = {"", "0", NULL};
    for (size_t i = 0; i < 3; i++) {
        f.list.resource_version = versions[i];
        assert_int_equal(ki_retry_watcher_start(&f.options, &f.watcher, NULL), KI_ERR_INVALID);
    }
    f.options.list = NULL;
    assert_int_equal(ki_retry_watcher_start(&f.options, &f.watcher, NULL), KI_ERR_INVALID);
    static char version[1026];
    memset(version, '1', sizeof(version) - 1);
    f.list.resource_version = version;
    f.options.list = &f.list;
    assert_int_equal(ki_retry_watcher_start(&f.options, &f.watcher, NULL), KI_ERR_LIMIT);
    f.options.on_event = NULL;
    assert_int_equal(ki_retry_watcher_start(&f.options, &f.watcher, NULL), -EINVAL);
    f.options.source = NULL;
    assert_int_equal(ki_retry_watcher_start(&f.options, &f.watcher, NULL), -EINVAL);
    f.options.size = 2;
    assert_int_equal(ki_retry_watcher_start(&f.options, &f.watcher, NULL), -EINVAL);
    assert_null(ki_retry_watcher_ref(NULL));
    end(&f);
}

static void events_are_forwarded_and_bookmarks_are_not(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    start(&f);
    const fake_request *request = fake_last(&f.source);
    assert_true(request->watch);
    assert_true(request->bookmarks);
    assert_false(request->initial);
    assert_string_equal(request->version, "10");
    assert_string_equal(request->labels, "app=web");
    fake_event(&f.source, KI_WATCH_EVENT_ADDED, fake_pod("a", 11));
    fake_event(&f.source, KI_WATCH_EVENT_MODIFIED, fake_pod("a", 12));
    fake_bookmark(&f.source, "15", false);
    fake_event(&f.source, KI_WATCH_EVENT_DELETED, fake_pod("a", 16));
    expect(&f, "ADDED:a MODIFIED:a DELETED:a ");
    end(&f);
}

static void it_restarts_after_the_last_version(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    start(&f);
    fake_event(&f.source, KI_WATCH_EVENT_ADDED, fake_pod("a", 11));
    fake_end_watch(&f.source);
    test_world_advance(&f.world, f.engine, TEST_SECOND);
    assert_string_equal(fake_last(&f.source)->version, "11");
    fake_bookmark(&f.source, "20", false); /* which was not forwarded, but counts */
    fake_end_error(&f.source, -EPIPE);
    test_world_advance(&f.world, f.engine, TEST_SECOND);
    assert_string_equal(fake_last(&f.source)->version, "20");
    expect(&f, "ADDED:a ");
    end(&f);
}

static void watches_begin_at_least_a_second_apart(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    start(&f);
    fake_end_watch(&f.source);
    test_world_advance(&f.world, f.engine, TEST_SECOND - 1);
    assert_int_equal(f.source.count, 1);
    test_world_advance(&f.world, f.engine, 1);
    assert_int_equal(f.source.count, 2);
    test_world_advance(&f.world, f.engine, 5 * TEST_SECOND); /* from begin to begin: no wait */
    fake_end_watch(&f.source);
    test_world_settle(f.engine);
    assert_int_equal(f.source.count, 3);
    end(&f);
}

typedef struct failure_case {
    int code;
    const char *reason;
    bool ends_as_answer;
    bool ends_as_event;
} failure_case;

static const failure_case failures[] = {
    {400, "BadRequest", false, false},
    {401, "Unauthorized", true, false},
    {403, "Forbidden", true, false},
    {404, "NotFound", false, false},
    {410, "Expired", true, true}, /* client-go retries the answer for ever */
    {410, "Gone", true, true},
    {429, "TooManyRequests", false, false},
    {500, "InternalError", false, false},
    {503, "ServiceUnavailable", false, false},
    {504, "Timeout", false, false},
};

static void one_failure(const failure_case *c, bool in_stream)
{
    fixture f;
    begin(&f);
    start(&f);
    if (in_stream) {
        fake_error_event(&f.source, c->code, c->reason, "no");
    } else {
        fake_end_status(&f.source, c->code, c->reason, "no");
    }
    test_world_advance(&f.world, f.engine, TEST_SECOND);
    if (in_stream ? c->ends_as_event : c->ends_as_answer) {
        expect(&f, "ERROR: ");
        assert_int_equal(f.error.http_code, c->code);
        assert_int_equal(f.ends, 1);
        assert_int_equal(f.source.count, 1);
    } else {
        expect(&f, "");
        assert_int_equal(f.ends, 0);
        assert_int_equal(f.source.count, 2);
    }
    end(&f);
}

static void every_status_as_answer_and_as_event(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++) {
        one_failure(&failures[i], false);
        one_failure(&failures[i], true);
    }
}

static void it_waits_as_long_as_the_server_asks_for(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    start(&f);
    fake_error_event_json(&f.source, "{'kind':'Status','apiVersion':'v1','code':504,"
                                     "'details':{'retryAfterSeconds':7}}");
    test_world_advance(&f.world, f.engine, 7 * TEST_SECOND - 1);
    assert_int_equal(f.source.count, 1);
    test_world_advance(&f.world, f.engine, 7 * TEST_SECOND / 4); /* and a little */
    assert_int_equal(f.source.count, 2);
    fake_end_status_json(&f.source, "{'kind':'Status','apiVersion':'v1','code':500,"
                                    "'details':{'retryAfterSeconds':2147483647}}");
    test_world_advance(&f.world, f.engine, 75 * TEST_SECOND); /* but no longer than this */
    assert_int_equal(f.source.count, 3);
    end(&f);
}

static void broken_connections_are_tried_again_for_ever(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    f.source.refuse = -ECONNREFUSED;
    start(&f);
    for (int i = 0; i < 100; i++) {
        test_world_advance(&f.world, f.engine, TEST_SECOND);
        assert_int_equal(f.source.count, i + 2);
        fake_end_error(&f.source, i % 2 == 0 ? -ECONNREFUSED : -ECONNRESET);
    }
    expect(&f, "");
    assert_int_equal(f.ends, 0);
    end(&f);
}

static void an_event_that_makes_no_sense_ends_it_with_an_internal_error(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        fixture f;
        begin(&f);
        start(&f);
        if (i == 0) {
            fake_event(&f.source, KI_WATCH_EVENT_ADDED, fake_pod_text("a", ""));
        } else if (i == 1) {
            fake_event(&f.source, KI_WATCH_EVENT_MAX, fake_pod("a", 11));
        } else {
            fake_bookmark(&f.source, "", false);
        }
        expect(&f, "ERROR: ");
        assert_int_equal(f.error.http_code, 500);
        assert_int_equal(f.error.reason, KI_REASON_INTERNAL_ERROR);
        assert_int_equal(f.ends, 1);
        end(&f);
    }
}

static void an_error_event_without_a_status_is_tried_again(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    start(&f);
    fake_event(&f.source, KI_WATCH_EVENT_ERROR, NULL);
    test_world_advance(&f.world, f.engine, TEST_SECOND);
    assert_int_equal(f.source.count, 2);
    end(&f);
}

static void events_that_cannot_be_read_are_reported_and_passed(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    start(&f);
    fake_skipped(&f.source, KI_WATCH_EVENT_ADDED, "default/z", "11", KI_ERR_SYNTAX);
    fake_skipped(&f.source, KI_WATCH_EVENT_ADDED, "", "", KI_ERR_SYNTAX);
    fake_end_watch(&f.source);
    test_world_advance(&f.world, f.engine, TEST_SECOND);
    assert_int_equal(f.reports, 2);
    assert_string_equal(fake_last(&f.source)->version, "11");
    fake_skipped(&f.source, KI_WATCH_EVENT_ADDED, "default/z", "12",
                 -ENOMEM); /* is to come again */
    test_world_advance(&f.world, f.engine, TEST_SECOND);
    assert_string_equal(fake_last(&f.source)->version, "11");
    end(&f);
}

/* ---- stopping ---- */

static void stop(fixture *f)
{
    ki_retry_watcher_stop(f->watcher);
}

static void stop_and_let_go(fixture *f)
{
    if (f->ends == 0) {
        ki_retry_watcher_stop(f->watcher);
        (void)ki_retry_watcher_unref(f->watcher);
    }
}

static void it_stops_anywhere(void **state)
{
    (void)state;
    for (int where = 0; where < 4; where++) {
        fixture f;
        begin(&f);
        assert_int_equal(ki_retry_watcher_start(&f.options, &f.watcher, NULL), 0);
        if (where > 0) {
            test_world_settle(f.engine);
        }
        if (where > 1) {
            fake_end_watch(&f.source); /* while it waits */
            test_world_settle(f.engine);
        }
        if (where > 2) {
            ki_retry_watcher_stop(f.watcher);
            test_world_settle(f.engine);
        }
        end(&f);
    }
}

static void it_stops_from_inside(void **state)
{
    (void)state;
    for (int let_go = 0; let_go <= 1; let_go++) {
        for (int error = 0; error <= 1; error++) {
            fixture f;
            begin(&f);
            f.hook = let_go != 0 ? stop_and_let_go : stop;
            start(&f);
            if (error != 0) {
                fake_error_event(&f.source, 410, "Expired", "too old");
            } else {
                fake_event(&f.source, KI_WATCH_EVENT_ADDED, fake_pod("a", 11));
                fake_event(&f.source, KI_WATCH_EVENT_ADDED, fake_pod("b", 12));
                fake_skipped(&f.source, KI_WATCH_EVENT_ADDED, "", "", KI_ERR_SYNTAX);
                fake_end_watch(&f.source);
            }
            expect(&f, error != 0 ? "ERROR: " : "ADDED:a ");
            assert_int_equal(f.ends, 1);
            assert_int_equal(f.reports, 0);
            if (let_go != 0) {
                f.watcher = NULL;
            }
            end(&f);
        }
    }
}

/* ---- without memory ---- */

static int watch_a_little(const ki_alloc *alloc, void *user)
{
    (void)user;
    fixture *f = test_calloc(1, sizeof(*f));
    begin_with(f, alloc);
    int r = f->engine == NULL ? -ENOMEM : ki_retry_watcher_start(&f->options, &f->watcher, NULL);
    if (r == 0) {
        test_world_settle(f->engine);
        fake_event(&f->source, KI_WATCH_EVENT_ADDED, fake_pod("a", 11));
        fake_end_watch(&f->source);
        test_world_advance(&f->world, f->engine, TEST_SECOND);
        assert_string_equal(fake_last(&f->source)->version, "11");
        ki_retry_watcher_stop(f->watcher);
        test_world_settle(f->engine);
        f->watcher = ki_retry_watcher_unref(f->watcher);
    }
    (void)ki_engine_unref(f->engine);
    test_free(f);
    return r;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    test_alloc_sweep(watch_a_little, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_needs_a_version_to_begin_after),
        cmocka_unit_test(events_are_forwarded_and_bookmarks_are_not),
        cmocka_unit_test(it_restarts_after_the_last_version),
        cmocka_unit_test(watches_begin_at_least_a_second_apart),
        cmocka_unit_test(every_status_as_answer_and_as_event),
        cmocka_unit_test(it_waits_as_long_as_the_server_asks_for),
        cmocka_unit_test(broken_connections_are_tried_again_for_ever),
        cmocka_unit_test(an_event_that_makes_no_sense_ends_it_with_an_internal_error),
        cmocka_unit_test(an_error_event_without_a_status_is_tried_again),
        cmocka_unit_test(events_that_cannot_be_read_are_reported_and_passed),
        cmocka_unit_test(it_stops_anywhere),
        cmocka_unit_test(it_stops_from_inside),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
