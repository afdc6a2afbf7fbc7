/* SPDX-License-Identifier: Apache-2.0 */
/* What the model sends, read by the decoders that clients use: both encodings must say the same. */
#include <stdio.h>
#include <string.h>

#include <kinformer/status.h>

#include "support/api.h"
#include "wire/list_decoder.h"
#include "wire/media_type.h"
#include "wire/watch_decoder.h"

#define STREAM                                                               \
    PODS "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan" \
         "&allowWatchBookmarks=true"

static const char *const accepts[] = {KI__MEDIA_TYPE_JSON, KI__MEDIA_TYPE_PROTOBUF};

typedef struct decoded {
    char text[2048];
    ki_error error;
    int64_t remaining;
    char token[512];
} decoded;

static void add(decoded *d, const char *what, const char *key, const char *rv, const char *kind)
{
    size_t len = strlen(d->text);
    int r = snprintf(d->text + len, sizeof(d->text) - len, "%s%s%s@%s %s", len != 0 ? "; " : "",
                     what, key, rv, kind);
    assert_true(r > 0 && (size_t)r < sizeof(d->text) - len);
}

static ki__wire_options options_for(const ki__api_exchange *x)
{
    ki__wire_options options = {0};
    const char *type = ki__api_exchange_content_type(x);
    assert_int_equal(ki__media_type_encoding(type, &options.encoding, NULL), 0);
    return options;
}

static int decode_list(test_api *api, const char *target, decoded *d)
{
    ki__api_exchange *x = test_api_open(api, "GET", target, "");
    ki__wire_options options = options_for(x);
    ki__list_decoder decoder;
    ki__list_decoder_init(&decoder, &options);
    *d = (decoded){0};
    int r = 0;
    for (;;) {
        ki_str bytes;
        if (ki__api_exchange_next(x, 7, &bytes) != KI__API_DATA || r < 0) {
            break;
        }
        while (bytes.len != 0 && r >= 0) {
            size_t taken;
            ki__wire_item item;
            r = ki__list_decoder_feed(&decoder, bytes.ptr, bytes.len, &taken, &item, &d->error);
            bytes = ki_str_make(bytes.ptr + taken, bytes.len - taken);
            if (r > 0) {
                assert_non_null(item.object);
                add(d, "", ki_object_key(item.object), ki_object_resource_version(item.object),
                    ki_object_kind(item.object));
                ki_object_unref(item.object);
            }
        }
    }
    r = r < 0 ? r : ki__list_decoder_finish(&decoder, &d->error);
    ki__list_info info = ki__list_decoder_info(&decoder);
    if (r == 0) {
        add(d, "", info.kind, info.resource_version, info.api_version);
        d->remaining = info.remaining_item_count;
        (void)snprintf(d->token, sizeof(d->token), "%s", info.continue_token);
    }
    ki__list_decoder_done(&decoder);
    ki__api_exchange_free(x);
    return r;
}

static void lists_say_the_same_in_both_encodings(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        test_api api;
        decoded d;
        test_api_init(&api, NULL, NULL, NULL);
        test_api_pod(&api, "ns", "a", "'x':'1'");
        test_api_pod(&api, "ns", "b", "'x':'2'");
        test_api_pod(&api, "ns", "c", "");
        api.accept = accepts[i];
        assert_int_equal(decode_list(&api, PODS, &d), 0);
        assert_string_equal(d.text, "ns/a@2 Pod; ns/b@3 Pod; ns/c@4 Pod; PodList@4 v1");
        assert_int_equal(d.remaining, -1);
        assert_int_equal(decode_list(&api, PODS "?limit=1", &d), 0);
        assert_string_equal(d.text, "ns/a@2 Pod; PodList@4 v1");
        assert_int_equal(d.remaining, 2);
        char target[640];
        (void)snprintf(target, sizeof(target), PODS "?continue=%s", d.token);
        assert_int_equal(decode_list(&api, target, &d), 0);
        assert_string_equal(d.text, "ns/b@3 Pod; ns/c@4 Pod; PodList@4 v1");
        assert_int_equal(decode_list(&api, "/apis/apps/v1/deployments", &d), 0);
        assert_string_equal(d.text, "DeploymentList@4 apps/v1");
        test_api_done(&api);
    }
}

