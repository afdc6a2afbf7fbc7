/* SPDX-License-Identifier: Apache-2.0 */
/* Patches besides merge patches: JSON patch (RFC 6902), and the strategic merge patch that
 * Kubernetes has for its built-in kinds. */
#ifndef KI_OBJECT_EDIT_PATCH_H
#define KI_OBJECT_EDIT_PATCH_H

#include <kinformer/error.h>
#include <kinformer/object.h>

#include "object/edit/json_tree.h"

/** Appends what a list of operations makes of `target`.
 *  Errors: KI_ERR_INVALID  an operation that is none, cannot be done, or a test that fails: the
 *          message tells which;  KI_ERR_LIMIT  too many, or too large;  -ENOMEM. */
int ki__json_patch(const ki_value *target, const ki_value *operations, const ki_alloc *alloc,
                   ki_buf *out, ki_error *error);

/** Appends what a strategic merge patch makes of an object of the kind.
 *  Errors: KI_ERR_INVALID  a directive that is none;  KI_ERR_LIMIT, -ENOMEM. */
int ki__strategic_merge(const ki_value *target, const ki_value *patch, const char *kind,
                        const ki_alloc *alloc, ki_buf *out, ki_error *error);

#endif
