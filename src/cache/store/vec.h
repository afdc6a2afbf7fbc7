/* SPDX-License-Identifier: Apache-2.0 */
/* A persistent array: slots by number, in a tree of nodes with 64 slots each, copied on write.
 * Slots that were never set are empty (all zero); empty parts take no memory. */
#ifndef KI_CACHE_STORE_VEC_H
#define KI_CACHE_STORE_VEC_H

#include "cache/store/copy_on_write.h"

enum { KI__VEC_BITS = 6, KI__VEC_WIDTH = 1 << KI__VEC_BITS };

typedef union ki__slot {
    struct ki__vec_node *child; /* in inner nodes */
    void *ptr;                  /* in leaves, for the user of the array */
    uint64_t bits;
} ki__slot;

typedef struct ki__vec_node {
    uint64_t birth; /* a ki__block; never less than that of its children */
    ki__slot slots[KI__VEC_WIDTH];
} ki__vec_node;

typedef struct ki__vec {
    ki__vec_node *root; /* NULL while empty */
    uint32_t height;    /* levels of nodes; 0 while empty */
} ki__vec;

/** The leaf that holds slot `id`, or NULL if that part is empty. */
static inline const ki__vec_node *ki__vec_leaf(const ki__vec *vec, uint32_t id)
{
    const ki__vec_node *node = vec->root;
    if (vec->height == 0 || (uint64_t)id >> (KI__VEC_BITS * vec->height) != 0) {
        return NULL;
    }
    for (uint32_t shift = KI__VEC_BITS * (vec->height - 1); shift != 0; shift -= KI__VEC_BITS) {
        node = node->slots[(id >> shift) % KI__VEC_WIDTH].child;
        if (node == NULL) {
            return NULL;
        }
    }
    return node;
}

/** The content of a slot; zero if it is empty. */
static inline ki__slot ki__vec_get(const ki__vec *vec, uint32_t id)
{
    const ki__vec_node *leaf = ki__vec_leaf(vec, id);
    return leaf != NULL ? leaf->slots[id % KI__VEC_WIDTH] : (ki__slot){.bits = 0};
}

/** The first leaf at or after the one that would hold *id; sets *id to its first slot. NULL if
 *  there is none. */
const ki__vec_node *ki__vec_next_leaf(const ki__vec *vec, uint64_t *id);

/** Makes the path to slot `id` owned by the edit and returns the slot for writing, valid until
 *  another slot changes. -ENOMEM leaves the content unchanged, and no empty nodes: a user that
 *  drops the array frees its own nodes only. */
int ki__vec_touch(ki__edit *edit, ki__vec *vec, uint32_t id, ki__slot **ret_slot);

/** The slot of an `id` that this edit has touched, for writing. */
ki__slot *ki__vec_touched(const ki__edit *edit, const ki__vec *vec, uint32_t id);

/** Frees nodes that became empty on the path to a slot: one that was touched, or could not be. */
void ki__vec_prune(ki__edit *edit, ki__vec *vec, uint32_t id);

/** Frees all nodes born at or after `birth`, after passing each slot in such leaves to `release`
 *  (if not NULL). Returns the memory of these nodes. */
size_t ki__vec_free(const ki_alloc *alloc, const ki__vec *vec, uint64_t birth,
                    void (*release)(ki__slot slot, uint32_t id, void *user), void *user);

#endif
