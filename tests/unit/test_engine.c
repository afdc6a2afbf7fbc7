/* SPDX-License-Identifier: Apache-2.0 */
/* The engine: timers, tasks, reports.  threads: yes */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <kinformer/error.h>

#include "base/engine.h"
#include "support/test.h"
#include "support/world.h"

typedef struct fixture {
    test_alloc alloc;
    test_world world;
    ki_engine *engine;
} fixture;

static void begin(fixture *f)
{
    test_alloc_init(&f->alloc);
    test_world_init(&f->world);
    ki_engine_options options = test_world_engine_options(&f->world, &f->alloc.table);
    assert_int_equal(ki_engine_new(&options, &f->engine, NULL), 0);
}

static void end(fixture *f)
{
    assert_null(ki_engine_unref(f->engine));
    test_alloc_done(&f->alloc);
}

/* A timer that writes down when it fired, and a task that writes down that it ran. */
static char trace[64];

typedef struct named_timer {
    ki__timer timer;
    char name;
    uint64_t again_ns; /* sets itself again, if not 0 */
} named_timer;

typedef struct named_task {
    ki__task task;
    char name;
    ki_engine *again; /* posts itself again, once, if not NULL */
} named_task;

static void note(char name)
{
    size_t len = strlen(trace);
    assert_true(len + 1 < sizeof(trace));
    trace[len] = name;
    trace[len + 1] = '\0';
}

static void fire(ki__timer *timer)
{
    named_timer *named = KI__CONTAINER_OF(timer, named_timer, timer);
    note(named->name);
    if (named->again_ns != 0) {
        ki__timer_set_after(timer, named->again_ns);
    }
}

static void run(ki__task *task)
{
    named_task *named = KI__CONTAINER_OF(task, named_task, task);
    note(named->name);
    ki_engine *again = named->again;
    named->again = NULL;
    if (again != NULL) {
        assert_true(ki__engine_post(again, task));
    }
}

static void expect(const char *want)
{
    assert_string_equal(trace, want);
    trace[0] = '\0';
}

static void an_engine_needs_clock_and_randomness(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    ki_engine_options options = test_world_engine_options(&f.world, &f.alloc.table);
    ki_engine *engine = NULL;
    ki_error error = KI_ERROR_INIT;
    options.clock = NULL;
    assert_int_equal(ki_engine_new(&options, &engine, &error), -EINVAL);
    assert_non_null(strstr(error.message, "clock"));
    options = test_world_engine_options(&f.world, &f.alloc.table);
    options.random = NULL;
    assert_int_equal(ki_engine_new(&options, &engine, &error), -EINVAL);
    assert_non_null(strstr(error.message, "random"));
    assert_int_equal(ki_engine_new(NULL, &engine, &error), -EINVAL);
    end(&f);
}

static void an_idle_engine_has_no_deadline(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    assert_true(ki_engine_deadline(f.engine) == UINT64_MAX);
    assert_int_equal(ki_engine_run(f.engine, 0), 0);
    assert_null(ki_engine_ref(NULL));
    assert_null(ki_engine_unref(NULL));
    end(&f);
}

static void timers_fire_in_order_of_deadline_then_of_setting(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    named_timer t[4] = {{.name = 'a'}, {.name = 'b'}, {.name = 'c'}, {.name = 'd'}};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(ki__timer_init(&t[i].timer, f.engine, fire), 0);
    }
    ki__timer_set_after(&t[0].timer, 30);
    ki__timer_set_after(&t[1].timer, 10);
    ki__timer_set_after(&t[2].timer, 10);
    ki__timer_set_after(&t[3].timer, 20);
    assert_true(ki_engine_deadline(f.engine) == f.world.now + 10);
    assert_int_equal(ki_engine_run(f.engine, 0), 0);
    test_world_advance(&f.world, f.engine, 9);
    expect("");
    test_world_advance(&f.world, f.engine, 1);
    expect("bc");
    assert_false(ki__timer_is_set(&t[1].timer));
    ki__timer_cancel(&t[3].timer);
    ki__timer_set_after(&t[1].timer, 100);
    ki__timer_set_after(&t[1].timer, 5); /* the later setting counts */
    test_world_advance(&f.world, f.engine, 1000);
    expect("ba");
    ki__timer_set(&t[0].timer, UINT64_MAX);
    assert_false(ki__timer_is_set(&t[0].timer));
    ki__timer_set_after(&t[0].timer, UINT64_MAX); /* no overflow: never */
    assert_true(ki_engine_deadline(f.engine) == UINT64_MAX);
    for (size_t i = 0; i < 4; i++) {
        ki__timer_done(&t[i].timer);
        ki__timer_done(&t[i].timer); /* twice is allowed */
    }
    end(&f);
}

