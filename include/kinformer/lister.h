/* SPDX-License-Identifier: Apache-2.0 */
/* Listers: read objects of one resource by name, namespace and label selector, from the
 * current version of a store at each call, or from one snapshot.
 *
 * A lister is a small value that owns nothing: copy it freely. The store or snapshot must outlive
 * it. All functions may be called on any thread and never block. To iterate without creating a
 * list, see lister_iter.h; to list by an index, see index.h. */
#ifndef KINFORMER_LISTER_H
#define KINFORMER_LISTER_H

#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/object.h>
#include <kinformer/resource.h>
#include <kinformer/selector.h>
#include <kinformer/store.h>

KI_BEGIN_DECLS

/** A lister. Its members are private. */
typedef struct ki_lister {
    ki_store *store;             /* or NULL */
    ki_snapshot *snapshot;       /* or NULL */
    const ki_resource *resource; /* for error messages; may be NULL */
} ki_lister;

/** Returns a lister that reads the current version of the store at each call. `resource` is named
 *  in error messages; may be NULL.  Since: 0.1 */
KI_API ki_lister ki_lister_of(ki_store *store, const ki_resource *resource);

/** Returns a lister of one snapshot: all calls read the same state.  Since: 0.1 */
KI_API ki_lister ki_lister_at(ki_snapshot *snapshot, const ki_resource *resource);

/** Gets an object by name. `name_space` is NULL or "" for cluster-scoped objects. Allocates
 *  nothing.
 *  Owner:  caller; release *ret_object with ki_object_unref().
 *  Errors: KI_ERR_NOT_FOUND  with http_code 404 in `error`, and the message of an API server:
 *          deployments.apps "web" not found in namespace "shop".
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_lister_get(const ki_lister *lister, const char *name_space,
                                      const char *name, ki_object **ret_object, ki_error *error);

/** Gets an object by key, "namespace/name" or "name". As ki_lister_get().  Since: 0.1 */
KI_API KI_NODISCARD int ki_lister_get_key(const ki_lister *lister, const char *key,
                                          ki_object **ret_object, ki_error *error);

/** Lists the objects of a namespace (NULL or "": of all) that a selector matches (NULL: all).
 *  Labels are not read if the selector matches everything or nothing. For a namespace, the index
 *  KI_INDEX_NAMESPACE is used; without it, the whole store is scanned.
 *  Owner:  caller; release with ki_list_unref(). The order is unspecified; see ki_list_sort().
 *  Errors: KI_ERR_NOT_KEPT  the selector reads a label that was not kept (projection.h);  -ENOMEM.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_lister_list(const ki_lister *lister, const char *name_space,
                                       const ki_selector *selector, ki_list **ret_list);

KI_END_DECLS

#endif
