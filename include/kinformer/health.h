/* SPDX-License-Identifier: Apache-2.0 */
/* The state and the failures of an informer: ki_informer_get_health(), and what on_watch_error of
 * its options receives. */
#ifndef KINFORMER_HEALTH_H
#define KINFORMER_HEALTH_H

#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/object.h>

KI_BEGIN_DECLS

typedef struct ki_informer ki_informer; /* <kinformer/informer.h> */

typedef enum ki_reflector_state {
    KI_REFLECTOR_NEW,       /* not started */
    KI_REFLECTOR_STREAMING, /* receives all objects as the initial events of a watch */
    KI_REFLECTOR_LISTING,   /* receives all objects in pages */
    KI_REFLECTOR_WATCHING,  /* the target is synced and receives changes */
    KI_REFLECTOR_BACKOFF,   /* waits before the next attempt */
    KI_REFLECTOR_STOPPED,
    KI_REFLECTOR_STATE_MAX
} ki_reflector_state;

/** Returns the name of a state, such as "watching"; "unknown" for any other number.
 *  Owner: static text.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const char *ki_reflector_state_name(ki_reflector_state state);

/** The purpose of a request of a reflector. */
typedef enum ki_watch_operation {
    KI_OPERATION_LIST,           /* all objects, in pages or at once */
    KI_OPERATION_STREAMING_LIST, /* all objects as the initial events of a watch */
    KI_OPERATION_WATCH,          /* changes after a resourceVersion */
    KI_OPERATION_MAX
} ki_watch_operation;

/** Returns the name of an operation: "list", "streaming list", "watch"; "unknown" for any other
 *  number.
 *  Owner: static text.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const char *ki_watch_operation_name(ki_watch_operation operation);

/** Classes of failures, for reports that repeat only when the cause changes. */
typedef enum ki_failure_class {
    KI_FAILURE_NONE,
    KI_FAILURE_CONNECTION,     /* no connection, or it broke, timed out or was truncated */
    KI_FAILURE_TLS,            /* the server's certificate is not accepted */
    KI_FAILURE_AUTHENTICATION, /* 401, or credentials could not be obtained */
    KI_FAILURE_FORBIDDEN,      /* 403 */
    KI_FAILURE_NOT_FOUND,      /* 404: the resource or its version is not served */
    KI_FAILURE_EXPIRED,        /* 410: the resourceVersion is too old */
    KI_FAILURE_THROTTLED,      /* 429 */
    KI_FAILURE_SERVER,         /* 5xx, and timeouts that the server reports */
    KI_FAILURE_REJECTED,       /* any other status */
    KI_FAILURE_RESPONSE,       /* the response is unusable: undecodable, or older than before */
    KI_FAILURE_LOCAL,          /* memory, descriptors, limits or settings of this program */
    KI_FAILURE_CLASS_MAX
} ki_failure_class;

/** Returns the class of an error; KI_FAILURE_NONE if error->code is 0 or `error` is NULL.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API ki_failure_class ki_failure_classify(const ki_error *error);

/** Returns the name of a class, such as "connection" or "not found"; "unknown" for any other
 *  number.
 *  Owner: static text.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const char *ki_failure_class_name(ki_failure_class failure_class);

/** A failed list, streaming list or watch. Everything it points to is valid during the callback
 *  only. Later versions may append members; `size` is the number of available bytes. */
typedef struct ki_watch_failure {
    size_t size;
    ki_watch_operation operation;
    ki_failure_class failure_class;
    const ki_error *error; /* with http_code if the server responded, otherwise the system's code */
    const ki_object *status; /* the server's Status; NULL if it sent none */
    const char *url;         /* of the request, without query and credentials; "" if unknown */
    uint64_t attempt;        /* consecutive failed attempts, including this one: from 1 */
    uint64_t failing_ms;     /* since the first of them */
    uint64_t retry_delay_ms; /* until the next attempt; 0: at once */
} ki_watch_failure;

/** What an informer has reduced its objects to because of its limit: see ki_at_limit. */
typedef enum ki_reduction {
    KI_REDUCTION_NONE,     /* they are as the options require */
    KI_REDUCTION_PACKED,   /* they are packed */
    KI_REDUCTION_METADATA, /* some or all are partial, and have no more than their metadata */
    KI_REDUCTION_MAX
} ki_reduction;

