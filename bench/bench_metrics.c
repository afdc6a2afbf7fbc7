/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics of a client. Rows:
 *   scrape          one text of all metrics of informers with a handler each, and a work queue
 *   events          an object is made of JSON, added to a local source, and delivered to a handler
 *   events_scraped  the same, with a scrape every second
 *   events_again    the first of them once more: how much two measurements of the same differ
 *   work            add, get and done of a key of four
 *   work_scraped    the same, with a scrape every second
 * Times are of one scrape, event or key. */
#include <inttypes.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include <kinformer/config.h>
#include <kinformer/kinformer.h>
#include <kinformer/metrics.h>
#include <kinformer/parts/local_source.h>
#include <kinformer/parts/shared_informer.h>
#include <kinformer/worker.h>

#include "support/bench.h"

enum { INFORMERS = 50, TEXT_MAX = 64 << 20, NAMES = 100, BURST = 50 };
enum { SHORT_MS = 200, LONG_MS = 2000 };

typedef struct world {
    ki_client *client;
    ki_informer *informers[INFORMERS];
    ki_local_source *source; /* of the first informer */
    ki_workqueue *queue;
    ki_buf text;
    uint64_t scraped_ns;   /* when it was scraped last */
    uint64_t version;      /* resourceVersion of the last event */
    atomic_uint delivered; /* of a burst */
    sem_t all_delivered;
} world;

static void check(int r, const char *what, const ki_error *error)
{
    if (r < 0) {
        bench_fail("%s: %s", what, error->message);
    }
}

static void on_change(const ki_change *change, void *user)
{
    world *w = user;
    bench_use(change);
    if (atomic_fetch_add(&w->delivered, 1) + 1 == BURST) {
        sem_post(&w->all_delivered);
    }
}

