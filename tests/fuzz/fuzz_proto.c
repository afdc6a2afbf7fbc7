/* SPDX-License-Identifier: Apache-2.0 */
/* The first two bytes choose a kind of the tables, or none; the rest is a message of that kind, or
 * an envelope. It must be refused if and only if the plain recursive check below refuses it. What
 * is taken must read the same, value by value, as what is written of it as JSON. */
#include <stdlib.h>
#include <string.h>

#include <kinformer/encoding.h>
#include <kinformer/path.h>

#include "object/proto/proto_wire.h"
#include "object/proto/schema.h"
#include "support/same_value.h"

static void must(bool condition)
{
    if (!condition) {
        __builtin_trap();
    }
}

/* ---- the check, plainly ---- */

enum { MAX_DEPTH = 200 };

static bool check_message(const ki__schema_message *message, ki_str bytes, unsigned depth);

static bool take_varint(ki_str *rest, size_t max, uint64_t *ret_number)
{
    uint64_t number = 0;
    for (size_t i = 0; i < max && i < rest->len; i++) {
        unsigned char byte = (unsigned char)rest->ptr[i];
        number |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte < 0x80) {
            *rest = ki_str_make(rest->ptr + i + 1, rest->len - i - 1);
            *ret_number = number;
            return true;
        }
    }
    return false;
}

typedef struct item {
    uint32_t number;
    unsigned wire;
    ki_str payload;
} item;

static bool take_item(ki_str *rest, item *ret_item)
{
    uint64_t tag;
    uint64_t number;
    if (!take_varint(rest, 5, &tag) || tag > UINT32_MAX || tag >> 3 == 0) {
        return false;
    }
    ret_item->number = (uint32_t)(tag >> 3);
    ret_item->wire = tag & 7;
    uint64_t len = 0;
    switch (ret_item->wire) {
    case KI__WIRE_VARINT:
        return take_varint(rest, 10, &number);
    case KI__WIRE_FIXED64:
        len = 8;
        break;
    case KI__WIRE_FIXED32:
        len = 4;
        break;
    case KI__WIRE_BYTES:
        if (!take_varint(rest, 10, &len)) {
            return false;
        }
        break;
    default:
        return false;
    }
    if (len > rest->len) {
        return false;
    }
    ret_item->payload = ki_str_make(rest->ptr, (size_t)len);
    *rest = ki_str_make(rest->ptr + len, rest->len - (size_t)len);
    return true;
}

/* A message of a few fields that are no messages, given as wire types from field 1 on; the last may
 * be repeated. */
static bool check_small(ki_str bytes, const char *wires, bool repeated)
{
    bool seen[4] = {false};
    uint32_t last = 0;
    while (bytes.len != 0) {
        item i;
        if (!take_item(&bytes, &i)) {
            return false;
        }
        if (i.number <= strlen(wires)) {
            bool again = seen[i.number - 1];
            if (i.wire != (unsigned)(wires[i.number - 1] - '0') ||
                (again && (!repeated || last != i.number))) {
                return false;
            }
            seen[i.number - 1] = true;
        }
        last = i.number;
    }
    return true;
}

static bool check_payload(const ki__schema_field *field, const item *i, unsigned depth)
{
    switch ((ki__schema_type)field->type) {
    case KI__SCHEMA_STRING:
    case KI__SCHEMA_BYTES:
        return i->wire == KI__WIRE_BYTES;
    case KI__SCHEMA_BOOL:
    case KI__SCHEMA_INT32:
    case KI__SCHEMA_INT64:
        return i->wire == KI__WIRE_VARINT;
    case KI__SCHEMA_DOUBLE:
        return i->wire == KI__WIRE_FIXED64;
    default:
        break;
    }
    if (i->wire != KI__WIRE_BYTES) {
        return false;
    }
    switch ((ki__schema_type)field->type) {
    case KI__SCHEMA_MESSAGE:
        depth += (field->flags & KI__SCHEMA_INLINE) != 0 ? 0 : 1;
        return check_message(ki__proto_message(field), i->payload, depth);
    case KI__SCHEMA_TIME:
    case KI__SCHEMA_MICRO_TIME:
        return check_small(i->payload, "00", false);
    case KI__SCHEMA_DURATION:
        return check_small(i->payload, "0", false);
    case KI__SCHEMA_INT_OR_STRING:
        return check_small(i->payload, "002", false);
    case KI__SCHEMA_ITEMS:
        return check_small(i->payload, "2", true);
    case KI__SCHEMA_OR_BOOL:
    case KI__SCHEMA_OR_LIST:
        return check_message(ki__proto_message(field), i->payload, depth);
    default:
        return check_small(i->payload, "2", false);
    }
}

