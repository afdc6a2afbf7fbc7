/* SPDX-License-Identifier: Apache-2.0 */
/* The loop: three ways to run it, and what it leaves behind.  threads: yes */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/engine.h"
#include "loop/loop.h"
#include "support/test.h"

#define MS UINT64_C(1000000)

static size_t open_descriptors(void)
{
    size_t count = 0;
    DIR *dir = opendir("/proc/self/fd");
    assert_non_null(dir);
    while (readdir(dir) != NULL) {
        count++;
    }
    closedir(dir);
    return count;
}

typedef struct fixture {
    test_alloc alloc;
    size_t fds;
    ki_loop *loop;
    ki__timer timer;
    ki__task task;
    pthread_mutex_t lock;
    int ran;             /* tasks and timers */
    int left;            /* ... until the loop is stopped */
    bool drop;           /* releases the loop inside a callback */
    pthread_t thread;    /* where the last ran */
    bool blocks_signals; /* there */
} fixture;

static void begin(fixture *f)
{
    *f = (fixture){.fds = open_descriptors()};
    test_alloc_init(&f->alloc);
    pthread_mutex_init(&f->lock, NULL);
    ki_loop_options options = KI_OPTIONS_INIT(ki_loop_options);
    options.alloc = &f->alloc.table;
    assert_int_equal(ki_loop_new(&options, &f->loop, NULL), 0);
}

static void end(fixture *f)
{
    f->loop = ki_loop_unref(f->loop);
    pthread_mutex_destroy(&f->lock);
    test_alloc_done(&f->alloc);
    assert_int_equal(open_descriptors(), f->fds);
}

static bool blocks_signals(void)
{
    sigset_t mask;
    assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &mask), 0);
    return sigismember(&mask, SIGTERM) == 1 && sigismember(&mask, SIGCHLD) == 1;
}

static void note_run(fixture *f)
{
    pthread_mutex_lock(&f->lock);
    f->blocks_signals = blocks_signals();
    f->ran++;
    f->thread = pthread_self();
    bool stop = f->left != 0 && --f->left == 0;
    bool drop = f->drop;
    pthread_mutex_unlock(&f->lock);
    if (drop) {
        f->loop = ki_loop_unref(f->loop);
    } else if (stop) {
        ki_loop_stop(f->loop);
    }
}

static int ran(fixture *f)
{
    pthread_mutex_lock(&f->lock);
    int count = f->ran;
    pthread_mutex_unlock(&f->lock);
    return count;
}

static void run_task(ki__task *task)
{
    note_run(KI__CONTAINER_OF(task, fixture, task));
}

static void run_plain(void *user)
{
    note_run(user);
}

static void fire(ki__timer *timer)
{
    note_run(KI__CONTAINER_OF(timer, fixture, timer));
}

static void post(fixture *f)
{
    ki__task_init(&f->task, run_task);
    (void)ki__engine_post(ki_loop_engine(f->loop), &f->task);
}

static bool is_readable(int fd, int timeout_ms)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    return poll(&poll_fd, 1, timeout_ms) == 1;
}

/* ---- inside a loop of the program's own ---- */

static void the_descriptor_shows_when_to_dispatch(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    assert_false(is_readable(ki_loop_fd(f.loop), 0));
    assert_int_equal(ki_loop_timeout(f.loop), -1);
    assert_int_equal(ki_loop_dispatch(f.loop), 0);
    post(&f);
    assert_true(is_readable(ki_loop_fd(f.loop), 0));
    assert_int_equal(ki_loop_timeout(f.loop), 0);
    assert_int_equal(ki_loop_dispatch(f.loop), 1);
    assert_false(is_readable(ki_loop_fd(f.loop), 0));
    assert_int_equal(f.ran, 1);
    end(&f);
}

