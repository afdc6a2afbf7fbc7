/* SPDX-License-Identifier: Apache-2.0 */
/* Detects lists without progress. Progress is a key that no earlier page had: a server may send new
 * continue tokens forever, with no objects or always the same ones.
 *
 * Keys are kept as 64-bit hashes, and only from the second page on: a single-page list costs
 * nothing, and the keys of the first page count as new once more. */
#ifndef KI_WIRE_PAGE_PROGRESS_H
#define KI_WIRE_PAGE_PROGRESS_H

#include <kinformer/alloc.h>
#include <kinformer/error.h>

#include "base/hash.h"

enum { KI__PAGES_WITHOUT_NEW_MAX = 100 }; /* consecutive pages without a new key */

typedef struct ki__progress {
    const ki_alloc *alloc;
    ki__hash_key hash_key;
    uint64_t *seen; /* hashes of keys; 0 marks a free slot */
    size_t seen_count;
    size_t seen_cap; /* 0 or a power of two */
    bool later;      /* the current page is not the first */
    bool has_new;    /* the current page had a new key */
    uint32_t pages_without_new;
    /* Cycle detection (Brent): one token hash is remembered and replaced after twice as many pages,
     * so that eventually the interval exceeds the length of any cycle of tokens. */
    uint64_t tokens;
    uint64_t last_token; /* hash */
    uint64_t mark;       /* hash of the remembered token */
    uint64_t next_mark;  /* number of the next token to remember */
} ki__progress;

/** State before the first page. Allocates nothing. */
void ki__progress_init(ki__progress *progress, const ki_alloc *alloc, ki__hash_key hash_key);

/** Returns to the state before the first page; frees all memory. */
void ki__progress_reset(ki__progress *progress);

/** The current page has an object with this key; "" is ignored. A key that cannot be stored (out of
 *  memory) counts as new. */
void ki__progress_note_key(ki__progress *progress, ki_str key);

/** The current page ended with this token for the next one.
 *  Errors: KI_ERR_INVALID  the token repeats; detected after at most three rounds of a cycle;
 *          KI_ERR_LIMIT    too many consecutive pages without a new key. */
int ki__progress_next_page(ki__progress *progress, ki_str token, ki_error *error);

#endif
