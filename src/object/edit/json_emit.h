/* SPDX-License-Identifier: Apache-2.0 */
/* Writing the pieces that answers are made of. Each call gives 0, or KI_ERR_LIMIT or -ENOMEM from
 * the buffer, which may then have some of it: whoever needs all or nothing notes the length. */
#ifndef KI_OBJECT_EDIT_JSON_EMIT_H
#define KI_OBJECT_EDIT_JSON_EMIT_H

#include <stdarg.h>

#include <kinformer/buf.h>
#include <kinformer/str.h>

#include "object/edit/json_out.h"

/** C strings one after the other, up to NULL. */
int ki__emit_text(ki_buf *out, ...);
int ki__emit_texts(ki_buf *out, va_list texts);

/** A number in decimal. */
int ki__emit_u64(ki_buf *out, uint64_t number);
int ki__emit_i64(ki_buf *out, int64_t number);

/** A JSON string with its quotes. What is not UTF-8 becomes U+FFFD, byte by byte. */
int ki__emit_string(ki_buf *out, ki_str text);

/** A string as Go's %q shows it, for the messages that real servers write so. */
int ki__emit_quoted(ki_buf *out, ki_str text);

/** A member of a map: comma unless `first`, name, colon, and the string. */
int ki__emit_member(ki_buf *out, const char *name, ki_str text, bool first);

/** Seconds since 1970 as RFC 3339 in UTC, without quotes. Years 0 to 9999; others are cut. */
int ki__emit_time(ki_buf *out, int64_t seconds);

#endif
