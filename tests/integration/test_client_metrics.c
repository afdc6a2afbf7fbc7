/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics and checks of a client of the embedded server: its requests, faults of the server and of
 * handlers, both formats, systemd's socket, and scrapes while everything runs.  threads: yes */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <kinformer/apiserver.h>
#include <kinformer/checks.h>
#include <kinformer/client.h>
#include <kinformer/consistency.h>
#include <kinformer/leader.h>
#include <kinformer/metrics.h>
#include <kinformer/projection.h>
#include <kinformer/recorder.h>
#include <kinformer/request.h>

#include "support/objects.h"
#include "support/scraping.h"

enum { WAIT_MS = 30000, TEXT_MAX = 16 << 20 };

typedef struct fixture {
    test_alloc alloc;
    ki_apiserver *server;
    ki_client *client;
    ki_buf text;
    sem_t called;     /* a callback began */
    sem_t may_return; /* it may return */
    atomic_bool blocks;
    atomic_int result; /* of reconcile */
} fixture;

static void must(int r, const ki_error *error)
{
    if (r < 0) {
        fail_msg("%s: %s", ki_error_name(r), error->message);
    }
}

static void begin(fixture *f, double qps)
{
    ki_error error = KI_ERROR_INIT;
    ki_client_options options = KI_OPTIONS_INIT(ki_client_options);
    *f = (fixture){0};
    test_alloc_init(&f->alloc);
    ki_buf_init(&f->text, NULL, TEXT_MAX);
    assert_int_equal(sem_init(&f->called, 0, 0), 0);
    assert_int_equal(sem_init(&f->may_return, 0, 0), 0);
    must(ki_apiserver_new(NULL, &f->server, &error), &error);
    must(ki_apiserver_load(f->server,
                           ki_str_from("apiVersion: v1\nkind: Pod\n"
                                       "metadata: {name: web, namespace: default}\n---\n"
                                       "apiVersion: v1\nkind: Pod\n"
                                       "metadata: {name: db, namespace: default}\n"),
                           NULL, &error),
         &error);
    options.alloc = &f->alloc.table;
    options.qps = qps;
    options.burst = 1;
    must(ki_apiserver_client(f->server, &options, &f->client, &error), &error);
}

static void end(fixture *f)
{
    f->client = ki_client_close(f->client);
    ki_buf_done(&f->text);
    test_alloc_done(&f->alloc);
    f->server = ki_apiserver_unref(f->server);
    sem_destroy(&f->called);
    sem_destroy(&f->may_return);
}

static const char *scrape(fixture *f, ki_metrics_format format)
{
    ki_error error = KI_ERROR_INIT;
    ki_buf_clear(&f->text);
    must(ki_client_write_metrics(f->client, format, &f->text, &error), &error);
    return ki_buf_text(&f->text);
}

static double value(fixture *f, const char *name, const char *labels)
{
    return scraping_value(scrape(f, KI_METRICS_PROMETHEUS), name, labels);
}

/* Until the metric is at least that much. */
static void until(fixture *f, const char *name, const char *labels, double least)
{
    for (int i = 0; i < WAIT_MS / 10; i++) {
        const char *found = scraping_find(scrape(f, KI_METRICS_PROMETHEUS), name, labels);
        if (found != NULL && strtod(found, NULL) >= least) {
            return;
        }
        usleep(10000);
    }
    fail_msg("%s{%s} never came to %g:\n%s", name, labels, least, ki_buf_text(&f->text));
}

static const char *report(fixture *f, bool ready, const ki_check_options *options, int want)
{
    ki_error error = KI_ERROR_INIT;
    ki_buf_clear(&f->text);
    int r = ready ? ki_client_check_ready(f->client, options, &f->text, &error)
                  : ki_client_check_live(f->client, options, &f->text, &error);
    must(r, &error);
    if (r != want) {
        fail_msg("%d instead of %d: %s", r, want, ki_buf_text(&f->text));
    }
    return ki_buf_text(&f->text);
}

static void has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) {
        fail_msg("'%s' is not in:\n%s", part, text);
    }
}

