/* SPDX-License-Identifier: Apache-2.0 */
/* The template engine. Templates are ours, the values are not: a value is text, and never becomes
 * markup or part of a template. No recursion: sections are on a stack of fixed depth. */
#include "monitor_server/html_template.h"

#include <errno.h>
#include <string.h>

#include "base/utf8.h"
#include "object/edit/json_out.h"

enum { SECTIONS_MAX = 12, NAME_MAX_LEN = 64, SPARK_HEIGHT = 100 };

/* ---- escaping ---- */

/* Bidirectional controls and other invisible characters, which can make text read differently. */
static bool is_deceptive(uint32_t c)
{
    return (c >= 0x200b && c <= 0x200f) || (c >= 0x202a && c <= 0x202e) ||
           (c >= 0x2060 && c <= 0x2069) || c == 0x61c || c == 0xfeff || (c >= 0x80 && c < 0xa0);
}

static uint32_t decode(const unsigned char *p, size_t len)
{
    uint32_t c = len == 1 ? p[0] : p[0] & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        c = c << 6 | (p[i] & 0x3fu);
    }
    return c;
}

static void add_code(ki__out *out, uint32_t c)
{
    static const char hex[] = "0123456789ABCDEF";
    ki__out_text(out, "<span class=\"code\">U+");
    for (int shift = 12; shift >= 0; shift -= 4) {
        ki__out_char(out, hex[c >> shift & 15]);
    }
    ki__out_text(out, "</span>");
}

static void add_char(ki__out *out, ki_str character, bool attribute)
{
    uint32_t c = decode((const unsigned char *)character.ptr, character.len);
    if (c == '&') {
        ki__out_text(out, "&amp;");
    } else if (c == '<') {
        ki__out_text(out, "&lt;");
    } else if (c == '>') {
        ki__out_text(out, "&gt;");
    } else if (c == '"') {
        ki__out_text(out, "&quot;");
    } else if (c == '\'') {
        ki__out_text(out, "&#39;");
    } else if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f || is_deceptive(c)) {
        if (attribute) {
            ki__out_text(out, "\xef\xbf\xbd");
        } else {
            add_code(out, c);
        }
    } else {
        ki__out_str(out, character);
    }
}

static void escape(ki__out *out, ki_str text, bool attribute)
{
    for (size_t i = 0; i < text.len && out->error == 0;) {
        size_t len = ki__utf8_length(ki_str_make(text.ptr + i, text.len - i));
        if (len == 0) {
            ki__out_text(out, "\xef\xbf\xbd");
            i++;
        } else {
            add_char(out, ki_str_make(text.ptr + i, len), attribute);
            i += len;
        }
    }
}

int ki__html_escape(ki_str text, ki_buf *buf)
{
    ki__out out = ki__out_to(buf);
    escape(&out, text, false);
    return ki__out_commit(&out);
}

/* ---- filters ---- */

static uint64_t number_of(const ki_value *value)
{
    double number = ki_value_double_or(value, 0);
    return number > 0 && number < 1e18 ? (uint64_t)number : 0;
}

/* 1,234,567 */
static void add_count(ki__out *out, uint64_t number)
{
    uint64_t unit = 1;
    while (number / unit >= 1000) {
        unit *= 1000;
    }
    ki__out_u64(out, number / unit);
    while (unit > 1) {
        number %= unit;
        unit /= 1000;
        uint64_t part = number / unit;
        ki__out_char(out, ',');
        ki__out_text(out, part < 10 ? "00" : part < 100 ? "0" : "");
        ki__out_u64(out, part);
    }
}

/* With one digit after the point below 10: 3.4, 34. */
static void add_scaled(ki__out *out, uint64_t number, uint64_t unit, const char *name)
{
    ki__out_u64(out, number / unit);
    if (number / unit < 10) {
        ki__out_char(out, '.');
        ki__out_u64(out, number % unit * 10 / unit);
    }
    ki__out_text(out, name);
}

static void add_bytes(ki__out *out, const ki_value *value)
{
    static const char *const names[] = {" kB", " MB", " GB", " TB"};
    uint64_t bytes = number_of(value);
    uint64_t unit = 1000;
    size_t i = 0;
    if (bytes < 1000) {
        ki__out_u64(out, bytes);
        ki__out_text(out, " B");
        return;
    }
    while (bytes / unit >= 1000 && i < 3) {
        unit *= 1000;
        i++;
    }
    add_scaled(out, bytes, unit, names[i]);
}

