/* SPDX-License-Identifier: Apache-2.0 */
/* A source that the program fills: what lists and watches get, also after pauses, cancellations,
 * failures and falling behind; and informers on it while other threads change it.
 * threads: yes */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <kinformer/health.h>
#include <kinformer/informer.h>
#include <kinformer/parts/local_source.h>
#include <kinformer/parts/shared_informer.h>
#include <kinformer/status.h>

#include "support/test.h"
#include "support/world.h"

typedef struct fixture {
    test_alloc alloc;
    test_world world;
    ki_engine *engine;
    ki_local_source *local;
    ki_source source;
    void *call;
    char heard[4096]; /* "alive", "ADDED a@1", "end @2", "failed 410" */
    size_t events;
    char cancel_at; /* cancels in what begins with this letter */
} fixture;

static void hear(fixture *f, const char *text)
{
    size_t len = strlen(f->heard);
    if (len + strlen(text) + 2 < sizeof(f->heard)) {
        (void)snprintf(f->heard + len, sizeof(f->heard) - len, "%s%s", len != 0 ? ", " : "", text);
    }
    if (f->cancel_at == text[0]) {
        f->source.cancel(f->call, f->source.user);
        f->call = NULL;
    }
}

static void on_event(ki_watch_event_type type, const ki_object *object, const ki_error *error,
                     void *user)
{
    fixture *f = user;
    char text[128];
    assert_null(error);
    f->events++;
    (void)snprintf(text, sizeof(text), "%s %s@%s", ki_watch_event_type_name(type),
                   ki_object_name(object), ki_object_resource_version(object));
    hear(f, text);
}

static void on_skipped(ki_watch_event_type type, const char *key, const char *resource_version,
                       const ki_error *error, void *user)
{
    (void)type;
    (void)key;
    (void)resource_version;
    (void)error;
    (void)user;
    fail();
}

static void on_alive(size_t bytes, void *user)
{
    assert_int_equal(bytes, 0);
    hear(user, "alive");
}

static void on_end(const ki_list_meta *meta, const ki_error *error, const ki_object *status,
                   void *user)
{
    fixture *f = user;
    char text[128];
    assert_null(status);
    f->call = NULL;
    if (error != NULL) {
        (void)snprintf(text, sizeof(text), "failed %d",
                       error->http_code != 0 ? error->http_code : error->code);
    } else {
        assert_string_equal(meta->continue_token, "");
        (void)snprintf(text, sizeof(text), "end @%s", meta->resource_version);
    }
    hear(f, text);
}

static void begin_with(fixture *f, ki_local_source_options options)
{
    *f = (fixture){0};
    test_alloc_init(&f->alloc);
    test_world_init(&f->world);
    ki_engine_options engine = test_world_engine_options(&f->world, &f->alloc.table);
    assert_int_equal(ki_engine_new(&engine, &f->engine, NULL), 0);
    options.size = sizeof(options);
    options.engine = f->engine;
    assert_int_equal(ki_local_source_new(&options, &f->local, NULL), 0);
    f->source = (ki_source){0};
    assert_int_equal(ki_local_source_table(f->local, &f->source), 0);
}

static void begin(fixture *f)
{
    begin_with(f, (ki_local_source_options){0});
}

static void end(fixture *f)
{
    if (f->call != NULL) {
        f->source.cancel(f->call, f->source.user);
    }
    f->source.destroy(f->source.user);
    f->local = ki_local_source_unref(f->local);
    test_world_settle(f->engine);
    (void)ki_engine_unref(f->engine);
    test_alloc_done(&f->alloc);
}

static int begin_call(fixture *f, bool watch, const char *version, ki_error *error)
{
    const ki_source_sink sink = {.on_event = on_event,
                                 .on_skipped = on_skipped,
                                 .on_alive = on_alive,
                                 .on_end = on_end,
                                 .user = f};
    ki_list_options options = KI_OPTIONS_INIT(ki_list_options);
    options.resource_version = version;
    return watch ? f->source.watch(&options, &sink, f->source.user, &f->call, error)
                 : f->source.list(&options, &sink, f->source.user, &f->call, error);
}

