/* SPDX-License-Identifier: Apache-2.0 */
/* A list of objects, which belong to an owner held by the list, such as a snapshot, or are
 * references held by the list itself. */
#ifndef KI_OBJECT_OBJECT_LIST_H
#define KI_OBJECT_OBJECT_LIST_H

#include <kinformer/alloc.h>
#include <kinformer/list.h>

#include "base/shared.h"

struct ki_list {
    void *owner; /* NULL: the list holds references to the objects */
    void (*release_owner)(void *owner);
    const ki_alloc *alloc;
    size_t count;
    const ki_object *objects[];
};

/** An empty list with capacity for `max` objects, plus one slot that may be written but not
 *  counted; NULL if out of memory. */
ki_list *ki__list_new(const ki_alloc *alloc, size_t max);

/** A list of objects that are not in a store. 0 or -ENOMEM. */
KI__SHARED int ki__list_of(const ki_alloc *alloc, const ki_object *const *objects, size_t count,
                           ki_list **ret_list);

/** Shrinks the block to its contents. It may move. */
ki_list *ki__list_fit(ki_list *list);

#endif
