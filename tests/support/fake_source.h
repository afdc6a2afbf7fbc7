/* SPDX-License-Identifier: Apache-2.0 */
/* A source that a test controls, and that records requests. Its responses are delivered by a task,
 * in ki_engine_run(), as the contract of sources requires. */
#ifndef TESTS_SUPPORT_FAKE_SOURCE_H
#define TESTS_SUPPORT_FAKE_SOURCE_H

#include <kinformer/parts/source.h>

#include "base/engine.h"
#include "support/world.h"

enum { FAKE_REQUESTS = 4096, FAKE_ACTIONS = 256 };

typedef struct fake_request {
    uint64_t at;
    bool watch;
    bool bookmarks;
    bool initial;
    uint32_t limit;
    uint32_t timeout;
    char version[64];
    char match[24];
    char token[64];
    char labels[32];
    char fields[32];
} fake_request;

typedef struct fake_action {
    enum { FAKE_EVENT, FAKE_SKIPPED, FAKE_ALIVE, FAKE_END } what;
    ki_watch_event_type type;
    ki_object *object;
    bool failed;
    ki_error error;
    bool listed; /* FAKE_END with metadata */
    size_t bytes;
    char key[64];
    char version[64];
    char token[64];
} fake_action;

typedef struct fake_source {
    ki_source table;
    const test_world *world;
    ki_engine *engine;
    fake_request requests[FAKE_REQUESTS];
    size_t count;
    bool open; /* a call is under way */
    bool paused;
    size_t cancels;
    size_t destroyed;
    int refuse; /* what the next request gets at once, if not 0 */
    /** Called for each request; may set the response. */
    void (*respond)(struct fake_source *source, const fake_request *request, void *user);
    void *respond_user;
    ki_source_sink sink;
    ki__task task;
    fake_action actions[FAKE_ACTIONS];
    size_t first;
    size_t last;
} fake_source;

void fake_source_init(fake_source *source, ki_engine *engine, const test_world *world);
/** Frees what was not said. */
void fake_source_done(fake_source *source);

/** The last request; fails the test if there is none. */
const fake_request *fake_last(const fake_source *source);

/* To be said in this order, to the call that is open. Objects are taken. */
void fake_event(fake_source *source, ki_watch_event_type type, ki_object *object);
void fake_bookmark(fake_source *source, const char *version, bool ends_initial_events);
/** An ERROR event, or an answer, with a Status of this code and reason ("" for none). */
void fake_error_event(fake_source *source, int code, const char *reason, const char *message);
void fake_end_status(fake_source *source, int code, const char *reason, const char *message);
/** The same for a Status in full. */
void fake_error_event_json(fake_source *source, const char *status);
void fake_end_status_json(fake_source *source, const char *status);
void fake_skipped(fake_source *source, ki_watch_event_type type, const char *key,
                  const char *version, int code);
void fake_alive(fake_source *source, size_t bytes);
void fake_end_list(fake_source *source, const char *version, const char *token);
void fake_end_watch(fake_source *source);
void fake_end_error(fake_source *source, int code);

/** An object "default/<name>" at a version, of kind Pod. */
ki_object *fake_pod(const char *name, unsigned version);
ki_object *fake_pod_text(const char *name, const char *version);

#endif
