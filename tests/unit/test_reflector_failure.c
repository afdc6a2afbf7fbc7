/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of failed attempts: to the callback each one, to the log the first, each change of class,
 * one a minute, and the end. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "support/reflecting.h"

/* Lets the wait pass that the last failure announced. */
static void wait_it_out(reflecting *r)
{
    reflecting_advance(r, r->failure.retry_delay_ms * TEST_MS);
}

/* Fails the request at hand, and checks the report. */
static void fail_with(reflecting *r, int code, ki_watch_operation operation, uint64_t attempt)
{
    size_t errors = r->errors;
    fake_end_error(&r->source, code);
    reflecting_settle(r);
    assert_int_equal(r->errors, errors + 1);
    assert_int_equal(r->failure.operation, operation);
    assert_int_equal(r->failure.attempt, attempt);
    assert_int_equal(r->error.code, code);
    ki_health health = reflecting_health(r);
    assert_int_equal(health.failed_attempts, attempt);
    assert_int_equal(health.reason_class, r->failure.failure_class);
    assert_int_equal(health.reason_operation, operation);
}

static void expect_line(const reflecting *r, const char *beginning)
{
    if (strncmp(r->log_line, beginning, strlen(beginning)) != 0) {
        fail_msg("\"%s\" does not begin with \"%s\"", r->log_line, beginning);
    }
}

static void expect_part(const reflecting *r, const char *part)
{
    if (strstr(r->log_line, part) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", part, r->log_line);
    }
}

/* ---- the callback ---- */

static void every_attempt_is_reported_with_operation_number_and_delay(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    r.source.table.url = "https://example.com:6443/api/v1/pods";
    reflecting_start(&r);
    uint64_t least = 800 * TEST_MS;
    for (uint64_t attempt = 1; attempt <= 8; attempt++) {
        fail_with(&r, -ECONNREFUSED, KI_OPERATION_STREAMING_LIST, attempt);
        assert_int_equal(r.failure.size, sizeof(ki_watch_failure));
        assert_int_equal(r.failure.failure_class, KI_FAILURE_CONNECTION);
        assert_string_equal(r.failure.url, "https://example.com:6443/api/v1/pods");
        uint64_t delay = r.failure.retry_delay_ms * TEST_MS;
        assert_true(delay >= least && delay <= 2 * least);
        assert_true(r.failure.failing_ms >= (attempt - 1) * 800);
        least = least * 2 < 30 * TEST_SECOND ? least * 2 : 30 * TEST_SECOND;
        size_t requests = r.source.count;
        reflecting_advance(&r, delay - TEST_MS); /* it was rounded up */
        assert_int_equal(r.source.count, requests);
        reflecting_advance(&r, TEST_MS);
        assert_int_equal(r.source.count, requests + 1);
    }
    assert_int_equal(reflecting_health(&r).failures, 8);
    fake_bookmark(&r.source, "5", true);
    reflecting_expect(&r, "=()@5");
    assert_int_equal(reflecting_health(&r).failed_attempts, 0);
    assert_int_equal(reflecting_health(&r).reason_class, KI_FAILURE_NONE);
    assert_int_equal(reflecting_health(&r).failures, 8);
    fake_end_error(&r.source, -ECONNRESET); /* brought nothing since: resumed after a wait */
    reflecting_settle(&r);
    reflecting_done(&r);
}

static void lists_watches_and_streams_say_which_they_are(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    r.options.no_streaming = true;
    reflecting_start(&r);
    fail_with(&r, -EHOSTUNREACH, KI_OPERATION_LIST, 1);
    wait_it_out(&r);
    fake_end_list(&r.source, "10", "");
    reflecting_settle(&r);
    fail_with(&r, -ECONNREFUSED, KI_OPERATION_WATCH, 1);
    reflecting_done(&r);
}

