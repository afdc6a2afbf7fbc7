/* SPDX-License-Identifier: Apache-2.0 */
/* A clock that advances only when the test says so. */
#ifndef TESTS_SUPPORT_FAKE_CLOCK_H
#define TESTS_SUPPORT_FAKE_CLOCK_H

#include <stdatomic.h>

#include <kinformer/clock.h>

#define MS_NS UINT64_C(1000000)
#define S_NS UINT64_C(1000000000)

typedef struct fake_clock {
    ki_clock table; /* hand this to the code under test */
    _Atomic uint64_t now_ns;
    _Atomic uint64_t reads;
} fake_clock;

static inline uint64_t fake_clock_monotonic_ns(void *user)
{
    fake_clock *clock = user;
    atomic_fetch_add(&clock->reads, 1);
    return atomic_load(&clock->now_ns);
}

static inline int64_t fake_clock_realtime_ns(void *user)
{
    return (int64_t)fake_clock_monotonic_ns(user);
}

static inline void fake_clock_init(fake_clock *clock)
{
    clock->table = (ki_clock){0, fake_clock_monotonic_ns, fake_clock_realtime_ns, clock};
    atomic_init(&clock->now_ns, 5 * S_NS);
    atomic_init(&clock->reads, 0);
}

static inline void fake_clock_advance(fake_clock *clock, uint64_t ns)
{
    atomic_fetch_add(&clock->now_ns, ns);
}

#endif
