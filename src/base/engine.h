/* SPDX-License-Identifier: Apache-2.0 */
/* Timers and tasks on an engine. Both are part of the thing that uses them; setting and posting
 * never fail, so that whatever must be done can always be requested. */
#ifndef KI_BASE_ENGINE_H
#define KI_BASE_ENGINE_H

#include <kinformer/parts/engine.h>

#include "base/hash.h"
#include "base/heap.h"
#include "base/list.h"
#include "base/pool.h"
#include "base/shared.h"

/* ---- timers: inside ki_engine_run() only ---- */

typedef struct ki__timer {
    ki__heap_node node;
    ki_engine *engine; /* not counted: the owner of the timer holds the engine */
    uint64_t deadline;
    uint64_t order; /* of two with one deadline, the one set first fires first */
    void (*fire)(struct ki__timer *timer);
} ki__timer;

/** Takes room in the engine for a timer; -ENOMEM, KI_ERR_LIMIT or KI_ERR_STOPPED. Ends with
 * ki__timer_done(). Any thread may call these two, as long as nobody else uses the timer. */
KI__SHARED int ki__timer_init(ki__timer *timer, ki_engine *engine, void (*fire)(ki__timer *timer));
/** Also fine for one that is zeroed. */
KI__SHARED void ki__timer_done(ki__timer *timer);

/** Sets it, or sets it again, to fire once at `deadline`; UINT64_MAX: never. */
KI__SHARED void ki__timer_set(ki__timer *timer, uint64_t deadline);
/** Sets it to fire `delay_ns` from now. */
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

/** Has the task run inside ki_engine_run(), once, in the order of posting. While it waits, posting
 *  it again does nothing; from inside its own run it may be posted again. Whether it was posted by
 *  this call. Calls the owner's `wake`, unless this thread is inside the engine. */
KI__SHARED bool ki__engine_post(ki_engine *engine, ki__task *task);

/** Has it not run after all. Whether it was posted and will not run now; if not, it may be running
 *  at this moment. */
KI__SHARED bool ki__engine_unpost(ki_engine *engine, ki__task *task);

/* ---- the rest of the world ---- */

/** Whether this thread is inside ki_engine_run() of it, or has entered it: what waits for the
 * engine here waits forever. */
bool ki__engine_is_inside(const ki_engine *engine);

/** For an owner that makes callbacks of its own around ki_engine_run(): between these two calls
 * this thread is inside, so that what it posts sends no wake-up. Afterwards the owner looks at
 *  ki_engine_deadline(). One thread at a time; leaving takes what entering returned. */
uintptr_t ki__engine_enter(ki_engine *engine);
void ki__engine_leave(ki_engine *engine, uintptr_t before);

/** Whether it belongs to a parent of this process: nothing may be done with it. Then posting does
 *  nothing, and a timer cannot be made. */
KI__SHARED bool ki__engine_is_inherited(const ki_engine *engine);

/** KI__REQUIRE_OWN() for what runs on an engine. */
#define KI__REQUIRE_OWN_ENGINE(engine, error)               \
    do {                                                    \
        if (ki__engine_is_inherited(engine)) {              \
            return ki__error_code((error), KI_ERR_STOPPED); \
        }                                                   \
    } while (0)

const ki_alloc *ki__engine_alloc(const ki_engine *engine);
KI__SHARED const ki_clock *ki__engine_clock(const ki_engine *engine);
KI__SHARED const ki_random *ki__engine_entropy(const ki_engine *engine);
ki__pool *ki__engine_pool(const ki_engine *engine); /* NULL if it can start no threads */
const ki_log *ki__engine_log(const ki_engine *engine);
uint64_t ki__engine_now(const ki_engine *engine); /* monotonic */

/** A number below `limit` (not 0), from a generator that was seeded with the engine's randomness:
 *  for jitter, not for secrets. Inside ki_engine_run() only. */
uint64_t ki__engine_random(ki_engine *engine, uint64_t limit);

/** A key for a hash table, seeded alike. Any thread. */
ki__hash_key ki__engine_hash_key(ki_engine *engine);

/** Tells of a failure that nobody waits for, within the rate. Any thread. `name` may be NULL. */
void ki__engine_report(ki_engine *engine, const char *component, const char *name, ki_str key,
                       const ki_error *error);

#endif
