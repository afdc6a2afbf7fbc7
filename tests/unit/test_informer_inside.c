/* SPDX-License-Identifier: Apache-2.0 */
/* The shared informer from inside: in every callback, every function may be called, and each of
 * the ways to end a thing may be taken.  threads: yes */
#include <errno.h>
#include <string.h>

#include <kinformer/health.h>
#include <kinformer/index.h>
#include <kinformer/informer.h>
#include <kinformer/parts/queue.h>
#include <kinformer/parts/shared_informer.h>
#include <kinformer/parts/store_write.h>

#include "support/by_value.h"
#include "support/fake_source.h"
#include "support/objects.h"
#include "support/test.h"
#include "support/world.h"

/* Where something of the program's is called. */
typedef enum place {
    ON_ADD,
    ON_UPDATE,
    ON_DELETE,
    ON_SYNC,
    FILTER,
    ON_SYNCED,
    WAKE,
    DESTROY,
    TRANSFORM,
    INDEX,
    WATCH_ERROR,
    REPORT,
    LOG,
    ENGINE_WAKE,
    SOURCE,
    PLACES
} place;

typedef struct fixture fixture;
typedef void (*deed)(fixture *f);

/* One handler inside the engine and one that the test dispatches; both do the same. */
enum { HANDLERS = 2 };

struct fixture {
    test_alloc alloc;
    test_world world;
    ki_engine *engine;
    fake_source source;
    ki_source inner;
    ki_log log;
    ki_informer *informer;
    ki_registration *regs[HANDLERS];
    int made;
    int destroyed;
    bool stopped; /* no callback of a handler may come any more */
    place at;     /* where to do it */
    deed what;
    int done; /* how often it was */
    bool fail_index;
    bool busy; /* it is being done: what that leads to is left alone */
};

static void pass(fixture *f, place where)
{
    if (f->what != NULL && f->informer != NULL && where == f->at && !f->busy) {
        f->busy = true;
        f->done++;
        f->what(f);
        f->busy = false;
    }
}

/* ---- the callbacks ---- */

static void heard(fixture *f, place where)
{
    assert_false(f->stopped && !f->busy);
    pass(f, where);
}

static void on_add(const ki_object *object, bool is_initial, void *user)
{
    (void)object;
    (void)is_initial;
    heard(user, ON_ADD);
}

static void on_update(const ki_object *old_object, const ki_object *object, void *user)
{
    (void)old_object;
    (void)object;
    heard(user, ON_UPDATE);
}

static void on_delete(const ki_object *object, bool final_state_unknown, void *user)
{
    (void)object;
    (void)final_state_unknown;
    heard(user, ON_DELETE);
}

static void on_sync(const ki_object *object, void *user)
{
    (void)object;
    heard(user, ON_SYNC);
}

static bool filter(const ki_object *object, void *user)
{
    (void)object;
    heard(user, FILTER);
    return true;
}

static void on_synced(void *user)
{
    heard(user, ON_SYNCED);
}

static void on_wake(void *user)
{
    heard(user, WAKE);
}

static void on_destroy(void *user)
{
    ((fixture *)user)->destroyed++;
    pass(user, DESTROY);
}

static int transform(const ki_object *object, ki_object **ret_object, void *user)
{
    pass(user, TRANSFORM);
    *ret_object = ki_object_ref(object);
    return 0;
}

static int index_values(const ki_object *object, ki_index_values *values, void *user)
{
    pass(user, INDEX);
    if (((fixture *)user)->fail_index) {
        return KI_ERR_INVALID;
    }
    return ki_index_values_add(values, ki_str_from(ki_object_name(object)));
}

static void on_watch_error(ki_informer *informer, const ki_watch_failure *failure, void *user)
{
    (void)informer;
    (void)failure;
    pass(user, WATCH_ERROR);
}

static void on_report(const ki_report *report, void *user)
{
    (void)report;
    pass(user, REPORT);
}

static void on_log(const ki_log_record *record, void *user)
{
    (void)record;
    pass(user, LOG);
}

static void on_engine_wake(void *user)
{
    pass(user, ENGINE_WAKE);
}

static int source_list(const ki_list_options *options, const ki_source_sink *sink, void *user,
                       void **ret_call, ki_error *error)
{
    fixture *f = user;
    pass(f, SOURCE);
    return f->inner.list(options, sink, f->inner.user, ret_call, error);
}

