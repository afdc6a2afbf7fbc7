/* SPDX-License-Identifier: Apache-2.0 */
/* Time and randomness as tables, so that a program or a simulator can give its own. */
#ifndef KINFORMER_CLOCK_H
#define KINFORMER_CLOCK_H

#include <kinformer/defs.h>

KI_BEGIN_DECLS

typedef struct ki_clock {
    /** Nanoseconds that never go back; what they count from does not matter, but to the functions
     * that wait with a timeout: they need CLOCK_MONOTONIC. */
    uint64_t (*monotonic_ns)(void *user);
    /** Nanoseconds since 1970-01-01 00:00 UTC; may jump. */
    int64_t (*realtime_ns)(void *user);
    void *user;
} ki_clock;

typedef struct ki_random {
    /** Fills `len` bytes nobody can guess. 0, or less than 0 if it cannot. */
    int (*fill)(void *bytes, size_t len, void *user);
    void *user;
} ki_random;

KI_END_DECLS

#endif
