/* SPDX-License-Identifier: Apache-2.0 */
/* Setters of typed views where the golden vectors do not reach: kinds, errors, places that are
 * removed, and the lack of memory. */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include <kinformer/api/apps_v1.h>
#include <kinformer/api/coordination_v1.h>
#include <kinformer/edit.h>
#include <kinformer/encoding.h>

#include "support/test.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#define POD "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"spec\":{\"containers\":[{\"name\":\"a\"}]}}"

/* A type with a duration, which no built-in kind has, and names that are not those in JSON. */
KI_VIEW_TYPE(own_Type)
#define KI_T own_Type
KI_VIEW_BEGIN
KI_VIEW_DURATION(timeout, 1)
KI_VIEW_DURATION_AS(ref, 2, "$ref")
KI_VIEW_INT64_AS(max_size, 3, "max-size")
KI_VIEW_CHILD_AS(own_items, 4, own_Type, "x-items")
KI_VIEW_END
#undef KI_T
KI_VIEW_KIND(own_Type, "example.com/v1", "Own")

static ki_object *from_json(const char *text)
{
    ki_object *object = NULL;
    assert_int_equal(ki_object_from_json(text, strlen(text), NULL, &object, NULL), 0);
    return object;
}

/* An edit of JSON, or from nothing. */
static ki_edit *edit_of(const char *json)
{
    ki_object *object = json != NULL ? from_json(json) : NULL;
    ki_edit *edit = NULL;
    assert_int_equal(ki_edit_new(object, NULL, &edit, NULL), 0);
    ki_object_unref(object);
    return edit;
}

static void check_json(ki_edit *edit, const char *expected)
{
    ki_object *object = NULL;
    ki_error error = KI_ERROR_INIT;
    if (ki_edit_object(edit, &object, &error) < 0) {
        fail_msg("%s", error.message);
    }
    ki_str bytes = ki_object_bytes(object);
    char text[1024];
    assert_true(bytes.len < sizeof(text));
    (void)snprintf(text, sizeof(text), "%.*s", KI_STR_ARG(bytes));
    assert_string_equal(text, expected);
    ki_object_unref(object);
    (void)ki_edit_unref(edit);
}

static void check_failure(ki_edit *edit, int code, const char *message)
{
    ki_object *object = NULL;
    ki_error error = KI_ERROR_INIT;
    assert_int_equal(ki_edit_object(edit, &object, &error), code);
    assert_string_equal(error.message, message);
    assert_null(object);
    (void)ki_edit_unref(edit);
}

/* ---- kinds ---- */

static void an_edit_from_nothing_becomes_the_kind(void **state)
{
    (void)state;
    ki_edit *edit = edit_of(NULL);
    (void)ki_apps_v1_Deployment_edit_of(edit);
    check_json(edit, "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\"}");

    edit = edit_of(NULL);
    (void)ki_core_v1_Node_edit_new(edit, NULL, "n");
    check_json(edit, "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n\"}}");

    edit = edit_of(NULL);
    (void)ki_meta_v1_Status_edit_new(edit, NULL, NULL); /* has several versions */
    check_json(edit, "{\"apiVersion\":\"v1\",\"kind\":\"Status\"}");
}

static void another_kind_is_an_error(void **state)
{
    (void)state;
    ki_edit *edit = edit_of(POD);
    ki_core_v1_NodeSpec_set_unschedulable(ki_core_v1_Node_edit_spec(ki_core_v1_Node_edit_of(edit)),
                                          true);
    check_failure(edit, KI_ERR_TYPE, "path \"kind\": is not Node");

    edit = edit_of("{\"apiVersion\":\"v2\",\"kind\":\"Pod\"}");
    (void)ki_core_v1_Pod_edit_new(edit, "a", "b");
    check_failure(edit, KI_ERR_TYPE, "path \"apiVersion\": is not v1");
}

/* Items of lists have no apiVersion and kind: that they are known is no change. */
static void a_kind_that_is_known_is_not_changed(void **state)
{
    (void)state;
    ki_object *item = NULL;
    ki_edit *edit = NULL;
    ki_object_options options = {.default_kind = "Pod", .default_api_version = "v1"};
    options.size = sizeof(options);
    assert_int_equal(ki_object_from_json("{\"spec\":{}}", 11, &options, &item, NULL), 0);
    assert_int_equal(ki_edit_new(item, NULL, &edit, NULL), 0);
    (void)ki_core_v1_Pod_edit_spec(ki_core_v1_Pod_edit_of(edit));
    ki_buf patch;
    ki_buf_init(&patch, NULL, 1024);
    assert_int_equal(ki_edit_merge_patch(edit, &patch, NULL), 0);
    ki_buf_done(&patch);
    (void)ki_edit_unref(edit);
    assert_int_equal(ki_edit_new(item, NULL, &edit, NULL), 0);
    (void)ki_core_v1_Node_edit_of(edit);
    check_failure(edit, KI_ERR_TYPE, "path \"kind\": is not Node");
    ki_object_unref(item);
}

