/* SPDX-License-Identifier: Apache-2.0 */
/* Writing JSON strings; ki_buf_add_json_string() is implemented here too. */
#ifndef KI_OBJECT_JSON_JSON_WRITE_H
#define KI_OBJECT_JSON_JSON_WRITE_H

#include <kinformer/buf.h>
#include <kinformer/str.h>

/** Appends the content of a string, without quotes. Each byte of invalid UTF-8 becomes U+FFFD. On
 *  failure a part may have been appended. */
int ki__json_write_content(ki_buf *out, ki_str raw);

/** Reserves a string of `len` bytes that need no escape and writes its quotes; the caller fills it
 *  and commits `len` + 2. NULL, with *ret_code, on failure. */
char *ki__json_write_quotes(ki_buf *out, size_t len, int *ret_code);

#endif
