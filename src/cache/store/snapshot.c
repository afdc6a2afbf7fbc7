/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a store: snapshots, iteration and lists. */
#include <errno.h>
#include <string.h>

#include <kinformer/consistency.h>
#include <kinformer/index.h>
#include <kinformer/key.h>

#include "base/alloc.h"
#include "base/error.h"
#include "cache/store/readers.h"
#include "cache/store/version.h"
#include "object/object_list.h"

/* Snapshots */

ki_snapshot *ki_store_snapshot(ki_store *store)
{
    return ki__store_read(store, __builtin_return_address(0));
}

ki_snapshot *ki_store_refresh(ki_store *store, ki_snapshot *held)
{
    const ki_snapshot *current = held != NULL ? ki__version_current(store) : NULL;
    if (held != NULL && (current == held || current == ki__reader_version(held))) {
        return held;
    }
    (void)ki_snapshot_unref(held);
    return ki__store_read(store, __builtin_return_address(0));
}

ki_snapshot *ki_snapshot_ref(ki_snapshot *snapshot)
{
    if (snapshot != NULL) {
        atomic_fetch_add_explicit(&snapshot->refs, 1, memory_order_relaxed);
    }
    return snapshot;
}

ki_snapshot *ki_snapshot_unref(ki_snapshot *snapshot)
{
    if (snapshot != NULL) {
        ki__version_release(snapshot);
    }
    return NULL;
}

uint64_t ki_snapshot_version(const ki_snapshot *snapshot)
{
    return snapshot->number;
}

const char *ki_snapshot_resource_version(const ki_snapshot *snapshot)
{
    return snapshot->resource_version;
}

bool ki_store_is_at_least(ki_store *store, const char *resource_version)
{
    int order;
    ki_snapshot *snapshot = ki__version_acquire(store);
    int r = ki_resource_version_compare(ki_str_from(snapshot->resource_version),
                                        ki_str_from(resource_version), &order);
    ki__version_release(snapshot);
    return r == 0 && order >= 0;
}

size_t ki_snapshot_count(const ki_snapshot *snapshot)
{
    return snapshot->keys.count;
}

const ki_object *ki__snapshot_get(const ki_snapshot *snapshot, ki_str key)
{
    uint32_t id = ki__version_find(snapshot, ki__key_hash(snapshot->store, key), key);
    return id != KI__TABLE_NONE ? ki__vec_get(&snapshot->objects, id).ptr : NULL;
}

const ki_object *ki_snapshot_get(const ki_snapshot *snapshot, const char *key)
{
    return ki__snapshot_get(snapshot, ki_str_from(key));
}

const char *ki_snapshot_index_name_at(const ki_snapshot *snapshot, size_t position)
{
    return position < snapshot->index_count ? snapshot->indexes[position].def->index.name : NULL;
}

/* Index number by name, or -1. */
static int index_number(const ki_snapshot *snapshot, const char *index)
{
    for (size_t i = 0; i < snapshot->index_count; i++) {
        if (strcmp(snapshot->indexes[i].def->index.name, index) == 0) {
            return (int)i;
        }
    }
    return -1;
}

/* The posting of a value in *ret_posting, NULL if no object has it. */
static int find_posting(const ki_snapshot *snapshot, const char *index, ki_str value,
                        const ki__posting **ret_posting)
{
    int number = index_number(snapshot, index);
    if (number < 0) {
        return KI_ERR_UNKNOWN_INDEX;
    }
    uint32_t hash = ki__key_hash(snapshot->store, value);
    *ret_posting = ki__index_find(&snapshot->indexes[number].state, hash, value);
    return 0;
}

/* Iteration: `leaf` holds the objects of the current block, `bits` the remaining ones of them, and
 * `position` is the next block. `set` limits the iteration to a posting; NULL means all objects. */

ki_snapshot_iter ki_snapshot_iter_begin(const ki_snapshot *snapshot)
{
    return (ki_snapshot_iter){.snapshot = snapshot};
}

