/* SPDX-License-Identifier: Apache-2.0 */
/* Priorities of a work queue and how waiting keys rise, also compared with a model: an unsorted
 * array from which the first key by the documented order is selected. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <kinformer/worker.h>

#include "support/fake_clock.h"
#include "support/test.h"
#include "support/workqueue.h"
#include "workqueue/workqueue_state.h"

typedef struct fixture {
    fake_clock clock;
    ki_workqueue *queue;
} fixture;

static void begin_with(fixture *f, ki_workqueue_options options)
{
    fake_clock_init(&f->clock);
    options.clock = &f->clock.table;
    assert_int_equal(ki_workqueue_new(&options, &f->queue, NULL), 0);
}

static void begin(fixture *f)
{
    begin_with(f, KI_OPTIONS_INIT(ki_workqueue_options));
}

static void end(fixture *f)
{
    f->queue = ki_workqueue_unref(f->queue);
}

static int add(fixture *f, const char *key, int priority)
{
    int r = ki_workqueue_add_with(f->queue, key, KI_OPTIONS(ki_add_options, .priority = priority));
    assert_true(r >= 0);
    wq_check(f->queue);
    return r;
}

/* Takes the keys, in this order; a key is a letter. */
static void expect(fixture *f, const char *keys)
{
    for (; *keys != '\0'; keys++) {
        const char key[] = {*keys, '\0'};
        ki_work work = wq_take(f->queue, key);
        ki_workqueue_done(f->queue, &work);
        wq_check(f->queue);
    }
    wq_take_none(f->queue);
}

static void higher_priorities_come_first_and_equal_ones_in_order(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    assert_int_equal(wq_add(f.queue, "a"), 1);
    assert_int_equal(add(&f, "b", KI_PRIORITY_LOW), 1);
    assert_int_equal(add(&f, "c", 5), 1);
    assert_int_equal(wq_add(f.queue, "d"), 1);
    assert_int_equal(add(&f, "e", 5), 1);
    assert_int_equal(add(&f, "f", KI_PRIORITY_MAX), 1);
    assert_int_equal(add(&f, "g", KI_PRIORITY_LOW), 1);
    assert_int_equal(add(&f, "h", KI_PRIORITY_MIN), 1);
    assert_int_equal(ki_workqueue_count(f.queue), 8);
    expect(&f, "fceadbgh");
    end(&f);
}

static void a_level_is_worth_one_age(void **state)
{
    (void)state;
    const struct {
        uint32_t age_ms;
        uint64_t level_ns;
    } cases[] = {{0, S_NS}, {250, 250 * MS_NS}, {3600000, 3600 * S_NS}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        fixture f;
        ki_workqueue_options options = KI_OPTIONS_INIT(ki_workqueue_options);
        options.age_ms = cases[i].age_ms;
        begin_with(&f, options);
        (void)add(&f, "a", -3);
        fake_clock_advance(&f.clock, 3 * cases[i].level_ns - 10);
        (void)add(&f, "b", 0); /* 10 ns too early to be behind */
        fake_clock_advance(&f.clock, 20);
        (void)add(&f, "c", 0);
        (void)add(&f, "d", 1);
        expect(&f, "dbac");
        end(&f);
    }
}

static void a_waiting_key_is_raised_and_never_lowered(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    (void)add(&f, "a", 0);
    (void)add(&f, "b", -5);
    (void)add(&f, "c", 3);
    (void)add(&f, "d", -5);
    assert_int_equal(add(&f, "d", 4), 0); /* from the end to the beginning */
    assert_int_equal(add(&f, "c", 2), 0);
    assert_int_equal(add(&f, "b", 0), 0); /* keeps its time, so that it is behind a, and */
    fake_clock_advance(&f.clock, 1);
    (void)add(&f, "e", 0); /* before e */
    assert_int_equal(wq_stats(f.queue).adds, 5);
    expect(&f, "dcabe");
    end(&f);
}

