/* SPDX-License-Identifier: Apache-2.0 */
/* Delay before the next retry: exponential up to a limit, with jitter so that clients do not retry
 * in lockstep with each other. */
#ifndef KI_BASE_BACKOFF_H
#define KI_BASE_BACKOFF_H

#include "base/engine.h"
#include "base/time_units.h"

#define KI__BACKOFF_INITIAL_NS (800 * KI__MS_NS)
#define KI__BACKOFF_MAX_NS (30 * KI__SECOND_NS)
#define KI__BACKOFF_RESET_NS (120 * KI__SECOND_NS)

typedef struct ki__backoff {
    uint64_t initial_ns;
    uint64_t max_ns;
    uint64_t reset_ns; /* the sequence restarts after this time without a backoff */
    uint64_t step_ns;  /* next delay, without jitter */
    uint64_t last_ns;  /* start of the last backoff */
    bool used;
} ki__backoff;

/** Zero means the defaults: 800 ms, 30 s and 2 min. The maximum is at least the initial delay. */
void ki__backoff_init(ki__backoff *backoff, uint64_t initial_ns, uint64_t max_ns,
                      uint64_t reset_ns);

/** Delay for now: between d and 2 d, where d doubles with each call, from the initial delay up to
 *  the maximum. Inside ki_engine_run() only. */
uint64_t ki__backoff_next(ki__backoff *backoff, ki_engine *engine);

/** The attempt succeeded: the next backoff starts with the initial delay. */
void ki__backoff_reset(ki__backoff *backoff);

/** Delay for a server's Retry-After of `ms`: at least that long, plus up to a quarter as jitter so
 *  that clients with the same response do not all retry at once. `ms` is capped at one minute, so
 *  that no server can keep a cache disconnected for longer. Inside ki_engine_run() only. */
#define KI__RETRY_AFTER_MAX_MS 60000
uint64_t ki__backoff_requested(ki_engine *engine, uint32_t ms);

#endif
