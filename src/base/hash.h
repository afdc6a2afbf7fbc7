/* SPDX-License-Identifier: Apache-2.0 */
/* SipHash-1-3: a keyed hash, so that an attacker who chooses names cannot cause collisions. The
 * same key and bytes yield the same hash on every machine. */
#ifndef KI_BASE_HASH_H
#define KI_BASE_HASH_H

#include <kinformer/clock.h>
#include <kinformer/str.h>

#include "base/shared.h"

typedef struct ki__hash_key {
    uint64_t k0;
    uint64_t k1;
} ki__hash_key;

/** A key from `random`. If that is NULL or fails, the key is mixed from the address `salt` and
 *  those of code and stack, which differ between processes if addresses are randomized: better than
 *  no key, but guessable. */
KI__SHARED ki__hash_key ki__hash_key_make(const ki_random *random, const void *salt);

/** The hash of `len` bytes; `bytes` may be NULL if there are none. */
uint64_t ki__hash(ki__hash_key key, const void *bytes, size_t len);

static inline uint64_t ki__hash_str(ki__hash_key key, ki_str s)
{
    return ki__hash(key, s.ptr, s.len);
}

#endif
