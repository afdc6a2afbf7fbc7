/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for versions of a cache, the record of a program's writes, and a controller that waits
 * for its own writes. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <kinformer/consistency.h>
#include <kinformer/controller.h>
#include <kinformer/parts/shared_informer.h>
#include <kinformer/worker.h>

#include "support/fake_clock.h"
#include "support/fake_source.h"
#include "support/objects.h"
#include "support/test.h"
#include "support/workqueue.h"
#include "support/world.h"

typedef struct fixture {
    test_alloc alloc;
    test_world world;
    ki_engine *engine;
    fake_source source;
    ki_informer *informer;
    ki_consistency *consistency;
    const char *listed; /* version of the next list */
    int results[8];     /* of callbacks, in order */
    int called;
    bool stops; /* the next callback stops and releases the informer */
} fixture;

static void respond(fake_source *source, const fake_request *request, void *user)
{
    const fixture *f = user;
    if (!request->watch) {
        fake_end_list(source, f->listed, "");
    }
}

static void begin_with(fixture *f, ki_queue_kind queue)
{
    memset(f, 0, sizeof(*f));
    test_alloc_init(&f->alloc);
    test_world_init(&f->world);
    ki_engine_options engine = test_world_engine_options(&f->world, &f->alloc.table);
    assert_int_equal(ki_engine_new(&engine, &f->engine, NULL), 0);
    fake_source_init(&f->source, f->engine, &f->world);
    f->source.respond = respond;
    f->source.respond_user = f;
    f->listed = "10";
    ki_informer_options options = KI_OPTIONS_INIT(ki_informer_options);
    options.engine = f->engine;
    options.source = &f->source.table;
    options.no_streaming = true;
    options.queue = queue;
    assert_int_equal(ki_informer_new(&options, &f->informer, NULL), 0);
    const ki_consistency_options record = {
        .size = sizeof(record), .alloc = &f->alloc.table, .max_writes = 4};
    assert_int_equal(ki_consistency_new(&record, &f->consistency, NULL), 0);
}

static void start(fixture *f)
{
    assert_int_equal(ki_informer_start(f->informer, NULL), 0);
    test_world_settle(f->engine);
    assert_int_equal(ki_consistency_add_informer(f->consistency, f->informer, NULL), 0);
}

static void begin(fixture *f)
{
    begin_with(f, KI_QUEUE_FIFO);
    start(f);
}

static void end(fixture *f)
{
    ki_informer_stop(f->informer);
    test_world_settle(f->engine);
    assert_null(ki_consistency_unref(f->consistency));
    (void)ki_informer_unref(f->informer);
    fake_source_done(&f->source);
    (void)ki_engine_unref(f->engine);
    test_alloc_done(&f->alloc);
}

static ki_object *make(const char *name, const char *uid, const char *version, bool deleting)
{
    char text[256];
    (void)snprintf(text, sizeof(text),
                   "{'apiVersion':'v1','kind':'Pod','metadata':{'namespace':'default',"
                   "'name':'%s','uid':'%s','resourceVersion':'%s'%s}}",
                   name, uid, version,
                   deleting ? ",'deletionTimestamp':'2026-01-01T00:00:00Z'" : "");
    return test_object(NULL, text);
}

static void event(fixture *f, ki_watch_event_type type, const char *name, const char *version)
{
    fake_event(&f->source, type, make(name, "u1", version, false));
    test_world_settle(f->engine);
}

static void bookmark(fixture *f, const char *version)
{
    fake_bookmark(&f->source, version, false);
    test_world_settle(f->engine);
}

static int wrote(fixture *f, const char *key, const char *uid, const char *version)
{
    return ki_consistency_wrote(f->consistency, f->informer, key, uid, version);
}

static bool is_current(fixture *f, const char *key)
{
    return ki_consistency_is_current(f->consistency, key);
}

/* ---- versions ---- */

