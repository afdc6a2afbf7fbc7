/* SPDX-License-Identifier: Apache-2.0 */
/* Each metric of informers, handlers, work queues and controllers is moved by its cause, on a
 * source that a test writes and a clock that it moves. Those of requests are in
 * test_client_metrics.c. */
#include <errno.h>
#include <stdio.h>

#include <kinformer/builtin_resources.h>
#include <kinformer/encoding.h>
#include <kinformer/index.h>
#include <kinformer/parts/shared_informer.h>
#include <kinformer/worker.h>

#include "base/probe.h"
#include "client/client.h"
#include "monitor/metrics.h"
#include "support/fake_source.h"
#include "support/scraping.h"

typedef struct fixture {
    test_alloc alloc;
    test_world world;
    ki_engine *engine;
    ki_client client; /* what is needed of one */
    fake_source *source;
    ki_informer *informer;
    ki_registration *handler;
    ki_buf text;
    int reconcile; /* what the function returns */
    uint64_t takes_ns;
    uint64_t again_ms;
    int index_result; /* what the function of an index returns */
    bool streams;     /* informers stream their list */
    const char *keep;
    const char *shard;
    uint64_t max_bytes;
    ki_at_limit at_limit;
} fixture;

/* ---- scraping ---- */

static int scrape(fixture *f)
{
    ki__gathered g;
    ki_buf_clear(&f->text);
    int r = ki__gather(&f->client, &g);
    if (r < 0) {
        return r;
    }
    ki__metrics_out out = {.text = ki__out_to(&f->text)};
    ki__metrics_of_informers(&out, &g);
    ki__metrics_of_handlers(&out, &g);
    ki__metrics_of_queues(&out, &g);
    ki__metrics_of_controllers(&out, &g);
    ki__gathered_done(&g);
    return ki__metrics_end(&out);
}

static double labelled(fixture *f, const char *name, const char *labels)
{
    assert_int_equal(scrape(f), 0);
    return scraping_value(ki_buf_text(&f->text), name, labels);
}

static double of(fixture *f, const char *name)
{
    return labelled(f, name, "");
}

/* cmocka compares no floating-point numbers exactly; these are small sums of binary fractions. */
#define assert_metric(f, name, labels, want)                                              \
    do {                                                                                  \
        double is = labelled((f), (name), (labels));                                      \
        if (is < (want)-1e-9 || is > (want) + 1e-9) {                                     \
            fail_msg("%s{%s} is %g instead of %g", (name), (labels), is, (double)(want)); \
        }                                                                                 \
    } while (0)

/* ---- the fixture ---- */

static void begin_bare(fixture *f)
{
    *f = (fixture){0};
    test_alloc_init(&f->alloc);
    test_world_init(&f->world);
    ki_engine_options options = test_world_engine_options(&f->world, &f->alloc.table);
    assert_int_equal(ki_engine_new(&options, &f->engine, NULL), 0);
    f->client.alloc = &f->alloc.table;
    f->client.engine = f->engine;
    ki_buf_init(&f->text, &f->alloc.table, 16 << 20);
}

static int index_values(const ki_object *object, ki_index_values *values, void *user)
{
    (void)object;
    (void)values;
    return ((fixture *)user)->index_result;
}

static ki_informer *make_informer(fixture *f, fake_source *source, const char *name)
{
    ki_informer *informer = NULL;
    ki_error error = KI_ERROR_INIT;
    ki_informer_options options = KI_OPTIONS_INIT(ki_informer_options);
    fake_source_init(source, f->engine, &f->world);
    options.engine = f->engine;
    options.source = &source->table;
    options.resource = KI_CORE_V1_PODS;
    options.name = name;
    options.no_streaming = !f->streams;
    options.keep = f->keep;
    options.max_bytes = f->max_bytes;
    options.at_limit = f->at_limit;
    options.shard_selector = f->shard;
    options.check_mutations = true;
    options.track_readers = true;
    const ki_index index = {
        .size = sizeof(index), .name = "any", .values = index_values, .user = f};
    const ki_index *const indexes[] = {&index};
    options.indexes = indexes;
    options.index_count = 1;
    options.resync_ms = 3600000;
    int r = ki_informer_new(&options, &informer, &error);
    if (r < 0) {
        fail_msg("%s", error.message);
    }
    return informer;
}

static void on_change(const ki_change *change, void *user)
{
    (void)change;
    (void)user;
}