static int source_watch(const ki_list_options *options, const ki_source_sink *sink, void *user,
                        void **ret_call, ki_error *error)
{
    fixture *f = user;
    pass(f, SOURCE);
    return f->inner.watch(options, sink, f->inner.user, ret_call, error);
}

static void source_cancel(void *call, void *user)
{
    fixture *f = user;
    f->inner.cancel(call, f->inner.user);
    pass(f, SOURCE);
}

static void source_pause(void *call, bool paused, void *user)
{
    fixture *f = user;
    f->inner.pause(call, paused, f->inner.user);
    pass(f, SOURCE);
}

static void source_destroy(void *user)
{
    fixture *f = user;
    f->inner.destroy(f->inner.user);
}

/* ---- a life that leads through all of them ---- */

static void respond(fake_source *source, const fake_request *request, void *user)
{
    (void)user;
    if (!request->watch) {
        fake_event(source, KI_WATCH_EVENT_ADDED, fake_pod("a", 1));
        fake_event(source, KI_WATCH_EVENT_ADDED, fake_pod("b", 2));
        fake_end_list(source, "10", "");
    }
}

static void listen(fixture *f, unsigned i, ki_delivery delivery)
{
    ki_handler handler = {
        .on_add = on_add,
        .on_update = on_update,
        .on_delete = on_delete,
        .on_sync = on_sync,
        .filter = filter,
        .user = f,
        .destroy = on_destroy,
    };
    ki_handler_options options = KI_OPTIONS_INIT(ki_handler_options);
    options.delivery = delivery;
    options.resync_ms = 500; /* too often, which is logged */
    options.on_synced = on_synced;
    options.wake = on_wake;
    options.user = f;
    int r = ki_informer_add_handler(f->informer, &handler, &options, &f->regs[i], NULL);
    assert_true(r == 0 || (r == KI_ERR_STOPPED && f->stopped));
    f->made += r == 0;
}

static void begin(fixture *f)
{
    test_alloc_init(&f->alloc);
    test_world_init(&f->world);
    f->log = (ki_log){.write = on_log, .level = KI_LOG_DEBUG, .user = f};
    ki_engine_options engine = test_world_engine_options(&f->world, &f->alloc.table);
    engine.log = &f->log;
    engine.wake = on_engine_wake;
    engine.wake_user = f;
    engine.on_report = on_report;
    engine.report_user = f;
    assert_int_equal(ki_engine_new(&engine, &f->engine, NULL), 0);
    fake_source_init(&f->source, f->engine, &f->world);
    f->source.respond = respond;
    f->inner = f->source.table;
    ki_source source = f->inner;
    source.list = source_list;
    source.watch = source_watch;
    source.cancel = source_cancel;
    source.pause = source_pause;
    source.destroy = source_destroy;
    source.no_streaming_list = true;
    source.user = f;
    ki_index index = {.name = "name", .values = index_values, .user = f};
    ki_informer_options options = KI_OPTIONS_INIT(ki_informer_options);
    options.engine = f->engine;
    options.source = &source;
    options.name = "pods";
    options.resync_ms = 60000;
    options.label_selector = "app=web";
    options.field_selector = "spec.nodeName=n";
    options.no_namespace_index = true;
    options.indexes = (const ki_index *[]){&index};
    options.index_count = 1;
    options.transform = transform;
    options.transform_user = f;
    options.on_watch_error = on_watch_error;
    options.watch_error_user = f;
    assert_int_equal(ki_informer_new(&options, &f->informer, NULL), 0);
    listen(f, 0, KI_DELIVERY_LOOP);
    listen(f, 1, KI_DELIVERY_CALLER);
}

/* Lets the engine and the handlers do what there is to do. */
static void settle(fixture *f)
{
    int r = 1;
    while (r > 0) {
        test_world_settle(f->engine);
        r = f->regs[1] != NULL ? ki_registration_dispatch(f->regs[1], 0) : 0;
    }
}

static void say(fixture *f, ki_watch_event_type type, const char *name, unsigned version)
{
    if (f->source.open) {
        fake_event(&f->source, type, fake_pod(name, version));
    }
    settle(f);
}

static void live(fixture *f)
{
    assert_true(ki_informer_start(f->informer, NULL) <= 0);
    settle(f);
    say(f, KI_WATCH_EVENT_MODIFIED, "a", 11);
    say(f, KI_WATCH_EVENT_DELETED, "b", 12);
    f->fail_index = true; /* leads to a report */
    say(f, KI_WATCH_EVENT_ADDED, "bad", 13);
    f->fail_index = false;
    test_world_advance(&f->world, f->engine, 3 * TEST_SECOND); /* a resync */
    settle(f);
    if (f->source.open) {
        fake_end_status(&f->source, 403, "Forbidden", "no");
    }
    settle(f);
}

