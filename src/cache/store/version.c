/* SPDX-License-Identifier: Apache-2.0 */
/* How readers acquire the current version without a lock, and how old versions are freed.
 *
 * Acquiring must read the pointer and count the reference atomically, or the version could be freed
 * in between. So the pointer and a count of acquisitions share one word, and acquiring is one
 * fetch-and-add. When the writer swaps in the next version it gets that count and adds it to the
 * version's own count, which releases have been decrementing meanwhile. A large bias keeps that
 * count from reaching zero while the version is current.
 *
 * Only addresses below 2^48 fit into the word. Others (with tags in their upper bits, as with MTE,
 * LAM and HWASan, or of 52 bits and more) are published separately, under a lock: the word is then
 * a marker, and acquiring takes the lock as well. This is decided for each version.
 *
 * A version whose count is zero is dead. The thread that finds it dead pushes it on a stack and
 * collects, unless another thread is collecting, or a writer is active, which collects when it is
 * done: these will find it there, so nobody waits. Collecting a version frees those parts of its
 * garbage that the next older live version does not have, and passes the others to that one. */
#include "cache/store/version.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "object/object.h"

#define BIAS (INT64_C(1) << 40)

/* The word: the address, which is a multiple of 8 and below 2^48, shifted up; the count below. */
enum { COUNT_BITS = 19, ADDRESS_BITS = 3 };
#define COUNT_MASK ((UINT64_C(1) << COUNT_BITS) - 1)
#define COUNT_FOLD (UINT64_C(1) << (COUNT_BITS - 2))

/* Marker for a version that is published separately; acquisitions may have been added to it. */
#define WIDE (UINT64_MAX << 40)
#define WIDE_FOLD (UINT64_C(1) << 30)

static uint64_t pack(const ki_snapshot *version)
{
    uint64_t address = (uint64_t)(uintptr_t)version;
    return address >> ADDRESS_BITS << COUNT_BITS;
}

static ki_snapshot *unpack(uint64_t word)
{
    return (ki_snapshot *)(uintptr_t)(word >> COUNT_BITS << ADDRESS_BITS);
}

static bool is_wide(uint64_t word)
{
    return word >= WIDE;
}

static bool fits(const ki_snapshot *version)
{
#ifdef KI_TEST_WIDE_POINTERS
    return version == NULL || version->number % 3 == 0;
#else
    uint64_t word = pack(version);
    return unpack(word) == version && !is_wide(word);
#endif
}

/* Publishes a version, or NULL, and returns the previous word. Only for the writer. */
static uint64_t swap(ki_store *store, ki_snapshot *version)
{
    bool fit = fits(version);
    if (fit && !is_wide(atomic_load(&store->current))) {
        return atomic_exchange(&store->current, pack(version));
    }
    ki__mutex_lock(&store->wide_lock);
    atomic_store(&store->wide, fit ? NULL : version);
    uint64_t word = atomic_exchange(&store->current, fit ? pack(version) : WIDE);
    ki__mutex_unlock(&store->wide_lock);
    return word;
}

/* Acquires a separately published version; NULL if there is none any more. It is current, so its
 * count cannot reach zero meanwhile. */
static ki_snapshot *acquire_wide(ki_store *store)
{
    ki_snapshot *version = NULL;
    ki__mutex_lock(&store->wide_lock);
    uint64_t word = atomic_load(&store->current);
    if (is_wide(word)) {
        version = atomic_load(&store->wide);
        atomic_fetch_add(&version->refs, 1);
        if (word - WIDE >= WIDE_FOLD) {
            atomic_store(&store->current, WIDE); /* avoids overflow; the count is unused */
        }
    }
    ki__mutex_unlock(&store->wide_lock);
    return version;
}

/* Moves the count of acquisitions into the version's own count before it overflows. The caller
 * holds the version, so its count cannot reach zero meanwhile. */
