/* SPDX-License-Identifier: Apache-2.0 */
/* Leader election through clients on the embedded API server: takeover, release, workers that wait
 * for their turn, and ends of loops and clients in any order.  threads: yes */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include <kinformer/apiserver.h>
#include <kinformer/builtin_resources.h>
#include <kinformer/controller.h>
#include <kinformer/leader.h>
#include <kinformer/loop.h>
#include <kinformer/request.h>
#include <kinformer/workqueue.h>

#include "support/test.h"

enum { REPLICAS = 2, WAIT_MS = 20000 };

typedef struct replica {
    ki_client *client;
    ki_leader *leader;
    atomic_int started;
    atomic_int stopped;
    atomic_int destroyed;
    atomic_int reconciled;
} replica;

typedef struct fixture {
    test_alloc alloc;
    ki_apiserver *server;
    replica replicas[REPLICAS];
} fixture;

static void nap(void)
{
    (void)nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
}

static void on_started(int64_t term, void *user)
{
    (void)term;
    atomic_fetch_add(&((replica *)user)->started, 1);
}

static void on_stopped(void *user)
{
    atomic_fetch_add(&((replica *)user)->stopped, 1);
}

static void destroy(void *user)
{
    atomic_fetch_add(&((replica *)user)->destroyed, 1);
}

static void begin(fixture *f)
{
    memset(f, 0, sizeof(*f));
    test_alloc_init(&f->alloc);
    assert_int_equal(ki_apiserver_new(NULL, &f->server, NULL), 0);
    for (int i = 0; i < REPLICAS; i++) {
        ki_client_options options = KI_OPTIONS_INIT(ki_client_options);
        options.alloc = &f->alloc.table;
        replica *r = &f->replicas[i];
        assert_int_equal(ki_apiserver_client(f->server, &options, &r->client, NULL), 0);
    }
}

static ki_leader *elect(replica *r, const char *identity)
{
    ki_leader_options options = KI_OPTIONS_INIT(ki_leader_options);
    options.name = "controller";
    options.name_space = "default";
    options.identity = identity;
    options.lease_duration_ms = 3000;
    options.renew_deadline_ms = 2000;
    options.retry_period_ms = 200;
    options.on_started = on_started;
    options.on_stopped = on_stopped;
    options.user = r;
    options.destroy = destroy;
    ki_error error = KI_ERROR_INIT;
    if (ki_leader_new(r->client, &options, &r->leader, &error) < 0 ||
        ki_leader_start(r->leader, &error) < 0) {
        fail_msg("%s", error.message);
    }
    return r->leader;
}

static void until_leads(const ki_leader *leader)
{
    for (int i = 0; i < WAIT_MS / 2 && !ki_leader_is(leader); i++) {
        nap();
    }
    assert_true(ki_leader_is(leader));
}

static void end(fixture *f)
{
    for (int i = 0; i < REPLICAS; i++) {
        replica *r = &f->replicas[i];
        r->leader = ki_leader_close(r->leader);
        r->client = ki_client_close(r->client);
        assert_int_equal(atomic_load(&r->started), atomic_load(&r->stopped));
    }
    f->server = ki_apiserver_unref(f->server);
    test_alloc_done(&f->alloc);
}

static void lease_has(fixture *f, const char *path, const char *text)
{
    ki_object *lease = NULL;
    assert_int_equal(ki_apiserver_get(f->server, KI_COORDINATION_V1_LEASES, "default", "controller",
                                      &lease, NULL),
                     0);
    assert_true(ki_object_equals(lease, path, text));
    (void)ki_object_unref(lease);
}

static void close_hands_over_at_once(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    replica *a = &f.replicas[0];
    replica *b = &f.replicas[1];
    until_leads(elect(a, "a"));
    lease_has(&f, "spec.holderIdentity", "a");
    (void)elect(b, "b");
    for (int i = 0; i < 200; i++) {
        nap();
        assert_false(ki_leader_is(b->leader));
    }
    a->leader = ki_leader_close(a->leader);
    assert_int_equal(atomic_load(&a->stopped), 1);
    assert_int_equal(atomic_load(&a->destroyed), 1);
    struct timespec before;
    struct timespec after;
    (void)clock_gettime(CLOCK_MONOTONIC, &before);
    until_leads(b->leader);
    (void)clock_gettime(CLOCK_MONOTONIC, &after);
    assert_true(after.tv_sec - before.tv_sec <= 2); /* not the 3 s of an expiry */
    assert_int_equal(ki_leader_term(b->leader), 1);
    ki_buf holder;
    ki_buf_init(&holder, NULL, 100);
    assert_int_equal(ki_leader_holder(b->leader, &holder), 0);
    assert_string_equal(ki_buf_text(&holder), "b");
    ki_buf_done(&holder);
    end(&f);
}

static void leader_that_is_refused_stops_and_another_takes_over(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    replica *a = &f.replicas[0];
    until_leads(elect(a, "a"));
    assert_int_equal(ki_apiserver_set_faults(f.server, "status=500,verb=update", NULL), 0);
    for (int i = 0; i < WAIT_MS / 2 && atomic_load(&a->stopped) == 0; i++) {
        nap();
    }
    assert_int_equal(atomic_load(&a->stopped), 1);
    assert_false(ki_leader_is(a->leader));
    assert_int_equal(ki_apiserver_set_faults(f.server, "", NULL), 0);
    until_leads(a->leader);
    assert_int_equal(ki_leader_term(a->leader), 0); /* nobody else has led */
    end(&f);
}

