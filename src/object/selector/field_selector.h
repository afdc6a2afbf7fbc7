/* SPDX-License-Identifier: Apache-2.0 */
/* A field selector: one block with the terms, sorted by their text, and their bytes; or the static
 * one that selects everything. */
#ifndef KI_OBJECT_SELECTOR_FIELD_SELECTOR_H
#define KI_OBJECT_SELECTOR_FIELD_SELECTOR_H

#include <kinformer/field_selector.h>
#include <kinformer/selector.h>

#include "base/refs.h"

/* Fields with a fast accessor. */
typedef enum ki__field {
    KI__FIELD_PATH, /* any other, looked up by path */
    KI__FIELD_NAME,
    KI__FIELD_NAMESPACE
} ki__field;

typedef struct ki__field_term {
    ki_str text;  /* as printed */
    ki_str path;  /* a part of `text` */
    ki_str value; /* unescaped: a part of `text` if it has no escapes */
    ki__field field;
    bool negated; /* != */
} ki__field_term;

struct ki_field_selector {
    const ki_alloc *alloc; /* NULL: static */
    ki__refs refs;         /* unused if static */
    uint32_t count;
    ki__field_term terms[];
};

/** The public function of this name, for text of a known length. */
int ki__field_selector_parse(ki_str text, const ki_alloc *alloc, ki_field_selector **ret_selector,
                             ki_error *error);

#endif
