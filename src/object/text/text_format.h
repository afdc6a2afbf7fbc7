/* SPDX-License-Identifier: Apache-2.0 */
/* Formats numbers, times and durations byte for byte as Go's JSON does, independent of the locale.
 * All functions write to `out` without a NUL and return the length, which is at most the size in
 * the signature. */
#ifndef KI_OBJECT_TEXT_TEXT_FORMAT_H
#define KI_OBJECT_TEXT_TEXT_FORMAT_H

#include <kinformer/str.h>

enum {
    KI__INT64_TEXT_MAX = 20,
    KI__DOUBLE_TEXT_MAX = 32,
    KI__TIME_TEXT_MAX = 48,
    KI__DURATION_TEXT_MAX = 32,
};

size_t ki__format_int64(int64_t number, char out[static KI__INT64_TEXT_MAX]);

/** The shortest text that parses as the same double; exponent notation below 1e-6 and from 1e21 on.
 *  Infinities and NaN, which JSON cannot represent, yield "null". */
size_t ki__format_double(double number, char out[static KI__DOUBLE_TEXT_MAX]);

/** Seconds since 1970 as 2026-01-31T12:00:00Z. Years below 0 have a minus sign, those beyond 9999
 *  as many digits as needed. */
size_t ki__format_time(int64_t seconds, char out[static KI__TIME_TEXT_MAX]);

/** Likewise with six fractional digits. `nanos` is truncated to microseconds, towards 0, and may be
 *  negative or more than a second. */
size_t ki__format_micro_time(int64_t seconds, int32_t nanos, char out[static KI__TIME_TEXT_MAX]);

/** Nanoseconds as 1h2m3.5s, 1.5ms or 0s. */
size_t ki__format_duration(int64_t nanoseconds, char out[static KI__DURATION_TEXT_MAX]);

#endif
