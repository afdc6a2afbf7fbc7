/* SPDX-License-Identifier: Apache-2.0 */
/* The shared informer, from a source of our own to the callbacks; bench/go does the same with
 * client-go's SharedIndexInformer and a fake watch. Rows:
 *   fanout          a watch modifies pods as fast as it can, delivered to every handler
 *   fanout_threads  the same, each handler with a thread of its own
 *   trickle         one event, and the next when all handlers have received it
 *   slow            fanout with one handler, and a second one that is blocked
 *   first_sync      a new informer with one handler, until that has received all pods
 *   late            one more handler, until it has received all pods
 * Times are of one event, or of one pod in the last two. Objects are made before the clock starts
 * and given away with the event, as a decoder does. */
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <kinformer/informer.h>
#include <kinformer/object.h>
#include <kinformer/parts/engine.h>
#include <kinformer/parts/shared_informer.h>
#include <kinformer/parts/source.h>
#include <kinformer/parts/watch_event.h>
#include <kinformer/registration.h>

#include "support/bench.h"
#include "support/pod.h"

enum {
    BURST = 50, /* events that come in one piece: those of a read of 64 KiB */
    HANDLERS_MAX = 1000,
};

/* A source: a list, and a watch with the events of the benchmark. */
typedef struct feed {
    ki_engine_task *task;
    ki_source_sink sink;
    bool listing;
    bool open;
    bool paused;
    ki_object **list;
    size_t list_count;
    size_t list_at;
    ki_object **events; /* given away one by one */
    size_t event_count;
    size_t event_at;
} feed;

typedef struct handler {
    uint64_t delivered;
    uint64_t target; /* `reached` is posted at this number */
    sem_t reached;
    ki_registration *registration;
    bool has_thread;
    pthread_t thread;
} handler;

typedef struct env {
    ki_engine *engine;
    ki_informer *informer;
    feed feed;
    size_t objects;
    uint64_t generation; /* of the last event; they rise, and versions with them */
    uint64_t position;   /* of the pod that changes next */
    size_t handler_count;
    handler handlers[HANDLERS_MAX];
} env;

static void check(int r, const char *what)
{
    if (r < 0) {
        bench_fail("%s: %s", what, ki_error_name(r));
    }
}

/* ---- the source ---- */

static void give_list(feed *f)
{
    for (size_t i = 0; i < BURST && f->open && f->list_at < f->list_count; i++) {
        f->sink.on_event(KI_WATCH_EVENT_ADDED, f->list[f->list_at++], NULL, f->sink.user);
    }
    if (f->open && f->list_at == f->list_count) {
        const ki_list_meta meta = {.resource_version = "1", .continue_token = "", .remaining = -1};
        f->open = false;
        f->sink.on_end(&meta, NULL, NULL, f->sink.user);
    }
}

static void give_events(feed *f)
{
    for (size_t i = 0; i < BURST && f->open && f->event_at < f->event_count; i++) {
        ki_object *object = f->events[f->event_at++];
        f->sink.on_event(KI_WATCH_EVENT_MODIFIED, object, NULL, f->sink.user);
        (void)ki_object_unref(object);
    }
}

static void run_feed(void *user)
{
    feed *f = user;
    bool listing = f->listing;
    if (!f->open || f->paused) {
        return;
    }
    if (listing) {
        give_list(f);
    } else {
        give_events(f);
    }
    if (f->open && !f->paused && (f->listing || f->event_at < f->event_count)) {
        ki_engine_task_post(f->task);
    }
}

static int begin(feed *f, bool listing, const ki_source_sink *sink, void **ret_call)
{
    f->sink = *sink;
    f->listing = listing;
    f->open = true;
    f->paused = false;
    f->list_at = 0;
    *ret_call = f;
    ki_engine_task_post(f->task);
    return 0;
}

static int feed_list(const ki_list_options *options, const ki_source_sink *sink, void *user,
                     void **ret_call, ki_error *error)
{
    (void)options;
    (void)error;
    return begin(user, true, sink, ret_call);
}

static int feed_watch(const ki_list_options *options, const ki_source_sink *sink, void *user,
                      void **ret_call, ki_error *error)
{
    (void)options;
    (void)error;
    return begin(user, false, sink, ret_call);
}

