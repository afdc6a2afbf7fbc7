/* SPDX-License-Identifier: Apache-2.0 */
/* The grammar of a filter: [?(term)], or terms combined with && and ||, where && binds tighter and
 * there are no parentheses. A term compares a path with a literal or with another path, or is a
 * path alone. A literal on the left is moved to the right during parsing, so evaluation has a case
 * less. */
#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "object/json/json_number.h"
#include "object/path/path_parse.h"

/* Adds a term; NULL at the limit. */
static ki__path_term *add_term(ki__path_parser *parser)
{
    ki_path *path = parser->path;
    if (path->term_count == KI__PATH_TERMS_MAX) {
        (void)ki__error_at(parser->error, KI_ERR_LIMIT, path->text, parser->at,
                           "more than %d conditions", KI__PATH_TERMS_MAX);
        return NULL;
    }
    ki_assert(path->term_count < path->term_cap);
    ki__path_term *term = &path->terms[path->term_count++];
    *term = (ki__path_term){.left = KI__PATH_NONE, .right = KI__PATH_NONE};
    return term;
}

/* A path relative to the current element: '@' is optional before a dot or a bracket. */
static int parse_operand_path(ki__path_parser *parser, uint8_t *ret_first)
{
    parser->at += ki__path_peek(parser) == '@';
    parser->tail = ret_first;
    while (ki__path_peek(parser) == '.' || ki__path_peek(parser) == '[') {
        if (ki__path_at_filter(parser)) {
            return ki__path_fail(parser, parser->at, "nested filters are not supported");
        }
        int r = ki__path_parse_step(parser);
        if (r < 0) {
            return r;
        }
    }
    return 0;
}

static bool parse_word(ki__path_parser *parser, const char *word)
{
    if (strncmp(parser->path->text.ptr + parser->at, word, strlen(word)) != 0) {
        return false;
    }
    parser->at += strlen(word);
    return true;
}

/* Number of digits at `p`. */
static size_t digits(const char *p)
{
    return strspn(p, "0123456789");
}

/* Length of the JSON number at `p`, or 0. */
static size_t number_length(const char *p)
{
    const char *begin = p;
    p += *p == '-';
    size_t whole = digits(p);
    if (whole == 0 || (*p == '0' && whole > 1)) {
        return 0;
    }
    p += whole;
    if (*p == '.') {
        size_t fraction = digits(p + 1);
        if (fraction == 0) {
            return 0;
        }
        p += 1 + fraction;
    }
    if (*p == 'e' || *p == 'E') {
        const char *exponent = p + 1 + (p[1] == '-' || p[1] == '+');
        if (digits(exponent) == 0) {
            return 0;
        }
        p = exponent + digits(exponent);
    }
    return (size_t)(p - begin);
}

static int parse_number(ki__path_parser *parser, ki__path_operand *ret_literal)
{
    const char *p = parser->path->text.ptr + parser->at;
    bool plus = *p == '+';
    ki_str text = ki_str_make(p + plus, number_length(p + plus));
    if (text.len == 0 || (plus && p[1] == '-')) {
        return ki__path_fail(parser, parser->at, "expected a number, such as 5, -1 or 2.5");
    }
    ki__path_operand literal = {.type = KI_TYPE_NUMBER};
    literal.integral = ki__json_int64(text, &literal.integer) == 0;
    if (!literal.integral && ki__json_double(text, &literal.real) < 0) {
        return ki__path_fail(parser, parser->at, "the number does not fit in a double");
    }
    parser->at += plus + text.len;
    *ret_literal = literal;
    return 0;
}

/* One operand of a term: a path, whose first step is stored in *ret_first and which leaves the
 * literal without a type, or a literal. */
