/* SPDX-License-Identifier: Apache-2.0 */
/* Creates patches from two states of a value. */
#ifndef KI_OBJECT_EDIT_JSON_DIFF_H
#define KI_OBJECT_EDIT_JSON_DIFF_H

#include <kinformer/alloc.h>
#include <kinformer/value.h>

#include "object/edit/json_out.h"

typedef enum ki__diff_form {
    KI__DIFF_MERGE_PATCH, /* a map; null means absent */
    KI__DIFF_OPERATIONS,  /* operations of a JSON patch, after a comma if `out` needs one */
} ki__diff_form;

/** Appends the patch that turns one map into another. Lists are replaced as a whole.
 *  Errors: KI_ERR_LIMIT, -ENOMEM. */
int ki__json_diff(const ki_value *before, const ki_value *after, ki__diff_form form,
                  const ki_alloc *alloc, ki__out *out);

#endif
