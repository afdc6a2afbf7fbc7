/* SPDX-License-Identifier: Apache-2.0 */
/* A reflector between a fake source and a target that records what it receives. */
#ifndef TESTS_SUPPORT_REFLECTING_H
#define TESTS_SUPPORT_REFLECTING_H

#include <kinformer/parts/reflector.h>

#include "support/fake_source.h"
#include "support/test.h"
#include "support/world.h"

typedef struct reflecting {
    test_alloc alloc;
    test_world world;
    ki_engine *engine;
    fake_source source;
    ki_reflector_target target;
    ki_reflector_options options;
    ki_reflector *reflector;

    /** What the target heard: "+a@5" add, "~a@6" update, "-a@7" remove, "-(default/a)" remove by
     * key, "=(a@1,b@2)@7" replace, with "?default/c" for what was not read, and "!" behind what
     * is `known` itself, "B9" bookmark, "S" resync; names without namespace. */
    char heard[2048];
    ki_object *known; /* what the target has; NULL: nothing, and it cannot be asked */
    int fail;         /* what the next call of the target returns */
    char fail_at;     /* only calls that are written with this; 0: any */
    char hook_at;     /* calls `hook` in what is written with this: also 'E' on_watch_error, 'X' */
    void (*hook)(struct reflecting *r); /* on_stopped, '?' should_resync, '!' a report, 'L' log */
    bool may_resync;                    /* what should_resync says */
    size_t errors;                      /* calls of on_watch_error */
    ki_error error;                     /* the last of them, */
    ki_watch_failure failure;           /* in full, without its Status */
    ki_log log;
    ki_log_level log_level; /* of the lines that count here; INFO */
    size_t log_lines;       /* of the reflector */
    char log_line[1024];    /* the last: "W request failed: operation=list url=..." */
    size_t stopped;         /* calls of on_stopped */
    size_t destroyed;       /* of the target */
    size_t reports;
    int report_code;      /* of the last */
    char report_key[128]; /* the same */
} reflecting;

/** Makes engine, source and target; change `options` before reflecting_start(). */
void reflecting_init(reflecting *r);
/** Makes and starts the reflector, and settles. */
void reflecting_start(reflecting *r);
/** Stops it if that did not happen, and checks that all is released. */
void reflecting_done(reflecting *r);

/** Runs what is due. */
void reflecting_settle(reflecting *r);
void reflecting_advance(reflecting *r, uint64_t ns);

/** Compares what was heard since the last time. */
void reflecting_expect(reflecting *r, const char *heard);
/** Compares the state, and the version up to which the target knows all. */
void reflecting_expect_state(reflecting *r, ki_reflector_state state, const char *version);
ki_health reflecting_health(reflecting *r);

/** The last failure in its health; code 0 if there is none. */
ki_error reflecting_reason(reflecting *r);

/** Brings it to WATCHING by a stream that has "a@1" and ends at version 10; forgets what was
 *  heard. */
void reflecting_sync(reflecting *r);
/** The same by a list in pages, for which `no_streaming` is set. */
void reflecting_sync_by_list(reflecting *r);

#endif
