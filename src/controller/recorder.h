/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of the event recorder. It runs on an engine, and reaches the server through a table of
 * functions, so that tests can replace it.
 *
 *   recorder.c           creation, references, the queue
 *   recorder_send.c      one event after the other: requests, retries, the flush of a stop
 *   event_correlator.c   what becomes of an event: a new one, a higher count, or nothing
 *   event_json.c         events and patches as JSON */
#ifndef KI_CONTROLLER_RECORDER_H
#define KI_CONTROLLER_RECORDER_H

#include <stdatomic.h>

#include <kinformer/json.h>
#include <kinformer/recorder.h>

#include "base/engine.h"
#include "base/members.h"
#include "base/refs.h"
#include "base/sync.h"
#include "controller/event_correlator.h"

enum {
    KI__EVENT_TEXT_MAX = 128,  /* reason, action, controller, instance */
    KI__EVENT_NOTE_MAX = 1024, /* limits of the server */
    KI__EVENT_NAME_MAX = 253,
};

/* An object as an event names it. The strings are in the block of the event. */
typedef struct ki__event_object {
    const char *api_version;
    const char *kind;
    const char *name_space;
    const char *name; /* "": no object */
    const char *uid;
    const char *resource_version;
} ki__event_object;

/* A recorded event: one block. */
typedef struct ki__event {
    ki__list link;
    ki_event_type type;
    int64_t time_ns; /* realtime */
    ki__event_object regarding;
    ki__event_object related;
    const char *reason;
    const char *action;
    const char *note;
    char text[];
} ki__event;

/* What is sent: an event that may replace several. */
typedef struct ki__event_message {
    const ki__event *event;
    const char *controller;
    const char *instance;
    bool combined; /* of similar events */
    bool legacy;   /* core/v1 */
    uint64_t count;
    int64_t first_ns;
    const char *name_space;
    char name[KI__EVENT_NAME_MAX + 1];
} ki__event_message;

/* Requests, one at a time, inside the engine, except `destroy`. A request that was sent ends with
 * one call of ki__recorder_on_answer(), never from inside `send`, unless it is cancelled. */
typedef struct ki__event_api {
    /** `object` is NULL for a patch, which is a merge patch. */
    int (*send)(const ki__event_message *message, const ki_object *object, ki_str patch, void *user,
                ki_error *error);
    void (*cancel)(void *user);
    void (*ended)(void *user);   /* nothing is called any more */
    void (*destroy)(void *user); /* with the last reference; any thread */
    void *user;
} ki__event_api;

typedef enum ki__recorder_state {
    KI__RECORDER_IDLE,
    KI__RECORDER_SENDING, /* a request is in progress */
    KI__RECORDER_WAITING, /* for the next attempt */
    KI__RECORDER_ENDED,
    KI__RECORDER_STATE_MAX
} ki__recorder_state;

struct ki_recorder {
    ki__refs users; /* references of the program; dropping the last one stops the recorder */
    ki__refs parts; /* keep the memory: one for all users, one until it has ended, one per task */
    uint64_t process;
    ki__member member; /* of the engine, for metrics */
    ki_engine *engine; /* a reference */
    const ki_alloc *alloc;
    ki__event_api api;
    size_t max_queued;
    uint64_t flush_ns;
    char *controller;
    char *instance;

    /* Inside the engine only. */
    ki__recorder_state state;
    ki__task task;
    ki__timer retry;
    ki__timer deadline; /* of the flush */
    bool flushing;
    ki__correlator correlator;
    ki__event *event; /* in progress, or NULL */
    ki__event_message message;
    bool patching;
    bool legacy; /* the server does not serve events.k8s.io/v1 */
    uint32_t tries;
    uint64_t last_name; /* time in the name of the last event: each has another */

    /* Any thread. */
    _Atomic bool ended;
    ki__mutex lock;
    ki__list queue; /* protected by the lock, as is the rest */
    bool stopping;
    ki_recorder_stats stats;
};

int ki__recorder_new(ki_engine *engine, const ki_recorder_options *options,
                     const ki__event_api *api, ki_recorder **ret_recorder, ki_error *error);

/** The response to a request; `error` is NULL on success. Inside the engine. */
void ki__recorder_on_answer(ki_recorder *recorder, const ki_error *error);

/** Ends without sending what is queued: the loop has stopped. Inside the engine. */
void ki__recorder_abort(ki_recorder *recorder);

void ki__recorder_hold(ki_recorder *recorder);
void ki__recorder_release(ki_recorder *recorder);

/* ---- recorder.c ---- */

void ki__event_free(ki_recorder *recorder, ki__event *event);
/** Adds to a counter of the statistics. */
void ki__recorder_count(ki_recorder *recorder, uint64_t *counter, uint64_t number);

/* ---- recorder_send.c ---- */

/** Sends what is queued. Inside the engine. */
void ki__recorder_run(ki_recorder *recorder);
void ki__recorder_on_retry(ki__timer *timer);
void ki__recorder_on_deadline(ki__timer *timer);

/* ---- event_json.c ---- */

/** The event to create. `now_ns` is when it was last seen, if its count is above 1. */
int ki__event_object_make(const ki__event_message *message, const ki_alloc *alloc,
                          ki_object **ret_object, ki_error *error);
/** The merge patch that sets the count, as the text of `json`. */
int ki__event_patch_make(const ki__event_message *message, ki_json *json, ki_str *ret_patch,
                         ki_error *error);

#endif
