/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of views: by number in protobuf, by name in JSON. The result is the value that paths read.
 * Types come from the schema tables of the library, not from the program, which may have been
 * generated from another release of the API: a number or type that does not match reads as absent.
 */
#include "object/view.h"

#include <kinformer/encoding.h>
#include <kinformer/error.h>

#include "base/error.h"
#include "base/utf8.h"
#include "object/object.h"
#include "object/projection/keep_tree.h"
#include "object/proto/proto_value.h"
#include "object/proto/proto_wire.h"
#include "object/text/duration.h"
#include "object/text/rfc3339.h"

enum { NUMBER_BITS = 8, NUMBER_MASK = 0xff, LENGTH_SHIFT = 24, TIME_TEXT_MAX = 63 };

/* For short strings. */
static inline bool same_text(const char *a, const char *b)
{
    while (*a == *b && *a != '\0') {
        a++;
        b++;
    }
    return *a == *b;
}

ki_value ki_view_root(const ki_object *object, const char *api_version, const char *kind)
{
    if (object == NULL) {
        return (ki_value){0};
    }
    const char *strings = ki__object_far_strings(object);
    if (!same_text(strings + object->kind, kind) ||
        (api_version != NULL && !same_text(strings + object->api_version, api_version))) {
        return (ki_value){0};
    }
    return ki_object_root(object);
}

/* Reads a field by its number and the numbers of the inlined messages that contain it. */
static int proto_field(const ki_value *view, uint32_t field, ki_value *ret_value)
{
    const ki__schema_field *way[KI__SCHEMA_INLINE_DEPTH_MAX + 1];
    const ki__schema_message *message = ki__proto_message_of(view);
    uint32_t numbers[KI__SCHEMA_INLINE_DEPTH_MAX + 1];
    size_t count = 0;
    for (unsigned shift = LENGTH_SHIFT; shift != 0;) {
        shift -= NUMBER_BITS;
        uint32_t number = field >> shift & NUMBER_MASK;
        if (number != 0) {
            numbers[count++] = number;
        }
    }
    ki_str bytes = ki__proto_bytes_of(view);
    for (size_t i = 0; i < count; i++) {
        way[i] = ki__schema_field_by_number(message, numbers[i]);
        bool last = i + 1 == count;
        if (way[i] == NULL || ((way[i]->flags & KI__SCHEMA_INLINE) != 0) == last) {
            ki__proto_item item; /* the program knows another release of the API */
            return ki__proto_find(bytes, numbers[i], &item) != NULL ? KI_ERR_NO_SCHEMA
                                                                    : KI_ERR_NOT_FOUND;
        }
        message = ki__proto_message(way[i]);
    }
    return ki__proto_message_read(bytes, way, count, ret_value);
}

/* A field that is present on the wire. */
typedef struct hit {
    const ki__schema_field *field;
    const char *tag;
    const char *end; /* of the message */
    ki_str payload;
} hit;

/* Fast path for most reads: a field that is present in a protobuf message, or in a message inlined
 * in it, of an object that is not partial. All other cases are left to find(). */
static inline bool hit_field(const ki_value *view, uint32_t field, hit *ret_hit)
{
    enum { TWICE_INLINE = NUMBER_MASK << 2 * NUMBER_BITS };
    if (view->ops != &ki__proto_value_ops || view->kept != NULL || (field & TWICE_INLINE) != 0 ||
        ki__proto_shape_of(view) < KI__PROTO_MESSAGE) {
        return false;
    }
    const ki__schema_message *message = ki__proto_message_of(view);
    ki_str bytes = ki__proto_bytes_of(view);
    ki__proto_item item;
    uint32_t outer = field >> NUMBER_BITS & NUMBER_MASK;
    if (outer != 0) {
        const ki__schema_field *holder = ki__schema_field_by_number(message, outer);
        if (holder == NULL || (holder->flags & KI__SCHEMA_INLINE) == 0 ||
            ki__proto_find(bytes, outer, &item) == NULL) {
            return false;
        }
        message = ki__proto_message(holder);
        bytes = item.payload;
    }
    ret_hit->field = ki__schema_field_by_number(message, field & NUMBER_MASK);
    ret_hit->tag = ki__proto_find(bytes, field & NUMBER_MASK, &item);
    if (ret_hit->field == NULL || ret_hit->tag == NULL) {
        return false;
    }
    ret_hit->end = bytes.ptr + bytes.len;
    ret_hit->payload = item.payload;
    return true;
}

