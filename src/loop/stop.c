/* SPDX-License-Identifier: Apache-2.0 */
/* Stopping a loop, and the stop hooks of its users.
 *
 * Invariant: if the loop is stopped and no thread runs it, every hook has run. Hooks run when the
 * runner gives up the loop; if no thread runs it, ki_loop_stop() takes it over for them. A hook
 * cannot be added to a stopped loop. */
#include "base/engine.h"
#include "loop/state.h"

void ki__loop_add_stop_hook(ki_loop *loop, ki__stop_hook *hook)
{
    ki__mutex_lock(&loop->lock);
    if (!loop->stopped) {
        ki__list_push_back(&loop->stop_hooks, &hook->link);
    }
    ki__mutex_unlock(&loop->lock);
}

void ki__loop_remove_stop_hook(ki_loop *loop, ki__stop_hook *hook)
{
    ki__mutex_lock(&loop->lock);
    ki__list_remove(&hook->link);
    ki__mutex_unlock(&loop->lock);
}

/* Requires the lock, which is released for each hook. A hook may free itself. The thread counts as
 * inside the engine, so that callbacks of a hook cannot wait for the loop. */
static void run_hooks(ki_loop *loop)
{
    ki__list *link;
    while ((link = ki__list_pop_front(&loop->stop_hooks)) != NULL) {
        ki__stop_hook *hook = KI__CONTAINER_OF(link, ki__stop_hook, link);
        ki__mutex_unlock(&loop->lock);
        uintptr_t before = ki__engine_enter(loop->engine);
        hook->run(hook);
        ki__engine_leave(loop->engine, before);
        ki__mutex_lock(&loop->lock);
    }
}

static void run_posted(ki__task *task)
{
    ki_loop *loop = KI__CONTAINER_OF(task, ki_loop, stop_task);
    ki__refs_take(&loop->parts);
    ki__mutex_lock(&loop->lock);
    run_hooks(loop);
    ki__mutex_unlock(&loop->lock);
    ki__loop_release(loop);
}

void ki__loop_init_stop(ki_loop *loop)
{
    ki__list_init(&loop->stop_hooks);
    ki__task_init(&loop->stop_task, run_posted);
}

void ki__loop_give_up(ki_loop *loop)
{
    if (loop->stopped) {
        run_hooks(loop);
    }
    loop->runner = KI__RUNNER_NOBODY;
    ki__cond_wake_all(&loop->changed);
}

/* Requires the lock. */
static void stop(ki_loop *loop)
{
    while (loop->runs_no_callbacks && !ki__loop_is_mine(loop)) {
        ki__cond_wait(&loop->changed, &loop->lock); /* or that thread would run the hooks */
    }
    loop->stopped = true;
    ki__cond_wake_all(&loop->changed);
    if (loop->runner != KI__RUNNER_NOBODY || ki__list_is_empty(&loop->stop_hooks)) {
        return; /* the runner gives up the loop and runs the hooks */
    }
    if (ki__engine_is_inside(loop->engine)) { /* the program runs the engine without the loop */
        (void)ki__engine_post(loop->engine, &loop->stop_task);
        return;
    }
    loop->runner = KI__RUNNER_HELPER;
    loop->runner_thread = pthread_self();
    ki__loop_give_up(loop);
}

void ki_loop_stop(ki_loop *loop)
{
    if (loop == NULL || ki__engine_is_inherited(loop->engine)) {
        return; /* the eventfd is shared with the parent */
    }
    ki__refs_take(&loop->parts); /* a hook may release the caller's reference */
    ki__mutex_lock(&loop->lock);
    stop(loop);
    ki__mutex_unlock(&loop->lock);
    ki__wakeup_send(loop->wakeup);
    ki__loop_release(loop);
}
