/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes are processed breadth-first, so nothing recurses: processing one appends its children. */
#include "apiserver/validate/structural.h"

#include <errno.h>

#include <kinformer/buf.h>
#include <kinformer/encoding.h>
#include <kinformer/error.h>

#include "apiserver/validate/formats.h"
#include "base/alloc.h"
#include "base/sort.h"
#include "object/value.h"

static int64_t read_size(const ki_value *map, const char *name)
{
    ki_value value = ki__value_child(map, name);
    int64_t number;
    return ki_value_int64(&value, &number) == 0 ? number : -1;
}

static ki__structural_bound read_bound(const ki_value *map, const char *name, const char *exclusive)
{
    ki_value value = ki__value_child(map, name);
    ki__structural_bound bound = {0};
    bound.set = ki_value_double(&value, &bound.number) == 0 &&
                ki_value_number_text(&value, &bound.text) == 0;
    bound.exclusive = exclusive != NULL && ki__value_child_flag(map, exclusive);
    if (bound.set) {
        bool high = bound.number >= 9223372036854775807.0;
        bool low = bound.number <= -9223372036854775808.0;
        bound.integer = high ? INT64_MAX : low ? INT64_MIN : (int64_t)bound.number;
    }
    return bound;
}

/* A string that lives as long as the schema; "" for other types. */
static int read_text(ki__structural *s, const ki_value *value, ki_str *ret_text)
{
    *ret_text = ki_str_from("");
    int r = ki_value_string(value, ret_text);
    if (r != KI_ERR_NOT_PLAIN) {
        return 0;
    }
    void *texts = s->texts;
    r = ki__array_reserve(s->alloc, &texts, &s->text_cap, s->text_count + 1, sizeof(*s->texts));
    s->texts = texts;
    ki_buf text;
    ki_buf_init(&text, s->alloc, SIZE_MAX);
    r = r < 0 ? r : ki_value_copy_string(value, &text);
    char *copy = r == 0 ? ki__alloc_array(s->alloc, text.len + 1, 1) : NULL;
    if (copy != NULL) {
        memcpy(copy, ki_buf_text(&text), text.len + 1);
        s->texts[s->text_count++] = copy;
        *ret_text = ki_str_make(copy, text.len);
    }
    ki_buf_done(&text);
    return r < 0 ? r : copy != NULL ? 0 : -ENOMEM;
}

/* ---- children ---- */

static int add_node(ki__structural *s, const ki_value *source, uint32_t parent,
                    ki__structural_place place, uint32_t *ret_node)
{
    if (s->count == KI__STRUCTURAL_NODES_MAX) {
        return KI_ERR_LIMIT;
    }
    void *nodes = s->nodes;
    int r = ki__array_reserve(s->alloc, &nodes, &s->cap, s->count + 1, sizeof(*s->nodes));
    s->nodes = nodes;
    if (r == 0) {
        s->nodes[s->count] = (ki__structural_node){
            .source = *source,
            .parent = parent,
            .place = place,
            .below_logic =
                place == KI__STRUCTURAL_AT_LOGIC || (parent != 0 && s->nodes[parent].below_logic),
        };
        *ret_node = (uint32_t)s->count++;
    }
    return r;
}

/* The schema of a member, if present. */
static int add_child(ki__structural *s, uint32_t parent, const char *name,
                     ki__structural_place place, uint32_t *ret_node)
{
    ki_value child = ki__value_child(&s->nodes[parent].source, name);
    *ret_node = 0;
    return ki_value_type(&child) == KI_TYPE_MAP ? add_node(s, &child, parent, place, ret_node) : 0;
}

static int add_property(ki__structural *s, ki__structural_property property)
{
    void *properties = s->properties;
    int r = ki__array_reserve(s->alloc, &properties, &s->property_cap, s->property_count + 1,
                              sizeof(*s->properties));
    s->properties = properties;
    if (r == 0) {
        s->properties[s->property_count++] = property;
    }
    return r;
}