static void a_store_is_at_least_at_what_it_has_seen(void **state)
{
    (void)state;
    fixture f;
    begin_with(&f, KI_QUEUE_FIFO);
    ki_store *store = ki_informer_store(f.informer);
    assert_false(ki_store_is_at_least(store, "1")); /* before the first list */
    start(&f);
    assert_true(ki_store_is_at_least(store, "9"));
    assert_true(ki_store_is_at_least(store, "10"));
    assert_false(ki_store_is_at_least(store, "11"));
    static const char *const bad[] = {"", "0", "010", "x", "-1", "1 "};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_false(ki_store_is_at_least(store, bad[i]));
    }
    event(&f, KI_WATCH_EVENT_ADDED, "a", "11");
    assert_true(ki_store_is_at_least(store, "11"));
    bookmark(&f, "100000000000000000000000000"); /* longer than 64 bits */
    assert_true(ki_store_is_at_least(store, "99999999999999999999999999"));
    assert_false(ki_store_is_at_least(store, "100000000000000000000000001"));
    end(&f);
}

static void a_wait_without_time_only_looks(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    ki_error error = KI_ERROR_INIT;
    assert_int_equal(ki_informer_wait_version(f.informer, "10", 0, &error), 0);
    assert_int_equal(ki_informer_wait_version(f.informer, "12", 0, &error), -ETIMEDOUT);
    assert_non_null(strstr(error.message, "at version '10', not yet at 12"));
    assert_int_equal(ki_informer_wait_version(f.informer, "1x", 0, &error), KI_ERR_INVALID);
    assert_string_equal(error.message, "resource_version: not a decimal number");
    ki_informer_stop(f.informer);
    assert_int_equal(ki_informer_wait_version(f.informer, "12", UINT32_MAX, &error),
                     KI_ERR_STOPPED);
    assert_int_equal(ki_informer_wait_version(f.informer, "10", 0, &error), 0);
    end(&f);
}

static void queues_by_key_are_refused(void **state)
{
    (void)state;
    fixture f;
    begin_with(&f, KI_QUEUE_DELTA_FIFO);
    ki_error error = KI_ERROR_INIT;
    assert_int_equal(ki_consistency_add_informer(f.consistency, f.informer, &error),
                     KI_ERR_UNSUPPORTED);
    assert_int_equal(ki_informer_wait_version(f.informer, "1", 0, &error), KI_ERR_UNSUPPORTED);
    end(&f);
}

static void on_version(ki_informer *informer, int result, void *user)
{
    fixture *f = user;
    assert_ptr_equal(informer, f->informer);
    f->results[f->called++] = result;
    if (f->stops) {
        ki_informer_stop(informer);
    }
}

static int expect_version(fixture *f, const char *version, uint32_t timeout_ms)
{
    return ki_informer_on_version(f->informer, version, timeout_ms, on_version, f, NULL);
}

static void callbacks_come_once_with_their_result(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    assert_int_equal(expect_version(&f, "10", 1000), 0);
    assert_int_equal(f.called, 0); /* never inside the call */
    test_world_settle(f.engine);
    assert_int_equal(f.called, 1);
    assert_int_equal(f.results[0], 0);
    assert_int_equal(expect_version(&f, "12", 1000), 0);
    assert_int_equal(expect_version(&f, "14", UINT32_MAX), 0);
    assert_int_equal(expect_version(&f, "20", 3000), 0);
    event(&f, KI_WATCH_EVENT_ADDED, "a", "12");
    assert_int_equal(f.called, 2);
    bookmark(&f, "14");
    assert_int_equal(f.called, 3);
    assert_int_equal(f.results[2], 0);
    test_world_advance(&f.world, f.engine, 2999 * TEST_MS);
    assert_int_equal(f.called, 3);
    test_world_advance(&f.world, f.engine, TEST_MS);
    assert_int_equal(f.called, 4);
    assert_int_equal(f.results[3], -ETIMEDOUT);
    assert_int_equal(expect_version(&f, "99", UINT32_MAX), 0);
    assert_int_equal(expect_version(&f, "x", 1), KI_ERR_INVALID);
    ki_informer_stop(f.informer);
    assert_int_equal(expect_version(&f, "99", UINT32_MAX), KI_ERR_STOPPED);
    test_world_settle(f.engine);
    assert_int_equal(f.called, 5);
    assert_int_equal(f.results[4], KI_ERR_STOPPED);
    end(&f);
}

