/* SPDX-License-Identifier: Apache-2.0 */
/* The grammar of a path without its filters. Follows k8s.io/client-go/util/jsonpath and kubectl's
 * relaxed syntax, but rejects typos that those accept as a field that no object has. One deliberate
 * difference: a quoted name is a single name, even with dots. */
#include "object/path/path_parse.h"

#include <string.h>

#include "base/ascii.h"
#include "base/assert.h"
#include "base/error.h"

char ki__path_skip_blanks(ki__path_parser *parser)
{
    while (ki__path_peek(parser) == ' ' || ki__path_peek(parser) == '\t') {
        parser->at++;
    }
    return ki__path_peek(parser);
}

int ki__path_fail(const ki__path_parser *parser, size_t at, const char *message)
{
    return ki__error_at(parser->error, KI_ERR_SYNTAX, parser->path->text, at, "%s", message);
}

int ki__path_expected(const ki__path_parser *parser, const char *what)
{
    unsigned char c = (unsigned char)ki__path_peek(parser);
    if (c == '\0') {
        return ki__error_at(parser->error, KI_ERR_SYNTAX, parser->path->text, parser->at,
                            "expected %s, but the path ends", what);
    }
    if (c < 0x20 || c >= 0x7f) {
        return ki__error_at(parser->error, KI_ERR_SYNTAX, parser->path->text, parser->at,
                            "expected %s, found byte 0x%02x", what, c);
    }
    return ki__error_at(parser->error, KI_ERR_SYNTAX, parser->path->text, parser->at,
                        "expected %s, found '%c'", what, c);
}

int ki__path_add_step(ki__path_parser *parser, ki__path_kind kind, ki__path_step **ret_step)
{
    ki_path *path = parser->path;
    if (path->step_count == KI__PATH_STEPS_MAX) {
        (void)ki__error_at(parser->error, KI_ERR_LIMIT, path->text, parser->at,
                           "more than %d steps", KI__PATH_STEPS_MAX);
        return KI_ERR_LIMIT; /* lets compilers see that ret_step is set on success */
    }
    ki_assert(path->step_count < path->step_cap);
    ki__path_step *step = &path->steps[path->step_count++];
    step->kind = (uint8_t)kind;
    step->next = KI__PATH_NONE;
    step->inner = KI__PATH_NONE;
    *ret_step = step;
    return 0;
}

static uint8_t step_index(const ki__path_parser *parser, const ki__path_step *step)
{
    return (uint8_t)(step - parser->path->steps);
}

void ki__path_link(ki__path_parser *parser, ki__path_step *step)
{
    *parser->tail = step_index(parser, step);
    parser->tail = &step->next;
    if (step->kind != KI__PATH_FIELD && step->kind != KI__PATH_INDEX) {
        parser->path->frame_count++;
        parser->path->multiplies = parser->path->multiplies || step->kind == KI__PATH_UNION;
    }
}

static void add_byte(ki__path_parser *parser, char c)
{
    ki_path *path = parser->path;
    ki_assert(path->names_len < path->text.len);
    path->names[path->names_len++] = c;
}

/* Bytes that end a bare name. Each may be part of it if escaped with a backslash. */
static bool ends_name(char c)
{
    return (unsigned char)c <= ' ' || c == 0x7f || strchr(".,[]$@{}()'\"?*!=<>&|", c) != NULL;
}

static int parse_name(ki__path_parser *parser, ki_str *ret_name)
{
    size_t begin = parser->path->names_len;
    size_t at = parser->at;
    for (; !ends_name(ki__path_peek(parser)); parser->at++) {
        if (ki__path_peek(parser) == '\\') {
            parser->at++;
            if (ki__path_peek(parser) == '\0') {
                return ki__path_expected(parser, "a character after '\\'");
            }
        }
        add_byte(parser, ki__path_peek(parser));
    }
    if (parser->at == at) {
        return ki__path_expected(parser, "a field name or '*'");
    }
    *ret_name = ki_str_make(parser->path->names + begin, parser->path->names_len - begin);
    return 0;
}

/* After a dot: a name, or '*'. */
static int parse_field(ki__path_parser *parser)
{
    ki__path_step *step;
    bool all = ki__path_peek(parser) == '*';
    int r = ki__path_add_step(parser, all ? KI__PATH_ALL : KI__PATH_FIELD, &step);
    if (r < 0) {
        return r;
    }
    if (all) {
        parser->at++;
    } else {
        r = parse_name(parser, &step->name);
        if (r < 0) {
            return r;
        }
    }
    ki__path_link(parser, step);
    return 0;
}

