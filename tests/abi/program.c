/* SPDX-License-Identifier: Apache-2.0 */
/* A program of 0.1 that hands each kind of struct to a library, or has it filled: tables, results,
 * errors, arrays. tests/abi/run compiles it with AddressSanitizer and runs it with a library whose
 * structs are larger. Structs are on the stack, with guards around them, and most have a `size` of
 * 0 at one place and their own at another. With --overrun it lies about the size of one. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kinformer/apiserver.h>
#include <kinformer/config.h>
#include <kinformer/diff.h>
#include <kinformer/index.h>
#include <kinformer/kinds.h>
#include <kinformer/kinformer.h>
#include <kinformer/parts/engine.h>
#include <kinformer/parts/local_source.h>
#include <kinformer/parts/pager.h>
#include <kinformer/parts/queue.h>
#include <kinformer/parts/reflector.h>
#include <kinformer/parts/shared_informer.h>
#include <kinformer/parts/simple_informer.h>
#include <kinformer/parts/source.h>
#include <kinformer/parts/store_write.h>
#include <kinformer/parts/transport.h>
#include <kinformer/rate_limiter.h>
#include <kinformer/registration.h>
#include <kinformer/status.h>
#include <kinformer/worker.h>
#include <kinformer/workqueue_stats.h>

#define CHECK(condition)                                                    \
    do {                                                                    \
        if (!(condition)) {                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            exit(1);                                                        \
        }                                                                   \
    } while (0)

static ki_object *parse(const char *json)
{
    ki_object *object = NULL;
    ki_error error = {0};
    CHECK(ki_object_from_json(json, strlen(json), NULL, &object, &error) == 0);
    return object;
}

static ki_object *thing(const char *name, int version)
{
    char json[128];
    (void)snprintf(json, sizeof(json),
                   "{\"metadata\":{\"name\":\"%s\",\"resourceVersion\":\"%d\","
                   "\"labels\":{\"app\":\"web\"}}}",
                   name, version);
    return parse(json);
}

/* ---- tables for an engine ---- */

static void *take(size_t size, void *user)
{
    ++*(size_t *)user;
    return malloc(size);
}

static void *resize(void *block, size_t size, void *user)
{
    (void)user;
    return realloc(block, size);
}

static void release_block(void *block, void *user)
{
    --*(size_t *)user;
    free(block);
}

static uint64_t monotonic_ns(void *user)
{
    return *(uint64_t *)user;
}

static int64_t realtime_ns(void *user)
{
    return (int64_t) * (uint64_t *)user;
}

static int fill(void *bytes, size_t len, void *user)
{
    (void)user;
    memset(bytes, 7, len);
    return 0;
}

static int no_thread(void (*run)(void *arg), void *arg, void *user)
{
    (void)run;
    (void)arg;
    (void)user;
    return -EAGAIN;
}

typedef struct heard {
    size_t records;
    size_t reports;
} heard;

static void hear(const ki_log_record *record, void *user)
{
    CHECK(record->size >= sizeof(*record) && record->component != NULL);
    ((heard *)user)->records += record->field_count;
}

static void on_report(const ki_report *report, void *user)
{
    CHECK(report->size >= sizeof(*report) && report->error->code < 0);
    ((heard *)user)->reports++;
}

typedef struct world {
    uint64_t now;
    size_t blocks;
    heard heard;
    ki_alloc alloc;
    ki_clock clock;
    ki_random random;
    ki_threads threads;
    ki_log log;
    ki_engine *engine;
} world;

