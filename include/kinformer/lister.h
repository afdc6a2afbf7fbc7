/* SPDX-License-Identifier: Apache-2.0 */
/* Listers: objects of one resource by name, by namespace, by label selector and by index, from a
 * store as it is at each call, or from one snapshot of it.
 *
 * A lister is a small value that owns nothing: copy it freely. What it was made of must outlive it,
 * as must an iterator's namespace and selector. All functions may be called on any thread, but an
 * iterator belongs to one at a time, and never block. */
#ifndef KINFORMER_LISTER_H
#define KINFORMER_LISTER_H

#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/object.h>
#include <kinformer/resource.h>
#include <kinformer/selector.h>
#include <kinformer/store.h>
#include <kinformer/str.h>

KI_BEGIN_DECLS

/** A lister. Its members are private. */
typedef struct ki_lister {
    ki_store *store;             /* or NULL */
    ki_snapshot *snapshot;       /* or NULL */
    const ki_resource *resource; /* for the text of errors; may be NULL */
} ki_lister;

/** A lister of the store's present at each call. `resource` says what an object that is not there
 *  is called; NULL if nothing does.  Since: 0.1 */
KI_API ki_lister ki_lister_of(ki_store *store, const ki_resource *resource);

/** A lister of one snapshot: all calls read the same state.  Since: 0.1 */
KI_API ki_lister ki_lister_at(ki_snapshot *snapshot, const ki_resource *resource);

/** The object of this name. `name_space` is NULL or "" for what has none. Allocates nothing.
 *  Owner:  *ret_object is the caller's; release with ki_object_unref().
 *  Errors: KI_ERR_STATUS  there is none: ki_error_is_not_found() holds of `error`, and its message
 *          reads as an API server's does: deployments.apps "web" not found in namespace "shop".
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_lister_get(const ki_lister *lister, const char *name_space,
                                      const char *name, ki_object **ret_object, ki_error *error);

/** The object with this key, "namespace/name" or "name". As ki_lister_get().  Since: 0.1 */
KI_API KI_NODISCARD int ki_lister_get_key(const ki_lister *lister, ki_str key,
                                          ki_object **ret_object, ki_error *error);

/** The objects of a namespace (NULL or "": of all) that a selector selects (NULL: all of them).
 *  Nobody looks at labels if the selector is one for everything or nothing. For a namespace the
 *  index KI_INDEX_NAMESPACE is used; a store without it is searched from end to end.
 *  Owner:  release with ki_list_unref(). In no certain order; see ki_list_sort().
 *  Errors: -ENOMEM.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_lister_list(const ki_lister *lister, const char *name_space,
                                       const ki_selector *selector, ki_list **ret_list);

/** The objects that an index has under a value and a selector selects (NULL: all of them).
 *  Owner:  as ki_lister_list().  Errors: KI_ERR_UNKNOWN_INDEX, -ENOMEM.  Since: 0.1 */
KI_API KI_NODISCARD int ki_lister_by_index(const ki_lister *lister, const char *index, ki_str value,
                                           const ki_selector *selector, ki_list **ret_list);

/** A walk over what ki_lister_list() would give, without making a list. Its members are private. */
typedef struct ki_lister_iter {
    ki_snapshot_iter walk;
    ki_snapshot *held;           /* the state that is walked */
    const ki_selector *selector; /* NULL: everything */
    ki_str name_space;           /* to compare with; of NULL: need not be */
} ki_lister_iter;

/** Begins a walk over one state of the store, whatever is written meanwhile. Allocates nothing.
 *  Owner: end it with ki_lister_iter_end(), at any point of it.  Since: 0.1 */
KI_API ki_lister_iter ki_lister_iter_begin(const ki_lister *lister, const char *name_space,
                                           const ki_selector *selector);

/** The next object; NULL at the end. Borrowed until the walk is ended.  Since: 0.1 */
KI_API const ki_object *ki_lister_iter_next(ki_lister_iter *iter);

/** Ends a walk. Ending it twice is fine.  Since: 0.1 */
KI_API void ki_lister_iter_end(ki_lister_iter *iter);

KI_END_DECLS

#endif
