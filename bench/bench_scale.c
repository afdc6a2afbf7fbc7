/* SPDX-License-Identifier: Apache-2.0 */
/* One informer with many pods, and no server: does the cost of an object grow with their number?
 * One case in a process, see --help. Rows:
 *   first_sync  decoding and storing all pods, until the handler has received them; for one pod
 *   memory      resident after it, and its peak, without what was there before
 *   update      one event after the other: decoded, stored, delivered
 *   held        the same while a snapshot is held, and the release of it, for one event
 *   relist      the watch has expired, one pod of a hundred has changed; for one pod
 *   snapshot    taken and released
 *   get         an object by its key, some at random
 *   by_index    the list of a namespace; for one of its 500 objects
 *   list_all    the list of everything; for one object
 *   walk        an iteration over everything that reads the name; for one object
 * Processor time is of the whole process, less what making the pods took. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kinformer/health.h>
#include <kinformer/index.h>
#include <kinformer/informer.h>
#include <kinformer/parts/engine.h>
#include <kinformer/parts/shared_informer.h>
#if __has_include(<kinformer/storage.h>)
#include <kinformer/storage.h>
#define BENCH_HAS_PACKED
#endif

#include "support/bench.h"
#include "support/generator.h"

enum {
    UPDATES = 1000, /* in a sample */
    SAMPLES = 15,
    READS = 20000,
    CHANGED_OF = 100, /* one of so many has changed when everything is listed again */
};
#define PATIENCE_NS (UINT64_C(120) * 1000000000)

static const char five[] =
    ".spec.nodeName,.status.phase,.status.podIP,.metadata.labels['app.kubernetes.io/name'],"
    ".metadata.labels['pod-template-hash']";

typedef struct scale {
    const char *storage;
    const char *kind;
    uint64_t objects;
    bench_generator *generator;
    ki_engine *engine;
    ki_informer *informer;
    ki_store *store;
    uint64_t delivered; /* events that the handler received */
    double before;      /* resident without objects */
    double settled;     /* and after the first sync */
    uint64_t random;
} scale;

static void check(int r, const char *what)
{
    if (r < 0) {
        bench_fail("%s: %s", what, ki_error_name(r));
    }
}

/* ---- the engine ---- */

static uint64_t skipped_ns; /* waits that were not waited for */

static uint64_t now_ns(void *user)
{
    (void)user;
    return bench_wall_ns() + skipped_ns;
}

static int64_t real_ns(void *user)
{
    (void)user;
    return 0;
}

static int fill(void *bytes, size_t len, void *user)
{
    static uint64_t state = 1;
    (void)user;
    for (size_t i = 0; i < len; i++) {
        ((unsigned char *)bytes)[i] = (unsigned char)bench_mix(state++);
    }
    return 0;
}

static void run_engine(scale *s)
{
    while (ki_engine_run(s->engine, 0) != 0) {
    }
}

/* Works until so many lists are complete and everything of them is stored. */
static void run_until_listed(scale *s, uint64_t lists)
{
    run_engine(s);
    while (bench_generator_lists(s->generator) < lists) {
        uint64_t due = ki_engine_deadline(s->engine);
        uint64_t now = now_ns(NULL);
        if (due == UINT64_MAX || (due > now && due - now > PATIENCE_NS)) {
            bench_fail("nothing is listed");
        }
        skipped_ns += due > now ? due - now : 0;
        run_engine(s);
    }
    run_engine(s);
}

/* ---- the informer ---- */

static void count_change(const ki_change *change, void *user)
{
    (void)change;
    ((scale *)user)->delivered++;
}

static void set_storage(const scale *s, ki_informer_options *options)
{
    if (strcmp(s->storage, "five") == 0) {
        options->keep = five;
#ifdef BENCH_HAS_PACKED
    } else if (strcmp(s->storage, "packed") == 0) {
        options->storage = KI_STORAGE_PACKED;
#endif
    } else if (strcmp(s->storage, "plain") != 0) {
        bench_fail("--storage: %s is not known, or not built in", s->storage);
    }
}

static void set_up(scale *s, const bench_template_options *template, bool pages)
{
    static const ki_clock clock = {
        .size = sizeof(clock), .monotonic_ns = now_ns, .realtime_ns = real_ns};
    static const ki_random random = {.size = sizeof(random), .fill = fill};
    check(ki_engine_new(KI_OPTIONS(ki_engine_options, .clock = &clock, .random = &random),
                        &s->engine, NULL),
          "engine");
    s->generator = bench_generator_new(s->engine, template);
    ki_source source = bench_generator_source(s->generator);
    source.no_streaming_list = pages;
    ki_informer_options options = KI_OPTIONS_INIT(ki_informer_options);
    options.engine = s->engine;
    options.source = &source;
    options.resource = KI_CORE_V1_PODS;
    set_storage(s, &options);
    check(ki_informer_new(&options, &s->informer, NULL), "informer");
    check(ki_informer_on_change(s->informer, count_change, s,
                                KI_OPTIONS(ki_handler_options, .delivery = KI_DELIVERY_LOOP), NULL),
          "handler");
    s->store = ki_informer_store(s->informer);
}

