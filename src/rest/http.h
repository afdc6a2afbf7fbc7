/* SPDX-License-Identifier: Apache-2.0 */
/* What every request to an API server has in common, whether it lists and watches or is made once:
 * paths, queries, the Accept header, the head of an answer, and what stands in one that failed. */
#ifndef KI_REST_HTTP_H
#define KI_REST_HTTP_H

#include <kinformer/buf.h>
#include <kinformer/object.h>
#include <kinformer/resource.h>
#include <kinformer/source.h>
#include <kinformer/transport.h>

/* ---- query.c ---- */

/** Appends the path of a resource in a namespace ("" for all or none), of an object in it ("": of
 *  the resource itself) and of its part ("": none).
 *  Errors: KI_ERR_INVALID  one of them cannot be such a name, or the resource has no namespaces;
 *          -ENOMEM. */
int ki__http_path(const ki_resource *resource, const char *name_space, const char *name,
                  const char *subresource, ki_buf *out, ki_error *error);
/** Appends the query of a list or watch. */
int ki__http_query(const ki_list_options *options, bool watch, ki_buf *out, ki_error *error);
/** Whether these options go on with a list that was begun. */
static inline bool ki__http_is_later_page(const ki_list_options *options)
{
    return options->continue_token != NULL && options->continue_token[0] != '\0';
}
/** Appends one parameter, unless its value is "" or NULL. Does nothing if *r is a failure. */
void ki__http_add_parameter(ki_buf *out, const char *name, const char *value, int *r);
/** The value of the Accept header. */
const char *ki__http_accept(bool protobuf, bool metadata, bool watch);

/* ---- response_head.c ---- */

/** What the head of an answer says. */
typedef struct ki__http_head {
    int status; /* 0: there was none yet */
    bool has_retry_after;
    uint32_t retry_after_s;
    ki_encoding encoding; /* of the body; KI_ENCODING_MAX: none that we read */
    bool markup;          /* the body begins as HTML does; see ki__http_look() */
    bool looked;
    char location[160]; /* of a redirect, without user, query and fragment; "" if none */
} ki__http_head;

/** Reads it. Errors: KI_ERR_UNSUPPORTED  the body is in no encoding that we read; the rest is set.
 */
int ki__http_read_head(int status, const ki_http_header *headers, size_t header_count,
                       ki__http_head *ret_head, ki_error *error);

/** Looks whether a body begins as HTML does, blanks aside; its bytes in the order in which they
 *  come. */
void ki__http_look(ki__http_head *head, ki_str bytes);
/** Puts what helps in the place of a decoder's message, if the body was HTML. Keeps the code. */
void ki__http_explain(const ki__http_head *head, ki_error *error);
/** The same for a whole body. */
void ki__http_explain_body(ki_str body, ki_error *error);

bool ki__http_is_success(const ki__http_head *head);
/** Whether the server says when to ask again, and it makes sense to. */
bool ki__http_asks_again(const ki__http_head *head);

enum { KI__HTTP_FAILURE_MAX = 64 << 10 }; /* bytes of an answer that failed that are read */

/** The error for an answer that is no success, from what there is of its body, and the Status in
 *  it: NULL if there is none, else the caller's. Never fails. */
ki_object *ki__http_failure(const ki__http_head *head, ki_str body, const char *method,
                            const char *resource, const char *name, const ki_alloc *alloc,
                            ki_error *error);

#endif