/* ---- values ---- */

static void every_type_is_written_as_the_api_has_it(void **state)
{
    (void)state;
    ki_edit *edit = edit_of(NULL);
    own_Type_edit own = own_Type_edit_of(edit);
    own_Type_set_timeout(own, 90000000000);
    own_Type_set_ref(own, 0);
    own_Type_set_max_size(own, INT64_MIN);
    own_Type_set_max_size(own_Type_edit_own_items(own), INT64_MAX);
    check_json(edit, "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Own\",\"timeout\":\"1m30s\","
                     "\"$ref\":\"0s\",\"max-size\":-9223372036854775808,"
                     "\"x-items\":{\"max-size\":9223372036854775807}}");

    edit = edit_of("{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\"}");
    ki_coordination_v1_Lease_edit lease = ki_coordination_v1_Lease_edit_of(edit);
    ki_timestamp time = {1769860800, 123456789};
    ki_coordination_v1_LeaseSpec_set_renewTime(ki_coordination_v1_Lease_edit_spec(lease), time);
    ki_meta_v1_ObjectMeta_set_creationTimestamp(ki_coordination_v1_Lease_edit_metadata(lease),
                                                time);
    check_json(edit, "{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\","
                     "\"spec\":{\"renewTime\":\"2026-01-31T12:00:00.123456Z\"},"
                     "\"metadata\":{\"creationTimestamp\":\"2026-01-31T12:00:00Z\"}}");
}

static void text_of_views_is_decoded(void **state)
{
    (void)state;
    ki_object *pod = from_json("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"spec\":{\"nodeName\":"
                               "\"a\\u0026\\n\\u0000b\",\"containers\":[{\"resources\":{\"limits\":"
                               "{\"cpu\":2,\"memory\":\"1Gi\",\"x\":\"\\u0031\"}}}]}}");
    ki_core_v1_PodSpec from = ki_core_v1_Pod_spec(ki_core_v1_Pod_of(pod));
    ki_edit *edit = edit_of("{\"apiVersion\":\"v1\",\"kind\":\"Pod\"}");
    ki_core_v1_PodSpec_edit to = ki_core_v1_Pod_edit_spec(ki_core_v1_Pod_edit_of(edit));
    ki_core_v1_PodSpec_copy_nodeName(to, ki_core_v1_PodSpec_nodeName(from));
    ki_quantity_map limits = ki_core_v1_ResourceRequirements_limits(ki_core_v1_Container_resources(
        ki_core_v1_Container_list_at(ki_core_v1_PodSpec_containers(from), 0)));
    ki_quantity_map_edit overhead = ki_core_v1_PodSpec_edit_overhead(to);
    ki_quantity_map_copy(overhead, "cpu", ki_quantity_map_get(limits, "cpu"));
    ki_quantity_map_copy(overhead, "memory", ki_quantity_map_get(limits, "memory"));
    ki_quantity_map_copy(overhead, "x", ki_quantity_map_get(limits, "x"));
    check_json(edit, "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"spec\":{\"nodeName\":"
                     "\"a\\u0026\\n\\u0000b\",\"overhead\":{\"cpu\":\"2\",\"memory\":\"1Gi\","
                     "\"x\":\"1\"}}}");
    ki_object_unref(pod);
}

static void null_is_replaced(void **state)
{
    (void)state;
    ki_edit *edit = edit_of("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"spec\":null}");
    ki_core_v1_PodSpec_edit spec = ki_core_v1_Pod_edit_spec(ki_core_v1_Pod_edit_of(edit));
    ki_core_v1_PodSpec_set_hostNetwork(spec, true);
    check_json(edit, "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"spec\":{\"hostNetwork\":true}}");
}

/* ---- errors ---- */

typedef void (*change)(ki_core_v1_PodSpec_edit spec);

