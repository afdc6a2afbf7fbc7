/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of the common built-in kinds. The only such table: servers' tables, the command and
 * programs use it. The cells are computed in column_cells.c and kind_cells.c. */
#include "object/columns/kind_columns.h"

#include <kinformer/resource_table.h>

#include "base/error.h"
#include "object/columns/column_cells.h"

#define COLUMN(title, type, wide, cell, path, other)     \
    {                                                    \
        title, type, wide, &ki__cell_##cell, path, other \
    }
#define CELL(title, cell, path, other) COLUMN(title, "string", false, cell, path, other)
#define WIDE(title, cell, path, other) COLUMN(title, "string", true, cell, path, other)
#define NAME CELL("Name", name, NULL, NULL)
#define AGE CELL("Age", age, NULL, NULL)
#define CREATED COLUMN("Created At", "date", false, created, NULL, NULL)
#define TEXT(title, path) CELL(title, text, path, "")
#define TEXT_OR(title, path, otherwise) CELL(title, text, path, otherwise)
#define WIDE_TEXT(title, path) WIDE(title, text, path, "<none>")
#define WIDE_LIST(title, path, below) WIDE(title, list, path, below)
#define WIDE_LABELS(title, path) WIDE(title, labels, path, NULL)
#define NUMBER(title, path) COLUMN(title, "integer", false, number, path, NULL)
#define COUNT(title, path) COLUMN(title, "integer", false, count, path, NULL)
#define FLAG(title, path) COLUMN(title, "boolean", false, flag, path, NULL)
#define END                                 \
    {                                       \
        NULL, NULL, false, NULL, NULL, NULL \
    }
#define TEMPLATE "spec.template.spec.containers"
#define WORKLOAD(selector)                                                             \
    WIDE_LIST("Containers", TEMPLATE, "name"), WIDE_LIST("Images", TEMPLATE, "image"), \
        WIDE_LABELS("Selector", selector)

