/* SPDX-License-Identifier: Apache-2.0 */
/* Validates a whole protobuf message once, so that readers never meet malformed bytes. */
#ifndef KI_OBJECT_PROTO_PROTO_CHECK_H
#define KI_OBJECT_PROTO_PROTO_CHECK_H

#include <kinformer/alloc.h>
#include <kinformer/error.h>

#include "object/proto/schema.h"

typedef struct ki__proto_checked {
    const char *start;     /* offsets in errors count from here */
    const ki_alloc *alloc; /* for messages that nest deeper than usual */
    uint32_t max_depth;    /* maps and lists within each other, as JSON shows them */
    bool complete;         /* false once a field was met that the tables do not know */
} ki__proto_checked;

/** Checks `bytes` as a message with these `count` fields, which stand by number. What holds
 *  afterwards:
 *  - every tag, number and length is whole, and every length lies within its message;
 *  - there are no groups, and every field has the wire type that its type asks for;
 *  - a field that is no list or map stands once, and all of a list or map stand together. */
int ki__proto_check(ki__proto_checked *checked, ki_str bytes, const ki__schema_field *fields,
                    size_t count, ki_error *error);

#endif