static void bad_quantity(ki_core_v1_PodSpec_edit spec)
{
    ki_quantity_map_set(ki_core_v1_PodSpec_edit_overhead(spec), "a.b", "1 Gi");
}
static void no_quantity(ki_core_v1_PodSpec_edit spec)
{
    ki_quantity none = {{"", 0, NULL}};
    ki_quantity_map_copy(ki_core_v1_PodSpec_edit_overhead(spec), "cpu", none);
}
static void null_text(ki_core_v1_PodSpec_edit spec)
{
    ki_core_v1_PodSpec_set_nodeName(spec, NULL);
}
static void null_key(ki_core_v1_PodSpec_edit spec)
{
    (void)ki_core_v1_PodSpec_edit_containers_by_name(spec, NULL);
}
static void null_of_two(ki_core_v1_PodSpec_edit spec)
{
    ki_place_set_int_or_string(spec.place, "port", ki_int_or_string_text(NULL));
}
static void no_element(ki_core_v1_PodSpec_edit spec)
{
    ki_core_v1_Container_set_image(
        ki_core_v1_Container_list_edit_at(ki_core_v1_PodSpec_edit_containers(spec), 1), "x");
}
static void no_element_to_remove(ki_core_v1_PodSpec_edit spec)
{
    ki_core_v1_Container_list_remove_at(ki_core_v1_PodSpec_edit_containers(spec), 7);
}
static void view_of_nothing(ki_core_v1_PodSpec_edit spec)
{
    ki_core_v1_PodSpec_set_affinity(spec, ki_core_v1_PodSpec_affinity((ki_core_v1_PodSpec){0}));
}
static void not_finite(ki_core_v1_PodSpec_edit spec)
{
    ki_place_set_double(spec.place, "share", INFINITY);
}
static void no_such_year(ki_core_v1_PodSpec_edit spec)
{
    ki_place_set_time(spec.place, "since", (ki_timestamp){253402300800, 0});
}
static void no_such_nanosecond(ki_core_v1_PodSpec_edit spec)
{
    ki_place_set_micro_time(spec.place, "since", (ki_timestamp){0, 1000000000});
}
static void bad_json(ki_core_v1_PodSpec_edit spec)
{
    ki_place_set_json(spec.place, "any", ki_str_from("{"));
}
static void removed_place(ki_core_v1_PodSpec_edit spec)
{
    ki_core_v1_Container_edit a = ki_core_v1_PodSpec_edit_containers_by_name(spec, "a");
    ki_core_v1_PodSpec_remove_containers(spec);
    ki_core_v1_Container_set_image(a, "x");
}
static void wrong_type_inside(ki_core_v1_PodSpec_edit spec)
{
    ki_core_v1_Container_edit a = ki_core_v1_PodSpec_edit_containers_by_name(spec, "a");
    ki_edit_set_string(a.place.edit, "spec.containers[0].env", "text");
    (void)ki_core_v1_Container_edit_env_by_name(a, "b");
}
static void element_that_is_no_map(ki_core_v1_PodSpec_edit spec)
{
    ki_edit_set_json(spec.place.edit, "spec.containers", ki_str_from("[\"a\", 3]"));
    ki_core_v1_Container_set_image(
        ki_core_v1_Container_list_edit_at(ki_core_v1_PodSpec_edit_containers(spec), 1), "x");
}