static void a_timer_makes_the_descriptor_readable(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    assert_int_equal(ki__timer_init(&f.timer, ki_loop_engine(f.loop), fire), 0);
    ki__timer_set_after(&f.timer, 20 * MS);
    assert_int_equal(ki_loop_dispatch(f.loop), 0); /* sees the deadline */
    assert_in_range(ki_loop_timeout(f.loop), 1, 20);
    assert_true(is_readable(ki_loop_fd(f.loop), 10000));
    assert_int_equal(ki_loop_dispatch(f.loop), 1);
    assert_int_equal(f.ran, 1);
    assert_false(is_readable(ki_loop_fd(f.loop), 0));
    ki__timer_set(&f.timer, 0); /* long past */
    assert_int_equal(ki_loop_dispatch(f.loop), 1);
    ki__timer_done(&f.timer);
    end(&f);
}

static void one_dispatch_does_no_more_than_its_steps(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    ki_loop *small = NULL;
    assert_int_equal(ki_loop_new(&(ki_loop_options){.size = sizeof(ki_loop_options),
                                                    .alloc = &f.alloc.table,
                                                    .steps = 2},
                                 &small, NULL),
                     0);
    ki_engine_task *tasks[3];
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(ki_engine_task_new(ki_loop_engine(small), run_plain, &f, &tasks[i], NULL),
                         0);
        ki_engine_task_post(tasks[i]);
    }
    assert_int_equal(ki_loop_dispatch(small), 2);
    assert_true(is_readable(ki_loop_fd(small), 0)); /* there is more */
    assert_int_equal(ki_loop_dispatch(small), 1);
    for (size_t i = 0; i < 3; i++) {
        ki_engine_task_unref(tasks[i]);
    }
    assert_null(ki_loop_unref(small));
    end(&f);
}

/* How many wake-ups wait in the eventfd of the only loop there is. */
static unsigned wakeups_waiting(void)
{
    unsigned count = UINT_MAX;
    for (int fd = 0; fd < 1024 && count == UINT_MAX; fd++) {
        char path[64];
        char line[64];
        (void)snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
        FILE *info = fopen(path, "re");
        while (info != NULL && fgets(line, sizeof(line), info) != NULL) {
            (void)sscanf(line, "eventfd-count: %x", &count);
        }
        if (info != NULL) {
            (void)fclose(info);
        }
    }
    assert_true(count != UINT_MAX); /* this is Linux: there is one */
    return count;
}

typedef struct self_poster {
    ki_loop *loop;
    ki__watch watch;
    ki__task task;
    int left; /* how often the task posts itself again */
    int ran;
} self_poster;

static void post_again(ki__task *task)
{
    self_poster *p = KI__CONTAINER_OF(task, self_poster, task);
    p->ran++;
    if (p->left-- > 0) {
        assert_true(ki__engine_post(ki_loop_engine(p->loop), task));
    }
    assert_int_equal(wakeups_waiting(), 0);
}

static void post_when_ready(ki__watch *watch, uint32_t events)
{
    (void)events;
    self_poster *p = KI__CONTAINER_OF(watch, self_poster, watch);
    ki__watch_remove(watch);
    assert_true(ki__engine_post(ki_loop_engine(p->loop), &p->task));
    assert_int_equal(wakeups_waiting(), 0);
}

