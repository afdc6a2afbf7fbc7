/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/validate/crd_schema.h"

#include <errno.h>

#include <kinformer/error.h>

#include "apiserver/validate/structural.h"
#include "object/edit/json_edit.h"
#include "object/edit/json_out.h"
#include "object/value.h"

typedef struct checker {
    const ki__structural *schema;
    ki__invalid *errors;
    ki_buf path;
} checker;

/* ---- paths of nodes ---- */

static const char *const branch_names[] = {
    [KI__STRUCTURAL_ANY_OF] = "anyOf",
    [KI__STRUCTURAL_ONE_OF] = "oneOf",
    [KI__STRUCTURAL_ALL_OF] = "allOf",
};

static void write_property(const checker *c, uint32_t node, ki__out *out)
{
    const ki__structural_node *parent = &c->schema->nodes[c->schema->nodes[node].parent];
    for (size_t i = 0; i < parent->property_count; i++) {
        const ki__structural_property *p = &c->schema->properties[parent->property + i];
        if (p->node == node) {
            ki__out_text(out, ".properties[");
            ki__out_str(out, p->name);
            ki__out_char(out, ']');
            return;
        }
    }
}

static void write_branch(const checker *c, uint32_t node, ki__out *out)
{
    const ki__structural_node *parent = &c->schema->nodes[c->schema->nodes[node].parent];
    for (size_t b = 0; b < KI__STRUCTURAL_BRANCHES; b++) {
        for (size_t i = 0; i < parent->branch[b].count; i++) {
            if (c->schema->branches[parent->branch[b].first + i] == node) {
                ki__out_texts(out, ".", branch_names[b], NULL);
                ki__out_index(out, i);
                return;
            }
        }
    }
}

static void write_step(const checker *c, uint32_t node, ki__out *out)
{
    const ki__structural_node *parent = &c->schema->nodes[c->schema->nodes[node].parent];
    switch (c->schema->nodes[node].place) {
    case KI__STRUCTURAL_AT_ROOT:
        break;
    case KI__STRUCTURAL_AT_ITEMS:
        ki__out_text(out, ".items");
        break;
    case KI__STRUCTURAL_AT_MORE:
        ki__out_text(out, ".additionalProperties");
        break;
    case KI__STRUCTURAL_AT_PROPERTY:
        write_property(c, node, out);
        break;
    case KI__STRUCTURAL_AT_LOGIC:
        if (parent->not_node == node) {
            ki__out_text(out, ".not");
        } else {
            write_branch(c, node, out);
        }
        break;
    }
}

/* Adds an error for a member of a schema node. `value` is printed as it is. */
static int add(checker *c, uint32_t node, ki__invalid_reason reason, const char *name, ki_str value,
               const char *detail)
{
    enum { DEPTH_MAX = 256 };
    uint32_t way[DEPTH_MAX];
    size_t depth = 0;
    for (uint32_t i = node; i > KI__STRUCTURAL_ROOT && depth < DEPTH_MAX;
         i = c->schema->nodes[i].parent) {
        way[depth++] = i;
    }
    ki__out out = ki__out_to(&c->path);
    while (depth != 0) {
        write_step(c, way[--depth], &out);
    }
    ki__out_texts(&out, ".", name, NULL);
    int r = out.error;
    r = r < 0
            ? r
            : ki__invalid_add(c->errors, reason, ki_buf_str(&c->path), value, ki_str_from(detail));
    ki__buf_truncate(&c->path, out.start);
    return r;
}

/* ---- one node ---- */

static int add_shown(checker *c, uint32_t node, ki__invalid_reason reason, const char *name,
                     const char *detail)
{
    ki_value value = ki__value_child(&c->schema->nodes[node].source, name);
    ki_buf shown;
    ki_buf_init(&shown, c->errors->alloc, KI__INVALID_BYTES_MAX);
    ki__out out = ki__out_to(&shown);
    ki__invalid_show(&value, &out);
    int r = out.error < 0 ? out.error : add(c, node, reason, name, ki_buf_str(&shown), detail);
    ki_buf_done(&shown);
    return r;
}

