/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

#include "base/bytes.h"

size_t ki__utf8_length(ki_str text)
{
    const unsigned char *p = (const unsigned char *)text.ptr;
    if (p[0] < 0x80) {
        return 1;
    }
    size_t len = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4 || len > text.len) {
        return 0;
    }
    /* The bounds of the second byte exclude overlong encodings, surrogates and code points beyond
     * U+10FFFF. */
    unsigned char low = p[0] == 0xe0 ? 0xa0 : p[0] == 0xf0 ? 0x90 : 0x80;
    unsigned char high = p[0] == 0xed ? 0x9f : p[0] == 0xf4 ? 0x8f : 0xbf;
    for (size_t i = 1; i < len; i++) {
        if (p[i] < low || p[i] > high) {
            return 0;
        }
        low = 0x80;
        high = 0xbf;
    }
    return len;
}

/* Number of ASCII bytes starting at `p`. */
static size_t ascii_length(const char *p, const char *end)
{
    static const uint64_t tops = UINT64_C(0x8080808080808080);
    const char *start = p;
    for (; end - p >= 8; p += 8) {
        uint64_t high = ki__load_le64(p) & tops;
        if (high != 0) {
            return (size_t)(p - start) + (size_t)__builtin_ctzll(high) / 8;
        }
    }
    while (p != end && (unsigned char)*p < 0x80) {
        p++;
    }
    return (size_t)(p - start);
}

/* Number of well-formed bytes starting at `p`. */
static size_t valid_length(const char *p, const char *end)
{
    const char *start = p;
    for (;;) {
        p += ascii_length(p, end);
        while (p != end && (unsigned char)*p >= 0x80) {
            size_t len = ki__utf8_length(ki_str_make(p, (size_t)(end - p)));
            if (len == 0) {
                return (size_t)(p - start);
            }
            p += len;
        }
        if (p == end) {
            return (size_t)(p - start);
        }
    }
}

bool ki__utf8_valid(ki_str text)
{
    return text.len == 0 || valid_length(text.ptr, text.ptr + text.len) == text.len;
}

static size_t put(char *out, size_t size, size_t at, const char *bytes, size_t len)
{
    if (at < size) {
        memcpy(out + at, bytes, len < size - at ? len : size - at);
    }
    return at + len;
}

size_t ki__utf8_repair(ki_str text, char *out, size_t size)
{
    size_t written = 0;
    if (text.len == 0) {
        return 0;
    }
    const char *end = text.ptr + text.len;
    for (const char *p = text.ptr; p != end;) {
        size_t good = valid_length(p, end);
        written = put(out, size, written, p, good);
        p += good;
        if (p != end) {
            written = put(out, size, written, "\xef\xbf\xbd", 3);
            p++;
        }
    }
    return written;
}
