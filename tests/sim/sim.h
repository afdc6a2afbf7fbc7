/* SPDX-License-Identifier: Apache-2.0 */
/* The simulator: informers, API servers and the network between them in one thread, on a clock that
 * moves only when nothing is left to do. Every choice comes from one seed, so that one number is
 * one exact history.
 *
 *   world.c    choices, time, what happens when, memory that fails
 *   server.c   the API servers, what is written to them, and the record of what was
 *   net.c      requests and answers as streams of bytes; the balancer
 *   faults.c   what goes wrong in this history, and when
 *   client.c   informers; handler.c: their handlers; work.c: work queues that these feed
 *   check.c    what must hold after every step, and at the end
 *   run.c      one history from beginning to end
 *   small.c    every order of a few things, instead of some orders of many */
#ifndef TESTS_SIM_SIM_H
#define TESTS_SIM_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <kinformer/clock.h>
#include <kinformer/health.h>
#include <kinformer/informer.h>
#include <kinformer/parts/engine.h>
#include <kinformer/parts/transport.h>
#include <kinformer/worker.h>
#include <kinformer/workqueue.h>

#include "apiserver/exchange.h"
#include "apiserver/server.h"
#include "base/engine.h"

enum {
    SIM_KEYS = 12, /* names that objects have, of each resource */
    SIM_TYPES = 2, /* pods and a custom resource */
    SIM_SERVERS = 3,
    SIM_INFORMERS = 6, /* in one history, one after the other or side by side */
    SIM_HANDLERS = 24, /* of one informer, in its life */
    SIM_REQUESTS_KEPT = 40,
    SIM_WORKERS = 3,
};

#define SIM_MS UINT64_C(1000000)
#define SIM_SECOND (1000 * SIM_MS)
#define SIM_MINUTE (60 * SIM_SECOND)

typedef struct sim sim;
typedef struct sim_call sim_call;
/* The fields that an informer keeps. */
typedef enum sim_keep {
    SIM_KEEP_ALL,
    SIM_KEEP_NODE,     /* the node, and all labels */
    SIM_KEEP_LABEL,    /* the node, and one label: some updates change neither */
    SIM_KEEP_DELIVERS, /* the same, but these updates are delivered */
    SIM_KEEP_MAX
} sim_keep;

typedef struct sim_informer sim_informer;

/** What a choice is about. Each has a row of its own, so that one more choice about the network
 *  does not change what is written to the servers. */
typedef enum sim_topic {
    SIM_SETUP,
    SIM_LOAD,
    SIM_NET,
    SIM_SERVER,
    SIM_CLIENT,
    SIM_ORDER,
    SIM_MEMORY_CHOICE,
    SIM_ENTROPY,
    SIM_TOPIC_MAX
} sim_topic;

/** What can go wrong, or be unusual. */
typedef enum sim_fault {
    SIM_LAG,           /* servers show the past */
    SIM_MOVE,          /* requests go to any server, the stalest first */
    SIM_REFUSE,        /* connections are refused */
    SIM_RESET,         /* connections break, with what was on its way */
    SIM_CUT,           /* answers break at some byte */
    SIM_STALL,         /* connections go silent */
    SIM_SPLIT,         /* bytes come in small pieces */
    SIM_DELAY,         /* they come late */
    SIM_RESTART,       /* servers go away and come back without history */
    SIM_COMPACT,       /* history is forgotten */
    SIM_WINDOW,        /* servers keep little of it */
    SIM_ERRORS,        /* requests fail with a code */
    SIM_STREAM_ERRORS, /* the same inside a watch */
    SIM_BUSY,          /* 429 with Retry-After */
    SIM_DROP,          /* watches end early */
    SIM_NO_END,        /* streaming lists that never say that they are complete */
    SIM_NO_STREAM,     /* servers that know nothing of streaming lists */
    SIM_JUMP,          /* the clock leaps */
    SIM_MEMORY,        /* allocations fail */
    SIM_POISON,        /* an object that nobody can read */
    SIM_LATE,          /* handlers come at any time */
    SIM_REMOVE,        /* and go */
    SIM_REENTRANT,     /* callbacks call the informer */
    SIM_SLOW,          /* handlers that sleep */
    SIM_RENEW,         /* informers are stopped, and new ones started */
    SIM_STOP_EARLY,    /* everything ends in the middle */
    SIM_REWIND,        /* watches begin with events from the past */
    SIM_BARE,          /* deletions do not say of what */
    SIM_MIX,           /* pages of a list are of different moments */
    /* what makes it impossible to be right */
    SIM_SKIP,    /* events are left out */
    SIM_AHEAD,   /* bookmarks promise what has not come */
    SIM_STALE,   /* a request for the newest gets an older one */
    SIM_RESTORE, /* servers go back to a backup */
    SIM_FAULT_MAX
} sim_fault;

