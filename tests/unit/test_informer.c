/* SPDX-License-Identifier: Apache-2.0 */
/* The shared informer: one cache, many handlers.  threads: yes */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <kinformer/encoding.h>
#include <kinformer/health.h>
#include <kinformer/index.h>
#include <kinformer/informer.h>
#include <kinformer/parts/shared_informer.h>
#include <kinformer/parts/source.h>
#include <kinformer/status.h>

#include "base/engine.h"
#include "support/objects.h"
#include "support/test.h"
#include "support/world.h"

/* ---- a source whose answers are written by hand ---- */

typedef struct fake_call {
    ki_source_sink sink;
    bool open;
    bool watch;
    bool initial_events;
} fake_call;

typedef struct fixture {
    test_alloc alloc;
    test_world world;
    ki_engine *engine;
    fake_call call; /* the one that is open */
    int lists;
    int watches;
    int source_destroyed;
    bool paused;
    ki_informer *informer;
    int reports;
    char last_report[128];
    int watch_errors;
} fixture;

static int begin_call(fixture *f, const ki_source_sink *sink, bool watch, bool initial_events,
                      void **ret_call)
{
    assert_false(f->call.open); /* one thing at a time */
    f->call =
        (fake_call){.sink = *sink, .open = true, .watch = watch, .initial_events = initial_events};
    *ret_call = &f->call;
    return 0;
}

static int fake_list(const ki_list_options *options, const ki_source_sink *sink, void *user,
                     void **ret_call, ki_error *error)
{
    (void)options;
    (void)error;
    fixture *f = user;
    f->lists++;
    return begin_call(f, sink, false, false, ret_call);
}

static int fake_watch(const ki_list_options *options, const ki_source_sink *sink, void *user,
                      void **ret_call, ki_error *error)
{
    (void)error;
    fixture *f = user;
    f->watches++;
    return begin_call(f, sink, true, options->send_initial_events, ret_call);
}

static void fake_cancel(void *call, void *user)
{
    (void)user;
    ((fake_call *)call)->open = false;
}

static void fake_pause(void *call, bool paused, void *user)
{
    (void)call;
    ((fixture *)user)->paused = paused;
}

static void fake_destroy(void *user)
{
    ((fixture *)user)->source_destroyed++;
}

/* What the source says happens inside the engine, as everything does. */
typedef struct say_task {
    ki__task task;
    fixture *f;
    ki_watch_event_type type;
    const ki_object *object;
    const ki_list_meta *meta; /* the end of a list */
} say_task;

static void run_say(ki__task *task)
{
    say_task *say = KI__CONTAINER_OF(task, say_task, task);
    fake_call *call = &say->f->call;
    assert_true(call->open);
    if (say->meta != NULL) {
        call->open = false;
        call->sink.on_end(say->meta, NULL, NULL, call->sink.user);
    } else {
        call->sink.on_event(say->type, say->object, NULL, call->sink.user);
    }
}

static void say(fixture *f, ki_watch_event_type type, const ki_object *object,
                const ki_list_meta *meta)
{
    say_task task = {.f = f, .type = type, .object = object, .meta = meta};
    ki__task_init(&task.task, run_say);
    (void)ki__engine_post(f->engine, &task.task);
    test_world_settle(f->engine);
}

static void say_pod(fixture *f, ki_watch_event_type type, const char *name, unsigned version,
                    const char *group)
{
    ki_object *object = test_pod(&f->alloc.table, "ns", name, version, group);
    assert_non_null(object);
    say(f, type, object, NULL);
    (void)ki_object_unref(object);
}

static void end_list(fixture *f, const char *version)
{
    ki_list_meta meta = {.resource_version = version, .continue_token = "", .remaining = -1};
    say(f, KI_WATCH_EVENT_ADDED, NULL, &meta);
}

/* ---- a handler that writes down what it hears ---- */

typedef struct ear {
    fixture *f;
    char heard[512];
    int destroyed;
    int synced;
    void (*inside)(struct ear *ear);
    ki_registration *reg;
} ear;

static void hear(ear *e, const char *mark, const ki_object *object)
{
    size_t len = strlen(e->heard);
    int more = snprintf(e->heard + len, sizeof(e->heard) - len, "%s%s%s ", mark,
                        ki_object_name(object), ki_object_resource_version(object));
    assert_true(more > 0 && len + (size_t)more < sizeof(e->heard));
    if (e->inside != NULL) {
        e->inside(e);
    }
}

static void ear_add(const ki_object *object, bool is_initial, void *user)
{
    ear *e = user;
    hear(e, is_initial ? "*" : "+", object);
}

static void ear_update(const ki_object *old_object, const ki_object *object, void *user)
{
    ear *e = user;
    hear(e, old_object == object ? "=" : "~", object);
}

static void ear_delete(const ki_object *object, bool final_state_unknown, void *user)
{
    ear *e = user;
    hear(e, final_state_unknown ? "?" : "-", object);
}

static void ear_destroy(void *user)
{
    ((ear *)user)->destroyed++;
}

static void ear_synced(void *user)
{
    ((ear *)user)->synced++;
}

static ki_handler handler_of(ear *e)
{
    return (ki_handler){.on_add = ear_add,
                        .on_update = ear_update,
                        .on_delete = ear_delete,
                        .user = e,
                        .destroy = ear_destroy};
}

