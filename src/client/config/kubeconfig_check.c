/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the types of all kubeconfig fields by tables that mirror client-go's v1.Config. Like Go,
 * this rejects a file with a wrongly typed field anywhere. Unknown fields are ignored. null means
 * absent. Invariant: after this check every known field has its type, or is null. */
#include <errno.h>

#include "base/alloc.h"
#include "base/digits.h"
#include "base/error.h"
#include "base/sort.h"
#include "client/config/kubeconfig.h"
#include "object/text/base64.h"

typedef enum field_type {
    FIELD_STRING,
    FIELD_BOOL,
    FIELD_DATA,        /* a base64 string */
    FIELD_STRINGS,     /* a list of strings */
    FIELD_STRING_MAP,  /* a map of strings */
    FIELD_STRINGS_MAP, /* a map of lists of strings */
    FIELD_STRUCT,
    FIELD_STRUCTS, /* a list of structs */
    FIELD_NAMED,   /* the same; `name` must be unique */
    FIELD_ENTRIES, /* the same; limited by the options */
    FIELD_ANY
} field_type;

typedef struct field {
    const char *name; /* NULL ends a table */
    field_type type;
    const struct field *fields; /* for structs */
} field;

static const field extension_fields[] = {
    {"name", FIELD_STRING, NULL},
    {"extension", FIELD_ANY, NULL},
    {NULL, FIELD_ANY, NULL},
};

static const field cluster_fields[] = {
    {"server", FIELD_STRING, NULL},
    {"tls-server-name", FIELD_STRING, NULL},
    {"insecure-skip-tls-verify", FIELD_BOOL, NULL},
    {"certificate-authority", FIELD_STRING, NULL},
    {"certificate-authority-data", FIELD_DATA, NULL},
    {"proxy-url", FIELD_STRING, NULL},
    {"disable-compression", FIELD_BOOL, NULL},
    {"extensions", FIELD_NAMED, extension_fields},
    {NULL, FIELD_ANY, NULL},
};

static const field variable_fields[] = {
    {"name", FIELD_STRING, NULL},
    {"value", FIELD_STRING, NULL},
    {NULL, FIELD_ANY, NULL},
};

static const field exec_fields[] = {
    {"command", FIELD_STRING, NULL},         {"args", FIELD_STRINGS, NULL},
    {"env", FIELD_STRUCTS, variable_fields}, {"apiVersion", FIELD_STRING, NULL},
    {"installHint", FIELD_STRING, NULL},     {"provideClusterInfo", FIELD_BOOL, NULL},
    {"interactiveMode", FIELD_STRING, NULL}, {NULL, FIELD_ANY, NULL},
};

static const field provider_fields[] = {
    {"name", FIELD_STRING, NULL},
    {"config", FIELD_STRING_MAP, NULL},
    {NULL, FIELD_ANY, NULL},
};

static const field user_fields[] = {
    {"client-certificate", FIELD_STRING, NULL},
    {"client-certificate-data", FIELD_DATA, NULL},
    {"client-key", FIELD_STRING, NULL},
    {"client-key-data", FIELD_DATA, NULL},
    {"token", FIELD_STRING, NULL},
    {"tokenFile", FIELD_STRING, NULL},
    {"as", FIELD_STRING, NULL},
    {"as-uid", FIELD_STRING, NULL},
    {"as-groups", FIELD_STRINGS, NULL},
    {"as-user-extra", FIELD_STRINGS_MAP, NULL},
    {"username", FIELD_STRING, NULL},
    {"password", FIELD_STRING, NULL},
    {"auth-provider", FIELD_STRUCT, provider_fields},
    {"exec", FIELD_STRUCT, exec_fields},
    {"extensions", FIELD_NAMED, extension_fields},
    {NULL, FIELD_ANY, NULL},
};

static const field context_fields[] = {
    {"cluster", FIELD_STRING, NULL},   {"user", FIELD_STRING, NULL},
    {"namespace", FIELD_STRING, NULL}, {"extensions", FIELD_NAMED, extension_fields},
    {NULL, FIELD_ANY, NULL},
};

static const field named_cluster_fields[] = {
    {"name", FIELD_STRING, NULL},
    {"cluster", FIELD_STRUCT, cluster_fields},
    {NULL, FIELD_ANY, NULL},
};

