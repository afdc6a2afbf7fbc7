/* SPDX-License-Identifier: Apache-2.0 */
/* Convenience accessors for common kinds. Each follows a few members of the object; absent, null
 * and wrongly typed members are treated alike. */
#include <kinformer/kinds.h>

#include "base/error.h"
#include "base/options.h"
#include "base/time_units.h"
#include "object/object.h"
#include "object/proto/proto_value.h"
#include "object/text/base64.h"
#include "object/value.h"

enum { TEXT_MAX = 1 << 30 }; /* upper bound for the size of objects, so of any string in one */

static ki_value part_of(const ki_object *object, const char *part)
{
    ki_value root = ki_object_root(object);
    return ki__value_child(&root, part);
}

static ki_value value_in(const ki_object *object, const char *part, const char *name)
{
    ki_value map = part_of(object, part);
    return ki__value_child(&map, name);
}

static ki_str text_in(const ki_object *object, const char *part, const char *name)
{
    ki_value map = part_of(object, part);
    return ki__value_child_text(&map, name);
}

static ki_value only_string(const ki_value *value)
{
    ki_type type = ki_value_type(value);
    return type == KI_TYPE_STRING || type == KI_TYPE_NONE ? *value : (ki_value){0};
}

static ki_value string_in(const ki_object *object, const char *part, const char *name)
{
    ki_value value = value_in(object, part, name);
    return only_string(&value);
}

/* Iterates over a list; over nothing if it is not a list. */
static ki_value_iter elements_of(const ki_value *list)
{
    ki_value_iter iter;
    bool walks = ki_value_type(list) == KI_TYPE_LIST && ki_value_iter_begin(list, &iter) == 0;
    return walks ? iter : (ki_value_iter){0};
}

/* ---- conditions ---- */

ki_value ki_object_condition(const ki_object *object, const char *type)
{
    ki_value conditions = value_in(object, "status", "conditions");
    if (ki_value_type(&conditions) == KI_TYPE_NONE) {
        return conditions;
    }
    ki_value_iter iter = elements_of(&conditions);
    ki_value condition;
    int r;
    while ((r = ki_value_iter_next(&iter, NULL, &condition)) > 0) {
        ki_value found = ki__value_child(&condition, "type");
        if (ki__value_is_not_kept(&found)) {
            return found;
        }
        if (ki_value_equals_text(&found, type)) {
            return condition;
        }
    }
    return ki__value_none(r);
}

bool ki_object_condition_is_true(const ki_object *object, const char *type)
{
    ki_value condition = ki_object_condition(object, type);
    return ki__value_child_is(&condition, "status", "True");
}

/* ---- pods and nodes ---- */

ki_str ki_pod_phase(const ki_object *pod)
{
    return text_in(pod, "status", "phase");
}

ki_str ki_pod_node_name(const ki_object *pod)
{
    return text_in(pod, "spec", "nodeName");
}

ki_str ki_pod_ip(const ki_object *pod)
{
    return text_in(pod, "status", "podIP");
}

bool ki_pod_is_ready(const ki_object *pod)
{
    return ki_object_condition_is_true(pod, "Ready");
}

size_t ki_pod_container_count(const ki_object *pod)
{
    ki_value containers = value_in(pod, "spec", "containers");
    return ki_value_type(&containers) == KI_TYPE_LIST ? ki_value_count(&containers) : 0;
}

size_t ki_pod_ready_count(const ki_object *pod)
{
    ki_value statuses = value_in(pod, "status", "containerStatuses");
    ki_value_iter iter = elements_of(&statuses);
    ki_value status;
    size_t count = 0;
    while (ki_value_iter_next(&iter, NULL, &status) > 0) {
        count += ki__value_child_flag(&status, "ready");
    }
    return count;
}