static void a_timer_may_be_set_from_its_own_firing(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    named_timer t = {.name = 't', .again_ns = 10};
    assert_int_equal(ki__timer_init(&t.timer, f.engine, fire), 0);
    ki__timer_set_after(&t.timer, 10);
    test_world_advance(&f.world, f.engine, 35);
    expect("ttt");
    ki__timer_done(&t.timer); /* while it is set */
    assert_true(ki_engine_deadline(f.engine) == UINT64_MAX);
    end(&f);
}

static void tasks_run_once_in_order_and_wake_the_owner(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    named_task a = {.name = 'a'};
    named_task b = {.name = 'b', .again = f.engine};
    ki__task_init(&a.task, run);
    ki__task_init(&b.task, run);
    assert_true(ki__engine_post(f.engine, &b.task));
    assert_true(ki__engine_post(f.engine, &a.task));
    assert_false(ki__engine_post(f.engine, &a.task)); /* waits already */
    assert_int_equal(f.world.wakes, 2);
    assert_true(ki_engine_deadline(f.engine) == 0);
    assert_int_equal(ki_engine_run(f.engine, 2), 2);
    expect("ba");
    assert_true(ki_engine_deadline(f.engine) == 0); /* b posted itself again */
    assert_int_equal(f.world.wakes, 2); /* that was inside, where nobody needs to be woken */
    assert_int_equal(ki_engine_run(f.engine, 0), 1);
    expect("b");
    end(&f);
}

static void tasks_and_timers_take_turns(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    named_task tasks[3] = {{.name = '1'}, {.name = '2'}, {.name = '3'}};
    named_timer timers[2] = {{.name = 'a'}, {.name = 'b'}};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(ki__timer_init(&timers[i].timer, f.engine, fire), 0);
        ki__timer_set(&timers[i].timer, f.world.now);
    }
    for (size_t i = 0; i < 3; i++) {
        ki__task_init(&tasks[i].task, run);
        (void)ki__engine_post(f.engine, &tasks[i].task);
    }
    assert_int_equal(ki_engine_run(f.engine, 3), 3);
    expect("1a2");
    assert_int_equal(ki_engine_run(f.engine, 0), 2);
    expect("3b");
    for (size_t i = 0; i < 2; i++) {
        ki__timer_done(&timers[i].timer);
    }
    end(&f);
}

typedef struct inner_run {
    ki__task task;
    ki_engine *engine;
    size_t steps;
} inner_run;

static void run_inside(ki__task *task)
{
    inner_run *inner = KI__CONTAINER_OF(task, inner_run, task);
    inner->steps = ki_engine_run(inner->engine, 0);
    (void)ki_engine_unref(inner->engine); /* the last reference: the run itself holds one more */
}

static void running_inside_itself_does_nothing_and_the_last_user_may_let_go(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    inner_run inner = {.engine = f.engine, .steps = 77};
    ki__task_init(&inner.task, run_inside);
    (void)ki__engine_post(f.engine, &inner.task);
    assert_int_equal(ki_engine_run(f.engine, 0), 1);
    assert_int_equal(inner.steps, 0);
    test_alloc_done(&f.alloc);
}

static void what_is_taken_back_does_not_run_but_may_be_posted_again(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    trace[0] = '\0';
    named_task a = {.name = 'a'};
    named_task b = {.name = 'b'};
    ki__task_init(&a.task, run);
    ki__task_init(&b.task, run);
    assert_false(ki__engine_unpost(f.engine, &a.task));
    assert_true(ki__engine_post(f.engine, &a.task));
    assert_true(ki__engine_post(f.engine, &b.task));
    assert_true(ki__engine_unpost(f.engine, &a.task));
    assert_false(ki__engine_unpost(f.engine, &a.task));
    test_world_settle(f.engine);
    assert_string_equal(trace, "b");
    assert_true(ki__engine_post(f.engine, &a.task));
    test_world_settle(f.engine);
    assert_string_equal(trace, "ba");
    end(&f);
}

