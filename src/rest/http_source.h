/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of the HTTP source:
 *
 *   http_source.c         the ki_source table; starts and ends calls
 *   http_source_response.c  decodes responses, reports or retries failures
 *   not_found.c           explains a 404 */
#ifndef KI_REST_HTTP_SOURCE_H
#define KI_REST_HTTP_SOURCE_H

#include "base/engine.h"
#include "rest/http.h"
#include "rest/retry.h"
#include "wire/list_decoder.h"
#include "wire/watch_decoder.h"

typedef struct ki__http_source {
    ki_engine *engine;
    const ki_alloc *alloc;
    ki_transport transport;
    const ki_resource *resource;
    ki_source_http_options options; /* its pointers are no longer valid */
    ki_buf path;
    ki_buf url;             /* with the server, for logs */
    size_t calls;           /* number of open calls */
    bool served;            /* a request for the resource has succeeded */
    ki_error missing;       /* the explanation of its last 404; code 0: unknown */
    uint64_t missing_until; /* when that expires */
} ki__http_source;

/* Content of a response body. */
typedef enum ki__http_body {
    KI__HTTP_NOTHING, /* no response yet, or ignored */
    KI__HTTP_LIST,
    KI__HTTP_EVENTS,
    KI__HTTP_FAILURE, /* of a response outside 2xx */
    KI__HTTP_GROUP,   /* the APIGroup document of the resource, after a 404 */
} ki__http_body;

typedef struct ki__http_call {
    ki__http_source *source;
    ki_source_sink sink;
    bool watch;
    bool later_page;
    bool paused;
    bool busy;                       /* inside a callback of the transport: freed when it returns */
    bool closed;                     /* ended or cancelled: no further calls of the sink */
    const ki_projection *projection; /* a reference, or NULL */
    ki_buf query;
    void *exchange; /* of the transport; NULL while waiting for a retry */
    ki__timer again;
    ki__retry retry;
    ki__http_head head;
    ki__http_body body;
    union { /* selected by `body` */
        ki__list_decoder list;
        ki__watch_decoder events;
        ki_buf failure; /* for the last two */
    };
    ki_error not_found; /* the 404, while the APIGroup is fetched */
    ki_object *not_found_status;
} ki__http_call;

/* ---- http_source.c ---- */

/** Sends the request, for the first time or again. */
int ki__http_send(ki__http_call *call, ki_error *error);
/** Discards a partial response. */
void ki__http_drop_body(ki__http_call *call);
/** Closes the call and calls on_end(). */
void ki__http_end(ki__http_call *call, const ki_list_meta *meta, const ki_error *error,
                  const ki_object *status);

/** Must end every callback of the transport or timer; these begin with setting `busy`. */
void ki__http_leave(ki__http_call *call);

/* ---- not_found.c ---- */

/** Ends a call that got a 404; asynchronously, if the APIGroup is fetched first. */
void ki__http_end_not_found(ki__http_call *call, const ki_error *error, const ki_object *status);
/** The APIGroup is complete, or `error` has the reason. */
void ki__http_group_ended(ki__http_call *call, const ki_error *error);

/* ---- http_source_response.c ---- */

extern const ki_http_sink ki__http_response_sink; /* without its user */
void ki__http_on_again(ki__timer *timer);

#endif
