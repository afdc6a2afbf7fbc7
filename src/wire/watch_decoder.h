/* SPDX-License-Identifier: Apache-2.0 */
/* Incremental decoding of WATCH responses: bytes in, in pieces of any size, and events out, each as
 * soon as its last byte has arrived. JSON is a sequence of maps; protobuf has a length of four
 * bytes before each event.
 *
 * An undecodable event is skipped and the rest continues, as long as the start of the next one is
 * certain. An event over the limit ends the watch: skipping it could skip everything that follows,
 * without notice. */
#ifndef KI_WIRE_WATCH_DECODER_H
#define KI_WIRE_WATCH_DECODER_H

#include <kinformer/parts/watch_event.h>

#include "object/json/json_stream.h"
#include "wire/intake.h"
#include "wire/proto_stream.h"

/** An event. Its object is
 *    of KI_WATCH_EVENT_ADDED, _MODIFIED and _DELETED   there, with a key, or the event was
 * skipped; of KI_WATCH_EVENT_BOOKMARK   there, with a resource version, or the event was skipped;
 *    of KI_WATCH_EVENT_ERROR      the Status; NULL if there was none that could be read. The error
 * is filled in any case, and the event is never skipped. An event that was skipped has the type
 * KI_WATCH_EVENT_MAX if its own could not be read. */
typedef struct ki__watch_event {
    ki_watch_event_type type;
    ki__wire_item item;
} ki__watch_event;

/** Its members are private. */
typedef struct ki__watch_decoder {
    ki__intake intake;
    ki__json_stream json;
    ki__proto_stream proto;
    uint64_t event_start;     /* JSON: of the event at hand */
    uint64_t frame_left;      /* protobuf: bytes to come of the event at hand */
    ki_error failure;         /* of the watch, once there was one */
    ki_error why;             /* the event at hand must be skipped, if it has a code */
    ki_object *object;        /* of the event at hand */
    ki_watch_event_type type; /* of the event at hand */
    uint32_t seen;            /* its members: a bit for each */
    uint8_t member;           /* JSON: the one at hand */
    uint8_t header;           /* protobuf: bytes of the length that were read */
    bool inside;              /* an event has begun */
    bool noted;               /* whose its object is, which could not be read */
} ki__watch_decoder;

void ki__watch_decoder_init(ki__watch_decoder *decoder, const ki__wire_options *options);
void ki__watch_decoder_done(ki__watch_decoder *decoder);

/** Takes bytes up to the end of the next event: 1 with *ret_event, 0 when all were taken without
 *  one. Call it until it returns 0, with the bytes that are left. *ret_taken is how many were
 *  taken, on failure too. A decoder that failed stays failed and gives the same error again.
 *  Errors: KI_ERR_SYNTAX       the stream makes no sense from here on;
 *          KI_ERR_INVALID      something else than events;
 *          KI_ERR_LIMIT        an event of more than max_bytes;
 *          KI_ERR_UNSUPPORTED  Tables instead of objects;
 *          -ENOMEM. */
int ki__watch_decoder_feed(ki__watch_decoder *decoder, const char *bytes, size_t len,
                           size_t *ret_taken, ki__watch_event *ret_event, ki_error *error);

/** Tells that the body is over. 0 if it ended between two events.
 *  Errors: KI_ERR_CUT  within an event, which is lost;  else as ki__watch_decoder_feed(). */
int ki__watch_decoder_finish(ki__watch_decoder *decoder, ki_error *error);

#endif