static void list(fixture *f)
{
    assert_int_equal(begin_call(f, false, "", NULL), 0);
}

static void watch(fixture *f, const char *version)
{
    assert_int_equal(begin_call(f, true, version, NULL), 0);
}

static ki_object *device(const char *name, const char *version)
{
    char json[160];
    ki_object *object = NULL;
    int len = snprintf(json, sizeof(json),
                       "{\"kind\":\"Device\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"%s\","
                       "\"resourceVersion\":\"%s\"}}",
                       name, version);
    assert_int_equal(ki_object_from_json(json, (size_t)len, NULL, &object, NULL), 0);
    return object;
}

static int change(fixture *f, bool put, const char *name, const char *version)
{
    ki_object *object = device(name, version);
    int r = put ? ki_local_source_put(f->local, object, NULL)
                : ki_local_source_remove(f->local, object, NULL);
    (void)ki_object_unref(object);
    return r;
}

static void put(fixture *f, const char *name, const char *version)
{
    assert_int_equal(change(f, true, name, version), 0);
}

static void take(fixture *f, const char *name, const char *version)
{
    assert_int_equal(change(f, false, name, version), 0);
}

static void expect(fixture *f, const char *heard)
{
    test_world_settle(f->engine);
    assert_string_equal(f->heard, heard);
    f->heard[0] = '\0';
}

/* ---- lists and watches ---- */

static void a_list_has_what_is_there_and_a_watch_what_changes(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    put(&f, "a", "7");
    list(&f);
    assert_string_equal(f.heard, ""); /* nothing from inside the call */
    expect(&f, "alive, ADDED a@7, end @7");
    watch(&f, "7");
    expect(&f, "alive");
    put(&f, "b", "8");
    put(&f, "a", "9");
    take(&f, "b", "10");
    expect(&f, "ADDED b@8, MODIFIED a@9, DELETED b@10");
    end(&f);
}

static void nothing_is_missed_between_list_and_watch(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    list(&f);
    put(&f, "a", "1"); /* after the list was requested: not in it */
    expect(&f, "alive, end @");
    put(&f, "b", "2");
    watch(&f, "");
    expect(&f, "alive, ADDED a@1, ADDED b@2");
    f.source.cancel(f.call, f.source.user);
    put(&f, "b", "12");
    watch(&f, "1"); /* and from where it was; 12 comes after 2 */
    expect(&f, "alive, ADDED b@2, MODIFIED b@12");
    f.source.cancel(f.call, f.source.user);
    watch(&f, "12");
    expect(&f, "alive");
    end(&f);
}

static void one_that_falls_behind_is_expired(void **state)
{
    (void)state;
    fixture f;
    ki_error error = KI_ERROR_INIT;
    begin_with(&f, (ki_local_source_options){.history = 2});
    put(&f, "a", "1");
    list(&f);
    expect(&f, "alive, ADDED a@1, end @1");
    watch(&f, "1");
    expect(&f, "alive");
    f.source.pause(f.call, true, f.source.user);
    put(&f, "a", "2");
    put(&f, "a", "3");
    expect(&f, "");
    f.source.pause(f.call, false, f.source.user);
    expect(&f, "MODIFIED a@2, MODIFIED a@3");
    f.source.pause(f.call, true, f.source.user);
    put(&f, "a", "4");
    put(&f, "a", "5");
    put(&f, "a", "6");
    f.source.pause(f.call, false, f.source.user);
    expect(&f, "failed 410");
    assert_int_equal(begin_call(&f, true, "3", &error), KI_ERR_STATUS);
    assert_true(ki_error_is_resource_expired(&error));
    watch(&f, "4");
    expect(&f, "alive, MODIFIED a@5, MODIFIED a@6");
    end(&f);
}