static int try_listen(ear *e, fixture *f, const ki_handler_options *options)
{
    ki_handler handler = handler_of(e);
    e->f = f;
    return ki_informer_add_handler(f->informer, &handler, options, &e->reg, NULL);
}

static void listen_with(ear *e, fixture *f, ki_handler_options options)
{
    *e = (ear){0};
    options.on_synced = ear_synced;
    options.user = e;
    assert_int_equal(try_listen(e, f, &options), 0);
}

static void listen(ear *e, fixture *f)
{
    listen_with(e, f, KI_OPTIONS_INIT(ki_handler_options));
}

static void expect(ear *e, const char *want)
{
    assert_string_equal(e->heard, want);
    e->heard[0] = '\0';
}

/* ---- the fixture ---- */

static void on_report(const ki_report *report, void *user)
{
    fixture *f = user;
    f->reports++;
    (void)snprintf(f->last_report, sizeof(f->last_report), "%s/%s/%.*s", report->component,
                   report->name, (int)report->key.len, report->key.ptr);
}

static void begin_engine(fixture *f)
{
    *f = (fixture){0};
    test_alloc_init(&f->alloc);
    test_world_init(&f->world);
    ki_engine_options options = test_world_engine_options(&f->world, &f->alloc.table);
    options.on_report = on_report;
    options.report_user = f;
    assert_int_equal(ki_engine_new(&options, &f->engine, NULL), 0);
}

static ki_source source_of(fixture *f)
{
    return (ki_source){
        .list = fake_list,
        .watch = fake_watch,
        .cancel = fake_cancel,
        .pause = fake_pause,
        .no_streaming_list = true,
        .user = f,
        .destroy = fake_destroy,
    };
}

static ki_informer_options options_of(fixture *f, const ki_source *source)
{
    ki_informer_options options = KI_OPTIONS_INIT(ki_informer_options);
    options.engine = f->engine;
    options.source = source;
    options.name = "pods";
    return options;
}

/* With callbacks, each of which may be NULL. */
static void begin_calling(fixture *f, ki_transform transform, ki_watch_error_handler on_watch_error)
{
    begin_engine(f);
    ki_source source = source_of(f);
    ki_informer_options options = options_of(f, &source);
    options.transform = transform;
    options.transform_user = f;
    options.on_watch_error = on_watch_error;
    options.watch_error_user = f;
    assert_int_equal(ki_informer_new(&options, &f->informer, NULL), 0);
}

static void begin_with(fixture *f, ki_queue_kind queue, uint32_t resync_ms)
{
    begin_engine(f);
    ki_source source = source_of(f);
    ki_informer_options options = options_of(f, &source);
    options.queue = queue;
    options.resync_ms = resync_ms;
    options.check_mutations = true;
    assert_int_equal(ki_informer_new(&options, &f->informer, NULL), 0);
}

static void begin(fixture *f)
{
    begin_with(f, KI_QUEUE_FIFO, 0);
}

static void start(fixture *f)
{
    assert_int_equal(ki_informer_start(f->informer, NULL), 0);
    test_world_settle(f->engine);
    assert_true(f->call.open);
}

/* Started and synced with the pods a1 and b1. */
static void begin_synced(fixture *f)
{
    begin(f);
    start(f);
    say_pod(f, KI_WATCH_EVENT_ADDED, "a", 1, "g");
    say_pod(f, KI_WATCH_EVENT_ADDED, "b", 1, "g");
    end_list(f, "10");
    assert_true(ki_informer_has_synced(f->informer));
}

static void end(fixture *f)
{
    ki_informer_stop(f->informer);
    test_world_settle(f->engine);
    assert_true(ki_informer_is_stopped(f->informer));
    assert_false(f->call.open);
    f->informer = ki_informer_unref(f->informer);
    test_world_settle(f->engine);
    (void)ki_engine_unref(f->engine);
    test_alloc_done(&f->alloc);
    assert_int_equal(f->source_destroyed, 1);
}

/* ---- tests ---- */

static void handlers_receive_the_first_list_and_changes(void **state)
{
    (void)state;
    fixture f;
    ear one;
    begin(&f);
    listen(&one, &f);
    start(&f);
    say_pod(&f, KI_WATCH_EVENT_ADDED, "a", 1, "g");
    say_pod(&f, KI_WATCH_EVENT_ADDED, "b", 1, "g");
    expect(&one, "");
    assert_false(ki_informer_has_synced(f.informer));
    end_list(&f, "10");
    expect(&one, "*a1 *b1 ");
    assert_int_equal(one.synced, 1);
    assert_true(ki_registration_has_synced(one.reg));
    say_pod(&f, KI_WATCH_EVENT_MODIFIED, "a", 11, "g");
    say_pod(&f, KI_WATCH_EVENT_ADDED, "c", 12, "g");
    say_pod(&f, KI_WATCH_EVENT_DELETED, "b", 13, "g");
    expect(&one, "~a11 +c12 -b13 ");
    char version[64];
    assert_int_equal(ki_informer_last_sync_resource_version(f.informer, version, sizeof(version)),
                     2);
    assert_string_equal(version, "13");
    (void)ki_registration_unref(one.reg);
    end(&f);
    assert_int_equal(one.destroyed, 1);
}