/* After a backslash: n, r and t are control characters; any other byte except letters and digits is
 * literal. */
static bool unescape(char c, char *ret_c)
{
    static const char letters[] = "nrt";
    static const char meanings[] = "\n\r\t";
    const char *letter = c != '\0' ? strchr(letters, c) : NULL;
    if (letter != NULL) {
        *ret_c = meanings[letter - letters];
        return true;
    }
    *ret_c = c;
    return (unsigned char)c > ' ' && (unsigned char)c < 0x7f && !(c >= '0' && c <= '9') &&
           !(c >= 'A' && c <= 'Z') && !(c >= 'a' && c <= 'z');
}

int ki__path_parse_quoted(ki__path_parser *parser, ki_str *ret_text)
{
    size_t begin = parser->path->names_len;
    size_t open = parser->at;
    char quote = ki__path_peek(parser);
    parser->at++;
    for (; ki__path_peek(parser) != quote; parser->at++) {
        char c = ki__path_peek(parser);
        if (c == '\0') {
            return ki__path_fail(parser, open, "unterminated quote");
        }
        if (c == '\\') {
            parser->at++;
            if (!unescape(ki__path_peek(parser), &c)) {
                return ki__path_fail(parser, parser->at - 1,
                                     "expected \\n, \\r, \\t or a backslash before punctuation");
            }
        }
        add_byte(parser, c);
    }
    parser->at++;
    *ret_text = ki_str_make(parser->path->names + begin, parser->path->names_len - begin);
    return 0;
}

/* An integer with an optional minus sign. */
static int parse_integer(ki__path_parser *parser, int64_t *ret_number)
{
    size_t at = parser->at;
    bool negative = ki__path_peek(parser) == '-';
    parser->at += negative;
    if (!ki__is_digit(ki__path_peek(parser))) {
        return ki__path_expected(parser, "a digit");
    }
    int64_t number = 0; /* negative, since INT64_MIN has no positive counterpart */
    for (; ki__is_digit(ki__path_peek(parser)); parser->at++) {
        int digit = ki__path_peek(parser) - '0';
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_sub_overflow(number, digit, &number)) {
            return ki__path_fail(parser, at, "the number does not fit in 64 bits");
        }
    }
    if (!negative && number == INT64_MIN) {
        return ki__path_fail(parser, at, "the number does not fit in 64 bits");
    }
    *ret_number = negative ? number : -number;
    return 0;
}

/* An optional bound of a slice; if omitted, *number is unchanged. */
static int parse_bound(ki__path_parser *parser, int64_t *number)
{
    char c = ki__path_skip_blanks(parser);
    if (c != '-' && !ki__is_digit(c)) {
        return 0;
    }
    int r = parse_integer(parser, number);
    (void)ki__path_skip_blanks(parser);
    return r;
}

/* [n], [from:to] or [from:to:by]: everything but the first colon is optional. */
static int parse_index_or_slice(ki__path_parser *parser, ki__path_step *step)
{
    step->to = INT64_MAX;
    step->by = 1;
    int r = parse_bound(parser, &step->from);
    if (r < 0) {
        return r;
    }
    if (ki__path_peek(parser) != ':') {
        step->kind = KI__PATH_INDEX;
        return 0;
    }
    step->kind = KI__PATH_SLICE;
    parser->at++;
    r = parse_bound(parser, &step->to);
    if (r < 0 || ki__path_peek(parser) != ':') {
        return r;
    }
    parser->at++;
    (void)ki__path_skip_blanks(parser);
    size_t at = parser->at;
    r = parse_bound(parser, &step->by);
    if (r >= 0 && step->by <= 0) {
        return ki__path_fail(parser, at, "the step of a slice must be greater than 0");
    }
    return r;
}

