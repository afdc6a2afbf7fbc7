/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers: callbacks for objects that are added, changed and deleted. */
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
    /** Number of events merged into this one because the handler was behind (see registration.h),
     *  and of earlier events that cancelled out. */
    uint64_t merged;
} ki_change;

/** Returns the name of a change: "added", "updated", "deleted" or "sync".
 *  Owner: static.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const char *ki_change_name(const ki_change *change);

typedef void (*ki_change_fn)(const ki_change *change, void *user);

/** A table of callbacks; each may be NULL. They run by default on threads that handlers share; see
 *  `delivery` in registration.h. Objects are borrowed for the call: use ki_object_ref() to keep
 *  one. No lock is held. The callbacks of one handler are called one at a time. When one is called,
 *  the store already contains the change, and possibly later ones.
 *
 *  Callbacks must not throw C++ exceptions or call longjmp() (see engine.h). */
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

    /** Events were merged because the handler was behind (see registration.h). Called before the
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

KI_END_DECLS

#endif
