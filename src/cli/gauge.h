/* SPDX-License-Identifier: Apache-2.0 */
/* What is measured of an informer again and again, for `top` and the demo. */
#ifndef KI_CLI_GAUGE_H
#define KI_CLI_GAUGE_H

#include "cli/session.h"
#include "cli/term.h"

typedef struct cli_gauge {
    uint64_t memory;  /* of the objects in the cache, */
    uint64_t bytes;   /* and how many bytes they have */
    uint64_t version; /* of the cache, when they were weighed */
    uint64_t events;  /* when it was measured last, */
    uint64_t time_ns; /* which was then */
    double rate;      /* events in a second since the time before */
} cli_gauge;

/** Measures. Walks the objects, unless nothing has changed since the last time. */
void cli_gauge_measure(cli_gauge *gauge, const cli_target *target, const ki_health *health);

/** How many objects there are, or have come so far. */
uint64_t cli_gauge_objects(const ki_health *health);

/** Green: in sync; yellow: on its way; red: it waits before it tries again, or was stopped. */
cli_color cli_gauge_color(const ki_health *health);

#endif
