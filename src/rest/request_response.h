/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes the response to a client's request incrementally into a ki_response: an object, a list,
 * bytes, or an error. One reader per attempt. */
#ifndef KI_REST_REQUEST_RESPONSE_H
#define KI_REST_REQUEST_RESPONSE_H

#include "rest/http.h"
#include "rest/request_build.h"
#include "wire/list_collector.h"
#include "wire/list_decoder.h"

typedef enum ki__reader_state {
    KI__READER_NOTHING, /* no head yet */
    KI__READER_BYTES,   /* buffered until complete */
    KI__READER_LIST,
    KI__READER_FAILURE /* of a response outside 2xx */
} ki__reader_state;

typedef struct ki__reader {
    const ki_alloc *alloc;
    const ki__built *built; /* borrowed */
    /** Called for each undecodable object of a list. */
    void (*on_unread)(const char *key, const ki_error *error, void *user);
    void *user;
    ki__reader_state state;
    ki__http_head head;
    ki_buf content_type;
    ki_buf bytes; /* of an object or a failure, or raw */
    ki__list_decoder list;
    ki__collect found;
    uint64_t unread;
} ki__reader;

/** `on_unread` may be NULL. Release with ki__reader_done(). */
void ki__reader_init(ki__reader *reader, const ki_alloc *alloc, const ki__built *built,
                     void (*on_unread)(const char *key, const ki_error *error, void *user),
                     void *user);
void ki__reader_done(ki__reader *reader);

/** Status and headers. Errors: KI_ERR_UNSUPPORTED, -ENOMEM; the rest is not needed then. */
int ki__reader_head(ki__reader *reader, int status, const ki_http_header *headers,
                    size_t header_count, ki_error *error);

/** A piece of the body. 1: the rest is not needed.
 *  Errors: KI_ERR_LIMIT, -ENOMEM, those of a list. */
int ki__reader_body(ki__reader *reader, ki_str bytes, ki_error *error);

/** The response is complete, or sufficiently so. *ret_response is set, on failure too.
 *  Errors: KI_ERR_STATUS  the server rejected the request;  KI_ERR_TRUNCATED etc.  undecodable;
 *  -ENOMEM. */
int ki__reader_finish(ki__reader *reader, ki_response *ret_response, ki_error *error);

#endif
