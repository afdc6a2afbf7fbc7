/* SPDX-License-Identifier: Apache-2.0 */
/* Common fields of common kinds, read in place from an object in any encoding. Other fields are
 * read with a path (<kinformer/path.h>) or a value (<kinformer/value.h>).
 *
 * The functions do not check the object's kind. Those that do not return an int never fail: fields
 * that are absent or have another type are "", 0, false or a value of KI_TYPE_NONE. A ki_str is a
 * view into the object and valid as long as the object; it is used for names and words that need no
 * escapes in JSON, and is empty if they are escaped nevertheless. Counts are between 0 and
 * INT32_MAX, as in the API.
 *
 * Of a partial object (projection.h), functions that return an int fail with KI_ERR_NOT_KEPT if a
 * field that they need was not kept; values are then of KI_TYPE_NONE, as ki_object_at() returns;
 * the other functions must only be called if their fields are kept.
 *
 * All functions are thread-safe and never block. They allocate nothing, except those that append to
 * a buffer. */
#ifndef KINFORMER_KINDS_H
#define KINFORMER_KINDS_H

#include <kinformer/buf.h>
#include <kinformer/defs.h>
#include <kinformer/object.h>
#include <kinformer/str.h>
#include <kinformer/value.h>

KI_BEGIN_DECLS

/* Any kind with status.conditions.  Since: 0.1 */

/** Returns the condition of this type, a map with `status`, `reason`, `message` and more. */
KI_API ki_value ki_object_condition(const ki_object *object, const char *type);

/** Returns whether the condition of this type exists and has the status "True". */
KI_API bool ki_object_condition_is_true(const ki_object *object, const char *type);

/* Pods.  Since: 0.1 */

/** Returns the phase of a pod: "Pending", "Running", "Succeeded", "Failed" or "Unknown". */
KI_API ki_str ki_pod_phase(const ki_object *pod);
/** Returns the name of a pod's node; empty until the pod is scheduled. */
KI_API ki_str ki_pod_node_name(const ki_object *pod);
/** Returns the IP address of a pod; the first, if it has several. */
KI_API ki_str ki_pod_ip(const ki_object *pod);
/** Returns whether a pod is ready, according to its Ready condition, not its containers. */
KI_API bool ki_pod_is_ready(const ki_object *pod);
/** Returns the number of containers of a pod, without init and ephemeral ones. */
KI_API size_t ki_pod_container_count(const ki_object *pod);
/** Returns the number of ready containers of a pod, without init and ephemeral ones. */
KI_API size_t ki_pod_ready_count(const ki_object *pod);
/** Returns the sum of the restarts of all containers of a pod, without init and ephemeral ones. */
KI_API int64_t ki_pod_restarts(const ki_object *pod);

/* Nodes.  Since: 0.1 */

/** Returns whether the condition Ready of a node is "True". */
KI_API bool ki_node_is_ready(const ki_object *node);
/** Returns whether a node is cordoned (spec.unschedulable). */
KI_API bool ki_node_is_unschedulable(const ki_object *node);

/* Workloads.  Since: 0.1 */

/** The numbers of actual and desired pods. */
typedef struct ki_replicas {
    size_t size;       /* see KI_OPTIONS_INIT */
    int32_t desired;   /* 1 if the spec does not set it; of a DaemonSet, from its status */
    int32_t total;     /* pods that exist */
    int32_t ready;     /* of these, how many are ready */
    int32_t available; /* of these, how many have been ready for long enough */
    int32_t updated;   /* pods of the current template; of a ReplicaSet, all of them */
    bool observed;     /* the status describes the current spec, not an older generation */
} ki_replicas;

/** Returns the replica counts of a workload. */
KI_API int ki_deployment_replicas(const ki_object *deployment, ki_replicas *ret_replicas);
KI_API int ki_replicaset_replicas(const ki_object *replica_set, ki_replicas *ret_replicas);
KI_API int ki_statefulset_replicas(const ki_object *stateful_set, ki_replicas *ret_replicas);
KI_API int ki_daemonset_replicas(const ki_object *daemon_set, ki_replicas *ret_replicas);

