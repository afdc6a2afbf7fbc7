/* SPDX-License-Identifier: Apache-2.0 */
/* Versions of a store, and how they come and go. A ki_snapshot is a version.
 *
 * Who may touch what: `current`, `wide`, `dead`, `collecting` and the counts are atomic and
 * anyone's. The content of a version never changes once it is published. Links and garbage belong
 * to the writer while the version is being built or current, and to the collector from then on. */
#ifndef KI_CACHE_STORE_VERSION_H
#define KI_CACHE_STORE_VERSION_H

#include <stdatomic.h>

#include <kinformer/parts/store_write.h>
#include <kinformer/store.h>

#include "base/hash.h"
#include "base/refs.h"
#include "base/sync.h"
#include "cache/store/copy_on_write.h"
#include "cache/store/hash_table.h"
#include "cache/store/ids.h"
#include "cache/store/index.h"
#include "cache/store/vec.h"

/* Space for the garbage of a usual update, and for a usual resource version. */
enum { KI__VERSION_GARBAGE = 12, KI__VERSION_TEXT = 48 };

struct ki_snapshot {
    ki__garbage_chunk first_garbage; /* must stay first: the chunk frees the whole block */
    ki__garbage_item first_items[KI__VERSION_GARBAGE];
    ki_store *store;
    _Atomic(int64_t) refs; /* see version.c */
    uint64_t number;
    ki__vec objects;        /* from ids to objects */
    ki__table keys;         /* from the hashes of keys to ids */
    char *resource_version; /* text, or memory of its own if that is too small */
    char text[KI__VERSION_TEXT];
    ki__garbage_chunk *garbage; /* what this version has and the next has not */
    struct ki_snapshot *older;  /* the neighbours that are still there */
    struct ki_snapshot *newer;
    struct ki_snapshot *next_dead;
    bool last_and_dead; /* the store is gone; waits for the older ones */
    size_t index_count;
    struct {
        ki__index_def *def;
        ki__index_state state;
    } indexes[];
};

/** What the writer needs for each index besides the state. */
typedef struct ki__index_writer {
    ki__ids ids; /* numbers of the values */
    ki_index_values old_values;
    ki_index_values new_values;
    size_t added; /* of new_values, how many the operation at hand has put into the index */
} ki__index_writer;

struct ki_txn {
    ki_store *store;
    ki_snapshot *base;    /* the current version */
    ki_snapshot *next;    /* the one being built */
    bool preparing;       /* index functions are being called */
    uint32_t max_objects; /* that `next` may hold; replacing holds more for a while */
    ki__edit edit;
};

/** There is one writer at a time. While it is at work, which is never for long, readers leave dead
 *  versions to it. */
typedef enum ki__writer {
    KI__WRITER_NONE,
    KI__WRITER_AT_WORK,
    KI__WRITER_OPEN, /* a transaction in the hands of the user */
} ki__writer;

struct ki_store {
    const ki_alloc *alloc;
    ki__hash_key hash_key;
    int (*transform)(const ki_object *object, ki_object **ret_object, void *user);
    void *transform_user;
    uint32_t max_objects;
    uint64_t process; /* that made it */

    /* Anyone. */
    ki__refs handles;            /* references of users */
    ki__refs refs;               /* handles together, and each version, hold one */
    _Atomic(uint64_t) current;   /* version and count of acquisitions: see version.c */
    _Atomic(ki_snapshot *) wide; /* the current version if it does not fit in there; or NULL */
    ki__mutex wide_lock;
    _Atomic(ki_snapshot *) dead; /* versions that nobody holds, not yet collected */
    atomic_bool collecting;      /* someone is at it */
    atomic_int writer;           /* a ki__writer */

    /* The writer only. */
    ki_txn txn;
    ki__ids ids; /* numbers of the objects */
    ki__index_writer *writers;
    size_t writer_count;
};

/** The current version, held. */
ki_snapshot *ki__version_acquire(ki_store *store);

/** The current version, not held: to compare with, and for the writer, as only the writer replaces
 *  it. */
ki_snapshot *ki__version_current(ki_store *store);

/** Gives one hold back. */
void ki__version_release(ki_snapshot *version);

/** A version after `base` with the same content and space for `index_count` indexes, of which it
 *  has those of `base`; the very first if `base` is NULL. NULL if there is no memory. */
ki_snapshot *ki__version_new(ki_store *store, const ki_snapshot *base, size_t index_count);

/** Publishes `version` in place of `base`. NULL for the first, which has no base. */
void ki__version_publish(ki_snapshot *version, ki_snapshot *base);

/** Frees a version that was never published and all that was born in it. */
void ki__version_abandon(ki_snapshot *version, ki_snapshot *base);

/** Says what the writer does now; collects what readers have left to it, unless it is at work. */
void ki__version_set_writer(ki_store *store, ki__writer writer);

/** Takes the current version out of the store, for good. */
void ki__version_close(ki_store *store);

/** One of the store's own references, which its versions and its handles hold. */
void ki__store_hold(ki_store *store);
void ki__store_drop(ki_store *store);

static inline uint32_t ki__key_hash(const ki_store *store, ki_str key)
{
    return (uint32_t)ki__hash_str(store->hash_key, key);
}

/** The id of the object with this key in a version, or KI__TABLE_NONE. */
uint32_t ki__version_find(const ki_snapshot *version, uint32_t hash, ki_str key);

/** A walk over nothing: it is at its end. */
static inline ki_snapshot_iter ki__snapshot_none(const ki_snapshot *snapshot)
{
    ki_snapshot_iter iter = {.snapshot = snapshot, .position = UINT64_MAX};
    return iter; /* behind everything */
}

/** An object that the walk will come to, about `ahead` after the next; NULL if there is none near.
 */
const ki_object *ki__snapshot_peek(const ki_snapshot_iter *iter, uint32_t ahead);

/** The public functions of these names, for text of a known length. */
const ki_object *ki__snapshot_get(const ki_snapshot *snapshot, ki_str key);
ki_object *ki__store_get(ki_store *store, ki_str key);

#endif
