/* SPDX-License-Identifier: Apache-2.0 */
/* YAML output. Invariant: a string never parses as another type, under YAML 1.1 and 1.2 alike: text
 * that could be a number, a time, a boolean, null or syntax is quoted.
 *
 * Containers are traversed with an explicit stack; nothing here recurses on input. */
#include "cli/yaml.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/report_failure.h"
#include "cli/text.h"

enum {
    STEP = 2,
    SIMPLE_KEY_MAX = 128, /* bytes; parsers need not accept simple keys of over 1,024 characters */
    NONCHARACTER = 0xfffe
};

/* ---- strings ---- */

typedef enum style { STYLE_PLAIN, STYLE_QUOTED, STYLE_LITERAL } style;

static bool is_one_of(ki_str text, const char *const *words)
{
    for (; *words != NULL; words++) {
        if (strlen(*words) == text.len && strncasecmp(*words, text.ptr, text.len) == 0) {
            return true;
        }
    }
    return false;
}

/* Whether YAML 1.1 parses it as something other than a string. */
static bool is_word(ki_str text)
{
    static const char *const words[] = {"null", "true", "false", "yes",   "no", "on",
                                        "off",  "y",    "n",     "~",     "=",  "<<",
                                        ".inf", ".nan", "-.inf", "+.inf", NULL};
    return is_one_of(text, words);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool begins_with_year(ki_str text)
{
    return text.len > 4 && is_digit(text.ptr[0]) && is_digit(text.ptr[1]) &&
           is_digit(text.ptr[2]) && is_digit(text.ptr[3]) && text.ptr[4] == '-';
}

/* Whether a parser might read it as a number or a time. An IP address with several dots is
 * neither. */
static bool is_number_like(ki_str text)
{
    size_t at = text.ptr[0] == '-' || text.ptr[0] == '+' ? 1 : 0;
    if (at == text.len || (!is_digit(text.ptr[at]) && text.ptr[at] != '.')) {
        return false;
    }
    bool has_base = at + 1 < text.len && text.ptr[at] == '0' &&
                    strchr("xXoObB", text.ptr[at + 1]) != NULL && text.ptr[at + 1] != '\0';
    if (has_base || begins_with_year(text)) {
        return true;
    }
    size_t dots = 0;
    bool other = false;
    for (; at < text.len; at++) {
        char c = text.ptr[at];
        dots += c == '.' ? 1 : 0;
        if (!is_digit(c) && c != '.') {
            other = true;
            if (c == '\0' || strchr("_:eE+-", c) == NULL) {
                return false;
            }
        }
    }
    return other || dots < 2;
}

/* Whether it begins with YAML syntax. */
static bool begins_as_syntax(ki_str text)
{
    char c = text.ptr[0];
    if (c == '-') {
        return text.len == 1 || text.ptr[1] == ' ' ||
               (text.len >= 3 && text.ptr[1] == '-' && text.ptr[2] == '-');
    }
    return strchr("?:,[]{}#&*!|>'\"%@` \t", c) != NULL || strncmp(text.ptr, "...", 3) == 0;
}

/* Whether a character may appear unescaped in YAML; line feed and tab are handled elsewhere. */
static bool is_printable(uint32_t code)
{
    return !cli_text_is_harmful(code) && (code & NONCHARACTER) != NONCHARACTER;
}

typedef struct contents {
    bool unprintable;
    bool newlines;
    bool tabs;
    bool syntax; /* ": ", " #" and so on */
} contents;

static contents look_at(ki_str text)
{
    contents found = {0};
    for (size_t at = 0; at < text.len;) {
        uint32_t code = 0;
        size_t len = cli_text_char(ki_str_make(text.ptr + at, text.len - at), &code);
        char next = at + 1 < text.len ? text.ptr[at + 1] : ' ';
        if (code == '\n') {
            found.newlines = true;
        } else if (code == '\t') {
            found.tabs = true;
        } else if (len == 0 || !is_printable(code)) {
            found.unprintable = true;
        }
        found.syntax = found.syntax || (code == ':' && (next == ' ' || next == '\n')) ||
                       (code == ' ' && next == '#');
        at += len != 0 ? len : 1;
    }
    return found;
}

static style style_of(ki_str text, bool is_key)
{
    if (text.len == 0) {
        return STYLE_QUOTED;
    }
    contents found = look_at(text);
    if (found.newlines && !found.unprintable && !is_key && strchr(" \t\n", text.ptr[0]) == NULL) {
        return STYLE_LITERAL;
    }
    bool plain = !found.unprintable && !found.newlines && !found.tabs && !found.syntax &&
                 text.ptr[text.len - 1] != ' ' && !is_word(text) && !begins_as_syntax(text) &&
                 !is_number_like(text);
    return plain ? STYLE_PLAIN : STYLE_QUOTED;
}

static void put_quoted(ki_buf *out, ki_str text)
{
    cli_put_char(out, '"');
    for (size_t at = 0; at < text.len;) {
        uint32_t code = 0xfffd;
        size_t len = cli_text_char(ki_str_make(text.ptr + at, text.len - at), &code);
        if (code == '"' || code == '\\') {
            cli_put_char(out, '\\');
            cli_put_char(out, (char)code);
        } else if (len == 0 || !is_printable(code)) {
            cli_put_char_escape(out, code);
        } else {
            cli_put_str(out, ki_str_make(text.ptr + at, len));
        }
        at += len != 0 ? len : 1;
    }
    cli_put_char(out, '"');
}

static void put_blanks(ki_buf *out, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cli_put_char(out, ' ');
    }
}

