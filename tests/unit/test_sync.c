/* SPDX-License-Identifier: Apache-2.0 */
/* Locks and conditions under real threads.
 * threads: yes */
#include <pthread.h>
#include <time.h>

#include "base/sync.h"
#include "support/test.h"

enum { ROUNDS = 20000, WAITERS = 4 };

struct shared {
    ki__mutex mutex;
    ki__cond cond;
    int number;    /* guarded by mutex */
    int waiting;   /* guarded by mutex */
    bool released; /* guarded by mutex */
};

static void shared_init(struct shared *s)
{
    *s = (struct shared){0};
    assert_int_equal(ki__mutex_init(&s->mutex), 0);
    assert_int_equal(ki__cond_init(&s->cond), 0);
}

static void shared_done(struct shared *s)
{
    ki__cond_done(&s->cond);
    ki__mutex_done(&s->mutex);
}

static pthread_t start(void *(*run)(void *), void *user)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, run, user), 0);
    return thread;
}

static void *count_up(void *user)
{
    struct shared *s = user;
    for (int i = 0; i < ROUNDS; i++) {
        ki__mutex_lock(&s->mutex);
        s->number++;
        ki__mutex_unlock(&s->mutex);
    }
    return NULL;
}

static void mutex_lets_one_in_at_a_time(void **state)
{
    (void)state;
    struct shared s;
    shared_init(&s);
    pthread_t other = start(count_up, &s);
    (void)count_up(&s);
    assert_int_equal(pthread_join(other, NULL), 0);
    assert_int_equal(s.number, 2 * ROUNDS);
    shared_done(&s);
}

/* Waits for its turn: odd numbers are its own. */
static void *answer(void *user)
{
    struct shared *s = user;
    ki__mutex_lock(&s->mutex);
    while (s->number < ROUNDS) {
        while (s->number % 2 == 0) {
            ki__cond_wait(&s->cond, &s->mutex);
        }
        s->number++;
        ki__cond_wake_one(&s->cond);
    }
    ki__mutex_unlock(&s->mutex);
    return NULL;
}

static void two_threads_take_turns(void **state)
{
    (void)state;
    struct shared s;
    shared_init(&s);
    pthread_t other = start(answer, &s);
    ki__mutex_lock(&s.mutex);
    while (s.number < ROUNDS) {
        s.number++;
        ki__cond_wake_one(&s.cond);
        while (s.number % 2 == 1) {
            ki__cond_wait(&s.cond, &s.mutex);
        }
    }
    ki__mutex_unlock(&s.mutex);
    assert_int_equal(pthread_join(other, NULL), 0);
    assert_int_equal(s.number, ROUNDS);
    shared_done(&s);
}

static void *wait_for_release(void *user)
{
    struct shared *s = user;
    ki__mutex_lock(&s->mutex);
    s->waiting++;
    ki__cond_wake_all(&s->cond);
    while (!s->released) {
        ki__cond_wait(&s->cond, &s->mutex);
    }
    s->number++;
    ki__mutex_unlock(&s->mutex);
    return NULL;
}

static void wake_all_wakes_every_waiter(void **state)
{
    (void)state;
    struct shared s;
    shared_init(&s);
    pthread_t threads[WAITERS];
    for (size_t i = 0; i < WAITERS; i++) {
        threads[i] = start(wait_for_release, &s);
    }
    ki__mutex_lock(&s.mutex);
    while (s.waiting < WAITERS) {
        ki__cond_wait(&s.cond, &s.mutex);
    }
    assert_int_equal(s.number, 0);
    s.released = true;
    ki__cond_wake_all(&s.cond);
    ki__mutex_unlock(&s.mutex);
    for (size_t i = 0; i < WAITERS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    assert_int_equal(s.number, WAITERS);
    shared_done(&s);
}

static uint64_t monotonic_ns(void)
{
    struct timespec now;
    assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &now), 0);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void a_wait_ends_at_its_deadline_and_not_before(void **state)
{
    (void)state;
    struct shared s;
    shared_init(&s);
    ki__mutex_lock(&s.mutex);
    assert_false(ki__cond_wait_until(&s.cond, &s.mutex, 0)); /* long past */
    uint64_t deadline = monotonic_ns() + 20000000;
    while (ki__cond_wait_until(&s.cond, &s.mutex, deadline)) { /* woken for no reason */
    }
    assert_true(monotonic_ns() >= deadline);
    ki__mutex_unlock(&s.mutex);
    shared_done(&s);
}

static void *wait_for_ever(void *user)
{
    struct shared *s = user;
    ki__mutex_lock(&s->mutex);
    s->waiting++;
    ki__cond_wake_all(&s->cond);
    while (!s->released) {
        uint64_t deadline = s->waiting % 2 == 0 ? UINT64_MAX : UINT64_MAX / 2 - 1;
        assert_true(ki__cond_wait_until(&s->cond, &s->mutex, deadline));
    }
    ki__mutex_unlock(&s->mutex);
    return NULL;
}

static void a_wait_until_the_end_of_time_is_ended_by_a_wake(void **state)
{
    (void)state;
    struct shared s;
    shared_init(&s);
    pthread_t threads[2] = {start(wait_for_ever, &s), start(wait_for_ever, &s)};
    ki__mutex_lock(&s.mutex);
    while (s.waiting < 2) {
        ki__cond_wait(&s.cond, &s.mutex);
    }
    s.released = true;
    ki__cond_wake_all(&s.cond);
    ki__mutex_unlock(&s.mutex);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    shared_done(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mutex_lets_one_in_at_a_time),
        cmocka_unit_test(two_threads_take_turns),
        cmocka_unit_test(wake_all_wakes_every_waiter),
        cmocka_unit_test(a_wait_ends_at_its_deadline_and_not_before),
        cmocka_unit_test(a_wait_until_the_end_of_time_is_ended_by_a_wake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
