/* SPDX-License-Identifier: Apache-2.0 */
/* The engine. One lock protects the timer heap, the task queue and the report rate limit; it is
 * never held during a callback. Heap space for a timer is reserved when the timer is created, so
 * that setting it cannot fail; tasks are intrusive list links, so that posting cannot fail. */
#include "base/engine.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"
#include "base/log.h"
#include "base/options.h"
#include "base/place.h"
#include "base/process.h"
#include "base/refs.h"
#include "base/sync.h"
#include "base/time_units.h"

enum { TIMERS_MAX = 1 << 20, STEPS_DEFAULT = 1000, REPORTS_DEFAULT = 10 };

struct ki_engine {
    ki__refs refs;
    uint64_t process;
    ki_engine_options options;
    ki__pool *pool; /* or NULL */
    ki__list members;
    bool running; /* this and the next two: only the thread that runs the engine */
    ki__place runs_at;
    bool left;                /* a callback never returned, and that was logged */
    _Atomic uintptr_t inside; /* this_thread() of the thread inside the engine; 0 if none */
    ki__mutex lock;
    ki__heap timers;
    size_t timer_count; /* created, whether set or not */
    uint64_t timer_order;
    ki__list tasks;
    uint64_t random_state;
    uint64_t report_second;
    uint32_t report_count;
    uint64_t suppressed;
};

/* ---- current thread ---- */

/* An identifier of this thread, unique while it lives. In a shared library, taking the address of a
 * thread-local variable costs a function call; reading the thread pointer does not. */
static uintptr_t this_thread(void)
{
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__)
    return (uintptr_t)__builtin_thread_pointer();
#else
    static _Thread_local char mark;
    return (uintptr_t)&mark;
#endif
}

/* Only this thread ever stores its own identifier, so relaxed order suffices: the load yields this
 * thread's own store, another thread's identifier, or 0. */
bool ki__engine_is_inside(const ki_engine *engine)
{
    return atomic_load_explicit(&engine->inside, memory_order_relaxed) == this_thread();
}

uintptr_t ki__engine_enter(ki_engine *engine)
{
    uintptr_t before = atomic_load_explicit(&engine->inside, memory_order_relaxed);
    atomic_store_explicit(&engine->inside, this_thread(), memory_order_relaxed);
    return before;
}

void ki__engine_leave(ki_engine *engine, uintptr_t before)
{
    atomic_store_explicit(&engine->inside, before, memory_order_relaxed);
}

/* ---- creation ---- */

static bool timer_before(const ki__heap_node *a, const ki__heap_node *b)
{
    const ki__timer *x = KI__CONTAINER_OF(a, const ki__timer, node);
    const ki__timer *y = KI__CONTAINER_OF(b, const ki__timer, node);
    return x->deadline != y->deadline ? x->deadline < y->deadline : x->order < y->order;
}

static int check_options(const ki_engine_options *o, ki_error *error)
{
    if (o->clock == NULL || o->clock->monotonic_ns == NULL || o->clock->realtime_ns == NULL) {
        return ki__error_set(error, -EINVAL, "clock: monotonic_ns and realtime_ns must be set");
    }
    if (o->random == NULL || o->random->fill == NULL) {
        return ki__error_set(error, -EINVAL, "random: fill must be set");
    }
    return 0;
}

static int make_pool(const ki_engine_options *o, ki__pool **ret_pool)
{
    if (o->threads == NULL) {
        return 0;
    }
    ki__pool_options options = {
        .alloc = o->alloc,
        .clock = o->clock,
        .log = o->log,
        .threads = o->threads,
        .limit = o->handler_threads,
    };
    return ki__pool_new(&options, ret_pool);
}

