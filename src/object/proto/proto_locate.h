/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the bytes of a whole protobuf object and finds its metadata. */
#ifndef KI_OBJECT_PROTO_PROTO_LOCATE_H
#define KI_OBJECT_PROTO_PROTO_LOCATE_H

#include <kinformer/object.h>

#include "object/located.h"
#include "object/proto/schema.h"

enum { KI__PROTO_UNKNOWN = UINT16_MAX };

/** What an object keeps of where its message is. */
typedef struct ki__proto_body {
    uint32_t at; /* offset in the bytes */
    uint32_t len;
    uint16_t message; /* in the tables, or KI__PROTO_UNKNOWN */
    bool complete;    /* the tables know the kind and every field in it */
} ki__proto_body;

typedef struct ki__proto_located {
    ki__located common; /* places are those of tags; lists and maps, of their first */
    ki__proto_body body;
    uint32_t metadata_end; /* offset of the place after metadata; 0 if there is none */
} ki__proto_located;

/** The field with the metadata in the message of a kind, or NULL. It is the first but for one. */
const ki__schema_field *ki__proto_metadata_field(const ki__schema_message *message);

/** 0, or the code with `error` filled. `options` are complete: nothing in them means a default. The
 *  kind and apiVersion of the options are in the result if the bytes have none. */
int ki__proto_locate(ki_str bytes, const ki_object_options *options, ki__proto_located *ret_located,
                     ki_error *error);

#endif