static void drop(fixture *f)
{
    for (unsigned i = 0; i < HANDLERS; i++) {
        f->regs[i] = ki_registration_unref(f->regs[i]);
    }
}

static void end(fixture *f)
{
    ki_informer *informer = ki_informer_ref(f->informer);
    if (informer != NULL) {
        ki_informer_stop(informer);
        f->stopped = true;
        test_world_advance(&f->world, f->engine, TEST_SECOND);
        assert_true(ki_informer_is_stopped(informer));
        (void)ki_informer_unref(informer);
    }
    drop(f);
    f->informer = ki_informer_unref(f->informer);
    f->what = NULL;
    test_world_settle(f->engine);
    assert_int_equal(f->destroyed, f->made);
    fake_source_done(&f->source);
    (void)ki_engine_unref(f->engine);
    assert_int_equal(f->source.destroyed, 1);
    test_alloc_done(&f->alloc);
}

static void in_each_place(deed what)
{
    for (int at = 0; at < PLACES; at++) {
        fixture *f = test_calloc(1, sizeof(*f));
        f->at = (place)at;
        f->what = what;
        begin(f);
        live(f);
        bool was_done = f->done > 0;
        end(f);
        assert_true(was_done || (at == DESTROY && f->done > 0));
        test_free(f);
    }
}

/* ---- what is done there ---- */

static void hear_nothing(const ki_object *object, bool is_initial, void *user)
{
    (void)object;
    (void)is_initial;
    (void)user;
}

static void nothing(void *user)
{
    (void)user;
}

static void use_the_engine(fixture *f)
{
    (void)ki_engine_deadline(f->engine);
    ki_engine_task *task = NULL;
    assert_int_equal(ki_engine_task_new(f->engine, nothing, NULL, &task, NULL), 0);
    ki_engine_task_post(task);
    assert_null(ki_engine_task_unref(task));
}

static void use_the_registrations(fixture *f)
{
    for (unsigned i = 0; i < HANDLERS; i++) {
        ki_registration *reg = ki_registration_ref(f->regs[i]);
        if (reg != NULL) {
            (void)ki_registration_has_synced(reg);
            (void)test_registration_stats(reg);
            (void)ki_registration_unref(reg);
        }
    }
    ki_handler handler = {.on_add = hear_nothing};
    ki_registration *another = NULL;
    int r = ki_informer_add_handler(f->informer, &handler, NULL, &another, NULL);
    assert_true(r == 0 || r == KI_ERR_STOPPED);
    if (r == 0) {
        assert_int_equal(ki_registration_dispatch(another, 0), KI_ERR_UNSUPPORTED);
        assert_int_equal(ki_registration_run(another), KI_ERR_UNSUPPORTED);
        assert_int_equal(ki_registration_remove_wait(another), 0);
        ki_registration_remove(another);
        (void)ki_registration_unref(another);
    }
}

static void use_the_informer(fixture *f)
{
    char version[64];
    ki_health health = KI_OPTIONS_INIT(ki_health);
    ki_informer *informer = ki_informer_ref(f->informer);
    (void)ki_informer_is_stopped(informer);
    (void)ki_informer_has_synced(informer);
    assert_true(ki_informer_last_sync_resource_version(informer, version, sizeof(version)) >= 0);
    assert_int_equal(ki_informer_get_health(informer, &health, NULL), 0);
    assert_string_equal(ki_informer_name(informer), "pods");
    assert_null(ki_informer_resource(informer));
    int r = ki_informer_add_indexes(informer, NULL, 0, NULL);
    assert_true(r == 0 || r == KI_ERR_BUSY || r == KI_ERR_STOPPED);
    ki_lister lister = ki_informer_lister(informer);
    ki_list *list = NULL;
    assert_int_equal(ki_lister_list(&lister, NULL, NULL, &list), 0);
    (void)ki_list_unref(list);
    (void)ki_informer_unref(informer);
}

static void use_everything(fixture *f)
{
    use_the_engine(f);
    use_the_registrations(f);
    use_the_informer(f);
}

static void every_function_may_be_called_in_every_callback(void **state)
{
    (void)state;
    in_each_place(use_everything);
}

