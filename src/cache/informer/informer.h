/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of a shared informer:
 *
 *   informer.c           creation and destruction
 *   informer_run.c       starting and stopping
 *   informer_work.c      deltas to the store and the handlers
 *   informer_handlers.c  handlers and resyncs
 *   informer_status.c    sync, health and other queries
 *   informer_version.c   waiting for a version of the store
 *   memory_limit.c       max_bytes
 *   reduction.c          smaller objects when it is reached
 *
 * Locks: `lock` protects the handlers and the state, and makes publishing a version and queueing
 * its notifications atomic. It is never held during callbacks. Registrations have locks of their
 * own, which come after this one in the lock order.
 *
 * Two counts: `users` are references of the program; dropping the last one stops an informer that
 * was never started. `parts` keep the memory alive: one for all users together, and one for each
 * registration. The run is a user until the reflector has stopped, and withdraws the task then. */
#ifndef KI_CACHE_INFORMER_INFORMER_H
#define KI_CACHE_INFORMER_INFORMER_H

#include <kinformer/informer.h>
#include <kinformer/parts/reflector.h>
#include <kinformer/parts/source.h>

#include "base/engine.h"
#include "base/histogram.h"
#include "base/refs.h"
#include "base/shared.h"
#include "base/sync.h"
#include "cache/informer/memory_limit.h"
#include "cache/informer/registration.h"
#include "cache/informer/registration_wake.h"
#include "cache/queue/delta_queue.h"
#include "cache/reflector/selection.h"
#include "cache/store/mutations.h"

typedef enum ki__informer_state {
    KI__INFORMER_NEW,
    KI__INFORMER_STARTED,
    KI__INFORMER_STOPPING, /* the reflector was asked to stop */
    KI__INFORMER_STOPPED,  /* the reflector has stopped; handlers may be in their last callback */
} ki__informer_state;

enum { KI__PROCESSING_BOUNDS = 12 };
extern const uint64_t ki__processing_bounds_ns[KI__PROCESSING_BOUNDS];

struct ki_informer {
    ki__refs users;
    ki__refs parts;
    ki_engine *engine;
    ki_informer_options options; /* its strings are in `text` or empty */
    ki_source source;            /* until it is passed to the reflector */
    bool has_source;
    ki_projection *projection; /* NULL: everything is kept */
    ki__selection *selection;  /* with the lock held; selectors of the options are NULL */
    ki_store *store;
    ki_queue *queue;
    ki__applier applier;     /* inside the engine only, like the next five */
    ki__mutations mutations; /* if enabled */
    ki__task task;
    ki__task close_opened; /* posted by readers */
    ki__timer retry;
    bool paused; /* the reflector was paused */
    bool retrying;
    ki__wake_list wakes; /* handlers with new notifications */
    ki__timer version_timer;

    ki__task version_task; /* calls the version waits that are over */
    ki__memory_limit limit;
    int (*queue_replace)(const ki_replacement *list, void *user, ki_error *error); /* constant */

    ki__mutex lock;
    ki__cond changed; /* signals state, synced, or a registration */
    ki__informer_state state;
    ki_reflector *reflector; /* set by the start */
    bool synced;
    ki__list handlers; /* seats of registrations that are not removed */
    size_t handler_count;
    size_t unfinished;  /* number of registrations that are not over, including removed ones */
    uint64_t resync_ms; /* resync period of the reflector: the minimum of the handlers' periods */
    uint64_t applied;
    uint64_t unchanged; /* unchanged objects of relists, which are not delivered by default */
    uint64_t skipped;
    uint64_t suppressed;
    uint64_t mutation_count;
    uint64_t merged_before;  /* by removed handlers */
    size_t version_sleepers; /* threads that wait for a version */
    ki__list version_waits;  /* callbacks that wait for a version */
    size_t version_wait_count;
    /* Histogram of the durations of batches. Any thread. */
    _Atomic uint64_t processing[KI__HISTOGRAM_CELLS(KI__PROCESSING_BOUNDS)];
    ki__member member; /* for metrics */
    char text[];
};

/** Takes a reference to the memory; the last release frees it. */
KI__SHARED void ki__informer_hold(ki_informer *informer);
KI__SHARED void ki__informer_release(ki_informer *informer);

/** Releases the source, if it was not passed to the reflector. Only once stopped, and once. */
void ki__informer_free_source(ki_informer *informer);

/** Whether ki_informer_stop() was called, completed or not. */
bool ki__informer_was_stopped(ki_informer *informer);

/** How far behind an unsynced informer is, for comparison with others. */
typedef struct ki__informer_lag {
    bool has_list; /* in the store */
    bool synced;   /* including its handlers */
    uint64_t failed_attempts;
    uint64_t failing_ms;
} ki__informer_lag;

ki__informer_lag ki__informer_lag_of(ki_informer *informer);
/** Sets the error of a wait that ended with `code`, and returns `code`. */
int ki__informer_explain_wait(ki_informer *informer, int code, ki_error *error);

/** Statistics for metrics, in addition to the health. */
typedef struct ki__informer_stats {
    uint64_t relists[KI_FAILURE_CLASS_MAX]; /* by their reasons */
    uint64_t unchanged;
    uint64_t versions;    /* of the store */
    uint64_t version_low; /* the last 15 digits of the store's resource version; 0 if it has none */
    uint64_t processing[KI__HISTOGRAM_CELLS(KI__PROCESSING_BOUNDS)];
} ki__informer_stats;

void ki__informer_get_stats(ki_informer *informer, ki__informer_stats *ret_stats);
/** As ki_informer_add_handler(), for a handler that watches on behalf of this library: it is not
 *  counted or reported as a handler, and does not receive objects that exist already. */
KI__SHARED int ki__informer_add_observer(ki_informer *informer, const ki_handler *handler,
                                         const ki_handler_options *options,
                                         ki_registration **ret_registration, ki_error *error);
/** Calls `put` with the selection, which is valid during the call only. The lock is held. */
KI__SHARED void ki__informer_with_selection(ki_informer *informer,
                                            void (*put)(const ki__selection *selection, void *user),
                                            void *user);
/** Takes references to up to `room` handlers. Returns the number of handlers. */
size_t ki__informer_get_handlers(ki_informer *informer, ki_registration **handlers, size_t room);

/* informer_work.c */

/** The task that empties the queue; posted only while the informer runs. */
void ki__informer_run_task(ki__task *task);
void ki__informer_retry(ki__timer *timer);
/** The task that closes packed objects that readers have opened. */
void ki__informer_close_opened(ki__task *task);

/* informer_version.c */

/** A version was published. Requires the lock. */
void ki__informer_note_version(ki_informer *informer);
/** Calls the callbacks whose version was reached, and those that timed out; all of them once the
 *  informer stops. Inside the engine. */
void ki__informer_end_version_waits(ki_informer *informer);
void ki__informer_version_task(ki__task *task);
void ki__informer_version_timeout(ki__timer *timer);

/* informer_handlers.c */

/** Selects the handlers for a resync that is due; false if there are none. */
bool ki__informer_should_resync(ki_informer *informer);
/** Ends all registrations; no new ones are accepted. */
void ki__informer_stop_handlers(ki_informer *informer);

#endif
