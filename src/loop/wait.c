/* SPDX-License-Identifier: Apache-2.0 */
/* Called from outside the loop: running a function inside it, and waiting for something that
 * happens there. Both work regardless of which thread runs the loop; if none does, or the runner
 * ends meanwhile, a waiter takes over. */
#include <errno.h>

#include "base/engine.h"
#include "loop/state.h"

/* ---- calling a function inside the loop ---- */

typedef struct loop_call {
    ki_loop *loop;
    ki__task task;
    void (*run)(void *arg);
    void *arg;
    bool done; /* protected by the loop's lock */
} loop_call;

static void run_loop_call(ki__task *task)
{
    loop_call *e = KI__CONTAINER_OF(task, loop_call, task);
    ki_loop *loop = e->loop;
    e->run(e->arg);
    ki__mutex_lock(&loop->lock);
    e->done = true; /* from here on the waiter may free it */
    ki__cond_wake_all(&loop->changed);
    ki__mutex_unlock(&loop->lock);
}

/* Requires the lock; no thread runs the loop, which may be stopped. */
static void run_here(ki_loop *loop, void (*run)(void *arg), void *arg)
{
    loop->runner = KI__RUNNER_HELPER;
    loop->runner_thread = pthread_self();
    ki__mutex_unlock(&loop->lock);
    run(arg);
    ki__mutex_lock(&loop->lock);
    ki__loop_give_up(loop);
}

/* Requires the lock, which is released temporarily. */
static void post_and_wait(ki_loop *loop, loop_call *e)
{
    ki__mutex_unlock(&loop->lock);
    (void)ki__engine_post(loop->engine, &e->task);
    ki__mutex_lock(&loop->lock);
    while (!e->done) {
        if (loop->runner == KI__RUNNER_NOBODY && ki__engine_unpost(loop->engine, &e->task)) {
            run_here(loop, e->run, e->arg);
            return;
        }
        ki__cond_wait(&loop->changed, &loop->lock);
    }
}

void ki__loop_call(ki_loop *loop, void (*run)(void *arg), void *arg)
{
    if (ki__engine_is_inherited(loop->engine)) {
        return;
    }
    ki__mutex_lock(&loop->lock);
    if (ki__loop_is_mine(loop) || ki__engine_is_inside(loop->engine)) {
        ki__mutex_unlock(&loop->lock);
        run(arg);
        return;
    }
    if (loop->runner == KI__RUNNER_NOBODY) {
        run_here(loop, run, arg);
    } else {
        loop_call e = {.loop = loop, .run = run, .arg = arg};
        ki__task_init(&e.task, run_loop_call);
        post_and_wait(loop, &e);
    }
    ki__mutex_unlock(&loop->lock);
}

bool ki__loop_try_call(ki_loop *loop, void (*run)(void *arg), void *arg)
{
    if (ki__engine_is_inherited(loop->engine)) {
        return true;
    }
    ki__mutex_lock(&loop->lock);
    bool idle = loop->runner == KI__RUNNER_NOBODY && !ki__engine_is_inside(loop->engine);
    if (idle) {
        loop->runs_no_callbacks = true;
        run_here(loop, run, arg);
        loop->runs_no_callbacks = false;
    }
    ki__mutex_unlock(&loop->lock);
    return idle;
}

/* ---- waiting ---- */

void ki__loop_changed(ki_loop *loop)
{
    ki__mutex_lock(&loop->lock);
    ki__cond_wake_all(&loop->changed);
    ki__mutex_unlock(&loop->lock);
}

/* Runs the loop until `is_done`, or another thread needs to run it permanently. Requires the lock,
 * which is released meanwhile. */
static void help(ki_loop *loop, bool (*is_done)(const void *arg), const void *arg)
{
    ki__mutex_unlock(&loop->lock);
    ki__loop_arm(loop);
    ki__mutex_lock(&loop->lock);
    while (!is_done(arg) && !loop->stopped && loop->wanted == 0) {
        ki__mutex_unlock(&loop->lock);
        (void)ki__loop_dispatch_once(loop, -1);
        ki__mutex_lock(&loop->lock);
    }
    ki__loop_give_up(loop);
}

int ki__loop_wait(ki_loop *loop, bool (*is_done)(const void *arg), const void *arg)
{
    int r = 0;
    if (ki__engine_is_inherited(loop->engine)) {
        return KI_ERR_STOPPED;
    }
    ki__mutex_lock(&loop->lock);
    if (ki__loop_is_mine(loop) || ki__engine_is_inside(loop->engine)) {
        r = is_done(arg) ? 0 : KI_ERR_BUSY;
        ki__mutex_unlock(&loop->lock);
        return r;
    }
    while (r == 0 && !is_done(arg)) {
        bool busy = loop->runner != KI__RUNNER_NOBODY || loop->wanted != 0;
        if (busy) {
            ki__cond_wait(&loop->changed, &loop->lock);
        } else {
            r = ki__loop_take_over(loop, KI__RUNNER_HELPER);
            if (r == 0) {
                help(loop, is_done, arg);
            }
        }
    }
    ki__mutex_unlock(&loop->lock);
    return r;
}
