/* SPDX-License-Identifier: Apache-2.0 */
/* Reads one schema: OpenAPI v3 in the structural form that API servers require of
 * CustomResourceDefinitions. What only restricts values is not looked at. */
#include <stdio.h>
#include <string.h>

#include "cli/genviews/view_model.h"
#include "cli/text.h"

enum { NUMBER_MAX = 40 };

ki_value cli_view_member(const ki_value *map, const char *name)
{
    ki_value member = {0};
    if (ki_value_type(map) != KI_TYPE_MAP || ki_value_member(map, ki_str_from(name), &member) < 0) {
        return (ki_value){0};
    }
    return member;
}

static bool is_there(const ki_value *value)
{
    return ki_value_type(value) != KI_TYPE_NONE && ki_value_type(value) != KI_TYPE_NULL;
}

static bool is_true(const ki_value *schema, const char *name)
{
    ki_value member = cli_view_member(schema, name);
    return ki_value_bool_or(&member, false);
}

static ki_str text_of(const ki_value *value, cli_arena *arena)
{
    ki_buf text;
    cli_text_init(&text);
    ki_str copy = {0};
    if (ki_value_copy_string(value, &text) == 0) {
        copy = ki_str_make(cli_arena_copy(arena, ki_buf_str(&text)), text.len);
    }
    ki_buf_done(&text);
    return copy;
}

/* ---- types ---- */

/* The pattern of quantities, of which generators make no other mark. */
static bool is_quantity(const ki_value *schema)
{
    char pattern[256];
    ki_value member = cli_view_member(schema, "pattern");
    const char *text = ki_value_string_or(&member, "", pattern, sizeof(pattern));
    return strstr(text, "[KMGTPE]i") != NULL && strstr(text, "[numkMGTPE]") != NULL;
}

static const char *read_scalar(const ki_value *schema, cli_view_read *ret_read)
{
    static const struct {
        const char *type;
        const char *format; /* NULL: any */
        cli_view_read read;
    } rows[] = {
        {"string", "date-time", CLI_VIEW_TIME}, {"string", "byte", CLI_VIEW_BYTES},
        {"string", NULL, CLI_VIEW_TEXT},        {"integer", "int32", CLI_VIEW_INT32},
        {"integer", NULL, CLI_VIEW_INT64},      {"number", NULL, CLI_VIEW_DOUBLE},
        {"boolean", NULL, CLI_VIEW_BOOL},
    };
    ki_value type = cli_view_member(schema, "type");
    ki_value format = cli_view_member(schema, "format");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (ki_value_equals_text(&type, rows[i].type) &&
            (rows[i].format == NULL || ki_value_equals_text(&format, rows[i].format))) {
            *ret_read = rows[i].read;
            return NULL;
        }
    }
    return "type: must be string, integer, number, boolean, object or array";
}

static const char *read_list(const ki_value *schema, ki_value *ret_inner)
{
    *ret_inner = cli_view_member(schema, "items");
    if (!is_there(ret_inner)) {
        return "items: missing";
    }
    return ki_value_type(ret_inner) == KI_TYPE_MAP ? NULL : "items: must be one schema";
}

/* An object: a map if *ret_inner is set. */
static const char *read_object(const ki_value *schema, cli_view_read *ret_read, ki_value *ret_inner)
{
    ki_value properties = cli_view_member(schema, "properties");
    ki_value others = cli_view_member(schema, "additionalProperties");
    if (is_there(&properties) && ki_value_type(&properties) != KI_TYPE_MAP) {
        return "properties: must be a map";
    }
    bool has_fields = ki_value_count(&properties) != 0;
    if (is_there(&others)) {
        ki_type type = ki_value_type(&others);
        if (has_fields) {
            return "properties and additionalProperties are mutually exclusive";
        }
        if (type != KI_TYPE_MAP && !ki_value_bool_or(&others, false)) {
            return "additionalProperties: must be a schema or true";
        }
        *ret_inner = others;
        return NULL;
    }
    *ret_read = has_fields ? CLI_VIEW_OBJECT : CLI_VIEW_VALUE;
    return NULL;
}

/* One level: *ret_wrap is set if it is a list or a map of *ret_inner. */
static const char *read_level(const ki_value *schema, cli_view_read *ret_read, char *ret_wrap,
                              ki_value *ret_inner)
{
    ki_value type = cli_view_member(schema, "type");
    ki_value reference = cli_view_member(schema, "$ref");
    const char *why;
    *ret_wrap = '\0';
    *ret_read = CLI_VIEW_VALUE;
    if (ki_value_type(schema) == KI_TYPE_BOOL) {
        return NULL; /* additionalProperties: true */
    }
    if (ki_value_type(schema) != KI_TYPE_MAP) {
        return "not a schema";
    }
    if (is_there(&reference)) {
        return "$ref: references are not supported";
    }
    if (is_true(schema, "x-kubernetes-int-or-string")) {
        *ret_read = is_quantity(schema) ? CLI_VIEW_QUANTITY : CLI_VIEW_INT_OR_STRING;
        return NULL;
    }
    if (!is_there(&type)) {
        return is_true(schema, "x-kubernetes-preserve-unknown-fields") ? NULL : "type: missing";
    }
    if (ki_value_equals_text(&type, "array")) {
        *ret_wrap = 'l';
        return read_list(schema, ret_inner);
    }
    if (ki_value_equals_text(&type, "object")) {
        *ret_inner = (ki_value){0};
        why = read_object(schema, ret_read, ret_inner);
        *ret_wrap = is_there(ret_inner) ? 'm' : '\0';
        return why;
    }
    return read_scalar(schema, ret_read);
}

