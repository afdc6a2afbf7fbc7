/* SPDX-License-Identifier: Apache-2.0 */
/* What is shown of the common kinds: the columns that kubectl has, as far as the object itself
 * tells them. */
#include <string.h>
#include <time.h>

#include <kinformer/kinds.h>

#include "cli/columns.h"
#include "cli/text.h"

/* ---- reading ---- */

static ki_value at(const ki_value *map, const char *name)
{
    ki_value found = {0};
    if (ki_value_type(map) != KI_TYPE_MAP || ki_value_member(map, ki_str_from(name), &found) < 0) {
        return (ki_value){0};
    }
    return found;
}

/* The value at up to three names. */
static ki_value deep(const ki_object *object, const char *a, const char *b, const char *c)
{
    ki_value root = ki_object_root(object);
    ki_value value = at(&root, a);
    if (b != NULL) {
        value = at(&value, b);
    }
    return c != NULL ? at(&value, c) : value;
}

static bool is_there(const ki_value *value)
{
    ki_type type = ki_value_type(value);
    return type != KI_TYPE_NONE && type != KI_TYPE_NULL;
}

static void put_value(const ki_value *value, ki_buf *out)
{
    if (is_there(value)) {
        cli_put_value(out, value, false);
    }
}

static size_t count_of(const ki_value *value)
{
    size_t count = 0;
    return ki_value_count(value, &count) < 0 ? 0 : count;
}

static int64_t number_of(const ki_value *value, int64_t otherwise)
{
    int64_t number;
    return ki_value_int64(value, &number) < 0 ? otherwise : number;
}

static ki_value first_of(const ki_value *list)
{
    ki_value found;
    if (ki_value_type(list) != KI_TYPE_LIST || ki_value_element(list, 0, &found) < 0) {
        return (ki_value){0};
    }
    return found;
}

/* ---- pods ---- */

static void pod_ready(const ki_object *pod, ki_buf *out)
{
    cli_putf(out, "%zu/%zu", ki_pod_ready_count(pod), ki_pod_container_count(pod));
}

/* Why a container waits or has ended badly, if one does. */
static ki_value container_reason(const ki_object *pod)
{
    ki_value statuses = deep(pod, "status", "containerStatuses", NULL);
    ki_iter iter;
    ki_value status;
    if (ki_value_type(&statuses) != KI_TYPE_LIST || ki_value_iter(&statuses, &iter) < 0) {
        return (ki_value){0};
    }
    while (ki_iter_next(&iter, NULL, &status) > 0) {
        ki_value state = at(&status, "state");
        ki_value waiting = at(&state, "waiting");
        ki_value ended = at(&state, "terminated");
        ki_value reason = at(&waiting, "reason");
        reason = is_there(&reason) ? reason : at(&ended, "reason");
        if (is_there(&reason)) {
            return reason;
        }
    }
    return (ki_value){0};
}

static void pod_status(const ki_object *pod, ki_buf *out)
{
    if (ki_object_is_deleting(pod)) {
        cli_put(out, "Terminating");
        return;
    }
    ki_value reason = container_reason(pod);
    ki_value whole = deep(pod, "status", "reason", NULL);
    reason = is_there(&whole) ? whole : reason;
    if (is_there(&reason)) {
        put_value(&reason, out);
    } else {
        cli_put_escaped(out, ki_pod_phase(pod));
    }
}

static void pod_restarts(const ki_object *pod, ki_buf *out)
{
    cli_putf(out, "%lld", (long long)ki_pod_restarts(pod));
}

static void pod_ip(const ki_object *pod, ki_buf *out)
{
    cli_put_escaped(out, ki_pod_ip(pod));
}

static void pod_node(const ki_object *pod, ki_buf *out)
{
    cli_put_escaped(out, ki_pod_node_name(pod));
}

static const cli_kind_column pods[] = {
    {"READY", pod_ready, false}, {"STATUS", pod_status, false}, {"RESTARTS", pod_restarts, false},
    {"IP", pod_ip, true},        {"NODE", pod_node, true},      {NULL, NULL, false},
};

/* ---- nodes ---- */

