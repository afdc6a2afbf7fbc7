/* SPDX-License-Identifier: Apache-2.0 */
/* JSON watches: a sequence of maps with "type" and "object", in any order, with or without white
 * space between them. */
#include <errno.h>

#include "base/error.h"
#include "object/json/json_scan.h"
#include "object/json/json_string.h"
#include "wire/event.h"
#include "wire/watch_parts.h"

/* Raw size of the longest known name or type, with every character escaped, plus quotes. */
enum { SHORT_BYTES_MAX = 80 };

void ki__watch_json_init(ki__watch_decoder *decoder)
{
    ki__json_stream_init(&decoder->json, decoder->intake.options.max_bytes, INT32_MAX);
    ki__json_stream_enter(&decoder->json, 1);
}

/* ---- members ---- */

static void take_name(ki__watch_decoder *decoder, ki_str quoted, bool whole)
{
    ki_error why;
    ki__error_init(&why);
    decoder->member = KI__WATCH_OTHER;
    if (whole && ki__json_check(quoted, 1, &why) < 0) {
        ki__watch_fail(decoder, &why);
    } else if (whole) {
        ki_str raw = ki_str_make(quoted.ptr + 1, quoted.len - 2);
        decoder->member = ki__json_raw_equals(raw, ki_str_from("type"))     ? KI__WATCH_TYPE
                          : ki__json_raw_equals(raw, ki_str_from("object")) ? KI__WATCH_OBJECT
                                                                            : KI__WATCH_OTHER;
    }
    ki__watch_see(decoder, (ki__watch_member)decoder->member);
}

/* A type that is too long or not a string is unknown; ki__watch_end() reports that. */
static void take_type(ki__watch_decoder *decoder, ki_str value, bool whole)
{
    char name[SHORT_BYTES_MAX];
    ki_error why;
    ki__error_init(&why);
    if (!whole || value.ptr[0] != '"') {
        return;
    }
    if (ki__json_check(value, 1, &why) < 0) {
        ki__watch_fail(decoder, &why);
        return;
    }
    size_t len = ki__json_decode(ki_str_make(value.ptr + 1, value.len - 2), name, sizeof(name));
    decoder->type = ki__event_type_from(ki_str_make(name, len));
}

/* Number of bytes to keep of the current name or value. */
static size_t bytes_needed(const ki__watch_decoder *decoder)
{
    switch ((ki__watch_member)decoder->member) {
    case KI__WATCH_NONE:
    case KI__WATCH_TYPE:
        return SHORT_BYTES_MAX;
    case KI__WATCH_OBJECT:
        return decoder->intake.options.max_bytes;
    case KI__WATCH_RAW:
    case KI__WATCH_OTHER:
        break;
    }
    return 0;
}

/* ---- events ---- */

static int on_text(ki__watch_decoder *decoder, const ki__piece *piece, const ki__json_event *event,
                   ki_error *error)
{
    ki_buf *gathered = &decoder->intake.gathered;
    size_t max = bytes_needed(decoder);
    bool whole = event->end - event->start <= max;
    ki_str text;
    int r = ki__gather_take(gathered, piece, event->start, event->end, max, &text);
    if (r < 0) {
        return ki__error_code(error, r);
    }
    if (event->type == KI__JSON_NAME) {
        take_name(decoder, text, whole);
    } else {
        if (decoder->member == KI__WATCH_TYPE) {
            take_type(decoder, text, whole);
        }
        decoder->member = KI__WATCH_NONE;
    }
    ki__gather_clear(gathered);
    return 0;
}

static int on_value(ki__watch_decoder *decoder, const ki__piece *piece, const ki__json_event *event,
                    ki_error *error)
{
    if (decoder->member != KI__WATCH_OBJECT) {
        return on_text(decoder, piece, event, error);
    }
    decoder->member = KI__WATCH_NONE;
    return ki__watch_take_object(decoder, piece, event->start, event->end, error);
}

static int on_event(ki__watch_decoder *decoder, const ki__piece *piece, const ki__json_event *event,
                    ki__watch_event *ret_event, ki_error *error)
{
    if (event->depth == 0 && event->type != KI__JSON_END && event->first != '{') {
        (void)ki__error_set(error, KI_ERR_INVALID, "watch event is not a map");
        error->offset = (size_t)event->start;
        return KI_ERR_INVALID;
    }
    switch (event->type) {
    case KI__JSON_BEGIN:
        decoder->event_start = event->start;
        decoder->member = KI__WATCH_NONE;
        ki__watch_begin(decoder);
        return 0;
    case KI__JSON_END:
        return ki__watch_end(decoder, ret_event, error);
    case KI__JSON_NAME:
        return on_text(decoder, piece, event, error);
    case KI__JSON_VALUE:
        break;
    }
    return on_value(decoder, piece, event, error);
}

/* All bytes are consumed: keeps those of an incomplete value. */
static int keep_rest(ki__watch_decoder *decoder, const ki__piece *piece, ki_error *error)
{
    uint64_t start;
    if (!decoder->inside || !ki__json_stream_is_inside(&decoder->json, &start)) {
        return 0;
    }
    int r = ki__gather_add(&decoder->intake.gathered, piece, start, decoder->json.offset,
                           bytes_needed(decoder));
    return r < 0 ? ki__error_code(error, r) : 0;
}

/* Number of bytes that the current event may still use. */
static size_t space_for_event(const ki__watch_decoder *decoder, size_t len)
{
    uint64_t used = decoder->inside ? decoder->json.offset - decoder->event_start : 0;
    uint64_t room = decoder->intake.options.max_bytes - used;
    return decoder->inside && room < len ? (size_t)room : len;
}

int ki__watch_json_feed(ki__watch_decoder *decoder, const char *bytes, size_t len,
                        size_t *ret_taken, ki__watch_event *ret_event, ki_error *error)
{
    int r = 0;
    size_t taken = 0;
    while (r == 0) {
        ki__piece piece = {bytes + taken, decoder->json.offset};
        ki__json_event event;
        size_t count;
        r = ki__json_stream_feed(&decoder->json, piece.bytes, space_for_event(decoder, len - taken),
                                 &count, &event, error);
        taken += count;
        if (r == 0) {
            r = keep_rest(decoder, &piece, error);
            if (r == 0 && taken != len) {
                r = ki__watch_fail_size(decoder, error);
            }
            break;
        }
        r = r == 1 ? on_event(decoder, &piece, &event, ret_event, error) : r;
    }
    *ret_taken = taken;
    return r;
}

int ki__watch_json_finish(ki__watch_decoder *decoder, ki_error *error)
{
    ki__json_event event;
    int r = ki__json_stream_finish(&decoder->json, &event, NULL);
    if (r == 0) {
        return 0;
    }
    if (r == 1) {
        return ki__error_set(error, KI_ERR_INVALID, "watch event is not a map");
    }
    (void)ki__error_set(error, KI_ERR_TRUNCATED, "watch event truncated");
    error->offset = (size_t)decoder->json.offset;
    return KI_ERR_TRUNCATED;
}
