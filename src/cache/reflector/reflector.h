/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of the reflector: one struct, and the phases that share it.
 *
 *   reflector.c         creation, starting, stopping, and queries of other threads
 *   reflector_state.c   states and transitions
 *   reflector_error.c   classification of failures
 *   reflector_failure.c reporting of failed attempts
 *   reflector_sync.c    passing a complete list to the target
 *   reflector_stream.c  streaming lists: all objects as the first events of a watch
 *   reflector_list.c    paginated lists
 *   reflector_watch.c   watches
 *
 * Nothing here recurses: a phase that ends selects the next state, and the task starts it. */
#ifndef KI_CACHE_REFLECTOR_REFLECTOR_H
#define KI_CACHE_REFLECTOR_REFLECTOR_H

#include <stdatomic.h>

#include <kinformer/parts/reflector.h>

#include "base/backoff.h"
#include "base/engine.h"
#include "base/refs.h"
#include "base/sync.h"
#include "base/time_units.h"
#include "cache/reflector/selection.h"
#include "wire/list_collector.h"
#include "wire/pages.h"

#define KI__WATCH_SHORT_NS KI__SECOND_NS /* a shorter watch is no success */

/* Classification of errors. */
typedef enum ki__trouble {
    KI__TROUBLE_BUSY,      /* 429: the server requests a delay */
    KI__TROUBLE_REFUSED,   /* connection refused */
    KI__TROUBLE_NETWORK,   /* the connection broke */
    KI__TROUBLE_EXPIRED,   /* 410: the resourceVersion is too old */
    KI__TROUBLE_TOO_LARGE, /* the server has not reached the resourceVersion yet */
    KI__TROUBLE_INTERNAL,  /* 500 */
    KI__TROUBLE_MEMORY,    /* ours, or another transient condition */
    KI__TROUBLE_FINAL, /* repeating the request does not help: 401, 404, untrusted certificate */
    KI__TROUBLE_OTHER
} ki__trouble;

/* State of the request of the current phase. */
typedef enum ki__attempt {
    KI__ATTEMPT_NONE,     /* no request, or it has ended */
    KI__ATTEMPT_DUE,      /* the task will send it */
    KI__ATTEMPT_SENT,     /* no byte of the response received yet */
    KI__ATTEMPT_ACCEPTED, /* the server has responded */
    KI__ATTEMPT_MAX
} ki__attempt;

/* What follows a backoff. */
typedef enum ki__then { KI__THEN_LIST, KI__THEN_WATCH } ki__then;

/* Which resourceVersion a list requests. */
typedef enum ki__list_version {
    KI__LIST_VERSION_KNOWN, /* the last known one, or newer */
    KI__LIST_VERSION_LATEST /* the latest: the known one expired, or the server is behind it */
} ki__list_version;

/* Origin of `version`, which decides whether an event that is not newer was delivered before. */
typedef enum ki__origin {
    KI__ORIGIN_LIST,     /* a list or bookmark: it was */
    KI__ORIGIN_EVENT,    /* an event: others may share its version */
    KI__ORIGIN_UNORDERED /* a watch without a version sends initial events in any order */
} ki__origin;

/* Whether streaming lists work with this server. */
typedef enum ki__streaming {
    KI__STREAMING_ON,
    KI__STREAMING_CUT, /* the last one was truncated: retried once */
    KI__STREAMING_OFF  /* until `no_streaming_until` */
} ki__streaming;

/* Watches since the last list. */
typedef enum ki__watches {
    KI__WATCHES_NONE,
    KI__WATCHES_LIVED, /* the last one is running, or lasted */
    KI__WATCHES_QUICK  /* the last one delivered events, but ended within a second */
} ki__watches;

/* Durations of the options, with defaults. */
typedef struct ki__reflector_times {
    uint64_t resync_period_ns;
    uint64_t min_watch_timeout_ns;
    uint64_t initial_idle_ns;
    uint64_t initial_max_ns;
    uint64_t no_streaming_ns;
    uint64_t silence_ns;
    uint64_t internal_error_retry_ns;
} ki__reflector_times;

typedef struct ki__packer ki__packer; /* object/pack/packer.h */

