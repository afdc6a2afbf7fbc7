/* SPDX-License-Identifier: Apache-2.0 */
/* Server-side apply and managedFields, as requests to a server. Text is written with ' for ". */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "support/api.h"

#define MAPS "/api/v1/namespaces/ns/configmaps"
#define DEPLOYMENTS "/apis/apps/v1/namespaces/ns/deployments"
#define MAP(more) "{'kind':'ConfigMap','apiVersion':'v1','metadata':{'name':'m'}" more "}"

static const ki__api_server_options tracking = {.tracks_fields = true};

static void init(test_api *api)
{
    test_api_init(api, NULL, NULL, &tracking);
    api->user_agent = "tests/1.0 (x)";
}

static int apply(test_api *api, const char *target, const char *body)
{
    api->content_type = "application/apply-patch+yaml";
    int status = test_api_call(api, "PATCH", target, body);
    api->content_type = NULL;
    return status;
}

/* Who owns what, such as "a Apply b Update". */
static const char *owners(test_api *api)
{
    static char text[400];
    size_t len = 0;
    text[0] = '\0';
    for (int i = 0; i < 12; i++) {
        char path[80];
        snprintf(path, sizeof(path), ".metadata.managedFields[%d].manager", i);
        const char *name = test_api_at(api, path);
        if (name[0] == '\0') {
            break;
        }
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s ", i != 0 ? " " : "", name);
        snprintf(path, sizeof(path), ".metadata.managedFields[%d].operation", i);
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s", test_api_at(api, path));
    }
    return text;
}

static void check_failure(test_api *api, int code, const char *reason)
{
    assert_status(api, code);
    assert_string_equal(test_api_at(api, ".reason"), reason);
}

static void applying_creates_shares_and_removes(void **state)
{
    (void)state;
    test_api api;
    init(&api);
    apply(&api, MAPS "/m?fieldManager=a", MAP(",'data':{'k':'v','x':'y'}"));
    assert_status(&api, 201);
    assert_string_equal(test_api_at(&api, ".metadata.managedFields[0].time"),
                        "2023-11-14T22:13:20Z");
    assert_string_equal(test_api_at(&api, ".metadata.managedFields[0].fieldsV1"),
                        "{\"f:data\":{\"f:k\":{},\"f:x\":{}}}");
    apply(&api, MAPS "/m?fieldManager=b", MAP(",'data':{'x':'y'}"));
    assert_status(&api, 200);
    assert_string_equal(owners(&api), "b Apply a Apply"); /* one without a time comes first */
    apply(&api, MAPS "/m?fieldManager=a", MAP(",'data':{'k':'v'}"));
    assert_string_equal(test_api_at(&api, ".data"), "{\"k\":\"v\",\"x\":\"y\"}");
    apply(&api, MAPS "/m?fieldManager=b", MAP(""));
    assert_string_equal(test_api_at(&api, ".data"), "{\"k\":\"v\"}");
    assert_string_equal(owners(&api), "a Apply");
    test_api_done(&api);
}

static void applying_the_same_again_writes_nothing(void **state)
{
    (void)state;
    test_api api;
    init(&api);
    apply(&api, MAPS "/m?fieldManager=a", MAP(",'data':{'k':'v'}"));
    uint64_t head = api.model->head;
    api.now_ns += UINT64_C(5000000000);
    apply(&api, MAPS "/m?fieldManager=a", MAP(",'data':{'k':'v'}"));
    assert_status(&api, 200);
    assert_int_equal(api.model->head, head);
    apply(&api, MAPS "/m?fieldManager=a&dryRun=All", MAP(",'data':{'k':'w'}"));
    assert_status(&api, 200);
    assert_string_equal(test_api_at(&api, ".data.k"), "w");
    apply(&api, MAPS "/n?fieldManager=a&dryRun=All",
          "{'kind':'ConfigMap','apiVersion':'v1','metadata':{'name':'n'}}");
    assert_status(&api, 201);
    assert_int_equal(api.model->head, head);
    apply(&api, MAPS "/m?fieldManager=a", MAP(",'data':{'k':'w'}"));
    assert_int_equal(api.model->head, head + 1);
    assert_string_equal(test_api_at(&api, ".metadata.managedFields[0].time"),
                        "2023-11-14T22:13:25Z");
    test_api_done(&api);
}

