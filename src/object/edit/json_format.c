/* SPDX-License-Identifier: Apache-2.0 */
/* ki_json_format(): parses the format token by token and appends values with the same functions as
 * a program would, so that limits, validation and error positions are the same. Arguments are only
 * written as complete values or as escaped parts of strings, so they cannot inject JSON. */
#include <stdarg.h>

#include "base/ascii.h"
#include "base/error.h"
#include "object/edit/json_writer.h"
#include "object/json/json_scan.h"

/* Parser state: what may come next. */
typedef enum expected {
    EXPECT_VALUE,
    EXPECT_VALUE_OR_END, /* after [ */
    EXPECT_NAME,
    EXPECT_NAME_OR_END, /* after { */
    EXPECT_COMMA_OR_END,
    EXPECT_NOTHING, /* the value is complete */
} expected;

typedef struct format {
    ki_json *json;
    const char *p;       /* next byte */
    const char *token;   /* error position: the current token or conversion */
    uint32_t base_depth; /* depth of the writer before the value */
    expected next;
    va_list args;
} format;

static bool failed(const format *f)
{
    return f->json->out.error < 0;
}

static void refuse(format *f, const char *why)
{
    ki__json_fail(f->json, KI_ERR_SYNTAX, why);
}

/* ---- arguments ---- */

typedef enum kind {
    KIND_PERCENT,
    KIND_TEXT,
    KIND_SIGNED,
    KIND_UNSIGNED,
    KIND_REAL,
    KIND_BOOL
} kind;

typedef struct argument {
    kind kind;
    ki_str text;
    int64_t number;
    uint64_t natural;
    double real;
} argument;

/* The C type of the argument. */
typedef enum source { AS_NOTHING, AS_INT, AS_LONG, AS_LONG_LONG, AS_MAX, AS_SIZE } source;

static const struct {
    const char *spelling; /* no entry is a prefix of another */
    kind kind;
    source source;
} conversions[] = {
    {"%%", KIND_PERCENT, AS_NOTHING},      {"%s", KIND_TEXT, AS_NOTHING},
    {"%.*s", KIND_TEXT, AS_INT},           {"%hhd", KIND_BOOL, AS_INT},
    {"%d", KIND_SIGNED, AS_INT},           {"%i", KIND_SIGNED, AS_INT},
    {"%ld", KIND_SIGNED, AS_LONG},         {"%li", KIND_SIGNED, AS_LONG},
    {"%lld", KIND_SIGNED, AS_LONG_LONG},   {"%lli", KIND_SIGNED, AS_LONG_LONG},
    {"%jd", KIND_SIGNED, AS_MAX},          {"%ji", KIND_SIGNED, AS_MAX},
    {"%zd", KIND_SIGNED, AS_SIZE},         {"%zi", KIND_SIGNED, AS_SIZE},
    {"%u", KIND_UNSIGNED, AS_INT},         {"%lu", KIND_UNSIGNED, AS_LONG},
    {"%llu", KIND_UNSIGNED, AS_LONG_LONG}, {"%ju", KIND_UNSIGNED, AS_MAX},
    {"%zu", KIND_UNSIGNED, AS_SIZE},       {"%f", KIND_REAL, AS_NOTHING},
    {"%g", KIND_REAL, AS_NOTHING},
};

static int64_t take_signed(format *f, source from)
{
    switch (from) {
    case AS_LONG:
        return va_arg(f->args, long);
    case AS_LONG_LONG:
        return va_arg(f->args, long long);
    case AS_MAX:
        return va_arg(f->args, intmax_t);
    case AS_SIZE:
        return va_arg(f->args, ptrdiff_t); /* same width as size_t */
    case AS_NOTHING:
    case AS_INT:
        break;
    }
    return va_arg(f->args, int);
}

static uint64_t take_unsigned(format *f, source from)
{
    switch (from) {
    case AS_LONG:
        return va_arg(f->args, unsigned long);
    case AS_LONG_LONG:
        return va_arg(f->args, unsigned long long);
    case AS_MAX:
        return va_arg(f->args, uintmax_t);
    case AS_SIZE:
        return va_arg(f->args, size_t);
    case AS_NOTHING:
    case AS_INT:
        break;
    }
    return va_arg(f->args, unsigned int);
}

/* As in printf(), the precision bounds the text, which then need not be NUL-terminated. */
static void take_text(format *f, source from, argument *a)
{
    bool is_bounded = from == AS_INT;
    int most = is_bounded ? va_arg(f->args, int) : 0;
    const char *text = va_arg(f->args, const char *);
    if (text == NULL || most < 0) {
        ki__json_fail(f->json, KI_ERR_INVALID,
                      text == NULL ? "a string must not be NULL" : "a negative length");
        return;
    }
    a->text = ki_str_make(text, is_bounded ? strnlen(text, (size_t)most) : strlen(text));
}