int64_t ki_pod_restarts(const ki_object *pod)
{
    ki_value statuses = value_in(pod, "status", "containerStatuses");
    ki_value_iter iter = elements_of(&statuses);
    ki_value status;
    int64_t count = 0; /* bounded by the size of an object: cannot overflow */
    while (ki_value_iter_next(&iter, NULL, &status) > 0) {
        count += ki__value_child_count(&status, "restartCount");
    }
    return count;
}

bool ki_node_is_ready(const ki_object *node)
{
    return ki_object_condition_is_true(node, "Ready");
}

bool ki_node_is_unschedulable(const ki_object *node)
{
    ki_value spec = part_of(node, "spec");
    return ki__value_child_flag(&spec, "unschedulable");
}

/* ---- workloads ---- */

/* The names of the counts in status. */
typedef struct count_names {
    const char *desired; /* NULL: spec.replicas */
    const char *total;
    const char *ready;
    const char *available;
    const char *updated;
} count_names;

static int32_t desired_of(const ki_object *object)
{
    ki_value spec = part_of(object, "spec");
    ki_value replicas = ki__value_child(&spec, "replicas");
    bool given = ki_value_type(&replicas) == KI_TYPE_NUMBER;
    return given ? ki__value_child_count(&spec, "replicas") : 1;
}

static bool is_observed(const ki_object *object, const ki_value *status)
{
    ki_value value = ki__value_child(status, "observedGeneration");
    int64_t observed;
    if (ki_value_int64(&value, &observed) < 0) {
        observed = 0;
    }
    return observed >= ki_object_generation(object);
}

static int replicas_of(const ki_object *object, const count_names *names, ki_replicas *ret_replicas)
{
    KI__REQUIRE(object, NULL);
    KI__REQUIRE_SIZED(ki_replicas, ret_replicas, NULL);
    const char *const paths[] = {names->total,   names->ready,   names->available,
                                 names->updated, names->desired, "observedGeneration"};
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        bool in_spec = paths[i] == NULL; /* the desired number */
        if (!ki__object_keeps(object, in_spec ? "spec" : "status",
                              in_spec ? "replicas" : paths[i])) {
            return KI_ERR_NOT_KEPT;
        }
    }
    ki_value status = part_of(object, "status");
    const ki_replicas replicas = {
        .size = sizeof(replicas),
        .desired = names->desired != NULL ? ki__value_child_count(&status, names->desired)
                                          : desired_of(object),
        .total = ki__value_child_count(&status, names->total),
        .ready = ki__value_child_count(&status, names->ready),
        .available = ki__value_child_count(&status, names->available),
        .updated = ki__value_child_count(&status, names->updated),
        .observed = is_observed(object, &status),
    };
    return KI__GIVE(ki_replicas, ret_replicas, &replicas);
}

static const count_names usual_names = {
    .total = "replicas",
    .ready = "readyReplicas",
    .available = "availableReplicas",
    .updated = "updatedReplicas",
};

static const count_names replica_set_names = {
    .total = "replicas",
    .ready = "readyReplicas",
    .available = "availableReplicas",
    .updated = "replicas", /* the template of a ReplicaSet never changes */
};

static const count_names daemon_set_names = {
    .desired = "desiredNumberScheduled",
    .total = "currentNumberScheduled",
    .ready = "numberReady",
    .available = "numberAvailable",
    .updated = "updatedNumberScheduled",
};

int ki_deployment_replicas(const ki_object *deployment, ki_replicas *ret_replicas)
{
    return replicas_of(deployment, &usual_names, ret_replicas);
}

int ki_replicaset_replicas(const ki_object *replica_set, ki_replicas *ret_replicas)
{
    return replicas_of(replica_set, &replica_set_names, ret_replicas);
}

int ki_statefulset_replicas(const ki_object *stateful_set, ki_replicas *ret_replicas)
{
    return replicas_of(stateful_set, &usual_names, ret_replicas);
}

int ki_daemonset_replicas(const ki_object *daemon_set, ki_replicas *ret_replicas)
{
    return replicas_of(daemon_set, &daemon_set_names, ret_replicas);
}