static void calls_are_cancelled_anywhere(void **state)
{
    (void)state;
    for (const char *at = "aADMef"; *at != '\0'; at++) {
        fixture f;
        begin(&f);
        put(&f, "a", "1");
        f.cancel_at = *at == 'e' || *at == 'f' ? '\0' : *at;
        list(&f);
        test_world_settle(f.engine);
        if (f.call == NULL) {
            watch(&f, "1");
            put(&f, "a", "2");
            put(&f, "b", "3");
            take(&f, "a", "4");
            test_world_settle(f.engine);
        }
        put(&f, "c", "9");
        test_world_settle(f.engine);
        end(&f);
    }
    fixture f; /* and before anything was said */
    begin(&f);
    list(&f);
    f.source.cancel(f.call, f.source.user);
    f.call = NULL;
    expect(&f, "");
    end(&f);
}

/* Several calls take turns; a long list does not keep a watch waiting. */
static void long_lists_come_in_batches(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    for (int i = 1; i <= 1000; i++) {
        char name[16];
        char version[16];
        (void)snprintf(name, sizeof(name), "o%d", i);
        (void)snprintf(version, sizeof(version), "%d", i);
        put(&f, name, version);
    }
    list(&f);
    test_world_settle(f.engine);
    assert_int_equal(f.events, 1000);
    assert_null(f.call);
    end(&f);
}

/* ---- failures ---- */

static void a_failure_ends_all_calls_until_it_is_over(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    list(&f);
    expect(&f, "alive, end @");
    watch(&f, "");
    expect(&f, "alive");
    f.source.pause(f.call, true, f.source.user); /* also one that is paused */
    assert_int_equal(ki_local_source_fail(f.local, &(ki_error){.code = -EHOSTUNREACH}), 0);
    char failed[32];
    (void)snprintf(failed, sizeof(failed), "failed %d", -EHOSTUNREACH);
    expect(&f, failed);
    list(&f);
    expect(&f, failed);
    put(&f, "a", "5");
    assert_int_equal(ki_local_source_fail(f.local, &(ki_error){0}), -EINVAL);
    assert_int_equal(ki_local_source_fail(f.local, NULL), 0);
    list(&f);
    expect(&f, "alive, ADDED a@5, end @5");
    end(&f);
}

static void bad_changes_and_options_are_refused(void **state)
{
    (void)state;
    fixture f;
    begin_with(&f, (ki_local_source_options){.max_objects = 2, .url = "house:/devices"});
    assert_string_equal(f.source.url, "house:/devices");
    put(&f, "a", "20");
    put(&f, "b", "10"); /* in any order, before the first list */
    assert_int_equal(change(&f, true, "c", "30"), KI_ERR_LIMIT);
    assert_int_equal(change(&f, true, "a", ""), KI_ERR_INVALID);
    assert_int_equal(change(&f, true, "a", "0"), KI_ERR_INVALID);
    assert_int_equal(change(&f, true, "a", "x"), KI_ERR_INVALID);
    assert_int_equal(change(&f, true, "", "40"), KI_ERR_KEY);
    assert_int_equal(change(&f, false, "c", "40"), KI_ERR_NOT_FOUND);
    list(&f);
    test_world_settle(f.engine);
    assert_non_null(strstr(f.heard, "end @20"));
    assert_int_equal(change(&f, true, "b", "20"), KI_ERR_STALE);
    assert_int_equal(change(&f, false, "b", "19"), KI_ERR_STALE);
    take(&f, "b", "21");
    put(&f, "c", "22");
    ki_error error = KI_ERROR_INIT;
    assert_int_equal(begin_call(&f, true, "x", &error), KI_ERR_INVALID);
    ki_list_options selecting = KI_OPTIONS_INIT(ki_list_options);
    ki_source_sink sink = {0};
    selecting.label_selector = "a=b";
    assert_int_equal(f.source.list(&selecting, &sink, f.source.user, &f.call, &error),
                     KI_ERR_UNSUPPORTED);
    end(&f);
    ki_local_source *none = NULL;
    assert_int_equal(ki_local_source_new(NULL, &none, NULL), -EINVAL);
    assert_null(ki_local_source_unref(NULL));
    assert_null(ki_local_source_ref(NULL));
}

