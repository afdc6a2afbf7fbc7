/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the types and fields of custom resources. Types are added behind those that are being read,
 * so that inner types always follow outer ones. */
#include "cli/genviews/view_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report_failure.h"
#include "cli/text.h"

enum { PATH_MAX_BYTES = 120, FROM_MAX_BYTES = 80 };

void cli_view_model_init(cli_view_model *model, const char *prefix)
{
    *model = (cli_view_model){.prefix = prefix};
}

void cli_view_model_done(cli_view_model *model)
{
    for (size_t i = 0; i < model->definition_count; i++) {
        (void)ki_object_unref(model->definitions[i]);
    }
    free(model->definitions);
    free(model->types);
    free(model->fields);
    cli_names_done(&model->type_names);
    cli_arena_done(&model->arena);
}

static void *grown(void *items, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity) {
        return items;
    }
    *capacity = *capacity != 0 ? *capacity * 2 : 64;
    items = realloc(items, *capacity * size);
    if (items == NULL) {
        cli_fail_memory();
    }
    return items;
}

static cli_view_type *add_type(cli_view_model *model, const cli_view_type *type)
{
    model->types =
        grown(model->types, model->type_count, &model->type_capacity, sizeof(*model->types));
    model->types[model->type_count] = *type;
    return &model->types[model->type_count++];
}

/* ---- messages ---- */

/* Appends the path of a type in the schema, of which at most the end is shown. */
static void put_path(const cli_view_model *model, size_t type, ki_buf *out)
{
    size_t way[CLI_VIEW_DEPTH_MAX + 1];
    size_t count = 0;
    for (size_t at = type; model->types[at].kind == NULL; at = model->types[at].outer) {
        way[count++] = at;
    }
    while (count != 0) {
        const cli_view_field *field = &model->fields[model->types[way[--count]].outer_field];
        cli_put_str(out, field->name);
        for (size_t i = 0; i < field->shape.wrap_count; i++) {
            cli_put(out, field->shape.wraps[i] == 'l' ? "[]" : "[*]");
        }
        cli_put_char(out, '.');
    }
}

/* An error in the schema of a field. */
static int fail_field(const cli_view_model *model, size_t type, ki_str name, int code,
                      const char *why, ki_error *error)
{
    ki_buf path;
    cli_text_init(&path);
    put_path(model, type, &path);
    cli_put_str(&path, name);
    const char *text = ki_buf_text(&path);
    size_t len = strlen(text);
    const char *shown = len > PATH_MAX_BYTES ? text + len - PATH_MAX_BYTES : text;
    int r = cli_fail(error, code, "%s: %s%s: %s", model->types[type].source,
                     shown != text ? "..." : "", shown, why);
    ki_buf_done(&path);
    return r;
}

/* ---- definitions ---- */

/* Whether a text consists of lower-case letters, digits and some other characters, and begins and
 * ends with a letter or a digit. */
static bool is_name(const char *text, const char *others)
{
    size_t len = strlen(text);
    for (size_t i = 0; i < len; i++) {
        bool plain = (text[i] >= 'a' && text[i] <= 'z') || (text[i] >= '0' && text[i] <= '9');
        if (!plain && (i == 0 || i + 1 == len || strchr(others, text[i]) == NULL)) {
            return false;
        }
    }
    return len != 0;
}

static bool is_kind(const char *text)
{
    char lower[CLI_VIEW_NAME_MAX + 1];
    size_t i = 0;
    for (; text[i] != '\0' && i < sizeof(lower) - 1; i++) {
        lower[i] = (char)(text[i] >= 'A' && text[i] <= 'Z' ? text[i] - 'A' + 'a' : text[i]);
    }
    lower[i] = '\0';
    return is_name(lower, "-") && lower[0] > '9';
}

/* What a definition says about its kinds. */
typedef struct definition {
    const ki_object *object;
    const char *source;
    char group[CLI_VIEW_NAME_MAX];
    char kind[CLI_VIEW_NAME_MAX];
} definition;

