/* SPDX-License-Identifier: Apache-2.0 */
/* Reports events of the informers in one line each, and queries the index. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <kinformer/index.h>

#include "cli/command_loop.h"
#include "cli/demo/demo.h"
#include "cli/follow.h"
#include "cli/text.h"

#define MICROSECOND_NS 1e3
#define BAR_NS (500 * CLI_MS_NS)
#define SCAN_NS CLI_SECOND_NS
#define GATHER_NS (300 * CLI_MS_NS) /* events of one kind within this time share a line */

double demo_seconds(const demo *d)
{
    return (double)(cli_now_ns() - d->began_ns) / (double)CLI_SECOND_NS;
}

double demo_changing_seconds(const demo *d)
{
    uint64_t began = d->began_changing_ns;
    return began != 0 ? (double)(cli_now_ns() - began) / (double)CLI_SECOND_NS : 0;
}

void demo_report(demo *d, cli_color color, const char *format, ...)
{
    va_list args;
    if (d->line_count == DEMO_LINES) { /* drop the oldest one */
        memmove(&d->lines[0], &d->lines[1], (DEMO_LINES - 1) * sizeof(d->lines[0]));
        d->line_count--;
        d->printed -= d->printed > 0 ? 1 : 0;
    }
    demo_line *line = &d->lines[d->line_count++];
    *line = (demo_line){.seconds = demo_seconds(d), .color = color};
    va_start(args, format);
    (void)vsnprintf(line->text, sizeof(line->text), format, args);
    va_end(args);
}

/* ---- informers ---- */

/* Whether all differences of a relist were delivered to the handler. */
static bool has_settled(const ki_health *health)
{
    return health->queued == 0 && health->handlers_waiting == 0;
}

/* Handlers receive the initial objects, watch events, and differences found by a relist; so the
 * rest after subtracting the first two are differences. */
static uint64_t differences_of(const demo_row *row, const ki_health *health)
{
    uint64_t calls = row->adds + row->updates + row->deletes;
    uint64_t others = row->initial + health->events;
    return calls > others ? calls - others : 0;
}

static void report_relist(demo *d, const cli_target *target, demo_row *row, const ki_health *health)
{
    uint64_t all = differences_of(row, health);
    uint64_t more = all > row->differences ? all - row->differences : 0;
    ki_buf text;
    cli_text_init(&text);
    cli_putf(&text, "informer %s: relisted ", target->label);
    cli_put_count(&text, health->listed);
    cli_put(&text, " objects, ");
    if (more == 0) {
        cli_put(&text, "none changed");
    } else {
        cli_put(&text, "delivered ");
        cli_put_count(&text, more);
        cli_put(&text, more == 1 ? " difference" : " differences");
    }
    demo_report(d, CLI_COLOR_GREEN, "%s", ki_buf_text(&text));
    ki_buf_done(&text);
    row->differences = all;
    row->relisted = false;
}

/* Watches that merely ended are normal, and reported for information. Of those, some may have
 * failed for a moment: `resumed` counts the informers with an outage that was observed. */
static void report_resumed(demo *d)
{
    if (d->resumed == 0) {
        demo_report(d, CLI_COLOR_GREEN, "informers: resumed %zu watches that the server ended",
                    d->ended);
    } else {
        ki_buf took;
        cli_text_init(&took);
        cli_putf(&took, d->resumed_s < 1 ? "%.0f ms" : "%.1f s",
                 d->resumed_s < 1 ? d->resumed_s * 1000 : d->resumed_s);
        demo_report(d, CLI_COLOR_GREEN, "informers: %zu resumed after %s without a relist",
                    d->ended > d->resumed ? d->ended : d->resumed, ki_buf_text(&took));
        ki_buf_done(&took);
    }
    d->resumed = 0;
    d->resumed_s = 0;
    d->ended = 0;
}

