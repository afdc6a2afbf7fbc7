/* SPDX-License-Identifier: Apache-2.0 */
/* The event loop of a client: sockets (epoll), timers, a clock and randomness. There are three ways
 * to run it:
 *
 *   ki_loop_start()   a private thread runs it; the program does nothing.
 *   ki_loop_run()     the caller's thread runs it, until ki_loop_stop().
 *   ki_loop_fd(), ki_loop_dispatch()
 *                     an event loop of the program runs it: whenever the descriptor is readable, it
 *                     calls ki_loop_dispatch().
 *
 * Handlers run by default on threads that they share, so that a slow handler does not delay others
 * (see handler.h). With `no_threads` in the options, no thread is started, and handlers run on
 * the loop. Threads are named "ki-loop", and "ki-handler-" with a number.
 *
 * Callbacks must return: they must not throw C++ exceptions, call longjmp() or exit their thread.
 *
 * After fork(), the child may release what it inherited and create its own; nothing it does affects
 * the parent:
 *   - All functions that ref, unref, free, stop, close, cancel, pause or remove return at once.
 *     They call no callback, not even `destroy`, and wake no thread. The last unref of something
 *     with threads, locks or descriptors leaves its memory allocated until the process exits.
 *   - Objects, lists, snapshots, buffers and everything else immutable may be read and released.
 *   - Functions that start, run, dispatch, wait, send requests, or add or remove elements return
 *     KI_ERR_STOPPED.
 *   - All others, such as those that read the state of an informer, must not be called: a lock may
 *     be held by a thread that does not exist in the child.
 * This applies to loops, engines, clients, managers, factories, informers, registrations,
 * reflectors, pagers, retry watchers, local sources, delta queues, work queues, stores and embedded
 * servers. fork() is detected by pthread_atfork(), so a child of plain clone() or _Fork() must only
 * exec or exit. */
#ifndef KINFORMER_LOOP_H
#define KINFORMER_LOOP_H

#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/log.h>

KI_BEGIN_DECLS

typedef struct ki_loop ki_loop;
typedef struct ki_engine ki_engine; /* <kinformer/parts/engine.h> */
typedef struct ki_client ki_client; /* <kinformer/client.h> */

typedef struct ki_loop_options {
    size_t size;             /* see KI_OPTIONS_INIT */
    const ki_alloc *alloc;   /* NULL: the default; must outlive the loop and all its users */
    const ki_clock *clock;   /* NULL: the system's; its monotonic time must be CLOCK_MONOTONIC */
    const ki_random *random; /* NULL: the system's */
    const ki_log *log;       /* NULL: none; must outlive the loop, as must the two above */

    /* Receives failures that no caller is waiting for, at most `reports_per_second` (0: 10) per
     * second, on the thread where they occurred and with no lock held. NULL: they are logged. */
    void (*on_report)(const ki_report *report, void *user);
    void *report_user;
    uint32_t reports_per_second;

    size_t steps; /* limit of timers and tasks per dispatch, 0: 1,000; fewer if they take 10 ms */

    /** Start no threads, not even for handlers: those with the default delivery run on the loop.
     *  For programs that run the loop inside their own event loop. */
    bool no_threads;
    uint32_t handler_threads; /* limit of handlers that run on threads at the same time; 0: 256 */
} ki_loop_options;

/** Creates a loop; does not run it yet. `options` may be NULL.
 *  Owner:  caller; release with ki_loop_unref().  Thread: any.  Blocks: no.
 *  Errors: -EMFILE, -ENFILE  too many open descriptors (it needs three);  -ENOMEM, -E2BIG.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_loop_new(const ki_loop_options *options, ki_loop **ret_loop,
                                    ki_error *error);

/** Takes and releases references. Releasing the last one stops the loop and, if it has a thread,
 *  waits until that has exited; called on that thread, it only stops the loop. ki_loop_unref()
 *  always returns NULL; both accept NULL.
 *  Thread: any.  Blocks: ki_loop_unref() may, as described.  Since: 0.1 */
KI_API ki_loop *ki_loop_ref(ki_loop *loop);
KI_API ki_loop *ki_loop_unref(ki_loop *loop);

/** Returns the loop of a client, from its options or its own.
 *  Owner: borrowed.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API ki_loop *ki_client_loop(const ki_client *client);

/** Returns the engine of the loop, for the parts in <kinformer/parts/engine.h> and its users.
 *  Owner: borrowed.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API ki_engine *ki_loop_engine(ki_loop *loop);

/** Starts a thread that runs the loop. All signals are blocked in it.
 *  Thread: any.  Blocks: no.
 *  Errors: KI_ERR_BUSY  the loop is already running;  KI_ERR_STOPPED;  -EAGAIN  too many threads.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_loop_start(ki_loop *loop, ki_error *error);

/** Runs the loop on the caller's thread until it is stopped.
 *  Thread: any, but not inside a callback.  Blocks: yes.
 *  Errors: KI_ERR_BUSY  the loop is already running;  KI_ERR_STOPPED  it was stopped before.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_loop_run(ki_loop *loop);

/** Stops the loop permanently: ends ki_loop_run(), or the thread, after its current step. Requests
 *  in progress end with KI_ERR_STOPPED: their `done` is called once, on the thread that runs the
 *  loop, as the last thing it does there. If no thread runs the loop, `done` is called inside
 *  ki_loop_stop(), so the caller must hold no lock that `done` takes. Informers and everything else
 *  that was not stopped before remain as they are.
 *  Thread: any, including callbacks.  Blocks: no, except for `done`.  Since: 0.1 */
KI_API void ki_loop_stop(ki_loop *loop);

/** Waits until all threads of the loop have exited: that of ki_loop_start(), which exits after
 *  ki_loop_stop(), and those of handlers, which exit when all handlers have been removed or their
 *  informers have stopped. Returns 0 also if there is none.
 *  Thread: any except those.  Blocks: yes.
 *  Errors: KI_ERR_BUSY  called on the loop's thread, or another thread is already waiting.
 *  Since: 0.1 */
KI_API KI_NODISCARD int ki_loop_join(ki_loop *loop);

/** Returns a descriptor that is readable whenever ki_loop_dispatch() should be called: for input,
 *  for timers, and for requests from other threads.
 *  Owner: the loop; do not read or close it.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API int ki_loop_fd(ki_loop *loop);

/** Returns the number of milliseconds until ki_loop_dispatch() should be called at the latest; 0:
 *  now, -1: not before the descriptor is readable. Optional: polling the descriptor alone is
 *  sufficient.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API int ki_loop_timeout(ki_loop *loop);

/** Runs due timers and tasks, up to `steps` of them, and does not wait. Returns how many it ran; 0
 *  if another thread is doing so at this moment, because it waits for a response (see request.h).
 *  Thread: one-at-a-time.  Blocks: no, except for callbacks.
 *  Errors: KI_ERR_BUSY  called inside itself, or another thread runs the loop;  KI_ERR_STOPPED.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_loop_dispatch(ki_loop *loop);

KI_AUTO_DEFINE(ki_loop, ki_loop_unref)

KI_END_DECLS

#endif
