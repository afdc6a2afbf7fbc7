/* SPDX-License-Identifier: Apache-2.0 */
/* What a server says of itself: groups, versions, resources, health, OpenAPI. */
#include <stdio.h>
#include <string.h>

#include "apiserver/discovery/api_discovery.h"
#include "support/api.h"

#define AGGREGATED "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

static size_t count(const char *text, const char *what)
{
    size_t found = 0;
    for (; (text = strstr(text, what)) != NULL; text++) {
        found++;
    }
    return found;
}

static void start(test_api *api)
{
    static const ki__api_model_options options = {.namespaces = true};
    test_api_init(api, NULL, &options, NULL);
}

static void versions_are_ordered_by_what_is_preferred(void **state)
{
    (void)state;
    static const char *const order[] = {"v10",     "v2",        "v1",        "v11beta2", "v10beta3",
                                        "v3beta1", "v12alpha1", "v11alpha2", "foo1",     "foo10"};
    for (size_t i = 0; i < 10; i++) {
        for (size_t j = 0; j < 10; j++) {
            assert_int_equal(ki__api_version_before(order[i], order[j]), i < j);
        }
    }
}

static void the_form_of_old_tells_groups_and_resources(void **state)
{
    (void)state;
    test_api api;
    start(&api);
    assert_int_equal(test_api_get(&api, "/api"), 200);
    assert_string_equal(test_api_at(&api, ".versions[0]"), "v1");
    assert_int_equal(test_api_get(&api, "/apis"), 200);
    assert_string_equal(test_api_at(&api, ".groups[?(@.name=='apps')].versions[0].groupVersion"),
                        "apps/v1");
    assert_string_equal(test_api_at(&api, ".groups[?(@.name=='autoscaling')].versions[1].version"),
                        "v1");
    assert_string_equal(
        test_api_at(&api, ".groups[?(@.name=='autoscaling')].preferredVersion.version"), "v2");
    assert_null(strstr(ki_buf_text(&api.body), "beta"));
    assert_int_equal(test_api_get(&api, "/apis/apps"), 200);
    assert_string_equal(test_api_at(&api, ".kind"), "APIGroup");
    assert_int_equal(test_api_get(&api, "/apis/apps/v1"), 200);
    assert_string_equal(test_api_at(&api, ".resources[?(@.name=='deployments')].kind"),
                        "Deployment");
    assert_string_equal(test_api_at(&api, ".resources[?(@.name=='deployments')].shortNames[0]"),
                        "deploy");
    assert_string_equal(test_api_at(&api, ".resources[?(@.name=='deployments')].categories[0]"),
                        "all");
    assert_string_equal(test_api_at(&api, ".resources[?(@.name=='deployments/scale')].kind"),
                        "Scale");
    assert_string_equal(test_api_at(&api, ".resources[?(@.name=='deployments/status')].verbs[0]"),
                        "get");
    assert_int_equal(test_api_get(&api, "/api/v1"), 200);
    assert_string_equal(test_api_at(&api, ".resources[?(@.name=='nodes')].namespaced"), "false");
    test_api_done(&api);
}

static void the_aggregated_form_has_all_at_once(void **state)
{
    (void)state;
    test_api api;
    start(&api);
    api.accept = AGGREGATED;
    assert_int_equal(test_api_get(&api, "/api"), 200);
    assert_string_equal(test_api_at(&api, ".kind"), "APIGroupDiscoveryList");
    assert_string_equal(test_api_at(&api, ".items[0].versions[0].version"), "v1");
    assert_string_equal(
        test_api_at(&api, ".items[0].versions[0].resources[?(@.resource=='pods')].scope"),
        "Namespaced");
    assert_int_equal(test_api_get(&api, "/apis"), 200);
    assert_string_equal(test_api_at(&api, ".items[?(@.metadata.name=='apps')].versions[0]"
                                          ".resources[?(@.resource=='deployments')]"
                                          ".subresources[0].responseKind.kind"),
                        "Scale");
    api.accept = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";
    test_api_get(&api, "/api");
    assert_string_equal(test_api_at(&api, ".kind"), "APIVersions");
    test_api_done(&api);
}

