/* SPDX-License-Identifier: Apache-2.0 */
/* A source that changes to another encoding: the reflector makes the same request again at once,
 * the first time, and that is not a failure. */
#include <string.h>

#include "support/objects.h"
#include "support/reflecting.h"

static void expect_no_failure(reflecting *r)
{
    ki_health health = reflecting_health(r);
    assert_int_equal(r->errors, 0);
    assert_int_equal(health.failures, 0);
    assert_int_equal(health.backoffs, 0);
    assert_int_equal(health.fallbacks, 0);
    assert_int_equal(health.relists, 0);
    assert_int_equal(reflecting_reason(r).code, 0);
}

static void a_streaming_list_is_repeated(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_start(&r);
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("a", 1));
    fake_end_error(&r.source, KI_ERR_NO_SCHEMA);
    reflecting_settle(&r);
    assert_int_equal(r.source.count, 2);
    assert_true(fake_last(&r.source)->initial);
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("b", 2));
    fake_bookmark(&r.source, "10", true);
    reflecting_expect(&r, "=(b@2)@10"); /* nothing of the stream before */
    expect_no_failure(&r);
    reflecting_done(&r);
}

static void a_list_is_repeated_from_its_first_page(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    r.options.no_streaming = true;
    reflecting_start(&r);
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("a", 1));
    fake_end_list(&r.source, "10", "more");
    reflecting_settle(&r);
    fake_end_error(&r.source, KI_ERR_NO_SCHEMA);
    reflecting_settle(&r);
    assert_int_equal(r.source.count, 3);
    assert_false(fake_last(&r.source)->watch);
    assert_string_equal(fake_last(&r.source)->token, "");
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("a", 1));
    fake_end_list(&r.source, "11", "");
    reflecting_expect(&r, "=(a@1)@11");
    expect_no_failure(&r);
    reflecting_done(&r);
}

static void a_watch_is_repeated_from_the_last_version(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_sync(&r);
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("b", 12));
    fake_end_error(&r.source, KI_ERR_NO_SCHEMA);
    reflecting_expect(&r, "+b@12");
    assert_true(fake_last(&r.source)->watch);
    assert_false(fake_last(&r.source)->initial);
    assert_string_equal(fake_last(&r.source)->version, "12");
    fake_event(&r.source, KI_WATCH_EVENT_ADDED, fake_pod("c", 13));
    reflecting_expect(&r, "+c@13");
    expect_no_failure(&r);
    reflecting_done(&r);
}

static void a_source_that_changes_again_has_failed(void **state)
{
    (void)state;
    reflecting r;
    reflecting_init(&r);
    reflecting_sync(&r);
    fake_end_error(&r.source, KI_ERR_NO_SCHEMA);
    reflecting_settle(&r);
    reflecting_expect_state(&r, KI_REFLECTOR_WATCHING, "10");
    fake_end_error(&r.source, KI_ERR_NO_SCHEMA);
    reflecting_settle(&r);
    reflecting_expect_state(&r, KI_REFLECTOR_BACKOFF, "10");
    assert_int_equal(r.errors, 1);
    reflecting_done(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_streaming_list_is_repeated),
        cmocka_unit_test(a_list_is_repeated_from_its_first_page),
        cmocka_unit_test(a_watch_is_repeated_from_the_last_version),
        cmocka_unit_test(a_source_that_changes_again_has_failed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
