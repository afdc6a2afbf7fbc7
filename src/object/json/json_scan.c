/* SPDX-License-Identifier: Apache-2.0 */
/* The validator. Strings, where most bytes are, are scanned a block at a time; the rest is a small
 * state machine whose stack is one bit per open map or list. */
#include "object/json/json_scan.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/utf8.h"
#include "object/json/json_simd.h"

const char *ki__json_scan_fail(ki__json_scan *scan, const char *p, int code, const char *format,
                               ...)
{
    char message[sizeof(scan->error->message)];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    ki_str text = ki_str_make(scan->start, (size_t)(scan->end - scan->start));
    scan->code = ki__error_at(scan->error, code, text, (size_t)(p - scan->start), "%s", message);
    return NULL;
}

static const char *fail_syntax(ki__json_scan *scan, const char *p, const char *message)
{
    if (p == scan->end) {
        message = "unexpected end of text";
    }
    return ki__json_scan_fail(scan, p, KI_ERR_SYNTAX, "%s", message);
}

/* ---- white space and literals ---- */

static inline const char *skip_space(const char *p, const char *end)
{
    /* Usually there is none, and one comparison suffices. */
    while (p != end && (unsigned char)*p <= ' ' &&
           (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r')) {
        p++;
    }
    return p;
}

const char *ki__json_scan_space(const ki__json_scan *scan, const char *p)
{
    return skip_space(p, scan->end);
}

static const char *scan_literal(ki__json_scan *scan, const char *p, const char *word, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (p + i == scan->end || p[i] != word[i]) {
            return fail_syntax(scan, p + i, "expected true, false or null");
        }
    }
    return p + len;
}

/* ---- numbers ---- */

static inline bool is_digit(const char *p, const char *end)
{
    return p != end && *p >= '0' && *p <= '9';
}

static const char *scan_digits(ki__json_scan *scan, const char *p, const char *message)
{
    if (!is_digit(p, scan->end)) {
        return fail_syntax(scan, p, message);
    }
    while (is_digit(p, scan->end)) {
        p++;
    }
    return p;
}

static const char *scan_number(ki__json_scan *scan, const char *p)
{
    const char *end = scan->end;
    if (*p == '-') {
        p++;
    }
    if (p != end && *p == '0') {
        p++;
        if (is_digit(p, end)) {
            return fail_syntax(scan, p, "a number must not begin with 0");
        }
    } else {
        p = scan_digits(scan, p, "expected a digit after the minus sign");
    }
    if (p != NULL && p != end && *p == '.') {
        p = scan_digits(scan, p + 1, "expected a digit after the decimal point");
    }
    if (p != NULL && p != end && (*p == 'e' || *p == 'E')) {
        p++;
        if (p != end && (*p == '+' || *p == '-')) {
            p++;
        }
        p = scan_digits(scan, p, "expected a digit in the exponent");
    }
    return p;
}

static const char *scan_scalar(ki__json_scan *scan, const char *p)
{
    switch (*p) {
    case 't':
        return scan_literal(scan, p, "true", 4);
    case 'f':
        return scan_literal(scan, p, "false", 5);
    case 'n':
        return scan_literal(scan, p, "null", 4);
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9':
        return scan_number(scan, p);
    default:
        if (p == scan->start && (unsigned char)*p == 0xef) {
            return fail_syntax(scan, p, "a byte order mark is not allowed");
        }
        return fail_syntax(scan, p, "expected a value");
    }
}

/* ---- strings ---- */

static inline unsigned byte_at(const char *p)
{
    return (unsigned char)*p;
}

static inline bool is_hex(unsigned c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

/* `p` is at the backslash. A lone surrogate is accepted: it decodes to U+FFFD. */
static const char *scan_escape(ki__json_scan *scan, const char *p)
{
    const char *escape = p;
    p++;
    if (p == scan->end) {
        return fail_syntax(scan, p, "");
    }
    switch (*p) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
        return p + 1;
    case 'u':
        for (int i = 1; i <= 4; i++) {
            if (p + i == scan->end) {
                return fail_syntax(scan, scan->end, "");
            }
            if (!is_hex(byte_at(p + i))) {
                return ki__json_scan_fail(scan, p + i, KI_ERR_ENCODING,
                                          "\\u must be followed by four hexadecimal digits");
            }
        }
        return p + 5;
    default:
        return ki__json_scan_fail(scan, escape, KI_ERR_ENCODING, "unknown escape sequence");
    }
}

