/* SPDX-License-Identifier: Apache-2.0 */
/* Copy on write for the versioned structures of the store.
 *
 * Every block of such a structure begins with the number of the version that made it, its birth. An
 * edit builds one version: blocks born in it are its own and are changed in place; older blocks
 * belong to versions that readers may hold, so they are copied first and the old ones become
 * garbage of the version before. A block is reachable from exactly the versions from its birth to
 * the one it is garbage of: that is what decides when it may be freed. */
#ifndef KI_CACHE_STORE_COPY_ON_WRITE_H
#define KI_CACHE_STORE_COPY_ON_WRITE_H

#include <kinformer/alloc.h>

/** What every copied-on-write block begins with. */
typedef struct ki__block {
    uint64_t birth;
} ki__block;

#define KI__GARBAGE_BLOCK UINT32_MAX

/** One thing that the version has and the next one has not. */
typedef struct ki__garbage_item {
    void *ptr;
    uint32_t id; /* KI__GARBAGE_BLOCK, or ptr is the object that stood at this id */
} ki__garbage_item;

/** A piece of a garbage list. The first piece lies inside the version itself. */
typedef struct ki__garbage_chunk {
    struct ki__garbage_chunk *next;
    void *block; /* the allocation that the chunk lies in */
    uint32_t count;
    uint32_t cap;
    ki__garbage_item *items;
} ki__garbage_chunk;

typedef struct ki__edit {
    const ki_alloc *alloc;
    uint64_t number;            /* of the version being built */
    ki__garbage_chunk *garbage; /* of the version before; chunks are added at the front */
} ki__edit;

/** Whether the edit may change the block in place. */
static inline bool ki__edit_owns(const ki__edit *edit, const void *block)
{
    return ((const ki__block *)block)->birth == edit->number;
}

/** A new block of `size` bytes, cleared, born in this edit; NULL if there is no memory. */
void *ki__edit_new(const ki__edit *edit, size_t size);

/** Reserves space for one more garbage item, so that ki__edit_discard() cannot fail. */
int ki__edit_reserve(ki__edit *edit);

/** Notes garbage in the room that was reserved. */
void ki__edit_discard(ki__edit *edit, void *ptr, uint32_t id);

/** Takes back the note that the object at `id` is garbage; it must be there. */
void ki__edit_restore(ki__edit *edit, const void *ptr, uint32_t id);

/** A copy of `block`, `size` bytes of it in a block of `new_size`, the rest cleared; the old one is
 *  freed if the edit owns it and becomes garbage otherwise. NULL changes nothing. */
void *ki__edit_copy(ki__edit *edit, void *block, size_t size, size_t new_size);

#endif
