/* SPDX-License-Identifier: Apache-2.0 */
/* rest/: the REST conventions of Kubernetes without a socket. Pure: it needs an engine for time and
 * a ki_transport for bytes.
 *
 *   a request          query.c (path, query, Accept), request_build.c, request_body.c
 *   a response         response_head.c (status, headers, failures), request_response.c, not_found.c
 *   retries            retry.c; delays are computed by base/backoff.c
 *   rate limit         throttle.c
 *   one request        request_call.c: attempts, retries and deadline of a client's request
 *   the source         http_source.c, http_source_response.c: lists and watches for informers
 *   pages              pager.c: ki_pager; the rules of pages are in wire/paging.c
 *
 * Shared by the source and a client's requests: the parts of a request, the head of a response, and
 * errors of failed responses. */
#ifndef KI_REST_HTTP_H
#define KI_REST_HTTP_H

#include <kinformer/buf.h>
#include <kinformer/encoding.h>
#include <kinformer/object.h>
#include <kinformer/parts/source.h>
#include <kinformer/parts/transport.h>
#include <kinformer/resource.h>

/* ---- query.c ---- */

/** Appends the path of a resource in a namespace ("": all, or cluster-scoped), of an object ("":
 *  the collection) and of its subresource ("": none).
 *  Errors: KI_ERR_INVALID  an invalid name, or a namespace for a cluster-scoped resource;
 *  -ENOMEM. */
int ki__http_path(const ki_resource *resource, const char *name_space, const char *name,
                  const char *subresource, ki_buf *out, ki_error *error);
/** Appends the query of a list or watch. */
int ki__http_query(const ki_list_options *options, bool watch, ki_buf *out, ki_error *error);
/** Whether these options request a page after the first. */
static inline bool ki__http_is_later_page(const ki_list_options *options)
{
    return options->continue_token != NULL && options->continue_token[0] != '\0';
}
/** Appends one parameter, unless its value is "" or NULL. No effect if *r is an error. */
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

/** Parses them. Errors: KI_ERR_UNSUPPORTED  encoding of the body; the other members are set. */
int ki__http_read_head(int status, const ki_http_header *headers, size_t header_count,
                       ki__http_head *ret_head, ki_error *error);

/** Records whether a body begins like HTML, after white space; call it with the bytes in order. */
void ki__http_look(ki__http_head *head, ki_str bytes);
/** Adds to a decoder's message what could not be decoded; reports HTML as such instead. Keeps the
 *  code. */
void ki__http_explain(const ki__http_head *head, ki_error *error);
/** The same for a whole body. */
void ki__http_explain_body(ki_str body, ki_error *error);

bool ki__http_is_success(const ki__http_head *head);

enum { KI__HTTP_FAILURE_MAX = 64 << 10 }; /* maximum size read of a failed response's body */

/** Sets the error of a failed response, whose `body` may be truncated. Returns its Status, owned by
 *  the caller, or NULL if there is none. Never fails. */
ki_object *ki__http_failure(const ki__http_head *head, ki_str body, const char *method,
                            const char *resource, const char *name, const ki_alloc *alloc,
                            ki_error *error);

#endif
