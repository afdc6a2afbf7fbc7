/* SPDX-License-Identifier: Apache-2.0 */
/* The event recorder on a server that a test plays: what is sent, what is repeated, what is
 * dropped, and the flush of a stop. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <kinformer/encoding.h>

#include "controller/recorder.h"
#include "support/objects.h"
#include "support/test.h"
#include "support/world.h"

enum { SENT_MAX = 64 };

typedef struct sent {
    bool create;
    bool legacy;
    char name_space[64];
    char name[300];
    char text[4096]; /* the object or the patch */
} sent;

typedef struct fixture {
    test_alloc alloc;
    test_world world;
    ki_engine *engine;
    ki_recorder *recorder;
    sent sent[SENT_MAX];
    int count;
    bool open; /* a request is in progress */
    int cancelled;
    int ended;
    int destroyed;
    int refuse; /* result of the next send */
    ki_object *pod;
} fixture;

static int fake_send(const ki__event_message *message, const ki_object *object, ki_str patch,
                     void *user, ki_error *error)
{
    fixture *f = user;
    assert_false(f->open);
    if (f->refuse != 0) {
        int r = f->refuse;
        f->refuse = 0;
        (void)error;
        return r;
    }
    assert_true(f->count < SENT_MAX);
    sent *s = &f->sent[f->count++];
    s->create = object != NULL;
    s->legacy = message->legacy;
    (void)snprintf(s->name_space, sizeof(s->name_space), "%s", message->name_space);
    (void)snprintf(s->name, sizeof(s->name), "%s", message->name);
    ki_str text = object != NULL ? ki_object_bytes(object) : patch;
    (void)snprintf(s->text, sizeof(s->text), "%.*s", (int)text.len, text.ptr);
    f->open = true;
    return 0;
}

static void fake_cancel(void *user)
{
    fixture *f = user;
    assert_true(f->open);
    f->open = false;
    f->cancelled++;
}

static void fake_ended(void *user)
{
    ((fixture *)user)->ended++;
}

static void fake_destroy(void *user)
{
    ((fixture *)user)->destroyed++;
}

/* `alloc` is NULL for that of the fixture. */
static int open_recorder(fixture *f, const ki_alloc *alloc, size_t max_queued)
{
    memset(f, 0, sizeof(*f));
    test_alloc_init(&f->alloc);
    test_world_init(&f->world);
    ki_engine_options engine =
        test_world_engine_options(&f->world, alloc != NULL ? alloc : &f->alloc.table);
    int r = ki_engine_new(&engine, &f->engine, NULL);
    if (r < 0) {
        test_alloc_done(&f->alloc);
        return r;
    }
    const ki__event_api api = {.send = fake_send,
                               .cancel = fake_cancel,
                               .ended = fake_ended,
                               .destroy = fake_destroy,
                               .user = f};
    const ki_recorder_options options = {.size = sizeof(options),
                                         .controller = "example.com/web",
                                         .instance = "web-1",
                                         .max_queued = max_queued,
                                         .flush_ms = 2000};
    r = ki__recorder_new(f->engine, &options, &api, &f->recorder, NULL);
    if (r < 0) {
        (void)ki_engine_unref(f->engine);
        test_alloc_done(&f->alloc);
        return r;
    }
    f->pod =
        test_json("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"namespace\":\"shop\","
                  "\"name\":\"web\",\"uid\":\"u1\",\"resourceVersion\":\"5\"}}");
    return 0;
}

static void begin(fixture *f)
{
    assert_int_equal(open_recorder(f, NULL, 4), 0);
}

static void end(fixture *f)
{
    ki_recorder_stop(f->recorder);
    test_world_advance(&f->world, f->engine, 3 * TEST_SECOND);
    assert_int_equal(f->ended, 1);
    assert_int_equal(f->destroyed, 0);
    assert_null(ki_recorder_unref(f->recorder));
    test_world_settle(f->engine);
    assert_int_equal(f->destroyed, 1);
    (void)ki_object_unref(f->pod);
    (void)ki_engine_unref(f->engine);
    test_alloc_done(&f->alloc);
}

static int record(fixture *f, const char *reason, const char *note)
{
    int r = ki_recorder_event(f->recorder, f->pod, KI_EVENT_WARNING, reason, "Sync", note);
    test_world_settle(f->engine);
    return r;
}

/* The server responds; inside the engine, as always. */
typedef struct answer_task {
    ki__task task;
    fixture *f;
    const ki_error *error;
} answer_task;

static void run_answer(ki__task *task)
{
    answer_task *a = KI__CONTAINER_OF(task, answer_task, task);
    assert_true(a->f->open);
    a->f->open = false;
    ki__recorder_on_answer(a->f->recorder, a->error);
}

