/* SPDX-License-Identifier: Apache-2.0 */
/* `kinformer watch`: prints changes of objects, as delivered by informers. */
#include <string.h>

#include "cli/columns.h"
#include "cli/command.h"
#include "cli/diff.h"
#include "cli/follow.h"
#include "cli/output.h"
#include "cli/report_failure.h"
#include "cli/run_stats.h"
#include "cli/session.h"
#include "cli/term.h"
#include "cli/text.h"
#include "cli/text_table.h"
#include "cli/yaml.h"

enum { COLUMNS = 5, CHANGE_WIDTH = 60, KIND_COLUMN = 2, NAME_COLUMN = 3, LINES_MAX = 10 };

typedef struct watch_options {
    const char *output;
    bool until_synced;
    bool watch_only;
    bool no_headers;
    bool raw;
    const char *stats;
    cli_serve_options serve;
} watch_options;

#define AT(member) offsetof(watch_options, member)

static const cli_option options[] = {
    {"output", 'o', CLI_ARG_TEXT, AT(output), CLI_OUTPUT_VALUE, CLI_OUTPUT_HELP},
    {"until-synced", 0, CLI_ARG_FLAG, AT(until_synced), NULL, "exit after the initial sync"},
    {"watch-only", 0, CLI_ARG_FLAG, AT(watch_only), NULL,
     "only changes, without the initial objects"},
    {"no-headers", 0, CLI_ARG_FLAG, AT(no_headers), NULL, "no header line"},
    {"raw", 0, CLI_ARG_FLAG, AT(raw), NULL, "jsonpath: do not escape control characters"},
    CLI_STATS_OPTION(watch_options, stats),
    CLI_SERVE_OPTIONS(watch_options, serve),
};

typedef struct watching {
    cli_session session;
    const watch_options *options;
    cli_output output;
    cli_table table;
    bool has_head;
    ki_buf line;
} watching;

/* ---- text output ---- */

/* A value in one line: quoted if it contains spaces, and truncated. */
static void put_short(ki_buf *out, const ki_value *value)
{
    size_t begin = out->len;
    ki_type type = ki_value_type(value);
    if (type == KI_TYPE_NONE) {
        cli_put(out, "<none>");
        return;
    }
    cli_put_value(out, value, false);
    bool quoted = type == KI_TYPE_STRING &&
                  (out->len == begin || memchr(out->data + begin, ' ', out->len - begin) != NULL);
    if (quoted) {
        out->len = begin;
        cli_put_value_json(out, value);
    }
    cli_text_cut(out, begin, CHANGE_WIDTH);
}

/* Destination of changes: one cell or, on a narrow terminal, one line each. */
typedef struct change_output {
    ki_buf *out;
    cli_table *lines; /* NULL: `out` */
    size_t count;
} change_output;

static void put_change(const ki_diff_change *change, void *user)
{
    change_output *t = user;
    ki_buf *out = t->out;
    t->count++;
    if (t->lines != NULL) {
        if (t->count > LINES_MAX) {
            return;
        }
        out = cli_table_line(t->lines);
    } else {
        cli_put(out, t->count != 1 ? ", " : "");
    }
    cli_put_escaped(out, ki_str_from(change->path));
    cli_put(out, ": ");
    put_short(out, &change->before);
    cli_put(out, " -> ");
    put_short(out, &change->after);
    if (t->lines != NULL) {
        cli_table_end_row(t->lines);
    }
}

/* Whether all differences were printed. */
static bool report_changes(change_output *t, const ki_object *before, const ki_object *after)
{
    return cli_diff(before, after, put_change, t);
}

static void put_changes(ki_buf *out, const ki_object *before, const ki_object *after)
{
    change_output t = {.out = out};
    if (!report_changes(&t, before, after)) {
        cli_put(out, ", and more");
    }
}

static void put_change_lines(cli_table *table, const ki_object *before, const ki_object *after)
{
    change_output t = {.lines = table};
    bool whole = report_changes(&t, before, after);
    if (!whole || t.count > LINES_MAX) {
        size_t left = t.count > LINES_MAX ? t.count - LINES_MAX : 0;
        cli_putf(cli_table_line(table), "and %zu more%s; -o wide shows all", left,
                 whole ? "" : " or so");
        cli_table_end_row(table);
    }
}

/* Events of one round of the loop are printed together. */
static void print_rows(watching *w)
{
    if (w->table.rows.len == 0) {
        return;
    }
    ki_buf_clear(&w->line);
    cli_table_print(&w->table, &w->line);
    cli_term_out(ki_buf_str(&w->line));
}

