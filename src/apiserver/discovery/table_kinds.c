/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of the common built-in kinds. A cell writes a JSON value; what is not there is shown
 * as real servers show it. */
#include <kinformer/error.h>

#include "apiserver/discovery/table_response.h"
#include "object/edit/json_emit.h"
#include "object/text/rfc3339.h"

#define TEXT_MAX ((size_t)1 << 20)

/* ---- reading ---- */

static ki_value member(const ki_value *map, ki_str name)
{
    ki_value value;
    return ki_value_member(map, name, &value) == 0 ? value : (ki_value){0};
}

static ki_value below(ki_value value, const char *path)
{
    while (*path != '\0') {
        const char *dot = strchr(path, '.');
        size_t len = dot != NULL ? (size_t)(dot - path) : strlen(path);
        value = member(&value, ki_str_make(path, len));
        path += len + (dot != NULL ? 1 : 0);
    }
    return value;
}

ki_value ki__api_value_at(const ki_object *object, const char *path)
{
    return below(ki_object_root(object), path);
}

bool ki__api_copy_text(const ki_value *value, char *text, size_t size)
{
    return ki_value_get_string(value, text, size) >= 0;
}

static int64_t number_of(ki_value value, int64_t otherwise)
{
    int64_t number;
    return ki_value_int64(&value, &number) == 0 ? number : otherwise;
}

static int64_t number_at(const ki_object *object, const char *path, int64_t otherwise)
{
    return number_of(ki__api_value_at(object, path), otherwise);
}

static size_t count_of(ki_value value)
{
    size_t count = 0;
    return ki_value_count(&value, &count) == 0 ? count : 0;
}

static bool is_true(ki_value value)
{
    bool flag = false;
    return ki_value_bool(&value, &flag) == 0 && flag;
}

/* ---- plain cells ---- */

static int text_or(ki_value value, const char *otherwise, ki_buf *out)
{
    if (ki_value_type(&value) == KI_TYPE_STRING && !ki_value_equals(&value, ki_str_from(""))) {
        return ki_value_write_json(&value, out);
    }
    if (ki_value_type(&value) == KI_TYPE_NUMBER || ki_value_type(&value) == KI_TYPE_BOOL) {
        int r = ki_buf_add_char(out, '"');
        r = r < 0 ? r : ki_value_write_json(&value, out);
        return r < 0 ? r : ki_buf_add_char(out, '"');
    }
    return ki__emit_string(out, ki_str_from(otherwise));
}

static int name(const ki_object *o, const ki__api_column *c, int64_t now, ki_buf *out)
{
    (void)c;
    (void)now;
    return ki__emit_string(out, ki_str_from(ki_object_name(o)));
}

static int text(const ki_object *o, const ki__api_column *c, int64_t now, ki_buf *out)
{
    (void)now;
    return text_or(ki__api_value_at(o, c->path), "", out);
}

static int text_or_none(const ki_object *o, const ki__api_column *c, int64_t now, ki_buf *out)
{
    (void)now;
    return text_or(ki__api_value_at(o, c->path), "<none>", out);
}

static int text_or_unset(const ki_object *o, const ki__api_column *c, int64_t now, ki_buf *out)
{
    (void)now;
    return text_or(ki__api_value_at(o, c->path), c->other, out);
}

static int number(const ki_object *o, const ki__api_column *c, int64_t now, ki_buf *out)
{
    (void)now;
    return ki__emit_i64(out, number_at(o, c->path, 0));
}

static int flag(const ki_object *o, const ki__api_column *c, int64_t now, ki_buf *out)
{
    (void)now;
    return ki_buf_add_text(out, is_true(ki__api_value_at(o, c->path)) ? "true" : "false");
}

/* How many members two maps or lists have. */
static int count(const ki_object *o, const ki__api_column *c, int64_t now, ki_buf *out)
{
    (void)now;
    size_t members = count_of(ki__api_value_at(o, c->path));
    members += c->other != NULL ? count_of(ki__api_value_at(o, c->other)) : 0;
    return ki__emit_u64(out, members);
}

