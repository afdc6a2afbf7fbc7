/* SPDX-License-Identifier: Apache-2.0 */
/* Finds where JSON values begin and end while their bytes arrive, in pieces of any size. It keeps
 * no bytes, only a few words of state, and gives the same events however the text was cut.
 *
 * A value that is not entered comes as one event once it is complete, so that a list of a million
 * objects can be taken apart object by object: enter the map at the top, then the list "items".
 * Where it enters, the grammar of maps and lists is checked; names and values are only delimited,
 * and must be checked (ki__json_check, ki_object_from_json) before they are read. */
#ifndef KI_OBJECT_JSON_JSON_STREAM_H
#define KI_OBJECT_JSON_JSON_STREAM_H

#include <kinformer/error.h>
#include <kinformer/str.h>

#include "object/json/json_block.h"

enum { KI__JSON_ENTER_MAX = 32 };

typedef enum ki__json_event_type {
    KI__JSON_BEGIN, /* a map or a list that is entered */
    KI__JSON_END,   /* its closing bracket */
    KI__JSON_NAME,  /* the name of a member, with its quotes */
    KI__JSON_VALUE, /* a whole value */
} ki__json_event_type;

typedef struct ki__json_event {
    ki__json_event_type type;
    char first;     /* the first byte, which tells the type of a value */
    uint32_t depth; /* maps and lists around it */
    uint64_t start; /* from the first byte ever fed */
    uint64_t end;   /* the byte after it */
} ki__json_event;

/** Its members are private. */
typedef struct ki__json_stream {
    uint64_t offset; /* bytes taken so far */
    uint64_t start;  /* of the token at hand */
    uint64_t max_bytes;
    uint32_t max_depth;
    uint32_t enter;
    uint32_t depth;       /* maps and lists entered */
    uint32_t skip_depth;  /* open ones in the value that is being passed over */
    uint64_t maps;        /* a bit for each depth entered: a map, not a list */
    ki__json_block block; /* while passing over a value */
    int code;             /* of the failure, once there was one */
    uint8_t state;
    char first; /* byte of the token at hand */
    bool is_name;
    bool escaped; /* the next byte of the string is */
} ki__json_stream;

/** `max_bytes` is for each name or value that comes as one event; `max_depth` is for all. */
void ki__json_stream_init(ki__json_stream *stream, uint64_t max_bytes, uint32_t max_depth);

/** From here on enters the maps and lists that have fewer than `depth` others around them; 0, as at
 *  the start, enters none. At most KI__JSON_ENTER_MAX. */
void ki__json_stream_enter(ki__json_stream *stream, uint32_t depth);

/** Takes bytes up to the next event: 1 with *ret_event, 0 when all were taken without one.
 *  *ret_taken is how many were taken, on failure too. A failed stream stays failed.
 *  Errors: KI_ERR_SYNTAX, KI_ERR_DEPTH, KI_ERR_LIMIT, with the offset in `error`. */
int ki__json_stream_feed(ki__json_stream *stream, const char *bytes, size_t len, size_t *ret_taken,
                         ki__json_event *ret_event, ki_error *error);

/** Whether a name or a value that will come as one event has begun and is not over; *ret_start is
 *  where. Who wants its bytes keeps those of the piece just fed. */
bool ki__json_stream_is_inside(const ki__json_stream *stream, uint64_t *ret_start);

/** Tells that no bytes will follow: 1 with an event if that ends a number, 0 otherwise.
 *  Errors: KI_ERR_SYNTAX if something is not complete. */
int ki__json_stream_finish(ki__json_stream *stream, ki__json_event *ret_event, ki_error *error);

#endif
