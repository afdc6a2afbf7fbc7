/* SPDX-License-Identifier: Apache-2.0 */
/* A compiled field path: a graph of steps in one block of memory, never changed once it is made.
 * Steps name each other by index, so that a path, the members of a union and the sides of a filter
 * are all chains in one array. */
#ifndef KI_OBJECT_PATH_PATH_H
#define KI_OBJECT_PATH_PATH_H

#include <kinformer/path.h>

#include "base/refs.h"

#define KI__PATH_BYTES_MAX 4096
#define KI__PATH_STEPS_MAX 64 /* those in unions and filters included */
#define KI__PATH_TERMS_MAX 64 /* conditions in all filters together */
#define KI__PATH_NONE 0xff    /* no step: the chain ends here */

typedef enum ki__path_kind {
    KI__PATH_FIELD,   /* the member `name` of a map */
    KI__PATH_INDEX,   /* the element `from` of a list */
    KI__PATH_SLICE,   /* the elements from `from` up to before `to`, every `by`-th */
    KI__PATH_ALL,     /* every element or member */
    KI__PATH_UNION,   /* what the chain of steps at `inner` gives, one step after the other */
    KI__PATH_DESCEND, /* the value itself and all below it */
    KI__PATH_FILTER,  /* the elements that pass the terms at `inner` */
} ki__path_kind;

typedef struct ki__path_step {
    uint8_t kind;
    uint8_t next;  /* the step that follows */
    uint8_t inner; /* of a union its first member; of a filter its first term */
    ki_str name;
    int64_t from; /* from the end when negative */
    int64_t to;   /* the same; INT64_MAX: up to the end */
    int64_t by;   /* at least 1 */
} ki__path_step;

typedef enum ki__path_op {
    KI__PATH_EXISTS,
    KI__PATH_EQ,
    KI__PATH_NE,
    KI__PATH_LT,
    KI__PATH_LE,
    KI__PATH_GT,
    KI__PATH_GE,
} ki__path_op;

/* One side of a comparison. */
typedef struct ki__path_operand {
    ki_type type;
    bool flag;     /* of a boolean */
    bool integral; /* of a number: it is in `integer`, else in `real` */
    int64_t integer;
    double real;
    ki_str text;             /* of a string, unless `encoded` */
    const ki_value *encoded; /* of a string that can only be read decoded */
} ki__path_operand;

/* One condition of a filter: what `left` leads to from the element, compared with a literal or with
 * what `right` leads to. */
typedef struct ki__path_term {
    uint8_t op;
    uint8_t left;             /* the first step; none: the element itself */
    uint8_t right;            /* the same, where the literal has no type; fields and indexes only */
    bool and_next;            /* the next term must hold as well */
    bool last;                /* no term of this filter follows; else the next is an alternative */
    ki__path_operand literal; /* KI_TYPE_NONE: `right` counts */
} ki__path_term;

struct ki_path {
    ki__refs refs;
    uint8_t first; /* the first step */
    uint8_t step_count;
    uint8_t step_cap;
    uint8_t term_count;
    uint8_t term_cap;
    uint8_t frame_count; /* steps that may lead to more than one value */
    bool multiplies;     /* a value may be looked into many times before it is passed */
    const ki_alloc *alloc;
    ki_str text;
    ki__path_step *steps;
    ki__path_term *terms;
    char *names; /* names and literals, decoded: never more bytes than the text */
    size_t names_len;
};

/** Fills the steps of a new path from its text. KI_ERR_SYNTAX or KI_ERR_LIMIT, with the place. */
int ki__path_parse(ki_path *path, ki_error *error);

/** `value` as one side of a comparison, which may point to it. */
void ki__path_operand_from(const ki_value *value, ki__path_operand *ret_operand);

/** Whether `left op right` holds: 1 or 0; -ENOMEM where a string had to be decoded. */
int ki__path_compare(ki__path_op op, const ki__path_operand *left, const ki__path_operand *right,
                     const ki_alloc *alloc);

#endif