struct ki_reflector {
    ki__refs refs;
    /* Constant. */
    ki_engine *engine;
    const ki_alloc *alloc;
    ki_source source;
    ki_reflector_target target;
    ki_reflector_options options; /* strings are copies in one block */
    ki__reflector_times times;
    char *text;
    ki__selection *selection; /* inside ki_engine_run() only, once started */
    /** What objects are reduced to, by an informer that is at its limit; otherwise that of the
     *  options. Lives as long as the target. Inside ki_engine_run() only, once started. */
    const ki_projection *projection;
    ki__packer *packer; /* of the store behind the target, which outlives this; or NULL */

    /* Inside ki_engine_run() only. */
    ki__task task;
    ki__timer wait;     /* for a backoff */
    ki__timer watchdog; /* for a phase */
    ki__timer resync;
    ki__timer proof;    /* for an accepted watch: when it has lasted long enough to count as good */
    ki__timer reminder; /* for a logged outage: when to log it again */
    struct {
        uint64_t attempts;       /* consecutive failed attempts */
        uint64_t since;          /* time of the first of them */
        ki_failure_class logged; /* class of the last logged failure; NONE: not logged yet */
    } failing;
    ki__timer trim; /* releases memory */
    ki_reflector_state state;
    ki__attempt attempt;
    ki__then then;                  /* what follows BACKOFF */
    ki_failure_class relist_reason; /* why the last watch ended, for the next list */
    ki__list_version list_version;
    ki__origin origin;
    ki__streaming streaming;
    ki__watches watches;
    bool paused;         /* the source is paused */
    bool paginated;      /* a list of version "0" was paginated: the server has no watch cache */
    bool reencoded;      /* the source has changed to another encoding */
    ki__backoff backoff; /* before a list */
    ki__backoff rewatch; /* before a watch is resumed; reset by progress */
    void *call;          /* for STREAMING and WATCHING */
    ki__pages pages;     /* for LISTING */
    ki__collect found;
    size_t collected;  /* bytes of it since the last preallocation */
    bool reserved;     /* target.reserve() was called with a size that still counts */
    bool removes;      /* during target.reserve(): for a deletion */
    bool may_reduce;   /* set by an informer that has synced: */
    bool reduced;      /* after a refusal, the next list only removes objects: see gather() */
    bool list_at_once; /* the list after that does not wait */
    size_t released;   /* bytes freed by lists, between blocks that stay, since the last trim */
    uint64_t began;    /* start of the current call */
    uint64_t deadline; /* end of its time limit */
    uint64_t limit;    /* of a watch: when the server should end it, plus slack */
    uint64_t alive;    /* time of its last byte that may be part of something useful */
    uint64_t progress; /* time of its last useful event */
    uint64_t events;   /* number of its events */
    uint64_t no_streaming_until;
    uint64_t first_internal; /* start of the current series of 500s */
    uint64_t last_internal;
    ki_watch_event_type last_type;       /* with the next: the last delivered event, */
    const ki_object *last_object;        /* or NULL */
    char requested[KI__VERSION_MAX + 1]; /* the version of the current list; "": the latest */
    char version[KI__VERSION_MAX + 1]; /* copy of the one in `shared`, readable without the lock */

    /* Any thread. */
    atomic_bool stopping;
    struct {
        ki__mutex lock;
        bool started;
        bool paused;
        ki__selection *selection; /* the next one, or NULL */
        char version[KI__VERSION_MAX + 1];
        ki_health health; /* without times */
        struct {          /* monotonic; 0: never */
            uint64_t failing;
            uint64_t state;
            uint64_t backoff_until;
            uint64_t sync;
            uint64_t event;
            uint64_t bookmark;
            uint64_t byte;
        } times;
        ki_error reason;                        /* of the last failure; code 0: none */
        uint64_t relists[KI_FAILURE_CLASS_MAX]; /* `relists` of the health by their reasons */
    } shared;
};

/* ---- reflector.c ---- */

/** Posts the task. */
void ki__reflector_post(ki_reflector *r);
/** Increments a counter of the health. */
void ki__reflector_count(ki_reflector *r, uint64_t *counter);
/** Sets a time of the health to now, and counts. Ends a series of failures. */
void ki__reflector_note(ki_reflector *r, uint64_t *time, uint64_t *counter);
/** Records received bytes. */
void ki__reflector_note_bytes(ki_reflector *r, size_t bytes);
void ki__reflector_set_version(ki_reflector *r, const char *version, ki__origin origin);
/** Reports a skipped object to the engine and counts it. */
void ki__reflector_skipped(ki_reflector *r, const char *key, const ki_error *error);
/** Records an object: counts it if it has fields unknown to the schema tables; the first is
 *  logged. */
