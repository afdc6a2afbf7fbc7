/* SPDX-License-Identifier: Apache-2.0 */
/* Reading one's own writes through a client, on the embedded API server whose watches lag: several
 * workers create the children of owners under generated names, and never one too many.
 * threads: yes */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <kinformer/apiserver.h>
#include <kinformer/builtin_resources.h>
#include <kinformer/consistency.h>
#include <kinformer/controller.h>
#include <kinformer/loop.h>
#include <kinformer/request.h>
#include <kinformer/workqueue.h>

#include "support/objects.h"
#include "support/test.h"

enum { OWNERS = 4, CHILDREN = 3, WORKERS = 3, WAIT_MS = 30000 };

typedef struct fixture {
    test_alloc alloc;
    ki_apiserver *server;
    ki_client *client;
    ki_informer *maps;
    ki_consistency *consistency;
    atomic_int created;
    atomic_int called;
} fixture;

static void begin(fixture *f, const char *faults)
{
    memset(f, 0, sizeof(*f));
    test_alloc_init(&f->alloc);
    ki_client_options options = KI_OPTIONS_INIT(ki_client_options);
    options.alloc = &f->alloc.table;
    assert_int_equal(ki_apiserver_new(NULL, &f->server, NULL), 0);
    assert_int_equal(ki_apiserver_client(f->server, &options, &f->client, NULL), 0);
    assert_int_equal(ki_client_informer(f->client, KI_CORE_V1_CONFIGMAPS, NULL, &f->maps, NULL), 0);
    assert_int_equal(ki_client_start(f->client, NULL), 0);
    assert_int_equal(ki_informer_wait_for_sync(f->maps, WAIT_MS, NULL), 0);
    assert_int_equal(ki_apiserver_set_faults(f->server, faults, NULL), 0);
    const ki_consistency_options record = {.size = sizeof(record), .alloc = &f->alloc.table};
    assert_int_equal(ki_consistency_new(&record, &f->consistency, NULL), 0);
    assert_int_equal(ki_consistency_add_informer(f->consistency, f->maps, NULL), 0);
}

static void end(fixture *f)
{
    f->consistency = ki_consistency_unref(f->consistency);
    f->maps = ki_informer_unref(f->maps);
    f->client = ki_client_close(f->client);
    f->server = ki_apiserver_unref(f->server);
    test_alloc_done(&f->alloc);
}

static int create(fixture *f, const char *owner, ki_object **ret_created, ki_error *error)
{
    char text[256];
    (void)snprintf(text, sizeof(text),
                   "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'namespace':'default',"
                   "'generateName':'child-','labels':{'owner':'%s'}}}",
                   owner);
    ki_object *map = test_object(NULL, text);
    int r = ki_client_create(f->client, KI_CORE_V1_CONFIGMAPS, map, ret_created, NULL, error);
    (void)ki_object_unref(map);
    return r;
}

static void a_wait_ends_when_the_write_is_in_the_cache(void **state)
{
    (void)state;
    fixture f;
    begin(&f, "lag=200ms");
    for (int i = 0; i < 3; i++) {
        ki_object *created = NULL;
        ki_error error = KI_ERROR_INIT;
        assert_int_equal(create(&f, "a", &created, NULL), 0);
        const char *version = ki_object_resource_version(created);
        assert_int_equal(ki_informer_wait_version(f.maps, version, 1, &error), -ETIMEDOUT);
        assert_int_equal(ki_informer_wait_version(f.maps, version, WAIT_MS, &error), 0);
        ki_object *cached = ki_informer_get(f.maps, "default", ki_object_name(created));
        assert_non_null(cached);
        (void)ki_object_unref(cached);
        (void)ki_object_unref(created);
    }
    end(&f);
}

static void on_version(ki_informer *informer, int result, void *user)
{
    fixture *f = user;
    int r = ki_informer_wait_version(informer, "999999", 10, NULL);
    bool ok = informer == f->maps && r == (result == 0 ? KI_ERR_BUSY : KI_ERR_STOPPED);
    atomic_store(&f->called, !ok ? 3 : result == 0 ? 1 : result == KI_ERR_STOPPED ? 2 : 3);
}