static void fold_count(ki_store *store, ki_snapshot *version)
{
    uint64_t word = atomic_load(&store->current);
    int64_t count = (int64_t)(word & COUNT_MASK);
    if (unpack(word) != version || (uint64_t)count < COUNT_FOLD) {
        return;
    }
    atomic_fetch_add(&version->refs, count);
    if (!atomic_compare_exchange_strong(&store->current, &word, pack(version))) {
        atomic_fetch_sub(&version->refs, count);
    }
}

ki_snapshot *ki__version_acquire(ki_store *store)
{
    uint64_t word = atomic_fetch_add_explicit(&store->current, 1, memory_order_acquire);
    while (is_wide(word)) {
        ki_snapshot *wide = acquire_wide(store);
        if (wide != NULL) {
            return wide;
        }
        word = atomic_fetch_add_explicit(&store->current, 1, memory_order_acquire);
    }
    ki_snapshot *version = unpack(word);
    if ((word & COUNT_MASK) >= COUNT_FOLD) {
        fold_count(store, version);
    }
    return version;
}

ki_snapshot *ki__version_current(ki_store *store)
{
    uint64_t word = atomic_load_explicit(&store->current, memory_order_acquire);
    return is_wide(word) ? atomic_load(&store->wide) : unpack(word);
}

static void release_object(ki__slot slot, uint32_t id, void *user)
{
    const ki_snapshot *older = user;
    if (older == NULL || ki__vec_get(&older->objects, id).ptr != slot.ptr) {
        (void)ki_object_unref(slot.ptr);
    }
}

/* Frees what the version has and `older` does not; everything if that is NULL. */
static void free_content(ki_snapshot *version, ki_snapshot *older)
{
    const ki_alloc *alloc = version->store->alloc;
    uint64_t birth = older != NULL ? older->number + 1 : 0;
    ki__table_free(alloc, &version->keys, birth);
    for (size_t i = 0; i < version->index_count; i++) {
        ki__index_free(alloc, &version->indexes[i].state, birth);
    }
    ki__vec_free(alloc, &version->objects, birth, release_object, older);
}

/* Frees the version's own members, but not its block. */
static void free_parts(ki_snapshot *version)
{
    for (size_t i = 0; i < version->index_count; i++) {
        ki__index_def_unref(version->indexes[i].def);
    }
    if (version->resource_version != version->text) {
        ki__free(version->store->alloc, version->resource_version);
    }
}

static bool is_needed(const ki_snapshot *older, const ki__garbage_item *item)
{
    if (older == NULL) {
        return false;
    }
    if (item->id == KI__GARBAGE_BLOCK) {
        return ((const ki__block *)item->ptr)->birth <= older->number;
    }
    return ki__vec_get(&older->objects, item->id).ptr == item->ptr;
}

static void free_item(const ki_alloc *alloc, const ki__garbage_item *item)
{
    if (item->id == KI__GARBAGE_BLOCK) {
        ki__free(alloc, item->ptr);
    } else {
        (void)ki_object_unref(item->ptr);
    }
}

/* Whether the item fits into the first chunk of `older`. */
static bool move_item(ki_snapshot *older, const ki__garbage_item *item)
{
    ki__garbage_chunk *chunk = older->garbage;
    if (chunk->count == chunk->cap) {
        return false;
    }
    chunk->items[chunk->count++] = *item;
    return true;
}

/* Frees the garbage in a chunk that `older` does not need, and passes the rest to it: item by item
 * while there is space, so that a chunk is not kept for one item, then as a chunk. Returns the
 * memory freed. */
static uint64_t sift_chunk(const ki_alloc *alloc, ki__garbage_chunk *chunk, ki_snapshot *older)
{
    uint64_t freed = 0;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < chunk->count; i++) {
        ki__garbage_item item = chunk->items[i];
        if (!is_needed(older, &item)) {
            freed += item.bytes;
            free_item(alloc, &item);
        } else if (!move_item(older, &item)) {
            chunk->items[kept++] = item;
        }
    }
    chunk->count = kept;
    if (kept == 0) {
        freed += chunk->bytes;
        ki__free(alloc, chunk->block);
    } else {
        chunk->next = older->garbage;
        older->garbage = chunk;
    }
    return freed;
}

