/* SPDX-License-Identifier: Apache-2.0 */
/* The protobuf wire format. These functions read validated bytes and do not check for the end,
 * except ki__proto_varint_in(), which is for unvalidated bytes. */
#ifndef KI_OBJECT_PROTO_PROTO_WIRE_H
#define KI_OBJECT_PROTO_PROTO_WIRE_H

#include <kinformer/str.h>

#include "base/bytes.h"
#include "object/proto/schema.h"

/* The lowest three bits of a tag. */
typedef enum ki__wire {
    KI__WIRE_VARINT,
    KI__WIRE_FIXED64,
    KI__WIRE_BYTES,
    KI__WIRE_GROUP,     /* rejected */
    KI__WIRE_GROUP_END, /* rejected */
    KI__WIRE_FIXED32,
} ki__wire;

enum { KI__WIRE_BITS = 3, KI__WIRE_MASK = 7, KI__VARINT_MAX = 10, KI__TAG_MAX = 5 };

/** Decodes the varint at `p` in bytes that end at `end`; returns the position after it, or NULL if
 *  it does not end within `max` bytes or before `end`. Bits beyond 64 are dropped, as in Go. */
static inline const char *ki__proto_varint_in(const char *p, const char *end, int max,
                                              uint64_t *ret_number)
{
    uint64_t number = 0;
    for (int i = 0; i < max && p != end; i++) {
        uint64_t byte = (unsigned char)*p++;
        number |= (byte & 0x7f) << (7 * i);
        if (byte < 0x80) {
            *ret_number = number;
            return p;
        }
    }
    return NULL;
}

/** Decodes the varint at *p and advances *p. */
static inline uint64_t ki__proto_varint(const char **p)
{
    const char *at = *p;
    uint64_t byte = (unsigned char)*at++;
    uint64_t number = byte & 0x7f;
    for (int shift = 7; byte >= 0x80; shift += 7) {
        byte = (unsigned char)*at++;
        number |= (byte & 0x7f) << shift;
    }
    *p = at;
    return number;
}

/** One field on the wire. */
typedef struct ki__proto_item {
    uint32_t number;
    ki_str payload;    /* of a varint: its encoded bytes */
    const char *after; /* start of the next field */
} ki__proto_item;

/** The field at `p`. */
static inline ki__proto_item ki__proto_item_at(const char *p)
{
    uint32_t tag = (uint32_t)ki__proto_varint(&p);
    const char *start = p;
    size_t len;
    switch ((ki__wire)(tag & KI__WIRE_MASK)) {
    case KI__WIRE_BYTES:
        len = (size_t)ki__proto_varint(&p);
        start = p;
        break;
    case KI__WIRE_FIXED64:
        len = 8;
        break;
    case KI__WIRE_FIXED32:
        len = 4;
        break;
    default:
        (void)ki__proto_varint(&p);
        len = (size_t)(p - start);
        break;
    }
    return (ki__proto_item){
        .number = tag >> KI__WIRE_BITS,
        .payload = ki_str_make(start, len),
        .after = start + len,
    };
}

/** Finds field `number` in a message: returns the position of its first tag, or NULL. */
static inline const char *ki__proto_find(ki_str message, uint32_t number, ki__proto_item *ret_item)
{
    const char *end = message.ptr + message.len;
    for (const char *p = message.ptr; p != end;) {
        ki__proto_item item = ki__proto_item_at(p);
        if (item.number == number) {
            *ret_item = item;
            return p;
        }
        p = item.after;
    }
    return NULL;
}

/** Decodes a number from the payload of its field; 0 if empty. */
static inline uint64_t ki__proto_number(ki_str payload)
{
    const char *p = payload.ptr;
    return payload.len != 0 ? ki__proto_varint(&p) : 0;
}

/* Conversions that are implementation-defined in C for values out of range. */
static inline int64_t ki__proto_int64(uint64_t number)
{
    int64_t out;
    memcpy(&out, &number, sizeof(out));
    return out;
}

static inline int32_t ki__proto_int32(uint64_t number)
{
    uint32_t low = (uint32_t)number;
    int32_t out;
    memcpy(&out, &low, sizeof(out));
    return out;
}

static inline double ki__proto_double(ki_str payload)
{
    uint64_t bits = payload.len != 0 ? ki__load_le64(payload.ptr) : 0;
    double out;
    memcpy(&out, &bits, sizeof(out));
    return out;
}

/** The first field of a message in the tables. */
static inline const ki__schema_field *ki__proto_fields(const ki__schema_message *message)
{
    return &ki__schema_fields[message->first_field];
}

/** The message of a field in the tables. */
static inline const ki__schema_message *ki__proto_message(const ki__schema_field *field)
{
    return &ki__schema_messages[field->message];
}

#endif