static void on_change(const ki_change *change, void *user)
{
    fixture *f = user;
    (void)change;
    if (atomic_load(&f->blocks)) {
        sem_post(&f->called);
        sem_wait(&f->may_return);
    }
}

static ki_informer *start_pods(fixture *f)
{
    ki_error error = KI_ERROR_INIT;
    ki_informer *pods = NULL;
    must(ki_client_informer(f->client, KI_CORE_V1_PODS, NULL, &pods, &error), &error);
    must(ki_informer_on_change(pods, on_change, f, KI_OPTIONS(ki_handler_options, .name = "audit"),
                               &error),
         &error);
    must(ki_client_start(f->client, &error), &error);
    return pods;
}

static void wait_for_sync(fixture *f)
{
    ki_error error = KI_ERROR_INIT;
    must(ki_client_wait_for_sync(f->client, WAIT_MS, &error), &error);
}

static void apply_pod(fixture *f, const char *name)
{
    char text[256];
    ki_error error = KI_ERROR_INIT;
    (void)snprintf(text, sizeof(text),
                   "apiVersion: v1\nkind: Pod\nmetadata: {name: %s, namespace: default}\n", name);
    must(ki_apiserver_load(f->server, ki_str_from(text), NULL, &error), &error);
}

/* ---- requests ---- */

static void requests_by_code_and_their_times(void **state)
{
    (void)state;
    fixture f;
    ki_error error = KI_ERROR_INIT;
    ki_object *object = NULL;
    begin(&f, 1);
    must(ki_client_get(f.client, KI_CORE_V1_PODS, "default", "web", &object, NULL, &error), &error);
    (void)ki_object_unref(object); /* the next one waits for the rate limit */
    assert_int_equal(
        ki_client_get(f.client, KI_CORE_V1_PODS, "default", "no", &object, NULL, &error),
        KI_ERR_NOT_FOUND);
    char host[128];
    (void)snprintf(host, sizeof(host), "method=\"GET\",host=\"%s\"",
                   ki_apiserver_url(f.server) + strlen("http://"));
    assert_true(value(&f, "rest_client_requests_total", host) == 1);
    assert_true(value(&f, "rest_client_requests_total", "code=\"404\"") == 1);
    assert_true(value(&f, "rest_client_request_duration_seconds_count", "verb=\"GET\"") == 2);
    assert_true(value(&f, "rest_client_rate_limiter_duration_seconds_count", "verb=\"GET\"") == 2);
    assert_true(value(&f, "rest_client_rate_limiter_duration_seconds_sum", "") > 0);
    assert_true(value(&f, "rest_client_request_duration_seconds_sum", "") >=
                value(&f, "rest_client_rate_limiter_duration_seconds_sum", ""));
    end(&f);
}

static void refused_and_failed_requests(void **state)
{
    (void)state;
    fixture f;
    ki_error error = KI_ERROR_INIT;
    begin(&f, -1);
    must(ki_apiserver_set_faults(f.server, "status=429,retry-after=1,times=1,verb=list+watch",
                                 &error),
         &error);
    ki_informer *pods = start_pods(&f);
    until(&f, "rest_client_requests_total", "code=\"429\"", 1);
    until(&f, "rest_client_request_retries_total", "code=\"429\",verb=\"GET\",host=\"", 1);
    wait_for_sync(&f);
    must(ki_apiserver_set_faults(f.server, "refuse", &error), &error);
    ki_apiserver_break_connections(f.server);
    until(&f, "rest_client_requests_total", "code=\"<error>\"", 1);
    until(&f, "kinformer_informer_failures_total", "", 1);
    until(&f, "kinformer_informer_failing_seconds", "", 0.1);
    const char *text = report(&f, true, KI_OPTIONS(ki_check_options, .stale_ms = 1), 0);
    has(text, "[-]informer pods: no data for ");
    has(text, "failed: ");
    must(ki_apiserver_set_faults(f.server, "", &error), &error);
    (void)ki_informer_unref(pods);
    end(&f);
}

/* ---- informers ---- */

