/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of stores and informers. Numbers are bytes that the library has requested from its
 * allocator; the allocator itself needs a few percent more. `max_bytes` in the options of informers
 * and factories limits `total`: see docs/memory.md. */
#ifndef KINFORMER_MEMORY_H
#define KINFORMER_MEMORY_H

#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/health.h>
#include <kinformer/store.h>

KI_BEGIN_DECLS

typedef struct ki_informer ki_informer; /* <kinformer/informer.h> */

/** The memory of a store or an informer, at the time of the call. */
typedef struct ki_memory {
    size_t size;      /* see KI_OPTIONS_INIT */
    uint64_t objects; /* objects of the current version */
    uint64_t indexes; /* keys and indexes */
    /** Held by readers: objects and index blocks that only older versions have, and the plain forms
     *  of packed objects that were read. */
    uint64_t versions;
    uint64_t total;          /* of the above, and of queues and decoding */
    uint64_t older_versions; /* number of older versions that readers hold */
    /** With packed storage: dictionaries and contexts of libzstd, which allocates them itself. Not
     *  part of `total`, and not limited. */
    uint64_t packing;

    /* Informers only; 0 for a store without an informer. */
    uint64_t queues;        /* objects and events on their way to the store and to handlers */
    uint64_t decoding;      /* objects of a list that is being received */
    uint64_t max_bytes;     /* of the options; 0: no limit */
    bool over_limit;        /* the cache is not complete or not current, because of a limit */
    ki_reduction reduction; /* of its objects, because of a limit */
} ki_memory;

/** Fills `memory`, whose `size` must be set.
 *  Thread: any.  Blocks: no.  Errors: -EINVAL  invalid `size`.  Since: 0.1 */
KI_API KI_NODISCARD int ki_store_get_memory(const ki_store *store, ki_memory *memory);

/** Fills `memory`, whose `size` must be set, for an informer: its store, its queues, and what it
 *  receives.
 *  Thread: any.  Blocks: no.  Errors: -EINVAL  invalid `size`.  Since: 0.1 */
KI_API KI_NODISCARD int ki_informer_get_memory(ki_informer *informer, ki_memory *memory);

KI_END_DECLS

#endif
