/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the loop.
 *
 * `runner`, under the lock, is the thread that runs the loop: none, one permanently (ki_loop_run(),
 * the loop's thread), one for a single dispatch, or a helper that waits for something only a
 * running loop does, and yields as soon as another thread needs to run it permanently. */
#ifndef KI_LOOP_STATE_H
#define KI_LOOP_STATE_H

#include <pthread.h>
#include <sys/epoll.h>

#include "base/engine.h"
#include "base/refs.h"
#include "base/sync.h"
#include "loop/loop.h"
#include "loop/wakeup.h"

enum { KI__LOOP_EVENTS = 64 };

typedef enum ki__runner {
    KI__RUNNER_NOBODY,
    KI__RUNNER_ONE_DISPATCH,
    KI__RUNNER_HELPER,
    KI__RUNNER_FOR_EVER
} ki__runner;

typedef enum ki__thread_state {
    KI__NO_THREAD,
    KI__THREAD_RUNS,
    KI__THREAD_JOINED_BY_SOMEONE
} ki__thread_state;

struct ki_loop {
    ki__refs users;
    ki__refs parts;
    const ki_alloc *alloc;
    ki_engine *engine;
    size_t steps;
    ki__wakeup *wakeup;
    int epoll;
    int timer; /* a timerfd */
    ki__watch wakeup_watch;
    ki__watch timer_watch;
    uint64_t armed; /* deadline set in the timer; UINT64_MAX: disarmed */

    struct epoll_event events[KI__LOOP_EVENTS]; /* current batch; removed watches are cleared */
    int event_count;
    int event_next;

    ki__mutex lock;
    ki__cond changed; /* the runner, `stopped`, or after ki__loop_changed() */
    ki__runner runner;
    pthread_t runner_thread;
    size_t wanted; /* number of threads waiting to run the loop permanently */
    bool stopped;
    bool runs_no_callbacks; /* the runner runs no callbacks and returns soon */
    ki__list stop_hooks;
    ki__task stop_task; /* runs the hooks if the program runs the engine without the loop */
    ki__thread_state thread_state;
    pthread_t thread;
};

/** Makes this thread the runner; to run permanently, waits until a helper has yielded. Requires the
 *  lock. KI_ERR_BUSY: another thread runs the loop; -EAGAIN: a helper does, and `as` is a single
 *  dispatch; KI_ERR_STOPPED. */
int ki__loop_take_over(ki_loop *loop, ki__runner as);
/** Undoes ki__loop_take_over(). Requires the lock, which is released while stop hooks run, if the
 *  loop was stopped. */
void ki__loop_give_up(ki_loop *loop);
/** Whether this thread is the runner. Requires the lock. */
bool ki__loop_is_mine(const ki_loop *loop);

/** Initializes the members used for stopping. */
void ki__loop_init_stop(ki_loop *loop);
/** Drops a reference of `parts`. */
void ki__loop_release(ki_loop *loop);

/** Arms the timer for the engine's next deadline. Runner only. */
void ki__loop_arm(ki_loop *loop);
/** Waits for descriptors and timers, and dispatches them. Runner only. */
int ki__loop_dispatch_once(ki_loop *loop, int timeout_ms);

#endif
