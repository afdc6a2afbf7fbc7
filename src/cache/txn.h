/* SPDX-License-Identifier: Apache-2.0 */
/* Transactions, as the store itself uses them. */
#ifndef KI_CACHE_TXN_H
#define KI_CACHE_TXN_H

#include "cache/version.h"

/** Begins a transaction whose version has room for `more_indexes` further indexes. */
int ki__txn_begin(ki_store *store, size_t more_indexes, ki_txn **ret_txn, ki_error *error);

/** Ends it: publishes its version if `r`, which is returned, is no error; forgets it otherwise. */
int ki__txn_finish(ki_txn *txn, int r);

/** Stores what the transform function makes of an object; *ret_id is where it went. */
int ki__txn_put(ki_txn *txn, const ki_object *object, uint32_t *ret_id, ki_error *error);

/** Removes the object with this id. */
int ki__txn_remove(ki_txn *txn, uint32_t id, ki_error *error);

/** Puts an object that is stored at `id` into index number `index`, which is new. */
int ki__txn_index(ki_txn *txn, size_t index, const ki_object *object, uint32_t id, ki_error *error);

#endif
