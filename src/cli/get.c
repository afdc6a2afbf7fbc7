/* SPDX-License-Identifier: Apache-2.0 */
/* `kinformer get`: objects once, from a cache that has synced, so that indexes can be asked. */
#include <stdlib.h>
#include <string.h>

#include <kinformer/lister.h>
#include <kinformer/store.h>

#include "cli/columns.h"
#include "cli/command.h"
#include "cli/failure.h"
#include "cli/follow.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/stats.h"
#include "cli/table.h"
#include "cli/term.h"
#include "cli/text.h"
#include "cli/yaml.h"

enum { CONDITIONS_MAX = 16, INDENT = 4 };

#define LABEL_INDEX "by-label"

typedef struct get_options {
    const char *output;
    cli_words where;
    const char *by_label;
    bool no_headers;
    bool raw;
    const char *stats;
} get_options;

#define AT(member) offsetof(get_options, member)

static const cli_option options[] = {
    {"output", 'o', CLI_ARG_TEXT, AT(output), CLI_OUTPUT_VALUE, CLI_OUTPUT_HELP},
    {"where", 0, CLI_ARG_LIST, AT(where), "PATH=VALUE",
     "objects with this value there, by an index; may be repeated"},
    {"by-label", 0, CLI_ARG_TEXT, AT(by_label), "KEY[=VALUE]",
     "objects with this label, sorted by its value, by an index"},
    {"no-headers", 0, CLI_ARG_FLAG, AT(no_headers), NULL, "no titles over the columns"},
    {"raw", 0, CLI_ARG_FLAG, AT(raw), NULL,
     "jsonpath: values with the control characters they have"},
    CLI_STATS_OPTION(get_options, stats),
};

/* One --where. */
typedef struct condition {
    char *text; /* the path; the value behind it in the same block */
    const char *value;
    ki_path *path;
} condition;

/* Objects, as references. */
typedef struct found {
    ki_object **items;
    size_t count;
    size_t cap;
} found;

typedef struct getting {
    cli_session session;
    const get_options *options;
    cli_output output;
    cli_words types; /* resources */
    cli_words names; /* of objects; none: all */
    condition conditions[CONDITIONS_MAX];
    size_t condition_count;
    char *type;  /* of RESOURCE/NAME */
    char *label; /* of --by-label */
    const char *label_value;
    ki_buf selector;
    bool several; /* one object alone is no list */
} getting;

/* ---- the command line ---- */

static char *copy_of(const char *text)
{
    char *copy = strdup(text);
    if (copy == NULL) {
        cli_fail_memory();
    }
    return copy;
}

static int read_condition(getting *g, const char *text, ki_error *error)
{
    if (g->condition_count == CONDITIONS_MAX) {
        return cli_fail(error, KI_ERR_LIMIT, "over %d --where", CONDITIONS_MAX);
    }
    condition *c = &g->conditions[g->condition_count++];
    c->text = copy_of(text);
    char *equals = strrchr(c->text, '='); /* a filter in the path has others */
    if (equals == NULL || equals == c->text) {
        return cli_fail(error, KI_ERR_INVALID, "--where is PATH=VALUE, not \"%s\"", text);
    }
    *equals = '\0';
    c->value = equals + 1;
    return ki_path_compile(c->text, NULL, &c->path, error);
}

/* pods [NAME...], or pod/NAME... */
static int read_operands(getting *g, const cli_call *call, ki_error *error)
{
    const cli_words *words = &call->operands;
    if (strchr(words->items[0], '/') == NULL) {
        cli_words_add(&g->types, words->items[0]);
        for (size_t i = 1; i < words->count; i++) {
            cli_words_add(&g->names, words->items[i]);
        }
        return 0;
    }
    size_t len = strcspn(words->items[0], "/");
    for (size_t i = 0; i < words->count; i++) {
        if (strcspn(words->items[i], "/") != len || words->items[i][len] != '/' ||
            strncmp(words->items[i], words->items[0], len) != 0) {
            return cli_fail(error, KI_ERR_INVALID, "RESOURCE/NAME must be of one resource");
        }
        cli_words_add(&g->names, words->items[i] + len + 1);
    }
    g->type = strndup(words->items[0], len);
    if (g->type == NULL) {
        cli_fail_memory();
    }
    cli_words_add(&g->types, g->type);
    return 0;
}

