/* SPDX-License-Identifier: Apache-2.0 */
/* Children of fork() that release what they inherited while the parent is busy with it: they never
 * hang, run no callback of the parent's, and do not disturb it.  No threads: yes: TSan cannot fork
 * a program with threads. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <kinformer/apiserver.h>
#include <kinformer/call.h>
#include <kinformer/config.h>
#include <kinformer/discovery.h>
#include <kinformer/kinformer.h>
#include <kinformer/parts/engine.h>
#include <kinformer/parts/local_source.h>
#include <kinformer/parts/queue.h>
#include <kinformer/parts/store_write.h>
#include <kinformer/registration.h>
#include <kinformer/worker.h>

#include "support/test.h"

enum { HANDLERS = 4, ROUNDS = 300, CHILD_SECONDS = 60 };

typedef struct fixture {
    ki_apiserver *server;
    ki_config *config;
    ki_client *client;
    ki_call *call; /* without an answer */
    ki_factory *factory;
    ki_informer *informer;
    ki_registration *registrations[HANDLERS];
    ki_workqueue *queue;
    ki_controller *controller;
    ki_store *store;
    ki_queue *deltas;
    ki_local_source *local;
    ki_loop *loop;
    ki_engine_task *task;
    ki_object *object;
    pthread_t writer;
    pthread_t reader;
    pthread_t worker;
    pthread_t taker;
    pid_t parent;
    atomic_bool end;
    atomic_ulong heard;
    atomic_ulong destroyed;
    atomic_ulong ran; /* the task */
} fixture;

/* ---- the parent ---- */

static void on_update(const ki_object *old_object, const ki_object *object, void *user)
{
    fixture *f = user;
    (void)old_object;
    (void)object;
    if (getpid() != f->parent) {
        abort();
    }
    f->heard++;
    assert_true(ki_workqueue_add(f->queue, ki_object_key(object)) >= 0);
}

static void on_destroy(void *user)
{
    fixture *f = user;
    if (getpid() != f->parent) {
        abort();
    }
    f->destroyed++;
}

static int reconcile(const char *key, uint64_t *retry_after_ms, ki_error *error, void *user)
{
    (void)key;
    (void)retry_after_ms;
    (void)error;
    (void)user;
    return 0;
}

static void run_task(void *user)
{
    fixture *f = user;
    if (getpid() != f->parent) {
        abort();
    }
    f->ran++;
}

static void on_done(ki_call *call, const ki_response *answer, const ki_error *error, void *user)
{
    (void)call;
    (void)answer;
    (void)error;
    (void)user;
    abort(); /* in the parent it is cancelled */
}

/* Changes objects, in the server and in a store and a queue of its own. */
static void *write_objects(void *user)
{
    fixture *f = user;
    for (unsigned i = 0; !f->end; i++) {
        char text[256];
        (void)snprintf(
            text, sizeof(text),
            "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"o-%u\","
            "\"namespace\":\"default\",\"resourceVersion\":\"%u\",\"labels\":{\"a\":\"%u\"}}}",
            i % 100, i + 1, i);
        ki_object *object = NULL;
        assert_int_equal(ki_apiserver_load(f->server, ki_str_from(text), NULL, NULL), 0);
        assert_int_equal(ki_object_from_json(text, strlen(text), NULL, &object, NULL), 0);
        assert_int_equal(ki_store_add(f->store, object, NULL), 0);
        assert_int_equal(ki_queue_add(f->deltas, object, NULL), 0);
        assert_int_equal(ki_local_source_put(f->local, object, NULL), 0);
        (void)ki_object_unref(object);
        ki_engine_task_post(f->task);
    }
    return NULL;
}

/* Holds the lock of discovery half of the time. */
static void *read_discovery(void *user)
{
    fixture *f = user;
    while (!f->end) {
        ki_discovery *discovery = NULL;
        assert_int_equal(ki_client_discover(f->client, UINT32_MAX, &discovery, NULL), 0);
        (void)ki_discovery_unref(discovery);
    }
    return NULL;
}

static int take_delta(const ki_deltas *deltas, void *user)
{
    (void)deltas;
    (void)user;
    return KI_POP_DONE;
}

static void *take_deltas(void *user)
{
    fixture *f = user;
    while (ki_queue_pop(f->deltas, 0, take_delta, NULL) >= 0) {
    }
    return NULL;
}

static void *work(void *user)
{
    fixture *f = user;
    assert_int_equal(ki_controller_run_worker(f->controller), 0);
    return NULL;
}

