/* SPDX-License-Identifier: Apache-2.0 */
/* Parses Warning headers (RFC 7234, 5.5): a list of code, agent, quoted text and an optional date.
 * The text is untrusted and is sanitized for logs. */
#ifndef KI_WIRE_WARNING_HEADER_H
#define KI_WIRE_WARNING_HEADER_H

#include <kinformer/str.h>

enum { KI__WARNING_TEXT_MAX = 1023, KI__WARNING_PERSISTENT = 299 };

typedef struct ki__warning {
    int code; /* 100 to 999 */
    size_t len;
    char text[KI__WARNING_TEXT_MAX + 1]; /* valid UTF-8, no control characters; truncated if long */
} ki__warning;

/** Parses the next warning and removes it from the front of a header's value. 1, or 0 at the end.
 *  Errors: KI_ERR_SYNTAX  malformed; the rest of the value is dropped. */
int ki__warning_next(ki_str *value, ki__warning *ret_warning);

#endif