void ki__reflector_note_object(ki_reflector *r, const ki_object *object);
/** Whether the object is in the shard of the reflector; counts those that are not. */
bool ki__reflector_selects(ki_reflector *r, const ki_object *object);
/** Whether a stop was requested: no further callbacks then. */
static inline bool ki__reflector_is_stopping(const ki_reflector *r)
{
    return atomic_load_explicit(&r->stopping, memory_order_acquire);
}

/** Copies `relists`. */
void ki__reflector_get_relists(ki_reflector *r, uint64_t relists[static KI_FAILURE_CLASS_MAX]);

/* ---- reflector_state.c ---- */

/** Changes to another state, or to the same for another call; asserts that the table allows it. */
void ki__reflector_set_state(ki_reflector *r, ki_reflector_state state);
/** Changes the state of the request; asserts that its table allows the transition. */
void ki__reflector_set_attempt(ki_reflector *r, ki__attempt attempt);
/** Whether the server has responded to the current request, which has not ended. */
static inline bool ki__reflector_is_accepted(const ki_reflector *r)
{
    return r->call != NULL && r->attempt == KI__ATTEMPT_ACCEPTED;
}
/** Asserts all invariants. */
void ki__reflector_check(const ki_reflector *r);
/** Drops the current call and lets the task start this phase. */
void ki__reflector_go(ki_reflector *r, ki_reflector_state state);
/** The same with a streaming or a paginated list, whichever is appropriate. */
void ki__reflector_go_sync(ki_reflector *r);
/** Drops the current call and waits; then lists or watches. `error` is the reason, or NULL; it is
 *  not reported as a failed attempt. */
void ki__reflector_back_off(ki_reflector *r, ki__then then, const ki_error *error);
/** The same for a failed attempt, which is reported. Afterwards the reflector must not be accessed
 *  except by ki__reflector_check(): the program may have stopped it. */
void ki__reflector_fail(ki_reflector *r, ki__then then, const ki_error *error,
                        const ki_object *status);
/** The same, but the next phase starts without a delay. */
void ki__reflector_fail_at_once(ki_reflector *r, ki_reflector_state next, const ki_error *error);
/** The target has dropped what it received: lists again after a backoff. Inside the engine, not in
 *  a callback of the reflector. */
void ki__reflector_reject(ki_reflector *r, const ki_error *error);
/** Lists again now, unless it is listing. Inside the engine, not in a callback of the
 *  reflector. */
void ki__reflector_relist(ki_reflector *r);
/** Cancels the current call and its timers. */
void ki__reflector_drop_call(ki_reflector *r);
/** Sets the times of a call that starts now. `limit_ns` is its time limit. */
void ki__reflector_begin_call(ki_reflector *r, uint64_t limit_ns);
/** Sets the watchdog to the next deadline. */
void ki__reflector_watch_over(ki_reflector *r);
/** Pauses or resumes the source of the call. */
void ki__reflector_apply_pause(ki_reflector *r);
void ki__reflector_on_wait(ki__timer *timer);
void ki__reflector_on_watchdog(ki__timer *timer);

/* ---- reflector_error.c ---- */

ki__trouble ki__reflector_classify(const ki_error *error, const ki_object *status);
/** Whether a watch that got a 500 may simply be resumed. */
bool ki__reflector_may_retry_internal(ki_reflector *r);
/** Whether the error says that the source has changed to another encoding, for the first time; then
 *  the same request is repeated immediately. */
bool ki__reflector_reencode(ki_reflector *r, const ki_error *error);

/* ---- reflector_failure.c ---- */

/** The operation of the current phase. */
ki_watch_operation ki__reflector_operation(const ki_reflector *r);
/** Records the reason in the health, without a report. */
void ki__reflector_note_reason(ki_reflector *r, const ki_error *error);
/** Logs, for debugging, an error that is not a failure: it only leads to another request
 *  immediately. */
void ki__reflector_log_routine(const ki_reflector *r, const char *message, const ki_error *error);
/** Counts, logs and reports a failed attempt. The program may stop the reflector inside. */
void ki__reflector_report(ki_reflector *r, ki_watch_operation operation, const ki_error *error,
                          const ki_object *status, uint64_t delay_ns);