static int read_command_line(getting *g, const cli_call *call, ki_error *error)
{
    int r = cli_output_parse(g->options->output, &g->output, error);
    if (r == 0 && !cli_stats_is_format(g->options->stats)) {
        r = cli_fail(error, KI_ERR_INVALID, "--stats is json, or has no value");
    }
    if (r == 0) {
        r = read_operands(g, call, error);
    }
    for (size_t i = 0; r == 0 && i < g->options->where.count; i++) {
        r = read_condition(g, g->options->where.items[i], error);
    }
    if (r == 0 && g->options->by_label != NULL) {
        g->label = copy_of(g->options->by_label);
        char *equals = strchr(g->label, '=');
        if (equals != NULL) {
            *equals = '\0';
            g->label_value = equals + 1;
        }
    }
    g->several = g->names.count != 1;
    return r;
}

/* metadata.name=..., with what was asked for besides. */
static void select_name(getting *g, const cli_flags *flags)
{
    if (g->names.count != 1) {
        return;
    }
    cli_put(&g->selector, "metadata.name=");
    for (const char *c = g->names.items[0]; *c != '\0'; c++) {
        cli_put(&g->selector, strchr("\\,=", *c) != NULL ? "\\" : "");
        cli_put_char(&g->selector, *c);
    }
    if (flags->field_selector != NULL && flags->field_selector[0] != '\0') {
        cli_put_char(&g->selector, ',');
        cli_put(&g->selector, flags->field_selector);
    }
    g->session.field_selector = ki_buf_text(&g->selector);
}

/* ---- indexes ---- */

static int prepare(cli_target *target, ki_error *error)
{
    getting *g = target->user;
    ki_index index = {0};
    int r = 0;
    for (size_t i = 0; r == 0 && i < g->condition_count; i++) {
        /* The text of the path is its name; the same path twice is one index. */
        int made = ki_index_by_path(g->conditions[i].text, g->conditions[i].path, NULL, &index);
        r = cli_session_add_index(target, made, &index, error);
        r = r == KI_ERR_EXISTS ? 0 : r;
    }
    if (r == 0 && g->label != NULL) {
        int made = ki_index_by_label(LABEL_INDEX, g->label, NULL, &index);
        r = cli_session_add_index(target, made, &index, error);
    }
    return r;
}

/* ---- finding ---- */

static void add_found(found *all, const ki_object *object)
{
    if (all->count == all->cap) {
        size_t cap = all->cap != 0 ? all->cap * 2 : 64;
        ki_object **items = realloc(all->items, cap * sizeof(*items));
        if (items == NULL) {
            cli_fail_memory();
        }
        all->items = items;
        all->cap = cap;
    }
    all->items[all->count++] = ki_object_ref(object);
}

static void free_found(found *all)
{
    for (size_t i = 0; i < all->count; i++) {
        (void)ki_object_unref(all->items[i]);
    }
    free(all->items);
    *all = (found){0};
}

static int by_key(const void *a, const void *b)
{
    return strcmp(ki_object_key(*(ki_object *const *)a), ki_object_key(*(ki_object *const *)b));
}

static bool meets(const condition *c, const ki_object *object)
{
    ki_path_iter *iter = NULL;
    ki_value root = ki_object_root(object);
    ki_value value;
    ki_buf text;
    bool does = false;
    if (ki_path_iter_new(c->path, &root, &iter) < 0) {
        cli_fail_memory();
    }
    cli_text_init(&text);
    while (!does && ki_path_iter_next(iter, &value) > 0) {
        ki_buf_clear(&text);
        cli_put_value(&text, &value, true);
        does = ki_str_eq_text(ki_buf_str(&text), c->value);
    }
    ki_buf_done(&text);
    (void)ki_path_iter_free(iter);
    return does;
}

static bool is_wanted(const getting *g, const ki_object *object)
{
    for (size_t i = 0; i < g->condition_count; i++) {
        if (!meets(&g->conditions[i], object)) {
            return false;
        }
    }
    bool named = g->names.count == 0;
    for (size_t i = 0; !named && i < g->names.count; i++) {
        named = strcmp(g->names.items[i], ki_object_name(object)) == 0;
    }
    return named;
}

static void take_walk(const getting *g, ki_snapshot_iter *iter, found *all)
{
    const ki_object *object;
    size_t from = all->count;
    while ((object = ki_snapshot_next(iter)) != NULL) {
        if (is_wanted(g, object)) {
            add_found(all, object);
        }
    }
    if (all->count > from) {
        qsort(all->items + from, all->count - from, sizeof(*all->items), by_key);
    }
}

static int by_text(const void *a, const void *b)
{
    return ki_str_cmp(*(const ki_str *)a, *(const ki_str *)b);
}

