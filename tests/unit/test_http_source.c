/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP source: what it asks for, what it makes of answers, and when it asks once more. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <kinformer/parts/reflector.h>
#include <kinformer/parts/source.h>
#include <kinformer/parts/store_write.h>
#include <kinformer/status.h>
#include <kinformer/store.h>

#include "support/fake_transport.h"
#include "support/test.h"
#include "support/wire.h"
#include "support/world.h"

typedef struct fixture {
    test_alloc alloc;
    test_world world;
    ki_engine *engine;
    fake_transport transport;
    ki_source_http_options options;
    ki_source source;
    bool made;
    void *call;
    ki_list_options list;
    char heard[1024]; /* "ADDED a@1", "aside default/b@2", "end @7 next=t", "end", "failed" */
    size_t bytes;
    size_t alive;
    size_t ends;
    ki_error error;
    bool has_status;
    size_t retries; /* that were reported */
    uint64_t retry_delay_ms;
    char cancel_at; /* cancels in what begins with this letter */
} fixture;

static void hear(fixture *f, const char *text)
{
    size_t len = strlen(f->heard);
    int added =
        snprintf(f->heard + len, sizeof(f->heard) - len, "%s%s", len != 0 ? ", " : "", text);
    assert_true(added > 0 && (size_t)added < sizeof(f->heard) - len);
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
    if (type == KI_WATCH_EVENT_ERROR) {
        f->error = *error;
        (void)snprintf(text, sizeof(text), "ERROR %d", error->http_code);
    } else {
        assert_null(error);
        (void)snprintf(text, sizeof(text), "%s %s@%s %s", ki_watch_event_type_name(type),
                       ki_object_key(object), ki_object_resource_version(object),
                       ki_object_kind(object));
    }
    hear(f, text);
}

static void on_skipped(ki_watch_event_type type, const char *key, const char *resource_version,
                       const ki_error *error, void *user)
{
    char text[128];
    assert_true(error->code < 0);
    (void)snprintf(text, sizeof(text), "aside %s %s@%s", ki_watch_event_type_name(type), key,
                   resource_version);
    hear(user, text);
}

static void on_alive(size_t bytes, void *user)
{
    fixture *f = user;
    f->bytes += bytes;
    f->alive++;
    if (f->cancel_at == '!') {
        f->source.cancel(f->call, f->source.user);
        f->cancel_at = '\0';
        f->call = NULL;
    }
}

static void on_end(const ki_list_meta *meta, const ki_error *error, const ki_object *status,
                   void *user)
{
    fixture *f = user;
    char text[256];
    f->ends++;
    f->call = NULL;
    f->has_status = status != NULL;
    f->error = error != NULL ? *error : (ki_error){0};
    if (error != NULL) {
        assert_null(meta);
        (void)snprintf(text, sizeof(text), "failed");
    } else if (meta != NULL) {
        (void)snprintf(text, sizeof(text), "end @%s next=%s left=%d", meta->resource_version,
                       meta->continue_token, (int)meta->remaining);
    } else {
        (void)snprintf(text, sizeof(text), "end");
    }
    hear(f, text);
}

static void on_retry(const ki_error *error, const ki_object *status, uint64_t delay_ms, void *user)
{
    fixture *f = user;
    assert_true(error->code < 0);
    f->retries++;
    f->error = *error;
    f->has_status = status != NULL;
    f->retry_delay_ms = delay_ms;
    if (f->cancel_at == 'R') {
        f->source.cancel(f->call, f->source.user);
        f->cancel_at = '\0';
        f->call = NULL;
    }
}

static const ki_source_sink sink = {
    .on_event = on_event,
    .on_skipped = on_skipped,
    .on_alive = on_alive,
    .on_retry = on_retry,
    .on_end = on_end,
};

static void begin(fixture *f)
{
    memset(f, 0, sizeof(*f));
    test_alloc_init(&f->alloc);
    test_world_init(&f->world);
    ki_engine_options options = test_world_engine_options(&f->world, &f->alloc.table);
    assert_int_equal(ki_engine_new(&options, &f->engine, NULL), 0);
    fake_transport_init(&f->transport, f->engine, &f->world);
    f->options = KI_OPTIONS_INIT(ki_source_http_options);
    f->options.engine = f->engine;
    f->options.transport = &f->transport.table;
    f->options.resource = KI_CORE_V1_PODS;
    f->options.name_space = "default";
    f->list = KI_OPTIONS_INIT(ki_list_options);
}

static int ask(fixture *f, bool watch)
{
    if (!f->made) {
        assert_int_equal(ki_source_http_new(&f->options, &f->source, NULL), 0);
        f->made = true;
    }
    ki_source_sink mine = sink;
    mine.user = f;
    f->error = (ki_error){0};
    int r = watch ? f->source.watch(&f->list, &mine, f->source.user, &f->call, &f->error)
                  : f->source.list(&f->list, &mine, f->source.user, &f->call, &f->error);
    test_world_settle(f->engine);
    return r;
}

static const fake_asked *asked(fixture *f, bool watch)
{
    assert_int_equal(ask(f, watch), 0);
    return fake_transport_last(&f->transport);
}

static void expect(fixture *f, const char *heard)
{
    test_world_settle(f->engine);
    assert_string_equal(f->heard, heard);
    f->heard[0] = '\0';
}

