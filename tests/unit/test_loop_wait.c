/* SPDX-License-Identifier: Apache-2.0 */
/* Having something done inside a loop from outside, and waiting for what happens there, on any
 * thread.  threads: yes */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "base/engine.h"
#include "loop/loop.h"
#include "support/test.h"

#define MS UINT64_C(1000000)

typedef struct fixture {
    test_alloc alloc;
    ki_loop *loop;
    atomic_int calls;
    atomic_bool done;
    atomic_bool inside;  /* `hold` is under way */
    atomic_bool may_end; /* and may end */
    pthread_t where;     /* the last call ran */
    ki_engine_task *task;
    int result;
} fixture;

static void begin(fixture *f)
{
    *f = (fixture){.result = 1};
    test_alloc_init(&f->alloc);
    ki_loop_options options = KI_OPTIONS_INIT(ki_loop_options);
    options.alloc = &f->alloc.table;
    assert_int_equal(ki_loop_new(&options, &f->loop, NULL), 0);
}

static void end(fixture *f)
{
    f->task = ki_engine_task_unref(f->task);
    f->loop = ki_loop_unref(f->loop);
    test_alloc_done(&f->alloc);
}

static void nap(void)
{
    (void)nanosleep(&(struct timespec){.tv_nsec = MS}, NULL);
}

static void await(const atomic_bool *flag)
{
    for (int i = 0; i < 20000 && !atomic_load(flag); i++) {
        nap();
    }
    assert_true(atomic_load(flag));
}

static void post(fixture *f, void (*run)(void *user))
{
    assert_int_equal(ki_engine_task_new(ki_loop_engine(f->loop), run, f, &f->task, NULL), 0);
    ki_engine_task_post(f->task);
}

static void note(void *arg)
{
    fixture *f = arg;
    f->where = pthread_self();
    atomic_fetch_add(&f->calls, 1);
}

static void hold(void *arg)
{
    fixture *f = arg;
    atomic_store(&f->inside, true);
    await(&f->may_end);
}

static bool is_done(const void *arg)
{
    const fixture *f = arg;
    return atomic_load(&((fixture *)(uintptr_t)f)->done);
}

static void finish(void *arg)
{
    fixture *f = arg;
    atomic_store(&f->done, true);
    ki__loop_changed(f->loop);
}

static void *run_loop(void *arg)
{
    fixture *f = arg;
    f->result = ki_loop_run(f->loop);
    return NULL;
}

static void *call_note(void *arg)
{
    fixture *f = arg;
    ki__loop_call(f->loop, note, f);
    return NULL;
}

static void *wait_done(void *arg)
{
    fixture *f = arg;
    int r = ki__loop_wait(f->loop, is_done, f);
    return (void *)(intptr_t)r;
}

static pthread_t start(void *(*run)(void *arg), void *arg)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, run, arg), 0);
    return thread;
}

static int join(pthread_t thread)
{
    void *result = NULL;
    assert_int_equal(pthread_join(thread, &result), 0);
    return (int)(intptr_t)result;
}

/* ---- calls ---- */

static void a_call_runs_here_if_nobody_runs_the_loop(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    ki__loop_call(f.loop, note, &f);
    assert_int_equal(f.calls, 1);
    assert_true(pthread_equal(f.where, pthread_self()));
    ki_loop_stop(f.loop);
    ki__loop_call(f.loop, note, &f);
    assert_int_equal(f.calls, 2);
    end(&f);
}

static void try_inside(void *arg)
{
    fixture *f = arg;
    f->result = ki__loop_try_call(f->loop, note, f);
}

static void a_call_is_tried_only_while_nobody_runs_the_loop(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    assert_true(ki__loop_try_call(f.loop, note, &f));
    assert_int_equal(f.calls, 1);
    ki__loop_call(f.loop, try_inside, &f);
    assert_int_equal(f.result, false);
    assert_int_equal(ki_loop_start(f.loop, NULL), 0);
    assert_false(ki__loop_try_call(f.loop, note, &f));
    assert_int_equal(f.calls, 1);
    end(&f);
}

static void a_call_runs_on_the_thread_of_the_loop(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    assert_int_equal(ki_loop_start(f.loop, NULL), 0);
    ki__loop_call(f.loop, note, &f);
    assert_int_equal(f.calls, 1);
    assert_false(pthread_equal(f.where, pthread_self()));
    end(&f);
}

static void call_inside(void *arg)
{
    fixture *f = arg;
    int before = atomic_load(&f->calls);
    ki__loop_call(f->loop, note, f);
    assert_int_equal(atomic_load(&f->calls), before + 1);
    assert_int_equal(ki__loop_wait(f->loop, is_done, f), KI_ERR_BUSY);
    f->result = 7;
}

