/* SPDX-License-Identifier: Apache-2.0 */
/* JSON that is changed in place: nodes in one array that know their parent, so that every walk is a
 * loop. Scalars are views of the values they were made of, which must outlive the tree. */
#ifndef KI_OBJECT_EDIT_JSON_TREE_H
#define KI_OBJECT_EDIT_JSON_TREE_H

#include <kinformer/alloc.h>
#include <kinformer/buf.h>
#include <kinformer/value.h>

#include "base/shared.h"
#include "object/json/json_value.h"

enum { KI__TREE_NONE = 0, KI__TREE_NODES_MAX = 1 << 20, KI__TREE_STEPS_MAX = 1 << 26 };

typedef struct ki__tree_node {
    ki_type type;
    uint32_t parent;
    uint32_t prev; /* before and after it in its parent */
    uint32_t next;
    uint32_t first; /* of its children */
    uint32_t last;
    size_t name; /* of a member, decoded: where in `names`, and how long */
    size_t name_len;
    ki_str
        text; /* of a scalar: its JSON; else where the JSON begins, and what is left from there */
} ki__tree_node;

typedef struct ki__tree {
    const ki_alloc *alloc;
    ki__tree_node *nodes; /* number 0 is none */
    size_t count;
    size_t cap;
    ki_buf names;
    uint32_t steps; /* that are left: looking for things costs them, so that no input takes long */
} ki__tree;

KI__SHARED void ki__tree_init(ki__tree *tree, const ki_alloc *alloc);
KI__SHARED void ki__tree_done(ki__tree *tree);

static inline ki__tree_node *ki__tree_at(const ki__tree *tree, uint32_t node)
{
    return &tree->nodes[node];
}

/** The name of a member, valid until the next one is added. */
KI__SHARED ki_str ki__tree_name(const ki__tree *tree, uint32_t node);

/* What follows that adds nodes: KI_ERR_LIMIT if there are too many; -ENOMEM. Nodes that are taken
 * out are not used again. */

/** Copies a value, which becomes a node in no parent. */
KI__SHARED int ki__tree_add(ki__tree *tree, const ki_value *value, uint32_t *ret_node);
/** Copies a node with all that is below it. */
KI__SHARED int ki__tree_copy(ki__tree *tree, uint32_t node, uint32_t *ret_node);
/** The same without children that `keep` refuses. `keep` must not add nodes. */
typedef bool (*ki__tree_keep)(ki__tree *tree, uint32_t child, const void *user);
int ki__tree_copy_if(ki__tree *tree, uint32_t node, ki__tree_keep keep, const void *user,
                     uint32_t *ret_node);
/** An empty map or list. */
KI__SHARED int ki__tree_new(ki__tree *tree, ki_type type, uint32_t *ret_node);

/** The next one after a node in its parent, or none: also if no steps are left. */
static inline uint32_t ki__tree_next(ki__tree *tree, uint32_t node)
{
    tree->steps -= tree->steps != 0 ? 1 : 0;
    return tree->steps != 0 ? tree->nodes[node].next : (uint32_t)KI__TREE_NONE;
}

/** Whether the steps were used up: whatever was done since is worth nothing. */
static inline bool ki__tree_is_spent(const ki__tree *tree)
{
    return tree->steps == 0;
}

/** The member of a map, or none: also if it is no map. */
KI__SHARED uint32_t ki__tree_get(ki__tree *tree, uint32_t map, ki_str name);
/** Puts a node into a map, in the place of the member of that name, or as the last one. */
KI__SHARED int ki__tree_set(ki__tree *tree, uint32_t map, ki_str name, uint32_t node);
/** Puts a node into a list before another; none: at the end. */
KI__SHARED void ki__tree_insert(ki__tree *tree, uint32_t list, uint32_t before, uint32_t node);
/** Takes a node out of its parent. */
KI__SHARED void ki__tree_remove(ki__tree *tree, uint32_t node);

/** What a node was made of: changes below it are not seen. Not for those of ki__tree_new(). */
static inline ki_value ki__tree_value(const ki__tree *tree, uint32_t node)
{
    ki_str text = tree->nodes[node].text;
    return ki__json_value_at(text.ptr, text.ptr + text.len);
}

/** Whether a node is the string. */
bool ki__tree_is_text(const ki__tree *tree, uint32_t node, ki_str text);
/** Whether a node is a number that Go reads as an int64. */
bool ki__tree_is_integer(const ki__tree *tree, uint32_t node);
/** Whether two scalars are the same, however they are spelt. An integer is never the same as a
 *  number with a fraction or an exponent. */
bool ki__tree_same_scalar(const ki__tree *tree, uint32_t a, uint32_t b);

/** Appends a node as JSON. */
KI__SHARED int ki__tree_write(const ki__tree *tree, uint32_t node, ki_buf *buf);

#endif
