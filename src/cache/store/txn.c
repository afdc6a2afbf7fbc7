/* SPDX-License-Identifier: Apache-2.0 */
/* Transactions on a store.
 *
 * Every change has two phases. The first does everything that can fail: it computes index values,
 * adds ids, and makes the affected blocks writable; if it fails, it removes its additions, which
 * cannot fail. The second phase only writes. So a change has its full effect or none, and a
 * transaction can continue after a failed change. */
#include "cache/store/txn.h"

#include <errno.h>
#include <string.h>

#include <kinformer/packed.h>
#include <kinformer/storage.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/process.h"
#include "object/key.h"
#include "object/object.h"
#include "object/pack/packed.h"

enum { RESOURCE_VERSION_MAX = 1024 };

/* Beginning and ending */

int ki__txn_begin(ki_store *store, size_t more_indexes, ki_txn **ret_txn, ki_error *error)
{
    KI__REQUIRE_OWN(store->process, error);
    int idle = KI__WRITER_NONE;
    if (!atomic_compare_exchange_strong(&store->writer, &idle, KI__WRITER_AT_WORK)) {
        return ki__error_code(error, KI_ERR_BUSY);
    }
    ki_txn *txn = &store->txn;
    txn->store = store;
    txn->preparing = false;
    txn->max_objects = store->max_objects;
    txn->base = ki__version_current(store);
    txn->next = ki__version_new(store, txn->base, txn->base->index_count + more_indexes);
    if (txn->next == NULL) {
        ki__version_set_writer(store, KI__WRITER_NONE);
        return ki__error_code(error, -ENOMEM);
    }
    txn->edit = (ki__edit){
        .alloc = store->alloc,
        .number = txn->next->number,
        .garbage = txn->base->garbage,
    };
    *ret_txn = txn;
    return 0;
}

static void end_ids(ki_store *store, void (*end)(ki__ids *ids))
{
    end(&store->ids);
    for (size_t i = 0; i < store->writer_count; i++) {
        end(&store->writers[i].ids);
    }
}

uint64_t ki__txn_bytes(const ki_txn *txn)
{
    uint64_t ids = ki__ids_bytes(&txn->store->ids);
    for (size_t i = 0; i < txn->store->writer_count; i++) {
        ids += ki__ids_bytes(&txn->store->writers[i].ids);
    }
    return txn->base->block_bytes + txn->edit.grown + ids;
}

/* Only the writer writes these; the order does not matter. */
static void publish_bytes(ki_txn *txn)
{
    ki_store *store = txn->store;
    txn->next->block_bytes = txn->base->block_bytes + txn->edit.grown;
    atomic_store_explicit(&store->object_bytes, txn->next->object_bytes, memory_order_relaxed);
    atomic_store_explicit(&store->index_bytes, ki__txn_bytes(txn), memory_order_relaxed);
    atomic_fetch_add_explicit(&store->version_bytes,
                              txn->edit.discarded + txn->base->first_garbage.bytes,
                              memory_order_relaxed);
}

static void commit(ki_txn *txn)
{
    ki_store *store = txn->store;
    if (store->packer != NULL) {
        ki__opened_close(txn);
    }
    txn->base->garbage = txn->edit.garbage;
    end_ids(store, ki__ids_commit);
    txn->dropped = ki_object_unref(txn->dropped);
    publish_bytes(txn);
    ki__version_publish(txn->next, txn->base);
    ki__version_set_writer(store, KI__WRITER_NONE);
}

static void rollback(ki_txn *txn)
{
    ki_store *store = txn->store;
    txn->base->garbage = txn->edit.garbage;
    txn->dropped = ki_object_unref(txn->dropped);
    ki__version_abandon(txn->next, txn->base);
    end_ids(store, ki__ids_abort);
    ki__version_set_writer(store, KI__WRITER_NONE);
}

int ki__txn_finish(ki_txn *txn, int r)
{
    if (r < 0) {
        rollback(txn);
    } else {
        commit(txn);
    }
    return r;
}

