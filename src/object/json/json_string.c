/* SPDX-License-Identifier: Apache-2.0 */
#include "object/json/json_string.h"

void ki__json_pieces_init(ki__json_pieces *pieces, ki_str raw)
{
    pieces->next = raw.len != 0 ? raw.ptr : "";
    pieces->end = pieces->next + raw.len;
}

static uint32_t hex_value(char c)
{
    return c <= '9' ? (uint32_t)(c - '0') : (uint32_t)((c | 0x20) - 'a') + 10;
}

/* The code unit of the \uXXXX at `p`. */
static uint32_t code_unit(const char *p)
{
    return hex_value(p[2]) << 12 | hex_value(p[3]) << 8 | hex_value(p[4]) << 4 | hex_value(p[5]);
}

static size_t put_utf8(char out[4], uint32_t point)
{
    if (point < 0x80) {
        out[0] = (char)point;
        return 1;
    }
    if (point < 0x800) {
        out[0] = (char)(0xc0 | point >> 6);
        out[1] = (char)(0x80 | (point & 0x3f));
        return 2;
    }
    if (point < 0x10000) {
        out[0] = (char)(0xe0 | point >> 12);
        out[1] = (char)(0x80 | (point >> 6 & 0x3f));
        out[2] = (char)(0x80 | (point & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | point >> 18);
    out[1] = (char)(0x80 | (point >> 12 & 0x3f));
    out[2] = (char)(0x80 | (point >> 6 & 0x3f));
    out[3] = (char)(0x80 | (point & 0x3f));
    return 4;
}

static ki_str unicode_piece(ki__json_pieces *pieces)
{
    const char *p = pieces->next;
    uint32_t point = code_unit(p);
    pieces->next = p + 6;
    if (point >= 0xd800 && point <= 0xdfff) {
        bool paired = point < 0xdc00 && pieces->end - p >= 12 && p[6] == '\\' && p[7] == 'u';
        uint32_t low = paired ? code_unit(p + 6) : 0;
        if (low >= 0xdc00 && low <= 0xdfff) {
            point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
            pieces->next = p + 12;
        } else {
            point = 0xfffd;
        }
    }
    return ki_str_make(pieces->escape, put_utf8(pieces->escape, point));
}

static char simple_escape(char c)
{
    switch (c) {
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    default:
        return c; /* a quote, a backslash or a slash */
    }
}

ki_str ki__json_pieces_next(ki__json_pieces *pieces)
{
    const char *p = pieces->next;
    size_t left = (size_t)(pieces->end - p);
    if (left == 0) {
        return ki_str_make(p, 0);
    }
    if (*p != '\\') {
        const char *slash = memchr(p, '\\', left);
        pieces->next = slash != NULL ? slash : pieces->end;
        return ki_str_make(p, (size_t)(pieces->next - p));
    }
    if (p[1] == 'u') {
        return unicode_piece(pieces);
    }
    pieces->escape[0] = simple_escape(p[1]);
    pieces->next = p + 2;
    return ki_str_make(pieces->escape, 1);
}

size_t ki__json_decode(ki_str raw, char *out, size_t size)
{
    ki__json_pieces pieces;
    ki__json_pieces_init(&pieces, raw);
    size_t len = 0;
    for (ki_str piece; (piece = ki__json_pieces_next(&pieces)).len != 0;) {
        if (len < size) {
            memcpy(out + len, piece.ptr, piece.len < size - len ? piece.len : size - len);
        }
        len += piece.len;
    }
    return len;
}

bool ki__json_raw_equals(ki_str raw, ki_str text)
{
    ki__json_pieces pieces;
    ki__json_pieces_init(&pieces, raw);
    for (ki_str piece; (piece = ki__json_pieces_next(&pieces)).len != 0;) {
        if (piece.len > text.len || memcmp(piece.ptr, text.ptr, piece.len) != 0) {
            return false;
        }
        text = ki_str_make(text.ptr + piece.len, text.len - piece.len);
    }
    return text.len == 0;
}

int ki__json_raw_compare(ki_str a, ki_str b)
{
    ki__json_pieces left;
    ki__json_pieces right;
    ki__json_pieces_init(&left, a);
    ki__json_pieces_init(&right, b);
    ki_str x = ki__json_pieces_next(&left);
    ki_str y = ki__json_pieces_next(&right);
    while (x.len != 0 && y.len != 0) {
        size_t len = x.len < y.len ? x.len : y.len;
        int order = memcmp(x.ptr, y.ptr, len);
        if (order != 0) {
            return order;
        }
        x = ki_str_make(x.ptr + len, x.len - len);
        y = ki_str_make(y.ptr + len, y.len - len);
        x = x.len != 0 ? x : ki__json_pieces_next(&left);
        y = y.len != 0 ? y : ki__json_pieces_next(&right);
    }
    return (x.len != 0) - (y.len != 0);
}