/* "2/3": what there is of what shall be. */
static int ratio(const ki_object *o, const ki__api_column *c, int64_t now, ki_buf *out)
{
    (void)now;
    int r = ki_buf_add_char(out, '"');
    r = r < 0 ? r : ki__emit_i64(out, number_at(o, c->path, 0));
    r = r < 0 ? r : ki_buf_add_char(out, '/');
    r = r < 0 ? r : ki__emit_i64(out, number_at(o, c->other, 1));
    return r < 0 ? r : ki_buf_add_char(out, '"');
}

static int quoted_age(int64_t seconds, int64_t now, ki_buf *out)
{
    if (seconds == 0) {
        return ki_buf_add_text(out, "\"<unknown>\"");
    }
    int r = ki_buf_add_char(out, '"');
    r = r < 0 ? r : ki__api_age(seconds, now, out);
    return r < 0 ? r : ki_buf_add_char(out, '"');
}

int ki__api_cell_age(const ki_object *o, const ki__api_column *c, int64_t now, ki_buf *out)
{
    (void)c;
    return quoted_age(ki_object_creation_time(o), now, out);
}

static int64_t time_of(ki_value value)
{
    char room[64];
    int64_t seconds;
    return ki__api_copy_text(&value, room, sizeof(room)) &&
                   ki__rfc3339_read(ki_str_from(room), &seconds) == 0
               ? seconds
               : 0;
}

/* How long ago the time at the path was, or at the other one. */
static int ago(const ki_object *o, const ki__api_column *c, int64_t now, ki_buf *out)
{
    int64_t seconds = time_of(ki__api_value_at(o, c->path));
    if (seconds == 0 && c->other != NULL) {
        seconds = time_of(ki__api_value_at(o, c->other));
    }
    if (seconds == 0 && c->other == NULL) {
        return ki_buf_add_text(out, "\"<none>\"");
    }
    return quoted_age(seconds != 0 ? seconds : ki_object_creation_time(o), now, out);
}

static int created(const ki_object *o, const ki__api_column *c, int64_t now, ki_buf *out)
{
    (void)now;
    (void)c;
    int r = ki_buf_add_char(out, '"');
    r = r < 0 ? r : ki__emit_time(out, ki_object_creation_time(o));
    return r < 0 ? r : ki_buf_add_char(out, '"');
}

/* ---- lists as text ---- */

/* Writes what was gathered, as far as it fits into a cell, and frees it. */
static int finish(ki_buf *all, int r, const char *otherwise, ki_buf *out)
{
    r = r == KI_ERR_LIMIT ? 0 : r;
    r = r < 0 ? r : ki__emit_string(out, all->len != 0 ? ki_buf_str(all) : ki_str_from(otherwise));
    ki_buf_done(all);
    return r;
}

/* Writes the strings below each element of a list, with commas; "" for the element itself. */
static int join(ki_value list, const char *path, const char *otherwise, ki_buf *out)
{
    ki_iter iter;
    ki_value element;
    ki_buf all;
    int r = 0;
    ki_buf_init(&all, out->alloc, TEXT_MAX);
    if (ki_value_type(&list) == KI_TYPE_LIST && ki_value_iter(&list, &iter) == 0) {
        while (r == 0 && ki_iter_next(&iter, NULL, &element) > 0) {
            ki_value part = below(element, path);
            if (ki_value_type(&part) == KI_TYPE_STRING) {
                r = all.len != 0 ? ki_buf_add_char(&all, ',') : 0;
                r = r < 0 ? r : ki_value_copy_string(&part, &all);
            }
        }
    }
    return finish(&all, r, otherwise, out);
}

static int container_names(const ki_object *o, const ki__api_column *c, int64_t now, ki_buf *out)
{
    (void)now;
    return join(ki__api_value_at(o, c->path), "name", "<none>", out);
}

static int container_images(const ki_object *o, const ki__api_column *c, int64_t now, ki_buf *out)
{
    (void)now;
    return join(ki__api_value_at(o, c->path), "image", "<none>", out);
}

static int listed(const ki_object *o, const ki__api_column *c, int64_t now, ki_buf *out)
{
    (void)now;
    return join(ki__api_value_at(o, c->path), c->other != NULL ? c->other : "", "<none>", out);
}