/** Returns whether a job has completed. Neither completed nor failed while it runs. */
KI_API bool ki_job_is_complete(const ki_object *job);
/** Returns whether a job has failed. */
KI_API bool ki_job_is_failed(const ki_object *job);

/* Services and namespaces.  Since: 0.1 */

/** Returns the type of a service; "ClusterIP" if it is not set. */
KI_API ki_str ki_service_type(const ki_object *service);
/** Returns the cluster IP of a service; "None" if it is headless. */
KI_API ki_str ki_service_cluster_ip(const ki_object *service);
/** Returns the phase of a namespace: "Active" or "Terminating". */
KI_API ki_str ki_namespace_phase(const ki_object *name_space);

/* ConfigMaps and Secrets.  Since: 0.1 */

/** Returns the string that a ConfigMap has under `key` in its data.
 *  Errors: KI_ERR_NOT_FOUND;  KI_ERR_TYPE  not a string. */
KI_API KI_NODISCARD int ki_configmap_get(const ki_object *config_map, const char *key,
                                         ki_value *ret_value);

/** Appends the content that a ConfigMap has under `key`, in its data or, decoded, in its
 *  binaryData.
 *  Errors: KI_ERR_NOT_FOUND;  KI_ERR_TYPE  not a string;  KI_ERR_INVALID  not valid base64;
 *          KI_ERR_LIMIT or -ENOMEM from `out`, which is unchanged after any error. */
KI_API KI_NODISCARD int ki_configmap_copy(const ki_object *config_map, const char *key,
                                          ki_buf *out);

/** Appends the content that a Secret has under `key`, decoded.  Errors: as ki_configmap_copy(). */
KI_API KI_NODISCARD int ki_secret_copy(const ki_object *secret, const char *key, ki_buf *out);

/* Events, of v1 and of events.k8s.io/v1.  Since: 0.1 */

/** A reference from one object to another. */
typedef struct ki_reference {
    size_t size; /* see KI_OPTIONS_INIT */
    ki_str api_version;
    ki_str kind;
    ki_str name_space;
    ki_str name;
    ki_str uid;
} ki_reference;

/** Returns the reason of an event. */
KI_API ki_str ki_event_reason(const ki_object *event);
/** Returns whether the type of an event is "Warning". */
KI_API bool ki_event_is_warning(const ki_object *event);
/** Returns the message of an event: a string, or a value of KI_TYPE_NONE. */
KI_API ki_value ki_event_message(const ki_object *event);
/** Returns the object that an event refers to. */
KI_API int ki_event_involved(const ki_object *event, ki_reference *ret_reference);

/* Leases.  Since: 0.1 */

/** Returns the holder of a lease: a string, or a value of KI_TYPE_NONE. */
KI_API ki_value ki_lease_holder(const ki_object *lease);
/** Returns spec.leaseDurationSeconds of a lease in milliseconds; 0 if absent. */
KI_API uint32_t ki_lease_duration_ms(const ki_object *lease);

/* CustomResourceDefinitions.  Since: 0.1 */

/** The resource that a CustomResourceDefinition defines: sufficient for ki_resource_new(). */
typedef struct ki_crd {
    size_t size; /* see KI_OPTIONS_INIT */
    ki_str group;
    ki_str plural;
    ki_str singular;
    ki_str kind;
    ki_str list_kind;
    ki_str version; /* the storage version; empty if there is none */
    bool cluster_scoped;
    bool established; /* the server serves the resource */
} ki_crd;

/** Returns the resource that a CustomResourceDefinition defines. */
KI_API int ki_crd_of(const ki_object *definition, ki_crd *ret_crd);

KI_END_DECLS

#endif
