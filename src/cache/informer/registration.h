/* SPDX-License-Identifier: Apache-2.0 */
/* One handler of an informer: its queue, and delivery to it. An informer queues notifications (a
 * ki__note each: a change of one object) from inside its engine; callbacks run where the `delivery`
 * option says, with no lock held. */
#ifndef KI_CACHE_INFORMER_REGISTRATION_H
#define KI_CACHE_INFORMER_REGISTRATION_H

#include <kinformer/parts/engine.h>
#include <kinformer/registration.h>

#include "base/list.h"
#include "cache/informer/handler_queue.h"

/* Callbacks of the informer. */
typedef struct ki__registration_owner {
    /** The handler was removed: drop the owner's reference. Called on any thread, with no lock
     *  held, at most once. */
    void (*removed)(ki_registration *registration, void *user);
    /** It has synced. Called on any thread, with no lock held, at most once. */
    void (*synced)(void *user);
    /** Removed or stopped, and the handler was destroyed. Called likewise, once. */
    void (*over)(void *user);
    /** The registration no longer needs its owner. Called once, if creation succeeded. */
    void (*release)(void *user);
    void *user;
    _Atomic(uint64_t) *note_bytes; /* memory of the queues of its handlers; or NULL */
} ki__registration_owner;

/** Creates a registration with one reference, the caller's. Takes ownership of the handler, with
 *  its `destroy`, on success only. */
int ki__registration_new(ki_engine *engine, const ki_handler *handler,
                         const ki_handler_options *options, const ki__registration_owner *owner,
                         ki_registration **ret_registration, ki_error *error);

/** Ensures that there is a thread for delivery on threads; no effect otherwise. Call before
 *  anything is queued. -errno. */
int ki__registration_start(ki_registration *registration);

/** Undoes the creation of an unshared one: the caller keeps the handler. */
void ki__registration_abandon(ki_registration *registration, bool started);

/** The owner's links and resync settings. */
typedef struct ki__registration_entry {
    ki__list link;
    ki__list wake_link;
    uint64_t requested_ms; /* as requested; then the effective period; 0: never */
    uint64_t resync_ms;    /* current period; 0: never */
    uint64_t next_resync;
    bool syncing;  /* takes part in the current resync */
    bool observes; /* see ki__informer_add_observer() */
} ki__registration_entry;

/** How far behind a handler is, for metrics and checks. */
typedef struct ki__registration_lag {
    const char *name; /* owned by the registration */
    ki_registration_stats stats;
    bool synced;
    uint64_t oldest_ns;  /* age of the oldest event that is not finished; 0 if there is none */
    uint64_t running_ns; /* in the same callback, since the first call of this that found it */
} ki__registration_lag;

ki__registration_lag ki__registration_get_lag(ki_registration *registration);

/** For ki_registration_get_stats(). */
ki_registration_stats ki__registration_stats(ki_registration *registration);

ki__registration_entry *ki__registration_entry_of(ki_registration *registration);
ki_registration *ki__registration_of_entry(ki__registration_entry *entry);

/* Queueing; see handler_queue.h. A removed registration drops everything. True: call
 * ki__registration_wake() for it, with no lock held, now or slightly later. */

/** Whether nothing was ever queued, so that begin is possible. */
bool ki__registration_is_fresh(ki_registration *registration);
/** Delivers all objects of a snapshot as initial adds. Takes ownership of the reference. */
bool ki__registration_begin(ki_registration *registration, ki_snapshot *snapshot);
/** Reserves space for its notifications of a batch. `notes` is the batch to be shared, or NULL. */
int ki__registration_reserve_batch(ki_registration *registration, const ki__applier *applier,
                                   const ki__notes *notes);
/** Queues its notifications of that batch. */
bool ki__registration_push_batch(ki_registration *registration, ki__applier *applier,
                                 ki__notes *notes);
/** The owner has synced: no further initial notifications will be queued. If none are pending, it
 *  has synced by this, and synced() of the owner is not called. Once. */
bool ki__registration_owner_synced(ki_registration *registration);

/** Wakes the delivering thread: see registration_wake.c. For one of the above that returned
 *  true. */
void ki__registration_wake(ki_registration *registration);

/** Whether this thread is inside a callback of a registration whose owner has this `user`. */
bool ki__registration_is_calling(const void *user);

/** The owner stops: as ki_registration_remove(), but without calling removed() of the owner. */
void ki__registration_stop(ki_registration *registration);

#endif
