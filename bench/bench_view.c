/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of the 11.6 KB pod by compiled paths and by typed views, from JSON and from protobuf. */
#include <stdlib.h>

#include <kinformer/api/core_v1.h>
#include <kinformer/buf.h>
#include <kinformer/encoding.h>
#include <kinformer/path.h>

#include "support/bench.h"

enum { NESTED = 5 };

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

/* The pod in both encodings. */
static void read_pods(const char *file, pod pods[static 2])
{
    size_t len;
    char *text = bench_read_file(file, 0, &len);
    ki_object *json = NULL;
    ki_object *proto = NULL;
    ki_buf bytes;
    ki_buf_init(&bytes, NULL, 1 << 20);
    if (ki_object_from_json(text, len, NULL, &json, NULL) < 0 ||
        ki_object_write_protobuf(json, &bytes, NULL) < 0 ||
        ki_object_from_protobuf(bytes.data, bytes.len, NULL, &proto, NULL) < 0) {
        bench_fail("%s: not a pod", file);
    }
    pods[0] = make_pod(proto);
    pods[1] = make_pod(json);
    ki_buf_done(&bytes);
    free(text);
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
    enum { ROWS = sizeof(rows) / sizeof(rows[0]) };
    bench_option options[] = {
        {"file", "the pod", BENCH_DATA_DIR "/pod.json"},
        {"rounds", "rounds over all rows", "15"},
        {"ms", "of one row in one round", "20"},
        {NULL, NULL, NULL},
    };
    bench_options(argc, argv, options);
    pod pods[2];
    read_pods(options[0].value, pods);
    bench_case cases[ROWS * 4];
    for (size_t i = 0; i < ROWS * 4; i++) {
        size_t encoding = i / 2 % 2;
        cases[i] = (bench_case){.bench = "view",
                                .impl = impls[encoding][i % 2],
                                .row = rows[i / 4].row,
                                .run = rows[i / 4].run[i % 2],
                                .user = &pods[encoding],
                                .memory = -1};
    }
    bench_measure(cases, ROWS * 4, (unsigned)bench_option_number(&options[1]),
                  (unsigned)bench_option_number(&options[2]));
    drop_pod(&pods[0]);
    drop_pod(&pods[1]);
    return 0;
}
