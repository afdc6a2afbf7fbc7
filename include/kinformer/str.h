/* SPDX-License-Identifier: Apache-2.0 */
/* A string view: bytes with a length, not owned and not NUL-terminated. All functions are
 * thread-safe, never block and never fail.  Since: 0.1 */
#ifndef KINFORMER_STR_H
#define KINFORMER_STR_H

#include <string.h>

#include <kinformer/defs.h>

KI_BEGIN_DECLS

typedef struct ki_str {
    const char *ptr; /* may be NULL only when len is 0 */
    size_t len;
} ki_str;

/** For printf: printf("%.*s", KI_STR_ARG(view)). Evaluates its argument more than once. */
#define KI_STR_ARG(s) \
    ((int)((s).len < INT32_MAX ? (s).len : INT32_MAX)), ((s).len != 0 ? (s).ptr : "")

/** Returns a view of the `len` bytes at `ptr`. */
static inline ki_str ki_str_make(const char *ptr, size_t len)
{
    ki_str s;
    s.ptr = ptr;
    s.len = len;
    return s;
}

/** Returns a view of a C string; NULL gives the empty view. */
static inline ki_str ki_str_from(const char *text)
{
    return ki_str_make(text, text != NULL ? strlen(text) : 0);
}

/** Returns whether two views have the same bytes. */
static inline bool ki_str_eq(ki_str a, ki_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/** Returns whether a view has the bytes of a C string. */
static inline bool ki_str_eq_text(ki_str a, const char *text)
{
    return ki_str_eq(a, ki_str_from(text));
}

/** Compares two views by bytes, as memcmp() does; a prefix sorts before longer views. */
static inline int ki_str_cmp(ki_str a, ki_str b)
{
    size_t shorter = a.len < b.len ? a.len : b.len;
    int r = shorter != 0 ? memcmp(a.ptr, b.ptr, shorter) : 0;
    if (r != 0) {
        return r;
    }
    return a.len == b.len ? 0 : (a.len < b.len ? -1 : 1);
}

KI_END_DECLS

#endif
