/* SPDX-License-Identifier: Apache-2.0 */
/* Writing in one call, on the embedded API server: what is sent, what races with others come to,
 * and running out of memory. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <kinformer/apiserver.h>
#include <kinformer/builtin_resources.h>
#include <kinformer/clock.h>
#include <kinformer/encoding.h>
#include <kinformer/request.h>
#include <kinformer/status.h>
#include <kinformer/time.h>
#include <kinformer/write.h>

#include "support/test.h"

typedef struct world {
    test_alloc alloc; /* of the client */
    ki_apiserver *server;
    ki_loop *loop; /* no thread runs it: callers do while they wait */
    ki_client *client;
} world;

static void must(int r, const ki_error *error)
{
    if (r < 0) {
        fail_msg("%s: %s", ki_error_name(r), error->message);
    }
}

static void begin(world *w)
{
    ki_error error = KI_ERROR_INIT;
    test_alloc_init(&w->alloc);
    must(ki_apiserver_new(NULL, &w->server, &error), &error);
    must(ki_loop_new(KI_OPTIONS(ki_loop_options, .alloc = &w->alloc.table), &w->loop, &error),
         &error);
    must(ki_apiserver_client(w->server, KI_OPTIONS(ki_client_options, .loop = w->loop), &w->client,
                             &error),
         &error);
}

static void end(world *w)
{
    (void)ki_client_close(w->client);
    (void)ki_loop_unref(w->loop);
    (void)ki_apiserver_unref(w->server);
    test_alloc_done(&w->alloc);
}

static void load(world *w, const char *data)
{
    char text[256];
    ki_error error = KI_ERROR_INIT;
    int len = snprintf(text, sizeof(text),
                       "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\","
                       "\"namespace\":\"default\"},\"data\":{%s}}",
                       data);
    must(ki_apiserver_load(w->server, ki_str_make(text, (size_t)len), NULL, &error), &error);
}

static ki_object *on_server(world *w)
{
    ki_object *object = NULL;
    int r = ki_apiserver_get(w->server, KI_CORE_V1_CONFIGMAPS, "default", "a", &object, NULL);
    return r < 0 ? NULL : object;
}

static void expect_data(world *w, const char *json)
{
    ki_object *object = on_server(w);
    ki_value data = ki_object_at(object, "data");
    ki_buf text;
    ki_buf_init(&text, NULL, 4096);
    assert_int_equal(ki_value_write_json(&data, &text), 0);
    assert_string_equal(ki_buf_text(&text), json);
    ki_buf_done(&text);
    ki_object_unref(object);
}

/* What others do while a change is being made, once for each letter of `plan`. */
typedef struct change {
    world *w;
    const char *plan; /* c: create or change;  d: delete;  -: nothing */
    int calls;
    bool started_empty; /* the last edit */
} change;

static void set_colour(ki_edit *edit, void *user)
{
    change *c = user;
    ki_object *object = NULL;
    char what = c->plan[c->calls] != '\0' ? c->plan[c->calls++] : '-';
    if (ki_edit_object(edit, &object, NULL) == 0) {
        c->started_empty = ki_object_resource_version(object)[0] == '\0';
        assert_string_equal(ki_object_name(object), "a");
        assert_string_equal(ki_object_kind(object), "ConfigMap");
        ki_object_unref(object);
    }
    if (what == 'c') {
        char data[32];
        snprintf(data, sizeof(data), "\"other\":\"%d\"", c->calls);
        load(c->w, data);
    } else if (what == 'd') {
        assert_int_equal(
            ki_apiserver_delete(c->w->server, KI_CORE_V1_CONFIGMAPS, "default", "a", NULL), 0);
    }
    ki_edit_set_string(edit, "data.colour", "blue");
}

static int make_blue(world *w, const ki_object *current, const char *plan, ki_object **ret_object,
                     ki_error *error)
{
    change c = {.w = w, .plan = plan};
    int r = ki_client_create_or_patch(w->client, KI_CORE_V1_CONFIGMAPS, "default", "a", current,
                                      set_colour, &c, ret_object, error);
    assert_int_equal(c.calls, strlen(plan));
    return r;
}

