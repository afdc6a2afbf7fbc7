/* SPDX-License-Identifier: Apache-2.0 */
/* Typed views where the golden vectors do not reach: wrong kinds, wrong types, unknown fields, and
 * strings that are stored in unusual ways. */
#include <errno.h>
#include <stdlib.h>

#include <kinformer/api/apiextensions_v1.h>
#include <kinformer/api/apps_v1.h>
#include <kinformer/api/coordination_v1.h>
#include <kinformer/api/networking_v1.h>
#include <kinformer/error.h>
#include <kinformer/field_selector.h>
#include <kinformer/index.h>
#include <kinformer/path.h>
#include <kinformer/projection.h>

#include "support/proto.h"
#include "support/test.h"

static ki_object *from_json(const char *text)
{
    ki_object *object = NULL;
    assert_int_equal(ki_object_from_json(text, strlen(text), NULL, &object, NULL), 0);
    return object;
}

static void check_text(ki_text text, const char *expected)
{
    char copy[256];
    assert_int_equal(ki_text_copy(text, copy, sizeof(copy)), strlen(expected));
    assert_string_equal(copy, expected);
}

/* ---- kinds ---- */

static void another_kind_is_a_view_of_nothing(void **state)
{
    (void)state;
    ki_object *pod = from_json("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":"
                               "\"a\"},\"spec\":{\"nodeName\":\"n\"}}");
    assert_true(ki_view_exists(ki_core_v1_Pod_of(pod)));
    assert_false(ki_view_exists(ki_core_v1_Node_of(pod)));
    assert_false(ki_view_exists(ki_core_v1_Pod_of(NULL)));
    ki_object *other = from_json("{\"apiVersion\":\"v2\",\"kind\":\"Pod\"}");
    assert_false(ki_view_exists(ki_core_v1_Pod_of(other)));

    ki_core_v1_NodeSpec spec = ki_core_v1_Node_spec(ki_core_v1_Node_of(pod));
    ki_value value;
    check_text(ki_core_v1_NodeSpec_podCIDR(spec), "");
    assert_false(ki_core_v1_NodeSpec_has_unschedulable(spec));
    assert_false(ki_core_v1_NodeSpec_unschedulable(spec));
    assert_int_equal(ki_core_v1_NodeSpec_get_taints(spec, &value), KI_ERR_NOT_FOUND);
    KI_EACH(ki_core_v1_Taint, taint, ki_core_v1_NodeSpec_taints(spec))
    {
        (void)taint;
        fail();
    }
    assert_int_equal(ki_core_v1_Taint_list_count(ki_core_v1_NodeSpec_taints(spec)), 0);
    ki_object_unref(pod);
    ki_object_unref(other);
}

static void kinds_of_every_group_may_have_any_version(void **state)
{
    (void)state;
    ki_object *object = from_json("{\"apiVersion\":\"apps/v1\",\"kind\":\"DeleteOptions\","
                                  "\"gracePeriodSeconds\":7}");
    ki_meta_v1_DeleteOptions options = ki_meta_v1_DeleteOptions_of(object);
    assert_int_equal(ki_meta_v1_DeleteOptions_gracePeriodSeconds(options), 7);
    ki_object_unref(object);
}

/* ---- values that do not fit ---- */

static void wrong_types_read_as_absent(void **state)
{
    (void)state;
    ki_object *object = from_json(
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"spec\":{\"nodeName\":7,\"hostNetwork\":\"x\","
        "\"priority\":5000000000,\"containers\":\"none\",\"activeDeadlineSeconds\":1.5,"
        "\"securityContext\":null,\"nodeSelector\":[1],\"overhead\":{\"cpu\":2,\"memory\":true}},"
        "\"status\":{\"startTime\":\"noon\",\"conditions\":[1,{\"type\":\"Ready\"}]}}");
    ki_core_v1_Pod pod = ki_core_v1_Pod_of(object);
    ki_core_v1_PodSpec spec = ki_core_v1_Pod_spec(pod);
    ki_core_v1_PodStatus status = ki_core_v1_Pod_status(pod);
    check_text(ki_core_v1_PodSpec_nodeName(spec), "");
    assert_true(ki_core_v1_PodSpec_has_nodeName(spec));
    assert_false(ki_core_v1_PodSpec_hostNetwork(spec));
    assert_int_equal(ki_core_v1_PodSpec_priority(spec), 0);
    assert_int_equal(ki_core_v1_PodSpec_activeDeadlineSeconds(spec), 0);
    assert_int_equal(ki_core_v1_Container_list_count(ki_core_v1_PodSpec_containers(spec)), 0);
    assert_false(ki_core_v1_PodSpec_has_securityContext(spec));
    assert_false(
        ki_core_v1_PodSecurityContext_has_runAsUser(ki_core_v1_PodSpec_securityContext(spec)));
    check_text(ki_text_map_get(ki_core_v1_PodSpec_nodeSelector(spec), "a"), "");
    ki_quantity_map overhead = ki_core_v1_PodSpec_overhead(spec);
    assert_int_equal(ki_quantity_int64_or(ki_quantity_map_get(overhead, "cpu"), -1), 2);
    assert_int_equal(ki_quantity_int64_or(ki_quantity_map_get(overhead, "memory"), -1), -1);
    assert_int_equal(ki_quantity_milli_or(ki_quantity_map_get(overhead, "gpu"), -1), -1);
    assert_int_equal(ki_core_v1_PodStatus_startTime(status).seconds, 0);
    assert_true(ki_view_exists(ki_core_v1_PodStatus_conditions_by_type(status, "Ready")));
    ki_value value;
    assert_int_equal(ki_core_v1_PodSpec_get_securityContext(spec, &value), 0);
    assert_int_equal(ki_value_type(&value), KI_TYPE_NULL);
    ki_object_unref(object);
}

