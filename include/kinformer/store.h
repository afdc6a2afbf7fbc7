/* SPDX-License-Identifier: Apache-2.0 */
/* The store: objects by key, with any number of indexes over them.
 *
 * It is versioned. A write builds the next version beside the current one, sharing what did not
 * change, and publishes it in one step. A snapshot is one version: the objects and all indexes at
 * one resource version; taking one costs the same however large the store is. Readers never wait
 * for the writer nor the writer for readers, and nobody ever sees half a write. What only old
 * versions hold is freed when the last snapshot of them is given back.
 *
 * There is one writer at a time: a write that begins while another is under way, also from inside
 * an index function, gets KI_ERR_BUSY at once. */
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

/** Where an index function puts the values of an object. */
typedef struct ki_index_values ki_index_values;

/** Adds one value. Adding the same value twice is fine. The bytes are copied.
 *  Thread: only inside an index function.  Blocks: no.
 *  Errors: KI_ERR_LIMIT  a value over 64 KiB, or for one object over 2^20 values or 1 MiB of them;
 *          -ENOMEM.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_index_values_add(ki_index_values *values, ki_str value);

/** An index: a name, and a function that tells under which values an object is found. The function
 *  returns 0 or more, or an error, which makes the write fail and leaves the store as it was. It
 *  must give the same values for the same object each time. It runs on the writer's thread, for
 *  ki_snapshot_list_like() on the reader's. */
typedef struct ki_index {
    const char *name; /* copied */
    int (*values)(const ki_object *object, ki_index_values *values, void *user);
    void *user;
    /** Runs once, when nothing uses the index any more, on the thread that let go last. May be
     * NULL.
     */
    void (*destroy)(void *user);
} ki_index;

/** The name of the index that ki_index_by_namespace() makes. */
#define KI_INDEX_NAMESPACE "namespace"

/** The index by namespace, named KI_INDEX_NAMESPACE; objects without one are under "".
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API ki_index ki_index_by_namespace(void);

/** An index by the value of a label. Objects without the label are not in it. `label` is copied,
 *  `name` borrowed until the index is added.
 *  Owner:  *ret_index: release with ki_index_done(), unless it was added to a store without error:
 *          then it is the store's.
 *  Thread: any.  Blocks: no.  Errors: -ENOMEM.  Since: 0.1 */
KI_API KI_NODISCARD int ki_index_by_label(const char *name, const char *label,
                                          const ki_alloc *alloc, ki_index *ret_index);

/** Releases an index that no store has taken: runs its `destroy`, and clears it. Fine for one that
 *  is all zeros.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API void ki_index_done(ki_index *index);

/** An index by all values at a path: strings, numbers and booleans as text; others do not count.
 *  Owner, Thread, Blocks, Errors: as ki_index_by_label(). The path is kept by reference.
 *  Since: 0.1 */
KI_API KI_NODISCARD int ki_index_by_path(const char *name, const ki_path *path,
                                         const ki_alloc *alloc, ki_index *ret_index);

/* The store */

/** References. Snapshots and lists stay valid after the last reference to the store is gone.
 *  ki_store_unref() always returns NULL; NULL is fine for both.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API ki_store *ki_store_ref(ki_store *store);
KI_API ki_store *ki_store_unref(ki_store *store);

/* Reading the present. Thread: any.  Blocks: no.  Since: 0.1 */

/** The current version. Never fails.
 *  Owner: release with ki_snapshot_unref(). */
KI_API ki_snapshot *ki_store_snapshot(ki_store *store);

/** The current version for a reader that keeps one: `held` itself if nothing was written since it
 *  was taken, which costs no more than a look; otherwise `held` is given back and the current
 *  version taken. The fastest way to read often: one call a round, then ki_snapshot_get() and its
 *  like, with no count of references touched. `held` may be NULL and must not be used after the
 *  call.
 *  Owner: as ki_store_snapshot(). A reader that goes idle should give its snapshot back. */
KI_API ki_snapshot *ki_store_refresh(ki_store *store, ki_snapshot *held);

/** The object with this key, as a reference of the caller's; NULL if there is none. */
KI_API ki_object *ki_store_get(ki_store *store, ki_str key);

