/* SPDX-License-Identifier: Apache-2.0 */
/* Output of `kinformer get`. Tables have the rows and cells of kubectl's. */
#include <stdlib.h>
#include <string.h>

#include "cli/get.h"
#include "cli/report_failure.h"
#include "cli/term.h"
#include "cli/text.h"
#include "cli/yaml.h"

enum { INDENT = 4, WIDTH_MIN = 3 };

/* ---- lists ---- */

static void put_list(const cli_found *all, ki_buf *out)
{
    cli_put(out, "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"metadata\":{},\"items\":[");
    for (size_t i = 0; i < all->count; i++) {
        cli_put(out, i != 0 ? "," : "");
        cli_put_object(out, all->items[i], 0);
    }
    cli_put(out, "]}");
}

static void show_json(const cli_get *g, const cli_found *all, ki_buf *out)
{
    if (!g->several && all->count == 1) {
        cli_put_object(out, all->items[0], INDENT);
    } else {
        ki_buf list;
        cli_text_init(&list);
        put_list(all, &list);
        cli_put_json(out, ki_buf_str(&list), INDENT);
        ki_buf_done(&list);
    }
    cli_put_char(out, '\n');
}

/* Object by object, so that the whole text is never in memory. */
static void show_yaml(const cli_get *g, const cli_found *all, ki_buf *out)
{
    if (!g->several && all->count == 1) {
        cli_put_object_yaml(out, all->items[0], 0, false);
        return;
    }
    cli_put(out, all->count != 0 ? "apiVersion: v1\nitems:\n" : "apiVersion: v1\nitems: []\n");
    for (size_t i = 0; i < all->count; i++) {
        cli_put(out, "- ");
        cli_put_object_yaml(out, all->items[i], 2, true);
        cli_term_out(ki_buf_str(out));
        ki_buf_clear(out);
    }
    cli_put(out, "kind: List\nmetadata:\n  resourceVersion: \"\"\n");
}

static void show_jsonpath(const cli_get *g, const cli_found *all, ki_buf *out)
{
    if (!g->several && all->count == 1) {
        ki_value root = ki_object_root(all->items[0]);
        cli_template_put(g->output.template, &root, g->options->raw, out);
        return;
    }
    ki_object *list = NULL;
    ki_error error = KI_ERROR_INIT;
    ki_buf json;
    cli_text_init(&json);
    put_list(all, &json);
    ki_object_options limits = KI_OPTIONS_INIT(ki_object_options);
    limits.max_bytes = json.max;
    limits.max_depth = 1024;
    if (ki_object_from_json(json.data, json.len, &limits, &list, &error) < 0) {
        cli_say("cannot decode the list: %s", cli_error_text(&error));
    } else {
        ki_value root = ki_object_root(list);
        cli_template_put(g->output.template, &root, g->options->raw, out);
    }
    (void)ki_object_unref(list);
    ki_buf_done(&json);
}

/* ---- tables ---- */

/* Whether this target or an earlier one is namespaced: kubectl keeps the namespace column once it
 * has it. */
static bool has_namespaces(const cli_get *g, const cli_target *target)
{
    const cli_target *at = g->session.targets;
    while (at < target && !ki_resource_is_namespaced(at->resource)) {
        at++;
    }
    return ki_resource_is_namespaced(at->resource);
}

/* The columns of a target: those of the server, or computed ones if it sent no table. */
static void columns_of(const cli_get *g, const cli_target *target, cli_columns *ret_columns)
{
    const cli_get_target *mine = target->user;
    bool wide = g->output.format == CLI_FORMAT_WIDE;
    bool spaces = g->session.flags->all_namespaces && has_namespaces(g, target);
    if (mine->rows.column_count != 0) {
        cli_columns_of_rows(&mine->rows, spaces, wide, ret_columns);
    } else {
        cli_columns_of(target->resource, spaces, wide, ret_columns);
    }
    if (g->options->show_kind || g->session.target_count > 1) {
        cli_columns_show_kind(ret_columns, target->resource);
    }
    if (g->selection.label != NULL) {
        cli_columns_add_label(ret_columns, g->selection.label);
    }
    for (size_t i = 0; i < g->label_columns.count; i++) {
        cli_columns_add_label_column(ret_columns, g->label_columns.items[i]);
    }
    if (g->options->show_labels) {
        cli_columns_add_labels(ret_columns);
    }
}

