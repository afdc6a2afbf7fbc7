/* SPDX-License-Identifier: Apache-2.0 */
/* Incremental decoder of WATCH responses: chunks of any size in, events out, each as soon as its
 * last byte has arrived. JSON is a sequence of maps; in protobuf each event has a 4-byte length
 * prefix.
 *
 * An undecodable event is skipped and the rest continues, as long as the start of the next one is
 * certain. An event over the limit ends the watch: skipping it could silently skip the rest of the
 * stream. */
#ifndef KI_WIRE_WATCH_DECODER_H
#define KI_WIRE_WATCH_DECODER_H

#include <kinformer/parts/watch_event.h>

#include "object/json/json_stream.h"
#include "wire/intake.h"
#include "wire/proto_stream.h"

/** An event. Its object, by type:
 *   KI_WATCH_EVENT_ADDED, _MODIFIED, _DELETED  set, with a key, unless the event was skipped;
 *   KI_WATCH_EVENT_BOOKMARK  set, with a resourceVersion, unless the event was skipped;
 *   KI_WATCH_EVENT_ERROR  the Status, or NULL if undecodable. The error is always filled, and the
 *                         event is never skipped.
 *  A skipped event has the type KI_WATCH_EVENT_MAX if its own could not be decoded. */
typedef struct ki__watch_event {
    ki_watch_event_type type;
    ki__wire_item item;
} ki__watch_event;

/** Members are private. */
typedef struct ki__watch_decoder {
    ki__intake intake;
    ki__json_stream json;
    ki__proto_stream proto;
    uint64_t event_start;     /* JSON: offset of the current event */
    uint64_t frame_left;      /* protobuf: remaining bytes of the current event */
    ki_error failure;         /* sticky error of the watch */
    ki_error why;             /* if it has a code, the current event is skipped */
    ki_object *object;        /* of the current event */
    ki_watch_event_type type; /* of the current event */
    uint32_t seen;            /* bit set of its members */
    uint8_t member;           /* JSON: the current one */
    uint8_t header;           /* protobuf: number of length bytes read */
    bool inside;              /* an event has begun */
    bool noted;               /* identity of its undecodable object was recorded */
} ki__watch_decoder;

void ki__watch_decoder_init(ki__watch_decoder *decoder, const ki__wire_options *options);
void ki__watch_decoder_done(ki__watch_decoder *decoder);

/** Consumes bytes up to the end of the next event: 1 with *ret_event, 0 if all were consumed
 *  without one. Call it with the remaining bytes until it returns 0. *ret_taken is the number of
 *  bytes consumed, also on failure. Errors are sticky: later calls return the same error.
 *  Errors: KI_ERR_SYNTAX       the stream cannot be decoded any further;
 *          KI_ERR_INVALID      not events;
 *          KI_ERR_LIMIT        an event of more than max_bytes;
 *          KI_ERR_UNSUPPORTED  Tables instead of objects;
 *          -ENOMEM. */
int ki__watch_decoder_feed(ki__watch_decoder *decoder, const char *bytes, size_t len,
                           size_t *ret_taken, ki__watch_event *ret_event, ki_error *error);

/** Signals the end of the body. 0 if it ended between two events.
 *  Errors: KI_ERR_TRUNCATED  truncated within an event, which is lost;  otherwise as
 *          ki__watch_decoder_feed(). */
int ki__watch_decoder_finish(ki__watch_decoder *decoder, ki_error *error);

#endif