static void lost_history_is_a_relist(void **state)
{
    (void)state;
    fixture f;
    begin(&f, -1);
    ki_informer *pods = start_pods(&f);
    wait_for_sync(&f);
    apply_pod(&f, "third");
    until(&f, "kinformer_informer_objects", "name=\"pods\"", 3);
    until(&f, "kinformer_informer_events_total", "", 1);
    ki_error error = KI_ERROR_INIT;
    must(ki_apiserver_set_faults(f.server, "expire,verb=watch,times=1", &error), &error);
    ki_apiserver_drop_watches(f.server);
    until(&f, "kinformer_informer_relists_total", "reason=\"expired\"", 1);
    until(&f, "kinformer_informer_unchanged_objects_total", "", 3);
    until(&f, "kinformer_informer_state", "state=\"watching\"", 1);
    (void)ki_informer_unref(pods);
    end(&f);
}

static void fields_of_a_newer_api(void **state)
{
    (void)state;
    fixture f;
    ki_error error = KI_ERROR_INIT;
    begin(&f, -1);
    must(ki_apiserver_set_faults(f.server, "unknown-field", &error), &error);
    ki_informer *pods = start_pods(&f);
    wait_for_sync(&f);
    until(&f, "kinformer_informer_incomplete_objects_total", "", 2);
    (void)ki_informer_unref(pods);
    end(&f);
}

/* Both handlers need a thread, and there is one. */
static void handlers_that_wait_for_a_thread(void **state)
{
    (void)state;
    fixture f;
    ki_error error = KI_ERROR_INIT;
    ki_informer *pods = NULL;
    ki_client_options options = KI_OPTIONS_INIT(ki_client_options);
    begin(&f, -1);
    f.client = ki_client_close(f.client);
    options.alloc = &f.alloc.table;
    options.handler_threads = 1;
    must(ki_apiserver_client(f.server, &options, &f.client, &error), &error);
    atomic_store(&f.blocks, true);
    must(ki_client_informer(f.client, KI_CORE_V1_PODS, NULL, &pods, &error), &error);
    for (int i = 0; i < 2; i++) {
        must(ki_informer_on_change(pods, on_change, &f, NULL, &error), &error);
    }
    must(ki_client_start(f.client, &error), &error);
    until(&f, "kinformer_handler_threads_exhausted_total", "", 1);
    assert_true(value(&f, "kinformer_handler_threads", "") >= 1);
    atomic_store(&f.blocks, false);
    for (int i = 0; i < 4; i++) {
        sem_post(&f.may_return);
    }
    wait_for_sync(&f);
    (void)ki_informer_unref(pods);
    end(&f);
}

static void both_formats_have_the_same_families(void **state)
{
    (void)state;
    fixture f;
    begin(&f, -1);
    ki_informer *pods = start_pods(&f);
    wait_for_sync(&f);
    size_t samples = 0;
    for (const char *at = scrape(&f, KI_METRICS_PROMETHEUS); (at = strstr(at, "# TYPE")) != NULL;) {
        at++;
        samples++;
    }
    const char *text = scrape(&f, KI_METRICS_OPENMETRICS);
    for (const char *at = text; (at = strstr(at, "# TYPE")) != NULL; at++) {
        samples--;
    }
    assert_int_equal(samples, 0);
    has(text, "# TYPE kinformer_informer_events counter\nkinformer_informer_events_total{");
    assert_string_equal(text + strlen(text) - 6, "# EOF\n");
    has(text, "kinformer_build_info{version=\"");
    assert_string_equal(ki_metrics_content_type(KI_METRICS_PROMETHEUS),
                        "text/plain; version=0.0.4; charset=utf-8");
    has(ki_metrics_content_type(KI_METRICS_OPENMETRICS), "application/openmetrics-text");
    assert_string_equal(ki_metrics_content_type(KI_METRICS_FORMAT_MAX), "");
    (void)ki_informer_unref(pods);
    end(&f);
}

static void a_buffer_that_is_too_small_keeps_its_content(void **state)
{
    (void)state;
    fixture f;
    begin(&f, -1);
    ki_buf small;
    ki_error error = KI_ERROR_INIT;
    ki_buf_init(&small, NULL, 40);
    test_add(&small, "before", 1);
    assert_int_equal(ki_client_write_metrics(f.client, KI_METRICS_PROMETHEUS, &small, &error),
                     KI_ERR_LIMIT);
    assert_string_equal(ki_buf_text(&small), "before");
    assert_int_equal(ki_client_write_metrics(f.client, KI_METRICS_FORMAT_MAX, &small, &error),
                     -EINVAL);
    ki_buf_done(&small);
    end(&f);
}

