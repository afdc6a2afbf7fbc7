/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/validate/crd.h"

#include <errno.h>

#include <kinformer/resource_table.h>

#include "apiserver/verbs/write_common.h"
#include "base/ascii.h"
#include "object/edit/json_edit.h"
#include "object/edit/json_out.h"
#include "object/value.h"

enum { NAME_SIZE = 64, GROUP_SIZE = 254, SHORT_NAMES_MAX = 16 };

/* Names from a definition, as C strings. */
typedef struct names {
    char group[GROUP_SIZE];
    char plural[NAME_SIZE];
    char singular[NAME_SIZE];
    char kind[NAME_SIZE];
    char short_names[SHORT_NAMES_MAX][NAME_SIZE];
    const char *short_list[SHORT_NAMES_MAX + 1];
    bool cluster_scoped;
    ki_value spec;
    ki_value names;
    ki_value versions;
} names;

bool ki__api_crd_is(const ki__api_type *type)
{
    return type->builtin &&
           strcmp(ki_resource_group(type->resource), "apiextensions.k8s.io") == 0 &&
           strcmp(ki_resource_name(type->resource), "customresourcedefinitions") == 0 &&
           strcmp(ki_resource_version(type->resource), "v1") == 0;
}

static bool read_text(const ki_value *map, const char *name, char *text, size_t size)
{
    ki_value value = ki__value_child(map, name);
    text[0] = '\0';
    return ki_value_get_string(&value, text, size) > 0;
}

static bool read_short_names(names *n)
{
    ki_value_iter iter;
    ki_value value;
    ki_value list = ki__value_child(&n->names, "shortNames");
    size_t count = 0;
    if (ki_value_type(&list) == KI_TYPE_NONE || ki_value_iter_begin(&list, &iter) < 0) {
        return true;
    }
    while (ki_value_iter_next(&iter, NULL, &value) > 0) {
        if (count == SHORT_NAMES_MAX ||
            ki_value_get_string(&value, n->short_names[count], NAME_SIZE) <= 0) {
            return false;
        }
        n->short_list[count] = n->short_names[count];
        count++;
    }
    n->short_list[count] = NULL;
    return true;
}

/* Returns NULL, or the invalid field. */
static const char *read_names(const ki_object *definition, names *n)
{
    ki_value root = ki_object_root(definition);
    *n = (names){.spec = ki__value_child(&root, "spec")};
    n->names = ki__value_child(&n->spec, "names");
    n->versions = ki__value_child(&n->spec, "versions");
    ki_value scope = ki__value_child(&n->spec, "scope");
    n->cluster_scoped = ki_value_equals(&scope, ki_str_from("Cluster"));
    if (!read_text(&n->spec, "group", n->group, sizeof(n->group))) {
        return "spec.group";
    }
    if (!read_text(&n->names, "plural", n->plural, sizeof(n->plural))) {
        return "spec.names.plural";
    }
    if (!read_text(&n->names, "kind", n->kind, sizeof(n->kind))) {
        return "spec.names.kind";
    }
    (void)read_text(&n->names, "singular", n->singular, sizeof(n->singular));
    if (!read_short_names(n)) {
        return "spec.names.shortNames";
    }
    if (!n->cluster_scoped && !ki_value_equals(&scope, ki_str_from("Namespaced"))) {
        return "spec.scope";
    }
    return ki_value_type(&n->versions) == KI_TYPE_LIST ? NULL : "spec.versions";
}

static int make_resource(const names *n, const char *version, const ki_alloc *alloc,
                         ki_resource **ret_resource)
{
    ki_resource_options options = {
        .size = sizeof(options),
        .group = n->group,
        .version = version,
        .resource = n->plural,
        .kind = n->kind,
        .singular = n->singular[0] != '\0' ? n->singular : NULL,
        .cluster_scoped = n->cluster_scoped,
        .short_names = n->short_list,
        .alloc = alloc,
    };
    return ki_resource_new(&options, ret_resource, NULL);
}

/* Whether a type was created by the definition with this name. */
static bool is_of(const ki__api_type *type, const ki_object *definition)
{
    return type->definition != NULL && !type->removed &&
           strcmp(ki_object_name(type->definition), ki_object_name(definition)) == 0;
}

/* The type that already stores the objects, regardless of the current versions. */
static ki__api_type *find_store(const ki__api_model *model, const ki_object *definition)
{
    for (size_t i = 0; i < model->type_count; i++) {
        if (is_of(model->types[i], definition)) {
            return model->types[i]->store;
        }
    }
    return NULL;
}

