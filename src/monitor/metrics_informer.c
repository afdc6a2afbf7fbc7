/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics of informers and their handlers. The first three are client-go's
 * (component-base/metrics/prometheus/clientgo/fifo); the others are tables of members. */
#include "client/client.h"
#include "monitor/metrics.h"

#define HEALTH(member) offsetof(ki__informer_row, health.member)
#define STATS(member) offsetof(ki__informer_row, stats.member)
#define LAG(member) offsetof(ki__handler_row, lag.member)
static const ki__column informer_columns[] = {
    KI__COLUMN_GAUGE("informer_queued_items", KI__VALUE_SIZE, HEALTH(queued),
                     "Changes between the watch and the store."),
    KI__COLUMN_GAUGE("informer_store_resource_version", KI__VALUE_COUNT, STATS(version_low),
                     "The 15 least significant digits of the resourceVersion of the store."),
    KI__COLUMN_GAUGE("kinformer_informer_synced", KI__VALUE_BOOL, HEALTH(synced),
                     "Whether the store contains the initial list."),
    KI__COLUMN_GAUGE(
        "kinformer_informer_failing_seconds", KI__VALUE_MS, HEALTH(failing_ms),
        "Time since the first of consecutive failures; 0 if the last attempt succeeded."),
    KI__COLUMN_GAUGE("kinformer_informer_last_byte_age_seconds", KI__VALUE_MS,
                     HEALTH(since_byte_ms), "Time since data was received; +Inf if never."),
    KI__COLUMN_GAUGE("kinformer_informer_last_event_age_seconds", KI__VALUE_MS,
                     HEALTH(since_event_ms),
                     "Time since the last event of a watch; +Inf if there was none."),
    KI__COLUMN_GAUGE("kinformer_informer_last_bookmark_age_seconds", KI__VALUE_MS,
                     HEALTH(since_bookmark_ms),
                     "Time since the last bookmark of a watch; +Inf if there was none."),
    KI__COLUMN_GAUGE("kinformer_informer_last_list_age_seconds", KI__VALUE_MS,
                     HEALTH(since_sync_ms),
                     "Time since the last complete list; +Inf if there was none."),
    KI__COLUMN_COUNTER("kinformer_informer_reconnects_total", HEALTH(reconnects),
                       "Watches that resumed after another ended."),
    KI__COLUMN_COUNTER("kinformer_informer_failures_total", HEALTH(failures),
                       "Failed lists, streaming lists and watches."),
    KI__COLUMN_COUNTER("kinformer_informer_backoffs_total", HEALTH(backoffs),
                       "Waits before another attempt."),
    KI__COLUMN_COUNTER("kinformer_informer_fallbacks_total", HEALTH(fallbacks),
                       "Fallbacks from a streaming list to a list in pages."),
    KI__COLUMN_COUNTER("kinformer_informer_events_total", HEALTH(events), "Events of watches."),
    KI__COLUMN_COUNTER("kinformer_informer_bookmarks_total", HEALTH(bookmarks),
                       "Bookmarks of watches."),
    KI__COLUMN_COUNTER("kinformer_informer_received_bytes_total", HEALTH(bytes),
                       "Bytes received from the source."),
    KI__COLUMN_COUNTER("kinformer_informer_resyncs_total", HEALTH(resyncs), "Periodic resyncs."),
    KI__COLUMN_COUNTER("kinformer_informer_skipped_objects_total", HEALTH(skipped),
                       "Undecodable or unusable objects and events."),
    KI__COLUMN_COUNTER("kinformer_informer_incomplete_objects_total", HEALTH(incomplete),
                       "Objects with fields that the schema tables do not know."),
    KI__COLUMN_COUNTER("kinformer_informer_rejected_objects_total", HEALTH(rejected),
                       "Objects that the store rejected."),
    KI__COLUMN_COUNTER("kinformer_informer_mutated_objects_total", HEALTH(mutations),
                       "Cached objects whose memory was modified, with check_mutations."),
    KI__COLUMN_COUNTER("kinformer_informer_unchanged_objects_total", STATS(unchanged),
                       "Objects of relists that had not changed and were not delivered."),
    KI__COLUMN_COUNTER("kinformer_informer_suppressed_events_total", HEALTH(suppressed),
                       "Updates that changed no kept field and were not delivered."),
    KI__COLUMN_COUNTER("kinformer_informer_outside_shard_objects_total", HEALTH(outside_shard),
                       "Objects and events of other shards, which the server did not leave out."),
    KI__COLUMN_COUNTER("kinformer_informer_anomalies_total", HEALTH(anomalies),
                       "Lists, events and bookmarks older than the current state."),
    KI__COLUMN_COUNTER("kinformer_informer_epoch_changes_total", HEALTH(epoch_changes),
                       "Times that the state of the server went back."),
    KI__COLUMN_COUNTER("kinformer_informer_applied_batches_total", HEALTH(applied),
                       "Batches of changes applied to the store."),
    KI__COLUMN_COUNTER("kinformer_informer_merged_events_total", HEALTH(merged),
                       "Events of all handlers that were merged into others."),
    KI__COLUMN_GAUGE("kinformer_informer_objects", KI__VALUE_SIZE, HEALTH(objects),
                     "Objects in the store."),
    KI__COLUMN_GAUGE("kinformer_informer_object_bytes", KI__VALUE_COUNT, HEALTH(object_bytes),
                     "Memory of the objects in the store."),
    KI__COLUMN_GAUGE("kinformer_informer_index_bytes", KI__VALUE_COUNT, HEALTH(index_bytes),
                     "Memory of the keys and indexes of the store."),
    KI__COLUMN_GAUGE("kinformer_informer_version_bytes", KI__VALUE_COUNT, HEALTH(version_bytes),
                     "Memory of old versions of the store, held by snapshots."),
    KI__COLUMN_GAUGE("kinformer_informer_queue_bytes", KI__VALUE_COUNT, HEALTH(queue_bytes),
                     "Memory of changes on their way to the store and to handlers."),
    KI__COLUMN_GAUGE("kinformer_informer_decoding_bytes", KI__VALUE_COUNT, HEALTH(decoding_bytes),
                     "Memory of the objects of a list that is being received."),
    KI__COLUMN_GAUGE("kinformer_informer_max_bytes", KI__VALUE_COUNT, HEALTH(max_bytes),
                     "The limit of its memory; 0 if there is none."),
    KI__COLUMN_GAUGE("kinformer_informer_over_limit", KI__VALUE_BOOL, HEALTH(over_limit),
                     "Whether the store is not complete or not current because of max_bytes."),
    KI__COLUMN_GAUGE("kinformer_informer_reduced", KI__VALUE_BOOL, HEALTH(reduced),
                     "Whether objects were reduced to their metadata because of max_bytes."),
    KI__COLUMN_COUNTER("kinformer_informer_refusals_total", HEALTH(refusals),
                       "Lists and watches that ended because of max_bytes."),
    KI__COLUMN_GAUGE(
        "kinformer_informer_store_versions", KI__VALUE_COUNT, STATS(versions),
        "Versions of the store in memory: the current one and those held by snapshots."),
    KI__COLUMN_GAUGE("kinformer_informer_oldest_snapshot_seconds", KI__VALUE_MS,
                     HEALTH(oldest_snapshot_ms),
                     "Time that the oldest snapshot has been held, with track_readers; else 0."),
    KI__COLUMN_GAUGE("kinformer_informer_queued_bytes", KI__VALUE_SIZE, HEALTH(queued_bytes),
                     "Memory of the objects between the watch and the store."),
};

