/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics of work queues, controllers, leader election, recorders and requests: those of client-go
 * (component-base/metrics/prometheus/workqueue, clientgo/leaderelection and restclient) and
 * controller-runtime. */
#include "base/time_units.h"
#include "client/client.h"
#include "monitor/metrics.h"

enum { LABEL_MAX = 4096 };

/* ---- work queues ---- */

#define QUEUE(member) offsetof(ki__queue_row, stats.member)
#define CONTROLLER(member) offsetof(ki__controller_row, member)

static const ki__column queue_columns[] = {
    KI__COLUMN_GAUGE("workqueue_depth", KI__VALUE_COUNT, QUEUE(depth),
                     "Keys that wait, including those added while being processed."),
    KI__COLUMN_COUNTER("workqueue_adds_total", QUEUE(adds), "Adds that queued a key."),
    KI__COLUMN_COUNTER("workqueue_retries_total", QUEUE(retries),
                       "Adds with a delay or rate limit."),
    KI__COLUMN_GAUGE("kinformer_workqueue_delayed_keys", KI__VALUE_COUNT, QUEUE(delayed),
                     "Keys whose delay has not elapsed."),
    KI__COLUMN_GAUGE("workqueue_unfinished_work_seconds", KI__VALUE_DOUBLE_MS, QUEUE(unfinished_ms),
                     "Sum of the times that keys have been processed so far."),
    KI__COLUMN_GAUGE("workqueue_longest_running_processor_seconds", KI__VALUE_DOUBLE_MS,
                     QUEUE(longest_running_ms),
                     "Time that the key which takes longest has been processed so far."),
};

static const ki__column controller_columns[] = {
    KI__COLUMN_COUNTER("controller_runtime_reconcile_errors_total",
                       CONTROLLER(results[KI__RECONCILE_ERROR]), "Calls of reconcile that failed."),
    KI__COLUMN_COUNTER("controller_runtime_terminal_reconcile_errors_total", CONTROLLER(given_up),
                       "Keys that were given up after max_retries."),
    KI__COLUMN_COUNTER("controller_runtime_reconcile_timeouts_total", CONTROLLER(timeouts),
                       "Calls of reconcile that took longer than reconcile_timeout_ms."),
    KI__COLUMN_GAUGE("controller_runtime_active_workers", KI__VALUE_COUNT, CONTROLLER(active),
                     "Calls of reconcile that are running."),
    KI__COLUMN_GAUGE("controller_runtime_max_concurrent_reconciles", KI__VALUE_COUNT,
                     CONTROLLER(workers), "Worker threads."),
    KI__COLUMN_COUNTER("kinformer_controller_stale_cache_requeues_total", CONTROLLER(behind),
                       "Keys requeued because a cache was older than writes recorded for them."),
    KI__COLUMN_GAUGE("kinformer_controller_pending_writes", KI__VALUE_SIZE,
                     CONTROLLER(pending_writes),
                     "Recorded writes that have not been found in a cache yet."),
};

/* The bounds as Go prints them: ten times more each, computed in floating point. */
static const char *const queue_bounds[KI_DURATION_BUCKETS - 1] = {
    "1e-08", "1e-07", "1e-06", "9.999999999999999e-06", "9.999999999999999e-05", "0.001", "0.01",
    "0.1",   "1",     "10",
};

static void write_durations(ki__metrics_out *out, ki_str labels, const ki_durations *durations)
{
    uint64_t cells[KI__HISTOGRAM_CELLS(KI_DURATION_BUCKETS - 1)];
    for (size_t i = 0; i < KI_DURATION_BUCKETS; i++) {
        cells[i] = durations->buckets[i];
    }
    cells[KI_DURATION_BUCKETS] = (uint64_t)(durations->sum_ms * (double)KI__MS_NS);
    ki__metric_histogram(out, labels, NULL, queue_bounds, KI_DURATION_BUCKETS - 1, cells);
}

