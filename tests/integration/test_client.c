/* SPDX-License-Identifier: Apache-2.0 */
/* The client: what it is made of, how it ends, who runs its loop, and requests from many threads.
 * threads: yes */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <kinformer/builtin_resources.h>
#include <kinformer/call.h>
#include <kinformer/config.h>
#include <kinformer/discovery.h>
#include <kinformer/informer.h>
#include <kinformer/status.h>

#include "base/list.h"
#include "loop/loop.h"
#include "support/clienting.h"

static int get(ki_client *client, ki_error *error)
{
    ki_object *object = NULL;
    ki_error own = KI_ERROR_INIT;
    int r = ki_client_get(client, KI_CORE_V1_PODS, "", "none", &object, NULL, &own);
    (void)ki_object_unref(object);
    if (error != NULL) {
        *error = own;
    }
    return r;
}

static void expect_not_found(ki_client *client)
{
    ki_error error = KI_ERROR_INIT;
    assert_int_equal(get(client, &error), KI_ERR_NOT_FOUND);
    assert_true(ki_error_is_not_found(&error));
}

static void nap(long ms)
{
    (void)nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

static ki_request get_request(void)
{
    ki_request request = KI_OPTIONS_INIT(ki_request);
    request.verb = KI_VERB_GET;
    request.resource = KI_CORE_V1_PODS;
    request.name = "none";
    return request;
}

/* ---- what it is made of ---- */

static ki_config *config_of(const char *cluster, const char *user)
{
    char text[1024];
    snprintf(text, sizeof(text),
             "{apiVersion: v1, kind: Config, current-context: c,"
             "clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1', %s}}],"
             "contexts: [{name: c, context: {cluster: c, user: u}}],"
             "users: [{name: u, user: {%s}}]}",
             cluster, user);
    ki_config *config = NULL;
    ki_error error = KI_ERROR_INIT;
    if (ki_config_load(KI_OPTIONS(ki_config_options, .text = ki_str_from(text)), &config, &error)) {
        fail_msg("%s", error.message);
    }
    return config;
}

static void programs_and_no_verification_must_be_allowed(void **state)
{
    (void)state;
    static const struct {
        const char *cluster;
        const char *user;
        const char *option;
    } cases[] = {
        {"insecure-skip-tls-verify: true", "", "allow_insecure"},
        {"",
         "exec: {apiVersion: client.authentication.k8s.io/v1, command: some-plugin, "
         "interactiveMode: Never}",
         "exec_policy"},
    };
    for (size_t i = 0; i < 2; i++) {
        ki_config *config = config_of(cases[i].cluster, cases[i].user);
        ki_client *client = NULL;
        ki_error error = KI_ERROR_INIT;
        ki_client_options options = KI_OPTIONS_INIT(ki_client_options);
        options.config = config;
        assert_int_equal(ki_client_new(&options, &client, &error), KI_ERR_DENIED);
        assert_non_null(strstr(error.message, cases[i].option));
        assert_null(client);
        (void)ki_config_unref(config);
    }
}

static void a_program_that_is_not_needed_need_not_be_allowed(void **state)
{
    (void)state;
    ki_config *config = config_of(
        "", "token: t, exec: {apiVersion: client.authentication.k8s.io/v1, command: some-plugin, "
            "interactiveMode: Never}");
    ki_client *client = NULL;
    ki_client_options options = KI_OPTIONS_INIT(ki_client_options);
    options.config = config;
    assert_int_equal(ki_client_new(&options, &client, NULL), 0);
    (void)ki_client_unref(client);
    (void)ki_config_unref(config);
}

static void note(const ki_log_record *record, void *user)
{
    *(bool *)user = *(bool *)user || strstr(record->message, "not verified") != NULL;
}

static void no_verification_is_logged(void **state)
{
    (void)state;
    bool warned = false;
    ki_log log = {.write = note, .level = KI_LOG_WARNING, .user = &warned};
    ki_config *config = config_of("insecure-skip-tls-verify: true", "");
    ki_client *client = NULL;
    ki_client_options options = KI_OPTIONS_INIT(ki_client_options);
    options.config = config;
    options.log = &log;
    options.allow_insecure = true;
    assert_int_equal(ki_client_new(&options, &client, NULL), 0);
    assert_true(warned);
    assert_ptr_equal(ki_client_config(client), config);
    assert_non_null(ki_client_loop(client));
    assert_ptr_equal(ki_client_engine(client), ki_loop_engine(ki_client_loop(client)));
    (void)ki_client_unref(client);
    (void)ki_config_unref(config);
}

static void wrong_options(void **state)
{
    (void)state;
    ki_config *config = config_of("", "");
    ki_client *client = NULL;
    ki_client_options options = KI_OPTIONS_INIT(ki_client_options);
    options.config = config;
    options.exec_policy = KI_EXEC_MAX;
    assert_int_equal(ki_client_new(&options, &client, NULL), -EINVAL);
    options = KI_OPTIONS_INIT(ki_client_options);
    options.config = config;
    options.user_agent = "two\nlines";
    assert_int_equal(ki_client_new(&options, &client, NULL), -EINVAL);
    options.user_agent = NULL;
    options.qps = 1e-300;
    assert_int_equal(ki_client_new(&options, &client, NULL), -EINVAL);
    assert_null(client);
    assert_null(ki_client_ref(NULL));
    assert_null(ki_client_unref(NULL));
    assert_null(ki_client_close(NULL));
    (void)ki_config_unref(config);
}

static void the_user_agent_names_the_program(void **state)
{
    (void)state;
    clienting c;
    clienting_begin(&c);
    ki_client_options options = KI_OPTIONS_INIT(ki_client_options);
    options.user_agent = "agent/1.2";
    clienting_open(&c, &options);
    expect_not_found(c.client);
    const char *agent = strstr(clienting_asked(&c), "User-Agent: agent/1.2 kinformer/");
    assert_non_null(agent);
    assert_non_null(strstr(agent, " (linux/"));
    clienting_end(&c);
}

static int new_scenario(const ki_alloc *alloc, void *user)
{
    ki_client_options options = KI_OPTIONS_INIT(ki_client_options);
    ki_client *client = NULL;
    ki_loop *loop = NULL;
    int r = ki_loop_new(KI_OPTIONS(ki_loop_options, .alloc = alloc), &loop, NULL);
    if (r < 0) {
        return r;
    }
    options.config = user;
    options.loop = loop;
    r = ki_client_new(&options, &client, NULL);
    (void)ki_client_unref(client);
    (void)ki_loop_unref(loop);
    return r;
}

static void every_allocation_of_making_it_may_fail(void **state)
{
    (void)state;
    ki_config *config = config_of("", "token: t");
    test_alloc_sweep(new_scenario, config);
    (void)ki_config_unref(config);
}

/* ---- who runs the loop ---- */

static void *run_loop(void *arg)
{
    return (void *)(intptr_t)ki_loop_run(arg);
}

static pthread_t start_thread(void *(*run)(void *arg), void *arg)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, run, arg), 0);
    return thread;
}

