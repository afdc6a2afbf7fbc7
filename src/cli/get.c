/* SPDX-License-Identifier: Apache-2.0 */
/* `kinformer get`: prints objects from a synced cache, so that indexes can be used; with --watch
 * also subsequent changes. Tables are the server's own: their cache holds rows (rows.h). */
#include "cli/get.h"

#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/follow.h"
#include "cli/report_failure.h"
#include "cli/run_stats.h"
#include "cli/text.h"

enum { PAGE = 500 };

#define AT(member) offsetof(cli_get_options, member)

static const cli_option options[] = {
    {"output", 'o', CLI_ARG_TEXT, AT(output), CLI_OUTPUT_VALUE, CLI_OUTPUT_HELP},
    {"watch", 'w', CLI_ARG_FLAG, AT(watch), NULL, "then print changed objects as rows"},
    {"watch-only", 0, CLI_ARG_FLAG, AT(watch_only), NULL, "like --watch, without the initial list"},
    {"output-watch-events", 0, CLI_ARG_FLAG, AT(watch_events), NULL,
     "with --watch: add ADDED, MODIFIED or DELETED"},
    {"label-columns", 'L', CLI_ARG_LIST, AT(label_columns), "KEY,...",
     "add columns with the values of these labels"},
    {"show-labels", 0, CLI_ARG_FLAG, AT(show_labels), NULL, "add a column with all labels"},
    {"show-kind", 0, CLI_ARG_FLAG, AT(show_kind), NULL, "prefix names with their kind: pod/web"},
    {"sort-by", 0, CLI_ARG_TEXT, AT(sort_by), "PATH", "sort by the value at this path"},
    {"where", 0, CLI_ARG_LIST, AT(where), "PATH=VALUE",
     "only objects with this value, by an index; repeatable"},
    {"by-label", 0, CLI_ARG_TEXT, AT(by_label), "KEY[=VALUE]",
     "only objects with this label, sorted by its value, by an index"},
    {"no-headers", 0, CLI_ARG_FLAG, AT(no_headers), NULL, "no header line"},
    {"raw", 0, CLI_ARG_FLAG, AT(raw), NULL, "jsonpath: do not escape control characters"},
    CLI_STATS_OPTION(cli_get_options, stats),
};

/* ---- the command line ---- */

/* Splits a copy of the text at commas. */
static void cut_words(const char *text, char **ret_copy, cli_words *words)
{
    char *copy = strdup(text);
    if (copy == NULL) {
        cli_fail_memory();
    }
    *ret_copy = copy;
    for (char *word = copy; word != NULL;) {
        char *comma = strchr(word, ',');
        if (comma != NULL) {
            *comma = '\0';
        }
        if (word[0] != '\0') {
            cli_words_add(words, word);
        }
        word = comma != NULL ? comma + 1 : NULL;
    }
}

/* -L a,b -L c */
static void read_label_columns(cli_get *g)
{
    ki_buf all;
    cli_text_init(&all);
    for (size_t i = 0; i < g->options->label_columns.count; i++) {
        cli_put(&all, i != 0 ? "," : "");
        cli_put(&all, g->options->label_columns.items[i]);
    }
    cut_words(ki_buf_text(&all), &g->texts[1], &g->label_columns);
    ki_buf_done(&all);
}

/* kubectl accepts "{.a.b}", ".a.b" and "a.b". */
static int read_sort_path(cli_get *g, ki_error *error)
{
    const char *text = g->options->sort_by;
    if (text == NULL) {
        return 0;
    }
    size_t len = strlen(text);
    ki_buf path;
    cli_text_init(&path);
    if (len >= 2 && text[0] == '{' && text[len - 1] == '}') {
        text++;
        len -= 2;
    }
    cli_put(&path, len != 0 && strchr(".[$@", text[0]) == NULL ? "." : "");
    cli_put_str(&path, ki_str_make(text, len));
    int r = ki_path_compile(ki_buf_text(&path), NULL, &g->sort_by, error);
    ki_buf_done(&path);
    return r;
}

static bool has_slash(const char *word)
{
    return strchr(word, '/') != NULL;
}

/* RESOURCE[,RESOURCE...] [NAME...], or RESOURCE/NAME... */
static int read_operands(cli_get *g, const cli_call *call, ki_error *error)
{
    const cli_words *words = &call->operands;
    bool pairs = has_slash(words->items[0]);
    for (size_t i = 0; i < words->count; i++) {
        const char *slash = strchr(words->items[i], '/');
        if ((slash != NULL) != pairs) {
            return cli_fail(error, KI_ERR_INVALID,
                            "\"%s\": RESOURCE/NAME and RESOURCE NAME cannot be mixed",
                            words->items[i]);
        }
        if (pairs && (slash == words->items[i] || slash[1] == '\0' || has_slash(slash + 1))) {
            return cli_fail(error, KI_ERR_INVALID, "\"%s\" is not RESOURCE/NAME", words->items[i]);
        }
    }
    if (!pairs) {
        cli_words_add(&g->types, words->items[0]);
        g->several = words->count != 2;
        return 0;
    }
    ki_buf types;
    cli_text_init(&types);
    for (size_t i = 0; i < words->count; i++) {
        cli_put(&types, i != 0 ? "," : "");
        cli_put_str(&types, ki_str_make(words->items[i], strcspn(words->items[i], "/")));
    }
    cut_words(ki_buf_text(&types), &g->texts[0], &g->types);
    ki_buf_done(&types);
    g->several = words->count != 1;
    return 0;
}

