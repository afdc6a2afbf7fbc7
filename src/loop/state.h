/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the loop.
 *
 * `runner`, under the lock, says which thread runs the loop: none, one permanently (ki_loop_run,
 * the thread), one for a single dispatch, or a helper that waits for something that only a running
 * loop does, and yields as soon as another thread wants to run it permanently. */
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
    uint64_t armed; /* what the timer is set to; UINT64_MAX: not at all */

    struct epoll_event events[KI__LOOP_EVENTS]; /* those at hand; a removed watch is taken out */
    int event_count;
    int event_next;

    ki__mutex lock;
    ki__cond changed; /* the runner, `stopped`, or something that ki__loop_changed() tells of */
    ki__runner runner;
    pthread_t runner_thread;
    size_t wanted; /* how many wait to run it forever */
    bool stopped;
    bool runs_no_callbacks; /* the runner does not, and gives it up at once */
    ki__list stop_hooks;
    ki__task stop_task; /* runs them in an engine that the program runs without the loop */
    ki__thread_state thread_state;
    pthread_t thread;
};

/** Becomes the one who runs the loop; to run it forever, after a helper has given way. With the
 *  lock held. KI_ERR_BUSY: somebody else does;  -EAGAIN: a helper does, for one dispatch;
 *  KI_ERR_STOPPED. */
int ki__loop_take_over(ki_loop *loop, ki__runner as);
/** Ends that. With the lock held, which is given up while stop hooks run, if the loop was stopped.
 */
void ki__loop_give_up(ki_loop *loop);
/** Whether this thread is the one. With the lock held. */
bool ki__loop_is_mine(const ki_loop *loop);

/** Prepares the members of stopping. */
void ki__loop_init_stop(ki_loop *loop);
/** Drops a reference of `parts`. */
void ki__loop_release(ki_loop *loop);

/** Sets the timer to the engine's next deadline. For the runner. */
void ki__loop_arm(ki_loop *loop);
/** Waits for input and timers, and does what is due. For the runner. */
int ki__loop_dispatch_once(ki_loop *loop, int timeout_ms);

#endif