static void a_request_waits_on_any_kind_of_loop(void **state)
{
    (void)state;
    clienting c;
    clienting_begin(&c);
    clienting_open(&c, NULL); /* a thread of the client's own */
    expect_not_found(c.client);
    c.client = ki_client_unref(c.client);

    clienting_loop(&c);
    clienting_open(&c, NULL); /* nobody */
    expect_not_found(c.client);
    expect_not_found(c.client);
    pthread_t runner = start_thread(run_loop, c.loop); /* another thread */
    expect_not_found(c.client);
    nap(20);
    expect_not_found(c.client);
    ki_loop_stop(c.loop);
    pthread_join(runner, NULL);
    ki_error error = KI_ERROR_INIT;
    assert_int_equal(get(c.client, &error), KI_ERR_STOPPED);
    clienting_end(&c);
}

typedef struct stepper {
    ki_loop *loop;
    atomic_bool stop;
} stepper;

/* A program's own loop. */
static void *run_steps(void *arg)
{
    stepper *s = arg;
    while (!atomic_load(&s->stop)) {
        struct pollfd fd = {.fd = ki_loop_fd(s->loop), .events = POLLIN};
        (void)poll(&fd, 1, 5);
        int r = ki_loop_dispatch(s->loop);
        assert_true(r >= 0);
    }
    return NULL;
}

static void a_request_waits_while_a_foreign_loop_runs_it(void **state)
{
    (void)state;
    clienting c;
    clienting_begin(&c);
    clienting_loop(&c);
    clienting_open(&c, NULL);
    stepper s = {.loop = c.loop};
    pthread_t runner = start_thread(run_steps, &s);
    for (int i = 0; i < 50; i++) {
        expect_not_found(c.client);
    }
    atomic_store(&s.stop, true);
    pthread_join(runner, NULL);
    clienting_end(&c);
}

static void *get_here(void *arg)
{
    return (void *)(intptr_t)get(arg, NULL);
}