static void unknown_fields_differ_from_absent_ones(void **state)
{
    (void)state;
    ki_value value;
    ki_object *object = test_proto_object("v1", "Pod", "2:{10:'node-7' 200:'of a later release'}");
    ki_core_v1_PodSpec view = ki_core_v1_Pod_spec(ki_core_v1_Pod_of(object));
    check_text(ki_core_v1_PodSpec_nodeName(view), "node-7");
    const ki_value *at = &view.value;
    assert_int_equal(ki_view_get(at, KI_VIEW_FIELD(200, "new"), &value), KI_ERR_NO_SCHEMA);
    assert_int_equal(ki_view_get(at, KI_VIEW_FIELD(201, "newer"), &value), KI_ERR_NOT_FOUND);
    /* As if something were inline that is not, and the other way round. */
    assert_int_equal(ki_view_get(at, KI_VIEW_FIELD(0x0a01, "odd"), &value), KI_ERR_NO_SCHEMA);
    assert_int_equal(ki_view_get(at, KI_VIEW_FIELD(0xc801, "odd"), &value), KI_ERR_NO_SCHEMA);
    assert_false(ki_view_has(at, KI_VIEW_FIELD(200, "new")));
    /* A field of another type. */
    assert_int_equal(ki_view_int64(at, KI_VIEW_FIELD(10, "nodeName"), 5), 5);
    assert_int_equal(ki_view_time(at, KI_VIEW_FIELD(10, "nodeName")).seconds, 0);
    assert_int_equal(ki_view_bytes(at, KI_VIEW_FIELD(10, "nodeName")).len, 0);
    assert_int_equal(ki_view_get(NULL, 1, "a", &value), -EINVAL);
    ki_object_unref(object);
}

/* The same in both encodings; an empty string of protobuf is an absent one. */
static void absent_fields_have_the_default_of_the_api(void **state)
{
    (void)state;
    ki_object *objects[] = {
        from_json("{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"spec\":{\"ports\":[{\"port\":1},"
                  "{\"port\":2,\"protocol\":\"UDP\"}]}}"),
        test_proto_object("v1", "Service", "2:{1:{2:'' 3:1} 1:{2:'UDP' 3:2}}"),
    };
    for (size_t i = 0; i < 2; i++) {
        ki_core_v1_ServicePort_list ports = ki_core_v1_ServiceSpec_ports(
            ki_core_v1_Service_spec(ki_core_v1_Service_of(objects[i])));
        ki_core_v1_ServicePort first = ki_core_v1_ServicePort_list_at(ports, 0);
        check_text(ki_core_v1_ServicePort_protocol(first), KI_CORE_V1_Protocol_TCP);
        assert_false(ki_core_v1_ServicePort_has_protocol(first));
        assert_int_equal(ki_core_v1_ServicePort_port(first), 1);
        ki_core_v1_ServicePort second = ki_core_v1_ServicePort_list_at(ports, 1);
        check_text(ki_core_v1_ServicePort_protocol(second), KI_CORE_V1_Protocol_UDP);
        assert_false(ki_view_exists(ki_core_v1_ServicePort_list_at(ports, 2)));
        ki_object_unref(objects[i]);
    }
}

/* ---- strings ---- */

