/* SPDX-License-Identifier: Apache-2.0 */
/* The state machine of json_stream.h. Each step consumes bytes for one state and either leaves it
 * or runs out of bytes; no decision depends on where the input was split. */
#include "object/json/json_stream.h"

#include "base/assert.h"
#include "base/error.h"

typedef enum stream_state {
    STATE_TOP,          /* between top-level values */
    STATE_VALUE,        /* expects a value */
    STATE_VALUE_OR_END, /* after [ */
    STATE_NAME,         /* after a comma in a map */
    STATE_NAME_OR_END,  /* after { */
    STATE_COLON,        /* after a name */
    STATE_COMMA_OR_END, /* after a value */
    STATE_IN_STRING,    /* a name or a value */
    STATE_IN_WORD,      /* a number, true, false or null */
    STATE_IN_CONTAINER, /* a map or a list that is skipped */
} stream_state;

/* The current chunk. */
typedef struct input {
    const char *p;
    const char *end;
} input;

void ki__json_stream_init(ki__json_stream *stream, uint64_t max_bytes, uint32_t max_depth)
{
    ki_assert(max_bytes != 0);
    *stream = (ki__json_stream){.max_bytes = max_bytes, .max_depth = max_depth, .state = STATE_TOP};
}

void ki__json_stream_enter(ki__json_stream *stream, uint32_t depth)
{
    ki_assert(depth <= KI__JSON_ENTER_MAX);
    stream->enter = depth;
}

static void take(ki__json_stream *stream, input *in, size_t count)
{
    in->p += count;
    stream->offset += count;
}

static int fail(ki__json_stream *stream, uint64_t offset, int code, const char *message,
                ki_error *error)
{
    stream->code = ki__error_set(error, code, "%s", message);
    if (error != NULL) {
        error->offset = (size_t)offset;
    }
    return code;
}

static int fail_syntax(ki__json_stream *stream, const char *message, ki_error *error)
{
    return fail(stream, stream->offset, KI_ERR_SYNTAX, message, error);
}

static int fail_size(ki__json_stream *stream, ki_error *error)
{
    return fail(stream, stream->offset, KI_ERR_LIMIT, "the value is too large", error);
}

/* Number of bytes of the chunk that the token may still use. */
static size_t space_for_token(const ki__json_stream *stream, const input *in)
{
    size_t left = (size_t)(in->end - in->p);
    uint64_t room = stream->max_bytes - (stream->offset - stream->start);
    return left < room ? left : (size_t)room;
}

static int give(ki__json_stream *stream, ki__json_event_type type, ki__json_event *ret_event)
{
    *ret_event = (ki__json_event){
        .type = type,
        .first = stream->first,
        .depth = stream->depth,
        .start = stream->start,
        .end = stream->offset,
    };
    return 1;
}

static void value_is_over(ki__json_stream *stream)
{
    stream->state = stream->depth == 0 ? STATE_TOP : STATE_COMMA_OR_END;
}

/* The current token ends before the next byte. */
static int give_token(ki__json_stream *stream, ki__json_event *ret_event)
{
    if (stream->is_name) {
        stream->state = STATE_COLON;
        return give(stream, KI__JSON_NAME, ret_event);
    }
    value_is_over(stream);
    return give(stream, KI__JSON_VALUE, ret_event);
}

/* ---- tokens ---- */

static int step_string(ki__json_stream *stream, input *in, ki__json_event *ret_event,
                       ki_error *error)
{
    size_t room = space_for_token(stream, in);
    if (room == 0) {
        return fail_size(stream, error);
    }
    size_t count = 0;
    bool closed = false;
    for (; count != room && !closed; count++) {
        char c = in->p[count];
        closed = c == '"' && !stream->escaped;
        stream->escaped = c == '\\' && !stream->escaped;
    }
    take(stream, in, count);
    return closed ? give_token(stream, ret_event) : 0;
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '-' || c == '.';
}

