/* SPDX-License-Identifier: Apache-2.0 */
/* Public engine tasks: an internal task with a reference count, so that it can be released at any
 * time, posted or not. */
#include <errno.h>
#include <stdatomic.h>

#include "base/alloc.h"
#include "base/engine.h"
#include "base/error.h"
#include "base/refs.h"

struct ki_engine_task {
    ki__refs refs; /* the owner's, and the engine's while it is posted */
    ki_engine *engine;
    void (*run)(void *user);
    void *user;
    atomic_bool freed;
    ki__task task;
};

static void unref(ki_engine_task *task)
{
    if (ki__refs_drop(&task->refs)) {
        ki_engine *engine = task->engine;
        ki__free(ki__engine_alloc(engine), task);
        (void)ki_engine_unref(engine);
    }
}

static void work(ki__task *posted)
{
    ki_engine_task *task = KI__CONTAINER_OF(posted, ki_engine_task, task);
    if (!atomic_load(&task->freed)) {
        task->run(task->user);
    }
    unref(task);
}

int ki_engine_task_new(ki_engine *engine, void (*run)(void *user), void *user,
                       ki_engine_task **ret_task, ki_error *error)
{
    KI__REQUIRE(engine, error);
    KI__REQUIRE(run, error);
    KI__REQUIRE(ret_task, error);
    ki_engine_task *task = ki__alloc_zero(ki__engine_alloc(engine), sizeof(*task));
    if (task == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    ki__refs_init(&task->refs);
    task->engine = ki_engine_ref(engine);
    task->run = run;
    task->user = user;
    ki__task_init(&task->task, work);
    *ret_task = task;
    return 0;
}

void ki_engine_task_post(ki_engine_task *task)
{
    if (task == NULL) {
        return;
    }
    ki__refs_take(&task->refs);
    if (!ki__engine_post(task->engine, &task->task)) {
        unref(task);
    }
}

ki_engine_task *ki_engine_task_unref(ki_engine_task *task)
{
    if (task != NULL) {
        atomic_store(&task->freed, true);
        if (ki__engine_unpost(task->engine, &task->task)) {
            unref(task); /* the engine's reference */
        }
        unref(task);
    }
    return NULL;
}
