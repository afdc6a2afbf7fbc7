/* SPDX-License-Identifier: Apache-2.0 */
/* What both halves of strategic merge patches share: strategic_merge.c has maps and directives,
 * strategic_list.c the lists that are merged. */
#ifndef KI_OBJECT_EDIT_STRATEGIC_H
#define KI_OBJECT_EDIT_STRATEGIC_H

#include <kinformer/error.h>

#include "object/edit/json_tree.h"
#include "object/proto/schema.h"

/* A map, and the map of the patch that changes it. */
typedef struct ki__strategic_pair {
    uint32_t map;
    uint32_t patch;
    const ki__schema_message *type; /* NULL: not a message, or one that JSON shows otherwise */
} ki__strategic_pair;

typedef struct ki__strategic {
    ki__tree tree;
    const ki_alloc *alloc;
    ki__strategic_pair *work; /* those that are still to be merged, from `done` on */
    size_t done;
    size_t count;
    size_t cap;
    ki_error *error;
} ki__strategic;

/* What is known of a list that is merged. */
typedef struct ki__strategic_list {
    const ki__schema_message *type; /* of its elements */
    ki_str key;                     /* empty: elements are scalars */
    bool merges;                    /* false: the list is replaced */
} ki__strategic_list;

/** What ki__strategic_copy() leaves out besides directives, which never stay in an object. */
typedef enum ki__strategic_drop {
    KI__STRATEGIC_DROP_NOTHING = 0,
    KI__STRATEGIC_DROP_MARKED = 1, /* maps with $patch */
    KI__STRATEGIC_DROP_NULLS = 2,  /* members that are null; a $patch that is null is no mark */
} ki__strategic_drop;

/** Refuses the patch because of a node of it. Always returns KI_ERR_INVALID. */
int ki__strategic_refuse(ki__strategic *s, uint32_t node, const char *why);

/** Adds a pair to the work. */
int ki__strategic_push(ki__strategic *s, uint32_t map, uint32_t patch,
                       const ki__schema_message *type);

/** Copies a node of the patch. *ret_copy is none if the node itself is left out. */
int ki__strategic_copy(ki__strategic *s, uint32_t node, unsigned drop, uint32_t *ret_copy);

/** Merges a list of the patch into a list. With `deletes` its scalars are removed instead. */
int ki__strategic_merge_list(ki__strategic *s, uint32_t list, uint32_t patch,
                             const ki__strategic_list *about, bool deletes);

/** Merges a list of the patch into the member `field` of a map, and brings it into an order; either
 *  list may be missing. The list of the patch is `patch`, or none. */
int ki__strategic_order_list(ki__strategic *s, uint32_t map, ki_str field, uint32_t patch,
                             uint32_t order, const ki__strategic_list *about);

#endif
