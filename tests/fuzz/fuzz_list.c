/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as the answer to LIST, in either encoding. However they are cut, the items, what was
 * skipped and why, and the end must be the same; and nothing is given out that has no key. */
#include "fuzz/wire_summary.h"
#include "wire/list_decoder.h"

static void check_item(const ki__wire_item *item, const ki__wire_options *options)
{
    if (item->object == NULL) {
        must(item->error.code < 0 && item->error.code <= KI_ERR_FIRST);
        return;
    }
    must(ki_object_key(item->object)[0] != '\0');
    const char *kind = ki_object_kind(item->object);
    must(options->expected_kind == NULL || kind[0] == '\0' ||
         strcmp(kind, options->expected_kind) == 0);
}

/* Feeds one piece; the items go into the hash. */
static int feed(ki__list_decoder *decoder, const ki__wire_options *options, const char *piece,
                size_t len, uint64_t *hash, ki_error *error)
{
    for (;;) {
        ki__wire_item item;
        size_t taken;
        int r = ki__list_decoder_feed(decoder, piece, len, &taken, &item, error);
        must(taken <= len && (r != 0 || taken == len));
        if (r != 1) {
            return r;
        }
        check_item(&item, options);
        add_item(hash, &item);
        piece += taken;
        len -= taken;
    }
}

static uint64_t decode(const uint8_t *bytes, size_t len, const ki__wire_options *options,
                       unsigned cut)
{
    ki__list_decoder decoder;
    ki_error error = KI_ERROR_INIT;
    uint64_t hash = 1;
    uint32_t state = cut;
    int r = 0;
    ki__list_decoder_init(&decoder, options);
    for (size_t at = 0; at < len && r == 0;) {
        size_t count = next_piece(&state, cut, len - at);
        char *piece = copy_piece(bytes + at, count);
        r = feed(&decoder, options, piece, count, &hash, &error);
        free(piece);
        at += count;
    }
    r = r == 0 ? ki__list_decoder_finish(&decoder, &error) : r;
    if (r < 0) {
        must(error.code == r);
        add_error(&hash, &error);
        must((r == KI_ERR_STATUS || r == KI_ERR_NOT_FOUND || r == KI_ERR_EXISTS) <=
             (ki__list_decoder_status(&decoder) != NULL));
    }
    ki__list_info info = ki__list_decoder_info(&decoder);
    add_text(&hash, info.kind);
    add_text(&hash, info.api_version);
    add_text(&hash, info.resource_version);
    add_text(&hash, info.continue_token);
    add_number(&hash, (uint64_t)info.remaining_item_count);
    ki__list_decoder_done(&decoder);
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
