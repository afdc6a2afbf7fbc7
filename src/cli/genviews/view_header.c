/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the header: the macros of <kinformer/view.h> that make functions of them, in C++ once more
 * for classes. The fields of a type are a macro, so that both are made from the same lines.
 * Invariant: of a schema, only identifiers of view_names.c, escaped strings and numbers are
 * written; descriptions are not. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/genviews/view_model.h"
#include "cli/report_failure.h"
#include "cli/text.h"

/* By cli_view_read. */
static const struct {
    const char *macro;
    const char *type; /* of elements of lists and maps */
    const char *words;
    const char *plural;
} reads[CLI_VIEW_MAX] = {
    [CLI_VIEW_TEXT] = {"TEXT", "ki_text", "string", "strings"},
    [CLI_VIEW_BOOL] = {"BOOL", "ki_bool", "boolean", "booleans"},
    [CLI_VIEW_INT32] = {"INT32", "ki_int64", "32-bit integer", "32-bit integers"},
    [CLI_VIEW_INT64] = {"INT64", "ki_int64", "64-bit integer", "64-bit integers"},
    [CLI_VIEW_DOUBLE] = {"DOUBLE", "ki_double", "number", "numbers"},
    [CLI_VIEW_BYTES] = {"BYTES", "ki_bytes", "bytes", "bytes"},
    [CLI_VIEW_TIME] = {"TIME", "ki_timestamp", "time", "times"},
    [CLI_VIEW_QUANTITY] = {"QUANTITY", "ki_quantity", "quantity", "quantities"},
    [CLI_VIEW_INT_OR_STRING] = {"INT_OR_STRING", "ki_int_or_string", "integer or string",
                                "integers or strings"},
    [CLI_VIEW_VALUE] = {"VALUE", "ki_value", "any JSON", "any JSON"},
    [CLI_VIEW_OBJECT] = {"CHILD", NULL, "object", "objects"},
    [CLI_VIEW_METADATA] = {"CHILD", NULL, "ObjectMeta", ""},
};

/* ---- names ---- */

/* Appends texts of any length, up to NULL. */
static void put_texts(ki_buf *out, ...)
{
    va_list texts;
    const char *text;
    va_start(texts, out);
    while ((text = va_arg(texts, const char *)) != NULL) {
        cli_put(out, text);
    }
    va_end(texts);
}
#define PUT(out, ...) put_texts(out, __VA_ARGS__, (const char *)NULL)

static void put_type(const cli_view_type *type, ki_buf *out)
{
    PUT(out, "ki_", type->group_version, "_", type->name);
}

static void put_upper(const char *text, ki_buf *out)
{
    for (; *text != '\0'; text++) {
        char c = *text;
        bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z');
        cli_put_char(out, (char)(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : plain ? c : '_'));
    }
}

static const char *suffix(char wrap)
{
    return wrap == 'l' ? "_list" : "_map";
}

/* The type of a field that is an object, a list or a map. */
static void put_result(const cli_view_model *model, const cli_view_field *field, ki_buf *out)
{
    if (field->shape.read == CLI_VIEW_METADATA) {
        cli_put(out, "ki_meta_v1_ObjectMeta");
    } else if (field->shape.read == CLI_VIEW_OBJECT) {
        put_type(&model->types[field->type], out);
    } else {
        cli_put(out, reads[field->shape.read].type);
    }
    for (size_t i = field->shape.wrap_count; i > 0; i--) {
        cli_put(out, suffix(field->shape.wraps[i - 1]));
    }
}

/* ---- types ---- */

static void put_container(const cli_view_type *type, char inner, char wrap, ki_buf *out)
{
    PUT(out, " KI_VIEW_", wrap == 'l' ? "LIST" : "MAP", "(");
    put_type(type, out);
    cli_put(out, inner != '\0' ? suffix(inner) : "");
    cli_put(out, ")");
}

static void put_type_line(const cli_view_model *model, const cli_view_type *type, ki_buf *out)
{
    cli_put(out, " \\\nKI_VIEW_TYPE(");
    put_type(type, out);
    cli_put(out, ")");
    if (type->kind != NULL) {
        return;
    }
    const cli_view_shape *shape = &model->fields[type->outer_field].shape;
    if (shape->wrap_count == 1) {
        put_container(type, '\0', shape->wraps[0], out);
    } else if (shape->wrap_count == 2) {
        put_container(type, '\0', shape->wraps[1], out);
        cli_put(out, " KI_VIEW_INNER(");
        put_type(type, out);
        PUT(out, suffix(shape->wraps[1]), ")");
        put_container(type, shape->wraps[1], shape->wraps[0], out);
    }
}

