/* SPDX-License-Identifier: Apache-2.0 */
/* Finds where the fields of a protobuf message begin and end while its bytes arrive, in pieces of
 * any size. The counterpart of object/json/json_stream.h: it keeps no bytes, only a few words of
 * state, and gives the same events however the message was cut.
 *
 * Of each message one field may be entered, so that a list can be taken apart item by item: enter
 * the content of the envelope, and each item in it comes as one event once it is complete. */
#ifndef KI_WIRE_PROTO_STREAM_H
#define KI_WIRE_PROTO_STREAM_H

#include <kinformer/error.h>
#include <kinformer/str.h>

enum { KI__PROTO_ENTER_MAX = 2 };

typedef enum ki__proto_event_type {
    KI__PROTO_BEGIN,  /* a field that is entered */
    KI__PROTO_END,    /* the end of it */
    KI__PROTO_VALUE,  /* a string, bytes, or a message that is not entered */
    KI__PROTO_NUMBER, /* a varint */
    KI__PROTO_FIXED,  /* a number of fixed size, which nobody wants to know */
    KI__PROTO_OVER,   /* the whole message was read */
} ki__proto_event_type;

typedef struct ki__proto_event {
    ki__proto_event_type type;
    uint32_t number; /* of the field; 0 if it is over */
    uint32_t depth;  /* messages entered around it */
    uint64_t start;  /* of the value, after its length, from the first byte ever fed */
    uint64_t end;    /* the byte after it; of KI__PROTO_BEGIN where it will be */
    uint64_t value;  /* of KI__PROTO_NUMBER */
} ki__proto_event;

/** Its members are private, save the two that are named below. */
typedef struct ki__proto_stream {
    uint64_t offset;                        /* bytes taken so far; anyone may read it */
    uint32_t enter[KI__PROTO_ENTER_MAX];    /* the field to enter at each depth, for anyone to
                                               set; 0: none */
    uint64_t start;                         /* of the value at hand */
    uint64_t value_end;                     /* of the value at hand */
    uint64_t ends[KI__PROTO_ENTER_MAX + 1]; /* of the messages that are open */
    uint64_t varint;                        /* as far as it was read */
    uint32_t depth;
    uint32_t number; /* of the field at hand */
    int code;        /* of the failure, once there was one */
    uint8_t shift;   /* bits of the varint that were read */
    uint8_t state;
} ki__proto_stream;

/** For a message of `len` bytes; UINT64_MAX if that is not known, and then KI__PROTO_OVER never
 *  comes. Enters nothing until told to. */
void ki__proto_stream_init(ki__proto_stream *stream, uint64_t len);

/** Takes bytes up to the next event: 1 with *ret_event, 0 when all were taken without one, or the
 *  message is over. *ret_taken is how many were taken, on failure too. Events that need no byte
 *  more come without one, so call it until it returns 0. A failed stream stays failed.
 *  Errors: KI_ERR_SYNTAX, with the offset in `error`. */
int ki__proto_stream_feed(ki__proto_stream *stream, const char *bytes, size_t len,
                          size_t *ret_taken, ki__proto_event *ret_event, ki_error *error);

/** Whether a value that will come as one event has begun and is not over; *ret_event is that. */
bool ki__proto_stream_is_inside(const ki__proto_stream *stream, ki__proto_event *ret_event);

/** Whether nothing is half read: the message may end here. */
bool ki__proto_stream_may_end(const ki__proto_stream *stream);

#endif
