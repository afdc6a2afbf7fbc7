/* SPDX-License-Identifier: Apache-2.0 */
/* The answer to a request, read as it arrives: an object, a list, bytes, or why there is none.
 * Pure. One reader reads one answer; a request that is repeated has another. */
#ifndef KI_REST_REQUEST_ANSWER_H
#define KI_REST_REQUEST_ANSWER_H

#include "rest/http.h"
#include "rest/request_build.h"
#include "wire/list_collector.h"
#include "wire/list_decoder.h"

typedef enum ki__reader_state {
    KI__READER_NOTHING, /* no head yet */
    KI__READER_BYTES,   /* kept until it is whole */
    KI__READER_LIST,
    KI__READER_FAILURE /* of an answer that is not 2xx */
} ki__reader_state;

typedef struct ki__reader {
    const ki_alloc *alloc;
    const ki__built *built; /* borrowed */
    /** Hears of objects of a list that cannot be read. */
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

/** `on_unread` may be NULL. Ends with ki__reader_done(). */
void ki__reader_init(ki__reader *reader, const ki_alloc *alloc, const ki__built *built,
                     void (*on_unread)(const char *key, const ki_error *error, void *user),
                     void *user);
void ki__reader_done(ki__reader *reader);

/** The head. Errors: KI_ERR_UNSUPPORTED, -ENOMEM; then nothing more need come. */
int ki__reader_head(ki__reader *reader, int status, const ki_http_header *headers,
                    size_t header_count, ki_error *error);

/** A piece of the body. 1: there is enough of it, nothing more need come.
 *  Errors: KI_ERR_LIMIT, -ENOMEM, those of a list. */
int ki__reader_body(ki__reader *reader, ki_str bytes, ki_error *error);

/** All has come. What there is goes to *ret_answer, in case of failure too.
 *  Errors: KI_ERR_STATUS  the server refused;  KI_ERR_CUT and so on: it cannot be read;  -ENOMEM.
 */
int ki__reader_finish(ki__reader *reader, ki_client_answer *ret_answer, ki_error *error);

#endif
