/* SPDX-License-Identifier: Apache-2.0 */
/* The pool: few threads for many jobs, and enough of them for jobs that block.  threads: yes */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/pool.h"
#include "support/test.h"

#define SECOND_NS UINT64_C(1000000000)

/* A clock that can be set back, so that what is due in seconds is due now. */
static _Atomic uint64_t set_back;

static uint64_t monotonic(void *user)
{
    (void)user;
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_nsec - set_back;
}

static const ki_clock the_clock = {.monotonic_ns = monotonic};

typedef struct fixture {
    test_alloc alloc;
    ki_threads threads;
    ki_log log;
    ki__pool *pool;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t running; /* threads */
    size_t started;
    size_t most;  /* threads that may be started; then -EAGAIN */
    size_t begun; /* jobs */
    size_t ended;
    size_t released; /* jobs that block may end up to this number */
    size_t logged;
} fixture;

typedef struct start_arg {
    fixture *f;
    void (*run)(void *arg);
    void *arg;
} start_arg;

static void *thread_main(void *user)
{
    start_arg s = *(start_arg *)user;
    free(user);
    s.run(s.arg);
    pthread_mutex_lock(&s.f->lock);
    s.f->running--;
    pthread_cond_broadcast(&s.f->changed);
    pthread_mutex_unlock(&s.f->lock);
    return NULL;
}

static int start_thread(void (*run)(void *arg), void *arg, void *user)
{
    fixture *f = user;
    pthread_mutex_lock(&f->lock);
    bool may = f->started < f->most;
    f->started += may;
    f->running += may;
    pthread_mutex_unlock(&f->lock);
    if (!may) {
        return -EAGAIN;
    }
    start_arg *s = calloc(1, sizeof(*s));
    *s = (start_arg){.f = f, .run = run, .arg = arg};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, thread_main, s), 0);
    pthread_detach(thread);
    return 0;
}

static void on_log(const ki_log_record *record, void *user)
{
    fixture *f = user;
    assert_string_equal(record->component, "pool");
    pthread_mutex_lock(&f->lock);
    f->logged++;
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
}

static void begin(fixture *f, size_t limit)
{
    *f = (fixture){.most = 1000};
    set_back = 0;
    test_alloc_init(&f->alloc);
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->changed, NULL);
    f->threads = (ki_threads){.start = start_thread, .user = f};
    f->log = (ki_log){.write = on_log, .user = f, .level = KI_LOG_WARNING};
    ki__pool_options options = {
        .alloc = &f->alloc.table,
        .clock = &the_clock,
        .log = &f->log,
        .threads = &f->threads,
        .limit = limit,
    };
    assert_int_equal(ki__pool_new(&options, &f->pool), 0);
}

static void wait_until(fixture *f, const size_t *number, size_t least)
{
    pthread_mutex_lock(&f->lock);
    while (*number < least) {
        pthread_cond_wait(&f->changed, &f->lock);
    }
    pthread_mutex_unlock(&f->lock);
}

static void wait_for_threads(fixture *f, size_t most)
{
    pthread_mutex_lock(&f->lock);
    while (f->running > most) {
        pthread_cond_wait(&f->changed, &f->lock);
    }
    pthread_mutex_unlock(&f->lock);
}

static void end(fixture *f)
{
    ki__pool_unref(f->pool);
    wait_for_threads(f, 0);
    pthread_cond_destroy(&f->changed);
    pthread_mutex_destroy(&f->lock);
    test_alloc_done(&f->alloc);
}

typedef struct task {
    ki__job job;
    fixture *f;
    bool blocks;
    size_t number; /* by which it began */
} task;

static void run(ki__job *job)
{
    task *t = KI__CONTAINER_OF(job, task, job);
    fixture *f = t->f;
    pthread_mutex_lock(&f->lock);
    t->number = ++f->begun;
    pthread_cond_broadcast(&f->changed);
    while (t->blocks && f->ended >= f->released) {
        pthread_cond_wait(&f->changed, &f->lock);
    }
    f->ended++;
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
}

static void task_init(task *t, fixture *f, bool blocks)
{
    *t = (task){.f = f, .blocks = blocks};
    ki__job_init(&t->job, run);
}

static void release(fixture *f, size_t count)
{
    pthread_mutex_lock(&f->lock);
    f->released += count;
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
}

