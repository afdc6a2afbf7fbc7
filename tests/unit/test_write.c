/* SPDX-License-Identifier: Apache-2.0 */
/* Creating, updating, patching and deleting, as a client sees them: status codes, reasons, details
 * and what is stored. */
#include <stdio.h>
#include <string.h>

#include "support/api.h"

static void check_failure(test_api *api, int code, const char *reason)
{
    assert_status(api, code);
    assert_string_equal(test_api_at(api, ".kind"), "Status");
    assert_string_equal(test_api_at(api, ".status"), "Failure");
    assert_string_equal(test_api_at(api, ".reason"), reason);
    assert_true(test_api_at(api, ".message")[0] != '\0');
}

/* ---- create ---- */

static void create_fills_the_metadata(void **state)
{
    (void)state;
    test_api api;
    test_api_init(&api, NULL, NULL, NULL);
    test_api_call(&api, "POST", PODS,
                  "{'metadata':{'name':'a','uid':'mine','generation':9,'labels':{'x':'y'},"
                  "'managedFields':[{'manager':'m'}]},'spec':{'nodeName':'n'},"
                  "'status':{'phase':'Running'}}");
    assert_status(&api, 201);
    assert_string_equal(test_api_at(&api, ".kind"), "Pod");
    assert_string_equal(test_api_at(&api, ".apiVersion"), "v1");
    assert_string_equal(test_api_at(&api, ".metadata.namespace"), "ns");
    assert_int_equal(strlen(test_api_at(&api, ".metadata.uid")), 36);
    assert_string_equal(test_api_at(&api, ".metadata.resourceVersion"), "2");
    assert_string_equal(test_api_at(&api, ".metadata.generation"), "1");
    assert_string_equal(test_api_at(&api, ".metadata.creationTimestamp"), "2023-11-14T22:13:20Z");
    assert_string_equal(test_api_at(&api, ".metadata.managedFields[0].manager"), "m");
    assert_string_equal(test_api_at(&api, ".metadata.labels.x"), "y");
    assert_string_equal(test_api_at(&api, ".spec.nodeName"), "n");
    assert_string_equal(test_api_at(&api, ".status"), ""); /* has a subresource for it */
    test_api_done(&api);
}

static void create_twice_is_already_exists(void **state)
{
    (void)state;
    test_api api;
    test_api_init(&api, NULL, NULL, NULL);
    test_api_pod(&api, "ns", "a", "");
    test_api_pod(&api, "ns", "a", "");
    check_failure(&api, 409, "AlreadyExists");
    assert_string_equal(test_api_at(&api, ".details.name"), "a");
    assert_string_equal(test_api_at(&api, ".details.kind"), "pods");
    test_api_pod(&api, "other", "a", "");
    assert_status(&api, 201);
    test_api_done(&api);
}

static void create_refuses_what_has_no_good_name(void **state)
{
    (void)state;
    test_api api;
    test_api_init(&api, NULL, NULL, NULL);
    test_api_call(&api, "POST", PODS, "{}");
    check_failure(&api, 422, "Invalid");
    assert_string_equal(test_api_at(&api, ".details.causes[0].field"), "metadata.name");
    assert_string_equal(test_api_at(&api, ".details.causes[0].reason"), "FieldValueRequired");
    test_api_call(&api, "POST", PODS, "{'metadata':{'name':'A_b'}}");
    check_failure(&api, 422, "Invalid");
    assert_string_equal(test_api_at(&api, ".details.kind"), "Pod");
    test_api_call(&api, "POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles",
                  "{'metadata':{'name':'system:node'}}");
    assert_status(&api, 201);
    test_api_done(&api);
}