static void put_head(watching *w)
{
    static const char *const titles[COLUMNS] = {"", "AGE", "KIND", "NAME", "WHAT"};
    if (w->has_head || w->options->no_headers) {
        return;
    }
    w->has_head = true;
    if (w->output.format == CLI_FORMAT_CUSTOM) {
        cli_columns_head(&w->output.columns, &w->table);
        return;
    }
    cli_table_row(&w->table, CLI_COLOR_NONE);
    for (size_t i = 0; i < COLUMNS; i++) {
        cli_put(cli_table_cell(&w->table), titles[i]);
    }
    cli_table_end_row(&w->table);
}

/* Line width with this text in the last column. */
static size_t width_with(const cli_table *table, ki_str text)
{
    size_t width = cli_text_width(text);
    for (size_t i = 0; i + 1 < COLUMNS; i++) {
        width += table->widths[i] + CLI_TABLE_GAP;
    }
    return width;
}

static void show_row(watching *w, const cli_target *target, const char *sign, cli_color color,
                     const ki_object *before, const ki_object *object)
{
    cli_table *table = &w->table;
    bool cut = cli_term_out_is_terminal() && w->output.format != CLI_FORMAT_WIDE;
    table->line_width = cut ? cli_term_width() : 0;
    cli_table_row(table, color);
    cli_put(cli_table_cell(table), sign);
    cli_put_age_of(cli_table_cell(table), object);
    cli_put(cli_table_cell(table), ki_resource_kind(target->resource));
    cli_put_escaped(cli_table_cell(table), ki_str_from(ki_object_key(object)));
    ki_buf *what = cli_table_cell(table);
    if (before == NULL) {
        cli_put_summary(what, target->resource, object);
        cli_table_end_row(table);
        return;
    }
    size_t begin = what->len;
    put_changes(what, before, object);
    ki_str text = ki_str_make(what->data + begin, what->len - begin);
    if (cut && width_with(table, text) > table->line_width) {
        what->len = begin;
        cli_table_end_row(table);
        put_change_lines(table, before, object);
    } else {
        cli_table_end_row(table);
    }
}

/* ---- all formats ---- */

static void show_json(watching *w, const char *type, bool initial, bool unknown,
                      const ki_object *before, const ki_object *object)
{
    ki_buf *line = &w->line;
    ki_buf_clear(line);
    cli_putf(line, "{\"type\":\"%s\",\"initial\":%s", type, initial ? "true" : "false");
    cli_put(line, unknown ? ",\"finalStateUnknown\":true" : "");
    cli_put(line, ",\"object\":");
    cli_put_object(line, object, 0);
    if (before != NULL) {
        cli_put(line, ",\"old\":");
        cli_put_object(line, before, 0);
    }
    cli_put(line, "}\n");
    cli_term_out(ki_buf_str(line));
}

typedef struct event {
    const char *type;
    const char *sign;
    cli_color color;
    bool initial;
    bool unknown; /* the final state is unknown */
    const ki_object *before;
    const ki_object *object;
} event;

static void show(const cli_target *target, const event *e)
{
    watching *w = target->user;
    ki_value root = ki_object_root(e->object);
    switch (w->output.format) {
    case CLI_FORMAT_COLUMNS:
    case CLI_FORMAT_WIDE:
        put_head(w);
        show_row(w, target, e->sign, e->color, e->before, e->object);
        break;
    case CLI_FORMAT_CUSTOM:
        put_head(w);
        cli_columns_row(&w->output.columns, e->object, &w->table);
        break;
    case CLI_FORMAT_JSON:
        show_json(w, e->type, e->initial, e->unknown, e->before, e->object);
        break;
    case CLI_FORMAT_YAML:
        ki_buf_clear(&w->line);
        cli_put(&w->line, "---\n");
        cli_put_object_yaml(&w->line, e->object, 0, false);
        cli_term_out(ki_buf_str(&w->line));
        break;
    case CLI_FORMAT_NAME:
        ki_buf_clear(&w->line);
        cli_put_name(&w->line, target->resource, e->object);
        cli_put_char(&w->line, '\n');
        cli_term_out(ki_buf_str(&w->line));
        break;
    case CLI_FORMAT_JSONPATH:
        ki_buf_clear(&w->line);
        cli_template_put(w->output.template, &root, w->options->raw, &w->line);
        cli_put_char(&w->line, '\n');
        cli_term_out(ki_buf_str(&w->line));
        break;
    case CLI_FORMAT_NONE:
    case CLI_FORMAT_MAX:
        break;
    }
}