/* One member between the commas of a bracket. */
static int parse_member(ki__path_parser *parser, ki__path_step **ret_step)
{
    ki__path_step *step;
    int r = ki__path_add_step(parser, KI__PATH_FIELD, &step);
    if (r < 0) {
        return r;
    }
    char c = ki__path_skip_blanks(parser);
    if (c == '\'' || c == '"') {
        r = ki__path_parse_quoted(parser, &step->name);
    } else if (c == '*') {
        step->kind = KI__PATH_ALL;
        parser->at++;
    } else if (c == '-' || c == ':' || ki__is_digit(c)) {
        r = parse_index_or_slice(parser, step);
    } else if (c == '?') {
        r = ki__path_fail(parser, parser->at, "a filter must be alone in its brackets");
    } else {
        r = ki__path_expected(parser, "an index, a slice, a name in quotes or '*'");
    }
    *ret_step = step;
    return r;
}

/* The rest of a union after its first member; a comma comes next. */
static int parse_union(ki__path_parser *parser, ki__path_step **step)
{
    ki__path_step *all;
    int r = ki__path_add_step(parser, KI__PATH_UNION, &all);
    if (r < 0) {
        return r;
    }
    all->inner = step_index(parser, *step);
    ki__path_step *last = *step;
    while (ki__path_peek(parser) == ',') {
        ki__path_step *member;
        parser->at++;
        r = parse_member(parser, &member);
        if (r < 0) {
            return r;
        }
        last->next = step_index(parser, member);
        last = member;
        (void)ki__path_skip_blanks(parser);
    }
    *step = all;
    return 0;
}

/* The inside of a bracket that is not a filter, and the closing bracket. */
static int parse_bracket(ki__path_parser *parser)
{
    ki__path_step *step;
    int r = parse_member(parser, &step);
    if (r < 0) {
        return r;
    }
    if (ki__path_skip_blanks(parser) == ',') {
        r = parse_union(parser, &step);
        if (r < 0) {
            return r;
        }
    }
    if (ki__path_peek(parser) != ']') {
        return ki__path_expected(parser, "',' or ']'");
    }
    parser->at++;
    ki__path_link(parser, step);
    return 0;
}

/* After "..": a bare name or '*' may follow directly; anything else is a step of its own. */
static int parse_descend(ki__path_parser *parser)
{
    ki__path_step *step;
    int r = ki__path_add_step(parser, KI__PATH_DESCEND, &step);
    if (r < 0) {
        return r;
    }
    ki__path_link(parser, step);
    const char *rest = parser->path->text.ptr + parser->at;
    if (strncmp(rest, "..", 2) == 0) {
        return ki__path_fail(parser, parser->at, "'..' already covers every depth");
    }
    return *rest == '*' || !ends_name(*rest) ? parse_field(parser) : 0;
}

bool ki__path_at_filter(const ki__path_parser *parser)
{
    const char *p = parser->path->text.ptr + parser->at;
    return *p == '[' && p[1 + strspn(p + 1, " \t")] == '?';
}

int ki__path_parse_word(ki__path_parser *parser, const char *ends, ki_str *ret_text)
{
    size_t begin = parser->path->names_len;
    for (char c = ki__path_peek(parser); (unsigned char)c > ' ' && strchr(ends, c) == NULL;
         c = ki__path_peek(parser)) {
        add_byte(parser, c);
        parser->at++;
    }
    *ret_text = ki_str_make(parser->path->names + begin, parser->path->names_len - begin);
    return ret_text->len != 0 ? 0 : ki__path_expected(parser, "a name or a value");
}

bool ki__path_at_keyed(const ki__path_parser *parser)
{
    const char *p = parser->path->text.ptr + parser->at;
    if (*p != '[') {
        return false;
    }
    p += 1 + strspn(p + 1, " \t");
    if (ki__is_digit(*p) || *p == '-') {
        return false; /* an index */
    }
    const char *end = p;
    while (*end != '\\' && !ends_name(*end)) {
        end++;
    }
    return end != p && *end == '=';
}

int ki__path_parse_step(ki__path_parser *parser)
{
    char c = ki__path_peek(parser);
    parser->at++;
    if (c == '[') {
        return parse_bracket(parser);
    }
    if (ki__path_peek(parser) == '.') {
        parser->at++;
        return parse_descend(parser);
    }
    return parse_field(parser);
}

/* Keywords of kubectl's templates look like bare names; `range` is a field only if alone or before
 * a dot, and `end` only outside braces. */