static void jobs_that_come_one_by_one_need_one_thread(void **state)
{
    (void)state;
    fixture f;
    begin(&f, 0);
    assert_int_equal(ki__pool_get_stats(f.pool).threads, 0);
    assert_int_equal(ki__pool_enter(f.pool), 0);
    assert_int_equal(ki__pool_enter(f.pool), 0);
    assert_int_equal(f.started, 1);
    task t;
    task_init(&t, &f, false);
    for (size_t i = 1; i <= 1000; i++) {
        assert_true(ki__pool_post(f.pool, &t.job));
        wait_until(&f, &f.ended, i);
    }
    /* A post may find a thread on its way back from the last job: that takes another. */
    assert_in_range(f.started, 1, 10);
    ki__pool_leave(f.pool);
    ki__pool_leave(f.pool);
    end(&f);
    assert_int_equal(f.logged, 0);
}

static void jobs_begin_in_the_order_of_posting(void **state)
{
    (void)state;
    enum { TASKS = 100 };
    fixture f;
    task tasks[TASKS];
    begin(&f, 1);
    assert_int_equal(ki__pool_enter(f.pool), 0);
    task first;
    task_init(&first, &f, true);
    assert_true(ki__pool_post(f.pool, &first.job));
    wait_until(&f, &f.begun, 1);
    assert_false(ki__pool_has_waiting(f.pool));
    for (size_t i = 0; i < TASKS; i++) {
        task_init(&tasks[i], &f, false);
        assert_true(ki__pool_post(f.pool, &tasks[i].job));
        assert_false(ki__pool_post(f.pool, &tasks[i].job));
    }
    assert_true(ki__pool_has_waiting(f.pool));
    assert_true(ki__pool_unpost(f.pool, &tasks[50].job));
    assert_false(ki__pool_unpost(f.pool, &tasks[50].job));
    release(&f, 1);
    wait_until(&f, &f.ended, TASKS);
    ki__pool_leave(f.pool);
    end(&f);
    assert_int_equal(tasks[50].number, 0);
    for (size_t i = 1; i < TASKS; i++) {
        assert_true(i == 50 || i == 51 || tasks[i].number == tasks[i - 1].number + 1);
    }
}

static void jobs_that_block_delay_no_other(void **state)
{
    (void)state;
    enum { BLOCKED = 100 };
    fixture f;
    task blocked[BLOCKED];
    begin(&f, 0);
    assert_int_equal(ki__pool_enter(f.pool), 0);
    for (size_t i = 0; i < BLOCKED; i++) {
        task_init(&blocked[i], &f, true);
        assert_true(ki__pool_post(f.pool, &blocked[i].job));
    }
    task quick;
    task_init(&quick, &f, false);
    assert_true(ki__pool_post(f.pool, &quick.job));
    wait_until(&f, &f.ended, 1); /* the quick one, as the others may not end */
    assert_in_range(f.started, BLOCKED, BLOCKED + 5);
    release(&f, BLOCKED + 1);
    wait_until(&f, &f.ended, BLOCKED + 1);
    assert_int_equal(ki__pool_get_stats(f.pool).full, 0);
    ki__pool_leave(f.pool);
    end(&f);
    assert_int_equal(f.logged, 0);
}

static void at_the_limit_jobs_wait_and_that_is_reported_once(void **state)
{
    (void)state;
    enum { LIMIT = 3, TASKS = 10 };
    fixture f;
    task tasks[TASKS];
    begin(&f, LIMIT);
    assert_int_equal(ki__pool_enter(f.pool), 0);
    for (size_t i = 0; i < TASKS; i++) {
        task_init(&tasks[i], &f, true);
        assert_true(ki__pool_post(f.pool, &tasks[i].job));
    }
    wait_until(&f, &f.logged, 1);
    assert_int_equal(f.begun, LIMIT);
    assert_int_equal(ki__pool_get_stats(f.pool).full, 1);
    assert_int_equal(ki__pool_get_stats(f.pool).threads, LIMIT + 1);
    release(&f, 1);
    wait_until(&f, &f.begun, LIMIT + 1);
    release(&f, TASKS);
    wait_until(&f, &f.ended, TASKS);
    assert_int_equal(f.started, LIMIT + 1);
    assert_int_equal(ki__pool_get_stats(f.pool).full, 1);
    ki__pool_leave(f.pool);
    end(&f);
    assert_int_equal(f.logged, 1);
}

