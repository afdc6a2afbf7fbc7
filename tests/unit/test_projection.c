/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of keep and drop, how partial objects read, and where they are refused. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kinformer/api/core_v1.h>
#include <kinformer/diff.h>
#include <kinformer/edit.h>
#include <kinformer/kinds.h>
#include <kinformer/merge.h>
#include <kinformer/path.h>
#include <kinformer/projection.h>

#include "support/proto.h"
#include "support/test.h"
#include "support/wire.h"

static const char pod_json[] =
    "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"web\",\"namespace\":\"shop\","
    "\"uid\":\"u1\",\"resourceVersion\":\"7\",\"generation\":2,\"creationTimestamp\":"
    "\"2026-01-02T03:04:05Z\",\"labels\":{\"app\":\"web\",\"tier\":\"front\"},\"annotations\":{"
    "\"kubectl.kubernetes.io/last-applied-configuration\":\"{}\",\"a\\u002fb\":\"c\"},"
    "\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"name\":\"rs\","
    "\"uid\":\"u2\",\"controller\":true}],\"finalizers\":[\"f\"],\"managedFields\":[{\"manager\":"
    "\"kubectl\"}]}, \"spec\" : { \"nodeName\" : \"n1\" , \"containers\":[{\"name\":\"a\","
    "\"image\":\"i1\"},{\"name\":\"b\",\"image\":\"i2\"}]},\"status\":{\"phase\":\"Running\","
    "\"podIP\":\"10.0.0.1\",\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}";

static ki_projection *compile(const char *keep, const char *drop)
{
    ki_projection *projection = NULL;
    ki_error error = KI_ERROR_INIT;
    if (ki_projection_new(keep, drop, NULL, &projection, &error) < 0) {
        fail_msg("%s", error.message);
    }
    return projection;
}

static ki_object *from_json(const char *json, const char *keep, const char *drop)
{
    ki_projection *projection = compile(keep, drop);
    ki_object_options options = KI_OPTIONS_INIT(ki_object_options);
    options.projection = projection;
    ki_object *object = NULL;
    ki_error error = KI_ERROR_INIT;
    if (ki_object_from_json(json, strlen(json), &options, &object, &error) < 0) {
        fail_msg("%s", error.message);
    }
    (void)ki_projection_unref(projection);
    return object;
}

static ki_object *pod(const char *keep, const char *drop)
{
    return from_json(pod_json, keep, drop);
}

static void bytes_are(const ki_object *object, const char *expected)
{
    ki_str bytes = ki_object_bytes(object);
    assert_int_equal(bytes.len, strlen(expected));
    assert_memory_equal(bytes.ptr, expected, bytes.len);
}

static int code_at(const ki_object *object, const char *text)
{
    ki_path *path = NULL;
    ki_value value;
    assert_int_equal(ki_path_compile(text, NULL, &path, NULL), 0);
    int r = ki_object_get(object, path, &value);
    ki_path_unref(path);
    return r;
}

/* ---- paths ---- */