static int read_definition(definition *d, ki_error *error)
{
    if (strcmp(ki_object_api_version(d->object), "apiextensions.k8s.io/v1") != 0) {
        return cli_fail(error, KI_ERR_UNSUPPORTED,
                        "%s: apiVersion: must be apiextensions.k8s.io/v1", d->source);
    }
    (void)ki_object_string_or(d->object, "spec.group", "", d->group, sizeof(d->group));
    (void)ki_object_string_or(d->object, "spec.names.kind", "", d->kind, sizeof(d->kind));
    if (!is_name(d->group, "-.")) {
        return cli_fail(error, KI_ERR_INVALID, "%s: spec.group: not a DNS name", d->source);
    }
    if (!is_kind(d->kind)) {
        return cli_fail(error, KI_ERR_INVALID, "%s: spec.names.kind: not a name of a kind",
                        d->source);
    }
    return 0;
}

static int add_version(cli_view_model *model, const definition *d, const ki_value *version,
                       ki_error *error)
{
    char room[CLI_VIEW_NAME_MAX];
    ki_value name = cli_view_member(version, "name");
    ki_value schema = cli_view_member(version, "schema");
    const char *text = ki_value_string_or(&name, "", room, sizeof(room));
    schema = cli_view_member(&schema, "openAPIV3Schema");
    if (!is_name(text, "-")) {
        return cli_fail(error, KI_ERR_INVALID, "%s: spec.versions: invalid or missing name",
                        d->source);
    }
    const char *group_version = cli_arena_join(&model->arena, d->group, "/", text);
    cli_view_type type = {
        .group_version = cli_name_group_version(
            &model->arena, model->prefix != NULL ? model->prefix : d->group, text),
        .api_version = group_version,
        .kind = cli_arena_copy(&model->arena, ki_str_from(d->kind)),
        .source = cli_arena_join(&model->arena, d->source, " ", text),
        .schema = schema,
    };
    cli_view_shape shape;
    const char *why = ki_value_type(&schema) == KI_TYPE_NONE ? "openAPIV3Schema: missing"
                                                             : cli_view_shape_of(&schema, &shape);
    if (why == NULL && (shape.wrap_count != 0 ||
                        (shape.read != CLI_VIEW_OBJECT && shape.read != CLI_VIEW_VALUE))) {
        why = "type: must be object";
    }
    if (why != NULL) {
        return cli_fail(error, KI_ERR_INVALID, "%s: %s", type.source, why);
    }
    for (size_t i = 0; i < model->type_count; i++) {
        if (strcmp(model->types[i].api_version, type.api_version) == 0 &&
            strcmp(model->types[i].kind, type.kind) == 0) {
            return cli_fail(error, KI_ERR_EXISTS, "%s: defined twice", type.source);
        }
    }
    if (model->type_count == CLI_VIEW_KINDS_MAX) {
        return cli_fail(error, KI_ERR_LIMIT, "%s: more than %d kinds", d->source,
                        CLI_VIEW_KINDS_MAX);
    }
    (void)add_type(model, &type);
    return 0;
}

static int add_versions(cli_view_model *model, const definition *d, ki_error *error)
{
    ki_value versions = ki_object_at(d->object, "spec.versions");
    ki_value_iter iter;
    ki_value version;
    size_t served = 0;
    if (ki_value_type(&versions) != KI_TYPE_LIST || ki_value_iter_begin(&versions, &iter) < 0) {
        return cli_fail(error, KI_ERR_INVALID, "%s: spec.versions: missing", d->source);
    }
    while (ki_value_iter_next(&iter, NULL, &version) > 0) {
        ki_value flag = cli_view_member(&version, "served");
        if (!ki_value_bool_or(&flag, true)) {
            continue;
        }
        int r = add_version(model, d, &version, error);
        if (r < 0) {
            return r;
        }
        served++;
    }
    return served != 0
               ? 0
               : cli_fail(error, KI_ERR_INVALID, "%s: spec.versions: none is served", d->source);
}