static void a_stop_ends_the_wait(void **state)
{
    (void)state;
    for (int threads = 0; threads < 2; threads++) {
        clienting c;
        clienting_begin(&c);
        clienting_loop(&c);
        clienting_open(&c, NULL);
        if (threads != 0) {
            assert_int_equal(ki_loop_start(c.loop, NULL), 0);
        }
        clienting_answer(&c, "{'do': 'hang'}");
        pthread_t waiter = start_thread(get_here, c.client);
        while (strstr(clienting_asked(&c), "GET") == NULL) {
            nap(5);
        }
        ki_loop_stop(c.loop);
        void *result;
        pthread_join(waiter, &result);
        assert_int_equal((int)(intptr_t)result, KI_ERR_STOPPED);
        clienting_end(&c); /* nothing is left of the request */
    }
}

/* A loop reports descriptors outside of ki_engine_run(); plugins end there, which is reported. */
typedef struct outside {
    ki__watch watch;
    ki_client *client;
    ki_error get_error;
    ki_error discover_error;
    int get;
    int discover;
} outside;

static void ask_outside(ki__watch *watch, uint32_t events)
{
    (void)events;
    outside *o = KI__CONTAINER_OF(watch, outside, watch);
    ki_discovery *discovery = NULL;
    ki__watch_remove(watch);
    o->get = get(o->client, &o->get_error);
    o->discover = ki_client_discover(o->client, 0, &discovery, &o->discover_error);
}

static void waiting_is_refused_wherever_the_loop_runs(void **state)
{
    (void)state;
    clienting c;
    int ends[2];
    clienting_begin(&c);
    clienting_loop(&c);
    clienting_open(&c, NULL);
    outside o = {.client = c.client};
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "x", 1), 1);
    assert_int_equal(ki__watch_add(&o.watch, c.loop, ends[0], EPOLLIN, ask_outside), 0);
    for (int i = 0; i < 5; i++) {
        assert_true(ki_loop_dispatch(c.loop) >= 0);
    }
    assert_int_equal(o.get, KI_ERR_BUSY);
    assert_int_equal(o.discover, KI_ERR_BUSY);
    assert_non_null(strstr(o.get_error.message, "would block the client's thread"));
    assert_non_null(strstr(o.discover_error.message, "would block the client's thread"));
    (void)close(ends[0]);
    (void)close(ends[1]);
    clienting_end(&c);
}

/* ---- without waiting ---- */

typedef struct waiting {
    clienting *c;
    ki_call *call;
    atomic_bool done;
    int dones;
    int code;
    int http_code;
    bool cancel; /* inside */
    bool again;  /* asks once more inside, and releases the client */
    int sync;    /* what waiting inside gave */
} waiting;

static void on_done(ki_call *call, const ki_response *answer, const ki_error *error, void *user)
{
    waiting *w = user;
    w->dones++;
    w->code = error != NULL ? error->code : 0;
    w->http_code = answer->http_code;
    if (w->cancel) {
        ki_call_cancel(call);
    }
    w->sync = get(w->c->client, NULL);
    if (w->again) {
        w->again = false;
        ki_request request = get_request();
        assert_int_equal(ki_client_call(w->c->client, &request, on_done, w, NULL, NULL), 0);
        return;
    }
    atomic_store(&w->done, true);
}

static void answers_come_on_the_loop(void **state)
{
    (void)state;
    for (int own = 0; own < 2; own++) {
        clienting c;
        clienting_begin(&c);
        if (own == 0) {
            clienting_loop(&c);
        }
        clienting_open(&c, NULL);
        ki_request request = get_request();
        waiting w = {.c = &c, .cancel = true, .again = true};
        assert_int_equal(ki_client_call(c.client, &request, on_done, &w, &w.call, NULL), 0);
        clienting_until(&c, &w.done);
        assert_int_equal(w.dones, 2);
        assert_int_equal(w.code, KI_ERR_NOT_FOUND);
        assert_int_equal(w.http_code, 404);
        assert_int_equal(w.sync, KI_ERR_BUSY);
        ki_call_cancel(w.call); /* late */
        w.call = ki_call_unref(w.call);
        ki_loop *loop = ki_loop_ref(ki_client_loop(c.client));
        c.client = ki_client_unref(c.client);
        if (own != 0) {
            assert_int_equal(ki_loop_join(loop), 0); /* all is over now */
        }
        (void)ki_loop_unref(loop);
        clienting_end(&c);
    }
}