static void a_callback_may_stop_the_informer(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    f.stops = true;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(expect_version(&f, i < 2 ? "11" : "12", UINT32_MAX), 0);
    }
    event(&f, KI_WATCH_EVENT_ADDED, "a", "11");
    test_world_settle(f.engine);
    assert_int_equal(f.called, 3);
    assert_int_equal(f.results[0], 0);
    assert_int_equal(f.results[1], 0);
    assert_int_equal(f.results[2], KI_ERR_STOPPED);
    end(&f);
}

/* ---- the record ---- */

static void a_key_waits_for_its_newest_write_only(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    assert_true(is_current(&f, "a"));
    assert_int_equal(wrote(&f, "a", "u", "14"), 0);
    assert_int_equal(wrote(&f, "a", "u", "12"), 0); /* older: nothing changes */
    assert_int_equal(ki_consistency_count(f.consistency), 1);
    assert_false(is_current(&f, "a"));
    assert_true(is_current(&f, "b"));
    event(&f, KI_WATCH_EVENT_ADDED, "x", "13");
    assert_false(is_current(&f, "a"));
    bookmark(&f, "14");
    assert_int_equal(ki_consistency_count(f.consistency), 1);
    assert_true(is_current(&f, "a"));
    assert_int_equal(ki_consistency_count(f.consistency), 0);
    end(&f);
}

static void writes_for_an_old_uid_do_not_count(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    assert_int_equal(wrote(&f, "a", "u1", "50"), 0);
    assert_int_equal(wrote(&f, "a", "u2", "11"), 0);
    event(&f, KI_WATCH_EVENT_ADDED, "x", "11");
    assert_true(is_current(&f, "a"));
    assert_int_equal(wrote(&f, "a", "u2", "60"), 0);
    ki_consistency_clear(f.consistency, "a", "u1");
    assert_false(is_current(&f, "a"));
    ki_consistency_clear(f.consistency, "a", "u2");
    assert_true(is_current(&f, "a"));
    assert_int_equal(wrote(&f, "a", NULL, "60"), 0);
    ki_consistency_clear(f.consistency, "b", NULL);
    assert_false(is_current(&f, "a"));
    ki_consistency_clear(f.consistency, "a", NULL);
    assert_true(is_current(&f, "a"));
    end(&f);
}

static void bad_arguments_are_refused(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    char long_text[1200];
    memset(long_text, '1', sizeof(long_text));
    long_text[sizeof(long_text) - 1] = '\0';
    assert_int_equal(wrote(&f, "a", "u", "x"), KI_ERR_INVALID);
    assert_int_equal(wrote(&f, "a", "u", ""), KI_ERR_INVALID);
    assert_int_equal(wrote(&f, "a", "u", long_text), KI_ERR_LIMIT);
    assert_int_equal(wrote(&f, long_text, "u", "1"), KI_ERR_LIMIT);
    assert_int_equal(wrote(&f, "a", long_text, "1"), KI_ERR_LIMIT);
    assert_int_equal(ki_consistency_add_informer(f.consistency, f.informer, NULL), KI_ERR_EXISTS);
    ki_consistency *other = NULL;
    assert_int_equal(ki_consistency_new(NULL, &other, NULL), 0);
    assert_int_equal(ki_consistency_wrote(other, f.informer, "a", "u", "1"), KI_ERR_NOT_FOUND);
    assert_null(ki_consistency_unref(other));
    ki_object *no_uid = make("x", "", "12", false);
    assert_int_equal(ki_consistency_will_delete(f.consistency, f.informer, "a", "u", no_uid),
                     KI_ERR_INVALID);
    (void)ki_object_unref(no_uid);
    assert_int_equal(ki_consistency_count(f.consistency), 0);
    assert_true(ki_consistency_is_current(NULL, "a"));
    end(&f);
}

static void deleted(fixture *f, const char *key, const char *name, const char *version)
{
    ki_object *object = make(name, "u1", version, false);
    assert_int_equal(ki_consistency_will_delete(f->consistency, f->informer, key, "u", object), 0);
    (void)ki_object_unref(object);
}

