/* SPDX-License-Identifier: Apache-2.0 */
/* Worker threads of a controller: when they begin, when they end, and waiting for them.
 * threads: yes */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <kinformer/apiserver.h>
#include <kinformer/client.h>
#include <kinformer/controller.h>
#include <kinformer/worker.h>

#include "support/test.h"

enum { WAIT_MS = 30000, PODS = 20 };

typedef struct fixture {
    test_alloc alloc;
    ki_apiserver *server;
    ki_client *client;
    ki_informer *pods;
    ki_informer *configs; /* NULL: none */
    ki_workqueue *queue;
    ki_controller *controller;
    atomic_int reconciled;
    atomic_int early;  /* before the informer had synced */
    atomic_int others; /* not on a thread of the right name */
    atomic_int destroyed;
    bool close_inside;
} fixture;

static int reconcile(const char *key, uint64_t *retry_after_ms, ki_error *error, void *user)
{
    fixture *f = user;
    char name[16] = "";
    (void)key;
    (void)retry_after_ms;
    (void)error;
    (void)pthread_getname_np(pthread_self(), name, sizeof(name));
    atomic_fetch_add(&f->others, strncmp(name, "ki-worker-", 10) != 0);
    atomic_fetch_add(&f->early, f->pods != NULL && !ki_informer_has_synced(f->pods));
    atomic_fetch_add(&f->early, f->configs != NULL && !ki_informer_has_synced(f->configs));
    if (f->close_inside) {
        assert_int_equal(ki_controller_start(f->controller, NULL, 1, NULL), KI_ERR_EXISTS);
        (void)ki_controller_close(ki_controller_ref(f->controller));
    }
    atomic_fetch_add(&f->reconciled, 1);
    return 0;
}

static void count_destroyed(void *user)
{
    atomic_fetch_add(&((fixture *)user)->destroyed, 1);
}

static void begin(fixture *f)
{
    *f = (fixture){0};
    test_alloc_init(&f->alloc);
    assert_int_equal(ki_workqueue_new(KI_OPTIONS(ki_workqueue_options, .alloc = &f->alloc.table),
                                      &f->queue, NULL),
                     0);
    assert_int_equal(ki_controller_new(KI_OPTIONS(ki_controller_options, .alloc = &f->alloc.table,
                                                  .queue = f->queue, .reconcile = reconcile,
                                                  .user = f, .destroy = count_destroyed),
                                       &f->controller, NULL),
                     0);
}

static void begin_client(fixture *f)
{
    ki_client_options options = KI_OPTIONS_INIT(ki_client_options);
    options.alloc = &f->alloc.table;
    assert_int_equal(ki_apiserver_new(NULL, &f->server, NULL), 0);
    for (int i = 0; i < PODS; i++) {
        char text[128];
        int len =
            snprintf(text, sizeof(text),
                     "{apiVersion: v1, kind: Pod, metadata: {name: p%d, namespace: default}}", i);
        assert_int_equal(ki_apiserver_load(f->server, ki_str_make(text, (size_t)len), NULL, NULL),
                         0);
    }
    assert_int_equal(ki_apiserver_client(f->server, &options, &f->client, NULL), 0);
    assert_int_equal(ki_client_informer(f->client, KI_CORE_V1_PODS, NULL, &f->pods, NULL), 0);
    assert_int_equal(ki_informer_enqueue(f->pods, f->queue, NULL, NULL), 0);
}

static void end(fixture *f)
{
    f->controller = ki_controller_close(f->controller);
    f->pods = ki_informer_unref(f->pods);
    f->configs = ki_informer_unref(f->configs);
    f->client = ki_client_close(f->client);
    f->queue = ki_workqueue_unref(f->queue);
    test_alloc_done(&f->alloc);
    f->server = ki_apiserver_unref(f->server);
    assert_int_equal(atomic_load(&f->destroyed), 1);
    assert_int_equal(atomic_load(&f->others), 0);
}

static void wait_for(const atomic_int *count, int wanted)
{
    for (int i = 0; i < WAIT_MS && atomic_load(count) < wanted; i++) {
        (void)usleep(1000);
    }
    assert_int_equal(atomic_load(count), wanted);
}

static void workers_begin_when_the_caches_have_synced(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    begin_client(&f);
    assert_int_equal(ki_apiserver_set_faults(f.server, "latency=200ms", NULL), 0);
    assert_int_equal(ki_controller_start(f.controller, f.client, 3, NULL), 0);
    wait_for(&f.reconciled, PODS);
    assert_int_equal(atomic_load(&f.early), 0);
    assert_int_equal(ki_controller_start(f.controller, f.client, 3, NULL), KI_ERR_EXISTS);
    end(&f);
}

