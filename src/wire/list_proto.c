/* SPDX-License-Identifier: Apache-2.0 */
/* Protobuf lists: "k8s" and a NUL, then a runtime.Unknown with the list as its content. The type
 * must precede the content; otherwise a list could not be distinguished from other objects. */
#include <errno.h>

#include "base/error.h"
#include "wire/list_parts.h"
#include "wire/media_type.h"

/* Field numbers of runtime.Unknown, of every list, of TypeMeta and of ListMeta. */
enum { UNKNOWN_TYPE = 1, UNKNOWN_RAW = 2, UNKNOWN_CONTENT_ENCODING = 3, UNKNOWN_CONTENT_TYPE = 4 };
enum { LIST_METADATA = 1, LIST_ITEMS = 2 };
enum { TYPE_API_VERSION = 1, TYPE_KIND = 2 };
enum { META_RESOURCE_VERSION = 2, META_CONTINUE = 3, META_REMAINING = 4 };

enum { SEEN_METADATA = 8 }; /* a bit that no field of the envelope uses */
enum { TYPE_BYTES_MAX = 4 * KI__LIST_TEXT_BYTES_MAX };

static const char magic[4] = "k8s";

void ki__list_proto_init(ki__list_decoder *decoder)
{
    ki__proto_stream_init(&decoder->proto, UINT64_MAX);
}

static int see(ki__list_decoder *decoder, unsigned bit, ki_error *error)
{
    if ((decoder->seen >> bit & 1) != 0) {
        return ki__error_set(error, KI_ERR_INVALID, "list: duplicate field");
    }
    decoder->seen |= 1U << bit;
    return 0;
}

/* A known field with another wire type than expected. */
static int fail_wire_type(ki_error *error)
{
    return ki__error_set(error, KI_ERR_INVALID, "list: wrong wire type");
}

/* ---- small messages, decoded whole ---- */

typedef int (*field_taker)(ki__list_decoder *decoder, const ki__proto_event *event, ki_str text,
                           ki_error *error);

static int each_field(ki__list_decoder *decoder, ki_str message, field_taker taker, ki_error *error)
{
    ki__proto_stream stream;
    ki__proto_event event;
    size_t taken;
    int r;
    ki__proto_stream_init(&stream, message.len);
    for (size_t at = 0; (r = ki__proto_stream_feed(&stream, message.ptr + at, message.len - at,
                                                   &taken, &event, error)) == 1;) {
        at += taken;
        ki_str text = ki_str_make(NULL, 0);
        if (event.type == KI__PROTO_VALUE) {
            text = ki_str_make(message.ptr + event.start, (size_t)(event.end - event.start));
        }
        r = event.type == KI__PROTO_OVER ? 0 : taker(decoder, &event, text, error);
        if (r < 0) {
            return r;
        }
    }
    return r;
}

static int take_type(ki__list_decoder *decoder, const ki__proto_event *event, ki_str text,
                     ki_error *error)
{
    if (event->type != KI__PROTO_VALUE) {
        bool known = event->number == TYPE_API_VERSION || event->number == TYPE_KIND;
        return known ? fail_wire_type(error) : 0;
    }
    switch (event->number) {
    case TYPE_API_VERSION:
        return ki__list_set_text(decoder, KI__LIST_API_VERSION, text, error);
    case TYPE_KIND:
        return ki__list_set_text(decoder, KI__LIST_KIND, text, error);
    default:
        return 0;
    }
}

static int take_metadata(ki__list_decoder *decoder, const ki__proto_event *event, ki_str text,
                         ki_error *error)
{
    if (event->type == KI__PROTO_NUMBER && event->number == META_REMAINING) {
        uint64_t count = event->value;
        decoder->remaining_item_count = count <= INT64_MAX ? (int64_t)count : -1;
    }
    if (event->type != KI__PROTO_VALUE) {
        bool known = event->number == META_RESOURCE_VERSION || event->number == META_CONTINUE;
        return known ? fail_wire_type(error) : 0;
    }
    switch (event->number) {
    case META_RESOURCE_VERSION:
        return ki__list_set_text(decoder, KI__LIST_RESOURCE_VERSION, text, error);
    case META_CONTINUE:
        return ki__list_set_text(decoder, KI__LIST_CONTINUE, text, error);
    default:
        return 0;
    }
}

/* ---- the envelope ---- */

/* The type is known: decides how to decode the content. */
static int identify(ki__list_decoder *decoder, ki_error *error)
{
    int r = ki__list_identify(decoder, error);
    if (r < 0 || ki__list_is_status(decoder)) {
        return r; /* the content of a Status arrives as one value */
    }
    if (!ki__list_kind_is_list(decoder)) {
        return ki__list_refuse(decoder, error);
    }
    if (decoder->text[KI__LIST_ITEM_KIND].len == 0) {
        return ki__error_set(
            error, KI_ERR_UNSUPPORTED,
            "the response is a List of mixed kinds, which is not supported in protobuf");
    }
    decoder->proto.enter[0] = UNKNOWN_RAW;
    return 0;
}

static int take_content_type(uint32_t number, ki_str text, ki_error *error)
{
    bool plain = text.len == 0 ||
                 (number == UNKNOWN_CONTENT_TYPE && ki_str_eq_text(text, KI__MEDIA_TYPE_PROTOBUF));
    if (plain) {
        return 0;
    }
    (void)ki__error_set(error, KI_ERR_UNSUPPORTED, "envelope: unsupported %s ",
                        number == UNKNOWN_CONTENT_TYPE ? "type" : "encoding");
    ki__error_add(error, text);
    return KI_ERR_UNSUPPORTED;
}