static void created_patched_or_nothing(void **state)
{
    (void)state;
    world w;
    ki_object *made = NULL;
    ki_object *patched = NULL;
    ki_object *same = NULL;
    begin(&w);
    assert_int_equal(make_blue(&w, NULL, "-", &made, NULL), KI_WRITTEN_CREATED);
    assert_true(ki_object_equals(made, "data.colour", "blue"));
    expect_data(&w, "{\"colour\":\"blue\"}");
    uint64_t version = ki_apiserver_version(w.server);
    assert_int_equal(make_blue(&w, NULL, "-", NULL, NULL), KI_WRITTEN_NOTHING);
    assert_int_equal(make_blue(&w, made, "-", &same, NULL), KI_WRITTEN_NOTHING);
    assert_ptr_equal(same, made);
    assert_int_equal(ki_apiserver_version(w.server), version);
    load(&w, "\"colour\":\"red\",\"size\":\"7\"");
    assert_int_equal(make_blue(&w, NULL, "-", &patched, NULL), KI_WRITTEN_PATCHED);
    assert_true(ki_object_equals(patched, "data.colour", "blue"));
    expect_data(&w, "{\"colour\":\"blue\",\"size\":\"7\"}");
    ki_object_unref(made);
    ki_object_unref(patched);
    ki_object_unref(same);
    end(&w);
}

static void races_are_run_again(void **state)
{
    (void)state;
    world w;
    begin(&w);
    /* It was not there, and another created it; nothing of that is lost. */
    assert_int_equal(make_blue(&w, NULL, "c-", NULL, NULL), KI_WRITTEN_PATCHED);
    expect_data(&w, "{\"other\":\"1\",\"colour\":\"blue\"}");
    /* It was changed, and changed again. */
    load(&w, "\"colour\":\"red\"");
    assert_int_equal(make_blue(&w, NULL, "cc-", NULL, NULL), KI_WRITTEN_PATCHED);
    expect_data(&w, "{\"other\":\"2\",\"colour\":\"blue\"}");
    /* It was deleted; and created again before we could. */
    load(&w, "\"colour\":\"red\"");
    assert_int_equal(make_blue(&w, NULL, "d-", NULL, NULL), KI_WRITTEN_CREATED);
    expect_data(&w, "{\"colour\":\"blue\"}");
    load(&w, "\"colour\":\"red\"");
    assert_int_equal(make_blue(&w, NULL, "dc-", NULL, NULL), KI_WRITTEN_PATCHED);
    expect_data(&w, "{\"other\":\"2\",\"colour\":\"blue\"}");
    end(&w);
}

static void an_old_state_is_read_again(void **state)
{
    (void)state;
    world w;
    begin(&w);
    load(&w, "\"colour\":\"red\"");
    ki_object *old = on_server(&w);
    load(&w, "\"colour\":\"green\",\"new\":\"1\"");
    assert_int_equal(make_blue(&w, old, "--", NULL, NULL), KI_WRITTEN_PATCHED);
    expect_data(&w, "{\"colour\":\"blue\",\"new\":\"1\"}");
    assert_int_equal(ki_apiserver_delete(w.server, KI_CORE_V1_CONFIGMAPS, "default", "a", NULL), 0);
    assert_int_equal(make_blue(&w, old, "--", NULL, NULL), KI_WRITTEN_CREATED);
    ki_object_unref(old);
    end(&w);
}

/* Protobuf with fields of a newer API cannot be edited without losing them. */
static void fields_of_a_newer_server_stay(void **state)
{
    (void)state;
    world w;
    ki_error error = KI_ERROR_INIT;
    ki_object *current = NULL;
    begin(&w);
    load(&w, "\"colour\":\"red\"");
    must(ki_apiserver_set_faults(w.server, "unknown-field", &error), &error);
    must(ki_client_get(w.client, KI_CORE_V1_CONFIGMAPS, "default", "a", &current, NULL, &error),
         &error);
    assert_false(ki_object_is_complete(current));
    assert_int_equal(make_blue(&w, current, "-", NULL, &error), KI_WRITTEN_PATCHED);
    expect_data(&w, "{\"colour\":\"blue\"}");
    ki_object_unref(current);
    end(&w);
}

