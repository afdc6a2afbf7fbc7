/* SPDX-License-Identifier: Apache-2.0 */
/* Protobuf watches: a 4-byte big-endian length, then a WatchEvent without an envelope, whose object
 * has one. An error within a frame affects only that event. */
#include <errno.h>

#include "base/error.h"
#include "wire/event.h"
#include "wire/watch_parts.h"

/* Field numbers of WatchEvent and of RawExtension. */
enum { EVENT_TYPE = 1, EVENT_OBJECT = 2 };
enum { EXTENSION_RAW = 1 };

enum { HEADER_BYTES = 4, TYPE_BYTES_MAX = 32 };

static bool is_object(const ki__proto_event *event)
{
    return event->depth == 1 && event->number == EXTENSION_RAW;
}

static bool is_type(const ki__proto_event *event)
{
    return event->depth == 0 && event->number == EVENT_TYPE;
}

/* Number of bytes to keep of a value. */
static size_t bytes_needed(const ki__watch_decoder *decoder, const ki__proto_event *event)
{
    return is_object(event) ? decoder->intake.options.max_bytes
           : is_type(event) ? TYPE_BYTES_MAX
                            : 0;
}

/* ---- frames ---- */

/* Reads the length prefix of an event; 1 once it is complete. */
static int take_header(ki__watch_decoder *decoder, const char *bytes, size_t len, size_t *taken,
                       ki_error *error)
{
    if (decoder->header == 0) {
        decoder->frame_left = 0;
    }
    while (decoder->header < HEADER_BYTES && *taken < len) {
        decoder->frame_left = decoder->frame_left << 8 | (unsigned char)bytes[*taken];
        decoder->header++;
        ++*taken;
    }
    if (decoder->header < HEADER_BYTES) {
        return 0;
    }
    if (decoder->frame_left > decoder->intake.options.max_bytes) {
        return ki__error_set(error, KI_ERR_LIMIT, "watch event too large: %llu bytes, limit %zu",
                             (unsigned long long)decoder->frame_left,
                             decoder->intake.options.max_bytes);
    }
    ki__proto_stream_init(&decoder->proto, decoder->frame_left);
    decoder->proto.enter[0] = EVENT_OBJECT;
    ki__watch_begin(decoder);
    return 1;
}

static int end_frame(ki__watch_decoder *decoder, ki__watch_event *ret_event, ki_error *error)
{
    decoder->header = 0;
    ki__gather_clear(&decoder->intake.gathered);
    return ki__watch_end(decoder, ret_event, error);
}

/* Skips the rest of an undecodable event. */
static int skip_frame(ki__watch_decoder *decoder, size_t len, size_t *taken,
                      ki__watch_event *ret_event, ki_error *error)
{
    size_t left = len - *taken;
    size_t count = left < decoder->frame_left ? left : (size_t)decoder->frame_left;
    *taken += count;
    decoder->frame_left -= count;
    return decoder->frame_left == 0 ? end_frame(decoder, ret_event, error) : 0;
}

/* ---- events ---- */

static int on_value(ki__watch_decoder *decoder, const ki__piece *piece,
                    const ki__proto_event *event, ki_error *error)
{
    if (is_object(event)) {
        ki__watch_see(decoder, KI__WATCH_RAW);
        return ki__watch_take_object(decoder, piece, event->start, event->end, error);
    }
    ki_str name;
    if (!is_type(event)) {
        return 0;
    }
    ki__watch_see(decoder, KI__WATCH_TYPE);
    int r = ki__gather_take(&decoder->intake.gathered, piece, event->start, event->end,
                            TYPE_BYTES_MAX, &name);
    if (r < 0) {
        return ki__error_code(error, r);
    }
    decoder->type = ki__event_type_from(name);
    ki__gather_clear(&decoder->intake.gathered);
    return 0;
}

static int on_event(ki__watch_decoder *decoder, const ki__piece *piece,
                    const ki__proto_event *event, ki__watch_event *ret_event, ki_error *error)
{
    switch (event->type) {
    case KI__PROTO_BEGIN:
        ki__watch_see(decoder, KI__WATCH_OBJECT);
        return 0;
    case KI__PROTO_END:
    case KI__PROTO_NUMBER:
    case KI__PROTO_FIXED:
        return 0;
    case KI__PROTO_VALUE:
        return on_value(decoder, piece, event, error);
    case KI__PROTO_OVER:
        break;
    }
    return end_frame(decoder, ret_event, error);
}

/* All bytes are consumed: keeps those of an incomplete value. */
static int keep_rest(ki__watch_decoder *decoder, const ki__piece *piece, ki_error *error)
{
    ki__proto_event event;
    if (!ki__proto_stream_is_inside(&decoder->proto, &event)) {
        return 0;
    }
    int r = ki__gather_add(&decoder->intake.gathered, piece, event.start, decoder->proto.offset,
                           bytes_needed(decoder, &event));
    return r < 0 ? ki__error_code(error, r) : 0;
}

/* Continues decoding the frame: 1 with an event, 0 if more bytes are needed. */
static int read_frame(ki__watch_decoder *decoder, const char *bytes, size_t len, size_t *taken,
                      ki__watch_event *ret_event, ki_error *error)
{
    int r = 0;
    while (r == 0 && decoder->proto.code == 0) {
        size_t left = len - *taken;
        size_t room = left < decoder->frame_left ? left : (size_t)decoder->frame_left;
        ki__piece piece = {bytes + *taken, decoder->proto.offset};
        ki__proto_event event;
        ki_error why;
        ki__error_init(&why);
        size_t count;
        r = ki__proto_stream_feed(&decoder->proto, piece.bytes, room, &count, &event, &why);
        *taken += count;
        decoder->frame_left -= count;
        if (r == 0) {
            return keep_rest(decoder, &piece, error);
        }
        if (r < 0) {
            ki__watch_fail(decoder, &why);
        } else {
            r = on_event(decoder, &piece, &event, ret_event, error);
        }
    }
    return decoder->proto.code != 0 ? skip_frame(decoder, len, taken, ret_event, error) : r;
}

int ki__watch_proto_feed(ki__watch_decoder *decoder, const char *bytes, size_t len,
                         size_t *ret_taken, ki__watch_event *ret_event, ki_error *error)
{
    int r = 1;
    if (!decoder->inside) {
        r = take_header(decoder, bytes, len, ret_taken, error);
    }
    return r == 1 ? read_frame(decoder, bytes, len, ret_taken, ret_event, error) : r;
}

int ki__watch_proto_finish(ki__watch_decoder *decoder, ki_error *error)
{
    if (decoder->header == 0) {
        return 0;
    }
    return ki__error_set(error, KI_ERR_TRUNCATED, "watch event truncated");
}
