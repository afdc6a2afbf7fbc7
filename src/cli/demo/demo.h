/* SPDX-License-Identifier: Apache-2.0 */
/* `kinformer demo`: what its parts know of each other. One thread runs all of it but the server,
 * which has one of its own and is reached through a socket. */
#ifndef KI_CLI_DEMO_DEMO_H
#define KI_CLI_DEMO_DEMO_H

#include <kinformer/apiserver.h>
#include <kinformer/path.h>
#include <kinformer/request.h>
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
/** The node whose pods are requested, and that fails. */
enum { DEMO_NODE = 7 };

typedef struct demo demo;

typedef struct demo_options {
    uint32_t seconds;
    uint32_t objects;
    uint32_t rate;
    uint32_t seed;
    uint32_t wait_ms;
} demo_options;

/** What is kept of one informer. */
typedef struct demo_row {
    cli_gauge gauge;
    uint64_t adds;
    uint64_t updates;
    uint64_t deletes;
    uint64_t initial;         /* of the adds: what was there at the start */
    uint64_t differences;     /* that new lists brought, so far */
    bool relisted;            /* that is to be told, when all of it has come through */
    uint64_t bars[DEMO_BARS]; /* what was told in each half of a second; the last is under way */
    size_t bar_count;
    uint64_t bar_told; /* that is counted in them */
} demo_row;

/** One thing that happened. */
typedef struct demo_line {
    double seconds;
    cli_color color;
    char text[DEMO_LINE_MAX];
} demo_line;

/** A run of the controller that waits for its answer. */
typedef struct demo_call {
    demo *demo;
    ki_call *call; /* NULL: none */
    ki_work work;
} demo_call;

/** The controller: keeps a PodCount in each namespace that says how many pods are there. */
typedef struct demo_controller {
    ki_workqueue *queue;
    ki_path *phase;
    demo_call calls[DEMO_CALLS];
    uint64_t events; /* of pods */
    uint64_t runs;
    uint64_t writes;
    uint64_t failures;
} demo_controller;

/** An answer of the index. */
typedef struct demo_query {
    char node[DEMO_NAME_MAX];
    size_t found;
    size_t all;
    bool right;          /* looking at all has always found the same */
    double index_us;     /* how long that took */
    double scan_us;      /* how long it takes to look at all */
    uint64_t scanned_ns; /* the last time; that is not done as often */
} demo_query;

/** How it ended. */
typedef struct demo_result {
    demo_check check;
    size_t wrong;        /* namespaces in which the controller has not done what it should */
    uint64_t settled_ns; /* from the last change to the comparison */
    const char *why;     /* what kept it from being compared; NULL: nothing did */
} demo_result;

struct demo {
    const demo_options *options;
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
    ki_error failure; /* of a change; it ends the demo */

    uint64_t began_ns;
    uint64_t settling_ns; /* since when it waits for the caches; 0: not yet */
    double changed_s;     /* how long objects have changed; 0: they still do */
    bool interrupted;     /* by whoever looks on */
    uint64_t loaded;      /* objects */

    /* Changes. */
    uint64_t created;
    uint64_t updated;
    uint64_t deleted;
    uint64_t began_changing_ns; /* 0: not yet */
    uint64_t changing_ns;       /* when the last ones were made */
    double owed;                /* changes that are due */
    bool changing;

    /* What goes wrong. */
    size_t act; /* the next one */
    uint64_t cuts;
    bool away; /* it refuses connections */

    /* Output of the demo. */
    demo_line lines[DEMO_LINES];
    size_t line_count;
    size_t printed; /* lines; where there is no picture */
    size_t resumed; /* informers that took up again and were not told of */
    double resumed_s;
    uint64_t reconnects; /* of all informers, when that was looked at last */
    size_t ended;        /* watches that ended and were started again, and were not told of */
    uint64_t ended_ns;   /* the last of them */
    uint64_t bars;       /* see demo_row */
    uint64_t shown_ns;
};

/** Seconds since the demo began, and since objects began to change. */
double demo_seconds(const demo *d);
double demo_changing_seconds(const demo *d);
/** A line of the story. */
void demo_tell(demo *d, cli_color color, const char *format, ...) KI_PRINTF(3, 4);

/* demo_churn.c */

/** How many changes there were so far. */
uint64_t demo_churn_count(const demo *d);
/** Puts the first objects on the server. */
KI_NODISCARD int demo_churn_load(demo *d, ki_error *error);
/** Makes the changes that are due. */
void demo_churn_run(demo *d);
/** A node ends: its pods go, and others come in their place elsewhere. How many. */
size_t demo_churn_drain(demo *d, size_t node);

/* demo_acts.c */

/** Has happen to the server what is due. */
void demo_acts_run(demo *d);
/** Ends whatever goes wrong. */
void demo_acts_end(demo *d);

/* demo_controller.c */

KI_NODISCARD int demo_controller_open(demo *d, ki_error *error);
void demo_controller_close(demo *d);
/** A pod of this namespace has come, changed or gone. */
void demo_controller_note(demo *d, const ki_object *pod);
/** Works on what waits. */
void demo_controller_run(demo *d);
/** In how many namespaces it has not done what it should, by what the server has. */
size_t demo_controller_wrong(const ki_list *pods, const ki_list *counts);

/* demo_story.c */

/** Looks what has become of the informers. */
void demo_story_follow(demo *d);
/** Asks the index which pods are on the node of the query, and looks at all pods as well. */
void demo_story_query(demo *d);
/** Counts how busy the informers are. */
void demo_story_bars(demo *d);

/* demo_view.c */

/** Shows it: a picture on a terminal, lines elsewhere. */
void demo_view_show(demo *d);
/** Shows it for the last time. */
void demo_view_end(demo *d);

/* demo_summary.c */

/** Says what there was to see, and whether all was equal. */
void demo_summary_print(demo *d, const demo_result *result);

#endif
