/* SPDX-License-Identifier: Apache-2.0 */
/* Writer for the text formats of metrics, with one error check at the end. */
#ifndef KI_MONITOR_METRICS_TEXT_H
#define KI_MONITOR_METRICS_TEXT_H

#include <kinformer/metrics.h>

#include "object/edit/json_out.h"

typedef enum ki__metric_type { KI__COUNTER, KI__GAUGE, KI__HISTOGRAM } ki__metric_type;

/** A family. The name of a counter ends in _total. */
typedef struct ki__metric {
    const char *text; /* its name and its description, with a NUL between them */
    ki__metric_type type;
} ki__metric;

/** For tables of them: one text has one relocation. */
#define KI__METRIC(type, name, help) \
    {                                \
        name "\0" help, type         \
    }

typedef struct ki__metrics_out {
    ki__out text;
    bool open;                /* OpenMetrics */
    const ki__metric *metric; /* that samples belong to */
    bool has_head;            /* of it, which is written with the first sample */
} ki__metrics_out;

/** Begins a family; the samples that follow are of it. */
void ki__metric_begin(ki__metrics_out *out, const ki__metric *metric);

/** A sample with these labels, or none (""). */
void ki__metric_count(ki__metrics_out *out, ki_str labels, uint64_t value);
/** The same with one more label, such as state="new"; its text needs no escapes. */
void ki__metric_count_by(ki__metrics_out *out, ki_str labels, const char *label, const char *text,
                         uint64_t value);
/** The same for a duration; UINT64_MAX: +Inf. */
void ki__metric_seconds(ki__metrics_out *out, ki_str labels, uint64_t ns);

/** A histogram: `count` bounds in nanoseconds, and its cells as in base/histogram.h. `bounds_text`,
 *  if not NULL, is the text of the bounds. */
void ki__metric_histogram(ki__metrics_out *out, ki_str labels, const uint64_t *bounds_ns,
                          const char *const *bounds_text, size_t count, const uint64_t *cells);

/** The end of all: 0, or the error with the buffer restored. */
int ki__metrics_end(ki__metrics_out *out);

#endif
