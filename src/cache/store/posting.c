/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/store/posting.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"

/* Above this number of ids, copying the array costs more than copying the paths of a bitmap. */
enum { ARRAY_MAX = 4096 };

static size_t posting_size(uint32_t cap, uint32_t value_len)
{
    return sizeof(ki__posting) + cap * sizeof(uint32_t) + value_len;
}

ki__posting *ki__posting_new(ki__edit *edit, ki_str value, uint32_t hash)
{
    uint32_t len = (uint32_t)value.len;
    ki__posting *posting = ki__edit_new(edit, posting_size(1, len));
    if (posting == NULL) {
        return NULL;
    }
    posting->hash = hash;
    posting->value_len = len;
    posting->cap = 1;
    if (len != 0) {
        memcpy(posting->ids + posting->cap, value.ptr, len);
    }
    return posting;
}

/* Index of `id` in the array, or where it would be inserted. */
static uint32_t array_find(const ki__posting *posting, uint32_t id)
{
    uint32_t low = 0;
    uint32_t high = posting->count;
    if (high != 0 && posting->ids[high - 1] < id) {
        return high; /* ids mostly arrive in order */
    }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (posting->ids[middle] < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool array_has(const ki__posting *posting, uint32_t at, uint32_t id)
{
    return at < posting->count && posting->ids[at] == id;
}

/* Makes the posting owned by the edit, with an array of `cap` ids including the current ones; 0
 * drops the array. */
static int rebuild(ki__edit *edit, ki__posting **posting, uint32_t cap)
{
    ki__posting *old = *posting;
    if (!ki__edit_owns(edit, old) && ki__edit_reserve(edit) < 0) {
        return -ENOMEM;
    }
    ki__posting *made = ki__edit_new(edit, posting_size(cap, old->value_len));
    if (made == NULL) {
        return -ENOMEM;
    }
    size_t kept = old->count < cap ? old->count : cap;
    memcpy(made, old, sizeof(*made) + kept * sizeof(old->ids[0]));
    made->birth = edit->number;
    made->cap = cap;
    memcpy(made->ids + cap, old->ids + old->cap, old->value_len);
    ki__edit_replaced(edit, old, posting_size(old->cap, old->value_len));
    *posting = made;
    return 0;
}

static int own(ki__edit *edit, ki__posting **posting)
{
    return ki__edit_owns(edit, *posting) ? 0 : rebuild(edit, posting, (*posting)->cap);
}

static bool bits_have(const ki__posting *posting, uint32_t id)
{
    return (ki__vec_get(&posting->bits, id / 64).bits >> (id % 64) & 1) != 0;
}

static int bits_add(ki__edit *edit, ki__posting *posting, uint32_t id)
{
    ki__slot *slot;
    int r = ki__vec_touch(edit, &posting->bits, id / 64, &slot);
    if (r < 0) {
        return r;
    }
    uint64_t bit = UINT64_C(1) << (id % 64);
    if ((slot->bits & bit) != 0) {
        return 0;
    }
    slot->bits |= bit;
    posting->count++;
    return 1;
}

/* Converts the array of an owned posting to a bitmap. */
static int to_bits(ki__edit *edit, ki__posting **posting)
{
    ki__posting *from = *posting;
    ki__vec bits = {0};
    for (uint32_t i = 0; i < from->count; i++) {
        ki__slot *slot;
        if (ki__vec_touch(edit, &bits, from->ids[i] / 64, &slot) < 0) {
            edit->grown -= ki__vec_free(edit->alloc, &bits, edit->number, NULL, NULL);
            return -ENOMEM;
        }
        slot->bits |= UINT64_C(1) << (from->ids[i] % 64);
    }
    int r = rebuild(edit, posting, 0);
    if (r < 0) {
        edit->grown -= ki__vec_free(edit->alloc, &bits, edit->number, NULL, NULL);
        return r;
    }
    (*posting)->bits = bits;
    return 0;
}

int ki__posting_add(ki__edit *edit, ki__posting **posting, uint32_t id)
{
    if ((*posting)->cap != 0 && array_has(*posting, array_find(*posting, id), id)) {
        return 0;
    }
    int r = own(edit, posting);
    if (r == 0 && (*posting)->cap != 0 && (*posting)->count == ARRAY_MAX) {
        r = to_bits(edit, posting);
    }
    if (r == 0 && (*posting)->cap == 0) {
        return bits_add(edit, *posting, id);
    }
    if (r == 0 && (*posting)->count == (*posting)->cap) {
        uint32_t cap = (*posting)->cap < 4 ? 4 : (*posting)->cap * 2;
        r = rebuild(edit, posting, cap < ARRAY_MAX ? cap : ARRAY_MAX);
    }
    if (r < 0) {
        return r;
    }
    ki__posting *into = *posting;
    uint32_t at = array_find(into, id);
    memmove(into->ids + at + 1, into->ids + at, (into->count - at) * sizeof(into->ids[0]));
    into->ids[at] = id;
    into->count++;
    return 1;
}

int ki__posting_touch(ki__edit *edit, ki__posting **posting, uint32_t id)
{
    int r = own(edit, posting);
    if (r < 0 || (*posting)->cap != 0 || !bits_have(*posting, id)) {
        return r;
    }
    ki__slot *slot;
    return ki__vec_touch(edit, &(*posting)->bits, id / 64, &slot);
}

void ki__posting_remove(ki__edit *edit, ki__posting *posting, uint32_t id)
{
    ki_assert(ki__edit_owns(edit, posting));
    if (posting->cap != 0) {
        uint32_t at = array_find(posting, id);
        if (array_has(posting, at, id)) {
            posting->count--;
            memmove(posting->ids + at, posting->ids + at + 1,
                    (posting->count - at) * sizeof(posting->ids[0]));
        }
        return;
    }
    if (!bits_have(posting, id)) {
        return;
    }
    ki__slot *slot = ki__vec_touched(edit, &posting->bits, id / 64);
    slot->bits &= ~(UINT64_C(1) << (id % 64));
    posting->count--;
    if (slot->bits == 0) {
        ki__vec_prune(edit, &posting->bits, id / 64);
    }
}

static uint64_t array_next_block(const ki__posting *posting, uint64_t *block)
{
    if (*block > UINT32_MAX / 64) {
        return 0;
    }
    uint32_t at = array_find(posting, (uint32_t)(*block * 64));
    if (at == posting->count) {
        return 0;
    }
    uint64_t bits = 0;
    *block = posting->ids[at] / 64;
    for (; at < posting->count && posting->ids[at] / 64 == *block; at++) {
        bits |= UINT64_C(1) << (posting->ids[at] % 64);
    }
    return bits;
}

uint64_t ki__posting_next_block(const ki__posting *posting, uint64_t *block)
{
    if (posting->cap != 0) {
        return array_next_block(posting, block);
    }
    uint64_t at = *block;
    for (;;) {
        uint64_t first = at;
        const ki__vec_node *leaf = ki__vec_next_leaf(&posting->bits, &first);
        if (leaf == NULL) {
            return 0;
        }
        at = at > first ? at : first;
        for (; at < first + KI__VEC_WIDTH; at++) {
            if (leaf->slots[at % KI__VEC_WIDTH].bits != 0) {
                *block = at;
                return leaf->slots[at % KI__VEC_WIDTH].bits;
            }
        }
    }
}

void ki__posting_drop(ki__edit *edit, ki__posting *posting)
{
    ki_assert(ki__edit_owns(edit, posting));
    /* Nodes of older versions would leak; without ids there are none. */
    ki_assert(posting->bits.root == NULL || ki__edit_owns(edit, posting->bits.root));
    edit->grown -= ki__vec_free(edit->alloc, &posting->bits, edit->number, NULL, NULL);
    ki__edit_free(edit, posting, posting_size(posting->cap, posting->value_len));
}

void ki__posting_free(const ki_alloc *alloc, ki__posting *posting, uint64_t birth)
{
    if (posting->birth >= birth) {
        (void)ki__vec_free(alloc, &posting->bits, birth, NULL, NULL);
        ki__free(alloc, posting);
    }
}
