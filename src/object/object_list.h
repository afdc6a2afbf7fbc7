/* SPDX-License-Identifier: Apache-2.0 */
/* What a list of objects is. Its objects belong to an owner that it holds, such as a snapshot, or
 * are references of its own. */
#ifndef KI_OBJECT_OBJECT_LIST_H
#define KI_OBJECT_OBJECT_LIST_H

#include <kinformer/alloc.h>
#include <kinformer/list.h>

#include "base/shared.h"

struct ki_list {
    void *owner; /* NULL: the objects are references of the list's own */
    void (*release_owner)(void *owner);
    const ki_alloc *alloc;
    size_t count;
    const ki_object *objects[];
};

/** An empty list with space for `max` objects, and for one more to write to and not count; NULL
 *  without memory. */
ki_list *ki__list_new(const ki_alloc *alloc, size_t max);

/** A list of objects that are in no store. 0 or -ENOMEM. */
KI__SHARED int ki__list_of(const ki_alloc *alloc, const ki_object *const *objects, size_t count,
                           ki_list **ret_list);

/** Frees the space that a list does not use. It may move. */
ki_list *ki__list_fit(ki_list *list);

#endif
