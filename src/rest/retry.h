/* SPDX-License-Identifier: Apache-2.0 */
/* The retry policy, shared by the source of informers and the requests of a client. As in
 * client-go: up to ten retries, for 429 and 5xx with Retry-After, regardless of the verb, since a
 * request rejected in this way was not executed; and for connections that broke before a response,
 * if the request is idempotent. The delay is the one requested by the server, at least a second,
 * plus up to a quarter of jitter; see base/backoff.h.
 *
 * Once a successful response has begun, its failure is reported to the caller: delivered objects
 * cannot be taken back. */
#ifndef KI_REST_RETRY_H
#define KI_REST_RETRY_H

#include "base/engine.h"
#include "rest/http.h"

/* Kind of request with regard to retries. */
typedef enum ki__retry_kind {
    KI__RETRY_NEVER, /* a single attempt */
    KI__RETRY_WRITE, /* after a broken connection it is unknown whether it was executed */
    KI__RETRY_READ,
    KI__RETRY_WATCH, /* a reset is left to the caller, which resumes from the last version */
} ki__retry_kind;

typedef struct ki__retry {
    ki__retry_kind kind;
    uint32_t longest_s; /* no retry if the server requests a longer wait; 0: no limit */
    uint64_t deadline;  /* monotonic: no attempt starts later; UINT64_MAX: none */
    uint32_t count;     /* retries so far; initially 0 */
    int status;         /* of the attempt before the last retry; 0: no response */
} ki__retry;

/** Whether to retry after a response with this head, and the delay; counts the retry. Inside
 *  ki_engine_run() only. */
bool ki__retry_response(ki__retry *retry, ki_engine *engine, const ki__http_head *head,
                        uint64_t *ret_delay_ns);

/** The same after the transport failed with `code` before a response. */
bool ki__retry_failure(ki__retry *retry, ki_engine *engine, int code, uint64_t *ret_delay_ns);

/** `retry_of` of the next attempt. */
static inline int ki__retry_of(const ki__retry *retry)
{
    return retry->count == 0 ? 0 : retry->status > 0 ? retry->status : -1;
}

#endif
