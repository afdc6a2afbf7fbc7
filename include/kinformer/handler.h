/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers: callbacks for objects that are added, changed and deleted. Each handler has its own
 * queue and receives events in order, one at a time; a slow handler does not delay others.
 *
 * By default (KI_DELIVERY_THREAD) handlers share threads of the client. A handler uses a thread
 * only while it has events, and keeps it until its queue is empty or other handlers wait for a
 * thread. When all threads are busy and an event has waited for 5 ms, more threads are started, up
 * to `handler_threads` of ki_client_options or ki_loop_options (default 256). At that limit
 * events wait until a callback returns: a warning is logged, and ki_health counts it. Threads that
 * are idle for 10 s exit; one remains while there are such handlers.
 *
 * The queue is bounded. Up to its limit it keeps every event. Beyond the limit, changes of an
 * object that is already queued are merged into one: the handler still receives each object's
 * addition, its change from the last delivered state to the current one, and its deletion, but not
 * every step between. An object that was created and deleted while the handler was behind is not
 * delivered at all. on_merged() receives the number of merged events, and they are counted. */
#ifndef KINFORMER_HANDLER_H
#define KINFORMER_HANDLER_H

#include <kinformer/defs.h>
#include <kinformer/object.h>

KI_BEGIN_DECLS

typedef enum ki_change_type {
    KI_CHANGE_ADDED,
    KI_CHANGE_UPDATED,
    KI_CHANGE_DELETED,
    KI_CHANGE_SYNC, /* a resync: the object is unchanged */
    KI_CHANGE_TYPE_MAX
} ki_change_type;

/** One change of one object. Borrowed for the call: use ki_object_ref() to keep an object. */
typedef struct ki_change {
    size_t size; /* the size of this struct in the library */
    ki_change_type type;
    /** The current object; for a deletion the final state, or the last known one. */
    const ki_object *object;
    /** The last delivered state: NULL for an addition, `object` for a resync. */
    const ki_object *old;
    bool initial; /* for an addition: it existed when the informer or the handler started */
    /** For a deletion that was missed: `object` is the last known state. */
    bool final_state_unknown;
    /** Number of events merged into this one because the handler was behind (see above), and of
     *  earlier events that cancelled out. */
    uint64_t merged;
} ki_change;

/** Returns the name of a change: "added", "updated", "deleted" or "sync".
 *  Owner: static.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const char *ki_change_name(const ki_change *change);

typedef void (*ki_change_fn)(const ki_change *change, void *user);

/** A table of callbacks; each may be NULL. They run by default on threads that handlers share; see
 *  ki_delivery. Objects are borrowed for the call: use ki_object_ref() to keep one. No lock is
 *  held. The callbacks of one handler are called one at a time. When one is called, the store
 *  already contains the change, and possibly later ones.
 *
 *  Callbacks must return: they must not throw C++ exceptions or call longjmp(). In C++, use
 *  <kinformer/kinformer.hpp>, or declare them noexcept. */
typedef struct ki_handler {
    size_t size; /* see KI_OPTIONS_INIT */
    /** An object was added. `is_initial`: it existed when the informer or the handler started. */
    void (*on_add)(const ki_object *object, bool is_initial, void *user);

    /** An object has changed. `old_object` is the last state delivered to this handler. An
     *  object that was deleted and recreated with the same name is delivered as on_delete() and
     *  on_add(). */
    void (*on_update)(const ki_object *old_object, const ki_object *object, void *user);

    /** An object was deleted. `object` is normally its final state. If the deletion was missed,
     *  `final_state_unknown` is true and `object` is its last known state. */
    void (*on_delete)(const ki_object *object, bool final_state_unknown, void *user);

    /** A resync: the object is unchanged. NULL: on_update(object, object) is called instead. */
    void (*on_sync)(const ki_object *object, void *user);

    /** Events were merged because the handler was behind (see above). Called before the
     *  callback for the resulting event, for example on_update() of `object`; `merged` is the
     *  number of other events of the same object that were merged into it. `object` is NULL if the
     *  merged events cancelled out (the object was created and deleted while the handler was
     *  behind, whether or not it matches the filter) or were a superseded resync; then it is called
     *  before the next event of any object. If `object` is not NULL, the callback that follows is
     *  called even if the handler is removed here, as with `filter`. */
    void (*on_merged)(const ki_object *object, uint64_t merged, void *user);

    /** Receives every change instead of the five callbacks above, which are then not called. */
    ki_change_fn on_change;

    /** Selects the objects to deliver; NULL: all. An object that starts to match is delivered to
     *  on_add(), one that no longer matches to on_delete() with its old state. The deletion of an
     *  object is delivered if its old state matched, regardless of its final state. Must return the
     *  same result for the same object each time. The callback that follows is called even if the
     *  handler is removed inside the filter. */
    bool (*filter)(const ki_object *object, void *user);

    void *user;
    /** Called once, after the last callback: on the thread of that callback, or inside the function
     *  that removed the handler or stopped the informer. May be NULL. */
    void (*destroy)(void *user);
} ki_handler;

/** A handler on an informer; see registration.h. */
typedef struct ki_registration ki_registration;

/** Where the callbacks of a handler run. */
typedef enum ki_delivery {
    KI_DELIVERY_DEFAULT, /* KI_DELIVERY_THREAD, or KI_DELIVERY_LOOP if the loop of the client has
                            the option no_threads */
    KI_DELIVERY_LOOP,    /* on the client's thread, between its other work: they must not block */
    KI_DELIVERY_CALLER,  /* inside ki_registration_dispatch() or ki_registration_run() */
    KI_DELIVERY_THREAD,  /* on a shared thread, not always the same one; they may block */
} ki_delivery;

/** Never resync. */
#define KI_RESYNC_NEVER UINT32_MAX

typedef struct ki_handler_options {
    size_t size;      /* see KI_OPTIONS_INIT */
    const char *name; /* for reports; copied; NULL: "" */
    ki_delivery delivery;
    /** 0: as the informer; KI_RESYNC_NEVER; otherwise at least 1,000. Has no effect if the informer
     *  itself never resyncs. */
    uint32_t resync_ms;
    size_t queue_limit; /* 0: 1,024 */

    /** Deliver unchanged objects of a relist too, as updates from the object to itself. */
    bool deliver_unchanged;

    /** With packed storage (storage.h): deliver objects as they are stored, for a handler that
     *  reads only what packed objects have in plain form, such as keys and labels. It saves
     *  decompressing them. */
    bool as_stored;

    /** Called once, in order with the events, after all initial objects have been delivered. */
    void (*on_synced)(void *user);

    /** With KI_DELIVERY_CALLER: called when there are events to dispatch, on any thread with no
     *  lock held; once until the next dispatch, which must not happen inside it. If that dispatch
     *  returns KI_ERR_BUSY, wake() is called again when the running one ends with events left. It
     *  counts as a callback for removal and `destroy`. NULL: none. */
    void (*wake)(void *user);

    void *user; /* for the two above */
} ki_handler_options;

KI_END_DECLS

#endif