/** All objects.  Owner: release with ki_list_unref().  Errors: -ENOMEM. */
KI_API KI_NODISCARD int ki_store_list(ki_store *store, ki_list **ret_list);

/** The objects that an index has under a value.
 *  Owner: release with ki_list_unref().  Errors: KI_ERR_UNKNOWN_INDEX, -ENOMEM. */
KI_API KI_NODISCARD int ki_store_by_index(ki_store *store, const char *index, ki_str value,
                                          ki_list **ret_list);

/* Snapshots. Objects and text that they give are borrowed, valid while the snapshot is held.
 * Thread: any.  Blocks: no.  Since: 0.1 */

/** References. ki_snapshot_unref() always returns NULL; NULL is fine for both. */
KI_API ki_snapshot *ki_snapshot_ref(ki_snapshot *snapshot);
KI_API ki_snapshot *ki_snapshot_unref(ki_snapshot *snapshot);

/** Rises by one with each version of the store. */
KI_API uint64_t ki_snapshot_version(const ki_snapshot *snapshot);
/** Of the last change, replace or bookmark; "" before the first. */
KI_API const char *ki_snapshot_resource_version(const ki_snapshot *snapshot);
/** The number of objects. */
KI_API size_t ki_snapshot_count(const ki_snapshot *snapshot);
/** The object with this key; NULL if there is none. */
KI_API const ki_object *ki_snapshot_get(const ki_snapshot *snapshot, ki_str key);

/** A walk over objects of a snapshot, which must be held meanwhile. It belongs to one thread at a
 *  time and needs no release. Its members are private. */
typedef struct ki_snapshot_iter {
    const ki_snapshot *snapshot;
    const void *set;
    const void *leaf;
    uint64_t bits;
    uint64_t position;
} ki_snapshot_iter;

/** Begins a walk over all objects, in an order that does not change while they stay. */
KI_API ki_snapshot_iter ki_snapshot_iter_all(const ki_snapshot *snapshot);

/** Begins a walk over the objects that an index has under a value.
 *  Errors: KI_ERR_UNKNOWN_INDEX. */
KI_API KI_NODISCARD int ki_snapshot_iter_find(const ki_snapshot *snapshot, const char *index,
                                              ki_str value, ki_snapshot_iter *ret_iter);

/** The next object of a walk; NULL at the end. */
KI_API const ki_object *ki_snapshot_iter_next(ki_snapshot_iter *iter);

/** How many objects an index has under a value.  Errors: KI_ERR_UNKNOWN_INDEX. */
KI_API KI_NODISCARD int ki_snapshot_find_count(const ki_snapshot *snapshot, const char *index,
                                               ki_str value, size_t *ret_count);

/** Walks the values of an index: start with *position 0. 1 with the value and the number of its
 *  objects (each may be NULL), 0 at the end. There are no values without objects.
 *  Errors: KI_ERR_UNKNOWN_INDEX. */
KI_API int ki_snapshot_next_value(const ki_snapshot *snapshot, const char *index,
                                  uint32_t *position, ki_str *ret_value, size_t *ret_count);

/** The name of index number `position`, from 0; NULL after the last. */
KI_API const char *ki_snapshot_index_name(const ki_snapshot *snapshot, size_t position);

/* Lists of what a walk gives; see list.h.
 * Thread: any.  Blocks: no.  Since: 0.1 */

/** What is left of a walk, as a list.
 *  Owner: release with ki_list_unref().  Errors: -ENOMEM. */
KI_API KI_NODISCARD int ki_snapshot_list(ki_snapshot_iter *iter, ki_list **ret_list);

/** The objects that share a value of the index with `object`, which need not be in the store. Each
 *  is there once.
 *  Owner:  release with ki_list_unref().
 *  Errors: KI_ERR_UNKNOWN_INDEX, KI_ERR_INDEX_FUNCTION, KI_ERR_LIMIT, -ENOMEM. */
KI_API KI_NODISCARD int ki_snapshot_list_like(const ki_snapshot *snapshot, const char *index,
                                              const ki_object *object, ki_list **ret_list,
                                              ki_error *error);

KI_END_DECLS

#endif
