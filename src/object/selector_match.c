/* SPDX-License-Identifier: Apache-2.0 */
/* Whether labels match a selector: one look into the map for each requirement, which is cheaper
 * than handing out every label, since selectors ask for few. Nothing is allocated, and nothing is
 * decoded unless a label is stored with escapes. */
#include "object/names.h"
#include "object/selector.h"

/* Whether the sorted values hold `text`. */
static bool holds(const ki__requirement *requirement, ki_str text)
{
    uint32_t low = 0;
    uint32_t high = requirement->value_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int r = ki_str_cmp(requirement->values[middle], text);
        if (r == 0) {
            return true;
        }
        if (r < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return false;
}

static bool has_value(const ki__requirement *requirement, const ki_value *label)
{
    if (requirement->value_count == 1) {
        return ki_value_equals(label, requirement->values[0]);
    }
    ki_str text;
    if (ki_value_string(label, &text) == 0) {
        return holds(requirement, text);
    }
    for (uint32_t i = 0; i < requirement->value_count; i++) {
        if (ki_value_equals(label, requirement->values[i])) {
            return true;
        }
    }
    return false;
}

/* The number a label stands for. One that is stored with escapes and longer than any valid label
 * stands for none. */
static bool read_number(const ki_value *label, int64_t *ret_number)
{
    ki_str text;
    int r = ki_value_string(label, &text);
    if (r == 0) {
        return ki__selector_read_int64(text, ret_number);
    }
    char room[KI__LABEL_VALUE_MAX + 1];
    r = ki_value_get_string(label, room, sizeof(room));
    return r >= 0 && ki__selector_read_int64(ki_str_make(room, (size_t)r), ret_number);
}

static bool matches_present(const ki__requirement *requirement, const ki_value *label)
{
    int64_t number;
    switch (requirement->op) {
    case KI__OP_EQUALS:
    case KI__OP_DOUBLE_EQUALS:
    case KI__OP_IN:
        return has_value(requirement, label);
    case KI__OP_NOT_EQUALS:
    case KI__OP_NOT_IN:
        return !has_value(requirement, label);
    case KI__OP_EXISTS:
        return true;
    case KI__OP_NOT_EXISTS:
        return false;
    case KI__OP_GREATER:
        return read_number(label, &number) && number > requirement->number;
    case KI__OP_LESS:
        return read_number(label, &number) && number < requirement->number;
    case KI__OP_MAX:
        break;
    }
    return false;
}

static bool matches_absent(const ki__requirement *requirement)
{
    return requirement->op == KI__OP_NOT_EXISTS || requirement->op == KI__OP_NOT_EQUALS ||
           requirement->op == KI__OP_NOT_IN;
}

bool ki_selector_matches_labels(const ki_selector *selector, const ki_value *labels)
{
    for (uint32_t i = 0; i < selector->count; i++) {
        const ki__requirement *requirement = &selector->requirements[i];
        ki_value label;
        bool matches = ki_value_member(labels, requirement->key, &label) == 0
                           ? matches_present(requirement, &label)
                           : matches_absent(requirement);
        if (!matches) {
            return false;
        }
    }
    return !selector->nothing;
}

bool ki_selector_matches(const ki_selector *selector, const ki_object *object)
{
    if (selector->count == 0) {
        return !selector->nothing;
    }
    ki_value labels = ki_object_labels(object);
    return ki_selector_matches_labels(selector, &labels);
}