static void add_duration(ki__out *out, const ki_value *value)
{
    uint64_t ms = number_of(value);
    if (ki_value_type(value) != KI_TYPE_NUMBER) {
        ki__out_text(out, "never");
    } else if (ms < 1000) {
        ki__out_u64(out, ms);
        ki__out_text(out, " ms");
    } else if (ms < 120000) {
        add_scaled(out, ms, 1000, " s");
    } else if (ms < 7200000) {
        ki__out_u64(out, ms / 60000);
        ki__out_text(out, " min");
    } else if (ms < 172800000) {
        ki__out_u64(out, ms / 3600000);
        ki__out_text(out, " h");
    } else {
        ki__out_u64(out, ms / 86400000);
        ki__out_text(out, " d");
    }
}

/* The time since something happened. */
static void add_age(ki__out *out, const ki_value *value)
{
    add_duration(out, value);
    ki__out_text(out, ki_value_type(value) == KI_TYPE_NUMBER ? " ago" : "");
}

static void add_number(ki__out *out, const ki_value *value)
{
    add_count(out, number_of(value));
}

static uint64_t maximum(const ki_value *list)
{
    ki_value_iter iter;
    ki_value value;
    uint64_t most = 0;
    if (ki_value_iter_begin(list, &iter) < 0) {
        return 0;
    }
    while (ki_value_iter_next(&iter, NULL, &value) > 0) {
        uint64_t number = number_of(&value);
        most = number > most ? number : most;
    }
    return most;
}

static void add_maximum(ki__out *out, const ki_value *list)
{
    add_count(out, maximum(list));
}

/* The points of an SVG polygon: "0,100 0,20 1,35 ... 119,100". */
static void add_points(ki__out *out, const ki_value *list)
{
    ki_value_iter iter;
    ki_value value;
    uint64_t most = maximum(list);
    uint64_t x = 0;
    ki__out_text(out, "0,100");
    if (ki_value_iter_begin(list, &iter) < 0) {
        return;
    }
    for (; ki_value_iter_next(&iter, NULL, &value) > 0; x++) {
        uint64_t part = most != 0 ? number_of(&value) * SPARK_HEIGHT / most : 0;
        ki__out_char(out, ' ');
        ki__out_u64(out, x);
        ki__out_char(out, ',');
        ki__out_u64(out, SPARK_HEIGHT - part);
    }
    ki__out_char(out, ' ');
    ki__out_u64(out, x != 0 ? x - 1 : 0);
    ki__out_text(out, ",100");
}

static void text_of(const ki_value *value, ki_buf *text, ki__out *out)
{
    ki_buf_init(text, out->buf->alloc, out->buf->max);
    if (ki_value_type(value) == KI_TYPE_STRING) {
        ki__out_fail(out, ki_value_copy_string(value, text));
    } else if (ki_value_type(value) > KI_TYPE_NULL) {
        ki__out_fail(out, ki_value_write_json(value, text));
    }
}

static void add_url(ki__out *out, const ki_value *value)
{
    static const char hex[] = "0123456789ABCDEF";
    ki_buf text;
    text_of(value, &text, out);
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     c == '-' || c == '.' || c == '_' || c == '~';
        const char code[] = {plain ? (char)c : '%', hex[c >> 4], hex[c & 15]};
        ki__out_str(out, ki_str_make(code, plain ? 1 : sizeof(code)));
    }
    ki_buf_done(&text);
}

static void add_escaped(ki__out *out, const ki_value *value)
{
    ki_buf text;
    text_of(value, &text, out);
    escape(out, ki_buf_str(&text), false);
    ki_buf_done(&text);
}

/* Inside the value of an attribute, where no element can be. */
static void add_attribute(ki__out *out, const ki_value *value)
{
    ki_buf text;
    text_of(value, &text, out);
    escape(out, ki_buf_str(&text), true);
    ki_buf_done(&text);
}

static const struct {
    const char *name;
    void (*add)(ki__out *out, const ki_value *value);
} filters[] = {
    {"", add_escaped},    {"count", add_number}, {"bytes", add_bytes},
    {"ms", add_duration}, {"age", add_age},      {"points", add_points},
    {"max", add_maximum}, {"url", add_url},      {"attr", add_attribute},
};

/* ---- sections ---- */

typedef struct section {
    ki_value context;
    ki_value_iter iter; /* of a list */
    bool iterates;
    ki_str name;
    size_t start; /* of its content, in the template */
} section;

typedef struct rendering {
    ki_str template;
    size_t at;
    ki__out out;
    size_t depth;
    section sections[SECTIONS_MAX];
} rendering;

typedef struct tag {
    char kind; /* '#', '^', '/' or ' ' */
    ki_str name;
    ki_str filter;
} tag;

static ki_value lookup(const rendering *r, ki_str name)
{
    ki_value found = {0};
    if (ki_str_eq_text(name, ".")) {
        return r->sections[r->depth].context;
    }
    for (size_t i = r->depth + 1; i > 0; i--) {
        if (ki_value_member(&r->sections[i - 1].context, name, &found) == 0) {
            return found;
        }
    }
    return (ki_value){0};
}

