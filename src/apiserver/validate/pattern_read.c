/* SPDX-License-Identifier: Apache-2.0 */
/* Parses an expression from left to right, with a stack of open groups. */
#include <errno.h>

#include <kinformer/error.h>

#include "apiserver/validate/pattern_class.h"
#include "apiserver/validate/pattern_code.h"
#include "base/alloc.h"
#include "base/ascii.h"

enum { NO_ATOM = KI__PATTERN_CODE_MAX + 1 };

typedef struct flags {
    bool fold;  /* i */
    bool lines; /* m */
    bool dots;  /* s: a dot matches line feeds too */
} flags;

typedef struct group {
    size_t start;       /* where its code begins */
    size_t alternative; /* where the code of the current alternative begins */
    size_t chain;
    flags outside; /* flags to restore after the group */
} group;

typedef struct reader {
    ki_str text;
    size_t at;
    ki__pattern *p;
    ki__pattern_fault *fault;
    flags flags;
    group *groups; /* the first is the whole expression */
    size_t depth;
    size_t cap;
    size_t atom;     /* start of the last atom, which can be repeated */
    size_t repeated; /* offset of its repetition operator in the text; 0: none */
} reader;

int ki__pattern_fail(ki__pattern_fault *fault, const char *what, size_t at, size_t len)
{
    *fault = (ki__pattern_fault){what, at, len};
    return KI_ERR_SYNTAX;
}

static int fail(reader *d, const char *what, size_t at, size_t len)
{
    return ki__pattern_fail(d->fault, what, at, len);
}

static bool looking_at(const reader *d, const char *text)
{
    size_t len = strlen(text);
    return d->text.len - d->at >= len && memcmp(d->text.ptr + d->at, text, len) == 0;
}

/* ---- atoms ---- */

static void begin_atom(reader *d)
{
    d->atom = d->p->count;
    d->repeated = 0;
}

static int add_char(reader *d, uint32_t c)
{
    bool letter = c < 128 && (((c | 0x20) >= 'a' && (c | 0x20) <= 'z'));
    begin_atom(d);
    if (!d->flags.fold || !letter) {
        return ki__pattern_emit(d->p, KI__PATTERN_CHAR, c);
    }
    ki__pattern_class class;
    ki__pattern_class_begin(&class, d->p, true);
    int r = ki__pattern_class_add(&class, c, c);
    return r < 0 ? r : ki__pattern_class_end(&class);
}

static int add_empty(reader *d, ki__pattern_op op)
{
    begin_atom(d);
    return ki__pattern_emit(d->p, op, 0);
}

/* \Q...\E */
static int add_quoted(reader *d)
{
    int r = 0;
    d->at += 2;
    while (r == 0 && d->at < d->text.len && !looking_at(d, "\\E")) {
        r = add_char(d, ki__pattern_rune(d->text, &d->at));
    }
    d->at += d->at < d->text.len ? 2 : 0;
    return r;
}

static int add_escape(reader *d)
{
    static const struct {
        char letter;
        ki__pattern_op op;
    } empties[] = {
        {'A', KI__PATTERN_BEGIN},
        {'z', KI__PATTERN_END},
        {'b', KI__PATTERN_WORD_BOUNDARY},
        {'B', KI__PATTERN_NO_WORD_BOUNDARY},
    };
    char letter = d->at + 1 < d->text.len ? d->text.ptr[d->at + 1] : '\0';
    for (size_t i = 0; i < 4; i++) {
        if (letter == empties[i].letter) {
            d->at += 2;
            return add_empty(d, empties[i].op);
        }
    }
    if (letter == 'Q') {
        return add_quoted(d);
    }
    ki__pattern_class class;
    uint32_t c;
    ki__pattern_class_begin(&class, d->p, d->flags.fold);
    int r = ki__pattern_class_escape(&class, d->text, &d->at, d->fault, &c);
    if (r < 0 || r == 0) {
        return r < 0 ? r : add_char(d, c);
    }
    begin_atom(d);
    return ki__pattern_class_end(&class);
}

static int add_dot(reader *d)
{
    d->at++;
    begin_atom(d);
    return ki__pattern_emit(d->p, d->flags.dots ? KI__PATTERN_ANY : KI__PATTERN_ANY_IN_LINE, 0);
}

static int add_class(reader *d)
{
    ki__pattern_class class;
    ki__pattern_class_begin(&class, d->p, d->flags.fold);
    int r = ki__pattern_class_read(&class, d->text, &d->at, d->fault);
    if (r < 0) {
        return r;
    }
    begin_atom(d);
    return ki__pattern_class_end(&class);
}