static int step_word(ki__json_stream *stream, input *in, ki__json_event *ret_event, ki_error *error)
{
    size_t room = space_for_token(stream, in);
    size_t count = 0;
    while (count != room && is_word(in->p[count])) {
        count++;
    }
    take(stream, in, count);
    if (in->p == in->end) {
        return 0;
    }
    return is_word(*in->p) ? fail_size(stream, error) : give_token(stream, ret_event);
}

/* Counts brackets one by one. *ret_at is the position of the last one if it is here, or 64. */
static int count_brackets(ki__json_stream *stream, uint64_t open, uint64_t close, unsigned *ret_at,
                          ki_error *error)
{
    for (uint64_t left = open | close; left != 0; left &= left - 1) {
        uint64_t bit = left & -left;
        unsigned at = (unsigned)__builtin_ctzll(bit);
        if ((close & bit) != 0) {
            stream->skip_depth--;
        } else if (stream->depth + stream->skip_depth == stream->max_depth) {
            return fail(stream, stream->offset + at, KI_ERR_DEPTH,
                        "maps and lists are nested too deeply", error);
        } else {
            stream->skip_depth++;
        }
        if (stream->skip_depth == 0) {
            *ret_at = at;
            return 0;
        }
    }
    *ret_at = 64;
    return 0;
}

static int step_container(ki__json_stream *stream, input *in, ki__json_event *ret_event,
                          ki_error *error)
{
    size_t room = space_for_token(stream, in);
    size_t len = room < 64 ? room : 64;
    if (len == 0) {
        return fail_size(stream, error);
    }
    char last[64] = {0};
    uint64_t open;
    uint64_t close;
    if (len < 64) {
        memcpy(last, in->p, len);
    }
    ki__json_block_brackets(&stream->block, len < 64 ? last : in->p, len, &open, &close);
    uint32_t opening = ki__json_bits(open);
    uint32_t closing = ki__json_bits(close);
    unsigned at = 64;
    if (closing < stream->skip_depth &&
        stream->depth + stream->skip_depth + opening <= stream->max_depth) {
        stream->skip_depth += opening - closing; /* neither the end nor too deep, in any order */
    } else {
        int r = count_brackets(stream, open, close, &at, error);
        if (r < 0) {
            return r;
        }
    }
    take(stream, in, at != 64 ? at + 1 : len);
    return at != 64 ? give_token(stream, ret_event) : 0;
}

/* ---- structure ---- */

static bool in_map(const ki__json_stream *stream)
{
    return (stream->maps >> stream->depth & 1) != 0;
}

static void begin_token(ki__json_stream *stream, char c, stream_state state, bool is_name)
{
    stream->first = c;
    stream->start = stream->offset;
    stream->state = (uint8_t)state;
    stream->is_name = is_name;
    stream->escaped = false;
}

static int enter_container(ki__json_stream *stream, input *in, ki__json_event *ret_event,
                           ki_error *error)
{
    bool map = *in->p == '{';
    if (stream->depth == stream->max_depth) {
        return fail(stream, stream->offset, KI_ERR_DEPTH, "maps and lists are nested too deeply",
                    error);
    }
    begin_token(stream, *in->p, map ? STATE_NAME_OR_END : STATE_VALUE_OR_END, false);
    take(stream, in, 1);
    (void)give(stream, KI__JSON_BEGIN, ret_event);
    stream->depth++;
    uint64_t bit = UINT64_C(1) << stream->depth;
    stream->maps = map ? stream->maps | bit : stream->maps & ~bit;
    return 1;
}

static int end_container(ki__json_stream *stream, input *in, ki__json_event *ret_event)
{
    begin_token(stream, *in->p, STATE_TOP, false);
    take(stream, in, 1);
    stream->depth--;
    value_is_over(stream);
    return give(stream, KI__JSON_END, ret_event);
}

static int begin_value(ki__json_stream *stream, input *in, ki__json_event *ret_event,
                       ki_error *error)
{
    char c = *in->p;
    if (c == '{' || c == '[') {
        if (stream->depth < stream->enter) {
            return enter_container(stream, in, ret_event, error);
        }
        begin_token(stream, c, STATE_IN_CONTAINER, false); /* counts this bracket too */
        stream->block = (ki__json_block){0};
        stream->skip_depth = 0;
        return 0;
    }
    if (c == '"') {
        begin_token(stream, c, STATE_IN_STRING, false);
        take(stream, in, 1);
        return 0;
    }
    if (is_word(c)) {
        begin_token(stream, c, STATE_IN_WORD, false);
        return 0;
    }
    return fail_syntax(stream, "expected a value", error);
}

