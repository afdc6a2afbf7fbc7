/* SPDX-License-Identifier: Apache-2.0 */
/* What a 404 of a list or watch means, as the group's document tells. */
#include <errno.h>
#include <string.h>

#include <kinformer/builtin_resources.h>
#include <kinformer/parts/source.h>
#include <kinformer/status.h>

#include "support/fake_transport.h"
#include "support/test.h"
#include "support/world.h"

#define NOT_FOUND                                                                \
    "{'kind':'Status','apiVersion':'v1','status':'Failure','reason':'NotFound'," \
    "'message':'the server could not find the requested resource','code':404}"
#define OWN_TEXT "the server could not find the requested resource"
#define GROUP(versions) \
    "{'kind':'APIGroup','apiVersion':'v1','name':'apps','versions':[" versions "]}"
#define VERSION(name) "{'groupVersion':'apps/" name "','version':'" name "'}"
#define MINUTE (60 * TEST_SECOND)

typedef struct fixture {
    test_alloc alloc;
    test_world world;
    ki_engine *engine;
    fake_transport transport;
    ki_source source;
    void *call;
    size_t ends;
    ki_error error;
    bool has_status;
} fixture;

static void on_event(ki_watch_event_type type, const ki_object *object, const ki_error *error,
                     void *user)
{
    (void)type;
    (void)object;
    (void)error;
    (void)user;
}

static void on_skipped(ki_watch_event_type type, const char *key, const char *resource_version,
                       const ki_error *error, void *user)
{
    (void)type;
    (void)key;
    (void)resource_version;
    (void)error;
    (void)user;
}

static void on_alive(size_t bytes, void *user)
{
    (void)bytes;
    (void)user;
}

static void on_end(const ki_list_meta *meta, const ki_error *error, const ki_object *status,
                   void *user)
{
    fixture *f = user;
    (void)meta;
    f->call = NULL;
    f->ends++;
    f->error = error != NULL ? *error : (ki_error){0};
    f->has_status = status != NULL && ki_object_is_status(status);
}

static void begin(fixture *f, const ki_resource *resource)
{
    *f = (fixture){0};
    test_alloc_init(&f->alloc);
    test_world_init(&f->world);
    ki_engine_options options = test_world_engine_options(&f->world, &f->alloc.table);
    assert_int_equal(ki_engine_new(&options, &f->engine, NULL), 0);
    fake_transport_init(&f->transport, f->engine, &f->world);
    ki_source_http_options http = KI_OPTIONS_INIT(ki_source_http_options);
    http.engine = f->engine;
    http.transport = &f->transport.table;
    http.resource = resource;
    assert_int_equal(ki_source_http_new(&http, &f->source, NULL), 0);
}

static void end(fixture *f)
{
    if (f->call != NULL) {
        f->source.cancel(f->call, f->source.user);
    }
    assert_false(f->transport.open);
    f->source.destroy(f->source.user);
    test_world_settle(f->engine);
    fake_transport_done(&f->transport);
    (void)ki_engine_unref(f->engine);
    test_alloc_done(&f->alloc);
}

static void ask(fixture *f, bool watch)
{
    const ki_source_sink sink = {.on_event = on_event,
                                 .on_skipped = on_skipped,
                                 .on_alive = on_alive,
                                 .on_end = on_end,
                                 .user = f};
    const ki_list_options list = KI_OPTIONS_INIT(ki_list_options);
    int r = watch ? f->source.watch(&list, &sink, f->source.user, &f->call, NULL)
                  : f->source.list(&list, &sink, f->source.user, &f->call, NULL);
    assert_int_equal(r, 0);
    test_world_settle(f->engine);
}

static void respond(fixture *f, int status, const char *json)
{
    fake_answer_json(&f->transport, status, json);
    test_world_settle(f->engine);
}

/* Asks, and gets a 404; what comes next is the request for the group. */
static void ask_in_vain(fixture *f, bool watch)
{
    size_t ends = f->ends;
    ask(f, watch);
    respond(f, 404, NOT_FOUND);
    assert_int_equal(f->ends, ends); /* not yet */
    const fake_asked *last = fake_transport_last(&f->transport);
    assert_string_equal(last->path, "/apis/apps");
    assert_string_equal(last->query, "");
    assert_false(last->stream);
    assert_true(last->idle_timeout_ms != 0);
}

static void expect(fixture *f, const char *message)
{
    test_world_settle(f->engine);
    assert_null(f->call);
    assert_string_equal(f->error.message, message);
    assert_true(ki_error_is_not_found(&f->error));
    assert_int_equal(f->error.http_code, 404);
    assert_true(f->has_status);
}

static void a_version_that_is_not_served_is_named_with_those_that_are(void **state)
{
    (void)state;
    for (int watch = 0; watch <= 1; watch++) {
        fixture f;
        begin(&f, KI_APPS_V1_DEPLOYMENTS);
        ask_in_vain(&f, watch != 0);
        respond(&f, 200, GROUP(VERSION("v2") "," VERSION("v2beta1")));
        expect(&f, "the server does not serve apps/v1; available: v2, v2beta1");
        end(&f);
    }
}

