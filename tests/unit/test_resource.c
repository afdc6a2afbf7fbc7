/* SPDX-License-Identifier: Apache-2.0 */
/* threads: yes */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include <kinformer/resource.h>
#include <kinformer/resource_table.h>

#include "support/test.h"

/* Written by hand from the API reference, beside the generated table: a few of each sort. */
static const struct {
    ki_builtin number;
    const char *group, *version, *name, *singular, *kind, *api_version;
    bool namespaced;
    const char *short_names[2];
} facts[] = {
    {KI_BUILTIN_CORE_V1_PODS, "", "v1", "pods", "pod", "Pod", "v1", true, {"po"}},
    {KI_BUILTIN_CORE_V1_NODES, "", "v1", "nodes", "node", "Node", "v1", false, {"no"}},
    {KI_BUILTIN_CORE_V1_SERVICES, "", "v1", "services", "service", "Service", "v1", true, {"svc"}},
    {KI_BUILTIN_CORE_V1_ENDPOINTS,
     "",
     "v1",
     "endpoints",
     "endpoints",
     "Endpoints",
     "v1",
     true,
     {"ep"}},
    {KI_BUILTIN_CORE_V1_SECRETS, "", "v1", "secrets", "secret", "Secret", "v1", true, {NULL}},
    {KI_BUILTIN_CORE_V1_COMPONENTSTATUSES,
     "",
     "v1",
     "componentstatuses",
     "componentstatus",
     "ComponentStatus",
     "v1",
     false,
     {"cs"}},
    {KI_BUILTIN_CORE_V1_EVENTS, "", "v1", "events", "event", "Event", "v1", true, {"ev"}},
    {KI_BUILTIN_EVENTS_V1_EVENTS,
     "events.k8s.io",
     "v1",
     "events",
     "event",
     "Event",
     "events.k8s.io/v1",
     true,
     {"ev"}},
    {KI_BUILTIN_APPS_V1_DEPLOYMENTS,
     "apps",
     "v1",
     "deployments",
     "deployment",
     "Deployment",
     "apps/v1",
     true,
     {"deploy"}},
    {KI_BUILTIN_EXTENSIONS_V1BETA1_INGRESSES,
     "extensions",
     "v1beta1",
     "ingresses",
     "ingress",
     "Ingress",
     "extensions/v1beta1",
     true,
     {"ing"}},
    {KI_BUILTIN_APIEXTENSIONS_V1_CUSTOMRESOURCEDEFINITIONS,
     "apiextensions.k8s.io",
     "v1",
     "customresourcedefinitions",
     "customresourcedefinition",
     "CustomResourceDefinition",
     "apiextensions.k8s.io/v1",
     false,
     {"crd", "crds"}},
    {KI_BUILTIN_APIREGISTRATION_V1_APISERVICES,
     "apiregistration.k8s.io",
     "v1",
     "apiservices",
     "apiservice",
     "APIService",
     "apiregistration.k8s.io/v1",
     false,
     {NULL}},
    {KI_BUILTIN_RBAC_V1_CLUSTERROLES,
     "rbac.authorization.k8s.io",
     "v1",
     "clusterroles",
     "clusterrole",
     "ClusterRole",
     "rbac.authorization.k8s.io/v1",
     false,
     {NULL}},
    {KI_BUILTIN_AUTHORIZATION_V1_LOCALSUBJECTACCESSREVIEWS,
     "authorization.k8s.io",
     "v1",
     "localsubjectaccessreviews",
     "localsubjectaccessreview",
     "LocalSubjectAccessReview",
     "authorization.k8s.io/v1",
     true,
     {NULL}},
    {KI_BUILTIN_AUTHENTICATION_V1_TOKENREVIEWS,
     "authentication.k8s.io",
     "v1",
     "tokenreviews",
     "tokenreview",
     "TokenReview",
     "authentication.k8s.io/v1",
     false,
     {NULL}},
    {KI_BUILTIN_INTERNAL_V1ALPHA1_STORAGEVERSIONS,
     "internal.apiserver.k8s.io",
     "v1alpha1",
     "storageversions",
     "storageversion",
     "StorageVersion",
     "internal.apiserver.k8s.io/v1alpha1",
     false,
     {NULL}},
    {KI_BUILTIN_NETWORKING_V1_NETWORKPOLICIES,
     "networking.k8s.io",
     "v1",
     "networkpolicies",
     "networkpolicy",
     "NetworkPolicy",
     "networking.k8s.io/v1",
     true,
     {"netpol"}},
    {KI_BUILTIN_STORAGE_V1_CSISTORAGECAPACITIES,
     "storage.k8s.io",
     "v1",
     "csistoragecapacities",
     "csistoragecapacity",
     "CSIStorageCapacity",
     "storage.k8s.io/v1",
     true,
     {NULL}},
    {KI_BUILTIN_RESOURCE_V1_RESOURCESLICES,
     "resource.k8s.io",
     "v1",
     "resourceslices",
     "resourceslice",
     "ResourceSlice",
     "resource.k8s.io/v1",
     false,
     {NULL}},
    {KI_BUILTIN_FLOWCONTROL_V1_FLOWSCHEMAS,
     "flowcontrol.apiserver.k8s.io",
     "v1",
     "flowschemas",
     "flowschema",
     "FlowSchema",
     "flowcontrol.apiserver.k8s.io/v1",
     false,
     {NULL}},
    {KI_BUILTIN_SCHEDULING_V1ALPHA2_WORKLOADS,
     "scheduling.k8s.io",
     "v1alpha2",
     "workloads",
     "workload",
     "Workload",
     "scheduling.k8s.io/v1alpha2",
     true,
     {NULL}},
    {KI_BUILTIN_COORDINATION_V1_LEASES,
     "coordination.k8s.io",
     "v1",
     "leases",
     "lease",
     "Lease",
     "coordination.k8s.io/v1",
     true,
     {NULL}},
    {KI_BUILTIN_DISCOVERY_V1_ENDPOINTSLICES,
     "discovery.k8s.io",
     "v1",
     "endpointslices",
     "endpointslice",
     "EndpointSlice",
     "discovery.k8s.io/v1",
     true,
     {NULL}},
};
enum { FACTS = sizeof(facts) / sizeof(facts[0]) };

