/* SPDX-License-Identifier: Apache-2.0 */
/* Identifies an undecodable object: one whose bytes are malformed, too large, or rejected for
 * another reason. */
#ifndef KI_WIRE_PEEK_H
#define KI_WIRE_PEEK_H

#include <kinformer/buf.h>
#include <kinformer/encoding.h>
#include <kinformer/object.h>

/** Stores the key and the resourceVersion found in the bytes; each buffer stays empty if the value
 *  is missing, not plain text, or a duplicate. A wrong key would be worse than none: without a
 *  namespace there is a key only if all of metadata was decoded. 0 or -ENOMEM. */
int ki__peek(ki_encoding encoding, ki_str bytes, ki_buf *key, ki_buf *resource_version);

#endif