static void cancel_after(clienting *c, int steps)
{
    ki_request request = get_request();
    waiting w = {.c = c};
    assert_int_equal(ki_client_call(c->client, &request, on_done, &w, &w.call, NULL), 0);
    for (int i = 0; i < steps && w.dones == 0; i++) {
        assert_true(ki_loop_dispatch(c->loop) >= 0);
        nap(1);
    }
    int dones = w.dones;
    ki_call_cancel(w.call);
    ki_call_cancel(w.call);
    w.call = ki_call_unref(w.call);
    for (int i = 0; i < 5; i++) {
        assert_true(ki_loop_dispatch(c->loop) >= 0);
    }
    assert_int_equal(w.dones, dones);
}

static void a_request_is_cancelled_at_any_moment(void **state)
{
    (void)state;
    clienting c;
    clienting_begin(&c);
    clienting_loop(&c);
    for (int step = 0; step < 40; step++) {
        clienting_forget(&c);
        if (step % 2 == 0) {
            clienting_answer(&c, "{'status': 429, 'headers': {'Retry-After': '1'}}");
        }
        size_t bytes = c.alloc.live_bytes;
        clienting_open(&c, NULL);
        cancel_after(&c, step / 2);
        c.client = ki_client_unref(c.client);
        assert_true(ki_loop_dispatch(c.loop) >= 0);
        assert_true(c.alloc.live_bytes <= bytes + 256); /* the engine keeps capacity for timers */
    }
    clienting_end(&c);
}

static void a_request_on_a_stopped_loop_can_be_released(void **state)
{
    (void)state;
    clienting c;
    clienting_begin(&c);
    clienting_loop(&c);
    clienting_open(&c, NULL);
    ki_request request = get_request();
    waiting w = {.c = &c};
    assert_int_equal(ki_client_call(c.client, &request, on_done, &w, &w.call, NULL), 0);
    ki_loop_stop(c.loop);
    assert_int_equal(w.dones, 1);
    assert_int_equal(w.code, KI_ERR_STOPPED);
    ki_call_cancel(w.call);
    w.call = ki_call_unref(w.call);
    assert_int_equal(ki_client_call(c.client, &request, on_done, &w, NULL, NULL), KI_ERR_STOPPED);
    assert_int_equal(w.dones, 1);
    clienting_end(&c);
}

static void drop_client(ki_call *call, const ki_response *answer, const ki_error *error, void *user)
{
    (void)call;
    (void)answer;
    (void)error;
    waiting *w = user;
    w->c->client = ki_client_unref(w->c->client);
    atomic_store(&w->done, true);
}

static void the_last_reference_may_go_inside_the_loop(void **state)
{
    (void)state;
    for (int own = 0; own < 2; own++) {
        clienting c;
        clienting_begin(&c);
        if (own == 0) {
            clienting_loop(&c);
        }
        clienting_open(&c, NULL);
        ki_loop *loop = ki_loop_ref(ki_client_loop(c.client));
        ki_request request = get_request();
        waiting w = {.c = &c};
        assert_int_equal(ki_client_call(c.client, &request, drop_client, &w, NULL, NULL), 0);
        clienting_until(&c, &w.done);
        if (own != 0) {
            assert_int_equal(ki_loop_join(loop), 0);
        } else {
            assert_true(ki_loop_dispatch(loop) >= 0);
        }
        (void)ki_loop_unref(loop);
        clienting_end(&c);
    }
}

/* ---- many ---- */

static void *get_often(void *arg)
{
    for (int i = 0; i < 25; i++) {
        expect_not_found(arg);
    }
    return NULL;
}

static void threads_ask_at_once(void **state)
{
    (void)state;
    for (int own = 0; own < 2; own++) {
        clienting c;
        clienting_begin(&c);
        if (own == 0) {
            clienting_loop(&c);
        }
        clienting_open(&c, NULL);
        pthread_t threads[4];
        for (size_t i = 0; i < 4; i++) {
            threads[i] = start_thread(get_often, c.client);
        }
        for (size_t i = 0; i < 4; i++) {
            pthread_join(threads[i], NULL);
        }
        clienting_end(&c);
    }
}

static void a_thousand_requests_leave_nothing(void **state)
{
    (void)state;
    clienting c;
    clienting_begin(&c);
    clienting_loop(&c);
    clienting_open(&c, NULL);
    size_t bytes = 0;
    size_t fds = 0;
    for (int i = 0; i < 1000; i++) {
        expect_not_found(c.client);
        if (i == 10) {
            bytes = c.alloc.live_bytes;
            fds = test_descriptors();
        }
    }
    assert_true(c.alloc.live_bytes <= bytes + 1024);
    assert_true(test_descriptors() <= fds);
    clienting_end(&c);
}

