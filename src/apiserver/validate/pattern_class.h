/* SPDX-License-Identifier: Apache-2.0 */
/* Character classes of expressions, such as [a-z_], \d and [^[:space:]]. */
#ifndef KI_APISERVER_VALIDATE_PATTERN_CLASS_H
#define KI_APISERVER_VALIDATE_PATTERN_CLASS_H

#include "apiserver/validate/pattern_code.h"

typedef struct ki__pattern_class {
    ki__pattern *p;
    size_t first; /* of its ranges */
    bool fold;
    bool negated;
} ki__pattern_class;

/** Sets the fault; returns KI_ERR_SYNTAX. */
int ki__pattern_fail(ki__pattern_fault *fault, const char *what, size_t at, size_t len);

/** The character at *at; advances *at. */
uint32_t ki__pattern_rune(ki_str text, size_t *at);

void ki__pattern_class_begin(ki__pattern_class *class, ki__pattern *p, bool fold);
int ki__pattern_class_add(ki__pattern_class *class, uint32_t from, uint32_t to);

/** Parses an escape: 0 with a character, or 1 if it is a class, which was added.
 *  Errors: KI_ERR_SYNTAX, KI_ERR_UNSUPPORTED, -ENOMEM. */
int ki__pattern_class_escape(ki__pattern_class *class, ki_str text, size_t *at,
                             ki__pattern_fault *fault, uint32_t *ret_rune);

/** Parses a class in brackets. Errors as above. */
int ki__pattern_class_read(ki__pattern_class *class, ki_str text, size_t *at,
                           ki__pattern_fault *fault);

/** Emits the instruction for the class. */
int ki__pattern_class_end(ki__pattern_class *class);

#endif
