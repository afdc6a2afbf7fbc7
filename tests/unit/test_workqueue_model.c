/* SPDX-License-Identifier: Apache-2.0 */
/* Random operations on a queue and on a naive model of it: two sets, a list and times, as the rules
 * are written. After each step a key is in exactly one state, the same in both; none is lost, none
 * is worked on twice; a drained queue is empty. Allocations fail occasionally, which may only
 * refuse a key that is not known yet. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <kinformer/worker.h>

#include "support/fake_clock.h"
#include "support/test.h"
#include "support/workqueue.h"
#include "workqueue/workqueue_state.h"

/* More keys than a queue keeps when they are idle; at any time a few of them are in use. */
enum { KEYS = 300, KEYS_IN_USE = 24, STEPS = 5000, SEEDS = 12 };

typedef struct model {
    bool dirty[KEYS];
    bool processing[KEYS];
    uint64_t due_ns[KEYS]; /* UINT64_MAX: not delayed */
    size_t line[KEYS];
    size_t line_len;
    bool shut_down;
    uint64_t adds;
    uint64_t retries;
} model;

typedef struct run {
    uint64_t random;
    uint64_t seed;
    fake_clock clock;
    test_alloc alloc;
    ki_workqueue *queue;
    model m;
    ki_work works[KEYS]; /* of those in processing */
    char names[KEYS][100];
    size_t first_key; /* in use */
    size_t gets;      /* so that a run that does nothing is found out */
    size_t dones;
    size_t releases;
    size_t refused;
} run;

/* The model */

static void model_push(model *m, size_t key)
{
    m->line[m->line_len++] = key;
}

static int model_add(model *m, size_t key)
{
    if (m->shut_down) {
        return KI_ERR_STOPPED;
    }
    if (m->dirty[key]) {
        return 0;
    }
    m->adds++;
    m->dirty[key] = true;
    if (!m->processing[key]) {
        model_push(m, key);
    }
    return 1;
}

static size_t model_earliest(const model *m)
{
    size_t first = 0;
    for (size_t i = 1; i < KEYS; i++) {
        first = m->due_ns[i] < m->due_ns[first] ? i : first;
    }
    return first;
}

static void model_release(run *r)
{
    model *m = &r->m;
    for (;;) {
        size_t key = model_earliest(m);
        if (m->due_ns[key] > atomic_load(&r->clock.now_ns)) {
            return;
        }
        m->due_ns[key] = UINT64_MAX;
        (void)model_add(m, key);
        r->releases++;
    }
}

static bool model_knows(const model *m, size_t key)
{
    return m->dirty[key] || m->processing[key] || m->due_ns[key] != UINT64_MAX;
}

/* The steps: each on both, and the answers must be the same */

static size_t any_key(run *r)
{
    return (r->first_key + (size_t)(test_random(&r->random) % KEYS_IN_USE)) % KEYS;
}

static ki_str name_of(run *r, size_t key)
{
    return ki_str_from(r->names[key]);
}

/* Whether the answer is that there was no memory, and the key may be refused for it. */
static bool refused(run *r, size_t key, int answer)
{
    if (answer != -ENOMEM) {
        return false;
    }
    assert_false(model_knows(&r->m, key));
    r->refused++;
    return true;
}

static void step_add(run *r)
{
    size_t key = any_key(r);
    int answer = ki_workqueue_add(r->queue, r->names[key]);
    if (!refused(r, key, answer)) {
        assert_int_equal(answer, model_add(&r->m, key));
    }
}

static void step_add_after(run *r)
{
    model *m = &r->m;
    size_t key = any_key(r);
    /* No two keys are due at the same time, for then any order is right. */
    uint64_t when_ns = atomic_load(&r->clock.now_ns) + 1 + test_random(&r->random) % 2000;
    when_ns = when_ns / KEYS * KEYS + key;
    uint64_t now_ns = atomic_load(&r->clock.now_ns);
    uint64_t delay_ns = when_ns > now_ns ? when_ns - now_ns : 0;
    int answer = ki__workqueue_add_after(r->queue, r->names[key], delay_ns);
    if (refused(r, key, answer)) {
        return;
    }
    int expected = KI_ERR_STOPPED;
    if (delay_ns == 0) {
        expected = model_add(m, key);
    } else if (!m->shut_down) {
        expected = when_ns < m->due_ns[key];
        m->due_ns[key] = expected != 0 ? when_ns : m->due_ns[key];
    }
    m->retries += !m->shut_down;
    assert_int_equal(answer, expected);
}

static void step_get(run *r)
{
    model *m = &r->m;
    ki_work work = {NULL, NULL};
    int answer = ki_workqueue_try_get(r->queue, &work);
    model_release(r);
    if (m->line_len == 0) {
        assert_int_equal(answer, m->shut_down ? KI_ERR_STOPPED : 0);
        return;
    }
    size_t key = m->line[0];
    memmove(m->line, m->line + 1, --m->line_len * sizeof(m->line[0]));
    assert_int_equal(answer, 1);
    assert_string_equal(work.key, r->names[key]);
    assert_false(m->processing[key]); /* never two workers on one key */
    m->processing[key] = true;
    m->dirty[key] = false;
    r->works[key] = work;
    r->gets++;
}