static void conflicts_name_managers_and_fields(void **state)
{
    (void)state;
    test_api api;
    init(&api);
    apply(&api, MAPS "/m?fieldManager=a", MAP(",'data':{'k':'v','x':'y'}"));
    test_api_call(&api, "PATCH", MAPS "/m?fieldManager=u", "{'data':{'x':'z'}}");
    apply(&api, MAPS "/m?fieldManager=b", MAP(",'data':{'k':'w'}"));
    check_failure(&api, 409, "Conflict");
    assert_string_equal(test_api_at(&api, ".message"),
                        "Apply failed with 1 conflict: conflict with \"a\": .data.k");
    apply(&api, MAPS "/m?fieldManager=b", MAP(",'data':{'k':'w','x':'1'}"));
    check_failure(&api, 409, "Conflict");
    assert_string_equal(test_api_at(&api, ".message"),
                        "Apply failed with 2 conflicts: conflicts with \"a\":\n- .data.k\n"
                        "conflicts with \"u\" using v1:\n- .data.x");
    assert_string_equal(test_api_at(&api, ".details.causes[1].reason"), "FieldManagerConflict");
    assert_string_equal(test_api_at(&api, ".details.causes[1].field"), ".data.x");
    assert_string_equal(test_api_at(&api, ".details.causes[1].message"),
                        "conflict with \"u\" using v1");
    apply(&api, MAPS "/m?fieldManager=b&force=true", MAP(",'data':{'k':'w','x':'1'}"));
    assert_status(&api, 200);
    assert_string_equal(owners(&api), "b Apply");
    test_api_done(&api);
}

static void apply_requires_a_field_manager(void **state)
{
    (void)state;
    test_api api;
    char target[300];
    init(&api);
    apply(&api, MAPS "/m", MAP(""));
    check_failure(&api, 422, "Invalid");
    assert_string_equal(test_api_at(&api, ".details.causes[0].field"), "fieldManager");
    apply(&api, MAPS "/m?fieldManager=%01", MAP(""));
    check_failure(&api, 422, "Invalid");
    snprintf(target, sizeof(target), "%s/m?fieldManager=%0129d", MAPS, 1);
    apply(&api, target, MAP(""));
    check_failure(&api, 422, "Invalid");
    test_api_call(&api, "POST", MAPS "?fieldManager=%01", MAP(""));
    check_failure(&api, 422, "Invalid");
    test_api_call(&api, "PATCH", MAPS "/m?force=true", "{}");
    check_failure(&api, 422, "Invalid");
    assert_string_equal(test_api_at(&api, ".details.causes[0].field"), "force");
    test_api_done(&api);
}

static void wrong_objects_are_not_applied(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        int code;
    } cases[] = {
        {"{'kind':'ConfigMap','metadata':{'name':'m'}}", 400},
        {"{'apiVersion':'v1','metadata':{'name':'m'}}", 400},
        {"{'kind':'ConfigMap','apiVersion':'v1'}", 400},
        {"{'kind':'ConfigMap','apiVersion':'v2','metadata':{'name':'m'}}", 400},
        {"{'kind':'Secret','apiVersion':'v1','metadata':{'name':'m'}}", 400},
        {"{'kind':'ConfigMap','apiVersion':'v1','metadata':{'name':'n'}}", 400},
        {"{'kind':'ConfigMap','apiVersion':'v1','metadata':{'managedFields':[]}}", 400},
        {"{'kind':'ConfigMap','apiVersion':'v1','metadata':{'name':'m','uid':'u'}}", 409},
        {"{'kind':'ConfigMap','apiVersion':'v1','metadata':{'name':'m'},'dataa':{}}", 500},
        {"{'kind':'ConfigMap','apiVersion':'v1','metadata':{'name':'m'},'data':5}", 500},
        {"{'kind':'ConfigMap','apiVersion':'v1','metadata':{'name':'m','finalizers':['a','a']}}",
         500},
        {"{", 400},
        {"- a: b", 400},
    };
    test_api api;
    init(&api);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        apply(&api, MAPS "/m?fieldManager=a", cases[i].body);
        assert_status(&api, cases[i].code);
    }
    apply(&api, MAPS "/m?fieldManager=a", MAP(",'data':{'k':'v'}"));
    apply(&api, MAPS "/m?fieldManager=a",
          "{'kind':'ConfigMap','apiVersion':'v1','metadata':{'resourceVersion':'1'}}");
    check_failure(&api, 409, "Conflict");
    apply(&api, MAPS "/m?fieldManager=a",
          "{'kind':'ConfigMap','apiVersion':'v1','metadata':{'uid':'1'}}");
    check_failure(&api, 422, "Invalid");
    test_api_done(&api);
}

