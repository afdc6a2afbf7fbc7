/* SPDX-License-Identifier: Apache-2.0 */
/* Builds a selector from a metav1.LabelSelector. As in every Kubernetes object, null means absent,
 * and unknown members are ignored. */
#include <stdio.h>

#include <kinformer/label_selector.h>

#include "base/error.h"
#include "object/names.h"
#include "object/selector/selector.h"
#include "object/value.h"

/* A pass over the value, with the current position for errors. */
typedef struct reader {
    ki__selector_builder *builder;
    ki_error *error;
    const char *list;   /* matchLabels or matchExpressions; NULL at the root */
    const char *member; /* of an expression, or NULL */
    ki_str label;       /* the key in matchLabels, if in_label */
    bool in_label;
    bool in_expression;
    bool in_value;
    size_t expression; /* index in matchExpressions */
    size_t value;      /* index in values */
} reader;

static void place_text(const reader *rd, char *text, size_t size)
{
    char shown[KI__SHOWN_SIZE];
    if (rd->in_label) {
        (void)snprintf(text, size, "%s[\"%s\"]", rd->list, ki__selector_show(rd->label, shown));
    } else if (rd->in_value) {
        (void)snprintf(text, size, "%s[%zu].%s[%zu]", rd->list, rd->expression, rd->member,
                       rd->value);
    } else if (rd->in_expression) {
        (void)snprintf(text, size, "%s[%zu]%s%s", rd->list, rd->expression,
                       rd->member != NULL ? "." : "", rd->member != NULL ? rd->member : "");
    } else {
        (void)snprintf(text, size, "%s", rd->list != NULL ? rd->list : "the label selector");
    }
}

static int invalid(const reader *rd, const char *rule)
{
    char place[128];
    place_text(rd, place, sizeof(place));
    return ki__error_set(rd->error, KI_ERR_INVALID, "%s: %s", place, rule);
}

static int wrong_type(const reader *rd, const char *expected, const ki_value *value)
{
    char place[128];
    place_text(rd, place, sizeof(place));
    return ki__error_set(rd->error, KI_ERR_INVALID, "%s: expected a %s, found a %s", place,
                         expected, ki_type_name(ki_value_type(value)));
}

/* The builder fails only if the selector is too long to print. */
static int refused(const reader *rd, int r)
{
    return r < 0 ? ki__error_set(rd->error, r, "normalized selector longer than %d bytes",
                                 KI__SELECTOR_TEXT_MAX)
                 : r;
}

static bool is_absent(const ki_value *value)
{
    ki_type type = ki_value_type(value);
    return type == KI_TYPE_NONE || type == KI_TYPE_NULL;
}

/* Reads a string of up to `size` - 1 bytes; absent means "". Longer ones are never valid here. */
static int read_text(const reader *rd, const ki_value *value, char *room, size_t size,
                     ki_str *ret_text)
{
    if (is_absent(value)) {
        *ret_text = ki_str_make("", 0);
        return 0;
    }
    int r = ki_value_get_string(value, room, size);
    if (r == KI_ERR_TYPE) {
        return wrong_type(rd, "string", value);
    }
    if (r < 0) {
        char rule[64];
        (void)snprintf(rule, sizeof(rule), "longer than %zu bytes", size - 1);
        return invalid(rd, rule);
    }
    *ret_text = ki_str_make(room, (size_t)r);
    return 0;
}

static int invalid_name(const reader *rd, const char *what, const ki__names_fault *fault)
{
    char rule[192];
    (void)snprintf(rule, sizeof(rule), "not a valid label %s: %s", what, fault->rule);
    return invalid(rd, rule);
}

static int read_key(reader *rd, const ki_value *value, char *room, ki_str *ret_key)
{
    if (rd->in_label && ki_value_string(value, &rd->label) < 0) {
        rd->label = ki_str_make("", 0); /* used only if it is too long to be decoded */
    }
    int r = read_text(rd, value, room, KI__LABEL_KEY_MAX + 1, ret_key);
    if (r < 0) {
        return r;
    }
    rd->label = *ret_key;
    ki__names_fault fault;
    return ki__names_label_key(*ret_key, &fault) ? 0 : invalid_name(rd, "key", &fault);
}

static int add_value(const reader *rd, const ki_value *value)
{
    char room[KI__LABEL_VALUE_MAX + 1];
    ki_str text = {0};
    int r = read_text(rd, value, room, sizeof(room), &text);
    if (r < 0) {
        return r;
    }
    ki__names_fault fault;
    if (!ki__names_label_value(text, &fault)) {
        return invalid_name(rd, "value", &fault);
    }
    return refused(rd, ki__selector_builder_add_value(rd->builder, text));
}

