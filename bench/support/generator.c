/* SPDX-License-Identifier: Apache-2.0 */
/* One call at a time, as a reflector has. A piece of a list is made, and its time counted, before
 * any of it is decoded: the work of the library can be separated from that of the generator. */
#include "support/generator.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kinformer/encoding.h>
#include <kinformer/object.h>

#include "support/bench.h"

enum { PIECE = 50 }; /* objects that come together, about what a read of 512 KiB has */

typedef enum phase {
    PHASE_CLOSED,
    PHASE_LIST,
    PHASE_STREAM, /* the initial events of a watch */
    PHASE_WATCH,
} phase;

struct bench_generator {
    bench_template *template;
    size_t size; /* of each object */
    uint64_t objects;
    bool json;
    uint32_t *states; /* by number */
    uint32_t last_state;
    ki_engine_task *task;

    /* The call. */
    phase phase;
    bool paused;
    bool expired;
    ki_source_sink sink;
    const ki_projection *projection;
    uint64_t next; /* object of a list */

    /* Bytes of the next objects of a list, or of all events. */
    char *piece;
    size_t piece_at;
    size_t piece_count;
    char *events;
    size_t event_at;
    size_t event_given;
    size_t event_count;
    size_t event_room;

    uint64_t spent_ns;
    uint64_t lists;
};

static void check(int r, const char *what)
{
    if (r < 0) {
        bench_fail("generator: %s: %s", what, ki_error_name(r));
    }
}

static void *get_memory(size_t bytes)
{
    void *memory = malloc(bytes);
    if (memory == NULL) {
        bench_fail("generator: out of memory");
    }
    memset(memory, 0, bytes); /* so that it is resident from now on */
    return memory;
}

static bool can_deliver(const bench_generator *g)
{
    return g->phase != PHASE_CLOSED && !g->paused;
}

static void deliver(bench_generator *g, ki_watch_event_type type, const char *bytes)
{
    ki_object_options options = KI_OPTIONS_INIT(ki_object_options);
    options.projection = g->projection;
    ki_object *object = NULL;
    check(g->json ? ki_object_from_json(bytes, g->size, &options, &object, NULL)
                  : ki_object_from_protobuf(bytes, g->size, &options, &object, NULL),
          "decode");
    g->sink.on_event(type, object, NULL, g->sink.user);
    (void)ki_object_unref(object);
}

/* ---- lists ---- */

static void make_piece(bench_generator *g)
{
    uint64_t start = bench_cpu_ns();
    g->piece_at = 0;
    g->piece_count = 0;
    while (g->piece_count < PIECE && g->next < g->objects) {
        bench_template_write(g->template, g->next, g->states[g->next],
                             g->piece + g->piece_count * g->size);
        g->piece_count++;
        g->next++;
    }
    g->spent_ns += bench_cpu_ns() - start;
}

static void end_list(bench_generator *g, const char *version)
{
    ki_list_meta meta = KI_OPTIONS_INIT(ki_list_meta);
    meta.resource_version = version;
    meta.continue_token = "";
    meta.remaining = -1;
    g->phase = PHASE_CLOSED;
    g->sink.on_end(&meta, NULL, NULL, g->sink.user);
}

static void end_initial_events(bench_generator *g, const char *version)
{
    char text[256];
    ki_object *bookmark = NULL;
    int len = snprintf(text, sizeof(text),
                       "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":"
                       "\"%s\",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}",
                       version);
    check(ki_object_from_json(text, (size_t)len, NULL, &bookmark, NULL), "bookmark");
    g->phase = PHASE_WATCH;
    g->sink.on_event(KI_WATCH_EVENT_BOOKMARK, bookmark, NULL, g->sink.user);
    (void)ki_object_unref(bookmark);
}

static void complete_list(bench_generator *g)
{
    char version[32];
    (void)snprintf(version, sizeof(version), "%" PRIu64, UINT64_C(1000000000) + g->last_state);
    g->lists++;
    if (g->phase == PHASE_LIST) {
        end_list(g, version);
    } else {
        end_initial_events(g, version);
    }
}

static void run_list(bench_generator *g)
{
    if (g->piece_at == g->piece_count) {
        make_piece(g);
    }
    while (can_deliver(g) && g->piece_at < g->piece_count) {
        deliver(g, KI_WATCH_EVENT_ADDED, g->piece + g->piece_at++ * g->size);
    }
    if (can_deliver(g) && g->piece_at == g->piece_count && g->next == g->objects) {
        complete_list(g);
    }
}

/* ---- events ---- */

static void expire(bench_generator *g)
{
    ki_error error = KI_ERROR_INIT;
    error.code = KI_ERR_STATUS;
    error.http_code = 410;
    error.reason = KI_REASON_EXPIRED;
    (void)snprintf(error.message, sizeof(error.message), "too old resource version");
    g->expired = false;
    g->phase = PHASE_CLOSED;
    g->sink.on_end(NULL, &error, NULL, g->sink.user);
}