/* The health that a program reads in its callback is that of the wait. */
static void look_at_health(reflecting *r)
{
    ki_health health = reflecting_health(r);
    assert_int_equal(health.state, KI_REFLECTOR_BACKOFF);
    assert_int_equal(reflecting_reason(r).code, r->error.code);
    assert_int_equal(health.retry_delay_ms, r->failure.retry_delay_ms);
    ki_reflector_stop(r->reflector);
}

static void a_callback_may_look_and_stop(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    r.hook_at = 'E';
    r.hook = look_at_health;
    reflecting_start(&r);
    fake_end_error(&r.source, -ECONNREFUSED);
    reflecting_settle(&r);
    assert_int_equal(r.errors, 1);
    assert_int_equal(r.stopped, 1);
    reflecting_done(&r);
}

static void stop(reflecting *r)
{
    ki_reflector_stop(r->reflector);
}

/* Nothing is called after that but on_stopped. */
static void the_log_may_stop_it(void **state)
{
    (void)state;
    for (int at_recovery = 0; at_recovery <= 1; at_recovery++) {
        reflecting r;
        reflecting_init(&r);
        r.hook_at = 'L';
        r.hook = at_recovery != 0 ? NULL : stop;
        reflecting_sync_by_list(&r);
        fake_end_error(&r.source, -ECONNREFUSED);
        reflecting_settle(&r);
        assert_int_equal(r.errors, at_recovery);
        if (at_recovery != 0) {
            wait_it_out(&r);
            r.hook = stop;
            fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("b", 11));
            reflecting_expect(&r, "");
            expect_line(&r, "W recovered:");
        }
        assert_int_equal(r.stopped, 1);
        reflecting_done(&r);
    }
}

static void what_the_source_repeats_by_itself_is_reported(void **state)
{
    (void)state;
    for (int streaming = 0; streaming <= 1; streaming++) {
        reflecting r;
        reflecting_init(&r);
        r.options.no_streaming = streaming == 0;
        reflecting_start(&r);
        const ki_error error = {.code = KI_ERR_STATUS,
                                .http_code = 429,
                                .reason = KI_REASON_TOO_MANY_REQUESTS,
                                .message = "slow down"};
        r.source.sink.on_retry(&error, NULL, 1000, r.source.sink.user);
        assert_int_equal(r.errors, 1);
        assert_int_equal(r.failure.failure_class, KI_FAILURE_THROTTLED);
        assert_int_equal(r.failure.retry_delay_ms, 1000);
        assert_int_equal(r.failure.operation,
                         streaming != 0 ? KI_OPERATION_STREAMING_LIST : KI_OPERATION_LIST);
        expect_line(&r, "W request failed:");
        expect_part(&r, " error=slow down attempt=1 ");
        expect_part(&r, " retry_in=1.0s http_status=429");
        if (streaming != 0) {
            fake_bookmark(&r.source, "5", true);
        } else {
            fake_end_list(&r.source, "5", "");
        }
        reflecting_expect(&r, "=()@5");
        expect_line(&r, "W recovered:");
        reflecting_done(&r);
    }
}

/* ---- the log ---- */

static void the_log_has_the_first_a_line_each_minute_and_the_end(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    r.options.on_watch_error = NULL; /* with a callback or without */
    r.source.table.url = "https://example.com:6443/api/v1/pods";
    reflecting_start(&r);
    uint64_t began = r.world.now;
    fake_end_error(&r.source, -ECONNREFUSED);
    reflecting_settle(&r);
    assert_int_equal(r.log_lines, 1);
    expect_line(&r, "W request failed: operation=streaming list "
                    "url=https://example.com:6443/api/v1/pods class=connection "
                    "code=ECONNREFUSED error=connection refused attempt=1 "
                    "failing_for=0.0s retry_in=");
    for (size_t minute = 1; minute <= 5; minute++) {
        while (r.world.now < began + minute * 60 * TEST_SECOND - 1) {
            uint64_t left = began + minute * 60 * TEST_SECOND - 1 - r.world.now;
            reflecting_advance(&r, left < 100 * TEST_MS ? left : 100 * TEST_MS);
            if (r.source.open) {
                fake_end_error(&r.source, -ECONNREFUSED);
                reflecting_settle(&r);
            }
        }
        assert_int_equal(r.log_lines, minute); /* not one more in between */
        reflecting_advance(&r, 1);
        assert_int_equal(r.log_lines, minute + 1);
        expect_line(&r, "W requests still failing: operation=streaming list url=https://");
    }
    expect_part(&r, " failing_for=300.0s ");
    while (!r.source.open) {
        reflecting_advance(&r, 100 * TEST_MS);
    }
    fake_bookmark(&r.source, "5", true);
    reflecting_expect(&r, "=()@5");
    assert_int_equal(r.log_lines, 7);
    expect_line(&r, "W recovered: url=https://example.com:6443/api/v1/pods failed_attempts=");
    reflecting_advance(&r, 170 * TEST_SECOND);
    assert_int_equal(r.log_lines, 7);
    reflecting_done(&r);
}