/** Ends a series of failures, if there is one. */
void ki__reflector_recovered(ki_reflector *r);
/** The watch was accepted. */
void ki__reflector_await_proof(ki_reflector *r);
void ki__reflector_on_proof(ki__timer *timer);
void ki__reflector_on_reminder(ki__timer *timer);

/* ---- reflector_sync.c ---- */

/** The list in `found` is complete at `version`: passes it to the target. 0, or an error with the
 *  reason for rejecting the list. */
int ki__reflector_complete(ki_reflector *r, const char *version, ki_error *error);

typedef int (*ki__collector)(ki__collect *collect, const ki_object *object);

/** The projection for requests: a transform function always receives what the options keep. */
static inline const ki_projection *ki__reflector_requested(const ki_reflector *r)
{
    return r->target.transform != NULL ? r->options.projection : r->projection;
}

/** What an object is reduced to before it is passed to the target: *ret_object is a reference, or
 *  unchanged if there is nothing to do. 0 or -ENOMEM. */
int ki__reflector_reduce(const ki_reflector *r, const ki_object *object, ki_object **ret_object,
                         ki_error *error);

/** What is kept of an object that the source gave as a whole: *ret_object is a reference, or
 *  unchanged if there is nothing to do. 0 or -ENOMEM. */
int ki__reflector_project(const ki_reflector *r, const ki_object *object, ki_object **ret_object,
                          ki_error *error);

/** Transforms an object of a list and collects it or, if it is unchanged, the one that the target
 *  has. Objects for which that fails are skipped and count as unread. `collect` is one of those of
 *  list_collector.h.
 *  Errors: those of list_collector.h;  transient ones of the transform function. */
int ki__reflector_collect(ki_reflector *r, const ki_object *object, ki__collector collect,
                          ki_error *error);
/** Returns memory to the system some time after a list. */
void ki__reflector_on_trim(ki__timer *timer);
/** Resyncs the target, if due. */
void ki__reflector_on_resync(ki__timer *timer);
/** Whether the event has an expected kind and a key. If not, it was skipped. */
bool ki__reflector_is_usable(ki_reflector *r, ki_watch_event_type type, const ki_object *object);

/** What a store and a list need for an object besides itself, about. */
enum { KI__REFLECTOR_ENTRY_BYTES = 96 };

/** Reserves memory of the target for an object of `bytes`, in addition to the list. 0 or
 *  KI_ERR_OVER_LIMIT. */
int ki__reflector_reserve(ki_reflector *r, size_t bytes, ki_error *error);
/** The reflector holds no objects any more. */
void ki__reflector_unreserve(ki_reflector *r);

/* ---- reflector_stream.c ---- */

void ki__reflector_stream_begin(ki_reflector *r);
void ki__reflector_stream_event(ki_reflector *r, ki_watch_event_type type, const ki_object *object);
void ki__reflector_stream_skipped(ki_reflector *r, ki_watch_event_type type, const char *key);
/** The request failed, or an ERROR event arrived; `error` is NULL if the stream ended normally. */
void ki__reflector_stream_ended(ki_reflector *r, const ki_error *error, const ki_object *status);
/** A list completed: the next truncated streaming list is retried again. */
void ki__reflector_trust_streaming(ki_reflector *r);
/** It makes no progress, or does not end. */
void ki__reflector_stream_idle(ki_reflector *r, const char *why);

/* ---- reflector_list.c ---- */

extern const ki__pages_sink ki__reflector_pages_sink;
void ki__reflector_list_begin(ki_reflector *r);
void ki__reflector_list_failed(ki_reflector *r, const ki_error *error, const ki_object *status);

/* ---- reflector_watch.c ---- */

/** Starts a watch of the source; its callbacks go to the current phase. */
int ki__reflector_open_watch(ki_reflector *r, ki_list_options *options, ki_error *error);
void ki__reflector_watch_begin(ki_reflector *r);
/** The open stream becomes the watch. */
void ki__reflector_follow_watch(ki_reflector *r);
/** The watch has ended, by an ERROR event if `in_stream`; `error` is NULL if it ended normally. */
void ki__reflector_watch_ended(ki_reflector *r, const ki_error *error, const ki_object *status,
                               bool in_stream);

#endif