static void bad_lists_are_refused_by_path(void **state)
{
    (void)state;
    static const struct {
        const char *keep;
        const char *drop;
        int code;
        const char *message;
    } cases[] = {
        {".spec.containers[0]", NULL, KI_ERR_SYNTAX,
         ".spec.containers[0]: only names and [*] are allowed in keep and drop"},
        {".a,.spec['a','b'].c", NULL, KI_ERR_SYNTAX,
         ".spec['a','b'].c: only names and [*] are allowed in keep and drop"},
        {".a[?(@.b==1)]", NULL, KI_ERR_SYNTAX,
         ".a[?(@.b==1)]: only names and [*] are allowed in keep and drop"},
        {"..image", NULL, KI_ERR_SYNTAX,
         "..image: only names and [*] are allowed in keep and drop"},
        {".a[", NULL, KI_ERR_SYNTAX, ".a[: "},
        {".a,,.b", NULL, KI_ERR_SYNTAX, "keep: empty path"},
        {".a,", NULL, KI_ERR_SYNTAX, "keep: empty path"},
        {NULL, " , ", KI_ERR_SYNTAX, "drop: empty path"},
        {".a['']", NULL, KI_ERR_SYNTAX, ".a['']: "},
        {"[*]", NULL, KI_ERR_INVALID, "[*]: names the whole object"},
        {NULL, ".metadata", KI_ERR_INVALID, "drop: .metadata: .metadata.name is always kept"},
        {NULL, ".metadata.uid", KI_ERR_INVALID,
         "drop: .metadata.uid: .metadata.uid is always kept"},
        {NULL, ".metadata.generation", KI_ERR_INVALID, NULL},
        {NULL, ".metadata.resourceVersion", KI_ERR_INVALID, NULL},
        {NULL, ".metadata.namespace", KI_ERR_INVALID, NULL},
        {NULL, "[*].name", KI_ERR_INVALID, "drop: [*].name: .metadata.name is always kept"},
        {NULL, ".kind", KI_ERR_INVALID, NULL},
        {".spec.nodeName", ".spec", KI_ERR_INVALID,
         "drop: .spec: drops all of .spec.nodeName in keep"},
        {".a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q", NULL, KI_ERR_LIMIT, NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_projection *projection = NULL;
        ki_error error = KI_ERROR_INIT;
        int r = ki_projection_new(cases[i].keep, cases[i].drop, NULL, &projection, &error);
        assert_null(projection);
        assert_int_equal(r, cases[i].code);
        if (cases[i].message != NULL) {
            assert_memory_equal(error.message, cases[i].message, strlen(cases[i].message));
        }
    }
}

static void limits_hold(void **state)
{
    (void)state;
    ki_projection *projection = NULL;
    ki_buf list;
    ki_buf_init(&list, NULL, 1 << 20);
    for (int i = 0; i < 300; i++) {
        char path[32];
        (void)snprintf(path, sizeof(path), "%s.a%d", i != 0 ? "," : "", i);
        assert_int_equal(ki_buf_add_text(&list, path), 0);
        int r = ki_projection_new(list.data, NULL, NULL, &projection, NULL);
        assert_int_equal(r, i < 240 ? 0 : i > 256 ? KI_ERR_LIMIT : r);
        projection = ki_projection_unref(projection);
    }
    ki_buf_clear(&list); /* every name at every level: too many places */
    for (int i = 0; i < 12; i++) {
        ki_buf path;
        ki_buf_init(&path, NULL, 4096);
        for (int j = 0; j < 14; j++) {
            char name[8];
            (void)snprintf(name, sizeof(name), ".n%d", i);
            test_add(&path, j == i ? name : "[*]", 1);
        }
        test_add(&path, ".x", 1);
        test_add(&list, i != 0 ? "," : "", 1);
        test_add(&list, ki_buf_text(&path), 1);
        ki_buf_done(&path);
    }
    assert_int_equal(ki_projection_new(ki_buf_text(&list), NULL, NULL, &projection, NULL),
                     KI_ERR_LIMIT);
    ki_buf_done(&list);
}

static void nothing_to_drop_keeps_whole_objects(void **state)
{
    (void)state;
    static const char *const lists[] = {NULL, "", "  "};
    for (size_t i = 0; i < 3; i++) {
        ki_object *object = pod(lists[i], lists[2 - i]);
        assert_false(ki_object_is_partial(object));
        bytes_are(object, pod_json);
        ki_object_unref(object);
    }
}

/* ---- what is kept ---- */

static void metadata_is_kept_unless_dropped(void **state)
{
    (void)state;
    ki_object *object = pod(" .spec.nodeName ,\n.status.phase", "");
    bytes_are(object,
              "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"web\","
              "\"namespace\":\"shop\",\"uid\":\"u1\",\"resourceVersion\":\"7\",\"generation\":2,"
              "\"creationTimestamp\":\"2026-01-02T03:04:05Z\",\"labels\":{\"app\":\"web\",\"tier\":"
              "\"front\"},\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":"
              "\"ReplicaSet\",\"name\":\"rs\",\"uid\":\"u2\",\"controller\":true}]},\"spec\":{"
              "\"nodeName\":\"n1\"},\"status\":{\"phase\":\"Running\"}}");
    ki_object_unref(object);
    object =
        pod(".metadata.labels['app'],.metadata.annotations['a/b']",
            ".metadata.creationTimestamp,.metadata.ownerReferences,.metadata.deletionTimestamp");
    bytes_are(object, "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"web\","
                      "\"namespace\":\"shop\",\"uid\":\"u1\",\"resourceVersion\":\"7\","
                      "\"generation\":2,\"labels\":{\"app\":\"web\"},\"annotations\":{"
                      "\"a\\u002fb\":\"c\"}}}");
    ki_owner owner = KI_OPTIONS_INIT(ki_owner);
    assert_int_equal(ki_object_controller(object, &owner), KI_ERR_NOT_KEPT);
    ki_object_unref(object);
}

static void the_usual_drop(void **state)
{
    (void)state;
    ki_object *object = pod(NULL, KI_DROP_USUAL ", .spec.containers[*].image");
    assert_int_equal(code_at(object, ".metadata.managedFields"), KI_ERR_NOT_KEPT);
    assert_int_equal(code_at(object, ".metadata.annotations['a/b']"), 0);
    assert_int_equal(
        code_at(object,
                ".metadata.annotations['kubectl.kubernetes.io/last-applied-configuration']"),
        KI_ERR_NOT_KEPT);
    assert_int_equal(code_at(object, ".spec.containers[1].name"), 0);
    assert_int_equal(code_at(object, ".spec.containers[*].image"), KI_ERR_NOT_KEPT);
    assert_int_equal(code_at(object, ".spec.volumes"), KI_ERR_NOT_FOUND);
    assert_int_equal(code_at(object, ".status"), 0);
    ki_object_unref(object);
}

/* ---- reading ---- */

static void paths_read_what_is_kept(void **state)
{
    (void)state;
    ki_object *object = pod(".spec.nodeName,.spec.other.a,.status.conditions[*].type,"
                            ".status.list[*].a",
                            NULL);
    static const struct {
        const char *path;
        int code;
    } cases[] = {
        {".spec.nodeName", 0},
        {".spec.other", KI_ERR_NOT_FOUND},
        {".spec.other.a", KI_ERR_NOT_FOUND},
        {".spec.other.a.b", KI_ERR_NOT_FOUND},
        {".spec.other.b", KI_ERR_NOT_KEPT}, /* although the object has no .spec.other */
        {".spec.containers", KI_ERR_NOT_KEPT},
        {".spec.containers[0].name", KI_ERR_NOT_KEPT},
        {".spec", 0},
        {".status.phase", KI_ERR_NOT_KEPT},
        {".status.conditions[*].type", 0},
        {".status.conditions[0].status", KI_ERR_NOT_KEPT},
        {".status.conditions[7].status", KI_ERR_NOT_KEPT},
        {".status.conditions[7].type", KI_ERR_NOT_FOUND},
        {".status.conditions[type=Ready].type", 0},
        {".status.conditions[type=Other].type", KI_ERR_NOT_FOUND},
        {".status.conditions[status=True].type", KI_ERR_NOT_KEPT},
        {".status.list[b=c].a", KI_ERR_NOT_KEPT}, /* although the list does not exist */
        {".status.list[a=c].a", KI_ERR_NOT_FOUND},
        {".status.conditions[?(@.type=='x' || @.status=='True')].type", KI_ERR_NOT_KEPT},
        {"..name", KI_ERR_NOT_KEPT},
        {".spec['nodeName','containers']", 0},
        {".spec['containers','nodeName']", KI_ERR_NOT_KEPT},
        {".data", KI_ERR_NOT_KEPT},
        {".kind", 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int r = code_at(object, cases[i].path);
        if (r != cases[i].code) {
            fail_msg("%s: %s", cases[i].path, ki_error_name(r));
        }
    }
    ki_object_unref(object);
}

static void values_know_that_they_were_not_kept(void **state)
{
    (void)state;
    ki_object *object = pod(".spec.nodeName,.status.conditions[*].status", NULL);
    ki_value value = ki_object_at(object, "status.phase");
    ki_value absent = ki_object_at(object, "spec.nodeName.x");
    ki_value found;
    ki_str text;
    int64_t number;
    double real;
    bool flag;
    char room[8];
    ki_value_iter iter;
    assert_int_equal(ki_value_type(&value), KI_TYPE_NONE);
    assert_int_equal(ki_value_string(&value, &text), KI_ERR_NOT_KEPT);
    assert_int_equal(ki_value_string(&absent, &text), KI_ERR_TYPE);
    assert_int_equal(ki_value_get_string(&value, room, sizeof(room)), KI_ERR_NOT_KEPT);
    assert_int_equal(ki_value_int64(&value, &number), KI_ERR_NOT_KEPT);
    assert_int_equal(ki_value_double(&value, &real), KI_ERR_NOT_KEPT);
    assert_int_equal(ki_value_bool(&value, &flag), KI_ERR_NOT_KEPT);
    assert_int_equal(ki_value_member(&value, ki_str_from("x"), &found), KI_ERR_NOT_KEPT);
    assert_int_equal(ki_value_element(&value, 0, &found), KI_ERR_NOT_KEPT);
    assert_int_equal(ki_value_iter_begin(&value, &iter), KI_ERR_NOT_KEPT);
    found = ki_value_at(&value, "x");
    assert_int_equal(ki_value_int64(&found, &number), KI_ERR_NOT_KEPT);
    value = ki_object_condition(object, "Ready");
    assert_int_equal(ki_value_string(&value, &text), KI_ERR_NOT_KEPT);
    value = ki_object_annotation(object, "a/b");
    assert_int_equal(ki_value_string(&value, &text), KI_ERR_NOT_KEPT);
    value = ki_object_finalizers(object);
    assert_int_equal(ki_value_iter_begin(&value, &iter), KI_ERR_NOT_KEPT);
    assert_true(ki_object_label_is(object, "app", "web"));
    assert_int_equal(ki_object_int64_or(object, "status.phase", 5), 5);
    ki_object_unref(object);
}

static void iterations_end_with_what_was_not_kept(void **state)
{
    (void)state;
    ki_object *object = pod(".spec.nodeName,.status.conditions[*].type", NULL);
    ki_value spec = ki_object_at(object, "spec");
    ki_value conditions = ki_object_at(object, "status.conditions");
    ki_value labels = ki_object_labels(object);
    ki_value_iter iter;
    ki_value value;
    assert_int_equal(ki_value_iter_begin(&spec, &iter), 0);
    assert_int_equal(ki_value_iter_next(&iter, NULL, &value), 1);
    assert_int_equal(ki_value_iter_next(&iter, NULL, &value), KI_ERR_NOT_KEPT);
    assert_int_equal(ki_value_iter_begin(&conditions, &iter), 0);
    assert_int_equal(ki_value_iter_next(&iter, NULL, &value), 1);
    assert_int_equal(ki_value_iter_next(&iter, NULL, &value), 0);
    assert_int_equal(ki_value_iter_begin(&labels, &iter), 0);
    assert_int_equal(ki_value_iter_next(&iter, NULL, &value), 1);
    assert_int_equal(ki_value_iter_next(&iter, NULL, &value), 1);
    assert_int_equal(ki_value_iter_next(&iter, NULL, &value), 0);
    ki_object_unref(object);
}

static void kind_helpers_report_it(void **state)
{
    (void)state;
    static const char deployment[] = "{\"metadata\":{\"name\":\"d\"},\"spec\":{\"replicas\":3},"
                                     "\"status\":{\"replicas\":2,\"readyReplicas\":1}}";
    static const char config[] =
        "{\"metadata\":{\"name\":\"c\"},\"data\":{\"a\":\"1\",\"b\":\"2\"}}";
    ki_replicas replicas = KI_OPTIONS_INIT(ki_replicas);
    ki_object *object = from_json(deployment, ".spec.replicas,.status", NULL);
    assert_int_equal(ki_deployment_replicas(object, &replicas), 0);
    assert_int_equal(replicas.desired, 3);
    assert_int_equal(replicas.ready, 1);
    ki_object_unref(object);
    object = from_json(deployment, ".status", NULL);
    assert_int_equal(ki_deployment_replicas(object, &replicas), KI_ERR_NOT_KEPT);
    ki_object_unref(object);
    object = from_json(deployment, NULL, ".status.readyReplicas");
    assert_int_equal(ki_deployment_replicas(object, &replicas), KI_ERR_NOT_KEPT);
    ki_object_unref(object);
    object = from_json(config, ".data.a,.data.x", NULL);
    ki_value value;
    assert_int_equal(ki_configmap_get(object, "a", &value), 0);
    assert_int_equal(ki_configmap_get(object, "b", &value), KI_ERR_NOT_KEPT);
    assert_int_equal(ki_configmap_get(object, "x", &value), KI_ERR_NOT_FOUND);
    ki_object_unref(object);
    object = from_json(config, NULL, ".spec");
    ki_crd crd = KI_OPTIONS_INIT(ki_crd);
    ki_reference reference = KI_OPTIONS_INIT(ki_reference);
    assert_int_equal(ki_crd_of(object, &crd), KI_ERR_NOT_KEPT);
    assert_int_equal(ki_event_involved(object, &reference), 0);
    ki_object_unref(object);
    object = from_json(config, ".involvedObject.name", NULL);
    assert_int_equal(ki_event_involved(object, &reference), KI_ERR_NOT_KEPT);
    ki_object_unref(object);
}

/* ---- protobuf ---- */

static ki_object *proto(const char *text, const char *keep, const char *drop)
{
    ki_object *full = test_proto_object("v1", "Pod", text);
    ki_object *object = NULL;
    ki_projection *projection = compile(keep, drop);
    assert_int_equal(ki_object_project(full, projection, &object, NULL), 0);
    ki_object_unref(full);
    (void)ki_projection_unref(projection);
    return object;
}

static void unknown_fields_are_kept_where_a_name_may_be_theirs(void **state)
{
    (void)state;
    static const char text[] = "1:{1:'w' 6:'9'} 2:{10:'n1' 4000:'new'} 900:'x'";
    ki_object *object = proto(text, ".spec.nodeName", NULL);
    assert_true(ki_object_is_complete(object));
    assert_int_equal(code_at(object, ".spec.nodeName"), 0);
    assert_int_equal(code_at(object, ".spec.notYet"), KI_ERR_NOT_KEPT);
    ki_object_unref(object);
    object = proto(text, ".spec.notYet", NULL);
    assert_false(ki_object_is_complete(object));
    assert_int_equal(code_at(object, ".spec.notYet"), KI_ERR_NO_SCHEMA);
    assert_int_equal(code_at(object, ".spec.nodeName"), KI_ERR_NOT_KEPT);
    ki_object_unref(object);
    object = proto(text, NULL, ".spec.nodeName");
    assert_int_equal(code_at(object, ".spec.notYet"), KI_ERR_NO_SCHEMA);
    assert_int_equal(code_at(object, ".notYet"), KI_ERR_NO_SCHEMA);
    ki_object_unref(object);
}

static void unknown_kinds_follow_the_rules(void **state)
{
    (void)state;
    ki_projection *projection = compile(".spec.a", NULL);
    static const struct {
        const char *text;
        int code; /* of what is kept */
        const char *name;
    } cases[] = {
        {"1:{1:'w' 6:'9'} 2:{1:'x'}", KI_ERR_NO_SCHEMA, "w"},
        {"1:'no metadata' 2:7", KI_ERR_NO_SCHEMA, ""},
    };
    for (size_t i = 0; i < 2; i++) {
        ki_object *full = test_proto_object("example.org/v1", "Thing", cases[i].text);
        ki_object *object = NULL;
        assert_int_equal(ki_object_project(full, projection, &object, NULL), 0);
        assert_string_equal(ki_object_name(object), cases[i].name);
        assert_int_equal(code_at(object, ".spec"), cases[i].code);
        assert_int_equal(code_at(object, ".status"), KI_ERR_NOT_KEPT);
        assert_string_equal(ki_object_kind(object), "Thing");
        ki_object_unref(full);
        ki_object_unref(object);
    }
    (void)ki_projection_unref(projection);
}

static void dropped_fields_are_not_validated_kept_ones_are(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int code;
    } cases[] = {
        {"1:{1:'w'} 2:{1:'not a volume'}", 0},
        {"1:{1:'w'} 2:{10:7}", KI_ERR_INVALID},
        {"1:{1:'w'} 2:{10:'a' 10:'b'}", KI_ERR_INVALID},
        {"1:{1:'w'} #1205", KI_ERR_SYNTAX},
        {"1:{1:'w'} 2:7", KI_ERR_INVALID},
        {"1:{1:'w'} 2:{#0a}", KI_ERR_SYNTAX},
        {"1:{1:'w' 11:{#0a05}}", KI_ERR_SYNTAX},
    };
    ki_projection *projection = compile(".spec.nodeName,.metadata.labels.a", NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_buf bytes;
        ki_buf_init(&bytes, NULL, 4096);
        test_proto(&bytes, cases[i].text);
        ki_object_options options = KI_OPTIONS_INIT(ki_object_options);
        options.default_kind = "Pod";
        options.default_api_version = "v1";
        options.projection = projection;
        ki_object *object = NULL;
        ki_error error = KI_ERROR_INIT;
        int r = ki_object_from_protobuf(bytes.data, bytes.len, &options, &object, &error);
        assert_int_equal(r, cases[i].code);
        assert_int_equal(error.code, cases[i].code);
        ki_object_unref(object);
        ki_buf_done(&bytes);
    }
    (void)ki_projection_unref(projection);
}

static void json_errors_have_the_received_position(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{\"metadata\":{\"name\":\"w\"},\"spec\":{\"a\":[1,]}}",
        "{\"metadata\":{\"name\":\"w\"},\"spec\":{\"a\":[1,{},}}",
        "{\"metadata\":{\"name\":\"w\",\"name\":\"x\"}}",
        "{\"metadata\":{\"name\":7},\"spec\":{}}",
        "{\"metadata\":{},\"spec\":{\"nodeName\":\"a",
        "{\"metadata\":{},\"spec\":{\"nodeName\":[[[[[",
        "{\"metadata\":{},\"spec\":{\"nodeName\":\"a\"}} x",
        "{\"metadata\":{},\"spec\":[1 2]}",
        "[1,2]",
        "\"text\"",
        "",
    };
    ki_projection *projection = compile(".spec.nodeName", NULL);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        ki_object_options options = KI_OPTIONS_INIT(ki_object_options);
        ki_error plain = KI_ERROR_INIT;
        ki_error error = KI_ERROR_INIT;
        ki_object *object = NULL;
        size_t len = strlen(texts[i]);
        int r = ki_object_from_json(texts[i], len, &options, &object, &plain);
        options.projection = projection;
        assert_true(r < 0);
        assert_int_equal(ki_object_from_json(texts[i], len, &options, &object, &error), r);
        assert_string_equal(error.message, plain.message);
        assert_int_equal(error.offset, plain.offset);
        assert_int_equal(error.column, plain.column);
    }
    (void)ki_projection_unref(projection);
}

