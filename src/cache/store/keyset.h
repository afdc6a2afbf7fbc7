/* SPDX-License-Identifier: Apache-2.0 */
/* A set of keys that is filled once and discarded: the keys of a list or a batch. It borrows the
 * bytes of the keys. */
#ifndef KI_CACHE_STORE_KEYSET_H
#define KI_CACHE_STORE_KEYSET_H

#include <kinformer/alloc.h>
#include <kinformer/str.h>

#include "base/hash.h"

typedef struct ki__keyset_slot {
    const char *key; /* NULL marks a free slot */
    uint32_t len;
    uint32_t hash;
} ki__keyset_slot;

typedef struct ki__keyset {
    ki__keyset_slot *slots;
    size_t mask; /* number of slots in use for the current content, minus one */
    size_t cap;
    ki__hash_key hash_key;
    const ki_alloc *alloc;
} ki__keyset;

/** An empty set without capacity. Allocates nothing. */
void ki__keyset_init(ki__keyset *set, const ki_alloc *alloc, ki__hash_key hash_key);
void ki__keyset_done(ki__keyset *set);

/** Clears the set and reserves space for `count` keys. 0, or -ENOMEM without effect. */
int ki__keyset_reset(ki__keyset *set, size_t count);

/** Adds a key, for which space was reserved; whether it is new. */
bool ki__keyset_add(ki__keyset *set, ki_str key);

/** Only after ki__keyset_reset(). */
bool ki__keyset_has(const ki__keyset *set, ki_str key);

#endif
