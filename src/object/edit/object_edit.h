/* SPDX-License-Identifier: Apache-2.0 */
/* An edit: a mutable tree of the object's JSON, and the text of the values that were set. */
#ifndef KI_OBJECT_EDIT_OBJECT_EDIT_H
#define KI_OBJECT_EDIT_OBJECT_EDIT_H

#include <kinformer/edit.h>

#include "object/edit/json_out.h"
#include "object/edit/json_tree.h"

struct ki_edit {
    const ki_clock *clock;            /* may be NULL */
    ki_object_options object_options; /* for results, with defaults filled in */
    bool lock_version;                /* the option */
    ki_object *origin;                /* original object, as JSON */
    ki__tree tree;                    /* its scalars are views of `origin` and `pieces` */
    uint32_t root;
    struct ki__object_edit_piece *pieces; /* text of values that were set; never moves */
    size_t piece_bytes;
    ki_buf text;    /* JSON under construction */
    ki_error error; /* first error; code 0 if none */
};

/** Whether edits have an effect: `edit` is not NULL and has not failed. */
static inline bool ki__object_edit_is_open(const ki_edit *edit)
{
    return edit != NULL && edit->error.code == 0;
}

/** Records the first error, with its generic text. Returns false if `r` is an error. */
bool ki__object_edit_accept(ki_edit *edit, int r);

/** Starts JSON text in the edit, for ki__object_edit_take(). */
ki__out ki__object_edit_text(ki_edit *edit);

/** Creates a node from the text, which must be valid JSON. KI__TREE_NONE on failure. */
uint32_t ki__object_edit_take(ki_edit *edit, const ki__out *out);

/** Creates a string node. KI__TREE_NONE on failure. */
uint32_t ki__object_edit_string(ki_edit *edit, ki_str text);

/** The map or list at a path of two names. KI__TREE_NONE on failure, or if missing and not
 *  `create`. */
uint32_t ki__object_edit_container(ki_edit *edit, const char *const names[2], ki_type type,
                                   bool create);

/** Sets a member of a map to a node, or removes it if the node is none. */
void ki__object_edit_set_member(ki_edit *edit, uint32_t map, ki_str name, uint32_t node);

/** Removes all elements equal to this string from a list. */
void ki__object_edit_remove_strings(ki_edit *edit, uint32_t list, ki_str text);

/** Whether a node is this string. */
bool ki__object_edit_is_string(const ki_edit *edit, uint32_t node, ki_str text);

#endif
