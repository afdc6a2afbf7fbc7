/* SPDX-License-Identifier: Apache-2.0 */
/* Leader election: who leads, since when, until when, and what is written into the Lease. */
#include <errno.h>
#include <string.h>

#include <kinformer/leader.h>

#include "support/electing.h"
#include "support/test.h"

#define LEASE_NS (15 * TEST_SECOND)
#define RENEW_NS (10 * TEST_SECOND)

static void first_replica_leads_at_once_and_renews_every_two_seconds(void **state)
{
    (void)state;
    electing e;
    electing_begin(&e, 1, 1);
    assert_int_equal(electing_start(&e, 0, NULL), 0);
    assert_true(electing_until_leader(&e, TEST_SECOND) < 200 * TEST_MS);
    electing_replica *r = &e.replicas[0];
    assert_int_equal(ki_leader_term(r->leader), 0);
    assert_int_equal(r->term, 0);
    assert_string_equal(r->holder, "a");
    assert_true(ki_object_equals(e.lease, "spec.holderIdentity", "a"));
    assert_int_equal(ki_object_int64_or(e.lease, "spec.leaseDurationSeconds", 0), 15);
    assert_int_equal(ki_object_int64_or(e.lease, "spec.leaseTransitions", -1), 0);
    uint64_t writes = e.writes;
    electing_run(&e, 100 * TEST_SECOND);
    assert_in_range(e.writes - writes, 49, 51);
    assert_int_equal(r->starts, 1);
    electing_end(&e);
}

static void second_replica_waits_and_takes_over_when_the_lease_expires(void **state)
{
    (void)state;
    electing e;
    electing_begin(&e, 2, 2);
    assert_int_equal(electing_start(&e, 0, NULL), 0);
    (void)electing_until_leader(&e, TEST_SECOND);
    assert_int_equal(electing_start(&e, 1, NULL), 0);
    electing_run(&e, 60 * TEST_SECOND);
    assert_int_equal(electing_leader(&e), 0);
    assert_string_equal(e.replicas[1].holder, "a");
    electing_kill(&e, 0);
    uint64_t took = electing_until_leader(&e, 30 * TEST_SECOND);
    assert_in_range(took, LEASE_NS - 2 * TEST_SECOND, LEASE_NS + TEST_SECOND);
    assert_int_equal(ki_leader_term(e.replicas[1].leader), 1);
    electing_end(&e);
}

static void without_a_watch_it_takes_a_retry_longer(void **state)
{
    (void)state;
    electing e;
    electing_begin(&e, 2, 3);
    e.no_watch = true;
    assert_int_equal(electing_start(&e, 0, NULL), 0);
    (void)electing_until_leader(&e, TEST_SECOND);
    assert_int_equal(electing_start(&e, 1, NULL), 0);
    electing_run(&e, 60 * TEST_SECOND);
    electing_kill(&e, 0);
    uint64_t took = electing_until_leader(&e, 30 * TEST_SECOND);
    assert_in_range(took, LEASE_NS - 2 * TEST_SECOND, LEASE_NS + 5 * TEST_SECOND);
    electing_end(&e);
}

static void released_on_stop_it_is_taken_at_once(void **state)
{
    (void)state;
    electing e;
    electing_begin(&e, 2, 4);
    assert_int_equal(electing_start(&e, 0, NULL), 0);
    (void)electing_until_leader(&e, TEST_SECOND);
    assert_int_equal(electing_start(&e, 1, NULL), 0);
    electing_run(&e, 5 * TEST_SECOND);
    ki_leader_stop(e.replicas[0].leader);
    assert_false(ki_leader_is(e.replicas[0].leader)); /* from this call on */
    assert_true(electing_until_leader(&e, TEST_SECOND) < 500 * TEST_MS);
    assert_int_equal(electing_leader(&e), 1);
    assert_int_equal(e.replicas[0].started, 0);
    assert_true(atomic_load(&e.replicas[0].leader->ended));
    electing_end(&e);
}

