/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a shared informer, which some files share:
 *
 *   informer.c           making and freeing
 *   informer_run.c       starting and stopping
 *   informer_work.c      deltas into the store and to the handlers
 *   informer_handlers.c  handlers, and when they resync
 *   informer_status.c    having synced, health, and what else can be asked
 *
 * Locks: `lock` keeps the handlers and the state, and makes publishing a version and queueing its
 * notifications one step. It is never held while something of the program's is called.
 * Registrations have locks of their own, which come after this one.
 *
 * Two counts: `users` are those who have the informer; with the last of them it stops, if it was
 * never started. `parts` are the things that need its memory: the users together, and each
 * registration. The run is a user until the reflector has stopped, and takes the task back then. */
#ifndef KI_CACHE_INFORMER_INFORMER_H
#define KI_CACHE_INFORMER_INFORMER_H

#include <kinformer/informer.h>
#include <kinformer/parts/reflector.h>
#include <kinformer/parts/source.h>

#include "base/engine.h"
#include "base/refs.h"
#include "base/sync.h"
#include "cache/informer/registration.h"
#include "cache/informer/registration_wake.h"
#include "cache/queue/delta_queue.h"
#include "cache/store/mutations.h"

typedef enum ki__informer_state {
    KI__INFORMER_NEW,
    KI__INFORMER_STARTED,
    KI__INFORMER_STOPPING, /* the reflector was requested to stop */
    KI__INFORMER_STOPPED,  /* and has; handlers may still be in their last callback */
} ki__informer_state;

struct ki_informer {
    ki__refs users;
    ki__refs parts;
    ki_engine *engine;
    ki_informer_options options; /* text in it is at `text` or empty */
    ki_source source;            /* until the reflector has it */
    bool has_source;
    ki_store *store;
    ki_queue *queue;
    ki__applier applier;     /* inside the engine only, like the next five */
    ki__mutations mutations; /* if requested */
    ki__task task;
    ki__timer retry;
    bool paused; /* the reflector was asked to hold back */
    bool retrying;
    ki__wake_list wakes; /* handlers for which something was queued */

    ki__mutex lock;
    ki__cond changed; /* state, synced, or a registration */
    ki__informer_state state;
    ki_reflector *reflector; /* from the start on */
    bool synced;
    ki__list handlers; /* seats of registrations that are not removed */
    size_t handler_count;
    size_t unfinished;  /* registrations that are not over, those that are removed too */
    uint64_t resync_ms; /* how often the reflector asks; the least of what is wanted */
    uint64_t applied;
    uint64_t skipped;
    uint64_t mutation_count;
    uint64_t merged_before; /* by handlers that are gone */
    char text[];
};

/** One more that needs the memory; the last one to let go frees it. */
void ki__informer_hold(ki_informer *informer);
void ki__informer_release(ki_informer *informer);

/** Releases the source, if the reflector did not get it. Only when it is stopped, and once. */
void ki__informer_free_source(ki_informer *informer);

/** Whether ki_informer_stop() was called, finished or not. */
bool ki__informer_was_stopped(ki_informer *informer);

/** How far behind an informer is that has not synced, for comparison with others. */
typedef struct ki__informer_lag {
    bool has_list; /* in the store */
    bool synced;   /* with its handlers */
    uint64_t failed_attempts;
    uint64_t failing_ms;
} ki__informer_lag;

ki__informer_lag ki__informer_lag_of(ki_informer *informer);
/** Sets the error of a wait that ended with `code`, and returns that. */
int ki__informer_explain_wait(ki_informer *informer, int code, ki_error *error);

/* informer_work.c */

/** The task that empties the queue; it is posted only while the informer runs. */
void ki__informer_run_task(ki__task *task);
void ki__informer_retry(ki__timer *timer);

/* informer_handlers.c */

/** Decides who takes part in a resync that is due; whether anyone does. */
bool ki__informer_should_resync(ki_informer *informer);
/** Ends all registrations; no new ones come any more. */
void ki__informer_stop_handlers(ki_informer *informer);

#endif
