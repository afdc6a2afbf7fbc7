/* SPDX-License-Identifier: Apache-2.0 */
/* Projections while decoding. Rows:
 *   decode  an object from the bytes of a pod, protobuf or JSON: whole, without the usual fields,
 * and with five fields (node, phase, address and two labels) memory  an informer whose source
 * decodes pods as they come: resident memory a pod after the first sync, and the peak of the sync.
 * One case in a process: --keep and --encoding choose it.
 *   read    one field of a pod: of a plain one, of a packed one that nobody has read (the median of
 * pods all over a store, each for the first time), and of one that is open. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kinformer/encoding.h>
#include <kinformer/informer.h>
#include <kinformer/parts/engine.h>
#include <kinformer/parts/shared_informer.h>
#include <kinformer/parts/source.h>
#include <kinformer/parts/store_write.h>
#include <kinformer/path.h>
#include <kinformer/projection.h>

#include "support/bench.h"
#include "support/pod.h"

static const char five[] =
    ".spec.nodeName,.status.phase,.status.podIP,.metadata.labels['app.kubernetes.io/name'],"
    ".metadata.labels['pod-template-hash']";

static void check(int r, const char *what)
{
    if (r < 0) {
        bench_fail("%s: %s", what, ki_error_name(r));
    }
}

/* The bytes of a pod, as a server sends them in a list. */
static void write_pod(uint64_t number, bool json, ki_buf *out)
{
    static char text[BENCH_POD_MAX];
    const bench_pod pod = {.number = number, .ns = number / 100};
    size_t len = bench_pod_json(BENCH_POD_FULL, &pod, text);
    ki_buf_clear(out);
    if (json) {
        check(ki_buf_add(out, text, len), "pod");
        return;
    }
    ki_object *object = NULL;
    check(ki_object_from_json(text, len, NULL, &object, NULL), "pod");
    check(ki_object_write_protobuf(object, out, NULL), "protobuf");
    (void)ki_object_unref(object);
}

static ki_object *decode(const ki_buf *bytes, bool json, const ki_projection *projection)
{
    ki_object *object = NULL;
    ki_object_options options = KI_OPTIONS_INIT(ki_object_options);
    options.projection = projection;
    int r = json ? ki_object_from_json(bytes->data, bytes->len, &options, &object, NULL)
                 : ki_object_from_protobuf(bytes->data, bytes->len, &options, &object, NULL);
    check(r, "decode");
    return object;
}

/* ---- decoding ---- */

typedef struct decoding {
    ki_buf bytes;
    bool json;
    ki_projection *projection;
} decoding;

static void run_decode(void *user, uint64_t count)
{
    const decoding *d = user;
    for (uint64_t i = 0; i < count; i++) {
        (void)ki_object_unref(decode(&d->bytes, d->json, d->projection));
    }
}

static void measure_decode(void)
{
    static const struct {
        const char *name;
        const char *keep;
        const char *drop;
    } kinds[] = {{"whole", NULL, NULL}, {"usual", NULL, KI_DROP_USUAL}, {"five", five, NULL}};
    enum { KINDS = sizeof(kinds) / sizeof(kinds[0]), CASES = 2 * KINDS };
    static decoding all[CASES];
    bench_case cases[CASES];
    for (size_t i = 0; i < CASES; i++) {
        decoding *d = &all[i];
        d->json = i >= KINDS;
        ki_buf_init(&d->bytes, NULL, BENCH_POD_MAX);
        write_pod(0, d->json, &d->bytes);
        check(ki_projection_new(kinds[i % KINDS].keep, kinds[i % KINDS].drop, NULL, &d->projection,
                                NULL),
              "projection");
        ki_object *object = decode(&d->bytes, d->json, d->projection);
        cases[i] = (bench_case){
            .bench = "keep",
            .impl = d->json ? "json" : "protobuf",
            .row = kinds[i % KINDS].name,
            .run = run_decode,
            .user = d,
            .bytes = (double)d->bytes.len,
            .memory = (double)ki_object_memory(object),
        };
        (void)ki_object_unref(object);
    }
    bench_measure(cases, CASES, 15, 20);
}

/* ---- memory ---- */

typedef struct feed {
    ki_engine_task *task;
    ki_source_sink sink;
    const ki_projection *projection;
    bool json;
    bool listing;
    bool open;
    uint64_t next;
    uint64_t count;
    uint64_t decode_ns;
    ki_buf bytes;
} feed;