static int scenario(const ki_alloc *alloc, void *user)
{
    (void)user;
    test_world world;
    test_world_init(&world);
    ki_engine_options options = test_world_engine_options(&world, alloc);
    fixture f = {0};
    int r = ki_engine_new(&options, &f.engine, NULL);
    if (r < 0) {
        return r;
    }
    r = ki_local_source_new(KI_OPTIONS(ki_local_source_options, .engine = f.engine), &f.local,
                            NULL);
    if (r == 0) {
        f.source = (ki_source){0};
        assert_int_equal(ki_local_source_table(f.local, &f.source), 0);
        r = change(&f, true, "a", "1");
        r = r < 0 ? r : begin_call(&f, false, "", NULL);
        test_world_settle(f.engine);
        r = r < 0 ? r : change(&f, true, "a", "2");
        r = r < 0 ? r : begin_call(&f, true, "1", NULL);
        test_world_settle(f.engine);
        if (f.call != NULL) {
            f.source.cancel(f.call, f.source.user);
        }
        f.source.destroy(f.source.user);
    }
    (void)ki_local_source_unref(f.local);
    (void)ki_engine_unref(f.engine);
    return r;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    test_alloc_sweep(scenario, NULL);
}

/* ---- informers ---- */

enum { ROUNDS = 2000, NAMES = 20 };

static void *change_much(void *user)
{
    fixture *f = user;
    for (int i = 1; i <= ROUNDS; i++) {
        char name[16];
        char version[16];
        (void)snprintf(name, sizeof(name), "o%d", i % NAMES);
        (void)snprintf(version, sizeof(version), "%d", i);
        int r = i % 3 == 0 ? change(f, false, name, version) : change(f, true, name, version);
        assert_true(r == 0 || r == KI_ERR_NOT_FOUND);
    }
    return NULL;
}

static ki_informer *start_informer(fixture *f)
{
    ki_informer *informer = NULL;
    ki_source source = {0};
    assert_int_equal(ki_local_source_table(f->local, &source), 0);
    ki_informer_options options = KI_OPTIONS_INIT(ki_informer_options);
    options.engine = f->engine;
    options.source = &source;
    assert_int_equal(ki_informer_new(&options, &informer, NULL), 0);
    assert_int_equal(ki_informer_start(informer, NULL), 0);
    return informer;
}

static bool is_same(fixture *f, ki_informer *informer, const char *version)
{
    char text[64];
    test_world_advance(&f->world, f->engine, 100 * TEST_MS);
    return ki_informer_last_sync_resource_version(informer, text, sizeof(text)) > 0 &&
           strcmp(text, version) == 0;
}

static void informers_follow_what_another_thread_changes(void **state)
{
    (void)state;
    fixture f;
    begin_with(&f, (ki_local_source_options){.history = 100});
    ki_informer *informers[2] = {start_informer(&f), start_informer(&f)};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, change_much, &f), 0);
    for (int i = 0; i < 50; i++) {
        test_world_advance(&f.world, f.engine, 100 * TEST_MS);
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    put(&f, "last", "3000");
    for (int i = 0; i < 2; i++) {
        int tries = 0;
        while (!is_same(&f, informers[i], "3000")) {
            assert_true(++tries < 6000); /* simulated: ten minutes */
        }
    }
    ki_list *lists[2];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(ki_store_list(ki_informer_store(informers[i]), &lists[i]), 0);
    }
    assert_int_equal(ki_list_count(lists[0]), ki_list_count(lists[1]));
    for (int i = 0; i < 2; i++) {
        ki_list_unref(lists[i]);
        ki_informer_stop(informers[i]);
        test_world_settle(f.engine);
        (void)ki_informer_unref(informers[i]);
    }
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_has_what_is_there_and_a_watch_what_changes),
        cmocka_unit_test(nothing_is_missed_between_list_and_watch),
        cmocka_unit_test(one_that_falls_behind_is_expired),
        cmocka_unit_test(calls_are_cancelled_anywhere),
        cmocka_unit_test(long_lists_come_in_batches),
        cmocka_unit_test(a_failure_ends_all_calls_until_it_is_over),
        cmocka_unit_test(bad_changes_and_options_are_refused),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(informers_follow_what_another_thread_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
