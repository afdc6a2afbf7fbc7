/* SPDX-License-Identifier: Apache-2.0 */
/* One handler of an informer: its queue, and delivery to it. An informer queues notifications (a
 * ki__note each: what happened to one object) from inside its engine; callbacks run where the
 * `delivery` of the options says, with no lock held. */
#ifndef KI_CACHE_INFORMER_REGISTRATION_H
#define KI_CACHE_INFORMER_REGISTRATION_H

#include <kinformer/parts/engine.h>
#include <kinformer/registration.h>

#include "base/list.h"
#include "cache/informer/handler_queue.h"

/* What an informer does about its registrations. */
typedef struct ki__registration_owner {
    /** The handler was removed: forget the registration, of which the owner has a reference. Called
     *  on any thread, with no lock held, at most once. */
    void (*removed)(ki_registration *registration, void *user);
    /** It has synced. Called on any thread, with no lock held, at most once. */
    void (*synced)(void *user);
    /** Removed or stopped, and the handler was destroyed. Called alike, once. */
    void (*over)(void *user);
    /** The registration does not need its owner any more. Called once, if it was made. */
    void (*release)(void *user);
    void *user;
} ki__registration_owner;

/** A registration that is not removed, with one reference, the caller's. The handler, with its
 *  `destroy`, is the registration's on success only. */
int ki__registration_new(ki_engine *engine, const ki_handler *handler,
                         const ki_handler_options *options, const ki__registration_owner *owner,
                         ki_registration **ret_registration, ki_error *error);

/** Makes sure that there is a thread for one that is called on threads; nothing for the others. To
 *  be done before anything is queued. -errno. */
int ki__registration_start(ki_registration *registration);

/** Undoes the making of one that nobody else has: the handler stays the caller's. */
void ki__registration_abandon(ki_registration *registration, bool started);

/** The owner's links and resync settings, for its use alone. */
typedef struct ki__registration_seat {
    ki__list link;
    ki__list wake_link;
    uint64_t wanted_ms; /* as requested; then what that comes to; 0: never */
    uint64_t resync_ms; /* as it is; 0: never */
    uint64_t next_resync;
    bool syncing; /* takes part in the current resync */
} ki__registration_seat;

/** What ki_registration_get_stats() gives. */
ki_registration_stats ki__registration_stats(ki_registration *registration);

ki__registration_seat *ki__registration_seat_of(ki_registration *registration);
ki_registration *ki__registration_of_seat(ki__registration_seat *seat);

/* Queueing; see handler_queue.h. A registration that was removed takes and forgets everything.
 * True: ki__registration_wake() must be called for it, with no lock held, now or a little later.
 */

/** Whether nothing was ever queued, so that begin is possible. */
bool ki__registration_is_fresh(ki_registration *registration);
/** Has all objects of a snapshot delivered as initial additions. The reference becomes its own. */
bool ki__registration_begin(ki_registration *registration, ki_snapshot *snapshot);
/** Reserves space for what concerns it in a batch. `notes` are the batch to be shared, or NULL. */
int ki__registration_reserve_batch(ki_registration *registration, const ki__applier *applier,
                                   const ki__notes *notes);
/** Queues what concerns it in that batch. */
bool ki__registration_push_batch(ki_registration *registration, ki__applier *applier,
                                 ki__notes *notes);
/** The owner has synced: what is queued as initial is all there will be. If that is nothing, it has
 *  synced by this, and synced() of the owner is not called. Once. */
bool ki__registration_owner_synced(ki_registration *registration);

/** Has somebody deliver: see registration_wake.c. For one of the above that returned true. */
void ki__registration_wake(ki_registration *registration);

/** Whether this thread is inside a callback of a registration whose owner has this `user`. */
bool ki__registration_is_calling(const void *user);

/** The owner stops: as ki_registration_remove(), but without calling removed() of the owner. */
void ki__registration_stop(ki_registration *registration);

#endif