static void take(format *f, source from, argument *a)
{
    switch (a->kind) {
    case KIND_PERCENT:
        a->text = ki_str_from("%");
        break;
    case KIND_TEXT:
        take_text(f, from, a);
        break;
    case KIND_SIGNED:
    case KIND_BOOL:
        a->number = take_signed(f, from);
        break;
    case KIND_UNSIGNED:
        a->natural = take_unsigned(f, from);
        break;
    case KIND_REAL:
        a->real = va_arg(f->args, double);
        break;
    }
}

/* Parses the conversion at `p` and fetches its argument. */
static bool next_argument(format *f, argument *ret_argument)
{
    f->token = f->p;
    for (size_t i = 0; i < sizeof(conversions) / sizeof(conversions[0]); i++) {
        size_t len = strlen(conversions[i].spelling);
        if (strncmp(f->p, conversions[i].spelling, len) == 0) {
            *ret_argument = (argument){.kind = conversions[i].kind};
            take(f, conversions[i].source, ret_argument);
            f->p += len;
            return !failed(f);
        }
    }
    refuse(f, "unsupported conversion");
    return false;
}

/* ---- strings and names ---- */

static void add_argument(format *f)
{
    ki__out *out = &f->json->out;
    argument a;
    if (!next_argument(f, &a)) {
        return;
    }
    switch (a.kind) {
    case KIND_PERCENT:
    case KIND_TEXT:
        ki__json_add_text(f->json, a.text);
        break;
    case KIND_SIGNED:
        ki__out_i64(out, a.number);
        break;
    case KIND_UNSIGNED:
        ki__out_u64(out, a.natural);
        break;
    case KIND_REAL:
        ki__out_double(out, a.real);
        break;
    case KIND_BOOL:
        ki__out_text(out, a.number != 0 ? "true" : "false");
        break;
    }
}

/* Escapes are copied; the complete string is validated later. */
static void add_escape(format *f)
{
    if (f->p[1] == '\0') {
        f->p++; /* unterminated, which is detected next */
    } else if (f->p[1] == '%') {
        f->token = f->p;
        refuse(f, "an escaped conversion"); /* for the compiler it has an argument */
    } else {
        ki__out_str(&f->json->out, f->p[1] == '\'' ? ki_str_from("'") : ki_str_make(f->p, 2));
        f->p += 2;
    }
}

/* Appends the content of the quoted string at `p` and skips it. */
static void add_quoted(format *f)
{
    const char *start = f->p;
    char quote = *f->p++;
    const char stops[] = {quote, '\\', '%', '\0'};
    size_t content = f->json->buf.len;
    bool is_escaped = false;
    while (!failed(f) && *f->p != quote && *f->p != '\0') {
        size_t plain = strcspn(f->p, stops);
        f->token = f->p;
        ki__json_add_text(f->json, ki_str_make(f->p, plain));
        f->p += plain;
        if (*f->p == '\\') {
            is_escaped = true;
            add_escape(f);
        } else if (*f->p == '%') {
            add_argument(f);
        }
    }
    if (failed(f)) {
        return;
    }
    f->token = start;
    if (*f->p == '\0') {
        refuse(f, "a string without an end");
        return;
    }
    f->p++;
    if (is_escaped) { /* validated including its quotes */
        ki_buf *buf = &f->json->buf;
        ki__out_char(&f->json->out, '"');
        ki_str string = ki_str_make(buf->data + content - 1, buf->len - content + 1);
        if (!failed(f) && ki__json_check(string, 1, NULL) < 0) {
            refuse(f, "an invalid escape");
        }
        ki__buf_truncate(buf, buf->len - (failed(f) ? 0 : 1));
    }
}

/* Length of an unquoted name. */
static size_t bare_length(const char *p)
{
    size_t len = 0;
    while (ki__is_letter(p[len]) || ki__is_digit(p[len]) ||
           (p[len] != '\0' && strchr("_-./$", p[len]) != NULL)) {
        len++;
    }
    return len;
}

static void skip_space(format *f)
{
    while (ki__is_space(*f->p)) {
        f->p++;
    }
}

static void read_name(format *f)
{
    size_t bare = bare_length(f->p);
    bool is_quoted = *f->p == '"' || *f->p == '\'';
    if (bare == 0 && !is_quoted && *f->p != '%') {
        refuse(f, "expected a name");
        return;
    }
    ki__json_begin_name(f->json);
    if (is_quoted) {
        add_quoted(f);
    } else if (bare == 0) {
        add_argument(f);
    } else {
        ki__json_add_text(f->json, ki_str_make(f->p, bare));
        f->p += bare;
    }
    ki__json_end_name(f->json);
    if (failed(f)) {
        return;
    }
    skip_space(f);
    if (*f->p != ':') {
        f->token = f->p;
        refuse(f, "expected a colon");
        return;
    }
    f->p++;
    f->next = EXPECT_VALUE;
}

