/* SPDX-License-Identifier: Apache-2.0 */
/* Events: what `kubectl describe` shows below an object, recorded by a controller.
 *
 *   ki_recorder_options options = KI_OPTIONS_INIT(ki_recorder_options);
 *   options.controller = "example.com/website-controller";
 *   r = ki_recorder_new(client, &options, &recorder, &error);
 *   ki_recorder_event(recorder, website, KI_EVENT_NORMAL, "Created", "Reconcile", "new Service");
 *
 * Recording never waits: events are queued, and sent on the client's thread, one after the other.
 * They are merged and limited by the rules and numbers of client-go, so that a failing controller
 * does not flood the server:
 *   - an event that repeats an earlier one increments its count;
 *   - from the tenth different note on, events with the same object, type and reason within 10
 *     minutes become one event "(combined from similar events): ...";
 *   - an object has at most 25 events of a type, and one more every 5 minutes;
 *   - state of the last 4,096 events, groups and objects is kept for this.
 *
 * They are written to events.k8s.io/v1, or to core/v1 if the server does not serve that. The
 * program needs the verbs `create` and `patch` on `events` of both groups. */
#ifndef KINFORMER_RECORDER_H
#define KINFORMER_RECORDER_H

#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/object.h>

KI_BEGIN_DECLS

typedef struct ki_recorder ki_recorder;
typedef struct ki_client ki_client; /* <kinformer/client.h> */

typedef enum ki_event_type { KI_EVENT_NORMAL, KI_EVENT_WARNING, KI_EVENT_TYPE_MAX } ki_event_type;

typedef struct ki_recorder_options {
    size_t size; /* see KI_OPTIONS_INIT */

    /** Name of the controller, such as "example.com/website-controller"; required; up to 128
     *  bytes. Copied, as is the next. */
    const char *controller;
    const char *instance; /* of this replica, up to 128 bytes; NULL: controller and host name */
    size_t max_queued;    /* events that wait to be sent; 0: 1,000 */
    uint32_t flush_ms;    /* how long a stop continues to send; 0: 5 s */
} ki_recorder_options;

/** Creates a recorder.
 *  Owner:  caller; release with ki_recorder_close() or ki_recorder_unref(). The client must remain
 *          valid until it is closed.
 *  Thread: any.  Blocks: no.
 *  Errors: -EINVAL  no controller;  KI_ERR_LIMIT  a name is too long;
 *          KI_ERR_STOPPED  the client's loop is stopped;  -ENOMEM, -E2BIG.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_recorder_new(ki_client *client, const ki_recorder_options *options,
                                        ki_recorder **ret_recorder, ki_error *error);

/** Takes and releases references. Releasing the last one stops the recorder, as ki_recorder_stop().
 *  ki_recorder_unref() always returns NULL; both accept NULL.
 *  Thread: any, including callbacks.  Blocks: no.  Since: 0.1 */
KI_API ki_recorder *ki_recorder_ref(ki_recorder *recorder);
KI_API ki_recorder *ki_recorder_unref(ki_recorder *recorder);

/** An event. Everything is copied. */
typedef struct ki_event {
    size_t size;                /* see KI_OPTIONS_INIT */
    const ki_object *regarding; /* the object that it is about; required */
    const ki_object *related;   /* another object; NULL: none */
    ki_event_type type;
    const char *reason; /* why, for programs: "Created"; required; up to 128 bytes */
    const char *action; /* what was done: "Reconcile"; NULL: the reason; up to 128 bytes */
    const char *note;   /* for people; longer than 1,024 bytes: truncated; NULL: "" */
} ki_event;

/** Records an event. The result may be ignored: dropped events are counted.
 *  Thread: any, including callbacks.  Blocks: no.
 *  Errors: -EINVAL  no reason, or an unknown type;  KI_ERR_LIMIT  the queue is full, or a text is
 *          too long;  KI_ERR_STOPPED  the recorder was stopped;  -ENOMEM, -E2BIG.
 *  Since:  0.1 */
KI_API int ki_recorder_record(ki_recorder *recorder, const ki_event *event);

/** Short form of ki_recorder_record(), without a related object. `action` may be NULL.
 *  Thread: any, including callbacks.  Blocks: no.  Since: 0.1 */
KI_API int ki_recorder_event(ki_recorder *recorder, const ki_object *regarding, ki_event_type type,
                             const char *reason, const char *action, const char *note);

typedef struct ki_recorder_stats {
    size_t size;       /* see KI_OPTIONS_INIT */
    uint64_t recorded; /* accepted by ki_recorder_record() */
    uint64_t created;  /* events that the server accepted, */
    uint64_t patched;  /* and events whose count was increased there */
    uint64_t filtered; /* over the limit of their object */
    uint64_t dropped;  /* the queue was full, memory was exhausted, or a stop did not wait longer */
    uint64_t failed;   /* refused by the server, or 12 attempts failed */
    uint64_t queued;   /* now */
} ki_recorder_stats;

/** Fills *ret_stats.  Thread: any.  Blocks: no.  Errors: -EINVAL.  Since: 0.1 */
KI_API int ki_recorder_get_stats(ki_recorder *recorder, ki_recorder_stats *ret_stats);

/** Stops the recorder: no event is accepted any more, and queued events are sent for at most
 *  `flush_ms`; the rest is dropped. Accepts NULL.
 *  Thread: any, including callbacks.  Blocks: no.  Since: 0.1 */
KI_API void ki_recorder_stop(ki_recorder *recorder);

/** Stops the recorder, waits until queued events were sent, at most `flush_ms`, and releases the
 *  reference. Inside callbacks it does not wait. Always returns NULL; accepts NULL.
 *  Thread: any.  Blocks: yes.  Since: 0.1 */
KI_API ki_recorder *ki_recorder_close(ki_recorder *recorder);

KI_AUTO_DEFINE(ki_recorder, ki_recorder_close)

KI_END_DECLS

#endif
