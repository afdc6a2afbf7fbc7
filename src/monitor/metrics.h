/* SPDX-License-Identifier: Apache-2.0 */
/* The families of metrics, by the part of the client that they are about. */
#ifndef KI_MONITOR_METRICS_H
#define KI_MONITOR_METRICS_H

#include "monitor/gathered.h"
#include "monitor/metrics_text.h"

void ki__metrics_of_informers(ki__metrics_out *out, const ki__gathered *g);
void ki__metrics_of_handlers(ki__metrics_out *out, const ki__gathered *g);
void ki__metrics_of_queues(ki__metrics_out *out, const ki__gathered *g);
void ki__metrics_of_controllers(ki__metrics_out *out, const ki__gathered *g);
void ki__metrics_of_leaders(ki__metrics_out *out, const ki__gathered *g);
void ki__metrics_of_recorders(ki__metrics_out *out, const ki__gathered *g);
void ki__metrics_of_requests(ki__metrics_out *out, const ki__gathered *g);

/* Where the value of a row is, and what it is. */
typedef enum ki__value_type {
    KI__VALUE_COUNT, /* uint64_t */
    KI__VALUE_SIZE,  /* size_t */
    KI__VALUE_BOOL,
    KI__VALUE_MS,        /* of a duration: uint64_t; UINT64_MAX is +Inf */
    KI__VALUE_NS,        /* likewise */
    KI__VALUE_DOUBLE_MS, /* of a duration: double */
} ki__value_type;

/** A family with one sample for each row. */
typedef struct ki__column {
    ki__metric metric;
    ki__value_type type;
    size_t at; /* of the value in the row */
} ki__column;

#define KI__COLUMN(kind, name, type, at, help)           \
    {                                                    \
        .metric = KI__METRIC(kind, name, help), type, at \
    }
#define KI__COLUMN_COUNTER(name, at, help) KI__COLUMN(KI__COUNTER, name, KI__VALUE_COUNT, at, help)
#define KI__COLUMN_GAUGE(name, type, at, help) KI__COLUMN(KI__GAUGE, name, type, at, help)

/** The rows of one kind. */
typedef struct ki__rows {
    const void *rows;
    size_t count;
    size_t size;
    size_t labels_at;
} ki__rows;

#define KI__ROWS(rows, count, row_type) \
    ((ki__rows){(rows), (count), sizeof(row_type), offsetof(row_type, labels)})

void ki__metrics_columns(ki__metrics_out *out, const ki__gathered *g, const ki__column *columns,
                         size_t count, ki__rows rows);

#endif