static void answer(fixture *f, int http_code, int code)
{
    ki_error error = KI_ERROR_INIT;
    error.code = code;
    error.http_code = http_code;
    answer_task a = {.f = f, .error = code != 0 ? &error : NULL};
    ki__task_init(&a.task, run_answer);
    (void)ki__engine_post(f->engine, &a.task);
    test_world_settle(f->engine);
}

static ki_recorder_stats stats(fixture *f)
{
    ki_recorder_stats s = KI_OPTIONS_INIT(ki_recorder_stats);
    assert_int_equal(ki_recorder_get_stats(f->recorder, &s), 0);
    return s;
}

static void expect_text(const fixture *f, int at, const char *text)
{
    assert_true(at < f->count);
    if (strstr(f->sent[at].text, text) == NULL) {
        fail_msg("%s: not in %s", text, f->sent[at].text);
    }
}

static void an_event_is_created_and_then_counted(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    assert_int_equal(record(&f, "Failed", "disk full"), 0);
    assert_true(f.sent[0].create && !f.sent[0].legacy);
    assert_string_equal(f.sent[0].name_space, "shop");
    assert_non_null(strstr(f.sent[0].name, "web."));
    expect_text(&f, 0, "\"apiVersion\":\"events.k8s.io/v1\"");
    expect_text(&f, 0,
                "\"regarding\":{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"namespace\":\"shop\","
                "\"name\":\"web\",\"uid\":\"u1\",\"resourceVersion\":\"5\"}");
    expect_text(&f, 0,
                "\"type\":\"Warning\",\"reason\":\"Failed\",\"action\":\"Sync\","
                "\"note\":\"disk full\"");
    expect_text(&f, 0, "\"reportingController\":\"example.com/web\"");
    expect_text(&f, 0, "\"reportingInstance\":\"web-1\"");
    expect_text(&f, 0, "\"eventTime\":\"");
    assert_null(strstr(f.sent[0].text, "series"));
    answer(&f, 0, 0);
    assert_int_equal(record(&f, "Failed", "disk full"), 0);
    assert_false(f.sent[1].create);
    assert_string_equal(f.sent[1].name, f.sent[0].name);
    expect_text(&f, 1, "{\"series\":{\"count\":2,\"lastObservedTime\":\"");
    answer(&f, 0, 0);
    ki_recorder_stats s = stats(&f);
    assert_int_equal(s.recorded, 2);
    assert_int_equal(s.created, 1);
    assert_int_equal(s.patched, 1);
    end(&f);
}

static void a_counted_event_that_is_gone_is_created_again(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    (void)record(&f, "Failed", "x");
    answer(&f, 0, 0);
    (void)record(&f, "Failed", "x");
    answer(&f, 404, KI_ERR_STATUS);
    assert_int_equal(f.count, 3);
    assert_true(f.sent[2].create && !f.sent[2].legacy);
    expect_text(&f, 2, "\"series\":{\"count\":2");
    answer(&f, 0, 0);
    assert_int_equal(stats(&f).failed, 0);
    end(&f);
}

static void core_v1_where_there_is_nothing_else(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    (void)record(&f, "Failed", "x");
    answer(&f, 404, KI_ERR_STATUS);
    assert_true(f.sent[1].create && f.sent[1].legacy);
    expect_text(&f, 1, "\"apiVersion\":\"v1\",\"kind\":\"Event\"");
    expect_text(&f, 1, "\"involvedObject\":{");
    expect_text(&f, 1, "\"message\":\"x\"");
    expect_text(&f, 1, "\"count\":1,\"source\":{\"component\":\"example.com/web\"}");
    answer(&f, 0, 0);
    (void)record(&f, "Failed", "x"); /* remembered */
    assert_true(!f.sent[2].create && f.sent[2].legacy);
    expect_text(&f, 2, "{\"count\":2,\"lastTimestamp\":\"");
    answer(&f, 0, 0);
    end(&f);
}

static void a_missing_namespace_is_no_missing_api(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    (void)record(&f, "Failed", "x");
    answer(&f, 404, KI_ERR_STATUS);
    answer(&f, 404, KI_ERR_STATUS);
    assert_int_equal(stats(&f).failed, 1);
    (void)record(&f, "Failed", "y");
    assert_false(f.sent[2].legacy);
    answer(&f, 0, 0);
    end(&f);
}

