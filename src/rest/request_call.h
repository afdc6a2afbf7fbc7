/* SPDX-License-Identifier: Apache-2.0 */
/* A call: one request of a program from its first attempt to its result. It sends the request,
 * decodes the response, retries by rest/retry.h, and gives up at its deadline. Each attempt is
 * subject to the rate limit. It needs an engine and a transport, and is independent of loops and
 * threads: references, cancelling from other threads and waiting belong to the client
 * (client/request.h).
 *
 * Inside ki_engine_run() only, except for creation. */
#ifndef KI_REST_REQUEST_CALL_H
#define KI_REST_REQUEST_CALL_H

#include "base/engine.h"
#include "rest/request_build.h"
#include "rest/request_response.h"
#include "rest/retry.h"

typedef enum ki__request_state {
    KI__REQUEST_NEW,     /* not started */
    KI__REQUEST_SENT,    /* an attempt is in progress, and has a reader */
    KI__REQUEST_WAITING, /* for the next attempt */
    KI__REQUEST_CLOSED,  /* final: no further callbacks */
} ki__request_state;

typedef struct ki__request_call {
    ki_engine *engine; /* borrowed */
    ki__built built;
    /** Receives the result, once, after the call was closed: the call may be freed inside. The
     *  callee releases the response; `error` is NULL on success. */
    void (*ended)(struct ki__request_call *call, ki_response *response, const ki_error *error);
    /** May refuse each attempt when it is about to be sent; NULL: none. */
    int (*may_send)(struct ki__request_call *call, ki_error *error);
    ki__request_state state;
    ki_transport transport; /* borrowed */
    void *exchange;         /* of the transport; NULL: none in progress */
    ki__reader reader;
    ki__retry retry; /* includes the deadline */
    ki__timer again;
    ki__timer end_of_time;
    int last_status; /* of the last response; 0: none */
} ki__request_call;

/** Initializes a call; its deadline counts from now on. `name_space` and `timeout_ms` are defaults
 *  for the request. `engine` must live until ki__request_call_done(), which is to be called after a
 *  failure too. Any thread. Errors: those of ki__built_make(). */
int ki__request_call_init(ki__request_call *call, ki_engine *engine, const ki_request *request,
                          const char *name_space, uint32_t timeout_ms,
                          void (*ended)(ki__request_call *call, ki_response *response,
                                        const ki_error *error),
                          ki_error *error);

/** It must be new or closed. Any thread. */
void ki__request_call_done(ki__request_call *call);

/** Starts the first attempt. The transport must live until the call is closed. If it fails
 *  immediately, ended() is called synchronously. */
void ki__request_call_begin(ki__request_call *call, const ki_transport *transport);

/** Ends it without calling ended(). Not inside ended(); no effect if it is closed. */
void ki__request_call_close(ki__request_call *call);

/** Ends it with this error; it must not be closed. */
void ki__request_call_fail(ki__request_call *call, const ki_error *error);

#endif
