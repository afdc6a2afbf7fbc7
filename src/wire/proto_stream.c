/* SPDX-License-Identifier: Apache-2.0 */
/* The state machine of proto_stream.h. Invariant: the current value ends within the innermost open
 * message, and each message within the enclosing one. */
#include "wire/proto_stream.h"

#include "base/error.h"

typedef enum stream_state {
    STATE_TAG,    /* between fields, or in a tag */
    STATE_NUMBER, /* in a varint value */
    STATE_LENGTH, /* in the length prefix of a value */
    STATE_VALUE,  /* in a value reported as one event */
    STATE_FIXED,  /* in a fixed-size number */
    STATE_OVER,   /* end of the message */
} stream_state;

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };
enum { TAG_BYTES_MAX = 5, VARINT_BYTES_MAX = 10 };

/* The current chunk. */
typedef struct input {
    const char *p;
    const char *end;
} input;

void ki__proto_stream_init(ki__proto_stream *stream, uint64_t len)
{
    *stream = (ki__proto_stream){.ends = {len}, .state = STATE_TAG};
}

static int fail(ki__proto_stream *stream, const char *message, ki_error *error)
{
    stream->code = ki__error_set(error, KI_ERR_SYNTAX, "%s", message);
    if (error != NULL) {
        error->offset = (size_t)stream->offset;
    }
    return stream->code;
}

static int give(const ki__proto_stream *stream, ki__proto_event_type type,
                ki__proto_event *ret_event)
{
    *ret_event = (ki__proto_event){
        .type = type,
        .number = stream->number,
        .depth = stream->depth,
        .start = stream->start,
        .end = stream->value_end,
        .value = stream->varint,
    };
    return 1;
}

/* Decodes a varint of up to `max` bytes: 1 when complete, 0 if more bytes are needed. */
static int step_varint(ki__proto_stream *stream, input *in, unsigned max, ki_error *error)
{
    for (;;) {
        if (stream->offset == stream->ends[stream->depth]) {
            return fail(stream, "message truncated in a field", error);
        }
        if (in->p == in->end) {
            return 0;
        }
        uint64_t byte = (unsigned char)*in->p;
        if (stream->shift == 7 * (max - 1) && byte >= 0x80) {
            return fail(stream, "varint too long", error);
        }
        in->p++;
        stream->offset++;
        stream->varint |= (byte & 0x7f) << stream->shift;
        stream->shift = (uint8_t)(stream->shift + 7);
        if (byte < 0x80) {
            stream->shift = 0;
            return 1;
        }
    }
}

static void begin_varint(ki__proto_stream *stream, stream_state state)
{
    stream->state = (uint8_t)state;
    stream->shift = 0;
    stream->varint = 0;
}

static int begin_value(ki__proto_stream *stream, uint64_t len, stream_state state, ki_error *error)
{
    if (len > stream->ends[stream->depth] - stream->offset) {
        return fail(stream, "field exceeds its message", error);
    }
    stream->start = stream->offset;
    stream->value_end = stream->offset + len;
    stream->state = (uint8_t)state;
    return 0;
}

static int end_message(ki__proto_stream *stream, ki__proto_event *ret_event)
{
    stream->number = 0;
    if (stream->depth == 0) {
        stream->state = STATE_OVER;
        return give(stream, KI__PROTO_OVER, ret_event);
    }
    stream->depth--;
    return give(stream, KI__PROTO_END, ret_event);
}

static int step_tag(ki__proto_stream *stream, input *in, ki__proto_event *ret_event,
                    ki_error *error)
{
    if (stream->shift == 0) {
        if (stream->offset == stream->ends[stream->depth]) {
            return end_message(stream, ret_event);
        }
        begin_varint(stream, STATE_TAG);
    }
    int r = step_varint(stream, in, TAG_BYTES_MAX, error);
    if (r <= 0) {
        return r;
    }
    if (stream->varint > UINT32_MAX || stream->varint >> 3 == 0) {
        return fail(stream, "invalid field number", error);
    }
    stream->number = (uint32_t)stream->varint >> 3;
    switch (stream->varint & 7) {
    case WIRE_VARINT:
        begin_varint(stream, STATE_NUMBER);
        return 0;
    case WIRE_FIXED64:
        return begin_value(stream, 8, STATE_FIXED, error);
    case WIRE_BYTES:
        begin_varint(stream, STATE_LENGTH);
        return 0;
    case WIRE_FIXED32:
        return begin_value(stream, 4, STATE_FIXED, error);
    default:
        return fail(stream, "unsupported wire type", error);
    }
}

