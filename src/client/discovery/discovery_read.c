/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes APIGroupDiscoveryList (v2 and v2beta1, which have the same structure) and the three
 * legacy lists: APIVersions, APIGroupList, APIResourceList. Invalid entries are skipped; another
 * document is never treated as an empty list of groups. */
#include "client/discovery/discovery_read.h"

#include <string.h>

#include "base/error.h"
#include "object/value.h"
#include "rest/http.h"

enum {
    NAME_SIZE = 64,       /* of a label, including NUL */
    PATH_SIZE = 256,      /* of a name with an optional subresource */
    SHORT_NAMES_MAX = 16, /* more are ignored */
    VERSION_SIZE = 64
};

/* Names of a resource, copied from the JSON. */
typedef struct names {
    char name[PATH_SIZE];
    char kind[NAME_SIZE];
    char singular[NAME_SIZE];
    char short_names[SHORT_NAMES_MAX][NAME_SIZE];
    const char *short_list[SHORT_NAMES_MAX + 1];
    char categories[SHORT_NAMES_MAX][NAME_SIZE];
    const char *category_list[SHORT_NAMES_MAX + 1];
} names;

/* Member names of the two formats. */
typedef struct layout {
    const char *name;
    const char *singular;
    bool aggregated;
} layout;

static const layout aggregated_form = {"resource", "singularResource", true};
static const layout legacy_form = {"name", "singularName", false};

static const struct {
    const char *text;
    uint32_t bit;
} verbs[] = {
    {"get", KI_CAN_GET},       {"list", KI_CAN_LIST},
    {"watch", KI_CAN_WATCH},   {"create", KI_CAN_CREATE},
    {"update", KI_CAN_UPDATE}, {"patch", KI_CAN_PATCH},
    {"delete", KI_CAN_DELETE}, {"deletecollection", KI_CAN_DELETE_COLLECTION},
};

/* Iterates over a list; empty if it is not one. */
static ki_value_iter walk(const ki_value *parent, const char *member, bool *ret_any)
{
    ki_value_iter iter = {0};
    ki_value list = ki__value_child(parent, member);
    *ret_any = ki_value_type(&list) == KI_TYPE_LIST && ki_value_iter_begin(&list, &iter) == 0;
    return iter;
}

/* Copies a string; "" if absent or null. False if it has another type, is too long or contains
 * NUL. */
static bool copy_value(const ki_value *value, char *text, size_t size)
{
    ki_type type = ki_value_type(value);
    text[0] = '\0';
    if (type == KI_TYPE_NONE || type == KI_TYPE_NULL) {
        return true;
    }
    int len = ki_value_get_string(value, text, size);
    return len >= 0 && strlen(text) == (size_t)len;
}

static bool copy_text(const ki_value *map, const char *member, char *text, size_t size)
{
    ki_value value = ki__value_child(map, member);
    return copy_value(&value, text, size);
}

static uint32_t read_verbs(const ki_value *resource)
{
    uint32_t bits = 0;
    bool any;
    ki_value verb;
    ki_value_iter iter = walk(resource, "verbs", &any);
    while (any && ki_value_iter_next(&iter, NULL, &verb) > 0) {
        for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
            if (ki_value_equals(&verb, ki_str_from(verbs[i].text))) {
                bits |= verbs[i].bit;
            }
        }
    }
    return bits;
}

static void read_words(const ki_value *resource, const char *member, char texts[][NAME_SIZE],
                       const char **list)
{
    size_t count = 0;
    bool any;
    ki_value word;
    ki_value_iter iter = walk(resource, member, &any);
    while (any && count < SHORT_NAMES_MAX && ki_value_iter_next(&iter, NULL, &word) > 0) {
        char *text = texts[count];
        if (copy_value(&word, text, NAME_SIZE) && text[0] != '\0') {
            list[count++] = text;
        }
    }
    list[count] = NULL;
}

/* Whether there is a kind: an aggregated resource that only has subresources has none. */
static bool read_kind(const ki_value *resource, const layout *form, names *out, bool *ret_valid)
{
    ki_value parent = *resource;
    if (form->aggregated) {
        parent = ki__value_child(resource, "responseKind");
    }
    *ret_valid = copy_text(&parent, "kind", out->kind, sizeof(out->kind));
    return !form->aggregated || !*ret_valid || out->kind[0] != '\0';
}

static bool is_namespaced(const ki_value *resource, const layout *form)
{
    return form->aggregated ? ki__value_child_is(resource, "scope", "Namespaced")
                            : ki__value_child_flag(resource, "namespaced");
}

