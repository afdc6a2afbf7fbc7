/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of packed stores: see storage.h. */
#ifndef KINFORMER_PACKED_H
#define KINFORMER_PACKED_H

#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/object.h>

KI_BEGIN_DECLS

/** Returns whether an object is packed.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API bool ki_object_is_packed(const ki_object *object);

/** Decompresses an object: *ret_object is a plain object with the same content, or `object` itself
 *  if it is not packed. The packed object is not changed: its memory is not larger afterwards.
 *  Owner:  caller; release *ret_object with ki_object_unref().
 *  Thread: any.  Blocks: no.
 *  Errors: -ENOMEM;  KI_ERR_DAMAGED  its memory was overwritten.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_object_unpack(const ki_object *object, ki_object **ret_object,
                                         ki_error *error);

KI_END_DECLS

#endif