/* resource, short name: everything kubectl users type */
static const char *const well_known[][2] = {
    {"pods", "po"},
    {"services", "svc"},
    {"deployments", "deploy"},
    {"daemonsets", "ds"},
    {"replicasets", "rs"},
    {"statefulsets", "sts"},
    {"configmaps", "cm"},
    {"namespaces", "ns"},
    {"nodes", "no"},
    {"endpoints", "ep"},
    {"events", "ev"},
    {"horizontalpodautoscalers", "hpa"},
    {"cronjobs", "cj"},
    {"certificatesigningrequests", "csr"},
    {"ingresses", "ing"},
    {"networkpolicies", "netpol"},
    {"poddisruptionbudgets", "pdb"},
    {"priorityclasses", "pc"},
    {"storageclasses", "sc"},
    {"customresourcedefinitions", "crd"},
    {"persistentvolumes", "pv"},
    {"persistentvolumeclaims", "pvc"},
    {"resourcequotas", "quota"},
    {"limitranges", "limits"},
    {"serviceaccounts", "sa"},
    {"replicationcontrollers", "rc"},
    {"componentstatuses", "cs"},
    {"ipaddresses", "ip"},
    {"volumeattributesclasses", "vac"},
};

static void built_ins_say_what_the_api_reference_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < FACTS; i++) {
        const ki_resource *resource = ki_resource_builtin_at(facts[i].number);
        assert_non_null(resource);
        assert_string_equal(ki_resource_group(resource), facts[i].group);
        assert_string_equal(ki_resource_version(resource), facts[i].version);
        assert_string_equal(ki_resource_name(resource), facts[i].name);
        assert_string_equal(ki_resource_singular(resource), facts[i].singular);
        assert_string_equal(ki_resource_kind(resource), facts[i].kind);
        assert_string_equal(ki_resource_api_version(resource), facts[i].api_version);
        assert_int_equal(ki_resource_is_namespaced(resource), facts[i].namespaced);
        for (size_t n = 0; n < 3; n++) {
            const char *expected = n < 2 ? facts[i].short_names[n] : NULL;
            const char *found = ki_resource_short_name_at(resource, n);
            assert_int_equal(found != NULL, expected != NULL);
            if (expected != NULL) {
                assert_string_equal(found, expected);
            }
        }
    }
}

