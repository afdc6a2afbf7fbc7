/* SPDX-License-Identifier: Apache-2.0 */
/* JSON lists. The scanner enters the top-level map and its list "items"; every other member arrives
 * as one value, in any order. Unknown members are skipped without decoding. */
#include <errno.h>

#include "base/error.h"
#include "object/json/json_scan.h"
#include "object/json/json_skip.h"
#include "object/json/json_string.h"
#include "object/json/json_value.h"
#include "wire/list_parts.h"

typedef enum list_member {
    MEMBER_NONE, /* expects a name */
    MEMBER_KIND,
    MEMBER_API_VERSION,
    MEMBER_METADATA,
    MEMBER_ITEMS,
    MEMBER_OTHER,
} list_member;

/* Raw size of the longest known name and the longest string: every character escaped, plus
 * quotes. */
enum { NAME_BYTES_MAX = 80, STRING_BYTES_MAX = 6 * KI__LIST_TEXT_BYTES_MAX + 2, NULL_BYTES = 5 };

static bool has_seen(const ki__list_decoder *decoder, list_member member)
{
    return (decoder->seen >> member & 1) != 0;
}

void ki__list_json_init(ki__list_decoder *decoder)
{
    /* Items are limited once complete, so that an oversized one can be skipped. */
    ki__json_stream_init(&decoder->json, UINT64_MAX, INT32_MAX);
    ki__json_stream_enter(&decoder->json, 1);
    decoder->may_be_status = true;
}

/* ---- start of the body, in case it is a Status ---- */

static int keep_head(ki__list_decoder *decoder, const char *bytes, size_t len, ki_error *error)
{
    ki_buf *head = &decoder->scratch;
    if (!decoder->may_be_status || len == 0) {
        return 0;
    }
    if (len > decoder->intake.options.max_bytes - head->len) {
        decoder->may_be_status = false;
        ki_buf_done(head);
        return 0;
    }
    int r = ki_buf_add(head, bytes, len);
    return r < 0 ? ki__error_code(error, r) : 0;
}

static void drop_head(ki__list_decoder *decoder)
{
    decoder->may_be_status = false;
    ki_buf_done(&decoder->scratch);
}

/* ---- members ---- */

static list_member member_of(ki_str raw)
{
    static const struct {
        const char *name;
        list_member member;
    } known[] = {
        {"kind", MEMBER_KIND},
        {"apiVersion", MEMBER_API_VERSION},
        {"metadata", MEMBER_METADATA},
        {"items", MEMBER_ITEMS},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (ki__json_raw_equals(raw, ki_str_from(known[i].name))) {
            return known[i].member;
        }
    }
    return MEMBER_OTHER;
}

static int take_name(ki__list_decoder *decoder, ki_str quoted, bool whole, ki_error *error)
{
    decoder->member = MEMBER_OTHER;
    if (whole) {
        int r = ki__json_check(quoted, 1, error);
        if (r < 0) {
            return r;
        }
        decoder->member = (uint8_t)member_of(ki_str_make(quoted.ptr + 1, quoted.len - 2));
    }
    if (decoder->member != MEMBER_OTHER && has_seen(decoder, decoder->member)) {
        return ki__error_set(error, KI_ERR_INVALID, "list: duplicate field");
    }
    decoder->seen |= 1U << decoder->member;
    ki__json_stream_enter(&decoder->json, decoder->member == MEMBER_ITEMS ? 2 : 1);
    return 0;
}

/* Stores a list string from a validated value; null means absent. */
static int take_text(ki__list_decoder *decoder, ki__list_text which, const ki_value *value,
                     ki_error *error)
{
    if (ki_value_type(value) == KI_TYPE_NULL) {
        return 0;
    }
    ki_buf decoded;
    ki_buf_init(&decoded, decoder->intake.options.alloc, KI__LIST_METADATA_BYTES_MAX);
    int r = ki_value_copy_string(value, &decoded);
    if (r == KI_ERR_TYPE) {
        r = ki__error_set(error, KI_ERR_INVALID, "list: expected a string, found a %s",
                          ki_type_name(ki_value_type(value)));
    } else if (r < 0) {
        r = ki__error_code(error, r);
    } else {
        r = ki__list_set_text(decoder, which, ki_buf_str(&decoded), error);
    }
    ki_buf_done(&decoded);
    return r;
}