static void step_done(run *r)
{
    model *m = &r->m;
    size_t key = (size_t)(test_random(&r->random) % KEYS);
    for (size_t i = 0; i < KEYS && !m->processing[key]; i++) {
        key = (key + 1) % KEYS;
    }
    if (!m->processing[key]) {
        return;
    }
    ki_workqueue_done(r->queue, &r->works[key]);
    m->processing[key] = false;
    if (m->dirty[key]) {
        model_push(m, key);
    }
    r->dones++;
}

static void step_shut_down(run *r)
{
    ki_workqueue_shut_down(r->queue);
    model_release(r);
    r->m.shut_down = true;
    for (size_t i = 0; i < KEYS; i++) {
        r->m.due_ns[i] = UINT64_MAX;
    }
}

/* The state of a key in the queue; idle if it is not known. */
static ki__work_state state_of(run *r, size_t key, uint64_t *ret_due_ns)
{
    uint64_t hash = ki__workqueue_hash(r->queue, name_of(r, key));
    const ki__work_entry *entry = ki__workqueue_find(r->queue, hash, name_of(r, key));
    *ret_due_ns = entry != NULL && ki__deadline_is_set(&entry->delay)
                      ? ki__deadlines_when(&r->queue->delayed, &entry->delay)
                      : UINT64_MAX;
    return entry != NULL ? (ki__work_state)entry->state : WORK_IDLE;
}

static void compare(run *r)
{
    const model *m = &r->m;
    size_t processing = 0;
    for (size_t i = 0; i < KEYS; i++) {
        ki__work_state expected = m->processing[i] ? (m->dirty[i] ? WORK_DIRTY : WORK_PROCESSING)
                                                   : (m->dirty[i] ? WORK_QUEUED : WORK_IDLE);
        uint64_t due_ns;
        assert_int_equal(state_of(r, i, &due_ns), expected);
        assert_int_equal(due_ns, m->due_ns[i]);
        processing += m->processing[i];
    }
    assert_int_equal(r->queue->line_len, m->line_len);
    assert_int_equal(r->queue->adds, m->adds);
    assert_int_equal(r->queue->retries, m->retries);
    assert_int_equal(ki_workqueue_is_drained(r->queue, KI_DRAIN_IDLE),
                     m->shut_down && processing == 0);
    assert_int_equal(ki_workqueue_is_drained(r->queue, KI_DRAIN_EMPTY),
                     m->shut_down && processing == 0 && m->line_len == 0);
    wq_check(r->queue);
}

static void step(run *r, size_t number)
{
    r->first_key += test_random(&r->random) % 10 == 0;
    r->alloc.fail_at = test_random(&r->random) % 4 == 0 ? r->alloc.calls + 1 : 0;
    uint64_t choice = test_random(&r->random) % 100;
    if (number == STEPS - 200) {
        step_shut_down(r);
    } else if (choice < 25) {
        step_add(r);
    } else if (choice < 45) {
        step_add_after(r);
    } else if (choice < 70) {
        step_get(r);
    } else if (choice < 90) {
        step_done(r);
    } else {
        fake_clock_advance(&r->clock, test_random(&r->random) % 400);
    }
    r->alloc.fail_at = 0;
    compare(r);
}

static void run_init(run *r, uint64_t seed)
{
    *r = (run){.random = seed, .seed = seed};
    fake_clock_init(&r->clock);
    test_alloc_init(&r->alloc);
    for (size_t i = 0; i < KEYS; i++) {
        r->m.due_ns[i] = UINT64_MAX;
        (void)snprintf(r->names[i], sizeof(r->names[i]), "%0*zu", (int)(3 + i % 90), i);
    }
    assert_int_equal(ki_workqueue_new(KI_OPTIONS(ki_workqueue_options, .alloc = &r->alloc.table,
                                                 .clock = &r->clock.table),
                                      &r->queue, NULL),
                     0);
}

static void a_queue_agrees_with_its_model(void **state)
{
    (void)state;
    static run r;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        run_init(&r, seed);
        for (size_t i = 0; i < STEPS; i++) {
            step(&r, i);
        }
        for (size_t i = 0; i < KEYS; i++) { /* whatever is left is handed out */
            step_get(&r);
            step_done(&r);
            compare(&r);
        }
        assert_true(ki_workqueue_is_drained(r.queue, KI_DRAIN_EMPTY));
        assert_true(r.gets > STEPS / 20 && r.gets == r.dones);
        assert_true(r.releases > STEPS / 50 && r.refused > 5);
        ki_workqueue_unref(r.queue);
        test_alloc_done(&r.alloc);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_queue_agrees_with_its_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
