/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing with linear probing; removal shifts later entries back, so there are no
 * tombstones and a shrinking map stays fast. Invariant: count <= 3/4 of cap. */
#include "base/map.h"

#include <errno.h>
#include <string.h>

#include <kinformer/error.h>

#include "base/alloc.h"
#include "base/assert.h"

enum { MAP_FIRST_CAP = 16 };

void ki__map_init(ki__map *map, const ki_alloc *alloc, ki__hash_key hash_key, size_t max)
{
    ki_assert(max != 0);
    *map = (ki__map){
        .max = max,
        .hash_key = hash_key,
        .alloc = ki__alloc_or_default(alloc),
    };
}

void ki__map_done(ki__map *map)
{
    ki__free(map->alloc, map->slots);
    map->slots = NULL;
    map->cap = 0;
    map->count = 0;
}

/* The slot that holds the key, or the free one for it. */
static size_t find_slot(const ki__map *map, uint64_t hash, ki_str key)
{
    size_t mask = map->cap - 1;
    size_t i = (size_t)hash & mask;
    while (map->slots[i].value != NULL &&
           !(map->slots[i].hash == hash && ki_str_eq(map->slots[i].key, key))) {
        i = (i + 1) & mask;
    }
    return i;
}

void *ki__map_get_hashed(const ki__map *map, uint64_t hash, ki_str key)
{
    return map->count != 0 ? map->slots[find_slot(map, hash, key)].value : NULL;
}

void *ki__map_get(const ki__map *map, ki_str key)
{
    return map->count != 0 ? ki__map_get_hashed(map, ki__map_hash(map, key), key) : NULL;
}

/* The first free slot starting at the home slot of `hash`. */
static size_t find_free(const ki__map_slot *slots, size_t cap, uint64_t hash)
{
    size_t i = (size_t)hash & (cap - 1);
    while (slots[i].value != NULL) {
        i = (i + 1) & (cap - 1);
    }
    return i;
}

/* Rehashes all entries into a table of `cap` slots. */
static int resize(ki__map *map, size_t cap)
{
    ki__map_slot *slots = ki__alloc_array(map->alloc, cap, sizeof(*slots));
    if (slots == NULL) {
        return -ENOMEM;
    }
    memset(slots, 0, cap * sizeof(*slots));
    for (size_t i = 0; i < map->cap; i++) {
        if (map->slots[i].value != NULL) {
            slots[find_free(slots, cap, map->slots[i].hash)] = map->slots[i];
        }
    }
    ki__free(map->alloc, map->slots);
    map->slots = slots;
    map->cap = cap;
    return 0;
}

int ki__map_add_hashed(ki__map *map, uint64_t hash, ki_str key, void *value)
{
    ki_assert(value != NULL);
    if (map->count >= map->max) {
        return KI_ERR_LIMIT;
    }
    if (map->count + 1 > map->cap / 4 * 3) {
        int r = resize(map, map->cap == 0 ? MAP_FIRST_CAP : map->cap * 2);
        if (r < 0) {
            return r;
        }
    }
    map->slots[find_free(map->slots, map->cap, hash)] = (ki__map_slot){key, value, hash};
    map->count++;
    return 0;
}

int ki__map_set(ki__map *map, ki_str key, void *value, void **ret_old)
{
    ki_assert(value != NULL);
    uint64_t hash = ki__map_hash(map, key);
    void *old = NULL;
    if (map->cap != 0) {
        ki__map_slot *slot = &map->slots[find_slot(map, hash, key)];
        old = slot->value;
        if (old != NULL) {
            slot->key = key;
            slot->value = value;
        }
    }
    if (old == NULL) {
        int r = ki__map_add_hashed(map, hash, key, value);
        if (r < 0) {
            return r;
        }
    }
    if (ret_old != NULL) {
        *ret_old = old;
    }
    return 0;
}

static void remove_slot(ki__map *map, size_t hole)
{
    size_t mask = map->cap - 1;
    /* Shift back each later entry of the run that the hole would cut off from its home slot. */
    for (size_t i = (hole + 1) & mask; map->slots[i].value != NULL; i = (i + 1) & mask) {
        size_t home = (size_t)map->slots[i].hash & mask;
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            map->slots[hole] = map->slots[i];
            hole = i;
        }
    }
    map->slots[hole].value = NULL;
    map->count--;
    /* Shrinking to half full leaves hysteresis in both directions, so that a fluctuating count does
     * not resize repeatedly. If out of memory, the table is kept. */
    if (map->cap > MAP_FIRST_CAP && map->count < map->cap / 4) {
        (void)resize(map, map->cap / 2);
    }
}

void *ki__map_remove(ki__map *map, ki_str key)
{
    if (map->count == 0) {
        return NULL;
    }
    size_t i = find_slot(map, ki__map_hash(map, key), key);
    void *value = map->slots[i].value;
    if (value != NULL) {
        remove_slot(map, i);
    }
    return value;
}

void ki__map_remove_hashed(ki__map *map, uint64_t hash, const void *value)
{
    ki_assert(map->count != 0);
    size_t i = (size_t)hash & (map->cap - 1);
    while (map->slots[i].value != value) {
        ki_assert(map->slots[i].value != NULL);
        i = (i + 1) & (map->cap - 1);
    }
    remove_slot(map, i);
}

void *ki__map_next(const ki__map *map, size_t *position)
{
    while (*position < map->cap) {
        void *value = map->slots[(*position)++].value;
        if (value != NULL) {
            return value;
        }
    }
    return NULL;
}
