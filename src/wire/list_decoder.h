/* SPDX-License-Identifier: Apache-2.0 */
/* Answers to LIST, decoded as they arrive: bytes in, in pieces of any size, and objects out, one by
 * one. At most one item is ever held, never the list. One item that cannot be read is skipped and
 * the rest continues; what is wrong with the list itself ends it.
 *
 * A Status in place of the list is its error. A Table is refused. A body that is neither, nor a
 * list, is an error as well, so that nobody takes it for an empty list. */
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
    KI__LIST_ITEM_KIND, /* the kind of the list without "List" */
    KI__LIST_TEXT_MAX
} ki__list_text;

/** What the list says of itself, as far as it was read; all of it once finish() returned 0. Text is
 *  "" where there is none, and valid until done(). */
typedef struct ki__list_info {
    const char *kind; /* of the list, such as "PodList" */
    const char *api_version;
    const char *resource_version;
    const char *continue_token;
    int64_t remaining_item_count; /* -1 if the server does not say */
} ki__list_info;

/** Its members are private. */
typedef struct ki__list_decoder {
    ki__intake intake;
    ki__json_stream json;
    ki__proto_stream proto;
    ki_buf text[KI__LIST_TEXT_MAX];
    ki_buf scratch; /* JSON: of the body so far, while it may be a Status */
    int64_t remaining_item_count;
    ki_object *status;
    ki_error failure; /* of the list, once there was one */
    uint32_t seen;    /* members of the list, or fields of the envelope: a bit for each */
    uint8_t member;   /* JSON: the one at hand */
    uint8_t magic;    /* protobuf: bytes of it that were read */
    bool in_items;
    bool may_be_status; /* JSON: `scratch` has all of the body */
    bool complete;
} ki__list_decoder;

void ki__list_decoder_init(ki__list_decoder *decoder, const ki__wire_options *options);
void ki__list_decoder_done(ki__list_decoder *decoder);

/** Takes bytes up to the end of the next item: 1 with *ret_item, 0 when all were taken without one.
 *  Call it until it returns 0, with the bytes that are left. *ret_taken is how many were taken, on
 *  failure too. A decoder that failed stays failed and gives the same error again.
 *  Errors: KI_ERR_STATUS       a Status; see also ki__list_decoder_status();
 *          KI_ERR_UNSUPPORTED  a Table, or an envelope that says it is encoded;
 *          KI_ERR_TYPE         a list of another kind than expected;
 *          KI_ERR_INVALID      no list, or its metadata are of wrong types;
 *          KI_ERR_SYNTAX, KI_ERR_ENCODING, KI_ERR_LIMIT  the list itself, not an item;
 *          -ENOMEM. */
int ki__list_decoder_feed(ki__list_decoder *decoder, const char *bytes, size_t len,
                          size_t *ret_taken, ki__wire_item *ret_item, ki_error *error);

/** Tells that the body is over. 0 if the list is complete.
 *  Errors: KI_ERR_CUT  more must have followed;  else as ki__list_decoder_feed(). */
int ki__list_decoder_finish(ki__list_decoder *decoder, ki_error *error);

ki__list_info ki__list_decoder_info(const ki__list_decoder *decoder);

/** The Status that came in place of the list, as long as the decoder lives; or NULL. */
const ki_object *ki__list_decoder_status(const ki__list_decoder *decoder);

#endif
