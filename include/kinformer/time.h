/* SPDX-License-Identifier: Apache-2.0 */
/* Times in the format of objects (RFC 3339, UTC), as text and in JSON that is written (json.h). */
#ifndef KINFORMER_TIME_H
#define KINFORMER_TIME_H

#include <kinformer/defs.h>
#include <kinformer/json.h>

KI_BEGIN_DECLS

#define KI_TIME_TEXT_SIZE 32 /* including the NUL */

/** Formats nanoseconds since 1970 as "2026-01-31T12:00:00Z" (metav1.Time); the fraction of the
 *  second is dropped. Returns `text`.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const char *ki_time_text(int64_t realtime_ns, char text[KI_TIME_TEXT_SIZE]);

/** Formats nanoseconds since 1970 with microseconds: "2026-01-31T12:00:00.000000Z"
 *  (metav1.MicroTime). As ki_time_text().  Since: 0.1 */
KI_API const char *ki_time_micro_text(int64_t realtime_ns, char text[KI_TIME_TEXT_SIZE]);

/** Formats the current time, as ki_time_text().
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const char *ki_time_now_text(char text[KI_TIME_TEXT_SIZE]);

/** Appends a time in nanoseconds since 1970 as a string, such as "2026-01-31T12:00:00Z"
 *  (metav1.Time); the fraction of the second is dropped. See ki_clock_now_ns().  Since: 0.1 */
KI_API void ki_json_time(ki_json *json, const char *name, int64_t realtime_ns);

/** Appends a time with microseconds, such as "2026-01-31T12:00:00.000000Z" (metav1.MicroTime),
 *  which Leases and Events require. As ki_json_time().  Since: 0.1 */
KI_API void ki_json_micro_time(ki_json *json, const char *name, int64_t realtime_ns);

KI_END_DECLS

#endif
