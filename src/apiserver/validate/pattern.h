/* SPDX-License-Identifier: Apache-2.0 */
/* RE2 regular expressions, as used in schemas of custom resources, compiled to a small program that
 * runs over the text once: time is O(program size * text length), without recursion. glibc's
 * regcomp() is unsuitable: its syntax differs, it depends on the locale, and some patterns take
 * exponential time.
 *
 * Unicode classes (\pL) are not supported, since they need tables; case folding covers only ASCII
 * letters. */
#ifndef KI_APISERVER_VALIDATE_PATTERN_H
#define KI_APISERVER_VALIDATE_PATTERN_H

#include <kinformer/alloc.h>
#include <kinformer/str.h>

enum {
    KI__PATTERN_BYTES_MAX = 8192, /* of the expression */
    KI__PATTERN_CODE_MAX = 16384, /* instructions */
    KI__PATTERN_REPEAT_MAX = 1000,
    KI__PATTERN_DEPTH_MAX = 1000, /* nested groups */
};

typedef struct ki__pattern ki__pattern;

/** Why an expression did not compile, in the words of Go's regexp/syntax. */
typedef struct ki__pattern_fault {
    const char *what; /* static text; NULL: the syntax is valid */
    size_t at;        /* the invalid part of the expression */
    size_t len;
} ki__pattern_fault;

/** Errors: KI_ERR_SYNTAX      with *ret_fault set;
 *          KI_ERR_UNSUPPORTED  valid, but not supported;
 *          KI_ERR_LIMIT        too large;  -ENOMEM. */
int ki__pattern_new(ki_str expression, const ki_alloc *alloc, ki__pattern **ret_pattern,
                    ki__pattern_fault *ret_fault);

/** Always NULL; NULL is allowed. */
ki__pattern *ki__pattern_free(ki__pattern *pattern);

/** Whether the expression matches anywhere in the UTF-8 text. Decrements *steps. Returns 1, 0,
 *  KI_ERR_LIMIT if no steps are left, or -ENOMEM. */
int ki__pattern_match(const ki__pattern *pattern, ki_str text, uint32_t *steps);

#endif