/** Returns the name of a reduction: "none", "packed", "metadata only"; "unknown" for any other
 *  number.
 *  Owner: static text.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const char *ki_reduction_name(ki_reduction reduction);

/** The state of an informer or a reflector, at the time of the call. */
typedef struct ki_health {
    size_t size; /* see KI_OPTIONS_INIT */
    ki_reflector_state state;
    ki_reflector_state next; /* the state after a backoff; otherwise the same as `state` */
    bool synced;             /* the target has received at least one list */
    bool accepted;           /* the source has accepted the current stream or watch */
    bool paused;
    /** Of the last failure, until a list, an event, a bookmark, or 5 s of an accepted watch. A
     *  watch that broke and is being resumed counts as well. */
    ki_failure_class reason_class; /* KI_FAILURE_NONE if there is none */
    ki_watch_operation reason_operation;
    uint64_t failed_attempts; /* consecutive, up to now */
    uint64_t failing_ms;      /* since the first of them; 0 if there is none */

    uint64_t state_ms;       /* in the current state */
    uint64_t retry_delay_ms; /* until the end of a backoff; otherwise 0 */
    /* Time since something happened; UINT64_MAX if it never did. */
    uint64_t since_sync_ms; /* a list was completed */
    uint64_t since_event_ms;
    uint64_t since_bookmark_ms;
    uint64_t since_byte_ms; /* data from the source */

    uint64_t streams;       /* requests for streaming lists */
    uint64_t lists;         /* requests for lists in pages */
    uint64_t watches;       /* requests for watches */
    uint64_t syncs;         /* lists that the target has received, of both kinds */
    uint64_t relists;       /* lists after the first */
    uint64_t reconnects;    /* watches that resumed after another ended */
    uint64_t fallbacks;     /* from streaming lists to pages */
    uint64_t backoffs;      /* number of waits */
    uint64_t failures;      /* failed attempts in total */
    uint64_t events;        /* of watches, without bookmarks */
    uint64_t bookmarks;     /* of watches */
    uint64_t listed;        /* objects in the last list */
    uint64_t arrived;       /* objects received of a list in progress; otherwise 0 */
    uint64_t resyncs;       /* delivered to the target */
    uint64_t skipped;       /* undecodable or unusable objects and events */
    uint64_t incomplete;    /* objects with fields that the schema tables do not know */
    uint64_t anomalies;     /* lists, events and bookmarks older than the current state */
    uint64_t epoch_changes; /* the server's state went back, for example by restoring a backup */
    uint64_t target_errors; /* events that the target rejected */
    uint64_t bytes;         /* received from the source */
    /** Objects and events of other shards (shard.h), which were dropped: 0 if the server filters,
     *  or has none. */
    uint64_t outside_shard;

    /* Informers only; 0 for a reflector without an informer. */
    bool stopped;
    size_t objects;          /* in the store */
    size_t queued;           /* deltas between reflector and store */
    size_t queued_bytes;     /* memory of their objects */
    uint64_t applied;        /* batches of deltas */
    uint64_t rejected;       /* objects that the store rejected */
    uint64_t mutations;      /* modified objects detected by check_mutations */
    size_t handlers;         /* current number */
    size_t handlers_waiting; /* queued events of the handler that is furthest behind */
    uint64_t merged;         /* events that were merged into others */
    uint64_t suppressed;     /* updates not delivered, as they changed no kept field */
    /** The store is not complete or not current, because max_bytes of the informer or its factory
     *  would be exceeded; until a list fits. */
    bool over_limit;
    uint64_t refusals; /* lists and watches that ended for this reason */
    /* Memory, as in ki_memory: */
    uint64_t max_bytes; /* of the informer's options */
    uint64_t memory;    /* in total */
    uint64_t object_bytes;
    uint64_t index_bytes;
    uint64_t version_bytes;
    uint64_t queue_bytes;
    uint64_t decoding_bytes;
    /* Of the client or engine, for all its informers: */
    size_t handler_threads;        /* current number */
    uint64_t handler_threads_full; /* how often events waited because all threads were busy and
                                      `handler_threads` of the options allowed no more */
    /* Of an informer at its limit: */
    ki_reduction reduction;
    bool reduced; /* to less than the options require: KI_REDUCTION_METADATA */
    /** With track_readers: since when the oldest snapshot or list of the store is held; 0 if there
     *  is none. ki_store_reader() in memory.h returns who holds it. */
    uint64_t oldest_snapshot_ms;
} ki_health;

/** Fills `health`, whose `size` must be set, and `reason` (may be NULL) with the last failure; its
 *  code is 0 if there is none.
 *  Thread: any.  Blocks: no.  Errors: -EINVAL  invalid `size`.  Since: 0.1 */
KI_API KI_NODISCARD int ki_informer_get_health(ki_informer *informer, ki_health *health,
                                               ki_error *ret_reason);

/** Copies the resourceVersion that the reflector has received all changes up to, "" before the
 *  first list, to `text` of `size` bytes. Returns its length.
 *  Thread: any.  Blocks: no.
 *  Errors: KI_ERR_LIMIT  it does not fit, including the NUL.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_informer_last_sync_resource_version(ki_informer *informer, char *text,
                                                               size_t size);

/** Reports a failure of a callback that returns nothing, such as on_change, to on_report of
 *  ki_loop_options, or to the log without one. `object` is the one that the callback received; it
 *  may be NULL. A NULL `error` is ignored.
 *  Thread: any, also inside callbacks.  Blocks: no.  Since: 0.1 */
KI_API void ki_informer_report_failure(ki_informer *informer, const ki_object *object,
                                       const ki_error *error);

KI_END_DECLS

#endif