/* Whether it is a single value of this type. */
static inline bool is_single(const hit *h, ki__schema_type type)
{
    enum { OTHERS = KI__SCHEMA_REPEATED | KI__SCHEMA_MAP | KI__SCHEMA_INLINE };
    return h->field->type == type && (h->field->flags & OTHERS) == 0;
}

__attribute__((noinline)) static int find(const ki_value *view, uint32_t field, const char *name,
                                          ki_value *ret_value)
{
    if (field == 0) {
        *ret_value = *view;
        return view->ops != NULL ? 0 : KI_ERR_NOT_FOUND;
    }
    ki_str text = ki_str_make(name, field >> LENGTH_SHIFT);
    if (view->ops != &ki__proto_value_ops) {
        return ki_value_member(view, text, ret_value);
    }
    if (ki__proto_shape_of(view) < KI__PROTO_MESSAGE) {
        return KI_ERR_TYPE;
    }
    const ki__keep_node *node = view->kept != NULL ? ki__keep_member(view->kept, text) : NULL;
    int r = node != &ki__keep_none ? proto_field(view, field, ret_value) : KI_ERR_NOT_KEPT;
    if (r == 0) {
        ret_value->kept = node;
    }
    return r;
}

int ki_view_get(const ki_value *view, uint32_t field, const char *name, ki_value *ret_value)
{
    KI__REQUIRE(view, NULL);
    KI__REQUIRE(name, NULL);
    KI__REQUIRE(ret_value, NULL);
    ki_value value;
    int failure = ki__value_failure(view);
    int r = view->ops != NULL ? find(view, field, name, &value)
            : failure < 0     ? failure
                              : KI_ERR_NOT_FOUND;
    if (r == 0) {
        *ret_value = value;
    }
    return r;
}

bool ki_view_has(const ki_value *view, uint32_t field, const char *name)
{
    ki_value value;
    return find(view, field, name, &value) == 0 && ki_value_type(&value) != KI_TYPE_NULL;
}

ki_value ki_view_child(const ki_value *view, uint32_t field, const char *name)
{
    ki_value value;
    hit h;
    if (hit_field(view, field, &h)) {
        if ((h.field->flags & (KI__SCHEMA_REPEATED | KI__SCHEMA_MAP)) != 0) {
            return ki__proto_run(h.field, h.tag, h.end);
        }
        if (h.payload.len != 0 && is_single(&h, KI__SCHEMA_MESSAGE)) {
            return ki__proto_make(KI__PROTO_MESSAGE, h.payload, ki__proto_message(h.field));
        }
    }
    int r = find(view, field, name, &value);
    return r == 0 ? value : ki__value_none(r);
}

/* ---- scalars ---- */

ki_text ki_view_text(const ki_value *view, uint32_t field, const char *name, const char *otherwise)
{
    ki_value value;
    ki_text text;
    hit h;
    /* Non-empty strings are present in JSON whatever the flags are. */
    if (hit_field(view, field, &h) && h.payload.len != 0 && is_single(&h, KI__SCHEMA_STRING)) {
        return (ki_text){h.payload.ptr, h.payload.len,
                         ki__utf8_valid(h.payload) ? NULL : &ki__proto_value_ops};
    }
    if (find(view, field, name, &value) == 0 && ki__text_of(&value, &text)) {
        return text;
    }
    return otherwise != NULL ? (ki_text){otherwise, strlen(otherwise), NULL}
                             : (ki_text){"", 0, NULL};
}