static int read_resource(ki__discovery_builder *builder, size_t number, const ki_value *resource,
                         const layout *form)
{
    names texts;
    bool kind_valid;
    bool valid = copy_text(resource, form->name, texts.name, sizeof(texts.name));
    if (valid && strchr(texts.name, '/') != NULL) {
        return 0; /* a subresource */
    }
    if (!read_kind(resource, form, &texts, &kind_valid)) {
        return 0;
    }
    if (!valid || !kind_valid) {
        return ki__discovery_builder_leave_out(builder);
    }
    if (!copy_text(resource, form->singular, texts.singular, sizeof(texts.singular))) {
        texts.singular[0] = '\0';
    }
    read_words(resource, "shortNames", texts.short_names, texts.short_list);
    read_words(resource, "categories", texts.categories, texts.category_list);
    const ki__discovery_row row = {.name = texts.name,
                                   .kind = texts.kind,
                                   .singular = texts.singular,
                                   .namespaced = is_namespaced(resource, form),
                                   .verbs = read_verbs(resource),
                                   .short_names = texts.short_list,
                                   .categories = texts.category_list};
    return ki__discovery_builder_add(builder, number, &row);
}

static int read_all(ki__discovery_builder *builder, size_t number, const ki_value *parent,
                    const layout *form)
{
    bool any;
    ki_value resource;
    ki_value_iter iter = walk(parent, "resources", &any);
    int r = 0;
    while (r == 0 && any && ki_value_iter_next(&iter, NULL, &resource) > 0) {
        r = read_resource(builder, number, &resource, form);
    }
    return r;
}

/* ---- groups ---- */

/* Invalid group versions are only counted. */
static int name_version(ki__discovery_builder *builder, const char *group, const char *version,
                        ki__discovery_state state, size_t *ret_number)
{
    return ki__discovery_builder_version(builder, ki_str_from(group), ki_str_from(version), state,
                                         ret_number);
}

static int read_aggregated_version(ki__discovery_builder *builder, const char *group,
                                   const ki_value *version)
{
    char text[VERSION_SIZE];
    size_t number = 0;
    bool stale = ki__value_child_is(version, "freshness", "Stale");
    if (!copy_text(version, "version", text, sizeof(text))) {
        text[0] = '\0'; /* an invalid name */
    }
    int r = name_version(builder, group, text, stale ? KI__DISCOVERY_FAILED : KI__DISCOVERY_KNOWN,
                         &number);
    if (r == KI_ERR_INVALID) {
        return 0;
    }
    return r < 0 || stale ? r : read_all(builder, number, version, &aggregated_form);
}

static int read_aggregated(ki__discovery_builder *builder, bool core, const ki_value *root)
{
    bool any;
    ki_value item;
    ki_value_iter items = walk(root, "items", &any);
    int r = 0;
    while (r == 0 && any && ki_value_iter_next(&items, NULL, &item) > 0) {
        char group[PATH_SIZE];
        ki_value metadata = ki__value_child(&item, "metadata");
        if (!copy_text(&metadata, "name", group, sizeof(group)) || core != (group[0] == '\0')) {
            r = ki__discovery_builder_leave_out(
                builder); /* core and other groups have separate paths */
            continue;
        }
        bool any_version;
        ki_value version;
        ki_value_iter versions = walk(&item, "versions", &any_version);
        while (r == 0 && any_version && ki_value_iter_next(&versions, NULL, &version) > 0) {
            r = read_aggregated_version(builder, group, &version);
        }
    }
    return r;
}

static int note_wanted(ki__discovery_builder *builder, const char *group, const ki_value *version)
{
    char text[VERSION_SIZE];
    size_t number;
    if (!copy_value(version, text, sizeof(text))) {
        text[0] = '\0';
    }
    int r = name_version(builder, group, text, KI__DISCOVERY_WANTED, &number);
    return r == KI_ERR_INVALID ? 0 : r;
}

static int read_core_versions(ki__discovery_builder *builder, const ki_value *root)
{
    bool any;
    ki_value version;
    ki_value_iter iter = walk(root, "versions", &any);
    int r = 0;
    while (r == 0 && any && ki_value_iter_next(&iter, NULL, &version) > 0) {
        r = note_wanted(builder, "", &version);
    }
    return r;
}