/* An informer that watches, with three objects, and a handler that the test dispatches. */
static void begin_informer(fixture *f)
{
    f->source = calloc(1, sizeof(*f->source));
    assert_non_null(f->source);
    f->informer = make_informer(f, f->source, NULL);
    const ki_handler handler = {.on_change = on_change};
    assert_int_equal(
        ki_informer_add_handler(f->informer, &handler,
                                KI_OPTIONS(ki_handler_options, .name = "audit", .queue_limit = 4,
                                           .delivery = KI_DELIVERY_CALLER),
                                &f->handler, NULL),
        0);
    assert_metric(f, "kinformer_informer_state", "state=\"new\"", 1);
    assert_metric(f, "kinformer_informer_synced", "", 0);
    assert_int_equal(ki_informer_start(f->informer, NULL), 0);
    test_world_settle(f->engine);
    fake_event(f->source, KI_WATCH_EVENT_ADDED, fake_pod("a", 1));
    fake_event(f->source, KI_WATCH_EVENT_ADDED, fake_pod("b", 2));
    fake_event(f->source, KI_WATCH_EVENT_ADDED, fake_pod("c", 3));
    if (f->max_bytes != 0) {
        test_world_settle(f->engine);
        assert_true(of(f, "kinformer_informer_decoding_bytes") > 300);
    }
    fake_end_list(f->source, "10", "");
    test_world_settle(f->engine);
}

static void begin_with(fixture *f, const char *keep)
{
    begin_bare(f);
    f->keep = keep;
    begin_informer(f);
}

static void begin(fixture *f)
{
    begin_with(f, NULL);
}

static void end_bare(fixture *f)
{
    ki_buf_done(&f->text);
    f->engine = ki_engine_unref(f->engine);
    test_alloc_done(&f->alloc);
}

static void end(fixture *f)
{
    ki_informer_stop(f->informer);
    test_world_settle(f->engine);
    assert_true(ki_informer_is_stopped(f->informer));
    assert_int_equal(scrape(f), 0); /* one that stopped is not there any more */
    assert_null(scraping_find(ki_buf_text(&f->text), "kinformer_informer_synced", ""));
    f->handler = ki_registration_unref(f->handler);
    f->informer = ki_informer_unref(f->informer);
    fake_source_done(f->source);
    free(f->source);
    end_bare(f);
}

static void settle(fixture *f)
{
    test_world_settle(f->engine);
}

static void advance(fixture *f, uint64_t ms)
{
    test_world_advance(&f->world, f->engine, ms * TEST_MS);
}

/* Answers the list that comes after a backoff. */
static void relist(fixture *f, const char *version)
{
    for (size_t i = 0; i < 100 && (f->source->count == 0 || fake_last(f->source)->watch); i++) {
        advance(f, 1000);
    }
    assert_false(fake_last(f->source)->watch);
    fake_event(f->source, KI_WATCH_EVENT_ADDED, fake_pod("a", 1));
    fake_event(f->source, KI_WATCH_EVENT_ADDED, fake_pod("b", 2));
    fake_end_list(f->source, version, "");
    settle(f);
    assert_true(fake_last(f->source)->watch);
}

/* ---- informers ---- */

static void a_list_and_events(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    assert_metric(&f, "kinformer_informer_state", "state=\"watching\"", 1);
    assert_metric(&f, "kinformer_informer_state", "state=\"new\"", 0);
    assert_metric(&f, "kinformer_informer_synced", "resource=\"pods\"", 1);
    assert_metric(&f, "kinformer_informer_objects", "group=\"\",version=\"v1\"", 3);
    assert_metric(&f, "kinformer_informer_requests_total", "operation=\"list\"", 1);
    assert_metric(&f, "kinformer_informer_requests_total", "operation=\"watch\"", 1);
    assert_metric(&f, "kinformer_informer_requests_total", "operation=\"streaming list\"", 0);
    assert_metric(&f, "informer_store_resource_version", "name=\"pods\"", 10);
    assert_metric(&f, "kinformer_informer_applied_batches_total", "", 1);
    assert_metric(&f, "informer_processing_latency_seconds_count", "", 1);
    assert_metric(&f, "informer_processing_latency_seconds_bucket", "le=\"0.001\"", 1);
    double bytes = of(&f, "kinformer_informer_object_bytes");
    assert_true(bytes > 300 && bytes < 3000);

    assert_true(of(&f, "kinformer_informer_last_event_age_seconds") > 1e300); /* never */
    advance(&f, 2500);
    assert_metric(&f, "kinformer_informer_last_list_age_seconds", "", 2.5);
    fake_event(f.source, KI_WATCH_EVENT_MODIFIED, fake_pod("a", 12));
    fake_event(f.source, KI_WATCH_EVENT_DELETED, fake_pod("b", 13));
    fake_alive(f.source, 1000);
    settle(&f);
    assert_metric(&f, "kinformer_informer_events_total", "", 2);
    assert_metric(&f, "kinformer_informer_received_bytes_total", "", 1000);
    assert_metric(&f, "kinformer_informer_objects", "", 2);
    assert_metric(&f, "informer_store_resource_version", "", 13);
    assert_true(of(&f, "kinformer_informer_object_bytes") < bytes);
    advance(&f, 250);
    assert_metric(&f, "kinformer_informer_last_event_age_seconds", "", 0.25);
    assert_metric(&f, "kinformer_informer_last_byte_age_seconds", "", 0.25);
    fake_bookmark(f.source, "20", false);
    settle(&f);
    advance(&f, 1000);
    assert_metric(&f, "kinformer_informer_bookmarks_total", "", 1);
    assert_metric(&f, "kinformer_informer_last_bookmark_age_seconds", "", 1);
    assert_metric(&f, "informer_store_resource_version", "", 20);
    end(&f);
}

