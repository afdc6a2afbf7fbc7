/* SPDX-License-Identifier: Apache-2.0 */
/* The manager on the embedded API server: start, stop in every phase, lost leadership, slow and
 * failing calls of reconcile, signals, failing allocations.  threads: yes */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <kinformer/apiserver.h>
#include <kinformer/builtin_resources.h>
#include <kinformer/consistency.h>
#include <kinformer/loop.h>
#include <kinformer/manager.h>
#include <kinformer/monitor_server.h>
#include <kinformer/request.h>
#include <kinformer/worker.h>
#include <kinformer/write.h>

#include "support/test.h"

#if defined(__SANITIZE_THREAD__)
/* Calls of reconcile that never return keep their threads, which is what some tests are about. */
__attribute__((visibility("default"))) const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "report_thread_leaks=0";
}
#endif

enum { WAIT_MS = 30000, PODS = 10 };

typedef enum behaviour { SUCCEED, FAIL, HANG, WRITE, ENSURE, ASK, STOP } behaviour;

typedef struct replica {
    ki_client *client;
    ki_manager *manager;
    ki_controller *controller;
    ki_informer *pods;
    ki_informer *configs;        /* NULL: not watched */
    ki_consistency *consistency; /* NULL: that of the manager */
    double qps;                  /* of the client */
    _Atomic behaviour does;
    atomic_bool release; /* ends HANG */
    atomic_int calls;    /* of reconcile, */
    atomic_int ended;    /* and those that have returned */
    atomic_int last;     /* result of a request */
    atomic_int stops;    /* calls of on_stop */
    atomic_int closed;   /* of the function for the end */
    atomic_int started;  /* callbacks of the election */
    atomic_int lost;
    atomic_int destroyed;
} replica;

typedef struct fixture {
    test_alloc alloc;
    ki_apiserver *server;
    replica replicas[2];
} fixture;

static void nap(void)
{
    (void)nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
}

static uint64_t now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void until(const atomic_int *count, int wanted)
{
    for (int i = 0; i < WAIT_MS / 2 && atomic_load(count) < wanted; i++) {
        nap();
    }
    assert_true(atomic_load(count) >= wanted);
}

/* ---- a replica ---- */

static int write_config(replica *r, const char *name, ki_error *error)
{
    char text[160];
    int len = snprintf(text, sizeof(text),
                       "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\","
                       "\"metadata\":{\"name\":\"%s\",\"namespace\":\"default\"}}",
                       name);
    ki_request request = KI_OPTIONS_INIT(ki_request);
    request.verb = KI_VERB_CREATE;
    request.resource = KI_CORE_V1_CONFIGMAPS;
    request.name_space = "default";
    request.body = ki_str_make(text, (size_t)len);
    return ki_client_do(ki_manager_client(r->manager), &request, NULL, error);
}

static void set_value(ki_edit *edit, void *user)
{
    ki_edit_set_string(edit, "data.key", user);
}

static int ensure(replica *r, const char *name, ki_error *error)
{
    char value[] = "value";
    return ki_client_create_or_patch(ki_manager_client(r->manager), KI_CORE_V1_CONFIGMAPS,
                                     "default", name, NULL, set_value, value, NULL, error);
}

static int ask(replica *r, ki_error *error)
{
    ki_object *pod = NULL;
    int result = ki_client_get(ki_manager_client(r->manager), KI_CORE_V1_PODS, "default", "p0",
                               &pod, NULL, error);
    (void)ki_object_unref(pod);
    return result;
}

static int reconcile(const char *key, uint64_t *retry_after_ms, ki_error *error, void *user)
{
    replica *r = user;
    int result = 0;
    (void)retry_after_ms;
    atomic_fetch_add(&r->calls, 1);
    switch (atomic_load(&r->does)) {
    case FAIL:
        result = -EIO;
        break;
    case WRITE:
        while (!atomic_load(&r->release)) {
            nap();
        }
        result = write_config(r, strchr(key, '/') + 1, error);
        atomic_store(&r->last, result);
        break;
    case ENSURE:
        result = ensure(r, strchr(key, '/') + 1, error);
        atomic_store(&r->last, result);
        break;
    case ASK:
        result = ask(r, error);
        atomic_store(&r->last, result);
        break;
    case HANG:
        while (!atomic_load(&r->release)) {
            nap();
        }
        break;
    case STOP:
        ki_manager_stop(r->manager);
        assert_int_equal(ki_manager_wait(r->manager, NULL), KI_ERR_BUSY);
        break;
    case SUCCEED:
        (void)ki_recorder_event(ki_manager_recorder(r->manager), NULL, KI_EVENT_NORMAL, "x", "y",
                                "z"); /* refused: no object; but callable */
        break;
    }
    atomic_fetch_add(&r->ended, 1);
    return result;
}