static void each_short_name_that_people_type_is_there(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(well_known) / sizeof(well_known[0]); i++) {
        size_t seen = 0;
        for (size_t n = 0; n < KI_BUILTIN_MAX; n++) {
            const ki_resource *resource = ki_resource_builtin_at(n);
            if (strcmp(ki_resource_name(resource), well_known[i][0]) != 0) {
                continue;
            }
            seen++;
            const char *short_name = ki_resource_short_name_at(resource, 0);
            assert_non_null(short_name);
            assert_string_equal(short_name, well_known[i][1]);
        }
        assert_true(seen > 0);
    }
}

static void macros_are_the_table(void **state)
{
    (void)state;
    assert_ptr_equal(KI_CORE_V1_PODS, ki_resource_builtin("", "v1", "pods"));
    assert_ptr_equal(KI_APPS_V1_DEPLOYMENTS, ki_resource_builtin("apps", "v1", "deployments"));
    assert_ptr_equal(KI_NETWORKING_V1_INGRESSES,
                     ki_resource_builtin("networking.k8s.io", "v1", "ingresses"));
    assert_ptr_equal(KI_BATCH_V1_JOBS, ki_resource_builtin_of_kind("batch/v1", "Job"));
}

static void every_built_in_is_found_by_both_lookups(void **state)
{
    (void)state;
    size_t count = 0;
    for (const ki_resource *resource; (resource = ki_resource_builtin_at(count)) != NULL; count++) {
        assert_ptr_equal(ki_resource_builtin(ki_resource_group(resource),
                                             ki_resource_version(resource),
                                             ki_resource_name(resource)),
                         resource);
        assert_ptr_equal(ki_resource_builtin_of_kind(ki_resource_api_version(resource),
                                                     ki_resource_kind(resource)),
                         resource);
    }
    assert_int_equal(count, KI_BUILTIN_MAX);
    assert_null(ki_resource_builtin_at(SIZE_MAX));
}

static void lookups_of_unknown_names_find_nothing(void **state)
{
    (void)state;
    assert_null(ki_resource_builtin("", "v1", "pod"));
    assert_null(ki_resource_builtin("", "v1", "podss"));
    assert_null(ki_resource_builtin("", "v1", ""));
    assert_null(ki_resource_builtin("", "v2", "pods"));
    assert_null(ki_resource_builtin("core", "v1", "pods"));
    assert_null(ki_resource_builtin("apps", "v1", "pods"));
    assert_null(ki_resource_builtin("zzz", "v1", "pods"));
    assert_null(ki_resource_builtin("", NULL, "pods"));
    assert_null(ki_resource_builtin("", "v1", NULL));
    assert_non_null(ki_resource_builtin(NULL, "v1", "pods"));
    assert_null(ki_resource_builtin_of_kind("v1", "pod"));
    assert_null(ki_resource_builtin_of_kind("v1", ""));
    assert_null(ki_resource_builtin_of_kind("", "Pod"));
    assert_null(ki_resource_builtin_of_kind("policy/v1", "Eviction"));
    assert_null(ki_resource_builtin_of_kind(NULL, "Pod"));
    assert_null(ki_resource_builtin_of_kind("v1", NULL));
}

/* The numbers are part of the ABI: a program compiled today must mean the same tomorrow. If this
 * fails the table was reordered; new resources go to the end and leave the sum as it is. */
static void numbers_once_given_keep_their_meaning(void **state)
{
    (void)state;
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < 167; i++) {
        const ki_resource *resource = ki_resource_builtin_at(i);
        const char *parts[] = {ki_resource_api_version(resource), " ", ki_resource_name(resource),
                               " ", ki_resource_kind(resource)};
        for (size_t p = 0; p < 5; p++) {
            for (const char *c = parts[p]; *c != '\0'; c++) {
                sum = (sum ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
            }
        }
    }
    assert_int_equal(sum, UINT64_C(0xaa4e66374bc15bf0));
}

static void built_ins_are_never_freed(void **state)
{
    (void)state;
    const ki_resource *pods = KI_CORE_V1_PODS;
    assert_ptr_equal(ki_resource_ref(pods), pods);
    for (int i = 0; i < 5; i++) {
        assert_null(ki_resource_unref(pods));
    }
    assert_string_equal(ki_resource_name(pods), "pods");
    assert_null(ki_resource_ref(NULL));
    assert_null(ki_resource_unref(NULL));
}

