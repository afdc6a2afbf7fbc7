/* SPDX-License-Identifier: Apache-2.0 */
/* The worker threads of a controller. Each holds the controller until it ends, and the client until
 * its informers have synced. Threads begin together: if one cannot be started, those before it end
 * without having worked. */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include <kinformer/worker.h>

#include "base/alloc.h"
#include "base/digits.h"
#include "base/engine.h"
#include "base/error.h"
#include "base/process.h"
#include "base/time_units.h"
#include "client/client.h"
#include "controller/controller.h"
#include "controller/leader.h"
#include "loop/system.h"
#include "loop/wakeup.h"

enum { WORKERS_MAX = 10000, LOOK_MS = 50, PAUSE_NS = 2000000 };

typedef enum start_signal { SIGNAL_NONE, SIGNAL_WORK, SIGNAL_END } start_signal;

typedef struct worker {
    struct workers *all;
    pthread_t thread;
    unsigned number;
} worker;

typedef struct workers {
    const ki_alloc *alloc;
    ki_controller *controller; /* it owns this */
    ki_client *client;         /* held by each worker until informers have synced; or NULL */
    ki__mutex lock;
    ki__cond changed;
    start_signal signal; /* protected by the lock */
    bool joined;
    size_t count;
    worker list[];
} workers;

/* ---- a thread ---- */

/* The controller of this worker thread, or NULL. */
static _Thread_local const ki_controller *works_for;

static void name_thread(unsigned number)
{
    char name[16] = "ki-worker-";
    char room[KI__DIGITS_SIZE];
    ki_str digits = ki__digits(number % WORKERS_MAX, room);
    memcpy(name + strlen(name), digits.ptr, digits.len + 1);
    ki__thread_name(name);
}

static bool may_work(workers *w)
{
    ki__mutex_lock(&w->lock);
    while (w->signal == SIGNAL_NONE) {
        ki__cond_wait(&w->changed, &w->lock);
    }
    bool work = w->signal == SIGNAL_WORK;
    ki__mutex_unlock(&w->lock);
    return work;
}

static void rest(void)
{
    struct timespec pause = {.tv_nsec = PAUSE_NS};
    (void)clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
}

/* Returns when the informers have synced or were stopped, or the controller was stopped. Without
 * memory to look at them, it looks again: work on an incomplete cache would be wrong. */
static void wait_for_sync(const workers *w)
{
    int r = -ETIMEDOUT;
    while ((r == -ETIMEDOUT || r == -ENOMEM) &&
           !ki_workqueue_is_shutting_down(w->controller->options.queue)) {
        r = ki_client_wait_for_sync(w->client, LOOK_MS, NULL);
        if (r == -ENOMEM) {
            rest();
        }
    }
}

static void *run(void *arg)
{
    const worker *me = arg;
    workers *w = me->all;
    ki_controller *controller = w->controller;
    name_thread(me->number);
    works_for = controller;
    bool work = may_work(w);
    if (work && w->client != NULL) {
        wait_for_sync(w);
    }
    if (w->client != NULL) {
        ki__client_release(w->client);
    }
    if (work) {
        int r = ki_controller_run_worker(controller);
        (void)r; /* 0, or the queue's clock does not support waiting */
    }
    (void)ki_controller_unref(controller); /* which may free `w` */
    return NULL;
}

/* ---- all of them ---- */

static void free_workers(void *arg)
{
    workers *w = arg;
    for (size_t i = 0; i < w->count && !w->joined; i++) {
        (void)pthread_detach(w->list[i].thread); /* the last one may be this thread */
    }
    ki__cond_done(&w->changed);
    ki__mutex_done(&w->lock);
    ki__free(w->alloc, w);
}

static void join(workers *w)
{
    for (size_t i = 0; i < w->count && !w->joined; i++) {
        (void)pthread_join(w->list[i].thread, NULL);
    }
    w->joined = true;
}

static void signal_start(workers *w, start_signal what)
{
    ki__mutex_lock(&w->lock);
    w->signal = what;
    ki__cond_wake_all(&w->changed);
    ki__mutex_unlock(&w->lock);
}