static void it_gives_up_after_five_races(void **state)
{
    (void)state;
    world w;
    ki_error error = KI_ERROR_INIT;
    begin(&w);
    load(&w, "\"colour\":\"red\"");
    assert_true(make_blue(&w, NULL, "ccccc", NULL, &error) < 0);
    assert_true(ki_error_is_conflict(&error));
    expect_data(&w, "{\"other\":\"5\"}");
    end(&w);
}

static void break_edit(ki_edit *edit, void *user)
{
    (void)user;
    ki_edit_set_string(edit, "data.[", "x");
}

static void invalid_writes_are_not_sent(void **state)
{
    (void)state;
    world w;
    ki_error error = KI_ERROR_INIT;
    begin(&w);
    load(&w, "\"colour\":\"red\"");
    ki_object *object = on_server(&w);
    uint64_t version = ki_apiserver_version(w.server);
    assert_int_equal(ki_client_create_or_patch(w.client, KI_CORE_V1_CONFIGMAPS, "default", "a",
                                               object, break_edit, NULL, NULL, &error),
                     KI_ERR_SYNTAX);
    assert_non_null(strstr(error.message, "data.["));
    assert_int_equal(ki_client_create_or_patch(w.client, KI_CORE_V1_CONFIGMAPS, "default", "b",
                                               object, break_edit, NULL, NULL, &error),
                     KI_ERR_INVALID);
    assert_string_equal(error.message, "current: has another name or namespace");
    /* Refused by the server, and not for what others did: once only. */
    assert_int_equal(ki_apiserver_set_faults(w.server, "status=403,verb=patch", &error), 0);
    assert_true(make_blue(&w, object, "-", NULL, &error) < 0);
    assert_true(ki_error_is_forbidden(&error));
    assert_int_equal(ki_apiserver_version(w.server), version);
    ki_object_unref(object);
    end(&w);
}

/* Modifies an object that is there, or was. */
static int modify(world *w, const ki_object *object, const char *plan, ki_object **ret_object,
                  ki_error *error)
{
    change c = {.w = w, .plan = plan};
    int r = ki_client_modify(w->client, KI_CORE_V1_CONFIGMAPS, object, NULL, set_colour, &c,
                             ret_object, error);
    assert_int_equal(c.calls, strlen(plan));
    return r;
}

static void an_object_is_modified(void **state)
{
    (void)state;
    world w;
    ki_object *made = NULL;
    ki_object *same = NULL;
    begin(&w);
    load(&w, "\"colour\":\"red\"");
    ki_object *old = on_server(&w);
    assert_int_equal(modify(&w, old, "-", &made, NULL), KI_WRITTEN_PATCHED);
    expect_data(&w, "{\"colour\":\"blue\"}");
    uint64_t version = ki_apiserver_version(w.server);
    assert_int_equal(modify(&w, made, "-", &same, NULL), KI_WRITTEN_NOTHING);
    assert_ptr_equal(same, made);
    assert_int_equal(ki_apiserver_version(w.server), version);
    /* An old state, and one that others change at the same time: nothing of them is lost. */
    load(&w, "\"colour\":\"red\",\"size\":\"7\"");
    assert_int_equal(modify(&w, old, "--", NULL, NULL), KI_WRITTEN_PATCHED);
    expect_data(&w, "{\"colour\":\"blue\",\"size\":\"7\"}");
    assert_int_equal(modify(&w, old, "cc-", NULL, NULL), KI_WRITTEN_PATCHED);
    expect_data(&w, "{\"other\":\"2\",\"colour\":\"blue\"}");
    ki_object_unref(old);
    ki_object_unref(made);
    ki_object_unref(same);
    end(&w);
}

/* Nothing is created, and an object with the name of one that was deleted is another one. */
static void a_deleted_object_is_not_modified(void **state)
{
    (void)state;
    world w;
    ki_error error = KI_ERROR_INIT;
    begin(&w);
    load(&w, "\"colour\":\"red\"");
    ki_object *old = on_server(&w);
    assert_int_equal(modify(&w, old, "d", NULL, &error), KI_ERR_NOT_FOUND);
    assert_int_equal(modify(&w, old, "-", NULL, &error), KI_ERR_NOT_FOUND);
    assert_null(on_server(&w));
    load(&w, "\"colour\":\"red\"");
    assert_int_equal(modify(&w, old, "-", NULL, &error), KI_ERR_NOT_FOUND);
    assert_string_equal(error.message, "a: was deleted, and created again");
    expect_data(&w, "{\"colour\":\"red\"}");
    ki_object_unref(old);
    end(&w);
}