static void begin(world *w, bool sized)
{
    *w = (world){.now = 1};
    w->alloc = (ki_alloc){.size = sized ? sizeof(ki_alloc) : 0,
                          .alloc = take,
                          .realloc = resize,
                          .free = release_block,
                          .user = &w->blocks};
    w->clock = (ki_clock){.size = sized ? sizeof(ki_clock) : 0,
                          .monotonic_ns = monotonic_ns,
                          .realtime_ns = realtime_ns,
                          .user = &w->now};
    w->random = (ki_random){.size = sized ? sizeof(ki_random) : 0, .fill = fill};
    w->threads = (ki_threads){.size = sized ? sizeof(ki_threads) : 0, .start = no_thread};
    w->log = (ki_log){.size = sized ? sizeof(ki_log) : 0,
                      .write = hear,
                      .level = KI_LOG_DEBUG,
                      .user = &w->heard};
    ki_engine_options options = {.size = sized ? sizeof(options) : 0,
                                 .alloc = &w->alloc,
                                 .clock = &w->clock,
                                 .random = &w->random,
                                 .threads = &w->threads,
                                 .log = &w->log,
                                 .on_report = on_report,
                                 .report_user = &w->heard};
    CHECK(ki_engine_new(&options, &w->engine, NULL) == 0);
}

static void end(world *w)
{
    ki_engine_unref(w->engine);
    CHECK(w->blocks == 0);
}

/* ---- a source of the program's own ---- */

typedef struct own_source {
    ki_source_sink sink;
    bool fails;
    bool listing;
    ki_engine_task *task;
} own_source;

static int start_call(const ki_list_options *options, const ki_source_sink *sink, void *user,
                      void **ret_call, ki_error *error)
{
    own_source *own = user;
    (void)error;
    CHECK(options->size >= sizeof(*options) && sink->size >= sizeof(*sink));
    own->sink = *sink; /* as much as this program knows */
    *ret_call = own;
    ki_engine_task_post(own->task);
    return 0;
}

static void answer(void *user)
{
    own_source *own = user;
    ki_error error = {0};
    ki_list_meta meta = {.resource_version = "3", .continue_token = "", .remaining = -1};
    error.code = -ECONNRESET;
    (void)snprintf(error.message, sizeof(error.message), "cut");
    if (own->fails) {
        own->sink.on_end(NULL, &error, NULL, own->sink.user);
        return;
    }
    ki_object *object = thing("a", 3);
    own->sink.on_event(KI_WATCH_EVENT_ADDED, object, NULL, own->sink.user);
    own->sink.on_skipped(KI_WATCH_EVENT_ADDED, "b", "3", &error, own->sink.user);
    own->sink.on_end(&meta, NULL, NULL, own->sink.user);
    ki_object_unref(object);
}

static void no_cancel(void *call, void *user)
{
    (void)call;
    (void)user;
}

static void on_listed(ki_pager *pager, const ki_pager_result *result, void *user)
{
    (void)pager;
    CHECK(result->size >= sizeof(*result));
    if (result->error != NULL) {
        CHECK(result->error->code == -ECONNRESET && strcmp(result->error->message, "cut") == 0);
    } else {
        CHECK(result->list->size >= sizeof(ki_replacement) && result->list->object_count == 1);
    }
    ++*(int *)user;
}

static void list_own_source(world *w)
{
    own_source own = {0};
    int ended = 0;
    CHECK(ki_engine_task_new(w->engine, answer, &own, &own.task, NULL) == 0);
    for (int i = 0; i < 2; i++) {
        ki_pager *pager = NULL;
        own.fails = i != 0;
        ki_source source = {.list = start_call, .watch = start_call, .cancel = no_cancel};
        source.size = i != 0 ? sizeof(source) : 0;
        source.user = &own;
        ki_pager_options options = {
            .engine = w->engine, .source = &source, .on_end = on_listed, .user = &ended};
        CHECK(ki_pager_start(&options, &pager, NULL) == 0);
        while (ended == i) {
            CHECK(ki_engine_run(w->engine, 0) != 0);
        }
        ki_pager_unref(pager);
    }
    ki_engine_task_unref(own.task);
    CHECK(w->heard.reports != 0);
}

/* ---- a transport of the program's own ---- */

