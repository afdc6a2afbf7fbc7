/* SPDX-License-Identifier: Apache-2.0 */
/* Byte for byte what Go encodes: all fields of a message that represents one value, even if 0, but
 * nothing for the zero time. */
#include "object/proto/proto_leaf.h"

#include <kinformer/encoding.h>
#include <kinformer/error.h>

#include "base/assert.h"
#include "object/json/json_skip.h"
#include "object/text/base64.h"
#include "object/text/duration.h"
#include "object/text/quantity.h"
#include "object/text/rfc3339.h"
#include "object/value.h"

/* 0001-01-01T00:00:00Z: Go's zero time. */
static const int64_t ZERO_TIME_SECONDS = INT64_C(-62135596800);

/* Longer strings are rejected; valid ones are much shorter. */
enum { TIME_MAX = 63, DURATION_MAX = 127, QUANTITY_MAX = 255 };

static int put_string(ki__proto_out *out, uint32_t number, const ki_value *value)
{
    ki_str text;
    int r = ki_value_string(value, &text);
    if (r == 0) {
        return ki__proto_out_bytes(out, number, text);
    }
    const ki__value_ops *ops = value->ops;
    r = ki__proto_out_head(out, number, ops->decode(value, NULL, 0));
    return r < 0 ? r : ki_value_copy_string(value, out->buf);
}

static int put_text(ki__proto_out *out, uint32_t number, const char *text)
{
    return ki__proto_out_bytes(out, number, ki_str_from(text));
}

static int put_base64(ki__proto_out *out, uint32_t number, const ki_value *value)
{
    ki_str text;
    ki_buf decoded;
    ki_buf_init(&decoded, out->buf->alloc, value->len);
    int r = ki_value_string(value, &text);
    if (r == KI_ERR_NOT_PLAIN) {
        r = ki_value_copy_string(value, &decoded);
        text = ki_buf_str(&decoded);
    }
    size_t len = 0;
    char *room;
    if (r == 0) {
        r = ki__base64_decode(text, NULL, &len);
    }
    if (r == 0) {
        r = ki__proto_out_head(out, number, len);
    }
    if (r == 0) {
        r = ki_buf_reserve(out->buf, len, &room);
    }
    if (r == 0) {
        (void)ki__base64_decode(text, room, &len);
        ki_buf_commit(out->buf, len);
    }
    ki_buf_done(&decoded);
    return r;
}

static int put_integer(ki__proto_out *out, uint32_t number, const ki_value *value, int64_t min,
                       int64_t max)
{
    int64_t integer = 0;
    if (value != NULL && (ki_value_int64(value, &integer) < 0 || integer < min || integer > max)) {
        return KI_ERR_INVALID;
    }
    return ki__proto_out_varint(out, number, (uint64_t)integer);
}

static int put_double(ki__proto_out *out, uint32_t number, const ki_value *value)
{
    double real = 0;
    if (value != NULL && ki_value_double(value, &real) < 0) {
        return KI_ERR_INVALID;
    }
    return ki__proto_out_double(out, number, real);
}

/* {seconds 1, nanos 2} */
static int put_time(ki__proto_out *out, uint32_t number, const ki_value *value, bool micros)
{
    char text[TIME_MAX + 1];
    int64_t seconds = ZERO_TIME_SECONDS;
    int32_t nanos = 0;
    int len = value != NULL ? ki_value_get_string(value, text, sizeof(text)) : 0;
    if (len < 0 || (value != NULL &&
                    ki__rfc3339_read_nanos(ki_str_make(text, (size_t)len), &seconds, &nanos) < 0)) {
        return KI_ERR_INVALID;
    }
    uint32_t message;
    int r = ki__proto_out_open(out, number, &message);
    if (r == 0 && (seconds != ZERO_TIME_SECONDS || nanos != 0)) {
        r = ki__proto_out_varint(out, 1, (uint64_t)seconds);
        if (r == 0) {
            r = ki__proto_out_varint(out, 2, micros ? (uint64_t)(nanos - nanos % 1000) : 0);
        }
    }
    if (r == 0) {
        ki__proto_out_close(out, message);
    }
    return r;
}

/* {duration 1} */
static int put_duration(ki__proto_out *out, uint32_t number, const ki_value *value)
{
    char text[DURATION_MAX + 1];
    int64_t nanoseconds = 0;
    int len = value != NULL ? ki_value_get_string(value, text, sizeof(text)) : 0;
    if (len < 0 ||
        (value != NULL && ki__duration_read(ki_str_make(text, (size_t)len), &nanoseconds) < 0)) {
        return KI_ERR_INVALID;
    }
    uint32_t message;
    int r = ki__proto_out_open(out, number, &message);
    if (r == 0) {
        r = ki__proto_out_varint(out, 1, (uint64_t)nanoseconds);
    }
    if (r == 0) {
        ki__proto_out_close(out, message);
    }
    return r;
}

/* The text of a quantity, which may be a number in JSON; false if invalid. */
static bool read_quantity(const ki_value *value, char *room, size_t size, ki_str *ret_text)
{
    ki_str text;
    if (ki_value_number_text(value, &text) < 0) {
        int len = ki_value_get_string(value, room, size);
        if (len < 0) {
            return false;
        }
        text = ki_str_make(room, (size_t)len);
    }
    *ret_text = text;
    return ki__quantity_valid(text);
}

