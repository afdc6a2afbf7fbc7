/* SPDX-License-Identifier: Apache-2.0 */
/* Creation and destruction of a store, and writes that create one version each; the counterpart of
 * client-go's tools/cache/store.go and thread_safe_store.go. */
#include <errno.h>
#include <string.h>

#include <kinformer/packed.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "base/process.h"
#include "cache/store/readers.h"
#include "cache/store/shrink.h"
#include "cache/store/txn.h"
#include "cache/store/version.h"

#define OBJECTS_MAX (UINT32_C(1) << 30)

/* Creation and destruction */

void ki__store_hold(ki_store *store)
{
    ki__refs_take(&store->refs);
}

/* Frees the writer's data for the indexes from number `count` on. */
static void cut_writers(ki_store *store, size_t count)
{
    while (store->writer_count > count) {
        ki__index_writer *writer = &store->writers[--store->writer_count];
        ki__ids_done(&writer->ids);
        ki__index_values_done(&writer->old_values);
        ki__index_values_done(&writer->new_values);
    }
}

void ki__store_drop(ki_store *store)
{
    if (!ki__refs_drop(&store->refs)) {
        return;
    }
    cut_writers(store, 0);
    ki__free(store->alloc, store->writers);
    ki__ids_done(&store->ids);
    ki__packer_unref(store->packer);
    ki__readers_free(store->alloc, store->readers);
    ki__mutex_done(&store->wide_lock);
    ki__free(store->alloc, store);
}

ki_store *ki_store_ref(ki_store *store)
{
    if (store != NULL) {
        ki__refs_take(&store->handles);
    }
    return store;
}

ki_store *ki_store_unref(ki_store *store)
{
    if (store == NULL || !ki__refs_drop(&store->handles) || ki__is_inherited(store->process)) {
        return NULL; /* the parent's writer may have been in the middle of a change */
    }
    ki__opened_done(store);
    if (store->packer != NULL) {
        ki__packer_close(store->packer);
    }
    ki__version_close(store);
    ki__store_drop(store);
    return NULL;
}

int ki__store_pack(ki_store *store, ki_error *error)
{
    ki__packer *packer = NULL;
    int r = ki__packer_new(store->alloc, &packer, error);
    if (r >= 0) {
        atomic_store(&store->packer, packer);
    }
    return r;
}

static int make_packer(ki_store *store, ki_storage storage, ki_error *error)
{
    if ((unsigned)storage >= KI_STORAGE_MAX) {
        return ki__error_set(error, -EINVAL, "storage: unknown kind of storage");
    }
    return storage == KI_STORAGE_PACKED ? ki__store_pack(store, error) : 0;
}

