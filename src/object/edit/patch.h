/* SPDX-License-Identifier: Apache-2.0 */
/* JSON patch (RFC 6902), and Kubernetes' strategic merge patch for built-in kinds. Both are applied
 * as API servers apply them: tests use `gen-schema patches` to compare the results with those of
 * apimachinery. */
#ifndef KI_OBJECT_EDIT_PATCH_H
#define KI_OBJECT_EDIT_PATCH_H

#include <kinformer/error.h>
#include <kinformer/object.h>

#include "base/shared.h"
#include "object/edit/json_tree.h"

/** How a strategic merge patch treats a field. Without a rule, maps are merged and lists
 *  replaced. */
typedef struct ki__patch_rule {
    uint16_t field; /* index in ki__schema_fields */
    uint8_t merges; /* 1: merge a list; 0: replace a map */
    uint16_t key;   /* merge key of the list: offset in ki__schema_names; 0: none */
} ki__patch_rule;

extern const ki__patch_rule ki__patch_rules[]; /* sorted by field; in merge_tables.c */
extern const size_t ki__patch_rule_count;

/** Appends the result of applying a list of operations to `target`.
 *  Errors: KI_ERR_INVALID  an operation is invalid or not possible, or a test fails: the message
 *          names it;  KI_ERR_LIMIT  too many, or too large;  -ENOMEM. */
KI__SHARED int ki__json_patch(const ki_value *target, const ki_value *operations,
                              const ki_alloc *alloc, ki_buf *out, ki_error *error);

/** Appends the result of applying a strategic merge patch to an object of a built-in kind.
 *  Errors: KI_ERR_INVALID  the patch cannot be applied: the message names the path;
 *          KI_ERR_LIMIT, -ENOMEM. */
KI__SHARED int ki__strategic_merge(const ki_value *target, const ki_value *patch,
                                   ki_str api_version, ki_str kind, const ki_alloc *alloc,
                                   ki_buf *out, ki_error *error);

#endif
