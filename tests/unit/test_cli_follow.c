/* SPDX-License-Identifier: Apache-2.0 */
/* What is reported of an informer's outages, by its health from one look to the next. */
#include "cli/follow.h"
#include "support/test.h"

static cli_target target;
static ki_health now;

/* A watch that continues after the first list. */
static int setup(void **state)
{
    (void)state;
    target = (cli_target){0};
    now = KI_OPTIONS_INIT(ki_health);
    now.state = KI_REFLECTOR_WATCHING;
    now.accepted = true;
    now.synced = true;
    now.syncs = 1;
    now.watches = 1;
    now.events = 5;
    assert_int_equal(cli_follow_look(&target, &now), CLI_SYNC_UNCHANGED);
    return 0;
}

static cli_sync_change look(void)
{
    return cli_follow_look(&target, &now);
}

static void fail_with(ki_failure_class failure)
{
    now.state = KI_REFLECTOR_BACKOFF;
    now.accepted = false;
    now.reason_class = failure;
}

static void accept_watch(void)
{
    now.state = KI_REFLECTOR_WATCHING;
    now.accepted = true;
    now.watches++;
}

/* As if the watch had been accepted so long ago. */
static void let_a_second_pass(void)
{
    target.follow.accepted_ns -= UINT64_C(1000000000);
}

static void a_failure_is_reported_once_for_each_class(void **state)
{
    (void)state;
    fail_with(KI_FAILURE_CONNECTION);
    assert_int_equal(look(), CLI_SYNC_FAILING);
    assert_int_equal(look(), CLI_SYNC_UNCHANGED);
    fail_with(KI_FAILURE_NOT_FOUND);
    assert_int_equal(look(), CLI_SYNC_FAILING);
    assert_int_equal(look(), CLI_SYNC_UNCHANGED);
    fail_with(KI_FAILURE_FORBIDDEN);
    assert_int_equal(look(), CLI_SYNC_FAILING);
}

static void an_accepted_watch_is_reconnected_and_an_event_is_synced(void **state)
{
    (void)state;
    fail_with(KI_FAILURE_CONNECTION);
    assert_int_equal(look(), CLI_SYNC_FAILING);
    accept_watch();
    assert_int_equal(look(), CLI_SYNC_UNCHANGED); /* it may end at once */
    let_a_second_pass();
    assert_int_equal(look(), CLI_SYNC_RECONNECTED);
    assert_int_equal(look(), CLI_SYNC_UNCHANGED);
    now.reason_class = KI_FAILURE_NONE; /* after 5 s, without an event */
    assert_int_equal(look(), CLI_SYNC_UNCHANGED);
    now.bookmarks++;
    assert_int_equal(look(), CLI_SYNC_SYNCED);
    assert_int_equal(look(), CLI_SYNC_UNCHANGED);
}

static void an_event_at_once_is_synced(void **state)
{
    (void)state;
    fail_with(KI_FAILURE_CONNECTION);
    assert_int_equal(look(), CLI_SYNC_FAILING);
    accept_watch();
    now.events++;
    now.reason_class = KI_FAILURE_NONE;
    assert_int_equal(look(), CLI_SYNC_SYNCED);
}

static void a_watch_that_breaks_before_its_proof_is_another_outage(void **state)
{
    (void)state;
    fail_with(KI_FAILURE_CONNECTION);
    assert_int_equal(look(), CLI_SYNC_FAILING);
    accept_watch();
    assert_int_equal(look(), CLI_SYNC_UNCHANGED);
    let_a_second_pass();
    assert_int_equal(look(), CLI_SYNC_RECONNECTED);
    fail_with(KI_FAILURE_CONNECTION);
    assert_int_equal(look(), CLI_SYNC_FAILING);
}

static void events_of_the_watch_before_prove_nothing(void **state)
{
    (void)state;
    fail_with(KI_FAILURE_CONNECTION);
    assert_int_equal(look(), CLI_SYNC_FAILING);
    accept_watch();
    assert_int_equal(look(), CLI_SYNC_UNCHANGED);
    now.watches++; /* it ended, and another is there */
    now.events++;
    assert_int_equal(look(), CLI_SYNC_UNCHANGED);
}

static void a_list_is_a_proof(void **state)
{
    (void)state;
    fail_with(KI_FAILURE_EXPIRED);
    assert_int_equal(look(), CLI_SYNC_FAILING);
    now.state = KI_REFLECTOR_WATCHING;
    now.reason_class = KI_FAILURE_NONE;
    now.syncs++;
    now.relists++;
    assert_int_equal(look(), CLI_SYNC_RELISTED);
    assert_int_equal(look(), CLI_SYNC_UNCHANGED);
    now.syncs++;
    now.relists++;
    assert_int_equal(look(), CLI_SYNC_RELISTED); /* also without an outage */
}

static void the_first_list_after_a_failure_is_synced(void **state)
{
    (void)state;
    target = (cli_target){0};
    now = KI_OPTIONS_INIT(ki_health);
    fail_with(KI_FAILURE_SERVER);
    assert_int_equal(look(), CLI_SYNC_FAILING);
    now.state = KI_REFLECTOR_WATCHING;
    now.reason_class = KI_FAILURE_NONE;
    now.syncs = 1;
    now.synced = true;
    assert_int_equal(look(), CLI_SYNC_SYNCED);
}

static void waits_and_fallbacks_are_no_failures(void **state)
{
    (void)state;
    now.backoffs++;
    now.fallbacks++;
    now.reconnects++;
    now.watches++;
    assert_int_equal(look(), CLI_SYNC_UNCHANGED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_failure_is_reported_once_for_each_class, setup),
        cmocka_unit_test_setup(an_accepted_watch_is_reconnected_and_an_event_is_synced, setup),
        cmocka_unit_test_setup(an_event_at_once_is_synced, setup),
        cmocka_unit_test_setup(a_watch_that_breaks_before_its_proof_is_another_outage, setup),
        cmocka_unit_test_setup(events_of_the_watch_before_prove_nothing, setup),
        cmocka_unit_test_setup(a_list_is_a_proof, setup),
        cmocka_unit_test_setup(the_first_list_after_a_failure_is_synced, setup),
        cmocka_unit_test_setup(waits_and_fallbacks_are_no_failures, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
