/* SPDX-License-Identifier: Apache-2.0 */
/* The work queue; bench/go does the same on client-go's. Rows:
 *   add_get_done   a key in turn of a hundred: add, get, done (client-go's BenchmarkQueue)
 *   add_next       the same with done and the next get in one call
 *   burst          add ten thousand keys, then get and be done with each, as after a list
 *   add_after      a hundred thousand keys, each delayed by up to ten minutes; then the clock is
 *                  past all of them, and each is got (BenchmarkDelayingQueue_AddAfter)
 *   retry          get a key of a hundred, add it again rate limited, done; the clock advances
 *   threads        add, get, done by several threads on one queue for a fixed time
 * Times are of one key. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <kinformer/clock.h>
#include <kinformer/worker.h>
#include <kinformer/workqueue.h>

#include "support/bench.h"

enum { FEW = 100, BURST = 10000, DELAYED = 100000, THREADS_MAX = 64 };

typedef char key_text[24];

static void check(int r, const char *what)
{
    if (r < 0) {
        bench_fail("%s: %s", what, ki_error_name(r));
    }
}

/* A clock that stands where it was set. */
static uint64_t fake_now(void *user)
{
    return *(uint64_t *)user;
}

static uint64_t fake_ns = 1;
static const ki_clock fake_clock = {.monotonic_ns = fake_now, .user = &fake_ns};

static const char **make_keys(const char *prefix, size_t count)
{
    const char **keys = calloc(count, sizeof(*keys));
    key_text *texts = calloc(count, sizeof(*texts));
    if (keys == NULL || texts == NULL) {
        bench_fail("out of memory");
    }
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(texts[i], sizeof(texts[i]), "%s-%zu", prefix, i);
        keys[i] = texts[i];
    }
    return keys;
}

static ki_workqueue *make_queue(const ki_clock *clock)
{
    ki_workqueue *queue = NULL;
    check(ki_workqueue_new(KI_OPTIONS(ki_workqueue_options, .clock = clock), &queue, NULL), "new");
    return queue;
}

static void get_and_be_done(ki_workqueue *queue)
{
    ki_work work;
    check(ki_workqueue_get(queue, &work), "get");
    ki_workqueue_done(queue, &work);
}

static void run_add_get_done(void *user, uint64_t count)
{
    const char *const *keys = user;
    ki_workqueue *queue = make_queue(NULL);
    for (uint64_t i = 0, key = 0; i < count; i++) {
        check(ki_workqueue_add(queue, keys[key]), "add");
        get_and_be_done(queue);
        key = key + 1 == FEW ? 0 : key + 1;
    }
    (void)ki_workqueue_unref(queue);
}

static void run_add_next(void *user, uint64_t count)
{
    const char *const *keys = user;
    ki_workqueue *queue = make_queue(NULL);
    ki_work work = {NULL, NULL};
    for (uint64_t i = 0, key = 0; i < count; i++) {
        check(ki_workqueue_add(queue, keys[key]), "add");
        check(ki_workqueue_next(queue, &work), "next");
        key = key + 1 == FEW ? 0 : key + 1;
    }
    (void)ki_workqueue_unref(queue);
}

static void run_burst(void *user, uint64_t count)
{
    const char *const *keys = user;
    ki_workqueue *queue = make_queue(NULL);
    for (; count != 0; count--) {
        for (size_t i = 0; i < BURST; i++) {
            check(ki_workqueue_add(queue, keys[i]), "add");
        }
        for (size_t i = 0; i < BURST; i++) {
            get_and_be_done(queue);
        }
    }
    (void)ki_workqueue_unref(queue);
}

static void run_add_after(void *user, uint64_t count)
{
    const char *const *keys = user;
    const uint64_t minute_ns = 60 * UINT64_C(1000000000);
    uint64_t random = 1;
    for (; count != 0; count--) {
        ki_workqueue *queue = make_queue(&fake_clock);
        for (size_t i = 0; i < DELAYED; i++) {
            uint64_t delay_ms = bench_random(&random) % 600000;
            check(ki_workqueue_add_after(queue, keys[i], delay_ms), "add_after");
        }
        fake_ns += 11 * minute_ns;
        ki_work work;
        for (size_t i = 0; i < DELAYED; i++) {
            check(ki_workqueue_get(queue, &work), "get");
        }
        (void)ki_workqueue_unref(queue);
    }
}

