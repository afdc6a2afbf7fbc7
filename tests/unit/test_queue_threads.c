/* SPDX-License-Identifier: Apache-2.0 */
/* A consumer that waits, and producers beside it; threads: yes. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <kinformer/parts/queue.h>

#include "support/deltas.h"
#include "support/objects.h"
#include "support/test.h"

typedef int (*maker)(const ki_queue_options *options, ki_queue **ret_queue, ki_error *error);
static const maker makers[] = {ki_fifo_new, ki_delta_fifo_new};
enum { KINDS = 2, PRODUCERS = 3, EACH = 4000, LISTS = 20, WAITING = 200 };

struct shared {
    ki_queue *queue;
    sem_t started;
    int result;
    unsigned last[PRODUCERS]; /* the version that each producer's object was last seen with */
    uint64_t seen;
    uint64_t again;
    bool ordered;
    atomic_uint number; /* of the next producer */
};

static int note(const ki_deltas *deltas, void *user)
{
    struct shared *s = user;
    if (++s->again % 7 == 0) {
        return KI_POP_AGAIN;
    }
    for (size_t i = 0; i < deltas->count; i++) {
        const ki_delta *delta = ki_deltas_at(deltas, i);
        s->seen++;
        if (delta->type != KI_DELTA_UPDATED) {
            continue;
        }
        unsigned producer = 0;
        unsigned version = 0;
        (void)sscanf(ki_object_name(delta->object), "p%u", &producer);
        (void)sscanf(ki_object_resource_version(delta->object), "%u", &version);
        s->ordered = s->ordered && version == s->last[producer] + 1;
        s->last[producer] = version;
    }
    return 0;
}

static void *consume(void *user)
{
    struct shared *s = user;
    sem_post(&s->started);
    int r;
    do {
        r = ki_queue_pop(s->queue, 0, note, s);
    } while (r >= 0 || r == KI_ERR_BUSY);
    s->result = r;
    return NULL;
}

static void *produce(void *user)
{
    struct shared *s = user;
    unsigned number = atomic_fetch_add(&s->number, 1);
    for (unsigned version = 1; version <= EACH; version++) {
        char spec[32];
        (void)snprintf(spec, sizeof(spec), "~p%u@%u", number, version);
        while (ki_queue_count(s->queue) > WAITING) { /* what a producer has to do */
            sched_yield();
        }
        assert_int_equal(test_put(s->queue, NULL, spec), 0);
        if (version % (EACH / LISTS) == 0) {
            assert_int_equal(test_put(s->queue, NULL, "!"), 0);
            assert_int_equal(test_put(s->queue, NULL, "#1"), 0);
        }
    }
    return NULL;
}

static void the_order_of_each_producer_is_kept(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        struct shared s = {.ordered = true};
        assert_int_equal(makers[kind](NULL, &s.queue, NULL), 0);
        assert_int_equal(sem_init(&s.started, 0, 0), 0);
        pthread_t consumer;
        pthread_t producers[PRODUCERS];
        assert_int_equal(pthread_create(&consumer, NULL, consume, &s), 0);
        for (int i = 0; i < PRODUCERS; i++) {
            assert_int_equal(pthread_create(&producers[i], NULL, produce, &s), 0);
        }
        for (int i = 0; i < PRODUCERS; i++) {
            pthread_join(producers[i], NULL);
        }
        ki_queue_stop(s.queue);
        pthread_join(consumer, NULL);
        assert_int_equal(s.result, KI_ERR_STOPPED);
        assert_true(s.ordered);
        for (int i = 0; i < PRODUCERS; i++) {
            assert_int_equal(s.last[i], EACH);
        }
        uint64_t others = kind == 0 ? (uint64_t)PRODUCERS * LISTS * 2 : 0;
        assert_int_equal(s.seen, (uint64_t)PRODUCERS * EACH + others);
        /* However seldom the consumer has its turn, there is no more than this to take at once. */
        assert_true(s.again > PRODUCERS * EACH / (WAITING + 3 * PRODUCERS));
        assert_int_equal(ki_queue_bytes(s.queue), 0);
        sem_destroy(&s.started);
        ki_queue_unref(s.queue);
    }
}

static void closing_releases_waiters(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        for (int i = 0; i < 200; i++) {
            struct shared s = {.ordered = true};
            assert_int_equal(makers[kind](NULL, &s.queue, NULL), 0);
            assert_int_equal(sem_init(&s.started, 0, 0), 0);
            pthread_t consumer;
            assert_int_equal(pthread_create(&consumer, NULL, consume, &s), 0);
            sem_wait(&s.started);
            for (int n = 0; n < i % 8; n++) {
                sched_yield(); /* so that it is waiting, or not yet */
            }
            ki_queue_stop(s.queue);
            pthread_join(consumer, NULL);
            assert_int_equal(s.result, KI_ERR_STOPPED);
            sem_destroy(&s.started);
            ki_queue_unref(s.queue);
        }
    }
}

static void the_waiter_is_the_only_consumer(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        struct shared s = {.ordered = true};
        test_log log = {.len = 0};
        assert_int_equal(makers[kind](NULL, &s.queue, NULL), 0);
        assert_int_equal(sem_init(&s.started, 0, 0), 0);
        pthread_t consumer;
        assert_int_equal(pthread_create(&consumer, NULL, consume, &s), 0);
        int r;
        do { /* until the other one has begun */
            r = ki_queue_poll(s.queue, 0, test_log_deltas, &log);
            assert_true(r == 0 || r == KI_ERR_BUSY);
            sched_yield();
        } while (r == 0);
        ki_queue_stop(s.queue);
        pthread_join(consumer, NULL);
        assert_int_equal(s.result, KI_ERR_STOPPED);
        sem_destroy(&s.started);
        ki_queue_unref(s.queue);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_order_of_each_producer_is_kept),
        cmocka_unit_test(closing_releases_waiters),
        cmocka_unit_test(the_waiter_is_the_only_consumer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
