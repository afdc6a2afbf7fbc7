/* SPDX-License-Identifier: Apache-2.0 */
/* Finding the resource that a name means. What is expected was compared with what the mapper of
 * client-go answers for the same server, but for the rows that say where we differ.  threads: yes
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include <kinformer/discovery.h>
#include <kinformer/resource_table.h>

#include "support/discovering.h"
#include "support/test.h"

typedef struct lookup {
    const char *name;
    const char *resource; /* "name.version.group"; NULL: none */
} lookup;

static const lookup lookups[] = {
    /* plural, singular, short, kind */
    {"pods", "pods.v1."},
    {"pod", "pods.v1."},
    {"po", "pods.v1."},
    {"Pod", "pods.v1."},
    {"PODS", "pods.v1."},
    {"deployments", "deployments.v1.apps"},
    {"deployment", "deployments.v1.apps"},
    {"deploy", "deployments.v1.apps"},
    {"Deployment", "deployments.v1.apps"},
    {"no", "nodes.v1."},
    {"ns", "namespaces.v1."},
    {"ep", "endpoints.v1."},
    {"endpoints", "endpoints.v1."},
    {"cs", "componentstatuses.v1."},
    {"crd", "customresourcedefinitions.v1.apiextensions.k8s.io"},
    {"crds", "customresourcedefinitions.v1.apiextensions.k8s.io"},
    {"CustomResourceDefinition", "customresourcedefinitions.v1.apiextensions.k8s.io"},
    {"netpol", "networkpolicies.v1.networking.k8s.io"},
    {"ingress", "ingresses.v1.networking.k8s.io"},
    {"bindings", "bindings.v1."},
    /* a group */
    {"deployments.apps", "deployments.v1.apps"},
    {"deploy.apps", "deployments.v1.apps"},
    {"Deployment.apps", "deployments.v1.apps"},
    {"events.events.k8s.io", "events.v1.events.k8s.io"},
    {"ev.events.k8s.io", "events.v1.events.k8s.io"},
    {"pods.metrics.k8s.io", "pods.v1beta1.metrics.k8s.io"},
    {"widgets.other.example.com", "widgets.v2.other.example.com"},
    {"widgets.example.com", "widgets.v1.example.com"},
    {"pods.", "pods.v1."},
    /* the beginning of a group, if none has that very name */
    {"storageclass.storage", "storageclasses.v1.storage.k8s.io"},
    {"netpol.networking", "networkpolicies.v1.networking.k8s.io"},
    {"widgets.example", "widgets.v1.example.com"},
    {"widgets.oth", "widgets.v2.other.example.com"},
    /* a version and a group */
    {"deployments.v1.apps", "deployments.v1.apps"},
    {"deployment.v1.apps", "deployments.v1.apps"},
    {"Deployment.v1.apps", "deployments.v1.apps"},
    {"hpa.v2.autoscaling", "horizontalpodautoscalers.v2.autoscaling"},
    {"horizontalpodautoscalers.v1.autoscaling", "horizontalpodautoscalers.v1.autoscaling"},
    {"widgets.v1beta1.example.com", "widgets.v1beta1.example.com"},
    {"pods.v1.", "pods.v1."},
    {"deployments.v1.", "deployments.v1.apps"},
    {"pods.v1beta1.metrics.k8s.io", "pods.v1beta1.metrics.k8s.io"},
    /* preferred versions, and what only another version has */
    {"hpa", "horizontalpodautoscalers.v2.autoscaling"},
    {"hpa.autoscaling", "horizontalpodautoscalers.v2.autoscaling"},
    {"gadgets", "gadgets.v1beta1.example.com"},
    {"gadget.example.com", "gadgets.v1beta1.example.com"},
    /* several groups: core, then the server's order */
    {"events", "events.v1."},
    {"ev", "events.v1."},
    {"Event", "events.v1."},
    {"nodes", "nodes.v1."},
    {"widgets", "widgets.v1.example.com"},
    {"wd", "widgets.v1.example.com"},
    /* a name goes before a short name; a short name goes before a kind */
    {"sc", "sc.v1.stable.example.com"},
    {"sc.storage.k8s.io", "storageclasses.v1.storage.k8s.io"},
    {"po.stable.example.com", "podracers.v1.stable.example.com"},
    {"NodeMetrics", "nodes.v1beta1.metrics.k8s.io"},
    {"mouse", "mice.v2.other.example.com"},
    {"mice", "mice.v2.other.example.com"},
    {"ComputerMouse.other.example.com", "mice.v2.other.example.com"},
    {"ComputerMouse.v2.other.example.com", "mice.v2.other.example.com"},
    /* where we differ: kinds need no group, case does not matter, short names keep the version;
     * and of "po" above, which two groups have, client-go takes any */
    {"ScreenCast", "sc.v1.stable.example.com"},
    {"ComputerMouse", "mice.v2.other.example.com"},
    {"PO", "pods.v1."},
    {"Deployments.V1.Apps", "deployments.v1.apps"},
    {"hpa.v1.autoscaling", "horizontalpodautoscalers.v1.autoscaling"},
    /* nothing */
    {"", NULL},
    {".", NULL},
    {"..", NULL},
    {".apps", NULL},
    {"deploi", NULL},
    {"deployments.batch", NULL},
    {"deployments.v2.apps", NULL},
    {"deployments.v1.app", NULL},
    {"pods.v1", NULL},
    {"pods/status", NULL},
    {"status", NULL},
    {"pods.v1.core", NULL},
    {"widgets.v1..example.com", NULL},
};