static void a_long_version_is_cut_to_what_a_double_holds(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    fake_bookmark(f.source, "98123456789012345", false);
    settle(&f);
    assert_metric(&f, "informer_store_resource_version", "", 123456789012345.0);
    end(&f);
}

static void undecodable_and_old_objects(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    fake_skipped(f.source, KI_WATCH_EVENT_MODIFIED, "default/a", "11", KI_ERR_SYNTAX);
    settle(&f);
    assert_metric(&f, "kinformer_informer_skipped_objects_total", "", 1);
    fake_event(f.source, KI_WATCH_EVENT_MODIFIED, fake_pod("a", 12));
    fake_event(f.source, KI_WATCH_EVENT_MODIFIED, fake_pod("b", 4)); /* from before the list */
    settle(&f);
    assert_metric(&f, "kinformer_informer_anomalies_total", "", 1);
    assert_metric(&f, "kinformer_informer_state", "state=\"backoff\"", 1);
    assert_metric(&f, "kinformer_informer_backoffs_total", "", 1);
    relist(&f, "20");
    assert_metric(&f, "kinformer_informer_relists_total", "reason=\"response\"", 1);
    end(&f);
}

static void updates_of_fields_that_are_not_kept(void **state)
{
    (void)state;
    fixture f;
    begin_with(&f, ".spec.nodeName");
    assert_metric(&f, "kinformer_informer_suppressed_events_total", "", 0);
    fake_event(f.source, KI_WATCH_EVENT_MODIFIED, fake_pod("a", 11));
    settle(&f);
    assert_metric(&f, "kinformer_informer_events_total", "", 1);
    assert_metric(&f, "kinformer_informer_suppressed_events_total", "", 1);
    end(&f);
}

/* The source does not filter, as servers before 1.36. */
static void objects_of_other_shards(void **state)
{
    (void)state;
    fixture f;
    begin_bare(&f);
    f.shard = "shardRange(object.metadata.uid, '0x0000000000000000', '0x0000000000000001')";
    begin_informer(&f);
    assert_metric(&f, "kinformer_informer_objects", "", 0);
    assert_metric(&f, "kinformer_informer_outside_shard_objects_total", "name=\"pods\"", 3);
    fake_event(f.source, KI_WATCH_EVENT_MODIFIED, fake_pod("a", 12));
    settle(&f);
    assert_metric(&f, "kinformer_informer_outside_shard_objects_total", "", 4);
    end(&f);
}

static void a_relist_has_a_reason(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    assert_metric(&f, "kinformer_informer_relists_total", "reason=\"expired\"", 0);
    fake_error_event(f.source, 410, "Expired", "too old");
    settle(&f);
    relist(&f, "20");
    assert_metric(&f, "kinformer_informer_relists_total", "reason=\"expired\"", 1);
    assert_metric(&f, "kinformer_informer_relists_total", "reason=\"connection\"", 0);
    assert_metric(&f, "kinformer_informer_unchanged_objects_total", "", 2);
    assert_metric(&f, "kinformer_informer_objects", "", 2);
    fake_end_status(f.source, 400, "BadRequest", "no");
    settle(&f);
    relist(&f, "30");
    assert_metric(&f, "kinformer_informer_relists_total", "reason=\"rejected\"", 1);
    assert_metric(&f, "kinformer_informer_relists_total", "reason=\"expired\"", 1);
    assert_metric(&f, "kinformer_informer_requests_total", "operation=\"list\"", 3);
    end(&f);
}

static void a_cut_connection_is_a_failure_until_it_is_back(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    fake_event(f.source, KI_WATCH_EVENT_MODIFIED, fake_pod("a", 12));
    settle(&f);
    advance(&f, 10000);
    fake_end_error(f.source, -ECONNRESET);
    settle(&f);
    assert_metric(&f, "kinformer_informer_reconnects_total", "", 1);
    fake_end_error(f.source, -ECONNREFUSED);
    settle(&f);
    assert_metric(&f, "kinformer_informer_failures_total", "", 1);
    assert_metric(&f, "kinformer_informer_state", "state=\"backoff\"", 1);
    f.world.now += 250 * TEST_MS; /* nobody runs meanwhile */
    assert_metric(&f, "kinformer_informer_failing_seconds", "", 0.25);
    advance(&f, 10000);
    fake_event(f.source, KI_WATCH_EVENT_MODIFIED, fake_pod("a", 13));
    settle(&f);
    assert_metric(&f, "kinformer_informer_failing_seconds", "", 0);
    assert_metric(&f, "kinformer_informer_relists_total", "reason=\"connection\"", 0);
    end(&f);
}

