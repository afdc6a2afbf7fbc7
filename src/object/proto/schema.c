/* SPDX-License-Identifier: Apache-2.0 */
/* Lookup in the schema tables. */
#include "object/proto/schema.h"

/* The tables have thousands of rows, so their size matters. */
_Static_assert(sizeof(ki__schema_field) == 8, "a field is 8 bytes");
_Static_assert(sizeof(ki__schema_message) == 4, "a message is 4 bytes");
_Static_assert(sizeof(ki__schema_kind) == 6, "a kind is 6 bytes");

const ki__schema_field *ki__schema_field_search(const ki__schema_message *message, uint32_t number)
{
    const ki__schema_field *fields = ki__schema_fields + message->first_field;
    /* Numbers ascend, so the field is at index number - 1 or before. */
    size_t i = number < message->field_count ? number : message->field_count;
    while (i > 0 && fields[i - 1].number > number) {
        i--;
    }
    return i > 0 && fields[i - 1].number == number ? &fields[i - 1] : NULL;
}

const ki__schema_field *ki__schema_field_by_name(const ki__schema_message *message, ki_str name)
{
    const ki__schema_message *stack[KI__SCHEMA_INLINE_DEPTH_MAX + 1] = {message};
    size_t next[KI__SCHEMA_INLINE_DEPTH_MAX + 1] = {0};
    size_t depth = 1;
    while (depth != 0) {
        const ki__schema_message *top = stack[depth - 1];
        if (next[depth - 1] == top->field_count) {
            depth--;
            continue;
        }
        const ki__schema_field *field = &ki__schema_fields[top->first_field + next[depth - 1]++];
        if ((field->flags & KI__SCHEMA_INLINE) == 0) {
            if (ki_str_eq(name, ki__schema_name(field->name))) {
                return field;
            }
        } else if (depth <= KI__SCHEMA_INLINE_DEPTH_MAX && field->type == KI__SCHEMA_MESSAGE) {
            stack[depth] = &ki__schema_messages[field->message];
            next[depth++] = 0;
        }
    }
    return NULL;
}

static int compare(ki_str api_version, ki_str kind, const ki__schema_kind *row)
{
    int order = ki_str_cmp(api_version, ki__schema_name(row->api_version));
    return order != 0 ? order : ki_str_cmp(kind, ki__schema_name(row->kind));
}

const ki__schema_message *ki__schema_of_kind(ki_str api_version, ki_str kind)
{
    size_t low = 0;
    size_t high = ki__schema_kind_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const ki__schema_kind *row = &ki__schema_kinds[middle];
        int c = compare(api_version, kind, row);
        if (c == 0) {
            return &ki__schema_messages[row->message];
        }
        if (c < 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return NULL;
}
