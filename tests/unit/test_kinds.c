/* SPDX-License-Identifier: Apache-2.0 */
/* The helpers for common kinds. Every object is read from JSON and from the protobuf of the same
 * object. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <kinformer/encoding.h>
#include <kinformer/kinds.h>

#include "support/objects.h"
#include "support/test.h"

typedef void (*check)(const ki_object *object);

/* Runs the check on an object in both encodings. */
static void in_both(const char *json, check run)
{
    ki_object *object = test_object(NULL, json);
    run(object);
    ki_buf bytes;
    ki_buf_init(&bytes, NULL, 1 << 20);
    ki_error error = KI_ERROR_INIT;
    if (ki_object_write_protobuf(object, &bytes, &error) < 0) {
        fail_msg("%s: %s", error.message, json);
    }
    ki_object *other = NULL;
    assert_int_equal(ki_object_from_protobuf(bytes.data, bytes.len, NULL, &other, &error), 0);
    assert_int_equal(ki_object_encoding(other), KI_ENCODING_PROTOBUF);
    run(other);
    ki_object_unref(other);
    ki_object_unref(object);
    ki_buf_done(&bytes);
}

/* Runs the check on an object that no server would send. */
static void in_json(const char *json, check run)
{
    ki_object *object = test_object(NULL, json);
    run(object);
    ki_object_unref(object);
}

static void assert_none(ki_value value)
{
    assert_int_equal(ki_value_type(&value), KI_TYPE_NONE);
}

static void assert_value(ki_value value, const char *text)
{
    assert_true(ki_value_equals(&value, ki_str_from(text)));
}

/* ---- conditions ---- */

static void check_conditions(const ki_object *object)
{
    ki_value ready = ki_object_condition(object, "Ready");
    ki_value reason;
    assert_int_equal(ki_value_member(&ready, ki_str_from("reason"), &reason), 0);
    assert_value(reason, "KubeletReady");
    assert_true(ki_object_condition_is_true(object, "Ready"));
    assert_false(ki_object_condition_is_true(object, "DiskPressure"));
    assert_false(ki_object_condition_is_true(object, "PIDPressure"));
    assert_false(ki_object_condition_is_true(object, "ready"));
    assert_none(ki_object_condition(object, "x"));
}

static void a_condition_is_found_by_its_type(void **state)
{
    (void)state;
    in_both("{'apiVersion':'v1','kind':'Node','metadata':{'name':'n'},'status':{'conditions':["
            "{'type':'DiskPressure','status':'False'},{'type':'PIDPressure','status':'Unknown'},"
            "{'type':'Ready','status':'True','reason':'KubeletReady'}]}}",
            check_conditions);
}

static void check_no_conditions(const ki_object *object)
{
    assert_none(ki_object_condition(object, "Ready"));
    assert_false(ki_object_condition_is_true(object, "Ready"));
    assert_false(ki_pod_is_ready(object));
    assert_false(ki_node_is_ready(object));
    assert_false(ki_job_is_complete(object));
    assert_false(ki_job_is_failed(object));
}

static void conditions_of_a_wrong_shape_are_none(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{}",
        "{'status':7}",
        "{'status':{'conditions':null}}",
        "{'status':{'conditions':{'Ready':{'type':'Ready','status':'True'}}}}",
        "{'status':{'conditions':['Ready',7,null,[{'type':'Ready','status':'True'}]]}}",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        in_json(texts[i], check_no_conditions);
    }
    ki_object *object = test_object(NULL, "{'status':{'conditions':[{'type':'Ready','status':true},"
                                          "{'type':'Ready','status':'True'}]}}");
    assert_false(ki_pod_is_ready(object)); /* the first counts */
    ki_object_unref(object);
}

/* ---- pods and nodes ---- */

static void check_pod(const ki_object *pod)
{
    assert_str(ki_pod_phase(pod), "Running");
    assert_str(ki_pod_node_name(pod), "node-7");
    assert_str(ki_pod_ip(pod), "10.0.0.9");
    assert_true(ki_pod_is_ready(pod));
    assert_int_equal(ki_pod_container_count(pod), 3);
    assert_int_equal(ki_pod_ready_count(pod), 1);
    assert_int_equal(ki_pod_restarts(pod), 12);
}

