/* SPDX-License-Identifier: Apache-2.0 */
/* The state of an informer, and its failures: what ki_informer_get_health() and on_watch_error
 * report. */
#ifndef KINFORMER_HEALTH_H
#define KINFORMER_HEALTH_H

#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/object.h>

KI_BEGIN_DECLS

typedef enum ki_reflector_state {
    KI_REFLECTOR_NEW,       /* not started */
    KI_REFLECTOR_STREAMING, /* gets all objects as the first events of a watch */
    KI_REFLECTOR_LISTING,   /* gets all objects in pages */
    KI_REFLECTOR_WATCHING,  /* the target is in step, and hears of changes */
    KI_REFLECTOR_BACKOFF,   /* waits before the next try */
    KI_REFLECTOR_STOPPED,
    KI_REFLECTOR_STATE_MAX
} ki_reflector_state;

/** The name of a state, such as "watching"; "unknown" for any other number.
 *  Owner: static text.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const char *ki_reflector_state_name(ki_reflector_state state);

/** What a request of a reflector was for. */
typedef enum ki_watch_operation {
    KI_OPERATION_LIST,           /* all objects, in pages or at once */
    KI_OPERATION_STREAMING_LIST, /* all objects as the initial events of a watch */
    KI_OPERATION_WATCH,          /* changes from a resource version on */
    KI_OPERATION_MAX
} ki_watch_operation;

/** The name of an operation: "list", "streaming list", "watch"; "unknown" for any other number.
 *  Owner: static text.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const char *ki_watch_operation_name(ki_watch_operation operation);

/** Classes of failures, for reports that repeat only when the cause changes. */
typedef enum ki_failure_class {
    KI_FAILURE_NONE,
    KI_FAILURE_CONNECTION,     /* no connection, or it broke, timed out or was cut short */
    KI_FAILURE_TLS,            /* the server's certificate is not accepted */
    KI_FAILURE_AUTHENTICATION, /* 401, or credentials could not be obtained */
    KI_FAILURE_FORBIDDEN,      /* 403 */
    KI_FAILURE_NOT_FOUND,      /* 404: the resource or its version is not served */
    KI_FAILURE_EXPIRED,        /* 410: the resource version is too old */
    KI_FAILURE_THROTTLED,      /* 429 */
    KI_FAILURE_SERVER,         /* 5xx, and timeouts that the server reports */
    KI_FAILURE_REJECTED,       /* any other status */
    KI_FAILURE_RESPONSE,       /* the response is not usable: not decodable, older than before */
    KI_FAILURE_LOCAL,          /* memory, descriptors, limits or settings of this program */
    KI_FAILURE_CLASS_MAX
} ki_failure_class;

/** The class of an error; KI_FAILURE_NONE if error->code is 0 or `error` is NULL.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API ki_failure_class ki_failure_classify(const ki_error *error);

/** The name of a class, such as "connection" or "not found"; "unknown" for any other number.
 *  Owner: static text.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const char *ki_failure_class_name(ki_failure_class failure_class);

/** A list, streaming list or watch that failed. Everything it points to is valid during the
 *  callback only. Later versions may append members; `size` says how many bytes there are. */
typedef struct ki_watch_failure {
    size_t size;
    ki_watch_operation operation;
    ki_failure_class failure_class;
    const ki_error *error;   /* with http_code if the server responded, else the system's code */
    const ki_object *status; /* the server's Status; NULL if it sent none */
    const char *url;         /* of the request, without query and credentials; "" if unknown */
    uint64_t attempt;        /* failed attempts in a row, this one included: from 1 */
    uint64_t failing_ns;     /* time since the first of them */
    uint64_t retry_delay_ns; /* time until the next attempt; 0: at once */
} ki_watch_failure;

/** The state of an informer or a reflector. Times are monotonic nanoseconds of the engine's clock,
 *  0 for never. */
typedef struct ki_health {
    size_t size; /* see KI_OPTIONS_INIT */
    ki_reflector_state state;
    ki_reflector_state next; /* what comes after a back-off; else the same as `state` */
    bool synced;             /* the target got at least one list */
    bool answered;           /* the source has accepted the stream or watch that is under way */
    bool paused;
    /** Of the last failure, until a list, an event, a bookmark, or 5 s of an accepted watch. A
     * watch that broke and is being resumed counts here as well. */
    ki_failure_class reason_class; /* KI_FAILURE_NONE if there is none */
    ki_watch_operation reason_operation;
    uint64_t failed_attempts; /* in a row, up to now */
    uint64_t failing_since;   /* the first of them; 0 if there is none */

    uint64_t since;         /* the present state */
    uint64_t backoff_until; /* of a back-off; else 0 */
    uint64_t last_sync;     /* when the last list was complete */
    uint64_t last_event;
    uint64_t last_bookmark;
    uint64_t last_byte; /* a sign of life of the source */

    uint64_t streams;       /* requests to list by streaming, */
    uint64_t lists;         /* in pages */
    uint64_t watches;       /* and to watch */
    uint64_t syncs;         /* lists that the target got, either way */
    uint64_t relists;       /* those after the first */
    uint64_t reconnects;    /* watches that took up where another ended */
    uint64_t fallbacks;     /* from streaming to pages */
    uint64_t backoffs;      /* waits */
    uint64_t failures;      /* failed attempts in all */
    uint64_t events;        /* of watches, bookmarks not counted */
    uint64_t bookmarks;     /* of watches */
    uint64_t listed;        /* objects in the last list */
    uint64_t arrived;       /* of the list that is coming, so far; 0 while none is */
    uint64_t resyncs;       /* told to the target */
    uint64_t skipped;       /* objects and events that could not be read or used */
    uint64_t incomplete;    /* objects with fields that the schema tables do not know */
    uint64_t anomalies;     /* lists, events and bookmarks that were older than they may be */
    uint64_t epoch_changes; /* the server went back in time, say by a restored backup */
    uint64_t target_errors; /* events that the target did not take */
    uint64_t bytes;         /* from the source */

    /* Of informers only; 0 for a reflector of its own. */
    bool stopped;
    size_t objects;          /* in the store */
    size_t queued;           /* deltas between reflector and store */
    size_t queued_bytes;     /* memory of the objects in them */
    uint64_t applied;        /* batches of deltas */
    uint64_t rejected;       /* objects that the store did not accept */
    uint64_t mutations;      /* found by check_mutations */
    size_t handlers;         /* at present */
    size_t handlers_waiting; /* events in the queue of the handler that is furthest behind */
    uint64_t merged;         /* events that were not delivered because they were merged */
    /* Of the client or engine, for all its informers: */
    size_t handler_threads;        /* at present */
    uint64_t handler_threads_full; /* how often events had to wait because all threads were busy and
                                      handler_threads of the options allowed no more */
} ki_health;

KI_END_DECLS

#endif