int ki_store_begin(ki_store *store, ki_txn **ret_txn, ki_error *error)
{
    KI__REQUIRE(store, error);
    KI__REQUIRE(ret_txn, error);
    int r = ki__txn_begin(store, 0, ret_txn, error);
    if (r >= 0) {
        (void)ki_store_ref(store); /* the transaction keeps the store alive */
        ki__version_set_writer(store, KI__WRITER_OPEN);
    }
    return r;
}

void ki_txn_commit(ki_txn *txn)
{
    if (txn == NULL) {
        return;
    }
    ki_store *store = txn->store;
    ki__version_set_writer(store, KI__WRITER_AT_WORK);
    commit(txn);
    (void)ki_store_unref(store);
}

void ki_txn_abort(ki_txn *txn)
{
    if (txn != NULL) {
        ki_store *store = txn->store;
        ki__version_set_writer(store, KI__WRITER_AT_WORK);
        rollback(txn);
        (void)ki_store_unref(store);
    }
}

const ki_object *ki_txn_get(const ki_txn *txn, ki_str key)
{
    return ki__snapshot_get(txn->next, key);
}

/* resourceVersions */

/* Allocates memory for a string that does not fit into the version itself; otherwise NULL in
 * *ret_text. */
static int prepare_text(ki_txn *txn, const char *text, char **ret_text, ki_error *error)
{
    size_t len = strlen(text);
    if (len > RESOURCE_VERSION_MAX) {
        return ki__error_set(error, KI_ERR_LIMIT, "resourceVersion: %zu bytes, limit %d", len,
                             RESOURCE_VERSION_MAX);
    }
    *ret_text = NULL;
    if (len >= KI__VERSION_TEXT) {
        *ret_text = ki__alloc(txn->store->alloc, len + 1);
        if (*ret_text == NULL) {
            return ki__error_code(error, -ENOMEM);
        }
    }
    return 0;
}

/* Sets the resourceVersion to `text`, using the memory of prepare_text(). */
static void set_text(ki_txn *txn, const char *text, char *memory)
{
    ki_snapshot *next = txn->next;
    if (next->resource_version != next->text) {
        ki__free(txn->store->alloc, next->resource_version);
    }
    next->resource_version = memory != NULL ? memory : next->text;
    memcpy(next->resource_version, text, strlen(text) + 1);
}

int ki_txn_set_resource_version(ki_txn *txn, const char *resource_version, ki_error *error)
{
    KI__REQUIRE(txn, error);
    if (resource_version == NULL) {
        return 0;
    }
    char *memory;
    int r = prepare_text(txn, resource_version, &memory, error);
    if (r >= 0) {
        set_text(txn, resource_version, memory);
    }
    return r;
}

/* Changing one object */

/* Undoes the additions of prepare_indexes(). */
static void unprepare_indexes(ki_txn *txn, uint32_t id)
{
    for (size_t i = 0; i < txn->next->index_count; i++) {
        ki__index_writer *writer = &txn->store->writers[i];
        while (writer->added != 0) {
            const ki__index_value *value = &writer->new_values.values[--writer->added];
            ki__index_remove(&txn->edit, &txn->next->indexes[i].state, &writer->ids, value, id);
        }
    }
}

static void swap_values(ki_index_values *values, size_t from, size_t to)
{
    ki__index_value value = values->values[from];
    values->values[from] = values->values[to];
    values->values[to] = value;
}

/* Adds the object to its new values and prepares the removal from values that it loses. On return
 * the first `added` of new_values are those added, and old_values are those to remove. */
static int prepare_index(ki_txn *txn, ki__index_writer *writer, ki__index_state *state, uint32_t id)
{
    ki_index_values *old_values = &writer->old_values;
    ki_index_values *new_values = &writer->new_values;
    size_t o = 0;
    size_t n = 0;
    size_t lost = 0;
    int r = ki__ids_reserve(&writer->ids, old_values->count + new_values->count);
    while (r >= 0 && (o < old_values->count || n < new_values->count)) {
        int order = o == old_values->count ? 1
                    : n == new_values->count
                        ? -1
                        : ki__index_value_compare(&old_values->values[o], &new_values->values[n]);
        if (order == 0) {
            o++;
            n++;
        } else if (order < 0) {
            r = ki__index_touch(&txn->edit, state, &old_values->values[o], id);
            old_values->values[lost++] = old_values->values[o++];
        } else {
            r = ki__index_add(&txn->edit, state, &writer->ids, &new_values->values[n], id);
            if (r > 0) {
                swap_values(new_values, n, writer->added++);
            }
            n++;
        }
    }
    old_values->count = lost;
    return r < 0 ? r : 0;
}