static void create_refuses_what_does_not_fit_the_path(void **state)
{
    (void)state;
    test_api api;
    test_api_init(&api, NULL, NULL, NULL);
    static const char *const bodies[] = {
        "{'metadata':{'name':'a','namespace':'other'}}",
        "{'kind':'Node','metadata':{'name':'a'}}",
        "{'apiVersion':'v2','metadata':{'name':'a'}}",
        "[]",
        "{",
        "",
        "{'metadata':7}",
    };
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        test_api_call(&api, "POST", PODS, bodies[i]);
        check_failure(&api, 400, "BadRequest");
    }
    test_api_call(&api, "POST", PODS, "{'metadata':{'name':'a','resourceVersion':'5'}}");
    assert_status(&api, 500); /* a real server takes it for a failure of its own */
    assert_int_equal(api.model->head, 1);
    test_api_done(&api);
}

static void generate_name_makes_names(void **state)
{
    (void)state;
    test_api api;
    char first[64];
    test_api_init(&api, NULL, NULL, NULL);
    test_api_call(&api, "POST", PODS, "{'metadata':{'generateName':'web-'}}");
    assert_status(&api, 201);
    (void)snprintf(first, sizeof(first), "%s", test_api_at(&api, ".metadata.name"));
    assert_int_equal(strlen(first), 9);
    assert_memory_equal(first, "web-", 4);
    test_api_call(&api, "POST", PODS, "{'metadata':{'generateName':'web-'}}");
    assert_string_not_equal(test_api_at(&api, ".metadata.name"), first);
    /* A long base is cut so that the name fits a label. */
    test_api_call(&api, "POST", PODS,
                  "{'metadata':{'generateName':'a234567890123456789012345678901234567890123456789"
                  "0123456789012345678901234567890'}}");
    assert_int_equal(strlen(test_api_at(&api, ".metadata.name")), 63);
    test_api_done(&api);
}

static void a_body_that_is_too_large_is_refused(void **state)
{
    (void)state;
    test_api api;
    const ki__api_model_options options = {.object_bytes_max = 64};
    test_api_init(&api, NULL, &options, NULL);
    test_api_pod(&api, "ns", "a", "");
    check_failure(&api, 413, "RequestEntityTooLarge");
    test_api_done(&api);
    const ki__api_model_options two = {.objects_max = 2};
    test_api_init(&api, NULL, &two, NULL);
    test_api_pod(&api, "ns", "a", "");
    test_api_pod(&api, "ns", "b", "");
    test_api_pod(&api, "ns", "c", "");
    check_failure(&api, 413, "RequestEntityTooLarge");
    test_api_done(&api);
}

static void the_content_type_must_be_known(void **state)
{
    (void)state;
    test_api api;
    test_api_init(&api, NULL, NULL, NULL);
    api.content_type = "application/yaml";
    test_api_pod(&api, "ns", "a", "");
    check_failure(&api, 415, "UnsupportedMediaType");
    api.content_type = "Application/JSON";
    test_api_pod(&api, "ns", "a", "");
    assert_status(&api, 201);
    api.content_type = "application/json";
    test_api_call(&api, "PATCH", PODS "/a", "{}");
    check_failure(&api, 415, "UnsupportedMediaType");
    test_api_done(&api);
}

static void patches_are_of_three_types(void **state)
{
    (void)state;
    test_api api;
    test_api_init(&api, NULL, NULL, NULL);
    test_api_pod(&api, "ns", "a", "'x':'1'");
    api.content_type = "application/json-patch+json";
    test_api_call(&api, "PATCH", PODS "/a",
                  "[{'op':'replace','path':'/metadata/labels/x','value':'2'}]");
    assert_status(&api, 200);
    assert_string_equal(test_api_at(&api, ".metadata.labels.x"), "2");
    test_api_call(&api, "PATCH", PODS "/a", "[{'op':'remove','path':'/nothing'}]");
    check_failure(&api, 422, "Invalid");
    test_api_call(&api, "PATCH", PODS "/a", "[{]");
    check_failure(&api, 400, "BadRequest");
    api.content_type = "application/strategic-merge-patch+json";
    test_api_call(&api, "PATCH", PODS "/a", "{'spec':{'containers':[{'name':'c'}]}}");
    test_api_call(&api, "PATCH", PODS "/a",
                  "{'spec':{'containers':[{'name':'c','image':'i'},{'name':'d'}]}}");
    assert_status(&api, 200);
    assert_string_equal(test_api_at(&api, ".spec.containers[0].image"), "i");
    assert_string_equal(test_api_at(&api, ".spec.containers[1].name"), "d");
    test_api_done(&api);
}