static void custom_resources_hold_copies(void **state)
{
    (void)state;
    char group[] = "stable.example.com";
    char kind[] = "CronTab";
    char first[] = "ct";
    const char *short_names[] = {first, "crons", NULL};
    ki_resource *resource = NULL;
    int r = ki_resource_new(KI_OPTIONS(ki_resource_options, .group = group, .version = "v1alpha1",
                                       .resource = "crontabs", .kind = kind,
                                       .short_names = short_names),
                            &resource, NULL);
    assert_int_equal(r, 0);
    memset(group, 'x', sizeof(group) - 1);
    memset(kind, 'x', sizeof(kind) - 1);
    memset(first, 'x', sizeof(first) - 1);
    assert_string_equal(ki_resource_group(resource), "stable.example.com");
    assert_string_equal(ki_resource_version(resource), "v1alpha1");
    assert_string_equal(ki_resource_name(resource), "crontabs");
    assert_string_equal(ki_resource_singular(resource), "crontab");
    assert_string_equal(ki_resource_kind(resource), "CronTab");
    assert_string_equal(ki_resource_api_version(resource), "stable.example.com/v1alpha1");
    assert_true(ki_resource_is_namespaced(resource));
    assert_string_equal(ki_resource_short_name_at(resource, 0), "ct");
    assert_string_equal(ki_resource_short_name_at(resource, 1), "crons");
    assert_null(ki_resource_short_name_at(resource, 2));
    assert_null(ki_resource_short_name_at(resource, 3));
    assert_null(ki_resource_short_name_at(resource, SIZE_MAX));
    assert_ptr_equal(ki_resource_ref(resource), resource);
    assert_null(ki_resource_unref(resource));
    assert_string_equal(ki_resource_name(resource), "crontabs");
    assert_null(ki_resource_unref(resource));
}

static void a_custom_resource_without_group_is_in_core(void **state)
{
    (void)state;
    ki_resource *resource = NULL;
    int r =
        ki_resource_new(KI_OPTIONS(ki_resource_options, .version = "v1", .resource = "things",
                                   .kind = "Thing", .singular = "thingy", .cluster_scoped = true),
                        &resource, NULL);
    assert_int_equal(r, 0);
    assert_string_equal(ki_resource_group(resource), "");
    assert_string_equal(ki_resource_api_version(resource), "v1");
    assert_string_equal(ki_resource_singular(resource), "thingy");
    assert_false(ki_resource_is_namespaced(resource));
    assert_null(ki_resource_short_name_at(resource, 0));
    ki_resource_unref(resource);
}

static void each_built_in_could_be_made_at_run_time(void **state)
{
    (void)state;
    for (size_t i = 0; i < KI_BUILTIN_MAX; i++) {
        const ki_resource *from = ki_resource_builtin_at(i);
        const char *short_names[4] = {NULL};
        for (size_t n = 0; n < 3; n++) {
            short_names[n] = ki_resource_short_name_at(from, n);
        }
        ki_resource *resource = NULL;
        int r = ki_resource_new(
            KI_OPTIONS(ki_resource_options, .group = ki_resource_group(from),
                       .version = ki_resource_version(from), .resource = ki_resource_name(from),
                       .kind = ki_resource_kind(from), .short_names = short_names,
                       .cluster_scoped = !ki_resource_is_namespaced(from)),
            &resource, NULL);
        assert_int_equal(r, 0);
        assert_string_equal(ki_resource_api_version(resource), ki_resource_api_version(from));
        assert_string_equal(ki_resource_singular(resource), ki_resource_singular(from));
        assert_string_equal(ki_resource_kind(resource), ki_resource_kind(from));
        ki_resource_unref(resource);
    }
}

#define LABEL_63 "a23456789012345678901234567890123456789012345678901234567890123"
#define PART_63 LABEL_63 "."

static int try_options(const ki_resource_options *options, ki_error *error)
{
    ki_resource *resource = NULL;
    int r = ki_resource_new(options, &resource, error);
    if (r < 0) {
        assert_null(resource);
        assert_int_equal(error->code, r);
        assert_true(error->message[0] != '\0');
    }
    ki_resource_unref(resource);
    return r;
}

