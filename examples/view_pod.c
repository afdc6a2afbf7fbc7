/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a pod through typed views: names and types of fields are checked at compile time. The same
 * code reads JSON and protobuf, in place. */
#include <stdio.h>

#include <kinformer/api/core_v1.h>
#include <kinformer/buf.h>
#include <kinformer/encoding.h>
#include <kinformer/kinformer.h>

static const char json[] =
    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"web\",\"namespace\":\"shop\","
    "\"labels\":{\"app\":\"web\",\"tier\":\"front\"}},"
    "\"spec\":{\"nodeName\":\"node-7\",\"containers\":["
    "{\"name\":\"proxy\",\"image\":\"proxy:2\",\"command\":[\"sh\",\"-c\",\"a \\u0026\\u0026 b\"],"
    "\"resources\":{\"requests\":{\"cpu\":\"250m\",\"memory\":\"1.5Gi\"}}},"
    "{\"name\":\"app\",\"image\":\"app:1.4\",\"ports\":[{\"containerPort\":8080}]}]},"
    "\"status\":{\"phase\":\"Running\",\"startTime\":\"2026-01-31T12:00:00Z\",\"conditions\":["
    "{\"type\":\"PodScheduled\",\"status\":\"True\"},{\"type\":\"Ready\",\"status\":\"False\"}]}}";

static void print_container(ki_core_v1_Container container)
{
    ki_text name = ki_core_v1_Container_name(container);
    ki_text image = ki_core_v1_Container_image(container);
    ki_quantity_map requests =
        ki_core_v1_ResourceRequirements_requests(ki_core_v1_Container_resources(container));
    printf("  %.*s: %.*s, %lld mCPU, %lld bytes\n", KI_STR_ARG(name), KI_STR_ARG(image),
           (long long)ki_quantity_milli_or(ki_quantity_map_get(requests, "cpu"), 0),
           (long long)ki_quantity_int64_or(ki_quantity_map_get(requests, "memory"), 0));
    KI_EACH(ki_text, word, ki_core_v1_Container_command(container))
    {
        char text[64]; /* JSON may store a string with escapes: decoded here */
        printf("    %s\n", ki_text_or(word, "?", text, sizeof(text)));
    }
    KI_EACH(ki_core_v1_ContainerPort, port, ki_core_v1_Container_ports(container))
    {
        ki_text protocol = ki_core_v1_ContainerPort_protocol(port); /* absent: TCP */
        printf("    %d/%.*s\n", ki_core_v1_ContainerPort_containerPort(port), KI_STR_ARG(protocol));
    }
}

static void print_pod(const ki_object *object)
{
    ki_core_v1_Pod pod = ki_core_v1_Pod_of(object); /* owns nothing; valid as long as the object */
    ki_core_v1_PodSpec spec = ki_core_v1_Pod_spec(pod);
    ki_core_v1_PodStatus status = ki_core_v1_Pod_status(pod);
    ki_text name = ki_meta_v1_ObjectMeta_name(ki_core_v1_Pod_metadata(pod));
    ki_text node = ki_core_v1_PodSpec_nodeName(spec);
    ki_core_v1_PodCondition ready =
        ki_core_v1_PodStatus_conditions_by_type(status, KI_CORE_V1_PodConditionType_Ready);

    printf("%.*s on %.*s since %lld\n", KI_STR_ARG(name), KI_STR_ARG(node),
           (long long)ki_core_v1_PodStatus_startTime(status).seconds);
    printf("running: %d, ready: %d, host network: %d, priority: %s\n",
           ki_text_is(ki_core_v1_PodStatus_phase(status), KI_CORE_V1_PodPhase_Running),
           ki_text_is(ki_core_v1_PodCondition_status(ready), KI_CORE_V1_ConditionStatus_True),
           ki_core_v1_PodSpec_hostNetwork(spec),
           ki_core_v1_PodSpec_has_priority(spec) ? "set" : "not set");
    KI_EACH_ENTRY(ki_text, key, value, ki_meta_v1_ObjectMeta_labels(ki_core_v1_Pod_metadata(pod)))
    {
        printf("  %.*s=%.*s\n", KI_STR_ARG(key), KI_STR_ARG(value));
    }
    KI_EACH(ki_core_v1_Container, container, ki_core_v1_PodSpec_containers(spec))
    {
        print_container(container);
    }
}

int main(void)
{
    KI_AUTO(ki_object) pod = NULL;
    KI_AUTO(ki_object) same = NULL;
    ki_error error = KI_ERROR_INIT;
    ki_buf bytes;
    ki_buf_init(&bytes, NULL, 1 << 20);
    int r = ki_object_from_json(json, sizeof(json) - 1, NULL, &pod, &error);
    r = r < 0 ? r : ki_object_write_protobuf(pod, &bytes, &error);
    r = r < 0 ? r : ki_object_from_protobuf(bytes.data, bytes.len, NULL, &same, &error);
    if (r < 0) {
        fprintf(stderr, "%s\n", error.message);
    } else {
        print_pod(pod);
        print_pod(same);
    }
    ki_buf_done(&bytes);
    return r < 0;
}