static int compare(const void *a, const void *b)
{
    const ki__structural_property *left = a;
    const ki__structural_property *right = b;
    int order = ki_str_cmp(left->name, right->name);
    return order != 0 ? order : left->node < right->node ? 1 : left->node > right->node ? -1 : 0;
}

/* Sorts the names of a node, merges entries of equal names, and numbers the required ones. */
static void finish_properties(ki__structural *s, uint32_t node)
{
    ki__structural_node *n = &s->nodes[node];
    size_t count = s->property_count - n->property;
    size_t kept = 0;
    if (count == 0) {
        return;
    }
    ki__structural_property *p = s->properties + n->property;
    ki__sort(p, count, sizeof(*p), compare);
    for (size_t i = 1; i < count; i++) {
        if (ki_str_eq(p[i].name, p[kept].name)) {
            p[kept].required |= p[i].required;
        } else {
            p[++kept] = p[i];
        }
    }
    n->property_count = kept + 1;
    s->property_count = n->property + n->property_count;
    for (size_t i = 0; i < n->property_count; i++) {
        p[i].required = p[i].required != 0 ? ++n->required_count : 0;
    }
}

static int read_properties(ki__structural *s, uint32_t node)
{
    ki_value_iter iter;
    ki_value key;
    ki_value value;
    ki_value map = ki__value_child(&s->nodes[node].source, "properties");
    ki_value required = ki__value_child(&s->nodes[node].source, "required");
    int r = 0;
    s->nodes[node].property = s->property_count;
    if (ki_value_type(&map) == KI_TYPE_MAP && ki_value_iter_begin(&map, &iter) == 0) {
        while (r == 0 && ki_value_iter_next(&iter, &key, &value) > 0) {
            ki__structural_property property = {0};
            r = read_text(s, &key, &property.name);
            r = r < 0 ? r : add_node(s, &value, node, KI__STRUCTURAL_AT_PROPERTY, &property.node);
            r = r < 0 ? r : add_property(s, property);
        }
    }
    if (r == 0 && ki_value_type(&required) == KI_TYPE_LIST &&
        ki_value_iter_begin(&required, &iter) == 0) {
        while (r == 0 && ki_value_iter_next(&iter, NULL, &value) > 0) {
            ki__structural_property property = {.required = 1};
            r = read_text(s, &value, &property.name);
            r = r < 0 ? r : add_property(s, property);
        }
    }
    if (r == 0) {
        finish_properties(s, node);
    }
    return r;
}

static int read_branches(ki__structural *s, uint32_t node, const char *name,
                         ki__structural_branch which)
{
    ki_value_iter iter;
    ki_value value;
    ki_value list = ki__value_child(&s->nodes[node].source, name);
    int r = 0;
    s->nodes[node].branch[which].first = s->branch_count;
    if (ki_value_type(&list) != KI_TYPE_LIST || ki_value_iter_begin(&list, &iter) < 0) {
        return 0;
    }
    while (r == 0 && ki_value_iter_next(&iter, NULL, &value) > 0) {
        void *branches = s->branches;
        r = ki__array_reserve(s->alloc, &branches, &s->branch_cap, s->branch_count + 1,
                              sizeof(*s->branches));
        s->branches = branches;
        r = r < 0
                ? r
                : add_node(s, &value, node, KI__STRUCTURAL_AT_LOGIC, &s->branches[s->branch_count]);
        s->branch_count += r == 0 ? 1 : 0;
        s->nodes[node].branch[which].count += r == 0 ? 1 : 0;
    }
    return r;
}

static int read_more(ki__structural *s, uint32_t node)
{
    ki_value value = ki__value_child(&s->nodes[node].source, "additionalProperties");
    bool flag = false;
    uint32_t child = 0;
    int r = 0;
    if (ki_value_bool(&value, &flag) == 0) {
        s->nodes[node].more = flag ? KI__STRUCTURAL_MORE_ALLOWED : KI__STRUCTURAL_MORE_FORBIDDEN;
    } else if (ki_value_type(&value) == KI_TYPE_MAP) {
        r = add_child(s, node, "additionalProperties", KI__STRUCTURAL_AT_MORE, &child);
        s->nodes[node].more = KI__STRUCTURAL_MORE_ALLOWED;
    }
    s->nodes[node].more_node = child;
    return r;
}