/* The members that are not in the schema of a built-in kind. */
static void unknown_fields_are_refused_by_who_is_strict(void **state)
{
    (void)state;
    static const char *const good[] = {
        "{'spec':{'containers':[{'name':'c','resources':{'limits':{'cpu':1}}}]}}",
        "{'spec':{'volumes':[{'name':'v','emptyDir':{}}],'nodeSelector':{'any':'thing'}}}",
        "{'metadata':{'labels':{'any':'thing'},'managedFields':[{'fieldsV1':{'f:x':{}}}]}}",
    };
    static const char *const bad[][2] = {
        {"{'spek':{}}", "spek"},
        {"{'spec':{'nodename':'x'}}", "spec.nodename"},
        {"{'spec':{'containers':[{'name':'c'},{'imagee':'c'}]}}", "spec.containers[1].imagee"},
        {"{'metadata':{'label':{}}}", "metadata.label"},
        {"{'spec':{'volumes':[{'emptyDir':{'x':1}}]}}", "spec.volumes[0].emptyDir.x"},
    };
    test_api api;
    char body[512];
    test_api_init(&api, NULL, NULL, NULL);
    test_api_pod(&api, "ns", "a", "");
    for (size_t i = 0; i < 3; i++) {
        test_api_call(&api, "PATCH", PODS "/a?fieldValidation=Strict", good[i]);
        assert_status(&api, 200);
    }
    for (size_t i = 0; i < 5; i++) {
        snprintf(body, sizeof(body), "%s", bad[i][0]);
        test_api_call(&api, "PATCH", PODS "/a?fieldValidation=Strict", body);
        check_failure(&api, 400, "BadRequest");
        if (strstr(test_api_at(&api, ".message"), bad[i][1]) == NULL) {
            fail_msg("no %s in %s", bad[i][1], test_api_at(&api, ".message"));
        }
        test_api_call(&api, "PATCH", PODS "/a?fieldValidation=Warn&dryRun=All", body);
        assert_status(&api, 200);
    }
    test_api_done(&api);
}

/* ---- update ---- */

static void update_keeps_what_the_server_owns(void **state)
{
    (void)state;
    test_api api;
    char uid[64];
    test_api_init(&api, NULL, NULL, NULL);
    test_api_pod(&api, "ns", "a", "'x':'1'");
    (void)snprintf(uid, sizeof(uid), "%s", test_api_at(&api, ".metadata.uid"));
    api.now_ns += UINT64_C(5000000000);
    test_api_call(&api, "PUT", PODS "/a",
                  "{'metadata':{'name':'a','resourceVersion':'2','creationTimestamp':null,"
                  "'selfLink':'/x','generation':77},"
                  "'spec':{'nodeName':'n2'},'status':{'phase':'Running'}}");
    assert_status(&api, 200);
    assert_string_equal(test_api_at(&api, ".metadata.uid"), uid);
    assert_string_equal(test_api_at(&api, ".metadata.resourceVersion"), "3");
    assert_string_equal(test_api_at(&api, ".metadata.creationTimestamp"), "2023-11-14T22:13:20Z");
    assert_string_equal(test_api_at(&api, ".metadata.deletionTimestamp"), "");
    assert_string_equal(test_api_at(&api, ".metadata.labels"), "");
    assert_string_equal(test_api_at(&api, ".metadata.generation"), "2");
    assert_string_equal(test_api_at(&api, ".spec.nodeName"), "n2");
    assert_string_equal(test_api_at(&api, ".status"), "");
    test_api_done(&api);
}

