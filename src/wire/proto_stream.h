/* SPDX-License-Identifier: Apache-2.0 */
/* Incremental scanner for the fields of a protobuf message, in chunks of any size. The counterpart
 * of object/json/json_stream.h: it buffers no bytes, only a few words of state, and reports the
 * same events regardless of how the message was split.
 *
 * In each message one field may be entered, so that a list can be split into items: enter the
 * content of the envelope, and each item in it is reported as one event once complete. */
#ifndef KI_WIRE_PROTO_STREAM_H
#define KI_WIRE_PROTO_STREAM_H

#include <kinformer/error.h>
#include <kinformer/str.h>

enum { KI__PROTO_ENTER_MAX = 2 };

typedef enum ki__proto_event_type {
    KI__PROTO_BEGIN,  /* start of an entered field */
    KI__PROTO_END,    /* end of an entered field */
    KI__PROTO_VALUE,  /* a string, bytes, or a message that is not entered */
    KI__PROTO_NUMBER, /* a varint */
    KI__PROTO_FIXED,  /* a fixed-size number; its value is not reported */
    KI__PROTO_OVER,   /* end of the message */
} ki__proto_event_type;

typedef struct ki__proto_event {
    ki__proto_event_type type;
    uint32_t number; /* field number; 0 for KI__PROTO_OVER */
    uint32_t depth;  /* number of entered messages around it */
    uint64_t start;  /* of the value, after its length; offset in the stream */
    uint64_t end;    /* end offset; for KI__PROTO_BEGIN the expected one */
    uint64_t value;  /* of KI__PROTO_NUMBER */
} ki__proto_event;

/** Members are private, except the two marked as public. */
typedef struct ki__proto_stream {
    uint64_t offset;                        /* public, read-only: bytes consumed so far */
    uint32_t enter[KI__PROTO_ENTER_MAX];    /* public: the field to enter at each depth; 0: none */
    uint64_t start;                         /* of the current value */
    uint64_t value_end;                     /* of the current value */
    uint64_t ends[KI__PROTO_ENTER_MAX + 1]; /* of the open messages */
    uint64_t varint;                        /* decoded so far */
    uint32_t depth;
    uint32_t number; /* of the current field */
    int code;        /* sticky error code */
    uint8_t shift;   /* bits of the varint decoded so far */
    uint8_t state;
} ki__proto_stream;

/** For a message of `len` bytes; UINT64_MAX if unknown: then there is no KI__PROTO_OVER. Enters
 *  nothing by default. */
void ki__proto_stream_init(ki__proto_stream *stream, uint64_t len);

/** Consumes bytes up to the next event: 1 with *ret_event, 0 if all were consumed without one or
 *  the message has ended. *ret_taken is the number of bytes consumed, also on failure. Some events
 *  need no further bytes, so call it until it returns 0. Errors are sticky.
 *  Errors: KI_ERR_SYNTAX, with the offset in `error`. */
int ki__proto_stream_feed(ki__proto_stream *stream, const char *bytes, size_t len,
                          size_t *ret_taken, ki__proto_event *ret_event, ki_error *error);

/** Whether the stream is inside a value that will be reported as one event, *ret_event. */
bool ki__proto_stream_is_inside(const ki__proto_stream *stream, ki__proto_event *ret_event);

/** Whether the message may end here: no field is incomplete. */
bool ki__proto_stream_may_end(const ki__proto_stream *stream);

#endif
