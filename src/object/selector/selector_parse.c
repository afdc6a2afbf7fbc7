/* SPDX-License-Identifier: Apache-2.0 */
/* Parser of label selectors. Accepts what apimachinery's labels.Parse accepts, except NUL bytes,
 * which end the text there:
 *
 *   selector    = [ requirement *( "," requirement ) ]
 *   requirement = "!" key / key / key ( "=" / "==" / "!=" / ">" / "<" ) [ value ]
 *               / key ( "in" / "notin" ) "(" [ value ] *( "," [ value ] ) ")"
 *
 * Blanks are allowed between tokens. A word is any sequence without blanks and symbols; `in` and
 * `notin` are operators only where one is expected. */
#include "base/ascii.h"
#include "base/error.h"
#include "object/names.h"
#include "object/selector/selector.h"

typedef enum token {
    TOKEN_END,
    TOKEN_WORD,
    TOKEN_COMMA,
    TOKEN_OPEN,
    TOKEN_CLOSE,
    TOKEN_NOT,
    TOKEN_EQUALS,
    TOKEN_DOUBLE_EQUALS,
    TOKEN_NOT_EQUALS,
    TOKEN_GREATER,
    TOKEN_LESS
} token;

typedef struct parser {
    ki_str text;
    size_t start; /* of the current token */
    size_t end;
    token token;
    ki__selector_builder *builder;
    ki_error *error;
} parser;

static token symbol(char c)
{
    switch (c) {
    case ',':
        return TOKEN_COMMA;
    case '(':
        return TOKEN_OPEN;
    case ')':
        return TOKEN_CLOSE;
    case '!':
        return TOKEN_NOT;
    case '=':
        return TOKEN_EQUALS;
    case '>':
        return TOKEN_GREATER;
    case '<':
        return TOKEN_LESS;
    default:
        return TOKEN_WORD;
    }
}

/* Moves to the next token. */
static void advance(parser *p)
{
    const char *text = p->text.ptr;
    size_t len = p->text.len;
    size_t i = p->end;
    while (i < len && ki__is_space(text[i])) {
        i++;
    }
    p->start = i;
    if (i == len) {
        p->end = i;
        p->token = TOKEN_END;
        return;
    }
    p->token = symbol(text[i]);
    i++;
    if (p->token == TOKEN_WORD) {
        while (i < len && !ki__is_space(text[i]) && symbol(text[i]) == TOKEN_WORD) {
            i++;
        }
    } else if (i < len && text[i] == '=' && p->token == TOKEN_EQUALS) {
        p->token = TOKEN_DOUBLE_EQUALS;
        i++;
    } else if (i < len && text[i] == '=' && p->token == TOKEN_NOT) {
        p->token = TOKEN_NOT_EQUALS;
        i++;
    }
    p->end = i;
}

static ki_str token_text(const parser *p)
{
    return ki_str_make(p->text.ptr + p->start, p->end - p->start);
}

static int unexpected(const parser *p, const char *expected)
{
    if (p->token == TOKEN_END) {
        return ki__error_at(p->error, KI_ERR_SYNTAX, p->text, p->start,
                            "expected %s, but the selector ends here", expected);
    }
    char shown[KI__SHOWN_SIZE];
    return ki__error_at(p->error, KI_ERR_SYNTAX, p->text, p->start, "expected %s, found '%s'",
                        expected, ki__selector_show(token_text(p), shown));
}

static int invalid(const parser *p, const char *what, const ki__names_fault *fault)
{
    return ki__error_at(p->error, KI_ERR_INVALID, p->text, p->start + fault->offset,
                        "not a valid label %s: %s", what, fault->rule);
}

/* The builder fails only if the selector is too long to print. */
static int refused(const parser *p, int r)
{
    return r < 0 ? ki__error_at(p->error, r, p->text, p->start,
                                "normalized selector longer than %d bytes", KI__SELECTOR_TEXT_MAX)
                 : r;
}

static int add_value(parser *p, ki_str value)
{
    ki__names_fault fault;
    if (!ki__names_label_value(value, &fault)) {
        return invalid(p, "value", &fault);
    }
    return refused(p, ki__selector_builder_add_value(p->builder, value));
}

/* The optional value after = and the like. */
static int parse_one_value(parser *p, ki__operator op)
{
    ki_str value = ki_str_make("", 0);
    if (p->token == TOKEN_WORD) {
        value = token_text(p);
    } else if (p->token != TOKEN_COMMA && p->token != TOKEN_END) {
        return unexpected(p, "a value");
    }
    int64_t number;
    if ((op == KI__OP_GREATER || op == KI__OP_LESS) && !ki__selector_read_int64(value, &number)) {
        return ki__error_at(p->error, KI_ERR_INVALID, p->text, p->start,
                            "'>' and '<' require a 64-bit integer");
    }
    int r = add_value(p, value);
    if (r >= 0 && p->token == TOKEN_WORD) {
        advance(p);
    }
    return r;
}