static bool is_true(const ki_value *value)
{
    switch (ki_value_type(value)) {
    case KI_TYPE_BOOL:
        return ki_value_bool_or(value, false);
    case KI_TYPE_NUMBER:
        return ki_value_double_or(value, 0) > 0;
    case KI_TYPE_STRING:
        return !ki_value_equals_text(value, "");
    case KI_TYPE_LIST:
    case KI_TYPE_MAP:
        return ki_value_count(value) != 0;
    case KI_TYPE_NONE:
    case KI_TYPE_NULL:
    case KI_TYPE_MAX:
        break;
    }
    return false;
}

/* Appends the text up to the next tag, unless `silent`, and reads the tag. 0 at the end. */
static int next_tag(rendering *r, bool silent, tag *ret_tag)
{
    ki_str rest = ki_str_make(r->template.ptr + r->at, r->template.len - r->at);
    const char *open = rest.len != 0 ? memmem(rest.ptr, rest.len, "{{", 2) : NULL;
    size_t text = open != NULL ? (size_t)(open - rest.ptr) : rest.len;
    if (!silent) {
        ki__out_str(&r->out, ki_str_make(rest.ptr, text));
    }
    r->at += text;
    if (open == NULL) {
        return 0;
    }
    const char *close = memmem(open, rest.len - text, "}}", 2);
    if (close == NULL || close - open < 3 || close - open > NAME_MAX_LEN) {
        return KI_ERR_INVALID;
    }
    r->at += (size_t)(close - open) + 2;
    const char *name = open + 2;
    tag t = {.kind = *name == '#' || *name == '^' || *name == '/' ? *name : ' '};
    name += t.kind != ' ';
    const char *bar = memchr(name, '|', (size_t)(close - name));
    t.name = ki_str_make(name, (size_t)((bar != NULL ? bar : close) - name));
    t.filter = bar != NULL ? ki_str_make(bar + 1, (size_t)(close - bar) - 1) : ki_str_make("", 0);
    *ret_tag = t;
    return 1;
}

/* After the end of the section that was just opened. */
static int skip_section(rendering *r, ki_str name)
{
    tag t;
    int found;
    for (size_t open = 1; (found = next_tag(r, true, &t)) > 0;) {
        if (ki_str_eq(t.name, name) && t.kind != ' ') {
            open = t.kind == '/' ? open - 1 : open + 1;
        }
        if (open == 0) {
            return 0;
        }
    }
    return found < 0 ? found : KI_ERR_INVALID;
}

static int open_section(rendering *r, const tag *t)
{
    ki_value value = lookup(r, t->name);
    if (is_true(&value) != (t->kind == '#')) {
        return skip_section(r, t->name);
    }
    if (r->depth + 1 == SECTIONS_MAX) {
        return KI_ERR_DEPTH;
    }
    section *s = &r->sections[r->depth + 1];
    *s = (section){
        .context = r->sections[r->depth].context,
        .name = t->name,
        .start = r->at,
        .iterates = t->kind == '#' && ki_value_type(&value) == KI_TYPE_LIST,
    };
    if (t->kind == '#' && ki_value_type(&value) == KI_TYPE_MAP) {
        s->context = value;
    }
    if (s->iterates) {
        int begun = ki_value_iter_begin(&value, &s->iter);
        (void)(begun == 0 && ki_value_iter_next(&s->iter, NULL, &s->context)); /* not empty */
    }
    r->depth++;
    return 0;
}

static int close_section(rendering *r, const tag *t)
{
    section *s = &r->sections[r->depth];
    if (r->depth == 0 || !ki_str_eq(s->name, t->name)) {
        return KI_ERR_INVALID;
    }
    if (s->iterates && ki_value_iter_next(&s->iter, NULL, &s->context) > 0) {
        r->at = s->start;
    } else {
        r->depth--;
    }
    return 0;
}

static int add_value(rendering *r, const tag *t)
{
    for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
        if (ki_str_eq_text(t->filter, filters[i].name)) {
            ki_value value = lookup(r, t->name);
            filters[i].add(&r->out, &value);
            return 0;
        }
    }
    return KI_ERR_INVALID;
}

int ki__html_render(ki_str template, const ki_value *root, ki_buf *out)
{
    rendering r = {.template = template, .out = ki__out_to(out)};
    r.sections[0].context = *root;
    tag t;
    int found = 0;
    while (r.out.error == 0 && (found = next_tag(&r, false, &t)) > 0) {
        int result = t.kind == '/'   ? close_section(&r, &t)
                     : t.kind == ' ' ? add_value(&r, &t)
                                     : open_section(&r, &t);
        ki__out_fail(&r.out, result);
    }
    ki__out_fail(&r.out, found < 0 ? found : 0);
    ki__out_fail(&r.out, r.out.error == 0 && r.depth != 0 ? KI_ERR_INVALID : 0);
    return ki__out_commit(&r.out);
}
