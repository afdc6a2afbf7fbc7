/* SPDX-License-Identifier: Apache-2.0 */
/* Faults of the server and of handlers are visible in /readyz, in /metrics and on the page within
 * 30 s: a stalled watch, a stuck handler, a full queue, lost history.  threads: yes */
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/monitoring.h"
#include "support/scraping.h"

#define HTML "Accept: text/html\r\n"
#define WITHIN_MS 30000
#define POLL_MS 20
#define POD "apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: default, labels: {app: "

typedef struct fixture {
    monitoring m;
    sem_t may_continue;
    atomic_bool blocks;
} fixture;

static void on_change(const ki_change *change, void *user)
{
    fixture *f = user;
    (void)change;
    if (atomic_load(&f->blocks)) {
        sem_wait(&f->may_continue);
    }
}

static void begin_with(fixture *f, uint32_t stale_ms)
{
    ki_check_options checks = KI_OPTIONS_INIT(ki_check_options);
    ki_monitor_server_options options = KI_OPTIONS_INIT(ki_monitor_server_options);
    ki_error error = KI_ERROR_INIT;
    ki_informer *pods = NULL;
    checks.stale_ms = stale_ms;
    checks.handler_stuck_ms = 1000;
    checks.handler_lag_ms = 1000;
    options.checks = &checks;
    *f = (fixture){0};
    assert_int_equal(sem_init(&f->may_continue, 0, 0), 0);
    monitoring_begin(&f->m, &options);
    assert_int_equal(ki_client_informer(f->m.client, KI_CORE_V1_PODS, NULL, &pods, &error), 0);
    assert_int_equal(ki_informer_on_change(
                         pods, on_change, f,
                         KI_OPTIONS(ki_handler_options, .name = "audit", .queue_limit = 2), &error),
                     0);
    assert_int_equal(ki_client_wait_for_sync(f->m.client, 30000, &error), 0);
    ki_informer_unref(pods);
}

static void begin(fixture *f)
{
    begin_with(f, 2000);
}

static void end(fixture *f)
{
    atomic_store(&f->blocks, false);
    for (int i = 0; i < 100; i++) {
        sem_post(&f->may_continue);
    }
    monitoring_end(&f->m);
    sem_destroy(&f->may_continue);
}

/* Something that the watch receives, so that it is not silent. */
static void change(fixture *f, const char *value)
{
    ki_buf yaml;
    ki_buf_init(&yaml, NULL, 1000);
    test_add(&yaml, POD, 1);
    test_add(&yaml, value, 1);
    test_add(&yaml, "}}\n", 1);
    monitoring_load(&f->m, ki_buf_text(&yaml));
    ki_buf_done(&yaml);
}

static double metric(fixture *f, const char *name, const char *labels)
{
    assert_int_equal(monitoring_get(&f->m, "/metrics", ""), 200);
    return scraping_value(monitoring_body(&f->m), name, labels);
}

static void until_metric(fixture *f, const char *name, const char *labels, double least)
{
    for (int waited_ms = 0; !(metric(f, name, labels) >= least); waited_ms += POLL_MS) {
        assert_true(waited_ms < WITHIN_MS);
        usleep(POLL_MS * 1000);
    }
}

static void set_faults(fixture *f, const char *faults)
{
    ki_error error = KI_ERROR_INIT;
    assert_int_equal(ki_apiserver_set_faults(f->m.server, faults, &error), 0);
}

/* The server accepts connections, and does not respond to watches. */
static void a_stalled_watch_is_visible(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    set_faults(&f, "latency=10m,verb=watch");
    ki_apiserver_drop_watches(f.m.server);
    monitoring_until(&f.m, "/readyz", "", "[-]informer pods: no data for ");
    assert_int_equal(f.m.status, 503);
    assert_true(metric(&f, "kinformer_informer_last_byte_age_seconds", "resource=\"pods\"") > 2);
    monitoring_until(&f.m, "/debug/", HTML, "informer pods: no data for ");
    monitoring_has(&f.m, "<article class=\"card bad\" data-informer=\"pods\">");
    monitoring_has(&f.m, "connecting a watch");
    set_faults(&f, "");
    ki_apiserver_break_connections(f.m.server);
    monitoring_until(&f.m, "/debug/", HTML, "watching");
    end(&f);
}

static void a_stuck_handler_is_visible(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    atomic_store(&f.blocks, true);
    change(&f, "a");
    monitoring_until(&f.m, "/readyz", "", "[-]handler pods/audit: oldest event waits for ");
    assert_int_equal(f.m.status, 503);
    monitoring_until(&f.m, "/healthz", "", "[-]handler pods/audit: callback running for ");
    assert_int_equal(f.m.status, 503);
    assert_true(metric(&f, "kinformer_handler_oldest_event_age_seconds", "handler=\"audit\"") > 1);
    monitoring_until(&f.m, "/debug/", HTML, "<p class=\"handler bad\"><b>audit</b>");
    monitoring_has(&f.m, ", in one callback for ");
    monitoring_has(&f.m, "not live");
    end(&f);
}

/* Its handler is behind, so events are merged. */
static void a_full_queue_is_visible(void **state)
{
    (void)state;
    static const char *const values[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    fixture f;
    begin(&f);
    atomic_store(&f.blocks, true);
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        change(&f, values[i]);
    }
    monitoring_until(&f.m, "/debug/", HTML, " merged</span>");
    monitoring_has(&f.m, "waiting");
    assert_true(metric(&f, "kinformer_handler_merged_events_total", "handler=\"audit\"") > 0);
    monitoring_until(&f.m, "/readyz", "", "[-]handler pods/audit: oldest event waits for ");
    end(&f);
}

/* Attempts alternate with waits; the card is not green or yellow in between. */
static void an_informer_that_keeps_failing_stays_red(void **state)
{
    (void)state;
    fixture f;
    begin_with(&f, 600000);
    set_faults(&f, "refuse");
    ki_apiserver_break_connections(f.m.server);
    until_metric(&f, "kinformer_informer_failures_total", "resource=\"pods\"", 2);
    for (int i = 0; i < 40; i++) {
        assert_int_equal(monitoring_get(&f.m, "/debug/", HTML), 200);
        monitoring_has(&f.m, "<article class=\"card bad\" data-informer=\"pods\">");
        usleep(50000);
    }
    end(&f);
}

/* The watch cannot resume: the informer relists. While that fails, it is not ready. */
static void lost_history_is_visible(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    set_faults(&f, "expire,verb=watch");
    ki_apiserver_drop_watches(f.m.server);
    until_metric(&f, "kinformer_informer_relists_total", "resource=\"pods\",reason=\"expired\"", 1);
    monitoring_until(&f.m, "/debug/", HTML, "<span class=\"muted\">expired ");
    set_faults(&f, "status=503");
    ki_apiserver_drop_watches(f.m.server);
    monitoring_until(&f.m, "/readyz", "", "[-]informer pods: no data for ");
    assert_int_equal(f.m.status, 503);
    monitoring_until(&f.m, "/debug/", HTML, "<p class=\"failure\">");
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stalled_watch_is_visible),
        cmocka_unit_test(a_stuck_handler_is_visible),
        cmocka_unit_test(a_full_queue_is_visible),
        cmocka_unit_test(an_informer_that_keeps_failing_stays_red),
        cmocka_unit_test(lost_history_is_visible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