static void begin_client(fixture *f)
{
    ki_apiserver_options server = KI_OPTIONS_INIT(ki_apiserver_options);
    server.any_namespace = true;
    assert_int_equal(ki_apiserver_new(&server, &f->server, NULL), 0);
    ki_buf text;
    ki_buf_init(&text, NULL, 65536);
    assert_int_equal(ki_apiserver_write_kubeconfig(f->server, &text), 0);
    ki_config_options config = KI_OPTIONS_INIT(ki_config_options);
    config.text = ki_buf_str(&text);
    assert_int_equal(ki_config_load(&config, &f->config, NULL), 0);
    ki_buf_done(&text);
    ki_client_options client = KI_OPTIONS_INIT(ki_client_options);
    client.config = f->config;
    assert_int_equal(ki_client_new(&client, &f->client, NULL), 0);
    assert_int_equal(ki_client_factory(f->client, NULL, &f->factory, NULL), 0);
    assert_int_equal(
        ki_factory_informer(f->factory, KI_CORE_V1_CONFIGMAPS, NULL, &f->informer, NULL), 0);
    for (size_t i = 0; i < HANDLERS; i++) {
        ki_handler handler = {.on_update = on_update, .destroy = on_destroy, .user = f};
        assert_int_equal(
            ki_informer_add_handler(f->informer, &handler, NULL, &f->registrations[i], NULL), 0);
    }
    assert_int_equal(ki_factory_start(f->factory, NULL), 0);
    assert_int_equal(ki_factory_wait_for_sync(f->factory, UINT32_MAX, NULL), 0);
    ki_request request = KI_OPTIONS_INIT(ki_request);
    request.verb = KI_VERB_RAW;
    request.path = "/api/v1/namespaces/none/configmaps";
    request.query = "watch=true";
    request.timeout_ms = UINT32_MAX;
    assert_int_equal(ki_client_call(f->client, &request, on_done, f, &f->call, NULL), 0);
}

static void begin_rest(fixture *f)
{
    ki_workqueue_options queue = KI_OPTIONS_INIT(ki_workqueue_options);
    queue.clock = ki_clock_system();
    assert_int_equal(ki_workqueue_new(&queue, &f->queue, NULL), 0);
    ki_controller_options controller = KI_OPTIONS_INIT(ki_controller_options);
    controller.queue = f->queue;
    controller.reconcile = reconcile;
    controller.destroy = on_destroy;
    controller.user = f;
    assert_int_equal(ki_controller_new(&controller, &f->controller, NULL), 0);
    assert_int_equal(ki_store_new(NULL, &f->store, NULL), 0);
    assert_int_equal(ki_fifo_new(NULL, &f->deltas, NULL), 0);
    assert_int_equal(ki_loop_new(NULL, &f->loop, NULL), 0);
    assert_int_equal(ki_loop_start(f->loop, NULL), 0);
    assert_int_equal(ki_engine_task_new(ki_loop_engine(f->loop), run_task, f, &f->task, NULL), 0);
    ki_local_source_options local = KI_OPTIONS_INIT(ki_local_source_options);
    local.engine = ki_loop_engine(f->loop);
    assert_int_equal(ki_local_source_new(&local, &f->local, NULL), 0);
    static const char text[] =
        "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\","
        "\"namespace\":\"default\",\"resourceVersion\":\"1\"}}";
    assert_int_equal(ki_object_from_json(text, strlen(text), NULL, &f->object, NULL), 0);
}

static void end(fixture *f)
{
    f->end = true;
    pthread_join(f->writer, NULL);
    pthread_join(f->reader, NULL);
    ki_queue_stop(f->deltas);
    pthread_join(f->taker, NULL);
    for (size_t i = 0; i < HANDLERS; i++) {
        assert_int_equal(ki_registration_remove_wait(f->registrations[i]), 0);
        (void)ki_registration_unref(f->registrations[i]);
    }
    assert_int_equal(f->destroyed, HANDLERS);
    ki_workqueue_shut_down(f->queue);
    pthread_join(f->worker, NULL);
    (void)ki_controller_unref(f->controller);
    assert_int_equal(f->destroyed, HANDLERS + 1);
    (void)ki_workqueue_unref(f->queue);
    (void)ki_engine_task_unref(f->task);
    (void)ki_local_source_unref(f->local);
    (void)ki_loop_unref(f->loop);
    (void)ki_queue_unref(f->deltas);
    (void)ki_store_unref(f->store);
    (void)ki_object_unref(f->object);
    ki_factory_stop(f->factory);
    (void)ki_factory_unref(f->factory);
    ki_call_cancel(f->call);
    (void)ki_call_unref(f->call);
    (void)ki_client_close(f->client);
    (void)ki_config_unref(f->config);
    (void)ki_apiserver_unref(f->server);
}

/* ---- the children ---- */

static int no_process(const ki_deltas *deltas, void *user)
{
    (void)deltas;
    (void)user;
    abort();
}

