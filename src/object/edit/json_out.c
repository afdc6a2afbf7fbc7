/* SPDX-License-Identifier: Apache-2.0 */
#include "object/edit/json_out.h"

#include <kinformer/error.h>

#include "base/digits.h"
#include "base/utf8.h"
#include "object/json/json_write.h"
#include "object/text/base64.h"
#include "object/text/text_format.h"

/* ---- raw text ---- */

static void add(ki__out *out, const char *bytes, size_t len)
{
    if (out->error == 0) {
        out->error = ki_buf_add(out->buf, bytes, len);
    }
}

void ki__out_char(ki__out *out, char c)
{
    add(out, &c, 1);
}

void ki__out_str(ki__out *out, ki_str text)
{
    add(out, text.ptr, text.len);
}

void ki__out_text(ki__out *out, const char *text)
{
    ki__out_str(out, ki_str_from(text));
}

void ki__out_vtexts(ki__out *out, va_list texts)
{
    for (const char *text = va_arg(texts, const char *); text != NULL;
         text = va_arg(texts, const char *)) {
        ki__out_text(out, text);
    }
}

void ki__out_texts(ki__out *out, ...)
{
    va_list texts;
    va_start(texts, out);
    ki__out_vtexts(out, texts);
    va_end(texts);
}

void ki__out_u64(ki__out *out, uint64_t number)
{
    char room[KI__DIGITS_SIZE];
    ki__out_str(out, ki__digits(number, room));
}

void ki__out_i64(ki__out *out, int64_t number)
{
    char text[KI__INT64_TEXT_MAX];
    add(out, text, ki__format_int64(number, text));
}

void ki__out_index(ki__out *out, uint64_t index)
{
    ki__out_char(out, '[');
    ki__out_u64(out, index);
    ki__out_char(out, ']');
}

void ki__out_time(ki__out *out, int64_t seconds)
{
    const int64_t first = INT64_C(-62162035200); /* 0000-03-01 */
    const int64_t last = INT64_C(253402300799);  /* 9999-12-31T23:59:59Z */
    char text[KI__TIME_TEXT_MAX];
    seconds = seconds < first ? first : seconds > last ? last : seconds;
    add(out, text, ki__format_time(seconds, text));
}

void ki__out_base64(ki__out *out, ki_str bytes)
{
    char *room;
    size_t len = ki__base64_length(bytes.len);
    if (out->error == 0) {
        out->error = ki_buf_reserve(out->buf, len, &room);
    }
    if (out->error == 0) {
        (void)ki__base64_encode(bytes, room, len);
        ki_buf_commit(out->buf, len);
    }
}

void ki__out_content(ki__out *out, const ki_value *value)
{
    if (out->error == 0) {
        out->error = ki_value_copy_string(value, out->buf);
    }
}

void ki__out_escaped(ki__out *out, ki_str text)
{
    if (out->error == 0) {
        out->error = ki__json_write_content(out->buf, text);
    }
}

void ki__out_double(ki__out *out, double number)
{
    char text[KI__DOUBLE_TEXT_MAX];
    if (!__builtin_isfinite(number)) {
        ki__out_fail(out, KI_ERR_RANGE);
    }
    add(out, text, ki__format_double(number, text));
}

/* ---- strings quoted as in Go ---- */

static void add_hex(ki__out *out, const char *before, unsigned int number, unsigned int digits)
{
    static const char hex[] = "0123456789abcdef";
    ki__out_text(out, before);
    for (unsigned int i = digits; i != 0; i--) {
        ki__out_char(out, hex[(number >> (4 * (i - 1))) & 15]);
    }
}

static void quote_ascii(ki__out *out, unsigned char c)
{
    static const char short_forms[] = "abtnvfr"; /* for bytes 7 to 13 */
    if (c == '"' || c == '\\') {
        ki__out_char(out, '\\');
        ki__out_char(out, (char)c);
    } else if (c >= 7 && c <= 13) {
        ki__out_char(out, '\\');
        ki__out_char(out, short_forms[c - 7]);
    } else if (c < 0x20 || c == 0x7f) {
        add_hex(out, "\\x", c, 2);
    } else {
        ki__out_char(out, (char)c);
    }
}

void ki__out_quoted(ki__out *out, ki_str text)
{
    ki__out_char(out, '"');
    while (text.len != 0 && out->error == 0) {
        unsigned char c = (unsigned char)text.ptr[0];
        size_t len = ki__utf8_length(text);
        unsigned char second = len == 2 ? (unsigned char)text.ptr[1] : 0;
        if (len == 0) {
            add_hex(out, "\\x", c, 2);
            len = 1;
        } else if (len == 1) {
            quote_ascii(out, c);
        } else if (c == 0xc2 && second < 0xa1) { /* Latin-1 controls and no-break space */
            add_hex(out, "\\u", second, 4);
        } else {
            add(out, text.ptr, len);
        }
        text = ki_str_make(text.ptr + len, text.len - len);
    }
    ki__out_char(out, '"');
}

/* ---- JSON ---- */

/* The last byte of the text; NUL if empty. */
static char last_byte(const ki__out *out)
{
    return out->buf->len > out->start ? out->buf->data[out->buf->len - 1] : '\0';
}