static int refuse(const ki_http_request *request, const ki_http_sink *sink, void *user,
                  void **ret_call, ki_error *error)
{
    (void)ret_call;
    CHECK(request->size >= sizeof(*request) && sink->size >= sizeof(*sink));
    CHECK(strcmp(request->path, "/api/v1/pods") == 0 && sink->on_end != NULL);
    error->code = -ECONNREFUSED;
    (void)snprintf(error->message, sizeof(error->message), "nobody there");
    ++*(int *)user;
    return -ECONNREFUSED;
}

static void use_transport(world *w)
{
    int started = 0;
    ki_transport transport = {.start = refuse, .cancel = no_cancel, .user = &started};
    ki_source source = {0};
    ki_source_http_options options = {
        .engine = w->engine, .transport = &transport, .resource = KI_CORE_V1_PODS};
    CHECK(ki_source_http_new(&options, &source, NULL) == 0);
    ki_list_options list = {0};
    void *call = NULL;
    ki_error error = {0};
    ki_source_sink sink = {0};
    int r = source.list(&list, &sink, source.user, &call, &error);
    CHECK(r == -ECONNREFUSED && strcmp(error.message, "nobody there") == 0 && started == 1);
    source.destroy(source.user);
}

/* ---- an informer ---- */

typedef struct counts {
    int added;
    int changes;
    int destroyed;
} counts;

static void on_add(const ki_object *object, bool is_initial, void *user)
{
    (void)object;
    (void)is_initial;
    ((counts *)user)->added++;
}

static void on_change(const ki_change *change, void *user)
{
    CHECK(change->size >= sizeof(*change) && strcmp(ki_change_name(change), "added") == 0);
    ((counts *)user)->changes++;
}

static void on_destroy(void *user)
{
    ((counts *)user)->destroyed++;
}

static int values_of(const ki_object *object, ki_index_values *values, void *user)
{
    (void)user;
    return ki_index_values_add(values, ki_str_from(ki_object_name(object)));
}

static void put(ki_local_source *local, const char *name, int version)
{
    ki_object *object = thing(name, version);
    CHECK(ki_local_source_put(local, object, NULL) == 0);
    ki_object_unref(object);
}

static void add_handlers(ki_informer *informer, counts *c, ki_registration **ret_registration)
{
    ki_handler handler = {.on_add = on_add, .user = c, .destroy = on_destroy};
    ki_handler_options options = {.delivery = KI_DELIVERY_LOOP};
    CHECK(ki_informer_add_handler(informer, &handler, &options, ret_registration, NULL) == 0);
    ki_handler changes = {
        .size = sizeof(changes), .on_change = on_change, .user = c, .destroy = on_destroy};
    CHECK(ki_informer_add_handler(informer, &changes, &options, NULL, NULL) == 0);
}

static void use_informer(world *w)
{
    ki_local_source *local = NULL;
    ki_informer *informer = NULL;
    ki_registration *registration = NULL;
    counts c = {0};
    ki_source source = {0};
    ki_index by_label = {0};
    ki_index by_name = {.size = sizeof(by_name), .name = "name", .values = values_of};
    const ki_index *const indexes[] = {&by_label, &by_name};
    CHECK(ki_local_source_new(&(ki_local_source_options){.engine = w->engine}, &local, NULL) == 0);
    put(local, "a", 1);
    CHECK(ki_local_source_table(local, &source) == 0);
    CHECK(ki_index_by_label("app", "app", NULL, &by_label) == 0);
    ki_informer_options options = {
        .engine = w->engine, .source = &source, .indexes = indexes, .index_count = 2};
    CHECK(ki_informer_new(&options, &informer, NULL) == 0);
    add_handlers(informer, &c, &registration);
    CHECK(ki_informer_start(informer, NULL) == 0);
    ki_engine_run(w->engine, 0);
    put(local, "b", 2);
    ki_engine_run(w->engine, 0);
    CHECK(c.added == 2 && c.changes == 2);
    ki_registration_stats stats = {0};
    CHECK(ki_registration_get_stats(registration, &stats) == 0 && stats.delivered >= 2);
    ki_health health = {0};
    ki_error reason = {0};
    CHECK(ki_informer_get_health(informer, &health, &reason) == 0 && health.objects == 2);
    ki_error failure = {.code = -EIO};
    CHECK(ki_local_source_fail(local, &failure) == 0);
    ki_engine_run(w->engine, 0);
    CHECK(ki_informer_get_health(informer, &health, &reason) == 0 && reason.code == -EIO);
    ki_informer_stop(informer);
    ki_engine_run(w->engine, 0);
    CHECK(ki_informer_is_stopped(informer) && c.destroyed == 2);
    ki_registration_unref(registration);
    ki_informer_unref(informer);
    ki_local_source_unref(local);
}

