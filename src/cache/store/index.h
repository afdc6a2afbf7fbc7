/* SPDX-License-Identifier: Apache-2.0 */
/* Indexes: their definitions, the values of one object, and the versioned state of one index, a
 * table from values to postings. */
#ifndef KI_CACHE_STORE_INDEX_H
#define KI_CACHE_STORE_INDEX_H

#include <kinformer/buf.h>
#include <kinformer/index.h>
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
    ki_index index;   /* its name follows the struct */
    bool of_key;      /* the values depend only on the key: an update does not change them */
    bool of_metadata; /* and on what packed objects have in plain form */
} ki__index_def;

/** Whether the values of the index depend only on the key. */
bool ki__index_is_of_key(const ki_index *index);
/** Whether they depend only on the key and on labels. */
bool ki__index_is_of_metadata(const ki_index *index);

/** A copy of `index`; takes ownership only with ki__index_def_adopt(). */
ki__index_def *ki__index_def_new(const ki_alloc *alloc, const ki_index *index);
/** From now on dropping the last reference calls index.destroy. */
void ki__index_def_adopt(ki__index_def *def, const ki_index *index);
ki__index_def *ki__index_def_ref(ki__index_def *def);
void ki__index_def_unref(ki__index_def *def);

/** One value in `bytes` of a ki_index_values. */
typedef struct ki__index_value {
    uint32_t hash;
    uint32_t offset;
    uint32_t len;
    ki_str text; /* set by ki__index_values_of() once all bytes are complete */
} ki__index_value;

/** The values of an index function for one object: sorted, without duplicates. */
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

/** Computes the values of `object`; none for NULL. KI_ERR_INDEX_FUNCTION, KI_ERR_LIMIT or -ENOMEM,
 *  with details in `error`. */
int ki__index_values_of(ki_index_values *values, const ki__index_def *def, const ki_object *object,
                        ki_error *error);

/** Order of values: by hash, then by bytes. */
int ki__index_value_compare(const ki__index_value *a, const ki__index_value *b);

/** One index in one version. */
typedef struct ki__index_state {
    ki__table values; /* from the hash of a value to its id */
    ki__vec postings; /* from the id of a value to its posting */
} ki__index_state;

/** The posting of a value; NULL if no object has it. */
const ki__posting *ki__index_find(const ki__index_state *state, uint32_t hash, ki_str value);

/** Adds an object to a value: 1 if it is new, 0 if it was there, or an error without effect. `ids`
 *  are the ids of this index's values. */
int ki__index_add(ki__edit *edit, ki__index_state *state, ki__ids *ids,
                  const ki__index_value *value, uint32_t id);

/** Prepares ki__index_remove(), so that it cannot fail. */
int ki__index_touch(ki__edit *edit, ki__index_state *state, const ki__index_value *value,
                    uint32_t id);

/** Removes an object from a value that it was added to, or that was touched for it, in this
 *  edit. */
void ki__index_remove(ki__edit *edit, ki__index_state *state, ki__ids *ids,
                      const ki__index_value *value, uint32_t id);

/** Frees everything born at or after `birth`. */
void ki__index_free(const ki_alloc *alloc, const ki__index_state *state, uint64_t birth);

#endif
