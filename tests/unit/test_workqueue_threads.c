/* SPDX-License-Identifier: Apache-2.0 */
/* The queue under real threads: waiters are woken in time, and drains end when they should.
 * threads: yes */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#include <kinformer/worker.h>

#include "support/fake_clock.h"
#include "support/test.h"
#include "support/workqueue.h"
#include "workqueue/workqueue_state.h"

enum { KEYS = 16, PRODUCERS = 3, WORKERS = 4, ROUNDS = 3000 };

static uint64_t real_ns(void *user)
{
    (void)user;
    struct timespec now;
    assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &now), 0);
    return (uint64_t)now.tv_sec * S_NS + (uint64_t)now.tv_nsec;
}

static const ki_clock real_clock = {.monotonic_ns = real_ns};

static void sleep_ms(uint64_t ms)
{
    struct timespec time = {(time_t)(ms / 1000), (long)(ms % 1000 * MS_NS)};
    (void)nanosleep(&time, NULL);
}

static ki_workqueue *new_queue(void)
{
    ki_workqueue *queue = NULL;
    assert_int_equal(
        ki_workqueue_new(KI_OPTIONS(ki_workqueue_options, .clock = &real_clock), &queue, NULL), 0);
    return queue;
}

static pthread_t start(void *(*run)(void *), void *user)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, run, user), 0);
    return thread;
}

static void join(pthread_t thread)
{
    assert_int_equal(pthread_join(thread, NULL), 0);
}

/* Waits until so many threads sleep in get, or in a drain. */
static void wait_for_sleepers(ki_workqueue *queue, size_t waiters, size_t drainers)
{
    for (;;) {
        ki__lock_take(&queue->lock);
        bool there = queue->waiters == waiters && queue->drainers == drainers;
        ki__lock_release(&queue->lock);
        if (there) {
            return;
        }
        sleep_ms(1);
    }
}

/* Many producers and workers: never two on one key, and the last change of each key is seen */

typedef struct crowd {
    ki_workqueue *queue;
    _Atomic uint64_t changes[KEYS]; /* made, before the key is added */
    _Atomic uint64_t seen[KEYS];    /* by workers, after they got it */
    atomic_bool busy[KEYS];
    _Atomic uint64_t works;
} crowd;

static void *produce(void *user)
{
    crowd *c = user;
    uint64_t random = (uint64_t)(uintptr_t)&random;
    for (size_t i = 0; i < ROUNDS; i++) {
        size_t number = (size_t)(test_random(&random) % KEYS);
        const char key[] = {(char)('a' + (char)number), '\0'};
        atomic_fetch_add(&c->changes[number], 1);
        int r = i % 4 == 0
                    ? ki__workqueue_add_after(c->queue, key, test_random(&random) % (200 * 1000))
                    : ki_workqueue_add(c->queue, key);
        assert_true(r >= 0);
    }
    return NULL;
}

static void work_on(crowd *c, const ki_work *work)
{
    size_t number = (size_t)(work->key[0] - 'a');
    assert_false(atomic_exchange(&c->busy[number], true));
    atomic_store(&c->seen[number], atomic_load(&c->changes[number]));
    if (atomic_fetch_add(&c->works, 1) % 16 == 0) {
        sleep_ms(0);
    }
    atomic_store(&c->busy[number], false);
}

static void *work_by_get(void *user)
{
    crowd *c = user;
    ki_work work;
    while (ki_workqueue_get(c->queue, &work) == 1) {
        work_on(c, &work);
        ki_workqueue_done(c->queue, &work);
    }
    return NULL;
}

static void *work_by_next(void *user)
{
    crowd *c = user;
    ki_work work = {NULL, NULL};
    while (ki_workqueue_next(c->queue, &work) == 1) {
        work_on(c, &work);
    }
    return NULL;
}