/* A map of strings as "a=b,c=d". */
static int labels(const ki_object *o, const ki__api_column *c, int64_t now, ki_buf *out)
{
    (void)now;
    ki_value map = ki__api_value_at(o, c->path);
    ki_iter iter;
    ki_value key;
    ki_value value;
    ki_buf text_of;
    ki_buf_init(&text_of, out->alloc, TEXT_MAX);
    int r = 0;
    if (ki_value_type(&map) == KI_TYPE_MAP && ki_value_iter(&map, &iter) == 0) {
        while (r == 0 && ki_iter_next(&iter, &key, &value) > 0) {
            r = text_of.len != 0 ? ki_buf_add_char(&text_of, ',') : 0;
            r = r < 0 ? r : ki_value_copy_string(&key, &text_of);
            r = r < 0 ? r : ki_buf_add_char(&text_of, '=');
            if (r == 0 && ki_value_type(&value) == KI_TYPE_STRING) {
                r = ki_value_copy_string(&value, &text_of);
            }
        }
    }
    return finish(&text_of, r, "<none>", out);
}

/* ---- pods ---- */

typedef struct pod_state {
    int64_t ready;
    int64_t restarts;
    ki_value reason; /* why a container does not run; a string, or none */
} pod_state;

static pod_state read_pod(const ki_object *pod)
{
    pod_state state = {0};
    ki_value statuses = ki__api_value_at(pod, "status.containerStatuses");
    ki_iter iter;
    ki_value status;
    if (ki_value_type(&statuses) != KI_TYPE_LIST || ki_value_iter(&statuses, &iter) < 0) {
        return state;
    }
    while (ki_iter_next(&iter, NULL, &status) > 0) {
        ki_value waiting = below(status, "state.waiting.reason");
        ki_value ended = below(status, "state.terminated.reason");
        state.ready += is_true(below(status, "ready")) ? 1 : 0;
        state.restarts += number_of(below(status, "restartCount"), 0);
        if (ki_value_type(&waiting) == KI_TYPE_STRING) {
            state.reason = waiting;
        } else if (ki_value_type(&ended) == KI_TYPE_STRING) {
            state.reason = ended;
        }
    }
    return state;
}

static int pod_ready(const ki_object *o, const ki__api_column *c, int64_t now, ki_buf *out)
{
    (void)now;
    pod_state state = read_pod(o);
    int r = ki_buf_add_char(out, '"');
    r = r < 0 ? r : ki__emit_i64(out, state.ready);
    r = r < 0 ? r : ki_buf_add_char(out, '/');
    r = r < 0 ? r : ki__emit_u64(out, count_of(ki__api_value_at(o, c->path)));
    return r < 0 ? r : ki_buf_add_char(out, '"');
}

static int pod_status(const ki_object *o, const ki__api_column *c, int64_t now, ki_buf *out)
{
    (void)c;
    (void)now;
    if (ki_object_is_deleting(o)) {
        return ki_buf_add_text(out, "\"Terminating\"");
    }
    pod_state state = read_pod(o);
    ki_value reason = ki__api_value_at(o, "status.reason");
    if (ki_value_type(&reason) == KI_TYPE_STRING) {
        return ki_value_write_json(&reason, out);
    }
    return ki_value_type(&state.reason) == KI_TYPE_STRING
               ? ki_value_write_json(&state.reason, out)
               : text_or(ki__api_value_at(o, "status.phase"), "Pending", out);
}

static int pod_restarts(const ki_object *o, const ki__api_column *c, int64_t now, ki_buf *out)
{
    (void)c;
    (void)now;
    int r = ki_buf_add_char(out, '"');
    r = r < 0 ? r : ki__emit_i64(out, read_pod(o).restarts);
    return r < 0 ? r : ki_buf_add_char(out, '"');
}

/* ---- others ---- */