static void feed_cancel(void *call, void *user)
{
    (void)user;
    ((feed *)call)->open = false;
}

static void feed_pause(void *call, bool paused, void *user)
{
    feed *f = call;
    (void)user;
    f->paused = paused;
    if (!paused) {
        ki_engine_task_post(f->task);
    }
}

/* ---- handlers ---- */

static void count(handler *h)
{
    if (++h->delivered == h->target) {
        (void)sem_post(&h->reached);
    }
}

static void on_add(const ki_object *object, bool is_initial, void *user)
{
    (void)object;
    (void)is_initial;
    count(user);
}

static void on_update(const ki_object *old_object, const ki_object *object, void *user)
{
    (void)old_object;
    (void)object;
    count(user);
}

static handler *add_handler(env *e, ki_delivery delivery, size_t queue_limit)
{
    if (e->handler_count == HANDLERS_MAX) {
        bench_fail("at most %d handlers", HANDLERS_MAX);
    }
    handler *h = &e->handlers[e->handler_count++];
    *h = (handler){.target = UINT64_MAX};
    check(-sem_init(&h->reached, 0, 0), "sem_init");
    const ki_handler table = {.on_add = on_add, .on_update = on_update, .user = h};
    check(ki_informer_add_handler(
              e->informer, &table,
              KI_OPTIONS(ki_handler_options, .delivery = delivery, .queue_limit = queue_limit),
              &h->registration, NULL),
          "handler");
    return h;
}

static void *run_handler(void *user)
{
    handler *h = user;
    int r = ki_registration_run(h->registration);
    return r == KI_ERR_STOPPED ? NULL : h;
}

static void start_thread(handler *h)
{
    if (pthread_create(&h->thread, NULL, run_handler, h) != 0) {
        bench_fail("no thread");
    }
    h->has_thread = true;
}

static void expect(handler *h, size_t more)
{
    h->target = h->delivered + more;
}

static void await(handler *h)
{
    while (sem_wait(&h->reached) != 0) {
    }
}

/* ---- the informer ---- */

static uint64_t now_ns(void *user)
{
    (void)user;
    return bench_wall_ns();
}