/* ---- groups ---- */

static int open_group(reader *d, flags outside)
{
    if (d->depth == KI__PATTERN_DEPTH_MAX) {
        return fail(d, "expression nests too deeply", 0, d->text.len);
    }
    void *groups = d->groups;
    int r = ki__array_reserve(d->p->alloc, &groups, &d->cap, d->depth + 1, sizeof(*d->groups));
    d->groups = groups;
    if (r == 0) {
        d->groups[d->depth++] = (group){d->p->count, d->p->count, 0, outside};
        d->atom = NO_ATOM;
        d->repeated = 0;
    }
    return r;
}

static bool is_name_byte(char c)
{
    return ki__is_digit(c) || ki__is_letter(c) || c == '_';
}

/* (?P<name> or (?<name> */
static int open_named(reader *d, size_t prefix)
{
    size_t start = d->at;
    size_t end = start + prefix;
    while (end < d->text.len && is_name_byte(d->text.ptr[end])) {
        end++;
    }
    if (end == start + prefix || end == d->text.len || d->text.ptr[end] != '>') {
        size_t len = d->text.len - start;
        return fail(d, "invalid named capture", start, len);
    }
    d->at = end + 1;
    return open_group(d, d->flags);
}

/* (?i) and (?i: with the flags i, m, s and U; flags after a dash are cleared. */
static int read_flags(reader *d)
{
    size_t start = d->at;
    flags outside = d->flags;
    flags now = d->flags;
    bool on = true;
    bool any = false;
    for (d->at += 2; d->at < d->text.len;) {
        char c = d->text.ptr[d->at++];
        switch (c) {
        case 'i':
            now.fold = on;
            any = true;
            break;
        case 'm':
            now.lines = on;
            any = true;
            break;
        case 's':
            now.dots = on;
            any = true;
            break;
        case 'U': /* only whether there is a match matters */
            any = true;
            break;
        case '-':
            if (!on) {
                return fail(d, "invalid or unsupported Perl syntax", start, d->at - start);
            }
            on = false;
            any = false;
            break;
        case ':':
        case ')':
            if (!on && !any) {
                return fail(d, "invalid or unsupported Perl syntax", start, d->at - start);
            }
            d->flags = now;
            d->repeated = 0; /* the previous atom can still be repeated */
            return c == ':' ? open_group(d, outside) : 0;
        default:
            d->at--;
            (void)ki__pattern_rune(d->text, &d->at);
            return fail(d, "invalid or unsupported Perl syntax", start, d->at - start);
        }
    }
    return fail(d, "invalid or unsupported Perl syntax", start, d->at - start);
}

static int read_open(reader *d)
{
    if (looking_at(d, "(?P<")) {
        return open_named(d, 4);
    }
    if (looking_at(d, "(?<") && !looking_at(d, "(?<=") && !looking_at(d, "(?<!")) {
        return open_named(d, 3);
    }
    if (looking_at(d, "(?")) {
        return read_flags(d);
    }
    d->at++;
    return open_group(d, d->flags);
}

static int read_close(reader *d)
{
    if (d->depth == 1) {
        return fail(d, "unexpected )", 0, d->text.len);
    }
    group *g = &d->groups[--d->depth];
    ki__pattern_end_alternatives(d->p, g->chain);
    d->atom = g->start;
    d->flags = g->outside;
    d->repeated = 0;
    d->at++;
    return 0;
}

static int read_bar(reader *d)
{
    group *g = &d->groups[d->depth - 1];
    int r = ki__pattern_next_alternative(d->p, g->alternative, &g->chain);
    g->alternative = d->p->count;
    d->atom = NO_ATOM;
    d->repeated = 0;
    d->at++;
    return r;
}

/* ---- repetition ---- */

static bool read_number(const reader *d, size_t *at, uint32_t *ret_number)
{
    size_t start = *at;
    uint32_t number = 0;
    while (*at < d->text.len && d->text.ptr[*at] >= '0' && d->text.ptr[*at] <= '9') {
        number = number > KI__PATTERN_REPEAT_MAX ? number
                                                 : number * 10 + (uint32_t)(d->text.ptr[*at] - '0');
        (*at)++;
    }
    *ret_number = number;
    return *at != start && !(d->text.ptr[start] == '0' && *at > start + 1);
}