static void a_late_handler_receives_the_cache_and_then_the_same_events_as_all(void **state)
{
    (void)state;
    fixture f;
    ear one;
    ear late;
    begin_synced(&f);
    listen(&one, &f);
    test_world_settle(f.engine);
    expect(&one, "*a1 *b1 ");
    say_pod(&f, KI_WATCH_EVENT_MODIFIED, "a", 11, "g");
    listen(&late, &f);
    say_pod(&f, KI_WATCH_EVENT_DELETED, "a", 12, "g");
    expect(&one, "~a11 -a12 ");
    expect(&late, "*a11 *b1 -a12 ");
    assert_int_equal(late.synced, 1);
    ki_registration_remove(one.reg);
    say_pod(&f, KI_WATCH_EVENT_ADDED, "d", 13, "g");
    expect(&one, "");
    expect(&late, "+d13 ");
    assert_int_equal(one.destroyed, 1);
    (void)ki_registration_unref(one.reg);
    (void)ki_registration_unref(late.reg);
    end(&f);
}

/* The watch ends with an error that means: list again. */
static void list_again(fixture *f)
{
    ki_error gone = {.code = KI_ERR_STATUS, .http_code = 410, .reason = KI_REASON_EXPIRED};
    fake_call call = f->call;
    int lists = f->lists;
    f->call.open = false;
    call.sink.on_end(NULL, &gone, NULL, call.sink.user);
    test_world_advance(&f->world, f->engine, 60 * TEST_SECOND);
    assert_int_equal(f->lists, lists + 1);
}

static void a_relist_delivers_its_changes_and_nothing_else(void **state)
{
    (void)state;
    fixture f;
    ear one;
    ear all;
    begin_synced(&f);
    listen(&one, &f);
    ki_handler_options options = KI_OPTIONS_INIT(ki_handler_options);
    options.deliver_unchanged = true;
    listen_with(&all, &f, options);
    test_world_settle(f.engine);
    one.heard[0] = '\0';
    all.heard[0] = '\0';
    list_again(&f);
    say_pod(&f, KI_WATCH_EVENT_ADDED, "c", 20, "g");
    say_pod(&f, KI_WATCH_EVENT_ADDED, "a", 1, "g");
    end_list(&f, "30");
    expect(&one, "?b1 +c20 ");
    expect(&all, "?b1 +c20 =a1 ");
    (void)ki_registration_unref(one.reg);
    (void)ki_registration_unref(all.reg);
    end(&f);
}

static void say_of_kind(fixture *f, const char *kind, const char *api_version, const char *name,
                        unsigned version)
{
    char json[256];
    (void)snprintf(json, sizeof(json),
                   "{'kind':'%s','apiVersion':'%s','metadata':{'namespace':'ns','name':'%s',"
                   "'resourceVersion':'%u'}}",
                   kind, api_version, name, version);
    ki_object *object = test_object(&f->alloc.table, json);
    say(f, KI_WATCH_EVENT_ADDED, object, NULL);
    (void)ki_object_unref(object);
}

/* Events that are not what the source is known to give are left out. */
static void receive_metadata(bool metadata_only, const char *wanted)
{
    fixture f;
    ear one;
    begin_engine(&f);
    ki_source source = source_of(&f);
    source.metadata_only = metadata_only;
    ki_informer_options options = options_of(&f, &source);
    options.resource = KI_CORE_V1_PODS;
    assert_int_equal(ki_informer_new(&options, &f.informer, NULL), 0);
    listen(&one, &f);
    start(&f);
    end_list(&f, "10");
    say_of_kind(&f, "PartialObjectMetadata", "meta.k8s.io/v1", "a", 11);
    say_of_kind(&f, "Pod", "v1", "b", 12);
    expect(&one, wanted);
    one.reg = ki_registration_unref(one.reg);
    end(&f);
}

static void a_source_of_metadata_gives_no_whole_objects_and_others_no_metadata(void **state)
{
    (void)state;
    receive_metadata(true, "+a11 ");
    receive_metadata(false, "+b12 ");
}

static void both_kinds_of_queue_deliver_the_same(void **state)
{
    (void)state;
    fixture f;
    ear one;
    begin_with(&f, KI_QUEUE_DELTA_FIFO, 0);
    listen(&one, &f);
    start(&f);
    say_pod(&f, KI_WATCH_EVENT_ADDED, "a", 1, "g");
    say_pod(&f, KI_WATCH_EVENT_ADDED, "b", 1, "g");
    end_list(&f, "10");
    say_pod(&f, KI_WATCH_EVENT_MODIFIED, "a", 11, "g");
    say_pod(&f, KI_WATCH_EVENT_DELETED, "b", 13, "g");
    expect(&one, "*a1 *b1 ~a11 -b13 ");
    assert_int_equal(one.synced, 1);
    (void)ki_registration_unref(one.reg);
    end(&f);
}

static bool stops_when_woken;

static void stop_when_woken(void *user)
{
    if (stops_when_woken) {
        ki_informer_stop(((ear *)user)->f->informer);
    }
}

/* Threads sleep on for a while after a batch. Here one waits in ki_registration_run(), so to speak,
 * while another handler stops the informer as soon as it can receive that batch. */