/* ---- checking ---- */

static int refuse(ki__api_failure *failure, const ki__api_type *type, const char *name,
                  const char *field, const char *message)
{
    const ki__api_cause cause = {"FieldValueInvalid", message, field};
    return ki__api_fail_field(failure, type, name, &cause);
}

/* Whether the name is <plural>.<group>. */
static bool is_named(const names *n, const char *name)
{
    size_t len = strlen(n->plural);
    return strncmp(name, n->plural, len) == 0 && name[len] == '.' &&
           strcmp(name + len + 1, n->group) == 0;
}

static bool is_builtin_group(const char *group)
{
    const ki_resource *resource;
    for (size_t i = 0; (resource = ki_resource_builtin_at(i)) != NULL; i++) {
        if (strcmp(ki_resource_group(resource), group) == 0) {
            return true;
        }
    }
    return false;
}

/* Exactly one version is stored, and all names are valid. */
static int check_versions(const ki__api_model *model, const names *n, bool *ret_ok)
{
    ki_value_iter iter;
    ki_value version;
    char name[NAME_SIZE];
    size_t stored = 0;
    *ret_ok = false;
    if (ki_value_iter_begin(&n->versions, &iter) < 0) {
        return 0;
    }
    while (ki_value_iter_next(&iter, NULL, &version) > 0) {
        ki_resource *resource;
        if (!read_text(&version, "name", name, sizeof(name))) {
            return 0;
        }
        int r = make_resource(n, name, model->alloc, &resource);
        if (r < 0) {
            return r == -ENOMEM ? r : 0;
        }
        ki_resource_unref(resource);
        stored += ki__value_child_flag(&version, "storage") ? 1 : 0;
    }
    *ret_ok = stored == 1;
    return 0;
}

int ki__api_crd_check(const ki__api_model *model, const ki__api_type *type,
                      const ki_object *definition, const char *name, ki__api_failure *failure)
{
    names n;
    const char *wrong = read_names(definition, &n);
    if (wrong != NULL) {
        return refuse(failure, type, name, wrong, "Invalid value: missing, or not valid");
    }
    if (!is_named(&n, name)) {
        return refuse(failure, type, name, "metadata.name",
                      "Invalid value: must be spec.names.plural+\".\"+spec.group");
    }
    if (is_builtin_group(n.group)) {
        return refuse(failure, type, name, "spec.group",
                      "Invalid value: a group of built-in resources");
    }
    const ki__api_type *store = find_store(model, definition);
    if (store != NULL && (strcmp(ki_resource_kind(store->resource), n.kind) != 0 ||
                          ki_resource_is_namespaced(store->resource) == n.cluster_scoped)) {
        return refuse(failure, type, name, "spec.names.kind",
                      "Invalid value: kind and scope cannot be changed");
    }
    bool ok;
    int r = check_versions(model, &n, &ok);
    if (r < 0 || ok) {
        return r;
    }
    return refuse(failure, type, name, "spec.versions",
                  "Invalid value: all must have valid names, and exactly one must be stored");
}

/* ---- the status ---- */

static void write_condition(const ki__api_model *model, const char *type, const char *reason,
                            const char *message, ki__out *out)
{
    ki__put_map(out);
    ki__put_member(out, "type", type);
    ki__put_member(out, "status", "True");
    ki__put_name(out, "lastTransitionTime");
    ki__put_time(out, ki__api_model_seconds(model));
    ki__put_member(out, "reason", reason);
    ki__put_member(out, "message", message);
    ki__put_end(out);
}

/* The names of the definition, with the server's defaults. */
static void write_accepted(const names *n, ki__out *out)
{
    ki_value list_kind = ki__value_child(&n->names, "listKind");
    ki_value singular = ki__value_child(&n->names, "singular");
    ki__put_map(out);
    ki__json_copy_members(&n->names, (const char *const[]){NULL}, out);
    if (ki_value_type(&list_kind) == KI_TYPE_NONE) {
        ki__put_name(out, "listKind");
        ki__out_texts(out, "\"", n->kind, "List\"", NULL);
    }
    if (ki_value_type(&singular) == KI_TYPE_NONE) {
        ki__put_name(out, "singular");
        ki__out_char(out, '"');
        for (const char *p = n->kind; *p != '\0'; p++) {
            ki__out_char(out, ki__to_lower(*p));
        }
        ki__out_char(out, '"');
    }
    ki__put_end(out);
}