static bool check_entry(const ki__schema_field *field, const item *entry, unsigned depth)
{
    bool seen[2] = {false};
    ki_str rest = entry->payload;
    if (entry->wire != KI__WIRE_BYTES) {
        return false;
    }
    while (rest.len != 0) {
        item i;
        if (!take_item(&rest, &i)) {
            return false;
        }
        if (i.number > 2) {
            continue;
        }
        if (seen[i.number - 1] || (i.number == 1 && i.wire != KI__WIRE_BYTES) ||
            (i.number == 2 && !check_payload(field, &i, depth))) {
            return false;
        }
        seen[i.number - 1] = true;
    }
    return true;
}

static bool check_message(const ki__schema_message *message, ki_str bytes, unsigned depth)
{
    bool seen[KI__SCHEMA_SLOTS_MAX] = {false};
    const ki__schema_field *last = NULL;
    if (depth > MAX_DEPTH && bytes.len != 0) {
        return false;
    }
    while (bytes.len != 0) {
        item i;
        if (!take_item(&bytes, &i)) {
            return false;
        }
        const ki__schema_field *field = ki__schema_field_search(message, i.number);
        if (field != NULL) {
            bool run = (field->flags & (KI__SCHEMA_REPEATED | KI__SCHEMA_MAP)) != 0;
            bool *again = &seen[field - ki__proto_fields(message)];
            bool map = (field->flags & KI__SCHEMA_MAP) != 0;
            if ((*again && (!run || field != last)) ||
                !(map ? check_entry(field, &i, depth + 1)
                      : check_payload(field, &i, depth + (run ? 1 : 0)))) {
                return false;
            }
            *again = true;
        }
        last = field;
    }
    return true;
}

/* ---- values ---- */

static bool is_container(const ki_value *value)
{
    ki_type type = ki_value_type(value);
    return type == KI_TYPE_LIST || type == KI_TYPE_MAP;
}

static void compare(const ki_value *here, const ki_value *there);

/* JSON was written in the order of the walk, so both give the same one after the other. */
static void compare_children(const ki_value *here, const ki_value *there)
{
    ki_value_iter left;
    ki_value_iter right;
    ki_value left_key;
    ki_value right_key;
    ki_value left_value;
    ki_value right_value;
    must(ki_value_iter_begin(here, &left) == 0 && ki_value_iter_begin(there, &right) == 0);
    uintptr_t place = (uintptr_t)left.next;
    for (;;) {
        int r = ki_value_iter_next(&left, &left_key, &left_value);
        must(r == ki_value_iter_next(&right, &right_key, &right_value));
        must((uintptr_t)left.next >= place);
        place = (uintptr_t)left.next;
        if (r == 0) {
            return;
        }
        must(ki_value_type(&left_key) == ki_value_type(&right_key));
        if (ki_value_type(&left_key) == KI_TYPE_STRING) {
            ki_value found;
            ki_value other;
            must(same_string(&left_key, &right_key));
            must(same_find(here, &right_key, &found) && same_find(there, &left_key, &other));
            must(ki_value_type(&found) == ki_value_type(&other));
            must(is_container(&found) || same_scalar(&found, &other));
        }
        compare(&left_value, &right_value);
    }
}

static void compare(const ki_value *here, const ki_value *there)
{
    must(ki_value_type(here) == ki_value_type(there));
    must(same_scalar(here, there));
    if (is_container(here)) {
        compare_children(here, there);
    }
}

