/* SPDX-License-Identifier: Apache-2.0 */
/* Other forms of objects: tables, metadata only, scales; and reviews. */
#include <stdio.h>
#include <string.h>

#include "support/api.h"

#define TABLE "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
#define METADATA                                                                           \
    "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1," \
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
#define DEPLOYMENTS "/apis/apps/v1/namespaces/ns/deployments"

/* The cells of row `row`, with '|' between them. */
static const char *cells(test_api *api, int row)
{
    static char text[1024];
    size_t len = 0;
    for (int i = 0;; i++) {
        char path[64];
        snprintf(path, sizeof(path), ".rows[%d].cells[%d]", row, i);
        char name[64];
        snprintf(name, sizeof(name), ".columnDefinitions[%d].name", i);
        if (test_api_at(api, name)[0] == '\0') {
            break;
        }
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s", i != 0 ? "|" : "",
                                test_api_at(api, path));
    }
    return text;
}

static void check_row(const char *target, const char *body, const char *expected)
{
    test_api api;
    static const ki__api_model_options options = {.status_on_create = true};
    test_api_init(&api, NULL, &options, NULL);
    test_api_call(&api, "POST", target, body);
    assert_status(&api, 201);
    api.now_ns += UINT64_C(5000000000);
    api.accept = TABLE;
    assert_int_equal(test_api_get(&api, target), 200);
    assert_string_equal(test_api_at(&api, ".kind"), "Table");
    assert_string_equal(cells(&api, 0), expected);
    test_api_done(&api);
}

static void kinds_have_the_columns_of_a_real_server(void **state)
{
    (void)state;
    check_row(PODS,
              "{'metadata':{'name':'p'},'spec':{'containers':[{'name':'a'},{'name':'b'}],'nodeName'"
              ":'n'},'status':{'phase':'Running','podIP':'10.0.0.1','containerStatuses':[{'ready':"
              "true,'restartCount':2},{'restartCount':1}]}}",
              "p|1/2|Running|3|5s|10.0.0.1|n|<none>|<none>");
    check_row(PODS,
              "{'metadata':{'name':'p'},'status':{'phase':'Pending','containerStatuses':[{'state':"
              "{'waiting':{'reason':'CrashLoopBackOff'}}}]}}",
              "p|0/0|CrashLoopBackOff|0|5s|<none>|<none>|<none>|<none>");
    check_row(PODS, "{'metadata':{'name':'p'}}", "p|0/0|Pending|0|5s|<none>|<none>|<none>|<none>");
    check_row(DEPLOYMENTS,
              "{'metadata':{'name':'d'},'spec':{'replicas':3,'selector':{'matchLabels':{'a':'b','c'"
              ":'d'}},'template':{'spec':{'containers':[{'name':'x','image':'i:1'},{'name':'y',"
              "'image':'j'}]}}},'status':{'readyReplicas':2,'updatedReplicas':3,"
              "'availableReplicas':1}}",
              "d|2/3|3|1|5s|x,y|i:1,j|a=b,c=d");
    check_row("/api/v1/namespaces/ns/services",
              "{'metadata':{'name':'s'},'spec':{'clusterIP':'10.1.1.1','ports':[{'port':80},{'port'"
              ":53,'protocol':'UDP','nodePort':30053}]}}",
              "s|ClusterIP|10.1.1.1|<none>|80/TCP,53:30053/UDP|5s|<none>");
    check_row("/api/v1/namespaces/ns/configmaps",
              "{'metadata':{'name':'c'},'data':{'a':'1','b':'2'},'binaryData':{'c':''}}", "c|3|5s");
    check_row("/api/v1/namespaces/ns/secrets", "{'metadata':{'name':'s'},'data':{'a':''}}",
              "s|Opaque|1|5s");
    check_row("/api/v1/nodes",
              "{'metadata':{'name':'n','labels':{'node-role.kubernetes.io/worker':''}},'spec':{"
              "'unschedulable':true},'status':{'conditions':[{'type':'Ready','status':'True'}],"
              "'nodeInfo':{'kubeletVersion':'v1.36.0'},'addresses':[{'type':'Hostname','address':"
              "'h'},{'type':'InternalIP','address':'10.0.0.1'}]}}",
              "n|Ready,SchedulingDisabled|worker|5s|v1.36.0|10.0.0.1|<none>|<none>|<none>|<none>");
    check_row("/api/v1/namespaces/ns/events",
              "{'metadata':{'name':'e'},'type':'Normal','reason':'Pulled','message':'ok','count':4,"
              "'involvedObject':{'kind':'Pod','name':'p'}}",
              "5s|Normal|Pulled|pod/p|ok|5s|4|e");
    check_row("/apis/batch/v1/namespaces/ns/jobs",
              "{'metadata':{'name':'j'},'status':{'succeeded':1,'conditions':[{'type':'Complete',"
              "'status':'True'}],'startTime':'2023-11-14T22:13:20Z','completionTime':"
              "'2023-11-14T22:15:25Z'}}",
              "j|Complete|1/1|2m5s|5s|<none>|<none>|<none>");
    check_row("/api/v1/namespaces/ns/serviceaccounts", "{'metadata':{'name':'a'}}", "a|5s");
}

