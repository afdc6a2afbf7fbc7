/* SPDX-License-Identifier: Apache-2.0 */
/* The loop: an epoll set with an eventfd for wake-ups and a timerfd for the engine's next deadline,
 * so that an external loop has to poll only the epoll descriptor. The eventfd also belongs to the
 * engine, which may outlive the loop and be posted to even then.
 *
 * Two reference counts: `users` hold the loop, and the last of them stops it; `parts` keep its
 * memory: one for all users together, one for the thread. */
#include <errno.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/engine.h"
#include "base/error.h"
#include "base/options.h"
#include "base/time_units.h"
#include "loop/state.h"

enum { STEPS_DEFAULT = 1000, SLICE = 8 };
#define DISPATCH_NS (10 * KI__MS_NS)

/* ---- creation ---- */

static void wake(void *user)
{
    ki__wakeup_send(user);
}

static void release_wakeup(void *user)
{
    ki__wakeup_unref(user);
}

static void drain(ki__watch *watch, uint32_t events)
{
    (void)events;
    uint64_t count;
    ssize_t got;
    do {
        got = read(watch->fd, &count, sizeof(count));
    } while (got < 0 && errno == EINTR);
}

/* ki__wakeup_send() explains why the order matters. */
static void drain_wakeup(ki__watch *watch, uint32_t events)
{
    drain(watch, events);
    ki__wakeup_drained(watch->loop->wakeup);
}

static void drain_timer(ki__watch *watch, uint32_t events)
{
    drain(watch, events);
    watch->loop->armed = UINT64_MAX;
}

static int open_descriptors(ki_loop *loop)
{
    loop->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (loop->epoll < 0) {
        return -errno;
    }
    loop->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (loop->timer < 0) {
        return -errno;
    }
    int r = ki__watch_add(&loop->wakeup_watch, loop, ki__wakeup_fd(loop->wakeup), EPOLLIN,
                          drain_wakeup);
    if (r < 0) {
        return r;
    }
    return ki__watch_add(&loop->timer_watch, loop, loop->timer, EPOLLIN, drain_timer);
}

static int make_engine(ki_loop *loop, const ki_loop_options *o, ki_error *error)
{
    int r = ki__wakeup_new(loop->alloc, &loop->wakeup);
    if (r < 0) {
        return ki__error_set(error, r, "cannot create a loop: %s", ki_error_text(r));
    }
    ki_engine_options options = KI_OPTIONS_INIT(ki_engine_options);
    options.alloc = loop->alloc;
    options.clock = o->clock != NULL ? o->clock : ki_clock_system();
    options.random = o->random != NULL ? o->random : ki_random_system();
    options.log = o->log;
    options.wake = wake;
    options.wake_user = loop->wakeup;
    options.wake_destroy = release_wakeup;
    options.threads = o->no_threads ? NULL : ki__wakeup_threads(loop->wakeup);
    options.handler_threads = o->handler_threads;
    options.on_report = o->on_report;
    options.report_user = o->report_user;
    options.reports_per_second = o->reports_per_second;
    ki__wakeup_ref(loop->wakeup); /* the engine's */
    r = ki_engine_new(&options, &loop->engine, error);
    if (r < 0) {
        ki__wakeup_unref(loop->wakeup);
    }
    return r;
}

static void close_descriptors(ki_loop *loop)
{
    if (loop->timer >= 0) {
        (void)close(loop->timer);
    }
    if (loop->epoll >= 0) {
        (void)close(loop->epoll);
    }
}

void ki__loop_release(ki_loop *loop)
{
    if (ki__refs_drop(&loop->parts)) {
        close_descriptors(loop);
        if (loop->engine != NULL) {
            (void)ki__engine_unpost(loop->engine, &loop->stop_task);
        }
        (void)ki_engine_unref(loop->engine);
        if (loop->wakeup != NULL) {
            ki__wakeup_unref(loop->wakeup);
        }
        ki__cond_done(&loop->changed);
        ki__mutex_done(&loop->lock);
        ki__free(loop->alloc, loop);
    }
}