static void the_loop_does_not_wake_itself_and_forgets_nothing(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    f.loop = ki_loop_unref(f.loop);
    ki_loop_options options = KI_OPTIONS_INIT(ki_loop_options);
    options.alloc = &f.alloc.table;
    options.steps = 2;
    assert_int_equal(ki_loop_new(&options, &f.loop, NULL), 0);
    int pipes[2];
    assert_int_equal(pipe(pipes), 0);
    assert_int_equal(write(pipes[1], "x", 1), 1);
    self_poster p = {.loop = f.loop, .left = 4};
    ki__task_init(&p.task, post_again);
    assert_int_equal(ki__watch_add(&p.watch, f.loop, pipes[0], EPOLLIN, post_when_ready), 0);
    assert_int_equal(ki_loop_dispatch(f.loop), 3);
    assert_int_equal(p.ran, 2);
    assert_true(is_readable(ki_loop_fd(f.loop), 0)); /* there is more, which a foreign loop sees */
    assert_int_equal(ki_loop_dispatch(f.loop), 2);
    assert_true(is_readable(ki_loop_fd(f.loop), 0));
    assert_int_equal(ki_loop_dispatch(f.loop), 1);
    assert_false(is_readable(ki_loop_fd(f.loop), 0));
    assert_int_equal(p.ran, 5);
    assert_true(ki__engine_post(ki_loop_engine(f.loop), &p.task)); /* from outside it is woken */
    assert_int_equal(wakeups_waiting(), 1);
    p.left = 0;
    post(&f);
    assert_int_equal(wakeups_waiting(), 1); /* it was already, and did not come yet */
    assert_int_equal(ki_loop_dispatch(f.loop), 2);
    assert_false(is_readable(ki_loop_fd(f.loop), 0));
    (void)close(pipes[0]);
    (void)close(pipes[1]);
    end(&f);
}

typedef struct watched {
    ki__watch watch;
    int count;
    ki__watch *remove; /* what to remove when ready */
} watched;

static void on_ready(ki__watch *watch, uint32_t events)
{
    watched *w = KI__CONTAINER_OF(watch, watched, watch);
    assert_true((events & EPOLLIN) != 0);
    w->count++;
    if (w->remove != NULL) {
        ki__watch_remove(w->remove);
    }
}

static void watches_are_called_until_they_are_removed(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    int pipes[2][2];
    watched w[2] = {0};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(pipe(pipes[i]), 0);
        assert_int_equal(ki__watch_add(&w[i].watch, f.loop, pipes[i][0], EPOLLIN, on_ready), 0);
        assert_int_equal(write(pipes[i][1], "x", 1), 1);
    }
    assert_int_equal(ki_loop_dispatch(f.loop), 2);
    assert_int_equal(ki__watch_change(&w[1].watch, 0), 0);
    assert_int_equal(ki__watch_change(&w[1].watch, 0), 0);
    assert_int_equal(ki_loop_dispatch(f.loop), 1);
    assert_int_equal(ki__watch_change(&w[1].watch, EPOLLIN), 0);
    /* Whichever comes first removes the other, which is ready as well. */
    w[0].remove = &w[1].watch;
    w[1].remove = &w[0].watch;
    int before = w[0].count + w[1].count;
    assert_int_equal(ki_loop_dispatch(f.loop), 1);
    assert_int_equal(w[0].count + w[1].count, before + 1);
    ki__watch never = {0};
    ki__watch_remove(&never);
    for (size_t i = 0; i < 2; i++) {
        ki__watch_remove(&w[i].watch);
        close(pipes[i][0]);
        close(pipes[i][1]);
    }
    assert_int_equal(ki__watch_add(&never, f.loop, 987654, EPOLLIN, on_ready), -EBADF);
    end(&f);
}

/* ---- on the caller's thread, and on its own ---- */

/* What happens to a connection that is being made while the program forks, and that libcurl closes
 * before it says so: the open file lives on. */
static void a_watched_descriptor_may_be_closed_by_others(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    int alive = dup(ends[0]);
    watched *w = calloc(1, sizeof(*w));
    assert_int_equal(ki__watch_add_dup(&w->watch, f.loop, ends[0], EPOLLIN, on_ready), 0);
    close(ends[0]);
    assert_int_equal(write(ends[1], "x", 1), 1);
    assert_int_equal(ki_loop_dispatch(f.loop), 1);
    assert_int_equal(w->count, 1);
    ki__watch_remove(&w->watch);
    free(w);
    assert_false(is_readable(ki_loop_fd(f.loop), 0));
    assert_int_equal(ki_loop_dispatch(f.loop), 0);
    close(ends[1]);
    close(alive);
    watched never = {0};
    assert_int_equal(ki__watch_add_dup(&never.watch, f.loop, 987654, EPOLLIN, on_ready), -EBADF);
    end(&f);
}

