/* SPDX-License-Identifier: Apache-2.0 */
/* Validates the bytes of a protobuf object and locates its metadata. */
#ifndef KI_OBJECT_PROTO_PROTO_LOCATE_H
#define KI_OBJECT_PROTO_PROTO_LOCATE_H

#include <kinformer/object.h>

#include "object/located.h"
#include "object/proto/schema.h"

enum { KI__PROTO_UNKNOWN = UINT16_MAX };

/** Location of the message in an object. */
typedef struct ki__proto_body {
    uint32_t at; /* offset in the bytes */
    uint32_t len;
    uint16_t message; /* index in the tables, or KI__PROTO_UNKNOWN */
    bool complete;    /* the tables know the kind and all its fields */
} ki__proto_body;

typedef struct ki__proto_located {
    ki__located common; /* offsets of tags; of lists and maps, the first one */
    ki__proto_body body;
    uint32_t metadata_end; /* end offset of metadata; 0 if absent */
} ki__proto_located;

/** The metadata field of a kind's message, or NULL. It is the first field in all kinds but one. */
const ki__schema_field *ki__proto_metadata_field(const ki__schema_message *message);

/** The first part: reads the envelope, if any, and determines kind and apiVersion, which come from
 *  the options if the bytes have none. `options` have their defaults filled in. *ret_body is the
 *  message, not yet validated. 0, or the code with `error` filled. */
int ki__proto_open(ki_str bytes, const ki_object_options *options, ki__proto_located *ret_located,
                   ki_str *ret_body, ki_error *error);

/** The second part: validates the message, which is in `bytes`, and locates its metadata. The kind
 *  was set by the first part. On failure *located is undefined. */
int ki__proto_locate(ki_str bytes, ki_str body, const ki_object_options *options,
                     ki__proto_located *located, ki_error *error);

/** The message that describes the fields of a kind; if it is unknown, that of metadata if the bytes
 *  are valid as such, or NULL. For messages that are not validated yet. */
const ki__schema_message *ki__proto_guess(ki_str body, const ki_object_options *options,
                                          const ki__proto_located *located);

#endif
