/* SPDX-License-Identifier: Apache-2.0 */
/* Packed objects that readers have opened. The store keeps those that were opened last; the others
 * are replaced, in the next version, by closed copies. The opened ones are then garbage as any
 * replaced object: holders can read them, and the last release frees them. */
#ifndef KI_CACHE_STORE_OPENED_H
#define KI_CACHE_STORE_OPENED_H

#include <kinformer/parts/store_write.h>

#include "object/pack/packer.h"

/** Objects that were opened last, the oldest first; each with a reference. A ring. */
typedef struct ki__recent {
    ki_object *objects[KI__PACK_OPENED_MAX];
    size_t first;
    size_t count;
    size_t bytes;
} ki__recent;

/** Closes opened objects in the version being built, as far as there is memory for it. */
void ki__opened_close(ki_txn *txn);

/** Releases all of them. */
void ki__opened_done(ki_store *store);

#endif
