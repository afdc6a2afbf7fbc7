/* SPDX-License-Identifier: Apache-2.0 */
/* Prefetching for a batch. A large store is mostly outside of the CPU caches, and an update is a
 * chain of dependent reads: bucket, number, object, uid. A warmer prefetches these some objects
 * ahead of the current one. It affects nothing but the time. */
#ifndef KI_CACHE_STORE_PREFETCH_H
#define KI_CACHE_STORE_PREFETCH_H

#include "cache/store/version.h"

enum { KI__WARM_AHEAD = 16 }; /* prefetch distance in objects; a power of two */

typedef struct ki__warmer {
    const ki_snapshot *version;
    size_t next;
    struct {
        const ki_object *object; /* to be written */
        const ki__bucket *bucket;
        const ki__slot *slot;
        const ki_object *old; /* the one it will most likely replace */
        uint32_t hash;
    } ahead[KI__WARM_AHEAD];
} ki__warmer;

/** Starts prefetching in a version, which must be held. */
void ki__warmer_init(ki__warmer *warmer, const ki_snapshot *version);

/** Announces an object to be stored or removed, with the hash of its key. NULL is allowed. */
void ki__warmer_add(ki__warmer *warmer, const ki_object *object, uint32_t hash);

#endif