static void a_stop_does_not_forget_who_was_to_be_woken_later(void **state)
{
    (void)state;
    fixture f;
    ear sleeper;
    ear other;
    begin_synced(&f);
    ki_handler_options options = KI_OPTIONS_INIT(ki_handler_options);
    options.delivery = KI_DELIVERY_CALLER;
    listen_with(&sleeper, &f, options);
    options.wake = stop_when_woken;
    listen_with(&other, &f, options);
    assert_true(ki_registration_dispatch(sleeper.reg, 0) > 0);
    assert_true(ki_registration_dispatch(other.reg, 0) > 0);
    stops_when_woken = true;
    say_pod(&f, KI_WATCH_EVENT_MODIFIED, "a", 11, "g");
    stops_when_woken = false;
    assert_true(ki_informer_is_stopped(f.informer));
    (void)ki_registration_unref(sleeper.reg);
    (void)ki_registration_unref(other.reg);
    end(&f); /* which finds what was left behind */
}

static void the_store_has_a_change_before_the_handler_receives_it(void **state)
{
    (void)state;
    fixture f;
    begin_synced(&f);
    ki_lister lister = ki_informer_lister(f.informer);
    ki_object *object = NULL;
    assert_int_equal(ki_lister_get(&lister, "ns", "a", &object, NULL), 0);
    assert_string_equal(ki_object_resource_version(object), "1");
    (void)ki_object_unref(object);
    ki_error error = KI_ERROR_INIT;
    assert_int_equal(ki_lister_get(&lister, "ns", "x", &object, &error), KI_ERR_NOT_FOUND);
    assert_true(ki_error_is_not_found(&error));
    assert_string_equal(ki_informer_name(f.informer), "pods");
    assert_null(ki_informer_resource(f.informer));
    end(&f);
}

static int to_group_t(const ki_object *object, ki_object **ret_object, void *user)
{
    fixture *f = user;
    unsigned version = (unsigned)(ki_object_resource_version(object)[0] - '0');
    *ret_object = test_pod(&f->alloc.table, "ns", ki_object_name(object), version, "t");
    return *ret_object != NULL ? 0 : -ENOMEM;
}

static void count_watch_error(ki_informer *informer, const ki_watch_failure *failure, void *user)
{
    fixture *f = user;
    assert_ptr_equal(informer, f->informer);
    assert_int_equal(failure->error->http_code, 403);
    f->watch_errors++;
}

static bool is_in_group(fixture *f, const char *key, const char *group)
{
    ki_object *object = ki_store_get(ki_informer_store(f->informer), key);
    bool is = ki_object_label_is(object, "group", group);
    (void)ki_object_unref(object);
    return is;
}

static void a_transform_changes_what_is_kept(void **state)
{
    (void)state;
    fixture f;
    begin_calling(&f, to_group_t, NULL);
    start(&f);
    say_pod(&f, KI_WATCH_EVENT_ADDED, "a", 1, "g");
    end_list(&f, "1");
    assert_true(is_in_group(&f, "ns/a", "t"));
    say_pod(&f, KI_WATCH_EVENT_ADDED, "b", 2, "g");
    assert_true(is_in_group(&f, "ns/b", "t"));
    end(&f);
}

static void failed_requests_are_reported_to_the_watch_error_handler(void **state)
{
    (void)state;
    fixture f;
    begin_calling(&f, NULL, count_watch_error);
    start(&f);
    ki_error forbidden = {.code = KI_ERR_STATUS, .http_code = 403, .reason = KI_REASON_FORBIDDEN};
    f.call.open = false;
    f.call.sink.on_end(NULL, &forbidden, NULL, f.call.sink.user);
    assert_int_equal(f.watch_errors, 1);
    end(&f);
}

/* ---- resyncs ---- */

static ki_handler_options every(uint32_t resync_ms)
{
    ki_handler_options options = KI_OPTIONS_INIT(ki_handler_options);
    options.resync_ms = resync_ms;
    return options;
}

static void each_handler_resyncs_in_its_own_time(void **state)
{
    (void)state;
    fixture f;
    ear fast;
    ear slow;
    ear never;
    begin_with(&f, KI_QUEUE_FIFO, 30000);
    listen_with(&fast, &f, every(2000)); /* lowers what the informer asks, before the start */
    listen_with(&slow, &f, every(0));
    listen_with(&never, &f, every(KI_RESYNC_NEVER));
    start(&f);
    say_pod(&f, KI_WATCH_EVENT_ADDED, "a", 1, "g");
    end_list(&f, "10");
    fast.heard[0] = slow.heard[0] = never.heard[0] = '\0';
    test_world_advance(&f.world, f.engine, 5 * TEST_SECOND);
    expect(&fast, "=a1 =a1 ");
    expect(&slow, "");
    ear late; /* after the start, a handler cannot make it more often */
    listen_with(&late, &f, every(1000));
    test_world_settle(f.engine);
    expect(&late, "*a1 ");
    test_world_advance(&f.world, f.engine, 2 * TEST_SECOND);
    expect(&fast, "=a1 ");
    test_world_advance(&f.world, f.engine, 28 * TEST_SECOND);
    expect(&slow, "=a1 ");
    expect(&never, "");
    assert_true(strlen(late.heard) <= strlen(fast.heard));
    assert_true(strlen(late.heard) > 0);
    (void)ki_registration_unref(fast.reg);
    (void)ki_registration_unref(slow.reg);
    (void)ki_registration_unref(never.reg);
    (void)ki_registration_unref(late.reg);
    end(&f);
}