static void writes_are_tracked_if_the_server_does(void **state)
{
    (void)state;
    test_api api;
    init(&api);
    test_api_call(&api, "POST", MAPS, MAP(",'data':{'k':'v'}"));
    assert_string_equal(owners(&api), "tests Update");
    assert_string_equal(test_api_at(&api, ".metadata.managedFields[0].fieldsV1"),
                        "{\"f:data\":{\".\":{},\"f:k\":{}}}");
    api.user_agent = NULL;
    test_api_call(&api, "PUT", MAPS "/m", MAP(",'data':{'k':'v','l':'w'}"));
    assert_string_equal(owners(&api), "tests Update unknown Update");
    test_api_done(&api);
    test_api_init(&api, NULL, NULL, NULL);
    test_api_call(&api, "POST", MAPS, MAP(",'data':{'k':'v'}"));
    assert_string_equal(owners(&api), "");
    test_api_call(&api, "PUT", MAPS "/m", MAP(",'data':{'k':'w'}"));
    assert_string_equal(owners(&api), "");
    apply(&api, MAPS "/m?fieldManager=a", MAP(",'data':{'x':'y'}"));
    assert_string_equal(owners(&api), "a Apply before-first-apply Update");
    test_api_call(&api, "PUT", MAPS "/m", MAP(",'data':{'k':'z','x':'y'}"));
    assert_string_equal(owners(&api), "a Apply before-first-apply Update unknown Update");
    test_api_done(&api);
}

static void owners_can_be_changed_and_forgotten(void **state)
{
    (void)state;
    test_api api;
    init(&api);
    apply(&api, MAPS "/m?fieldManager=a", MAP(",'data':{'k':'v'}"));
    test_api_call(&api, "PATCH", MAPS "/m",
                  "{'metadata':{'managedFields':[{'manager':'b','operation':'Apply','apiVersion':"
                  "'v1','fieldsType':'FieldsV1','fieldsV1':{'f:data':{'f:k':{}}}}]}}");
    assert_string_equal(owners(&api), "b Apply");
    test_api_call(&api, "PATCH", MAPS "/m", "{'metadata':{'managedFields':[{'manager':'c'}]}}");
    assert_string_equal(owners(&api), "b Apply"); /* which cannot be used */
    test_api_call(&api, "PATCH", MAPS "/m", "{'metadata':{'managedFields':[{}]}}");
    assert_string_equal(owners(&api), "");
    test_api_call(&api, "PATCH", MAPS "/m", "{'data':{'k':'w'}}");
    assert_string_equal(owners(&api), "");
    apply(&api, MAPS "/m?fieldManager=a", MAP(",'data':{'k':'w'}"));
    assert_string_equal(owners(&api), "a Apply before-first-apply Update");
    test_api_call(&api, "PATCH", MAPS "/m", "{'metadata':{'managedFields':[]}}");
    assert_string_equal(owners(&api), "");
    test_api_done(&api);
}

#define DEPLOYMENT(more) \
    "{'kind':'Deployment','apiVersion':'apps/v1','metadata':{'name':'d'}" more "}"