static void escapes_are_decoded(void **state)
{
    (void)state;
    char room[16];
    ki_object *object = from_json(
        "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"a\",\"annotations\":"
        "{\"k\\u0065y\":\"a \\u0026 b\"}},\"data\":{\"x\":\"\\u0059W\\/=\",\"y\":\"YWI=\",\"z\":"
        "\"?\"},\"type\":\"Opa\\u0071ue\"}");
    ki_core_v1_Secret secret = ki_core_v1_Secret_of(object);
    ki_text type = ki_core_v1_Secret_type(secret);
    assert_non_null(type.encoding);
    assert_true(ki_text_is(type, KI_CORE_V1_SecretType_Opaque));
    assert_false(ki_text_is(type, "Opa\\u0071ue"));
    assert_string_equal(ki_text_or(type, "?", room, sizeof(room)), "Opaque");
    assert_string_equal(ki_text_or(type, "?", room, 6), "?");
    ki_text_map annotations = ki_meta_v1_ObjectMeta_annotations(ki_core_v1_Secret_metadata(secret));
    check_text(ki_text_map_get(annotations, "key"), "a & b");
    KI_EACH_ENTRY(ki_text, key, value, annotations)
    {
        check_text(key, "key");
        check_text(value, "a & b");
    }
    ki_bytes_map data = ki_core_v1_Secret_data(secret);
    assert_int_equal(ki_bytes_copy(ki_bytes_map_get(data, "y"), room, 2), 2);
    assert_memory_equal(room, "ab", 2);
    assert_int_equal(ki_bytes_copy(ki_bytes_map_get(data, "y"), room, 1), KI_ERR_LIMIT);
    assert_int_equal(ki_bytes_copy(ki_bytes_map_get(data, "z"), room, 9), KI_ERR_INVALID);
    assert_int_equal(ki_bytes_copy(ki_bytes_map_get(data, "none"), room, 9), 0);
    assert_int_equal(ki_bytes_copy(ki_bytes_map_get(data, "x"), room, 9), 2);
    assert_memory_equal(room, "ao", 2);
    ki_object_unref(object);
}

static void times_have_fractions(void **state)
{
    (void)state;
    ki_object *object = from_json("{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\","
                                  "\"spec\":{\"renewTime\":\"2026-01-31T13:00:00.123456+01:00\"}}");
    ki_timestamp time = ki_coordination_v1_LeaseSpec_renewTime(
        ki_coordination_v1_Lease_spec(ki_coordination_v1_Lease_of(object)));
    assert_int_equal(time.seconds, 1769860800);
    assert_int_equal(time.nanos, 123456000);
    ki_object_unref(object);
}

/* ---- names ---- */

static void names_that_c_does_not_allow(void **state)
{
    (void)state;
    ki_object *object = from_json(
        "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\","
        "\"spec\":{\"versions\":[{\"name\":\"v1\",\"schema\":{\"openAPIV3Schema\":{"
        "\"$ref\":\"r\",\"x-kubernetes-int-or-string\":true,\"default\":[1],\"items\":{\"type\":"
        "\"string\"}}}}]}}");
    ki_apiextensions_v1_CustomResourceDefinitionVersion version =
        ki_apiextensions_v1_CustomResourceDefinitionVersion_list_at(
            ki_apiextensions_v1_CustomResourceDefinitionSpec_versions(
                ki_apiextensions_v1_CustomResourceDefinition_spec(
                    ki_apiextensions_v1_CustomResourceDefinition_of(object))),
            0);
    ki_apiextensions_v1_JSONSchemaProps schema =
        ki_apiextensions_v1_CustomResourceValidation_openAPIV3Schema(
            ki_apiextensions_v1_CustomResourceDefinitionVersion_schema(version));
    check_text(ki_apiextensions_v1_JSONSchemaProps_ref(schema), "r");
    assert_true(ki_apiextensions_v1_JSONSchemaProps_x_kubernetes_int_or_string(schema));
    ki_value value = ki_apiextensions_v1_JSONSchemaProps_default(schema);
    assert_int_equal(ki_value_count(&value), 1);
    ki_object_unref(object);
}

static void names_of_macros(void **state)
{
    (void)state;
    ki_object *object =
        from_json("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"spec\":{\"containers\":"
                  "[{\"name\":\"a\",\"stdin\":true}]}}");
    ki_core_v1_Container container =
        ki_core_v1_PodSpec_containers_by_name(ki_core_v1_Pod_spec(ki_core_v1_Pod_of(object)), "a");
    assert_true(ki_core_v1_Container_stdin(container));
    ki_object_unref(object);
}

/* ---- loops and paths ---- */

static void loops_can_be_left(void **state)
{
    (void)state;
    ki_object *object = from_json(
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"labels\":{\"a\":\"1\",\"b\":\"2\","
        "\"c\":\"3\"}},\"spec\":{\"containers\":[{\"name\":\"a\",\"args\":[\"1\",\"2\"]},"
        "{\"name\":\"b\",\"args\":[\"3\"]},{\"name\":\"c\"}]}}");
    ki_core_v1_Pod pod = ki_core_v1_Pod_of(object);
    size_t containers = 0;
    size_t args = 0;
    size_t labels = 0;
    KI_EACH(ki_core_v1_Container, c, ki_core_v1_PodSpec_containers(ki_core_v1_Pod_spec(pod)))
    {
        KI_EACH(ki_text, arg, ki_core_v1_Container_args(c))
        {
            if (ki_text_is(arg, "1")) {
                continue;
            }
            args++;
        }
        containers++;
        if (ki_text_is(ki_core_v1_Container_name(c), "b")) {
            break;
        }
    }
    KI_EACH_ENTRY(ki_text, key, value, ki_meta_v1_ObjectMeta_labels(ki_core_v1_Pod_metadata(pod)))
    {
        labels++;
        if (ki_text_is(key, "b") && ki_text_is(value, "2")) {
            break;
        }
    }
    assert_int_equal(containers, 2);
    assert_int_equal(args, 2);
    assert_int_equal(labels, 2);
    ki_object_unref(object);
}