/* ---- checks ---- */

static void ready_when_all_have_synced(void **state)
{
    (void)state;
    fixture f;
    begin(&f, -1);
    assert_string_equal(report(&f, true, NULL, 1), ""); /* nothing to wait for */
    ki_error error = KI_ERROR_INIT;
    ki_informer *pods = NULL;
    must(ki_client_informer(f.client, KI_CORE_V1_PODS, NULL, &pods, &error), &error);
    assert_string_equal(report(&f, true, NULL, 0), "[-]informer pods: not started\n");
    must(ki_apiserver_set_faults(f.server, "status=403", &error), &error);
    (void)ki_informer_unref(pods);
    atomic_store(&f.blocks, true);
    pods = start_pods(&f);
    until(&f, "kinformer_informer_failures_total", "", 1);
    has(report(&f, true, NULL, 0), "[-]informer pods: not synced: ");
    has(ki_buf_text(&f.text), "failed: ");
    must(ki_apiserver_set_faults(f.server, "", &error), &error);
    until(&f, "kinformer_informer_synced", "", 1);
    sem_wait(&f.called);
    has(report(&f, true, NULL, 0), "[-]handler pods/audit: initial objects not delivered: ");
    atomic_store(&f.blocks, false);
    sem_post(&f.may_return);
    wait_for_sync(&f);
    assert_string_equal(report(&f, true, KI_OPTIONS(ki_check_options, .verbose = true), 1),
                        "[+]informer pods\n[+]handler pods/audit\n[+]memory\n");
    has(report(&f, true, KI_OPTIONS(ki_check_options, .max_bytes = 10), 0), "[-]memory: ");
    has(ki_buf_text(&f.text), " bytes of informers (limit 10)\n");
    assert_string_equal(report(&f, false, KI_OPTIONS(ki_check_options, .verbose = true), 1),
                        "[+]loop\n[+]handler pods/audit\n");
    (void)ki_informer_unref(pods);
    end(&f);
}

/* Over HTTP, in protobuf: fields are skipped while they are decoded. */
static void a_reduced_cache_is_ready_and_says_so(void **state)
{
    (void)state;
    fixture f;
    begin(&f, -1);
    ki_error error = KI_ERROR_INIT;
    ki_buf pods_yaml;
    ki_buf_init(&pods_yaml, NULL, 1 << 20);
    for (int i = 0; i < 30; i++) {
        char head[128];
        (void)snprintf(head, sizeof(head),
                       "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: p%d\n"
                       "  namespace: default\n  annotations: {a: ",
                       i);
        test_add(&pods_yaml, head, 1);
        test_add(&pods_yaml, "xyz-", 500);
        test_add(&pods_yaml, "}\n", 1);
    }
    must(ki_apiserver_load(f.server, ki_buf_str(&pods_yaml), NULL, &error), &error);
    ki_buf_done(&pods_yaml);
    ki_informer_options options = KI_OPTIONS_INIT(ki_informer_options);
    options.max_bytes = 40000;
    options.at_limit = KI_AT_LIMIT_METADATA;
    ki_informer *pods = NULL;
    must(ki_client_informer(f.client, KI_CORE_V1_PODS, &options, &pods, &error), &error);
    must(ki_client_start(f.client, &error), &error);
    until(&f, "kinformer_informer_reduced", "", 1);
    until(&f, "kinformer_informer_synced", "", 1);
    assert_true(value(&f, "kinformer_informer_objects", "") == 32);
    for (int i = 0; i < WAIT_MS / 10 && value(&f, "kinformer_informer_over_limit", "") > 0; i++) {
        usleep(10000);
    }
    has(report(&f, true, KI_OPTIONS(ki_check_options, .verbose = true), 1),
        "[+]informer pods: reduced: metadata only\n");
    assert_string_equal(report(&f, true, NULL, 1), "");
    ki_object *pod = ki_informer_get(pods, "default", "p7");
    assert_true(ki_object_is_partial(pod));
    (void)ki_object_unref(pod);
    (void)ki_informer_unref(pods);
    end(&f);
}

