/* SPDX-License-Identifier: Apache-2.0 */
/* Copy on write for the versioned structures of the store.
 *
 * Every block of such a structure begins with the number of the version that created it, its birth.
 * An edit builds one version: it owns the blocks born in it and changes them in place; older blocks
 * belong to versions that readers may hold, so they are copied first and the originals become
 * garbage of the previous version. A block is reachable from exactly the versions from its birth to
 * the one whose garbage it is: that determines when it may be freed. */
#ifndef KI_CACHE_STORE_COPY_ON_WRITE_H
#define KI_CACHE_STORE_COPY_ON_WRITE_H

#include <kinformer/alloc.h>

/** Header of every copy-on-write block. */
typedef struct ki__block {
    uint64_t birth;
} ki__block;

#define KI__GARBAGE_BLOCK UINT32_MAX

/** One item that the version has and the next one does not. */
typedef struct ki__garbage_item {
    void *ptr;
    uint32_t id;    /* KI__GARBAGE_BLOCK, or ptr is the object that was at this id */
    uint32_t bytes; /* its memory */
} ki__garbage_item;

/** A chunk of a garbage list. The first chunk is embedded in the version. */
typedef struct ki__garbage_chunk {
    struct ki__garbage_chunk *next;
    void *block;  /* the allocation that contains the chunk, */
    size_t bytes; /* and its size */
    uint32_t count;
    uint32_t cap;
    ki__garbage_item *items;
} ki__garbage_chunk;

typedef struct ki__edit {
    const ki_alloc *alloc;
    uint64_t number;            /* of the version being built */
    ki__garbage_chunk *garbage; /* of the previous version; chunks are prepended */
    uint64_t grown;             /* bytes of blocks: new ones, minus those freed or discarded */
    uint64_t discarded;         /* bytes of garbage, including the chunks that list it */
} ki__edit;

/** Whether the edit may change the block in place. */
static inline bool ki__edit_owns(const ki__edit *edit, const void *block)
{
    return ((const ki__block *)block)->birth == edit->number;
}

/** Allocates a zeroed block of `size` bytes, born in this edit; NULL if out of memory. */
void *ki__edit_new(ki__edit *edit, size_t size);

/** Frees a block of `size` bytes that the edit owns. */
void ki__edit_free(ki__edit *edit, void *block, size_t size);

/** Reserves space for one more garbage item, so that ki__edit_discard() cannot fail. */
int ki__edit_reserve(ki__edit *edit);

/** Records garbage of `bytes` bytes in the reserved space: an object, or a block. */
void ki__edit_discard(ki__edit *edit, void *ptr, uint32_t id, size_t bytes);

/** Reverts the garbage item of the object at `id`, which must exist. */
void ki__edit_restore(ki__edit *edit, const void *ptr, uint32_t id);

/** Frees `block` of `size` bytes if the edit owns it; otherwise it becomes garbage, for which space
 *  was reserved. */
void ki__edit_replaced(ki__edit *edit, void *block, size_t size);

/** Copies the first `used` of `size` bytes of `block` to a block of `new_size`, zeroing the rest;
 *  the old one is freed if the edit owns it and becomes garbage otherwise. NULL (out of
 *  memory) has no effect. */
void *ki__edit_copy(ki__edit *edit, void *block, size_t used, size_t size, size_t new_size);

#endif
