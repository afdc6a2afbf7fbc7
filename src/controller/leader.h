/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of leader election. The state machine runs on an engine, and reaches the Lease through
 * a table of functions, so that tests and the simulator can replace the server.
 *
 * Invariants: leadership begins and is extended only by a write that the server accepted, counted
 * from the time when it was sent. The Lease of another replica is taken only when it was released,
 * or when no change of it was seen for its whole duration. */
#ifndef KI_CONTROLLER_LEADER_H
#define KI_CONTROLLER_LEADER_H

#include <stdatomic.h>

#include <kinformer/leader.h>
#include <kinformer/object.h>

#include "base/engine.h"
#include "base/members.h"
#include "base/refs.h"
#include "base/sync.h"

enum { KI__IDENTITY_MAX = 255, KI__HOLDER_MAX = 511, KI__LEASE_TIME_MAX = 63 };

typedef enum ki__lease_verb {
    KI__LEASE_NONE,
    KI__LEASE_GET,
    KI__LEASE_CREATE,
    KI__LEASE_UPDATE,
    KI__LEASE_VERB_MAX
} ki__lease_verb;

/* Requests for the Lease, one at a time. All of it is called inside the engine, except `destroy`.
 * A request that was sent ends with one call of ki__leader_on_answer(), never from inside `send`,
 * unless it is cancelled. */
typedef struct ki__lease_api {
    int (*send)(ki__lease_verb verb, const ki_object *lease, void *user, ki_error *error);
    void (*cancel)(void *user);
    /** The Lease had this version: if no watch is in progress, one may begin after it, which calls
     *  ki__leader_on_lease(). May be NULL. */
    void (*watch)(const char *resource_version, void *user);
    void (*ended)(void *user);   /* the election has ended: nothing is called any more */
    void (*destroy)(void *user); /* with the last reference; any thread */
    void *user;
} ki__lease_api;

typedef enum ki__leader_state {
    KI__LEADER_NEW,
    KI__LEADER_WAITING, /* another replica leads, or none */
    KI__LEADER_LEADING,
    KI__LEADER_RELEASING, /* stopped; the Lease is being released */
    KI__LEADER_ENDED,
    KI__LEADER_STATE_MAX
} ki__leader_state;

/* What the program has requested; never goes back. */
typedef enum ki__leader_wish {
    KI__LEADER_WISH_NONE,
    KI__LEADER_WISH_START,
    KI__LEADER_WISH_STOP,
    KI__LEADER_WISH_MAX
} ki__leader_wish;

/* The Lease as last seen. */
typedef struct ki__lease {
    ki_object *object;                     /* NULL: it does not exist, or was never seen */
    char holder[KI__HOLDER_MAX + 1];       /* "": released */
    char acquired[KI__LEASE_TIME_MAX + 1]; /* acquireTime as text */
    int64_t transitions;
    uint64_t duration_ns;
    uint64_t changed_at; /* when this state was first seen */
    bool seen;           /* one was seen, even if it was deleted since */
} ki__lease;

struct ki_leader {
    ki__refs users; /* references of the program; dropping the last one stops the election */
    ki__refs parts; /* keep the memory: one for all users, one while started, one per posted task */
    uint64_t process;
    ki__member member; /* of the engine, for metrics */
    ki_engine *engine; /* a reference */
    const ki_alloc *alloc;
    ki__lease_api api;
    ki_leader_options options; /* durations and callbacks; strings are copies */
    uint64_t lease_ns;
    uint64_t renew_ns;
    uint64_t retry_ns;
    char *name_space;
    char *name;
    char *identity;

    /* Inside the engine only. */
    ki__leader_state state;
    ki__timer next;         /* the next request */
    ki__timer deadline;     /* leadership ends unless it is renewed */
    ki__task task;          /* carries the program's wish into the engine */
    ki__lease_verb request; /* in progress */
    uint64_t sent_at;
    bool must_get; /* the Lease may have changed: read it before writing */
    ki__lease lease;
    int64_t writing_term;                 /* of the write in progress */
    char written[KI__LEASE_TIME_MAX + 1]; /* acquireTime of our last write: recognizes it */
    int reported;                         /* last error code that was reported */
    uint64_t reported_at;

    /* Any thread. */
    _Atomic int64_t term;         /* -1: not leading */
    _Atomic uint64_t valid_until; /* of the term; stored before it */
    _Atomic bool ended;
    _Atomic uint64_t slow_renewals; /* those that had to read the Lease first */
    ki__mutex lock;
    ki__cond turn;        /* signaled when leadership begins, or waiters must look again */
    ki__leader_wish wish; /* protected by the lock, as is the next */
    char holder[KI__HOLDER_MAX + 1];
};

/** As ki_leader_new(), on any API. On success only, it owns `api` and the options' user. */
int ki__leader_new(ki_engine *engine, const ki_leader_options *options, const ki__lease_api *api,
                   ki_leader **ret_leader, ki_error *error);

/** The response to a request: `lease` is NULL if there is none. `error` is NULL on success. Inside
 *  the engine. */
void ki__leader_on_answer(ki_leader *leader, const ki_object *lease, const ki_error *error);

/** A watch has seen this state of the Lease; NULL: it was deleted. Inside the engine. */
void ki__leader_on_lease(ki_leader *leader, const ki_object *lease);

/** Ends the election without releasing the Lease: the loop has stopped. Inside the engine. */
void ki__leader_abort(ki_leader *leader);

/** Waits until this replica leads or `is_over` returns true. ki__leader_wake() has all waiters
 *  check that again. */
void ki__leader_wait(ki_leader *leader, bool (*is_over)(const void *arg), const void *arg);
void ki__leader_wake(ki_leader *leader);

void ki__leader_hold(ki_leader *leader);
void ki__leader_release(ki_leader *leader);

/* ---- leader_election.c ---- */

/** Acts on the program's wish. Inside the engine. */
void ki__leader_run(ki_leader *leader);
void ki__leader_on_next(ki__timer *timer);
void ki__leader_on_deadline(ki__timer *timer);

/* ---- lease.c ---- */

/** Reads a Lease into `lease`, which takes a reference. `changed_at` becomes `now` if it differs
 *  from what `lease` was. NULL: it was deleted; holder and expiry remain as they were. */
void ki__lease_see(ki__lease *lease, const ki_object *object, uint64_t now);
void ki__lease_done(ki__lease *lease);
/** When a replica other than the holder may take it. */
uint64_t ki__lease_expires_at(const ki__lease *lease);

typedef struct ki__lease_write {
    const char *name_space; /* for a new Lease */
    const char *name;
    const char *holder; /* "": released */
    const char *acquired;
    int64_t duration_s;
    int64_t transitions;
    int64_t now_ns; /* realtime */
} ki__lease_write;

/** Makes the Lease to be sent, based on `current`, whose other fields and resourceVersion it keeps;
 *  NULL: a new one. */
int ki__lease_make(const ki_alloc *alloc, const ki_object *current, const ki__lease_write *write,
                   ki_object **ret_lease, ki_error *error);

#endif
