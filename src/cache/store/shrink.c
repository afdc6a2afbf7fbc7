/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/store/shrink.h"

#include <errno.h>

#include "cache/store/txn.h"
#include "object/object.h"

enum { LEAVES = 1024 }; /* looked at in one batch */

/* 1 if the object was replaced, 0, or an error. */
static int shrink_one(ki_txn *txn, const ki_object *object, uint32_t id, const ki_projection *to,
                      ki_error *error)
{
    if (to == NULL) {
        return object->packed ? 0 : ki__txn_pack(txn, object, id, error);
    }
    if (ki__object_projection(object) == to) {
        return 0;
    }
    ki_object *part = NULL;
    const ki_object *old = NULL;
    uint32_t hash = ki__key_hash(txn->store, ki__object_key(object));
    int r = ki__object_reduce(object, to, &part, error);
    r = r < 0 ? r : ki__txn_exchange(txn, part, hash, &old, error);
    (void)ki_object_unref(part);
    return r < 0 ? r : 1;
}

/* Shrinks what a leaf of the base has from *at on. Adds the number of objects replaced. */
static int shrink_leaf(ki_txn *txn, const ki__vec_node *leaf, uint64_t *at, const ki_projection *to,
                       size_t max_bytes, size_t *count, ki_error *error)
{
    uint64_t most = txn->next->object_bytes + txn->edit.discarded + max_bytes;
    do {
        const ki_object *object = leaf->slots[*at % KI__VEC_WIDTH].ptr;
        int r = object != NULL ? shrink_one(txn, object, (uint32_t)*at, to, error) : 0;
        if (r < 0 && ki_error_is_retriable(r)) {
            return r;
        }
        *count += r > 0;
        (*at)++;
    } while (*at % KI__VEC_WIDTH != 0 && txn->next->object_bytes + txn->edit.discarded < most);
    return 0;
}

int ki__store_shrink(ki_store *store, const ki_projection *to, uint64_t *at, size_t max_bytes,
                     ki_error *error)
{
    _Static_assert(KI__VEC_WIDTH == 64, "a batch is at most one leaf");
    ki_txn *txn = NULL;
    int r = ki__txn_begin(store, 0, &txn, error);
    if (r < 0) {
        return r;
    }
    size_t count = 0;
    const ki__vec_node *leaf = NULL;
    for (size_t leaves = 0; r >= 0 && count == 0 && leaves < LEAVES; leaves++) {
        uint64_t first = *at;
        leaf = ki__vec_next_leaf(&txn->base->objects, &first);
        if (leaf == NULL) {
            break;
        }
        *at = first > *at ? first : *at;
        r = shrink_leaf(txn, leaf, at, to, max_bytes, &count, error);
    }
    /* What was replaced before memory ran out is published as well. */
    (void)ki__txn_finish(txn, count != 0 ? 0 : -ECANCELED);
    return r < 0 ? r : leaf != NULL;
}

bool ki__store_has_reduced(ki_store *store)
{
    bool found = false;
    const ki_object *object;
    ki_snapshot *snapshot = ki_store_snapshot(store);
    ki_snapshot_iter iter = ki_snapshot_iter_begin(snapshot);
    while (!found && ki_snapshot_iter_next(&iter, &object) > 0) {
        found = ki__object_is_reduced(object);
    }
    (void)ki_snapshot_unref(snapshot);
    return found;
}