/* Any special byte in a string: `p` is at a backslash, a control character or a non-ASCII byte. */
static const char *scan_special(ki__json_scan *scan, const char *p)
{
    if (*p == '\\') {
        return scan_escape(scan, p);
    }
    if (byte_at(p) < 0x20) {
        return fail_syntax(scan, p, "a control character in a string must be escaped");
    }
    while (p != scan->end && byte_at(p) >= 0x80) {
        size_t len = ki__utf8_length(ki_str_make(p, (size_t)(scan->end - p)));
        if (len == 0) {
            return ki__json_scan_fail(scan, p, KI_ERR_ENCODING, "not valid UTF-8");
        }
        p += len;
    }
    return p;
}

/* Classifies the chunk starting with the 64 bytes at `p`. Bytes beyond the end of the text count as
 * special, so that no search passes it. */
static __attribute__((noinline)) void look_at_chunk(ki__json_scan *scan, const char *p)
{
    size_t i = 0;
    scan->chunk = p;
    for (; i <= KI__JSON_CHUNK / 64 && scan->end - p >= 64; i++) {
        scan->special[i] = ki__json_special_64(p);
        p += 64;
    }
    if (i <= KI__JSON_CHUNK / 64) {
        char last[64] = {0};
        memcpy(last, p, (size_t)(scan->end - p));
        scan->special[i] = ki__json_special_64(last);
    }
    if (i < KI__JSON_CHUNK / 64) {
        scan->special[i + 1] = UINT64_MAX;
    }
}

/* The first special byte at or after `p`, or the end. Classifying whole chunks first keeps the SIMD
 * code free of data-dependent branches; per string it remains to fetch 64 bits and find the lowest
 * bit. */
static inline const char *find_special(ki__json_scan *scan, const char *p)
{
    for (;;) {
        size_t at = (size_t)(p - scan->chunk);
        if (at >= KI__JSON_CHUNK) {
            look_at_chunk(scan, scan->chunk + (at & ~(size_t)63));
            at &= 63;
        }
        uint64_t low = scan->special[at / 64] >> (at % 64);
        uint64_t high = scan->special[at / 64 + 1] << 1 << (63 - at % 64);
        if ((low | high) != 0) {
            return p + __builtin_ctzll(low | high);
        }
        p += 64;
    }
}

/* The rest of a string, from its first special byte on. */
static __attribute__((noinline)) const char *scan_string_rest(ki__json_scan *scan, const char *p)
{
    for (;;) {
        if (p == scan->end) {
            return fail_syntax(scan, p, "");
        }
        if (*p == '"') {
            return p + 1;
        }
        p = scan_special(scan, p);
        if (p == NULL) {
            return NULL;
        }
        p = find_special(scan, p);
    }
}

/* `p` is after the opening quote; returns the position after the closing one. */
static inline const char *scan_string(ki__json_scan *scan, const char *p)
{
    p = find_special(scan, p);
    if (p != scan->end && *p == '"') {
        return p + 1;
    }
    return scan_string_rest(scan, p);
}

/* ---- maps and lists ---- */

static inline const char *scan_name(ki__json_scan *scan, const char *p, const char **ret_end)
{
    if (p == scan->end || *p != '"') {
        return fail_syntax(scan, p, "expected a field name in quotes");
    }
    p = scan_string(scan, p + 1);
    if (p == NULL) {
        return NULL;
    }
    *ret_end = p - 1;
    p = skip_space(p, scan->end);
    if (p == scan->end || *p != ':') {
        return fail_syntax(scan, p, "expected a colon after the field name");
    }
    return skip_space(p + 1, scan->end);
}

const char *ki__json_scan_name(ki__json_scan *scan, const char *p, ki_str *ret_name)
{
    const char *name_end = p;
    const char *value = scan_name(scan, p, &name_end);
    if (value != NULL) {
        *ret_name = ki_str_make(p + 1, (size_t)(name_end - p) - 1);
    }
    return value;
}

static inline bool in_map(const ki__json_scan *scan)
{
    return (scan->maps[scan->depth / 64] >> (scan->depth % 64) & 1) != 0;
}

