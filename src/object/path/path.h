/* SPDX-License-Identifier: Apache-2.0 */
/* A compiled field path: a graph of steps in one block, immutable once compiled. Steps refer to
 * each other by index, so that a path, the members of a union and the operands of a filter are all
 * chains in one array. */
#ifndef KI_OBJECT_PATH_PATH_H
#define KI_OBJECT_PATH_PATH_H

#include <kinformer/path.h>

#include "base/refs.h"

#define KI__PATH_BYTES_MAX 4096
#define KI__PATH_STEPS_MAX 64 /* including those in unions and filters */
#define KI__PATH_TERMS_MAX 64 /* conditions in all filters together */
#define KI__PATH_NONE 0xff    /* no step: end of the chain */

typedef enum ki__path_kind {
    KI__PATH_FIELD,   /* the member `name` of a map */
    KI__PATH_INDEX,   /* the element `from` of a list */
    KI__PATH_SLICE,   /* the elements [from, to), every `by`-th */
    KI__PATH_ALL,     /* every element or member */
    KI__PATH_UNION,   /* the results of each step in the chain at `inner`, in order */
    KI__PATH_DESCEND, /* the value itself and all its descendants */
    KI__PATH_FILTER,  /* the elements that match the terms at `inner` */
} ki__path_kind;

typedef struct ki__path_step {
    uint8_t kind;
    uint8_t next;  /* next step of the chain */
    uint8_t inner; /* first member of a union, or first term of a filter */
    ki_str name;
    int64_t from; /* negative: relative to the end */
    int64_t to;   /* likewise; INT64_MAX: the end */
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

/* One operand of a comparison. */
typedef struct ki__path_operand {
    ki_type type;
    bool flag;     /* booleans */
    bool integral; /* numbers: value is in `integer`, else in `real` */
    int64_t integer;
    double real;
    ki_str text;             /* strings, unless `encoded` */
    const ki_value *encoded; /* strings with escapes, which must be decoded */
} ki__path_operand;

/* One condition of a filter: the value of `left`, relative to the element, compared with a literal
 * or with the value of `right`. */
typedef struct ki__path_term {
    uint8_t op;
    uint8_t left;             /* first step; none: the element itself */
    uint8_t right;            /* likewise, if there is no literal; fields and indexes only */
    bool and_next;            /* AND with the next term */
    bool last;                /* last term of the filter; otherwise OR with the next */
    ki__path_operand literal; /* KI_TYPE_NONE: use `right` */
} ki__path_term;

struct ki_path {
    ki__refs refs;
    uint8_t first; /* index of the first step */
    uint8_t step_count;
    uint8_t step_cap;
    uint8_t term_count;
    uint8_t term_cap;
    uint8_t frame_count; /* number of steps that may yield more than one value */
    bool multiplies;     /* a value may be searched more often than it is skipped */
    const ki_alloc *alloc;
    ki_str text;
    ki__path_step *steps;
    ki__path_term *terms;
    char *names; /* unescaped names and literals, no longer than the text */
    size_t names_len;
};

/** Compiles the text of a new path into its steps. KI_ERR_SYNTAX or KI_ERR_LIMIT, with position. */
int ki__path_parse(ki_path *path, ki_error *error);

/** KI_ERR_NOT_KEPT if a path reads something that was not kept of a partial object, also if the
 *  object has nothing there; the error of a root that could not be decompressed; else 0. Where that
 *  depends on the object (`..`, unions, members of a map), the evaluation finds it. */
int ki__path_failure(const ki_path *path, const ki_value *root);

/** `value` as an operand, which may point to it. */
void ki__path_operand_from(const ki_value *value, ki__path_operand *ret_operand);

/** Evaluates `left op right`: 1 or 0; -ENOMEM if a string had to be decoded. */
int ki__path_compare(ki__path_op op, const ki__path_operand *left, const ki__path_operand *right,
                     const ki_alloc *alloc);

#endif