static void a_stuck_handler_is_not_live(void **state)
{
    (void)state;
    fixture f;
    begin(&f, -1);
    ki_informer *pods = start_pods(&f);
    wait_for_sync(&f);
    atomic_store(&f.blocks, true);
    apply_pod(&f, "third");
    sem_wait(&f.called);
    ki_check_options *options =
        KI_OPTIONS(ki_check_options, .handler_stuck_ms = 1, .handler_lag_ms = 1);
    (void)report(&f, false, NULL, 1); /* sees it for the first time */
    usleep(20000);
    has(report(&f, false, options, 0),
        "[-]handler pods/audit: callback running for 0 s (limit 0 s)");
    has(report(&f, true, options, 0), "[-]handler pods/audit: oldest event waits for 0 s");
    (void)report(&f, false, NULL, 1); /* not for that long */
    assert_true(value(&f, "kinformer_handler_callback_running_seconds", "audit") > 0.01);
    atomic_store(&f.blocks, false);
    sem_post(&f.may_return);
    until(&f, "kinformer_handler_delivered_events_total", "", 3);
    for (int i = 0; i < 1000 && ki_client_check_live(f.client, options, NULL, NULL) != 1; i++) {
        usleep(10000);
    }
    assert_int_equal(ki_client_check_live(f.client, options, NULL, NULL), 1);
    (void)ki_informer_unref(pods);
    end(&f);
}

/* A handler that blocks the loop: a timer of its informer is overdue. */
static void a_stuck_loop_is_not_live(void **state)
{
    (void)state;
    fixture f;
    ki_error error = KI_ERROR_INIT;
    ki_informer *pods = NULL;
    begin(&f, -1);
    must(ki_client_informer(f.client, KI_CORE_V1_PODS,
                            KI_OPTIONS(ki_informer_options, .resync_ms = 1000), &pods, &error),
         &error);
    const ki_handler_options on_the_loop =
        *KI_OPTIONS(ki_handler_options, .name = "audit", .delivery = KI_DELIVERY_LOOP);
    must(ki_informer_on_change(pods, on_change, &f, &on_the_loop, &error), &error);
    must(ki_client_start(f.client, &error), &error);
    wait_for_sync(&f);
    (void)report(&f, false, NULL, 1);
    atomic_store(&f.blocks, true);
    sem_wait(&f.called);
    const ki_check_options *options = KI_OPTIONS(ki_check_options, .loop_stuck_ms = 1000);
    for (int i = 0; i < 3000 && ki_client_check_live(f.client, options, NULL, NULL) != 0; i++) {
        usleep(10000);
    }
    has(report(&f, false, options, 0), "[-]loop: not running for ");
    atomic_store(&f.blocks, false);
    sem_post(&f.may_return);
    for (int i = 0; i < 3000 && ki_client_check_live(f.client, options, NULL, NULL) != 1; i++) {
        usleep(10000);
    }
    (void)report(&f, false, options, 1);
    (void)ki_informer_unref(pods);
    end(&f);
}

static int reconcile(const char *key, uint64_t *retry_after_ms, ki_error *error, void *user)
{
    fixture *f = user;
    (void)key;
    (void)retry_after_ms;
    (void)error;
    if (atomic_load(&f->blocks)) {
        sem_post(&f->called);
        sem_wait(&f->may_return);
    }
    return atomic_load(&f->result);
}

static ki_controller *start_controller(fixture *f, const char *name)
{
    ki_error error = KI_ERROR_INIT;
    ki_workqueue *queue = NULL;
    ki_controller *controller = NULL;
    must(ki_workqueue_new(NULL, &queue, &error), &error);
    must(ki_controller_new(KI_OPTIONS(ki_controller_options, .queue = queue, .name = name,
                                      .reconcile = reconcile, .user = f),
                           &controller, &error),
         &error);
    must(ki_controller_start(controller, f->client, 2, &error), &error);
    assert_int_equal(ki_workqueue_add(queue, "key"), 1);
    (void)ki_workqueue_unref(queue);
    return controller;
}

