/* SPDX-License-Identifier: Apache-2.0 */
/* How long to wait before the next try: longer each time, up to a limit, and never exactly as long
 * as others do. */
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
    uint64_t reset_ns; /* so long without a backoff, and the next starts again */
    uint64_t step_ns;  /* of the next */
    uint64_t last_ns;  /* when the last one began */
    bool used;
} ki__backoff;

/** Zero stands for the defaults: 800 ms, 30 s and 2 min. A maximum below the initial is the
 *  initial. */
void ki__backoff_init(ki__backoff *backoff, uint64_t initial_ns, uint64_t max_ns,
                      uint64_t reset_ns);

/** The time to wait now: d to 2 d, where d is the initial time doubled with each call, up to the
 *  maximum. Inside ki_engine_run() only. */
uint64_t ki__backoff_next(ki__backoff *backoff, ki_engine *engine);

/** What was waited for has come: the next wait is the first of a row again. */
void ki__backoff_reset(ki__backoff *backoff);

/** How long to wait if a server asks for so many milliseconds: no less, and up to a quarter more,
 *  so that clients with the same response do not all retry at once; at most a minute and that
 * quarter, as nobody is to keep a cache from its server for longer. Inside ki_engine_run() only. */
#define KI__RETRY_AFTER_MAX_MS 60000
uint64_t ki__backoff_asked(ki_engine *engine, uint32_t ms);

#endif
