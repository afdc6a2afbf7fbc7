/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of `kinformer get`: get.c has the command line and the run, get_show.c the output. */
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

/** State of one resource; `user` of its target. */
typedef struct cli_get_target {
    cli_get *get;
    cli_words names; /* of objects; empty: all */
    ki_buf selector; /* field selector for a single name */
    cli_rows rows;   /* used for tables */
} cli_get_target;

struct cli_get {
    cli_session session;
    const cli_get_options *options;
    cli_output output;
    cli_selection selection;
    cli_words types;         /* resources, as given */
    cli_words label_columns; /* of -L, split */
    char *texts[2];          /* backing store of the words */
    cli_get_target *targets; /* as many as the session has */
    ki_path *sort_by;
    bool several; /* not a single object, which would not be printed as a list */

    /* For --watch. */
    bool live; /* the initial objects were printed */
    cli_table table;
    cli_columns columns;          /* of `table` */
    const cli_get_target *headed; /* the target they belong to; NULL: none yet */
    uint64_t headed_changes;      /* its column version at that time */
    bool any;                     /* something was printed */
    ki_buf line;
};

/** Whether the output is a table. */
static inline bool cli_get_is_table(const cli_get *get)
{
    return get->output.format == CLI_FORMAT_COLUMNS || get->output.format == CLI_FORMAT_WIDE;
}

/** Prints the current objects. Returns the exit code. */
int cli_get_show_all(cli_get *get);

/** Prints an object of a watch event of this type. */
void cli_get_show_event(cli_get *get, const cli_target *target, const char *type,
                        const ki_object *object);
/** Prints pending rows. */
void cli_get_flush(cli_get *get);

#endif
