/* SPDX-License-Identifier: Apache-2.0 */
/* The store: objects by key, with any number of indexes.
 *
 * It is versioned. A write builds the next version, sharing unchanged parts with the current one,
 * and publishes it in one step. A snapshot is one version: the objects and all indexes at one
 * resourceVersion; taking one has the same cost for any size of store. Readers and the writer never
 * wait for each other, and readers never see a partial write. Memory that only old versions use is
 * freed when their last snapshot is released.
 *
 * A store has one writer at a time: a write that starts while another is in progress, also from
 * inside an index function, fails with KI_ERR_BUSY at once. */
#ifndef KINFORMER_STORE_H
#define KINFORMER_STORE_H

#include <kinformer/alloc.h>
#include <kinformer/clock.h>
#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/list.h>
#include <kinformer/object.h>
#include <kinformer/path.h>
#include <kinformer/str.h>

KI_BEGIN_DECLS

typedef struct ki_store ki_store;
typedef struct ki_snapshot ki_snapshot;

/* Indexes */

/** Collects the values of an object for an index function. */
typedef struct ki_index_values ki_index_values;

/** Adds a value for the object. Duplicates are ignored. The bytes are copied.
 *  Thread: only inside an index function.  Blocks: no.
 *  Errors: KI_ERR_LIMIT  a value over 64 KiB, or over 2^20 values or 1 MiB of values for one
 *                        object;
 *          -ENOMEM.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_index_values_add(ki_index_values *values, ki_str value);

/** An index: a name, and a function that computes the values under which an object is found. The
 *  function returns 0 or more, or an error, which makes the write fail and leaves the store
 *  unchanged. It must return the same values for the same object each time. It runs on the writer's
 *  thread; for ki_snapshot_list_like(), on the reader's. */
typedef struct ki_index {
    size_t size;      /* see KI_OPTIONS_INIT */
    const char *name; /* copied */
    int (*values)(const ki_object *object, ki_index_values *values, void *user);
    void *user;
    /** Called once, when the index is no longer used, on the thread that released it last. May be
     *  NULL. */
    void (*destroy)(void *user);
} ki_index;

/** The name of the index of ki_index_by_namespace(). */
#define KI_INDEX_NAMESPACE "namespace"

/** Returns an index by namespace, named KI_INDEX_NAMESPACE. Objects without a namespace are under
 *  "".
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API int ki_index_by_namespace(ki_index *ret_index);

/** Creates an index by the value of a label. Objects without the label are not in it. `label` is
 *  copied, `name` is borrowed until the index is added.
 *  Owner:  caller; release *ret_index with ki_index_done(), unless it was added to a store without
 *          error: then the store owns it.
 *  Thread: any.  Blocks: no.  Errors: -ENOMEM.  Since: 0.1 */
KI_API KI_NODISCARD int ki_index_by_label(const char *name, const char *label,
                                          const ki_alloc *alloc, ki_index *ret_index);

/** Releases an index that was not added to a store: calls its `destroy` and clears it. The index
 *  may be zeroed.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API void ki_index_done(ki_index *index);

/** Creates an index by all values at a path. Strings, numbers and booleans are indexed as text;
 *  other types are ignored.
 *  Owner, Thread, Blocks, Errors: as ki_index_by_label(). The path is kept by reference.
 *  Since: 0.1 */
KI_API KI_NODISCARD int ki_index_by_path(const char *name, const ki_path *path,
                                         const ki_alloc *alloc, ki_index *ret_index);

/* The store */

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

/** Lists the objects that an index has under a value.
 *  Owner: caller; release with ki_list_unref().  Errors: KI_ERR_UNKNOWN_INDEX, -ENOMEM. */
KI_API KI_NODISCARD int ki_store_by_index(ki_store *store, const char *index, const char *value,
                                          ki_list **ret_list);

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
KI_API ki_snapshot_iter ki_snapshot_iter_all(const ki_snapshot *snapshot);

/** Begins an iteration over the objects that an index has under a value.
 *  Errors: KI_ERR_UNKNOWN_INDEX. */
KI_API KI_NODISCARD int ki_snapshot_iter_find(const ki_snapshot *snapshot, const char *index,
                                              ki_str value, ki_snapshot_iter *ret_iter);

/** Returns the next object of an iteration; NULL at the end. */
KI_API const ki_object *ki_snapshot_iter_next(ki_snapshot_iter *iter);

/** Counts the objects that an index has under a value.  Errors: KI_ERR_UNKNOWN_INDEX. */
KI_API KI_NODISCARD int ki_snapshot_find_count(const ki_snapshot *snapshot, const char *index,
                                               ki_str value, size_t *ret_count);

/** Iterates over the values of an index; start with *position 0. Returns 1 with the value and the
 *  number of its objects (each may be NULL), 0 at the end. Every value has at least one object.
 *  Errors: KI_ERR_UNKNOWN_INDEX. */
KI_API int ki_snapshot_next_value(const ki_snapshot *snapshot, const char *index,
                                  uint32_t *position, ki_str *ret_value, size_t *ret_count);

/** Returns the name of index number `position`, from 0; NULL after the last. */
KI_API const char *ki_snapshot_index_name(const ki_snapshot *snapshot, size_t position);

/* Lists of iterated objects; see list.h.
 * Thread: any.  Blocks: no.  Since: 0.1 */

/** Lists the remaining objects of an iteration.
 *  Owner: caller; release with ki_list_unref().  Errors: -ENOMEM. */
KI_API KI_NODISCARD int ki_snapshot_list(ki_snapshot_iter *iter, ki_list **ret_list);

/** Lists the objects that share a value of the index with `object`, which need not be in the store.
 *  Each is listed once.
 *  Owner:  caller; release with ki_list_unref().
 *  Errors: KI_ERR_UNKNOWN_INDEX, KI_ERR_INDEX_FUNCTION, KI_ERR_LIMIT, -ENOMEM. */
KI_API KI_NODISCARD int ki_snapshot_list_like(const ki_snapshot *snapshot, const char *index,
                                              const ki_object *object, ki_list **ret_list,
                                              ki_error *error);

KI_AUTO_DEFINE(ki_store, ki_store_unref)
KI_AUTO_DEFINE(ki_snapshot, ki_snapshot_unref)

KI_END_DECLS

#endif