static const ki_discovery *aggregated(void)
{
    ki_discovery *discovery = NULL;
    assert_int_equal(test_discovery_aggregated(NULL, &discovery), 0);
    return discovery;
}

static const ki_discovery *legacy(void)
{
    ki_discovery *discovery = NULL;
    assert_int_equal(test_discovery_legacy(NULL, &discovery), 0);
    return discovery;
}

static void spell(const ki_resource *resource, ki_buf *out)
{
    ki_buf_clear(out);
    test_add(out, ki_resource_name(resource), 1);
    test_add(out, ".", 1);
    test_add(out, ki_resource_version(resource), 1);
    test_add(out, ".", 1);
    test_add(out, ki_resource_group(resource), 1);
}

static void check_lookups(const ki_discovery *discovery)
{
    ki_buf spelt;
    ki_buf_init(&spelt, NULL, 4096);
    for (size_t i = 0; i < sizeof(lookups) / sizeof(lookups[0]); i++) {
        const ki_resource *resource = NULL;
        ki_error error = KI_ERROR_INIT;
        int r = ki_discovery_find(discovery, lookups[i].name, &resource, &error);
        if (lookups[i].resource == NULL) {
            if (r != KI_ERR_NOT_FOUND || error.code != r || error.message[0] == '\0') {
                fail_msg("\"%s\" was found, or not in the right way", lookups[i].name);
            }
            assert_null(resource);
            continue;
        }
        if (r < 0) {
            fail_msg("\"%s\": %s", lookups[i].name, error.message);
        }
        spell(resource, &spelt);
        if (strcmp(ki_buf_text(&spelt), lookups[i].resource) != 0) {
            fail_msg("\"%s\" is %s", lookups[i].name, ki_buf_text(&spelt));
        }
    }
    ki_buf_done(&spelt);
}

static void a_name_means_what_kubectl_takes_it_for(void **state)
{
    (void)state;
    const ki_discovery *discovery = aggregated();
    check_lookups(discovery);
    ki_discovery_unref(discovery);
}

