/* SPDX-License-Identifier: Apache-2.0 */
/* A name of known length is enclosed by two quotes at a fixed distance, and few positions in a map
 * match that: these candidates are found with SIMD, and only they are compared. */
#include "object/json/json_flat.h"

#include "object/json/json_skip.h"

/* Skips the string at `p`. NULL if it has an escape or is not a string. */
static inline const char *skip_plain(const char *p)
{
    if (*p != '"') {
        return NULL;
    }
    p = ki__json_find_quote(p + 1);
    return *p == '"' ? ki__json_skip_space(p + 1) : NULL;
}

uint32_t ki__json_flat_len(const char *p)
{
    const char *start = p;
    p = ki__json_skip_space(p + 1);
    while (*p != '}') {
        p = skip_plain(p);
        p = p != NULL ? skip_plain(ki__json_skip_space(p + 1)) : NULL;
        if (p == NULL) {
            return 0;
        }
        if (*p == ',') {
            p = ki__json_skip_space(p + 1);
        }
    }
    size_t len = (size_t)(p - start) + 1;
    return len <= UINT32_MAX ? (uint32_t)len : 0;
}

static inline uint64_t word_at(const char *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof(word));
    return word;
}

static inline uint32_t half_at(const char *p)
{
    uint32_t half;
    memcpy(&half, p, sizeof(half));
    return half;
}

/* memcmp() without a function call, for short names. Words may overlap. */
static inline bool same_bytes(const char *a, const char *b, size_t len)
{
    if (len >= 8) {
        size_t end = len - 8;
        for (size_t i = 0; i < end; i += 8) {
            if (word_at(a + i) != word_at(b + i)) {
                return false;
            }
        }
        return word_at(a + end) == word_at(b + end);
    }
    if (len >= 4) {
        return half_at(a) == half_at(b) && half_at(a + len - 4) == half_at(b + len - 4);
    }
    return len == 0 || (a[0] == b[0] && a[len / 2] == b[len / 2] && a[len - 1] == b[len - 1]);
}

/* Whether the quotes at `p` and after `name.len` bytes enclose `name`, as a member name. Without
 * escapes every quote starts or ends a string, and one followed by a letter or digit starts one. */
static inline bool is_name(const char *p, ki_str name)
{
    return same_bytes(p + 1, name.ptr, name.len) && *ki__json_skip_space(p + name.len + 2) == ':';
}

static inline const char *find(const char *p, size_t len, ki_str name)
{
    if (len < name.len + 2) {
        return NULL;
    }
    const char *last = p + len - (name.len + 2); /* last possible position of the opening quote */
    for (; p <= last; p += 32) {
        uint32_t found = ki__json_quote_pairs_32(p, p + 1 + name.len);
        for (; found != 0; found &= found - 1) {
            const char *quote = p + __builtin_ctz(found);
            if (quote <= last && is_name(quote, name)) {
                return ki__json_skip_space(ki__json_skip_space(quote + name.len + 2) + 1);
            }
        }
    }
    return NULL;
}

const char *ki__json_flat_find(const char *p, size_t len, ki_str name)
{
    return find(p, len, name);
}

bool ki__json_flat_text(const char *p, size_t len, ki_str name, ki_str *ret_text)
{
    p = find(p, len, name);
    if (p == NULL) {
        return false;
    }
    *ret_text = ki_str_make(p + 1, (size_t)(ki__json_find_quote(p + 1) - p) - 1);
    return true;
}

bool ki__json_flat_is(const char *p, size_t len, ki_str name, ki_str text)
{
    const char *end = p + len;
    p = find(p, len, name);
    return p != NULL && text.len + 2 <= (size_t)(end - p) && p[text.len + 1] == '"' &&
           same_bytes(p + 1, text.ptr, text.len);
}
