/* SPDX-License-Identifier: Apache-2.0 */
/* Incremental decoder of LIST responses: chunks of any size in, objects out one by one. At most one
 * item is buffered, never the list. An undecodable item is skipped and the rest continues; an error
 * in the list itself ends it.
 *
 * A Status instead of the list is returned as an error. A Table is rejected. Any other body that is
 * not a list is an error too, so that it is never taken for an empty list. */
#ifndef KI_WIRE_LIST_DECODER_H
#define KI_WIRE_LIST_DECODER_H

#include "object/json/json_stream.h"
#include "wire/gather.h"
#include "wire/intake.h"
#include "wire/proto_stream.h"

typedef enum ki__list_text {
    KI__LIST_KIND,
    KI__LIST_API_VERSION,
    KI__LIST_RESOURCE_VERSION,
    KI__LIST_CONTINUE,
    KI__LIST_ITEM_KIND, /* the list's kind without "List" */
    KI__LIST_TEXT_MAX
} ki__list_text;

/** Metadata of the list as decoded so far; complete once finish() returned 0. Strings are "" if
 *  absent, and valid until done(). */
typedef struct ki__list_info {
    const char *kind; /* of the list, such as "PodList" */
    const char *api_version;
    const char *resource_version;
    const char *continue_token;
    int64_t remaining_item_count; /* -1 if absent */
} ki__list_info;

/** Members are private. */
typedef struct ki__list_decoder {
    ki__intake intake;
    ki__json_stream json;
    ki__proto_stream proto;
    ki_buf text[KI__LIST_TEXT_MAX];
    ki_buf scratch; /* JSON: the body so far, while it may be a Status */
    int64_t remaining_item_count;
    ki_object *status;
    ki_error failure; /* sticky error of the list */
    uint32_t seen;    /* bit set of list members, or envelope fields */
    uint8_t member;   /* JSON: the current one */
    uint8_t magic;    /* protobuf: number of magic bytes read */
    bool in_items;
    bool may_be_status; /* JSON: `scratch` holds all of the body so far */
    bool complete;
} ki__list_decoder;

void ki__list_decoder_init(ki__list_decoder *decoder, const ki__wire_options *options);
void ki__list_decoder_done(ki__list_decoder *decoder);

/** Consumes bytes up to the end of the next item: 1 with *ret_item, 0 if all were consumed without
 *  one. Call it with the remaining bytes until it returns 0. *ret_taken is the number of bytes
 *  consumed, also on failure. Errors are sticky: later calls return the same error.
 *  Errors: KI_ERR_STATUS       a Status; see also ki__list_decoder_status();
 *          KI_ERR_UNSUPPORTED  a Table, or an envelope with a content encoding;
 *          KI_ERR_TYPE         a list of an unexpected kind;
 *          KI_ERR_INVALID      not a list, or metadata of wrong types;
 *          KI_ERR_SYNTAX, KI_ERR_ENCODING, KI_ERR_LIMIT  in the list itself, not in an item;
 *          -ENOMEM. */
int ki__list_decoder_feed(ki__list_decoder *decoder, const char *bytes, size_t len,
                          size_t *ret_taken, ki__wire_item *ret_item, ki_error *error);

/** Signals the end of the body. 0 if the list is complete.
 *  Errors: KI_ERR_TRUNCATED  the body is truncated;  otherwise as ki__list_decoder_feed(). */
int ki__list_decoder_finish(ki__list_decoder *decoder, ki_error *error);

ki__list_info ki__list_decoder_info(const ki__list_decoder *decoder);

/** The Status received instead of the list, valid as long as the decoder; or NULL. */
const ki_object *ki__list_decoder_status(const ki__list_decoder *decoder);

#endif
