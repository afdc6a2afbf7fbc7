/* SPDX-License-Identifier: Apache-2.0 */
/* A controller with three workers that reconciles Deployments; "shop/db" fails twice, and
 * "shop/cache" requests another run after a while. */
#include <errno.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <kinformer/kinformer.h>

enum { WORKERS = 3, DEPLOYMENTS = 3 };

typedef struct deployment {
    const char *key;
    int failures; /* to come */
    int looks;    /* requeues to request after a success */
    int tries;    /* only the worker that has the key touches it */
} deployment;

typedef struct cluster {
    ki_workqueue *queue;
    ki_controller *controller;
    deployment deployments[DEPLOYMENTS];
    atomic_int left;
    sem_t all_done;
} cluster;

static int reconcile(const char *key, uint64_t *retry_after_ms, ki_error *error, void *user)
{
    (void)error; /* could say more about a failure */
    cluster *c = user;
    deployment *d = c->deployments;
    while (strcmp(key, d->key) != 0) {
        d++;
    }
    d->tries++;
    if (d->failures > 0) {
        d->failures--;
        return -EAGAIN; /* retried after 5 ms, 10 ms, 20 ms, ... */
    }
    if (d->looks > 0) {
        d->looks--;
        *retry_after_ms = 20; /* runs again after that time */
        return 0;
    }
    if (atomic_fetch_sub(&c->left, 1) == 1) {
        sem_post(&c->all_done);
    }
    return 0;
}

static int run(cluster *c, ki_error *error)
{
    int r = ki_workqueue_new(NULL, &c->queue, error);
    r = r < 0 ? r
              : ki_controller_new(KI_OPTIONS(ki_controller_options, .queue = c->queue,
                                             .reconcile = reconcile, .user = c),
                                  &c->controller, error);
    for (size_t i = 0; r >= 0 && i < 2 * DEPLOYMENTS; i++) { /* each twice: it is queued once */
        r = ki_workqueue_add(c->queue, c->deployments[i % DEPLOYMENTS].key);
    }
    /* A client here would start its informers, and the workers would begin when they are synced. */
    r = r < 0 ? r : ki_controller_start(c->controller, NULL, WORKERS, error);
    if (r >= 0) {
        sem_wait(&c->all_done);
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
    sem_init(&c.all_done, 0, 0);
    int r = run(&c, &error);
    ki_controller_close(c.controller); /* waits for the workers */
    ki_workqueue_unref(c.queue);
    if (r < 0) {
        fprintf(stderr, "%s: %s\n", ki_error_name(r), error.message);
    }
    for (size_t i = 0; r >= 0 && i < DEPLOYMENTS; i++) {
        printf("%s: %d\n", c.deployments[i].key, c.deployments[i].tries);
    }
    return r < 0 ? 1 : 0;
}