/* Verbatim lines of a literal block. */
static void put_literal(ki_buf *out, ki_str text, size_t indent)
{
    size_t breaks = 0;
    while (breaks < text.len && text.ptr[text.len - 1 - breaks] == '\n') {
        breaks++;
    }
    cli_put(out, breaks == 0 ? "|-" : breaks == 1 ? "|" : "|+");
    size_t end = breaks == 0 ? text.len : text.len - 1; /* the caller ends the last line */
    for (size_t at = 0; at <= end;) {
        const char *next = at < end ? memchr(text.ptr + at, '\n', end - at) : NULL;
        size_t len = next != NULL ? (size_t)(next - text.ptr) - at : end - at;
        cli_put_char(out, '\n');
        put_blanks(out, len != 0 ? indent : 0);
        cli_put_str(out, ki_str_make(text.ptr + at, len));
        at += len + 1;
    }
}

static void put_string(ki_buf *out, ki_str text, bool is_key, size_t indent)
{
    switch (style_of(text, is_key)) {
    case STYLE_PLAIN:
        cli_put_str(out, text);
        break;
    case STYLE_QUOTED:
        put_quoted(out, text);
        break;
    case STYLE_LITERAL:
        put_literal(out, text, indent);
        break;
    }
}

/* ---- other scalars ---- */

/* YAML 1.1 requires a dot in floats and a sign in exponents: 1e3 becomes 1.0e+3. */
static void put_number(ki_buf *out, const ki_value *value)
{
    ki_buf json;
    cli_text_init(&json);
    cli_put_value_json(&json, value);
    const char *text = ki_buf_text(&json);
    size_t mantissa = strcspn(text, "eE");
    cli_put_str(out, ki_str_make(text, mantissa));
    if (text[mantissa] != '\0') {
        const char *exponent = text + mantissa + 1;
        cli_put(out, memchr(text, '.', mantissa) == NULL ? ".0e" : "e");
        cli_put(out, *exponent == '-' || *exponent == '+' ? "" : "+");
        cli_put(out, exponent);
    }
    ki_buf_done(&json);
}

static void put_scalar(ki_buf *out, const ki_value *value, size_t indent)
{
    ki_type type = ki_value_type(value);
    if (type == KI_TYPE_NUMBER) {
        put_number(out, value);
    } else if (type != KI_TYPE_STRING) {
        cli_put_value_json(out, value);
    } else {
        ki_buf text;
        cli_text_init(&text);
        cli_put_value(&text, value, true);
        put_string(out, ki_buf_str(&text), false, indent);
        ki_buf_done(&text);
    }
}

/* ---- maps and lists ---- */

typedef struct frame {
    ki_value_iter iter;
    bool is_map;
    bool in_line; /* its next line has begun after "- " */
    size_t indent;
} frame;

typedef struct stack {
    frame *items;
    size_t count;
    size_t cap;
} stack;

