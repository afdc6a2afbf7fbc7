/* SPDX-License-Identifier: Apache-2.0 */
/* The encoding of a response by its Content-Type. */
#ifndef KI_WIRE_MEDIA_TYPE_H
#define KI_WIRE_MEDIA_TYPE_H

#include <kinformer/encoding.h>
#include <kinformer/error.h>
#include <kinformer/object.h>

#define KI__MEDIA_TYPE_JSON "application/json"
#define KI__MEDIA_TYPE_PROTOBUF "application/vnd.kubernetes.protobuf"

/** The encoding of a body with this Content-Type. Parameters such as ";stream=watch" are ignored;
 *  NULL or blank means JSON, as in client-go.
 *  Errors: KI_ERR_UNSUPPORTED  any other type. */
int ki__media_type_encoding(const char *content_type, ki_encoding *ret_encoding, ki_error *error);

#endif