static void update_of_an_old_version_is_a_conflict(void **state)
{
    (void)state;
    test_api api;
    test_api_init(&api, NULL, NULL, NULL);
    test_api_pod(&api, "ns", "a", "");
    test_api_call(&api, "PUT", PODS "/a", "{'metadata':{'resourceVersion':'1'}}");
    check_failure(&api, 409, "Conflict");
    assert_string_equal(test_api_at(&api, ".details.name"), "a");
    test_api_call(&api, "PUT", PODS "/a", "{'metadata':{'uid':'other'}}");
    check_failure(&api, 409, "Conflict");
    test_api_call(&api, "PUT", PODS "/a", "{'metadata':{'name':'a'}}"); /* without a condition */
    assert_status(&api, 200);
    test_api_call(&api, "PUT", PODS "/a", "{'metadata':{'name':'b'}}");
    check_failure(&api, 400, "BadRequest");
    test_api_call(&api, "PUT", PODS "/b", "{'metadata':{'name':'b'}}");
    check_failure(&api, 404, "NotFound");
    test_api_done(&api);
}

static void update_without_a_change_is_no_write(void **state)
{
    (void)state;
    test_api api;
    test_api_init(&api, NULL, NULL, NULL);
    test_api_pod(&api, "ns", "a", "'x':'1','y':'2'");
    test_api_call(&api, "PUT", PODS "/a",
                  "{'spec':{'nodeName':'n1'},'metadata':{'labels':{'y':'2', 'x':'1'}}}");
    assert_status(&api, 200);
    assert_string_equal(test_api_at(&api, ".metadata.resourceVersion"), "2");
    assert_int_equal(api.model->head, 2);
    test_api_done(&api);
}

static void status_is_written_by_its_subresource_alone(void **state)
{
    (void)state;
    test_api api;
    test_api_init(&api, NULL, NULL, NULL);
    test_api_pod(&api, "ns", "a", "'x':'1'");
    test_api_call(
        &api, "PUT", PODS "/a/status",
        "{'metadata':{'labels':{}},'spec':{'nodeName':'n9'},'status':{'phase':'Failed'}}");
    assert_status(&api, 200);
    assert_string_equal(test_api_at(&api, ".status.phase"), "Failed");
    assert_string_equal(test_api_at(&api, ".spec.nodeName"), "n1");
    assert_string_equal(test_api_at(&api, ".metadata.labels.x"), "1");
    assert_string_equal(test_api_at(&api, ".metadata.generation"), "1");
    test_api_call(&api, "PATCH", PODS "/a", "{'status':{'phase':'Running'}}");
    assert_string_equal(test_api_at(&api, ".status.phase"), "Failed");
    test_api_call(&api, "PATCH", PODS "/a/status", "{'status':{'phase':'Running'}}");
    assert_string_equal(test_api_at(&api, ".status.phase"), "Running");
    test_api_get(&api, PODS "/a/status");
    assert_status(&api, 200);
    /* A resource without one keeps all of it in one. */
    test_api_call(&api, "POST", "/api/v1/namespaces/ns/configmaps",
                  "{'metadata':{'name':'c'},'status':1}");
    assert_string_equal(test_api_at(&api, ".status"), "1");
    assert_string_equal(test_api_at(&api, ".metadata.generation"), "");
    test_api_get(&api, "/api/v1/namespaces/ns/configmaps/c/status");
    assert_status(&api, 404);
    test_api_done(&api);
}

