/* SPDX-License-Identifier: Apache-2.0 */
/* The engine: what reflectors and informers run on. It keeps their timers and what other threads
 * ask of them, and does nothing by itself: whoever owns it calls ki_engine_run() when there is
 * something to do. It reads no clock, sleeps never and starts no thread; an event loop, a thread or
 * a simulator goes around it.
 *
 * All that runs on an engine runs inside ki_engine_run(), one thing at a time.
 *
 * A callback of any kind, here and in all other headers, must return to the library: it must not
 * throw a C++ exception, call longjmp() or end its thread. Otherwise the engine, the loop or the
 * handler that called it stays as if the callback were running for ever. Where this can be noticed
 * it is logged as an error. In C++, declare callbacks noexcept. */
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

/** Starts the threads that handlers share; see registration.h. The clock of the engine must then
 *  be CLOCK_MONOTONIC. */
typedef struct ki_threads {
    /** Starts a thread that calls `run(arg)` and ends when it returns. 0, or -errno. Called on any
     *  thread with no lock held. */
    int (*start)(void (*run)(void *arg), void *arg, void *user);
    void *user;
} ki_threads;

typedef struct ki_engine_options {
    size_t size;           /* see KI_OPTIONS_INIT */
    const ki_alloc *alloc; /* NULL: the default; must outlive the engine and all that runs on it */
    const ki_clock *clock; /* required; the same for this and the next two */
    const ki_random *random; /* required */
    const ki_log *log;       /* NULL: none */

    /** Tells that ki_engine_run() should be called soon, because something was asked for from
     * outside of it. Called on any thread, with no lock held; must not call ki_engine_run() itself.
     * NULL: the owner looks at ki_engine_deadline() often enough. */
    void (*wake)(void *user);
    void *wake_user;
    /** Runs once, when the engine is freed; on failure of ki_engine_new() it does not. May be NULL.
     */
    void (*wake_destroy)(void *user);

    const ki_threads
        *threads; /* must outlive all that runs on the engine; NULL: none are started */
    /** Most handlers that run on threads at the same time; 0: 256. There are never more threads
     *  than this and one. */
    uint32_t handler_threads;

    /** Hears of failures that nobody waits for, at most `reports_per_second` (0: 10) of them in a
     * second, on the thread where they happened and with no lock held. NULL: they are logged. */
    void (*on_report)(const ki_report *report, void *user);
    void *report_user;
    uint32_t reports_per_second;
} ki_engine_options;

/** An engine with nothing to do.
 *  Owner:  release with ki_engine_unref().  Thread: any.  Blocks: no.
 *  Errors: -EINVAL  no clock or no randomness;  -ENOMEM, -E2BIG;  what `random` returned.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_engine_new(const ki_engine_options *options, ki_engine **ret_engine,
                                      ki_error *error);

/** References. Whatever runs on the engine holds one. ki_engine_unref() always returns NULL; NULL
 *  is fine for both.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API ki_engine *ki_engine_ref(ki_engine *engine);
KI_API ki_engine *ki_engine_unref(ki_engine *engine);

/** When ki_engine_run() must be called, in monotonic nanoseconds of the clock: 0 for at once,
 *  UINT64_MAX for not before it is woken.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API uint64_t ki_engine_deadline(ki_engine *engine);

/** Does what is due, up to `max_steps` things (0: 1000). Returns how many it did; if that is
 *  `max_steps`, more may be due. From inside itself it does nothing and returns 0.
 *  Thread: one-at-a-time.  Blocks: no, but for the callbacks it makes.  Since: 0.1 */
KI_API size_t ki_engine_run(ki_engine *engine, size_t max_steps);

/* Tasks: how a source or a transport of a program's own gets into ki_engine_run(). */

typedef struct ki_engine_task ki_engine_task;

/** A task, which does nothing until it is posted. `run` is called inside ki_engine_run().
 *  Owner:  release with ki_engine_task_unref().  Thread: any.  Blocks: no.
 *  Errors: -EINVAL  no engine or no function;  -ENOMEM.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_engine_task_new(ki_engine *engine, void (*run)(void *user), void *user,
                                           ki_engine_task **ret_task, ki_error *error);

/** Has it run once, soon. While it waits, posting it again does nothing; from inside `run` it may
 * be posted anew. Never fails. Thread: any.  Blocks: no.  Since: 0.1 */
KI_API void ki_engine_task_post(ki_engine_task *task);

/** Frees it, also from inside `run`. It is not run any more, posted or not, unless it is running at
 *  this moment on another thread. Always returns NULL; NULL is fine.
 *  Thread: any, but nobody may post it meanwhile.  Blocks: no.  Since: 0.1 */
KI_API ki_engine_task *ki_engine_task_unref(ki_engine_task *task);

KI_END_DECLS

#endif
