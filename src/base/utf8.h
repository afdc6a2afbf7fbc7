/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 validation and repair (RFC 3629). Surrogates, overlong encodings and code points beyond
 * U+10FFFF are malformed. */
#ifndef KI_BASE_UTF8_H
#define KI_BASE_UTF8_H

#include <kinformer/str.h>

#include "base/shared.h"

/** Length of the character at the start of `text`, which is not empty; 0 if it is malformed. */
KI__SHARED size_t ki__utf8_length(ki_str text);

bool ki__utf8_valid(ki_str text);

/** Replaces each byte that is not part of a character with U+FFFD, as Go's JSON decoder does.
 *  Returns the length of the result and writes at most its first `size` bytes to `out`. */
size_t ki__utf8_repair(ki_str text, char *out, size_t size);

#endif