/* Whether an index function needs more of objects than what packed ones have in plain form. */
static bool needs_content(const ki_snapshot *version)
{
    bool needs = false;
    for (size_t i = 0; i < version->index_count; i++) {
        needs = needs || !version->indexes[i].def->of_metadata;
    }
    return needs;
}

/* The object for index functions, as a reference in *ret_object; NULL for NULL. */
static int unpack_for(const ki_snapshot *version, const ki_object *object, ki_object **ret_object,
                      ki_error *error)
{
    *ret_object = NULL;
    if (object == NULL) {
        return 0;
    }
    if (!object->packed || !needs_content(version)) {
        *ret_object = ki_object_ref(object);
        return 0;
    }
    return ki_object_unpack(object, ret_object, error);
}

/* Computes the index values of both objects (NULL for none), and does all index work that can fail.
 * No effect on failure. */
static int prepare_plain(ki_txn *txn, const ki_object *old_object, const ki_object *new_object,
                         uint32_t id, ki_error *error)
{
    ki_snapshot *next = txn->next;
    int r = 0;
    for (size_t i = 0; i < next->index_count; i++) {
        txn->store->writers[i].added = 0;
    }
    txn->preparing = true;
    for (size_t i = 0; r >= 0 && i < next->index_count; i++) {
        ki__index_writer *writer = &txn->store->writers[i];
        const ki__index_def *def = next->indexes[i].def;
        if (def->of_key && old_object != NULL && new_object != NULL) {
            writer->old_values.count = 0;
            writer->new_values.count = 0;
            continue; /* equal keys, so equal values */
        }
        r = ki__index_values_of(&writer->old_values, def, old_object, error);
        if (r >= 0) {
            r = ki__index_values_of(&writer->new_values, def, new_object, error);
        }
        if (r >= 0) {
            r = prepare_index(txn, writer, &next->indexes[i].state, id);
            if (r < 0) {
                (void)ki__error_code(error, r);
            }
        }
    }
    txn->preparing = false;
    if (r < 0) {
        unprepare_indexes(txn, id);
    }
    return r;
}

/* The same for objects that may be packed. */
static int prepare_indexes(ki_txn *txn, const ki_object *old_object, const ki_object *new_object,
                           uint32_t id, ki_error *error)
{
    if (txn->store->packer == NULL) {
        return prepare_plain(txn, old_object, new_object, id, error);
    }
    ki_object *old_plain = NULL;
    ki_object *new_plain = NULL;
    int r = unpack_for(txn->next, old_object, &old_plain, error);
    r = r < 0 ? r : unpack_for(txn->next, new_object, &new_plain, error);
    r = r < 0 ? r : prepare_plain(txn, old_plain, new_plain, id, error);
    (void)ki_object_unref(old_plain);
    (void)ki_object_unref(new_plain);
    return r;
}

/* Removes the object from values that it has lost. */
static void finish_indexes(ki_txn *txn, uint32_t id)
{
    for (size_t i = 0; i < txn->next->index_count; i++) {
        ki__index_writer *writer = &txn->store->writers[i];
        for (size_t v = 0; v < writer->old_values.count; v++) {
            ki__index_remove(&txn->edit, &txn->next->indexes[i].state, &writer->ids,
                             &writer->old_values.values[v], id);
        }
    }
}

/* Releases an object that the transaction removes from `id`. Garbage space was reserved. */
static void release_object(ki_txn *txn, const ki_object *object, uint32_t id)
{
    void *in_base = ki__vec_get(&txn->base->objects, id).ptr;
    if (in_base == object) {
        ki__edit_discard(&txn->edit, in_base, id, ki__object_footprint(object));
    } else { /* added in this transaction: not visible to others */
        (void)ki_object_unref(txn->dropped);
        txn->dropped = (ki_object *)(uintptr_t)object;
    }
}

