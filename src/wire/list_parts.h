/* SPDX-License-Identifier: Apache-2.0 */
/* Internal interface between the parts of the list decoder. */
#ifndef KI_WIRE_LIST_PARTS_H
#define KI_WIRE_LIST_PARTS_H

#include "wire/list_decoder.h"

/* Far more than anyone needs; only memory must not be without a bound. */
enum { KI__LIST_TEXT_BYTES_MAX = 1024, KI__LIST_METADATA_BYTES_MAX = 1 << 20 };

/** The parts for each encoding. As the functions of list_decoder.h, but `error` is never NULL. */
void ki__list_json_init(ki__list_decoder *decoder);
int ki__list_json_feed(ki__list_decoder *decoder, const char *bytes, size_t len, size_t *ret_taken,
                       ki__wire_item *ret_item, ki_error *error);
int ki__list_json_finish(ki__list_decoder *decoder, ki_error *error);
void ki__list_proto_init(ki__list_decoder *decoder);
int ki__list_proto_feed(ki__list_decoder *decoder, const char *bytes, size_t len, size_t *ret_taken,
                        ki__wire_item *ret_item, ki_error *error);
int ki__list_proto_finish(ki__list_decoder *decoder, ki_error *error);

/** Keeps a text, which must not have a NUL and has a maximum. */
int ki__list_set_text(ki__list_decoder *decoder, ki__list_text which, ki_str text, ki_error *error);

static inline const char *ki__list_get_text(const ki__list_decoder *decoder, ki__list_text which)
{
    return ki_buf_text(&decoder->text[which]);
}

/** Looks at kind and apiVersion once they are known: refuses a Table and a list that is not what is
 *  expected, and finds the kind of items. */
int ki__list_identify(ki__list_decoder *decoder, ki_error *error);

bool ki__list_is_status(const ki__list_decoder *decoder);

/** Whether the kind says that it is a list. */
bool ki__list_says_list(const ki__list_decoder *decoder);

/** Fails for a body that is not a list. */
int ki__list_refuse(const ki__list_decoder *decoder, ki_error *error);

/** An item ends in this piece: 1 with *ret_item, or the code. */
int ki__list_item(ki__list_decoder *decoder, const ki__piece *piece, uint64_t start, uint64_t end,
                  ki__wire_item *ret_item, ki_error *error);

/** The bytes of a Status: always less than 0, with the error that it is. */
int ki__list_take_status(ki__list_decoder *decoder, ki_str bytes, ki_error *error);

#endif