static void end(fixture *f)
{
    if (f->call != NULL) {
        f->source.cancel(f->call, f->source.user);
    }
    assert_false(f->transport.open);
    if (f->made) {
        f->source.destroy(f->source.user);
    }
    test_world_settle(f->engine);
    assert_true(ki_engine_deadline(f->engine) == UINT64_MAX);
    fake_transport_done(&f->transport);
    (void)ki_engine_unref(f->engine);
    test_alloc_done(&f->alloc);
}

/* ---- requests ---- */

static void it_needs_engine_transport_and_resource(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    ki_source source = {0};
    ki_source_http_options o = f.options;
    o.engine = NULL;
    assert_int_equal(ki_source_http_new(&o, &source, NULL), -EINVAL);
    o = f.options;
    o.transport = NULL;
    assert_int_equal(ki_source_http_new(&o, &source, NULL), -EINVAL);
    o = f.options;
    o.resource = NULL;
    assert_int_equal(ki_source_http_new(&o, &source, NULL), -EINVAL);
    o = f.options;
    o.size = 4;
    assert_int_equal(ki_source_http_new(&o, &source, NULL), -EINVAL);
    end(&f);
}

static void expect_path(const ki_resource *resource, const char *name_space, const char *path)
{
    fixture f;
    begin(&f);
    f.options.resource = resource;
    f.options.name_space = name_space;
    assert_string_equal(asked(&f, false)->path, path);
    end(&f);
}

static void paths(void **state)
{
    (void)state;
    expect_path(KI_CORE_V1_PODS, NULL, "/api/v1/pods");
    expect_path(KI_CORE_V1_PODS, "", "/api/v1/pods");
    expect_path(KI_CORE_V1_PODS, "kube-system", "/api/v1/namespaces/kube-system/pods");
    expect_path(KI_APPS_V1_DEPLOYMENTS, "a", "/apis/apps/v1/namespaces/a/deployments");
    expect_path(KI_CORE_V1_NODES, NULL, "/api/v1/nodes");
    expect_path(KI_CORE_V1_PODS, "a b?c#d&e", "/api/v1/namespaces/a%20b%3Fc%23d%26e/pods");
}

static void names_that_would_change_the_path_are_refused(void **state)
{
    (void)state;
    static char long_name[300];
    memset(long_name, 'a', sizeof(long_name) - 1);
    const char *const names[] = {".", "..", "a/b", "../x", "a%2fb", long_name};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        fixture f;
        begin(&f);
        f.options.name_space = names[i];
        ki_source source = {0};
        assert_int_equal(ki_source_http_new(&f.options, &source, NULL), KI_ERR_INVALID);
        end(&f);
    }
    fixture f;
    begin(&f);
    f.options.resource = KI_CORE_V1_NODES; /* which are in no namespace */
    ki_source source = {0};
    assert_int_equal(ki_source_http_new(&f.options, &source, NULL), KI_ERR_INVALID);
    end(&f);
}

static void the_query_of_a_list(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    f.list.label_selector = "app in (a,b),x=y&z";
    f.list.field_selector = "spec.nodeName=n1";
    f.list.resource_version = "10";
    f.list.resource_version_match = "NotOlderThan";
    f.list.limit = 500;
    f.list.continue_token = "a+/=";
    f.list.allow_bookmarks = true; /* mean nothing to a list */
    f.list.send_initial_events = true;
    const fake_asked *request = asked(&f, false);
    assert_string_equal(request->query,
                        "continue=a%2B%2F%3D&fieldSelector=spec.nodeName%3Dn1"
                        "&labelSelector=app%20in%20%28a%2Cb%29%2Cx%3Dy%26z&limit=500"
                        "&resourceVersion=10&resourceVersionMatch=NotOlderThan");
    assert_false(request->stream);
    assert_true(request->later_page);
    assert_int_equal(request->idle_timeout_ms, 0);
    end(&f);
}

static void the_first_page_is_no_later_one(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    f.list.limit = 500;
    assert_false(asked(&f, false)->later_page);
    end(&f);
}

static void the_query_of_a_watch(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    f.options.watch_idle_timeout_ms = 77;
    f.list.resource_version = "10";
    f.list.resource_version_match = "NotOlderThan";
    f.list.allow_bookmarks = true;
    f.list.send_initial_events = true;
    f.list.timeout_ms = 4294967295;
    const fake_asked *request = asked(&f, true);
    assert_string_equal(request->query, "allowWatchBookmarks=true&resourceVersion=10"
                                        "&resourceVersionMatch=NotOlderThan&sendInitialEvents=true"
                                        "&timeoutSeconds=4294968&watch=true");
    assert_true(request->stream);
    assert_false(request->later_page);
    assert_int_equal(request->idle_timeout_ms, 77);
    end(&f);
}

static void an_empty_query(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    assert_string_equal(asked(&f, false)->query, "");
    end(&f);
}

static void expect_accept(bool json, bool metadata, bool watch, const char *accept)
{
    fixture f;
    begin(&f);
    f.options.json_only = json;
    f.options.metadata_only = metadata;
    assert_string_equal(asked(&f, watch)->accept, accept);
    end(&f);
}

#define AS_LIST ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
#define AS_ONE ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1"

