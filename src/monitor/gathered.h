/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a client and their numbers at one time, for metrics and checks. */
#ifndef KI_MONITOR_GATHERED_H
#define KI_MONITOR_GATHERED_H

#include <kinformer/buf.h>
#include <kinformer/client.h>

#include "base/shared.h"
#include "cache/informer/informer.h"
#include "controller/controller.h"
#include "controller/leader.h"
#include "controller/recorder.h"
#include "object/edit/json_out.h"
#include "workqueue/workqueue_state.h"

/** Labels in their text form, in `text` of ki__gathered: name="pods",group="". Unique for each row:
 *  a number is appended to names that repeat. */
typedef struct ki__labels {
    size_t key_at; /* without that number, for comparison */
    size_t key_len;
    size_t at;
    size_t len;
} ki__labels;

typedef struct ki__informer_row {
    ki_informer *informer;
    ki_health health;
    ki__informer_stats stats;
    ki__labels labels;
} ki__informer_row;

typedef struct ki__handler_row {
    ki_registration *registration;
    const ki__informer_row *informer; /* once all rows are there */
    size_t informer_at;
    ki__registration_lag lag;
    ki__labels labels;
} ki__handler_row;

typedef struct ki__controller_row {
    ki_controller *controller;
    uint64_t results[KI__RECONCILE_RESULTS];
    uint64_t given_up;
    uint64_t behind;
    size_t pending_writes;
    uint64_t timeouts;
    uint64_t active;
    uint64_t workers;
    uint64_t times[KI__HISTOGRAM_CELLS(KI__RECONCILE_BOUNDS)];
    ki__labels labels;
} ki__controller_row;

typedef struct ki__queue_row {
    ki_workqueue *queue;
    const char *name;
    ki_workqueue_stats stats;
    ki__labels labels;
} ki__queue_row;

typedef struct ki__leader_row {
    ki_leader *leader;
    bool leading;
    uint64_t slow_renewals;
    ki__labels labels;
} ki__leader_row;

typedef struct ki__recorder_row {
    ki_recorder *recorder;
    ki_recorder_stats stats;
    ki__labels labels;
} ki__recorder_row;

typedef struct ki__gathered {
    const ki_alloc *alloc;
    ki_client *client;
    ki_buf text;
    ki__informer_row *informers;
    size_t informer_count;
    ki__handler_row *handlers;
    size_t handler_count;
    size_t handler_cap;
    ki__controller_row *controllers;
    size_t controller_count;
    ki__queue_row *queues; /* those of controllers, too */
    size_t queue_count;
    ki__leader_row *leaders;
    size_t leader_count;
    ki__recorder_row *recorders;
    size_t recorder_count;
} ki__gathered;

/** On success, release with ki__gathered_done(). -ENOMEM. */
KI__SHARED int ki__gather(ki_client *client, ki__gathered *ret_gathered);
KI__SHARED void ki__gathered_done(ki__gathered *gathered);

static inline ki_str ki__labels_text(const ki__gathered *gathered, const ki__labels *labels)
{
    return ki_str_make(gathered->text.data + labels->at, labels->len);
}

/** Names in metrics and reports. */
KI__SHARED const char *ki__controller_name(const ki_controller *controller);
KI__SHARED const char *ki__handler_name(const ki__handler_row *row);

/** Appends the value of a label, escaped; bytes that are not UTF-8 become U+FFFD. */
void ki__label_value(ki__out *out, const char *text);

#endif