static int make(ki_controller *controller, ki_client *client, uint32_t count, workers **ret_workers)
{
    const ki_alloc *alloc = controller->options.alloc;
    workers *w = ki__alloc_zero(alloc, sizeof(*w) + count * sizeof(w->list[0]));
    if (w == NULL) {
        return -ENOMEM;
    }
    int r = ki__mutex_init(&w->lock);
    if (r < 0) {
        ki__free(alloc, w);
        return r;
    }
    r = ki__cond_init(&w->changed);
    if (r < 0) {
        ki__mutex_done(&w->lock);
        ki__free(alloc, w);
        return r;
    }
    w->alloc = alloc;
    w->controller = controller;
    w->client = client;
    *ret_workers = w;
    return 0;
}

static int start_one(workers *w)
{
    worker *next = &w->list[w->count];
    *next = (worker){.all = w, .number = (unsigned)w->count + 1};
    (void)ki_controller_ref(w->controller);
    if (w->client != NULL) {
        ki__client_hold(w->client);
    }
    int r = ki__thread_start(run, next, false, &next->thread);
    if (r < 0) {
        if (w->client != NULL) {
            ki__client_release(w->client); /* the caller has another */
        }
        (void)ki_controller_unref(w->controller);
        return r;
    }
    w->count++;
    return 0;
}

/* Requires the controller's lock. */
static int start(ki_controller *controller, ki_client *client, uint32_t count, ki_error *error)
{
    if (controller->workers != NULL) {
        return ki__error_set(error, KI_ERR_EXISTS, "the controller was started before");
    }
    if (ki_workqueue_is_shutting_down(controller->options.queue)) {
        return ki__error_set(error, KI_ERR_STOPPED, "the work queue is shut down");
    }
    workers *w = NULL;
    int r = make(controller, client, count, &w);
    if (r < 0) {
        return ki__error_code(error, r);
    }
    while (r == 0 && w->count < count) {
        r = start_one(w);
    }
    if (r == 0 && client != NULL) {
        r = ki_client_start(client, error);
    } else if (r < 0) {
        r = ki__error_set(error, r, "cannot start a worker thread: %s", ki_error_text(r));
    }
    if (r < 0) {
        signal_start(w, SIGNAL_END);
        join(w);
        free_workers(w);
        return r;
    }
    controller->free_workers = free_workers;
    controller->workers = w;
    ki__counter_add(&controller->stats.started, count);
    if (client != NULL) {
        (void)ki__controller_join(controller, ki__engine_members(client->engine), client);
    }
    signal_start(w, SIGNAL_WORK);
    return 0;
}

int ki_controller_start(ki_controller *controller, ki_client *client, uint32_t count,
                        ki_error *error)
{
    KI__REQUIRE(controller, error);
    KI__REQUIRE_OWN(controller->process, error);
    if (count == 0 || count > WORKERS_MAX) {
        return ki__error_set(error, -EINVAL, "workers: must be 1 to %d", WORKERS_MAX);
    }
    if (works_for == controller) {
        return ki__error_set(error, KI_ERR_EXISTS, "called on a worker of this controller");
    }
    ki__mutex_lock(&controller->lock);
    int r = start(controller, client, count, error);
    ki__mutex_unlock(&controller->lock);
    return r;
}

int ki_controller_stop(ki_controller *controller, uint32_t drain_ms)
{
    KI__REQUIRE(controller, NULL);
    KI__REQUIRE_OWN(controller->process, NULL);
    ki_workqueue *queue = controller->options.queue;
    uint64_t drain_ns = ki__ms_to_ns(drain_ms);
    uint64_t end = ki__system_now_ns() + drain_ns;
    ki__controller_stop(controller, drain_ns);
    /* A worker that takes a key from now on drops it, so no call begins once none is running. */
    bool idle = ki_workqueue_is_drained(queue, KI_DRAIN_IDLE);
    while (!idle && works_for != controller && ki__system_now_ns() < end) {
        rest();
        idle = ki_workqueue_is_drained(queue, KI_DRAIN_IDLE);
    }
    return idle;
}

ki_controller *ki_controller_close(ki_controller *controller)
{
    if (controller == NULL || ki__is_inherited(controller->process)) {
        return ki_controller_unref(controller);
    }
    ki__members_leave(&controller->member);
    ki_workqueue_shut_down(controller->options.queue);
    if (controller->options.leader != NULL) {
        ki__leader_wake(controller->options.leader);
    }
    if (works_for != controller) { /* otherwise it would wait for itself */
        ki__mutex_lock(&controller->lock);
        if (controller->workers != NULL) {
            join(controller->workers);
        }
        ki__mutex_unlock(&controller->lock);
        ki__async_cancel(controller); /* without threads, some may be pending */
    }
    return ki_controller_unref(controller);
}
