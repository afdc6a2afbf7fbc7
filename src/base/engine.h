/* SPDX-License-Identifier: Apache-2.0 */
/* Timers and tasks on an engine. Both are embedded in the struct that uses them; setting a timer
 * and posting a task never fail. */
#ifndef KI_BASE_ENGINE_H
#define KI_BASE_ENGINE_H

#include <kinformer/parts/engine.h>

#include "base/hash.h"
#include "base/heap.h"
#include "base/list.h"
#include "base/members.h"
#include "base/pool.h"
#include "base/shared.h"

/* ---- timers: inside ki_engine_run() only ---- */

typedef struct ki__timer {
    ki__heap_node node;
    ki_engine *engine; /* not counted: the timer's owner holds a reference */
    uint64_t deadline;
    uint64_t order; /* timers with the same deadline fire in the order in which they were set */
    void (*fire)(struct ki__timer *timer);
} ki__timer;

/** Reserves space in the engine for a timer; -ENOMEM, KI_ERR_LIMIT or KI_ERR_STOPPED. Undo with
 *  ki__timer_done(). Thread: any for these two, as long as no other thread uses the timer. */
KI__SHARED int ki__timer_init(ki__timer *timer, ki_engine *engine, void (*fire)(ki__timer *timer));
/** A zeroed timer is allowed. */
KI__SHARED void ki__timer_done(ki__timer *timer);

/** Sets or resets the timer to fire once at `deadline`; UINT64_MAX: never. */
KI__SHARED void ki__timer_set(ki__timer *timer, uint64_t deadline);
/** Sets the timer to fire `delay_ns` from now. */
KI__SHARED void ki__timer_set_after(ki__timer *timer, uint64_t delay_ns);
void ki__timer_cancel(ki__timer *timer);
bool ki__timer_is_set(const ki__timer *timer);

/* ---- tasks: from any thread ---- */

typedef struct ki__task {
    ki__list link;
    bool posted;
    void (*run)(struct ki__task *task);
} ki__task;

KI__SHARED void ki__task_init(ki__task *task, void (*run)(ki__task *task));

/** Queues the task to run once inside ki_engine_run(), in FIFO order. No effect while it is already
 *  queued; it may post itself again while it runs. Returns true if this call queued it. Calls the
 *  owner's `wake`, unless this thread is inside the engine. */
KI__SHARED bool ki__engine_post(ki_engine *engine, ki__task *task);

/** Removes a task from the queue. Returns true if it was queued and will not run; otherwise it may
 *  be running at this moment. */
KI__SHARED bool ki__engine_unpost(ki_engine *engine, ki__task *task);

/* ---- environment ---- */

/** Whether this thread is inside ki_engine_run(), or has entered the engine: waiting for the engine
 *  here would deadlock. */
bool ki__engine_is_inside(const ki_engine *engine);

/** For an owner that runs callbacks of its own around ki_engine_run(): between these two calls this
 *  thread counts as inside, so that tasks it posts send no wake-up. The owner must check
 *  ki_engine_deadline() afterwards. One thread at a time; `before` is the result of entering. */
uintptr_t ki__engine_enter(ki_engine *engine);
void ki__engine_leave(ki_engine *engine, uintptr_t before);

/** Whether the engine belongs to a parent process (after fork()) and must not be used: posting is a
 *  no-op, and timers cannot be created. */
KI__SHARED bool ki__engine_is_inherited(const ki_engine *engine);

/** KI__REQUIRE_OWN() for objects that run on an engine. */
#define KI__REQUIRE_OWN_ENGINE(engine, error)               \
    do {                                                    \
        if (ki__engine_is_inherited(engine)) {              \
            return ki__error_code((error), KI_ERR_STOPPED); \
        }                                                   \
    } while (0)

const ki_alloc *ki__engine_alloc(const ki_engine *engine);
KI__SHARED const ki_clock *ki__engine_clock(const ki_engine *engine);
KI__SHARED const ki_random *ki__engine_entropy(const ki_engine *engine);
ki__pool *ki__engine_pool(const ki_engine *engine); /* NULL if it cannot start threads */
ki__list *ki__engine_members(ki_engine *engine);    /* for metrics and checks */
const ki_log *ki__engine_log(const ki_engine *engine);
KI__SHARED uint64_t ki__engine_now(const ki_engine *engine); /* monotonic */

/** How long the first timer is overdue: the engine is not run, or a callback does not return. */
uint64_t ki__engine_overdue(ki_engine *engine);

/** A pseudorandom number below `limit` (not 0), from a generator seeded by the engine's random
 *  source: for jitter, not for secrets. Inside ki_engine_run() only. */
uint64_t ki__engine_random(ki_engine *engine, uint64_t limit);

/** A hash table key from the engine's random source. Any thread. */
ki__hash_key ki__engine_hash_key(ki_engine *engine);

/** Reports a failure that no caller waits for, subject to the rate limit. `name` may be NULL. Any
 *  thread. */
void ki__engine_report(ki_engine *engine, const char *component, const char *name, ki_str key,
                       const ki_error *error);

#endif
