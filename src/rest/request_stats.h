/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of the requests of a client: updated inside its loop, read by any thread. */
#ifndef KI_REST_REQUEST_STATS_H
#define KI_REST_REQUEST_STATS_H

#include <kinformer/str.h>

#include "base/histogram.h"

enum { KI__REQUEST_BOUNDS = 12, KI__REQUEST_RESULTS = 64, KI__REQUEST_RETRIES = 16 };
extern const uint64_t ki__request_bounds_ns[KI__REQUEST_BOUNDS];

typedef enum ki__http_method {
    KI__METHOD_GET,
    KI__METHOD_POST,
    KI__METHOD_PUT,
    KI__METHOD_PATCH,
    KI__METHOD_DELETE,
    KI__METHOD_OTHER,
    KI__METHOD_MAX
} ki__http_method;

/** "GET" and so on; "OTHER". */
extern const char *const ki__http_method_names[KI__METHOD_MAX];

/** Requests of a method with a status. Slots of an array are used in order; the last one counts all
 *  that do not fit. `key`: 0 if unused, otherwise 1 + status * KI__METHOD_MAX + method; a status of
 *  0 means no response. */
typedef struct ki__request_count {
    _Atomic uint32_t key;
    _Atomic uint64_t count;
} ki__request_count;

typedef struct ki__request_stats {
    ki__request_count results[KI__REQUEST_RESULTS];
    ki__request_count retries[KI__REQUEST_RETRIES]; /* by the status that led to them */
    _Atomic uint64_t durations[KI__METHOD_MAX][KI__HISTOGRAM_CELLS(KI__REQUEST_BOUNDS)];
    _Atomic uint64_t waits[KI__METHOD_MAX][KI__HISTOGRAM_CELLS(KI__REQUEST_BOUNDS)];
} ki__request_stats;

/** Counts a finished request, or a stream that was responded to. `status` 0: no response. */
void ki__request_stats_result(ki__request_stats *stats, ki_str method, int status);
/** Counts a retry. `status` of the attempt that is repeated; 0 or less: no response. */
void ki__request_stats_retry(ki__request_stats *stats, ki_str method, int status);
/** Duration of a request that is not a stream, including the wait for the rate limit. */
void ki__request_stats_duration(ki__request_stats *stats, ki_str method, uint64_t ns);
/** Time that a request waited for the rate limit. */
void ki__request_stats_wait(ki__request_stats *stats, ki_str method, uint64_t ns);

#endif