static int read_command_line(cli_get *g, const cli_call *call, ki_error *error)
{
    const cli_get_options *o = g->options;
    int r = cli_output_parse(o->output, &g->output, error);
    if (r == 0 && !cli_stats_is_format(o->stats)) {
        r = cli_fail(error, KI_ERR_INVALID, "--stats: value must be json");
    }
    if (r == 0 && o->watch && o->sort_by != NULL) {
        r = cli_fail(error, KI_ERR_INVALID, "--watch and --sort-by are mutually exclusive");
    }
    if (r == 0) {
        r = read_operands(g, call, error);
    }
    if (r == 0) {
        r = cli_selection_parse(&g->selection, &o->where, o->by_label, error);
    }
    if (r == 0) {
        r = read_sort_path(g, error);
    }
    read_label_columns(g);
    if (r == 0 && (call->flags.keep != NULL || call->flags.drop != NULL) && cli_get_is_table(g)) {
        r = cli_fail(error, KI_ERR_INVALID,
                     "--keep and --drop: not for tables; use -o json, yaml, name, jsonpath or "
                     "custom-columns");
    }
    return r;
}

/* ---- targets ---- */

/* metadata.name=..., combined with the user's field selector. */
static void select_name(cli_get_target *mine, cli_target *target)
{
    const char *requested = target->session->flags->field_selector;
    if (mine->names.count != 1) {
        return;
    }
    cli_put(&mine->selector, "metadata.name=");
    for (const char *c = mine->names.items[0]; *c != '\0'; c++) {
        cli_put(&mine->selector, strchr("\\,=", *c) != NULL ? "\\" : "");
        cli_put_char(&mine->selector, *c);
    }
    if (requested != NULL && requested[0] != '\0') {
        cli_put_char(&mine->selector, ',');
        cli_put(&mine->selector, requested);
    }
    target->field_selector = ki_buf_text(&mine->selector);
}

/* The object names for this target: all separate names, or those after its resource. */
static void take_names(const cli_get *g, const cli_call *call, cli_target *target)
{
    cli_get_target *mine = target->user;
    const cli_words *words = &call->operands;
    bool pairs = has_slash(words->items[0]);
    for (size_t i = pairs ? 0 : 1; i < words->count; i++) {
        const char *slash = strchr(words->items[i], '/');
        const ki_resource *resource = NULL;
        ki_error error = KI_ERROR_INIT;
        if (!pairs ||
            (ki_discovery_find(g->session.discovery, g->types.items[i], &resource, &error) == 0 &&
             resource == target->resource)) {
            cli_words_add(&mine->names, pairs ? slash + 1 : words->items[i]);
        }
    }
    select_name(mine, target);
}

static void make_targets(cli_get *g, const cli_call *call)
{
    cli_session *session = &g->session;
    g->targets = calloc(session->target_count + 1, sizeof(*g->targets));
    if (g->targets == NULL) {
        cli_fail_memory();
    }
    for (size_t i = 0; i < session->target_count; i++) {
        g->targets[i].get = g;
        cli_text_init(&g->targets[i].selector);
        session->targets[i].user = &g->targets[i];
        take_names(g, call, &session->targets[i]);
    }
}

static int prepare(cli_target *target, ki_error *error)
{
    const cli_get_target *mine = target->user;
    return cli_selection_prepare(&mine->get->selection, target, error);
}

static int make_source(cli_target *target, const char *name_space, ki_source *ret_source,
                       ki_error *error)
{
    cli_get_target *mine = target->user;
    const cli_get *g = mine->get;
    bool whole = g->selection.condition_count != 0 || g->sort_by != NULL;
    return cli_rows_source(&mine->rows, g->session.client, target->resource, name_space, whole,
                           ret_source, error);
}

/* ---- events ---- */

static void show_event(const cli_target *target, const char *type, const ki_object *object)
{
    const cli_get_target *mine = target->user;
    cli_get *g = mine->get;
    if (g->live && cli_selection_has(&g->selection, &mine->names, object)) {
        cli_get_show_event(g, target, type, object);
    }
}

static void on_add(const ki_object *object, bool is_initial, void *user)
{
    if (!is_initial) {
        show_event(user, "ADDED", object);
    }
}

static void on_update(const ki_object *old_object, const ki_object *object, void *user)
{
    (void)old_object;
    show_event(user, "MODIFIED", object);
}