static void a_deletion_arrives_with_the_object_gone(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    deleted(&f, "a", "x", "12"); /* the store has not even seen it */
    assert_false(is_current(&f, "a"));
    event(&f, KI_WATCH_EVENT_ADDED, "x", "12");
    assert_false(is_current(&f, "a"));
    event(&f, KI_WATCH_EVENT_ADDED, "other", "13");
    assert_false(is_current(&f, "a"));
    event(&f, KI_WATCH_EVENT_DELETED, "x", "14");
    assert_true(is_current(&f, "a"));
    end(&f);
}

static void a_deletion_arrives_as_a_timestamp_or_another_uid(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    event(&f, KI_WATCH_EVENT_ADDED, "x", "11");
    event(&f, KI_WATCH_EVENT_ADDED, "y", "12");
    deleted(&f, "a", "x", "11");
    deleted(&f, "a", "y", "12");
    assert_int_equal(ki_consistency_count(f.consistency), 2);
    assert_false(is_current(&f, "a"));
    fake_event(&f.source, KI_WATCH_EVENT_MODIFIED, make("x", "u1", "13", true));
    test_world_settle(f.engine);
    assert_false(is_current(&f, "a"));
    event(&f, KI_WATCH_EVENT_DELETED, "y", "14");
    fake_event(&f.source, KI_WATCH_EVENT_ADDED, make("y", "u2", "15", false));
    test_world_settle(f.engine);
    assert_true(is_current(&f, "a"));
    end(&f);
}

static void too_many_writes_delay_all_keys(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    for (char key[2] = "a"; key[0] < 'e'; key[0]++) {
        assert_int_equal(wrote(&f, key, "u", "30"), 0);
    }
    assert_true(is_current(&f, "z"));
    assert_int_equal(wrote(&f, "e", "u", "20"), 0);
    assert_false(is_current(&f, "e"));
    assert_false(is_current(&f, "z"));
    assert_int_equal(wrote(&f, "e", "u", "21"), 0);
    ki_object *object = make("x", "u1", "12", false);
    assert_int_equal(ki_consistency_will_delete(f.consistency, f.informer, "e", "u", object),
                     KI_ERR_LIMIT);
    (void)ki_object_unref(object);
    bookmark(&f, "20");
    assert_false(is_current(&f, "z"));
    bookmark(&f, "21");
    assert_true(is_current(&f, "z"));
    assert_true(is_current(&f, "e"));
    assert_false(is_current(&f, "a"));
    end(&f);
}

static void a_restored_backup_drops_what_it_lost(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    assert_int_equal(wrote(&f, "a", "u", "1000"), 0);
    assert_int_equal(wrote(&f, "b", "u", "1000"), 0);
    bookmark(&f, "20");
    assert_false(is_current(&f, "a"));
    f.listed = "15";
    fake_error_event(&f.source, 410, "Expired", "too old resource version");
    test_world_settle(f.engine);
    test_world_advance(&f.world, f.engine, 60 * TEST_SECOND);
    assert_false(ki_store_is_at_least(ki_informer_store(f.informer), "16"));
    assert_true(is_current(&f, "b"));
    assert_int_equal(ki_consistency_count(f.consistency), 0);
    assert_true(is_current(&f, "a"));
    end(&f);
}

/* ---- memory ---- */

static int record_with(const ki_alloc *alloc, void *user)
{
    fixture *f = user;
    ki_consistency *c = NULL;
    const ki_consistency_options options = {.size = sizeof(options), .alloc = alloc};
    int r = ki_consistency_new(&options, &c, NULL);
    r = r < 0 ? r : ki_consistency_add_informer(c, f->informer, NULL);
    if (r < 0) {
        (void)ki_consistency_unref(c);
        return r;
    }
    /* Recorded for its key or for all: never lost. */
    assert_int_equal(ki_consistency_wrote(c, f->informer, "a", "u", "1000"), 0);
    assert_false(ki_consistency_is_current(c, "a"));
    assert_int_equal(ki_consistency_wrote(c, f->informer, "a", "v", "1001"), 0);
    assert_false(ki_consistency_is_current(c, "a"));
    ki_object *object = make("x", "u1", "1002", false);
    r = ki_consistency_will_delete(c, f->informer, "b", "u", object);
    assert_true(r < 0 || !ki_consistency_is_current(c, "b"));
    (void)ki_object_unref(object);
    assert_null(ki_consistency_unref(c));
    return r;
}