bool ki_view_bool(const ki_value *view, uint32_t field, const char *name, bool otherwise)
{
    ki_value value;
    return find(view, field, name, &value) == 0 ? ki_value_bool_or(&value, otherwise) : otherwise;
}

int32_t ki_view_int32(const ki_value *view, uint32_t field, const char *name, int32_t otherwise)
{
    int64_t number = ki_view_int64(view, field, name, otherwise);
    return number >= INT32_MIN && number <= INT32_MAX ? (int32_t)number : otherwise;
}

int64_t ki_view_int64(const ki_value *view, uint32_t field, const char *name, int64_t otherwise)
{
    ki_value value;
    hit h;
    if (hit_field(view, field, &h)) {
        uint64_t number = ki__proto_number(h.payload);
        if (ki__proto_int32(number) != 0 && is_single(&h, KI__SCHEMA_INT32)) {
            return ki__proto_int32(number);
        }
        if (number != 0 && is_single(&h, KI__SCHEMA_INT64)) {
            return ki__proto_int64(number);
        }
    }
    return find(view, field, name, &value) == 0 ? ki_value_int64_or(&value, otherwise) : otherwise;
}

double ki_view_double(const ki_value *view, uint32_t field, const char *name, double otherwise)
{
    ki_value value;
    return find(view, field, name, &value) == 0 ? ki_value_double_or(&value, otherwise) : otherwise;
}

ki_bytes ki_view_bytes(const ki_value *view, uint32_t field, const char *name)
{
    ki_value value;
    ki_bytes bytes;
    return find(view, field, name, &value) == 0 && ki__bytes_of(&value, &bytes)
               ? bytes
               : (ki_bytes){"", 0, NULL};
}

ki_quantity ki_view_quantity(const ki_value *view, uint32_t field, const char *name)
{
    ki_value value;
    ki_quantity quantity = {{"", 0, NULL}};
    ki_str number;
    if (find(view, field, name, &value) == 0 && !ki__text_of(&value, &quantity.text) &&
        ki_value_number_text(&value, &number) == 0) { /* JSON may have a number */
        quantity.text = (ki_text){number.ptr, number.len, NULL};
    }
    return quantity;
}

ki_int_or_string ki_view_int_or_string(const ki_value *view, uint32_t field, const char *name)
{
    ki_value value;
    ki_int_or_string out = {false, 0, {"", 0, NULL}};
    if (find(view, field, name, &value) == 0) {
        out.is_string = ki__text_of(&value, &out.text);
        out.number = out.is_string ? 0 : ki_view_int32(&value, 0, NULL, 0);
    }
    return out;
}

/* ---- times ---- */

/* A time in protobuf: seconds and nanoseconds. */
static ki_timestamp proto_time(const ki_value *value)
{
    enum { NANOS = 1000000000 };
    ki_str payload = ki__proto_bytes_of(value);
    ki__proto_item item;
    ki_timestamp time = {0, 0};
    if (ki__proto_find(payload, 1, &item) != NULL) {
        time.seconds = ki__proto_int64(ki__proto_number(item.payload));
    }
    if (ki__proto_shape_of(value) == KI__PROTO_MICRO_TIME &&
        ki__proto_find(payload, 2, &item) != NULL) {
        int32_t nanos = ki__proto_int32(ki__proto_number(item.payload));
        nanos -= nanos % 1000; /* JSON has microseconds */
        time.nanos = (nanos % NANOS + NANOS) % NANOS;
        /* Seconds can be any 64-bit number: the sum must not overflow. */
        time.seconds =
            ki__proto_int64((uint64_t)time.seconds + (uint64_t)((nanos - time.nanos) / NANOS));
    }
    return time;
}

/* A short string, decoded; empty if it does not fit or is not a string. */
static ki_str short_text(const ki_value *value, char *room, size_t size)
{
    int len = ki_value_get_string(value, room, size);
    return ki_str_make(room, len > 0 ? (size_t)len : 0);
}