static void changes_that_cannot_be_applied(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    f.index_result = -ENOMEM; /* transient: the batch stays in the queue */
    fake_event(f.source, KI_WATCH_EVENT_MODIFIED, fake_pod("a", 12));
    settle(&f);
    assert_metric(&f, "informer_queued_items", "", 1);
    assert_true(of(&f, "kinformer_informer_queued_bytes") > 100);
    f.index_result = KI_ERR_INVALID;
    advance(&f, 1000);
    assert_metric(&f, "informer_queued_items", "", 0);
    assert_metric(&f, "kinformer_informer_queued_bytes", "", 0);
    assert_metric(&f, "kinformer_informer_rejected_objects_total", "", 1);
    end(&f);
}

static void an_object_that_is_written_to(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    ki_object *pod = ki_informer_get(f.informer, "default", "a");
    assert_non_null(pod);
    char *byte = strstr((char *)(uintptr_t)ki_object_bytes(pod).ptr, "default");
    assert_non_null(byte);
    *byte = 'D';
    fake_event(f.source, KI_WATCH_EVENT_MODIFIED, fake_pod("a", 12));
    settle(&f);
    assert_metric(&f, "kinformer_informer_mutated_objects_total", "", 1);
    (void)ki_object_unref(pod);
    end(&f);
}

static void a_server_that_went_back(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    fake_error_event(f.source, 410, "Expired", "too old");
    settle(&f);
    for (size_t i = 0; i < 100 && fake_last(f.source)->watch; i++) {
        advance(&f, 1000);
    }
    fake_end_status(f.source, 504, "Timeout", "Too large resource version: 10, current: 4");
    settle(&f);
    fake_end_list(f.source, "4", ""); /* its latest state */
    settle(&f);
    assert_metric(&f, "kinformer_informer_epoch_changes_total", "", 1);
    end(&f);
}

static void a_server_without_streaming_lists(void **state)
{
    (void)state;
    fixture f;
    begin_bare(&f);
    f.streams = true;
    f.source = calloc(1, sizeof(*f.source));
    assert_non_null(f.source);
    f.informer = make_informer(&f, f.source, NULL);
    assert_int_equal(ki_informer_start(f.informer, NULL), 0);
    settle(&f);
    assert_metric(&f, "kinformer_informer_state", "state=\"streaming\"", 1);
    assert_metric(&f, "kinformer_informer_requests_total", "operation=\"streaming list\"", 1);
    fake_end_status(f.source, 422, "Invalid", "sendInitialEvents: forbidden");
    settle(&f);
    assert_metric(&f, "kinformer_informer_fallbacks_total", "", 1);
    assert_metric(&f, "kinformer_informer_state", "state=\"listing\"", 1);
    end(&f);
}

static void a_resync(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    while (of(&f, "kinformer_informer_resyncs_total") < 1 && f.world.now < 10000 * TEST_SECOND) {
        advance(&f, 60000);
        fake_bookmark(f.source, "20", false);
        settle(&f);
    }
    assert_metric(&f, "kinformer_informer_resyncs_total", "", 1);
    end(&f);
}

/* An event allocates the same, whether or not anything was ever scraped. */
static void events_allocate_nothing_for_metrics(void **state)
{
    (void)state;
    enum { EVENTS = 200 };
    uint64_t calls[2];
    for (int scraped = 0; scraped < 2; scraped++) {
        fixture f;
        begin(&f);
        if (scraped) {
            assert_metric(&f, "kinformer_informer_objects", "", 3);
        }
        uint64_t before = f.alloc.calls;
        for (unsigned i = 0; i < EVENTS; i++) {
            fake_event(f.source, KI_WATCH_EVENT_MODIFIED, fake_pod("a", 11 + i));
            settle(&f);
            assert_true(ki_registration_dispatch(f.handler, 100) >= 0);
        }
        calls[scraped] = f.alloc.calls - before;
        end(&f);
    }
    assert_int_equal(calls[1], calls[0]);
    assert_true(calls[0] < 12 * EVENTS); /* of objects, versions of the store and notifications */
}

/* Arguments of probes that are computed only while a tracer is attached. */
static void events_that_are_traced(void **state)
{
#ifdef KI__HAS_PROBES
    kinformer_batch_applied_semaphore = 1;
    kinformer_event_decoded_semaphore = 1;
    kinformer_event_delivered_semaphore = 1;
    assert_true(KI__PROBE_IS_TRACED(event_delivered));
#endif
    a_list_and_events(state);
    fixture f;
    begin(&f);
    assert_int_equal(ki_registration_dispatch(f.handler, 0), 3);
    fake_bookmark(f.source, "20", false);
    settle(&f);
    end(&f);
#ifdef KI__HAS_PROBES
    kinformer_batch_applied_semaphore = 0;
    kinformer_event_decoded_semaphore = 0;
    kinformer_event_delivered_semaphore = 0;
#endif
    assert_false(KI__PROBE_IS_TRACED(event_delivered));
}