static void built_in_kinds_ask_for_protobuf_first(void **state)
{
    (void)state;
    expect_accept(false, false, false, "application/vnd.kubernetes.protobuf,application/json");
    expect_accept(false, false, true, "application/vnd.kubernetes.protobuf,application/json");
    expect_accept(true, false, false, "application/json");
    expect_accept(false, true, false,
                  "application/vnd.kubernetes.protobuf" AS_LIST ",application/json" AS_LIST
                  ",application/json");
    expect_accept(false, true, true,
                  "application/vnd.kubernetes.protobuf" AS_ONE ",application/json" AS_ONE
                  ",application/json");
    expect_accept(true, true, false, "application/json" AS_LIST ",application/json");
    expect_accept(true, true, true, "application/json" AS_ONE ",application/json");
}

static void custom_resources_ask_for_json(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    ki_resource *widgets;
    assert_int_equal(
        ki_resource_new(KI_OPTIONS(ki_resource_options, .group = "x.io", .version = "v1",
                                   .resource = "widgets", .kind = "Widget"),
                        &widgets, NULL),
        0);
    f.options.resource = widgets;
    const fake_asked *request = asked(&f, false);
    assert_string_equal(request->accept, "application/json");
    assert_string_equal(request->path, "/apis/x.io/v1/namespaces/default/widgets");
    end(&f);
    (void)ki_resource_unref(widgets);
}

/* ---- answers ---- */

#define POD(name, version) \
    "{'metadata':{'name':'" name "','namespace':'n','resourceVersion':'" version "'}}"
#define FULL_POD(name, version)                                                      \
    "{'kind':'Pod','apiVersion':'v1','metadata':{'name':'" name "','namespace':'n'," \
    "'resourceVersion':'" version "'}}"
#define LIST(items, metadata) \
    "{'kind':'PodList','apiVersion':'v1','metadata':{" metadata "},'items':[" items "]}"

static void a_list_in_json_in_pieces_of_any_size(void **state)
{
    (void)state;
    for (size_t piece = 0; piece < 20; piece++) {
        fixture f;
        begin(&f);
        f.transport.piece = piece;
        (void)asked(&f, false);
        const char *body = LIST(POD("a", "1") "," POD("b", "2"),
                                "'resourceVersion':'7','continue':'t','remainingItemCount':3");
        fake_answer_json(&f.transport, 200, body);
        expect(&f, "ADDED n/a@1 Pod, ADDED n/b@2 Pod, end @7 next=t left=3");
        assert_int_equal(f.bytes, strlen(body));
        end(&f);
    }
}

static void a_watch_in_json_in_pieces_of_any_size(void **state)
{
    (void)state;
    for (size_t piece = 0; piece < 20; piece++) {
        fixture f;
        begin(&f);
        f.transport.piece = piece;
        (void)asked(&f, true);
        fake_head(&f.transport, 200, "application/json;stream=watch", "");
        test_world_settle(f.engine);
        assert_int_equal(f.alive, 1); /* accepted, before any byte */
        fake_body_text(&f.transport, "{'type':'ADDED','object':" FULL_POD("a", "1") "}\n");
        expect(&f, "ADDED n/a@1 Pod");
        fake_body_text(&f.transport,
                       "{'type':'MODIFIED','object':" FULL_POD(
                           "a", "2") "}"
                                     "{'type':'BOOKMARK','object':{'kind':'Pod','apiVersion':'v1',"
                                     "'metadata':{'resourceVersion':'3'}}}"
                                     "{'type':'DELETED','object':" FULL_POD("a", "4") "}");
        fake_over(&f.transport, 0);
        expect(&f, "MODIFIED n/a@2 Pod, BOOKMARK @3 Pod, DELETED n/a@4 Pod, end");
        end(&f);
    }
}

static void lists_and_watches_in_protobuf(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    ki_buf pod;
    ki_buf list;
    ki_buf body;
    ki_buf_init(&pod, NULL, 1 << 16);
    ki_buf_init(&list, NULL, 1 << 16);
    ki_buf_init(&body, NULL, 1 << 16);
    test_put_object(&pod, "n", "a", "1");
    ki_buf meta;
    ki_buf_init(&meta, NULL, 1 << 16);
    test_put_text(&meta, 2, "7"); /* resourceVersion */
    test_put_bytes(&list, 1, ki_buf_str(&meta));
    test_put_bytes(&list, 2, ki_buf_str(&pod));
    test_put_envelope(&body, "v1", "PodList", ki_buf_str(&list));
    (void)asked(&f, false);
    fake_head(&f.transport, 200, "application/vnd.kubernetes.protobuf", "");
    fake_body(&f.transport, ki_buf_str(&body));
    fake_over(&f.transport, 0);
    expect(&f, "ADDED n/a@1 Pod, end @7 next= left=-1");
    (void)asked(&f, true);
    ki_buf_clear(&list);
    test_put_envelope(&list, "v1", "Pod", ki_buf_str(&pod));
    ki_buf_clear(&body);
    test_put_event(&body, "MODIFIED", ki_buf_str(&list));
    fake_head(&f.transport, 200, "application/vnd.kubernetes.protobuf;stream=watch", "");
    fake_body(&f.transport, ki_buf_str(&body));
    fake_over(&f.transport, 0);
    expect(&f, "MODIFIED n/a@1 Pod, end");
    ki_buf_done(&meta);
    ki_buf_done(&pod);
    ki_buf_done(&list);
    ki_buf_done(&body);
    end(&f);
}