static void subresources_have_owners_of_their_own(void **state)
{
    (void)state;
    test_api api;
    init(&api);
    apply(&api, DEPLOYMENTS "/d?fieldManager=a",
          DEPLOYMENT(",'spec':{'replicas':2},'status':{'replicas':9}"));
    assert_status(&api, 201);
    assert_string_equal(test_api_at(&api, ".metadata.managedFields[0].fieldsV1"),
                        "{\"f:spec\":{\"f:replicas\":{}}}");
    apply(&api, DEPLOYMENTS "/d/status?fieldManager=s",
          DEPLOYMENT(",'spec':{'replicas':7},'status':{'replicas':2}"));
    assert_status(&api, 200);
    assert_string_equal(test_api_at(&api, ".spec.replicas"), "2");
    assert_string_equal(test_api_at(&api, ".status.replicas"), "2");
    assert_string_equal(test_api_at(&api, ".metadata.managedFields[1].subresource"), "status");
    assert_string_equal(test_api_at(&api, ".metadata.managedFields[1].fieldsV1"),
                        "{\"f:status\":{\"f:replicas\":{}}}");
    test_api_call(&api, "PATCH", DEPLOYMENTS "/d/scale?fieldManager=u", "{'spec':{'replicas':3}}");
    apply(&api, DEPLOYMENTS "/d?fieldManager=a", DEPLOYMENT(",'spec':{'replicas':2}"));
    check_failure(&api, 409, "Conflict");
    assert_string_equal(test_api_at(&api, ".details.causes[0].message"),
                        "conflict with \"u\" with subresource \"scale\" using apps/v1");
    apply(&api, DEPLOYMENTS "/d/scale?fieldManager=x",
          "{'kind':'Scale','apiVersion':'autoscaling/v1','spec':{'replicas':5}}");
    check_failure(&api, 409, "Conflict");
    apply(&api, DEPLOYMENTS "/d/scale?fieldManager=x&force=1",
          "{'kind':'Scale','apiVersion':'autoscaling/v1','spec':{'replicas':5}}");
    assert_status(&api, 200);
    assert_string_equal(test_api_at(&api, ".spec.replicas"), "5");
    apply(&api, DEPLOYMENTS "/none/status?fieldManager=s", DEPLOYMENT(""));
    assert_status(&api, 404);
    test_api_done(&api);
}

static void a_scale_without_owners_gets_none(void **state)
{
    (void)state;
    test_api api;
    init(&api);
    apply(&api, DEPLOYMENTS "/d?fieldManager=a", DEPLOYMENT(",'spec':{'paused':true}"));
    test_api_call(&api, "PATCH", DEPLOYMENTS "/d/scale?fieldManager=u", "{'spec':{'replicas':3}}");
    assert_status(&api, 200);
    test_api_get(&api, DEPLOYMENTS "/d");
    assert_string_equal(owners(&api), "a Apply");
    test_api_done(&api);
}

