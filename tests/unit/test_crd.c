/* SPDX-License-Identifier: Apache-2.0 */
/* Custom resources through their definitions. */
#include <stdio.h>
#include <string.h>

#include "support/api.h"

#define CRDS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define WIDGETS "/apis/example.com/v1/namespaces/ns/widgets"
#define WIDGETS_BETA "/apis/example.com/v1beta1/namespaces/ns/widgets"

#define ANYTHING \
    "'schema':{'openAPIV3Schema':{'type':'object','x-kubernetes-preserve-unknown-fields':true}}"
#define V1 "{'name':'v1','served':true,'storage':true,'subresources':{'status':{}}," ANYTHING "}"
#define V1BETA1 "{'name':'v1beta1','served':true,'storage':false," ANYTHING "}"

static void define(test_api *api, const char *method, const char *target, const char *versions)
{
    char body[1024];
    (void)snprintf(body, sizeof(body),
                   "{'metadata':{'name':'widgets.example.com'},'spec':{'group':'example.com',"
                   "'scope':'Namespaced','names':{'plural':'widgets','kind':'Widget','shortNames':"
                   "['wd'],'categories':['all']},'versions':[%s]}}",
                   versions);
    test_api_call(api, method, target, body);
}

static void start(test_api *api)
{
    test_api_init(api, NULL, NULL, NULL);
    define(api, "POST", CRDS, V1 "," V1BETA1);
    assert_status(api, 201);
}

static void a_definition_is_established_and_served(void **state)
{
    (void)state;
    test_api api;
    start(&api);
    assert_string_equal(test_api_at(&api, ".status.conditions[?(@.type=='Established')].status"),
                        "True");
    assert_string_equal(test_api_at(&api, ".status.conditions[?(@.type=='NamesAccepted')].status"),
                        "True");
    assert_string_equal(test_api_at(&api, ".status.storedVersions[0]"), "v1");
    assert_string_equal(test_api_at(&api, ".status.acceptedNames.singular"), "widget");
    assert_string_equal(test_api_at(&api, ".status.acceptedNames.listKind"), "WidgetList");
    test_api_get(&api, "/apis/example.com/v1");
    assert_status(&api, 200);
    assert_string_equal(test_api_at(&api, ".resources[0].shortNames[0]"), "wd");
    assert_string_equal(test_api_at(&api, ".resources[0].categories[0]"), "all");
    assert_string_equal(test_api_at(&api, ".resources[1].name"), "widgets/status");
    test_api_get(&api, "/apis/example.com");
    assert_string_equal(test_api_at(&api, ".preferredVersion.version"), "v1");
    assert_string_equal(test_api_at(&api, ".versions[1].version"), "v1beta1");
    test_api_call(&api, "POST", WIDGETS, "{'metadata':{'name':'a'},'spec':{'x':1}}");
    assert_status(&api, 201);
    assert_string_equal(test_api_at(&api, ".metadata.generation"), "1");
    test_api_done(&api);
}

static void all_versions_show_the_same_objects(void **state)
{
    (void)state;
    test_api api;
    start(&api);
    test_api_call(&api, "POST", WIDGETS_BETA,
                  "{'kind':'Widget','apiVersion':'example.com/v1beta1','metadata':{'name':'a'}}");
    assert_status(&api, 201);
    assert_string_equal(test_api_at(&api, ".apiVersion"), "example.com/v1beta1");
    test_api_get(&api, WIDGETS "/a");
    assert_string_equal(test_api_at(&api, ".apiVersion"), "example.com/v1");
    assert_string_equal(test_api_at(&api, ".kind"), "Widget");
    test_api_get(&api, WIDGETS_BETA);
    assert_string_equal(test_api_at(&api, ".apiVersion"), "example.com/v1beta1");
    assert_string_equal(test_api_at(&api, ".items[0].apiVersion"), "example.com/v1beta1");
    test_api_call(&api, "PATCH", WIDGETS_BETA "/a", "{'spec':{'y':2}}");
    assert_status(&api, 200);
    assert_string_equal(test_api_at(&api, ".apiVersion"), "example.com/v1beta1");
    ki__api_exchange *x = test_api_open(&api, "GET", WIDGETS_BETA "?watch=1", "");
    ki_buf_clear(&api.body);
    test_api_pull(&api, x, 4096, &api.body);
    assert_non_null(strstr(ki_buf_text(&api.body), "\"apiVersion\":\"example.com/v1beta1\""));
    ki__api_exchange_free(x);
    test_api_call(&api, "POST", WIDGETS_BETA,
                  "{'apiVersion':'example.com/v2','metadata':{'name':"
                  "'b'}}");
    assert_status(&api, 400);
    test_api_done(&api);
}