int cli_view_model_add(cli_view_model *model, const ki_object *object, const char *from,
                       ki_error *error)
{
    definition d = {.object = object};
    ki_buf source;
    cli_text_init(&source);
    cli_putf(&source, "%.*s: %.*s", FROM_MAX_BYTES, from, FROM_MAX_BYTES, ki_object_name(object));
    d.source = cli_arena_copy(&model->arena, ki_buf_str(&source));
    ki_buf_done(&source);
    ki_object **all =
        realloc(model->definitions, (model->definition_count + 1) * sizeof(*model->definitions));
    if (all == NULL) {
        cli_fail_memory();
    }
    model->definitions = all;
    all[model->definition_count++] = ki_object_ref(object);
    int r = read_definition(&d, error);
    return r == 0 ? add_versions(model, &d, error) : r;
}

/* ---- fields ---- */

static int compare_fields(const void *a, const void *b)
{
    const cli_view_field *one = a;
    const cli_view_field *other = b;
    return ki_str_cmp(one->name, other->name);
}

static cli_view_field *add_field(cli_view_model *model, ki_str name)
{
    model->fields =
        grown(model->fields, model->field_count, &model->field_capacity, sizeof(*model->fields));
    cli_view_field *field = &model->fields[model->field_count++];
    *field = (cli_view_field){.name = name};
    return field;
}

/* The names of a type's properties and their schemas, sorted. */
static int list_fields(cli_view_model *model, size_t type, ki_error *error)
{
    ki_value properties = cli_view_member(&model->types[type].schema, "properties");
    bool is_root = model->types[type].kind != NULL;
    ki_value_iter iter;
    ki_value key;
    ki_value schema;
    ki_buf name;
    size_t first = model->field_count;
    cli_text_init(&name);
    model->types[type].first_field = first;
    bool open = ki_value_iter_begin(&properties, &iter) == 0;
    while (open && ki_value_iter_next(&iter, &key, &schema) > 0) {
        ki_buf_clear(&name);
        int r = ki_value_copy_string(&key, &name);
        ki_str text = ki_buf_str(&name);
        if (r < 0 || text.len == 0 || text.len > CLI_VIEW_NAME_MAX ||
            memchr(text.ptr, '\0', text.len) != NULL || model->field_count == CLI_VIEW_FIELDS_MAX) {
            text.len = text.len < PATH_MAX_BYTES / 2 ? text.len : PATH_MAX_BYTES / 2;
            r = fail_field(model, type, text, KI_ERR_LIMIT,
                           model->field_count == CLI_VIEW_FIELDS_MAX
                               ? "too many fields"
                               : "name: empty, too long, or with NUL",
                           error);
            ki_buf_done(&name);
            return r;
        }
        if (!is_root || (!ki_str_eq_text(text, "apiVersion") && !ki_str_eq_text(text, "kind") &&
                         !ki_str_eq_text(text, "metadata"))) {
            text.ptr = cli_arena_copy(&model->arena, text);
            add_field(model, text)->shape.schema = schema;
        }
    }
    ki_buf_done(&name);
    if (is_root) {
        add_field(model, ki_str_from("metadata"))->shape.read = CLI_VIEW_METADATA;
    }
    if (model->field_count != first) {
        qsort(model->fields + first, model->field_count - first, sizeof(*model->fields),
              compare_fields);
    }
    model->types[type].field_count = model->field_count - first;
    return 0;
}

/* Duplicates, which JSON may have, are dropped. */
static void drop_duplicates(cli_view_model *model, cli_view_type *type)
{
    size_t kept = type->first_field;
    for (size_t i = type->first_field; i < model->field_count; i++) {
        if (i == type->first_field ||
            !ki_str_eq(model->fields[i].name, model->fields[kept - 1].name)) {
            model->fields[kept++] = model->fields[i];
        }
    }
    model->field_count = kept;
    type->field_count = kept - type->first_field;
}