/* Whether this byte ends a value: a string, map, list, number, true, false or null. The bytes
 * before the first value of a container, and after a name, are different ones. */
static bool ends_value(char c)
{
    return c == '"' || c == '}' || c == ']' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z');
}

static bool in_map(const ki__out *out)
{
    return ki__out_is_map(out, out->depth);
}

bool ki__out_is_named(const ki__out *out)
{
    return last_byte(out) == ':';
}

bool ki__out_is_complete(const ki__out *out)
{
    return out->depth == 0 && ends_value(last_byte(out));
}

void ki__put_comma(ki__out *out)
{
    if (ends_value(last_byte(out))) {
        ki__out_char(out, ',');
    }
}

/* Before a value. In a map, the last byte shows whether there is a name. */
static void begin_value(ki__out *out)
{
    char last = last_byte(out);
    if (out->depth != 0 && in_map(out) && (last == '{' || ends_value(last))) {
        ki__out_fail(out, KI_ERR_INVALID);
    }
    if (out->is_document && ki__out_is_complete(out)) {
        ki__out_fail(out, KI_ERR_INVALID);
    }
    ki__put_comma(out);
}

static void begin_name(ki__out *out)
{
    char last = last_byte(out);
    if (last == ':' || (out->depth != 0 && !in_map(out) && (last == '[' || ends_value(last)))) {
        ki__out_fail(out, KI_ERR_INVALID);
    }
    if (out->is_document && out->depth == 0) {
        ki__out_fail(out, KI_ERR_INVALID);
    }
    ki__put_comma(out);
}

static void open(ki__out *out, char c)
{
    begin_value(out);
    if (out->depth == KI__OUT_DEPTH_MAX) {
        ki__out_fail(out, KI_ERR_DEPTH);
    }
    ki__out_char(out, c);
    if (out->error == 0) {
        uint64_t bit = UINT64_C(1) << out->depth % 64;
        uint64_t *word = &out->maps[out->depth / 64];
        *word = c == '{' ? *word | bit : *word & ~bit;
        out->depth++;
    }
}

void ki__put_map(ki__out *out)
{
    open(out, '{');
}

void ki__put_list(ki__out *out)
{
    open(out, '[');
}

void ki__put_end(ki__out *out)
{
    if (out->depth == 0 || last_byte(out) == ':') {
        ki__out_fail(out, KI_ERR_INVALID);
    }
    if (out->error == 0) {
        ki__out_char(out, in_map(out) ? '}' : ']');
        out->depth--;
    }
}

static void add_string(ki__out *out, ki_str text)
{
    if (out->error == 0) {
        out->error = ki_buf_add_json_string(out->buf, text);
    }
}

static void add_value(ki__out *out, const ki_value *value)
{
    if (out->error == 0) {
        out->error = ki_value_write_json(value, out->buf);
    }
}

void ki__put_name(ki__out *out, const char *name)
{
    begin_name(out);
    ki__out_texts(out, "\"", name, "\":", NULL);
}

void ki__put_name_str(ki__out *out, ki_str name)
{
    begin_name(out);
    add_string(out, name);
    ki__out_char(out, ':');
}

void ki__put_name_value(ki__out *out, const ki_value *name)
{
    begin_name(out);
    add_value(out, name);
    ki__out_char(out, ':');
}

void ki__put_begin_name(ki__out *out)
{
    begin_name(out);
    ki__out_char(out, '"');
}

void ki__put_end_name(ki__out *out)
{
    ki__out_text(out, "\":");
}

void ki__put_begin_string(ki__out *out)
{
    begin_value(out);
    ki__out_char(out, '"');
}

void ki__put_end_string(ki__out *out)
{
    ki__out_char(out, '"');
}

void ki__put_string(ki__out *out, ki_str text)
{
    begin_value(out);
    add_string(out, text);
}

void ki__put_u64(ki__out *out, uint64_t number)
{
    begin_value(out);
    ki__out_u64(out, number);
}

void ki__put_i64(ki__out *out, int64_t number)
{
    begin_value(out);
    ki__out_i64(out, number);
}

void ki__put_double(ki__out *out, double number)
{
    begin_value(out);
    ki__out_double(out, number);
}

void ki__put_bool(ki__out *out, bool flag)
{
    begin_value(out);
    ki__out_text(out, flag ? "true" : "false");
}

void ki__put_null(ki__out *out)
{
    begin_value(out);
    ki__out_text(out, "null");
}

void ki__put_time(ki__out *out, int64_t seconds)
{
    begin_value(out);
    ki__out_char(out, '"');
    ki__out_time(out, seconds);
    ki__out_char(out, '"');
}

void ki__put_value(ki__out *out, const ki_value *value)
{
    begin_value(out);
    add_value(out, value);
}

void ki__put_json(ki__out *out, ki_str json)
{
    if (json.len != 0) {
        begin_value(out);
        ki__out_str(out, json);
    }
}

void ki__put_member_str(ki__out *out, const char *name, ki_str text)
{
    ki__put_name(out, name);
    ki__put_string(out, text);
}

void ki__put_member(ki__out *out, const char *name, const char *text)
{
    ki__put_member_str(out, name, ki_str_from(text));
}
