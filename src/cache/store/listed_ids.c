/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/store/listed_ids.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "cache/store/prefetch.h"
#include "object/object.h"

enum { WORD_BITS = 64 };
_Static_assert((int)KI__VEC_WIDTH == WORD_BITS, "a leaf is a word");

static void name(ki__listed *listed, uint32_t hash, ki_str key)
{
    uint32_t id = ki__version_find(listed->version, hash, key);
    if (id == KI__TABLE_NONE) {
        return;
    }
    uint64_t *word = &listed->bits[id / WORD_BITS];
    uint64_t bit = UINT64_C(1) << id % WORD_BITS;
    listed->missing -= (*word & bit) == 0;
    *word |= bit;
}

/* Hashes the key of a list object and prefetches data for its lookup. */
static void look_ahead(ki__listed *listed, ki__warmer *warmer, const ki_replacement *all, size_t i)
{
    if (i < all->object_count) {
        const ki_object *object = all->objects[i];
        listed->hashes[i] = ki__key_hash(listed->version->store, ki__object_key(object));
        ki__warmer_add(warmer, object, listed->hashes[i]);
    }
}

int ki__listed_init(ki__listed *listed, const ki_alloc *alloc, const ki_snapshot *version,
                    const ki_replacement *all)
{
    size_t words = version->store->ids.next / WORD_BITS + 1;
    *listed = (ki__listed){
        .alloc = alloc,
        .version = version,
        .bits = ki__alloc_array(alloc, words, sizeof(*listed->bits)),
        .hashes = ki__alloc_array(alloc, all->object_count + 1, sizeof(*listed->hashes)),
        .missing = version->keys.count,
    };
    if (listed->bits == NULL || listed->hashes == NULL) {
        return -ENOMEM;
    }
    memset(listed->bits, 0, words * sizeof(*listed->bits));
    ki__warmer warmer;
    ki__warmer_init(&warmer, version);
    for (size_t i = 0; i < KI__WARM_AHEAD; i++) {
        look_ahead(listed, &warmer, all, i);
    }
    for (size_t i = 0; i < all->object_count; i++) {
        look_ahead(listed, &warmer, all, i + KI__WARM_AHEAD);
        name(listed, listed->hashes[i], ki__object_key(all->objects[i]));
    }
    for (size_t i = 0; i < all->unread_count; i++) {
        name(listed, ki__key_hash(version->store, all->unread[i]), all->unread[i]);
    }
    return 0;
}

void ki__listed_done(ki__listed *listed)
{
    ki__free(listed->alloc, listed->bits);
    ki__free(listed->alloc, listed->hashes);
}

const ki_object *ki__listed_next_missing(ki__listed *listed)
{
    while (listed->missing != 0) {
        uint64_t first = listed->next;
        const ki__vec_node *leaf = ki__vec_next_leaf(&listed->version->objects, &first);
        uint64_t id = listed->next > first ? listed->next : first;
        uint64_t named = listed->bits[first / WORD_BITS];
        for (; id < first + KI__VEC_WIDTH; id++) {
            const ki_object *object = leaf->slots[id % KI__VEC_WIDTH].ptr;
            if (object != NULL && (named >> id % WORD_BITS & 1) == 0) {
                listed->next = id + 1;
                listed->missing--;
                return object;
            }
        }
        listed->next = id;
    }
    return NULL;
}
