/* SPDX-License-Identifier: Apache-2.0 */
/* Validates a complete protobuf message once, so that readers never encounter malformed bytes. */
#ifndef KI_OBJECT_PROTO_PROTO_CHECK_H
#define KI_OBJECT_PROTO_PROTO_CHECK_H

#include <kinformer/alloc.h>
#include <kinformer/error.h>

#include "object/proto/schema.h"

typedef struct ki__proto_checked {
    const char *start;     /* base of offsets in errors */
    const ki_alloc *alloc; /* for unusually deep messages */
    uint32_t max_depth;    /* nesting depth of the equivalent JSON */
    bool complete;         /* false once an unknown field was found */
} ki__proto_checked;

/** Validates `bytes` as a message with these `count` fields, sorted by number. Guarantees:
 *  - every tag, number and length is complete, and every length lies within its message;
 *  - there are no groups, and every field has the wire type of its type;
 *  - a field other than a list or map occurs once, and lists and maps are contiguous. */
int ki__proto_check(ki__proto_checked *checked, ki_str bytes, const ki__schema_field *fields,
                    size_t count, ki_error *error);

#endif
