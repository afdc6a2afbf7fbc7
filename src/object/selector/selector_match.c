/* SPDX-License-Identifier: Apache-2.0 */
/* Matches labels against a selector: one lookup per requirement, which is cheaper than iterating
 * over all labels, since selectors have few requirements. Allocates nothing, and decodes only
 * labels stored with escapes. */
#include <kinformer/label_selector.h>

#include "object/names.h"
#include "object/object.h"
#include "object/projection/keep_tree.h"
#include "object/selector/selector.h"

/* Whether it requires a label to be, or not to be, one of its values. */
static bool has_values(ki__operator op)
{
    return op != KI__OP_EXISTS && op != KI__OP_NOT_EXISTS && op != KI__OP_GREATER &&
           op != KI__OP_LESS;
}

static bool excludes_values(ki__operator op)
{
    return op == KI__OP_NOT_EQUALS || op == KI__OP_NOT_IN;
}

/* Binary search for `text` in the sorted values. */
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

/* An existing label, as plain text. */
static bool matches_text(const ki__requirement *requirement, ki_str text)
{
    ki__operator op = requirement->op;
    if (has_values(op)) {
        return holds(requirement, text) != excludes_values(op);
    }
    if (op == KI__OP_EXISTS || op == KI__OP_NOT_EXISTS) {
        return op == KI__OP_EXISTS;
    }
    int64_t number;
    if (!ki__selector_read_int64(text, &number)) {
        return false;
    }
    return op == KI__OP_GREATER ? number > requirement->number : number < requirement->number;
}

/* An existing label that is not a string, or not a valid label value. */
static bool matches_other(const ki__requirement *requirement)
{
    return requirement->op == KI__OP_EXISTS || excludes_values(requirement->op);
}

static bool matches_absent(const ki__requirement *requirement)
{
    return requirement->op == KI__OP_NOT_EXISTS || excludes_values(requirement->op);
}

static bool matches_label(const ki__requirement *requirement, const ki_value *label)
{
    ki_str text;
    if (ki_value_string(label, &text) == 0) {
        return matches_text(requirement, text);
    }
    /* Stored with escapes, or not a string. If too long, it is not a valid value. */
    char room[KI__LABEL_VALUE_MAX + 1];
    int r = ki_value_get_string(label, room, sizeof(room));
    return r >= 0 ? matches_text(requirement, ki_str_make(room, (size_t)r))
                  : matches_other(requirement);
}

bool ki_selector_matches_labels(const ki_selector *selector, const ki_value *labels)
{
    for (uint32_t i = 0; i < selector->count; i++) {
        const ki__requirement *requirement = &selector->requirements[i];
        ki_value label;
        bool matches = ki_value_member(labels, requirement->key, &label) == 0
                           ? matches_label(requirement, &label)
                           : matches_absent(requirement);
        if (!matches) {
            return false;
        }
    }
    return !selector->nothing;
}

bool ki__selector_reads_unkept(const ki_selector *selector, const ki_object *object)
{
    const ki__keep_node *labels = object->partial ? ki__object_projection(object)->labels : NULL;
    bool unkept = false;
    for (uint32_t i = 0; labels != NULL && !unkept && i < selector->count; i++) {
        unkept = ki__keep_member(labels, selector->requirements[i].key) == &ki__keep_none;
    }
    return unkept;
}

/* 1, 0, or less than 0 if there is no fast path to the object's labels. */
static int matches_shortly(const ki__requirement *requirement, const ki_object *object)
{
    ki_str text;
    int r = ki__object_label_text(object, requirement->key, &text);
    if (r <= 0) {
        return r < 0 ? r : matches_absent(requirement);
    }
    return matches_text(requirement, text);
}

static bool matches_slowly(const ki_selector *selector, const ki_object *object)
{
    ki_value labels = ki_object_labels(object);
    return ki_selector_matches_labels(selector, &labels);
}

bool ki_selector_matches(const ki_selector *selector, const ki_object *object)
{
    for (uint32_t i = 0; i < selector->count; i++) {
        const ki__requirement *requirement = &selector->requirements[i];
        int r;
        if (requirement->value_count == 1 && has_values(requirement->op)) {
            r = ki__object_label_is(object, requirement->key, requirement->values[0]);
            r = r < 0 ? r : (r != 0) != excludes_values(requirement->op);
        } else {
            r = matches_shortly(requirement, object);
        }
        if (r <= 0) {
            return r < 0 && matches_slowly(selector, object);
        }
    }
    return !selector->nothing;
}