static const struct kind_columns {
    const char *group;
    const char *name;
    ki_column columns[14];
} kinds[] = {
    {"",
     "pods",
     {NAME, CELL("Ready", pod_ready, NULL, NULL), CELL("Status", pod_status, NULL, NULL),
      CELL("Restarts", pod_restarts, NULL, NULL), AGE, WIDE_TEXT("IP", "status.podIP"),
      WIDE_TEXT("Node", "spec.nodeName"), WIDE_TEXT("Nominated Node", "status.nominatedNodeName"),
      WIDE_TEXT("Readiness Gates", "spec.readinessGates"), END}},
    {"",
     "services",
     {NAME, TEXT_OR("Type", "spec.type", "ClusterIP"),
      TEXT_OR("Cluster-IP", "spec.clusterIP", "<none>"),
      CELL("External-IP", service_external_ip, NULL, NULL),
      CELL("Port(s)", service_ports, "spec.ports", NULL), AGE,
      WIDE_LABELS("Selector", "spec.selector"), END}},
    {"",
     "nodes",
     {NAME, CELL("Status", node_status, NULL, NULL), CELL("Roles", node_roles, NULL, NULL), AGE,
      TEXT("Version", "status.nodeInfo.kubeletVersion"),
      WIDE("Internal-IP", node_address, NULL, "InternalIP"),
      WIDE("External-IP", node_address, NULL, "ExternalIP"),
      WIDE_TEXT("OS-Image", "status.nodeInfo.osImage"),
      WIDE_TEXT("Kernel-Version", "status.nodeInfo.kernelVersion"),
      WIDE_TEXT("Container-Runtime", "status.nodeInfo.containerRuntimeVersion"), END}},
    {"", "namespaces", {NAME, TEXT("Status", "status.phase"), AGE, END}},
    {"", "configmaps", {NAME, CELL("Data", count, "data", "binaryData"), AGE, END}},
    {"",
     "secrets",
     {NAME, TEXT_OR("Type", "type", "Opaque"), CELL("Data", count, "data", NULL), AGE, END}},
    {"",
     "events",
     {CELL("Last Seen", ago, "lastTimestamp", "eventTime"), TEXT("Type", "type"),
      TEXT("Reason", "reason"), CELL("Object", event_object, NULL, NULL),
      TEXT("Message", "message"), WIDE("First Seen", ago, "firstTimestamp", "eventTime"),
      WIDE("Count", text, "count", "1"), WIDE("Name", name, NULL, NULL), END}},
    {"events.k8s.io",
     "events",
     {CELL("Last Seen", ago, "series.lastObservedTime", "eventTime"), TEXT("Type", "type"),
      TEXT("Reason", "reason"), CELL("Object", event_object, NULL, NULL), TEXT("Message", "note"),
      WIDE("Name", name, NULL, NULL), END}},
    {"",
     "persistentvolumeclaims",
     {NAME, TEXT("Status", "status.phase"), TEXT("Volume", "spec.volumeName"),
      TEXT("Capacity", "status.capacity.storage"),
      CELL("Access Modes", list, "status.accessModes", ""),
      TEXT("StorageClass", "spec.storageClassName"),
      TEXT_OR("VolumeAttributesClass", "spec.volumeAttributesClassName", "<unset>"), AGE,
      WIDE_TEXT("VolumeMode", "spec.volumeMode"), END}},
    {"",
     "persistentvolumes",
     {NAME, TEXT("Capacity", "spec.capacity.storage"),
      CELL("Access Modes", list, "spec.accessModes", ""),
      TEXT("Reclaim Policy", "spec.persistentVolumeReclaimPolicy"), TEXT("Status", "status.phase"),
      CELL("Claim", volume_claim, "spec.claimRef", NULL),
      TEXT("StorageClass", "spec.storageClassName"),
      TEXT_OR("VolumeAttributesClass", "spec.volumeAttributesClassName", "<unset>"),
      TEXT("Reason", "status.reason"), AGE, WIDE_TEXT("VolumeMode", "spec.volumeMode"), END}},
    {"",
     "replicationcontrollers",
     {NAME, NUMBER("Desired", "spec.replicas"), NUMBER("Current", "status.replicas"),
      NUMBER("Ready", "status.readyReplicas"), AGE, WORKLOAD("spec.selector"), END}},
    {"apps",
     "deployments",
     {NAME, CELL("Ready", ratio, "status.readyReplicas", "spec.replicas"),
      CELL("Up-to-date", number, "status.updatedReplicas", NULL),
      CELL("Available", number, "status.availableReplicas", NULL), AGE,
      WORKLOAD("spec.selector.matchLabels"), END}},
    {"apps",
     "replicasets",
     {NAME, NUMBER("Desired", "spec.replicas"), NUMBER("Current", "status.replicas"),
      NUMBER("Ready", "status.readyReplicas"), AGE, WORKLOAD("spec.selector.matchLabels"), END}},
    {"apps",
     "statefulsets",
     {NAME, CELL("Ready", ratio, "status.readyReplicas", "spec.replicas"), AGE,
      WIDE_LIST("Containers", TEMPLATE, "name"), WIDE_LIST("Images", TEMPLATE, "image"), END}},
    {"apps",
     "daemonsets",
     {NAME, NUMBER("Desired", "status.desiredNumberScheduled"),
      NUMBER("Current", "status.currentNumberScheduled"), NUMBER("Ready", "status.numberReady"),
      NUMBER("Up-to-date", "status.updatedNumberScheduled"),
      NUMBER("Available", "status.numberAvailable"),
      CELL("Node Selector", labels, "spec.template.spec.nodeSelector", NULL), AGE,
      WORKLOAD("spec.selector.matchLabels"), END}},
    {"batch",
     "jobs",
     {NAME, CELL("Status", job_status, NULL, NULL),
      CELL("Completions", ratio, "status.succeeded", "spec.completions"),
      CELL("Duration", job_duration, NULL, NULL), AGE, WORKLOAD("spec.selector.matchLabels"), END}},
    {"batch",
     "cronjobs",
     {NAME, TEXT("Schedule", "spec.schedule"), TEXT_OR("Timezone", "spec.timeZone", "<none>"),
      FLAG("Suspend", "spec.suspend"), COUNT("Active", "status.active"),
      CELL("Last Schedule", since, "status.lastScheduleTime", NULL), AGE,
      WIDE_LIST("Containers", "spec.jobTemplate." TEMPLATE, "name"),
      WIDE_LIST("Images", "spec.jobTemplate." TEMPLATE, "image"),
      WIDE_LABELS("Selector", "spec.jobTemplate.spec.selector.matchLabels"), END}},
    {"networking.k8s.io",
     "ingresses",
     {NAME, TEXT_OR("Class", "spec.ingressClassName", "<none>"),
      CELL("Hosts", list, "spec.rules", "host"),
      CELL("Address", list, "status.loadBalancer.ingress", "ip"),
      CELL("Ports", ingress_ports, "spec.tls", NULL), AGE, END}},
    {"networking.k8s.io",
     "ingressclasses",
     {NAME, TEXT("Controller", "spec.controller"),
      TEXT_OR("Parameters", "spec.parameters.name", "<none>"), AGE, END}},
    {"networking.k8s.io",
     "networkpolicies",
     {NAME, CELL("Pod-Selector", labels, "spec.podSelector.matchLabels", NULL), AGE, END}},
    {"policy",
     "poddisruptionbudgets",
     {NAME, TEXT_OR("Min Available", "spec.minAvailable", "N/A"),
      TEXT_OR("Max Unavailable", "spec.maxUnavailable", "N/A"),
      NUMBER("Allowed Disruptions", "status.disruptionsAllowed"), AGE, END}},
    {"storage.k8s.io",
     "storageclasses",
     {NAME, TEXT("Provisioner", "provisioner"), TEXT_OR("ReclaimPolicy", "reclaimPolicy", "Delete"),
      TEXT_OR("VolumeBindingMode", "volumeBindingMode", "Immediate"),
      CELL("AllowVolumeExpansion", flag, "allowVolumeExpansion", NULL), AGE, END}},
    {"coordination.k8s.io", "leases", {NAME, TEXT("Holder", "spec.holderIdentity"), AGE, END}},
    {"scheduling.k8s.io",
     "priorityclasses",
     {NAME, NUMBER("Value", "value"), FLAG("Global-Default", "globalDefault"), AGE,
      WIDE_TEXT("PreemptionPolicy", "preemptionPolicy"), END}},
    {"rbac.authorization.k8s.io", "roles", {NAME, CREATED, END}},
    {"rbac.authorization.k8s.io", "clusterroles", {NAME, CREATED, END}},
    {"rbac.authorization.k8s.io",
     "rolebindings",
     {NAME, CELL("Role", role, "roleRef", NULL), AGE, END}},
    {"rbac.authorization.k8s.io",
     "clusterrolebindings",
     {NAME, CELL("Role", role, "roleRef", NULL), AGE, END}},
    {"apiextensions.k8s.io", "customresourcedefinitions", {NAME, CREATED, END}},
    {"", "limitranges", {NAME, CREATED, END}},
    {"storage.k8s.io", "csistoragecapacities", {NAME, CREATED, END}},
    {"storage.k8s.io", "csinodes", {NAME, COUNT("Drivers", "spec.drivers"), AGE, END}},
    {"admissionregistration.k8s.io",
     "mutatingwebhookconfigurations",
     {NAME, COUNT("Webhooks", "webhooks"), AGE, END}},
    {"admissionregistration.k8s.io",
     "validatingwebhookconfigurations",
     {NAME, COUNT("Webhooks", "webhooks"), AGE, END}},
};