/* ---- names of fields ---- */

enum { FUNCTIONS = 7, FIELD_NAMES_MAX = FUNCTIONS + 4 };

/* All that a field with this name defines: functions in C, and a method in C++. */
static size_t names_of(cli_view_model *model, const char *id, const char *key,
                       const char *names[static FIELD_NAMES_MAX])
{
    static const char *const functions[FUNCTIONS] = {"",        "has_",  "get_", "set_",
                                                     "remove_", "copy_", "edit_"};
    size_t count = 0;
    for (; count < FUNCTIONS; count++) {
        names[count] = cli_arena_join(&model->arena, functions[count], id, "");
    }
    names[count++] = cli_arena_join(&model->arena, "set_", id, "_json");
    if (key != NULL) {
        names[count] = cli_arena_join(&model->arena, id, "_by_", key);
        names[count + 1] = cli_arena_join(&model->arena, "edit_", names[count], "");
        count += 2;
    }
    if (cli_name_is_cpp_word(id)) {
        names[count++] = cli_arena_join(&model->arena, id, "_", "");
    }
    return count;
}

/* Takes a name for a field, unless another field defines something that it would define. */
static bool claim(cli_view_model *model, cli_names *taken, const char *id, const char *key)
{
    const char *names[FIELD_NAMES_MAX];
    size_t count = names_of(model, id, key, names);
    for (size_t i = 0; i < count; i++) {
        if (cli_names_has(taken, names[i])) {
            return false;
        }
    }
    for (size_t i = 0; i < count; i++) {
        cli_names_add(taken, names[i]);
    }
    return true;
}

/* Gives a field the first free name: its own, or one with a number. */
static bool name_field(cli_view_model *model, cli_names *taken, cli_view_field *field)
{
    const char *wanted = cli_name_field(&model->arena, field->name);
    const char *id = wanted;
    for (int i = 2; !claim(model, taken, id, field->key); i++) {
        char number[16];
        if (i > CLI_NAME_TRIES) {
            return false;
        }
        (void)snprintf(number, sizeof(number), "_%d", i);
        id = cli_arena_join(&model->arena, wanted, number, "");
    }
    field->id = id;
    return true;
}

/* The order of naming: fields that can have their own name, unless it looks like that of a function
 * for another field; then these; then those whose names C does not allow. */
static int rank_of(cli_view_model *model, const cli_view_field *field)
{
    const char *own = cli_name_field(&model->arena, field->name);
    return !ki_str_eq_text(field->name, own) ? 2 : cli_name_is_derived(own) ? 1 : 0;
}

static int name_fields(cli_view_model *model, size_t type, ki_error *error)
{
    cli_names taken = {0};
    cli_view_field *fields = model->fields + model->types[type].first_field;
    size_t count = model->types[type].field_count;
    int r = 0;
    if (model->types[type].kind != NULL) { /* functions of kinds */
        cli_names_add(&taken, "edit_of");
        cli_names_add(&taken, "edit_new");
    }
    for (int rank = 0; rank <= 2 && r == 0; rank++) {
        for (size_t i = 0; i < count && r == 0; i++) {
            if (rank_of(model, &fields[i]) == rank && !name_field(model, &taken, &fields[i])) {
                r = fail_field(model, type, fields[i].name, KI_ERR_LIMIT,
                               "too many fields with similar names", error);
            }
        }
    }
    cli_names_done(&taken);
    return r;
}

/* ---- types ---- */

