/* SPDX-License-Identifier: Apache-2.0 */
#include "object/edit/path_text.h"

#include "base/ascii.h"

/* Whether a text needs no quotes as a name or value; the characters in `more` are allowed too. */
static bool is_plain(ki_str text, const char *more)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!letter && !ki__is_digit(c) && (c == '\0' || strchr(more, c) == NULL)) {
            return false;
        }
    }
    return text.len != 0;
}

static void put_quoted(ki__out *out, ki_str text)
{
    ki__out_char(out, '\'');
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        switch (c) {
        case '\'':
        case '\\':
            ki__out_char(out, '\\');
            ki__out_char(out, c);
            break;
        case '\n':
            ki__out_text(out, "\\n");
            break;
        case '\r':
            ki__out_text(out, "\\r");
            break;
        case '\t':
            ki__out_text(out, "\\t");
            break;
        case '\0': /* not possible in a path */
            ki__out_text(out, "\xef\xbf\xbd");
            break;
        default:
            ki__out_char(out, c);
        }
    }
    ki__out_char(out, '\'');
}

void ki__path_text_member(ki__out *out, ki_str name)
{
    if (is_plain(name, "_-")) {
        ki__out_text(out, out->buf->len != 0 ? "." : "");
        ki__out_str(out, name);
        return;
    }
    ki__out_char(out, '[');
    put_quoted(out, name);
    ki__out_char(out, ']');
}

void ki__path_text_keyed(ki__out *out, const char *key, ki_str value)
{
    ki__out_texts(out, "[", key, "=", NULL);
    if (is_plain(value, "_-./:")) {
        ki__out_str(out, value);
    } else {
        put_quoted(out, value);
    }
    ki__out_char(out, ']');
}