static const field named_user_fields[] = {
    {"name", FIELD_STRING, NULL},
    {"user", FIELD_STRUCT, user_fields},
    {NULL, FIELD_ANY, NULL},
};

static const field named_context_fields[] = {
    {"name", FIELD_STRING, NULL},
    {"context", FIELD_STRUCT, context_fields},
    {NULL, FIELD_ANY, NULL},
};

static const field preferences_fields[] = {
    {"colors", FIELD_BOOL, NULL},
    {"extensions", FIELD_NAMED, extension_fields},
    {NULL, FIELD_ANY, NULL},
};

static const field config_fields[] = {
    {"kind", FIELD_STRING, NULL},
    {"apiVersion", FIELD_STRING, NULL},
    {"preferences", FIELD_STRUCT, preferences_fields},
    {"clusters", FIELD_ENTRIES, named_cluster_fields},
    {"users", FIELD_ENTRIES, named_user_fields},
    {"contexts", FIELD_ENTRIES, named_context_fields},
    {"current-context", FIELD_STRING, NULL},
    {"extensions", FIELD_NAMED, extension_fields},
    {NULL, FIELD_ANY, NULL},
};

/* A struct that has not been checked yet, and its path. */
typedef struct step {
    uint32_t node;
    uint32_t parent; /* index of another step; its own for the first */
    uint32_t index;  /* in a list; NO_INDEX if not in a list */
    const char *name;
    const field *fields;
} step;

enum { WAY_MAX = 8 }; /* more than the depth of the tables */
#define NO_INDEX UINT32_MAX

typedef struct checker {
    const ki__kubeconfig_file *file;
    const ki__yaml *yaml;
    size_t max_entries;
    const ki_alloc *alloc;
    step *steps;
    size_t count;
    size_t cap;
    ki_error *error;
} checker;

static const ki__yaml_node *node_at(const checker *c, uint32_t node)
{
    return ki__yaml_at(c->yaml, node);
}

static void add_index(ki_error *error, uint32_t index)
{
    char room[KI__DIGITS_SIZE];
    ki__error_add(error, ki_str_from("["));
    ki__error_add(error, ki__digits(index, room));
    ki__error_add(error, ki_str_from("]"));
}

/* "file:line: users[1].user.token: " and the message. */
static int fail_at(const checker *c, int code, const step *in, const char *name, uint32_t node,
                   const char *what)
{
    const step *way[WAY_MAX];
    size_t len = 0;
    for (const step *s = in; s->name != NULL && len < WAY_MAX; s = &c->steps[s->parent]) {
        way[len++] = s;
    }
    (void)ki__config_error(c->error, code, c->file->label, node_at(c, node)->line, "", NULL);
    while (len != 0) {
        const step *s = way[--len];
        ki__error_add(c->error, ki_str_from(s->name));
        if (s->index != NO_INDEX && c->error != NULL) {
            add_index(c->error, s->index);
        }
        ki__error_add(c->error, ki_str_from(len != 0 || *name != '\0' ? "." : ""));
    }
    ki__error_add(c->error, ki_str_from(name));
    ki__error_add(c->error, ki_str_from(*name != '\0' || in->name != NULL ? ": " : ""));
    ki__error_add(c->error, ki_str_from(what));
    if (c->error != NULL) {
        c->error->column = node_at(c, node)->column;
    }
    return code;
}

static int check_string(const checker *c, const step *in, const char *name, uint32_t node)
{
    const ki__yaml_node *value = node_at(c, node);
    ki__yaml_type type = value->kind == KI__YAML_SCALAR ? ki__yaml_type_of(value) : KI__YAML_NULL;
    if (value->kind != KI__YAML_SCALAR) {
        return fail_at(c, KI_ERR_TYPE, in, name, node, "must be a string");
    }
    if (type != KI__YAML_STRING && type != KI__YAML_NULL) {
        return fail_at(c, KI_ERR_TYPE, in, name, node, "must be a string; put it in quotes");
    }
    if (type == KI__YAML_STRING && memchr(value->text.ptr, '\0', value->text.len) != NULL) {
        return fail_at(c, KI_ERR_INVALID, in, name, node, "must not contain NUL");
    }
    return 0;
}

