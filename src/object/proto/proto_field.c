/* SPDX-License-Identifier: Apache-2.0 */
/* JSON representation of protobuf fields: types with a special form, and which fields JSON
 * includes. The rules are those of the Go types from which the tables were generated. */
#include "object/json/json_scan.h"
#include "object/json/json_skip.h"
#include "object/json/json_value.h"
#include "object/proto/proto_value.h"
#include "object/proto/proto_wire.h"

/* JSON embedded in protobuf is validated when read. */
enum { EMBEDDED_DEPTH = 128 };

/* The first second of year 1: Go's zero time. */
#define ZERO_TIME INT64_C(-62135596800)

static const ki__schema_field items_field = {
    .number = 1,
    .type = KI__SCHEMA_STRING,
    .flags = KI__SCHEMA_REPEATED,
};

static ki_str at_end(ki_str payload)
{
    return ki_str_make(payload.ptr + payload.len, 0);
}

/* The payload of a field of a message; empty if absent. */
static ki_str part(ki_str message, uint32_t number)
{
    ki__proto_item item;
    return ki__proto_find(message, number, &item) != NULL ? item.payload : at_end(message);
}

static ki_value null_at(ki_str payload)
{
    return ki__proto_make(KI__PROTO_NULL, payload, NULL);
}

ki_value ki__proto_run(const ki__schema_field *field, const char *tag, const char *end)
{
    bool map = (field->flags & KI__SCHEMA_MAP) != 0;
    return ki__proto_make(map ? KI__PROTO_MAP : KI__PROTO_LIST,
                          ki_str_make(tag, (size_t)(end - tag)), field);
}

/* ---- special types ---- */

bool ki__proto_time(ki_str payload, int64_t *ret_seconds)
{
    if (payload.len == 0) {
        return false;
    }
    *ret_seconds = ki__proto_int64(ki__proto_number(part(payload, 1)));
    return *ret_seconds != ZERO_TIME;
}

static ki_value time_of(ki_str payload)
{
    int64_t seconds;
    return ki__proto_time(payload, &seconds) ? ki__proto_make(KI__PROTO_TIME, payload, NULL)
                                             : null_at(payload);
}

static ki_value micro_time_of(ki_str payload)
{
    int64_t seconds;
    bool is = ki__proto_time(payload, &seconds);
    if (!is && payload.len != 0) {
        is = ki__proto_int32(ki__proto_number(part(payload, 2))) / 1000 != 0;
    }
    return is ? ki__proto_make(KI__PROTO_MICRO_TIME, payload, NULL) : null_at(payload);
}

static ki_value quantity_of(ki_str payload)
{
    ki_str text = part(payload, 1);
    return ki__proto_make(KI__PROTO_TEXT, text.len != 0 ? text : ki_str_make("0", 1), NULL);
}

/* Go refuses to encode any other type. */
static ki_value int_or_string_of(ki_str payload)
{
    switch (ki__proto_number(part(payload, 1))) {
    case 0:
        return ki__proto_make(KI__PROTO_INT32, part(payload, 2), NULL);
    case 1:
        return ki__proto_make(KI__PROTO_TEXT, part(payload, 3), NULL);
    default:
        return null_at(payload);
    }
}

/* The embedded JSON text. Numbers and literals end with the bytes, so their reader needs the
 * length; other values delimit themselves. Invalid JSON is treated as bytes. */
static ki_value raw_of(ki_str payload)
{
    ki_str raw = part(payload, 1);
    if (raw.len == 0) {
        return null_at(raw);
    }
    if (ki__json_check(raw, EMBEDDED_DEPTH, NULL) < 0) {
        return ki__proto_make(KI__PROTO_BASE64, raw, NULL);
    }
    const char *p = ki__json_skip_space(raw.ptr);
    const char *end = raw.ptr + raw.len;
    switch (ki__json_type_at(p)) {
    case KI_TYPE_NULL:
        return null_at(raw);
    case KI_TYPE_BOOL:
        return ki__proto_make(KI__PROTO_BOOL, ki_str_make("\1", *p == 't' ? 1 : 0), NULL);
    case KI_TYPE_NUMBER:
        while ((unsigned char)end[-1] <= ' ') {
            end--;
        }
        return ki__proto_make(KI__PROTO_NUMBER, ki_str_make(p, (size_t)(end - p)), NULL);
    default:
        return ki__json_value_at(p, end);
    }
}

static ki_value items_of(ki_str payload)
{
    ki__proto_item item;
    const char *end = payload.ptr + payload.len;
    const char *tag = ki__proto_find(payload, items_field.number, &item);
    return ki__proto_run(&items_field, tag != NULL ? tag : end, end);
}

static ki_value or_bool_of(const ki__schema_field *field, ki_str payload)
{
    const ki__schema_message *message = ki__proto_message(field);
    ki__proto_item item;
    return ki__proto_find(payload, 2, &item) != NULL
               ? ki__proto_value_of(ki__schema_field_by_number(message, 2), item.payload)
               : ki__proto_make(KI__PROTO_BOOL, part(payload, 1), NULL);
}

