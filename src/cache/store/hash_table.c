/* SPDX-License-Identifier: Apache-2.0 */
/* Linear hashing (Litwin, 1980): with n buckets, p the largest power of two not above n, a hash
 * maps to bucket (hash mod 2p), or (hash mod p) if that bucket does not exist yet. Growing splits
 * bucket n - p into itself and the new bucket n; shrinking does the reverse. Both only improve
 * performance, so both may be skipped when out of memory. */
#include "cache/store/hash_table.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"

enum {
    LOAD_MAX = 8,    /* average entries per bucket above which the table grows */
    LOAD_MIN = 2,    /* and below which it shrinks */
    BUCKET_STEP = 4, /* bucket capacities are multiples of this */
};

static size_t bucket_size(uint32_t cap)
{
    return sizeof(ki__bucket) + cap * sizeof(struct ki__table_entry);
}

static uint32_t largest_power(uint32_t count)
{
    return UINT32_C(1) << (31 - __builtin_clz(count));
}

/* Makes the bucket in *slot owned by the edit, with space for `more` further entries. */
static int own_bucket(ki__edit *edit, ki__slot *slot, uint32_t more)
{
    ki__bucket *bucket = slot->ptr;
    uint32_t count = bucket != NULL ? bucket->count : 0;
    uint32_t cap = (count + more + BUCKET_STEP - 1) / BUCKET_STEP * BUCKET_STEP;
    if (bucket == NULL) {
        if (cap == 0) {
            return 0;
        }
        bucket = ki__edit_new(edit, bucket_size(cap));
    } else if (ki__edit_owns(edit, bucket) && bucket->cap >= count + more) {
        return 0;
    } else {
        bucket = ki__edit_copy(edit, bucket, bucket_size(count), bucket_size(bucket->cap),
                               bucket_size(cap));
    }
    if (bucket == NULL) {
        return -ENOMEM;
    }
    bucket->cap = cap;
    slot->ptr = bucket;
    return 0;
}

static int touch_bucket(ki__edit *edit, ki__table *table, uint32_t number, uint32_t more,
                        ki__slot **ret_slot)
{
    int r = ki__vec_touch(edit, &table->buckets, number, ret_slot);
    return r < 0 ? r : own_bucket(edit, *ret_slot, more);
}

/* Frees an owned bucket if it is empty. */
static void drop_if_empty(ki__edit *edit, ki__table *table, uint32_t number)
{
    ki__slot *slot = ki__vec_touched(edit, &table->buckets, number);
    ki__bucket *bucket = slot->ptr;
    if (bucket->count == 0) {
        ki__edit_free(edit, bucket, bucket_size(bucket->cap));
        slot->ptr = NULL;
        ki__vec_prune(edit, &table->buckets, number);
    }
}

/* Splits one bucket; skipped if out of memory. */
static void grow(ki__edit *edit, ki__table *table)
{
    uint32_t added = table->bucket_count;
    uint32_t moved_bit = largest_power(added);
    uint32_t from = added - moved_bit;
    const ki__bucket *whole = ki__vec_get(&table->buckets, from).ptr;
    if (whole == NULL) {
        table->bucket_count++;
        return;
    }
    ki__slot *slot;
    ki__slot *added_slot;
    if (touch_bucket(edit, table, from, 0, &slot) < 0) {
        return;
    }
    ki__bucket *source = slot->ptr;
    if (touch_bucket(edit, table, added, source->count, &added_slot) < 0) {
        return;
    }
    ki__bucket *target = added_slot->ptr;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < source->count; i++) {
        if ((source->entries[i].hash & moved_bit) != 0) {
            target->entries[target->count++] = source->entries[i];
        } else {
            source->entries[kept++] = source->entries[i];
        }
    }
    source->count = kept;
    table->bucket_count++;
    drop_if_empty(edit, table, from);
    drop_if_empty(edit, table, added); /* at most one of the two was empty */
}

/* Merges the last bucket into the one it was split from; skipped if out of memory. */
static void shrink(ki__edit *edit, ki__table *table)
{
    uint32_t last = table->bucket_count - 1;
    uint32_t into = last - largest_power(last);
    if (ki__vec_get(&table->buckets, last).ptr == NULL) {
        table->bucket_count--;
        return;
    }
    ki__slot *slot;
    ki__slot *into_slot;
    if (touch_bucket(edit, table, last, 0, &slot) < 0) {
        return;
    }
    ki__bucket *source = slot->ptr;
    if (touch_bucket(edit, table, into, source->count, &into_slot) < 0) {
        return;
    }
    ki__bucket *target = into_slot->ptr;
    memcpy(target->entries + target->count, source->entries,
           source->count * sizeof(source->entries[0]));
    target->count += source->count;
    source->count = 0;
    table->bucket_count--;
    drop_if_empty(edit, table, last);
}

int ki__table_insert(ki__edit *edit, ki__table *table, uint32_t hash, uint32_t id)
{
    if (table->bucket_count == 0) {
        table->bucket_count = 1;
    }
    ki__slot *slot;
    int r = touch_bucket(edit, table, ki__table_bucket_of(table, hash), 1, &slot);
    if (r < 0) {
        return r;
    }
    ki__bucket *bucket = slot->ptr;
    bucket->entries[bucket->count++] = (struct ki__table_entry){hash, id};
    table->count++;
    if (table->count / LOAD_MAX > table->bucket_count) {
        grow(edit, table);
    }
    return 0;
}

int ki__table_touch(ki__edit *edit, ki__table *table, uint32_t hash)
{
    ki__slot *slot;
    return touch_bucket(edit, table, ki__table_bucket_of(table, hash), 0, &slot);
}

void ki__table_remove(ki__edit *edit, ki__table *table, uint32_t hash, uint32_t id)
{
    uint32_t number = ki__table_bucket_of(table, hash);
    ki__bucket *bucket = ki__vec_touched(edit, &table->buckets, number)->ptr;
    ki_assert(bucket != NULL && ki__edit_owns(edit, bucket));
    uint32_t i = 0;
    while (i < bucket->count && bucket->entries[i].id != id) {
        i++;
    }
    ki_assert(i < bucket->count);
    bucket->entries[i] = bucket->entries[--bucket->count];
    table->count--;
    drop_if_empty(edit, table, number);
    if (table->bucket_count > 1 && table->count / LOAD_MIN < table->bucket_count) {
        shrink(edit, table);
    }
}

struct free_context {
    const ki_alloc *alloc;
    uint64_t birth;
};

static void free_bucket(ki__slot slot, uint32_t id, void *user)
{
    (void)id;
    const struct free_context *context = user;
    const ki__block *block = slot.ptr;
    if (block->birth >= context->birth) {
        ki__free(context->alloc, slot.ptr);
    }
}

void ki__table_free(const ki_alloc *alloc, const ki__table *table, uint64_t birth)
{
    struct free_context context = {alloc, birth};
    (void)ki__vec_free(alloc, &table->buckets, birth, free_bucket, &context);
}
