/* SPDX-License-Identifier: Apache-2.0 */
/* Internal interface between the parts of the list decoder. */
#ifndef KI_WIRE_LIST_PARTS_H
#define KI_WIRE_LIST_PARTS_H

#include "wire/list_decoder.h"

/* Far above real sizes; they only bound memory. */
enum { KI__LIST_TEXT_BYTES_MAX = 1024, KI__LIST_METADATA_BYTES_MAX = 1 << 20 };

/** The parts for each encoding. As in list_decoder.h, but `error` is never NULL. */
void ki__list_json_init(ki__list_decoder *decoder);
int ki__list_json_feed(ki__list_decoder *decoder, const char *bytes, size_t len, size_t *ret_taken,
                       ki__wire_item *ret_item, ki_error *error);
int ki__list_json_finish(ki__list_decoder *decoder, ki_error *error);
void ki__list_proto_init(ki__list_decoder *decoder);
int ki__list_proto_feed(ki__list_decoder *decoder, const char *bytes, size_t len, size_t *ret_taken,
                        ki__wire_item *ret_item, ki_error *error);
int ki__list_proto_finish(ki__list_decoder *decoder, ki_error *error);

/** Stores a string; rejects NUL bytes and strings over the maximum. */
int ki__list_set_text(ki__list_decoder *decoder, ki__list_text which, ki_str text, ki_error *error);

static inline const char *ki__list_get_text(const ki__list_decoder *decoder, ki__list_text which)
{
    return ki_buf_text(&decoder->text[which]);
}

/** Checks kind and apiVersion once they are known: rejects a Table and an unexpected list, and
 *  derives the kind of the items. */
int ki__list_identify(ki__list_decoder *decoder, ki_error *error);

bool ki__list_is_status(const ki__list_decoder *decoder);

/** Whether the kind ends in "List". */
bool ki__list_kind_is_list(const ki__list_decoder *decoder);

/** Returns the error for a body that is not a list. */
int ki__list_refuse(const ki__list_decoder *decoder, ki_error *error);

/** An item ends in this chunk: 1 with *ret_item, or an error code. */
int ki__list_item(ki__list_decoder *decoder, const ki__piece *piece, uint64_t start, uint64_t end,
                  ki__wire_item *ret_item, ki_error *error);

/** Decodes a Status into `error`; always returns less than 0. */
int ki__list_take_status(ki__list_decoder *decoder, ki_str bytes, ki_error *error);

#endif
