/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 (RFC 3629): what is well-formed, and what to make of bytes that are not. No surrogates,
 * nothing overlong, nothing beyond U+10FFFF. */
#ifndef KI_BASE_UTF8_H
#define KI_BASE_UTF8_H

#include <kinformer/str.h>

#include "base/shared.h"

/** The length of the character at the start of `text`, which is not empty; 0 if there is none. */
KI__SHARED size_t ki__utf8_length(ki_str text);

bool ki__utf8_valid(ki_str text);

/** The text with U+FFFD for each byte that belongs to no character, as Go's JSON does. Returns its
 *  length and writes the first `size` bytes of it, or all, to `out`. */
size_t ki__utf8_repair(ki_str text, char *out, size_t size);

#endif