/* ---- one node ---- */

static unsigned int read_type(const ki_value *source)
{
    static const struct {
        const char *name;
        unsigned int bit;
    } types[] = {
        {"object", KI__STRUCTURAL_OBJECT}, {"array", KI__STRUCTURAL_ARRAY},
        {"string", KI__STRUCTURAL_STRING}, {"integer", KI__STRUCTURAL_INTEGER},
        {"number", KI__STRUCTURAL_NUMBER}, {"boolean", KI__STRUCTURAL_BOOLEAN},
    };
    ki_value type = ki__value_child(source, "type");
    if (ki_value_type(&type) != KI_TYPE_STRING || ki_value_equals(&type, ki_str_from(""))) {
        return 0;
    }
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (ki_value_equals(&type, ki_str_from(types[i].name))) {
            return types[i].bit;
        }
    }
    return KI__STRUCTURAL_UNKNOWN;
}

/* Formats belong to types: one that does not match its type is ignored. */
static int read_format(ki__structural *s, uint32_t node)
{
    ki_value value = ki__value_child(&s->nodes[node].source, "format");
    ki_str format;
    int r = read_text(s, &value, &format);
    unsigned int types = s->nodes[node].types;
    bool known = false;
    if (types == 0 || types == KI__STRUCTURAL_STRING) {
        known = ki__format_is_known(format);
    } else if (types == KI__STRUCTURAL_INTEGER) {
        known = ki_str_eq_text(format, "int32") || ki_str_eq_text(format, "int64");
    } else if (types == KI__STRUCTURAL_NUMBER) {
        known = ki_str_eq_text(format, "float") || ki_str_eq_text(format, "double");
    }
    s->nodes[node].format = known ? format : ki_str_from("");
    return r;
}

static int read_pattern(ki__structural *s, uint32_t node)
{
    ki_value value = ki__value_child(&s->nodes[node].source, "pattern");
    ki_str text;
    int r = read_text(s, &value, &text);
    s->nodes[node].pattern_text = text;
    if (r < 0 || text.len == 0) {
        return r;
    }
    ki__structural_node *n = &s->nodes[node];
    r = ki__pattern_new(text, s->alloc, &n->pattern, &n->pattern_fault);
    if (r == KI_ERR_UNSUPPORTED || r == KI_ERR_LIMIT) {
        s->has_unmatched = true;
        return 0;
    }
    return r == KI_ERR_SYNTAX ? 0 : r;
}

static void read_scalars(ki__structural_node *n)
{
    const ki_value *source = &n->source;
    ki_value list = ki__value_child(source, "x-kubernetes-list-type");
    n->types = read_type(source);
    n->int_or_string = ki__value_child_flag(source, "x-kubernetes-int-or-string");
    if (n->int_or_string) {
        n->types = KI__STRUCTURAL_INTEGER | KI__STRUCTURAL_STRING;
    }
    n->nullable = ki__value_child_flag(source, "nullable");
    n->preserve = ki__value_child_flag(source, "x-kubernetes-preserve-unknown-fields");
    n->embedded = ki__value_child_flag(source, "x-kubernetes-embedded-resource");
    n->unique = ki__value_child_flag(source, "uniqueItems");
    n->list = ki_value_equals(&list, ki_str_from("set"))   ? KI__STRUCTURAL_SET
              : ki_value_equals(&list, ki_str_from("map")) ? KI__STRUCTURAL_MAP
                                                           : KI__STRUCTURAL_ATOMIC;
    n->minimum = read_bound(source, "minimum", "exclusiveMinimum");
    n->maximum = read_bound(source, "maximum", "exclusiveMaximum");
    n->multiple_of = read_bound(source, "multipleOf", NULL);
    n->min_length = read_size(source, "minLength");
    n->max_length = read_size(source, "maxLength");
    n->min_items = read_size(source, "minItems");
    n->max_items = read_size(source, "maxItems");
    n->min_properties = read_size(source, "minProperties");
    n->max_properties = read_size(source, "maxProperties");
    n->default_value = ki__value_child(source, "default");
    n->enumeration = ki__value_child(source, "enum");
    n->keys = ki__value_child(source, "x-kubernetes-list-map-keys");
}

