/* SPDX-License-Identifier: Apache-2.0 */
/* A persistent hash table from 32-bit hashes to 32-bit ids, copied on write: linear hashing over a
 * persistent array of small buckets. It grows and shrinks by one bucket at a time. The user
 * compares keys. */
#ifndef KI_CACHE_STORE_HASH_TABLE_H
#define KI_CACHE_STORE_HASH_TABLE_H

#include <kinformer/str.h>

#include "cache/store/copy_on_write.h"
#include "cache/store/vec.h"

#define KI__TABLE_NONE UINT32_MAX

typedef struct ki__table {
    ki__vec buckets;
    uint32_t bucket_count; /* 0 until the first insertion */
    uint32_t count;        /* entries */
} ki__table;

/** Entries with the same bucket number. */
typedef struct ki__bucket {
    uint64_t birth; /* a ki__block */
    uint32_t count;
    uint32_t cap;
    struct ki__table_entry {
        uint32_t hash;
        uint32_t id;
    } entries[];
} ki__bucket;

/** The number of the bucket for a hash; see hash_table.c. The table must have buckets. */
static inline uint32_t ki__table_bucket_of(const ki__table *table, uint32_t hash)
{
    uint32_t power = UINT32_C(1) << (31 - __builtin_clz(table->bucket_count));
    uint32_t wide = (uint32_t)(hash & (((uint64_t)power << 1) - 1));
    return wide < table->bucket_count ? wide : hash & (power - 1);
}

/** Whether the item with this id has this key. */
typedef bool (*ki__table_equals)(const void *context, uint32_t id, ki_str key);

/** The id of the entry with this hash and key, or KI__TABLE_NONE. Inline, so that `equals` can be
 *  inlined: every lookup in a store uses this. */
static inline uint32_t ki__table_find(const ki__table *table, uint32_t hash, ki_str key,
                                      ki__table_equals equals, const void *context)
{
    if (table->count == 0) {
        return KI__TABLE_NONE;
    }
    const ki__bucket *bucket = ki__vec_get(&table->buckets, ki__table_bucket_of(table, hash)).ptr;
    for (uint32_t i = 0; bucket != NULL && i < bucket->count; i++) {
        if (bucket->entries[i].hash == hash && equals(context, bucket->entries[i].id, key)) {
            return bucket->entries[i].id;
        }
    }
    return KI__TABLE_NONE;
}

/** Inserts an entry that does not exist. -ENOMEM leaves the entries unchanged. */
int ki__table_insert(ki__edit *edit, ki__table *table, uint32_t hash, uint32_t id);

/** Prepares the removal of an entry with this hash, so that it cannot fail. */
int ki__table_touch(ki__edit *edit, ki__table *table, uint32_t hash);

/** Removes an existing entry that was inserted or touched in this edit. */
void ki__table_remove(ki__edit *edit, ki__table *table, uint32_t hash, uint32_t id);

/** Frees all blocks born at or after `birth`. */
void ki__table_free(const ki_alloc *alloc, const ki__table *table, uint64_t birth);

#endif