static void only_this_object_is_deleted(void **state)
{
    (void)state;
    world w;
    ki_error error = KI_ERROR_INIT;
    begin(&w);
    load(&w, "\"colour\":\"red\"");
    ki_object *old = on_server(&w);
    load(&w, "\"colour\":\"blue\""); /* another version */
    assert_int_equal(ki_client_delete_object(w.client, KI_CORE_V1_CONFIGMAPS, old, NULL, &error),
                     0);
    assert_null(on_server(&w));
    assert_int_equal(ki_client_delete_object(w.client, KI_CORE_V1_CONFIGMAPS, old, NULL, &error),
                     KI_ERR_NOT_FOUND);
    load(&w, "\"colour\":\"red\"");
    assert_int_equal(ki_client_delete_object(w.client, KI_CORE_V1_CONFIGMAPS, old, NULL, &error),
                     KI_ERR_STATUS);
    assert_true(ki_error_is_conflict(&error));
    expect_data(&w, "{\"colour\":\"red\"}");
    ki_object_unref(old);
    end(&w);
}

static void set_phase(ki_edit *edit, void *user)
{
    ki_edit_set_string(edit, "status.phase", user == NULL ? "Running" : "Failed");
    ki_edit_set_condition(edit, KI_OPTIONS(ki_condition, .type = "A", .status = "True"));
}

static void a_status_is_modified(void **state)
{
    (void)state;
    static const char pod[] =
        "{kind: Pod, apiVersion: v1, metadata: {name: p, namespace: default}}";
    world w;
    ki_error error = KI_ERROR_INIT;
    ki_object *old = NULL;
    ki_object *made = NULL;
    begin(&w);
    must(ki_apiserver_load(w.server, ki_str_from(pod), NULL, &error), &error);
    must(ki_apiserver_get(w.server, KI_CORE_V1_PODS, "default", "p", &old, &error), &error);
    assert_int_equal(
        ki_client_modify(w.client, KI_CORE_V1_PODS, old, "status", set_phase, NULL, &made, &error),
        KI_WRITTEN_PATCHED);
    assert_true(ki_object_equals(made, "status.phase", "Running"));
    assert_true(ki_object_equals(made, "status.conditions[type=A].status", "True"));
    ki_object_unref(old);
    ki_object_unref(made);
    end(&w);
}

static void an_edit_is_sent_as_a_patch(void **state)
{
    (void)state;
    world w;
    ki_error error = KI_ERROR_INIT;
    ki_edit *edit = NULL;
    ki_object *after = NULL;
    begin(&w);
    must(ki_apiserver_load(w.server,
                           ki_str_from("{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: "
                                       "default}, spec: {containers: [{name: c, image: i}]}}"),
                           NULL, &error),
         &error);
    ki_object *pod = NULL;
    must(ki_client_get(w.client, KI_CORE_V1_PODS, "default", "p", &pod, NULL, &error), &error);
    assert_int_equal(ki_object_encoding(pod), KI_ENCODING_PROTOBUF);
    assert_int_equal(ki_edit_new(pod, NULL, &edit, NULL), 0);
    assert_int_equal(ki_client_patch_edit(w.client, KI_CORE_V1_PODS, edit, NULL, &after, &error),
                     KI_WRITTEN_NOTHING);
    assert_string_equal(ki_object_name(after), "p");
    after = ki_object_unref(after);
    ki_edit_set_string(edit, "status.phase", "Running");
    assert_int_equal(
        ki_client_patch_edit(w.client, KI_CORE_V1_PODS, edit, "status", &after, &error),
        KI_WRITTEN_PATCHED);
    assert_true(ki_object_equals(after, "status.phase", "Running"));
    ki_edit_unref(edit);
    assert_int_equal(ki_edit_new(NULL, NULL, &edit, NULL), 0);
    assert_int_equal(ki_client_patch_edit(w.client, KI_CORE_V1_PODS, edit, "", NULL, &error),
                     KI_ERR_INVALID);
    ki_edit_unref(edit);
    ki_object_unref(pod);
    ki_object_unref(after);
    end(&w);
}