static int64_t real_ns(void *user)
{
    (void)user;
    return (int64_t)time(NULL) * INT64_C(1000000000);
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

static void run_engine(env *e)
{
    while (ki_engine_run(e->engine, 0) != 0) {
    }
}

static ki_object *make_object(uint64_t number, uint64_t generation)
{
    static char text[BENCH_POD_MAX];
    ki_object *object = NULL;
    bench_pod pod = {.number = number, .ns = number / 100, .generation = generation};
    size_t len = bench_pod_json(BENCH_POD_SMALL, &pod, text);
    check(ki_object_from_json(text, len, NULL, &object, NULL), "a pod");
    return object;
}

static void env_init(env *e, size_t objects)
{
    static const ki_clock clock = {.monotonic_ns = now_ns, .realtime_ns = real_ns};
    static const ki_random random = {.fill = fill};
    check(ki_engine_new(KI_OPTIONS(ki_engine_options, .clock = &clock, .random = &random),
                        &e->engine, NULL),
          "engine");
    check(ki_engine_task_new(e->engine, run_feed, &e->feed, &e->feed.task, NULL), "task");
    e->objects = objects;
    e->feed.list = calloc(objects, sizeof(ki_object *));
    if (e->feed.list == NULL) {
        bench_fail("out of memory");
    }
    e->feed.list_count = objects;
    for (size_t i = 0; i < objects; i++) {
        e->feed.list[i] = make_object(i, 0);
    }
}

/* An informer, which is not started. */
static void make_informer(env *e)
{
    const ki_source source = {.list = feed_list,
                              .watch = feed_watch,
                              .cancel = feed_cancel,
                              .pause = feed_pause,
                              .no_streaming_list = true,
                              .user = &e->feed};
    check(ki_informer_new(KI_OPTIONS(ki_informer_options, .engine = e->engine, .source = &source),
                          &e->informer, NULL),
          "informer");
}

static void start_informer(env *e)
{
    check(ki_informer_start(e->informer, NULL), "start");
    run_engine(e);
    if (!ki_informer_has_synced(e->informer)) {
        bench_fail("the informer has not synced");
    }
}

static void end_informer(env *e)
{
    ki_informer_stop(e->informer);
    run_engine(e);
    for (size_t i = 0; i < e->handler_count; i++) {
        handler *h = &e->handlers[i];
        void *failed = NULL;
        if (h->has_thread && (pthread_join(h->thread, &failed) != 0 || failed != NULL)) {
            bench_fail("a handler's thread did not end as it should");
        }
        (void)ki_registration_unref(h->registration);
        (void)sem_destroy(&h->reached);
    }
    e->handler_count = 0;
    if (!ki_informer_is_stopped(e->informer)) {
        bench_fail("the informer does not stop");
    }
    e->informer = ki_informer_unref(e->informer);
    run_engine(e);
}

/* ---- events ---- */

/* Makes the events of a round: the next pods in an order of their own, each in a new state. */
static void make_events(env *e, size_t events)
{
    feed *f = &e->feed;
    free(f->events);
    f->events = calloc(events, sizeof(ki_object *));
    if (f->events == NULL) {
        bench_fail("out of memory");
    }
    for (size_t i = 0; i < events; i++) {
        e->position = (e->position + 7919) % e->objects;
        f->events[i] = make_object(e->position, ++e->generation);
    }
    f->event_at = 0;
    f->event_count = 0; /* not yet */
}

static void give(env *e, size_t more)
{
    e->feed.event_count += more;
    ki_engine_task_post(e->feed.task);
    run_engine(e);
}

/* One round: `events` at once, or one by one. */
static void round_of(env *e, size_t events, bool one_by_one, bench_samples *s)
{
    make_events(e, events);
    for (size_t i = 0; i < e->handler_count; i++) {
        expect(&e->handlers[i], events);
    }
    bench_samples_begin(s);
    if (one_by_one) {
        for (size_t i = 0; i < events; i++) {
            give(e, 1);
        }
    } else {
        give(e, events);
    }
    for (size_t i = 0; i < e->handler_count; i++) {
        if (e->handlers[i].target != UINT64_MAX) {
            await(&e->handlers[i]);
        }
    }
    bench_samples_end(s, events);
}

/* ---- results ---- */

static void print(const env *e, const char *row, size_t handlers, bench_samples *s, double memory)
{
    bench_line_begin("informer", "kinformer", row);
    bench_line_number("objects", (double)e->objects);
    if (handlers != 0) {
        bench_line_number("readers", (double)handlers);
    }
    bench_samples_print(s, handlers);
    if (memory >= 0) {
        bench_line_number("memory", memory);
    }
    bench_line_end();
}

/* ---- rows ---- */

typedef struct plan {
    const char *row;
    size_t handlers;
    size_t events;
    unsigned rounds;
} plan;

static uint64_t merged(env *e)
{
    uint64_t all = 0;
    for (size_t i = 0; i < e->handler_count; i++) {
        ki_registration_stats stats = KI_OPTIONS_INIT(ki_registration_stats);
        (void)ki_registration_get_stats(e->handlers[i].registration, &stats);
        all += stats.merged;
    }
    return all;
}

static void run_fanout(env *e, const plan *p)
{
    bool threads = strcmp(p->row, "fanout_threads") == 0;
    bool one_by_one = strcmp(p->row, "trickle") == 0;
    static bench_samples s;
    make_informer(e);
    for (size_t i = 0; i < p->handlers; i++) {
        handler *h = add_handler(e, threads ? KI_DELIVERY_CALLER : KI_DELIVERY_LOOP,
                                 threads ? (size_t)1 << 24 : 0);
        expect(h, e->objects);
        if (threads) {
            start_thread(h);
        }
    }
    start_informer(e);
    for (size_t i = 0; i < p->handlers; i++) {
        await(&e->handlers[i]);
    }
    round_of(e, p->events, one_by_one, &s); /* to warm up */
    s.count = 0;
    while (s.count < p->rounds) {
        round_of(e, p->events, one_by_one, &s);
    }
    if (merged(e) != 0) {
        bench_fail("a queue was too short");
    }
    end_informer(e);
    print(e, p->row, p->handlers, &s, -1);
}

static void run_slow(env *e, const plan *p)
{
    static bench_samples s;
    make_informer(e);
    expect(add_handler(e, KI_DELIVERY_LOOP, 0), e->objects);
    start_informer(e);
    await(&e->handlers[0]);
    handler *still = add_handler(e, KI_DELIVERY_CALLER, 0);
    check(ki_registration_dispatch(still->registration, 0), "dispatch");
    double before = (double)mallinfo2().uordblks + (double)mallinfo2().hblkhd;
    while (s.count < p->rounds) {
        make_events(e, p->events);
        expect(&e->handlers[0], p->events);
        bench_samples_begin(&s);
        give(e, p->events);
        await(&e->handlers[0]);
        bench_samples_end(&s, p->events);
    }
    double after = (double)mallinfo2().uordblks + (double)mallinfo2().hblkhd;
    ki_registration_stats stats = KI_OPTIONS_INIT(ki_registration_stats);
    if (ki_registration_get_stats(still->registration, &stats) < 0 || stats.waiting == 0) {
        bench_fail("nothing waits");
    }
    double memory = (after - before) / (double)(p->events * p->rounds);
    end_informer(e);
    print(e, p->row, 2, &s, memory > 0 ? memory : 0);
}

static void run_first_sync(env *e, const plan *p)
{
    static bench_samples s;
    while (s.count < p->rounds) {
        make_informer(e);
        handler *h = add_handler(e, KI_DELIVERY_LOOP, 0);
        expect(h, e->objects);
        bench_samples_begin(&s);
        start_informer(e);
        await(h);
        bench_samples_end(&s, e->objects);
        if (!ki_registration_has_synced(h->registration)) {
            bench_fail("the handler has not synced");
        }
        end_informer(e);
    }
    print(e, p->row, 0, &s, -1);
}

static void run_late(env *e, const plan *p)
{
    static bench_samples s;
    make_informer(e);
    start_informer(e);
    while (s.count < p->rounds) {
        bench_samples_begin(&s);
        handler *h = add_handler(e, KI_DELIVERY_LOOP, 0);
        expect(h, e->objects);
        run_engine(e);
        await(h);
        bench_samples_end(&s, e->objects);
        ki_registration_remove(h->registration);
        run_engine(e);
    }
    end_informer(e);
    print(e, p->row, 0, &s, -1);
}

static const struct {
    const char *name;
    void (*run)(env *e, const plan *p);
} rows[] = {
    {"fanout", run_fanout}, {"fanout_threads", run_fanout}, {"trickle", run_fanout},
    {"slow", run_slow},     {"first_sync", run_first_sync}, {"late", run_late},
};

int main(int argc, char **argv)
{
    bench_option options[] = {
        {"row", "what to run", "fanout"}, {"objects", "pods in the store", "10000"},
        {"readers", "handlers", "1"},     {"events", "of one round", "10000"},
        {"rounds", "rounds", "15"},       {NULL, NULL, NULL},
    };
    bench_options(argc, argv, options);
    plan p = {
        .row = options[0].value,
        .handlers = (size_t)bench_option_number(&options[2]),
        .events = (size_t)bench_option_number(&options[3]),
        .rounds = (unsigned)bench_option_number(&options[4]),
    };
    size_t objects = (size_t)bench_option_number(&options[1]);
    size_t row = 0;
    while (row < sizeof(rows) / sizeof(rows[0]) && strcmp(rows[row].name, p.row) != 0) {
        row++;
    }
    if (row == sizeof(rows) / sizeof(rows[0])) {
        bench_fail("no such row: %s", p.row);
    }
    if (objects == 0 || objects % 7919 == 0 || p.handlers == 0 || p.handlers > HANDLERS_MAX ||
        p.events == 0 || p.rounds == 0 || p.rounds >= BENCH_SAMPLES_MAX) {
        bench_fail("not with such numbers");
    }
    static env e;
    env_init(&e, objects);
    rows[row].run(&e, &p);
    for (size_t i = 0; i < objects; i++) {
        (void)ki_object_unref(e.feed.list[i]);
    }
    free(e.feed.list);
    free(e.feed.events);
    e.feed.task = ki_engine_task_unref(e.feed.task);
    (void)ki_engine_unref(e.engine);
    return 0;
}
