/* SPDX-License-Identifier: Apache-2.0 */
/* Lock-free histograms of durations with fixed bounds. The cells of a histogram with `count`
 * bounds: a counter for each bound, one for longer durations, and the sum in nanoseconds. */
#ifndef KI_BASE_HISTOGRAM_H
#define KI_BASE_HISTOGRAM_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define KI__HISTOGRAM_CELLS(count) ((count) + 2)

/** Counts a duration. The bounds are nanoseconds in ascending order. Any thread. */
static inline void ki__histogram_observe(_Atomic uint64_t *cells, const uint64_t *bounds_ns,
                                         size_t count, uint64_t ns)
{
    size_t i = 0;
    while (i < count && ns > bounds_ns[i]) {
        i++;
    }
    atomic_fetch_add_explicit(&cells[i], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&cells[count + 1], ns, memory_order_relaxed);
}

static inline void ki__counter_add(_Atomic uint64_t *counter, uint64_t more)
{
    atomic_fetch_add_explicit(counter, more, memory_order_relaxed);
}

static inline uint64_t ki__counter_read(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

#endif