static const ki__column handler_columns[] = {
    KI__COLUMN_GAUGE("kinformer_handler_synced", KI__VALUE_BOOL, LAG(synced),
                     "Whether all initial objects were delivered."),
    KI__COLUMN_GAUGE("kinformer_handler_queued_events", KI__VALUE_SIZE, LAG(stats.waiting),
                     "Events that wait for the handler."),
    KI__COLUMN_GAUGE("kinformer_handler_oldest_event_age_seconds", KI__VALUE_NS, LAG(oldest_ns),
                     "Age of the oldest event that is not delivered; 0 if there is none."),
    KI__COLUMN_GAUGE(
        "kinformer_handler_callback_running_seconds", KI__VALUE_NS, LAG(running_ns),
        "Time that one callback has been running, since the first scrape that found it."),
    KI__COLUMN_COUNTER("kinformer_handler_delivered_events_total", LAG(stats.delivered),
                       "Events that were delivered, or rejected by the filter."),
    KI__COLUMN_COUNTER("kinformer_handler_merged_events_total", LAG(stats.merged),
                       "Events that were merged into others because the handler was behind."),
};

/* ---- informers ---- */

static void write_processing(ki__metrics_out *out, const ki__gathered *g)
{
    static const ki__metric metric =
        KI__METRIC(KI__HISTOGRAM, "informer_processing_latency_seconds",
                   "Time to apply a batch of changes to the store.");
    ki__metric_begin(out, &metric);
    for (size_t i = 0; i < g->informer_count; i++) {
        const ki__informer_row *row = &g->informers[i];
        ki__metric_histogram(out, ki__labels_text(g, &row->labels), ki__processing_bounds_ns, NULL,
                             KI__PROCESSING_BOUNDS, row->stats.processing);
    }
}