static void versions_that_are_held(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    assert_int_equal(ki_registration_dispatch(f.handler, 0), 3);
    assert_metric(&f, "kinformer_informer_store_versions", "", 1);
    ki_snapshot *held = ki_store_snapshot(ki_informer_store(f.informer));
    fake_event(f.source, KI_WATCH_EVENT_MODIFIED, fake_pod("a", 12));
    settle(&f);
    assert_metric(&f, "kinformer_informer_store_versions", "", 2);
    assert_true(of(&f, "kinformer_informer_version_bytes") > 300);
    advance(&f, 7000);
    assert_metric(&f, "kinformer_informer_oldest_snapshot_seconds", "", 7);
    (void)ki_snapshot_unref(held);
    assert_metric(&f, "kinformer_informer_oldest_snapshot_seconds", "", 0);
    assert_metric(&f, "kinformer_informer_store_versions", "", 1);
    assert_metric(&f, "kinformer_informer_version_bytes", "", 0);
    end(&f);
}

static void limits_of_memory_are_counted(void **state)
{
    (void)state;
    fixture f;
    begin_bare(&f);
    f.max_bytes = 20000;
    begin_informer(&f);
    assert_metric(&f, "kinformer_informer_decoding_bytes", "", 0);
    assert_metric(&f, "kinformer_informer_max_bytes", "", 20000);
    assert_metric(&f, "kinformer_informer_over_limit", "", 0);
    assert_true(of(&f, "kinformer_informer_index_bytes") > 1000);
    fake_event(f.source, KI_WATCH_EVENT_MODIFIED, fake_pod("a", 11));
    settle(&f);
    assert_true(of(&f, "kinformer_informer_queue_bytes") > 100); /* of the handler */
    for (unsigned i = 0; i < 100 && of(&f, "kinformer_informer_over_limit") < 1; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "p%u", i);
        fake_event(f.source, KI_WATCH_EVENT_ADDED, fake_pod(name, 12 + i));
        settle(&f);
    }
    assert_metric(&f, "kinformer_informer_over_limit", "", 1);
    assert_metric(&f, "kinformer_informer_refusals_total", "", 1);
    assert_metric(&f, "kinformer_informer_reduced", "", 0);
    end(&f);
}

static void reductions_are_shown(void **state)
{
    (void)state;
    fixture f;
    begin_bare(&f);
    f.max_bytes = 20000;
    f.at_limit = KI_AT_LIMIT_METADATA;
    begin_informer(&f);
    for (unsigned i = 0; i < 100 && of(&f, "kinformer_informer_reduced") < 1; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "p%u", i);
        fake_event(f.source, KI_WATCH_EVENT_ADDED, fake_pod(name, 12 + i));
        settle(&f);
    }
    assert_metric(&f, "kinformer_informer_reduced", "", 1);
    end(&f);
}

/* ---- handlers ---- */

/* An event that cannot be applied for lack of memory is as old as its reception. */
static void an_event_that_is_applied_late(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    assert_int_equal(ki_registration_dispatch(f.handler, 0), 3);
    f.index_result = -ENOMEM;
    fake_event(f.source, KI_WATCH_EVENT_MODIFIED, fake_pod("b", 11));
    settle(&f);
    for (int i = 0; i < 5; i++) {
        advance(&f, 1000);
    }
    assert_metric(&f, "kinformer_handler_queued_events", "", 0);
    f.index_result = 0;
    advance(&f, 1000);
    assert_metric(&f, "kinformer_handler_queued_events", "", 1);
    assert_metric(&f, "kinformer_handler_oldest_event_age_seconds", "", 6);
    assert_int_equal(ki_registration_dispatch(f.handler, 0), 1);
    fake_event(f.source, KI_WATCH_EVENT_MODIFIED, fake_pod("b", 12));
    settle(&f);
    assert_metric(&f, "kinformer_handler_oldest_event_age_seconds", "", 0);
    end(&f);
}

static void a_slow_handler(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    assert_metric(&f, "kinformer_handler_synced", "handler=\"audit\"", 0);
    assert_metric(&f, "kinformer_handler_queued_events", "name=\"pods\"", 3);
    advance(&f, 3000);
    assert_metric(&f, "kinformer_handler_oldest_event_age_seconds", "", 3);
    assert_int_equal(ki_registration_dispatch(f.handler, 0), 3);
    assert_metric(&f, "kinformer_handler_oldest_event_age_seconds", "", 0);
    assert_metric(&f, "kinformer_handler_synced", "", 1);
    assert_metric(&f, "kinformer_handler_delivered_events_total", "", 3);
    fake_event(f.source, KI_WATCH_EVENT_MODIFIED, fake_pod("b", 11));
    settle(&f);
    advance(&f, 1500);
    for (unsigned i = 0; i < 10; i++) {
        fake_event(f.source, KI_WATCH_EVENT_MODIFIED, fake_pod("a", 20 + i));
        settle(&f);
    }
    assert_metric(&f, "kinformer_handler_oldest_event_age_seconds", "", 1.5);
    assert_true(of(&f, "kinformer_handler_merged_events_total") >= 5);
    assert_true(of(&f, "kinformer_informer_merged_events_total") >= 5);
    assert_int_equal(ki_registration_dispatch(f.handler, 1), 1);
    assert_metric(&f, "kinformer_handler_oldest_event_age_seconds", "", 0);
    assert_true(of(&f, "kinformer_handler_queued_events") >= 1);
    end(&f);
}

