/* SPDX-License-Identifier: Apache-2.0 */
/* Matches the fields of an object against a field selector. Absent fields, null, maps and lists
 * count as "". Allocates nothing. */
#include <kinformer/encoding.h>

#include "object/selector/field_selector.h"
#include "object/text/text_format.h"

static bool int64_is(int64_t number, ki_str text)
{
    char room[KI__INT64_TEXT_MAX];
    return ki_str_eq(ki_str_make(room, ki__format_int64(number, room)), text);
}

static bool number_is(const ki_value *value, ki_str text)
{
    ki_str own;
    if (ki_value_number_text(value, &own) == 0) {
        return ki_str_eq(own, text);
    }
    /* An encoding without a text. Kubernetes has no selectable fields with fractions. */
    int64_t number;
    return ki_value_int64(value, &number) == 0 && int64_is(number, text);
}

static bool value_is(const ki_value *value, ki_str text)
{
    bool flag = false;
    switch (ki_value_type(value)) {
    case KI_TYPE_STRING:
        return ki_value_equals(value, text);
    case KI_TYPE_NUMBER:
        return number_is(value, text);
    case KI_TYPE_BOOL:
        return ki_value_bool(value, &flag) == 0 && ki_str_eq_text(text, flag ? "true" : "false");
    case KI_TYPE_NONE:
    case KI_TYPE_NULL:
    case KI_TYPE_LIST:
    case KI_TYPE_MAP:
    case KI_TYPE_MAX:
        break;
    }
    return text.len == 0;
}

/* The value at a dotted path; KI_TYPE_NONE if absent. */
static ki_value find(const ki_object *object, ki_str path)
{
    ki_value value = ki_object_root(object);
    for (;;) {
        const char *dot = path.len != 0 ? memchr(path.ptr, '.', path.len) : NULL;
        size_t len = dot != NULL ? (size_t)(dot - path.ptr) : path.len;
        ki_value next;
        if (ki_value_member(&value, ki_str_make(path.ptr, len), &next) < 0) {
            return (ki_value){0};
        }
        if (dot == NULL) {
            return next;
        }
        value = next;
        path = ki_str_make(dot + 1, path.len - len - 1);
    }
}

static bool field_is(const ki_object *object, const ki__field_term *term)
{
    switch (term->field) {
    case KI__FIELD_NAME:
        return ki_str_eq_text(term->value, ki_object_name(object));
    case KI__FIELD_NAMESPACE:
        return ki_str_eq_text(term->value, ki_object_namespace(object));
    case KI__FIELD_PATH:
        break;
    }
    ki_value value = find(object, term->path);
    return value_is(&value, term->value);
}

bool ki_field_selector_matches(const ki_field_selector *selector, const ki_object *object)
{
    for (uint32_t i = 0; i < selector->count; i++) {
        if (field_is(object, &selector->terms[i]) == selector->terms[i].negated) {
            return false;
        }
    }
    return true;
}
