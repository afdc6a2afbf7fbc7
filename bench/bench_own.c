/* SPDX-License-Identifier: Apache-2.0 */
/* What comes nearest, here, to benchmarks that client-go has itself; bench/run runs those as they
 * are. A row has the name of the Go benchmark:
 *   BenchmarkListener                an event is put into the queue of a handler, which another
 *                                    thread calls. There ten goroutines put them in, here the one
 *                                    thread that an informer has for it.
 *   BenchmarkAddWithSlowHandlers     an object is made and put into a queue, while a handler that
 *                                    takes a millisecond receives what is in it
 *   BenchmarkQueue                   a new work queue: add, get, done for each of a hundred keys
 *   BenchmarkDelayingQueue_AddAfter  a key is made and added after a random time of up to ten
 *                                    minutes; then the clock is past all of them, and each is got
 * Handlers of a shared informer are not part of the public API: this has the library inside. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <kinformer/parts/simple_informer.h>
#include <kinformer/worker.h>
#include <kinformer/workqueue.h>

#include "cache/informer/registration.h"
#include "support/bench.h"

enum { NOTES = 200000, ADDS = 20000, QUEUES = 1000, KEYS = 100, DELAYED = 500000 };

static void check(int r, const char *what)
{
    if (r < 0) {
        bench_fail("%s: %s", what, ki_error_name(r));
    }
}

static ki_object *make_object(const char *name)
{
    char text[128];
    ki_object *object = NULL;
    int len =
        snprintf(text, sizeof(text),
                 "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s\"}}", name);
    check(ki_object_from_json(text, (size_t)len, NULL, &object, NULL), "a pod");
    return object;
}

/* ---- BenchmarkListener ---- */

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
    memset(bytes, 1, len);
    return 0;
}

static void ignore(void *user)
{
    (void)user;
}

static void ignore_removed(ki_registration *registration, void *user)
{
    (void)user;
    (void)ki_registration_unref(registration);
}

typedef struct counter {
    _Atomic uint64_t value;
} counter;

static void count_add(const ki_object *object, bool is_initial, void *user)
{
    (void)object;
    (void)is_initial;
    atomic_fetch_add(&((counter *)user)->value, 1);
}

static void *run_handler(void *user)
{
    int r = ki_registration_run(user);
    return r == KI_ERR_STOPPED ? NULL : user;
}

static void give_notes(ki_registration *registration, ki__applier *applier, size_t count)
{
    for (; count != 0; count--) {
        ki__notes *notes = NULL;
        check(ki__notes_new(applier, &notes), "notes");
        check(ki__registration_reserve_batch(registration, applier, notes), "reserve");
        if (ki__registration_push_batch(registration, applier, notes)) {
            ki__registration_wake(registration);
        }
        (void)ki__notes_unref(notes);
    }
}

static void run_listener(bench_samples *s, unsigned rounds)
{
    static const ki_clock clock = {.monotonic_ns = now_ns, .realtime_ns = real_ns};
    static const ki_random random = {.fill = fill};
    static counter delivered;
    ki_engine *engine = NULL;
    check(ki_engine_new(KI_OPTIONS(ki_engine_options, .clock = &clock, .random = &random), &engine,
                        NULL),
          "engine");
    const ki__registration_owner owner = {
        .removed = ignore_removed, .synced = ignore, .over = ignore, .release = ignore};
    const ki_handler handler = {.on_add = count_add, .user = &delivered};
    ki_registration *registration = NULL;
    check(ki__registration_new(engine, &handler,
                               KI_OPTIONS(ki_handler_options, .delivery = KI_DELIVERY_CALLER,
                                          .queue_limit = (size_t)1 << 24),
                               &owner, &registration, NULL),
          "registration");
    (void)ki_registration_ref(registration); /* the owner's */
    pthread_t thread;
    if (pthread_create(&thread, NULL, run_handler, registration) != 0) {
        bench_fail("no thread");
    }
    ki_object *object = make_object("a-hello");
    ki__note note = {.type = KI__NOTE_ADD, .object = object};
    ki__applier applier = {.alloc = ki_alloc_default(), .notes = &note, .note_count = 1};
    while (s->count < rounds) {
        uint64_t target = atomic_load(&delivered.value) + NOTES;
        bench_samples_begin(s);
        give_notes(registration, &applier, NOTES);
        while (atomic_load(&delivered.value) != target) {
            (void)nanosleep(&(struct timespec){.tv_nsec = 1000}, NULL);
        }
        bench_samples_end(s, NOTES);
    }
    ki_registration_remove(registration);
    void *failed = NULL;
    if (pthread_join(thread, &failed) != 0 || failed != NULL) {
        bench_fail("the handler's thread did not end as it should");
    }
    (void)ki_registration_unref(registration);
    (void)ki_object_unref(object);
    (void)ki_engine_unref(engine);
}

/* ---- BenchmarkAddWithSlowHandlers ---- */

