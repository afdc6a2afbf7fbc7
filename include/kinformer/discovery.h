/* SPDX-License-Identifier: Apache-2.0 */
/* Discovery: finds the resources of an API server, including custom ones, and the resource that
 * `po`, `deploy`, `deployments.apps`, `deployments.v1.apps` or `Deployment` refers to.
 *
 * The client caches the result. It is fetched again when a name is not found in it, or after ten
 * minutes. */
#ifndef KINFORMER_DISCOVERY_H
#define KINFORMER_DISCOVERY_H

#include <kinformer/client.h>
#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/resource.h>

KI_BEGIN_DECLS

/** The resources of a server at one point in time. Immutable and reference-counted. */
typedef struct ki_discovery ki_discovery;

/** The verbs that a resource supports, as bits. */
typedef enum ki_verb_set {
    KI_CAN_GET = 1 << 0,
    KI_CAN_LIST = 1 << 1,
    KI_CAN_WATCH = 1 << 2,
    KI_CAN_CREATE = 1 << 3,
    KI_CAN_UPDATE = 1 << 4,
    KI_CAN_PATCH = 1 << 5,
    KI_CAN_DELETE = 1 << 6,
    KI_CAN_DELETE_COLLECTION = 1 << 7
} ki_verb_set;

/** Fetches the resources of the server, or returns the cached result if it is not older than
 *  `max_age_ms`; 0: always fetch. Concurrent callers share one fetch. A group whose server does not
 *  respond is omitted and named by ki_discovery_failure_at(); the other groups are available.
 *  Owner:  caller; release with ki_discovery_unref().
 *  Thread: any except the client's thread.  Blocks: yes.
 *  Errors: as ki_client_do();
 *          KI_ERR_INVALID, KI_ERR_UNSUPPORTED, KI_ERR_SYNTAX and so on: the response is not a list
 *          of API groups;  KI_ERR_LIMIT  more than 20,000 resources.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_client_discover(ki_client *client, uint32_t max_age_ms,
                                           ki_discovery **ret_discovery, ki_error *error);

/** Fetches the resources of the server without waiting: `done` receives the result (borrowed) or an
 *  error, on the client's thread and never from inside this call. If the loop is stopped first,
 *  `done` receives KI_ERR_STOPPED (see ki_loop_stop()).
 *  Thread: any, including callbacks.  Blocks: no.
 *  Errors: KI_ERR_STOPPED  the loop was stopped;  -EINVAL  `done` is NULL;  -ENOMEM.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_client_discover_start(ki_client *client, uint32_t max_age_ms,
                                                 void (*done)(const ki_discovery *discovery,
                                                              const ki_error *error, void *user),
                                                 void *user, ki_error *error);

/** Cancels calls of ki_client_discover_start() with this `user`: their `done` is not called any
 *  more.
 *  Thread: any, including callbacks.  Blocks: until the loop has finished its current step.
 *  Since:  0.1 */
KI_API void ki_client_discover_cancel(ki_client *client, const void *user);

/** Resolves the name of a resource as typed by a user, as ki_discovery_find() does. If it is
 *  unknown, the resources are fetched again, unless that was done within the last two seconds.
 *  While the server is unreachable, the cached result is used.
 *  Owner:  caller; release *ret_resource with ki_resource_unref().
 *  Thread: any except the client's thread.  Blocks: yes.
 *  Errors: KI_ERR_NOT_FOUND  the server has no such resource;  as ki_client_discover().
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_client_resolve(ki_client *client, const char *name,
                                          ki_resource **ret_resource, ki_error *error);

/** Takes and releases references. ki_discovery_unref() always returns NULL; both accept NULL.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API ki_discovery *ki_discovery_ref(const ki_discovery *discovery);
KI_API ki_discovery *ki_discovery_unref(const ki_discovery *discovery);

/** Returns the number of resources, each served version counted.  Since: 0.1 */
KI_API size_t ki_discovery_count(const ki_discovery *discovery);

/** Returns resource number `index`, or NULL after the last: groups in the server's order, the
 *  preferred version of each first. *ret_verbs (may be NULL) is set to a ki_verb_set. Borrowed.
 *  Since: 0.1 */
KI_API const ki_resource *ki_discovery_at(const ki_discovery *discovery, size_t index,
                                          uint32_t *ret_verbs);

/** Returns the verbs that a resource supports, as ki_verb_set; 0 if the resource is not in this
 *  discovery.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API uint32_t ki_discovery_verbs(const ki_discovery *discovery, const ki_resource *resource);

/** Returns category number `index` of a resource, such as "all", in lower case; NULL after the
 *  last, or if the resource is not in this discovery.
 *  Owner: borrowed.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const char *ki_discovery_category_at(const ki_discovery *discovery,
                                            const ki_resource *resource, size_t index);

/** Returns the number of resources and group versions skipped because of invalid or duplicate
 *  names.  Since: 0.1 */
KI_API size_t ki_discovery_skipped_count(const ki_discovery *discovery);

/** Returns API group version number `index` that could not be fetched, such as
 *  "metrics.k8s.io/v1beta1"; NULL after the last.  Since: 0.1 */
KI_API const char *ki_discovery_failure_at(const ki_discovery *discovery, size_t index);

/** Finds the resource that `name` refers to: RESOURCE.VERSION.GROUP, or RESOURCE.GROUP, or
 *  RESOURCE. GROUP may be a prefix if no group has exactly that name. RESOURCE is a plural or
 *  singular name, otherwise a short name, otherwise a kind. Case-insensitive. Of several versions,
 *  the server's preferred one is returned; of several groups, core, otherwise the first in the
 *  server's order.
 *  Owner:  borrowed.  Thread: any.  Blocks: no.
 *  Errors: KI_ERR_NOT_FOUND  the message suggests similar names.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_discovery_find(const ki_discovery *discovery, const char *name,
                                          const ki_resource **ret_resource, ki_error *error);

/** Finds the resource whose objects have this apiVersion and kind.
 *  Owner: borrowed.  Thread: any.  Blocks: no.  Errors: KI_ERR_NOT_FOUND.  Since: 0.1 */
KI_API KI_NODISCARD int ki_discovery_find_kind(const ki_discovery *discovery,
                                               const char *api_version, const char *kind,
                                               const ki_resource **ret_resource, ki_error *error);

KI_AUTO_DEFINE(ki_discovery, ki_discovery_unref)

KI_END_DECLS

#endif
