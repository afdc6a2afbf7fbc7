/* SPDX-License-Identifier: Apache-2.0 */
/* Text output. Invariant: nothing received from a cluster is printed with bytes that a terminal
 * would interpret. */
#include "cli/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <wchar.h>

#include <kinformer/parts/columns.h>

#define TEXT_MAX ((size_t)1 << 30)

enum { REPLACEMENT = 0xfffd, FORMAT_MAX = 1024, PER_THOUSAND = 1000 };

void cli_text_init(ki_buf *out)
{
    ki_buf_init(out, NULL, TEXT_MAX);
}

static void need(int r)
{
    if (r < 0) {
        (void)fputs("kinformer: out of memory\n", stderr);
        exit(1);
    }
}

void cli_put(ki_buf *out, const char *text)
{
    need(ki_buf_add_text(out, text));
}

void cli_put_str(ki_buf *out, ki_str text)
{
    need(ki_buf_add_str(out, text));
}

void cli_put_char(ki_buf *out, char c)
{
    need(ki_buf_add_char(out, c));
}

void cli_putf(ki_buf *out, const char *format, ...)
{
    char text[FORMAT_MAX];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (len > 0) {
        size_t all = (size_t)len;
        cli_put_str(out, ki_str_make(text, all < sizeof(text) ? all : sizeof(text) - 1));
    }
}

/* ---- characters ---- */

size_t cli_text_char(ki_str text, uint32_t *ret_code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char first = (unsigned char)text.ptr[0];
    size_t len = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (len == 0 || first > 0xf4 || len > text.len) {
        return 0;
    }
    uint32_t code = len == 1 ? first : first & (0xffU >> (len + 1));
    for (size_t i = 1; i < len; i++) {
        unsigned char next = (unsigned char)text.ptr[i];
        if ((next & 0xc0) != 0x80) {
            return 0;
        }
        code = code << 6 | (next & 0x3f);
    }
    if (code < least[len] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) {
        return 0;
    }
    *ret_code = code;
    return len;
}

bool cli_text_is_harmful(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code <= 0x9f) || code == 0xad || code == 0x61c ||
           code == 0x180e || (code >= 0x200b && code <= 0x200f) ||
           (code >= 0x2028 && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f) ||
           code == 0xfeff || (code >= 0xfff9 && code <= 0xfffb) ||
           (code >= 0xe0000 && code <= 0xe007f);
}

void cli_put_char_escape(ki_buf *out, uint32_t code)
{
    switch (code) {
    case '\n':
        cli_put(out, "\\n");
        break;
    case '\r':
        cli_put(out, "\\r");
        break;
    case '\t':
        cli_put(out, "\\t");
        break;
    default:
        if (code < 0x80) {
            cli_putf(out, "\\x%02x", code);
        } else {
            cli_putf(out, code < 0x10000 ? "\\u%04x" : "\\U%08x", code);
        }
    }
}

void cli_put_escaped(ki_buf *out, ki_str text)
{
    while (text.len > 0) {
        uint32_t code = 0;
        size_t len = cli_text_char(text, &code);
        if (len == 0) {
            cli_putf(out, "\\x%02x", (unsigned int)(unsigned char)text.ptr[0]);
            len = 1;
        } else if (cli_text_is_harmful(code)) {
            cli_put_char_escape(out, code);
        } else {
            cli_put_str(out, ki_str_make(text.ptr, len));
        }
        text = ki_str_make(text.ptr + len, text.len - len);
    }
}

size_t cli_text_width(ki_str text)
{
    size_t width = 0;
    while (text.len > 0) {
        uint32_t code = 0;
        size_t len = cli_text_char(text, &code);
        int columns = len != 0 && code >= 0x80 ? wcwidth((wchar_t)code) : 1;
        width += columns >= 0 ? (size_t)columns : 1;
        len = len != 0 ? len : 1;
        text = ki_str_make(text.ptr + len, text.len - len);
    }
    return width;
}

void cli_text_cut(ki_buf *out, size_t from, size_t columns)
{
    ki_str text = ki_str_make(out->data + from, out->len - from);
    if (out->len == from || cli_text_width(text) <= columns) {
        return;
    }
    size_t width = 0;
    size_t at = from;
    while (at < out->len) {
        uint32_t code = 0;
        size_t len = cli_text_char(ki_str_make(out->data + at, out->len - at), &code);
        len = len != 0 ? len : 1;
        width += cli_text_width(ki_str_make(out->data + at, len));
        if (width >= columns) {
            break;
        }
        at += len;
    }
    out->len = at;
    out->data[at] = '\0';
    cli_put(out, columns > 0 ? "…" : "");
}

/* ---- JSON ---- */

/* One character of a string; returns its length in `text`. */
static size_t put_json_char(ki_buf *out, ki_str text)
{
    uint32_t code = REPLACEMENT;
    size_t len = cli_text_char(text, &code);
    if (len != 0 && !cli_text_is_harmful(code)) {
        cli_put_str(out, ki_str_make(text.ptr, len));
        return len;
    }
    if (code >= 0x10000) {
        code -= 0x10000;
        cli_putf(out, "\\u%04x", 0xd800 + (code >> 10));
        code = 0xdc00 + (code & 0x3ff);
    }
    cli_putf(out, "\\u%04x", code);
    return len != 0 ? len : 1;
}