static int init_locks(ki_loop *loop)
{
    int r = ki__mutex_init(&loop->lock);
    if (r < 0) {
        return r;
    }
    r = ki__cond_init(&loop->changed);
    if (r < 0) {
        ki__mutex_done(&loop->lock);
    }
    return r;
}

int ki_loop_new(const ki_loop_options *options, ki_loop **ret_loop, ki_error *error)
{
    KI__REQUIRE(ret_loop, error);
    ki_loop_options o = {0};
    int r = KI__TAKE(ki_loop_options, &o, options, error);
    if (r < 0) {
        return r;
    }
    const ki_alloc *alloc = ki__alloc_or_default(o.alloc);
    ki_loop *loop = ki__alloc_zero(alloc, sizeof(*loop));
    if (loop == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    loop->alloc = alloc;
    loop->steps = o.steps != 0 ? o.steps : STEPS_DEFAULT;
    loop->epoll = -1;
    loop->timer = -1;
    loop->armed = UINT64_MAX;
    ki__loop_init_stop(loop);
    ki__refs_init(&loop->users);
    ki__refs_init(&loop->parts);
    r = init_locks(loop);
    if (r < 0) {
        ki__free(alloc, loop);
        return ki__error_code(error, r);
    }
    r = make_engine(loop, &o, error);
    if (r == 0) {
        r = open_descriptors(loop);
        r = r < 0 ? ki__error_set(error, r, "cannot create a loop: %s", ki_error_text(r)) : 0;
    }
    if (r < 0) {
        ki__loop_release(loop);
        return r;
    }
    *ret_loop = loop;
    return 0;
}

ki_loop *ki_loop_ref(ki_loop *loop)
{
    if (loop != NULL) {
        ki__refs_take(&loop->users);
    }
    return loop;
}

ki_engine *ki_loop_engine(ki_loop *loop)
{
    return loop->engine;
}

int ki_loop_fd(ki_loop *loop)
{
    KI__REQUIRE(loop, NULL);
    return loop->epoll;
}

/* ---- one dispatch ---- */

void ki__loop_arm(ki_loop *loop)
{
    uint64_t deadline = ki_engine_deadline(loop->engine);
    if (deadline == loop->armed) {
        return;
    }
    /* Zero disarms a timerfd, so a deadline of 0 becomes 1 ns. */
    uint64_t at = deadline == UINT64_MAX ? 0 : deadline == 0 ? 1 : deadline;
    struct itimerspec spec = {.it_value.tv_sec = (time_t)(at / KI__SECOND_NS),
                              .it_value.tv_nsec = (long)(at % KI__SECOND_NS)};
    if (timerfd_settime(loop->timer, TFD_TIMER_ABSTIME, &spec, NULL) == 0) {
        loop->armed = deadline;
    }
}

/* Limited by steps and by time: descriptors, and an external loop that embeds this one, wait
 * meanwhile. */
static size_t run_engine(ki_loop *loop)
{
    uint64_t until = ki__engine_now(loop->engine) + DISPATCH_NS;
    size_t done = 0;
    size_t more = 0;
    do {
        size_t left = loop->steps - done;
        more = ki_engine_run(loop->engine, left < SLICE ? left : SLICE);
        done += more;
    } while (more == SLICE && done < loop->steps && ki__engine_now(loop->engine) < until);
    return done;
}

/* Descriptors first, then the engine, since they may make timers or tasks due. Tasks posted by this
 * thread meanwhile send no wake-up: the engine runs after all callbacks, and if it leaves work
 * undone the timer is armed, so that the loop's descriptor is readable when this returns. */
int ki__loop_dispatch_once(ki_loop *loop, int timeout_ms)
{
    int count = epoll_wait(loop->epoll, loop->events, KI__LOOP_EVENTS, timeout_ms);
    int done = 0;
    uintptr_t before = ki__engine_enter(loop->engine);
    loop->event_count = count > 0 ? count : 0;
    for (loop->event_next = 0; loop->event_next < loop->event_count;) {
        const struct epoll_event *event = &loop->events[loop->event_next++];
        ki__watch *watch = event->data.ptr;
        if (watch != NULL) {
            bool own = watch == &loop->wakeup_watch || watch == &loop->timer_watch;
            watch->ready(watch, event->events);
            done += own ? 0 : 1;
        }
    }
    loop->event_count = 0;
    done += (int)run_engine(loop);
    ki__engine_leave(loop->engine, before);
    ki__loop_arm(loop);
    return done;
}

bool ki__loop_is_mine(const ki_loop *loop)
{
    return loop->runner != KI__RUNNER_NOBODY && pthread_equal(loop->runner_thread, pthread_self());
}

/* Makes a helper stop running the loop. */
static void send_helper_away(ki_loop *loop)
{
    loop->wanted++;
    ki__wakeup_send(loop->wakeup);
    while (loop->runner == KI__RUNNER_HELPER) {
        ki__cond_wait(&loop->changed, &loop->lock);
    }
    loop->wanted--;
    ki__cond_wake_all(&loop->changed); /* threads waiting to run the loop may proceed */
}

int ki__loop_take_over(ki_loop *loop, ki__runner as)
{
    bool helped = loop->runner == KI__RUNNER_HELPER && !ki__loop_is_mine(loop);
    if (helped && as == KI__RUNNER_ONE_DISPATCH) {
        return -EAGAIN;
    }
    if (helped && as == KI__RUNNER_FOR_EVER) {
        send_helper_away(loop);
    }
    if (loop->runner != KI__RUNNER_NOBODY) {
        return KI_ERR_BUSY;
    }
    if (loop->stopped) {
        return KI_ERR_STOPPED;
    }
    loop->runner = as;
    loop->runner_thread = pthread_self();
    return 0;
}

static int take_over(ki_loop *loop, ki__runner as)
{
    if (ki__engine_is_inherited(loop->engine)) {
        return KI_ERR_STOPPED;
    }
    ki__mutex_lock(&loop->lock);
    int r = ki__loop_take_over(loop, as);
    ki__mutex_unlock(&loop->lock);
    return r;
}

static void give_up(ki_loop *loop)
{
    ki__mutex_lock(&loop->lock);
    ki__loop_give_up(loop);
    ki__mutex_unlock(&loop->lock);
}

int ki_loop_dispatch(ki_loop *loop)
{
    KI__REQUIRE(loop, NULL);
    int r = take_over(loop, KI__RUNNER_ONE_DISPATCH);
    if (r < 0) {
        return r == -EAGAIN ? 0 : r; /* the helper does the work at this moment */
    }
    (void)ki_loop_ref(loop); /* a callback may release the last reference */
    r = ki__loop_dispatch_once(loop, 0);
    give_up(loop);
    (void)ki_loop_unref(loop);
    return r;
}

int ki_loop_timeout(ki_loop *loop)
{
    KI__REQUIRE(loop, NULL);
    uint64_t deadline = ki_engine_deadline(loop->engine);
    uint64_t now = ki__engine_now(loop->engine);
    if (deadline == UINT64_MAX) {
        return -1;
    }
    uint64_t left = deadline > now ? (deadline - now + KI__MS_NS - 1) / KI__MS_NS : 0;
    return left < INT32_MAX ? (int)left : INT32_MAX;
}

/* ---- running permanently ---- */

bool ki__loop_is_stopped(ki_loop *loop)
{
    if (ki__engine_is_inherited(loop->engine)) {
        return true;
    }
    ki__mutex_lock(&loop->lock);
    bool stopped = loop->stopped;
    ki__mutex_unlock(&loop->lock);
    return stopped;
}

static void run_for_ever(ki_loop *loop)
{
    ki__loop_arm(loop);
    while (!ki__loop_is_stopped(loop)) {
        (void)ki__loop_dispatch_once(loop, -1);
    }
    give_up(loop);
}

int ki_loop_run(ki_loop *loop)
{
    KI__REQUIRE(loop, NULL);
    int r = take_over(loop, KI__RUNNER_FOR_EVER);
    if (r < 0) {
        return r;
    }
    (void)ki_loop_ref(loop);
    run_for_ever(loop);
    (void)ki_loop_unref(loop);
    return 0;
}

static void *thread_main(void *user)
{
    ki_loop *loop = user;
    ki__thread_name("ki-loop");
    run_for_ever(loop);
    ki__loop_release(loop);
    return NULL;
}

int ki_loop_start(ki_loop *loop, ki_error *error)
{
    KI__REQUIRE(loop, error);
    int r = take_over(loop, KI__RUNNER_FOR_EVER);
    if (r < 0) {
        return ki__error_code(error, r);
    }
    ki__refs_take(&loop->parts); /* the thread's */
    ki__mutex_lock(&loop->lock);
    r = ki__thread_start(thread_main, loop, false, &loop->thread);
    loop->runner_thread = r == 0 ? loop->thread : pthread_self();
    loop->thread_state = r == 0 ? KI__THREAD_RUNS : KI__NO_THREAD;
    ki__mutex_unlock(&loop->lock);
    if (r < 0) {
        give_up(loop);
        ki__loop_release(loop);
        return ki__error_set(error, r, "cannot start a thread: %s", ki_error_text(r));
    }
    return 0;
}

static int join_thread(ki_loop *loop)
{
    int r = 0;
    ki__mutex_lock(&loop->lock);
    bool join = loop->thread_state == KI__THREAD_RUNS;
    if (join && pthread_equal(loop->thread, pthread_self())) {
        r = KI_ERR_BUSY;
    } else if (loop->thread_state == KI__THREAD_JOINED_BY_SOMEONE) {
        r = KI_ERR_BUSY;
    } else if (join) {
        loop->thread_state = KI__THREAD_JOINED_BY_SOMEONE;
    }
    ki__mutex_unlock(&loop->lock);
    if (r == 0 && join) {
        r = -pthread_join(loop->thread, NULL);
        ki_assert(r == 0);
        ki__mutex_lock(&loop->lock);
        loop->thread_state = KI__NO_THREAD;
        ki__mutex_unlock(&loop->lock);
    }
    return r;
}

int ki_loop_join(ki_loop *loop)
{
    KI__REQUIRE(loop, NULL);
    if (ki__engine_is_inherited(loop->engine)) {
        return 0; /* the threads do not exist in this process */
    }
    int r = join_thread(loop);
    if (r == 0) {
        ki__wakeup_wait_for_threads(loop->wakeup);
    }
    return r;
}

/* ---- release ---- */

/* The loop's own thread cannot be joined by itself: it is detached and ends on its own. */
static bool leave_thread(ki_loop *loop)
{
    ki__mutex_lock(&loop->lock);
    bool own = loop->thread_state == KI__THREAD_RUNS && pthread_equal(loop->thread, pthread_self());
    if (own) {
        (void)pthread_detach(loop->thread);
        loop->thread_state = KI__NO_THREAD;
    }
    ki__mutex_unlock(&loop->lock);
    return own;
}

ki_loop *ki_loop_unref(ki_loop *loop)
{
    if (loop == NULL || !ki__refs_drop(&loop->users)) {
        return NULL;
    }
    if (ki__engine_is_inherited(loop->engine)) {
        /* A child of fork() does not have the thread, and a lock may be held by a thread of the
         * parent. Closing the descriptors does not affect the parent's. The memory is leaked. */
        close_descriptors(loop);
        return NULL;
    }
    ki_loop_stop(loop);
    if (!leave_thread(loop)) {
        int r = join_thread(loop);
        ki_assert(r == 0); /* any other joining thread would hold a reference */
    }
    ki__loop_release(loop);
    return NULL;
}
