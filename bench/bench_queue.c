/* SPDX-License-Identifier: Apache-2.0 */
/* The delta queues, and applying deltas to a store. bench/go does the same with client-go's queues
 * and names its rows alike; README.md tells them. One operation is one delta, of a pod, or one
 * list.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kinformer/index.h>
#include <kinformer/object.h>
#include <kinformer/parts/queue.h>
#include <kinformer/parts/simple_informer.h>

#include "support/bench.h"
#include "support/pod.h"

#define BATCH 1000

/* Two states of each pod, and an informer that has the first. */
typedef struct env {
    ki_object **objects[2];
    uint8_t *state; /* which of them is the present one */
    size_t count;
    uint64_t random;
    ki_queue *delta_fifo;
    ki_queue *fifo;
    ki_simple_informer *informer;
    const ki_object **list;
    uint64_t delivered;
} env;

static void check(int r, const char *what)
{
    if (r < 0) {
        bench_fail("%s: %s", what, ki_error_name(r));
    }
}

static void *allocate(size_t count, size_t size)
{
    void *block = calloc(count, size);
    if (block == NULL) {
        bench_fail("out of memory");
    }
    return block;
}

/* The other state of an object. */
static const ki_object *change(env *e, size_t i)
{
    e->state[i] ^= 1;
    return e->objects[e->state[i]][i];
}

/* Number `number` of a batch that is spread over all objects: none comes twice. */
static size_t spread(const env *e, size_t base, size_t number)
{
    return (base + number * 7919) % e->count;
}

static size_t random_base(env *e)
{
    return (size_t)(bench_random(&e->random) % e->count);
}

static int ignore(const ki_deltas *deltas, void *user)
{
    env *e = user;
    e->delivered += deltas->count;
    return KI_POP_DONE;
}

static void run_delta_fifo(void *user, uint64_t count)
{
    env *e = user;
    for (; count != 0; count--) {
        check(ki_queue_update(e->delta_fifo, change(e, count % BATCH), NULL), "update");
        check(ki_queue_poll(e->delta_fifo, 1, ignore, e), "pop");
    }
}

/* Puts `count` deltas in, a batch at a time, and lets `pop` take each out again. The batches are
 * always of the same objects, or of others each time. */
static void run_batches(env *e, ki_queue *queue, uint64_t count, bool same, int (*pop)(env *e))
{
    while (count != 0) {
        size_t base = random_base(e);
        size_t batch = count < BATCH ? (size_t)count : BATCH;
        for (size_t i = 0; i < batch; i++) {
            const ki_object *object = change(e, same ? i : spread(e, base, i));
            check(ki_queue_update(queue, object, NULL), "update");
        }
        while (ki_queue_count(queue) != 0) {
            check(pop(e), "pop");
        }
        count -= batch;
    }
}

static int pop_delta_fifo(env *e)
{
    return ki_queue_poll(e->delta_fifo, 0, ignore, e);
}

static void run_delta_fifo_1000(void *user, uint64_t count)
{
    env *e = user;
    run_batches(e, e->delta_fifo, count, true, pop_delta_fifo);
}

static int pop_fifo(env *e)
{
    return ki_queue_poll(e->fifo, 0, ignore, e);
}

static void run_fifo_1000(void *user, uint64_t count)
{
    env *e = user;
    run_batches(e, e->fifo, count, true, pop_fifo);
}

static int step(env *e)
{
    return ki_simple_informer_step(e->informer, false, NULL);
}

static void run_apply(void *user, uint64_t count)
{
    env *e = user;
    run_batches(e, ki_simple_informer_queue(e->informer), count, false, step);
}

/* A tenth of the objects has changed since the last list. One operation is a whole list. */
static void run_relist(void *user, uint64_t count)
{
    env *e = user;
    for (; count != 0; count--) {
        size_t first = random_base(e) % 10;
        for (size_t i = 0; i < e->count; i++) {
            e->state[i] ^= i % 10 == first;
            e->list[i] = e->objects[e->state[i]][i];
        }
        const ki_replacement all = {
            .objects = e->list, .object_count = e->count, .resource_version = "2"};
        check(ki_queue_replace(ki_simple_informer_queue(e->informer), &all, NULL), "replace");
        check(step(e), "step");
    }
}

static void count_add(const ki_object *object, bool is_initial, void *user)
{
    env *e = user;
    (void)is_initial;
    e->delivered += object != NULL;
}