static void a_running_pod_tells_where_and_how_it_is(void **state)
{
    (void)state;
    in_both("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p'},'spec':{'nodeName':'node-7',"
            "'initContainers':[{'name':'i'}],"
            "'containers':[{'name':'a'},{'name':'b'},{'name':'c'}]},"
            "'status':{'phase':'Running','podIP':'10.0.0.9',"
            "'conditions':[{'type':'Ready','status':'True'}],"
            "'initContainerStatuses':[{'name':'i','ready':true,'restartCount':100}],"
            "'containerStatuses':[{'name':'a','ready':true,'restartCount':5},"
            "{'name':'b','ready':false,'restartCount':7},{'name':'c','ready':false}]}}",
            check_pod);
}

static void check_new_pod(const ki_object *pod)
{
    assert_str(ki_pod_phase(pod), "Pending");
    assert_str(ki_pod_node_name(pod), "");
    assert_str(ki_pod_ip(pod), "");
    assert_false(ki_pod_is_ready(pod));
    assert_int_equal(ki_pod_container_count(pod), 1);
    assert_int_equal(ki_pod_ready_count(pod), 0);
    assert_int_equal(ki_pod_restarts(pod), 0);
}

static void a_new_pod_is_nowhere(void **state)
{
    (void)state;
    in_both("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p'},"
            "'spec':{'containers':[{'name':'a'}]},'status':{'phase':'Pending'}}",
            check_new_pod);
}

static void check_nothing_in_pod(const ki_object *pod)
{
    assert_str(ki_pod_phase(pod), "");
    assert_str(ki_pod_node_name(pod), "");
    assert_int_equal(ki_pod_container_count(pod), 0);
    assert_int_equal(ki_pod_ready_count(pod), 0);
    assert_int_equal(ki_pod_restarts(pod), 0);
}

static void a_pod_of_a_wrong_shape_has_nothing(void **state)
{
    (void)state;
    in_json("{'spec':{'nodeName':7,'containers':{'a':{}}},"
            "'status':{'phase':['Running'],'containerStatuses':{'a':{'restartCount':1}}}}",
            check_nothing_in_pod);
    in_json("{'spec':null,'status':{'containerStatuses':[7,{'ready':'true','restartCount':-3},"
            "{'ready':null,'restartCount':'4'},{'restartCount':0.5}]}}",
            check_nothing_in_pod);
}

static void check_restarts_beyond(const ki_object *pod)
{
    assert_int_equal(ki_pod_restarts(pod), 2 * (int64_t)INT32_MAX);
}

static void restarts_do_not_overflow(void **state)
{
    (void)state;
    in_json("{'status':{'containerStatuses':[{'restartCount':9223372036854775807},"
            "{'restartCount':2147483648}]}}",
            check_restarts_beyond);
}

static void words_with_escapes_are_empty_but_compare(void **state)
{
    (void)state;
    ki_object *object = test_object(NULL, "{'status':{'phase':'\\u0052unning','conditions':["
                                          "{'type':'\\u0052eady','status':'T\\u0072ue'}]}}");
    assert_str(ki_pod_phase(object), "");
    assert_true(ki_pod_is_ready(object));
    ki_object_unref(object);
}

static void check_cordoned(const ki_object *node)
{
    assert_true(ki_node_is_unschedulable(node));
    assert_false(ki_node_is_ready(node));
}

static void check_good_node(const ki_object *node)
{
    assert_false(ki_node_is_unschedulable(node));
    assert_true(ki_node_is_ready(node));
}

static void a_node_is_ready_or_cordoned(void **state)
{
    (void)state;
    in_both("{'apiVersion':'v1','kind':'Node','metadata':{'name':'n'},"
            "'spec':{'unschedulable':true},"
            "'status':{'conditions':[{'type':'Ready','status':'Unknown'}]}}",
            check_cordoned);
    in_both("{'apiVersion':'v1','kind':'Node','metadata':{'name':'n'},"
            "'status':{'conditions':[{'type':'Ready','status':'True'}]}}",
            check_good_node);
}

/* ---- workloads ---- */

typedef int (*replicas_function)(const ki_object *object, ki_replicas *ret_replicas);

static ki_replicas replicas_of(replicas_function function, const ki_object *object)
{
    ki_replicas r = {0};
    assert_int_equal(function(object, &r), 0);
    return r;
}

static void assert_replicas(ki_replicas r, int32_t desired, int32_t total, int32_t ready,
                            int32_t available, int32_t updated)
{
    assert_int_equal(r.desired, desired);
    assert_int_equal(r.total, total);
    assert_int_equal(r.ready, ready);
    assert_int_equal(r.available, available);
    assert_int_equal(r.updated, updated);
}

