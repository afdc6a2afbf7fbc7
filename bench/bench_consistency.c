/* SPDX-License-Identifier: Apache-2.0 */
/* The check of a controller before it reconciles a key: is the cache past its last write? With
 * 10,000 keys that wait:
 *   check_none     no key waits for a write
 *   check_other    for a key without a recorded write
 *   check_waiting  for a key that waits
 *   record         a newer write of a key that waits */
#include <stdio.h>
#include <string.h>

#include <kinformer/builtin_resources.h>
#include <kinformer/client.h>
#include <kinformer/config.h>
#include <kinformer/consistency.h>
#include <kinformer/parts/local_source.h>
#include <kinformer/parts/shared_informer.h>

#include "support/bench.h"

enum { KEYS = 10000, ROUND_MS = 100 };

typedef struct world {
    ki_client *client;
    ki_local_source *source;
    ki_informer *informer;
    ki_consistency *empty;
    ki_consistency *full;
    char waiting[KEYS][32];
    char other[KEYS][32];
} world;

static void check(int r, const char *what, const ki_error *error)
{
    if (r < 0) {
        bench_fail("%s: %s", what, error->message);
    }
}

static void check_keys(ki_consistency *c, char (*keys)[32], uint64_t count, bool expected)
{
    for (uint64_t i = 0; i < count; i++) {
        if (ki_consistency_is_current(c, keys[i % KEYS]) != expected) {
            bench_fail("wrong result");
        }
    }
}

static void check_none(void *user, uint64_t count)
{
    world *w = user;
    check_keys(w->empty, w->waiting, count, true);
}

static void check_other(void *user, uint64_t count)
{
    world *w = user;
    check_keys(w->full, w->other, count, true);
}

static void check_waiting(void *user, uint64_t count)
{
    world *w = user;
    check_keys(w->full, w->waiting, count, false);
}

static void record(void *user, uint64_t count)
{
    world *w = user;
    for (uint64_t i = 0; i < count; i++) {
        if (ki_consistency_wrote(w->full, w->informer, w->waiting[i % KEYS], "", "123456789") < 0) {
            bench_fail("not recorded");
        }
    }
}

static void begin(world *w)
{
    ki_error error = KI_ERROR_INIT;
    ki_config *config = NULL;
    ki_source table = KI_OPTIONS_INIT(ki_source);
    memset(w, 0, sizeof(*w));
    check(ki_config_load(KI_OPTIONS(ki_config_options, .server = "http://127.0.0.1:9"), &config,
                         &error),
          "config", &error);
    check(ki_client_new(KI_OPTIONS(ki_client_options, .config = config), &w->client, &error),
          "client", &error);
    (void)ki_config_unref(config);
    ki_engine *engine = ki_client_engine(w->client);
    check(ki_local_source_new(KI_OPTIONS(ki_local_source_options, .engine = engine), &w->source,
                              &error),
          "source", &error);
    check(ki_local_source_table(w->source, &table), "table", &error);
    check(ki_informer_new(KI_OPTIONS(ki_informer_options, .engine = engine, .source = &table,
                                     .resource = KI_CORE_V1_PODS),
                          &w->informer, &error),
          "informer", &error);
    static const char pod[] =
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\","
        "\"resourceVersion\":\"100000000\"}}";
    ki_object *object = NULL;
    check(ki_object_from_json(pod, sizeof(pod) - 1, NULL, &object, &error), "pod", &error);
    check(ki_local_source_put(w->source, object, &error), "put", &error);
    (void)ki_object_unref(object);
    check(ki_informer_start(w->informer, &error), "start", &error);
    check(ki_informer_wait_for_sync(w->informer, 30000, &error), "sync", &error);
    check(ki_consistency_new(NULL, &w->empty, &error), "consistency", &error);
    check(ki_consistency_add_informer(w->empty, w->informer, &error), "informer", &error);
    check(ki_consistency_new(NULL, &w->full, &error), "consistency", &error);
    check(ki_consistency_add_informer(w->full, w->informer, &error), "informer", &error);
    for (int i = 0; i < KEYS; i++) {
        (void)snprintf(w->waiting[i], sizeof(w->waiting[i]), "namespace-%d/website-%d", i % 50, i);
        (void)snprintf(w->other[i], sizeof(w->other[i]), "namespace-%d/websites-%d", i % 50, i);
    }
    record(w, KEYS);
}

#define CASE(function)                                                                  \
    {                                                                                   \
        .bench = "consistency", .impl = "kinformer", .row = #function, .run = function, \
        .user = &w, .memory = -1                                                        \
    }

int main(int argc, char **argv)
{
    bench_option options[] = {
        {"rounds", "rounds", "9"},
        {NULL, NULL, NULL},
    };
    bench_options(argc, argv, options);
    static world w;
    begin(&w);
    bench_case cases[] = {CASE(check_none), CASE(check_other), CASE(check_waiting), CASE(record)};
    bench_measure(cases, sizeof(cases) / sizeof(cases[0]),
                  (unsigned)bench_option_number(&options[0]), ROUND_MS);
    (void)ki_consistency_unref(w.empty);
    (void)ki_consistency_unref(w.full);
    ki_informer_stop(w.informer);
    (void)ki_informer_unref(w.informer);
    (void)ki_local_source_unref(w.source);
    (void)ki_client_close(w.client);
    return 0;
}