static void no_key_is_worked_on_twice_at_once_and_no_change_is_lost(void **state)
{
    (void)state;
    static crowd c;
    c.queue = new_queue();
    pthread_t workers[WORKERS];
    pthread_t producers[PRODUCERS];
    for (size_t i = 0; i < WORKERS; i++) {
        workers[i] = start(i % 2 == 0 ? work_by_get : work_by_next, &c);
    }
    for (size_t i = 0; i < PRODUCERS; i++) {
        producers[i] = start(produce, &c);
    }
    for (size_t i = 0; i < PRODUCERS; i++) {
        join(producers[i]);
    }
    while (wq_stats(c.queue).delayed != 0) { /* the workers are the timer */
        sleep_ms(1);
    }
    assert_int_equal(ki_workqueue_shut_down_with_drain(c.queue, KI_DRAIN_EMPTY), 0);
    for (size_t i = 0; i < KEYS; i++) {
        assert_int_equal(atomic_load(&c.seen[i]), atomic_load(&c.changes[i]));
    }
    for (size_t i = 0; i < WORKERS; i++) {
        join(workers[i]);
    }
    wq_check(c.queue);
    assert_true(atomic_load(&c.works) >= KEYS);
    ki_workqueue_unref(c.queue);
}

/* Waiting and waking */

typedef struct sleeper {
    ki_workqueue *queue;
    int r;
    uint64_t got_ns;
    uint64_t work_ms; /* how long it works on what it got */
    char key;
} sleeper;

static void *get_one(void *user)
{
    sleeper *s = user;
    ki_work work;
    s->r = ki_workqueue_get(s->queue, &work);
    if (s->r == 1) {
        s->got_ns = real_ns(NULL);
        s->key = work.key[0];
        sleep_ms(s->work_ms);
        ki_workqueue_done(s->queue, &work);
    }
    return NULL;
}

static void a_sleeper_is_woken_by_an_add_and_by_the_end(void **state)
{
    (void)state;
    ki_workqueue *queue = new_queue();
    sleeper s[3] = {{.queue = queue}, {.queue = queue}, {.queue = queue}};
    pthread_t threads[3];
    for (size_t i = 0; i < 3; i++) {
        threads[i] = start(get_one, &s[i]);
    }
    wait_for_sleepers(queue, 3, 0);
    (void)wq_add(queue, "a");
    wait_for_sleepers(queue, 2, 0);
    ki_workqueue_shut_down(queue);
    int got = 0;
    for (size_t i = 0; i < 3; i++) {
        join(threads[i]);
        got += s[i].r == 1;
        assert_true(s[i].r == 1 || s[i].r == KI_ERR_STOPPED);
    }
    assert_int_equal(got, 1);
    ki_workqueue_unref(queue);
}

static void a_sleeper_wakes_when_a_delayed_key_is_due(void **state)
{
    (void)state;
    ki_workqueue *queue = new_queue();
    uint64_t begin_ns = real_ns(NULL);
    (void)wq_add_after(queue, "a", 30 * MS_NS);
    sleeper s = {.queue = queue};
    (void)get_one(&s);
    assert_int_equal(s.r, 1);
    assert_true(s.got_ns >= begin_ns + 30 * MS_NS);
    assert_true(s.got_ns < begin_ns + 5 * S_NS);
    ki_workqueue_unref(queue);
}

static void an_earlier_delay_wakes_a_sleeper_earlier(void **state)
{
    (void)state;
    ki_workqueue *queue = new_queue();
    (void)wq_add_after(queue, "z", 3600 * S_NS);
    sleeper s[2] = {{.queue = queue}, {.queue = queue}};
    pthread_t threads[2] = {start(get_one, &s[0]), start(get_one, &s[1])};
    wait_for_sleepers(queue, 2, 0); /* one of them until in an hour, the other without a time */
    ki__lock_take(&queue->lock);
    assert_int_equal(queue->timer_ns, ki__deadlines_next(&queue->delayed));
    ki__lock_release(&queue->lock);
    (void)wq_add_after(queue, "a", 20 * MS_NS);
    (void)wq_add_after(queue, "b", 40 * MS_NS);
    join(threads[0]);
    join(threads[1]);
    assert_int_equal(s[0].key + s[1].key, 'a' + 'b');
    ki_workqueue_unref(queue);
}

/* All sleep without a time. Then two keys are delayed: only one sleeper is woken to keep the time.
 * It gets the first key and is busy with it when the second is due. */
