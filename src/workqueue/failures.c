/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: the map and the list hold the same entries, at most keys.max of them. */
#include "workqueue/failures.h"

#include <string.h>

#include "base/alloc.h"

typedef struct failure {
    ki__list link;
    uint64_t hash;
    uint32_t count;
    uint32_t len;
    char bytes[];
} failure;

int ki__failures_init(ki__failures *failures, const ki_alloc *alloc, const ki_random *random,
                      size_t max_keys)
{
    int r = ki__mutex_init(&failures->lock);
    if (r < 0) {
        return r;
    }
    ki__map_init(&failures->keys, alloc, ki__hash_key_make(random, failures), max_keys);
    ki__list_init(&failures->oldest);
    return 0;
}

static void drop(ki__failures *failures, failure *entry)
{
    ki__map_remove_hashed(&failures->keys, entry->hash, entry);
    ki__list_remove(&entry->link);
    ki__free(failures->keys.alloc, entry);
}

void ki__failures_done(ki__failures *failures)
{
    KI__LIST_FOR_EACH (link, &failures->oldest) {
        ki__free(failures->keys.alloc, KI__CONTAINER_OF(link, failure, link));
    }
    ki__map_done(&failures->keys);
    ki__mutex_done(&failures->lock);
}

/* Creates the entry of a new key, or returns NULL. */
static failure *learn(ki__failures *failures, uint64_t hash, ki_str key)
{
    if (failures->keys.count == failures->keys.max) {
        drop(failures, KI__CONTAINER_OF(failures->oldest.next, failure, link));
    }
    if (key.len > UINT32_MAX) {
        return NULL;
    }
    failure *entry = ki__alloc(failures->keys.alloc, sizeof(*entry) + key.len);
    if (entry == NULL) {
        return NULL;
    }
    *entry = (failure){.hash = hash, .len = (uint32_t)key.len};
    if (key.len != 0) {
        memcpy(entry->bytes, key.ptr, key.len);
    }
    if (ki__map_add_hashed(&failures->keys, hash, ki_str_make(entry->bytes, key.len), entry) < 0) {
        ki__free(failures->keys.alloc, entry);
        return NULL;
    }
    ki__list_push_back(&failures->oldest, &entry->link);
    return entry;
}

uint32_t ki__failures_add(ki__failures *failures, ki_str key)
{
    uint64_t hash = ki__map_hash(&failures->keys, key);
    uint32_t before = UINT32_MAX;
    ki__mutex_lock(&failures->lock);
    failure *entry = ki__map_get_hashed(&failures->keys, hash, key);
    if (entry == NULL) {
        entry = learn(failures, hash, key);
    }
    if (entry != NULL) {
        before = entry->count;
        entry->count += before != UINT32_MAX;
        ki__list_remove(&entry->link);
        ki__list_push_back(&failures->oldest, &entry->link);
    }
    ki__mutex_unlock(&failures->lock);
    return before;
}

uint32_t ki__failures_get(ki__failures *failures, ki_str key)
{
    ki__mutex_lock(&failures->lock);
    const failure *entry = ki__map_get(&failures->keys, key);
    uint32_t count = entry != NULL ? entry->count : 0;
    ki__mutex_unlock(&failures->lock);
    return count;
}

void ki__failures_forget(ki__failures *failures, ki_str key)
{
    ki__mutex_lock(&failures->lock);
    failure *entry = ki__map_get(&failures->keys, key);
    if (entry != NULL) {
        drop(failures, entry);
    }
    ki__mutex_unlock(&failures->lock);
}
