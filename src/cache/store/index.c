/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: every posting in the state has at least one id; values without objects are removed. */
#include "cache/store/index.h"

#include <errno.h>
#include <string.h>

#include <kinformer/index.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"
#include "base/sort.h"
#include "object/object.h"

/* VALUES_MAX limits the total size of an object's values, and also their number: they may be
 * empty. */
enum { VALUE_MAX = 64 * 1024, VALUES_MAX = 1024 * 1024 };

ki__index_def *ki__index_def_new(const ki_alloc *alloc, const ki_index *index)
{
    size_t name_size = strlen(index->name) + 1;
    ki__index_def *def = ki__alloc(alloc, sizeof(*def) + name_size);
    if (def == NULL) {
        return NULL;
    }
    char *name = memcpy(def + 1, index->name, name_size);
    ki__refs_init(&def->refs);
    def->alloc = alloc;
    def->index = *index; /* a copy: see ki_store_add_indexes() */
    def->index.name = name;
    def->index.destroy = NULL; /* until it is adopted */
    def->of_key = ki__index_is_of_key(index);
    def->of_metadata = ki__index_is_of_metadata(index);
    return def;
}

void ki__index_def_adopt(ki__index_def *def, const ki_index *index)
{
    def->index.destroy = index->destroy;
}

ki__index_def *ki__index_def_ref(ki__index_def *def)
{
    ki__refs_take(&def->refs);
    return def;
}

void ki__index_def_unref(ki__index_def *def)
{
    if (def == NULL || !ki__refs_drop(&def->refs)) {
        return;
    }
    if (def->index.destroy != NULL) {
        def->index.destroy(def->index.user);
    }
    ki__free(def->alloc, def);
}

void ki__index_values_init(ki_index_values *values, const ki_alloc *alloc, ki__hash_key hash_key)
{
    *values = (ki_index_values){.hash_key = hash_key};
    ki_buf_init(&values->bytes, alloc, VALUES_MAX);
}

void ki__index_values_done(ki_index_values *values)
{
    ki__free(values->bytes.alloc, values->values);
    values->values = NULL;
    values->cap = 0;
    ki_buf_done(&values->bytes);
}

static int values_add(ki_index_values *values, ki_str value)
{
    if (value.len > VALUE_MAX || values->count == VALUES_MAX) {
        return KI_ERR_LIMIT;
    }
    void *block = values->values;
    int r = ki__array_reserve(values->bytes.alloc, &block, &values->cap, values->count + 1,
                              sizeof(*values->values));
    values->values = block;
    if (r < 0) {
        return r;
    }
    size_t offset = values->bytes.len;
    r = ki_buf_add_str(&values->bytes, value);
    if (r < 0) {
        return r;
    }
    values->values[values->count++] = (ki__index_value){
        .hash = (uint32_t)ki__hash_str(values->hash_key, value),
        .offset = (uint32_t)offset,
        .len = (uint32_t)value.len,
    };
    return 0;
}

int ki_index_values_add(ki_index_values *values, ki_str value)
{
    KI__REQUIRE(values, NULL);
    int r = values_add(values, value);
    if (r < 0 && values->failed == 0) {
        values->failed = r;
    }
    return r;
}

int ki__index_value_compare(const ki__index_value *a, const ki__index_value *b)
{
    if (a->hash != b->hash) {
        return a->hash < b->hash ? -1 : 1;
    }
    return ki_str_cmp(a->text, b->text);
}

static int compare_values(const void *a, const void *b)
{
    return ki__index_value_compare(a, b);
}

/* Sorts the values and removes duplicates. */
static void normalize(ki_index_values *values)
{
    for (size_t i = 0; i < values->count; i++) {
        ki__index_value *value = &values->values[i];
        value->text = ki_str_make(values->bytes.data + value->offset, value->len);
    }
    if (values->count < 2) {
        return;
    }
    ki__sort(values->values, values->count, sizeof(values->values[0]), compare_values);
    size_t kept = 1;
    for (size_t i = 1; i < values->count; i++) {
        if (compare_values(&values->values[i], &values->values[kept - 1]) != 0) {
            values->values[kept++] = values->values[i];
        }
    }
    values->count = kept;
}

int ki__index_values_of(ki_index_values *values, const ki__index_def *def, const ki_object *object,
                        ki_error *error)
{
    ki_buf_clear(&values->bytes);
    values->count = 0;
    values->failed = 0;
    if (object == NULL) {
        return 0;
    }
    int r = def->index.values(object, values, def->index.user);
    if (values->failed < 0) {
        return ki__error_set(error, values->failed, "index %s, object %s: %s", def->index.name,
                             ki_object_key(object), ki_error_text(values->failed));
    }
    if (r < 0 && r != -ENOMEM && r != KI_ERR_LIMIT && ki__object_is_reduced(object)) {
        values->count = 0; /* the function cannot know that there is less of the object */
        r = 0;
    }
    if (r < 0) {
        return ki__error_set(error, r == -ENOMEM || r == KI_ERR_LIMIT ? r : KI_ERR_INDEX_FUNCTION,
                             "index %s failed for object %s: %s", def->index.name,
                             ki_object_key(object), ki_error_text(r));
    }
    normalize(values);
    return 0;
}

