/* SPDX-License-Identifier: Apache-2.0 */
/* JSON bodies of requests. Both append to an empty buffer: 0, KI_ERR_LIMIT or -ENOMEM. */
#ifndef KI_REST_REQUEST_BODY_H
#define KI_REST_REQUEST_BODY_H

#include <kinformer/buf.h>
#include <kinformer/request.h>

/** An object. Errors (additional): KI_ERR_NO_SCHEMA  protobuf with fields that JSON would lose. */
int ki__body_of_object(const ki_object *object, ki_buf *out);

/** The DeleteOptions of a request. */
int ki__body_of_deletion(const ki_request *request, ki_buf *out);

#endif