static void legacy_discovery_gives_the_same(void **state)
{
    (void)state;
    const ki_discovery *one = aggregated();
    const ki_discovery *other = legacy();
    check_lookups(other);
    assert_int_equal(ki_discovery_count(one), ki_discovery_count(other));
    for (size_t i = 0; i < ki_discovery_count(one); i++) {
        uint32_t verbs[2] = {0};
        const ki_resource *a = ki_discovery_at(one, i, &verbs[0]);
        const ki_resource *b = ki_discovery_at(other, i, &verbs[1]);
        assert_string_equal(ki_resource_api_version(a), ki_resource_api_version(b));
        assert_string_equal(ki_resource_name(a), ki_resource_name(b));
        assert_string_equal(ki_resource_singular(a), ki_resource_singular(b));
        assert_int_equal(ki_resource_is_namespaced(a), ki_resource_is_namespaced(b));
        assert_int_equal(verbs[0], verbs[1]);
    }
    assert_string_equal(ki_discovery_failure_at(other, 0), "custom.metrics.k8s.io/v1beta1");
    assert_null(ki_discovery_failure_at(other, 1));
    assert_int_equal(ki_discovery_skipped_count(other), 0);
    ki_discovery_unref(one);
    ki_discovery_unref(other);
}

static void resources_stand_in_the_order_of_the_server_core_first(void **state)
{
    (void)state;
    const ki_discovery *discovery = aggregated();
    ki_buf order;
    ki_buf_init(&order, NULL, 1 << 16);
    const char *last = "";
    for (size_t i = 0; i < ki_discovery_count(discovery); i++) {
        const char *api_version = ki_resource_api_version(ki_discovery_at(discovery, i, NULL));
        if (strcmp(api_version, last) != 0) {
            test_add(&order, api_version, 1);
            test_add(&order, " ", 1);
        }
        last = api_version;
    }
    assert_string_equal(
        ki_buf_text(&order),
        "v1 apiregistration.k8s.io/v1 apps/v1 events.k8s.io/v1 authentication.k8s.io/v1 "
        "autoscaling/v2 autoscaling/v1 batch/v1 networking.k8s.io/v1 storage.k8s.io/v1 "
        "apiextensions.k8s.io/v1 stable.example.com/v1 example.com/v1 example.com/v1beta1 "
        "other.example.com/v2 metrics.k8s.io/v1beta1 ");
    assert_string_equal(ki_resource_name(ki_discovery_at(discovery, 0, NULL)), "bindings");
    assert_null(ki_discovery_at(discovery, ki_discovery_count(discovery), NULL));
    assert_null(ki_discovery_at(discovery, SIZE_MAX, NULL));
    ki_buf_done(&order);
    ki_discovery_unref(discovery);
}

static const ki_resource *found(const ki_discovery *discovery, const char *name)
{
    const ki_resource *resource = NULL;
    assert_int_equal(ki_discovery_find(discovery, name, &resource, NULL), 0);
    return resource;
}

static void built_in_resources_are_the_constants(void **state)
{
    (void)state;
    const ki_discovery *discovery = aggregated();
    assert_ptr_equal(found(discovery, "po"), KI_CORE_V1_PODS);
    assert_ptr_equal(found(discovery, "deploy"), KI_APPS_V1_DEPLOYMENTS);
    assert_true(ki_resource_has_protobuf(found(discovery, "hpa")));
    assert_null(ki_resource_builtin("example.com", "v1", "widgets"));
    const ki_resource *widget = found(discovery, "widget");
    assert_false(ki_resource_has_protobuf(widget));
    assert_string_equal(ki_resource_short_name_at(widget, 1), "wdg");
    assert_string_equal(ki_resource_kind(widget), "Widget");
    assert_true(ki_resource_is_namespaced(widget));
    assert_false(ki_resource_is_namespaced(found(discovery, "gadgets")));
    ki_discovery_unref(discovery);
}