/* ---- the throttle ---- */

static void requests_keep_to_their_rate(void **state)
{
    (void)state;
    clienting c;
    clienting_begin(&c);
    ki_client_options options = KI_OPTIONS_INIT(ki_client_options);
    options.qps = 20;
    options.burst = 2;
    clienting_open(&c, &options);
    uint64_t before = clienting_now_ms();
    for (int i = 0; i < 10; i++) {
        expect_not_found(c.client);
    }
    assert_true(clienting_now_ms() - before >= 390); /* eight of them waited for 50 ms */
    clienting_end(&c);
}

/* ---- an informer ---- */

typedef struct heard {
    atomic_int adds;
    atomic_int deletes;
} heard;

static void on_add(const ki_object *object, bool is_initial, void *user)
{
    (void)object;
    (void)is_initial;
    atomic_fetch_add(&((heard *)user)->adds, 1);
}

static void on_delete(const ki_object *object, bool unknown, void *user)
{
    (void)object;
    (void)unknown;
    atomic_fetch_add(&((heard *)user)->deletes, 1);
}

static void make_pod(ki_client *client, const char *name)
{
    char text[256];
    snprintf(text, sizeof(text), "{'kind':'Pod','apiVersion':'v1','metadata':{'name':'%s'}}", name);
    ki_object *pod = clienting_object(text);
    assert_int_equal(ki_client_create(client, KI_CORE_V1_PODS, pod, NULL, NULL, NULL), 0);
    (void)ki_object_unref(pod);
}

static void expect_count(atomic_int *count, int wanted)
{
    for (int i = 0; i < 4000 && atomic_load(count) != wanted; i++) {
        nap(5);
    }
    assert_int_equal(atomic_load(count), wanted);
}

static void an_informer_follows_what_the_client_writes(void **state)
{
    clienting c;
    clienting_begin(&c);
    ki_client_options options = KI_OPTIONS_INIT(ki_client_options);
    clienting_open(&c, &options);
    make_pod(c.client, "a");
    ki_factory *factory = NULL;
    ki_informer *pods = NULL;
    heard h = {0};
    ki_handler handler = {.on_add = on_add, .on_delete = on_delete, .user = &h};
    ki_factory_options wrong = KI_OPTIONS_INIT(ki_factory_options);
    wrong.transport = ki_client_transport(c.client);
    assert_int_equal(ki_client_factory(c.client, &wrong, &factory, NULL), -EINVAL);
    assert_int_equal(ki_client_factory(c.client, NULL, &factory, NULL), 0);
    assert_int_equal(ki_factory_informer(factory, KI_CORE_V1_PODS, NULL, &pods, NULL), 0);
    assert_int_equal(ki_informer_add_handler(pods, &handler, NULL, NULL, NULL), 0);
    assert_int_equal(ki_factory_start(factory, NULL), 0);
    assert_int_equal(ki_factory_wait_for_sync(factory, 20000, NULL), 0);
    expect_count(&h.adds, 1);
    make_pod(c.client, "b");
    expect_count(&h.adds, 2);
    assert_int_equal(ki_client_delete(c.client, KI_CORE_V1_PODS, "shop", "a", NULL, NULL), 0);
    expect_count(&h.deletes, 1);
    if (*state == NULL) {
        /* The client first: the informer keeps it, and the last to go ends its thread. */
        ki_loop *loop = ki_loop_ref(ki_client_loop(c.client));
        c.client = ki_client_unref(c.client);
        ki_factory_stop(factory);
        factory = ki_factory_unref(factory);
        assert_int_equal(ki_loop_join(loop), 0);
        (void)ki_loop_unref(loop);
    } else {
        factory = ki_factory_unref(factory);
        c.client = ki_client_close(c.client);
    }
    clienting_end(&c);
}