static void check_deployment(const ki_object *object)
{
    ki_replicas r = replicas_of(ki_deployment_replicas, object);
    assert_replicas(r, 5, 6, 4, 3, 2);
    assert_true(r.observed);
}

static void check_late_deployment(const ki_object *object)
{
    ki_replicas r = replicas_of(ki_deployment_replicas, object);
    assert_replicas(r, 0, 6, 0, 0, 0);
    assert_false(r.observed);
}

static void a_deployment_has_replicas(void **state)
{
    (void)state;
    in_both("{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'d','generation':3},"
            "'spec':{'replicas':5},'status':{'observedGeneration':3,'replicas':6,"
            "'readyReplicas':4,'availableReplicas':3,'updatedReplicas':2}}",
            check_deployment);
    in_both("{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'d','generation':4},"
            "'spec':{'replicas':0},'status':{'observedGeneration':3,'replicas':6}}",
            check_late_deployment);
}

static void check_replica_set(const ki_object *object)
{
    assert_replicas(replicas_of(ki_replicaset_replicas, object), 1, 6, 4, 3, 6);
}

static void a_replica_set_is_always_up_to_date(void **state)
{
    (void)state;
    in_both("{'apiVersion':'apps/v1','kind':'ReplicaSet','metadata':{'name':'d'},'status':"
            "{'replicas':6,'readyReplicas':4,'availableReplicas':3}}",
            check_replica_set);
}

static void check_stateful_set(const ki_object *object)
{
    assert_replicas(replicas_of(ki_statefulset_replicas, object), 5, 6, 4, 3, 2);
}

static void a_stateful_set_counts_all_its_pods(void **state)
{
    (void)state;
    in_both("{'apiVersion':'apps/v1','kind':'StatefulSet','metadata':{'name':'d'},"
            "'spec':{'replicas':5,'serviceName':'s'},'status':{'replicas':6,'currentReplicas':1,"
            "'readyReplicas':4,'availableReplicas':3,'updatedReplicas':2}}",
            check_stateful_set);
}

static void check_daemon_set(const ki_object *object)
{
    ki_replicas r = replicas_of(ki_daemonset_replicas, object);
    assert_replicas(r, 5, 6, 4, 3, 2);
    assert_false(r.observed);
}

static void a_daemon_set_wants_what_its_status_says(void **state)
{
    (void)state;
    in_both("{'apiVersion':'apps/v1','kind':'DaemonSet','metadata':{'name':'d','generation':2},"
            "'status':{'observedGeneration':1,'desiredNumberScheduled':5,"
            "'currentNumberScheduled':6,'numberReady':4,'numberAvailable':3,"
            "'updatedNumberScheduled':2,'numberMisscheduled':9}}",
            check_daemon_set);
}

static void replicas_of_a_wrong_shape_are_the_default(void **state)
{
    (void)state;
    ki_object *object = test_object(
        NULL, "{'spec':{'replicas':'5'},'status':{'replicas':-1,'readyReplicas':2147483648,"
              "'observedGeneration':'3'}}");
    ki_replicas r = replicas_of(ki_deployment_replicas, object);
    assert_replicas(r, 1, 0, INT32_MAX, 0, 0);
    assert_true(r.observed); /* there is no generation to be behind */
    ki_object_unref(object);
    object = test_object(NULL, "{}");
    assert_replicas(replicas_of(ki_daemonset_replicas, object), 0, 0, 0, 0, 0);
    ki_object_unref(object);
}

static void check_complete_job(const ki_object *job)
{
    assert_true(ki_job_is_complete(job));
    assert_false(ki_job_is_failed(job));
}

static void check_failed_job(const ki_object *job)
{
    assert_false(ki_job_is_complete(job));
    assert_true(ki_job_is_failed(job));
}

static void a_job_ends_in_one_of_two_ways(void **state)
{
    (void)state;
    in_both("{'apiVersion':'batch/v1','kind':'Job','metadata':{'name':'j'},'status':{"
            "'conditions':[{'type':'Complete','status':'True'}]}}",
            check_complete_job);
    in_both("{'apiVersion':'batch/v1','kind':'Job','metadata':{'name':'j'},'status':{'failed':3,"
            "'conditions':[{'type':'FailureTarget','status':'True'},"
            "{'type':'Failed','status':'True'}]}}",
            check_failed_job);
    in_both("{'apiVersion':'batch/v1','kind':'Job','metadata':{'name':'j'},'status':{'active':1}}",
            check_no_conditions);
}