bool ki_job_is_complete(const ki_object *job)
{
    return ki_object_condition_is_true(job, "Complete");
}

bool ki_job_is_failed(const ki_object *job)
{
    return ki_object_condition_is_true(job, "Failed");
}

/* ---- services and namespaces ---- */

ki_str ki_service_type(const ki_object *service)
{
    ki_str type = text_in(service, "spec", "type");
    return type.len != 0 ? type : ki_str_from("ClusterIP");
}

ki_str ki_service_cluster_ip(const ki_object *service)
{
    return text_in(service, "spec", "clusterIP");
}

ki_str ki_namespace_phase(const ki_object *name_space)
{
    return text_in(name_space, "status", "phase");
}

/* ---- data ---- */

static int entry_of(const ki_object *object, const char *part, ki_str key, ki_value *ret_value)
{
    ki_value map = part_of(object, part);
    int r = ki_value_member(&map, key, ret_value);
    return r == KI_ERR_TYPE ? KI_ERR_NOT_FOUND : r; /* a missing map means a missing entry */
}

static int add_decoded(ki_buf *out, ki_str text)
{
    size_t len;
    char *room;
    int r = ki__base64_decode(text, NULL, &len);
    if (r == 0) {
        r = ki_buf_reserve(out, len, &room);
    }
    if (r == 0) {
        (void)ki__base64_decode(text, room, &len); /* was validated above */
        ki_buf_commit(out, len);
    }
    return r;
}

/* Appends bytes: base64 in JSON, raw in protobuf. */
static int add_bytes(ki_buf *out, const ki_value *value)
{
    if (ki_value_type(value) == KI_TYPE_NULL) {
        return 0; /* Go encodes a nil byte slice as null */
    }
    if (value->ops == &ki__proto_value_ops && ki__proto_shape_of(value) == KI__PROTO_BASE64) {
        return ki_buf_add_str(out, ki__proto_bytes_of(value));
    }
    ki_str text;
    int r = ki_value_string(value, &text);
    if (r != KI_ERR_NOT_PLAIN) {
        return r < 0 ? r : add_decoded(out, text);
    }
    ki_buf unescaped;
    ki_buf_init(&unescaped, out->alloc, TEXT_MAX);
    r = ki_value_copy_string(value, &unescaped);
    if (r == 0) {
        r = add_decoded(out, ki_buf_str(&unescaped));
    }
    ki_buf_done(&unescaped);
    return r;
}

int ki_configmap_get(const ki_object *config_map, const char *key, ki_value *ret_value)
{
    KI__REQUIRE(config_map, NULL);
    KI__REQUIRE(key, NULL);
    KI__REQUIRE(ret_value, NULL);
    ki_value value;
    int r = entry_of(config_map, "data", ki_str_from(key), &value);
    if (r == 0 && ki_value_type(&value) != KI_TYPE_STRING) {
        r = KI_ERR_TYPE;
    }
    if (r == 0) {
        *ret_value = value;
    }
    return r;
}

int ki_configmap_copy(const ki_object *config_map, const char *key, ki_buf *out)
{
    KI__REQUIRE(config_map, NULL);
    KI__REQUIRE(key, NULL);
    KI__REQUIRE(out, NULL);
    ki_value value;
    int r = ki_configmap_get(config_map, key, &value);
    if (r != KI_ERR_NOT_FOUND) {
        return r < 0 ? r : ki_value_copy_string(&value, out);
    }
    r = entry_of(config_map, "binaryData", ki_str_from(key), &value);
    return r < 0 ? r : add_bytes(out, &value);
}

int ki_secret_copy(const ki_object *secret, const char *key, ki_buf *out)
{
    KI__REQUIRE(secret, NULL);
    KI__REQUIRE(key, NULL);
    KI__REQUIRE(out, NULL);
    ki_value value;
    int r = entry_of(secret, "data", ki_str_from(key), &value);
    return r < 0 ? r : add_bytes(out, &value);
}