static void a_change_of_class_is_logged_at_once(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_start(&r);
    fail_with(&r, -ECONNREFUSED, KI_OPERATION_STREAMING_LIST, 1);
    wait_it_out(&r);
    fail_with(&r, -EHOSTUNREACH, KI_OPERATION_STREAMING_LIST, 2); /* the same class */
    assert_int_equal(r.log_lines, 1);
    wait_it_out(&r);
    fake_end_status(&r.source, 404, "NotFound", "no such thing");
    reflecting_settle(&r);
    assert_int_equal(r.log_lines, 2);
    expect_line(&r, "W request failed: operation=streaming list");
    expect_part(&r, "class=not found code=KI_ERR_NOT_FOUND error=no such thing");
    assert_int_equal(reflecting_health(&r).reason_class, KI_FAILURE_NOT_FOUND);
    wait_it_out(&r);
    fake_end_status(&r.source, 401, "Unauthorized", "who?");
    reflecting_settle(&r);
    assert_int_equal(r.log_lines, 3);
    expect_part(&r, "class=authentication");
    wait_it_out(&r);
    fake_end_status(&r.source, 401, "Unauthorized", "who?");
    reflecting_settle(&r);
    assert_int_equal(r.log_lines, 3);
    r.log_level = KI_LOG_DEBUG; /* which has them all */
    wait_it_out(&r);
    fake_end_status(&r.source, 401, "Unauthorized", "who?");
    reflecting_settle(&r);
    expect_line(&r, "D request failed again:");
    reflecting_done(&r);
}

/* Until a watch has lived for 5 s or brought something, nothing has recovered. */
static void an_accepted_watch_has_recovered_after_5_s(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_sync_by_list(&r);
    fail_with(&r, -ECONNREFUSED, KI_OPERATION_WATCH, 1);
    for (uint64_t attempt = 2; attempt < 5; attempt++) {
        wait_it_out(&r);
        fake_alive(&r.source, 0);
        reflecting_advance(&r, 900 * TEST_MS);
        fail_with(&r, -ECONNRESET, KI_OPERATION_WATCH, attempt);
    }
    wait_it_out(&r);
    fake_alive(&r.source, 0);
    reflecting_advance(&r, 5 * TEST_SECOND - 1);
    assert_int_equal(r.log_lines, 1);
    assert_int_equal(reflecting_health(&r).reason_class, KI_FAILURE_CONNECTION);
    reflecting_advance(&r, 1);
    assert_int_equal(r.log_lines, 2);
    expect_line(&r, "W recovered: url= failed_attempts=4 failing_for=");
    assert_int_equal(reflecting_reason(&r).code, 0);
    assert_int_equal(reflecting_health(&r).failing_ms, 0);
    reflecting_done(&r);
}

/* ---- what is no failure ---- */

