/* SPDX-License-Identifier: Apache-2.0 */
/* Base64 (RFC 4648): as JSON shows bytes (section 4), and for URLs (section 5). */
#ifndef KI_OBJECT_TEXT_BASE64_H
#define KI_OBJECT_TEXT_BASE64_H

#include <kinformer/buf.h>
#include <kinformer/str.h>

#include "base/shared.h"

/** The length of the text for `len` bytes. */
static inline size_t ki__base64_length(size_t len)
{
    return len / 3 * 4 + (len % 3 != 0 ? 4 : 0);
}

/** Returns the length of the whole text and writes the first `size` bytes of it, or all. */
size_t ki__base64_encode(ki_str bytes, char *out, size_t size);

/** What the text stands for: never more bytes than it has itself. `out` may be the text itself, or
 *  NULL if only the length is wanted. Line ends are skipped, as in Go; else only the standard
 *  alphabet, with its padding.
 *  Errors: KI_ERR_INVALID; what is in `out` then is undefined. */
int ki__base64_decode(ki_str text, char *out, size_t *ret_len);

/** Appends base64url without padding.
 *  Errors: KI_ERR_LIMIT or -ENOMEM from `out`, which may then have some of it. */
KI__SHARED int ki__base64url_encode(ki_str bytes, ki_buf *out);

/** The other way. KI_ERR_SYNTAX if it is not base64url as ki__base64url_encode() writes it. */
KI__SHARED int ki__base64url_decode(ki_str text, ki_buf *out);

#endif