static void verbs_are_bits(void **state)
{
    (void)state;
    const ki_discovery *discovery = aggregated();
    assert_int_equal(ki_discovery_verbs(discovery, found(discovery, "pods")), 0xff);
    assert_int_equal(ki_discovery_verbs(discovery, found(discovery, "bindings")), KI_CAN_CREATE);
    assert_int_equal(ki_discovery_verbs(discovery, found(discovery, "NodeMetrics")),
                     KI_CAN_GET | KI_CAN_LIST);
    assert_int_equal(ki_discovery_verbs(discovery, found(discovery, "namespaces")),
                     0xff & ~KI_CAN_DELETE_COLLECTION);
    assert_int_equal(ki_discovery_verbs(discovery, NULL), 0);
    ki_discovery_unref(discovery);
}

static void a_kind_is_found_by_its_api_version_and_spelling(void **state)
{
    (void)state;
    const ki_discovery *discovery = aggregated();
    const ki_resource *resource = NULL;
    ki_error error = KI_ERROR_INIT;
    assert_int_equal(ki_discovery_find_kind(discovery, "v1", "Pod", &resource, &error), 0);
    assert_ptr_equal(resource, KI_CORE_V1_PODS);
    assert_int_equal(
        ki_discovery_find_kind(discovery, "other.example.com/v2", "ComputerMouse", &resource, NULL),
        0);
    assert_string_equal(ki_resource_name(resource), "mice");
    assert_int_equal(ki_discovery_find_kind(discovery, "autoscaling/v1", "HorizontalPodAutoscaler",
                                            &resource, NULL),
                     0);
    assert_string_equal(ki_resource_version(resource), "v1");
    static const char *const wrong[][2] = {
        {"v1", "pod"}, {"v1", "pods"}, {"apps/v1", "Pod"}, {"v2", "Pod"}, {"", "Pod"}, {"v1", ""},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        error = KI_ERROR_INIT;
        assert_int_equal(
            ki_discovery_find_kind(discovery, wrong[i][0], wrong[i][1], &resource, &error),
            KI_ERR_NOT_FOUND);
        assert_int_equal(error.code, KI_ERR_NOT_FOUND);
    }
    assert_int_equal(ki_discovery_find_kind(discovery, "apps/v1", "Pod", &resource, &error),
                     KI_ERR_NOT_FOUND);
    assert_string_equal(error.message, "the server has no kind Pod in apps/v1");
    ki_discovery_unref(discovery);
}

/* ---- what is not found ---- */

#define NOT_READ " Discovery failed for: custom.metrics.k8s.io/v1beta1"
static const struct {
    const char *name;
    const char *message;
} hints[] = {
    {"deploi", "the server has no resource \"deploi\"; did you mean deployments?" NOT_READ},
    {"deployement",
     "the server has no resource \"deployement\"; did you mean deployments?" NOT_READ},
    {"Podz", "the server has no resource \"Podz\"; did you mean pods?" NOT_READ},
    {"opd", "the server has no resource \"opd\"; did you mean pods?" NOT_READ},
    {"config", "the server has no resource \"config\"; did you mean configmaps?" NOT_READ},
    {"widgetss.example.com",
     "the server has no resource \"widgetss.example.com\"; did you mean widgets?" NOT_READ},
    {"deployments.batch",
     "the server has no resource \"deployments.batch\"; did you mean deployments.apps?" NOT_READ},
    {"widgets.nowhere.org",
     "the server has no resource \"widgets.nowhere.org\"; did you mean widgets.example.com or "
     "widgets.other.example.com?" NOT_READ},
    {"pods.v1", "the server has no resource \"pods.v1\"; did you mean pods or "
                "pods.metrics.k8s.io?" NOT_READ},
    {"completely-different", "the server has no resource \"completely-different\"; "
                             "discovery failed for: custom.metrics.k8s.io/v1beta1"},
    {"x\n\"\x01", "the server has no resource \"x \"?\"; discovery failed for: "
                  "custom.metrics.k8s.io/v1beta1"},
    {"", "resource name: empty"},
};