/* {2}, {2,} or {2,5}; anything else is literal. */
static bool read_count(const reader *d, size_t *at, uint32_t *least, uint32_t *most)
{
    size_t i = *at + 1;
    if (!read_number(d, &i, least) || i == d->text.len) {
        return false;
    }
    *most = *least;
    if (d->text.ptr[i] == ',') {
        i++;
        if (i < d->text.len && d->text.ptr[i] == '}') {
            *most = KI__PATTERN_NO_MOST;
        } else if (!read_number(d, &i, most) || *most > KI__PATTERN_REPEAT_MAX) {
            *most = *most > KI__PATTERN_REPEAT_MAX ? KI__PATTERN_NO_MOST + 1 : *most;
        }
    }
    if (i >= d->text.len || d->text.ptr[i] != '}') {
        return false;
    }
    *at = i + 1;
    return true;
}

static int repeat(reader *d, size_t start, uint32_t least, uint32_t most)
{
    if (d->at < d->text.len && d->text.ptr[d->at] == '?') {
        d->at++; /* non-greedy: no difference if only a match is needed */
    }
    if (d->repeated != 0) {
        return fail(d, "invalid nested repetition operator", d->repeated - 1,
                    d->at - (d->repeated - 1));
    }
    if (d->atom == NO_ATOM) {
        return fail(d, "missing argument to repetition operator", start, d->at - start);
    }
    d->repeated = start + 1;
    return ki__pattern_repeat(d->p, d->atom, least, most);
}

static int read_repetition(reader *d, char c)
{
    size_t start = d->at;
    if (c != '{') {
        d->at++;
        return repeat(d, start, c == '+' ? 1 : 0, c == '?' ? 1 : KI__PATTERN_NO_MOST);
    }
    uint32_t least;
    uint32_t most;
    if (!read_count(d, &d->at, &least, &most)) {
        d->at++;
        return add_char(d, '{');
    }
    bool open = most == KI__PATTERN_NO_MOST;
    if (least > KI__PATTERN_REPEAT_MAX || most > KI__PATTERN_NO_MOST || (!open && most < least)) {
        return fail(d, "invalid repeat count", start, d->at - start);
    }
    return repeat(d, start, least, most);
}

/* ---- the expression ---- */

static int read_one(reader *d)
{
    char c = d->text.ptr[d->at];
    switch (c) {
    case '(':
        return read_open(d);
    case ')':
        return read_close(d);
    case '|':
        return read_bar(d);
    case '*':
    case '+':
    case '?':
    case '{':
        return read_repetition(d, c);
    case '[':
        return add_class(d);
    case '.':
        return add_dot(d);
    case '^':
        d->at++;
        return add_empty(d, d->flags.lines ? KI__PATTERN_BEGIN_LINE : KI__PATTERN_BEGIN);
    case '$':
        d->at++;
        return add_empty(d, d->flags.lines ? KI__PATTERN_END_LINE : KI__PATTERN_END);
    case '\\':
        return add_escape(d);
    default:
        return add_char(d, ki__pattern_rune(d->text, &d->at));
    }
}

static int read_all(reader *d)
{
    int r = open_group(d, d->flags);
    while (r == 0 && d->at < d->text.len) {
        r = read_one(d);
    }
    if (r == 0 && d->depth > 1) {
        r = fail(d, "missing closing )", 0, d->text.len);
    }
    if (r == 0) {
        ki__pattern_end_alternatives(d->p, d->groups[0].chain);
        r = ki__pattern_emit(d->p, KI__PATTERN_MATCH, 0);
    }
    return r;
}

int ki__pattern_new(ki_str expression, const ki_alloc *alloc, ki__pattern **ret_pattern,
                    ki__pattern_fault *ret_fault)
{
    *ret_fault = (ki__pattern_fault){0};
    if (expression.len > KI__PATTERN_BYTES_MAX) {
        return KI_ERR_LIMIT;
    }
    alloc = ki__alloc_or_default(alloc);
    ki__pattern *p = ki__alloc_zero(alloc, sizeof(*p));
    if (p == NULL) {
        return -ENOMEM;
    }
    p->alloc = alloc;
    reader d = {.text = expression, .p = p, .fault = ret_fault, .atom = NO_ATOM};
    int r = read_all(&d);
    ki__free(alloc, d.groups);
    if (r < 0) {
        ki__pattern_free(p);
        return r;
    }
    *ret_pattern = p;
    return 0;
}