static void tear_down(scale *s)
{
    ki_informer_stop(s->informer);
    run_engine(s);
    if (!ki_informer_is_stopped(s->informer)) {
        bench_fail("the informer does not stop");
    }
    s->informer = ki_informer_unref(s->informer);
    run_engine(s);
    bench_generator_free(s->generator);
    s->engine = ki_engine_unref(s->engine);
}

/* ---- lines ---- */

static void begin_line(const scale *s, const char *row)
{
    bench_line_begin("scale", s->storage, row);
    bench_line_text("kind", s->kind);
    bench_line_number("objects", (double)s->objects);
}

static void print_samples(const scale *s, const char *row, bench_samples *samples)
{
    begin_line(s, row);
    bench_samples_print(samples, 0);
    bench_line_end();
}

/* ---- lists ---- */

/* Runs a whole list and prints what it took for each object. */
static void measure_list(scale *s, const char *row, uint64_t lists)
{
    uint64_t delivered = s->delivered;
    uint64_t cpu = bench_cpu_ns();
    uint64_t spent = bench_generator_spent_ns(s->generator);
    run_until_listed(s, lists);
    cpu = bench_cpu_ns() - cpu - (bench_generator_spent_ns(s->generator) - spent);
    begin_line(s, row);
    bench_line_number("cpu_ns", (double)cpu / (double)s->objects);
    bench_line_number("events", (double)(s->delivered - delivered));
    if (lists > 1) {
        double peak = bench_status_bytes("VmHWM") - s->before;
        bench_line_number("peak_over_settled", peak / s->settled);
    }
    bench_line_end();
}

static void measure_first_sync(scale *s)
{
    (void)malloc_trim(0);
    s->before = bench_status_bytes("VmRSS");
    bench_forget_peak();
    check(ki_informer_start(s->informer, NULL), "start");
    measure_list(s, "first_sync", 1);
    if (s->delivered != s->objects || !ki_informer_has_synced(s->informer)) {
        bench_fail("the handler received %llu objects", (unsigned long long)s->delivered);
    }
    double peak = bench_status_bytes("VmHWM") - s->before;
    s->settled = bench_status_bytes("VmRSS") - s->before;
    begin_line(s, "memory");
    bench_line_number("rss", s->settled + s->before);
    bench_line_number("rss_per_object", s->settled / (double)s->objects);
    bench_line_number("peak_over_settled", peak / s->settled);
    bench_line_end();
}

static void measure_relist(scale *s)
{
    uint64_t delivered = s->delivered;
    (void)malloc_trim(0);
    s->settled = bench_status_bytes("VmRSS") - s->before;
    bench_forget_peak();
    uint64_t first = bench_random(&s->random) % CHANGED_OF;
    for (uint64_t i = first; i < s->objects; i += CHANGED_OF) {
        bench_generator_miss(s->generator, i);
    }
    bench_generator_expire(s->generator);
    measure_list(s, "relist", 2);
    if (s->delivered - delivered != (s->objects - first + CHANGED_OF - 1) / CHANGED_OF) {
        bench_fail("a relist: %llu changes", (unsigned long long)(s->delivered - delivered));
    }
}

/* ---- updates ---- */

static void prepare_updates(scale *s)
{
    static uint64_t numbers[UPDATES];
    for (size_t i = 0; i < UPDATES; i++) {
        numbers[i] = bench_random(&s->random) % s->objects;
    }
    bench_generator_change(s->generator, numbers, UPDATES);
}

static void give_updates(scale *s)
{
    for (size_t i = 0; i < UPDATES; i++) {
        bench_generator_give(s->generator, 1);
        run_engine(s);
    }
}

static void measure_updates(scale *s, bool held)
{
    static bench_samples samples;
    samples.count = 0;
    prepare_updates(s);
    give_updates(s); /* to warm up */
    uint64_t delivered = s->delivered;
    while (samples.count < SAMPLES) {
        prepare_updates(s);
        bench_samples_begin(&samples);
        ki_snapshot *snapshot = held ? ki_store_snapshot(s->store) : NULL;
        give_updates(s);
        (void)ki_snapshot_unref(snapshot);
        run_engine(s);
        bench_samples_end(&samples, UPDATES);
    }
    if (s->delivered - delivered != (uint64_t)UPDATES * SAMPLES) {
        bench_fail("%llu updates were delivered", (unsigned long long)(s->delivered - delivered));
    }
    print_samples(s, held ? "held" : "update", &samples);
}

/* ---- reading ---- */

static uint64_t read_snapshots(scale *s)
{
    for (size_t i = 0; i < READS; i++) {
        (void)ki_snapshot_unref(ki_store_snapshot(s->store));
    }
    return READS;
}

