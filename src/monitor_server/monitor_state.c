/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a client as JSON, for programs and for the page. */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include <kinformer/clock.h>
#include <kinformer/memory.h>
#include <kinformer/resource.h>
#include <kinformer/version.h>

#include "base/time_units.h"
#include "monitor/checks.h"
#include "monitor_server/monitor_json.h"

enum { REPORT_MAX = 1 << 20, KEY_MAX = 256, TEXT_MAX = 1024, MEASURES_MAX = 4 };

/* ---- problems ---- */

/* The lines of failed checks, without their mark. Whether there is none. */
static bool put_problems(ki__out *out, const ki_monitor_server *server, const ki__gathered *g,
                         bool ready)
{
    ki_buf report;
    ki_check_options options = server->checks;
    options.verbose = false;
    ki_buf_init(&report, server->alloc, REPORT_MAX);
    int passed = ki__check(g, &options, ready, &report);
    ki__out_fail(out, passed < 0 ? passed : 0);
    ki_str rest = ki_buf_str(&report);
    while (rest.len != 0) {
        const char *end = memchr(rest.ptr, '\n', rest.len);
        size_t len = end != NULL ? (size_t)(end - rest.ptr) : rest.len;
        size_t mark = len > 3 ? 3 : 0;
        ki__put_string(out, ki_str_make(rest.ptr + mark, len - mark));
        len += end != NULL;
        rest = ki_str_make(rest.ptr + len, rest.len - len);
    }
    ki_buf_done(&report);
    return passed > 0;
}

static void put_checks(ki__out *out, const ki_monitor_server *server, const ki__gathered *g)
{
    ki__put_name(out, "problems");
    ki__put_list(out);
    bool live = put_problems(out, server, g, false);
    bool ready = put_problems(out, server, g, true);
    ki__put_end(out);
    ki__put_named_bool(out, "live", live);
    ki__put_named_bool(out, "ready", ready);
}

/* ---- informers ---- */

/* The state in words. */
static const char *state_text(const ki_health *h)
{
    switch (h->state) {
    case KI_REFLECTOR_NEW:
        return "not started";
    case KI_REFLECTOR_STREAMING:
    case KI_REFLECTOR_LISTING:
        return h->synced ? "receiving a new list" : "receiving the initial list";
    case KI_REFLECTOR_WATCHING:
        return h->accepted ? "watching" : "connecting a watch";
    case KI_REFLECTOR_BACKOFF:
        return "waiting before the next attempt";
    case KI_REFLECTOR_STOPPED:
        return "stopped";
    case KI_REFLECTOR_STATE_MAX:
        break;
    }
    return "unknown";
}

/* "bad": the cache is not current; "warning": it may soon be. */
static const char *level_of(const ki_monitor_server *server, const ki_health *h)
{
    uint32_t limit_ms = server->checks.stale_ms;
    bool stale = limit_ms != UINT32_MAX && ki__health_silent_ms(h) > limit_ms;
    bool failing = h->reason_class != KI_FAILURE_NONE && (!h->synced || h->failed_attempts > 1);
    if (stale || failing || h->over_limit || h->state == KI_REFLECTOR_BACKOFF) {
        return "bad";
    }
    return h->synced && h->reason_class == KI_FAILURE_NONE && h->state == KI_REFLECTOR_WATCHING
               ? "ok"
               : "warning";
}

static void put_reason(ki__out *out, ki_informer *informer, const ki_health *h)
{
    ki_error reason = KI_ERROR_INIT;
    ki_health now = KI_OPTIONS_INIT(ki_health);
    if (ki_informer_get_health(informer, &now, &reason) < 0 || reason.code == 0) {
        return;
    }
    ki__put_name(out, "failure");
    ki__put_map(out);
    ki__put_member(out, "operation", ki_watch_operation_name(now.reason_operation));
    ki__put_member(out, "class", ki_failure_class_name(now.reason_class));
    ki__put_named_text(out, "message", ki_str_from(reason.message), TEXT_MAX);
    ki__put_named_u64(out, "attempts", h->failed_attempts);
    ki__put_named_ms(out, "failingMs", h->failing_ms);
    ki__put_named_ms(out, "retryDelayMs", h->retry_delay_ms);
    ki__put_end(out);
}

static void put_relists(ki__out *out, const ki__informer_row *row)
{
    ki__put_named_u64(out, "relists", row->health.relists);
    ki__put_name(out, "relistReasons");
    ki__put_list(out);
    for (int i = 0; i < KI_FAILURE_CLASS_MAX; i++) {
        if (row->stats.relists[i] != 0) {
            ki__put_map(out);
            ki__put_member(out, "reason",
                           i == KI_FAILURE_NONE ? "no failure"
                                                : ki_failure_class_name((ki_failure_class)i));
            ki__put_named_u64(out, "count", row->stats.relists[i]);
            ki__put_end(out);
        }
    }
    ki__put_end(out);
}

