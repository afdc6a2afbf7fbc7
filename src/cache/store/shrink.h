/* SPDX-License-Identifier: Apache-2.0 */
/* Turns the objects of a store into a smaller form, some at a time: packed, or a part of them.
 * Their versions stay as they are, and nobody is notified. */
#ifndef KI_CACHE_STORE_SHRINK_H
#define KI_CACHE_STORE_SHRINK_H

#include <kinformer/error.h>
#include <kinformer/projection.h>
#include <kinformer/store.h>

/** Objects that are stored from here on are packed. Only for the writer, and once.
 *  Errors: -ENOMEM;  KI_ERR_UNSUPPORTED. */
int ki__store_pack(ki_store *store, ki_error *error);

/** Shrinks the next objects, from id *at on, in one version: up to 64, or until the new ones need
 *  `max_bytes`. With `to`, to this part of them; otherwise they are packed. Objects for which that
 *  fails stay as they are. 1, or 0 after the last.
 *  Errors: -ENOMEM, KI_ERR_BUSY  to be repeated later, with the same *at. */
int ki__store_shrink(ki_store *store, const ki_projection *to, uint64_t *at, size_t max_bytes,
                     ki_error *error);

/** Whether the store has an object that was shrunk to a part. */
bool ki__store_has_reduced(ki_store *store);

#endif