static bool value_equals(const void *context, uint32_t id, ki_str key)
{
    const ki__index_state *state = context;
    const ki__posting *posting = ki__vec_get(&state->postings, id).ptr;
    ki_assert(posting != NULL);
    return ki_str_eq(ki__posting_value(posting), key);
}

static uint32_t find_number(const ki__index_state *state, uint32_t hash, ki_str value)
{
    return ki__table_find(&state->values, hash, value, value_equals, state);
}

const ki__posting *ki__index_find(const ki__index_state *state, uint32_t hash, ki_str value)
{
    uint32_t number = find_number(state, hash, value);
    return number != KI__TABLE_NONE ? ki__vec_get(&state->postings, number).ptr : NULL;
}

/* Adds a posting for a new value. */
static int add_value(ki__edit *edit, ki__index_state *state, ki__ids *ids,
                     const ki__index_value *value, uint32_t id)
{
    uint32_t number;
    int r = ki__ids_take(ids, &number);
    if (r < 0) {
        return r;
    }
    ki__slot *slot;
    ki__posting *posting = ki__posting_new(edit, value->text, value->hash);
    r = posting != NULL ? ki__posting_add(edit, &posting, id) : -ENOMEM;
    if (r >= 0) {
        r = ki__vec_touch(edit, &state->postings, number, &slot);
    }
    if (r >= 0) {
        r = ki__table_insert(edit, &state->values, value->hash, number);
    }
    if (r < 0) {
        if (posting != NULL) {
            ki__posting_drop(edit, posting);
        }
        ki__ids_untake(ids, number);
        return r;
    }
    slot->ptr = posting;
    return 1;
}

int ki__index_add(ki__edit *edit, ki__index_state *state, ki__ids *ids,
                  const ki__index_value *value, uint32_t id)
{
    uint32_t number = find_number(state, value->hash, value->text);
    if (number == KI__TABLE_NONE) {
        return add_value(edit, state, ids, value, id);
    }
    ki__slot *slot;
    int r = ki__vec_touch(edit, &state->postings, number, &slot);
    if (r < 0) {
        return r;
    }
    ki__posting *posting = slot->ptr;
    r = ki__posting_add(edit, &posting, id);
    slot->ptr = posting;
    return r;
}

int ki__index_touch(ki__edit *edit, ki__index_state *state, const ki__index_value *value,
                    uint32_t id)
{
    uint32_t number = find_number(state, value->hash, value->text);
    if (number == KI__TABLE_NONE) {
        return 0;
    }
    ki__slot *slot;
    int r = ki__vec_touch(edit, &state->postings, number, &slot);
    if (r < 0) {
        return r;
    }
    ki__posting *posting = slot->ptr;
    r = ki__posting_touch(edit, &posting, id);
    slot->ptr = posting;
    return r < 0 ? r : ki__table_touch(edit, &state->values, value->hash);
}

void ki__index_remove(ki__edit *edit, ki__index_state *state, ki__ids *ids,
                      const ki__index_value *value, uint32_t id)
{
    uint32_t number = find_number(state, value->hash, value->text);
    if (number == KI__TABLE_NONE) {
        return; /* the index function is not deterministic: nothing to remove */
    }
    ki__slot *slot = ki__vec_touched(edit, &state->postings, number);
    ki__posting *posting = slot->ptr;
    ki__posting_remove(edit, posting, id);
    if (posting->count != 0) {
        return;
    }
    ki__table_remove(edit, &state->values, value->hash, number);
    ki__posting_drop(edit, posting);
    slot->ptr = NULL;
    ki__vec_prune(edit, &state->postings, number);
    ki__ids_release(ids, number);
}

struct free_context {
    const ki_alloc *alloc;
    uint64_t birth;
};

static void free_posting(ki__slot slot, uint32_t id, void *user)
{
    (void)id;
    const struct free_context *context = user;
    ki__posting_free(context->alloc, slot.ptr, context->birth);
}

void ki__index_free(const ki_alloc *alloc, const ki__index_state *state, uint64_t birth)
{
    struct free_context context = {alloc, birth};
    ki__table_free(alloc, &state->values, birth);
    (void)ki__vec_free(alloc, &state->postings, birth, free_posting, &context);
}