/* Opens the map or list at `p`; returns the position of its first element or closing bracket. */
static inline const char *open_container(ki__json_scan *scan, const char *p)
{
    if (scan->depth == scan->max_depth) {
        return ki__json_scan_fail(scan, p, KI_ERR_DEPTH, "maps and lists are nested too deeply");
    }
    scan->depth++;
    uint64_t bit = UINT64_C(1) << (scan->depth % 64);
    uint64_t *bits = &scan->maps[scan->depth / 64];
    if (scan->depth % 64 == 0) {
        *bits = 0;
    }
    *bits = *p == '{' ? *bits | bit : *bits & ~bit;
    return skip_space(p + 1, scan->end);
}

/* After a value: closes all containers that end here, down to depth `base`, and returns the
 * position of the next value, or after the last bracket with depth == base. */
static inline const char *after_value(ki__json_scan *scan, const char *p, uint32_t base)
{
    while (scan->depth != base) {
        bool map = in_map(scan);
        p = skip_space(p, scan->end);
        if (p == scan->end) {
            return fail_syntax(scan, p, "");
        }
        if (*p == ',') {
            const char *name_end;
            p = skip_space(p + 1, scan->end);
            return map ? scan_name(scan, p, &name_end) : p;
        }
        if (*p != (map ? '}' : ']')) {
            return fail_syntax(scan, p, map ? "expected a comma or }" : "expected a comma or ]");
        }
        p++;
        scan->depth--;
    }
    return p;
}

const char *ki__json_scan_value(ki__json_scan *scan, const char *p)
{
    uint32_t base = scan->depth;
    do {
        if (p == scan->end) {
            return fail_syntax(scan, p, "");
        }
        if (*p == '"') {
            p = scan_string(scan, p + 1);
        } else if (*p == '{' || *p == '[') {
            bool map = *p == '{';
            p = open_container(scan, p);
            if (p == NULL) {
                return NULL;
            }
            if (p != scan->end && *p == (map ? '}' : ']')) {
                p++;
                scan->depth--;
            } else if (map) {
                const char *name_end;
                p = scan_name(scan, p, &name_end);
                if (p == NULL) {
                    return NULL;
                }
                continue;
            } else {
                continue;
            }
        } else {
            p = scan_scalar(scan, p);
        }
        if (p == NULL) {
            return NULL;
        }
        p = after_value(scan, p, base);
        if (p == NULL) {
            return NULL;
        }
    } while (scan->depth != base);
    return p;
}

const char *ki__json_scan_open(ki__json_scan *scan, const char *p)
{
    return open_container(scan, p);
}

const char *ki__json_scan_next(ki__json_scan *scan, const char *p, bool *ret_more)
{
    bool map = in_map(scan);
    p = skip_space(p, scan->end);
    if (p == scan->end || (*p != ',' && *p != (map ? '}' : ']'))) {
        return fail_syntax(scan, p, map ? "expected a comma or }" : "expected a comma or ]");
    }
    *ret_more = *p == ',';
    return *ret_more ? skip_space(p + 1, scan->end) : p;
}

const char *ki__json_scan_close(ki__json_scan *scan, const char *p)
{
    scan->depth--;
    return p + 1;
}

const char *ki__json_scan_end(ki__json_scan *scan, const char *p)
{
    p = skip_space(p, scan->end);
    if (p != scan->end) {
        return ki__json_scan_fail(scan, p, KI_ERR_SYNTAX, "unexpected text after the value");
    }
    return p;
}

void ki__json_scan_init(ki__json_scan *scan, ki_str text, uint32_t max_depth, ki_error *error)
{
    ki_assert(max_depth <= KI__JSON_MAX_DEPTH);
    scan->start = text.len != 0 ? text.ptr : "";
    scan->end = scan->start + text.len;
    scan->error = error;
    scan->code = 0;
    scan->depth = 0;
    scan->max_depth = max_depth;
    scan->maps[0] = 0; /* the rest is written before read */
    look_at_chunk(scan, scan->start);
}

int ki__json_check(ki_str text, uint32_t max_depth, ki_error *error)
{
    ki__json_scan scan;
    ki__json_scan_init(&scan, text, max_depth, error);
    const char *p = ki__json_scan_value(&scan, skip_space(scan.start, scan.end));
    if (p != NULL) {
        p = ki__json_scan_end(&scan, p);
    }
    return p != NULL ? 0 : scan.code;
}