typedef struct looker {
    ki__task task;
    const ki_engine *engine;
    const ki_engine *other;
} looker;

static void look_whether_inside(ki__task *task)
{
    const looker *look = KI__CONTAINER_OF(task, looker, task);
    assert_true(ki__engine_is_inside(look->engine));
    assert_false(ki__engine_is_inside(look->other));
}

static void a_thread_knows_what_it_is_inside_of(void **state)
{
    (void)state;
    fixture f;
    fixture g;
    begin(&f);
    begin(&g);
    looker look = {.engine = f.engine, .other = g.engine};
    ki__task_init(&look.task, look_whether_inside);
    assert_true(ki__engine_post(f.engine, &look.task));
    test_world_settle(f.engine);
    assert_false(ki__engine_is_inside(f.engine));
    uintptr_t before = ki__engine_enter(f.engine); /* as a loop does around its callbacks */
    assert_true(ki__engine_is_inside(f.engine));
    assert_true(ki__engine_post(f.engine, &look.task));
    test_world_settle(f.engine);
    assert_true(ki__engine_is_inside(f.engine)); /* still */
    ki__engine_leave(f.engine, before);
    assert_false(ki__engine_is_inside(f.engine));
    assert_int_equal(f.world.wakes, 1); /* of the first post only */
    end(&g);
    end(&f);
}

typedef struct heard {
    size_t count;
    uint64_t suppressed;
    char text[128];
} heard;

static void hear(const ki_report *report, void *user)
{
    heard *h = user;
    h->count++;
    h->suppressed += report->suppressed;
    int len = snprintf(h->text, sizeof(h->text), "%s|%s|%.*s", report->component, report->name,
                       (int)report->key.len, report->key.ptr);
    assert_true(len > 0 && (size_t)len < sizeof(h->text));
}

static void reports_are_limited_and_suppressed_ones_are_counted(void **state)
{
    (void)state;
    test_world world;
    test_world_init(&world);
    heard h = {0};
    ki_engine_options options = test_world_engine_options(&world, NULL);
    options.on_report = hear;
    options.report_user = &h;
    options.reports_per_second = 3;
    ki_engine *engine;
    assert_int_equal(ki_engine_new(&options, &engine, NULL), 0);
    ki_error error = {.code = KI_ERR_LIMIT};
    for (size_t i = 0; i < 10; i++) {
        ki__engine_report(engine, "part", "pods", ki_str_from(""), &error);
    }
    assert_int_equal(h.count, 3);
    assert_string_equal(h.text, "part|pods|");
    world.now += TEST_SECOND;
    ki__engine_report(engine, "part", NULL, ki_str_from("a/b"), &error);
    assert_int_equal(h.count, 4);
    assert_int_equal(h.suppressed, 7);
    assert_string_equal(h.text, "part||a/b");
    ki__engine_report(engine, "part", NULL, ki_str_from("a/b"), &error);
    assert_int_equal(h.suppressed, 7); /* reported once */
    (void)ki_engine_unref(engine);
}

static void log_heard(const ki_log_record *record, void *user)
{
    heard *h = user;
    h->count++;
    assert_string_equal(record->component, "part");
    assert_int_equal(record->level, KI_LOG_ERROR);
}

static void without_a_hook_reports_are_logged(void **state)
{
    (void)state;
    test_world world;
    test_world_init(&world);
    heard h = {0};
    ki_log log = {.write = log_heard, .user = &h};
    ki_engine_options options = test_world_engine_options(&world, NULL);
    options.log = &log;
    ki_engine *engine;
    assert_int_equal(ki_engine_new(&options, &engine, NULL), 0);
    ki_error error = {.code = -ENOMEM};
    ki__engine_report(engine, "part", NULL, ki_str_from(NULL), &error);
    assert_int_equal(h.count, 1);
    assert_ptr_equal(ki__engine_log(engine), &log);
    assert_ptr_equal(ki__engine_clock(engine), &world.clock);
    (void)ki_engine_unref(engine);
}

static void random_numbers_stay_below_their_limit_and_differ(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    uint64_t seen = 0;
    for (size_t i = 0; i < 200; i++) {
        uint64_t n = ki__engine_random(f.engine, 8);
        assert_true(n < 8);
        seen |= UINT64_C(1) << n;
    }
    assert_int_equal(seen, 0xff);
    ki__hash_key a = ki__engine_hash_key(f.engine);
    ki__hash_key b = ki__engine_hash_key(f.engine);
    assert_true(a.k0 != b.k0 && a.k1 != b.k1);
    end(&f);
}