static void recording_survives_failing_memory(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    test_alloc_sweep(record_with, &f);
    f.alloc.fail_at = f.alloc.calls + 1;
    assert_int_equal(expect_version(&f, "99", 5), -ENOMEM);
    assert_int_equal(wrote(&f, "a", "u", "2"), 0);
    end(&f);
}

/* ---- the controller ---- */

typedef struct counted {
    fixture *f;
    int runs;
} counted;

static int reconcile(const char *key, uint64_t *retry_after_ms, ki_error *error, void *user)
{
    counted *c = user;
    (void)retry_after_ms;
    (void)error;
    c->runs++;
    return strcmp(key, "a") == 0 && c->runs == 1 ? wrote(c->f, key, "u", "12") : 0;
}

static void a_controller_waits_for_its_own_writes(void **state)
{
    (void)state;
    fixture f;
    fake_clock clock;
    begin(&f);
    fake_clock_init(&clock);
    counted c = {.f = &f};
    ki_workqueue *queue = NULL;
    ki_controller *controller = NULL;
    assert_int_equal(
        ki_workqueue_new(KI_OPTIONS(ki_workqueue_options, .clock = &clock.table), &queue, NULL), 0);
    assert_int_equal(
        ki_controller_new(KI_OPTIONS(ki_controller_options, .queue = queue, .reconcile = reconcile,
                                     .user = &c, .consistency = f.consistency),
                          &controller, NULL),
        0);
    (void)wq_add(queue, "a");
    assert_int_equal(ki_controller_work_one(controller), 1);
    assert_int_equal(c.runs, 1);
    (void)wq_add(queue, "a");
    assert_int_equal(ki_controller_work_one(controller), 1); /* only requeued */
    assert_int_equal(c.runs, 1);
    assert_int_equal(ki_workqueue_requeues(queue, "a"), 0); /* not a failure */
    (void)wq_add(queue, "b");
    assert_int_equal(ki_controller_work_one(controller), 1);
    assert_int_equal(c.runs, 2);
    for (int i = 0; i < 9; i++) { /* 5 ms passed: 10, 20, ... up to 1,280 */
        fake_clock_advance(&clock, (i < 8 ? 5 * MS_NS << i : 1280 * MS_NS) - 1);
        assert_int_equal(ki_controller_work_one(controller), 0);
        fake_clock_advance(&clock, 1);
        assert_int_equal(ki_controller_work_one(controller), 1);
        assert_int_equal(c.runs, 2);
    }
    bookmark(&f, "12");
    fake_clock_advance(&clock, 1280 * MS_NS);
    assert_int_equal(ki_controller_work_one(controller), 1);
    assert_int_equal(c.runs, 3);
    assert_null(ki_controller_unref(controller));
    assert_null(ki_workqueue_unref(queue));
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_store_is_at_least_at_what_it_has_seen),
        cmocka_unit_test(a_wait_without_time_only_looks),
        cmocka_unit_test(queues_by_key_are_refused),
        cmocka_unit_test(callbacks_come_once_with_their_result),
        cmocka_unit_test(a_callback_may_stop_the_informer),
        cmocka_unit_test(a_key_waits_for_its_newest_write_only),
        cmocka_unit_test(writes_for_an_old_uid_do_not_count),
        cmocka_unit_test(bad_arguments_are_refused),
        cmocka_unit_test(a_deletion_arrives_with_the_object_gone),
        cmocka_unit_test(a_deletion_arrives_as_a_timestamp_or_another_uid),
        cmocka_unit_test(too_many_writes_delay_all_keys),
        cmocka_unit_test(a_restored_backup_drops_what_it_lost),
        cmocka_unit_test(recording_survives_failing_memory),
        cmocka_unit_test(a_controller_waits_for_its_own_writes),
    };
    return cmocka_run_group_tests_name("consistency", tests, NULL, NULL);
}
