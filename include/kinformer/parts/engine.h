/* SPDX-License-Identifier: Apache-2.0 */
/* The engine: timers and tasks for reflectors and informers. It is passive: its owner calls
 * ki_engine_run() when work is due. It does not sleep and starts no threads by itself; time comes
 * from the clock in its options. An event loop, a thread or a simulator drives it.
 * <kinformer/loop.h> is such an event loop.
 *
 * Everything that runs on an engine runs inside ki_engine_run(), one task at a time.
 *
 * Callbacks of any kind, here and in all other headers, must return to the library: they must not
 * throw a C++ exception, call longjmp() or exit their thread. Otherwise the engine, loop or handler
 * that called the callback remains blocked as if the callback were still running. Where this can be
 * detected, it is logged as an error. In C++, declare callbacks noexcept. */
#ifndef KINFORMER_PARTS_ENGINE_H
#define KINFORMER_PARTS_ENGINE_H

#include <kinformer/alloc.h>
#include <kinformer/clock.h>
#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/log.h>
#include <kinformer/str.h>

KI_BEGIN_DECLS

typedef struct ki_engine ki_engine;
typedef struct ki_client ki_client; /* <kinformer/client.h> */

/** Starts the threads that handlers share; see handler.h. Requires a clock whose monotonic
 *  time is CLOCK_MONOTONIC. */
typedef struct ki_threads {
    size_t size; /* see KI_OPTIONS_INIT */
    /** Starts a thread that calls `run(arg)` and exits when `run` returns. Returns 0 or -errno.
     *  Called on any thread, with no lock held. */
    int (*start)(void (*run)(void *arg), void *arg, void *user);
    void *user;
} ki_threads;

typedef struct ki_engine_options {
    size_t size;             /* see KI_OPTIONS_INIT */
    const ki_alloc *alloc;   /* NULL: the default; must outlive the engine and all its users */
    const ki_clock *clock;   /* required; must outlive the engine's users, as must the next two */
    const ki_random *random; /* required */
    const ki_log *log;       /* NULL: none */

    /** Requests that ki_engine_run() is called soon, because another thread has added work. Called
     *  on any thread, with no lock held; must not call ki_engine_run() itself. NULL: the owner
     *  polls ki_engine_deadline(). */
    void (*wake)(void *user);
    void *wake_user;
    /** Called once, when the engine is freed; not called if ki_engine_new() fails. May be NULL. */
    void (*wake_destroy)(void *user);

    /** Must outlive everything that runs on the engine. NULL: no threads are started. */
    const ki_threads *threads;
    /** Maximum number of handlers that run on threads at the same time; 0: 256. There is at most
     *  one more thread than this. */
    uint32_t handler_threads;

    /** Receives failures that no caller is waiting for, at most `reports_per_second` (0: 10) per
     *  second, on the thread where they occurred and with no lock held. NULL: they are logged. */
    void (*on_report)(const ki_report *report, void *user);
    void *report_user;
    uint32_t reports_per_second;
} ki_engine_options;

/** Creates an engine without any work.
 *  Owner:  caller; release with ki_engine_unref().  Thread: any.  Blocks: no.
 *  Errors: -EINVAL  `clock` or `random` is missing;  -ENOMEM, -E2BIG;  what `random` returned.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_engine_new(const ki_engine_options *options, ki_engine **ret_engine,
                                      ki_error *error);

/** Takes and releases references. Everything that runs on the engine holds one. ki_engine_unref()
 *  always returns NULL; both accept NULL.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API ki_engine *ki_engine_ref(ki_engine *engine);
KI_API ki_engine *ki_engine_unref(ki_engine *engine);

/** Returns the engine of a client's loop.
 *  Owner: borrowed.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API ki_engine *ki_client_engine(const ki_client *client);

/** Returns when ki_engine_run() must be called, in monotonic nanoseconds of the engine's clock: 0
 *  for immediately, UINT64_MAX for not before `wake` is called.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API uint64_t ki_engine_deadline(ki_engine *engine);

/** Runs due timers and tasks, up to `max_steps` of them (0: 1000), and returns how many it ran. If
 *  that is `max_steps`, more may be due. Does nothing and returns 0 if called from inside itself,
 *  or in a child process after fork().
 *  Thread: one-at-a-time.  Blocks: no, except for the callbacks it calls.  Since: 0.1 */
KI_API size_t ki_engine_run(ki_engine *engine, size_t max_steps);

/* Tasks: let a custom source or transport run code inside ki_engine_run(). */

typedef struct ki_engine_task ki_engine_task;

/** Creates a task, which does nothing until it is posted. `run` is called inside ki_engine_run().
 *  Owner:  caller; release with ki_engine_task_unref().  Thread: any.  Blocks: no.
 *  Errors: -EINVAL  `engine` or `run` is NULL;  -ENOMEM.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_engine_task_new(ki_engine *engine, void (*run)(void *user), void *user,
                                           ki_engine_task **ret_task, ki_error *error);

/** Schedules a task to run once, soon. Posting a task that is already scheduled does nothing; `run`
 *  may post its own task again. Never fails.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API void ki_engine_task_post(ki_engine_task *task);

/** Frees a task, also from inside its `run`. The task does not run any more, even if it was posted,
 *  unless it is running on another thread at this moment. Always returns NULL; accepts NULL.
 *  Thread: any, but the task must not be posted concurrently.  Blocks: no.  Since: 0.1 */
KI_API ki_engine_task *ki_engine_task_unref(ki_engine_task *task);

KI_AUTO_DEFINE(ki_engine, ki_engine_unref)
KI_AUTO_DEFINE(ki_engine_task, ki_engine_task_unref)

KI_END_DECLS

#endif
