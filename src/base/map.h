/* SPDX-License-Identifier: Apache-2.0 */
/* A hash map from byte strings to pointers. Keys are borrowed: their bytes must live as long as the
 * values, usually inside them. */
#ifndef KI_BASE_MAP_H
#define KI_BASE_MAP_H

#include <kinformer/alloc.h>
#include <kinformer/str.h>

#include "base/hash.h"
#include "base/shared.h"

typedef struct ki__map_slot {
    ki_str key;
    void *value; /* NULL marks a free slot */
    uint64_t hash;
} ki__map_slot;

typedef struct ki__map {
    ki__map_slot *slots;
    size_t cap;   /* 0 or a power of two */
    size_t count; /* slots in use */
    size_t max;   /* maximum number of entries */
    ki__hash_key hash_key;
    const ki_alloc *alloc;
} ki__map;

/** An empty map for up to `max` entries (not 0). Allocates nothing. */
KI__SHARED void ki__map_init(ki__map *map, const ki_alloc *alloc, ki__hash_key hash_key,
                             size_t max);

/** Frees the table, not the values. */
KI__SHARED void ki__map_done(ki__map *map);

/** The value of `key`, or NULL. */
KI__SHARED void *ki__map_get(const ki__map *map, ki_str key);

/** Sets the value (not NULL) of `key`. *ret_old, if not NULL, receives the previous value or NULL.
 *  -ENOMEM or KI_ERR_LIMIT leave the map unchanged; replacing a value cannot fail. The new key is
 *  borrowed in place of the old one. */
KI__SHARED int ki__map_set(ki__map *map, ki_str key, void *value, void **ret_old);

/** Removes `key` and returns its value, or NULL if absent. Shrinks a table that has become far too
 *  large, if the smaller one can be allocated. */
KI__SHARED void *ki__map_remove(ki__map *map, ki_str key);

/* For callers that use a key several times, or keep its hash: `hash` is the key's ki__map_hash()
 * for this map. */

static inline uint64_t ki__map_hash(const ki__map *map, ki_str key)
{
    return ki__hash_str(map->hash_key, key);
}

/** Like ki__map_get(). */
void *ki__map_get_hashed(const ki__map *map, uint64_t hash, ki_str key);
/** Adds a key that is not in the map; errors as ki__map_set(). */
int ki__map_add_hashed(ki__map *map, uint64_t hash, ki_str key, void *value);
/** Removes the entry with this value pointer, which must exist. */
void ki__map_remove_hashed(ki__map *map, uint64_t hash, const void *value);

/** Iterates over the entries in unspecified order: start with *position 0; NULL at the end. The map
 *  must not be modified during the iteration. */
KI__SHARED void *ki__map_next(const ki__map *map, size_t *position);

#endif