static int step_number(ki__proto_stream *stream, input *in, ki__proto_event *ret_event,
                       ki_error *error)
{
    int r = step_varint(stream, in, VARINT_BYTES_MAX, error);
    if (r <= 0) {
        return r;
    }
    stream->state = STATE_TAG;
    return give(stream, KI__PROTO_NUMBER, ret_event);
}

static int step_length(ki__proto_stream *stream, input *in, ki__proto_event *ret_event,
                       ki_error *error)
{
    int r = step_varint(stream, in, VARINT_BYTES_MAX, error);
    if (r <= 0) {
        return r;
    }
    r = begin_value(stream, stream->varint, STATE_VALUE, error);
    if (r < 0) {
        return r;
    }
    if (stream->depth == KI__PROTO_ENTER_MAX || stream->enter[stream->depth] != stream->number) {
        return 0;
    }
    (void)give(stream, KI__PROTO_BEGIN, ret_event);
    stream->depth++;
    stream->ends[stream->depth] = stream->value_end;
    stream->state = STATE_TAG;
    return 1;
}

static int step_value(ki__proto_stream *stream, input *in, ki__proto_event *ret_event)
{
    size_t left = (size_t)(in->end - in->p);
    uint64_t missing = stream->value_end - stream->offset;
    size_t count = left < missing ? left : (size_t)missing;
    in->p += count;
    stream->offset += count;
    if (stream->offset != stream->value_end) {
        return 0;
    }
    bool fixed = stream->state == STATE_FIXED;
    stream->state = STATE_TAG;
    return give(stream, fixed ? KI__PROTO_FIXED : KI__PROTO_VALUE, ret_event);
}

static int step(ki__proto_stream *stream, input *in, ki__proto_event *ret_event, ki_error *error)
{
    switch ((stream_state)stream->state) {
    case STATE_TAG:
        return step_tag(stream, in, ret_event, error);
    case STATE_NUMBER:
        return step_number(stream, in, ret_event, error);
    case STATE_LENGTH:
        return step_length(stream, in, ret_event, error);
    case STATE_VALUE:
    case STATE_FIXED:
        return step_value(stream, in, ret_event);
    case STATE_OVER:
        break;
    }
    return 0;
}

/* Whether the next step can proceed without more bytes. */
static bool is_due(const ki__proto_stream *stream)
{
    if (stream->state == STATE_VALUE || stream->state == STATE_FIXED) {
        return stream->offset == stream->value_end;
    }
    return stream->state != STATE_OVER && stream->offset == stream->ends[stream->depth];
}

int ki__proto_stream_feed(ki__proto_stream *stream, const char *bytes, size_t len,
                          size_t *ret_taken, ki__proto_event *ret_event, ki_error *error)
{
    *ret_taken = 0;
    if (stream->code != 0) {
        return ki__error_code(error, stream->code);
    }
    static const char none[1];
    input in = {len != 0 ? bytes : none, (len != 0 ? bytes : none) + len};
    const char *start = in.p;
    int r = 0;
    while (r == 0 && stream->state != STATE_OVER && (in.p != in.end || is_due(stream))) {
        r = step(stream, &in, ret_event, error);
    }
    *ret_taken = (size_t)(in.p - start);
    return r;
}

bool ki__proto_stream_is_inside(const ki__proto_stream *stream, ki__proto_event *ret_event)
{
    if (stream->state != STATE_VALUE) {
        return false;
    }
    (void)give(stream, KI__PROTO_VALUE, ret_event);
    return true;
}

bool ki__proto_stream_may_end(const ki__proto_stream *stream)
{
    return stream->code == 0 && stream->depth == 0 &&
           (stream->state == STATE_OVER || (stream->state == STATE_TAG && stream->shift == 0));
}