static void failures_say_the_same_in_both_encodings(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        test_api api;
        decoded d;
        test_api_init(&api, NULL, NULL, NULL);
        api.accept = accepts[i];
        assert_int_equal(decode_list(&api, PODS "?resourceVersionMatch=Exact", &d), KI_ERR_STATUS);
        assert_int_equal(d.error.http_code, 422);
        assert_int_equal(d.error.reason, KI_REASON_INVALID);
        test_api_done(&api);
    }
}

static bool ends_initial_events(const ki_object *object)
{
    return ki_object_has_annotation(object, "k8s.io/initial-events-end");
}

/* Pulls what there is of a watch and decodes it. */
static void decode_watch(ki__api_exchange *x, ki__watch_decoder *decoder, decoded *d)
{
    ki_str bytes;
    *d = (decoded){0};
    while (ki__api_exchange_next(x, 5, &bytes) == KI__API_DATA) {
        while (bytes.len != 0) {
            size_t taken;
            ki__watch_event event;
            int r = ki__watch_decoder_feed(decoder, bytes.ptr, bytes.len, &taken, &event, NULL);
            assert_true(r >= 0);
            bytes = ki_str_make(bytes.ptr + taken, bytes.len - taken);
            if (r == 0) {
                continue;
            }
            if (event.type == KI_WATCH_EVENT_ERROR) {
                d->error = event.item.error;
            } else {
                assert_non_null(event.item.object);
                add(d,
                    ends_initial_events(event.item.object) ? "END "
                                                           : ki_watch_event_type_name(event.type),
                    ki_object_key(event.item.object), ki_object_resource_version(event.item.object),
                    ki_object_kind(event.item.object));
            }
            ki_object_unref(event.item.object);
        }
    }
}

static void watches_say_the_same_in_both_encodings(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        test_api api;
        decoded d;
        test_api_init(&api, NULL, NULL, NULL);
        test_api_pod(&api, "ns", "a", "'x':'1'");
        api.accept = accepts[i];
        ki__api_exchange *x = test_api_open(&api, "GET", STREAM "&labelSelector=x%3D1", "");
        ki__wire_options options = options_for(x);
        ki__watch_decoder decoder;
        ki__watch_decoder_init(&decoder, &options);
        decode_watch(x, &decoder, &d);
        assert_string_equal(d.text, "ADDEDns/a@2 Pod; END @2 Pod");
        api.accept = NULL;
        test_api_call(&api, "PATCH", PODS "/a", "{'spec':{'hostname':'h'}}");
        test_api_call(&api, "PATCH", PODS "/a", "{'metadata':{'labels':{'x':'2'}}}");
        api.now_ns += UINT64_C(60000000000);
        decode_watch(x, &decoder, &d);
        assert_string_equal(d.text, "MODIFIEDns/a@3 Pod; DELETEDns/a@4 Pod; BOOKMARK@4 Pod");
        assert_int_equal(ki__watch_decoder_finish(&decoder, NULL), 0);
        ki__watch_decoder_done(&decoder);
        ki__api_exchange_free(x);
        ki__api_model_compact(api.model, 4);
        api.accept = accepts[i];
        x = test_api_open(&api, "GET", PODS "?watch=1&resourceVersion=1", "");
        ki__watch_decoder_init(&decoder, &options);
        decode_watch(x, &decoder, &d);
        assert_int_equal(d.error.http_code, 410);
        assert_true(ki_error_is_resource_expired(&d.error));
        ki__watch_decoder_done(&decoder);
        ki__api_exchange_free(x);
        test_api_done(&api);
    }
}

static void content_types_select_the_encoding(void **state)
{
    (void)state;
    test_api api;
    test_api_init(&api, NULL, NULL, NULL);
    api.accept = "application/vnd.kubernetes.protobuf;q=0.9, application/json;q=0.8";
    ki__api_exchange *x = test_api_open(&api, "GET", PODS, "");
    assert_string_equal(ki__api_exchange_content_type(x), "application/vnd.kubernetes.protobuf");
    ki__api_exchange_free(x);
    x = test_api_open(&api, "GET", PODS "?watch=1", "");
    assert_string_equal(ki__api_exchange_content_type(x),
                        "application/vnd.kubernetes.protobuf;stream=watch");
    ki__api_exchange_free(x);
    api.accept = "application/json";
    x = test_api_open(&api, "GET", PODS "?watch=1", "");
    assert_string_equal(ki__api_exchange_content_type(x), "application/json");
    ki__api_exchange_free(x);
    test_api_done(&api);
}