static void patch_merges(void **state)
{
    (void)state;
    test_api api;
    test_api_init(&api, NULL, NULL, NULL);
    test_api_pod(&api, "ns", "a", "'x':'1','y':'2'");
    test_api_call(&api, "PATCH", PODS "/a",
                  "{'metadata':{'labels':{'x':null,'z':'3'}},'spec':{'nodeName':'n2'}}");
    assert_status(&api, 200);
    assert_string_equal(test_api_at(&api, ".metadata.labels"), "{\"y\":\"2\",\"z\":\"3\"}");
    assert_string_equal(test_api_at(&api, ".spec.nodeName"), "n2");
    assert_string_equal(test_api_at(&api, ".metadata.resourceVersion"), "3");
    test_api_call(&api, "PATCH", PODS "/a", "{'metadata':{'resourceVersion':'2'}}");
    check_failure(&api, 409, "Conflict");
    test_api_call(&api, "PATCH", PODS "/a", "{'metadata':{'name':'b'}}");
    check_failure(&api, 400, "BadRequest");
    test_api_call(&api, "PATCH", PODS "/a", "{'metadata':{'labels':7}}");
    assert_status(&api, 400);
    test_api_call(&api, "PATCH", PODS "/none", "{}");
    check_failure(&api, 404, "NotFound");
    test_api_done(&api);
}

static void dry_run_changes_nothing(void **state)
{
    (void)state;
    test_api api;
    test_api_init(&api, NULL, NULL, NULL);
    test_api_call(&api, "POST", PODS "?dryRun=All", "{'metadata':{'name':'a'}}");
    assert_status(&api, 201);
    test_api_get(&api, PODS "/a");
    assert_status(&api, 404);
    test_api_pod(&api, "ns", "a", "");
    test_api_call(&api, "PATCH", PODS "/a?dryRun=All", "{'spec':{'nodeName':'x'}}");
    assert_string_equal(test_api_at(&api, ".spec.nodeName"), "x");
    test_api_call(&api, "DELETE", PODS "/a?dryRun=All", "");
    assert_status(&api, 200);
    test_api_call(&api, "DELETE", PODS "/a", "{'dryRun':['All']}");
    assert_status(&api, 200);
    test_api_call(&api, "DELETE", PODS, "{'dryRun':['All']}");
    assert_status(&api, 200);
    test_api_get(&api, PODS "/a");
    assert_string_equal(test_api_at(&api, ".spec.nodeName"), "n1");
    test_api_call(&api, "DELETE", PODS "/a?dryRun=Some", "");
    check_failure(&api, 422, "Invalid");
    assert_int_equal(api.model->head, 2);
    test_api_done(&api);
}

/* ---- delete ---- */

static void delete_removes_and_says_so(void **state)
{
    (void)state;
    test_api api;
    test_api_init(&api, NULL, NULL, NULL);
    test_api_pod(&api, "ns", "a", "");
    test_api_call(&api, "DELETE", PODS "/a", "");
    assert_status(&api, 200);
    assert_string_equal(test_api_at(&api, ".status"), "Success");
    assert_string_equal(test_api_at(&api, ".details.name"), "a");
    assert_int_equal(api.model->head, 3);
    assert_int_equal(api.model->objects, 0);
    test_api_call(&api, "DELETE", PODS "/a", "");
    check_failure(&api, 404, "NotFound");
    test_api_pod(&api, "ns", "a", "");
    assert_status(&api, 201);
    test_api_done(&api);
}

static void delete_keeps_preconditions(void **state)
{
    (void)state;
    test_api api;
    char body[128];
    test_api_init(&api, NULL, NULL, NULL);
    test_api_pod(&api, "ns", "a", "");
    (void)snprintf(body, sizeof(body), "{'preconditions':{'uid':'%s'}}",
                   test_api_at(&api, ".metadata.uid"));
    test_api_call(&api, "DELETE", PODS "/a", "{'preconditions':{'uid':'x'}}");
    check_failure(&api, 409, "Conflict");
    test_api_call(&api, "DELETE", PODS "/a", "{'preconditions':{'resourceVersion':'1'}}");
    check_failure(&api, 409, "Conflict");
    test_api_call(&api, "DELETE", PODS "/a", body);
    assert_status(&api, 200);
    test_api_done(&api);
}

