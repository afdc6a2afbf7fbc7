/* SPDX-License-Identifier: Apache-2.0 */
/* Who holds snapshots, for stores with `reader_clock`.
 *
 * A version has one count for all its readers, which does not show whose reference is released. So
 * each snapshot that is taken of such a store is a copy of the version, which holds the version:
 * readers use it as they use the version, since its content is immutable, and its own count says
 * when this snapshot is released. Without the option, all this costs is one comparison per
 * snapshot. */
#ifndef KI_CACHE_STORE_READERS_H
#define KI_CACHE_STORE_READERS_H

#include <kinformer/lister.h>
#include <kinformer/memory.h>

#include "base/list.h"
#include "cache/store/version.h"

enum { KI__THREAD_NAME = 16 };

/** One snapshot; its copy of the version follows. */
typedef struct ki__reader {
    ki__list link;
    ki_snapshot *version; /* a reference */
    uint64_t taken_ns;
    uint64_t thread;
    const void *caller;
    size_t bytes;
    char thread_name[KI__THREAD_NAME];
} ki__reader;

struct ki__readers {
    ki__mutex lock;
    ki__list list; /* requires the lock; oldest first */
    ki_clock clock;
};

/** Creates the list of a store.  Errors: -ENOMEM, or of the lock. */
int ki__readers_new(const ki_alloc *alloc, const ki_clock *clock, ki__readers **ret_readers);
void ki__readers_free(const ki_alloc *alloc, ki__readers *readers);

/** A snapshot of a version, whose reference is taken over; the version itself if out of memory. */
ki_snapshot *ki__reader_new(ki_snapshot *version, const void *caller);

/** Takes a snapshot of the current version for the program. `caller` is where it called. */
static inline ki_snapshot *ki__store_read(ki_store *store, const void *caller)
{
    ki_snapshot *version = ki__version_acquire(store);
    return store->readers == NULL ? version : ki__reader_new(version, caller);
}

/** The version of a snapshot. */
static inline const ki_snapshot *ki__reader_version(const ki_snapshot *snapshot)
{
    return snapshot->reader != NULL ? snapshot->reader->version : snapshot;
}

/** ki_lister_list() for a caller. */
int ki__lister_list(const ki_lister *lister, const char *name_space, const ki_selector *selector,
                    const void *caller, ki_list **ret_list);

/** For how long the oldest snapshot has been held; 0 if there is none. Any thread. */
uint64_t ki__store_oldest_ns(const ki_store *store);

#endif