/* ---- values ---- */

static void ended_value(format *f)
{
    bool is_whole = f->json->out.depth == f->base_depth;
    f->next = is_whole ? EXPECT_NOTHING : EXPECT_COMMA_OR_END;
}

static void put_argument(format *f)
{
    ki_json *json = f->json;
    argument a;
    if (!next_argument(f, &a)) {
        return;
    }
    switch (a.kind) {
    case KIND_PERCENT:
        refuse(f, "%% outside quotes");
        break;
    case KIND_TEXT:
        ki_json_str(json, NULL, a.text);
        break;
    case KIND_SIGNED:
        ki_json_int64(json, NULL, a.number);
        break;
    case KIND_UNSIGNED:
        ki_json_uint64(json, NULL, a.natural);
        break;
    case KIND_REAL:
        ki_json_double(json, NULL, a.real);
        break;
    case KIND_BOOL:
        ki_json_bool(json, NULL, a.number != 0);
        break;
    }
}

/* A number, true, false or null. */
static void put_literal(format *f)
{
    size_t len = bare_length(f->p);
    len += f->p[len] == '+' ? 1 + bare_length(f->p + len + 1) : 0; /* sign of an exponent */
    ki_str text = ki_str_make(f->p, len);
    if (len == 0 || ki__json_check(text, 0, NULL) < 0) {
        refuse(f, len == 0 ? "expected a value" : "expected a value; strings need quotes");
        return;
    }
    ki__put_json(&f->json->out, text);
    ki__json_done(f->json);
    f->p += len;
}

static void read_value(format *f)
{
    char first = *f->p;
    if (first == '{') {
        f->p++;
        ki_json_begin_map(f->json, NULL);
        f->next = EXPECT_NAME_OR_END;
        return;
    }
    if (first == '[') {
        f->p++;
        ki_json_begin_list(f->json, NULL);
        f->next = EXPECT_VALUE_OR_END;
        return;
    }
    if (first == '"' || first == '\'') {
        ki__json_begin_string(f->json);
        add_quoted(f);
        ki__json_end_string(f->json);
    } else if (first == '%') {
        put_argument(f);
    } else {
        put_literal(f);
    }
    ended_value(f);
}

static bool in_map(const format *f)
{
    return ki__out_is_map(&f->json->out, f->json->out.depth);
}

static void read_end(format *f)
{
    if (*f->p != (in_map(f) ? '}' : ']')) {
        refuse(f, in_map(f) ? "expected a comma or }" : "expected a comma or ]");
        return;
    }
    f->p++;
    ki_json_end(f->json);
    ended_value(f);
}

/* Parses one token, or a name with its colon. */
static void step(format *f)
{
    bool is_end = *f->p == '}' || *f->p == ']';
    f->token = f->p;
    f->json->value_mark = f->json->buf.len;
    switch (f->next) {
    case EXPECT_NAME_OR_END:
    case EXPECT_NAME:
        if (is_end && f->next == EXPECT_NAME_OR_END) {
            read_end(f);
        } else {
            read_name(f);
        }
        break;
    case EXPECT_VALUE_OR_END:
    case EXPECT_VALUE:
        if (is_end && f->next == EXPECT_VALUE_OR_END) {
            read_end(f);
        } else {
            read_value(f);
        }
        break;
    case EXPECT_COMMA_OR_END:
        if (*f->p == ',') {
            f->p++;
            f->next = in_map(f) ? EXPECT_NAME : EXPECT_VALUE;
        } else {
            read_end(f);
        }
        break;
    case EXPECT_NOTHING:
        refuse(f, "text after the value");
        break;
    }
}

/* Adds the position in the format to the error. */
static void locate(format *f, const char *text)
{
    ki_error *failure = &f->json->failure;
    size_t offset = (size_t)(f->token - text);
    (void)ki__error_at(failure, failure->code, ki_str_from(text), offset,
                       "%s (at offset %zu of the format)", failure->message, offset);
}

void ki__json_vformat(ki_json *json, const char *name, const char *text, va_list arguments)
{
    format f = {.json = json, .p = text, .next = EXPECT_VALUE};
    if (!ki__json_begin(json, name)) {
        return;
    }
    if (text == NULL) {
        ki__json_fail(json, KI_ERR_INVALID, "a format must not be NULL");
        return;
    }
    f.base_depth = json->out.depth;
    va_copy(f.args, arguments);
    skip_space(&f);
    while (!failed(&f) && (*f.p != '\0' || f.next != EXPECT_NOTHING)) {
        step(&f);
        skip_space(&f);
    }
    va_end(f.args);
    if (failed(&f)) {
        locate(&f, text);
    }
}

void ki_json_format(ki_json *json, const char *name, const char *text, ...)
{
    va_list arguments;
    va_start(arguments, text);
    ki__json_vformat(json, name, text, arguments);
    va_end(arguments);
}
