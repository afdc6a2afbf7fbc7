/* SPDX-License-Identifier: Apache-2.0 */
/* Applying patches to objects locally, as an API server does. */
#ifndef KINFORMER_MERGE_H
#define KINFORMER_MERGE_H

#include <kinformer/defs.h>
#include <kinformer/edit.h>
#include <kinformer/error.h>
#include <kinformer/object.h>
#include <kinformer/str.h>
#include <kinformer/value.h>

KI_BEGIN_DECLS

/** Applies a patch to an object in either encoding. The result is a new object, encoded as JSON;
 *  `object` is not modified. Only JSON syntax and the object's metadata are validated: an API
 *  server may still reject the result. `options` apply to the new object and may be NULL; the size
 *  and depth limits apply to the patch as well.
 *
 *  Owner:  caller; release *ret_object with ki_object_unref().   Thread: any.  Blocks: no.
 *  Errors: KI_ERR_SYNTAX, KI_ERR_ENCODING, KI_ERR_DEPTH  the patch is not JSON; with offset, line
 *                            and column in `error`;
 *          KI_ERR_INVALID    a patch of the wrong type, an operation of a JSON patch that cannot
 *                            be applied, a failed test, an unknown directive of a strategic merge
 *                            patch, or a result that is not an object; the message names the
 *                            operation or the path;
 *          KI_ERR_NO_SCHEMA  a strategic merge patch for a kind that is not built in, or an
 *                            incomplete protobuf object (ki_object_is_complete());
 *          KI_ERR_LIMIT      patch or result too large, or over 10,000 operations;
 *          -ENOMEM;  -EINVAL, -E2BIG  the options, or an unknown `type`.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_object_merge(const ki_object *object, ki_patch_type type, ki_str patch,
                                        const ki_object_options *options, ki_object **ret_object,
                                        ki_error *error);

/** Applies a patch that is a value, such as ki_object_root() of an object. As ki_object_merge().
 *  Errors: as ki_object_merge();  KI_ERR_TYPE  `patch` is of KI_TYPE_NONE.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_object_merge_value(const ki_object *object, ki_patch_type type,
                                              const ki_value *patch,
                                              const ki_object_options *options,
                                              ki_object **ret_object, ki_error *error);

KI_END_DECLS

#endif