static void node_status(const ki_object *node, ki_buf *out)
{
    cli_put(out, ki_node_is_ready(node) ? "Ready" : "NotReady");
    cli_put(out, ki_node_is_unschedulable(node) ? ",SchedulingDisabled" : "");
}

static void node_roles(const ki_object *node, ki_buf *out)
{
    static const char prefix[] = "node-role.kubernetes.io/";
    ki_value labels = ki_object_labels(node);
    ki_iter iter;
    ki_value key;
    ki_value value;
    ki_str text;
    size_t begin = out->len;
    if (ki_value_type(&labels) != KI_TYPE_MAP || ki_value_iter(&labels, &iter) < 0) {
        return;
    }
    while (ki_iter_next(&iter, &key, &value) > 0) {
        size_t len = sizeof(prefix) - 1;
        if (ki_value_string(&key, &text) == 0 && text.len > len &&
            memcmp(text.ptr, prefix, len) == 0) {
            cli_put(out, out->len != begin ? "," : "");
            cli_put_escaped(out, ki_str_make(text.ptr + len, text.len - len));
        }
    }
}

static void node_version(const ki_object *node, ki_buf *out)
{
    ki_value version = deep(node, "status", "nodeInfo", "kubeletVersion");
    put_value(&version, out);
}

static const cli_kind_column nodes[] = {
    {"STATUS", node_status, false},
    {"ROLES", node_roles, false},
    {"VERSION", node_version, false},
    {NULL, NULL, false},
};

/* ---- workloads ---- */

static ki_replicas replicas_of(const ki_object *object)
{
    const char *kind = ki_object_kind(object);
    if (strcmp(kind, "Deployment") == 0) {
        return ki_deployment_replicas(object);
    }
    if (strcmp(kind, "StatefulSet") == 0) {
        return ki_stateful_set_replicas(object);
    }
    if (strcmp(kind, "DaemonSet") == 0) {
        return ki_daemon_set_replicas(object);
    }
    return ki_replica_set_replicas(object);
}

static void replicas_ready(const ki_object *object, ki_buf *out)
{
    ki_replicas replicas = replicas_of(object);
    cli_putf(out, "%d/%d", (int)replicas.ready, (int)replicas.desired);
}

static void replicas_desired(const ki_object *object, ki_buf *out)
{
    cli_putf(out, "%d", (int)replicas_of(object).desired);
}

static void replicas_current(const ki_object *object, ki_buf *out)
{
    cli_putf(out, "%d", (int)replicas_of(object).total);
}

static void replicas_ready_count(const ki_object *object, ki_buf *out)
{
    cli_putf(out, "%d", (int)replicas_of(object).ready);
}

static void replicas_updated(const ki_object *object, ki_buf *out)
{
    cli_putf(out, "%d", (int)replicas_of(object).updated);
}

static void replicas_available(const ki_object *object, ki_buf *out)
{
    cli_putf(out, "%d", (int)replicas_of(object).available);
}

static const cli_kind_column deployments[] = {
    {"READY", replicas_ready, false},
    {"UP-TO-DATE", replicas_updated, false},
    {"AVAILABLE", replicas_available, false},
    {NULL, NULL, false},
};
static const cli_kind_column stateful_sets[] = {{"READY", replicas_ready, false},
                                                {NULL, NULL, false}};
static const cli_kind_column replica_sets[] = {
    {"DESIRED", replicas_desired, false},
    {"CURRENT", replicas_current, false},
    {"READY", replicas_ready_count, false},
    {NULL, NULL, false},
};
static const cli_kind_column daemon_sets[] = {
    {"DESIRED", replicas_desired, false},     {"CURRENT", replicas_current, false},
    {"READY", replicas_ready_count, false},   {"UP-TO-DATE", replicas_updated, false},
    {"AVAILABLE", replicas_available, false}, {NULL, NULL, false},
};

static void job_status(const ki_object *job, ki_buf *out)
{
    cli_put(out, ki_job_is_complete(job) ? "Complete"
                 : ki_job_is_failed(job) ? "Failed"
                                         : "Running");
}

static void job_completions(const ki_object *job, ki_buf *out)
{
    ki_value done = deep(job, "status", "succeeded", NULL);
    ki_value wanted = deep(job, "spec", "completions", NULL);
    cli_putf(out, "%lld/%lld", (long long)number_of(&done, 0), (long long)number_of(&wanted, 1));
}