static void a_fallback_is_no_failure(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_start(&r);
    fake_end_status(&r.source, 422, "Invalid", "sendInitialEvents is forbidden");
    reflecting_expect_state(&r, KI_REFLECTOR_LISTING, "");
    assert_int_equal(r.errors, 0);
    assert_int_equal(r.log_lines, 0);
    assert_int_equal(reflecting_reason(&r).code, 0);
    assert_int_equal(reflecting_health(&r).fallbacks, 1);
    fake_end_status(&r.source, 403, "Forbidden", "you may not"); /* and this is the real reason */
    reflecting_expect_state(&r, KI_REFLECTOR_BACKOFF, "");
    assert_int_equal(r.errors, 1);
    assert_int_equal(r.failure.operation, KI_OPERATION_LIST);
    assert_string_equal(reflecting_reason(&r).message, "you may not");
    wait_it_out(&r);
    fake_end_status(&r.source, 422, "Invalid", "sendInitialEvents is forbidden");
    reflecting_expect_state(&r, KI_REFLECTOR_LISTING, "");
    assert_string_equal(reflecting_reason(&r).message, "you may not");
    assert_int_equal(r.log_lines, 1);
    reflecting_done(&r);
}

static void a_404_of_the_stream_is_final_for_the_attempt(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_start(&r);
    for (size_t i = 1; i <= 3; i++) {
        fake_end_status(&r.source, 404, "NotFound", "no such thing");
        reflecting_expect_state(&r, KI_REFLECTOR_BACKOFF, "");
        assert_int_equal(r.source.count, i); /* no list of the same path */
        assert_int_equal(r.errors, i);
        wait_it_out(&r);
    }
    assert_int_equal(reflecting_health(&r).fallbacks, 0);
    reflecting_done(&r);
}

/* What source.h says of codes that another request would get as well, and of refusals. */
static void codes_decide_between_waiting_and_a_list(void **state)
{
    (void)state;
    const struct {
        int code;
        ki_reflector_state next;
    } cases[] = {
        {KI_ERR_TLS, KI_REFLECTOR_BACKOFF},
        {KI_ERR_DENIED, KI_REFLECTOR_BACKOFF},
        {-ECONNREFUSED, KI_REFLECTOR_BACKOFF},
        {-ENOMEM, KI_REFLECTOR_BACKOFF},
        {-EHOSTUNREACH, KI_REFLECTOR_BACKOFF},
        {KI_ERR_BUSY, KI_REFLECTOR_BACKOFF},
        {-EINVAL, KI_REFLECTOR_LISTING},
        {KI_ERR_SYNTAX, KI_REFLECTOR_LISTING},
        {KI_ERR_UNSUPPORTED, KI_REFLECTOR_LISTING},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        reflecting r;
        reflecting_init(&r);
        reflecting_start(&r);
        fake_end_error(&r.source, cases[i].code);
        reflecting_expect_state(&r, cases[i].next, "");
        assert_int_equal(r.errors, cases[i].next == KI_REFLECTOR_BACKOFF ? 1 : 0);
        reflecting_done(&r);
    }
}

static char first_line[1024];

static void keep_first_line(reflecting *r)
{
    if (r->log_lines == 1) {
        (void)snprintf(first_line, sizeof(first_line), "%s", r->log_line);
    }
}

static void a_watch_that_lived_and_is_resumed_is_no_failure(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_sync_by_list(&r);
    fake_alive(&r.source, 0);
    reflecting_advance(&r, 10 * TEST_SECOND);
    r.log_level = KI_LOG_DEBUG;
    r.hook_at = 'L';
    r.hook = keep_first_line;
    r.log_lines = 0;
    fake_end_error(&r.source, -ECONNRESET);
    reflecting_expect_state(&r, KI_REFLECTOR_WATCHING, "10");
    assert_int_equal(r.errors, 0);
    assert_string_equal(
        first_line, "D watch broke; resuming: code=ECONNRESET error=connection reset by the peer");
    assert_int_equal(reflecting_health(&r).reason_class, KI_FAILURE_CONNECTION);
    assert_int_equal(reflecting_health(&r).failed_attempts, 0);
    reflecting_done(&r);
}

