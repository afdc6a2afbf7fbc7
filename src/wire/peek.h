/* SPDX-License-Identifier: Apache-2.0 */
/* Who an object is that cannot be read: its bytes are malformed, too many, or refused for another
 * reason. */
#ifndef KI_WIRE_PEEK_H
#define KI_WIRE_PEEK_H

#include <kinformer/buf.h>
#include <kinformer/object.h>

/** Puts the key and the resourceVersion found in the bytes into the buffers; each stays empty if it
 *  is missing, not plain, or a duplicate. A wrong key would do more harm than none: without a
 *  namespace there is a key only if all of metadata could be read. 0 or -ENOMEM. */
int ki__peek(ki_encoding encoding, ki_str bytes, ki_buf *key, ki_buf *resource_version);

#endif