static void finalizers_delay_the_removal(void **state)
{
    (void)state;
    test_api api;
    test_api_init(&api, NULL, NULL, NULL);
    test_api_call(&api, "POST", PODS, "{'metadata':{'name':'a','finalizers':['x/y','z/z']}}");
    test_api_call(&api, "DELETE", PODS "/a", "");
    assert_status(&api, 200);
    assert_string_equal(test_api_at(&api, ".kind"), "Pod");
    assert_string_equal(test_api_at(&api, ".metadata.deletionTimestamp"), "2023-11-14T22:13:20Z");
    assert_string_equal(test_api_at(&api, ".metadata.generation"), "2");
    assert_int_equal(api.model->head, 3);
    test_api_call(&api, "DELETE", PODS "/a", ""); /* again changes nothing */
    assert_status(&api, 200);
    assert_int_equal(api.model->head, 3);
    test_api_call(&api, "PATCH", PODS "/a", "{'metadata':{'finalizers':['z/z','n/new']}}");
    check_failure(&api, 422, "Invalid");
    test_api_call(&api, "PATCH", PODS "/a", "{'metadata':{'finalizers':['z/z']}}");
    assert_status(&api, 200);
    assert_int_equal(api.model->head, 4);
    /* The last one goes, and the object with it: one change, the deletion, with what was stored. */
    ki__api_exchange *x = test_api_open(&api, "GET", PODS "?watch=1&resourceVersion=4", "");
    test_api_call(&api, "PATCH", PODS "/a", "{'metadata':{'finalizers':null}}");
    assert_status(&api, 200);
    assert_string_equal(test_api_events(&api, x), "DELETED ns/a@5");
    ki__api_exchange_free(x);
    test_api_get(&api, PODS "/a");
    assert_status(&api, 404);
    test_api_done(&api);
}

static void delete_collection_takes_what_is_selected(void **state)
{
    (void)state;
    test_api api;
    test_api_init(&api, NULL, NULL, NULL);
    test_api_pod(&api, "ns", "a", "'x':'1'");
    test_api_pod(&api, "ns", "b", "'x':'2'");
    test_api_pod(&api, "ns", "c", "'x':'1'");
    test_api_pod(&api, "other", "d", "'x':'1'");
    test_api_call(&api, "DELETE", PODS "?labelSelector=x%3D1", "");
    assert_status(&api, 200);
    assert_string_equal(test_api_items(&api), "a@6 c@7");
    test_api_get(&api, ALL_PODS);
    assert_string_equal(test_api_items(&api), "b@3 d@5");
    test_api_call(&api, "DELETE", ALL_PODS, "");
    check_failure(&api, 405, "MethodNotAllowed");
    test_api_done(&api);
}

/* ---- what is where ---- */

static void methods_and_paths_that_do_not_match(void **state)
{
    (void)state;
    test_api api;
    test_api_init(&api, NULL, NULL, NULL);
    static const struct {
        const char *method;
        const char *target;
        int code;
    } cases[] = {
        {"POST", ALL_PODS, 405},
        {"POST", PODS "/a", 405},
        {"PUT", PODS, 405},
        {"PATCH", PODS, 405},
        {"TRACE", PODS, 405},
        {"", PODS, 405},
        {"DELETE", PODS "/a/status", 405},
        {"GET", ALL_PODS "/a", 405},
        {"GET", "/api/v1/widgets", 404},
        {"GET", "/apis/x.io/v1/pods", 404},
        {"GET", "/api/v1/namespaces/ns/nodes", 404},
        {"GET", PODS "/a/log", 404},
        {"GET", "/nothing", 404},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        test_api_call(&api, cases[i].method, cases[i].target, "");
        assert_status(&api, cases[i].code);
        assert_string_equal(test_api_at(&api, ".kind"), "Status");
    }
    test_api_done(&api);
}

