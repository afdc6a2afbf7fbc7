/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes a secret and a node's capacity, and uses paths that the compiler checks. */
#include <stdio.h>

#include <kinformer/api/core_v1.h>
#include <kinformer/kinformer.h>

static const char secret_json[] =
    "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"login\"},"
    "\"type\":\"kubernetes.io/basic-auth\",\"data\":{\"username\":\"YWRtaW4=\","
    "\"password\":\"czNjcmV0\"}}";

static const char node_json[] =
    "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"node-7\"},"
    "\"spec\":{\"taints\":[{\"key\":\"gpu\",\"effect\":\"NoSchedule\"}]},"
    "\"status\":{\"allocatable\":{\"cpu\":\"7910m\",\"memory\":\"30Gi\",\"pods\":\"110\"},"
    "\"nodeInfo\":{\"kubeletVersion\":\"v1.37.1\"}}}";

/* A typo here is an error of the compiler. */
static const char *const version_path = KI_PATH(core_v1, Node, status.nodeInfo.kubeletVersion);

static void print_secret(ki_core_v1_Secret secret)
{
    bool basic =
        ki_text_is(ki_core_v1_Secret_type(secret), KI_CORE_V1_SecretType_kubernetes_io_basic_auth);
    printf("basic auth: %d\n", basic);
    KI_EACH_ENTRY(ki_bytes, key, value, ki_core_v1_Secret_data(secret))
    {
        char bytes[64];
        int len = ki_bytes_copy(value, bytes, sizeof(bytes));
        if (len >= 0) {
            printf("  %.*s=%.*s\n", KI_STR_ARG(key), len, bytes);
        }
    }
}

static void print_node(const ki_object *object)
{
    ki_core_v1_Node node = ki_core_v1_Node_of(object);
    ki_quantity_map allocatable = ki_core_v1_NodeStatus_allocatable(ki_core_v1_Node_status(node));
    printf("%lld mCPU, %lld bytes, %lld pods\n",
           (long long)ki_quantity_milli_or(ki_quantity_map_get(allocatable, "cpu"), 0),
           (long long)ki_quantity_int64_or(ki_quantity_map_get(allocatable, "memory"), 0),
           (long long)ki_quantity_int64_or(ki_quantity_map_get(allocatable, "pods"), 0));
    KI_EACH(ki_core_v1_Taint, taint, ki_core_v1_NodeSpec_taints(ki_core_v1_Node_spec(node)))
    {
        ki_text key = ki_core_v1_Taint_key(taint);
        bool schedules =
            !ki_text_is(ki_core_v1_Taint_effect(taint), KI_CORE_V1_TaintEffect_NoSchedule);
        printf("taint %.*s, schedules: %d\n", KI_STR_ARG(key), schedules);
    }
    char version[32];
    printf("%s: %s\n", version_path,
           ki_object_string_or(object, version_path, "?", version, sizeof(version)));
}

int main(void)
{
    KI_AUTO(ki_object) secret = NULL;
    KI_AUTO(ki_object) node = NULL;
    ki_error error = KI_ERROR_INIT;
    int r = ki_object_from_json(secret_json, sizeof(secret_json) - 1, NULL, &secret, &error);
    r = r < 0 ? r : ki_object_from_json(node_json, sizeof(node_json) - 1, NULL, &node, &error);
    if (r < 0) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    print_secret(ki_core_v1_Secret_of(secret));
    print_node(node);
    return 0;
}