static void on_stop(ki_stop_reason reason, void *user)
{
    assert_true(reason != KI_STOP_NONE);
    atomic_fetch_add(&((replica *)user)->stops, 1);
}

static void on_close(void *user)
{
    atomic_fetch_add(&((replica *)user)->closed, 1);
}

static void on_started(int64_t term, void *user)
{
    assert_true(term >= 0);
    atomic_fetch_add(&((replica *)user)->started, 1);
}

static void on_lost(void *user)
{
    atomic_fetch_add(&((replica *)user)->lost, 1);
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
    for (int i = 0; i < PODS; i++) {
        char text[128];
        int len =
            snprintf(text, sizeof(text),
                     "{apiVersion: v1, kind: Pod, metadata: {name: p%d, namespace: default}}", i);
        assert_int_equal(ki_apiserver_load(f->server, ki_str_make(text, (size_t)len), NULL, NULL),
                         0);
    }
}

static void elect(replica *r, const char *identity, ki_leader_options *election)
{
    *election = KI_OPTIONS_INIT(ki_leader_options);
    election->name_space = "default";
    election->identity = identity;
    election->lease_duration_ms = 3000;
    election->renew_deadline_ms = 2000;
    election->retry_period_ms = 200;
    election->on_started = on_started;
    election->on_stopped = on_lost;
    election->user = r;
    election->destroy = destroy;
}

static int make(fixture *f, replica *r, ki_manager_options *options, uint32_t timeout_ms,
                ki_error *error)
{
    ki_client_options client = KI_OPTIONS_INIT(ki_client_options);
    client.alloc = &f->alloc.table;
    client.qps = r->qps;
    client.burst = r->qps > 0 ? 1 : 0;
    int result = ki_apiserver_client(f->server, &client, &r->client, error);
    options->name = "manager";
    options->client = r->client;
    options->on_stop = on_stop;
    options->user = r;
    if (result >= 0) {
        result = ki_manager_new(options, &r->manager, error);
    }
    if (result >= 0) {
        result = ki_manager_on_close(r->manager, on_close, r, error);
    }
    if (result >= 0) {
        result = ki_manager_controller(r->manager,
                                       KI_OPTIONS(ki_controller_options, .alloc = &f->alloc.table,
                                                  .reconcile = reconcile, .user = r, .name = "pods",
                                                  .reconcile_timeout_ms = timeout_ms,
                                                  .consistency = r->consistency),
                                       2, &r->controller, error);
    }
    if (result >= 0) {
        result = ki_client_informer(r->client, KI_CORE_V1_PODS, NULL, &r->pods, error);
    }
    if (result >= 0) {
        result = ki_controller_watch(r->controller, r->pods, NULL, error);
    }
    return result;
}

static replica *start(fixture *f, int number, ki_manager_options *options)
{
    replica *r = &f->replicas[number];
    ki_error error = KI_ERROR_INIT;
    if (make(f, r, options, 0, &error) < 0 || ki_manager_start(r->manager, &error) < 0) {
        fail_msg("%s", error.message);
    }
    return r;
}

static void release_replica(replica *r)
{
    int before = atomic_load(&r->closed);
    int made = r->manager != NULL;
    r->pods = ki_informer_unref(r->pods);
    r->manager = ki_manager_close(r->manager);
    assert_int_equal(atomic_load(&r->closed), before + made);
    r->client = ki_client_close(r->client);
}

static void end(fixture *f)
{
    for (int i = 0; i < 2; i++) {
        release_replica(&f->replicas[i]);
    }
    f->server = ki_apiserver_unref(f->server);
    test_alloc_done(&f->alloc);
}

