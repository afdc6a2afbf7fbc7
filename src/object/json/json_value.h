/* SPDX-License-Identifier: Apache-2.0 */
/* JSON values: the table behind <kinformer/value.h> for JSON. A value is the place where it begins
 * and how many bytes of text there are from there on, not how long it is: nobody skips a value
 * before it must be passed. */
#ifndef KI_OBJECT_JSON_JSON_VALUE_H
#define KI_OBJECT_JSON_JSON_VALUE_H

#include "object/value.h"

extern const ki__value_ops ki__json_value_ops;

/** Where members of a whole object stand, so that reading them need not look for them. Offsets from
 *  the start of the text, 0 if absent. */
typedef struct ki__json_shortcuts {
    uint32_t metadata;
    uint32_t spec;
    uint32_t status;
} ki__json_shortcuts;

/** The type of the value that begins at `p`: its first byte tells. */
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

/** The value that begins at `p` in checked text that ends at `end`. */
static inline ki_value ki__json_value_at(const char *p, const char *end)
{
    return (ki_value){.ops = &ki__json_value_ops, .bytes = p, .len = (size_t)(end - p)};
}

/** The whole of a checked text that is a map. `shortcuts` must live as long as the text. */
ki_value ki__json_root(ki_str text, const ki__json_shortcuts *shortcuts);

#endif