static void nobody_resyncs_more_than_once_a_second(void **state)
{
    (void)state;
    fixture f;
    ear one;
    begin_with(&f, KI_QUEUE_FIFO, 60000);
    listen_with(&one, &f, every(300));
    start(&f);
    say_pod(&f, KI_WATCH_EVENT_ADDED, "a", 1, "g");
    end_list(&f, "10");
    one.heard[0] = '\0';
    test_world_advance(&f.world, f.engine, 3 * TEST_SECOND + TEST_SECOND / 2);
    expect(&one, "=a1 =a1 =a1 ");
    (void)ki_registration_unref(one.reg);
    end(&f);
}

static void without_a_period_of_the_informer_nobody_resyncs(void **state)
{
    (void)state;
    fixture f;
    ear one;
    begin_with(&f, KI_QUEUE_FIFO, 0);
    listen_with(&one, &f, every(1000));
    start(&f);
    say_pod(&f, KI_WATCH_EVENT_ADDED, "a", 1, "g");
    end_list(&f, "10");
    expect(&one, "*a1 ");
    test_world_advance(&f.world, f.engine, 100 * TEST_SECOND);
    expect(&one, "");
    (void)ki_registration_unref(one.reg);
    end(&f);
}

/* ---- what many handlers cost ---- */

enum { MANY_PODS = 1000, MANY_EARS = 50, EAR_BYTES = 1024 };

static void add_many(fixture *f)
{
    for (unsigned i = 0; i < MANY_PODS; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "p%u", i);
        say_pod(f, KI_WATCH_EVENT_ADDED, name, 1, "g");
    }
}

static void count_it(const ki_object *object, void *user)
{
    (void)object;
    ++*(unsigned *)user;
}

/* Handlers that receive nothing but resyncs, in which they block until released. */
static void listen_many(fixture *f, ki_registration **regs, unsigned *synced, uint32_t resync_ms)
{
    ki_handler_options options = every(resync_ms);
    options.delivery = KI_DELIVERY_CALLER;
    for (unsigned i = 0; i < MANY_EARS; i++) {
        ki_handler handler = {.on_sync = count_it, .user = synced};
        assert_int_equal(ki_informer_add_handler(f->informer, &handler, &options, &regs[i], NULL),
                         0);
    }
}

static void dispatch_many(ki_registration **regs, int want)
{
    for (unsigned i = 0; i < MANY_EARS; i++) {
        assert_int_equal(ki_registration_dispatch(regs[i], 0), want);
    }
}

static void drop_many(ki_registration **regs)
{
    for (unsigned i = 0; i < MANY_EARS; i++) {
        (void)ki_registration_unref(regs[i]);
    }
}

static void a_resync_of_many_objects_costs_handlers_next_to_nothing(void **state)
{
    (void)state;
    fixture f;
    ki_registration *regs[MANY_EARS];
    ki_registration *others[MANY_EARS];
    unsigned synced = 0;
    begin_with(&f, KI_QUEUE_FIFO, 10000);
    listen_many(&f, regs, &synced, 0);
    listen_many(&f, others, &synced, KI_RESYNC_NEVER);
    start(&f);
    add_many(&f);
    end_list(&f, "10");
    dispatch_many(regs, MANY_PODS);
    dispatch_many(others, MANY_PODS);
    size_t before = f.alloc.live_bytes;
    test_world_advance(&f.world, f.engine, 60 * TEST_SECOND); /* six of them */
    assert_true(f.alloc.live_bytes < before + 2 * MANY_EARS * EAR_BYTES);
    assert_int_equal(test_registration_stats(regs[0]).waiting, MANY_PODS);
    assert_int_equal(test_registration_stats(regs[0]).merged, 5 * MANY_PODS);
    say_pod(&f, KI_WATCH_EVENT_MODIFIED, "p7", 20, "g");
    dispatch_many(regs, MANY_PODS + 1);
    dispatch_many(others, 1);
    assert_int_equal(synced, MANY_EARS * MANY_PODS);
    drop_many(regs);
    drop_many(others);
    end(&f);
}

static void a_relist_of_what_is_there_costs_handlers_nothing(void **state)
{
    (void)state;
    fixture f;
    ki_registration *regs[MANY_EARS];
    unsigned synced = 0;
    begin(&f);
    listen_many(&f, regs, &synced, 0);
    start(&f);
    add_many(&f);
    end_list(&f, "10");
    dispatch_many(regs, MANY_PODS);
    size_t before = f.alloc.live_bytes;
    list_again(&f);
    add_many(&f);
    end_list(&f, "30");
    assert_true(f.alloc.live_bytes < before + MANY_EARS * EAR_BYTES);
    dispatch_many(regs, 0);
    drop_many(regs);
    end(&f);
}

/* ---- starting and stopping ---- */