static void custom_resources_are_registered(void **state)
{
    (void)state;
    test_api api;
    ki_resource *widgets;
    const ki_resource_options options = {.size = sizeof(options),
                                         .group = "x.io",
                                         .version = "v1",
                                         .resource = "widgets",
                                         .kind = "Widget"};
    const ki__api_type_options served = {.has_status = true, .has_generation = true};
    assert_int_equal(ki_resource_new(&options, &widgets, NULL), 0);
    test_api_init(&api, NULL, NULL, NULL);
    assert_int_equal(ki__api_model_register(api.model, widgets, &served), 0);
    assert_int_equal(ki__api_model_register(api.model, widgets, &served), 0);
    ki_resource *others;
    assert_int_equal(ki_resource_new(&options, &others, NULL), 0);
    assert_int_equal(ki__api_model_register(api.model, others, &served), KI_ERR_EXISTS);
    const char *path = "/apis/x.io/v1/namespaces/ns/widgets";
    test_api_call(&api, "POST", path, "{'metadata':{'name':'w'},'spec':{'a':1}}");
    assert_status(&api, 201);
    assert_string_equal(test_api_at(&api, ".apiVersion"), "x.io/v1");
    test_api_get(&api, path); /* items of custom resources have their kind */
    assert_string_equal(test_api_at(&api, ".kind"), "WidgetList");
    assert_string_equal(test_api_at(&api, ".items[0].kind"), "Widget");
    test_api_call(&api, "PUT", "/apis/x.io/v1/namespaces/ns/widgets/w", "{'spec':{'a':2}}");
    check_failure(&api, 422, "Invalid"); /* they insist on a version */
    assert_string_equal(test_api_at(&api, ".details.group"), "x.io");
    test_api_get(&api, "/apis/x.io/v1/widgets?fieldSelector=spec.a%3D1");
    check_failure(&api, 400, "BadRequest");
    test_api_get(&api, "/apis/x.io/v1/widgets?fieldSelector=metadata.name%3Dw");
    assert_string_equal(test_api_items(&api), "w@2");
    test_api_done(&api);
    ki_resource_unref(widgets);
    ki_resource_unref(others);
}

/* ---- namespaces ---- */

static const ki__api_model_options with_namespaces = {.namespaces = true};

static void objects_need_their_namespace(void **state)
{
    (void)state;
    test_api api;
    test_api_init(&api, NULL, &with_namespaces, NULL);
    test_api_get(&api, "/api/v1/namespaces");
    assert_string_equal(test_api_items(&api),
                        "default@2 kube-node-lease@3 kube-public@4 kube-system@5");
    test_api_pod(&api, "ns", "a", "");
    check_failure(&api, 404, "NotFound");
    assert_string_equal(test_api_at(&api, ".details.kind"), "namespaces");
    test_api_call(&api, "POST", "/api/v1/namespaces", "{'metadata':{'name':'ns'}}");
    assert_status(&api, 201);
    assert_string_equal(test_api_at(&api, ".status.phase"), "Active");
    test_api_pod(&api, "ns", "a", "");
    assert_status(&api, 201);
    test_api_done(&api);
}

static void deleting_a_namespace_empties_it(void **state)
{
    (void)state;
    test_api api;
    test_api_init(&api, NULL, &with_namespaces, NULL);
    test_api_call(&api, "POST", "/api/v1/namespaces", "{'metadata':{'name':'ns'}}");
    test_api_pod(&api, "ns", "a", "");
    test_api_pod(&api, "default", "z", "");
    test_api_call(&api, "POST", "/api/v1/namespaces/ns/configmaps",
                  "{'metadata':{'name':'c','finalizers':['x/y']}}");
    test_api_call(&api, "DELETE", "/api/v1/namespaces/ns", "");
    assert_status(&api, 200);
    test_api_get(&api, ALL_PODS);
    assert_string_equal(test_api_items(&api), "z@8");
    test_api_get(&api, "/api/v1/namespaces/ns"); /* one object is still in it */
    assert_string_equal(test_api_at(&api, ".status.phase"), "Terminating");
    test_api_pod(&api, "ns", "b", "");
    check_failure(&api, 403, "Forbidden");
    assert_string_equal(test_api_at(&api, ".details.causes[0].reason"), "NamespaceTerminating");
    test_api_call(&api, "PATCH", "/api/v1/namespaces/ns/configmaps/c",
                  "{'metadata':{'finalizers':null}}");
    assert_status(&api, 200);
    test_api_get(&api, "/api/v1/namespaces/ns");
    assert_status(&api, 404);
    test_api_done(&api);
}