#define SIM_FIRST_BYZANTINE SIM_SKIP

const char *sim_fault_name(sim_fault fault);

/** What a batch must have met; names and least numbers are in counts.c. */
typedef enum sim_count {
    SIM_COUNT_STEPS,
    SIM_COUNT_WRITES,
    SIM_COUNT_VERSIONS, /* of stores */
    SIM_COUNT_ADDS,
    SIM_COUNT_UPDATES,
    SIM_COUNT_DELETES,
    SIM_COUNT_UNSEEN_DELETES,
    SIM_COUNT_SYNCS,
    SIM_COUNT_INITIAL_ADDS,
    SIM_COUNT_STREAMS,
    SIM_COUNT_LISTS,
    SIM_COUNT_PAGES,
    SIM_COUNT_WATCHES,
    SIM_COUNT_RELISTS,
    SIM_COUNT_RECONNECTS,
    SIM_COUNT_FALLBACKS,
    SIM_COUNT_BACKOFFS,
    SIM_COUNT_BOOKMARKS,
    SIM_COUNT_EXPIRED,
    SIM_COUNT_TOO_LARGE,
    SIM_COUNT_BUSY,
    SIM_COUNT_INTERNAL,
    SIM_COUNT_REFUSED,
    SIM_COUNT_RESETS,
    SIM_COUNT_CUTS,
    SIM_COUNT_STALLS,
    SIM_COUNT_NO_MEMORY,
    SIM_COUNT_SKIPPED,
    SIM_COUNT_ANOMALIES,
    SIM_COUNT_EPOCHS,
    SIM_COUNT_REFUSALS,
    SIM_COUNT_RECOVERIES,
    SIM_COUNT_REDUCED,
    SIM_COUNT_RESTORED,
    SIM_COUNT_PACKED,
    SIM_COUNT_HANDLERS,
    SIM_COUNT_LATE_HANDLERS,
    SIM_COUNT_REMOVED,
    SIM_COUNT_REMOVED_INSIDE,
    SIM_COUNT_ADDED_INSIDE,
    SIM_COUNT_STOPPED_INSIDE,
    SIM_COUNT_MERGED,
    SIM_COUNT_RESTARTED_CLIENTS,
    SIM_COUNT_PROTOBUF,
    SIM_COUNT_WORKED,
    SIM_COUNT_CONVERGED,
    SIM_COUNT_SIM_SECONDS,
    SIM_COUNT_MAX
} sim_count;

/* ---- the record of what was written ---- */

typedef struct sim_version {
    uint64_t rv;
    ki_object *object; /* NULL: deleted at this version */
} sim_version;

typedef struct sim_record {
    sim_version *versions; /* oldest first */
    size_t count;
    size_t cap;
} sim_record;

typedef struct sim_server {
    sim *s;
    int id;
    ki__api_server *server;
    ki__api_faults faults;
    uint64_t down_until; /* refuses everything until then */
} sim_server;

/* ---- informers and handlers ---- */

typedef enum sim_scope {
    SIM_SCOPE_ALL,
    SIM_SCOPE_LABEL,     /* app=a, by label selector */
    SIM_SCOPE_NAMESPACE, /* ns0, by the path */
    SIM_SCOPE_FIELD,     /* metadata.namespace=ns1, by field selector */
    SIM_SCOPE_MAX
} sim_scope;