static void push(stack *frames, const ki_value *container, size_t indent, bool in_line)
{
    if (frames->count == frames->cap) {
        size_t cap = frames->cap != 0 ? frames->cap * 2 : 16;
        frame *items = realloc(frames->items, cap * sizeof(*items));
        if (items == NULL) {
            cli_fail_memory();
        }
        frames->items = items;
        frames->cap = cap;
    }
    frame *f = &frames->items[frames->count];
    *f = (frame){.in_line = in_line, .indent = indent};
    f->is_map = ki_value_type(container) == KI_TYPE_MAP;
    if (ki_value_iter_begin(container, &f->iter) == 0) {
        frames->count++;
    }
}

static bool is_empty(const ki_value *container)
{
    ki_value_iter iter;
    ki_value value;
    return ki_value_iter_begin(container, &iter) < 0 ||
           ki_value_iter_next(&iter, NULL, &value) <= 0;
}

/* A key and its colon. A long key needs the explicit form with a question mark. */
static void put_key(ki_buf *out, const ki_value *key, size_t indent)
{
    ki_buf text;
    cli_text_init(&text);
    cli_put_value(&text, key, true);
    if (text.len > SIMPLE_KEY_MAX) {
        cli_put(out, "? ");
    }
    put_string(out, ki_buf_str(&text), true, indent);
    if (text.len > SIMPLE_KEY_MAX) {
        cli_put_char(out, '\n');
        put_blanks(out, indent);
    }
    cli_put_char(out, ':');
    ki_buf_done(&text);
}

/* A value after "name:" or "-": inline, or as a nested container. */
static void put_value(ki_buf *out, stack *frames, const ki_value *value, bool in_map, size_t indent)
{
    ki_type type = ki_value_type(value);
    bool holds = type == KI_TYPE_MAP || type == KI_TYPE_LIST;
    if (!holds) {
        cli_put_char(out, ' ');
        put_scalar(out, value, indent + STEP);
        cli_put_char(out, '\n');
    } else if (is_empty(value)) {
        cli_put(out, type == KI_TYPE_MAP ? " {}\n" : " []\n");
    } else if (in_map) {
        cli_put_char(out, '\n');
        push(frames, value, type == KI_TYPE_LIST ? indent : indent + STEP, false);
    } else {
        cli_put_char(out, ' ');
        push(frames, value, indent + STEP, true);
    }
}

void cli_put_yaml(ki_buf *out, const ki_value *value, size_t indent, bool in_item)
{
    stack frames = {0};
    ki_type type = ki_value_type(value);
    if ((type != KI_TYPE_MAP && type != KI_TYPE_LIST) || is_empty(value)) {
        put_blanks(out, in_item ? 0 : indent);
        if (type == KI_TYPE_MAP || type == KI_TYPE_LIST) {
            cli_put(out, type == KI_TYPE_MAP ? "{}" : "[]");
        } else {
            put_scalar(out, value, indent + STEP);
        }
        cli_put_char(out, '\n');
        return;
    }
    push(&frames, value, indent, in_item);
    while (frames.count > 0) {
        frame *f = &frames.items[frames.count - 1];
        ki_value key;
        ki_value member;
        if (ki_value_iter_next(&f->iter, &key, &member) <= 0) {
            frames.count--;
            continue;
        }
        put_blanks(out, f->in_line ? 0 : f->indent);
        f->in_line = false;
        size_t at = f->indent;
        if (f->is_map) {
            put_key(out, &key, at);
            put_value(out, &frames, &member, true, at);
        } else {
            cli_put_char(out, '-');
            put_value(out, &frames, &member, false, at);
        }
    }
    free(frames.items);
}

void cli_put_object_yaml(ki_buf *out, const ki_object *object, size_t indent, bool in_item)
{
    /* The JSON includes the kind of list items and of protobuf objects, which is not in their
     * bytes. */
    ki_object_options limits = KI_OPTIONS_INIT(ki_object_options);
    ki_object *whole = NULL;
    ki_buf json;
    cli_text_init(&json);
    limits.max_bytes = json.max;
    limits.max_depth = 1024;
    if (ki_object_write_json(object, &json) < 0 ||
        ki_object_from_json(json.data, json.len, &limits, &whole, NULL) < 0) {
        cli_fail_memory();
    }
    ki_value root = ki_object_root(whole);
    cli_put_yaml(out, &root, indent, in_item);
    (void)ki_object_unref(whole);
    ki_buf_done(&json);
}
