/* SPDX-License-Identifier: Apache-2.0 */
/* `kinformer api-resources`: the resources of the server, in kubectl's columns. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <kinformer/resource_table.h>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/report_failure.h"
#include "cli/session.h"
#include "cli/term.h"
#include "cli/text.h"
#include "cli/text_table.h"

enum { WIDTH_MIN = 3, WORD_MAX = 64 };

typedef struct resources_options {
    const char *output;
    const char *api_group;
    const char *namespaced; /* "": true */
    const char *verbs;
    const char *categories;
    const char *sort_by;
    bool no_headers;
} resources_options;

#define AT(member) offsetof(resources_options, member)

static const cli_option options[] = {
    {"output", 'o', CLI_ARG_TEXT, AT(output), "wide|name",
     "wide: with verbs and categories; name: names only"},
    {"api-group", 0, CLI_ARG_TEXT, AT(api_group), "GROUP",
     "only this API group; \"\": the core group"},
    {"namespaced", 0, CLI_ARG_OPTIONAL, AT(namespaced), "true|false",
     "only namespaced resources; =false: only others"},
    {"verbs", 0, CLI_ARG_TEXT, AT(verbs), "VERB,...",
     "only resources that support all these verbs"},
    {"categories", 0, CLI_ARG_TEXT, AT(categories), "NAME,...",
     "only resources in all these categories"},
    {"sort-by", 0, CLI_ARG_TEXT, AT(sort_by), "name|kind", "sort order; default: by group"},
    {"no-headers", 0, CLI_ARG_FLAG, AT(no_headers), NULL, "no header line"},
};

typedef enum resources_format { FORMAT_TABLE, FORMAT_WIDE, FORMAT_NAME } resources_format;

/* One line of the output. */
typedef struct entry {
    const ki_resource *resource;
    uint32_t verbs;
    size_t place; /* index in discovery */
} entry;

/* In the order used by servers. */
static const struct {
    const char *name;
    uint32_t bit;
} verbs[] = {
    {"create", KI_CAN_CREATE},
    {"delete", KI_CAN_DELETE},
    {"deletecollection", KI_CAN_DELETE_COLLECTION},
    {"get", KI_CAN_GET},
    {"list", KI_CAN_LIST},
    {"patch", KI_CAN_PATCH},
    {"update", KI_CAN_UPDATE},
    {"watch", KI_CAN_WATCH},
};

/* ---- selection ---- */

/* The next word of "a,b,c"; advances *text. Whether there was one. */
static bool next_word(const char **text, char word[WORD_MAX])
{
    if (*text == NULL || **text == '\0') {
        return false;
    }
    size_t len = strcspn(*text, ",");
    size_t kept = len < WORD_MAX ? len : WORD_MAX - 1;
    memcpy(word, *text, kept);
    word[kept] = '\0';
    *text += (*text)[len] == ',' ? len + 1 : len;
    return true;
}

static bool has_verbs(uint32_t has, const char *wanted)
{
    char word[WORD_MAX];
    while (next_word(&wanted, word)) {
        bool found = false;
        for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
            found = found || (strcmp(verbs[i].name, word) == 0 && (has & verbs[i].bit) != 0);
        }
        if (!found) {
            return false;
        }
    }
    return true;
}

static bool has_categories(const ki_discovery *discovery, const ki_resource *resource,
                           const char *wanted)
{
    char word[WORD_MAX];
    while (next_word(&wanted, word)) {
        const char *category;
        bool found = false;
        for (size_t i = 0; (category = ki_discovery_category_at(discovery, resource, i)) != NULL;
             i++) {
            found = found || strcasecmp(category, word) == 0;
        }
        if (!found) {
            return false;
        }
    }
    return true;
}

/* Only the server's preferred version, as in kubectl: the first one of its group. */
static bool is_preferred(const ki_discovery *discovery, size_t place)
{
    const ki_resource *resource = ki_discovery_at(discovery, place, NULL);
    for (size_t i = place; i-- > 0;) {
        const ki_resource *before = ki_discovery_at(discovery, i, NULL);
        if (strcmp(ki_resource_group(before), ki_resource_group(resource)) != 0) {
            return true;
        }
        if (strcmp(ki_resource_name(before), ki_resource_name(resource)) == 0) {
            return false;
        }
    }
    return true;
}