void ki__metrics_of_queues(ki__metrics_out *out, const ki__gathered *g)
{
    static const ki__metric latency =
        KI__METRIC(KI__HISTOGRAM, "workqueue_queue_duration_seconds", "Time from add to get.");
    static const ki__metric work =
        KI__METRIC(KI__HISTOGRAM, "workqueue_work_duration_seconds", "Time from get to done.");
    ki__metrics_columns(out, g, queue_columns, sizeof(queue_columns) / sizeof(queue_columns[0]),
                        KI__ROWS(g->queues, g->queue_count, ki__queue_row));
    ki__metric_begin(out, &latency);
    for (size_t i = 0; i < g->queue_count; i++) {
        write_durations(out, ki__labels_text(g, &g->queues[i].labels), &g->queues[i].stats.latency);
    }
    ki__metric_begin(out, &work);
    for (size_t i = 0; i < g->queue_count; i++) {
        write_durations(out, ki__labels_text(g, &g->queues[i].labels), &g->queues[i].stats.work);
    }
}

/* ---- controllers ---- */

static void write_results(ki__metrics_out *out, const ki__gathered *g)
{
    static const ki__metric metric = KI__METRIC(KI__COUNTER, "controller_runtime_reconcile_total",
                                                "Calls of reconcile, by result.");
    static const char *const results[KI__RECONCILE_RESULTS] = {
        [KI__RECONCILE_SUCCESS] = "success",
        [KI__RECONCILE_ERROR] = "error",
        [KI__RECONCILE_REQUEUE_AFTER] = "requeue_after",
    };
    ki__metric_begin(out, &metric);
    for (size_t i = 0; i < g->controller_count; i++) {
        for (size_t result = 0; result < KI__RECONCILE_RESULTS; result++) {
            ki__metric_count_by(out, ki__labels_text(g, &g->controllers[i].labels), "result",
                                results[result], g->controllers[i].results[result]);
        }
    }
}

static void write_times(ki__metrics_out *out, const ki__gathered *g)
{
    static const ki__metric metric = KI__METRIC(
        KI__HISTOGRAM, "controller_runtime_reconcile_time_seconds", "Time that reconcile took.");
    ki__metric_begin(out, &metric);
    for (size_t i = 0; i < g->controller_count; i++) {
        ki__metric_histogram(out, ki__labels_text(g, &g->controllers[i].labels),
                             ki__reconcile_bounds_ns, NULL, KI__RECONCILE_BOUNDS,
                             g->controllers[i].times);
    }
}

void ki__metrics_of_controllers(ki__metrics_out *out, const ki__gathered *g)
{
    write_results(out, g);
    write_times(out, g);
    ki__metrics_columns(out, g, controller_columns,
                        sizeof(controller_columns) / sizeof(controller_columns[0]),
                        KI__ROWS(g->controllers, g->controller_count, ki__controller_row));
}

/* ---- leader election and recorders ---- */

void ki__metrics_of_leaders(ki__metrics_out *out, const ki__gathered *g)
{
    static const ki__column columns[] = {
        KI__COLUMN_GAUGE("leader_election_master_status", KI__VALUE_BOOL,
                         offsetof(ki__leader_row, leading),
                         "1 if this replica leads, 0 if it waits or has stopped."),
        KI__COLUMN_COUNTER("leader_election_slowpath_total",
                           offsetof(ki__leader_row, slow_renewals),
                           "Renewals of the Lease that had to read it first."),
    };
    ki__metrics_columns(out, g, columns, sizeof(columns) / sizeof(columns[0]),
                        KI__ROWS(g->leaders, g->leader_count, ki__leader_row));
}

void ki__metrics_of_recorders(ki__metrics_out *out, const ki__gathered *g)
{
    static const ki__metric metric = KI__METRIC(KI__COUNTER, "kinformer_recorder_events_total",
                                                "Recorded events, by what became of them.");
    static const ki__column queued[] = {
        KI__COLUMN_GAUGE("kinformer_recorder_queued_events", KI__VALUE_COUNT,
                         offsetof(ki__recorder_row, stats.queued), "Events that wait to be sent."),
    };
    ki__metric_begin(out, &metric);
    for (size_t i = 0; i < g->recorder_count; i++) {
        const ki_recorder_stats *stats = &g->recorders[i].stats;
        const struct {
            const char *name;
            uint64_t count;
        } results[] = {
            {"created", stats->created},   {"patched", stats->patched}, {"failed", stats->failed},
            {"filtered", stats->filtered}, {"dropped", stats->dropped},
        };
        for (size_t k = 0; k < sizeof(results) / sizeof(results[0]); k++) {
            ki__metric_count_by(out, ki__labels_text(g, &g->recorders[i].labels), "result",
                                results[k].name, results[k].count);
        }
    }
    ki__metrics_columns(out, g, queued, 1,
                        KI__ROWS(g->recorders, g->recorder_count, ki__recorder_row));
}