static void run_watch(bench_generator *g)
{
    for (size_t i = 0; i < PIECE && can_deliver(g) && g->event_at < g->event_given; i++) {
        deliver(g, KI_WATCH_EVENT_MODIFIED, g->events + g->event_at++ * g->size);
    }
    if (g->phase == PHASE_WATCH && g->expired) {
        expire(g);
    }
}

static void run(void *user)
{
    bench_generator *g = user;
    if (!can_deliver(g)) {
        return;
    }
    if (g->phase == PHASE_WATCH) {
        run_watch(g);
    } else {
        run_list(g);
    }
    if (can_deliver(g) && (g->phase != PHASE_WATCH || g->event_at < g->event_given)) {
        ki_engine_task_post(g->task);
    }
}

/* ---- the table of functions ---- */

static int begin(bench_generator *g, phase what, const ki_list_options *options,
                 const ki_source_sink *sink, void **ret_call)
{
    if (g->phase != PHASE_CLOSED) {
        return -EBUSY;
    }
    g->phase = what;
    g->paused = false;
    g->sink = *sink;
    g->projection = options->projection;
    g->next = 0;
    g->piece_at = g->piece_count = 0;
    *ret_call = g;
    ki_engine_task_post(g->task);
    return 0;
}

static int begin_list(const ki_list_options *options, const ki_source_sink *sink, void *user,
                      void **ret_call, ki_error *error)
{
    (void)error;
    return begin(user, PHASE_LIST, options, sink, ret_call);
}

static int begin_watch(const ki_list_options *options, const ki_source_sink *sink, void *user,
                       void **ret_call, ki_error *error)
{
    (void)error;
    return begin(user, options->send_initial_events ? PHASE_STREAM : PHASE_WATCH, options, sink,
                 ret_call);
}

static void cancel(void *call, void *user)
{
    (void)user;
    ((bench_generator *)call)->phase = PHASE_CLOSED;
}

static void pause_call(void *call, bool paused, void *user)
{
    bench_generator *g = call;
    (void)user;
    g->paused = paused;
    if (!paused) {
        ki_engine_task_post(g->task);
    }
}

ki_source bench_generator_source(bench_generator *generator)
{
    ki_source source = KI_OPTIONS_INIT(ki_source);
    source.list = begin_list;
    source.watch = begin_watch;
    source.cancel = cancel;
    source.pause = pause_call;
    source.user = generator;
    return source;
}

/* ---- what a benchmark says ---- */

bench_generator *bench_generator_new(ki_engine *engine, const bench_template_options *options)
{
    bench_generator *g = get_memory(sizeof(*g));
    g->template = bench_template_new(options);
    g->size = bench_template_size(g->template);
    g->objects = options->objects;
    g->json = options->json;
    g->states = get_memory((size_t)options->objects * sizeof(g->states[0]));
    g->last_state = (uint32_t)options->objects; /* versions below are those of unchanged pods */
    g->piece = get_memory(PIECE * g->size);
    check(ki_engine_task_new(engine, run, g, &g->task, NULL), "task");
    return g;
}

void bench_generator_free(bench_generator *generator)
{
    if (generator != NULL) {
        (void)ki_engine_task_unref(generator->task);
        bench_template_free(generator->template);
        free(generator->states);
        free(generator->piece);
        free(generator->events);
        free(generator);
    }
}

void bench_generator_miss(bench_generator *generator, uint64_t number)
{
    generator->states[number] = ++generator->last_state;
}

void bench_generator_change(bench_generator *generator, const uint64_t *numbers, size_t count)
{
    bench_generator *g = generator;
    if (g->event_at != g->event_count) {
        bench_fail("generator: events are left");
    }
    if (count > g->event_room) {
        free(g->events);
        g->events = get_memory(count * g->size);
        g->event_room = count;
    }
    for (size_t i = 0; i < count; i++) {
        bench_generator_miss(g, numbers[i]);
        bench_template_write(g->template, numbers[i], g->states[numbers[i]],
                             g->events + i * g->size);
    }
    g->event_at = g->event_given = 0;
    g->event_count = count;
}

void bench_generator_give(bench_generator *generator, size_t count)
{
    size_t left = generator->event_count - generator->event_given;
    generator->event_given += count < left ? count : left;
    ki_engine_task_post(generator->task);
}

void bench_generator_expire(bench_generator *generator)
{
    generator->expired = true;
    ki_engine_task_post(generator->task);
}

uint64_t bench_generator_spent_ns(const bench_generator *generator)
{
    return generator->spent_ns;
}

uint64_t bench_generator_lists(const bench_generator *generator)
{
    return generator->lists;
}
