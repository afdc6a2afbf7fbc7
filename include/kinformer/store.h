/* SPDX-License-Identifier: Apache-2.0 */
/* The store: objects by key, with any number of indexes.
 *
 * It is versioned. A write builds the next version, sharing unchanged parts with the current one,
 * and publishes it in one step. A snapshot is one version: the objects and all indexes at one
 * resourceVersion; taking one has the same cost for any size of store. Readers and the writer never
 * wait for each other, and readers never see a partial write. Memory that only old versions use is
 * freed when their last snapshot is released.
 *
 * Indexes are defined in index.h; informers have the index by namespace by default. */
#ifndef KINFORMER_STORE_H
#define KINFORMER_STORE_H

#include <kinformer/defs.h>
#include <kinformer/list.h>
#include <kinformer/object.h>
#include <kinformer/str.h>

KI_BEGIN_DECLS

typedef struct ki_store ki_store;
typedef struct ki_snapshot ki_snapshot;

/** The name of the index by namespace, which informers have by default. */
#define KI_INDEX_NAMESPACE "namespace"

/** Takes and releases references. Snapshots and lists remain valid after the last reference to the
 *  store is released. ki_store_unref() always returns NULL; both accept NULL.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API ki_store *ki_store_ref(ki_store *store);
KI_API ki_store *ki_store_unref(ki_store *store);

/* Reading the current version. Thread: any.  Blocks: no.  Since: 0.1 */

/** Takes a snapshot of the current version. Never fails.
 *  Owner: caller; release with ki_snapshot_unref(). */
KI_API ki_snapshot *ki_store_snapshot(ki_store *store);

/** Updates a held snapshot: returns `held` itself if nothing was written since it was taken, which
 *  costs one atomic load; otherwise releases `held` and returns a snapshot of the current version.
 *  The fastest way to read often: one call per iteration, then ki_snapshot_get() and similar
 *  functions, which touch no reference count. `held` may be NULL and must not be used after the
 *  call.
 *  Owner: as ki_store_snapshot(). An idle reader should release its snapshot. */
KI_API ki_snapshot *ki_store_refresh(ki_store *store, ki_snapshot *held);

/** Returns the object with this key as a new reference, or NULL if there is none. */
KI_API ki_object *ki_store_get(ki_store *store, const char *key);

/** Lists all objects.  Owner: caller; release with ki_list_unref().  Errors: -ENOMEM. */
KI_API KI_NODISCARD int ki_store_list(ki_store *store, ki_list **ret_list);

/* Snapshots. Returned objects and strings are borrowed and valid while the snapshot is held.
 * Thread: any.  Blocks: no.  Since: 0.1 */

/** Takes and releases references. ki_snapshot_unref() always returns NULL; both accept NULL. */
KI_API ki_snapshot *ki_snapshot_ref(ki_snapshot *snapshot);
KI_API ki_snapshot *ki_snapshot_unref(ki_snapshot *snapshot);

/** Returns the version number, which increases by one with each version of the store. */
KI_API uint64_t ki_snapshot_version(const ki_snapshot *snapshot);
/** Returns the resourceVersion of the last change, replace or bookmark; "" before the first. */
KI_API const char *ki_snapshot_resource_version(const ki_snapshot *snapshot);
/** Returns the number of objects. */
KI_API size_t ki_snapshot_count(const ki_snapshot *snapshot);
/** Returns the object with this key; NULL if there is none. */
KI_API const ki_object *ki_snapshot_get(const ki_snapshot *snapshot, const char *key);

/** An iterator over objects of a snapshot, which must be held meanwhile. It must not be used by two
 *  threads at once and needs no release. Its members are private. */
typedef struct ki_snapshot_iter {
    const ki_snapshot *snapshot;
    const void *set;
    const void *leaf;
    uint64_t bits;
    uint64_t position;
} ki_snapshot_iter;

/** Begins an iteration over all objects, in an order that is stable while the objects remain in the
 *  store. */
KI_API ki_snapshot_iter ki_snapshot_iter_begin(const ki_snapshot *snapshot);

/** Returns the next object of an iteration: 1 with *ret_object set, 0 at the end. */
KI_API int ki_snapshot_iter_next(ki_snapshot_iter *iter, const ki_object **ret_object);

KI_AUTO_DEFINE(ki_store, ki_store_unref)
KI_AUTO_DEFINE(ki_snapshot, ki_snapshot_unref)

KI_END_DECLS

#endif
