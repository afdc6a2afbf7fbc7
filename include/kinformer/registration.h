/* SPDX-License-Identifier: Apache-2.0 */
/* Registrations: a handler on an informer, returned by ki_informer_add_handler(). For programs that
 * remove handlers, dispatch their events on own threads, or read their counters. */
#ifndef KINFORMER_REGISTRATION_H
#define KINFORMER_REGISTRATION_H

#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/handler.h>

KI_BEGIN_DECLS

typedef struct ki_registration_stats {
    size_t size;        /* see KI_OPTIONS_INIT */
    uint64_t delivered; /* events that are finished, including those that the filter rejected */
    uint64_t merged;    /* events merged into others, not delivered separately */
    size_t waiting;     /* events in the queue */
} ki_registration_stats;

/** Takes and releases references. ki_registration_unref() always returns NULL and does not remove
 *  the handler; both accept NULL.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API ki_registration *ki_registration_ref(ki_registration *registration);
KI_API ki_registration *ki_registration_unref(ki_registration *registration);

/** Returns whether the handler has synced: the informer has, and all objects that existed then, or
 *  when the handler was added, have been delivered. Remains true.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API bool ki_registration_has_synced(ki_registration *registration);

/** Returns the counters of a handler.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API int ki_registration_get_stats(ki_registration *registration,
                                     ki_registration_stats *ret_stats);

/** Removes the handler from its informer and drops its queued events. Does not wait for other
 *  threads: a callback that is running there continues, and one that such a thread was about to
 *  call may still start after this function returns, but only that one. Only
 *  ki_registration_remove_wait() and the handler's `destroy` guarantee that no callback runs or
 *  starts. If no callback is running, `destroy` is called inside this function. Removing twice is
 *  allowed.
 *  Thread: any, including callbacks.  Blocks: no.  Since: 0.1 */
KI_API void ki_registration_remove(ki_registration *registration);

/** Removes the handler and waits until a callback that is running or about to start has returned,
 *  and `destroy` too. After 0, no callback of this handler runs or starts.
 *  Thread: any except that of the callback.  Blocks: until it returns.
 *  Errors: KI_ERR_BUSY  called inside a callback of this handler, which is removed nevertheless.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_registration_remove_wait(ki_registration *registration);

/** Delivers queued events of a handler with KI_DELIVERY_CALLER, up to `max` of them (0: about as
 *  many as are queued at the start). Returns the number of events delivered; on_synced() counts as
 *  one.
 *  Thread: one-at-a-time.  Blocks: no, except for the callbacks.
 *  Errors: KI_ERR_BUSY         another thread is dispatching, or called inside a callback of this
 *                              handler; no event is lost, see `wake`;
 *          KI_ERR_UNSUPPORTED  the handler has another delivery;
 *          KI_ERR_STOPPED      removed, or the informer has stopped: no event will follow.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_registration_dispatch(ki_registration *registration, size_t max);

/** Delivers events until the handler is removed or the informer stops, and waits for more. For a
 *  thread that the program dedicates to a handler with KI_DELIVERY_CALLER.
 *  Thread: one-at-a-time.  Blocks: yes.
 *  Errors: KI_ERR_STOPPED  the normal end;  KI_ERR_BUSY, KI_ERR_UNSUPPORTED  as
 *          ki_registration_dispatch().
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_registration_run(ki_registration *registration);

KI_AUTO_DEFINE(ki_registration, ki_registration_unref)

KI_END_DECLS

#endif
