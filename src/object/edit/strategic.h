/* SPDX-License-Identifier: Apache-2.0 */
/* Interface between the two parts of strategic merge patches: maps and directives
 * (strategic_merge.c), and merged lists (strategic_list.c). */
#ifndef KI_OBJECT_EDIT_STRATEGIC_H
#define KI_OBJECT_EDIT_STRATEGIC_H

#include <kinformer/error.h>

#include "object/edit/json_tree.h"
#include "object/proto/schema.h"

/* A map, and the patch to merge into it. */
typedef struct ki__strategic_pair {
    uint32_t map;
    uint32_t patch;
    const ki__schema_message *type; /* NULL: not a message, or one with another form in JSON */
} ki__strategic_pair;

typedef struct ki__strategic {
    ki__tree tree;
    const ki_alloc *alloc;
    ki__strategic_pair *work; /* queue of pairs; those from `done` on are pending */
    size_t done;
    size_t count;
    size_t cap;
    ki_error *error;
} ki__strategic;

/* Properties of a list in a patch. */
typedef struct ki__strategic_list {
    const ki__schema_message *type; /* of its elements */
    ki_str key;                     /* merge key; empty: elements are scalars */
    bool merges;                    /* false: the list is replaced */
} ki__strategic_list;

/** What ki__strategic_copy() omits in addition to directives, which never stay in an object. */
typedef enum ki__strategic_drop {
    KI__STRATEGIC_DROP_NOTHING = 0,
    KI__STRATEGIC_DROP_MARKED = 1, /* maps with $patch */
    KI__STRATEGIC_DROP_NULLS = 2,  /* members that are null; a null $patch is not a directive */
} ki__strategic_drop;

/** Rejects the patch because of one of its nodes. Always returns KI_ERR_INVALID. */
int ki__strategic_refuse(ki__strategic *s, uint32_t node, const char *why);

/** Adds a pair to the queue. */
int ki__strategic_push(ki__strategic *s, uint32_t map, uint32_t patch,
                       const ki__schema_message *type);

/** Copies a node of the patch. *ret_copy is none if the node itself is omitted. */
int ki__strategic_copy(ki__strategic *s, uint32_t node, unsigned drop, uint32_t *ret_copy);

/** Merges a list of the patch into a list; with `deletes`, removes its scalars instead. */
int ki__strategic_merge_list(ki__strategic *s, uint32_t list, uint32_t patch,
                             const ki__strategic_list *about, bool deletes);

/** Merges the patch's list `patch` into the member `field` of a map and sorts the result by
 *  `order`; either list may be missing (none). */
int ki__strategic_order_list(ki__strategic *s, uint32_t map, ki_str field, uint32_t patch,
                             uint32_t order, const ki__strategic_list *about);

#endif