static void unknown_names_are_reported_with_similar_ones(void **state)
{
    (void)state;
    const ki_discovery *discovery = aggregated();
    for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++) {
        const ki_resource *resource = NULL;
        ki_error error = KI_ERROR_INIT;
        assert_int_equal(ki_discovery_find(discovery, hints[i].name, &resource, &error),
                         KI_ERR_NOT_FOUND);
        assert_string_equal(error.message, hints[i].message);
        assert_int_equal(ki_discovery_find(discovery, hints[i].name, &resource, NULL),
                         KI_ERR_NOT_FOUND);
    }
    ki_discovery_unref(discovery);
}

static void names_of_any_length_are_valid(void **state)
{
    (void)state;
    const ki_discovery *discovery = aggregated();
    char name[1024];
    for (size_t len = 0; len < sizeof(name); len++) {
        const ki_resource *resource = NULL;
        memset(name, len % 2 != 0 ? 'a' : '.', sizeof(name));
        name[len] = '\0';
        assert_int_equal(ki_discovery_find(discovery, name, &resource, &KI_ERROR_INIT),
                         KI_ERR_NOT_FOUND);
        assert_int_equal(ki_discovery_find_kind(discovery, name, name, &resource, NULL),
                         KI_ERR_NOT_FOUND);
    }
    const ki_resource *resource = NULL;
    assert_int_equal(ki_discovery_find(discovery, NULL, &resource, NULL), -EINVAL);
    ki_discovery_unref(discovery);
}

/* ---- threads ---- */

static void *look_up(void *user)
{
    const ki_discovery *discovery = user;
    for (int i = 0; i < 500; i++) {
        (void)ki_discovery_ref(discovery);
        const ki_resource *resource = NULL;
        assert_int_equal(ki_discovery_find(discovery, "widgets", &resource, NULL), 0);
        resource = ki_resource_ref(resource);
        ki_discovery_unref(discovery);
        assert_string_equal(ki_resource_kind(resource), "Widget");
        ki_resource_unref(resource);
    }
    ki_discovery_unref(discovery);
    return NULL;
}

static void threads_share_it_and_resources_outlive_it(void **state)
{
    (void)state;
    const ki_discovery *discovery = aggregated();
    pthread_t threads[4];
    for (size_t i = 0; i < 4; i++) {
        void *own = (void *)(uintptr_t)ki_discovery_ref(discovery);
        assert_int_equal(pthread_create(&threads[i], NULL, look_up, own), 0);
    }
    const ki_resource *kept = ki_resource_ref(found(discovery, "crontabs"));
    ki_discovery_unref(discovery);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    assert_string_equal(ki_resource_kind(kept), "CronTab");
    ki_resource_unref(kept);
    assert_null(ki_discovery_ref(NULL));
    assert_null(ki_discovery_unref(NULL));
}

static int use_aggregated(const ki_alloc *alloc, void *user)
{
    (void)user;
    ki_discovery *discovery = NULL;
    int r = test_discovery_aggregated(alloc, &discovery);
    if (r == 0) {
        check_lookups(discovery);
    }
    ki_discovery_unref(discovery);
    return r;
}

static int use_legacy(const ki_alloc *alloc, void *user)
{
    (void)user;
    ki_discovery *discovery = NULL;
    int r = test_discovery_legacy(alloc, &discovery);
    ki_discovery_unref(discovery);
    return r;
}

static void no_memory_at_any_place_is_an_error(void **state)
{
    (void)state;
    test_alloc_sweep(use_aggregated, NULL);
    test_alloc_sweep(use_legacy, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_means_what_kubectl_takes_it_for),
        cmocka_unit_test(legacy_discovery_gives_the_same),
        cmocka_unit_test(resources_stand_in_the_order_of_the_server_core_first),
        cmocka_unit_test(built_in_resources_are_the_constants),
        cmocka_unit_test(verbs_are_bits),
        cmocka_unit_test(a_kind_is_found_by_its_api_version_and_spelling),
        cmocka_unit_test(unknown_names_are_reported_with_similar_ones),
        cmocka_unit_test(names_of_any_length_are_valid),
        cmocka_unit_test(threads_share_it_and_resources_outlive_it),
        cmocka_unit_test(no_memory_at_any_place_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
