/* SPDX-License-Identifier: Apache-2.0 */
/* Which objects of a version are in a list, and thus which are missing: one bit per id of the
 * store. A list looks up every object anyway; so nothing else has to be hashed or kept. */
#ifndef KI_CACHE_STORE_LISTED_IDS_H
#define KI_CACHE_STORE_LISTED_IDS_H

#include <kinformer/parts/queue.h>

#include "cache/store/version.h"

typedef struct ki__listed {
    const ki_alloc *alloc;
    const ki_snapshot *version; /* the current one; held by the caller */
    uint64_t *bits;
    uint32_t *hashes; /* of the keys of the list's objects, in its order */
    uint32_t missing; /* number of missing objects */
    uint64_t next;    /* id to continue the search from */
} ki__listed;

/** Looks up all objects of a list in the current version; for the writer. 0 or -ENOMEM; call
 *  ki__listed_done() in either case. */
int ki__listed_init(ki__listed *listed, const ki_alloc *alloc, const ki_snapshot *version,
                    const ki_replacement *all);
void ki__listed_done(ki__listed *listed);

/** The next object of the version that is missing in the list; NULL after the last. */
const ki_object *ki__listed_next_missing(ki__listed *listed);

#endif