static void run_feed(void *user)
{
    feed *f = user;
    for (int i = 0; f->open && f->listing && f->next < f->count && i < 50; i++) {
        write_pod(f->next++, f->json, &f->bytes);
        uint64_t start = bench_cpu_ns();
        ki_object *object = decode(&f->bytes, f->json, f->projection);
        f->sink.on_event(KI_WATCH_EVENT_ADDED, object, NULL, f->sink.user);
        (void)ki_object_unref(object);
        f->decode_ns += bench_cpu_ns() - start;
    }
    if (f->open && f->listing && f->next == f->count) {
        ki_list_meta meta = KI_OPTIONS_INIT(ki_list_meta);
        meta.resource_version = "1";
        meta.continue_token = "";
        meta.remaining = -1;
        f->open = false;
        f->sink.on_end(&meta, NULL, NULL, f->sink.user);
    } else if (f->open && f->listing) {
        ki_engine_task_post(f->task);
    }
}

static int begin(const ki_list_options *options, bool listing, const ki_source_sink *sink, feed *f,
                 void **ret_call)
{
    f->sink = *sink;
    f->projection = options->projection;
    f->listing = listing;
    f->open = true;
    *ret_call = f;
    ki_engine_task_post(f->task);
    return 0;
}

static int feed_list(const ki_list_options *options, const ki_source_sink *sink, void *user,
                     void **ret_call, ki_error *error)
{
    (void)error;
    return begin(options, true, sink, user, ret_call);
}

static int feed_watch(const ki_list_options *options, const ki_source_sink *sink, void *user,
                      void **ret_call, ki_error *error)
{
    (void)error;
    return begin(options, false, sink, user, ret_call);
}

static void feed_cancel(void *call, void *user)
{
    (void)user;
    ((feed *)call)->open = false;
}

static uint64_t now_ns(void *user)
{
    (void)user;
    return bench_wall_ns();
}

static int64_t real_ns(void *user)
{
    (void)user;
    return 0;
}

static int fill(void *bytes, size_t len, void *user)
{
    (void)user;
    memset(bytes, 7, len);
    return 0;
}

static void measure_memory(const char *keep, bool json, uint64_t count)
{
    static feed f;
    ki_engine *engine = NULL;
    ki_informer *informer = NULL;
    const ki_clock clock = {.size = sizeof(clock), .monotonic_ns = now_ns, .realtime_ns = real_ns};
    const ki_random random = {.size = sizeof(random), .fill = fill};
    ki_engine_options options = KI_OPTIONS_INIT(ki_engine_options);
    options.clock = &clock;
    options.random = &random;
    check(ki_engine_new(&options, &engine, NULL), "engine");
    check(ki_engine_task_new(engine, run_feed, &f, &f.task, NULL), "task");
    f.count = count;
    f.json = json;
    ki_buf_init(&f.bytes, NULL, BENCH_POD_MAX);
    ki_source source = KI_OPTIONS_INIT(ki_source);
    source.list = feed_list;
    source.watch = feed_watch;
    source.cancel = feed_cancel;
    source.no_streaming_list = true;
    source.user = &f;
    ki_informer_options o = KI_OPTIONS_INIT(ki_informer_options);
    o.engine = engine;
    o.source = &source;
    o.resource = KI_CORE_V1_PODS;
    o.keep = strcmp(keep, "five") == 0 ? five : NULL;
    o.drop = strcmp(keep, "usual") == 0 ? KI_DROP_USUAL : NULL;
    o.storage = strcmp(keep, "packed") == 0 ? KI_STORAGE_PACKED : KI_STORAGE_PLAIN;
    check(ki_informer_new(&o, &informer, NULL), "informer");
    write_pod(0, json, &f.bytes); /* what everything needs once is there */
    double before = bench_status_bytes("VmRSS");
    check(ki_informer_start(informer, NULL), "start");
    while (!ki_informer_has_synced(informer)) {
        (void)ki_engine_run(engine, 0);
    }
    double peak = bench_status_bytes("VmHWM");
    (void)malloc_trim(0);
    double after = bench_status_bytes("VmRSS");
    bench_line_begin("keep", json ? "json" : "protobuf", keep);
    bench_line_number("objects", (double)count);
    bench_line_number("rss_per_object", (after - before) / (double)count);
    bench_line_number("peak_over_settled", (peak - before) / (after - before));
    bench_line_number("cpu_ns_per_object", (double)f.decode_ns / (double)count);
    bench_line_end();
    ki_informer_stop(informer);
    (void)ki_engine_run(engine, 0);
}