ki_object *ki__txn_take_dropped(ki_txn *txn)
{
    ki_object *dropped = txn->dropped;
    txn->dropped = NULL;
    return dropped;
}

/* The reference for the slot at `id`. If the base already holds the object there and was about to
 * release it, that reference is kept instead. */
static void *keep(ki_txn *txn, const ki_object *object, uint32_t id)
{
    void *in_base = ki__vec_get(&txn->base->objects, id).ptr;
    if (in_base == object) {
        ki__edit_restore(&txn->edit, in_base, id);
        return in_base;
    }
    return ki_object_ref(object);
}

/* An object as it was given, and as it is stored. */
typedef struct subject {
    const ki_object *given;
    const ki_object *stored;
} subject;

static int insert(ki_txn *txn, subject object, uint32_t hash, uint32_t *ret_id, ki_error *error)
{
    ki_snapshot *next = txn->next;
    uint32_t id = 0;
    int r =
        next->keys.count < txn->max_objects ? ki__ids_take(&txn->store->ids, &id) : KI_ERR_LIMIT;
    if (r < 0) {
        return ki__error_set(error, r, "store full: %u objects", next->keys.count);
    }
    ki__slot *slot;
    r = ki__vec_touch(&txn->edit, &next->objects, id, &slot);
    if (r < 0) {
        ki__ids_untake(&txn->store->ids, id);
        return ki__error_code(error, r);
    }
    r = prepare_indexes(txn, NULL, object.given, id, error);
    if (r >= 0) { /* not earlier: index functions may look up keys, and there is no object yet */
        r = ki__table_insert(&txn->edit, &next->keys, hash, id);
        if (r < 0) {
            unprepare_indexes(txn, id);
            (void)ki__error_code(error, r);
        }
    }
    if (r < 0) {
        ki__vec_prune(&txn->edit, &next->objects, id);
        ki__ids_untake(&txn->store->ids, id);
        return r;
    }
    slot->ptr = ki_object_ref(object.stored);
    next->object_bytes += ki__object_footprint(object.stored);
    *ret_id = id;
    return 0;
}

static int overwrite(ki_txn *txn, subject object, uint32_t id, const ki_object **ret_old,
                     ki_error *error)
{
    ki__slot *slot;
    const ki_object *old = ki__vec_get(&txn->next->objects, id).ptr;
    *ret_old = old;
    if (old == object.stored) { /* nothing is copied for it: most objects of a relist */
        return 0;
    }
    int r = ki__vec_touch(&txn->edit, &txn->next->objects, id, &slot);
    if (r < 0) {
        return ki__error_code(error, r);
    }
    r = prepare_indexes(txn, old, object.given, id, error);
    if (r < 0) {
        return r;
    }
    r = ki__edit_reserve(&txn->edit);
    if (r < 0) {
        unprepare_indexes(txn, id);
        return ki__error_code(error, r);
    }
    void *kept = keep(txn, object.stored, id);
    txn->next->object_bytes += ki__object_footprint(object.stored) - ki__object_footprint(old);
    release_object(txn, old, id);
    slot->ptr = kept;
    finish_indexes(txn, id);
    return 0;
}

int ki__txn_check_key(const ki_object *object, ki_error *error)
{
    const char *name = ki_object_name(object);
    if (name[0] == '\0') {
        return ki__error_set(error, KI_ERR_KEY, "the object has no metadata.name");
    }
    if (ki__key_has_slash(ki_str_from(name)) || ki__key_has_slash(ki__object_namespace(object))) {
        return ki__error_set(error, KI_ERR_KEY,
                             "object '%s'/'%s': namespace and name must not contain '/'",
                             ki_object_namespace(object), name);
    }
    return 0;
}

/* Stores an object without transformation; its key was checked, `hash` is that of it. *ret_old is
 * the replaced object, or NULL. */