static void put_samples(ki__out *out, const char *name, const ki__slot *slot,
                        const uint32_t samples[KI__SAMPLES])
{
    ki__put_name(out, name);
    ki__put_list(out);
    for (uint32_t i = 0; i < KI__SAMPLES; i++) { /* those before its start are 0 */
        ki__put_u64(out, samples[(slot->owner->position + i) % KI__SAMPLES]);
    }
    ki__put_end(out);
}

/* Shares of the memory, from the largest; the fields are few. */
static void put_memory(ki__out *out, ki__slot *slot, uint64_t object_bytes)
{
    bool done[KI__FIELDS] = {false};
    ki__put_name(out, "memoryByField");
    ki__put_list(out);
    for (size_t i = 0; i < slot->field_count; i++) {
        size_t most = KI__FIELDS;
        for (size_t k = 0; k < slot->field_count; k++) {
            bool more = most == KI__FIELDS || slot->fields[k].bytes > slot->fields[most].bytes;
            most = !done[k] && more ? k : most;
        }
        done[most] = true;
        uint64_t bytes = slot->fields[most].bytes;
        double share = slot->field_bytes != 0 ? (double)bytes / (double)slot->field_bytes : 0;
        ki__put_map(out);
        ki__put_member(out, "field", slot->fields[most].name);
        ki__put_named_u64(out, "percent", (uint64_t)(share * 100 + 0.5));
        ki__put_named_u64(out, "bytes", (uint64_t)(share * (double)object_bytes));
        ki__put_end(out);
    }
    ki__put_end(out);
    ki__put_named_u64(out, "memoryMeasuredObjects", slot->measured);
}

/* A place in the program, as its file and the offset in it, which addr2line reads. */
static void put_place(ki__out *out, const char *name, const void *address)
{
    Dl_info info;
    ki_buf text;
    ki_buf_init(&text, out->buf->alloc, TEXT_MAX);
    if (dladdr(address, &info) != 0 && info.dli_fname != NULL) {
        const char *slash = strrchr(info.dli_fname, '/');
        uintptr_t offset = (uintptr_t)address - (uintptr_t)info.dli_fbase;
        ki__out o = ki__out_to(&text);
        ki__out_texts(&o, slash != NULL ? slash + 1 : info.dli_fname, "+0x", NULL);
        for (int shift = 60; shift >= 0; shift -= 4) {
            if (offset >> shift != 0 || shift == 0) {
                ki__out_char(&o, "0123456789abcdef"[offset >> shift & 15]);
            }
        }
        ki__out_fail(out, ki__out_commit(&o));
    }
    ki__put_named_text(out, name, ki_buf_str(&text), TEXT_MAX);
    ki_buf_done(&text);
}

/* Who holds the oldest snapshot, if readers are tracked. */
static void put_reader(ki__out *out, ki_informer *informer)
{
    ki_reader reader = KI_OPTIONS_INIT(ki_reader);
    if (ki_store_reader(ki_informer_store(informer), 0, &reader) <= 0) {
        return;
    }
    ki__put_name(out, "oldestSnapshot");
    ki__put_map(out);
    ki__put_named_ms(out, "heldMs", reader.held_ns / KI__MS_NS);
    ki__put_named_u64(out, "newerVersions", reader.newer_versions);
    ki__put_named_u64(out, "thread", reader.thread);
    ki__put_named_text(out, "threadName", ki_str_from(reader.thread_name), TEXT_MAX);
    put_place(out, "caller", reader.caller);
    ki__put_end(out);
}

static void put_handler(ki__out *out, const ki_monitor_server *server, const ki__handler_row *row)
{
    uint64_t oldest_ms = row->lag.oldest_ns / KI__MS_NS;
    uint64_t running_ms = row->lag.running_ns / KI__MS_NS;
    bool bad =
        running_ms > server->checks.handler_stuck_ms || oldest_ms > server->checks.handler_lag_ms;
    ki__put_map(out);
    ki__put_member(out, "name", ki__handler_name(row));
    ki__put_member(out, "level", bad ? "bad" : oldest_ms > 5000 ? "warning" : "ok");
    ki__put_named_bool(out, "synced", row->lag.synced);
    ki__put_named_u64(out, "waiting", row->lag.stats.waiting);
    ki__put_named_u64(out, "delivered", row->lag.stats.delivered);
    ki__put_named_u64(out, "merged", row->lag.stats.merged);
    ki__put_named_ms(out, "oldestMs", oldest_ms);
    ki__put_named_ms(out, "runningMs", running_ms);
    ki__put_end(out);
}

