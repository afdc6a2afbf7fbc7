/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics of a client. Rows:
 *   scrape   one text of all metrics of informers with a handler each, and a work queue
 * Times are of one scrape. */
#include <stdio.h>
#include <stdlib.h>

#include <kinformer/config.h>
#include <kinformer/kinformer.h>
#include <kinformer/metrics.h>
#include <kinformer/parts/local_source.h>
#include <kinformer/parts/shared_informer.h>

#include "support/bench.h"

enum { INFORMERS = 50, TEXT_MAX = 64 << 20, ROUND_MS = 200 };

typedef struct world {
    ki_client *client;
    ki_buf text;
} world;

static void check(int r, const char *what, const ki_error *error)
{
    if (r < 0) {
        bench_fail("%s: %s", what, error->message);
    }
}

static void on_change(const ki_change *change, void *user)
{
    (void)user;
    bench_use(change);
}

static ki_informer *make_informer(ki_client *client, size_t number)
{
    char name[32];
    ki_error error = KI_ERROR_INIT;
    ki_local_source *source = NULL;
    ki_informer *informer = NULL;
    ki_source table = KI_OPTIONS_INIT(ki_source);
    ki_engine *engine = ki_client_engine(client);
    (void)snprintf(name, sizeof(name), "pods-%zu", number);
    check(
        ki_local_source_new(KI_OPTIONS(ki_local_source_options, .engine = engine), &source, &error),
        "source", &error);
    check(ki_local_source_table(source, &table), "table", &error);
    (void)ki_local_source_unref(source);
    check(ki_informer_new(KI_OPTIONS(ki_informer_options, .engine = engine, .source = &table,
                                     .resource = KI_CORE_V1_PODS, .name = name),
                          &informer, &error),
          "informer", &error);
    check(ki_informer_on_change(informer, on_change, NULL, NULL, &error), "handler", &error);
    check(ki_informer_start(informer, &error), "start", &error);
    check(ki_informer_wait_for_sync(informer, 30000, &error), "sync", &error);
    return informer;
}

static void scrape(void *user, uint64_t count)
{
    world *w = user;
    ki_error error = KI_ERROR_INIT;
    for (; count != 0; count--) {
        ki_buf_clear(&w->text);
        check(ki_client_write_metrics(w->client, KI_METRICS_PROMETHEUS, &w->text, &error),
              "metrics", &error);
    }
}

int main(int argc, char **argv)
{
    bench_option options[] = {
        {"rounds", "rounds", "9"},
        {NULL, NULL, NULL},
    };
    bench_options(argc, argv, options);
    world w = {.client = NULL};
    ki_error error = KI_ERROR_INIT;
    ki_config *config = NULL;
    ki_workqueue *queue = NULL;
    ki_informer *informers[INFORMERS];
    check(ki_config_load(KI_OPTIONS(ki_config_options, .server = "http://127.0.0.1:9"), &config,
                         &error),
          "config", &error);
    check(ki_client_new(KI_OPTIONS(ki_client_options, .config = config), &w.client, &error),
          "client", &error);
    check(ki_workqueue_new(NULL, &queue, &error), "queue", &error);
    check(ki_client_monitor_queue(w.client, queue, &error), "monitor", &error);
    for (size_t i = 0; i < INFORMERS; i++) {
        informers[i] = make_informer(w.client, i);
    }
    ki_buf_init(&w.text, NULL, TEXT_MAX);
    scrape(&w, 1);
    bench_case cases[] = {{.bench = "metrics",
                           .impl = "kinformer",
                           .row = "scrape",
                           .run = scrape,
                           .user = &w,
                           .bytes = (double)w.text.len,
                           .memory = -1}};
    bench_measure(cases, 1, (unsigned)bench_option_number(&options[0]), ROUND_MS);
    ki_buf_done(&w.text);
    for (size_t i = 0; i < INFORMERS; i++) {
        ki_informer_stop(informers[i]);
        (void)ki_informer_unref(informers[i]);
    }
    (void)ki_workqueue_unref(queue);
    (void)ki_client_close(w.client);
    (void)ki_config_unref(config);
    return 0;
}