static void one_that_was_served_before_is_no_longer(void **state)
{
    (void)state;
    fixture f;
    begin(&f, KI_APPS_V1_DEPLOYMENTS);
    ask(&f, false);
    respond(&f, 200,
            "{'kind':'DeploymentList','apiVersion':'apps/v1','metadata':{'resourceVersion':'1'},"
            "'items':[]}");
    assert_int_equal(f.ends, 1);
    ask_in_vain(&f, true);
    respond(&f, 200, GROUP(VERSION("v2")));
    expect(&f, "the server no longer serves apps/v1; available: v2");
    end(&f);
}

static void groups_and_resources_may_be_missing_too(void **state)
{
    (void)state;
    fixture f;
    begin(&f, KI_APPS_V1_DEPLOYMENTS);
    ask_in_vain(&f, false);
    respond(&f, 404, NOT_FOUND);
    expect(&f, "the server does not serve the API group apps");
    end(&f);
    begin(&f, KI_APPS_V1_DEPLOYMENTS);
    ask_in_vain(&f, false);
    respond(&f, 200, GROUP(VERSION("v2") "," VERSION("v1")));
    expect(&f, "the server does not serve deployments in apps/v1");
    end(&f);
}

static void without_discovery_the_servers_own_text_remains(void **state)
{
    (void)state;
    static const struct {
        int status;
        const char *body;
    } cases[] = {
        {403, "{'kind':'Status','apiVersion':'v1','reason':'Forbidden','code':403}"},
        {200, "not JSON"},
        {200, "{'kind':'PodList','apiVersion':'v1','items':[]}"},
        {200, "{'kind':'APIGroup','apiVersion':'v1','versions':7}"},
        {200, "{'kind':'APIGroup','apiVersion':'v1','versions':[{},7,{'version':8}]}"},
        {200, ""},
        {503, ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        fixture f;
        begin(&f, KI_APPS_V1_DEPLOYMENTS);
        ask_in_vain(&f, false);
        respond(&f, cases[i].status, cases[i].body);
        expect(&f, OWN_TEXT);
        ask(&f, false);
        respond(&f, 404, NOT_FOUND);
        expect(&f, OWN_TEXT);
        assert_int_equal(f.transport.count, 3); /* which was requested once */
        end(&f);
    }
    for (int at_once = 0; at_once <= 1; at_once++) { /* no response at all */
        fixture f;
        begin(&f, KI_APPS_V1_DEPLOYMENTS);
        if (at_once != 0) {
            ask(&f, false);
            f.transport.refuse = -ECONNREFUSED;
            respond(&f, 404, NOT_FOUND);
        } else {
            ask_in_vain(&f, false);
            fake_over(&f.transport, -ECONNRESET);
        }
        expect(&f, OWN_TEXT);
        end(&f);
    }
}

static void a_document_without_end_is_not_waited_for(void **state)
{
    (void)state;
    fixture f;
    begin(&f, KI_APPS_V1_DEPLOYMENTS);
    ask_in_vain(&f, false);
    fake_head(&f.transport, 200, "application/json", "");
    static char much[40000];
    memset(much, ' ', sizeof(much));
    fake_body(&f.transport, ki_str_make(much, sizeof(much)));
    fake_body(&f.transport, ki_str_make(much, sizeof(much)));
    expect(&f, OWN_TEXT);
    end(&f);
}

static void the_core_group_is_not_requested(void **state)
{
    (void)state;
    fixture f;
    begin(&f, KI_CORE_V1_PODS);
    ask(&f, false);
    respond(&f, 404, NOT_FOUND);
    expect(&f, OWN_TEXT);
    assert_int_equal(f.transport.count, 1);
    end(&f);
}

/* One more request in five minutes, not one for each attempt; and none is kept beyond a success. */
static void what_was_found_is_kept_for_a_while(void **state)
{
    (void)state;
    fixture f;
    begin(&f, KI_APPS_V1_DEPLOYMENTS);
    ask_in_vain(&f, true);
    respond(&f, 200, GROUP(VERSION("v2")));
    assert_int_equal(f.transport.count, 2);
    for (size_t i = 1; i <= 9; i++) {
        test_world_advance(&f.world, f.engine, MINUTE / 2);
        ask(&f, true);
        respond(&f, 404, NOT_FOUND);
        expect(&f, "the server does not serve apps/v1; available: v2");
        assert_int_equal(f.transport.count, 2 + i);
    }
    test_world_advance(&f.world, f.engine, MINUTE / 2);
    ask_in_vain(&f, true);
    respond(&f, 200, GROUP(VERSION("v3")));
    expect(&f, "the server does not serve apps/v1; available: v3");
    end(&f);
}

static void it_can_be_cancelled_meanwhile(void **state)
{
    (void)state;
    fixture f;
    begin(&f, KI_APPS_V1_DEPLOYMENTS);
    ask_in_vain(&f, true);
    f.source.cancel(f.call, f.source.user);
    f.call = NULL;
    test_world_advance(&f.world, f.engine, MINUTE);
    assert_int_equal(f.ends, 0);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_version_that_is_not_served_is_named_with_those_that_are),
        cmocka_unit_test(one_that_was_served_before_is_no_longer),
        cmocka_unit_test(groups_and_resources_may_be_missing_too),
        cmocka_unit_test(without_discovery_the_servers_own_text_remains),
        cmocka_unit_test(a_document_without_end_is_not_waited_for),
        cmocka_unit_test(the_core_group_is_not_requested),
        cmocka_unit_test(what_was_found_is_kept_for_a_while),
        cmocka_unit_test(it_can_be_cancelled_meanwhile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