static int put(ki_txn *txn, const ki_object *object, uint32_t hash, uint32_t *ret_id,
               const ki_object **ret_old, ki_error *error)
{
    ki_object *packed = NULL;
    subject both = {.given = object, .stored = object};
    uint32_t id = ki__version_find(txn->next, hash, ki__object_key(object));
    bool known = id != KI__TABLE_NONE && ki__vec_get(&txn->next->objects, id).ptr == object;
    int r;
    if (txn->store->packer != NULL && !known) {
        r = ki__packer_pack(txn->store->packer, object, &packed, error);
        if (r < 0) {
            return r;
        }
        both.stored = packed;
    }
    txn->apart = both.stored != object;
    if (id == KI__TABLE_NONE) {
        *ret_old = NULL;
        r = insert(txn, both, hash, ret_id, error);
    } else {
        *ret_id = id;
        r = overwrite(txn, both, id, ret_old, error);
    }
    (void)ki_object_unref(packed);
    return r;
}

/* Replaces the object at `id` by another form of it. Owns `form`, which may be NULL: no memory. */
static int exchange_form(ki_txn *txn, const ki_object *object, uint32_t id, ki_object *form)
{
    ki__slot *slot = NULL;
    int r = form != NULL ? ki__vec_touch(&txn->edit, &txn->next->objects, id, &slot) : -ENOMEM;
    r = r < 0 ? r : ki__edit_reserve(&txn->edit);
    if (r < 0) {
        (void)ki_object_unref(form);
        return r;
    }
    txn->next->object_bytes += ki__object_footprint(form) - ki__object_footprint(object);
    /* Garbage in any case: notes of this transaction may refer to it, also if no version had it. */
    ki__edit_discard(&txn->edit, (void *)(uintptr_t)object, id, ki__object_footprint(object));
    slot->ptr = form;
    return 0;
}

int ki__txn_close(ki_txn *txn, const ki_object *object)
{
    ki_str key = ki__object_key(object);
    uint32_t id = ki__version_find(txn->next, ki__key_hash(txn->store, key), key);
    if (id == KI__TABLE_NONE || ki__vec_get(&txn->next->objects, id).ptr != object) {
        return 0;
    }
    return exchange_form(txn, object, id, ki__packed_copy(object));
}

int ki__txn_pack(ki_txn *txn, const ki_object *object, uint32_t id, ki_error *error)
{
    ki_object *packed = NULL;
    int r = ki__packer_pack(txn->store->packer, object, &packed, error);
    if (r < 0 || packed == object) {
        (void)ki_object_unref(packed);
        return r;
    }
    r = exchange_form(txn, object, id, packed);
    return r < 0 ? ki__error_code(error, r) : 1;
}

int ki__txn_exchange(ki_txn *txn, const ki_object *object, uint32_t hash, const ki_object **ret_old,
                     ki_error *error)
{
    uint32_t id;
    return put(txn, object, hash, &id, ret_old, error);
}

int ki__txn_take(ki_txn *txn, ki_str key, const ki_object **ret_old, ki_error *error)
{
    uint32_t id = ki__version_find(txn->next, ki__key_hash(txn->store, key), key);
    if (id == KI__TABLE_NONE) {
        return 0;
    }
    *ret_old = ki__vec_get(&txn->next->objects, id).ptr;
    int r = ki__txn_remove(txn, id, error);
    return r < 0 ? r : 1;
}

int ki__txn_put(ki_txn *txn, const ki_object *object, uint32_t *ret_id, ki_error *error)
{
    const ki_object *old;
    if (txn->store->transform == NULL) {
        int r = ki__txn_check_key(object, error);
        if (r < 0) {
            return r;
        }
        uint32_t hash = ki__key_hash(txn->store, ki__object_key(object));
        return put(txn, object, hash, ret_id, &old, error);
    }
    ki_object *made = NULL;
    int r = txn->store->transform(object, &made, txn->store->transform_user);
    if (r < 0) {
        return ki__error_set(error, r, "transform failed for object %s: %s", ki_object_key(object),
                             ki_error_text(r));
    }
    if (made == NULL) {
        return ki__error_set(error, KI_ERR_INVALID, "transform returned no object for %s",
                             ki_object_key(object));
    }
    r = ki__txn_check_key(made, error);
    if (r >= 0) {
        uint32_t hash = ki__key_hash(txn->store, ki__object_key(made));
        r = put(txn, made, hash, ret_id, &old, error);
    }
    (void)ki_object_unref(made);
    return r;
}