static void json_is_applied(void **state)
{
    (void)state;
    world w;
    ki_error error = KI_ERROR_INIT;
    ki_json *j = NULL;
    ki_object *after = NULL;
    begin(&w);
    assert_int_equal(ki_json_new(NULL, &j, NULL), 0);
    ki_json_format(j, NULL,
                   "{apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'a', namespace: "
                   "'default'}, data: {colour: %s}}",
                   "blue");
    must(ki_client_apply_json(w.client, KI_CORE_V1_CONFIGMAPS, j, "me", false, &after, &error),
         &error);
    assert_true(ki_object_equals(after, "metadata.managedFields[0].manager", "me"));
    expect_data(&w, "{\"colour\":\"blue\"}");
    ki_json_reset(j);
    ki_json_begin_map(j, NULL);
    assert_int_equal(
        ki_client_apply_json(w.client, KI_CORE_V1_CONFIGMAPS, j, "me", false, NULL, &error),
        KI_ERR_INVALID);
    ki_json_unref(j);
    ki_object_unref(after);
    end(&w);
}

static void now_is_a_text(void **state)
{
    (void)state;
    char before[KI_TIME_TEXT_SIZE];
    char now[KI_TIME_TEXT_SIZE];
    char after[KI_TIME_TEXT_SIZE];
    ki_time_text(ki_clock_now_ns(NULL), before);
    assert_ptr_equal(ki_time_now_text(now), now);
    ki_time_text(ki_clock_now_ns(NULL), after);
    assert_true(strcmp(before, now) <= 0 && strcmp(now, after) <= 0);
}

/* With each allocation failing in turn: all or nothing, and nothing is lost. */
static void without_memory_nothing_is_half_done(void **state)
{
    (void)state;
    world w;
    ki_error error = KI_ERROR_INIT;
    begin(&w);
    for (int mode = 0; mode < 2; mode++) { /* a patch, and a create */
        int r = 0;
        int refused = 0;
        uint64_t failures = UINT64_MAX;
        for (uint64_t n = 1; failures != w.alloc.failures; n++) {
            ki_object *object = (ki_object *)&w;
            ki_object *before = NULL;
            if (mode == 0) {
                load(&w, "\"colour\":\"red\"");
                before = on_server(&w);
            } else {
                (void)!ki_apiserver_delete(w.server, KI_CORE_V1_CONFIGMAPS, "default", "a", NULL);
            }
            change c = {.w = &w, .plan = ""};
            failures = w.alloc.failures;
            w.alloc.fail_at = w.alloc.calls + n;
            r = ki_client_create_or_patch(w.client, KI_CORE_V1_CONFIGMAPS, "default", "a", before,
                                          set_colour, &c, &object, &error);
            w.alloc.fail_at = 0;
            refused += r == -ENOMEM;
            assert_true(r >= 0 || object == (ki_object *)&w);
            assert_true(n < 2000);
            ki_object_unref(before);
            ki_object_unref(r >= 0 ? object : NULL);
        }
        /* A request of the round before may have been on its way. */
        assert_true(r >= 0);
        assert_true(refused > 3);
        expect_data(&w, "{\"colour\":\"blue\"}");
    }
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(created_patched_or_nothing),
        cmocka_unit_test(races_are_run_again),
        cmocka_unit_test(an_old_state_is_read_again),
        cmocka_unit_test(fields_of_a_newer_server_stay),
        cmocka_unit_test(it_gives_up_after_five_races),
        cmocka_unit_test(invalid_writes_are_not_sent),
        cmocka_unit_test(an_object_is_modified),
        cmocka_unit_test(a_deleted_object_is_not_modified),
        cmocka_unit_test(only_this_object_is_deleted),
        cmocka_unit_test(a_status_is_modified),
        cmocka_unit_test(an_edit_is_sent_as_a_patch),
        cmocka_unit_test(json_is_applied),
        cmocka_unit_test(now_is_a_text),
        cmocka_unit_test(without_memory_nothing_is_half_done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
