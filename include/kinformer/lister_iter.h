/* SPDX-License-Identifier: Apache-2.0 */
/* Iterating over the objects of a lister without creating a list. All functions may be called on
 * any thread and never block; an iterator must not be used by two threads at once. */
#ifndef KINFORMER_LISTER_ITER_H
#define KINFORMER_LISTER_ITER_H

#include <kinformer/defs.h>
#include <kinformer/lister.h>
#include <kinformer/object.h>
#include <kinformer/selector.h>
#include <kinformer/store.h>
#include <kinformer/str.h>

KI_BEGIN_DECLS

/** An iterator over the objects that ki_lister_list() would return, without creating a list. Its
 *  members are private. */
typedef struct ki_lister_iter {
    ki_snapshot_iter walk;
    ki_snapshot *held;           /* the version that is read */
    const ki_selector *selector; /* NULL: everything */
    ki_str name_space;           /* to compare with; NULL pointer: no comparison */
} ki_lister_iter;

/** Begins an iteration over one version of the store; later writes do not affect it. Allocates
 *  nothing. The store or snapshot, the namespace and the selector must outlive the iteration.
 *  Owner: caller; end it with ki_lister_iter_end(), at any time.  Since: 0.1 */
KI_API ki_lister_iter ki_lister_iter_begin(const ki_lister *lister, const char *name_space,
                                           const ki_selector *selector);

/** Returns the next object: 1 with *ret_object set, 0 at the end. It is borrowed until the
 *  iteration is ended.  Since: 0.1 */
KI_API int ki_lister_iter_next(ki_lister_iter *iter, const ki_object **ret_object);

/** Ends an iteration. Ending it twice is allowed.  Since: 0.1 */
KI_API void ki_lister_iter_end(ki_lister_iter *iter);

KI_END_DECLS

#endif
