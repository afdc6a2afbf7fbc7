/* SPDX-License-Identifier: Apache-2.0 */
/* A work queue under stress (I14): no key is with two workers at a time, and every add that was
 * accepted is followed by a get. */
#include <stdlib.h>

#include <kinformer/clock.h>
#include <kinformer/worker.h>
#include <kinformer/workqueue_stats.h>

#include "stress.h"

enum { WORKERS = 2 };

typedef struct key {
    char name[8];
    atomic_bool busy;
    atomic_uint_fast64_t added;    /* counted before each add */
    atomic_uint_fast64_t accepted; /* the greatest of those that the queue took, without a delay */
    atomic_uint_fast64_t handled;  /* `added` when a worker last got the key */
} key;

struct work {
    ki_workqueue *queue;
    pthread_t workers[WORKERS];
    key keys[KEYS];
};

static void raise_to(atomic_uint_fast64_t *value, uint64_t to)
{
    uint_fast64_t now = atomic_load(value);
    while (now < to && !atomic_compare_exchange_weak(value, &now, to)) {
    }
}

static void *run_worker(void *argument)
{
    work *w = argument;
    dice d = {.state = (uint64_t)(uintptr_t)&d | 1};
    ki_work item = {0};
    int r;
    while ((r = ki_workqueue_next(w->queue, &item)) > 0) {
        size_t number = (size_t)strtoul(item.key + 1, NULL, 10);
        if (number >= KEYS) {
            violation("work queue: unknown key %s", item.key);
        }
        key *k = &w->keys[number];
        if (atomic_exchange(&k->busy, true)) {
            violation("I14: key %s is with two workers", k->name);
        }
        raise_to(&k->handled, atomic_load(&k->added));
        if (roll(&d, 16) == 0) {
            pause_ms(roll(&d, 3));
        }
        if (roll(&d, 4) == 0) {
            ki_workqueue_forget(w->queue, item.key);
        }
        atomic_store(&k->busy, false);
    }
    if (r != KI_ERR_STOPPED) {
        violation("ki_workqueue_next: %s", ki_error_name(r));
    }
    return NULL;
}

work *work_start(void)
{
    ki_error error = KI_ERROR_INIT;
    work *w = calloc(1, sizeof(*w));
    if (w == NULL) {
        violation("out of memory");
    }
    for (unsigned int i = 0; i < KEYS; i++) {
        w->keys[i].name[0] = 'k';
        w->keys[i].name[1] = (char)('0' + i / 10);
        w->keys[i].name[2] = (char)('0' + i % 10);
    }
    ki_workqueue_options options = KI_OPTIONS_INIT(ki_workqueue_options);
    options.clock = ki_clock_system();
    options.random = ki_random_system();
    options.measure_times = true;
    must(ki_workqueue_new(&options, &w->queue, &error), &error, "ki_workqueue_new");
    for (size_t i = 0; i < WORKERS; i++) {
        if (pthread_create(&w->workers[i], NULL, run_worker, w) != 0) {
            violation("no thread for a worker");
        }
    }
    return w;
}

void work_act(work *w, dice *d)
{
    key *k = &w->keys[roll(d, KEYS)];
    const char *name = k->name;
    ki_workqueue_stats stats = {.size = sizeof(stats)};
    uint64_t count = atomic_fetch_add(&k->added, 1) + 1;
    int r = 0;
    switch (roll(d, 8)) {
    case 0:
        r = ki_workqueue_add_after(w->queue, name, roll(d, 3));
        break;
    case 1:
        r = ki_workqueue_add_rate_limited(w->queue, name);
        break;
    case 2:
        ki_workqueue_get_stats(w->queue, &stats);
        (void)ki_workqueue_requeues(w->queue, name);
        break;
    default:
        r = ki_workqueue_add(w->queue, name);
        if (r >= 0) {
            raise_to(&k->accepted, count);
        }
        break;
    }
    if (r < 0 && r != KI_ERR_STOPPED) {
        violation("work queue: adding %s: %s", k->name, ki_error_name(r));
    }
}

void work_end(work *w)
{
    int r = ki_workqueue_shut_down_with_drain(w->queue, KI_DRAIN_EMPTY);
    if (r < 0) {
        violation("ki_workqueue_shut_down_with_drain: %s", ki_error_name(r));
    }
    for (size_t i = 0; i < WORKERS; i++) {
        pthread_join(w->workers[i], NULL);
    }
    for (size_t i = 0; i < KEYS; i++) {
        if (atomic_load(&w->keys[i].handled) < atomic_load(&w->keys[i].accepted)) {
            violation("I14: an add of key %s was lost", w->keys[i].name);
        }
    }
    (void)ki_workqueue_unref(w->queue);
    free(w);
}