/* ---- typed views ---- */

static void check_views(const ki_object *object)
{
    ki_core_v1_Pod view = ki_core_v1_Pod_of(object);
    ki_core_v1_PodSpec spec = ki_core_v1_Pod_spec(view);
    ki_core_v1_PodStatus status = ki_core_v1_Pod_status(view);
    ki_value value;
    ki_text node = ki_core_v1_PodSpec_nodeName(spec);
    assert_true(ki_text_is(node, "n1"));
    assert_int_equal(ki_core_v1_PodSpec_get_nodeName(spec, &value), 0);
    assert_int_equal(ki_core_v1_PodSpec_get_hostname(spec, &value), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_core_v1_PodSpec_get_schedulerName(spec, &value), KI_ERR_NOT_KEPT);
    assert_int_equal(ki_core_v1_Pod_get_status(view, &value), KI_ERR_NOT_KEPT);
    assert_int_equal(ki_core_v1_PodStatus_get_phase(status, &value), KI_ERR_NOT_KEPT);
    assert_int_equal(ki_core_v1_PodSpec_get_initContainers(spec, &value), KI_ERR_NOT_KEPT);
    size_t count = 0;
    KI_EACH(ki_core_v1_Container, c, ki_core_v1_PodSpec_containers(spec))
    {
        assert_int_equal(ki_core_v1_Container_get_name(c, &value), 0);
        assert_int_equal(ki_core_v1_Container_get_image(c, &value), KI_ERR_NOT_KEPT);
        count++;
    }
    assert_int_equal(count, 2);
    ki_core_v1_Container b = ki_core_v1_PodSpec_containers_by_name(spec, "b");
    assert_true(ki_view_exists(b));
    assert_int_equal(ki_core_v1_Container_get_image(b, &value), KI_ERR_NOT_KEPT);
}