static size_t count_all(const ki_object *object, const ki_path *path, int *ret_code)
{
    ki_value root = ki_object_root(object);
    ki_path_iter *iter;
    ki_value value;
    size_t count = 0;
    must(ki_path_iter_begin(path, &root, &iter) == 0);
    while ((*ret_code = ki_path_iter_next(iter, &value)) > 0) {
        count++;
    }
    ki_path_iter_end(iter);
    return count;
}

static void compare_objects(const ki_object *here, const ki_object *there)
{
    static ki_path *everything;
    must(everything != NULL || ki_path_compile("..*", NULL, &everything, NULL) == 0);
    must(strcmp(ki_object_key(here), ki_object_key(there)) == 0);
    must(strcmp(ki_object_uid(here), ki_object_uid(there)) == 0);
    must(strcmp(ki_object_kind(here), ki_object_kind(there)) == 0);
    must(ki_object_generation(here) == ki_object_generation(there));
    must(ki_object_is_deleting(here) == ki_object_is_deleting(there));
    ki_value left = ki_object_labels(here);
    ki_value right = ki_object_labels(there);
    must(ki_value_type(&left) == ki_value_type(&right));
    left = ki_object_root(here);
    right = ki_object_root(there);
    compare(&left, &right);
    int r;
    int s;
    size_t count = count_all(here, everything, &r);
    size_t again = count_all(there, everything, &s);
    must(r == 0 && s == 0 ? count == again : r == KI_ERR_LIMIT || s == KI_ERR_LIMIT);
}

static void check_object(const ki_object *object)
{
    const ki_object_options options = {.max_depth = 1024, .max_bytes = (size_t)1 << 28};
    ki_buf json;
    ki_object *written;
    ki_error error = KI_ERROR_INIT;
    ki_buf_init(&json, NULL, (size_t)1 << 28);
    must(ki_object_write_json(object, &json) == 0);
    must(ki_object_from_json(json.data, json.len, &options, &written, &error) == 0);
    compare_objects(object, written);
    ki_object_unref(written);
    ki_buf_done(&json);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    if (len < 2) {
        return 0;
    }
    size_t kind = (bytes[0] | (size_t)bytes[1] << 8) % (ki__schema_kind_count + 1);
    char api_version[256] = "example.org/v1";
    char name[256] = "Unknown";
    const ki__schema_message *message = NULL;
    if (kind < ki__schema_kind_count) {
        ki_str text = ki__schema_name(ki__schema_kinds[kind].api_version);
        memcpy(api_version, text.ptr, text.len);
        api_version[text.len] = '\0';
        text = ki__schema_name(ki__schema_kinds[kind].kind);
        memcpy(name, text.ptr, text.len);
        name[text.len] = '\0';
        message = &ki__schema_messages[ki__schema_kinds[kind].message];
    }
    const ki_object_options options = {
        .max_depth = MAX_DEPTH, .default_kind = name, .default_api_version = api_version};
    ki_str input = ki_str_make((const char *)bytes + 2, len - 2);
    ki_object *object;
    ki_error error = KI_ERROR_INIT;
    int r = ki_object_from_protobuf(input.ptr, input.len, &options, &object, &error);
    bool envelope = input.len >= 4 && memcmp(input.ptr, "k8s", 4) == 0;
    if (message != NULL && !envelope) {
        bool good = check_message(message, input, 1);
        must(good ? r == 0 || r == KI_ERR_LIMIT || r == KI_ERR_INVALID : r < 0);
        must(r != KI_ERR_INVALID || !good || strstr(error.message, "NUL") != NULL);
        must(r != KI_ERR_LIMIT || strstr(error.message, "metadata.") != NULL);
    }
    if (r < 0) {
        must(error.code == r && error.message[0] != '\0' && error.offset <= input.len);
        must(r == KI_ERR_SYNTAX || r == KI_ERR_INVALID || r == KI_ERR_LIMIT || r == KI_ERR_DEPTH ||
             r == KI_ERR_UNSUPPORTED);
        return 0;
    }
    check_object(object);
    ki_object_unref(object);
    return 0;
}
