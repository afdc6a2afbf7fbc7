/* SPDX-License-Identifier: Apache-2.0 */
/* A mutable JSON tree: nodes in one array with parent links, so that every traversal is a loop.
 * Scalars are views of the original values, which must outlive the tree. */
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
    uint32_t prev; /* siblings */
    uint32_t next;
    uint32_t first; /* children */
    uint32_t last;
    size_t name; /* members: decoded name, as offset in `names` and length */
    size_t name_len;
    ki_str text; /* scalars: the JSON text; otherwise the source text from its start on */
} ki__tree_node;

typedef struct ki__tree {
    const ki_alloc *alloc;
    ki__tree_node *nodes; /* index 0 is KI__TREE_NONE */
    size_t count;
    size_t cap;
    ki_buf names;
    uint32_t steps; /* remaining search steps: bounds the time for any input */
} ki__tree;

KI__SHARED void ki__tree_init(ki__tree *tree, const ki_alloc *alloc);
KI__SHARED void ki__tree_done(ki__tree *tree);

static inline ki__tree_node *ki__tree_at(const ki__tree *tree, uint32_t node)
{
    return &tree->nodes[node];
}

/** The name of a member, valid until another one is added. */
KI__SHARED ki_str ki__tree_name(const ki__tree *tree, uint32_t node);

/* Functions that add nodes may return KI_ERR_LIMIT or -ENOMEM. Removed nodes are not reused. */

/** Copies a value into a node without a parent. */
KI__SHARED int ki__tree_add(ki__tree *tree, const ki_value *value, uint32_t *ret_node);
/** Copies a node and its descendants. */
KI__SHARED int ki__tree_copy(ki__tree *tree, uint32_t node, uint32_t *ret_node);
/** Likewise, without the children that `keep` rejects. `keep` must not add nodes. */
typedef bool (*ki__tree_keep)(ki__tree *tree, uint32_t child, const void *user);
int ki__tree_copy_if(ki__tree *tree, uint32_t node, ki__tree_keep keep, const void *user,
                     uint32_t *ret_node);
/** An empty map or list. */
KI__SHARED int ki__tree_new(ki__tree *tree, ki_type type, uint32_t *ret_node);

/** The next sibling, or none; also none if no steps are left. */
static inline uint32_t ki__tree_next(ki__tree *tree, uint32_t node)
{
    tree->steps -= tree->steps != 0 ? 1 : 0;
    return tree->steps != 0 ? tree->nodes[node].next : (uint32_t)KI__TREE_NONE;
}

/** Whether all steps are used up: results since then are meaningless. */
static inline bool ki__tree_is_spent(const ki__tree *tree)
{
    return tree->steps == 0;
}

/** The member of a map, or none; also none if it is not a map. */
KI__SHARED uint32_t ki__tree_get(ki__tree *tree, uint32_t map, ki_str name);
/** Sets a member of a map to a node, replacing the member of that name or appending it. */
KI__SHARED int ki__tree_set(ki__tree *tree, uint32_t map, ki_str name, uint32_t node);
/** Inserts a node into a list before another; none: at the end. */
KI__SHARED void ki__tree_insert(ki__tree *tree, uint32_t list, uint32_t before, uint32_t node);
/** Removes a node from its parent. */
KI__SHARED void ki__tree_remove(ki__tree *tree, uint32_t node);

/** The source value of a node: later changes below it are not visible. Not for nodes created with
 *  ki__tree_new(). */
static inline ki_value ki__tree_value(const ki__tree *tree, uint32_t node)
{
    ki_str text = tree->nodes[node].text;
    return ki__json_value_at(text.ptr, text.ptr + text.len);
}

/** Whether a node is this string. */
bool ki__tree_is_text(const ki__tree *tree, uint32_t node, ki_str text);
/** Whether a node is a number that Go decodes as an int64. */
bool ki__tree_is_integer(const ki__tree *tree, uint32_t node);
/** Whether two scalars are equal, regardless of spelling. An integer never equals a number with a
 *  fraction or an exponent. */
bool ki__tree_same_scalar(const ki__tree *tree, uint32_t a, uint32_t b);

/** Appends a node as JSON. */
KI__SHARED int ki__tree_write(const ki__tree *tree, uint32_t node, ki_buf *buf);

#endif
