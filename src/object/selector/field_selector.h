/* SPDX-License-Identifier: Apache-2.0 */
/* What a field selector is: one block with the terms, sorted by their text, and their bytes; or the
 * static one that selects everything. */
#ifndef KI_OBJECT_SELECTOR_FIELD_SELECTOR_H
#define KI_OBJECT_SELECTOR_FIELD_SELECTOR_H

#include <kinformer/selector.h>

#include "base/refs.h"

/* Fields that an object has at hand. */
typedef enum ki__field {
    KI__FIELD_PATH, /* any other: found by its path */
    KI__FIELD_NAME,
    KI__FIELD_NAMESPACE
} ki__field;

typedef struct ki__field_term {
    ki_str text;  /* as it is printed */
    ki_str path;  /* a part of text */
    ki_str value; /* decoded: a part of text if nothing in it is escaped */
    ki__field field;
    bool negated; /* != */
} ki__field_term;

struct ki_field_selector {
    const ki_alloc *alloc; /* NULL: static */
    ki__refs refs;         /* not used if static */
    uint32_t count;
    ki__field_term terms[];
};

/** The public function of this name, for text of a known length. */
int ki__field_selector_parse(ki_str text, const ki_alloc *alloc, ki_field_selector **ret_selector,
                             ki_error *error);

#endif