static bool is_refused_by_queues(fixture *f)
{
    static const char key[] = "k";
    ki_work taken = {0};
    ki_txn *txn = NULL;
    ki_workqueue_done(f->queue, &taken);
    ki_workqueue_forget(f->queue, key);
    return ki_workqueue_add(f->queue, key) == KI_ERR_STOPPED &&
           ki_workqueue_add_after(f->queue, key, 1) == KI_ERR_STOPPED &&
           ki_workqueue_add_rate_limited(f->queue, key) == KI_ERR_STOPPED &&
           ki_workqueue_get(f->queue, &taken) == KI_ERR_STOPPED &&
           ki_workqueue_try_get(f->queue, &taken) == KI_ERR_STOPPED &&
           ki_workqueue_next(f->queue, &taken) == KI_ERR_STOPPED &&
           ki_queue_add(f->deltas, f->object, NULL) == KI_ERR_STOPPED &&
           ki_queue_delete_key(f->deltas, ki_str_from(key), NULL) == KI_ERR_STOPPED &&
           ki_queue_bookmark(f->deltas, "1", NULL) == KI_ERR_STOPPED &&
           ki_queue_resync(f->deltas, NULL) == KI_ERR_STOPPED &&
           ki_queue_pop(f->deltas, 0, no_process, NULL) == KI_ERR_STOPPED &&
           ki_queue_poll(f->deltas, 0, no_process, NULL) == KI_ERR_STOPPED &&
           ki_store_add(f->store, f->object, NULL) == KI_ERR_STOPPED &&
           ki_store_begin(f->store, &txn, NULL) == KI_ERR_STOPPED &&
           ki_local_source_put(f->local, f->object, NULL) == KI_ERR_STOPPED &&
           ki_local_source_remove(f->local, f->object, NULL) == KI_ERR_STOPPED &&
           ki_local_source_fail(f->local, NULL) == KI_ERR_STOPPED;
}

static bool is_refused_by_servers(fixture *f)
{
    ki_discovery *discovery = NULL;
    ki_resource *resource = NULL;
    ki_object *object = NULL;
    ki_list *list = NULL;
    ki_apiserver_break_connections(f->server);
    ki_apiserver_drop_watches(f->server);
    ki_apiserver_expire_history(f->server);
    return ki_client_discover(f->client, UINT32_MAX, &discovery, NULL) == KI_ERR_STOPPED &&
           ki_client_resolve(f->client, "pods", &resource, NULL) == KI_ERR_STOPPED &&
           ki_client_get(f->client, KI_CORE_V1_CONFIGMAPS, "default", "a", &object, NULL, NULL) ==
               KI_ERR_STOPPED &&
           ki_apiserver_apply(f->server, f->object, NULL) == KI_ERR_STOPPED &&
           ki_apiserver_load(f->server, ki_str_from("{}"), NULL, NULL) == KI_ERR_STOPPED &&
           ki_apiserver_set_faults(f->server, "", NULL) == KI_ERR_STOPPED &&
           ki_apiserver_get(f->server, KI_CORE_V1_PODS, "default", "a", &object, NULL) ==
               KI_ERR_STOPPED &&
           ki_apiserver_list(f->server, KI_CORE_V1_PODS, "", NULL, &list, NULL) == KI_ERR_STOPPED &&
           ki_apiserver_delete(f->server, KI_CORE_V1_PODS, "default", "a", NULL) == KI_ERR_STOPPED;
}

/* What is not released is refused. */
static bool is_refused(fixture *f)
{
    ki_handler handler = {0};
    ki_informer *informer = NULL;
    ki_client *client = NULL;
    ki_client_options options = KI_OPTIONS_INIT(ki_client_options);
    options.config = f->config;
    options.loop = f->loop;
    return ki_loop_run(f->loop) == KI_ERR_STOPPED && ki_loop_dispatch(f->loop) == KI_ERR_STOPPED &&
           ki_loop_start(f->loop, NULL) == KI_ERR_STOPPED && ki_loop_join(f->loop) == 0 &&
           ki_engine_run(ki_loop_engine(f->loop), 0) == 0 &&
           ki_informer_add_handler(f->informer, &handler, NULL, NULL, NULL) == KI_ERR_STOPPED &&
           ki_informer_start(f->informer, NULL) == KI_ERR_STOPPED &&
           ki_informer_wait_for_sync(f->informer, 1, NULL) == KI_ERR_STOPPED &&
           ki_factory_start(f->factory, NULL) == KI_ERR_STOPPED &&
           ki_factory_wait_for_sync(f->factory, 1, NULL) == KI_ERR_STOPPED &&
           ki_factory_informer(f->factory, KI_CORE_V1_PODS, NULL, &informer, NULL) ==
               KI_ERR_STOPPED &&
           ki_client_new(&options, &client, NULL) == KI_ERR_STOPPED && is_refused_by_queues(f) &&
           is_refused_by_servers(f);
}

