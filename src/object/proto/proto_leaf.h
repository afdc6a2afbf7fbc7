/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes JSON values that are leaves in protobuf: all types but messages with fields. */
#ifndef KI_OBJECT_PROTO_PROTO_LEAF_H
#define KI_OBJECT_PROTO_PROTO_LEAF_H

#include <kinformer/value.h>

#include "object/proto/proto_out.h"
#include "object/proto/schema.h"

/** Whether values of this type are leaves. */
static inline bool ki__proto_is_leaf(ki__schema_type type)
{
    return type != KI__SCHEMA_MESSAGE && type < KI__SCHEMA_ITEMS;
}

/** Writes a value, or for NULL the zero value of its type, as field `number`.
 *  Errors: KI_ERR_INVALID  wrong type or value; *ret_needed describes what is expected;
 *          KI_ERR_LIMIT, -ENOMEM  from the buffer. */
int ki__proto_put_leaf(ki__proto_out *out, uint32_t number, ki__schema_type type,
                       const ki_value *value, const char **ret_needed);

#endif
