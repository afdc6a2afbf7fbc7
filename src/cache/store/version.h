/* SPDX-License-Identifier: Apache-2.0 */
/* Versions of a store and their lifetime. A ki_snapshot is a version.
 *
 * Ownership: `current`, `wide`, `dead`, `collecting` and the counts are atomic and accessible to
 * any thread. The content of a version is immutable once it is published. Links and garbage belong
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
#include "cache/store/opened.h"
#include "cache/store/vec.h"

/* Inline space for the garbage of a typical update, and for a typical resourceVersion. */
enum { KI__VERSION_GARBAGE = 12, KI__VERSION_TEXT = 48 };

typedef struct ki__reader ki__reader;   /* readers.h */
typedef struct ki__readers ki__readers; /* readers.h */

struct ki_snapshot {
    ki__garbage_chunk first_garbage; /* must stay first: the chunk frees the whole block */
    ki__garbage_item first_items[KI__VERSION_GARBAGE];
    ki_store *store;
    _Atomic(int64_t) refs; /* see version.c */
    uint64_t number;
    ki__vec objects;        /* from ids to objects */
    ki__table keys;         /* from the hashes of keys to ids */
    char *resource_version; /* `text`, or separately allocated if that is too small */
    char text[KI__VERSION_TEXT];
    ki__garbage_chunk *garbage; /* what this version has and the next does not */
    struct ki_snapshot *older;  /* the existing neighbors */
    struct ki_snapshot *newer;
    struct ki_snapshot *next_dead;
    ki__reader *reader;    /* of a copy for one reader; NULL: a version */
    bool last_and_dead;    /* the store is gone; waits for older versions */
    uint64_t object_bytes; /* about the memory of all objects, */
    uint64_t block_bytes;  /* and of the blocks that make them accessible */
    size_t index_count;
    struct {
        ki__index_def *def;
        ki__index_state state;
    } indexes[];
};

/** The writer's data for each index, in addition to the state. */
typedef struct ki__index_writer {
    ki__ids ids; /* ids of the values */
    ki_index_values old_values;
    ki_index_values new_values;
    size_t added; /* number of new_values that the current operation has added to the index */
} ki__index_writer;

struct ki_txn {
    ki_store *store;
    ki_snapshot *base;    /* the current version */
    ki_snapshot *next;    /* the one being built */
    bool preparing;       /* inside index functions */
    uint32_t max_objects; /* limit for `next`; higher while the content is replaced */
    ki_object *dropped;   /* an object of `next` alone that the last change removed; or NULL */
    bool apart;           /* the object that was stored last is a packed copy of the given one */
    ki__edit edit;
};

/** There is one writer at a time. While it is active, which is never for long, readers leave dead
 *  versions to it. */
typedef enum ki__writer {
    KI__WRITER_NONE,
    KI__WRITER_AT_WORK,
    KI__WRITER_OPEN, /* a transaction held by the user */
} ki__writer;

struct ki_store {
    const ki_alloc *alloc;
    ki__hash_key hash_key;
    int (*transform)(const ki_object *object, ki_object **ret_object, void *user);
    void *transform_user;
    uint32_t max_objects;
    uint64_t process; /* creating process */
    /** NULL: objects are stored as they are. The writer may set it, once. */
    _Atomic(ki__packer *) packer;
    ki__readers *readers; /* NULL: readers are not tracked */

    /* Any thread. */
    ki__refs handles;            /* references of users */
    ki__refs refs;               /* one for all handles together, and one per version */
    _Atomic(uint64_t) current;   /* version and count of acquisitions: see version.c */
    _Atomic(ki_snapshot *) wide; /* the current version if it does not fit in there; or NULL */
    ki__mutex wide_lock;
    _Atomic(uint64_t) published; /* number of a version at or before the current one */
    _Atomic(ki_snapshot *) dead; /* unreferenced versions, not yet collected */
    atomic_bool collecting;      /* a thread is collecting */
    atomic_int writer;           /* a ki__writer */
    /* Memory of the current version: objects, and what makes them accessible; and of what only
     * older versions have. */
    _Atomic(uint64_t) object_bytes;
    _Atomic(uint64_t) index_bytes;
    _Atomic(uint64_t) version_bytes;

    /* The writer only. */
    ki_txn txn;
    ki__ids ids; /* ids of the objects */
    ki__index_writer *writers;
    size_t writer_count;
    ki__recent recent; /* packed objects that were opened */
};

/** Acquires the current version. */
ki_snapshot *ki__version_acquire(ki_store *store);

/** The current version without a reference: for comparison, and for the writer, which is the only
 *  one to replace it. */
ki_snapshot *ki__version_current(ki_store *store);

/** Releases a reference. */
void ki__version_release(ki_snapshot *version);

/** Ends a copy for one reader, whose last reference was released. */
void ki__reader_end(ki__reader *reader);

/** Creates a version after `base` with the same content and space for `index_count` indexes,
 *  including those of `base`; the first version if `base` is NULL. NULL if out of memory. */
ki_snapshot *ki__version_new(ki_store *store, const ki_snapshot *base, size_t index_count);

/** Publishes `version` in place of `base`. NULL for the first, which has no base. */
void ki__version_publish(ki_snapshot *version, ki_snapshot *base);

/** Frees a version that was never published and everything born in it. */
void ki__version_abandon(ki_snapshot *version, ki_snapshot *base);

/** Sets the writer's state; collects what readers have left to it, unless it is active. */
void ki__version_set_writer(ki_store *store, ki__writer writer);

/** Removes the current version from the store, permanently. */
void ki__version_close(ki_store *store);

/** Number of versions that exist: the current one, and those that readers hold. */
static inline uint32_t ki__store_versions(const ki_store *store)
{
    return atomic_load_explicit(&store->refs.count, memory_order_relaxed) - 1;
}

/** Takes an internal reference to the store, as held by its versions and handles. */
void ki__store_hold(ki_store *store);
void ki__store_drop(ki_store *store);

static inline uint32_t ki__key_hash(const ki_store *store, ki_str key)
{
    return (uint32_t)ki__hash_str(store->hash_key, key);
}

/** The id of the object with this key in a version, or KI__TABLE_NONE. */
uint32_t ki__version_find(const ki_snapshot *version, uint32_t hash, ki_str key);

/** An iteration at its end. */
static inline ki_snapshot_iter ki__snapshot_none(const ki_snapshot *snapshot)
{
    ki_snapshot_iter iter = {.snapshot = snapshot, .position = UINT64_MAX};
    return iter; /* past the end */
}

/** An object that the iteration will reach about `ahead` steps after the next; NULL if there is
 *  none nearby. */
const ki_object *ki__snapshot_peek(const ki_snapshot_iter *iter, uint32_t ahead);

/** Lists the remaining objects of an iteration.
 *  Owner: caller; release with ki_list_unref().  Errors: -ENOMEM. */
int ki__snapshot_list(ki_snapshot_iter *iter, ki_list **ret_list);

/** The public functions of these names, for strings of known length. */
const ki_object *ki__snapshot_get(const ki_snapshot *snapshot, ki_str key);
ki_object *ki__store_get(ki_store *store, ki_str key);

#endif
