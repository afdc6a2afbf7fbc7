/* SPDX-License-Identifier: Apache-2.0 */
/* A shared informer with a source of the program: two handlers and a lister on one cache. The
 * source here is a few lines of text instead of an API server. */
#include <stdio.h>
#include <string.h>

#include <kinformer/kinformer.h>
#include <kinformer/parts/engine.h>
#include <kinformer/parts/shared_informer.h>
#include <kinformer/parts/source.h>
#include <kinformer/parts/watch_event.h>

/* ---- the source: it answers when the program says so, and always inside the engine ---- */

typedef struct source {
    ki_source_sink sink;  /* of the call that is open */
    ki_engine_task *task; /* runs `next` inside the engine */
    void (*next)(struct source *s);
} source;

static void run_next(void *user)
{
    source *s = user;
    s->next(s);
}

static int source_list(const ki_list_options *options, const ki_source_sink *sink, void *user,
                       void **ret_call, ki_error *error)
{
    (void)options;
    (void)error;
    source *s = user;
    s->sink = *sink;
    *ret_call = s;
    return 0;
}

static int source_watch(const ki_list_options *options, const ki_source_sink *sink, void *user,
                        void **ret_call, ki_error *error)
{
    (void)options;
    (void)error;
    source *s = user;
    s->sink = *sink;
    *ret_call = s;
    return 0;
}

static void source_cancel(void *call, void *user)
{
    (void)call;
    (void)user; /* nothing is under way between two calls of happen() */
}

static void tell(source *s, ki_watch_event_type type, const char *json)
{
    ki_object *object = NULL;
    if (ki_object_from_json(json, strlen(json), NULL, &object, NULL) == 0) {
        s->sink.on_event(type, object, NULL, s->sink.user);
        ki_object_unref(object);
    }
}

#define POD(name, app, version)                                                     \
    "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"namespace\":\"shop\"," \
    "\"name\":\"" name "\",\"labels\":{\"app\":\"" app "\"},"                       \
    "\"resourceVersion\":\"" version "\"}}"

static void answer_list(source *s)
{
    tell(s, KI_WATCH_EVENT_ADDED, POD("front", "web", "1"));
    tell(s, KI_WATCH_EVENT_ADDED, POD("db", "sql", "2"));
    s->sink.on_end(&(ki_list_meta){.resource_version = "3", .continue_token = ""}, NULL, NULL,
                   s->sink.user);
}

static void change_front(source *s)
{
    tell(s, KI_WATCH_EVENT_MODIFIED, POD("front", "web", "4"));
}

static void delete_db(source *s)
{
    tell(s, KI_WATCH_EVENT_DELETED, POD("db", "sql", "5"));
}

/* ---- the handlers ---- */

static void on_add(const ki_object *pod, bool is_initial, void *user)
{
    printf("%s: + %s%s\n", (const char *)user, ki_object_key(pod), is_initial ? " (initial)" : "");
}

static void on_update(const ki_object *old_pod, const ki_object *pod, void *user)
{
    printf("%s: ~ %s %s -> %s\n", (const char *)user, ki_object_key(pod),
           ki_object_resource_version(old_pod), ki_object_resource_version(pod));
}

static void on_delete(const ki_object *pod, bool final_state_unknown, void *user)
{
    (void)final_state_unknown;
    printf("%s: - %s\n", (const char *)user, ki_object_key(pod));
}

static int add_handler(ki_informer *informer, const char *name, ki_error *error)
{
    ki_handler handler = {
        .on_add = on_add,
        .on_update = on_update,
        .on_delete = on_delete,
        .user = (void *)(uintptr_t)name,
    };
    return ki_informer_add_handler(informer, &handler, NULL, NULL, error);
}

static int print_web(ki_informer *informer, ki_error *error)
{
    ki_lister lister = ki_informer_lister(informer);
    ki_selector *selector = NULL;
    ki_list *web = NULL;
    int r = ki_selector_parse("app=web", NULL, &selector, error);
    if (r == 0) {
        r = ki_lister_list(&lister, "shop", selector, &web);
    }
    for (size_t i = 0; r == 0 && i < ki_list_count(web); i++) {
        printf("listed: %s\n", ki_object_key(ki_list_at(web, i)));
    }
    ki_list_unref(web);
    ki_selector_unref(selector);
    return r;
}

/* Has something happen at the source, and does all that is due. A program with other things to do
 * calls ki_engine_run() from its own loop, at ki_engine_deadline() or when the engine's `wake` says
 * so. */
static void happen(ki_engine *engine, source *s, void (*what)(source *s))
{
    if (what != NULL) {
        s->next = what;
        ki_engine_task_post(s->task);
    }
    while (ki_engine_run(engine, 0) > 0) {
    }
}

static int run(ki_engine *engine, ki_informer *informer, source *s, ki_error *error)
{
    int r = add_handler(informer, "one", error);
    if (r == 0) {
        r = ki_informer_start(informer, error);
    }
    if (r < 0) {
        return r;
    }
    happen(engine, s, NULL);        /* asks the source for a list */
    happen(engine, s, answer_list); /* then watches */
    printf("synced: %d\n", ki_informer_has_synced(informer));
    happen(engine, s, change_front);
    r = add_handler(informer, "two", error); /* late: it receives the existing objects first */
    if (r < 0) {
        return r;
    }
    happen(engine, s, delete_db);
    return print_web(informer, error);
}

int main(void)
{
    ki_error error = KI_ERROR_INIT;
    source s = {0};
    ki_source table = {
        .list = source_list,
        .watch = source_watch,
        .cancel = source_cancel,
        .no_streaming_list = true,
        .user = &s,
    };
    ki_engine *engine = NULL;
    ki_informer *informer = NULL;
    int r = ki_engine_new(
        KI_OPTIONS(ki_engine_options, .clock = ki_clock_system(), .random = ki_random_system()),
        &engine, &error);
    if (r == 0) {
        r = ki_engine_task_new(engine, run_next, &s, &s.task, &error);
    }
    if (r == 0) {
        r = ki_informer_new(KI_OPTIONS(ki_informer_options, .engine = engine, .source = &table,
                                       .resource = KI_CORE_V1_PODS),
                            &informer, &error);
    }
    if (r == 0) {
        r = run(engine, informer, &s, &error);
        ki_informer_stop(informer);
        happen(engine, &s, NULL);
    }
    if (r < 0) {
        fprintf(stderr, "%s: %s\n", ki_error_name(r), error.message);
    }
    ki_informer_unref(informer);
    ki_engine_task_unref(s.task);
    ki_engine_unref(engine);
    return r < 0 ? 1 : 0;
}
