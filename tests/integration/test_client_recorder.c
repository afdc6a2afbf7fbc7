/* SPDX-License-Identifier: Apache-2.0 */
/* Events through a client on the embedded API server, from several threads; flushed by a close, or
 * dropped with the loop.  threads: yes */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <kinformer/apiserver.h>
#include <kinformer/builtin_resources.h>
#include <kinformer/client.h>
#include <kinformer/list.h>
#include <kinformer/loop.h>
#include <kinformer/recorder.h>

#include "support/objects.h"
#include "support/test.h"

enum { THREADS = 3, EACH = 20 };

typedef struct fixture {
    test_alloc alloc;
    ki_apiserver *server;
    ki_client *client;
    ki_recorder *recorder;
    ki_object *pod;
} fixture;

static void begin(fixture *f, uint32_t flush_ms)
{
    memset(f, 0, sizeof(*f));
    test_alloc_init(&f->alloc);
    ki_client_options options = KI_OPTIONS_INIT(ki_client_options);
    options.alloc = &f->alloc.table;
    assert_int_equal(ki_apiserver_new(NULL, &f->server, NULL), 0);
    assert_int_equal(ki_apiserver_client(f->server, &options, &f->client, NULL), 0);
    ki_recorder_options how = KI_OPTIONS_INIT(ki_recorder_options);
    how.controller = "example.com/web";
    how.flush_ms = flush_ms;
    assert_int_equal(ki_recorder_new(f->client, &how, &f->recorder, NULL), 0);
    f->pod = test_json("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"namespace\":"
                       "\"default\",\"name\":\"web\",\"uid\":\"u1\"}}");
}

static void end(fixture *f)
{
    f->recorder = ki_recorder_close(f->recorder);
    f->client = ki_client_close(f->client);
    f->server = ki_apiserver_unref(f->server);
    (void)ki_object_unref(f->pod);
    test_alloc_done(&f->alloc);
}

static ki_recorder_stats stats(ki_recorder *recorder)
{
    ki_recorder_stats s = KI_OPTIONS_INIT(ki_recorder_stats);
    assert_int_equal(ki_recorder_get_stats(recorder, &s), 0);
    return s;
}

static ki_list *events(fixture *f)
{
    ki_list *list = NULL;
    assert_int_equal(
        ki_apiserver_list(f->server, KI_EVENTS_V1_EVENTS, "default", NULL, &list, NULL), 0);
    return list;
}

static void *record_some(void *user)
{
    fixture *f = user;
    for (int i = 0; i < EACH; i++) {
        (void)ki_recorder_event(f->recorder, f->pod, KI_EVENT_NORMAL, "Synced", NULL, "all good");
    }
    return NULL;
}

static void a_close_sends_everything(void **state)
{
    (void)state;
    fixture f;
    begin(&f, 20000);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, record_some, &f), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    ki_recorder *kept = ki_recorder_ref(f.recorder);
    f.recorder = ki_recorder_close(f.recorder);
    ki_recorder_stats s = stats(kept);
    assert_int_equal(s.recorded, THREADS * EACH);
    assert_int_equal(s.created, 1);
    assert_int_equal(s.patched, 24);
    assert_int_equal(s.filtered, THREADS * EACH - 25);
    assert_int_equal(s.failed + s.dropped + s.queued, 0);
    assert_int_equal(ki_recorder_event(kept, f.pod, KI_EVENT_NORMAL, "Late", NULL, ""),
                     KI_ERR_STOPPED);
    (void)ki_recorder_unref(kept);
    ki_list *list = events(&f);
    assert_int_equal(ki_list_count(list), 1);
    const ki_object *event = ki_list_at(list, 0);
    assert_true(ki_object_equals(event, "reason", "Synced"));
    assert_true(ki_object_equals(event, "note", "all good"));
    assert_true(ki_object_equals(event, "regarding.name", "web"));
    assert_int_equal(ki_object_int64_or(event, "series.count", 0), 25);
    (void)ki_list_unref(list);
    end(&f);
}

static void a_server_that_fails_does_not_delay_a_close(void **state)
{
    (void)state;
    fixture f;
    begin(&f, 200);
    assert_int_equal(ki_apiserver_set_faults(f.server, "status=503", NULL), 0);
    (void)ki_recorder_event(f.recorder, f.pod, KI_EVENT_WARNING, "A", NULL, "x");
    (void)ki_recorder_event(f.recorder, f.pod, KI_EVENT_WARNING, "B", NULL, "x");
    ki_recorder *kept = ki_recorder_ref(f.recorder);
    struct timespec before;
    struct timespec after;
    (void)clock_gettime(CLOCK_MONOTONIC, &before);
    f.recorder = ki_recorder_close(f.recorder);
    (void)clock_gettime(CLOCK_MONOTONIC, &after);
    assert_true(after.tv_sec - before.tv_sec < 8);
    assert_int_equal(stats(kept).dropped, 2);
    (void)ki_recorder_unref(kept);
    end(&f);
}

static void a_stopped_loop_ends_the_recorder(void **state)
{
    (void)state;
    fixture f;
    begin(&f, 20000);
    assert_int_equal(ki_apiserver_set_faults(f.server, "latency=2s", NULL), 0);
    (void)ki_recorder_event(f.recorder, f.pod, KI_EVENT_WARNING, "A", NULL, "x");
    ki_loop_stop(ki_client_loop(f.client));
    for (int i = 0; i < 5000 && stats(f.recorder).dropped == 0; i++) {
        (void)nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    assert_int_equal(stats(f.recorder).dropped, 1);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_close_sends_everything),
        cmocka_unit_test(a_server_that_fails_does_not_delay_a_close),
        cmocka_unit_test(a_stopped_loop_ends_the_recorder),
    };
    return cmocka_run_group_tests_name("events of a client", tests, NULL, NULL);
}
