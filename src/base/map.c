/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing with linear probing; removal shifts later entries back, so there are no
 * tombstones and a map that shrinks stays fast. Invariant: count <= 3/4 of cap. */
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

/* The slot that holds the key, or the free one where it would go. */
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

void *ki__map_get(const ki__map *map, ki_str key)
{
    if (map->count == 0) {
        return NULL;
    }
    return map->slots[find_slot(map, ki__hash_str(map->hash_key, key), key)].value;
}

static int grow(ki__map *map)
{
    size_t cap = map->cap == 0 ? MAP_FIRST_CAP : map->cap * 2;
    ki__map_slot *slots = ki__alloc_array(map->alloc, cap, sizeof(*slots));
    if (slots == NULL) {
        return -ENOMEM;
    }
    memset(slots, 0, cap * sizeof(*slots));
    ki__map bigger = *map;
    bigger.slots = slots;
    bigger.cap = cap;
    for (size_t i = 0; i < map->cap; i++) {
        if (map->slots[i].value != NULL) {
            slots[find_slot(&bigger, map->slots[i].hash, map->slots[i].key)] = map->slots[i];
        }
    }
    ki__free(map->alloc, map->slots);
    *map = bigger;
    return 0;
}

int ki__map_set(ki__map *map, ki_str key, void *value, void **ret_old)
{
    ki_assert(value != NULL);
    uint64_t hash = ki__hash_str(map->hash_key, key);
    if (map->cap != 0) {
        ki__map_slot *slot = &map->slots[find_slot(map, hash, key)];
        if (slot->value != NULL) {
            if (ret_old != NULL) {
                *ret_old = slot->value;
            }
            slot->key = key;
            slot->value = value;
            return 0;
        }
    }
    if (map->count >= map->max) {
        return KI_ERR_LIMIT;
    }
    if (map->count + 1 > map->cap / 4 * 3) {
        int r = grow(map);
        if (r < 0) {
            return r;
        }
    }
    map->slots[find_slot(map, hash, key)] = (ki__map_slot){key, value, hash};
    map->count++;
    if (ret_old != NULL) {
        *ret_old = NULL;
    }
    return 0;
}

void *ki__map_remove(ki__map *map, ki_str key)
{
    if (map->count == 0) {
        return NULL;
    }
    size_t mask = map->cap - 1;
    size_t hole = find_slot(map, ki__hash_str(map->hash_key, key), key);
    void *value = map->slots[hole].value;
    if (value == NULL) {
        return NULL;
    }
    /* Move back every later entry of the run that the hole would hide from its own home. */
    for (size_t i = (hole + 1) & mask; map->slots[i].value != NULL; i = (i + 1) & mask) {
        size_t home = (size_t)map->slots[i].hash & mask;
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            map->slots[hole] = map->slots[i];
            hole = i;
        }
    }
    map->slots[hole].value = NULL;
    map->count--;
    return value;
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
