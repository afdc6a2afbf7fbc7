/* SPDX-License-Identifier: Apache-2.0 */
/* Who an object is that cannot be read: its bytes are malformed, too many, or refused for another
 * reason. */
#ifndef KI_WIRE_PEEK_H
#define KI_WIRE_PEEK_H

#include <kinformer/buf.h>
#include <kinformer/object.h>

/** Puts the key and the resource version that the bytes tell into the buffers; each stays empty if
 *  it is not there, not plain, or told twice. A wrong key would do more harm than none: without
 *  namespace there is one only if all of metadata could be passed over. 0 or -ENOMEM. */
int ki__peek(ki_encoding encoding, ki_str bytes, ki_buf *key, ki_buf *resource_version);

#endif
