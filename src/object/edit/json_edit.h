/* SPDX-License-Identifier: Apache-2.0 */
/* Editing JSON by writing new JSON. The input is values of objects that were checked before; the
 * output is text that still has to be made an object of. Nothing recurses: depth costs memory from
 * the allocator, and names are looked up in sorted members, so that no pair of inputs takes long.
 */
#ifndef KI_OBJECT_EDIT_JSON_EDIT_H
#define KI_OBJECT_EDIT_JSON_EDIT_H

#include <kinformer/alloc.h>
#include <kinformer/buf.h>
#include <kinformer/object.h>
#include <kinformer/value.h>

#include "base/shared.h"
#include "object/edit/json_out.h"

/** Appends the members of `map` that are not named in `skip`, which ends with NULL. A value that is
 *  not a map has no members. */
KI__SHARED void ki__json_copy_members(const ki_value *map, const char *const *skip, ki__out *out);

/** Appends the object with the member at a path of `steps` names set to `json`. Maps that are
 *  missing on the way are made.
 *  Errors: KI_ERR_TYPE  something on the way is not a map;  KI_ERR_LIMIT, -ENOMEM. */
KI__SHARED int ki__json_set(const ki_object *object, const char *const *path, size_t steps,
                            ki_str json, ki_buf *buf);

/** Appends the object without the member at a path; one that is not there is no error. */
KI__SHARED int ki__json_remove(const ki_object *object, const char *const *path, size_t steps,
                               ki_buf *buf);

/** Appends `target` as changed by a merge patch (RFC 7386). `target` may be of KI_TYPE_NONE. Takes
 *  64 bytes of memory for each member of the maps that are open at a time, besides the output.
 *  Errors: KI_ERR_LIMIT  from `buf`;  -ENOMEM. */
KI__SHARED int ki__json_merge(const ki_value *target, const ki_value *patch, const ki_alloc *alloc,
                              ki_buf *buf);

/** Whether both mean the same: the order of members, white space and escapes do not matter. A value
 *  of KI_TYPE_NONE is the same as another of these only. Memory as ki__json_merge().
 *  Errors: -ENOMEM. */
KI__SHARED int ki__json_same(const ki_value *a, const ki_value *b, const ki_alloc *alloc,
                             bool *ret_same);

#endif