static void wait_for_call(fixture *f, int value)
{
    for (int i = 0; i < WAIT_MS / 2 && atomic_load(&f->called) != value; i++) {
        (void)nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    assert_int_equal(atomic_load(&f->called), value);
}

static void callbacks_come_on_the_loop(void **state)
{
    (void)state;
    fixture f;
    begin(&f, "lag=50ms");
    ki_object *created = NULL;
    assert_int_equal(create(&f, "a", &created, NULL), 0);
    assert_int_equal(ki_informer_on_version(f.maps, ki_object_resource_version(created), WAIT_MS,
                                            on_version, &f, NULL),
                     0);
    (void)ki_object_unref(created);
    wait_for_call(&f, 1);
    assert_int_equal(ki_informer_on_version(f.maps, "99999999", UINT32_MAX, on_version, &f, NULL),
                     0);
    ki_informer_stop(f.maps);
    wait_for_call(&f, 2);
    end(&f);
}

static void *wait_forever(void *user)
{
    fixture *f = user;
    int r = ki_informer_wait_version(f->maps, "99999999", UINT32_MAX, NULL);
    return r == KI_ERR_STOPPED ? NULL : user;
}

static void a_stop_wakes_waiting_threads(void **state)
{
    (void)state;
    fixture f;
    begin(&f, "");
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, wait_forever, &f), 0);
    }
    ki_object *created = NULL;
    assert_int_equal(create(&f, "a", &created, NULL), 0);
    (void)ki_object_unref(created);
    ki_informer_stop(f.maps);
    for (int i = 0; i < 2; i++) {
        void *result;
        assert_int_equal(pthread_join(threads[i], &result), 0);
        assert_null(result);
    }
    end(&f);
}

/* Creates one child at a time, as many as the cache lacks. */
static int reconcile(const char *key, uint64_t *retry_after_ms, ki_error *error, void *user)
{
    fixture *f = user;
    char selector[64];
    ki_list *children = NULL;
    ki_object *created = NULL;
    (void)snprintf(selector, sizeof(selector), "owner=%s", key);
    int r = ki_informer_list(f->maps, "default", selector, &children, error);
    size_t count = r < 0 ? 0 : ki_list_count(children);
    (void)ki_list_unref(children);
    if (r < 0 || count >= CHILDREN) {
        return r;
    }
    r = create(f, key, &created, error);
    if (r >= 0) {
        r = ki_consistency_wrote(f->consistency, f->maps, key, "",
                                 ki_object_resource_version(created));
        atomic_fetch_add(&f->created, 1);
        *retry_after_ms = 1;
    }
    (void)ki_object_unref(created);
    return r;
}

static void workers_never_create_a_child_twice(void **state)
{
    (void)state;
    fixture f;
    begin(&f, "lag=100ms");
    ki_workqueue *queue = NULL;
    ki_controller *controller = NULL;
    assert_int_equal(ki_workqueue_new(NULL, &queue, NULL), 0);
    assert_int_equal(
        ki_controller_new(KI_OPTIONS(ki_controller_options, .queue = queue, .reconcile = reconcile,
                                     .user = &f, .consistency = f.consistency),
                          &controller, NULL),
        0);
    assert_int_equal(ki_controller_start(controller, f.client, WORKERS, NULL), 0);
    for (int i = 0; i < 50; i++) {
        char key[2] = {(char)('a' + i % OWNERS), '\0'};
        assert_true(ki_workqueue_add(queue, key) >= 0);
        (void)nanosleep(&(struct timespec){.tv_nsec = 4000000}, NULL);
    }
    for (int i = 0; i < WAIT_MS / 2 && atomic_load(&f.created) < OWNERS * CHILDREN; i++) {
        (void)nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    (void)nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL); /* would create more */
    controller = ki_controller_close(controller);
    (void)ki_workqueue_unref(queue);
    assert_int_equal(atomic_load(&f.created), OWNERS * CHILDREN);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_ends_when_the_write_is_in_the_cache),
        cmocka_unit_test(callbacks_come_on_the_loop),
        cmocka_unit_test(a_stop_wakes_waiting_threads),
        cmocka_unit_test(workers_never_create_a_child_twice),
    };
    return cmocka_run_group_tests_name("consistency of a client", tests, NULL, NULL);
}
