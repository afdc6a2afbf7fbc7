/* SPDX-License-Identifier: Apache-2.0 */
/* Indexes: their definitions, the values of one object, and the versioned state of one index, which
 * is a table from values to postings. */
#ifndef KI_CACHE_STORE_INDEX_H
#define KI_CACHE_STORE_INDEX_H

#include <kinformer/buf.h>
#include <kinformer/store.h>

#include "base/hash.h"
#include "base/refs.h"
#include "cache/store/hash_table.h"
#include "cache/store/ids.h"
#include "cache/store/posting.h"

/** The definition of an index, shared by the versions that have it. */
typedef struct ki__index_def {
    ki__refs refs;
    const ki_alloc *alloc;
    ki_index index; /* its name lies behind the struct */
    bool of_key;    /* the values follow from the key alone: an update does not change them */
} ki__index_def;

/** Whether the values that the index gives follow from the key alone. */
bool ki__index_is_of_key(const ki_index *index);

/** A copy of `index`, which the definition takes over only once ki__index_def_adopt() was called.
 */
ki__index_def *ki__index_def_new(const ki_alloc *alloc, const ki_index *index);
/** From now on the last reference runs index.destroy. */
void ki__index_def_adopt(ki__index_def *def, const ki_index *index);
ki__index_def *ki__index_def_ref(ki__index_def *def);
void ki__index_def_unref(ki__index_def *def);

/** One value in `bytes` of a ki_index_values. */
typedef struct ki__index_value {
    uint32_t hash;
    uint32_t offset;
    uint32_t len;
    ki_str text; /* set by ki__index_values_of() once all bytes are there */
} ki__index_value;

/** The values that an index function gave for one object: sorted, each once. */
struct ki_index_values {
    ki_buf bytes;
    ki__index_value *values;
    size_t count;
    size_t cap;
    ki__hash_key hash_key;
    int failed; /* the first error of ki_index_values_add(), in case the function ignores it */
};

void ki__index_values_init(ki_index_values *values, const ki_alloc *alloc, ki__hash_key hash_key);
void ki__index_values_done(ki_index_values *values);

/** Makes `values` those of `object`; none for NULL. KI_ERR_INDEX_FUNCTION, KI_ERR_LIMIT or -ENOMEM,
 *  with details in `error`. */
int ki__index_values_of(ki_index_values *values, const ki__index_def *def, const ki_object *object,
                        ki_error *error);

/** The order of values: by hash, then by bytes. */
int ki__index_value_compare(const ki__index_value *a, const ki__index_value *b);

/** One index in one version. */
typedef struct ki__index_state {
    ki__table values; /* from the hash of a value to its number */
    ki__vec postings; /* from the number of a value to its posting */
} ki__index_state;

/** The posting of a value; NULL if no object has it. */
const ki__posting *ki__index_find(const ki__index_state *state, uint32_t hash, ki_str value);

/** Puts an object under a value: 1 if it was not there, 0 if it was, or an error with everything as
 * it was. `ids` are the numbers of this index's values. */
int ki__index_add(ki__edit *edit, ki__index_state *state, ki__ids *ids,
                  const ki__index_value *value, uint32_t id);

/** Prepares ki__index_remove(), so that it cannot fail. */
int ki__index_touch(ki__edit *edit, ki__index_state *state, const ki__index_value *value,
                    uint32_t id);

/** Takes an object away from a value it was added to, or that was touched for it, in this edit. */
void ki__index_remove(ki__edit *edit, ki__index_state *state, ki__ids *ids,
                      const ki__index_value *value, uint32_t id);

/** Frees all of it that was born at or after `birth`. */
void ki__index_free(const ki_alloc *alloc, const ki__index_state *state, uint64_t birth);

#endif