/* ---- services and namespaces ---- */

static void check_load_balancer(const ki_object *service)
{
    assert_str(ki_service_type(service), "LoadBalancer");
    assert_str(ki_service_cluster_ip(service), "10.96.0.1");
}

static void check_headless(const ki_object *service)
{
    assert_str(ki_service_type(service), "ClusterIP");
    assert_str(ki_service_cluster_ip(service), "None");
}

static void a_service_has_a_type_and_an_address(void **state)
{
    (void)state;
    in_both("{'apiVersion':'v1','kind':'Service','metadata':{'name':'s'},"
            "'spec':{'type':'LoadBalancer','clusterIP':'10.96.0.1'}}",
            check_load_balancer);
    in_both("{'apiVersion':'v1','kind':'Service','metadata':{'name':'s'},"
            "'spec':{'clusterIP':'None'}}",
            check_headless);
}

static void check_namespace(const ki_object *name_space)
{
    assert_str(ki_namespace_phase(name_space), "Terminating");
}

static void a_namespace_has_a_phase(void **state)
{
    (void)state;
    in_both("{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'n'},"
            "'status':{'phase':'Terminating'}}",
            check_namespace);
}

/* ---- data ---- */

typedef int (*copy_function)(const ki_object *object, const char *key, ki_buf *out);

/* What is copied goes behind what is there, and into exactly the room it needs. */
static void check_copy(copy_function copy, const ki_object *object, const char *key,
                       const char *bytes, size_t len)
{
    ki_buf out;
    ki_buf_init(&out, NULL, len + 2);
    assert_int_equal(ki_buf_add_text(&out, "<>"), 0);
    assert_int_equal(copy(object, key, &out), 0);
    assert_int_equal(out.len, len + 2);
    assert_memory_equal(out.data, "<>", 2);
    assert_memory_equal(out.data + 2, bytes, len);
    ki_buf_done(&out);
    if (len != 0) {
        ki_buf_init(&out, NULL, len - 1);
        assert_int_equal(copy(object, key, &out), KI_ERR_LIMIT);
        assert_int_equal(out.len, 0);
        ki_buf_done(&out);
    }
}

static void check_no_copy(copy_function copy, const ki_object *object, const char *key, int r)
{
    ki_buf out;
    ki_buf_init(&out, NULL, 100);
    assert_int_equal(ki_buf_add_text(&out, "<>"), 0);
    assert_int_equal(copy(object, key, &out), r);
    assert_string_equal(ki_buf_text(&out), "<>");
    ki_buf_done(&out);
}

static void check_config_map(const ki_object *map)
{
    ki_value value;
    assert_int_equal(ki_configmap_get(map, "a.conf", &value), 0);
    assert_value(value, "one\ntwo");
    assert_int_equal(ki_configmap_get(map, "logo", &value), KI_ERR_NOT_FOUND);
    check_copy(ki_configmap_copy, map, "a.conf", "one\ntwo", 7);
    check_copy(ki_configmap_copy, map, "empty", "", 0);
    check_copy(ki_configmap_copy, map, "logo", "\0\1\377", 3);
    check_no_copy(ki_configmap_copy, map, "x", KI_ERR_NOT_FOUND);
}

static void a_config_map_has_text_and_bytes(void **state)
{
    (void)state;
    in_both("{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'c'},"
            "'data':{'a.conf':'one\\ntwo','empty':''},'binaryData':{'logo':'AAH/'}}",
            check_config_map);
}

static void check_secret(const ki_object *secret)
{
    check_copy(ki_secret_copy, secret, "password", "open sesame", 11);
    check_copy(ki_secret_copy, secret, "bytes", "\0\1\377\376", 4);
    check_copy(ki_secret_copy, secret, "empty", "", 0);
    check_no_copy(ki_secret_copy, secret, "x", KI_ERR_NOT_FOUND);
    check_no_copy(ki_secret_copy, secret, "", KI_ERR_NOT_FOUND);
}

static void a_secret_is_decoded(void **state)
{
    (void)state;
    in_both("{'apiVersion':'v1','kind':'Secret','metadata':{'name':'s'},"
            "'data':{'password':'b3BlbiBzZXNhbWU=','bytes':'AAH//g==','empty':''}}",
            check_secret);
}