/* ---- constants ---- */

/* A constant for each string that a field may be. Fails if there are too many alike. */
static int put_constants(cli_view_model *model, const cli_view_type *type,
                         const cli_view_field *field, cli_names *names, ki_buf *out)
{
    ki_value values = cli_view_member(&field->shape.schema, "enum");
    ki_value_iter iter;
    ki_value value;
    ki_buf text;
    size_t count = 0;
    int r = 0;
    if (field->shape.read != CLI_VIEW_TEXT || ki_value_type(&values) != KI_TYPE_LIST ||
        ki_value_iter_begin(&values, &iter) < 0) {
        return 0;
    }
    cli_text_init(&text);
    while (r == 0 && count < CLI_VIEW_VALUES_MAX && ki_value_iter_next(&iter, NULL, &value) > 0) {
        ki_buf_clear(&text);
        if (ki_value_copy_string(&value, &text) < 0 || text.len > CLI_VIEW_NAME_MAX) {
            continue; /* null of nullable fields; too long for a name */
        }
        ki_buf name;
        cli_text_init(&name);
        cli_put(&name, "KI_");
        put_upper(type->group_version, &name);
        PUT(&name, "_", type->name, "_", field->id, "_",
            cli_name_constant(&model->arena, ki_buf_str(&text)));
        const char *copy = cli_arena_copy(&model->arena, ki_buf_str(&name));
        const char *unique = cli_names_unique(names, &model->arena, copy, "_");
        ki_buf_done(&name);
        if (unique == NULL) {
            r = KI_ERR_LIMIT;
            break;
        }
        cli_put(out, "#define ");
        cli_put(out, unique);
        cli_put_char(out, ' ');
        cli_view_put_literal(out, ki_buf_str(&text));
        cli_put_char(out, '\n');
        count++;
    }
    ki_buf_done(&text);
    return r;
}

static int put_all_constants(cli_view_model *model, ki_buf *out, ki_error *error)
{
    cli_names names = {0};
    int r = 0;
    for (size_t i = 0; i < model->type_count && r == 0; i++) {
        const cli_view_type *type = &model->types[i];
        for (size_t j = 0; j < type->field_count && r == 0; j++) {
            const cli_view_field *field = &model->fields[type->first_field + j];
            r = put_constants(model, type, field, &names, out);
            if (r < 0) {
                (void)cli_fail(error, r, "%s: %s.%.100s: too many similar values of enum",
                               type->source, type->name, field->id);
            }
        }
    }
    cli_names_done(&names);
    return r;
}

/* ---- paths ---- */

/* Whether a field can be a member of a struct. */
static bool is_member(const cli_view_field *field)
{
    return ki_str_eq_text(field->name, field->id) && !cli_name_is_c_word(field->id);
}

/* A struct with the members of a type, for KI_PATH(). Inner ones come first. */
static void put_path_struct(const cli_view_model *model, const cli_view_type *type, ki_buf *out)
{
    bool any = false;
    cli_put(out, "typedef struct {");
    for (size_t i = 0; i < type->field_count; i++) {
        const cli_view_field *field = &model->fields[type->first_field + i];
        if (!is_member(field)) {
            continue;
        }
        bool is_map = memchr(field->shape.wraps, 'm', field->shape.wrap_count) != NULL;
        any = true;
        if (field->shape.read == CLI_VIEW_METADATA) {
            cli_put(out, " ki_fields_meta_v1_ObjectMeta");
        } else if (field->shape.read == CLI_VIEW_OBJECT && !is_map) {
            PUT(out, " ki_fields_", type->group_version, "_", model->types[field->type].name);
        } else {
            cli_put(out, " char");
        }
        PUT(out, " ", field->id);
        for (size_t j = 0; j < field->shape.wrap_count && field->shape.wraps[j] == 'l'; j++) {
            cli_put(out, "[1]");
        }
        cli_put_char(out, ';');
    }
    PUT(out, any ? "" : " char ki_none;", " } ki_fields_", type->group_version, "_", type->name,
        ";\n");
}

static void put_paths(const cli_view_model *model, ki_buf *out)
{
    cli_put(out, "\n#ifndef __cplusplus\n");
    for (size_t i = model->type_count; i > 0; i--) {
        put_path_struct(model, &model->types[i - 1], out);
    }
    for (size_t i = 0; i < model->type_count && model->types[i].kind != NULL; i++) {
        const cli_view_type *type = &model->types[i];
        PUT(out, "extern const ki_fields_", type->group_version, "_", type->name, " ki_paths_",
            type->group_version, "_", type->name, ";\n");
    }
    cli_put(out, "#endif\n");
}

