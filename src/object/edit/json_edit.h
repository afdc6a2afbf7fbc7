/* SPDX-License-Identifier: Apache-2.0 */
/* Editing JSON by writing new JSON. Input are values of validated objects; output is text from
 * which an object has yet to be created. No recursion: depth costs memory from the allocator, and
 * names are looked up in sorted members, so that no input is quadratic. */
#ifndef KI_OBJECT_EDIT_JSON_EDIT_H
#define KI_OBJECT_EDIT_JSON_EDIT_H

#include <kinformer/alloc.h>
#include <kinformer/buf.h>
#include <kinformer/object.h>
#include <kinformer/value.h>

#include "base/shared.h"
#include "object/edit/json_out.h"

/** Appends the members of `map` that are not in `skip`, which is NULL-terminated. A value that is
 *  not a map has no members. */
KI__SHARED void ki__json_copy_members(const ki_value *map, const char *const *skip, ki__out *out);

/** Appends the object with the member at a path of `steps` names set to `json`. Missing maps on the
 *  path are created.
 *  Errors: KI_ERR_TYPE  a parent is not a map;  KI_ERR_LIMIT, -ENOMEM. */
KI__SHARED int ki__json_set(const ki_object *object, const char *const *path, size_t steps,
                            ki_str json, ki_buf *buf);

/** Appends the object without the member at a path; a missing one is not an error. */
KI__SHARED int ki__json_remove(const ki_object *object, const char *const *path, size_t steps,
                               ki_buf *buf);

/** Appends `target` with a merge patch (RFC 7386) applied. `target` may be of KI_TYPE_NONE. Needs
 *  64 bytes per member of the maps open at a time, in addition to the output.
 *  Errors: KI_ERR_LIMIT  from `buf`;  -ENOMEM. */
KI__SHARED int ki__json_merge(const ki_value *target, const ki_value *patch, const ki_alloc *alloc,
                              ki_buf *buf);

/** Compares two values, ignoring member order, white space and escapes. A value of KI_TYPE_NONE
 *  equals only another one. Memory as for ki__json_merge().
 *  Errors: -ENOMEM. */
KI__SHARED int ki__json_same(const ki_value *a, const ki_value *b, const ki_alloc *alloc,
                             bool *ret_same);

#endif
