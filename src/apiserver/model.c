/* SPDX-License-Identifier: Apache-2.0 */
/* Objects and change log. A write first reserves all memory, then applies the change, so it is
 * atomic. */
#include "apiserver/model.h"

#include <errno.h>

#include <kinformer/encoding.h>
#include <kinformer/error.h>

#include "apiserver/verbs/garbage.h"
#include "base/alloc.h"
#include "base/assert.h"

#define HISTORY_MAX 65536
#define HISTORY_BYTES ((size_t)256 << 20)
#define OBJECTS_MAX ((size_t)1 << 20)
#define OBJECT_BYTES_MAX ((size_t)3 << 20)
#define OBJECT_BYTES_LIMIT ((size_t)64 << 20)

int ki__api_model_new(const ki__api_model_options *options, ki__api_model **ret_model)
{
    if (options == NULL || options->clock == NULL || options->random == NULL) {
        return -EINVAL;
    }
    const ki_alloc *alloc = ki__alloc_or_default(options->alloc);
    ki__api_model *model = ki__alloc_zero(alloc, sizeof(*model));
    if (model == NULL) {
        return -ENOMEM;
    }
    model->alloc = alloc;
    model->clock = options->clock;
    model->random = options->random;
    model->options = *options;
    ki__api_model_options *own = &model->options;
    own->history_max = own->history_max != 0 ? own->history_max : HISTORY_MAX;
    own->history_bytes = own->history_bytes != 0 ? own->history_bytes : HISTORY_BYTES;
    own->objects_max = own->objects_max != 0 ? own->objects_max : OBJECTS_MAX;
    own->object_bytes_max = own->object_bytes_max != 0 ? own->object_bytes_max : OBJECT_BYTES_MAX;
    if (own->object_bytes_max > OBJECT_BYTES_LIMIT) {
        own->object_bytes_max = OBJECT_BYTES_LIMIT;
    }
    model->head = own->first_version != 0 ? own->first_version : 1;
    model->floor = model->head;
    model->compacted = model->head;
    ki__list_init(&model->readers);
    if (own->collects_garbage && ki__garbage_new(alloc, model->random, &model->garbage) < 0) {
        ki__free(alloc, model);
        return -ENOMEM;
    }
    *ret_model = model;
    return 0;
}

static void free_key(const ki_alloc *alloc, ki__api_key *key)
{
    for (size_t i = 0; i < key->count; i++) {
        ki_object_unref(key->versions[i].object);
    }
    ki__free(alloc, key->versions);
    ki__free(alloc, key);
}

static void free_entry(ki__api_entry *entry)
{
    ki_object_unref(entry->object);
    ki_object_unref(entry->before);
}

ki__api_model *ki__api_model_free(ki__api_model *model)
{
    if (model == NULL) {
        return NULL;
    }
    ki_assert(ki__list_is_empty(&model->readers));
    for (size_t i = 0; i < model->count; i++) {
        free_entry(&model->entries[model->first + i]);
    }
    for (size_t i = 0; i < model->type_count; i++) {
        ki__api_type *type = model->types[i];
        for (size_t j = 0; j < type->count; j++) {
            free_key(model->alloc, type->keys[j]);
        }
        ki__free(model->alloc, type->keys);
        ki_object_unref(type->definition);
        ki__structural_free(type->schema);
        ki_resource_unref(type->resource);
        ki__free(model->alloc, type);
    }
    ki__garbage_free(model->garbage);
    ki__free(model->alloc, model->types);
    ki__free(model->alloc, model->entries);
    ki__free(model->alloc, model);
    return NULL;
}

/* ---- reading ---- */

size_t ki__api_model_find(const ki__api_type *type, ki_str key, bool *ret_exact)
{
    size_t low = 0;
    size_t high = type->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ki_str_cmp(ki__api_key_text(type->keys[middle]), key) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *ret_exact = low < type->count && ki_str_eq(ki__api_key_text(type->keys[low]), key);
    return low;
}