static void metadata_alone_has_its_own_kind(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    f.options.metadata_only = true;
    (void)asked(&f, false);
    assert_true(f.source.metadata_only);
    fake_answer_json(&f.transport, 200,
                     "{'kind':'PartialObjectMetadataList','apiVersion':'meta.k8s.io/v1',"
                     "'metadata':{'resourceVersion':'7'},'items':[" POD("a", "1") "]}");
    expect(&f, "ADDED n/a@1 PartialObjectMetadata, end @7 next= left=-1");
    end(&f);
}

static void one_bad_object_is_skipped(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    (void)asked(&f, false);
    fake_answer_json(&f.transport, 200,
                     LIST(POD("a", "1") ",{'metadata':{'name':'b','namespace':'n',"
                                        "'resourceVersion':'2','labels':7}}," POD("c", "3"),
                          "'resourceVersion':'7'"));
    expect(&f, "ADDED n/a@1 Pod, aside ADDED n/b@2, ADDED n/c@3 Pod, end @7 next= left=-1");
    (void)asked(&f, true);
    fake_answer_json(&f.transport, 200,
                     "{'type':'DELETED','object':{'kind':'Pod','metadata':{'name':'b',"
                     "'namespace':'n','resourceVersion':'2','labels':7}}}"
                     "{'type':'ADDED','object':" FULL_POD("c", "3") "}");
    expect(&f, "aside DELETED n/b@2, ADDED n/c@3 Pod, end");
    end(&f);
}

static void an_error_event_has_its_status(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    (void)asked(&f, true);
    fake_answer_json(&f.transport, 200,
                     "{'type':'ERROR','object':{'kind':'Status','apiVersion':'v1',"
                     "'code':410,'reason':'Expired'}}");
    expect(&f, "ERROR 410, end");
    end(&f);
}

static void a_table_is_refused(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    (void)asked(&f, false);
    fake_answer_json(&f.transport, 200,
                     "{'kind':'Table','apiVersion':'meta.k8s.io/v1','metadata':{},'rows':[]}");
    expect(&f, "failed");
    assert_int_equal(f.error.code, KI_ERR_UNSUPPORTED);
    end(&f);
}

static void a_status_in_place_of_a_list_is_its_error(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    (void)asked(&f, false);
    fake_answer_json(&f.transport, 200,
                     "{'kind':'Status','apiVersion':'v1','status':'Failure','code':410,"
                     "'reason':'Expired','message':'too old'}");
    expect(&f, "failed");
    assert_int_equal(f.error.http_code, 410);
    assert_true(f.has_status);
    end(&f);
}

static void what_is_neither_json_nor_protobuf_is_refused(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    (void)asked(&f, false);
    fake_head(&f.transport, 200, "text/html", "");
    fake_body_text(&f.transport, "<html>log in here</html>");
    fake_over(&f.transport, 0);
    expect(&f, "failed");
    assert_int_equal(f.error.code, KI_ERR_UNSUPPORTED);
    assert_non_null(strstr(f.error.message, "HTML instead of JSON"));
    assert_int_equal(f.transport.cancels, 1);
    end(&f);
}

/* A portal that says that it is JSON. */
static void html_is_named(void **state)
{
    (void)state;
    for (int watch = 0; watch <= 1; watch++) {
        fixture f;
        begin(&f);
        (void)asked(&f, watch != 0);
        fake_head(&f.transport, 200, "application/json", "");
        fake_body_text(&f.transport, "\n ");
        fake_body_text(&f.transport, " <!DOCTYPE html><html>log in here</html>");
        fake_over(&f.transport, 0);
        expect(&f, "failed");
        assert_int_equal(f.error.code, KI_ERR_SYNTAX);
        assert_non_null(strstr(f.error.message, "HTML instead of JSON"));
        end(&f);
    }
}

static void what_is_not_json_is_said_to_be_the_response(void **state)
{
    (void)state;
    for (int watch = 0; watch <= 1; watch++) {
        fixture f;
        begin(&f);
        (void)asked(&f, watch != 0);
        fake_head(&f.transport, 200, "application/json", "");
        fake_body_text(&f.transport, "{service: starting}");
        fake_over(&f.transport, 0);
        expect(&f, "failed");
        assert_int_equal(f.error.code, KI_ERR_SYNTAX);
        static const char begins[] = "the response is not valid JSON: at byte 1: ";
        assert_memory_equal(f.error.message, begins, strlen(begins));
        assert_int_equal(f.error.offset, 1);
        end(&f);
    }
}

static void a_body_cut_in_the_middle_is_an_error(void **state)
{
    (void)state;
    for (int watch = 0; watch <= 1; watch++) {
        fixture f;
        begin(&f);
        (void)asked(&f, watch != 0);
        fake_head(&f.transport, 200, "", "");
        fake_body_text(&f.transport, watch != 0 ? "{'type':'ADDED','obj"
                                                : "{'kind':'PodList','apiVersion':'v1','items':[");
        fake_over(&f.transport, 0); /* which HTTP/1.0 would call an end in order */
        expect(&f, "failed");
        assert_int_equal(f.error.code, KI_ERR_TRUNCATED);
        end(&f);
    }
}