static void health_and_version_are_served(void **state)
{
    (void)state;
    static const char *const paths[] = {"/healthz", "/livez", "/readyz", "/livez/ping",
                                        "/readyz?verbose"};
    test_api api;
    start(&api);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(test_api_get(&api, paths[i]), 200);
        assert_string_equal(ki_buf_text(&api.body), "ok");
    }
    assert_int_equal(test_api_get(&api, "/version"), 200);
    assert_string_equal(test_api_at(&api, ".major"), "1");
    assert_int_equal(test_api_get(&api, "/"), 200);
    assert_true(count(ki_buf_text(&api.body), "/apis/apps/v1") == 1);
    test_api_done(&api);
}

static void other_paths_and_methods_are_refused(void **state)
{
    (void)state;
    static const char *const paths[] = {"/api/v2",
                                        "/apis/none",
                                        "/apis/none/v1",
                                        "/apis/apps/v9",
                                        "/apix",
                                        "/openapi/v2",
                                        "/openapi/v3/apis/none/v1",
                                        "/openapi/v3/api/v2",
                                        "/healthzz",
                                        "/apis/v1",
                                        "/api/apps/v1"};
    test_api api;
    start(&api);
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        test_api_get(&api, paths[i]);
        assert_status(&api, 404);
        assert_string_equal(test_api_at(&api, ".reason"), "NotFound");
    }
    assert_int_equal(test_api_call(&api, "POST", "/version", "{}"), 405);
    test_api_done(&api);
}

/* Every schema that is referred to is there. */
static void openapi_is_whole(void **state)
{
    (void)state;
    static const char *const paths[] = {"/openapi/v3/api/v1", "/openapi/v3/apis/apps/v1",
                                        "/openapi/v3/apis/apiextensions.k8s.io/v1"};
    static const char ref[] = "\"$ref\":\"#/components/schemas/";
    test_api api;
    start(&api);
    assert_int_equal(test_api_get(&api, "/openapi/v3"), 200);
    assert_string_equal(test_api_at(&api, ".paths['apis/apps/v1'].serverRelativeURL"),
                        "/openapi/v3/apis/apps/v1?hash=k");
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(test_api_get(&api, paths[i]), 200);
        (void)test_api_at(&api, ".openapi"); /* it is JSON */
        const char *text = ki_buf_text(&api.body);
        for (const char *p = text; (p = strstr(p, ref)) != NULL; p++) {
            char name[128];
            const char *from = p + sizeof(ref) - 1;
            snprintf(name, sizeof(name), "\"%.*s\":{\"type\"", (int)strcspn(from, "\""), from);
            if (strstr(text, name) == NULL) {
                fail_msg("%s: no %s", paths[i], name);
            }
        }
        assert_true(count(text, "\"fieldValidation\"") > 1);
    }
    test_api_get(&api, "/openapi/v3/apis/apps/v1");
    assert_string_equal(test_api_at(&api, ".components.schemas['kind.Deployment']"
                                          ".x-kubernetes-group-version-kind[0].group"),
                        "apps");
    assert_string_equal(
        test_api_at(&api, ".paths['/apis/apps/v1/namespaces/{namespace}/deployments/{name}'].patch"
                          ".x-kubernetes-group-version-kind.kind"),
        "Deployment");
    test_api_done(&api);
}

static int scenario(const ki_alloc *alloc, void *user)
{
    test_api api;
    test_api_init(&api, alloc, NULL, NULL);
    api.accept = user;
    test_api_get(&api, "/api");
    test_api_get(&api, "/apis");
    test_api_get(&api, "/apis/batch/v1");
    test_api_get(&api, "/openapi/v3");
    test_api_get(&api, "/openapi/v3/apis/coordination.k8s.io/v1");
    test_api_get(&api, "/healthz");
    int r = api.failed;
    test_api_done(&api);
    return r;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    static char aggregated[] = AGGREGATED;
    test_alloc_sweep(scenario, NULL);
    test_alloc_sweep(scenario, aggregated);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_are_ordered_by_what_is_preferred),
        cmocka_unit_test(the_form_of_old_tells_groups_and_resources),
        cmocka_unit_test(the_aggregated_form_has_all_at_once),
        cmocka_unit_test(health_and_version_are_served),
        cmocka_unit_test(other_paths_and_methods_are_refused),
        cmocka_unit_test(openapi_is_whole),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