static const ki_column *columns_of(const ki_resource *resource)
{
    static const ki_column usual[] = {NAME, AGE, END};
    static const ki_column custom[] = {NAME, COLUMN("Age", "date", false, age, NULL, NULL), END};
    const char *group = ki_resource_group(resource);
    const char *name = ki_resource_name(resource);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(kinds[i].group, group) == 0 && strcmp(kinds[i].name, name) == 0) {
            return kinds[i].columns;
        }
    }
    return ki_resource_builtin(group, ki_resource_version(resource), name) != NULL ? usual : custom;
}

const ki_column *ki_column_at(const ki_resource *resource, size_t index)
{
    const ki_column *column = columns_of(resource);
    while (index > 0 && column->title != NULL) {
        column++;
        index--;
    }
    return column->title != NULL ? column : NULL;
}

const char *ki_column_title(const ki_column *column)
{
    return column->title;
}

ki_cell_type ki_column_cell_type(const ki_column *column)
{
    return column->cell->type;
}

bool ki_column_is_wide(const ki_column *column)
{
    return column->wide;
}

const char *ki__column_table_type(const ki_column *column)
{
    return column->table_type;
}

int ki_column_write(const ki_column *column, const ki_object *object, int64_t now_s, ki_buf *out)
{
    KI__REQUIRE(column, NULL);
    KI__REQUIRE(object, NULL);
    KI__REQUIRE(out, NULL);
    ki__out text = ki__out_to(out);
    column->cell->write(column, object, now_s, &text);
    return ki__out_commit(&text);
}
