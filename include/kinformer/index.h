/* SPDX-License-Identifier: Apache-2.0 */
/* Indexes: find objects in a store by any value, such as the node of a pod. Indexes are added by
 * the options of an informer or by ki_informer_add_indexes(). */
#ifndef KINFORMER_INDEX_H
#define KINFORMER_INDEX_H

#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/informer.h>
#include <kinformer/list.h>
#include <kinformer/lister.h>
#include <kinformer/object.h>
#include <kinformer/selector.h>
#include <kinformer/store.h>
#include <kinformer/str.h>

KI_BEGIN_DECLS

typedef struct ki_path ki_path; /* <kinformer/path.h> */

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

/** Adds indexes, which also cover existing objects. On success the informer owns them. Returns
 *  KI_ERR_BUSY while a batch is being applied on another thread: retry.
 *  Thread: any.  Blocks: no.  Errors: KI_ERR_STOPPED;  as ki_store_add_indexes().  Since: 0.1 */
KI_API KI_NODISCARD int ki_informer_add_indexes(ki_informer *informer,
                                                const ki_index *const *indexes, size_t count,
                                                ki_error *error);

/* Reading indexes.
 * Thread: any.  Blocks: no.  Since: 0.1 */

/** Lists the objects that an index has under a value.
 *  Owner: caller; release with ki_list_unref().  Errors: KI_ERR_UNKNOWN_INDEX, -ENOMEM. */
KI_API KI_NODISCARD int ki_store_by_index(ki_store *store, const char *index, const char *value,
                                          ki_list **ret_list);

/** Lists the objects that an index has under a value and a selector matches (NULL: all).
 *  Owner:  as ki_lister_list().
 *  Errors: KI_ERR_UNKNOWN_INDEX, KI_ERR_NOT_KEPT, -ENOMEM. */
KI_API KI_NODISCARD int ki_lister_by_index(const ki_lister *lister, const char *index,
                                           const char *value, const ki_selector *selector,
                                           ki_list **ret_list);

/** Begins an iteration over the objects that an index has under a value.
 *  Errors: KI_ERR_UNKNOWN_INDEX. */
KI_API KI_NODISCARD int ki_snapshot_iter_by_index(const ki_snapshot *snapshot, const char *index,
                                                  ki_str value, ki_snapshot_iter *ret_iter);

/** Counts the objects that an index has under a value.  Errors: KI_ERR_UNKNOWN_INDEX. */
KI_API KI_NODISCARD int ki_snapshot_count_by_index(const ki_snapshot *snapshot, const char *index,
                                                   ki_str value, size_t *ret_count);

/** An iterator over the values of an index in a snapshot, which must be held meanwhile. It must not
 *  be used by two threads at once and needs no release. Its members are private. */
typedef struct ki_index_iter {
    const ki_snapshot *snapshot;
    uint32_t index;
    uint32_t position;
} ki_index_iter;

/** Begins an iteration over the values of an index.  Errors: KI_ERR_UNKNOWN_INDEX. */
KI_API KI_NODISCARD int ki_index_iter_begin(const ki_snapshot *snapshot, const char *index,
                                            ki_index_iter *ret_iter);

/** Returns the next value and the number of its objects (each output may be NULL): 1 with them set,
 *  0 at the end. Every value has at least one object. The value is valid while the snapshot is
 *  held. */
KI_API int ki_index_iter_next(ki_index_iter *iter, ki_str *ret_value, size_t *ret_count);

/** Returns the name of index number `index`, from 0; NULL after the last. */
KI_API const char *ki_snapshot_index_name_at(const ki_snapshot *snapshot, size_t index);

/** Lists the objects that share a value of the index with `object`, which need not be in the store.
 *  Each is listed once.
 *  Owner:  caller; release with ki_list_unref().
 *  Errors: KI_ERR_UNKNOWN_INDEX, KI_ERR_INDEX_FUNCTION, KI_ERR_LIMIT, -ENOMEM. */
KI_API KI_NODISCARD int ki_snapshot_list_like(const ki_snapshot *snapshot, const char *index,
                                              const ki_object *object, ki_list **ret_list,
                                              ki_error *error);

KI_END_DECLS

#endif