/* ---- fields ---- */

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

/* A name in words: "Node name" for nodeName. */
static void put_words(const char *name, ki_buf *out)
{
    for (size_t i = 0; name[i] != '\0'; i++) {
        char c = name[i] == '_' ? ' ' : name[i];
        bool begins = is_upper(c) && i > 0 && !is_upper(name[i - 1]);
        bool alone = !is_upper(name[i + 1]);
        if (i == 0) {
            c = (char)(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
        } else if (begins) {
            cli_put_char(out, ' ');
            c = (char)(alone ? c - 'A' + 'a' : c);
        }
        cli_put_char(out, c);
    }
}

static void put_comment(const cli_view_model *model, const cli_view_field *field, ki_buf *out)
{
    const cli_view_shape *shape = &field->shape;
    cli_put(out, "/** ");
    put_words(field->id, out);
    cli_put(out, ": ");
    for (size_t i = 0; i < shape->wrap_count; i++) {
        const char *many = shape->wraps[i] == 'l' ? "lists" : "maps";
        cli_putf(out, "%.*s of ", i == 0 ? (int)strlen(many) - 1 : (int)strlen(many), many);
    }
    if (shape->read == CLI_VIEW_OBJECT) {
        cli_put(out, model->types[field->type].name);
    } else {
        cli_put(out, shape->wrap_count != 0 ? reads[shape->read].plural : reads[shape->read].words);
    }
    cli_put(out, ". */");
}

static void put_field(const cli_view_model *model, const cli_view_field *field, ki_buf *out)
{
    bool is_child = field->shape.wrap_count != 0 || field->shape.read >= CLI_VIEW_OBJECT;
    bool is_same = ki_str_eq_text(field->name, field->id);
    cli_put(out, " \\\n");
    put_comment(model, field, out);
    PUT(out, " \\\nKI_VIEW_", is_child ? "CHILD" : reads[field->shape.read].macro,
        field->otherwise != NULL ? "_OR" : "", is_same ? "" : "_AS", "(", field->id, ", 0");
    if (is_child) {
        cli_put(out, ", ");
        put_result(model, field, out);
    }
    if (field->otherwise != NULL) {
        cli_put(out, ", ");
        cli_put(out, field->otherwise);
    }
    if (!is_same) {
        cli_put(out, ", ");
        cli_view_put_literal(out, field->name);
    }
    cli_put(out, ")");
    if (field->key != NULL) {
        PUT(out, " \\\nKI_VIEW_KEYED(", field->id, ", ");
        put_type(&model->types[field->type], out);
        PUT(out, ", ", field->key, ", 0)");
    }
}

/* The macro that is the fields of a type. */
static void put_fields(const cli_view_model *model, const cli_view_type *type, ki_buf *out)
{
    PUT(out, "\n/* ---- ", type->name, " ---- */\n#define KI_FIELDS_", type->group_version, "_",
        type->name);
    for (size_t i = 0; i < type->field_count; i++) {
        put_field(model, &model->fields[type->first_field + i], out);
    }
    cli_put_char(out, '\n');
}

/* ---- the header ---- */

/* By name: a reader finds it. */
static int compare_types(const void *a, const void *b)
{
    const cli_view_type *one = *(const cli_view_type *const *)a;
    const cli_view_type *other = *(const cli_view_type *const *)b;
    int order = strcmp(one->group_version, other->group_version);
    return order != 0 ? order : strcmp(one->name, other->name);
}

/* What makes functions, or classes, of all types. */
static void put_uses(const cli_view_model *model, const char *guard, ki_buf *out)
{
    PUT(out, "KI_BEGIN_DECLS\n", guard, "_TYPES\n");
    for (size_t i = 0; i < model->type_count; i++) {
        const cli_view_type *type = &model->types[i];
        if (type->kind != NULL) {
            cli_put(out, "KI_VIEW_KIND(");
            put_type(type, out);
            PUT(out, ", \"", type->api_version, "\", \"", type->kind, "\")\n");
        }
        cli_put(out, "#define KI_T ");
        put_type(type, out);
        PUT(out, "\nKI_VIEW_BEGIN KI_FIELDS_", type->group_version, "_", type->name,
            " KI_VIEW_END\n#undef KI_T\n");
    }
    cli_put(out, "KI_END_DECLS\n");
}

static void put_classes(const cli_view_model *model, const char *guard,
                        const cli_view_type *const *sorted, ki_buf *out)
{
    cli_put(out, "\n#if defined(__cplusplus) && !defined(KI_VIEW_AGAIN)\n"
                 "#include <kinformer/cpp/view_macros.inc>\n");
    for (int stage = 0; stage < 2; stage++) { /* views, then edits */
        put_uses(model, guard, out);
        cli_put(out, "#include <kinformer/cpp/view_macros.inc>\n");
    }
    for (size_t i = 0; i < model->type_count; i++) {
        const char *space = sorted[i]->group_version;
        if (i == 0 || strcmp(space, sorted[i - 1]->group_version) != 0) {
            PUT(out, "namespace ki\n{\nnamespace ", space, "\n{\n");
        }
        PUT(out, "using ", sorted[i]->name, " = typed<");
        put_type(sorted[i], out);
        cli_put(out, ">;\n");
        if (i + 1 == model->type_count || strcmp(space, sorted[i + 1]->group_version) != 0) {
            PUT(out, "} // namespace ", space, "\n} // namespace ki\n");
        }
    }
    cli_put(out, "#endif\n");
}

static void put_beginning(const cli_view_model *model, const char *guard, ki_buf *out)
{
    cli_put(out, "/* Typed views of custom resources; see <kinformer/view.h>. Generated by\n"
                 " * `kinformer gen-views`; changes will be lost. Kinds:\n");
    for (size_t i = 0; i < model->type_count && model->types[i].kind != NULL; i++) {
        PUT(out, " *   ", model->types[i].api_version, " ", model->types[i].kind, "\n");
    }
    PUT(out, " */\n#if !defined(", guard,
        ") || defined(KI_VIEW_AGAIN)\n/* clang-format off */\n#ifndef KI_VIEW_AGAIN\n#define ",
        guard,
        "\n\n#include <kinformer/api/meta_v1.h>\n#include <kinformer/view.h>\n"
        "#ifdef __cplusplus\n#include <kinformer/api/meta_v1.hpp>\n#endif\n\n");
}

static int put_header(cli_view_model *model, const char *guard, const cli_view_type *const *sorted,
                      ki_buf *out, ki_error *error)
{
    put_beginning(model, guard, out);
    int r = put_all_constants(model, out, error);
    if (r < 0) {
        return r;
    }
    PUT(out, "\n#define ", guard, "_TYPES");
    for (size_t i = 0; i < model->type_count; i++) {
        put_type_line(model, sorted[i], out);
    }
    cli_put_char(out, '\n');
    for (size_t i = 0; i < model->type_count && out->len <= CLI_VIEW_OUTPUT_MAX; i++) {
        put_fields(model, sorted[i], out);
    }
    put_paths(model, out);
    cli_put(out, "#endif\n\n");
    put_uses(model, guard, out);
    put_classes(model, guard, sorted, out);
    cli_put(out, "/* clang-format on */\n#endif\n");
    return out->len <= CLI_VIEW_OUTPUT_MAX
               ? 0
               : cli_fail(error, KI_ERR_LIMIT, "the header exceeds %d bytes", CLI_VIEW_OUTPUT_MAX);
}

/* A guard made from the first definition: definitions have unique names. */
static char *default_guard(cli_view_model *model)
{
    ki_buf name;
    cli_text_init(&name);
    cli_put(&name, "KI_VIEWS_");
    put_upper(model->types[0].group_version, &name);
    cli_put_char(&name, '_');
    put_upper(model->types[0].name, &name);
    cli_put(&name, "_H");
    char *guard = cli_arena_copy(&model->arena, ki_buf_str(&name));
    ki_buf_done(&name);
    return guard;
}

int cli_view_model_write(cli_view_model *model, const char *guard, ki_buf *out, ki_error *error)
{
    const cli_view_type **sorted = calloc(model->type_count + 1, sizeof(const cli_view_type *));
    if (sorted == NULL) {
        cli_fail_memory();
    }
    for (size_t i = 0; i < model->type_count; i++) {
        sorted[i] = &model->types[i];
    }
    qsort(sorted, model->type_count, sizeof(*sorted), compare_types);
    int r = model->type_count == 0 ? cli_fail(error, KI_ERR_NOT_FOUND, "no kinds")
                                   : put_header(model, guard != NULL ? guard : default_guard(model),
                                                sorted, out, error);
    free(sorted);
    return r;
}