/* A connection that hangs until a time-out is no watch that lived. */
static void a_watch_that_was_never_accepted_has_failed(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_sync_by_list(&r);
    reflecting_advance(&r, 30 * TEST_SECOND);
    fail_with(&r, -ETIMEDOUT, KI_OPERATION_WATCH, 1);
    reflecting_expect_state(&r, KI_REFLECTOR_BACKOFF, "10");
    assert_int_equal(reflecting_health(&r).next, KI_REFLECTOR_WATCHING);
    expect_line(&r, "W request failed: operation=watch");
    reflecting_done(&r);
}

static void an_expired_watch_is_reported_and_no_outage(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_sync_by_list(&r);
    fake_error_event(&r.source, 410, "Expired", "too old");
    reflecting_expect_state(&r, KI_REFLECTOR_BACKOFF, "10");
    assert_int_equal(r.errors, 1);
    assert_int_equal(r.failure.failure_class, KI_FAILURE_EXPIRED);
    expect_line(&r, "I resource version expired; relisting:");
    wait_it_out(&r);
    fake_end_list(&r.source, "20", "");
    reflecting_expect(&r, "=()@20");
    assert_int_equal(r.log_lines, 1); /* no recovery of what was no outage */
    reflecting_done(&r);
}

/* ---- the backoff before lists ---- */

/* Lists, learns after `lived` that its version has expired, and waits. Returns how long. */
static uint64_t expire_after(reflecting *r, uint64_t lived, const char *version)
{
    fake_end_list(&r->source, version, "");
    reflecting_settle(r);
    fake_alive(&r->source, 0);
    reflecting_advance(r, lived);
    fake_error_event(&r->source, 410, "Expired", "too old");
    reflecting_settle(r);
    assert_int_equal(r->failure.failure_class, KI_FAILURE_EXPIRED);
    uint64_t delay = r->failure.retry_delay_ms * TEST_MS;
    reflecting_advance(r, delay);
    return delay;
}

static void a_list_whose_watch_lived_5_s_resets_the_back_off(void **state)
{
    (void)state;
    for (int lives = 0; lives <= 1; lives++) {
        reflecting r;
        reflecting_init(&r);
        r.options.no_streaming = true;
        reflecting_start(&r);
        uint64_t most = 0;
        char version[16];
        for (unsigned i = 0; i < 8; i++) {
            (void)snprintf(version, sizeof(version), "%u", 10 + i);
            uint64_t delay = expire_after(&r, lives != 0 ? 5 * TEST_SECOND : TEST_SECOND, version);
            most = delay > most ? delay : most;
        }
        assert_true(lives != 0 ? most < 1600 * TEST_MS : most >= 30 * TEST_SECOND);
        reflecting_done(&r);
    }
}

static void a_streaming_list_whose_watch_lived_5_s_resets_it_too(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_start(&r);
    for (unsigned i = 0; i < 6; i++) {
        char version[16];
        (void)snprintf(version, sizeof(version), "%u", 10 + i);
        fake_bookmark(&r.source, version, true);
        reflecting_advance(&r, 5 * TEST_SECOND);
        fake_error_event(&r.source, 410, "Expired", "too old");
        reflecting_settle(&r);
        assert_true(r.failure.retry_delay_ms <= 1600);
        reflecting_advance(&r, r.failure.retry_delay_ms * TEST_MS);
        assert_true(fake_last(&r.source)->initial);
    }
    reflecting_done(&r);
}

/* ---- names ---- */

