/* SPDX-License-Identifier: Apache-2.0 */
/* Navigation in validated JSON. No function checks for errors or for the end: the text must be
 * valid, and KI__JSON_PADDING bytes after it must be readable, as in the block of an object. */
#ifndef KI_OBJECT_JSON_JSON_SKIP_H
#define KI_OBJECT_JSON_JSON_SKIP_H

#include "base/shared.h"
#include "object/json/json_simd.h"

enum { KI__JSON_PADDING = 64 };

static inline const char *ki__json_skip_space(const char *p)
{
    while ((unsigned char)*p <= ' ') { /* no other byte outside of strings is that low */
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

/** `p` is inside a string, after its opening quote; returns its closing quote. */
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

/** The position after the value at `p`. */
KI__SHARED const char *ki__json_skip_value(const char *p);

#endif