static void follow(demo *d, cli_target *target, demo_row *row, bool *lost)
{
    ki_health health = cli_follow_health(target);
    bool reconnected = target->follow.state == CLI_FOLLOW_RECONNECTED;
    switch (cli_follow_look(target, &health)) {
    case CLI_SYNC_UNCHANGED:
    case CLI_SYNC_FAILING: /* covered by the server's own line */
        break;
    case CLI_SYNC_RECONNECTED:
    case CLI_SYNC_SYNCED:
        if (!reconnected) { /* otherwise already counted */
            double seconds = cli_follow_seconds_to_connect(&target->follow);
            d->resumed_s = seconds > d->resumed_s ? seconds : d->resumed_s;
            d->resumed++;
            d->resumed_ns = cli_now_ns();
        }
        break;
    case CLI_SYNC_RELISTED: /* reported separately */
        row->relisted = true;
        d->ended = 0;
        break;
    }
    if (row->relisted && has_settled(&health)) {
        report_relist(d, target, row, &health);
    }
    *lost = *lost || target->follow.state == CLI_FOLLOW_FAILING;
}

void demo_story_follow(demo *d)
{
    bool lost = false;
    uint64_t reconnects = 0;
    for (size_t i = 0; i < d->session.target_count; i++) {
        follow(d, &d->session.targets[i], &d->rows[i], &lost);
        reconnects += cli_follow_health(&d->session.targets[i]).reconnects;
    }
    if (reconnects != d->reconnects) {
        d->ended += (size_t)(reconnects - d->reconnects);
        d->ended = d->ended < d->session.target_count ? d->ended : d->session.target_count;
        d->reconnects = reconnects;
        d->resumed_ns = cli_now_ns();
    }
    bool gathered = cli_now_ns() - d->resumed_ns >= GATHER_NS; /* others may follow */
    if (!lost && gathered && d->ended + d->resumed != 0) {
        report_resumed(d);
    }
}

/* ---- the index ---- */

static size_t scan(const demo *d, const ki_snapshot *pods)
{
    ki_snapshot_iter iter = ki_snapshot_iter_begin(pods);
    const ki_object *pod;
    size_t found = 0;
    while (ki_snapshot_iter_next(&iter, &pod) > 0) {
        ki_value node;
        found += ki_object_get(pod, d->node_path, &node) == 0 &&
                 ki_value_equals(&node, ki_str_from(d->query.node));
    }
    return found;
}

void demo_story_query(demo *d)
{
    demo_query *query = &d->query;
    ki_store *store = ki_informer_store(d->session.targets[DEMO_PODS].informer);
    uint64_t began = cli_now_ns();
    ki_snapshot *pods = ki_store_snapshot(store);
    ki_snapshot_iter iter;
    size_t found = 0;
    if (ki_snapshot_iter_by_index(pods, DEMO_NODE_INDEX, ki_str_from(query->node), &iter) == 0) {
        const ki_object *pod;
        while (ki_snapshot_iter_next(&iter, &pod) > 0) {
            found++;
        }
    }
    uint64_t between = cli_now_ns();
    query->all = ki_snapshot_count(pods);
    query->found = found;
    query->index_us = (double)(between - began) / MICROSECOND_NS;
    if (between - query->scanned_ns >= SCAN_NS) {
        query->right = scan(d, pods) == found && query->right;
        query->scanned_ns = cli_now_ns();
        query->scan_us = (double)(query->scanned_ns - between) / MICROSECOND_NS;
    }
    (void)ki_snapshot_unref(pods);
}

/* ---- activity ---- */

static void add_bar(demo_row *row)
{
    if (row->bar_count == DEMO_BARS) {
        memmove(&row->bars[0], &row->bars[1], (DEMO_BARS - 1) * sizeof(row->bars[0]));
        row->bar_count--;
    }
    row->bars[row->bar_count++] = 0;
}

void demo_story_bars(demo *d)
{
    uint64_t count = (cli_now_ns() - d->began_ns) / BAR_NS + 1;
    for (; d->bars < count; d->bars++) {
        for (size_t i = 0; i < DEMO_RESOURCES; i++) {
            add_bar(&d->rows[i]);
        }
    }
    for (size_t i = 0; i < DEMO_RESOURCES; i++) {
        demo_row *row = &d->rows[i];
        uint64_t events = row->adds + row->updates + row->deletes - row->initial;
        row->bars[row->bar_count - 1] += events - row->bar_events;
        row->bar_events = events;
    }
}