static void on_delete(const ki_object *object, bool final_state_unknown, void *user)
{
    (void)final_state_unknown;
    show_event(user, "DELETED", object);
}

/* ---- the command ---- */

static void on_synced(cli_target *target)
{
    if (cli_session_is_synced(target->session)) {
        cli_session_end(target->session);
    }
}

static void on_round(void *user)
{
    cli_get *g = user;
    cli_get_flush(g);
    cli_follow_check(&g->session);
}

static void on_tick(void *user)
{
    cli_get *g = user;
    if (!g->live) {
        cli_follow_progress(&g->session);
    }
}

/* Prints the objects and then, with --watch, their changes. */
static int show(cli_get *g)
{
    int code = CLI_OK;
    if (!g->options->watch_only) {
        code = cli_get_show_all(g);
    }
    if (code == CLI_OK && (g->options->watch || g->options->watch_only)) {
        g->live = true;
        code = cli_session_run(&g->session, 0);
        cli_get_flush(g);
    }
    cli_stats_print(&g->session, g->options->stats);
    return code;
}

static int get(cli_get *g, cli_call *call)
{
    cli_session *session = &g->session;
    ki_handler handler = {.on_add = on_add, .on_update = on_update, .on_delete = on_delete};
    ki_error error = KI_ERROR_INIT;
    int code = cli_session_open(session, &call->flags, g->types.items, g->types.count);
    if (code != CLI_OK || session->events.signal != 0) {
        return code;
    }
    make_targets(g, call);
    session->prepare = prepare;
    if (cli_get_is_table(g)) {
        session->make_source = make_source;
        session->page_size = PAGE;
    }
    session->events.on_round = on_round;
    session->events.on_tick = on_tick;
    session->events.user = g;
    if (cli_session_start(session, &handler, on_synced, &error) < 0) {
        cli_report_error(&error);
        return cli_exit_code(&error);
    }
    code = cli_session_run(session, call->flags.request_timeout_ms);
    if (code == CLI_OK && cli_session_is_synced(session)) {
        code = show(g);
        code = g->live ? code : cli_session_result(session, code);
    }
    return code;
}

static void done(cli_get *g)
{
    size_t count = g->session.target_count;
    cli_session_close(&g->session);
    for (size_t i = 0; g->targets != NULL && i < count; i++) {
        cli_words_done(&g->targets[i].names);
        ki_buf_done(&g->targets[i].selector);
        cli_rows_done(&g->targets[i].rows);
    }
    free(g->targets);
    cli_selection_done(&g->selection);
    (void)ki_path_unref(g->sort_by);
    cli_words_done(&g->types);
    cli_words_done(&g->label_columns);
    free(g->texts[0]);
    free(g->texts[1]);
    cli_columns_done(&g->columns);
    cli_table_done(&g->table);
    ki_buf_done(&g->line);
    cli_output_done(&g->output);
}

static int run(cli_call *call)
{
    cli_get *g = calloc(1, sizeof(*g));
    ki_error error = KI_ERROR_INIT;
    if (g == NULL) {
        cli_fail_memory();
    }
    g->options = call->options;
    cli_table_init(&g->table, 0);
    cli_text_init(&g->line);
    g->session.events.epoll_fd = -1;
    g->session.events.signal_fd = -1;
    int r = read_command_line(g, call, &error);
    int code = r < 0 ? cli_usage_error(call->command, &error) : get(g, call);
    done(g);
    free(g);
    return code;
}

static void options_done(void *given)
{
    cli_get_options *o = given;
    cli_words_done(&o->where);
    cli_words_done(&o->label_columns);
}

const cli_command cli_command_get = {
    .name = "get",
    .operands = "RESOURCE[,...] [NAME...] | RESOURCE/NAME...",
    .summary = "print objects from a synced cache",
    .about = "Prints objects in the columns of the server's tables, as kubectl does. RESOURCE may "
             "be\na category, such as \"all\". --where and --by-label use indexes of the cache. -o "
             "json\nand yaml print a List, or one object if one was named. A path may contain "
             "filters:\nthe last '=' separates the value.",
    .examples =
        "  kinformer get pods -A\n"
        "  kinformer get pods,svc -L app --sort-by .metadata.creationTimestamp\n"
        "  kinformer get deploy/web svc/web -o yaml\n"
        "  kinformer get pods -w\n"
        "  kinformer get all -n shop\n"
        "  kinformer get pods -A --where .spec.nodeName=node-1\n"
        "  kinformer get pods -A --where .spec.containers[*].image=nginx:1.27 -o name\n"
        "  kinformer get pods --by-label app\n"
        "  kinformer get pods -o jsonpath='{range .items[*]}{.metadata.name}{\"\\n\"}{end}'\n",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .options_size = sizeof(cli_get_options),
    .options_done = options_done,
    .connects = true,
    .names_resources = true,
    .operands_min = 1,
    .operands_max = 1000,
    .run = run,
};