static void use_reflector(world *w)
{
    ki_local_source *local = NULL;
    ki_store *store = NULL;
    ki_reflector *reflector = NULL;
    ki_source source = {0};
    ki_reflector_target target = {0};
    CHECK(ki_local_source_new(&(ki_local_source_options){.engine = w->engine}, &local, NULL) == 0);
    put(local, "a", 1);
    CHECK(ki_store_new(NULL, &store, NULL) == 0);
    CHECK(ki_local_source_table(local, &source) == 0);
    CHECK(ki_reflector_target_store(store, &target) == 0);
    ki_reflector_options options = {.engine = w->engine, .source = &source, .target = &target};
    CHECK(ki_reflector_new(&options, &reflector, NULL) == 0);
    CHECK(ki_reflector_start(reflector) == 0);
    ki_engine_run(w->engine, 0);
    ki_health health = {0};
    CHECK(ki_reflector_get_health(reflector, &health, NULL) == 0 && health.synced);
    ki_reflector_stop(reflector);
    ki_engine_run(w->engine, 0);
    ki_reflector_unref(reflector);
    ki_store_unref(store);
    ki_local_source_unref(local);
}

/* ---- queues ---- */

static void on_left_out(const char *component, ki_str key, const ki_error *error, void *user)
{
    (void)component;
    (void)key;
    CHECK(error->code == KI_ERR_KEY);
    ++*(int *)user;
}

static int look_at(const ki_deltas *deltas, void *user)
{
    (void)user;
    CHECK(deltas->size >= sizeof(*deltas) && deltas->count == 2);
    for (size_t i = 0; i < deltas->count; i++) {
        const ki_delta *delta = ki_deltas_at(deltas, i);
        CHECK(delta->size >= sizeof(*delta) && delta->type == KI_DELTA_ADDED);
        CHECK(ki_delta_key(delta).ptr[0] == "ab"[i]);
    }
    return KI_POP_DONE;
}

static int look_at_list(const ki_deltas *deltas, void *user)
{
    (void)user;
    CHECK(ki_deltas_at(deltas, 0)->replaced->object_count == 1);
    return KI_POP_DONE;
}

static void use_queue(void)
{
    ki_queue *queue = NULL;
    int left_out = 0;
    ki_error_hook hook = {.report = on_left_out, .user = &left_out};
    ki_queue_options options = {.on_error = &hook};
    CHECK(ki_fifo_new(&options, &queue, NULL) == 0);
    ki_object *a = thing("a", 1);
    ki_object *b = thing("b", 2);
    ki_object *nameless = parse("{}");
    ki_error error = {0};
    CHECK(ki_queue_add(queue, a, &error) == 0 && ki_queue_add(queue, b, &error) == 0);
    CHECK(ki_queue_poll(queue, 0, look_at, NULL) == 2);
    const ki_object *const objects[] = {a, nameless};
    ki_replacement list = {.objects = objects, .object_count = 2, .resource_version = "3"};
    CHECK(ki_queue_replace(queue, &list, &error) == 1 && left_out == 1);
    CHECK(ki_queue_poll(queue, 0, look_at_list, NULL) == 1);
    CHECK(ki_queue_add(queue, nameless, &error) == KI_ERR_KEY && error.code == KI_ERR_KEY);
    ki_object_unref(a);
    ki_object_unref(b);
    ki_object_unref(nameless);
    ki_queue_unref(queue);
}