/* All values of the label, one after the other. */
static void take_groups(const getting *g, ki_snapshot *snapshot, found *all)
{
    ki_str *values = NULL;
    size_t count = 0;
    uint32_t position = 0;
    ki_str value;
    while (ki_snapshot_next_value(snapshot, LABEL_INDEX, &position, &value, NULL) > 0) {
        ki_str *more = realloc(values, (count + 1) * sizeof(*values));
        if (more == NULL) {
            cli_fail_memory();
        }
        values = more;
        values[count++] = value;
    }
    if (count != 0) {
        qsort(values, count, sizeof(*values), by_text);
    }
    for (size_t i = 0; i < count; i++) {
        ki_snapshot_iter iter;
        if (ki_snapshot_find(snapshot, LABEL_INDEX, values[i], &iter) == 0) {
            take_walk(g, &iter, all);
        }
    }
    free(values);
}

static void find_objects(const getting *g, const cli_target *target, found *all)
{
    ki_snapshot *snapshot = ki_store_snapshot(ki_informer_store(target->informer));
    ki_snapshot_iter iter = ki_snapshot_all(snapshot);
    int r = 0;
    if (g->label != NULL && g->label_value == NULL) {
        take_groups(g, snapshot, all);
        (void)ki_snapshot_unref(snapshot);
        return;
    }
    if (g->label != NULL) {
        r = ki_snapshot_find(snapshot, LABEL_INDEX, ki_str_from(g->label_value), &iter);
    } else if (g->condition_count != 0) {
        const condition *c = &g->conditions[0];
        r = ki_snapshot_find(snapshot, c->text, ki_str_from(c->value), &iter);
    }
    if (r == 0) {
        take_walk(g, &iter, all);
    }
    (void)ki_snapshot_unref(snapshot);
}

/* Says which of the named objects are not there. */
static int check_names(const getting *g, const cli_target *target, const found *all)
{
    int code = CLI_OK;
    for (size_t i = 0; i < g->names.count; i++) {
        bool there = false;
        for (size_t j = 0; !there && j < all->count; j++) {
            there = strcmp(g->names.items[i], ki_object_name(all->items[j])) == 0;
        }
        if (!there) {
            cli_say("%s \"%s\" not found", target->label, g->names.items[i]);
            code = CLI_NOT_FOUND;
        }
    }
    return code;
}

/* ---- showing ---- */

static void put_list(const found *all, ki_buf *out)
{
    cli_put(out, "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"metadata\":{},\"items\":[");
    for (size_t i = 0; i < all->count; i++) {
        cli_put(out, i != 0 ? "," : "");
        cli_put_object(out, all->items[i], 0);
    }
    cli_put(out, "]}");
}

static void show_json(const getting *g, const found *all, ki_buf *out)
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
static void show_yaml(const getting *g, const found *all, ki_buf *out)
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

static void show_jsonpath(const getting *g, const found *all, ki_buf *out)
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
        cli_say("the list cannot be read: %s", cli_error_text(&error));
    } else {
        ki_value root = ki_object_root(list);
        cli_template_put(g->output.template, &root, g->options->raw, out);
    }
    (void)ki_object_unref(list);
    ki_buf_done(&json);
}

static void show_table(const getting *g, const cli_columns *columns, const found *all, ki_buf *out)
{
    cli_table table;
    cli_table_init(&table, columns->count);
    if (!g->options->no_headers) {
        cli_columns_head(columns, &table);
    }
    for (size_t i = 0; i < all->count; i++) {
        cli_columns_row(columns, all->items[i], &table);
    }
    cli_table_print(&table, out);
    cli_table_done(&table);
}

static void show_columns(const getting *g, const cli_target *target, const found *all, ki_buf *out)
{
    cli_columns columns;
    bool spaces = g->session.flags->all_namespaces && ki_resource_is_namespaced(target->resource);
    if (all->count == 0) {
        cli_say("no %s found", target->label);
        return;
    }
    cli_columns_of(target->resource, spaces, g->output.format == CLI_FORMAT_WIDE, &columns);
    if (g->label != NULL) {
        cli_columns_add_label(&columns, g->label);
    }
    show_table(g, &columns, all, out);
    cli_columns_done(&columns);
}

static void show(const getting *g, const cli_target *target, const found *all, ki_buf *out)
{
    switch (g->output.format) {
    case CLI_FORMAT_COLUMNS:
    case CLI_FORMAT_WIDE:
        show_columns(g, target, all, out);
        break;
    case CLI_FORMAT_CUSTOM:
        show_table(g, &g->output.columns, all, out);
        break;
    case CLI_FORMAT_NAME:
        for (size_t i = 0; i < all->count; i++) {
            cli_put_name(out, target->resource, all->items[i]);
            cli_put_char(out, '\n');
        }
        break;
    case CLI_FORMAT_JSON:
    case CLI_FORMAT_YAML:
    case CLI_FORMAT_JSONPATH: /* for all resources together */
    case CLI_FORMAT_NONE:
    case CLI_FORMAT_MAX:
        break;
    }
}

