/* SPDX-License-Identifier: Apache-2.0 */
/* Small numbers for objects: a released number is reused. Owned by the writer of a store; a
 * transaction can be rolled back as a whole. */
#ifndef KI_CACHE_STORE_IDS_H
#define KI_CACHE_STORE_IDS_H

#include <kinformer/alloc.h>

typedef struct ki__ids {
    const ki_alloc *alloc;
    uint32_t max;        /* numbers are below this */
    uint32_t next;       /* numbers from here on were never given out */
    uint32_t *free;      /* numbers to give out again: free_count of them, */
    size_t free_count;   /* then those taken in the open transaction, */
    size_t begin_count;  /* up to what free_count was when it began, */
    size_t end_count;    /* then those released in it, which wait for its end */
    size_t cap;          /* room in `free` */
    uint32_t begin_next; /* what `next` was when the transaction began */
} ki__ids;

void ki__ids_init(ki__ids *ids, const ki_alloc *alloc, uint32_t max);
void ki__ids_done(ki__ids *ids);

/** A number that nothing has; KI_ERR_LIMIT if there are no more. */
int ki__ids_take(ki__ids *ids, uint32_t *ret_id);

/** Takes back the very last ki__ids_take(). */
void ki__ids_untake(ki__ids *ids, uint32_t id);

/** Reserves space for `more` calls of ki__ids_give(), which then cannot fail. */
int ki__ids_reserve(ki__ids *ids, size_t more);

/** Gives a number back; it is not given out again before the transaction ends. */
void ki__ids_give(ki__ids *ids, uint32_t id);

/** Ends the transaction: what it took and released stays so, or is as it was before. */
void ki__ids_commit(ki__ids *ids);
void ki__ids_abort(ki__ids *ids);

#endif
