/* SPDX-License-Identifier: Apache-2.0 */
/* The value table for protobuf, with its lists and maps: runs of one field, read in place. A run
 * ends with its message, or at the first field with another number. */
#include "object/proto/proto_value.h"

#include <kinformer/error.h>

#include "object/proto/proto_wire.h"

static ki_type proto_type(const ki_value *value)
{
    static const uint8_t types[KI__PROTO_SHAPE_MAX] = {
        [KI__PROTO_NULL] = KI_TYPE_NULL,       [KI__PROTO_BOOL] = KI_TYPE_BOOL,
        [KI__PROTO_INT32] = KI_TYPE_NUMBER,    [KI__PROTO_INT64] = KI_TYPE_NUMBER,
        [KI__PROTO_DOUBLE] = KI_TYPE_NUMBER,   [KI__PROTO_NUMBER] = KI_TYPE_NUMBER,
        [KI__PROTO_TEXT] = KI_TYPE_STRING,     [KI__PROTO_BASE64] = KI_TYPE_STRING,
        [KI__PROTO_TIME] = KI_TYPE_STRING,     [KI__PROTO_MICRO_TIME] = KI_TYPE_STRING,
        [KI__PROTO_DURATION] = KI_TYPE_STRING, [KI__PROTO_LIST] = KI_TYPE_LIST,
        [KI__PROTO_MAP] = KI_TYPE_MAP,         [KI__PROTO_MESSAGE] = KI_TYPE_MAP,
        [KI__PROTO_ROOT] = KI_TYPE_MAP,
    };
    return (ki_type)types[ki__proto_shape_of(value)];
}

static bool is_message(const ki_value *map)
{
    return ki__proto_shape_of(map) >= KI__PROTO_MESSAGE;
}

/* A map entry: key and value, in any order, each optional. */
static void read_entry(ki_str entry, ki_str *ret_key, ki_str *ret_value)
{
    const char *end = entry.ptr + entry.len;
    ki_str key = ki_str_make(end, 0);
    ki_str value = key;
    for (const char *p = entry.ptr; p != end;) {
        ki__proto_item item = ki__proto_item_at(p);
        if (item.number == 1) {
            key = item.payload;
        } else if (item.number == 2) {
            value = item.payload;
        }
        p = item.after;
    }
    *ret_key = key;
    *ret_value = value;
}

bool ki__proto_map_find(const char *tag, const char *end, ki_str name, ki_str *ret_payload)
{
    const char *p = tag;
    uint32_t number = 0;
    while (p != end) {
        ki__proto_item item = ki__proto_item_at(p);
        if (number != 0 && item.number != number) {
            break;
        }
        number = item.number;
        ki_str key;
        ki_str payload;
        read_entry(item.payload, &key, &payload);
        if (ki__proto_text_is(key, name)) {
            *ret_payload = payload;
            return true;
        }
        p = item.after;
    }
    return false;
}

static int proto_member(const ki_value *map, ki_str name, ki_value *ret_member)
{
    if (is_message(map)) {
        return ki__proto_message_member(map, name, ret_member);
    }
    ki_str bytes = ki__proto_bytes_of(map);
    ki_str payload;
    if (!ki__proto_map_find(bytes.ptr, bytes.ptr + bytes.len, name, &payload)) {
        return KI_ERR_NOT_FOUND;
    }
    *ret_member = ki__proto_value_of(map->schema, payload);
    return 0;
}

static void proto_iter_init(ki_value_iter *iter)
{
    iter->next = iter->container.bytes;
    if (is_message(&iter->container)) {
        ki__proto_message_iter_init(iter);
    }
}

static int proto_iter_next(ki_value_iter *iter, ki_value *ret_key, ki_value *ret_value)
{
    if (is_message(&iter->container)) {
        return ki__proto_message_iter_next(iter, ret_key, ret_value);
    }
    const ki__schema_field *field = iter->container.schema;
    ki_str run = ki__proto_bytes_of(&iter->container);
    const char *p = iter->next;
    if (p == run.ptr + run.len) {
        return 0;
    }
    ki__proto_item item = ki__proto_item_at(p);
    if (item.number != field->number) {
        return 0;
    }
    ki_str payload = item.payload;
    ki_value name = {0};
    if (ki__proto_shape_of(&iter->container) == KI__PROTO_MAP) {
        ki_str key;
        read_entry(item.payload, &key, &payload);
        name = ki__proto_make(KI__PROTO_TEXT, key, NULL);
    }
    if (ret_key != NULL) {
        *ret_key = name;
    }
    *ret_value = ki__proto_value_of(field, payload);
    iter->next = item.after;
    return 1;
}

const ki__value_ops ki__proto_value_ops = {
    .type = proto_type,
    .string = ki__proto_string,
    .decode = ki__proto_decode,
    .equals = ki__proto_equals,
    .number_text = ki__proto_number_text,
    .int64 = ki__proto_int64_of,
    .real = ki__proto_double_of,
    .boolean = ki__proto_bool,
    .member = proto_member,
    .iter_init = proto_iter_init,
    .iter_next = proto_iter_next,
    .write_json = ki__proto_write_json,
};