static int scenario(const ki_alloc *alloc, void *user)
{
    (void)user;
    test_world world;
    test_world_init(&world);
    ki_engine_options options = test_world_engine_options(&world, alloc);
    ki_engine *engine;
    int r = ki_engine_new(&options, &engine, NULL);
    if (r < 0) {
        return r;
    }
    named_timer timers[40] = {0};
    for (size_t i = 0; i < 40 && r == 0; i++) {
        timers[i].name = 'x';
        r = ki__timer_init(&timers[i].timer, engine, fire);
        if (r == 0) {
            ki__timer_set_after(&timers[i].timer, 100 - i); /* never fails */
        }
    }
    test_world_advance(&world, engine, 200);
    trace[0] = '\0';
    for (size_t i = 0; i < 40; i++) {
        ki__timer_done(&timers[i].timer);
    }
    (void)ki_engine_unref(engine);
    return r;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    test_alloc_sweep(scenario, NULL);
}

/* Threads post while one runs; every post is seen by a run that comes after it. */
enum { POSTERS = 4, POSTS = 2000 };

typedef struct counter {
    ki__task task;
    uint64_t wanted; /* guarded by the lock below */
    uint64_t seen;
} counter;

static pthread_mutex_t counters_lock = PTHREAD_MUTEX_INITIALIZER;

typedef struct poster {
    ki_engine *engine;
    counter counter;
} poster;

static void count(ki__task *task)
{
    counter *c = KI__CONTAINER_OF(task, counter, task);
    pthread_mutex_lock(&counters_lock);
    c->seen = c->wanted;
    pthread_mutex_unlock(&counters_lock);
}

static void *post_many(void *user)
{
    poster *p = user;
    for (size_t i = 0; i < POSTS; i++) {
        pthread_mutex_lock(&counters_lock);
        p->counter.wanted++;
        pthread_mutex_unlock(&counters_lock);
        (void)ki__engine_post(p->engine, &p->counter.task);
    }
    return NULL;
}

static void no_wake(void *user)
{
    (void)user;
}

static void posts_from_many_threads_are_all_seen(void **state)
{
    (void)state;
    test_world world;
    test_world_init(&world);
    ki_engine_options options = test_world_engine_options(&world, NULL);
    options.wake = no_wake;
    ki_engine *engine;
    assert_int_equal(ki_engine_new(&options, &engine, NULL), 0);
    poster posters[POSTERS] = {0};
    pthread_t threads[POSTERS];
    for (size_t i = 0; i < POSTERS; i++) {
        posters[i].engine = engine;
        ki__task_init(&posters[i].counter.task, count);
        assert_int_equal(pthread_create(&threads[i], NULL, post_many, &posters[i]), 0);
    }
    for (size_t i = 0; i < 1000; i++) {
        (void)ki_engine_run(engine, 0);
        (void)ki_engine_deadline(engine);
    }
    for (size_t i = 0; i < POSTERS; i++) {
        pthread_join(threads[i], NULL);
    }
    test_world_settle(engine);
    for (size_t i = 0; i < POSTERS; i++) {
        assert_int_equal(posters[i].counter.seen, POSTS);
    }
    (void)ki_engine_unref(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_engine_needs_clock_and_randomness),
        cmocka_unit_test(an_idle_engine_has_no_deadline),
        cmocka_unit_test(timers_fire_in_order_of_deadline_then_of_setting),
        cmocka_unit_test(a_timer_may_be_set_from_its_own_firing),
        cmocka_unit_test(tasks_run_once_in_order_and_wake_the_owner),
        cmocka_unit_test(tasks_and_timers_take_turns),
        cmocka_unit_test(running_inside_itself_does_nothing_and_the_last_user_may_let_go),
        cmocka_unit_test(what_is_taken_back_does_not_run_but_may_be_posted_again),
        cmocka_unit_test(a_thread_knows_what_it_is_inside_of),
        cmocka_unit_test(reports_are_limited_and_suppressed_ones_are_counted),
        cmocka_unit_test(without_a_hook_reports_are_logged),
        cmocka_unit_test(random_numbers_stay_below_their_limit_and_differ),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(posts_from_many_threads_are_all_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
