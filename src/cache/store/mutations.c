/* SPDX-License-Identifier: Apache-2.0 */
/* Each entry holds a reference, so that the checked memory still belongs to the object. */
#include "cache/store/mutations.h"

#include <kinformer/encoding.h>

#include "base/alloc.h"
#include "object/object.h"
#include "object/pack/packed.h"

#define ENTRIES_MAX ((size_t)1 << 30)

typedef struct entry {
    const ki_object *object;
    uint64_t checksum;
} entry;

void ki__mutations_init(ki__mutations *mutations, const ki_alloc *alloc, ki__hash_key hash_key)
{
    *mutations = (ki__mutations){.alloc = alloc, .hash_key = hash_key};
    ki__map_init(&mutations->entries, alloc, hash_key, ENTRIES_MAX);
}

static void free_entry(const ki__mutations *mutations, entry *e)
{
    (void)ki_object_unref(e->object);
    ki__free(mutations->alloc, e);
}

void ki__mutations_done(ki__mutations *mutations)
{
    size_t position = 0;
    entry *e;
    while ((e = ki__map_next(&mutations->entries, &position)) != NULL) {
        free_entry(mutations, e);
    }
    ki__map_done(&mutations->entries);
}

static uint64_t checksum(const ki__mutations *mutations, const ki_object *object)
{
    ki_str bytes = object->packed ? ki__packed_block(object) : ki_object_bytes(object);
    return ki__hash_str(mutations->hash_key, bytes) ^
           ki__hash_str(mutations->hash_key, ki__object_key(object));
}

static bool is_as_it_was(const ki__mutations *mutations, const entry *e)
{
    return e->checksum == checksum(mutations, e->object);
}

static bool drop(const ki__mutations *mutations, entry *e)
{
    bool same = e == NULL || is_as_it_was(mutations, e);
    if (e != NULL) {
        free_entry(mutations, e);
    }
    return same;
}

bool ki__mutations_put(ki__mutations *mutations, const ki_object *object)
{
    ki_str key = ki__object_key(object);
    void *before = NULL;
    entry *e = ki__alloc(mutations->alloc, sizeof(*e));
    if (e == NULL) {
        return ki__mutations_remove(mutations, key);
    }
    *e = (entry){.object = ki_object_ref(object), .checksum = checksum(mutations, object)};
    if (ki__map_set(&mutations->entries, key, e, &before) < 0) {
        free_entry(mutations, e);
        before = NULL; /* replacing an existing key cannot fail */
    }
    return drop(mutations, before);
}

bool ki__mutations_remove(ki__mutations *mutations, ki_str key)
{
    return drop(mutations, ki__map_remove(&mutations->entries, key));
}

const ki_object *ki__mutations_next(const ki__mutations *mutations, size_t *position)
{
    const entry *e;
    while ((e = ki__map_next(&mutations->entries, position)) != NULL) {
        if (!is_as_it_was(mutations, e)) {
            return e->object;
        }
    }
    return NULL;
}
