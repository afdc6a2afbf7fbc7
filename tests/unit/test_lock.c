/* SPDX-License-Identifier: Apache-2.0 */
/* Locks of one word and their signals, under real threads.
 * threads: yes */
#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "base/lock.h"
#include "support/test.h"

enum { ROUNDS = 20000, THREADS = 4 };

typedef struct shared {
    ki__lock lock;
    ki__signal changed;
    unsigned number; /* the rest is protected by the lock */
    unsigned waiting;
    bool released;
} shared;

static uint64_t now_ns(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
}

static void start(pthread_t *threads, size_t count, void *(*run)(void *), void *user)
{
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, run, user), 0);
    }
}

static void join(const pthread_t *threads, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
}

static void *count_up(void *user)
{
    shared *s = user;
    for (unsigned i = 0; i < ROUNDS; i++) {
        ki__lock_take(&s->lock);
        s->number++;
        if (i % 1000 == 0) { /* others have to sleep */
            struct timespec time = {0, 20000};
            (void)nanosleep(&time, NULL);
        }
        ki__lock_release(&s->lock);
    }
    return NULL;
}

static void one_thread_at_a_time_has_a_lock(void **state)
{
    (void)state;
    shared s = {.number = 0};
    pthread_t threads[THREADS];
    (void)count_up(&s); /* without other threads */
    start(threads, THREADS, count_up, &s);
    (void)count_up(&s);
    join(threads, THREADS);
    assert_int_equal(s.number, (THREADS + 2) * ROUNDS);
    assert_int_equal(atomic_load(&s.lock.state), 0);
}

/* Waits for its turn: odd numbers are its own. */
static void *answer(void *user)
{
    shared *s = user;
    ki__lock_take(&s->lock);
    while (s->number < ROUNDS) {
        while (s->number % 2 == 0) {
            assert_true(ki__signal_wait(&s->changed, &s->lock, UINT64_MAX));
        }
        s->number++;
        ki__signal_one(&s->changed);
    }
    ki__lock_release(&s->lock);
    return NULL;
}

static void no_signal_is_lost(void **state)
{
    (void)state;
    shared s = {.number = 0};
    pthread_t thread;
    start(&thread, 1, answer, &s);
    ki__lock_take(&s.lock);
    while (s.number < ROUNDS) {
        s.number++;
        ki__signal_one(&s.changed);
        while (s.number % 2 != 0) {
            assert_true(ki__signal_wait(&s.changed, &s.lock, UINT64_MAX));
        }
    }
    ki__lock_release(&s.lock);
    join(&thread, 1);
}

static void *wait_for_all(void *user)
{
    shared *s = user;
    ki__lock_take(&s->lock);
    s->waiting++;
    while (!s->released) {
        (void)ki__signal_wait(&s->changed, &s->lock, UINT64_MAX);
    }
    s->waiting--;
    ki__lock_release(&s->lock);
    return NULL;
}

static void a_signal_wakes_all(void **state)
{
    (void)state;
    shared s = {.number = 0};
    pthread_t threads[THREADS];
    start(threads, THREADS, wait_for_all, &s);
    for (bool there = false; !there;) {
        ki__lock_take(&s.lock);
        there = s.waiting == THREADS;
        s.released = there;
        if (there) {
            ki__signal_all(&s.changed);
        }
        ki__lock_release(&s.lock);
    }
    join(threads, THREADS);
    assert_int_equal(s.waiting, 0);
}

static void a_wait_ends_at_its_deadline(void **state)
{
    (void)state;
    shared s = {.number = 0};
    ki__lock_take(&s.lock);
    uint64_t begin_ns = now_ns();
    errno = ENOSPC;
    assert_false(ki__signal_wait(&s.changed, &s.lock, begin_ns + 20000000));
    assert_int_equal(errno, ENOSPC);
    assert_true(now_ns() >= begin_ns + 20000000);
    assert_false(ki__signal_wait(&s.changed, &s.lock, 1)); /* long ago */
    assert_true(atomic_load(&s.lock.state) != 0);
    ki__lock_release(&s.lock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_thread_at_a_time_has_a_lock),
        cmocka_unit_test(no_signal_is_lost),
        cmocka_unit_test(a_signal_wakes_all),
        cmocka_unit_test(a_wait_ends_at_its_deadline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
