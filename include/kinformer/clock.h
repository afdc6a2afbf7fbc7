/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks and random sources as tables of functions, so that a program or a simulator can provide
 * its own. */
#ifndef KINFORMER_CLOCK_H
#define KINFORMER_CLOCK_H

#include <kinformer/defs.h>

KI_BEGIN_DECLS

typedef struct ki_clock {
    size_t size; /* see KI_OPTIONS_INIT */
    /** Nanoseconds that never decrease, from any starting point. Functions that wait with a timeout
     *  require CLOCK_MONOTONIC. */
    uint64_t (*monotonic_ns)(void *user);
    /** Nanoseconds since 1970-01-01 00:00 UTC; may jump. */
    int64_t (*realtime_ns)(void *user);
    void *user;
} ki_clock;

typedef struct ki_random {
    size_t size; /* see KI_OPTIONS_INIT */
    /** Fills `len` bytes with unpredictable data. Returns 0, or a negative value on failure. */
    int (*fill)(void *bytes, size_t len, void *user);
    void *user;
} ki_random;

/** Returns the clock of the system: the default where a clock is an option.
 *  Owner: static.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const ki_clock *ki_clock_system(void);
/** Returns the random source of the system: the default where one is an option.
 *  Owner: static.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const ki_random *ki_random_system(void);

/** Returns the current time of a clock in nanoseconds since 1970; NULL: that of the system. For
 *  times in objects, see ki_json_time() and ki_time_text().
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API int64_t ki_clock_now_ns(const ki_clock *clock);

KI_END_DECLS

#endif