/* Names of types are unique in a group and version. */
static int name_type(cli_view_model *model, cli_view_type *type, const char *wanted,
                     ki_error *error)
{
    size_t scope = strlen(type->group_version) + 1;
    const char *full = cli_arena_join(&model->arena, type->group_version, "/", wanted);
    const char *unique = strlen(wanted) <= CLI_VIEW_TYPE_NAME_MAX
                             ? cli_names_unique(&model->type_names, &model->arena, full, "")
                             : NULL;
    if (unique == NULL) {
        return cli_fail(error, KI_ERR_LIMIT, "%s: name of a type: too long, or used too often",
                        type->source);
    }
    type->name = unique + scope;
    return 0;
}

/* Adds the type of a field that is an object. */
static int add_inner(cli_view_model *model, size_t outer, size_t place, ki_error *error)
{
    cli_view_field *field = &model->fields[place];
    const cli_view_type *around = &model->types[outer];
    cli_view_type type = {
        .group_version = around->group_version,
        .source = around->source,
        .schema = field->shape.schema,
        .outer = outer,
        .outer_field = place,
        .depth = around->depth + 1,
    };
    if (type.depth > CLI_VIEW_DEPTH_MAX) {
        return fail_field(model, outer, field->name, KI_ERR_DEPTH, "nested too deep", error);
    }
    const char *wanted = cli_name_type(&model->arena, around->name, field->name);
    int r = name_type(model, &type, wanted, error);
    if (r < 0) {
        return fail_field(model, outer, field->name, r, "name of its type: too long", error);
    }
    field->type = model->type_count;
    (void)add_type(model, &type);
    return 0;
}

/* Reads the schema of a field. */
static int read_field(cli_view_model *model, size_t type, size_t place, ki_error *error)
{
    cli_view_field *field = &model->fields[place];
    ki_value schema = field->shape.schema;
    if (field->shape.read == CLI_VIEW_METADATA) {
        return 0;
    }
    const char *why = cli_view_shape_of(&schema, &field->shape);
    if (why == NULL) {
        field->otherwise = cli_view_default(&field->shape, &model->arena, &why);
        field->key = cli_view_key(&schema, &field->shape, &model->arena);
    }
    if (why != NULL) {
        return fail_field(model, type, field->name, KI_ERR_UNSUPPORTED, why, error);
    }
    return field->shape.read == CLI_VIEW_OBJECT ? add_inner(model, type, place, error) : 0;
}

static int read_type(cli_view_model *model, size_t type, ki_error *error)
{
    int r = list_fields(model, type, error);
    if (r < 0) {
        return r;
    }
    drop_duplicates(model, &model->types[type]);
    size_t first = model->types[type].first_field;
    size_t count = model->types[type].field_count;
    for (size_t i = first; i < first + count && r == 0; i++) {
        r = read_field(model, type, i, error);
    }
    return r == 0 ? name_fields(model, type, error) : r;
}

static int compare_kinds(const void *a, const void *b)
{
    const cli_view_type *one = a;
    const cli_view_type *other = b;
    int order = strcmp(one->group_version, other->group_version);
    order = order != 0 ? order : strcmp(one->kind, other->kind);
    return order != 0 ? order : strcmp(one->api_version, other->api_version);
}

int cli_view_model_build(cli_view_model *model, ki_error *error)
{
    /* Names of kinds that are macros in many programs. */
    static const char *const macros[] = {"EOF", "NULL", "TRUE", "FALSE", "NAN", "DEBUG", "NDEBUG"};
    int r = 0;
    if (model->type_count != 0) {
        qsort(model->types, model->type_count, sizeof(*model->types), compare_kinds);
    }
    for (size_t i = 0; i < model->type_count && r == 0; i++) {
        cli_view_type *type = &model->types[i];
        for (size_t j = 0; j < sizeof(macros) / sizeof(macros[0]); j++) {
            cli_names_add(&model->type_names,
                          cli_arena_join(&model->arena, type->group_version, "/", macros[j]));
        }
        r = name_type(model, type, cli_name_type(&model->arena, "", ki_str_from(type->kind)),
                      error);
    }
    for (size_t i = 0; i < model->type_count && r == 0; i++) {
        r = read_type(model, i, error);
    }
    return r;
}
