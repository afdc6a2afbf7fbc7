/* SPDX-License-Identifier: Apache-2.0 */
/* Detects lists without progress. Progress is a key that no page had before: a server may send new
 * continue tokens forever, with no objects or always the same ones.
 *
 * Keys are kept as 64-bit hashes, and only from the second page on: a list in one page costs
 * nothing, and the keys of the first page count as new one more time. */
#ifndef KI_WIRE_PAGE_PROGRESS_H
#define KI_WIRE_PAGE_PROGRESS_H

#include <kinformer/alloc.h>
#include <kinformer/error.h>

#include "base/hash.h"

enum { KI__FRUITLESS_MAX = 100 }; /* pages without a new key, one after the other */

typedef struct ki__progress {
    const ki_alloc *alloc;
    ki__hash_key hash_key;
    uint64_t *seen; /* hashes of keys; 0 marks a free slot */
    size_t seen_count;
    size_t seen_cap; /* 0 or a power of two */
    bool later;      /* the page at hand is not the first */
    bool fruitful;   /* it had a new key */
    uint32_t fruitless;
    /* One continue token is remembered, and after twice as many another one, so that in the end a
     * ring of tokens is shorter than the way to the next (Brent). */
    uint64_t tokens;
    uint64_t last_token; /* hash */
    uint64_t mark;       /* hash of the one that is remembered */
    uint64_t next_mark;  /* the number of the next one to remember */
} ki__progress;

/** Before the first page. Allocates nothing. */
void ki__progress_init(ki__progress *progress, const ki_alloc *alloc, ki__hash_key hash_key);

/** Back to before the first page; frees all memory. */
void ki__progress_reset(ki__progress *progress);

/** The page at hand has an object of this key; "" is none. Without memory to remember the key it
 *  counts as new. */
void ki__progress_note_key(ki__progress *progress, ki_str key);

/** The page at hand ended, and this token leads to the next.
 *  Errors: KI_ERR_INVALID  the token was met before, at the latest after three times round;
 *          KI_ERR_LIMIT    too many pages without a new key. */
int ki__progress_next_page(ki__progress *progress, ki_str token, ki_error *error);

#endif
