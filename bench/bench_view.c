/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of the 11.6 KB pod by compiled paths and by typed views, from JSON and from protobuf; and
 * the fields that a reconcile of examples/website reads. */
#include <stdlib.h>
#include <string.h>

#include <kinformer/api/apps_v1.h>
#include <kinformer/api/core_v1.h>
#include <kinformer/buf.h>
#include <kinformer/encoding.h>
#include <kinformer/path.h>

#include "support/bench.h"
#include "website_views.h" /* by kinformer gen-views; see CMakeLists.txt */

enum { NESTED = 5, WEBSITE_FIELDS = 3, DEPLOYMENT_FIELDS = 3 };

typedef struct pod {
    const ki_object *object;
    ki_path *node_name;
    ki_path *nested[NESTED];
    ki_path *images;
} pod;

static const char *const nested_paths[NESTED] = {
    KI_PATH(core_v1, Pod, spec.securityContext.runAsUser),
    KI_PATH(core_v1, Pod, spec.volumes[0].configMap.defaultMode),
    KI_PATH(core_v1, Pod, spec.containers[0].readinessProbe.periodSeconds),
    KI_PATH(core_v1, Pod, status.containerStatuses[0].restartCount),
    KI_PATH(core_v1, Pod, metadata.generation),
};

/* ---- by path ---- */

static void node_name_by_path(void *user, uint64_t count)
{
    const pod *p = user;
    for (; count != 0; count--) {
        ki_value value;
        ki_str text;
        if (ki_object_get(p->object, p->node_name, &value) < 0 ||
            ki_value_string(&value, &text) < 0) {
            bench_fail("no node");
        }
        bench_use(text.ptr);
    }
}

static void nested_by_path(void *user, uint64_t count)
{
    const pod *p = user;
    for (; count != 0; count--) {
        int64_t sum = 0;
        for (size_t i = 0; i < NESTED; i++) {
            int64_t number = 0;
            (void)(ki_object_get_int64(p->object, p->nested[i], &number) < 0);
            sum += number;
        }
        bench_use(&sum);
    }
}

static void images_by_path(void *user, uint64_t count)
{
    const pod *p = user;
    ki_value root = ki_object_root(p->object);
    for (; count != 0; count--) {
        ki_path_iter *iter = NULL;
        ki_value value;
        ki_str text;
        size_t len = 0;
        if (ki_path_iter_begin(p->images, &root, &iter) < 0) {
            bench_fail("no images");
        }
        while (ki_path_iter_next(iter, &value) > 0) {
            len += ki_value_string(&value, &text) == 0 ? text.len : 0;
        }
        (void)ki_path_iter_end(iter);
        bench_use(&len);
    }
}

/* ---- by view ---- */

static void node_name_by_view(void *user, uint64_t count)
{
    const pod *p = user;
    for (; count != 0; count--) {
        ki_text text =
            ki_core_v1_PodSpec_nodeName(ki_core_v1_Pod_spec(ki_core_v1_Pod_of(p->object)));
        if (text.len == 0) {
            bench_fail("no node");
        }
        bench_use(text.ptr);
    }
}

static void nested_by_view(void *user, uint64_t count)
{
    const pod *p = user;
    for (; count != 0; count--) {
        ki_core_v1_Pod view = ki_core_v1_Pod_of(p->object);
        ki_core_v1_PodSpec spec = ki_core_v1_Pod_spec(view);
        ki_core_v1_PodStatus status = ki_core_v1_Pod_status(view);
        int64_t sum =
            ki_core_v1_PodSecurityContext_runAsUser(ki_core_v1_PodSpec_securityContext(spec));
        sum += ki_core_v1_ConfigMapVolumeSource_defaultMode(ki_core_v1_Volume_configMap(
            ki_core_v1_Volume_list_at(ki_core_v1_PodSpec_volumes(spec), 0)));
        sum += ki_core_v1_Probe_periodSeconds(ki_core_v1_Container_readinessProbe(
            ki_core_v1_Container_list_at(ki_core_v1_PodSpec_containers(spec), 0)));
        sum += ki_core_v1_ContainerStatus_restartCount(
            ki_core_v1_ContainerStatus_list_at(ki_core_v1_PodStatus_containerStatuses(status), 0));
        sum += ki_meta_v1_ObjectMeta_generation(ki_core_v1_Pod_metadata(view));
        bench_use(&sum);
    }
}