static void kept_on_stop_it_expires(void **state)
{
    (void)state;
    electing e;
    electing_begin(&e, 2, 5);
    ki_leader_options options = KI_OPTIONS_INIT(ki_leader_options);
    options.keep_on_stop = true;
    assert_int_equal(electing_start(&e, 0, &options), 0);
    (void)electing_until_leader(&e, TEST_SECOND);
    assert_int_equal(electing_start(&e, 1, NULL), 0);
    electing_run(&e, 5 * TEST_SECOND);
    ki_leader_stop(e.replicas[0].leader);
    electing_run(&e, TEST_SECOND);
    assert_true(ki_object_equals(e.lease, "spec.holderIdentity", "a"));
    assert_true(electing_until_leader(&e, 20 * TEST_SECOND) > 10 * TEST_SECOND);
    electing_end(&e);
}

/* A process that was stopped for longer than its lease notices before it writes anything, and
 * before its loop has run at all. */
static void paused_leader_notices_before_its_loop_runs(void **state)
{
    (void)state;
    electing e;
    electing_begin(&e, 2, 6);
    assert_int_equal(electing_start(&e, 0, NULL), 0);
    (void)electing_until_leader(&e, TEST_SECOND);
    assert_int_equal(electing_start(&e, 1, NULL), 0);
    electing_run(&e, 5 * TEST_SECOND);
    int64_t term = ki_leader_term(e.replicas[0].leader);
    e.replicas[0].paused = true;
    electing_run(&e, RENEW_NS);
    assert_false(ki_leader_holds(e.replicas[0].leader, term));
    electing_run(&e, 10 * TEST_SECOND);
    assert_int_equal(electing_leader(&e), 1);
    e.replicas[0].paused = false;
    electing_run(&e, 5 * TEST_SECOND);
    assert_int_equal(electing_leader(&e), 1);
    assert_int_equal(e.replicas[0].started, 0);
    assert_string_equal(e.replicas[0].holder, "b");
    electing_end(&e);
}

static void leader_without_contact_stops_before_others_may_take_over(void **state)
{
    (void)state;
    electing e;
    electing_begin(&e, 2, 7);
    assert_int_equal(electing_start(&e, 0, NULL), 0);
    (void)electing_until_leader(&e, TEST_SECOND);
    assert_int_equal(electing_start(&e, 1, NULL), 0);
    electing_run(&e, 5 * TEST_SECOND);
    e.replicas[0].cut = true;
    electing_run(&e, RENEW_NS + 50 * TEST_MS);
    assert_int_equal(e.replicas[0].started, 0);
    assert_int_equal(electing_leader(&e), -1);
    (void)electing_until_leader(&e, 6 * TEST_SECOND);
    assert_int_equal(electing_leader(&e), 1);
    e.replicas[0].cut = false;
    electing_run(&e, 60 * TEST_SECOND);
    assert_int_equal(electing_leader(&e), 1);
    electing_end(&e);
}

/* fabric8io/kubernetes-client#7350: a restarted replica found its own identity in the Lease,
 * considered itself the leader at once, and another one had just taken over. */
static void restarted_replica_does_not_trust_its_name_in_the_lease(void **state)
{
    (void)state;
    electing e;
    electing_begin(&e, 2, 8);
    assert_int_equal(electing_start(&e, 0, NULL), 0);
    (void)electing_until_leader(&e, TEST_SECOND);
    electing_kill(&e, 0);
    assert_int_equal(electing_start(&e, 0, NULL), 0);
    electing_run(&e, 10 * TEST_SECOND);
    assert_int_equal(electing_leader(&e), -1);
    (void)electing_until_leader(&e, 10 * TEST_SECOND);
    assert_int_equal(ki_leader_term(e.replicas[0].leader), 1);
    electing_end(&e);
}

