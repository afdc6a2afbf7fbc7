/* SPDX-License-Identifier: Apache-2.0 */
/* Base64 (RFC 4648, section 4), as JSON shows bytes. */
#ifndef KI_OBJECT_TEXT_BASE64_H
#define KI_OBJECT_TEXT_BASE64_H

#include <kinformer/str.h>

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

#endif