static void note_error(const ki_log_record *record, void *user)
{
    if (record->level == KI_LOG_ERROR && strstr(record->message, "epoll") != NULL) {
        assert_int_equal(write(*(const int *)user, "e", 1), 1);
    }
}

/* A registration that cannot be removed would return a pointer to freed memory. */
static void a_descriptor_that_is_closed_too_early_is_logged_and_fatal(void **state)
{
    (void)state;
    int log_pipe[2];
    assert_int_equal(pipe(log_pipe), 0);
    pid_t child = fork();
    if (child == 0) {
        struct rlimit none = {0};
        (void)setrlimit(RLIMIT_CORE, &none);
        const ki_log log = {.level = KI_LOG_ERROR, .write = note_error, .user = &log_pipe[1]};
        ki_loop_options options = KI_OPTIONS_INIT(ki_loop_options);
        options.log = &log;
        ki_loop *loop = NULL;
        watched w = {0};
        int ends[2];
        if (ki_loop_new(&options, &loop, NULL) == 0 && pipe(ends) == 0 &&
            ki__watch_add(&w.watch, loop, ends[0], EPOLLIN, on_ready) == 0) {
            close(ends[0]);
            (void)signal(SIGILL, SIG_DFL); /* cmocka's handlers would continue with the tests */
            (void)signal(SIGTRAP, SIG_DFL);
            ki__watch_remove(&w.watch);
        }
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_false(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_true(is_readable(log_pipe[0], 0));
    close(log_pipe[0]);
    close(log_pipe[1]);
}

/* The set of the parent's is the child's, too. */
static void a_forked_child_removes_nothing_of_its_parents(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    watched w = {0};
    assert_int_equal(ki__watch_add_dup(&w.watch, f.loop, ends[0], EPOLLIN, on_ready), 0);
    pid_t child = fork();
    if (child == 0) {
        ki__watch_remove(&w.watch);
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(write(ends[1], "x", 1), 1);
    assert_int_equal(ki_loop_dispatch(f.loop), 1);
    ki__watch_remove(&w.watch);
    close(ends[0]);
    close(ends[1]);
    end(&f);
}

static void run_returns_after_a_stop_from_inside(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    f.left = 1;
    post(&f);
    assert_int_equal(ki_loop_run(f.loop), 0);
    assert_int_equal(f.ran, 1);
    assert_int_equal(ki_loop_run(f.loop), KI_ERR_STOPPED);
    assert_int_equal(ki_loop_dispatch(f.loop), KI_ERR_STOPPED);
    assert_int_equal(ki_loop_start(f.loop, NULL), KI_ERR_STOPPED);
    assert_int_equal(ki_loop_join(f.loop), 0); /* there is no thread */
    end(&f);
}

static void a_private_thread_runs_it_until_it_is_stopped(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    assert_int_equal(ki_loop_start(f.loop, NULL), 0);
    assert_int_equal(ki_loop_start(f.loop, NULL), KI_ERR_BUSY);
    assert_int_equal(ki_loop_run(f.loop), KI_ERR_BUSY);
    assert_int_equal(ki_loop_dispatch(f.loop), KI_ERR_BUSY);
    for (int i = 1; i <= 50; i++) {
        post(&f);
        while (ran(&f) < i) {
        }
    }
    assert_false(pthread_equal(f.thread, pthread_self()));
    ki_loop_stop(f.loop);
    assert_int_equal(ki_loop_join(f.loop), 0);
    assert_int_equal(ki_loop_join(f.loop), 0);
    end(&f);
}

static void letting_go_of_a_running_loop_ends_it(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    assert_int_equal(ki_loop_start(f.loop, NULL), 0);
    end(&f); /* waits for the thread: nothing is left, neither memory nor descriptors */
}

static void the_last_reference_may_go_inside_a_callback(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    ki_engine *engine = ki_engine_ref(ki_loop_engine(f.loop));
    f.drop = true;
    post(&f);
    assert_int_equal(ki_loop_dispatch(f.loop), 1);
    assert_null(f.loop);
    f.drop = false;
    ki__task_init(&f.task, run_task);
    (void)ki__engine_post(engine,
                          &f.task); /* the engine has outlived the loop, and can be posted to */
    assert_int_equal(ki_engine_run(engine, 0), 1);
    (void)ki_engine_unref(engine);
    end(&f);
}

/* Whether all descriptors that were opened since are closed, after a while. */
static bool comes_to_rest(size_t fds)
{
    for (size_t i = 0; i < 1000 && open_descriptors() != fds; i++) {
        usleep(10000);
    }
    return open_descriptors() == fds;
}

static void the_last_reference_may_be_dropped_on_the_private_thread(void **state)
{
    (void)state;
    static fixture f; /* nobody can wait for the thread's very last step */
    f = (fixture){.fds = open_descriptors(), .drop = true};
    pthread_mutex_init(&f.lock, NULL);
    assert_int_equal(ki_loop_new(NULL, &f.loop, NULL), 0); /* leaks would be reported at the end */
    ki_loop *loop = f.loop;
    post(&f);
    assert_int_equal(ki_loop_start(loop, NULL), 0);
    assert_true(comes_to_rest(f.fds)); /* it ends by itself */
    assert_int_equal(ran(&f), 1);
}

static void the_private_thread_takes_no_signals(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    assert_int_equal(ki_loop_start(f.loop, NULL), 0);
    post(&f);
    while (ran(&f) == 0) {
    }
    pthread_mutex_lock(&f.lock);
    assert_true(f.blocks_signals);
    pthread_mutex_unlock(&f.lock);
    assert_false(blocks_signals()); /* the caller's are as they were */
    end(&f);
}

/* ---- when things go wrong ---- */

static void without_descriptors_it_says_so(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    int next = dup(0);
    close(next);
    ki_loop_options options = KI_OPTIONS_INIT(ki_loop_options);
    options.alloc = &alloc.table;
    for (rlim_t more = 0; more < 3; more++) {
        struct rlimit few = {.rlim_cur = (rlim_t)next + more, .rlim_max = before.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
        ki_loop *loop = NULL;
        ki_error error = KI_ERROR_INIT;
        int r = ki_loop_new(&options, &loop, &error);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
        assert_int_equal(r, -EMFILE);
        assert_null(loop);
        assert_non_null(strstr(error.message, "loop"));
    }
    test_alloc_done(&alloc);
}

static int scenario(const ki_alloc *alloc, void *user)
{
    (void)user;
    ki_loop_options options = KI_OPTIONS_INIT(ki_loop_options);
    options.alloc = alloc;
    ki_loop *loop = NULL;
    int r = ki_loop_new(&options, &loop, NULL);
    (void)ki_loop_unref(loop);
    return r;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    test_alloc_sweep(scenario, NULL);
}

/* A child of fork() releases its parent's loop, which continues in the parent. */
static void a_forked_child_leaves_the_loop_of_its_parent_alone(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    assert_int_equal(ki__timer_init(&f.timer, ki_loop_engine(f.loop), fire), 0);
    ki__timer_set_after(&f.timer, 50 * MS);
    assert_int_equal(ki_loop_dispatch(f.loop), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)ki_loop_unref(f.loop);
        ki_loop *own = NULL;
        int r = ki_loop_new(NULL, &own, NULL);
        if (r == 0) {
            r = ki_loop_dispatch(own);
        }
        (void)ki_loop_unref(own);
        _exit(r == 0 ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_true(is_readable(ki_loop_fd(f.loop), 10000));
    assert_int_equal(ki_loop_dispatch(f.loop), 1);
    post(&f);
    assert_true(is_readable(ki_loop_fd(f.loop), 10000));
    assert_int_equal(ki_loop_dispatch(f.loop), 1);
    ki__timer_done(&f.timer);
    end(&f);
}

static void clock_and_randomness_of_the_system(void **state)
{
    (void)state;
    const ki_clock *clock = ki_clock_system();
    uint64_t before = clock->monotonic_ns(clock->user);
    assert_true(clock->monotonic_ns(clock->user) >= before);
    assert_true(clock->realtime_ns(clock->user) > INT64_C(1700000000) * 1000000000);
    unsigned char bytes[2][64] = {0};
    assert_int_equal(ki_random_system()->fill(bytes[0], 64, NULL), 0);
    assert_int_equal(ki_random_system()->fill(bytes[1], 64, NULL), 0);
    assert_memory_not_equal(bytes[0], bytes[1], 64);
    assert_null(ki_loop_ref(NULL));
    assert_null(ki_loop_unref(NULL));
}

enum { ASKERS = 4, ASKS = 3000 };

/* Posts a task and waits until it ran, again and again: a wake-up that is lost stops it. */
typedef struct asker {
    ki_loop *loop;
    ki__task task;
    sem_t ran;
    pthread_t thread;
} asker;

static void answer(ki__task *task)
{
    (void)sem_post(&KI__CONTAINER_OF(task, asker, task)->ran);
}

static void *ask_many_times(void *user)
{
    asker *a = user;
    for (int i = 0; i < ASKS; i++) {
        assert_true(ki__engine_post(ki_loop_engine(a->loop), &a->task));
        struct timespec until;
        (void)clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += 60;
        int r;
        do {
            r = sem_timedwait(&a->ran, &until);
        } while (r < 0 && errno == EINTR);
        assert_int_equal(r, 0);
    }
    return NULL;
}

static void no_post_of_another_thread_is_lost(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    assert_int_equal(ki_loop_start(f.loop, NULL), 0);
    asker askers[ASKERS];
    for (size_t i = 0; i < ASKERS; i++) {
        askers[i] = (asker){.loop = f.loop};
        ki__task_init(&askers[i].task, answer);
        assert_int_equal(sem_init(&askers[i].ran, 0, 0), 0);
        assert_int_equal(pthread_create(&askers[i].thread, NULL, ask_many_times, &askers[i]), 0);
    }
    for (size_t i = 0; i < ASKERS; i++) {
        pthread_join(askers[i].thread, NULL);
    }
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_descriptor_shows_when_to_dispatch),
        cmocka_unit_test(a_timer_makes_the_descriptor_readable),
        cmocka_unit_test(one_dispatch_does_no_more_than_its_steps),
        cmocka_unit_test(the_loop_does_not_wake_itself_and_forgets_nothing),
        cmocka_unit_test(no_post_of_another_thread_is_lost),
        cmocka_unit_test(watches_are_called_until_they_are_removed),
        cmocka_unit_test(a_watched_descriptor_may_be_closed_by_others),
        cmocka_unit_test(a_descriptor_that_is_closed_too_early_is_logged_and_fatal),
        cmocka_unit_test(a_forked_child_removes_nothing_of_its_parents),
        cmocka_unit_test(run_returns_after_a_stop_from_inside),
        cmocka_unit_test(a_private_thread_runs_it_until_it_is_stopped),
        cmocka_unit_test(letting_go_of_a_running_loop_ends_it),
        cmocka_unit_test(the_last_reference_may_go_inside_a_callback),
        cmocka_unit_test(the_last_reference_may_be_dropped_on_the_private_thread),
        cmocka_unit_test(the_private_thread_takes_no_signals),
        cmocka_unit_test(without_descriptors_it_says_so),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_forked_child_leaves_the_loop_of_its_parent_alone),
        cmocka_unit_test(clock_and_randomness_of_the_system),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
