/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks of programs on an engine.  threads: yes */
#include <errno.h>
#include <pthread.h>

#include <kinformer/parts/engine.h>

#include "support/test.h"
#include "support/world.h"

typedef struct fixture {
    test_alloc alloc;
    test_world world;
    ki_engine *engine;
    ki_engine_task *task;
    size_t runs;
    size_t again;   /* posts itself so many times more */
    bool free_self; /* from inside */
} fixture;

static void run(void *user)
{
    fixture *f = user;
    f->runs++;
    if (f->again > 0) {
        f->again--;
        ki_engine_task_post(f->task);
    }
    if (f->free_self) {
        f->task = ki_engine_task_unref(f->task);
    }
}

static void begin(fixture *f)
{
    *f = (fixture){0};
    test_alloc_init(&f->alloc);
    test_world_init(&f->world);
    ki_engine_options options = test_world_engine_options(&f->world, &f->alloc.table);
    assert_int_equal(ki_engine_new(&options, &f->engine, NULL), 0);
    assert_int_equal(ki_engine_task_new(f->engine, run, f, &f->task, NULL), 0);
}

static void end(fixture *f)
{
    assert_null(ki_engine_task_unref(f->task));
    test_world_settle(f->engine);
    (void)ki_engine_unref(f->engine);
    test_alloc_done(&f->alloc);
}

static void it_runs_once_for_each_time_it_waits(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    test_world_settle(f.engine);
    assert_int_equal(f.runs, 0);
    ki_engine_task_post(f.task);
    ki_engine_task_post(f.task);
    assert_int_equal(f.runs, 0); /* not from inside the call */
    assert_int_equal(f.world.wakes, 1);
    test_world_settle(f.engine);
    assert_int_equal(f.runs, 1);
    f.again = 3;
    ki_engine_task_post(f.task);
    test_world_settle(f.engine);
    assert_int_equal(f.runs, 5);
    end(&f);
}

static void one_that_is_freed_does_not_run(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    ki_engine_task_post(f.task);
    size_t blocks = f.alloc.live_blocks;
    f.task = ki_engine_task_unref(f.task);
    assert_int_equal(f.alloc.live_blocks, blocks - 1); /* the engine need not run for that */
    assert_int_equal(ki_engine_deadline(f.engine), UINT64_MAX);
    test_world_settle(f.engine);
    assert_int_equal(f.runs, 0);
    end(&f);
}

static void it_may_be_freed_from_inside(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    f.free_self = true;
    f.again = 1;
    ki_engine_task_post(f.task);
    test_world_settle(f.engine);
    assert_int_equal(f.runs, 1);
    end(&f);
}

static void it_outlives_the_engine_of_its_owner(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    ki_engine *engine = f.engine;
    (void)ki_engine_unref(engine); /* the task holds another */
    ki_engine_task_post(f.task);
    test_world_settle(engine);
    assert_int_equal(f.runs, 1);
    f.task = ki_engine_task_unref(f.task);
    test_alloc_done(&f.alloc);
}

static void it_needs_an_engine_and_a_function(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    ki_engine_task *task;
    assert_int_equal(ki_engine_task_new(NULL, run, NULL, &task, NULL), -EINVAL);
    assert_int_equal(ki_engine_task_new(f.engine, NULL, NULL, &task, NULL), -EINVAL);
    f.alloc.fail_at = f.alloc.calls + 1;
    assert_int_equal(ki_engine_task_new(f.engine, run, NULL, &task, NULL), -ENOMEM);
    end(&f);
}

static void *post_many(void *user)
{
    fixture *f = user;
    for (int i = 0; i < 1000; i++) {
        ki_engine_task_post(f->task);
    }
    return NULL;
}

static void any_thread_may_post(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    pthread_t threads[2];
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, post_many, &f), 0);
    }
    for (int i = 0; i < 1000; i++) {
        (void)ki_engine_run(f.engine, 0);
    }
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    test_world_settle(f.engine);
    assert_in_range(f.runs, 1, 2000);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_runs_once_for_each_time_it_waits),
        cmocka_unit_test(one_that_is_freed_does_not_run),
        cmocka_unit_test(it_may_be_freed_from_inside),
        cmocka_unit_test(it_outlives_the_engine_of_its_owner),
        cmocka_unit_test(it_needs_an_engine_and_a_function),
        cmocka_unit_test(any_thread_may_post),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
