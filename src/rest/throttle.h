/* SPDX-License-Identifier: Apache-2.0 */
/* The client-side rate limit: a bucket of tokens, one for each request, which fills at a steady
 * rate. A transport enters each request before it begins it; one that finds the bucket empty waits
 * in line. That is all: the throttle delays the start of a request and knows neither its sink nor
 * its response, so it is not on the path of a body.
 *
 * Streams need no token, and do not wait; nor do the later pages of a list: they follow one
 * another, so that their rate is the server's choice, and a list that waits between its pages may
 * expire before its end.
 *
 * All of it is for inside ki_engine_run(), or while nobody runs the engine. */
#ifndef KI_REST_THROTTLE_H
#define KI_REST_THROTTLE_H

#include <kinformer/parts/engine.h>
#include <kinformer/parts/transport.h>

#include "base/list.h"

typedef struct ki__throttle ki__throttle;

/* A request that may have to wait; part of the transport's own. Zeroed before its first use. */
typedef struct ki__throttle_waiter {
    ki__throttle *throttle; /* NULL: it does not wait */
    ki__list link;          /* in line */
    uint64_t since;
    ki_str method; /* for the log; must live while it waits */
    ki_str path;
    /** The wait is over: begin the request. May enter and leave others, but must not free the
     *  throttle. */
    void (*go)(struct ki__throttle_waiter *waiter);
} ki__throttle_waiter;

/** `qps` tokens come in a second, and up to `burst` are kept. 0: 5 and 10; `qps` below 0: no limit.
 *  Errors: -EINVAL  a rate that is no number, or so small that the bucket never fills;  -ENOMEM. */
int ki__throttle_new(ki_engine *engine, double qps, uint32_t burst, ki__throttle **ret_throttle,
                     ki_error *error);

/** Waiters leave the line and are not called any more: they are the transport's to end. NULL
 *  is allowed. */
void ki__throttle_free(ki__throttle *throttle);

/** 0: begin the request now. 1: it waits for go(), or for ki__throttle_leave().
 *  Errors: KI_ERR_LIMIT  too many wait already. */
int ki__throttle_enter(ki__throttle *throttle, const ki_http_request *request,
                       ki__throttle_waiter *waiter, ki_error *error);

/** Takes it out of the line, if it is in one. */
void ki__throttle_leave(ki__throttle_waiter *waiter);

static inline bool ki__throttle_is_waiting(const ki__throttle_waiter *waiter)
{
    return waiter->throttle != NULL;
}

#endif