static bool is_selected(const resources_options *o, const ki_discovery *discovery, const entry *e)
{
    bool namespaced = o->namespaced == NULL || strcmp(o->namespaced, "false") != 0;
    return e->verbs != 0 && is_preferred(discovery, e->place) &&
           (o->namespaced == NULL || ki_resource_is_namespaced(e->resource) == namespaced) &&
           (o->api_group == NULL || strcmp(o->api_group, ki_resource_group(e->resource)) == 0) &&
           has_verbs(e->verbs, o->verbs) && has_categories(discovery, e->resource, o->categories);
}

/* ---- order ---- */

static int by_name(const void *a, const void *b)
{
    const entry *left = a;
    const entry *right = b;
    int order = strcmp(ki_resource_name(left->resource), ki_resource_name(right->resource));
    if (order == 0) {
        order = left->place < right->place ? -1 : left->place > right->place;
    }
    return order;
}

static int by_kind(const void *a, const void *b)
{
    int order = strcmp(ki_resource_kind(((const entry *)a)->resource),
                       ki_resource_kind(((const entry *)b)->resource));
    return order != 0 ? order : by_name(a, b);
}

static int by_group(const void *a, const void *b)
{
    int order = strcmp(ki_resource_group(((const entry *)a)->resource),
                       ki_resource_group(((const entry *)b)->resource));
    return order != 0 ? order : by_name(a, b);
}

static void sort(entry *entries, size_t count, const char *sort_by)
{
    bool name = sort_by != NULL && strcmp(sort_by, "name") == 0;
    if (count != 0) {
        qsort(entries, count, sizeof(*entries),
              name              ? by_name
              : sort_by != NULL ? by_kind
                                : by_group);
    }
}

/* ---- output ---- */

static void put_verbs(uint32_t has, ki_buf *out)
{
    const char *comma = "";
    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
        if ((has & verbs[i].bit) != 0) {
            cli_put(out, comma);
            cli_put(out, verbs[i].name);
            comma = ",";
        }
    }
}

static void put_row(cli_table *table, const ki_discovery *discovery, const entry *e, bool wide)
{
    const ki_resource *resource = e->resource;
    const char *word;
    cli_table_row(table, CLI_COLOR_NONE);
    cli_put(cli_table_cell(table), ki_resource_name(resource));
    ki_buf *cell = cli_table_cell(table);
    for (size_t i = 0; (word = ki_resource_short_name_at(resource, i)) != NULL; i++) {
        cli_put(cell, i != 0 ? "," : "");
        cli_put(cell, word);
    }
    cli_put(cli_table_cell(table), ki_resource_api_version(resource));
    cli_put(cli_table_cell(table), ki_resource_is_namespaced(resource) ? "true" : "false");
    cli_put(cli_table_cell(table), ki_resource_kind(resource));
    if (wide) {
        put_verbs(e->verbs, cli_table_cell(table));
        cell = cli_table_cell(table);
        for (size_t i = 0; (word = ki_discovery_category_at(discovery, resource, i)) != NULL; i++) {
            cli_put(cell, i != 0 ? "," : "");
            cli_put_escaped(cell, ki_str_from(word));
        }
    }
    cli_table_end_row(table);
}

static void print_table(const ki_discovery *discovery, const entry *entries, size_t count,
                        bool wide, bool no_headers, ki_buf *out)
{
    static const char *const titles[] = {"NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED",
                                         "KIND", "VERBS",      "CATEGORIES"};
    size_t columns = sizeof(titles) / sizeof(titles[0]) - (wide ? 0 : 2);
    cli_table table;
    cli_table_init(&table, columns);
    for (size_t i = 0; i < columns; i++) {
        table.widths[i] = WIDTH_MIN;
    }
    if (!no_headers) {
        cli_table_row(&table, CLI_COLOR_NONE);
        for (size_t i = 0; i < columns; i++) {
            cli_put(cli_table_cell(&table), titles[i]);
        }
        cli_table_end_row(&table);
    }
    for (size_t i = 0; i < count; i++) {
        put_row(&table, discovery, &entries[i], wide);
    }
    cli_table_print(&table, out);
    cli_table_done(&table);
}