static int take_metadata(ki__list_decoder *decoder, const ki_value *metadata, ki_error *error)
{
    ki_value member;
    if (ki_value_type(metadata) == KI_TYPE_NULL) {
        return 0;
    }
    if (ki_value_type(metadata) != KI_TYPE_MAP) {
        return ki__error_set(error, KI_ERR_INVALID, "list: metadata is a %s",
                             ki_type_name(ki_value_type(metadata)));
    }
    int r = 0;
    if (ki_value_member(metadata, ki_str_from("resourceVersion"), &member) == 0) {
        r = take_text(decoder, KI__LIST_RESOURCE_VERSION, &member, error);
    }
    if (r == 0 && ki_value_member(metadata, ki_str_from("continue"), &member) == 0) {
        r = take_text(decoder, KI__LIST_CONTINUE, &member, error);
    }
    if (r == 0 && ki_value_member(metadata, ki_str_from("remainingItemCount"), &member) == 0 &&
        ki_value_int64(&member, &decoder->remaining_item_count) < 0) {
        decoder->remaining_item_count = -1; /* only an estimate: not worth an error */
    }
    return r;
}

/* Values are decoded in place, which requires readable padding after them: hence the copy. */
static int take_small_value(ki__list_decoder *decoder, ki_str text, ki_error *error)
{
    static const char padding[KI__JSON_PADDING];
    int r = ki__json_check(text, KI__JSON_MAX_DEPTH, error);
    if (r < 0) {
        return r;
    }
    ki_buf copy;
    ki_buf_init(&copy, decoder->intake.options.alloc, SIZE_MAX);
    r = ki_buf_add_str(&copy, text);
    r = r == 0 ? ki_buf_add(&copy, padding, sizeof(padding)) : r;
    if (r < 0) {
        r = ki__error_code(error, r);
    } else {
        ki_value value = ki__json_value_at(copy.data, copy.data + text.len);
        r = decoder->member == MEMBER_METADATA ? take_metadata(decoder, &value, error)
            : decoder->member == MEMBER_KIND
                ? take_text(decoder, KI__LIST_KIND, &value, error)
                : take_text(decoder, KI__LIST_API_VERSION, &value, error);
    }
    ki_buf_done(&copy);
    return r;
}

static int identify(ki__list_decoder *decoder, ki_error *error)
{
    int r = ki__list_identify(decoder, error);
    if (r == 0 && ki__list_kind_is_list(decoder)) {
        drop_head(decoder);
    }
    return r;
}

static int take_member(ki__list_decoder *decoder, ki_str text, bool whole, ki_error *error)
{
    if (decoder->member == MEMBER_OTHER) {
        return 0;
    }
    if (decoder->member == MEMBER_ITEMS) {
        /* Go encodes a nil slice as null. */
        return ki_str_eq_text(text, "null")
                   ? 0
                   : ki__error_set(error, KI_ERR_INVALID, "list: items is not a list");
    }
    if (!whole) {
        return ki__error_set(error, KI_ERR_LIMIT, "list: %s is too large",
                             decoder->member == MEMBER_METADATA ? "metadata" : "string");
    }
    int r = take_small_value(decoder, text, error);
    if (r < 0 || decoder->member == MEMBER_METADATA) {
        return r;
    }
    return has_seen(decoder, MEMBER_KIND) && has_seen(decoder, MEMBER_API_VERSION)
               ? identify(decoder, error)
               : 0;
}

/* ---- events ---- */

/* Number of bytes to keep of the current name or value. */
static size_t bytes_needed(const ki__list_decoder *decoder)
{
    if (decoder->in_items) {
        return decoder->intake.options.max_bytes;
    }
    switch ((list_member)decoder->member) {
    case MEMBER_NONE:
        return NAME_BYTES_MAX;
    case MEMBER_KIND:
    case MEMBER_API_VERSION:
        return STRING_BYTES_MAX;
    case MEMBER_METADATA:
        return KI__LIST_METADATA_BYTES_MAX;
    case MEMBER_ITEMS:
        return NULL_BYTES;
    case MEMBER_OTHER:
        break;
    }
    return 0;
}

static int on_begin(ki__list_decoder *decoder, const ki__json_event *event, ki_error *error)
{
    if (event->depth == 0) {
        return event->first == '{' ? 0
                                   : ki__error_set(error, KI_ERR_INVALID,
                                                   "the response is not a list but an array");
    }
    if (event->first != '[') {
        return ki__error_set(error, KI_ERR_INVALID, "list: items is not a list");
    }
    decoder->in_items = true;
    if (ki__list_is_status(decoder)) {
        return ki__list_refuse(decoder, error);
    }
    drop_head(decoder);
    return ki__list_identify(decoder, error);
}