static void a_controller_of_the_client(void **state)
{
    (void)state;
    fixture f;
    begin(&f, -1);
    atomic_store(&f.blocks, true);
    ki_controller *controller = start_controller(&f, "robot");
    sem_wait(&f.called);
    usleep(20000);
    has(report(&f, false, KI_OPTIONS(ki_check_options, .worker_stuck_ms = 1), 0),
        "[-]queue robot: a key is being processed for 0 s (limit 0 s)");
    (void)report(&f, false, NULL, 1);
    assert_true(value(&f, "controller_runtime_active_workers", "robot") == 1);
    assert_true(value(&f, "controller_runtime_max_concurrent_reconciles", "robot") == 2);
    atomic_store(&f.blocks, false);
    atomic_store(&f.result, -EIO);
    sem_post(&f.may_return);
    until(&f, "controller_runtime_reconcile_errors_total", "robot", 3);
    until(&f, "workqueue_retries_total", "robot", 2);
    (void)ki_controller_close(controller);
    assert_null(scraping_find(scrape(&f, KI_METRICS_PROMETHEUS), "workqueue_depth", ""));
    end(&f);
}

/* A key that was written is not reconciled before the cache has the write. */
static void a_cache_that_is_behind_own_writes(void **state)
{
    (void)state;
    fixture f;
    ki_error error = KI_ERROR_INIT;
    ki_workqueue *queue = NULL;
    ki_consistency *consistency = NULL;
    ki_controller *controller = NULL;
    begin(&f, -1);
    ki_informer *pods = start_pods(&f);
    wait_for_sync(&f);
    must(ki_consistency_new(NULL, &consistency, &error), &error);
    must(ki_consistency_add_informer(consistency, pods, &error), &error);
    assert_int_equal(ki_consistency_wrote(consistency, pods, "key", NULL, "999999999"), 0);
    must(ki_workqueue_new(NULL, &queue, &error), &error);
    must(ki_controller_new(KI_OPTIONS(ki_controller_options, .queue = queue, .name = "robot",
                                      .reconcile = reconcile, .user = &f,
                                      .consistency = consistency),
                           &controller, &error),
         &error);
    must(ki_controller_start(controller, f.client, 1, &error), &error);
    assert_int_equal(ki_workqueue_add(queue, "key"), 1);
    until(&f, "kinformer_controller_stale_cache_requeues_total", "controller=\"robot\"", 2);
    assert_true(value(&f, "kinformer_controller_pending_writes", "robot") == 1);
    assert_true(value(&f, "controller_runtime_reconcile_total", "result=\"success\"") == 0);
    ki_consistency_clear(consistency, "key", NULL);
    until(&f, "controller_runtime_reconcile_total", "result=\"success\"", 1);
    assert_true(value(&f, "kinformer_controller_pending_writes", "robot") == 0);
    (void)ki_controller_close(controller);
    (void)ki_workqueue_unref(queue);
    (void)ki_consistency_unref(consistency);
    (void)ki_informer_unref(pods);
    end(&f);
}

/* ---- leader election and events ---- */

static ki_leader *start_leader(fixture *f, const char *identity)
{
    ki_error error = KI_ERROR_INIT;
    ki_leader *leader = NULL;
    must(ki_leader_new(f->client,
                       KI_OPTIONS(ki_leader_options, .name = "robot", .name_space = "default",
                                  .identity = identity, .lease_duration_ms = 20000,
                                  .renew_deadline_ms = 15000, .retry_period_ms = 50),
                       &leader, &error),
         &error);
    must(ki_leader_start(leader, &error), &error);
    return leader;
}