static int check_type(checker *c, uint32_t node)
{
    const ki__structural_node *n = &c->schema->nodes[node];
    ki__structural_place p = n->place;
    if (n->types == KI__STRUCTURAL_UNKNOWN) {
        return add_shown(c, node, KI__INVALID_NOT_SUPPORTED, "type",
                         "supported values: \"array\", \"boolean\", \"integer\", \"number\", "
                         "\"object\", \"string\"");
    }
    if (n->below_logic) {
        return 0;
    }
    if (n->types == 0 && !(n->preserve && p != KI__STRUCTURAL_AT_ROOT)) {
        return add(c, node, KI__INVALID_REQUIRED, "type", (ki_str){0},
                   p == KI__STRUCTURAL_AT_ROOT ? "must not be empty at the root"
                   : p == KI__STRUCTURAL_AT_ITEMS
                       ? "must not be empty for specified array items"
                       : "must not be empty for specified object fields");
    }
    if (p == KI__STRUCTURAL_AT_ROOT && n->types != KI__STRUCTURAL_OBJECT) {
        return add_shown(c, node, KI__INVALID_VALUE, "type", "must be object at the root");
    }
    return 0;
}

/* error parsing regexp: missing closing ): `a(b` */
static int check_pattern(checker *c, uint32_t node)
{
    const ki__structural_node *n = &c->schema->nodes[node];
    const ki__pattern_fault *fault = &n->pattern_fault;
    if (fault->what == NULL) {
        return 0;
    }
    ki_buf detail;
    ki_buf_init(&detail, c->errors->alloc, KI__INVALID_BYTES_MAX);
    ki__out out = ki__out_to(&detail);
    ki__out_texts(&out, "must be a valid regular expression, but isn't: error parsing regexp: ",
                  fault->what, ": `", NULL);
    ki__out_str(&out, ki_str_make(n->pattern_text.ptr + fault->at, fault->len));
    ki__out_char(&out, '`');
    int r =
        out.error < 0 ? out.error : add_shown(c, node, KI__INVALID_VALUE, "pattern", detail.data);
    ki_buf_done(&detail);
    return r;
}

static int check_list(checker *c, uint32_t node)
{
    const ki__structural_node *n = &c->schema->nodes[node];
    int r = 0;
    if (n->types == KI__STRUCTURAL_ARRAY && n->items == 0 && !n->below_logic) {
        r = add(c, node, KI__INVALID_REQUIRED, "items", (ki_str){0}, "must be specified");
    }
    if (r == 0 && n->list == KI__STRUCTURAL_MAP && ki_value_count(&n->keys) == 0) {
        r = add(c, node, KI__INVALID_REQUIRED, "x-kubernetes-list-map-keys", (ki_str){0},
                "must not be empty if x-kubernetes-list-type is map");
    }
    return r;
}

static int check_node(checker *c, uint32_t node)
{
    const ki__structural_node *n = &c->schema->nodes[node];
    ki_value properties = ki__value_child(&n->source, "properties");
    ki_value reference = ki__value_child(&n->source, "$ref");
    int r = check_type(c, node);
    r = r < 0 ? r : check_pattern(c, node);
    r = r < 0 ? r : check_list(c, node);
    if (r == 0 && n->unique) {
        r = add(c, node, KI__INVALID_FORBIDDEN, "uniqueItems", (ki_str){0},
                "uniqueItems cannot be set to true since the runtime complexity becomes "
                "quadratic");
    }
    if (r == 0 && n->more != KI__STRUCTURAL_MORE_UNSAID && ki_value_count(&properties) != 0 &&
        n->more == KI__STRUCTURAL_MORE_ALLOWED) {
        r = add(c, node, KI__INVALID_FORBIDDEN, "additionalProperties", (ki_str){0},
                "additionalProperties and properties are mutual exclusive");
    }
    if (r == 0 && ki_value_type(&reference) == KI_TYPE_STRING) {
        r = add(c, node, KI__INVALID_FORBIDDEN, "$ref", (ki_str){0}, "$ref is not supported");
    }
    return r;
}