/* End of the top-level map. */
static int on_whole(ki__list_decoder *decoder, ki_error *error)
{
    if (ki__list_is_status(decoder)) {
        return decoder->may_be_status
                   ? ki__list_take_status(decoder, ki_buf_str(&decoder->scratch), error)
                   : ki__error_set(error, KI_ERR_LIMIT, "the Status is too large");
    }
    if (!has_seen(decoder, MEMBER_ITEMS) && !ki__list_kind_is_list(decoder)) {
        return ki__list_refuse(decoder, error);
    }
    drop_head(decoder);
    decoder->complete = true;
    return 0;
}

static int on_end(ki__list_decoder *decoder, const ki__json_event *event, ki_error *error)
{
    if (event->depth == 0) {
        return on_whole(decoder, error);
    }
    decoder->in_items = false;
    decoder->member = MEMBER_NONE;
    ki__json_stream_enter(&decoder->json, 1);
    return 0;
}

/* A name, or a value of the list itself. */
static int on_text(ki__list_decoder *decoder, const ki__piece *piece, const ki__json_event *event,
                   ki_error *error)
{
    size_t max = bytes_needed(decoder);
    ki_str text;
    int r = ki__gather_take(&decoder->intake.gathered, piece, event->start, event->end, max, &text);
    if (r < 0) {
        return ki__error_code(error, r);
    }
    bool whole = event->end - event->start <= max;
    if (event->type == KI__JSON_NAME) {
        r = take_name(decoder, text, whole, error);
    } else {
        r = take_member(decoder, text, whole, error);
        decoder->member = MEMBER_NONE;
    }
    ki__gather_clear(&decoder->intake.gathered);
    if (r < 0 && r != -ENOMEM) {
        error->offset += (size_t)event->start; /* relative to the start of the body */
        error->line = 0;
        error->column = 0;
    }
    return r;
}

static int on_event(ki__list_decoder *decoder, const ki__piece *piece, const ki__json_event *event,
                    ki__wire_item *ret_item, ki_error *error)
{
    if (decoder->complete) {
        return ki__error_set(error, KI_ERR_SYNTAX, "unexpected data after the list");
    }
    switch (event->type) {
    case KI__JSON_BEGIN:
        return on_begin(decoder, event, error);
    case KI__JSON_END:
        return on_end(decoder, event, error);
    case KI__JSON_NAME:
        return on_text(decoder, piece, event, error);
    case KI__JSON_VALUE:
        break;
    }
    if (event->depth == 0) {
        return ki__error_set(error, KI_ERR_INVALID, "the response is not a list: not a map");
    }
    return decoder->in_items
               ? ki__list_item(decoder, piece, event->start, event->end, ret_item, error)
               : on_text(decoder, piece, event, error);
}

/* All bytes are consumed: keeps those of an incomplete value. */
static int keep_rest(ki__list_decoder *decoder, const ki__piece *piece, ki_error *error)
{
    uint64_t start;
    if (!ki__json_stream_is_inside(&decoder->json, &start)) {
        return 0;
    }
    int r = ki__gather_add(&decoder->intake.gathered, piece, start, decoder->json.offset,
                           bytes_needed(decoder));
    return r < 0 ? ki__error_code(error, r) : 0;
}

int ki__list_json_feed(ki__list_decoder *decoder, const char *bytes, size_t len, size_t *ret_taken,
                       ki__wire_item *ret_item, ki_error *error)
{
    int r = 0;
    size_t taken = 0;
    while (r == 0) {
        ki__piece piece = {bytes + taken, decoder->json.offset};
        ki__json_event event;
        size_t count;
        int found =
            ki__json_stream_feed(&decoder->json, piece.bytes, len - taken, &count, &event, error);
        taken += count;
        r = found < 0 ? found : keep_head(decoder, piece.bytes, count, error);
        if (r == 0 && found == 0) {
            r = keep_rest(decoder, &piece, error);
            break;
        }
        r = r == 0 ? on_event(decoder, &piece, &event, ret_item, error) : r;
    }
    *ret_taken = taken;
    return r;
}

int ki__list_json_finish(ki__list_decoder *decoder, ki_error *error)
{
    ki__json_event event;
    int r = ki__json_stream_finish(&decoder->json, &event, NULL);
    if (decoder->complete) {
        return r == 0 ? 0 : ki__error_set(error, KI_ERR_SYNTAX, "unexpected data after the list");
    }
    if (r == 1) {
        return ki__error_set(error, KI_ERR_INVALID, "the response is not a list: not a map");
    }
    (void)ki__error_set(error, KI_ERR_TRUNCATED, "list truncated");
    error->offset = (size_t)decoder->json.offset;
    return KI_ERR_TRUNCATED;
}