static void failures_of_the_network_are_repeated(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    (void)record(&f, "Failed", "x");
    for (int i = 1; i < 12; i++) {
        answer(&f, i % 2 == 0 ? 503 : 0, i % 2 == 0 ? KI_ERR_STATUS : -ECONNRESET);
        assert_int_equal(f.count, i);
        test_world_advance(&f.world, f.engine, 10 * TEST_SECOND);
        assert_int_equal(f.count, i + 1);
    }
    answer(&f, 0, -ECONNRESET);
    test_world_advance(&f.world, f.engine, 60 * TEST_SECOND);
    assert_int_equal(f.count, 12);
    assert_int_equal(stats(&f).failed, 1);
    (void)record(&f, "Other", "y"); /* the next is not affected */
    answer(&f, 0, 0);
    assert_int_equal(stats(&f).created, 1);
    end(&f);
}

static void refusals_are_not_repeated(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    (void)record(&f, "Failed", "x");
    answer(&f, 403, KI_ERR_STATUS);
    test_world_advance(&f.world, f.engine, 60 * TEST_SECOND);
    assert_int_equal(f.count, 1);
    assert_int_equal(stats(&f).failed, 1);
    (void)record(&f, "Failed", "y");
    answer(&f, 0, -ECONNRESET); /* the server had created it */
    test_world_advance(&f.world, f.engine, 10 * TEST_SECOND);
    answer(&f, 409, KI_ERR_STATUS);
    assert_int_equal(stats(&f).created, 1);
    f.refuse = -ENOMEM; /* not even sent */
    (void)record(&f, "Failed", "z");
    test_world_advance(&f.world, f.engine, 10 * TEST_SECOND);
    answer(&f, 0, 0);
    assert_int_equal(stats(&f).created, 2);
    end(&f);
}

static void a_full_queue_drops_and_counts(void **state)
{
    (void)state;
    fixture f;
    char reason[8];
    begin(&f);
    for (int i = 0; i < 8; i++) { /* one is being sent, four wait */
        (void)snprintf(reason, sizeof(reason), "R%d", i);
        assert_int_equal(record(&f, reason, "x"), i < 5 ? 0 : KI_ERR_LIMIT);
    }
    assert_int_equal(stats(&f).queued, 4);
    assert_int_equal(stats(&f).dropped, 3);
    for (int i = 0; i < 5; i++) {
        answer(&f, 0, 0);
    }
    assert_false(f.open);
    assert_int_equal(stats(&f).created, 5);
    end(&f);
}

static void an_object_that_floods_is_limited(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    for (int i = 0; i < 40; i++) {
        (void)record(&f, "Failed", "x");
        if (f.open) {
            answer(&f, 0, 0);
        }
    }
    assert_int_equal(f.count, 25);
    assert_int_equal(stats(&f).filtered, 15);
    end(&f);
}

static void similar_events_are_combined(void **state)
{
    (void)state;
    fixture f;
    char note[32];
    begin(&f);
    for (int i = 0; i < 12; i++) {
        (void)snprintf(note, sizeof(note), "attempt %d", i);
        (void)record(&f, "Failed", note);
        answer(&f, 0, 0);
    }
    assert_true(f.sent[9].create);
    expect_text(&f, 9, "\"note\":\"(combined from similar events): attempt 9\"");
    assert_false(f.sent[10].create);
    assert_string_equal(f.sent[10].name, f.sent[9].name);
    expect_text(&f, 11, "\"count\":3");
    end(&f);
}

static void long_notes_are_truncated_between_characters(void **state)
{
    (void)state;
    fixture f;
    char note[2000];
    begin(&f);
    memset(note, 'a', sizeof(note));
    memcpy(note + 1023, "\xc3\xa9", 2); /* would be split */
    note[sizeof(note) - 1] = '\0';
    (void)record(&f, "Failed", note);
    const char *text = strstr(f.sent[0].text, "\"note\":\"") + strlen("\"note\":\"");
    assert_int_equal(strspn(text, "a"), 1023);
    assert_int_equal(text[1023], '"');
    answer(&f, 0, 0);
    (void)record(&f, "Failed", "bad \xff byte");
    expect_text(&f, 1, "bad \xef\xbf\xbd byte");
    answer(&f, 0, 0);
    end(&f);
}

static void related_objects_and_cluster_scope(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    ki_object *node = test_json("{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":"
                                "\"n1\"}}");
    ki_event event = KI_OPTIONS_INIT(ki_event);
    event.regarding = node;
    event.related = f.pod;
    event.reason = "Drained";
    assert_int_equal(ki_recorder_record(f.recorder, &event), 0);
    test_world_settle(f.engine);
    assert_string_equal(f.sent[0].name_space, "default");
    expect_text(&f, 0, "\"regarding\":{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"name\":\"n1\"}");
    expect_text(&f, 0, "\"related\":{\"apiVersion\":\"v1\",\"kind\":\"Pod\"");
    expect_text(&f, 0, "\"type\":\"Normal\",\"reason\":\"Drained\",\"action\":\"Drained\"");
    answer(&f, 0, 0);
    (void)ki_object_unref(node);
    end(&f);
}