static int parse_operand(ki__path_parser *parser, uint8_t *ret_first, ki__path_operand *ret_literal)
{
    char c = ki__path_skip_blanks(parser);
    if (c == '@' || c == '.' || c == '[') {
        return parse_operand_path(parser, ret_first);
    }
    if (c == '\'' || c == '"') {
        ret_literal->type = KI_TYPE_STRING;
        return ki__path_parse_quoted(parser, &ret_literal->text);
    }
    if (parse_word(parser, "true")) {
        *ret_literal = (ki__path_operand){.type = KI_TYPE_BOOL, .flag = true};
        return 0;
    }
    if (parse_word(parser, "false")) {
        *ret_literal = (ki__path_operand){.type = KI_TYPE_BOOL};
        return 0;
    }
    if (c == '-' || c == '+' || (c >= '0' && c <= '9')) {
        return parse_number(parser, ret_literal);
    }
    if (c == '$') {
        return ki__path_fail(parser, parser->at, "paths in a filter must begin with '@'");
    }
    if (c == '!' || c == '(') {
        return ki__path_fail(parser, parser->at,
                             "'!' and parentheses are not supported in filters");
    }
    return ki__path_expected(parser, "'@', text in quotes, a number, true or false");
}

/* The operator at the next byte, or KI__PATH_EXISTS if there is none. */
static int parse_operator(ki__path_parser *parser, ki__path_op *ret_op)
{
    static const struct {
        const char *text; /* longer ones before their prefixes */
        ki__path_op op;
    } operators[] = {
        {"==", KI__PATH_EQ}, {"!=", KI__PATH_NE}, {"<=", KI__PATH_LE},
        {">=", KI__PATH_GE}, {"<", KI__PATH_LT},  {">", KI__PATH_GT},
    };
    char c = ki__path_skip_blanks(parser);
    for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
        if (parse_word(parser, operators[i].text)) {
            *ret_op = operators[i].op;
            return 0;
        }
    }
    if (parse_word(parser, "=~")) {
        return ki__path_fail(parser, parser->at - 2, "regular expressions are not supported");
    }
    *ret_op = KI__PATH_EXISTS;
    if (c == ')' || c == '&' || c == '|') {
        return 0;
    }
    return ki__path_expected(parser, "==, !=, <, <=, >, >=, &&, || or ')'");
}

/* The equivalent operator with the operands swapped. */
static ki__path_op mirrored(ki__path_op op)
{
    switch (op) {
    case KI__PATH_LT:
        return KI__PATH_GT;
    case KI__PATH_LE:
        return KI__PATH_GE;
    case KI__PATH_GT:
        return KI__PATH_LT;
    case KI__PATH_GE:
        return KI__PATH_LE;
    case KI__PATH_EXISTS:
    case KI__PATH_EQ:
    case KI__PATH_NE:
        break;
    }
    return op;
}

/* Both operands are paths. Only the left one may yield several values, any of which may match; so
 * each value is compared once. */
static void order_paths(ki__path_parser *parser, ki__path_term *term, bool left_many,
                        bool right_many, ki__path_op *op)
{
    if (right_many) {
        uint8_t left = term->left;
        term->left = term->right;
        term->right = left;
        *op = mirrored(*op);
    }
    parser->path->multiplies = parser->path->multiplies || left_many || right_many;
}

/* The right operand, after the left one and the operator. */
static int parse_comparison(ki__path_parser *parser, ki__path_term *term, bool left_many,
                            const ki__path_operand *left, ki__path_op *op)
{
    (void)ki__path_skip_blanks(parser);
    size_t at = parser->at;
    uint8_t frames = parser->path->frame_count;
    bool mirror = left->type != KI_TYPE_NONE;
    int r = parse_operand(parser, mirror ? &term->left : &term->right, &term->literal);
    if (r < 0) {
        return r;
    }
    if (mirror) {
        if (term->literal.type != KI_TYPE_NONE) {
            return ki__path_fail(parser, at, "one side of a comparison must be a path");
        }
        term->literal = *left;
        *op = mirrored(*op);
        return 0;
    }
    if (term->literal.type != KI_TYPE_NONE) {
        return 0;
    }
    bool right_many = parser->path->frame_count != frames;
    if (left_many && right_many) {
        return ki__path_fail(parser, at, "only one side of a comparison may match several values");
    }
    order_paths(parser, term, left_many, right_many, op);
    return 0;
}

