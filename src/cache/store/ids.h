/* SPDX-License-Identifier: Apache-2.0 */
/* Small integer ids for objects; released ids are reused. Owned by the writer of a store; a
 * transaction can be rolled back as a whole. */
#ifndef KI_CACHE_STORE_IDS_H
#define KI_CACHE_STORE_IDS_H

#include <kinformer/alloc.h>

typedef struct ki__ids {
    const ki_alloc *alloc;
    uint32_t max;        /* upper bound, exclusive */
    uint32_t next;       /* ids from here on were never used */
    uint32_t *free;      /* ids to reuse: free_count of them, */
    size_t free_count;   /* followed by those taken in the open transaction, */
    size_t begin_count;  /* up to the initial free_count, */
    size_t end_count;    /* followed by those released in it, which are pending */
    size_t cap;          /* capacity of `free` */
    uint32_t begin_next; /* `next` when the transaction began */
} ki__ids;

void ki__ids_init(ki__ids *ids, const ki_alloc *alloc, uint32_t max);
void ki__ids_done(ki__ids *ids);

/** Memory of the list of ids to reuse. */
static inline size_t ki__ids_bytes(const ki__ids *ids)
{
    return ids->cap * sizeof(*ids->free);
}

/** Takes an unused id; KI_ERR_LIMIT if there are no more. */
int ki__ids_take(ki__ids *ids, uint32_t *ret_id);

/** Reverts the last ki__ids_take(). */
void ki__ids_untake(ki__ids *ids, uint32_t id);

/** Reserves space for `more` calls of ki__ids_release(), which then cannot fail. */
int ki__ids_reserve(ki__ids *ids, size_t more);

/** Releases an id; it is not reused before the transaction ends. */
void ki__ids_release(ki__ids *ids, uint32_t id);

/** Ends the transaction: its changes become permanent, or are reverted. */
void ki__ids_commit(ki__ids *ids);
void ki__ids_abort(ki__ids *ids);

#endif