/* In a process of its own, which may leave things behind. */
static void in_child(void (*test)(fixture *f))
{
    pid_t child = fork();
    if (child == 0) {
        static fixture f;
        begin(&f);
        test(&f); /* a failure runs the other tests, too, and shows in the status */
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* ---- stops ---- */

static void works_until_it_is_stopped(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    replica *r = start(&f, 0, &KI_OPTIONS_INIT(ki_manager_options));
    ki_error error = KI_ERROR_INIT;
    until(&r->calls, PODS);
    assert_int_equal(ki_manager_reason(r->manager), KI_STOP_NONE);
    assert_int_equal(ki_manager_start(r->manager, &error), KI_ERR_EXISTS);
    assert_int_equal(
        ki_manager_controller(r->manager, KI_OPTIONS(ki_controller_options, .reconcile = reconcile),
                              1, NULL, &error),
        KI_ERR_BUSY);
    assert_null(ki_manager_leader(r->manager));
    assert_ptr_equal(ki_manager_client(r->manager), r->client);
    ki_controller_stats stats = KI_OPTIONS_INIT(ki_controller_stats);
    for (int i = 0; i < WAIT_MS / 2 && (stats.workers < 2 || stats.succeeded < PODS); i++) {
        nap();
        assert_int_equal(ki_controller_get_stats(r->controller, &stats), 0);
    }
    assert_int_equal(stats.succeeded, PODS);
    assert_int_equal(stats.failed, 0);
    assert_int_equal(stats.workers, 2);
    ki_manager_stop(r->manager);
    ki_manager_stop(r->manager);
    assert_int_equal(ki_manager_wait(r->manager, &error), 0);
    assert_int_equal(ki_manager_wait(r->manager, &error), 0); /* again */
    assert_int_equal(ki_manager_reason(r->manager), KI_STOP_REQUESTED);
    assert_int_equal(atomic_load(&r->stops), 1);
    assert_int_equal(ki_workqueue_add(ki_controller_queue(r->controller), "x"), KI_ERR_STOPPED);
    end(&f);
}

static void stopped_before_and_during_the_sync(void **state)
{
    (void)state;
    fixture f;
    ki_error error = KI_ERROR_INIT;
    begin(&f);
    assert_int_equal(make(&f, &f.replicas[0], &KI_OPTIONS_INIT(ki_manager_options), 0, &error), 0);
    assert_int_equal(ki_manager_wait(f.replicas[0].manager, &error), KI_ERR_STOPPED);
    release_replica(&f.replicas[0]); /* never started */
    assert_int_equal(ki_apiserver_set_faults(f.server, "status=500,resource=pods", NULL), 0);
    ki_leader_options election;
    elect(&f.replicas[1], "a", &election);
    replica *r = start(&f, 1, KI_OPTIONS(ki_manager_options, .election = &election));
    for (int i = 0; i < 50; i++) {
        nap();
    }
    assert_false(ki_leader_is(ki_manager_leader(r->manager))); /* it would lead without a cache */
    ki_manager_stop(r->manager);
    assert_int_equal(ki_manager_wait(r->manager, &error), 0);
    assert_int_equal(atomic_load(&r->calls), 0);
    end(&f);
    assert_int_equal(atomic_load(&r->destroyed), 1);
}

static void a_sync_that_takes_too_long_is_a_reason_to_stop(void **state)
{
    (void)state;
    fixture f;
    ki_error error = KI_ERROR_INIT;
    begin(&f);
    assert_int_equal(ki_apiserver_set_faults(f.server, "status=503", NULL), 0);
    replica *r = start(&f, 0, KI_OPTIONS(ki_manager_options, .sync_timeout_ms = 300));
    assert_int_equal(ki_manager_wait(r->manager, &error), -ETIMEDOUT);
    assert_int_equal(ki_manager_reason(r->manager), KI_STOP_SYNC);
    assert_non_null(strstr(error.message, "pods"));
    end(&f);
}

static void stopped_by_its_own_reconcile(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    atomic_store(&f.replicas[0].does, STOP);
    replica *r = start(&f, 0, &KI_OPTIONS_INIT(ki_manager_options));
    assert_int_equal(ki_manager_wait(r->manager, NULL), 0);
    assert_int_equal(atomic_load(&r->calls), atomic_load(&r->ended));
    end(&f);
}

static void keys_that_keep_failing_do_not_delay_the_stop(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    atomic_store(&f.replicas[0].does, FAIL);
    replica *r = start(&f, 0, &KI_OPTIONS_INIT(ki_manager_options));
    until(&r->calls, 3 * PODS);
    uint64_t before = now_ms();
    ki_manager_stop(r->manager);
    assert_int_equal(ki_manager_wait(r->manager, NULL), 0);
    assert_true(now_ms() - before < 5000);
    ki_controller_stats stats = KI_OPTIONS_INIT(ki_controller_stats);
    assert_int_equal(ki_controller_get_stats(r->controller, &stats), 0);
    assert_true(stats.failed >= 3 * PODS && stats.succeeded == 0);
    end(&f);
}

static void a_running_call_may_end_and_queued_keys_are_dropped(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    atomic_store(&f.replicas[0].does, HANG);
    replica *r = start(&f, 0, &KI_OPTIONS_INIT(ki_manager_options));
    until(&r->calls, 2); /* both workers */
    ki_manager_stop(r->manager);
    until(&r->stops, 1);
    for (int i = 0; i < 50; i++) {
        nap();
    }
    assert_int_equal(atomic_load(&r->ended), 0);
    atomic_store(&r->release, true);
    assert_int_equal(ki_manager_wait(r->manager, NULL), 0);
    assert_int_equal(atomic_load(&r->ended), 2);
    assert_int_equal(atomic_load(&r->calls), 2);
    end(&f);
}

static void hang(fixture *f)
{
    ki_error error = KI_ERROR_INIT;
    atomic_store(&f->replicas[0].does, HANG);
    ki_leader_options election;
    elect(&f->replicas[0], "a", &election);
    replica *r =
        start(f, 0, KI_OPTIONS(ki_manager_options, .drain_ms = 200, .election = &election));
    until(&r->calls, 1);
    ki_manager_stop(r->manager);
    assert_int_equal(ki_manager_wait(r->manager, &error), -ETIMEDOUT);
    assert_string_equal(error.message,
                        "controller pods: reconcile has not returned (drain_ms: 200)");
    /* The Lease is kept: the call might still write. */
    ki_object *lease = NULL;
    assert_int_equal(
        ki_apiserver_get(f->server, KI_COORDINATION_V1_LEASES, "default", "manager", &lease, NULL),
        0);
    assert_true(ki_object_equals(lease, "spec.holderIdentity", "a"));
    assert_false(ki_leader_is(ki_manager_leader(r->manager)));
    assert_null(ki_manager_close(r->manager)); /* does not wait, and frees nothing */
    assert_int_equal(atomic_load(&r->closed), 0);
    atomic_store(&r->release, true); /* what it uses is still there */
    until(&r->ended, atomic_load(&r->calls));
}

static void a_call_that_never_returns_is_reported(void **state)
{
    (void)state;
    in_child(hang);
}

static void stop_loop(fixture *f)
{
    ki_error error = KI_ERROR_INIT;
    replica *r = start(f, 0, &KI_OPTIONS_INIT(ki_manager_options));
    until(&r->calls, PODS);
    ki_loop_stop(ki_client_loop(r->client));
    assert_int_equal(ki_manager_wait(r->manager, &error), KI_ERR_STOPPED);
    assert_int_equal(ki_manager_reason(r->manager), KI_STOP_LOOP);
    release_replica(r); /* the informer never stopped: its memory is kept */
}

static void a_stopped_loop_stops_it(void **state)
{
    (void)state;
    in_child(stop_loop);
}

/* ---- leadership ---- */

static void a_standby_is_synced_and_takes_over(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    ki_leader_options elections[2];
    replica *a = &f.replicas[0];
    replica *b = &f.replicas[1];
    elect(a, "a", &elections[0]);
    elect(b, "b", &elections[1]);
    (void)start(&f, 0, KI_OPTIONS(ki_manager_options, .election = &elections[0]));
    until(&a->calls, PODS);
    (void)start(&f, 1, KI_OPTIONS(ki_manager_options, .election = &elections[1]));
    for (int i = 0; i < WAIT_MS / 2 && !ki_informer_has_synced(b->pods); i++) {
        nap();
    }
    for (int i = 0; i < 100; i++) {
        nap();
    }
    assert_true(ki_informer_has_synced(b->pods));
    assert_int_equal(atomic_load(&b->calls), 0);
    ki_manager_stop(a->manager);
    assert_int_equal(ki_manager_wait(a->manager, NULL), 0);
    until(&b->calls, PODS); /* at once: the Lease was released */
    assert_int_equal(ki_leader_term(ki_manager_leader(b->manager)), 1);
    end(&f);
    assert_int_equal(atomic_load(&a->destroyed) + atomic_load(&b->destroyed), 2);
}

static void lost_leadership_stops_it(void **state)
{
    (void)state;
    fixture f;
    ki_error error = KI_ERROR_INIT;
    begin(&f);
    ki_leader_options election;
    elect(&f.replicas[0], "a", &election);
    replica *r = start(&f, 0, KI_OPTIONS(ki_manager_options, .election = &election));
    until(&r->calls, PODS);
    assert_int_equal(ki_apiserver_set_faults(f.server, "status=500,verb=update", NULL), 0);
    assert_int_equal(ki_manager_wait(r->manager, &error), KI_ERR_NOT_LEADER);
    assert_int_equal(ki_manager_reason(r->manager), KI_STOP_LEADERSHIP);
    assert_string_equal(error.message, "leadership lost");
    assert_int_equal(atomic_load(&r->started), 1);
    assert_int_equal(atomic_load(&r->lost), 1);
    end(&f);
}

/* A call of reconcile that began in an earlier term may not write. */
static void or_only_its_controllers(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    ki_leader_options election;
    replica *r = &f.replicas[0];
    elect(r, "a", &election);
    atomic_store(&r->does, WRITE);
    (void)start(&f, 0,
                KI_OPTIONS(ki_manager_options, .election = &election, .on_lost = KI_ON_LOST_WAIT));
    until(&r->calls, 2);
    assert_int_equal(ki_apiserver_set_faults(f.server, "status=500,verb=update", NULL), 0);
    until(&r->lost, 1);
    atomic_store(&r->release, true);
    until(&r->ended, 2);
    assert_int_equal(atomic_load(&r->last), KI_ERR_NOT_LEADER);
    for (int i = 0; i < 50; i++) {
        nap();
    }
    assert_int_equal(atomic_load(&r->calls), 2); /* the workers wait */
    assert_int_equal(ki_apiserver_set_faults(f.server, NULL, NULL), 0);
    until(&r->ended, 2 + PODS);
    assert_int_equal(ki_manager_reason(r->manager), KI_STOP_NONE);
    end(&f);
}

/* ---- what requests inherit ---- */

static bool exists(fixture *f, const char *name)
{
    ki_object *config = NULL;
    int r = ki_apiserver_get(f->server, KI_CORE_V1_CONFIGMAPS, "default", name, &config, NULL);
    (void)ki_object_unref(config);
    return r == 0;
}

/* The leader may change while a write waits for the rate limit, or for a connection. */
static void a_write_is_checked_when_it_is_sent(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    ki_leader_options election;
    replica *r = &f.replicas[0];
    elect(r, "a", &election);
    r->qps = 0.2; /* one request in five seconds */
    atomic_store(&r->does, WRITE);
    atomic_store(&r->release, true);
    (void)start(&f, 0,
                KI_OPTIONS(ki_manager_options, .election = &election, .on_lost = KI_ON_LOST_WAIT));
    until(&r->started, 1);
    assert_int_equal(ki_apiserver_set_faults(f.server, "status=500,verb=update", NULL), 0);
    until(&r->lost, 1);
    int before = atomic_load(&r->ended);
    assert_true(atomic_load(&r->calls) > before); /* it waits for its turn */
    atomic_store(&r->last, 0);
    until(&r->ended, before + 1);
    assert_int_equal(atomic_load(&r->last), KI_ERR_NOT_LEADER);
    int written = 0;
    for (int i = 0; i < PODS; i++) {
        char name[8];
        (void)snprintf(name, sizeof(name), "p%d", i);
        written += exists(&f, name);
    }
    assert_int_equal(written, before); /* none after it was lost */
    end(&f);
}

static void writes_are_recorded_for_their_key(void **state)
{
    (void)state;
    fixture f;
    ki_error error = KI_ERROR_INIT;
    begin(&f);
    replica *r = &f.replicas[0];
    atomic_store(&r->does, WRITE);
    assert_int_equal(ki_consistency_new(KI_OPTIONS(ki_consistency_options, .alloc = &f.alloc.table),
                                        &r->consistency, NULL),
                     0);
    assert_int_equal(make(&f, r, &KI_OPTIONS_INIT(ki_manager_options), 0, &error), 0);
    assert_int_equal(ki_client_informer(r->client, KI_CORE_V1_CONFIGMAPS, NULL, &r->configs, NULL),
                     0);
    assert_int_equal(ki_controller_watch(r->controller, r->configs,
                                         KI_OPTIONS(ki_enqueue_options, .owner = KI_CORE_V1_PODS),
                                         &error),
                     0);
    assert_int_equal(ki_manager_start(r->manager, &error), 0);
    until(&r->calls, 2);
    assert_int_equal(ki_apiserver_set_faults(f.server, "lag=1s", NULL), 0);
    atomic_store(&r->release, true);
    until(&r->ended, PODS);
    assert_true(ki_consistency_count(r->consistency) > 0);
    int waiting = 0;
    for (int i = 0; i < PODS; i++) {
        char key[16];
        (void)snprintf(key, sizeof(key), "default/p%d", i);
        waiting += !ki_consistency_is_current(r->consistency, key);
    }
    assert_true(waiting > 0);
    int calls = atomic_load(&r->calls);
    atomic_store(&r->does, SUCCEED);
    assert_true(ki_workqueue_add(ki_controller_queue(r->controller), "default/p9") >= 0);
    until(&r->calls, calls + 1);
    ki_object *config = ki_informer_get(r->configs, "default", "p9");
    assert_non_null(config); /* the cache has the write before the key is reconciled again */
    (void)ki_object_unref(config);
    r->configs = ki_informer_unref(r->configs);
    release_replica(r);
    r->consistency = ki_consistency_unref(r->consistency);
    end(&f);
}

/* What a watched cache lacks is created without a look at the server first. */
static void a_missing_object_is_created_at_once(void **state)
{
    (void)state;
    for (int watched = 0; watched < 2; watched++) {
        fixture f;
        ki_error error = KI_ERROR_INIT;
        begin(&f);
        replica *r = &f.replicas[0];
        atomic_store(&r->does, ENSURE);
        assert_int_equal(make(&f, r, &KI_OPTIONS_INIT(ki_manager_options), 0, &error), 0);
        assert_int_equal(
            ki_client_informer(r->client, KI_CORE_V1_CONFIGMAPS, NULL, &r->configs, NULL), 0);
        if (watched) {
            assert_int_equal(
                ki_controller_watch(r->controller, r->configs,
                                    KI_OPTIONS(ki_enqueue_options, .owner = KI_CORE_V1_PODS), NULL),
                0);
        }
        assert_int_equal(
            ki_apiserver_set_faults(f.server, "status=403,verb=get,resource=configmaps", NULL), 0);
        assert_int_equal(ki_manager_start(r->manager, &error), 0);
        until(&r->ended, PODS);
        assert_int_equal(atomic_load(&r->last), watched ? KI_WRITTEN_CREATED : KI_ERR_STATUS);
        assert_int_equal(exists(&f, "p0"), watched);
        r->configs = ki_informer_unref(r->configs);
        end(&f);
    }
}

static void requests_end_with_the_time_of_reconcile(void **state)
{
    (void)state;
    fixture f;
    ki_error error = KI_ERROR_INIT;
    begin(&f);
    replica *r = &f.replicas[0];
    atomic_store(&r->does, ASK);
    assert_int_equal(ki_reconcile_left_ms(), UINT32_MAX);
    assert_int_equal(make(&f, r, &KI_OPTIONS_INIT(ki_manager_options), 100, &error), 0);
    assert_int_equal(ki_apiserver_set_faults(f.server, "latency=20s,verb=get", NULL), 0);
    assert_int_equal(ki_manager_start(r->manager, &error), 0);
    until(&r->ended, 2);
    assert_int_equal(atomic_load(&r->last), -ETIMEDOUT);
    ki_controller_stats stats = KI_OPTIONS_INIT(ki_controller_stats);
    for (int i = 0; i < WAIT_MS / 2 && stats.timeouts < 2; i++) {
        nap();
        assert_int_equal(ki_controller_get_stats(r->controller, &stats), 0);
    }
    assert_true(stats.timeouts >= 2);
    /* Without it, a request would have ended after a minute: a stop has its own limit. */
    end(&f);
}

static void stop_while_writing(fixture *f)
{
    replica *r = &f->replicas[0];
    atomic_store(&r->does, WRITE);
    (void)start(f, 0, KI_OPTIONS(ki_manager_options, .drain_ms = 1000));
    until(&r->calls, 2);
    assert_int_equal(ki_apiserver_set_faults(f->server, "latency=20s,verb=create", NULL), 0);
    ki_manager_stop(r->manager);
    until(&r->stops, 1);
    atomic_store(&r->release, true); /* now both make a request */
    uint64_t before = now_ms();
    int result = ki_manager_wait(r->manager, NULL);
    assert_true(now_ms() - before < 10000);
    until(&r->ended, 2);
    assert_int_equal(atomic_load(&r->last), -ETIMEDOUT);
    assert_true(result == 0 || result == -ETIMEDOUT); /* both end at the same moment */
}

static void a_stop_limits_requests_in_progress(void **state)
{
    (void)state;
    in_child(stop_while_writing);
}

/* ---- signals, processes, HTTP ---- */

static int run_for_signal(int signal_number, int times)
{
    pid_t child = fork();
    if (child == 0) {
        static fixture f;
        begin(&f);
        replica *r = &f.replicas[0];
        atomic_store(&r->does, times > 1 ? HANG : SUCCEED);
        ki_manager_options options = KI_OPTIONS_INIT(ki_manager_options);
        options.signals = true;
        options.drain_ms = WAIT_MS;
        (void)start(&f, 0, &options);
        until(&r->calls, 2);
        for (int i = 0; i < times; i++) {
            (void)kill(getpid(), signal_number);
            until(&r->stops, 1);
        }
        int result = ki_manager_wait(r->manager, NULL);
        bool right = ki_manager_reason(r->manager) == KI_STOP_SIGNAL &&
                     result == (times > 1 ? -ETIMEDOUT : 0);
        if (times == 1) {
            end(&f);
        }
        _exit(right ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void signals_stop_it_and_a_second_one_ends_the_wait(void **state)
{
    (void)state;
    assert_int_equal(run_for_signal(SIGTERM, 1), 0);
    assert_int_equal(run_for_signal(SIGINT, 1), 0);
    uint64_t before = now_ms();
    assert_int_equal(run_for_signal(SIGTERM, 2), 0);
    assert_true(now_ms() - before < WAIT_MS);
}

static void a_child_of_fork_only_releases_it(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    replica *r = start(&f, 0, &KI_OPTIONS_INIT(ki_manager_options));
    until(&r->calls, PODS);
    pid_t child = fork();
    if (child == 0) {
        ki_manager_stop(r->manager);
        int wait_result = ki_manager_wait(r->manager, NULL);
        (void)ki_manager_close(r->manager);
        _exit(wait_result == KI_ERR_STOPPED ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(ki_manager_reason(r->manager), KI_STOP_NONE);
    end(&f);
}

static void the_monitor_server_ends_with_it(void **state)
{
    (void)state;
    fixture f;
    ki_error error = KI_ERROR_INIT;
    ki_monitor_server *server = NULL;
    begin(&f);
    assert_int_equal(make(&f, &f.replicas[0], &KI_OPTIONS_INIT(ki_manager_options), 0, &error), 0);
    assert_int_equal(ki_manager_serve(f.replicas[0].manager, NULL, &server, &error), 0);
    assert_non_null(strstr(ki_monitor_server_url(server), "http://127.0.0.1:"));
    assert_int_equal(ki_manager_serve(f.replicas[0].manager,
                                      KI_OPTIONS(ki_monitor_server_options, .listen = "0.0.0.0:0"),
                                      NULL, &error),
                     KI_ERR_DENIED);
    assert_int_equal(ki_manager_start(f.replicas[0].manager, &error), 0);
    until(&f.replicas[0].calls, PODS);
    end(&f);
}

/* ---- the rest ---- */

static void bad_options_are_refused(void **state)
{
    (void)state;
    fixture f;
    ki_error error = KI_ERROR_INIT;
    ki_manager *manager = NULL;
    char name[131];
    begin(&f);
    assert_int_equal(ki_manager_new(&KI_OPTIONS_INIT(ki_manager_options), &manager, &error),
                     -EINVAL);
    memset(name, 'a', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    assert_int_equal(ki_manager_new(KI_OPTIONS(ki_manager_options, .name = name), &manager, &error),
                     KI_ERR_LIMIT);
    assert_int_equal(ki_apiserver_client(f.server, NULL, &f.replicas[0].client, NULL), 0);
    ki_client_options client = KI_OPTIONS_INIT(ki_client_options);
    ki_manager_options options = KI_OPTIONS_INIT(ki_manager_options);
    options.name = "a";
    options.client = f.replicas[0].client;
    options.client_options = &client;
    assert_int_equal(ki_manager_new(&options, &manager, &error), -EINVAL);
    options.client_options = NULL;
    options.on_lost = KI_ON_LOST_MAX;
    assert_int_equal(ki_manager_new(&options, &manager, &error), -EINVAL);
    options.on_lost = KI_ON_LOST_STOP;
    options.election = KI_OPTIONS(ki_leader_options, .name = "not/a/name");
    assert_int_equal(ki_manager_new(&options, &manager, &error), KI_ERR_INVALID);
    options.election = NULL;
    assert_int_equal(ki_manager_new(&options, &manager, &error), 0);
    assert_int_equal(
        ki_manager_controller(manager, KI_OPTIONS(ki_controller_options, .reconcile = reconcile),
                              10001, NULL, &error),
        -EINVAL);
    assert_int_equal(
        ki_manager_controller(manager, &KI_OPTIONS_INIT(ki_controller_options), 1, NULL, &error),
        -EINVAL);
    assert_null(ki_manager_close(manager));
    assert_string_equal(ki_stop_reason_name(KI_STOP_LEADERSHIP), "leadership lost");
    assert_string_equal(ki_stop_reason_name(KI_STOP_REASON_MAX), "unknown");
    end(&f);
}

/* Every allocation of the creation and the start fails once. */
static void failed_allocations_leave_nothing_behind(void **state)
{
    (void)state;
    int failures = 0;
    for (uint64_t at = 1; at < 400; at++) {
        fixture f;
        ki_error error = KI_ERROR_INIT;
        ki_leader_options election;
        begin(&f);
        replica *r = &f.replicas[0];
        elect(r, "a", &election);
        ki_client_options client = KI_OPTIONS_INIT(ki_client_options);
        client.alloc = &f.alloc.table;
        assert_int_equal(ki_apiserver_client(f.server, &client, &r->client, &error), 0);
        f.alloc.fail_at = f.alloc.calls + at;
        int result = ki_manager_new(KI_OPTIONS(ki_manager_options, .name = "m", .user = r,
                                               .client = r->client, .election = &election),
                                    &r->manager, &error);
        if (result >= 0) {
            result = ki_manager_on_close(r->manager, on_close, r, &error);
            r->manager = result < 0 ? ki_manager_close(r->manager) : r->manager;
        }
        if (result >= 0) {
            result = ki_manager_controller(
                r->manager, KI_OPTIONS(ki_controller_options, .reconcile = reconcile, .user = r), 1,
                &r->controller, &error);
        }
        if (result >= 0) {
            result = ki_client_informer(r->client, KI_CORE_V1_PODS, NULL, &r->pods, &error);
        }
        if (result >= 0) {
            result = ki_controller_watch(r->controller, r->pods, NULL, &error);
        }
        if (result >= 0) {
            result = ki_manager_start(r->manager, &error);
        }
        release_replica(r); /* from here on, no other thread allocates */
        bool failed = f.alloc.failures != 0;
        assert_true(result == 0 || (result == -ENOMEM && failed));
        failures += result < 0;
        end(&f);
        if (!failed) {
            break;
        }
    }
    assert_true(failures > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signals_stop_it_and_a_second_one_ends_the_wait),
        cmocka_unit_test(a_call_that_never_returns_is_reported),
        cmocka_unit_test(a_stopped_loop_stops_it),
        cmocka_unit_test(a_stop_limits_requests_in_progress),
        cmocka_unit_test(works_until_it_is_stopped),
        cmocka_unit_test(stopped_before_and_during_the_sync),
        cmocka_unit_test(a_sync_that_takes_too_long_is_a_reason_to_stop),
        cmocka_unit_test(stopped_by_its_own_reconcile),
        cmocka_unit_test(keys_that_keep_failing_do_not_delay_the_stop),
        cmocka_unit_test(a_running_call_may_end_and_queued_keys_are_dropped),
        cmocka_unit_test(a_standby_is_synced_and_takes_over),
        cmocka_unit_test(lost_leadership_stops_it),
        cmocka_unit_test(or_only_its_controllers),
        cmocka_unit_test(a_write_is_checked_when_it_is_sent),
        cmocka_unit_test(writes_are_recorded_for_their_key),
        cmocka_unit_test(a_missing_object_is_created_at_once),
        cmocka_unit_test(requests_end_with_the_time_of_reconcile),
        cmocka_unit_test(a_child_of_fork_only_releases_it),
        cmocka_unit_test(the_monitor_server_ends_with_it),
        cmocka_unit_test(bad_options_are_refused),
        cmocka_unit_test(failed_allocations_leave_nothing_behind),
    };
    return cmocka_run_group_tests_name("manager", tests, NULL, NULL);
}