static int show_all(getting *g)
{
    ki_buf out;
    found everything = {0};
    int code = CLI_OK;
    cli_text_init(&out);
    for (size_t i = 0; i < g->session.target_count; i++) {
        const cli_target *target = &g->session.targets[i];
        found all = {0};
        find_objects(g, target, &all);
        int missing = check_names(g, target, &all);
        code = missing != CLI_OK ? missing : code;
        if (out.len != 0 && all.count != 0 && g->output.format <= CLI_FORMAT_WIDE) {
            cli_put_char(&out, '\n');
        }
        if (missing == CLI_OK || all.count != 0) {
            show(g, target, &all, &out);
        }
        for (size_t j = 0; j < all.count; j++) {
            add_found(&everything, all.items[j]);
        }
        free_found(&all);
    }
    if (code == CLI_OK && g->output.format == CLI_FORMAT_JSON) {
        show_json(g, &everything, &out);
    } else if (code == CLI_OK && g->output.format == CLI_FORMAT_YAML) {
        show_yaml(g, &everything, &out);
    } else if (code == CLI_OK && g->output.format == CLI_FORMAT_JSONPATH) {
        show_jsonpath(g, &everything, &out);
    }
    cli_term_out(ki_buf_str(&out));
    free_found(&everything);
    ki_buf_done(&out);
    return code;
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
    cli_follow_check(user);
}

static void on_tick(void *user)
{
    cli_follow_progress(user);
}

static int get(getting *g, cli_call *call)
{
    cli_session *session = &g->session;
    ki_handler handler = {0};
    ki_error error = KI_ERROR_INIT;
    int code = cli_session_open(session, &call->flags, g->types.items, g->types.count);
    if (code != CLI_OK || session->events.signal != 0) {
        return code;
    }
    for (size_t i = 0; i < session->target_count; i++) {
        session->targets[i].user = g;
    }
    select_name(g, &call->flags);
    session->prepare = prepare;
    session->events.on_round = on_round;
    session->events.on_tick = on_tick;
    session->events.user = session;
    if (cli_session_start(session, &handler, on_synced, &error) < 0) {
        cli_say_error(&error);
        return cli_exit_code(&error);
    }
    code = cli_session_run(session, call->flags.request_timeout_ms);
    if (code == CLI_OK && cli_session_is_synced(session)) {
        code = show_all(g);
        cli_stats_print(session, g->options->stats);
    }
    return code;
}

static void done(getting *g)
{
    cli_session_close(&g->session);
    for (size_t i = 0; i < g->condition_count; i++) {
        (void)ki_path_unref(g->conditions[i].path);
        free(g->conditions[i].text);
    }
    free(g->type);
    free(g->label);
    cli_words_done(&g->types);
    cli_words_done(&g->names);
    ki_buf_done(&g->selector);
    cli_output_done(&g->output);
}

static int run(cli_call *call)
{
    getting g = {.options = call->options};
    ki_error error = KI_ERROR_INIT;
    cli_text_init(&g.selector);
    g.session.events.epoll_fd = -1;
    g.session.events.signal_fd = -1;
    int r = read_command_line(&g, call, &error);
    int code = r < 0 ? cli_usage_error(call->command, &error) : get(&g, call);
    done(&g);
    return code;
}

static void options_done(void *given)
{
    get_options *o = given;
    cli_words_done(&o->where);
}

const cli_command cli_command_get = {
    .name = "get",
    .operands = "RESOURCE [NAME...]",
    .summary = "objects once, from a synced cache",
    .about = "Lists objects once, from a cache that has synced, in the columns that kubectl has.\n"
             "--where and --by-label ask indexes over that cache. -o json gives a List, or one\n"
             "object if one was named. A path may have filters: the last '=' begins the value.",
    .examples =
        "  kinformer get pods -A\n"
        "  kinformer get pods web-0 -n shop -o json\n"
        "  kinformer get pods -A --where .spec.nodeName=node-1\n"
        "  kinformer get pods -A --where .spec.containers[*].image=nginx:1.27 -o name\n"
        "  kinformer get pods --by-label app\n"
        "  kinformer get pods -o jsonpath='{range .items[*]}{.metadata.name}{\"\\n\"}{end}'\n",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .options_size = sizeof(get_options),
    .options_done = options_done,
    .connects = true,
    .names_resources = true,
    .operands_min = 1,
    .operands_max = 1000,
    .run = run,
};
