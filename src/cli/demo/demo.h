/* SPDX-License-Identifier: Apache-2.0 */
/* `kinformer demo`: shared state of its parts. Everything runs on one thread, except for the
 * server, which has its own thread and is reached through a socket. */
#ifndef KI_CLI_DEMO_DEMO_H
#define KI_CLI_DEMO_DEMO_H

#include <kinformer/apiserver.h>
#include <kinformer/call.h>
#include <kinformer/path.h>
#include <kinformer/request.h>
#include <kinformer/worker.h>
#include <kinformer/workqueue.h>

#include "cli/demo/demo_check.h"
#include "cli/demo/demo_world.h"
#include "cli/gauge.h"
#include "cli/session.h"
#include "cli/term.h"

/** The informers. */
enum {
    DEMO_PODS,
    DEMO_DEPLOYMENTS,
    DEMO_NODES,
    DEMO_MAPS,
    DEMO_SPACES,
    DEMO_PODCOUNTS,
    DEMO_RESOURCES,
};

enum { DEMO_LINES = 256, DEMO_LINE_MAX = 160, DEMO_BARS = 256, DEMO_CALLS = 4 };

#define DEMO_NODE_INDEX "node"
/** The node whose pods are queried, and that fails. */
enum { DEMO_NODE = 7 };

typedef struct demo demo;

typedef struct demo_options {
    uint32_t seconds;
    uint32_t objects;
    uint32_t rate;
    uint32_t seed;
    uint32_t wait_ms;
    const char *listen;
} demo_options;

/** State of one informer. */
typedef struct demo_row {
    cli_gauge gauge;
    uint64_t adds;
    uint64_t updates;
    uint64_t deletes;
    uint64_t initial;         /* adds that belong to the initial list */
    uint64_t differences;     /* found by relists so far */
    bool relisted;            /* to be reported once all of it was delivered */
    uint64_t bars[DEMO_BARS]; /* events per half second; the last is in progress */
    size_t bar_count;
    uint64_t bar_events; /* events counted in them */
} demo_row;

/** One line of the event log. */
typedef struct demo_line {
    double seconds;
    cli_color color;
    char text[DEMO_LINE_MAX];
} demo_line;

/** A reconcile of the controller that waits for a response. */
typedef struct demo_call {
    demo *demo;
    ki_call *call; /* NULL: none */
    ki_work work;
} demo_call;

/** The controller: maintains a PodCount object in each namespace with its number of pods. */
typedef struct demo_controller {
    ki_workqueue *queue;
    ki_path *phase;
    demo_call calls[DEMO_CALLS];
    uint64_t events; /* of pods */
    uint64_t runs;
    uint64_t writes;
    uint64_t failures;
} demo_controller;

/** A query of the index. */
typedef struct demo_query {
    char node[DEMO_NAME_MAX];
    size_t found;
    size_t all;
    bool right;          /* a full scan has always found the same */
    double index_us;     /* duration of the query */
    double scan_us;      /* duration of a full scan */
    uint64_t scanned_ns; /* last scan; scans are less frequent than queries */
} demo_query;

/** The final result. */
typedef struct demo_result {
    demo_check check;
    size_t wrong;        /* number of namespaces with a wrong PodCount */
    uint64_t settled_ns; /* from the last change to the comparison */
    const char *why;     /* why there was no comparison; NULL: there was */
} demo_result;

struct demo {
    const demo_options *options;
    cli_serve_options serve;
    ki_log log;
    cli_session session;
    ki_buf kubeconfig;
    ki_apiserver *server;
    demo_world world;
    demo_row rows[DEMO_RESOURCES];
    demo_controller controller;
    demo_query query;
    ki_path *node_path;
    ki_buf scratch;
    ki_error failure; /* of a change; ends the demo */

    uint64_t began_ns;
    uint64_t settling_ns; /* when it started to wait for the caches; 0: not yet */
    double changed_s;     /* duration of the changes; 0: not ended */
    bool interrupted;     /* by the user */
    uint64_t loaded;      /* number of objects */

    /* Changes. */
    uint64_t created;
    uint64_t updated;
    uint64_t deleted;
    uint64_t began_changing_ns; /* 0: not yet */
    uint64_t changing_ns;       /* time of the last ones */
    double owed;                /* number of changes due */
    bool changing;

    /* Faults. */
    size_t act; /* index of the next one */
    uint64_t cuts;
    bool away; /* the server refuses connections */

    /* Output of the demo. */
    demo_line lines[DEMO_LINES];
    size_t line_count;
    size_t printed; /* number of lines printed without a terminal */
    size_t resumed; /* informers that resumed and were not reported yet */
    double resumed_s;
    uint64_t reconnects; /* of all informers at the last check */
    size_t ended;        /* watches that ended and were restarted, not reported yet */
    uint64_t resumed_ns; /* when the last of either resumed */
    uint64_t bars;       /* see demo_row */
    uint64_t shown_ns;
};

/** Seconds since the demo started, and since objects started to change. */
double demo_seconds(const demo *d);
double demo_changing_seconds(const demo *d);
/** Adds a line to the event log. */
void demo_report(demo *d, cli_color color, const char *format, ...) KI_PRINTF(3, 4);

/* demo_churn.c */

/** Number of changes so far. */
uint64_t demo_churn_count(const demo *d);
/** Creates the initial objects on the server. */
KI_NODISCARD int demo_churn_load(demo *d, ki_error *error);
/** Makes the changes that are due. */
void demo_churn_run(demo *d);
/** Drains a node: deletes its pods and creates replacements on other nodes. Returns their
 *  number. */
size_t demo_churn_drain(demo *d, size_t node);

/* demo_acts.c */

/** Injects the faults that are due. */
void demo_acts_run(demo *d);
/** Ends all faults. */
void demo_acts_end(demo *d);

/* demo_controller.c */

KI_NODISCARD int demo_controller_open(demo *d, ki_error *error);
void demo_controller_close(demo *d);
/** Call when a pod of this namespace was added, changed or deleted. */
void demo_controller_note(demo *d, const ki_object *pod);
/** Processes the queued keys. */
void demo_controller_run(demo *d);
/** Number of namespaces with a wrong PodCount, by the server's state. */
size_t demo_controller_wrong(const ki_list *pods, const ki_list *counts);

/* demo_story.c */

/** Checks the informers for news. */
void demo_story_follow(demo *d);
/** Queries the index for the pods of the node, and scans all pods for comparison. */
void demo_story_query(demo *d);
/** Records the activity of the informers. */
void demo_story_bars(demo *d);

/* demo_view.c */

/** Updates the display: full screen on a terminal, lines elsewhere. */
void demo_view_show(demo *d);
/** Updates the display for the last time. */
void demo_view_end(demo *d);

/* demo_summary.c */

/** Prints a summary and the result of the comparison. */
void demo_summary_print(demo *d, const demo_result *result);

#endif
