/* SPDX-License-Identifier: Apache-2.0 */
/* The structural schema of a custom resource, compiled into nodes when the definition is written,
 * so that its JSON is not traversed for each object. Nodes refer to each other by number; 0 is
 * none. */
#ifndef KI_APISERVER_VALIDATE_STRUCTURAL_H
#define KI_APISERVER_VALIDATE_STRUCTURAL_H

#include <kinformer/alloc.h>
#include <kinformer/object.h>
#include <kinformer/value.h>

#include "apiserver/validate/pattern.h"

enum { KI__STRUCTURAL_NODES_MAX = 1 << 16, KI__STRUCTURAL_ROOT = 1 };

/** Types, by bit. */
enum {
    KI__STRUCTURAL_OBJECT = 1,
    KI__STRUCTURAL_ARRAY = 2,
    KI__STRUCTURAL_STRING = 4,
    KI__STRUCTURAL_INTEGER = 8,
    KI__STRUCTURAL_NUMBER = 16,
    KI__STRUCTURAL_BOOLEAN = 32,
    KI__STRUCTURAL_UNKNOWN = 64, /* an unknown type */
};

/** additionalProperties. */
typedef enum ki__structural_more {
    KI__STRUCTURAL_MORE_UNSAID,
    KI__STRUCTURAL_MORE_FORBIDDEN,
    KI__STRUCTURAL_MORE_ALLOWED, /* validated by a schema, if there is one */
} ki__structural_more;

typedef enum ki__structural_list {
    KI__STRUCTURAL_ATOMIC,
    KI__STRUCTURAL_SET,
    KI__STRUCTURAL_MAP,
} ki__structural_list;

typedef enum ki__structural_branch {
    KI__STRUCTURAL_ANY_OF,
    KI__STRUCTURAL_ONE_OF,
    KI__STRUCTURAL_ALL_OF,
    KI__STRUCTURAL_BRANCHES
} ki__structural_branch;

/** Relation of a node to its parent. */
typedef enum ki__structural_place {
    KI__STRUCTURAL_AT_ROOT,
    KI__STRUCTURAL_AT_PROPERTY,
    KI__STRUCTURAL_AT_MORE,
    KI__STRUCTURAL_AT_ITEMS,
    KI__STRUCTURAL_AT_LOGIC, /* one of allOf, anyOf, oneOf, not */
} ki__structural_place;

/** A numeric limit of a schema. */
typedef struct ki__structural_bound {
    bool set;
    bool exclusive;
    double number;
    int64_t integer; /* truncated to an integer */
    ki_str text;     /* as written in the schema */
} ki__structural_bound;

/** A name in the schema: a property, a required name, or both. */
typedef struct ki__structural_property {
    ki_str name;
    uint32_t node;     /* 0: required only */
    uint32_t required; /* its number among the required names, from 1; 0: optional */
} ki__structural_property;

typedef struct ki__structural_node {
    ki_value source; /* the schema as JSON, inside the definition */
    uint32_t parent;
    ki__structural_place place;
    bool below_logic;   /* the node or an ancestor is KI__STRUCTURAL_AT_LOGIC */
    unsigned int types; /* 0: any */
    bool nullable;
    bool int_or_string;
    bool preserve; /* preserves unknown fields */
    bool embedded; /* an embedded object with its own metadata */
    bool unique;
    ki__structural_list list;
    ki__structural_more more;
    ki__structural_bound minimum;
    ki__structural_bound maximum;
    ki__structural_bound multiple_of;
    int64_t min_length; /* these are -1 if absent */
    int64_t max_length;
    int64_t min_items;
    int64_t max_items;
    int64_t min_properties;
    int64_t max_properties;
    ki_value default_value; /* KI_TYPE_NONE if absent; likewise below */
    ki_value enumeration;
    ki_value keys; /* merge keys of a list of type map */
    ki__pattern *pattern;
    ki_str pattern_text;
    ki__pattern_fault pattern_fault;
    ki_str format;   /* "" if unsupported */
    size_t property; /* index of the first in `properties` */
    size_t property_count;
    uint32_t required_count;
    uint32_t items;
    uint32_t more_node;
    uint32_t not_node;
    struct {
        size_t first; /* index of the first in `branches` */
        size_t count;
    } branch[KI__STRUCTURAL_BRANCHES];
} ki__structural_node;

typedef struct ki__structural {
    const ki_alloc *alloc;
    ki_object *definition; /* contains the values */
    ki__structural_node *nodes;
    size_t count;
    size_t cap;
    ki__structural_property *properties;
    size_t property_count;
    size_t property_cap;
    uint32_t *branches;
    size_t branch_count;
    size_t branch_cap;
    char **texts; /* decoded strings whose JSON has escapes */
    size_t text_count;
    size_t text_cap;
    bool has_rules;     /* x-kubernetes-validations, which are not enforced */
    bool has_unmatched; /* has unsupported patterns, which are not enforced */
} ki__structural;

/** Compiles a schema, which is part of `definition`; takes a reference to it. An invalid pattern is
 *  recorded in its node.
 *  Errors: KI_ERR_LIMIT  too large;  -ENOMEM. */
int ki__structural_new(ki_object *definition, const ki_value *schema, const ki_alloc *alloc,
                       ki__structural **ret_schema);

/** Always returns NULL; NULL is allowed. */
ki__structural *ki__structural_free(ki__structural *schema);

/** Looks up a name in a node; NULL if it is unknown. */
const ki__structural_property *ki__structural_find(const ki__structural *schema, uint32_t node,
                                                   ki_str name);

/** The schema of a member: its property, or additionalProperties. 0: none. */
uint32_t ki__structural_member(const ki__structural *schema, uint32_t node, ki_str name);

#endif
