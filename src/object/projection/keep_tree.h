/* SPDX-License-Identifier: Apache-2.0 */
/* A compiled projection: a tree with a node for every place of which a part is kept. Places that
 * are kept entirely have no node (NULL); places that are not kept have the node ki__keep_none. The
 * decoders and all readers use this tree only. */
#ifndef KI_OBJECT_PROJECTION_KEEP_TREE_H
#define KI_OBJECT_PROJECTION_KEEP_TREE_H

#include <kinformer/projection.h>
#include <kinformer/str.h>

#include "base/refs.h"
#include "base/shared.h"

enum {
    KI__KEEP_DEPTH_MAX = 16,  /* steps of a path */
    KI__KEEP_PATHS_MAX = 256, /* including those that are always kept */
    KI__KEEP_NODES_MAX = 4096,
};

typedef struct ki__keep_node ki__keep_node;

typedef struct ki__keep_child {
    ki_str name;
    const ki__keep_node *node;
    uint16_t schema_name; /* offset in ki__schema_names; 0 if it is the name of no field */
} ki__keep_child;

struct ki__keep_node {
    const ki__keep_child *children;
    uint32_t count;
    bool misses;               /* a member of a map may be missing */
    const ki__keep_node *rest; /* of members without a child, and of list elements */
};

/** The node of everything that is not kept. */
extern const ki__keep_node ki__keep_none;

struct ki_projection {
    ki__refs refs;
    const ki_alloc *alloc;
    const ki__keep_node *root; /* NULL: everything is kept */
    const ki__keep_node *metadata;
    const ki__keep_node *labels;
    bool is_reduction;    /* made by ki__projection_new_metadata() */
    ki__keep_node *nodes; /* the arrays that the tree consists of */
    ki__keep_child *children;
    char *names;
};

/** The projection that keeps the metadata which is kept without being named, as far as `keep` and
 *  `drop`, which were used for another projection, keep it. Errors as ki_projection_new(). */
int ki__projection_new_metadata(const char *keep, const char *drop, const ki_alloc *alloc,
                                ki_projection **ret_projection, ki_error *error);

/** The node of a member of a partly kept map. */
static inline const ki__keep_node *ki__keep_member(const ki__keep_node *node, ki_str name)
{
    for (uint32_t i = 0; i < node->count; i++) {
        if (ki_str_eq(node->children[i].name, name)) {
            return node->children[i].node;
        }
    }
    return node->rest;
}

/** The same, by the name of a field in the schema tables. */
static inline const ki__keep_node *ki__keep_field(const ki__keep_node *node, uint16_t schema_name)
{
    for (uint32_t i = 0; i < node->count; i++) {
        if (node->children[i].schema_name == schema_name) {
            return node->children[i].node;
        }
    }
    return node->rest;
}

/** The node of member `name` of a place that may be kept entirely, or not at all. */
static inline const ki__keep_node *ki__keep_step(const ki__keep_node *node, const char *name)
{
    return node == NULL || node == &ki__keep_none ? node : ki__keep_member(node, ki_str_from(name));
}

/** Writes what is kept of a JSON text to `out`, which holds `text.len` bytes. The result has
 *  no blanks outside of what is kept entirely. 0, or the code if the text is not valid JSON. */
int ki__json_project(ki_str text, uint32_t max_depth, const ki__keep_node *node, char *out,
                     size_t *ret_len);

#endif