static void garbage_ends_the_answer(void **state)
{
    (void)state;
    for (int watch = 0; watch <= 1; watch++) {
        fixture f;
        begin(&f);
        (void)asked(&f, watch != 0);
        fake_answer_json(&f.transport, 200, "]]]]");
        expect(&f, "failed");
        assert_int_equal(f.error.code, KI_ERR_SYNTAX);
        assert_int_equal(f.transport.cancels, 1);
        end(&f);
    }
}

static void objects_over_the_limit(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    f.options.max_object_bytes = 70;
    (void)asked(&f, false);
    fake_answer_json(
        &f.transport, 200,
        LIST(POD("a", "1") "," POD("bbbbbbbbbbbbbbbbbbbb", "2"), "'resourceVersion':'7'"));
    expect(&f, "ADDED n/a@1 Pod, aside ADDED n/bbbbbbbbbbbbbbbbbbbb@, end @7 next= left=-1");
    end(&f);
}

/* ---- failures ---- */

static void an_error_answer_with_a_status(void **state)
{
    (void)state;
    for (size_t piece = 0; piece < 3; piece++) {
        fixture f;
        begin(&f);
        f.transport.piece = piece;
        (void)asked(&f, piece == 1);
        fake_answer_json(&f.transport, 403,
                         "{'kind':'Status','apiVersion':'v1','status':'Failure','code':403,"
                         "'reason':'Forbidden','message':'you may not'}");
        expect(&f, "failed");
        assert_int_equal(f.error.code, KI_ERR_STATUS);
        assert_int_equal(f.error.reason, KI_REASON_FORBIDDEN);
        assert_string_equal(f.error.message, "you may not");
        assert_true(f.has_status);
        end(&f);
    }
}

static void an_error_answer_without_a_status(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    (void)asked(&f, false);
    fake_head(&f.transport, 502, "text/html", "");
    for (int i = 0; i < 50; i++) {
        fake_body_text(&f.transport, "<html>bad gateway</html>");
    }
    fake_over(&f.transport, 0);
    expect(&f, "failed");
    assert_int_equal(f.error.code, KI_ERR_STATUS);
    assert_int_equal(f.error.http_code, 502);
    assert_non_null(strstr(f.error.message, "pods"));
    assert_non_null(strstr(f.error.message, "bad gateway"));
    assert_false(f.has_status);
    end(&f);
}

static void a_redirect_is_not_followed(void **state)
{
    (void)state;
    const int codes[] = {301, 302, 303, 307, 308};
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        fixture f;
        begin(&f);
        (void)asked(&f, i % 2 == 0);
        fake_head(&f.transport, codes[i], "application/json", "1");
        fake_body_text(&f.transport, "{'kind':'PodList','apiVersion':'v1','items':[]}");
        fake_over(&f.transport, 0);
        expect(&f, "failed");
        assert_int_equal(f.error.http_code, codes[i]);
        test_world_advance(&f.world, f.engine, 60 * TEST_SECOND);
        assert_int_equal(f.transport.count, 1);
        end(&f);
    }
}

static void an_error_answer_of_any_size(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    (void)asked(&f, false);
    fake_head(&f.transport, 410, "application/json", "");
    static char body[200000];
    memset(body, ' ', sizeof(body));
    fake_body(&f.transport, ki_str_make(body, sizeof(body)));
    expect(&f, "failed"); /* it is not waited for: who knows how long it is */
    assert_true(ki_error_is_gone(&f.error));
    assert_int_equal(f.transport.cancels, 1);
    assert_true(f.alloc.peak_bytes < 150000); /* it is not kept */
    end(&f);
}

static void an_error_answer_without_end_is_tried_again_as_any(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    (void)asked(&f, false);
    static char body[70000];
    memset(body, '[', sizeof(body));
    fake_head(&f.transport, 503, "application/json", "2");
    fake_body(&f.transport, ki_str_make(body, sizeof(body)));
    test_world_settle(f.engine);
    assert_int_equal(f.transport.cancels, 1);
    assert_int_equal(f.transport.count, 1);
    test_world_advance(&f.world, f.engine, 2500 * TEST_MS);
    assert_int_equal(f.transport.count, 2);
    fake_answer_json(&f.transport, 200,
                     "{'kind':'PodList','apiVersion':'v1','metadata':{'resourceVersion':'7'},"
                     "'items':[]}");
    expect(&f, "end @7 next= left=-1");
    end(&f);
}

/* Gives the answer again and again; how many requests there were, a second or a little more apart.
 */
static size_t count_tries(int status, const char *retry_after, int error, bool watch)
{
    fixture f;
    begin(&f);
    (void)asked(&f, watch);
    for (int i = 0; i < 20 && f.ends == 0; i++) {
        size_t before = f.transport.count;
        if (status != 0) {
            fake_head(&f.transport, status, "application/json", retry_after);
            fake_body_text(&f.transport, status != 200 ? "{}" : "");
        }
        fake_over(&f.transport, error);
        test_world_settle(f.engine);
        test_world_advance(&f.world, f.engine, TEST_SECOND - 1);
        assert_int_equal(f.transport.count, before);
        test_world_advance(&f.world, f.engine, TEST_SECOND / 4);
    }
    assert_int_equal(f.ends, 1);
    assert_true(f.error.code == error || f.error.http_code == status);
    size_t count = f.transport.count;
    assert_int_equal(f.retries, count - 1); /* each failed attempt but the last, which ended it */
    end(&f);
    return count;
}

