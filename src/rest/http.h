/* SPDX-License-Identifier: Apache-2.0 */
/* rest/: the REST conventions of Kubernetes without a socket. Pure: it needs an engine for time and
 * a ki_transport for bytes.
 *
 *   a request          query.c (path, query, Accept), request_build.c, request_body.c
 *   a response         response_head.c (status, headers, failures), request_answer.c, not_found.c
 *   when to try again  retry.c; how long to wait is base/backoff.c
 *   rate limit         throttle.c
 *   one request        request_call.c: attempts, retries and deadline of a client's request
 *   the source         http_source.c, http_source_answer.c: lists and watches for informers
 *   pages              pager.c: ki_pager; the rules of pages are in wire/paging.c
 *
 * This header has what the source and a client's requests share: the parts of a request, the head
 * of a response, and errors made of failed responses. */
#ifndef KI_REST_HTTP_H
#define KI_REST_HTTP_H

#include <kinformer/buf.h>
#include <kinformer/object.h>
#include <kinformer/parts/source.h>
#include <kinformer/parts/transport.h>
#include <kinformer/resource.h>

/* ---- query.c ---- */

/** Appends the path of a resource in a namespace ("": all, or cluster-scoped), of an object ("":
 * the collection) and of its subresource ("": none). Errors: KI_ERR_INVALID  an invalid name, or a
 * namespace for a cluster-scoped resource; -ENOMEM. */
int ki__http_path(const ki_resource *resource, const char *name_space, const char *name,
                  const char *subresource, ki_buf *out, ki_error *error);
/** Appends the query of a list or watch. */
int ki__http_query(const ki_list_options *options, bool watch, ki_buf *out, ki_error *error);
/** Whether these options request a page that is not the first of a list. */
static inline bool ki__http_is_later_page(const ki_list_options *options)
{
    return options->continue_token != NULL && options->continue_token[0] != '\0';
}
/** Appends one parameter, unless its value is "" or NULL. Does nothing if *r is a failure. */
void ki__http_add_parameter(ki_buf *out, const char *name, const char *value, int *r);
/** The value of the Accept header. */
const char *ki__http_accept(bool protobuf, bool metadata, bool watch);

/* ---- response_head.c ---- */

/** Status and headers of a response. */
typedef struct ki__http_head {
    int status; /* 0: no response yet */
    bool has_retry_after;
    uint32_t retry_after_s;
    ki_encoding encoding; /* of the body; KI_ENCODING_MAX: unsupported */
    bool markup;          /* the body begins like HTML; see ki__http_look() */
    bool looked;
    char location[160]; /* of a redirect, without user, query and fragment; "" if none */
} ki__http_head;

/** Reads it. Errors: KI_ERR_UNSUPPORTED  encoding of the body; the other members are set. */
int ki__http_read_head(int status, const ki_http_header *headers, size_t header_count,
                       ki__http_head *ret_head, ki_error *error);

/** Notes whether a body begins like HTML, after white space; call it with the bytes in order. */
void ki__http_look(ki__http_head *head, ki_str bytes);
/** Says in a decoder's message what could not be decoded; if the body was HTML, names that instead.
 *  Keeps the code. */
void ki__http_explain(const ki__http_head *head, ki_error *error);
/** The same for a whole body. */
void ki__http_explain_body(ki_str body, ki_error *error);

bool ki__http_is_success(const ki__http_head *head);

enum { KI__HTTP_FAILURE_MAX = 64 << 10 }; /* bytes of a failed response that are read */

/** Makes the error of a failed response, of which `body` may be the beginning only. Returns the
 *  Status in it: the caller's, or NULL if there is none. Never fails. */
ki_object *ki__http_failure(const ki__http_head *head, ki_str body, const char *method,
                            const char *resource, const char *name, const ki_alloc *alloc,
                            ki_error *error);

#endif