static void inside_a_call_runs_at_once_and_a_wait_is_refused(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    post(&f, call_inside);
    assert_int_equal(ki_loop_dispatch(f.loop), 1);
    assert_int_equal(f.result, 7);
    f.result = 0;
    ki__loop_call(f.loop, call_inside, &f); /* also inside a call that runs here */
    assert_int_equal(f.result, 7);
    end(&f);
}

static void a_call_is_made_though_the_runner_ends(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    post(&f, hold);
    pthread_t runner = start(run_loop, &f);
    await(&f.inside);
    pthread_t caller = start(call_note, &f);
    nap();
    ki_loop_stop(f.loop);
    atomic_store(&f.may_end, true);
    join(runner);
    join(caller);
    assert_int_equal(f.result, 0);
    assert_int_equal(f.calls, 1);
    end(&f);
}

static void a_call_is_made_once_whenever_the_runner_ends(void **state)
{
    (void)state;
    for (int round = 0; round < 300; round++) {
        fixture f;
        begin(&f);
        pthread_t runner = start(run_loop, &f);
        pthread_t callers[3];
        for (size_t i = 0; i < 3; i++) {
            callers[i] = start(call_note, &f);
        }
        ki_loop_stop(f.loop);
        join(runner);
        for (size_t i = 0; i < 3; i++) {
            join(callers[i]);
        }
        assert_int_equal(f.calls, 3);
        end(&f);
    }
}

/* ---- waiting ---- */

static void waiters_run_a_loop_that_nobody_runs(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    post(&f, finish);
    assert_int_equal(ki__loop_wait(f.loop, is_done, &f), 0);
    end(&f);
}

static void waiters_notice_what_another_thread_did(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    assert_int_equal(ki_loop_start(f.loop, NULL), 0);
    pthread_t waiter = start(wait_done, &f);
    nap();
    post(&f, finish);
    assert_int_equal(join(waiter), 0);
    end(&f);
}

static void a_stopped_loop_ends_the_wait(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    pthread_t helper = start(wait_done, &f);
    pthread_t other = start(wait_done, &f);
    nap();
    ki_loop_stop(f.loop);
    assert_int_equal(join(helper), KI_ERR_STOPPED);
    assert_int_equal(join(other), KI_ERR_STOPPED);
    assert_int_equal(ki__loop_wait(f.loop, is_done, &f), KI_ERR_STOPPED);
    atomic_store(&f.done, true);
    assert_int_equal(ki__loop_wait(f.loop, is_done, &f), 0);
    end(&f);
}

static void a_helper_gives_way_to_who_runs_it_for_ever(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    post(&f, hold);
    pthread_t helper = start(wait_done, &f);
    await(&f.inside);
    assert_int_equal(ki_loop_dispatch(f.loop), 0); /* the helper does all there is */
    pthread_t runner = start(run_loop, &f);
    nap();
    atomic_store(&f.may_end, true);
    for (int i = 0; i < 20000 && !(f.calls != 0 && pthread_equal(f.where, runner)); i++) {
        nap();
        ki__loop_call(f.loop, note, &f);
    }
    assert_true(pthread_equal(f.where, runner)); /* though the helper is not done */
    f.task = ki_engine_task_unref(f.task);
    post(&f, finish);
    assert_int_equal(join(helper), 0);
    ki_loop_stop(f.loop);
    join(runner);
    assert_int_equal(f.result, 0);
    end(&f);
}

static void helpers_follow_one_another(void **state)
{
    (void)state;
    enum { WAITERS = 4 };
    for (int round = 0; round < 50; round++) {
        fixture f[WAITERS];
        pthread_t waiters[WAITERS];
        begin(&f[0]);
        for (size_t i = 0; i < WAITERS; i++) {
            if (i != 0) {
                f[i] = (fixture){.loop = f[0].loop};
            }
            waiters[i] = start(wait_done, &f[i]);
        }
        for (size_t i = 0; i < WAITERS; i++) {
            post(&f[i], finish);
        }
        for (size_t i = 0; i < WAITERS; i++) {
            assert_int_equal(join(waiters[i]), 0);
        }
        for (size_t i = 1; i < WAITERS; i++) {
            f[i].task = ki_engine_task_unref(f[i].task);
        }
        end(&f[0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_runs_here_if_nobody_runs_the_loop),
        cmocka_unit_test(a_call_is_tried_only_while_nobody_runs_the_loop),
        cmocka_unit_test(a_call_runs_on_the_thread_of_the_loop),
        cmocka_unit_test(inside_a_call_runs_at_once_and_a_wait_is_refused),
        cmocka_unit_test(a_call_is_made_though_the_runner_ends),
        cmocka_unit_test(a_call_is_made_once_whenever_the_runner_ends),
        cmocka_unit_test(waiters_run_a_loop_that_nobody_runs),
        cmocka_unit_test(waiters_notice_what_another_thread_did),
        cmocka_unit_test(a_stopped_loop_ends_the_wait),
        cmocka_unit_test(a_helper_gives_way_to_who_runs_it_for_ever),
        cmocka_unit_test(helpers_follow_one_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
