/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parser of expressions (pattern_read.c) and the code generator and matcher
 * (pattern.c). */
#ifndef KI_APISERVER_VALIDATE_PATTERN_CODE_H
#define KI_APISERVER_VALIDATE_PATTERN_CODE_H

#include "apiserver/validate/pattern.h"

typedef enum ki__pattern_op {
    KI__PATTERN_FAIL,
    KI__PATTERN_MATCH,
    KI__PATTERN_SPLIT, /* continues and also jumps */
    KI__PATTERN_JUMP,
    KI__PATTERN_CHAR, /* these four consume a character */
    KI__PATTERN_ANY,
    KI__PATTERN_ANY_IN_LINE,
    KI__PATTERN_CLASS,
    KI__PATTERN_BEGIN, /* these consume none */
    KI__PATTERN_END,
    KI__PATTERN_BEGIN_LINE,
    KI__PATTERN_END_LINE,
    KI__PATTERN_WORD_BOUNDARY,
    KI__PATTERN_NO_WORD_BOUNDARY,
} ki__pattern_op;

typedef struct ki__pattern_step {
    ki__pattern_op op;
    bool negated;
    int32_t jump;   /* relative */
    uint32_t value; /* the character, or the first range */
    uint32_t count; /* of ranges */
} ki__pattern_step;

typedef struct ki__pattern_range {
    uint32_t from;
    uint32_t to;
} ki__pattern_range;

struct ki__pattern {
    const ki_alloc *alloc;
    ki__pattern_step *code;
    size_t count;
    size_t cap;
    ki__pattern_range *ranges; /* of all classes; those of one class are sorted and disjoint */
    size_t range_count;
    size_t range_cap;
};

enum { KI__PATTERN_NO_MOST = KI__PATTERN_REPEAT_MAX + 1, KI__PATTERN_RUNE_MAX = 0x10ffff };

/** Appends an instruction.  Errors: KI_ERR_LIMIT, -ENOMEM; likewise below. */
int ki__pattern_emit(ki__pattern *p, ki__pattern_op op, uint32_t value);

/** Repeats the block from `at` to the end of the code. */
int ki__pattern_repeat(ki__pattern *p, size_t at, uint32_t least, uint32_t most);

/** Ends an alternative that began at `at`; another one follows. *chain, initially 0, links them. */
int ki__pattern_next_alternative(ki__pattern *p, size_t at, size_t *chain);

/** Call after the last alternative. */
void ki__pattern_end_alternatives(ki__pattern *p, size_t chain);

#endif
