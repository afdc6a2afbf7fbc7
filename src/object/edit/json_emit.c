/* SPDX-License-Identifier: Apache-2.0 */
#include "object/edit/json_emit.h"

#include <kinformer/error.h>

#include "base/digits.h"
#include "base/utf8.h"
#include "object/json/json_write.h"
#include "object/text/text_format.h"

int ki__emit_texts(ki_buf *out, va_list texts)
{
    int r = 0;
    for (const char *text = va_arg(texts, const char *); text != NULL && r == 0;
         text = va_arg(texts, const char *)) {
        r = ki_buf_add_text(out, text);
    }
    return r;
}

int ki__emit_text(ki_buf *out, ...)
{
    va_list texts;
    va_start(texts, out);
    int r = ki__emit_texts(out, texts);
    va_end(texts);
    return r;
}

int ki__emit_u64(ki_buf *out, uint64_t number)
{
    char room[KI__DIGITS_SIZE];
    ki_str digits = ki__digits(number, room);
    return ki_buf_add(out, digits.ptr, digits.len);
}

int ki__emit_i64(ki_buf *out, int64_t number)
{
    char text[KI__INT64_TEXT_MAX];
    return ki_buf_add(out, text, ki__format_int64(number, text));
}

/* ---- strings ---- */

int ki__emit_string(ki_buf *out, ki_str text)
{
    return ki_buf_add_json_string(out, text);
}

int ki__emit_member(ki_buf *out, const char *name, ki_str text, bool first)
{
    int r = ki__emit_text(out, first ? "\"" : ",\"", name, "\":", NULL);
    return r < 0 ? r : ki__emit_string(out, text);
}

/* ---- time ---- */

int ki__emit_time(ki_buf *out, int64_t seconds)
{
    const int64_t first = INT64_C(-62162035200); /* 0000-03-01 */
    const int64_t last = INT64_C(253402300799);  /* 9999-12-31T23:59:59Z */
    char text[KI__TIME_TEXT_MAX];
    seconds = seconds < first ? first : seconds > last ? last : seconds;
    return ki_buf_add(out, text, ki__format_time(seconds, text));
}

/* ---- base64url and numbers ---- */

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

int ki__emit_base64url(ki_buf *out, ki_str bytes)
{
    const unsigned char *p = (const unsigned char *)bytes.ptr;
    int r = 0;
    for (size_t i = 0; i < bytes.len && r == 0; i += 3) {
        size_t have = bytes.len - i < 3 ? bytes.len - i : 3;
        uint32_t word = (uint32_t)p[i] << 16;
        word |= have > 1 ? (uint32_t)p[i + 1] << 8 : 0;
        word |= have > 2 ? (uint32_t)p[i + 2] : 0;
        char text[4];
        for (int j = 0; j < 4; j++) {
            text[j] = alphabet[word >> (18 - 6 * j) & 63];
        }
        r = ki_buf_add(out, text, have + 1);
    }
    return r;
}

int ki__read_base64url(ki_str text, ki_buf *out)
{
    int r = text.len % 4 == 1 ? KI_ERR_SYNTAX : 0;
    for (size_t i = 0; i < text.len && r == 0; i += 4) {
        size_t have = text.len - i < 4 ? text.len - i : 4;
        uint32_t word = 0;
        for (size_t j = 0; j < 4; j++) {
            const char *at = j < have ? memchr(alphabet, text.ptr[i + j], 64) : alphabet;
            if (at == NULL) {
                return KI_ERR_SYNTAX;
            }
            word = word << 6 | (uint32_t)(at - alphabet);
        }
        if ((have == 2 && (word & 0xffff) != 0) || (have == 3 && (word & 0xff) != 0)) {
            return KI_ERR_SYNTAX; /* two texts for the same bytes */
        }
        const char bytes[3] = {(char)(word >> 16), (char)(word >> 8), (char)word};
        r = ki_buf_add(out, bytes, have - 1);
    }
    return r;
}

bool ki__read_u64(ki_str text, uint64_t *ret_number)
{
    uint64_t number = 0;
    for (size_t i = 0; i < text.len; i++) {
        unsigned digit = (unsigned)(text.ptr[i] - '0');
        if (digit > 9 || number > (UINT64_MAX - digit) / 10) {
            return false;
        }
        number = number * 10 + digit;
    }
    *ret_number = number;
    return text.len != 0;
}

/* ---- strings as Go shows them ---- */

static int add_hex(ki_buf *out, const char *before, unsigned int number, unsigned int digits)
{
    static const char hex[] = "0123456789abcdef";
    int r = ki_buf_add_text(out, before);
    for (unsigned int i = digits; i != 0 && r == 0; i--) {
        r = ki_buf_add_char(out, hex[(number >> (4 * (i - 1))) & 15]);
    }
    return r;
}

static int quote_ascii(unsigned char c, ki_buf *out)
{
    static const char short_forms[] = "abtnvfr"; /* of the bytes 7 to 13 */
    if (c == '"' || c == '\\') {
        int r = ki_buf_add_char(out, '\\');
        return r < 0 ? r : ki_buf_add_char(out, (char)c);
    }
    if (c >= 7 && c <= 13) {
        int r = ki_buf_add_char(out, '\\');
        return r < 0 ? r : ki_buf_add_char(out, short_forms[c - 7]);
    }
    return c < 0x20 || c == 0x7f ? add_hex(out, "\\x", c, 2) : ki_buf_add_char(out, (char)c);
}

int ki__emit_quoted(ki_buf *out, ki_str text)
{
    int r = ki_buf_add_char(out, '"');
    while (text.len != 0 && r == 0) {
        unsigned char c = (unsigned char)text.ptr[0];
        size_t len = ki__utf8_length(text);
        unsigned char second = len == 2 ? (unsigned char)text.ptr[1] : 0;
        if (len <= 1) {
            r = len == 1 ? quote_ascii(c, out) : add_hex(out, "\\x", c, 2);
        } else if (c == 0xc2 && second < 0xa1) { /* the controls of Latin-1, and its hard space */
            r = add_hex(out, "\\u", second, 4);
        } else {
            r = ki_buf_add(out, text.ptr, len);
        }
        len = len != 0 ? len : 1;
        text = ki_str_make(text.ptr + len, text.len - len);
    }
    return r < 0 ? r : ki_buf_add_char(out, '"');
}
