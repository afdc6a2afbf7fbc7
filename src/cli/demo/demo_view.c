/* SPDX-License-Identifier: Apache-2.0 */
/* Display of the demo: full screen on a terminal, lines elsewhere. */
#include <string.h>

#include <kinformer/workqueue_stats.h>

#include "cli/command_loop.h"
#include "cli/demo/demo.h"
#include "cli/follow.h"
#include "cli/run_stats.h"
#include "cli/text.h"
#include "cli/text_table.h"

enum { FIXED_LINES = 9 };            /* besides the rows and the event log */
#define LINES_NS (2 * CLI_SECOND_NS) /* between two lines of counters */

/* ---- the table ---- */

static const cli_heading headings[] = {
    {"RESOURCE", false, false, true},
    {"OBJECTS", false, true, false},
    {"ADDED", false, true, false},
    {"CHANGED", false, true, false},
    {"GONE", false, true, false},
    {"RELISTS", true, true, false},
    {"RESUMED", true, true, false},
    {"RECEIVED", true, true, false},
    {"MEMORY", true, true, false},
    {"STATE", false, false, true},
    {"EVENTS OVER TIME", false, false, false},
};

/* The activity, latest at the right: at most `most_bars` half seconds. */
static void put_bars(ki_buf *out, const demo_row *row, size_t most_bars)
{
    static const char *const bars[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    size_t from = row->bar_count > most_bars ? row->bar_count - most_bars : 0;
    uint64_t most = 1;
    for (size_t i = from; i < row->bar_count; i++) {
        most = row->bars[i] > most ? row->bars[i] : most;
    }
    for (size_t i = from; i < row->bar_count; i++) {
        uint64_t height = 0;
        while (height * height * most <
               64 * row->bars[i]) { /* square root scale, so that peaks hide less */
            height++;
        }
        cli_put(out, bars[height]);
    }
}

static void put_row(demo *d, cli_table *table, size_t which, bool wide, size_t bars)
{
    const cli_target *target = &d->session.targets[which];
    const demo_row *row = &d->rows[which];
    ki_health health = cli_follow_health(target);
    cli_table_row(table, cli_gauge_color(&health));
    cli_put(cli_table_cell(table), target->label);
    cli_put_count(cli_table_cell(table), cli_gauge_objects(&health));
    cli_put_count(cli_table_cell(table), row->adds - row->initial);
    cli_put_count(cli_table_cell(table), row->updates);
    cli_put_count(cli_table_cell(table), row->deletes);
    if (wide) {
        cli_put_count(cli_table_cell(table), health.relists);
        cli_put_count(cli_table_cell(table), health.reconnects);
        cli_put_bytes(cli_table_cell(table), health.bytes);
        cli_put_bytes(cli_table_cell(table), health.object_bytes);
    }
    cli_put(cli_table_cell(table), ki_reflector_state_name(health.state));
    put_bars(cli_table_cell(table), row, bars);
    cli_table_end_row(table);
}

/* Number of columns left for the bars; the width of the others must be known. */
static size_t space_for_bars(const cli_table *table)
{
    size_t used = 0;
    for (size_t i = 0; i + 1 < table->columns; i++) {
        used += table->widths[i] + table->gap;
    }
    return table->line_width > used ? table->line_width - used : 1;
}

static void put_table(demo *d, ki_buf *out, size_t width)
{
    size_t bars = 1;
    for (int pass = 0; pass < 2; pass++) { /* the first pass determines the column widths */
        cli_table table;
        cli_table_init_headed(&table, headings, sizeof(headings) / sizeof(headings[0]), width);
        for (size_t i = 0; i < d->session.target_count; i++) {
            put_row(d, &table, i, width >= CLI_TABLE_WIDE, bars);
        }
        bars = space_for_bars(&table);
        if (pass == 1) {
            cli_table_print(&table, out);
        }
        cli_table_done(&table);
    }
}

/* ---- the lines around it ---- */

static void put_head(demo *d, ki_buf *out)
{
    double seconds = demo_changing_seconds(d);
    double all = d->options->seconds;
    cli_putf(out, "%skinformer demo%s  %.1f of %u s  %s  memory ", cli_term_color(CLI_COLOR_BOLD),
             cli_term_plain(), seconds < all ? seconds : all, d->options->seconds,
             ki_apiserver_url(d->server));
    cli_put_bytes(out, cli_stats_memory());
    cli_putf(out, "  CPU %.1f s\n", cli_stats_cpu_seconds());
    cli_putf(out, "%sInformers keep local caches in sync with an API server under faults%s\n\n",
             cli_term_color(CLI_COLOR_DIM), cli_term_plain());
}

/* One screen line, truncated to its width. */
static void put_cut(ki_buf *out, const ki_buf *text, size_t width, cli_color color)
{
    size_t begin;
    cli_put(out, cli_term_color(color));
    begin = out->len;
    cli_put_str(out, ki_buf_str(text));
    cli_text_cut(out, begin, width);
    cli_put(out, color != CLI_COLOR_NONE ? cli_term_plain() : "");
    cli_put_char(out, '\n');
}

static void put_changes(demo *d, ki_buf *out)
{
    cli_put(out, "changes     ");
    cli_put_count(out, demo_churn_count(d));
    cli_put(out, " so far, ");
    cli_put_count(out, d->options->rate);
    cli_put(out, " per second; connections closed ");
    cli_putf(out, "%llu times", (unsigned long long)d->cuts);
}

static void put_queue(demo *d, ki_buf *out)
{
    const demo_controller *c = &d->controller;
    ki_workqueue_stats stats = KI_OPTIONS_INIT(ki_workqueue_stats);
    ki_workqueue_get_stats(c->queue, &stats);
    cli_put(out, "work queue  ");
    cli_put_count(out, stats.depth + stats.delayed);
    cli_put(out, " queued, ");
    cli_put_count(out, stats.processing);
    cli_put(out, " running; ");
    cli_put_count(out, c->events);
    cli_put(out, " events became ");
    cli_put_count(out, c->runs);
    cli_put(out, " runs, ");
    cli_put_count(out, c->failures);
    cli_put(out, " retried");
}

static void put_query(const demo *d, ki_buf *out)
{
    const demo_query *query = &d->query;
    cli_putf(out, "index       pods on %s: %zu, found in %.1f us; scan of all ", query->node,
             query->found, query->index_us);
    cli_put_count(out, query->all);
    cli_putf(out, ": %.0f us", query->scan_us);
}

static void put_line(ki_buf *out, const demo_line *line, size_t width)
{
    ki_buf text;
    cli_text_init(&text);
    cli_putf(&text, "%4.1f s  %s", line->seconds, line->text);
    put_cut(out, &text, width, line->color);
    ki_buf_done(&text);
}

static void put_middle(demo *d, ki_buf *out, size_t width)
{
    ki_buf text;
    cli_text_init(&text);
    put_changes(d, &text);
    put_cut(out, &text, width, CLI_COLOR_NONE);
    ki_buf_clear(&text);
    put_queue(d, &text);
    put_cut(out, &text, width, CLI_COLOR_NONE);
    ki_buf_clear(&text);
    put_query(d, &text);
    put_cut(out, &text, width, CLI_COLOR_NONE);
    ki_buf_done(&text);
}

static void put_picture(demo *d, ki_buf *out, size_t width, size_t room)
{
    put_head(d, out);
    put_table(d, out, width);
    cli_put_char(out, '\n');
    put_middle(d, out, width);
    cli_put_char(out, '\n');
    size_t taken = FIXED_LINES + d->session.target_count;
    size_t left = room > taken ? room - taken : 1;
    for (size_t i = d->line_count > left ? d->line_count - left : 0; i < d->line_count; i++) {
        put_line(out, &d->lines[i], width);
    }
}

/* ---- without a terminal ---- */

static void put_counts(demo *d, ki_buf *out)
{
    uint64_t objects = 0;
    uint64_t events = 0;
    for (size_t i = 0; i < DEMO_RESOURCES; i++) {
        objects += cli_follow_health(&d->session.targets[i]).objects;
        events += d->rows[i].adds + d->rows[i].updates + d->rows[i].deletes - d->rows[i].initial;
    }
    cli_putf(out, "%4.1f s  caches: ", demo_seconds(d));
    cli_put_count(out, objects);
    cli_put(out, " objects; handlers received ");
    cli_put_count(out, events);
    cli_put(out, " changes\n        ");
    put_queue(d, out);
    cli_put(out, "\n        ");
    put_query(d, out);
    cli_put_char(out, '\n');
}

static void put_new_lines(demo *d, ki_buf *out)
{
    for (; d->printed < d->line_count; d->printed++) {
        put_line(out, &d->lines[d->printed], SIZE_MAX);
    }
}

void demo_view_show(demo *d)
{
    ki_buf out;
    uint64_t now = cli_now_ns();
    cli_text_init(&out);
    for (size_t i = 0; i < d->session.target_count; i++) {
        ki_health health = cli_follow_health(&d->session.targets[i]);
        cli_gauge_measure(&d->rows[i].gauge, &health);
    }
    if (cli_term_out_is_terminal()) {
        put_picture(d, &out, cli_term_width(), cli_term_height());
        cli_term_show(ki_buf_str(&out));
    } else {
        put_new_lines(d, &out);
        if (d->session.synced_ns != 0 && now - d->shown_ns >= LINES_NS) {
            d->shown_ns = now;
            put_counts(d, &out);
        }
        cli_term_out(ki_buf_str(&out));
    }
    ki_buf_done(&out);
}

void demo_view_end(demo *d)
{
    ki_buf out;
    cli_text_init(&out);
    if (cli_term_out_is_terminal()) {
        cli_term_leave();
        put_picture(d, &out, cli_term_width(), SIZE_MAX);
    } else {
        put_new_lines(d, &out);
    }
    cli_term_out(ki_buf_str(&out));
    ki_buf_done(&out);
}
