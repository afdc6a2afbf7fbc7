/* SPDX-License-Identifier: Apache-2.0 */
/* Parses one YAML document to a tree of nodes in an array, for configuration files and objects:
 * core schema, no tags, anchors, aliases or merge keys, no duplicate keys, only scalar keys. JSON
 * is a subset. */
#ifndef KI_CLIENT_CONFIG_YAML_READER_H
#define KI_CLIENT_CONFIG_YAML_READER_H

#include <kinformer/alloc.h>
#include <kinformer/error.h>
#include <kinformer/str.h>

#include "base/secret.h"

enum {
    KI__YAML_DEPTH_MAX = 128,   /* upper limit: as deep as JSON objects */
    KI__YAML_CONFIG_DEPTH = 32, /* for configuration files */
    KI__YAML_NODES_MAX = 256 * 1024,
    KI__YAML_NONE = 0 /* null node number */
};

typedef enum ki__yaml_kind {
    KI__YAML_SCALAR,
    KI__YAML_SEQUENCE, /* its children are the items */
    KI__YAML_MAPPING   /* its children are a key, its value, a key, ... */
} ki__yaml_kind;

/** Type of a scalar by the core schema. */
typedef enum ki__yaml_type {
    KI__YAML_NULL,
    KI__YAML_BOOL,
    KI__YAML_INT,
    KI__YAML_FLOAT,
    KI__YAML_STRING
} ki__yaml_type;

typedef struct ki__yaml_node {
    ki_str text; /* of a scalar; NUL-terminated, in `secrets` */
    uint32_t line;
    uint32_t column;
    uint32_t child; /* first child, or none */
    uint32_t next;  /* next sibling, or none */
    uint32_t count; /* number of children */
    ki__yaml_kind kind;
    bool quoted; /* a string regardless of its content */
} ki__yaml_node;

typedef struct ki__yaml {
    ki__yaml_node *nodes; /* number 0 is unused */
    size_t count;
    size_t cap;
    uint32_t root; /* none if there is no document */
    const ki_alloc *alloc;
    ki__secrets secrets; /* the text of all scalars */
} ki__yaml;

/** Parses a text with at most `max_depth` nested mappings and sequences, which is at most
 *  KI__YAML_DEPTH_MAX. The result is complete or empty; release it with ki__yaml_done() on success.
 *  The error message has no location; line, column and offset do. */
int ki__yaml_read(ki_str text, size_t max_depth, const ki_alloc *alloc, ki__yaml *ret_yaml,
                  ki_error *error);

void ki__yaml_done(ki__yaml *yaml);

static inline const ki__yaml_node *ki__yaml_at(const ki__yaml *yaml, uint32_t node)
{
    return &yaml->nodes[node];
}

/** The type of a scalar. */
ki__yaml_type ki__yaml_type_of(const ki__yaml_node *scalar);

/** Whether a node is a null scalar. */
bool ki__yaml_is_null(const ki__yaml_node *node);

/** Whether a scalar of type bool is true. */
bool ki__yaml_is_true(const ki__yaml_node *scalar);

/** The value of a key, or none: also if `node` is none or not a mapping. */
uint32_t ki__yaml_get(const ki__yaml *yaml, uint32_t node, const char *key);

#endif
