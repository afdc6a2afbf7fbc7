/* SPDX-License-Identifier: Apache-2.0 */
/* An object laid out as its paths: each value that somebody can own, in the order of field sets.
 * What is merged as a whole is one of them; what only the server writes is none. */
#ifndef KI_OBJECT_EDIT_FIELD_LAYOUT_H
#define KI_OBJECT_EDIT_FIELD_LAYOUT_H

#include "base/shared.h"
#include "object/edit/field_set.h"
#include "object/edit/json_tree.h"
#include "object/edit/merge_type.h"

enum { KI__LAYOUT_NONE = UINT32_MAX };

typedef enum ki__layout_flag {
    KI__LAYOUT_WHOLE = 1,   /* nothing below it is laid out: a scalar, or merged as a whole */
    KI__LAYOUT_EMPTY = 2,   /* a map or a list with nothing in it, which is not merged as a whole */
    KI__LAYOUT_NAMED = 4,   /* a field that the kind has, not an element or an entry */
    KI__LAYOUT_SHOWN = 8,   /* Go would show it if it were not there */
    KI__LAYOUT_LIST = 16,   /* a list */
    KI__LAYOUT_PRESENT = 32 /* after a comparison: the other side has it, if only as Go shows it */
} ki__layout_flag;

typedef struct ki__layout_item {
    ki_str path;
    uint32_t node;
    uint32_t parent; /* index of what it is in; KI__LAYOUT_NONE: the object itself */
    uint32_t flags;
} ki__layout_item;

typedef struct ki__layout {
    const ki_alloc *alloc;
    ki__layout_item *items; /* in the order of their paths, each once */
    size_t count;
    size_t cap;
} ki__layout;

/** Lays an object out. `strict`: what is applied, where each element must be told apart, and null
 *  is a value. The paths are in `text`, which outlives the layout, as does the tree.
 *  Errors: KI_ERR_INVALID  an element without keys, or one that is there twice, if strict: *ret_bad
 *          is the path;  KI_ERR_LIMIT, -ENOMEM. The layout must be released in each case. */
KI__SHARED int ki__layout_init(ki__layout *layout, ki__tree *tree, uint32_t root,
                               const ki__merge_type *type, bool strict, ki__field_text *text,
                               ki_str *ret_bad);
KI__SHARED void ki__layout_done(ki__layout *layout);

/** Appends the element that tells one of a list apart: "k:{...}" or "v:...". 1, or 0 if it has
 *  none.
 *  Errors: KI_ERR_LIMIT, -ENOMEM. */
int ki__layout_add_element(ki__tree *tree, uint32_t node, const ki__merge_type *list, ki_buf *buf);

/** What has to be owned of an object that is applied. */
KI__SHARED int ki__layout_to_set(const ki__layout *layout, ki__field_set *set);

/** What is new or other in `now`, and what is only in `old`; both sets are empty before. */
KI__SHARED int ki__layout_compare(ki__layout *old, ki__layout *now, const ki__tree *tree,
                                  ki__field_set *changed, ki__field_set *removed);

#endif