static uint64_t read_namespaces(scale *s)
{
    uint64_t namespaces = s->objects / BENCH_PODS_IN_NAMESPACE;
    uint64_t count = 0;
    while (count < READS) {
        char name[32];
        ki_list *list = NULL;
        (void)snprintf(name, sizeof(name), "team-%06llu",
                       (unsigned long long)(bench_random(&s->random) % namespaces));
        check(ki_store_by_index(s->store, KI_INDEX_NAMESPACE, name, &list), "by index");
        if (ki_list_count(list) != BENCH_PODS_IN_NAMESPACE) {
            bench_fail("%s has %zu objects", name, ki_list_count(list));
        }
        count += ki_list_count(list);
        (void)ki_list_unref(list);
    }
    return count;
}

static uint64_t read_list(scale *s)
{
    ki_list *list = NULL;
    check(ki_store_list(s->store, &list), "list");
    uint64_t count = ki_list_count(list);
    (void)ki_list_unref(list);
    return count;
}

static uint64_t read_walk(scale *s)
{
    ki_snapshot *snapshot = ki_store_snapshot(s->store);
    ki_snapshot_iter iter = ki_snapshot_iter_begin(snapshot);
    const ki_object *object;
    uint64_t count = 0;
    while (ki_snapshot_iter_next(&iter, &object) > 0) {
        bench_use(ki_object_name(object));
        count++;
    }
    (void)ki_snapshot_unref(snapshot);
    return count;
}

/* Keys of pods all over the store, copied: making them is not what is measured. */
static char (*make_keys(scale *s))[96]
{
    char(*keys)[96] = calloc(READS, sizeof(keys[0]));
    ki_snapshot *snapshot = ki_store_snapshot(s->store);
    ki_snapshot_iter iter = ki_snapshot_iter_begin(snapshot);
    const ki_object *object;
    uint64_t step = s->objects / READS + 1;
    size_t count = 0;
    if (keys == NULL) {
        bench_fail("out of memory");
    }
    for (uint64_t i = 0; ki_snapshot_iter_next(&iter, &object) > 0; i++) {
        if (i % step == 0) {
            (void)snprintf(keys[count++], sizeof(keys[0]), "%s/%s", ki_object_namespace(object),
                           ki_object_name(object));
        }
    }
    (void)ki_snapshot_unref(snapshot);
    for (size_t i = count; i < READS; i++) {
        memcpy(keys[i], keys[i % count], sizeof(keys[0]));
    }
    for (size_t i = READS - 1; i > 0; i--) { /* in no order */
        char key[96];
        size_t other = bench_random(&s->random) % (i + 1);
        memcpy(key, keys[i], sizeof(key));
        memcpy(keys[i], keys[other], sizeof(key));
        memcpy(keys[other], key, sizeof(key));
    }
    return keys;
}

static uint64_t read_keys(scale *s)
{
    static char(*keys)[96];
    if (keys == NULL) {
        keys = make_keys(s);
    }
    for (size_t i = 0; i < READS; i++) {
        ki_object *object = ki_store_get(s->store, keys[i]);
        if (object == NULL) {
            bench_fail("no %s", keys[i]);
        }
        (void)ki_object_unref(object);
    }
    return READS;
}

static const struct {
    const char *row;
    uint64_t (*read)(scale *s); /* returns how many objects, or snapshots */
} reads[] = {
    {"snapshot", read_snapshots}, {"get", read_keys},  {"by_index", read_namespaces},
    {"list_all", read_list},      {"walk", read_walk},
};

static void measure_reads(scale *s)
{
    for (size_t i = 0; i < sizeof(reads) / sizeof(reads[0]); i++) {
        static bench_samples samples;
        samples.count = 0;
        (void)reads[i].read(s);
        while (samples.count < SAMPLES) {
            bench_samples_begin(&samples);
            uint64_t count = reads[i].read(s);
            bench_samples_end(&samples, (size_t)count);
        }
        print_samples(s, reads[i].row, &samples);
    }
}

int main(int argc, char **argv)
{
    static scale s = {.random = 88172645463325252U};
    bench_option options[] = {
        {"storage", "plain, five (fields) or packed", "plain"},
        {"objects", "how many pods, in steps of 500", "10000"},
        {"kind", "full (8.6 KB of protobuf) or small", "full"},
        {"encoding", "protobuf or json", "protobuf"},
        {"list", "stream, or whole", "stream"},
        {"seed", "which pods", "1"},
        {NULL, NULL, NULL},
    };
    bench_options(argc, argv, options);
    s.storage = options[0].value;
    s.objects = bench_option_number(&options[1]);
    s.kind = options[2].value;
    if (s.objects == 0 || s.objects % BENCH_PODS_IN_NAMESPACE != 0 || s.objects > 9999500) {
        bench_fail("--objects: 500 to 9999500, in steps of 500");
    }
    bench_template_options template = {
        .kind = strcmp(s.kind, "small") == 0 ? BENCH_POD_SMALL : BENCH_POD_NETWORK,
        .json = strcmp(options[3].value, "json") == 0,
        .seed = bench_option_number(&options[5]),
        .objects = s.objects,
    };
    set_up(&s, &template, strcmp(options[4].value, "whole") == 0);
    measure_first_sync(&s);
    measure_updates(&s, false);
    measure_updates(&s, true);
    measure_relist(&s);
    measure_reads(&s);
    tear_down(&s);
    return 0;
}