static void threads_that_are_idle_end_but_for_one(void **state)
{
    (void)state;
    enum { TASKS = 8 };
    fixture f;
    task tasks[TASKS];
    begin(&f, 0);
    set_back = 99 * SECOND_NS / 10; /* of the 10 seconds a tenth of one is left */
    assert_int_equal(ki__pool_enter(f.pool), 0);
    for (size_t i = 0; i < TASKS; i++) {
        task_init(&tasks[i], &f, true);
        assert_true(ki__pool_post(f.pool, &tasks[i].job));
    }
    wait_until(&f, &f.begun, TASKS);
    assert_true(f.running >= TASKS);
    release(&f, TASKS);
    wait_for_threads(&f, 1);
    tasks[0].blocks = false;
    assert_true(ki__pool_post(f.pool, &tasks[0].job));
    wait_until(&f, &f.ended, TASKS + 1);
    assert_int_equal(ki__pool_get_stats(f.pool).threads, f.running);
    ki__pool_leave(f.pool);
    wait_for_threads(&f, 0);
    assert_int_equal(ki__pool_enter(f.pool), 0); /* and again */
    assert_true(ki__pool_post(f.pool, &tasks[0].job));
    wait_until(&f, &f.ended, TASKS + 2);
    ki__pool_leave(f.pool);
    end(&f);
}

static void a_thread_that_cannot_be_started_is_done_without(void **state)
{
    (void)state;
    fixture f;
    begin(&f, 0);
    f.most = 0;
    assert_int_equal(ki__pool_enter(f.pool), -EAGAIN);
    assert_int_equal(f.logged, 1);
    f.most = 1;
    assert_int_equal(ki__pool_enter(f.pool), 0);
    task blocked;
    task other;
    task_init(&blocked, &f, true);
    task_init(&other, &f, false);
    assert_true(ki__pool_post(f.pool, &blocked.job));
    wait_until(&f, &f.begun, 1);
    assert_true(ki__pool_post(f.pool, &other.job)); /* no thread can be had for it */
    assert_int_equal(f.started, 1);
    release(&f, 1);
    wait_until(&f, &f.ended, 2);
    ki__pool_leave(f.pool);
    end(&f);
    assert_int_equal(f.logged, 1); /* once a minute */
}

/* Jobs that post themselves again, with users that come and go. */
typedef struct chain {
    ki__job job;
    fixture *f;
    size_t left;
} chain;

static void run_chain(ki__job *job)
{
    chain *c = KI__CONTAINER_OF(job, chain, job);
    fixture *f = c->f;
    ki__pool *pool = f->pool;
    if (--c->left != 0) {
        assert_true(ki__pool_post(pool, job));
        return;
    }
    ki__pool_leave(pool);
    pthread_mutex_lock(&f->lock);
    f->ended++;
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
}

static void *begin_chains(void *user)
{
    chain *chains = user;
    for (size_t i = 0; i < 50; i++) {
        assert_int_equal(ki__pool_enter(chains[i].f->pool), 0);
        assert_true(ki__pool_post(chains[i].f->pool, &chains[i].job));
    }
    return NULL;
}

static void users_and_jobs_of_many_threads(void **state)
{
    (void)state;
    enum { THREADS = 4, CHAINS = 50, LENGTH = 200 };
    static chain chains[THREADS][CHAINS];
    fixture f;
    begin(&f, 5);
    for (size_t round = 1; round <= 5; round++) {
        pthread_t threads[THREADS];
        for (size_t i = 0; i < THREADS; i++) {
            for (size_t k = 0; k < CHAINS; k++) {
                chains[i][k] = (chain){.f = &f, .left = LENGTH};
                ki__job_init(&chains[i][k].job, run_chain);
            }
            assert_int_equal(pthread_create(&threads[i], NULL, begin_chains, chains[i]), 0);
        }
        for (size_t i = 0; i < THREADS; i++) {
            pthread_join(threads[i], NULL);
        }
        wait_until(&f, &f.ended, round * THREADS * CHAINS);
        assert_true(ki__pool_get_stats(f.pool).threads <= 6);
        wait_for_threads(&f, 0);
    }
    end(&f);
}

static int make_and_use(const ki_alloc *alloc, void *user)
{
    fixture *f = user;
    ki__pool_options options = {.alloc = alloc, .clock = &the_clock, .threads = &f->threads};
    ki__pool *pool = NULL;
    int r = ki__pool_new(&options, &pool);
    if (r < 0) {
        return r;
    }
    r = ki__pool_enter(pool);
    if (r == 0) {
        ki__pool_leave(pool);
    }
    ki__pool_unref(pool);
    wait_for_threads(f, 0);
    return r;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    fixture f;
    begin(&f, 0);
    test_alloc_sweep(make_and_use, &f);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_that_come_one_by_one_need_one_thread),
        cmocka_unit_test(jobs_begin_in_the_order_of_posting),
        cmocka_unit_test(jobs_that_block_delay_no_other),
        cmocka_unit_test(at_the_limit_jobs_wait_and_that_is_reported_once),
        cmocka_unit_test(threads_that_are_idle_end_but_for_one),
        cmocka_unit_test(a_thread_that_cannot_be_started_is_done_without),
        cmocka_unit_test(users_and_jobs_of_many_threads),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