static void sleep_in_update(const ki_object *old_object, const ki_object *object, void *user)
{
    (void)old_object;
    (void)object;
    (void)user;
    (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static void *process(void *user)
{
    int r;
    do {
        r = ki_simple_informer_step(user, true, NULL);
    } while (r >= 0);
    return r == KI_ERR_STOPPED ? NULL : user;
}

static void run_slow_handlers(bench_samples *s, unsigned rounds)
{
    const ki_handler handler = {.on_update = sleep_in_update};
    while (s->count < rounds) {
        ki_simple_informer *informer = NULL;
        pthread_t thread;
        check(ki_simple_informer_new(KI_OPTIONS(ki_simple_informer_options, .handler = &handler),
                                     &informer, NULL),
              "informer");
        if (pthread_create(&thread, NULL, process, informer) != 0) {
            bench_fail("no thread");
        }
        bench_samples_begin(s);
        for (size_t i = 0; i < ADDS; i++) {
            ki_object *object = make_object("b-hello");
            check(ki_queue_add(ki_simple_informer_queue(informer), object, NULL), "add");
            (void)ki_object_unref(object);
        }
        bench_samples_end(s, ADDS);
        ki_simple_informer_stop(informer);
        void *failed = NULL;
        if (pthread_join(thread, &failed) != 0 || failed != NULL) {
            bench_fail("processing did not end as it should");
        }
        (void)ki_simple_informer_unref(informer);
    }
}

/* ---- work queues ---- */

static ki_workqueue *make_queue(const ki_clock *clock)
{
    ki_workqueue *queue = NULL;
    check(ki_workqueue_new(KI_OPTIONS(ki_workqueue_options, .clock = clock), &queue, NULL), "new");
    return queue;
}

static void use_queue(ki_workqueue *queue, const char *const *keys)
{
    for (size_t i = 0; i < KEYS; i++) {
        ki_work work;
        check(ki_workqueue_add(queue, keys[i]), "add");
        check(ki_workqueue_get(queue, &work), "get");
        ki_workqueue_done(queue, &work);
    }
}

/* Creating and freeing a queue is not measured, as in Go. */
static void run_queue(bench_samples *s, unsigned rounds)
{
    static char texts[KEYS][16];
    const char *keys[KEYS];
    for (size_t i = 0; i < KEYS; i++) {
        (void)snprintf(texts[i], sizeof(texts[i]), "key-%zu", i);
        keys[i] = texts[i];
    }
    while (s->count < rounds) {
        bench_samples_begin(s);
        for (size_t i = 0; i < QUEUES; i++) {
            uint64_t cpu = bench_cpu_ns();
            uint64_t wall = bench_wall_ns();
            ki_workqueue *queue = make_queue(NULL);
            s->wall_start += bench_wall_ns() - wall;
            s->cpu_start += bench_cpu_ns() - cpu;
            use_queue(queue, keys);
            cpu = bench_cpu_ns();
            wall = bench_wall_ns();
            (void)ki_workqueue_unref(queue);
            s->wall_start += bench_wall_ns() - wall;
            s->cpu_start += bench_cpu_ns() - cpu;
        }
        bench_samples_end(s, QUEUES);
    }
}

static uint64_t fake_now(void *user)
{
    return *(uint64_t *)user;
}

static void run_add_after(bench_samples *s, unsigned rounds)
{
    const uint64_t minute_ns = 60 * UINT64_C(1000000000);
    uint64_t random = 1;
    while (s->count < rounds) {
        uint64_t now = 1;
        const ki_clock clock = {.monotonic_ns = fake_now, .user = &now};
        ki_workqueue *queue = make_queue(&clock);
        bench_samples_begin(s);
        for (size_t i = 0; i < DELAYED; i++) {
            char key[24];
            (void)snprintf(key, sizeof(key), "%zu", i);
            check(ki_workqueue_add_after(queue, key, bench_random(&random) % 600000), "add_after");
        }
        now += 11 * minute_ns;
        for (size_t i = 0; i < DELAYED; i++) {
            ki_work work;
            check(ki_workqueue_get(queue, &work), "get");
        }
        bench_samples_end(s, DELAYED);
        (void)ki_workqueue_unref(queue);
    }
}

static const struct {
    const char *name;
    void (*run)(bench_samples *s, unsigned rounds);
} rows[] = {
    {"BenchmarkListener", run_listener},
    {"BenchmarkAddWithSlowHandlers", run_slow_handlers},
    {"BenchmarkQueue", run_queue},
    {"BenchmarkDelayingQueue_AddAfter", run_add_after},
};

int main(int argc, char **argv)
{
    bench_option options[] = {
        {"row", "the only one to run", ""},
        {"rounds", "rounds", "5"},
        {NULL, NULL, NULL},
    };
    bench_options(argc, argv, options);
    unsigned rounds = (unsigned)bench_option_number(&options[1]);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (options[0].value[0] != '\0' && strcmp(options[0].value, rows[i].name) != 0) {
            continue;
        }
        bench_samples *s = calloc(1, sizeof(*s));
        if (s == NULL || rounds == 0) {
            bench_fail("not with such numbers");
        }
        rows[i].run(s, rounds);
        bench_line_begin("own", "kinformer", rows[i].name);
        bench_samples_print(s, 0);
        bench_line_end();
        free(s);
    }
    return 0;
}
