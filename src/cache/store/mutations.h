/* SPDX-License-Identifier: Apache-2.0 */
/* For debugging: stores a checksum of each object in a store, and reports objects that were changed
 * in memory since. Objects are immutable; this finds programs that write to them nevertheless. */
#ifndef KI_CACHE_STORE_MUTATIONS_H
#define KI_CACHE_STORE_MUTATIONS_H

#include <kinformer/object.h>

#include "base/map.h"

typedef struct ki__mutations {
    const ki_alloc *alloc;
    ki__map entries; /* by key */
    ki__hash_key hash_key;
} ki__mutations;

/** Allocates nothing. */
void ki__mutations_init(ki__mutations *mutations, const ki_alloc *alloc, ki__hash_key hash_key);
void ki__mutations_done(ki__mutations *mutations);

/** The object came into the store, in the place of what had its key. Whether what was remembered
 *  under the key, if anything, is as it was. Without memory the new one is not remembered. */
bool ki__mutations_put(ki__mutations *mutations, const ki_object *object);

/** The object with this key went. As above. */
bool ki__mutations_remove(ki__mutations *mutations, ki_str key);

/** The next object that has changed; NULL after the last. Begin with *position 0. */
const ki_object *ki__mutations_next(const ki__mutations *mutations, size_t *position);

#endif
