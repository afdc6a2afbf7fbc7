/* SPDX-License-Identifier: Apache-2.0 */
/* A posting: one value of an index and the set of ids of its objects, copied on write. Small sets
 * are a sorted array; large ones a persistent bitmap, one bit per id, so that adding one id to a
 * namespace of 100,000 objects does not copy 100,000 ids. */
#ifndef KI_CACHE_STORE_POSTING_H
#define KI_CACHE_STORE_POSTING_H

#include <kinformer/str.h>

#include "cache/store/copy_on_write.h"
#include "cache/store/vec.h"

typedef struct ki__posting {
    uint64_t birth; /* a ki__block */
    uint32_t hash;  /* of the value */
    uint32_t value_len;
    uint32_t count;
    uint32_t cap;   /* capacity of the array; 0: the set is a bitmap */
    ki__vec bits;   /* the bitmap: slot id / 64 holds the bit of an id */
    uint32_t ids[]; /* the array of `cap` ids, followed by the value */
} ki__posting;

static inline ki_str ki__posting_value(const ki__posting *posting)
{
    return ki_str_make((const char *)(posting->ids + posting->cap), posting->value_len);
}

/** An empty posting; NULL if out of memory. */
ki__posting *ki__posting_new(ki__edit *edit, ki_str value, uint32_t hash);

/** Adds an id: 1 if it is new, 0 if it was there, or -ENOMEM without effect. */
int ki__posting_add(ki__edit *edit, ki__posting **posting, uint32_t id);

/** Prepares the removal of an id, so that it cannot fail. */
int ki__posting_touch(ki__edit *edit, ki__posting **posting, uint32_t id);

/** Removes an id that was added or touched in this edit; no effect if it is not there. */
void ki__posting_remove(ki__edit *edit, ki__posting *posting, uint32_t id);

/** The ids of block *block (ids 64 * block to 64 * block + 63), or of the next nonempty block, one
 *  bit each; sets *block to it. 0 if there are no more. */
uint64_t ki__posting_next_block(const ki__posting *posting, uint64_t *block);

/** Frees a posting without ids that the edit owns. */
void ki__posting_drop(ki__edit *edit, ki__posting *posting);

/** Frees everything born at or after `birth`. */
void ki__posting_free(const ki_alloc *alloc, ki__posting *posting, uint64_t birth);

#endif
