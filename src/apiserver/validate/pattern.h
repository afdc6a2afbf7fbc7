/* SPDX-License-Identifier: Apache-2.0 */
/* Regular expressions of RE2, which the schemas of custom resources use, compiled to a small
 * program that runs over the text once: time is the size of the program times the length of the
 * text, and nothing recurses. glibc's regcomp() would not do: its syntax is another one, it looks
 * at the locale, and some patterns take exponential time.
 *
 * Not supported are Unicode classes (\pL), which need tables; without regard to case, only the
 * letters of ASCII are equal. */
#ifndef KI_APISERVER_VALIDATE_PATTERN_H
#define KI_APISERVER_VALIDATE_PATTERN_H

#include <kinformer/alloc.h>
#include <kinformer/str.h>

enum {
    KI__PATTERN_BYTES_MAX = 8192, /* of the expression */
    KI__PATTERN_CODE_MAX = 16384, /* instructions */
    KI__PATTERN_REPEAT_MAX = 1000,
    KI__PATTERN_DEPTH_MAX = 1000, /* groups within each other */
};

typedef struct ki__pattern ki__pattern;

/** Why an expression could not be compiled, in the words of Go's regexp/syntax. */
typedef struct ki__pattern_fault {
    const char *what; /* static text; NULL: nothing is wrong with the syntax */
    size_t at;        /* the part of the expression that is wrong */
    size_t len;
} ki__pattern_fault;

/** Errors: KI_ERR_SYNTAX     with *ret_fault set;
 *          KI_ERR_UNSUPPORTED  right, but not supported here;
 *          KI_ERR_LIMIT        too large;  -ENOMEM. */
int ki__pattern_new(ki_str expression, const ki_alloc *alloc, ki__pattern **ret_pattern,
                    ki__pattern_fault *ret_fault);

/** Always NULL; NULL is allowed. */
ki__pattern *ki__pattern_free(ki__pattern *pattern);

/** Whether the expression matches somewhere in the text, which is UTF-8. Takes steps from *steps.
 *  1, 0, or KI_ERR_LIMIT if no steps are left, or -ENOMEM. */
int ki__pattern_match(const ki__pattern *pattern, ki_str text, uint32_t *steps);

#endif
