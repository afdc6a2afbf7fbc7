/* SPDX-License-Identifier: Apache-2.0 */
/* The structural schema of a custom resource, read once into nodes: what looking into its JSON for
 * each object would cost is paid when the definition is written. Nodes refer to each other by
 * number; 0 is none. */
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
    KI__STRUCTURAL_UNKNOWN = 64, /* a type that there is not */
};

/** What may stand beside the properties. */
typedef enum ki__structural_more {
    KI__STRUCTURAL_MORE_UNSAID,
    KI__STRUCTURAL_MORE_FORBIDDEN,
    KI__STRUCTURAL_MORE_ALLOWED, /* by a schema, if there is one */
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

/** What a node is to the one above it. */
typedef enum ki__structural_place {
    KI__STRUCTURAL_AT_ROOT,
    KI__STRUCTURAL_AT_PROPERTY,
    KI__STRUCTURAL_AT_MORE,
    KI__STRUCTURAL_AT_ITEMS,
    KI__STRUCTURAL_AT_LOGIC, /* one of allOf, anyOf, oneOf, or not */
} ki__structural_place;

/** A limit that a schema may set. */
typedef struct ki__structural_bound {
    bool set;
    bool exclusive;
    double number;
    int64_t integer; /* cut to it */
    ki_str text;     /* as the schema has it */
} ki__structural_bound;

/** A name that the schema knows: a property, a name that is required, or both. */
typedef struct ki__structural_property {
    ki_str name;
    uint32_t node;     /* 0: it is required only */
    uint32_t required; /* its number among those that are, from 1 on; 0: it is not */
} ki__structural_property;

typedef struct ki__structural_node {
    ki_value source; /* the schema as JSON, in the definition */
    uint32_t parent;
    ki__structural_place place;
    bool below_logic;   /* it or one above it is at such a place */
    unsigned int types; /* 0: any */
    bool nullable;
    bool int_or_string;
    bool preserve; /* unknown fields */
    bool embedded; /* a whole object, with metadata of its own */
    bool unique;
    ki__structural_list list;
    ki__structural_more more;
    ki__structural_bound minimum;
    ki__structural_bound maximum;
    ki__structural_bound multiple_of;
    int64_t min_length; /* these are -1 if there is none */
    int64_t max_length;
    int64_t min_items;
    int64_t max_items;
    int64_t min_properties;
    int64_t max_properties;
    ki_value default_value; /* of KI_TYPE_NONE: none; so for the others */
    ki_value enumeration;
    ki_value keys; /* of a list that is a map */
    ki__pattern *pattern;
    ki_str pattern_text;
    ki__pattern_fault pattern_fault;
    ki_str format;   /* "" if it is unknown here */
    size_t property; /* the first of `properties` */
    size_t property_count;
    uint32_t required_count;
    uint32_t items;
    uint32_t more_node;
    uint32_t not_node;
    struct {
        size_t first; /* of `branches` */
        size_t count;
    } branch[KI__STRUCTURAL_BRANCHES];
} ki__structural_node;

typedef struct ki__structural {
    const ki_alloc *alloc;
    ki_object *definition; /* what the values are in */
    ki__structural_node *nodes;
    size_t count;
    size_t cap;
    ki__structural_property *properties;
    size_t property_count;
    size_t property_cap;
    uint32_t *branches;
    size_t branch_count;
    size_t branch_cap;
    char **texts; /* decoded, where the JSON has escapes */
    size_t text_count;
    size_t text_cap;
    bool has_rules;     /* x-kubernetes-validations, which are not evaluated */
    bool has_unmatched; /* patterns that are not supported here, and so not enforced */
} ki__structural;

/** Reads a schema, which is in `definition`: a reference is taken.
 *  A pattern that is none is noted in its node.
 *  Errors: KI_ERR_LIMIT  too large;  -ENOMEM. */
int ki__structural_new(ki_object *definition, const ki_value *schema, const ki_alloc *alloc,
                       ki__structural **ret_schema);

/** Always NULL; NULL is allowed. */
ki__structural *ki__structural_free(ki__structural *schema);

/** What a node knows of a name; NULL: nothing. */
const ki__structural_property *ki__structural_find(const ki__structural *schema, uint32_t node,
                                                   ki_str name);

/** The schema of a member: of the property, or of what may stand beside them. 0: none. */
uint32_t ki__structural_member(const ki__structural *schema, uint32_t node, ki_str name);

#endif