/* "80/TCP,443:30443/TCP" */
static int service_ports(const ki_object *o, const ki__api_column *c, int64_t now, ki_buf *out)
{
    (void)now;
    ki_value list = ki__api_value_at(o, c->path);
    ki_iter iter;
    ki_value port;
    bool first = true;
    if (count_of(list) == 0 || ki_value_iter(&list, &iter) < 0) {
        return ki_buf_add_text(out, "\"<none>\"");
    }
    int r = ki_buf_add_char(out, '"');
    while (r == 0 && ki_iter_next(&iter, NULL, &port) > 0) {
        char protocol[8] = "TCP";
        int64_t node_port = number_of(below(port, "nodePort"), 0);
        ki_value value = below(port, "protocol");
        bool plain = ki_value_equals(&value, ki_str_from("UDP")) ||
                     ki_value_equals(&value, ki_str_from("SCTP"));
        if (plain) {
            (void)ki__api_copy_text(&value, protocol, sizeof(protocol));
        }
        r = first ? 0 : ki_buf_add_char(out, ',');
        r = r < 0 ? r : ki__emit_i64(out, number_of(below(port, "port"), 0));
        if (node_port != 0) {
            r = r < 0 ? r : ki_buf_add_char(out, ':');
            r = r < 0 ? r : ki__emit_i64(out, node_port);
        }
        r = r < 0 ? r : ki__emit_text(out, "/", protocol, NULL);
        first = false;
    }
    return r < 0 ? r : ki_buf_add_char(out, '"');
}

static int external_ip(const ki_object *o, const ki__api_column *c, int64_t now, ki_buf *out)
{
    (void)c;
    (void)now;
    ki_value type = ki__api_value_at(o, "spec.type");
    if (ki_value_equals(&type, ki_str_from("LoadBalancer"))) {
        return join(ki__api_value_at(o, "status.loadBalancer.ingress"), "ip", "<pending>", out);
    }
    if (ki_value_equals(&type, ki_str_from("ExternalName"))) {
        return text_or(ki__api_value_at(o, "spec.externalName"), "<none>", out);
    }
    return join(ki__api_value_at(o, "spec.externalIPs"), "", "<none>", out);
}

/* The status of a condition of the type that the column names, in words. */
static int node_status(const ki_object *o, const ki__api_column *c, int64_t now, ki_buf *out)
{
    (void)c;
    (void)now;
    ki_value conditions = ki__api_value_at(o, "status.conditions");
    ki_iter iter;
    ki_value condition;
    const char *ready = "Unknown";
    if (ki_value_type(&conditions) == KI_TYPE_LIST && ki_value_iter(&conditions, &iter) == 0) {
        while (ki_iter_next(&iter, NULL, &condition) > 0) {
            ki_value type = below(condition, "type");
            ki_value status = below(condition, "status");
            if (ki_value_equals(&type, ki_str_from("Ready"))) {
                ready = ki_value_equals(&status, ki_str_from("True")) ? "Ready" : "NotReady";
            }
        }
    }
    bool cordoned = is_true(ki__api_value_at(o, "spec.unschedulable"));
    return ki__emit_text(out, "\"", ready, cordoned ? ",SchedulingDisabled\"" : "\"", NULL);
}

static int node_roles(const ki_object *o, const ki__api_column *c, int64_t now, ki_buf *out)
{
    (void)c;
    (void)now;
    static const char prefix[] = "node-role.kubernetes.io/";
    ki_value map = ki_object_labels(o);
    ki_iter iter;
    ki_value key;
    ki_value value;
    ki_str label;
    ki_buf roles;
    int r = 0;
    ki_buf_init(&roles, out->alloc, TEXT_MAX);
    if (ki_value_type(&map) == KI_TYPE_MAP && ki_value_iter(&map, &iter) == 0) {
        while (r == 0 && ki_iter_next(&iter, &key, &value) > 0) {
            if (ki_value_string(&key, &label) == 0 && label.len > sizeof(prefix) - 1 &&
                memcmp(label.ptr, prefix, sizeof(prefix) - 1) == 0) {
                r = roles.len != 0 ? ki_buf_add_char(&roles, ',') : 0;
                r = r < 0 ? r
                          : ki_buf_add(&roles, label.ptr + sizeof(prefix) - 1,
                                       label.len - (sizeof(prefix) - 1));
            }
        }
    }
    return finish(&roles, r, "<none>", out);
}

