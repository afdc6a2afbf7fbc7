/* SPDX-License-Identifier: Apache-2.0 */
/* When a failed request is sent again: one policy for the source of informers and for the requests
 * of a client. As in client-go: up to ten times, on 429 and 5xx if the server says when
 * (Retry-After), whatever the verb, since a request refused so was not carried out; and on
 * connections that broke before there was a response, if sending it twice changes nothing. The wait
 * is what the server requested, a second at least, and up to a quarter more; see base/backoff.h.
 *
 * Once a response has begun with success, its failure is the caller's to report: objects that were
 * delivered cannot be taken back. */
#ifndef KI_REST_RETRY_H
#define KI_REST_RETRY_H

#include "base/engine.h"
#include "rest/http.h"

/* What the request is, as far as it matters here. */
typedef enum ki__retry_kind {
    KI__RETRY_NEVER, /* the caller wants one attempt only */
    KI__RETRY_WRITE, /* a broken connection leaves open whether it was carried out */
    KI__RETRY_READ,
    KI__RETRY_WATCH, /* a reset is left to the caller, who resumes from the last version */
} ki__retry_kind;

typedef struct ki__retry {
    ki__retry_kind kind;
    uint32_t
        longest_s;     /* a server that asks for a longer wait gets no other attempt; 0: no limit */
    uint64_t deadline; /* monotonic: no attempt that would begin later; UINT64_MAX: none */
    uint32_t count;    /* retries so far; begins with 0 */
} ki__retry;

/** Whether to send the request again after a response with this head, and if so when; then it is
 *  counted. Inside ki_engine_run() only. */
bool ki__retry_response(ki__retry *retry, ki_engine *engine, const ki__http_head *head,
                        uint64_t *ret_delay_ns);

/** The same after the transport failed with `code`, before there was a response. */
bool ki__retry_failure(ki__retry *retry, ki_engine *engine, int code, uint64_t *ret_delay_ns);

#endif
