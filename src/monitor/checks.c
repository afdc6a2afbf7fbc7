/* SPDX-License-Identifier: Apache-2.0 */
/* Liveness and readiness. Each part of a client is a line of the report, in the form of the API
 * server's own /readyz?verbose. */
#include "monitor/checks.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/options.h"
#include "base/time_units.h"
#include "client/client.h"
#include "monitor/gathered.h"

enum { STALE_MS = 180000, HANDLER_MS = 300000, WORKER_MS = 600000, LOOP_MS = 60000 };

typedef struct checking {
    ki_check_options options;
    const ki__gathered *g;
    ki__out report;
    bool passed;
} checking;

/* ---- the report ---- */

/* A name or a message of others: on one line. */
static void add_line_text(checking *c, const char *text)
{
    for (const char *rest = text; *rest != '\0';) {
        size_t len = strcspn(rest, "\r\n");
        ki__out_str(&c->report, ki_str_make(rest, len));
        ki__out_text(&c->report, rest[len] != '\0' ? " " : "");
        rest += len + (rest[len] != '\0');
    }
}

/* "handler pods/audit", with what comes before it. */
static void add_part(checking *c, const char *mark, const char *kind, const char *name,
                     const char *inner)
{
    ki__out_texts(&c->report, mark, kind, name[0] != '\0' ? " " : "", NULL);
    add_line_text(c, name);
    ki__out_text(&c->report, inner[0] != '\0' ? "/" : "");
    add_line_text(c, inner);
}

static void fail(checking *c, const char *kind, const char *name, const char *inner)
{
    c->passed = false;
    add_part(c, "[-]", kind, name, inner);
    ki__out_text(&c->report, ": ");
}

static void pass(checking *c, const char *kind, const char *name, const char *inner)
{
    if (c->options.verbose) {
        add_part(c, "[+]", kind, name, inner);
        ki__out_text(&c->report, "\n");
    }
}

/* "callback running for 312 s (limit 300 s)". */
static void add_times(checking *c, const char *what, uint64_t ms, uint32_t limit_ms)
{
    ki__out_text(&c->report, what);
    ki__out_u64(&c->report, ms / 1000);
    ki__out_text(&c->report, " s (limit ");
    ki__out_u64(&c->report, limit_ms / 1000);
    ki__out_text(&c->report, " s)");
}

static bool is_over(uint64_t ms, uint32_t limit_ms)
{
    return limit_ms != UINT32_MAX && ms > limit_ms;
}

/* ---- liveness ---- */

static void check_loop(checking *c)
{
    uint64_t ms = ki__engine_overdue(c->g->client->engine) / KI__MS_NS;
    if (is_over(ms, c->options.loop_stuck_ms)) {
        fail(c, "loop", "", "");
        add_times(c, "not running for ", ms, c->options.loop_stuck_ms);
        ki__out_text(&c->report, "\n");
    } else {
        pass(c, "loop", "", "");
    }
}

static void check_handler_runs(checking *c, const ki__handler_row *row)
{
    const char *name = ki_informer_name(row->informer->informer);
    uint64_t ms = row->lag.running_ns / KI__MS_NS;
    if (is_over(ms, c->options.handler_stuck_ms)) {
        fail(c, "handler", name, ki__handler_name(row));
        add_times(c, "callback running for ", ms, c->options.handler_stuck_ms);
        ki__out_text(&c->report, "\n");
    } else {
        pass(c, "handler", name, ki__handler_name(row));
    }
}

static void check_queue(checking *c, const ki__queue_row *row)
{
    uint64_t ms = (uint64_t)row->stats.longest_running_ms;
    if (is_over(ms, c->options.worker_stuck_ms)) {
        fail(c, "queue", row->name, "");
        add_times(c, "a key is being processed for ", ms, c->options.worker_stuck_ms);
        ki__out_text(&c->report, "\n");
    } else {
        pass(c, "queue", row->name, "");
    }
}

static void check_live(checking *c)
{
    const ki__gathered *g = c->g;
    check_loop(c);
    for (size_t i = 0; i < g->handler_count; i++) {
        check_handler_runs(c, &g->handlers[i]);
    }
    for (size_t i = 0; i < g->queue_count; i++) {
        check_queue(c, &g->queues[i]);
    }
}

/* ---- readiness ---- */

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Sources that never report bytes are not required to send anything regularly. */
uint64_t ki__health_silent_ms(const ki_health *h)
{
    if (h->since_byte_ms == UINT64_MAX) {
        return h->failing_ms;
    }
    return least(least(h->since_byte_ms, h->since_sync_ms),
                 least(h->since_event_ms, h->since_bookmark_ms));
}

static void add_reason(checking *c, const ki__informer_row *row)
{
    ki_error reason = KI_ERROR_INIT;
    ki_health health = KI_OPTIONS_INIT(ki_health);
    int r = ki_informer_get_health(row->informer, &health, &reason);
    if (r == 0 && reason.code != 0) {
        ki__out_text(&c->report, ": ");
        ki__out_text(&c->report, ki_watch_operation_name(health.reason_operation));
        ki__out_text(&c->report, health.failed_attempts > 1 ? " keeps failing: " : " failed: ");
        add_line_text(c, reason.message);
    }
    ki__out_text(&c->report, "\n");
}