/* ---- the whole ---- */

static int check_schema(checker *c, ki_object *definition, const ki_value *source,
                        const ki_alloc *alloc, ki__crd_notes *notes)
{
    ki__structural *schema;
    int r = ki__structural_new(definition, source, alloc, &schema);
    if (r < 0) {
        return r;
    }
    c->schema = schema;
    notes->rules = notes->rules || schema->has_rules;
    notes->patterns = notes->patterns || schema->has_unmatched;
    /* Computing the path of an error is expensive: skipped for errors beyond the limit. */
    for (uint32_t i = KI__STRUCTURAL_ROOT;
         i < schema->count && r == 0 && c->errors->count < KI__INVALID_MAX; i++) {
        r = check_node(c, i);
    }
    ki__structural_free(schema);
    return r;
}

/* Whether all versions have the same schema: errors are then reported for spec.validation, since
 * kube-apiserver stores it there internally. */
static int is_shared(const ki_value *versions, const ki_alloc *alloc, bool *ret_shared)
{
    ki_value_iter iter;
    ki_value version;
    ki_value first = {0};
    bool any = false;
    int r = ki_value_iter_begin(versions, &iter);
    *ret_shared = true;
    while (r == 0 && *ret_shared && ki_value_iter_next(&iter, NULL, &version) > 0) {
        ki_value schema = ki__value_child(&version, "schema");
        if (any) {
            r = ki__json_same(&first, &schema, alloc, ret_shared);
        }
        first = any ? first : schema;
        any = true;
    }
    return r;
}

static int check_version(checker *c, ki_object *definition, const ki_value *version, size_t index,
                         bool shared, ki__crd_notes *notes)
{
    ki_value schema = ki__value_child(version, "schema");
    ki_value source = ki__value_child(&schema, "openAPIV3Schema");
    bool has = ki_value_type(&source) == KI_TYPE_MAP;
    ki_buf_clear(&c->path);
    ki__out out = ki__out_to(&c->path);
    if (shared && has) {
        ki__out_text(&out, "spec.validation");
    } else {
        ki__out_text(&out, "spec.versions");
        ki__out_index(&out, index);
        ki__out_text(&out, ".schema");
    }
    ki__out_text(&out, ".openAPIV3Schema");
    int r = out.error;
    if (r == 0 && !has) {
        return ki__invalid_add(c->errors, KI__INVALID_REQUIRED, ki_buf_str(&c->path), (ki_str){0},
                               ki_str_from(""));
    }
    return r < 0 ? r : check_schema(c, definition, &source, c->errors->alloc, notes);
}

int ki__crd_check_schemas(ki_object *definition, const ki_alloc *alloc, ki__invalid *errors,
                          ki__crd_notes *ret_notes)
{
    ki_value root = ki_object_root(definition);
    ki_value spec = ki__value_child(&root, "spec");
    ki_value versions = ki__value_child(&spec, "versions");
    ki_value_iter iter;
    ki_value version;
    bool shared;
    checker c = {.errors = errors};
    *ret_notes = (ki__crd_notes){0};
    ki_buf_init(&c.path, alloc, SIZE_MAX);
    int r = is_shared(&versions, alloc, &shared);
    r = r < 0 ? r : ki_value_iter_begin(&versions, &iter);
    for (size_t i = 0; r == 0 && ki_value_iter_next(&iter, NULL, &version) > 0; i++) {
        r = check_version(&c, definition, &version, i, shared, ret_notes);
    }
    ki_buf_done(&c.path);
    return r;
}