static const char *const paths[] = {
    KI_PATH(core_v1, Pod, spec.nodeName),
    KI_PATH(core_v1, Pod, spec.containers[0].ports[0].containerPort),
    KI_PATH(apps_v1, Deployment, spec.template.metadata.labels),
    KI_PATH(networking_v1, Ingress, spec.rules[0].http.paths[0].path),
    KI_PATH(networking_v1, Ingress, spec.rules->http.paths->path),
};

static void paths_are_text(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "spec.nodeName", "spec.containers[0].ports[0].containerPort",
        "spec.template.metadata.labels", "spec.rules[0].http.paths[0].path",
        "spec.rules->http.paths->path"};
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        ki_path *path = NULL;
        assert_string_equal(paths[i], texts[i]);
        assert_int_equal(ki_path_compile(paths[i], NULL, &path, NULL), 0);
        ki_path_unref(path);
    }
}

/* Paths that the compiler checks are accepted wherever the library takes paths. */
static void paths_serve_projections_indexes_and_selectors(void **state)
{
    (void)state;
    static const char *const keep =
        KI_PATHS(core_v1, Pod, spec.nodeName, status.phase, spec.containers->image);
    static const char *const field =
        KI_FIELD(core_v1, Pod, spec.nodeName, "=n,status.phase!=Failed");
    assert_string_equal(keep, "spec.nodeName, status.phase, spec.containers->image");
    assert_string_equal(KI_PATHS(core_v1, Pod, spec.nodeName), "spec.nodeName");
    ki_projection *projection = NULL;
    ki_field_selector *selector = NULL;
    ki_path *path = NULL;
    ki_index index = {0};
    assert_int_equal(ki_projection_new(keep, NULL, NULL, &projection, NULL), 0);
    assert_int_equal(ki_field_selector_parse(field, NULL, &selector, NULL), 0);
    assert_int_equal(ki_path_compile(KI_PATH(core_v1, Pod, spec.nodeName), NULL, &path, NULL), 0);
    assert_int_equal(ki_index_by_path("node", path, NULL, &index), 0);

    const char *text = "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"spec\":{\"nodeName\":\"n\","
                       "\"hostNetwork\":true,\"containers\":[{\"name\":\"a\",\"image\":\"i\"}]},"
                       "\"status\":{\"phase\":\"Running\"}}";
    const ki_object_options options = {.size = sizeof(options), .projection = projection};
    ki_object *pod = NULL;
    ki_value value;
    assert_int_equal(ki_object_from_json(text, strlen(text), &options, &pod, NULL), 0);
    ki_core_v1_PodSpec spec = ki_core_v1_Pod_spec(ki_core_v1_Pod_of(pod));
    check_text(ki_core_v1_PodSpec_nodeName(spec), "n");
    assert_int_equal(ki_core_v1_PodSpec_get_hostNetwork(spec, &value), KI_ERR_NOT_KEPT);
    ki_core_v1_Container first =
        ki_core_v1_Container_list_at(ki_core_v1_PodSpec_containers(spec), 0);
    check_text(ki_core_v1_Container_image(first), "i");
    assert_int_equal(ki_core_v1_Container_get_name(first, &value), KI_ERR_NOT_KEPT);
    assert_true(ki_field_selector_matches(selector, pod));
    ki_index_done(&index);
    ki_path_unref(path);
    ki_field_selector_unref(selector);
    ki_projection_unref(projection);
    ki_object_unref(pod);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_kind_is_a_view_of_nothing),
        cmocka_unit_test(kinds_of_every_group_may_have_any_version),
        cmocka_unit_test(wrong_types_read_as_absent),
        cmocka_unit_test(unknown_fields_differ_from_absent_ones),
        cmocka_unit_test(absent_fields_have_the_default_of_the_api),
        cmocka_unit_test(escapes_are_decoded),
        cmocka_unit_test(times_have_fractions),
        cmocka_unit_test(names_that_c_does_not_allow),
        cmocka_unit_test(names_of_macros),
        cmocka_unit_test(loops_can_be_left),
        cmocka_unit_test(paths_are_text),
        cmocka_unit_test(paths_serve_projections_indexes_and_selectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
