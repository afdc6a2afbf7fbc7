/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing with linear probing, at most half full. Nothing is ever removed. Keys are those
 * of objects, so their length fits into uint32_t. */
#include "cache/store/keyset.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"

enum { KEYSET_FIRST_CAP = 16 };

void ki__keyset_init(ki__keyset *set, const ki_alloc *alloc, ki__hash_key hash_key)
{
    *set = (ki__keyset){.alloc = alloc, .hash_key = hash_key};
}

void ki__keyset_done(ki__keyset *set)
{
    ki__free(set->alloc, set->slots);
    set->slots = NULL;
    set->cap = 0;
}

int ki__keyset_reset(ki__keyset *set, size_t count)
{
    size_t cap = KEYSET_FIRST_CAP;
    while (cap / 2 < count) {
        if (cap > SIZE_MAX / 2) {
            return -ENOMEM;
        }
        cap *= 2;
    }
    if (cap > set->cap) {
        ki__keyset_slot *slots = ki__alloc_array(set->alloc, cap, sizeof(*slots));
        if (slots == NULL) {
            return -ENOMEM;
        }
        ki__free(set->alloc, set->slots);
        set->slots = slots;
        set->cap = cap;
    }
    set->mask = cap - 1;
    memset(set->slots, 0, cap * sizeof(*set->slots));
    return 0;
}

/* The slot of the key, or the free slot for it. */
static ki__keyset_slot *find_slot(const ki__keyset *set, uint32_t hash, ki_str key)
{
    for (size_t i = hash & set->mask;; i = (i + 1) & set->mask) {
        ki__keyset_slot *slot = &set->slots[i];
        if (slot->key == NULL || (slot->hash == hash && slot->len == key.len &&
                                  memcmp(slot->key, key.ptr, key.len) == 0)) {
            return slot;
        }
    }
}

bool ki__keyset_add(ki__keyset *set, ki_str key)
{
    ki_assert(key.ptr != NULL && key.len <= UINT32_MAX);
    uint32_t hash = (uint32_t)ki__hash_str(set->hash_key, key);
    ki__keyset_slot *slot = find_slot(set, hash, key);
    if (slot->key != NULL) {
        return false;
    }
    *slot = (ki__keyset_slot){key.ptr, (uint32_t)key.len, hash};
    return true;
}

bool ki__keyset_has(const ki__keyset *set, ki_str key)
{
    uint32_t hash = (uint32_t)ki__hash_str(set->hash_key, key);
    return find_slot(set, hash, key)->key != NULL;
}