ki_timestamp ki_view_time(const ki_value *view, uint32_t field, const char *name)
{
    char room[TIME_TEXT_MAX + 1];
    ki_value value;
    ki_timestamp time = {0, 0};
    if (find(view, field, name, &value) < 0) {
        return time;
    }
    if (value.ops == &ki__proto_value_ops && (ki__proto_shape_of(&value) == KI__PROTO_TIME ||
                                              ki__proto_shape_of(&value) == KI__PROTO_MICRO_TIME)) {
        return proto_time(&value);
    }
    ki_str text = short_text(&value, room, sizeof(room));
    return ki__rfc3339_read_nanos(text, &time.seconds, &time.nanos) == 0 ? time
                                                                         : (ki_timestamp){0, 0};
}

int64_t ki_view_duration(const ki_value *view, uint32_t field, const char *name)
{
    char room[TIME_TEXT_MAX + 1];
    ki_value value;
    int64_t nanoseconds = 0;
    if (find(view, field, name, &value) < 0) {
        return 0;
    }
    if (value.ops == &ki__proto_value_ops && ki__proto_shape_of(&value) == KI__PROTO_DURATION) {
        return ki__proto_int64(ki__proto_number(ki__proto_bytes_of(&value)));
    }
    ki_str text = short_text(&value, room, sizeof(room));
    return ki__duration_read(text, &nanoseconds) == 0 ? nanoseconds : 0;
}

/* ---- lists and maps ---- */

ki_value ki_view_find(const ki_value *list, uint32_t field, const char *name, const char *key)
{
    ki_value_iter iter;
    ki_value element;
    ki_value value;
    ki_str wanted = ki_str_from(key);
    if (ki_value_type(list) != KI_TYPE_LIST || ki_value_iter_begin(list, &iter) < 0) {
        return ki__value_none(ki__value_failure(list));
    }
    int r;
    while ((r = ki_value_iter_next(&iter, NULL, &element)) > 0) {
        r = find(&element, field, name, &value);
        if (r == KI_ERR_NOT_KEPT) {
            break;
        }
        if (r == 0 && ki_value_equals(&value, wanted)) {
            return element;
        }
    }
    return ki__value_none(r);
}

/* A list of messages in protobuf, of an object that is not partial. */
static inline bool is_message_list(const ki_value *list)
{
    return list->ops == &ki__proto_value_ops && list->kept == NULL &&
           ki__proto_shape_of(list) == KI__PROTO_LIST &&
           ((const ki__schema_field *)list->schema)->type == KI__SCHEMA_MESSAGE;
}

bool ki_view_next(ki_value_iter *iter, ki_value *ret_element)
{
    const ki_value *list = &iter->container;
    const ki__schema_field *field = list->schema;
    if (!is_message_list(list)) {
        return ki_value_iter_next(iter, NULL, ret_element) > 0;
    }
    const char *p = iter->next;
    if (p == (const char *)list->bytes + list->len) {
        return false;
    }
    ki__proto_item item = ki__proto_item_at(p);
    if (item.number != field->number) {
        return false;
    }
    *ret_element = ki__proto_make(KI__PROTO_MESSAGE, item.payload, ki__proto_message(field));
    iter->next = item.after;
    return true;
}

ki_value ki_view_element(const ki_value *list, size_t index)
{
    ki_value element;
    ki_value_iter iter;
    if (is_message_list(list) && ki_value_iter_begin(list, &iter) == 0) {
        do {
            if (!ki_view_next(&iter, &element)) {
                return ki__value_none(KI_ERR_NOT_FOUND);
            }
        } while (index-- != 0);
        return element;
    }
    int r =
        index <= INT64_MAX ? ki_value_element(list, (int64_t)index, &element) : KI_ERR_NOT_FOUND;
    return r == 0 ? element : ki__value_none(r);
}

ki_value ki_view_entry(const ki_value *map, const char *key)
{
    ki_value entry;
    int r = ki_value_member(map, ki_str_from(key), &entry);
    return r == 0 ? entry : ki__value_none(r);
}
