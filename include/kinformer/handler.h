/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers: what a program does when objects come, change and go. */
#ifndef KINFORMER_HANDLER_H
#define KINFORMER_HANDLER_H

#include <kinformer/defs.h>
#include <kinformer/object.h>

KI_BEGIN_DECLS

/** A table of callbacks; each may be NULL. Objects are borrowed for the call: ki_object_ref() keeps
 *  one. No lock is held. For one handler the calls come one after the other. When one comes, the
 *  store has the change already, and perhaps later ones.
 *
 *  They must not throw or longjmp (see engine.h).
 *
 *  Each but on_merged() returns 0 or more, or an error, which is told to the error hook of the
 * informer and has no other effect. */
typedef struct ki_handler {
    /** An object is there. `is_initial`: it was there when the informer, or the handler, began. */
    int (*on_add)(const ki_object *object, bool is_initial, void *user);

    /** An object has changed from `old_object`, which is what the handler was told last. An object
     * that was deleted and made anew under its name is not a change: on_delete() and on_add() tell
     * of it. */
    int (*on_update)(const ki_object *old_object, const ki_object *object, void *user);

    /** An object is gone. Usually `object` is its final state. If its deletion was not seen,
     * `final_state_unknown` is true and `object` is the last that is known of it. */
    int (*on_delete)(const ki_object *object, bool final_state_unknown, void *user);

    /** A resync: the object is as it was. NULL: on_update(object, object) is called instead. */
    int (*on_sync)(const ki_object *object, void *user);

    /** Events were merged because the handler was behind (see registration.h). Called before the
     * event that stands for them: on_update() of `object` comes next, say, and `merged` events
     * more of the same object went into it. NULL: of objects that nothing is told of, as they came
     * and went meanwhile, whatever the filter says of them, or of a resync that another stands for;
     * called before the next event, whichever that is. With an object it is one with the call that
     * follows, as `filter` is. */
    void (*on_merged)(const ki_object *object, uint64_t merged, void *user);

    /** Which objects the handler wants to hear of; NULL: all. An object that begins to be wanted by
     * a change is told of by on_add(), one that ceases to by on_delete() with its old state. The
     * end of an object is told if its old state was wanted, whatever its final state. Must say the
     * same of the same object each time. It is one with the call that it leads to: that comes even
     * if the handler was removed inside the filter. */
    bool (*filter)(const ki_object *object, void *user);

    void *user;
    /** Runs once, after the last call: on the thread that made it, or inside the function that
     * removed the handler or stopped the informer. May be NULL. */
    void (*destroy)(void *user);
} ki_handler;

KI_END_DECLS

#endif
