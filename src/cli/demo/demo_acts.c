/* SPDX-License-Identifier: Apache-2.0 */
/* The faults of the demo and their schedule. */
#include "cli/demo/demo.h"
#include "cli/report_failure.h"

/* Duration of the outage in seconds. */
static double outage(const demo *d)
{
    double seconds = 0.08 * d->options->seconds;
    return seconds < 1.5 ? seconds : 1.5;
}

static void cut(demo *d)
{
    ki_apiserver_break_connections(d->server);
    d->cuts++;
    demo_report(d, CLI_COLOR_RED, "server: closed all connections");
}

static void drop(demo *d)
{
    ki_apiserver_drop_watches(d->server);
    demo_report(d, CLI_COLOR_YELLOW, "server: ended all watches, as in a graceful shutdown");
}

static void stop_server(demo *d)
{
    int r = ki_apiserver_set_faults(d->server, "refuse", &d->failure);
    if (r < 0) {
        d->session.failure = d->failure;
        cli_session_end(&d->session);
        return;
    }
    ki_apiserver_break_connections(d->server);
    d->cuts++;
    d->away = true;
    demo_report(d, CLI_COLOR_RED, "server: closed all connections and refuses new ones");
}

static void come_back(demo *d)
{
    ki_apiserver_expire_history(d->server);
    demo_acts_end(d);
    demo_report(d, CLI_COLOR_YELLOW, "server: available again, with its history expired");
}

static void fail_node(demo *d)
{
    size_t moved = demo_churn_drain(d, DEMO_NODE);
    demo_report(d, CLI_COLOR_YELLOW, "cluster: %s failed; its %zu pods are replaced on other nodes",
                d->query.node, moved);
}

typedef struct act {
    double part;                    /* fraction of the total time */
    double (*later)(const demo *d); /* additional seconds; NULL: none */
    void (*play)(demo *d);
} act;

static const act acts[] = {
    {0.15, NULL, cut},         {0.30, NULL, drop},      {0.45, NULL, stop_server},
    {0.45, outage, come_back}, {0.68, NULL, fail_node}, {0.82, NULL, cut},
};

void demo_acts_run(demo *d)
{
    while (d->changing && d->act < sizeof(acts) / sizeof(acts[0])) {
        const act *next = &acts[d->act];
        double due = next->part * d->options->seconds + (next->later != NULL ? next->later(d) : 0);
        if (demo_changing_seconds(d) < due) {
            return;
        }
        d->act++;
        next->play(d);
    }
}

void demo_acts_end(demo *d)
{
    if (d->away) { /* otherwise the faults are not ours, and stay */
        (void)!ki_apiserver_set_faults(d->server, "", NULL); /* clearing the faults cannot fail */
        d->away = false;
    }
}
