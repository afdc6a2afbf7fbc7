/* SPDX-License-Identifier: Apache-2.0 */
/* A call: one request of a program from its first attempt to its outcome. It sends the request,
 * reads the response, retries by rest/retry.h, and gives up at its deadline. Each attempt waits for
 * the throttle as the first did. It needs an engine and a transport, and knows neither loops nor
 * threads: references, cancelling from other threads and waiting are the client's
 * (client/request.h).
 *
 * Inside ki_engine_run() only, but for making it. */
#ifndef KI_REST_REQUEST_CALL_H
#define KI_REST_REQUEST_CALL_H

#include "base/engine.h"
#include "rest/request_answer.h"
#include "rest/request_build.h"
#include "rest/retry.h"

typedef enum ki__request_state {
    KI__REQUEST_NEW,     /* not begun */
    KI__REQUEST_SENT,    /* an attempt is under way, and has a reader */
    KI__REQUEST_WAITING, /* for the next attempt */
    KI__REQUEST_CLOSED,  /* final: nothing is called any more */
} ki__request_state;

typedef struct ki__request_call {
    ki_engine *engine; /* borrowed */
    ki__built built;
    /** The outcome, once, after the call was closed: it may be freed in here. The answer is the
     *  callee's to release; `error` is NULL on success. */
    void (*ended)(struct ki__request_call *call, ki_response *answer, const ki_error *error);
    ki__request_state state;
    ki_transport transport; /* borrowed */
    void *exchange;         /* of the transport; NULL: none is under way */
    ki__reader reader;
    ki__retry retry; /* with the deadline */
    ki__timer again;
    ki__timer end_of_time;
    int last_status; /* of the last response; 0: none came */
} ki__request_call;

/** Takes a request; its deadline counts from now on. `name_space` and `timeout_ms` are for requests
 *  that name none. `engine` must live until ki__request_call_done(), which ends it, also after a
 * failure. Any thread. Errors: those of ki__built_make(). */
int ki__request_call_init(ki__request_call *call, ki_engine *engine, const ki_request *request,
                          const char *name_space, uint32_t timeout_ms,
                          void (*ended)(ki__request_call *call, ki_response *answer,
                                        const ki_error *error),
                          ki_error *error);

/** It must be new or closed. Any thread. */
void ki__request_call_done(ki__request_call *call);

/** Sends the first attempt. The transport must live until the call is closed. If it refuses at
 *  once, ended() is called from inside this. */
void ki__request_call_begin(ki__request_call *call, const ki_transport *transport);

/** Ends it without calling ended(). Not inside ended(); fine for one that is closed. */
void ki__request_call_close(ki__request_call *call);

/** Ends it with this error; it must not be closed. */
void ki__request_call_fail(ki__request_call *call, const ki_error *error);

#endif