static void on_add(const ki_object *object, bool is_initial, void *user)
{
    const cli_target *target = user;
    const watching *w = target->user;
    if (!is_initial || !w->options->watch_only) {
        event e = {"ADDED", "+", CLI_COLOR_GREEN, is_initial, false, NULL, object};
        show(target, &e);
    }
}

static void on_update(const ki_object *old_object, const ki_object *object, void *user)
{
    event e = {"MODIFIED", "~", CLI_COLOR_YELLOW, false, false, old_object, object};
    show(user, &e);
}

static void on_delete(const ki_object *object, bool final_state_unknown, void *user)
{
    event e = {"DELETED", "-", CLI_COLOR_RED, false, final_state_unknown, NULL, object};
    show(user, &e);
}

/* ---- the command ---- */

static void on_synced(cli_target *target)
{
    const watching *w = target->user;
    if (w->options->until_synced && cli_session_is_synced(target->session)) {
        cli_session_end(target->session);
    }
}

static void on_round(void *user)
{
    watching *w = user;
    print_rows(w);
    cli_follow_check(&w->session);
}

static void on_tick(void *user)
{
    watching *w = user;
    if (w->session.synced_ns == 0) {
        cli_follow_progress(&w->session);
    }
}

/* Gives the first lines the column widths of later ones. */
static void widen(watching *w, const char *kind)
{
    size_t *width = &w->table.widths[KIND_COLUMN];
    if (w->output.format != CLI_FORMAT_CUSTOM && strlen(kind) > *width) {
        *width = strlen(kind);
    }
}

static int watch(watching *w, cli_call *call)
{
    cli_session *session = &w->session;
    ki_handler handler = {.on_add = on_add, .on_update = on_update, .on_delete = on_delete};
    ki_error error = KI_ERROR_INIT;
    int code = cli_session_open(session, &call->flags, call->operands.items, call->operands.count);
    if (code != CLI_OK || session->events.signal != 0) {
        return code;
    }
    for (size_t i = 0; i < session->target_count; i++) {
        session->targets[i].user = w;
        widen(w, ki_resource_kind(session->targets[i].resource));
    }
    session->serve = &w->options->serve;
    session->events.on_round = on_round;
    session->events.on_tick = on_tick;
    session->events.user = w;
    if (cli_session_start(session, &handler, on_synced, &error) < 0) {
        cli_report_error(&error);
        return cli_exit_code(&error);
    }
    uint32_t timeout_ms = w->options->until_synced ? call->flags.request_timeout_ms : 0;
    code = cli_session_run(session, timeout_ms);
    cli_stats_print(session, w->options->stats);
    return w->options->until_synced ? cli_session_result(session, code) : code;
}

static int run(cli_call *call)
{
    watching w = {.options = call->options};
    ki_error error = KI_ERROR_INIT;
    int r = cli_output_parse(w.options->output, &w.output, &error);
    if (r == 0 && !cli_stats_is_format(w.options->stats)) {
        r = cli_fail(&error, KI_ERR_INVALID, "--stats: value must be json");
    }
    if (r < 0) {
        return cli_usage_error(call->command, &error);
    }
    bool custom = w.output.format == CLI_FORMAT_CUSTOM;
    cli_table_init(&w.table, custom ? w.output.columns.count : COLUMNS);
    w.table.colored = custom ? 0 : 1U | 1U << NAME_COLUMN;
    w.table.widths[1] = custom ? 0 : sizeof("5m30s") - 1;
    cli_text_init(&w.line);
    int code = watch(&w, call);
    cli_session_close(&w.session);
    ki_buf_done(&w.line);
    cli_table_done(&w.table);
    cli_output_done(&w.output);
    return code;
}

const cli_command cli_command_watch = {
    .name = "watch",
    .operands = "RESOURCE...",
    .summary = "print changes of objects, live",
    .about = "Prints the existing objects and every change: + added, ~ changed, - deleted, with "
             "the\nold and new values of changed fields. It reconnects and relists as needed, and "
             "reports\nthat on standard error. Changes missed while disconnected are printed as "
             "one\ndifference per object.",
    .examples =
        "  kinformer watch pods\n"
        "  kinformer watch pods,svc deployments.apps -A -l app=web\n"
        "  kinformer watch pods -o json | jq -c '[.type, .object.metadata.name]'\n"
        "  kinformer watch nodes -o custom-columns=NAME:.metadata.name,CPU:.status.capacity.cpu\n"
        "  kinformer watch pods -A -o none --until-synced --stats\n"
        "  kinformer watch pods,deploy -A -o none --listen 127.0.0.1:8080\n",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .options_size = sizeof(watch_options),
    .connects = true,
    .names_resources = true,
    .operands_min = 1,
    .operands_max = CLI_TARGETS_MAX,
    .run = run,
};