/* kubectl's columns are at least six characters wide including the gap. */
static void begin_table(cli_table *table, const cli_columns *columns, bool with_head)
{
    cli_table_init(table, columns->count);
    for (size_t i = 0; i < columns->count; i++) {
        table->widths[i] = WIDTH_MIN;
    }
    if (with_head) {
        cli_columns_head(columns, table);
    }
}

static void show_table(const cli_get *g, const cli_columns *columns, const cli_found *all,
                       ki_buf *out)
{
    cli_table table;
    begin_table(&table, columns, !g->options->no_headers);
    for (size_t i = 0; i < all->count; i++) {
        cli_columns_row(columns, all->items[i], &table);
    }
    cli_table_print(&table, out);
    cli_table_done(&table);
}

/* ---- current objects ---- */

/* Formats that print resources one after the other. */
static void show(const cli_get *g, const cli_target *target, const cli_found *all, ki_buf *out)
{
    if (cli_get_is_table(g)) {
        cli_columns columns;
        columns_of(g, target, &columns);
        show_table(g, &columns, all, out);
        cli_columns_done(&columns);
    } else if (g->output.format == CLI_FORMAT_CUSTOM) {
        show_table(g, &g->output.columns, all, out);
    } else if (g->output.format == CLI_FORMAT_NAME) {
        for (size_t i = 0; i < all->count; i++) {
            cli_put_name(out, target->resource, all->items[i]);
            cli_put_char(out, '\n');
        }
    }
}

/* Formats that print all resources together. */
static void show_together(const cli_get *g, const cli_found *all, ki_buf *out)
{
    if (g->output.format == CLI_FORMAT_JSON) {
        show_json(g, all, out);
    } else if (g->output.format == CLI_FORMAT_YAML) {
        show_yaml(g, all, out);
    } else if (g->output.format == CLI_FORMAT_JSONPATH) {
        show_jsonpath(g, all, out);
    }
}

/* Reports named objects that do not exist. */
static int check_names(const cli_target *target, const cli_found *all)
{
    const cli_get_target *mine = target->user;
    int code = CLI_OK;
    for (size_t i = 0; i < mine->names.count; i++) {
        bool there = false;
        for (size_t j = 0; !there && j < all->count; j++) {
            there = strcmp(mine->names.items[i], ki_object_name(all->items[j])) == 0;
        }
        if (!there) {
            cli_say("%s \"%s\" not found", target->label, mine->names.items[i]);
            code = CLI_NOT_FOUND;
        }
    }
    return code;
}

static void report_nothing_found(const cli_get *g)
{
    bool shows_lists = cli_get_is_table(g) || g->output.format == CLI_FORMAT_CUSTOM;
    if (shows_lists && !g->options->watch) {
        cli_say("no %s found",
                g->session.target_count == 1 ? g->session.targets[0].label : "resources");
    }
}

static int by_place(const void *a, const void *b)
{
    int64_t left = cli_rows_place(*(ki_object *const *)a);
    int64_t right = cli_rows_place(*(ki_object *const *)b);
    return left < right ? -1 : left > right;
}

/* Tables keep the server's order, unless --sort-by is given. */
static int arrange(const cli_get *g, const cli_get_target *mine, cli_found *all, ki_error *error)
{
    if (mine->rows.column_count != 0 && g->selection.label == NULL && all->count != 0) {
        qsort(all->items, all->count, sizeof(*all->items), by_place);
    }
    return g->sort_by != NULL ? cli_found_sort(all, g->sort_by, error) : 0;
}

/* Prints one resource of several. */
static int show_target(cli_get *g, const cli_target *target, cli_found *everything, ki_buf *out)
{
    const cli_get_target *mine = target->user;
    cli_found all = {0};
    ki_error error = KI_ERROR_INIT;
    cli_selection_find(&g->selection, &mine->names, target, &all);
    int code = check_names(target, &all);
    if (arrange(g, mine, &all, &error) < 0) {
        cli_report_error(&error);
        code = CLI_FAILED;
    } else if (g->live) {
        for (size_t i = 0; i < all.count; i++) {
            cli_get_show_event(g, target, "ADDED", all.items[i]);
        }
    } else if (all.count != 0) {
        if (out->len != 0 && g->output.format != CLI_FORMAT_NAME && !g->options->no_headers) {
            cli_put_char(out, '\n');
        }
        show(g, target, &all, out);
    }
    for (size_t i = 0; i < all.count; i++) {
        cli_found_add(everything, all.items[i]);
    }
    cli_found_done(&all);
    return code;
}

