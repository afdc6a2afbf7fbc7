/* SPDX-License-Identifier: Apache-2.0 */
/* The loop: an engine with what it needs of the system (epoll, timers, a clock, randomness), and
 * three ways to run it:
 *
 *   ki_loop_start()   a private thread runs it. Nothing else is to be done.
 *   ki_loop_run()     the caller's thread runs it, until ki_loop_stop().
 *   ki_loop_fd(), ki_loop_dispatch()   a loop of the program's own runs it: whenever the descriptor
 *                     is readable, ki_loop_dispatch() is called.
 *
 * Handlers run on threads that they share, unless they ask for something else, so that a slow one
 * delays nobody (see registration.h). With `no_threads` in the options none is started, and they
 * run on the loop. Threads are named: "ki-loop", and "ki-handler-" with a number.
 *
 * Callbacks must not throw or longjmp: see engine.h.
 *
 * After fork() the child may release what it inherited and make its own; nothing that it does
 * reaches the parent:
 *   - All functions that ref, unref, free, stop, close, cancel, pause or remove return at once.
 * They run no callback, no `destroy` either, and wake nobody. The last unref of something with
 *     threads, locks or descriptors leaves its memory to the end of the process.
 *   - Objects, lists, snapshots, buffers and all else that never changes may be read and released.
 *   - Functions that start, run, dispatch, wait, request, put something in or take something out
 *     return KI_ERR_STOPPED; ki_engine_run() returns 0.
 *   - All others, such as those that read the state of an informer, must not be called: a lock may
 *     be held by a thread that the child does not have.
 * This holds for loops, engines, clients, factories, informers, registrations, reflectors, pagers,
 * retry watchers, local sources, delta queues, work queues, stores and embedded servers. fork() is
 * noticed by pthread_atfork(), so a child of a plain clone() or of _Fork() must only exec or exit.
 */
#ifndef KINFORMER_LOOP_H
#define KINFORMER_LOOP_H

#include <kinformer/alloc.h>
#include <kinformer/clock.h>
#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/log.h>

KI_BEGIN_DECLS

typedef struct ki_loop ki_loop;
typedef struct ki_engine ki_engine; /* <kinformer/parts/engine.h> */

typedef struct ki_loop_options {
    size_t size;             /* see KI_OPTIONS_INIT */
    const ki_alloc *alloc;   /* NULL: the default; must outlive the loop and all that runs on it */
    const ki_clock *clock;   /* NULL: the system's; its monotonic time must be CLOCK_MONOTONIC's */
    const ki_random *random; /* NULL: the system's */
    const ki_log *log;       /* NULL: none; must outlive the loop, like the two above */

    /* As in ki_engine_options. */
    void (*on_report)(const ki_report *report, void *user);
    void *report_user;
    uint32_t reports_per_second;

    size_t steps; /* most things that one dispatch does, 0: 1,000; fewer if they take 10 ms */

    /** Start no threads, also not for handlers: those with the default delivery run on the loop.
     * For programs that run the loop inside their own. */
    bool no_threads;
    uint32_t handler_threads; /* as in ki_engine_options: 0: 256 */
} ki_loop_options;

/** A loop that does not run yet. `options` may be NULL.
 *  Owner:  release with ki_loop_unref().  Thread: any.  Blocks: no.
 *  Errors: -EMFILE, -ENFILE  too many descriptors (it needs three);  -ENOMEM, -E2BIG.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_loop_new(const ki_loop_options *options, ki_loop **ret_loop,
                                    ki_error *error);

/** References. The last one stops the loop and, if it has a thread, waits for it to end; on that
 *  thread itself it only stops. ki_loop_unref() always returns NULL; NULL is fine for both.
 *  Thread: any.  Blocks: as said.  Since: 0.1 */
KI_API ki_loop *ki_loop_ref(ki_loop *loop);
KI_API ki_loop *ki_loop_unref(ki_loop *loop);

/** The engine of the loop, for informers and the like to run on.
 *  Owner: borrowed.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API ki_engine *ki_loop_engine(ki_loop *loop);

/** Starts a thread that runs the loop. All signals are blocked in it.
 *  Thread: any.  Blocks: no.
 *  Errors: KI_ERR_BUSY  the loop runs already;  KI_ERR_STOPPED;  -EAGAIN  no more threads.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_loop_start(ki_loop *loop, ki_error *error);

/** Runs the loop on the caller's thread until it is stopped.
 *  Thread: any, but not inside a callback.  Blocks: yes.
 *  Errors: KI_ERR_BUSY  the loop runs already;  KI_ERR_STOPPED  it was stopped before.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_loop_run(ki_loop *loop);

/** Ends ki_loop_run(), or the thread, after what it is doing at the moment; for good. Requests
 *  under way end with KI_ERR_STOPPED: their `done` is called once, on the thread that runs the
 *  loop, as the last thing it does there. If no thread runs the loop, `done` is called inside
 *  ki_loop_stop(), so the caller must hold no lock that `done` takes. Informers and all else that
 *  is not stopped yet stay where they are.
 *  Thread: any, also inside callbacks.  Blocks: no, but for `done`.  Since: 0.1 */
KI_API void ki_loop_stop(ki_loop *loop);

/** Waits until no thread of the loop is left: the one of ki_loop_start(), which ends after
 *  ki_loop_stop(), and those of handlers, which end when all handlers were removed or their
 *  informers stopped. 0 also if there is none.
 *  Thread: any but those.  Blocks: yes.
 *  Errors: KI_ERR_BUSY  called on the thread of the loop, or somebody else is waiting.  Since: 0.1
 */
KI_API KI_NODISCARD int ki_loop_join(ki_loop *loop);

/** A descriptor that is readable whenever ki_loop_dispatch() should be called: for input, for
 * timers and when another thread asks for something. Owner: the loop's; do not read it or close it.
 * Thread: any.  Blocks: no.  Since: 0.1 */
KI_API int ki_loop_fd(ki_loop *loop);

/** How many milliseconds from now ki_loop_dispatch() should be called at the latest; 0: now, -1:
 * not before the descriptor is readable. Only for loops that want to know: the descriptor alone is
 *  enough.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API int ki_loop_timeout(ki_loop *loop);

/** Does what is due, up to `steps` things, and does not wait. Returns how many it did: none if
 *  another thread does so at the moment, because it waits for an answer (see request.h).
 *  Thread: one-at-a-time.  Blocks: no, but for callbacks.
 *  Errors: KI_ERR_BUSY  called inside itself, or somebody else runs the loop;  KI_ERR_STOPPED.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_loop_dispatch(ki_loop *loop);

/** The clock and the randomness of the system, for engines without a loop.
 *  Owner: static.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const ki_clock *ki_clock_system(void);
KI_API const ki_random *ki_random_system(void);

/** The current time of a clock in nanoseconds since 1970; NULL: the system's. For times in objects,
 *  see ki_json_time() and ki_time_text().
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API int64_t ki_clock_now_ns(const ki_clock *clock);

KI_END_DECLS

#endif
