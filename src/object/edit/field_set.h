/* SPDX-License-Identifier: Apache-2.0 */
/* Field sets, as in managedFields: the paths of an object that a manager owns. A path is a sequence
 * of elements, spelled as in FieldsV1 ("f:spec", "k:{\"name\":\"web\"}", "v:\"a\"", "i:3"),
 * separated by a byte that is invalid in UTF-8. In sort order a path comes directly before all
 * paths below it. So a set is a sorted array, and no operation recurses. */
#ifndef KI_OBJECT_EDIT_FIELD_SET_H
#define KI_OBJECT_EDIT_FIELD_SET_H

#include <kinformer/alloc.h>
#include <kinformer/buf.h>
#include <kinformer/error.h>
#include <kinformer/value.h>

#include "base/shared.h"
#include "object/edit/json_out.h"

enum {
    KI__FIELD_SEPARATOR = 0xff,
    KI__FIELD_KEYS_MAX = 16, /* per element */
    /* Maximum elements of a path. A set nests as deep, inside five more maps and lists of an
     * object, whose maximum depth is 128. */
    KI__FIELD_DEPTH_MAX = 128 - 5,
};
#define KI__FIELD_TEXT_MAX ((size_t)64 << 20)
#define KI__FIELD_PATHS_MAX ((size_t)1 << 20)

/** Storage for the text of paths. Allocated in chunks, so that text never moves. */
typedef struct ki__field_text {
    const ki_alloc *alloc;
    struct ki__field_piece *pieces;
    size_t left;  /* free bytes in the first chunk */
    size_t bytes; /* total of all paths */
} ki__field_text;

KI__SHARED void ki__field_text_init(ki__field_text *text, const ki_alloc *alloc);
KI__SHARED void ki__field_text_done(ki__field_text *text);
/** Copies a path. Errors: KI_ERR_LIMIT too much text; -ENOMEM. */
int ki__field_text_add(ki__field_text *text, ki_str path, ki_str *ret_path);

/** Compares in the order of sets; result as for memcmp(). */
int ki__field_path_compare(ki_str a, ki_str b);

/** Whether `path` is `above` or below it. */
KI__SHARED bool ki__field_path_is_in(ki_str path, ki_str above);

/** Appends a path in readable form: .spec.containers[name="web"].image */
KI__SHARED void ki__field_path_write(ki_str path, ki__out *out);

/** A set. Its paths are views of text that must outlive it. Empty if zeroed except for `alloc`. */
typedef struct ki__field_set {
    const ki_alloc *alloc;
    ki_str *paths; /* sorted, unique */
    size_t count;
    size_t cap;
} ki__field_set;

KI__SHARED void ki__field_set_init(ki__field_set *set, const ki_alloc *alloc);
KI__SHARED void ki__field_set_done(ki__field_set *set);

/** Adds a path. Errors: KI_ERR_LIMIT, -ENOMEM. Fast if it sorts after all others. */
int ki__field_set_add(ki__field_set *set, ki_str path);
/** Adds all paths of another set. Errors: KI_ERR_LIMIT, -ENOMEM; the set is then unchanged. */
KI__SHARED int ki__field_set_unite(ki__field_set *set, const ki__field_set *other);
/** Removes the paths that are in another set. */
KI__SHARED void ki__field_set_subtract(ki__field_set *set, const ki__field_set *other);

KI__SHARED bool ki__field_set_has(const ki__field_set *set, ki_str path);
/** Whether the set has a path below `path`. */
bool ki__field_set_has_below(const ki__field_set *set, ki_str path);

/** Parses FieldsV1 into an empty set.
 *  Errors: KI_ERR_INVALID  not FieldsV1;  KI_ERR_LIMIT, -ENOMEM. */
KI__SHARED int ki__field_set_read(ki__field_set *set, const ki_value *fields, ki__field_text *text);

/** Appends a set as FieldsV1. */
KI__SHARED void ki__field_set_write(const ki__field_set *set, ki__out *out);

#endif
