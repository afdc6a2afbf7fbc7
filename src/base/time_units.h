/* SPDX-License-Identifier: Apache-2.0 */
/* Times and durations are nanoseconds everywhere inside the library; names that end in _ms or _s
 * are converted at its edges. */
#ifndef KI_BASE_TIME_UNITS_H
#define KI_BASE_TIME_UNITS_H

#include <stdint.h>

#define KI__MS_NS UINT64_C(1000000)
#define KI__SECOND_NS UINT64_C(1000000000)

/** More than the type can hold is the most that it can. */
static inline uint64_t ki__ms_to_ns(uint64_t ms)
{
    return ms < UINT64_MAX / KI__MS_NS ? ms * KI__MS_NS : UINT64_MAX;
}

/** Rounded up: whoever waits that long does not come too early. */
static inline uint64_t ki__ns_to_ms(uint64_t ns)
{
    return ns / KI__MS_NS + (ns % KI__MS_NS != 0);
}

static inline uint32_t ki__seconds_to_ms(uint64_t seconds)
{
    return seconds < UINT32_MAX / 1000 ? (uint32_t)seconds * 1000 : UINT32_MAX;
}

/** Rounded up, for protocols that count in seconds. */
static inline uint32_t ki__ms_to_seconds(uint32_t ms)
{
    return ms / 1000 + (ms % 1000 != 0);
}

#endif
