/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP source from inside: the source, its calls, and the parts that share them.
 *
 *   http_source.c         the table of a source: making it, beginning and ending calls
 *   query.c               what stands in a request (http.h)
 *   response_head.c       what stands in the head of an answer, and in one that failed (the same)
 *   not_found.c           why a resource is not there
 *   http_source_answer.c  what becomes of an answer, and when a request is made once more */
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
    ki_source_http_options options; /* its pointers are not valid any more */
    ki_buf path;
    ki_buf url;             /* with the server, for logs */
    size_t calls;           /* that are open */
    bool served;            /* the resource was, once */
    ki_error missing;       /* what its last 404 was found to mean; code 0: not known */
    uint64_t missing_until; /* that counts */
} ki__http_source;

/* What the body of an answer is. */
typedef enum ki__http_body {
    KI__HTTP_NOTHING, /* there is no answer yet, or nobody wants it */
    KI__HTTP_LIST,
    KI__HTTP_EVENTS,
    KI__HTTP_FAILURE, /* of an answer that is not 2xx */
    KI__HTTP_GROUP,   /* the document of the resource's group, after a 404 */
} ki__http_body;

typedef struct ki__http_call {
    ki__http_source *source;
    ki_source_sink sink;
    bool watch;
    bool later_page;
    bool paused;
    bool busy;   /* inside a callback of the transport: freed when it returns */
    bool closed; /* ended or cancelled: nobody is told anything any more */
    ki_buf query;
    void *exchange; /* of the transport; NULL while it waits to be made once more */
    ki__timer again;
    ki__retry retry;
    ki__http_head head;
    ki__http_body body;
    union { /* by `body` */
        ki__list_decoder list;
        ki__watch_decoder events;
        ki_buf failure; /* of the last two */
    };
    ki_error not_found; /* the 404, while the group is asked for */
    ki_object *not_found_status;
} ki__http_call;

/* ---- http_source.c ---- */

/** Makes the request, for the first time or once more. */
int ki__http_send(ki__http_call *call, ki_error *error);
/** Forgets what there is of an answer. */
void ki__http_drop_body(ki__http_call *call);
/** Tells the end, and closes the call. */
void ki__http_end(ki__http_call *call, const ki_list_meta *meta, const ki_error *error,
                  const ki_object *status);

/** Last in every callback of the transport or timer, which begin with setting `busy`. */
void ki__http_leave(ki__http_call *call);

/* ---- not_found.c ---- */

/** Ends a call that got a 404: later, if the server is asked for the reason first. */
void ki__http_end_not_found(ki__http_call *call, const ki_error *error, const ki_object *status);
/** The document of the group is complete, or `error` says why not. */
void ki__http_group_ended(ki__http_call *call, const ki_error *error);

/* ---- http_source_answer.c ---- */

extern const ki_response_sink ki__http_response_sink; /* without its user */
void ki__http_on_again(ki__timer *timer);

#endif