static void a_leader_and_a_replica_that_waits(void **state)
{
    (void)state;
    fixture f;
    ki_error error = KI_ERROR_INIT;
    begin(&f, -1);
    ki_leader *leader = start_leader(&f, "one");
    until(&f, "leader_election_master_status", "name=\"robot\"", 1);
    ki_leader *other = start_leader(&f, "two");
    assert_true(value(&f, "leader_election_master_status", "name=\"robot#2\"") == 0);
    assert_true(value(&f, "leader_election_slowpath_total", "name=\"robot\"") == 0);
    must(
        ki_apiserver_set_faults(f.server, "status=500,verb=update,resource=leases,times=1", &error),
        &error);
    until(&f, "leader_election_slowpath_total", "name=\"robot\"", 1);
    assert_true(value(&f, "leader_election_master_status", "name=\"robot\"") == 1);
    ki_leader *kept = ki_leader_ref(leader);
    (void)ki_leader_close(leader);
    assert_true(value(&f, "leader_election_master_status", "name=\"robot\"") == 0);
    (void)ki_leader_unref(kept);
    (void)ki_leader_close(other);
    assert_null(
        scraping_find(scrape(&f, KI_METRICS_PROMETHEUS), "leader_election_master_status", ""));
    end(&f);
}

static void record(ki_recorder *recorder, const char *pod, const char *reason, int times)
{
    char text[256];
    (void)snprintf(text, sizeof(text),
                   "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"namespace\":"
                   "\"default\",\"name\":\"%s\",\"uid\":\"u-%s\"}}",
                   pod, pod);
    ki_object *object = test_json(text);
    for (int i = 0; i < times; i++) {
        (void)ki_recorder_event(recorder, object, KI_EVENT_NORMAL, reason, NULL, "a note");
    }
    (void)ki_object_unref(object);
}

static void events_by_what_became_of_them(void **state)
{
    (void)state;
    static const char name[] = "kinformer_recorder_events_total";
    enum { QUEUED = 40 };
    fixture f;
    ki_error error = KI_ERROR_INIT;
    ki_recorder *recorder = NULL;
    begin(&f, -1);
    must(ki_recorder_new(f.client,
                         KI_OPTIONS(ki_recorder_options, .controller = "example.com/robot",
                                    .max_queued = QUEUED, .flush_ms = 1),
                         &recorder, &error),
         &error);
    record(recorder, "web", "Synced", 2);
    until(&f, name, "controller=\"example.com/robot\",result=\"created\"", 1);
    until(&f, name, "result=\"patched\"", 1);
    record(recorder, "web", "Synced", QUEUED);
    until(&f, name, "result=\"filtered\"", 2 + QUEUED - 25);
    must(ki_apiserver_set_faults(f.server, "status=403,resource=events,times=1", &error), &error);
    record(recorder, "db", "Synced", 1);
    until(&f, name, "result=\"failed\"", 1);
    must(ki_apiserver_set_faults(f.server, "status=503,resource=events", &error), &error);
    record(recorder, "cache", "Synced", QUEUED + 5);
    until(&f, "kinformer_recorder_queued_events", "", QUEUED - 1);
    assert_true(value(&f, name, "result=\"dropped\"") >= 4);
    (void)ki_recorder_close(recorder);
    assert_null(scraping_find(scrape(&f, KI_METRICS_PROMETHEUS), name, ""));
    end(&f);
}

/* ---- systemd ---- */

static int listen_at(const char *path, bool abstract)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t len = strlen(path);
    memcpy(address.sun_path, path, len);
    if (abstract) {
        address.sun_path[0] = '\0';
    } else {
        (void)unlink(path);
    }
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address,
                          (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)),
                     0);
    return fd;
}

static void systemd_is_notified(void **state)
{
    (void)state;
    fixture f;
    ki_error error = KI_ERROR_INIT;
    char path[100];
    char got[4096];
    begin(&f, -1);
    assert_int_equal(unsetenv("NOTIFY_SOCKET"), 0);
    assert_int_equal(ki_client_notify_systemd(f.client, NULL, &error), 0);
    for (int abstract = 0; abstract < 2; abstract++) {
        (void)snprintf(path, sizeof(path), "%s/kinformer-notify-%d", abstract != 0 ? "@x" : "/tmp",
                       (int)getpid());
        int fd = listen_at(path, abstract != 0);
        assert_int_equal(setenv("NOTIFY_SOCKET", path, 1), 0);
        must(ki_client_notify_systemd(f.client, NULL, &error), &error);
        ssize_t len = recv(fd, got, sizeof(got) - 1, 0);
        assert_true(len > 0);
        got[len] = '\0';
        if (abstract == 0) {
            assert_string_equal(got, "STATUS=0 informers synced, 0 objects\nREADY=1\nWATCHDOG=1\n");
            ki_informer *pods = NULL;
            must(ki_client_informer(f.client, KI_CORE_V1_PODS, NULL, &pods, &error), &error);
            (void)ki_informer_unref(pods);
        } else {
            assert_string_equal(got, "STATUS=informer pods: not started\nWATCHDOG=1\n");
        }
        (void)close(fd);
        (void)unlink(path);
    }
    assert_int_equal(ki_client_notify_systemd(f.client, NULL, &error), -ECONNREFUSED);
    has(error.message, "NOTIFY_SOCKET: ");
    assert_int_equal(setenv("NOTIFY_SOCKET", "vsock:2:1", 1), 0);
    assert_int_equal(ki_client_notify_systemd(f.client, NULL, &error), -EAFNOSUPPORT);
    assert_int_equal(unsetenv("NOTIFY_SOCKET"), 0);
    end(&f);
}