static int reconcile(const char *key, uint64_t *retry_after_ms, ki_error *error, void *user)
{
    (void)key;
    (void)retry_after_ms;
    (void)error;
    atomic_fetch_add(&((replica *)user)->reconciled, 1);
    return 0;
}

static ki_controller *control(replica *r, ki_workqueue **ret_queue)
{
    ki_controller *controller = NULL;
    assert_int_equal(ki_workqueue_new(NULL, ret_queue, NULL), 0);
    ki_controller_options options = KI_OPTIONS_INIT(ki_controller_options);
    options.queue = *ret_queue;
    options.reconcile = reconcile;
    options.user = r;
    options.leader = r->leader;
    assert_int_equal(ki_controller_new(&options, &controller, NULL), 0);
    assert_int_equal(ki_controller_start(controller, NULL, 2, NULL), 0);
    return controller;
}

static void workers_process_keys_only_while_their_replica_leads(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    replica *a = &f.replicas[0];
    replica *b = &f.replicas[1];
    ki_workqueue *queues[REPLICAS];
    until_leads(elect(a, "a"));
    (void)elect(b, "b");
    ki_controller *first = control(a, &queues[0]);
    ki_controller *second = control(b, &queues[1]);
    for (int i = 0; i < 5; i++) {
        const char key[] = {(char)('a' + i), '\0'};
        assert_true(ki_workqueue_add(queues[0], key) >= 0);
        assert_true(ki_workqueue_add(queues[1], key) >= 0);
    }
    for (int i = 0; i < WAIT_MS / 2 && atomic_load(&a->reconciled) < 5; i++) {
        nap();
    }
    assert_int_equal(atomic_load(&a->reconciled), 5);
    assert_int_equal(atomic_load(&b->reconciled), 0);
    first = ki_controller_close(first);
    a->leader = ki_leader_close(a->leader);
    for (int i = 0; i < WAIT_MS / 2 && atomic_load(&b->reconciled) < 5; i++) {
        nap();
    }
    assert_int_equal(atomic_load(&b->reconciled), 5);
    second = ki_controller_close(second);
    for (int i = 0; i < REPLICAS; i++) {
        (void)ki_workqueue_unref(queues[i]);
    }
    end(&f);
}

static void close_of_a_waiting_controller_does_not_hang(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    replica *a = &f.replicas[0];
    replica *b = &f.replicas[1];
    ki_workqueue *queue = NULL;
    until_leads(elect(a, "a"));
    (void)elect(b, "b");
    ki_controller *controller = control(b, &queue);
    assert_true(ki_workqueue_add(queue, "x") >= 0);
    for (int i = 0; i < 50; i++) {
        nap();
    }
    (void)ki_controller_close(controller);
    assert_int_equal(atomic_load(&b->reconciled), 0);
    (void)ki_workqueue_unref(queue);
    end(&f);
}

/* A loop that is stopped ends the election; nothing is left. */
static void stopped_loop_ends_it(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    replica *a = &f.replicas[0];
    a->client = ki_client_close(a->client);
    ki_loop_options loop_options = KI_OPTIONS_INIT(ki_loop_options);
    loop_options.alloc = &f.alloc.table;
    ki_loop *loop = NULL;
    assert_int_equal(ki_loop_new(&loop_options, &loop, NULL), 0);
    assert_int_equal(ki_loop_start(loop, NULL), 0);
    ki_client_options options = KI_OPTIONS_INIT(ki_client_options);
    options.loop = loop;
    assert_int_equal(ki_apiserver_client(f.server, &options, &a->client, NULL), 0);
    until_leads(elect(a, "a"));
    ki_loop_stop(loop);
    for (int i = 0; i < WAIT_MS / 2 && atomic_load(&a->stopped) == 0; i++) {
        nap();
    }
    assert_int_equal(atomic_load(&a->stopped), 1);
    assert_false(ki_leader_is(a->leader));
    a->leader = ki_leader_close(a->leader);
    a->client = ki_client_unref(a->client);
    assert_int_equal(ki_loop_join(loop), 0);
    (void)ki_loop_unref(loop);
    end(&f);
}

static void never_started_it_can_be_closed(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    ki_leader_options options = KI_OPTIONS_INIT(ki_leader_options);
    options.name = "controller";
    ki_leader *leader = NULL;
    assert_int_equal(ki_leader_new(f.replicas[0].client, &options, &leader, NULL), 0);
    assert_true(strlen(ki_leader_identity(leader)) > 17);
    assert_null(ki_leader_close(leader));
    options.name = NULL;
    assert_int_equal(ki_leader_new(f.replicas[0].client, &options, &leader, NULL), -EINVAL);
    options.name = "not/a/name";
    assert_int_equal(ki_leader_new(f.replicas[0].client, &options, &leader, NULL), KI_ERR_INVALID);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(close_hands_over_at_once),
        cmocka_unit_test(leader_that_is_refused_stops_and_another_takes_over),
        cmocka_unit_test(workers_process_keys_only_while_their_replica_leads),
        cmocka_unit_test(close_of_a_waiting_controller_does_not_hang),
        cmocka_unit_test(stopped_loop_ends_it),
        cmocka_unit_test(never_started_it_can_be_closed),
    };
    return cmocka_run_group_tests_name("client_leader", tests, NULL, NULL);
}