static void a_key_in_work_comes_again_with_its_new_priority(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    (void)add(&f, "a", 7);
    ki_work work = wq_take(f.queue, "a");
    assert_int_equal(ki_work_priority(&work), 7);
    assert_int_equal(add(&f, "a", -2), 1);
    assert_int_equal(add(&f, "a", -1), 0); /* raised */
    assert_int_equal(add(&f, "a", -9), 0);
    assert_int_equal(ki_work_priority(&work), 7);
    (void)add(&f, "b", 0);
    (void)add(&f, "c", -2);
    ki_workqueue_done(f.queue, &work);
    assert_int_equal(ki_work_priority(&work), 0);
    assert_int_equal(ki_work_priority(NULL), 0);
    work = wq_take(f.queue, "b");
    ki_workqueue_done(f.queue, &work);
    work = wq_take(f.queue, "a");
    assert_int_equal(ki_work_priority(&work), -1);
    ki_workqueue_done(f.queue, &work);
    expect(&f, "c");
    end(&f);
}

static void delayed_and_rate_limited_keys_carry_a_priority(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    const ki_add_options later = {.size = sizeof(later), .priority = 2, .delay_ms = 5};
    const ki_add_options sooner = {.size = sizeof(sooner), .priority = -1, .delay_ms = 4};
    const ki_add_options limited = {.size = sizeof(limited), .priority = 3, .rate_limited = true};
    assert_int_equal(ki_workqueue_add_with(f.queue, "a", &later), 1);
    assert_int_equal(ki_workqueue_add_with(f.queue, "a", &sooner), 1); /* earlier, at the higher */
    assert_int_equal(ki_workqueue_add_with(f.queue, "b", &limited), 1);
    assert_int_equal(ki_workqueue_add_after(f.queue, "c", 3), 1);
    assert_int_equal(ki_workqueue_add_with(f.queue, "c", &later), 0); /* raised, not later */
    assert_int_equal(wq_stats(f.queue).retries, 5);
    assert_int_equal(ki_workqueue_requeues(f.queue, "b"), 1);
    wq_take_none(f.queue);
    fake_clock_advance(&f.clock, 5 * MS_NS);
    assert_int_equal(ki_workqueue_count(f.queue), 3);
    (void)add(&f, "d", 2);
    (void)add(&f, "e", 4);
    expect(&f, "ebcad");
    assert_int_equal(ki_workqueue_add_with(f.queue, "a", &later), 1);
    (void)add(&f, "a", 0);
    (void)add(&f, "b", 1);
    fake_clock_advance(&f.clock, 5 * MS_NS);
    expect(&f, "ab"); /* raised when its delay has elapsed */
    end(&f);
}

static void priorities_may_begin_while_keys_wait(void **state)
{
    (void)state;
    for (int measured = 0; measured < 2; measured++) {
        fixture f;
        ki_workqueue_options options = KI_OPTIONS_INIT(ki_workqueue_options);
        options.measure_times = measured != 0;
        begin_with(&f, options);
        for (const char *key = "abcd"; *key != '\0'; key++) {
            const char text[] = {*key, '\0'};
            (void)wq_add(f.queue, text);
            fake_clock_advance(&f.clock, MS_NS);
        }
        ki_work work = wq_take(f.queue, "a");
        (void)wq_add(f.queue, "a");
        assert_int_equal(add(&f, "c", 1), 0); /* the first priority raises a waiting key */
        (void)wq_add(f.queue, "e");
        ki_workqueue_done(f.queue, &work);
        expect(&f, "cbdae");
        assert_true(measured == 0 || wq_stats(f.queue).latency.max_ms < 10);
        end(&f);
    }
}

static void priorities_keep_the_measured_times(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    (void)add(&f, "a", -100);
    (void)add(&f, "b", 100);
    ki__workqueue_measure(f.queue);
    fake_clock_advance(&f.clock, 7 * MS_NS);
    (void)add(&f, "a", 50);
    (void)add(&f, "c", 0);
    expect(&f, "bac");
    ki_workqueue_stats stats = wq_stats(f.queue);
    assert_int_equal(stats.latency.count, 3);
    assert_true(stats.latency.sum_ms > 13.99 && stats.latency.sum_ms < 14.01);
    end(&f);
}

static void no_clock_is_read_without_priorities(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    assert_int_equal(ki_workqueue_add_with(f.queue, "a", NULL), 1);
    (void)add(&f, "b", 0);
    expect(&f, "ab");
    assert_int_equal(atomic_load(&f.clock.reads), 0);
    (void)add(&f, "a", 1);
    assert_int_equal(atomic_load(&f.clock.reads), 2); /* the beginning, and the time of "a" */
    (void)add(&f, "b", 1);
    assert_int_equal(atomic_load(&f.clock.reads), 3);
    expect(&f, "ab");
    end(&f);
}

