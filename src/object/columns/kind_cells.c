/* SPDX-License-Identifier: Apache-2.0 */
/* Cells of single kinds, where <kinformer/kinds.h> and paths do not suffice. */
#include <kinformer/kinds.h>

#include "base/ascii.h"
#include "object/columns/cell_values.h"
#include "object/columns/column_cells.h"
#include "object/value.h"

/* ---- pods ---- */

static void pod_ready(const ki_column *c, const ki_object *pod, int64_t now_s, ki__out *out)
{
    (void)c;
    (void)now_s;
    ki__out_u64(out, ki_pod_ready_count(pod));
    ki__out_char(out, '/');
    ki__out_u64(out, ki_pod_container_count(pod));
}

/* Why the first container that is not running is waiting or terminated; a string, or none. */
static ki_value container_reason(const ki_object *pod)
{
    ki_value statuses = ki__cell_value_at(pod, "status.containerStatuses");
    ki_value_iter iter = ki__cell_walk(&statuses, KI_TYPE_LIST);
    ki_value status;
    while (ki_value_iter_next(&iter, NULL, &status) > 0) {
        ki_value state = ki__value_child(&status, "state");
        ki_value waiting = ki__value_child(&state, "waiting");
        ki_value ended = ki__value_child(&state, "terminated");
        ki_value reason = ki__value_child(&waiting, "reason");
        if (ki_value_type(&reason) != KI_TYPE_STRING) {
            reason = ki__value_child(&ended, "reason");
        }
        if (ki_value_type(&reason) == KI_TYPE_STRING) {
            return reason;
        }
    }
    return (ki_value){0};
}

static void pod_status(const ki_column *c, const ki_object *pod, int64_t now_s, ki__out *out)
{
    (void)c;
    (void)now_s;
    if (ki_object_is_deleting(pod)) {
        ki__out_text(out, "Terminating");
        return;
    }
    ki_value status = ki__cell_value_at(pod, "status.reason");
    if (ki_value_type(&status) != KI_TYPE_STRING) {
        status = container_reason(pod);
    }
    if (ki_value_type(&status) != KI_TYPE_STRING) {
        status = ki__cell_value_at(pod, "status.phase");
    }
    ki__cell_add_value(&status, "Pending", out);
}

static void pod_restarts(const ki_column *c, const ki_object *pod, int64_t now_s, ki__out *out)
{
    (void)c;
    (void)now_s;
    ki__out_i64(out, ki_pod_restarts(pod));
}

/* ---- services ---- */

static void external_ip(const ki_column *c, const ki_object *service, int64_t now_s, ki__out *out)
{
    (void)c;
    (void)now_s;
    ki_str type = ki_service_type(service);
    if (ki_str_eq_text(type, "LoadBalancer")) {
        ki__cell_add_list(service, "status.loadBalancer.ingress", "ip", "<pending>", out);
    } else if (ki_str_eq_text(type, "ExternalName")) {
        ki_value name = ki__cell_value_at(service, "spec.externalName");
        ki__cell_add_value(&name, "<none>", out);
    } else {
        ki__cell_add_list(service, "spec.externalIPs", "", "<none>", out);
    }
}

/* "80/TCP", or "443:30443/TCP" with a node port */
static void add_port(const ki_value *port, ki__out *out)
{
    ki_value protocol = ki__value_child(port, "protocol");
    int32_t node_port = ki__value_child_count(port, "nodePort");
    ki__out_i64(out, ki__value_child_count(port, "port"));
    if (node_port != 0) {
        ki__out_char(out, ':');
        ki__out_i64(out, node_port);
    }
    ki__out_char(out, '/');
    ki__cell_add_value(&protocol, "TCP", out);
}

static void service_ports(const ki_column *c, const ki_object *service, int64_t now_s, ki__out *out)
{
    (void)now_s;
    ki_value list = ki__cell_value_at(service, c->path);
    ki_value port;
    size_t begin = out->buf->len;
    ki_value_iter iter = ki__cell_walk(&list, KI_TYPE_LIST);
    while (ki_value_iter_next(&iter, NULL, &port) > 0) {
        ki__cell_add_comma(begin, out);
        add_port(&port, out);
    }
    ki__cell_add_if_empty(begin, "<none>", out);
}

static void ingress_ports(const ki_column *c, const ki_object *ingress, int64_t now_s, ki__out *out)
{
    (void)now_s;
    ki_value tls = ki__cell_value_at(ingress, c->path);
    ki__out_text(out, ki_value_count(&tls) != 0 ? "80, 443" : "80");
}

/* ---- nodes ---- */

static void node_status(const ki_column *c, const ki_object *node, int64_t now_s, ki__out *out)
{
    (void)c;
    (void)now_s;
    ki_value condition = ki_object_condition(node, "Ready");
    const char *ready = ki_value_type(&condition) == KI_TYPE_NONE ? "Unknown"
                        : ki_node_is_ready(node)                  ? "Ready"
                                                                  : "NotReady";
    ki__out_text(out, ready);
    bool cordoned = ki_node_is_unschedulable(node);
    ki__out_text(out, cordoned ? ",SchedulingDisabled" : "");
}