const char *cli_view_shape_of(const ki_value *schema, cli_view_shape *ret_shape)
{
    cli_view_shape shape = {.read = CLI_VIEW_VALUE, .schema = *schema};
    for (;;) {
        char wrap;
        ki_value inner = {0};
        const char *why = read_level(&shape.schema, &shape.read, &wrap, &inner);
        if (why != NULL) {
            return why;
        }
        if (wrap == '\0') {
            break;
        }
        if (shape.wrap_count == CLI_VIEW_WRAPS_MAX) {
            shape.read = CLI_VIEW_VALUE;
            break;
        }
        shape.wraps[shape.wrap_count++] = wrap;
        shape.schema = inner;
    }
    /* Only strings and objects are typed in lists and maps of lists and maps. */
    if (shape.wrap_count > 1 && shape.read != CLI_VIEW_TEXT && shape.read != CLI_VIEW_OBJECT) {
        shape.wrap_count = 1;
        shape.read = CLI_VIEW_VALUE;
    }
    *ret_shape = shape;
    return NULL;
}

/* ---- defaults ---- */

void cli_view_put_literal(ki_buf *out, ki_str text)
{
    cli_put_char(out, '"');
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c < ' ' || c > '~' || c == '"' || c == '\\' || c == '?') { /* '?': trigraphs */
            cli_putf(out, "\\%03o", c);
        } else {
            cli_put_char(out, (char)c);
        }
    }
    cli_put_char(out, '"');
}

static const char *text_default(const ki_value *value, cli_arena *arena, const char **ret_why)
{
    ki_buf literal;
    if (ki_value_type(value) != KI_TYPE_STRING) {
        *ret_why = "default: must be a string";
        return NULL;
    }
    ki_str text = text_of(value, arena);
    if (text.len == 0 || text.len > CLI_VIEW_TEXT_MAX || memchr(text.ptr, '\0', text.len) != NULL) {
        return NULL;
    }
    cli_text_init(&literal);
    cli_view_put_literal(&literal, text);
    const char *copy = cli_arena_copy(arena, ki_buf_str(&literal));
    ki_buf_done(&literal);
    return copy;
}

static const char *integer_default(const ki_value *value, bool is_short, cli_arena *arena,
                                   const char **ret_why)
{
    int64_t number;
    char text[NUMBER_MAX];
    if (ki_value_int64(value, &number) < 0) {
        *ret_why = "default: must be an integer";
        return NULL;
    }
    if (is_short && (number < INT32_MIN || number > INT32_MAX)) {
        *ret_why = "default: exceeds 32 bits";
        return NULL;
    }
    if (number == INT64_MIN) { /* C has no literal for it */
        return "(-INT64_C(9223372036854775807) - 1)";
    }
    (void)snprintf(text, sizeof(text), is_short ? "%lld" : "INT64_C(%lld)", (long long)number);
    return number != 0 ? cli_arena_copy(arena, ki_str_from(text)) : NULL;
}

static const char *double_default(const ki_value *value, cli_arena *arena, const char **ret_why)
{
    double number;
    char text[NUMBER_MAX];
    if (ki_value_double(value, &number) < 0) {
        *ret_why = "default: must be a number";
        return NULL;
    }
    (void)snprintf(text, sizeof(text), "%.17g", number);
    return number < 0 || number > 0 ? cli_arena_copy(arena, ki_str_from(text)) : NULL;
}

const char *cli_view_default(const cli_view_shape *shape, cli_arena *arena, const char **ret_why)
{
    ki_value value = cli_view_member(&shape->schema, "default");
    if (!is_there(&value) || shape->wrap_count != 0) {
        return NULL;
    }
    switch (shape->read) {
    case CLI_VIEW_TEXT:
        return text_default(&value, arena, ret_why);
    case CLI_VIEW_BOOL:
        if (ki_value_type(&value) != KI_TYPE_BOOL) {
            *ret_why = "default: must be true or false";
        }
        return ki_value_bool_or(&value, false) ? "true" : NULL;
    case CLI_VIEW_INT32:
    case CLI_VIEW_INT64:
        return integer_default(&value, shape->read == CLI_VIEW_INT32, arena, ret_why);
    case CLI_VIEW_DOUBLE:
        return double_default(&value, arena, ret_why);
    case CLI_VIEW_BYTES:
    case CLI_VIEW_TIME:
    case CLI_VIEW_QUANTITY:
    case CLI_VIEW_INT_OR_STRING:
    case CLI_VIEW_VALUE:
    case CLI_VIEW_OBJECT:
    case CLI_VIEW_METADATA:
    case CLI_VIEW_MAX:
        break;
    }
    return NULL;
}

/* ---- keys ---- */

const char *cli_view_key(const ki_value *schema, const cli_view_shape *shape, cli_arena *arena)
{
    ki_value type = cli_view_member(schema, "x-kubernetes-list-type");
    ki_value keys = cli_view_member(schema, "x-kubernetes-list-map-keys");
    ki_value properties = cli_view_member(&shape->schema, "properties");
    ki_value key;
    cli_view_shape of_key;
    if (shape->wrap_count != 1 || shape->wraps[0] != 'l' || shape->read != CLI_VIEW_OBJECT ||
        !ki_value_equals_text(&type, "map") || ki_value_type(&keys) != KI_TYPE_LIST ||
        ki_value_count(&keys) != 1 || ki_value_element(&keys, 0, &key) < 0) {
        return NULL;
    }
    ki_str name = text_of(&key, arena);
    if (!cli_name_is_plain(name) || name.len > CLI_VIEW_NAME_MAX) {
        return NULL;
    }
    ki_value field = cli_view_member(&properties, name.ptr);
    bool is_text = cli_view_shape_of(&field, &of_key) == NULL && of_key.wrap_count == 0 &&
                   of_key.read == CLI_VIEW_TEXT;
    return is_text ? name.ptr : NULL;
}