/* The values after in and notin. An empty position between delimiters is the value "". */
static int parse_values(parser *p)
{
    if (p->token != TOKEN_OPEN) {
        return unexpected(p, "'('");
    }
    for (;;) {
        advance(p); /* past ( or , */
        ki_str value = ki_str_make("", 0);
        if (p->token == TOKEN_WORD) {
            value = token_text(p);
        } else if (p->token != TOKEN_COMMA && p->token != TOKEN_CLOSE) {
            return unexpected(p, "a value, ',' or ')'");
        }
        int r = add_value(p, value);
        if (r < 0) {
            return r;
        }
        if (p->token == TOKEN_WORD) {
            advance(p);
        }
        if (p->token == TOKEN_CLOSE) {
            advance(p);
            return 0;
        }
        if (p->token != TOKEN_COMMA) {
            return unexpected(p, "',' or ')'");
        }
    }
}

static int parse_operator(parser *p, ki__operator *ret_op)
{
    switch (p->token) {
    case TOKEN_COMMA:
    case TOKEN_END:
        *ret_op = KI__OP_EXISTS;
        return 0; /* the token belongs to what follows */
    case TOKEN_EQUALS:
        *ret_op = KI__OP_EQUALS;
        break;
    case TOKEN_DOUBLE_EQUALS:
        *ret_op = KI__OP_DOUBLE_EQUALS;
        break;
    case TOKEN_NOT_EQUALS:
        *ret_op = KI__OP_NOT_EQUALS;
        break;
    case TOKEN_GREATER:
        *ret_op = KI__OP_GREATER;
        break;
    case TOKEN_LESS:
        *ret_op = KI__OP_LESS;
        break;
    case TOKEN_WORD:
        if (ki_str_eq_text(token_text(p), "in")) {
            *ret_op = KI__OP_IN;
            break;
        }
        if (ki_str_eq_text(token_text(p), "notin")) {
            *ret_op = KI__OP_NOT_IN;
            break;
        }
        return unexpected(p, "an operator (= == != > < in notin) or ','");
    case TOKEN_OPEN:
    case TOKEN_CLOSE:
    case TOKEN_NOT:
        return unexpected(p, "an operator (= == != > < in notin) or ','");
    }
    advance(p);
    return 0;
}

static int parse_key(parser *p, ki_str *ret_key)
{
    if (p->token != TOKEN_WORD) {
        return unexpected(p, "a label key");
    }
    ki_str key = token_text(p);
    ki__names_fault fault;
    if (!ki__names_label_key(key, &fault)) {
        return invalid(p, "key", &fault);
    }
    advance(p);
    *ret_key = key;
    return 0;
}

static int parse_requirement(parser *p)
{
    ki__operator op = KI__OP_NOT_EXISTS;
    bool negated = p->token == TOKEN_NOT;
    if (negated) {
        advance(p);
    }
    ki_str key = {0};
    int r = parse_key(p, &key);
    if (r >= 0 && !negated) {
        r = parse_operator(p, &op);
    }
    if (r >= 0) {
        r = refused(p, ki__selector_builder_add(p->builder, key, op));
    }
    if (r < 0 || op == KI__OP_EXISTS || op == KI__OP_NOT_EXISTS) {
        return r;
    }
    r = op == KI__OP_IN || op == KI__OP_NOT_IN ? parse_values(p) : parse_one_value(p, op);
    if (r >= 0) {
        ki__selector_builder_end(p->builder, true);
    }
    return r;
}

/* One pass over the text, into the builder. */
static int parse(const void *source, ki__selector_builder *builder, ki_error *error)
{
    const ki_str *text = source;
    parser p = {.text = *text, .builder = builder, .error = error};
    advance(&p);
    if (p.token == TOKEN_END) {
        return 0;
    }
    for (;;) {
        int r = parse_requirement(&p);
        if (r < 0) {
            return r;
        }
        if (p.token == TOKEN_END) {
            return 0;
        }
        if (p.token != TOKEN_COMMA) {
            return unexpected(&p, "',' or the end");
        }
        advance(&p);
    }
}

int ki_selector_parse(const char *text, const ki_alloc *alloc, ki_selector **ret_selector,
                      ki_error *error)
{
    KI__REQUIRE(text, error);
    KI__REQUIRE(ret_selector, error);
    return ki__selector_parse(ki_str_from(text), alloc, ret_selector, error);
}

int ki__selector_parse(ki_str text, const ki_alloc *alloc, ki_selector **ret_selector,
                       ki_error *error)
{
    if (text.len > KI__SELECTOR_TEXT_MAX) {
        return ki__error_at(error, KI_ERR_LIMIT, text, KI__SELECTOR_TEXT_MAX,
                            "selector longer than %d bytes", KI__SELECTOR_TEXT_MAX);
    }
    return ki__selector_build(parse, &text, alloc, ret_selector, error);
}