static int begin_name(ki__json_stream *stream, input *in, ki_error *error)
{
    if (*in->p != '"') {
        return fail_syntax(stream, "expected a field name in quotes", error);
    }
    begin_token(stream, '"', STATE_IN_STRING, true);
    take(stream, in, 1);
    return 0;
}

static int after_value(ki__json_stream *stream, input *in, ki__json_event *ret_event,
                       ki_error *error)
{
    bool map = in_map(stream);
    if (*in->p == ',') {
        take(stream, in, 1);
        stream->state = map ? STATE_NAME : STATE_VALUE;
        return 0;
    }
    if (*in->p == (map ? '}' : ']')) {
        return end_container(stream, in, ret_event);
    }
    return fail_syntax(stream, map ? "expected a comma or }" : "expected a comma or ]", error);
}

static int step_structure(ki__json_stream *stream, input *in, ki__json_event *ret_event,
                          ki_error *error)
{
    char c = *in->p;
    if (c == ' ' || c == '\n' || c == '\r' || c == '\t') {
        take(stream, in, 1);
        return 0;
    }
    switch ((stream_state)stream->state) {
    case STATE_TOP:
    case STATE_VALUE:
        return begin_value(stream, in, ret_event, error);
    case STATE_VALUE_OR_END:
        return c == ']' ? end_container(stream, in, ret_event)
                        : begin_value(stream, in, ret_event, error);
    case STATE_NAME:
        return begin_name(stream, in, error);
    case STATE_NAME_OR_END:
        return c == '}' ? end_container(stream, in, ret_event) : begin_name(stream, in, error);
    case STATE_COLON:
        if (c != ':') {
            return fail_syntax(stream, "expected a colon after the field name", error);
        }
        take(stream, in, 1);
        stream->state = STATE_VALUE;
        return 0;
    case STATE_COMMA_OR_END:
        return after_value(stream, in, ret_event, error);
    case STATE_IN_STRING:
    case STATE_IN_WORD:
    case STATE_IN_CONTAINER:
        break;
    }
    ki_assert(false); /* token states have steps of their own */
    return 0;
}

int ki__json_stream_feed(ki__json_stream *stream, const char *bytes, size_t len, size_t *ret_taken,
                         ki__json_event *ret_event, ki_error *error)
{
    *ret_taken = 0;
    if (stream->code != 0) {
        return ki__error_code(error, stream->code);
    }
    if (len == 0) {
        return 0;
    }
    input in = {bytes, bytes + len};
    int r = 0;
    while (r == 0 && in.p != in.end) {
        if (stream->state == STATE_IN_CONTAINER) {
            r = step_container(stream, &in, ret_event, error);
        } else if (stream->state == STATE_IN_STRING) {
            r = step_string(stream, &in, ret_event, error);
        } else if (stream->state == STATE_IN_WORD) {
            r = step_word(stream, &in, ret_event, error);
        } else {
            r = step_structure(stream, &in, ret_event, error);
        }
    }
    *ret_taken = (size_t)(in.p - bytes);
    return r;
}

bool ki__json_stream_is_inside(const ki__json_stream *stream, uint64_t *ret_start)
{
    bool inside = stream->state == STATE_IN_STRING || stream->state == STATE_IN_WORD ||
                  stream->state == STATE_IN_CONTAINER;
    if (inside) {
        *ret_start = stream->start;
    }
    return inside;
}

int ki__json_stream_finish(ki__json_stream *stream, ki__json_event *ret_event, ki_error *error)
{
    if (stream->code != 0) {
        return ki__error_code(error, stream->code);
    }
    if (stream->state == STATE_IN_WORD && stream->depth == 0) {
        return give_token(stream, ret_event);
    }
    if (stream->state != STATE_TOP) {
        return fail_syntax(stream, "unexpected end of text", error);
    }
    return 0;
}