static void count_update(const ki_object *old_object, const ki_object *object, void *user)
{
    env *e = user;
    e->delivered += object != old_object;
}

static ki_object *make_object(size_t number, size_t generation)
{
    static char text[BENCH_POD_MAX];
    ki_object *object = NULL;
    bench_pod pod = {.number = number, .ns = number / 100, .generation = generation};
    size_t len = bench_pod_json(BENCH_POD_SMALL, &pod, text);
    check(ki_object_from_json(text, len, NULL, &object, NULL), "a pod");
    return object;
}

static void env_init(env *e, size_t count)
{
    *e = (env){.count = count, .random = bench_mix(1)};
    for (size_t generation = 0; generation < 2; generation++) {
        e->objects[generation] = allocate(count, sizeof(ki_object *));
        for (size_t i = 0; i < count; i++) {
            e->objects[generation][i] = make_object(i, generation);
        }
    }
    e->state = allocate(count, 1);
    e->list = allocate(count, sizeof(*e->list));
    const ki_handler handler = {.on_add = count_add, .on_update = count_update, .user = e};
    ki_index index = KI_OPTIONS_INIT(ki_index);
    check(ki_index_by_namespace(&index), "index");
    check(ki_simple_informer_new(KI_OPTIONS(ki_simple_informer_options, .handler = &handler,
                                            .indexes = (const ki_index *[]){&index},
                                            .index_count = 1),
                                 &e->informer, NULL),
          "informer");
    check(ki_fifo_new(NULL, &e->fifo, NULL), "queue");
    check(ki_delta_fifo_new(
              KI_OPTIONS(ki_queue_options, .known = ki_simple_informer_store(e->informer)),
              &e->delta_fifo, NULL),
          "queue");
    const ki_replacement all = {.objects = (const ki_object *const *)e->objects[0],
                                .object_count = count,
                                .resource_version = "1"};
    check(ki_queue_replace(ki_simple_informer_queue(e->informer), &all, NULL), "replace");
    check(step(e), "step");
}

static void env_done(env *e)
{
    (void)ki_queue_unref(e->delta_fifo);
    (void)ki_queue_unref(e->fifo);
    (void)ki_simple_informer_unref(e->informer);
    for (size_t generation = 0; generation < 2; generation++) {
        for (size_t i = 0; i < e->count; i++) {
            (void)ki_object_unref(e->objects[generation][i]);
        }
        free(e->objects[generation]);
    }
    free(e->state);
    free(e->list);
}

int main(int argc, char **argv)
{
    bench_option options[] = {
        {"objects", "pods in the store, more than a thousand", "10000"},
        {"row", "the only row to run", ""},
        {"rounds", "rounds", "15"},
        {"ms", "of one kind of work in one round", "30"},
        {NULL, NULL, NULL},
    };
    bench_options(argc, argv, options);
    size_t objects = (size_t)bench_option_number(&options[0]);
    if (objects <= BATCH || objects % 7919 == 0) {
        bench_fail("not with %zu objects", objects);
    }
    static env e;
    env_init(&e, objects);
    static const struct {
        const char *name;
        void (*run)(void *user, uint64_t count);
    } rows[] = {{"delta_fifo", run_delta_fifo},
                {"delta_fifo_1000", run_delta_fifo_1000},
                {"fifo_1000", run_fifo_1000},
                {"apply", run_apply},
                {"relist", run_relist}};
    enum { ROWS = sizeof(rows) / sizeof(rows[0]) };
    bench_case cases[ROWS];
    char names[ROWS][48];
    size_t count = 0;
    for (size_t i = 0; i < ROWS; i++) {
        if (options[1].value[0] != '\0' && strcmp(options[1].value, rows[i].name) != 0) {
            continue;
        }
        (void)snprintf(names[i], sizeof(names[i]), "%s %zu", rows[i].name, objects);
        cases[count++] = (bench_case){.bench = "queue",
                                      .impl = "kinformer",
                                      .row = names[i],
                                      .run = rows[i].run,
                                      .user = &e,
                                      .memory = -1};
    }
    if (count == 0) {
        bench_fail("no such row: %s", options[1].value);
    }
    bench_measure(cases, count, (unsigned)bench_option_number(&options[2]),
                  (unsigned)bench_option_number(&options[3]));
    bench_use(&e.delivered);
    env_done(&e);
    return 0;
}