static void put_counters(ki__out *out, const ki_health *h)
{
    const struct {
        const char *name;
        uint64_t number;
    } counters[] = {
        {"events", h->events},
        {"bookmarks", h->bookmarks},
        {"reconnects", h->reconnects},
        {"failures", h->failures},
        {"skipped", h->skipped},
        {"incomplete", h->incomplete},
        {"rejected", h->rejected},
        {"merged", h->merged},
        {"suppressed", h->suppressed},
        {"receivedBytes", h->bytes},
        {"objects", h->objects},
        {"queued", h->queued},
        {"queuedBytes", h->queued_bytes},
        {"arrived", h->arrived},
    };
    for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
        ki__put_named_u64(out, counters[i].name, counters[i].number);
    }
    ki__put_named_ms(out, "sinceEventMs", h->since_event_ms);
    ki__put_named_ms(out, "sinceBookmarkMs", h->since_bookmark_ms);
    ki__put_named_ms(out, "sinceByteMs", h->since_byte_ms);
    ki__put_named_ms(out, "sinceSyncMs", h->since_sync_ms);
}

static void put_bytes(ki__out *out, const ki_health *h)
{
    ki__put_named_u64(out, "memoryBytes", h->memory);
    ki__put_named_u64(out, "objectBytes", h->object_bytes);
    ki__put_named_u64(out, "indexBytes", h->index_bytes);
    ki__put_named_u64(out, "versionBytes", h->version_bytes);
    ki__put_named_u64(out, "queueBytes", h->queue_bytes + h->decoding_bytes);
    ki__put_named_u64(out, "maxBytes", h->max_bytes);
    ki__put_named_bool(out, "overLimit", h->over_limit);
}

static void put_selection(const ki__selection *selection, void *user)
{
    ki__out *out = user;
    ki__put_member(out, "labelSelector", selection->labels);
    ki__put_member(out, "fieldSelector", selection->fields);
    ki__put_member(out, "shardSelector", selection->shard_text);
}

static void put_identity(ki__out *out, const ki__gathered *g, size_t at)
{
    ki_informer *informer = g->informers[at].informer;
    const ki_resource *resource = ki_informer_resource(informer);
    char version[128];
    ki__put_member(out, "name", ki_informer_name(informer));
    ki__put_path_name(out, g, at);
    ki__put_member(out, "resource", resource != NULL ? ki_resource_name(resource) : "");
    ki__put_member(out, "apiVersion", resource != NULL ? ki_resource_api_version(resource) : "");
    ki__informer_with_selection(informer, put_selection, out);
    bool known = ki_informer_last_sync_resource_version(informer, version, sizeof(version)) >= 0;
    ki__put_member(out, "resourceVersion", known ? version : "");
}

static void put_informer(ki__out *out, ki_monitor_server *server, const ki__gathered *g, size_t at)
{
    const ki__informer_row *row = &g->informers[at];
    const ki_health *h = &row->health;
    ki__slot *slot = ki__slots_find(&server->slots, row->informer);
    ki__put_map(out);
    put_identity(out, g, at);
    ki__put_member(out, "state", ki_reflector_state_name(h->state));
    ki__put_member(out, "stateText", state_text(h));
    ki__put_member(out, "level", level_of(server, h));
    ki__put_named_bool(out, "synced", h->synced);
    put_reason(out, row->informer, h);
    put_counters(out, h);
    put_bytes(out, h);
    put_reader(out, row->informer);
    put_relists(out, row);
    if (slot != NULL) {
        ki__put_named_bool(out, "linked", server->objects && !slot->secret);
        put_samples(out, "eventSamples", slot, slot->events);
        put_samples(out, "lagSamplesMs", slot, slot->lag_ms);
        put_memory(out, slot, row->health.object_bytes);
    }
    ki__put_name(out, "handlers");
    ki__put_list(out);
    for (size_t i = 0; i < g->handler_count; i++) {
        if (g->handlers[i].informer == row) {
            put_handler(out, server, &g->handlers[i]);
        }
    }
    ki__put_end(out);
    ki__put_end(out);
}

/* ---- queues and controllers ---- */