int ki_store_new(const ki_store_options *options, ki_store **ret_store, ki_error *error)
{
    KI__REQUIRE(ret_store, error);
    ki_store_options o;
    int r = KI__TAKE(ki_store_options, &o, options, error);
    if (r < 0) {
        return r;
    }
    const ki_alloc *alloc = ki__alloc_or_default(o.alloc);
    ki_store *store = ki__alloc_zero(alloc, sizeof(*store));
    if (store == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    r = ki__mutex_init(&store->wide_lock);
    if (r < 0) {
        ki__free(alloc, store);
        return ki__error_code(error, r);
    }
    store->alloc = alloc;
    store->process = ki__process();
    store->hash_key = ki__hash_key_make(o.random, store);
    store->transform = o.transform;
    store->transform_user = o.transform_user;
    ki__refs_init(&store->handles);
    ki__refs_init(&store->refs);
    size_t max = o.max_objects != 0 && o.max_objects < OBJECTS_MAX ? o.max_objects : OBJECTS_MAX;
    store->max_objects = (uint32_t)max;
    /* Ids of removed objects are not free before the version is complete, so more are needed. */
    ki__ids_init(&store->ids, alloc, UINT32_MAX);
    r = o.reader_clock != NULL ? ki__readers_new(alloc, o.reader_clock, &store->readers) : 0;
    r = r < 0 ? ki__error_code(error, r) : make_packer(store, o.storage, error);
    ki_snapshot *first = r >= 0 ? ki__version_new(store, NULL, 0) : NULL;
    if (first == NULL) {
        if (store->packer != NULL) {
            ki__packer_close(store->packer);
        }
        ki__store_drop(store);
        return r < 0 ? r : ki__error_code(error, -ENOMEM);
    }
    ki__version_publish(first, NULL);
    if (o.index_count != 0) {
        r = ki_store_add_indexes(store, o.indexes, o.index_count, error);
        if (r < 0) {
            (void)ki_store_unref(store);
            return r;
        }
    }
    *ret_store = store;
    return 0;
}

/* Writes */

int ki_store_add(ki_store *store, const ki_object *object, ki_error *error)
{
    KI__REQUIRE(store, error);
    KI__REQUIRE(object, error);
    ki_txn *txn;
    int r = ki__txn_begin(store, 0, &txn, error);
    return r < 0 ? r : ki__txn_finish(txn, ki_txn_add(txn, object, error));
}

int ki_store_update(ki_store *store, const ki_object *object, ki_error *error)
{
    KI__REQUIRE(store, error);
    KI__REQUIRE(object, error);
    return ki_store_add(store, object, error);
}

int ki_store_delete(ki_store *store, ki_str key, const char *resource_version, ki_error *error)
{
    KI__REQUIRE(store, error);
    ki_txn *txn;
    int r = ki__txn_begin(store, 0, &txn, error);
    return r < 0 ? r : ki__txn_finish(txn, ki_txn_delete(txn, key, resource_version, error));
}

int ki_store_bookmark(ki_store *store, const char *resource_version, ki_error *error)
{
    KI__REQUIRE(store, error);
    ki_txn *txn;
    int r = ki__txn_begin(store, 0, &txn, error);
    if (r < 0) {
        return r;
    }
    return ki__txn_finish(txn, ki_txn_set_resource_version(txn, resource_version, error));
}

/* Removes objects of the base that are not in the new content. `seen` has a bit for each id of the
 * new content. */
static int remove_unseen(ki_txn *txn, const uint64_t *seen, ki_error *error)
{
    uint64_t first = 0;
    const ki__vec_node *leaf;
    while ((leaf = ki__vec_next_leaf(&txn->base->objects, &first)) != NULL) {
        for (uint32_t i = 0; i < KI__VEC_WIDTH; i++) {
            bool gone = leaf->slots[i].ptr != NULL && (seen[first / 64] >> i & 1) == 0;
            int r = gone ? ki__txn_remove(txn, (uint32_t)first + i, error) : 0;
            if (r < 0) {
                return r;
            }
        }
        first += KI__VEC_WIDTH;
    }
    return 0;
}

/* Adds the new content to the current one. Sets a bit in `seen` for each of its ids. */
static int put_all(ki_txn *txn, const ki_object *const *objects, size_t count, uint64_t *seen,
                   ki_error *error)
{
    uint32_t max = txn->max_objects;
    uint32_t kept = 0;
    txn->max_objects = UINT32_MAX; /* the old content still counts, but will be removed */
    for (size_t i = 0; i < count; i++) {
        uint32_t id;
        int r = ki__txn_put(txn, objects[i], &id, error);
        if (r < 0) {
            return r;
        }
        uint64_t bit = UINT64_C(1) << (id % 64);
        kept += (seen[id / 64] & bit) == 0;
        seen[id / 64] |= bit;
        if (kept > max) {
            return ki__error_set(error, KI_ERR_LIMIT, "store: more than %u objects", max);
        }
    }
    return 0;
}

static int replace(ki_txn *txn, const ki_object *const *objects, size_t count, ki_error *error)
{
    _Static_assert(KI__VEC_WIDTH == 64, "one word of `seen` is one leaf");
    size_t words = (txn->store->ids.next + count) / 64 + 1;
    uint64_t *seen = ki__alloc_array(txn->store->alloc, words, sizeof(*seen));
    if (seen == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    memset(seen, 0, words * sizeof(*seen));
    int r = put_all(txn, objects, count, seen, error);
    if (r >= 0) {
        r = remove_unseen(txn, seen, error);
    }
    ki__free(txn->store->alloc, seen);
    return r;
}

int ki_store_replace(ki_store *store, const ki_object *const *objects, size_t count,
                     const char *resource_version, ki_error *error)
{
    KI__REQUIRE(store, error);
    if (count != 0) {
        KI__REQUIRE(objects, error);
    }
    if (count > OBJECTS_MAX) {
        return ki__error_set(error, KI_ERR_LIMIT, "store: %zu objects, limit %u", count,
                             OBJECTS_MAX);
    }
    ki_txn *txn;
    int r = ki__txn_begin(store, 0, &txn, error);
    if (r < 0) {
        return r;
    }
    r = replace(txn, objects, count, error);
    if (r >= 0) {
        r = ki_txn_set_resource_version(txn, resource_version, error);
    }
    return ki__txn_finish(txn, r);
}

/* Adding indexes */

static int check_index(const ki_snapshot *version, const ki_index *index, ki_error *error)
{
    if (index->name == NULL || index->values == NULL) {
        return ki__error_set(error, -EINVAL, "index: name and function must be set");
    }
    for (size_t i = 0; i < version->index_count; i++) {
        if (strcmp(version->indexes[i].def->index.name, index->name) == 0) {
            return ki__error_set(error, KI_ERR_EXISTS, "index %s: already exists", index->name);
        }
    }
    return 0;
}

/* Adds an empty index to the version being built. */
static int define_index(ki_txn *txn, const ki_index *theirs, ki_error *error)
{
    ki_store *store = txn->store;
    if (theirs == NULL) {
        return ki__error_null(error, "indexes[]");
    }
    ki_index index;
    int r = KI__TAKE(ki_index, &index, theirs, error);
    if (r >= 0) {
        r = check_index(txn->next, &index, error);
    }
    if (r < 0) {
        return r;
    }
    ki__index_writer *writers =
        ki__realloc_array(store->alloc, store->writers, store->writer_count + 1, sizeof(*writers));
    if (writers == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    store->writers = writers;
    ki__index_def *def = ki__index_def_new(store->alloc, &index);
    if (def == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    ki__index_writer *writer = &writers[store->writer_count++];
    ki__ids_init(&writer->ids, store->alloc, UINT32_MAX);
    ki__index_values_init(&writer->old_values, store->alloc, store->hash_key);
    ki__index_values_init(&writer->new_values, store->alloc, store->hash_key);
    txn->next->indexes[txn->next->index_count++].def = def;
    return 0;
}

/* Adds an object to the indexes from number `first_index` on. */
static int index_one(ki_txn *txn, size_t first_index, const ki_object *object, uint32_t id,
                     ki_error *error)
{
    ki_object *plain = NULL;
    int r = ki_object_unpack(object, &plain, error);
    for (size_t n = first_index; r >= 0 && n < txn->next->index_count; n++) {
        r = ki__txn_index(txn, n, plain, id, error);
    }
    (void)ki_object_unref(plain);
    return r;
}

/* Adds the existing objects to the indexes from number `first_index` on. */
static int fill_indexes(ki_txn *txn, size_t first_index, ki_error *error)
{
    uint64_t first = 0;
    const ki__vec_node *leaf;
    while ((leaf = ki__vec_next_leaf(&txn->base->objects, &first)) != NULL) {
        for (uint32_t i = 0; i < KI__VEC_WIDTH; i++) {
            const ki_object *object = leaf->slots[i].ptr;
            uint32_t id = (uint32_t)first + i;
            int r = object != NULL ? index_one(txn, first_index, object, id, error) : 0;
            if (r < 0) {
                return r;
            }
        }
        first += KI__VEC_WIDTH;
    }
    return 0;
}

int ki_store_add_indexes(ki_store *store, const ki_index *const *indexes, size_t count,
                         ki_error *error)
{
    KI__REQUIRE(store, error);
    if (count != 0) {
        KI__REQUIRE(indexes, error);
    }
    ki_txn *txn;
    int r = ki__txn_begin(store, count, &txn, error);
    if (r < 0) {
        return r;
    }
    size_t before = txn->base->index_count;
    for (size_t i = 0; r >= 0 && i < count; i++) {
        r = define_index(txn, indexes[i], error);
    }
    if (r >= 0) {
        r = fill_indexes(txn, before, error);
    }
    if (r < 0) {
        cut_writers(store, before);
    }
    for (size_t i = 0; r >= 0 && i < count; i++) {
        ki__index_def_adopt(txn->next->indexes[before + i].def, indexes[i]);
    }
    return ki__txn_finish(txn, r);
}