int ki_engine_new(const ki_engine_options *options, ki_engine **ret_engine, ki_error *error)
{
    KI__REQUIRE(options, error);
    KI__REQUIRE(ret_engine, error);
    ki_engine_options o = {0};
    int r = KI__TAKE(ki_engine_options, &o, options, error);
    if (r < 0) {
        return r;
    }
    r = check_options(&o, error);
    if (r < 0) {
        return r;
    }
    o.alloc = ki__alloc_or_default(o.alloc);
    uint64_t seed;
    r = o.random->fill(&seed, sizeof(seed), o.random->user);
    if (r < 0) {
        return ki__error_set(error, r, "random: fill failed");
    }
    ki_engine *engine = ki__alloc_zero(o.alloc, sizeof(*engine));
    if (engine == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    r = ki__mutex_init(&engine->lock);
    if (r < 0) {
        ki__free(o.alloc, engine);
        return ki__error_code(error, r);
    }
    r = make_pool(&o, &engine->pool);
    if (r < 0) {
        ki__mutex_done(&engine->lock);
        ki__free(o.alloc, engine);
        return ki__error_code(error, r);
    }
    engine->process = ki__process();
    engine->options = o;
    engine->random_state = seed;
    ki__refs_init(&engine->refs);
    ki__heap_init(&engine->timers, o.alloc, timer_before, TIMERS_MAX);
    ki__list_init(&engine->tasks);
    ki__list_init(&engine->members);
    *ret_engine = engine;
    return 0;
}

ki_engine *ki_engine_ref(ki_engine *engine)
{
    if (engine != NULL) {
        ki__refs_take(&engine->refs);
    }
    return engine;
}

bool ki__engine_is_inherited(const ki_engine *engine)
{
    return ki__is_inherited(engine->process);
}

ki_engine *ki_engine_unref(ki_engine *engine)
{
    if (engine == NULL || !ki__refs_drop(&engine->refs) || ki__engine_is_inherited(engine)) {
        return NULL;
    }
    ki_assert(engine->timer_count == 0 && ki__list_is_empty(&engine->tasks));
    if (engine->options.wake_destroy != NULL) {
        engine->options.wake_destroy(engine->options.wake_user);
    }
    ki__members_remove_all(&engine->members);
    ki__heap_done(&engine->timers);
    ki__mutex_done(&engine->lock);
    ki__pool_unref(engine->pool);
    ki__free(engine->options.alloc, engine);
    return NULL;
}

/* ---- timers ---- */

int ki__timer_init(ki__timer *timer, ki_engine *engine, void (*fire)(ki__timer *timer))
{
    if (ki__engine_is_inherited(engine)) {
        return KI_ERR_STOPPED;
    }
    ki__mutex_lock(&engine->lock);
    int r = ki__heap_reserve(&engine->timers, engine->timer_count + 1);
    if (r == 0) {
        engine->timer_count++;
    }
    ki__mutex_unlock(&engine->lock);
    if (r == 0) {
        *timer = (ki__timer){.engine = engine, .fire = fire};
    }
    return r;
}

void ki__timer_done(ki__timer *timer)
{
    ki_engine *engine = timer->engine;
    if (engine == NULL || ki__engine_is_inherited(engine)) {
        return;
    }
    ki__mutex_lock(&engine->lock);
    ki__heap_remove(&engine->timers, &timer->node);
    engine->timer_count--;
    ki__mutex_unlock(&engine->lock);
    timer->engine = NULL;
}

void ki__timer_set(ki__timer *timer, uint64_t deadline)
{
    ki_engine *engine = timer->engine;
    ki__mutex_lock(&engine->lock);
    ki__heap_remove(&engine->timers, &timer->node);
    if (deadline != UINT64_MAX) {
        timer->deadline = deadline;
        timer->order = engine->timer_order++;
        int r = ki__heap_push(&engine->timers, &timer->node);
        ki_assert(r == 0); /* space was reserved for every timer */
    }
    ki__mutex_unlock(&engine->lock);
}

void ki__timer_set_after(ki__timer *timer, uint64_t delay_ns)
{
    uint64_t now = ki__engine_now(timer->engine);
    ki__timer_set(timer, delay_ns < UINT64_MAX - now ? now + delay_ns : UINT64_MAX);
}

void ki__timer_cancel(ki__timer *timer)
{
    if (timer->engine != NULL) {
        ki__timer_set(timer, UINT64_MAX);
    }
}

bool ki__timer_is_set(const ki__timer *timer)
{
    return timer->node.position != 0;
}

/* ---- tasks ---- */

void ki__task_init(ki__task *task, void (*run)(ki__task *task))
{
    ki__list_init(&task->link);
    task->posted = false;
    task->run = run;
}

/* No wake-up is needed if this thread is inside the engine, since it will check the tasks again:
 * ki_engine_run() runs the task before it returns, or returns `max_steps`, which requires the
 * caller to check again; a loop that called ki__engine_enter() checks ki_engine_deadline() after
 * leaving. Other threads always send one: the thread inside may just have seen an empty list. */
bool ki__engine_post(ki_engine *engine, ki__task *task)
{
    /* Once the lock is released the task may run and release the last reference to the engine. */
    void (*wake)(void *user) = engine->options.wake;
    void *wake_user = engine->options.wake_user;
    if (ki__engine_is_inherited(engine)) {
        return false;
    }
    bool inside = ki__engine_is_inside(engine);
    ki__mutex_lock(&engine->lock);
    bool posted = !task->posted;
    if (posted) {
        task->posted = true;
        ki__list_push_back(&engine->tasks, &task->link);
    }
    ki__mutex_unlock(&engine->lock);
    if (posted && !inside && wake != NULL) {
        wake(wake_user);
    }
    return posted;
}

bool ki__engine_unpost(ki_engine *engine, ki__task *task)
{
    if (ki__engine_is_inherited(engine)) {
        return false;
    }
    ki__mutex_lock(&engine->lock);
    bool was_posted = task->posted;
    task->posted = false;
    if (was_posted) {
        ki__list_remove(&task->link);
    }
    ki__mutex_unlock(&engine->lock);
    return was_posted;
}

/* ---- running ---- */

/* Requires the lock. */
static uint64_t first_deadline(const ki_engine *engine)
{
    ki__heap_node *first = ki__heap_peek(&engine->timers);
    return first != NULL ? KI__CONTAINER_OF(first, ki__timer, node)->deadline : UINT64_MAX;
}

uint64_t ki__engine_overdue(ki_engine *engine)
{
    uint64_t now = ki__engine_now(engine);
    ki__mutex_lock(&engine->lock);
    uint64_t deadline = first_deadline(engine);
    ki__mutex_unlock(&engine->lock);
    return now > deadline ? now - deadline : 0;
}

uint64_t ki_engine_deadline(ki_engine *engine)
{
    if (ki__engine_is_inherited(engine)) {
        return UINT64_MAX;
    }
    ki__mutex_lock(&engine->lock);
    uint64_t deadline = ki__list_is_empty(&engine->tasks) ? first_deadline(engine) : 0;
    ki__mutex_unlock(&engine->lock);
    return deadline;
}

/* Removes and returns the first task, or NULL, and the time of the first timer. */
static ki__task *take_task(ki_engine *engine, uint64_t *ret_deadline)
{
    ki__mutex_lock(&engine->lock);
    ki__list *link = ki__list_pop_front(&engine->tasks);
    ki__task *task = link != NULL ? KI__CONTAINER_OF(link, ki__task, link) : NULL;
    if (task != NULL) {
        task->posted = false;
    }
    *ret_deadline = first_deadline(engine);
    ki__mutex_unlock(&engine->lock);
    return task;
}

/* Runs the first timer if it is due. `deadline` is the one that was first a moment ago; it usually
 * avoids taking the lock. */
static bool run_timer(ki_engine *engine, uint64_t deadline)
{
    uint64_t now = deadline != UINT64_MAX ? ki__engine_now(engine) : 0;
    if (now < deadline) {
        return false;
    }
    ki__mutex_lock(&engine->lock);
    ki__heap_node *first = ki__heap_peek(&engine->timers);
    ki__timer *timer = first != NULL ? KI__CONTAINER_OF(first, ki__timer, node) : NULL;
    if (timer != NULL && timer->deadline <= now) {
        ki__heap_remove(&engine->timers, first);
    } else {
        timer = NULL;
    }
    ki__mutex_unlock(&engine->lock);
    if (timer != NULL) {
        timer->fire(timer);
    }
    return timer != NULL;
}

/* The engine is already running: called from inside a callback, or a callback never returned. */
static void refuse_run(ki_engine *engine, ki__place here)
{
    if (engine->left || !ki__place_is_left(engine->runs_at, here)) {
        return;
    }
    engine->left = true;
    KI__LOG(engine->options.log, KI_LOG_ERROR, "engine",
            "a callback exited by an exception or longjmp(); the engine is stopped");
}

/* Alternates between tasks and timers, so that neither can starve the other. */
size_t ki_engine_run(ki_engine *engine, size_t max_steps)
{
    size_t steps = 0;
    static _Thread_local char here;
    ki__place place = KI__PLACE_HERE(here);
    if (ki__engine_is_inherited(engine)) {
        return 0;
    }
    if (engine->running) {
        refuse_run(engine, place);
        return 0;
    }
    max_steps = max_steps != 0 ? max_steps : STEPS_DEFAULT;
    (void)ki_engine_ref(engine); /* a callback may release the last reference */
    engine->running = true;
    engine->runs_at = place;
    uintptr_t before = ki__engine_enter(engine);
    bool more = true;
    while (more && steps < max_steps) {
        uint64_t deadline;
        ki__task *task = take_task(engine, &deadline);
        if (task != NULL) {
            task->run(task);
            steps++;
        }
        bool timer = steps < max_steps && run_timer(engine, deadline);
        steps += timer;
        more = task != NULL || timer;
    }
    ki__engine_leave(engine, before);
    engine->running = false;
    (void)ki_engine_unref(engine);
    return steps;
}

/* ---- environment ---- */

const ki_alloc *ki__engine_alloc(const ki_engine *engine)
{
    return engine->options.alloc;
}

const ki_clock *ki__engine_clock(const ki_engine *engine)
{
    return engine->options.clock;
}

const ki_random *ki__engine_entropy(const ki_engine *engine)
{
    return engine->options.random;
}

ki__list *ki__engine_members(ki_engine *engine)
{
    return &engine->members;
}

ki__pool *ki__engine_pool(const ki_engine *engine)
{
    return engine->pool;
}

const ki_log *ki__engine_log(const ki_engine *engine)
{
    return engine->options.log;
}

uint64_t ki__engine_now(const ki_engine *engine)
{
    const ki_clock *clock = engine->options.clock;
    return clock->monotonic_ns(clock->user);
}

/* SplitMix64 (Steele, Lea and Flood, 2014). */
static uint64_t next_random(ki_engine *engine)
{
    ki__mutex_lock(&engine->lock);
    engine->random_state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = engine->random_state;
    ki__mutex_unlock(&engine->lock);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

uint64_t ki__engine_random(ki_engine *engine, uint64_t limit)
{
    ki_assert(limit != 0);
    return next_random(engine) % limit; /* modulo bias does not matter for jitter */
}

ki__hash_key ki__engine_hash_key(ki_engine *engine)
{
    return ki__hash_key_make(engine->options.random, engine);
}

static bool may_report(ki_engine *engine, uint64_t *ret_suppressed)
{
    uint64_t second = ki__engine_now(engine) / KI__SECOND_NS;
    uint32_t most = engine->options.reports_per_second;
    most = most != 0 ? most : REPORTS_DEFAULT;
    ki__mutex_lock(&engine->lock);
    if (second != engine->report_second) {
        engine->report_second = second;
        engine->report_count = 0;
    }
    bool may = engine->report_count < most;
    if (may) {
        engine->report_count++;
        *ret_suppressed = engine->suppressed;
        engine->suppressed = 0;
    } else {
        engine->suppressed++;
    }
    ki__mutex_unlock(&engine->lock);
    return may;
}

void ki__engine_report(ki_engine *engine, const char *component, const char *name, ki_str key,
                       const ki_error *error)
{
    ki_report report = {
        .size = sizeof(report),
        .component = component,
        .name = name != NULL ? name : "",
        .key = key,
        .error = error,
    };
    if (!may_report(engine, &report.suppressed)) {
        return;
    }
    if (engine->options.on_report != NULL) {
        engine->options.on_report(&report, engine->options.report_user);
        return;
    }
    KI__LOG(engine->options.log, KI_LOG_ERROR, component, "failed",
            {"name", ki_str_from(report.name)}, {"key", report.key},
            {"code", ki_str_from(ki_error_name(error->code))},
            {"error", ki_str_from(error->message)});
}