int ki_snapshot_iter_by_index(const ki_snapshot *snapshot, const char *index, ki_str value,
                              ki_snapshot_iter *ret_iter)
{
    KI__REQUIRE(snapshot, NULL);
    KI__REQUIRE(index, NULL);
    KI__REQUIRE(ret_iter, NULL);
    const ki__posting *posting;
    int r = find_posting(snapshot, index, value, &posting);
    if (r < 0) {
        return r;
    }
    *ret_iter = posting != NULL ? (ki_snapshot_iter){.snapshot = snapshot, .set = posting}
                                : ki__snapshot_none(snapshot);
    return 0;
}

static uint64_t used_slots(const ki__vec_node *leaf)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < KI__VEC_WIDTH; i++) {
        bits |= (uint64_t)(leaf->slots[i].ptr != NULL) << i;
    }
    return bits;
}

/* The leaf of the first relevant block from *block on, and its relevant slots; NULL at the end. */
static const ki__vec_node *find_block(const ki_snapshot_iter *iter, uint64_t *block, uint64_t *bits)
{
    const ki__vec *objects = &iter->snapshot->objects;
    if (iter->set == NULL) {
        uint64_t first = *block * 64;
        const ki__vec_node *leaf = ki__vec_next_leaf(objects, &first);
        *block = first / 64;
        *bits = leaf != NULL ? used_slots(leaf) : 0;
        return leaf;
    }
    const ki__vec_node *leaf = NULL;
    while (leaf == NULL && (*bits = ki__posting_next_block(iter->set, block)) != 0) {
        leaf = ki__vec_leaf(objects, (uint32_t)(*block * 64));
        *block += leaf == NULL; /* empty: the index function is not deterministic */
    }
    return leaf;
}

/* Advances to the next block with objects; false at the end. */
static bool next_block(ki_snapshot_iter *iter)
{
    while (iter->bits == 0) {
        uint64_t block = iter->position;
        iter->leaf = block <= UINT32_MAX / 64 ? find_block(iter, &block, &iter->bits) : NULL;
        if (iter->leaf == NULL) {
            iter->position = UINT64_MAX;
            iter->bits = 0;
            return false;
        }
        iter->position = block + 1;
    }
    return true;
}

int ki_snapshot_iter_next(ki_snapshot_iter *iter, const ki_object **ret_object)
{
    KI__REQUIRE(iter, NULL);
    KI__REQUIRE(ret_object, NULL);
    while (next_block(iter)) {
        const ki__vec_node *leaf = iter->leaf;
        uint32_t i = (uint32_t)__builtin_ctzll(iter->bits);
        iter->bits &= iter->bits - 1;
        if (leaf->slots[i].ptr != NULL) {
            *ret_object = leaf->slots[i].ptr;
            return 1;
        }
    }
    return 0;
}

const ki_object *ki__snapshot_peek(const ki_snapshot_iter *iter, uint32_t ahead)
{
    const ki__vec_node *leaf = iter->leaf;
    if (iter->bits == 0) {
        return NULL;
    }
    uint32_t i = (uint32_t)__builtin_ctzll(iter->bits) + ahead;
    return i < KI__VEC_WIDTH && (iter->bits >> i & 1) != 0 ? leaf->slots[i].ptr : NULL;
}

int ki_snapshot_count_by_index(const ki_snapshot *snapshot, const char *index, ki_str value,
                               size_t *ret_count)
{
    KI__REQUIRE(snapshot, NULL);
    KI__REQUIRE(index, NULL);
    KI__REQUIRE(ret_count, NULL);
    const ki__posting *posting;
    int r = find_posting(snapshot, index, value, &posting);
    if (r >= 0) {
        *ret_count = posting != NULL ? posting->count : 0;
    }
    return r;
}