static void typed_views_know_what_was_not_kept(void **state)
{
    (void)state;
    static const char keep[] = ".spec.nodeName,.spec.hostname,.spec.containers[*].name";
    ki_object *object = pod(keep, NULL);
    check_views(object);
    ki_object_unref(object);
    object = proto("1:{1:'w'} 2:{2:{1:'a' 2:'i1'} 2:{1:'b' 2:'i2'} 10:'n1' 19:'s'} 3:{1:'Running'}",
                   keep, NULL);
    check_views(object);
    ki_object_unref(object);
    object = proto("1:{1:'w'} 2:{2:{1:'a' 2:'i1'}}", ".spec.containers[*].image", NULL);
    ki_core_v1_PodSpec spec = ki_core_v1_Pod_spec(ki_core_v1_Pod_of(object));
    ki_core_v1_Container a = ki_core_v1_PodSpec_containers_by_name(spec, "a");
    ki_value value;
    assert_false(ki_view_exists(a)); /* its key was not kept */
    assert_int_equal(ki_core_v1_Container_get_image(a, &value), KI_ERR_NOT_KEPT);
    ki_object_unref(object);
}

/* ---- where partial objects are refused ---- */

static void partial_objects_are_not_changed(void **state)
{
    (void)state;
    ki_object *object = pod(".spec.nodeName", NULL);
    ki_object *made = NULL;
    ki_edit *edit = NULL;
    ki_error error = KI_ERROR_INIT;
    assert_int_equal(ki_edit_new(object, NULL, &edit, &error), KI_ERR_NOT_KEPT);
    assert_string_equal(error.message, "Pod shop/web: is partial (keep or drop): get the whole "
                                       "object to change it");
    assert_int_equal(ki_object_merge(object, KI_PATCH_MERGE, ki_str_from("{}"), NULL, &made, NULL),
                     KI_ERR_NOT_KEPT);
    ki_projection *other = compile(".spec", NULL);
    assert_int_equal(ki_object_project(object, other, &made, &error), KI_ERR_NOT_KEPT);
    (void)ki_projection_unref(other);
    ki_object_unref(object);
}