/* ---- reading packed objects ---- */

enum { READ_ROUNDS = 40 };

static ki_store *fill_store(ki_storage storage, bool json, uint64_t count)
{
    ki_store_options options = KI_OPTIONS_INIT(ki_store_options);
    ki_store *store = NULL;
    ki_buf bytes;
    options.storage = storage;
    check(ki_store_new(&options, &store, NULL), "store");
    ki_buf_init(&bytes, NULL, BENCH_POD_MAX);
    for (uint64_t i = 0; i < count; i++) {
        write_pod(i, json, &bytes);
        ki_object *object = decode(&bytes, json, NULL);
        check(ki_store_add(store, object, NULL), "add");
        (void)ki_object_unref(object);
    }
    ki_buf_done(&bytes);
    return store;
}

/* The pods of a snapshot, in no order. */
static const ki_object **shuffle(const ki_snapshot *snapshot, uint64_t count)
{
    const ki_object **objects = calloc(count, sizeof(const ki_object *));
    ki_snapshot_iter iter = ki_snapshot_iter_begin(snapshot);
    uint64_t random = 88172645463325252U;
    if (objects == NULL) {
        bench_fail("out of memory");
    }
    for (uint64_t i = 0; i < count && ki_snapshot_iter_next(&iter, &objects[i]) > 0; i++) {
        uint64_t other = bench_random(&random) % (i + 1);
        const ki_object *object = objects[i];
        objects[i] = objects[other];
        objects[other] = object;
    }
    return objects;
}

static void read_fields(const ki_path *path, const ki_object *const *objects, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        ki_value root = ki_object_root(objects[i]);
        ki_value value;
        check(ki_path_first(path, &root, &value), "field");
        bench_use(&value);
    }
}

static void print_read(const char *row, bool json, bench_samples *samples)
{
    bench_line_begin("keep", json ? "json" : "protobuf", row);
    bench_samples_print(samples, 0);
    bench_line_end();
}

static void measure_read(bool json, uint64_t count)
{
    static const struct {
        const char *row;
        ki_storage storage;
        bool again; /* of pods that were read before */
    } rows[] = {{"read_plain", KI_STORAGE_PLAIN, false},
                {"read_packed", KI_STORAGE_PACKED, false},
                {"read_open", KI_STORAGE_PACKED, true}};
    ki_path *path = NULL;
    if (count < READ_ROUNDS) {
        bench_fail("--objects: at least %d", READ_ROUNDS);
    }
    check(ki_path_compile(".status.podIP", NULL, &path, NULL), "path");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        static bench_samples samples;
        samples.count = 0;
        ki_store *store = fill_store(rows[i].storage, json, count);
        ki_snapshot *snapshot = ki_store_snapshot(store);
        const ki_object **objects = shuffle(snapshot, count);
        uint64_t part = count / READ_ROUNDS;
        for (uint64_t k = 0; k < READ_ROUNDS; k++) {
            if (rows[i].again) {
                read_fields(path, objects + k * part, part);
            }
            bench_samples_begin(&samples);
            read_fields(path, objects + k * part, part);
            bench_samples_end(&samples, (size_t)part);
        }
        print_read(rows[i].row, json, &samples);
        free((void *)objects);
        (void)ki_snapshot_unref(snapshot);
        (void)ki_store_unref(store);
    }
    (void)ki_path_unref(path);
}

int main(int argc, char **argv)
{
    bench_option options[] = {
        {"rows", "decode, memory or read", "decode"},
        {"keep", "memory: whole, usual, five or packed", "five"},
        {"encoding", "memory and read: protobuf or json", "protobuf"},
        {"objects", "memory and read: how many pods", "20000"},
        {NULL, NULL, NULL},
    };
    bench_options(argc, argv, options);
    bool json = strcmp(options[2].value, "json") == 0;
    if (strcmp(options[0].value, "decode") == 0) {
        measure_decode();
    } else if (strcmp(options[0].value, "read") == 0) {
        measure_read(json, bench_option_number(&options[3]));
    } else {
        measure_memory(options[1].value, json, bench_option_number(&options[3]));
    }
    return 0;
}