static void every_error_has_a_class(void **state)
{
    (void)state;
    const struct {
        ki_error error;
        ki_failure_class failure_class;
        const char *name;
    } cases[] = {
        {{.code = 0}, KI_FAILURE_NONE, "none"},
        {{.code = -ECONNREFUSED}, KI_FAILURE_CONNECTION, "connection"},
        {{.code = -EHOSTUNREACH}, KI_FAILURE_CONNECTION, "connection"},
        {{.code = KI_ERR_TRUNCATED}, KI_FAILURE_CONNECTION, "connection"},
        {{.code = KI_ERR_TLS}, KI_FAILURE_TLS, "TLS"},
        {{.code = KI_ERR_DENIED}, KI_FAILURE_AUTHENTICATION, "authentication"},
        {{.code = KI_ERR_STATUS, .http_code = 401}, KI_FAILURE_AUTHENTICATION, "authentication"},
        {{.code = KI_ERR_STATUS, .http_code = 403}, KI_FAILURE_FORBIDDEN, "forbidden"},
        {{.code = KI_ERR_STATUS, .http_code = 404}, KI_FAILURE_NOT_FOUND, "not found"},
        {{.code = KI_ERR_NOT_FOUND, .http_code = 404}, KI_FAILURE_NOT_FOUND, "not found"},
        {{.code = KI_ERR_NOT_FOUND, .reason = KI_REASON_NOT_FOUND},
         KI_FAILURE_NOT_FOUND,
         "not found"},
        {{.code = KI_ERR_NOT_FOUND}, KI_FAILURE_RESPONSE, "response"},
        {{.code = KI_ERR_EXISTS, .http_code = 409}, KI_FAILURE_REJECTED, "rejected"},
        {{.code = KI_ERR_STATUS, .http_code = 410}, KI_FAILURE_EXPIRED, "expired"},
        {{.code = KI_ERR_STATUS, .http_code = 429}, KI_FAILURE_THROTTLED, "throttled"},
        {{.code = KI_ERR_STATUS, .http_code = 500}, KI_FAILURE_SERVER, "server"},
        {{.code = KI_ERR_STATUS, .http_code = 503}, KI_FAILURE_SERVER, "server"},
        {{.code = KI_ERR_STATUS, .http_code = 422}, KI_FAILURE_REJECTED, "rejected"},
        {{.code = KI_ERR_SYNTAX}, KI_FAILURE_RESPONSE, "response"},
        {{.code = -EBADMSG}, KI_FAILURE_RESPONSE, "response"},
        {{.code = -EMFILE}, KI_FAILURE_LOCAL, "local"},
        {{.code = KI_ERR_LIMIT}, KI_FAILURE_LOCAL, "local"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(ki_failure_classify(&cases[i].error), cases[i].failure_class);
        assert_string_equal(ki_failure_class_name(cases[i].failure_class), cases[i].name);
    }
    assert_int_equal(ki_failure_classify(NULL), KI_FAILURE_NONE);
    assert_string_equal(ki_failure_class_name(KI_FAILURE_CLASS_MAX), "unknown");
    assert_string_equal(ki_watch_operation_name(KI_OPERATION_LIST), "list");
    assert_string_equal(ki_watch_operation_name(KI_OPERATION_STREAMING_LIST), "streaming list");
    assert_string_equal(ki_watch_operation_name(KI_OPERATION_WATCH), "watch");
    assert_string_equal(ki_watch_operation_name(KI_OPERATION_MAX), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_attempt_is_reported_with_operation_number_and_delay),
        cmocka_unit_test(lists_watches_and_streams_say_which_they_are),
        cmocka_unit_test(a_callback_may_look_and_stop),
        cmocka_unit_test(the_log_may_stop_it),
        cmocka_unit_test(what_the_source_repeats_by_itself_is_reported),
        cmocka_unit_test(the_log_has_the_first_a_line_each_minute_and_the_end),
        cmocka_unit_test(a_change_of_class_is_logged_at_once),
        cmocka_unit_test(an_accepted_watch_has_recovered_after_5_s),
        cmocka_unit_test(a_fallback_is_no_failure),
        cmocka_unit_test(a_404_of_the_stream_is_final_for_the_attempt),
        cmocka_unit_test(codes_decide_between_waiting_and_a_list),
        cmocka_unit_test(a_watch_that_lived_and_is_resumed_is_no_failure),
        cmocka_unit_test(a_watch_that_was_never_accepted_has_failed),
        cmocka_unit_test(an_expired_watch_is_reported_and_no_outage),
        cmocka_unit_test(a_list_whose_watch_lived_5_s_resets_the_back_off),
        cmocka_unit_test(a_streaming_list_whose_watch_lived_5_s_resets_it_too),
        cmocka_unit_test(every_error_has_a_class),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