/* ---- memory ---- */

static int life_of_objects(const ki_alloc *alloc, void *user)
{
    test_api api;
    test_api_init(&api, alloc, user, NULL);
    test_api_call(&api, "POST", "/api/v1/namespaces", "{'metadata':{'name':'ns'}}");
    test_api_pod(&api, "ns", "a", "'x':'1'");
    test_api_pod(&api, "ns", "a", "");
    test_api_call(&api, "POST", PODS, "{'metadata':{'generateName':'b-','finalizers':['f']}}");
    test_api_call(&api, "PUT", PODS "/a", "{'spec':{'x':1}}");
    test_api_call(&api, "PATCH", PODS "/a/status", "{'status':{'y':{'z':2}}}");
    test_api_call(&api, "PATCH", PODS "/a", "{'metadata':{'resourceVersion':'1'}}");
    test_api_call(&api, "DELETE", PODS "/a", "{'preconditions':{'uid':'x'}}");
    test_api_call(&api, "DELETE", PODS "/a", "");
    test_api_call(&api, "DELETE", PODS, "");
    test_api_call(&api, "DELETE", "/api/v1/namespaces/ns", "");
    int r = api.failed;
    test_api_done(&api);
    return r;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    ki__api_model_options options = with_namespaces;
    test_alloc_sweep(life_of_objects, &options);
}

/* A write that failed for lack of memory happened wholly or not at all, and can be tried again. */
static void a_failed_write_can_be_tried_again(void **state)
{
    (void)state;
    for (uint64_t n = 1; n < 60; n++) {
        test_alloc alloc;
        test_api api;
        test_alloc_init(&alloc);
        test_api_init(&api, &alloc.table, NULL, NULL);
        test_api_pod(&api, "ns", "a", "");
        alloc.fail_at = alloc.calls + n;
        test_api_pod(&api, "ns", "b", "");
        alloc.fail_at = 0;
        api.failed = 0;
        test_api_pod(&api, "ns", "b", "");
        assert_true(api.status == 201 || api.status == 409);
        test_api_get(&api, PODS);
        assert_string_equal(test_api_items(&api), "a@2 b@3");
        test_api_done(&api);
        test_alloc_done(&alloc);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(create_fills_the_metadata),
        cmocka_unit_test(create_twice_is_already_exists),
        cmocka_unit_test(create_refuses_what_has_no_good_name),
        cmocka_unit_test(create_refuses_what_does_not_fit_the_path),
        cmocka_unit_test(generate_name_makes_names),
        cmocka_unit_test(a_body_that_is_too_large_is_refused),
        cmocka_unit_test(the_content_type_must_be_known),
        cmocka_unit_test(patches_are_of_three_types),
        cmocka_unit_test(unknown_fields_are_refused_by_who_is_strict),
        cmocka_unit_test(update_keeps_what_the_server_owns),
        cmocka_unit_test(update_of_an_old_version_is_a_conflict),
        cmocka_unit_test(update_without_a_change_is_no_write),
        cmocka_unit_test(status_is_written_by_its_subresource_alone),
        cmocka_unit_test(patch_merges),
        cmocka_unit_test(dry_run_changes_nothing),
        cmocka_unit_test(delete_removes_and_says_so),
        cmocka_unit_test(delete_keeps_preconditions),
        cmocka_unit_test(finalizers_delay_the_removal),
        cmocka_unit_test(delete_collection_takes_what_is_selected),
        cmocka_unit_test(methods_and_paths_that_do_not_match),
        cmocka_unit_test(custom_resources_are_registered),
        cmocka_unit_test(objects_need_their_namespace),
        cmocka_unit_test(deleting_a_namespace_empties_it),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_failed_write_can_be_tried_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