static void define_custom(test_api *api, const char *schema)
{
    char text[1000];
    snprintf(text, sizeof(text),
             "{'metadata':{'name':'ws.e.io'},'spec':{'group':'e.io','scope':'Cluster','names':"
             "{'plural':'ws','singular':'w','kind':'W'},'versions':[{'name':'v1','served':"
             "true,'storage':true,'schema':{'openAPIV3Schema':%s}}]}}",
             schema);
    test_api_call(api, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", text);
    assert_status(api, 201);
}

static void custom_resources_are_merged_by_their_schema(void **state)
{
    (void)state;
    test_api api;
    init(&api);
    define_custom(&api, "{'type':'object','x-kubernetes-preserve-unknown-fields':true,'properties':"
                        "{'list':{'type':'array','x-kubernetes-list-type':'set','items':{'type':"
                        "'string'}}}}");
    apply(&api, "/apis/e.io/v1/ws/x?fieldManager=a",
          "{'kind':'W','apiVersion':'e.io/v1','metadata':{'name':'x'},'list':['a'],'other':['a']}");
    assert_status(&api, 201);
    apply(&api, "/apis/e.io/v1/ws/x?fieldManager=b",
          "{'kind':'W','apiVersion':'e.io/v1','list':['b']}");
    assert_string_equal(test_api_at(&api, ".list"), "[\"a\",\"b\"]");
    apply(&api, "/apis/e.io/v1/ws/x?fieldManager=b",
          "{'kind':'W','apiVersion':'e.io/v1','other':['b']}");
    check_failure(&api, 409, "Conflict");
    test_api_done(&api);
}

#define LAST "kubectl.kubernetes.io/last-applied-configuration"
/* A map that kubectl applied by itself: "b" was changed since, "c" is gone. */
#define BY_KUBECTL                                                                           \
    "{'metadata':{'name':'m','annotations':{'" LAST "':'{\\\"data\\\":{\\\"a\\\":\\\"1\\\"," \
    "\\\"b\\\":\\\"2\\\",\\\"c\\\":\\\"3\\\"}}'}},'data':{'a':'1','b':'1'}}"

static void kubectl_continues_with_what_it_applied_itself(void **state)
{
    (void)state;
    test_api api;
    init(&api);
    test_api_call(&api, "POST", MAPS "?fieldManager=kubectl-client-side-apply", BY_KUBECTL);
    assert_status(&api, 201);
    apply(&api, MAPS "/m?fieldManager=other", MAP(",'data':{'a':'2'}"));
    check_failure(&api, 409, "Conflict");
    apply(&api, MAPS "/m?fieldManager=kubectl", MAP(",'data':{'a':'2','b':'2'}"));
    check_failure(&api, 409, "Conflict");
    assert_string_equal(test_api_at(&api, ".details.causes[*].field"), ".data.b");
    apply(&api, MAPS "/m?fieldManager=kubectl", MAP(",'data':{'a':'2'}"));
    assert_status(&api, 200);
    assert_string_equal(test_api_at(&api, ".data"), "{\"a\":\"2\",\"b\":\"1\"}");
    assert_non_null(strstr(test_api_at(&api, ".metadata.annotations"), "{\\\"a\\\":\\\"2\\\"}"));
    test_api_done(&api);
}

/* What the program itself writes is kept as it comes, unless it would lose owners. */
static void direct_writes_keep_owners(void **state)
{
    (void)state;
    static const ki__api_server_options whole = {.whole_objects = true};
    test_api api;
    ki__api_server *direct;
    init(&api);
    ki__api_server *front = api.server;
    assert_int_equal(ki__api_server_new(api.model, &whole, &direct), 0);
    api.server = direct;
    test_api_call(&api, "POST", MAPS, MAP(",'data':{'k':'v'}"));
    assert_string_equal(owners(&api), "");
    test_api_call(&api, "PUT", MAPS "/m", MAP(",'data':{'k':'w'}"));
    assert_string_equal(owners(&api), "");
    api.server = front;
    apply(&api, MAPS "/m?fieldManager=a", MAP(",'data':{'k':'w','x':'y'}"));
    assert_string_equal(owners(&api), "a Apply before-first-apply Update");
    api.server = direct;
    test_api_call(&api, "PUT", MAPS "/m", MAP(",'data':{'k':'z','x':'y'}"));
    assert_string_equal(owners(&api), "a Apply before-first-apply Update tests Update");
    test_api_call(&api, "PUT", MAPS "/m",
                  "{'metadata':{'name':'m','managedFields':[{'manager':'odd'}]}}");
    assert_string_equal(test_api_at(&api, ".metadata.managedFields[0].manager"), "odd");
    api.server = front;
    ki__api_server_free(direct);
    test_api_done(&api);
}

/* managedFields do not count for the size that objects may have. */
static void owners_do_not_make_objects_too_large(void **state)
{
    (void)state;
    test_api api;
    ki__api_model_options options = {.object_bytes_max = 3000};
    ki_buf body;
    test_api_init(&api, NULL, &options, &tracking);
    ki_buf_init(&body, NULL, 10000);
    test_add(&body, "{'metadata':{'name':'m'},'data':{'a':''", 1);
    for (int i = 0; i < 200; i++) {
        char item[32];
        snprintf(item, sizeof(item), ",'key-%03d':''", i);
        test_add(&body, item, 1);
    }
    test_add(&body, "}}", 1);
    assert_true(body.len < 3000 && body.len > 2600);
    test_api_call(&api, "POST", MAPS, body.data);
    assert_status(&api, 201);
    for (int i = 0; i < 3; i++) {
        test_api_call(&api, "PATCH", MAPS "/m",
                      i == 1 ? "{'data':{'a':'1'}}" : "{'data':{'b':''}}");
        assert_status(&api, 200);
    }
    apply(&api, MAPS "/m?fieldManager=a", MAP(",'data':{'b':''}"));
    assert_status(&api, 200);
    assert_string_equal(owners(&api), "a Apply unknown Update");
    ki_buf_done(&body);
    test_api_done(&api);
}

static void too_many_owned_fields_are_nobodys(void **state)
{
    (void)state;
    test_api api;
    ki__api_model_options options = {.object_bytes_max = 100000};
    ki_buf body;
    test_api_init(&api, NULL, &options, &tracking);
    ki_buf_init(&body, NULL, 200000);
    test_add(&body, "{'kind':'ConfigMap','apiVersion':'v1','metadata':{'name':'m'},'data':{'a':''",
             1);
    for (int i = 0; i < 9500; i++) {
        char item[32];
        snprintf(item, sizeof(item), ",'%04x':''", i); /* which is longer in FieldsV1 */
        test_add(&body, item, 1);
    }
    test_add(&body, "}}", 1);
    test_api_call(&api, "POST", MAPS, body.data);
    assert_status(&api, 201);
    assert_string_equal(owners(&api), "");
    apply(&api, MAPS "/m?fieldManager=a", body.data);
    assert_status(&api, 413);
    ki_buf_done(&body);
    test_api_done(&api);
}

/* An object of a kind without a schema, with so many maps in each other. */
static void write_deep(ki_buf *out, size_t depth)
{
    ki_buf_clear(out);
    test_add(out, "{'kind':'W','apiVersion':'e.io/v1','metadata':{'name':'x'},'a':", 1);
    test_add(out, "{'a':", depth - 2);
    test_add(out, "{}", 1);
    test_add(out, "}", depth - 1);
}

static void owners_do_not_make_objects_too_deep(void **state)
{
    (void)state;
    enum { OBJECT_MAX = 128, OWNED_MAX = OBJECT_MAX - 4 }; /* the maps around the last field */
    test_api api;
    ki_buf body;
    init(&api);
    ki_buf_init(&body, NULL, 10000);
    define_custom(&api, "{'type':'object'}");
    write_deep(&body, OBJECT_MAX);
    test_api_call(&api, "POST", "/apis/e.io/v1/ws", body.data);
    assert_status(&api, 201);
    assert_string_equal(owners(&api), ""); /* too deep to be listed */
    apply(&api, "/apis/e.io/v1/ws/x?fieldManager=a", body.data);
    assert_status(&api, 413);
    write_deep(&body, OWNED_MAX);
    test_api_call(&api, "DELETE", "/apis/e.io/v1/ws/x", "");
    apply(&api, "/apis/e.io/v1/ws/x?fieldManager=a", body.data);
    assert_status(&api, 201);
    assert_string_equal(owners(&api), "a Apply");
    ki_buf_done(&body);
    test_api_done(&api);
}

static int scenario(const ki_alloc *alloc, void *user)
{
    (void)user;
    test_api api;
    test_api_init(&api, alloc, NULL, &tracking);
    test_api_call(&api, "POST", MAPS, MAP(",'data':{'k':'v'}"));
    apply(&api, MAPS "/m?fieldManager=a", MAP(",'data':{'k':'w'}"));
    apply(&api, MAPS "/m?fieldManager=a&force=true", MAP(",'data':{'k':'w','l':'x'}"));
    apply(&api, MAPS "/m?fieldManager=a", MAP(",'data':{'l':'x'}"));
    test_api_call(&api, "PATCH", MAPS "/m", "{'data':{'z':'1'}}");
    apply(&api, DEPLOYMENTS "/d?fieldManager=a", DEPLOYMENT(",'spec':{'replicas':2}"));
    apply(&api, DEPLOYMENTS "/d/scale?fieldManager=b",
          "{'kind':'Scale','apiVersion':'autoscaling/v1','spec':{'replicas':2}}");
    test_api_call(&api, "DELETE", MAPS "/m", "");
    test_api_call(&api, "POST", MAPS, BY_KUBECTL);
    apply(&api, MAPS "/m?fieldManager=kubectl", MAP(",'data':{'a':'2'}"));
    int r = api.failed;
    test_api_done(&api);
    return r;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    test_alloc_sweep(scenario, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(applying_creates_shares_and_removes),
        cmocka_unit_test(applying_the_same_again_writes_nothing),
        cmocka_unit_test(conflicts_name_managers_and_fields),
        cmocka_unit_test(apply_requires_a_field_manager),
        cmocka_unit_test(wrong_objects_are_not_applied),
        cmocka_unit_test(writes_are_tracked_if_the_server_does),
        cmocka_unit_test(owners_can_be_changed_and_forgotten),
        cmocka_unit_test(subresources_have_owners_of_their_own),
        cmocka_unit_test(a_scale_without_owners_gets_none),
        cmocka_unit_test(custom_resources_are_merged_by_their_schema),
        cmocka_unit_test(kubectl_continues_with_what_it_applied_itself),
        cmocka_unit_test(direct_writes_keep_owners),
        cmocka_unit_test(owners_do_not_make_objects_too_large),
        cmocka_unit_test(too_many_owned_fields_are_nobodys),
        cmocka_unit_test(owners_do_not_make_objects_too_deep),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