int ki__txn_remove(ki_txn *txn, uint32_t id, ki_error *error)
{
    ki_snapshot *next = txn->next;
    ki__slot *slot;
    int r = ki__vec_touch(&txn->edit, &next->objects, id, &slot);
    if (r < 0) {
        return ki__error_code(error, r);
    }
    const ki_object *object = slot->ptr;
    uint32_t hash = ki__key_hash(txn->store, ki__object_key(object));
    r = ki__table_touch(&txn->edit, &next->keys, hash);
    if (r >= 0) {
        r = ki__ids_reserve(&txn->store->ids, 1);
    }
    if (r < 0) {
        return ki__error_code(error, r);
    }
    r = prepare_indexes(txn, object, NULL, id, error);
    if (r < 0) {
        return r;
    }
    r = ki__edit_reserve(&txn->edit);
    if (r < 0) {
        return ki__error_code(error, r);
    }
    next->object_bytes -= ki__object_footprint(object);
    release_object(txn, object, id); /* before the reserved garbage space is used otherwise */
    slot->ptr = NULL;
    finish_indexes(txn, id);
    ki__table_remove(&txn->edit, &next->keys, hash, id);
    ki__vec_prune(&txn->edit, &next->objects, id);
    ki__ids_release(&txn->store->ids, id);
    return 0;
}

int ki__txn_index(ki_txn *txn, size_t index, const ki_object *object, uint32_t id, ki_error *error)
{
    ki__index_writer *writer = &txn->store->writers[index];
    int r = ki__index_values_of(&writer->new_values, txn->next->indexes[index].def, object, error);
    if (r < 0) {
        return r;
    }
    writer->old_values.count = 0;
    writer->added = 0;
    r = prepare_index(txn, writer, &txn->next->indexes[index].state, id);
    return r < 0 ? ki__error_code(error, r) : 0;
}

int ki_txn_add(ki_txn *txn, const ki_object *object, ki_error *error)
{
    KI__REQUIRE(txn, error);
    KI__REQUIRE(object, error);
    if (txn->preparing) {
        return ki__error_code(error, KI_ERR_BUSY);
    }
    const char *resource_version = ki_object_resource_version(object);
    char *memory;
    int r = prepare_text(txn, resource_version, &memory, error);
    if (r < 0) {
        return r;
    }
    /* With a transform function the object may be the replaced one, without any other reference. */
    ki_object *held = txn->store->transform != NULL ? ki_object_ref(object) : NULL;
    uint32_t id;
    r = ki__txn_put(txn, object, &id, error);
    if (r < 0) {
        ki__free(txn->store->alloc, memory);
    } else if (resource_version[0] != '\0') {
        set_text(txn, resource_version, memory);
    }
    (void)ki_object_unref(held);
    return r;
}

int ki_txn_delete(ki_txn *txn, ki_str key, const char *resource_version, ki_error *error)
{
    KI__REQUIRE(txn, error);
    if (txn->preparing) {
        return ki__error_code(error, KI_ERR_BUSY);
    }
    char *memory = NULL;
    int r = resource_version != NULL ? prepare_text(txn, resource_version, &memory, error) : 0;
    if (r < 0) {
        return r;
    }
    uint32_t id = ki__version_find(txn->next, ki__key_hash(txn->store, key), key);
    ki_object *held = NULL; /* `resource_version` may point into the object */
    if (id != KI__TABLE_NONE) {
        held = ki_object_ref(ki__vec_get(&txn->next->objects, id).ptr);
        r = ki__txn_remove(txn, id, error);
    }
    if (r < 0) {
        ki__free(txn->store->alloc, memory);
    } else if (resource_version != NULL) {
        set_text(txn, resource_version, memory);
    }
    (void)ki_object_unref(held);
    return r < 0 ? r : id != KI__TABLE_NONE;
}