/* Custom resources have no schema: JSON for clients that accept it, else 406. */
static void custom_resources_are_json(void **state)
{
    (void)state;
    test_api api;
    ki_resource *widgets;
    const ki_resource_options options = {.size = sizeof(options),
                                         .group = "x.io",
                                         .version = "v1",
                                         .resource = "widgets",
                                         .kind = "Widget"};
    const ki__api_type_options served = {0};
    assert_int_equal(ki_resource_new(&options, &widgets, NULL), 0);
    test_api_init(&api, NULL, NULL, NULL);
    assert_int_equal(ki__api_model_register(api.model, widgets, &served), 0);
    api.accept = "application/vnd.kubernetes.protobuf, application/json";
    test_api_get(&api, "/apis/x.io/v1/widgets");
    assert_string_equal(test_api_at(&api, ".kind"), "WidgetList");
    api.accept = "application/vnd.kubernetes.protobuf";
    test_api_get(&api, "/apis/x.io/v1/widgets");
    assert_status(&api, 406);
    test_api_done(&api);
    ki_resource_unref(widgets);
}

static void bodies_may_be_protobuf(void **state)
{
    (void)state;
    test_api api;
    ki_buf body;
    test_api_init(&api, NULL, NULL, NULL);
    ki_buf_init(&body, NULL, SIZE_MAX);
    static const char json[] = "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":"
                               "{\"name\":\"a\"},\"spec\":{\"nodeName\":\"n7\"}}";
    ki_object *object;
    assert_int_equal(ki_object_from_json(json, sizeof(json) - 1, NULL, &object, NULL), 0);
    assert_int_equal(ki_object_write_protobuf(object, &body, NULL), 0);
    const ki__api_header header = {ki_str_from("Content-Type"),
                                   ki_str_from(KI__MEDIA_TYPE_PROTOBUF)};
    ki__api_request request = {
        .method = ki_str_from("POST"),
        .target = ki_str_from(PODS),
        .headers = &header,
        .header_count = 1,
        .body = ki_buf_str(&body),
    };
    ki__api_exchange *x;
    assert_int_equal(ki__api_exchange_new(api.server, &request, &x), 0);
    assert_int_equal(ki__api_exchange_status(x), 201);
    ki__api_exchange_free(x);
    request.body.len -= 3; /* cut */
    assert_int_equal(ki__api_exchange_new(api.server, &request, &x), 0);
    assert_int_equal(ki__api_exchange_status(x), 400);
    ki__api_exchange_free(x);
    test_api_get(&api, PODS "/a");
    assert_string_equal(test_api_at(&api, ".spec.nodeName"), "n7");
    ki_object_unref(object);
    ki_buf_done(&body);
    test_api_done(&api);
}

/* So that all that is stored has a form in protobuf. */
static void built_in_kinds_are_checked_by_their_schema(void **state)
{
    (void)state;
    test_api api;
    test_api_init(&api, NULL, NULL, NULL);
    test_api_call(&api, "POST", PODS, "{'metadata':{'name':'a'},'spec':{'nodeName':7}}");
    assert_status(&api, 400);
    assert_non_null(strstr(test_api_at(&api, ".message"), "nodeName"));
    test_api_pod(&api, "ns", "a", "");
    test_api_call(&api, "PATCH", PODS "/a", "{'spec':{'containers':{}}}");
    assert_status(&api, 400);
    assert_int_equal(api.model->head, 2);
    test_api_done(&api);
}

static int in_protobuf(const ki_alloc *alloc, void *user)
{
    (void)user;
    test_api api;
    test_api_init(&api, alloc, NULL, NULL);
    api.accept = KI__MEDIA_TYPE_PROTOBUF;
    test_api_pod(&api, "ns", "a", "'x':'1'");
    test_api_pod(&api, "ns", "a", "");
    test_api_get(&api, PODS "?limit=1");
    test_api_call(&api, "DELETE", PODS "/a", "");
    test_api_get(&api, STREAM);
    test_api_get(&api, PODS "?watch=1&resourceVersion=1");
    int r = api.failed;
    test_api_done(&api);
    return r;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    test_alloc_sweep(in_protobuf, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_say_the_same_in_both_encodings),
        cmocka_unit_test(failures_say_the_same_in_both_encodings),
        cmocka_unit_test(watches_say_the_same_in_both_encodings),
        cmocka_unit_test(content_types_select_the_encoding),
        cmocka_unit_test(custom_resources_are_json),
        cmocka_unit_test(bodies_may_be_protobuf),
        cmocka_unit_test(built_in_kinds_are_checked_by_their_schema),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
