/* SPDX-License-Identifier: Apache-2.0 */
/* `kinformer get` from inside: get.c has the command line and the run, get_show.c the output. */
#ifndef KI_CLI_GET_H
#define KI_CLI_GET_H

#include "cli/output.h"
#include "cli/rows.h"
#include "cli/select.h"
#include "cli/session.h"

typedef struct cli_get_options {
    const char *output;
    cli_words where;
    const char *by_label;
    cli_words label_columns;
    const char *sort_by;
    bool show_labels;
    bool show_kind;
    bool watch;
    bool watch_only;
    bool watch_events;
    bool no_headers;
    bool raw;
    const char *stats;
} cli_get_options;

typedef struct cli_get cli_get;

/** What is got of one resource; `user` of its target. */
typedef struct cli_get_target {
    cli_get *get;
    cli_words names; /* of objects; none: all */
    ki_buf selector; /* of fields, for a single name */
    cli_rows rows;   /* used for tables */
} cli_get_target;

struct cli_get {
    cli_session session;
    const cli_get_options *options;
    cli_output output;
    cli_selection selection;
    cli_words types;         /* resources, as they were named */
    cli_words label_columns; /* of -L, one by one */
    char *texts[2];          /* that the words are cut from */
    cli_get_target *targets; /* as many as the session has */
    ki_path *sort_by;
    bool several; /* one object alone is no list */

    /* Of a watch. */
    bool live; /* what there was has been shown */
    cli_table table;
    cli_columns columns;          /* of `table` */
    const cli_get_target *headed; /* whose columns they are; NULL: nobody's yet */
    uint64_t headed_changes;      /* how often those had changed */
    bool any;                     /* something was shown */
    ki_buf line;
};

/** Whether it is shown in the columns of a table. */
static inline bool cli_get_is_table(const cli_get *get)
{
    return get->output.format == CLI_FORMAT_COLUMNS || get->output.format == CLI_FORMAT_WIDE;
}

/** Shows the objects there are. Gives the exit code. */
int cli_get_show_all(cli_get *get);

/** Shows one object, as it comes in a watch. `type` is that of the event. */
void cli_get_show_event(cli_get *get, const cli_target *target, const char *type,
                        const ki_object *object);
/** Prints rows that were not printed yet. */
void cli_get_flush(cli_get *get);

#endif
