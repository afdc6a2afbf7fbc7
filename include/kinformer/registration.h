/* SPDX-License-Identifier: Apache-2.0 */
/* Registrations: a handler on an informer. Each has a queue of its own and is told of everything in
 * order, one thing after the other; a slow one delays nobody else.
 *
 * Handlers with KI_DELIVERY_THREAD share the threads of their engine. A handler occupies one only
 * while it has events, and stays on it until its queue is empty or other handlers wait for a
 * thread. When all threads are busy and an event has waited for 5 ms, the engine starts more, up to
 * `handler_threads` of the client's, loop's or engine's options (default 256). At that limit events
 * wait until a callback returns: a warning is logged, and ki_health counts it. Threads
 * that are idle for 10 s end; one stays while there are such handlers.
 *
 * The queue is bounded. Up to its limit it keeps every event. Beyond it, changes of an object that
 * is waiting anyway merge into one: the handler still sees each object come, change from what it
 * saw last to what is now, and go, but not every step between. An object that came and went while
 * the handler was behind is not told of. How much was merged is told to it by on_merged(),
 * and counted. */
#ifndef KINFORMER_REGISTRATION_H
#define KINFORMER_REGISTRATION_H

#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/handler.h>

KI_BEGIN_DECLS

typedef struct ki_registration ki_registration;

/** Where the callbacks of a handler run. */
typedef enum ki_delivery {
    KI_DELIVERY_DEFAULT, /* as KI_DELIVERY_THREAD if the engine can start threads, else inside it */
    KI_DELIVERY_LOOP,    /* inside ki_engine_run(), in turns with all else: they must not block */
    KI_DELIVERY_CALLER,  /* inside ki_registration_dispatch() or ki_registration_run() */
    KI_DELIVERY_THREAD,  /* on a thread of the engine; not always the same one. They may block */
} ki_delivery;

/** Never resync. */
#define KI_RESYNC_NEVER UINT32_MAX

typedef struct ki_handler_options {
    size_t size;      /* see KI_OPTIONS_INIT */
    const char *name; /* for reports; copied; NULL: "" */
    ki_delivery delivery;
    /** 0: as the informer; KI_RESYNC_NEVER; else at least 1,000. Nothing comes of it if the
     * informer itself never resyncs. */
    uint32_t resync_ms;
    size_t queue_limit; /* 0: 1,024 */

    /** Also tell of objects that a relist met unchanged, as updates from the object to itself. */
    bool deliver_unchanged;

    /** Called once, in turn with the events: the handler has been told of all that was there. */
    void (*on_synced)(void *user);

    /** With KI_DELIVERY_CALLER: there is something to dispatch. Called on any thread with no lock
     * held; once until the next dispatch, which must not happen inside it. If that dispatch returns
     * KI_ERR_BUSY, wake() is called again when the running one ends with events left. Removing a
     * handler, and its `destroy`, count it among the callbacks. NULL: none. */
    void (*wake)(void *user);

    void *user; /* of the two above */
} ki_handler_options;

typedef struct ki_registration_stats {
    uint64_t delivered; /* events that are done with, those that the filter passed over as well */
    uint64_t failed;    /* those whose callback returned an error */
    uint64_t merged;    /* events that were not told because others stood for them */
    size_t waiting;     /* events in the queue */
} ki_registration_stats;

/** References. ki_registration_unref() always returns NULL and does not remove the handler; NULL is
 *  fine for both.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API ki_registration *ki_registration_ref(ki_registration *registration);
KI_API ki_registration *ki_registration_unref(ki_registration *registration);

/** Whether the informer has synced and the handler was told of all that was there when it did, or
 *  when the handler came. Stays true.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API bool ki_registration_has_synced(ki_registration *registration);

/** The counters of a handler.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API ki_registration_stats ki_registration_get_stats(ki_registration *registration);

/** Removes the handler from its informer and drops the events that wait. Does not wait for other
 *  threads: a callback that is running there goes on, and one that such a thread was just about to
 *  call may still begin after this returns, but only that one. Only ki_registration_remove_wait()
 *  and the handler's `destroy` guarantee that none runs or begins. If no callback is running,
 *  `destroy` is called inside this function. Removing twice is fine.
 *  Thread: any, also inside a callback.  Blocks: no.  Since: 0.1 */
KI_API void ki_registration_remove(ki_registration *registration);

/** The same, and waits for a callback that is running or about to begin, and for `destroy`. After
 *  0 no callback of this handler runs or begins.
 *  Thread: any but the one of that callback.  Blocks: until it returns.
 *  Errors: KI_ERR_BUSY  called inside a callback of this handler, which is removed nevertheless.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_registration_remove_wait(ki_registration *registration);

/** With KI_DELIVERY_CALLER: calls the handler for up to `max` events (0: about as many as wait when
 *  it begins). Returns how many it was called for; on_synced() counts as one.
 *  Thread: one-at-a-time.  Blocks: no, but for the callbacks.
 *  Errors: KI_ERR_BUSY         another thread is dispatching, or called inside a callback of this
 *                              handler; nothing is lost, see `wake`;
 *          KI_ERR_UNSUPPORTED  the delivery is another;
 *          KI_ERR_STOPPED      removed, or the informer has stopped: no event will come.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_registration_dispatch(ki_registration *registration, size_t max);

/** The same for ever: waits for events, until the handler is removed or the informer stops. For a
 *  thread that the handler has for itself.
 *  Thread: one-at-a-time.  Blocks: yes.
 *  Errors: KI_ERR_STOPPED  the usual end;  KI_ERR_BUSY, KI_ERR_UNSUPPORTED  as above.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_registration_run(ki_registration *registration);

KI_END_DECLS

#endif