static void who_leaves_with_a_key_hands_the_time_to_another(void **state)
{
    (void)state;
    ki_workqueue *queue = new_queue();
    sleeper s[2] = {{.queue = queue, .work_ms = 2000}, {.queue = queue, .work_ms = 2000}};
    pthread_t threads[2] = {start(get_one, &s[0]), start(get_one, &s[1])};
    wait_for_sleepers(queue, 2, 0);
    (void)wq_add_after(queue, "a", 20 * MS_NS);
    (void)wq_add_after(queue, "b", 60 * MS_NS);
    join(threads[0]);
    join(threads[1]);
    uint64_t apart_ns =
        s[0].got_ns > s[1].got_ns ? s[0].got_ns - s[1].got_ns : s[1].got_ns - s[0].got_ns;
    assert_true(apart_ns < 1900 * MS_NS); /* not when the first was done */
    ki_workqueue_unref(queue);
}

static void many_keys_due_at_once_wake_as_many_sleepers(void **state)
{
    (void)state;
    ki_workqueue *queue = new_queue();
    sleeper s[3] = {{.queue = queue, .work_ms = 2000},
                    {.queue = queue, .work_ms = 2000},
                    {.queue = queue, .work_ms = 2000}};
    pthread_t threads[3];
    for (size_t i = 0; i < 3; i++) {
        threads[i] = start(get_one, &s[i]);
    }
    wait_for_sleepers(queue, 3, 0);
    uint64_t begin_ns = real_ns(NULL);
    const char *keys[] = {"a", "b", "c"};
    for (size_t i = 0; i < 3; i++) {
        (void)wq_add_after(queue, keys[i], 30 * MS_NS + (uint64_t)i);
    }
    for (size_t i = 0; i < 3; i++) {
        join(threads[i]);
        assert_true(s[i].got_ns < begin_ns + 1900 * MS_NS);
    }
    ki_workqueue_unref(queue);
}

static void get_says_so_if_the_clock_is_not_the_systems(void **state)
{
    (void)state;
    fake_clock clock;
    fake_clock_init(&clock); /* does not advance: five seconds after the start of the system */
    ki_workqueue *queue = NULL;
    assert_int_equal(
        ki_workqueue_new(KI_OPTIONS(ki_workqueue_options, .clock = &clock.table), &queue, NULL), 0);
    if (real_ns(NULL) < 10 * S_NS) {
        skip();
    }
    (void)wq_add_after(queue, "a", 2 * S_NS);
    ki_work work;
    assert_int_equal(ki_workqueue_get(queue, &work), KI_ERR_UNSUPPORTED);
    wq_check(queue);
    fake_clock_advance(&clock, 2 * S_NS); /* nothing is lost */
    assert_int_equal(ki_workqueue_get(queue, &work), 1);
    ki_workqueue_done(queue, &work);
    ki_workqueue_unref(queue);
}

/* A clock of coarse steps, always a little behind: the sleeper must not be late, nor spin. */
static _Atomic uint64_t coarse_reads;

static uint64_t coarse_ns(void *user)
{
    atomic_fetch_add(&coarse_reads, 1);
    return real_ns(user) / (20 * MS_NS) * (20 * MS_NS);
}

static void a_clock_of_coarse_steps_is_waited_for(void **state)
{
    (void)state;
    const ki_clock coarse = {.monotonic_ns = coarse_ns};
    ki_workqueue *queue = NULL;
    assert_int_equal(
        ki_workqueue_new(KI_OPTIONS(ki_workqueue_options, .clock = &coarse), &queue, NULL), 0);
    (void)wq_add_after(queue, "a", 30 * MS_NS);
    atomic_store(&coarse_reads, 0);
    sleeper s = {.queue = queue};
    (void)get_one(&s);
    assert_int_equal(s.r, 1);
    assert_true(atomic_load(&coarse_reads) < 100);
    ki_workqueue_unref(queue);
}

/* Draining */

typedef struct drain {
    ki_workqueue *queue;
    ki_drain until;
    int r;
    atomic_bool ended;
} drain;

static void *run_drain(void *user)
{
    drain *d = user;
    d->r = ki_workqueue_shut_down_with_drain(d->queue, d->until);
    atomic_store(&d->ended, true);
    return NULL;
}