/* {string 1}. The text is kept as is; the API server canonicalizes it, which needs arithmetic. */
static int put_quantity(ki__proto_out *out, uint32_t number, const ki_value *value)
{
    char room[QUANTITY_MAX + 1];
    ki_str text = ki_str_from("0");
    if (value != NULL && !read_quantity(value, room, sizeof(room), &text)) {
        return KI_ERR_INVALID;
    }
    uint32_t message;
    int r = ki__proto_out_open(out, number, &message);
    if (r == 0) {
        r = ki__proto_out_bytes(out, 1, text);
    }
    if (r == 0) {
        ki__proto_out_close(out, message);
    }
    return r;
}

/* {type 1, intVal 2, strVal 3} */
static int put_int_or_string(ki__proto_out *out, uint32_t number, const ki_value *value)
{
    bool is_string = value != NULL && ki_value_type(value) == KI_TYPE_STRING;
    uint32_t message;
    int r = ki__proto_out_open(out, number, &message);
    if (r == 0) {
        r = ki__proto_out_varint(out, 1, is_string);
    }
    if (r == 0) {
        r = put_integer(out, 2, is_string ? NULL : value, INT32_MIN, INT32_MAX);
    }
    if (r == 0) {
        r = is_string ? put_string(out, 3, value) : put_text(out, 3, "");
    }
    if (r == 0) {
        ki__proto_out_close(out, message);
    }
    return r;
}

/* {raw 1} */
static int put_raw(ki__proto_out *out, uint32_t number, const ki_value *value)
{
    uint32_t message;
    int r = ki__proto_out_open(out, number, &message);
    if (r == 0 && value != NULL) {
        const char *text = value->bytes;
        r = ki__proto_out_bytes(out, 1,
                                ki_str_make(text, (size_t)(ki__json_skip_value(text) - text)));
    }
    if (r == 0) {
        ki__proto_out_close(out, message);
    }
    return r;
}

static int put_bool(ki__proto_out *out, uint32_t number, const ki_value *value)
{
    bool flag = false;
    if (value != NULL && ki_value_bool(value, &flag) < 0) {
        return KI_ERR_INVALID;
    }
    return ki__proto_out_varint(out, number, flag);
}

/* A string, or bytes that are base64 in JSON. */
static int put_text_of(ki__proto_out *out, uint32_t number, const ki_value *value, bool base64)
{
    if (value == NULL) {
        return put_text(out, number, "");
    }
    if (ki_value_type(value) != KI_TYPE_STRING) {
        return KI_ERR_INVALID;
    }
    return base64 ? put_base64(out, number, value) : put_string(out, number, value);
}

static const char *const needed[KI__SCHEMA_TYPE_MAX] = {
    [KI__SCHEMA_STRING] = "a string",
    [KI__SCHEMA_BYTES] = "a string in base64",
    [KI__SCHEMA_BOOL] = "true or false",
    [KI__SCHEMA_INT32] = "an integer of 32 bits",
    [KI__SCHEMA_INT64] = "an integer of 64 bits",
    [KI__SCHEMA_DOUBLE] = "a number",
    [KI__SCHEMA_TIME] = "a time (RFC 3339)",
    [KI__SCHEMA_MICRO_TIME] = "a time (RFC 3339)",
    [KI__SCHEMA_DURATION] = "a duration",
    [KI__SCHEMA_QUANTITY] = "a quantity",
    [KI__SCHEMA_INT_OR_STRING] = "an integer of 32 bits or a string",
};

static int put(ki__proto_out *out, uint32_t number, ki__schema_type type, const ki_value *value)
{
    switch (type) {
    case KI__SCHEMA_STRING:
    case KI__SCHEMA_BYTES:
        return put_text_of(out, number, value, type == KI__SCHEMA_BYTES);
    case KI__SCHEMA_BOOL:
        return put_bool(out, number, value);
    case KI__SCHEMA_INT32:
        return put_integer(out, number, value, INT32_MIN, INT32_MAX);
    case KI__SCHEMA_INT64:
        return put_integer(out, number, value, INT64_MIN, INT64_MAX);
    case KI__SCHEMA_DOUBLE:
        return put_double(out, number, value);
    case KI__SCHEMA_TIME:
    case KI__SCHEMA_MICRO_TIME:
        return put_time(out, number, value, type == KI__SCHEMA_MICRO_TIME);
    case KI__SCHEMA_DURATION:
        return put_duration(out, number, value);
    case KI__SCHEMA_QUANTITY:
        return put_quantity(out, number, value);
    case KI__SCHEMA_INT_OR_STRING:
        return put_int_or_string(out, number, value);
    case KI__SCHEMA_RAW:
        return put_raw(out, number, value);
    case KI__SCHEMA_MESSAGE:
    case KI__SCHEMA_ITEMS:
    case KI__SCHEMA_OR_BOOL:
    case KI__SCHEMA_OR_LIST:
    case KI__SCHEMA_TYPE_MAX:
        break;
    }
    ki_assert(false); /* not a leaf */
    return KI_ERR_INVALID;
}

int ki__proto_put_leaf(ki__proto_out *out, uint32_t number, ki__schema_type type,
                       const ki_value *value, const char **ret_needed)
{
    int r = put(out, number, type, value);
    if (r == KI_ERR_INVALID) {
        *ret_needed = needed[type];
    }
    return r;
}
