/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of fields, as in managedFields: the paths of an object that a manager owns. A path is a
 * sequence of elements, spelt as in FieldsV1 ("f:spec", "k:{\"name\":\"web\"}", "v:\"a\"", "i:3"),
 * separated by a byte that is not valid in UTF-8. In their order a path comes before all that is
 * below it, and nothing else comes between. So a set is a sorted array, and no operation
 * recurses. */
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
    KI__FIELD_KEYS_MAX = 16, /* in one element */
    /* Elements of a path. A set nests as deep, and five more maps and lists are around it in an
     * object, of which there may be 128. */
    KI__FIELD_DEPTH_MAX = 128 - 5,
};
#define KI__FIELD_TEXT_MAX ((size_t)64 << 20)
#define KI__FIELD_PATHS_MAX ((size_t)1 << 20)

/** Where the text of paths is. It grows in pieces, so what is in it does not move. */
typedef struct ki__field_text {
    const ki_alloc *alloc;
    struct ki__field_piece *pieces;
    size_t left;  /* in the first piece */
    size_t bytes; /* of all paths */
} ki__field_text;

KI__SHARED void ki__field_text_init(ki__field_text *text, const ki_alloc *alloc);
KI__SHARED void ki__field_text_done(ki__field_text *text);
/** Copies a path.  Errors: KI_ERR_LIMIT  too much text;  -ENOMEM. */
int ki__field_text_add(ki__field_text *text, ki_str path, ki_str *ret_path);

/** Less than 0, 0 or more than 0, in the order of sets. */
int ki__field_path_compare(ki_str a, ki_str b);

/** Whether `path` is `above`, or is below it. */
KI__SHARED bool ki__field_path_is_in(ki_str path, ki_str above);

/** Appends a path as people read it: .spec.containers[name="web"].image */
KI__SHARED void ki__field_path_write(ki_str path, ki__out *out);

/** A set. Its paths are views of text that outlives it. Zeroed but for `alloc`, it is empty. */
typedef struct ki__field_set {
    const ki_alloc *alloc;
    ki_str *paths; /* in order, each once */
    size_t count;
    size_t cap;
} ki__field_set;

KI__SHARED void ki__field_set_init(ki__field_set *set, const ki_alloc *alloc);
KI__SHARED void ki__field_set_done(ki__field_set *set);

/** Adds a path.  Errors: KI_ERR_LIMIT, -ENOMEM. Fast if it comes after all others. */
int ki__field_set_add(ki__field_set *set, ki_str path);
/** Adds all of another set.  Errors: KI_ERR_LIMIT, -ENOMEM, with the set as it was. */
KI__SHARED int ki__field_set_unite(ki__field_set *set, const ki__field_set *other);
/** Takes away what is in another set. */
KI__SHARED void ki__field_set_subtract(ki__field_set *set, const ki__field_set *other);

KI__SHARED bool ki__field_set_has(const ki__field_set *set, ki_str path);
/** Whether there is something below a path. */
bool ki__field_set_has_below(const ki__field_set *set, ki_str path);

/** Reads FieldsV1 into an empty set.
 *  Errors: KI_ERR_INVALID  it is none;  KI_ERR_LIMIT, -ENOMEM. */
KI__SHARED int ki__field_set_read(ki__field_set *set, const ki_value *fields, ki__field_text *text);

/** Appends a set as FieldsV1. */
KI__SHARED void ki__field_set_write(const ki__field_set *set, ki__out *out);

#endif
