/* SPDX-License-Identifier: Apache-2.0 */
/* A persistent hash table from 32-bit hashes to 32-bit ids, copied on write: linear hashing over a
 * persistent array of small buckets. It grows and shrinks by one bucket at a time. Equality of keys
 * is the user's business. */
#ifndef KI_CACHE_TABLE_H
#define KI_CACHE_TABLE_H

#include <kinformer/str.h>

#include "cache/edit.h"
#include "cache/vec.h"

#define KI__TABLE_NONE UINT32_MAX

typedef struct ki__table {
    ki__vec buckets;
    uint32_t bucket_count; /* 0 while nothing was ever inserted */
    uint32_t count;        /* entries */
} ki__table;

/** Whether the thing with this id has this key. */
typedef bool (*ki__table_equals)(const void *context, uint32_t id, ki_str key);

/** The id of the entry with this hash and key, or KI__TABLE_NONE. */
uint32_t ki__table_find(const ki__table *table, uint32_t hash, ki_str key, ki__table_equals equals,
                        const void *context);

/** Inserts an entry that is not there. -ENOMEM leaves the entries as they were. */
int ki__table_insert(ki__edit *edit, ki__table *table, uint32_t hash, uint32_t id);

/** Prepares the removal of an entry with this hash, so that it cannot fail. */
int ki__table_touch(ki__edit *edit, ki__table *table, uint32_t hash);

/** Removes an entry that is there and was inserted or touched in this edit. */
void ki__table_remove(ki__edit *edit, ki__table *table, uint32_t hash, uint32_t id);

/** Frees all blocks born at or after `birth`. */
void ki__table_free(const ki_alloc *alloc, const ki__table *table, uint64_t birth);

#endif