static void write_states(ki__metrics_out *out, const ki__gathered *g)
{
    static const ki__metric metric =
        KI__METRIC(KI__GAUGE, "kinformer_informer_state",
                   "1 for the current state of the informer, 0 for the others.");
    ki__metric_begin(out, &metric);
    for (size_t i = 0; i < g->informer_count; i++) {
        const ki__informer_row *row = &g->informers[i];
        for (size_t state = 0; state < KI_REFLECTOR_STATE_MAX; state++) {
            ki__metric_count_by(out, ki__labels_text(g, &row->labels), "state",
                                ki_reflector_state_name((ki_reflector_state)state),
                                row->health.state == (ki_reflector_state)state);
        }
    }
}

static void write_requests(ki__metrics_out *out, const ki__gathered *g)
{
    static const ki__metric metric =
        KI__METRIC(KI__COUNTER, "kinformer_informer_requests_total",
                   "Lists in pages, streaming lists and watches that were begun.");
    ki__metric_begin(out, &metric);
    for (size_t i = 0; i < g->informer_count; i++) {
        const ki__informer_row *row = &g->informers[i];
        ki_str labels = ki__labels_text(g, &row->labels);
        const uint64_t counts[KI_OPERATION_MAX] = {
            [KI_OPERATION_LIST] = row->health.lists,
            [KI_OPERATION_STREAMING_LIST] = row->health.streams,
            [KI_OPERATION_WATCH] = row->health.watches,
        };
        for (size_t operation = 0; operation < KI_OPERATION_MAX; operation++) {
            ki__metric_count_by(out, labels, "operation",
                                ki_watch_operation_name((ki_watch_operation)operation),
                                counts[operation]);
        }
    }
}

static void write_relists(ki__metrics_out *out, const ki__gathered *g)
{
    static const ki__metric metric =
        KI__METRIC(KI__COUNTER, "kinformer_informer_relists_total",
                   "Complete lists after the first, by why the watch ended.");
    ki__metric_begin(out, &metric);
    for (size_t i = 0; i < g->informer_count; i++) {
        const ki__informer_row *row = &g->informers[i];
        for (size_t reason = 0; reason < KI_FAILURE_CLASS_MAX; reason++) {
            bool usual = reason == KI_FAILURE_EXPIRED || reason == KI_FAILURE_CONNECTION;
            if (usual || row->stats.relists[reason] != 0) {
                ki__metric_count_by(out, ki__labels_text(g, &row->labels), "reason",
                                    ki_failure_class_name((ki_failure_class)reason),
                                    row->stats.relists[reason]);
            }
        }
    }
}

void ki__metrics_of_informers(ki__metrics_out *out, const ki__gathered *g)
{
    ki__metrics_columns(out, g, informer_columns,
                        sizeof(informer_columns) / sizeof(informer_columns[0]),
                        KI__ROWS(g->informers, g->informer_count, ki__informer_row));
    write_processing(out, g);
    write_states(out, g);
    write_requests(out, g);
    write_relists(out, g);
}

/* ---- handlers ---- */

static void write_threads(ki__metrics_out *out, const ki__gathered *g)
{
    static const ki__metric threads = KI__METRIC(KI__GAUGE, "kinformer_handler_threads",
                                                 "Threads that call handlers, idle ones included.");
    static const ki__metric full =
        KI__METRIC(KI__COUNTER, "kinformer_handler_threads_exhausted_total",
                   "Times that events waited because all threads were busy.");
    ki__pool *pool = ki__engine_pool(g->client->engine);
    if (pool != NULL) {
        ki__pool_stats stats = ki__pool_get_stats(pool);
        ki__metric_begin(out, &threads);
        ki__metric_count(out, ki_str_from(""), stats.threads);
        ki__metric_begin(out, &full);
        ki__metric_count(out, ki_str_from(""), stats.full);
    }
}

void ki__metrics_of_handlers(ki__metrics_out *out, const ki__gathered *g)
{
    write_threads(out, g);
    ki__metrics_columns(out, g, handler_columns,
                        sizeof(handler_columns) / sizeof(handler_columns[0]),
                        KI__ROWS(g->handlers, g->handler_count, ki__handler_row));
}