static ki_value or_list_of(const ki__schema_field *field, ki_str payload)
{
    const ki__schema_message *message = ki__proto_message(field);
    ki__proto_item item;
    const char *tag = ki__proto_find(payload, 2, &item);
    if (tag != NULL) {
        return ki__proto_run(ki__schema_field_by_number(message, 2), tag,
                             payload.ptr + payload.len);
    }
    return ki__proto_find(payload, 1, &item) != NULL
               ? ki__proto_value_of(ki__schema_field_by_number(message, 1), item.payload)
               : null_at(payload);
}

static bool is_finite(double number)
{
    return number - number == 0;
}

ki_value ki__proto_value_of(const ki__schema_field *field, ki_str payload)
{
    switch ((ki__schema_type)field->type) {
    case KI__SCHEMA_STRING:
        return ki__proto_make(KI__PROTO_TEXT, payload, NULL);
    case KI__SCHEMA_BYTES:
        return ki__proto_make(KI__PROTO_BASE64, payload, NULL);
    case KI__SCHEMA_BOOL:
        return ki__proto_make(KI__PROTO_BOOL, payload, NULL);
    case KI__SCHEMA_INT32:
        return ki__proto_make(KI__PROTO_INT32, payload, NULL);
    case KI__SCHEMA_INT64:
        return ki__proto_make(KI__PROTO_INT64, payload, NULL);
    case KI__SCHEMA_DOUBLE: /* JSON has neither infinities nor NaN */
        return is_finite(ki__proto_double(payload))
                   ? ki__proto_make(KI__PROTO_DOUBLE, payload, NULL)
                   : null_at(payload);
    case KI__SCHEMA_MESSAGE:
        return ki__proto_make(KI__PROTO_MESSAGE, payload, ki__proto_message(field));
    case KI__SCHEMA_TIME:
        return time_of(payload);
    case KI__SCHEMA_MICRO_TIME:
        return micro_time_of(payload);
    case KI__SCHEMA_DURATION:
        return ki__proto_make(KI__PROTO_DURATION, part(payload, 1), NULL);
    case KI__SCHEMA_QUANTITY:
        return quantity_of(payload);
    case KI__SCHEMA_INT_OR_STRING:
        return int_or_string_of(payload);
    case KI__SCHEMA_RAW:
        return raw_of(payload);
    case KI__SCHEMA_ITEMS:
        return items_of(payload);
    case KI__SCHEMA_OR_BOOL:
        return or_bool_of(field, payload);
    case KI__SCHEMA_OR_LIST:
        return or_list_of(field, payload);
    case KI__SCHEMA_TYPE_MAX:
        break;
    }
    return null_at(payload);
}

/* ---- visibility ---- */

/* Whether Go omits it as empty: "", 0, false, or an empty list. */
static bool is_empty(const ki__schema_field *field, ki_str payload)
{
    switch ((ki__schema_type)field->type) {
    case KI__SCHEMA_STRING:
    case KI__SCHEMA_BYTES:
        return payload.len == 0;
    case KI__SCHEMA_BOOL:
    case KI__SCHEMA_INT64:
        return ki__proto_number(payload) == 0;
    case KI__SCHEMA_INT32:
        return ki__proto_int32(ki__proto_number(payload)) == 0;
    case KI__SCHEMA_DOUBLE:
        return ki__proto_double(payload) == 0;
    case KI__SCHEMA_ITEMS:
        return items_of(payload).len == 0;
    default:
        return false;
    }
}

/* Whether it is Go's zero value. A plain message is zero only if it has no bytes. */
static bool is_zero(const ki__schema_field *field, ki_str payload)
{
    if (field->type == KI__SCHEMA_TIME || field->type == KI__SCHEMA_MICRO_TIME) {
        ki_value value = ki__proto_value_of(field, payload);
        return ki_value_type(&value) == KI_TYPE_NULL;
    }
    return payload.len == 0 || is_empty(field, payload);
}

bool ki__proto_is_shown(const ki__schema_field *field, ki_str payload)
{
    unsigned flags = field->flags;
    if ((flags & (KI__SCHEMA_OMIT_EMPTY | KI__SCHEMA_OMIT_ZERO)) == 0 ||
        (flags & KI__SCHEMA_POINTER) != 0) {
        return true;
    }
    if ((flags & KI__SCHEMA_OMIT_EMPTY) != 0 && is_empty(field, payload)) {
        return false;
    }
    return (flags & KI__SCHEMA_OMIT_ZERO) == 0 || !is_zero(field, payload);
}

bool ki__proto_absent(const ki__schema_field *field, const char *at, ki_value *ret_value)
{
    enum { NIL = KI__SCHEMA_REPEATED | KI__SCHEMA_MAP | KI__SCHEMA_POINTER };
    ki_str nothing = ki_str_make(at, 0);
    if ((field->flags & (KI__SCHEMA_OMIT_EMPTY | KI__SCHEMA_OMIT_ZERO)) != 0) {
        return false;
    }
    bool nil = (field->flags & NIL) != 0 || field->type == KI__SCHEMA_BYTES ||
               field->type == KI__SCHEMA_ITEMS;
    *ret_value = nil ? null_at(nothing) : ki__proto_value_of(field, nothing);
    return true;
}
