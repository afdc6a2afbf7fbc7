/* SPDX-License-Identifier: Apache-2.0 */
/* Asynchronous reconciles in one event loop, without workers: the loop starts operations and
 * completes them when they end. The clock is part of the program, and an operation is a timer; with
 * a cluster it would be a request. One never ends: its deadline passes, and its key is retried. */
#include <stdio.h>
#include <string.h>

#include <kinformer/async.h>
#include <kinformer/clock.h>
#include <kinformer/kinformer.h>
#include <kinformer/worker.h>

enum { OPERATIONS_MAX = 4, TIMEOUT_MS = 100 };

static uint64_t now_ms = 1;

static uint64_t loop_now(void *user)
{
    (void)user;
    return now_ms * 1000000;
}

typedef struct operation {
    ki_reconcile *call; /* NULL: none */
    uint64_t ends_ms;
} operation;

typedef struct app {
    operation operations[OPERATIONS_MAX];
    bool was_stuck;
} app;

/* Starts an operation and returns. */
static void start(ki_reconcile *call, void *user)
{
    app *a = user;
    const char *key = ki_reconcile_key(call);
    uint64_t ends_ms = now_ms + strlen(key);
    if (strcmp(key, "shop/stuck") == 0 && !a->was_stuck) {
        a->was_stuck = true;
        ends_ms = UINT64_MAX;
    }
    for (size_t i = 0; i < OPERATIONS_MAX; i++) { /* max_pending: one of them is free */
        if (a->operations[i].call == NULL) {
            a->operations[i] = (operation){call, ends_ms};
            break;
        }
    }
    printf("%3llu ms: %s started\n", (unsigned long long)now_ms, key);
}

static void end(operation *o, const char *how)
{
    printf("%3llu ms: %s %s\n", (unsigned long long)now_ms, ki_reconcile_key(o->call), how);
    (void)ki_reconcile_complete(o->call, 0, 0, NULL); /* after cancel, the result has no effect */
    o->call = NULL;
}

/* The deadline of a call has passed: aborts the operation, and releases the call. */
static void cancel(ki_reconcile *call, void *user)
{
    app *a = user;
    for (size_t i = 0; i < OPERATIONS_MAX; i++) {
        if (a->operations[i].call == call) {
            end(&a->operations[i], "canceled");
        }
    }
}

static void complete(app *a)
{
    for (size_t i = 0; i < OPERATIONS_MAX; i++) {
        if (a->operations[i].call != NULL && a->operations[i].ends_ms <= now_ms) {
            end(&a->operations[i], "completed");
        }
    }
}

static uint64_t next_end_ms(const app *a)
{
    uint64_t next_ms = UINT64_MAX;
    for (size_t i = 0; i < OPERATIONS_MAX; i++) {
        const operation *o = &a->operations[i];
        next_ms = o->call != NULL && o->ends_ms < next_ms ? o->ends_ms : next_ms;
    }
    return next_ms;
}

static void run(app *a, ki_controller *controller)
{
    for (;;) {
        complete(a);
        while (ki_controller_work_one(controller) == 1) {
        }
        uint64_t next_ms = next_end_ms(a);
        int timeout_ms = ki_controller_timeout(controller);
        if (timeout_ms >= 0 && now_ms + (uint64_t)timeout_ms < next_ms) {
            next_ms = now_ms + (uint64_t)timeout_ms;
        }
        if (next_ms == UINT64_MAX) {
            return; /* a real loop sleeps until it is woken */
        }
        now_ms = next_ms; /* a real loop sleeps until then, or until it is woken */
    }
}

int main(void)
{
    app a = {.was_stuck = false};
    const ki_clock clock = {.monotonic_ns = loop_now};
    ki_async_options async = KI_OPTIONS_INIT(ki_async_options);
    async.start = start;
    async.cancel = cancel;
    async.timeout_ms = TIMEOUT_MS;
    async.max_pending = OPERATIONS_MAX;
    ki_error error = KI_ERROR_INIT;
    KI_AUTO(ki_workqueue) queue = NULL;
    KI_AUTO(ki_controller) controller = NULL;
    int r = ki_workqueue_new(KI_OPTIONS(ki_workqueue_options, .clock = &clock), &queue, &error);
    r = r < 0 ? r
              : ki_controller_new(
                    KI_OPTIONS(ki_controller_options, .queue = queue, .async = &async, .user = &a),
                    &controller, &error);
    static const char *const keys[] = {"shop/web", "shop/stuck", "shop/database"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && r >= 0; i++) {
        r = ki_workqueue_add(queue, keys[i]);
    }
    if (r < 0) {
        fprintf(stderr, "%s: %s\n", ki_error_name(r), error.message);
        return 1;
    }
    run(&a, controller);
    return 0;
}
