/* SPDX-License-Identifier: Apache-2.0 */
/* Times and durations are nanoseconds throughout the library; names ending in _ms or _s are
 * converted at its boundaries. */
#ifndef KI_BASE_TIME_UNITS_H
#define KI_BASE_TIME_UNITS_H

#include <stdint.h>

#define KI__MS_NS UINT64_C(1000000)
#define KI__SECOND_NS UINT64_C(1000000000)

/** Saturates at the maximum. */
static inline uint64_t ki__ms_to_ns(uint64_t ms)
{
    return ms < UINT64_MAX / KI__MS_NS ? ms * KI__MS_NS : UINT64_MAX;
}

/** Rounded up, so that a wait does not end early. */
static inline uint64_t ki__ns_to_ms(uint64_t ns)
{
    return ns / KI__MS_NS + (ns % KI__MS_NS != 0);
}

static inline uint32_t ki__seconds_to_ms(uint64_t seconds)
{
    return seconds < UINT32_MAX / 1000 ? (uint32_t)seconds * 1000 : UINT32_MAX;
}

/** Rounded up, for protocols with a resolution of seconds. */
static inline uint32_t ki__ms_to_seconds(uint32_t ms)
{
    return ms / 1000 + (ms % 1000 != 0);
}

#endif
