/* SPDX-License-Identifier: Apache-2.0 */
/* A controller with three workers that reconciles Deployments; "shop/db" fails twice, and
 * "shop/cache" requests another run after a while. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#include <kinformer/kinformer.h>

enum { WORKERS = 3, DEPLOYMENTS = 3 };

typedef struct deployment {
    const char *key;
    int failures; /* to come */
    int looks;    /* to be asked for after a success */
    int tries;    /* only the worker that has the key touches it */
} deployment;

typedef struct cluster {
    ki_workqueue *queue;
    ki_controller *controller;
    deployment deployments[DEPLOYMENTS];
    atomic_int left;
} cluster;

static uint64_t monotonic_ns(void *user)
{
    (void)user;
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static int reconcile(ki_str key, uint64_t *retry_after_ns, ki_error *error, void *user)
{
    (void)error; /* could say more about a failure */
    cluster *c = user;
    deployment *d = c->deployments;
    while (!ki_str_eq_text(key, d->key)) {
        d++;
    }
    d->tries++;
    if (d->failures > 0) {
        d->failures--;
        return -EAGAIN; /* retried after 5 ms, 10 ms, 20 ms, ... */
    }
    if (d->looks > 0) {
        d->looks--;
        *retry_after_ns = 20000000; /* runs again after 20 ms */
        return 0;
    }
    if (atomic_fetch_sub(&c->left, 1) == 1) {
        ki_workqueue_shut_down(c->queue); /* everything is done: the workers may end */
    }
    return 0;
}

static void *work(void *user)
{
    cluster *c = user;
    if (ki_controller_run_worker(c->controller) < 0) {
        fprintf(stderr, "a worker failed\n");
    }
    return NULL;
}

static int run(cluster *c, ki_error *error)
{
    static const ki_clock clock = {.monotonic_ns = monotonic_ns};
    int r = ki_workqueue_new(KI_OPTIONS(ki_workqueue_options, .clock = &clock), &c->queue, error);
    if (r >= 0) {
        r = ki_controller_new(
            KI_OPTIONS(ki_controller_options, .queue = c->queue, .reconcile = reconcile, .user = c),
            &c->controller, error);
    }
    for (size_t i = 0; r >= 0 && i < 2 * DEPLOYMENTS; i++) { /* each twice: it is queued once */
        r = ki_workqueue_add(c->queue, ki_str_from(c->deployments[i % DEPLOYMENTS].key));
    }
    pthread_t workers[WORKERS];
    size_t started = 0;
    while (r >= 0 && started < WORKERS) {
        r = -pthread_create(&workers[started], NULL, work, c);
        started += r == 0;
    }
    if (r < 0 && started != 0) {
        ki_workqueue_shut_down(c->queue);
    }
    while (started != 0) {
        (void)pthread_join(workers[--started], NULL);
    }
    return r;
}

int main(void)
{
    cluster c = {.deployments = {{.key = "shop/web"},
                                 {.key = "shop/db", .failures = 2},
                                 {.key = "shop/cache", .looks = 1}},
                 .left = DEPLOYMENTS};
    ki_error error = KI_ERROR_INIT;
    int r = run(&c, &error);
    if (r < 0) {
        fprintf(stderr, "%s: %s\n", ki_error_name(r), error.message);
    }
    for (size_t i = 0; r >= 0 && i < DEPLOYMENTS; i++) {
        printf("%s: %d\n", c.deployments[i].key, c.deployments[i].tries);
    }
    ki_controller_unref(c.controller);
    ki_workqueue_unref(c.queue);
    return r < 0 ? 1 : 0;
}