static void temporary_failures_with_retry_after_are_tried_ten_times_more(void **state)
{
    (void)state;
    const int codes[] = {429, 500, 502, 503, 504};
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        assert_int_equal(count_tries(codes[i], "1", 0, false), 11);
        assert_int_equal(count_tries(codes[i], "1", 0, true), 11);
        assert_int_equal(count_tries(codes[i], "0", 0, false), 11); /* not all at once */
        assert_int_equal(count_tries(codes[i], "", 0, false), 1);
        assert_int_equal(count_tries(codes[i], "Wed, 21 Oct 2015 07:28:00 GMT", 0, false), 1);
        assert_int_equal(count_tries(codes[i], "-1", 0, false), 1);
    }
    assert_int_equal(count_tries(403, "1", 0, false), 1);
    assert_int_equal(count_tries(410, "1", 0, true), 1);
}

static void connections_that_break_before_an_answer_are_tried_ten_times_more(void **state)
{
    (void)state;
    assert_int_equal(count_tries(0, "", -ECONNRESET, false), 11);
    assert_int_equal(count_tries(0, "", -EPIPE, false), 11);
    assert_int_equal(count_tries(0, "", -EPIPE, true), 11);
    assert_int_equal(count_tries(0, "", -ETIMEDOUT, true), 11);
    assert_int_equal(count_tries(0, "", -ETIMEDOUT, false), 1);
    assert_int_equal(count_tries(0, "", -ECONNRESET, true), 1);
    assert_int_equal(count_tries(0, "", -ECONNREFUSED, false), 1);
    assert_int_equal(count_tries(0, "", -ECONNREFUSED, true), 1);
    assert_int_equal(count_tries(200, "", -ECONNRESET, false), 1); /* after the answer began */
    assert_int_equal(count_tries(200, "", -EPIPE, true), 1);
}

static void a_second_try_may_succeed(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    f.list.limit = 5;
    (void)asked(&f, false);
    fake_head(&f.transport, 503, "text/plain", "2");
    fake_body_text(&f.transport, "wait");
    fake_over(&f.transport, 0);
    test_world_settle(f.engine);
    test_world_advance(&f.world, f.engine, 2500 * TEST_MS);
    assert_int_equal(f.transport.count, 2);
    assert_string_equal(fake_transport_last(&f.transport)->query, "limit=5");
    fake_answer_json(&f.transport, 200, LIST("", "'resourceVersion':'7'"));
    expect(&f, "end @7 next= left=-1");
    end(&f);
}

static void a_long_retry_after_is_left_to_the_caller(void **state)
{
    (void)state;
    const char *const waits[] = {"11", "86400", "99999999999999999999"};
    const uint32_t ms[] = {11000, 86400000, UINT32_MAX};
    for (size_t i = 0; i < 3; i++) {
        fixture f;
        begin(&f);
        (void)asked(&f, false);
        fake_head(&f.transport, 429, "application/json", waits[i]);
        fake_body_text(&f.transport, "{'kind':'Status','apiVersion':'v1','code':429}");
        fake_over(&f.transport, 0);
        expect(&f, "failed");
        assert_int_equal(f.error.retry_after_ms, ms[i]);
        assert_true(ki_error_is_too_many_requests(&f.error));
        end(&f);
    }
}

static void a_transport_that_refuses_at_once(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    f.transport.refuse = -ECONNREFUSED;
    assert_int_equal(ask(&f, false), -ECONNREFUSED);
    assert_int_equal(f.error.code, -ECONNREFUSED);
    (void)asked(&f, false); /* and in a second try */
    f.transport.refuse = -ECONNREFUSED;
    fake_over(&f.transport, -EPIPE);
    test_world_advance(&f.world, f.engine, 1250 * TEST_MS);
    expect(&f, "failed");
    assert_int_equal(f.error.code, -ECONNREFUSED);
    end(&f);
}

static void an_end_without_an_answer(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    (void)asked(&f, false);
    fake_over(&f.transport, 0);
    expect(&f, "failed");
    assert_int_equal(f.error.code, -EPIPE);
    end(&f);
}

static void a_repeated_request_is_reported_with_its_reason(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    (void)asked(&f, false);
    assert_string_equal(f.source.url, "http://test/api/v1/namespaces/default/pods");
    fake_head(&f.transport, 429, "application/json", "2");
    fake_body_text(&f.transport, "{'kind':'Status','apiVersion':'v1','code':429}");
    fake_over(&f.transport, 0);
    test_world_settle(f.engine);
    assert_int_equal(f.retries, 1);
    assert_int_equal(f.error.http_code, 429);
    assert_true(f.has_status);
    assert_true(f.retry_delay_ms >= 2000 && f.retry_delay_ms <= 2500);
    test_world_advance(&f.world, f.engine, f.retry_delay_ms * TEST_MS);
    f.cancel_at = 'R';
    fake_over(&f.transport, -EPIPE);
    test_world_settle(f.engine);
    assert_int_equal(f.retries, 2);
    assert_int_equal(f.error.code, -EPIPE);
    test_world_advance(&f.world, f.engine, 60 * TEST_SECOND);
    assert_int_equal(f.transport.count, 2); /* it was cancelled in there */
    assert_int_equal(f.ends, 0);
    end(&f);
}

/* ---- cancelling and pausing ---- */