int ki__api_crd_status(const ki__api_model *model, const ki_object *definition, ki_buf *buf)
{
    names n;
    ki_value_iter iter;
    ki_value version;
    if (read_names(definition, &n) != NULL || ki_value_iter_begin(&n.versions, &iter) < 0) {
        return ki_buf_add_text(buf, "{}");
    }
    ki__out out = ki__out_to(buf);
    ki__out_text(&out, "{\"conditions\":[");
    write_condition(model, "NamesAccepted", "NoConflicts", "no conflicts found", &out);
    write_condition(model, "Established", "InitialNamesAccepted",
                    "the initial names have been accepted", &out);
    ki__out_text(&out, "],\"acceptedNames\":");
    write_accepted(&n, &out);
    ki__out_text(&out, ",\"storedVersions\":[");
    while (out.error == 0 && ki_value_iter_next(&iter, NULL, &version) > 0) {
        ki_value name = ki__value_child(&version, "name");
        if (ki__value_child_flag(&version, "storage") && ki_value_type(&name) == KI_TYPE_STRING) {
            ki__put_value(&out, &name);
        }
    }
    ki__out_text(&out, "]}");
    return out.error;
}

/* ---- serving ---- */

static int serve_version(ki__api_model *model, const names *n, const ki_value *version,
                         ki_object *definition, ki__api_type **store)
{
    char name[NAME_SIZE];
    ki_resource *resource;
    ki__api_type *type;
    ki_value subresources = ki__value_child(version, "subresources");
    ki_value status = ki__value_child(&subresources, "status");
    const ki__api_type_options options = {
        .has_status = ki_value_type(&status) == KI_TYPE_MAP,
        .has_generation = true,
    };
    if (!read_text(version, "name", name, sizeof(name))) {
        return 0;
    }
    int r = make_resource(n, name, model->alloc, &resource);
    if (r < 0) {
        return r;
    }
    r = ki__api_model_define(model, resource, &options, definition, *store, &type);
    ki_resource_unref(resource);
    *store = r == 0 && *store == NULL ? type : *store;
    return r;
}

/* Serves either the storage version or all others. */
static int serve_some(ki__api_model *model, const names *n, ki_object *definition, bool stored,
                      ki__api_type **store)
{
    ki_value_iter iter;
    ki_value version;
    int r = ki_value_iter_begin(&n->versions, &iter);
    while (r == 0 && ki_value_iter_next(&iter, NULL, &version) > 0) {
        bool wanted = ki__value_child_flag(&version, "served") || (stored && *store == NULL);
        if (wanted && ki__value_child_flag(&version, "storage") == stored) {
            r = serve_version(model, n, &version, definition, store);
        }
    }
    return r;
}

int ki__api_crd_serve(ki__api_model *model, ki_object *definition)
{
    names n;
    if (read_names(definition, &n) != NULL) {
        return 0;
    }
    ki__api_type *store = find_store(model, definition);
    int r = serve_some(model, &n, definition, true, &store);
    r = r < 0 ? r : serve_some(model, &n, definition, false, &store);
    for (size_t i = 0; i < model->type_count && r == 0; i++) {
        ki__api_type *type = model->types[i];
        ki_value version;
        if (is_of(type, definition) && type != store && type->definition != definition) {
            type->removed = true; /* no longer in the definition */
        } else if (type == store) {
            ki_object_unref(type->definition);
            type->definition = ki_object_ref(definition);
            type->unserved =
                !ki__api_type_version(type, &version) || !ki__value_child_flag(&version, "served");
        }
    }
    return r;
}

int ki__api_crd_remove(ki__api_model *model, const ki_object *definition)
{
    ki__api_type *store = find_store(model, definition);
    int r = 0;
    for (size_t i = 0; i < model->type_count; i++) {
        if (is_of(model->types[i], definition)) {
            model->types[i]->removed = true;
        }
    }
    for (size_t i = 0; store != NULL && i < store->count && r == 0;) {
        ki_object *object = ki_object_ref(ki__api_key_at(store->keys[i], model->head));
        size_t count = store->count;
        r = object != NULL ? ki__api_remove(model, store, object, NULL) : 0;
        ki_object_unref(object);
        /* A write may have dropped expired keys: restart, with less to do. */
        i = store->count < count ? 0 : i + 1;
    }
    return r;
}