static void stop(fixture *f)
{
    ki_informer_stop(f->informer);
    f->stopped = f->at != FILTER; /* a filter and the callback after it are one delivery */
}

static void it_may_be_stopped_in_every_callback(void **state)
{
    (void)state;
    in_each_place(stop);
}

static void remove_all(fixture *f)
{
    for (unsigned i = 0; i < HANDLERS; i++) {
        if (f->regs[i] != NULL) {
            ki_registration_remove(f->regs[i]);
        }
    }
}

static void handlers_may_be_removed_in_every_callback(void **state)
{
    (void)state;
    in_each_place(remove_all);
}

/* Inside a callback of the handler, or of nobody's. */
static void remove_and_wait(fixture *f)
{
    for (unsigned i = 0; i < HANDLERS; i++) {
        if (f->regs[i] != NULL) {
            int r = ki_registration_remove_wait(f->regs[i]);
            assert_true(r == 0 || r == KI_ERR_BUSY);
        }
    }
}

static void handlers_may_be_removed_with_waiting_in_every_callback(void **state)
{
    (void)state;
    in_each_place(remove_and_wait);
}

static void release_registrations(fixture *f)
{
    drop(f);
}

static void registrations_may_be_released_in_every_callback(void **state)
{
    (void)state;
    in_each_place(release_registrations);
}

static void release_all(fixture *f)
{
    if (f->informer != NULL) {
        drop(f);
        ki_informer_stop(f->informer);
        f->stopped = f->at != FILTER;
        f->informer = ki_informer_unref(f->informer);
    }
}

/* There is nobody left to ask it anything, but it comes to its end. */
static void it_may_be_released_in_every_callback(void **state)
{
    (void)state;
    for (int at = 0; at < PLACES; at++) {
        fixture *f = test_calloc(1, sizeof(*f));
        begin(f);
        f->at = (place)at;
        f->what = release_all;
        ki_informer *informer = ki_informer_ref(f->informer); /* while it is started */
        assert_true(ki_informer_start(informer, NULL) <= 0);
        (void)ki_informer_unref(informer);
        settle(f);
        say(f, KI_WATCH_EVENT_MODIFIED, "a", 11);
        say(f, KI_WATCH_EVENT_DELETED, "b", 12);
        test_world_advance(&f->world, f->engine, 3 * TEST_SECOND);
        settle(f);
        end(f);
        test_free(f);
    }
}

/* Where waiting would never end. Nobody can know that of the others. */
static void wait_for_ever(fixture *f)
{
    if (f->at != LOG && f->at != ENGINE_WAKE) {
        bool synced = ki_informer_wait_for_sync(f->informer, 0, NULL) == 0;
        int r = ki_informer_wait_for_sync(f->informer, UINT32_MAX, NULL);
        assert_true(r == (synced ? 0 : KI_ERR_BUSY) || r == KI_ERR_STOPPED);
    }
}

static void waiting_for_a_sync_inside_is_refused_and_does_not_hang(void **state)
{
    (void)state;
    in_each_place(wait_for_ever);
}

static fixture *begin_synced(void)
{
    fixture *f = test_calloc(1, sizeof(*f));
    begin(f);
    assert_int_equal(ki_informer_start(f->informer, NULL), 0);
    settle(f);
    assert_int_equal(ki_informer_wait_for_sync(f->informer, 0, NULL), 0);
    return f;
}

static void after_the_stop_the_store_stays_as_it_is(void **state)
{
    (void)state;
    fixture *f = begin_synced();
    f->at = INDEX; /* the next version is being made */
    f->what = stop;
    say(f, KI_WATCH_EVENT_MODIFIED, "a", 11);
    assert_true(f->done > 0);
    ki_object *a = ki_store_get(ki_informer_store(f->informer), "default/a");
    assert_string_equal(ki_object_resource_version(a), "1");
    (void)ki_object_unref(a);
    end(f);
    test_free(f);
}

static uint64_t merged(fixture *f)
{
    ki_health health = KI_OPTIONS_INIT(ki_health);
    assert_int_equal(ki_informer_get_health(f->informer, &health, NULL), 0);
    return health.merged;
}