/* The versions of a group, the preferred one first. */
static int read_group(ki__discovery_builder *builder, const ki_value *group)
{
    char name[PATH_SIZE];
    char preferred[VERSION_SIZE];
    ki_value favourite = ki__value_child(group, "preferredVersion");
    if (!copy_text(group, "name", name, sizeof(name)) || name[0] == '\0') {
        return ki__discovery_builder_leave_out(builder);
    }
    if (!copy_text(&favourite, "version", preferred, sizeof(preferred))) {
        preferred[0] = '\0';
    }
    int r = 0;
    for (int round = 0; round < 2; round++) {
        bool any;
        ki_value item;
        ki_value_iter iter = walk(group, "versions", &any);
        while (r == 0 && any && ki_value_iter_next(&iter, NULL, &item) > 0) {
            ki_value version = ki__value_child(&item, "version");
            if (ki_value_equals(&version, ki_str_from(preferred)) == (round == 0)) {
                r = note_wanted(builder, name, &version);
            }
        }
    }
    return r;
}

static int read_group_list(ki__discovery_builder *builder, const ki_value *root)
{
    bool any;
    ki_value group;
    ki_value_iter iter = walk(root, "groups", &any);
    int r = 0;
    while (r == 0 && any && ki_value_iter_next(&iter, NULL, &group) > 0) {
        r = read_group(builder, &group);
    }
    return r;
}

/* ---- responses ---- */

static int read_json(const ki__discovery_builder *builder, ki_str body, ki_object **ret_object,
                     ki_error *error)
{
    const ki_object_options options = {
        .size = sizeof(options), .alloc = builder->alloc, .max_bytes = KI__DISCOVERY_BODY_MAX};
    int r =
        ki_object_from_json(body.len != 0 ? body.ptr : "", body.len, &options, ret_object, error);
    if (r < 0 && error != NULL) {
        ki__http_explain_body(body, error);
    }
    return r;
}

static int not_expected(ki_error *error, const ki_object *object, const char *expected)
{
    int r = ki__error_set(error, KI_ERR_INVALID, "expected %s, got \"", expected);
    ki__error_add(error, ki_str_from(ki_object_kind(object)));
    ki__error_add(error, ki_str_from("\""));
    return r;
}

static int end(int r, ki_error *error)
{
    if (r == KI_ERR_LIMIT) {
        return ki__error_set(error, r, "more than %d resources or %d group versions",
                             KI__DISCOVERY_RESOURCES_MAX, KI__DISCOVERY_VERSIONS_MAX);
    }
    return r < 0 ? ki__error_code(error, r) : 0;
}

static bool is_known_version(const ki_object *object)
{
    const char *version = ki_object_api_version(object);
    return strcmp(version, "apidiscovery.k8s.io/v2") == 0 ||
           strcmp(version, "apidiscovery.k8s.io/v2beta1") == 0;
}

static int read_groups(ki__discovery_builder *builder, bool core, const ki_object *object,
                       ki_error *error)
{
    ki_value root = ki_object_root(object);
    const char *kind = ki_object_kind(object);
    if (strcmp(kind, "APIGroupDiscoveryList") == 0) {
        if (!is_known_version(object)) {
            return ki__error_set(error, KI_ERR_UNSUPPORTED,
                                 "unexpected version of APIGroupDiscoveryList");
        }
        return end(read_aggregated(builder, core, &root), error);
    }
    if (core && strcmp(kind, "APIVersions") == 0) {
        return end(read_core_versions(builder, &root), error);
    }
    if (!core && strcmp(kind, "APIGroupList") == 0) {
        return end(read_group_list(builder, &root), error);
    }
    return not_expected(error, object, "a list of API groups");
}

int ki__discovery_read_groups(ki__discovery_builder *builder, bool core, ki_str body,
                              ki_error *error)
{
    ki_object *object = NULL;
    int r = read_json(builder, body, &object, error);
    if (r == 0) {
        r = read_groups(builder, core, object, error);
        ki_object_unref(object);
    }
    return r;
}

int ki__discovery_read_resources(ki__discovery_builder *builder, size_t number, ki_str body,
                                 ki_error *error)
{
    ki_object *object = NULL;
    int r = read_json(builder, body, &object, error);
    if (r < 0) {
        return r;
    }
    if (strcmp(ki_object_kind(object), "APIResourceList") != 0) {
        r = not_expected(error, object, "a list of API resources");
    } else {
        ki_value root = ki_object_root(object);
        r = end(read_all(builder, number, &root, &legacy_form), error);
    }
    if (r == 0) {
        builder->versions[number].state = KI__DISCOVERY_KNOWN;
    }
    ki_object_unref(object);
    return r;
}