/* ---- requests ---- */

/* Labels of a request; `status` NULL: without `code`, 0: no response. A failure ends `out`. */
static ki_str request_labels(ki__metrics_out *out, ki_buf *labels, const char *verb,
                             const char *method, ki_str host, const uint32_t *status)
{
    ki_buf_clear(labels);
    ki__out text = ki__out_to(labels);
    if (status != NULL) {
        ki__out_text(&text, "code=\"");
        if (*status != 0) {
            ki__out_u64(&text, *status);
        } else {
            ki__out_text(&text, "<error>");
        }
        ki__out_text(&text, "\",");
    }
    ki__out_texts(&text, verb, method, "\",host=\"", NULL);
    ki__label_value(&text, host.ptr);
    ki__out_char(&text, '"');
    ki__out_fail(&out->text, text.error);
    return ki_buf_str(labels);
}

static void write_request_times(ki__metrics_out *out, ki_buf *labels, ki_str host,
                                const ki__metric *metric,
                                _Atomic uint64_t (*from)[KI__HISTOGRAM_CELLS(KI__REQUEST_BOUNDS)])
{
    uint64_t cells[KI__HISTOGRAM_CELLS(KI__REQUEST_BOUNDS)];
    ki__metric_begin(out, metric);
    for (size_t method = 0; method < KI__METHOD_MAX; method++) {
        uint64_t count = 0;
        for (size_t i = 0; i < KI__HISTOGRAM_CELLS(KI__REQUEST_BOUNDS); i++) {
            cells[i] = ki__counter_read(&from[method][i]);
            count += i <= KI__REQUEST_BOUNDS ? cells[i] : 0;
        }
        if (count != 0) {
            ki_str text =
                request_labels(out, labels, "verb=\"", ki__http_method_names[method], host, NULL);
            ki__metric_histogram(out, text, ki__request_bounds_ns, NULL, KI__REQUEST_BOUNDS, cells);
        }
    }
}

/* `label`: how client-go calls the method here. */
static void write_request_counts(ki__metrics_out *out, ki_buf *labels, ki_str host,
                                 const ki__metric *metric, const char *label,
                                 const ki__request_count *slots, size_t count)
{
    ki__metric_begin(out, metric);
    for (size_t i = 0; i < count; i++) {
        uint32_t key = atomic_load_explicit(&slots[i].key, memory_order_relaxed);
        if (key != 0) {
            uint32_t status = (key - 1) / KI__METHOD_MAX;
            const char *method = ki__http_method_names[(key - 1) % KI__METHOD_MAX];
            ki_str text = request_labels(out, labels, label, method, host, &status);
            ki__metric_count(out, text, ki__counter_read(&slots[i].count));
        }
    }
}

void ki__metrics_of_requests(ki__metrics_out *out, const ki__gathered *g)
{
    static const ki__metric results = KI__METRIC(KI__COUNTER, "rest_client_requests_total",
                                                 "Requests, by status code, method and host.");
    static const ki__metric retries =
        KI__METRIC(KI__COUNTER, "rest_client_request_retries_total",
                   "Retries, by the status code that led to them, verb and host.");
    static const ki__metric duration = KI__METRIC(
        KI__HISTOGRAM, "rest_client_request_duration_seconds",
        "Time that requests took, except watches, including the client-side rate limit.");
    static const ki__metric wait =
        KI__METRIC(KI__HISTOGRAM, "rest_client_rate_limiter_duration_seconds",
                   "Time that requests waited for the client-side rate limit.");
    ki__request_stats *stats = &g->client->stats;
    ki_str host = ki__curl_host(g->client->curl);
    ki_buf labels;
    ki_buf_init(&labels, g->alloc, LABEL_MAX);
    write_request_counts(out, &labels, host, &results, "method=\"", stats->results,
                         KI__REQUEST_RESULTS);
    write_request_counts(out, &labels, host, &retries, "verb=\"", stats->retries,
                         KI__REQUEST_RETRIES);
    write_request_times(out, &labels, host, &duration, stats->durations);
    write_request_times(out, &labels, host, &wait, stats->waits);
    ki_buf_done(&labels);
}