static void kept_fields_are_compared(void **state)
{
    (void)state;
    static const char old[] = "{\"metadata\":{\"name\":\"a\",\"x\":1},\"spec\":{\"a\":1,\"b\":2,"
                              "\"l\":[{\"name\":\"x\",\"v\":1,\"w\":1}]}}";
    static const char new[] = "{\"metadata\":{\"name\":\"a\",\"x\":2},\"spec\":{\"a\":2,\"b\":3,"
                              "\"l\":[{\"name\":\"x\",\"v\":2,\"w\":2}]}}";
    static const char keep[] = ".spec.a,.spec.l[*].name,.spec.l[*].v";
    ki_object *before = from_json(old, keep, NULL);
    ki_object *after = from_json(new, keep, NULL);
    ki_diff *diff = NULL;
    ki_buf patch;
    ki_buf_init(&patch, NULL, 4096);
    assert_int_equal(ki_object_diff(before, after, NULL, &diff, NULL), 0);
    assert_int_equal(ki_diff_count(diff), 2);
    assert_string_equal(ki_diff_at(diff, 0)->path, "spec.a");
    assert_string_equal(ki_diff_at(diff, 1)->path, "spec.l[name=x].v");
    assert_int_equal(ki_object_merge_patch(before, after, &patch, NULL), KI_ERR_NOT_KEPT);
    (void)ki_diff_unref(diff);
    ki_buf_done(&patch);
    ki_object_unref(before);
    ki_object_unref(after);
}

