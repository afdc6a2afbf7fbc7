/* SPDX-License-Identifier: Apache-2.0 */
/* Warning headers. Invariant: the returned text is safe to print: valid UTF-8, one line, no control
 * characters, none that change the text direction. */
#include "wire/warning_header.h"

#include <string.h>

#include <kinformer/error.h>

#include "base/ascii.h"
#include "base/utf8.h"

static void skip(ki_str *s, size_t count)
{
    *s = ki_str_make(s->ptr + count, s->len - count);
}

static size_t skip_blanks(ki_str *s)
{
    size_t count = 0;
    while (count < s->len && (s->ptr[count] == ' ' || s->ptr[count] == '\t')) {
        count++;
    }
    if (count != 0) {
        skip(s, count); /* `ptr` may be NULL */
    }
    return count;
}

/* Three digits and a blank. */
static int take_code(ki_str *s)
{
    const char *c = s->ptr;
    if (s->len < 3 || !ki__is_digit(c[0]) || !ki__is_digit(c[1]) || !ki__is_digit(c[2]) ||
        c[0] == '0') {
        return KI_ERR_SYNTAX;
    }
    int code = (c[0] - '0') * 100 + (c[1] - '0') * 10 + (c[2] - '0');
    skip(s, 3);
    return skip_blanks(s) != 0 ? code : KI_ERR_SYNTAX;
}

/* The agent (host or name), without blanks. */
static int take_agent(ki_str *s)
{
    size_t len = 0;
    while (len < s->len && s->ptr[len] != ' ' && s->ptr[len] != '\t' && s->ptr[len] != '"' &&
           s->ptr[len] != ',') {
        len++;
    }
    skip(s, len);
    return len != 0 && skip_blanks(s) != 0 ? 0 : KI_ERR_SYNTAX;
}

/* Decodes a quoted string: writes up to `size` unescaped bytes to `out`, which may be NULL. */
static int take_quoted(ki_str *s, char *out, size_t size, size_t *ret_len)
{
    size_t len = 0;
    size_t at = 1;
    if (s->len == 0 || s->ptr[0] != '"') {
        return KI_ERR_SYNTAX;
    }
    for (; at < s->len && s->ptr[at] != '"'; at++) {
        if (s->ptr[at] == '\\' && ++at == s->len) {
            return KI_ERR_SYNTAX;
        }
        if (out != NULL && len < size) {
            out[len++] = s->ptr[at];
        }
    }
    if (at == s->len) {
        return KI_ERR_SYNTAX;
    }
    skip(s, at + 1);
    *ret_len = len;
    return 0;
}

/* Characters of up to three bytes that affect the display: C1 controls, line separators,
 * bidirectional marks and overrides. */
static bool is_active(const char *c, size_t len)
{
    unsigned char a = (unsigned char)c[0];
    unsigned char b = len > 1 ? (unsigned char)c[1] : 0;
    unsigned char d = len > 2 ? (unsigned char)c[2] : 0;
    if (len == 1) {
        return a < ' ' || a == 0x7f;
    }
    if (len == 2) {
        return (a == 0xc2 && b < 0xa0) || (a == 0xd8 && b == 0x9c);
    }
    return len == 3 && a == 0xe2 &&
           ((b == 0x80 && ((d >= 0xa8 && d <= 0xae) || d == 0x8e || d == 0x8f)) ||
            (b == 0x81 && d >= 0xa6 && d <= 0xa9));
}

static void clean(ki__warning *w, ki_str raw)
{
    while (raw.len != 0) {
        size_t len = ki__utf8_length(raw);
        const char *from = len != 0 ? raw.ptr : "?";
        size_t count = len != 0 ? len : 1;
        if (w->len + count > KI__WARNING_TEXT_MAX) {
            break;
        }
        if (!is_active(from, count)) {
            memcpy(w->text + w->len, from, count);
            w->len += count;
        }
        skip(&raw, count);
    }
    w->text[w->len] = '\0';
}

static int take_warning(ki_str *s, ki__warning *w)
{
    char raw[KI__WARNING_TEXT_MAX + 1];
    size_t len = 0;
    int code = take_code(s);
    if (code < 0 || take_agent(s) < 0 || take_quoted(s, raw, sizeof(raw), &len) < 0) {
        return KI_ERR_SYNTAX;
    }
    w->code = code;
    w->len = 0;
    clean(w, ki_str_make(raw, len));
    if (skip_blanks(s) != 0 && s->len != 0 && s->ptr[0] == '"') {
        if (take_quoted(s, NULL, 0, &len) < 0) { /* the optional date */
            return KI_ERR_SYNTAX;
        }
        (void)skip_blanks(s);
    }
    return s->len == 0 || s->ptr[0] == ',' ? 1 : KI_ERR_SYNTAX;
}

int ki__warning_next(ki_str *value, ki__warning *ret_warning)
{
    while (skip_blanks(value) != 0 || (value->len != 0 && value->ptr[0] == ',')) {
        if (value->len != 0 && value->ptr[0] == ',') {
            skip(value, 1);
        }
    }
    if (value->len == 0) {
        return 0;
    }
    ki__warning warning;
    int r = take_warning(value, &warning);
    if (r < 0) {
        *value = ki_str_make(value->ptr, 0);
    } else {
        ret_warning->code = warning.code;
        ret_warning->len = warning.len;
        memcpy(ret_warning->text, warning.text, warning.len + 1);
    }
    return r;
}