/* ---- events ---- */

/* events.k8s.io uses other names for the same members. */
static ki_value either(const ki_object *object, const char *name, const char *other)
{
    ki_value root = ki_object_root(object);
    ki_value value = ki__value_child(&root, name);
    return ki_value_type(&value) != KI_TYPE_NONE ? value : ki__value_child(&root, other);
}

ki_str ki_event_reason(const ki_object *event)
{
    ki_value root = ki_object_root(event);
    return ki__value_child_text(&root, "reason");
}

bool ki_event_is_warning(const ki_object *event)
{
    ki_value root = ki_object_root(event);
    return ki__value_child_is(&root, "type", "Warning");
}

ki_value ki_event_message(const ki_object *event)
{
    ki_value message = either(event, "message", "note");
    return only_string(&message);
}

int ki_event_involved(const ki_object *event, ki_reference *ret_reference)
{
    KI__REQUIRE(event, NULL);
    KI__REQUIRE_SIZED(ki_reference, ret_reference, NULL);
    ki_value object = either(event, "involvedObject", "regarding");
    if (object.kept != NULL) { /* not kept, or not all of it */
        return KI_ERR_NOT_KEPT;
    }
    const ki_reference reference = {
        .size = sizeof(reference),
        .api_version = ki__value_child_text(&object, "apiVersion"),
        .kind = ki__value_child_text(&object, "kind"),
        .name_space = ki__value_child_text(&object, "namespace"),
        .name = ki__value_child_text(&object, "name"),
        .uid = ki__value_child_text(&object, "uid"),
    };
    return KI__GIVE(ki_reference, ret_reference, &reference);
}

/* ---- leases ---- */

ki_value ki_lease_holder(const ki_object *lease)
{
    return string_in(lease, "spec", "holderIdentity");
}

uint32_t ki_lease_duration_ms(const ki_object *lease)
{
    ki_value spec = part_of(lease, "spec");
    return ki__seconds_to_ms((uint64_t)ki__value_child_count(&spec, "leaseDurationSeconds"));
}

/* ---- CustomResourceDefinitions ---- */

static ki_str stored_version(const ki_value *spec)
{
    ki_value versions = ki__value_child(spec, "versions");
    ki_value_iter iter = elements_of(&versions);
    ki_value version;
    while (ki_value_iter_next(&iter, NULL, &version) > 0) {
        if (ki__value_child_flag(&version, "storage")) {
            return ki__value_child_text(&version, "name");
        }
    }
    return ki_str_make(NULL, 0);
}

int ki_crd_of(const ki_object *definition, ki_crd *ret_crd)
{
    KI__REQUIRE(definition, NULL);
    KI__REQUIRE_SIZED(ki_crd, ret_crd, NULL);
    ki_value spec = part_of(definition, "spec");
    ki_value names = ki__value_child(&spec, "names");
    static const char *const members[] = {"group", "names", "versions", "scope"};
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        if (!ki__object_keeps(definition, "spec", members[i])) {
            return KI_ERR_NOT_KEPT;
        }
    }
    if (!ki__object_keeps(definition, "status", "conditions")) {
        return KI_ERR_NOT_KEPT;
    }
    const ki_crd crd = {
        .size = sizeof(crd),
        .group = ki__value_child_text(&spec, "group"),
        .plural = ki__value_child_text(&names, "plural"),
        .singular = ki__value_child_text(&names, "singular"),
        .kind = ki__value_child_text(&names, "kind"),
        .list_kind = ki__value_child_text(&names, "listKind"),
        .version = stored_version(&spec),
        .cluster_scoped = ki__value_child_is(&spec, "scope", "Cluster"),
        .established = ki_object_condition_is_true(definition, "Established"),
    };
    return KI__GIVE(ki_crd, ret_crd, &crd);
}