static void more_kinds_have_the_columns_of_a_real_server(void **state)
{
    (void)state;
    check_row("/apis/networking.k8s.io/v1/namespaces/ns/ingresses",
              "{'metadata':{'name':'i'},'spec':{'ingressClassName':'c','tls':[{}],'rules':[{'host':"
              "'h'}]}}",
              "i|c|h|<none>|80, 443|5s");
    check_row("/apis/networking.k8s.io/v1/ingressclasses",
              "{'metadata':{'name':'c'},'spec':{'controller':'example.com/x'}}",
              "c|example.com/x|<none>|5s");
    check_row("/apis/batch/v1/namespaces/ns/cronjobs",
              "{'metadata':{'name':'c'},'spec':{'schedule':'* * * * *','jobTemplate':{'spec':{"
              "'template':{'spec':{'containers':[{'name':'a','image':'i'}]}}}}}}",
              "c|* * * * *|<none>|false|0|<none>|5s|a|i|<none>");
    check_row(
        "/api/v1/persistentvolumes",
        "{'metadata':{'name':'v'},'spec':{'capacity':{'storage':'1Gi'},'volumeMode':'Block'}}",
        "v|1Gi|<none>|||||<unset>||5s|Block");
    check_row("/apis/storage.k8s.io/v1/csinodes",
              "{'metadata':{'name':'n'},'spec':{'drivers':[{'name':'a','nodeID':'n'}]}}", "n|1|5s");
    check_row("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
              "{'metadata':{'name':'w'}}", "w|0|5s");
}

static void rows_have_as_much_of_the_object_as_requested(void **state)
{
    (void)state;
    test_api api;
    test_api_init(&api, NULL, NULL, NULL);
    test_api_pod(&api, "ns", "a", "'x':'1'");
    api.accept = TABLE;
    test_api_get(&api, PODS "/a");
    assert_string_equal(test_api_at(&api, ".rows[0].object.kind"), "PartialObjectMetadata");
    assert_string_equal(test_api_at(&api, ".rows[0].object.metadata.labels.x"), "1");
    assert_string_equal(test_api_at(&api, ".metadata.resourceVersion"), "2");
    test_api_get(&api, PODS "?includeObject=Object");
    assert_string_equal(test_api_at(&api, ".rows[0].object.spec.nodeName"), "n1");
    test_api_get(&api, PODS "?includeObject=None");
    assert_string_equal(test_api_at(&api, ".rows[0].object"), "null");
    test_api_get(&api, PODS "/b");
    assert_status(&api, 404);
    assert_string_equal(test_api_at(&api, ".kind"), "Status");
    test_api_done(&api);
}