/* Unlinks a dead version and frees it as far as older versions allow. */
static void collect_version(ki_snapshot *version)
{
    ki_store *store = version->store;
    ki_snapshot *older = version->older;
    ki_snapshot *newer = version->newer;
    if (newer == NULL && older != NULL) {
        version->last_and_dead = true; /* shares data with older ones: freed after them */
        return;
    }
    if (older != NULL) {
        older->newer = newer;
    }
    if (newer != NULL) {
        newer->older = older;
    } else {
        free_content(version, NULL);
    }
    free_parts(version);
    uint64_t freed = 0;
    ki__garbage_chunk *chunk = version->garbage;
    while (chunk != NULL) {
        ki__garbage_chunk *next = chunk->next;
        freed += sift_chunk(store->alloc, chunk, older);
        chunk = next;
    }
    atomic_fetch_sub_explicit(&store->version_bytes, freed, memory_order_relaxed);
    ki__store_drop(store);
    if (older == NULL && newer != NULL && newer->last_and_dead) {
        collect_version(newer); /* it has no newer one: recursion is one level deep */
    }
}

/* Whether there is an active writer, which will collect when it is done. */
static bool writer_collects(ki_store *store)
{
    return atomic_load(&store->writer) == KI__WRITER_AT_WORK;
}

/* Pushes the versions from `first` to `last`, linked by next_dead, on the stack. */
static void push_dead(ki_store *store, ki_snapshot *first, ki_snapshot *last)
{
    last->next_dead = atomic_load(&store->dead);
    while (!atomic_compare_exchange_weak(&store->dead, &last->next_dead, first)) {
    }
}

/* Collects versions linked by next_dead. A reader stops, and puts the rest back, as soon as there
 * is a writer: that one frees faster, and readers should not be delayed by cleanup. */
static void collect_row(ki_store *store, ki_snapshot *version, bool writer)
{
    while (version != NULL) {
        ki_snapshot *next = version->next_dead;
        collect_version(version);
        version = next;
        if (version != NULL && !writer && writer_collects(store)) {
            ki_snapshot *last = version;
            while (last->next_dead != NULL) {
                last = last->next_dead;
            }
            push_dead(store, version, last);
            return;
        }
    }
}

/* Collects the versions on the stack, including those pushed meanwhile. */
static void collect(ki_store *store, bool writer)
{
    while (atomic_load(&store->dead) != NULL && (writer || !writer_collects(store))) {
        if (atomic_exchange(&store->collecting, true)) {
            return; /* the collecting thread will check again */
        }
        collect_row(store, atomic_exchange(&store->dead, NULL), writer);
        atomic_store(&store->collecting, false);
    }
}

void ki__version_set_writer(ki_store *store, ki__writer writer)
{
    atomic_store(&store->writer, writer);
    collect(store, false); /* versions that readers left to this writer */
}

void ki__version_release(ki_snapshot *version)
{
    if (atomic_fetch_sub_explicit(&version->refs, 1, memory_order_acq_rel) == 1) {
        if (version->reader != NULL) {
            ki__reader_end(version->reader);
            return;
        }
        ki_store *store = version->store;
        ki__store_hold(store); /* once it is on the stack, another thread may free it */
        push_dead(store, version, version);
        collect(store, false);
        ki__store_drop(store);
    }
}

/* Converts the count of a current version to that of a past one. The caller has a handle of the
 * store, which keeps it alive. */