/* "pod/web-1" */
static int event_object(const ki_object *o, const ki__api_column *c, int64_t now, ki_buf *out)
{
    (void)now;
    char kind[128] = "";
    char of[256] = "";
    ki_value reference = ki__api_value_at(o, c->path);
    ki_value value = below(reference, "kind");
    (void)ki__api_copy_text(&value, kind, sizeof(kind));
    value = below(reference, "name");
    (void)ki__api_copy_text(&value, of, sizeof(of));
    for (char *p = kind; *p != '\0'; p++) {
        *p = *p >= 'A' && *p <= 'Z' ? (char)(*p | 0x20) : *p;
    }
    ki_buf both;
    ki_buf_init(&both, out->alloc, 1024);
    int r = ki__emit_text(&both, kind, "/", of, NULL);
    r = r < 0 ? r : ki__emit_string(out, ki_buf_str(&both));
    ki_buf_done(&both);
    return r;
}

static int job_status(const ki_object *o, const ki__api_column *c, int64_t now, ki_buf *out)
{
    (void)c;
    (void)now;
    ki_value conditions = ki__api_value_at(o, "status.conditions");
    ki_iter iter;
    ki_value condition;
    const char *status = ki_object_is_deleting(o) ? "Terminating" : "Running";
    if (ki_value_type(&conditions) == KI_TYPE_LIST && ki_value_iter(&conditions, &iter) == 0) {
        while (ki_iter_next(&iter, NULL, &condition) > 0) {
            ki_value type = below(condition, "type");
            ki_value holds = below(condition, "status");
            if (!ki_value_equals(&holds, ki_str_from("True"))) {
                continue;
            }
            status = ki_value_equals(&type, ki_str_from("Complete"))    ? "Complete"
                     : ki_value_equals(&type, ki_str_from("Failed"))    ? "Failed"
                     : ki_value_equals(&type, ki_str_from("Suspended")) ? "Suspended"
                                                                        : status;
        }
    }
    return ki__emit_text(out, "\"", status, "\"", NULL);
}

static int job_duration(const ki_object *o, const ki__api_column *c, int64_t now, ki_buf *out)
{
    (void)c;
    int64_t from = time_of(ki__api_value_at(o, "status.startTime"));
    int64_t to = time_of(ki__api_value_at(o, "status.completionTime"));
    return from == 0 ? ki_buf_add_text(out, "\"\"") : quoted_age(from, to != 0 ? to : now, out);
}

/* "Role/reader" */
static int role(const ki_object *o, const ki__api_column *c, int64_t now, ki_buf *out)
{
    (void)now;
    ki_buf both;
    ki_value reference = ki__api_value_at(o, c->path);
    ki_value kind = below(reference, "kind");
    ki_value of = below(reference, "name");
    ki_buf_init(&both, out->alloc, 4096);
    int r = ki_value_type(&kind) == KI_TYPE_STRING ? ki_value_copy_string(&kind, &both) : 0;
    r = r < 0 ? r : ki_buf_add_char(&both, '/');
    r = r < 0 || ki_value_type(&of) != KI_TYPE_STRING ? r : ki_value_copy_string(&of, &both);
    r = r < 0 ? r : ki__emit_string(out, ki_buf_str(&both));
    ki_buf_done(&both);
    return r;
}

/* The first address of a node of the type that the column names. */
static int node_address(const ki_object *o, const ki__api_column *c, int64_t now, ki_buf *out)
{
    (void)now;
    ki_value addresses = ki__api_value_at(o, "status.addresses");
    ki_iter iter;
    ki_value address;
    if (ki_value_type(&addresses) == KI_TYPE_LIST && ki_value_iter(&addresses, &iter) == 0) {
        while (ki_iter_next(&iter, NULL, &address) > 0) {
            ki_value type = below(address, "type");
            if (ki_value_equals(&type, ki_str_from(c->other))) {
                return text_or(below(address, "address"), "<none>", out);
            }
        }
    }
    return ki_buf_add_text(out, "\"<none>\"");
}

static int ingress_ports(const ki_object *o, const ki__api_column *c, int64_t now, ki_buf *out)
{
    (void)now;
    bool tls = count_of(ki__api_value_at(o, c->path)) != 0;
    return ki_buf_add_text(out, tls ? "\"80, 443\"" : "\"80\"");
}

/* ---- the columns ---- */

#define NAME                                  \
    {                                         \
        "Name", "string", 0, name, NULL, NULL \
    }