static int check_bool(const checker *c, const step *in, const char *name, uint32_t node)
{
    const ki__yaml_node *value = node_at(c, node);
    bool ok = value->kind == KI__YAML_SCALAR && ki__yaml_type_of(value) == KI__YAML_BOOL;
    return ok ? 0 : fail_at(c, KI_ERR_TYPE, in, name, node, "must be true or false");
}

static int check_data(const checker *c, const step *in, const char *name, uint32_t node)
{
    int r = check_string(c, in, name, node);
    size_t len;
    if (r >= 0 && ki__base64_decode(node_at(c, node)->text, NULL, &len) < 0) {
        return fail_at(c, KI_ERR_INVALID, in, name, node, "must be base64");
    }
    return r;
}

static int check_strings(const checker *c, const step *in, const char *name, uint32_t node)
{
    if (ki__yaml_is_null(node_at(c, node))) {
        return 0;
    }
    if (node_at(c, node)->kind != KI__YAML_SEQUENCE) {
        return fail_at(c, KI_ERR_TYPE, in, name, node, "must be a list of strings");
    }
    int r = 0;
    for (uint32_t item = node_at(c, node)->child; r >= 0 && item != KI__YAML_NONE;
         item = node_at(c, item)->next) {
        r = check_string(c, in, name, item);
    }
    return r;
}

static int check_map(const checker *c, const step *in, const char *name, uint32_t node, bool lists)
{
    if (node_at(c, node)->kind != KI__YAML_MAPPING) {
        return fail_at(c, KI_ERR_TYPE, in, name, node, "must be a map");
    }
    int r = 0;
    uint32_t key = node_at(c, node)->child;
    while (r >= 0 && key != KI__YAML_NONE) {
        uint32_t value = node_at(c, key)->next;
        if (memchr(node_at(c, key)->text.ptr, '\0', node_at(c, key)->text.len) != NULL) {
            return fail_at(c, KI_ERR_INVALID, in, name, key, "must not contain NUL");
        }
        r = lists ? check_strings(c, in, name, value) : check_string(c, in, name, value);
        key = node_at(c, value)->next;
    }
    return r;
}

/* Adds a struct to the work list. */
static int push(checker *c, size_t parent, const field *f, uint32_t index, uint32_t node)
{
    step next = {
        .node = node,
        .parent = (uint32_t)parent,
        .index = index,
        .name = f->name,
        .fields = f->fields,
    };
    if (ki__yaml_is_null(node_at(c, node))) {
        return 0;
    }
    if (node_at(c, node)->kind != KI__YAML_MAPPING) {
        return fail_at(c, KI_ERR_TYPE, &next, "", node, "must be a map");
    }
    void *steps = c->steps;
    if (ki__array_reserve(c->alloc, &steps, &c->cap, c->count + 1, sizeof(step)) < 0) {
        return ki__error_code(c->error, -ENOMEM);
    }
    c->steps = steps;
    c->steps[c->count++] = next;
    return 0;
}

/* The type of a name is checked separately. */
static ki_str name_of(const checker *c, uint32_t item)
{
    uint32_t name = ki__yaml_get(c->yaml, item, "name");
    const ki__yaml_node *node = node_at(c, name);
    bool text = name != KI__YAML_NONE && node->kind == KI__YAML_SCALAR && !ki__yaml_is_null(node);
    return text ? node->text : ki_str_make("", 0);
}

typedef struct named {
    ki_str name;
    uint32_t node;
    uint32_t index;
} named;

static int compare_named(const void *a, const void *b)
{
    const named *left = a;
    const named *right = b;
    int order = ki_str_cmp(left->name, right->name);
    return order != 0 ? order : (left->index < right->index ? -1 : 1);
}

static int check_names(checker *c, size_t parent, const field *f, uint32_t list)
{
    size_t count = node_at(c, list)->count;
    named *names = ki__alloc_array(c->alloc, count, sizeof(*names));
    if (names == NULL) {
        return ki__error_code(c->error, -ENOMEM);
    }
    uint32_t index = 0;
    for (uint32_t item = node_at(c, list)->child; item != KI__YAML_NONE;
         item = node_at(c, item)->next) {
        names[index] = (named){.name = name_of(c, item), .node = item, .index = index};
        index++;
    }
    ki__sort(names, count, sizeof(*names), compare_named);
    int r = 0;
    for (size_t i = 1; r >= 0 && i < count; i++) {
        if (ki_str_eq(names[i - 1].name, names[i].name)) {
            step at = {.parent = (uint32_t)parent, .index = names[i].index, .name = f->name};
            r = fail_at(c, KI_ERR_INVALID, &at, "name", names[i].node,
                        "duplicate name in this list");
        }
    }
    ki__free(c->alloc, names);
    return r;
}

