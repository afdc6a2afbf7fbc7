/* SPDX-License-Identifier: Apache-2.0 */
/* Internal interface between the parts of the watch decoder. */
#ifndef KI_WIRE_WATCH_PARTS_H
#define KI_WIRE_WATCH_PARTS_H

#include "wire/gather.h"
#include "wire/watch_decoder.h"

/* The members of an event: bits in `seen`. */
typedef enum ki__watch_member {
    KI__WATCH_NONE, /* JSON: expects a name */
    KI__WATCH_TYPE,
    KI__WATCH_OBJECT,
    KI__WATCH_RAW, /* protobuf: the bytes of the object */
    KI__WATCH_OTHER,
} ki__watch_member;

/** The parts for each encoding. As in watch_decoder.h, but `error` is never NULL. */
void ki__watch_json_init(ki__watch_decoder *decoder);
int ki__watch_json_feed(ki__watch_decoder *decoder, const char *bytes, size_t len,
                        size_t *ret_taken, ki__watch_event *ret_event, ki_error *error);
int ki__watch_json_finish(ki__watch_decoder *decoder, ki_error *error);
int ki__watch_proto_feed(ki__watch_decoder *decoder, const char *bytes, size_t len,
                         size_t *ret_taken, ki__watch_event *ret_event, ki_error *error);
int ki__watch_proto_finish(ki__watch_decoder *decoder, ki_error *error);

/** An event begins. */
void ki__watch_begin(ki__watch_decoder *decoder);

/** A member of the event begins; a duplicate invalidates the event. */
void ki__watch_see(ki__watch_decoder *decoder, ki__watch_member member);

/** Marks the current event as invalid, so that it is skipped. The first reason is kept. */
void ki__watch_fail(ki__watch_decoder *decoder, const ki_error *why);

/** The object ends in this chunk. 0 or -ENOMEM. */
int ki__watch_take_object(ki__watch_decoder *decoder, const ki__piece *piece, uint64_t start,
                          uint64_t end, ki_error *error);

/** The event is complete: 1 with *ret_event, or an error code. */
int ki__watch_end(ki__watch_decoder *decoder, ki__watch_event *ret_event, ki_error *error);

/** Returns the error for an event over the limit; its object may be incomplete. */
int ki__watch_fail_size(ki__watch_decoder *decoder, ki_error *error);

#endif