static uint64_t own_when(ki_str key, uint64_t now_ns, void *user)
{
    (void)key;
    (void)now_ns;
    (void)user;
    return 0;
}

static void own_forget(ki_str key, void *user)
{
    (void)key;
    (void)user;
}

static uint32_t own_requeues(ki_str key, void *user)
{
    (void)key;
    (void)user;
    return 3;
}

static void use_workqueue(void)
{
    ki_workqueue *queue = NULL;
    ki_rate_limiter own = {.when = own_when, .forget = own_forget, .requeues = own_requeues};
    ki_rate_limiter usual = {0};
    ki_rate_limiter both = {.size = sizeof(both)};
    CHECK(ki_rate_limiter_default(NULL, &usual) == 0);
    const ki_rate_limiter *const limiters[] = {&own, &usual};
    CHECK(ki_rate_limiter_max_of(limiters, 2, NULL, &both) == 0);
    ki_workqueue_options options = {.clock = ki_clock_system(), .limiter = &both};
    CHECK(ki_workqueue_new(&options, &queue, NULL) == 0);
    CHECK(ki_workqueue_add(queue, "a") == 1);
    CHECK(ki_workqueue_requeues(queue, "a") == 3);
    ki_workqueue_stats stats = {0};
    CHECK(ki_workqueue_get_stats(queue, &stats) == 0 && stats.adds == 1);
    ki_workqueue_unref(queue);
    CHECK(ki_rate_limiter_default(NULL, &usual) == 0);
    ki_rate_limiter_done(&usual);
    CHECK(usual.when == NULL);
    ki_index index = {0};
    CHECK(ki_index_by_label("app", "app", NULL, &index) == 0);
    ki_index_done(&index);
    CHECK(index.values == NULL && ki_index_by_namespace(&index) == 0);
}

/* ---- objects ---- */

static void read_objects(void)
{
    ki_object *pod =
        parse("{\"metadata\":{\"name\":\"p\",\"ownerReferences\":[{\"name\":\"web\","
              "\"kind\":\"ReplicaSet\",\"controller\":true}]},\"status\":{\"replicas\":"
              "4},\"spec\":{\"group\":\"g\"},\"involvedObject\":{\"name\":\"i\"}}");
    ki_object *other = parse("{\"metadata\":{\"name\":\"p\"}}");
    ki_owner owner = {0};
    CHECK(ki_object_controller(pod, &owner) == 0 && ki_str_eq_text(owner.name, "web"));
    ki_replicas replicas = {0};
    CHECK(ki_deployment_replicas(pod, &replicas) == 0 && replicas.total == 4);
    ki_reference involved = {0};
    CHECK(ki_event_involved(pod, &involved) == 0 && ki_str_eq_text(involved.name, "i"));
    ki_crd crd = {0};
    CHECK(ki_crd_of(pod, &crd) == 0 && ki_str_eq_text(crd.group, "g"));
    ki_diff *diff = NULL;
    CHECK(ki_object_diff(pod, other, NULL, &diff, NULL) == 0 && ki_diff_count(diff) > 0);
    CHECK(ki_diff_at(diff, 0)->size >= sizeof(ki_diff_change));
    ki_diff_unref(diff);
    ki_object_unref(other);
    ki_object_unref(pod);
    ki_object *status = parse("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"code\":403,\"reason\":"
                              "\"Forbidden\",\"details\":{\"causes\":[{\"field\":\"spec\"}]}}");
    ki_error error = {0};
    ki_status_cause cause = {0};
    CHECK(ki_status_to_error(status, &error) == KI_ERR_STATUS && ki_error_is_forbidden(&error));
    CHECK(ki_status_cause_at(status, 0, &cause) == 0);
    CHECK(ki_value_equals(&cause.field, ki_str_from("spec")));
    ki_object_unref(status);
    CHECK(ki_object_from_json("{", 1, NULL, &pod, &error) < 0 && error.line == 1);
    CHECK(ki_status_from_http(500, "GET", "pods", "p", ki_str_from("no"), 1, &error) < 0);
    CHECK(error.retry_after_ms == 1);
}