static int parse_term(ki__path_parser *parser, ki__path_term *term)
{
    ki__path_operand left = {.type = KI_TYPE_NONE};
    ki__path_op op = KI__PATH_EXISTS;
    uint8_t frames = parser->path->frame_count;
    int r = parse_operand(parser, &term->left, &left);
    if (r < 0) {
        return r;
    }
    (void)ki__path_skip_blanks(parser);
    size_t at = parser->at;
    r = parse_operator(parser, &op);
    if (r < 0) {
        return r;
    }
    if (op != KI__PATH_EXISTS) {
        r = parse_comparison(parser, term, parser->path->frame_count != frames, &left, &op);
        if (r < 0) {
            return r;
        }
    } else if (left.type != KI_TYPE_NONE) {
        return ki__path_expected(parser, "an operator after the literal");
    }
    if (op >= KI__PATH_LT && term->literal.type == KI_TYPE_BOOL) {
        return ki__path_fail(parser, at, "true and false can be compared with == and != only");
    }
    term->op = (uint8_t)op;
    return 0;
}

/* All conditions of a filter, up to its ')'. */
static int parse_terms(ki__path_parser *parser)
{
    for (;;) {
        ki__path_term *term = add_term(parser);
        if (term == NULL) {
            return KI_ERR_LIMIT;
        }
        int r = parse_term(parser, term);
        if (r < 0) {
            return r;
        }
        (void)ki__path_skip_blanks(parser);
        if (parse_word(parser, "&&")) {
            term->and_next = true;
        } else if (!parse_word(parser, "||")) {
            term->last = true;
            return 0;
        }
    }
}

int ki__path_parse_filter(ki__path_parser *parser)
{
    ki__path_step *step;
    uint8_t *tail = parser->tail; /* terms build chains of their own */
    int r = ki__path_add_step(parser, KI__PATH_FILTER, &step);
    if (r < 0) {
        return r;
    }
    step->inner = parser->path->term_count;
    parser->at++; /* the bracket */
    (void)ki__path_skip_blanks(parser);
    parser->at++; /* the question mark */
    if (ki__path_peek(parser) != '(') {
        return ki__path_expected(parser, "'(' after '?'");
    }
    parser->at++;
    r = parse_terms(parser);
    if (r < 0) {
        return r;
    }
    if (ki__path_peek(parser) != ')') {
        return ki__path_expected(parser, "&&, || or ')'");
    }
    parser->at++;
    if (ki__path_skip_blanks(parser) != ']') {
        return ki__path_expected(parser, "']' after the filter");
    }
    parser->at++;
    parser->tail = tail;
    ki__path_link(parser, step);
    return 0;
}

/* [key=value]: the elements whose member `key` is this string. */
int ki__path_parse_keyed(ki__path_parser *parser)
{
    ki__path_step *step;
    ki__path_step *member;
    int r = ki__path_add_step(parser, KI__PATH_FILTER, &step);
    r = r < 0 ? r : ki__path_add_step(parser, KI__PATH_FIELD, &member);
    ki__path_term *term = r < 0 ? NULL : add_term(parser);
    if (term == NULL) {
        return r < 0 ? r : KI_ERR_LIMIT;
    }
    step->inner = (uint8_t)(parser->path->term_count - 1);
    parser->at++; /* the bracket */
    (void)ki__path_skip_blanks(parser);
    r = ki__path_parse_word(parser, "=", &member->name);
    parser->at++; /* the equals sign */
    *term = (ki__path_term){
        .op = KI__PATH_EQ,
        .left = (uint8_t)(member - parser->path->steps),
        .right = KI__PATH_NONE,
        .last = true,
        .literal = {.type = KI_TYPE_STRING},
    };
    char c = ki__path_peek(parser);
    r = r < 0                   ? r
        : c == '\'' || c == '"' ? ki__path_parse_quoted(parser, &term->literal.text)
                                : ki__path_parse_word(parser, "=][,'\"\\", &term->literal.text);
    if (r < 0) {
        return r;
    }
    if (ki__path_skip_blanks(parser) != ']') {
        return ki__path_expected(parser, "']' after the value");
    }
    parser->at++;
    ki__path_link(parser, step);
    return 0;
}