typedef struct stuck {
    fixture *f;
    double running[3];
    double oldest;
} stuck;

static void look_inside(const ki_change *change, void *user)
{
    stuck *s = user;
    (void)change;
    s->running[0] = labelled(s->f, "kinformer_handler_callback_running_seconds", "\"slow\"");
    s->f->world.now += 5 * TEST_SECOND;
    s->running[1] = labelled(s->f, "kinformer_handler_callback_running_seconds", "\"slow\"");
    s->f->world.now += 2 * TEST_SECOND;
    s->running[2] = labelled(s->f, "kinformer_handler_callback_running_seconds", "\"slow\"");
    s->oldest = labelled(s->f, "kinformer_handler_oldest_event_age_seconds", "\"slow\"");
}

static void a_callback_that_does_not_return(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    stuck s = {.f = &f};
    ki_registration *slow = NULL;
    const ki_handler handler = {.on_change = look_inside, .user = &s};
    assert_int_equal(ki_informer_add_handler(f.informer, &handler,
                                             KI_OPTIONS(ki_handler_options, .name = "slow",
                                                        .delivery = KI_DELIVERY_CALLER),
                                             &slow, NULL),
                     0);
    advance(&f, 1000);
    assert_int_equal(ki_registration_dispatch(slow, 1), 1);
    assert_true(s.running[0] == 0);
    assert_true(s.running[1] > 4.99 && s.running[1] < 5.01);
    assert_true(s.running[2] > 6.99 && s.running[2] < 7.01);
    assert_true(s.oldest > 7.99 && s.oldest < 8.01);
    assert_metric(&f, "kinformer_handler_callback_running_seconds", "\"slow\"", 0);
    ki_registration_remove(slow);
    (void)ki_registration_unref(slow);
    end(&f);
}

/* ---- names ---- */

static void informers_of_one_name_are_numbered(void **state)
{
    (void)state;
    enum { COUNT = 3 };
    fixture f;
    begin_bare(&f);
    fake_source *sources = calloc(COUNT, sizeof(*sources));
    ki_informer *informers[COUNT];
    assert_non_null(sources);
    for (size_t i = 0; i < COUNT; i++) {
        informers[i] = make_informer(&f, &sources[i], i < 2 ? "x\"y" : "z");
        for (size_t h = 0; h < 2; h++) {
            assert_int_equal(ki_informer_on_change(informers[i], on_change, NULL, NULL, NULL), 0);
        }
    }
    assert_metric(&f, "kinformer_informer_synced", "name=\"x\\\"y\"", 0);
    assert_metric(&f, "kinformer_informer_synced", "name=\"x\\\"y#2\"", 0);
    assert_metric(&f, "kinformer_informer_synced", "name=\"z\"", 0);
    assert_metric(&f, "kinformer_handler_synced",
                  "name=\"z\",group=\"\",version=\"v1\","
                  "resource=\"pods\",handler=\"handler#2\"",
                  0);
    assert_null(scraping_find(ki_buf_text(&f.text), "kinformer_informer_synced", "#3"));
    int other;
    ki__members_set_owner(&informers[2]->member, &other); /* of another client */
    assert_int_equal(scrape(&f), 0);
    assert_null(scraping_find(ki_buf_text(&f.text), "kinformer_informer_synced", "name=\"z\""));
    for (size_t i = 0; i < COUNT; i++) {
        (void)ki_informer_unref(informers[i]);
        test_world_settle(f.engine);
        fake_source_done(&sources[i]);
    }
    free(sources);
    end_bare(&f);
}

/* ---- work queues and controllers ---- */

static int reconcile(const char *key, uint64_t *retry_after_ms, ki_error *error, void *user)
{
    fixture *f = user;
    (void)key;
    (void)error;
    f->world.now += f->takes_ns;
    *retry_after_ms = f->again_ms;
    return f->reconcile;
}

static void begin_controller(fixture *f, ki_workqueue **queue, ki_controller **controller)
{
    begin_bare(f);
    assert_int_equal(
        ki_workqueue_new(KI_OPTIONS(ki_workqueue_options, .name = "jobs", .clock = &f->world.clock,
                                    .alloc = &f->alloc.table),
                         queue, NULL),
        0);
    assert_int_equal(ki_controller_new(KI_OPTIONS(ki_controller_options, .queue = *queue,
                                                  .alloc = &f->alloc.table, .name = "robot",
                                                  .reconcile = reconcile, .user = f,
                                                  .max_retries = 1, .reconcile_timeout_ms = 300),
                                       controller, NULL),
                     0);
    assert_int_equal(ki_workqueue_add(*queue, "early"), 1); /* before times are measured */
    f->world.now += TEST_SECOND;
    assert_int_equal(ki_client_monitor_controller(&f->client, *controller, NULL), 0);
    assert_int_equal(ki_client_monitor_controller(&f->client, *controller, NULL), KI_ERR_EXISTS);
}

