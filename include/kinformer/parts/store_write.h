/* SPDX-License-Identifier: Apache-2.0 */
/* Making stores and writing to them, for programs that fill a store without an informer. Reading is
 * in <kinformer/store.h>.
 *
 * There is one writer at a time: a write that begins while another is under way, also from inside
 * an index function, returns KI_ERR_BUSY at once. */
#ifndef KINFORMER_PARTS_STORE_WRITE_H
#define KINFORMER_PARTS_STORE_WRITE_H

#include <kinformer/alloc.h>
#include <kinformer/clock.h>
#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/object.h>
#include <kinformer/store.h>
#include <kinformer/str.h>

KI_BEGIN_DECLS

typedef struct ki_txn ki_txn;

typedef struct ki_store_options {
    size_t size;             /* see KI_OPTIONS_INIT */
    const ki_alloc *alloc;   /* NULL: the default; must outlive the store and its snapshots */
    const ki_random *random; /* seeds the hash; NULL: from addresses, which an attacker may guess */
    const ki_index *indexes; /* read during the call only */
    size_t index_count;
    size_t max_objects; /* 0: 2^30, which is also the most */

    /** Called on the writer's thread for each object before it is stored: gives the object to store
     * instead in *ret_object (a reference; ki_object_ref(object) to keep it). An error makes the
     * write fail. NULL: none. */
    int (*transform)(const ki_object *object, ki_object **ret_object, void *user);
    void *transform_user;
} ki_store_options;

/** An empty store. `options` may be NULL.
 *  Owner:  release with ki_store_unref(). The indexes become the store's on success only.
 *  Thread: any.  Blocks: no.
 *  Errors: KI_ERR_EXISTS  two indexes of one name;  -EINVAL  an index without name or function;
 *          -ENOMEM, -E2BIG.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_store_new(const ki_store_options *options, ki_store **ret_store,
                                     ki_error *error);

/* Each of the writes below is one version.
 * Thread: any; of two at once, the second gets KI_ERR_BUSY.  Blocks: no.
 * Errors: KI_ERR_BUSY            another writer is at work;
 *         KI_ERR_KEY             the object has no name, or a '/' in its name or namespace;
 *         KI_ERR_INDEX_FUNCTION  an index function failed; `error` says which and how;
 *         KI_ERR_LIMIT           max_objects, a resource version over 1024 bytes, or values of an
 *                                index over the limits of ki_index_values_add();
 *         KI_ERR_INVALID         the transform function gave no object, and no error either;
 *         -ENOMEM;  what the transform function returned.
 * After an error the store is exactly as it was. A `resource_version` of NULL leaves the store's as
 * it is.  Since: 0.1 */

/** Adds an object, or puts it in the place of the one with its key. The store's resource version
 *  becomes the object's, if that has one. Takes a reference of its own. */
KI_API KI_NODISCARD int ki_store_add(ki_store *store, const ki_object *object, ki_error *error);

/** The same as ki_store_add(): as in client-go, updating what is not there adds it. */
KI_API KI_NODISCARD int ki_store_update(ki_store *store, const ki_object *object, ki_error *error);

/** Removes the object with this key: 1 if it was there, 0 if not. The store's resource version
 *  becomes `resource_version`. */
KI_API KI_NODISCARD int ki_store_delete(ki_store *store, ki_str key, const char *resource_version,
                                        ki_error *error);

/** Makes `objects` the content of the store and `resource_version` its own, in one step. Of
 *  several objects with one key the last counts. */
KI_API KI_NODISCARD int ki_store_replace(ki_store *store, const ki_object *const *objects,
                                         size_t count, const char *resource_version,
                                         ki_error *error);

/** Notes that the content is current at `resource_version`. */
KI_API KI_NODISCARD int ki_store_bookmark(ki_store *store, const char *resource_version,
                                          ki_error *error);

/** Adds indexes, over the objects that are there as well. On success they are the store's.
 *  Errors (besides): KI_ERR_EXISTS  the name is taken;  -EINVAL. */
KI_API KI_NODISCARD int ki_store_add_indexes(ki_store *store, const ki_index *indexes, size_t count,
                                             ki_error *error);

/* Transactions: many changes, one version. */

/** Begins one. Until it ends, other writers get KI_ERR_BUSY; readers see nothing of it.
 *  Owner:  ends with ki_txn_commit() or ki_txn_abort().  Errors: KI_ERR_BUSY, -ENOMEM.  Since: 0.1
 */
KI_API KI_NODISCARD int ki_store_begin(ki_store *store, ki_txn **ret_txn, ki_error *error);

/* As the functions of the store. After an error the transaction is as it was before that call and
 * may go on. From inside an index function, adding and deleting give KI_ERR_BUSY.
 * Thread: one-at-a-time.  Blocks: no.  Since: 0.1 */
KI_API KI_NODISCARD int ki_txn_add(ki_txn *txn, const ki_object *object, ki_error *error);
KI_API KI_NODISCARD int ki_txn_delete(ki_txn *txn, ki_str key, const char *resource_version,
                                      ki_error *error);
KI_API KI_NODISCARD int ki_txn_set_resource_version(ki_txn *txn, const char *resource_version,
                                                    ki_error *error);

/** The object with this key as the transaction would leave it; NULL if none. Borrowed until the
 * next call on the transaction. */
KI_API const ki_object *ki_txn_get(const ki_txn *txn, ki_str key);

/** Publishes all changes as one version, and ends the transaction. Cannot fail. */
KI_API void ki_txn_commit(ki_txn *txn);

/** Forgets all changes, and ends the transaction. NULL is fine. */
KI_API void ki_txn_abort(ki_txn *txn);

KI_END_DECLS

#endif