static void images_by_view(void *user, uint64_t count)
{
    const pod *p = user;
    for (; count != 0; count--) {
        size_t len = 0;
        ki_core_v1_PodSpec spec = ki_core_v1_Pod_spec(ki_core_v1_Pod_of(p->object));
        KI_EACH(ki_core_v1_Container, container, ki_core_v1_PodSpec_containers(spec))
        {
            len += ki_core_v1_Container_image(container).len;
        }
        bench_use(&len);
    }
}

/* ---- a reconcile of a Website: it is JSON, its Deployment protobuf ---- */

typedef struct website {
    ki_object *website;
    ki_object *deployment;
    ki_path *fields[WEBSITE_FIELDS];
    ki_path *deployment_fields[DEPLOYMENT_FIELDS];
} website;

static const char *const website_paths[WEBSITE_FIELDS] = {
    KI_PATH(example_v1, Website, spec.html),
    KI_PATH(example_v1, Website, spec.image),
    KI_PATH(example_v1, Website, spec.replicas),
};

static const char *const deployment_paths[DEPLOYMENT_FIELDS] = {
    KI_PATH(apps_v1, Deployment, spec.replicas),
    KI_PATH(apps_v1, Deployment, status.readyReplicas),
    KI_PATH(apps_v1, Deployment, status.observedGeneration),
};

static void website_by_path(void *user, uint64_t count)
{
    const website *w = user;
    for (; count != 0; count--) {
        ki_value html;
        ki_value image;
        int64_t sum = 0;
        if (ki_object_get(w->website, w->fields[0], &html) < 0 ||
            ki_object_get(w->website, w->fields[1], &image) < 0 ||
            ki_object_get_int64(w->website, w->fields[2], &sum) < 0) {
            bench_fail("not a website");
        }
        for (size_t i = 0; i < DEPLOYMENT_FIELDS; i++) {
            int64_t number = 0;
            if (ki_object_get_int64(w->deployment, w->deployment_fields[i], &number) < 0) {
                bench_fail("not its deployment");
            }
            sum += number;
        }
        bench_use(&html);
        bench_use(&image);
        bench_use(&sum);
    }
}

static void website_by_view(void *user, uint64_t count)
{
    const website *w = user;
    for (; count != 0; count--) {
        ki_example_v1_WebsiteSpec spec =
            ki_example_v1_Website_spec(ki_example_v1_Website_of(w->website));
        ki_text html = ki_example_v1_WebsiteSpec_html(spec);
        ki_text image = ki_example_v1_WebsiteSpec_image(spec);
        ki_apps_v1_Deployment deployment = ki_apps_v1_Deployment_of(w->deployment);
        ki_apps_v1_DeploymentStatus status = ki_apps_v1_Deployment_status(deployment);
        int64_t sum = ki_example_v1_WebsiteSpec_replicas(spec);
        sum += ki_apps_v1_DeploymentSpec_replicas(ki_apps_v1_Deployment_spec(deployment));
        sum += ki_apps_v1_DeploymentStatus_readyReplicas(status);
        sum += ki_apps_v1_DeploymentStatus_observedGeneration(status);
        if (html.len == 0 || image.len == 0) {
            bench_fail("not a website");
        }
        bench_use(&html);
        bench_use(&image);
        bench_use(&sum);
    }
}

/* ---- set-up ---- */

static ki_path *compile(const char *text)
{
    ki_path *path = NULL;
    if (ki_path_compile(text, NULL, &path, NULL) < 0) {
        bench_fail("%s", text);
    }
    return path;
}

static pod make_pod(const ki_object *object)
{
    pod p = {.object = object, .node_name = compile(KI_PATH(core_v1, Pod, spec.nodeName))};
    for (size_t i = 0; i < NESTED; i++) {
        p.nested[i] = compile(nested_paths[i]);
    }
    p.images = compile("spec.containers[*].image");
    return p;
}

static void drop_pod(pod *p)
{
    (void)ki_path_unref(p->node_name);
    (void)ki_path_unref(p->images);
    for (size_t i = 0; i < NESTED; i++) {
        (void)ki_path_unref(p->nested[i]);
    }
    (void)ki_object_unref(p->object);
}

static ki_object *from_json(const char *what, const char *text, size_t len)
{
    ki_object *object = NULL;
    if (ki_object_from_json(text, len, NULL, &object, NULL) < 0) {
        bench_fail("%s: not an object", what);
    }
    return object;
}

static ki_object *as_protobuf(const ki_object *json)
{
    ki_object *object = NULL;
    ki_buf bytes;
    ki_buf_init(&bytes, NULL, 1 << 20);
    if (ki_object_write_protobuf(json, &bytes, NULL) < 0 ||
        ki_object_from_protobuf(bytes.data, bytes.len, NULL, &object, NULL) < 0) {
        bench_fail("no protobuf");
    }
    ki_buf_done(&bytes);
    return object;
}

