/* SPDX-License-Identifier: Apache-2.0 */
/* Creating stores and writing to them, for programs that fill a store without an informer. Reading
 * is in <kinformer/store.h>.
 *
 * A store has one writer at a time: a write that starts while another is in progress, also from
 * inside an index function, returns KI_ERR_BUSY at once. */
#ifndef KINFORMER_PARTS_STORE_WRITE_H
#define KINFORMER_PARTS_STORE_WRITE_H

#include <kinformer/alloc.h>
#include <kinformer/clock.h>
#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/index.h>
#include <kinformer/object.h>
#include <kinformer/storage.h>
#include <kinformer/store.h>
#include <kinformer/str.h>

KI_BEGIN_DECLS

typedef struct ki_txn ki_txn;

typedef struct ki_store_options {
    size_t size;             /* see KI_OPTIONS_INIT */
    const ki_alloc *alloc;   /* NULL: the default; must outlive the store and its snapshots */
    const ki_random *random; /* hash seed; NULL: from addresses, which an attacker may guess */
    const ki_index *const *indexes; /* read during the call only */
    size_t index_count;
    size_t max_objects; /* 0: 2^30, which is also the maximum */
    ki_storage storage; /* how objects are kept in memory: see storage.h */

    /** Called on the writer's thread for each object before it is stored: stores the object to use
     *  instead in *ret_object (a reference; ki_object_ref(object) to keep it). An error makes the
     *  write fail. NULL: none. */
    int (*transform)(const ki_object *object, ki_object **ret_object, void *user);
    void *transform_user;

    /** For debugging: records who holds snapshots and lists, and since when on this clock, which is
     *  copied; see ki_store_reader(). NULL: not. */
    const ki_clock *reader_clock;
} ki_store_options;

/** Creates an empty store. `options` may be NULL.
 *  Owner:  caller; release with ki_store_unref(). On success only, the store owns the indexes.
 *  Thread: any.  Blocks: no.
 *  Errors: KI_ERR_EXISTS  two indexes have the same name;  -EINVAL  an index has no name or
 *                         function, `storage` is unknown, or reader_clock has no function;
 *          KI_ERR_UNSUPPORTED  packed, and the library was built without libzstd;
 *          -ENOMEM, -E2BIG.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_store_new(const ki_store_options *options, ki_store **ret_store,
                                     ki_error *error);

/* Each write below commits one version.
 * Thread: any; of two concurrent writes, the second fails with KI_ERR_BUSY.  Blocks: no.
 * Errors: KI_ERR_BUSY            another write is in progress;
 *         KI_ERR_KEY             the object has no name, or a '/' in its name or namespace;
 *         KI_ERR_INDEX_FUNCTION  an index function failed; `error` names it and the reason;
 *         KI_ERR_LIMIT           max_objects, a resourceVersion over 1024 bytes, or index values
 *                                over the limits of ki_index_values_add();
 *         KI_ERR_INVALID         the transform function returned neither an object nor an error;
 *         -ENOMEM;  what the transform function returned.
 * After an error the store is unchanged. If `resource_version` is NULL, that of the store does not
 * change.  Since: 0.1 */

/** Adds an object, or replaces the object with the same key. The store takes a reference. The
 *  store's resourceVersion becomes that of the object, if it has one. */
KI_API KI_NODISCARD int ki_store_add(ki_store *store, const ki_object *object, ki_error *error);

/** Does the same as ki_store_add(): as in client-go, updating an object that does not exist adds
 *  it. */
KI_API KI_NODISCARD int ki_store_update(ki_store *store, const ki_object *object, ki_error *error);

/** Deletes the object with this key. Returns 1 if it existed, 0 if not. The store's resourceVersion
 *  becomes `resource_version`. */
KI_API KI_NODISCARD int ki_store_delete(ki_store *store, ki_str key, const char *resource_version,
                                        ki_error *error);

/** Replaces the whole content of the store with `objects`, and its resourceVersion with
 *  `resource_version`, in one step. Of several objects with the same key, the last is stored. */
KI_API KI_NODISCARD int ki_store_replace(ki_store *store, const ki_object *const *objects,
                                         size_t count, const char *resource_version,
                                         ki_error *error);

/** Records that the content is current at `resource_version`. */
KI_API KI_NODISCARD int ki_store_bookmark(ki_store *store, const char *resource_version,
                                          ki_error *error);

/** Adds indexes, which also cover existing objects. On success the store owns them.
 *  Errors (besides): KI_ERR_EXISTS  the name is already used;  -EINVAL. */
KI_API KI_NODISCARD int ki_store_add_indexes(ki_store *store, const ki_index *const *indexes,
                                             size_t count, ki_error *error);

/* Transactions: several changes in one version. */

/** Begins a transaction. Until it ends, other writers fail with KI_ERR_BUSY; readers do not see its
 *  changes.
 *  Owner:  caller; end it with ki_txn_commit() or ki_txn_abort().  Errors: KI_ERR_BUSY, -ENOMEM.
 *  Since: 0.1 */
KI_API KI_NODISCARD int ki_store_begin(ki_store *store, ki_txn **ret_txn, ki_error *error);

/* Change the content within a transaction, as the functions of the store do. After an error the
 * transaction is as before that call and can continue. From inside an index function, adding and
 * deleting fail with KI_ERR_BUSY.
 * Thread: one-at-a-time.  Blocks: no.  Since: 0.1 */
KI_API KI_NODISCARD int ki_txn_add(ki_txn *txn, const ki_object *object, ki_error *error);
KI_API KI_NODISCARD int ki_txn_delete(ki_txn *txn, ki_str key, const char *resource_version,
                                      ki_error *error);
KI_API KI_NODISCARD int ki_txn_set_resource_version(ki_txn *txn, const char *resource_version,
                                                    ki_error *error);

/** Returns the object with this key as of the transaction; NULL if there is none. Borrowed until
 *  the next call on the transaction. */
KI_API const ki_object *ki_txn_get(const ki_txn *txn, ki_str key);

/** Commits all changes as one version and ends the transaction. Cannot fail. */
KI_API void ki_txn_commit(ki_txn *txn);

/** Discards all changes and ends the transaction. `txn` may be NULL. */
KI_API void ki_txn_abort(ki_txn *txn);

KI_END_DECLS

#endif