typedef struct sim_handler {
    sim_informer *owner;
    int id;
    ki_registration *registration;
    bool on_caller; /* the program dispatches */
    bool sleeps;    /* for long, between dispatches */
    bool filtered;  /* wants app=a only */
    bool wants_sync;
    bool unchanged; /* deliver_unchanged */
    bool never;     /* wants no resync */
    bool feeds;     /* the work queue */
    bool late;
    bool removing; /* remove was called, inside of a callback of its own */
    bool removed;  /* remove returned */
    bool inside;   /* a callback is running */
    bool synced;   /* has_synced was true once */
    bool on_synced_called;
    bool waking;
    int destroyed;
    size_t limit;
    uint64_t merged;
    uint64_t counted_merged;
    uint64_t merged_received;        /* as it was delivered itself */
    const ki_object *merged_now;     /* the next event replaces several of this object */
    const ki_object *view[SIM_KEYS]; /* what it received last; NULL: nothing, or deleted */
    uint64_t last_rv[SIM_KEYS];      /* of what it received last, deletions too */
    bool delivered[SIM_KEYS];        /* ever */
    bool initial[SIM_KEYS];          /* part of what was there when it came */
    bool has_initial;                /* `initial` is filled */
    bool dirty;                      /* was called since the last check */
    uint64_t base_rv;                /* of the store when it came */
} sim_handler;

/** A work queue that a handler feeds. */
typedef struct sim_work {
    sim_informer *owner;
    ki_workqueue *queue; /* NULL: none */
    ki_work held[SIM_WORKERS];
    int workers;
    bool polling; /* the next look is on its way */
    uint64_t poll_at;
    bool working[SIM_KEYS];
    bool pending[SIM_KEYS];     /* could not be added for lack of memory, and will be */
    uint64_t seen[SIM_KEYS];    /* the version that was worked on last */
    uint64_t promise[SIM_KEYS]; /* when it is to be worked on again, at the latest; 0: need not */
} sim_work;

struct sim_informer {
    sim *s;
    int id;
    ki_informer *informer;
    int type;
    sim_scope scope;
    bool deltas;        /* a ki_delta_fifo */
    bool json;          /* only */
    bool transforms;    /* has a transform function */
    sim_keep keep;      /* which fields it keeps */
    bool packed;        /* stores objects packed */
    uint64_t max_bytes; /* of its memory; 0: any */
    ki_at_limit at_limit;
    uint64_t restorations; /* reduced objects that became whole */
    bool stale_start;      /* allowed */
    bool stopping;         /* was asked to stop */
    bool over;             /* and has */
    bool refused;          /* a request, since the last list */
    bool expired;          /* a watch, and no request was sent since */
    int server;            /* it is at, if sticky */
    bool no_streaming;
    bool works; /* has a work queue */
    uint32_t first_handlers;
    uint32_t page_size;
    uint32_t resync_ms;
    uint64_t head_at_start;
    uint64_t stopped_at;
    /* as the last check has seen it */
    uint64_t version;
    uint64_t store_rv;
    uint64_t sync_rv;
    uint64_t epochs;
    uint64_t syncs;     /* lists, */
    uint64_t listed_rv; /* and the version of the last */
    bool synced;
    ki_health health;
    uint64_t requests[SIM_REQUESTS_KEPT]; /* times of the last ones */
    size_t request_count;
    sim_work work;
    sim_handler handlers[SIM_HANDLERS];
    int handler_count;
};

/* ---- the world ---- */

typedef void (*sim_fire)(sim *s, void *arg, uint64_t tag);

typedef struct sim_event {
    uint64_t at;
    uint64_t order;
    sim_fire fire;
    void *arg;
    uint64_t tag;
} sim_event;

typedef struct sim_options {
    uint64_t seed;
    const uint8_t *bytes; /* choices, instead of the seed; those of after the last byte are 0 */
    size_t len;
    uint64_t without; /* a bit for each fault that is left out */
    uint64_t only;    /* a bit for each that may be there; 0: all */
    bool trace;
    bool abort; /* on a violation, rather than to end the process in order */
    /** Called with each order of the small scope before it is run. */
    void (*on_start)(uint64_t number);
    /** Called with a violation before the process ends. */
    void (*on_violation)(const sim *s, const char *invariant, const char *text);
} sim_options;

struct sim {
    sim_options options;
    uint64_t random[SIM_TOPIC_MAX];
    size_t byte; /* of the options' bytes */
    uint64_t counts[SIM_COUNT_MAX];

    uint64_t now;
    int64_t realtime_offset;
    ki_clock clock;
    ki_random entropy;
    sim_event *events; /* a heap */
    size_t event_count;
    size_t event_cap;
    uint64_t order;
    uint64_t steps;
    uint64_t steps_now; /* without the time advancing */

