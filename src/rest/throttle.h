/* SPDX-License-Identifier: Apache-2.0 */
/* The client-side rate limit: a token bucket, one token per request, filled at a steady rate. A
 * transport enters each request before it starts; if the bucket is empty, the request waits in a
 * queue. The throttle only delays the start of a request and is not involved in its response.
 *
 * Streams need no token and do not wait, nor do the later pages of a list: they are sequential, so
 * the server determines their rate, and a list that waits between pages may expire.
 *
 * Only inside ki_engine_run(), or while no thread runs the engine. */
#ifndef KI_REST_THROTTLE_H
#define KI_REST_THROTTLE_H

#include <kinformer/parts/engine.h>
#include <kinformer/parts/transport.h>

#include "base/list.h"

typedef struct ki__throttle ki__throttle;

/* A request that may have to wait; embedded in the transport's call. Zeroed before its first
 * use. */
typedef struct ki__throttle_waiter {
    ki__throttle *throttle; /* NULL: not waiting */
    ki__list link;          /* in the queue */
    uint64_t since;
    ki_str method; /* for the log; must live while it waits */
    ki_str path;
    /** The wait is over: start the request. May enter and leave others, but must not free the
     *  throttle. */
    void (*go)(struct ki__throttle_waiter *waiter);
} ki__throttle_waiter;

/** `qps` tokens per second, at most `burst` are kept. 0: 5 and 10; negative `qps`: no limit.
 *  Errors: -EINVAL  qps is NaN, or so small that the bucket never fills;  -ENOMEM. */
int ki__throttle_new(ki_engine *engine, double qps, uint32_t burst, ki__throttle **ret_throttle,
                     ki_error *error);

/** Removes all waiters without calling them: the transport ends them. NULL is allowed. */
void ki__throttle_free(ki__throttle *throttle);

/** 0: start the request now. 1: it waits for go(), or for ki__throttle_leave().
 *  Errors: KI_ERR_LIMIT  too many waiters. */
int ki__throttle_enter(ki__throttle *throttle, const ki_http_request *request,
                       ki__throttle_waiter *waiter, ki_error *error);

/** Removes it from the queue, if it waits. */
void ki__throttle_leave(ki__throttle_waiter *waiter);

/** Whether it needs no token. */
static inline bool ki__throttle_is_exempt(const ki_http_request *request)
{
    return request->stream || request->later_page;
}

static inline bool ki__throttle_is_waiting(const ki__throttle_waiter *waiter)
{
    return waiter->throttle != NULL;
}

#endif