/* Without memory to look at the caches, workers look again. */
static void a_failed_allocation_does_not_begin_the_work(void **state)
{
    (void)state;
    int started = 0;
    for (uint64_t at = 1; at <= 40; at++) {
        fixture f;
        begin(&f);
        begin_client(&f);
        assert_int_equal(
            ki_client_informer(f.client, KI_CORE_V1_CONFIGMAPS, NULL, &f.configs, NULL), 0);
        assert_int_equal(
            ki_apiserver_set_faults(f.server, "latency=150ms,resource=configmaps", NULL), 0);
        f.alloc.fail_at = f.alloc.calls + at;
        int r = ki_controller_start(f.controller, f.client, 2, NULL);
        assert_true(r == 0 || r == -ENOMEM);
        if (r == 0) {
            wait_for(&f.reconciled, PODS);
            assert_int_equal(atomic_load(&f.early), 0);
            started++;
        }
        end(&f);
    }
    assert_true(started > 10);
}

static void closing_does_not_wait_for_a_sync_that_never_comes(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    begin_client(&f);
    assert_int_equal(ki_apiserver_set_faults(f.server, "status=500", NULL), 0);
    assert_int_equal(ki_controller_start(f.controller, f.client, 2, NULL), 0);
    f.controller = ki_controller_close(f.controller);
    assert_int_equal(atomic_load(&f.destroyed), 1);
    assert_int_equal(atomic_load(&f.reconciled), 0);
    end(&f);
}

static void what_waits_is_worked_on_before_the_end(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    for (int i = 0; i < 100; i++) {
        char key[16];
        (void)snprintf(key, sizeof(key), "k%d", i);
        assert_int_equal(ki_workqueue_add(f.queue, key), 1);
    }
    assert_int_equal(ki_controller_start(f.controller, NULL, 4, NULL), 0);
    f.controller = ki_controller_close(f.controller);
    assert_int_equal(atomic_load(&f.reconciled), 100);
    assert_true(ki_workqueue_is_drained(f.queue, KI_DRAIN_EMPTY));
    end(&f);
}

static void a_controller_may_be_closed_by_its_own_worker(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    f.close_inside = true;
    assert_int_equal(ki_workqueue_add(f.queue, "a"), 1);
    assert_int_equal(ki_controller_start(f.controller, NULL, 2, NULL), 0);
    wait_for(&f.reconciled, 1);
    assert_true(ki_workqueue_is_shutting_down(f.queue));
    end(&f);
}

/* Released, not closed: the threads run until the queue is shut down, and free it then. */
static void released_workers_end_with_the_queue(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    assert_int_equal(ki_controller_start(f.controller, NULL, 2, NULL), 0);
    f.controller = ki_controller_unref(f.controller);
    assert_int_equal(ki_workqueue_add(f.queue, "a"), 1);
    wait_for(&f.reconciled, 1);
    ki_workqueue_shut_down(f.queue);
    wait_for(&f.destroyed, 1);
    end(&f);
}

static void bad_calls_are_refused(void **state)
{
    (void)state;
    fixture f;
    ki_error error = KI_ERROR_INIT;
    begin(&f);
    assert_int_equal(ki_controller_start(f.controller, NULL, 0, &error), -EINVAL);
    assert_int_equal(ki_controller_start(f.controller, NULL, UINT32_MAX, &error), -EINVAL);
    f.alloc.fail_at = f.alloc.calls + 1;
    assert_int_equal(ki_controller_start(f.controller, NULL, 2, &error), -ENOMEM);
    f.alloc.fail_at = 0;
    ki_workqueue_shut_down(f.queue);
    assert_int_equal(ki_controller_start(f.controller, NULL, 2, &error), KI_ERR_STOPPED);
    end(&f);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* these need address space */
static void threads_that_cannot_all_be_started_end_again(void **state)
{
    (void)state;
    fixture f;
    struct rlimit before;
    ki_error error = KI_ERROR_INIT;
    begin(&f);
    assert_int_equal(ki_workqueue_add(f.queue, "a"), 1);
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    assert_int_equal(setrlimit(RLIMIT_AS, &(struct rlimit){UINT64_C(1) << 30, before.rlim_max}), 0);
    int r = ki_controller_start(f.controller, NULL, 10000, &error); /* stacks do not fit */
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_int_equal(r, -EAGAIN);
    assert_non_null(strstr(error.message, "worker thread"));
    assert_int_equal(atomic_load(&f.reconciled), 0);
    assert_int_equal(ki_controller_start(f.controller, NULL, 1, NULL), 0);
    wait_for(&f.reconciled, 1);
    end(&f);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(workers_begin_when_the_caches_have_synced),
        cmocka_unit_test(a_failed_allocation_does_not_begin_the_work),
        cmocka_unit_test(closing_does_not_wait_for_a_sync_that_never_comes),
        cmocka_unit_test(what_waits_is_worked_on_before_the_end),
        cmocka_unit_test(a_controller_may_be_closed_by_its_own_worker),
        cmocka_unit_test(released_workers_end_with_the_queue),
        cmocka_unit_test(bad_calls_are_refused),
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
        cmocka_unit_test(threads_that_cannot_all_be_started_end_again),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