    ki_alloc client_alloc;
    size_t live_blocks;
    size_t live_bytes;
    size_t peak_bytes;
    uint32_t memory_rate; /* of allocations that fail, in 65536; 0: none */
    bool reading;         /* a check reads objects: memory does not run out */

    bool faults[SIM_FAULT_MAX];
    bool byzantine;
    bool healed; /* faults are over */
    bool ending; /* everything is stopping */
    uint64_t heal_at;
    uint32_t writes_left;
    uint32_t key_count;

    const ki_resource *resources[SIM_TYPES];
    ki__api_model *model;
    sim_server servers[SIM_SERVERS];
    int server_count;
    bool changed; /* the model, since watches were looked at last */
    uint64_t read_sequence;
    sim_record records[SIM_TYPES][SIM_KEYS];
    uint32_t write_number;

    sim_call *calls; /* a list */
    ki_engine *engine;
    sim_informer informers[SIM_INFORMERS];
    int informer_count;
    uint64_t newest_seen; /* the highest version that an informer has synced to */
};

/* ---- world.c ---- */

void sim_world_init(sim *s, const sim_options *options);
void sim_world_done(sim *s);

/** A number below n, which is not 0. */
uint32_t sim_draw(sim *s, sim_topic topic, uint32_t n);
/** Whether there are no bytes left to draw from, or they have led on for long enough. */
bool sim_is_exhausted(const sim *s);
/** True once in n times. */
bool sim_once_in(sim *s, sim_topic topic, uint32_t n);
/** Between two numbers, both included; small ones are more likely. */
uint64_t sim_draw_skewed(sim *s, sim_topic topic, uint64_t low, uint64_t high);

void sim_at(sim *s, uint64_t at, sim_fire fire, void *arg, uint64_t tag);
static inline void sim_after(sim *s, uint64_t delay, sim_fire fire, void *arg, uint64_t tag)
{
    sim_at(s, s->now + delay, fire, arg, tag);
}

/** Lets one thing happen, and checks. False if nothing will ever happen again before `until`, to
 *  which the clock has moved then. */
bool sim_step(sim *s, uint64_t until);

/** Lets the engine do all that is due, and checks after each thing. */
void sim_settle(sim *s);