static int check_structs(checker *c, size_t parent, const field *f, uint32_t list)
{
    if (node_at(c, list)->kind != KI__YAML_SEQUENCE) {
        return fail_at(c, KI_ERR_TYPE, &c->steps[parent], f->name, list, "must be a list");
    }
    if (f->type == FIELD_ENTRIES && node_at(c, list)->count > c->max_entries) {
        return fail_at(c, KI_ERR_LIMIT, &c->steps[parent], f->name, list, "too many entries");
    }
    uint32_t index = 0;
    for (uint32_t item = node_at(c, list)->child; item != KI__YAML_NONE;
         item = node_at(c, item)->next) {
        int r = push(c, parent, f, index++, item);
        if (r < 0) {
            return r;
        }
    }
    return f->type != FIELD_STRUCTS ? check_names(c, parent, f, list) : 0;
}

static int check_field(checker *c, size_t in, const field *f, uint32_t node)
{
    const step *s = &c->steps[in];
    if (f->type == FIELD_ANY || ki__yaml_is_null(node_at(c, node))) {
        return 0;
    }
    switch (f->type) {
    case FIELD_STRING:
        return check_string(c, s, f->name, node);
    case FIELD_BOOL:
        return check_bool(c, s, f->name, node);
    case FIELD_DATA:
        return check_data(c, s, f->name, node);
    case FIELD_STRINGS:
        return check_strings(c, s, f->name, node);
    case FIELD_STRING_MAP:
        return check_map(c, s, f->name, node, false);
    case FIELD_STRINGS_MAP:
        return check_map(c, s, f->name, node, true);
    case FIELD_STRUCT:
        return push(c, in, f, NO_INDEX, node);
    case FIELD_STRUCTS:
    case FIELD_NAMED:
    case FIELD_ENTRIES:
        return check_structs(c, in, f, node);
    case FIELD_ANY:
        break;
    }
    return 0;
}

static int check_fields(checker *c, size_t in)
{
    uint32_t key = node_at(c, c->steps[in].node)->child;
    while (key != KI__YAML_NONE) {
        uint32_t value = node_at(c, key)->next;
        for (const field *f = c->steps[in].fields; f->name != NULL; f++) {
            if (!ki_str_eq_text(node_at(c, key)->text, f->name)) {
                continue;
            }
            int r = check_field(c, in, f, value);
            if (r < 0) {
                return r;
            }
        }
        key = node_at(c, value)->next;
    }
    return 0;
}

/* An empty file is a valid kubeconfig, and so is one without a kind. */
static int check_kind(const checker *c, uint32_t root)
{
    static const struct {
        const char *field;
        const char *value;
    } expected[] = {{"apiVersion", "v1"}, {"kind", "Config"}};
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        uint32_t node = ki__yaml_get(c->yaml, root, expected[i].field);
        const ki__yaml_node *value = node_at(c, node);
        if (node != KI__YAML_NONE && value->text.len != 0 && !ki__yaml_is_null(value) &&
            !ki_str_eq_text(value->text, expected[i].value)) {
            return ki__config_error(c->error, KI_ERR_UNSUPPORTED, c->file->label, value->line,
                                    expected[i].field, ": must be ", expected[i].value, NULL);
        }
    }
    return 0;
}

int ki__kubeconfig_check(const ki__kubeconfig_file *file, size_t max_entries, const ki_alloc *alloc,
                         ki_error *error)
{
    uint32_t root = file->yaml.root;
    if (root == KI__YAML_NONE) {
        return 0;
    }
    checker c = {
        .file = file,
        .yaml = &file->yaml,
        .max_entries = max_entries,
        .alloc = alloc,
        .error = error,
    };
    static const field all = {NULL, FIELD_STRUCT, config_fields};
    int r = push(&c, 0, &all, NO_INDEX, root);
    for (size_t i = 0; r >= 0 && i < c.count; i++) {
        r = check_fields(&c, i);
    }
    ki__free(alloc, c.steps);
    return r < 0 ? r : check_kind(&c, root);
}