static ki_client *client_of_pods(const test_server *server, const ki_alloc *alloc)
{
    char text[2 * SERVER_FOLDER];
    snprintf(text, sizeof(text),
             "{apiVersion: v1, kind: Config, current-context: c,"
             "clusters: [{name: c, cluster: {server: 'https://127.0.0.1:%d',"
             " certificate-authority: '%s/ca.crt'}}],"
             "contexts: [{name: c, context: {cluster: c, user: u, namespace: shop}}],"
             "users: [{name: u, user: {token: t}}]}",
             test_server_port(server, "pods"), server->folder);
    ki_config *config = NULL;
    ki_client *client = NULL;
    ki_error error = KI_ERROR_INIT;
    ki_client_options options = KI_OPTIONS_INIT(ki_client_options);
    int r =
        ki_config_load(KI_OPTIONS(ki_config_options, .text = ki_str_from(text)), &config, &error);
    if (r == 0) {
        options.config = config;
        options.alloc = alloc;
        r = ki_client_new(&options, &client, &error);
    }
    if (r < 0) {
        fail_msg("%s", error.message);
    }
    (void)ki_config_unref(config);
    return client;
}

static void do_there(ki_client *client, const char *what)
{
    ki_request request = KI_OPTIONS_INIT(ki_request);
    request.verb = KI_VERB_RAW;
    request.method = "POST";
    request.path = "/do";
    request.query = what;
    assert_int_equal(ki_client_do(client, &request, NULL, NULL), 0);
}

static void an_informer_over_tls_resumes_after_cuts(void **state)
{
    (void)state;
    test_alloc alloc;
    test_server server;
    size_t fds = test_descriptors();
    test_alloc_init(&alloc);
    (void)unlink(TEST_SCRATCH_DIR "/client_pods/state.json");
    test_server_start(&server, "pods_server.py", TEST_SCRATCH_DIR "/client_pods");
    ki_client *client = client_of_pods(&server, &alloc.table);
    ki_factory *factory = NULL;
    ki_informer *pods = NULL;
    heard h = {0};
    ki_handler handler = {.on_add = on_add, .on_delete = on_delete, .user = &h};
    do_there(client, "add=a");
    assert_int_equal(ki_client_factory(client, NULL, &factory, NULL), 0);
    assert_int_equal(ki_factory_informer(factory, KI_CORE_V1_PODS, NULL, &pods, NULL), 0);
    assert_int_equal(ki_informer_add_handler(pods, &handler, NULL, NULL, NULL), 0);
    assert_int_equal(ki_factory_start(factory, NULL), 0);
    assert_int_equal(ki_factory_wait_for_sync(factory, 20000, NULL), 0);
    expect_count(&h.adds, 1);
    do_there(client, "cut=1");
    do_there(client, "add=b");
    do_there(client, "delete=a");
    expect_count(&h.adds, 2);
    expect_count(&h.deletes, 1);
    factory = ki_factory_unref(factory);
    client = ki_client_close(client);
    test_server_stop(&server);
    test_alloc_done(&alloc);
    assert_int_equal(test_descriptors(), fds);
}

/* ---- fork ---- */

static void a_forked_child_only_lets_go(void **state)
{
    (void)state;
    clienting c;
    clienting_begin(&c);
    clienting_open(&c, NULL);
    expect_not_found(c.client);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)ki_client_unref(c.client);
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    expect_not_found(c.client); /* on the same connection */
    clienting_end(&c);
}

int main(void)
{
    static int joined; /* any address that is not NULL */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_and_no_verification_must_be_allowed),
        cmocka_unit_test(a_program_that_is_not_needed_need_not_be_allowed),
        cmocka_unit_test(no_verification_is_logged),
        cmocka_unit_test(wrong_options),
        cmocka_unit_test(the_user_agent_names_the_program),
        cmocka_unit_test(every_allocation_of_making_it_may_fail),
        cmocka_unit_test(a_request_waits_on_any_kind_of_loop),
        cmocka_unit_test(a_request_waits_while_a_foreign_loop_runs_it),
        cmocka_unit_test(a_stop_ends_the_wait),
        cmocka_unit_test(waiting_is_refused_wherever_the_loop_runs),
        cmocka_unit_test(answers_come_on_the_loop),
        cmocka_unit_test(a_request_is_cancelled_at_any_moment),
        cmocka_unit_test(a_request_on_a_stopped_loop_can_be_released),
        cmocka_unit_test(the_last_reference_may_go_inside_the_loop),
        cmocka_unit_test(threads_ask_at_once),
        cmocka_unit_test(a_thousand_requests_leave_nothing),
        cmocka_unit_test(requests_keep_to_their_rate),
        cmocka_unit_test(an_informer_follows_what_the_client_writes),
        cmocka_unit_test_prestate(an_informer_follows_what_the_client_writes, &joined),
        cmocka_unit_test(an_informer_over_tls_resumes_after_cuts),
        cmocka_unit_test(a_forked_child_only_lets_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
