/* SPDX-License-Identifier: Apache-2.0 */
/* Writing JSON; ki_buf_add_json_string() is here too. */
#ifndef KI_OBJECT_JSON_JSON_WRITE_H
#define KI_OBJECT_JSON_JSON_WRITE_H

#include <kinformer/buf.h>
#include <kinformer/str.h>

/** Appends the content of a string, without quotes. What is not UTF-8 becomes U+FFFD, byte by byte.
 *  On failure some of it may be there. */
int ki__json_write_content(ki_buf *out, ki_str raw);

/** Space for a string of so many bytes that need no escape, between its quotes, which are written:
 *  to be filled, and committed with `len` + 2. NULL, with *ret_code, if there is none. */
char *ki__json_write_quotes(ki_buf *out, size_t len, int *ret_code);

#endif
