/* SPDX-License-Identifier: Apache-2.0 */
/* Which objects of a version a list names, and so, which it lacks: a bit for each id of the store.
 * A list looks every object up anyway; so nothing else has to be hashed or kept. */
#ifndef KI_CACHE_STORE_LISTED_IDS_H
#define KI_CACHE_STORE_LISTED_IDS_H

#include <kinformer/parts/queue.h>

#include "cache/store/version.h"

typedef struct ki__listed {
    const ki_alloc *alloc;
    const ki_snapshot *version; /* the current one; held by the caller */
    uint64_t *bits;
    uint32_t *hashes; /* of the keys of the objects of the list, in its order */
    uint32_t missing; /* objects that it lacks */
    uint64_t next;    /* id at which to look for them */
} ki__listed;

/** Looks up all that a list names, in the current version, by the writer. 0 or -ENOMEM; to be ended
 *  with ki__listed_done() in either case. */
int ki__listed_init(ki__listed *listed, const ki_alloc *alloc, const ki_snapshot *version,
                    const ki_replacement *all);
void ki__listed_done(ki__listed *listed);

/** The next object of the version that the list lacks; NULL after the last. */
const ki_object *ki__listed_next_missing(ki__listed *listed);

#endif
