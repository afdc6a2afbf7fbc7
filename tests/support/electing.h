/* SPDX-License-Identifier: Apache-2.0 */
/* Replicas that elect a leader on a Lease of a simulated server: each with an engine and a clock of
 * its own, which may run at another speed; requests, responses and watch events take time and may
 * be lost; replicas may be paused. One seed is one history. */
#ifndef TESTS_SUPPORT_ELECTING_H
#define TESTS_SUPPORT_ELECTING_H

#include <kinformer/leader.h>
#include <kinformer/object.h>

#include "controller/leader.h"
#include "support/world.h"

enum { ELECTING_REPLICAS_MAX = 3, ELECTING_MESSAGES_MAX = 64 };

typedef enum electing_message_kind {
    ELECTING_NOTHING,
    ELECTING_REQUEST,
    ELECTING_RESPONSE,
    ELECTING_EVENT, /* of a watch */
} electing_message_kind;

typedef struct electing_message {
    electing_message_kind kind;
    uint64_t when; /* global time */
    int replica;
    uint64_t request; /* number of the request */
    ki__lease_verb verb;
    ki_object *lease;
    ki_error error;
} electing_message;

typedef struct electing_replica {
    struct electing *all;
    int index;
    test_world world;
    ki_engine *engine;
    ki_leader *leader;      /* NULL: not running */
    uint64_t rate_permille; /* speed of its clock */
    uint64_t offset;
    bool paused;
    bool cut;         /* nothing is sent or received */
    uint64_t request; /* in progress; 0: none */
    bool watching;
    int started;  /* calls of on_started minus those of on_stopped */
    int64_t term; /* of the last on_started */
    uint64_t starts;
    char holder[64]; /* of the last on_new_leader */
} electing_replica;

typedef struct electing {
    uint64_t now; /* global time */
    uint64_t seed;
    uint64_t latency_ns; /* at most, each way */
    uint32_t loss_permille;
    const ki_alloc *alloc; /* of the replicas; NULL: the default */
    bool no_watch;
    bool forbidden; /* every request fails with 403 */
    ki_object *lease;
    uint64_t version;
    uint64_t requests;
    uint64_t writes; /* that the server accepted */
    electing_message messages[ELECTING_MESSAGES_MAX];
    electing_replica replicas[ELECTING_REPLICAS_MAX];
    int count;
    int64_t last_term; /* of any leader */
    int last_leader;
} electing;

void electing_begin(electing *e, int replicas, uint64_t seed);
/** Frees everything; stops what is running without ceremony. */
void electing_end(electing *e);

/** Creates and starts a replica's election. Returns the error of creating. */
int electing_start(electing *e, int replica, const ki_leader_options *options);
/** Drops a replica as if its process had been killed. */
void electing_kill(electing *e, int replica);

/** Lets `ns` pass. After every step, checks that no two replicas lead, and that terms grow. */
void electing_run(electing *e, uint64_t ns);

/** The replica that leads, or -1. */
int electing_leader(const electing *e);
/** Runs until some replica leads. Returns the time that took; fails after `limit_ns`. */
uint64_t electing_until_leader(electing *e, uint64_t limit_ns);

/** Deletes or replaces the Lease, as a person might. */
void electing_delete(electing *e);
void electing_set_holder(electing *e, const char *holder);

#endif