static bool at_template_word(const ki__path_parser *parser, bool braced)
{
    const char *rest = parser->path->text.ptr + parser->at;
    if (strncmp(rest, "range", 5) == 0 && (rest[5] == ' ' || rest[5] == '\t')) {
        rest += 5 + strspn(rest + 5, " \t");
        return *rest != '\0' && *rest != '}';
    }
    if (strncmp(rest, "end", 3) == 0 && braced) {
        rest += 3 + strspn(rest + 3, " \t");
        return *rest == '}';
    }
    return false;
}

static int template_error(const ki__path_parser *parser, size_t at)
{
    return ki__path_fail(parser, at,
                         "a path is one expression; templates with text around {...}, several "
                         "{...}, or range and end are not paths");
}

/* The optional start before the first dot or bracket: '$', '@', or a name without a dot. A single
 * dot means the root as well. */
static int parse_start(ki__path_parser *parser, bool braced)
{
    char c = ki__path_skip_blanks(parser);
    if (c == '\0' || c == '}') {
        return ki__path_expected(parser, "a path, such as '.metadata.name'");
    }
    if (c == '\'' || c == '"') {
        return ki__path_fail(parser, parser->at, "expected a path, found text in quotes");
    }
    if (at_template_word(parser, braced)) {
        return template_error(parser, parser->at);
    }
    if (c == '$' || c == '@') {
        parser->at++;
        return 0;
    }
    const char *rest = parser->path->text.ptr + parser->at + 1;
    rest += strspn(rest, " \t");
    if (c == '.' && (*rest == '\0' || *rest == '}')) {
        parser->at++;
        return 0;
    }
    return c == '*' || !ends_name(c) ? parse_field(parser) : 0;
}

/* Whether "->" is here, of which the dash was parsed as the end of a name. Not in filters, where it
 * could be a comparison. */
static bool at_arrow(const ki__path_parser *parser)
{
    const char *p = parser->path->text.ptr + parser->at;
    size_t count = parser->path->step_count;
    return *p == '>' && parser->at >= 2 && p[-1] == '-' && p[-2] != '\\' && count != 0 &&
           parser->path->steps[count - 1].kind == KI__PATH_FIELD &&
           parser->path->steps[count - 1].name.len > 1;
}

/* The elements of a list as C reaches them: list->name is list[*].name, and a C expression, which
 * KI_PATHS() lets the compiler check. */
static int parse_arrow(ki__path_parser *parser)
{
    ki__path_step *all;
    parser->path->steps[parser->path->step_count - 1].name.len--;
    parser->at++;
    int r = ki__path_add_step(parser, KI__PATH_ALL, &all);
    if (r < 0) {
        return r;
    }
    ki__path_link(parser, all);
    return parse_field(parser);
}

/* Dots, brackets and filters up to the end or a closing brace. */
static int parse_steps(ki__path_parser *parser)
{
    for (;;) {
        char c = ki__path_skip_blanks(parser);
        int r;
        if (c == '\0' || c == '}') {
            return 0;
        }
        if (ki__path_at_filter(parser)) {
            r = ki__path_parse_filter(parser);
        } else if (ki__path_at_keyed(parser)) {
            r = ki__path_parse_keyed(parser);
        } else if (c == '.' || c == '[') {
            r = ki__path_parse_step(parser);
        } else if (at_arrow(parser)) {
            r = parse_arrow(parser);
        } else if (strchr(parser->path->text.ptr + parser->at, '{') != NULL) {
            r = template_error(parser, parser->at);
        } else {
            r = ki__path_expected(parser, "'.', '[' or the end of the path");
        }
        if (r < 0) {
            return r;
        }
    }
}

int ki__path_parse(ki_path *path, ki_error *error)
{
    ki__path_parser parser = {.path = path, .tail = &path->first, .error = error};
    path->first = KI__PATH_NONE;
    bool braced = ki__path_skip_blanks(&parser) == '{';
    size_t open = parser.at;
    parser.at += braced;
    int r = parse_start(&parser, braced);
    if (r < 0) {
        return r;
    }
    r = parse_steps(&parser);
    if (r < 0) {
        return r;
    }
    if (!braced) {
        return ki__path_peek(&parser) == '}'
                   ? ki__path_fail(&parser, parser.at, "'}' without '{' before the path")
                   : 0;
    }
    if (ki__path_peek(&parser) != '}') {
        return ki__path_fail(&parser, open, "unterminated '{'");
    }
    parser.at++;
    return ki__path_skip_blanks(&parser) == '\0' ? 0 : template_error(&parser, parser.at);
}