static const char *variable(const char *name, void *user)
{
    (void)name;
    (void)user;
    return NULL;
}

static void load_config(void)
{
    static const char text[] = "current-context: c\n"
                               "contexts: [{name: c, context: {cluster: c, user: u}}]\n"
                               "clusters: [{name: c, cluster: {server: 'https://h'}}]\n"
                               "users: [{name: u, user: {token: t, as: other}}]\n";
    ki_config_environment environment = {.get = variable};
    ki_config_options options = {.text = ki_str_from(text), .environment = &environment};
    ki_config *config = NULL;
    ki_error error = {0};
    CHECK(ki_config_load(&options, &config, &error) == 0);
    CHECK(ki_config_get_tls(config)->size >= sizeof(ki_config_tls));
    CHECK(ki_str_eq_text(ki_config_get_credentials(config)->token, "t"));
    CHECK(strcmp(ki_config_get_impersonation(config)->user, "other") == 0);
    CHECK(ki_config_get_exec(config) == NULL);
    config = ki_config_unref(config);
    options.text = ki_str_from("a: [");
    CHECK(ki_config_load(&options, &config, &error) < 0 && error.line != 0);
}

/* ---- requests ---- */

static int source_of(const ki_resource *resource, const char *name_space, void *user,
                     ki_source *ret_source, ki_error *error)
{
    (void)resource;
    (void)name_space;
    (void)error;
    *ret_source = (ki_source){.list = start_call, .watch = start_call, .cancel = no_cancel};
    ret_source->user = user;
    return 0;
}

static void use_factory(world *w)
{
    own_source own = {0};
    ki_factory *factory = NULL;
    ki_informer *informer = NULL;
    ki_factory_options options = {.engine = w->engine, .make_source = source_of, .user = &own};
    CHECK(ki_factory_new(&options, &factory, NULL) == 0);
    CHECK(ki_factory_informer(factory, KI_CORE_V1_PODS, NULL, &informer, NULL) == 0);
    ki_factory_unref(factory);
}

static void make_requests(void)
{
    ki_apiserver *server = NULL;
    ki_client *client = NULL;
    ki_error error = {0};
    ki_apiserver_options options = {.any_namespace = true};
    CHECK(ki_apiserver_new(&options, &server, &error) == 0);
    CHECK(ki_apiserver_client(server, NULL, &client, &error) == 0);
    ki_response response = {0};
    ki_request request = {.verb = KI_VERB_GET,
                          .resource = KI_CORE_V1_CONFIGMAPS,
                          .name_space = "shop",
                          .name = "none"};
    CHECK(ki_client_do(client, &request, &response, &error) < 0);
    CHECK(error.http_code == 404 && response.http_code == 404 && response.object != NULL);
    ki_response_done(&response);
    CHECK(response.object == NULL);
    request.verb = KI_VERB_LIST;
    request.name = NULL;
    response.size = sizeof(response);
    CHECK(ki_client_do(client, &request, &response, NULL) == 0 && response.list != NULL);
    ki_response_done(&response);
    ki_apiserver_stats stats = {0};
    CHECK(ki_apiserver_get_stats(server, &stats) == 0 && stats.requests >= 2);
    (void)ki_client_close(client);
    ki_apiserver_unref(server);
}

/* The library believes the size, and reads what is not there. */
static int overrun(void)
{
    ki_queue_options options = {.size = sizeof(options) + 3 * sizeof(uint64_t)};
    ki_queue *queue = NULL;
    int r = ki_fifo_new(&options, &queue, NULL);
    ki_queue_unref(queue);
    return r < 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--overrun") == 0) {
        return overrun();
    }
    for (int sized = 0; sized < 2; sized++) {
        world w;
        begin(&w, sized != 0);
        list_own_source(&w);
        use_transport(&w);
        use_informer(&w);
        use_reflector(&w);
        use_factory(&w);
        end(&w);
    }
    use_queue();
    use_workqueue();
    read_objects();
    load_config();
    make_requests();
    return 0;
}
