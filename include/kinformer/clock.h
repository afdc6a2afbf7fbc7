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

KI_END_DECLS

#endif