/* An informer of a source of its own, without objects. */
static ki_informer *make_informer(world *w, size_t number, ki_local_source **ret_source)
{
    char name[32];
    ki_error error = KI_ERROR_INIT;
    ki_informer *informer = NULL;
    ki_source table = KI_OPTIONS_INIT(ki_source);
    ki_engine *engine = ki_client_engine(w->client);
    (void)snprintf(name, sizeof(name), "pods-%zu", number);
    check(ki_local_source_new(KI_OPTIONS(ki_local_source_options, .engine = engine), ret_source,
                              &error),
          "source", &error);
    check(ki_local_source_table(*ret_source, &table), "table", &error);
    check(ki_informer_new(KI_OPTIONS(ki_informer_options, .engine = engine, .source = &table,
                                     .resource = KI_CORE_V1_PODS, .name = name),
                          &informer, &error),
          "informer", &error);
    check(ki_informer_on_change(informer, on_change, w, NULL, &error), "handler", &error);
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

/* Both rows of a pair read the clock, so that they differ in the scrapes only. */
static void scrape_every_second(world *w, bool scraped)
{
    uint64_t now = bench_wall_ns();
    if (now - w->scraped_ns >= 1000000000U) {
        w->scraped_ns = now;
        if (scraped) {
            scrape(w, 1);
        }
    }
}

static void put_pod(world *w)
{
    char text[160];
    ki_error error = KI_ERROR_INIT;
    ki_object *pod = NULL;
    uint64_t version = ++w->version;
    int len = snprintf(text, sizeof(text),
                       "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"web-%u\","
                       "\"namespace\":\"shop\",\"resourceVersion\":\"%" PRIu64 "\"}}",
                       (unsigned)(version % NAMES), version);
    check(ki_object_from_json(text, (size_t)len, NULL, &pod, &error), "object", &error);
    check(ki_local_source_put(w->source, pod, &error), "put", &error);
    (void)ki_object_unref(pod);
}

/* In bursts, each when the last was delivered. */
static void run_events(world *w, uint64_t count, bool scraped)
{
    for (uint64_t i = 0; i < count; i += BURST) {
        scrape_every_second(w, scraped);
        atomic_store(&w->delivered, 0);
        for (int k = 0; k < BURST; k++) {
            put_pod(w);
        }
        while (sem_wait(&w->all_delivered) != 0) {
        }
    }
}

static void events(void *user, uint64_t count)
{
    run_events(user, count * BURST, false);
}

static void events_scraped(void *user, uint64_t count)
{
    run_events(user, count * BURST, true);
}

static void run_work(world *w, uint64_t count, bool scraped)
{
    ki_work work;
    ki_error error = KI_ERROR_INIT;
    for (uint64_t i = 0; i < count; i++) {
        static const char keys[] = "shop/web-0\0shop/web-1\0shop/web-2\0shop/web-3";
        if (i % BURST == 0) {
            scrape_every_second(w, scraped);
        }
        check(ki_workqueue_add(w->queue, keys + i % 4 * sizeof("shop/web-0")), "add", &error);
        check(ki_workqueue_get(w->queue, &work), "get", &error);
        ki_workqueue_done(w->queue, &work);
    }
}

static void work(void *user, uint64_t count)
{
    run_work(user, count, false);
}

static void work_scraped(void *user, uint64_t count)
{
    run_work(user, count, true);
}

static void world_begin(world *w)
{
    ki_error error = KI_ERROR_INIT;
    ki_config *config = NULL;
    *w = (world){.client = NULL};
    if (sem_init(&w->all_delivered, 0, 0) != 0) {
        bench_fail("no semaphore");
    }
    check(ki_config_load(KI_OPTIONS(ki_config_options, .server = "http://127.0.0.1:9"), &config,
                         &error),
          "config", &error);
    check(ki_client_new(KI_OPTIONS(ki_client_options, .config = config), &w->client, &error),
          "client", &error);
    (void)ki_config_unref(config);
    check(ki_workqueue_new(NULL, &w->queue, &error), "queue", &error);
    check(ki_client_monitor_queue(w->client, w->queue, &error), "monitor", &error);
    for (size_t i = 0; i < INFORMERS; i++) {
        ki_local_source *source = NULL;
        w->informers[i] = make_informer(w, i, &source);
        if (i == 0) {
            w->source = source;
        } else {
            (void)ki_local_source_unref(source);
        }
    }
    ki_buf_init(&w->text, NULL, TEXT_MAX);
    scrape(w, 1);
}

static void world_end(world *w)
{
    ki_buf_done(&w->text);
    for (size_t i = 0; i < INFORMERS; i++) {
        ki_informer_stop(w->informers[i]);
        (void)ki_informer_unref(w->informers[i]);
    }
    (void)ki_local_source_unref(w->source);
    (void)ki_workqueue_unref(w->queue);
    (void)ki_client_close(w->client);
    sem_destroy(&w->all_delivered);
}

#define CASE(name, function, count)                                                            \
    {                                                                                          \
        .bench = "metrics", .impl = "kinformer", .row = (name), .run = (function), .user = &w, \
        .operations = (count), .memory = -1                                                    \
    }

int main(int argc, char **argv)
{
    bench_option options[] = {
        {"rounds", "rounds", "9"},
        {NULL, NULL, NULL},
    };
    bench_options(argc, argv, options);
    unsigned rounds = (unsigned)bench_option_number(&options[0]);
    world w;
    world_begin(&w);
    bench_case once[] = {CASE("scrape", scrape, 1)};
    once[0].bytes = (double)w.text.len;
    bench_measure(once, 1, rounds, SHORT_MS);
    bench_case pairs[] = {
        CASE("events", events, BURST),         CASE("events_scraped", events_scraped, BURST),
        CASE("events_again", events, BURST),   CASE("work", work, 1),
        CASE("work_scraped", work_scraped, 1), CASE("work_again", work, 1)};
    bench_measure(pairs, sizeof(pairs) / sizeof(pairs[0]), rounds, LONG_MS);
    world_end(&w);
    return 0;
}