static void reconciles_by_result(void **state)
{
    (void)state;
    fixture f;
    ki_workqueue *queue = NULL;
    ki_controller *controller = NULL;
    begin_controller(&f, &queue, &controller);
    f.takes_ns = 250 * TEST_MS;
    f.world.now += 500 * TEST_MS;
    assert_metric(&f, "workqueue_depth", "name=\"jobs\",controller=\"jobs\"", 1);
    assert_int_equal(ki_controller_work_one(controller), 1);
    assert_metric(&f, "controller_runtime_reconcile_total", "\"robot\",result=\"success\"", 1);
    assert_metric(&f, "workqueue_queue_duration_seconds_sum", "", 0.5);
    assert_metric(&f, "workqueue_queue_duration_seconds_bucket", "le=\"0.1\"", 0);
    assert_metric(&f, "workqueue_queue_duration_seconds_bucket", "le=\"1\"", 1);
    assert_metric(&f, "workqueue_work_duration_seconds_sum", "", 0.25);
    assert_metric(&f, "controller_runtime_reconcile_time_seconds_sum", "", 0.25);
    assert_metric(&f, "controller_runtime_reconcile_time_seconds_bucket", "le=\"0.25\"", 1);
    assert_metric(&f, "controller_runtime_reconcile_time_seconds_bucket", "le=\"0.2\"", 0);
    assert_metric(&f, "workqueue_adds_total", "", 1);

    f.again_ms = 1000;
    assert_int_equal(ki_workqueue_add(queue, "again"), 1);
    assert_int_equal(ki_controller_work_one(controller), 1);
    assert_metric(&f, "controller_runtime_reconcile_total", "result=\"requeue_after\"", 1);
    assert_metric(&f, "kinformer_workqueue_delayed_keys", "", 1);
    assert_metric(&f, "workqueue_retries_total", "", 1);

    f.reconcile = -EIO;
    f.world.now += TEST_SECOND;
    assert_int_equal(ki_controller_work_one(controller), 1);
    assert_metric(&f, "controller_runtime_reconcile_errors_total", "", 1);
    assert_metric(&f, "controller_runtime_terminal_reconcile_errors_total", "", 0);
    f.world.now += TEST_SECOND;
    assert_int_equal(ki_controller_work_one(controller), 1);
    assert_metric(&f, "controller_runtime_reconcile_total", "result=\"error\"", 2);
    assert_metric(&f, "controller_runtime_terminal_reconcile_errors_total", "", 1);
    assert_metric(&f, "controller_runtime_max_concurrent_reconciles", "", 0); /* no thread of it */
    assert_metric(&f, "controller_runtime_reconcile_timeouts_total", "", 0);
    f.takes_ns = 400 * TEST_MS;
    assert_int_equal(ki_workqueue_add(queue, "slow"), 1);
    assert_int_equal(ki_controller_work_one(controller), 1);
    assert_metric(&f, "controller_runtime_reconcile_timeouts_total", "\"robot\"", 1);
    (void)ki_controller_unref(controller);
    assert_int_equal(scrape(&f), 0);
    assert_null(scraping_find(ki_buf_text(&f.text), "workqueue_depth", ""));
    (void)ki_workqueue_unref(queue);
    end_bare(&f);
}

typedef struct inside {
    fixture *f;
    double active;
    double unfinished;
    double longest;
} inside;

static int look_while_running(const char *key, uint64_t *retry_after_ms, ki_error *error,
                              void *user)
{
    inside *i = user;
    (void)key;
    (void)retry_after_ms;
    (void)error;
    i->f->world.now += 2 * TEST_SECOND;
    i->active = labelled(i->f, "controller_runtime_active_workers", "");
    i->unfinished = labelled(i->f, "workqueue_unfinished_work_seconds", "");
    i->longest = labelled(i->f, "workqueue_longest_running_processor_seconds", "");
    return 0;
}

static void work_that_is_not_done(void **state)
{
    (void)state;
    fixture f;
    inside i = {.f = &f};
    ki_workqueue *queue = NULL;
    ki_controller *controller = NULL;
    begin_bare(&f);
    assert_int_equal(
        ki_workqueue_new(KI_OPTIONS(ki_workqueue_options, .clock = &f.world.clock), &queue, NULL),
        0);
    assert_int_equal(ki_controller_new(KI_OPTIONS(ki_controller_options, .queue = queue,
                                                  .reconcile = look_while_running, .user = &i),
                                       &controller, NULL),
                     0);
    assert_int_equal(ki_client_monitor_controller(&f.client, controller, NULL), 0);
    assert_int_equal(ki_workqueue_add(queue, "key"), 1);
    assert_int_equal(ki_controller_work_one(controller), 1);
    assert_true(i.active == 1);
    assert_true(i.unfinished > 1.99 && i.unfinished < 2.01);
    assert_true(i.longest > 1.99 && i.longest < 2.01);
    assert_metric(&f, "controller_runtime_active_workers", "controller=\"controller\"", 0);
    assert_metric(&f, "workqueue_unfinished_work_seconds", "name=\"controller\"", 0);
    (void)ki_controller_unref(controller);
    (void)ki_workqueue_unref(queue);
    end_bare(&f);
}

