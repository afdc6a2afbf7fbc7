/* SPDX-License-Identifier: Apache-2.0 */
/* Discovery: which resources an API server has, custom ones included, and which of them a person
 * means with `po`, `deploy`, `deployments.apps`, `deployments.v1.apps` or `Deployment`.
 *
 * What the server has is read once and kept by the client; it is read again when a name is not
 * found in it, or after ten minutes. */
#ifndef KINFORMER_DISCOVERY_H
#define KINFORMER_DISCOVERY_H

#include <kinformer/client.h>
#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/resource.h>

KI_BEGIN_DECLS

/** The resources of a server at one moment. Immutable and counted. */
typedef struct ki_discovery ki_discovery;

/** What a resource can do, as bits. */
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

/** Reads what the server has, or gives what is known if that is not older than `max_age_ms`; 0:
 *  what was read before the call does not do. All who ask at a time share a reading. A group
 *  whose own server does not answer is left out and named by ki_discovery_failure(); the others
 *  are there.
 *  Owner:  release with ki_discovery_unref().
 *  Thread: any but that of the loop.  Blocks: yes.
 *  Errors: as ki_client_do();
 *          KI_ERR_INVALID, KI_ERR_UNSUPPORTED, KI_ERR_SYNTAX and so on: the server's answer is no
 *          list of API groups;  KI_ERR_LIMIT  it has more than 20,000 resources.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_client_discover(ki_client *client, uint32_t max_age_ms,
                                           const ki_discovery **ret_discovery, ki_error *error);

/** The same without waiting: `done` gets it (borrowed) or an error, on the loop and never from
 *  inside this. If the loop is stopped first, `done` receives KI_ERR_STOPPED (see ki_loop_stop()).
 *  Thread: any, also inside callbacks.  Blocks: no.
 *  Errors: KI_ERR_STOPPED  the loop was stopped;  -EINVAL  no `done`;  -ENOMEM.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_client_discover_start(ki_client *client, uint32_t max_age_ms,
                                                 void (*done)(const ki_discovery *discovery,
                                                              const ki_error *error, void *user),
                                                 void *user, ki_error *error);

/** Has `done` not called any more for what was started with this `user`.
 *  Thread: any, also inside callbacks.  Blocks: for what the loop does at the moment.
 *  Since:  0.1 */
KI_API void ki_client_discover_cancel(ki_client *client, const void *user);

/** The resource that a person means, as ki_discovery_find(). If it is not known, what the server
 *  has is read again, unless that was done within the last two seconds. While the server cannot
 *  be asked, what was known before serves.
 *  Owner:  *ret_resource is the caller's; release with ki_resource_unref().
 *  Thread: any but that of the loop.  Blocks: yes.
 *  Errors: KI_ERR_NOT_FOUND  the server has none of that name;  as ki_client_discover().
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_client_resolve(ki_client *client, const char *name,
                                          const ki_resource **ret_resource, ki_error *error);

/** References. ki_discovery_unref() always returns NULL; NULL is fine for both.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const ki_discovery *ki_discovery_ref(const ki_discovery *discovery);
KI_API const ki_discovery *ki_discovery_unref(const ki_discovery *discovery);

/** How many resources there are: one for each version that is served.  Since: 0.1 */
KI_API size_t ki_discovery_count(const ki_discovery *discovery);

/** Resource number `index`, groups in the order of the server, its preferred version of each
 *  first; *ret_verbs (may be NULL) gets ki_verb_set. Borrowed; NULL after the last.  Since: 0.1 */
KI_API const ki_resource *ki_discovery_at(const ki_discovery *discovery, size_t index,
                                          uint32_t *ret_verbs);

/** What a resource of this discovery can do, as ki_verb_set; 0 for one that is not in it.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API uint32_t ki_discovery_verbs(const ki_discovery *discovery, const ki_resource *resource);

/** Category number `index` of a resource of this discovery, such as "all", in lower case; NULL
 * after the last, and for a resource that is not in it. Owner: borrowed.  Thread: any.  Blocks: no.
 * Since: 0.1 */
KI_API const char *ki_discovery_category(const ki_discovery *discovery, const ki_resource *resource,
                                         size_t index);

/** How many resources and group versions the server named in ways that cannot be, or twice. They
 *  are not among the others.  Since: 0.1 */
KI_API size_t ki_discovery_left_out(const ki_discovery *discovery);

/** Group number `index` that could not be read, such as "metrics.k8s.io/v1beta1"; NULL after the
 *  last.  Since: 0.1 */
KI_API const char *ki_discovery_failure(const ki_discovery *discovery, size_t index);

/** The resource that `name` means: RESOURCE.VERSION.GROUP, else RESOURCE.GROUP, where the
 *  beginning of a group does if none has that very name, or RESOURCE. RESOURCE is its plural or
 *  singular name, else a short name, else its kind. Case does not matter. Of several versions it
 *  is the one that the server prefers; of several groups core, else the first in the order of the
 *  server.
 *  Owner:  borrowed.  Thread: any.  Blocks: no.
 *  Errors: KI_ERR_NOT_FOUND: the text names what is spelt nearly so.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_discovery_find(const ki_discovery *discovery, const char *name,
                                          const ki_resource **ret_resource, ki_error *error);

/** The resource whose objects have this apiVersion and kind.
 *  Owner: borrowed.  Thread: any.  Blocks: no.  Errors: KI_ERR_NOT_FOUND.  Since: 0.1 */
KI_API KI_NODISCARD int ki_discovery_find_kind(const ki_discovery *discovery,
                                               const char *api_version, const char *kind,
                                               const ki_resource **ret_resource, ki_error *error);

KI_END_DECLS

#endif