#define AGE                                              \
    {                                                    \
        "Age", "string", 0, ki__api_cell_age, NULL, NULL \
    }
#define TEXT(title, path)                    \
    {                                        \
        title, "string", 0, text, path, NULL \
    }
#define NONE(title, path)                            \
    {                                                \
        title, "string", 0, text_or_none, path, NULL \
    }
#define UNSET(title, path)                                 \
    {                                                      \
        title, "string", 0, text_or_unset, path, "<unset>" \
    }
#define NUMBER(title, path)                     \
    {                                           \
        title, "integer", 0, number, path, NULL \
    }
#define WIDE(title, cell, path)              \
    {                                        \
        title, "string", 1, cell, path, NULL \
    }
#define CREATED                                      \
    {                                                \
        "Created At", "date", 0, created, NULL, NULL \
    }
#define END                             \
    {                                   \
        NULL, NULL, 0, NULL, NULL, NULL \
    }
#define TEMPLATE "spec.template.spec.containers"
#define WORKLOAD(selector)                                                                     \
    WIDE("Containers", container_names, TEMPLATE), WIDE("Images", container_images, TEMPLATE), \
        WIDE("Selector", labels, selector)

static const struct kind_columns {
    const char *group;
    const char *name;
    ki__api_column columns[14];
} kinds[] = {
    {"",
     "pods",
     {NAME,
      {"Ready", "string", 0, pod_ready, "spec.containers", NULL},
      {"Status", "string", 0, pod_status, NULL, NULL},
      {"Restarts", "string", 0, pod_restarts, NULL, NULL},
      AGE,
      WIDE("IP", text_or_none, "status.podIP"),
      WIDE("Node", text_or_none, "spec.nodeName"),
      WIDE("Nominated Node", text_or_none, "status.nominatedNodeName"),
      WIDE("Readiness Gates", text_or_none, "spec.readinessGates"),
      END}},
    {"",
     "services",
     {NAME,
      {"Type", "string", 0, text_or_unset, "spec.type", "ClusterIP"},
      NONE("Cluster-IP", "spec.clusterIP"),
      {"External-IP", "string", 0, external_ip, NULL, NULL},
      {"Port(s)", "string", 0, service_ports, "spec.ports", NULL},
      AGE,
      WIDE("Selector", labels, "spec.selector"),
      END}},
    {"",
     "nodes",
     {NAME,
      {"Status", "string", 0, node_status, NULL, NULL},
      {"Roles", "string", 0, node_roles, NULL, NULL},
      AGE,
      TEXT("Version", "status.nodeInfo.kubeletVersion"),
      {"Internal-IP", "string", 1, node_address, NULL, "InternalIP"},
      {"External-IP", "string", 1, node_address, NULL, "ExternalIP"},
      WIDE("OS-Image", text_or_none, "status.nodeInfo.osImage"),
      WIDE("Kernel-Version", text_or_none, "status.nodeInfo.kernelVersion"),
      WIDE("Container-Runtime", text_or_none, "status.nodeInfo.containerRuntimeVersion"),
      END}},
    {"", "namespaces", {NAME, TEXT("Status", "status.phase"), AGE, END}},
    {"", "configmaps", {NAME, {"Data", "string", 0, count, "data", "binaryData"}, AGE, END}},
    {"",
     "secrets",
     {NAME,
      {"Type", "string", 0, text_or_unset, "type", "Opaque"},
      {"Data", "string", 0, count, "data", NULL},
      AGE,
      END}},
    {"",
     "events",
     {{"Last Seen", "string", 0, ago, "lastTimestamp", "eventTime"},
      TEXT("Type", "type"),
      TEXT("Reason", "reason"),
      {"Object", "string", 0, event_object, "involvedObject", NULL},
      TEXT("Message", "message"),
      {"First Seen", "string", 1, ago, "firstTimestamp", "eventTime"},
      {"Count", "string", 1, text_or_unset, "count", "1"},
      {"Name", "string", 1, name, NULL, NULL},
      END}},
    {"events.k8s.io",
     "events",
     {{"Last Seen", "string", 0, ago, "series.lastObservedTime", "eventTime"},
      TEXT("Type", "type"),
      TEXT("Reason", "reason"),
      {"Object", "string", 0, event_object, "regarding", NULL},
      TEXT("Message", "note"),
      {"Name", "string", 1, name, NULL, NULL},
      END}},
    {"",
     "persistentvolumeclaims",
     {NAME,
      TEXT("Status", "status.phase"),
      TEXT("Volume", "spec.volumeName"),
      TEXT("Capacity", "status.capacity.storage"),
      {"Access Modes", "string", 0, listed, "status.accessModes", NULL},
      TEXT("StorageClass", "spec.storageClassName"),
      UNSET("VolumeAttributesClass", "spec.volumeAttributesClassName"),
      AGE,
      WIDE("VolumeMode", text_or_none, "spec.volumeMode"),
      END}},
    {"",
     "persistentvolumes",
     {NAME,
      TEXT("Capacity", "spec.capacity.storage"),
      {"Access Modes", "string", 0, listed, "spec.accessModes", NULL},
      TEXT("Reclaim Policy", "spec.persistentVolumeReclaimPolicy"),
      TEXT("Status", "status.phase"),
      TEXT("Claim", "spec.claimRef.name"),
      TEXT("StorageClass", "spec.storageClassName"),
      UNSET("VolumeAttributesClass", "spec.volumeAttributesClassName"),
      TEXT("Reason", "status.reason"),
      AGE,
      WIDE("VolumeMode", text_or_none, "spec.volumeMode"),
      END}},
    {"",
     "replicationcontrollers",
     {NAME, NUMBER("Desired", "spec.replicas"), NUMBER("Current", "status.replicas"),
      NUMBER("Ready", "status.readyReplicas"), AGE, WORKLOAD("spec.selector"), END}},
    {"apps",
     "deployments",
     {NAME,
      {"Ready", "string", 0, ratio, "status.readyReplicas", "spec.replicas"},
      {"Up-to-date", "string", 0, number, "status.updatedReplicas", NULL},
      {"Available", "string", 0, number, "status.availableReplicas", NULL},
      AGE,
      WORKLOAD("spec.selector.matchLabels"),
      END}},
    {"apps",
     "replicasets",
     {NAME, NUMBER("Desired", "spec.replicas"), NUMBER("Current", "status.replicas"),
      NUMBER("Ready", "status.readyReplicas"), AGE, WORKLOAD("spec.selector.matchLabels"), END}},
    {"apps",
     "statefulsets",
     {NAME,
      {"Ready", "string", 0, ratio, "status.readyReplicas", "spec.replicas"},
      AGE,
      WIDE("Containers", container_names, TEMPLATE),
      WIDE("Images", container_images, TEMPLATE),
      END}},
    {"apps",
     "daemonsets",
     {NAME,
      NUMBER("Desired", "status.desiredNumberScheduled"),
      NUMBER("Current", "status.currentNumberScheduled"),
      NUMBER("Ready", "status.numberReady"),
      NUMBER("Up-to-date", "status.updatedNumberScheduled"),
      NUMBER("Available", "status.numberAvailable"),
      {"Node Selector", "string", 0, labels, "spec.template.spec.nodeSelector", NULL},
      AGE,
      WORKLOAD("spec.selector.matchLabels"),
      END}},
    {"batch",
     "jobs",
     {NAME,
      {"Status", "string", 0, job_status, NULL, NULL},
      {"Completions", "string", 0, ratio, "status.succeeded", "spec.completions"},
      {"Duration", "string", 0, job_duration, NULL, NULL},
      AGE,
      WORKLOAD("spec.selector.matchLabels"),
      END}},
    {"batch",
     "cronjobs",
     {NAME,
      TEXT("Schedule", "spec.schedule"),
      NONE("Timezone", "spec.timeZone"),
      {"Suspend", "boolean", 0, flag, "spec.suspend", NULL},
      {"Active", "integer", 0, count, "status.active", NULL},
      {"Last Schedule", "string", 0, ago, "status.lastScheduleTime", NULL},
      AGE,
      WIDE("Containers", container_names, "spec.jobTemplate." TEMPLATE),
      WIDE("Images", container_images, "spec.jobTemplate." TEMPLATE),
      WIDE("Selector", labels, "spec.jobTemplate.spec.selector.matchLabels"),
      END}},
    {"networking.k8s.io",
     "ingresses",
     {NAME,
      NONE("Class", "spec.ingressClassName"),
      {"Hosts", "string", 0, listed, "spec.rules", "host"},
      {"Address", "string", 0, listed, "status.loadBalancer.ingress", "ip"},
      {"Ports", "string", 0, ingress_ports, "spec.tls", NULL},
      AGE,
      END}},
    {"networking.k8s.io",
     "ingressclasses",
     {NAME, TEXT("Controller", "spec.controller"), NONE("Parameters", "spec.parameters.name"), AGE,
      END}},
    {"networking.k8s.io",
     "networkpolicies",
     {NAME, {"Pod-Selector", "string", 0, labels, "spec.podSelector.matchLabels", NULL}, AGE, END}},
    {"policy",
     "poddisruptionbudgets",
     {NAME,
      {"Min Available", "string", 0, text_or_unset, "spec.minAvailable", "N/A"},
      {"Max Unavailable", "string", 0, text_or_unset, "spec.maxUnavailable", "N/A"},
      NUMBER("Allowed Disruptions", "status.disruptionsAllowed"),
      AGE,
      END}},
    {"storage.k8s.io",
     "storageclasses",
     {NAME,
      TEXT("Provisioner", "provisioner"),
      {"ReclaimPolicy", "string", 0, text_or_unset, "reclaimPolicy", "Delete"},
      {"VolumeBindingMode", "string", 0, text_or_unset, "volumeBindingMode", "Immediate"},
      {"AllowVolumeExpansion", "string", 0, flag, "allowVolumeExpansion", NULL},
      AGE,
      END}},
    {"coordination.k8s.io", "leases", {NAME, TEXT("Holder", "spec.holderIdentity"), AGE, END}},
    {"scheduling.k8s.io",
     "priorityclasses",
     {NAME,
      NUMBER("Value", "value"),
      {"Global-Default", "boolean", 0, flag, "globalDefault", NULL},
      AGE,
      WIDE("PreemptionPolicy", text_or_none, "preemptionPolicy"),
      END}},
    {"rbac.authorization.k8s.io", "roles", {NAME, CREATED, END}},
    {"rbac.authorization.k8s.io", "clusterroles", {NAME, CREATED, END}},
    {"rbac.authorization.k8s.io",
     "rolebindings",
     {NAME, {"Role", "string", 0, role, "roleRef", NULL}, AGE, END}},
    {"rbac.authorization.k8s.io",
     "clusterrolebindings",
     {NAME, {"Role", "string", 0, role, "roleRef", NULL}, AGE, END}},
    {"apiextensions.k8s.io", "customresourcedefinitions", {NAME, CREATED, END}},
    {"", "limitranges", {NAME, CREATED, END}},
    {"storage.k8s.io", "csistoragecapacities", {NAME, CREATED, END}},
    {"storage.k8s.io",
     "csinodes",
     {NAME, {"Drivers", "integer", 0, count, "spec.drivers", NULL}, AGE, END}},
    {"admissionregistration.k8s.io",
     "mutatingwebhookconfigurations",
     {NAME, {"Webhooks", "integer", 0, count, "webhooks", NULL}, AGE, END}},
    {"admissionregistration.k8s.io",
     "validatingwebhookconfigurations",
     {NAME, {"Webhooks", "integer", 0, count, "webhooks", NULL}, AGE, END}},
};

const ki__api_column *ki__api_columns_of(const ki_resource *resource)
{
    static const ki__api_column usual[] = {NAME, AGE, END};
    static const ki__api_column custom[] = {
        NAME, {"Age", "date", 0, ki__api_cell_age, NULL, NULL}, END};
    bool builtin = ki_resource_builtin(ki_resource_group(resource), ki_resource_version(resource),
                                       ki_resource_name(resource)) == resource;
    for (size_t i = 0; builtin && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(kinds[i].group, ki_resource_group(resource)) == 0 &&
            strcmp(kinds[i].name, ki_resource_name(resource)) == 0) {
            return kinds[i].columns;
        }
    }
    return builtin ? usual : custom;
}
