/* SPDX-License-Identifier: Apache-2.0 */
/* A transport in front of another that lets only so many requests through in a second: a bucket of
 * tokens, one for each request, which fills at a steady rate. Requests that find it empty wait in
 * line. Streams need no token, and keep to no line; nor do the later pages of a list: they follow
 * one another, so that their number in a second is the server's choice, and a list that waits
 * between its pages may expire before its end.
 *
 * All of it is for inside ki_engine_run(), or while nobody runs the engine. */
#ifndef KI_REST_THROTTLE_H
#define KI_REST_THROTTLE_H

#include <kinformer/engine.h>
#include <kinformer/transport.h>

typedef struct ki__throttle ki__throttle;

/** `qps` tokens come in a second, and up to `burst` are kept. 0: 5 and 10; `qps` below 0: no limit.
 *  The inner transport must outlive it.
 *  Errors: -EINVAL  a rate that is no number, or so small that the bucket never fills;  -ENOMEM. */
int ki__throttle_new(ki_engine *engine, const ki_transport *inner, double qps, uint32_t burst,
                     ki__throttle **ret_throttle, ki_error *error);

/** Those that wait are dropped without a word to their sinks, and so are those under way, which
 *  are the inner transport's to end. Fine inside a sink; NULL is fine. */
void ki__throttle_free(ki__throttle *throttle);

/** The table, valid as long as it lives; without ref and unref. */
ki_transport ki__throttle_table(ki__throttle *throttle);

#endif
