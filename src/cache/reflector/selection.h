/* SPDX-License-Identifier: Apache-2.0 */
/* Which objects a reflector lists and watches: a checked copy of a ki_selection, in one block. */
#ifndef KI_CACHE_REFLECTOR_SELECTION_H
#define KI_CACHE_REFLECTOR_SELECTION_H

#include <kinformer/selection.h>
#include <kinformer/selector.h>

#include "object/selector/shard.h"

typedef struct ki__selection {
    const char *labels; /* "": everything, as of the next two */
    const char *fields;
    const char *shard_text;
    bool sharded;
    ki__shard shard;
    char text[];
} ki__selection;

/** Copies and checks a selection.
 *  Errors: KI_ERR_SYNTAX, KI_ERR_INVALID  a selector;  -EINVAL, -E2BIG  its size;  -ENOMEM. */
int ki__selection_new(const ki_alloc *alloc, const ki_selection *from,
                      ki__selection **ret_selection, ki_error *error);

/** Whether the object is in the shard. Labels and fields are left to the source. */
static inline bool ki__selection_has(const ki__selection *selection, const ki_object *object)
{
    return !selection->sharded || ki__shard_matches(&selection->shard, object);
}

#endif
