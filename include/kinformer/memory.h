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
    /** With packed storage: dictionaries, contexts and buffers, most of which libzstd allocates
     *  itself. Not part of `total`, and not limited. */
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

/** A snapshot, a list or an iteration of a lister that was taken of a store and is not released: it
 *  keeps what it shows in memory. */
typedef struct ki_reader {
    size_t size;             /* see KI_OPTIONS_INIT */
    uint64_t held_ns;        /* time since it was taken */
    uint64_t version;        /* as ki_snapshot_version() */
    uint64_t newer_versions; /* number of versions since; 0: it holds the current one */
    uint64_t thread;         /* that took it, as gettid(2), debuggers and `top -H` number it */
    const void *caller;      /* where that called the library: for dladdr(3) or a debugger */
    char thread_name[16];    /* "" if it has none */
} ki_reader;

/** Fills `reader`, whose `size` must be set, with number `position` of the snapshots and lists that
 *  are held, from 0, oldest first. Returns 1, or 0 if there are not as many. Only for stores with
 *  `reader_clock`, such as those of informers with `track_readers`; there each snapshot costs an
 *  allocation and about a microsecond. A snapshot is released with its last reference. If memory is
 *  short, snapshots are taken without a record. `caller` is in the library for snapshots that the
 *  library takes itself, for example until a new handler has received all objects.
 *  Thread: any.  Blocks: no.
 *  Errors: KI_ERR_UNSUPPORTED  readers are not tracked;  -EINVAL  invalid `size`.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_store_reader(const ki_store *store, size_t position, ki_reader *reader);

KI_END_DECLS

#endif