static int show(const cli_session *session, const resources_options *o, resources_format format)
{
    const ki_discovery *discovery = session->discovery;
    size_t all = ki_discovery_count(discovery);
    entry *entries = calloc(all + 1, sizeof(*entries));
    size_t count = 0;
    ki_buf out;
    if (entries == NULL) {
        cli_fail_memory();
    }
    for (size_t i = 0; i < all; i++) {
        entry e = {.place = i};
        e.resource = ki_discovery_at(discovery, i, &e.verbs);
        if (is_selected(o, discovery, &e)) {
            entries[count++] = e;
        }
    }
    sort(entries, count, o->sort_by);
    cli_text_init(&out);
    if (format == FORMAT_NAME) {
        for (size_t i = 0; i < count; i++) {
            cli_put_resource(&out, entries[i].resource);
            cli_put_char(&out, '\n');
        }
    } else {
        print_table(discovery, entries, count, format == FORMAT_WIDE, o->no_headers, &out);
    }
    cli_term_out(ki_buf_str(&out));
    ki_buf_done(&out);
    free(entries);
    const char *failed;
    int code = CLI_OK;
    for (size_t i = 0; (failed = ki_discovery_failure_at(discovery, i)) != NULL; i++) {
        cli_say("%s: discovery failed", failed);
        code = CLI_FAILED;
    }
    return code;
}

/* ---- the command ---- */

static bool is_one_of(const char *text, const char *const *words)
{
    for (; *words != NULL; words++) {
        if (strcmp(text, *words) == 0) {
            return true;
        }
    }
    return false;
}

static int read_format(const resources_options *o, resources_format *ret_format, ki_error *error)
{
    static const char *const flags[] = {"", "true", "false", NULL};
    static const char *const orders[] = {"name", "kind", NULL};
    const char *output = o->output != NULL ? o->output : "";
    if (o->namespaced != NULL && !is_one_of(o->namespaced, flags)) {
        return cli_fail(error, KI_ERR_INVALID, "--namespaced: must be true or false");
    }
    if (o->sort_by != NULL && !is_one_of(o->sort_by, orders)) {
        return cli_fail(error, KI_ERR_INVALID, "--sort-by: must be name or kind");
    }
    *ret_format = FORMAT_TABLE;
    if (strcmp(output, "wide") == 0) {
        *ret_format = FORMAT_WIDE;
    } else if (strcmp(output, "name") == 0) {
        *ret_format = FORMAT_NAME;
    } else if (output[0] != '\0') {
        return cli_fail(error, KI_ERR_INVALID, "-o \"%s\": must be wide or name", output);
    }
    return 0;
}

static int run(cli_call *call)
{
    const resources_options *o = call->options;
    resources_format format = FORMAT_TABLE;
    ki_error error = KI_ERROR_INIT;
    if (read_format(o, &format, &error) < 0) {
        return cli_usage_error(call->command, &error);
    }
    cli_session *session = calloc(1, sizeof(*session));
    if (session == NULL) {
        cli_fail_memory();
    }
    int code = cli_session_open(session, &call->flags, NULL, 0);
    if (code == CLI_OK && session->discovery != NULL) {
        code = show(session, o, format);
    }
    cli_session_close(session);
    free(session);
    return code;
}

const cli_command cli_command_api_resources = {
    .name = "api-resources",
    .operands = "",
    .summary = "list the resources of the server",
    .about = "Lists the resources of the server, including custom resources, each in the "
             "server's\npreferred version. The names can be used with the other commands.",
    .examples = "  kinformer api-resources\n"
                "  kinformer api-resources -o wide --api-group apps\n"
                "  kinformer api-resources --namespaced=false --verbs list,watch -o name\n",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .options_size = sizeof(resources_options),
    .connects = true,
    .run = run,
};
