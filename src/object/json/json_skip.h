/* SPDX-License-Identifier: Apache-2.0 */
/* Finding the way in JSON that was checked before. Nothing here looks for errors or for the end:
 * the text must be valid, and KI__JSON_PADDING bytes after it must be readable, as they are in the
 * block of an object. */
#ifndef KI_OBJECT_JSON_JSON_SKIP_H
#define KI_OBJECT_JSON_JSON_SKIP_H

#include "base/shared.h"
#include "object/json/json_simd.h"

enum { KI__JSON_PADDING = 64 };

static inline const char *ki__json_skip_space(const char *p)
{
    while ((unsigned char)*p <= ' ') { /* nothing else that low stands outside of strings */
        p++;
    }
    return p;
}

/** The first quote or backslash at or after `p`. */
static inline const char *ki__json_find_quote(const char *p)
{
    uint32_t mask;
    while ((mask = ki__json_quotes_32(p)) == 0) {
        p += 32;
    }
    return p + __builtin_ctz(mask);
}

/** `p` is inside a string, or after its opening quote; the result is its closing quote. */
static inline const char *ki__json_string_end(const char *p)
{
    for (;;) {
        p = ki__json_find_quote(p);
        if (*p == '"') {
            return p;
        }
        p += 2;
    }
}

/** The place after the value that begins at `p`. */
KI__SHARED const char *ki__json_skip_value(const char *p);

#endif
