/* SPDX-License-Identifier: Apache-2.0 */
/* Writing JSON. */
#ifndef KI_OBJECT_JSON_WRITE_H
#define KI_OBJECT_JSON_WRITE_H

#include <kinformer/buf.h>
#include <kinformer/str.h>

/** Appends a string with its quotes; what is not UTF-8 becomes U+FFFD, byte by byte. 0, or
 *  KI_ERR_LIMIT or -ENOMEM from the buffer, which may then have some of it. */
int ki__json_write_string(ki_buf *out, ki_str raw);

/** Room for a string of so many bytes that need no escape, between its quotes, which are written:
 *  to be filled, and committed with `len` + 2. NULL, with *ret_code, if there is none. */
char *ki__json_write_quotes(ki_buf *out, size_t len, int *ret_code);

#endif