static void it_is_cancelled_anywhere(void **state)
{
    (void)state;
    for (int where = 0; where < 4; where++) {
        fixture f;
        begin(&f);
        (void)asked(&f, where == 3);
        if (where == 1) {
            fake_head(&f.transport, 200, "", "");
        } else if (where == 2) {
            fake_over(&f.transport, -EPIPE); /* while it waits for the next try */
        } else if (where == 3) {
            fake_head(&f.transport, 500, "", "");
        }
        test_world_settle(f.engine);
        f.source.cancel(f.call, f.source.user);
        f.call = NULL;
        test_world_advance(&f.world, f.engine, 60 * TEST_SECOND);
        assert_int_equal(f.ends, 0);
        assert_int_equal(f.transport.count, 1);
        end(&f);
    }
}

static void it_is_cancelled_from_inside(void **state)
{
    (void)state;
    for (const char *at = "Aa!E"; *at != '\0'; at++) {
        for (int watch = 0; watch <= 1; watch++) {
            fixture f;
            begin(&f);
            f.cancel_at = *at;
            (void)asked(&f, watch != 0);
            fake_answer_json(&f.transport, 200,
                             watch != 0
                                 ? "{'type':'ERROR','object':{'kind':'Status','apiVersion':'v1'}}"
                                   "{'type':'ADDED','object':{'metadata':{}}}"
                                   "{'type':'ADDED','object':" FULL_POD("a", "3") "}"
                                 : LIST("{'metadata':{}}," POD("a", "1") "," POD("b", "1"), ""));
            test_world_settle(f.engine);
            bool could = !(*at == 'E' && watch == 0);
            assert_int_equal(f.ends, could ? 0 : 1);
            end(&f);
        }
    }
}

static void a_pause_reaches_the_transport_also_in_the_next_try(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    (void)asked(&f, false);
    f.source.pause(f.call, true, f.source.user);
    assert_true(f.transport.paused);
    fake_over(&f.transport, -EPIPE);
    test_world_settle(f.engine);
    f.source.pause(f.call, true, f.source.user); /* while there is nothing to pause */
    test_world_advance(&f.world, f.engine, 1250 * TEST_MS);
    assert_true(f.transport.paused);
    f.source.pause(f.call, false, f.source.user);
    assert_false(f.transport.paused);
    end(&f);
}

static void the_transport_is_kept_until_the_source_is_gone(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    assert_int_equal(ki_source_http_new(&f.options, &f.source, NULL), 0);
    assert_int_equal(f.transport.users, 1);
    f.source.destroy(f.source.user);
    assert_int_equal(f.transport.users, 0);
    f.options.name_space = "..";
    assert_int_equal(ki_source_http_new(&f.options, &f.source, NULL), KI_ERR_INVALID);
    end(&f); /* nobody has it any more */
}

static void headers_are_found_in_any_case(void **state)
{
    (void)state;
    const ki_http_header headers[] = {
        {ki_str_from("Content-Type"), ki_str_from("a")},
        {ki_str_from("RETRY-AFTER"), ki_str_from("b")},
        {ki_str_from("Retry-After"), ki_str_from("c")},
    };
    assert_str(ki_http_header_find(headers, 3, "content-type"), "a");
    assert_str(ki_http_header_find(headers, 3, "Retry-After"), "b");
    assert_null(ki_http_header_find(headers, 3, "Retry").ptr);
    assert_null(ki_http_header_find(NULL, 0, "x").ptr);
}

/* ---- together with a reflector, and without memory ---- */

static void api_server(fake_transport *transport, const fake_asked *request, void *user)
{
    (void)user;
    if (strstr(request->query, "sendInitialEvents") != NULL) {
        fake_answer_json(transport, 400, "{'kind':'Status','apiVersion':'v1','code':400}");
    } else if (strstr(request->query, "watch=true") == NULL) {
        bool next = strstr(request->query, "continue=") != NULL;
        fake_answer_json(transport, 200,
                         next ? LIST(POD("b", "2"), "'resourceVersion':'7'")
                              : LIST(POD("a", "1"), "'resourceVersion':'7','continue':'t'"));
    } else if (strstr(request->query, "resourceVersion=7&") != NULL) {
        fake_head(transport, 200, "application/json", "");
        fake_body_text(transport,
                       "{'type':'MODIFIED','object':" FULL_POD(
                           "a", "8") "}"
                                     "{'type':'DELETED','object':" FULL_POD("b", "9") "}");
    } else if (strstr(request->query, "resourceVersion=8&") != NULL) {
        fake_head(transport, 200, "application/json", "");
        fake_body_text(transport, "{'type':'DELETED','object':" FULL_POD("b", "9") "}");
    }
}

typedef struct chain {
    test_world world;
    ki_engine *engine;
    fake_transport transport;
    ki_store *store;
    ki_source source;
    ki_reflector *reflector;
} chain;