/* ---- decoders ---- */

static void trace_object(const ki_object *object, ki_buf *trace)
{
    assert_int_equal(ki_buf_add_str(trace, ki_object_bytes(object)), 0);
    assert_int_equal(ki_buf_add_text(trace, ki_object_is_partial(object) ? " partial\n" : "\n"), 0);
}

static void trace_events(const ki__wire_options *options, ki_str body, size_t first, size_t step,
                         ki_buf *trace)
{
    ki__watch_decoder decoder;
    ki__watch_decoder_init(&decoder, options);
    for (size_t at = 0, end = first; at < body.len; end = at + step) {
        size_t stop = end < body.len ? end : body.len;
        while (at < stop) {
            ki__watch_event event = {0};
            size_t taken;
            ki_error error = KI_ERROR_INIT;
            int r =
                ki__watch_decoder_feed(&decoder, body.ptr + at, stop - at, &taken, &event, &error);
            at += taken;
            if (r < 0) {
                fail_msg("%s", error.message);
            }
            if (r == 1) {
                assert_non_null(event.item.object);
                trace_object(event.item.object, trace);
                ki_object_unref(event.item.object);
            }
        }
    }
    assert_int_equal(ki__watch_decoder_finish(&decoder, NULL), 0);
    ki__watch_decoder_done(&decoder);
}