static void the_status_is_apart_where_the_version_says_so(void **state)
{
    (void)state;
    test_api api;
    start(&api);
    test_api_call(&api, "POST", WIDGETS, "{'metadata':{'name':'a'},'status':{'x':1}}");
    assert_string_equal(test_api_at(&api, ".status"), "");
    test_api_call(&api, "PATCH", WIDGETS "/a/status", "{'status':{'x':2}}");
    assert_status(&api, 200);
    assert_string_equal(test_api_at(&api, ".status.x"), "2");
    test_api_call(&api, "PATCH", WIDGETS_BETA "/a/status", "{'status':{'x':3}}");
    assert_status(&api, 404);
    test_api_done(&api);
}

static void deleting_a_definition_ends_everything(void **state)
{
    (void)state;
    test_api api;
    start(&api);
    test_api_call(&api, "POST", WIDGETS, "{'metadata':{'name':'a','finalizers':['x/y']}}");
    test_api_call(&api, "POST", WIDGETS, "{'metadata':{'name':'b'}}");
    ki__api_exchange *x = test_api_open(&api, "GET", WIDGETS "?watch=1&resourceVersion=4", "");
    assert_string_equal(test_api_events(&api, x), "");
    test_api_call(&api, "DELETE", CRDS "/widgets.example.com", "");
    assert_status(&api, 200);
    ki_buf_clear(&api.body);
    assert_int_equal(test_api_pull(&api, x, 4096, &api.body), KI__API_END);
    assert_non_null(strstr(ki_buf_text(&api.body), "DELETED"));
    ki__api_exchange_free(x);
    assert_int_equal(test_api_get(&api, WIDGETS), 404);
    assert_int_equal(test_api_get(&api, WIDGETS_BETA), 404);
    assert_int_equal(test_api_get(&api, "/apis/example.com/v1"), 404);
    assert_int_equal(api.model->objects, 0);

    /* Once more: it begins empty. */
    define(&api, "POST", CRDS, V1);
    assert_status(&api, 201);
    assert_int_equal(test_api_get(&api, WIDGETS), 200);
    assert_string_equal(test_api_items(&api), "");
    assert_int_equal(test_api_get(&api, WIDGETS_BETA), 404);
    test_api_done(&api);
}

/* Types that were removed and left nothing behind free their place for others. */
static void definitions_may_come_and_go(void **state)
{
    (void)state;
    test_api api;
    test_api_init(&api, NULL, NULL, NULL);
    for (int i = 0; i < 1200; i++) {
        define(&api, "POST", CRDS, V1 "," V1BETA1);
        assert_status(&api, 201);
        test_api_call(&api, "DELETE", CRDS "/widgets.example.com", "");
        assert_status(&api, 200);
    }
    assert_true(api.model->type_count < 10);
    test_api_done(&api);
}