static void node_roles(const ki_column *c, const ki_object *node, int64_t now_s, ki__out *out)
{
    (void)c;
    (void)now_s;
    static const char prefix[] = "node-role.kubernetes.io/";
    const size_t prefix_len = sizeof(prefix) - 1;
    ki_value labels = ki_object_labels(node);
    ki_value key;
    ki_value value;
    ki_str label;
    size_t begin = out->buf->len;
    ki_value_iter iter = ki__cell_walk(&labels, KI_TYPE_MAP);
    while (ki_value_iter_next(&iter, &key, &value) > 0) {
        if (ki_value_string(&key, &label) == 0 && label.len > prefix_len &&
            memcmp(label.ptr, prefix, prefix_len) == 0) {
            ki__cell_add_comma(begin, out);
            ki__out_str(out, ki_str_make(label.ptr + prefix_len, label.len - prefix_len));
        }
    }
    ki__cell_add_if_empty(begin, "<none>", out);
}

static void node_address(const ki_column *c, const ki_object *node, int64_t now_s, ki__out *out)
{
    (void)now_s;
    ki_value addresses = ki__cell_value_at(node, "status.addresses");
    ki_value_iter iter = ki__cell_walk(&addresses, KI_TYPE_LIST);
    ki_value address;
    ki_value text = {0};
    while (ki_value_type(&text) == KI_TYPE_NONE && ki_value_iter_next(&iter, NULL, &address) > 0) {
        ki_value type = ki__value_child(&address, "type");
        if (ki_value_equals(&type, ki_str_from(c->other))) {
            text = ki__value_child(&address, "address");
        }
    }
    ki__cell_add_value(&text, "<none>", out);
}

/* ---- events, volumes, jobs ---- */

/* "pod/web-1" */
static void event_object(const ki_column *c, const ki_object *event, int64_t now_s, ki__out *out)
{
    (void)c;
    (void)now_s;
    ki_reference about = KI_OPTIONS_INIT(ki_reference);
    (void)ki_event_involved(event, &about);
    for (size_t i = 0; i < about.kind.len; i++) {
        char letter = about.kind.ptr[i];
        ki__out_char(out, ki__to_lower(letter));
    }
    ki__out_char(out, '/');
    ki__out_str(out, about.name);
}

/* "shop/data" */
static void volume_claim(const ki_column *c, const ki_object *volume, int64_t now_s, ki__out *out)
{
    (void)now_s;
    ki_value claim = ki__cell_value_at(volume, c->path);
    ki_value space = ki__value_child(&claim, "namespace");
    ki_value name = ki__value_child(&claim, "name");
    if (ki_value_type(&name) == KI_TYPE_STRING) {
        ki__cell_add_value(&space, "", out);
        ki__out_char(out, '/');
        ki__cell_add_value(&name, "", out);
    }
}

static void job_status(const ki_column *c, const ki_object *job, int64_t now_s, ki__out *out)
{
    (void)c;
    (void)now_s;
    ki__out_text(out, ki_job_is_complete(job)                         ? "Complete"
                      : ki_job_is_failed(job)                         ? "Failed"
                      : ki_object_condition_is_true(job, "Suspended") ? "Suspended"
                      : ki_object_is_deleting(job)                    ? "Terminating"
                                                                      : "Running");
}

static void job_duration(const ki_column *c, const ki_object *job, int64_t now_s, ki__out *out)
{
    (void)c;
    int64_t from = ki__cell_time_at(job, "status.startTime");
    int64_t to = ki__cell_time_at(job, "status.completionTime");
    if (from != 0) {
        ki__cell_add_age(from, to != 0 ? to : now_s, out);
    }
}

const ki__cell ki__cell_pod_ready = {pod_ready, KI_CELL_TEXT};
const ki__cell ki__cell_pod_status = {pod_status, KI_CELL_TEXT};
const ki__cell ki__cell_pod_restarts = {pod_restarts, KI_CELL_TEXT};
const ki__cell ki__cell_service_external_ip = {external_ip, KI_CELL_TEXT};
const ki__cell ki__cell_service_ports = {service_ports, KI_CELL_TEXT};
const ki__cell ki__cell_node_status = {node_status, KI_CELL_TEXT};
const ki__cell ki__cell_node_roles = {node_roles, KI_CELL_TEXT};
const ki__cell ki__cell_node_address = {node_address, KI_CELL_TEXT};
const ki__cell ki__cell_event_object = {event_object, KI_CELL_TEXT};
const ki__cell ki__cell_volume_claim = {volume_claim, KI_CELL_TEXT};
const ki__cell ki__cell_job_status = {job_status, KI_CELL_TEXT};
const ki__cell ki__cell_job_duration = {job_duration, KI_CELL_TIME};
const ki__cell ki__cell_ingress_ports = {ingress_ports, KI_CELL_TEXT};