static void what_was_merged_stays_counted(void **state)
{
    (void)state;
    fixture *f = begin_synced();
    ki_handler handler = {.on_add = hear_nothing};
    ki_handler_options options = KI_OPTIONS_INIT(ki_handler_options);
    options.delivery = KI_DELIVERY_CALLER;
    options.queue_limit = 1;
    ki_registration *still[2];
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(ki_informer_add_handler(f->informer, &handler, &options, &still[i], NULL),
                         0);
    }
    for (unsigned i = 0; i < 5; i++) {
        say(f, KI_WATCH_EVENT_MODIFIED, "a", 11 + i);
    }
    assert_int_equal(merged(f), 8);
    ki_registration_remove(still[0]);
    assert_int_equal(merged(f), 8);
    ki_informer_stop(f->informer);
    assert_int_equal(merged(f), 8);
    (void)ki_registration_unref(still[0]);
    (void)ki_registration_unref(still[1]);
    end(f);
    test_free(f);
}

/* Running the engine only until the informer has stopped is long enough. */
static void once_it_has_stopped_nothing_is_left_in_the_engine(void **state)
{
    (void)state;
    for (unsigned steps = 0; steps < 40; steps++) {
        fixture *f = begin_synced();
        fake_event(&f->source, KI_WATCH_EVENT_MODIFIED, fake_pod("a", 11));
        fake_event(&f->source, KI_WATCH_EVENT_MODIFIED, fake_pod("a", 12));
        for (unsigned i = 0; i < steps; i++) {
            (void)ki_engine_run(f->engine, 1);
        }
        ki_informer_stop(f->informer);
        while (!ki_informer_is_stopped(f->informer)) {
            assert_int_equal(ki_engine_run(f->engine, 1), 1);
        }
        drop(f);
        f->informer = ki_informer_unref(f->informer);
        fake_source_done(&f->source);
        assert_int_equal(f->source.destroyed, 1);
        (void)ki__engine_unpost(f->engine, &f->source.task);
        assert_int_equal(ki_engine_deadline(f->engine), UINT64_MAX);
        (void)ki_engine_unref(f->engine);
        test_alloc_done(&f->alloc);
        test_free(f);
    }
}

static void stop_and_look(fixture *f)
{
    stop(f);
    test_world_settle(f->engine); /* this handler runs outside of the engine */
    assert_false(ki_informer_is_stopped(f->informer));
}

static void it_has_not_stopped_while_a_callback_runs(void **state)
{
    (void)state;
    fixture *f = begin_synced();
    ki_registration_remove(f->regs[0]);
    f->at = ON_UPDATE;
    f->what = stop_and_look;
    say(f, KI_WATCH_EVENT_MODIFIED, "a", 11);
    assert_int_equal(f->done, 1);
    assert_true(ki_informer_is_stopped(f->informer));
    end(f);
    test_free(f);
}

static void one_that_waits_to_try_again_can_be_stopped(void **state)
{
    (void)state;
    fixture *f = begin_synced();
    ki_txn *txn = NULL;
    assert_int_equal(ki_store_begin(ki_informer_store(f->informer), &txn, NULL), 0);
    say(f, KI_WATCH_EVENT_MODIFIED, "a", 11); /* another thread writes to the store */
    uint64_t deadline = ki_engine_deadline(f->engine);
    assert_true(deadline > f->world.now && deadline <= f->world.now + TEST_SECOND);
    ki_informer_stop(f->informer);
    test_world_settle(f->engine);
    assert_true(ki_informer_is_stopped(f->informer));
    assert_int_equal(ki_engine_deadline(f->engine), UINT64_MAX);
    ki_txn_abort(txn);
    end(f);
    test_free(f);
}

static void its_health_shows_the_worst_handler_and_skipped_objects(void **state)
{
    (void)state;
    fixture *f = begin_synced();
    f->fail_index = true;
    say(f, KI_WATCH_EVENT_ADDED, "bad", 11);
    f->fail_index = false;
    ki_handler handler = {.on_add = hear_nothing};
    ki_handler_options options = KI_OPTIONS_INIT(ki_handler_options);
    options.delivery = KI_DELIVERY_CALLER;
    ki_registration *regs[3];
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(ki_informer_add_handler(f->informer, &handler, &options, &regs[i], NULL),
                         0);
    }
    assert_int_equal(ki_registration_dispatch(regs[0], 1), 1);
    assert_int_equal(ki_registration_dispatch(regs[2], 1), 1);
    struct {
        ki_health health;
        char newer[8]; /* as a later version may have */
    } h = {.health = KI_OPTIONS_INIT(ki_health)};
    assert_int_equal(ki_informer_get_health(f->informer, &h.health, NULL), 0);
    assert_int_equal(h.health.handlers, 5);
    assert_int_equal(h.health.handlers_waiting, 2);
    assert_int_equal(h.health.rejected, 1);
    assert_int_equal(h.health.objects, 2);
    h.health.size = sizeof(h);
    memset(h.newer, 1, sizeof(h.newer));
    assert_int_equal(ki_informer_get_health(f->informer, &h.health, NULL), 0);
    assert_int_equal(h.newer[0] | h.newer[7], 0); /* a member unknown here reads as zero */
    for (unsigned i = 0; i < 3; i++) {
        ki_registration_remove(regs[i]);
        (void)ki_registration_unref(regs[i]);
    }
    end(f);
    test_free(f);
}

