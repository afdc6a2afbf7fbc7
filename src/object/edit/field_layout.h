/* SPDX-License-Identifier: Apache-2.0 */
/* The paths of an object: each value that can have an owner, in the order of field sets. An atomic
 * value is one item; fields written only by the server are omitted. */
#ifndef KI_OBJECT_EDIT_FIELD_LAYOUT_H
#define KI_OBJECT_EDIT_FIELD_LAYOUT_H

#include "base/shared.h"
#include "object/edit/field_set.h"
#include "object/edit/json_tree.h"
#include "object/edit/merge_type.h"

enum { KI__LAYOUT_NONE = UINT32_MAX };

typedef enum ki__layout_flag {
    KI__LAYOUT_WHOLE = 1,   /* no items below it: a scalar, or atomic */
    KI__LAYOUT_EMPTY = 2,   /* an empty map or list that is not atomic */
    KI__LAYOUT_NAMED = 4,   /* a field defined by the kind, not a list element or map entry */
    KI__LAYOUT_SHOWN = 8,   /* Go includes it in JSON even if unset */
    KI__LAYOUT_LIST = 16,   /* a list */
    KI__LAYOUT_PRESENT = 32 /* after a comparison: on the other side too, if only as a zero value */
} ki__layout_flag;

typedef struct ki__layout_item {
    ki_str path;
    uint32_t node;
    uint32_t parent; /* index of the parent; KI__LAYOUT_NONE: the object itself */
    uint32_t flags;
} ki__layout_item;

typedef struct ki__layout {
    const ki_alloc *alloc;
    ki__layout_item *items; /* sorted by path, unique */
    size_t count;
    size_t cap;
} ki__layout;

/** Computes the layout of an object. `strict` is for applied configurations: every list element
 *  must have a unique key, and null is a value. The paths are stored in `text`; it and the tree
 *  must outlive the layout.
 *  Errors: KI_ERR_INVALID  strict: a list element without keys or a duplicate, at path *ret_bad;
 *          KI_ERR_LIMIT, -ENOMEM. The layout must be released in each case. */
KI__SHARED int ki__layout_init(ki__layout *layout, ki__tree *tree, uint32_t root,
                               const ki__merge_type *type, bool strict, ki__field_text *text,
                               ki_str *ret_bad);
KI__SHARED void ki__layout_done(ki__layout *layout);

/** Appends the path element of a list element: "k:{...}" or "v:...". 1, or 0 if it has none.
 *  Errors: KI_ERR_LIMIT, -ENOMEM. */
int ki__layout_add_element(ki__tree *tree, uint32_t node, const ki__merge_type *list, ki_buf *buf);

/** The set of fields to own for an applied object. */
KI__SHARED int ki__layout_to_set(const ki__layout *layout, ki__field_set *set);

/** Fields added or changed in `now`, and fields only in `old`; both sets must be empty. */
KI__SHARED int ki__layout_compare(ki__layout *old, ki__layout *now, const ki__tree *tree,
                                  ki__field_set *changed, ki__field_set *removed);

#endif