/* ---- all at once ---- */

static atomic_bool stop;

static void *scrape_all_the_time(void *arg)
{
    fixture *f = arg;
    ki_buf text;
    ki_buf_init(&text, NULL, TEXT_MAX);
    while (!atomic_load(&stop)) {
        ki_buf_clear(&text);
        assert_int_equal(ki_client_write_metrics(f->client, KI_METRICS_OPENMETRICS, &text, NULL),
                         0);
        assert_true(ki_client_check_ready(f->client, NULL, &text, NULL) >= 0);
        assert_true(ki_client_check_live(f->client, NULL, &text, NULL) >= 0);
    }
    ki_buf_done(&text);
    return NULL;
}

static void scrapes_while_everything_comes_and_goes(void **state)
{
    (void)state;
    fixture f;
    pthread_t threads[2];
    begin(&f, -1);
    atomic_store(&stop, false);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, scrape_all_the_time, &f), 0);
    }
    ki_informer *pods = start_pods(&f);
    for (int round = 0; round < 5; round++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "pod-%d", round);
        apply_pod(&f, name);
        ki_informer *own = NULL;
        ki_error error = KI_ERROR_INIT;
        must(ki_client_informer(f.client, KI_CORE_V1_PODS,
                                KI_OPTIONS(ki_informer_options, .label_selector = "a=b"), &own,
                                &error),
             &error);
        ki_controller *controller = start_controller(&f, name);
        ki_leader *leader = start_leader(&f, name);
        ki_recorder *recorder = NULL;
        must(ki_recorder_new(f.client, KI_OPTIONS(ki_recorder_options, .controller = name),
                             &recorder, &error),
             &error);
        until(&f, "controller_runtime_reconcile_total", name, 1);
        (void)ki_recorder_close(recorder);
        (void)ki_leader_close(leader);
        ki_informer_stop(own);
        (void)ki_informer_unref(own);
        (void)ki_controller_close(controller);
    }
    until(&f, "kinformer_informer_objects", "name=\"pods\"", 7);
    atomic_store(&stop, true);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    (void)ki_informer_unref(pods);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_by_code_and_their_times),
        cmocka_unit_test(refused_and_failed_requests),
        cmocka_unit_test(lost_history_is_a_relist),
        cmocka_unit_test(fields_of_a_newer_api),
        cmocka_unit_test(handlers_that_wait_for_a_thread),
        cmocka_unit_test(both_formats_have_the_same_families),
        cmocka_unit_test(a_buffer_that_is_too_small_keeps_its_content),
        cmocka_unit_test(ready_when_all_have_synced),
        cmocka_unit_test(a_reduced_cache_is_ready_and_says_so),
        cmocka_unit_test(a_stuck_handler_is_not_live),
        cmocka_unit_test(a_stuck_loop_is_not_live),
        cmocka_unit_test(a_controller_of_the_client),
        cmocka_unit_test(a_cache_that_is_behind_own_writes),
        cmocka_unit_test(a_leader_and_a_replica_that_waits),
        cmocka_unit_test(events_by_what_became_of_them),
        cmocka_unit_test(systemd_is_notified),
        cmocka_unit_test(scrapes_while_everything_comes_and_goes),
    };
    return cmocka_run_group_tests_name("metrics of a client", tests, NULL, NULL);
}