static void it_starts_once_and_stops_permanently(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    assert_false(ki_informer_is_stopped(f.informer));
    start(&f);
    assert_int_equal(ki_informer_start(f.informer, NULL), KI_ERR_EXISTS);
    ki_informer_stop(f.informer);
    ki_informer_stop(f.informer);
    test_world_settle(f.engine);
    assert_true(ki_informer_is_stopped(f.informer));
    assert_int_equal(ki_informer_start(f.informer, NULL), KI_ERR_STOPPED);
    ear one = {0};
    assert_int_equal(try_listen(&one, &f, NULL), KI_ERR_STOPPED);
    assert_int_equal(one.destroyed, 0); /* it is still the caller's */
    assert_int_equal(ki_informer_add_indexes(f.informer, NULL, 0, NULL), KI_ERR_STOPPED);
    assert_int_equal(ki_informer_wait_for_sync(f.informer, 0, NULL), KI_ERR_STOPPED);
    end(&f);
}

static void one_that_never_started_ends_with_its_last_user(void **state)
{
    (void)state;
    fixture f;
    ear one;
    ear kept;
    begin(&f);
    listen(&one, &f);
    one.reg = ki_registration_unref(one.reg);
    listen(&kept, &f);
    f.informer = ki_informer_unref(f.informer);
    assert_int_equal(one.destroyed, 1);
    assert_int_equal(kept.destroyed, 1);
    assert_false(ki_registration_has_synced(kept.reg)); /* what is left of it may still be asked */
    ki_registration_remove(kept.reg);
    kept.reg = ki_registration_unref(kept.reg);
    assert_int_equal(f.source_destroyed, 1);
    (void)ki_engine_unref(f.engine);
    test_alloc_done(&f.alloc);
}

static void one_that_runs_lives_until_it_has_stopped(void **state)
{
    (void)state;
    fixture f;
    ear one;
    begin_synced(&f);
    listen(&one, &f);
    one.reg = ki_registration_unref(one.reg);
    ki_informer *informer = f.informer;
    f.informer = ki_informer_unref(f.informer);
    say_pod(&f, KI_WATCH_EVENT_ADDED, "c", 11, "g");
    expect(&one, "*a1 *b1 +c11 ");
    ki_informer_stop(informer); /* as a callback might */
    test_world_settle(f.engine);
    assert_int_equal(one.destroyed, 1);
    assert_int_equal(f.source_destroyed, 1);
    (void)ki_engine_unref(f.engine);
    test_alloc_done(&f.alloc);
}

static void stop_it(ear *e)
{
    e->inside = NULL;
    ki_informer_stop(e->f->informer);
}

static void stopping_inside_a_callback_lets_nobody_hear_more(void **state)
{
    (void)state;
    fixture f;
    ear one;
    ear two;
    begin_synced(&f);
    listen(&one, &f);
    listen(&two, &f);
    one.inside = stop_it;
    test_world_settle(f.engine);
    assert_true(ki_informer_is_stopped(f.informer));
    expect(&one, "*a1 ");
    expect(&two, "");
    assert_int_equal(one.destroyed + two.destroyed, 2);
    assert_true(ki_informer_has_synced(f.informer)); /* stays so */
    (void)ki_registration_unref(one.reg);
    (void)ki_registration_unref(two.reg);
    end(&f);
}

static void remove_it(ear *e)
{
    e->inside = NULL;
    ki_registration_remove(e->reg);
}

static void handlers_that_have_gone_leave_nothing(void **state)
{
    (void)state;
    fixture f;
    begin_synced(&f);
    size_t blocks = f.alloc.live_blocks;
    for (unsigned i = 0; i < 10000; i++) {
        ear e;
        listen(&e, &f);
        if (i % 3 == 0) {
            test_world_settle(f.engine);
        }
        ki_registration_remove(e.reg);
        assert_int_equal(e.destroyed, 1);
        (void)ki_registration_unref(e.reg);
        assert_int_equal(f.alloc.live_blocks, blocks);
    }
    end(&f);
}

static ear *added_inside;

static void add_another(ear *e)
{
    e->inside = NULL;
    listen(added_inside, e->f);
}

static void handlers_come_and_go_inside_callbacks(void **state)
{
    (void)state;
    fixture f;
    ear one;
    ear two;
    ear three;
    begin_synced(&f);
    listen(&one, &f);
    listen(&two, &f);
    added_inside = &three;
    one.inside = remove_it;
    two.inside = add_another;
    test_world_settle(f.engine);
    expect(&one, "*a1 ");
    expect(&two, "*a1 *b1 ");
    expect(&three, "*a1 *b1 ");
    say_pod(&f, KI_WATCH_EVENT_MODIFIED, "b", 12, "g");
    expect(&one, "");
    expect(&two, "~b12 ");
    expect(&three, "~b12 ");
    (void)ki_registration_unref(one.reg);
    (void)ki_registration_unref(two.reg);
    (void)ki_registration_unref(three.reg);
    end(&f);
}

static void scribble(fixture *f)
{
    ki_object *a = ki_store_get(ki_informer_store(f->informer), "ns/a");
    char *bytes = (char *)(uintptr_t)ki_object_bytes(a).ptr;
    char *text = strstr(bytes, "group");
    assert_non_null(text);
    text[0] = 'G';
    (void)ki_object_unref(a);
}

