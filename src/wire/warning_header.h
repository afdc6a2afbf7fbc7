/* SPDX-License-Identifier: Apache-2.0 */
/* What servers say in Warning headers (RFC 7234, 5.5): a list of code, agent, quoted text, and
 * sometimes a date. The text is any server's, and is made fit for a log here. */
#ifndef KI_WIRE_WARNING_HEADER_H
#define KI_WIRE_WARNING_HEADER_H

#include <kinformer/str.h>

enum { KI__WARNING_TEXT_MAX = 1023, KI__WARNING_PERSISTENT = 299 };

typedef struct ki__warning {
    int code; /* 100 to 999 */
    size_t len;
    char text[KI__WARNING_TEXT_MAX + 1]; /* valid UTF-8, without control characters; cut if long */
} ki__warning;

/** Takes the next warning off the front of a header's value. 1, or 0 if there is none any more.
 *  Errors: KI_ERR_SYNTAX  it is not well formed; then nothing is left of the value. */
int ki__warning_next(ki_str *value, ki__warning *ret_warning);

#endif
