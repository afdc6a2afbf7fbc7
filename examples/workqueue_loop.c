/* SPDX-License-Identifier: Apache-2.0 */
/* A work queue without threads, as an event loop uses it. The clock is part of the program: where a
 * real loop would sleep, this one says so and sets it on. */
#include <stdio.h>

#include <kinformer/clock.h>
#include <kinformer/kinformer.h>
#include <kinformer/worker.h>

static uint64_t now_ns = 1;

static uint64_t loop_now(void *user)
{
    (void)user;
    return now_ns;
}

/* Called when something was added while the loop sleeps: a real one writes to an eventfd here. */
static void wake_up(void *user)
{
    *(bool *)user = true;
}

static void work_on_all(ki_workqueue *queue)
{
    ki_work work;
    while (ki_workqueue_try_get(queue, &work) == 1) {
        printf("at %2llu ms: %s\n", (unsigned long long)(now_ns / 1000000), work.key);
        ki_workqueue_done(queue, &work);
    }
}

static int run(ki_workqueue *queue, const bool *woken)
{
    int r = ki_workqueue_add(queue, "shop/web");
    if (r >= 0) {
        r = ki_workqueue_add_after(queue, "shop/db", 30);
    }
    if (r >= 0) {
        r = ki_workqueue_add_after(queue, "shop/cache", 10);
    }
    if (r < 0) {
        return r;
    }
    printf("woken: %s\n", *woken ? "yes" : "no");
    for (;;) {
        work_on_all(queue);
        int timeout_ms = ki_workqueue_timeout(queue);
        if (timeout_ms < 0) {
            return 0; /* a real loop sleeps until it is woken */
        }
        now_ns += (uint64_t)timeout_ms * 1000000; /* a real loop sleeps, or until it is woken */
    }
}

int main(void)
{
    bool woken = false;
    const ki_clock clock = {.monotonic_ns = loop_now};
    ki_error error = KI_ERROR_INIT;
    ki_workqueue *queue = NULL;
    int r = ki_workqueue_new(
        KI_OPTIONS(ki_workqueue_options, .clock = &clock, .wake = wake_up, .wake_user = &woken),
        &queue, &error);
    if (r >= 0) {
        r = run(queue, &woken);
    }
    if (r < 0) {
        fprintf(stderr, "%s: %s\n", ki_error_name(r), error.message);
    }
    ki_workqueue_unref(queue);
    return r < 0 ? 1 : 0;
}