static void run_retry(void *user, uint64_t count)
{
    const char *const *keys = user;
    ki_workqueue *queue = make_queue(&fake_clock);
    for (size_t i = 0; i < FEW; i++) {
        check(ki_workqueue_add(queue, keys[i]), "add");
    }
    for (; count != 0; count--) {
        ki_work work;
        int r;
        while ((r = ki_workqueue_try_get(queue, &work)) == 0) {
            fake_ns += (uint64_t)ki_workqueue_timeout(queue) * 1000000;
        }
        check(r, "get");
        check(ki_workqueue_add_rate_limited(queue, work.key), "add_rate_limited");
        ki_workqueue_done(queue, &work);
    }
    (void)ki_workqueue_unref(queue);
}

static void run_short(const char *row, unsigned rounds, unsigned ms)
{
    const char **keys = make_keys("key", DELAYED);
    bench_case cases[] = {
        {.row = "add_get_done", .run = run_add_get_done},
        {.row = "add_next", .run = run_add_next},
        {.row = "burst", .run = run_burst, .operations = BURST},
        {.row = "add_after", .run = run_add_after, .operations = DELAYED},
        {.row = "retry", .run = run_retry},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cases[i].bench = "workqueue";
        cases[i].impl = "kinformer";
        cases[i].user = keys;
        cases[i].memory = -1;
        if (strcmp(row, "all") == 0 || strcmp(row, cases[i].row) == 0) {
            bench_measure(&cases[i], 1, rounds, ms);
        }
    }
}

/* Threads */

typedef struct worker {
    _Alignas(128) _Atomic uint64_t ops;
    _Alignas(128) ki_workqueue *queue;
    const char **keys;
    pthread_t thread;
} worker;

/* Each adds keys of its own; which it then gets is as it comes. */
static void *worker_run(void *user)
{
    worker *w = user;
    ki_work work;
    for (size_t key = 0;; key = (key + 1) % FEW) {
        if (ki_workqueue_add(w->queue, w->keys[key]) < 0 || ki_workqueue_get(w->queue, &work) < 0) {
            return NULL;
        }
        ki_workqueue_done(w->queue, &work);
        atomic_fetch_add_explicit(&w->ops, 1, memory_order_relaxed);
    }
}

static void sleep_seconds(double seconds)
{
    struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    (void)nanosleep(&time, NULL);
}

static uint64_t count_ops(worker *workers, size_t count)
{
    uint64_t ops = 0;
    for (size_t i = 0; i < count; i++) {
        ops += atomic_load_explicit(&workers[i].ops, memory_order_relaxed);
    }
    return ops;
}

static void run_threads(size_t threads, double seconds)
{
    static worker workers[THREADS_MAX];
    ki_workqueue *queue = make_queue(NULL);
    for (size_t i = 0; i < threads; i++) {
        char prefix[16];
        (void)snprintf(prefix, sizeof(prefix), "key-%zu", i);
        workers[i].queue = queue;
        workers[i].keys = make_keys(prefix, FEW);
        if (pthread_create(&workers[i].thread, NULL, worker_run, &workers[i]) != 0) {
            bench_fail("no thread");
        }
    }
    sleep_seconds(seconds / 5);
    uint64_t cpu_ns = bench_cpu_ns();
    uint64_t wall_ns = bench_wall_ns();
    uint64_t ops = count_ops(workers, threads);
    sleep_seconds(seconds);
    ops = count_ops(workers, threads) - ops;
    wall_ns = bench_wall_ns() - wall_ns;
    cpu_ns = bench_cpu_ns() - cpu_ns;
    ki_workqueue_shut_down(queue);
    for (size_t i = 0; i < threads; i++) {
        (void)pthread_join(workers[i].thread, NULL);
    }
    bench_line_begin("workqueue", "kinformer", "threads");
    bench_line_number("readers", (double)threads);
    bench_line_number("ns", (double)wall_ns / (double)(ops != 0 ? ops : 1));
    bench_line_number("cpu_ns", (double)cpu_ns / (double)(ops != 0 ? ops : 1));
    bench_line_end();
    (void)ki_workqueue_unref(queue);
}

int main(int argc, char **argv)
{
    bench_option options[] = {
        {"row", "what to do; see the head of bench_workqueue.c", "all"},
        {"readers", "threads of row threads", "2"},
        {"seconds", "of row threads", "2"},
        {"rounds", "rounds of the other rows", "15"},
        {"ms", "of one of them in one round", "30"},
        {NULL, NULL, NULL},
    };
    bench_options(argc, argv, options);
    size_t threads = (size_t)bench_option_number(&options[1]);
    if (threads == 0 || threads > THREADS_MAX) {
        bench_fail("1 to %d threads", (int)THREADS_MAX);
    }
    if (strcmp(options[0].value, "threads") == 0) {
        run_threads(threads, bench_option_seconds(&options[2]));
    } else {
        run_short(options[0].value, (unsigned)bench_option_number(&options[3]),
                  (unsigned)bench_option_number(&options[4]));
    }
    return 0;
}