ki_object *ki__api_key_at(const ki__api_key *key, uint64_t rv)
{
    size_t low = 0;
    size_t high = key->count;
    while (low < high) { /* number of versions up to rv */
        size_t middle = low + (high - low) / 2;
        if (key->versions[middle].rv <= rv) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low != 0 ? key->versions[low - 1].object : NULL;
}

ki_object *ki__api_model_get(const ki__api_type *type, ki_str key, uint64_t rv)
{
    bool exact;
    size_t i = ki__api_model_find(type, key, &exact);
    return exact ? ki__api_key_at(type->keys[i], rv) : NULL;
}

uint64_t ki__api_model_after(const ki__api_model *model, uint64_t rv)
{
    size_t low = 0;
    size_t high = model->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (model->entries[model->first + middle].rv <= rv) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return model->sequence + low;
}

const ki__api_entry *ki__api_model_entry(const ki__api_model *model, uint64_t sequence)
{
    ki_assert(sequence >= model->sequence);
    uint64_t i = sequence - model->sequence;
    return i < model->count ? &model->entries[model->first + (size_t)i] : NULL;
}

/* ---- compaction ---- */

static void remove_key(const ki__api_model *model, ki__api_key *key)
{
    bool exact;
    ki__api_type *type = key->type;
    size_t at = ki__api_model_find(type, ki__api_key_text(key), &exact);
    ki_assert(exact);
    type->count--;
    memmove(type->keys + at, type->keys + at + 1, (type->count - at) * sizeof(*type->keys));
    free_key(model->alloc, key);
}

/* Drops versions of a key older than `rv`, and the one at `rv` if it is a deletion. */
static void trim_key(const ki__api_model *model, ki__api_key *key, uint64_t rv)
{
    size_t drop = 0;
    while (drop < key->count && key->versions[drop].rv < rv) {
        drop++;
    }
    if (drop < key->count && key->versions[drop].rv == rv && key->versions[drop].object == NULL) {
        drop++;
    }
    for (size_t i = 0; i < drop; i++) {
        ki_object_unref(key->versions[i].object);
    }
    key->count -= drop;
    memmove(key->versions, key->versions + drop, key->count * sizeof(*key->versions));
    if (key->count == 0) {
        remove_key(model, key);
    }
}

static uint64_t lowest_needed(const ki__api_model *model)
{
    uint64_t lowest = model->compacted;
    KI__LIST_FOR_EACH (link, &model->readers) {
        const ki__api_reader *reader = KI__CONTAINER_OF(link, const ki__api_reader, link);
        lowest = reader->applied < lowest ? reader->applied : lowest;
    }
    return lowest;
}

/* The history limit takes precedence over lagging servers: they are advanced. */
static void push_readers(ki__api_model *model)
{
    KI__LIST_FOR_EACH (link, &model->readers) {
        ki__api_reader *reader = KI__CONTAINER_OF(link, ki__api_reader, link);
        uint64_t least = reader->follows ? model->head : model->compacted;
        reader->applied = reader->applied < least ? least : reader->applied;
    }
}

/* Number of oldest changes beyond the limits. */
static size_t count_excess(const ki__api_model *model)
{
    size_t excess = 0;
    size_t bytes = model->bytes;
    while (model->count - excess > model->options.history_max ||
           bytes > model->options.history_bytes) {
        bytes -= ki_object_memory(model->entries[model->first + excess].object);
        excess++;
    }
    return excess;
}

/* Drops versions that no allowed request can need. */
static void trim(ki__api_model *model)
{
    KI__LIST_FOR_EACH (link, &model->readers) {
        ki__api_reader *reader = KI__CONTAINER_OF(link, ki__api_reader, link);
        reader->applied = reader->follows ? model->head : reader->applied;
    }
    size_t excess = count_excess(model);
    if (excess != 0) {
        uint64_t rv = model->entries[model->first + excess - 1].rv;
        model->compacted = model->compacted < rv ? rv : model->compacted;
        push_readers(model);
    }
    model->floor = lowest_needed(model);
    while (model->count != 0 && model->entries[model->first].rv <= model->floor) {
        ki__api_entry *entry = &model->entries[model->first];
        trim_key(model, entry->key, entry->rv);
        model->bytes -= ki_object_memory(entry->object);
        free_entry(entry);
        model->first++;
        model->count--;
        model->sequence++;
    }
}

/* ---- writing ---- */

static int reserve_entry(ki__api_model *model)
{
    if (model->first + model->count < model->cap) {
        return 0;
    }
    if (model->first >
        model->count) { /* more than half of the array is unused space before the first entry */
        memmove(model->entries, model->entries + model->first,
                model->count * sizeof(*model->entries));
        model->first = 0;
        return 0;
    }
    void *entries = model->entries;
    int r = ki__array_reserve(model->alloc, &entries, &model->cap, model->first + model->count + 1,
                              sizeof(*model->entries));
    model->entries = entries;
    return r;
}

static int reserve_version(const ki__api_model *model, ki__api_key *key)
{
    void *versions = key->versions;
    int r = ki__array_reserve(model->alloc, &versions, &key->cap, key->count + 1,
                              sizeof(*key->versions));
    key->versions = versions;
    return r;
}

/* Creates a key with space for its first version; not yet added to a type. */
static int new_key(const ki__api_model *model, ki__api_type *type, ki_str text,
                   ki__api_key **ret_key)
{
    ki__api_key *key = ki__alloc_zero(model->alloc, sizeof(*key) + text.len + 1);
    if (key == NULL) {
        return -ENOMEM;
    }
    key->type = type;
    key->len = text.len;
    memcpy(key->text, text.ptr, text.len);
    int r = reserve_version(model, key);
    if (r == 0) {
        void *keys = type->keys;
        r = ki__array_reserve(model->alloc, &keys, &type->cap, type->count + 1,
                              sizeof(*type->keys));
        type->keys = keys;
    }
    if (r < 0) {
        free_key(model->alloc, key);
        return r;
    }
    *ret_key = key;
    return 0;
}

static void insert_key(ki__api_type *type, size_t at, ki__api_key *key)
{
    memmove(type->keys + at + 1, type->keys + at, (type->count - at) * sizeof(*type->keys));
    type->keys[at] = key;
    type->count++;
}

static void notify(const ki__api_model *model)
{
    if (model->on_change != NULL) {
        model->on_change(model->on_change_user);
    }
}

static void append(ki__api_model *model, ki__api_key *key, ki__api_change change, ki_object *object)
{
    ki_object *before = key->count != 0 ? key->versions[key->count - 1].object : NULL;
    ki_assert((before == NULL) == (change == KI__API_ADDED));
    model->head++;
    model->bytes += ki_object_memory(object);
    model->entries[model->first + model->count++] = (ki__api_entry){
        .rv = model->head,
        .key = key,
        .change = change,
        .object = ki_object_ref(object),
        .before = ki_object_ref(before),
    };
    key->versions[key->count++] = (ki__api_version){
        .rv = model->head,
        .object = change != KI__API_DELETED ? ki_object_ref(object) : NULL,
    };
    model->objects += change == KI__API_ADDED ? 1 : 0;
    model->objects -= change == KI__API_DELETED ? 1 : 0;
}

int ki__api_model_write(ki__api_model *model, ki__api_type *type, ki_str key_text,
                        ki__api_change change, ki_object *object)
{
    if (change == KI__API_ADDED && model->objects >= model->options.objects_max) {
        return KI_ERR_LIMIT;
    }
    bool exact;
    size_t at = ki__api_model_find(type, key_text, &exact);
    ki__api_key *key = exact ? type->keys[at] : NULL;
    int r = reserve_entry(model);
    if (r == 0) {
        r = exact ? reserve_version(model, key) : new_key(model, type, key_text, &key);
    }
    if (r < 0) {
        return r;
    }
    bool deleted = change == KI__API_DELETED;
    ki_object *before = key->count != 0 ? key->versions[key->count - 1].object : NULL;
    r = ki__garbage_prepare(model->garbage, key, before, deleted ? NULL : object);
    if (r < 0) {
        if (!exact) {
            free_key(model->alloc, key);
        }
        return r;
    }
    if (!exact) {
        insert_key(type, at, key);
    }
    append(model, key, change, object);
    ki__garbage_commit(model->garbage, key, before, object, deleted);
    trim(model);
    notify(model);
    return 0;
}

void ki__api_model_skip(ki__api_model *model, uint64_t versions)
{
    model->head += versions;
    trim(model);
    notify(model);
}

/* ---- advance and restore ---- */

void ki__api_model_compact(ki__api_model *model, uint64_t rv)
{
    rv = rv < model->head ? rv : model->head;
    model->compacted = model->compacted < rv ? rv : model->compacted;
    trim(model);
}

static void pop_entry(ki__api_model *model)
{
    ki__api_entry *entry = &model->entries[model->first + --model->count];
    ki__api_key *key = entry->key;
    ki_assert(key->versions[key->count - 1].rv == entry->rv);
    model->objects -= entry->change == KI__API_ADDED ? 1 : 0;
    model->objects += entry->change == KI__API_DELETED ? 1 : 0;
    ki_object_unref(key->versions[--key->count].object);
    if (key->count == 0) {
        remove_key(model, key);
    }
    model->bytes -= ki_object_memory(entry->object);
    free_entry(entry);
}

int ki__api_model_restore(ki__api_model *model, uint64_t rv)
{
    if (rv < model->floor || rv > model->head) {
        return KI_ERR_RANGE;
    }
    while (model->count != 0 && model->entries[model->first + model->count - 1].rv > rv) {
        pop_entry(model);
    }
    ki__garbage_reset(model->garbage);
    model->head = rv;
    model->compacted = model->compacted < rv ? model->compacted : rv;
    model->epoch++;
    KI__LIST_FOR_EACH (link, &model->readers) {
        ki__api_reader *reader = KI__CONTAINER_OF(link, ki__api_reader, link);
        reader->applied = reader->applied < rv ? reader->applied : rv;
    }
    trim(model);
    notify(model);
    return 0;
}

void ki__api_model_advance(ki__api_model *model, ki__api_reader *reader, uint64_t rv)
{
    rv = rv < model->head ? rv : model->head;
    if (rv > reader->applied) {
        reader->applied = rv;
        trim(model);
        notify(model);
    }
}