int cli_get_show_all(cli_get *g)
{
    ki_buf out;
    cli_found everything = {0};
    int code = CLI_OK;
    cli_text_init(&out);
    g->live = g->options->watch;
    for (size_t i = 0; i < g->session.target_count; i++) {
        int shown = show_target(g, &g->session.targets[i], &everything, &out);
        code = shown != CLI_OK ? shown : code;
    }
    if (code == CLI_OK && everything.count == 0) {
        report_nothing_found(g);
    }
    if (code == CLI_OK && !g->live) {
        show_together(g, &everything, &out);
    }
    cli_term_out(ki_buf_str(&out));
    cli_get_flush(g);
    cli_found_done(&everything);
    ki_buf_done(&out);
    return code;
}

/* ---- events of a watch ---- */

void cli_get_flush(cli_get *g)
{
    if (g->table.rows.len != 0) {
        ki_buf_clear(&g->line);
        cli_table_print(&g->table, &g->line);
        cli_term_out(ki_buf_str(&g->line));
    }
}

/* Prints titles initially, and whenever the columns change. */
static void take_columns(cli_get *g, const cli_target *target)
{
    const cli_get_target *mine = target->user;
    bool custom = g->output.format == CLI_FORMAT_CUSTOM;
    if (g->headed != NULL &&
        (custom || (g->headed == mine && g->headed_changes == mine->rows.changes))) {
        return;
    }
    cli_get_flush(g);
    cli_table_done(&g->table);
    if (!custom) {
        cli_columns_done(&g->columns);
        columns_of(g, target, &g->columns);
        if (g->options->watch_events) {
            cli_columns_add_first(&g->columns, "EVENT");
        }
    }
    begin_table(&g->table, custom ? &g->output.columns : &g->columns, !g->options->no_headers);
    g->headed = mine;
    g->headed_changes = mine->rows.changes;
}

static void put_watched_object(cli_get *g, const char *type, const ki_object *object)
{
    bool yaml = g->output.format == CLI_FORMAT_YAML;
    bool with_event = g->options->watch_events;
    ki_buf *line = &g->line;
    if (yaml) {
        cli_put(line, g->any ? "---\n" : "");
        if (with_event) {
            cli_putf(line, "type: %s\nobject:\n", type);
        }
        cli_put_object_yaml(line, object, with_event ? 2 : 0, false);
        return;
    }
    ki_buf json;
    cli_text_init(&json);
    if (with_event) {
        cli_putf(&json, "{\"type\":\"%s\",\"object\":", type);
    }
    cli_put_object(&json, object, 0);
    cli_put(&json, with_event ? "}" : "");
    cli_put_json(line, ki_buf_str(&json), INDENT);
    cli_put_char(line, '\n');
    ki_buf_done(&json);
}

void cli_get_show_event(cli_get *g, const cli_target *target, const char *type,
                        const ki_object *object)
{
    ki_value root = ki_object_root(object);
    ki_buf_clear(&g->line);
    switch (g->output.format) {
    case CLI_FORMAT_COLUMNS:
    case CLI_FORMAT_WIDE:
        take_columns(g, target);
        if (g->options->watch_events) {
            g->columns.items[0].absent = type;
        }
        cli_columns_row(&g->columns, object, &g->table);
        return;
    case CLI_FORMAT_CUSTOM:
        take_columns(g, target);
        cli_columns_row(&g->output.columns, object, &g->table);
        return;
    case CLI_FORMAT_JSON:
    case CLI_FORMAT_YAML:
        put_watched_object(g, type, object);
        break;
    case CLI_FORMAT_NAME:
        cli_put_name(&g->line, target->resource, object);
        cli_put_char(&g->line, '\n');
        break;
    case CLI_FORMAT_JSONPATH:
        cli_template_put(g->output.template, &root, g->options->raw, &g->line);
        cli_put_char(&g->line, '\n');
        break;
    case CLI_FORMAT_NONE:
    case CLI_FORMAT_MAX:
        break;
    }
    g->any = true;
    cli_term_out(ki_buf_str(&g->line));
}
