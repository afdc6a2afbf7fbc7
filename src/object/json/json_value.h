/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON implementation of <kinformer/value.h>. A value is its start and the number of text bytes
 * from there on, not its length: values are skipped lazily. */
#ifndef KI_OBJECT_JSON_JSON_VALUE_H
#define KI_OBJECT_JSON_JSON_VALUE_H

#include "object/value.h"

extern const ki__value_ops ki__json_value_ops;

/** Offsets of members of an object from the start of the text, so that no search is needed; 0 if
 *  absent. */
typedef struct ki__json_shortcuts {
    uint32_t metadata;
    uint32_t spec;
    uint32_t status;
} ki__json_shortcuts;

/** The type of the value at `p`, determined by its first byte. */
static inline ki_type ki__json_type_at(const char *p)
{
    switch (*p) {
    case '{':
        return KI_TYPE_MAP;
    case '[':
        return KI_TYPE_LIST;
    case '"':
        return KI_TYPE_STRING;
    case 't':
    case 'f':
        return KI_TYPE_BOOL;
    case 'n':
        return KI_TYPE_NULL;
    default:
        return KI_TYPE_NUMBER;
    }
}

/** The value at `p` in validated text that ends at `end`. */
static inline ki_value ki__json_value_at(const char *p, const char *end)
{
    return (ki_value){.ops = &ki__json_value_ops, .bytes = p, .len = (size_t)(end - p)};
}

/** A validated text that is a map. `shortcuts` must live as long as the text. */
ki_value ki__json_root(ki_str text, const ki__json_shortcuts *shortcuts);

#endif