static void check_odd_secret(const ki_object *secret)
{
    check_copy(ki_secret_copy, secret, "escaped", "\0\1\377", 3);
    check_copy(ki_secret_copy, secret, "lines", "\0\1\377", 3);
    check_copy(ki_secret_copy, secret, "null", "", 0);
    check_no_copy(ki_secret_copy, secret, "short", KI_ERR_INVALID);
    check_no_copy(ki_secret_copy, secret, "odd", KI_ERR_INVALID);
    check_no_copy(ki_secret_copy, secret, "escaped odd", KI_ERR_INVALID);
    check_no_copy(ki_secret_copy, secret, "number", KI_ERR_TYPE);
    check_no_copy(ki_configmap_copy, secret, "number", KI_ERR_TYPE);
}

static void what_is_no_base64_leaves_the_buffer_alone(void **state)
{
    (void)state;
    in_json("{'data':{'escaped':'AAH\\/','lines':'AA\\nH/','null':null,'short':'AAH',"
            "'odd':'A*H/','escaped odd':'A*H\\/','number':7}}",
            check_odd_secret);
}

static void check_no_data(const ki_object *object)
{
    check_no_copy(ki_secret_copy, object, "a", KI_ERR_NOT_FOUND);
    check_no_copy(ki_configmap_copy, object, "a", KI_ERR_NOT_FOUND);
}

static void no_data_is_not_found(void **state)
{
    (void)state;
    in_both("{'apiVersion':'v1','kind':'Secret','metadata':{'name':'s'}}", check_no_data);
    in_json("{'data':null,'binaryData':7}", check_no_data);
}

static int copy_data(const ki_alloc *alloc, void *user)
{
    ki_buf out;
    ki_buf_init(&out, alloc, 1000);
    int r = ki_secret_copy(user, "escaped", &out);
    size_t first = out.len;
    assert_int_equal(first, r == 0 ? 3 : 0);
    if (r == 0) {
        r = ki_configmap_copy(user, "long", &out);
        assert_int_equal(out.len, r == 0 ? 3 + 64 : first);
    }
    ki_buf_done(&out);
    return r;
}

static void memory_may_fail_anywhere(void **state)
{
    (void)state;
    ki_object *object = test_object(
        NULL, "{'data':{'escaped':'AAH\\/'},'binaryData':{'long':'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
              "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\\/w=='}}");
    test_alloc_sweep(copy_data, object);
    ki_object_unref(object);
}

/* ---- events ---- */

static void check_event(const ki_object *event)
{
    assert_str(ki_event_reason(event), "BackOff");
    assert_true(ki_event_is_warning(event));
    assert_value(ki_event_message(event), "it said \"no\"");
    ki_reference involved = {0};
    assert_int_equal(ki_event_involved(event, &involved), 0);
    assert_str(involved.api_version, "v1");
    assert_str(involved.kind, "Pod");
    assert_str(involved.name_space, "shop");
    assert_str(involved.name, "web");
    assert_str(involved.uid, "u-1");
}

static void check_no_event(const ki_object *event)
{
    assert_str(ki_event_reason(event), "");
    assert_false(ki_event_is_warning(event));
    assert_none(ki_event_message(event));
    ki_reference involved = {0};
    assert_int_equal(ki_event_involved(event, &involved), 0);
    assert_str(involved.kind, "");
    assert_str(involved.name, "");
}

static void an_event_is_about_an_object_in_both_groups(void **state)
{
    (void)state;
    in_both("{'apiVersion':'v1','kind':'Event','metadata':{'name':'e'},'involvedObject':{"
            "'apiVersion':'v1','kind':'Pod','namespace':'shop','name':'web','uid':'u-1'},"
            "'reason':'BackOff','type':'Warning','message':'it said \\\"no\\\"'}",
            check_event);
    in_both("{'apiVersion':'events.k8s.io/v1','kind':'Event','metadata':{'name':'e'},'regarding':{"
            "'apiVersion':'v1','kind':'Pod','namespace':'shop','name':'web','uid':'u-1'},"
            "'eventTime':null,"
            "'reason':'BackOff','type':'Warning','note':'it said \\\"no\\\"'}",
            check_event);
    in_json("{'type':'Normal','message':7,'involvedObject':'web'}", check_no_event);
}

/* ---- leases ---- */