/* The pod in both encodings. */
static void read_pods(const char *file, pod pods[static 2])
{
    size_t len;
    char *text = bench_read_file(file, 0, &len);
    ki_object *json = from_json(file, text, len);
    pods[0] = make_pod(as_protobuf(json));
    pods[1] = make_pod(json);
    free(text);
}

static website make_website(void)
{
    static const char text[] =
        "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Website\",\"metadata\":{\"name\":\"shop\","
        "\"namespace\":\"default\",\"uid\":\"7\",\"resourceVersion\":\"1001\",\"generation\":3},"
        "\"spec\":{\"html\":\"<h1>Shop</h1>\",\"image\":\"nginx:1.29\",\"replicas\":2},"
        "\"status\":{\"observedGeneration\":3,\"readyReplicas\":2}}";
    static const char deployment[] =
        "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"shop-site\","
        "\"namespace\":\"default\",\"uid\":\"8\",\"resourceVersion\":\"1002\",\"generation\":3},"
        "\"spec\":{\"replicas\":2,\"selector\":{\"matchLabels\":{\"website\":\"shop\"}},"
        "\"template\":{\"metadata\":{\"labels\":{\"website\":\"shop\"}},\"spec\":{\"containers\":"
        "[{\"name\":\"web\",\"image\":\"nginx:1.29\",\"ports\":[{\"containerPort\":80}]}]}}},"
        "\"status\":{\"observedGeneration\":3,\"replicas\":2,\"readyReplicas\":2}}";
    ki_object *json = from_json("the deployment", deployment, strlen(deployment));
    website w = {.website = from_json("the website", text, strlen(text)),
                 .deployment = as_protobuf(json)};
    (void)ki_object_unref(json);
    for (size_t i = 0; i < WEBSITE_FIELDS; i++) {
        w.fields[i] = compile(website_paths[i]);
    }
    for (size_t i = 0; i < DEPLOYMENT_FIELDS; i++) {
        w.deployment_fields[i] = compile(deployment_paths[i]);
    }
    return w;
}

static void drop_website(website *w)
{
    for (size_t i = 0; i < WEBSITE_FIELDS; i++) {
        (void)ki_path_unref(w->fields[i]);
    }
    for (size_t i = 0; i < DEPLOYMENT_FIELDS; i++) {
        (void)ki_path_unref(w->deployment_fields[i]);
    }
    (void)ki_object_unref(w->deployment);
    (void)ki_object_unref(w->website);
}

int main(int argc, char **argv)
{
    static const char *const impls[2][2] = {{"path, protobuf", "view, protobuf"},
                                            {"path, JSON", "view, JSON"}};
    static const struct {
        const char *row;
        void (*run[2])(void *user, uint64_t count);
    } rows[] = {
        {"node_name", {node_name_by_path, node_name_by_view}},
        {"nested", {nested_by_path, nested_by_view}},
        {"images", {images_by_path, images_by_view}},
    };
    enum { ROWS = sizeof(rows) / sizeof(rows[0]), CASES = ROWS * 4 + 2 };
    bench_option options[] = {
        {"file", "the pod", BENCH_DATA_DIR "/pod.json"},
        {"rounds", "rounds over all rows", "15"},
        {"ms", "of one row in one round", "20"},
        {NULL, NULL, NULL},
    };
    bench_options(argc, argv, options);
    pod pods[2];
    read_pods(options[0].value, pods);
    website w = make_website();
    bench_case cases[CASES];
    for (size_t i = 0; i < ROWS * 4; i++) {
        size_t encoding = i / 2 % 2;
        cases[i] = (bench_case){.bench = "view",
                                .impl = impls[encoding][i % 2],
                                .row = rows[i / 4].row,
                                .run = rows[i / 4].run[i % 2],
                                .user = &pods[encoding],
                                .memory = -1};
    }
    for (size_t i = 0; i < 2; i++) {
        cases[ROWS * 4 + i] = (bench_case){.bench = "view",
                                           .impl = i == 0 ? "path, both" : "view, both",
                                           .row = "website",
                                           .run = i == 0 ? website_by_path : website_by_view,
                                           .user = &w,
                                           .memory = -1};
    }
    bench_measure(cases, CASES, (unsigned)bench_option_number(&options[1]),
                  (unsigned)bench_option_number(&options[2]));
    drop_pod(&pods[0]);
    drop_pod(&pods[1]);
    drop_website(&w);
    return 0;
}
