/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out that a list goes in a ring: one continue token is remembered, and after twice as many
 * another one, so that in the end the ring is shorter than the way to the next (Brent). Whoever
 * makes two tokens of one hash only spoils a list of his own. */
#ifndef KI_CACHE_RING_H
#define KI_CACHE_RING_H

#include "base/hash.h"

/* Zeroed at the beginning of a list. */
typedef struct ki__ring {
    uint64_t mark; /* of the token that is remembered */
    uint64_t count;
    uint64_t next_mark; /* the number of the next one to remember */
} ki__ring;

/** Whether the next token was met before; at the latest after three times round. */
static inline bool ki__ring_closes(ki__ring *ring, ki_str token)
{
    uint64_t hash = ki__hash_str((ki__hash_key){0}, token);
    if (ring->count != 0 && hash == ring->mark) {
        return true;
    }
    if (ring->count == ring->next_mark) {
        ring->mark = hash;
        ring->next_mark = ring->count * 2 + 1;
    }
    ring->count++;
    return false;
}

#endif
