/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as the answer to WATCH, in either encoding. However they are cut, the events, what was
 * skipped and why, and the end must be the same; and each event has what it promises. */
#include "base/error.h"
#include "fuzz/wire_summary.h"
#include "wire/watch_decoder.h"

static void check_event(const ki__watch_event *event)
{
    const ki_object *object = event->item.object;
    must((unsigned)event->type <= KI_WATCH_EVENT_MAX);
    if (event->type == KI_WATCH_EVENT_ERROR) {
        must(event->item.error.code < 0);
        must(ki__error_is_status(&event->item.error) == (object != NULL));
    } else if (object == NULL) {
        must(event->item.error.code < 0 && event->item.error.code <= KI_ERR_FIRST);
    } else if (event->type == KI_WATCH_EVENT_BOOKMARK) {
        must(ki_object_resource_version(object)[0] != '\0');
    } else {
        must(event->type != KI_WATCH_EVENT_MAX && ki_object_key(object)[0] != '\0');
    }
}

static int feed(ki__watch_decoder *decoder, const char *piece, size_t len, uint64_t *hash,
                ki_error *error)
{
    for (;;) {
        ki__watch_event event;
        size_t taken;
        int r = ki__watch_decoder_feed(decoder, piece, len, &taken, &event, error);
        must(taken <= len && (r != 0 || taken == len));
        if (r != 1) {
            return r;
        }
        check_event(&event);
        add_number(hash, (uint64_t)event.type);
        if (event.type == KI_WATCH_EVENT_ERROR) {
            add_error(hash, &event.item.error);
        }
        if (event.type != KI_WATCH_EVENT_ERROR || event.item.object != NULL) {
            add_item(hash, &event.item);
        }
        piece += taken;
        len -= taken;
    }
}

static uint64_t decode(const uint8_t *bytes, size_t len, const ki__wire_options *options,
                       unsigned cut)
{
    ki__watch_decoder decoder;
    ki_error error = KI_ERROR_INIT;
    uint64_t hash = 1;
    uint32_t state = cut;
    int r = 0;
    ki__watch_decoder_init(&decoder, options);
    for (size_t at = 0; at < len && r == 0;) {
        size_t count = next_piece(&state, cut, len - at);
        char *piece = copy_piece(bytes + at, count);
        r = feed(&decoder, piece, count, &hash, &error);
        free(piece);
        at += count;
    }
    r = r == 0 ? ki__watch_decoder_finish(&decoder, &error) : r;
    if (r < 0) {
        must(error.code == r);
        add_error(&hash, &error);
    }
    ki__watch_decoder_done(&decoder);
    return hash;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    if (len < HEAD) {
        return 0;
    }
    ki__wire_options options = options_of(bytes);
    const uint8_t *body = bytes + HEAD;
    uint64_t whole = decode(body, len - HEAD, &options, 0);
    must(decode(body, len - HEAD, &options, 1) == whole);
    must(decode(body, len - HEAD, &options, 2U + bytes[1]) == whole);
    return 0;
}