static void is_trace(const ki_buf *trace, ki_str expected)
{
    assert_int_equal(trace->len, expected.len);
    assert_memory_equal(trace->data, expected.ptr, expected.len);
}

static void check_splits(const ki__wire_options *options, ki_str body, ki_str expected)
{
    ki_buf trace;
    ki_buf_init(&trace, NULL, 1 << 20);
    for (size_t first = 1; first <= body.len; first++) {
        ki_buf_clear(&trace);
        trace_events(options, body, first, body.len, &trace);
        is_trace(&trace, expected);
    }
    ki_buf_clear(&trace);
    trace_events(options, body, 1, 1, &trace);
    is_trace(&trace, expected);
    ki_buf_done(&trace);
}

static void watches_project_objects_only(void **state)
{
    (void)state;
    static const char events[] =
        "{\"type\":\"ADDED\",\"object\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{"
        "\"name\":\"a\",\"resourceVersion\":\"3\"},\"spec\":{\"nodeName\":\"n\",\"x\":[1]}}}\n"
        "{\"object\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"b\"},"
        "\"spec\":{\"y\":{},\"nodeName\":\"m\"}},\"type\":\"MODIFIED\"}\n"
        "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":"
        "\"9\",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}}\n"
        "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"code\":410,"
        "\"reason\":\"Expired\",\"status\":\"Failure\"}}\n";
    static const char expected[] =
        "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\",\"resourceVersion\":"
        "\"3\"},\"spec\":{\"nodeName\":\"n\"}} partial\n"
        "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"b\"},\"spec\":{"
        "\"nodeName\":\"m\"}} partial\n"
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"resourceVersion\":\"9\","
        "\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}\n"
        "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"code\":410,\"reason\":\"Expired\","
        "\"status\":\"Failure\"}\n";
    ki_projection *projection = compile(".spec.nodeName", NULL);
    const ki__wire_options options = {
        .default_kind = "Pod", .default_api_version = "v1", .projection = projection};
    check_splits(&options, ki_str_from(events), ki_str_from(expected));
    (void)ki_projection_unref(projection);
}