void sim_trace(const sim *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Something that must hold does not. Does not return. */
_Noreturn void sim_violation(const sim *s, const char *invariant, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static inline void sim_count_up(sim *s, sim_count count)
{
    s->counts[count]++;
}

/* ---- server.c ---- */

void sim_servers_init(sim *s);
void sim_servers_done(sim *s);
/** Reads what was written into the record. */
void sim_read_log(sim *s);
/** One write of some kind to some object. */
void sim_write(sim *s);
void sim_load_start(sim *s);
/** A request that changes something; the status of the answer. */
int sim_request(sim *s, const char *method, const char *target, const char *body);
/** The object of a key at a version; NULL if there was none. */
ki_object *sim_record_at(const sim *s, int type, int key, uint64_t rv);
/** The version of an object as a number. */
uint64_t sim_rv(const ki_object *object);
uint64_t sim_rv_text(const char *text);
/** The number of a key such as "ns0/k3"; -1 if it is none. */
int sim_key_of(const char *key);
void sim_key_text(int key, char text[static 16]);
/** All servers catch up. */
void sim_servers_heal(sim *s);
void sim_server_restart(sim *s, sim_server *server, uint64_t down_ns);
bool sim_has_label_a(const ki_object *object);

/** Whether two objects have the same fields as far as an informer keeps them, without their
 *  versions. */
bool sim_is_same_kept(const sim_informer *informer, const ki_object *a, const ki_object *b);
/** Whether an object of the informer has what it keeps, and reports the rest as not kept. */
bool sim_is_projected(const sim_informer *informer, const ki_object *object);
/** Whether updates of other fields are not delivered. */
bool sim_suppresses(const sim_informer *informer);

/* ---- net.c ---- */

/** A transport for an informer. */
ki_transport sim_transport(sim_informer *informer);
/** Looks after all calls: the model has changed. */
void sim_net_pump(sim *s);
void sim_net_reset(sim *s, sim_server *server); /* of one server, or of all if NULL */
void sim_net_break_one(sim *s, bool silent);
void sim_net_done(sim *s);
/** An event that will not happen any more. */
void sim_net_forget(const sim_event *event);
/** Streams that were silent for too long without being given up. */
const char *sim_net_overdue(sim *s);

/* ---- faults.c ---- */

void sim_faults_draw(sim *s);
void sim_faults_start(sim *s);
void sim_faults_heal(sim *s);
/** What shall go wrong with a request, for the servers. */
void sim_faults_decide(const ki__api_point *point, ki__api_plan *plan, void *user);
static inline bool sim_is_on(const sim *s, sim_fault fault)
{
    return s->faults[fault] && !s->healed;
}

/* ---- client.c ---- */

void sim_client_start(sim *s);
sim_informer *sim_informer_start(sim *s);
/** An engine for the clients. */
void sim_engine_start(sim *s);
/** The same as sim_informer_start() for one whose kind was set. */
void sim_informer_begin(sim *s, sim_informer *informer);
void sim_informer_tune_packer(sim_informer *informer);
void sim_informer_stop(sim_informer *informer);
void sim_client_wake_all(sim *s);
void sim_client_done(sim *s);
bool sim_in_scope(const sim_informer *informer, const ki_object *object);
bool sim_client_is_running(const sim_informer *informer);

/* ---- work.c ---- */

/** Gives an informer a work queue, if there is memory. */
void sim_work_start(sim_informer *informer);
void sim_work_add(sim_work *work, int key);
void sim_work_stop(sim_work *work);
/** What a handler received and no worker has processed yet; NULL if nothing. */
const char *sim_work_check(const sim_work *work, const sim_handler *feeder);
void sim_work_done(sim_work *work);

/* ---- handler.c ---- */

/** A handler of any kind; NULL if there was no memory or no room. */
sim_handler *sim_handler_add(sim_informer *informer, bool late);
void sim_handler_remove(sim_handler *handler);
void sim_handler_wake(sim_handler *handler);
/** Notes what is in a snapshot as what was there when the handler came. */
void sim_handler_note_initial(sim_handler *handler, const ki_snapshot *snapshot);
/** Releases all handlers of an informer. */
void sim_handlers_done(sim_informer *informer);
/** Whether the handler selects an object. */
bool sim_handler_wants(const sim_handler *handler, const ki_object *object);
/** A handler that still is one. */
static inline bool sim_handler_is_active(const sim_handler *handler)
{
    return handler->registration != NULL && !handler->removed && !handler->removing &&
           !handler->owner->stopping;
}

/* ---- check.c: of handlers, as they are called ---- */

typedef enum sim_callback { SIM_ADD, SIM_UPDATE, SIM_DELETE, SIM_SYNC } sim_callback;

void sim_check_callback(sim_handler *handler, sim_callback callback, const ki_object *old,
                        const ki_object *object, bool flag);
/** Before that callback: so many events went into it, or with NULL into none. */
void sim_check_merged(sim_handler *handler, const ki_object *object, uint64_t merged);

/* ---- check.c: after each step ---- */

void sim_check_step(sim *s);
/** NULL if all informers and their handlers are as the servers, or what is not. */
const char *sim_check_converged(sim *s, bool sleepers_too);

/* ---- run.c ---- */

/** Everything that a history begins with, but for the informers. */
void sim_begin(sim *s, const sim_options *options);
/** Waits until everything is as it must be. */
void sim_converge(sim *s);
/** The end of one: everything stops and is released. */
void sim_end(sim *s);

/** One whole history. Adds what it met to `counts`. */
void sim_run(const sim_options *options, uint64_t counts[SIM_COUNT_MAX]);

/* ---- small.c ---- */

/** Every order of a few things; of fewer if `quick`. Returns how many orders there were. `only` is
 *  the number of the last one to run, which is printed; or UINT64_MAX. */
uint64_t sim_small(const sim_options *options, bool quick, uint64_t only);

/* ---- small_queue.c ---- */

/** The same of what comes into a delta queue and what is taken out of it. */
uint64_t sim_small_queue(const sim_options *options, bool quick);

/* ---- counts.c ---- */

const char *sim_count_name(sim_count count);
/** How many a batch of `seeds` must have met. */
uint64_t sim_count_least(sim_count count, uint64_t seeds);

#endif
