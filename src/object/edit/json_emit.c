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
