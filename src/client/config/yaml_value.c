/* SPDX-License-Identifier: Apache-2.0 */
/* Types of scalars by the core schema of YAML 1.2, and lookup by key. */
#include "base/ascii.h"
#include "client/config/yaml_reader.h"

static bool is_one_of(ki_str text, const char *const *words)
{
    for (; *words != NULL; words++) {
        if (ki_str_eq_text(text, *words)) {
            return true;
        }
    }
    return false;
}

static bool is_sign(char c)
{
    return c == '-' || c == '+';
}

/* Number of leading digits. */
static size_t digits(ki_str text)
{
    size_t len = 0;
    while (len < text.len && ki__is_digit(text.ptr[len])) {
        len++;
    }
    return len;
}

static ki_str skip(ki_str text, size_t len)
{
    return ki_str_make(text.ptr + len, text.len - len);
}

static bool is_based(ki_str text, char base, const char *allowed)
{
    if (text.len < 3 || text.ptr[0] != '0' || text.ptr[1] != base) {
        return false;
    }
    for (size_t i = 2; i < text.len; i++) {
        if (text.ptr[i] == '\0' || strchr(allowed, text.ptr[i]) == NULL) {
            return false;
        }
    }
    return true;
}

static bool is_int(ki_str text)
{
    if (is_based(text, 'o', "01234567") || is_based(text, 'x', "0123456789abcdefABCDEF")) {
        return true;
    }
    ki_str rest = text.len != 0 && is_sign(text.ptr[0]) ? skip(text, 1) : text;
    return rest.len != 0 && digits(rest) == rest.len;
}

static bool is_exponent(ki_str text)
{
    if (text.len == 0) {
        return true;
    }
    if (text.ptr[0] != 'e' && text.ptr[0] != 'E') {
        return false;
    }
    ki_str rest = skip(text, 1);
    rest = rest.len != 0 && is_sign(rest.ptr[0]) ? skip(rest, 1) : rest;
    return rest.len != 0 && digits(rest) == rest.len;
}

static bool is_float(ki_str text)
{
    static const char *const infinity[] = {".inf", ".Inf", ".INF", NULL};
    static const char *const not_a_number[] = {".nan", ".NaN", ".NAN", NULL};
    ki_str rest = text.len != 0 && is_sign(text.ptr[0]) ? skip(text, 1) : text;
    if (is_one_of(rest, infinity) || is_one_of(text, not_a_number)) {
        return true;
    }
    size_t before = digits(rest);
    rest = skip(rest, before);
    size_t after = 0;
    if (rest.len != 0 && rest.ptr[0] == '.') {
        rest = skip(rest, 1);
        after = digits(rest);
        rest = skip(rest, after);
    }
    return before + after != 0 && is_exponent(rest);
}

ki__yaml_type ki__yaml_type_of(const ki__yaml_node *scalar)
{
    static const char *const nothing[] = {"", "~", "null", "Null", "NULL", NULL};
    static const char *const truth[] = {"true", "True", "TRUE", "false", "False", "FALSE", NULL};
    if (scalar->quoted) {
        return KI__YAML_STRING;
    }
    if (is_one_of(scalar->text, nothing)) {
        return KI__YAML_NULL;
    }
    if (is_one_of(scalar->text, truth)) {
        return KI__YAML_BOOL;
    }
    if (is_int(scalar->text)) {
        return KI__YAML_INT;
    }
    return is_float(scalar->text) ? KI__YAML_FLOAT : KI__YAML_STRING;
}

bool ki__yaml_is_null(const ki__yaml_node *node)
{
    return node->kind == KI__YAML_SCALAR && ki__yaml_type_of(node) == KI__YAML_NULL;
}

bool ki__yaml_is_true(const ki__yaml_node *scalar)
{
    return scalar->text.ptr[0] == 't' || scalar->text.ptr[0] == 'T';
}

uint32_t ki__yaml_get(const ki__yaml *yaml, uint32_t node, const char *key)
{
    const ki__yaml_node *mapping = ki__yaml_at(yaml, node);
    if (node == KI__YAML_NONE || mapping->kind != KI__YAML_MAPPING) {
        return KI__YAML_NONE;
    }
    uint32_t at = mapping->child;
    while (at != KI__YAML_NONE) {
        uint32_t value = ki__yaml_at(yaml, at)->next;
        if (ki_str_eq_text(ki__yaml_at(yaml, at)->text, key)) {
            return value;
        }
        at = ki__yaml_at(yaml, value)->next;
    }
    return KI__YAML_NONE;
}
