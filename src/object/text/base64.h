/* SPDX-License-Identifier: Apache-2.0 */
/* Base64 (RFC 4648): standard, as in JSON (section 4), and base64url (section 5). */
#ifndef KI_OBJECT_TEXT_BASE64_H
#define KI_OBJECT_TEXT_BASE64_H

#include <kinformer/buf.h>
#include <kinformer/str.h>

#include "base/shared.h"

/** Encoded length of `len` bytes. */
static inline size_t ki__base64_length(size_t len)
{
    return len / 3 * 4 + (len % 3 != 0 ? 4 : 0);
}

/** Returns the encoded length and writes at most the first `size` bytes. */
size_t ki__base64_encode(ki_str bytes, char *out, size_t size);

/** Decodes the text; the result is never longer. `out` may be the text itself (in-place), or NULL
 *  to get only the length. Line ends are skipped, as in Go; otherwise only the standard alphabet,
 *  with padding.
 *  Errors: KI_ERR_INVALID; the contents of `out` are then undefined. */
KI__SHARED int ki__base64_decode(ki_str text, char *out, size_t *ret_len);

/** Appends base64url without padding.
 *  Errors: KI_ERR_LIMIT or -ENOMEM from `out`, which may then have a part of it. */
KI__SHARED int ki__base64url_encode(ki_str bytes, ki_buf *out);

/** Appends the decoded bytes. KI_ERR_SYNTAX if it is not canonical base64url without padding. */
KI__SHARED int ki__base64url_decode(ki_str text, ki_buf *out);

#endif