static void a_watch_of_tables_sends_its_columns_once(void **state)
{
    (void)state;
    test_api api;
    static const ki__api_server_options options = {.bookmark_ms = 1000};
    test_api_init(&api, NULL, NULL, &options);
    test_api_pod(&api, "ns", "a", "");
    test_api_pod(&api, "ns", "b", "");
    api.accept = TABLE;
    ki__api_exchange *x = test_api_open(&api, "GET", PODS "?watch=1&allowWatchBookmarks=true", "");
    ki_buf_clear(&api.body);
    test_api_pull(&api, x, 4096, &api.body);
    api.now_ns += UINT64_C(1500000000);
    test_api_pull(&api, x, 4096, &api.body);
    const char *text = ki_buf_text(&api.body);
    const char *second = strstr(text, "\"columnDefinitions\":null");
    assert_non_null(strstr(text, "\"columnDefinitions\":[{"));
    assert_non_null(second);
    assert_non_null(strstr(second + 1, "\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"Table\""));
    ki__api_exchange_free(x);
    x = test_api_open(&api, "GET", PODS "?watch=1&resourceVersion=1", "");
    ki__api_exchange_free(x);
    test_api_done(&api);
}

static void metadata_alone_is_served(void **state)
{
    (void)state;
    test_api api;
    test_api_init(&api, NULL, NULL, NULL);
    test_api_pod(&api, "ns", "a", "'x':'1'");
    api.accept = METADATA;
    test_api_get(&api, PODS);
    assert_string_equal(test_api_at(&api, ".kind"), "PartialObjectMetadataList");
    assert_string_equal(test_api_at(&api, ".metadata.resourceVersion"), "2");
    assert_string_equal(test_api_at(&api, ".items[0].kind"), "PartialObjectMetadata");
    assert_string_equal(test_api_at(&api, ".items[0].metadata.labels.x"), "1");
    assert_string_equal(test_api_at(&api, ".items[0].spec"), "");
    api.accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
    test_api_get(&api, PODS "/a");
    assert_string_equal(test_api_at(&api, ".kind"), "PartialObjectMetadata");
    api.accept = "application/json;as=Nothing;g=meta.k8s.io;v=v1";
    assert_int_equal(test_api_get(&api, PODS "/a"), 406);
    api.accept = "application/json;as=Table;v=v9;g=meta.k8s.io";
    assert_int_equal(test_api_get(&api, PODS "/a"), 406);
    test_api_done(&api);
}

static void custom_columns_come_from_the_definition(void **state)
{
    (void)state;
    test_api api;
    test_api_init(&api, NULL, NULL, NULL);
    test_api_call(&api, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                  "{'metadata':{'name':'widgets.example.com'},'spec':{'group':'example.com','scope'"
                  ":'Cluster','names':{'plural':'widgets','kind':'Widget'},'versions':[{'name':'v1'"
                  ",'served':true,'storage':true,'schema':{'openAPIV3Schema':{'type':'object',"
                  "'x-kubernetes-preserve-unknown-fields':true}},'additionalPrinterColumns':[{'"
                  "name':'Size','type':"
                  "'integer','jsonPath':'.spec.size','priority':1},{'name':'Since','type':'date',"
                  "'jsonPath':'.metadata.creationTimestamp'},{'name':'Bad','type':'string',"
                  "'jsonPath':'[[['},{'name':'None','type':'string','jsonPath':'.x.y'}]}]}}");
    assert_status(&api, 201);
    test_api_call(&api, "POST", "/apis/example.com/v1/widgets",
                  "{'metadata':{'name':'w'},'spec':{'size':7}}");
    api.now_ns += UINT64_C(9000000000);
    api.accept = TABLE;
    test_api_get(&api, "/apis/example.com/v1/widgets");
    assert_string_equal(test_api_at(&api, ".columnDefinitions[1].name"), "Size");
    assert_string_equal(test_api_at(&api, ".columnDefinitions[1].priority"), "1");
    assert_string_equal(cells(&api, 0), "w|7|9s|null|null");
    test_api_done(&api);
}

/* ---- scales and reviews ---- */

