/* SPDX-License-Identifier: Apache-2.0 */
/* Incremental scanner that delimits JSON values, in chunks of any size. It buffers no bytes, only a
 * few words of state, and reports the same events regardless of how the text was split.
 *
 * A value that is not entered is reported as one event once complete, so that a list of a million
 * objects can be processed object by object: enter the top-level map, then the list "items". At the
 * levels entered, the grammar of maps and lists is validated; names and values are only delimited,
 * and must be validated (ki__json_check, ki_object_from_json) before they are decoded. */
#ifndef KI_OBJECT_JSON_JSON_STREAM_H
#define KI_OBJECT_JSON_JSON_STREAM_H

#include <kinformer/error.h>
#include <kinformer/str.h>

#include "object/json/json_block.h"

enum { KI__JSON_ENTER_MAX = 32 };

typedef enum ki__json_event_type {
    KI__JSON_BEGIN, /* start of an entered map or list */
    KI__JSON_END,   /* its closing bracket */
    KI__JSON_NAME,  /* a member name, with its quotes */
    KI__JSON_VALUE, /* a complete value */
} ki__json_event_type;

typedef struct ki__json_event {
    ki__json_event_type type;
    char first;     /* first byte, which determines the type of a value */
    uint32_t depth; /* number of enclosing maps and lists */
    uint64_t start; /* offset in the stream */
    uint64_t end;   /* offset after the last byte */
} ki__json_event;

/** Members are private. */
typedef struct ki__json_stream {
    uint64_t offset; /* bytes consumed so far */
    uint64_t start;  /* of the current token */
    uint64_t max_bytes;
    uint32_t max_depth;
    uint32_t enter;
    uint32_t depth;       /* entered maps and lists */
    uint32_t skip_depth;  /* open maps and lists in a skipped value */
    uint64_t maps;        /* a bit per entered depth: map, not list */
    ki__json_block block; /* while skipping a value */
    int code;             /* sticky error code */
    uint8_t state;
    char first; /* byte of the current token */
    bool is_name;
    bool escaped; /* the next byte of the string is escaped */
} ki__json_stream;

/** `max_bytes` limits each name or value reported as one event; `max_depth` is for all. */
void ki__json_stream_init(ki__json_stream *stream, uint64_t max_bytes, uint32_t max_depth);

/** Enters maps and lists with fewer than `depth` enclosing ones from now on; 0, the initial value,
 *  enters none. At most KI__JSON_ENTER_MAX. */
void ki__json_stream_enter(ki__json_stream *stream, uint32_t depth);

/** Consumes bytes up to the next event: 1 with *ret_event, 0 if all were consumed without one.
 *  *ret_taken is the number of bytes consumed, also on failure. Errors are sticky.
 *  Errors: KI_ERR_SYNTAX, KI_ERR_DEPTH, KI_ERR_LIMIT, with the offset in `error`. */
int ki__json_stream_feed(ki__json_stream *stream, const char *bytes, size_t len, size_t *ret_taken,
                         ki__json_event *ret_event, ki_error *error);

/** Whether the stream is inside a name or value that will be reported as one event, which began at
 *  *ret_start. A caller that needs its bytes must save those of the current chunk. */
bool ki__json_stream_is_inside(const ki__json_stream *stream, uint64_t *ret_start);

/** Signals the end of the input: 1 with an event if that ends a number, 0 otherwise.
 *  Errors: KI_ERR_SYNTAX if something is incomplete. */
int ki__json_stream_finish(ki__json_stream *stream, ki__json_event *ret_event, ki_error *error);

#endif