/* client-go returns at `b` waiting, and may leave one of two drains asleep for ever. */
static void a_drain_waits_for_all_or_for_those_that_run_as_asked(void **state)
{
    (void)state;
    ki_workqueue *queue = new_queue();
    (void)wq_add(queue, "a");
    (void)wq_add(queue, "b");
    ki_work a = wq_take(queue, "a");
    drain d[3] = {{.queue = queue, .until = KI_DRAIN_EMPTY},
                  {.queue = queue, .until = KI_DRAIN_EMPTY},
                  {.queue = queue, .until = KI_DRAIN_IDLE}};
    pthread_t threads[3];
    for (size_t i = 0; i < 3; i++) {
        threads[i] = start(run_drain, &d[i]);
    }
    wait_for_sleepers(queue, 0, 3);
    ki_workqueue_done(queue, &a);
    join(threads[2]);
    assert_int_equal(d[2].r, 0);
    ki_work b = wq_take(queue, "b");
    assert_false(atomic_load(&d[0].ended));
    assert_false(atomic_load(&d[1].ended));
    ki_workqueue_done(queue, &b);
    join(threads[0]);
    join(threads[1]);
    assert_int_equal(d[0].r, 0);
    assert_int_equal(d[1].r, 0);
    ki_workqueue_unref(queue);
}

static void a_key_that_comes_again_is_drained_too(void **state)
{
    (void)state;
    ki_workqueue *queue = new_queue();
    (void)wq_add(queue, "a");
    ki_work work = wq_take(queue, "a");
    (void)wq_add(queue, "a");
    drain d = {.queue = queue, .until = KI_DRAIN_EMPTY};
    pthread_t thread = start(run_drain, &d);
    wait_for_sleepers(queue, 0, 1);
    ki_workqueue_done(queue, &work);
    work = wq_take(queue, "a");
    assert_false(atomic_load(&d.ended));
    ki_workqueue_done(queue, &work);
    join(thread);
    assert_int_equal(d.r, 0);
    ki_workqueue_unref(queue);
}

static void shut_down_ends_a_drain_and_another_drain_does_not_revive_it(void **state)
{
    (void)state;
    ki_workqueue *queue = new_queue();
    (void)wq_add(queue, "a");
    ki_work work = wq_take(queue, "a");
    drain first = {.queue = queue, .until = KI_DRAIN_IDLE};
    drain second = {.queue = queue, .until = KI_DRAIN_IDLE};
    pthread_t threads[2];
    threads[0] = start(run_drain, &first);
    wait_for_sleepers(queue, 0, 1);
    ki_workqueue_shut_down(queue);
    threads[1] = start(run_drain, &second); /* perhaps before the first one has woken */
    join(threads[0]);
    assert_int_equal(first.r, KI_ERR_STOPPED);
    wait_for_sleepers(queue, 0, 1);
    ki_workqueue_done(queue, &work);
    join(threads[1]);
    assert_int_equal(second.r, 0);
    ki_workqueue_unref(queue);
}

/* In client-go the thread that waits for delays finds out after up to ten seconds. */
static void a_drain_is_noticed_at_once_by_sleepers_with_a_far_deadline(void **state)
{
    (void)state;
    ki_workqueue *queue = new_queue();
    (void)wq_add_after(queue, "z", 3600 * S_NS);
    sleeper s[2] = {{.queue = queue}, {.queue = queue}};
    pthread_t threads[2] = {start(get_one, &s[0]), start(get_one, &s[1])};
    wait_for_sleepers(queue, 2, 0);
    uint64_t begin_ns = real_ns(NULL);
    assert_int_equal(ki_workqueue_shut_down_with_drain(queue, KI_DRAIN_EMPTY), 0);
    join(threads[0]);
    join(threads[1]);
    assert_int_equal(s[0].r, KI_ERR_STOPPED);
    assert_int_equal(s[1].r, KI_ERR_STOPPED);
    assert_true(real_ns(NULL) - begin_ns < 5 * S_NS);
    assert_int_equal(wq_stats(queue).delayed, 0);
    ki_workqueue_unref(queue);
}

typedef struct race {
    ki_workqueue *queue;
    _Atomic int added;
    _Atomic int worked;
} race;

static void *race_produce(void *user)
{
    race *r = user;
    for (int i = 0; i < 50; i++) {
        char key[8];
        (void)snprintf(key, sizeof(key), "%d", i);
        if (ki_workqueue_add(r->queue, key) == 1) {
            atomic_fetch_add(&r->added, 1);
        }
    }
    return NULL;
}