/* A string with its quotes at the start of `text`; returns its length there. */
static size_t put_json_string(ki_buf *out, ki_str text)
{
    size_t at = 1;
    cli_put_char(out, '"');
    while (at < text.len && text.ptr[at] != '"') {
        if (text.ptr[at] == '\\' && at + 1 < text.len) {
            cli_put_str(out, ki_str_make(text.ptr + at, 2));
            at += 2;
        } else {
            at += put_json_char(out, ki_str_make(text.ptr + at, text.len - at));
        }
    }
    cli_put_char(out, '"');
    return at < text.len ? at + 1 : at;
}

static void put_line(ki_buf *out, unsigned int indent, size_t depth)
{
    if (indent != 0) {
        cli_put_char(out, '\n');
        for (size_t i = 0; i < indent * depth; i++) {
            cli_put_char(out, ' ');
        }
    }
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Whether the map or list at `at` is empty. */
static bool is_empty(ki_str json, size_t at)
{
    for (at++; at < json.len; at++) {
        if (!is_blank(json.ptr[at])) {
            return json.ptr[at] == '}' || json.ptr[at] == ']';
        }
    }
    return true;
}

void cli_put_json(ki_buf *out, ki_str json, unsigned int indent)
{
    size_t depth = 0;
    bool empty = false; /* the innermost open container is empty */
    for (size_t at = 0; at < json.len;) {
        char c = json.ptr[at];
        if (c == '"') {
            at += put_json_string(out, ki_str_make(json.ptr + at, json.len - at));
            continue;
        }
        if (c == '}' || c == ']') {
            depth -= depth > 0 ? 1 : 0;
            if (!empty) {
                put_line(out, indent, depth);
            }
            empty = false;
        }
        if (!is_blank(c)) {
            cli_put_char(out, c);
        }
        if (c == '{' || c == '[') {
            depth++;
            empty = is_empty(json, at);
            put_line(out, empty ? 0 : indent, depth);
        } else if (c == ',') {
            put_line(out, indent, depth);
        } else if (c == ':' && indent != 0) {
            cli_put_char(out, ' ');
        }
        at++;
    }
}

void cli_put_object(ki_buf *out, const ki_object *object, unsigned int indent)
{
    ki_buf json;
    cli_text_init(&json);
    need(ki_object_write_json(object, &json));
    cli_put_json(out, ki_buf_str(&json), indent);
    ki_buf_done(&json);
}

void cli_put_value_json(ki_buf *out, const ki_value *value)
{
    ki_buf json;
    cli_text_init(&json);
    if (ki_value_type(value) == KI_TYPE_NONE) {
        cli_put(&json, "null");
    } else {
        need(ki_value_write_json(value, &json));
    }
    cli_put_json(out, ki_buf_str(&json), 0);
    ki_buf_done(&json);
}

void cli_put_value(ki_buf *out, const ki_value *value, bool raw)
{
    if (ki_value_type(value) != KI_TYPE_STRING) {
        cli_put_value_json(out, value);
        return;
    }
    ki_buf text;
    cli_text_init(&text);
    need(ki_value_copy_string(value, &text));
    if (raw) {
        cli_put_str(out, ki_buf_str(&text));
    } else {
        cli_put_escaped(out, ki_buf_str(&text));
    }
    ki_buf_done(&text);
}

void cli_put_quoted(ki_buf *out, ki_str text)
{
    cli_put_char(out, '"');
    for (size_t at = 0; at < text.len;) {
        if (text.ptr[at] == '"' || text.ptr[at] == '\\') {
            cli_put_char(out, '\\');
            cli_put_char(out, text.ptr[at++]);
        } else {
            at += put_json_char(out, ki_str_make(text.ptr + at, text.len - at));
        }
    }
    cli_put_char(out, '"');
}

/* ---- numbers ---- */

void cli_put_age(ki_buf *out, int64_t seconds)
{
    need(ki_age_write(seconds > 0 ? seconds : 0, out));
}

void cli_put_age_of(ki_buf *out, const ki_object *object)
{
    int64_t made = ki_object_creation_time(object);
    if (made == 0) {
        cli_put(out, "<unknown>");
        return;
    }
    cli_put_age(out, (int64_t)time(NULL) - made);
}

void cli_put_bytes(ki_buf *out, uint64_t bytes)
{
    static const char units[] = "kMGTPE";
    if (bytes < PER_THOUSAND) {
        cli_putf(out, "%u B", (unsigned int)bytes);
        return;
    }
    size_t unit = 0;
    double number = (double)bytes / PER_THOUSAND;
    while (number >= 999.95) {
        number /= PER_THOUSAND;
        unit++;
    }
    cli_putf(out, "%.1f %cB", number, units[unit]);
}

void cli_put_count(ki_buf *out, uint64_t number)
{
    char digits[32];
    int len = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)number);
    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0) {
            cli_put_char(out, ',');
        }
        cli_put_char(out, digits[i]);
    }
}