static void names_are_checked_as_for_a_custom_resource_definition(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int group, label, kind; /* where the fault is, or -1 for a good name */
    } cases[] = {
        {"a", -1, -1, -1},
        {"abc", -1, -1, -1},
        {"a-b", -1, -1, -1},
        {"a--b", -1, -1, -1},
        {"v1beta1", -1, -1, -1},
        {"Abc", 0, 0, -1},
        {"aBC", 1, 1, -1},
        {"A-B", 0, 0, -1},
        {"1a", -1, 0, 0},
        {"-a", 0, 0, 0},
        {"a-", 1, 1, 1},
        {"a.b", -1, 1, 1},
        {"a.1.c-d", -1, 1, 1},
        {".a", 0, 0, 0},
        {"a.", 1, 1, 1},
        {"a..b", 1, 1, 1},
        {"a.-b", 2, 1, 1},
        {"a-.b", 1, 2, 2},
        {"a_b", 1, 1, 1},
        {"a/b", 1, 1, 1},
        {"a b", 1, 1, 1},
        {"a\n", 1, 1, 1},
        {"a\xc3\xa9", 1, 1, 1},
        {"\x80", 0, 0, 0},
        {LABEL_63, -1, -1, -1},
        {LABEL_63 "x", -1, 63, 63},
        {PART_63 PART_63 PART_63 LABEL_63, 253, 63, 63},
        {PART_63 PART_63 PART_63 "a234567890123456789012345678901234567890123456789012345678901",
         -1, 63, 63},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *name = cases[i].name;
        const char *const short_names[] = {"ok", name, NULL};
        const struct {
            ki_resource_options options;
            int fault;
        } uses[] = {
            {{.group = name, .version = "v1", .resource = "r", .kind = "K"}, cases[i].group},
            {{.version = name, .resource = "r", .kind = "K"}, cases[i].label},
            {{.version = "v1", .resource = name, .kind = "K"}, cases[i].label},
            {{.version = "v1", .resource = "r", .kind = "K", .singular = name}, cases[i].label},
            {{.version = "v1", .resource = "r", .kind = "K", .short_names = short_names},
             cases[i].label},
            {{.version = "v1", .resource = "r", .kind = name}, cases[i].kind},
        };
        for (size_t u = 0; u < sizeof(uses) / sizeof(uses[0]); u++) {
            ki_error error = KI_ERROR_INIT;
            int r = try_options(&uses[u].options, &error);
            assert_int_equal(r, uses[u].fault < 0 ? 0 : KI_ERR_INVALID);
            assert_int_equal(error.offset, uses[u].fault < 0 ? 0 : uses[u].fault);
        }
    }
}