static const cli_kind_column jobs[] = {
    {"STATUS", job_status, false}, {"COMPLETIONS", job_completions, false}, {NULL, NULL, false}};

/* ---- services ---- */

static void service_type(const ki_object *service, ki_buf *out)
{
    cli_put_escaped(out, ki_service_type(service));
}

static void service_ip(const ki_object *service, ki_buf *out)
{
    cli_put_escaped(out, ki_service_cluster_ip(service));
}

static void service_ports(const ki_object *service, ki_buf *out)
{
    ki_value ports = deep(service, "spec", "ports", NULL);
    ki_iter iter;
    ki_value port;
    size_t begin = out->len;
    if (ki_value_type(&ports) != KI_TYPE_LIST || ki_value_iter(&ports, &iter) < 0) {
        return;
    }
    while (ki_iter_next(&iter, NULL, &port) > 0) {
        ki_value number = at(&port, "port");
        ki_value node = at(&port, "nodePort");
        ki_value protocol = at(&port, "protocol");
        cli_put(out, out->len != begin ? "," : "");
        put_value(&number, out);
        if (number_of(&node, 0) != 0) {
            cli_put_char(out, ':');
            put_value(&node, out);
        }
        cli_put_char(out, '/');
        put_value(&protocol, out);
    }
}

static const cli_kind_column services[] = {
    {"TYPE", service_type, false},
    {"CLUSTER-IP", service_ip, false},
    {"PORT(S)", service_ports, false},
    {NULL, NULL, false},
};

/* ---- small ones ---- */

static void status_phase(const ki_object *object, ki_buf *out)
{
    ki_value phase = deep(object, "status", "phase", NULL);
    put_value(&phase, out);
}

static void data_count(const ki_object *object, ki_buf *out)
{
    ki_value data = deep(object, "data", NULL, NULL);
    ki_value binary = deep(object, "binaryData", NULL, NULL);
    cli_putf(out, "%zu", count_of(&data) + count_of(&binary));
}

static void top_type(const ki_object *object, ki_buf *out)
{
    ki_value type = deep(object, "type", NULL, NULL);
    put_value(&type, out);
}

static void lease_holder(const ki_object *lease, ki_buf *out)
{
    ki_value holder = ki_lease_holder(lease);
    put_value(&holder, out);
}

static void claim_volume(const ki_object *claim, ki_buf *out)
{
    ki_value volume = deep(claim, "spec", "volumeName", NULL);
    put_value(&volume, out);
}

static void claim_capacity(const ki_object *claim, ki_buf *out)
{
    ki_value capacity = deep(claim, "status", "capacity", "storage");
    put_value(&capacity, out);
}

static void volume_capacity(const ki_object *volume, ki_buf *out)
{
    ki_value capacity = deep(volume, "spec", "capacity", "storage");
    put_value(&capacity, out);
}

static void volume_claim(const ki_object *volume, ki_buf *out)
{
    ki_value space = deep(volume, "spec", "claimRef", "namespace");
    ki_value name = deep(volume, "spec", "claimRef", "name");
    put_value(&space, out);
    cli_put(out, is_there(&name) ? "/" : "");
    put_value(&name, out);
}

static void ingress_class(const ki_object *ingress, ki_buf *out)
{
    ki_value class_name = deep(ingress, "spec", "ingressClassName", NULL);
    put_value(&class_name, out);
}

static void ingress_host(const ki_object *ingress, ki_buf *out)
{
    ki_value rules = deep(ingress, "spec", "rules", NULL);
    ki_value rule = first_of(&rules);
    ki_value host = at(&rule, "host");
    put_value(&host, out);
    if (count_of(&rules) > 1) {
        cli_putf(out, " + %zu more", count_of(&rules) - 1);
    }
}

static void cron_schedule(const ki_object *job, ki_buf *out)
{
    ki_value schedule = deep(job, "spec", "schedule", NULL);
    put_value(&schedule, out);
}

static void definition_group(const ki_object *definition, ki_buf *out)
{
    cli_put_escaped(out, ki_crd_of(definition).group);
}