static void invalid_options_are_refused(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    const ki_add_options cases[] = {
        {.priority = KI_PRIORITY_MAX + 1},
        {.priority = KI_PRIORITY_MIN - 1},
        {.rate_limited = true, .delay_ms = 1},
        {.size = 1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(ki_workqueue_add_with(f.queue, "a", &cases[i]), -EINVAL);
    }
    wq_take_none(f.queue);
    ki_workqueue *none = NULL;
    ki_error error = KI_ERROR_INIT;
    assert_int_equal(
        ki_workqueue_new(KI_OPTIONS(ki_workqueue_options, .age_ms = 3600001), &none, &error),
        -EINVAL);
    assert_string_equal(error.message, "age_ms: more than 3600000");
    ki_workqueue_shut_down(f.queue);
    assert_int_equal(ki_workqueue_add_with(f.queue, "a", KI_OPTIONS(ki_add_options, .priority = 1)),
                     KI_ERR_STOPPED);
    end(&f);
}

/* A worker is busy with keys of high priority, of which there are always some: each comes again as
 * soon as it is done. A key of low priority must get its turn within the bound nevertheless. */
static void a_flow_of_high_priorities_starves_nothing(void **state)
{
    (void)state;
    enum { BUSY = 5, TURN_MS = 10, LEVELS = 20, AGE_MS = 100 };
    fixture f;
    ki_workqueue_options options = KI_OPTIONS_INIT(ki_workqueue_options);
    options.age_ms = AGE_MS;
    begin_with(&f, options);
    (void)add(&f, "low", -LEVELS / 2);
    char key[8];
    for (int i = 0; i < BUSY; i++) {
        (void)snprintf(key, sizeof(key), "high-%d", i);
        (void)add(&f, key, LEVELS / 2);
    }
    uint64_t waited_ms = 0;
    for (;; waited_ms += TURN_MS) {
        ki_work work;
        assert_int_equal(ki_workqueue_try_get(f.queue, &work), 1);
        bool is_low = strcmp(work.key, "low") == 0;
        fake_clock_advance(&f.clock, TURN_MS * MS_NS);
        (void)snprintf(key, sizeof(key), "%s", work.key);
        ki_workqueue_done(f.queue, &work);
        if (is_low) {
            break;
        }
        (void)add(&f, key, LEVELS / 2);
        assert_true(waited_ms < 60000); /* it starves */
    }
    /* Not before the bound, and then at most behind the keys that were there. */
    assert_true(waited_ms >= LEVELS * AGE_MS);
    assert_true(waited_ms <= LEVELS * AGE_MS + BUSY * TURN_MS);
    end(&f);
}

/* ---- a failing allocator ---- */

static int use_priorities(const ki_alloc *alloc, void *user)
{
    (void)user;
    enum { COUNT = 300 };
    ki_workqueue *queue = NULL;
    int r = ki_workqueue_new(KI_OPTIONS(ki_workqueue_options, .alloc = alloc, .age_ms = 1), &queue,
                             NULL);
    if (r < 0) {
        return r;
    }
    size_t added = 0;
    char key[16];
    for (int i = 0; i < COUNT && r >= 0; i++) {
        (void)snprintf(key, sizeof(key), "key-%d", i);
        r = ki_workqueue_add_with(queue, key, KI_OPTIONS(ki_add_options, .priority = i % 7 - 3));
        added += r == 1;
    }
    for (int i = 0; i < COUNT; i++) { /* a known key needs no memory, whatever its priority */
        (void)snprintf(key, sizeof(key), "key-%d", i);
        int raised =
            (size_t)i < added
                ? ki_workqueue_add_with(queue, key, KI_OPTIONS(ki_add_options, .priority = i % 11))
                : 0;
        assert_int_equal(raised, 0);
    }
    wq_check(queue);
    ki_work work;
    for (; added != 0; added--) {
        assert_int_equal(ki_workqueue_try_get(queue, &work), 1);
        assert_int_equal(ki_workqueue_add_with(
                             queue, work.key,
                             KI_OPTIONS(ki_add_options, .priority = 5000, .rate_limited = true)),
                         1);
        ki_workqueue_done(queue, &work);
    }
    wq_check(queue);
    ki_workqueue_unref(queue);
    return r < 0 ? r : 0;
}

static void a_failed_allocation_loses_no_key(void **state)
{
    (void)state;
    test_alloc_sweep(use_priorities, NULL);
}

/* ---- the model ---- */

enum { KEYS = 12, STEPS = 300, SEEDS = 4000 };

typedef struct model_key {
    char name[12];
    bool queued; /* or dirty, if it is processed */
    bool processing;
    bool delayed;
    int priority;       /* queued */
    int delay_priority; /* delayed */
    uint64_t since_ns;  /* queued; */
    uint64_t order;     /* likewise, when it came to the line */
    uint64_t due_ns;    /* delayed */
    int work_priority;
    ki_work work;
} model_key;

typedef struct model {
    fixture f;
    uint64_t random;
    uint64_t age_ns;
    uint64_t last_ns; /* of an add; 0 before the first priority */
    uint64_t order;
    model_key keys[KEYS];
    size_t overtakes; /* keys taken although another was queued before */
} model;

static uint64_t now_of(model *m)
{
    return atomic_load(&m->f.clock.now_ns);
}

static void model_add(model *m, model_key *key, int priority)
{
    uint64_t now_ns = now_of(m);
    if (key->queued && priority <= key->priority) {
        return;
    }
    if (priority != 0 && m->last_ns == 0) { /* from now on times count */
        m->last_ns = now_ns;
        for (size_t i = 0; i < KEYS; i++) {
            m->keys[i].since_ns = now_ns;
        }
    }
    if (key->queued) {
        key->priority = priority;
        return;
    }
    if (m->last_ns != 0) {
        m->last_ns = now_ns > m->last_ns ? now_ns : m->last_ns + 1;
    }
    key->queued = true;
    key->priority = priority;
    key->since_ns = m->last_ns;
    key->order = ++m->order;
}

static void model_release(model *m)
{
    for (;;) {
        model_key *first = NULL;
        for (size_t i = 0; i < KEYS; i++) {
            model_key *key = &m->keys[i];
            if (key->delayed && key->due_ns <= now_of(m) &&
                (first == NULL || key->due_ns < first->due_ns)) {
                first = key;
            }
        }
        if (first == NULL) {
            return;
        }
        first->delayed = false;
        model_add(m, first, first->delay_priority);
    }
}

static int64_t rank_of(const model *m, const model_key *key)
{
    return (int64_t)key->since_ns - key->priority * (int64_t)m->age_ns;
}

/* Whether `a` must be taken before `b`. Keys that were queued before the first priority have the
 * same time then; of those, the order in which they came to the line counts only among keys that
 * were there. */
static bool must_precede(const model *m, const model_key *a, const model_key *b)
{
    if (m->last_ns == 0) {
        return a->order < b->order;
    }
    int64_t rank_a = rank_of(m, a);
    int64_t rank_b = rank_of(m, b);
    return rank_a != rank_b ? rank_a < rank_b : a->priority > b->priority;
}

static model_key *any_key(model *m)
{
    return &m->keys[test_random(&m->random) % KEYS];
}

static int any_priority(model *m, size_t step)
{
    if (step < STEPS / 10) {
        return 0;
    }
    int among = test_random(&m->random) % 8 == 0 ? 40 : 5;
    return (int)(test_random(&m->random) % (uint64_t)among) - among / 2;
}

static void step_add(model *m, size_t step)
{
    model_key *key = any_key(m);
    int priority = any_priority(m, step);
    int expected = !key->queued;
    model_add(m, key, priority);
    if (expected != 0 && key->processing) {
        key->order = UINT64_MAX; /* set by done */
    }
    int r = ki_workqueue_add_with(m->f.queue, key->name,
                                  KI_OPTIONS(ki_add_options, .priority = priority));
    assert_int_equal(r, expected);
}

static void step_delay(model *m, size_t step)
{
    model_key *key = any_key(m);
    int priority = any_priority(m, step);
    /* No two keys are due at the same time. */
    uint64_t delay_ms = 1 + test_random(&m->random) % 50 * KEYS + (uint64_t)(key - m->keys);
    uint64_t due_ns = now_of(m) + delay_ms * MS_NS;
    for (size_t i = 0; i < KEYS; i++) {
        if (m->keys[i].delayed && m->keys[i].due_ns == due_ns) {
            return;
        }
    }
    int expected = !key->delayed || due_ns < key->due_ns;
    key->delay_priority =
        key->delayed && key->delay_priority > priority ? key->delay_priority : priority;
    key->due_ns = expected != 0 ? due_ns : key->due_ns;
    key->delayed = true;
    int r = ki_workqueue_add_with(
        m->f.queue, key->name,
        KI_OPTIONS(ki_add_options, .priority = priority, .delay_ms = delay_ms));
    assert_int_equal(r, expected);
}

static void step_get(model *m)
{
    ki_work work = {NULL, NULL};
    int r = ki_workqueue_try_get(m->f.queue, &work);
    model_release(m);
    model_key *taken = NULL;
    size_t waiting = 0;
    for (size_t i = 0; i < KEYS; i++) {
        model_key *key = &m->keys[i];
        waiting += key->queued && !key->processing;
        taken = r == 1 && strcmp(work.key, key->name) == 0 ? key : taken;
    }
    assert_int_equal(r, waiting != 0);
    if (r == 0) {
        return;
    }
    assert_true(taken->queued && !taken->processing);
    for (size_t i = 0; i < KEYS; i++) {
        const model_key *key = &m->keys[i];
        if (key != taken && key->queued && !key->processing) {
            assert_false(must_precede(m, key, taken));
            m->overtakes += key->order < taken->order;
        }
    }
    assert_int_equal(ki_work_priority(&work), taken->priority);
    taken->queued = false;
    taken->processing = true;
    taken->work = work;
}

static void step_done(model *m)
{
    model_key *key = any_key(m);
    if (key->processing) {
        ki_workqueue_done(m->f.queue, &key->work);
        key->processing = false;
        key->order = ++m->order;
    }
}

static void model_run(uint64_t seed, size_t *overtakes)
{
    static model m;
    m = (model){.random = seed, .age_ns = MS_NS << seed % 12};
    ki_workqueue_options options = KI_OPTIONS_INIT(ki_workqueue_options);
    options.age_ms = (uint32_t)(m.age_ns / MS_NS);
    begin_with(&m.f, options);
    for (size_t i = 0; i < KEYS; i++) {
        (void)snprintf(m.keys[i].name, sizeof(m.keys[i].name), "key-%zu", i);
    }
    for (size_t step = 0; step < STEPS; step++) {
        uint64_t choice = test_random(&m.random) % 100;
        if (choice < 40) {
            step_add(&m, step);
        } else if (choice < 50) {
            step_delay(&m, step);
        } else if (choice < 72) {
            step_get(&m);
        } else if (choice < 92) {
            step_done(&m);
        } else {
            fake_clock_advance(&m.f.clock, test_random(&m.random) % (4 * m.age_ns));
        }
        wq_check(m.f.queue);
    }
    *overtakes += m.overtakes;
    end(&m.f);
}

static void the_order_is_that_of_a_model(void **state)
{
    (void)state;
    size_t overtakes = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        model_run(seed, &overtakes);
    }
    assert_true(overtakes > SEEDS * 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(higher_priorities_come_first_and_equal_ones_in_order),
        cmocka_unit_test(a_level_is_worth_one_age),
        cmocka_unit_test(a_waiting_key_is_raised_and_never_lowered),
        cmocka_unit_test(a_key_in_work_comes_again_with_its_new_priority),
        cmocka_unit_test(delayed_and_rate_limited_keys_carry_a_priority),
        cmocka_unit_test(priorities_may_begin_while_keys_wait),
        cmocka_unit_test(priorities_keep_the_measured_times),
        cmocka_unit_test(no_clock_is_read_without_priorities),
        cmocka_unit_test(invalid_options_are_refused),
        cmocka_unit_test(a_flow_of_high_priorities_starves_nothing),
        cmocka_unit_test(a_failed_allocation_loses_no_key),
        cmocka_unit_test(the_order_is_that_of_a_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