static void empty_and_missing_names_are_refused(void **state)
{
    (void)state;
    const struct {
        ki_resource_options options;
        int expected;
    } cases[] = {
        {{.resource = "r", .kind = "K"}, -EINVAL},
        {{.version = "v1", .kind = "K"}, -EINVAL},
        {{.version = "v1", .resource = "r"}, -EINVAL},
        {{.version = "", .resource = "r", .kind = "K"}, KI_ERR_INVALID},
        {{.version = "v1", .resource = "", .kind = "K"}, KI_ERR_INVALID},
        {{.version = "v1", .resource = "r", .kind = ""}, KI_ERR_INVALID},
        {{.version = "v1", .resource = "r", .kind = "K", .singular = ""}, KI_ERR_INVALID},
        {{.group = "", .version = "v1", .resource = "r", .kind = "K"}, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_error error = KI_ERROR_INIT;
        assert_int_equal(try_options(&cases[i].options, &error), cases[i].expected);
    }
    ki_error error = KI_ERROR_INIT;
    assert_int_equal(try_options(NULL, &error), -EINVAL);
}

static void short_names_have_a_limit(void **state)
{
    (void)state;
    const char *short_names[66] = {NULL};
    for (size_t i = 0; i < 64; i++) {
        short_names[i] = "s";
    }
    const ki_resource_options options = {
        .version = "v1", .resource = "r", .kind = "K", .short_names = short_names};
    ki_error error = KI_ERROR_INIT;
    assert_int_equal(try_options(&options, &error), 0);
    short_names[64] = "s";
    assert_int_equal(try_options(&options, &error), KI_ERR_LIMIT);
}

static void options_of_a_newer_library_are_refused_if_used(void **state)
{
    (void)state;
    struct {
        ki_resource_options options;
        char newer;
    } bigger = {.options = {.version = "v1", .resource = "r", .kind = "K"}};
    bigger.options.size = sizeof(bigger);
    ki_error error = KI_ERROR_INIT;
    assert_int_equal(try_options(&bigger.options, &error), 0);
    bigger.newer = 1;
    assert_int_equal(try_options(&bigger.options, &error), -E2BIG);
}

static int make_use_and_release(const ki_alloc *alloc, void *user)
{
    (void)user;
    const char *const short_names[] = {"w", "wi", NULL};
    ki_resource *resource = NULL;
    ki_error error = KI_ERROR_INIT;
    int r = ki_resource_new(KI_OPTIONS(ki_resource_options, .group = "example.com", .version = "v1",
                                       .resource = "widgets", .kind = "Widget",
                                       .short_names = short_names, .alloc = alloc),
                            &resource, &error);
    if (r < 0) {
        assert_null(resource);
        assert_int_equal(error.code, r);
        return r;
    }
    assert_string_equal(ki_resource_short_name_at(resource, 1), "wi");
    ki_resource_unref(resource);
    return 0;
}

static void failing_allocations_leave_nothing_behind(void **state)
{
    (void)state;
    test_alloc_sweep(make_use_and_release, NULL);
}

static void a_custom_resource_is_one_block(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    assert_int_equal(make_use_and_release(&alloc.table, NULL), 0);
    assert_int_equal(alloc.calls, 1);
    test_alloc_done(&alloc);
}

static void *ref_and_unref(void *user)
{
    const ki_resource *resource = user;
    for (int i = 0; i < 2000; i++) {
        (void)ki_resource_ref(resource);
        (void)ki_resource_unref(resource);
    }
    (void)ki_resource_unref(resource);
    return NULL;
}

static void threads_share_references(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki_resource *resource = NULL;
    int r = ki_resource_new(KI_OPTIONS(ki_resource_options, .version = "v1", .resource = "r",
                                       .kind = "K", .alloc = &alloc.table),
                            &resource, NULL);
    assert_int_equal(r, 0);
    pthread_t threads[4];
    for (size_t i = 0; i < 4; i++) {
        (void)ki_resource_ref(resource);
        assert_int_equal(pthread_create(&threads[i], NULL, ref_and_unref, resource), 0);
    }
    (void)ki_resource_unref(resource);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    test_alloc_done(&alloc);
}

static void built_in_resources_are_constants(void **state)
{
    (void)state;
    static const struct {
        const ki_resource *resource;
        const char *kind;
    } table[] = {{KI_CORE_V1_PODS, "Pod"}, {KI_STORAGE_V1_STORAGECLASSES, "StorageClass"}};
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        assert_string_equal(ki_resource_kind(table[i].resource), table[i].kind);
        assert_ptr_equal(ki_resource_ref(table[i].resource), table[i].resource);
        assert_null(ki_resource_unref(table[i].resource));
    }
    assert_ptr_equal(KI_CORE_V1_PODS, ki_resource_builtin_at(KI_BUILTIN_CORE_V1_PODS));
    assert_ptr_equal(KI_CORE_V1_PODS, ki_resource_builtin("", "v1", "pods"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(built_in_resources_are_constants),
        cmocka_unit_test(built_ins_say_what_the_api_reference_says),
        cmocka_unit_test(each_short_name_that_people_type_is_there),
        cmocka_unit_test(macros_are_the_table),
        cmocka_unit_test(every_built_in_is_found_by_both_lookups),
        cmocka_unit_test(lookups_of_unknown_names_find_nothing),
        cmocka_unit_test(numbers_once_given_keep_their_meaning),
        cmocka_unit_test(built_ins_are_never_freed),
        cmocka_unit_test(custom_resources_hold_copies),
        cmocka_unit_test(a_custom_resource_without_group_is_in_core),
        cmocka_unit_test(each_built_in_could_be_made_at_run_time),
        cmocka_unit_test(names_are_checked_as_for_a_custom_resource_definition),
        cmocka_unit_test(empty_and_missing_names_are_refused),
        cmocka_unit_test(short_names_have_a_limit),
        cmocka_unit_test(options_of_a_newer_library_are_refused_if_used),
        cmocka_unit_test(failing_allocations_leave_nothing_behind),
        cmocka_unit_test(a_custom_resource_is_one_block),
        cmocka_unit_test(threads_share_references),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