int ki_index_iter_begin(const ki_snapshot *snapshot, const char *index, ki_index_iter *ret_iter)
{
    KI__REQUIRE(snapshot, NULL);
    KI__REQUIRE(index, NULL);
    KI__REQUIRE(ret_iter, NULL);
    int number = index_number(snapshot, index);
    if (number < 0) {
        return KI_ERR_UNKNOWN_INDEX;
    }
    *ret_iter = (ki_index_iter){.snapshot = snapshot, .index = (uint32_t)number};
    return 0;
}

int ki_index_iter_next(ki_index_iter *iter, ki_str *ret_value, size_t *ret_count)
{
    KI__REQUIRE(iter, NULL);
    const ki__vec *postings = &iter->snapshot->indexes[iter->index].state.postings;
    uint64_t at = iter->position;
    for (;;) {
        uint64_t first = at;
        const ki__vec_node *leaf = ki__vec_next_leaf(postings, &first);
        if (leaf == NULL) {
            return 0;
        }
        for (at = at > first ? at : first; at < first + KI__VEC_WIDTH; at++) {
            const ki__posting *posting = leaf->slots[at % KI__VEC_WIDTH].ptr;
            if (posting == NULL) {
                continue;
            }
            iter->position = (uint32_t)at + 1;
            if (ret_value != NULL) {
                *ret_value = ki__posting_value(posting);
            }
            if (ret_count != NULL) {
                *ret_count = posting->count;
            }
            return 1;
        }
    }
}

/* Lists */

static void release_snapshot(void *snapshot)
{
    ki__version_release(snapshot);
}

static ki_list *new_list(const ki_snapshot *snapshot, size_t max)
{
    ki_list *list = ki__list_new(snapshot->store->alloc, max);
    if (list != NULL) {
        list->owner = ki_snapshot_ref((ki_snapshot *)(uintptr_t)snapshot);
        list->release_owner = release_snapshot;
    }
    return list;
}

/* Upper bound of the remaining objects. */
static size_t most_left(const ki_snapshot_iter *iter)
{
    const ki__posting *set = iter->set;
    if (iter->position == UINT64_MAX) {
        return 0;
    }
    return set != NULL ? set->count : ki_snapshot_count(iter->snapshot);
}

static void add_object(ki_list *list, const ki_object *object)
{
    list->objects[list->count] = object;
    list->count += object != NULL; /* NULL if the index function is not deterministic */
}

/* Appends the objects of a leaf whose bits are set. */
static void add_leaf(ki_list *list, const ki__vec_node *leaf, uint64_t bits)
{
    if (bits == UINT64_MAX) {
        for (uint32_t i = 0; i < KI__VEC_WIDTH; i++) {
            add_object(list, leaf->slots[i].ptr);
        }
        return;
    }
    for (; bits != 0; bits &= bits - 1) {
        add_object(list, leaf->slots[__builtin_ctzll(bits)].ptr);
    }
}

int ki__snapshot_list(ki_snapshot_iter *iter, ki_list **ret_list)
{
    ki_list *list = new_list(iter->snapshot, most_left(iter));
    if (list == NULL) {
        return -ENOMEM;
    }
    while (next_block(iter)) {
        add_leaf(list, iter->leaf, iter->bits);
        iter->bits = 0;
    }
    *ret_list = list;
    return 0;
}

/* Sets a bit for each object with any of the values, in an array of `words` words. There are none
 * beyond, except stale ones of a nondeterministic index function. */
static void gather(const ki__index_state *state, const ki_index_values *values, uint64_t *set,
                   size_t words)
{
    for (size_t i = 0; i < values->count; i++) {
        const ki__posting *posting =
            ki__index_find(state, values->values[i].hash, values->values[i].text);
        uint64_t block = 0;
        uint64_t bits;
        while (posting != NULL && (bits = ki__posting_next_block(posting, &block)) != 0) {
            if (block < words) {
                set[block] |= bits;
            }
            block++;
        }
    }
}