static void *race_work(void *user)
{
    race *r = user;
    ki_work work = {NULL, NULL};
    while (ki_workqueue_next(r->queue, &work) == 1) {
        atomic_fetch_add(&r->worked, 1);
    }
    return NULL;
}

static void however_a_drain_races_with_adds_and_workers_it_ends_empty(void **state)
{
    (void)state;
    for (int round = 0; round < 150; round++) {
        race r = {.queue = new_queue()};
        pthread_t producer = start(race_produce, &r);
        pthread_t workers[2] = {start(race_work, &r), start(race_work, &r)};
        if (round % 3 == 0) {
            sleep_ms(0);
        }
        assert_int_equal(ki_workqueue_shut_down_with_drain(r.queue, KI_DRAIN_EMPTY), 0);
        ki_workqueue_stats stats = wq_stats(r.queue);
        assert_int_equal(stats.depth + stats.processing + stats.delayed, 0);
        assert_int_equal(atomic_load(&r.worked), (int)stats.adds);
        join(producer);
        join(workers[0]);
        join(workers[1]);
        assert_int_equal(atomic_load(&r.worked), atomic_load(&r.added));
        ki_workqueue_unref(r.queue);
    }
}

/* Polling: a thread adds, a loop sleeps until it is woken and then takes all there is. */

typedef struct loop {
    ki_workqueue *queue;
    pthread_mutex_t lock;
    pthread_cond_t cond;
    bool woken;
} loop;

static void loop_wake(void *user)
{
    loop *l = user;
    (void)pthread_mutex_lock(&l->lock);
    l->woken = true;
    (void)pthread_cond_signal(&l->cond);
    (void)pthread_mutex_unlock(&l->lock);
}

static void *loop_feed(void *user)
{
    loop *l = user;
    for (int i = 0; i < ROUNDS; i++) {
        char key[12];
        (void)snprintf(key, sizeof(key), "%d", i);
        assert_int_equal(ki_workqueue_add(l->queue, key), 1);
    }
    ki_workqueue_shut_down(l->queue);
    return NULL;
}

static void a_loop_that_polls_misses_no_wake(void **state)
{
    (void)state;
    loop l = {.queue = NULL, .lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};
    assert_int_equal(
        ki_workqueue_new(KI_OPTIONS(ki_workqueue_options, .wake = loop_wake, .wake_user = &l),
                         &l.queue, NULL),
        0);
    pthread_t feeder = start(loop_feed, &l);
    int got = 0;
    int r = 0;
    while (r != KI_ERR_STOPPED) {
        ki_work work;
        r = ki_workqueue_try_get(l.queue, &work);
        if (r == 1) {
            got++;
            ki_workqueue_done(l.queue, &work);
        } else if (r == 0) {
            (void)pthread_mutex_lock(&l.lock);
            while (!l.woken) {
                (void)pthread_cond_wait(&l.cond, &l.lock);
            }
            l.woken = false;
            (void)pthread_mutex_unlock(&l.lock);
        }
    }
    assert_int_equal(got, ROUNDS);
    join(feeder);
    ki_workqueue_unref(l.queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_key_is_worked_on_twice_at_once_and_no_change_is_lost),
        cmocka_unit_test(a_sleeper_is_woken_by_an_add_and_by_the_end),
        cmocka_unit_test(a_sleeper_wakes_when_a_delayed_key_is_due),
        cmocka_unit_test(an_earlier_delay_wakes_a_sleeper_earlier),
        cmocka_unit_test(who_leaves_with_a_key_hands_the_time_to_another),
        cmocka_unit_test(many_keys_due_at_once_wake_as_many_sleepers),
        cmocka_unit_test(get_says_so_if_the_clock_is_not_the_systems),
        cmocka_unit_test(a_clock_of_coarse_steps_is_waited_for),
        cmocka_unit_test(a_drain_waits_for_all_or_for_those_that_run_as_asked),
        cmocka_unit_test(a_key_that_comes_again_is_drained_too),
        cmocka_unit_test(shut_down_ends_a_drain_and_another_drain_does_not_revive_it),
        cmocka_unit_test(a_drain_is_noticed_at_once_by_sleepers_with_a_far_deadline),
        cmocka_unit_test(however_a_drain_races_with_adds_and_workers_it_ends_empty),
        cmocka_unit_test(a_loop_that_polls_misses_no_wake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
