/* SPDX-License-Identifier: Apache-2.0 */
/* Internal interface of transactions. */
#ifndef KI_CACHE_STORE_TXN_H
#define KI_CACHE_STORE_TXN_H

#include <kinformer/parts/store_write.h>

#include "cache/store/version.h"

/** Begins a transaction whose version has space for `more_indexes` further indexes. */
int ki__txn_begin(ki_store *store, size_t more_indexes, ki_txn **ret_txn, ki_error *error);

/** Ends it: publishes its version unless `r`, which is returned, is an error; rolls back
 *  otherwise. */
int ki__txn_finish(ki_txn *txn, int r);

/** Memory of the version that the transaction builds, without objects. */
uint64_t ki__txn_bytes(const ki_txn *txn);

/** Whether the key of an object is valid in a store: 0 or KI_ERR_KEY. */
int ki__txn_check_key(const ki_object *object, ki_error *error);

/** Stores a transformed object; *ret_id is its id. */
int ki__txn_put(ki_txn *txn, const ki_object *object, uint32_t *ret_id, ki_error *error);

/** Stores an object, whose key was checked and has this hash, without transformation; *ret_old is
 *  the replaced one, or NULL, which lives only as long as something else holds it. */
int ki__txn_exchange(ki_txn *txn, const ki_object *object, uint32_t hash, const ki_object **ret_old,
                     ki_error *error);

/** Removes the object with this key: 1 with the object in *ret_old, as above, or 0 if there is
 *  none. */
int ki__txn_take(ki_txn *txn, ki_str key, const ki_object **ret_old, ki_error *error);

/** The object that the last change removed, with the reference of the store, if nothing but the
 *  version being built had it; NULL otherwise. It is freed by the next change if it is not taken.
 */
ki_object *ki__txn_take_dropped(ki_txn *txn);

/** Removes the object with this id. */
int ki__txn_remove(ki_txn *txn, uint32_t id, ki_error *error);

/** Replaces an opened object, if it is stored, by a closed copy; only while committing. It stays
 *  valid as long as the version before. 0 or -ENOMEM. */
int ki__txn_close(ki_txn *txn, const ki_object *object);

/** Replaces a stored plain object by a packed one if that is smaller. Indexes do not change. 1 if
 *  it was replaced, 0, or an error of ki__packer_pack(). */
int ki__txn_pack(ki_txn *txn, const ki_object *object, uint32_t id, ki_error *error);

/** Adds the object stored at `id` to index number `index`, which is new. */
int ki__txn_index(ki_txn *txn, size_t index, const ki_object *object, uint32_t id, ki_error *error);

#endif
