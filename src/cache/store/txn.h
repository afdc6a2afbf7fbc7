/* SPDX-License-Identifier: Apache-2.0 */
/* Transactions, as the store itself uses them. */
#ifndef KI_CACHE_STORE_TXN_H
#define KI_CACHE_STORE_TXN_H

#include <kinformer/parts/store_write.h>

#include "cache/store/version.h"

/** Begins a transaction whose version has space for `more_indexes` further indexes. */
int ki__txn_begin(ki_store *store, size_t more_indexes, ki_txn **ret_txn, ki_error *error);

/** Ends it: publishes its version if `r`, which is returned, is no error; forgets it otherwise. */
int ki__txn_finish(ki_txn *txn, int r);

/** Whether an object has a key that a store takes: 0 or KI_ERR_KEY. */
int ki__txn_check_key(const ki_object *object, ki_error *error);

/** Stores what the transform function makes of an object; *ret_id is where it went. */
int ki__txn_put(ki_txn *txn, const ki_object *object, uint32_t *ret_id, ki_error *error);

/** Stores an object, whose key was checked and has this hash, as it is, whatever the transform
 *  function; *ret_old is what stood in its place, or NULL. That one lives only as long as something
 *  else holds it. */
int ki__txn_exchange(ki_txn *txn, const ki_object *object, uint32_t hash, const ki_object **ret_old,
                     ki_error *error);

/** Removes the object with this key: 1 with the object in *ret_old, as above, or 0 if there is
 * none.
 */
int ki__txn_take(ki_txn *txn, ki_str key, const ki_object **ret_old, ki_error *error);

/** Removes the object with this id. */
int ki__txn_remove(ki_txn *txn, uint32_t id, ki_error *error);

/** Puts an object that is stored at `id` into index number `index`, which is new. */
int ki__txn_index(ki_txn *txn, size_t index, const ki_object *object, uint32_t id, ki_error *error);

#endif