static void a_resync_finds_what_was_written_to(void **state)
{
    (void)state;
    fixture f;
    ear one;
    begin_with(&f, KI_QUEUE_FIFO, 2000);
    listen(&one, &f);
    start(&f);
    say_pod(&f, KI_WATCH_EVENT_ADDED, "a", 1, "g");
    end_list(&f, "10");
    scribble(&f);
    test_world_advance(&f.world, f.engine, TEST_SECOND);
    assert_int_equal(f.reports, 0);
    test_world_advance(&f.world, f.engine, 2 * TEST_SECOND);
    assert_int_equal(f.reports, 1);
    assert_string_equal(f.last_report, "mutations/pods/ns/a");
    (void)ki_registration_unref(one.reg);
    end(&f);
}

static void an_object_that_was_written_to_is_reported(void **state)
{
    (void)state;
    fixture f;
    begin_synced(&f);
    scribble(&f);
    say_pod(&f, KI_WATCH_EVENT_MODIFIED, "a", 11, "g");
    assert_string_equal(f.last_report, "mutations/pods/ns/a");
    ki_health health = KI_OPTIONS_INIT(ki_health);
    assert_int_equal(ki_informer_get_health(f.informer, &health, NULL), 0);
    assert_int_equal(health.mutations, 1);
    end(&f);
}

static void its_health_shows_its_state(void **state)
{
    (void)state;
    fixture f;
    ear one;
    begin_synced(&f);
    ki_handler_options options = KI_OPTIONS_INIT(ki_handler_options);
    options.delivery = KI_DELIVERY_CALLER;
    listen_with(&one, &f, options);
    say_pod(&f, KI_WATCH_EVENT_ADDED, "c", 11, "g");
    ki_health health = KI_OPTIONS_INIT(ki_health);
    assert_int_equal(ki_informer_get_health(f.informer, &health, NULL), 0);
    assert_true(health.synced);
    assert_false(health.stopped);
    assert_int_equal(health.objects, 3);
    assert_int_equal(health.handlers, 1);
    assert_int_equal(health.handlers_waiting, 3);
    assert_int_equal(health.queued, 0);
    assert_int_equal(health.applied, 2);
    assert_int_equal(health.state, KI_REFLECTOR_WATCHING);
    assert_int_equal(health.events, 1);
    health.size = 1;
    assert_int_equal(ki_informer_get_health(f.informer, &health, NULL), -EINVAL);
    assert_int_equal(ki_registration_dispatch(one.reg, 0), 4); /* one of them is on_synced */
    expect(&one, "*a1 *b1 +c11 ");
    (void)ki_registration_unref(one.reg);
    end(&f);
}

static void bad_options_are_refused(void **state)
{
    (void)state;
    fixture f;
    begin_engine(&f);
    ki_source source = source_of(&f);
    ki_informer *informer = NULL;
    ki_informer_options options = options_of(&f, &source);
    options.engine = NULL;
    assert_int_equal(ki_informer_new(&options, &informer, NULL), -EINVAL);
    options = options_of(&f, NULL);
    assert_int_equal(ki_informer_new(&options, &informer, NULL), -EINVAL);
    options = options_of(&f, &source);
    options.queue = (ki_queue_kind)9;
    assert_int_equal(ki_informer_new(&options, &informer, NULL), -EINVAL);
    const ki_index twice = test_index_by_namespace();
    options = options_of(&f, &source);
    options.indexes = (const ki_index *[]){&twice, &twice};
    options.index_count = 2;
    assert_int_equal(ki_informer_new(&options, &informer, NULL), KI_ERR_EXISTS);
    assert_null(informer);
    assert_int_equal(f.source_destroyed, 0); /* still the caller's */
    (void)ki_engine_unref(f.engine);
    test_alloc_done(&f.alloc);
}

/* ---- without memory ---- */

static int scenario(const ki_alloc *alloc, void *user)
{
    (void)user;
    test_alloc *counts = (test_alloc *)(uintptr_t)alloc;
    fixture f = {0};
    test_world_init(&f.world);
    ki_engine_options engine_options = test_world_engine_options(&f.world, alloc);
    int r = ki_engine_new(&engine_options, &f.engine, NULL);
    if (r < 0) {
        return r;
    }
    ki_source source = source_of(&f);
    ki_informer_options options = options_of(&f, &source);
    r = ki_informer_new(&options, &f.informer, NULL);
    ear one = {0};
    if (r == 0) {
        r = try_listen(&one, &f, NULL);
    }
    if (r == 0) {
        r = ki_informer_start(f.informer, NULL);
    }
    if (r < 0) {
        (void)ki_registration_unref(one.reg);
        (void)ki_informer_unref(f.informer);
        (void)ki_engine_unref(f.engine);
        return r;
    }
    /* From here on a failed allocation is something to get over. */
    ki_object *a = test_pod(NULL, "ns", "a", 1, "g");
    ki_object *a2 = test_pod(NULL, "ns", "a", 12, "g");
    for (unsigned i = 0; i < 2000 && !ki_informer_has_synced(f.informer); i++) {
        test_world_advance(&f.world, f.engine, TEST_SECOND);
        if (f.call.open && !f.call.watch) {
            say(&f, KI_WATCH_EVENT_ADDED, a, NULL);
            if (f.call.open) {
                end_list(&f, "10");
            }
        }
        if (counts->fail_onwards && counts->failures > 20) {
            counts->fail_at = 0; /* memory is available again */
            counts->fail_onwards = false;
        }
    }
    assert_true(ki_informer_has_synced(f.informer));
    for (unsigned i = 0; i < 2000 && strstr(one.heard, "~a12") == NULL; i++) {
        test_world_advance(&f.world, f.engine, TEST_SECOND);
        if (f.call.open && f.call.watch) {
            say(&f, KI_WATCH_EVENT_MODIFIED, a2, NULL);
        } else if (f.call.open) {
            say(&f, KI_WATCH_EVENT_ADDED, a2, NULL);
            if (f.call.open) {
                end_list(&f, "20");
            }
        }
        if (counts->fail_onwards && counts->failures > 20) {
            counts->fail_at = 0;
            counts->fail_onwards = false;
        }
    }
    assert_string_equal(one.heard, "*a1 ~a12 ");
    (void)ki_object_unref(a);
    (void)ki_object_unref(a2);
    ki_informer_stop(f.informer);
    test_world_settle(f.engine);
    assert_true(ki_informer_is_stopped(f.informer));
    (void)ki_registration_unref(one.reg);
    (void)ki_informer_unref(f.informer);
    (void)ki_engine_unref(f.engine);
    return counts->failures != 0 ? -ENOMEM : 0;
}

