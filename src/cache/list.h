/* SPDX-License-Identifier: Apache-2.0 */
/* What a list of objects is. It holds the snapshot that its objects belong to, or, if they belong
 * to none, each of them. */
#ifndef KI_CACHE_LIST_H
#define KI_CACHE_LIST_H

#include <kinformer/store.h>

struct ki_list {
    ki_snapshot *snapshot; /* NULL: the objects are references of the list's own */
    const ki_alloc *alloc;
    size_t count;
    const ki_object *objects[];
};

/** A walk over nothing: it is at its end. */
static inline ki_snapshot_iter ki__snapshot_none(const ki_snapshot *snapshot)
{
    ki_snapshot_iter iter = {.snapshot = snapshot, .position = UINT64_MAX};
    return iter; /* behind everything */
}

/** An object that the walk will come to, about `ahead` after the next; NULL if there is none near.
 */
const ki_object *ki__snapshot_peek(const ki_snapshot_iter *iter, uint32_t ahead);

/** A list of objects that are in no store. 0 or -ENOMEM. */
int ki__list_of(const ki_alloc *alloc, const ki_object *const *objects, size_t count,
                ki_list **ret_list);

/** Gives back what a list has room for and does not use. It may move. */
ki_list *ki__list_fit(ki_list *list);

#endif