static void errors_are_kept_and_name_the_path(void **state)
{
    (void)state;
    static const struct {
        change run;
        int code;
        const char *message;
    } cases[] = {
        {bad_quantity, KI_ERR_INVALID, "path \"spec.overhead['a.b']\": not a quantity"},
        {no_quantity, KI_ERR_INVALID, "path \"spec.overhead.cpu\": not a quantity"},
        {null_text, -EINVAL, "text: must not be NULL"},
        {null_key, -EINVAL, "key: must not be NULL"},
        {null_of_two, -EINVAL, "text: must not be NULL"},
        {no_element, KI_ERR_NOT_FOUND, "path \"spec.containers\": the list has no such element"},
        {no_element_to_remove, KI_ERR_NOT_FOUND,
         "path \"spec.containers\": the list has no such element"},
        {view_of_nothing, KI_ERR_INVALID, "path \"spec.affinity\": no value to set"},
        {not_finite, KI_ERR_RANGE, "path \"spec.share\": out of range"},
        {no_such_year, KI_ERR_RANGE, "path \"spec.since\": not a time"},
        {no_such_nanosecond, KI_ERR_RANGE, "path \"spec.since\": not a time"},
        {removed_place, KI_ERR_NOT_FOUND,
         "place of image: was removed from the object, or replaced"},
        {wrong_type_inside, KI_ERR_TYPE,
         "path \"spec.containers[0].env\": is a string, not a list"},
        {element_that_is_no_map, KI_ERR_TYPE,
         "path \"spec.containers[1]\": is a number, not a map"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_edit *edit = edit_of(POD);
        ki_core_v1_PodSpec_edit spec = ki_core_v1_Pod_edit_spec(ki_core_v1_Pod_edit_of(edit));
        cases[i].run(spec);
        ki_core_v1_PodSpec_set_nodeName(spec, NULL); /* has no effect any more */
        check_failure(edit, cases[i].code, cases[i].message);
    }
    ki_object *object = NULL;
    ki_edit *edit = edit_of(POD);
    bad_json(ki_core_v1_Pod_edit_spec(ki_core_v1_Pod_edit_of(edit)));
    assert_int_equal(ki_edit_object(edit, &object, NULL), KI_ERR_SYNTAX);
    (void)ki_edit_unref(edit);
}

static void no_edit_is_ignored(void **state)
{
    (void)state;
    ki_core_v1_Pod_edit pod = ki_core_v1_Pod_edit_new(NULL, "a", "b");
    ki_core_v1_PodSpec_edit spec = ki_core_v1_Pod_edit_spec(pod);
    ki_core_v1_PodSpec_set_nodeName(spec, "n");
    ki_core_v1_Container_set_image(ki_core_v1_PodSpec_edit_containers_by_name(spec, "a"), "x");
    ki_core_v1_Container_list_remove_at(ki_core_v1_PodSpec_edit_containers(spec), 0);
    ki_core_v1_PodSpec_remove_nodeName(spec);
    assert_null(spec.place.edit);
}

/* ---- memory ---- */

static void fill_pod(ki_edit *edit, ki_core_v1_PodSpec view)
{
    ki_core_v1_PodSpec_edit spec =
        ki_core_v1_Pod_edit_spec(ki_core_v1_Pod_edit_new(edit, "space", "name"));
    ki_core_v1_PodSpec_set_priority(spec, 7);
    ki_core_v1_PodSpec_set_hostNetwork(spec, true);
    ki_core_v1_PodSpec_set_volumes(spec, ki_core_v1_PodSpec_volumes(view));
    ki_core_v1_PodSpec_copy_nodeName(spec, ki_core_v1_PodSpec_nodeName(view));
    ki_quantity_map_set(ki_core_v1_PodSpec_edit_overhead(spec), "cpu", "1m");
    ki_core_v1_Container_edit web = ki_core_v1_PodSpec_edit_containers_by_name(spec, "web");
    ki_text_list_append(ki_core_v1_Container_edit_args(web), "-v");
    ki_core_v1_ContainerPort_edit port =
        ki_core_v1_ContainerPort_list_append(ki_core_v1_Container_edit_ports(web));
    ki_core_v1_ContainerPort_set_containerPort(port, 80);
    ki_place_set_bytes(port.place, "bytes", ki_str_from("ab"));
    ki_place_set_double(port.place, "share", 0.5);
    ki_place_set_duration(port.place, "timeout", 5);
    ki_place_set_json(port.place, "json", ki_str_from("[1]"));
    ki_core_v1_PodSpec_remove_priority(spec);
}

static int fill_scenario(const ki_alloc *alloc, void *user)
{
    const ki_object *from = user;
    ki_edit_options options = {.size = sizeof(options), .alloc = alloc};
    ki_edit *edit = NULL;
    ki_object *object = NULL;
    int r = ki_edit_new(NULL, &options, &edit, NULL);
    if (r == 0) {
        fill_pod(edit, ki_core_v1_Pod_spec(ki_core_v1_Pod_of(from)));
        r = ki_edit_object(edit, &object, NULL);
    }
    ki_object_unref(object);
    (void)ki_edit_unref(edit);
    return r;
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    ki_object *from = from_json("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"spec\":{\"nodeName\":"
                                "\"\\u0041\",\"volumes\":[{\"name\":\"v\"}]}}");
    test_alloc_sweep(fill_scenario, from);
    ki_object_unref(from);
}

/* Many changes of one object take time in proportion to their number, and a limit ends them. */
static void many_elements(void **state)
{
    (void)state;
    enum { MANY = 20000 };
    ki_edit *edit = edit_of(POD);
    ki_core_v1_PodSpec_edit spec = ki_core_v1_Pod_edit_spec(ki_core_v1_Pod_edit_of(edit));
    ki_core_v1_Container_list_edit containers = ki_core_v1_PodSpec_edit_containers(spec);
    for (int i = 0; i < MANY; i++) {
        ki_core_v1_Container_set_tty(ki_core_v1_Container_list_append(containers), true);
    }
    for (int i = 0; i < MANY; i++) {
        ki_core_v1_Container_list_remove_at(containers, 1);
    }
    check_json(edit, POD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_edit_from_nothing_becomes_the_kind),
        cmocka_unit_test(another_kind_is_an_error),
        cmocka_unit_test(a_kind_that_is_known_is_not_changed),
        cmocka_unit_test(every_type_is_written_as_the_api_has_it),
        cmocka_unit_test(text_of_views_is_decoded),
        cmocka_unit_test(null_is_replaced),
        cmocka_unit_test(errors_are_kept_and_name_the_path),
        cmocka_unit_test(no_edit_is_ignored),
        cmocka_unit_test(every_failed_allocation_is_reported),
        cmocka_unit_test(many_elements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