static void two_replicas_with_one_identity_do_not_both_lead(void **state)
{
    (void)state;
    electing e;
    electing_begin(&e, 2, 9);
    ki_leader_options options = KI_OPTIONS_INIT(ki_leader_options);
    options.identity = "same";
    assert_int_equal(electing_start(&e, 0, &options), 0);
    (void)electing_until_leader(&e, TEST_SECOND);
    assert_int_equal(electing_start(&e, 1, &options), 0);
    electing_run(&e, 100 * TEST_SECOND);
    assert_int_equal(electing_leader(&e), 0);
    assert_int_equal(e.replicas[1].starts, 0);
    electing_end(&e);
}

static void deleted_lease_is_not_free_before_it_would_have_expired(void **state)
{
    (void)state;
    electing e;
    electing_begin(&e, 2, 10);
    assert_int_equal(electing_start(&e, 0, NULL), 0);
    (void)electing_until_leader(&e, TEST_SECOND);
    assert_int_equal(electing_start(&e, 1, NULL), 0);
    electing_run(&e, 5 * TEST_SECOND);
    electing_delete(&e);
    electing_run(&e, 10 * TEST_SECOND);
    assert_int_equal(electing_leader(&e), 0); /* which has created it again */
    assert_int_equal(ki_object_int64_or(e.lease, "spec.leaseTransitions", -1), 0);
    electing_end(&e);
}

static void lease_taken_by_others_ends_leadership(void **state)
{
    (void)state;
    electing e;
    electing_begin(&e, 1, 11);
    assert_int_equal(electing_start(&e, 0, NULL), 0);
    (void)electing_until_leader(&e, TEST_SECOND);
    electing_set_holder(&e, "z");
    electing_run(&e, 500 * TEST_MS);
    assert_int_equal(electing_leader(&e), -1);
    assert_int_equal(e.replicas[0].started, 0);
    assert_string_equal(e.replicas[0].holder, "z");
    electing_end(&e);
}

/* The duration that counts is the one in the Lease, not the program's own. */
static void duration_of_the_holder_counts(void **state)
{
    (void)state;
    electing e;
    electing_begin(&e, 2, 12);
    ki_leader_options options = KI_OPTIONS_INIT(ki_leader_options);
    options.lease_duration_ms = 59500; /* rounded up */
    assert_int_equal(electing_start(&e, 0, &options), 0);
    (void)electing_until_leader(&e, TEST_SECOND);
    assert_int_equal(electing_start(&e, 1, NULL), 0);
    electing_run(&e, 10 * TEST_SECOND);
    electing_kill(&e, 0);
    uint64_t took = electing_until_leader(&e, 70 * TEST_SECOND);
    assert_in_range(took, 58 * TEST_SECOND, 61 * TEST_SECOND);
    electing_end(&e);
}

static void unreadable_holder_is_not_nobody(void **state)
{
    (void)state;
    electing e;
    electing_begin(&e, 1, 13);
    assert_int_equal(electing_start(&e, 0, NULL), 0);
    (void)electing_until_leader(&e, TEST_SECOND);
    char name[1001];
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    electing_set_holder(&e, name);
    electing_run(&e, 10 * TEST_SECOND);
    assert_int_equal(electing_leader(&e), -1);
    electing_run(&e, 10 * TEST_SECOND); /* it expires like any other */
    assert_int_equal(electing_leader(&e), 0);
    electing_end(&e);
}

static void failures_are_reported_once_a_minute(void **state)
{
    (void)state;
    electing e;
    electing_begin(&e, 1, 14);
    e.forbidden = true;
    assert_int_equal(electing_start(&e, 0, NULL), 0);
    electing_run(&e, TEST_SECOND);
    uint64_t first = e.replicas[0].leader->reported_at;
    assert_true(first != 0);
    electing_run(&e, 50 * TEST_SECOND);
    assert_true(e.replicas[0].leader->reported_at == first);
    electing_run(&e, 20 * TEST_SECOND);
    assert_true(e.replicas[0].leader->reported_at > first);
    e.forbidden = false;
    (void)electing_until_leader(&e, 10 * TEST_SECOND);
    electing_end(&e);
}