static const cli_kind_column phases[] = {{"STATUS", status_phase, false}, {NULL, NULL, false}};
static const cli_kind_column config_maps[] = {{"DATA", data_count, false}, {NULL, NULL, false}};
static const cli_kind_column secrets[] = {
    {"TYPE", top_type, false}, {"DATA", data_count, false}, {NULL, NULL, false}};
static const cli_kind_column leases[] = {{"HOLDER", lease_holder, false}, {NULL, NULL, false}};
static const cli_kind_column claims[] = {
    {"STATUS", status_phase, false},
    {"VOLUME", claim_volume, false},
    {"CAPACITY", claim_capacity, false},
    {NULL, NULL, false},
};
static const cli_kind_column volumes[] = {
    {"CAPACITY", volume_capacity, false},
    {"STATUS", status_phase, false},
    {"CLAIM", volume_claim, false},
    {NULL, NULL, false},
};
static const cli_kind_column ingresses[] = {
    {"CLASS", ingress_class, false}, {"HOSTS", ingress_host, false}, {NULL, NULL, false}};
static const cli_kind_column cron_jobs[] = {{"SCHEDULE", cron_schedule, false},
                                            {NULL, NULL, false}};
static const cli_kind_column definitions[] = {{"GROUP", definition_group, false},
                                              {NULL, NULL, false}};

/* ---- events ---- */

static void event_type(const ki_object *event, ki_buf *out)
{
    cli_put(out, ki_event_is_warning(event) ? "Warning" : "Normal");
}

static void event_reason(const ki_object *event, ki_buf *out)
{
    cli_put_escaped(out, ki_event_reason(event));
}

static void event_object(const ki_object *event, ki_buf *out)
{
    ki_reference about = ki_event_involved(event);
    cli_put_escaped(out, about.kind);
    cli_put_char(out, '/');
    cli_put_escaped(out, about.name);
}

static void event_message(const ki_object *event, ki_buf *out)
{
    ki_value message = ki_event_message(event);
    put_value(&message, out);
}

static const cli_kind_column events[] = {
    {"TYPE", event_type, false},
    {"REASON", event_reason, false},
    {"OBJECT", event_object, false},
    {"MESSAGE", event_message, false},
    {NULL, NULL, false},
};

/* ---- the table ---- */

static const struct {
    const char *group;
    const char *name;
    const cli_kind_column *columns;
} kinds[] = {
    {"", "pods", pods},
    {"", "nodes", nodes},
    {"", "services", services},
    {"", "namespaces", phases},
    {"", "configmaps", config_maps},
    {"", "secrets", secrets},
    {"", "events", events},
    {"", "persistentvolumeclaims", claims},
    {"", "persistentvolumes", volumes},
    {"", "replicationcontrollers", replica_sets},
    {"events.k8s.io", "events", events},
    {"apps", "deployments", deployments},
    {"apps", "replicasets", replica_sets},
    {"apps", "statefulsets", stateful_sets},
    {"apps", "daemonsets", daemon_sets},
    {"batch", "jobs", jobs},
    {"batch", "cronjobs", cron_jobs},
    {"networking.k8s.io", "ingresses", ingresses},
    {"coordination.k8s.io", "leases", leases},
    {"apiextensions.k8s.io", "customresourcedefinitions", definitions},
};

const cli_kind_column *cli_kind_columns(const ki_resource *resource)
{
    static const cli_kind_column none[] = {{NULL, NULL, false}};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(kinds[i].group, ki_resource_group(resource)) == 0 &&
            strcmp(kinds[i].name, ki_resource_name(resource)) == 0) {
            return kinds[i].columns;
        }
    }
    return none;
}

void cli_kind_summary(const ki_resource *resource, const ki_object *object, ki_buf *out)
{
    size_t begin = out->len;
    for (const cli_kind_column *c = cli_kind_columns(resource); c->title != NULL; c++) {
        if (c->wide) {
            continue;
        }
        size_t before = out->len;
        cli_put(out, before != begin ? "  " : "");
        size_t cell = out->len;
        c->cell(object, out);
        if (out->len == cell && out->data != NULL) {
            out->len = before;
        }
    }
}
