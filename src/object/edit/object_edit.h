/* SPDX-License-Identifier: Apache-2.0 */
/* An edit: a tree of the object's JSON that is changed in place, and the text of what was set. */
#ifndef KI_OBJECT_EDIT_OBJECT_EDIT_H
#define KI_OBJECT_EDIT_OBJECT_EDIT_H

#include <kinformer/edit.h>

#include "object/edit/json_out.h"
#include "object/edit/json_tree.h"

struct ki_edit {
    const ki_clock *clock;            /* may be NULL */
    ki_object_options object_options; /* of results, defaults filled in */
    bool lock_version;                /* the option */
    ki_object *origin;                /* what it started from, as JSON */
    ki__tree tree;                    /* its scalars are views of `origin` and of the pieces */
    uint32_t root;
    struct ki__object_edit_piece *pieces; /* text of what was set; it does not move */
    size_t piece_bytes;
    ki_buf text;    /* JSON under construction */
    ki_error error; /* the first failure; its code is 0 before */
};

/** Whether changes are to be made: there is an edit, and none has failed. */
static inline bool ki__object_edit_is_open(const ki_edit *edit)
{
    return edit != NULL && edit->error.code == 0;
}

/** Records a failure without words of its own; others are ignored. False if it is one. */
bool ki__object_edit_accept(ki_edit *edit, int r);

/** Begins JSON text in the edit, for ki__object_edit_take(). */
ki__out ki__object_edit_text(ki_edit *edit);

/** Makes a node of the text, which must be valid JSON. KI__TREE_NONE if that failed. */
uint32_t ki__object_edit_take(ki_edit *edit, const ki__out *out);

/** A node that is a string. KI__TREE_NONE if that failed. */
uint32_t ki__object_edit_string(ki_edit *edit, ki_str text);

/** The container below the root at a path of two names, a map or a list. KI__TREE_NONE if it is
 *  missing and not to be created, or that failed. */
uint32_t ki__object_edit_container(ki_edit *edit, const char *const names[2], ki_type type,
                                   bool create);

/** Sets a member of a map to a node, or takes it out if that is none. */
void ki__object_edit_set_member(ki_edit *edit, uint32_t map, ki_str name, uint32_t node);

/** Takes all elements that are this string out of a list. */
void ki__object_edit_remove_strings(ki_edit *edit, uint32_t list, ki_str text);

/** Whether a node is this string. */
bool ki__object_edit_is_string(const ki_edit *edit, uint32_t node, ki_str text);

#endif