static void check_lease(const ki_object *lease)
{
    assert_value(ki_lease_holder(lease), "node-7_a&b");
    assert_int_equal(ki_lease_duration_ms(lease), 15000);
}

static void check_free_lease(const ki_object *lease)
{
    assert_none(ki_lease_holder(lease));
    assert_int_equal(ki_lease_duration_ms(lease), 0);
}

static void a_lease_has_a_holder_or_none(void **state)
{
    (void)state;
    in_both("{'apiVersion':'coordination.k8s.io/v1','kind':'Lease','metadata':{'name':'l'},"
            "'spec':{'holderIdentity':'node-7_a\\u0026b','leaseDurationSeconds':15}}",
            check_lease);
    in_both("{'apiVersion':'coordination.k8s.io/v1','kind':'Lease','metadata':{'name':'l'}}",
            check_free_lease);
    in_json("{'spec':{'holderIdentity':null,'leaseDurationSeconds':null}}", check_free_lease);
}

/* ---- definitions ---- */

static void check_crd(const ki_object *definition)
{
    ki_crd crd = {0};
    assert_int_equal(ki_crd_of(definition, &crd), 0);
    assert_str(crd.group, "example.com");
    assert_str(crd.plural, "widgets");
    assert_str(crd.singular, "widget");
    assert_str(crd.kind, "Widget");
    assert_str(crd.list_kind, "WidgetList");
    assert_str(crd.version, "v2");
    assert_true(crd.cluster_scoped);
    assert_true(crd.established);
}

static void check_new_crd(const ki_object *definition)
{
    ki_crd crd = {0};
    assert_int_equal(ki_crd_of(definition, &crd), 0);
    assert_str(crd.group, "example.com");
    assert_str(crd.singular, "");
    assert_str(crd.version, "");
    assert_false(crd.cluster_scoped);
    assert_false(crd.established);
}

static void a_definition_names_its_kind(void **state)
{
    (void)state;
    in_both("{'apiVersion':'apiextensions.k8s.io/v1','kind':'CustomResourceDefinition',"
            "'metadata':{'name':'widgets.example.com'},'spec':{'group':'example.com',"
            "'scope':'Cluster','names':{'plural':'widgets','singular':'widget','kind':'Widget',"
            "'listKind':'WidgetList'},'versions':[{'name':'v1','served':true,'storage':false},"
            "{'name':'v2','served':true,'storage':true}]},'status':{'conditions':["
            "{'type':'NamesAccepted','status':'True'},{'type':'Established','status':'True'}],"
            "'acceptedNames':{'plural':'widgets','kind':'Widget'},'storedVersions':['v2']}}",
            check_crd);
    in_json("{'spec':{'group':'example.com','scope':'Namespaced','names':[],'versions':7}}",
            check_new_crd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_condition_is_found_by_its_type),
        cmocka_unit_test(conditions_of_a_wrong_shape_are_none),
        cmocka_unit_test(a_running_pod_tells_where_and_how_it_is),
        cmocka_unit_test(a_new_pod_is_nowhere),
        cmocka_unit_test(a_pod_of_a_wrong_shape_has_nothing),
        cmocka_unit_test(restarts_do_not_overflow),
        cmocka_unit_test(words_with_escapes_are_empty_but_compare),
        cmocka_unit_test(a_node_is_ready_or_cordoned),
        cmocka_unit_test(a_deployment_has_replicas),
        cmocka_unit_test(a_replica_set_is_always_up_to_date),
        cmocka_unit_test(a_stateful_set_counts_all_its_pods),
        cmocka_unit_test(a_daemon_set_wants_what_its_status_says),
        cmocka_unit_test(replicas_of_a_wrong_shape_are_the_default),
        cmocka_unit_test(a_job_ends_in_one_of_two_ways),
        cmocka_unit_test(a_service_has_a_type_and_an_address),
        cmocka_unit_test(a_namespace_has_a_phase),
        cmocka_unit_test(a_config_map_has_text_and_bytes),
        cmocka_unit_test(a_secret_is_decoded),
        cmocka_unit_test(what_is_no_base64_leaves_the_buffer_alone),
        cmocka_unit_test(no_data_is_not_found),
        cmocka_unit_test(memory_may_fail_anywhere),
        cmocka_unit_test(an_event_is_about_an_object_in_both_groups),
        cmocka_unit_test(a_lease_has_a_holder_or_none),
        cmocka_unit_test(a_definition_names_its_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