static void protobuf_watches_at_every_split(void **state)
{
    (void)state;
    ki_buf message;
    ki_buf object;
    ki_buf body;
    ki_buf_init(&message, NULL, 4096);
    ki_buf_init(&object, NULL, 4096);
    ki_buf_init(&body, NULL, 4096);
    test_proto(&message, "1:{1:'w' 6:'9' 11:{1:'a' 2:'b'} 11:{1:'c' 2:'d'}} 2:{2:{1:'x'} 10:'n'}");
    test_put_envelope(&object, "v1", "Pod", ki_buf_str(&message));
    test_put_event(&body, "ADDED", ki_buf_str(&object));
    test_put_event(&body, "MODIFIED", ki_buf_str(&object));
    ki_projection *projection = compile(".spec.nodeName,.metadata.labels.c", NULL);
    const ki__wire_options options = {.encoding = KI_ENCODING_PROTOBUF,
                                      .default_kind = "Pod",
                                      .default_api_version = "v1",
                                      .projection = projection};
    ki_buf expected;
    ki_buf_init(&expected, NULL, 4096);
    for (int i = 0; i < 2; i++) {
        test_proto(&expected, "1:{1:'w' 6:'9' 11:{1:'c' 2:'d'}} 2:{10:'n'}");
        test_add(&expected, " partial\n", 1);
    }
    check_splits(&options, ki_buf_str(&body), ki_buf_str(&expected));
    (void)ki_projection_unref(projection);
    ki_buf_done(&expected);
    ki_buf_done(&message);
    ki_buf_done(&object);
    ki_buf_done(&body);
}

/* ---- memory ---- */

static int use_scenario(const ki_alloc *alloc, void *user)
{
    (void)user;
    ki_projection *projection = NULL;
    ki_object *object = NULL;
    ki_object *again = NULL;
    int r = ki_projection_new(".spec.nodeName,.metadata.labels['app'],.a.b.c.d", KI_DROP_USUAL,
                              alloc, &projection, NULL);
    ki_object_options options = KI_OPTIONS_INIT(ki_object_options);
    options.alloc = alloc;
    options.projection = projection;
    r = r < 0 ? r : ki_object_from_json(pod_json, strlen(pod_json), &options, &object, NULL);
    r = r < 0 ? r : ki_object_project(object, projection, &again, NULL);
    assert_true(r < 0 || again == object);
    ki_object_unref(object);
    ki_object_unref(again);
    (void)ki_projection_unref(projection);
    return r;
}

static void survives_failing_allocations(void **state)
{
    (void)state;
    test_alloc_sweep(use_scenario, NULL);
}

static void objects_hold_their_projection(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki_projection *projection = NULL;
    assert_int_equal(ki_projection_new(".spec.nodeName", NULL, &alloc.table, &projection, NULL), 0);
    ki_object_options options = KI_OPTIONS_INIT(ki_object_options);
    options.alloc = &alloc.table;
    options.projection = projection;
    ki_object *object = NULL;
    size_t before = alloc.live_blocks;
    assert_int_equal(ki_object_from_json(pod_json, strlen(pod_json), &options, &object, NULL), 0);
    assert_int_equal(alloc.live_blocks, before + 1);
    (void)ki_projection_unref(projection);
    assert_int_equal(code_at(object, ".spec.nodeName"), 0);
    ki_object_unref(object);
    test_alloc_done(&alloc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_lists_are_refused_by_path),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(nothing_to_drop_keeps_whole_objects),
        cmocka_unit_test(metadata_is_kept_unless_dropped),
        cmocka_unit_test(the_usual_drop),
        cmocka_unit_test(paths_read_what_is_kept),
        cmocka_unit_test(values_know_that_they_were_not_kept),
        cmocka_unit_test(iterations_end_with_what_was_not_kept),
        cmocka_unit_test(kind_helpers_report_it),
        cmocka_unit_test(unknown_fields_are_kept_where_a_name_may_be_theirs),
        cmocka_unit_test(unknown_kinds_follow_the_rules),
        cmocka_unit_test(dropped_fields_are_not_validated_kept_ones_are),
        cmocka_unit_test(json_errors_have_the_received_position),
        cmocka_unit_test(typed_views_know_what_was_not_kept),
        cmocka_unit_test(partial_objects_are_not_changed),
        cmocka_unit_test(kept_fields_are_compared),
        cmocka_unit_test(watches_project_objects_only),
        cmocka_unit_test(protobuf_watches_at_every_split),
        cmocka_unit_test(survives_failing_allocations),
        cmocka_unit_test(objects_hold_their_projection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