static void a_definition_can_change(void **state)
{
    (void)state;
    test_api api;
    start(&api);
    test_api_call(&api, "POST", WIDGETS, "{'metadata':{'name':'a'}}");
    define(&api, "PUT", CRDS "/widgets.example.com",
           "{'name':'v1','served':false,'storage':false," ANYTHING "},"
           "{'name':'v2','served':true,'storage':true," ANYTHING "}");
    assert_status(&api, 200);
    assert_int_equal(test_api_get(&api, WIDGETS), 404);
    assert_int_equal(test_api_get(&api, WIDGETS_BETA), 404);
    assert_int_equal(test_api_get(&api, "/apis/example.com/v2/namespaces/ns/widgets/a"), 200);
    assert_string_equal(test_api_at(&api, ".apiVersion"), "example.com/v2");
    test_api_call(&api, "PATCH", CRDS "/widgets.example.com", "{'spec':{'names':{'kind':'W'}}}");
    assert_status(&api, 422);
    test_api_call(&api, "PATCH", CRDS "/widgets.example.com", "{'spec':{'scope':'Cluster'}}");
    assert_status(&api, 422);
    test_api_get(&api, "/apis/example.com");
    assert_string_equal(test_api_at(&api, ".versions[0].version"), "v2");
    assert_string_equal(test_api_at(&api, ".versions[1].version"), "");
    test_api_done(&api);
}

static void what_defines_nothing_is_refused(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "{'metadata':{'name':'a.b'}}",
        "{'metadata':{'name':'a.b.c'},'spec':{'group':'b.c','scope':'Namespaced','names':{'plural':"
        "'x','kind':'X'},'versions':[" V1 "]}}",
        "{'metadata':{'name':'x.b.c'},'spec':{'group':'b.c','scope':'Galaxy','names':{'plural':'x',"
        "'kind':'X'},'versions':[" V1 "]}}",
        "{'metadata':{'name':'x.b.c'},'spec':{'group':'b.c','scope':'Cluster','names':{'plural':'x'"
        "},'versions':[" V1 "]}}",
        "{'metadata':{'name':'x.b.c'},'spec':{'group':'b.c','scope':'Cluster','names':{'plural':'x'"
        ",'kind':'X'},'versions':[]}}",
        "{'metadata':{'name':'x.b.c'},'spec':{'group':'b.c','scope':'Cluster','names':{'plural':'x'"
        ",'kind':'X'},'versions':[" V1BETA1 "]}}",
        "{'metadata':{'name':'x.b.c'},'spec':{'group':'b.c','scope':'Cluster','names':{'plural':'x'"
        ",'kind':'X'},'versions':[" V1 "," V1 "]}}",
        "{'metadata':{'name':'x.b.c'},'spec':{'group':'b.c','scope':'Cluster','names':{'plural':'x'"
        ",'kind':'No Kind'},'versions':[" V1 "]}}",
        "{'metadata':{'name':'x.apps'},'spec':{'group':'apps','scope':'Cluster','names':{'plural':"
        "'x','kind':'X'},'versions':[" V1 "]}}",
    };
    test_api api;
    test_api_init(&api, NULL, NULL, NULL);
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        test_api_call(&api, "POST", CRDS, bodies[i]);
        if (api.status != 422) {
            fail_msg("case %zu: %d", i, api.status);
        }
    }
    assert_int_equal(api.model->objects, 0);
    define(&api, "POST", CRDS "?dryRun=All", V1);
    assert_status(&api, 201);
    assert_int_equal(test_api_get(&api, WIDGETS), 404);
    test_api_done(&api);
}

static int scenario(const ki_alloc *alloc, void *user)
{
    (void)user;
    test_api api;
    test_api_init(&api, alloc, NULL, NULL);
    define(&api, "POST", CRDS, V1 "," V1BETA1);
    test_api_call(&api, "POST", WIDGETS_BETA, "{'metadata':{'name':'a'}}");
    test_api_get(&api, WIDGETS);
    test_api_get(&api, "/apis/example.com/v1");
    test_api_get(&api, "/openapi/v3/apis/example.com/v1");
    define(&api, "PUT", CRDS "/widgets.example.com", V1);
    test_api_call(&api, "DELETE", CRDS "/widgets.example.com", "");
    define(&api, "POST", CRDS, V1);
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
        cmocka_unit_test(a_definition_is_established_and_served),
        cmocka_unit_test(all_versions_show_the_same_objects),
        cmocka_unit_test(the_status_is_apart_where_the_version_says_so),
        cmocka_unit_test(deleting_a_definition_ends_everything),
        cmocka_unit_test(definitions_may_come_and_go),
        cmocka_unit_test(a_definition_can_change),
        cmocka_unit_test(what_defines_nothing_is_refused),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