static void its_options_reach_the_source_and_the_store(void **state)
{
    (void)state;
    fixture *f = begin_synced();
    assert_string_equal(fake_last(&f->source)->labels, "app=web");
    assert_string_equal(fake_last(&f->source)->fields, "spec.nodeName=n");
    ki_list *list = NULL;
    ki_store *store = ki_informer_store(f->informer);
    assert_int_equal(ki_store_by_index(store, "name", "a", &list), 0);
    assert_int_equal(ki_list_count(list), 1);
    (void)ki_list_unref(list);
    assert_int_equal(ki_store_by_index(store, KI_INDEX_NAMESPACE, "default", &list),
                     KI_ERR_UNKNOWN_INDEX);
    end(f);
    test_free(f);
}

static fixture *flooded;

static void flood(ki__task *task)
{
    fixture *f = flooded;
    (void)task;
    for (unsigned i = 0; i < 5 * KI_QUEUE_BATCH; i++) {
        ki_object *object = fake_pod("a", 100 + i);
        f->source.sink.on_event(KI_WATCH_EVENT_MODIFIED, object, NULL, f->source.sink.user);
        (void)ki_object_unref(object);
    }
}

static void post_flood(fixture *f)
{
    static ki__task task;
    flooded = f;
    ki__task_init(&task, flood);
    assert_true(ki__engine_post(f->engine, &task));
}

static void a_flood_holds_the_source_back_until_it_is_done_with(void **state)
{
    (void)state;
    fixture *f = begin_synced();
    post_flood(f);
    assert_false(f->source.paused);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(ki_engine_run(f->engine, 1), 1);
    }
    assert_true(f->source.paused);
    settle(f);
    assert_false(f->source.paused);
    ki_object *a = ki_store_get(ki_informer_store(f->informer), "default/a");
    assert_string_equal(ki_object_resource_version(a), "5099");
    (void)ki_object_unref(a);
    end(f);
    test_free(f);
}

/* The task that ends it is ahead of the one that would work. */
static void what_it_did_not_get_to_is_left_in_no_engine(void **state)
{
    (void)state;
    fixture *f = begin_synced();
    post_flood(f);
    assert_int_equal(ki_engine_run(f->engine, 2), 2); /* one batch of it; the next is behind */
    ki_informer_stop(f->informer);
    assert_int_equal(ki_engine_run(f->engine, 1), 1);
    assert_true(ki_informer_is_stopped(f->informer));
    assert_int_equal(ki_engine_deadline(f->engine), UINT64_MAX);
    end(f);
    test_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_function_may_be_called_in_every_callback),
        cmocka_unit_test(it_may_be_stopped_in_every_callback),
        cmocka_unit_test(handlers_may_be_removed_in_every_callback),
        cmocka_unit_test(handlers_may_be_removed_with_waiting_in_every_callback),
        cmocka_unit_test(registrations_may_be_released_in_every_callback),
        cmocka_unit_test(it_may_be_released_in_every_callback),
        cmocka_unit_test(waiting_for_a_sync_inside_is_refused_and_does_not_hang),
        cmocka_unit_test(after_the_stop_the_store_stays_as_it_is),
        cmocka_unit_test(what_was_merged_stays_counted),
        cmocka_unit_test(once_it_has_stopped_nothing_is_left_in_the_engine),
        cmocka_unit_test(it_has_not_stopped_while_a_callback_runs),
        cmocka_unit_test(one_that_waits_to_try_again_can_be_stopped),
        cmocka_unit_test(its_health_shows_the_worst_handler_and_skipped_objects),
        cmocka_unit_test(its_options_reach_the_source_and_the_store),
        cmocka_unit_test(a_flood_holds_the_source_back_until_it_is_done_with),
        cmocka_unit_test(what_it_did_not_get_to_is_left_in_no_engine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