static void invalid_options_are_refused(void **state)
{
    (void)state;
    static const struct {
        uint32_t lease, renew, retry;
    } bad[] = {{10000, 10000, 2000}, {15000, 20000, 2000}, {15000, 2000, 2000}, {9000, 0, 0}};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        electing e;
        electing_begin(&e, 1, 15);
        ki_leader_options options = KI_OPTIONS_INIT(ki_leader_options);
        options.lease_duration_ms = bad[i].lease;
        options.renew_deadline_ms = bad[i].renew;
        options.retry_period_ms = bad[i].retry;
        assert_int_equal(electing_start(&e, 0, &options), -EINVAL);
        electing_end(&e);
    }
    electing e;
    electing_begin(&e, 1, 15);
    char name[KI__IDENTITY_MAX + 2];
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    ki_leader_options options = KI_OPTIONS_INIT(ki_leader_options);
    options.identity = name;
    assert_int_equal(electing_start(&e, 0, &options), KI_ERR_LIMIT);
    electing_end(&e);
}

static void stopped_election_cannot_be_started(void **state)
{
    (void)state;
    electing e;
    electing_begin(&e, 1, 16);
    assert_int_equal(electing_start(&e, 0, NULL), 0);
    assert_int_equal(ki_leader_start(e.replicas[0].leader, NULL), KI_ERR_EXISTS);
    ki_leader_stop(e.replicas[0].leader);
    electing_run(&e, TEST_SECOND);
    assert_int_equal(ki_leader_start(e.replicas[0].leader, NULL), KI_ERR_STOPPED);
    assert_false(ki_leader_is(NULL));
    assert_int_equal(ki_leader_term(NULL), -1);
    assert_false(ki_leader_holds(e.replicas[0].leader, -1));
    electing_end(&e);
}

/* Without memory an election cannot write its Lease, and retries. */
static int elect_and_stop(const ki_alloc *alloc, void *user)
{
    (void)user;
    electing e;
    electing_begin(&e, 1, 17);
    e.alloc = alloc;
    int r = electing_start(&e, 0, NULL);
    if (r == 0) {
        electing_run(&e, 20 * TEST_SECOND);
        ki_leader_stop(e.replicas[0].leader);
        electing_run(&e, 20 * TEST_SECOND);
        assert_int_equal(e.replicas[0].started, 0);
        assert_true(atomic_load(&e.replicas[0].leader->ended));
    }
    electing_end(&e);
    return r;
}

static void survives_failing_allocations(void **state)
{
    (void)state;
    test_alloc_sweep(elect_and_stop, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_replica_leads_at_once_and_renews_every_two_seconds),
        cmocka_unit_test(second_replica_waits_and_takes_over_when_the_lease_expires),
        cmocka_unit_test(without_a_watch_it_takes_a_retry_longer),
        cmocka_unit_test(released_on_stop_it_is_taken_at_once),
        cmocka_unit_test(kept_on_stop_it_expires),
        cmocka_unit_test(paused_leader_notices_before_its_loop_runs),
        cmocka_unit_test(leader_without_contact_stops_before_others_may_take_over),
        cmocka_unit_test(restarted_replica_does_not_trust_its_name_in_the_lease),
        cmocka_unit_test(two_replicas_with_one_identity_do_not_both_lead),
        cmocka_unit_test(deleted_lease_is_not_free_before_it_would_have_expired),
        cmocka_unit_test(lease_taken_by_others_ends_leadership),
        cmocka_unit_test(duration_of_the_holder_counts),
        cmocka_unit_test(unreadable_holder_is_not_nobody),
        cmocka_unit_test(failures_are_reported_once_a_minute),
        cmocka_unit_test(invalid_options_are_refused),
        cmocka_unit_test(stopped_election_cannot_be_started),
        cmocka_unit_test(survives_failing_allocations),
    };
    return cmocka_run_group_tests_name("leader", tests, NULL, NULL);
}
