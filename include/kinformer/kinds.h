/* SPDX-License-Identifier: Apache-2.0 */
/* What programs ask most often of the common kinds, read in place from the object, whatever its
 * encoding is. Everything else is a path (<kinformer/path.h>) or a value (<kinformer/value.h>)
 * away.
 *
 * The functions take an object of their kind and do not look whether it is one. Those that return
 * no int never fail: what the object does not have, or has with another type, is "", 0, false or a
 * value of KI_TYPE_NONE. A ki_str is a view into the object, valid as long as it is; it is used for
 * names and words that need no escapes in JSON, and is empty if the object has them escaped all the
 * same. Counts are within 0 and INT32_MAX, as in the API.
 *
 * All functions may be called on any thread and never block. They allocate nothing, but for those
 * that append to a buffer. */
#ifndef KINFORMER_KINDS_H
#define KINFORMER_KINDS_H

#include <kinformer/buf.h>
#include <kinformer/defs.h>
#include <kinformer/object.h>
#include <kinformer/str.h>
#include <kinformer/value.h>

KI_BEGIN_DECLS

/* Any kind with status.conditions.  Since: 0.1 */

/** The condition of this type, a map with `status`, `reason`, `message` and more. */
KI_API ki_value ki_object_condition(const ki_object *object, const char *type);

/** Whether the condition of this type is there and has the status "True". */
KI_API bool ki_object_condition_is_true(const ki_object *object, const char *type);

/* Pods.  Since: 0.1 */

KI_API ki_str ki_pod_phase(const ki_object *pod);     /* "Pending", "Running", "Succeeded", ... */
KI_API ki_str ki_pod_node_name(const ki_object *pod); /* empty until it is scheduled */
KI_API ki_str ki_pod_ip(const ki_object *pod);        /* the first, if it has several */
KI_API bool ki_pod_is_ready(const ki_object *pod);    /* its condition, not its containers */
/** Its containers without init and ephemeral ones, how many of them are ready, and how often all
 *  of them together were restarted. */
KI_API size_t ki_pod_container_count(const ki_object *pod);
KI_API size_t ki_pod_ready_count(const ki_object *pod);
KI_API int64_t ki_pod_restarts(const ki_object *pod);

/* Nodes.  Since: 0.1 */

/** Whether the condition Ready is "True"; whether the node is cordoned (spec.unschedulable). */
KI_API bool ki_node_is_ready(const ki_object *node);
KI_API bool ki_node_is_unschedulable(const ki_object *node);

/* Workloads.  Since: 0.1 */

/** How many pods there are, and should be. */
typedef struct ki_replicas {
    int32_t desired;   /* 1 if the spec does not say; of a DaemonSet, what its status says */
    int32_t total;     /* pods that exist */
    int32_t ready;     /* of these, ready */
    int32_t available; /* of these, ready for long enough */
    int32_t updated;   /* pods of the present template; of a ReplicaSet, all of them */
    bool observed;     /* the status is about the present spec, not an older generation */
} ki_replicas;

/** The replica counts of a workload. */
KI_API ki_replicas ki_deployment_replicas(const ki_object *deployment);
KI_API ki_replicas ki_replicaset_replicas(const ki_object *replica_set);
KI_API ki_replicas ki_statefulset_replicas(const ki_object *stateful_set);
KI_API ki_replicas ki_daemonset_replicas(const ki_object *daemon_set);

/** Whether a job has ended, and how. Both are false while it runs. */
KI_API bool ki_job_is_complete(const ki_object *job);
KI_API bool ki_job_is_failed(const ki_object *job);

/* Services and namespaces.  Since: 0.1 */

KI_API ki_str ki_service_type(const ki_object *service);       /* "ClusterIP" if it has none */
KI_API ki_str ki_service_cluster_ip(const ki_object *service); /* "None" if it is headless */
KI_API ki_str ki_namespace_phase(const ki_object *name_space); /* "Active" or "Terminating" */

/* ConfigMaps and Secrets.  Since: 0.1 */

/** The string that a ConfigMap has under `key` in its data.
 *  Errors: KI_ERR_NOT_FOUND;  KI_ERR_TYPE  it is no string. */
KI_API KI_NODISCARD int ki_configmap_get(const ki_object *config_map, ki_str key,
                                         ki_value *ret_value);

/** Appends what a ConfigMap has under `key`, in its data or, decoded, in its binaryData.
 *  Errors: KI_ERR_NOT_FOUND;  KI_ERR_TYPE  it is no string;  KI_ERR_INVALID  it is no base64;
 *          KI_ERR_LIMIT or -ENOMEM from `out`, which after any error is as it was. */
KI_API KI_NODISCARD int ki_configmap_copy(const ki_object *config_map, ki_str key, ki_buf *out);

/** Appends what a Secret has under `key`, decoded.  Errors: as ki_configmap_copy(). */
KI_API KI_NODISCARD int ki_secret_copy(const ki_object *secret, ki_str key, ki_buf *out);

/* Events, of v1 and of events.k8s.io/v1.  Since: 0.1 */

/** What an object says of another. */
typedef struct ki_reference {
    ki_str api_version;
    ki_str kind;
    ki_str name_space;
    ki_str name;
    ki_str uid;
} ki_reference;

/** The reason of an event; whether its type is "Warning"; its message. */
KI_API ki_str ki_event_reason(const ki_object *event);
KI_API bool ki_event_is_warning(const ki_object *event);
KI_API ki_value ki_event_message(const ki_object *event); /* a string, or of KI_TYPE_NONE */
/** The object that the event is about. */
KI_API ki_reference ki_event_involved(const ki_object *event);

/* Leases.  Since: 0.1 */

KI_API ki_value ki_lease_holder(const ki_object *lease); /* a string, or of KI_TYPE_NONE */
/** spec.leaseDurationSeconds. */
KI_API int32_t ki_lease_duration_s(const ki_object *lease);

/* CustomResourceDefinitions.  Since: 0.1 */

/** What a definition defines: enough for ki_resource_new(). */
typedef struct ki_crd {
    ki_str group;
    ki_str plural;
    ki_str singular;
    ki_str kind;
    ki_str list_kind;
    ki_str version; /* the one that is stored; empty if none is */
    bool cluster_scoped;
    bool established; /* the server serves it */
} ki_crd;

/** What the definition says. */
KI_API ki_crd ki_crd_of(const ki_object *definition);

KI_END_DECLS

#endif