static int take_field(ki__list_decoder *decoder, const ki__proto_event *event, ki_str text,
                      ki_error *error)
{
    if (event->depth == 1) {
        return each_field(decoder, text, take_metadata, error);
    }
    int r;
    switch (event->number) {
    case UNKNOWN_TYPE:
        r = each_field(decoder, text, take_type, error);
        return r < 0 ? r : identify(decoder, error);
    case UNKNOWN_RAW:
        return ki__list_is_status(decoder) ? ki__list_take_status(decoder, text, error)
                                           : ki__list_refuse(decoder, error);
    default:
        return take_content_type(event->number, text, error);
    }
}

/* Number of bytes to keep of a value. */
static size_t bytes_needed(const ki__list_decoder *decoder, const ki__proto_event *event)
{
    size_t max = decoder->intake.options.max_bytes;
    if (event->depth == 1) {
        return event->number == LIST_ITEMS      ? max
               : event->number == LIST_METADATA ? KI__LIST_METADATA_BYTES_MAX
                                                : 0;
    }
    switch (event->number) {
    case UNKNOWN_TYPE:
    case UNKNOWN_CONTENT_ENCODING:
    case UNKNOWN_CONTENT_TYPE:
        return TYPE_BYTES_MAX;
    case UNKNOWN_RAW:
        return ki__list_is_status(decoder) ? max : 0;
    default:
        return 0;
    }
}

/* ---- events ---- */

static bool is_known(const ki__proto_event *event)
{
    return event->number <= (event->depth == 1 ? LIST_ITEMS : UNKNOWN_CONTENT_TYPE);
}

static int on_field(ki__list_decoder *decoder, const ki__piece *piece, const ki__proto_event *event,
                    ki_error *error)
{
    size_t max = bytes_needed(decoder, event);
    ki_str text;
    if (!is_known(event)) {
        return 0;
    }
    int r = see(decoder, event->depth == 1 ? SEEN_METADATA : event->number, error);
    if (r < 0) {
        return r;
    }
    if (max != 0 && event->end - event->start > max) {
        return ki__error_set(error, KI_ERR_LIMIT, "list: field too large: %llu bytes",
                             (unsigned long long)(event->end - event->start));
    }
    r = ki__gather_take(&decoder->intake.gathered, piece, event->start, event->end, max, &text);
    if (r < 0) {
        return ki__error_code(error, r);
    }
    r = take_field(decoder, event, text, error);
    ki__gather_clear(&decoder->intake.gathered);
    return r;
}

static int on_event(ki__list_decoder *decoder, const ki__piece *piece, const ki__proto_event *event,
                    ki__wire_item *ret_item, ki_error *error)
{
    switch (event->type) {
    case KI__PROTO_BEGIN:
        return see(decoder, event->number, error);
    case KI__PROTO_END:
        decoder->complete = true; /* only encoding information may follow */
        return 0;
    case KI__PROTO_NUMBER:
    case KI__PROTO_FIXED: /* a skipped item would be taken for no item */
        return is_known(event) ? fail_wire_type(error) : 0;
    case KI__PROTO_OVER:
        return 0;
    case KI__PROTO_VALUE:
        break;
    }
    return event->depth == 1 && event->number == LIST_ITEMS
               ? ki__list_item(decoder, piece, event->start, event->end, ret_item, error)
               : on_field(decoder, piece, event, error);
}

/* All bytes are consumed: keeps those of an incomplete value. */
static int keep_rest(ki__list_decoder *decoder, const ki__piece *piece, ki_error *error)
{
    ki__proto_event event;
    if (!ki__proto_stream_is_inside(&decoder->proto, &event)) {
        return 0;
    }
    int r = ki__gather_add(&decoder->intake.gathered, piece, event.start, decoder->proto.offset,
                           bytes_needed(decoder, &event));
    return r < 0 ? ki__error_code(error, r) : 0;
}

/* Consumes the magic bytes, which stream offsets do not include. */
static int take_magic(ki__list_decoder *decoder, const char *bytes, size_t len, size_t *taken,
                      ki_error *error)
{
    while (decoder->magic < sizeof(magic) && *taken < len) {
        if (bytes[*taken] != magic[decoder->magic]) {
            return ki__error_set(error, KI_ERR_SYNTAX,
                                 "missing magic number of Kubernetes protobuf");
        }
        decoder->magic++;
        ++*taken;
    }
    return 0;
}

int ki__list_proto_feed(ki__list_decoder *decoder, const char *bytes, size_t len, size_t *ret_taken,
                        ki__wire_item *ret_item, ki_error *error)
{
    size_t taken = 0;
    int r = take_magic(decoder, bytes, len, &taken, error);
    while (r == 0 && decoder->magic == sizeof(magic)) {
        ki__piece piece = {bytes + taken, decoder->proto.offset};
        ki__proto_event event;
        size_t count;
        r = ki__proto_stream_feed(&decoder->proto, piece.bytes, len - taken, &count, &event, error);
        taken += count;
        if (r < 0) {
            error->offset += sizeof(magic);
        } else if (r == 0) {
            r = keep_rest(decoder, &piece, error);
            break;
        } else {
            r = on_event(decoder, &piece, &event, ret_item, error);
        }
    }
    *ret_taken = taken;
    return r;
}

int ki__list_proto_finish(ki__list_decoder *decoder, ki_error *error)
{
    if (decoder->complete && ki__proto_stream_may_end(&decoder->proto)) {
        return 0;
    }
    (void)ki__error_set(error, KI_ERR_TRUNCATED, "list truncated");
    error->offset = (size_t)decoder->proto.offset + decoder->magic;
    return KI_ERR_TRUNCATED;
}