static void put_queue(ki__out *out, const ki_monitor_server *server, const ki__queue_row *row)
{
    char key[KEY_MAX];
    uint64_t longest_ms = (uint64_t)row->stats.longest_running_ms;
    ki__workqueue_longest_running(row->queue, key, sizeof(key));
    ki__put_map(out);
    ki__put_member(out, "name", row->name);
    ki__put_member(out, "level", longest_ms > server->checks.worker_stuck_ms ? "bad" : "ok");
    ki__put_named_u64(out, "depth", row->stats.depth);
    ki__put_named_u64(out, "processing", row->stats.processing);
    ki__put_named_u64(out, "delayed", row->stats.delayed);
    ki__put_named_u64(out, "adds", row->stats.adds);
    ki__put_named_u64(out, "retries", row->stats.retries);
    ki__put_named_u64(out, "failedAdds", ki__workqueue_failed_adds(row->queue));
    ki__put_named_ms(out, "longestRunningMs", longest_ms);
    ki__put_member(out, "longestRunningKey", key);
    ki__put_end(out);
}

static void put_controller(ki__out *out, const ki__controller_row *row)
{
    static const char *const names[KI__RECONCILE_RESULTS] = {
        [KI__RECONCILE_SUCCESS] = "succeeded",
        [KI__RECONCILE_ERROR] = "failed",
        [KI__RECONCILE_REQUEUE_AFTER] = "requeuedAfter",
    };
    ki__put_map(out);
    ki__put_member(out, "name", ki__controller_name(row->controller));
    ki__put_named_u64(out, "workers", row->workers);
    ki__put_named_u64(out, "active", row->active);
    for (size_t i = 0; i < KI__RECONCILE_RESULTS; i++) {
        ki__put_named_u64(out, names[i], row->results[i]);
    }
    ki__put_named_u64(out, "givenUp", row->given_up);
    ki__put_end(out);
}

/* ---- the document ---- */

static void put_totals(ki__out *out, const ki_monitor_server *server, const ki__gathered *g)
{
    uint64_t objects = 0;
    uint64_t bytes = 0;
    for (size_t i = 0; i < g->informer_count; i++) {
        objects += g->informers[i].health.objects;
        bytes += g->informers[i].health.object_bytes;
    }
    ki__put_member(out, "version", ki_version());
    ki__put_named_time(out, "time",
                       ki_clock_now_ns(ki__engine_clock(server->engine)) / (int64_t)KI__SECOND_NS);
    ki__put_named_ms(out, "uptimeMs",
                     (ki__engine_now(server->engine) - server->started_ns) / KI__MS_NS);
    ki__put_named_u64(out, "objects", objects);
    ki__put_named_u64(out, "objectBytes", bytes);
    ki__put_named_u64(out, "informerCount", g->informer_count);
    ki__put_named_bool(out, "objectsServed", server->objects);
}

static void put_state(ki__out *out, ki_monitor_server *server, const ki__gathered *g)
{
    put_totals(out, server, g);
    put_checks(out, server, g);
    ki__put_name(out, "informers");
    ki__put_list(out);
    for (size_t i = 0; i < g->informer_count; i++) {
        put_informer(out, server, g, i);
    }
    ki__put_end(out);
    ki__put_name(out, "queues");
    ki__put_list(out);
    for (size_t i = 0; i < g->queue_count; i++) {
        put_queue(out, server, &g->queues[i]);
    }
    ki__put_end(out);
    ki__put_name(out, "controllers");
    ki__put_list(out);
    for (size_t i = 0; i < g->controller_count; i++) {
        put_controller(out, &g->controllers[i]);
    }
    ki__put_end(out);
}

/* A few at a time, since the loop waits for it. */
static void measure_some(ki_monitor_server *server)
{
    size_t measured = 0;
    KI__LIST_FOR_EACH (link, &server->slots.list) {
        ki__slot *slot = KI__CONTAINER_OF(link, ki__slot, link);
        measured += measured < MEASURES_MAX && ki__slot_measure(slot);
    }
}

int ki__monitor_write_state(ki_monitor_server *server, bool page, ki_str filter, ki_buf *buf)
{
    ki__gathered gathered;
    int r = ki__gather(server->client, &gathered);
    if (r < 0) {
        return r;
    }
    r = page ? ki__slots_use(&server->slots, &gathered)
             : ki__slots_update(&server->slots, &gathered);
    measure_some(server);
    ki__out out = ki__out_document(buf);
    ki__out_fail(&out, r);
    ki__put_map(&out);
    if (page) {
        ki__put_member_str(&out, "filter", filter);
    }
    put_state(&out, server, &gathered);
    if (page) {
        ki__put_changes(&out, server, filter, NULL);
    }
    ki__put_end(&out);
    ki__gathered_done(&gathered);
    return ki__out_commit(&out);
}