static int list_set(const ki_snapshot *snapshot, const uint64_t *set, size_t words,
                    ki_list **ret_list)
{
    size_t count = 0;
    for (size_t i = 0; i < words; i++) {
        count += (size_t)__builtin_popcountll(set[i]);
    }
    ki_list *list = new_list(snapshot, count);
    if (list == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < words; i++) {
        for (uint64_t bits = set[i]; bits != 0; bits &= bits - 1) {
            uint32_t id = (uint32_t)(i * 64) + (uint32_t)__builtin_ctzll(bits);
            const ki_object *object = ki__vec_get(&snapshot->objects, id).ptr;
            if (object != NULL) {
                list->objects[list->count++] = object;
            }
        }
    }
    *ret_list = list;
    return 0;
}

static int list_values(const ki_snapshot *snapshot, int number, const ki_index_values *values,
                       ki_list **ret_list)
{
    const ki_alloc *alloc = snapshot->store->alloc;
    size_t words = 1;
    for (uint64_t first = 0; ki__vec_next_leaf(&snapshot->objects, &first) != NULL; first += 64) {
        words = (size_t)(first / 64) + 1;
    }
    uint64_t *set = ki__alloc_zero(alloc, words * sizeof(*set));
    if (set == NULL) {
        return -ENOMEM;
    }
    gather(&snapshot->indexes[number].state, values, set, words);
    int r = list_set(snapshot, set, words, ret_list);
    ki__free(alloc, set);
    return r;
}

int ki_snapshot_list_like(const ki_snapshot *snapshot, const char *index, const ki_object *object,
                          ki_list **ret_list, ki_error *error)
{
    KI__REQUIRE(snapshot, error);
    KI__REQUIRE(index, error);
    KI__REQUIRE(object, error);
    KI__REQUIRE(ret_list, error);
    int number = index_number(snapshot, index);
    if (number < 0) {
        return ki__error_set(error, KI_ERR_UNKNOWN_INDEX, "no index named %s", index);
    }
    ki_index_values values;
    ki__index_values_init(&values, snapshot->store->alloc, snapshot->store->hash_key);
    int r = ki__index_values_of(&values, snapshot->indexes[number].def, object, error);
    if (r >= 0) {
        r = list_values(snapshot, number, &values, ret_list);
        if (r < 0) {
            (void)ki__error_code(error, r);
        }
    }
    ki__index_values_done(&values);
    return r;
}

/* Reading the current version */

ki_object *ki__store_get(ki_store *store, ki_str key)
{
    ki_snapshot *snapshot = ki__version_acquire(store);
    ki_object *object = ki_object_ref(ki__snapshot_get(snapshot, key));
    ki__version_release(snapshot);
    return object;
}

ki_object *ki_store_get(ki_store *store, const char *key)
{
    return ki__store_get(store, ki_str_from(key));
}

int ki_store_list(ki_store *store, ki_list **ret_list)
{
    KI__REQUIRE(store, NULL);
    KI__REQUIRE(ret_list, NULL);
    ki_snapshot *snapshot = ki__store_read(store, __builtin_return_address(0));
    ki_snapshot_iter iter = ki_snapshot_iter_begin(snapshot);
    int r = ki__snapshot_list(&iter, ret_list);
    ki__version_release(snapshot);
    return r;
}

int ki_store_by_index(ki_store *store, const char *index, const char *value, ki_list **ret_list)
{
    KI__REQUIRE(store, NULL);
    KI__REQUIRE(index, NULL);
    KI__REQUIRE(value, NULL);
    KI__REQUIRE(ret_list, NULL);
    ki_snapshot *snapshot = ki__store_read(store, __builtin_return_address(0));
    ki_snapshot_iter iter;
    int r = ki_snapshot_iter_by_index(snapshot, index, ki_str_from(value), &iter);
    if (r >= 0) {
        r = ki__snapshot_list(&iter, ret_list);
    }
    ki__version_release(snapshot);
    return r;
}
