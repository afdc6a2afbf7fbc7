/* SPDX-License-Identifier: Apache-2.0 */
/* Each call performs the first step for the newest object, and the next step for earlier ones, four
 * objects apart. Every step reads only what the previous step has prefetched. */
#include "cache/store/prefetch.h"

#include <string.h>

#include "object/object.h"

enum { STRIDE = KI__WARM_AHEAD / 4, UID_LEN = 36, CACHE_LINE = 64 };

void ki__warmer_init(ki__warmer *warmer, const ki_snapshot *version)
{
    memset(warmer, 0, sizeof(*warmer));
    warmer->version = version;
}

static const ki__slot *slot_of(const ki__vec *vec, uint32_t id)
{
    const ki__vec_node *leaf = ki__vec_leaf(vec, id);
    return leaf != NULL ? &leaf->slots[id % KI__VEC_WIDTH] : NULL;
}

static const ki__slot *find_slot(const ki_snapshot *version, const ki__bucket *bucket,
                                 uint32_t hash)
{
    for (uint32_t i = 0; bucket != NULL && i < bucket->count; i++) {
        if (bucket->entries[i].hash == hash) {
            return slot_of(&version->objects, bucket->entries[i].id);
        }
    }
    return NULL;
}

static void prefetch_bucket(const ki__bucket *bucket)
{
    if (bucket != NULL) {
        __builtin_prefetch(bucket);
        __builtin_prefetch((const char *)bucket + CACHE_LINE);
    }
}

/* The far end of an object, which holds its uid. */
static void prefetch_uid(const ki_object *object)
{
    if (object != NULL) {
        const char *uid = ki_object_uid(object);
        __builtin_prefetch(uid);
        __builtin_prefetch(uid + UID_LEN); /* it may span two cache lines */
    }
}

void ki__warmer_add(ki__warmer *warmer, const ki_object *object, uint32_t hash)
{
    const ki_snapshot *version = warmer->version;
    const size_t mask = KI__WARM_AHEAD - 1;
    size_t at = warmer->next++ & mask;
    warmer->ahead[at].object = object;
    warmer->ahead[at].bucket = NULL;
    warmer->ahead[at].slot = NULL;
    warmer->ahead[at].old = NULL;
    if (object != NULL && version->keys.count != 0) {
        uint32_t number = ki__table_bucket_of(&version->keys, hash);
        warmer->ahead[at].hash = hash;
        warmer->ahead[at].bucket = ki__vec_get(&version->keys.buckets, number).ptr;
        prefetch_bucket(warmer->ahead[at].bucket);
    }
    at = (at - STRIDE) & mask;
    warmer->ahead[at].slot = find_slot(version, warmer->ahead[at].bucket, warmer->ahead[at].hash);
    __builtin_prefetch(warmer->ahead[at].slot);
    at = (at - STRIDE) & mask;
    if (warmer->ahead[at].slot != NULL) {
        warmer->ahead[at].old = warmer->ahead[at].slot->ptr;
        __builtin_prefetch(warmer->ahead[at].old);
        __builtin_prefetch(&warmer->ahead[at].old->refs);
    }
    at = (at - STRIDE) & mask;
    prefetch_uid(warmer->ahead[at].old);
    prefetch_uid(warmer->ahead[at].object);
}
