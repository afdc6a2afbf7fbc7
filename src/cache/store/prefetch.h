/* SPDX-License-Identifier: Apache-2.0 */
/* Looking ahead in a batch. A large store is mostly outside of the processor's caches, and an
 * update is a chain of reads, each of which has to wait for the one before: bucket, number, object,
 * uid. A warmer asks for these some objects ahead of the one at work, so that they are there in
 * time. It changes nothing but the time. */
#ifndef KI_CACHE_STORE_PREFETCH_H
#define KI_CACHE_STORE_PREFETCH_H

#include "cache/store/version.h"

enum { KI__WARM_AHEAD = 16 }; /* how far ahead to be, in objects; a power of two */

typedef struct ki__warmer {
    const ki_snapshot *version;
    size_t next;
    struct {
        const ki_object *object; /* that will be written */
        const ki__bucket *bucket;
        const ki__slot *slot;
        const ki_object *old; /* that it will replace, most likely */
        uint32_t hash;
    } ahead[KI__WARM_AHEAD];
} ki__warmer;

/** Begins looking ahead in a version, which must be held. */
void ki__warmer_init(ki__warmer *warmer, const ki_snapshot *version);

/** One more object that will be written, put or removed, and the hash of its key. NULL is fine. */
void ki__warmer_add(ki__warmer *warmer, const ki_object *object, uint32_t hash);

#endif