static int read_match_labels(reader *rd, const ki_value *labels)
{
    if (is_absent(labels)) {
        return 0;
    }
    ki_value_iter iter;
    if (ki_value_type(labels) != KI_TYPE_MAP || ki_value_iter_begin(labels, &iter) < 0) {
        return wrong_type(rd, "map", labels);
    }
    ki_value name, value;
    while (ki_value_iter_next(&iter, &name, &value) > 0) {
        char room[KI__LABEL_KEY_MAX + 1];
        ki_str key = {0};
        rd->in_label = true;
        int r = read_key(rd, &name, room, &key);
        if (r >= 0) {
            r = refused(rd, ki__selector_builder_add_label(rd->builder, key));
        }
        if (r >= 0) {
            r = add_value(rd, &value);
        }
        if (r < 0) {
            return r;
        }
        ki__selector_builder_end(rd->builder, false);
    }
    rd->in_label = false;
    return 0;
}

static int read_operator(const reader *rd, const ki_value *value, ki__operator *ret_op)
{
    static const struct {
        const char *name;
        ki__operator op;
    } operators[] = {
        {"In", KI__OP_IN},
        {"NotIn", KI__OP_NOT_IN},
        {"Exists", KI__OP_EXISTS},
        {"DoesNotExist", KI__OP_NOT_EXISTS},
    };
    for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
        if (ki_value_equals(value, ki_str_from(operators[i].name))) {
            *ret_op = operators[i].op;
            return 0;
        }
    }
    return invalid(rd, "must be In, NotIn, Exists or DoesNotExist");
}

static int read_values(reader *rd, const ki_value *values, ki__operator op)
{
    size_t count = ki_value_count(values);
    if (!is_absent(values) && ki_value_type(values) != KI_TYPE_LIST) {
        return wrong_type(rd, "list", values);
    }
    bool wanted = op == KI__OP_IN || op == KI__OP_NOT_IN;
    if (wanted != (count != 0)) {
        return invalid(rd, wanted ? "In and NotIn require at least one value"
                                  : "Exists and DoesNotExist take no values");
    }
    ki_value_iter iter;
    if (count == 0 || ki_value_iter_begin(values, &iter) < 0) {
        return 0;
    }
    rd->in_value = true;
    ki_value value;
    for (rd->value = 0; ki_value_iter_next(&iter, NULL, &value) > 0; rd->value++) {
        int r = add_value(rd, &value);
        if (r < 0) {
            return r;
        }
    }
    rd->in_value = false;
    return 0;
}

static int read_expression(reader *rd, const ki_value *expression)
{
    if (!is_absent(expression) && ki_value_type(expression) != KI_TYPE_MAP) {
        return wrong_type(rd, "map", expression);
    }
    char room[KI__LABEL_KEY_MAX + 1];
    ki_str key = {0};
    rd->member = "key";
    ki_value value = ki__value_child(expression, rd->member);
    int r = read_key(rd, &value, room, &key);
    if (r < 0) {
        return r;
    }
    ki__operator op = KI__OP_EXISTS;
    rd->member = "operator";
    value = ki__value_child(expression, rd->member);
    r = read_operator(rd, &value, &op);
    if (r >= 0) {
        r = refused(rd, ki__selector_builder_add(rd->builder, key, op));
    }
    if (r < 0) {
        return r;
    }
    rd->member = "values";
    value = ki__value_child(expression, rd->member);
    r = read_values(rd, &value, op);
    if (r >= 0) {
        ki__selector_builder_end(rd->builder, false);
        rd->member = NULL;
    }
    return r;
}

static int read_match_expressions(reader *rd, const ki_value *expressions)
{
    if (is_absent(expressions)) {
        return 0;
    }
    ki_value_iter iter;
    if (ki_value_type(expressions) != KI_TYPE_LIST || ki_value_iter_begin(expressions, &iter) < 0) {
        return wrong_type(rd, "list", expressions);
    }
    rd->in_expression = true;
    ki_value expression;
    while (ki_value_iter_next(&iter, NULL, &expression) > 0) {
        int r = read_expression(rd, &expression);
        if (r < 0) {
            return r;
        }
        rd->expression++;
    }
    return 0;
}

/* One pass over the value, into the builder. */
static int read_selector(const void *source, ki__selector_builder *builder, ki_error *error)
{
    const ki_value *selector = source;
    reader rd = {.builder = builder, .error = error};
    if (ki_value_type(selector) != KI_TYPE_MAP) {
        return wrong_type(&rd, "map", selector);
    }
    rd.list = "matchLabels";
    ki_value list = ki__value_child(selector, rd.list);
    int r = read_match_labels(&rd, &list);
    if (r < 0) {
        return r;
    }
    rd.list = "matchExpressions";
    list = ki__value_child(selector, rd.list);
    return read_match_expressions(&rd, &list);
}

int ki_selector_from_value(const ki_value *label_selector, const ki_alloc *alloc,
                           ki_selector **ret_selector, ki_error *error)
{
    KI__REQUIRE(label_selector, error);
    KI__REQUIRE(ret_selector, error);
    if (is_absent(label_selector)) {
        *ret_selector = ki__selector_nothing();
        return 0;
    }
    return ki__selector_build(read_selector, label_selector, alloc, ret_selector, error);
}