static void release_all(fixture *f)
{
    for (size_t i = 0; i < HANDLERS; i++) {
        (void)ki_registration_unref(f->registrations[i]);
    }
    (void)ki_factory_unref(f->factory);
    (void)ki_call_unref(f->call);
    (void)ki_client_unref(f->client);
    (void)ki_controller_unref(f->controller);
    (void)ki_workqueue_unref(f->queue);
    ki_engine_task_post(f->task);
    (void)ki_engine_task_unref(f->task);
    (void)ki_loop_unref(f->loop);
    (void)ki_queue_unref(f->deltas);
    (void)ki_local_source_unref(f->local);
    (void)ki_store_unref(f->store);
    (void)ki_object_unref(f->object);
    (void)ki_apiserver_unref(f->server);
    (void)ki_config_unref(f->config);
}

static void stop_all(fixture *f)
{
    for (size_t i = 0; i < HANDLERS; i++) {
        ki_registration_remove(f->registrations[i]);
        if (ki_registration_remove_wait(f->registrations[i]) != 0) {
            _exit(3);
        }
    }
    ki_informer_stop(f->informer);
    ki_factory_release(f->factory, f->informer);
    ki_factory_stop(f->factory);
    ki_workqueue_shut_down(f->queue);
    ki_queue_stop(f->deltas);
    ki_call_cancel(f->call);
    ki_loop_stop(ki_client_loop(f->client));
    ki_loop_stop(f->loop);
}

static void be_a_child(fixture *f, unsigned number)
{
    (void)alarm(CHILD_SECONDS);
    if (number % 3 == 1) {
        stop_all(f);
    } else if (number % 3 == 2 && !is_refused(f)) {
        _exit(2);
    }
    release_all(f);
    _exit(0);
}

static void children_release_what_their_busy_parent_has(void **state)
{
    (void)state;
    fixture f = {.parent = getpid()};
    begin_rest(&f);
    begin_client(&f);
    assert_int_equal(pthread_create(&f.writer, NULL, write_objects, &f), 0);
    assert_int_equal(pthread_create(&f.taker, NULL, take_deltas, &f), 0);
    assert_int_equal(pthread_create(&f.worker, NULL, work, &f), 0);
    assert_int_equal(pthread_create(&f.reader, NULL, read_discovery, &f), 0);
    uint64_t random = 1;
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct timespec time = {.tv_nsec = (long)(test_random(&random) % 300000)};
        (void)nanosleep(&time, NULL); /* so that the fork comes at any moment */
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            be_a_child(&f, i);
        }
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_false(WIFSIGNALED(status)); /* SIGALRM: it hung */
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    unsigned long heard = f.heard;
    unsigned long ran = f.ran;
    while (f.heard < heard + 100 || f.ran < ran + 100) { /* the parent continues */
        struct timespec time = {.tv_nsec = 1000000};
        (void)nanosleep(&time, NULL);
    }
    assert_int_equal(f.destroyed, 0);
    end(&f);
}

/* The process of the parent's is not that of the child, whatever their numbers. */
static void a_child_makes_its_own(void **state)
{
    (void)state;
    ki_loop *loop = NULL;
    assert_int_equal(ki_loop_new(NULL, &loop, NULL), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        ki_loop *own = NULL;
        bool good = ki_loop_unref(loop) == NULL && ki_loop_new(NULL, &own, NULL) == 0 &&
                    ki_loop_start(own, NULL) == 0;
        (void)ki_loop_unref(own); /* ends the thread */
        _exit(good ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(ki_loop_dispatch(loop), 0);
    (void)ki_loop_unref(loop);
}

static void make_a_queue(void)
{
    ki_workqueue *queue = NULL;
    if (ki_workqueue_new(NULL, &queue, NULL) < 0) {
        abort();
    }
    (void)ki_workqueue_unref(queue);
}

static void *make_queues(void *end)
{
    while (!atomic_load((atomic_bool *)end)) {
        make_a_queue();
    }
    return NULL;
}

/* Locks of the library that belong to no object may be held at the time of the fork. */
static void a_child_makes_its_own_while_its_parent_does(void **state)
{
    (void)state;
    atomic_bool end = false;
    pthread_t maker;
    assert_int_equal(pthread_create(&maker, NULL, make_queues, &end), 0);
    for (unsigned i = 0; i < ROUNDS; i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            (void)alarm(CHILD_SECONDS);
            make_a_queue();
            _exit(0);
        }
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status)); /* SIGALRM: it hung */
    }
    atomic_store(&end, true);
    assert_int_equal(pthread_join(maker, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(children_release_what_their_busy_parent_has),
        cmocka_unit_test(a_child_makes_its_own),
        cmocka_unit_test(a_child_makes_its_own_while_its_parent_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