static void without_memory_it_waits_and_resumes(void **state)
{
    (void)state;
    test_alloc_sweep(scenario, NULL);
}

/* ---- threads ---- */

typedef struct looper {
    fixture *f;
    pthread_mutex_t lock;
    bool stop;
} looper;

static void *loop(void *user)
{
    looper *l = user;
    for (;;) {
        (void)ki_engine_run(l->f->engine, 0);
        pthread_mutex_lock(&l->lock);
        bool stop = l->stop;
        pthread_mutex_unlock(&l->lock);
        if (stop) {
            return NULL;
        }
    }
}

static void *wait_thread(void *user)
{
    fixture *f = user;
    assert_int_equal(ki_informer_wait_for_sync(f->informer, UINT32_MAX, NULL), 0);
    return NULL;
}

static void threads_add_remove_wait_and_read_while_it_runs(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    looper l = {.f = &f};
    pthread_mutex_init(&l.lock, NULL);
    assert_int_equal(ki_informer_wait_for_sync(f.informer, 1, NULL), -ETIMEDOUT);
    pthread_t waiter;
    assert_int_equal(pthread_create(&waiter, NULL, wait_thread, &f), 0);
    start(&f);
    say_pod(&f, KI_WATCH_EVENT_ADDED, "a", 1, "g");
    end_list(&f, "10");
    pthread_join(waiter, NULL);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, loop, &l), 0);
    for (unsigned i = 0; i < 200; i++) {
        ear e;
        listen(&e, &f);
        assert_int_equal(ki_registration_remove_wait(e.reg), 0);
        assert_int_equal(e.destroyed, 1); /* nothing touches it any more */
        (void)ki_registration_unref(e.reg);
        ki_health health = KI_OPTIONS_INIT(ki_health);
        assert_int_equal(ki_informer_get_health(f.informer, &health, NULL), 0);
        assert_int_equal(health.objects, 1);
    }
    ki_informer_stop(f.informer);
    while (!ki_informer_is_stopped(f.informer)) {
    }
    pthread_mutex_lock(&l.lock);
    l.stop = true;
    pthread_mutex_unlock(&l.lock);
    pthread_join(thread, NULL);
    pthread_mutex_destroy(&l.lock);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(handlers_receive_the_first_list_and_changes),
        cmocka_unit_test(a_late_handler_receives_the_cache_and_then_the_same_events_as_all),
        cmocka_unit_test(a_relist_delivers_its_changes_and_nothing_else),
        cmocka_unit_test(a_source_of_metadata_gives_no_whole_objects_and_others_no_metadata),
        cmocka_unit_test(both_kinds_of_queue_deliver_the_same),
        cmocka_unit_test(a_stop_does_not_forget_who_was_to_be_woken_later),
        cmocka_unit_test(the_store_has_a_change_before_the_handler_receives_it),
        cmocka_unit_test(a_transform_changes_what_is_kept),
        cmocka_unit_test(failed_requests_are_reported_to_the_watch_error_handler),
        cmocka_unit_test(each_handler_resyncs_in_its_own_time),
        cmocka_unit_test(nobody_resyncs_more_than_once_a_second),
        cmocka_unit_test(without_a_period_of_the_informer_nobody_resyncs),
        cmocka_unit_test(a_resync_of_many_objects_costs_handlers_next_to_nothing),
        cmocka_unit_test(a_relist_of_what_is_there_costs_handlers_nothing),
        cmocka_unit_test(it_starts_once_and_stops_permanently),
        cmocka_unit_test(one_that_never_started_ends_with_its_last_user),
        cmocka_unit_test(one_that_runs_lives_until_it_has_stopped),
        cmocka_unit_test(stopping_inside_a_callback_lets_nobody_hear_more),
        cmocka_unit_test(handlers_that_have_gone_leave_nothing),
        cmocka_unit_test(handlers_come_and_go_inside_callbacks),
        cmocka_unit_test(a_resync_finds_what_was_written_to),
        cmocka_unit_test(an_object_that_was_written_to_is_reported),
        cmocka_unit_test(its_health_shows_its_state),
        cmocka_unit_test(bad_options_are_refused),
        cmocka_unit_test(without_memory_it_waits_and_resumes),
        cmocka_unit_test(threads_add_remove_wait_and_read_while_it_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