static void bad_events_are_refused(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    char text[200];
    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    ki_event event = KI_OPTIONS_INIT(ki_event);
    assert_int_equal(ki_recorder_record(f.recorder, &event), -EINVAL);
    event.regarding = f.pod;
    assert_int_equal(ki_recorder_record(f.recorder, &event), -EINVAL);
    event.reason = text;
    assert_int_equal(ki_recorder_record(f.recorder, &event), KI_ERR_LIMIT);
    event.reason = "Good";
    event.action = text;
    assert_int_equal(ki_recorder_record(f.recorder, &event), KI_ERR_LIMIT);
    event.action = NULL;
    event.type = KI_EVENT_TYPE_MAX;
    assert_int_equal(ki_recorder_record(f.recorder, &event), -EINVAL);
    end(&f);
}

static void a_stop_sends_what_is_queued(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    (void)record(&f, "A", "x");
    (void)record(&f, "B", "x");
    ki_recorder_stop(f.recorder);
    ki_recorder_stop(f.recorder);
    assert_int_equal(record(&f, "C", "x"), KI_ERR_STOPPED);
    answer(&f, 0, 0);
    assert_int_equal(f.ended, 0);
    answer(&f, 0, 0);
    assert_int_equal(f.ended, 1);
    assert_int_equal(stats(&f).created, 2);
    assert_int_equal(stats(&f).dropped, 1);
    end(&f);
}

static void a_stop_does_not_wait_forever(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    (void)record(&f, "A", "x");
    (void)record(&f, "B", "x");
    ki_recorder_stop(f.recorder);
    test_world_advance(&f.world, f.engine, 1999 * TEST_MS);
    assert_int_equal(f.ended, 0);
    test_world_advance(&f.world, f.engine, TEST_MS);
    assert_int_equal(f.ended, 1);
    assert_int_equal(f.cancelled, 1);
    assert_int_equal(stats(&f).dropped, 2);
    end(&f);
}

static void the_last_reference_flushes_too(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    (void)record(&f, "A", "x");
    assert_ptr_equal(ki_recorder_ref(f.recorder), f.recorder);
    assert_null(ki_recorder_unref(f.recorder));
    ki_recorder *recorder = f.recorder;
    assert_null(ki_recorder_unref(recorder));
    assert_int_equal(f.destroyed, 0);
    answer(&f, 0, 0);
    assert_int_equal(f.ended, 1);
    assert_int_equal(f.destroyed, 1);
    (void)ki_object_unref(f.pod);
    (void)ki_engine_unref(f.engine);
    test_alloc_done(&f.alloc);
}

/* ---- memory ---- */

static int record_with(const ki_alloc *alloc, void *user)
{
    (void)user;
    fixture f;
    int r = open_recorder(&f, alloc, 4);
    if (r < 0) {
        return r;
    }
    r = record(&f, "A", "x");
    for (int i = 0; i < 14 && stats(&f).created + stats(&f).failed < stats(&f).recorded; i++) {
        if (f.open) {
            answer(&f, 0, 0);
        } else { /* it could not be sent: the next attempt */
            r = r < 0 ? r : -ENOMEM;
            test_world_advance(&f.world, f.engine, 10 * TEST_SECOND);
        }
    }
    assert_int_equal(stats(&f).recorded, stats(&f).created + stats(&f).failed + stats(&f).queued);
    end(&f);
    return r;
}

static void failing_memory_loses_no_event_silently(void **state)
{
    (void)state;
    test_alloc_sweep(record_with, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_is_created_and_then_counted),
        cmocka_unit_test(a_counted_event_that_is_gone_is_created_again),
        cmocka_unit_test(core_v1_where_there_is_nothing_else),
        cmocka_unit_test(a_missing_namespace_is_no_missing_api),
        cmocka_unit_test(failures_of_the_network_are_repeated),
        cmocka_unit_test(refusals_are_not_repeated),
        cmocka_unit_test(a_full_queue_drops_and_counts),
        cmocka_unit_test(an_object_that_floods_is_limited),
        cmocka_unit_test(similar_events_are_combined),
        cmocka_unit_test(long_notes_are_truncated_between_characters),
        cmocka_unit_test(related_objects_and_cluster_scope),
        cmocka_unit_test(bad_events_are_refused),
        cmocka_unit_test(a_stop_sends_what_is_queued),
        cmocka_unit_test(a_stop_does_not_wait_forever),
        cmocka_unit_test(the_last_reference_flushes_too),
        cmocka_unit_test(failing_memory_loses_no_event_silently),
    };
    return cmocka_run_group_tests_name("event recorder", tests, NULL, NULL);
}
