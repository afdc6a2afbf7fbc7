/* SPDX-License-Identifier: Apache-2.0 */
/* The protobuf implementation of <kinformer/value.h>. A value is its JSON equivalent; its shape
 * determines how its bytes are decoded. Embedded JSON is returned as JSON values. All bytes were
 * validated when the object was created. */
#ifndef KI_OBJECT_PROTO_PROTO_VALUE_H
#define KI_OBJECT_PROTO_PROTO_VALUE_H

#include <kinformer/object.h>

#include "object/proto/schema.h"
#include "object/value.h"

extern const ki__value_ops ki__proto_value_ops;

/* How the bytes of a value are decoded. For scalars they are the payload of the field, empty for
 * the zero value. */
typedef enum ki__proto_shape {
    KI__PROTO_NULL,
    KI__PROTO_BOOL,
    KI__PROTO_INT32,
    KI__PROTO_INT64,
    KI__PROTO_DOUBLE,
    KI__PROTO_NUMBER, /* a JSON number not followed by a delimiter */
    KI__PROTO_TEXT,
    KI__PROTO_BASE64, /* arbitrary bytes */
    KI__PROTO_TIME,
    KI__PROTO_MICRO_TIME,
    KI__PROTO_DURATION,
    KI__PROTO_LIST,    /* from the first tag to the end of the enclosing message; */
    KI__PROTO_MAP,     /* likewise; `schema` is the field */
    KI__PROTO_MESSAGE, /* `schema` is the message */
    KI__PROTO_ROOT,    /* a message with kind and apiVersion; `schema` is the object */
    KI__PROTO_SHAPE_MAX
} ki__proto_shape;

/* The `detail` of a value; for the container of an iterator also its position. */
typedef struct ki__proto_detail {
    uint8_t shape;
    uint8_t phase;        /* of the iterator */
    uint8_t level;        /* number of open inlined messages */
    uint8_t inline_at[2]; /* field index of each */
    uint8_t slot;         /* next slot to check for absent fields */
    uint8_t unused[2];
} ki__proto_detail;
_Static_assert(sizeof(ki__proto_detail) == sizeof(((ki_value *)NULL)->detail), "fits");

static inline ki__proto_detail ki__proto_detail_of(const ki_value *value)
{
    ki__proto_detail detail;
    memcpy(&detail, &value->detail, sizeof(detail));
    return detail;
}

static inline ki__proto_shape ki__proto_shape_of(const ki_value *value)
{
    return (ki__proto_shape)ki__proto_detail_of(value).shape;
}

static inline ki_str ki__proto_bytes_of(const ki_value *value)
{
    return ki_str_make(value->bytes, value->len);
}

static inline ki_value ki__proto_make(ki__proto_shape shape, ki_str bytes, const void *schema)
{
    ki__proto_detail detail = {.shape = (uint8_t)shape};
    ki_value value = {
        .ops = &ki__proto_value_ops, .bytes = bytes.ptr, .len = bytes.len, .schema = schema};
    memcpy(&value.detail, &detail, sizeof(detail));
    return value;
}

/* ---- fields (proto_field.c) ---- */

/** The list or map whose first tag is at `tag`, in a message that ends at `end`. */
ki_value ki__proto_run(const ki__schema_field *field, const char *tag, const char *end);

/** The value of a field; for lists and maps, of one element. An empty payload is the zero value. */
ki_value ki__proto_value_of(const ki__schema_field *field, ki_str payload);

/** Whether JSON includes a present field, not a list or map, with this payload. */
bool ki__proto_is_shown(const ki__schema_field *field, ki_str payload);

/** Whether JSON includes an absent field, and its value; `at` becomes its position. */
bool ki__proto_absent(const ki__schema_field *field, const char *at, ki_value *ret_value);

/** The seconds of a time; false for the zero time, which is null in JSON. */
bool ki__proto_time(ki_str payload, int64_t *ret_seconds);

/* ---- scalars (proto_scalar.c): the table's functions of the same name ---- */

int ki__proto_string(const ki_value *value, ki_str *ret_text);
size_t ki__proto_decode(const ki_value *value, char *out, size_t size);
bool ki__proto_equals(const ki_value *value, ki_str text);
int ki__proto_number_text(const ki_value *value, ki_str *ret_text);
int ki__proto_int64_of(const ki_value *value, int64_t *ret_number);
int ki__proto_double_of(const ki_value *value, double *ret_number);
bool ki__proto_bool(const ki_value *value);

/** Whether the raw bytes of a string decode to `text`. */
bool ki__proto_text_is(ki_str raw, ki_str text);

/* ---- messages (proto_message.c) ---- */

/** Returns the schema of a map that is a message; one without fields if its kind is unknown. */
const ki__schema_message *ki__proto_message_of(const ki_value *map);

/** Reads a field of the message `bytes`: the last field of `way`; those before it are the inlined
 *  messages that contain it.  Errors: KI_ERR_NOT_FOUND  JSON does not have it. */
int ki__proto_message_read(ki_str bytes, const ki__schema_field *const *way, size_t count,
                           ki_value *ret_member);

int ki__proto_message_member(const ki_value *map, ki_str name, ki_value *ret_member);
void ki__proto_message_iter_init(ki_value_iter *iter);
int ki__proto_message_iter_next(ki_value_iter *iter, ki_value *ret_key, ki_value *ret_value);

/* ---- maps (proto_value.c) ---- */

/** The raw value of key `name` in the map whose first tag is at `tag`; false if absent. `name` must
 *  be valid UTF-8. */
bool ki__proto_map_find(const char *tag, const char *end, ki_str name, ki_str *ret_payload);

/** Appends any value as JSON (proto_json.c). */
int ki__proto_write_json(const ki_value *value, ki_buf *out);

#endif