static void workloads_are_scaled(void **state)
{
    (void)state;
    test_api api;
    test_api_init(&api, NULL, NULL, NULL);
    test_api_call(&api, "POST", DEPLOYMENTS,
                  "{'metadata':{'name':'d'},'spec':{'replicas':3,'selector':{'matchLabels':{'a':"
                  "'b'}}}}");
    test_api_get(&api, DEPLOYMENTS "/d/scale");
    assert_status(&api, 200);
    assert_string_equal(test_api_at(&api, ".kind"), "Scale");
    assert_string_equal(test_api_at(&api, ".spec.replicas"), "3");
    assert_string_equal(test_api_at(&api, ".status.selector"), "a=b");
    test_api_call(&api, "PATCH", DEPLOYMENTS "/d/scale", "{'spec':{'replicas':5}}");
    assert_status(&api, 200);
    assert_string_equal(test_api_at(&api, ".spec.replicas"), "5");
    test_api_call(&api, "PUT", DEPLOYMENTS "/d/scale",
                  "{'metadata':{'name':'d','resourceVersion':'1'},'spec':{'replicas':6}}");
    assert_status(&api, 409);
    test_api_call(&api, "PUT", DEPLOYMENTS "/d/scale", "{'metadata':{'name':'d'},'spec':{}}");
    assert_status(&api, 200);
    test_api_get(&api, DEPLOYMENTS "/d");
    assert_string_equal(test_api_at(&api, ".spec.replicas"), "0");
    assert_string_equal(test_api_at(&api, ".metadata.generation"), "3");
    test_api_call(&api, "PUT", DEPLOYMENTS "/d/scale", "{'spec':{'replicas':-1}}");
    assert_status(&api, 422);
    assert_int_equal(test_api_get(&api, DEPLOYMENTS "/x/scale"), 404);
    assert_int_equal(test_api_call(&api, "DELETE", DEPLOYMENTS "/d/scale", ""), 405);
    assert_int_equal(test_api_get(&api, PODS "/d/scale"), 404);
    test_api_done(&api);
}

static void reviews_allow_everything_and_are_not_kept(void **state)
{
    (void)state;
    test_api api;
    test_api_init(&api, NULL, NULL, NULL);
    uint64_t head = api.model->head;
    test_api_call(&api, "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                  "{'spec':{'resourceAttributes':{'verb':'get'}}}");
    assert_status(&api, 201);
    assert_string_equal(test_api_at(&api, ".status.allowed"), "true");
    assert_string_equal(test_api_at(&api, ".spec.resourceAttributes.verb"), "get");
    test_api_call(&api, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", "{}");
    assert_string_equal(test_api_at(&api, ".status.userInfo.username"), "kinformer");
    assert_int_equal(test_api_get(&api, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"),
                     405);
    assert_int_equal(api.model->head, head);
    test_api_done(&api);
}

static int scenario(const ki_alloc *alloc, void *user)
{
    (void)user;
    test_api api;
    test_api_init(&api, alloc, NULL, NULL);
    test_api_call(&api, "POST", DEPLOYMENTS,
                  "{'metadata':{'name':'d'},'spec':{'selector':{'matchLabels':{'a':'b'}}}}");
    test_api_call(&api, "PATCH", DEPLOYMENTS "/d/scale", "{'spec':{'replicas':5}}");
    test_api_call(&api, "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "{}");
    api.accept = TABLE;
    test_api_get(&api, DEPLOYMENTS);
    test_api_get(&api, DEPLOYMENTS "?watch=1");
    api.accept = METADATA;
    test_api_get(&api, DEPLOYMENTS);
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
        cmocka_unit_test(kinds_have_the_columns_of_a_real_server),
        cmocka_unit_test(more_kinds_have_the_columns_of_a_real_server),
        cmocka_unit_test(rows_have_as_much_of_the_object_as_requested),
        cmocka_unit_test(a_watch_of_tables_sends_its_columns_once),
        cmocka_unit_test(metadata_alone_is_served),
        cmocka_unit_test(custom_columns_come_from_the_definition),
        cmocka_unit_test(workloads_are_scaled),
        cmocka_unit_test(reviews_allow_everything_and_are_not_kept),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