static int chain_begin(chain *c, const ki_alloc *alloc, size_t piece)
{
    test_world_init(&c->world);
    ki_engine_options engine_options = test_world_engine_options(&c->world, alloc);
    int r = ki_engine_new(&engine_options, &c->engine, NULL);
    if (r < 0) {
        return r;
    }
    fake_transport_init(&c->transport, c->engine, &c->world);
    c->transport.piece = piece;
    c->transport.respond = api_server;
    r = ki_store_new(KI_OPTIONS(ki_store_options, .alloc = alloc), &c->store, NULL);
    if (r < 0) {
        return r;
    }
    r = ki_source_http_new(KI_OPTIONS(ki_source_http_options, .engine = c->engine,
                                      .transport = &c->transport.table,
                                      .resource = KI_CORE_V1_PODS),
                           &c->source, NULL);
    if (r < 0) {
        return r;
    }
    ki_reflector_target target = {0};
    assert_int_equal(ki_reflector_target_store(c->store, &target), 0);
    r = ki_reflector_new(KI_OPTIONS(ki_reflector_options, .engine = c->engine, .source = &c->source,
                                    .target = &target),
                         &c->reflector, NULL);
    if (r < 0) {
        c->source.destroy(c->source.user);
        target.destroy(target.user);
    }
    return r;
}

static int run_chain(const ki_alloc *alloc, void *user)
{
    chain *c = test_calloc(1, sizeof(*c));
    test_alloc *failing = alloc->user;
    int r = chain_begin(c, alloc, *(size_t *)user);
    if (r == 0) {
        assert_int_equal(ki_reflector_start(c->reflector), 0);
        test_world_advance(&c->world, c->engine, 150 * TEST_SECOND);
        failing->fail_onwards = false; /* now there is memory */
        failing->fail_at = 0;
        test_world_advance(&c->world, c->engine, 120 * TEST_SECOND);
        ki_snapshot *snapshot = ki_store_snapshot(c->store);
        assert_int_equal(ki_snapshot_count(snapshot), 1);
        assert_string_equal(ki_snapshot_resource_version(snapshot), "9");
        (void)ki_snapshot_unref(snapshot);
        ki_reflector_stop(c->reflector);
        test_world_settle(c->engine);
        (void)ki_reflector_unref(c->reflector);
    }
    if (c->engine != NULL) {
        fake_transport_done(&c->transport);
    }
    (void)ki_store_unref(c->store);
    (void)ki_engine_unref(c->engine);
    test_free(c);
    return r;
}

static void a_reflector_gets_there_in_pieces_of_any_size(void **state)
{
    (void)state;
    for (size_t piece = 0; piece < 40; piece++) {
        test_alloc alloc;
        test_alloc_init(&alloc);
        assert_int_equal(run_chain(&alloc.table, &piece), 0);
        test_alloc_done(&alloc);
    }
}

static void lack_of_memory_never_stops_it_permanently(void **state)
{
    (void)state;
    size_t piece = 50;
    test_alloc_sweep(run_chain, &piece);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_needs_engine_transport_and_resource),
        cmocka_unit_test(paths),
        cmocka_unit_test(names_that_would_change_the_path_are_refused),
        cmocka_unit_test(the_query_of_a_list),
        cmocka_unit_test(the_first_page_is_no_later_one),
        cmocka_unit_test(the_query_of_a_watch),
        cmocka_unit_test(an_empty_query),
        cmocka_unit_test(built_in_kinds_ask_for_protobuf_first),
        cmocka_unit_test(custom_resources_ask_for_json),
        cmocka_unit_test(a_list_in_json_in_pieces_of_any_size),
        cmocka_unit_test(a_watch_in_json_in_pieces_of_any_size),
        cmocka_unit_test(lists_and_watches_in_protobuf),
        cmocka_unit_test(metadata_alone_has_its_own_kind),
        cmocka_unit_test(one_bad_object_is_skipped),
        cmocka_unit_test(an_error_event_has_its_status),
        cmocka_unit_test(a_table_is_refused),
        cmocka_unit_test(a_status_in_place_of_a_list_is_its_error),
        cmocka_unit_test(what_is_neither_json_nor_protobuf_is_refused),
        cmocka_unit_test(a_body_cut_in_the_middle_is_an_error),
        cmocka_unit_test(garbage_ends_the_answer),
        cmocka_unit_test(objects_over_the_limit),
        cmocka_unit_test(an_error_answer_with_a_status),
        cmocka_unit_test(an_error_answer_without_a_status),
        cmocka_unit_test(html_is_named),
        cmocka_unit_test(what_is_not_json_is_said_to_be_the_response),
        cmocka_unit_test(a_redirect_is_not_followed),
        cmocka_unit_test(an_error_answer_of_any_size),
        cmocka_unit_test(an_error_answer_without_end_is_tried_again_as_any),
        cmocka_unit_test(temporary_failures_with_retry_after_are_tried_ten_times_more),
        cmocka_unit_test(connections_that_break_before_an_answer_are_tried_ten_times_more),
        cmocka_unit_test(a_second_try_may_succeed),
        cmocka_unit_test(a_repeated_request_is_reported_with_its_reason),
        cmocka_unit_test(a_long_retry_after_is_left_to_the_caller),
        cmocka_unit_test(a_transport_that_refuses_at_once),
        cmocka_unit_test(an_end_without_an_answer),
        cmocka_unit_test(it_is_cancelled_anywhere),
        cmocka_unit_test(it_is_cancelled_from_inside),
        cmocka_unit_test(a_pause_reaches_the_transport_also_in_the_next_try),
        cmocka_unit_test(the_transport_is_kept_until_the_source_is_gone),
        cmocka_unit_test(headers_are_found_in_any_case),
        cmocka_unit_test(a_reflector_gets_there_in_pieces_of_any_size),
        cmocka_unit_test(lack_of_memory_never_stops_it_permanently),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