static void check_informer(checking *c, const ki__informer_row *row)
{
    const char *name = ki_informer_name(row->informer);
    const ki_health *h = &row->health;
    uint64_t ms = ki__health_silent_ms(h);
    if (h->state == KI_REFLECTOR_NEW) {
        fail(c, "informer", name, "");
        ki__out_text(&c->report, "not started\n");
    } else if (!h->synced) {
        fail(c, "informer", name, "");
        ki__out_text(&c->report, "not synced");
        add_reason(c, row);
    } else if (h->over_limit) {
        fail(c, "informer", name, "");
        ki__out_text(&c->report, "over limit");
        add_reason(c, row);
    } else if (is_over(ms, c->options.stale_ms)) {
        fail(c, "informer", name, "");
        add_times(c, "no data for ", ms, c->options.stale_ms);
        add_reason(c, row);
    } else if (h->reduction != KI_REDUCTION_NONE && c->options.verbose) {
        add_part(c, "[+]", "informer", name, "");
        ki__out_texts(&c->report, ": reduced: ", ki_reduction_name(h->reduction), "\n", NULL);
    } else {
        pass(c, "informer", name, "");
    }
}

static void check_handler(checking *c, const ki__handler_row *row)
{
    const char *name = ki_informer_name(row->informer->informer);
    uint64_t ms = row->lag.oldest_ns / KI__MS_NS;
    if (!row->lag.synced) {
        fail(c, "handler", name, ki__handler_name(row));
        ki__out_text(&c->report, "initial objects not delivered: ");
        ki__out_u64(&c->report, row->lag.stats.waiting);
        ki__out_text(&c->report, " waiting\n");
    } else if (is_over(ms, c->options.handler_lag_ms)) {
        fail(c, "handler", name, ki__handler_name(row));
        add_times(c, "oldest event waits for ", ms, c->options.handler_lag_ms);
        ki__out_text(&c->report, "\n");
    } else {
        pass(c, "handler", name, ki__handler_name(row));
    }
}

static void check_memory(checking *c)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < c->g->informer_count; i++) {
        bytes += c->g->informers[i].health.memory;
    }
    if (c->options.max_bytes != 0 && bytes > c->options.max_bytes) {
        fail(c, "memory", "", "");
        ki__out_u64(&c->report, bytes);
        ki__out_text(&c->report, " bytes of informers (limit ");
        ki__out_u64(&c->report, c->options.max_bytes);
        ki__out_text(&c->report, ")\n");
    } else {
        pass(c, "memory", "", "");
    }
}

static void check_ready(checking *c)
{
    const ki__gathered *g = c->g;
    for (size_t i = 0; i < g->informer_count; i++) {
        check_informer(c, &g->informers[i]);
    }
    for (size_t i = 0; i < g->handler_count; i++) {
        check_handler(c, &g->handlers[i]);
    }
    check_memory(c);
}

/* ---- both ---- */

static uint32_t or_default(uint32_t value, uint32_t otherwise)
{
    return value != 0 ? value : otherwise;
}

int ki__check_options(const ki_check_options *options, ki_check_options *ret_options,
                      ki_error *error)
{
    ki_check_options o = {0};
    int r = KI__TAKE(ki_check_options, &o, options, error);
    if (r < 0) {
        return r;
    }
    o.stale_ms = or_default(o.stale_ms, STALE_MS);
    o.handler_stuck_ms = or_default(o.handler_stuck_ms, HANDLER_MS);
    o.worker_stuck_ms = or_default(o.worker_stuck_ms, WORKER_MS);
    o.loop_stuck_ms = or_default(o.loop_stuck_ms, LOOP_MS);
    o.handler_lag_ms = or_default(o.handler_lag_ms, UINT32_MAX);
    *ret_options = o;
    return 0;
}

int ki__check(const ki__gathered *g, const ki_check_options *options, bool ready, ki_buf *report)
{
    ki_buf nothing; /* has no space, so the first text ends the report */
    ki_buf_init(&nothing, g->alloc, 0);
    checking c = {
        .options = *options,
        .g = g,
        .report = ki__out_to(report != NULL ? report : &nothing),
        .passed = true,
    };
    if (ready) {
        check_ready(&c);
    } else {
        check_live(&c);
    }
    int r = report != NULL ? ki__out_commit(&c.report) : 0;
    ki_buf_done(&nothing);
    return r < 0 ? r : c.passed;
}

static int check(ki_client *client, const ki_check_options *options, bool ready, ki_buf *report,
                 ki_error *error)
{
    ki_check_options o;
    ki__gathered gathered;
    int r = ki__check_options(options, &o, error);
    if (r < 0) {
        return r;
    }
    KI__REQUIRE_OWN_ENGINE(client->engine, error);
    r = ki__gather(client, &gathered);
    if (r == 0) {
        r = ki__check(&gathered, &o, ready, report);
        ki__gathered_done(&gathered);
    }
    return r < 0 ? ki__error_code(error, r) : r;
}

int ki_client_check_live(ki_client *client, const ki_check_options *options, ki_buf *report,
                         ki_error *error)
{
    KI__REQUIRE(client, error);
    return check(client, options, false, report, error);
}

int ki_client_check_ready(ki_client *client, const ki_check_options *options, ki_buf *report,
                          ki_error *error)
{
    KI__REQUIRE(client, error);
    return check(client, options, true, report, error);
}
