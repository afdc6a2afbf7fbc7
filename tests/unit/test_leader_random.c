/* SPDX-License-Identifier: Apache-2.0 */
/* Leader election under random faults: replicas are paused, killed, cut off and started again,
 * their clocks run at different speeds, messages are slow or lost. electing_run() checks after each
 * step that no two replicas may write, and that terms grow; after the faults there must be a leader
 * in time. One seed is one history: KI_LEADER_SEED=n repeats it. */
#include <stdio.h>
#include <stdlib.h>

#include "support/electing.h"
#include "support/test.h"

enum { HISTORIES = 3000, STEPS = 60 };

#define LEASE_NS (15 * TEST_SECOND)
/* Fastest and slowest clock: further apart than crystals ever are, and below 15 s / 10 s. */
enum { RATE_MIN = 850, RATE_MAX = 1200 };

static uint64_t below(uint64_t *seed, uint64_t limit)
{
    return test_random(seed) % limit;
}

static void disturb(electing *e, uint64_t *seed)
{
    int replica = (int)below(seed, (uint64_t)e->count);
    electing_replica *r = &e->replicas[replica];
    switch (below(seed, 9)) {
    case 0:
        r->paused = !r->paused;
        break;
    case 1:
        r->cut = !r->cut;
        break;
    case 2:
        electing_kill(e, replica);
        break;
    case 3:
        r->watching = false; /* the connection broke; the next response begins another watch */
        break;
    case 4:
        e->loss_permille = (uint32_t)below(seed, 700);
        break;
    case 5:
        e->latency_ns = below(seed, 8) * TEST_SECOND;
        break;
    case 6:
        e->forbidden = !e->forbidden;
        break;
    case 7:
        if (r->leader != NULL) {
            ki_leader_stop(r->leader);
        }
        break;
    default:
        if (r->leader == NULL) {
            assert_int_equal(electing_start(e, replica, NULL), 0);
        }
        break;
    }
}

/* Ends all faults. Replicas that were stopped or killed are started again. */
static void heal(electing *e)
{
    e->loss_permille = 0;
    e->latency_ns = 20 * TEST_MS;
    e->forbidden = false;
    for (int i = 0; i < e->count; i++) {
        electing_replica *r = &e->replicas[i];
        r->paused = r->cut = false;
        if (r->leader != NULL && r->leader->wish == KI__LEADER_WISH_STOP) {
            electing_kill(e, i);
        }
        if (r->leader == NULL) {
            assert_int_equal(electing_start(e, i, NULL), 0);
        }
    }
}

static uint64_t run_history(uint64_t history, uint64_t *ret_longest)
{
    electing e;
    uint64_t seed = history;
    electing_begin(&e, 2 + (int)below(&seed, 2), test_random(&seed));
    e.no_watch = below(&seed, 3) == 0;
    for (int i = 0; i < e.count; i++) {
        e.replicas[i].rate_permille = RATE_MIN + below(&seed, RATE_MAX - RATE_MIN + 1);
        assert_int_equal(electing_start(&e, i, NULL), 0);
    }
    for (int i = 0; i < STEPS; i++) {
        electing_run(&e, below(&seed, 6 * TEST_SECOND));
        disturb(&e, &seed);
    }
    heal(&e);
    /* A request that was lost is noticed after 5 s, and the Lease may have changed meanwhile. */
    uint64_t limit = (LEASE_NS + 5 * TEST_SECOND + 5 * TEST_SECOND) / RATE_MIN * 1000;
    uint64_t took = electing_until_leader(&e, limit);
    *ret_longest = took > *ret_longest ? took : *ret_longest;
    /* In calm, leadership does not change; and a leader that dies is replaced in time. */
    electing_run(&e, 30 * TEST_SECOND);
    int leader = electing_leader(&e);
    uint64_t starts = e.replicas[leader].starts;
    electing_run(&e, 60 * TEST_SECOND);
    assert_int_equal(electing_leader(&e), leader);
    assert_int_equal(e.replicas[leader].starts, starts);
    if (!e.no_watch) {
        electing_kill(&e, leader);
        limit = (LEASE_NS + TEST_SECOND) / RATE_MIN * 1000;
        (void)electing_until_leader(&e, limit);
    }
    electing_end(&e);
    return e.requests;
}

static void never_two_leaders_and_always_one_in_the_end(void **state)
{
    (void)state;
    uint64_t requests = 0;
    uint64_t longest = 0;
    const char *only = getenv("KI_LEADER_SEED");
    uint64_t from = only != NULL ? strtoull(only, NULL, 10) : 1;
    uint64_t count = only != NULL ? 1 : HISTORIES;
    for (uint64_t history = from; history < from + count; history++) {
        requests += run_history(history, &longest);
    }
    print_message("%llu requests; longest time without a leader after faults %.1f s\n",
                  (unsigned long long)requests, (double)longest / 1e9);
    assert_true(requests > 10 * count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(never_two_leaders_and_always_one_in_the_end),
    };
    return cmocka_run_group_tests_name("leader_random", tests, NULL, NULL);
}