/* Keys that a worker has when times begin to be measured count from then on. */
static void a_queue_is_measured_from_when_it_is_included(void **state)
{
    (void)state;
    fixture f;
    ki_workqueue *queue = NULL;
    ki_work work;
    begin_bare(&f);
    assert_int_equal(
        ki_workqueue_new(KI_OPTIONS(ki_workqueue_options, .clock = &f.world.clock), &queue, NULL),
        0);
    assert_int_equal(ki_workqueue_add(queue, "taken"), 1);
    assert_int_equal(ki_workqueue_add(queue, "waits"), 1);
    assert_int_equal(ki_workqueue_try_get(queue, &work), 1);
    f.world.now += 1000 * TEST_SECOND;
    assert_int_equal(ki_client_monitor_queue(&f.client, queue, NULL), 0);
    assert_int_equal(ki_client_monitor_queue(&f.client, queue, NULL), KI_ERR_EXISTS);
    f.world.now += 3 * TEST_SECOND;
    assert_metric(&f, "workqueue_unfinished_work_seconds", "name=\"queue\"", 3);
    ki_workqueue_done(queue, &work);
    assert_metric(&f, "workqueue_work_duration_seconds_sum", "", 3);
    assert_int_equal(ki_workqueue_try_get(queue, &work), 1);
    assert_metric(&f, "workqueue_queue_duration_seconds_sum", "", 3);
    assert_metric(&f, "workqueue_queue_duration_seconds_count", "", 1);
    ki_workqueue_done(queue, &work);
    (void)ki_workqueue_unref(queue);
    end_bare(&f);
}

static void a_queue_may_outlive_the_engine(void **state)
{
    (void)state;
    fixture f;
    ki_workqueue *queue = NULL;
    begin_bare(&f);
    assert_int_equal(ki_workqueue_new(NULL, &queue, NULL), 0);
    assert_int_equal(ki_client_monitor_queue(&f.client, queue, NULL), 0);
    end_bare(&f);
    (void)ki_workqueue_unref(queue);
    char name[257];
    memset(name, 'x', 256);
    name[256] = '\0';
    assert_int_equal(ki_workqueue_new(KI_OPTIONS(ki_workqueue_options, .name = name), &queue, NULL),
                     KI_ERR_LIMIT);
}

/* ---- memory ---- */

static void any_allocation_may_fail(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    ki_workqueue *queue = NULL;
    assert_int_equal(ki_workqueue_new(NULL, &queue, NULL), 0);
    assert_int_equal(ki_client_monitor_queue(&f.client, queue, NULL), 0);
    for (size_t i = 0; i < 40; i++) { /* more than the initial capacity */
        assert_int_equal(ki_informer_on_change(f.informer, on_change, NULL, NULL, NULL), 0);
    }
    assert_int_equal(scrape(&f), 0);
    size_t len = f.text.len;
    size_t live = f.alloc.live_blocks;
    int r = -ENOMEM;
    unsigned failed = 0;
    for (uint64_t n = 1; r == -ENOMEM; n++) {
        f.alloc.fail_at = f.alloc.calls + n;
        r = scrape(&f);
        failed += r == -ENOMEM;
        assert_int_equal(f.alloc.live_blocks, live);
    }
    f.alloc.fail_at = 0;
    assert_int_equal(r, 0);
    assert_int_equal(f.text.len, len);
    assert_true(failed >= 5);
    (void)ki_workqueue_unref(queue);
    settle(&f);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_and_events),
        cmocka_unit_test(a_long_version_is_cut_to_what_a_double_holds),
        cmocka_unit_test(undecodable_and_old_objects),
        cmocka_unit_test(updates_of_fields_that_are_not_kept),
        cmocka_unit_test(objects_of_other_shards),
        cmocka_unit_test(a_relist_has_a_reason),
        cmocka_unit_test(a_cut_connection_is_a_failure_until_it_is_back),
        cmocka_unit_test(changes_that_cannot_be_applied),
        cmocka_unit_test(an_object_that_is_written_to),
        cmocka_unit_test(a_server_that_went_back),
        cmocka_unit_test(a_server_without_streaming_lists),
        cmocka_unit_test(a_resync),
        cmocka_unit_test(events_allocate_nothing_for_metrics),
        cmocka_unit_test(events_that_are_traced),
        cmocka_unit_test(versions_that_are_held),
        cmocka_unit_test(an_event_that_is_applied_late),
        cmocka_unit_test(limits_of_memory_are_counted),
        cmocka_unit_test(reductions_are_shown),
        cmocka_unit_test(a_slow_handler),
        cmocka_unit_test(a_callback_that_does_not_return),
        cmocka_unit_test(informers_of_one_name_are_numbered),
        cmocka_unit_test(reconciles_by_result),
        cmocka_unit_test(work_that_is_not_done),
        cmocka_unit_test(a_queue_is_measured_from_when_it_is_included),
        cmocka_unit_test(a_queue_may_outlive_the_engine),
        cmocka_unit_test(any_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("metrics", tests, NULL, NULL);
}