static int read_node(ki__structural *s, uint32_t node)
{
    read_scalars(&s->nodes[node]);
    ki_value rules = ki__value_child(&s->nodes[node].source, "x-kubernetes-validations");
    s->has_rules = s->has_rules || ki_value_count(&rules) != 0;
    uint32_t child = 0;
    int r = read_format(s, node);
    r = r < 0 ? r : read_pattern(s, node);
    r = r < 0 ? r : read_properties(s, node);
    r = r < 0 ? r : read_more(s, node);
    r = r < 0 ? r : add_child(s, node, "items", KI__STRUCTURAL_AT_ITEMS, &child);
    s->nodes[node].items = child;
    r = r < 0 ? r : add_child(s, node, "not", KI__STRUCTURAL_AT_LOGIC, &child);
    s->nodes[node].not_node = child;
    r = r < 0 ? r : read_branches(s, node, "anyOf", KI__STRUCTURAL_ANY_OF);
    r = r < 0 ? r : read_branches(s, node, "oneOf", KI__STRUCTURAL_ONE_OF);
    return r < 0 ? r : read_branches(s, node, "allOf", KI__STRUCTURAL_ALL_OF);
}

/* ---- the schema ---- */

int ki__structural_new(ki_object *definition, const ki_value *schema, const ki_alloc *alloc,
                       ki__structural **ret_schema)
{
    alloc = ki__alloc_or_default(alloc);
    ki__structural *s = ki__alloc_zero(alloc, sizeof(*s));
    if (s == NULL) {
        return -ENOMEM;
    }
    s->alloc = alloc;
    s->definition = ki_object_ref(definition);
    ki_value none = {0};
    uint32_t node;
    int r = add_node(s, &none, 0, KI__STRUCTURAL_AT_ROOT, &node);
    r = r < 0 ? r : add_node(s, schema, 0, KI__STRUCTURAL_AT_ROOT, &node);
    for (uint32_t i = KI__STRUCTURAL_ROOT; r == 0 && i < s->count; i++) {
        r = read_node(s, i);
    }
    if (r < 0) {
        ki__structural_free(s);
        return r;
    }
    *ret_schema = s;
    return 0;
}

ki__structural *ki__structural_free(ki__structural *s)
{
    if (s == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < s->count; i++) {
        ki__pattern_free(s->nodes[i].pattern);
    }
    for (size_t i = 0; i < s->text_count; i++) {
        ki__free(s->alloc, s->texts[i]);
    }
    ki__free(s->alloc, s->texts);
    ki__free(s->alloc, s->nodes);
    ki__free(s->alloc, s->properties);
    ki__free(s->alloc, s->branches);
    ki_object_unref(s->definition);
    ki__free(s->alloc, s);
    return NULL;
}

const ki__structural_property *ki__structural_find(const ki__structural *s, uint32_t node,
                                                   ki_str name)
{
    const ki__structural_node *n = &s->nodes[node];
    size_t low = 0;
    size_t high = n->property_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const ki__structural_property *p = &s->properties[n->property + middle];
        int order = ki_str_cmp(p->name, name);
        if (order == 0) {
            return p;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

uint32_t ki__structural_member(const ki__structural *s, uint32_t node, ki_str name)
{
    const ki__structural_property *p = ki__structural_find(s, node, name);
    return p != NULL && p->node != 0 ? p->node : s->nodes[node].more_node;
}
