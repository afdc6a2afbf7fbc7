/* SPDX-License-Identifier: Apache-2.0 */
/* Periodic measurements of an informer, for `top` and the demo. */
#ifndef KI_CLI_GAUGE_H
#define KI_CLI_GAUGE_H

#include <kinformer/health.h>

#include "cli/session.h"
#include "cli/term.h"

typedef struct cli_gauge {
    uint64_t events;  /* at the last measurement */
    uint64_t time_ns; /* of the last measurement */
    double rate;      /* events per second since the previous measurement */
} cli_gauge;

/** Measures. */
void cli_gauge_measure(cli_gauge *gauge, const ki_health *health);

/** Encoded size of the cached objects. Iterates over all of them. */
uint64_t cli_gauge_bytes(const cli_target *target);

/** Number of objects, or of those received so far. */
uint64_t cli_gauge_objects(const ki_health *health);

/** Green: synced; yellow: in progress; red: in backoff, stopped, or over the memory limit. */
cli_color cli_gauge_color(const ki_health *health);

#endif
