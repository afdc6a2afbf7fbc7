/* SPDX-License-Identifier: Apache-2.0 */
/* For debugging: stores a checksum of each object in a store, and reports objects that were
 * modified in memory since. Objects are immutable; this finds programs that write to them
 * nevertheless. */
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

/** Call when an object was stored, replacing the one with the same key. Whether the previous
 *  object, if recorded, is unmodified. If out of memory, the new one is not recorded. */
bool ki__mutations_put(ki__mutations *mutations, const ki_object *object);

/** Call when the object with this key was removed. As above. */
bool ki__mutations_remove(ki__mutations *mutations, ki_str key);

/** The next modified object; NULL after the last. Start with *position 0. */
const ki_object *ki__mutations_next(const ki__mutations *mutations, size_t *position);

#endif