static void retire(ki_snapshot *version, uint64_t word)
{
    ki_store *store = version->store;
    int64_t change = (is_wide(word) ? 0 : (int64_t)(word & COUNT_MASK)) - BIAS;
    if (atomic_fetch_add(&version->refs, change) + change != 0) {
        return; /* readers hold it */
    }
    if (atomic_exchange(&store->collecting, true)) {
        push_dead(store, version, version);
    } else {
        collect_version(version);
        atomic_store(&store->collecting, false);
    }
    collect(store, true);
}

static void copy_content(ki_snapshot *version, const ki_snapshot *base)
{
    version->number = base->number + 1;
    version->objects = base->objects;
    version->keys = base->keys;
    version->object_bytes = base->object_bytes;
    for (size_t i = 0; i < base->index_count; i++) {
        version->indexes[i].def = ki__index_def_ref(base->indexes[i].def);
        version->indexes[i].state = base->indexes[i].state;
    }
    version->index_count = base->index_count;
}

static int copy_resource_version(ki_snapshot *version, const ki_snapshot *base)
{
    if (base->resource_version == base->text) {
        memcpy(version->text, base->text, sizeof(base->text));
        return 0;
    }
    size_t size = strlen(base->resource_version) + 1;
    char *text = ki__alloc(version->store->alloc, size);
    if (text == NULL) {
        return -ENOMEM;
    }
    version->resource_version = memcpy(text, base->resource_version, size);
    return 0;
}

ki_snapshot *ki__version_new(ki_store *store, const ki_snapshot *base, size_t index_count)
{
    size_t size;
    if (__builtin_mul_overflow(index_count, sizeof(((ki_snapshot *)0)->indexes[0]), &size) ||
        __builtin_add_overflow(size, sizeof(ki_snapshot), &size)) {
        return NULL;
    }
    ki_snapshot *version = ki__alloc(store->alloc, size);
    if (version == NULL) {
        return NULL;
    }
    /* Zero everything except the garbage space, which is written before it is read. */
    size_t used = offsetof(ki_snapshot, store);
    memset((char *)version + used, 0, size - used);
    version->first_garbage = (ki__garbage_chunk){
        .block = version,
        .bytes = size,
        .cap = KI__VERSION_GARBAGE,
        .items = version->first_items,
    };
    version->garbage = &version->first_garbage;
    version->store = store;
    atomic_init(&version->refs, BIAS);
    version->resource_version = version->text;
    if (base != NULL) {
        if (copy_resource_version(version, base) < 0) {
            ki__free(store->alloc, version);
            return NULL;
        }
        copy_content(version, base);
    }
    ki__store_hold(store);
    return version;
}

void ki__version_publish(ki_snapshot *version, ki_snapshot *base)
{
    version->older = base;
    if (base != NULL) {
        base->newer = version;
    }
    ki_store *store = version->store;
    uint64_t number = version->number;
    uint64_t word = swap(store, version);
    atomic_store_explicit(&store->published, number, memory_order_release);
    if (base != NULL) {
        retire(base, word);
    }
}

void ki__version_abandon(ki_snapshot *version, ki_snapshot *base)
{
    ki_store *store = version->store;
    free_content(version, base);
    /* The base keeps everything that was to become its garbage. */
    while (base->garbage != &base->first_garbage) {
        ki__garbage_chunk *next = base->garbage->next;
        ki__free(store->alloc, base->garbage->block);
        base->garbage = next;
    }
    base->first_garbage.count = 0;
    free_parts(version);
    ki__free(store->alloc, version);
    ki__store_drop(store);
}

void ki__version_close(ki_store *store)
{
    ki_snapshot *version = ki__version_current(store);
    retire(version, swap(store, NULL));
}

static bool key_equals(const void *context, uint32_t id, ki_str key)
{
    const ki_snapshot *version = context;
    return ki_str_eq(key, ki__object_key(ki__vec_get(&version->objects, id).ptr));
}

uint32_t ki__version_find(const ki_snapshot *version, uint32_t hash, ki_str key)
{
    return ki__table_find(&version->keys, hash, key, key_equals, version);
}
