/* SPDX-License-Identifier: Apache-2.0 */
/* Work queues on informers: the keys of what a handler hears go in, workers take them out, look at
 * the store, and fail occasionally. I14: no key is worked on twice at once, none is lost, and a
 * queue that is shut down runs empty. */
#include <errno.h>
#include <string.h>

#include <kinformer/rate_limiter.h>
#include <kinformer/worker.h>

#include "sim/sim.h"
#include "workqueue/workqueue_state.h"

#define WORK_MAX_NS SIM_SECOND
#define LATER_MAX_NS (30 * SIM_SECOND)

static void on_poll(sim *s, void *arg, uint64_t tag);

static void poll_soon(sim_work *work)
{
    if (!work->polling) {
        work->polling = true;
        sim_after(work->owner->s, 0, on_poll, work, 0);
    }
}

static void on_wake(void *user)
{
    poll_soon(user);
}

/* ---- adding ---- */

static void on_add_again(sim *s, void *arg, uint64_t tag)
{
    (void)s;
    sim_work *work = arg;
    work->pending[tag] = false;
    sim_work_add(work, (int)tag);
}

void sim_work_add(sim_work *work, int key)
{
    char text[16];
    sim_key_text(key, text);
    int r = ki_workqueue_add(work->queue, text);
    if (r < 0 && r != KI_ERR_STOPPED && r != -ENOMEM) {
        sim_violation(work->owner->s, "I14", "a key is refused: %s", ki_error_name(r));
    }
    if (r == -ENOMEM && !work->pending[key]) {
        work->pending[key] = true;
        sim_after(work->owner->s, SIM_SECOND, on_add_again, work, (uint64_t)key);
    }
}

/* ---- working ---- */

/* What failed can always be put back, memory or not. */
static void put_back(sim_work *work, const char *key)
{
    sim *s = work->owner->s;
    uint32_t outcome = s->healed ? 5 : sim_draw(s, SIM_CLIENT, 6);
    uint64_t *promise = &work->promise[sim_key_of(key)];
    int r = 0;
    if (outcome < 2) {
        uint64_t delay = outcome == 0 ? 0 : sim_draw_skewed(s, SIM_CLIENT, SIM_MS, LATER_MAX_NS);
        r = outcome == 0 ? ki_workqueue_add_rate_limited(work->queue, key)
                         : ki__workqueue_add_after(work->queue, key, delay);
        delay = r == 0 ? 0 : delay; /* it comes earlier anyway */
        bool earlier = *promise == 0 || s->now + delay < *promise;
        *promise = r >= 0 && earlier ? s->now + delay : *promise;
    } else {
        ki_workqueue_forget(work->queue, key);
    }
    if (r < 0 && r != KI_ERR_STOPPED) {
        sim_violation(s, "I14", "a key that is being worked on is refused: %s", ki_error_name(r));
    }
}

static void on_done(sim *s, void *arg, uint64_t tag)
{
    sim_work *work = arg;
    ki_work *held = &work->held[tag];
    int key = sim_key_of(held->key);
    put_back(work, held->key);
    work->working[key] = false;
    ki_workqueue_done(work->queue, held);
    sim_count_up(s, SIM_COUNT_WORKED);
    poll_soon(work);
}

static void begin(sim_work *work, int worker)
{
    sim_informer *informer = work->owner;
    sim *s = informer->s;
    int key = sim_key_of(work->held[worker].key);
    if (key < 0 || work->working[key]) {
        sim_violation(s, "I14", "key %s is worked on twice at once", work->held[worker].key);
    }
    ki_object *object = ki_store_get(ki_informer_store(informer->informer), work->held[worker].key);
    work->working[key] = true;
    work->promise[key] = s->now >= work->promise[key] ? 0 : work->promise[key];
    work->seen[key] = object != NULL ? sim_rv(object) : 0;
    (void)ki_object_unref(object);
    sim_after(s, sim_draw_skewed(s, SIM_CLIENT, 0, WORK_MAX_NS), on_done, work, (uint64_t)worker);
}

static void on_poll(sim *s, void *arg, uint64_t tag)
{
    sim_work *work = arg;
    if (tag != 0 && tag != work->poll_at) {
        return; /* set again since */
    }
    work->polling = work->polling && tag != 0;
    int r = 1;
    for (int i = 0; i < work->workers && r > 0; i++) {
        if (work->held[i].entry == NULL) {
            r = ki_workqueue_try_get(work->queue, &work->held[i]);
            if (r > 0) {
                begin(work, i);
            }
        }
    }
    uint64_t next = ki__workqueue_next_deadline(work->queue);
    if (r == 0 && next != UINT64_MAX && next > s->now) {
        work->poll_at = next;
        sim_at(s, next, on_poll, work, next);
    }
}

/* ---- the whole ---- */

void sim_work_start(sim_informer *informer)
{
    sim *s = informer->s;
    sim_work *work = &informer->work;
    ki_workqueue_options options = KI_OPTIONS_INIT(ki_workqueue_options);
    options.alloc = &s->client_alloc;
    options.random = &s->entropy;
    options.clock = &s->clock;
    options.wake = on_wake;
    options.wake_user = work;
    options.measure_times = true;
    work->owner = informer;
    work->workers = 1 + (int)sim_draw(s, SIM_CLIENT, SIM_WORKERS);
    ki_rate_limiter limiter = {0};
    ki_rate_limiter_options limits = KI_OPTIONS_INIT(ki_rate_limiter_options);
    limits.alloc = &s->client_alloc;
    limits.random = &s->entropy;
    int r = ki_rate_limiter_exponential(5, SIM_MINUTE / SIM_MS, &limits, &limiter);
    if (r == 0) {
        options.limiter = &limiter;
        r = ki_workqueue_new(&options, &work->queue, NULL);
        if (r < 0) {
            limiter.destroy(limiter.user);
        }
    }
    if (r < 0 && r != -ENOMEM) {
        sim_violation(s, "setup", "no work queue: %s", ki_error_name(r));
    }
    if (r == 0) {
        poll_soon(work); /* so that it has a waiter to wake */
    }
}

void sim_work_stop(sim_work *work)
{
    if (work->queue != NULL) {
        ki_workqueue_shut_down(work->queue);
        poll_soon(work);
    }
}

const char *sim_work_check(const sim_work *work, const sim_handler *feeder)
{
    for (int key = 0; key < SIM_KEYS; key++) {
        const ki_object *view = feeder->view[key];
        if (work->pending[key]) {
            return "I14: a key was not added yet";
        }
        if (work->promise[key] != 0) {
            return "I14: a key that was put back does not come";
        }
        /* What came and went while the handler was behind is not delivered; a worker that looked
         * into the store in between has seen it nevertheless. */
        bool unknown = view == NULL && feeder->merged != 0;
        /* A later version that was stored without an event; no kept field has changed. */
        bool later =
            view != NULL && sim_suppresses(feeder->owner) && work->seen[key] > sim_rv(view);
        if (feeder->delivered[key] && !unknown && !later &&
            work->seen[key] != (view != NULL ? sim_rv(view) : 0)) {
            return "I14: a key was not worked on after its last change";
        }
    }
    return NULL;
}

void sim_work_done(sim_work *work)
{
    if (work->queue == NULL) {
        return;
    }
    if (!ki_workqueue_is_drained(work->queue, KI_DRAIN_EMPTY)) {
        sim_violation(work->owner->s, "I14", "the work queue of informer %d does not run empty",
                      work->owner->id);
    }
    work->queue = ki_workqueue_unref(work->queue);
}
